// Kernels that do nothing but keep one thing busy.
#include "device/cuda/rate_kernels.h"

#include <cooperative_groups.h>

namespace {

__device__ uint64_t thread_number() { return blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; }
__device__ uint64_t thread_count() { return gridDim.x * (uint64_t)blockDim.x; }

// What was read must not look unused; no sum is ever the one number that makes it be written.
__device__ void keep(uint32_t sum, uint32_t *sink)
{
    if (sum == 0x9e3779b9u && sink != nullptr) *sink = sum;
}

__global__ void read_all(td_rate_stream a)
{
    const uint4 *from = static_cast<const uint4 *>(a.from);
    uint32_t sum = 0;
#pragma unroll 4
    for (uint64_t i = thread_number(); i < a.bytes / sizeof *from; i += thread_count()) {
        const uint4 four = from[i];
        sum += four.x ^ four.y ^ four.z ^ four.w;
    }
    keep(sum, static_cast<uint32_t *>(a.to));
}

__global__ void copy_all(td_rate_stream a)
{
    const uint4 *from = static_cast<const uint4 *>(a.from);
    uint4 *to = static_cast<uint4 *>(a.to);
#pragma unroll 4
    for (uint64_t i = thread_number(); i < a.bytes / sizeof *from; i += thread_count()) to[i] = from[i];
}

// A warp reads a line; the lines come in an order that no cache can foresee.
__global__ void random_lines(td_rate_lines a)
{
    const uint64_t warp = thread_number() / 32, warps = thread_count() / 32;
    uint32_t sum = 0;
#pragma unroll 4
    for (uint64_t i = warp; i < a.count; i += warps) {
        uint64_t mixed = (i + 1) * 0x9e3779b97f4a7c15ull;
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ull;
        const uint64_t line = __umul64hi(mixed ^ (mixed << 31), a.lines);
        sum += a.from[line * 32 + threadIdx.x % 32];
    }
    keep(sum, a.sink);
}

__global__ void barriers(td_rate_turns a)
{
    for (uint32_t i = 0; i < a.turns; i++) cooperative_groups::this_grid().sync();
}

__global__ void nothing(td_rate_turns) {}

} // namespace

const void *const td_rate_read = (const void *)read_all;
const void *const td_rate_copy = (const void *)copy_all;
const void *const td_rate_random = (const void *)random_lines;
const void *const td_rate_barriers = (const void *)barriers;
const void *const td_rate_nothing = (const void *)nothing;
