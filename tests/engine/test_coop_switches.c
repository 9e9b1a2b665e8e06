/* Every switch of the coop engine changes what it is there to change, on an emulated GPU: counters, not answers. */
#include "engine/engine.h"
#include "engine/coop_ways.h"

#include "run/verify_run.h"

typedef struct counts {
    uint64_t gpu, link, cpu, on_demand, launches, to_device, sinks;
} counts;

static counts count_on(const char *name, const char *program, double cap, const char *settings)
{
    td_graph *graph = test_graph(test_graph_named(name), TEST_UNWEIGHTED, NULL);
    const td_program_info *info = program_of(program)->info;
    bool defers = strstr(settings, "defer") != NULL;
    td_run_options options = {.engine = "coop", .devices = "emu@unchecked", .gpu_edges = cap,
                              .has_source = info->needs_source, .source = busiest(graph),
                              .has_iterations = !info->needs_source && !defers, .iterations = 3};
    td_run *run = run_of(program, graph, options, settings);
    counts sum = {.launches = run->launches, .to_device = run->bytes_to_device};
    for (uint32_t i = 0; i < run->row_count; i++) {
        const td_row *row = &run->full_rows[i];
        sum.gpu += row->edges_gpu;
        sum.link += row->edges_link;
        sum.cpu += row->edges_cpu;
        sum.on_demand += row->edges_on_demand;
        sum.sinks += strcmp(row->direction, "sinks") == 0;
    }
    td_run_destroy(run);
    td_graph_destroy(graph);
    return sum;
}

static counts count(const char *program, double cap, const char *settings)
{
    return count_on("rmat 10", program, cap, settings);
}

#define ALWAYS "coop.invoke=always coop.piece=1 "

/* How many edges are hot, which the order of vertices decides. */
static uint64_t hot_edges(const td_graph *graph, const td_program *program, const char *text)
{
    td_settings settings = settings_from(text);
    td_run_options options = {.engine = "coop", .devices = "emu@unchecked", .gpu_edges = 0.3, .settings = &settings,
                              .has_iterations = true, .iterations = 1};
    td_run *run = NULL;
    CHECK_OK(td_run_program(&run, program, graph, &options));
    td_settings_clear(&settings);
    uint64_t edges = run->full_rows[0].edges_gpu + run->full_rows[0].edges_on_demand;
    td_run_destroy(run);
    return edges;
}

TEST(a_program_that_may_look_at_numbers_gets_those_of_the_graph)
{
    td_graph *graph = test_graph(test_graph_named("rmat 10"), TEST_UNWEIGHTED, NULL);
    td_program looks = *program_of("pagerank");
    td_program_info info = *looks.info;
    info.renumbers = false;
    looks.info = &info;
    uint64_t kept = hot_edges(graph, program_of("pagerank"), ALWAYS "coop.order=none coop.compress=off");
    CHECK_EQ(hot_edges(graph, &looks, ALWAYS "coop.compress=off"), kept);
    CHECK(hot_edges(graph, program_of("pagerank"), ALWAYS "coop.compress=off") != kept);
    td_graph_destroy(graph);
}

TEST(the_link_and_allocation_on_demand_can_be_switched_off)
{
    CHECK(count("pagerank", 0.25, ALWAYS).link > 0);
    CHECK_EQ(count("pagerank", 0.25, ALWAYS "coop.link=off").link, 0);
    CHECK(count("pagerank", 0.95, ALWAYS "coop.link=off").on_demand > 0);
    CHECK_EQ(count("pagerank", 0.95, ALWAYS "coop.link=off coop.on_demand=off").on_demand, 0);
}

TEST(tau_and_theta_decide_when_the_gpu_takes_part)
{
    CHECK(count("bfs", 0.5, "coop.invoke=paper coop.tau=0 coop.theta=0 coop.piece=1").gpu > 0);
    CHECK_EQ(count("bfs", 0.5, "coop.invoke=paper coop.tau=1e9 coop.theta=0 coop.piece=1").gpu, 0);
    CHECK_EQ(count("bfs", 0.5, "coop.invoke=paper coop.tau=0 coop.theta=1 coop.piece=1").gpu, 0);
    CHECK_EQ(count("bfs", 0.5, "coop.invoke=never coop.piece=1").gpu, 0);
}

TEST(order_and_extraction_decide_what_is_hot)
{
    uint64_t hot = count("bfs", 0.25, ALWAYS).gpu, none = count("bfs", 0.25, ALWAYS "coop.order=none").gpu;
    CHECK(hot != none);
    CHECK(count("bfs", 0.25, ALWAYS "coop.extract=vertex").gpu != hot);
    CHECK(count("bfs", 0.25, ALWAYS "coop.extract=random").gpu != hot);
}

TEST(an_order_that_has_neighbours_near_each_other_is_kept)
{
    static const char *const graphs[] = {"web", "rmat 10"};
    static const char *const orders[] = {ALWAYS "coop.order=none", ALWAYS "coop.order=hot"};
    for (int i = 0; i < 2; i++) {
        uint64_t by_itself = count_on(graphs[i], "pagerank", 0.25, ALWAYS "coop.link=off").gpu, as_asked[2];
        for (int j = 0; j < 2; j++) {
            char settings[128];
            snprintf(settings, sizeof settings, "%s coop.link=off", orders[j]);
            as_asked[j] = count_on(graphs[i], "pagerank", 0.25, settings).gpu;
        }
        CHECK(as_asked[0] != as_asked[1]);
        CHECK_EQ(by_itself, as_asked[i]);
    }
}

TEST(smaller_pieces_are_more_launches)
{
    CHECK(count("pagerank", 0.25, ALWAYS).launches > count("pagerank", 0.25, "coop.invoke=always").launches);
}

/* Windows need some room: on a graph that has it, what crosses in fewer bits is copied, what does not is read, more of
 * it stays on the device, and the answers are right. */
static td_run *run_large(td_graph *graph, double cap, const char *settings)
{
    const char *claims;
    td_run_options options = {.engine = "coop", .devices = "emu@unchecked", .gpu_edges = cap,
                              .has_iterations = strstr(settings, "defer") == NULL,
                              .iterations = 2};
    td_run *run = run_of("pagerank", graph, options, settings);
    CHECK_STR(run->engine, "coop");
    for (uint32_t i = 0; i < run->row_count; i++) {
        const td_row *row = &run->full_rows[i];
        CHECK_EQ(row->edges_gpu + row->edges_link + row->edges_cpu + row->edges_on_demand, row->active_edges);
    }
    CHECK_OK(td_run_verify(run, NULL, &claims));
    return run;
}

#define WINDOWS "coop.invoke=always coop.piece=1024 "

TEST(fewer_bits_are_copied_and_others_read)
{
    td_graph *graph = large_graph();
    td_run *on = run_large(graph, 0.25, WINDOWS), *off = run_large(graph, 0.25, WINDOWS "coop.compress=off");
    CHECK(on->full_rows[0].edges_link > 0);
    CHECK(off->full_rows[0].edges_link > 0);
    CHECK(on->bytes_to_device > off->bytes_to_device + on->full_rows[0].edges_link);
    CHECK(on->full_rows[0].edges_gpu > off->full_rows[0].edges_gpu + graph->edges / 10);
    td_run_destroy(on);
    td_run_destroy(off);
    td_graph_destroy(graph);
}

TEST(windows_add_up_at_every_cap_on_either_side)
{
    static const double caps[] = {0.2, 0.45, 0.95};
    static const char *const ways[] = {WINDOWS, WINDOWS "coop.order=none", WINDOWS "coop.extract=vertex",
                                       WINDOWS "coop.on_demand=off",
                                       WINDOWS "coop.sinks=defer pagerank.dangling=ignore"};
    td_graph *graph = large_graph();
    uint64_t on_demand = 0;
    for (size_t i = 0; i < sizeof caps / sizeof *caps; i++)
        for (size_t j = 0; j < sizeof ways / sizeof *ways; j++) {
            td_run *run = run_large(graph, caps[i], ways[j]);
            on_demand += run->full_rows[0].edges_on_demand;
            td_run_destroy(run);
        }
    CHECK(on_demand > 0);
    td_graph_destroy(graph);
}

/* With nearly all edges on the device some of those that lead to sinks are hot. */
TEST(deferred_sinks_receive_along_hot_edges_too)
{
    static const char *const programs[] = {"pagerank", "adsorption"};
    static const char *const settings[] = {ALWAYS "coop.order=hot coop.sinks=defer pagerank.dangling=ignore",
                                           ALWAYS "coop.order=hot coop.sinks=defer"};
    td_graph *graph = test_graph(test_graph_named("rmat 10"), TEST_UNWEIGHTED, NULL);
    for (int i = 0; i < 2; i++) {
        const char *claims;
        td_run_options options = {.engine = "coop", .devices = "emu", .gpu_edges = 0.995};
        td_run *run = run_of(programs[i], graph, options, settings[i]);
        CHECK_STR(run->rows[run->row_count - 1].direction, "sinks");
        if (td_run_verify(run, NULL, &claims) != TD_OK) TEST_FAIL("%s: %s", programs[i], td_last_message());
        td_run_destroy(run);
    }
    td_graph_destroy(graph);
}

TEST(sinks_that_wait_have_an_iteration_of_their_own)
{
    CHECK_EQ(count("pagerank", 0.25, ALWAYS "coop.sinks=defer pagerank.dangling=ignore").sinks, 1);
    CHECK_EQ(count("pagerank", 0.25, ALWAYS "pagerank.dangling=ignore").sinks, 0);
}

TEST_MAIN
