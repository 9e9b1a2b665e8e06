/* Kernels that keep the rules. */
#include "emulator_kernels.h"

#include "kernels/gpu/language.h"

TD_KERNEL(add_one, kernel_arguments)
{
    uint32_t i = td_global_thread();
    if (i < a.count) a.out[i] = a.in[i] + 1;
}

/* The sum of a block's numbers, by halves, in shared memory. */
TD_KERNEL(block_sum, kernel_arguments)
{
    TD_SHARED(uint32_t, sums, 1024);
    uint32_t t = td_thread(), i = td_global_thread();
    sums[t] = i < a.count ? a.in[i] : 0;
    TD_BARRIER();
    for (uint32_t half = td_threads() / 2; half > 0; half /= 2) {
        if (t < half) sums[t] += sums[t + half];
        TD_BARRIER();
    }
    if (t == 0) a.out[td_block()] = sums[0];
}

TD_KERNEL(warp_sum, kernel_arguments)
{
    uint32_t sum = a.in[td_global_thread()];
    for (uint32_t by = 16; by > 0; by /= 2) sum += TD_SHUFFLE_DOWN(TD_ALL_LANES, sum, by);
    if (td_lane() == 0) TD_ADD(a.out, sum);
}

TD_KERNEL(warp_moves, kernel_arguments)
{
    uint32_t lane = td_lane();
    double real = TD_SHUFFLE(TD_ALL_LANES, a.real[lane], (lane + 1) % 32);
    uint32_t up = TD_SHUFFLE_UP(TD_ALL_LANES, lane, 3), across = TD_SHUFFLE_XOR(TD_ALL_LANES, lane, 5);
    a.real[32 + lane] = real;
    a.out[lane] = up * 100 + across;
}

/* One place in the list for each chosen number, one atomic for each warp. */
TD_KERNEL(compact, kernel_arguments)
{
    uint32_t i = td_global_thread(), chosen = i < a.count && a.in[i] % 3 == 0;
    uint32_t votes = TD_BALLOT(TD_ALL_LANES, chosen), place = 0;
    if (votes == 0) return;
    uint32_t leader = TD_LOWEST_BIT(votes);
    if (td_lane() == leader) place = TD_ADD(a.out, TD_POPCOUNT(votes));
    place = TD_SHUFFLE(TD_ALL_LANES, place, leader);
    if (chosen) a.out[1 + place + TD_POPCOUNT(votes & td_lanes_below())] = a.in[i];
}

/* Halves of a warp that go different ways, each exchanging among its own. */
TD_KERNEL(two_ways, kernel_arguments)
{
    uint32_t lane = td_lane(), low = 0x0000ffffu, high = 0xffff0000u, got;
    if (lane < 16) {
        got = TD_SHUFFLE(low, lane, 15 - lane);
        got += TD_POPCOUNT(TD_BALLOT(low, 1));
    } else {
        got = TD_POPCOUNT(TD_BALLOT(high, lane % 2));
    }
    TD_WARP_BARRIER(TD_ALL_LANES);
    a.out[td_global_thread()] = got;
}

/* Rounds in one launch: each block tells the next. */
TD_KERNEL(grid_rounds, kernel_arguments)
{
    uint32_t blocks = td_blocks(), me = td_block();
    for (uint32_t round = 0; round < a.count; round++) {
        uint32_t *now = a.out + (round % 2) * blocks, *then = a.out + ((round + 1) % 2) * blocks;
        if (td_thread() == 0) then[(me + 1) % blocks] = now[me] + me;
        TD_GRID_BARRIER(false, 0);
    }
}

/* The same, where every block has barriers of its own in between, each another number of them. */
TD_KERNEL(uneven_rounds, kernel_arguments)
{
    for (uint32_t round = 0; round < a.count; round++) {
        for (uint32_t i = 0; i < td_block(); i++) {
            if (td_thread() == 0) TD_ADD(&a.out[td_block()], 1u);
            TD_BARRIER();
        }
        TD_GRID_BARRIER(false, 0);
    }
}

TD_KERNEL(dynamic_shared, kernel_arguments)
{
    TD_SHARED_DYNAMIC(uint32_t, words);
    words[td_thread()] = a.in[td_global_thread()];
    TD_BARRIER();
    a.out[td_global_thread()] = words[td_threads() - 1 - td_thread()];
}

/* Neighbouring bytes of one word are different places. */
TD_KERNEL(mark_bytes, kernel_arguments)
{
    uint32_t i = td_global_thread();
    if (i < a.count) a.bytes[i] = (uint8_t)(i % 7);
}

/* Lanes hand numbers on through shared memory, meeting in between. */
TD_KERNEL(warp_handing, kernel_arguments)
{
    TD_SHARED(uint32_t, words, 1024);
    uint32_t t = td_thread(), sum = 0;
    for (uint32_t round = 0; round < 4; round++) {
        words[t] = t * 10 + round;
        TD_WARP_BARRIER(TD_ALL_LANES);
        sum += words[t ^ 1];
        TD_WARP_BARRIER(TD_ALL_LANES);
    }
    a.out[td_global_thread()] = sum;
}

TD_KERNEL(atomics_only, kernel_arguments)
{
    uint32_t i = td_global_thread();
    TD_ADD(&a.out[0], 1u);
    TD_MIN(&a.out[1], i);
    TD_MAX(&a.out[2], i);
    TD_OR(&a.out[3], 1u << td_lane());
    TD_ADD(&a.wide[0], (uint64_t)i);
    TD_ADD(&a.real[0], 0.5);
    TD_STORE(&a.out[4], 7u);
    if (TD_LOAD(&a.out[4]) == 7u) TD_EXCHANGE(&a.out[5], 9u);
}

/* One thread waits for another of its block without a barrier, as running side by side allows. */
TD_KERNEL(waits_for_word, kernel_arguments)
{
    if (td_thread() == 40) TD_STORE(&a.out[0], 5u);
    if (td_thread() == 3)
        while (TD_LOAD(&a.out[0]) != 5u) {}
}

/* The same number of reads, shared out or all by one thread. */
TD_KERNEL(read_many, kernel_arguments)
{
    uint32_t threads = td_threads(), each = a.choice != 0 ? a.count : a.count / threads, sum = 0;
    uint32_t first = a.choice != 0 ? 0 : td_thread() * each;
    if (a.choice != 0 && td_thread() != 0) return;
    for (uint32_t i = 0; i < each; i++) sum += TD_LOAD(&a.in[first + i]);
    a.out[td_thread()] = sum;
}

/* Plain writes that nothing else in the launch touches. */
TD_KERNEL(write_peer, kernel_arguments)
{
    uint32_t i = td_global_thread();
    if (i < a.count) a.out[i] = i * 3;
}

/* Neighbours' words as they are at the moment. */
TD_KERNEL(load_all, kernel_arguments)
{
    uint32_t i = td_global_thread();
    if (i < a.count) a.out[i] = TD_LOAD(&a.in[i]);
}

TD_KERNEL(store_all, kernel_arguments)
{
    uint32_t i = td_global_thread();
    if (i < a.count) TD_STORE(&a.out[i], a.choice);
}

TD_KERNEL(count_up, kernel_arguments)
{
    uint32_t i = td_global_thread();
    if (i < a.count) TD_ADD(&a.out[i], 1u);
}

/* A meeting of two GPUs at a counter, as persistent loops have it. */
TD_DEVICE void meet_other(uint32_t *counter, uint32_t until)
{
    TD_BARRIER();
    if (td_thread() == 0) {
        TD_FENCE();
        TD_ADD(counter, 1u);
        while (TD_LOAD(counter) < until) {}
        TD_FENCE();
    }
    TD_BARRIER();
}

/* Rounds of two GPUs in one launch each: each writes to the other's memory and reads what the other wrote to its own.
 * choice: which of the two; with 2 added, they never meet. */
TD_KERNEL(rounds_of_two, kernel_arguments)
{
    uint32_t *counter = (uint32_t *)a.wide, me = a.choice % 2, t = td_thread(), wrong = 0;
    for (uint32_t round = 0; round < a.count; round++) {
        a.out[t] = round * 10 + me;
        if (a.choice < 2) meet_other(counter, 4 * round + 2);
        wrong += a.in[t] != round * 10 + 1 - me;
        if (a.choice < 2) meet_other(counter, 4 * round + 4);
    }
    if (wrong > 0) TD_ADD(counter + 1, wrong);
}

static const uint32_t powers_of_three[4] = {1, 3, 9, 27};

TD_KERNEL(constants, kernel_arguments)
{
    uint32_t own[4];
    for (uint32_t k = 0; k < 4; k++) own[(k + a.choice) % 4] = powers_of_three[k];
    a.out[td_global_thread()] = own[td_thread() % 4];
}

#define KERNEL(name) {#name, (const void *)name}
const td_kernel right_kernels[] = {
    KERNEL(add_one), KERNEL(block_sum), KERNEL(warp_sum), KERNEL(warp_moves), KERNEL(compact), KERNEL(two_ways),
    KERNEL(grid_rounds), KERNEL(uneven_rounds), KERNEL(dynamic_shared), KERNEL(mark_bytes), KERNEL(warp_handing),
    KERNEL(atomics_only), KERNEL(waits_for_word), KERNEL(read_many), KERNEL(constants),
    KERNEL(write_peer), KERNEL(load_all), KERNEL(store_all), KERNEL(count_up), KERNEL(rounds_of_two), {NULL, NULL}};
