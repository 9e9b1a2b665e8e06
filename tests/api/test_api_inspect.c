/* A look at a graph and at the devices through the API: figures that can be drawn on paper, and calls that are refused. */
#include "map.h"

#include <stdio.h>
#include <unistd.h>

/* 10 -> 20, 30; 20 -> 30; 30 -> 40, 50; 40 -> 60; and a loop and a parallel edge besides. */
static td_graph *marked_map(td_session *session)
{
    static const uint64_t from[] = {10, 10, 20, 30, 30, 40, 20, 20}, to[] = {20, 30, 30, 40, 50, 60, 20, 30};
    td_graph *graph = NULL;
    CHECK_OK(td_graph_from_edges(session, &(td_edges){.size = sizeof(td_edges), .count = 8, .sources = from,
                                                      .targets = to}, NULL, &graph));
    return graph;
}

TEST(degrees_ids_loops_and_parallel_edges_are_counted)
{
    td_session *session = session_of(2);
    td_graph *graph = marked_map(session);
    td_graph_counts counts = {.size = sizeof counts};
    CHECK_OK(td_graph_count(session, graph, true, &counts));
    CHECK_EQ(counts.loops, 1);
    CHECK_EQ(counts.parallel, 1);
    CHECK_EQ(counts.sinks, 2);   /* 50 and 60 */
    CHECK_EQ(counts.sources, 1); /* 10 */
    CHECK_EQ(counts.isolated, 0);
    CHECK_EQ(counts.out.max, 3); /* of 20 */
    CHECK_EQ(td_graph_vertex_id(graph, counts.out.max_vertex), 20);
    CHECK_EQ(counts.in.max, 3); /* of 30 */
    CHECK_EQ(td_graph_vertex_id(graph, counts.in.max_vertex), 30);
    CHECK_EQ(counts.out.bucket_count, 3);
    CHECK_EQ(counts.out.buckets[0], 2);
    CHECK_EQ(counts.out.buckets[1], 1); /* 40 */
    CHECK_EQ(counts.out.buckets[2], 3); /* two or three edges */
    CHECK_EQ(counts.ids, TD_IDS_ASCENDING);
    CHECK_EQ(counts.lowest_id, 10);
    CHECK_EQ(counts.highest_id, 60);
    CHECK_OK(td_graph_count(session, graph, false, &counts));
    CHECK(!counts.counted);
    CHECK_EQ(counts.loops, 0);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

static td_status open_mapped(td_session *session, bool check, td_graph **out)
{
    td_graph_options options = {.size = sizeof options, .edges = TD_PLACE_MAPPED, .check = check};
    return td_graph_open(session, test_path("map.tg"), &options, out);
}

static void save_map(td_session *session)
{
    td_graph *graph = marked_map(session);
    CHECK_OK(td_graph_save(session, graph, test_path("map.tg"), NULL));
    td_graph_destroy(graph);
}

/* A file that becomes shorter gives zeros; a run on them, or a copy, is no result. */
TEST(a_mapped_graph_whose_file_becomes_shorter_gives_no_result)
{
    td_session *session = session_of(1);
    td_graph *graph = NULL;
    td_result *result = NULL;
    save_map(session);
    CHECK_OK(open_mapped(session, true, &graph));
    CHECK_OK(td_session_run(session, graph, "wcc", NULL, &result));
    td_result_destroy(result);
    result = NULL;
    CHECK_EQ(truncate(test_path("map.tg"), 100), 0);
    CHECK_STATUS(td_session_run(session, graph, "wcc", NULL, &result), TD_IO);
    CHECK_CONTAINS(td_last_message(), "became shorter");
    CHECK(result == NULL);
    CHECK_STATUS(td_graph_save(session, graph, test_path("copy.tg"), NULL), TD_IO);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

/* Every call that would follow unverified targets is refused; checked, the mapped graph is like any other. */
TEST(a_mapped_graph_gives_counts_and_with_a_check_everything)
{
    td_session *session = session_of(1);
    td_graph *graph = NULL;
    td_result *result = NULL;
    td_plan *plan = NULL;
    td_graph_counts counts = {.size = sizeof counts};
    td_partition_info cut = {.size = sizeof cut};
    uint64_t digest = 0;
    save_map(session);
    CHECK_OK(open_mapped(session, false, &graph));
    CHECK_OK(td_graph_count(session, graph, false, &counts));
    CHECK_EQ(counts.sinks, 2);
    CHECK_STATUS(td_graph_count(session, graph, true, &counts), TD_UNSUPPORTED);
    CHECK_CONTAINS(td_last_message(), "TD_PLACE_MEMORY");
    CHECK_STATUS(td_session_run(session, graph, "wcc", NULL, &result), TD_UNSUPPORTED);
    CHECK_STATUS(td_session_plan(session, graph, "wcc", NULL, &plan), TD_UNSUPPORTED);
    CHECK_STATUS(td_graph_partition_info(session, graph, "seg:2", 1, &cut), TD_UNSUPPORTED);
    CHECK_STATUS(td_graph_digest_of(session, graph, &digest), TD_UNSUPPORTED);
    CHECK_STATUS(td_graph_prepare(session, graph, "paths", NULL, NULL), TD_UNSUPPORTED);
    CHECK_STATUS(td_graph_paths_info(session, graph, NULL, &(td_paths_info){.size = sizeof(td_paths_info)}),
                 TD_UNSUPPORTED);
    CHECK_STATUS(td_graph_set_order(session, &graph, "hot", 1), TD_UNSUPPORTED);
    CHECK_STATUS(td_graph_save(session, graph, test_path("copy.txt"), NULL), TD_UNSUPPORTED);
    td_graph_destroy(graph);
    CHECK_OK(open_mapped(session, true, &graph));
    CHECK_OK(td_graph_count(session, graph, true, &counts));
    CHECK_EQ(counts.parallel, 1);
    CHECK_OK(td_session_run(session, graph, "wcc", NULL, &result));
    CHECK_OK(td_result_verify(session, result));
    td_result_destroy(result);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

/* Changes one byte of the file. */
static void damage(const char *path, long at)
{
    FILE *file = fopen(path, "r+b");
    CHECK(file != NULL);
    fseek(file, at, SEEK_SET);
    int byte = fgetc(file);
    fseek(file, at, SEEK_SET);
    fputc(byte ^ 0x40, file);
    fclose(file);
}

/* Offsets are verified at once, targets only by a check. */
TEST(damage_is_found_as_far_as_the_file_is_read)
{
    td_session *session = session_of(1);
    td_graph *graph = NULL;
    enum { OFFSETS = 4096, TARGETS = 8192 }; /* of a file with fewer than 512 vertices */
    save_map(session);
    damage(test_path("map.tg"), TARGETS);
    CHECK_OK(open_mapped(session, false, &graph));
    td_graph_destroy(graph);
    graph = NULL;
    CHECK_STATUS(open_mapped(session, true, &graph), TD_CORRUPT);
    CHECK(graph == NULL);
    save_map(session);
    damage(test_path("map.tg"), OFFSETS + 8);
    CHECK_STATUS(open_mapped(session, false, &graph), TD_CORRUPT);
    CHECK(graph == NULL);
    td_session_destroy(session);
}

TEST(only_a_packed_file_can_be_mapped)
{
    td_session *session = session_of(1);
    td_graph *graph = marked_map(session);
    td_graph_options options = {.size = sizeof options, .edges = TD_PLACE_MAPPED};
    CHECK_OK(td_graph_save(session, graph, test_path("map.txt"), NULL));
    td_graph_destroy(graph);
    CHECK_STATUS(td_graph_open(session, test_path("map.txt"), &options, &graph), TD_USAGE);
    CHECK_STATUS(td_graph_from_edges(session, &map_edges, &options, &graph), TD_USAGE);
    CHECK_STATUS(td_file_convert(session, test_path("map.txt"), test_path("new.tg"), &options, NULL, NULL, &graph),
                 TD_USAGE);
    td_session_destroy(session);
}

/* Sections add up to the file, but for its header and alignment. */
TEST(sections_of_a_graph_are_those_of_its_file)
{
    td_session *session = session_of(1);
    td_graph *graph = marked_map(session), *mapped = NULL;
    td_packed_facts before = {.size = sizeof before}, after = before;
    td_file_facts file = {.size = sizeof file};
    uint64_t sum = 0;
    save_map(session);
    CHECK_OK(td_graph_packed(session, graph, &before));
    CHECK_OK(td_file_describe(test_path("map.tg"), NULL, &file));
    CHECK_EQ(before.bytes, file.bytes);
    for (int i = 0; i < before.sections; i++) sum += before.section[i].bytes;
    CHECK(sum < file.bytes && sum + 4096 * (uint64_t)(before.sections + 1) >= file.bytes);
    CHECK_STR(before.section[0].name, "out offsets");
    CHECK_EQ(before.section[0].bytes, 7 * 8);
    CHECK_EQ(before.load, 2 * (7 * 8 + 8 * 4) + 6 * 8); /* two adjacencies and the ids */
    CHECK_OK(open_mapped(session, false, &mapped));
    CHECK_OK(td_graph_packed(session, mapped, &after));
    CHECK_EQ(memcmp(&before, &after, sizeof before), 0);
    td_graph_destroy(mapped);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

/* What a plan states for the same run. */
TEST(needs_are_those_of_a_plan)
{
    td_session *session = session_of(1);
    td_graph *graph = marked_map(session);
    td_plan *plan = NULL;
    td_run_needs needs = {.size = sizeof needs};
    td_plan_memory host = {.size = sizeof host};
    td_request request = {.size = sizeof request, .engine = "cpu"};
    CHECK_OK(td_graph_run_needs(session, graph, "wcc", &needs));
    CHECK_OK(td_session_plan(session, graph, "wcc", &request, &plan));
    CHECK_OK(td_plan_memory_row(plan, 0, &host));
    CHECK_EQ(needs.memory, host.graph + host.program);
    CHECK(needs.gpu > 0 && needs.disk_least > 0);
    CHECK_STATUS(td_graph_run_needs(session, graph, "sssp", &needs), TD_UNSUPPORTED); /* no weights */
    CHECK_STATUS(td_graph_run_needs(session, graph, "nothing", &needs), TD_NOT_FOUND);
    td_plan_destroy(plan);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

static double rate_of(const td_survey *survey, int device, const char *name, const char *peer)
{
    td_rate rate;
    for (int i = 0; td_survey_rate(survey, device, i, &rate); i++)
        if (strcmp(rate.name, name) == 0 && (peer == NULL || strcmp(rate.peer, peer) == 0)) return rate.value;
    return 0;
}

TEST(a_survey_has_the_rates_of_a_topology_and_measured_links)
{
    td_session *session = session_of(1);
    td_survey *survey = NULL;
    td_surveyed_device device = {.size = sizeof device};
    td_link_facts link = {.size = sizeof link};
    td_survey_options options = {.size = sizeof options, .devices = "emu:2@dgx1", .links = true};
    CHECK_OK(td_session_survey(session, &options, &survey));
    CHECK_OK(td_survey_device(survey, 1, &device));
    CHECK_STR(device.name, "emu:1");
    CHECK(device.modelled && device.threads == 0 && device.multiprocessors > 0 && device.memory > 0);
    CHECK_STATUS(td_survey_device(survey, 2, &device), TD_NOT_FOUND);
    double stated = rate_of(survey, 1, "link_bytes_per_second", "emu:0");
    CHECK(stated > 0 && rate_of(survey, 1, "read_bytes_per_second", NULL) > stated);
    CHECK_EQ(td_survey_places(survey), 3);
    CHECK_STR(td_survey_place(survey, 0), "host");
    CHECK_OK(td_survey_link(survey, 2, 1, &link));
    CHECK(link.direct && link.rate > 0.99 * stated && link.rate < 1.01 * stated);
    CHECK_STATUS(td_survey_link(survey, 0, 3, &link), TD_NOT_FOUND);
    td_survey_destroy(survey);
    td_session_destroy(session);
}

TEST(a_survey_measures_the_cpu_with_one_thread_and_with_all)
{
    td_session *session = session_of(2);
    td_survey *survey = NULL;
    td_surveyed_device device = {.size = sizeof device};
    td_survey_options options = {.size = sizeof options, .devices = "cpu", .largest = 1 << 20};
    CHECK_OK(td_session_survey(session, &options, &survey));
    for (int i = 0; i < 2; i++) {
        CHECK_OK(td_survey_device(survey, i, &device));
        CHECK_STR(device.name, "cpu");
        CHECK_EQ(device.threads, i + 1);
        CHECK(rate_of(survey, i, "read_bytes_per_second", NULL) > 0);
    }
    CHECK_EQ(td_survey_places(survey), 0);
    td_survey_destroy(survey);
    options.devices = "tpu";
    CHECK_STATUS(td_session_survey(session, &options, &survey), TD_USAGE);
    options.devices = NULL;
    options.links = true;
    CHECK_STATUS(td_session_survey(session, &options, &survey), TD_USAGE);
    td_session_destroy(session);
}

TEST_MAIN
