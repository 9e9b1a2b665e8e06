/* Lists are sorted by one of two stable sorts:
 *
 * by class, if the key is a byte (the class of the neighbour's degree, or a weight of one
 * byte): counts the classes, then writes every edge directly to its place. Neighbouring
 * lists are sorted together, first by class and then by list: two passes over a batch that
 * stays in the cache, without a count of 256 classes or a comparison for each of them;
 *
 * by words, if the key is a wider weight: a word holds key and target, a radix sort moves
 * words from one buffer to the other byte by byte, and the weight is restored from the key.
 * Lists of a few edges are sorted by insertion instead.
 *
 * Which lists a worker sorts, and where it reads them, is decided in lists_pieces.c.
 */
#include "layout/lists_inside.h"

#include "base/alloc.h"

#include <string.h>

enum {
    FEW = 32,           /* edges sorted by insertion */
    LONG = 1 << 11,     /* edges from which on a list is sorted by class alone */
    ALONE = 64,         /* edges from which on one is sorted alone where weights of a byte are packed */
    TOGETHER = 1 << 14, /* edges of a batch */
    BATCH = TOGETHER + LONG,
    PACKED = 16,        /* in place of the bytes of a weight: it is packed into the word of its target */
};

/* Neighbouring lists that are sorted together, without long and empty ones. */
typedef struct td_sort_batch {
    uint64_t first;           /* edge of the adjacency */
    uint32_t edges, lists;
    uint32_t next[BATCH];     /* from `first` on: where every list begins, then where its next edge goes */
    uint32_t length[BATCH];   /* of every list */
    union {
        uint32_t sorted[BATCH]; /* list and edge, by class */
        uint64_t words[BATCH];  /* list and packed word, by weight */
    };
    uint8_t class[BATCH];     /* of every edge */
} batch;

_Static_assert(BATCH <= 1 << 16, "a list and an edge of a batch fit in a word");

const uint64_t td_sort_batch_bytes = sizeof(batch);

typedef td_sort ordering;

/* A list being sorted. */
typedef struct list {
    const ordering *job;
    td_blocks blocks;
    uint64_t begin;
    uint64_t *words, *spare; /* if it is sorted by words */
} list;

/* Keys. */

static inline uint8_t class_at(const ordering *job, uint64_t edge)
{
    return job->cold != NULL ? job->cold[job->from.targets[edge]] : ((const uint8_t *)job->from.weights)[edge];
}

/* Floats of either sign in the order of unsigned numbers, and back. */
static inline uint32_t ordered_bits(float real)
{
    uint32_t bits;
    real += 0.0f; /* -0 becomes 0 */
    memcpy(&bits, &real, sizeof bits);
    return bits >> 31 ? ~bits : bits | UINT32_C(1) << 31;
}

static inline float of_ordered_bits(uint32_t key)
{
    uint32_t bits = key >> 31 ? key & ~(UINT32_C(1) << 31) : ~key;
    float real;
    memcpy(&real, &bits, sizeof real);
    return real;
}

static inline uint64_t word_of(uint32_t key, uint32_t target) { return (uint64_t)key << 32 | target; }
static inline uint32_t key_of(uint64_t word) { return (uint32_t)(word >> 32); }

/* Converts edges [begin, end) of the adjacency to words, and back. */
static void pack(const ordering *job, uint64_t begin, uint64_t end, uint64_t *words)
{
    const uint32_t *targets = job->from.targets;
    const void *weights = job->from.weights;
    if (job->graph->weights == TD_WEIGHT_U16)
        for (uint64_t e = begin; e < end; e++) *words++ = word_of(((const uint16_t *)weights)[e], targets[e]);
    else if (job->graph->weights == TD_WEIGHT_U32)
        for (uint64_t e = begin; e < end; e++) *words++ = word_of(((const uint32_t *)weights)[e], targets[e]);
    else
        for (uint64_t e = begin; e < end; e++)
            *words++ = word_of(ordered_bits(((const float *)weights)[e]), targets[e]);
}

/* A weight that does not fit leaves its word wrong: nothing of such lists is used. */
static inline uint32_t packed_word(const ordering *job, uint32_t target, uint32_t weight)
{
    if (weight > job->weight_most) *job->misfit = weight + UINT64_C(1);
    return target | weight << (32 - job->weight_bits);
}

static void unpack(const ordering *job, uint64_t begin, uint64_t end, const uint64_t *words)
{
    uint64_t count = end - begin;
    if (job->weight_bits > 0) {
        for (uint64_t i = 0; i < count; i++)
            job->targets[begin + i] = packed_word(job, (uint32_t)words[i], key_of(words[i]));
        return;
    }
    for (uint64_t i = 0; i < count; i++) job->targets[begin + i] = (uint32_t)words[i];
    if (job->weight_bytes == 0) return;
    if (job->graph->weights == TD_WEIGHT_U16)
        for (uint64_t i = 0; i < count; i++) ((uint16_t *)job->weights)[begin + i] = (uint16_t)key_of(words[i]);
    else if (job->graph->weights == TD_WEIGHT_U32)
        for (uint64_t i = 0; i < count; i++) ((uint32_t *)job->weights)[begin + i] = key_of(words[i]);
    else
        for (uint64_t i = 0; i < count; i++) ((float *)job->weights)[begin + i] = of_ordered_bits(key_of(words[i]));
}

static inline uint32_t whole_weight_at(const ordering *job, uint64_t edge)
{
    switch (job->graph->weights) {
    case TD_WEIGHT_U8: return ((const uint8_t *)job->from.weights)[edge];
    case TD_WEIGHT_U16: return ((const uint16_t *)job->from.weights)[edge];
    default: return ((const uint32_t *)job->from.weights)[edge];
    }
}

/* weight_bytes: PACKED, or those of the graph; 0: weights stay behind. */
static inline void move_edge(const ordering *job, uint64_t to, uint64_t edge, size_t weight_bytes)
{
    uint32_t target = job->from.targets[edge];
    job->targets[to] = weight_bytes == PACKED ? packed_word(job, target, whole_weight_at(job, edge)) : target;
    if (weight_bytes > 0 && weight_bytes != PACKED)
        memcpy((char *)job->weights + to * weight_bytes, (const char *)job->from.weights + edge * weight_bytes,
               weight_bytes);
}

static size_t carried(const ordering *job) { return job->weight_bits > 0 ? PACKED : job->weight_bytes; }

/* Batches of lists. */

static void find_classes(const ordering *job, batch *self, uint32_t *counts)
{
    const uint32_t *targets = job->from.targets + self->first;
    const uint8_t *weights = (const uint8_t *)job->from.weights + self->first;
    for (uint32_t e = 0; e < self->edges; e++) {
        uint8_t class = job->cold != NULL ? job->cold[targets[e]] : weights[e];
        self->class[e] = class;
        counts[class]++;
    }
}

static inline void move_batch(const ordering *job, batch *self, size_t weight_bytes)
{
    for (uint32_t i = 0; i < self->edges; i++) {
        uint32_t one = self->sorted[i];
        move_edge(job, self->first + self->next[one >> 16]++, self->first + (one & 0xffff), weight_bytes);
    }
}

/* If the class is the weight, none needs to be read again. `ends`: where every class ends among the sorted edges. */
static void move_batch_by_weight(const ordering *job, batch *self, const uint32_t *ends)
{
    const uint32_t *from = job->from.targets + self->first;
    uint32_t *targets = job->targets + self->first, i = 0;
    uint8_t *weights = (uint8_t *)job->weights + self->first;
    for (uint32_t c = 0; c < TD_CLASSES; c++)
        for (; i < ends[c]; i++) {
            uint32_t one = self->sorted[i], to = self->next[one >> 16]++;
            targets[to] = from[one & 0xffff];
            weights[to] = (uint8_t)c;
        }
}

/* Packed words, ordered by their weights, need neither the edges' numbers nor their weights again. Other lists may lie
 * between these. */
static void sort_packed_batch(const ordering *job, batch *self)
{
    const uint32_t *from = job->from.targets + self->first;
    const uint8_t *weights = (const uint8_t *)job->from.weights + self->first;
    uint32_t *to = job->targets + self->first, *next = self->next, shift = 32 - job->weight_bits;
    uint32_t places[TD_CLASSES] = {0}, sum = 0;
    for (uint32_t l = 0; l < self->lists; l++)
        for (uint32_t e = next[l], end = e + self->length[l]; e < end; e++) places[weights[e]]++;
    for (uint32_t c = 0; c < TD_CLASSES; c++) {
        uint32_t here = places[c];
        if (here > 0 && c > job->weight_most) *job->misfit = c + UINT64_C(1);
        places[c] = sum;
        sum += here;
    }
    for (uint32_t l = 0; l < self->lists; l++) {
        uint64_t list = (uint64_t)l << 32;
        for (uint32_t e = next[l], end = e + self->length[l]; e < end; e++) {
            uint32_t weight = weights[e];
            self->words[places[weight]++] = list | from[e] | weight << shift;
        }
    }
    for (const uint64_t *word = self->words, *end = word + sum; word < end; word++) to[next[*word >> 32]++] = (uint32_t)*word;
}

static void note_misfit(const ordering *job, const uint8_t *weights, uint32_t edges)
{
    for (uint32_t e = 0; e < edges; e++)
        if (weights[e] > job->weight_most) *job->misfit = weights[e] + UINT64_C(1);
}

/* A list that is worth counts of its own: half the instructions of a batch. */
static void sort_packed_list(const ordering *job, uint64_t begin, uint32_t edges)
{
    const uint32_t *from = job->from.targets + begin;
    const uint8_t *weights = (const uint8_t *)job->from.weights + begin;
    uint32_t *to = job->targets + begin, places[TD_CLASSES] = {0}, sum = 0, shift = 32 - job->weight_bits;
    for (uint32_t e = 0; e < edges; e++) places[weights[e]]++;
    for (uint32_t c = 0; c < TD_CLASSES && c <= job->weight_most; c++) {
        uint32_t here = places[c];
        places[c] = sum;
        sum += here;
    }
    if (sum < edges) note_misfit(job, weights, edges);
    else
        for (uint32_t e = 0; e < edges; e++) to[places[weights[e]]++] = from[e] | (uint32_t)weights[e] << shift;
}

static void sort_batch_by_class(const ordering *job, batch *self)
{
    uint32_t places[TD_CLASSES] = {0}, sum = 0, e = 0;
    find_classes(job, self, places);
    for (uint32_t c = 0; c < TD_CLASSES; c++) {
        uint32_t here = places[c];
        places[c] = sum;
        sum += here;
    }
    for (uint32_t l = 0; l < self->lists; l++) {
        self->next[l] = e;
        for (uint32_t end = e + self->length[l]; e < end; e++) self->sorted[places[self->class[e]]++] = l << 16 | e;
    }
    if (job->cold == NULL && job->weight_bytes > 0) {
        move_batch_by_weight(job, self, places);
        return;
    }
    switch (carried(job)) {
    case 0: move_batch(job, self, 0); break;
    case 1: move_batch(job, self, 1); break;
    case 2: move_batch(job, self, 2); break;
    case 4: move_batch(job, self, 4); break;
    case PACKED: move_batch(job, self, PACKED); break;
    default: move_batch(job, self, 8); break;
    }
}

static bool is_packed(const ordering *job) { return job->cold == NULL && job->weight_bits > 0; }

static void sort_batch(const ordering *job, batch *self)
{
    if (self->lists == 0) return; /* and no first edge */
    if (is_packed(job)) sort_packed_batch(job, self);
    else sort_batch_by_class(job, self);
    self->lists = self->edges = 0;
}

/* Adds a list to the batch, which holds those before it. */
static void add_to_batch(batch *self, uint64_t begin, uint32_t edges)
{
    if (self->lists == 0) self->first = begin;
    if (edges > 0) {
        self->next[self->lists] = (uint32_t)(begin - self->first);
        self->length[self->lists++] = edges;
    }
    self->edges += edges;
}

/* Weights of 64 bits: a word has half of the key and the edge's place in its list. Sorting by the lower halves, then by
 * the upper ones, sorts by the whole key. */

static inline double double_at(const list *self, uint64_t word)
{
    return ((const double *)self->job->from.weights)[self->begin + (uint32_t)word];
}

static inline uint64_t word_of_half(const list *self, uint32_t place, bool upper)
{
    uint64_t bits;
    double weight = double_at(self, place) + 0.0; /* -0 becomes 0 */
    memcpy(&bits, &weight, sizeof bits);
    bits = bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
    return word_of(upper ? (uint32_t)(bits >> 32) : (uint32_t)bits, place);
}

static td_status pack_lower_halves(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const list *self = context;
    for (uint64_t i = begin; i < end; i++) self->words[i] = word_of_half(self, (uint32_t)i, false);
    return TD_OK;
}

static td_status pack_upper_halves(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const list *self = context;
    for (uint64_t i = begin; i < end; i++) self->words[i] = word_of_half(self, (uint32_t)self->words[i], true);
    return TD_OK;
}

static td_status move_to_places(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const list *self = context;
    for (uint64_t i = begin; i < end; i++)
        move_edge(self->job, self->begin + i, self->begin + (uint32_t)self->words[i], self->job->weight_bytes);
    return TD_OK;
}

static td_status sort_doubles(list *self)
{
    const td_blocks *blocks = &self->blocks;
    TD_CHECK(td_blocks_each(blocks, pack_lower_halves, self));
    TD_CHECK(td_radix_sort(&self->words, &self->spare, blocks->elements, 4, 7, blocks->counts, blocks->pool));
    TD_CHECK(td_blocks_each(blocks, pack_upper_halves, self));
    TD_CHECK(td_radix_sort(&self->words, &self->spare, blocks->elements, 4, 7, blocks->counts, blocks->pool));
    return td_blocks_each(blocks, move_to_places, self);
}

static void insert_doubles(const ordering *job, uint64_t begin, uint32_t edges)
{
    uint64_t places[FEW];
    list self = {.job = job, .begin = begin, .words = places};
    for (uint32_t i = 0; i < edges; i++) {
        uint32_t j = i;
        for (; j > 0 && double_at(&self, places[j - 1]) > double_at(&self, i); j--) places[j] = places[j - 1];
        places[j] = i;
    }
    (void)move_to_places(&self, 0, edges, 0);
}

/* Lists of a few edges. */

static void insert_by_words(const ordering *job, uint64_t begin, uint32_t edges)
{
    uint64_t words[FEW];
    pack(job, begin, begin + edges, words);
    for (uint32_t i = 1; i < edges; i++) {
        uint64_t one = words[i];
        uint32_t j = i;
        for (; j > 0 && key_of(words[j - 1]) > key_of(one); j--) words[j] = words[j - 1];
        words[j] = one;
    }
    unpack(job, begin, begin + edges, words);
}

/* Longer ones. */

static td_status count_classes(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const list *self = context;
    uint64_t *mine = td_block_counts(&self->blocks, begin);
    memset(mine, 0, sizeof(td_counts));
    for (uint64_t e = self->begin + begin; e < self->begin + end; e++) mine[class_at(self->job, e)]++;
    return TD_OK;
}

static inline void move_edges(const list *self, uint64_t begin, uint64_t end, size_t weight_bytes)
{
    const ordering *job = self->job;
    uint64_t *next = td_block_counts(&self->blocks, begin);
    for (uint64_t e = self->begin + begin; e < self->begin + end; e++)
        move_edge(job, self->begin + next[class_at(job, e)]++, e, weight_bytes);
}

static td_status move_to_classes(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const list *self = context;
    switch (carried(self->job)) {
    case 0: move_edges(self, begin, end, 0); break;
    case 1: move_edges(self, begin, end, 1); break;
    case 2: move_edges(self, begin, end, 2); break;
    case 4: move_edges(self, begin, end, 4); break;
    case PACKED: move_edges(self, begin, end, PACKED); break;
    default: move_edges(self, begin, end, 8); break;
    }
    return TD_OK;
}

static td_status sort_by_class(list *self)
{
    TD_CHECK(td_blocks_each(&self->blocks, count_classes, self));
    td_blocks_place(&self->blocks);
    return td_blocks_each(&self->blocks, move_to_classes, self);
}

static td_status pack_block(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const list *self = context;
    pack(self->job, self->begin + begin, self->begin + end, self->words + begin);
    return TD_OK;
}

static td_status unpack_block(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const list *self = context;
    unpack(self->job, self->begin + begin, self->begin + end, self->words + begin);
    return TD_OK;
}

static td_status sort_by_words(list *self)
{
    int digits = (int)td_weight_bytes(self->job->graph->weights);
    const td_blocks *blocks = &self->blocks;
    TD_CHECK(td_blocks_each(blocks, pack_block, self));
    TD_CHECK(td_radix_sort(&self->words, &self->spare, blocks->elements, 4, 3 + digits, blocks->counts, blocks->pool));
    return td_blocks_each(blocks, unpack_block, self);
}

td_status td_sort_list(const td_sort *job, uint32_t v, uint64_t *words, uint64_t room, td_counts *counts, td_pool *pool)
{
    list self = {job, td_blocks_of(td_degree(&job->from, v), counts, pool), job->from.offsets[v], words, NULL};
    if (job->by_class) return sort_by_class(&self);
    self.spare = words + room;
    return job->graph->weights == TD_WEIGHT_F64 ? sort_doubles(&self) : sort_by_words(&self);
}

/* Neighbouring lists. */

static td_status sort_lists_by_words(const td_sort *job, uint32_t first, uint32_t after, int worker)
{
    const uint64_t *offsets = job->from.offsets;
    td_counts counts;
    uint64_t *words = job->words + (uint64_t)worker * 2 * job->room;
    for (uint32_t v = first; v < after; v++) {
        uint64_t edges = offsets[v + 1] - offsets[v];
        if (edges > FEW) TD_CHECK(td_sort_list(job, v, words, job->room, &counts, NULL));
        else (job->graph->weights == TD_WEIGHT_F64 ? insert_doubles : insert_by_words)(job, offsets[v], (uint32_t)edges);
    }
    return TD_OK;
}

static td_status sort_lists_by_class(const td_sort *job, uint32_t first, uint32_t after, int worker)
{
    const uint64_t *offsets = job->from.offsets;
    td_counts counts;
    batch *lists = &job->batches[worker];
    lists->lists = lists->edges = 0;
    for (uint32_t v = first; v < after; v++) {
        uint64_t edges = offsets[v + 1] - offsets[v];
        if (edges >= LONG || lists->edges + edges > BATCH) sort_batch(job, lists);
        if (edges < LONG) add_to_batch(lists, offsets[v], (uint32_t)edges);
        else TD_CHECK(td_sort_list(job, v, NULL, 0, &counts, NULL));
    }
    sort_batch(job, lists);
    return TD_OK;
}

/* Those of weights of a byte, which are packed. */
static td_status sort_packed_lists(const td_sort *job, uint32_t first, uint32_t after, int worker)
{
    const uint64_t *offsets = job->from.offsets;
    batch *lists = &job->batches[worker];
    lists->lists = lists->edges = 0;
    for (uint32_t v = first; v < after; v++) {
        uint32_t edges = (uint32_t)(offsets[v + 1] - offsets[v]);
        if (edges >= ALONE) {
            sort_packed_list(job, offsets[v], edges);
            continue;
        }
        if (lists->edges + edges > BATCH) sort_batch(job, lists);
        add_to_batch(lists, offsets[v], edges);
    }
    sort_batch(job, lists);
    return TD_OK;
}

td_status td_sort_lists(const td_sort *job, uint32_t first, uint32_t after, int worker)
{
    if (!job->by_class) return sort_lists_by_words(job, first, after, worker);
    return is_packed(job) ? sort_packed_lists(job, first, after, worker) : sort_lists_by_class(job, first, after, worker);
}

td_status td_sort_open(td_sort *job, uint64_t edges, int threads)
{
    job->room = edges < TD_BLOCK ? edges : TD_BLOCK;
    if (!job->by_class) return TD_NEW(&job->words, (uint64_t)threads * 2 * job->room, "words of lists");
    return TD_NEW(&job->batches, (uint64_t)threads, "batches of lists");
}

void td_sort_close(td_sort *job)
{
    td_free(job->words);
    td_free(job->batches);
    job->words = NULL;
    job->batches = NULL;
}

/* Without an order. */
void td_sort_copy(const td_sort *job, uint64_t begin, uint64_t end)
{
    uint64_t bytes = job->weight_bytes;
    if (job->weight_bits > 0) {
        for (uint64_t e = begin; e < end; e++) move_edge(job, e, e, PACKED);
        return;
    }
    memcpy(job->targets + begin, job->from.targets + begin, (end - begin) * sizeof *job->targets);
    if (bytes > 0)
        memcpy((char *)job->weights + begin * bytes, (const char *)job->from.weights + begin * bytes, (end - begin) * bytes);
}
