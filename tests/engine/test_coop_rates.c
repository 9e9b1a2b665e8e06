/* What the coop engine does for the sake of time alone, on emulated machines of other proportions: a slow link, slow
 * workers, a slow GPU. Answers are the same without it; the clock and who did what are not. */
#include "engine/coop_ways.h"

#include "base/log.h"
#include "run/verify_run.h"

/* A machine like the built-in one but for these lines. */
static const char *machine(const char *lines)
{
    static char text[256];
    snprintf(text, sizeof text, "gpus 1\ncheck off\n%s", lines);
    return emulated("machine.topology", text);
}

static td_run_options options_on(const char *devices, double cap, uint32_t iterations)
{
    return (td_run_options){.engine = "coop", .devices = devices, .gpu_edges = cap, .has_iterations = true,
                            .iterations = iterations};
}

static td_run *ranks_on(const td_graph *graph, const char *lines, double cap, const char *settings)
{
    const char *claims;
    td_run *run = run_of("pagerank", graph, options_on(machine(lines), cap, 4), settings);
    CHECK_STR(run->engine, "coop");
    if (td_run_verify(run, NULL, &claims) != TD_OK) TEST_FAIL("%s: %s", lines, td_last_message());
    return run;
}

#define PIECES "coop.invoke=always coop.piece=1024 coop.order=hot "
static const char *const wide_and_narrow[] = {PIECES "coop.compress=off", PIECES};

/* Messages of vertices that are through cross while others are worked at: what the CPU waits for at the begin of an
 * iteration is far less than all of them. */
TEST(values_that_are_final_early_cross_before_the_iteration_ends)
{
    enum { RATE = 10000000 }; /* bytes a second, to the host */
    td_graph *graph = large_graph();
    double all = (double)graph->vertices * sizeof(float) / RATE;
    for (int i = 0; i < 2; i++) {
        td_run *run = ranks_on(graph, "host-link each 10GB/s 10MB/s 1us\nfinish 1ns\n", 0.3, wide_and_narrow[i]);
        for (uint32_t r = 1; r < run->row_count; r++) {
            double waited = run->full_rows[r].cpu_waited_seconds;
            if (!(waited < 0.5 * all)) TEST_FAIL("iteration %u waits %g s of %g", r, waited, all);
        }
        td_run_destroy(run);
    }
    td_graph_destroy(graph);
}

/* A unit that the GPU would be through with sooner, with all that is before it, is the GPU's. */
TEST(workers_that_are_far_behind_leave_everything_to_the_gpu)
{
    td_graph *graph = large_graph();
    td_run *run = ranks_on(graph, "host-gather 1MB/s\n", 0.3,
                           "coop.invoke=always coop.piece=65536 coop.compress=off coop.order=hot");
    CHECK(run->full_rows[0].edges_cpu + run->full_rows[0].edges_on_demand > 0); /* the rates are measured in this iteration */
    for (uint32_t r = 1; r < run->row_count; r++)
        CHECK_EQ(run->full_rows[r].edges_cpu + run->full_rows[r].edges_on_demand, 0);
    td_run_destroy(run);
    td_graph_destroy(graph);
}

/* Then workers add to sums of the hot part what comes behind it, window by window and tile by tile. */
TEST(a_gpu_that_is_far_behind_leaves_hot_edges_to_the_workers)
{
    static const double caps[] = {0.3, 0.6, 0.9};
    td_graph *graph = large_graph();
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < 2; i++) {
            td_run *run = ranks_on(graph, "operation-rate 1M/s\n", caps[c], wide_and_narrow[i]);
            for (uint32_t r = 1; r < run->row_count; r++)
                CHECK(run->full_rows[r].edges_on_demand > 10 * run->full_rows[r].edges_gpu);
            td_run_destroy(run);
        }
    td_graph_destroy(graph);
}

/* Values are kept at the host every quarter of a second, from which the CPU ends a run whose GPU is lost. */

static void keep_line(void *context, td_log_level level, const char *line)
{
    if (level == TD_LOG_WARN) snprintf(context, 256, "%s", line);
}

/* Iterations that a run does not lose with its GPU, at best. */
static unsigned iterations_kept(const td_graph *graph, const char *lines)
{
    const char *devices = machine(lines), *claims;
    char said[256] = "";
    unsigned most = 0, kept = 0;
    bool lost = false;
    td_log_set_sink(keep_line, said);
    for (uint64_t nth = 15; !lost || said[0] != '\0'; nth += 15) {
        td_run *run = NULL;
        said[0] = '\0';
        td_device_fail_at(nth);
        td_status status = try_run(&run, "pagerank", graph, options_on(devices, 0.3, 8), PIECES);
        td_device_fail_at(0);
        if (status == TD_OK) CHECK_OK(td_run_verify(run, NULL, &claims));
        td_run_destroy(run);
        const char *after = strstr(said, "alone after");
        if (after == NULL || sscanf(after, "alone after %u", &kept) != 1) continue;
        lost = true;
        if (kept > most) most = kept;
    }
    td_log_set_sink(NULL, NULL);
    return most;
}

TEST(a_lost_gpu_costs_no_more_than_what_was_done_since_the_last_values_were_kept)
{
    td_graph *graph = large_graph();
    CHECK_EQ(iterations_kept(graph, ""), 0);
    CHECK(iterations_kept(graph, "host-link each 10GB/s 0.1MB/s 1us\n") > 4);
    td_graph_destroy(graph);
}

TEST_MAIN
