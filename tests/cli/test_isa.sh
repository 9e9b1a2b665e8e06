#!/usr/bin/env bash
# Which kernels are taken: TANDEM_ISA as given, refused where it cannot be, the highest level of other processors,
# which qemu-user plays. On the oldest of them a whole run shows that ordinary code needs nothing later.
. "$(dirname "$0")/lib.sh"
build=$(dirname "$TANDEM")
levels=$(sed -n 's/.*"\(.*\)".*/\1/p' "$build/generated/isa_levels.def")
unset TANDEM_ISA

TANDEM_ISA=x86-64-v9 fails 1 "TANDEM_ISA is 'x86-64-v9', which this build does not have; allowed are ${levels%%$'\n'*}" \
    gen k5 -o refused.tg
absent refused.tg
TANDEM_ISA= succeeds gen k9 -o graph.tg --json report.json
used=$(key isa <report.json)
contains " $levels " "$used" 'the level in use is one of the build'
succeeds devices --devices cpu --largest 1M
contains "$out" "kernels for $used" 'devices tells the level'
for level in $levels; do
    TANDEM_ISA=$level t devices --devices cpu --largest 1M
    if [ $status -eq 0 ]; then contains "$out" "kernels for $level" "$level is in use"
    else contains "$err" "TANDEM_ISA is '$level', which this processor does not have" "$level is refused"; fi
done

# played MODEL LEVEL: what a processor of that model takes, and that a run works there.
played() {
    timeout "${TANDEM_TEST_SECONDS:-240}" qemu-x86_64 -cpu "$1" "$TANDEM" run pagerank graph.tg --iterations 3 --verify \
        --threads 2 --json --quiet >.out 2>.err
    status=$?
    equal "$status" 0 "a run on a $1 ends with (it says: $(grep -v 'TCG doesn' .err))"
    equal "$(key isa <.out)" "$2" "the level on a $1"
}

if [[ $levels != x86-64$'\n'* ]]; then
    skip 'other processors: this build has one level'
elif [ -n "$(sed -n 's/^TANDEM_SANITIZE:[A-Z]*=//p' "$build/CMakeCache.txt")" ]; then
    skip 'other processors: a sanitizer does not run under qemu'
elif ! command -v qemu-x86_64 >/dev/null; then
    skip 'other processors: there is no qemu-x86_64'
else
    second=$(sed -n 2p <<<"$levels")
    played Conroe x86-64
    [[ $second != x86-64-v3 ]] || played Nehalem x86-64
    [[ $levels != *x86-64-v3* ]] || played Haswell x86-64-v3
    # A Haswell of which one feature of the level is hidden, as virtual machines do.
    for feature in movbe bmi2 fma; do
        [[ $second != x86-64-v3 ]] || played "Haswell,-$feature" x86-64
    done
    TANDEM_ISA=$second qemu-x86_64 -cpu Conroe "$TANDEM" --version >.out 2>.err
    contains "$(cat .err)" "TANDEM_ISA is '$second', which this processor does not have; allowed are x86-64;" \
        'a level that the processor lacks'
fi
finish
