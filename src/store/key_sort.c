#include "store/key_sort.h"

#include "base/alloc.h"
#include "store/scatter.h"
#include "store/weight_order.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_PARTS_BITS = 11,
    PART_KEYS = 8192,       /* a part of this size and its copy fit the second-level cache */
    FEW = 48,               /* keys for which insertion is faster than counting */
    STRIPS_PER_WORKER = 4,
    DIGIT_BITS = 11,
    NARROW_DIGIT_BITS = 8,
    MOST_DIGITS = 8,
    WIDE_FROM = 2048,       /* keys from which the larger table of counts pays */
};

typedef struct sorting {
    const td_keys *from, *to;
    uint64_t count, strips, parts;
    uint32_t shift; /* key >> shift, masked, is the part */
    uint64_t *places; /* [strip][part] */
    uint64_t *bounds; /* of the parts */
    bool real;
} sorting;

static inline uint64_t part_of(const sorting *self, uint64_t key) { return key >> self->shift & (self->parts - 1); }

static td_status count_strip(void *context, uint64_t strip, uint64_t next, int worker)
{
    (void)next, (void)worker;
    const sorting *self = context;
    uint64_t *counts = self->places + strip * self->parts;
    uint64_t end = td_share(self->count, (int)strip + 1, (int)self->strips);
    for (uint64_t i = td_share(self->count, (int)strip, (int)self->strips); i < end; i++)
        counts[part_of(self, self->from->keys[i])]++;
    return TD_OK;
}

static td_status scatter_strip(void *context, uint64_t strip, uint64_t next, int worker)
{
    (void)next, (void)worker;
    const sorting *self = context;
    td_status status = TD_OK;
    td_scatter scatter = {0};
    const uint64_t *keys = self->from->keys;
    const uint32_t *weights = self->from->weights;
    TD_TRY(td_scatter_create(&scatter, self->parts, self->to->keys, self->to->weights));
    for (uint64_t p = 0; p < self->parts; p++)
        td_scatter_begin(&scatter, p, self->places[strip * self->parts + p]);
    uint64_t end = td_share(self->count, (int)strip + 1, (int)self->strips);
    for (uint64_t i = td_share(self->count, (int)strip, (int)self->strips); i < end; i++) {
        if (weights != NULL) td_scatter_put(&scatter, part_of(self, keys[i]), keys[i], weights[i], true);
        else td_scatter_put(&scatter, part_of(self, keys[i]), keys[i], 0, false);
    }
    td_scatter_end(&scatter, self->parts);
done:
    td_scatter_destroy(&scatter);
    return status;
}

static void lay_out(sorting *self)
{
    uint64_t position = 0;
    for (uint64_t p = 0; p < self->parts; p++) {
        self->bounds[p] = position;
        for (uint64_t s = 0; s < self->strips; s++) {
            uint64_t count = self->places[s * self->parts + p];
            self->places[s * self->parts + p] = position;
            position += count;
        }
    }
    self->bounds[self->parts] = position;
}

static void insert(uint64_t *keys, uint32_t *weights, uint64_t count)
{
    for (uint64_t i = 1; i < count; i++) {
        uint64_t key = keys[i], at = i;
        uint32_t weight = weights != NULL ? weights[i] : 0;
        for (; at > 0 && keys[at - 1] > key; at--) {
            keys[at] = keys[at - 1];
            if (weights != NULL) weights[at] = weights[at - 1];
        }
        keys[at] = key;
        if (weights != NULL) weights[at] = weight;
    }
}

typedef uint32_t digit_counts[MOST_DIGITS][1 << DIGIT_BITS];

/* Counts the values of every digit, in one pass over the keys. */
static void count_digits(const uint64_t *keys, uint64_t count, uint32_t digits, uint32_t width, digit_counts counts)
{
    uint64_t mask = (UINT64_C(1) << width) - 1;
    for (uint32_t d = 0; d < digits; d++) memset(counts[d], 0, sizeof counts[d][0] << width);
    for (uint64_t i = 0; i < count; i++)
        for (uint32_t d = 0; d < digits; d++) counts[d][keys[i] >> d * width & mask]++;
}

/* Sorts by one digit, stably. False if the digit is equal in all keys, then nothing is moved. */
static bool move_by_digit(const td_keys *from, const td_keys *to, uint64_t count, uint32_t shift, uint32_t width,
                          uint32_t *next)
{
    uint64_t values = UINT64_C(1) << width, mask = values - 1;
    uint32_t position = 0;
    if (next[from->keys[0] >> shift & mask] == count) return false;
    for (uint64_t v = 0; v < values; v++) {
        uint32_t here = next[v];
        next[v] = position;
        position += here;
    }
    if (from->weights == NULL)
        for (uint64_t i = 0; i < count; i++) to->keys[next[from->keys[i] >> shift & mask]++] = from->keys[i];
    else
        for (uint64_t i = 0; i < count; i++) {
            uint32_t at = next[from->keys[i] >> shift & mask]++;
            to->keys[at] = from->keys[i];
            to->weights[at] = from->weights[i];
        }
    return true;
}

/* The result is in `keys`. */
static void sort_part(td_keys keys, td_keys spare, uint64_t count, uint32_t bits)
{
    digit_counts counts;
    td_keys at = keys, other = spare;
    if (count <= FEW) {
        insert(keys.keys, keys.weights, count);
        return;
    }
    uint32_t most = count < WIDE_FROM ? NARROW_DIGIT_BITS : DIGIT_BITS;
    uint32_t digits = (bits + most - 1) / most, width = digits > 0 ? (bits + digits - 1) / digits : 0;
    count_digits(keys.keys, count, digits, width, counts);
    for (uint32_t d = 0; d < digits; d++) {
        if (!move_by_digit(&at, &other, count, d * width, width, counts[d])) continue;
        td_keys kept = at;
        at = other;
        other = kept;
    }
    if (at.keys == keys.keys) return;
    memcpy(keys.keys, at.keys, count * sizeof *at.keys);
    if (at.weights != NULL) memcpy(keys.weights, at.weights, count * sizeof *at.weights);
}

static void order_weights(const uint64_t *keys, uint32_t *weights, uint64_t count, bool real)
{
    for (uint64_t i = 0, run; i < count; i = run) {
        for (run = i + 1; run < count && keys[run] == keys[i]; run++) {}
        if (run - i > 1) td_order_weights(weights + i, run - i, real);
    }
}

static td_keys part(const td_keys *keys, uint64_t at)
{
    return (td_keys){keys->keys + at, keys->weights != NULL ? keys->weights + at : NULL};
}

static td_status sort_parts(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const sorting *self = context;
    for (uint64_t p = begin; p < end; p++) {
        uint64_t first = self->bounds[p], count = self->bounds[p + 1] - first;
        td_keys mine = part(self->to, first);
        sort_part(mine, part(self->from, first), count, self->shift);
        if (mine.weights != NULL) order_weights(mine.keys, mine.weights, count, self->real);
    }
    return TD_OK;
}

static void swap(td_keys *a, td_keys *b)
{
    td_keys kept = *a;
    *a = *b;
    *b = kept;
}

td_status td_keys_sort(td_keys *from, td_keys *spare, uint64_t count, uint32_t bits, bool real, td_pool *pool)
{
    td_status status = TD_OK;
    sorting self = {.from = from, .to = spare, .count = count, .real = real};
    uint32_t part_bits = 0;
    while (part_bits < MOST_PARTS_BITS && part_bits < bits && count >> part_bits > PART_KEYS) part_bits++;
    self.parts = UINT64_C(1) << part_bits;
    self.shift = bits - part_bits;
    self.strips = (uint64_t)td_pool_threads(pool) * STRIPS_PER_WORKER;
    TD_TRY(TD_NEW_ZEROED(&self.places, self.strips * self.parts, "places of parts"));
    TD_TRY(TD_NEW(&self.bounds, self.parts + 1, "bounds of parts"));
    if (self.parts == 1) {
        sort_part(*from, *spare, count, bits);
        if (from->weights != NULL) order_weights(from->keys, from->weights, count, real);
        goto done;
    }
    TD_TRY(td_pool_for(pool, self.strips, 1, count_strip, &self));
    lay_out(&self);
    TD_TRY(td_pool_for(pool, self.strips, 1, scatter_strip, &self));
    TD_TRY(td_pool_for(pool, self.parts, 1, sort_parts, &self));
    swap(from, spare);
done:
    td_free(self.places);
    td_free(self.bounds);
    return status;
}
