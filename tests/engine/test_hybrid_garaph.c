/* Garaph's kernel and dispatcher in the hybrid engine, on an emulated GPU: shards and replication on pages, pages within
 * the GPU's memory, two lists per vertex, alpha and the overlap of every iteration. */
#include "engine/coop_ways.h"
#include "engine/engine.h"
#include "gpu/shards.h"

/* The formula: R = 2^min(ceil(log2(E/V) - 0.5), 5), by hand. */
TEST(replication_follows_the_formula)
{
    static const struct {
        uint64_t edges, vertices;
        uint32_t copies;
    } cases[] = {{0, 100, 1},    {50, 100, 1},   {100, 100, 1},  {141, 100, 1},  {142, 100, 2},   {200, 100, 2},
                 {282, 100, 2},  {283, 100, 4},  {565, 100, 4},  {566, 100, 8},  {1131, 100, 8},  {1132, 100, 16},
                 {2262, 100, 16}, {2263, 100, 32}, {4525, 100, 32}, {4526, 100, 32}, {1000000, 1, 32}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_EQ(td_gpu_shard_copies(cases[i].edges, cases[i].vertices), cases[i].copies);
}

static uint64_t eight_each(const void *of, uint64_t v)
{
    (void)of;
    return 8 * v;
}

/* A shard has as many vertices as fit `copies` times, and the shards cover all. */
TEST(shards_have_the_vertices_that_fit_with_their_copies)
{
    static const uint32_t copies[] = {0, 1, 4, 32};
    static const uint32_t counts[] = {125, 1000, 250, 31}; /* customised: 8 edges a vertex are 8 copies */
    for (int i = 0; i < 4; i++) {
        td_gpu_shard_list list = {0};
        td_gpu_shard_cut cut = {.place = {eight_each}, .first = 10, .end = 2010, .room = 1000, .copies = copies[i]};
        CHECK_OK(td_gpu_cut_shards(&list, &cut));
        CHECK_EQ(list.count, (2000 + counts[i] - 1) / counts[i]);
        uint32_t next = 10;
        for (uint64_t s = 0; s < list.count; s++) {
            CHECK_EQ(list.shards[s].first, next);
            CHECK_EQ(list.shards[s].begin[0], 8 * (uint64_t)next);
            if (s + 1 < list.count) CHECK_EQ(list.shards[s].count, counts[i]);
            next += list.shards[s].count;
        }
        CHECK_EQ(next, 2010);
        td_free(list.shards);
    }
}

static uint64_t counter_of(const td_run *run, const char *name)
{
    for (int i = 0; i < run->work_count; i++)
        if (strcmp(run->work[i].name, name) == 0) return run->work[i].value;
    return 0;
}

static td_run *run_with(const char *engine, const char *program, const td_graph *graph, const char *settings)
{
    bool cpu = strcmp(engine, "cpu") == 0;
    td_run_options options = {.engine = engine, .devices = cpu ? NULL : "emu", .has_iterations = true, .iterations = 5};
    return run_of(program, graph, options, settings);
}

static void check_near(const td_run *run, const td_run *wanted)
{
    bool wide = run->kind == TD_VALUE_F64;
    for (uint32_t v = 0; v < run->graph->vertices; v++) {
        double is = wide ? ((const double *)run->values)[v] : (double)((const float *)run->values)[v];
        double was = wide ? ((const double *)wanted->values)[v] : (double)((const float *)wanted->values)[v];
        if (fabs(is - was) > 1e-5 * fabs(was) + 1e-12) TEST_FAIL("vertex %u: %.9g, not %.9g", v, is, was);
    }
}

/* All shards have the copies asked for; `auto` gives dense shards more than sparse ones; the sums are right. */
static void check_gathers(const char *engine, const td_graph *graph, const char *rest)
{
    static const char *const names[] = {"shards_r1", "shards_r2", "shards_r4", "shards_r8", "shards_r16", "shards_r32"};
    char settings[160];
    td_run *wanted = run_with("cpu", "pagerank", graph, "");
    for (int power = -1; power < 6; power += power == -1 ? 1 : power == 0 ? 2 : 3) { /* auto, 1, 4, 32 */
        snprintf(settings, sizeof settings, "%s.gather=shards %s.replication=%.*d%s %s", engine, engine, power < 0 ? 0 : 1,
                 power < 0 ? 0 : 1 << power, power < 0 ? "auto" : "", rest);
        td_run *run = run_with(engine, "pagerank", graph, settings);
        CHECK_STR(run->engine, engine);
        uint64_t shards = counter_of(run, "shards");
        CHECK(shards > 1);
        if (power >= 0) CHECK_EQ(counter_of(run, names[power]), shards);
        else for (int i = 0; i < 6; i++) CHECK(counter_of(run, names[i]) < shards);
        check_near(run, wanted);
        td_run_destroy(run);
    }
    snprintf(settings, sizeof settings, "%s.gather=rows %s", engine, rest);
    td_run *rows = run_with(engine, "pagerank", graph, settings);
    CHECK_EQ(counter_of(rows, "shards"), 0);
    check_near(rows, wanted);
    td_run_destroy(rows);
    td_run_destroy(wanted);
}

TEST(every_replication_is_that_of_the_shards)
{
    td_graph *graph = large_graph();
    check_gathers("hybrid", graph, "hybrid.use=gpu hybrid.page=20000");
    check_gathers("resident", graph, "");
    td_graph_destroy(graph);
}

/* Pages. */

static td_status try_limited(td_run **out, const td_graph *graph, uint64_t limit, const char *settings)
{
    td_settings set = settings_from(settings);
    td_run_options options = {.engine = "hybrid", .devices = "emu@unchecked", .gpu_memory = limit, .settings = &set,
                              .has_iterations = true, .iterations = 2};
    td_status status = td_run_program(out, program_of("pagerank"), graph, &options);
    td_settings_clear(&set);
    return status;
}

/* Three slots and the vertices fit in the memory given, from the minimum that a refusal names on. */
static void check_limit(const td_graph *graph, const td_run *wanted, uint64_t limit, const char *settings)
{
    td_run *run = NULL;
    if (try_limited(&run, graph, limit, settings) != TD_OK)
        TEST_FAIL("%llu bytes, %s: %s", (unsigned long long)limit, settings, td_last_message());
    CHECK(run->device_peak <= limit);
    CHECK(run->full_rows[0].pages_gpu > 3);
    CHECK_EQ(run->full_rows[0].edges_gpu, graph->edges);
    check_near(run, wanted);
    td_run_destroy(run);
}

TEST(pages_are_no_larger_than_a_streams_part_of_the_gpus_memory)
{
    static const char *const gathers[] = {"hybrid.use=gpu", "hybrid.use=gpu hybrid.gather=shards"};
    td_graph *graph = large_graph();
    td_run *wanted = NULL, *run = NULL;
    td_run_options options = {.engine = "cpu", .has_iterations = true, .iterations = 2};
    CHECK_OK(td_run_program(&wanted, program_of("pagerank"), graph, &options));
    for (int i = 0; i < 2; i++) {
        CHECK_STATUS(try_limited(&run, graph, 100 << 10, gathers[i]), TD_NO_MEMORY);
        CHECK_CONTAINS(td_last_message(), "needs at least gpu_memory");
        uint64_t least = td_last_refusal()->needed;
        CHECK(td_last_refusal()->minimum_known);
        CHECK_STATUS(try_limited(&run, graph, least - 1, gathers[i]), TD_NO_MEMORY);
        check_limit(graph, wanted, least, gathers[i]);
        check_limit(graph, wanted, 1 << 20, gathers[i]);
    }
    CHECK_STATUS(try_limited(&run, graph, 1 << 20, "hybrid.use=gpu hybrid.page=1000000"), TD_USAGE);
    td_run_destroy(wanted);
    td_graph_destroy(graph);
}

/* Values that flow both ways along the edges of a directed graph. */
TEST(a_gpu_gathers_along_both_lists_of_a_directed_graph)
{
    static const char *const programs[] = {"heat", "circuit"};
    static const char *const ways[] = {"hybrid.use=gpu hybrid.page=500",
                                       "hybrid.use=gpu hybrid.page=500 hybrid.gather=shards"};
    td_graph *graph = test_graph(test_graph_named("rmat 10"), TEST_U8, NULL);
    CHECK(!graph->symmetric);
    for (int p = 0; p < 2; p++) {
        td_run *wanted = run_with("cpu", programs[p], graph, "");
        for (int i = 0; i < 2; i++) {
            td_run *run = run_with("hybrid", programs[p], graph, ways[i]);
            CHECK(run->full_rows[0].pages_gpu > 0);
            CHECK_EQ(run->full_rows[0].pages_cpu, 0);
            CHECK_EQ(run->full_rows[0].edges_gpu, 2 * graph->edges);
            check_near(run, wanted);
            td_run_destroy(run);
        }
        td_run_destroy(wanted);
    }
    td_graph_destroy(graph);
}

/* The dispatcher. */

static td_run *run_by(const td_graph *graph, const char *rule)
{
    char settings[96];
    snprintf(settings, sizeof settings, "hybrid.use=both hybrid.page=8000 hybrid.rule=%s", rule);
    return run_with("hybrid", "pagerank", graph, settings);
}

/* By the paper's rule Tgpu is the GPU's time for all pages, which is longer than that of both; the GPU takes part exactly
 * if alpha is at least 1, and never alone. */
TEST(both_rules_state_alpha_and_its_times_in_every_row)
{
    td_graph *graph = large_graph();
    td_run *measured = run_by(graph, "measured"), *paper = run_by(graph, "paper");
    for (uint32_t i = 0; i < paper->row_count; i++) {
        const td_row *rows[] = {&measured->full_rows[i], &paper->full_rows[i]};
        for (int j = 0; j < 2; j++) {
            CHECK(rows[j]->alpha > 0);
            CHECK((rows[j]->overlap_seconds > 0) == (rows[j]->pages_cpu > 0 && rows[j]->pages_gpu > 0));
            if (i == 0) continue;
            CHECK(rows[j]->tpull_seconds > 0 && rows[j]->tgpu_seconds > 0);
            CHECK(fabs(rows[j]->alpha - rows[j]->tpull_seconds / rows[j]->tgpu_seconds) < 1e-9); /* all edges: f = 1 */
        }
        CHECK(paper->full_rows[i].pages_cpu > 0);
        CHECK((paper->full_rows[i].pages_gpu > 0) == (paper->full_rows[i].alpha >= 1));
    }
    CHECK(paper->full_rows[1].tgpu_seconds > measured->full_rows[1].tgpu_seconds);
    td_run_destroy(measured);
    td_run_destroy(paper);
    td_graph_destroy(graph);
}

TEST_MAIN
