#!/usr/bin/env bash
# Makes sure that what the build needs is there.
#
# On Debian and its relatives it installs what is missing, as root or with sudo,
# and says so. TANDEM_NO_INSTALL=1 refuses that and prints the packages instead.
# Elsewhere it only prints. It ends with success when the build can go on: a C
# compiler, cmake and make or ninja are mandatory; a missing library costs the
# compressed formats that need it, some speed of the disk or of gzip, detail of a report or of
# a test, a partitioner, nothing else. Nothing missing: no word, no network, a tenth of a second.
set -u

say() { printf 'setup: %s\n' "$*"; }
have() { command -v "$1" >/dev/null 2>&1; }

compiler() {
    local name
    for name in "${CC:-}" cc gcc clang; do
        if [ -n "$name" ] && have "${name%% *}"; then
            echo "$name"
            return 0
        fi
    done
    return 1
}

# cmake 3.20 brought what CMakeLists.txt uses.
cmake_new_enough() {
    have cmake || return 1
    local version
    version=$(cmake --version | sed -n '1s/[^0-9]*\([0-9.]*\).*/\1/p')
    [ "$(printf '%s\n3.20\n' "$version" | sort -V | head -n 1)" = 3.20 ]
}

# compiles "HEADERS" FLAGS: can a program that includes these be compiled and linked?
compiles() {
    local header headers=$1
    shift
    {
        for header in stdio.h $headers; do echo "#include <$header>"; done
        echo 'int main(void) { return 0; }'
    } | $cc -x c - -o /dev/null "$@" 2>/dev/null
}

# Fills the two lists of Debian packages that are missing.
look() {
    mandatory=() optional=()
    cc=$(compiler) || mandatory+=(gcc)
    [ -n "$cc" ] && compiles "" || mandatory+=(libc6-dev)
    cmake_new_enough || mandatory+=(cmake)
    have make || have ninja || mandatory+=(make)
    have ninja || optional+=(ninja-build)
    [ -n "$cc" ] && compiles "zlib.h zstd.h lzma.h liburing.h elfutils/libdwfl.h hwloc.h metis.h glpk.h \
        isa-l/igzip_lib.h" -lz -lzstd -llzma -luring -lglpk && return
    compiles zlib.h -lz || optional+=(zlib1g-dev)
    compiles zstd.h -lzstd || optional+=(libzstd-dev)
    compiles lzma.h -llzma || optional+=(liblzma-dev)
    compiles liburing.h -luring || optional+=(liburing-dev)
    compiles elfutils/libdwfl.h || optional+=(libdw-dev)
    compiles hwloc.h || optional+=(libhwloc-dev)
    compiles metis.h || optional+=(libmetis-dev)
    compiles glpk.h -lglpk || optional+=(libglpk-dev)
    compiles isa-l/igzip_lib.h || optional+=(libisal-dev)
}

# The command that may install packages, in $as_root; fails if there is no way.
find_root() {
    as_root=()
    [ "$(id -u)" -eq 0 ] && return 0
    have sudo || return 1
    as_root=(sudo)
    [ -t 0 ] || as_root=(sudo -n)
    "${as_root[@]}" true 2>/dev/null
}

install_packages() {
    local log status=0
    say "installing with apt-get: $*"
    if ! find_root; then
        say "this needs root or sudo, and neither is at hand"
        return 1
    fi
    log=$(mktemp)
    {
        "${as_root[@]}" apt-get update -q
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "$@"
    } >"$log" 2>&1 || status=1
    [ $status -eq 0 ] || { say "apt-get failed:"; tail -n 5 "$log"; }
    rm -f "$log"
    return $status
}

print_packages() {
    local all=("${mandatory[@]}" "${optional[@]}")
    say "missing: ${all[*]}"
    say "on Debian 12: apt-get install --no-install-recommends ${all[*]}"
    say "elsewhere: a C compiler, cmake 3.20 or newer, ninja or make, and the headers of zlib," \
        "zstd, liblzma, liburing, elfutils (libdw), hwloc 2, METIS 5, GLPK and ISA-L"
}

note_optional() {
    local package
    for package in "${optional[@]}"; do
        case $package in
        ninja-build) say "no ninja: building with make" ;;
        zlib1g-dev) say "no zlib: .gz files will be refused" ;;
        libzstd-dev) say "no zstd: .zst files will be refused" ;;
        liblzma-dev) say "no liblzma: .xz files will be refused" ;;
        liburing-dev) say "no liburing: graphs on disk are read by threads" ;;
        libdw-dev) say "no libdw: the emulator's reports name the function instead of file and line" ;;
        libhwloc-dev) say "no hwloc: 'tandem devices' shows no cores and caches" ;;
        libmetis-dev) say "no METIS: the partitioner metis will be refused" ;;
        libisal-dev) say "no ISA-L: .gz files are decoded by zlib, at a third of the rate" ;;
        libglpk-dev) say "no GLPK: one test has no second opinion" ;;
        esac
    done
}

# extra "WHAT IS SKIPPED" PACKAGE...: installs packages that one kind of test needs and nothing else does; ends the script.
extra() {
    local skipped=$1
    shift
    if [ "${TANDEM_NO_INSTALL:-0}" = 0 ] && have apt-get; then install_packages "$@" && exit 0; fi
    say "$skipped (Debian: apt-get install --no-install-recommends $*)"
    exit 0
}

# `setup.sh browser`: for the tests that open pages in a real browser. `setup.sh arm64`: for test_arm64.
case ${1:-} in
browser)
    have chromium || have chromium-browser || have google-chrome && exit 0
    extra "no chromium: the tests in a browser are skipped" chromium
    ;;
arm64)
    have aarch64-linux-gnu-gcc && have qemu-aarch64 && [ -e /usr/aarch64-linux-gnu/lib/libc.so.6 ] && exit 0
    extra "no cross compiler or no qemu-user: test_arm64 is skipped" gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
    ;;
esac

look
[ $((${#mandatory[@]} + ${#optional[@]})) -eq 0 ] && exit 0

if [ "${TANDEM_NO_INSTALL:-0}" != 0 ]; then
    say "TANDEM_NO_INSTALL is set: installing nothing"
    print_packages
elif have apt-get && have dpkg; then
    install_packages "${mandatory[@]}" "${optional[@]}"
    look
else
    print_packages
fi

if [ ${#mandatory[@]} -gt 0 ]; then
    say "cannot build without: ${mandatory[*]}"
    exit 1
fi
note_optional
exit 0
