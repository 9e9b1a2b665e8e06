/* The language of kernels for nvcc. */
#ifndef TD_KERNELS_GPU_LANGUAGE_CUDA_H
#define TD_KERNELS_GPU_LANGUAGE_CUDA_H

#include <cooperative_groups.h>

#define TD_DEVICE static __device__ __forceinline__
/* Limits the registers so that `blocks` blocks of `threads` threads are resident on a multiprocessor. */
#define TD_DENSE_KERNEL(name, type, threads, blocks) \
    typedef type name##_argument;                     \
    static __global__ void __launch_bounds__(threads, blocks) name(const __grid_constant__ type a)
#define TD_KERNEL(name, type)     \
    typedef type name##_argument; \
    static __global__ void name(const __grid_constant__ type a)

TD_DEVICE uint32_t td_thread(void) { return threadIdx.x; }
TD_DEVICE uint32_t td_threads(void) { return blockDim.x; }
TD_DEVICE uint32_t td_block(void) { return blockIdx.x; }
TD_DEVICE uint32_t td_blocks(void) { return gridDim.x; }
TD_DEVICE uint32_t td_lane(void) { return threadIdx.x & 31u; }
TD_DEVICE uint32_t td_warp(void) { return threadIdx.x >> 5; }

#define TD_SHARED(type, name, count) __shared__ type name[count]
#define TD_SHARED_DYNAMIC(type, name)                    \
    extern __shared__ __align__(16) char td_dynamic_[];  \
    type *name = (type *)td_dynamic_

#define TD_BARRIER() __syncthreads()
#define TD_GRID_BARRIER(cluster, word) td_grid_barrier(cluster, word)
#define TD_SET_BARRIER(set) td_set_barrier(set)
#define TD_WARP_BARRIER(mask) __syncwarp(mask)
#define TD_FENCE() __threadfence()

#define TD_BALLOT(mask, predicate) __ballot_sync((mask), (predicate))
#define TD_SHUFFLE(mask, value, lane) __shfl_sync((mask), (value), (int)(lane))
#define TD_SHUFFLE_UP(mask, value, by) __shfl_up_sync((mask), (value), (by))
#define TD_SHUFFLE_DOWN(mask, value, by) __shfl_down_sync((mask), (value), (by))
#define TD_SHUFFLE_XOR(mask, value, by) __shfl_xor_sync((mask), (value), (int)(by))

/* Every block but the first adds 1 to the word; the first adds 2^31 minus their number, so that the highest bit flips
 * when all have arrived. */
TD_DEVICE void td_grid_barrier(bool cluster, uint32_t *word)
{
#if __CUDA_ARCH__ >= 900
    if (cluster) {
        cooperative_groups::this_cluster().sync();
        return;
    }
#endif
    __syncthreads();
    if (threadIdx.x == 0) {
        uint32_t more = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1u, before, now;
        asm volatile("atom.add.acq_rel.gpu.u32 %0, [%1], %2;" : "=r"(before) : "l"(word), "r"(more) : "memory");
        do asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(word) : "memory");
        while (((before ^ now) & 0x80000000u) == 0);
    }
    __syncthreads();
}

/* While it waits for other members, a block looks at the host's word once in so many loads: that load crosses PCIe. */
enum { TD_SET_LOADS = 4096 };

/* The last block of a member meets the other members; returns what releases the blocks of its own. Every member but the
 * first adds 1; the first adds 2^31 minus their number. */
TD_DEVICE uint32_t td_set_meet(const td_set_member *set, uint32_t release)
{
    uint32_t more = set->member == 0 ? 0x80000000u - (set->members - 1) : 1u, before, now;
    asm volatile("atom.add.acq_rel.sys.u32 %0, [%1], %2;" : "=r"(before) : "l"(set->met), "r"(more) : "memory");
    for (uint32_t loads = 1;; loads++) {
        asm volatile("ld.acquire.sys.u32 %0, [%1];" : "=r"(now) : "l"(set->met) : "memory");
        if (((before ^ now) & 0x80000000u) != 0) return release;
        if (loads % TD_SET_LOADS == 0 && *set->broken != 0) return release | TD_SET_ENDS;
    }
}

/* Blocks meet at a word of their own device (scope gpu); the last one meets the other members (scope sys) and releases
 * the others. Causality in PTX's memory model is transitive over scopes: a write of any thread precedes, by the block's
 * barrier, its thread 0's arrival; that precedes the last block's (acquire, scope gpu), whose arrival at the set is a
 * release of scope sys and so makes visible what it observed as well as what it wrote. The way out is the same
 * backwards. The last block alone looks at `broken`, so that either all blocks of a member end or none does. */
TD_DEVICE void td_set_barrier(const td_set_member *set)
{
    uint32_t ends = 0;
    __syncthreads();
    if (threadIdx.x == 0 && set->blocks != 0) { /* slices of one GPU: its scope is enough */
        bool first = set->member == 0 && blockIdx.x == 0;
        uint32_t more = first ? 0x80000000u - (set->blocks - 1) : 1u, before, now;
        asm volatile("atom.add.acq_rel.gpu.u32 %0, [%1], %2;" : "=r"(before) : "l"(set->met), "r"(more) : "memory");
        for (uint32_t loads = 1;; loads++) {
            asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(set->met) : "memory");
            if (((before ^ now) & 0x80000000u) != 0) break;
            if (loads % TD_SET_LOADS == 0 && *set->broken != 0) {
                ends = TD_SET_ENDS;
                break;
            }
        }
    } else if (threadIdx.x == 0) {
        uint32_t *come = set->grid + TD_SET_COME, *released = set->grid + TD_SET_RELEASED, before, past, now;
        asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(past) : "l"(released) : "memory");
        asm volatile("atom.add.acq_rel.gpu.u32 %0, [%1], %2;" : "=r"(before) : "l"(come), "r"(1u) : "memory");
        if (before == gridDim.x - 1) {
            asm volatile("st.relaxed.gpu.u32 [%0], %1;" ::"l"(come), "r"(0u) : "memory");
            now = td_set_meet(set, (past + 1) & ~TD_SET_ENDS);
            asm volatile("st.release.gpu.u32 [%0], %1;" ::"l"(released), "r"(now) : "memory");
        } else {
            do asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(released) : "memory");
            while (now == past);
        }
        ends = now & TD_SET_ENDS;
    }
    if (__syncthreads_or((int)ends) != 0) asm volatile("exit;");
}

TD_DEVICE uint64_t td_clock(void)
{
    uint64_t now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}
#define TD_CLOCK() td_clock()

#if __CUDA_ARCH__ >= 800
#define TD_WARP_SUM(value) __reduce_add_sync(TD_ALL_LANES, (value)) /* in one instruction */
#endif

#define TD_POPCOUNT(word) ((uint32_t)__popc(word))
#define TD_LOWEST_BIT(word) ((uint32_t)__ffs((int)(word)) - 1u) /* of a word that is not 0 */

TD_DEVICE uint32_t td_add(uint32_t *word, uint32_t value) { return atomicAdd(word, value); }
TD_DEVICE uint64_t td_add(uint64_t *word, uint64_t value)
{
    return atomicAdd((unsigned long long *)word, (unsigned long long)value);
}
TD_DEVICE float td_add(float *word, float value) { return atomicAdd(word, value); }
TD_DEVICE double td_add(double *word, double value) { return atomicAdd(word, value); }
TD_DEVICE uint32_t td_min(uint32_t *word, uint32_t value) { return atomicMin(word, value); }
TD_DEVICE uint64_t td_min(uint64_t *word, uint64_t value)
{
    return atomicMin((unsigned long long *)word, (unsigned long long)value);
}
TD_DEVICE uint32_t td_max(uint32_t *word, uint32_t value) { return atomicMax(word, value); }
TD_DEVICE uint64_t td_max(uint64_t *word, uint64_t value)
{
    return atomicMax((unsigned long long *)word, (unsigned long long)value);
}

TD_DEVICE uint32_t td_or(uint32_t *word, uint32_t value) { return atomicOr(word, value); }
TD_DEVICE uint64_t td_or(uint64_t *word, uint64_t value)
{
    return atomicOr((unsigned long long *)word, (unsigned long long)value);
}

#define TD_ADD(word, value) td_add((word), (value))
#define TD_MIN(word, value) td_min((word), (value))
#define TD_MAX(word, value) td_max((word), (value))
#define TD_OR(word, value) td_or((word), (value))
#define TD_AND(word, value) atomicAnd((word), (value))
#define TD_EXCHANGE(word, value) atomicExch((word), (value))

TD_DEVICE uint32_t td_add_system(uint32_t *word, uint32_t value) { return atomicAdd_system(word, value); }
TD_DEVICE uint64_t td_add_system(uint64_t *word, uint64_t value)
{
    return atomicAdd_system((unsigned long long *)word, (unsigned long long)value);
}
TD_DEVICE float td_add_system(float *word, float value) { return atomicAdd_system(word, value); }
TD_DEVICE double td_add_system(double *word, double value) { return atomicAdd_system(word, value); }
TD_DEVICE uint32_t td_min_system(uint32_t *word, uint32_t value) { return atomicMin_system(word, value); }
TD_DEVICE uint64_t td_min_system(uint64_t *word, uint64_t value)
{
    return atomicMin_system((unsigned long long *)word, (unsigned long long)value);
}
#define TD_ADD_SYSTEM(word, value) td_add_system((word), (value))
#define TD_MIN_SYSTEM(word, value) td_min_system((word), (value))
#define TD_OR_SYSTEM(word, value) atomicOr_system((word), (value))
#define TD_LOAD_SYSTEM(place) TD_PEEK(place) /* PTX: a volatile access is a relaxed one of scope sys */
#define TD_STORE_SYSTEM(place, value) TD_POKE(place, value)

/* Reads and writes of a value of 4 or 8 bytes, of any type, under concurrent access. A read yields a value, no lvalue
 * (TD_LOAD of program.h). */
#define TD_PEEK(place) ((__typeof__(*(place)))*(const volatile __typeof__(*(place)) *)(place))
#define TD_POKE(place, value) (*(volatile __typeof__(*(place)) *)(place) = (value))

template <typename type> TD_DEVICE bool td_swap_value(type *place, type old, type fresh)
{
    static_assert(sizeof(type) == 4 || sizeof(type) == 8, "a value of 4 or 8 bytes");
    unsigned long long was = 0, is = 0;
    memcpy(&was, &old, sizeof old);
    memcpy(&is, &fresh, sizeof fresh);
    if (sizeof(type) == 4) return atomicCAS((unsigned int *)place, (unsigned int)was, (unsigned int)is) == (unsigned int)was;
    return atomicCAS((unsigned long long *)place, was, is) == was;
}
#define TD_SWAP_VALUE(place, old, fresh) td_swap_value((place), (old), (fresh))

#define TD_UNROLL _Pragma("unroll")

/* Loads into L2 without waiting. */
#define TD_PREFETCH(place) asm volatile("prefetch.global.L2 [%0];" ::"l"(place))

/* Loads of values that no thread writes during the launch. */
#define TD_READ_ONLY(place) __ldg(place)
#define TD_READ_ONCE(place) __ldcs(place) /* streaming load: not read again soon */

/* Four consecutive words in one access; the index of the first is a multiple of four. */
#define TD_READ_FOUR(words, place)                        \
    do {                                                  \
        uint4 four_ = __ldcs((const uint4 *)(place));     \
        (words)[0] = four_.x, (words)[1] = four_.y;       \
        (words)[2] = four_.z, (words)[3] = four_.w;       \
    } while (0)
#define TD_WRITE_FOUR(place, words)                                              \
    do {                                                                         \
        uint4 four_ = {(words)[0], (words)[1], (words)[2], (words)[3]};          \
        *(uint4 *)(place) = four_;                                               \
    } while (0)

#endif
