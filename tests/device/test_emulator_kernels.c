/* Kernels that keep the rules give their results on the emulator, in whatever order
 * their threads run. */
#include "device/emulator/watch.h"
#include "emulator_bench.h"

enum { SEEDS = 20 };

typedef void (*check_fn)(bench *b, uint32_t threads);

/* Runs the kernel over all words with many seeds, and checks each result. */
static void run_seeds(const char *name, td_launch shape, check_fn check)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        bench b = bench_open("emu", seed);
        CHECK_OK(bench_run(&b, name, shape));
        check(&b, shape.threads);
        bench_close(&b);
    }
}

static const uint32_t *words(bench *b)
{
    static uint32_t out[BENCH_WORDS];
    bench_read(b, out, b->arguments.out, sizeof out);
    return out;
}

TEST(threads_of_all_blocks_run_once)
{
    bench b = bench_open("emu", 1);
    CHECK_OK(bench_run(&b, "add_one", (td_launch){.blocks = 16, .threads = 256}));
    const uint32_t *out = words(&b);
    for (uint32_t i = 0; i < BENCH_WORDS; i++) CHECK_EQ(out[i], i + 1);
    bench_close(&b);
}

static void check_block_sum(bench *b, uint32_t threads)
{
    const uint32_t *out = words(b);
    for (uint32_t block = 0; block < BENCH_WORDS / threads; block++)
        CHECK_EQ(out[block], threads * (threads * block) + threads * (threads - 1) / 2);
}

TEST(barriers_order_shared_memory)
{
    run_seeds("block_sum", (td_launch){.blocks = BENCH_WORDS / 256, .threads = 256}, check_block_sum);
    run_seeds("block_sum", (td_launch){.blocks = BENCH_WORDS / 1024, .threads = 1024}, check_block_sum);
    run_seeds("block_sum", (td_launch){.blocks = BENCH_WORDS / 32, .threads = 32}, check_block_sum);
}

static void check_warp_sum(bench *b, uint32_t threads)
{
    (void)threads;
    CHECK_EQ(words(b)[0], BENCH_WORDS * (BENCH_WORDS - 1) / 2);
}

TEST(shuffles_move_values_down_a_warp)
{
    run_seeds("warp_sum", (td_launch){.blocks = BENCH_WORDS / 128, .threads = 128}, check_warp_sum);
}

static void check_warp_moves(bench *b, uint32_t threads)
{
    (void)threads;
    double real[32];
    const uint32_t *out = words(b);
    bench_read(b, real, b->arguments.real + 32, sizeof real);
    for (uint32_t lane = 0; lane < 32; lane++) {
        CHECK_EQ(real[lane], (lane + 1) % 32);
        CHECK_EQ(out[lane], (lane >= 3 ? lane - 3 : lane) * 100 + (lane ^ 5));
    }
}

TEST(shuffles_move_words_of_four_and_eight_bytes)
{
    run_seeds("warp_moves", (td_launch){.blocks = 1, .threads = 32}, check_warp_moves);
}

static void check_compact(bench *b, uint32_t threads)
{
    (void)threads;
    const uint32_t *out = words(b);
    uint64_t sum = 0;
    CHECK_EQ(out[0], (BENCH_WORDS + 2) / 3);
    for (uint32_t i = 1; i <= out[0]; i++) {
        CHECK_EQ(out[i] % 3, 0);
        sum += out[i] / 3;
    }
    CHECK_EQ(sum, (uint64_t)out[0] * (out[0] - 1) / 2);
}

TEST(a_list_is_compacted_with_one_atomic_for_each_warp)
{
    run_seeds("compact", (td_launch){.blocks = BENCH_WORDS / 256, .threads = 256}, check_compact);
}

static void check_two_ways(bench *b, uint32_t threads)
{
    const uint32_t *out = words(b);
    for (uint32_t t = 0; t < threads; t++) CHECK_EQ(out[t], t % 32 < 16 ? 15 - t % 32 + 16 : 8);
}

TEST(lanes_that_diverge_exchange_among_themselves)
{
    run_seeds("two_ways", (td_launch){.blocks = 1, .threads = 128}, check_two_ways);
}

TEST(blocks_of_a_joint_launch_meet_at_grid_barriers)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        bench b = bench_open("emu", seed);
        b.arguments.count = 16;
        CHECK_OK(bench_run(&b, "grid_rounds", (td_launch){.blocks = 8, .threads = 64, .cooperative = true}));
        const uint32_t *out = words(&b);
        for (uint32_t i = 0; i < 8; i++) CHECK_EQ(out[i], 2 * 28);
        bench_close(&b);
    }
}

/* A block that waits for all others finds them at barriers of their own, which is no divergence. */
TEST(blocks_may_come_to_a_grid_barrier_by_barriers_of_their_own)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        bench b = bench_open("emu", seed);
        b.arguments.count = 3;
        CHECK_OK(bench_run(&b, "uneven_rounds", (td_launch){.blocks = 8, .threads = 64, .cooperative = true}));
        const uint32_t *out = words(&b);
        for (uint32_t i = 0; i < 8; i++) CHECK_EQ(out[i], 3 * i);
        bench_close(&b);
    }
}

static void check_dynamic(bench *b, uint32_t threads)
{
    const uint32_t *out = words(b);
    for (uint32_t i = 0; i < BENCH_WORDS; i++) CHECK_EQ(out[i], i / threads * threads + threads - 1 - i % threads);
}

TEST(a_launch_brings_shared_memory_of_its_own)
{
    td_launch shape = {.blocks = BENCH_WORDS / 128, .threads = 128, .shared_bytes = 512};
    run_seeds("dynamic_shared", shape, check_dynamic);
}

static void check_bytes(bench *b, uint32_t threads)
{
    (void)threads;
    uint8_t bytes[BENCH_WORDS];
    bench_read(b, bytes, b->arguments.bytes, sizeof bytes);
    for (uint32_t i = 0; i < BENCH_WORDS; i++) CHECK_EQ(bytes[i], i % 7);
}

TEST(neighbouring_bytes_are_written_by_different_threads)
{
    run_seeds("mark_bytes", (td_launch){.blocks = BENCH_WORDS / 256, .threads = 256}, check_bytes);
}

static void check_handing(bench *b, uint32_t threads)
{
    const uint32_t *out = words(b);
    for (uint32_t t = 0; t < threads; t++) CHECK_EQ(out[t], 4 * (t ^ 1) * 10 + 6);
}

TEST(a_warp_barrier_orders_shared_memory_of_the_warp)
{
    run_seeds("warp_handing", (td_launch){.blocks = 1, .threads = 256}, check_handing);
}

static void check_atomics(bench *b, uint32_t threads)
{
    const uint32_t *out = words(b);
    uint64_t wide;
    CHECK_EQ(out[0], 4 * threads);
    CHECK_EQ(out[1], 0);
    CHECK_EQ(out[2], 4 * threads - 1);
    CHECK_EQ(out[3], UINT32_MAX);
    CHECK_EQ(out[5], 9);
    bench_read(b, &wide, b->arguments.wide, sizeof wide);
    CHECK_EQ(wide, (uint64_t)4 * threads * (4 * threads - 1) / 2);
}

TEST(atomics_of_all_threads_add_up)
{
    run_seeds("atomics_only", (td_launch){.blocks = 4, .threads = 128}, check_atomics);
}

static void check_waited(bench *b, uint32_t threads)
{
    (void)threads;
    CHECK_EQ(words(b)[0], 5);
}

TEST(a_thread_may_wait_for_a_word_that_another_changes)
{
    if (!td_watch_built()) SKIP("this build does not see that a thread waits");
    run_seeds("waits_for_word", (td_launch){.blocks = 1, .threads = 64}, check_waited);
}

TEST(constants_and_a_threads_own_arrays_are_its_to_touch)
{
    bench b = bench_open("emu", 1);
    CHECK_OK(bench_run(&b, "constants", (td_launch){.blocks = 1, .threads = 32}));
    CHECK_EQ(words(&b)[7], 27);
    bench_close(&b);
}

TEST_MAIN
