/* Kernels that each break one rule, on a line that says `here`: the test reads this
 * file to know which. */
#include "emulator_kernels.h"

#include "kernels/gpu/language.h"

TD_KERNEL(missing_barrier, kernel_arguments)
{
    TD_SHARED(uint32_t, words, 1024);
    words[td_thread()] = td_thread(); /* here */
    a.out[td_global_thread()] = words[td_threads() - 1 - td_thread()]; /* here */
}

TD_KERNEL(missing_barrier_atomics, kernel_arguments)
{
    TD_SHARED(uint32_t, words, 1);
    if (td_thread() == 0) words[0] = 0; /* here */
    TD_ADD(words, 1u); /* here */
    a.out[td_thread()] = 1;
}

/* The second use of the words needs a barrier too. */
TD_KERNEL(missing_second_barrier, kernel_arguments)
{
    TD_SHARED(uint32_t, words, 1024);
    for (uint32_t round = 0; round < 2; round++) {
        words[td_thread()] = td_thread() + round; /* here */
        TD_BARRIER();
        a.out[td_global_thread()] = words[td_threads() - 1 - td_thread()]; /* here */
    }
}

TD_KERNEL(divergent_barrier, kernel_arguments)
{
    if (td_thread() == 5) return;
    a.out[td_global_thread()] = 1;
    TD_BARRIER(); /* here */
}

TD_KERNEL(barriers_apart, kernel_arguments)
{
    if (td_thread() < 32) TD_BARRIER(); /* here */
    if (td_thread() >= 32) TD_BARRIER(); /* here */
    a.out[td_global_thread()] = 1;
}

TD_KERNEL(grid_and_block, kernel_arguments)
{
    if (td_thread() < 32) TD_BARRIER(); /* here */
    else TD_GRID_BARRIER(false, 0); /* here */
    a.out[td_global_thread()] = 1;
}

TD_KERNEL(grid_alone, kernel_arguments)
{
    a.out[td_global_thread()] = 1;
    TD_GRID_BARRIER(false, 0); /* here */
}

TD_KERNEL(block_leaves_grid, kernel_arguments)
{
    if (td_block() == 1) return;
    a.out[td_global_thread()] = 1;
    TD_GRID_BARRIER(false, 0); /* here */
}

TD_KERNEL(mask_of_ended, kernel_arguments)
{
    if (td_lane() == 7) return;
    a.out[td_global_thread()] = TD_BALLOT(TD_ALL_LANES, 1); /* here */
}

TD_KERNEL(mask_without_self, kernel_arguments)
{
    a.out[td_global_thread()] = TD_BALLOT(0x0000ffffu, 1); /* here */
}

TD_KERNEL(masks_differ, kernel_arguments)
{
    uint32_t mask = td_lane() < 16 ? TD_ALL_LANES : 0xffff0001u;
    a.out[td_global_thread()] = TD_BALLOT(mask, 1); /* here */
}

TD_KERNEL(sites_differ, kernel_arguments)
{
    uint32_t votes;
    if (td_lane() < 16) votes = TD_BALLOT(TD_ALL_LANES, 1); /* here */
    else votes = TD_BALLOT(TD_ALL_LANES, 1); /* here */
    a.out[td_global_thread()] = votes;
}

TD_KERNEL(deadlock, kernel_arguments)
{
    if (td_lane() == 3) TD_BARRIER();
    else a.out[td_global_thread()] = TD_BALLOT(TD_ALL_LANES, 1); /* here */
}

TD_KERNEL(shared_overrun, kernel_arguments)
{
    TD_SHARED(uint32_t, words, 64);
    words[td_thread() + 1] = 0; /* here */
    a.out[td_global_thread()] = 1;
}

TD_KERNEL(shared_underrun, kernel_arguments)
{
    TD_SHARED(uint32_t, words, 64);
    a.out[td_global_thread()] = words[(int)td_thread() - 1]; /* here */
}

TD_KERNEL(shared_too_large, kernel_arguments)
{
    TD_SHARED(uint32_t, words, 1 << 20); /* here */
    a.out[td_global_thread()] = words != NULL;
}

TD_KERNEL(plain_race, kernel_arguments)
{
    a.out[0] = td_thread(); /* here */
}

TD_KERNEL(race_of_blocks, kernel_arguments)
{
    if (td_thread() == 0) a.out[0] = td_block(); /* here */
}

TD_KERNEL(race_with_atomic, kernel_arguments)
{
    if (td_thread() == 40) a.out[0] = 1; /* here */
    else TD_ADD(a.out, 1u); /* here */
}

TD_KERNEL(race_with_reader, kernel_arguments)
{
    uint32_t seen = a.out[td_thread() / 2]; /* here */
    a.out[td_thread()] = seen; /* here */
}

/* The lanes meet, but not with the one they read from. */
TD_KERNEL(race_in_warp, kernel_arguments)
{
    TD_SHARED(uint32_t, words, 32);
    uint32_t mask = td_lane() < 16 ? 0x0000ffffu : 0xffff0000u;
    words[td_lane()] = td_lane(); /* here */
    TD_WARP_BARRIER(mask);
    a.out[td_lane()] = words[td_lane() ^ 16]; /* here */
}

TD_KERNEL(race_of_bytes, kernel_arguments)
{
    a.bytes[td_thread() / 2] = 1; /* here */
}

/* Blocks of a joint launch, without the barrier that grid_rounds has. */
TD_KERNEL(grid_rounds_apart, kernel_arguments)
{
    uint32_t blocks = td_blocks(), me = td_block();
    for (uint32_t round = 0; round < 2; round++) {
        uint32_t *now = a.out + round * blocks, *then = a.out + (1 - round) * blocks;
        if (td_thread() == 0) then[(me + 1) % blocks] = now[me] + me; /* here */
        TD_BARRIER();
    }
}

TD_KERNEL(global_overrun, kernel_arguments)
{
    a.out[a.count + td_thread()] = 1; /* here */
}

TD_KERNEL(global_underrun, kernel_arguments)
{
    a.out[0] = a.in[-1]; /* here */
}

TD_KERNEL(freed_memory, kernel_arguments)
{
    if (td_thread() == 0) a.out[0] = a.in[3]; /* here */
}

TD_KERNEL(host_memory, kernel_arguments)
{
    if (td_thread() == 0) a.out[0] = a.in[a.choice]; /* here */
}

extern uint32_t host_variable;
uint32_t host_variable;

TD_KERNEL(writable_global, kernel_arguments)
{
    if (td_thread() == 0) host_variable = a.count; /* here */
}

TD_KERNEL(other_stack, kernel_arguments)
{
    uint32_t own[4] = {1, 2, 3, a.choice};
    if (td_thread() == 0) __atomic_store_n((uint64_t *)a.wide, (uint64_t)(uintptr_t)own, __ATOMIC_RELAXED);
    TD_BARRIER();
    if (td_thread() == 1) a.out[0] = ((uint32_t *)(uintptr_t)TD_LOAD(a.wide))[a.choice % 4]; /* here */
    TD_BARRIER();
    a.out[1 + td_thread()] = own[(a.choice + td_thread()) % 4];
}

TD_KERNEL(endless, kernel_arguments)
{
    while (TD_LOAD(&a.out[0]) == 0) {} /* here */
    a.out[1] = 1;
}

#define KERNEL(name) {#name, (const void *)name}
const td_kernel wrong_kernels[] = {
    KERNEL(missing_barrier), KERNEL(missing_barrier_atomics), KERNEL(missing_second_barrier),
    KERNEL(divergent_barrier), KERNEL(barriers_apart), KERNEL(grid_and_block), KERNEL(grid_alone),
    KERNEL(block_leaves_grid), KERNEL(mask_of_ended), KERNEL(mask_without_self), KERNEL(masks_differ),
    KERNEL(sites_differ), KERNEL(deadlock), KERNEL(shared_overrun), KERNEL(shared_underrun), KERNEL(shared_too_large),
    KERNEL(plain_race), KERNEL(race_of_blocks), KERNEL(race_with_atomic), KERNEL(race_with_reader),
    KERNEL(race_in_warp), KERNEL(race_of_bytes), KERNEL(grid_rounds_apart), KERNEL(global_overrun),
    KERNEL(global_underrun), KERNEL(freed_memory), KERNEL(host_memory), KERNEL(writable_global), KERNEL(other_stack),
    KERNEL(endless), {NULL, NULL}};
