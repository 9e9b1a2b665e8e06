#!/usr/bin/env bash
# The Python package with the library of this build, in a virtual environment of the build folder: installed from its
# wheel where scikit-build-core is at hand, otherwise used in place. A selection of `make test-python`. Needs NumPy;
# without it, and without a network, it says so and is skipped.
set -u
here=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$(dirname "$TANDEM")" && pwd)
library=$build/libtandem.so
[ -e "$library" ] || { echo "skip: $library is not built"; exit 77; }
if grep -q '^TANDEM_SANITIZE:[A-Z]*=.' "$build/CMakeCache.txt"; then
    echo 'skip: Python is not built with the sanitizer of this build'
    exit 77
fi

python=$("$here/scripts/python-env.sh" "$build/python-env" numpy) || exit $?
# Tests of what these offer skip without them.
"$here/scripts/python-env.sh" "$build/python-env" networkx scipy scikit-build-core >/dev/null || true
# The environment is as if fresh for the package itself.
"$python" -m pip uninstall --quiet --yes tandem-graph >/dev/null 2>&1
if "$python" -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --no-index \
    -Ccmake.define.TANDEM_PREBUILT="$library" "$here" >"$build/python-env/install.log" 2>&1; then
    echo 'ok   the wheel is built and installed'
else
    echo "the wheel cannot be built here ($(tail -1 "$build/python-env/install.log")): the package is used in place"
    export PYTHONPATH=$here/python TANDEM_LIBRARY=$library
fi
# A build without CUDA has emulated GPUs.
grep -q '^CMAKE_CUDA_COMPILER:' "$build/CMakeCache.txt" || export TANDEM_TEST_DEVICE=${TANDEM_TEST_DEVICE:-emu}
cd "$here/tests/python" && exec "$python" -B harness.py test_package_library.py test_package_graphs.py \
    test_package_runs.py test_package_cuda.py test_networkx_backend.py test_guide.py
