/* Prepared layouts and figures of paths by the public API. */
#include "tandem.h"
#include "test.h"

__attribute__((constructor)) static void choose_cache(void) { setenv("XDG_CACHE_HOME", test_folder(), 1); }

static td_session *session_new(void)
{
    td_session *session = NULL;
    CHECK_OK(td_session_create(2, &session));
    return session;
}

static td_graph *web(td_session *session, const char *name)
{
    td_graph *graph = NULL;
    td_generation kind = {.size = sizeof kind, .kind = "web", .vertices = 3000, .degree = 6};
    td_graph *made = NULL;
    CHECK_OK(td_file_generate(session, &kind, test_path(name), NULL, NULL, NULL, &made));
    td_graph_destroy(made);
    CHECK_OK(td_graph_open(session, test_path(name), NULL, &graph));
    return graph;
}

TEST(a_layout_is_made_once_found_and_removed)
{
    td_session *session = session_new();
    td_graph *graph = web(session, "g.tg");
    td_prepared made = {.size = sizeof made}, found = {.size = sizeof found};
    td_paths_info info = {.size = sizeof info};
    CHECK_STATUS(td_prepared_find(test_path("g.tg"), 0, &found), TD_NOT_FOUND);
    CHECK_OK(td_graph_prepare(session, graph, "paths", NULL, &made));
    CHECK(made.made && made.matches);
    CHECK_STR(made.layout, "paths");
    CHECK_STR(made.path, test_path("g.tg.paths"));
    CHECK_OK(td_graph_prepare(session, graph, "paths", NULL, &made));
    CHECK(!made.made && made.bytes > 0);
    CHECK_OK(td_prepared_find(test_path("g.tg"), 0, &found));
    CHECK_EQ(found.bytes, made.bytes);
    CHECK_STATUS(td_prepared_find(test_path("g.tg"), 1, &found), TD_NOT_FOUND);
    CHECK_OK(td_graph_paths_info(session, graph, NULL, &info));
    CHECK(info.prepared);
    CHECK_EQ(info.paths, info.bound_one_pass);
    CHECK_OK(td_prepared_remove(test_path("g.tg"), "paths"));
    CHECK_STATUS(td_prepared_remove(test_path("g.tg"), "paths"), TD_NOT_FOUND);
    CHECK_OK(td_graph_paths_info(session, graph, NULL, &info));
    CHECK(!info.prepared);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

/* "stream:sssp" and "coop:bfs": what the program's runs read; the name of the engine alone stands for all programs. */
TEST(layouts_of_engines_are_made_by_program)
{
    td_session *session = session_new();
    td_graph *graph = web(session, "e.tg");
    td_prepared made = {.size = sizeof made}, found = {.size = sizeof found};
    const char *hot[] = {"stream.list_order=hot", NULL}, *split[] = {"coop.order=hot", NULL};
    CHECK_STATUS(td_graph_prepare(session, graph, "stream:bfs", NULL, &made), TD_NOT_FOUND);
    CHECK_CONTAINS(td_last_message(), "bfs reads the graph's own lists");
    CHECK_STATUS(td_graph_prepare(session, graph, "coop:wcc", NULL, &made), TD_NOT_FOUND);
    CHECK_STATUS(td_graph_prepare(session, graph, "stream:nothing", NULL, &made), TD_USAGE);
    CHECK_STATUS(td_graph_prepare(session, graph, "paths:bfs", NULL, &made), TD_USAGE);
    CHECK_OK(td_graph_prepare(session, graph, "stream:wcc", NULL, &made));
    CHECK(made.made && made.matches && made.bytes > 0);
    CHECK_STR(made.layout, "stream-both-hot");
    CHECK_STR(made.path, test_path("e.tg.stream-both-hot"));
    CHECK_OK(td_graph_prepare(session, graph, "stream:wcc", NULL, &made));
    CHECK(!made.made);
    CHECK_OK(td_graph_prepare(session, graph, "stream:bfs", hot, &made));
    CHECK_STR(made.layout, "stream-out-hot");
    CHECK_STATUS(td_graph_prepare(session, graph, "coop", NULL, &made), TD_NOT_FOUND);
    CHECK_CONTAINS(td_last_message(), "coop keeps the graph's order"); /* neighbours have close numbers */
    CHECK_OK(td_graph_prepare(session, graph, "coop", split, &made));
    CHECK(made.made);
    CHECK_OK(td_graph_prepare(session, graph, "stream", NULL, &made));
    CHECK_OK(td_prepared_find(test_path("e.tg"), 0, &found));
    CHECK_CONTAINS(found.layout, "coop-hot");
    CHECK_OK(td_prepared_remove(test_path("e.tg"), "stream-both-hot"));
    CHECK_OK(td_prepared_remove(test_path("e.tg"), "stream"));
    CHECK_STATUS(td_prepared_remove(test_path("e.tg"), "stream"), TD_NOT_FOUND);
    CHECK_OK(td_prepared_remove(test_path("e.tg"), "coop"));
    CHECK_STATUS(td_prepared_find(test_path("e.tg"), 0, &found), TD_NOT_FOUND);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

/* "multi:random:4": the fragments of four GPUs; "multi:random:4:bfs": as runs of bfs read them. */
TEST(partitions_are_made_by_number_and_program)
{
    td_session *session = session_new();
    td_graph *graph = web(session, "p.tg");
    td_prepared made = {.size = sizeof made}, found = {.size = sizeof found};
    const char *seed[] = {"multi.seed=7", NULL}, *twice[] = {"multi.partition=random", NULL};
    CHECK_STATUS(td_graph_prepare(session, graph, "multi", NULL, &made), TD_USAGE);
    CHECK_STATUS(td_graph_prepare(session, graph, "multi:bfs", NULL, &made), TD_USAGE);
    CHECK_STATUS(td_graph_prepare(session, graph, "multi:random", NULL, &made), TD_USAGE);
    CHECK_STATUS(td_graph_prepare(session, graph, "multi:random:0", NULL, &made), TD_USAGE);
    CHECK_STATUS(td_graph_prepare(session, graph, "multi:random:4:nothing", NULL, &made), TD_USAGE);
    CHECK_STATUS(td_graph_prepare(session, graph, "multi:random:4", twice, &made), TD_USAGE);
    CHECK_STATUS(td_graph_prepare(session, graph, "multi:seg:4", NULL, &made), TD_NOT_FOUND);
    CHECK_CONTAINS(td_last_message(), "there is nothing to prepare");
    CHECK_OK(td_graph_prepare(session, graph, "multi:random:4:bfs", NULL, &made));
    CHECK(made.made && made.matches && made.bytes > 0);
    CHECK_STR(made.layout, "multi-random-4-both");
    CHECK_CONTAINS(made.key, "seed=1 lists=both shares=equal");
    CHECK_OK(td_graph_prepare(session, graph, "multi:random:4:bfs", NULL, &made));
    CHECK(!made.made);
    CHECK_OK(td_graph_prepare(session, graph, "multi:random:4:bfs", seed, &made)); /* takes its place */
    CHECK(made.made);
    CHECK_CONTAINS(made.key, "seed=7");
    CHECK_OK(td_graph_prepare(session, graph, "multi:random:4", NULL, &made));
    CHECK_OK(td_prepared_find(test_path("p.tg"), 2, &found));
    CHECK_STR(found.layout, "multi-random-4-out");
    CHECK_STATUS(td_prepared_find(test_path("p.tg"), 3, &found), TD_NOT_FOUND);
    CHECK_OK(td_prepared_remove(test_path("p.tg"), "multi-random-4-in"));
    CHECK_OK(td_prepared_remove(test_path("p.tg"), "multi"));
    CHECK_STATUS(td_prepared_find(test_path("p.tg"), 0, &found), TD_NOT_FOUND);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(settings_are_checked_and_change_the_result)
{
    td_session *session = session_new();
    td_graph *graph = web(session, "s.tg");
    const char *freely[] = {"paths.merge=free", NULL}, *wrong[] = {"paths.merge=maybe", NULL}, *other[] = {"cpu.direction=push", NULL};
    td_paths_info info = {.size = sizeof info};
    CHECK_OK(td_graph_paths_info(session, graph, freely, &info));
    CHECK_EQ(info.paths, info.bound);
    CHECK_STATUS(td_graph_paths_info(session, graph, wrong, &info), TD_USAGE);
    CHECK_STATUS(td_graph_paths_info(session, graph, other, &info), TD_USAGE);
    CHECK_STATUS(td_graph_prepare(session, graph, "nothing", NULL, NULL), TD_USAGE);
    CHECK_STATUS(td_graph_prepare(session, graph, "paths", wrong, NULL), TD_USAGE);
    CHECK_STATUS(td_graph_prepare(session, NULL, "paths", NULL, NULL), TD_INVALID);
    CHECK_STATUS(td_graph_prepare(NULL, graph, "paths", NULL, NULL), TD_INVALID);
    CHECK_STATUS(td_graph_paths_info(session, graph, NULL, NULL), TD_INVALID);
    CHECK_STR(td_layout_name(0), "paths");
    CHECK_STR(td_layout_name(1), "stream");
    CHECK_STR(td_layout_name(2), "coop");
    CHECK_STR(td_layout_name(3), "multi");
    CHECK(td_layout_name(4) == NULL && td_layout_summary("paths") != NULL && td_layout_summary("nothing") == NULL);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(only_graphs_of_tg_files_in_memory_are_prepared)
{
    td_session *session = session_new();
    uint64_t sources[] = {0, 1}, targets[] = {1, 2};
    td_edges edges = {.size = sizeof edges, .count = 2, .sources = sources, .targets = targets};
    td_graph_options on_disk = {.size = sizeof on_disk, .edges = TD_PLACE_DISK};
    td_graph *graph = NULL;
    CHECK_OK(td_graph_from_edges(session, &edges, NULL, &graph));
    CHECK_STATUS(td_graph_prepare(session, graph, "paths", NULL, NULL), TD_INVALID);
    td_graph_destroy(graph);
    td_graph_destroy(web(session, "d.tg"));
    CHECK_OK(td_graph_open(session, test_path("d.tg"), &on_disk, &graph));
    CHECK_STATUS(td_graph_prepare(session, graph, "paths", NULL, NULL), TD_UNSUPPORTED);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(a_budget_is_kept)
{
    td_session *session = session_new();
    td_graph *graph = web(session, "m.tg");
    uint64_t now = 0;
    CHECK_OK(td_session_memory(session, &now, NULL));
    CHECK_OK(td_session_set_budget(session, now + 1000));
    CHECK_STATUS(td_graph_prepare(session, graph, "paths", NULL, NULL), TD_NO_MEMORY);
    CHECK_EQ(td_last_refusal()->resource, TD_RESOURCE_SESSION_BUDGET);
    CHECK_OK(td_session_set_budget(session, 0));
    CHECK_OK(td_graph_prepare(session, graph, "paths", NULL, NULL));
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST_MAIN
