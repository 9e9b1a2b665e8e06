#include "store/graph_stats.h"

#include "base/alloc.h"

/* Statistics per worker; their sums and maxima do not depend on the division of the work. */
typedef struct collecting {
    const td_graph *graph;
    bool lists;           /* scan the edges too */
    td_graph_stats *seen; /* by worker */
} collecting;

static void count_degree(td_degree_facts *stats, uint64_t degree, uint32_t vertex)
{
    stats->buckets[degree == 0 ? 0 : 64 - __builtin_clzll(degree)]++;
    if (stats->max_vertex != TD_NO_VERTEX &&
        (degree < stats->max || (degree == stats->max && vertex > stats->max_vertex)))
        return;
    stats->max = degree;
    stats->max_vertex = vertex;
}

static void count_list(td_graph_stats *stats, const td_adjacency *out, uint32_t vertex)
{
    const uint32_t *targets = out->targets;
    for (uint64_t e = out->offsets[vertex]; e < out->offsets[vertex + 1]; e++) {
        stats->loops += targets[e] == vertex;
        stats->parallel += e > out->offsets[vertex] && targets[e] == targets[e - 1];
    }
}

static td_status collect(void *context, uint64_t begin, uint64_t end, int worker)
{
    const collecting *self = context;
    const td_graph *graph = self->graph;
    td_graph_stats stats = self->seen[worker];
    for (uint64_t i = begin; i < end; i++) {
        uint32_t v = (uint32_t)i;
        uint64_t out = td_degree(&graph->out, v);
        count_degree(&stats.out, out, v);
        stats.sinks += out == 0;
        if (self->lists) count_list(&stats, &graph->out, v);
        if (!stats.has_in) continue;
        uint64_t in = td_degree(&graph->in, v);
        count_degree(&stats.in, in, v);
        stats.sources += in == 0;
        stats.isolated += out == 0 && in == 0;
    }
    self->seen[worker] = stats;
    td_graph_let_go(graph, &graph->out, begin, end);
    if (stats.has_in) td_graph_let_go(graph, &graph->in, begin, end);
    return TD_OK;
}

static void add_degrees(td_degree_facts *sum, const td_degree_facts *part)
{
    for (int b = 0; b < TD_DEGREE_BUCKETS; b++) {
        sum->buckets[b] += part->buckets[b];
        if (part->buckets[b] > 0 && b + 1 > sum->bucket_count) sum->bucket_count = b + 1;
    }
    if (part->max_vertex == TD_NO_VERTEX) return;
    bool better = sum->max_vertex == TD_NO_VERTEX || part->max > sum->max ||
                  (part->max == sum->max && part->max_vertex < sum->max_vertex);
    if (!better) return;
    sum->max = part->max;
    sum->max_vertex = part->max_vertex;
}

static void add(td_graph_stats *sum, const td_graph_stats *part)
{
    add_degrees(&sum->out, &part->out);
    add_degrees(&sum->in, &part->in);
    sum->sinks += part->sinks;
    sum->sources += part->sources;
    sum->isolated += part->isolated;
    sum->loops += part->loops;
    sum->parallel += part->parallel;
}

static td_status collect_all(const td_graph *graph, td_pool *pool, bool lists, td_graph_stats *out)
{
    int threads = td_pool_threads(pool);
    td_graph_stats start = {.has_in = graph->in.offsets != NULL, .out.max_vertex = TD_NO_VERTEX,
                            .in.max_vertex = TD_NO_VERTEX};
    collecting self = {.graph = graph, .lists = lists};
    TD_CHECK(TD_NEW(&self.seen, (uint64_t)threads, "degree statistics"));
    for (int worker = 0; worker < threads; worker++) self.seen[worker] = start;
    td_status status = td_pool_for(pool, graph->vertices, 4096, collect, &self);
    if (status == TD_OK) {
        *out = start;
        for (int worker = 0; worker < threads; worker++) add(out, &self.seen[worker]);
        out->average_degree = graph->vertices > 0 ? (double)graph->edges / graph->vertices : 0;
    }
    td_free(self.seen);
    return status;
}

td_status td_graph_stats_collect(const td_graph *graph, td_pool *pool, td_graph_stats *out)
{
    return collect_all(graph, pool, true, out);
}

td_status td_graph_stats_degrees(const td_graph *graph, td_pool *pool, td_graph_stats *out)
{
    return collect_all(graph, pool, false, out);
}
