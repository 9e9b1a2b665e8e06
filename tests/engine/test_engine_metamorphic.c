/* Metamorphic checks: a graph is changed in a way whose effect on the result is
 * known, and both are run. Nothing is compared with a reference here. */
#include "engine/ways.h"

#include <math.h>

#define SHARED "cpu.serial=0 cpu.high_degree=8 cpu.piece=5"

typedef struct edit {
    td_edge_list *list;
    td_edge_chunk *chunk;
    bool weighted;
} edit;

static edit edit_begin(uint64_t vertices, bool weighted)
{
    edit self = {.weighted = weighted};
    CHECK_OK(td_edges_create(&self.list, "edited graph"));
    CHECK_OK(td_edges_chunk(self.list, 0, &self.chunk));
    self.list->declared = true;
    self.list->vertices = vertices;
    self.list->weighted = weighted;
    return self;
}

static void edit_put(edit *self, uint32_t source, uint32_t target, uint32_t weight)
{
    if (self->chunk->count == self->chunk->room)
        CHECK_OK(td_chunk_reserve(self->chunk, self->chunk->room * 2 + 64, self->weighted));
    CHECK_OK(td_chunk_put(self->chunk, source, target));
    if (self->weighted) td_chunk_weight_integer(self->chunk, false, weight);
}

static td_graph *edit_end(edit *self)
{
    td_graph *graph = NULL;
    CHECK_OK(td_graph_build(&graph, self->list, &(td_build_options){0}, NULL));
    td_edges_destroy(self->list);
    return graph;
}

/* For every edge of a graph: source u, target v, position e. */
#define FOR_EDGES(graph)                             \
    for (uint32_t u = 0; u < (graph)->vertices; u++) \
        for (uint64_t e = (graph)->out.offsets[u], v; \
             e < (graph)->out.offsets[u + 1] && (v = (graph)->out.targets[e], true); e++)

static uint32_t weight_of(const td_graph *graph, uint64_t e)
{
    return graph->weights == TD_WEIGHT_NONE ? 1 : (uint32_t)td_weight_at(graph, &graph->out, e);
}

/* Vertex numbers v * stride mod n, the stride having no factor in common with n. */
static uint32_t moved(const td_graph *graph, uint32_t v)
{
    uint64_t stride = graph->vertices * 5 / 8 + 1, a, b;
    for (;; stride++) {
        for (a = stride, b = graph->vertices; b != 0;) {
            uint64_t rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1) return (uint32_t)(v * stride % graph->vertices);
    }
}

static td_graph *relabelled(const td_graph *graph)
{
    edit self = edit_begin(graph->vertices, graph->weights != TD_WEIGHT_NONE);
    FOR_EDGES(graph) edit_put(&self, moved(graph, u), moved(graph, (uint32_t)v), weight_of(graph, e));
    return edit_end(&self);
}

static td_graph *reversed(const td_graph *graph)
{
    edit self = edit_begin(graph->vertices, graph->weights != TD_WEIGHT_NONE);
    FOR_EDGES(graph) edit_put(&self, (uint32_t)v, u, weight_of(graph, e));
    return edit_end(&self);
}

static double value_at(const td_run *run, uint32_t v)
{
    if (run->kind == TD_VALUE_U32) return (double)((const uint32_t *)run->values)[v];
    return run->kind == TD_VALUE_F32 ? (double)((const float *)run->values)[v] : ((const double *)run->values)[v];
}

static td_run *run_plain(const char *program, const td_graph *graph, uint32_t source, td_pool *pool)
{
    const td_program *found = program_of(program);
    td_run_options options = {.pool = pool, .has_source = found->info->needs_source, .source = source};
    if (found->cpu[0].measure != TD_MEASURE_NONE) options.has_iterations = true, options.iterations = 8;
    return run_of(program, graph, options, SHARED);
}

static const char *const odd_graphs[] = {"web", "multigraph", "heavy stars", "two components", "uniform"};
enum { ODD_GRAPHS = 5 };

TEST(numbering_the_vertices_otherwise_moves_the_values_along)
{
    static const char *const programs[] = {"bfs", "sssp", "kcore", "pagerank", "nn"};
    pools threads = make_pools();
    for (int g = 0; g < ODD_GRAPHS; g++) {
        td_graph *graph = test_graph(test_graph_named(odd_graphs[g]), TEST_U8, NULL), *other = relabelled(graph);
        uint32_t source = busiest(graph);
        for (int p = 0; p < 5; p++) {
            td_pool *pool = threads.of[(g + p) % WAY_THREADS];
            td_run *run = run_plain(programs[p], graph, source, pool),
                   *twin = run_plain(programs[p], other, moved(graph, source), pool);
            for (uint32_t v = 0; v < graph->vertices; v++) {
                double one = value_at(run, v), two = value_at(twin, moved(graph, v));
                if (fabs(one - two) > (run->kind == TD_VALUE_U32 ? 0 : 1e-5 * fabs(one) + 1e-8))
                    TEST_FAIL("%s on %s: %g becomes %g", programs[p], odd_graphs[g], one, two);
            }
            td_run_destroy(run);
            td_run_destroy(twin);
        }
        td_graph_destroy(graph);
        td_graph_destroy(other);
    }
    destroy_pools(&threads);
}

TEST(numbering_the_vertices_otherwise_keeps_components_and_the_forests_weight)
{
    for (int g = 0; g < ODD_GRAPHS; g++) {
        td_graph *graph = test_graph(test_graph_named(odd_graphs[g]), TEST_TIES, NULL), *other = relabelled(graph);
        td_run *run = run_plain("wcc", graph, 0, NULL), *twin = run_plain("wcc", other, 0, NULL);
        const uint32_t *labels = run->values, *others = twin->values;
        for (uint32_t v = 0; v < graph->vertices; v++)
            CHECK_EQ(others[moved(graph, v)], others[moved(graph, labels[v])]);
        td_run_destroy(run);
        td_run_destroy(twin);
        run = run_plain("mst", graph, 0, NULL);
        twin = run_plain("mst", other, 0, NULL);
        CHECK(run->total_weight == twin->total_weight);
        CHECK_EQ(run->edge_count, twin->edge_count);
        td_run_destroy(run);
        td_run_destroy(twin);
        td_graph_destroy(graph);
        td_graph_destroy(other);
    }
}

/* Runs every program on both; integers must agree exactly. */
static void check_same(const td_graph *graph, const td_graph *other, const char *const *programs)
{
    for (; *programs != NULL; programs++) {
        td_run *run = run_plain(*programs, graph, busiest(graph), NULL),
               *twin = run_plain(*programs, other, busiest(graph), NULL);
        for (uint32_t v = 0; v < graph->vertices; v++) {
            double one = value_at(run, v), two = value_at(twin, v);
            if (fabs(one - two) > (run->kind == TD_VALUE_U32 ? 0 : 1e-5 * fabs(one) + 1e-8))
                TEST_FAIL("%s on %s: vertex %u has %g, then %g", *programs, graph->name, v, one, two);
        }
        td_run_destroy(run);
        td_run_destroy(twin);
    }
}

TEST(turning_the_edges_of_a_symmetric_graph_round_changes_nothing)
{
    static const char *const names[] = {"grid 30x40", "small world", "multigraph, symmetric", "rmat 10, clean"};
    static const char *const all[] = {"bfs", "sssp", "wcc", "labels", "kcore", "mst", "pagerank", "adsorption", "nn",
                                      "heat", "circuit", NULL};
    for (int g = 0; g < 4; g++) {
        td_graph *graph = test_graph(test_graph_named(names[g]), TEST_U8, NULL), *other = reversed(graph);
        CHECK(other->symmetric);
        check_same(graph, other, all);
        td_graph_destroy(graph);
        td_graph_destroy(other);
    }
}

TEST(the_undirected_view_does_not_care_which_way_edges_point)
{
    static const char *const undirected[] = {"wcc", "labels", "kcore", "heat", "circuit", NULL};
    for (int g = 0; g < ODD_GRAPHS; g++) {
        td_graph *graph = test_graph(test_graph_named(odd_graphs[g]), TEST_U8, NULL), *other = reversed(graph);
        check_same(graph, other, undirected);
        td_run *run = run_plain("mst", graph, 0, NULL), *twin = run_plain("mst", other, 0, NULL);
        CHECK(run->total_weight == twin->total_weight);
        td_run_destroy(run);
        td_run_destroy(twin);
        td_graph_destroy(graph);
        td_graph_destroy(other);
    }
}

TEST(an_edge_split_into_halves_leaves_the_distances)
{
    pools threads = make_pools();
    for (int g = 0; g < ODD_GRAPHS; g++) {
        td_graph *graph = test_graph(test_graph_named(odd_graphs[g]), TEST_U8, NULL);
        edit whole = edit_begin(graph->vertices, true), halves = edit_begin(graph->vertices + graph->edges, true);
        FOR_EDGES(graph)
        {
            uint32_t middle = (uint32_t)(graph->vertices + e);
            edit_put(&whole, u, (uint32_t)v, 2 * weight_of(graph, e));
            edit_put(&halves, u, middle, weight_of(graph, e));
            edit_put(&halves, middle, (uint32_t)v, weight_of(graph, e));
        }
        td_graph *one = edit_end(&whole), *two = edit_end(&halves);
        td_pool *pool = threads.of[g % WAY_THREADS];
        td_run *run = run_plain("sssp", one, busiest(graph), pool),
               *twin = run_plain("sssp", two, busiest(graph), pool);
        CHECK(memcmp(run->values, twin->values, graph->vertices * sizeof(uint32_t)) == 0);
        td_run_destroy(run);
        td_run_destroy(twin);
        run = run_plain("bfs", one, busiest(graph), pool);
        twin = run_plain("bfs", two, busiest(graph), pool);
        const uint32_t *levels = run->values, *twice = twin->values;
        for (uint32_t v = 0; v < graph->vertices; v++)
            CHECK_EQ(twice[v], levels[v] == TD_UNREACHED ? TD_UNREACHED : 2 * levels[v]);
        td_run_destroy(run);
        td_run_destroy(twin);
        td_graph_destroy(graph);
        td_graph_destroy(one);
        td_graph_destroy(two);
    }
    destroy_pools(&threads);
}

TEST(weights_three_times_as_large_give_distances_three_times_as_long)
{
    for (int g = 0; g < ODD_GRAPHS; g++) {
        td_graph *graph = test_graph(test_graph_named(odd_graphs[g]), TEST_U8, NULL);
        edit self = edit_begin(graph->vertices, true);
        FOR_EDGES(graph) edit_put(&self, u, (uint32_t)v, 3 * weight_of(graph, e));
        td_graph *other = edit_end(&self);
        td_run *run = run_plain("sssp", graph, busiest(graph), NULL),
               *twin = run_plain("sssp", other, busiest(graph), NULL);
        const uint32_t *distances = run->values, *longer = twin->values;
        for (uint32_t v = 0; v < graph->vertices; v++)
            CHECK_EQ(longer[v], distances[v] == TD_UNREACHED ? TD_UNREACHED : 3 * distances[v]);
        td_run_destroy(run);
        td_run_destroy(twin);
        run = run_plain("mst", graph, 0, NULL);
        twin = run_plain("mst", other, 0, NULL);
        CHECK_EQ(run->edge_count, twin->edge_count);
        CHECK(memcmp(run->edges, twin->edges, run->edge_count * sizeof *run->edges) == 0);
        CHECK(twin->total_weight == 3 * run->total_weight);
        td_run_destroy(run);
        td_run_destroy(twin);
        td_graph_destroy(graph);
        td_graph_destroy(other);
    }
}

TEST(every_edge_twice_doubles_the_cores_and_leaves_ways_and_ranks)
{
    static const char *const unchanged[] = {"bfs", "sssp", "wcc", "pagerank", "adsorption", NULL};
    for (int g = 0; g < ODD_GRAPHS; g++) {
        td_graph *graph = test_graph(test_graph_named(odd_graphs[g]), TEST_U8, NULL);
        edit self = edit_begin(graph->vertices, true);
        FOR_EDGES(graph)
        for (int copies = 0; copies < 2; copies++) edit_put(&self, u, (uint32_t)v, weight_of(graph, e));
        td_graph *other = edit_end(&self);
        check_same(graph, other, unchanged);
        td_run *run = run_plain("kcore", graph, 0, NULL), *twin = run_plain("kcore", other, 0, NULL);
        const uint32_t *cores = run->values, *doubled = twin->values;
        for (uint32_t v = 0; v < graph->vertices; v++) CHECK_EQ(doubled[v], 2 * cores[v]);
        td_run_destroy(run);
        td_run_destroy(twin);
        td_graph_destroy(graph);
        td_graph_destroy(other);
    }
}

TEST(heat_and_the_sum_of_ranks_are_conserved)
{
    for (int g = 0; g < ODD_GRAPHS; g++) {
        td_graph *graph = test_graph(test_graph_named(odd_graphs[g]), TEST_U8, NULL);
        td_run *heat = run_plain("heat", graph, 0, NULL), *ranks = run_plain("pagerank", graph, 0, NULL);
        double warmth = 0, rank = 0;
        for (uint32_t v = 0; v < graph->vertices; v++) {
            warmth += value_at(heat, v);
            rank += value_at(ranks, v);
        }
        CHECK(fabs(warmth - 100) < 1e-3);
        CHECK(fabs(rank - 1) < 1e-5);
        td_run_destroy(heat);
        td_run_destroy(ranks);
        td_graph_destroy(graph);
    }
}

TEST_MAIN
