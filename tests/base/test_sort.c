#include "test.h"

#include "base/pool.h"
#include "base/random.h"
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* How words are drawn. */
typedef enum shape { EVEN, FEW_VALUES, ASCENDING, DESCENDING, MOSTLY_LOW, SHAPES } shape;

static uint64_t draw(shape of, uint64_t i, uint64_t count, uint64_t limit)
{
    switch (of) {
    case FEW_VALUES: return td_random_below(td_random_at(7, i), limit < 3 ? limit : 3) * ((limit - 1) / 3);
    case ASCENDING: return i * ((limit - 1) / count);
    case DESCENDING: return (count - i) * ((limit - 1) / count);
    case MOSTLY_LOW: return td_random_below(td_random_at(5, i), i % 16 == 0 || limit < 9 ? limit : limit / 4096 + 1);
    default: return td_random_below(td_random_at(3, i), limit);
    }
}

static void check_sorted(shape of, uint64_t count, uint64_t limit, td_pool *pool)
{
    uint64_t *words = NULL, *expected = NULL;
    CHECK_OK(TD_NEW(&words, count + 1, "words"));
    CHECK_OK(TD_NEW(&expected, count + 1, "words"));
    for (uint64_t i = 0; i < count; i++) expected[i] = words[i] = draw(of, i, count, limit);
    qsort(expected, count, sizeof *expected, compare);
    td_memory_restart_peak();
    CHECK_OK(td_sort_words(words, count, limit, pool));
    CHECK_EQ(td_memory_peak(), td_memory().now); /* in place */
    CHECK(memcmp(words, expected, count * sizeof *words) == 0);
    td_free(words);
    td_free(expected);
}

TEST(words_of_every_shape_and_length_are_sorted_in_place)
{
    static const uint64_t counts[] = {0, 1, 2, 33, 1000, (1 << 15) + 1, 70001, 150000};
    static const uint64_t limits[] = {1, 2, 200, 257, 70000, UINT64_C(1) << 33, UINT64_MAX};
    for (int threads = 1; threads <= 3; threads += 2) {
        td_pool *pool = NULL;
        CHECK_OK(td_pool_create(&pool, threads));
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            for (size_t l = 0; l < sizeof limits / sizeof *limits; l++)
                for (shape of = 0; of < SHAPES; of++)
                    if (counts[c] > 0 || of == EVEN) check_sorted(of, counts[c], limits[l], pool);
        td_pool_destroy(pool);
    }
}

/* Different words, in an order of their own: multiples of a step, shuffled by an odd factor. */
static void check_distinct(uint64_t count, uint64_t limit, uint64_t taken, td_pool *pool)
{
    uint64_t *words = NULL, step = (limit - 1) / (count - 1);
    CHECK_OK(TD_NEW(&words, count, "words"));
    for (uint64_t i = 0; i < count; i++) words[i] = i * 7919 % count * step;
    td_memory_restart_peak();
    uint64_t before = td_memory().now;
    CHECK_OK(td_sort_distinct(words, count, limit, pool));
    CHECK(td_memory_peak() - before >= taken && td_memory_peak() - before < taken + 16384);
    CHECK_EQ(td_memory().now, before);
    for (uint64_t i = 0; i < count; i++) CHECK_EQ(words[i], i * step);
    words[7] = words[8];
    if (taken > 0) CHECK_STATUS(td_sort_distinct(words, count, limit, pool), TD_INTERNAL);
    td_free(words);
}

/* A bitmap that is larger than the words, or than half of what the budget has left, is not made. */
TEST(different_words_are_sorted_by_a_bitmap_where_it_is_small)
{
    enum { COUNT = 50021 };
    for (int threads = 1; threads <= 3; threads += 2) {
        td_pool *pool = NULL;
        CHECK_OK(td_pool_create(&pool, threads));
        uint64_t bitmap = td_sort_bitmap_bytes(COUNT, 40 * COUNT);
        CHECK_EQ(bitmap, (40 * COUNT / 64 + 1) * sizeof(uint64_t));
        CHECK_EQ(td_sort_bitmap_bytes(COUNT, 65 * COUNT), 0);
        check_distinct(COUNT, 40 * COUNT, bitmap, pool);
        check_distinct(COUNT, COUNT, td_sort_bitmap_bytes(COUNT, COUNT), pool);
        check_distinct(COUNT, 65 * COUNT, 0, pool);
        check_distinct(1000, 40000, 0, pool);
        td_memory_set_budget(td_memory().now + COUNT * sizeof(uint64_t) + 2 * bitmap);
        check_distinct(COUNT, 40 * COUNT, 0, pool);
        td_memory_set_budget(0);
        td_pool_destroy(pool);
    }
}

TEST_MAIN
