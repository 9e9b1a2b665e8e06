// Kernels for the tests of the CUDA device, in the language of all kernels.
#include "kernels/gpu/language.h"

#include "gpu/kernels.h"

#include "device/joint_ring.h"

TD_KERNEL(add, add_arguments)
{
    for (uint64_t i = td_global_thread(); i < a.count; i += td_global_threads()) a.numbers[i] += a.by;
}

TD_KERNEL(sum, sum_arguments)
{
    uint64_t mine = 0;
    for (uint64_t i = td_global_thread(); i < a.count; i += td_global_threads()) mine += a.numbers[i];
    for (uint32_t by = TD_WARP / 2; by > 0; by /= 2) mine += TD_SHUFFLE_DOWN(TD_ALL_LANES, mine, by);
    if (td_lane() == 0) TD_ADD(a.sum, mine);
}

TD_KERNEL(rounds, rounds_arguments)
{
    for (uint32_t turn = 0; turn < a.turns; turn++) {
        if (td_thread() == 0) TD_ADD(a.count, 1u);
        TD_GRID_BARRIER(false, a.meeting);
        if (td_thread() == 0 && TD_LOAD(a.count) != (turn + 1) * td_blocks()) TD_ADD(a.late, 1u);
        TD_GRID_BARRIER(false, a.meeting);
    }
}

TD_KERNEL(meet, meet_arguments)
{
    const long long start = clock64();
    TD_EXCHANGE(a.mine, 1u);
    while (TD_ADD(a.other, 0u) == 0)
        if ((uint64_t)(clock64() - start) > a.clocks) return;
    TD_EXCHANGE(a.seen, 1u);
}

TD_KERNEL(where, where_arguments)
{
    uint32_t me;
    asm("mov.u32 %0, %%smid;" : "=r"(me));
    if (td_thread() == 0) TD_OR(&a.bits[me / 32], 1u << (me % 32));
}

// The first word of dynamic shared memory travels through the last.
TD_KERNEL(shared, add_arguments)
{
    TD_SHARED_DYNAMIC(uint32_t, words);
    if (td_thread() == 0) words[a.count - 1] = a.by;
    TD_BARRIER();
    if (td_thread() == 1) a.numbers[td_block()] = words[a.count - 1];
}

TD_KERNEL(wild, add_arguments) { a.numbers[td_global_thread() + a.count] = a.by; }

const void *const kernel_add = (const void *)add;
const void *const kernel_sum = (const void *)sum;
const void *const kernel_rounds = (const void *)rounds;
const void *const kernel_meet = (const void *)meet;
const void *const kernel_where = (const void *)where;
const void *const kernel_shared = (const void *)shared;
const void *const kernel_wild = (const void *)wild;
const void *const kernel_ring = (const void *)ring;
