/* What options and settings of a run promise: deferred sinks, personal ranks,
 * parents, limits, directions, and the counts in the rows of iterations. */
#include "engine/ways.h"

#include "programs/verify/verify.h"

#include <math.h>

#define SHARED "cpu.serial=0 cpu.high_degree=8 cpu.piece=5 "

static double real_at(const td_run *run, uint32_t v)
{
    if (run->kind == TD_VALUE_U32) return (double)((const uint32_t *)run->values)[v];
    return run->kind == TD_VALUE_F32 ? (double)((const float *)run->values)[v] : ((const double *)run->values)[v];
}

/* Deferred sinks. */

static void check_deferred(const char *program, const td_graph *graph, td_run_options options, const char *settings,
                           double tolerance)
{
    char deferred_settings[256];
    snprintf(deferred_settings, sizeof deferred_settings, "%s cpu.sinks=defer", settings);
    td_run *now = run_of(program, graph, options, settings),
           *deferred = run_of(program, graph, options, deferred_settings);
    for (uint32_t v = 0; v < graph->vertices; v++)
        if (fabs(real_at(now, v) - real_at(deferred, v)) > tolerance)
            TEST_FAIL("%s: vertex %u has %g with sinks deferred, %g otherwise", program, v, real_at(deferred, v),
                      real_at(now, v));
    CHECK_STR(deferred->rows[deferred->row_count - 1].direction, "sinks");
    CHECK(deferred->converged);
    td_run_destroy(now);
    td_run_destroy(deferred);
}

TEST(deferred_sinks_end_with_the_values_they_would_have_had)
{
    static const char *const names[] = {"directed star", "tree", "web", "rmat 10", "dag", "mostly isolated", "layered"};
    pools threads = make_pools();
    for (int g = 0; g < 7; g++)
        for (int t = 0; t < WAY_THREADS; t++) {
            td_graph *graph = test_graph(test_graph_named(names[g]), TEST_F32, threads.of[t]);
            td_run_options options = {.pool = threads.of[t]}, search = options;
            search.has_source = true;
            search.source = busiest(graph);
            check_deferred("bfs", graph, search, SHARED, 0);
            check_deferred("bfs", graph, search, SHARED "cpu.direction=pull", 0);
            check_deferred("bfs", graph, search, SHARED "cpu.direction=push", 0);
            check_deferred("sssp", graph, search, SHARED, 0);
            check_deferred("sssp", graph, search, SHARED "cpu.direction=pull", 0);
            check_deferred("sssp", graph, search, SHARED "cpu.direction=push", 0);
            check_deferred("sssp", graph, search, SHARED "cpu.direction=notify", 0);
            check_deferred("pagerank", graph, options, SHARED "pagerank.dangling=ignore", 1e-5);
            check_deferred("pagerank", graph, options, SHARED "pagerank.dangling=ignore cpu.direction=notify", 1e-5);
            check_deferred("adsorption", graph, options, SHARED, 1e-5);
            check_deferred("adsorption", graph, options, SHARED "cpu.direction=pull", 1e-5);
            if (strcmp(names[g], "layered") == 0) check_deferred("nn", graph, options, SHARED, 1e-6);
            td_graph_destroy(graph);
        }
    destroy_pools(&threads);
}

static uint64_t active_in(const td_run *run)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < run->row_count; i++) sum += run->rows[i].active_vertices;
    return sum;
}

/* A deferred sink is never in a frontier: it has its value once. */
TEST(deferred_sinks_are_processed_once)
{
    static const char *const programs[] = {"bfs", "bfs", "sssp"},
                            *const directions[] = {"", "cpu.direction=push", "cpu.direction=push"};
    td_graph *graph = test_graph(test_graph_named("web"), TEST_F32, NULL);
    td_run_options options = {.has_source = true, .source = busiest(graph), .parents = true};
    for (int i = 0; i < 3; i++) {
        char settings[128];
        snprintf(settings, sizeof settings, "%s cpu.sinks=defer", directions[i]);
        td_run *now = run_of(programs[i], graph, options, directions[i]),
               *deferred = run_of(programs[i], graph, options, settings);
        uint64_t sinks = 0;
        for (uint32_t v = 0; v < graph->vertices; v++) {
            bool reached = deferred->parents[v] != TD_NO_VERTEX;
            CHECK_EQ(reached, now->parents[v] != TD_NO_VERTEX);
            sinks += reached && td_degree(&graph->out, v) == 0;
        }
        CHECK(sinks > 0);
        if (active_in(deferred) + sinks > active_in(now))
            TEST_FAIL("%s %s: %" PRIu64 " active vertices with %" PRIu64 " sinks deferred, %" PRIu64 " otherwise",
                      programs[i], settings, active_in(deferred), sinks, active_in(now));
        td_run_destroy(now);
        td_run_destroy(deferred);
    }
    td_graph_destroy(graph);
}

TEST(sinks_are_not_deferred_where_a_neighbour_reads_their_value)
{
    static const struct {
        const char *program, *why;
        td_mode mode;
        uint32_t iterations;
    } cases[] = {
        {"pagerank", "pagerank.dangling=ignore", TD_MODE_SYNC, 0}, {"labels", "both ways", TD_MODE_SYNC, 0},
        {"kcore", "both ways", TD_MODE_SYNC, 0},   {"wcc", "both ways", TD_MODE_SYNC, 0},
        {"mst", "both ways", TD_MODE_SYNC, 0},     {"heat", "both ways", TD_MODE_SYNC, 0},
        {"circuit", "both ways", TD_MODE_SYNC, 0}, {"bfs", "asynchronous", TD_MODE_ASYNC, 0},
        {"bfs", "iteration limit", TD_MODE_SYNC, 3},
    };
    td_graph *graph = test_graph(test_graph_named("web"), TEST_F32, NULL);
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        td_run *run = NULL;
        const td_program_info *info = program_of(cases[i].program)->info;
        td_run_options options = {.mode = cases[i].mode, .has_source = info->needs_source,
                                  .has_iterations = cases[i].iterations > 0, .iterations = cases[i].iterations};
        CHECK_STATUS(try_run(&run, cases[i].program, graph, options, "cpu.sinks=defer"), TD_USAGE);
        CHECK_CONTAINS(td_last_message(), cases[i].why);
        CHECK(run == NULL);
    }
    td_graph_destroy(graph);
}

/* Personal ranks. */

TEST(personal_ranks_follow_the_given_distribution)
{
    static const char *const dangling[] = {"spread", "ignore"};
    td_graph *graph = test_graph(test_graph_named("web"), TEST_UNWEIGHTED, NULL);
    double *personal = NULL;
    REFERENCE_NEW(&personal, graph->vertices);
    personal[7] = 0.25;
    personal[100] = 0.75;
    const char *path = test_path("personal.txt");
    char text[64], settings[700];
    int length = snprintf(text, sizeof text, "# where\n%d\n%d 3\n", 7, 100); /* an id alone weighs 1 */
    test_write_file(path, text, (size_t)length);
    for (int d = 0; d < 2; d++) {
        snprintf(settings, sizeof settings, SHARED "pagerank.personal=%s pagerank.dangling=%s", path, dangling[d]);
        td_run_options options = {.has_iterations = true, .iterations = 15};
        td_run *run = run_of("pagerank", graph, options, settings);
        double *ranks = reference_pagerank(graph, 0.85, d == 0, personal, 15);
        for (uint32_t v = 0; v < graph->vertices; v++)
            if (fabs(real_at(run, v) - ranks[v]) > 1e-5 * ranks[v] + 1e-9)
                TEST_FAIL("%s: vertex %u has rank %g, not %g", dangling[d], v, real_at(run, v), ranks[v]);
        td_free(ranks);
        td_run_destroy(run);
    }
    td_free(personal);
    td_graph_destroy(graph);
}

TEST(a_bad_file_of_values_is_refused_with_its_line)
{
    static const struct {
        const char *text, *message;
        td_status status;
    } cases[] = {
        {"0 1\nx 2\n", ":2:", TD_FORMAT},       {"0 1 2\n", "more than an id and a value", TD_FORMAT},
        {"0 high\n", ":1:", TD_FORMAT},         {"99999\n", "99999", TD_NOT_FOUND},
        {"0 -1\n", "negative", TD_INVALID},     {"# nothing\n", "zero", TD_INVALID},
        {"0 nan\n", ":1:", TD_FORMAT},
    };
    td_graph *graph = test_graph(test_graph_named("web"), TEST_UNWEIGHTED, NULL);
    const char *path = test_path("personal.txt");
    char settings[700];
    snprintf(settings, sizeof settings, "pagerank.personal=%s", path);
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        td_run *run = NULL;
        test_write_file(path, cases[i].text, strlen(cases[i].text));
        CHECK_STATUS(try_run(&run, "pagerank", graph, (td_run_options){0}, settings), cases[i].status);
        CHECK_CONTAINS(td_last_message(), cases[i].message);
        CHECK_CONTAINS(td_last_message(), path);
    }
    unlink(path);
    td_run *run = NULL;
    CHECK_STATUS(try_run(&run, "pagerank", graph, (td_run_options){0}, settings), TD_IO);
    CHECK_CONTAINS(td_last_message(), path);
    td_graph_destroy(graph);
}

/* Parents. */

/* A path whose edges lead from high numbers to low ones. */
static td_graph *backward_path(uint32_t vertices, bool real, double weight)
{
    td_graph *graph = NULL;
    td_edge_list *edges = NULL;
    td_edge_chunk *chunk = NULL;
    CHECK_OK(td_edges_create(&edges, "backward path"));
    CHECK_OK(td_edges_chunk(edges, 0, &chunk));
    edges->declared = edges->weighted = true;
    edges->vertices = vertices;
    CHECK_OK(td_chunk_reserve(chunk, vertices, true));
    for (uint32_t v = vertices - 1; v > 0; v--) {
        CHECK_OK(td_chunk_put(chunk, v, v - 1));
        bool first = v == vertices - 1;
        if (real) td_chunk_weight_real(chunk, first ? 1000 : (float)weight);
        else td_chunk_weight_integer(chunk, false, first ? 1000 : (uint32_t)weight);
    }
    CHECK_OK(td_graph_build(&graph, edges, &(td_build_options){0}, NULL));
    td_edges_destroy(edges);
    return graph;
}

TEST(a_long_chain_of_weightless_edges_has_its_parents_in_time)
{
    enum { LONG = 200000 };
    td_graph *graph = backward_path(LONG, false, 0);
    td_run_options options = {.has_source = true, .source = LONG - 1, .parents = true};
    td_run *run = run_of("sssp", graph, options, "");
    for (uint32_t v = 0; v < LONG; v++) CHECK_EQ(run->parents[v], v == LONG - 1 ? v : v + 1);
    td_run_destroy(run);
    td_graph_destroy(graph);
}

TEST(edges_too_light_to_move_a_distance_have_parents_too)
{
    static const char *const precisions[] = {"sssp.precision=single", "sssp.precision=double"};
    for (int i = 0; i < 2; i++) {
        td_graph *graph = backward_path(50, true, i == 0 ? 1e-6 : 1e-15);
        td_run_options options = {.has_source = true, .source = 49, .parents = true};
        td_run *run = run_of("sssp", graph, options, precisions[i]);
        CHECK(real_at(run, 0) == 1000);
        CHECK_OK(td_verify_sssp(graph, 49, run->kind, run->values, run->parents, NULL, NULL));
        for (uint32_t v = 0; v < 49; v++) CHECK_EQ(run->parents[v], v + 1);
        td_run_destroy(run);
        td_graph_destroy(graph);
    }
}

TEST(programs_without_parents_refuse_them)
{
    td_graph *graph = test_graph(test_graph_named("tree"), TEST_U8, NULL);
    td_run *run = NULL;
    CHECK_STATUS(try_run(&run, "wcc", graph, (td_run_options){.parents = true}, ""), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "parents");
    td_graph_destroy(graph);
}

/* Limits. */

TEST(a_search_of_k_iterations_goes_k_levels_far)
{
    static const char *const directions[] = {"auto", "pull", "push", "notify"};
    pools threads = make_pools();
    td_graph *graph = test_graph(test_graph_named("grid 30x40"), TEST_UNWEIGHTED, NULL);
    uint32_t *parents = NULL, *levels = reference_bfs(graph, 0, &parents);
    for (uint32_t limit = 0; limit < 80; limit += 13)
        for (int d = 0; d < 4; d++) {
            char settings[128];
            snprintf(settings, sizeof settings, SHARED "cpu.direction=%s", directions[d]);
            td_run_options options = {.pool = threads.of[d % WAY_THREADS], .has_source = true, .has_iterations = true,
                                      .iterations = limit, .mode = TD_MODE_SYNC};
            td_run *run = run_of("bfs", graph, options, settings);
            const uint32_t *seen = run->values;
            for (uint32_t v = 0; v < graph->vertices; v++)
                CHECK_EQ(seen[v], levels[v] <= limit ? levels[v] : TD_UNREACHED);
            CHECK(run->iterations <= limit);
            CHECK_EQ(run->converged, limit > 68); /* the far corner is 68 steps away */
            td_run_destroy(run);
        }
    td_free(levels);
    td_free(parents);
    td_graph_destroy(graph);
    destroy_pools(&threads);
}

TEST(every_program_keeps_to_its_limit_and_admits_it)
{
    pools threads = make_pools();
    td_graph *graph = test_graph(test_graph_named("rmat 10"), TEST_U8, NULL);
    for (int p = 0; td_programs[p] != NULL; p++)
        for (int t = 0; t < WAY_THREADS; t++) {
            const td_program_info *info = td_programs[p]->info;
            if (strcmp(info->name, "wcc") == 0) continue; /* one sweep is all it needs */
            td_run_options options = {.pool = threads.of[t], .has_source = info->needs_source, .has_iterations = true,
                                      .iterations = 2};
            td_run *run = run_of(info->name, graph, options, SHARED);
            if (run->iterations != 2 || run->converged)
                TEST_FAIL("%s: %u iterations%s", info->name, run->iterations, run->converged ? ", converged" : "");
            for (uint64_t e = 1; e < run->edge_count; e++) CHECK(run->edges[e - 1] < run->edges[e]);
            td_run_destroy(run);
        }
    td_graph_destroy(graph);
    destroy_pools(&threads);
}

TEST(a_tolerance_out_of_reach_ends_at_the_programs_own_limit)
{
    td_graph *graph = test_graph(test_graph_named("path"), TEST_UNWEIGHTED, NULL);
    td_run_options options = {.has_tolerance = true, .tolerance = 0};
    td_run *run = run_of("circuit", graph, options, "");
    CHECK(run->converged || run->iterations == program_of("circuit")->info->iterations);
    CHECK(run->iterations > 1000);
    td_run_destroy(run);
    td_graph_destroy(graph);
}

TEST(without_a_limit_pagerank_stops_at_its_tolerance)
{
    td_graph *graph = test_graph(test_graph_named("rmat 10"), TEST_UNWEIGHTED, NULL);
    td_run *strict = run_of("pagerank", graph, (td_run_options){0}, ""),
           *loose = run_of("pagerank", graph, (td_run_options){.has_tolerance = true, .tolerance = 1e-2}, "");
    CHECK(strict->converged);
    CHECK(strict->final_change <= 1e-6);
    CHECK(loose->converged);
    CHECK(loose->final_change <= 1e-2);
    CHECK(loose->iterations < strict->iterations);
    td_run_destroy(strict);
    td_run_destroy(loose);
    td_graph_destroy(graph);
}

/* Directions and counts. */

static void check_row(const td_run *run, const td_iteration *row, uint64_t all, bool hits)
{
    if (strcmp(row->direction, "push") == 0) CHECK_EQ(row->edges, row->active_edges);
    if (strcmp(row->direction, "bucket") == 0) CHECK_EQ(row->edges, row->active_edges);
    if (strcmp(row->direction, "pull") == 0 && !hits) CHECK_EQ(row->edges, all);
    if (strcmp(row->direction, "pull") == 0 && hits) CHECK(row->edges <= all);
    if (strcmp(row->direction, "notify") == 0) CHECK(row->edges >= row->active_edges);
    CHECK(row->number < run->iterations);
}

TEST(a_push_processes_the_active_edges_and_a_pull_all_of_them)
{
    static const char *const directions[] = {"auto", "pull", "notify", "push"};
    static const char *const programs[] = {"bfs", "sssp", "labels", "kcore", "pagerank", "heat", "adsorption", "nn"};
    static const char *const names[] = {"rmat 10", "rmat 10, clean", "heavy stars", "multigraph"};
    pools threads = make_pools();
    for (int g = 0; g < 4; g++) {
        td_graph *graph = test_graph(test_graph_named(names[g]), TEST_U8, NULL);
        for (int p = 0; p < 8; p++)
            for (int d = 0; d < 4; d++) {
                const td_program *program = program_of(programs[p]);
                const td_cpu_kernels *kernels = &program->cpu[0];
                if (d == 3 && !kernels->fused) continue;
                char settings[128];
                snprintf(settings, sizeof settings, SHARED "cpu.direction=%s", directions[d]);
                td_run_options options = {.pool = threads.of[p % WAY_THREADS], .mode = TD_MODE_SYNC,
                                          .has_source = program->info->needs_source, .source = busiest(graph)};
                if (!kernels->fused) options.has_iterations = true, options.iterations = 12;
                td_run *run = run_of(programs[p], graph, options, settings);
                uint64_t all = graph->edges << (kernels->view == TD_VIEW_BOTH && !graph->symmetric);
                for (uint32_t i = 0; i < run->row_count; i++) check_row(run, &run->rows[i], all, kernels->first_hit);
                CHECK(run->row_count > 0);
                td_run_destroy(run);
            }
        td_graph_destroy(graph);
    }
    destroy_pools(&threads);
}

/* The memory of a long run's rows while it runs: with columns half a kilobyte each. */
static bool note_rows(void *most, const td_iteration *row)
{
    (void)row;
    uint64_t now = td_memory().now;
    if (now > *(uint64_t *)most) *(uint64_t *)most = now;
    return true;
}

TEST(only_engines_with_columns_keep_them_while_they_run)
{
    td_graph *graph = test_graph(test_graph_named("grid 30x40"), TEST_UNWEIGHTED, NULL);
    static const char *const engines[] = {"resident", "stream"};
    uint64_t more[2];
    for (int i = 0; i < 2; i++) {
        uint64_t most[2] = {0}; /* in a run of one iteration and to the end */
        uint32_t rows = 0;
        for (int whole = 0; whole < 2; whole++) {
            td_run_options options = {.engine = engines[i], .devices = "emu@unchecked", .gpu_edges = i > 0 ? 0.5 : 0,
                                      .has_source = true, .each = note_rows, .each_context = &most[whole],
                                      .has_iterations = whole == 0, .iterations = 1};
            td_run *run = run_of("bfs", graph, options, i > 0 ? "stream.subgraph=256" : "");
            rows = run->row_count;
            for (uint32_t r = 0; r < rows; r++)
                CHECK_EQ(memcmp(&run->full_rows[r].common, &run->rows[r], sizeof run->rows[r]), 0);
            td_run_destroy(run);
        }
        CHECK(rows > TD_FIRST_ROWS);
        more[i] = most[1] - most[0];
    }
    CHECK(more[0] < TD_FIRST_ROWS * sizeof(td_row) && more[1] >= TD_FIRST_ROWS * sizeof(td_row));
    td_graph_destroy(graph);
}

/* The directions that occur in a run's rows, first letters in order of the alphabet. */
static const char *directions_of(const td_run *run)
{
    static char letters[32];
    int count = 0;
    for (const char *letter = "bnpu"; *letter != '\0'; letter++)
        for (uint32_t i = 0; i < run->row_count; i++) {
            char seen = strcmp(run->rows[i].direction, "pull") == 0 ? 'u' : run->rows[i].direction[0];
            if (seen != *letter) continue;
            letters[count++] = *letter;
            break;
        }
    letters[count] = '\0';
    return letters;
}

static void check_directions(const char *program, const td_graph *graph, const char *settings, const char *wanted)
{
    td_run_options options = {.has_source = program_of(program)->info->needs_source, .source = busiest(graph)};
    td_run *run = run_of(program, graph, options, settings);
    if (strcmp(directions_of(run), wanted) != 0)
        TEST_FAIL("%s with '%s' goes '%s', not '%s'", program, settings, directions_of(run), wanted);
    td_run_destroy(run);
}

TEST(the_direction_asked_for_is_the_one_taken)
{
    td_graph *graph = test_graph(test_graph_named("rmat 10, clean"), TEST_U8, NULL);
    check_directions("bfs", graph, "cpu.direction=push", "p");
    check_directions("bfs", graph, "cpu.direction=pull", "u");
    check_directions("bfs", graph, "cpu.direction=notify", "n");
    check_directions("bfs", graph, "", "pu");
    check_directions("sssp", graph, "", "b");
    check_directions("sssp", graph, "cpu.direction=push", "p");
    check_directions("sssp", graph, "cpu.direction=pull", "u");
    check_directions("labels", graph, "", "pu");
    check_directions("pagerank", graph, "cpu.direction=pull", "u");
    check_directions("pagerank", graph, "cpu.direction=notify", "nu"); /* everyone applies in the first iteration */
    td_graph_destroy(graph);
}

TEST(push_is_refused_where_a_vertex_needs_its_whole_sum)
{
    static const char *const programs[] = {"pagerank", "heat", "circuit", "nn", "adsorption"};
    td_graph *graph = test_graph(test_graph_named("tree"), TEST_U8, NULL);
    for (int p = 0; p < 5; p++) {
        td_run *run = NULL;
        CHECK_STATUS(try_run(&run, programs[p], graph, (td_run_options){0}, "cpu.direction=push"), TD_USAGE);
        CHECK_CONTAINS(td_last_message(), programs[p]);
        CHECK_CONTAINS(td_last_message(), "allowed are auto, pull and notify");
    }
    td_graph_destroy(graph);
}

/* What depends on the order, and what a mode does not change. */
TEST(some_programs_do_not_run_asynchronously)
{
    td_graph *graph = test_graph(test_graph_named("tree"), TEST_U8, NULL);
    for (int p = 0; td_programs[p] != NULL; p++) {
        const td_program_info *info = td_programs[p]->info;
        td_run *run = NULL;
        td_run_options options = {.mode = TD_MODE_ASYNC, .has_source = info->needs_source};
        CHECK_STATUS(try_run(&run, info->name, graph, options, ""), td_program_has_async(td_programs[p]) ? TD_OK : TD_USAGE);
        td_run_destroy(run);
    }
    td_graph_destroy(graph);
}

typedef struct watch {
    uint32_t calls;
    td_iteration rows[64];
} watch;

static bool watch_row(void *context, const td_iteration *row)
{
    watch *self = context;
    if (self->calls < 64) self->rows[self->calls] = *row;
    self->calls++;
    return true;
}

TEST(a_progress_callback_gets_every_row_once_and_in_order)
{
    static const char *const programs[] = {"bfs", "sssp", "wcc", "mst", "kcore", "pagerank"};
    td_graph *graph = test_graph(test_graph_named("rmat 10"), TEST_U8, NULL);
    for (int p = 0; p < 6; p++) {
        watch seen = {0};
        td_run_options options = {.has_source = program_of(programs[p])->info->needs_source, .source = busiest(graph),
                                  .each = watch_row, .each_context = &seen};
        td_run *run = run_of(programs[p], graph, options, "");
        CHECK_EQ(seen.calls, run->row_count);
        for (uint32_t i = 0; i < run->row_count && i < 64; i++) {
            CHECK_EQ(seen.rows[i].number, i);
            CHECK_EQ(run->rows[i].number, i);
            CHECK_EQ(seen.rows[i].edges, run->rows[i].edges);
            CHECK_STR(seen.rows[i].direction, run->rows[i].direction);
        }
        td_run_destroy(run);
    }
    td_graph_destroy(graph);
}

TEST(any_width_of_bucket_gives_the_same_distances)
{
    static const char *const widths[] = {"1e-30", "0.001", "1", "7.5", "100000", "1e30"};
    static const test_weights kinds[] = {TEST_U8, TEST_TIES, TEST_F32};
    pools threads = make_pools();
    for (int k = 0; k < 3; k++) {
        td_graph *graph = test_graph(test_graph_named("uniform"), kinds[k], NULL);
        td_run_options options = {.has_source = true, .source = busiest(graph)};
        td_run *plain = run_of("sssp", graph, options, "");
        for (int i = 0; i < 6; i++) {
            char settings[64];
            options.pool = threads.of[i % WAY_THREADS];
            snprintf(settings, sizeof settings, "cpu.delta=%s", widths[i]);
            td_run *run = run_of("sssp", graph, options, settings);
            CHECK(memcmp(run->values, plain->values, graph->vertices * sizeof(uint32_t)) == 0);
            td_run_destroy(run);
        }
        td_run_destroy(plain);
        td_graph_destroy(graph);
    }
    destroy_pools(&threads);
}

TEST_MAIN
