#!/usr/bin/env bash
# scripts/test-gpu.sh --sanitize: the table that it prints and when it fails, with an emulated GPU and a stand-in for
# compute-sanitizer, which does what $TOOL_DOES says.
root=$(cd "$(dirname "$0")/../.." && pwd)
source "$root/tests/cli/lib.sh"
program=$(dirname "$TANDEM")/tests/test_kernel_runs
mkdir -p "$folder/built/tests"
printf '#!/usr/bin/env bash\nshift\nexec "%s" "$@"\n' "$program" >"$folder/built/tests/gpu_tests"
cat >"$folder/sanitizer" <<'END'
#!/usr/bin/env bash
while [ $# -gt 0 ]; do
    case $1 in
    --tool) tool=$2 ;;
    --log-file) log=$2 ;;
    --error-exitcode) code=$2 ;;
    *) break ;;
    esac
    shift 2
done
[ "$TOOL_DOES" != hang ] || exec sleep 100
"$@" || exit
[ "$TOOL_DOES" != die ] || exit 1
found=0
[ "$TOOL_DOES" != find ] || found=3
case $tool in
racecheck) echo "========= RACECHECK SUMMARY: $found hazards displayed ($found errors, 0 warnings)" ;;
*) echo "========= ERROR SUMMARY: $found errors" ;;
esac >"$log"
[ $found -eq 0 ] || exit "$code"
END
chmod +x "$folder/built/tests/gpu_tests" "$folder/sanitizer"

# sanitize WHAT-THE-TOOL-DOES ARGUMENTS...: $said, $status
sanitize() {
    status=0
    said=$(TMPDIR=$folder TOOL_DOES=$1 TANDEM_TEST_GPU=emu COMPUTE_SANITIZER=$folder/sanitizer \
        "$root/scripts/test-gpu.sh" --sanitize --built "$folder/built" "${@:2}" 2>&1) || status=$?
}
# expect STATUS PATTERN...: the patterns are found in $said, whose blanks count as one
expect() {
    local wanted=$1 pattern
    shift
    [ "$status" -eq "$wanted" ] || bad "exit status $status, not $wanted: $said"
    for pattern in "$@"; do
        if tr -s ' ' <<<"$said" | grep -qE "$pattern"; then good; else bad "no '$pattern' in: $said"; fi
    done
}

sanitize nothing --jobs 2 coop hybrid
expect 0 '^coop memcheck ([0-9]+) of \1 ([0-9]+) of \2 0 [0-9]+ clean$' '^hybrid racecheck ([0-9]+) of \1 .* clean$' \
    'shared memory alone'
[ "$(grep -c clean <<<"$said")" -eq 4 ] && good || bad "not four rows: $said"
sanitize find --tools racecheck hybrid
expect 1 '^hybrid racecheck ([0-9]+) of \1 .* 3 [0-9]+ errors$' '1 of 1 are not clean'
sanitize die --tools memcheck hybrid
expect 1 '^hybrid memcheck .* - [0-9]+ no summary$'
sanitize hang --tools memcheck --seconds 1 hybrid
expect 1 '^hybrid memcheck .* - [0-9]+ did not end in 1 s$'
# Budgets are whole seconds: paths take longer than one.
sanitize nothing --tools memcheck --seconds 2 paths
expect 1 '^paths memcheck .* (not all runs in time|did not end in 2 s|no summary)$'
sanitize nothing --tools memcheck nothing
expect 1 'nothing memcheck 0 of \?'
finish
