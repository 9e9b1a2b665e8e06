/* Plans for graphs that stay in the mapping of their file: what of the lists is stated to be in memory, which files are
 * mapped, and which engine is expected before a file is read. */
#include "engine/mapped_scene.h"

#include "gpu/ring.h"

/* Lists of a mapped graph that will be in memory. */
typedef enum lists_copied { NO_LISTS, ALL_TARGETS, ALL_LISTS } lists_copied;

/* A plan for a mapped graph states of its lists what will be in memory: none of those that go through the ring or that the
 * program ignores, copies of the others. */
static void check_stated(const char *program, const char *path, bool rings, lists_copied copied_lists, bool parents)
{
    td_graph *mapped = NULL;
    td_plan *plan = NULL;
    td_run *run = NULL;
    uint64_t blocks, held = td_memory().now;
    td_gpu_ring_limits(rings ? 1 : UINT64_MAX, 2 * TD_CHECKS_BLOCK);
    CHECK_OK(td_packed_map_unchecked(&mapped, path, pool));
    td_run_options options = options_for("resident", mapped, program);
    if (strcmp(program, "pagerank") == 0) options.has_iterations = true, options.iterations = 2;
    options.parents = parents;
    td_settings settings = settings_from(copied_lists == ALL_TARGETS ? "sssp.precision=single" : "");
    options.settings = &settings;
    CHECK_OK(td_plan_make(&plan, "resident", program_of(program), mapped, &options));
    CHECK_OK(td_devices_host_bytes(options.devices, 0, true, &blocks));
    uint64_t in_memory = (mapped->vertices + UINT64_C(1)) * sizeof(uint64_t) * (mapped->symmetric ? 1 : 2);
    if (copied_lists == ALL_TARGETS) in_memory += td_checks_pending_targets(mapped);
    if (copied_lists != ALL_LISTS) CHECK_EQ(plan->graph_bytes, in_memory);
    else CHECK_EQ(plan->graph_bytes, td_graph_bytes(mapped));
    held += plan->options.cache->set_bytes;
    td_memory_reset_peak();
    CHECK_OK(td_plan_execute(plan, &run));
    double stated = (double)(plan->graph_bytes + plan->program_bytes), taken = (double)(td_memory().peak - held);
    printf("     %s: %.0f of %.0f bytes\n", program, taken, stated);
    if (taken > 1.03 * stated + (96 << 10) || taken < 0.95 * stated - (200 << 10) - (double)blocks)
        TEST_FAIL("%s, %s: %.0f bytes are stated, and %.0f were taken", program, rings ? "ring" : "copies", stated, taken);
    td_gpu_ring_limits(0, 0);
    td_run_destroy(run);
    td_plan_destroy(plan);
    td_settings_clear(&settings);
    td_graph_destroy(mapped);
}

static const char *write_weights(bool directed, double lightest, double heaviest)
{
    static char path[512];
    td_gen_spec spec = {.kind = "uniform", .vertices = 6000, .degree = directed ? 150 : 75, .seed = 3};
    td_build_options build = {.symmetrize = !directed, .attach_weights = true, .weight_low = lightest, .weight_high = heaviest,
                              .weight_real = heaviest > 200};
    td_graph *graph = NULL;
    snprintf(path, sizeof path, "%s", test_path("stated.tg"));
    CHECK_OK(td_graph_generate(&graph, &spec, &build, NULL));
    CHECK_OK(td_packed_write(graph, path, NULL));
    td_graph_destroy(graph);
    return path;
}

static const char *write_stated(bool directed, uint32_t lightest) { return write_weights(directed, lightest, 200); }

TEST(plans_state_of_a_mapped_graph_what_is_in_memory)
{
    static const char *const programs[] = {"bfs", "sssp", "pagerank", "labels", "wcc", "mst", "kcore", "heat"};
    for (int directed = 0; directed < 2; directed++) {
        const char *path = write_stated(directed, 1);
        for (int p = 0; p < 8; p++)
            for (int rings = 0; rings < 2 && !(directed && p == 6); rings++) /* joined lists are made of copies */
                check_stated(programs[p], path, rings, strcmp(programs[p], "heat") == 0 ? ALL_LISTS : NO_LISTS, false);
    }
}

/* Behind edges of length 0 the host searches for parents, in a copy of the lists. */
TEST(plans_state_the_lists_that_parents_are_searched_in)
{
    for (int directed = 0; directed < 2; directed++)
        for (int rings = 0; rings < 2; rings++) {
            check_stated("sssp", write_stated(directed, 0), rings, ALL_LISTS, true);
            check_stated("sssp", write_stated(directed, 1), rings, NO_LISTS, true);
            check_stated("bfs", write_stated(directed, 0), rings, NO_LISTS, true);
        }
}

/* Where distances may become infinite, the host looks for those of neighbours, in a copy of the targets. */
TEST(plans_state_the_targets_that_infinite_distances_are_searched_in)
{
    for (int directed = 0; directed < 2; directed++)
        for (int rings = 0; rings < 2; rings++) check_stated("sssp", write_weights(directed, 1, 1e35), rings, ALL_TARGETS, false);
}

static bool maps(td_session *session, const char *path, const char *engine)
{
    td_graph *graph = NULL;
    td_request request = {.size = sizeof request, .engine = engine, .has_source = true};
    if (strcmp(engine, "cpu") != 0) request.devices = narrow_gpu();
    CHECK_OK(td_graph_open_for(session, path, NULL, "sssp", &request, &graph));
    bool mapped = graph->mapping != NULL;
    td_graph_destroy(graph);
    return mapped;
}

/* The CPU's lists of a program that reads them often are copied, and those of a striped file. */
TEST(only_what_a_gpu_copies_is_mapped)
{
    td_packed_info info;
    td_session *session = NULL;
    td_graph *graph = NULL;
    const char *path = write_graph(false, &info);
    char striped[512];
    snprintf(striped, sizeof striped, "%s", test_path("striped.tg"));
    CHECK_OK(td_session_create(2, &session));
    CHECK_OK(td_graph_open(session, path, NULL, &graph));
    CHECK_OK(td_packed_write_striped(graph, striped, test_folder(), pool));
    td_graph_destroy(graph);
    CHECK(maps(session, path, "resident"));
    CHECK(maps(session, path, "auto")); /* a GPU is among the devices */
    CHECK(!maps(session, path, "cpu"));
    CHECK(maps(session, path, "stream")); /* puts lists in order as it reads them */
    CHECK(!maps(session, striped, "resident"));
    const td_program *wcc = td_program_named("wcc");
    td_run_options plain = {.pool = pool}, named = {.pool = pool, .devices = narrow_gpu()};
    CHECK(td_engine_expected("resident", wcc, &plain, path) == td_engine_named("resident"));
    CHECK(td_engine_expected(NULL, wcc, &plain, path) == td_engine_named("cpu")); /* little work, GPU or not */
    CHECK(td_engine_expected("auto", wcc, &named, path) == td_engine_named("resident"));
    td_session_destroy(session);
}

/* Files of which nothing is known but their length, or not even that. */
TEST(a_text_file_is_expected_by_its_length)
{
    td_run_options plain = {.pool = pool};
    const td_program *wcc = td_program_named("wcc");
    const char *text = test_path("large.txt");
    test_write_file(text, "1 2\n", 4);
    CHECK(td_engine_expected(NULL, wcc, &plain, text) == td_engine_named("cpu"));
    CHECK(td_engine_expected(NULL, wcc, &plain, test_path("absent")) == td_engine_named("cpu"));
}

int main(int argc, char **argv) { return mapped_main(argc, argv); }
