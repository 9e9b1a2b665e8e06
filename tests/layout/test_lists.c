/* A list in another order has the same edges, in the order of its keys, ties as
 * they were: each list is compared with an independent stable sort. */
#include "programs/graphs.h"

#include "layout/lists.h"
#include "store/checks.h"

static const td_list_order orders[] = {TD_LISTS_STORED, TD_LISTS_HOT, TD_LISTS_LIGHT};
enum { ORDERS = sizeof orders / sizeof *orders };

typedef struct entry {
    double key;
    uint64_t edge;
} entry;

static int by_key(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return (x->edge > y->edge) - (x->edge < y->edge);
}

static double wanted_key(const td_graph *graph, const td_adjacency *from, td_list_order order, uint64_t edge)
{
    uint32_t target = from->targets[edge];
    if (order == TD_LISTS_LIGHT) return td_weight_at(graph, from, edge);
    if (order == TD_LISTS_STORED) return 0;
    uint64_t degree = td_degree(&graph->out, target);
    if (!graph->symmetric && graph->in.offsets != NULL) degree += td_degree(&graph->in, target);
    return -(double)td_degree_class(degree);
}

static void check_list(const td_graph *graph, const td_adjacency *from, const td_adjacency *to, td_list_order order,
                       uint32_t v)
{
    uint64_t begin = from->offsets[v], edges = td_degree(from, v);
    entry *wanted = NULL;
    CHECK_OK(TD_NEW(&wanted, edges, "edges of a list"));
    for (uint64_t i = 0; i < edges; i++)
        wanted[i] = (entry){wanted_key(graph, from, order, begin + i), begin + i};
    qsort(wanted, edges, sizeof *wanted, by_key);
    for (uint64_t i = 0; i < edges; i++) {
        CHECK_EQ(to->targets[begin + i], from->targets[wanted[i].edge]);
        if (to->weights != NULL)
            CHECK(td_weight_at(graph, to, begin + i) == td_weight_at(graph, from, wanted[i].edge));
    }
    td_free(wanted);
}

static td_adjacency ordered(const td_graph *graph, const td_adjacency *from, td_list_order order, bool weighted,
                            td_pool *pool)
{
    td_adjacency to = {.offsets = from->offsets};
    CHECK_OK(TD_NEW(&to.targets, graph->edges, "targets"));
    if (weighted) CHECK_OK(td_new_bytes(&to.weights, graph->edges, td_weight_bytes(graph->weights), "weights"));
    uint64_t held = td_memory().now;
    td_lists_ordering what = {graph, from, order, 0, to.targets, to.weights};
    CHECK_OK(td_lists_order(&what, pool));
    CHECK_EQ(td_memory().now, held);
    return to;
}

static void check_order(const td_graph *graph, const td_adjacency *from, td_list_order order, bool weighted,
                        td_pool *pool)
{
    td_adjacency to = ordered(graph, from, order, weighted, pool);
    for (uint32_t v = 0; v < graph->vertices; v++) check_list(graph, from, &to, order, v);
    td_free(to.targets);
    td_free(to.weights);
}

static void check_orders(const td_graph *graph, td_pool *pool)
{
    for (int i = 0; i < ORDERS; i++) {
        check_order(graph, &graph->out, orders[i], graph->weights != TD_WEIGHT_NONE, pool);
        if (graph->in.offsets != NULL)
            check_order(graph, &graph->in, orders[i], graph->weights != TD_WEIGHT_NONE, pool);
    }
}

TEST(every_list_is_in_order_with_ties_as_they_were)
{
    td_pool *pool = NULL;
    CHECK_OK(td_pool_create(&pool, 3));
    for (int i = 0; i < TEST_GRAPHS; i++)
        for (int kind = 0; kind < TEST_WEIGHT_KINDS; kind++) {
            td_graph *graph = test_graph(i, (test_weights)kind, pool);
            check_orders(graph, kind % 2 == 0 ? pool : NULL);
            td_graph_destroy(graph);
        }
    td_pool_destroy(pool);
}

/* `edges` from vertex 0 to any of the others, half as many back, so that degrees differ,
 * and lists of up to 300 among them. */
static td_graph *hub_graph(uint64_t vertices, uint64_t edges, test_weights weights, td_pool *pool)
{
    td_graph *graph = NULL;
    test_sketch sketch = {.weights = weights, .seed = 3, .id_factor = 1};
    CHECK_OK(td_edges_create(&sketch.edges, "hub"));
    if (weights == TEST_F64) CHECK_OK(td_edges_use_doubles(sketch.edges));
    CHECK_OK(td_edges_chunk(sketch.edges, 0, &sketch.chunk));
    sketch.edges->weighted = weights != TEST_UNWEIGHTED;
    sketch.edges->vertices = vertices;
    sketch.edges->declared = true;
    CHECK_OK(td_chunk_reserve(sketch.chunk, edges + edges / 2, sketch.edges->weighted));
    for (uint64_t e = 0; e < edges; e++) test_put(&sketch, 0, test_draw(&sketch, vertices));
    for (uint64_t e = 0; e < edges / 2; e++) test_put(&sketch, test_draw(&sketch, 1 + test_draw(&sketch, vertices)), 0);
    for (uint64_t v = 1; v < 300 && v < vertices; v++)
        for (uint64_t e = 0; e < v; e++) test_put(&sketch, v, test_draw(&sketch, vertices));
    CHECK_OK(td_graph_build(&graph, sketch.edges, &(td_build_options){0}, pool));
    td_edges_destroy(sketch.edges);
    return graph;
}

TEST(lists_that_all_workers_share_are_in_order_too)
{
    td_pool *pool = NULL;
    CHECK_OK(td_pool_create(&pool, 3));
    for (int kind = 0; kind < TEST_WEIGHT_KINDS; kind++) {
        td_graph *graph = hub_graph(20000, 300000 + (uint64_t)kind, (test_weights)kind, pool);
        check_orders(graph, pool);
        td_graph_destroy(graph);
    }
    td_pool_destroy(pool);
}

TEST(lists_of_about_a_block_are_in_order)
{
    for (int more = -1; more <= 1; more++) {
        td_graph *graph = hub_graph(2, (1 << 18) + 2 * (uint64_t)more, TEST_TIES, NULL);
        check_orders(graph, NULL);
        td_graph_destroy(graph);
    }
}

/* So many edges that the list's blocks grow, and the last one is not full. */
TEST(a_hub_of_millions_is_in_order)
{
    td_pool *pool = NULL;
    CHECK_OK(td_pool_create(&pool, 2));
    td_graph *graph = hub_graph(1000, 9000001, TEST_UNWEIGHTED, pool);
    td_adjacency to = ordered(graph, &graph->out, TD_LISTS_HOT, false, pool);
    uint64_t seen[1000] = {0};
    uint32_t last_class = UINT32_MAX, last_target = 0;
    for (uint64_t e = 0; e < td_degree(&graph->out, 0); e++) {
        uint32_t target = to.targets[e];
        uint32_t class = td_degree_class(td_degree(&graph->out, target) + td_degree(&graph->in, target));
        CHECK(class < last_class || (class == last_class && target >= last_target));
        last_class = class;
        last_target = target;
        seen[target]++;
        seen[graph->out.targets[e]]--;
    }
    for (int v = 0; v < 1000; v++) CHECK_EQ(seen[v], 0);
    td_free(to.targets);
    td_graph_destroy(graph);
    td_pool_destroy(pool);
}

TEST(targets_alone_are_ordered_by_weight_too)
{
    td_graph *graph = test_graph(test_graph_named("rmat 10"), TEST_F32, NULL);
    for (int i = 0; i < ORDERS; i++) check_order(graph, &graph->in, orders[i], false, NULL);
    td_graph_destroy(graph);
}

TEST(a_graph_without_weights_or_in_adjacency_has_orders)
{
    td_graph *graph = test_graph(test_graph_named("rmat 10"), TEST_UNWEIGHTED, NULL);
    CHECK_OK(td_graph_rebuild(&graph, &(td_build_options){.out_only = true}, NULL));
    check_orders(graph, NULL);
    td_adjacency to = ordered(graph, &graph->out, TD_LISTS_LIGHT, false, NULL);
    CHECK(memcmp(to.targets, graph->out.targets, graph->edges * sizeof *to.targets) == 0);
    td_free(to.targets);
    td_graph_destroy(graph);
}

TEST(zeros_of_either_sign_are_alike)
{
    td_graph *graph = NULL;
    td_edge_list *edges = NULL;
    td_edge_chunk *chunk = NULL;
    static const float reals[] = {0.0f, -0.0f, -1.5f, 0.0f, -0.0f, -2.5f, 1e-40f, -1e-40f, 3e38f, -3e38f};
    static const uint32_t wanted[] = {9, 5, 2, 7, 0, 1, 3, 4, 6, 8};
    CHECK_OK(td_edges_create(&edges, "zeros"));
    CHECK_OK(td_edges_chunk(edges, 0, &chunk));
    edges->weighted = true;
    CHECK_OK(td_chunk_reserve(chunk, 10, true));
    for (uint32_t v = 0; v < 10; v++) {
        CHECK_OK(td_chunk_put(chunk, 0, v));
        td_chunk_weight_real(chunk, reals[v]);
    }
    CHECK_OK(td_graph_build(&graph, edges, &(td_build_options){0}, NULL));
    td_edges_destroy(edges);
    td_adjacency to = ordered(graph, &graph->out, TD_LISTS_LIGHT, true, NULL);
    for (uint32_t i = 0; i < 10; i++) {
        CHECK_EQ(to.targets[i], wanted[i]);
        CHECK(((const float *)to.weights)[i] == reals[wanted[i]]);
    }
    td_free(to.targets);
    td_free(to.weights);
    td_graph_destroy(graph);
}

TEST(classes_of_degrees_ascend_and_fit_a_byte)
{
    uint64_t last = 0;
    for (uint64_t d = 1; d < UINT64_C(1) << 33; d += 1 + d / 1000) {
        uint32_t before = td_degree_class(last), here = td_degree_class(d);
        CHECK(here == before || here == before + 1);
        last = d;
    }
    for (uint64_t d = 1; d < 16; d++) CHECK_EQ(td_degree_class(d), d);
    for (uint64_t d = 8; d < UINT64_C(1) << 31; d += 1 + d / 1000)
        CHECK(td_degree_class(d + d / 8 + 1) > td_degree_class(d));
    CHECK(td_degree_class(UINT32_MAX) < 256);
    CHECK_EQ(td_degree_class(UINT64_MAX), td_degree_class(UINT32_MAX));
}

/* Lists in a mapped file. */

static td_graph *mapped_file_of(const td_graph *graph, td_pool *pool)
{
    td_graph *mapped = NULL;
    CHECK_OK(td_packed_write(graph, test_path("lists.tg"), NULL));
    CHECK_OK(td_packed_map_unchecked(&mapped, test_path("lists.tg"), pool));
    return mapped;
}

static uint64_t padded(uint64_t bytes) { return (bytes + 4095) / 4096 * 4096; }

/* Every list of the file is read once, and the graph has no copy of it. */
static void check_file_order(const td_graph *graph, td_list_order order, td_pool *pool)
{
    td_graph *mapped = mapped_file_of(graph, pool);
    uint64_t weight = td_weight_bytes(graph->weights), before = td_checks_done(mapped);
    td_adjacency to = ordered(mapped, &mapped->out, order, weight > 0, pool);
    CHECK_EQ(td_checks_done(mapped) - before, padded(graph->edges * sizeof(uint32_t)) + padded(graph->edges * weight));
    CHECK(graph->edges == 0 || td_checks_pending(mapped, mapped->out.targets));
    for (uint32_t v = 0; v < graph->vertices; v++) check_list(graph, &graph->out, &to, order, v);
    td_free(to.targets);
    td_free(to.weights);
    td_graph_destroy(mapped);
}

TEST(lists_in_a_file_are_read_once_and_in_order)
{
    td_pool *pool = NULL;
    CHECK_OK(td_pool_create(&pool, 3));
    for (int kind = 0; kind < TEST_WEIGHT_KINDS; kind++) {
        td_graph *hub = hub_graph(20000, 300000 + (uint64_t)kind, (test_weights)kind, pool);
        td_graph *small = test_graph(test_graph_named("rmat 10"), (test_weights)kind, pool);
        for (int i = 0; i < ORDERS; i++) {
            check_file_order(hub, orders[i], kind % 2 == 0 ? pool : NULL);
            check_file_order(small, orders[i], pool);
        }
        td_graph_destroy(hub);
        td_graph_destroy(small);
    }
    td_pool_destroy(pool);
}

static uint32_t whole_weight(const td_graph *graph, const td_adjacency *from, uint64_t e)
{
    return (uint32_t)td_weight_at(graph, from, e);
}

TEST(every_list_is_within_one_piece_or_goes_across)
{
    td_graph *graph = hub_graph(20000, 300000, TEST_UNWEIGHTED, NULL);
    const uint64_t *offsets = graph->out.offsets;
    uint8_t *seen = NULL;
    CHECK_OK(TD_NEW_ZEROED(&seen, graph->vertices, "vertices"));
    for (uint64_t piece = 0; piece < td_lists_pieces(graph->edges); piece++) {
        uint32_t first, after, across = td_lists_across(offsets, graph->vertices, piece);
        td_lists_within(offsets, graph->vertices, piece, &first, &after);
        for (uint32_t v = first; v < after; v++) {
            CHECK(offsets[v] >= piece * TD_LISTS_PIECE && offsets[v + 1] <= (piece + 1) * TD_LISTS_PIECE);
            seen[v]++;
        }
        if (across != UINT32_MAX) seen[across]++;
    }
    for (uint32_t v = 0; v < graph->vertices; v++) CHECK(seen[v] == 1 || (seen[v] == 0 && td_degree(&graph->out, v) == 0));
    td_free(seen);
    td_graph_destroy(graph);
}

/* Words of packed weights are those of the ordered targets and weights. */
static void check_packed(const td_graph *graph, const td_graph *seen, td_list_order order, uint32_t bits, td_pool *pool)
{
    td_adjacency to = ordered(graph, &graph->out, order, true, pool);
    uint32_t *words = NULL;
    CHECK_OK(TD_NEW(&words, graph->edges, "words"));
    td_lists_ordering what = {seen, &seen->out, order, bits, words, NULL};
    CHECK_OK(td_lists_order(&what, pool));
    for (uint64_t e = 0; e < graph->edges; e++)
        CHECK_EQ(words[e], to.targets[e] | whole_weight(graph, &to, e) << (32 - bits));
    td_free(words);
    td_free(to.targets);
    td_free(to.weights);
}

TEST(weights_are_packed_on_the_way)
{
    static const test_weights kinds[] = {TEST_U8, TEST_U16, TEST_U32};
    td_pool *pool = NULL;
    CHECK_OK(td_pool_create(&pool, 2));
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        td_graph *graph = hub_graph(5000, 200000, kinds[k], pool), *mapped = mapped_file_of(graph, pool);
        uint32_t bits = 32 - 13; /* of 5000 vertices */
        if (graph->weight_max < (double)(1u << bits))
            for (int i = 0; i < ORDERS; i++) {
                check_packed(graph, graph, orders[i], bits, pool);
                check_packed(graph, mapped, orders[i], bits, pool);
            }
        td_graph_destroy(mapped);
        td_graph_destroy(graph);
    }
    td_pool_destroy(pool);
}

TEST(a_weight_that_does_not_fit_is_an_error)
{
    static const test_weights kinds[] = {TEST_U8, TEST_U16};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        td_graph *graph = hub_graph(5000, 200000, kinds[k], NULL);
        uint32_t *words = NULL, bits = 1;
        CHECK_OK(TD_NEW(&words, graph->edges, "words"));
        CHECK(graph->weight_max >= 2);
        for (int i = 0; i < ORDERS; i++) {
            td_lists_ordering what = {graph, &graph->out, orders[i], bits, words, NULL};
            CHECK_STATUS(td_lists_order(&what, NULL), TD_CORRUPT);
            CHECK_CONTAINS(td_last_message(), "the largest that the graph states");
        }
        td_free(words);
        td_graph_destroy(graph);
    }
}

/* A target that is no vertex fails the sort that would look its class up. */
TEST(a_target_in_the_file_that_is_no_vertex_is_an_error)
{
    td_graph *graph = test_graph(test_graph_named("rmat 10"), TEST_U8, NULL);
    uint32_t target = graph->out.targets[77], *words = NULL;
    CHECK_OK(TD_NEW(&words, graph->edges, "words"));
    graph->out.targets[77] = graph->vertices;
    td_graph *mapped = mapped_file_of(graph, NULL);
    graph->out.targets[77] = target;
    for (int i = 0; i < ORDERS; i++) {
        td_lists_ordering what = {mapped, &mapped->out, orders[i], 0, words, NULL};
        CHECK_STATUS(td_lists_order(&what, NULL), TD_CORRUPT);
    }
    td_free(words);
    td_graph_destroy(mapped);
    td_graph_destroy(graph);
}

/* Fails each request in turn until the call gets through. */
static uint64_t check_faults(const td_graph *graph, td_list_order order, td_adjacency *to, td_pool *pool)
{
    uint64_t held = td_memory().now, nth = 1;
    for (;; nth++) {
        td_alloc_fail_at(nth);
        td_lists_ordering what = {graph, &graph->out, order, 0, to->targets, to->weights};
        td_status status = td_lists_order(&what, pool);
        td_alloc_fail_at(0);
        CHECK_EQ(td_memory().now, held);
        if (status == TD_OK) return nth;
        CHECK_EQ(status, TD_NO_MEMORY);
    }
}

TEST(a_request_that_fails_is_an_error_and_leaks_nothing)
{
    static const test_weights kinds[] = {TEST_UNWEIGHTED, TEST_U8, TEST_U32};
    td_pool *pool = NULL;
    CHECK_OK(td_pool_create(&pool, 2));
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        td_graph *graph = hub_graph(100, 200000, kinds[k], pool);
        for (int i = 0; i < ORDERS; i++) {
            td_adjacency to = ordered(graph, &graph->out, orders[i], graph->weights != TD_WEIGHT_NONE, pool);
            bool copied = orders[i] == TD_LISTS_STORED || (orders[i] == TD_LISTS_LIGHT && kinds[k] == TEST_UNWEIGHTED);
            uint64_t requests = check_faults(graph, orders[i], &to, pool);
            CHECK(copied ? requests == 2 : requests > 3);
            for (uint32_t v = 0; v < graph->vertices; v++) check_list(graph, &graph->out, &to, orders[i], v);
            td_free(to.targets);
            td_free(to.weights);
        }
        td_graph_destroy(graph);
    }
    td_pool_destroy(pool);
}

TEST_MAIN
