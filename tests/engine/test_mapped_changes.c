/* Files that are damaged, hold wild targets, shrink, or are written to while a graph stays in their mapping: an error, and
 * nothing follows what stands in them. */
#include "engine/mapped_scene.h"

#include "base/mapping.h"
#include "gpu/ring.h"

TEST(damaged_lists_are_refused_by_every_way_of_checking)
{
    for (int way = 0; way < 3; way++) { /* through the ring, directly, on the CPU */
        td_packed_info info;
        td_graph *mapped = NULL;
        td_run *run = NULL;
        const char *path = write_graph(false, &info), *engine = way == 2 ? "cpu" : "resident";
        damage(path, &info.sections[TD_SECTION_OUT_TARGETS]);
        td_gpu_ring_limits(way == 0 ? 1 : UINT64_MAX, 2 * TD_CHECKS_BLOCK);
        CHECK_OK(td_packed_map_unchecked(&mapped, path, pool));
        td_run_options options = options_for(engine, mapped, "bfs");
        CHECK_STATUS(try_run(&run, "bfs", mapped, options, copied(engine, "bfs")), TD_CORRUPT);
        CHECK_CONTAINS(td_last_message(), "of its out targets");
        td_gpu_ring_limits(0, 0);
        td_graph_destroy(mapped);
    }
}

/* A target that is no vertex, in a file that was mapped for another engine's run. */
static const char *write_wild(bool directed)
{
    static char path[512];
    const uint32_t wild = UINT32_MAX - 5;
    td_gen_spec spec = {.kind = "uniform", .vertices = 3000, .degree = 12, .seed = 5};
    td_build_options build = {.symmetrize = !directed, .attach_weights = true, .weight_low = 1, .weight_high = 50};
    td_graph *graph = NULL;
    td_packed *packed = NULL;
    snprintf(path, sizeof path, "%s", test_path("wild.tg"));
    CHECK_OK(td_graph_generate(&graph, &spec, &build, NULL));
    CHECK_OK(td_packed_write(graph, path, NULL));
    td_graph_destroy(graph);
    CHECK_OK(td_packed_open(&packed, path));
    td_packed_info info = *td_packed_describe(packed);
    td_packed_close(packed);
    static const td_section_kind lists[] = {TD_SECTION_OUT_TARGETS, TD_SECTION_IN_TARGETS};
    int file = open(path, O_RDWR);
    for (int l = 0; l < (directed ? 2 : 1); l++)
        CHECK(pwrite(file, &wild, sizeof wild, (off_t)info.sections[lists[l]].offset + 400) == sizeof wild);
    close(file);
    return path;
}

static void plan_wild(const char *path, const td_engine *engine, const char *program)
{
    td_graph *mapped = NULL;
    td_plan *plan = NULL;
    td_run *run = NULL;
    td_cache kept = {0};
    td_settings none = {0};
    CHECK_OK(td_packed_map_unchecked(&mapped, path, pool));
    td_run_options options = options_for(engine->name, mapped, program);
    options.settings = &none;
    options.cache = &kept;
    if (engine->uses_devices & TD_USES_GPU) options.devices = engine->several_gpus ? "emu:2@unchecked" : "emu:1@unchecked";
    td_status status = td_plan_make(&plan, engine->name, program_of(program), mapped, &options);
    if (status == TD_OK) status = td_plan_execute(plan, &run);
    bool skips = strcmp(engine->name, "cpu") == 0; /* and verifies no checksums */
    if ((status == TD_OK && !skips) || (status != TD_OK && td_last_message()[0] == 0))
        TEST_FAIL("%s by %s: %s", program, engine->name, td_status_name(status));
    td_run_destroy(run);
    td_plan_destroy(plan);
    td_cache_release(&kept);
    td_graph_destroy(mapped);
}

/* Every engine may get the mapped graph; none follows such a target, neither for its plan nor in its run. */
TEST(no_engine_follows_a_target_that_is_no_vertex)
{
    static const char *const programs[] = {"bfs", "sssp", "labels", "kcore", "pagerank", "mst"};
    for (int directed = 0; directed < 2; directed++) {
        const char *path = write_wild(directed);
        for (int e = 0; td_engines[e] != NULL; e++)
            for (int p = 0; p < 6; p++) plan_wild(path, td_engines[e], programs[p]);
    }
}

TEST(a_file_that_shrinks_before_its_lists_are_read_is_an_error)
{
    for (int way = 0; way < 2; way++) {
        td_packed_info info;
        td_graph *mapped = NULL;
        td_run *run = NULL;
        const char *path = write_graph(false, &info);
        td_gpu_ring_limits(1, 2 * TD_CHECKS_BLOCK);
        CHECK_OK(td_packed_map_unchecked(&mapped, path, pool));
        CHECK(truncate(path, (off_t)info.sections[TD_SECTION_OUT_TARGETS].offset + 4096) == 0);
        td_run_options options = options_for(way == 0 ? "resident" : "cpu", mapped, "bfs");
        CHECK_STATUS(try_run(&run, "bfs", mapped, options, copied(options.engine, "bfs")), TD_IO);
        CHECK_CONTAINS(td_last_message(), "upload.tg became shorter");
        td_gpu_ring_limits(0, 0);
        td_graph_destroy(mapped);
        td_mapping_forget();
    }
}

/* Overwrites all targets in place. */
static void overwrite(const char *path, const td_packed_info *info)
{
    const td_section *section = &info->sections[TD_SECTION_OUT_TARGETS];
    char *wild = malloc(section->bytes);
    int file = open(path, O_WRONLY);
    memset(wild, 0xff, section->bytes);
    usleep(20000); /* times of files advance in steps of some milliseconds */
    CHECK_EQ(pwrite(file, wild, section->bytes, (off_t)section->offset), (ssize_t)section->bytes);
    close(file);
    free(wild);
}

/* A file that is overwritten in place gives an error, and nothing follows what stands in it now: not before the first
 * upload, not for a second one, not on the CPU; degrees stay those of the file that was opened. */
TEST(a_file_overwritten_in_place_is_an_error_and_leads_nowhere)
{
    for (int way = 0; way < 6; way++) {
        td_packed_info info;
        td_graph *mapped = NULL;
        td_run *run = NULL;
        const char *path = write_graph(false, &info), *engine = way % 3 == 2 ? "cpu" : "resident";
        td_gpu_ring_limits(way % 3 == 0 ? 1 : UINT64_MAX, 2 * TD_CHECKS_BLOCK);
        CHECK_OK(td_packed_map_unchecked(&mapped, path, pool));
        td_run_options options = options_for(engine, mapped, "bfs");
        const char *set = copied(engine, "bfs");
        if (way >= 3) td_run_destroy(run_of("bfs", mapped, options, set));
        bool in_memory = !td_checks_pending(mapped, mapped->out.targets);
        uint64_t degree = td_degree(&mapped->out, 7);
        overwrite(path, &info);
        CHECK_EQ(in_memory, way >= 4);
        td_status status = try_run(&run, "bfs", mapped, options, set);
        CHECK_EQ(status, in_memory ? TD_OK : TD_IO);
        if (status != TD_OK) CHECK_CONTAINS(td_last_message(), "upload.tg was written to while it was read");
        td_run_destroy(run);
        CHECK_STATUS(td_mapping_check(mapped->mapping, TD_OK), TD_IO); /* what the API says of the run's end */
        CHECK_EQ(td_degree(&mapped->out, 7), degree);
        td_gpu_ring_limits(0, 0);
        td_graph_destroy(mapped);
        td_mapping_forget();
    }
}

/* A new file under the old name is another one. */
TEST(a_file_that_is_replaced_by_a_rename_stays_readable)
{
    td_packed_info info;
    td_graph *mapped = NULL;
    const char *path = write_graph(false, &info);
    CHECK_OK(td_packed_map_unchecked(&mapped, path, pool));
    uint64_t digest = digest_of("resident", "bfs", mapped);
    CHECK(write_graph(true, &info) != NULL);
    CHECK_EQ(digest_of("cpu", "bfs", mapped), digest);
    CHECK_OK(td_mapping_check(mapped->mapping, TD_OK));
    td_graph_destroy(mapped);
}

/* Also what reads the result later: nothing is written from a file that changed. */
TEST(results_of_a_file_that_has_changed_are_not_told)
{
    td_packed_info info;
    td_session *session = NULL;
    td_result *result = NULL;
    uint32_t vertices[3];
    double values[3];
    uint64_t count;
    const char *path = write_graph(false, &info);
    td_request request = {.size = sizeof request, .engine = "cpu", .has_source = true};
    td_graph_options options = {.size = sizeof options, .edges = TD_PLACE_MAPPED, .check = true};
    td_summary summary = {.size = sizeof summary};
    td_graph *mapped = NULL;
    CHECK_OK(td_session_create(2, &session));
    CHECK_OK(td_graph_open(session, path, &options, &mapped));
    CHECK_OK(td_session_run(session, mapped, "bfs", &request, &result));
    CHECK_OK(td_result_top(session, result, 3, vertices, values, &count));
    CHECK(truncate(path, (off_t)info.sections[TD_SECTION_OUT_TARGETS].offset) == 0);
    CHECK_STATUS(td_result_top(session, result, 3, vertices, values, &count), TD_IO);
    CHECK_STATUS(td_result_summarise(session, result, &summary), TD_IO);
    CHECK_STATUS(td_result_verify(session, result), TD_IO);
    CHECK_STATUS(td_result_save(session, result, test_path("never.tsv"), NULL), TD_IO);
    CHECK_CONTAINS(td_last_message(), "upload.tg became shorter");
    CHECK(access(test_path("never.tsv"), F_OK) != 0);
    td_result_destroy(result);
    td_graph_destroy(mapped);
    td_session_destroy(session);
    td_mapping_forget();
}

/* Questions about single edges get checked lists, or an error. */
TEST(edges_of_a_mapped_graph_are_told_after_a_check)
{
    for (int damaged = 0; damaged < 2; damaged++) {
        td_packed_info info;
        td_session *session = NULL;
        td_edge edge;
        uint32_t targets[200];
        uint64_t count = 1;
        td_graph_parts parts = {.size = sizeof parts};
        const char *path = write_graph(true, &info);
        td_status wanted = damaged ? TD_CORRUPT : TD_OK;
        if (damaged) damage(path, &info.sections[TD_SECTION_OUT_TARGETS]);
        CHECK_OK(td_session_create(1, &session));
        td_graph *mapped = open_mapped(session, path);
        CHECK(td_degree(&mapped->out, 7) > 0 && td_degree(&mapped->out, 7) <= 200);
        CHECK(td_checks_pending(mapped, mapped->out.targets));
        CHECK_EQ(td_graph_targets(mapped, 7, &count, NULL) == NULL, damaged);
        CHECK_EQ(count, damaged ? 0 : td_degree(&mapped->out, 7));
        CHECK_STATUS(td_graph_read_targets(mapped, 7, targets), wanted);
        CHECK_STATUS(td_graph_edge(mapped, 0, &edge), wanted);
        CHECK_STATUS(td_graph_describe_parts(mapped, &parts), wanted);
        CHECK_EQ(td_checks_pending(mapped, mapped->out.targets), damaged);
        CHECK_EQ(parts.targets != NULL, !damaged);
        td_graph_destroy(mapped);
        td_session_destroy(session);
    }
}

int main(int argc, char **argv) { return mapped_main(argc, argv); }
