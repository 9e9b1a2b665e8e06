#!/usr/bin/env bash
# A launch with another struct than its kernel takes does not compile, nor does a table of kernels that says another
# struct than a kernel has in its signature. Nothing is built.
root=$(cd "$(dirname "$0")/../.." && pwd)
source "$root/tests/cli/lib.sh"

cc=
for name in "${CC:-}" cc gcc clang; do
    if [ -n "$name" ] && command -v "${name%% *}" >/dev/null; then cc=$name && break; fi
done
if [ -z "$cc" ]; then
    skip "there is no C compiler"
    finish
fi
compiler=($cc -std=gnu11 -fsyntax-only -Werror=incompatible-pointer-types -I"$root/src" -I"$root/include" -D_GNU_SOURCE)

launching() { # STRUCT: a unit that launches the kernel `apply` with it
    printf '#include "gpu/launch.h"\ntd_status go(td_gpu_job *job)\n{\n    %s args = {0};\n' "$1"
    echo '    return td_gpu_launch(job, job->stream, &job->kernels->apply, 1, &args);'
    echo '}'
}

table() { # STRUCT: a kernel that takes td_apply_args, in a table that says STRUCT
    printf '#include "kernels/gpu/language.h"\n#include "kernels/gpu/table.h"\n'
    printf 'TD_KERNEL(first, td_apply_args) { (void)a; }\n'
    printf 'struct { TD_GPU_KERNEL(first, %s); } all = {.first = {{"first", (const void *)first}, ' "$1"
    printf '(const first_argument *)0}};\n'
}

launching td_apply_args >right.c
launching td_pull_args >wrong.c
table td_apply_args >right_table.c
table td_pull_args >wrong_table.c
for right in right right_table; do
    if said=$("${compiler[@]}" $right.c 2>&1); then good; else bad "$right.c does not compile: $said"; fi
done
for wrong in wrong wrong_table; do
    if said=$("${compiler[@]}" $wrong.c 2>&1); then bad "$wrong.c compiles"; else good; fi
done
said=$("${compiler[@]}" wrong.c 2>&1)
contains "$said" "the kernel takes another struct" "the message of the wrong launch"
finish
