/* Graphs of many blocks and pages from disk: the cpu engine's answers, and how much is read for them. */
#include "engine/ways.h"

#include "engine/hybrid/hybrid.h"
#include "run/result.h"
#include "store/gen.h"
#include "store/packed.h"
#include "store/paged.h"

static td_graph *generated(const char *name, bool symmetric, td_pool *pool)
{
    td_gen_spec spec;
    td_build_options build;
    td_graph *graph = NULL;
    CHECK(td_gen_named(name, &spec, &build));
    spec.shuffle = false; /* a grid's rows stay beside each other */
    build.symmetrize = symmetric;
    build.attach_weights = true;
    build.weight_low = 1;
    build.weight_high = 100;
    CHECK_OK(td_graph_generate(&graph, &spec, &build, pool));
    return graph;
}

/* A run from disk, beside the cpu engine's, with memory for a share of the edges. */
typedef struct pair {
    td_graph *graph, *paged;
    td_pool *pool;
    uint64_t targets, weights; /* bytes of one direction */
} pair;

static pair open_kind(const char *name, bool symmetric)
{
    pair self = {0};
    const char *path = test_path("disk.tg");
    CHECK_OK(td_pool_create(&self.pool, 2));
    self.graph = generated(name, symmetric, self.pool);
    CHECK_OK(td_packed_write(self.graph, path, self.pool));
    CHECK_OK(td_paged_open(&self.paged, path, self.pool, NULL));
    self.targets = self.graph->edges * 4;
    self.weights = self.graph->edges * td_weight_bytes(self.graph->weights);
    return self;
}

static pair open_pair(const char *name) { return open_kind(name, true); }

static void close_pair(pair *self)
{
    td_graph_destroy(self->paged);
    td_graph_destroy(self->graph);
    td_pool_destroy(self->pool);
}

static uint64_t bytes_read(const td_run *run)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < run->row_count; i++) bytes += run->full_rows[i].disk_bytes;
    return bytes;
}

static td_run *run_limited(const pair *self, const char *program, double share, const char *settings, uint32_t limit)
{
    const td_program_info *info = program_of(program)->info;
    td_run_options options = {.pool = self->pool, .has_source = info->needs_source, .source = busiest(self->graph)};
    if (limit > 0) options.has_iterations = true, options.iterations = limit;
    const char *own = strstr(settings, program); /* settings of the program come last */
    td_run *wanted = run_of(program, self->graph, options, own != NULL ? own : "");
    options.engine = "hybrid";
    uint64_t beside = (uint64_t)self->graph->vertices * 40 + (4 << 20);
    td_memory_set_budget(td_memory().now + beside + (uint64_t)(share * (double)(self->targets + self->weights)));
    td_run *run = run_of(program, self->paged, options, settings);
    td_memory_set_budget(0);
    for (uint32_t v = 0; v < self->graph->vertices; v++) {
        double one = 0, two = 0;
        CHECK_EQ(td_run_value(run, v, &one), td_run_value(wanted, v, &two));
        if (fabs(one - two) > 1e-5 * fabs(two)) TEST_FAIL("%s: vertex %u has %g, not %g", program, v, one, two);
    }
    CHECK_EQ(run->edge_count, wanted->edge_count);
    for (uint64_t i = 0; i < run->edge_count; i++) {
        td_forest_edge one = td_run_forest_edge(run, i, 0), two = td_run_forest_edge(wanted, i, 0);
        CHECK(one.source == two.source && one.target == two.target && one.weight == two.weight);
    }
    td_run_destroy(wanted);
    return run;
}

static td_run *run_pair(const pair *self, const char *program, double share, const char *settings)
{
    return run_limited(self, program, share, settings, program_of(program)->info->iterations > 0 ? 4 : 0);
}

/* Against every page in every iteration. */
static void check_less_than_half(const pair *self, const char *program, uint64_t edge_bytes)
{
    td_run *run = run_pair(self, program, 0.1, "hybrid.page=65536");
    CHECK(bytes_read(run) > 0);
    if (2 * bytes_read(run) >= edge_bytes * run->iterations)
        TEST_FAIL("%s: %" PRIu64 " bytes of %" PRIu64 " in each of %u iterations", program, bytes_read(run), edge_bytes,
                  run->iterations);
    td_run_destroy(run);
}

TEST(searches_read_less_than_half_of_every_page_every_iteration)
{
    static const char *const names[] = {"grid1000", "k16"};
    for (int i = 0; i < 2; i++) {
        pair self = open_pair(names[i]);
        check_less_than_half(&self, "bfs", self.targets);
        check_less_than_half(&self, "sssp", self.targets + self.weights);
        close_pair(&self);
    }
}

/* Those that were not reached look for one neighbour that was. */
TEST(a_search_by_levels_looks_at_a_fraction_of_the_edges)
{
    for (int symmetric = 0; symmetric < 2; symmetric++) {
        pair self = open_kind("k16", symmetric);
        for (uint32_t limit = 0; limit < 4; limit += 3) {
            td_run *run = run_limited(&self, "bfs", 0.1, "hybrid.page=65536 hybrid.rounds=1", limit);
            uint32_t pulls = 0;
            for (uint32_t i = 0; i < run->row_count; i++) pulls += strcmp(run->rows[i].direction, "pull") == 0;
            CHECK(pulls > 0);
            CHECK(run->edges_processed < self.graph->edges / 2);
            CHECK(bytes_read(run) < 5 * self.targets / 2);
            td_run_destroy(run);
        }
        close_pair(&self);
    }
}

TEST(components_read_every_edge_once)
{
    pair self = open_pair("k16");
    td_run *run = run_pair(&self, "wcc", 0.1, "");
    CHECK(bytes_read(run) <= self.targets + self.targets / 20);
    td_run_destroy(run);
    run = run_pair(&self, "mst", 0.2, "");
    for (uint32_t i = 0; i < run->row_count; i++)
        CHECK(run->full_rows[i].disk_bytes <= (self.targets + self.weights) + (self.targets + self.weights) / 20);
    td_run_destroy(run);
    close_pair(&self);
}

TEST(no_page_is_read_twice_in_an_iteration)
{
    pair self = open_pair("k16");
    td_run *run = run_pair(&self, "pagerank", 0.25, "hybrid.page=65536");
    CHECK_EQ(run->row_count, 4);
    for (uint32_t i = 0; i < run->row_count; i++) {
        CHECK_EQ(run->full_rows[i].page_hits + run->full_rows[i].page_misses, run->full_rows[i].pages_cpu);
        CHECK(run->full_rows[i].disk_bytes <= self.targets + self.targets / 20);
    }
    CHECK(run->full_rows[3].disk_bytes < run->full_rows[0].disk_bytes); /* some stayed */
    /* A page that was read is evicted, or in memory at the end, where not all are. */
    uint64_t evictions = 0;
    for (uint32_t i = 0; i < run->row_count; i++) evictions += run->full_rows[i].evictions;
    CHECK_EQ(run->disk.evictions, evictions);
    CHECK(evictions > 0 && evictions < run->disk.misses && evictions + run->disk.pages > run->disk.misses);
    td_run_destroy(run);
    run = run_pair(&self, "pagerank", 2, "hybrid.page=65536");
    CHECK_EQ(run->disk.evictions, 0);
    td_run_destroy(run);
    close_pair(&self);
}

/* A page whose edges stay near it is processed for as many rounds as the switch allows. */
TEST(rounds_on_a_page_and_k_are_those_given)
{
    pair self = open_pair("grid150");
    uint64_t rounds[2] = {0};
    static const char *const settings[] = {"hybrid.k=7", "hybrid.k=7 hybrid.rounds=1"};
    for (int i = 0; i < 2; i++) {
        td_run *run = run_pair(&self, "sssp", 0.5, settings[i]);
        for (uint32_t row = 0; row < run->row_count; row++) rounds[i] += run->full_rows[row].rounds;
        CHECK(run->disk.ratio == 7);
        td_run_destroy(run);
    }
    CHECK(rounds[0] > 0);
    CHECK_EQ(rounds[1], 0);
    close_pair(&self);
}

TEST(programs_with_two_lists_and_notified_vertices_agree)
{
    pair self = open_pair("k12");
    static const char *const programs[] = {"kcore", "labels", "adsorption", "heat"};
    for (int i = 0; i < 4; i++) td_run_destroy(run_pair(&self, programs[i], 0.2, "hybrid.page=4096"));
    close_pair(&self);
}

/* By bounds, and level by level, as it is done under an iteration limit. */
static void check_cores(const pair *self, const char *settings)
{
    td_run *bounds = run_limited(self, "kcore", 0.25, settings, 0);
    td_run *levels = run_limited(self, "kcore", 0.25, settings, 1000000);
    uint64_t all = self->targets * (self->graph->symmetric ? 1 : 2), read = bytes_read(bounds);
    CHECK(bounds->converged && levels->converged);
    CHECK_STR(bounds->rows[0].direction, "bounds");
    CHECK_STR(levels->rows[0].direction, "push");
    if (read > 12 * all || 4 * read > bytes_read(levels))
        TEST_FAIL("%s: %" PRIu64 " bytes of %" PRIu64 " in %u passes, level by level %" PRIu64 " in %u", settings, read,
                  all, bounds->iterations, bytes_read(levels), levels->iterations);
    td_run_destroy(bounds);
    td_run_destroy(levels);
}

TEST(core_numbers_read_a_fraction_of_what_levels_do)
{
    pair self = open_pair("k16");
    check_cores(&self, "hybrid.page=65536");
    close_pair(&self);
    self = open_kind("k16", false);
    check_cores(&self, "hybrid.page=65536");
    check_cores(&self, "hybrid.page=65536 kcore.degree=in");
    close_pair(&self);
}

TEST(faults_under_a_run_are_reported)
{
    pair self = open_pair("k12");
    td_run_options options = {.pool = self.pool, .engine = "hybrid"};
    td_run *run = NULL;
    td_page_reader_inject(TD_FAULT_ERROR, 1, 0);
    CHECK_OK(try_run(&run, "wcc", self.paged, options, "")); /* once: retried */
    td_run_destroy(run);
    for (int fault = TD_FAULT_ERROR; fault <= TD_FAULT_FLIP; fault++) {
        td_page_reader_inject((td_read_fault)fault, 1, UINT64_MAX);
        CHECK_STATUS(try_run(&run, "wcc", self.paged, options, ""), fault == TD_FAULT_ERROR ? TD_IO : TD_CORRUPT);
        CHECK_CONTAINS(td_last_message(), "disk.tg");
        td_page_reader_inject(TD_FAULT_ERROR, 0, 0);
    }
    CHECK_OK(try_run(&run, "wcc", self.paged, options, "")); /* and the graph can still be used */
    td_run_destroy(run);
    close_pair(&self);
}

TEST(allocations_that_fail_leak_nothing)
{
    pair self = open_pair("k12");
    td_run_options options = {.pool = self.pool, .engine = "hybrid"};
    static const char *const programs[] = {"wcc", "pagerank", "kcore"};
    for (uint64_t nth = 1; nth < 120; nth++) {
        td_run *run = NULL;
        td_alloc_fail_at(nth / 3 + 1);
        td_status status = try_run(&run, programs[nth % 3], self.paged, options, "");
        td_alloc_fail_at(0);
        td_run_destroy(run);
        CHECK(status == TD_OK || status == TD_NO_MEMORY);
    }
    close_pair(&self); /* the test's end looks for what is left */
}

TEST_MAIN
