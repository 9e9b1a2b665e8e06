/* A plan says beforehand what a run will hold; the allocator says afterwards. */
#include "engine/engine.h"
#include "engine/ways.h"

#include "planner/plan.h"

static void check_plan(const char *program, const td_graph *graph, td_run_options options, const char *settings_text)
{
    td_settings settings = settings_from(settings_text);
    td_run *run = NULL;
    td_plan *plan = NULL;
    options.settings = &settings;
    CHECK_OK(td_plan_make(&plan, "cpu", program_of(program), graph, &options));
    uint64_t held = td_memory().now;
    td_memory_reset_peak();
    CHECK_OK(td_plan_execute(plan, &run));
    double took = (double)(td_memory().peak - held), said = (double)plan->program_bytes;
    double slack = strcmp(run->rows[0].direction, "bucket") == 0 ? 2 : 1.3; /* how full buckets get is a guess */
    if (said < 0.95 * took || said > slack * took + 20000)
        TEST_FAIL("%s '%s' on %s takes %.0f bytes, the plan says %.0f", program, settings_text, graph->name, took,
                  said);
    CHECK(plan->graph_bytes == td_graph_bytes(graph));
    CHECK_STR(plan->engine->name, run->engine);
    td_run_destroy(run);
    td_plan_destroy(plan);
    td_settings_clear(&settings);
}

static td_run_options options_for(const td_program *program, const td_graph *graph, td_pool *pool)
{
    td_run_options options = {.pool = pool, .has_source = program->info->needs_source, .source = busiest(graph)};
    if (program->cpu[0].measure != TD_MEASURE_NONE) options.has_iterations = true, options.iterations = 5;
    return options;
}

TEST(runs_take_what_their_plan_says)
{
    static const char *const names[] = {"rmat 14", "rmat 14, clean"};
    pools threads = make_pools();
    for (int g = 0; g < 2; g++) {
        td_graph *graph = test_graph(test_graph_named(names[g]), TEST_U8, NULL);
        for (int p = 0; td_programs[p] != NULL; p++)
            for (int t = 0; t < WAY_THREADS; t++) {
                const td_program *program = td_programs[p];
                const char *name = program->info->name;
                td_run_options options = options_for(program, graph, threads.of[t]);
                check_plan(name, graph, options, "");
                if (program->info->kind == TD_KIND_SWEEP) continue;
                check_plan(name, graph, options, "cpu.direction=notify cpu.piece=64");
                check_plan(name, graph, options, "cpu.direction=pull cpu.stealing=none");
                if (program->cpu[0].fused) check_plan(name, graph, options, "cpu.direction=push cpu.high_degree=16");
                options.parents = program->info->gives_parents;
                check_plan(name, graph, options, "");
                if (!td_program_has_async(program)) continue;
                options.mode = TD_MODE_ASYNC;
                check_plan(name, graph, options, "");
            }
        td_graph_destroy(graph);
    }
    destroy_pools(&threads);
}

/* An emulated GPU's memory, the watch's cells for it, the blocks in flight and the stacks of their threads are the host's;
 * how many blocks there will be is a guess, which may be a few too many. */
static void check_emulated_plan(const td_program *program, const td_graph *graph, const char *devices)
{
    td_run_options options = options_for(program, graph, NULL);
    td_run *run = NULL;
    td_plan *plan = NULL;
    options.devices = devices;
    options.engine = "resident";
    uint64_t held = td_memory().now;
    CHECK_OK(td_plan_make(&plan, "resident", program, graph, &options));
    td_memory_reset_peak();
    CHECK_OK(td_plan_execute(plan, &run));
    /* Threads of all blocks that fit at once have stacks in the plan; a run of small frontiers launches fewer blocks. */
    double stacks = 2048.0 * 4096, took = (double)(td_memory().peak - held), said = (double)plan->program_bytes;
    if (said < 0.95 * took || said > 1.25 * took + 0x1p21 + stacks)
        TEST_FAIL("%s on %s takes %.0f bytes, the plan says %.0f", program->info->name, devices, took, said);
    CHECK(took > (double)(plan->device_graph_bytes + plan->device_program_bytes));
    td_run_destroy(run);
    td_plan_destroy(plan);
}

TEST(runs_on_an_emulated_gpu_take_what_their_plan_says)
{
    static const char *const others[] = {"emu:1@unchecked", "emu:1@dgx1"};
    td_graph *graph = test_graph(test_graph_named("rmat 14"), TEST_U8, NULL);
    for (int p = 0; td_programs[p] != NULL; p++) check_emulated_plan(td_programs[p], graph, "emu");
    for (int d = 0; d < 2; d++) {
        check_emulated_plan(program_of("bfs"), graph, others[d]);
        check_emulated_plan(program_of("pagerank"), graph, others[d]);
    }
    td_graph_destroy(graph);
}

TEST(a_plan_for_devices_that_cannot_be_had_says_so)
{
    td_graph *graph = test_graph(test_graph_named("web"), TEST_U8, NULL);
    td_run_options options = {.devices = "emu:2@nowhere"};
    td_plan *plan = NULL;
    CHECK_STATUS(td_plan_make(&plan, "resident", program_of("wcc"), graph, &options), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "there is no topology 'nowhere'");
    td_graph_destroy(graph);
}

TEST(what_fits_is_measured_by_the_budget)
{
    td_graph *graph = test_graph(test_graph_named("web"), TEST_U8, NULL);
    td_run_options options = {0};
    td_plan *plan = NULL;
    uint64_t little = sizeof *plan + 1000; /* for the plan and not for its run */
    td_memory_set_budget(td_memory().now + little);
    CHECK_OK(td_plan_make(&plan, "auto", program_of("wcc"), graph, &options));
    CHECK_EQ(plan->free_bytes, little);
    CHECK(!plan->fits);
    td_plan_destroy(plan);
    td_memory_set_budget(td_memory().now + (1 << 20));
    CHECK_OK(td_plan_make(&plan, "cpu", program_of("wcc"), graph, &options));
    CHECK(plan->fits);
    CHECK_STR(plan->why, "asked for");
    td_plan_destroy(plan);
    td_memory_set_budget(0);
    CHECK_OK(td_plan_make(&plan, NULL, program_of("wcc"), graph, &options));
    CHECK(plan->free_bytes > 1 << 20);
    td_plan_destroy(plan);
    td_graph_destroy(graph);
}

TEST(the_engine_follows_devices_settings_and_work)
{
    td_graph *graph = test_graph(test_graph_named("web"), TEST_U8, NULL);
    td_settings none = {0}, cpu = settings_from("cpu.piece=64"), resident = settings_from("resident.gather=shards");
    static const struct {
        const char *devices, *engine, *why;
        int settings; /* none, the cpu engine's, the resident one's */
    } cases[] = {{NULL, "cpu", "", 0}, {"cpu", "cpu", "no GPU among devices", 0},
                 {"emu", "resident", "a GPU is among", 0}, {"cpu,emu:2", "resident", "a GPU is among", 0},
                 {"emu", "cpu", "the settings are this engine's", 1},
                 {"emu", "resident", "the settings are this engine's", 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        td_plan *plan = NULL;
        const td_settings *settings[] = {&none, &cpu, &resident};
        td_run_options options = {.devices = cases[i].devices, .settings = settings[cases[i].settings],
                                  .has_iterations = true, .iterations = 3};
        CHECK_OK(td_plan_make(&plan, "auto", program_of("pagerank"), graph, &options));
        CHECK_STR(plan->engine->name, cases[i].engine);
        CHECK_CONTAINS(plan->why, cases[i].why);
        CHECK((plan->device_graph_bytes > 0) == (plan->engine == &td_resident_engine));
        td_plan_destroy(plan);
    }
    td_settings_clear(&cpu);
    td_settings_clear(&resident);
    td_graph_destroy(graph);
}

/* Starting CUDA's driver takes a tenth of a second. */
TEST(cuda_is_asked_for_a_gpu_only_where_one_could_be_chosen)
{
    static const struct {
        const char *engine;
        uint32_t iterations;
        bool asks;
    } cases[] = {{NULL, 1, false}, {"cpu", 1, false}, {"cpu", 1000000000, false}, {NULL, 1000000000, true}};
    td_graph *graph = test_graph(test_graph_named("rmat 10"), TEST_UNWEIGHTED, NULL);
    for (int i = 0; i < 4; i++) {
        td_plan *plan = NULL;
        td_run_options options = {.has_iterations = true, .iterations = cases[i].iterations};
        uint32_t before = td_devices_cuda_asks();
        CHECK_OK(td_plan_make(&plan, cases[i].engine, program_of("pagerank"), graph, &options));
        CHECK_EQ(td_devices_cuda_asks() > before, cases[i].asks);
        td_plan_destroy(plan);
    }
    td_graph_destroy(graph);
}

TEST(a_cap_on_edges_makes_them_cross)
{
    td_graph *graph = test_graph(test_graph_named("rmat 14"), TEST_UNWEIGHTED, NULL);
    td_run_options options = {.devices = "emu@unchecked", .gpu_edges = 0.25, .has_iterations = true, .iterations = 3};
    td_plan *plan = NULL;
    CHECK_OK(td_plan_make(&plan, "auto", program_of("pagerank"), graph, &options));
    CHECK_STR(plan->engine->name, "stream");
    CHECK_CONTAINS(plan->why, "gpu_edges");
    CHECK(td_plan_counter(plan, "subgraph_slots") > 0);
    td_plan_destroy(plan);
    options.gpu_edges = 0;
    CHECK_OK(td_plan_make(&plan, "auto", program_of("pagerank"), graph, &options));
    CHECK_STR(plan->engine->name, "resident");
    td_plan_destroy(plan);
    td_graph_destroy(graph);
}

/* The cut lists and what an emulated GPU holds are the host's; a graph that fits the GPU is the resident engine's. */
TEST(runs_of_the_coop_engine_take_no_more_than_their_plan_says)
{
    td_graph *graph = test_graph(test_graph_named("rmat 14, clean"), TEST_UNWEIGHTED, NULL);
    td_settings settings = settings_from("coop.invoke=always");
    td_run_options options = {.engine = "coop", .devices = "emu@unchecked", .gpu_edges = 0.5, .settings = &settings,
                              .has_iterations = true, .iterations = 2};
    td_run *run = NULL;
    td_plan *plan = NULL, *resident = NULL;
    uint64_t held = td_memory().now;
    CHECK_OK(td_plan_make(&plan, "coop", program_of("pagerank"), graph, &options));
    td_memory_reset_peak();
    CHECK_OK(td_plan_execute(plan, &run));
    CHECK_STR(run->engine, "coop");
    double took = (double)(td_memory().peak - held), said = (double)plan->program_bytes;
    if (said < 0.9 * took || said > 2 * took) TEST_FAIL("it takes %.0f bytes, the plan says %.0f", took, said);
    td_run_destroy(run);
    td_plan_destroy(plan);
    options.gpu_edges = 0;
    options.settings = NULL;
    CHECK_OK(td_plan_make(&plan, "coop", program_of("pagerank"), graph, &options));
    CHECK_OK(td_plan_make(&resident, "resident", program_of("pagerank"), graph, &options));
    CHECK_EQ(plan->program_bytes, resident->program_bytes);
    CHECK_EQ(plan->device_graph_bytes, resident->device_graph_bytes);
    td_plan_destroy(plan);
    td_plan_destroy(resident);
    td_settings_clear(&settings);
    td_graph_destroy(graph);
}

TEST(engines_and_devices_that_are_not_there_are_refused_by_name)
{
    CHECK_OK(td_plan_check(NULL, NULL));
    CHECK_OK(td_plan_check("auto", "cpu"));
    CHECK_OK(td_plan_check("cpu", "cpu"));
    CHECK_STATUS(td_plan_check("warp", NULL), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "'warp'");
    CHECK_CONTAINS(td_last_message(), "auto, cpu");
    CHECK_STATUS(td_plan_check(NULL, "cpu,tpu"), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "'tpu'");
}

TEST(settings_of_another_engine_are_refused_by_its_name)
{
    td_settings settings = settings_from("cpu.high_degree=1000");
    CHECK_STATUS(td_plan_check_settings(td_engine_named("resident"), program_of("bfs"), &settings), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "'cpu.high_degree' is one of the engine cpu, and the engine is resident");
    td_settings_clear(&settings);
}

static bool has_setting(const td_engine *engine, const char *name)
{
    for (const td_setting *entry = engine->settings; entry != NULL && entry->name != NULL; entry++)
        if (strcmp(entry->name, name) == 0) return true;
    return false;
}

TEST(a_former_name_of_a_setting_is_refused_with_the_new_one)
{
    int count = 0;
    for (int e = 0; td_engines[e] != NULL; e++) {
        const td_engine *engine = td_engines[e];
        for (const td_renamed_setting *it = engine->renamed; it != NULL && it->name != NULL; it++, count++) {
            char text[64], now[64];
            snprintf(text, sizeof text, "%s.%s=64", engine->name, it->formerly);
            snprintf(now, sizeof now, "is now called '%s.%s'", engine->name, it->name);
            td_settings settings = settings_from(text);
            CHECK(has_setting(engine, it->name) && !has_setting(engine, it->formerly));
            CHECK_STATUS(td_plan_check_settings(engine, program_of("sssp"), &settings), TD_USAGE);
            CHECK_CONTAINS(td_last_message(), now);
            td_settings_clear(&settings);
        }
    }
    CHECK_EQ(count, 6);
}

TEST(settings_of_another_program_are_refused)
{
    static const struct {
        const char *text, *message;
    } cases[] = {{"pagerank.damping=0.9", "unknown setting"}, {"cpu.direction=up", "auto|pull|notify|push"},
                 {"cpu.peace=4", "cpu.piece"}};
    for (int i = 0; i < 3; i++) {
        td_settings settings = settings_from(cases[i].text);
        CHECK_STATUS(td_plan_check_settings(td_engine_named("cpu"), program_of("sssp"), &settings), TD_USAGE);
        CHECK_CONTAINS(td_last_message(), cases[i].message);
        td_settings_clear(&settings);
    }
}

TEST(settings_that_change_nothing_are_refused_naming_the_programs_they_are_for)
{
    static const struct {
        const char *program, *text, *message;
    } cases[] = {
        {"bfs", "cpu.delta=4", "has no effect on bfs; it is for sssp"},
        {"bfs", "cpu.samples=4", "it is for wcc"},
        {"wcc", "cpu.direction=pull", "it is for bfs, sssp, pagerank"},
        {"mst", "cpu.piece=64", "it is for bfs, sssp, pagerank"},
        {"wcc", "cpu.sinks=now", "it is for bfs"},
        {"pagerank", "cpu.high_degree=64", "it is for bfs, sssp, wcc, mst"},
    };
    static const char *const taken[][2] = {
        {"sssp", "cpu.delta=4"}, {"wcc", "cpu.samples=4"}, {"bfs", "cpu.direction=pull"}, {"heat", "cpu.piece=64"},
        {"wcc", "cpu.high_degree=64"}, {"mst", "cpu.stealing=none"}, {"nn", "cpu.huge_pages=off"},
        {"kcore", "cpu.serial=0"},
    };
    for (uint64_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        td_settings settings = settings_from(cases[i].text);
        CHECK_STATUS(td_plan_check_settings(td_engine_named("cpu"), program_of(cases[i].program), &settings), TD_USAGE);
        CHECK_CONTAINS(td_last_message(), cases[i].message);
        td_settings_clear(&settings);
    }
    for (uint64_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        td_settings settings = settings_from(taken[i][1]);
        CHECK_OK(td_plan_check_settings(td_engine_named("cpu"), program_of(taken[i][0]), &settings));
        td_settings_clear(&settings);
    }
}

TEST_MAIN
