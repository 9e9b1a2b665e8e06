/* Costs by the cost model in the multi engine, the log of its iterations, and the division in the report. */
#include "engine/running.h"

#include "base/alloc.h"
#include "engine/multi/cost.h"
#include "store/gen.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#define MACHINE "emu:3@dgx1"

static td_graph *graph_made(const char *kind, bool symmetric)
{
    td_graph *graph = NULL;
    td_gen_spec spec = {.kind = kind, .scale = 9, .degree = 8, .seed = 5, .rewire = -1};
    td_build_options build = {.symmetrize = symmetric, .dedup = true, .drop_loops = true, .attach_weights = true,
                              .weight_low = 1, .weight_high = 20, .weight_seed = 3};
    CHECK_OK(td_graph_generate(&graph, &spec, &build, NULL));
    return graph;
}

static uint32_t busiest(const td_graph *graph)
{
    uint32_t best = 0;
    for (uint32_t v = 0; v < graph->vertices; v++)
        if (td_degree(&graph->out, v) > td_degree(&graph->out, best)) best = v;
    return best;
}

static td_run *run_with(const char *program, const td_graph *graph, td_settings *settings)
{
    bool ranks = strcmp(program, "pagerank") == 0;
    if (!ranks) CHECK_OK(td_settings_add(settings, "multi.loop_edges=0")); /* every round is divided by the host */
    td_run *run = run_of(program, graph,
                         (td_run_options){.settings = settings, .engine = "multi", .devices = MACHINE, .has_source = !ranks,
                                          .source = busiest(graph), .has_iterations = ranks, .iterations = 2});
    td_settings_clear(settings);
    return run;
}

/* A model that gives every edge of a work this cost. */
static const char *constant_models(double push, double gather)
{
    static td_cost_models models;
    double cost[TD_COST_WORKS] = {[TD_COST_PUSH] = push, [TD_COST_GATHER] = gather};
    memset(&models, 0, sizeof models);
    for (int work = 0; work < TD_COST_WORKS; work++) {
        if (cost[work] == 0) continue;
        td_cost_model *model = &models.of[work];
        *model = (td_cost_model){.kind = TD_COST_TREE, .work = (td_cost_work)work, .samples = 1, .least = cost[work],
                                 .most = cost[work], .nodes = 1};
        model->node[0] = (td_cost_node){.metric = -1, .seconds = cost[work]};
    }
    CHECK_OK(td_cost_models_write(&models, test_path("constant.model")));
    return test_path("constant.model");
}

static td_settings model_settings(const char *path)
{
    char text[512];
    snprintf(text, sizeof text, "multi.model=%s", path);
    return SET("multi.cost=model", text, "multi.t1=0", "multi.t2=0");
}

/* With costs far above those of links, the longest GPU takes its third of the edges at the model's cost, which the first
 * iteration does not correct. */
TEST(the_model_decides_what_is_predicted)
{
    td_graph *graph = graph_made("rmat", true);
    const double costs[] = {1e-5, 3e-5};
    for (int gather = 0; gather < 2; gather++)
        for (int i = 0; i < 2; i++) {
            td_settings settings = model_settings(constant_models(gather ? 1e-9 : costs[i], gather ? costs[i] : 1e-9));
            td_run *run = run_with(gather ? "pagerank" : "sssp", graph, &settings);
            int seen = 0;
            for (uint32_t r = 0; r < run->row_count; r++) {
                const td_row *row = &run->full_rows[r];
                if (strcmp(row->steal, "stolen") != 0 || seen > 0) continue;
                double third = (double)row->active_edges / 3 * costs[i];
                CHECK(row->predicted_seconds > 0.99 * third && row->predicted_seconds < 1.05 * third);
                seen++;
            }
            CHECK(seen > 0);
            td_run_destroy(run);
        }
    td_graph_destroy(graph);
}

/* A model that is far off is corrected by what fragments take on their own GPU, and the next run goes on with that. */
TEST(a_model_is_corrected_by_what_edges_take)
{
    td_graph *graph = graph_made("rmat", true);
    double off[2] = {0}; /* of the first and of the last iteration: prediction over what the longest GPU took */
    td_settings settings = SET("multi.cost=model", "multi.steal_edges=1", "multi.t2=1e9");
    char text[512];
    snprintf(text, sizeof text, "multi.model=%s", constant_models(1e-9, 1e-5));
    CHECK_OK(td_settings_add(&settings, text));
    td_run *run = run_of("pagerank", graph, (td_run_options){.settings = &settings, .engine = "multi", .devices = MACHINE,
                                                             .has_iterations = true, .iterations = 12});
    for (int last = 0; last < 2; last++) {
        const td_row *row = &run->full_rows[last ? run->row_count - 1 : 0];
        off[last] = row->predicted_seconds / row->longest_seconds;
    }
    if (!(off[0] > 20) || !(off[1] > 0.9 && off[1] < 1.1)) TEST_FAIL("%g at first, %g in the end", off[0], off[1]);
    td_settings_clear(&settings);
    td_run_destroy(run);
    td_graph_destroy(graph);
}

TEST(results_do_not_depend_on_costs)
{
    td_graph *graph = graph_made("rmat", true);
    td_run *cpu = run_of("sssp", graph, (td_run_options){.has_source = true, .source = busiest(graph)});
    td_settings settings = model_settings(constant_models(1e-7, 0));
    td_run *run = run_with("sssp", graph, &settings);
    CHECK(memcmp(cpu->values, run->values, graph->vertices * sizeof(uint32_t)) == 0);
    td_run_destroy(run);
    td_run_destroy(cpu);
    td_graph_destroy(graph);
}

static double sum_of(td_row_list list, uint32_t first, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = first; i < first + count; i++) sum += list.values[i];
    return sum;
}

TEST(rows_have_loads_and_shares)
{
    td_graph *graph = graph_made("rmat", true);
    td_settings settings = SET("multi.t1=0", "multi.t2=0", "multi.direction=push");
    td_run *run = run_with("bfs", graph, &settings);
    bool stolen = false;
    CHECK(run->row_count > 1);
    for (uint32_t r = 0; r < run->row_count; r++) {
        const td_row *row = &run->full_rows[r];
        double others = 0;
        CHECK(row->steal != NULL);
        CHECK_EQ(row->load.count, 3);
        CHECK_EQ(row->share.count, 9);
        CHECK(sum_of(row->load, 0, 3) == (double)row->active_edges);
        for (uint32_t i = 0; i < 3; i++) {
            CHECK(sum_of(row->share, 3 * i, 3) == row->load.values[i]);
            others += row->load.values[i] - row->share.values[4 * i];
        }
        if (row->gpus == 3) CHECK(others == (double)row->edges_stolen);
        stolen = stolen || others > 0;
    }
    CHECK(stolen);
    td_run_destroy(run);
    settings = SET("multi.stealing=off", "multi.ownership=off"); /* small iterations are not divided */
    run = run_with("bfs", graph, &settings);
    CHECK_EQ(run->full_rows[0].load.count, 0);
    CHECK_STR(run->full_rows[0].steal, "off");
    td_run_destroy(run);
    td_graph_destroy(graph);
}

/* The log. */

static uint64_t logged(const char *program, const td_graph *graph, const char *direction, td_cost_sample **samples)
{
    char text[512];
    uint64_t count = 0;
    *samples = NULL;
    unlink(test_path("log"));
    snprintf(text, sizeof text, "multi.log=%s", test_path("log"));
    td_settings settings = SET("multi.stealing=off", text, "multi.family=drawn");
    if (direction != NULL) {
        CHECK_OK(td_settings_add(&settings, direction));
        CHECK_OK(td_settings_add(&settings, "multi.ownership=off"));
    }
    td_run *run = run_with(program, graph, &settings);
    CHECK_OK(td_cost_samples_read(samples, &count, test_path("log")));
    double edges = 0;
    for (uint64_t i = 0; i < count; i++) {
        CHECK_STR((*samples)[i].family, "drawn");
        CHECK((*samples)[i].seconds > 1e-7 && (*samples)[i].seconds < 1e-2);
        edges += (*samples)[i].edges;
    }
    CHECK(edges == (double)run->edges_processed); /* nobody stole, so every edge is in a sample */
    td_run_destroy(run);
    return count;
}

TEST(a_log_has_the_metrics_of_every_frontier)
{
    for (int symmetric = 0; symmetric < 2; symmetric++) {
        td_graph *graph = graph_made("rmat", symmetric);
        td_cost_sample *samples;
        uint64_t count = logged("sssp", graph, "multi.direction=push", &samples);
        double degree = (double)td_degree(&graph->out, busiest(graph));
        CHECK(count > 4);
        CHECK_EQ(samples[0].work, TD_COST_PUSH);
        const double *first = samples[0].metrics.value; /* the source alone */
        CHECK(first[TD_MEAN_OUT] == degree && samples[0].edges == degree && first[TD_RANGE_OUT] == 0);
        CHECK(first[TD_GINI] == 0 && first[TD_ENTROPY] == 1);
        for (uint64_t i = 0; i < count; i++) {
            const double *m = samples[i].metrics.value;
            double vertices = samples[i].edges / m[TD_MEAN_OUT];
            CHECK(fabs(vertices - round(vertices)) < 1e-6 && vertices > 0.5);
            CHECK(m[TD_RANGE_OUT] <= degree);
            if (symmetric) CHECK(m[TD_MEAN_IN] == m[TD_MEAN_OUT] && m[TD_RANGE_IN] == m[TD_RANGE_OUT]);
        }
        td_free(samples);
        td_graph_destroy(graph);
    }
}

TEST(a_log_of_gather_sums_has_the_metrics_of_fragments)
{
    td_graph *graph = graph_made("web", false);
    td_cost_sample *samples;
    uint64_t count = logged("pagerank", graph, NULL, &samples);
    double out = 0, in = 0;
    CHECK_EQ(count, 2 * 3);
    for (int k = 0; k < 3; k++) {
        const double *m = samples[k].metrics.value;
        double vertices = samples[k].edges / m[TD_MEAN_IN]; /* gather-sums go along the edges in */
        CHECK(fabs(vertices - round(vertices)) < 1e-6 && m[TD_MEAN_IN] != m[TD_MEAN_OUT]);
        CHECK_EQ(samples[k].work, TD_COST_GATHER);
        CHECK(memcmp(m, samples[3 + k].metrics.value, sizeof samples->metrics) == 0); /* in every iteration */
        in += m[TD_MEAN_IN] * vertices;
        out += m[TD_MEAN_OUT] * vertices;
    }
    CHECK(fabs(in - (double)graph->edges) < 1e-6 * in && fabs(out - (double)graph->edges) < 1e-6 * out);
    td_free(samples);
    td_graph_destroy(graph);
}

TEST(logs_are_appended_to)
{
    td_graph *graph = graph_made("rmat", true);
    char text[512];
    td_cost_sample *samples = NULL;
    uint64_t count = 0, first = 0;
    unlink(test_path("both"));
    snprintf(text, sizeof text, "multi.log=%s", test_path("both"));
    for (int i = 0; i < 2; i++) {
        td_settings settings = SET(text);
        if (i == 1) CHECK_OK(td_settings_add(&settings, "multi.ownership=off")); /* a group of one has no fragment alone */
        td_run_destroy(run_with(i == 0 ? "pagerank" : "sssp", graph, &settings));
        count = 0;
        td_free(samples);
        samples = NULL;
        CHECK_OK(td_cost_samples_read(&samples, &count, test_path("both")));
        if (i == 0) first = count;
    }
    CHECK(count > first && first > 0);
    CHECK_EQ(samples[0].work, TD_COST_GATHER);
    CHECK_EQ(samples[count - 1].work, TD_COST_PUSH);
    td_free(samples);
    td_graph_destroy(graph);
}

/* Refusals. */

static td_status plan_with(const td_graph *graph, td_settings settings, const char *devices)
{
    td_run *run = NULL;
    td_run_options options = {.settings = &settings, .engine = "multi", .devices = devices, .has_source = true};
    td_status status = td_run_program(&run, td_program_named("sssp"), graph, &options);
    td_run_destroy(run);
    td_settings_clear(&settings);
    return status;
}

TEST(a_model_that_would_not_be_used_is_refused)
{
    td_graph *graph = graph_made("rmat", true);
    CHECK_STATUS(plan_with(graph, SET("multi.model=x.model"), MACHINE), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "multi.cost=model");
    CHECK_STATUS(plan_with(graph, SET("multi.cost=model", "multi.model=/nowhere/x.model"), MACHINE), TD_IO);
    CHECK_CONTAINS(td_last_message(), "/nowhere/x.model");
    td_graph_destroy(graph);
}

TEST(without_a_model_of_the_devices_the_message_says_what_to_do)
{
    td_graph *graph = graph_made("rmat", true);
    setenv("XDG_DATA_HOME", test_path("nothing"), 1);
    CHECK_STATUS(plan_with(graph, SET("multi.cost=model"), "emu:2@late"), TD_NOT_FOUND);
    CHECK_CONTAINS(td_last_message(), "cost-emu-late.model");
    CHECK_CONTAINS(td_last_message(), "tandem calibrate --devices emu:2@late");
    td_graph_destroy(graph);
}

TEST(emulated_devices_have_models_that_ship)
{
    const char *const devices[] = {"emu:2", "emu:3@dgx1", "emu:2@unchecked"};
    td_graph *graph = graph_made("rmat", true);
    setenv("XDG_DATA_HOME", test_path("nothing"), 1);
    for (int i = 0; i < 3; i++) CHECK_OK(plan_with(graph, SET("multi.cost=model"), devices[i]));
    td_graph_destroy(graph);
}

TEST_MAIN
