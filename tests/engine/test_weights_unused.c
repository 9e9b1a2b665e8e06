/* Programs that do not look at weights find what they find without them: weights that
 * differ between the two directions of an edge do not make a graph unsymmetric for them. */
#include "engine/drawn.h"

#include "layout/reorder.h"
#include "store/external.h"

static const task unweighted[] = {{"bfs", 0, true},    {"wcc", 0, true},        {"labels", 0, true},
                                  {"kcore", 0, true},  {"pagerank", 6, false}};
enum { UNWEIGHTED = sizeof unweighted / sizeof *unweighted };

static void check_unweighted(td_graph *graph, const td_graph *plain, const char *where_from)
{
    const char *gpu = narrow_gpu();
    CHECK(!graph->symmetric && graph->pattern_symmetric && graph->weights != TD_WEIGHT_NONE);
    CHECK(plain->symmetric && plain->weights == TD_WEIGHT_NONE);
    for (int p = 0; p < PLACES; p++)
        for (int t = 0; t < UNWEIGHTED; t++) {
            if (graph->paged != NULL && strcmp(places[p].engine, "hybrid") != 0) continue;
            if (graph->paged != NULL && places[p].on_disk) continue;
            td_graph *taken = as_taken(&places[p], graph);
            td_run *wanted = run_at(&places[CPU], &unweighted[t], plain, NULL, gpu);
            td_run *seen = run_at(&places[p], &unweighted[t], taken, NULL, gpu);
            char text[96];
            snprintf(text, sizeof text, "weights that differ by direction, %s, on %s", where_from, places[p].engine);
            compare(wanted, seen, unweighted[t].everywhere, text);
            td_run_destroy(wanted);
            td_run_destroy(seen);
            if (taken != graph) td_graph_destroy(taken);
        }
}

static td_status deliver_drawn(void *context, td_edge_list *edges, td_pool *pool)
{
    (void)pool;
    const drawing *how = context;
    td_edge_list *list = drawn_edges(*how);
    td_edge_chunk *chunk, *from = list->chunks[0];
    edges->weighted = list->weighted;
    CHECK_OK(TD_NEW(&edges->listed, list->listed_count, "vertices without edges"));
    memcpy(edges->listed, list->listed, list->listed_count * sizeof *list->listed);
    edges->listed_count = list->listed_count;
    CHECK_OK(td_edges_chunk(edges, 0, &chunk));
    CHECK_OK(td_chunk_reserve(chunk, from->count, list->weighted));
    for (uint64_t i = 0; i < from->count; i++)
        put_edge(chunk, list->weighted, from->ends[2 * i], from->ends[2 * i + 1], from->weights[i]);
    td_status status = td_edges_deliver(edges, chunk, 0);
    td_edges_destroy(list);
    return status;
}

static void check_apart(drawing how)
{
    drawing bare = {.both_ways = true, .twice = how.twice};
    td_graph *plain = drawn(bare), *graph = drawn(how), *other = NULL;
    check_unweighted(graph, plain, "built");
    CHECK_OK(td_graph_reorder(&graph, TD_ORDER_HOT, 1, NULL));
    check_unweighted(graph, plain, "reordered");
    td_graph_destroy(graph);
    graph = drawn(how);
    CHECK_OK(td_packed_write(graph, test_path("apart.tg"), NULL));
    td_graph_destroy(graph);
    CHECK_OK(td_packed_load(&other, test_path("apart.tg"), NULL));
    check_unweighted(other, plain, "loaded");
    td_graph_destroy(other);
    CHECK_OK(td_packed_map(&other, test_path("apart.tg")));
    check_unweighted(other, plain, "mapped");
    td_graph_destroy(other);
    CHECK_OK(td_paged_open(&other, test_path("apart.tg"), NULL, NULL));
    check_unweighted(other, plain, "on disk");
    td_graph_destroy(other);
    td_graph_destroy(plain);
}

TEST(weights_that_differ_by_direction_change_nothing_for_programs_without_weights)
{
    check_apart((drawing){.weighted = true, .both_ways = true, .apart = true});
}

TEST(parallel_edges_count_as_they_do_without_weights)
{
    check_apart((drawing){.weighted = true, .both_ways = true, .apart = true, .twice = true});
}

TEST(a_graph_built_out_of_memory_is_symmetric_without_its_weights)
{
    drawing how = {.weighted = true, .both_ways = true, .apart = true};
    td_build_options options = {0};
    td_pool *pool;
    td_graph *plain = drawn((drawing){.both_ways = true}), *other = NULL;
    td_external_report report;
    CHECK_OK(td_pool_create(&pool, 1));
    td_external_settings settings = {.path = test_path("outside.tg"), .build = &options,
                                     .memory = UINT64_C(1) << 30, .pool = pool};
    CHECK_OK(td_external_build(&settings, "drawn", deliver_drawn, &how, &report));
    CHECK_OK(td_packed_load(&other, test_path("outside.tg"), NULL));
    check_unweighted(other, plain, "built out of memory");
    td_graph_destroy(other);
    td_graph_destroy(plain);
    td_pool_destroy(pool);
}

/* A ring both ways of more edges than a block of the file has. Near the end one edge goes elsewhere, or two exchange
 * their targets, which leaves all degrees. */
typedef enum flaw { WHOLE, ELSEWHERE, EXCHANGED, FLAWS } flaw;

static td_graph *ring(flaw which)
{
    enum { LENGTH = 40000, ONE = LENGTH - 10, OTHER = LENGTH - 20 };
    td_edge_list *list;
    td_edge_chunk *chunk;
    td_graph *graph = NULL;
    CHECK_OK(td_edges_create(&list, "ring"));
    CHECK_OK(td_edges_chunk(list, 0, &chunk));
    CHECK_OK(td_chunk_reserve(chunk, 2 * LENGTH, true));
    list->weighted = true;
    for (uint32_t v = 0; v < LENGTH; v++) {
        uint32_t back = v;
        if (which == ELSEWHERE && v == ONE) back = v - 1;
        if (which == EXCHANGED && (v == ONE || v == OTHER)) back = v == ONE ? OTHER : ONE;
        put_edge(chunk, true, v, (v + 1) % LENGTH, 1);
        put_edge(chunk, true, (v + 1) % LENGTH, back, 2);
    }
    CHECK_OK(td_graph_build(&graph, list, NULL, NULL));
    td_edges_destroy(list);
    return graph;
}

TEST(a_single_edge_without_its_other_direction_is_seen_in_the_file)
{
    for (int which = WHOLE; which < FLAWS; which++) {
        td_graph *graph = ring((flaw)which), *other = NULL;
        CHECK(!graph->symmetric);
        CHECK_EQ(graph->pattern_symmetric, which == WHOLE);
        CHECK_EQ(graph->pattern != NULL, which == WHOLE);
        CHECK_OK(td_packed_write(graph, test_path("ring.tg"), NULL));
        CHECK_OK(td_packed_load(&other, test_path("ring.tg"), NULL));
        CHECK_EQ(other->pattern_symmetric, which == WHOLE);
        CHECK_EQ(other->pattern != NULL, which == WHOLE);
        td_graph_destroy(other);
        td_graph_destroy(graph);
    }
}

TEST(the_same_edges_with_weights_for_programs_that_use_them)
{
    drawing how = {.weighted = true, .both_ways = true, .apart = true};
    td_graph *graph = drawn(how);
    td_run *run = run_at(&places[CPU], &(task){"sssp", 0, true}, graph, NULL, NULL);
    CHECK(run->graph == graph);
    td_run_destroy(run);
    run = run_at(&places[CPU], &(task){"kcore", 0, true}, graph, NULL, NULL);
    CHECK(run->graph == graph->pattern && run->graph->symmetric);
    td_run_destroy(run);
    td_graph_destroy(graph);
}

static td_status load_and_label(void)
{
    td_graph *graph = NULL;
    td_run *run = NULL;
    td_run_options options = {0};
    td_status status = td_packed_load(&graph, test_path("faults.tg"), NULL);
    if (status == TD_OK) status = td_graph_reorder(&graph, TD_ORDER_RANDOM, 2, NULL);
    if (status == TD_OK) status = td_run_program(&run, program_of("labels"), graph, &options);
    td_run_destroy(run);
    run = NULL;
    if (status == TD_OK) status = td_run_program(&run, program_of("wcc"), graph, &options);
    td_run_destroy(run);
    td_graph_destroy(graph);
    return status;
}

/* Fails each allocation in turn until the call gets through. */
TEST(memory_that_runs_out_is_an_error_and_no_leak)
{
    td_graph *graph = drawn((drawing){.weighted = true, .both_ways = true, .apart = true});
    CHECK_OK(td_packed_write(graph, test_path("faults.tg"), NULL));
    td_graph_destroy(graph);
    uint64_t held = td_memory().now, nth = 1;
    for (td_status status = TD_NO_MEMORY; status != TD_OK; nth++) {
        td_alloc_fail_at(nth);
        status = load_and_label();
        td_alloc_fail_at(0);
        CHECK_EQ(td_memory().now, held);
        CHECK(status == TD_OK || status == TD_NO_MEMORY);
    }
    CHECK(nth > 10);
}

TEST_MAIN
