#!/usr/bin/env bash
# What only a build with CUDA compiles is read by compilers all the same. The kernels of every program are parsed as
# C++, with CUDA's words declared by cuda_words/; the tests on a GPU as C. Where nvcc is, it reads a program of every
# kind, and the C compiler reads the device's code. Nothing is built.
root=$(cd "$(dirname "$0")/../.." && pwd)
source "$root/tests/cli/lib.sh"
include=(-I"$root/src" -I"$root/include" -I"$root/tests" -D_GNU_SOURCE -DTANDEM_VERSION='"test"')

first_of() { # COMMANDS: the first that is there
    local name
    for name in "$@"; do
        if [ -n "$name" ] && command -v "${name%% *}" >/dev/null; then
            echo "$name"
            return
        fi
    done
}

reads() { # WHAT COMMAND...
    local what=$1 said
    shift
    if said=$("$@" 2>&1); then good; else bad "$what does not compile: $(grep -m 3 error <<<"$said")"; fi
}

unit() { # PROGRAM: as the build makes it
    printf '#include "programs/%s.h"\n#define PROGRAM_SYMBOL td_cuda_%s\n' "$1" "$1" >"$folder/$1.cu"
    echo '#include "kernels/gpu/instance.h"' >>"$folder/$1.cu"
}

programs=$(sed -n 's/^TD_PROGRAM(\(.*\)).*/\1/p; s/^TD_WIDE(\(.*\)).*/\1_wide/p' "$root/src/programs/programs.def")
for program in $programs; do unit "$program"; done

cxx=$(first_of "${CXX:-}" c++ g++ clang++)
if [ -z "$cxx" ]; then
    skip "kernels as C++: there is no C++ compiler"
elif ! $cxx -x c++ -std=c++20 -fsyntax-only /dev/null 2>/dev/null; then
    skip "kernels as C++: $cxx does not know C++20"
else
    for program in $programs; do
        reads "$program by $cxx" $cxx -x c++ -std=c++20 -fsyntax-only -w -Werror=narrowing -D__CUDACC__ \
            -D__CUDA_ARCH__=900 -I"$root/tests/device/cuda_words" -include cooperative_groups.h "${include[@]}" \
            "$folder/$program.cu"
    done
    # A choice between lvalues, of a kernel's parameter and of memory, becomes a choice between addresses, of which the
    # parameter's is 0 (nvcc 13): reading a word yields a value.
    {
        echo '#include "kernels/gpu/language.h"'
        echo 'template <typename type> struct read { static constexpr bool lvalue = false; };'
        echo 'template <typename type> struct read<type &> { static constexpr bool lvalue = true; };'
        for word in TD_LOAD TD_LOAD_LAZY TD_PEEK TD_LOAD_SYSTEM; do
            for type in uint32_t uint64_t double; do
                echo "extern $type *word_$type;"
                echo "static_assert(!read<decltype(($word(word_$type)))>::lvalue, \"$word yields an lvalue\");"
            done
        done
    } >"$folder/values.cu"
    reads "what $cxx says of reads" $cxx -x c++ -std=c++20 -fsyntax-only -w -D__CUDACC__ -D__CUDA_ARCH__=900 \
        -I"$root/tests/device/cuda_words" -include cooperative_groups.h "${include[@]}" "$folder/values.cu"
fi

cc=$(first_of "${CC:-}" cc gcc clang)
strict=(-std=gnu11 -fsyntax-only -w -Werror=implicit-function-declaration -Werror=int-conversion
    -Werror=incompatible-pointer-types)
for test in "$root"/tests/gpu/test_*.c; do reads "${test##*/}" $cc "${strict[@]}" "${include[@]}" "$test"; done

nvcc=$(first_of "${CUDACXX:-}" nvcc /usr/local/cuda/bin/nvcc)
if [ -n "$nvcc" ]; then
    options=(-std=c++20 -arch=sm_90 --expt-relaxed-constexpr -DNVTX_DISABLE -w -fdevice-syntax-only -ptx
        -o "$folder/none")
    for program in bfs pagerank mst sssp_wide kcore; do # pushes, changes, sweeps, values of 8 bytes, peeling
        reads "$program by nvcc" $nvcc "${options[@]}" "${include[@]}" "$folder/$program.cu"
    done
    reads "the tests' kernels by nvcc" $nvcc "${options[@]}" "${include[@]}" "$root/tests/gpu/kernels.cu"
    toolkit=$(cd "$(dirname "$(readlink -f "$(type -P "${nvcc%% *}")")")/.." && pwd)/include
    for source in "$root"/src/device/cuda/*.c; do
        reads "${source##*/}" $cc "${strict[@]}" "${include[@]}" -DTANDEM_HAVE_CUDA -I"$toolkit" "$source"
    done
else
    skip "kernels by nvcc: it is not here"
fi
finish
