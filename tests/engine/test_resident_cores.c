/* Core numbers in one launch, on an emulated GPU: peeling with a window of levels and a buffer per block, and bounds
 * with histograms. Against the reference on every small graph; what every mechanism saves, by the counters; states that
 * pass between the ways; failures. */
#include "engine/ways.h"

#include "device/emulator/sanitizer.h"
#include "engine/resident/resident.h"
#include "run/verify_run.h"

#include <stdlib.h>
#include <sys/stat.h>

static td_run *run_cores(const td_graph *graph, const char *settings)
{
    return run_of("kcore", graph, (td_run_options){.engine = "resident", .devices = narrow_gpu()}, settings);
}

static uint64_t counter_of(const td_run *run, const char *name)
{
    for (int i = 0; i < run->work_count; i++)
        if (strcmp(run->work[i].name, name) == 0) return run->work[i].value;
    for (int i = 0; i < run->counter_count; i++)
        if (strcmp(run->counters[i].name, name) == 0) return run->counters[i].value;
    TEST_FAIL("there is no counter %s", name);
    return 0;
}

/* The run's result is that of another, which is verified; the counters asked for. */
typedef struct counted {
    uint64_t launches, barriers, scanned, edges;
    uint32_t iterations;
} counted;

static counted count(const td_graph *graph, const char *settings, const td_run *like)
{
    td_run *run = run_cores(graph, settings);
    CHECK_EQ(memcmp(run->values, like->values, graph->vertices * sizeof(uint32_t)), 0);
    counted of = {run->launches, counter_of(run, "grid_barriers"), counter_of(run, "vertices_scanned"),
                  run->edges_processed, run->iterations};
    printf("    %-60s %4" PRIu64 " launches, %4" PRIu64 " barriers, %6" PRIu64 " vertices, %7" PRIu64
           " edges, %4u iterations\n",
           settings, of.launches, of.barriers, of.scanned, of.edges, of.iterations);
    td_run_destroy(run);
    return of;
}

/* Every small graph, both ways of counting neighbours. */
TEST(all_ways_find_the_core_numbers_of_every_small_graph)
{
    static const char *const ways[] = {
        "resident.kcore=peel",
        "resident.kcore=peel resident.window=1 resident.buffer=0 resident.high_degree=32",
        "resident.kcore=peel resident.window=2 resident.buffer=1 resident.rounds=1",
        "resident.kcore=peel resident.window=3 resident.buffer=3 resident.rounds=3 resident.small=16",
        "resident.kcore=histogram",
        "resident.kcore=histogram resident.rounds=1 resident.high_degree=32",
        "resident.kcore=histogram resident.rounds=2 resident.small=16",
        "resident.kcore=auto",
    };
    static const char *const degrees[] = {"both", "in", "neighbours"};
    enum { LARGEST = TD_ADDRESS_CHECKED || TD_THREADS_CHECKED ? 70 : 300 };
    for (int g = 0; g < TEST_GRAPHS; g++) {
        td_graph *graph = test_graph(g, TEST_UNWEIGHTED, NULL);
        for (int d = 0; d < 3 && graph->vertices > 0 && graph->vertices <= LARGEST; d++) {
            char text[256];
            snprintf(text, sizeof text, "kcore.degree=%s", degrees[d]);
            td_run *cpu = run_of("kcore", graph, (td_run_options){0}, text);
            uint32_t *expected = reference_kcore(cpu->graph, d == 1);
            CHECK_EQ(memcmp(cpu->values, expected, graph->vertices * sizeof(uint32_t)), 0);
            for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
                snprintf(text, sizeof text, "kcore.degree=%s %s", degrees[d], ways[w]);
                td_run *run = run_cores(graph, text);
                if (memcmp(run->values, expected, graph->vertices * sizeof(uint32_t)) != 0)
                    TEST_FAIL("%s: '%s' finds other core numbers", test_graphs[g].name, text);
                CHECK(run->converged);
                td_run_destroy(run);
            }
            td_free(expected);
            td_run_destroy(cpu);
        }
        td_graph_destroy(graph);
    }
}

/* What is saved, and by which mechanism. */

TEST(peeling_in_one_launch_saves_launches_scans_and_barriers)
{
    td_graph *graph = test_graph(test_graph_named("rmat 10, clean"), TEST_UNWEIGHTED, NULL);
    td_run *rounds = run_cores(graph, "");
    counted levels = count(graph, "resident.kcore=rounds resident.direction=push", rounds);
    counted peel = count(graph, "resident.kcore=peel", rounds);
    counted often = count(graph, "resident.kcore=peel resident.rounds=1", rounds);
    counted narrow = count(graph, "resident.kcore=peel resident.window=1", rounds);
    counted alone = count(graph, "resident.kcore=peel resident.buffer=0", rounds);
    counted bounds = count(graph, "resident.kcore=histogram", rounds);
    CHECK(peel.launches < 6);
    CHECK(10 * peel.launches < levels.launches);
    CHECK(peel.launches < often.launches);
    CHECK(peel.scanned < levels.scanned);
    CHECK(peel.scanned < narrow.scanned);
    CHECK(peel.iterations < alone.iterations);
    CHECK(peel.barriers < alone.barriers);
    CHECK_EQ(peel.edges, levels.edges); /* every list once */
    CHECK(bounds.iterations < peel.iterations);
    CHECK(bounds.barriers < peel.barriers);
    CHECK(bounds.launches < 6);
    CHECK(bounds.edges > peel.edges);
    CHECK(bounds.edges < bounds.iterations * graph->edges / 2); /* only vertices that fell push */
    td_run_destroy(rounds);
    td_graph_destroy(graph);
}

/* A path is removed from both ends, vertex by vertex: a block goes on alone until its buffer is used up. */
TEST(a_block_follows_a_path_without_the_others)
{
    td_graph *graph = test_graph(test_graph_named("path"), TEST_UNWEIGHTED, NULL);
    td_run *rounds = run_cores(graph, "");
    counted alone = count(graph, "resident.kcore=peel resident.buffer=0", rounds);
    counted some = count(graph, "resident.kcore=peel resident.buffer=16", rounds);
    counted peel = count(graph, "resident.kcore=peel", rounds);
    CHECK(some.iterations < alone.iterations / 4);
    CHECK(peel.iterations < some.iterations);
    CHECK(peel.barriers < some.barriers);
    td_run_destroy(rounds);
    td_graph_destroy(graph);
}

TEST(levels_without_vertices_are_skipped)
{
    enum { CLIQUE = 70 };
    uint32_t (*ends)[2] = NULL;
    uint64_t edges = 0;
    CHECK_OK(TD_NEW(&ends, CLIQUE * CLIQUE, "edges"));
    for (uint32_t u = 0; u < CLIQUE; u++)
        for (uint32_t v = 0; v < u; v++) ends[edges][0] = u, ends[edges++][1] = v;
    td_graph *graph = test_graph_of(CLIQUE + 3, (const uint32_t (*)[2])ends, NULL, edges, true);
    td_run *rounds = run_cores(graph, "");
    counted peel = count(graph, "resident.kcore=peel", rounds);
    CHECK(peel.barriers < 12); /* 69 levels have no vertex of the clique */
    CHECK(peel.scanned < 6 * (CLIQUE + 3));
    td_run_destroy(rounds);
    td_graph_destroy(graph);
    td_free(ends);
}

/* Auto: bounds where there are many levels for few edges. */
TEST(the_graph_decides_between_levels_and_bounds)
{
    static const struct {
        const char *graph, *direction;
    } cases[] = {{"rmat 10, clean", "peel"}, {"path", "push"}, {"grid 30x40", "push"}, {"complete 20", "peel"}};
    for (int i = 0; i < 4; i++) {
        td_graph *graph = test_graph(test_graph_named(cases[i].graph), TEST_UNWEIGHTED, NULL);
        td_run *run = run_cores(graph, ""), *rounds = run_cores(graph, "resident.balance=cta");
        CHECK_EQ(strcmp(run->rows[0].direction, cases[i].direction), 0);
        CHECK(strcmp(rounds->rows[0].direction, "peel") != 0 && strcmp(rounds->rows[0].direction, "bounds") != 0);
        td_run *peel = run_cores(graph, "resident.window=2");
        CHECK_EQ(strcmp(peel->rows[0].direction, "peel"), 0);
        td_run_destroy(peel);
        td_run_destroy(rounds);
        td_run_destroy(run);
        td_graph_destroy(graph);
    }
}

/* Memory: what is stated is taken, and the histogram has a bin per edge. */
TEST(the_memory_of_every_way_is_stated)
{
    static const char *const ways[] = {"resident.kcore=rounds", "resident.kcore=peel", "resident.kcore=histogram"};
    td_graph *graph = test_graph(test_graph_named("rmat 10"), TEST_UNWEIGHTED, NULL);
    uint64_t program[3];
    for (int w = 0; w < 3; w++) {
        td_settings settings = settings_from(ways[w]);
        td_run_options options = {.engine = "resident", .devices = narrow_gpu(), .settings = &settings};
        td_gpu_bytes need;
        td_run *run = NULL;
        CHECK_OK(td_resident_count_bytes(program_of("kcore"), graph, &options, &need));
        options.gpu_memory = need.graph + need.program - 1;
        CHECK_STATUS(td_run_program(&run, program_of("kcore"), graph, &options), TD_NO_MEMORY);
        options.gpu_memory++;
        CHECK_OK(td_run_program(&run, program_of("kcore"), graph, &options));
        CHECK_EQ(run->device_peak, need.graph + need.program);
        td_run_destroy(run);
        td_settings_clear(&settings);
        program[w] = need.program;
    }
    CHECK(program[2] > program[1] + graph->edges * sizeof(uint32_t));
    td_graph_destroy(graph);
}

/* States. */

static bool stop_soon(void *context, const td_iteration *row)
{
    (void)row;
    return ++*(uint32_t *)context < 9;
}

/* A state of a peeling holds upper bounds, so that bounds go on from it. */
TEST(every_way_goes_on_from_the_state_of_a_peeling)
{
    static const char *const from[] = {"resident.kcore=peel", "resident.kcore=rounds"};
    static const char *const to[] = {"resident.kcore=rounds", "resident.kcore=peel", "resident.kcore=histogram"};
    td_graph *graph = test_graph(test_graph_named("rmat 10, clean"), TEST_UNWEIGHTED, NULL);
    td_run *whole = run_of("kcore", graph, (td_run_options){0}, "");
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 3; b++) {
            char folder[300], command[400];
            uint32_t rows = 0;
            td_run *run = NULL;
            snprintf(folder, sizeof folder, "%s", test_path("cores-state"));
            CHECK(mkdir(folder, 0700) == 0);
            td_run_options options = {.engine = "resident", .devices = narrow_gpu(), .checkpoint = folder, .every = 2,
                                      .each = stop_soon, .each_context = &rows};
            CHECK_STATUS(try_run(&run, "kcore", graph, options, from[a]), TD_CANCELLED);
            options = (td_run_options){.engine = "resident", .devices = narrow_gpu(), .resume = folder};
            run = run_of("kcore", graph, options, to[b]);
            CHECK(run->checkpoint_stats.resumed_from != NULL);
            CHECK_EQ(memcmp(run->values, whole->values, graph->vertices * sizeof(uint32_t)), 0);
            td_run_destroy(run);
            snprintf(command, sizeof command, "rm -rf '%s'", folder);
            CHECK(system(command) == 0);
        }
    td_run_destroy(whole);
    td_graph_destroy(graph);
}

TEST(requests_that_a_way_cannot_serve_are_refused_with_the_reason)
{
    td_graph *graph = test_graph(test_graph_named("two components"), TEST_UNWEIGHTED, NULL);
    td_run *run = NULL;
    td_run_options limited = {.engine = "resident", .devices = narrow_gpu(), .has_iterations = true, .iterations = 3};
    CHECK_STATUS(try_run(&run, "kcore", graph, limited, "resident.kcore=peel"), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "resident.kcore=rounds");
    CHECK_STATUS(try_run(&run, "kcore", graph, limited, "resident.kcore=histogram"), TD_USAGE);
    td_run_destroy(run_of("kcore", graph, limited, "resident.kcore=auto"));
    td_run_options saved = {.engine = "resident", .devices = narrow_gpu(), .checkpoint = test_path("none")};
    CHECK_STATUS(try_run(&run, "kcore", graph, saved, "resident.kcore=histogram"), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "resident.kcore=peel");
    td_graph_destroy(graph);
}

/* Failures. */

static void check_failures(const td_graph *graph, const char *settings, void (*fail_at)(uint64_t), td_status wanted)
{
    td_settings set = settings_from(settings);
    td_run_options options = {.engine = "resident", .devices = narrow_gpu(), .settings = &set};
    uint64_t held = td_memory().now, nth = 1, failed = 0;
    for (;; nth++) {
        td_run *run = NULL;
        uint64_t requests = td_memory().requests;
        fail_at(nth);
        td_status status = td_run_program(&run, program_of("kcore"), graph, &options);
        fail_at(0);
        td_run_destroy(run);
        bool reached = wanted == TD_DEVICE || td_memory().requests - requests >= nth;
        if (status == TD_OK && (wanted == TD_DEVICE || !reached)) break;
        if (status == TD_OK) continue; /* what could not be pinned is copied all the same */
        CHECK_STATUS(status, wanted);
        CHECK(td_last_message()[0] != '\0');
        CHECK_EQ(td_memory().now, held);
        failed++;
    }
    CHECK(failed > 10);
    td_settings_clear(&set);
}

TEST(failing_operations_and_allocations_end_in_an_error_and_leave_nothing)
{
    td_graph *graph = test_graph(test_graph_named("two components"), TEST_UNWEIGHTED, NULL);
    static const char *const ways[] = {"resident.kcore=peel resident.rounds=2",
                                       "kcore.degree=in resident.kcore=histogram"};
    for (int w = 0; w < 2; w++) {
        check_failures(graph, ways[w], td_device_fail_at, TD_DEVICE);
        check_failures(graph, ways[w], td_alloc_fail_at, TD_NO_MEMORY);
    }
    td_graph_destroy(graph);
}

TEST_MAIN
