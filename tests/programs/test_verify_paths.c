/* The verifiers of bfs, sssp and wcc: references must pass on every graph, every
 * changed result must be refuted by the right claim, and on all graphs of a few
 * vertices exactly one result passes. */
#include "verifying.h"

static const test_weights whole_weights[] = {TEST_UNWEIGHTED, TEST_U8, TEST_TIES, TEST_U16, TEST_U32};
enum { WHOLE_WEIGHTS = sizeof whole_weights / sizeof *whole_weights };

TEST(test_graphs_are_what_they_say)
{
    static const td_weight_kind kinds[] = {TD_WEIGHT_NONE, TD_WEIGHT_U8,  TD_WEIGHT_U8, TD_WEIGHT_U16,
                                           TD_WEIGHT_U32,  TD_WEIGHT_F32, TD_WEIGHT_F32, TD_WEIGHT_F64};
    for (int i = 0; i < TEST_GRAPHS; i++)
        for (int w = 0; w < TEST_WEIGHT_KINDS; w++) {
            td_graph *graph = test_graph(i, (test_weights)w, NULL);
            CHECK_OK(td_graph_check(graph, NULL));
            if (graph->edges > 0) CHECK_EQ(graph->weights, kinds[w]);
            if (test_graphs[i].build.symmetrize) CHECK(graph->symmetric);
            if (test_graphs[i].id_factor == 0) CHECK_EQ(graph->vertices, test_graphs[i].vertices);
            td_graph_destroy(graph);
        }
}

TEST(bfs_references_pass)
{
    for (int threads = 0; threads <= 2; threads += 2) {
        td_pool *pool = pool_of(threads);
        for (int i = 0; i < TEST_GRAPHS; i++) {
            td_graph *graph = test_graph(i, TEST_UNWEIGHTED, pool);
            for (uint32_t source = 0; source < graph->vertices; source += graph->vertices / 3 + 1) {
                uint32_t *parents = NULL, *levels = reference_bfs(graph, source, &parents);
                CHECK_OK(td_verify_bfs(graph, source, levels, NULL, pool));
                CHECK_OK(td_verify_bfs(graph, source, levels, parents, pool));
                td_free(parents);
                td_free(levels);
            }
            td_graph_destroy(graph);
        }
        td_pool_destroy(pool);
    }
}

TEST(bfs_changed_levels_are_refuted)
{
    for (int i = 0; i < TEST_GRAPHS; i++) {
        td_graph *graph = test_graph(i, TEST_UNWEIGHTED, NULL);
        if (graph->vertices == 0) {
            td_graph_destroy(graph);
            continue;
        }
        uint32_t *parents = NULL, *levels = reference_bfs(graph, 0, &parents);
        for (uint32_t v = 0; v < graph->vertices; v += stride(graph)) {
            uint32_t right = levels[v], wrong[] = {right + 1, right - 1, 0, 1, UINT32_MAX, UINT32_MAX - 1};
            for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
                if (wrong[k] == right) continue;
                levels[v] = wrong[k];
                CHECK_STATUS(td_verify_bfs(graph, 0, levels, NULL, NULL), TD_VERIFY);
            }
            levels[v] = right;
        }
        td_free(parents);
        td_free(levels);
        td_graph_destroy(graph);
    }
}

TEST(bfs_says_which_claim_fails_where)
{
    static const uint32_t ends[][2] = {{0, 1}, {1, 2}, {0, 3}, {3, 2}, {2, 4}, {5, 1}};
    td_graph *graph = test_graph_of(6, ends, NULL, 6, false);
    uint32_t none = UINT32_MAX;
#define BFS(...) td_verify_bfs(graph, 0, (uint32_t[]){__VA_ARGS__}, NULL, NULL)
#define TREE(...) td_verify_bfs(graph, 0, (uint32_t[]){0, 1, 2, 1, 3, none}, (uint32_t[]){__VA_ARGS__}, NULL)
    CHECK_OK(BFS(0, 1, 2, 1, 3, none));
    CHECK_REFUTED(BFS(1, 1, 2, 1, 3, none), "'the source has level 0' fails: source 100 has level 1");
    CHECK_REFUTED(BFS(0, 2, 3, 2, 4, none),
                  "'no edge skips a level' fails: edge 100 -> 101 leads from level 0 to level 2");
    CHECK_REFUTED(BFS(0, 1, 2, 1, none, none), "edge 102 -> 104 leads from level 2 to level 4294967295 (unreached)");
    CHECK_REFUTED(BFS(0, 1, 1, 1, 2, none), "in-neighbour on the level before' fails: vertex 102 has level 1");
    CHECK_REFUTED(BFS(0, 1, 2, 1, 3, 0), "in-neighbour on the level before' fails: vertex 105 has level 0");
    CHECK_REFUTED(BFS(0, 1, 2, 1, 3, 7), "in-neighbour on the level before' fails: vertex 105 has level 7");
    CHECK_OK(TREE(0, 0, 1, 0, 2, none));
    CHECK_OK(TREE(0, 0, 3, 0, 2, none));
    CHECK_REFUTED(TREE(1, 0, 1, 0, 2, none), "'the source is its own parent' fails: the parent of source 100 is 101");
    CHECK_REFUTED(TREE(0, 0, 0, 0, 2, none), "'a parent is an in-neighbour' fails: the parent of vertex 102 is 100");
    CHECK_REFUTED(TREE(0, 5, 1, 0, 2, none), "'a parent is on the level before' fails: edge 105 -> 101");
    CHECK_REFUTED(TREE(0, 0, 1, 0, 6, none),
                  "'a parent is a vertex' fails: vertex 104 of level 3 has the parent number 6");
    CHECK_REFUTED(TREE(0, 0, 1, 0, 2, 0), "'an unreached vertex has no parent' fails: unreached vertex 105");
    CHECK_STATUS(td_verify_bfs(graph, 6, (uint32_t[]){0, 0, 0, 0, 0, 0}, NULL, NULL), TD_INVALID);
#undef BFS
#undef TREE
    td_graph_destroy(graph);
}

/* The digits of `number` in base 4, a 3 standing for UINT32_MAX. */
static void tiny_values(uint32_t *values, int number)
{
    for (int i = 0; i < 3; i++, number /= 4) values[i] = number % 4 == 3 ? UINT32_MAX : (uint32_t)(number % 4);
}

TEST(bfs_accepts_one_result_only_on_all_tiny_graphs)
{
    for (int g = 0; g < TINY_DIRECTED; g++) {
        td_graph *graph = tiny_directed(g);
        uint32_t *parents = NULL, *levels = reference_bfs(graph, 0, &parents), tried[3];
        for (int t = 0; t < 64; t++) {
            tiny_values(tried, t);
            bool right = memcmp(tried, levels, sizeof tried) == 0;
            CHECK_STATUS(td_verify_bfs(graph, 0, tried, NULL, NULL), right ? TD_OK : TD_VERIFY);
        }
        td_free(parents);
        td_free(levels);
        td_graph_destroy(graph);
    }
}

TEST(sssp_references_pass)
{
    for (int threads = 0; threads <= 2; threads += 2) {
        td_pool *pool = pool_of(threads);
        for (int i = 0; i < TEST_GRAPHS; i++)
            for (int w = 0; w < TEST_SIGNED; w++) {
                td_graph *graph = test_graph(i, (test_weights)w, pool);
                for (uint32_t source = 0; source < graph->vertices; source += graph->vertices / 2 + 1) {
                    uint32_t *parents = NULL;
                    double *distances = reference_sssp(graph, source, &parents);
                    uint32_t *whole = reference_whole_distances(distances, graph->vertices);
                    float *real = reference_floats(distances, graph->vertices);
                    if (w != TEST_F32) CHECK_OK(td_verify_sssp_u32(graph, source, whole, NULL, pool));
                    if (w != TEST_F32) CHECK_OK(td_verify_sssp_u32(graph, source, whole, parents, pool));
                    CHECK_OK(td_verify_sssp_f32(graph, source, real, NULL, pool));
                    CHECK_OK(td_verify_sssp_f32(graph, source, real, parents, pool));
                    td_free(parents);
                    td_free(distances);
                    td_free(whole);
                    td_free(real);
                }
                td_graph_destroy(graph);
            }
        td_pool_destroy(pool);
    }
}

TEST(sssp_float_arithmetic_passes)
{
    for (int i = 0; i < TEST_GRAPHS; i++) {
        td_graph *graph = test_graph(i, TEST_F32, NULL);
        if (graph->vertices > 0) {
            float *distances = NULL;
            REFERENCE_NEW(&distances, graph->vertices);
            for (uint32_t v = 1; v < graph->vertices; v++) distances[v] = INFINITY;
            for (bool changed = true; changed;) {
                changed = false;
                for (uint32_t u = 0; u < graph->vertices; u++)
                    for (uint64_t e = graph->out.offsets[u]; e < graph->out.offsets[u + 1]; e++) {
                        float through = distances[u] + ((const float *)graph->out.weights)[e];
                        if (through >= distances[graph->out.targets[e]]) continue;
                        distances[graph->out.targets[e]] = through;
                        changed = true;
                    }
            }
            CHECK_OK(td_verify_sssp_f32(graph, 0, distances, NULL, NULL));
            td_free(distances);
        }
        td_graph_destroy(graph);
    }
}

TEST(sssp_changed_distances_are_refuted)
{
    for (int i = 0; i < TEST_GRAPHS; i++)
        for (int w = 0; w < WHOLE_WEIGHTS; w++) {
            td_graph *graph = test_graph(i, whole_weights[w], NULL);
            if (graph->vertices > 0) {
                uint32_t *parents = NULL;
                double *distances = reference_sssp(graph, 0, &parents);
                uint32_t *whole = reference_whole_distances(distances, graph->vertices);
                for (uint32_t v = 0; v < graph->vertices; v += stride(graph)) {
                    uint32_t right = whole[v], wrong[] = {right + 1, right - 1, 0, 2, UINT32_MAX};
                    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
                        if (wrong[k] == right) continue;
                        whole[v] = wrong[k];
                        CHECK_STATUS(td_verify_sssp_u32(graph, 0, whole, NULL, NULL), TD_VERIFY);
                    }
                    whole[v] = right;
                }
                td_free(parents);
                td_free(distances);
                td_free(whole);
            }
            td_graph_destroy(graph);
        }
}

TEST(sssp_changed_float_distances_are_refuted)
{
    for (int i = 0; i < TEST_GRAPHS; i++) {
        td_graph *graph = test_graph(i, TEST_F32, NULL);
        if (graph->vertices > 0) {
            uint32_t *parents = NULL;
            double *distances = reference_sssp(graph, 0, &parents);
            float *real = reference_floats(distances, graph->vertices);
            for (uint32_t v = 0; v < graph->vertices; v += stride(graph)) {
                float right = real[v], wrong[] = {right * 1.00001f, right * 0.99999f, 0, 1, INFINITY, -1, NAN};
                for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
                    if (wrong[k] == right) continue;
                    real[v] = wrong[k];
                    CHECK_STATUS(td_verify_sssp_f32(graph, 0, real, NULL, NULL), TD_VERIFY);
                }
                real[v] = right;
            }
            td_free(parents);
            td_free(distances);
            td_free(real);
        }
        td_graph_destroy(graph);
    }
}

TEST(sssp_says_which_claim_fails_where)
{
    static const uint32_t ends[][2] = {{0, 1}, {0, 1}, {1, 2}, {0, 2}, {3, 4}, {4, 3}, {2, 5}, {5, 2}};
    static const uint32_t weights[] = {4, 9, 3, 8, 0, 0, 0, 0};
    td_graph *graph = test_graph_of(6, ends, weights, 8, false);
    uint32_t none = UINT32_MAX;
#define SSSP(...) td_verify_sssp_u32(graph, 0, (uint32_t[]){__VA_ARGS__}, NULL, NULL)
#define SSSP_F32(...) td_verify_sssp_f32(graph, 0, (float[]){__VA_ARGS__}, NULL, NULL)
#define TREE(...) td_verify_sssp_u32(graph, 0, (uint32_t[]){0, 4, 7, none, none, 7}, (uint32_t[]){__VA_ARGS__}, NULL)
    CHECK_OK(SSSP(0, 4, 7, none, none, 7));
    CHECK_OK(SSSP_F32(0, 4, 7, INFINITY, INFINITY, 7));
    CHECK_REFUTED(SSSP(2, 4, 7, none, none, 7), "'the source has distance 0' fails: vertex 100 has distance 2");
    CHECK_REFUTED(SSSP(0, 4, 8, none, none, 8),
                  "'no edge can relax' fails: edge 101 -> 102 of weight 3 leads from distance 4 to distance 8");
    CHECK_REFUTED(SSSP(0, 4, 7, none, none, none), "edge 102 -> 105 of weight 0 leads from distance 7 to distance inf");
    CHECK_REFUTED(SSSP(0, 3, 6, none, none, 6), "over tight edges' fails: vertex 101 has distance 3");
    CHECK_REFUTED(SSSP(0, 4, 6, none, none, 6), "over tight edges' fails: vertex 102 has distance 6");
    CHECK_REFUTED(SSSP(0, 4, 7, 5, 5, 7), "over tight edges' fails: vertex 103 has distance 5");
    CHECK_REFUTED(SSSP_F32(0, 4, 7, -1, -1, 7), "'distances are not negative' fails: vertex 103 has distance -1");
    CHECK_REFUTED(SSSP_F32(0, 4, NAN, INFINITY, INFINITY, 7), "'distances are not negative' fails: vertex 102");
    CHECK_OK(TREE(0, 0, 1, none, none, 2));
    CHECK_REFUTED(TREE(0, 0, 5, none, none, 2), "'parents lead to the source' fails: vertex 102 has distance 7");
    CHECK_REFUTED(TREE(0, 0, 0, none, none, 2), "'the edge from a parent is tight' fails: edge 100 -> 102 of weight 8");
    CHECK_REFUTED(TREE(0, 0, 3, none, none, 2), "'a parent is an in-neighbour' fails: the parent of vertex 102 is 103");
    CHECK_REFUTED(TREE(0, 0, 1, none, none, none), "'a parent is a vertex' fails: vertex 105");
    CHECK_REFUTED(TREE(0, 0, 1, 4, none, 2), "'an unreached vertex has no parent' fails: unreached vertex 103");
    CHECK_REFUTED(TREE(1, 0, 1, none, none, 2),
                  "'the source is its own parent' fails: the parent of source 100 is 101");
    CHECK_STATUS(td_verify_sssp_u32(graph, 6, (uint32_t[]){0}, NULL, NULL), TD_INVALID);
#undef SSSP
#undef SSSP_F32
#undef TREE
    td_graph_destroy(graph);
}

TEST(sssp_weights_too_small_for_a_float_hold_nobody_up)
{
    static const uint32_t ends[][2] = {{0, 1}, {1, 2}, {2, 1}, {3, 4}, {4, 3}};
    static const uint32_t weights[] = {1u << 26, 1, 1, 1, 1};
    td_graph *graph = test_graph_of(5, ends, weights, 5, false);
    float far = 0x1p26f;
    CHECK_OK(td_verify_sssp_f32(graph, 0, (float[]){0, far, far, INFINITY, INFINITY}, NULL, NULL));
    CHECK_OK(td_verify_sssp_f32(graph, 0, (float[]){0, far, far, INFINITY, INFINITY},
                                (uint32_t[]){0, 0, 1, TD_NO_VERTEX, TD_NO_VERTEX}, NULL));
    CHECK_REFUTED(td_verify_sssp_f32(graph, 0, (float[]){0, far, far, far, far}, NULL, NULL), "over tight edges");
    CHECK_REFUTED(td_verify_sssp_f32(graph, 0, (float[]){0, far, far, far, far}, (uint32_t[]){0, 0, 1, 4, 3}, NULL),
                  "parents lead to the source");
    td_graph_destroy(graph);
}

TEST(sssp_refuses_what_it_cannot_check)
{
    td_graph *graph = test_graph(test_graph_named("uniform"), TEST_SIGNED, NULL);
    uint32_t *distances = NULL;
    REFERENCE_NEW(&distances, graph->vertices);
    CHECK_STATUS(td_verify_sssp_u32(graph, 0, distances, NULL, NULL), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "weights are floats");
    CHECK_STATUS(td_verify_sssp_f32(graph, 0, (float *)distances, NULL, NULL), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "negative weights");
    td_free(distances);
    td_graph_destroy(graph);
}

/* From the definition: parents of tight edges that lead to the source. */
static bool parents_right(const td_graph *graph, const double *distances, const uint32_t *parents)
{
    for (uint32_t v = 0; v < graph->vertices; v++) {
        uint32_t at = v;
        if (distances[v] == INFINITY && parents[v] != TD_NO_VERTEX) return false;
        if (distances[v] == INFINITY) continue;
        for (uint32_t steps = 0; at != 0; steps++) {
            uint32_t parent = parents[at];
            bool tight = false;
            if (parent >= graph->vertices || steps > graph->vertices) return false;
            for (uint64_t e = graph->out.offsets[parent]; e < graph->out.offsets[parent + 1]; e++)
                if (graph->out.targets[e] == at)
                    tight |= distances[parent] + reference_weight(graph, e) == distances[at];
            if (!tight) return false;
            at = parent;
        }
    }
    return parents[0] == 0;
}

TEST(sssp_accepts_one_result_only_on_all_tiny_graphs)
{
    for (int g = 0; g < TINY_DIRECTED; g++) {
        td_graph *graph = tiny_directed(g);
        uint32_t *parents = NULL, tried[3];
        double *distances = reference_sssp(graph, 0, &parents);
        uint32_t *whole = reference_whole_distances(distances, 3);
        for (int t = 0; t < 64; t++) {
            tiny_values(tried, t);
            bool right = memcmp(tried, whole, sizeof tried) == 0;
            CHECK_STATUS(td_verify_sssp_u32(graph, 0, tried, NULL, NULL), right ? TD_OK : TD_VERIFY);
            right = parents_right(graph, distances, tried);
            CHECK_STATUS(td_verify_sssp_u32(graph, 0, whole, tried, NULL), right ? TD_OK : TD_VERIFY);
        }
        td_free(parents);
        td_free(distances);
        td_free(whole);
        td_graph_destroy(graph);
    }
}

TEST(wcc_references_pass_and_changed_labels_are_refuted)
{
    for (int threads = 0; threads <= 2; threads += 2) {
        td_pool *pool = pool_of(threads);
        for (int i = 0; i < TEST_GRAPHS; i++) {
            td_graph *graph = test_graph(i, TEST_UNWEIGHTED, pool);
            uint32_t *labels = reference_wcc(graph);
            CHECK_OK(td_verify_wcc(graph, labels, pool));
            for (uint32_t v = 0; v < graph->vertices; v += stride(graph)) {
                uint32_t right = labels[v], wrong[] = {v, v / 2, 0, graph->vertices, UINT32_MAX};
                for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
                    if (wrong[k] == right) continue;
                    labels[v] = wrong[k];
                    CHECK_STATUS(td_verify_wcc(graph, labels, pool), TD_VERIFY);
                }
                labels[v] = right;
            }
            td_free(labels);
            td_graph_destroy(graph);
        }
        td_pool_destroy(pool);
    }
}

TEST(wcc_says_which_claim_fails_where)
{
    static const uint32_t ends[][2] = {{0, 1}, {2, 1}, {4, 3}};
    td_graph *graph = test_graph_of(6, ends, NULL, 3, false);
#define WCC(...) td_verify_wcc(graph, (uint32_t[]){__VA_ARGS__}, NULL)
    CHECK_OK(WCC(0, 0, 0, 3, 3, 5));
    CHECK_REFUTED(WCC(1, 1, 1, 3, 3, 5), "not behind its own' fails: vertex 100, number 0, has the label 1");
    CHECK_REFUTED(WCC(0, 0, 0, 4, 4, 5), "not behind its own' fails: vertex 103, number 3, has the label 4");
    CHECK_REFUTED(WCC(0, 0, 2, 3, 3, 5), "'no edge joins two labels' fails: edge 102 -> 101 joins the labels 2 and 0");
    CHECK_REFUTED(WCC(0, 0, 0, 0, 0, 5), "'equal labels are connected' fails: no path joins vertex 103 with 100");
    CHECK_REFUTED(WCC(0, 0, 0, 3, 3, 4), "no path joins vertex 105 with 104, which its label 4 stands for");
#undef WCC
    td_graph_destroy(graph);
}

TEST(wcc_accepts_one_result_only_on_all_tiny_graphs)
{
    for (int g = 0; g < 64; g++) {
        td_graph *graph = tiny_undirected(g, 1);
        uint32_t *labels = reference_wcc(graph);
        for (uint32_t t = 0; t < 256; t++) {
            uint32_t tried[4] = {t % 4, t / 4 % 4, t / 16 % 4, t / 64};
            bool right = memcmp(tried, labels, sizeof tried) == 0;
            CHECK_STATUS(td_verify_wcc(graph, tried, NULL), right ? TD_OK : TD_VERIFY);
        }
        td_free(labels);
        td_graph_destroy(graph);
    }
}

TEST(a_refutation_is_the_same_whatever_the_threads)
{
    td_graph *graph = test_graph(test_graph_named("rmat 14"), TEST_U8, NULL);
    uint32_t *parents = NULL, *levels = reference_bfs(graph, 0, &parents);
    char first[TD_MESSAGE_BYTES];
    for (uint32_t v = 5000; v < graph->vertices; v += 100) levels[v] = 1000;
    for (int threads = 1; threads <= 8; threads *= 2) {
        td_pool *pool = pool_of(threads);
        CHECK_STATUS(td_verify_bfs(graph, 0, levels, NULL, pool), TD_VERIFY);
        if (threads == 1) strcpy(first, td_last_message());
        CHECK_STR(td_last_message(), first);
        td_pool_destroy(pool);
    }
    td_free(parents);
    td_free(levels);
    td_graph_destroy(graph);
}

TEST(running_out_of_memory_is_an_error_and_leaks_nothing)
{
    td_pool *pool = pool_of(2);
    td_graph *graph = test_graph(test_graph_named("multigraph"), TEST_TIES, pool);
    uint32_t *parents = NULL, *tree = NULL, *levels = reference_bfs(graph, 0, &parents);
    double *distances = reference_sssp(graph, 0, &tree);
    uint32_t *whole = reference_whole_distances(distances, graph->vertices), *labels = reference_wcc(graph);
    CHECK_EVERY_ALLOCATION(td_verify_bfs(graph, 0, levels, parents, pool));
    CHECK_EVERY_ALLOCATION(td_verify_sssp_u32(graph, 0, whole, NULL, pool));
    CHECK_EVERY_ALLOCATION(td_verify_sssp_u32(graph, 0, whole, tree, pool));
    CHECK_EVERY_ALLOCATION(td_verify_wcc(graph, labels, pool));
    void *all[] = {parents, tree, levels, distances, whole, labels};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) td_free(all[i]);
    td_graph_destroy(graph);
    td_pool_destroy(pool);
}

TEST_MAIN
