/* The verifiers of pagerank, adsorption and nn: references pass, so does a plain
 * engine that computes in floats, and every result changed by a little more than
 * rounding is refuted. */
#include "verifying.h"

/* Sums to 1, with a third of the vertices at 0. */
static double *personal_start(const td_graph *graph)
{
    double *personal = NULL, sum = 0;
    REFERENCE_NEW(&personal, graph->vertices);
    for (uint32_t v = 0; v < graph->vertices; v++) sum += personal[v] = v % 3 == 1 ? 0 : unit(1, v) + 0.1;
    for (uint32_t v = 0; v < graph->vertices; v++) personal[v] /= sum;
    return personal;
}

/* In floats, pulling, until the tolerance is met. */
static float *pagerank_in_floats(const td_graph *graph, const td_pagerank_claim *claim, uint32_t most)
{
    uint32_t n = graph->vertices;
    float *ranks = NULL, *next = NULL, d = (float)claim->damping;
    REFERENCE_NEW(&ranks, n);
    REFERENCE_NEW(&next, n);
    for (uint32_t v = 0; v < n; v++) ranks[v] = claim->personal != NULL ? (float)claim->personal[v] : 1.0f / (float)n;
    double change = INFINITY;
    for (uint32_t i = 0; i < most && change > claim->tolerance; i++) {
        double dangling = 0; /* thousands of like terms: one float would not do */
        change = 0;
        for (uint32_t v = 0; v < n; v++) dangling += td_degree(&graph->out, v) == 0 ? (double)ranks[v] : 0;
        if (!claim->spread_dangling) dangling = 0;
        for (uint32_t v = 0; v < n; v++) {
            float p = claim->personal != NULL ? (float)claim->personal[v] : 1.0f / (float)n, sum = p * (float)dangling;
            for (uint64_t e = graph->in.offsets[v]; e < graph->in.offsets[v + 1]; e++)
                sum += ranks[graph->in.targets[e]] / (float)td_degree(&graph->out, graph->in.targets[e]);
            next[v] = (1 - d) * p + d * sum;
            change += fabs((double)next[v] - (double)ranks[v]);
        }
        float *swapped = ranks;
        ranks = next;
        next = swapped;
    }
    td_free(next);
    return ranks;
}

TEST(pagerank_references_and_float_engines_pass)
{
    td_pool *pool = pool_of(2);
    for (int i = 0; i < TEST_GRAPHS; i++) {
        td_graph *graph = test_graph(i, TEST_UNWEIGHTED, pool);
        double *personal = personal_start(graph);
        for (int variant = 0; variant < 4; variant++) {
            td_pagerank_claim claim = {
                .damping = 0.85, .spread_dangling = variant % 2, .personal = variant / 2 ? personal : NULL};
            for (claim.iterations = 1; claim.iterations < 40; claim.iterations += 19) {
                double *ranks =
                    reference_pagerank(graph, 0.85, claim.spread_dangling, claim.personal, claim.iterations);
                float *rounded = reference_floats(ranks, graph->vertices);
                float *computed = pagerank_in_floats(graph, &claim, claim.iterations);
                CHECK_OK(td_verify_pagerank(graph, rounded, &claim, variant == 0 ? NULL : pool));
                CHECK_OK(td_verify_pagerank(graph, computed, &claim, pool));
                td_free(ranks);
                td_free(rounded);
                td_free(computed);
            }
            claim.iterations = 0;
            for (claim.tolerance = 1e-3; claim.tolerance > 1e-6; claim.tolerance /= 10) {
                float *computed = pagerank_in_floats(graph, &claim, 100);
                CHECK_OK(td_verify_pagerank(graph, computed, &claim, pool));
                td_free(computed);
            }
        }
        td_free(personal);
        td_graph_destroy(graph);
    }
    td_pool_destroy(pool);
}

TEST(pagerank_changed_ranks_are_refuted)
{
    for (int i = 0; i < TEST_GRAPHS; i++) {
        td_graph *graph = test_graph(i, TEST_UNWEIGHTED, NULL);
        td_pagerank_claim claim = {.damping = 0.85, .spread_dangling = true, .iterations = 10};
        double *ranks = reference_pagerank(graph, 0.85, true, NULL, 10);
        float *rounded = reference_floats(ranks, graph->vertices);
        for (uint32_t v = 0; v < graph->vertices; v += stride(graph)) {
            float right = rounded[v], wrong[] = {right * 1.001f, right * 0.999f, 0, 1.5f};
            for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
                rounded[v] = wrong[k];
                CHECK_REFUTED(td_verify_pagerank(graph, rounded, &claim, NULL), "those of the iterations replayed");
            }
            static const float impossible[] = {-1e-9f, INFINITY, NAN};
            for (size_t k = 0; k < sizeof impossible / sizeof *impossible; k++) {
                rounded[v] = impossible[k];
                CHECK_REFUTED(td_verify_pagerank(graph, rounded, &claim, NULL), "ranks are numbers, not negative");
            }
            rounded[v] = right;
        }
        td_free(ranks);
        td_free(rounded);
        td_graph_destroy(graph);
    }
}

static td_status verify_ranks(const td_graph *graph, const double *ranks, const td_pagerank_claim *claim)
{
    float *rounded = reference_floats(ranks, graph->vertices);
    td_status status = td_verify_pagerank(graph, rounded, claim, NULL);
    td_free(rounded);
    return status;
}

TEST(pagerank_says_which_claim_fails)
{
    td_graph *graph = test_graph(test_graph_named("rmat 10"), TEST_UNWEIGHTED, NULL);
    td_pagerank_claim converged = {.damping = 0.85, .spread_dangling = true, .tolerance = 1e-6};
    td_pagerank_claim lossy = {.damping = 0.85, .tolerance = 1e-6}, counted = {.damping = 0.85, .iterations = 4};
    double *right = reference_pagerank(graph, 0.85, true, NULL, 100),
           *early = reference_pagerank(graph, 0.85, true, NULL, 4);
    double *lost = reference_pagerank(graph, 0.85, false, NULL, 100),
           *lost_early = reference_pagerank(graph, 0.85, false, NULL, 4);
    CHECK_OK(verify_ranks(graph, right, &converged));
    CHECK_OK(verify_ranks(graph, lost, &lossy));
    CHECK_OK(verify_ranks(graph, lost_early, &counted));
    CHECK_REFUTED(verify_ranks(graph, lost, &converged),
                  "pagerank: the claim 'the sum of all ranks is 1' fails: it is 0.");
    CHECK_REFUTED(verify_ranks(graph, early, &converged),
                  "'one more step stays within the tolerance' fails: it moves the ranks by");
    CHECK_REFUTED(verify_ranks(graph, right, &lossy), "'one more step stays within the tolerance'");
    CHECK_REFUTED(verify_ranks(graph, early, &counted),
                  "'ranks are those of the iterations replayed' fails: vertex 0 has 0.");
    counted.iterations = 5;
    CHECK_REFUTED(verify_ranks(graph, lost_early, &counted), "'ranks are those of the iterations replayed'");
    double moved = right[17] / 2;
    right[17] -= moved;
    right[18] += moved;
    CHECK_REFUTED(verify_ranks(graph, right, &converged), "'one more step stays within the tolerance'");
    CHECK_CONTAINS(td_last_message(), "most of all vertex 1");
    td_free(right);
    td_free(early);
    td_free(lost);
    td_free(lost_early);
    td_graph_destroy(graph);
}

TEST(pagerank_sums_a_hub_exactly_enough_to_tell)
{
    td_graph *graph = test_graph(test_graph_named("star"), TEST_UNWEIGHTED, NULL);
    td_pagerank_claim claim = {.damping = 0.85, .iterations = 1};
    double *ranks = reference_pagerank(graph, 0.85, false, NULL, 1);
    CHECK(fabs(ranks[0] - (0.15 + 0.85 * 300) / 301) < 1e-12);
    ranks[0] += 3e-4;
    CHECK_REFUTED(verify_ranks(graph, ranks, &claim), "vertex 0 has 0.84797");
    td_free(ranks);
    td_graph_destroy(graph);
}

static double *adsorption_seeds(const td_graph *graph, bool either_sign)
{
    double *seeds = NULL;
    REFERENCE_NEW(&seeds, graph->vertices);
    for (uint32_t v = 0; v < graph->vertices; v += 4) seeds[v] = unit(2, v) - (either_sign ? 0.5 : 0);
    return seeds;
}

static float *adsorption_in_floats(const td_graph *graph, const td_adsorption_claim *claim, uint32_t most)
{
    uint32_t n = graph->vertices;
    float *scores = NULL, *next = NULL;
    REFERENCE_NEW(&scores, n);
    REFERENCE_NEW(&next, n);
    for (uint32_t v = 0; v < n; v++) scores[v] = (float)claim->seeds[v];
    double change = INFINITY;
    for (uint32_t i = 0; i < most && change > claim->tolerance; i++) {
        change = 0;
        for (uint32_t v = 0; v < n; v++) {
            float sum = 0, weights = 0;
            for (uint64_t e = graph->in.offsets[v]; e < graph->in.offsets[v + 1]; e++) {
                float weight = graph->weights == TD_WEIGHT_NONE ? 1 : (float)td_weight_at(graph, &graph->in, e);
                sum += weight * scores[graph->in.targets[e]];
                weights += weight;
            }
            next[v] = (float)claim->injection * (float)claim->seeds[v] +
                      (weights > 0 ? (float)claim->continuation * (sum / weights) : 0);
            change = fmax(change, fabs((double)next[v] - (double)scores[v]));
        }
        float *swapped = scores;
        scores = next;
        next = swapped;
    }
    td_free(next);
    return scores;
}

TEST(adsorption_references_and_float_engines_pass_and_changes_are_refuted)
{
    td_pool *pool = pool_of(2);
    for (int i = 0; i < TEST_GRAPHS; i++)
        for (int w = 0; w < SOME_WEIGHTS; w++) {
            td_graph *graph = test_graph(i, some_weights[w], pool);
            double *seeds = adsorption_seeds(graph, w % 2 != 0);
            td_adsorption_claim claim = {.injection = 0.25, .continuation = 0.7, .seeds = seeds};
            for (claim.iterations = 1; claim.iterations < 20; claim.iterations += 9) {
                double *scores = reference_adsorption(graph, 0.25, 0.7, seeds, claim.iterations);
                float *rounded = reference_floats(scores, graph->vertices);
                float *computed = adsorption_in_floats(graph, &claim, claim.iterations);
                CHECK_OK(td_verify_adsorption(graph, rounded, &claim, pool));
                CHECK_OK(td_verify_adsorption(graph, computed, &claim, NULL));
                for (uint32_t v = 0; v < graph->vertices; v += 4 * stride(graph)) {
                    float right = rounded[v];
                    rounded[v] = right + 1e-3f;
                    CHECK_REFUTED(td_verify_adsorption(graph, rounded, &claim, NULL),
                                  "those of the iterations replayed");
                    rounded[v] = right;
                }
                td_free(scores);
                td_free(rounded);
                td_free(computed);
            }
            claim.iterations = 0;
            claim.tolerance = 1e-5;
            float *computed = adsorption_in_floats(graph, &claim, 1000);
            CHECK_OK(td_verify_adsorption(graph, computed, &claim, pool));
            for (uint32_t v = 0; v < graph->vertices; v += 4 * stride(graph)) {
                float right = computed[v];
                computed[v] = right + 1e-3f;
                CHECK_REFUTED(td_verify_adsorption(graph, computed, &claim, NULL),
                              "one more step stays within the tolerance");
                computed[v] = NAN;
                CHECK_STATUS(td_verify_adsorption(graph, computed, &claim, NULL), TD_VERIFY);
                computed[v] = right;
            }
            td_free(computed);
            td_free(seeds);
            td_graph_destroy(graph);
        }
    td_pool_destroy(pool);
}

TEST(adsorption_says_which_vertex_is_wrong)
{
    static const uint32_t ends[][2] = {{0, 2}, {1, 2}, {2, 3}};
    static const uint32_t weights[] = {1, 3, 5};
    td_graph *graph = test_graph_of(4, ends, weights, 3, false);
    td_adsorption_claim claim = {0.5, 0.5, (double[]){1, 0, 0, 0}, 2, 0};
    CHECK_OK(td_verify_adsorption(graph, (float[]){0.5f, 0, 0.0625f, 0.0625f}, &claim, NULL));
    CHECK_REFUTED(
        td_verify_adsorption(graph, (float[]){0.5f, 0, 0.25f, 0.0625f}, &claim, NULL),
        "adsorption: the claim 'scores are those of the iterations replayed' fails: vertex 102 has 0.25, not 0.0625");
    claim.injection = 0.6;
    CHECK_STATUS(td_verify_adsorption(graph, (float[]){0, 0, 0, 0}, &claim, NULL), TD_INVALID);
    td_graph_destroy(graph);
}

static double (*const activations[])(double) = {reference_tanh, reference_sigmoid, reference_relu};

static float activate_float(td_activation activation, float sum)
{
    if (activation == TD_ACTIVATION_TANH) return tanhf(sum);
    if (activation == TD_ACTIVATION_SIGMOID) return 1 / (1 + expf(-sum));
    return sum > 0 ? sum : 0;
}

static float *nn_in_floats(const td_graph *graph, const td_nn_claim *claim, uint32_t iterations)
{
    uint32_t n = graph->vertices;
    float *values = NULL, *next = NULL;
    REFERENCE_NEW(&values, n);
    REFERENCE_NEW(&next, n);
    for (uint32_t v = 0; v < n; v++) values[v] = isnan(claim->inputs[v]) ? 0 : (float)claim->inputs[v];
    for (uint32_t i = 0; i < iterations; i++) {
        for (uint32_t v = 0; v < n; v++) {
            float sum = 0;
            for (uint64_t e = graph->in.offsets[v]; e < graph->in.offsets[v + 1]; e++)
                sum += (graph->weights == TD_WEIGHT_NONE ? 1 : (float)td_weight_at(graph, &graph->in, e)) *
                       values[graph->in.targets[e]];
            next[v] = isnan(claim->inputs[v]) ? activate_float(claim->activation, sum) : (float)claim->inputs[v];
        }
        float *swapped = values;
        values = next;
        next = swapped;
    }
    td_free(next);
    return values;
}

/* Vertices without in-edges have one, and some others. */
static double *nn_inputs(const td_graph *graph)
{
    double *inputs = NULL;
    REFERENCE_NEW(&inputs, graph->vertices);
    for (uint32_t v = 0; v < graph->vertices; v++)
        inputs[v] = td_degree(&graph->in, v) == 0 || v % 29 == 3 ? 2 * unit(3, v) - 1 : NAN;
    return inputs;
}

TEST(nn_references_and_float_engines_pass)
{
    static const test_weights kinds[] = {TEST_UNWEIGHTED, TEST_U8, TEST_SIGNED};
    td_pool *pool = pool_of(2);
    for (int i = 0; i < TEST_GRAPHS; i++)
        for (int w = 0; w < 3; w++)
            for (int a = 0; a < 3; a++) {
                td_graph *graph = test_graph(i, kinds[w], pool);
                double *inputs = nn_inputs(graph);
                td_nn_claim claim = {(td_activation)a, inputs, 0, 0};
                for (claim.iterations = 1; claim.iterations <= 4; claim.iterations += 3) {
                    double *values = reference_nn(graph, activations[a], inputs, claim.iterations);
                    float *rounded = reference_floats(values, graph->vertices);
                    float *computed = nn_in_floats(graph, &claim, claim.iterations);
                    CHECK_OK(td_verify_nn(graph, rounded, &claim, pool));
                    CHECK_OK(td_verify_nn(graph, computed, &claim, NULL));
                    td_free(values);
                    td_free(rounded);
                    td_free(computed);
                }
                td_free(inputs);
                td_graph_destroy(graph);
            }
    td_pool_destroy(pool);
}

TEST(nn_fixpoints_pass_and_changes_are_refuted)
{
    static const char *const acyclic[] = {"layered", "dag", "tree", "directed path", "directed star", "isolated"};
    for (int i = 0; i < 6; i++)
        for (int a = 0; a < 3; a++) {
            td_graph *graph = test_graph(test_graph_named(acyclic[i]), TEST_SIGNED, NULL);
            double *inputs = nn_inputs(graph);
            td_nn_claim claim = {.activation = (td_activation)a, .inputs = inputs};
            float *values = nn_in_floats(graph, &claim, graph->vertices);
            CHECK_OK(td_verify_nn(graph, values, &claim, NULL));
            for (uint32_t v = 0; v < graph->vertices; v += stride(graph)) {
                float right = values[v];
                bool input = !isnan(inputs[v]);
                values[v] = right * 1.01f + 0.001f;
                CHECK_REFUTED(td_verify_nn(graph, values, &claim, NULL),
                              input ? "a vertex with an input has it" : "one more step changes nothing");
                values[v] = NAN;
                CHECK_STATUS(td_verify_nn(graph, values, &claim, NULL), TD_VERIFY);
                values[v] = right;
            }
            td_free(values);
            td_free(inputs);
            td_graph_destroy(graph);
        }
}

TEST(nn_says_which_claim_fails_where)
{
    static const uint32_t ends[][2] = {{0, 2}, {1, 2}, {2, 3}, {3, 4}, {4, 3}};
    static const uint32_t weights[] = {1, 2, 3, 0, 1};
    td_graph *graph = test_graph_of(5, ends, weights, 5, false);
    double inputs[] = {1, 0.5, NAN, NAN, NAN};
    td_nn_claim counted = {TD_ACTIVATION_RELU, inputs, 2, 0}, fixpoint = {TD_ACTIVATION_RELU, inputs, 0, 0};
    CHECK_OK(td_verify_nn(graph, (float[]){1, 0.5f, 2, 6, 0}, &counted, NULL));
    CHECK_OK(td_verify_nn(graph, (float[]){1, 0.5f, 2, 6, 0}, &fixpoint, NULL));
    CHECK_REFUTED(td_verify_nn(graph, (float[]){1, 0.25f, 2, 6, 0}, &counted, NULL),
                  "nn: the claim 'a vertex with an input has it' fails: vertex 101 has 0.25, its input is 0.5");
    CHECK_REFUTED(td_verify_nn(graph, (float[]){1, 0.5f, 2, 5, 0}, &counted, NULL),
                  "'values are those of the iterations replayed' fails: vertex 103 has 5, not 6");
    CHECK_REFUTED(td_verify_nn(graph, (float[]){1, 0.5f, 2, 0, 0}, &fixpoint, NULL),
                  "'one more step changes nothing' fails: vertex 103 has 0, not 6");
    fixpoint.tolerance = 0.25;
    CHECK_OK(td_verify_nn(graph, (float[]){1, 0.5f, 2, 5.5f, 0}, &fixpoint, NULL));
    CHECK_REFUTED(td_verify_nn(graph, (float[]){1, 0.5f, 2, 4.5f, 0}, &fixpoint, NULL), "vertex 103 has 4.5, not 6");
    td_graph_destroy(graph);
}

TEST(a_missing_in_adjacency_is_said)
{
    td_graph *graph = test_graph(test_graph_named("uniform"), TEST_U8, NULL), halved = *graph;
    float *values = NULL;
    REFERENCE_NEW(&values, graph->vertices);
    halved.in = (td_adjacency){0};
    CHECK_STATUS(td_verify_pagerank(&halved, values, &(td_pagerank_claim){0}, NULL), TD_UNSUPPORTED);
    CHECK_STATUS(td_verify_adsorption(&halved, values, &(td_adsorption_claim){.injection = 1}, NULL), TD_UNSUPPORTED);
    CHECK_STATUS(td_verify_nn(&halved, values, &(td_nn_claim){0}, NULL), TD_UNSUPPORTED);
    CHECK_CONTAINS(td_last_message(), "without its in-adjacency");
    td_free(values);
    td_graph_destroy(graph);
}

TEST(running_out_of_memory_is_an_error_and_leaks_nothing)
{
    td_pool *pool = pool_of(2);
    td_graph *graph = test_graph(test_graph_named("multigraph"), TEST_F32, pool);
    double *seeds = adsorption_seeds(graph, false);
    td_pagerank_claim ranks_claim = {0.85, true, NULL, 3, 0}, fixpoint = {0.85, true, NULL, 0, 1};
    td_adsorption_claim scores_claim = {0.5, 0.5, seeds, 3, 0};
    td_nn_claim nn_claim = {TD_ACTIVATION_TANH, seeds, 3, 0};
    float *ranks = pagerank_in_floats(graph, &ranks_claim, 3), *scores = adsorption_in_floats(graph, &scores_claim, 3);
    float *values = nn_in_floats(graph, &nn_claim, 3);
    CHECK_EVERY_ALLOCATION(td_verify_pagerank(graph, ranks, &ranks_claim, pool));
    CHECK_EVERY_ALLOCATION(td_verify_pagerank(graph, ranks, &fixpoint, pool));
    CHECK_EVERY_ALLOCATION(td_verify_adsorption(graph, scores, &scores_claim, pool));
    CHECK_EVERY_ALLOCATION(td_verify_nn(graph, values, &nn_claim, pool));
    void *all[] = {seeds, ranks, scores, values};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) td_free(all[i]);
    td_graph_destroy(graph);
    td_pool_destroy(pool);
}

TEST_MAIN
