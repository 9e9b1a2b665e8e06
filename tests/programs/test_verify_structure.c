/* The verifiers of kcore and mst, tested like those in test_verify_paths.c. */
#include "verifying.h"

TEST(kcore_accepts_one_result_only_on_all_tiny_graphs)
{
    for (int g = 0; g < 64; g++) {
        td_graph *graph = tiny_undirected(g, 1);
        uint32_t *cores = reference_kcore(graph, false);
        for (uint32_t t = 0; t < 256; t++) {
            uint32_t tried[4] = {t % 4, t / 4 % 4, t / 16 % 4, t / 64};
            bool right = memcmp(tried, cores, sizeof tried) == 0;
            CHECK_STATUS(td_verify_kcore(graph, tried, false, NULL), right ? TD_OK : TD_VERIFY);
        }
        td_free(cores);
        td_graph_destroy(graph);
    }
}

/* Core numbers from the definition: for each k, remove until nothing changes. */
static void cores_by_definition(const td_graph *graph, bool in_degree_only, uint32_t *cores)
{
    bool inside[3];
    for (uint32_t v = 0; v < 3; v++) cores[v] = 0;
    for (uint32_t k = 1; k < 6; k++) {
        inside[0] = inside[1] = inside[2] = true;
        for (bool changed = true; changed;) {
            uint64_t degrees[3] = {0}, count;
            reference_edge *edges = reference_edges(graph, !in_degree_only, &count);
            changed = false;
            for (uint64_t i = 0; i < count; i++)
                degrees[edges[i].target] += inside[edges[i].source] && edges[i].source != edges[i].target;
            for (uint32_t v = 0; v < 3; v++)
                if (inside[v] && degrees[v] < k) inside[v] = !(changed = true);
            td_free(edges);
        }
        for (uint32_t v = 0; v < 3; v++)
            if (inside[v]) cores[v] = k;
    }
}

TEST(kcore_of_directed_graphs_accepts_one_result_only)
{
    for (int g = 0; g < TINY_DIRECTED; g++)
        for (int in_only = 0; in_only < 2; in_only++) {
            td_graph *graph = tiny_directed(g);
            uint32_t *cores = reference_kcore(graph, in_only), defined[3];
            cores_by_definition(graph, in_only, defined);
            CHECK(memcmp(cores, defined, sizeof defined) == 0);
            for (int t = 0; t < 125; t++) {
                uint32_t tried[3] = {t % 5, t / 5 % 5, t / 25};
                bool right = memcmp(tried, cores, sizeof tried) == 0;
                CHECK_STATUS(td_verify_kcore(graph, tried, in_only, NULL), right ? TD_OK : TD_VERIFY);
            }
            td_free(cores);
            td_graph_destroy(graph);
        }
}

TEST(kcore_references_pass_and_changed_cores_are_refuted)
{
    for (int threads = 0; threads <= 2; threads += 2) {
        td_pool *pool = pool_of(threads);
        for (int i = 0; i < TEST_GRAPHS; i++)
            for (int in_only = 0; in_only < 2; in_only++) {
                td_graph *graph = test_graph(i, TEST_UNWEIGHTED, pool);
                uint32_t *cores = reference_kcore(graph, in_only);
                CHECK_OK(td_verify_kcore(graph, cores, in_only, pool));
                for (uint32_t v = 0; v < graph->vertices; v += stride(graph)) {
                    uint32_t right = cores[v], wrong[] = {right + 1, right - 1, right + 100, right / 2, UINT32_MAX};
                    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
                        if (wrong[k] == right) continue;
                        cores[v] = wrong[k];
                        CHECK_STATUS(td_verify_kcore(graph, cores, in_only, pool), TD_VERIFY);
                    }
                    cores[v] = right;
                }
                td_free(cores);
                td_graph_destroy(graph);
            }
        td_pool_destroy(pool);
    }
}

TEST(kcore_says_which_claim_fails_where)
{
    static const uint32_t ends[][2] = {{0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 3}, {4, 5}, {5, 4}, {4, 5}};
    td_graph *graph = test_graph_of(7, ends, NULL, 8, false);
#define CORES(...) td_verify_kcore(graph, (uint32_t[]){__VA_ARGS__}, false, NULL)
#define IN_CORES(...) td_verify_kcore(graph, (uint32_t[]){__VA_ARGS__}, true, NULL)
    CHECK_OK(CORES(2, 2, 2, 1, 3, 3, 0));
    CHECK_REFUTED(CORES(2, 2, 2, 2, 3, 3, 0), "k neighbours of core k or more' fails: vertex 103 of core 2 has 1");
    CHECK_REFUTED(CORES(3, 2, 2, 1, 3, 3, 0), "k neighbours of core k or more' fails: vertex 100 of core 3 has 0");
    CHECK_REFUTED(CORES(1, 1, 1, 1, 3, 3, 0),
                  "more than k neighbours are asked for' fails: vertex 100 of core 1 keeps 2");
    CHECK_REFUTED(CORES(2, 2, 2, 1, 2, 2, 0),
                  "more than k neighbours are asked for' fails: vertex 104 of core 2 keeps 3");
    CHECK_REFUTED(CORES(2, 2, 2, 0, 3, 3, 0),
                  "more than k neighbours are asked for' fails: vertex 103 of core 0 keeps 1");
    CHECK_OK(IN_CORES(1, 1, 1, 1, 1, 1, 0));
    CHECK_REFUTED(IN_CORES(1, 1, 1, 1, 1, 2, 0), "vertex 105 of core 2 has 0");
    CHECK_REFUTED(IN_CORES(1, 1, 1, 0, 1, 1, 0), "vertex 103 of core 0 keeps 1");
#undef CORES
#undef IN_CORES
    td_graph_destroy(graph);
}

TEST(mst_references_pass)
{
    for (int threads = 0; threads <= 2; threads += 2) {
        td_pool *pool = pool_of(threads);
        for (int i = 0; i < TEST_GRAPHS; i++)
            for (int w = 0; w < TEST_WEIGHT_KINDS; w++) {
                td_graph *graph = test_graph(i, (test_weights)w, pool);
                uint64_t count;
                double total;
                uint64_t *edges = reference_mst(graph, &count, &total);
                CHECK_OK(td_verify_mst(graph, edges, count, total, pool));
                td_free(edges);
                td_graph_destroy(graph);
            }
        td_pool_destroy(pool);
    }
}

TEST(mst_changed_forests_are_refuted)
{
    for (int i = 0; i < TEST_GRAPHS; i++)
        for (int w = 0; w < TEST_WEIGHT_KINDS; w++) {
            td_graph *graph = test_graph(i, (test_weights)w, NULL);
            uint64_t count;
            double total;
            uint64_t *edges = reference_mst(graph, &count, &total);
            for (uint64_t e = 0; e < count; e += count / 5 + 1) {
                uint64_t right = edges[e], last = edges[count - 1];
                double weight = reference_weight(graph, right);
                edges[e] = last; /* one edge left out */
                CHECK_REFUTED(td_verify_mst(graph, edges, count - 1, total - weight, NULL), "span the graph");
                for (uint64_t other = 0; other < graph->edges; other += graph->edges / 20 + 1) {
                    if (other == right) continue;
                    edges[e] = other; /* one edge replaced, the total kept right */
                    double changed = total - weight + reference_weight(graph, other);
                    CHECK_STATUS(td_verify_mst(graph, edges, count, changed, NULL), TD_VERIFY);
                }
                edges[e] = right;
            }
            td_free(edges);
            td_graph_destroy(graph);
        }
}

TEST(mst_accepts_one_forest_only_on_all_tiny_graphs)
{
    for (int g = 0; g < 729; g++) {
        td_graph *graph = tiny_undirected(g, 2);
        uint64_t count, listed[12];
        double total;
        uint64_t *edges = reference_mst(graph, &count, &total), right = 0, candidates[6], candidate_count = 0;
        for (uint32_t u = 0; u < 4; u++)
            for (uint64_t e = graph->out.offsets[u]; e < graph->out.offsets[u + 1]; e++)
                if (graph->out.targets[e] > u) candidates[candidate_count++] = e;
        for (uint64_t i = 0; i < count; i++) right |= UINT64_C(1) << edges[i];
        for (uint64_t subset = 0; subset < UINT64_C(1) << candidate_count; subset++) {
            uint64_t some = 0, mask = 0;
            double sum = 0;
            for (uint64_t c = 0; c < candidate_count; c++) {
                if ((subset >> c & 1) == 0) continue;
                listed[some++] = candidates[c];
                mask |= UINT64_C(1) << candidates[c];
                sum += reference_weight(graph, candidates[c]);
            }
            CHECK_STATUS(td_verify_mst(graph, listed, some, sum, NULL), mask == right ? TD_OK : TD_VERIFY);
        }
        td_free(edges);
        td_graph_destroy(graph);
    }
}

TEST(mst_says_which_claim_fails_where)
{
    /* positions: 0: 0->1 w5, 1: 0->1 w7, 2: 0->2 w5, 3: 1->2 w5, 4: 2->2 w1, 5: 3->4 w2 */
    static const uint32_t ends[][2] = {{0, 1}, {0, 1}, {0, 2}, {1, 2}, {2, 2}, {3, 4}};
    static const uint32_t weights[] = {5, 7, 5, 5, 1, 2};
    td_graph *graph = test_graph_of(6, ends, weights, 6, false);
    td_graph *symmetric = test_graph_of(6, ends, weights, 6, true);
#define MST(total, ...) \
    td_verify_mst(graph, (uint64_t[]){__VA_ARGS__}, sizeof(uint64_t[]){__VA_ARGS__} / sizeof(uint64_t), total, NULL)
    CHECK_OK(MST(12, 0, 2, 5));
    CHECK_OK(MST(12, 5, 2, 0));
    CHECK_REFUTED(MST(13, 0, 2, 5),
                  "'the total is the sum of the listed weights' fails: the total given is 13, the sum is 12");
    CHECK_REFUTED(MST(12, 0, 2, 9), "'a listed edge is one of the graph's' fails: position 9");
    CHECK_REFUTED(MST(12, 0, 2, 2), "'an edge is listed once' fails: position 2, an edge of vertex 100,");
    CHECK_REFUTED(MST(12, 0, 4, 5), "'no loop is listed' fails: edge 102 -> 102");
    CHECK_REFUTED(MST(17, 0, 2, 3, 5), "'listed edges form no cycle' fails: edge 101 -> 102");
    CHECK_REFUTED(MST(10, 0, 2), "'the listed edges span the graph' fails: edge 103 -> 104");
    CHECK_REFUTED(MST(14, 1, 2, 5),
                  "edge 100 -> 101 of weight 5, position 0, should replace edge 100 -> 101 of weight 7");
    CHECK_REFUTED(MST(12, 0, 3, 5),
                  "edge 100 -> 102 of weight 5, position 2, should replace edge 101 -> 102 of weight 5");
    CHECK_REFUTED(MST(17, 0, 1, 2, 3, 4, 5), "'a forest has fewer edges than vertices'");
    uint64_t turned = symmetric->out.offsets[4];
    CHECK_REFUTED(td_verify_mst(symmetric, &turned, 1, 2, NULL), "source is before its target' fails: edge 104 -> 103");
#undef MST
    td_graph_destroy(graph);
    td_graph_destroy(symmetric);
}

TEST(a_refutation_is_the_same_whatever_the_threads)
{
    td_graph *graph = test_graph(test_graph_named("rmat 14"), TEST_U8, NULL);
    uint32_t *cores = reference_kcore(graph, false);
    char first[TD_MESSAGE_BYTES];
    for (uint32_t v = 5000; v < graph->vertices; v += 100) cores[v]++;
    for (int threads = 1; threads <= 8; threads *= 2) {
        td_pool *pool = pool_of(threads);
        CHECK_STATUS(td_verify_kcore(graph, cores, false, pool), TD_VERIFY);
        if (threads == 1) strcpy(first, td_last_message());
        CHECK_STR(td_last_message(), first);
        td_pool_destroy(pool);
    }
    td_free(cores);
    td_graph_destroy(graph);
}

TEST(a_missing_in_adjacency_is_said)
{
    td_graph *graph = test_graph(test_graph_named("uniform"), TEST_U8, NULL), halved = *graph;
    uint32_t *cores = reference_kcore(graph, false);
    halved.in = (td_adjacency){0};
    CHECK_STATUS(td_verify_kcore(&halved, cores, false, NULL), TD_UNSUPPORTED);
    CHECK_CONTAINS(td_last_message(), "without its in-adjacency");
    td_free(cores);
    td_graph_destroy(graph);
}

TEST(running_out_of_memory_is_an_error_and_leaks_nothing)
{
    td_pool *pool = pool_of(2);
    td_graph *graph = test_graph(test_graph_named("multigraph"), TEST_TIES, pool);
    double total;
    uint64_t count, *edges = reference_mst(graph, &count, &total);
    uint32_t *cores = reference_kcore(graph, false);
    CHECK_EVERY_ALLOCATION(td_verify_kcore(graph, cores, false, pool));
    CHECK_EVERY_ALLOCATION(td_verify_mst(graph, edges, count, total, pool));
    td_free(edges);
    td_free(cores);
    td_graph_destroy(graph);
    td_pool_destroy(pool);
}

TEST_MAIN
