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
 * Workers take pieces of the edges and sort the lists that begin in their piece; lists longer
 * than a block are sorted afterwards, each by all workers together.
 */
#include "layout/lists.h"

#include "base/alloc.h"
#include "layout/radix.h"

#include <stdatomic.h>
#include <string.h>

enum {
    PIECE = 1 << 14, /* edges per piece */
    FEW = 32,        /* edges sorted by insertion */
    LONG = 1 << 11,  /* edges from which on a list is sorted by class alone */
    BATCH = PIECE + LONG,
};

/* Neighbouring lists that are sorted together, without long and empty ones. */
typedef struct batch {
    uint64_t first;           /* edge of the adjacency */
    uint32_t edges, lists;
    uint32_t next[BATCH];     /* where the next edge of every list goes */
    uint32_t length[BATCH];   /* of every list */
    uint32_t sorted[BATCH];   /* list and edge, by class */
    uint8_t class[BATCH];     /* of every edge */
} batch;

_Static_assert(BATCH <= 1 << 16, "a list and an edge of a batch fit in a word");

typedef struct ordering {
    const td_graph *graph;
    const td_adjacency *from;
    uint32_t *targets;
    void *weights;
    size_t weight_bytes;    /* 0: weights are not written */
    uint8_t *cold;          /* class of each vertex, the hottest 0; NULL: by weight */
    bool by_class;
    uint64_t *words, room;  /* two buffers of `room` words per worker */
    batch *batches;         /* one per worker, if lists are sorted by class */
    uint32_t *longs;        /* vertices whose lists are longer than a block */
    _Atomic uint64_t long_count;
} ordering;

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
    return job->cold != NULL ? job->cold[job->from->targets[edge]] : ((const uint8_t *)job->from->weights)[edge];
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
    const uint32_t *targets = job->from->targets;
    const void *weights = job->from->weights;
    if (job->graph->weights == TD_WEIGHT_U16)
        for (uint64_t e = begin; e < end; e++) *words++ = word_of(((const uint16_t *)weights)[e], targets[e]);
    else if (job->graph->weights == TD_WEIGHT_U32)
        for (uint64_t e = begin; e < end; e++) *words++ = word_of(((const uint32_t *)weights)[e], targets[e]);
    else
        for (uint64_t e = begin; e < end; e++)
            *words++ = word_of(ordered_bits(((const float *)weights)[e]), targets[e]);
}

static void unpack(const ordering *job, uint64_t begin, uint64_t end, const uint64_t *words)
{
    uint64_t count = end - begin;
    for (uint64_t i = 0; i < count; i++) job->targets[begin + i] = (uint32_t)words[i];
    if (job->weight_bytes == 0) return;
    if (job->graph->weights == TD_WEIGHT_U16)
        for (uint64_t i = 0; i < count; i++) ((uint16_t *)job->weights)[begin + i] = (uint16_t)key_of(words[i]);
    else if (job->graph->weights == TD_WEIGHT_U32)
        for (uint64_t i = 0; i < count; i++) ((uint32_t *)job->weights)[begin + i] = key_of(words[i]);
    else
        for (uint64_t i = 0; i < count; i++) ((float *)job->weights)[begin + i] = of_ordered_bits(key_of(words[i]));
}

static inline void move_edge(const ordering *job, uint64_t to, uint64_t edge, size_t weight_bytes)
{
    job->targets[to] = job->from->targets[edge];
    if (weight_bytes > 0)
        memcpy((char *)job->weights + to * weight_bytes, (const char *)job->from->weights + edge * weight_bytes,
               weight_bytes);
}

/* Batches of lists. */

static void find_classes(const ordering *job, batch *self, uint32_t *counts)
{
    const uint32_t *targets = job->from->targets + self->first;
    const uint8_t *weights = (const uint8_t *)job->from->weights + self->first;
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
    const uint32_t *from = job->from->targets + self->first;
    uint32_t *targets = job->targets + self->first, i = 0;
    uint8_t *weights = (uint8_t *)job->weights + self->first;
    for (uint32_t c = 0; c < TD_CLASSES; c++)
        for (; i < ends[c]; i++) {
            uint32_t one = self->sorted[i], to = self->next[one >> 16]++;
            targets[to] = from[one & 0xffff];
            weights[to] = (uint8_t)c;
        }
}

static void sort_batch(const ordering *job, batch *self)
{
    uint32_t places[TD_CLASSES] = {0}, sum = 0, e = 0;
    if (self->lists == 0) return; /* and no first edge */
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
    } else {
        switch (job->weight_bytes) {
        case 0: move_batch(job, self, 0); break;
        case 1: move_batch(job, self, 1); break;
        case 2: move_batch(job, self, 2); break;
        case 4: move_batch(job, self, 4); break;
        default: move_batch(job, self, 8); break;
        }
    }
    self->lists = self->edges = 0;
}

/* Adds a list to the batch, which holds those before it. */
static void add_to_batch(batch *self, uint64_t begin, uint32_t edges)
{
    if (self->lists == 0) self->first = begin;
    if (edges > 0) self->length[self->lists++] = edges;
    self->edges += edges;
}

/* Weights of 64 bits: a word has half of the key and the edge's place in its list. Sorting by the lower halves, then by
 * the upper ones, sorts by the whole key. */

static inline double double_at(const list *self, uint64_t word)
{
    return ((const double *)self->job->from->weights)[self->begin + (uint32_t)word];
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
    switch (self->job->weight_bytes) {
    case 0: move_edges(self, begin, end, 0); break;
    case 1: move_edges(self, begin, end, 1); break;
    case 2: move_edges(self, begin, end, 2); break;
    case 4: move_edges(self, begin, end, 4); break;
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

/* `words` has room for twice the list. */
static td_status sort_list(const ordering *job, uint32_t v, uint64_t *words, uint64_t room, td_counts *counts,
                           td_pool *pool)
{
    list self = {job, td_blocks_of(td_degree(job->from, v), counts, pool), job->from->offsets[v], words, NULL};
    if (job->by_class) return sort_by_class(&self);
    self.spare = words + room;
    return job->graph->weights == TD_WEIGHT_F64 ? sort_doubles(&self) : sort_by_words(&self);
}

/* All lists. */

static uint32_t first_list_from(const uint64_t *offsets, uint32_t vertices, uint64_t edge)
{
    uint32_t low = 0, high = vertices;
    while (low < high) { /* the first vertex with offsets[vertex] >= edge */
        uint32_t middle = low + (high - low) / 2;
        if (offsets[middle] >= edge)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static td_status order_piece_by_words(void *context, uint64_t begin, uint64_t end, int worker)
{
    ordering *job = context;
    const uint64_t *offsets = job->from->offsets;
    td_counts counts;
    uint64_t *words = job->words + (uint64_t)worker * 2 * job->room;
    for (uint32_t v = first_list_from(offsets, job->graph->vertices, begin); offsets[v] < end; v++) {
        uint64_t edges = offsets[v + 1] - offsets[v];
        if (edges > TD_BLOCK)
            job->longs[atomic_fetch_add_explicit(&job->long_count, 1, memory_order_relaxed)] = v;
        else if (edges > FEW)
            TD_CHECK(sort_list(job, v, words, job->room, &counts, NULL));
        else
            (job->graph->weights == TD_WEIGHT_F64 ? insert_doubles : insert_by_words)(job, offsets[v], (uint32_t)edges);
    }
    return TD_OK;
}

static td_status order_piece_by_class(void *context, uint64_t begin, uint64_t end, int worker)
{
    ordering *job = context;
    const uint64_t *offsets = job->from->offsets;
    td_counts counts;
    batch *lists = &job->batches[worker];
    for (uint32_t v = first_list_from(offsets, job->graph->vertices, begin); offsets[v] < end; v++) {
        uint64_t edges = offsets[v + 1] - offsets[v];
        if (edges >= LONG || lists->edges + edges > BATCH) sort_batch(job, lists);
        if (edges < LONG) {
            add_to_batch(lists, offsets[v], (uint32_t)edges);
            continue;
        }
        if (edges > TD_BLOCK)
            job->longs[atomic_fetch_add_explicit(&job->long_count, 1, memory_order_relaxed)] = v;
        else
            TD_CHECK(sort_list(job, v, NULL, 0, &counts, NULL));
    }
    sort_batch(job, lists);
    return TD_OK;
}

static td_status order_longs(const ordering *job, td_pool *pool)
{
    td_status status = TD_OK;
    td_counts *counts = NULL;
    uint64_t *words = NULL, longest = 0;
    for (uint64_t i = 0; i < job->long_count; i++) {
        uint64_t edges = td_degree(job->from, job->longs[i]);
        if (edges > longest) longest = edges;
    }
    TD_TRY(TD_NEW(&counts, TD_MOST_BLOCKS, "counts of long lists"));
    if (!job->by_class) TD_TRY(TD_NEW(&words, 2 * longest, "words of long lists"));
    for (uint64_t i = 0; i < job->long_count; i++)
        TD_TRY(sort_list(job, job->longs[i], words, longest, counts, pool));
done:
    td_free(counts);
    td_free(words);
    return status;
}

static td_status class_vertices(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    ordering *job = context;
    const td_graph *graph = job->graph;
    bool both = !graph->symmetric && graph->in.offsets != NULL;
    for (uint64_t v = begin; v < end; v++) {
        uint64_t degree = td_degree(&graph->out, (uint32_t)v);
        if (both) degree += td_degree(&graph->in, (uint32_t)v);
        job->cold[v] = (uint8_t)(TD_CLASSES - 1 - td_degree_class(degree));
    }
    return TD_OK;
}

/* The arrays of order_lists and order_longs; the longest list is taken to be a block. */
uint64_t td_lists_order_bytes(const td_graph *graph, uint64_t edges, td_list_order order, int threads)
{
    bool by_class = order == TD_LISTS_HOT || graph->weights == TD_WEIGHT_U8;
    uint64_t room = edges < TD_BLOCK ? edges : TD_BLOCK, words = (uint64_t)threads * 2 * room;
    if (order == TD_LISTS_STORED) return 0;
    uint64_t of_workers = by_class ? (uint64_t)threads * sizeof(batch) : words * sizeof(uint64_t);
    return of_workers + edges / TD_BLOCK * sizeof(uint32_t) + TD_MOST_BLOCKS * sizeof(td_counts) +
           (order == TD_LISTS_HOT ? graph->vertices : 0);
}

static td_status order_lists(ordering *job, td_list_order order, td_pool *pool)
{
    td_status status = TD_OK;
    const td_graph *graph = job->graph;
    if (order == TD_LISTS_HOT) {
        TD_TRY(TD_NEW(&job->cold, graph->vertices, "classes of degrees"));
        TD_TRY(td_pool_for(pool, graph->vertices, PIECE, class_vertices, job));
    }
    job->by_class = order == TD_LISTS_HOT || graph->weights == TD_WEIGHT_U8;
    uint64_t edges = job->from->offsets[graph->vertices]; /* joined lists have more edges than the graph */
    job->room = edges < TD_BLOCK ? edges : TD_BLOCK;
    uint64_t threads = (uint64_t)td_pool_threads(pool);
    if (!job->by_class) TD_TRY(TD_NEW(&job->words, threads * 2 * job->room, "words of lists"));
    if (job->by_class) TD_TRY(TD_NEW(&job->batches, threads, "batches of lists"));
    for (uint64_t w = 0; w < threads && job->by_class; w++) job->batches[w].lists = job->batches[w].edges = 0;
    TD_TRY(TD_NEW(&job->longs, edges / TD_BLOCK, "vertices with long lists"));
    TD_TRY(td_pool_for(pool, edges, PIECE, job->by_class ? order_piece_by_class : order_piece_by_words, job));
    if (job->long_count > 0) TD_TRY(order_longs(job, pool));
done:
    td_free(job->cold);
    td_free(job->words);
    td_free(job->batches);
    td_free(job->longs);
    return status;
}

static td_status copy_piece(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const ordering *job = context;
    size_t bytes = job->weight_bytes;
    memcpy(job->targets + begin, job->from->targets + begin, (end - begin) * sizeof *job->targets);
    if (bytes > 0)
        memcpy((char *)job->weights + begin * bytes, (const char *)job->from->weights + begin * bytes,
               (end - begin) * bytes);
    return TD_OK;
}

td_status td_lists_order(const td_graph *graph, const td_adjacency *from, td_list_order order, uint32_t *targets,
                         void *weights, td_pool *pool)
{
    bool carried = weights != NULL && from->weights != NULL;
    ordering job = {.graph = graph, .from = from, .targets = targets, .weights = weights,
                    .weight_bytes = carried ? td_weight_bytes(graph->weights) : 0};
    if (order == TD_LISTS_STORED || (order == TD_LISTS_LIGHT && from->weights == NULL))
        return td_pool_for(pool, from->offsets[graph->vertices], PIECE, copy_piece, &job);
    return order_lists(&job, order, pool);
}
