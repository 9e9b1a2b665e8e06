/* The paths engine: the table of programs in its variants, and what each of its switches promises, by its counters. */
#include "engine/paths_ways.h"

#include "base/random.h"
#include "store/gen.h"

enum { CORE_WAYS = PATHS_WAYS * WAY_THREADS };

static pools threads;

static td_run *run_way(void *context, subject *about, int number)
{
    (void)context;
    char text[400];
    if (!paths_way_text(text, sizeof text, about->row, number, "")) return NULL;
    td_run_options options = table_options(about->row, about->graph);
    options.pool = threads.of[number / PATHS_WAYS];
    options.engine = "paths";
    snprintf(about->how, sizeof about->how, "%s, %d threads", text, way_threads[number / PATHS_WAYS]);
    return run_of(about->row->program, about->graph, options, text);
}

static int way_stride(const row *of, const td_graph *graph, test_weights kind)
{
    (void)kind;
    bool circuit = strcmp(of->program, "circuit") == 0;
    if (graph->vertices > (circuit ? TINY : LARGE)) return 0;
    return circuit ? 13 : graph->vertices <= TINY ? 7 : 29;
}

static void check(const char *program)
{
    threads = make_pools();
    table_ways ways = {.count = CORE_WAYS, .run = run_way, .stride = way_stride, .pool = threads.of[1]};
    check_program(program, &ways);
    destroy_pools(&threads);
}

TEST(bfs_along_paths) { check("bfs"); }
TEST(sssp_along_paths) { check("sssp"); }
TEST(labels_along_paths) { check("labels"); }
TEST(kcore_along_paths) { check("kcore"); }
TEST(pagerank_along_paths) { check("pagerank"); }
TEST(adsorption_along_paths) { check("adsorption"); }
TEST(circuit_along_paths) { check("circuit"); }

/* Counters. */

static uint64_t counted(const td_run *run, const char *name)
{
    for (int i = 0; i < run->work_count; i++)
        if (strcmp(run->work[i].name, name) == 0) return run->work[i].value;
    TEST_FAIL("there is no counter %s", name);
    return 0;
}

static td_pool *pool_of(int workers)
{
    td_pool *pool = NULL;
    CHECK_OK(td_pool_create(&pool, workers));
    return pool;
}

static td_run *run_on(const char *program, const td_graph *graph, td_pool *pool, const char *settings)
{
    td_run_options options = {.pool = pool, .engine = "paths", .has_source = program_of(program)->info->needs_source};
    return run_of(program, graph, options, settings);
}

static uint64_t count_on(const char *program, const td_graph *graph, td_pool *pool, const char *settings,
                         const char *counter)
{
    td_run *run = run_on(program, graph, pool, settings);
    uint64_t value = counted(run, counter);
    td_run_destroy(run);
    return value;
}

static td_graph *named(const char *name, test_weights weights, td_pool *pool)
{
    return test_graph(test_graph_named(name), weights, pool);
}

/* One path, numbered backwards: a sweep over vertices in the order of their numbers proceeds by one edge. */
static td_graph *backward_path(void)
{
    enum { LENGTH = 60 };
    uint32_t ends[LENGTH][2];
    for (uint32_t i = 0; i < LENGTH; i++) ends[i][0] = LENGTH - i, ends[i][1] = LENGTH - i - 1;
    return test_graph_of(LENGTH + 1, ends, NULL, LENGTH, false);
}

TEST(a_value_travels_the_length_of_a_path_in_one_round)
{
    td_pool *pool = pool_of(1);
    td_graph *graph = backward_path();
    td_run_options options = {.pool = pool, .engine = "paths", .has_source = true, .source = 60};
    td_run *paths = run_of("bfs", graph, options, ""), *plain = run_of("bfs", graph, options, "paths.variant=t");
    CHECK_EQ(counted(paths, "paths"), 1);
    CHECK_EQ(counted(paths, "rounds"), 1);
    CHECK_EQ(((const uint32_t *)paths->values)[0], 60);
    CHECK(counted(plain, "rounds") >= 60);
    td_run_destroy(paths);
    td_run_destroy(plain);
    td_graph_destroy(graph);
    td_pool_destroy(pool);
}

/* P is 4 -> 1 -> 0 -> 2 -> 5 -> 7, Q 2 -> 3 -> 0, which is stored first, because it ends at 0; beside them 1 -> 6 and
 * 5 -> 8. P brings the source's level to 0, which Q applies; P takes it on through 2, which P itself applies, to 7, and Q
 * follows: each of the two is walked twice. If Q applied 2, P would have to be walked a third time. */
TEST(the_path_that_passes_through_a_vertex_applies_it)
{
    static const uint32_t ends[][2] = {{4, 1}, {1, 0}, {0, 2}, {2, 5}, {5, 7}, {2, 3}, {3, 0}, {1, 6}, {5, 8}};
    td_pool *pool = pool_of(1);
    td_graph *graph = test_graph_of(9, ends, NULL, 9, false);
    td_run_options options = {.pool = pool, .engine = "paths", .has_source = true, .source = 4};
    td_run *run = run_of("bfs", graph, options, "");
    CHECK_EQ(counted(run, "paths"), 4);
    CHECK_EQ(counted(run, "paths_walked"), 6);
    CHECK_EQ(((const uint32_t *)run->values)[7], 5);
    td_run_destroy(run);
    td_graph_destroy(graph);
    td_pool_destroy(pool);
}

/* PageRank changes every vertex of these graphs at least once, so that as many updates as vertices are one for each. */
TEST(on_an_acyclic_graph_every_vertex_is_updated_once)
{
    static const char *const graphs[] = {"dag", "layered", "tree", "directed path", "tournament 20", "directed star"};
    for (int workers = 1; workers <= 4; workers *= 4) {
        td_pool *pool = pool_of(workers);
        for (int g = 0; g < 6; g++) {
            td_graph *graph = named(graphs[g], TEST_UNWEIGHTED, pool);
            CHECK_EQ(count_on("pagerank", graph, pool, "paths.acyclic=on", "updates"), graph->vertices);
            CHECK_EQ(count_on("pagerank", graph, pool, "paths.acyclic=on paths.variant=w", "updates"),
                        graph->vertices);
            td_graph_destroy(graph);
        }
        td_pool_destroy(pool);
    }
}

TEST(without_layers_vertices_of_an_acyclic_graph_are_updated_again)
{
    td_pool *pool = pool_of(1);
    td_graph *graph = named("dag", TEST_UNWEIGHTED, pool);
    CHECK(count_on("pagerank", graph, pool, "paths.acyclic=on paths.layers=off", "updates") > graph->vertices);
    CHECK(count_on("pagerank", graph, pool, "paths.acyclic=on", "layers") > 1);
    td_graph_destroy(graph);
    td_pool_destroy(pool);
}

TEST(paths_that_are_cut_for_it_have_no_cycles_of_their_own)
{
    td_pool *pool = pool_of(1);
    td_graph *graph = named("dag", TEST_UNWEIGHTED, pool);
    CHECK(count_on("pagerank", graph, pool, "paths.acyclic=on", "once_vertices") >
          count_on("pagerank", graph, pool, "paths.merge=free", "once_vertices"));
    td_graph_destroy(graph);
    td_pool_destroy(pool);
}

TEST(joining_makes_fewer_paths)
{
    td_pool *pool = pool_of(1);
    td_graph *graph = named("web", TEST_UNWEIGHTED, pool);
    uint64_t off = count_on("pagerank", graph, pool, "paths.merge=off paths.depth=1", "paths");
    uint64_t on = count_on("pagerank", graph, pool, "", "paths");
    CHECK_EQ(off, graph->edges);
    CHECK(on < off);
    CHECK(count_on("pagerank", graph, pool, "paths.merge=free", "paths") < on);
    td_graph_destroy(graph);
    td_pool_destroy(pool);
}

/* By the counters of one worker, which are the same in every run. */
TEST(the_search_and_the_places_follow_their_settings)
{
    td_pool *pool = pool_of(1);
    td_graph *graph = named("rmat 14", TEST_UNWEIGHTED, pool), *web = named("web", TEST_UNWEIGHTED, pool);
    uint64_t edges = count_on("labels", graph, pool, "paths.merge=off paths.depth=1", "paths");
    uint64_t deep = count_on("labels", graph, pool, "paths.merge=off", "paths");
    CHECK(deep < edges);
    CHECK(count_on("labels", graph, pool, "paths.merge=off paths.depth=2", "paths") > deep);
    CHECK(count_on("pagerank", graph, pool, "paths.hot=1", "partitions_walked") <
          count_on("pagerank", graph, pool, "", "partitions_walked"));
    CHECK(count_on("pagerank", web, pool, "paths.longest=2", "paths") > count_on("pagerank", web, pool, "", "paths"));
    CHECK(count_on("pagerank", web, pool, "", "updates") < count_on("pagerank", web, pool, "paths.partition=off", "updates"));
    td_graph_destroy(graph);
    td_graph_destroy(web);
    td_pool_destroy(pool);
}

TEST(priority_and_balance_save_updates)
{
    td_pool *pool = pool_of(1);
    td_graph *graph = named("rmat 14", TEST_UNWEIGHTED, pool);
    uint64_t full = count_on("pagerank", graph, pool, "", "updates");
    uint64_t unbalanced = count_on("pagerank", graph, pool, "paths.balance=off", "updates");
    uint64_t eager = count_on("pagerank", graph, pool, "paths.share=1", "updates");
    uint64_t w = count_on("pagerank", graph, pool, "paths.variant=w", "updates");
    uint64_t t = count_on("pagerank", graph, pool, "paths.variant=t", "updates");
    printf("     updates: full %" PRIu64 ", balance=off %" PRIu64 ", share=1 %" PRIu64 ", w %" PRIu64 ", t %" PRIu64 "\n",
           full, unbalanced, eager, w, t);
    CHECK(full < unbalanced);
    CHECK(full < eager);
    CHECK(unbalanced < w);
    CHECK(full < t);
    CHECK(count_on("pagerank", graph, pool, "", "partitions_sorted") > 0);
    CHECK_EQ(count_on("pagerank", graph, pool, "paths.variant=w", "partitions_sorted"), 0);
    CHECK_EQ(count_on("pagerank", graph, pool, "paths.priority=off", "partitions_sorted"), 0);
    CHECK(count_on("pagerank", graph, pool, "", "balances") > 0);
    CHECK_EQ(count_on("pagerank", graph, pool, "paths.balance=off", "balances"), 0);
    td_graph_destroy(graph);
    td_pool_destroy(pool);
}

static td_graph *weighted_web(uint32_t vertices, td_pool *pool)
{
    td_gen_spec spec = {.kind = "web", .vertices = vertices, .degree = 8, .seed = 1, .rewire = -1};
    td_build_options build = {.attach_weights = true, .weight_low = 1, .weight_high = 100, .weight_seed = 1};
    td_graph *graph = NULL;
    CHECK_OK(td_graph_generate(&graph, &spec, &build, pool));
    return graph;
}

/* Vertices beyond the bound of distance wait: fewer are updated twice. */
TEST(near_vertices_first_saves_updates_of_distances)
{
    td_pool *pool = pool_of(1);
    td_graph *graph = weighted_web(3000, pool);
    td_run *near = run_on("sssp", graph, pool, ""), *all = run_on("sssp", graph, pool, "paths.near=off");
    printf("     updates: %" PRIu64 ", near=off %" PRIu64 "; edges %" PRIu64 ", %" PRIu64 "; %" PRIu64 " bounds\n",
           counted(near, "updates"), counted(all, "updates"), counted(near, "edges_loaded"),
           counted(all, "edges_loaded"), counted(near, "bounds_raised"));
    CHECK(counted(near, "updates") < counted(all, "updates"));
    CHECK(counted(near, "edges_loaded") < counted(all, "edges_loaded"));
    CHECK(counted(near, "bounds_raised") > 0);
    CHECK_EQ(counted(all, "bounds_raised"), 0);
    CHECK_EQ(count_on("bfs", graph, pool, "", "bounds_raised"), 0); /* levels have no buckets */
    td_run_destroy(near);
    td_run_destroy(all);
    td_graph_destroy(graph);
    td_pool_destroy(pool);
}

/* Every edge of these graphs is a path, or nearly: nothing travels further than in the variant without paths. */
TEST(on_graphs_of_diameter_one_paths_behave_like_vertices)
{
    static const char *const graphs[] = {"complete 20", "directed star"};
    td_pool *pool = pool_of(1);
    for (int g = 0; g < 2; g++) {
        td_graph *graph = named(graphs[g], TEST_UNWEIGHTED, pool);
        CHECK_EQ(count_on("bfs", graph, pool, "", "updates"), count_on("bfs", graph, pool, "paths.variant=t", "updates"));
        td_graph_destroy(graph);
    }
    td_pool_destroy(pool);
}

TEST(a_cycle_is_one_path_walked_twice)
{
    enum { LENGTH = 40 };
    uint32_t ends[LENGTH][2];
    for (uint32_t i = 0; i < LENGTH; i++) ends[i][0] = i, ends[i][1] = (i + 1) % LENGTH;
    td_pool *pool = pool_of(1);
    td_graph *graph = test_graph_of(LENGTH, (const uint32_t(*)[2])ends, NULL, LENGTH, false);
    td_run *run = run_on("bfs", graph, pool, "");
    CHECK_EQ(counted(run, "paths"), 1);
    CHECK(counted(run, "rounds") <= 2);
    CHECK_EQ(((const uint32_t *)run->values)[LENGTH - 1], LENGTH - 1);
    td_run_destroy(run);
    td_graph_destroy(graph);
    td_pool_destroy(pool);
}

/* The counters of one worker are the same in every run. */
TEST(one_worker_counts_the_same_every_time)
{
    td_pool *pool = pool_of(1);
    td_graph *graph = named("web", TEST_UNWEIGHTED, pool);
    CHECK_EQ(count_on("pagerank", graph, pool, "", "updates"), count_on("pagerank", graph, pool, "", "updates"));
    CHECK_EQ(count_on("kcore", graph, pool, "", "bytes_loaded"), count_on("kcore", graph, pool, "", "bytes_loaded"));
    td_graph_destroy(graph);
    td_pool_destroy(pool);
}

TEST(cores_are_one_asynchronous_run)
{
    td_pool *pool = pool_of(1);
    td_graph *graph = named("complete 20", TEST_UNWEIGHTED, pool);
    td_run *run = run_on("kcore", graph, pool, "");
    CHECK_EQ(((const uint32_t *)run->values)[0], 19); /* every bound is right from the start */
    CHECK_EQ(counted(run, "updates"), 0);
    td_run_destroy(run);
    td_graph_destroy(graph);
    td_pool_destroy(pool);
}

/* Once-only paths in several partitions that begin at one vertex: the one that applies it is not always the first that
 * is walked, and the others pass its value on. */
TEST(once_only_paths_of_several_partitions_are_final)
{
    static const char *const settings[] = {"", "paths.share=1", "paths.balance=off", "paths.merge=free",
                                           "paths.acyclic=on", "paths.variant=w", "paths.partition_edges=32"};
    td_gen_spec spec = {.kind = "web", .vertices = 3000, .degree = 8, .seed = 1, .rewire = -1};
    td_build_options build = {0};
    for (int workers = 1; workers <= 4; workers *= 4) {
        td_pool *pool = pool_of(workers);
        td_graph *graph = NULL;
        CHECK_OK(td_graph_generate(&graph, &spec, &build, pool));
        for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
            td_run *run = run_on("pagerank", graph, pool, settings[i]);
            if (!run->converged || !(run->final_change <= run->tolerance))
                TEST_FAIL("%s, %d threads: the last change is %g", settings[i], workers, run->final_change);
            const char *claims;
            CHECK_OK(td_run_verify(run, pool, &claims));
            td_run_destroy(run);
        }
        td_graph_destroy(graph);
        td_pool_destroy(pool);
    }
}

/* Refusals. */

static void refuse(const char *program, td_run_options options, const char *settings, const char *words)
{
    td_pool *pool = pool_of(1);
    td_graph *graph = named("web", TEST_U8, pool);
    td_run *run = NULL;
    options.pool = pool;
    options.engine = "paths";
    CHECK_EQ(try_run(&run, program, graph, options, settings), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), words);
    td_graph_destroy(graph);
    td_pool_destroy(pool);
}

TEST(programs_and_requests_whose_results_depend_on_rounds_are_refused)
{
    refuse("heat", (td_run_options){0}, "", "number of rounds");
    refuse("nn", (td_run_options){0}, "", "number of rounds");
    refuse("wcc", (td_run_options){0}, "", "labels");
    refuse("mst", (td_run_options){0}, "", "chooses edges for whole components");
    refuse("pagerank", (td_run_options){.has_iterations = true, .iterations = 5}, "", "no iterations over all vertices");
    refuse("pagerank", (td_run_options){.mode = TD_MODE_SYNC}, "", "asynchronous");
    refuse("kcore", (td_run_options){.checkpoint = "."}, "", "checkpoint");
    refuse("pagerank", (td_run_options){0}, "pagerank.damping=1", "damping below 1");
    refuse("pagerank", (td_run_options){.has_tolerance = true, .tolerance = 0}, "", "above 0");
}

TEST(settings_without_effect_are_refused)
{
    refuse_setting("paths", "pagerank", "paths.share=0.5 paths.priority=off", "share");
    refuse_setting("paths", "pagerank", "paths.balance=on paths.variant=w", "balance");
    refuse_setting("paths", "pagerank", "paths.layers=off paths.variant=t", "layers");
    refuse_setting("paths", "pagerank", "paths.acyclic=on paths.merge=free", "paths.merge has no effect");
    refuse_setting("paths", "pagerank", "paths.depth=8 paths.acyclic=on", "paths.depth has no effect");
    refuse("pagerank", (td_run_options){0}, "paths.pack=off", "paths.pack is about the threads of a GPU");
    refuse("pagerank", (td_run_options){0}, "paths.proxy=0", "paths.proxy is about the threads of a GPU");
    refuse("pagerank", (td_run_options){0}, "paths.steal=off", "paths.steal is about the threads of a GPU");
    refuse("pagerank", (td_run_options){0}, "paths.walk=warp", "paths.walk is about the threads of a GPU");
    refuse_setting("paths", "sssp", "paths.near=off paths.variant=w", "near");
    refuse_setting("paths", "pagerank", "paths.walk=lanes paths.dense=0.5", "paths.walk=warp");
    refuse("pagerank", (td_run_options){0}, "paths.dense=0.5", "paths.dense is about the threads of a GPU");
}

TEST(both_ways_along_edges_layers_have_no_effect_and_the_plan_says_so)
{
    td_pool *pool = pool_of(1);
    td_graph *graph = named("path", TEST_UNWEIGHTED, pool), *directed = named("web", TEST_UNWEIGHTED, pool);
    td_plan *plan = NULL;
    td_run_options options = {.pool = pool, .engine = "paths"};
    CHECK_OK(td_plan_create(&plan, td_engine_named("paths"), program_of("pagerank"), graph, &options));
    CHECK_CONTAINS(plan->note, "layers have no effect");
    td_plan_destroy(plan);
    CHECK_OK(td_plan_create(&plan, td_engine_named("paths"), program_of("labels"), directed, &options));
    CHECK_CONTAINS(plan->note, "layers have no effect");
    td_plan_destroy(plan);
    CHECK_OK(td_plan_create(&plan, td_engine_named("paths"), program_of("pagerank"), directed, &options));
    CHECK_EQ(plan->note[0], 0);
    td_plan_destroy(plan);
    td_graph_destroy(graph);
    td_graph_destroy(directed);
    td_pool_destroy(pool);
}

/* Every request for memory fails once: an error, a message, no leak. */
static void fail_in_turn(const char *program, const char *settings)
{
    td_pool *pool = pool_of(2);
    td_graph *graph = named("two components", TEST_U8, pool);
    td_run_options options = {.pool = pool, .engine = "paths", .has_source = program_of(program)->info->needs_source};
    td_settings given = settings_from(settings);
    options.settings = &given;
    uint64_t before = td_memory().now;
    for (uint64_t nth = 1;; nth++) {
        td_run *run = NULL;
        td_alloc_fail_at(nth);
        td_status status = td_run_program(&run, program_of(program), graph, &options);
        td_alloc_fail_at(0);
        td_run_destroy(run);
        CHECK_EQ(td_memory().now, before);
        if (status == TD_OK) break;
        CHECK_EQ(status, TD_NO_MEMORY);
        CHECK(td_last_message()[0] != 0);
    }
    td_settings_clear(&given);
    td_graph_destroy(graph);
    td_pool_destroy(pool);
}

TEST(every_allocation_fails_once)
{
    fail_in_turn("pagerank", "");
    fail_in_turn("sssp", "paths.acyclic=on");
    fail_in_turn("kcore", "");
    fail_in_turn("kcore", "paths.variant=t");
}

TEST_MAIN
