/* A finished run is handed to its verifier with the parameters it ran with: what
 * is right passes, however the run ended, and what was tampered with does not. */
#include "../engine/running.h"

#include "run/verify_run.h"
#include "store/gen.h"

typedef struct example {
    const char *program;
    const char *settings[3]; /* ends with NULL */
    td_run_options options;
    const char *claims; /* part of what is checked */
} example;

/* Sources are vertex 1, which has edges. */
#define SOURCE .has_source = true, .source = 1
#define LIMIT(n) .has_iterations = true, .iterations = (n)

static const example examples[] = {
    {"bfs", {0}, {SOURCE}, "levels"},
    {"bfs", {0}, {SOURCE, .parents = true}, "parents"},
    {"sssp", {0}, {SOURCE}, "tight edges"},
    {"sssp", {0}, {SOURCE, .parents = true, .mode = TD_MODE_ASYNC}, "parents"},
    {"sssp", {"sssp.precision=single"}, {SOURCE}, "tight edges"},
    {"sssp", {"sssp.precision=double"}, {SOURCE, .parents = true}, "parents"},
    {"wcc", {0}, {0}, "no edge joins two labels"},
    {"labels", {0}, {0}, "no edge joins two labels"},
    {"mst", {0}, {0}, "no cycle"},
    {"kcore", {0}, {0}, "core"},
    {"kcore", {"kcore.degree=in"}, {0}, "core"},
    {"pagerank", {0}, {0}, "within the tolerance"},
    {"pagerank", {0}, {.mode = TD_MODE_ASYNC}, "within the tolerance"},
    {"pagerank", {0}, {LIMIT(6)}, "replayed"},
    {"pagerank", {"pagerank.precision=double"}, {LIMIT(6)}, "replayed"},
    {"pagerank", {0}, {.has_tolerance = true, .tolerance = 1e-12}, "within the tolerance"},
    {"pagerank", {0}, {LIMIT(6), .mode = TD_MODE_ASYNC}, "no more than the last one"},
    {"pagerank", {"pagerank.dangling=ignore", "pagerank.damping=0.5"}, {LIMIT(3)}, "replayed"},
    {"pagerank", {"pagerank.dangling=ignore", "cpu.sinks=defer"}, {0}, "within the tolerance"},
    {"adsorption", {0}, {0}, "within the tolerance"},
    {"adsorption", {0}, {LIMIT(4)}, "replayed"},
    {"adsorption", {0}, {LIMIT(4), .mode = TD_MODE_ASYNC}, "no more than the last one"},
    {"nn", {0}, {LIMIT(1)}, ""},
    {"nn", {"nn.activation=sigmoid"}, {LIMIT(1)}, ""},
    {"heat", {0}, {0}, "temperatures"},
    {"circuit", {0}, {.has_tolerance = true, .tolerance = 1e-6}, "within the tolerance"},
    {"circuit", {0}, {LIMIT(5)}, "last iteration's change"},
    {"circuit", {0}, {LIMIT(5), .mode = TD_MODE_ASYNC}, "last iteration's change"},
};

enum { EXAMPLES = sizeof examples / sizeof *examples };

static td_graph *random_graph(bool real, bool symmetric)
{
    td_graph *graph = NULL;
    td_gen_spec spec = {.kind = "rmat", .seed = 11, .scale = 8, .degree = 6, .rewire = -1};
    td_build_options build = {.attach_weights = true, .weight_real = real, .weight_low = 1, .weight_high = 9,
                              .weight_seed = 3, .symmetrize = symmetric};
    CHECK_OK(td_graph_generate(&graph, &spec, &build, NULL));
    return graph;
}

static td_run *run_example(const example *one, const td_graph *graph)
{
    td_settings settings = settings_from(one->settings);
    td_run_options options = one->options;
    options.settings = &settings;
    td_run *run = run_of(one->program, graph, options);
    td_settings_clear(&settings);
    return run;
}

TEST(right_results_pass)
{
    for (int kind = 0; kind < 4; kind++) {
        td_graph *graph = random_graph(kind % 2 == 1, kind / 2 == 1);
        for (int i = 0; i < EXAMPLES; i++) {
            td_run *run = run_example(&examples[i], graph);
            const char *claims = NULL;
            td_status status = td_run_verify(run, NULL, &claims);
            if (status != TD_OK) TEST_FAIL("example %d, graph %d: %s", i, kind, td_last_message());
            CHECK_CONTAINS(claims, examples[i].claims);
            td_run_destroy(run);
        }
        td_graph_destroy(graph);
    }
}

static void tamper(td_run *run, uint32_t v)
{
    if (run->edges != NULL) run->edges[0] = run->edges[1];
    else if (run->kind == TD_VALUE_U32) ((uint32_t *)run->values)[v] += 1;
    else if (run->kind == TD_VALUE_U64) ((uint64_t *)run->values)[v] += 1;
    else if (run->kind == TD_VALUE_F32) ((float *)run->values)[v] += 0.5f;
    else ((double *)run->values)[v] += 0.5;
}

TEST(wrong_results_do_not)
{
    td_graph *graph = random_graph(false, false);
    for (int i = 0; i < EXAMPLES; i++) {
        td_run *run = run_example(&examples[i], graph);
        const char *claims = NULL;
        tamper(run, 1);
        td_status status = td_run_verify(run, NULL, &claims);
        if (status != TD_VERIFY) TEST_FAIL("example %d (%s) passes", i, examples[i].program);
        CHECK_CONTAINS(td_last_message(), "claim");
        td_run_destroy(run);
    }
    td_graph_destroy(graph);
}

TEST(other_parameters_than_the_run_had_are_noticed)
{
    td_graph *graph = random_graph(false, false);
    const char *claims = NULL;
    td_run *run = run_of("pagerank", graph, (td_run_options){LIMIT(6)});
    run->context.parameter[0] = 0.8;
    CHECK_STATUS(td_run_verify(run, NULL, &claims), TD_VERIFY);
    td_run_destroy(run);
    run = run_of("heat", graph, (td_run_options){0});
    run->iterations--;
    CHECK_STATUS(td_run_verify(run, NULL, &claims), TD_VERIFY);
    td_run_destroy(run);
    td_graph_destroy(graph);
}

TEST(a_search_that_was_stopped_claims_nothing)
{
    static const char *const programs[] = {"bfs", "sssp"};
    td_graph *graph = graph_of("1 2 1\n2 3 1\n3 4 1\n4 5 1\n");
    for (int i = 0; i < 2; i++) {
        const char *claims = NULL;
        td_run *run = run_of(programs[i], graph, (td_run_options){.has_source = true, LIMIT(2)});
        CHECK_STATUS(td_run_verify(run, NULL, &claims), TD_UNSUPPORTED);
        CHECK_CONTAINS(td_last_message(), "stopped after 2 iterations");
        td_run_destroy(run);
    }
    td_graph_destroy(graph);
}

TEST(a_program_without_a_verifier_says_so)
{
    td_graph *graph = graph_of("1 2 1\n");
    td_run *run = run_of("wcc", graph, (td_run_options){0});
    td_program_info info = *run->program->info;
    td_program mine = *run->program;
    info.name = "mine";
    mine.info = &info;
    run->program = &mine;
    const char *claims = NULL;
    CHECK_STATUS(td_run_verify(run, NULL, &claims), TD_UNSUPPORTED);
    CHECK_CONTAINS(td_last_message(), "no verifier");
    td_run_destroy(run);
    td_graph_destroy(graph);
}

TEST_MAIN
