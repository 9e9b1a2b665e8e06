/* Plans and runs list the devices that compute, each with its memory and what it did; what a plan says, and when. */
#include "engine/ways.h"

#include "gpu/set.h"
#include "planner/plan.h"

static td_graph *graph_of(void) { return test_graph(test_graph_named("rmat 14"), TEST_U8, NULL); }

static const td_device_use *row_of(const td_device_uses *uses, const char *name)
{
    for (int i = 0; i < uses->count; i++)
        if (strcmp(uses->of[i].name, name) == 0) return &uses->of[i];
    return NULL;
}

typedef struct case_of {
    const char *engine, *settings;
    double gpu_edges;
    bool cpu, gpu;
} case_of;

TEST(every_engine_has_a_row_for_each_device_that_computes)
{
    static const case_of cases[] = {{"cpu", "", 0, true, false},
                                    {"resident", "", 0, false, true},
                                    {"stream", "", 0.4, false, true},
                                    {"coop", "coop.invoke=always", 0.4, true, true},
                                    {"hybrid", "hybrid.use=gpu hybrid.page=16384", 0, true, true},
                                    {"hybrid", "hybrid.use=cpu", 0, true, false}};
    td_graph *graph = graph_of();
    for (int i = 0; i < 6; i++) {
        const case_of *of = &cases[i];
        td_cache cache = {0};
        td_settings settings = settings_from(of->settings);
        td_run_options options = {.engine = of->engine, .cache = &cache, .settings = &settings,
                                  .devices = of->gpu ? "emu@unchecked" : "cpu", .gpu_edges = of->gpu_edges,
                                  .has_iterations = true, .iterations = 3};
        td_plan *plan = NULL;
        td_run *run = NULL;
        CHECK_OK(td_plan_make(&plan, of->engine, program_of("pagerank"), graph, &options));
        CHECK_OK(td_plan_execute(plan, &run));
        CHECK_EQ(plan->devices.count, of->cpu + of->gpu);
        CHECK_EQ(run->devices.count, plan->devices.count);
        const td_device_use *cpu = row_of(&run->devices, "cpu"), *gpu = row_of(&run->devices, "emu:0");
        CHECK((cpu != NULL) == of->cpu && (gpu != NULL) == of->gpu);
        uint64_t edges = 0;
        if (cpu != NULL) {
            CHECK(cpu == &run->devices.of[0]);
            CHECK_EQ(cpu->row.graph, plan->graph_bytes);
            CHECK_EQ(cpu->row.program, plan->program_bytes);
            double stated = (double)(cpu->row.graph + cpu->row.program), peak = (double)cpu->row.peak;
            double little = 240 << 10; /* streams, tables, rows of 512 iterations, and what is rounded up */
            if (peak > 1.02 * stated + little || peak < 0.8 * stated - little)
                TEST_FAIL("%s: %g of %g", of->engine, peak, stated);
            CHECK(cpu->row.edges > 0 || gpu != NULL); /* the GPU may have been first everywhere */
            CHECK(cpu->row.busy_seconds > 0);
            edges += cpu->row.edges;
        }
        if (gpu != NULL) {
            CHECK_EQ(gpu->row.graph, plan->device_graph_bytes);
            CHECK_EQ(gpu->row.program, plan->device_program_bytes);
            CHECK_EQ(gpu->row.peak, run->device_peak);
            CHECK(gpu->row.peak <= gpu->row.graph + gpu->row.program && gpu->row.free > gpu->row.peak);
            if (gpu->row.edges == 0 || gpu->row.busy_seconds <= 0 || gpu->row.launches == 0)
                TEST_FAIL("%s: %" PRIu64 " edges, %g s, %" PRIu64 " launches", of->engine, gpu->row.edges,
                          gpu->row.busy_seconds, gpu->row.launches);
            CHECK(gpu->row.bytes_in > 0 && gpu->row.bytes_out > 0);
            edges += gpu->row.edges;
        }
        CHECK_EQ(edges, run->edges_processed);
        td_run_destroy(run);
        td_plan_destroy(plan);
        td_cache_release(&cache);
        td_settings_clear(&settings);
    }
    td_graph_destroy(graph);
}

/* An engine for several GPUs states what each takes. */
TEST(a_plan_has_a_row_for_each_of_several_gpus)
{
    enum { GPUS = 3 };
    td_graph *graph = graph_of();
    td_cache cache = {0};
    td_run_options options = {.engine = "resident", .cache = &cache, .devices = "emu:3@unchecked"};
    td_gpu_set *set = NULL;
    td_plan *plan = NULL;
    td_plan_memory memory = {.size = sizeof memory};
    td_device_row row = {.size = sizeof row};
    CHECK_OK(td_plan_make(&plan, "resident", program_of("bfs"), graph,
                          &(td_run_options){.engine = "resident", .cache = &cache, .devices = options.devices,
                                            .has_source = true}));
    CHECK_OK(td_gpu_set_open(&options, "test", &set));
    plan->devices.count = 0;
    plan->device_graph_bytes = plan->device_program_bytes = plan->emulated_bytes = plan->program_bytes = 0;
    for (int i = 0; i < GPUS; i++) td_plan_on_device(plan, set->gpu[i], 1000 * (i + 1), 10 * (i + 1), false);
    CHECK_EQ(plan->device_graph_bytes, 6000);
    CHECK_EQ(plan->device_program_bytes, 60);
    CHECK(plan->program_bytes > 6060 && plan->program_bytes == plan->emulated_bytes);
    for (int i = 0; i < GPUS; i++) {
        char name[16];
        snprintf(name, sizeof name, "emu:%d", i);
        CHECK_OK(td_plan_device_row(plan, i, &row));
        CHECK_STR(row.device, name);
        CHECK_EQ(row.graph, 1000 * (i + 1));
        CHECK_OK(td_plan_memory_row(plan, i + 1, &memory));
        CHECK_STR(memory.place, name);
        CHECK_EQ(memory.program, 10 * (i + 1));
    }
    CHECK_STATUS(td_plan_device_row(plan, GPUS, &row), TD_NOT_FOUND);
    CHECK_STATUS(td_plan_memory_row(plan, GPUS + 1, &memory), TD_NOT_FOUND);
    td_plan_destroy(plan);
    td_cache_release(&cache);
    td_graph_destroy(graph);
}

/* What a session caches is free for its next plan: with room for one run on the GPU, every run is there. */
TEST(what_is_cached_does_not_count_against_the_next_plan)
{
    td_graph *graph = graph_of();
    td_cache cache = {0};
    td_run_options options = {.cache = &cache, .devices = "emu@unchecked", .has_iterations = true, .iterations = 2};
    td_plan *plan = NULL;
    td_run *run = NULL;
    CHECK_OK(td_plan_make(&plan, "auto", program_of("pagerank"), graph, &options));
    CHECK_STR(td_plan_engine(plan), "resident");
    uint64_t need = plan->program_bytes;
    td_plan_destroy(plan);
    td_cache_release(&cache);
    td_memory_set_budget(td_memory().now + need + need / 8);
    for (int i = 0; i < 4; i++) {
        CHECK_OK(td_plan_make(&plan, "auto", program_of("pagerank"), graph, &options));
        if (plan->engine != td_engine_named("resident")) TEST_FAIL("run %d: %s (%s)", i, td_plan_engine(plan), plan->why);
        CHECK(plan->fits);
        CHECK_OK(td_plan_execute(plan, &run));
        CHECK_EQ(run->device_opens, 2); /* the first plan's, and these runs' */
        CHECK(i == 0 ? run->open_seconds > 0 : run->open_seconds == 0);
        td_run_destroy(run);
        td_plan_destroy(plan);
    }
    td_memory_set_budget(0);
    td_cache_release(&cache);
    td_graph_destroy(graph);
}

static int warnings;
static void count_warnings(void *context, td_log_level level, const char *line)
{
    (void)context;
    warnings += level == TD_LOG_WARN && strstr(line, "the graph fits on the GPU") != NULL;
}

/* A plan may be refused, or never run: what it has to say waits. */
TEST(a_plan_that_is_handed_over_warns_when_it_runs_and_once)
{
    td_graph *graph = graph_of();
    td_cache cache = {0};
    td_settings settings = settings_from("stream.small=0");
    td_run_options options = {.cache = &cache, .devices = "emu@unchecked", .settings = &settings, .has_source = true};
    td_plan *plan = NULL;
    td_log_set_sink(count_warnings, NULL);
    CHECK_OK(td_plan_make(&plan, "stream", program_of("bfs"), graph, &options));
    CHECK_EQ(warnings, 0);
    for (int i = 0; i < 2; i++) {
        td_run *run = NULL;
        CHECK_OK(td_plan_execute(plan, &run));
        CHECK_EQ(warnings, 1);
        td_run_destroy(run);
    }
    td_plan_destroy(plan);
    options.resume = test_path("nowhere");
    CHECK_OK(td_plan_make(&plan, "stream", program_of("bfs"), graph, &options));
    td_run *none = NULL;
    CHECK(td_plan_execute(plan, &none) != TD_OK);
    CHECK_EQ(warnings, 1);
    td_log_set_sink(NULL, NULL);
    td_plan_destroy(plan);
    td_cache_release(&cache);
    td_settings_clear(&settings);
    td_graph_destroy(graph);
}

/* Every open device is counted: a hybrid plan with a GPU opens it, one without opens none. */
TEST(a_hybrid_plan_opens_its_gpu_once_and_no_other)
{
    td_graph *graph = graph_of();
    for (int with = 0; with < 2; with++) {
        td_cache cache = {0};
        td_settings settings = settings_from(with ? "hybrid.use=both" : "hybrid.use=cpu");
        td_run_options options = {.cache = &cache, .devices = "emu@unchecked", .settings = &settings,
                                  .has_iterations = true, .iterations = 1};
        td_plan *plan = NULL;
        td_run *run = NULL;
        CHECK_OK(td_plan_make(&plan, "hybrid", program_of("pagerank"), graph, &options));
        CHECK_EQ(cache.opens, with);
        CHECK((cache.open_seconds > 0) == with);
        CHECK_OK(td_plan_execute(plan, &run));
        CHECK_EQ(run->device_opens, with);
        td_run_destroy(run);
        td_plan_destroy(plan);
        td_cache_release(&cache);
        td_settings_clear(&settings);
    }
    td_graph_destroy(graph);
}

TEST_MAIN
