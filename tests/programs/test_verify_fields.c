/* The verifiers of heat and circuit, tested like those in test_verify_ranks.c. */
#include "verifying.h"

static double *heat_initial(const td_graph *graph)
{
    double *initial = NULL;
    REFERENCE_NEW(&initial, graph->vertices);
    for (uint32_t v = 0; v < graph->vertices; v++) initial[v] = 1 + 2 * unit(4, v);
    return initial;
}

/* The largest step for which each value stays an average. */
static double heat_largest_step(const td_graph *graph)
{
    uint64_t count;
    reference_edge *edges = reference_edges(graph, true, &count);
    double *degrees = NULL, most = 0;
    REFERENCE_NEW(&degrees, graph->vertices);
    for (uint64_t i = 0; i < count; i++)
        if (edges[i].source != edges[i].target) degrees[edges[i].target] += edges[i].weight;
    for (uint32_t v = 0; v < graph->vertices; v++) most = fmax(most, degrees[v]);
    td_free(edges);
    td_free(degrees);
    return most > 0 ? 1 / most : 1;
}

static float *heat_in_floats(const td_graph *graph, const td_heat_claim *claim)
{
    uint32_t n = graph->vertices;
    uint64_t count;
    reference_edge *edges = reference_edges(graph, true, &count);
    float *values = NULL, *flows = NULL;
    REFERENCE_NEW(&values, n);
    REFERENCE_NEW(&flows, n);
    for (uint32_t v = 0; v < n; v++) values[v] = (float)claim->initial[v];
    for (uint32_t k = 0; k < claim->iterations; k++) {
        memset(flows, 0, n * sizeof *flows);
        for (uint64_t i = 0; i < count; i++)
            flows[edges[i].target] += (float)edges[i].weight * (values[edges[i].source] - values[edges[i].target]);
        for (uint32_t v = 0; v < n; v++) values[v] += (float)claim->step * flows[v];
    }
    td_free(edges);
    td_free(flows);
    return values;
}

TEST(heat_references_and_float_engines_pass)
{
    td_pool *pool = pool_of(2);
    for (int i = 0; i < TEST_GRAPHS; i++)
        for (int w = 0; w <= SOME_WEIGHTS; w++) {
            td_graph *graph = test_graph(i, w < SOME_WEIGHTS ? some_weights[w] : TEST_SIGNED, pool);
            double *initial = heat_initial(graph);
            double largest = heat_largest_step(graph);
            td_heat_claim claims[] = {
                {initial, largest, 1}, {initial, largest / 2, 30}, {initial, largest * 3, 3}, {initial, 0, 0}};
            for (size_t k = 0; k < sizeof claims / sizeof *claims; k++) {
                double *values = reference_heat(graph, initial, claims[k].step, claims[k].iterations);
                float *rounded = reference_floats(values, graph->vertices),
                      *computed = heat_in_floats(graph, &claims[k]);
                CHECK_OK(td_verify_heat(graph, rounded, &claims[k], pool));
                CHECK_OK(td_verify_heat(graph, computed, &claims[k], NULL));
                td_free(values);
                td_free(rounded);
                td_free(computed);
            }
            td_free(initial);
            td_graph_destroy(graph);
        }
    td_pool_destroy(pool);
}

TEST(heat_changed_values_are_refuted)
{
    for (int i = 0; i < TEST_GRAPHS; i++)
        for (int w = 0; w < SOME_WEIGHTS; w++) {
            td_graph *graph = test_graph(i, some_weights[w], NULL);
            double *initial = heat_initial(graph);
            td_heat_claim claim = {initial, heat_largest_step(graph) * 0.999, 5};
            double *values = reference_heat(graph, initial, claim.step, claim.iterations);
            float *rounded = reference_floats(values, graph->vertices);
            for (uint32_t v = 0; v < graph->vertices; v += 4 * stride(graph)) {
                float right = rounded[v];
                rounded[v] = right > 2 ? right - 0.01f : right + 0.01f;
                CHECK_REFUTED(td_verify_heat(graph, rounded, &claim, NULL), graph->vertices > 1
                                                                                ? "those of the iterations replayed"
                                                                                : "the range of the initial ones");
                rounded[v] = 3.01f;
                CHECK_REFUTED(td_verify_heat(graph, rounded, &claim, NULL),
                              "no value leaves the range of the initial ones");
                rounded[v] = NAN;
                CHECK_STATUS(td_verify_heat(graph, rounded, &claim, NULL), TD_VERIFY);
                rounded[v] = right;
            }
            for (uint32_t v = 0; v < graph->vertices; v++)
                if (rounded[v] > 2) rounded[v] *= 0.99992f; /* within both tolerances of single values */
            if (graph->vertices > 20)
                CHECK_REFUTED(td_verify_heat(graph, rounded, &claim, NULL), "the total does not change");
            td_free(values);
            td_free(rounded);
            td_free(initial);
            td_graph_destroy(graph);
        }
}

TEST(heat_says_which_claim_fails_where)
{
    static const uint32_t ends[][2] = {{0, 1}, {1, 2}, {2, 2}};
    td_graph *graph = test_graph_of(3, ends, NULL, 3, false);
    td_heat_claim claim = {(double[]){8, 0, 0}, 0.25, 2};
    CHECK_OK(td_verify_heat(graph, (float[]){5, 2.5f, 0.5f}, &claim, NULL));
    CHECK_REFUTED(td_verify_heat(graph, (float[]){5, 0.5f, 2.5f}, &claim, NULL),
                  "heat: the claim 'values are those of the iterations replayed' fails: vertex 101 has 0.5, not 2.5");
    CHECK_REFUTED(
        td_verify_heat(graph, (float[]){5, 3.5f, -0.5f}, &claim, NULL),
        "'no value leaves the range of the initial ones' fails: vertex 102 has -0.5, the initial values lie in 0 .. 8");
    CHECK_REFUTED(td_verify_heat(graph, (float[]){5.0003f, 2.50015f, 0.50003f}, &claim, NULL),
                  "'the total does not change' fails: it was 8 and is 8.000");
    claim.step = 1; /* too far: the range is no longer kept, the rest is */
    CHECK_OK(td_verify_heat(graph, (float[]){8, -8, 8}, &claim, NULL));
    CHECK_REFUTED(td_verify_heat(graph, (float[]){8, -9, 9}, &claim, NULL), "those of the iterations replayed");
    td_graph_destroy(graph);
}

/* Held at both ends and in the middle. */
static double *circuit_held(const td_graph *graph)
{
    double *held = NULL;
    REFERENCE_NEW(&held, graph->vertices);
    for (uint32_t v = 0; v < graph->vertices; v++) held[v] = NAN;
    held[0] = 10;
    held[graph->vertices / 2] = -3.5;
    held[graph->vertices - 1] = 2;
    return held;
}

static void check_circuit_changes(const td_graph *graph, double *volts, const td_circuit_claim *claim)
{
    uint32_t *labels = reference_wcc(graph);
    for (uint32_t v = 0; v < graph->vertices; v += stride(graph)) {
        double right = volts[v];
        bool fed = false;
        for (uint32_t u = 0; u < graph->vertices; u++) fed |= labels[u] == labels[v] && !isnan(claim->held[u]);
        const char *wrong = !isnan(claim->held[v]) ? "a held voltage is kept"
                            : fed                  ? "currents balance"
                                                   : "no held one has 0 V";
        volts[v] = right + 1e-6;
        CHECK_REFUTED(td_verify_circuit(graph, volts, claim, NULL), wrong);
        volts[v] = NAN;
        CHECK_STATUS(td_verify_circuit(graph, volts, claim, NULL), TD_VERIFY);
        volts[v] = right;
    }
    td_free(labels);
}

TEST(circuit_direct_solutions_pass_and_changes_are_refuted)
{
    static const test_weights kinds[] = {TEST_UNWEIGHTED, TEST_U8, TEST_U16, TEST_U32, TEST_F32};
    td_pool *pool = pool_of(2);
    for (int i = 0; i < TEST_GRAPHS; i++)
        for (int w = 0; w < 5; w++) {
            if (test_graphs[i].vertices == 0 || test_graphs[i].vertices > 500) continue;
            td_graph *graph = test_graph(i, kinds[w], pool);
            double *held = circuit_held(graph), *volts = reference_circuit(graph, held);
            td_circuit_claim claim = {held, 1e-10};
            CHECK_OK(td_verify_circuit(graph, volts, &claim, pool));
            check_circuit_changes(graph, volts, &claim);
            td_free(held);
            td_free(volts);
            td_graph_destroy(graph);
        }
    td_pool_destroy(pool);
}

TEST(circuit_says_which_claim_fails_where)
{
    /* 2 ohms, then 1 and 1 in parallel; an island */
    static const uint32_t ends[][2] = {{0, 1}, {1, 2}, {2, 1}, {3, 4}};
    static const uint32_t weights[] = {2, 1, 1, 1};
    td_graph *graph = test_graph_of(5, ends, weights, 4, false);
    td_circuit_claim claim = {(double[]){10, NAN, 0, NAN, NAN}, 1e-9};
    CHECK_OK(td_verify_circuit(graph, (double[]){10, 2, 0, 0, 0}, &claim, NULL));
    CHECK_REFUTED(td_verify_circuit(graph, (double[]){9, 2, 0, 0, 0}, &claim, NULL),
                  "circuit: the claim 'a held voltage is kept' fails: vertex 100 has 9 V, it is held at 10 V");
    CHECK_REFUTED(td_verify_circuit(graph, (double[]){10, 2.5, 0, 0, 0}, &claim, NULL),
                  "'currents balance' fails: vertex 101 at 2.5 V is -0.5 V from balance");
    CHECK_REFUTED(td_verify_circuit(graph, (double[]){10, 2, 0, 5, 5}, &claim, NULL),
                  "'a vertex joined with no held one has 0 V' fails: vertex 103 has 5 V");
    td_graph_destroy(graph);
    graph = test_graph_of(5, ends, (uint32_t[]){2, 0, 1, 1}, 4, false);
    CHECK_STATUS(td_verify_circuit(graph, (double[]){10, 2, 0, 0, 0}, &claim, NULL), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "resistances must be above 0, the least is 0");
    td_graph_destroy(graph);
}

TEST(a_missing_in_adjacency_is_said)
{
    td_graph *graph = test_graph(test_graph_named("uniform"), TEST_U8, NULL), halved = *graph;
    double *values = NULL;
    REFERENCE_NEW(&values, graph->vertices);
    halved.in = (td_adjacency){0};
    CHECK_STATUS(td_verify_heat(&halved, (float *)values, &(td_heat_claim){values, 0, 0}, NULL), TD_UNSUPPORTED);
    CHECK_STATUS(td_verify_circuit(&halved, values, &(td_circuit_claim){values, 0}, NULL), TD_UNSUPPORTED);
    CHECK_CONTAINS(td_last_message(), "without its in-adjacency");
    td_free(values);
    td_graph_destroy(graph);
}

TEST(running_out_of_memory_is_an_error_and_leaks_nothing)
{
    td_pool *pool = pool_of(2);
    td_graph *graph = test_graph(test_graph_named("multigraph"), TEST_F32, pool);
    double *initial = heat_initial(graph), *held = circuit_held(graph), *volts = reference_circuit(graph, held);
    td_heat_claim heat_claim = {initial, 0.001, 3};
    td_circuit_claim circuit_claim = {held, 1e-9};
    float *values = heat_in_floats(graph, &heat_claim);
    CHECK_EVERY_ALLOCATION(td_verify_heat(graph, values, &heat_claim, pool));
    CHECK_EVERY_ALLOCATION(td_verify_circuit(graph, volts, &circuit_claim, pool));
    void *all[] = {initial, held, volts, values};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) td_free(all[i]);
    td_graph_destroy(graph);
    td_pool_destroy(pool);
}

TEST_MAIN
