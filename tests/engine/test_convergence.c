/* When a run has converged: within the tolerance, and never by a change that is negative or no number. */
#include "engine/ways.h"

#include "run/convergence.h"
#include "store/formats/format.h"

#include <math.h>

static td_run judged(double tolerance)
{
    return (td_run){.program = program_of("pagerank"), .tolerance = tolerance};
}

TEST(a_change_of_exactly_the_tolerance_is_within_it)
{
    td_run run = judged(1e-6);
    CHECK_OK(td_run_check_convergence(&run, TD_MEASURE_SUM, 3, 1e-6, 0));
    CHECK(run.converged);
    CHECK_OK(td_run_check_convergence(&run, TD_MEASURE_SUM, 3, nextafter(1e-6, 1), 0));
    CHECK(!run.converged);
    CHECK_OK(td_run_check_convergence(&run, TD_MEASURE_MAX, 3, 0, 0));
    CHECK(run.converged);
    run.tolerance = 0;
    CHECK_OK(td_run_check_convergence(&run, TD_MEASURE_MAX, 3, -0.0, 0));
    CHECK(run.converged);
    CHECK_OK(td_run_check_convergence(&run, TD_MEASURE_MAX, 3, 0x1p-1074, 0));
    CHECK(!run.converged);
}

TEST(programs_without_a_measure_do_not_converge_by_it)
{
    td_run run = judged(1);
    CHECK_OK(td_run_check_convergence(&run, TD_MEASURE_NONE, 0, 0, 0));
    CHECK(!run.converged);
}

TEST(no_negative_or_infinite_change_counts)
{
    static const double wrong[] = {-1e-300, -8.48, -INFINITY, INFINITY, NAN, -NAN};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        for (int measure = TD_MEASURE_NONE; measure <= TD_MEASURE_MAX; measure++) {
            td_run run = judged(INFINITY);
            run.converged = true;
            CHECK_STATUS(td_run_check_convergence(&run, measure, 17, wrong[i], 0),
                         isfinite(wrong[i]) ? TD_INTERNAL : TD_LIMIT);
            CHECK(!run.converged);
            CHECK_CONTAINS(td_last_message(), "pagerank: ");
            CHECK_CONTAINS(td_last_message(), "iteration 17");
        }
    td_run run = judged(1);
    CHECK_STATUS(td_run_check_convergence(&run, TD_MEASURE_SUM, 0, -8.48, 0), TD_INTERNAL);
    CHECK_CONTAINS(td_last_message(), "is -8.48");
    CHECK_STATUS(td_run_check_convergence(&run, TD_MEASURE_SUM, 0, 0, NAN), TD_LIMIT);
    CHECK_CONTAINS(td_last_message(), "what all vertices share is");
    CHECK_STATUS(td_run_check_convergence(&run, TD_MEASURE_SUM, 0, 0, -INFINITY), TD_LIMIT);
    CHECK(!run.converged);
}

/* Inputs of 3e38 times a weight of 9 add up to what is no float any more. The graph has more edges than the device may
 * hold, so that stream and coop do it themselves. */
static td_graph *steep_graph(void)
{
    td_graph *graph = NULL;
    FILE *file = fopen(test_path("steep.txt"), "w");
    CHECK(file != NULL);
    for (int i = 0; i < 4000; i++) fprintf(file, "%d %d 9\n", i % 40, 40 + i % 61);
    CHECK(fclose(file) == 0);
    CHECK_OK(td_graph_read(&graph, test_path("steep.txt"), "edgelist", &(td_build_options){0}, NULL));
    return graph;
}

TEST(values_beyond_all_bounds_end_a_run_on_every_engine)
{
    static const struct {
        const char *engine, *settings;
        double cap;
    } ways[] = {
        {"cpu", "", 0},
        {"resident", "", 0},
        {"stream", "stream.subgraph=128", 0.6},
        {"coop", "coop.invoke=always", 0.5},
        {"multi", "", 0},
    };
    static const char inputs[] = "0 3e38\n1 3e38\n2 3e38\n";
    char settings[512];
    td_graph *graph = steep_graph();
    test_write_file(test_path("inputs.txt"), inputs, strlen(inputs));
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        td_run *run = NULL;
        td_run_options options = {.engine = ways[i].engine, .devices = i == 0 ? NULL : narrow_gpu(),
                                  .gpu_edges = ways[i].cap};
        snprintf(settings, sizeof settings, "nn.activation=relu nn.inputs=%s %s", test_path("inputs.txt"),
                 ways[i].settings);
        CHECK_STATUS(try_run(&run, "nn", graph, options, settings), TD_LIMIT);
        CHECK_CONTAINS(td_last_message(), "nn: values grew beyond all bounds in iteration 0: the change is inf");
    }
    td_graph_destroy(graph);
}

/* A circuit whose node `wrong` has two neighbours at 1e300 and -1e300 V over 1e-38 ohms: currents of +inf and -inf add up to
 * NaN, in the first iteration. All other free nodes change by finite voltages. */
static td_graph *torn_circuit(uint32_t vertices, uint32_t wrong)
{
    td_graph *graph = NULL;
    FILE *file = fopen(test_path("torn.txt"), "w"), *sources = fopen(test_path("sources.txt"), "w");
    CHECK(file != NULL && sources != NULL);
    fprintf(sources, "%u 1e300\n%u -1e300\n%u 1\n", vertices, vertices + 1, vertices + 2);
    fprintf(file, "%u %u 1e-38\n%u %u 1e-38\n", wrong, vertices, wrong, vertices + 1);
    for (uint32_t v = 0; v < vertices; v++)
        if (v != wrong) fprintf(file, "%u %u 2.5\n", v, vertices + 2);
    for (uint32_t i = 0; i < 4 * vertices; i++) /* enough for engines that keep a part of the edges elsewhere */
        if (i % vertices != wrong && i * 7 % vertices != wrong) fprintf(file, "%u %u 2.5\n", i % vertices, i * 7 % vertices);
    CHECK(fclose(file) == 0 && fclose(sources) == 0);
    CHECK_OK(td_graph_read(&graph, test_path("torn.txt"), "edgelist", &(td_build_options){0}, NULL));
    return graph;
}

/* The largest change is folded over vertices, threads, blocks and GPUs: a NaN must be left, wherever it was. */
TEST(a_change_that_is_no_number_survives_every_fold)
{
    static const struct {
        const char *engine, *devices, *settings;
        double cap;
    } ways[] = {
        {"cpu", NULL, "", 0}, {"resident", "", "", 0}, {"stream", "", "stream.subgraph=128", 0.9},
        {"coop", "", "coop.invoke=always", 0.5}, {"multi", "emu:3@unchecked", "", 0}, {"paths", NULL, "", 0},
    };
    static const uint32_t places[] = {0, 31, 150, 299};
    char settings[512];
    for (size_t i = 0; i < sizeof ways / sizeof *ways * 4; i++) {
        td_graph *graph = torn_circuit(300, places[i % 4]);
        td_run *run = NULL;
        td_run_options options = {.engine = ways[i / 4].engine, .gpu_edges = ways[i / 4].cap,
                                  .devices = ways[i / 4].devices == NULL ? NULL
                                             : *ways[i / 4].devices == 0 ? narrow_gpu() : ways[i / 4].devices};
        snprintf(settings, sizeof settings, "circuit.sources=%s %s", test_path("sources.txt"), ways[i / 4].settings);
        td_status status = try_run(&run, "circuit", graph, options, settings);
        if (status != TD_LIMIT)
            TEST_FAIL("%s, NaN at vertex %u: %s", ways[i / 4].engine, places[i % 4],
                      status == TD_OK ? "the run has converged" : td_last_message());
        CHECK_CONTAINS(td_last_message(), "nan");
        td_graph_destroy(graph);
    }
}

TEST_MAIN
