/* What the tests of orders and of weights share: graphs drawn with ids in no order, every
 * engine as a place to run at, and comparisons of results by original ids. */
#ifndef TD_TEST_DRAWN_H
#define TD_TEST_DRAWN_H

#include "engine/ways.h"

#include "run/result.h"
#include "run/verify_run.h"
#include "store/packed.h"
#include "store/paged.h"

#include <math.h>

/* Edges by ids that are sparse and in no order, and vertices without edges. Weights are all different, so that there is
 * one minimum spanning forest; the two directions of an edge have one weight, or `apart` two. */
enum { PARTS = 3, PART_VERTICES = 120, PART_EDGES = 800, ALONE = 6, MOST_IDS = PARTS * PART_VERTICES + ALONE };

typedef struct drawing {
    bool both_ways, apart, weighted, twice;
} drawing;

static inline uint64_t id_of(uint64_t i) { return 1000 + i * 7919 % 50021; }

static inline void put_edge(td_edge_chunk *chunk, bool weighted, uint64_t source, uint64_t target, uint32_t weight)
{
    CHECK_OK(td_chunk_put(chunk, source, target));
    if (weighted) td_chunk_weight_integer(chunk, false, weight);
}

static inline td_edge_list *drawn_edges(drawing how)
{
    td_edge_list *list;
    td_edge_chunk *chunk;
    uint64_t random = 12345;
    CHECK_OK(td_edges_create(&list, "drawn graph"));
    CHECK_OK(td_edges_chunk(list, 0, &chunk));
    CHECK_OK(td_chunk_reserve(chunk, 8 * PARTS * PART_EDGES, how.weighted));
    list->weighted = how.weighted;
    for (uint32_t e = 0; e < PARTS * PART_EDGES / (how.both_ways ? 2u : 1u); e++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        uint64_t part = e % PARTS, a = random >> 33, b = random >> 45;
        a = id_of(PARTS * (a % PART_VERTICES) + part);
        b = id_of(PARTS * (b % PART_VERTICES) + part);
        for (int copy = 0; copy < (how.twice ? 2 : 1); copy++) {
            uint32_t weight = 1 + 2 * ((e * 37 + 11) % (PARTS * PART_EDGES)) + (copy ? 10000 : 0);
            put_edge(chunk, how.weighted, a, b, weight);
            if (how.both_ways && a != b) put_edge(chunk, how.weighted, b, a, weight + how.apart);
        }
    }
    CHECK_OK(TD_NEW(&list->listed, ALONE, "vertices without edges"));
    list->listed_count = ALONE;
    for (uint64_t i = 0; i < ALONE; i++) list->listed[i] = id_of(PARTS * PART_VERTICES + i);
    return list;
}

static inline td_graph *drawn(drawing how)
{
    td_graph *graph = NULL;
    td_edge_list *list = drawn_edges(how);
    CHECK_OK(td_graph_build(&graph, list, NULL, NULL));
    td_edges_destroy(list);
    CHECK(graph->ids != NULL && graph->ids_sorted);
    return graph;
}

/* Engines. */

typedef struct place {
    const char *engine, *settings;
    bool gpu, on_disk;
    double gpu_edges;
} place;

static const place places[] = {
    {.engine = "cpu", .settings = ""},
    {.engine = "resident", .settings = "", .gpu = true},
    {.engine = "stream", .settings = "stream.subgraph=128", .gpu = true, .gpu_edges = 13000},
    {.engine = "coop", .settings = "coop.invoke=always coop.order=hot", .gpu = true, .gpu_edges = 0.3},
    {.engine = "hybrid", .settings = ""},
    {.engine = "hybrid", .settings = "", .on_disk = true},
};
enum { CPU, RESIDENT, PLACES = sizeof places / sizeof *places };

typedef struct task {
    const char *program;
    uint32_t iterations;
    bool everywhere; /* integers: digests are equal */
} task;

/* A graph as the engine takes it; `graph` itself, or one on disk to be destroyed. */
static inline td_graph *as_taken(const place *where, td_graph *graph)
{
    td_graph *paged = NULL;
    if (!where->on_disk) return graph;
    CHECK_OK(td_packed_write(graph, test_path("orders.tg"), NULL));
    CHECK_OK(td_paged_open(&paged, test_path("orders.tg"), NULL, NULL));
    return paged;
}

static inline td_run *run_at(const place *where, const task *what, const td_graph *graph, td_pool *pool, const char *gpu)
{
    const td_program *program = program_of(what->program);
    const td_program_info *info = program->info;
    td_run_options options = {.pool = pool, .engine = where->engine, .devices = where->gpu ? gpu : NULL,
                              .gpu_edges = where->gpu_edges, .has_iterations = what->iterations > 0,
                              .iterations = what->iterations, .has_source = info->needs_source,
                              .parents = info->gives_parents};
    bool takes_settings = strcmp(where->engine, "coop") != 0 ||
                          (info->renumbers && !(info->vertex_values && options.has_iterations));
    if (info->needs_source) CHECK_OK(td_graph_find(graph, id_of(4), &options.source));
    td_run *run = run_of(what->program, graph, options, takes_settings ? where->settings : "");
    const char *claims;
    if ((run->converged || !info->vertex_values) && td_run_verify(run, pool, &claims) != TD_OK)
        TEST_FAIL("%s on %s: %s", what->program, where->engine, td_last_message());
    return run;
}

static inline double shown_value(const td_run *run, uint32_t v)
{
    double value;
    if (!td_run_value(run, v, &value)) return INFINITY;
    return run->program->info->vertex_values ? (double)td_graph_id(run->graph, (uint32_t)value) : value;
}

static inline void compare_values(const td_run *wanted, const td_run *seen, const char *how)
{
    for (uint32_t v = 0; v < seen->graph->vertices; v++) {
        uint32_t twin;
        uint64_t id = td_graph_id(seen->graph, v);
        CHECK_OK(td_graph_find(wanted->graph, id, &twin));
        double one = shown_value(wanted, twin), two = shown_value(seen, v);
        bool same = one == two || (seen->kind != TD_VALUE_U32 && fabs(one - two) <= 1e-5 * fabs(one) + 1e-9);
        if (!same)
            TEST_FAIL("%s, %s: vertex %" PRIu64 " has %.9g, and %.9g without an order", seen->program->info->name, how,
                      id, two, one);
    }
}

static inline void compare_tops(const td_run *wanted, const td_run *seen, const char *how)
{
    enum { MOST = 20 };
    td_top *one = NULL, *two = NULL;
    uint64_t ones = 0, twos = 0;
    CHECK_OK(td_run_top(wanted, NULL, MOST, &one, &ones));
    CHECK_OK(td_run_top(seen, NULL, MOST, &two, &twos));
    CHECK_EQ(twos, ones);
    for (uint64_t i = 0; i < ones; i++) {
        uint64_t a = td_graph_id(wanted->graph, one[i].vertex), b = td_graph_id(seen->graph, two[i].vertex);
        if (a != b || one[i].value != two[i].value)
            TEST_FAIL("%s, %s: row %" PRIu64 " of the top is %" PRIu64 ", not %" PRIu64, seen->program->info->name,
                      how, i, b, a);
    }
    td_free(one);
    td_free(two);
}

static inline void compare(const td_run *wanted, const td_run *seen, bool whole, const char *how)
{
    td_run_summary one, two;
    compare_values(wanted, seen, how);
    if (!whole) return;
    compare_tops(wanted, seen, how);
    CHECK_OK(td_run_summarise(wanted, NULL, &one));
    CHECK_OK(td_run_summarise(seen, NULL, &two));
    if (one.digest != two.digest || one.groups != two.groups)
        TEST_FAIL("%s, %s: digest %" PRIx64 " of %" PRIu64 " groups, and %" PRIx64 " of %" PRIu64 " without an order",
                  seen->program->info->name, how, two.digest, two.groups, one.digest, one.groups);
    CHECK(wanted->total_weight == seen->total_weight);
}

#endif
