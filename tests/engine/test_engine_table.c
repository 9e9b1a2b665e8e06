/* Every program on every test graph, in every way the cpu engine has of running
 * it, against the serial references: integers exactly, reals within the row's
 * bound. The verifiers look at one result of every row, and at all parents.
 *
 * Tiny graphs go through all ways (threads x mode x direction x stealing), the
 * others through some that differ from row to row; TANDEM_TEST_ALL=1 in the
 * environment runs all ways on all graphs. Pieces and heavy vertices are made
 * small and nothing is left to one worker, so that cuts, merges and thefts
 * happen on small graphs too.
 */
#include "engine/ways.h"

#include "programs/verify_run.h"

#include <math.h>

enum { TINY = 70, VERY_TINY = 20, LARGE = 10000, SOLVABLE = 130 };

typedef struct expected {
    uint32_t *whole;  /* the values; or */
    uint32_t *groups; /* of vertices with the same value; or */
    double *real;
    uint64_t *edges, edge_count; /* of a forest */
    double total;
} expected;

typedef struct row {
    const char *program;
    const char *settings;
    unsigned weights; /* bits of test_weights */
    uint32_t iterations; /* 0: to the end */
    double tolerance;
    bool sync_only;
    double relative, absolute, l1; /* how far a real may be off: of itself, at all, all of them together */
    expected (*expect)(const td_graph *graph, const td_run *run);
} row;

#define KIND(kind) (1u << (kind))

/* What the references say. */

static expected expect_bfs(const td_graph *graph, const td_run *run)
{
    uint32_t *parents = NULL;
    expected answer = {.whole = reference_bfs(graph, run->context.source, &parents)};
    td_free(parents);
    return answer;
}

static expected expect_sssp(const td_graph *graph, const td_run *run)
{
    uint32_t *parents = NULL;
    expected answer = {.real = reference_sssp(graph, run->context.source, &parents)};
    td_free(parents);
    if (graph->weights == TD_WEIGHT_F32) return answer;
    answer.whole = reference_whole_distances(answer.real, graph->vertices);
    td_free(answer.real);
    answer.real = NULL;
    return answer;
}

static expected expect_wcc(const td_graph *graph, const td_run *run)
{
    (void)run;
    return (expected){.whole = reference_wcc(graph)};
}

static expected expect_kcore(const td_graph *graph, const td_run *run)
{
    return (expected){.whole = reference_kcore(graph, run->context.parameter[0] == 1)};
}

static expected expect_mst(const td_graph *graph, const td_run *run)
{
    (void)run;
    expected answer = {.groups = reference_wcc(graph)};
    answer.edges = reference_mst(graph, &answer.edge_count, &answer.total);
    return answer;
}

enum { TO_THE_END = 150 }; /* iterations of a reference that shrinks by 0.85 or less in each */

static expected expect_pagerank(const td_graph *graph, const td_run *run)
{
    uint32_t iterations = run->tolerance > 0 ? TO_THE_END : run->iterations;
    return (expected){.real = reference_pagerank(graph, 0.85, run->context.parameter[1] == 0, NULL, iterations)};
}

static expected expect_adsorption(const td_graph *graph, const td_run *run)
{
    uint32_t iterations = run->tolerance > 0 ? TO_THE_END : run->iterations;
    return (expected){.real = reference_adsorption(graph, 0.25, 0.7, run->inputs[0], iterations)};
}

static expected expect_nn(const td_graph *graph, const td_run *run)
{
    static double (*const activations[])(double) = {reference_tanh, reference_sigmoid, reference_relu};
    double (*activation)(double) = activations[(int)run->context.parameter[0]];
    return (expected){.real = reference_nn(graph, activation, run->inputs[0], run->iterations)};
}

static expected expect_heat(const td_graph *graph, const td_run *run)
{
    return (expected){.real = reference_heat(graph, run->inputs[0], run->context.parameter[0], run->iterations)};
}

static expected expect_circuit(const td_graph *graph, const td_run *run)
{
    return (expected){.real = reference_circuit(graph, run->inputs[0])};
}

#define ANY_WEIGHTS (KIND(TEST_UNWEIGHTED) | KIND(TEST_U8) | KIND(TEST_TIES) | KIND(TEST_F32))
#define INTEGERS (KIND(TEST_U8) | KIND(TEST_TIES) | KIND(TEST_U16) | KIND(TEST_U32))

static const row rows[] = {
    {"bfs", "", KIND(TEST_UNWEIGHTED), .expect = expect_bfs},
    {"sssp", "", INTEGERS | KIND(TEST_F32), .relative = 1e-5, .expect = expect_sssp},
    {"sssp", "cpu.delta=100", KIND(TEST_U16), .expect = expect_sssp},
    {"wcc", "", KIND(TEST_UNWEIGHTED), .expect = expect_wcc},
    {"wcc", "cpu.samples=0", KIND(TEST_UNWEIGHTED), .expect = expect_wcc},
    {"labels", "", KIND(TEST_UNWEIGHTED), .expect = expect_wcc},
    {"kcore", "", KIND(TEST_UNWEIGHTED), .expect = expect_kcore},
    {"kcore", "kcore.degree=in", KIND(TEST_UNWEIGHTED), .expect = expect_kcore},
    {"mst", "", INTEGERS | KIND(TEST_F32) | KIND(TEST_SIGNED), .expect = expect_mst},
    {"pagerank", "", KIND(TEST_UNWEIGHTED), .iterations = 8, .sync_only = true, .relative = 1e-5,
     .expect = expect_pagerank},
    {"pagerank", "pagerank.dangling=ignore", KIND(TEST_UNWEIGHTED), .iterations = 8, .sync_only = true, .relative = 1e-5,
     .expect = expect_pagerank},
    {"pagerank", "", KIND(TEST_UNWEIGHTED), .tolerance = 1e-6, .l1 = 1e-5, .expect = expect_pagerank},
    {"adsorption", "", ANY_WEIGHTS, .iterations = 6, .sync_only = true, .relative = 1e-5, .expect = expect_adsorption},
    {"adsorption", "", KIND(TEST_UNWEIGHTED) | KIND(TEST_F32), .tolerance = 1e-6, .absolute = 3e-6, .expect = expect_adsorption},
    {"nn", "", KIND(TEST_SIGNED), .iterations = 6, .sync_only = true, .relative = 1e-4, .expect = expect_nn},
    {"nn", "nn.activation=sigmoid", KIND(TEST_SIGNED) | KIND(TEST_F32), .iterations = 6, .sync_only = true,
     .relative = 1e-4, .expect = expect_nn},
    {"nn", "nn.activation=relu", KIND(TEST_U8), .iterations = 6, .sync_only = true, .relative = 1e-5,
     .expect = expect_nn},
    {"heat", "", ANY_WEIGHTS | KIND(TEST_U16), .iterations = 10, .sync_only = true, .relative = 1e-5,
     .expect = expect_heat},
    {"circuit", "", KIND(TEST_UNWEIGHTED) | KIND(TEST_U8) | KIND(TEST_F32), .tolerance = 1e-8, .relative = 1e-4,
     .expect = expect_circuit},
};

enum { ROWS = sizeof rows / sizeof *rows };

/* One result against the reference. */

typedef struct subject {
    const row *row;
    const td_graph *graph;
    const char *graph_name, *weights_name;
    way way;
} subject;

#define SUBJECT_FAIL(subject_, text, ...)                                                                             \
    TEST_FAIL("%s %s on %s, %s, %d threads, %s, %s, stealing %s: " text, (subject_)->row->program,                    \
              (subject_)->row->settings, (subject_)->graph_name, (subject_)->weights_name,                            \
              way_threads[(subject_)->way.threads], (subject_)->way.mode == TD_MODE_ASYNC ? "async" : "sync",         \
              (subject_)->way.direction, (subject_)->way.stealing, __VA_ARGS__)

static double real_value(const td_run *run, uint32_t v)
{
    return run->kind == TD_VALUE_F64 ? ((const double *)run->values)[v] : (double)((const float *)run->values)[v];
}

static void check_whole(const subject *about, const td_run *run, const uint32_t *whole)
{
    const uint32_t *values = run->values;
    if (run->kind != TD_VALUE_U32) SUBJECT_FAIL(about, "%s", "the values are not whole numbers");
    for (uint32_t v = 0; v < about->graph->vertices; v++)
        if (values[v] != whole[v]) SUBJECT_FAIL(about, "vertex %u has %u, not %u", v, values[v], whole[v]);
}

/* A group is named by any one of its vertices. */
static void check_groups(const subject *about, const td_run *run, const uint32_t *groups)
{
    const uint32_t *values = run->values;
    for (uint32_t v = 0; v < about->graph->vertices; v++) {
        uint32_t first = groups[v], name = values[v];
        if (name >= about->graph->vertices || values[first] != name || groups[name] != first)
            SUBJECT_FAIL(about, "vertex %u is called %u and belongs to %u", v, name, first);
    }
}

static void check_real(const subject *about, const td_run *run, const double *real)
{
    double l1 = 0, largest = 0;
    if (run->kind == TD_VALUE_U32) SUBJECT_FAIL(about, "%s", "the values are whole numbers");
    for (uint32_t v = 0; v < about->graph->vertices; v++)
        if (real[v] < INFINITY) largest = fmax(largest, fabs(real[v]));
    for (uint32_t v = 0; v < about->graph->vertices; v++) {
        double value = real_value(run, v), off = value == real[v] ? 0 : fabs(value - real[v]);
        l1 += off;
        /* Sums may cancel: a small part of the largest value is allowed to everyone. */
        double bound = about->row->relative * (fabs(real[v]) + 1e-3 * largest) + about->row->absolute;
        if (bound > 0 && !(off <= bound))
            SUBJECT_FAIL(about, "vertex %u has %.9g, not %.9g (largest %g)", v, value, real[v], largest);
    }
    if (about->row->l1 > 0 && !(l1 <= about->row->l1)) SUBJECT_FAIL(about, "all values together are off by %g", l1);
}

static void check_forest(const subject *about, const td_run *run, const expected *answer)
{
    if (run->edge_count != answer->edge_count)
        SUBJECT_FAIL(about, "the forest has %" PRIu64 " edges, not %" PRIu64, run->edge_count, answer->edge_count);
    uint8_t *wanted = NULL;
    CHECK_OK(TD_NEW_ZEROED(&wanted, about->graph->edges, "forest"));
    for (uint64_t i = 0; i < answer->edge_count; i++) wanted[answer->edges[i]] = 1;
    for (uint64_t i = 0; i < run->edge_count; i++) {
        if (!wanted[run->edges[i]]) SUBJECT_FAIL(about, "edge %" PRIu64 " is not in the forest", run->edges[i]);
        if (i > 0 && run->edges[i] <= run->edges[i - 1]) SUBJECT_FAIL(about, "%s", "the edges are not in order");
    }
    td_free(wanted);
    if (fabs(run->total_weight - answer->total) > 1e-9 * (1 + fabs(answer->total)))
        SUBJECT_FAIL(about, "the forest weighs %.12g, not %.12g", run->total_weight, answer->total);
}

/* Rows of iterations add up to the totals, whatever happened. */
static void check_counts(const subject *about, const td_run *run)
{
    uint64_t edges = 0;
    for (uint32_t i = 0; i < run->row_count; i++) edges += run->rows[i].edges;
    if (edges != run->edges_processed)
        SUBJECT_FAIL(about, "the rows have %" PRIu64 " edges, the run %" PRIu64, edges, run->edges_processed);
    if (run->row_count != run->iterations)
        SUBJECT_FAIL(about, "%u rows of %u iterations", run->row_count, run->iterations);
    if (about->row->iterations == 0 && !run->converged) SUBJECT_FAIL(about, "%s", "it did not end");
}

static void check_result(const subject *about, const td_run *run, const expected *answer)
{
    if (answer->whole != NULL) check_whole(about, run, answer->whole);
    if (answer->groups != NULL) check_groups(about, run, answer->groups);
    if (answer->real != NULL) check_real(about, run, answer->real);
    if (answer->edges != NULL) check_forest(about, run, answer);
    check_counts(about, run);
}

/* The ways. */

static bool way_allowed(const row *of, const way *one)
{
    const td_program *program = program_of(of->program);
    if (of->sync_only && one->mode == TD_MODE_ASYNC) return false;
    bool bucketed = strstr(of->settings, "cpu.delta") != NULL; /* by itself: a direction would make rounds of it */
    if (program->info->kind == TD_KIND_SWEEP || bucketed) return strcmp(one->direction, "auto") == 0;
    return program->cpu[0].fused || strcmp(one->direction, "push") != 0;
}

static td_run *run_way(const subject *about, const pools *threads)
{
    const row *of = about->row;
    const td_program_info *info = program_of(of->program)->info;
    char settings[256];
    bool patient = strcmp(of->program, "circuit") == 0 && about->graph->vertices > VERY_TINY; /* thousands of iterations */
    snprintf(settings, sizeof settings, "cpu.direction=%s cpu.stealing=%s cpu.heavy=8 cpu.piece=%u %s %s",
             about->way.direction, about->way.stealing, about->graph->edges > 10000 ? 512 : 5,
             patient ? "" : "cpu.alone=0", of->settings);
    td_run_options options = {
        .pool = threads->of[about->way.threads], .mode = about->way.mode, .has_iterations = of->iterations > 0,
        .iterations = of->iterations, .has_tolerance = of->tolerance > 0, .tolerance = of->tolerance,
        .has_source = info->needs_source, .source = busiest(about->graph), .parents = info->gives_parents};
    return run_of(of->program, about->graph, options, settings);
}

static void check_claims(const subject *about, const td_run *run, td_pool *pool)
{
    const char *claims;
    if (td_run_verify(run, pool, &claims) != TD_OK) SUBJECT_FAIL(about, "%s", td_last_message());
}

/* A row on one graph: the reference once, then the ways. */
static int check_row(subject about, const pools *threads, int first_way, int stride)
{
    expected answer = {0};
    int runs = 0;
    for (int i = 0; i < WAYS; i += stride) {
        about.way = way_number((first_way + i) % WAYS);
        if (!way_allowed(about.row, &about.way)) continue;
        td_run *run = run_way(&about, threads);
        if (runs == 0) answer = about.row->expect(about.graph, run);
        check_result(&about, run, &answer);
        if (runs == 0 || run->parents != NULL) check_claims(&about, run, threads->of[1]);
        td_run_destroy(run);
        runs++;
    }
    td_free(answer.whole);
    td_free(answer.groups);
    td_free(answer.real);
    td_free(answer.edges);
    return runs;
}

static bool row_fits(const row *of, const td_graph *graph)
{
    const td_program_info *info = program_of(of->program)->info;
    if (graph->vertices == 0) return false; /* test_engine_faults.c */
    if (info->weights == TD_WEIGHTS_NEEDED && graph->weights == TD_WEIGHT_NONE) return false;
    if (strcmp(of->program, "circuit") != 0) return true;
    bool thin = graph->edges < 2 * (uint64_t)graph->vertices; /* Jacobi's iterations grow with the square of a path */
    return graph->vertices <= TINY || (graph->vertices <= SOLVABLE && !thin);
}

/* How many ways a row goes on a graph: tiny ones all of them, with the row's most awkward weights. */
static int way_stride(const row *of, const td_graph *graph, test_weights kind)
{
    uint32_t tiny = strcmp(of->program, "circuit") == 0 ? VERY_TINY : TINY;
    test_weights awkward = of->weights & KIND(TEST_TIES) ? TEST_TIES : (test_weights)__builtin_ctz(of->weights);
    if (getenv("TANDEM_TEST_ALL") != NULL || (graph->vertices <= tiny && kind == awkward)) return 1;
    return graph->vertices < LARGE ? 19 : 37; /* without a factor in common with the ways */
}

static void check_program(const char *program)
{
    pools threads = make_pools();
    int runs = 0;
    for (int g = 0; g < TEST_GRAPHS; g++)
        for (int kind = 0; kind < TEST_WEIGHT_KINDS; kind++) {
            td_graph *graph = NULL;
            for (int r = 0; r < ROWS; r++) {
                if (strcmp(rows[r].program, program) != 0 || !(rows[r].weights & KIND(kind))) continue;
                if (graph == NULL) graph = test_graph(g, (test_weights)kind, threads.of[1]);
                if (!row_fits(&rows[r], graph)) continue;
                subject about = {&rows[r], graph, test_graphs[g].name, test_weight_names[kind], {0}};
                runs += check_row(about, &threads, (g * 31 + r * 7 + kind * 13) % WAYS,
                                  way_stride(&rows[r], graph, (test_weights)kind));
            }
            td_graph_destroy(graph);
        }
    destroy_pools(&threads);
    printf("     %s: %d runs\n", program, runs);
}

TEST(bfs_in_every_way) { check_program("bfs"); }
TEST(sssp_in_every_way) { check_program("sssp"); }
TEST(wcc_in_every_way) { check_program("wcc"); }
TEST(labels_in_every_way) { check_program("labels"); }
TEST(kcore_in_every_way) { check_program("kcore"); }
TEST(mst_in_every_way) { check_program("mst"); }
TEST(pagerank_in_every_way) { check_program("pagerank"); }
TEST(adsorption_in_every_way) { check_program("adsorption"); }
TEST(nn_in_every_way) { check_program("nn"); }
TEST(heat_in_every_way) { check_program("heat"); }
TEST(circuit_in_every_way) { check_program("circuit"); }

TEST(no_program_is_missing_from_the_table)
{
    for (int p = 0; td_programs[p] != NULL; p++) {
        bool found = false;
        for (int r = 0; r < ROWS; r++) found |= strcmp(rows[r].program, td_programs[p]->info->name) == 0;
        if (!found) TEST_FAIL("%s has no row", td_programs[p]->info->name);
    }
}

TEST_MAIN
