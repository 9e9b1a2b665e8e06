/* The highest bits divide the words into LEAVES ranges, bit after bit: all workers partition a range's stripes, then
 * swap the words that are on the wrong side of the range's middle. Every leaf is then sorted by one worker, by bytes
 * (American flag sort). */
#include "base/sort.h"

#include "base/alloc.h"
#include "base/fetch.h"

#include <string.h>

enum {
    LEVELS = 8,         /* bits that divide the words */
    LEAVES = 1 << LEVELS,
    STRIPES = 64,       /* of a range */
    FEW = 1 << 15,      /* words that one worker partitions */
    SWAPS = 1 << 13,    /* at a time */
    INSERTED = 32,      /* words up to which insertion is fastest */
    CLASSES = 256,
};

/* A leaf, by one worker. */

static void insert(uint64_t *words, uint64_t count)
{
    for (uint64_t i = 1; i < count; i++) {
        uint64_t word = words[i], at = i;
        for (; at > 0 && words[at - 1] > word; at--) words[at] = words[at - 1];
        words[at] = word;
    }
}

static void count_classes(const uint64_t *words, uint64_t count, int shift, uint64_t begins[CLASSES + 1])
{
    memset(begins, 0, (CLASSES + 1) * sizeof *begins);
    for (uint64_t i = 0; i < count; i++) begins[((words[i] >> shift) & (CLASSES - 1)) + 1]++;
    for (int c = 0; c < CLASSES; c++) begins[c + 1] += begins[c];
}

/* Moves every word to the range of its class, in cycles of swaps. */
static void permute(uint64_t *words, int shift, const uint64_t begins[CLASSES + 1])
{
    uint64_t next[CLASSES];
    memcpy(next, begins, sizeof next);
    for (int c = 0; c < CLASSES; c++)
        while (next[c] < begins[c + 1]) {
            uint64_t word = words[next[c]];
            for (int class; (class = (int)((word >> shift) & (CLASSES - 1))) != c;) {
                uint64_t other = words[next[class]];
                words[next[class]++] = word;
                word = other;
            }
            words[next[c]++] = word;
        }
}

/* Sorts words that differ in bits shift + 7 .. 0 only. */
static void sort_bytes(uint64_t *words, uint64_t count, int shift)
{
    uint64_t begins[CLASSES + 1];
    if (count <= INSERTED) {
        insert(words, count);
        return;
    }
    count_classes(words, count, shift, begins);
    permute(words, shift, begins);
    for (int c = 0; c < CLASSES && shift > 0; c++)
        sort_bytes(words + begins[c], begins[c + 1] - begins[c], shift > 8 ? shift - 8 : 0);
}

/* Dividing a range by a bit, by all workers. */

typedef struct splitting {
    uint64_t *words, count, stripe;
    int bit;
    uint64_t zeros[STRIPES]; /* words of a stripe without the bit, which are first in it */
    uint64_t middle;         /* all of them: where words with the bit begin in the range */
} splitting;

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Moves words without the bit to the front, and returns their number. */
static uint64_t partition(uint64_t *words, uint64_t count, int bit)
{
    uint64_t low = 0, high = count;
    for (;;) {
        while (low < high && !(words[low] >> bit & 1)) low++;
        while (low < high && (words[high - 1] >> bit & 1)) high--;
        if (low == high) return low;
        uint64_t word = words[low];
        words[low++] = words[--high];
        words[high] = word;
    }
}

static td_status partition_stripes(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    splitting *self = context;
    for (uint64_t s = begin; s < end; s++) {
        uint64_t first = least(s * self->stripe, self->count), last = least(first + self->stripe, self->count);
        self->zeros[s] = partition(self->words + first, last - first, self->bit);
    }
    return TD_OK;
}

/* Where the ith misplaced word is: a word with the bit (`ones`) before the middle, or one without it behind. *left: so
 * many of them are consecutive from there on. */
static uint64_t find_misplaced(const splitting *self, bool ones, uint64_t i, uint64_t *left)
{
    for (uint64_t s = 0; s < STRIPES; s++) {
        uint64_t first = least(s * self->stripe, self->count), last = least(first + self->stripe, self->count);
        uint64_t from = first + self->zeros[s], to = last;
        if (ones) to = least(last, self->middle);
        else to = from, from = first > self->middle ? first : self->middle;
        if (from >= to) continue;
        *left = to - from - least(i, to - from);
        if (*left > 0) return from + i;
        i -= to - from;
    }
    *left = 0;
    return 0;
}

static uint64_t count_misplaced(const splitting *self)
{
    uint64_t sum = 0;
    for (uint64_t s = 0; s < STRIPES; s++) {
        uint64_t first = least(s * self->stripe, self->count), last = least(first + self->stripe, self->count);
        uint64_t from = first + self->zeros[s], to = least(last, self->middle);
        sum += from < to ? to - from : 0;
    }
    return sum;
}

static td_status swap_misplaced(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const splitting *self = context;
    for (uint64_t i = begin, n; i < end; i += n) {
        uint64_t many, several, one = find_misplaced(self, true, i, &many);
        uint64_t zero = find_misplaced(self, false, i, &several);
        n = least(least(many, several), end - i);
        if (n == 0) return td_fail(TD_INVALID, "sorting: a range has words that it did not count");
        for (uint64_t k = 0; k < n; k++) {
            uint64_t word = self->words[one + k];
            self->words[one + k] = self->words[zero + k];
            self->words[zero + k] = word;
        }
    }
    return TD_OK;
}

static td_status split(uint64_t *words, uint64_t count, int bit, td_pool *pool, uint64_t *middle)
{
    splitting self = {.words = words, .count = count, .stripe = (count + STRIPES - 1) / STRIPES, .bit = bit};
    if (count <= FEW) {
        *middle = partition(words, count, bit);
        return TD_OK;
    }
    TD_CHECK(td_pool_for(pool, STRIPES, 1, partition_stripes, &self));
    for (int s = 0; s < STRIPES; s++) self.middle += self.zeros[s];
    *middle = self.middle;
    return td_pool_for(pool, count_misplaced(&self), SWAPS, swap_misplaced, &self);
}

/* Leaf l has the words from begins[l] on; they differ in bits shift + 7 .. 0 only. */
typedef struct leaves {
    uint64_t *words, begins[LEAVES + 1];
    int shift;
} leaves;

static td_status divide(leaves *self, int bits, td_pool *pool)
{
    for (int level = 0; level < LEVELS && level < bits; level++)
        for (int leaf = 0, width = LEAVES >> level; leaf < LEAVES; leaf += width) {
            uint64_t first = self->begins[leaf], count = self->begins[leaf + width] - first, middle;
            TD_CHECK(split(self->words + first, count, bits - 1 - level, pool, &middle));
            self->begins[leaf + width / 2] = first + middle;
        }
    return TD_OK;
}

static td_status sort_leaves(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const leaves *self = context;
    for (uint64_t l = begin; l < end; l++)
        sort_bytes(self->words + self->begins[l], self->begins[l + 1] - self->begins[l], self->shift);
    return TD_OK;
}

td_status td_sort_words(uint64_t *words, uint64_t count, uint64_t limit, td_pool *pool)
{
    int bits = limit > 1 ? 64 - __builtin_clzll(limit - 1) : 0, rest = bits - LEVELS;
    leaves self = {.words = words, .shift = rest > 8 ? rest - 8 : 0};
    if (count <= FEW) {
        sort_bytes(words, count, bits > 8 ? bits - 8 : 0);
        return TD_OK;
    }
    for (int l = 1; l <= LEAVES; l++) self.begins[l] = count;
    TD_CHECK(divide(&self, bits, pool));
    return rest > 0 ? td_pool_for(pool, LEAVES, 1, sort_leaves, &self) : TD_OK;
}

/* Distinct words. */

enum { PARTS = 256, MARKED = 1 << 14 }; /* parts of the bitmap; words that are marked at a time */

typedef struct marking {
    uint64_t *words, count, *map, map_words;
    uint64_t places[PARTS + 1]; /* where the words of each part of the bitmap begin */
} marking;

/* Every word may be in a cache line of its own, which is fetched in advance. */
static td_status mark(void *context, uint64_t begin, uint64_t end, int worker)
{
    enum { AHEAD = 16 };
    (void)worker;
    const marking *self = context;
    for (uint64_t i = begin; i < end; i++) {
        uint64_t word = self->words[i];
        if (i + AHEAD < end) td_fetch(&self->map[self->words[i + AHEAD] / 64]);
        __atomic_fetch_or(&self->map[word / 64], UINT64_C(1) << word % 64, __ATOMIC_RELAXED);
    }
    return TD_OK;
}

static td_status count_marks(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    marking *self = context;
    for (uint64_t part = begin; part < end; part++) {
        uint64_t count = 0, last = td_share(self->map_words, (int)part + 1, PARTS);
        for (uint64_t w = td_share(self->map_words, (int)part, PARTS); w < last; w++)
            count += (uint64_t)__builtin_popcountll(self->map[w]);
        self->places[part + 1] = count;
    }
    return TD_OK;
}

static td_status list_marks(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const marking *self = context;
    for (uint64_t part = begin; part < end; part++) {
        uint64_t *into = self->words + self->places[part], last = td_share(self->map_words, (int)part + 1, PARTS);
        for (uint64_t w = td_share(self->map_words, (int)part, PARTS); w < last; w++)
            for (uint64_t bits = self->map[w]; bits != 0; bits &= bits - 1)
                *into++ = w * 64 + (uint64_t)__builtin_ctzll(bits);
    }
    return TD_OK;
}

static td_status sort_by_marks(marking *self, td_pool *pool)
{
    TD_CHECK(td_pool_for(pool, self->count, MARKED, mark, self));
    TD_CHECK(td_pool_for(pool, PARTS, 1, count_marks, self));
    for (int part = 0; part < PARTS; part++) self->places[part + 1] += self->places[part];
    if (self->places[PARTS] != self->count) return td_fail(TD_INTERNAL, "sorting: a word is there twice");
    return td_pool_for(pool, PARTS, 1, list_marks, self);
}

uint64_t td_sort_bitmap_bytes(uint64_t count, uint64_t limit)
{
    uint64_t bytes = (limit / 64 + 1) * sizeof(uint64_t);
    return count > FEW && bytes <= count * sizeof(uint64_t) ? bytes : 0;
}

td_status td_sort_distinct(uint64_t *words, uint64_t count, uint64_t limit, td_pool *pool)
{
    td_memory_stats memory = td_memory();
    uint64_t bytes = td_sort_bitmap_bytes(count, limit);
    marking self = {.words = words, .count = count, .map_words = bytes / sizeof(uint64_t)};
    bool room = memory.budget == 0 || (memory.budget > memory.now && (memory.budget - memory.now) / 2 > bytes);
    if (bytes == 0 || !room) return td_sort_words(words, count, limit, pool);
    TD_CHECK(TD_NEW_ZEROED(&self.map, self.map_words, "marks of sorted words"));
    td_status status = sort_by_marks(&self, pool);
    td_free(self.map);
    return status;
}
