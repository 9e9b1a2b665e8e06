/* What the tests of the multi engine's mechanisms share: graphs with all work in one place, and runs whose results are
 * the cpu engine's. */
#ifndef TD_TEST_MULTI_SCENE_H
#define TD_TEST_MULTI_SCENE_H

#include "engine/multi/multi.h"
#include "engine/multi_machines.h"
#include "engine/ways.h"

#include <math.h>

/* Graphs, edge by edge. */

typedef struct scene_edges {
    uint32_t (*ends)[2];
    uint64_t count, room;
} scene_edges;

static inline void put_edge(scene_edges *edges, uint32_t from, uint32_t to)
{
    if (edges->count == edges->room) {
        edges->room = edges->room * 2 + 64;
        CHECK_OK(TD_RESIZE(&edges->ends, edges->room, "edges of a test"));
    }
    edges->ends[edges->count][0] = from;
    edges->ends[edges->count++][1] = to;
}

static inline td_graph *made_graph(scene_edges *edges, uint64_t vertices, bool symmetrize)
{
    uint32_t *weights = NULL;
    CHECK_OK(TD_NEW(&weights, edges->count + 1, "weights of a test"));
    for (uint64_t e = 0; e < edges->count; e++) weights[e] = 1 + (uint32_t)(td_random_at(5, e) % 40);
    td_graph *graph = test_graph_of(vertices, (const uint32_t(*)[2])edges->ends, weights, edges->count, symmetrize);
    td_free(weights);
    td_free(edges->ends);
    return graph;
}

/* Vertices 0 .. 15 are neighbours of all: block 0 of the vertices, which no partition by ranges divides, has half of all
 * entries of lists. */
static inline td_graph *hubs_graph(uint32_t vertices)
{
    scene_edges edges = {0};
    for (uint32_t hub = 0; hub < 16; hub++)
        for (uint32_t v = hub + 1; v < vertices; v++) put_edge(&edges, hub, v);
    return made_graph(&edges, vertices, true);
}

/* Components of `each` vertices with `degree` random neighbours, one after another; ranges of equal edges are the
 * components, and a search stays in one of them. */
static inline td_graph *islands_graph(uint32_t islands, uint32_t each, uint32_t degree)
{
    scene_edges edges = {0};
    for (uint32_t v = 0; v < islands * each; v++)
        for (uint32_t i = 0; i < degree; i++)
            put_edge(&edges, v, v / each * each + (uint32_t)(td_random_at(9, v * degree + i) % each));
    return made_graph(&edges, islands * each, true);
}

/* Runs. */

static inline td_run_options multi_options(const char *program, const char *devices)
{
    const td_program_info *info = program_of(program)->info;
    return (td_run_options){.engine = "multi", .devices = devices, .has_source = info->needs_source};
}

/* The result is the cpu engine's: whole numbers exactly, others within float's reach. */
static inline void check_as_cpu(const td_run *run, td_run_options options, const char *settings)
{
    options.engine = "cpu";
    options.devices = NULL;
    td_run *cpu = run_of(run->program->info->name, run->graph, options, settings);
    CHECK_EQ(run->kind, cpu->kind);
    CHECK_EQ(run->edge_count, cpu->edge_count);
    for (uint64_t i = 0; i < run->edge_count; i++) CHECK_EQ(run->edges[i], cpu->edges[i]);
    for (uint32_t v = 0; v < run->graph->vertices && run->edge_count == 0; v++) {
        if (run->kind == TD_VALUE_U32) {
            CHECK_EQ(((const uint32_t *)run->values)[v], ((const uint32_t *)cpu->values)[v]);
            continue;
        }
        bool wide = run->kind == TD_VALUE_F64;
        double a = wide ? ((const double *)run->values)[v] : (double)((const float *)run->values)[v];
        double b = wide ? ((const double *)cpu->values)[v] : (double)((const float *)cpu->values)[v];
        if (!(fabs(a - b) <= 1e-4 * (fabs(b) + 1e-6))) TEST_FAIL("vertex %u has %g, on the cpu %g", v, a, b);
    }
    td_run_destroy(cpu);
}

static inline uint64_t stolen_in(const td_run *run, const char *direction)
{
    uint64_t stolen = 0;
    for (uint32_t i = 0; i < run->row_count; i++)
        if (strcmp(run->rows[i].direction, direction) == 0) stolen += run->full_rows[i].edges_stolen;
    return stolen;
}

/* The GPUs' edges are together those that the frontier has, in every iteration. */
static inline void check_all_edges(const td_run *run)
{
    for (uint32_t i = 0; i < run->row_count; i++)
        if (run->rows[i].edges != run->rows[i].active_edges)
            TEST_FAIL("%s, iteration %u (%s): %" PRIu64 " active edges, %" PRIu64 " processed",
                      run->program->info->name, i, run->rows[i].direction, run->rows[i].active_edges,
                      run->rows[i].edges);
}

#endif
