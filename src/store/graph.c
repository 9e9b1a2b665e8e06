#include "store/graph.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/mapping.h"
#include "base/random.h"
#include "store/checks.h"
#include "store/paged.h"
#include "store/vertex_names.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

enum { VERTICES_AT_A_TIME = 4096 };

static void free_adjacency(td_adjacency *adjacency)
{
    td_free(adjacency->offsets);
    td_free(adjacency->targets);
    td_free(adjacency->weights);
}

/* Watches. */

/* Recursive: a function that is called for a watch ends watches itself. Held during the call, so that no other thread
 * releases the same layout. */
static pthread_mutex_t watch_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_cond_t user_idle = PTHREAD_COND_INITIALIZER;
static td_graph_watch *watches;

void td_graph_watch_begin(td_graph_watch *watch, const td_graph *graph, const td_graph_user *user,
                          void (*gone)(td_graph_watch *watch))
{
    pthread_mutex_lock(&watch_lock);
    *watch = (td_graph_watch){graph, gone, user, watches};
    watches = watch;
    pthread_mutex_unlock(&watch_lock);
}

/* Takes the watch out of the list; the lock is held. */
static void forget(td_graph_watch *watch)
{
    td_graph_watch **at = &watches;
    while (*at != NULL && *at != watch) at = &(*at)->next;
    if (*at != NULL) *at = watch->next;
    watch->graph = NULL;
}

void td_graph_watch_end(td_graph_watch *watch)
{
    pthread_mutex_lock(&watch_lock);
    if (watch->graph != NULL) forget(watch);
    pthread_mutex_unlock(&watch_lock);
}

void td_graph_user_begin(td_graph_user *user)
{
    pthread_mutex_lock(&watch_lock);
    *user = (td_graph_user){true, pthread_self()};
    pthread_mutex_unlock(&watch_lock);
}

void td_graph_user_end(td_graph_user *user)
{
    pthread_mutex_lock(&watch_lock);
    user->at_work = false;
    pthread_cond_broadcast(&user_idle);
    pthread_mutex_unlock(&watch_lock);
}

/* A graph destroyed by its user's own thread, in a callback, does not wait for itself. */
static bool must_wait(const td_graph_watch *watch)
{
    const td_graph_user *user = watch->user;
    return user != NULL && user->at_work && !pthread_equal(user->thread, pthread_self());
}

static void tell_watches(const td_graph *graph)
{
    td_graph_watch *found;
    pthread_mutex_lock(&watch_lock);
    do {
        for (found = watches; found != NULL && found->graph != graph && found->graph != graph->pattern;)
            found = found->next;
        if (found != NULL && must_wait(found)) {
            pthread_cond_wait(&user_idle, &watch_lock); /* the watch may have ended meanwhile */
            continue;
        }
        if (found != NULL) forget(found);
        if (found != NULL) found->gone(found);
    } while (found != NULL);
    pthread_mutex_unlock(&watch_lock);
}

static void free_arrays(td_graph *graph)
{
    const td_borrowed *borrowed = &graph->borrowed;
    if (graph->in.offsets != graph->out.offsets) free_adjacency(&graph->in);
    if (!borrowed->offsets) td_free(graph->out.offsets);
    if (!borrowed->targets) td_free(graph->out.targets);
    if (!borrowed->weights) td_free(graph->out.weights);
    td_free(graph->ids);
}

/* What a graph of ranks owns; all else is that of the other graph. */
static void free_ranks(td_graph *graph)
{
    if (graph->in.weights != graph->out.weights) td_free(graph->in.weights);
    td_free(graph->out.weights);
    td_free(graph->distinct);
}

void td_graph_destroy(td_graph *graph)
{
    if (graph == NULL) return;
    tell_watches(graph);
    td_graph_destroy(graph->ranked);
    if (graph->ranks_of != NULL) free_ranks(graph);
    td_graph_destroy(graph->simple);
    td_graph_destroy(graph->kept);
    td_graph_destroy(graph->tails);
    td_paged_close(graph->paged, graph);
    td_checks_destroy(graph->checks);
    if (graph->mapping != NULL && !graph->borrowed.all) {
        td_mapping_end(graph->mapping);
        td_free(graph->mapping);
    } else if (!graph->borrowed.all)
        free_arrays(graph);
    if (graph->borrowed.release != NULL) graph->borrowed.release(graph->borrowed.context);
    if (!graph->borrowed.all && !graph->borrowed.names) td_vertex_names_destroy(graph->names);
    td_free(graph->name);
    td_free(graph->pattern); /* the graph owns its arrays */
    td_free(graph);
}

td_status td_graph_share_pattern(td_graph *graph)
{
    if (!graph->pattern_symmetric) return TD_OK;
    if (graph->pattern == NULL) TD_CHECK(TD_NEW(&graph->pattern, 1, "graph without weights"));
    td_graph *pattern = graph->pattern;
    *pattern = *graph;
    pattern->pattern = pattern->simple = pattern->kept = pattern->ranked = NULL;
    pattern->pattern_symmetric = false;
    pattern->symmetric = true;
    pattern->weights = TD_WEIGHT_NONE;
    pattern->weight_min = pattern->weight_max = 0;
    pattern->out.weights = NULL;
    pattern->in = pattern->out;
    return TD_OK;
}

const td_graph *td_graph_without_weights(const td_graph *graph)
{
    return graph->pattern != NULL ? graph->pattern : graph;
}

uint32_t td_graph_first(const td_graph *graph)
{
    uint32_t first = 0;
    for (uint32_t v = 1; td_graph_reordered(graph) && v < graph->vertices; v++)
        if (graph->ids[v] < graph->ids[first]) first = v;
    return first;
}

uint32_t td_graph_last_but(const td_graph *graph, uint32_t except)
{
    uint32_t last = except;
    for (uint32_t v = 0; td_graph_reordered(graph) && v < graph->vertices; v++)
        if (v != except && (last == except || graph->ids[v] > graph->ids[last])) last = v;
    if (td_graph_reordered(graph) || graph->vertices < 2) return last;
    return graph->vertices - 1 == except ? except - 1 : graph->vertices - 1;
}

/* Sorts stably by one byte of the ids; false if the byte is equal in all ids, then nothing is moved. */
static bool sort_by_byte(const td_graph *graph, int byte, const uint32_t *from, uint32_t *to)
{
    enum { CLASSES = 256 };
    uint32_t begins[CLASSES] = {0}, sum = 0;
    for (uint32_t i = 0; i < graph->vertices; i++) begins[graph->ids[i] >> (8 * byte) & (CLASSES - 1)]++;
    for (int c = 0; c < CLASSES; c++) {
        if (begins[c] == graph->vertices) return false;
        uint32_t count = begins[c];
        begins[c] = sum;
        sum += count;
    }
    for (uint32_t i = 0; i < graph->vertices; i++)
        to[begins[graph->ids[from[i]] >> (8 * byte) & (CLASSES - 1)]++] = from[i];
    return true;
}

void td_graph_own_order(const td_graph *graph, uint32_t *order, uint32_t *spare)
{
    uint32_t *from = order, *to = spare;
    for (uint32_t v = 0; v < graph->vertices; v++) order[v] = v;
    for (int byte = 0; td_graph_reordered(graph) && byte < 8; byte++) {
        if (!sort_by_byte(graph, byte, from, to)) continue;
        uint32_t *turned = from;
        from = to;
        to = turned;
    }
    if (from != order) memcpy(order, from, graph->vertices * sizeof *order);
}

const char *td_weight_name(td_weight_kind kind)
{
    static const char *const names[] = {
#define NAME(code, name, bytes) name,
        TD_WEIGHT_LIST(NAME)
#undef NAME
    };
    return names[kind];
}

size_t td_weight_bytes(td_weight_kind kind)
{
    static const size_t sizes[] = {
#define BYTES(code, name, bytes) bytes,
        TD_WEIGHT_LIST(BYTES)
#undef BYTES
    };
    return sizes[kind];
}

static td_status no_such_vertex(const td_graph *graph, uint64_t id)
{
    const char *name = graph->name != NULL ? graph->name : "the graph";
    bool ascending = graph->vertices > 0 && (graph->ids == NULL || graph->ids_sorted);
    if (!ascending) return td_fail(TD_NOT_FOUND, "vertex %llu is not in %s", (unsigned long long)id, name);
    return td_fail(TD_NOT_FOUND, "vertex %llu is not in %s, whose ids lie between %llu and %llu",
                   (unsigned long long)id, name, (unsigned long long)td_graph_id(graph, 0),
                   (unsigned long long)td_graph_id(graph, graph->vertices - 1));
}

td_status td_graph_find(const td_graph *graph, uint64_t id, uint32_t *vertex)
{
    if (graph->ids == NULL) {
        if (id >= graph->id_base && id - graph->id_base < graph->vertices) {
            *vertex = (uint32_t)(id - graph->id_base);
            return TD_OK;
        }
    } else if (graph->ids_sorted) {
        uint64_t low = 0, high = graph->vertices;
        while (low < high) {
            uint64_t middle = low + (high - low) / 2;
            if (graph->ids[middle] < id) low = middle + 1;
            else high = middle;
        }
        if (low < graph->vertices && graph->ids[low] == id) {
            *vertex = (uint32_t)low;
            return TD_OK;
        }
    } else {
        for (uint32_t v = 0; v < graph->vertices; v++)
            if (graph->ids[v] == id) {
                *vertex = v;
                return TD_OK;
            }
    }
    return no_such_vertex(graph, id);
}

/* The last vertex in low .. high with offsets[vertex] <= edge. */
static uint32_t bisect(const td_graph *graph, uint64_t edge, uint32_t low, uint32_t high)
{
    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;
        if (graph->out.offsets[middle] <= edge)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

uint32_t td_edge_source(const td_graph *graph, uint64_t edge) { return bisect(graph, edge, 0, graph->vertices - 1); }

uint32_t td_edge_source_from(const td_graph *graph, uint64_t edge, uint32_t from)
{
    uint32_t last = graph->vertices - 1, step = 1;
    while (step <= last - from && graph->out.offsets[from + step] <= edge) {
        from += step;
        if (step < UINT32_C(1) << 30) step *= 2;
    }
    return bisect(graph, edge, from, step <= last - from ? from + step - 1 : last);
}

double td_weight_at(const td_graph *graph, const td_adjacency *adjacency, uint64_t edge)
{
    switch (graph->weights) {
    case TD_WEIGHT_U8: return ((const uint8_t *)adjacency->weights)[edge];
    case TD_WEIGHT_U16: return ((const uint16_t *)adjacency->weights)[edge];
    case TD_WEIGHT_U32: {
        uint32_t number = ((const uint32_t *)adjacency->weights)[edge];
        return graph->distinct != NULL ? graph->distinct[number] : number;
    }
    case TD_WEIGHT_F32: return (double)((const float *)adjacency->weights)[edge];
    case TD_WEIGHT_F64: return ((const double *)adjacency->weights)[edge];
    default: return 0;
    }
}

uint64_t td_graph_bytes(const td_graph *graph)
{
    uint64_t one = ((uint64_t)graph->vertices + 1) * 8 + graph->edges * (4 + td_weight_bytes(graph->weights));
    bool two = graph->in.offsets != NULL && graph->in.offsets != graph->out.offsets;
    return one * (two ? 2 : 1) + (graph->ids != NULL ? (uint64_t)graph->vertices * 8 : 0) +
           td_vertex_names_bytes(graph->names);
}

/* Scans of all edges: the claims, and a digest that does not depend on the order of the
 * edges (a sum of hashes), so that an adjacency and its transpose can be compared
 * without sorting. */

typedef struct audit {
    const td_graph *graph;
    const td_adjacency *adjacency;
    const char *which;
    bool turned;              /* rows are targets: swap the ends before hashing */
    _Atomic uint64_t digest;
} audit;

static td_status corrupt(const audit *self, const char *claim, uint64_t vertex)
{
    return td_fail(TD_CORRUPT, "%s: %s, at vertex number %llu of the %s-adjacency",
                   self->graph->name != NULL ? self->graph->name : "graph", claim, (unsigned long long)vertex,
                   self->which);
}

void td_graph_let_go(const td_graph *graph, const td_adjacency *adjacency, uint64_t begin, uint64_t end)
{
    const uint64_t *offsets = adjacency->offsets;
    if (graph->mapping == NULL || begin >= end) return;
    uint64_t first = offsets[begin], last = offsets[end], weight = td_weight_bytes(graph->weights);
    if (first <= last && last <= graph->edges) {
        td_mapping_let_go(graph->mapping, adjacency->targets + first, adjacency->targets + last);
        const char *weights = adjacency->weights;
        if (weights != NULL) td_mapping_let_go(graph->mapping, weights + first * weight, weights + last * weight);
    }
    td_mapping_let_go(graph->mapping, offsets + begin, offsets + end);
}

static td_status check_offsets(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    audit *self = context;
    const uint64_t *offsets = self->adjacency->offsets;
    for (uint64_t v = begin; v < end; v++)
        if (offsets[v] > offsets[v + 1] || offsets[v + 1] > self->graph->edges)
            return corrupt(self, "edge offsets do not ascend", v);
    if (self->graph->mapping != NULL) td_mapping_let_go(self->graph->mapping, offsets + begin, offsets + end);
    return TD_OK;
}

static td_status check_list(const audit *self, uint64_t v)
{
    const td_graph *graph = self->graph;
    const uint32_t *targets = self->adjacency->targets;
    uint64_t begin = self->adjacency->offsets[v], end = self->adjacency->offsets[v + 1];
    for (uint64_t e = begin; e < end; e++) {
        if (targets[e] >= graph->vertices) return corrupt(self, "a target is beyond the last vertex", v);
        if (e > begin && targets[e] < targets[e - 1]) return corrupt(self, "a list is not sorted", v);
        if (graph->weights == TD_WEIGHT_NONE) continue;
        double weight = td_weight_at(graph, self->adjacency, e);
        if (!(weight >= graph->weight_min && weight <= graph->weight_max))
            return corrupt(self, "a weight is outside the range stated", v);
        if (e > begin && targets[e] == targets[e - 1] && weight < td_weight_at(graph, self->adjacency, e - 1))
            return corrupt(self, "parallel edges are not in the order of their weights", v);
    }
    return TD_OK;
}

static uint64_t weight_bits(const td_graph *graph, const td_adjacency *adjacency, uint64_t edge)
{
    if (graph->weights == TD_WEIGHT_NONE) return 0;
    double weight = td_weight_at(graph, adjacency, edge);
    uint64_t bits;
    memcpy(&bits, &weight, sizeof bits);
    return td_mix64(bits);
}

static uint64_t digest_list(const audit *self, uint64_t v)
{
    uint64_t sum = 0;
    for (uint64_t e = self->adjacency->offsets[v]; e < self->adjacency->offsets[v + 1]; e++) {
        uint64_t other = self->adjacency->targets[e];
        uint64_t source = self->turned ? other : v, target = self->turned ? v : other;
        sum += td_mix64((source << 32 | target) ^ weight_bits(self->graph, self->adjacency, e));
    }
    return sum;
}

static td_status check_lists(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    audit *self = context;
    uint64_t sum = 0;
    for (uint64_t v = begin; v < end; v++) {
        TD_CHECK(check_list(self, v));
        sum += digest_list(self, v);
    }
    self->digest += sum;
    td_graph_let_go(self->graph, self->adjacency, begin, end);
    return TD_OK;
}

static td_status check_ends(const audit *self)
{
    const uint64_t *offsets = self->adjacency->offsets;
    if (offsets[0] == 0 && offsets[self->graph->vertices] == self->graph->edges) return TD_OK;
    return corrupt(self, "edge offsets do not run from 0 to the number of edges", 0);
}

static td_status check_adjacency(audit *self, td_pool *pool)
{
    uint64_t vertices = self->graph->vertices;
    TD_CHECK(check_ends(self));
    TD_CHECK(td_pool_for(pool, vertices, VERTICES_AT_A_TIME, check_offsets, self));
    return td_pool_for(pool, vertices, VERTICES_AT_A_TIME, check_lists, self);
}

static td_status check_ids(const td_graph *graph)
{
    for (uint64_t v = 1; graph->ids != NULL && graph->ids_sorted && v < graph->vertices; v++)
        if (graph->ids[v] <= graph->ids[v - 1])
            return td_fail(TD_CORRUPT, "%s: original ids are not in ascending order, at vertex number %llu",
                           graph->name != NULL ? graph->name : "graph", (unsigned long long)v);
    return TD_OK;
}

td_status td_graph_check_vertices(const td_graph *graph, td_pool *pool)
{
    audit out = {.graph = graph, .adjacency = &graph->out, .which = "out"};
    audit in = {.graph = graph, .adjacency = &graph->in, .which = "in"};
    TD_CHECK(check_ids(graph));
    TD_CHECK(check_ends(&out));
    TD_CHECK(td_pool_for(pool, graph->vertices, VERTICES_AT_A_TIME, check_offsets, &out));
    if (graph->in.offsets == NULL) return TD_OK;
    TD_CHECK(check_ends(&in));
    return td_pool_for(pool, graph->vertices, VERTICES_AT_A_TIME, check_offsets, &in);
}

td_status td_graph_check(const td_graph *graph, td_pool *pool)
{
    audit out = {.graph = graph, .adjacency = &graph->out, .which = "out"};
    audit in = {.graph = graph, .adjacency = &graph->in, .which = "in", .turned = true};
    TD_CHECK(check_ids(graph));
    TD_CHECK(check_adjacency(&out, pool));
    if (graph->in.offsets == NULL) return TD_OK;
    TD_CHECK(check_adjacency(&in, pool)); /* for a symmetric graph too: its only adjacency, read as in-lists */
    if (out.digest != in.digest)
        return td_fail(TD_CORRUPT, "%s: the in-adjacency is not the transpose of the out-adjacency",
                       graph->name != NULL ? graph->name : "graph");
    return TD_OK;
}

static td_status digest_lists(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    audit *self = context;
    uint64_t sum = 0;
    for (uint64_t v = begin; v < end; v++)
        sum += digest_list(self, v) + td_mix64(~td_graph_id(self->graph, (uint32_t)v) ^ v << 20);
    self->digest += sum;
    td_graph_let_go(self->graph, self->adjacency, begin, end);
    return TD_OK;
}

td_status td_graph_digest(const td_graph *graph, td_pool *pool, uint64_t *digest)
{
    audit self = {.graph = graph, .adjacency = &graph->out};
    TD_CHECK(td_pool_for(pool, graph->vertices, VERTICES_AT_A_TIME, digest_lists, &self));
    uint64_t parts[] = {graph->vertices, graph->edges, graph->weights != TD_WEIGHT_NONE, self.digest};
    *digest = td_hash64(parts, sizeof parts);
    return TD_OK;
}
