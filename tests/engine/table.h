/* The table of programs that engines are held to: every program on every test
 * graph, against the serial references, integers exactly, reals within the row's
 * bound. The verifiers look at one result of every row, and at all parents.
 *
 * An engine's test says in which ways it can run a row (table_ways); the rows, the
 * references and the checks are here. */
#ifndef TD_TEST_TABLE_H
#define TD_TEST_TABLE_H

#include "engine/kernels_seen.h"
#include "engine/ways.h"

#include "base/clock.h"
#include "run/verify_run.h"

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
    const char *settings; /* of the program */
    unsigned weights; /* bits of test_weights */
    uint32_t iterations; /* 0: to the end */
    double tolerance;
    bool sync_only;
    const char *engine; /* a setting that all engines have, without its prefix */
    int thin; /* one of so many ways is enough, besides the engine's own choice; 0: all of them */
    double relative, absolute, l1; /* how far a real may be off: of itself, at all, all of them together */
    expected (*expect)(const td_graph *graph, const td_run *run);
} row;

#define KIND(kind) (1u << (kind))

/* What the references say. */

static inline expected expect_bfs(const td_graph *graph, const td_run *run)
{
    uint32_t *parents = NULL;
    expected answer = {.whole = reference_bfs(graph, run->context.source, &parents)};
    td_free(parents);
    return answer;
}

static inline expected expect_sssp(const td_graph *graph, const td_run *run)
{
    uint32_t *parents = NULL;
    expected answer = {.real = reference_sssp(graph, run->context.source, &parents)};
    td_free(parents);
    if (td_weight_real(graph->weights)) return answer;
    answer.whole = reference_whole_distances(answer.real, graph->vertices);
    td_free(answer.real);
    answer.real = NULL;
    return answer;
}

static inline expected expect_wcc(const td_graph *graph, const td_run *run)
{
    (void)run;
    return (expected){.whole = reference_wcc(graph)};
}

static inline expected expect_kcore(const td_graph *graph, const td_run *run)
{
    return (expected){.whole = reference_kcore(graph, run->context.parameter[0] == 1)};
}

static inline expected expect_mst(const td_graph *graph, const td_run *run)
{
    (void)run;
    expected answer = {.groups = reference_wcc(graph)};
    answer.edges = reference_mst(graph, &answer.edge_count, &answer.total);
    return answer;
}

enum { TO_THE_END = 250 }; /* iterations of a reference that shrinks by 0.85 or less in each */

static inline expected expect_pagerank(const td_graph *graph, const td_run *run)
{
    uint32_t iterations = run->tolerance > 0 ? TO_THE_END : run->iterations;
    return (expected){.real = reference_pagerank(graph, 0.85, run->context.parameter[1] == 0, NULL, iterations)};
}

static inline expected expect_adsorption(const td_graph *graph, const td_run *run)
{
    uint32_t iterations = run->tolerance > 0 ? TO_THE_END : run->iterations;
    return (expected){.real = reference_adsorption(graph, 0.25, 0.7, run->inputs[0], iterations)};
}

static inline expected expect_nn(const td_graph *graph, const td_run *run)
{
    static double (*const activations[])(double) = {reference_tanh, reference_sigmoid, reference_relu};
    double (*activation)(double) = activations[(int)run->context.parameter[0]];
    return (expected){.real = reference_nn(graph, activation, run->inputs[0], run->iterations)};
}

static inline expected expect_heat(const td_graph *graph, const td_run *run)
{
    return (expected){.real = reference_heat(graph, run->inputs[0], run->context.parameter[0], run->iterations)};
}

static inline expected expect_circuit(const td_graph *graph, const td_run *run)
{
    return (expected){.real = reference_circuit(graph, run->inputs[0])};
}

#define ANY_WEIGHTS (KIND(TEST_UNWEIGHTED) | KIND(TEST_U8) | KIND(TEST_TIES) | KIND(TEST_F32))
#define INTEGERS (KIND(TEST_U8) | KIND(TEST_TIES) | KIND(TEST_U16) | KIND(TEST_U32))

static const row rows[] = {
    {"bfs", "", KIND(TEST_UNWEIGHTED), .expect = expect_bfs},
    {"sssp", "", INTEGERS | KIND(TEST_F32), .relative = 1e-14, .expect = expect_sssp},
    {"sssp", "sssp.precision=single", KIND(TEST_F32), .relative = 1e-5, .thin = 4, .expect = expect_sssp},
    {"sssp", "", KIND(TEST_F64), .relative = 1e-14, .thin = 4, .expect = expect_sssp},
    {"sssp", "sssp.precision=double", KIND(TEST_U32), .thin = 4, .expect = expect_sssp},
    {"sssp", "", KIND(TEST_U16), .engine = "delta=100", .expect = expect_sssp},
    {"wcc", "", KIND(TEST_UNWEIGHTED), .sync_only = true, .expect = expect_wcc},
    {"wcc", "", KIND(TEST_UNWEIGHTED), .sync_only = true, .engine = "samples=0", .expect = expect_wcc},
    {"labels", "", KIND(TEST_UNWEIGHTED), .expect = expect_wcc},
    {"kcore", "", KIND(TEST_UNWEIGHTED), .sync_only = true, .expect = expect_kcore},
    {"kcore", "kcore.degree=in", KIND(TEST_UNWEIGHTED), .sync_only = true, .expect = expect_kcore},
    {"mst", "", KIND(TEST_U8) | KIND(TEST_TIES) | KIND(TEST_U16) | KIND(TEST_F32) | KIND(TEST_SIGNED), .sync_only = true,
     .expect = expect_mst},
    {"mst", "", KIND(TEST_F64), .sync_only = true, .expect = expect_mst}, /* ranks: by the kernels of u32 */
    {"pagerank", "", KIND(TEST_UNWEIGHTED), .iterations = 8, .sync_only = true, .relative = 1e-5,
     .expect = expect_pagerank},
    {"pagerank", "pagerank.dangling=ignore", KIND(TEST_UNWEIGHTED), .iterations = 8, .sync_only = true,
     .relative = 1e-5, .expect = expect_pagerank},
    {"pagerank", "", KIND(TEST_UNWEIGHTED), .tolerance = 1e-6, .l1 = 1e-5, .expect = expect_pagerank},
    {"pagerank", "pagerank.precision=double", KIND(TEST_UNWEIGHTED), .iterations = 8, .sync_only = true,
     .relative = 1e-11, .thin = 4, .expect = expect_pagerank},
    {"pagerank", "", KIND(TEST_UNWEIGHTED), .tolerance = 1e-12, .l1 = 1e-11, .thin = 4, .expect = expect_pagerank},
    {"adsorption", "", ANY_WEIGHTS, .iterations = 6, .sync_only = true, .relative = 1e-5, .expect = expect_adsorption},
    {"adsorption", "", KIND(TEST_UNWEIGHTED) | KIND(TEST_F32), .tolerance = 1e-6, .absolute = 3e-6,
     .expect = expect_adsorption},
    {"adsorption", "", KIND(TEST_F64), .iterations = 6, .sync_only = true, .relative = 1e-5, .thin = 8,
     .expect = expect_adsorption},
    {"nn", "", KIND(TEST_SIGNED), .iterations = 6, .sync_only = true, .relative = 1e-4, .expect = expect_nn},
    {"nn", "nn.activation=sigmoid", KIND(TEST_SIGNED) | KIND(TEST_F32), .iterations = 6, .sync_only = true,
     .relative = 1e-4, .expect = expect_nn},
    {"nn", "nn.activation=relu", KIND(TEST_U8), .iterations = 6, .sync_only = true, .relative = 1e-5, .thin = 4,
     .expect = expect_nn},
    {"heat", "", ANY_WEIGHTS | KIND(TEST_U16), .iterations = 10, .sync_only = true, .relative = 1e-5,
     .expect = expect_heat},
    {"heat", "", KIND(TEST_F64), .iterations = 10, .sync_only = true, .relative = 1e-5, .thin = 8, .expect = expect_heat},
    {"circuit", "", KIND(TEST_F64), .tolerance = 1e-8, .relative = 1e-4, .thin = 8, .expect = expect_circuit},
    {"circuit", "", KIND(TEST_UNWEIGHTED) | KIND(TEST_U8) | KIND(TEST_F32), .tolerance = 1e-8, .relative = 1e-4,
     .expect = expect_circuit},
};

enum { ROWS = sizeof rows / sizeof *rows };

/* One result against the reference. */

typedef struct subject {
    const row *row;
    const td_graph *graph;
    const char *graph_name, *weights_name;
    char how[512]; /* the way it is run */
    bool named_only; /* ways fill `how`, and run nothing */
    bool named;      /* this one did */
} subject;

#define SUBJECT_FAIL(subject_, text, ...)                                                                             \
    TEST_FAIL("%s %s on %s, %s, %s: " text, (subject_)->row->program, (subject_)->row->settings,                      \
              (subject_)->graph_name, (subject_)->weights_name, (subject_)->how, __VA_ARGS__)

static inline double real_value(const td_run *run, uint32_t v)
{
    return run->kind == TD_VALUE_F64 ? ((const double *)run->values)[v] : (double)((const float *)run->values)[v];
}

static inline void check_whole(const subject *about, const td_run *run, const uint32_t *whole)
{
    bool wide = strstr(about->row->settings, "precision=double") != NULL;
    if (run->kind != (wide ? TD_VALUE_U64 : TD_VALUE_U32)) SUBJECT_FAIL(about, "%s", "the values are of another kind");
    for (uint32_t v = 0; v < about->graph->vertices; v++) {
        uint64_t value = wide ? ((const uint64_t *)run->values)[v] : ((const uint32_t *)run->values)[v];
        uint64_t wanted = wide && whole[v] == TD_UNREACHED ? TD_UNREACHED_U64 : whole[v];
        if (value != wanted) SUBJECT_FAIL(about, "vertex %u has %" PRIu64 ", not %" PRIu64, v, value, wanted);
    }
}

/* A group is named by any one of its vertices. */
static inline void check_groups(const subject *about, const td_run *run, const uint32_t *groups)
{
    const uint32_t *values = run->values;
    for (uint32_t v = 0; v < about->graph->vertices; v++) {
        uint32_t first = groups[v], name = values[v];
        if (name >= about->graph->vertices || values[first] != name || groups[name] != first)
            SUBJECT_FAIL(about, "vertex %u is called %u and belongs to %u", v, name, first);
    }
}

static inline void check_real(const subject *about, const td_run *run, const double *real)
{
    double l1 = 0, largest = 0;
    if (run->kind == TD_VALUE_U32 || run->kind == TD_VALUE_U64)
        SUBJECT_FAIL(about, "%s", "the values are whole numbers");
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

static inline void check_forest(const subject *about, const td_run *run, const expected *answer)
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
static inline void check_counts(const subject *about, const td_run *run)
{
    uint64_t edges = 0;
    for (uint32_t i = 0; i < run->row_count; i++) edges += run->rows[i].edges;
    if (edges != run->edges_processed)
        SUBJECT_FAIL(about, "the rows have %" PRIu64 " edges, the run %" PRIu64, edges, run->edges_processed);
    if (run->row_count != run->iterations)
        SUBJECT_FAIL(about, "%u rows of %u iterations", run->row_count, run->iterations);
    if (about->row->iterations == 0 && !run->converged) SUBJECT_FAIL(about, "%s", "it did not end");
}

static inline void check_answer(const subject *about, const td_run *run, const expected *answer)
{
    if (answer->whole != NULL) check_whole(about, run, answer->whole);
    if (answer->groups != NULL) check_groups(about, run, answer->groups);
    if (answer->real != NULL) check_real(about, run, answer->real);
    if (answer->edges != NULL) check_forest(about, run, answer);
}

static inline void check_result(const subject *about, const td_run *run, const expected *answer)
{
    check_answer(about, run, answer);
    check_counts(about, run);
}
/* Running. */

/* Settings and modes that ways name: the words of `how` that have a "=", and the few of bare_words. */
typedef struct table_words {
    int count;
    char word[200][64];
} table_words;

static const char *const bare_words[] = {"sync", "async", "kept"};

static inline bool is_setting(const char *word)
{
    for (size_t i = 0; i < sizeof bare_words / sizeof *bare_words; i++)
        if (strcmp(word, bare_words[i]) == 0) return true;
    return strchr(word, '=') != NULL;
}

static inline bool has_word(const table_words *words, const char *word)
{
    for (int i = 0; i < words->count; i++)
        if (strcmp(words->word[i], word) == 0) return true;
    return false;
}

static inline void add_words(table_words *words, const char *how)
{
    char copy[512], *rest = NULL;
    snprintf(copy, sizeof copy, "%s", how);
    for (char *word = strtok_r(copy, " ,", &rest); word != NULL; word = strtok_r(NULL, " ,", &rest)) {
        if (!is_setting(word) || has_word(words, word)) continue;
        CHECK(words->count < (int)(sizeof words->word / sizeof *words->word));
        snprintf(words->word[words->count++], sizeof words->word[0], "%s", word);
    }
}

/* Draws: few runs of a row on a graph, and the ways in turn from run to run, so that all runs of a program together
 * have every setting. */
typedef struct table_draws {
    int (*runs)(const row *of, const td_graph *graph, test_weights kind); /* of the row on the graph; 0: none */
    int next;
    table_words seen;
} table_draws;

/* The ways an engine has of running a row. */
typedef struct table_ways {
    int count;
    td_run *(*run)(void *context, subject *about, int way);          /* NULL: this is no way for the row; fills `how` */
    int (*stride)(const row *of, const td_graph *graph, test_weights kind); /* 0: none of this row on this graph */
    void (*leave)(void *context);                                    /* before a graph goes; or NULL */
    void *context;
    td_pool *pool;
    table_draws *draws; /* instead of strides; or NULL */
} table_ways;

/* Where the runs of a graph take place, and what one leaves to the next. */
typedef struct table_place {
    const char *devices;
    td_pool *pool;
    td_cache kept;
    bool stays_open; /* the GPUs: opening a slice takes longer than most runs */
    td_cache fresh;  /* then: the open GPUs of runs that find no layout */
    int fresh_runs;
} table_place;

static inline void table_leave(void *context)
{
    table_place *place = context;
    if (place->stays_open) td_cache_release_layouts(&place->kept);
    else td_cache_release(&place->kept);
    td_cache_release_layouts(&place->fresh);
}

static inline void table_close(table_place *place)
{
    td_cache_release(&place->kept);
    td_cache_release(&place->fresh);
}

/* The cache of a run: with the layouts that earlier runs left, or without any. NULL: the run opens and closes its GPUs;
 * where they stay open, every 64th does. */
static inline td_cache *table_cache(table_place *place, bool keeps)
{
    if (keeps) return &place->kept;
    if (!place->stays_open || place->fresh_runs++ % 64 == 0) return NULL;
    td_cache_release_layouts(&place->fresh);
    return &place->fresh;
}

/* Whether the way was only to be named. */
static inline bool table_named(subject *about)
{
    about->named = true;
    return about->named_only;
}

static inline td_run_options table_options(const row *of, const td_graph *graph)
{
    const td_program_info *info = program_of(of->program)->info;
    return (td_run_options){.has_iterations = of->iterations > 0, .iterations = of->iterations,
                            .has_tolerance = of->tolerance > 0, .tolerance = of->tolerance,
                            .has_source = info->needs_source, .source = busiest(graph), .parents = info->gives_parents};
}

/* The row's settings behind the way's; returns `text`. */
static inline char *table_settings(char *text, size_t room, const row *of, const char *engine, const char *way)
{
    int length = snprintf(text, room, "%s %s", way, of->settings);
    if (of->engine != NULL) snprintf(text + length, room - (size_t)length, " %s.%s", engine, of->engine);
    return text;
}

static inline void check_claims(const subject *about, const td_run *run, td_pool *pool)
{
    const char *claims;
    if (td_run_verify(run, pool, &claims) != TD_OK) SUBJECT_FAIL(about, "%s", td_last_message());
}


static inline void free_expected(expected *answer)
{
    td_free(answer->whole);
    td_free(answer->groups);
    td_free(answer->real);
    td_free(answer->edges);
}

/* The engine in the list of kernels: "slices" are paths on several GPUs. NULL: a machine that the list is not of. */
static inline const char *kernels_engine(const td_run *run, const char *how)
{
    int gpus = 0;
    for (int i = 0; i < run->devices.count; i++) gpus += strcmp(run->devices.of[i].name, "cpu") != 0;
    bool apart = gpus > 1 && strstr(how, "slices") == NULL && strncmp(how, "cuda", 4) != 0;
    if (gpus == 0 || apart) return NULL;
    return gpus > 1 && strcmp(run->engine, "paths") == 0 ? "slices" : run->engine;
}

/* A kernel that this run launches has a run under compute-sanitizer. What is launched depends on the size of a GPU, too: on a
 * real one, which is not there to test a list, one that has none is a line of output. */
static inline void check_kernels(const subject *about, const td_run *run)
{
    char names[400];
    const char *engine = kernels_engine(run, about->how);
    if (engine == NULL || kernels_not_listed(engine, names, sizeof names) == 0) return;
    if (strncmp(about->how, "cuda", 4) != 0)
        SUBJECT_FAIL(about, "no run of kernel_runs.h launches%s (engine %s)", names, engine);
    printf("     no run of kernel_runs.h launches%s (engine %s)\n", names, engine);
}

/* Runs in the way, if it is one for the row; the reference is asked for when the first run has ended. */
static inline bool check_way(subject *about, const table_ways *ways, int way, expected *answer, int runs)
{
    enum { LONG_SECONDS = 5 };
    uint64_t began = td_clock_ns();
    kernels_watch();
    td_run *run = ways->run(ways->context, about, way);
    if (run == NULL) return false;
    check_kernels(about, run);
    if (td_seconds_since(began) > LONG_SECONDS)
        printf("     %.1f s: %s %s on %s, %s, %s\n", td_seconds_since(began), about->row->program, about->row->settings,
               about->graph_name, about->weights_name, about->how);
    if (runs == 0) *answer = about->row->expect(about->graph, run);
    check_result(about, run, answer);
    if (runs == 0 || run->parents != NULL) check_claims(about, run, ways->pool);
    td_run_destroy(run);
    return true;
}

/* A row on one graph: the reference once, then the ways. */
static inline int check_row(subject *about, const table_ways *ways, int first_way, int stride)
{
    expected answer = {0};
    int runs = 0;
    for (int i = 0; i < ways->count; i += stride)
        runs += check_way(about, ways, (first_way + i) % ways->count, &answer, runs);
    free_expected(&answer);
    return runs;
}

/* The nth draw: steps by the golden section, so that few in a row have every choice of every setting about equally often. */
static inline int drawn_way(int n, int count)
{
    int step = (int)(0.6180339887 * count);
    for (int a = step, b = count; step > 0; a = ++step, b = count) { /* until they have no common factor */
        while (b != 0) {
            int rest = a % b;
            a = b, b = rest;
        }
        if (a == 1) break;
    }
    return (int)((int64_t)n * step % count);
}

/* The next draw that is a way of the row; false: none of many is. */
static inline bool check_draw(subject *about, const table_ways *ways, expected *answer, int runs)
{
    enum { TRIES = 300 }; /* most ways of a row may be none */
    for (int i = 0; i < TRIES; i++) {
        if (!check_way(about, ways, drawn_way(ways->draws->next++, ways->count), answer, runs)) continue;
        add_words(&ways->draws->seen, about->how);
        return true;
    }
    return false;
}

static inline int check_draws(subject *about, const table_ways *ways, int wanted)
{
    expected answer = {0};
    int runs = 0;
    while (runs < wanted && check_draw(about, ways, &answer, runs)) runs++;
    free_expected(&answer);
    return runs;
}

/* Whether a row that is one of thin ways is drawn on this graph. */
static inline bool is_thinned(int row_number, int seed)
{
    return rows[row_number].thin > 0 && seed % rows[row_number].thin != row_number % rows[row_number].thin;
}

static inline bool row_fits(const row *of, const td_graph *graph)
{
    const td_program_info *info = program_of(of->program)->info;
    if (graph->vertices == 0) return false; /* test_engine_faults.c */
    if (info->weights == TD_WEIGHTS_NEEDED && graph->weights == TD_WEIGHT_NONE) return false;
    if (strcmp(of->program, "circuit") != 0) return true;
    bool thin = graph->edges < 2 * (uint64_t)graph->vertices; /* Jacobi's iterations grow with the square of a path */
    return graph->vertices <= TINY || (graph->vertices <= SOLVABLE && !thin);
}

/* Whether the way has a setting that no run drawn has had. */
static inline bool has_new_setting(const table_ways *ways, const subject *about)
{
    table_words words = {0};
    bool fresh = false;
    add_words(&words, about->how);
    for (int i = 0; i < words.count; i++) fresh |= !has_word(&ways->draws->seen, words.word[i]);
    return fresh;
}

static inline int run_new_settings(const row *of, const td_graph *graph, const char *graph_name, test_weights kind,
                                   const table_ways *ways)
{
    expected answer = {0};
    int runs = 0;
    for (int way = 0; way < ways->count; way++) {
        subject about = {.row = of, .graph = graph, .graph_name = graph_name, .weights_name = test_weight_names[kind],
                         .named_only = true};
        (void)ways->run(ways->context, &about, way);
        if (!about.named || !has_new_setting(ways, &about)) continue;
        about.named_only = false;
        runs += check_way(&about, ways, way, &answer, runs);
        add_words(&ways->draws->seen, about.how);
    }
    free_expected(&answer);
    return runs;
}

/* The settings that the draws of a program have not had, each in a run of one of its rows on one graph. */
static inline void check_rest(const char *program, const table_ways *ways)
{
    int runs = 0, graph_number = test_graph_named(strcmp(program, "circuit") == 0 ? "complete 20" : "small world");
    for (int kind = 0; kind < TEST_WEIGHT_KINDS; kind++) {
        td_graph *graph = test_graph(graph_number, (test_weights)kind, ways->pool);
        for (int r = 0; r < ROWS; r++)
            if (strcmp(rows[r].program, program) == 0 && (rows[r].weights & KIND(kind)) && row_fits(&rows[r], graph))
                runs += run_new_settings(&rows[r], graph, test_graphs[graph_number].name, (test_weights)kind, ways);
        if (ways->leave != NULL) ways->leave(ways->context);
        td_graph_destroy(graph);
    }
    printf("     %s: %d runs of settings that were not drawn\n", program, runs);
}

static inline int check_row_on(int r, const td_graph *graph, const char *graph_name, int seed, test_weights kind,
                               const table_ways *ways)
{
    subject about = {.row = &rows[r], .graph = graph, .graph_name = graph_name, .weights_name = test_weight_names[kind]};
    if (!row_fits(&rows[r], graph)) return 0;
    if (ways->draws != NULL)
        return is_thinned(r, seed) ? 0 : check_draws(&about, ways, ways->draws->runs(&rows[r], graph, kind));
    int stride = ways->stride(&rows[r], graph, kind) * (rows[r].thin > 0 ? rows[r].thin : 1);
    return stride > 0 ? check_row(&about, ways, (seed * 31 + r * 7 + (int)kind * 13) % ways->count, stride) : 0;
}

/* All rows of a program on one graph. */
static inline int check_program_on(const char *program, const td_graph *graph, const char *graph_name, int seed,
                                   test_weights kind, const table_ways *ways)
{
    int runs = 0;
    for (int r = 0; r < ROWS; r++)
        if (strcmp(rows[r].program, program) == 0 && (rows[r].weights & KIND(kind)))
            runs += check_row_on(r, graph, graph_name, seed, kind, ways);
    return runs;
}

static inline bool program_takes(const char *program, int kind)
{
    bool takes = false;
    for (int r = 0; r < ROWS; r++)
        takes |= strcmp(rows[r].program, program) == 0 && (rows[r].weights & KIND(kind)) != 0;
    return takes;
}

static inline void check_program(const char *program, const table_ways *ways)
{
    int runs = 0;
    for (int g = 0; g < TEST_GRAPHS; g++)
        for (int kind = 0; kind < TEST_WEIGHT_KINDS; kind++) {
            if (!program_takes(program, kind)) continue;
            td_graph *graph = test_graph(g, (test_weights)kind, ways->pool);
            runs += check_program_on(program, graph, test_graphs[g].name, g, (test_weights)kind, ways);
            if (ways->leave != NULL) ways->leave(ways->context);
            td_graph_destroy(graph);
        }
    printf("     %s: %d runs\n", program, runs);
}

#endif
