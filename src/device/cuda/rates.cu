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

// The ith of numbers below `range` that come in an order that no cache can foresee.
__device__ uint64_t scattered(uint64_t i, uint64_t range)
{
    uint64_t mixed = (i + 1) * 0x9e3779b97f4a7c15ull;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ull;
    return __umul64hi(mixed ^ (mixed << 31), range);
}

// A warp reads a line.
__global__ void random_lines(td_rate_lines a)
{
    const uint64_t warp = thread_number() / 32, warps = thread_count() / 32;
    uint32_t sum = 0;
#pragma unroll 4
    for (uint64_t i = warp; i < a.count; i += warps) sum += a.from[scattered(i, a.lines) * 32 + threadIdx.x % 32];
    keep(sum, a.sink);
}

__global__ void make_indices(td_rate_gathers a)
{
    for (uint64_t i = thread_number(); i < a.count; i += thread_count())
        a.indices[i] = static_cast<uint32_t>(scattered(i, a.words));
}

// Indices are read once and in order, past the cache that is to hold the words.
__global__ void gather(td_rate_gathers a)
{
    const uint4 *indices = reinterpret_cast<const uint4 *>(a.indices);
    uint32_t sum = 0;
#pragma unroll 4
    for (uint64_t i = thread_number(); i < a.count / 4; i += thread_count()) {
        const uint4 at = __ldcs(&indices[i]);
        sum += __ldg(&a.from[at.x]) ^ __ldg(&a.from[at.y]) ^ __ldg(&a.from[at.z]) ^ __ldg(&a.from[at.w]);
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
const void *const td_rate_indices = (const void *)make_indices;
const void *const td_rate_gather = (const void *)gather;
