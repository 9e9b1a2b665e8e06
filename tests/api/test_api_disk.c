/* The API on graphs larger than the memory budget: their edges stay on disk, and nothing else changes. */
#include "map.h"

enum { SIDE = 500, VERTICES = SIDE * SIDE, ROADS = 4 * SIDE * (SIDE - 1) }; /* a grid of streets, both ways */

static td_status save_city(td_session *session, const char *path)
{
    uint64_t *ends = NULL, count = 0;
    uint32_t *minutes = NULL;
    td_graph *graph = NULL;
    CHECK_OK(TD_NEW(&ends, ROADS, "ends"));
    CHECK_OK(TD_NEW(&minutes, ROADS / 2, "minutes"));
    uint64_t *to = ends + ROADS / 2;
    for (uint64_t v = 0; v < VERTICES; v++)
        for (int down = 0; down < 2; down++) {
            if (down ? v / SIDE + 1 == SIDE : v % SIDE + 1 == SIDE) continue;
            ends[count] = v;
            to[count] = v + (down ? SIDE : 1);
            minutes[count] = (uint32_t)(1 + v * 7 % 11);
            count++;
        }
    td_edges roads = {.size = sizeof roads, .count = count, .sources = ends, .targets = to, .whole_weights = minutes};
    td_graph_options both = {.size = sizeof both, .symmetrize = true};
    td_status status = td_graph_from_edges(session, &roads, &both, &graph);
    if (status == TD_OK) status = td_graph_save(session, graph, path, NULL);
    td_graph_destroy(graph);
    td_free(ends);
    td_free(minutes);
    return status;
}

static td_graph *opened(td_session *session, const char *path, td_place place)
{
    td_graph *graph = NULL;
    td_graph_options options = {.size = sizeof options, .edges = place};
    CHECK_OK(td_graph_open(session, path, &options, &graph));
    return graph;
}

static const char *city_of(td_session *session)
{
    const char *path = test_path("city.tg");
    CHECK_OK(save_city(session, path));
    return path;
}

TEST(edges_stay_on_disk_where_they_do_not_fit_the_budget)
{
    td_session *session = session_of(2);
    const char *path = city_of(session);
    td_graph *graph = opened(session, path, TD_PLACE_DEFAULT);
    CHECK(!td_graph_on_disk(graph));
    td_graph_destroy(graph);
    td_memory_set_budget(td_memory_held() + (8 << 20));
    graph = opened(session, path, TD_PLACE_DEFAULT);
    CHECK(td_graph_on_disk(graph));
    td_graph_destroy(graph);
    td_graph_options options = {.size = sizeof options, .edges = TD_PLACE_MEMORY};
    td_memory_set_budget(td_memory_held() + (4 << 20));
    CHECK_STATUS(td_graph_open(session, path, &options, &graph), TD_NO_MEMORY);
    td_memory_set_budget(0);
    graph = opened(session, path, TD_PLACE_DISK);
    CHECK(td_graph_on_disk(graph));
    td_graph_destroy(graph);
    td_session_destroy(session);
}

static td_result *run_on(td_session *session, const td_graph *graph, const char *program)
{
    td_result *result = NULL;
    bool source = strcmp(program, "sssp") == 0 || strcmp(program, "bfs") == 0;
    td_request request = {.size = sizeof request, .has_source = source, .source = 17, .parents = source};
    CHECK_OK(td_session_run(session, graph, program, &request, &result));
    return result;
}

TEST(programs_find_the_same_on_disk_within_the_budget_and_are_checked_there)
{
    static const char *const programs[] = {"bfs", "sssp", "wcc", "kcore", "mst", "pagerank"};
    td_session *session = session_of(2);
    const char *path = city_of(session);
    td_graph *graph = opened(session, path, TD_PLACE_MEMORY);
    for (int i = 0; i < 6; i++) {
        td_result *wanted = run_on(session, graph, programs[i]), *result = NULL;
        uint64_t forest, found;
        const uint64_t *edges = td_result_edges(wanted, &forest), budget = td_memory_held() + (25 << 20);
        td_memory_set_budget(budget);
        td_graph *disk = opened(session, path, TD_PLACE_DISK);
        result = run_on(session, disk, programs[i]);
        CHECK_OK(td_result_verify(session, result));
        for (uint32_t v = 0; v < VERTICES; v++) {
            double one = 0, two = 0;
            CHECK_EQ(td_result_value(result, v, &one), td_result_value(wanted, v, &two));
            if (one - two > 1e-6 * two || two - one > 1e-6 * two)
                TEST_FAIL("%s: vertex %u has %g, not %g", programs[i], v, one, two);
        }
        const uint64_t *seen = td_result_edges(result, &found);
        CHECK_EQ(found, forest);
        for (uint64_t e = 0; e < forest; e++) CHECK_EQ(seen[e], edges[e]);
        const td_iteration *row = td_result_iteration(result, 0);
        CHECK(td_iteration_counter(row, "disk_bytes") > 0 || td_iteration_counter(row, "page_hits") > 0);
        CHECK(td_iteration_counter(row, "edges_gpu") == 0);
        CHECK(td_iteration_counter(row, "no such counter") == 0);
        CHECK(td_memory_held() <= budget);
        td_result_destroy(result);
        td_graph_destroy(disk);
        td_memory_set_budget(0);
        td_result_destroy(wanted);
    }
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(a_plan_says_what_is_read)
{
    td_session *session = session_of(1);
    td_graph *graph = opened(session, city_of(session), TD_PLACE_DISK);
    td_plan *plan = NULL;
    CHECK_OK(td_session_plan(session, graph, "pagerank", NULL, &plan));
    CHECK(td_plan_fits(plan)); /* there is no limit */
    td_plan_destroy(plan);
    td_memory_set_budget(td_memory_held() + (6 << 20));
    CHECK_OK(td_session_plan(session, graph, "pagerank", NULL, &plan));
    td_memory_set_budget(0);
    CHECK_STR(td_plan_engine(plan), "hybrid");
    CHECK(td_plan_counter(plan, "disk_bytes_per_iteration") > 0);
    CHECK(td_plan_counter(plan, "room_bytes") > 0);
    td_plan_destroy(plan);
    td_request request = {.size = sizeof request, .engine = "cpu"};
    td_result *result = NULL;
    CHECK_STATUS(td_session_run(session, graph, "pagerank", &request, &result), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "stay on disk");
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(single_lists_and_edges_are_read_from_disk)
{
    td_session *session = session_of(1);
    const char *path = city_of(session);
    td_graph *graph = opened(session, path, TD_PLACE_MEMORY), *disk = opened(session, path, TD_PLACE_DISK);
    uint64_t count = 1, first;
    CHECK(td_graph_targets(disk, 5, &count, NULL) == NULL);
    CHECK_EQ(count, 0);
    for (uint32_t v = 0; v < VERTICES; v += 997) {
        uint32_t targets[4];
        const uint32_t *wanted = td_graph_targets(graph, v, &count, &first);
        CHECK_EQ(td_graph_degree(disk, v), count);
        CHECK_OK(td_graph_read_targets(disk, v, targets));
        CHECK(memcmp(targets, wanted, count * sizeof *targets) == 0);
        CHECK_OK(td_graph_read_targets(graph, v, targets));
        CHECK(memcmp(targets, wanted, count * sizeof *targets) == 0);
        td_edge one, two;
        CHECK_OK(td_graph_edge(disk, first + count - 1, &one));
        CHECK_OK(td_graph_edge(graph, first + count - 1, &two));
        CHECK_EQ(one.source, v);
        CHECK_EQ(one.target, two.target);
        CHECK(one.weight == two.weight);
    }
    CHECK_STATUS(td_graph_read_targets(disk, VERTICES, NULL), TD_INVALID);
    CHECK_EQ(td_graph_degree(disk, VERTICES), 0);
    td_graph_destroy(disk);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(the_edges_of_a_forest_are_known_without_reading)
{
    td_session *session = session_of(2);
    td_graph *disk = opened(session, city_of(session), TD_PLACE_DISK);
    td_result *result = run_on(session, disk, "mst");
    uint64_t count;
    const uint64_t *edges = td_result_edges(result, &count);
    double total = 0;
    CHECK_EQ(count, VERTICES - 1);
    for (uint64_t i = 0; i < count; i++) {
        td_edge edge, same;
        CHECK_OK(td_result_edge(result, i, &edge));
        total += edge.weight;
        if (i % 9973 != 0) continue;
        CHECK_OK(td_graph_edge(disk, edges[i], &same));
        CHECK_EQ(edge.source, same.source);
        CHECK_EQ(edge.target, same.target);
        CHECK(edge.weight == same.weight);
    }
    CHECK(total == td_result_total_weight(result));
    td_edge edge;
    CHECK_STATUS(td_result_edge(result, count, &edge), TD_INVALID);
    td_result_destroy(result);
    td_graph_destroy(disk);
    td_session_destroy(session);
}

TEST(a_graph_on_disk_is_copied_as_it_is)
{
    td_session *session = session_of(2);
    td_graph *disk = opened(session, city_of(session), TD_PLACE_DISK), *copy = NULL;
    CHECK_OK(td_graph_save(session, disk, test_path("copy.tg"), NULL));
    CHECK_OK(td_graph_open(session, test_path("copy.tg"), NULL, &copy));
    CHECK_EQ(td_graph_edges(copy), td_graph_edges(disk));
    CHECK_STATUS(td_graph_save(session, disk, test_path("copy.el"), NULL), TD_UNSUPPORTED);
    CHECK_CONTAINS(td_last_message(), "stay on disk");
    td_graph_destroy(copy);
    td_graph_destroy(disk);
    td_session_destroy(session);
}

TEST(what_cannot_stay_on_disk_is_refused)
{
    td_session *session = session_of(1);
    td_graph *graph = NULL;
    const char *text = test_path("text.el"), *path = city_of(session);
    test_write_file(text, "1 2\n", 4);
    td_graph_options options = {.size = sizeof options, .edges = TD_PLACE_DISK};
    CHECK_STATUS(td_graph_open(session, text, &options, &graph), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "is no .tg");
    CHECK_STATUS(td_graph_from_edges(session, &map_edges, &options, &graph), TD_USAGE);
    options.drop_loops = true;
    CHECK_STATUS(td_graph_open(session, path, &options, &graph), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "to be changed");
    options = (td_graph_options){.size = sizeof options, .edges = (td_place)9};
    CHECK_STATUS(td_graph_open(session, path, &options, &graph), TD_INVALID);
    CHECK_STATUS(td_graph_open(session, test_path("absent.tg"), NULL, &graph), TD_IO);
    td_session_destroy(session);
}

TEST_MAIN
