/* Test graphs by name: small ones that are awkward in one way each, and some
 * middling ones with enough vertices for several chunks of work.
 *
 *     for (int i = 0; i < TEST_GRAPHS; i++) {
 *         td_graph *graph = test_graph(i, TEST_U8, pool);  // test_graphs[i].name
 *         ...
 *         td_graph_destroy(graph);
 *     }
 *
 * Weights are drawn per edge, so that parallel edges differ in weight; the
 * first edge has the largest one, so that the kind is what its name says
 * (except in a graph without edges).
 */
#ifndef TD_TEST_GRAPHS_H
#define TD_TEST_GRAPHS_H

#include "base/random.h"
#include "store/builder.h"
#include "test.h"

typedef enum test_weights {
    TEST_UNWEIGHTED,
    TEST_U8,     /* 1 .. 100 */
    TEST_TIES,   /* 0 .. 3, in u8: many ties and paths of length 0 */
    TEST_U16,    /* 1 .. 60,000 */
    TEST_U32,    /* 1 .. 500,000 */
    TEST_F32,    /* 0 < w <= 10 */
    TEST_SIGNED, /* -1 .. 1, in f32 */
    TEST_F64,    /* 0 < w <= 10; every other one close to 5, where floats are too far apart to tell them apart */
    TEST_WEIGHT_KINDS
} test_weights;

static const char *const test_weight_names[] = {"unweighted", "u8", "ties", "u16", "u32", "f32", "signed", "f64"};

/* A graph being drawn. */
typedef struct test_sketch {
    td_edge_list *edges;
    td_edge_chunk *chunk;
    test_weights weights;
    uint64_t seed, drawn; /* random numbers so far */
    uint64_t id_factor, id_base;
} test_sketch;

static inline uint64_t test_draw(test_sketch *sketch, uint64_t bound)
{
    return td_random_below(td_random_at(sketch->seed, sketch->drawn++), bound);
}

static inline void test_put_weight(td_edge_chunk *chunk, test_weights kind)
{
    static const uint32_t largest[] = {[TEST_U8] = 100, [TEST_TIES] = 3, [TEST_U16] = 60000, [TEST_U32] = 500000};
    bool first = chunk->count == 1;
    double unit = first ? 1 : td_random_unit(td_random_at(4711, chunk->count));
    if (kind == TEST_F64)
        td_chunk_weight_double(chunk, chunk->count % 2 == 1 ? 10 * (unit + 0x1p-20) / (1 + 0x1p-20) : 5 + 1e-9 * unit);
    else if (kind == TEST_F32)
        td_chunk_weight_real(chunk, (float)(10 * (unit + 0x1p-20) / (1 + 0x1p-20)));
    else if (kind == TEST_SIGNED)
        td_chunk_weight_real(chunk, (float)(2 * unit - 1));
    else if (kind == TEST_TIES)
        td_chunk_weight_integer(chunk, false, first ? 3 : (uint32_t)(unit * 4));
    else
        td_chunk_weight_integer(chunk, false, first ? largest[kind] : 1 + (uint32_t)(unit * largest[kind]));
}

static inline void test_put(test_sketch *sketch, uint64_t source, uint64_t target)
{
    td_edge_chunk *chunk = sketch->chunk;
    if (chunk->count == chunk->room)
        CHECK_OK(td_chunk_reserve(chunk, chunk->room * 2 + 64, sketch->weights != TEST_UNWEIGHTED));
    CHECK_OK(td_chunk_put(chunk, source * sketch->id_factor + sketch->id_base,
                          target * sketch->id_factor + sketch->id_base));
    if (sketch->weights != TEST_UNWEIGHTED) test_put_weight(chunk, sketch->weights);
}

static inline void test_fill_nothing(test_sketch *sketch) { (void)sketch; }

static inline void test_fill_loop(test_sketch *sketch) { test_put(sketch, 0, 0); }

static inline void test_fill_path(test_sketch *sketch)
{
    for (uint64_t v = 0; v + 1 < sketch->edges->vertices; v++) test_put(sketch, v, v + 1);
}

static inline void test_fill_cycle(test_sketch *sketch)
{
    test_fill_path(sketch);
    test_put(sketch, sketch->edges->vertices - 1, 0);
}

static inline void test_fill_star(test_sketch *sketch)
{
    for (uint64_t v = 1; v < sketch->edges->vertices; v++) test_put(sketch, 0, v);
}

static inline void test_fill_complete(test_sketch *sketch)
{
    uint64_t n = sketch->edges->vertices;
    for (uint64_t u = 0; u < n; u++)
        for (uint64_t v = u + 1; v < n; v++) test_put(sketch, u, v);
}

static inline void test_fill_tree(test_sketch *sketch)
{
    for (uint64_t v = 1; v < sketch->edges->vertices; v++) test_put(sketch, (v - 1) / 2, v);
}

static inline void test_fill_grid(test_sketch *sketch)
{
    enum { WIDTH = 30, HEIGHT = 40 };
    for (uint64_t y = 0; y < HEIGHT; y++)
        for (uint64_t x = 0; x < WIDTH; x++) {
            if (x + 1 < WIDTH) test_put(sketch, y * WIDTH + x, y * WIDTH + x + 1);
            if (y + 1 < HEIGHT) test_put(sketch, y * WIDTH + x, (y + 1) * WIDTH + x);
        }
}

/* A dense ball with a long tail: cores of 11 and of 1. */
static inline void test_fill_lollipop(test_sketch *sketch)
{
    for (uint64_t u = 0; u < 12; u++)
        for (uint64_t v = u + 1; v < 12; v++) test_put(sketch, u, v);
    for (uint64_t v = 11; v + 1 < sketch->edges->vertices; v++) test_put(sketch, v, v + 1);
}

static inline void test_fill_uniform(test_sketch *sketch)
{
    uint64_t n = sketch->edges->vertices;
    for (uint64_t e = 0; e < 4 * n; e++) {
        uint64_t source = test_draw(sketch, n);
        test_put(sketch, source, test_draw(sketch, n));
    }
}

static inline void test_fill_sparse(test_sketch *sketch)
{
    uint64_t n = sketch->edges->vertices;
    for (uint64_t e = 0; e < n / 50; e++) {
        uint64_t source = test_draw(sketch, n);
        test_put(sketch, source, test_draw(sketch, n));
    }
}

static inline void test_fill_two_components(test_sketch *sketch)
{
    uint64_t half = sketch->edges->vertices / 2;
    for (uint64_t e = 0; e < 6 * half; e++) {
        uint64_t side = half * (e % 2), source = test_draw(sketch, half);
        test_put(sketch, side + source, side + test_draw(sketch, half));
    }
}

/* Every edge several times, every third vertex with loops. */
static inline void test_fill_multigraph(test_sketch *sketch)
{
    uint64_t n = sketch->edges->vertices;
    for (uint64_t e = 0; e < 3 * n; e++) {
        uint64_t source = test_draw(sketch, n), target = test_draw(sketch, n);
        for (uint64_t copies = 1 + test_draw(sketch, 4); copies > 0; copies--) test_put(sketch, source, target);
    }
    for (uint64_t v = 0; v < n; v += 3)
        for (uint64_t copies = 1 + test_draw(sketch, 2); copies > 0; copies--) test_put(sketch, v, v);
}

/* Graph500's skew: .57 .19 .19 .05; 8,192 edges. */
static inline void test_fill_rmat(test_sketch *sketch)
{
    uint64_t n = sketch->edges->vertices;
    for (uint64_t e = 0; e < 8192; e++) {
        uint64_t source = 0, target = 0;
        for (uint64_t bit = n / 2; bit > 0; bit /= 2) {
            uint64_t corner = test_draw(sketch, 100);
            if (corner >= 76) source |= bit;
            if ((corner >= 57 && corner < 76) || corner >= 95) target |= bit;
        }
        test_put(sketch, source, target);
    }
}

/* A few hubs that everybody points at, or is pointed at by. */
static inline void test_fill_heavy_stars(test_sketch *sketch)
{
    uint64_t n = sketch->edges->vertices;
    for (uint64_t v = 4; v < n; v++) {
        test_put(sketch, v % 4, v);
        if (v % 2 == 0) test_put(sketch, v, v / 2 % 4);
        if (v % 5 == 0) test_put(sketch, v, 4 + test_draw(sketch, n - 4));
    }
}

/* Pages copy links from an earlier page or link to their neighbours. */
static inline void test_fill_web(test_sketch *sketch)
{
    uint64_t n = sketch->edges->vertices;
    for (uint64_t v = 1; v < n; v++)
        for (uint64_t links = test_draw(sketch, 10); links > 0; links--) {
            uint64_t near = v < 20 ? test_draw(sketch, v) : v - 1 - test_draw(sketch, 20);
            bool copy = sketch->chunk->count > 0 && test_draw(sketch, 3) > 0;
            test_put(sketch, v, copy ? sketch->chunk->ends[2 * test_draw(sketch, sketch->chunk->count) + 1] : near);
        }
}

static inline void test_fill_layers(test_sketch *sketch)
{
    enum { WIDE = 16 };
    for (uint64_t v = WIDE; v < sketch->edges->vertices; v++)
        for (uint64_t u = v / WIDE * WIDE - WIDE; u < v / WIDE * WIDE; u++) test_put(sketch, u, v);
}

static inline void test_fill_dag(test_sketch *sketch)
{
    uint64_t n = sketch->edges->vertices;
    for (uint64_t e = 0; e < 5 * n; e++) {
        uint64_t source = test_draw(sketch, n - 1);
        test_put(sketch, source, source + 1 + test_draw(sketch, n - 1 - source));
    }
}

static inline void test_fill_small_world(test_sketch *sketch)
{
    uint64_t n = sketch->edges->vertices;
    for (uint64_t v = 0; v < n; v++)
        for (uint64_t k = 1; k <= 3; k++)
            test_put(sketch, v, test_draw(sketch, 10) == 0 ? test_draw(sketch, n) : (v + k) % n);
}

typedef struct test_graph_kind {
    const char *name;
    void (*fill)(test_sketch *sketch);
    uint64_t vertices;
    td_build_options build;
    uint64_t id_base, id_factor; /* a factor: only vertices with edges exist, and have large sparse ids */
} test_graph_kind;

#define TEST_SYMMETRIC {.symmetrize = true}
#define TEST_CLEAN {.symmetrize = true, .dedup = true, .drop_loops = true}

static const test_graph_kind test_graphs[] = {
    {"empty", test_fill_nothing, 0, {0}, 0, 0},
    {"single vertex", test_fill_nothing, 1, {0}, 5, 0},
    {"single loop", test_fill_loop, 1, {0}, 0, 0},
    {"isolated", test_fill_nothing, 50, {0}, 1, 0},
    {"mostly isolated", test_fill_sparse, 1000, {0}, 1, 0},
    {"one edge", test_fill_path, 2, {0}, 0, 0},
    {"path", test_fill_path, 200, TEST_SYMMETRIC, 1, 0},
    {"directed path", test_fill_path, 100, {0}, 0, 0},
    {"directed cycle", test_fill_cycle, 97, {0}, 0, 0},
    {"star", test_fill_star, 301, TEST_SYMMETRIC, 0, 0},
    {"directed star", test_fill_star, 65, {0}, 1, 0},
    {"heavy stars", test_fill_heavy_stars, 2004, {0}, 0, 0},
    {"tree", test_fill_tree, 127, {0}, 0, 0},
    {"grid 30x40", test_fill_grid, 1200, TEST_SYMMETRIC, 0, 0},
    {"complete 20", test_fill_complete, 20, TEST_SYMMETRIC, 0, 0},
    {"tournament 20", test_fill_complete, 20, {0}, 0, 0},
    {"lollipop", test_fill_lollipop, 40, TEST_SYMMETRIC, 0, 0},
    {"two components", test_fill_two_components, 80, {0}, 1, 0},
    {"two components, symmetric", test_fill_two_components, 80, TEST_SYMMETRIC, 1, 0},
    {"multigraph", test_fill_multigraph, 60, {0}, 0, 0},
    {"multigraph, symmetric", test_fill_multigraph, 60, TEST_SYMMETRIC, 0, 0},
    {"uniform", test_fill_uniform, 500, {0}, 0, 0},
    {"uniform, sparse ids", test_fill_uniform, 300, {0}, 1000000007, 99999999977},
    {"small world", test_fill_small_world, 400, TEST_CLEAN, 0, 0},
    {"layered", test_fill_layers, 80, {0}, 0, 0},
    {"dag", test_fill_dag, 250, {0}, 0, 0},
    {"web", test_fill_web, 1500, {0}, 0, 0},
    {"rmat 10", test_fill_rmat, 1024, {0}, 0, 0},
    {"rmat 10, clean", test_fill_rmat, 1024, TEST_CLEAN, 0, 0},
    {"rmat 14", test_fill_rmat, 16384, {0}, 0, 0},
    {"rmat 14, clean", test_fill_rmat, 16384, TEST_CLEAN, 0, 0},
};

enum { TEST_GRAPHS = sizeof test_graphs / sizeof *test_graphs };

static inline int test_graph_named(const char *name)
{
    for (int i = 0; i < TEST_GRAPHS; i++)
        if (strcmp(test_graphs[i].name, name) == 0) return i;
    TEST_FAIL("no test graph is called '%s'", name);
}

static inline td_graph *test_graph(int index, test_weights weights, td_pool *pool)
{
    const test_graph_kind *kind = &test_graphs[index];
    td_graph *graph = NULL;
    test_sketch sketch = {.weights = weights, .seed = (uint64_t)index + 1, .id_factor = 1};
    CHECK_OK(td_edges_create(&sketch.edges, kind->name));
    if (weights == TEST_F64) CHECK_OK(td_edges_use_doubles(sketch.edges));
    CHECK_OK(td_edges_chunk(sketch.edges, 0, &sketch.chunk));
    sketch.edges->weighted = weights != TEST_UNWEIGHTED;
    sketch.edges->vertices = kind->vertices;
    sketch.edges->declared = kind->id_factor == 0;
    if (sketch.edges->declared) {
        sketch.edges->id_base = kind->id_base;
    } else {
        sketch.id_base = kind->id_base;
        sketch.id_factor = kind->id_factor;
    }
    CHECK_OK(td_chunk_reserve(sketch.chunk, 64, sketch.edges->weighted));
    kind->fill(&sketch);
    CHECK_OK(td_graph_build(&graph, sketch.edges, &kind->build, pool));
    td_edges_destroy(sketch.edges);
    return graph;
}

/* A graph from a list of vertex numbers, with integer weights (or NULL); original ids start at 100. */
static inline td_graph *test_graph_of(uint64_t vertices, const uint32_t (*ends)[2], const uint32_t *weights,
                                      uint64_t count, bool symmetrize)
{
    td_graph *graph = NULL;
    td_edge_list *edges = NULL;
    td_edge_chunk *chunk = NULL;
    CHECK_OK(td_edges_create(&edges, "test graph"));
    CHECK_OK(td_edges_chunk(edges, 0, &chunk));
    edges->declared = true;
    edges->vertices = vertices;
    edges->id_base = 100;
    edges->weighted = weights != NULL;
    CHECK_OK(td_chunk_reserve(chunk, count + 1, edges->weighted));
    for (uint64_t e = 0; e < count; e++) {
        CHECK_OK(td_chunk_put(chunk, ends[e][0], ends[e][1]));
        if (weights != NULL) td_chunk_weight_integer(chunk, false, weights[e]);
    }
    CHECK_OK(td_graph_build(&graph, edges, &(td_build_options){.symmetrize = symmetrize}, NULL));
    td_edges_destroy(edges);
    return graph;
}

#endif
