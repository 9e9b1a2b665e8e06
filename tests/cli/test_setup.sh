#!/usr/bin/env bash
# scripts/setup.sh on machines that lack things, played with a PATH that holds
# only what each machine has. Nothing is installed and no network is used.
set -u
setup=$(cd "$(dirname "$0")/../.." && pwd)/scripts/setup.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

# machine NAME TOOLS...: a PATH with these and what every machine has.
machine() {
    bin=$folder/$1
    mkdir -p "$bin"
    shift
    for tool in bash sh env sed sort head tail id mktemp rm cat "$@"; do
        ln -sf "$(type -P "$tool")" "$bin/$tool"
    done
}

# A compiler that finds the headers named in $folder/headers, and no others.
fake_compiler() {
    cat >"$bin/cc" <<END
#!$(type -P bash)
while read -r line; do
    case \$line in
    '#include <stdio.h>') ;;
    '#include <'*) header=\${line#*<}; grep -qx "\${header%>}" "$folder/headers" || exit 1 ;;
    esac
done
END
    chmod +x "$bin/cc"
    ln -sf "$(type -P grep)" "$bin/grep"
    printf '%s\n' "$@" >"$folder/headers"
}

fake_cmake() { # VERSION
    printf '#!%s\necho "cmake version %s"\n' "$(type -P bash)" "$1" >"$bin/cmake"
    chmod +x "$bin/cmake"
}

# An apt-get that writes down its arguments and installs what the test says.
fake_apt() { # BASH CODE TO RUN ON INSTALL
    ln -sf "$(type -P true)" "$bin/dpkg"
    cat >"$bin/apt-get" <<END
#!$(type -P bash)
echo "\$@" >>"$folder/apt"
case \$1 in install) $1 ;; esac
END
    chmod +x "$bin/apt-get"
    : >"$folder/apt"
}

run() { # STATUS; output goes to $output
    output=$(env -i PATH="$bin" "${@:2}" bash "$setup" 2>&1)
    local status=$?
    if [ $status -ne "$1" ]; then
        echo "FAIL $what: status $status instead of $1: $output"
        failed=1
    fi
}

says() {
    case $output in
    *"$1"*) ;;
    *)
        echo "FAIL $what: '$1' not in: $output"
        failed=1
        ;;
    esac
}

expect() { # WHAT CONDITION...
    if ! "${@:2}"; then
        echo "FAIL $what: $1: $output"
        failed=1
    fi
}

what='nothing is missing: not a word'
machine complete make
ln -sf "$(type -P true)" "$bin/ninja"
fake_compiler zlib.h zstd.h lzma.h liburing.h elfutils/libdwfl.h hwloc.h metis.h glpk.h isa-l/igzip_lib.h
fake_cmake 3.25.1
fake_apt ':'
run 0
expect 'silent' [ -z "$output" ]
expect 'no apt-get' [ ! -s "$folder/apt" ]

what='a bare machine: all is installed and named'
machine bare make
fake_compiler
fake_apt "printf '%s\n' zlib.h zstd.h lzma.h liburing.h elfutils/libdwfl.h hwloc.h metis.h glpk.h isa-l/igzip_lib.h >$folder/headers
    $(type -P ln) -sf $(type -P true) $bin/ninja
    printf '#!%s\necho cmake version 3.25.1\n' $(type -P bash) >$bin/cmake; $(type -P chmod) +x $bin/cmake"
if [ "$(id -u)" -eq 0 ]; then
    run 0
    says 'installing with apt-get: cmake ninja-build zlib1g-dev libzstd-dev liblzma-dev liburing-dev libdw-dev libhwloc-dev libmetis-dev libglpk-dev libisal-dev'
    expect 'updates first' [ "$(head -n 1 "$folder/apt")" = 'update -q' ]
    run 0
    expect 'silent the second time' [ -z "$output" ]
else
    run 1
    says 'needs root or sudo'
fi

what='refused: the list is printed and nothing installed'
machine refused make
fake_compiler
fake_apt 'exit 1'
run 1 TANDEM_NO_INSTALL=1
says 'apt-get install --no-install-recommends cmake ninja-build zlib1g-dev libzstd-dev liblzma-dev liburing-dev libdw-dev libhwloc-dev libmetis-dev libglpk-dev libisal-dev'
says 'cannot build without: cmake'
expect 'no apt-get' [ ! -s "$folder/apt" ]

what='refused, but the mandatory ones are there: goes on'
fake_cmake 3.25.1
run 0 TANDEM_NO_INSTALL=1
says 'no ninja: building with make'
says '.xz files will be refused'
says "no libdw: the emulator's reports name the function"
says 'no hwloc'
says 'no METIS: the partitioner metis will be refused'

what='a browser, which only tests of pages need'
output=$(env -i PATH="$bin" TANDEM_NO_INSTALL=1 bash "$setup" browser 2>&1) || failed=1
says 'no chromium: the tests in a browser are skipped'
expect 'no apt-get' [ ! -s "$folder/apt" ]
ln -sf "$(type -P true)" "$bin/chromium"
output=$(env -i PATH="$bin" bash "$setup" browser 2>&1) || failed=1
expect 'silent where there is one' [ -z "$output" ]
expect 'no apt-get' [ ! -s "$folder/apt" ]

what='an old cmake counts as none'
fake_cmake 3.18.4
run 1 TANDEM_NO_INSTALL=1
says 'cannot build without: cmake'

what='not a Debian: prints what is needed'
machine foreign make
fake_compiler zlib.h
fake_cmake 3.30.0
run 0
says 'elsewhere: a C compiler, cmake 3.20 or newer'
says 'no zstd'
expect 'zlib is there' eval '! [[ $output == *"no zlib"* ]]'

what='apt-get fails: goes on with what there is'
machine offline make
fake_compiler zlib.h zstd.h
fake_cmake 3.25.1
fake_apt 'echo "E: no network"; exit 100'
run 0
if [ "$(id -u)" -eq 0 ]; then says 'E: no network'; fi
says 'no liblzma'

[ $failed -eq 0 ] && echo 'setup: all as it should be'
exit $failed
