/* The steps after the sort: parallel edges, weights, symmetry. Each works row
 * by row and in parallel over ranges of vertices or of edges. */
#include "store/builder_steps.h"

#include "base/random.h"
#include "base/size.h"
#include "store/weight_order.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum { VERTICES_AT_A_TIME = 4096, EDGES_AT_A_TIME = 1 << 18 };

typedef struct step {
    const td_rows *rows;
    td_adjacency *adjacency, *made;
} step;

static td_status order_runs(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    step *self = context;
    const uint32_t *targets = self->adjacency->targets;
    uint32_t *weights = self->adjacency->weights;
    for (uint64_t v = begin; v < end; v++) {
        uint64_t stop = self->adjacency->offsets[v + 1];
        for (uint64_t e = self->adjacency->offsets[v], run; e < stop; e = run) {
            for (run = e + 1; run < stop && targets[run] == targets[e]; run++) {}
            if (run - e > 1) td_order_weights(weights + e, run - e, self->rows->real);
        }
    }
    return TD_OK;
}

td_status td_rows_order_parallel(const td_rows *rows, td_adjacency *adjacency)
{
    step self = {.rows = rows, .adjacency = adjacency};
    return td_pool_for(rows->pool, rows->vertices, VERTICES_AT_A_TIME, order_runs, &self);
}

static uint64_t distinct(const uint32_t *targets, uint64_t begin, uint64_t end)
{
    uint64_t count = end > begin;
    for (uint64_t e = begin + 1; e < end; e++) count += targets[e] != targets[e - 1];
    return count;
}

static td_status count_distinct(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    step *self = context;
    const uint64_t *offsets = self->adjacency->offsets;
    for (uint64_t v = begin; v < end; v++)
        self->made->offsets[v + 1] = distinct(self->adjacency->targets, offsets[v], offsets[v + 1]);
    return TD_OK;
}

static td_status copy_distinct(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    step *self = context;
    const td_adjacency *old = self->adjacency;
    uint32_t *weights = self->made->weights;
    for (uint64_t v = begin; v < end; v++) {
        uint64_t to = self->made->offsets[v];
        for (uint64_t e = old->offsets[v]; e < old->offsets[v + 1]; e++) {
            if (e > old->offsets[v] && old->targets[e] == old->targets[e - 1]) continue;
            self->made->targets[to] = old->targets[e];
            if (weights != NULL) weights[to] = ((const uint32_t *)old->weights)[e];
            to++;
        }
    }
    return TD_OK;
}

static void clear(td_adjacency *adjacency)
{
    td_free(adjacency->offsets);
    td_free(adjacency->targets);
    td_free(adjacency->weights);
    *adjacency = (td_adjacency){0};
}

td_status td_rows_dedup(td_rows *rows, td_adjacency *adjacency)
{
    td_status status = TD_OK;
    td_adjacency made = {0};
    step self = {rows, adjacency, &made};
    TD_TRY(TD_NEW(&made.offsets, (uint64_t)rows->vertices + 1, "vertex offsets"));
    made.offsets[0] = 0;
    TD_TRY(td_pool_for(rows->pool, rows->vertices, VERTICES_AT_A_TIME, count_distinct, &self));
    for (uint64_t v = 0; v < rows->vertices; v++) made.offsets[v + 1] += made.offsets[v];
    uint64_t edges = made.offsets[rows->vertices];
    if (edges == rows->edges) goto done;
    TD_TRY(TD_NEW(&made.targets, edges, "edge targets"));
    if (adjacency->weights != NULL) TD_TRY(td_new_bytes(&made.weights, edges, sizeof(uint32_t), "edge weights"));
    TD_TRY(td_pool_for(rows->pool, rows->vertices, VERTICES_AT_A_TIME, copy_distinct, &self));
    td_adjacency old = *adjacency;
    *adjacency = made;
    made = old;
    rows->edges = edges;
done:
    clear(&made);
    return status;
}

/* Weights: their range, then the narrowest type that holds it. */

typedef struct weighing {
    const uint32_t *from;
    const td_weight_table *table; /* of which they are ranks; or NULL */
    void *to;
    td_weight_kind kind;
    bool real;
    pthread_mutex_t lock;
    double lowest, highest;
} weighing;

static td_status find_weight_range(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    weighing *self = context;
    double low = INFINITY, high = -INFINITY;
    for (uint64_t e = begin; e < end; e++) {
        float real;
        memcpy(&real, &self->from[e], sizeof real);
        double weight = self->table != NULL ? td_weight_of_rank(self->table, self->from[e])
                        : self->real        ? (double)real
                                            : (double)self->from[e];
        low = weight < low ? weight : low;
        high = weight > high ? weight : high;
    }
    pthread_mutex_lock(&self->lock);
    if (low < self->lowest) self->lowest = low;
    if (high > self->highest) self->highest = high;
    pthread_mutex_unlock(&self->lock);
    return TD_OK;
}

static td_status convert_weights(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    weighing *self = context;
    if (self->kind == TD_WEIGHT_F64)
        for (uint64_t e = begin; e < end; e++) ((double *)self->to)[e] = td_weight_of_rank(self->table, self->from[e]);
    else if (self->kind == TD_WEIGHT_U8)
        for (uint64_t e = begin; e < end; e++) ((uint8_t *)self->to)[e] = (uint8_t)self->from[e];
    else
        for (uint64_t e = begin; e < end; e++) ((uint16_t *)self->to)[e] = (uint16_t)self->from[e];
    return TD_OK;
}

td_weight_kind td_weights_narrowest(bool real, double highest)
{
    if (real) return TD_WEIGHT_F32;
    return highest <= UINT8_MAX ? TD_WEIGHT_U8 : highest <= UINT16_MAX ? TD_WEIGHT_U16 : TD_WEIGHT_U32;
}

static td_status convert(td_adjacency *adjacency, uint64_t edges, td_weight_kind kind, const td_weight_table *table,
                         td_pool *pool)
{
    weighing self = {.from = adjacency->weights, .table = table, .kind = kind};
    if (td_weight_bytes(kind) == sizeof(uint32_t) || adjacency->weights == NULL) return TD_OK;
    TD_CHECK(td_new_bytes(&self.to, edges, td_weight_bytes(kind), "edge weights"));
    td_status status = td_pool_for(pool, edges, EDGES_AT_A_TIME, convert_weights, &self);
    if (status != TD_OK) {
        td_free(self.to);
        return status;
    }
    td_free(adjacency->weights);
    adjacency->weights = self.to;
    return TD_OK;
}

td_status td_graph_settle_weights(td_graph *graph, bool real, const td_weight_table *table, td_pool *pool)
{
    weighing self = {.from = graph->out.weights, .table = table, .real = real, .lock = PTHREAD_MUTEX_INITIALIZER,
                     .lowest = INFINITY, .highest = -INFINITY};
    TD_CHECK(td_pool_for(pool, graph->edges, EDGES_AT_A_TIME, find_weight_range, &self));
    if (graph->edges == 0) self.lowest = self.highest = 0;
    graph->weights = table != NULL ? TD_WEIGHT_F64 : td_weights_narrowest(real, self.highest);
    graph->weight_min = self.lowest;
    graph->weight_max = self.highest;
    TD_CHECK(convert(&graph->out, graph->edges, graph->weights, table, pool));
    if (graph->symmetric) {
        graph->in = graph->out;
        return TD_OK;
    }
    return convert(&graph->in, graph->edges, graph->weights, table, pool);
}

/* Random weights: a function of the seed and the unordered pair, so that both
 * directions, both adjacencies and any threads agree. */

typedef struct attaching {
    const td_build_options *options;
    const td_adjacency *adjacency;
    td_weight_kind kind;
    pthread_mutex_t lock;
    double lowest, highest; /* drawn */
} attaching;

static uint64_t draw(uint64_t seed, uint32_t a, uint32_t b)
{
    return td_random_at(seed, a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a);
}

/* In [low, high), also after rounding to a float. */
static float draw_real(const td_build_options *options, uint64_t random)
{
    float weight = (float)(options->weight_low + td_random_unit(random) * (options->weight_high - options->weight_low));
    float low = (float)options->weight_low, high = (float)options->weight_high;
    if (weight >= high) weight = nextafterf(high, low);
    return weight < low ? low : weight;
}

static uint32_t draw_whole(const td_build_options *options, uint64_t random)
{
    uint64_t low = (uint64_t)options->weight_low, high = (uint64_t)options->weight_high;
    return (uint32_t)(low + td_random_below(random, high - low + 1));
}

uint32_t td_weights_draw(const td_build_options *options, uint32_t a, uint32_t b)
{
    uint64_t random = draw(options->weight_seed, a, b);
    if (!options->weight_real) return draw_whole(options, random);
    float weight = draw_real(options, random);
    uint32_t bits;
    memcpy(&bits, &weight, sizeof bits);
    return bits;
}

static double draw_weight(const attaching *self, uint64_t edge, uint64_t random)
{
    void *weights = self->adjacency->weights;
    if (self->kind == TD_WEIGHT_F32) return (double)(((float *)weights)[edge] = draw_real(self->options, random));
    uint32_t weight = draw_whole(self->options, random);
    if (self->kind == TD_WEIGHT_U8) ((uint8_t *)weights)[edge] = (uint8_t)weight;
    else if (self->kind == TD_WEIGHT_U16) ((uint16_t *)weights)[edge] = (uint16_t)weight;
    else ((uint32_t *)weights)[edge] = weight;
    return (double)weight;
}

static td_status attach(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    attaching *self = context;
    const td_adjacency *rows = self->adjacency;
    double low = INFINITY, high = -INFINITY;
    for (uint64_t v = begin; v < end; v++)
        for (uint64_t e = rows->offsets[v]; e < rows->offsets[v + 1]; e++) {
            double weight = draw_weight(self, e, draw(self->options->weight_seed, (uint32_t)v, rows->targets[e]));
            low = weight < low ? weight : low;
            high = weight > high ? weight : high;
        }
    pthread_mutex_lock(&self->lock);
    if (low < self->lowest) self->lowest = low;
    if (high > self->highest) self->highest = high;
    pthread_mutex_unlock(&self->lock);
    return TD_OK;
}

static td_status attach_to(td_graph *graph, td_adjacency *adjacency, const td_build_options *options, td_pool *pool)
{
    if (adjacency->offsets == NULL) return TD_OK;
    attaching self = {.options = options, .adjacency = adjacency, .kind = graph->weights,
                      .lock = PTHREAD_MUTEX_INITIALIZER, .lowest = INFINITY, .highest = -INFINITY};
    TD_CHECK(td_new_bytes(&adjacency->weights, graph->edges, td_weight_bytes(graph->weights), "edge weights"));
    TD_CHECK(td_pool_for(pool, graph->vertices, VERTICES_AT_A_TIME, attach, &self));
    graph->weight_min = graph->edges > 0 ? self.lowest : 0;
    graph->weight_max = graph->edges > 0 ? self.highest : 0;
    return TD_OK;
}

td_status td_graph_attach_weights(td_graph *graph, const td_build_options *options, td_pool *pool)
{
    graph->weights = td_weights_narrowest(options->weight_real, options->weight_high);
    TD_CHECK(attach_to(graph, &graph->out, options, pool));
    if (graph->symmetric) {
        graph->in = graph->out;
        return TD_OK;
    }
    return attach_to(graph, &graph->in, options, pool);
}

static bool has_point(const char *text) { return strpbrk(text, ".eE") != NULL; }

static td_status parse_range(const char *text, td_build_options *options)
{
    char low[64];
    const char *colon = strchr(text, ':');
    if (colon == NULL || (size_t)(colon - text) >= sizeof low)
        return td_fail(TD_USAGE, "weight range '%s' is not of the form low:high (examples: 1:100, 0.5:1.0), nor f32 or f64", text);
    memcpy(low, text, (size_t)(colon - text));
    low[colon - text] = '\0';
    double lowest, highest;
    if (td_parse_double(low, &lowest) != TD_OK || td_parse_double(colon + 1, &highest) != TD_OK)
        return td_fail(TD_USAGE, "weight range '%s' is not of the form low:high (examples: 1:100, 0.5:1.0), nor f32 or f64", text);
    bool real = has_point(low) || has_point(colon + 1) || lowest < 0;
    if (lowest > highest) return td_fail(TD_USAGE, "weight range '%s': %s is above %s", text, low, colon + 1);
    if (!real && highest > UINT32_MAX)
        return td_fail(TD_LIMIT, "weight range '%s': integer weights go up to 4294967295", text);
    if (real && (fabs(lowest) > 3e38 || fabs(highest) > 3e38))
        return td_fail(TD_LIMIT, "weight range '%s' is beyond 32-bit floats", text);
    options->attach_weights = true;
    options->weight_real = real;
    options->weight_low = lowest;
    options->weight_high = highest;
    return TD_OK;
}

td_status td_parse_weights(const char *text, td_build_options *options)
{
    bool wide = strcmp(text, "f64") == 0;
    if (!wide && strcmp(text, "f32") != 0) return parse_range(text, options);
    options->weights_as = wide ? TD_WEIGHT_F64 : TD_WEIGHT_F32;
    return TD_OK;
}

/* Symmetry: sorted lists make it a comparison of arrays. */

typedef struct comparing {
    const char *a, *b;
    atomic_bool differ;
} comparing;

static td_status compare(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    comparing *self = context;
    if (!self->differ && memcmp(self->a + begin, self->b + begin, end - begin) != 0) self->differ = true;
    return TD_OK;
}

static td_status same(const void *a, const void *b, uint64_t bytes, td_pool *pool, bool *out)
{
    comparing self = {.a = a, .b = b};
    TD_CHECK(td_pool_for(pool, bytes, 1 << 20, compare, &self));
    *out = *out && !self.differ;
    return TD_OK;
}

td_status td_graph_fold_symmetric(td_graph *graph, td_pool *pool)
{
    bool alike = true;
    TD_CHECK(same(graph->out.offsets, graph->in.offsets, ((uint64_t)graph->vertices + 1) * 8, pool, &alike));
    if (alike) TD_CHECK(same(graph->out.targets, graph->in.targets, graph->edges * 4, pool, &alike));
    bool pattern = alike;
    if (alike && graph->out.weights != NULL)
        TD_CHECK(same(graph->out.weights, graph->in.weights, graph->edges * 4, pool, &alike));
    graph->pattern_symmetric = pattern && !alike;
    if (!alike) return TD_OK;
    clear(&graph->in);
    graph->in = graph->out;
    graph->symmetric = true;
    return TD_OK;
}
