/* Sorting more keys than memory holds. */
#include "test.h"

#include "base/outfile.h"
#include "base/random.h"
#include "store/spill.h"
#include "store/weight_order.h"

#include <errno.h>

/* What comes out must ascend and add up to what went in. */
typedef struct tally {
    uint64_t count, sum, weight_sum, last_key;
    uint32_t last_weight;
    bool real, ascends;
} tally;

static void add(tally *self, uint64_t key, uint32_t weight)
{
    self->count++;
    self->sum += td_mix64(key);
    self->weight_sum += td_mix64(key ^ (uint64_t)weight << 20);
}

static td_status take(void *context, const uint64_t *keys, const uint32_t *weights, uint64_t count)
{
    tally *self = context;
    for (uint64_t i = 0; i < count; i++) {
        uint32_t weight = weights != NULL ? weights[i] : 0;
        if (self->count > 0 && keys[i] < self->last_key) self->ascends = false;
        if (self->count > 0 && keys[i] == self->last_key &&
            td_weight_key(weight, self->real) < td_weight_key(self->last_weight, self->real))
            self->ascends = false;
        add(self, keys[i], weight);
        self->last_key = keys[i];
        self->last_weight = weight;
    }
    return TD_OK;
}

typedef uint64_t (*key_fn)(uint64_t i);

typedef struct putting {
    td_spill *spill;
    key_fn key;
    bool weighted, real;
} putting;

enum { PIECE = 10000 };

static uint32_t weight_of(uint64_t i, bool real)
{
    uint32_t bits;
    float value = (float)((double)(i * 7919 % 1000) - 500);
    memcpy(&bits, &value, sizeof bits);
    return real ? bits : (uint32_t)(i * 7919 % 1000);
}

static td_status put_piece(void *context, uint64_t begin, uint64_t end, int worker)
{
    const putting *self = context;
    uint64_t keys[PIECE];
    uint32_t weights[PIECE];
    for (uint64_t i = begin; i < end; i++) {
        keys[i - begin] = self->key(i);
        weights[i - begin] = weight_of(i, self->real);
    }
    return td_spill_put(self->spill, keys, self->weighted ? weights : NULL, end - begin, self->real, worker);
}

static td_status sort(td_spill_shape shape, key_fn key, uint64_t count, bool real, uint64_t memory, tally *seen)
{
    td_status status = TD_OK;
    putting self = {.key = key, .weighted = shape.weighted, .real = real};
    shape.directory = test_folder();
    shape.workers = td_pool_threads(shape.pool);
    *seen = (tally){.ascends = true, .real = real};
    TD_TRY(td_spill_create(&self.spill, &shape));
    TD_TRY(td_pool_for(shape.pool, count, PIECE, put_piece, &self));
    TD_TRY(td_spill_finish(self.spill));
    TD_TRY(td_spill_run(self.spill, memory, take, seen));
done:
    td_spill_destroy(self.spill);
    return status;
}

static uint64_t anywhere(uint64_t i) { return td_random_at(1, i) >> 24; }
static uint64_t crowded(uint64_t i) { return i % 10 == 0 ? anywhere(i) : 77; }
static uint64_t far(uint64_t i) { return i % 3 == 0 ? td_random_at(2, i) : i; }

static void check_sorted(td_spill_shape shape, key_fn key, uint64_t count, bool real, uint64_t memory)
{
    tally seen, wanted = {0};
    for (uint64_t i = 0; i < count; i++) add(&wanted, key(i), shape.weighted ? weight_of(i, real) : 0);
    CHECK_OK(sort(shape, key, count, real, memory, &seen));
    CHECK(seen.ascends);
    CHECK_EQ(seen.count, wanted.count);
    CHECK_EQ(seen.sum, wanted.sum);
    CHECK_EQ(seen.weight_sum, wanted.weight_sum);
}

TEST(keys_come_out_in_order_whatever_the_memory)
{
    td_pool *pool = NULL;
    CHECK_OK(td_pool_create(&pool, 2));
    for (int round = 0; round < 12; round++) {
        td_spill_shape shape = {.key_bits = 40, .weighted = round % 2 == 1, .memory = UINT64_C(1) << (20 + round % 6),
                                .pool = round % 3 == 0 ? NULL : pool};
        check_sorted(shape, anywhere, 700000, round % 4 == 3, 1 << 20);
        check_sorted(shape, crowded, 300000, round % 4 == 3, 1 << 20);
    }
    td_pool_destroy(pool);
}

TEST(one_key_too_often_for_memory_comes_out_with_its_weights_in_order)
{
    td_spill_shape shape = {.key_bits = 40, .memory = 1 << 20};
    check_sorted(shape, crowded, 2000000, false, 0);
    shape.weighted = true;
    check_sorted(shape, crowded, 2000000, false, 0);
    check_sorted(shape, crowded, 1000000, true, 0);
}

TEST(keys_of_64_bits_need_no_bound)
{
    td_spill_shape shape = {.key_bits = 20, .open = true, .memory = 1 << 20};
    check_sorted(shape, far, 1000000, false, 1 << 20);
    shape.key_bits = 64;
    check_sorted(shape, far, 500000, false, 1 << 20);
}

static uint64_t few(uint64_t i) { return i % 5; }
static uint64_t none(uint64_t i) { return i * 0; }

TEST(ranges_of_few_keys_and_no_keys_at_all)
{
    check_sorted((td_spill_shape){.key_bits = 3, .memory = 1 << 20}, few, 200000, false, 1 << 20);
    check_sorted((td_spill_shape){.key_bits = 3, .weighted = true, .memory = 1 << 20}, few, 200000, false, 1 << 20);
    check_sorted((td_spill_shape){.key_bits = 0, .memory = 1 << 20}, none, 200000, false, 1 << 20);
    check_sorted((td_spill_shape){.key_bits = 40, .memory = 1 << 20}, anywhere, 0, false, 1 << 20);
}

TEST(a_full_disk_or_no_memory_anywhere_is_an_error_and_leaks_nothing)
{
    td_spill_shape shape = {.key_bits = 40, .weighted = true, .memory = 1 << 20};
    uint64_t held = td_memory().now;
    tally seen;
    for (uint64_t nth = 1;; nth++) {
        td_outfile_fail_at(nth, ENOSPC);
        td_status status = sort(shape, crowded, 300000, false, 1 << 20, &seen);
        td_outfile_fail_at(0, 0);
        CHECK_EQ(td_memory().now, held);
        if (status == TD_OK) break;
        CHECK_EQ(status, TD_IO);
        CHECK_CONTAINS(td_last_message(), "No space left");
        if (nth > 40) nth += 20;
    }
    for (uint64_t nth = 1;; nth++) {
        td_alloc_fail_at(nth);
        td_status status = sort(shape, crowded, 300000, false, 1 << 20, &seen);
        td_alloc_fail_at(0);
        CHECK_EQ(td_memory().now, held);
        if (status == TD_OK) break;
        CHECK_EQ(status, TD_NO_MEMORY);
        if (nth > 40) nth += 20;
    }
}

TEST_MAIN
