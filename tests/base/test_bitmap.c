#include "test.h"

#include "base/bitmap.h"
#include "base/pool.h"

#include <stdatomic.h>

TEST(words_hold_the_bits_and_no_more)
{
    CHECK_EQ(td_bitmap_words(0), 0);
    CHECK_EQ(td_bitmap_words(1), 1);
    CHECK_EQ(td_bitmap_words(64), 1);
    CHECK_EQ(td_bitmap_words(65), 2);
    CHECK_EQ(td_bitmap_words(UINT64_MAX), INT64_C(1) << 58);
}

TEST(bits_are_set_and_cleared_one_by_one)
{
    uint64_t map[4] = {0};
    for (uint64_t i = 0; i < 256; i += 3) td_bit_set(map, i);
    for (uint64_t i = 0; i < 256; i++) CHECK_EQ(td_bit_get(map, i), i % 3 == 0);
    CHECK_EQ(td_bitmap_count(map, 4), 86);
    for (uint64_t i = 0; i < 256; i += 6) td_bit_clear(map, i);
    for (uint64_t i = 0; i < 256; i++) CHECK_EQ(td_bit_get(map, i), i % 6 == 3);
    CHECK_EQ(td_bitmap_count(map, 4), 43);
    CHECK_EQ(td_bitmap_count(map, 0), 0);
}

TEST(bit_i_is_bit_i_mod_64_of_word_i_div_64)
{
    uint64_t map[2] = {0};
    td_bit_set(map, 63);
    td_bit_set(map, 64);
    CHECK(map[0] == UINT64_C(1) << 63);
    CHECK(map[1] == 1);
}

enum { BITS = 100003 };

typedef struct race {
    uint64_t *map;
    _Atomic uint64_t won;
} race;

static td_status set_all(void *context, int worker, int workers)
{
    race *job = context;
    for (uint64_t i = 0; i < BITS; i++)
        if (td_bit_set_atomic(job->map, (i + (uint64_t)worker * BITS / (uint64_t)workers) % BITS)) job->won++;
    return TD_OK;
}

TEST(exactly_one_thread_sets_a_bit)
{
    td_pool *pool = NULL;
    CHECK_OK(td_pool_create(&pool, 4));
    race job = {NULL, 0};
    CHECK_OK(TD_NEW_ZEROED(&job.map, td_bitmap_words(BITS), "bitmap"));
    CHECK_OK(td_pool_run(pool, set_all, &job));
    CHECK_EQ(job.won, BITS);
    CHECK_EQ(td_bitmap_count(job.map, td_bitmap_words(BITS)), BITS);
    td_free(job.map);
    td_pool_destroy(pool);
}

/* One by one, whatever the instruction set has for it. */
TEST(set_bits_of_a_word_are_counted)
{
    uint64_t word = UINT64_C(0x9e3779b97f4a7c15);
    for (int i = 0; i < 1000; i++) {
        uint64_t count = 0, few = word >> (i % 64);
        for (int bit = 0; bit < 64; bit++) count += few >> bit & 1;
        CHECK_EQ(td_popcount(few), count);
        word = word * UINT64_C(6364136223846793005) + 1;
    }
    CHECK_EQ(td_popcount(0), 0);
    CHECK_EQ(td_popcount(UINT64_MAX), 64);
}

TEST_MAIN
