#!/usr/bin/env bash
# How a wheel with CUDA kernels would be built: for every GPU from Turing on and as PTX, with the runtime linked
# statically, so that it is imported where no driver is. A small library of the same make is loaded; nothing else is
# built.
root=$(cd "$(dirname "$0")/../.." && pwd)
source "$root/tests/cli/lib.sh"
cd "$folder" || exit 1
nvcc=$(type -P "${CUDACXX:-nvcc}" || type -P /usr/local/cuda/bin/nvcc) || nvcc=
if [ -z "$nvcc" ]; then
    skip "a wheel with CUDA: nvcc is not here"
    finish
fi

if said=$(CUDACXX=$nvcc cmake -S "$root" -B wheel -DSKBUILD=2 -DTANDEM_TESTS=OFF -DTANDEM_CUDA=ON \
    -DCMAKE_EXPORT_COMPILE_COMMANDS=ON 2>&1); then good; else
    bad "the wheel is not configured: $(tail -3 <<<"$said")"
fi
command=$(grep -m 1 'cuda_bfs.cu' wheel/compile_commands.json)
for arch in 75 80 86 89 90; do contains "$command" "arch=compute_$arch,code=[sm_$arch]" "bfs is compiled"; done
contains "$command" "arch=compute_100,code=[compute_100,sm_100]" "bfs is compiled, and as PTX"

# The libraries that the linker is given, by either generator.
linked=$(cat wheel/CMakeFiles/tandem_wheel.dir/link.txt 2>/dev/null ||
    sed -n '/^build wheel\/libtandem.so/,/^$/s/^ *LINK_LIBRARIES = //p' wheel/build.ninja)
contains "$linked" libcudart_static.a "the wheel links CUDA's runtime"
lacks "$linked" libcudart.so "the wheel links no shared runtime"
lacks " $linked " ' -lcuda ' "the wheel does not link the driver"
lacks "$linked" libcuda.so "the wheel does not link the driver"

# Without the driver the statically linked runtime says so, and does not keep the library from being loaded.
cat >small.cu <<'END'
#include <cuda_runtime.h>
__global__ void kernel(int *x) { *x = 1; }
extern "C" int gpus(void)
{
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) return -1;
    kernel<<<1, 1>>>(0);
    return count;
}
END
cat >load.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
    void *library = dlopen("./small.so", RTLD_NOW);
    if (library == NULL) return puts(dlerror()), 1;
    int (*gpus)(void) = (int (*)(void))dlsym(library, "gpus");
    return printf("loaded, %d GPUs\n", gpus()), 0;
}
END
"$nvcc" -arch=sm_90 -shared -Xcompiler=-fPIC -cudart static small.cu -o small.so >said 2>&1 && cc load.c -o load -ldl ||
    bad "a small library is not built: $(tail -2 said)"
equal "$(readelf -d small.so 2>/dev/null | grep -c libcuda)" 0 "the small library needs no library of CUDA's"
contains "$(./load 2>&1)" loaded, "the small library is loaded"
finish
