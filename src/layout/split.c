#include "layout/split.h"

#include "base/alloc.h"
#include "base/sums.h"
#include "layout/lists.h"

#include <string.h>

enum { GRAIN = 1024, DRAW_SEED = 1 };

void td_split_free(td_split *split)
{
    td_lists_free(&split->push.hot);
    td_lists_free(&split->push.rest);
    if (!split->same) {
        td_lists_free(&split->pull.hot);
        td_lists_free(&split->pull.rest);
    }
    td_free(split->order);
    td_free(split->place);
    td_free(split->out);
    td_free(split->within);
    *split = (td_split){0};
}

/* Which edges are hot. */

/* Counts for every vertex its edges to earlier vertices of the order, and loops. The prefix sums are then the edges
 * within every prefix of the order. */
typedef struct counting {
    const td_split *split;
    const td_adjacency *lists[2]; /* one list for a symmetric view, else the out- and the in-lists */
    int count;
    uint64_t *within;             /* the count of number i is at i + 1 */
} counting;

static td_status count_within(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    counting *self = context;
    for (uint64_t number = begin; number < end; number++) {
        uint32_t v = td_split_vertex(self->split, (uint32_t)number);
        uint64_t lower = 0, loops = 0;
        for (int l = 0; l < self->count; l++) {
            const td_adjacency *list = self->lists[l];
            for (uint64_t e = list->offsets[v]; e < list->offsets[v + 1]; e++) {
                uint32_t other = td_split_number(self->split, list->targets[e]);
                lower += other < number;
                loops += other == number;
            }
        }
        self->within[number + 1] = self->count == 1 ? 2 * lower + loops : lower + loops / 2;
    }
    return TD_OK;
}

static td_status count_all(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    counting *self = context;
    for (uint64_t number = begin; number < end; number++)
        self->within[number + 1] = td_degree(self->lists[0], td_split_vertex(self->split, (uint32_t)number));
    return TD_OK;
}

uint32_t td_split_prefix(const uint64_t *within, uint32_t vertices, uint64_t most)
{
    uint64_t low = 0, high = vertices;
    while (low < high) {
        uint64_t middle = low + (high - low + 1) / 2;
        if (within[middle] <= most) low = middle;
        else high = middle - 1;
    }
    return within[low] > 0 ? (uint32_t)low : 0;
}

/* Finds the longest prefix whose edges fit the room, by bisection over the sums. */
static td_status find_inside(td_split *split, counting *count, const td_split_request *request, td_host_memory *memory,
                             td_pool *pool)
{
    td_status status = TD_OK;
    td_split_extract extract = request->extract;
    uint64_t n = split->vertices, most = request->room / (sizeof(uint32_t) + split->weight_bytes);
    TD_CHECK(td_host_declare(memory, &count->within, n + 1, sizeof *count->within, "edges of every prefix"));
    if (memory->measures) goto done;
    TD_TRY(td_pool_for(pool, n, GRAIN, extract == TD_EXTRACT_VERTEX ? count_all : count_within, count));
    TD_TRY(td_sum_up(count->within, n, pool));
    split->inside = td_split_prefix(count->within, split->vertices, most);
    split->hot_edges = count->within[split->inside];
    if (request->keeps_within) {
        split->within = count->within;
        return TD_OK;
    }
done:
    td_host_undeclare(memory, &count->within, n + 1, sizeof *count->within);
    return status;
}

/* Cutting. */

typedef struct cutting {
    const td_split *split;
    const td_adjacency *from;
    td_split_lists to;
    td_split_extract extract;
} cutting;

static bool is_hot(const cutting *self, uint64_t number, uint32_t other)
{
    return number < self->split->inside && (self->extract == TD_EXTRACT_VERTEX || other < self->split->inside);
}

static td_status count_parts(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    cutting *self = context;
    for (uint64_t number = begin; number < end; number++) {
        uint32_t v = td_split_vertex(self->split, (uint32_t)number);
        uint64_t hot = 0, first = self->from->offsets[v], last = self->from->offsets[v + 1];
        for (uint64_t e = first; e < last && number < self->split->inside; e++)
            hot += is_hot(self, number, td_split_number(self->split, self->from->targets[e]));
        self->to.hot.offsets[number + 1] = hot;
        self->to.rest.offsets[number + 1] = last - first - hot;
    }
    return TD_OK;
}

static void put_edge(td_adjacency *to, uint64_t at, uint32_t target, const char *weights, uint64_t e, size_t weight)
{
    to->targets[at] = target;
    if (weight == 1) ((uint8_t *)to->weights)[at] = (uint8_t)weights[e];
    else if (weight > 0) memcpy((char *)to->weights + at * weight, weights + e * weight, weight);
}

static td_status fill_parts(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    cutting *self = context;
    const td_split *split = self->split;
    for (uint64_t number = begin; number < end; number++) {
        uint32_t v = td_split_vertex(split, (uint32_t)number);
        uint64_t hot = self->to.hot.offsets[number], rest = self->to.rest.offsets[number];
        for (uint64_t e = self->from->offsets[v]; e < self->from->offsets[v + 1]; e++) {
            uint32_t other = td_split_number(split, self->from->targets[e]);
            if (is_hot(self, number, other))
                put_edge(&self->to.hot, hot++, other, self->from->weights, e, split->weight_bytes);
            else put_edge(&self->to.rest, rest++, other, self->from->weights, e, split->weight_bytes);
        }
    }
    return TD_OK;
}

/* Sorts lists by the new numbers, for locality and for compression over a link. */

enum { FEW = 24, DIGIT = 11, DIGITS = 1 << DIGIT };

typedef struct sorting {
    const td_split *split;
    td_adjacency part;
    uint64_t **room; /* for every worker: two buffers of targets with weights, as long as its longest list so far */
    uint64_t *length;
} sorting;

/* By the target alone, like sort_many: parallel edges keep their order, wherever their list is cut. */
static void sort_few(uint64_t *keys, uint64_t count)
{
    for (uint64_t i = 1; i < count; i++) {
        uint64_t key = keys[i], j = i;
        for (; j > 0 && keys[j - 1] >> 32 > key >> 32; j--) keys[j] = keys[j - 1];
        keys[j] = key;
    }
}

/* Sorts by the upper half, which is the target; returns the buffer with the sorted keys. */
static uint64_t *sort_many(uint64_t *keys, uint64_t *spare, uint64_t count, uint32_t largest)
{
    for (int shift = 0; shift < 32 && largest >> shift > 0; shift += DIGIT) {
        uint32_t places[DIGITS] = {0}, sum = 0;
        for (uint64_t i = 0; i < count; i++) places[keys[i] >> (32 + shift) & (DIGITS - 1)]++;
        for (int d = 0; d < DIGITS; d++) {
            uint32_t here = places[d];
            places[d] = sum;
            sum += here;
        }
        for (uint64_t i = 0; i < count; i++) spare[places[keys[i] >> (32 + shift) & (DIGITS - 1)]++] = keys[i];
        uint64_t *turned = keys;
        keys = spare;
        spare = turned;
    }
    return keys;
}

static void sort_list(const sorting *self, uint64_t begin, uint64_t count, uint64_t *room)
{
    size_t weight = self->split->weight_bytes;
    uint32_t *targets = self->part.targets + begin;
    char *weights = weight == 0 ? NULL : (char *)self->part.weights + begin * weight;
    bool apart = weight > sizeof(uint32_t); /* the key has the place of the weight in a copy behind the buffers */
    if (apart) memcpy(room + 2 * count, weights, count * weight);
    for (uint64_t i = 0; i < count; i++) {
        uint32_t with = apart ? (uint32_t)i : 0;
        if (weight > 0 && !apart) memcpy(&with, weights + i * weight, weight);
        room[i] = (uint64_t)targets[i] << 32 | with;
    }
    uint64_t *sorted = room;
    if (count <= FEW) sort_few(room, count);
    else sorted = sort_many(room, room + count, count, self->split->vertices - 1);
    for (uint64_t i = 0; i < count; i++) {
        uint32_t with = (uint32_t)sorted[i];
        targets[i] = (uint32_t)(sorted[i] >> 32);
        if (apart) memcpy(weights + i * weight, room + 2 * count + with, weight);
        else if (weight > 0) memcpy(weights + i * weight, &with, weight);
    }
}

static td_status sort_lists(void *context, uint64_t begin, uint64_t end, int worker)
{
    sorting *self = context;
    for (uint64_t v = begin; v < end; v++) {
        uint64_t count = self->part.offsets[v + 1] - self->part.offsets[v];
        if (count < 2) continue;
        if (count > self->length[worker]) {
            uint64_t words = self->split->weight_bytes > sizeof(uint32_t) ? 3 : 2; /* the copy of weights */
            TD_CHECK(TD_RESIZE(&self->room[worker], 2 * words * count, "a list to be sorted"));
            self->length[worker] = 2 * count;
        }
        sort_list(self, self->part.offsets[v], count, self->room[worker]);
    }
    return TD_OK;
}

static td_status sort_part(const td_split *split, const td_adjacency *part, td_pool *pool)
{
    td_status status = TD_OK;
    int workers = td_pool_threads(pool);
    sorting self = {.split = split, .part = *part};
    TD_TRY(TD_NEW_ZEROED(&self.room, (uint64_t)workers, "lists to be sorted"));
    TD_TRY(TD_NEW_ZEROED(&self.length, (uint64_t)workers, "lists to be sorted"));
    TD_TRY(td_pool_for(pool, split->vertices, GRAIN, sort_lists, &self));
done:
    for (int w = 0; self.room != NULL && w < workers; w++) td_free(self.room[w]);
    td_free(self.room);
    td_free(self.length);
    return status;
}

static td_status declare_part(td_adjacency *part, uint64_t edges, size_t weight, td_host_memory *memory)
{
    TD_CHECK(td_host_declare(memory, &part->targets, edges, sizeof *part->targets, "lists cut in two"));
    return weight == 0 ? TD_OK : td_host_declare(memory, &part->weights, edges, weight, "lists cut in two");
}

static td_status make_part(td_adjacency *part, uint64_t n, size_t weight, td_host_memory *memory, td_pool *pool)
{
    TD_CHECK(td_sum_up(part->offsets, n, pool));
    return declare_part(part, part->offsets[n], weight, memory);
}

static td_status cut(const td_split *split, const td_adjacency *from, td_split_extract extract, td_split_lists *out,
                     td_host_memory *memory, td_pool *pool)
{
    uint64_t n = split->vertices;
    TD_CHECK(td_host_declare_zeroed(memory, &out->hot.offsets, n + 1, sizeof(uint64_t), "lists cut in two"));
    TD_CHECK(td_host_declare_zeroed(memory, &out->rest.offsets, n + 1, sizeof(uint64_t), "lists cut in two"));
    if (memory->measures) return declare_part(&out->hot, split->edges, split->weight_bytes, memory);
    cutting self = {split, from, *out, extract};
    TD_CHECK(td_pool_for(pool, n, GRAIN, count_parts, &self));
    TD_CHECK(make_part(&out->hot, n, split->weight_bytes, memory, pool));
    TD_CHECK(make_part(&out->rest, n, split->weight_bytes, memory, pool));
    self.to = *out;
    return td_pool_for(pool, n, GRAIN, fill_parts, &self);
}

/* Lists whose vertices keep their numbers are sorted already. */
static td_status sort_parts(const td_split *split, const td_split_lists *lists, td_host_memory *memory, td_pool *pool)
{
    if (split->order == NULL || memory->measures) return TD_OK;
    TD_CHECK(sort_part(split, &lists->hot, pool));
    return sort_part(split, &lists->rest, pool);
}

static td_status find_places(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const td_split *split = context;
    for (uint64_t i = begin; i < end; i++) split->place[split->order[i]] = (uint32_t)i;
    return TD_OK;
}

static td_status find_order(td_split *split, const td_graph *graph, const td_split_request *request, td_host_memory *memory,
                            td_pool *pool)
{
    td_order order = request->extract == TD_EXTRACT_RANDOM ? TD_ORDER_RANDOM : request->order;
    uint64_t n = split->vertices;
    if (order == TD_ORDER_NONE) return TD_OK;
    TD_CHECK(td_host_declare(memory, &split->order, n, sizeof *split->order, "order of vertices"));
    TD_CHECK(td_host_declare(memory, &split->place, n, sizeof *split->place, "new numbers of vertices"));
    if (memory->measures) return TD_OK;
    TD_CHECK(td_graph_order(graph, order, DRAW_SEED, split->order, pool));
    return td_pool_for(pool, n, GRAIN, find_places, split);
}

typedef struct finding {
    const td_split *split;
    const td_graph *graph;
} finding;

static td_status find_degrees(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const finding *self = context;
    for (uint64_t i = begin; i < end; i++)
        self->split->out[i + 1] = td_degree(&self->graph->out, td_split_vertex(self->split, (uint32_t)i));
    return TD_OK;
}

td_status td_split_find_degrees(td_split *split, const td_graph *graph, td_host_memory *memory, td_pool *pool)
{
    uint64_t n = split->vertices;
    finding self = {split, graph};
    TD_CHECK(td_host_declare(memory, &split->out, n + 1, sizeof *split->out, "out-degrees"));
    if (memory->measures) return TD_OK;
    TD_CHECK(td_pool_for(pool, n, GRAIN, find_degrees, &self));
    return td_sum_up(split->out, n, pool);
}

/* The undirected view is joined first, and given back before its parts are sorted. */
td_status td_split_make(td_split *out, const td_graph *graph, const td_split_request *request, td_host_memory *memory,
                        td_pool *pool)
{
    td_status status = TD_OK;
    td_split split = {.vertices = graph->vertices, .edges = graph->edges * (request->both ? 2 : 1)};
    td_adjacency both = {0};
    bool joined = false;
    split.same = graph->symmetric || request->both || !request->pushes || !request->pulls;
    split.weight_bytes = request->weighted ? td_weight_bytes(graph->weights) : 0;
    TD_TRY(find_order(&split, graph, request, memory, pool));
    if (request->both) TD_TRY(td_lists_join(graph, request->weighted, &both, memory, pool));
    joined = request->both;
    const td_adjacency *push = request->both ? &both : request->pushes ? &graph->out : &graph->in;
    bool symmetric = graph->symmetric || request->both;
    counting count = {.split = &split, .lists = {push, push == &graph->in ? &graph->out : &graph->in},
                      .count = symmetric ? 1 : 2};
    TD_TRY(find_inside(&split, &count, request, memory, pool));
    TD_TRY(cut(&split, push, request->extract, &split.push, memory, pool));
    if (joined) td_lists_unjoin(graph, request->weighted, &both, memory);
    joined = false;
    TD_TRY(sort_parts(&split, &split.push, memory, pool));
    if (split.same) split.pull = split.push;
    else TD_TRY(cut(&split, &graph->in, request->extract, &split.pull, memory, pool));
    if (!split.same) TD_TRY(sort_parts(&split, &split.pull, memory, pool));
    TD_TRY(td_split_find_degrees(&split, graph, memory, pool));
    if (!memory->measures) split.hot_edges = split.push.hot.offsets[split.vertices];
    *out = split;
    split = (td_split){0};
done:
    if (joined) td_lists_unjoin(graph, request->weighted, &both, memory);
    td_split_free(&split);
    return status;
}
