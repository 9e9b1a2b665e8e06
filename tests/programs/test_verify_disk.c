/* Results are checked in passes over the pages of a graph on disk: what is right passes, what was tampered with does
 * not, wherever it was, and no more memory is taken than a few pages and what the check itself holds. */
#include "../engine/running.h"

#include "run/verify_run.h"
#include "store/gen.h"
#include "store/packed.h"
#include "store/paged.h"

typedef struct example {
    const char *program, *setting;
    td_run_options options;
    double vertex_bytes, edge_bytes; /* that are enough for the check */
} example;

static const example examples[] = {
    {"bfs", NULL, {.has_source = true}, 0.2, 0},
    {"bfs", NULL, {.has_source = true, .parents = true}, 0.2, 0},
    {"sssp", NULL, {.has_source = true}, 1, 0},
    {"sssp", NULL, {.has_source = true, .parents = true}, 1, 0},
    {"wcc", NULL, {0}, 4, 0},
    {"mst", NULL, {0}, 48, 0.125},
    {"kcore", NULL, {0}, 8.2, 0},
    {"kcore", "kcore.degree=in", {0}, 8.2, 0},
    {"pagerank", NULL, {0}, 1, 0},
    {"pagerank", NULL, {.has_iterations = true, .iterations = 3}, 32, 0},
    {"adsorption", NULL, {.has_iterations = true, .iterations = 2}, 32, 0},
    {"adsorption", NULL, {0}, 0, 0},
    {"heat", "heat.step=1e-6", {.has_iterations = true, .iterations = 2}, 32, 0},
    {"circuit", NULL, {.has_iterations = true, .iterations = 5}, 4.2, 0},
};

enum { EXAMPLES = sizeof examples / sizeof *examples, PAGES = 7 << 20 };

/* Half a million edges and more: several pages. Weights of 0 let vertices stay at one distance. */
static td_graph *made(bool symmetric, uint32_t lightest, td_pool *pool)
{
    td_graph *graph = NULL;
    td_gen_spec spec = {.kind = "rmat", .seed = 5, .scale = 15, .degree = 24, .rewire = -1};
    td_build_options build = {.attach_weights = true, .weight_low = lightest, .weight_high = 40, .weight_seed = 2,
                              .symmetrize = symmetric};
    CHECK_OK(td_graph_generate(&graph, &spec, &build, pool));
    return graph;
}

static td_graph *on_disk(const td_graph *graph, td_pool *pool)
{
    td_graph *paged = NULL;
    const char *path = test_path("verified.tg");
    CHECK_OK(td_packed_write(graph, path, pool));
    CHECK_OK(td_paged_open(&paged, path, pool, NULL));
    return paged;
}

static td_status verify_within(td_run *run, const example *one, td_pool *pool)
{
    const char *claims;
    double bytes = one->vertex_bytes * run->graph->vertices + one->edge_bytes * (double)run->graph->edges;
    td_memory_set_budget(td_memory().now + (uint64_t)bytes + PAGES);
    td_status status = td_run_verify(run, pool, &claims);
    td_memory_set_budget(0);
    return status;
}

/* The first vertex from here on that has edges, and whose value can be told from another's. */
static uint32_t busy_from(const td_graph *graph, uint32_t v)
{
    while (td_degree(&graph->in, v) == 0 || td_degree(&graph->out, v) == 0) v++;
    return v;
}

static void tamper(td_run *run, uint32_t v)
{
    if (run->edges != NULL) run->edges[v % run->edge_count] ^= 1;
    else if (run->kind == TD_VALUE_U32) ((uint32_t *)run->values)[v] += 1;
    else if (run->kind == TD_VALUE_F32) ((float *)run->values)[v] += 0.25f;
    else ((double *)run->values)[v] += 0.25;
}

/* A result that is wrong at one vertex, or of a forest in one edge. */
static void check_refuted(td_run *run, const example *one, uint32_t v, td_pool *pool)
{
    size_t bytes = run->kind == TD_VALUE_F64 ? 8 : 4;
    double value = 0;
    uint64_t edge = run->edges != NULL ? run->edges[v % run->edge_count] : 0;
    memcpy(&value, (char *)run->values + v * bytes, bytes);
    tamper(run, v);
    if (verify_within(run, one, pool) != TD_VERIFY) TEST_FAIL("%s, vertex %u: passes", one->program, v);
    memcpy((char *)run->values + v * bytes, &value, bytes);
    if (run->edges != NULL) run->edges[v % run->edge_count] = edge;
}

static void check_example(const example *one, const td_graph *graph, const td_graph *paged, td_pool *pool)
{
    td_settings settings = {0};
    td_run_options options = one->options;
    if (one->setting != NULL) CHECK_OK(td_settings_add(&settings, one->setting));
    options.settings = &settings;
    options.pool = pool;
    options.source = busy_from(graph, 0);
    td_run *run = run_of(one->program, graph, options);
    run->graph = paged;
    if (verify_within(run, one, pool) != TD_OK) TEST_FAIL("%s: %s", one->program, td_last_message());
    for (uint32_t part = 0; part < 5; part++)
        check_refuted(run, one, busy_from(graph, graph->vertices / 5 * part + 7), pool);
    CHECK_OK(verify_within(run, one, pool));
    td_run_destroy(run);
    td_settings_clear(&settings);
}

static void check_graph(bool symmetric, uint32_t lightest)
{
    td_pool *pool = NULL;
    CHECK_OK(td_pool_create(&pool, 2));
    td_graph *graph = made(symmetric, lightest, pool), *paged = on_disk(graph, pool);
    for (int i = 0; i < EXAMPLES; i++)
        if (lightest > 0 || strcmp(examples[i].program, "circuit") != 0)
            check_example(&examples[i], graph, paged, pool);
    td_graph_destroy(paged);
    td_graph_destroy(graph);
    td_pool_destroy(pool);
}

TEST(results_on_a_directed_graph_are_checked_from_disk) { check_graph(false, 1); }
TEST(results_on_a_symmetric_graph_are_checked_from_disk) { check_graph(true, 1); }
TEST(results_over_edges_of_weight_zero_are_checked_from_disk) { check_graph(false, 0); }

TEST(a_check_that_does_not_fit_says_what_would)
{
    td_pool *pool = NULL;
    const char *claims;
    CHECK_OK(td_pool_create(&pool, 2));
    td_graph *graph = made(false, 1, pool), *paged = on_disk(graph, pool);
    td_run *run = run_of("mst", graph, (td_run_options){.pool = pool});
    run->graph = paged;
    td_memory_set_budget(td_memory().now + (1 << 20));
    CHECK_STATUS(td_run_verify(run, pool, &claims), TD_NO_MEMORY);
    CHECK_CONTAINS(td_last_message(), "checking the result of mst takes about");
    CHECK_CONTAINS(td_last_message(), "memory");
    td_memory_set_budget(0);
    td_run_destroy(run);
    td_graph_destroy(paged);
    td_graph_destroy(graph);
    td_pool_destroy(pool);
}

TEST(a_replay_that_does_not_fit_becomes_a_check_that_does)
{
    td_pool *pool = NULL;
    const char *claims;
    CHECK_OK(td_pool_create(&pool, 2));
    td_graph *graph = made(false, 1, pool), *paged = on_disk(graph, pool);
    td_run *run = run_of("pagerank", graph, (td_run_options){.pool = pool, .has_iterations = true, .iterations = 4});
    run->graph = paged;
    CHECK_OK(td_run_verify(run, pool, &claims));
    CHECK_CONTAINS(claims, "replayed");
    td_memory_set_budget(td_memory().now + PAGES - (PAGES >> 4));
    CHECK_OK(td_run_verify(run, pool, &claims));
    td_memory_set_budget(0);
    CHECK_CONTAINS(claims, "no more than the last one did");
    td_run_destroy(run);
    td_graph_destroy(paged);
    td_graph_destroy(graph);
    td_pool_destroy(pool);
}

TEST_MAIN
