/* A reordered graph is the same graph by other numbers: its edges by original
 * id, and what programs find on it, are those of the graph before. */
#include "programs/graphs.h"

#include "run/result.h"
#include "engine/engine.h"
#include "layout/orders.h"
#include "layout/reorder.h"
#include "store/packed.h"

#include <math.h>

typedef struct edge {
    uint64_t source, target;
    double weight;
} edge;

static int by_ends(const void *a, const void *b)
{
    const edge *x = a, *y = b;
    if (x->source != y->source) return x->source < y->source ? -1 : 1;
    if (x->target != y->target) return x->target < y->target ? -1 : 1;
    return (x->weight > y->weight) - (x->weight < y->weight);
}

/* All edges by original id, sorted; read from the in-adjacency if `turned`. */
static edge *edges_of(const td_graph *graph, bool turned)
{
    edge *list = NULL;
    const td_adjacency *adjacency = turned ? &graph->in : &graph->out;
    CHECK_OK(TD_NEW(&list, graph->edges, "edges"));
    for (uint32_t v = 0; v < graph->vertices; v++)
        for (uint64_t e = adjacency->offsets[v]; e < adjacency->offsets[v + 1]; e++) {
            uint64_t one = td_graph_id(graph, v), other = td_graph_id(graph, adjacency->targets[e]);
            list[e] = (edge){turned ? other : one, turned ? one : other, td_weight_at(graph, adjacency, e)};
        }
    qsort(list, graph->edges, sizeof *list, by_ends);
    return list;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t *sorted_ids(const td_graph *graph)
{
    uint64_t *ids = NULL;
    CHECK_OK(TD_NEW(&ids, graph->vertices, "ids"));
    for (uint32_t v = 0; v < graph->vertices; v++) ids[v] = td_graph_id(graph, v);
    qsort(ids, graph->vertices, sizeof *ids, by_number);
    return ids;
}

static void check_same_edges(const td_graph *one, const td_graph *other, bool turned)
{
    edge *mine = edges_of(one, turned), *theirs = edges_of(other, turned);
    for (uint64_t e = 0; e < one->edges; e++)
        if (by_ends(&mine[e], &theirs[e]) != 0)
            TEST_FAIL("%s: edge %" PRIu64 " of the sorted list is %" PRIu64 " %" PRIu64 " %g, not %" PRIu64 " %" PRIu64
                      " %g", one->name, e, theirs[e].source, theirs[e].target, theirs[e].weight, mine[e].source,
                      mine[e].target, mine[e].weight);
    td_free(mine);
    td_free(theirs);
}

static void check_same_ids(const td_graph *one, const td_graph *other)
{
    uint64_t *mine = sorted_ids(one), *theirs = sorted_ids(other);
    for (uint32_t v = 0; v < one->vertices; v++) CHECK_EQ(theirs[v], mine[v]);
    td_free(mine);
    td_free(theirs);
}

static void check_same_sequence(const td_graph *one, const td_graph *other)
{
    for (uint32_t v = 0; v < one->vertices; v++) CHECK_EQ(td_graph_id(other, v), td_graph_id(one, v));
}

static void check_same_graph(const td_graph *one, const td_graph *other)
{
    CHECK_OK(td_graph_check(other, NULL));
    CHECK_EQ(other->vertices, one->vertices);
    CHECK_EQ(other->edges, one->edges);
    CHECK_EQ(other->symmetric, one->symmetric);
    CHECK_EQ(other->weights, one->weights);
    CHECK(other->weight_min == one->weight_min && other->weight_max == one->weight_max);
    CHECK_STR(other->name, one->name);
    CHECK_EQ(other->in.offsets == NULL, one->in.offsets == NULL);
    check_same_ids(one, other);
    check_same_edges(one, other, false);
    if (one->in.offsets != NULL) check_same_edges(one, other, true);
}

static td_graph *reordered(int index, test_weights weights, td_order order, td_pool *pool)
{
    td_graph *graph = test_graph(index, weights, pool);
    CHECK_OK(td_graph_reorder(&graph, order, 7, pool));
    return graph;
}

static void check_orders(int index, test_weights weights, td_pool *pool)
{
    td_graph *graph = test_graph(index, weights, pool);
    for (int order = TD_ORDER_HOT; order < TD_ORDERS; order++) {
        td_graph *other = reordered(index, weights, (td_order)order, pool);
        check_same_graph(graph, other);
        td_graph_destroy(other);
    }
    td_graph_destroy(graph);
}

TEST(a_reordered_graph_is_the_same_graph)
{
    td_pool *pool = NULL;
    CHECK_OK(td_pool_create(&pool, 3));
    for (int i = 0; i < TEST_GRAPHS; i++)
        check_orders(i, (test_weights)(i % TEST_WEIGHT_KINDS), i % 2 == 0 ? pool : NULL);
    td_pool_destroy(pool);
}

TEST(weights_of_every_kind_stay_with_their_edges)
{
    static const char *const names[] = {"multigraph", "multigraph, symmetric", "uniform, sparse ids"};
    for (int kind = 0; kind < TEST_WEIGHT_KINDS; kind++)
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            check_orders(test_graph_named(names[i]), (test_weights)kind, NULL);
}

TEST(orders_with_a_meaning_are_distinguished_from_random_ones)
{
    static const char *const names[] = {"path", "rmat 10"};
    for (int i = 0; i < 2; i++) {
        td_graph *graph = test_graph(test_graph_named(names[i]), TEST_UNWEIGHTED, NULL);
        CHECK(i == 0 ? td_share_near(graph) > 0.9 : td_share_near(graph) < 0.2);
        td_graph_destroy(graph);
    }
    td_graph *shuffled = reordered(test_graph_named("path"), TEST_UNWEIGHTED, TD_ORDER_RANDOM, NULL);
    CHECK(td_share_near(shuffled) < 0.2);
    td_graph_destroy(shuffled);
}

TEST(the_order_none_leaves_the_graph_as_it_is)
{
    td_graph *graph = test_graph(test_graph_named("web"), TEST_U8, NULL), *before = graph;
    CHECK_OK(td_graph_reorder(&graph, TD_ORDER_NONE, 1, NULL));
    CHECK(graph == before);
    CHECK(graph->ids == NULL);
    td_graph_destroy(graph);
}

TEST(an_order_upon_another_still_has_the_original_ids)
{
    int index = test_graph_named("uniform, sparse ids");
    td_graph *graph = test_graph(index, TEST_F32, NULL), *other = reordered(index, TEST_F32, TD_ORDER_RANDOM, NULL);
    CHECK_OK(td_graph_reorder(&other, TD_ORDER_HOT, 1, NULL));
    CHECK_OK(td_graph_reorder(&other, TD_ORDER_RANDOM, 2, NULL));
    check_same_graph(graph, other);
    td_graph_destroy(other);
    td_graph_destroy(graph);
}

/* Except by rcm, which walks edges either way where it can. */
TEST(a_graph_without_in_adjacency_stays_without_and_has_the_same_order)
{
    for (int order = 0; order < TD_ORDERS; order++) {
        int index = test_graph_named("rmat 10");
        td_graph *whole = test_graph(index, TEST_U16, NULL), *half = test_graph(index, TEST_U16, NULL), *before;
        CHECK_OK(td_graph_rebuild(&half, &(td_build_options){.out_only = true}, NULL));
        before = test_graph(index, TEST_U16, NULL);
        CHECK_OK(td_graph_rebuild(&before, &(td_build_options){.out_only = true}, NULL));
        CHECK_OK(td_graph_reorder(&whole, (td_order)order, 3, NULL));
        CHECK_OK(td_graph_reorder(&half, (td_order)order, 3, NULL));
        CHECK(half->in.offsets == NULL);
        check_same_graph(before, half);
        if (order != TD_ORDER_RCM) check_same_sequence(half, whole);
        td_graph_destroy(before);
        td_graph_destroy(half);
        td_graph_destroy(whole);
    }
}

/* The orders themselves. */

TEST(indegree_descends_with_ties_in_the_order_of_ids)
{
    for (int i = 0; i < TEST_GRAPHS; i++) {
        td_graph *graph = reordered(i, TEST_UNWEIGHTED, TD_ORDER_INDEGREE, NULL);
        for (uint32_t v = 1; v < graph->vertices; v++) {
            uint64_t here = td_degree(&graph->in, v), before = td_degree(&graph->in, v - 1);
            CHECK(before >= here);
            if (before == here) CHECK(td_graph_id(graph, v - 1) < td_graph_id(graph, v));
        }
        td_graph_destroy(graph);
    }
}

/* Three hubs of more in-edges than there are classes to count, the heaviest with the largest number. */
TEST(hubs_beyond_the_counted_degrees_are_in_order_too)
{
    enum { LEAVES = 70000, HUBS = 3 };
    uint32_t (*ends)[2] = NULL;
    uint64_t count = 0;
    CHECK_OK(TD_NEW(&ends, HUBS * LEAVES, "edges"));
    for (uint32_t hub = 0; hub < HUBS; hub++)
        for (uint32_t v = 0; v < LEAVES - HUBS + 1 + hub; v++) {
            ends[count][0] = HUBS + v;
            ends[count++][1] = hub;
        }
    td_graph *graph = test_graph_of(LEAVES + HUBS, (const uint32_t(*)[2])ends, NULL, count, false);
    CHECK_OK(td_graph_reorder(&graph, TD_ORDER_INDEGREE, 1, NULL));
    for (uint32_t hub = 0; hub < HUBS; hub++) CHECK_EQ(td_graph_id(graph, hub), 100 + HUBS - 1 - hub);
    td_graph_destroy(graph);
    td_free(ends);
}

/* Sinks stand at the end. Before them: a vertex's discoverer is its first
 * in-neighbour, or itself if none stands before it. Breadth-first means that
 * discoverers never go back; a vertex that discovered itself is the hottest of
 * those that were left. */
static void check_hot(const td_graph *graph)
{
    uint32_t v = 0, discoverer = 0;
    for (; v < graph->vertices && td_degree(&graph->out, v) > 0; v++) {
        uint64_t begin = graph->in.offsets[v];
        uint32_t first = begin < graph->in.offsets[v + 1] ? graph->in.targets[begin] : v;
        if (first > v) first = v;
        CHECK(first >= discoverer);
        discoverer = first;
        for (uint32_t u = v + 1; first == v && u < graph->vertices && td_degree(&graph->out, u) > 0; u++)
            CHECK(td_degree(&graph->in, u) <= td_degree(&graph->in, v));
    }
    for (; v < graph->vertices; v++) CHECK_EQ(td_degree(&graph->out, v), 0);
}

TEST(hot_is_breadth_first_from_the_hottest_with_sinks_last)
{
    for (int i = 0; i < TEST_GRAPHS; i++) {
        td_graph *graph = reordered(i, TEST_UNWEIGHTED, TD_ORDER_HOT, NULL);
        check_hot(graph);
        td_graph_destroy(graph);
    }
}

/* 0 -> 1, 1 -> 2, 2 -> {1, 4}, 3 -> {1, 0}: vertex 1 is the hottest, 4 a sink, 3 found by none. */
TEST(hot_of_a_graph_drawn_by_hand)
{
    static const uint32_t ends[][2] = {{0, 1}, {1, 2}, {2, 1}, {2, 4}, {3, 1}, {3, 0}};
    static const uint64_t wanted[] = {101, 102, 100, 103, 104};
    td_graph *graph = test_graph_of(5, ends, NULL, 6, false);
    CHECK_OK(td_graph_reorder(&graph, TD_ORDER_HOT, 1, NULL));
    for (uint32_t v = 0; v < 5; v++) CHECK_EQ(td_graph_id(graph, v), wanted[v]);
    td_graph_destroy(graph);
}

/* Backwards, rcm is breadth-first along edges of either direction: finders never go back; what
 * one vertex found is in order of degrees, then of ids. */
static uint32_t first_neighbour(const td_graph *graph, const td_adjacency *way, uint32_t v)
{
    uint64_t end = way->offsets[v + 1];
    return end > way->offsets[v] ? graph->vertices - 1 - way->targets[end - 1] : TD_NO_VERTEX;
}

static void check_rcm(const td_graph *graph)
{
    uint32_t last_finder = 0, last = TD_NO_VERTEX;
    for (uint32_t place = 0; place < graph->vertices; place++) {
        uint32_t v = graph->vertices - 1 - place;
        uint32_t out = first_neighbour(graph, &graph->out, v), in = first_neighbour(graph, &graph->in, v);
        uint32_t finder = out < in ? out : in;
        if (finder >= place) finder = place; /* a root */
        CHECK(finder >= last_finder);
        if (finder == last_finder && finder < place && last != TD_NO_VERTEX) {
            uint64_t here = td_degree(&graph->out, v) + td_degree(&graph->in, v);
            uint64_t before = td_degree(&graph->out, last) + td_degree(&graph->in, last);
            CHECK(before < here || (before == here && td_graph_id(graph, last) < td_graph_id(graph, v)));
        }
        last = finder < place ? v : TD_NO_VERTEX;
        last_finder = finder;
    }
}

TEST(rcm_is_breadth_first_backwards_by_ascending_degree)
{
    for (int i = 0; i < TEST_GRAPHS; i++) {
        td_graph *graph = reordered(i, TEST_UNWEIGHTED, TD_ORDER_RCM, NULL);
        check_rcm(graph);
        td_graph_destroy(graph);
    }
}

static uint32_t bandwidth_of(const td_graph *graph)
{
    uint32_t most = 0;
    for (uint32_t v = 0; v < graph->vertices; v++)
        for (uint64_t e = graph->out.offsets[v]; e < graph->out.offsets[v + 1]; e++) {
            uint32_t u = graph->out.targets[e], apart = u > v ? u - v : v - u;
            if (apart > most) most = apart;
        }
    return most;
}

/* From a corner, a grid of 30 columns has levels of at most 30, whatever its numbers were. */
TEST(rcm_brings_neighbours_together)
{
    static const struct { const char *name; uint32_t most; } cases[] = {
        {"path", 1}, {"directed path", 1}, {"directed cycle", 2}, {"grid 30x40", 31}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        td_graph *graph = reordered(test_graph_named(cases[i].name), TEST_UNWEIGHTED, TD_ORDER_RANDOM, NULL);
        CHECK(bandwidth_of(graph) > cases[i].most);
        CHECK_OK(td_graph_reorder(&graph, TD_ORDER_RCM, 1, NULL));
        if (bandwidth_of(graph) > cases[i].most)
            TEST_FAIL("%s: bandwidth %u, not at most %u", cases[i].name, bandwidth_of(graph), cases[i].most);
        td_graph_destroy(graph);
    }
}

/* Levels of more edges than one thread walks alone, a list that is shared out, vertices without out-edges, several
 * components. */
static td_graph *busy_graph(const td_build_options *build, td_pool *pool)
{
    enum { VERTICES = 20000, EDGES = 300000, HUB = 90000 };
    td_graph *graph = NULL;
    test_sketch sketch = {.seed = 5, .id_factor = 1};
    CHECK_OK(td_edges_create(&sketch.edges, "busy"));
    CHECK_OK(td_edges_chunk(sketch.edges, 0, &sketch.chunk));
    sketch.edges->vertices = VERTICES;
    sketch.edges->declared = true;
    CHECK_OK(td_chunk_reserve(sketch.chunk, EDGES + HUB, false));
    for (uint64_t e = 0; e < EDGES; e++) {
        uint64_t half = VERTICES / 2 * test_draw(&sketch, 2), source = test_draw(&sketch, 1 + test_draw(&sketch, 8000));
        test_put(&sketch, half + source, half + test_draw(&sketch, 9900));
    }
    for (uint64_t e = 0; e < HUB; e++) test_put(&sketch, 7, test_draw(&sketch, 9900));
    CHECK_OK(td_graph_build(&graph, sketch.edges, build, pool));
    td_edges_destroy(sketch.edges);
    return graph;
}

TEST(workers_together_find_the_order_one_finds_alone)
{
    static const td_build_options builds[] = {{0}, {.symmetrize = true}, {.out_only = true}};
    td_pool *pool = NULL;
    CHECK_OK(td_pool_create(&pool, 3));
    for (size_t i = 0; i < sizeof builds / sizeof *builds; i++)
        for (int order = TD_ORDER_HOT; order < TD_ORDERS; order++) {
            td_graph *one = busy_graph(&builds[i], pool), *other = busy_graph(&builds[i], pool);
            CHECK_OK(td_graph_reorder(&one, (td_order)order, 9, NULL));
            CHECK_OK(td_graph_reorder(&other, (td_order)order, 9, pool));
            check_same_sequence(one, other);
            if (order == TD_ORDER_HOT && one->in.offsets != NULL) check_hot(one);
            if (order == TD_ORDER_RCM && one->in.offsets != NULL) check_rcm(one);
            td_graph_destroy(one);
            td_graph_destroy(other);
        }
    td_pool_destroy(pool);
}

/* Gorder by its definition: the score of two vertices is the number of edges between them and of common in-neighbours,
 * of which those with too many out-edges do not count. */
static uint64_t edges_between(const td_graph *graph, uint32_t u, uint32_t v)
{
    uint64_t edges = 0;
    for (uint64_t e = graph->out.offsets[u]; e < graph->out.offsets[u + 1]; e++) edges += graph->out.targets[e] == v;
    return edges;
}

static uint64_t score_of(const td_graph *graph, uint32_t u, uint32_t v)
{
    uint64_t score = edges_between(graph, u, v) + edges_between(graph, v, u);
    for (uint32_t x = 0; x < graph->vertices; x++)
        if (td_degree(&graph->out, x) <= td_gorder_hub(graph->vertices))
            score += edges_between(graph, x, u) * edges_between(graph, x, v);
    return score;
}

static uint64_t window_score(const td_graph *graph, uint32_t v, uint32_t before)
{
    uint64_t sum = 0;
    for (uint32_t u = before > TD_GORDER_WINDOW ? before - TD_GORDER_WINDOW : 0; u < before; u++)
        sum += score_of(graph, u, v);
    return sum;
}

static td_graph *gorder_graph(uint32_t vertices, uint32_t edges, uint64_t seed, bool hub)
{
    td_graph *graph = NULL;
    test_sketch sketch = {.seed = seed, .id_factor = 1};
    CHECK_OK(td_edges_create(&sketch.edges, "drawn"));
    CHECK_OK(td_edges_chunk(sketch.edges, 0, &sketch.chunk));
    for (uint32_t e = 0; e < edges; e++) test_put(&sketch, test_draw(&sketch, vertices), test_draw(&sketch, vertices));
    for (uint32_t v = 0; hub && v < vertices; v += 2) test_put(&sketch, 3, v);
    CHECK_OK(td_graph_build(&graph, sketch.edges, NULL, NULL));
    td_edges_destroy(sketch.edges);
    return graph;
}

/* Every vertex has the highest score of all that come no earlier; the first has the highest in-degree. */
TEST(gorder_is_greedy_by_the_definition_of_scores)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        td_graph *graph = gorder_graph(40, 60 + 20 * (uint32_t)seed, seed, seed % 2 == 0);
        CHECK_OK(td_graph_reorder(&graph, TD_ORDER_GORDER, 1, NULL));
        for (uint32_t v = 1; v < graph->vertices; v++) {
            CHECK(td_degree(&graph->in, 0) >= td_degree(&graph->in, v));
            uint64_t taken = window_score(graph, v, v);
            for (uint32_t later = v + 1; later < graph->vertices; later++)
                if (window_score(graph, later, v) > taken)
                    TEST_FAIL("seed %d: place %u has a score of %d, %u would have had %d", (int)seed, v, (int)taken,
                              later, (int)window_score(graph, later, v));
        }
        td_graph_destroy(graph);
    }
    CHECK_EQ(td_gorder_hub(40), 7);
    CHECK_EQ(td_gorder_hub(UINT32_MAX), 256);
}

/* Recursive bisection by its definition: of all cuts into halves the first one has the lowest cost. */
static double cost_of_cut(const td_graph *graph, uint32_t second)
{
    double sum = 0;
    uint32_t n = graph->vertices, half[2] = {n - (uint32_t)__builtin_popcount(second), (uint32_t)__builtin_popcount(second)};
    for (uint32_t u = 0; u < n; u++) {
        uint64_t in[2] = {0};
        in[second >> u & 1]++; /* a list's own vertex is a member */
        for (uint64_t e = graph->out.offsets[u]; e < graph->out.offsets[u + 1]; e++)
            in[second >> graph->out.targets[e] & 1]++;
        for (int i = 0; i < 2; i++) sum += (double)in[i] * log2((double)half[i] / (double)(in[i] + 1));
    }
    return sum;
}

/* Two groups of eight vertices with interleaved numbers: all edges inside, and a few drawn ones. */
static td_graph *groups_graph(uint64_t seed)
{
    td_graph *graph = NULL;
    test_sketch sketch = {.seed = seed, .id_factor = 1};
    CHECK_OK(td_edges_create(&sketch.edges, "groups"));
    CHECK_OK(td_edges_chunk(sketch.edges, 0, &sketch.chunk));
    for (uint32_t u = 0; u < 16; u++)
        for (uint32_t v = u % 2; v < 16; v += 2)
            if (u != v) test_put(&sketch, u, v);
    for (uint32_t e = 0; e < 6; e++) test_put(&sketch, test_draw(&sketch, 16), test_draw(&sketch, 16));
    CHECK_OK(td_graph_build(&graph, sketch.edges, NULL, NULL));
    td_edges_destroy(sketch.edges);
    return graph;
}

TEST(bisection_finds_the_cheapest_of_all_cuts)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        td_graph *graph = groups_graph(seed);
        double input = td_gap_bits(graph), least = 1e30;
        CHECK_OK(td_graph_reorder(&graph, TD_ORDER_BISECT, 1, NULL));
        for (uint32_t second = 0; second < 1 << 16; second++)
            if (__builtin_popcount(second) == 8 && cost_of_cut(graph, second) < least) least = cost_of_cut(graph, second);
        CHECK(cost_of_cut(graph, 0xff00) <= least + 1e-9);
        CHECK(td_gap_bits(graph) < input);
        td_graph_destroy(graph);
    }
}

/* Of a shuffled grid, whose neighbours are far apart, and by the definition of the figure. */
TEST(orders_for_locality_bring_neighbours_together)
{
    int index = test_graph_named("grid 30x40");
    td_graph *shuffled = reordered(index, TEST_UNWEIGHTED, TD_ORDER_RANDOM, NULL);
    double before = td_gap_bits(shuffled);
    td_graph_destroy(shuffled);
    static const td_order orders[] = {TD_ORDER_RCM, TD_ORDER_GORDER, TD_ORDER_BISECT};
    for (int i = 0; i < 3; i++) {
        td_graph *graph = reordered(index, TEST_UNWEIGHTED, TD_ORDER_RANDOM, NULL);
        CHECK_OK(td_graph_reorder(&graph, orders[i], 1, NULL));
        if (td_gap_bits(graph) > before - 2)
            TEST_FAIL("%s: %.2f bits after %.2f", td_order_name(orders[i]), td_gap_bits(graph), before);
        td_graph_destroy(graph);
    }
    td_graph *path = test_graph(test_graph_named("path"), TEST_UNWEIGHTED, NULL);
    CHECK(td_gap_bits(path) == 1); /* all ends differ by one */
    td_graph_destroy(path);
}

static uint64_t kept_in_place(const td_graph *one, const td_graph *other)
{
    uint64_t kept = 0;
    for (uint32_t v = 0; v < one->vertices; v++) kept += td_graph_id(one, v) == td_graph_id(other, v);
    return kept;
}

TEST(random_depends_on_the_seed_alone)
{
    td_pool *pool = NULL;
    int index = test_graph_named("rmat 10");
    CHECK_OK(td_pool_create(&pool, 3));
    td_graph *plain = test_graph(index, TEST_UNWEIGHTED, NULL),
             *seven = reordered(index, TEST_UNWEIGHTED, TD_ORDER_RANDOM, NULL);
    td_graph *again = reordered(index, TEST_UNWEIGHTED, TD_ORDER_RANDOM, pool),
             *eight = test_graph(index, TEST_UNWEIGHTED, pool);
    CHECK_OK(td_graph_reorder(&eight, TD_ORDER_RANDOM, 8, pool));
    CHECK_EQ(kept_in_place(seven, again), plain->vertices);
    CHECK(kept_in_place(plain, seven) < 20);
    CHECK(kept_in_place(eight, seven) < 20);
    td_graph_destroy(plain);
    td_graph_destroy(seven);
    td_graph_destroy(again);
    td_graph_destroy(eight);
    td_pool_destroy(pool);
}

TEST(orders_are_known_by_name)
{
    td_order order = TD_ORDERS;
    for (int i = 0; i < TD_ORDERS; i++) {
        CHECK_OK(td_order_named(td_order_name((td_order)i), &order));
        CHECK_EQ(order, i);
        CHECK(td_order_text((td_order)i)[0] != '\0');
    }
    CHECK_STATUS(td_order_named("Hot", &order), TD_USAGE);
    for (int i = 0; i < TD_ORDERS; i++) CHECK_CONTAINS(td_last_message(), td_order_name((td_order)i));
}

/* Original ids. */

static void check_finds(const td_graph *graph, uint64_t missing)
{
    uint32_t found = 0;
    CHECK(!graph->ids_sorted);
    for (uint32_t v = 0; v < graph->vertices; v++) {
        CHECK_OK(td_graph_find(graph, td_graph_id(graph, v), &found));
        CHECK_EQ(found, v);
    }
    CHECK_STATUS(td_graph_find(graph, missing, &found), TD_NOT_FOUND);
}

TEST(ids_out_of_order_are_found)
{
    td_graph *graph = reordered(test_graph_named("uniform, sparse ids"), TEST_UNWEIGHTED, TD_ORDER_RANDOM, NULL);
    check_finds(graph, 12345);
    td_graph_destroy(graph);
    graph = reordered(test_graph_named("two components"), TEST_UNWEIGHTED, TD_ORDER_HOT, NULL);
    check_finds(graph, 0);
    td_graph_destroy(graph);
}

TEST(a_packed_file_keeps_the_order)
{
    int index = test_graph_named("uniform, sparse ids");
    td_graph *graph = reordered(index, TEST_U8, TD_ORDER_HOT, NULL), *read[2] = {NULL, NULL};
    uint64_t digest, other;
    CHECK_OK(td_graph_digest(graph, NULL, &digest));
    CHECK_OK(td_packed_write(graph, test_path("hot.tg"), NULL));
    CHECK_OK(td_packed_check(test_path("hot.tg"), NULL));
    CHECK_OK(td_packed_load(&read[0], test_path("hot.tg"), NULL));
    CHECK_OK(td_packed_map(&read[1], test_path("hot.tg")));
    for (int i = 0; i < 2; i++) {
        CHECK_OK(td_graph_digest(read[i], NULL, &other));
        CHECK_EQ(other, digest);
        CHECK_EQ(kept_in_place(graph, read[i]), graph->vertices);
        check_finds(read[i], 12345);
    }
    CHECK_OK(td_graph_reorder(&read[1], TD_ORDER_INDEGREE, 1, NULL)); /* out of a mapping */
    graph->name[0] = '\0';
    read[1]->name[0] = '\0'; /* the one is the file's */
    check_same_graph(graph, read[1]);
    td_graph_destroy(graph);
    td_graph_destroy(read[0]);
    td_graph_destroy(read[1]);
}

/* Programs. */

static uint32_t heaviest(const td_graph *graph)
{
    uint32_t best = 0;
    for (uint32_t v = 1; v < graph->vertices; v++)
        if (td_degree(&graph->out, v) > td_degree(&graph->out, best)) best = v;
    return best;
}

static td_run *run_on(const char *program, const td_graph *graph, uint64_t source, td_pool *pool)
{
    td_run *run = NULL;
    td_run_options options = {.pool = pool, .has_source = td_program_named(program)->info->needs_source};
    if (options.has_source) CHECK_OK(td_graph_find(graph, source, &options.source));
    CHECK_OK(td_run_program(&run, td_program_named(program), graph, &options));
    return run;
}

static void check_same_values(const td_run *one, const td_run *other, double tolerance)
{
    for (uint32_t v = 0; v < one->graph->vertices; v++) {
        uint32_t u = 0;
        double mine = 0, theirs = 0;
        CHECK_OK(td_graph_find(other->graph, td_graph_id(one->graph, v), &u));
        CHECK_EQ(td_run_value(other, u, &theirs), td_run_value(one, v, &mine));
        if (!(fabs(mine - theirs) <= tolerance * fabs(mine)))
            TEST_FAIL("%s on %s: vertex %" PRIu64 " has %.17g, not %.17g", one->program->info->name, one->graph->name,
                      td_graph_id(one->graph, v), theirs, mine);
    }
}

/* Labels are vertex numbers and so may differ; that two vertices have the same one may not. */
static void check_same_parts(const td_run *one, const td_run *other)
{
    uint32_t n = one->graph->vertices, *label = NULL, *back = NULL;
    const uint32_t *mine = one->values, *theirs = other->values;
    CHECK_OK(TD_NEW(&label, n, "labels"));
    CHECK_OK(TD_NEW(&back, n, "labels"));
    memset(label, 0xff, n * sizeof *label);
    memset(back, 0xff, n * sizeof *back);
    for (uint32_t v = 0; v < n; v++) {
        uint32_t u = 0;
        CHECK_OK(td_graph_find(other->graph, td_graph_id(one->graph, v), &u));
        if (label[mine[v]] == TD_NO_VERTEX) label[mine[v]] = theirs[u];
        if (back[theirs[u]] == TD_NO_VERTEX) back[theirs[u]] = mine[v];
        CHECK_EQ(label[mine[v]], theirs[u]);
        CHECK_EQ(back[theirs[u]], mine[v]);
    }
    td_free(label);
    td_free(back);
}

static void check_program(const char *program, const td_graph *graph, const td_graph *other, td_pool *pool)
{
    uint64_t source = td_graph_id(graph, heaviest(graph));
    td_run *one = run_on(program, graph, source, pool), *two = run_on(program, other, source, pool);
    td_run_summary mine, theirs;
    CHECK_OK(td_run_summarise(one, pool, &mine));
    CHECK_OK(td_run_summarise(two, pool, &theirs));
    CHECK_EQ(theirs.reached, mine.reached);
    if (one->program->info->vertex_values) check_same_parts(one, two);
    else check_same_values(one, two, one->kind == TD_VALUE_U32 ? 0 : 1e-5);
    if (one->kind == TD_VALUE_U32 && !one->program->info->vertex_values) CHECK_EQ(theirs.digest, mine.digest);
    td_run_destroy(one);
    td_run_destroy(two);
}

TEST(programs_find_the_same_on_a_reordered_graph)
{
    static const char *const names[] = {"grid 30x40", "multigraph, symmetric", "uniform, sparse ids", "web", "rmat 10"};
    static const char *const programs[] = {"bfs", "sssp", "wcc", "pagerank"};
    td_pool *pool = NULL;
    CHECK_OK(td_pool_create(&pool, 2));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int index = test_graph_named(names[i]);
        td_graph *graph = test_graph(index, TEST_U8, pool);
        for (int order = TD_ORDER_HOT; order < TD_ORDERS; order++) {
            td_graph *other = reordered(index, TEST_U8, (td_order)order, pool);
            for (size_t p = 0; p < sizeof programs / sizeof *programs; p++)
                check_program(programs[p], graph, other, pool);
            td_graph_destroy(other);
        }
        td_graph_destroy(graph);
    }
    td_pool_destroy(pool);
}

TEST(every_failing_allocation_is_an_error_without_a_leak)
{
    for (int order = TD_ORDER_HOT; order < TD_ORDERS; order++) {
        uint64_t held = td_memory().now, nth = 1;
        for (;; nth++) {
            td_graph *graph = test_graph(test_graph_named("uniform, sparse ids"), TEST_U8, NULL);
            td_alloc_fail_at(nth);
            td_status status = td_graph_reorder(&graph, (td_order)order, 1, NULL);
            td_alloc_fail_at(0);
            CHECK_EQ(graph == NULL, status != TD_OK);
            td_graph_destroy(graph);
            CHECK_EQ(td_memory().now, held);
            if (status == TD_OK) break;
            CHECK_EQ(status, TD_NO_MEMORY);
        }
        CHECK(nth > 10);
    }
}

TEST_MAIN
