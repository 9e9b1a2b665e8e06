#!/usr/bin/env bash
# test-gpu.sh: builds with CUDA and runs the tests labelled gpu. Where a GPU or nvcc is missing it says so and fails:
# nothing would have been tested.
#
#     test-gpu.sh [CTEST'S ARGUMENTS]
#     test-gpu.sh --built FOLDER [NAME ...]     the C tests of a build made elsewhere, which needs neither nvcc nor CMake here
#     test-gpu.sh --sanitize [--built FOLDER] [--tools memcheck,racecheck] [--seconds 60] [--jobs 1] [ENGINE ...]
#
# --sanitize runs every kernel of every engine under compute-sanitizer, an engine and a tool at a time, each ended after
# --seconds, and prints a table. FOLDER may have moved: all it needs is the program tests/gpu_tests. TANDEM_TEST_BUDGET is
# the seconds of each table (docs/design/testing.md).
set -eu
begun_in=$PWD
cd "$(dirname "$0")/.."
fail() {
    echo "test-gpu: $1" >&2
    exit 1
}
sanitize=no built='' tools=memcheck,racecheck seconds=60 jobs=1 names=()
while [ $# -gt 0 ]; do
    case $1 in
    --sanitize) sanitize=yes && shift && continue ;;
    --built | --tools | --seconds | --jobs) [ $# -gt 1 ] || fail "$1 needs a value" ;;
    *) names+=("$1") && shift && continue ;;
    esac
    declare "${1#--}=$2"
    shift 2
done

for tool in ${tools//,/ }; do
    case $tool in
    memcheck | racecheck | initcheck | synccheck) ;;
    *) fail "--tools $tool: compute-sanitizer has memcheck, racecheck, initcheck and synccheck" ;;
    esac
done
[[ $seconds =~ ^[1-9][0-9]*$ ]] || fail "--seconds $seconds: a whole number from 1 is allowed"
[[ $jobs =~ ^[1-9][0-9]*$ ]] || fail "--jobs $jobs: a whole number from 1 is allowed"

if [ -z "$built" ]; then
    nvcc=${CUDACXX:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
    [ -x "$nvcc" ] || fail 'there is no nvcc; install the CUDA toolkit (12.0 or later) or name nvcc by CUDACXX'
fi
# The tables of programs run on an emulated GPU, too.
case ${TANDEM_TEST_GPU:-cuda} in
cuda*) [ -e /dev/nvidia0 ] || nvidia-smi -L 2>/dev/null | grep -q 'GPU 0' ||
    fail 'there is no NVIDIA GPU here (nvidia-smi shows none)' ;;
esac
if [ -z "$built" ]; then
    built=build-gpu
    if [ $sanitize = no ]; then
        scripts/build.sh build-gpu -DTANDEM_TESTS=ON -DTANDEM_CUDA=ON
        exec ctest --test-dir build-gpu --output-on-failure -L gpu "${names[@]}"
    fi
    scripts/build.sh build-gpu -DTANDEM_TESTS=ON -DTANDEM_CUDA=ON gpu_tests
fi
case $built in build-gpu | /*) ;; *) built=$begun_in/$built ;; esac
program=$built/tests/gpu_tests
[ -x "$program" ] || fail "$built has no program tests/gpu_tests; build it with -DTANDEM_TESTS=ON -DTANDEM_CUDA=ON"
export TANDEM_HISTORY=off TANDEM_TEST_GPU=${TANDEM_TEST_GPU:-cuda:0}

if [ $sanitize = no ]; then
    failed=0 skipped=0
    list=$("$program") || fail "$program does not run here"
    [ ${#names[@]} -gt 0 ] || mapfile -t names <<<"$list"
    for name in "${names[@]}"; do
        "$program" "$name" && continue
        if [ $? -eq 77 ]; then skipped=$((skipped + 1)); else failed=$((failed + 1)); fi
    done
    [ $skipped -lt ${#names[@]} ] || fail 'every program of tests was skipped: nothing was tested'
    [ $failed -eq 0 ] || fail "$failed of ${#names[@]} programs of tests failed"
    exit 0
fi

sanitizer=${COMPUTE_SANITIZER:-$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)}
[ -x "$sanitizer" ] || fail 'there is no compute-sanitizer; install the CUDA toolkit or name it by COMPUTE_SANITIZER'
[ ${#names[@]} -gt 0 ] || names=(resident stream coop hybrid multi paths slices)
logs=$(mktemp -d "${TMPDIR:-/tmp}/tandem-sanitize-XXXXXX")

# check TOOL ENGINE: one line of the table, as TOOL-ENGINE.row. The program begins no run after nine tenths of the seconds, so
# that the tool has time for its summary.
check() {
    local tool=$1 engine=$2 out=$logs/$1-$2.out log=$logs/$1-$2.log status=0 began=$SECONDS made errors verdict
    TANDEM_TEST_BUDGET=$((seconds * 9 / 10 > 0 ? seconds * 9 / 10 : 1)) \
        timeout --signal=INT --kill-after=5 "$seconds" "$sanitizer" --tool "$tool" --error-exitcode 86 --log-file "$log" \
        "$program" test_kernel_runs "$engine" >"$out" 2>&1 || status=$?
    made=$(sed -n "s/^ *$engine: \([0-9]* of [0-9]*\) runs in .* \([0-9]* of [0-9]*\) kernels\$/\1 \2/p" "$out" | tail -1)
    errors=$(sed -n 's/^=* *ERROR SUMMARY: \([0-9]*\) error.*/\1/p; s/^=* *RACECHECK SUMMARY: \([0-9]*\) hazard.*/\1/p' \
        "$log" 2>/dev/null | tail -1)
    read -r runs _ of kernels _ all <<<"${made:-0 of ? 0 of ?}"
    if [ -n "$errors" ] && [ "$errors" -gt 0 ]; then verdict='errors'
    elif [ $status -eq 124 ] || [ $status -eq 137 ]; then verdict="did not end in $seconds s"
    elif [ -z "$errors" ]; then verdict='no summary'
    elif [ "$runs" != "$of" ]; then verdict='not all runs in time'
    elif [ $status -ne 0 ]; then verdict="failed, exit status $status"
    else verdict=clean; fi
    printf '%-9s %-10s %10s %12s %7s %8s  %s\n' "$engine" "$tool" "$runs of $of" "$kernels of $all" "${errors:--}" \
        $((SECONDS - began)) "$verdict" >"$logs/$tool-$engine.row"
}

running=0 begun=()
for tool in ${tools//,/ }; do
    for engine in "${names[@]}"; do
        check "$tool" "$engine" &
        begun+=("$logs/$tool-$engine.row")
        running=$((running + 1))
        if [ $running -ge "$jobs" ]; then
            wait -n || true
            running=$((running - 1))
        fi
    done
done
wait
printf '%-9s %-10s %10s %12s %7s %8s  %s\n' engine tool runs kernels errors seconds verdict
cat "${begun[@]}"
echo "logs: $logs"
case $tools in
*racecheck*) echo 'racecheck looks at shared memory alone: races in global memory, which paths intends, are not looked for' ;;
esac
unclean=$(cat "${begun[@]}" | grep -vc ' clean$') || true
[ "$unclean" -eq 0 ] || fail "$unclean of ${#begun[@]} are not clean"
