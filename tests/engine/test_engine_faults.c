/* What can go wrong in a run: allocations that fail one after another, a cancel
 * in the middle, graphs and weights that a program cannot take, distances too
 * long for their type. Every one ends in an error with words; nothing is left
 * allocated and nothing hangs. */
#include "engine/engine.h"
#include "engine/ways.h"

#include "base/cancel.h"

#include <math.h>
#include <pthread.h>

static td_run_options options_for(const td_program_info *info, const td_graph *graph, td_pool *pool)
{
    return (td_run_options){.pool = pool, .has_source = info->needs_source, .source = busiest(graph),
                            .parents = info->gives_parents,
                            .has_iterations = strcmp(info->name, "circuit") == 0, .iterations = 20};
}

/* Failing allocations. */

/* The nth allocation of a run fails, for every n until one gets through. */
static void check_every_allocation(const char *program, const td_graph *graph, td_pool *pool, const char *settings_text)
{
    td_settings settings = settings_from(settings_text);
    td_run_options options = options_for(program_of(program)->info, graph, pool);
    options.settings = &settings;
    if (strstr(settings_text, "direction=pull") != NULL) options.mode = TD_MODE_ASYNC;
    uint64_t held = td_memory().now, nth = 1;
    for (;; nth++) {
        td_run *run = NULL;
        td_alloc_fail_at(nth);
        td_status status = td_run_program(&run, program_of(program), graph, &options);
        td_alloc_fail_at(0);
        if (status == TD_OK) {
            td_run_destroy(run);
            break;
        }
        if (status != TD_NO_MEMORY || td_last_message()[0] == '\0')
            TEST_FAIL("%s with '%s': allocation %" PRIu64 " fails and gives %s: '%s'", program, settings_text, nth,
                      td_status_name(status), td_last_message());
        CHECK(run == NULL);
        CHECK_EQ(td_memory().now, held);
    }
    CHECK(nth > 3);
    td_settings_clear(&settings);
}

TEST(any_failing_allocation_is_an_error_and_leaves_nothing_behind)
{
    pools threads = make_pools();
    td_graph *graph = test_graph(test_graph_named("rmat 10"), TEST_U8, NULL);
    for (int p = 0; td_programs[p] != NULL; p++)
        for (int t = 0; t < WAY_THREADS; t++) {
            const td_program *program = td_programs[p];
            const char *name = program->info->name;
            check_every_allocation(name, graph, threads.of[t], "cpu.serial=0 cpu.high_degree=64 cpu.piece=64");
            if (program->info->kind == TD_KIND_SWEEP) continue;
            check_every_allocation(name, graph, threads.of[t], "cpu.serial=0 cpu.direction=notify");
            if (td_program_has_async(program))
                check_every_allocation(name, graph, threads.of[t], "cpu.serial=0 cpu.direction=pull");
            if (program->cpu[0].fused)
                check_every_allocation(name, graph, threads.of[t],
                                       "cpu.serial=0 cpu.high_degree=64 cpu.direction=push");
        }
    td_graph_destroy(graph);
    destroy_pools(&threads);
}

/* Narrow buckets: the workers themselves allocate hundreds of them, and windows move. */
TEST(allocations_that_fail_inside_workers_stop_them_all)
{
    pools threads = make_pools();
    td_graph *graph = test_graph(test_graph_named("two components"), TEST_U16, NULL);
    for (int t = 0; t < WAY_THREADS; t++) check_every_allocation("sssp", graph, threads.of[t], "cpu.delta=100");
    td_graph_destroy(graph);
    destroy_pools(&threads);
}

TEST(deferred_sinks_and_personal_ranks_fail_as_cleanly)
{
    td_graph *graph = test_graph(test_graph_named("web"), TEST_F32, NULL);
    const char *path = test_path("seeds.txt");
    char settings[600];
    test_write_file(path, "5 1\n6 2\n", 8);
    snprintf(settings, sizeof settings, "pagerank.personal=%s pagerank.dangling=ignore cpu.sinks=defer", path);
    check_every_allocation("pagerank", graph, NULL, settings);
    snprintf(settings, sizeof settings, "adsorption.seeds=%s", path);
    check_every_allocation("adsorption", graph, NULL, settings);
    check_every_allocation("bfs", graph, NULL, "cpu.sinks=defer");
    check_every_allocation("sssp", graph, NULL, "cpu.sinks=defer");
    td_graph_destroy(graph);
}

/* Every program under a budget that has room for some of its arrays only. */
TEST(a_budget_too_small_is_an_error_that_names_it)
{
    td_graph *graph = test_graph(test_graph_named("web"), TEST_U8, NULL);
    for (int p = 0; td_programs[p] != NULL; p++) {
        td_run *run = NULL;
        td_run_options options = options_for(td_programs[p]->info, graph, NULL);
        td_memory_set_budget(td_memory().now + 2000);
        td_status status = td_run_program(&run, td_programs[p], graph, &options);
        td_memory_set_budget(0);
        CHECK_EQ(status, TD_NO_MEMORY);
        CHECK_CONTAINS(td_last_message(), "budget");
    }
    td_graph_destroy(graph);
}

/* Cancelling. */

static bool stop_at(void *context, const td_iteration *row)
{
    uint32_t *calls = context;
    (void)row;
    return ++*calls < 2;
}

static bool request_stop(void *context, const td_iteration *row)
{
    uint32_t *calls = context;
    (void)row;
    if (++*calls == 2) td_cancel_request();
    return true;
}

static void check_cancelled(td_iteration_fn each, const char *message)
{
    static const char *const settings[] = {"", "cpu.direction=pull", "cpu.direction=notify"};
    pools threads = make_pools();
    td_graph *graph = test_graph(test_graph_named("grid 30x40"), TEST_U8, NULL);
    for (int p = 0; td_programs[p] != NULL; p++)
        for (int s = 0; s < 3; s++)
            for (int t = 0; t < WAY_THREADS; t++) {
                const td_program_info *info = td_programs[p]->info;
                if (strcmp(info->name, "nn") == 0) continue; /* a symmetric graph feeds it nothing: one iteration */
                td_run *run = NULL;
                uint32_t calls = 0;
                td_run_options options = options_for(info, graph, threads.of[t]);
                options.each = each;
                options.each_context = &calls;
                td_status status = try_run(&run, info->name, graph, options, settings[s]);
                td_cancel_clear();
                if (status != TD_CANCELLED)
                    TEST_FAIL("%s with '%s' gives %s", info->name, settings[s], td_status_name(status));
                CHECK_CONTAINS(td_last_message(), message);
                CHECK(run == NULL);
                CHECK_EQ(calls, 2);
            }
    td_graph_destroy(graph);
    destroy_pools(&threads);
}

TEST(a_callback_that_says_no_stops_the_run) { check_cancelled(stop_at, "cancelled"); }

TEST(a_request_from_elsewhere_stops_the_run) { check_cancelled(request_stop, "interrupted"); }

static void *cancel_soon(void *argument)
{
    (void)argument;
    usleep(20000);
    td_cancel_request();
    return NULL;
}

TEST(a_request_from_another_thread_stops_a_run_without_end)
{
    td_pool *pool = NULL;
    pthread_t thread;
    CHECK_OK(td_pool_create(&pool, 2));
    td_graph *graph = test_graph(test_graph_named("rmat 10"), TEST_UNWEIGHTED, NULL);
    td_run *run = NULL;
    td_run_options options = {.pool = pool, .has_iterations = true, .iterations = UINT32_MAX, .has_tolerance = true};
    CHECK_EQ(pthread_create(&thread, NULL, cancel_soon, NULL), 0);
    td_status status = try_run(&run, "heat", graph, options, "");
    pthread_join(thread, NULL);
    td_cancel_clear();
    CHECK_EQ(status, TD_CANCELLED);
    td_graph_destroy(graph);
    td_pool_destroy(pool);
}

/* A run inside a callback of another: the inner one has the calling worker to itself. */
typedef struct nested {
    const td_graph *graph;
    td_pool *pool;
    td_status status;
    uint32_t reached;
} nested;

static bool run_inside(void *context, const td_iteration *row)
{
    nested *self = context;
    td_run *run = NULL;
    if (row->number > 0) return true;
    td_run_options options = {.pool = self->pool, .has_source = true, .source = busiest(self->graph)};
    self->status = td_run_program(&run, td_program_named("sssp"), self->graph, &options);
    if (self->status != TD_OK) return false;
    for (uint32_t v = 0; v < self->graph->vertices; v++)
        self->reached += ((const uint32_t *)run->values)[v] != TD_UNREACHED;
    td_run_destroy(run);
    return true;
}

TEST(a_run_inside_a_callback_of_another_does_not_hang)
{
    pools threads = make_pools();
    td_graph *graph = test_graph(test_graph_named("rmat 10, clean"), TEST_U8, NULL);
    for (int t = 0; t < WAY_THREADS; t++) {
        nested self = {.graph = graph, .pool = threads.of[t], .status = TD_INTERNAL};
        td_run_options options = {.pool = threads.of[t], .has_source = true, .source = busiest(graph),
                                  .each = run_inside, .each_context = &self};
        td_run *run = run_of("sssp", graph, options, "");
        uint32_t reached = 0;
        for (uint32_t v = 0; v < graph->vertices; v++) reached += ((const uint32_t *)run->values)[v] != TD_UNREACHED;
        CHECK_EQ(self.status, TD_OK);
        CHECK_EQ(self.reached, reached);
        td_run_destroy(run);
    }
    td_graph_destroy(graph);
    destroy_pools(&threads);
}

/* Graphs and requests that are refused, or hardly there. */

TEST(an_empty_graph_is_refused_by_every_program)
{
    td_graph *graph = test_graph(test_graph_named("empty"), TEST_U8, NULL);
    for (int p = 0; td_programs[p] != NULL; p++) {
        td_run *run = NULL;
        td_run_options options = {.has_source = td_programs[p]->info->needs_source};
        CHECK_STATUS(td_run_program(&run, td_programs[p], graph, &options), TD_INVALID);
        CHECK_CONTAINS(td_last_message(), "no vertices");
    }
    td_graph_destroy(graph);
}

TEST(vertices_without_edges_are_no_trouble)
{
    static const char *const names[] = {"single vertex", "isolated"};
    pools threads = make_pools();
    for (int g = 0; g < 2; g++) {
        td_graph *graph = test_graph(test_graph_named(names[g]), TEST_U8, NULL);
        for (int p = 0; td_programs[p] != NULL; p++)
            for (int t = 0; t < WAY_THREADS; t++) {
                const td_program_info *info = td_programs[p]->info;
                td_run_options options = options_for(info, graph, threads.of[t]);
                td_run *run = run_of(info->name, graph, options, "cpu.serial=0");
                CHECK_EQ(run->edges_processed, 0);
                CHECK_EQ(run->edge_count, 0);
                if (info->gives_parents) CHECK_EQ(run->parents[0], 0);
                td_run_destroy(run);
            }
        td_graph_destroy(graph);
    }
    destroy_pools(&threads);
}

TEST(programs_that_need_weights_say_how_to_attach_them)
{
    static const char *const programs[] = {"sssp", "mst", "nn"};
    td_graph *graph = test_graph(test_graph_named("tree"), TEST_UNWEIGHTED, NULL);
    for (int p = 0; p < 3; p++) {
        td_run *run = NULL;
        td_run_options options = options_for(program_of(programs[p])->info, graph, NULL);
        CHECK_STATUS(try_run(&run, programs[p], graph, options, ""), TD_INVALID);
        CHECK_CONTAINS(td_last_message(), programs[p]);
        CHECK_CONTAINS(td_last_message(), "weights");
    }
    td_graph_destroy(graph);
}

TEST(negative_weights_are_refused_with_the_edge)
{
    static const char *const programs[] = {"sssp", "adsorption", "heat", "circuit"};
    pools threads = make_pools();
    td_graph *graph = test_graph(test_graph_named("two components"), TEST_SIGNED, NULL); /* ids from 1 */
    uint64_t bad = 0;
    while (td_weight_at(graph, &graph->out, bad) >= 0) bad++;
    uint32_t source = 0;
    while (graph->out.offsets[source + 1] <= bad) source++;
    char edge[64];
    snprintf(edge, sizeof edge, "from %u to %u ", source + 1, graph->out.targets[bad] + 1);
    for (int p = 0; p < 4; p++)
        for (int t = 0; t < WAY_THREADS; t++) {
            td_run *run = NULL;
            td_run_options options = options_for(program_of(programs[p])->info, graph, threads.of[t]);
            CHECK_STATUS(try_run(&run, programs[p], graph, options, ""), TD_INVALID);
            CHECK_CONTAINS(td_last_message(), edge);
            CHECK_CONTAINS(td_last_message(), "weight -");
        }
    td_graph_destroy(graph);
    destroy_pools(&threads);
}

TEST(a_resistor_of_zero_ohms_is_refused)
{
    static const uint32_t ends[][2] = {{0, 1}, {1, 2}}, ohms[] = {5, 0};
    td_graph *graph = test_graph_of(3, ends, ohms, 2, true);
    td_run *run = NULL;
    CHECK_STATUS(try_run(&run, "circuit", graph, (td_run_options){0}, ""), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "from 101 to 102 has weight 0");
    td_graph_destroy(graph);
}

TEST(a_distance_beyond_its_type_is_reported_not_wrapped)
{
    static const char *const settings[] = {"", "cpu.direction=push", "cpu.direction=pull", "cpu.direction=notify"};
    static const uint32_t ends[][2] = {{0, 1}, {1, 2}}, long_ways[] = {4000000000u, 4000000000u},
                          at_the_limit[] = {4000000000u, 294967293u}, just_beyond[] = {4000000000u, 294967294u};
    td_graph *far = test_graph_of(3, ends, long_ways, 2, false), *most = test_graph_of(3, ends, at_the_limit, 2, false),
             *more = test_graph_of(3, ends, just_beyond, 2, false);
    for (int s = 0; s < 4; s++) {
        td_run *run = NULL;
        char single[128];
        snprintf(single, sizeof single, "%s sssp.precision=single", settings[s]);
        CHECK_STATUS(try_run(&run, "sssp", far, (td_run_options){.has_source = true}, single), TD_LIMIT);
        CHECK_CONTAINS(td_last_message(), "vertex 102");
        CHECK_CONTAINS(td_last_message(), "4294967293");
        CHECK_STATUS(try_run(&run, "sssp", more, (td_run_options){.has_source = true}, single), TD_LIMIT);
        run = run_of("sssp", more, (td_run_options){.has_source = true}, settings[s]); /* again, with 64 bits */
        CHECK_EQ(((const uint64_t *)run->values)[2], UINT64_C(4294967294));
        td_run_destroy(run);
        run = run_of("sssp", most, (td_run_options){.has_source = true}, settings[s]);
        CHECK_EQ(((const uint32_t *)run->values)[2], 4294967293u);
        td_run_destroy(run);
    }
    td_graph_destroy(far);
    td_graph_destroy(most);
    td_graph_destroy(more);
}

/* A path whose edges all have this real weight. */
static td_graph *real_path(uint32_t vertices, float weight)
{
    td_graph *graph = NULL;
    td_edge_list *edges = NULL;
    td_edge_chunk *chunk = NULL;
    CHECK_OK(td_edges_create(&edges, "path"));
    CHECK_OK(td_edges_chunk(edges, 0, &chunk));
    edges->declared = edges->weighted = true;
    edges->vertices = vertices;
    CHECK_OK(td_chunk_reserve(chunk, vertices, true));
    for (uint32_t v = 0; v + 1 < vertices; v++) {
        CHECK_OK(td_chunk_put(chunk, v, v + 1));
        td_chunk_weight_real(chunk, weight);
    }
    CHECK_OK(td_graph_build(&graph, edges, &(td_build_options){0}, NULL));
    td_edges_destroy(edges);
    return graph;
}

TEST(a_real_distance_that_overflows_is_reported_not_taken_for_unreached)
{
    static const char *const settings[] = {"", "cpu.direction=push", "cpu.direction=pull", "cpu.delta=1e30"};
    td_graph *graph = real_path(4, 1.5e38f), *fits = real_path(3, 1.5e38f);
    for (int s = 0; s < 4; s++) {
        td_run *run = NULL;
        char single[128];
        snprintf(single, sizeof single, "%s sssp.precision=single", settings[s]);
        CHECK_STATUS(try_run(&run, "sssp", graph, (td_run_options){.has_source = true}, single), TD_LIMIT);
        CHECK_CONTAINS(td_last_message(), "vertex 3");
        CHECK_CONTAINS(td_last_message(), "sssp.precision=double");
        run = run_of("sssp", fits, (td_run_options){.has_source = true}, single);
        CHECK(((const float *)run->values)[2] == 3e38f);
        td_run_destroy(run);
        run = run_of("sssp", graph, (td_run_options){.has_source = true}, settings[s]);
        CHECK(((const double *)run->values)[3] == 3 * (double)1.5e38f);
        td_run_destroy(run);
    }
    td_graph_destroy(graph);
    td_graph_destroy(fits);
}

TEST(the_heaviest_integer_weight_is_too_much_for_a_forest)
{
    static const uint32_t ends[][2] = {{0, 1}}, heaviest[] = {UINT32_MAX}, fits[] = {UINT32_MAX - 1};
    td_graph *graph = test_graph_of(2, ends, heaviest, 1, false), *other = test_graph_of(2, ends, fits, 1, false);
    td_run *run = NULL;
    CHECK_STATUS(try_run(&run, "mst", graph, (td_run_options){0}, ""), TD_LIMIT);
    CHECK_CONTAINS(td_last_message(), "4294967295");
    run = run_of("mst", other, (td_run_options){0}, "");
    CHECK_EQ(run->edge_count, 1);
    CHECK(run->total_weight == 4294967294.0);
    td_run_destroy(run);
    td_graph_destroy(graph);
    td_graph_destroy(other);
}

TEST(requests_that_make_no_sense_are_refused)
{
    td_graph *graph = test_graph(test_graph_named("tree"), TEST_U8, NULL);
    td_run *run = NULL;
    CHECK_STATUS(try_run(&run, "bfs", graph, (td_run_options){0}, ""), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "source");
    CHECK_STATUS(try_run(&run, "bfs", graph, (td_run_options){.has_source = true, .source = graph->vertices}, ""),
                 TD_INVALID);
    CHECK_STATUS(try_run(&run, "pagerank", graph, (td_run_options){.has_tolerance = true, .tolerance = -1}, ""),
                 TD_USAGE);
    CHECK_STATUS(try_run(&run, "pagerank", graph, (td_run_options){0}, "cpu.direction=sideways"), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "auto|pull|notify|push");
    CHECK_STATUS(try_run(&run, "pagerank", graph, (td_run_options){0}, "pagerank.damping=1.5"), TD_USAGE);
    CHECK_STATUS(try_run(&run, "heat", graph, (td_run_options){0}, "heat.step=1"), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "unstable");
    CHECK_STATUS(try_run(&run, "adsorption", graph, (td_run_options){0}, "adsorption.injection=0.9"), TD_USAGE);
    CHECK_STATUS(try_run(&run, "circuit", graph, (td_run_options){0}, "circuit.ground=none"), TD_USAGE);
    CHECK_STATUS(try_run(&run, "circuit", graph, (td_run_options){0}, "circuit.ground=5000"), TD_USAGE);
    CHECK(td_program_named("frobnicate") == NULL);
    CHECK(run == NULL);
    td_graph_destroy(graph);
}

TEST(a_graph_without_its_in_adjacency_is_refused)
{
    td_graph *graph = test_graph(test_graph_named("tree"), TEST_U8, NULL), *half = graph;
    CHECK_OK(td_graph_rebuild(&half, &(td_build_options){.out_only = true}, NULL));
    td_run *run = NULL;
    CHECK_STATUS(try_run(&run, "wcc", half, (td_run_options){0}, ""), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "in-adjacency");
    td_graph_destroy(half);
}

TEST_MAIN
