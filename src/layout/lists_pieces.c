/* Lists are put in order in pieces of the edges. A worker reads a piece, from memory or from the graph's mapped file, sorts
 * the lists that are within it, and leaves those that go on beyond it to the end: a piece from the file copies its part of
 * them to their place, from where they are taken back. Lists longer than a block are sorted last, each by all workers
 * together. */
#include "layout/lists_inside.h"

#include "base/alloc.h"
#include "store/checks.h"

#include <stdatomic.h>
#include <string.h>

enum { BEHIND = 4096 }; /* bytes behind a piece that belong to the last block of an array in the file */

_Static_assert((int)TD_LISTS_PIECE <= (int)TD_BLOCK && TD_LISTS_PIECE % TD_CHECKS_BLOCK == 0, "a piece is whole blocks of a file");

struct td_ordering {
    td_sort sort;
    td_lists_ordering what;
    td_adjacency from;
    uint64_t edges;
    bool copies;          /* the order is the stored one */
    bool in_file[2];      /* targets, weights */
    size_t weight_bytes;  /* of the weights that are read; 0: none */
    char *buffers;        /* of the workers, if anything is in the file */
    uint64_t room;        /* edges of a buffer */
    _Atomic uint64_t misfit;
    atomic_bool has_long;
};

/* Where lists begin and end. */

/* The first vertex with offsets[vertex] >= edge, or `vertices`. */
static uint32_t first_from(const uint64_t *offsets, uint32_t vertices, uint64_t edge)
{
    uint32_t low = 0, high = vertices;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (offsets[middle] >= edge) high = middle;
        else low = middle + 1;
    }
    return low;
}

void td_lists_within(const uint64_t *offsets, uint32_t vertices, uint64_t piece, uint32_t *first, uint32_t *after)
{
    uint64_t end = (piece + 1) * TD_LISTS_PIECE;
    *first = first_from(offsets, vertices, piece * TD_LISTS_PIECE);
    *after = first_from(offsets, vertices, end); /* the vertex before it begins in the piece */
    if (*after > *first && offsets[*after] > end) --*after;
}

uint32_t td_lists_across(const uint64_t *offsets, uint32_t vertices, uint64_t piece)
{
    uint64_t begin = piece * TD_LISTS_PIECE;
    uint32_t next = first_from(offsets, vertices, begin);
    if (piece == 0 || next == 0 || offsets[next] == begin) return UINT32_MAX;
    bool earlier = offsets[next - 1] + TD_LISTS_PIECE < begin;
    return earlier ? UINT32_MAX : next - 1;
}

/* Opening. */

/* Bytes of a worker's buffer, whose parts begin at multiples of 64 bytes. */
static uint64_t part_bytes(uint64_t edges, uint64_t each) { return (edges * each + 63) / 64 * 64 + BEHIND; }

uint64_t td_lists_order_bytes(const td_graph *graph, uint64_t edges, td_list_order order, bool in_file, int threads)
{
    bool by_class = order == TD_LISTS_HOT || graph->weights == TD_WEIGHT_U8;
    uint64_t room = edges < TD_BLOCK ? edges : TD_BLOCK;
    uint64_t of_worker = by_class ? td_sort_batch_bytes : 2 * room * sizeof(uint64_t);
    if (order == TD_LISTS_STORED) return 0;
    if (in_file) of_worker += part_bytes(room, sizeof(uint32_t)) + part_bytes(room, td_weight_bytes(graph->weights));
    return (uint64_t)threads * of_worker + (order == TD_LISTS_HOT ? graph->vertices : 0);
}

static td_status class_vertices(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    td_ordering *self = context;
    const td_graph *graph = self->what.graph;
    bool both = !graph->symmetric && graph->in.offsets != NULL;
    for (uint64_t v = begin; v < end; v++) {
        uint64_t degree = td_degree(&graph->out, (uint32_t)v);
        if (both) degree += td_degree(&graph->in, (uint32_t)v);
        self->sort.cold[v] = (uint8_t)(TD_CLASSES - 1 - td_degree_class(degree));
    }
    return TD_OK;
}

static uint64_t buffer_bytes(const td_ordering *self)
{
    return part_bytes(self->room, sizeof(uint32_t)) + part_bytes(self->room, self->weight_bytes);
}

/* Lists whose weights are the key and are not kept cannot be taken back. */
static td_status find_file(td_ordering *self, td_pool *pool)
{
    const td_graph *graph = self->what.graph;
    const void *targets = self->from.targets, *weights = self->from.weights;
    bool kept = self->sort.weight_bytes > 0 || self->sort.weight_bits > 0;
    if (!self->copies && self->weight_bytes > 0 && !kept) {
        TD_CHECK(td_checks_copy(graph, &targets, pool));
        TD_CHECK(td_checks_copy(graph, &weights, pool));
        self->from.targets = (uint32_t *)(uintptr_t)targets;
        self->from.weights = (void *)(uintptr_t)weights;
    }
    self->in_file[0] = td_checks_pending(graph, targets);
    self->in_file[1] = self->weight_bytes > 0 && td_checks_pending(graph, weights);
    return TD_OK;
}

static td_status make_buffers(td_ordering *self, td_pool *pool)
{
    uint64_t threads = (uint64_t)td_pool_threads(pool);
    self->room = self->edges < TD_BLOCK ? self->edges : TD_BLOCK;
    if (self->in_file[0] || self->in_file[1])
        TD_CHECK(TD_NEW(&self->buffers, threads * buffer_bytes(self), "pieces of lists"));
    if (self->copies) return TD_OK;
    if (self->what.order == TD_LISTS_HOT) {
        TD_CHECK(TD_NEW(&self->sort.cold, self->what.graph->vertices, "classes of degrees"));
        TD_CHECK(td_pool_for(pool, self->what.graph->vertices, 1 << 14, class_vertices, self));
    }
    return td_sort_open(&self->sort, self->edges, (int)threads);
}

/* No weight is larger than the graph says, nor than the bits can hold. */
static uint32_t most_packed(const td_lists_ordering *what)
{
    if (what->weight_bits == 0) return 0;
    double room = (double)((UINT64_C(1) << what->weight_bits) - 1), most = what->graph->weight_max;
    return (uint32_t)(most < room ? most : room);
}

td_status td_ordering_open(td_ordering **out, const td_lists_ordering *what, td_pool *pool)
{
    td_status status = TD_OK;
    td_ordering *self = NULL;
    const td_graph *graph = what->graph;
    TD_CHECK(TD_NEW_ZEROED(&self, 1, "lists to be ordered"));
    bool by_weight = what->order == TD_LISTS_LIGHT && what->from->weights != NULL;
    bool carried = what->from->weights != NULL && (what->weights != NULL || what->weight_bits > 0);
    self->what = *what;
    self->from = *what->from;
    self->edges = what->from->offsets[graph->vertices]; /* joined lists have more edges than the graph */
    self->copies = !by_weight && what->order != TD_LISTS_HOT;
    self->weight_bytes = by_weight || carried ? td_weight_bytes(graph->weights) : 0;
    self->sort = (td_sort){.graph = graph, .targets = what->targets, .weights = what->weights,
                           .weight_bytes = carried && what->weight_bits == 0 ? td_weight_bytes(graph->weights) : 0,
                           .weight_bits = carried ? what->weight_bits : 0, .weight_most = most_packed(what), .misfit = &self->misfit,
                           .by_class = what->order == TD_LISTS_HOT || graph->weights == TD_WEIGHT_U8};
    TD_TRY(find_file(self, pool));
    self->sort.from = self->from;
    TD_TRY(make_buffers(self, pool));
    *out = self;
    self = NULL;
done:
    td_ordering_close(self);
    return status;
}

static void free_buffers(td_ordering *self)
{
    td_sort_close(&self->sort);
    td_free(self->buffers);
    self->buffers = NULL;
}

void td_ordering_close(td_ordering *self)
{
    if (self == NULL) return;
    free_buffers(self);
    td_free(self->sort.cold);
    td_free(self);
}

/* Pieces. */

static char *targets_of(const td_ordering *self, int worker) { return self->buffers + (uint64_t)worker * buffer_bytes(self); }
static char *weights_of(const td_ordering *self, int worker)
{
    return targets_of(self, worker) + part_bytes(self->room, sizeof(uint32_t));
}

/* The address that edge 0 would have if edge `begin` is at `place`. */
static void *shifted(const void *place, uint64_t begin, uint64_t bytes)
{
    return (void *)((uintptr_t)place - (uintptr_t)(begin * bytes));
}

static td_status read_piece(const td_ordering *self, uint64_t begin, uint64_t end, int worker, td_adjacency *seen)
{
    const td_graph *graph = self->what.graph;
    uint64_t word = sizeof(uint32_t), weight = self->weight_bytes;
    char *targets = targets_of(self, worker), *weights = weights_of(self, worker);
    if (self->in_file[0]) {
        TD_CHECK(td_checks_read(graph, self->from.targets, begin * word, targets, (end - begin) * word));
        seen->targets = shifted(targets, begin, word);
    }
    if (!self->in_file[1]) return TD_OK;
    TD_CHECK(td_checks_read(graph, self->from.weights, begin * weight, weights, (end - begin) * weight));
    seen->weights = shifted(weights, begin, weight);
    return TD_OK;
}

td_status td_ordering_piece(td_ordering *self, uint64_t piece, int worker)
{
    td_sort sort = self->sort;
    const uint64_t *offsets = self->from.offsets;
    uint64_t begin = piece * TD_LISTS_PIECE, end = begin + TD_LISTS_PIECE;
    uint32_t first, after;
    if (end > self->edges) end = self->edges;
    if (self->buffers != NULL) TD_CHECK(read_piece(self, begin, end, worker, &sort.from));
    if (self->copies) {
        td_sort_copy(&sort, begin, end);
        return TD_OK;
    }
    td_lists_within(offsets, self->what.graph->vertices, piece, &first, &after);
    uint64_t head = offsets[first] < end ? offsets[first] : end, tail = first < after ? offsets[after] : head;
    TD_CHECK(td_sort_lists(&sort, first, after, worker));
    if (self->buffers == NULL) return TD_OK;
    td_sort_copy(&sort, begin, head);
    td_sort_copy(&sort, tail, end);
    return TD_OK;
}

/* Lists that several pieces share. */

typedef struct taking {
    const td_ordering *ordering;
    uint64_t begin; /* first edge of the list */
    uint32_t *targets;
    char *weights;
} taking;

/* Takes edges of a list, from `begin` on, back from where pieces have copied them to. */
static td_status take_back(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const taking *self = context;
    const td_sort *sort = &self->ordering->sort;
    const uint32_t *words = sort->targets + self->begin;
    uint64_t bytes = self->ordering->weight_bytes;
    uint32_t bits = sort->weight_bits, mask = UINT32_MAX >> bits;
    if (self->ordering->in_file[0])
        for (uint64_t i = begin; i < end; i++) self->targets[i] = words[i] & mask;
    if (!self->ordering->in_file[1]) return TD_OK;
    if (bits == 0) {
        memcpy(self->weights + begin * bytes, (const char *)sort->weights + (self->begin + begin) * bytes, (end - begin) * bytes);
        return TD_OK;
    }
    for (uint64_t i = begin; i < end; i++) {
        uint32_t weight = words[i] >> (32 - bits);
        memcpy(self->weights + i * bytes, &weight, bytes); /* the lower bytes of a little-endian number */
    }
    return TD_OK;
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "weights are the lower bytes of words");

/* The sort of a list that begins at `begin` and has been taken back. */
static td_sort sort_of(const td_ordering *self, const taking *of)
{
    td_sort sort = self->sort;
    if (self->in_file[0]) sort.from.targets = shifted(of->targets, of->begin, sizeof(uint32_t));
    if (self->in_file[1]) sort.from.weights = shifted(of->weights, of->begin, self->weight_bytes);
    return sort;
}

static td_status order_across(void *context, uint64_t begin, uint64_t end, int worker)
{
    td_ordering *self = context;
    for (uint64_t piece = begin; piece < end; piece++) {
        td_counts counts;
        uint32_t v = td_lists_across(self->from.offsets, self->what.graph->vertices, piece);
        if (v == UINT32_MAX) continue;
        uint64_t edges = td_degree(&self->from, v);
        if (edges > TD_BLOCK) {
            self->has_long = true;
            continue;
        }
        taking list = {self, self->from.offsets[v], NULL, NULL};
        if (self->buffers != NULL) {
            list.targets = (uint32_t *)(void *)targets_of(self, worker);
            list.weights = weights_of(self, worker);
            (void)take_back(&list, 0, edges, worker);
        }
        td_sort sort = sort_of(self, &list);
        uint64_t *words = sort.by_class ? NULL : sort.words + (uint64_t)worker * 2 * sort.room;
        TD_CHECK(td_sort_list(&sort, v, words, sort.room, &counts, NULL));
    }
    return TD_OK;
}

typedef struct long_lists {
    td_counts *counts;
    uint64_t *words, room;
    taking list;
} long_lists;

static td_status make_room(const td_ordering *self, long_lists *room)
{
    TD_CHECK(TD_NEW(&room->counts, TD_MOST_BLOCKS, "counts of long lists"));
    if (!self->sort.by_class) TD_CHECK(TD_NEW(&room->words, 2 * room->room, "words of long lists"));
    if (self->in_file[0]) TD_CHECK(TD_NEW(&room->list.targets, room->room, "a long list"));
    if (self->in_file[1]) TD_CHECK(TD_NEW(&room->list.weights, room->room * self->weight_bytes, "a long list"));
    return TD_OK;
}

static td_status order_long(const td_ordering *self, uint32_t v, long_lists *room, td_pool *pool)
{
    room->list.ordering = self;
    room->list.begin = self->from.offsets[v];
    TD_CHECK(td_pool_for(pool, td_degree(&self->from, v), TD_LISTS_PIECE, take_back, &room->list));
    td_sort sort = sort_of(self, &room->list);
    return td_sort_list(&sort, v, room->words, room->room, room->counts, pool);
}

static td_status order_longs(td_ordering *self, td_pool *pool)
{
    td_status status = TD_OK;
    long_lists room = {0};
    uint32_t v, vertices = self->what.graph->vertices;
    uint64_t pieces = td_lists_pieces(self->edges);
    free_buffers(self);
    for (uint64_t piece = 1; piece < pieces; piece++) {
        v = td_lists_across(self->from.offsets, vertices, piece);
        if (v != UINT32_MAX && td_degree(&self->from, v) > room.room) room.room = td_degree(&self->from, v);
    }
    TD_TRY(make_room(self, &room));
    for (uint64_t piece = 1; piece < pieces; piece++) {
        v = td_lists_across(self->from.offsets, vertices, piece);
        if (v != UINT32_MAX && td_degree(&self->from, v) > TD_BLOCK) TD_TRY(order_long(self, v, &room, pool));
    }
done:
    td_free(room.counts);
    td_free(room.words);
    td_free(room.list.targets);
    td_free(room.list.weights);
    return status;
}

td_status td_ordering_end(td_ordering *self, td_pool *pool)
{
    const td_graph *graph = self->what.graph;
    if (!self->copies) {
        TD_CHECK(td_pool_for(pool, td_lists_pieces(self->edges), 16, order_across, self));
        if (self->has_long) TD_CHECK(order_longs(self, pool));
    }
    if (self->misfit == 0) return TD_OK;
    return td_fail(TD_CORRUPT, "a weight of %u is above %g, the largest that the graph states: its file is damaged",
                   (uint32_t)(self->misfit - 1), graph->weight_max);
}

static td_status order_pieces(void *context, uint64_t begin, uint64_t end, int worker)
{
    for (uint64_t piece = begin; piece < end; piece++) TD_CHECK(td_ordering_piece(context, piece, worker));
    return TD_OK;
}

td_status td_lists_order(const td_lists_ordering *what, td_pool *pool)
{
    td_status status = TD_OK;
    td_ordering *self = NULL;
    TD_CHECK(td_ordering_open(&self, what, pool));
    TD_TRY(td_pool_for(pool, td_lists_pieces(self->edges), 1, order_pieces, self));
    TD_TRY(td_ordering_end(self, pool));
done:
    td_ordering_close(self);
    return status;
}
