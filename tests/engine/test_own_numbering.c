/* An order of vertices is not another problem: every program on every engine finds the
 * same values under the same names, whatever the order in memory. */
#include "engine/drawn.h"

#include "layout/reorder.h"

static const task tasks[] = {
    {"bfs", 0, true},        {"sssp", 0, true},      {"wcc", 0, true},   {"labels", 0, true}, {"labels", 1, true},
    {"labels", 2, true},     {"kcore", 0, true},     {"mst", 0, true},   {"pagerank", 6, false},
    {"adsorption", 6, false}, {"nn", 4, false},      {"heat", 6, false}, {"circuit", 12, false},
};
enum { TASKS = sizeof tasks / sizeof *tasks };

/* Labels before the end: the resident engine shows an iteration those of the one before, others may change them in
 * their place, where they depend on the order of work. */
static bool under_way(const task *what) { return strcmp(what->program, "labels") == 0 && what->iterations > 0; }

static void check_orders(drawing how, const place *where)
{
    const char *gpu = narrow_gpu();
    td_graph *graph = drawn(how);
    td_run *wanted[TASKS];
    for (int t = 0; t < TASKS; t++)
        wanted[t] = run_at(&places[under_way(&tasks[t]) ? RESIDENT : CPU], &tasks[t], graph, NULL, gpu);
    for (int order = TD_ORDER_NONE + 1; order < TD_ORDERS; order++) {
        char text[64];
        snprintf(text, sizeof text, "order %s on %s%s", td_order_name((td_order)order), where->engine,
                 where->on_disk ? " from disk" : "");
        td_graph *other = drawn(how);
        CHECK_OK(td_graph_reorder(&other, (td_order)order, 3, NULL));
        td_graph *taken = as_taken(where, other);
        for (int t = 0; t < TASKS; t++) {
            if (under_way(&tasks[t]) && strcmp(where->engine, "resident") != 0) continue;
            td_run *seen = run_at(where, &tasks[t], taken, NULL, gpu);
            compare(wanted[t], seen, tasks[t].everywhere, text);
            td_run_destroy(seen);
        }
        if (taken != other) td_graph_destroy(taken);
        td_graph_destroy(other);
    }
    for (int t = 0; t < TASKS; t++) td_run_destroy(wanted[t]);
    td_graph_destroy(graph);
}

TEST(an_order_changes_no_value_and_no_name_of_a_directed_graph)
{
    for (int p = 0; p < PLACES; p++) check_orders((drawing){.weighted = true}, &places[p]);
}

TEST(an_order_changes_no_value_and_no_name_of_an_undirected_graph)
{
    for (int p = 0; p < PLACES; p++) check_orders((drawing){.weighted = true, .both_ways = true}, &places[p]);
}

/* Paths of several lengths, by several workers at once. */
static td_graph *paths(void)
{
    enum { VERTICES = 100000 };
    td_edge_list *list;
    td_edge_chunk *chunk;
    td_graph *graph = NULL;
    CHECK_OK(td_edges_create(&list, "paths"));
    CHECK_OK(td_edges_chunk(list, 0, &chunk));
    CHECK_OK(td_chunk_reserve(chunk, VERTICES, true));
    list->weighted = list->declared = true;
    list->vertices = VERTICES;
    for (uint32_t v = 0; v + 1 < VERTICES; v++)
        if (v % 9973 % 977 != 0) put_edge(chunk, true, v, v + 1, v + 1);
    CHECK_OK(td_graph_build(&graph, list, NULL, NULL));
    td_edges_destroy(list);
    return graph;
}

TEST(several_workers_name_groups_as_one_does)
{
    static const char *const programs[] = {"wcc", "labels", "mst"};
    td_pool *pool;
    CHECK_OK(td_pool_create(&pool, 4));
    td_graph *graph = paths(), *other = paths();
    CHECK_OK(td_graph_reorder(&other, TD_ORDER_RANDOM, 5, pool));
    for (int p = 0; p < 3; p++) {
        const task what = {programs[p], 0, true};
        td_run *wanted = run_at(&places[CPU], &what, graph, NULL, NULL);
        td_run *seen = run_at(&places[CPU], &what, other, pool, NULL);
        compare(wanted, seen, true, "a random order and four threads");
        td_run_destroy(wanted);
        td_run_destroy(seen);
    }
    td_graph_destroy(graph);
    td_graph_destroy(other);
    td_pool_destroy(pool);
}

TEST(the_first_and_the_last_vertex_are_those_of_the_ids)
{
    td_graph *graph = drawn((drawing){.weighted = true}), *other = drawn((drawing){.weighted = true});
    uint32_t last = graph->vertices - 1;
    CHECK_OK(td_graph_reorder(&other, TD_ORDER_RANDOM, 9, NULL));
    CHECK_EQ(td_graph_first(graph), 0);
    CHECK_EQ(td_graph_last_but(graph, 0), last);
    CHECK_EQ(td_graph_last_but(graph, last), last - 1);
    CHECK_EQ(td_graph_id(other, td_graph_first(other)), td_graph_id(graph, 0));
    uint32_t end = td_graph_last_but(other, td_graph_first(other));
    CHECK_EQ(td_graph_id(other, end), td_graph_id(graph, last));
    CHECK_EQ(td_graph_id(other, td_graph_last_but(other, end)), td_graph_id(graph, last - 1));
    uint32_t *order, *spare;
    CHECK_OK(TD_NEW(&order, other->vertices, "order"));
    CHECK_OK(TD_NEW(&spare, other->vertices, "order"));
    td_graph_own_order(other, order, spare);
    for (uint32_t i = 0; i < other->vertices; i++) CHECK_EQ(td_graph_id(other, order[i]), td_graph_id(graph, i));
    td_free(order);
    td_free(spare);
    td_graph_destroy(graph);
    td_graph_destroy(other);
}

TEST(one_vertex_is_first_and_last)
{
    static uint64_t ids[] = {7};
    td_graph alone = {.vertices = 1, .ids = ids}, plain = {.vertices = 1};
    CHECK_EQ(td_graph_first(&alone), 0);
    CHECK_EQ(td_graph_last_but(&alone, 0), 0);
    CHECK_EQ(td_graph_last_but(&plain, 0), 0);
}

TEST_MAIN
