#include "sample.h"

#include "store/graph_stats.h"

static void check_degrees(const td_degree_facts *stats, const td_adjacency *adjacency, uint32_t vertices)
{
    uint64_t buckets[TD_DEGREE_BUCKETS] = {0}, max = 0;
    uint32_t at = TD_NO_VERTEX;
    int last = 0;
    for (uint32_t v = 0; v < vertices; v++) {
        uint64_t degree = td_degree(adjacency, v);
        int bucket = 0;
        while (degree >> bucket != 0) bucket++;
        buckets[bucket]++;
        last = bucket + 1 > last ? bucket + 1 : last;
        if (at != TD_NO_VERTEX && degree <= max) continue;
        max = degree;
        at = v;
    }
    CHECK(memcmp(buckets, stats->buckets, sizeof buckets) == 0);
    CHECK_EQ(stats->bucket_count, last);
    CHECK_EQ(stats->max, max);
    CHECK_EQ(stats->max_vertex, at);
}

static void check_stats(sample spec, int threads)
{
    td_graph *graph = sample_graph(spec);
    td_pool *pool = NULL;
    td_graph_stats stats, wanted = {0};
    CHECK_OK(td_pool_create(&pool, threads));
    CHECK_OK(td_graph_stats_collect(graph, pool, &stats));
    td_pool_destroy(pool);
    check_degrees(&stats.out, &graph->out, graph->vertices);
    CHECK_EQ(stats.has_in, !spec.out_only);
    if (stats.has_in) check_degrees(&stats.in, &graph->in, graph->vertices);
    for (uint32_t v = 0; v < graph->vertices; v++) {
        uint64_t out = td_degree(&graph->out, v), in = stats.has_in ? td_degree(&graph->in, v) : 1;
        wanted.sinks += out == 0;
        wanted.sources += in == 0;
        wanted.isolated += out + in == 0;
        for (uint64_t e = graph->out.offsets[v]; e < graph->out.offsets[v + 1]; e++) {
            wanted.loops += graph->out.targets[e] == v;
            wanted.parallel += e > graph->out.offsets[v] && graph->out.targets[e] == graph->out.targets[e - 1];
        }
    }
    CHECK_EQ(stats.sinks, wanted.sinks);
    CHECK_EQ(stats.sources, wanted.sources);
    CHECK_EQ(stats.isolated, wanted.isolated);
    CHECK_EQ(stats.loops, wanted.loops);
    CHECK_EQ(stats.parallel, wanted.parallel);
    CHECK(spec.edges == 0 || (wanted.loops > 0 && wanted.parallel > 0));
    CHECK(stats.average_degree == (graph->vertices > 0 ? (double)graph->edges / graph->vertices : 0));
    td_graph_destroy(graph);
}

TEST(statistics_are_those_of_a_plain_count)
{
    for (int threads = 1; threads <= 8; threads *= 2) {
        check_stats((sample){.vertices = 20000, .edges = 90000, .seed = 1}, threads);
        check_stats((sample){.vertices = 20000, .edges = 90000, .symmetric = true, .seed = 2}, threads);
        check_stats((sample){.vertices = 300, .edges = 9000, .out_only = true, .seed = 3}, threads);
    }
}

TEST(graphs_without_edges_or_vertices_have_statistics)
{
    check_stats((sample){.vertices = 100, .edges = 0}, 2);
    check_stats((sample){.vertices = 0, .edges = 0}, 2);
}

TEST(a_failed_allocation_is_an_error)
{
    td_graph *graph = sample_graph((sample){.vertices = 10, .edges = 10});
    td_graph_stats stats;
    td_alloc_fail_at(1);
    CHECK_STATUS(td_graph_stats_collect(graph, NULL, &stats), TD_NO_MEMORY);
    td_alloc_fail_at(0);
    td_graph_destroy(graph);
}

TEST_MAIN
