/* CUDA's words as far as kernels use them, declared and no more: kernels can then be parsed as C++ where there is no
 * CUDA (test_cuda_sources.sh). Named after the one header of CUDA's that they include. */
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define __device__
#define __host__
#define __global__
#define __shared__
#define __forceinline__ inline
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

struct uint3 { unsigned x, y, z; };
struct uint4 { unsigned x, y, z, w; };
extern const uint3 threadIdx, blockDim, blockIdx, gridDim;

void __syncthreads();
int __syncthreads_or(int predicate);
void __syncwarp(unsigned mask);
void __threadfence();
unsigned __ballot_sync(unsigned mask, int predicate);
template <typename type> type __shfl_sync(unsigned mask, type value, int lane);
template <typename type> type __shfl_up_sync(unsigned mask, type value, unsigned by);
template <typename type> type __shfl_down_sync(unsigned mask, type value, unsigned by);
template <typename type> type __shfl_xor_sync(unsigned mask, type value, int by);
unsigned __reduce_add_sync(unsigned mask, unsigned value);
int __popc(unsigned word);
int __ffs(int word);

template <typename type> type atomicAdd(type *place, type value);
template <typename type> type atomicMin(type *place, type value);
template <typename type> type atomicMax(type *place, type value);
template <typename type> type atomicOr(type *place, type value);
template <typename type> type atomicAnd(type *place, type value);
template <typename type> type atomicExch(type *place, type value);
template <typename type> type atomicCAS(type *place, type seen, type value);
template <typename type> type atomicAdd_system(type *place, type value);
template <typename type> type atomicMin_system(type *place, type value);
template <typename type> type atomicOr_system(type *place, type value);
template <typename type> type __ldg(const type *place);
template <typename type> type __ldca(const type *place);
template <typename type> type __ldcs(const type *place);

namespace cooperative_groups {
struct cluster_group { void sync(); };
cluster_group this_cluster();
}
