#!/usr/bin/env bash
# The tool for 64-bit ARM: cross-compiled (without optimisation: a third of a minute), run under qemu-user. It makes the
# same file from a seed, and finds the same as this machine's, bit for bit, on the CPU and on an emulated GPU, whose
# fibers switch by ARM assembly.
#
# TANDEM_TEST_ALL=1: optimised, as it would be installed, with the emulator's watch and the cpu engine's table.
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/cli/lib.sh"
root=${TANDEM_ARM64_ROOT:-/usr/aarch64-linux-gnu}
leave() {
    echo "skip: $1"
    exit 77
}
for tool in cmake aarch64-linux-gnu-gcc qemu-aarch64; do
    command -v $tool >/dev/null || leave "there is no $tool (Debian: gcc-aarch64-linux-gnu, qemu-user)"
done
[ -e "$root/lib/libc.so.6" ] || leave "there is no C library for arm64 in $root (Debian: libc6-dev-arm64-cross)"
[ -z "$(sed -n 's/^TANDEM_SANITIZE:[A-Z]*=//p' "$(dirname "$TANDEM")/CMakeCache.txt")" ] ||
    leave 'the build with a sanitizer would repeat the one without'

options=(-DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0 -DTANDEM_EMULATOR_WATCH=OFF)
targets=(tandem_cli test_fiber)
if [ -n "${TANDEM_TEST_ALL:-}" ]; then
    options=()
    targets+=(test_engine_table)
fi
generator=()
if command -v ninja >/dev/null; then generator=(-G Ninja); fi
if ! { cmake -S "$top" -B arm "${generator[@]}" -DCMAKE_TOOLCHAIN_FILE="$top/scripts/arm64.cmake" -DTANDEM_TESTS=ON \
    -DTANDEM_ARM64_ROOT="$root" -DTANDEM_WERROR=ON "${options[@]}" &&
    cmake --build arm --parallel 2 --target "${targets[@]}"; } >build.log 2>&1; then
    bad "it does not build: $(grep -m 3 -A 4 'error\|FAILED' build.log)"
    finish
fi

here=$TANDEM
printf '#!/bin/sh\nexec qemu-aarch64 -L %s %s/arm/tandem "$@"\n' "$root" "$folder" >there
chmod +x there

equal "$(qemu-aarch64 -L "$root" arm/tests/test_fiber | tail -n 1)" '2 passed, 0 failed, 0 skipped' 'fibers'
if [ -n "${TANDEM_TEST_ALL:-}" ]; then
    last=$(env -u TANDEM_TEST_ALL qemu-aarch64 -L "$root" arm/tests/test_engine_table | tail -n 1)
    contains "$last" ' 0 failed' 'the table of programs'
fi

seeded=(gen rmat --scale 8 --degree 6 --weights 0.5:9.5 --seed 3)
TANDEM=$here succeeds "${seeded[@]}" -o here.tg --quiet
TANDEM=$folder/there succeeds "${seeded[@]}" -o there.tg --json report.json
equal "$(key isa <report.json)" armv8-a 'the instruction set in use'
if cmp here.tg there.tg; then good; else bad 'the same seed gives another file'; fi

digest() { sed -n 's/ *"digest": "\(.*\)".*/\1/p' <<<"$out"; }
same() { # PROGRAM OPTIONS
    TANDEM=$here succeeds run "$@" --quiet --json
    local wanted
    wanted=$(digest)
    TANDEM=$folder/there succeeds run "$@" --quiet --json --verify
    equal "$(digest)" "${wanted:-no digest}" "what 'run $*' finds on arm64"
}
for engine in '--engine cpu' '--engine resident --devices emu'; do
    for program in 'bfs here.tg --source 0' 'sssp here.tg --source 0' 'pagerank here.tg' 'mst here.tg'; do
        same $program $engine --threads 2
    done
done
finish
