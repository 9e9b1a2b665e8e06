#include "test.h"

#include "base/cancel.h"
#include "store/gen.h"
#include "store/shuffle.h"

#include <math.h>

static const td_build_options as_drawn;

static td_graph *generate(const td_gen_spec *spec, const td_build_options *build, int threads)
{
    td_pool *pool = NULL;
    td_graph *graph = NULL;
    CHECK_OK(td_pool_create(&pool, threads));
    td_status status = td_graph_generate(&graph, spec, build, pool);
    td_pool_destroy(pool);
    CHECK_OK(status);
    return graph;
}

static uint64_t digest_of(const td_gen_spec *spec, const td_build_options *build, int threads)
{
    td_graph *graph = generate(spec, build, threads);
    uint64_t digest = 0;
    CHECK_OK(td_graph_digest(graph, NULL, &digest));
    td_graph_destroy(graph);
    return digest;
}

static bool has_edge(const td_graph *graph, uint32_t source, uint32_t target)
{
    for (uint64_t e = graph->out.offsets[source]; e < graph->out.offsets[source + 1]; e++)
        if (graph->out.targets[e] == target) return true;
    return false;
}

static uint64_t most(const td_adjacency *adjacency, uint32_t vertices)
{
    uint64_t largest = 0;
    for (uint32_t v = 0; v < vertices; v++)
        if (td_degree(adjacency, v) > largest) largest = td_degree(adjacency, v);
    return largest;
}

/* Every kind, large enough for several chunks. Edges as stored; 0: only about known. */
static const struct {
    td_gen_spec spec;
    uint64_t vertices, edges;
} kinds[] = {
    {{.kind = "rmat", .scale = 13, .degree = 40}, 8192, 327680},
    {{.kind = "uniform", .vertices = 10000, .degree = 30.55}, 10000, 305500},
    {{.kind = "grid", .width = 700, .height = 300}, 210000, 2 * (699 * 300 + 700 * 299)},
    {{.kind = "web", .vertices = 30000, .hosts = 100}, 30000, 0},
    {{.kind = "smallworld", .vertices = 50000, .degree = 12, .rewire = .2}, 50000, 600000},
    {{.kind = "path", .vertices = 300000}, 300000, 299999},
    {{.kind = "star", .vertices = 300000}, 300000, 299999},
    {{.kind = "tree", .vertices = 300000, .arity = 3}, 300000, 299999},
    {{.kind = "complete", .vertices = 800}, 800, 800 * 799},
    {{.kind = "layered", .layers = 4, .width = 300}, 1200, 270000},
    {{.kind = "layered", .layers = 10, .width = 1000, .degree = 30}, 10000, 270000},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

TEST(counts_are_as_asked_for)
{
    for (int i = 0; i < KINDS; i++) {
        td_gen_size size;
        CHECK_OK(td_gen_check(&kinds[i].spec, &size));
        CHECK_EQ(size.vertices, kinds[i].vertices);
        td_graph *graph = generate(&kinds[i].spec, &as_drawn, 2);
        CHECK_OK(td_graph_check(graph, NULL));
        CHECK_EQ(graph->vertices, kinds[i].vertices);
        if (kinds[i].edges != 0) CHECK_EQ(graph->edges, kinds[i].edges);
        else CHECK(fabs((double)graph->edges / (double)size.edges - 1) < 0.1);
        CHECK(graph->ids == NULL);
        CHECK_EQ(graph->id_base, 0);
        td_graph_destroy(graph);
    }
}

TEST(the_graph_is_the_same_for_any_number_of_threads)
{
    for (int i = 0; i < KINDS; i++) {
        td_gen_spec spec = kinds[i].spec;
        spec.seed = 7;
        spec.shuffle = i % 2 == 0;
        uint64_t wanted = digest_of(&spec, &as_drawn, 1);
        CHECK(digest_of(&spec, &as_drawn, 2) == wanted);
        CHECK(digest_of(&spec, &as_drawn, 8) == wanted);
    }
}

TEST(another_seed_draws_another_graph)
{
    static const td_gen_spec specs[] = {{.kind = "rmat", .scale = 8},        {.kind = "uniform", .scale = 8},
                                        {.kind = "grid", .width = 20},       {.kind = "web", .scale = 8},
                                        {.kind = "smallworld", .scale = 8, .rewire = -1},
                                        {.kind = "layered", .layers = 3, .width = 20},
                                        {.kind = "path", .scale = 8},        {.kind = "star", .scale = 8},
                                        {.kind = "tree", .scale = 8},        {.kind = "complete", .scale = 8}};
    for (int i = 0; i < 10; i++) {
        td_gen_spec one = specs[i], other = specs[i];
        one.seed = 1;
        other.seed = 2;
        CHECK_EQ(digest_of(&one, &as_drawn, 1) == digest_of(&other, &as_drawn, 1), i >= 6); /* nothing is drawn */
        one.shuffle = other.shuffle = true;
        CHECK_EQ(digest_of(&one, &as_drawn, 1) == digest_of(&other, &as_drawn, 1), i >= 9);
    }
}

/* An edge depends on its number, not on how many there are or where a chunk begins. */
TEST(a_longer_list_begins_with_the_shorter_one)
{
    static const char *const drawn[] = {"rmat", "uniform"};
    for (int i = 0; i < 2; i++) {
        td_edge_list *lists[2] = {NULL};
        for (int k = 0; k < 2; k++) {
            td_gen_spec spec = {.kind = drawn[i], .scale = 14, .degree = k == 0 ? 17 : 40};
            CHECK_OK(td_edges_create(&lists[k], NULL));
            CHECK_OK(td_generator_named(drawn[i])->fill(&spec, lists[k], NULL));
        }
        for (uint64_t c = 0; c < lists[0]->chunk_count; c++) {
            const td_edge_chunk *a = lists[0]->chunks[c], *b = lists[1]->chunks[c];
            CHECK(a->count <= b->count);
            CHECK(memcmp(a->ends, b->ends, 2 * a->count * sizeof *a->ends) == 0);
        }
        td_edges_destroy(lists[0]);
        td_edges_destroy(lists[1]);
    }
}

/* How often each quadrant was chosen at one level (0: the highest), within four
 * standard deviations. */
static void check_level(const td_graph *graph, int bit, const double quadrant[4])
{
    double count[4] = {0}, edges = (double)graph->edges;
    for (uint32_t v = 0; v < graph->vertices; v++)
        for (uint64_t e = graph->out.offsets[v]; e < graph->out.offsets[v + 1]; e++)
            count[(v >> bit & 1) << 1 | (graph->out.targets[e] >> bit & 1)]++;
    for (int q = 0; q < 4; q++)
        if (fabs(count[q] - edges * quadrant[q]) > 4 * sqrt(edges * quadrant[q] * (1 - quadrant[q])))
            TEST_FAIL("quadrant %d at bit %d has %.4f of the edges, not %.4f", q, bit, count[q] / edges, quadrant[q]);
}

TEST(rmat_chooses_quadrants_with_its_probabilities_at_every_level)
{
    static const struct {
        double a, b, c, quadrant[4];
    } cases[] = {{0, 0, 0, {.57, .19, .19, .05}}, {.4, .3, .2, {.4, .3, .2, .1}},
                 {.25, .25, .25, {.25, .25, .25, .25}}};
    for (int i = 0; i < 3; i++)
        for (uint64_t scale = 1; scale <= 14; scale += scale % 6 == 2 ? 3 : 1) {
            td_gen_spec spec = {.kind = "rmat", .scale = scale, .degree = ldexp(1, 16 - (int)scale), .seed = scale,
                                .a = cases[i].a, .b = cases[i].b, .c = cases[i].c};
            td_graph *graph = generate(&spec, &as_drawn, 1);
            for (int bit = 0; bit < (int)scale; bit++) check_level(graph, bit, cases[i].quadrant);
            td_graph_destroy(graph);
        }
}

TEST(rmat_draws_its_levels_independently)
{
    td_gen_spec spec = {.kind = "rmat", .scale = 13, .degree = 16};
    td_graph *graph = generate(&spec, &as_drawn, 2);
    double both[12] = {0}, edges = (double)graph->edges, wanted = .57 * .57;
    for (uint32_t v = 0; v < graph->vertices; v++)
        for (uint64_t e = graph->out.offsets[v]; e < graph->out.offsets[v + 1]; e++)
            for (int bit = 0; bit < 12; bit++) both[bit] += ((v | graph->out.targets[e]) >> bit & 3) == 0;
    double deviation = sqrt(edges * wanted * (1 - wanted));
    for (int bit = 0; bit < 12; bit++) CHECK(fabs(both[bit] - edges * wanted) < 4 * deviation);
    td_graph_destroy(graph);
}

TEST(rmat_is_skewed_and_uniform_is_not)
{
    td_gen_spec skewed = {.kind = "rmat", .scale = 16}, even = {.kind = "uniform", .scale = 16};
    td_graph *rmat = generate(&skewed, &as_drawn, 2), *uniform = generate(&even, &as_drawn, 2);
    CHECK(most(&rmat->out, rmat->vertices) > 1000);
    CHECK(most(&rmat->in, rmat->vertices) > 1000);
    CHECK(most(&uniform->out, uniform->vertices) < 50);
    CHECK(most(&uniform->in, uniform->vertices) < 50);
    uint64_t lonely = 0;
    for (uint32_t v = 0; v < rmat->vertices; v++) lonely += td_degree(&rmat->out, v) + td_degree(&rmat->in, v) == 0;
    CHECK(lonely > rmat->vertices / 5 && lonely < rmat->vertices / 2);
    td_graph_destroy(rmat);
    td_graph_destroy(uniform);
}

TEST(a_grid_has_its_neighbours_and_nothing_else)
{
    td_gen_spec spec = {.kind = "grid", .width = 31, .height = 17};
    td_graph *graph = generate(&spec, &as_drawn, 2);
    CHECK(graph->symmetric);
    CHECK_EQ(graph->weights, TD_WEIGHT_U8);
    for (uint32_t y = 0; y < 17; y++)
        for (uint32_t x = 0; x < 31; x++) {
            uint32_t v = y * 31 + x, degree = (x > 0) + (x < 30) + (y > 0) + (y < 16);
            if (x > 0) CHECK(has_edge(graph, v, v - 1));
            if (x < 30) CHECK(has_edge(graph, v, v + 1));
            if (y > 0) CHECK(has_edge(graph, v, v - 31));
            if (y < 16) CHECK(has_edge(graph, v, v + 31));
            CHECK_EQ(td_degree(&graph->out, v), degree);
        }
    td_graph_destroy(graph);
}

TEST(roads_of_a_grid_vary_in_length)
{
    td_gen_spec spec = {.kind = "grid", .width = 200};
    td_graph *graph = generate(&spec, &as_drawn, 2);
    double sum = 0;
    for (uint64_t e = 0; e < graph->edges; e++) sum += td_weight_at(graph, &graph->out, e);
    CHECK(graph->weight_min >= 20 && graph->weight_min < 40);
    CHECK(graph->weight_max > 170 && graph->weight_max <= 197);
    CHECK(fabs(sum / (double)graph->edges - 105) < 5);
    td_graph_destroy(graph);
}

TEST(thin_grids_are_paths)
{
    for (int i = 0; i < 2; i++) {
        td_gen_spec spec = {.kind = "grid", .width = i == 0 ? 1 : 500, .height = i == 0 ? 500 : 1};
        td_graph *graph = generate(&spec, &as_drawn, 1);
        CHECK_EQ(graph->edges, 998);
        for (uint32_t v = 0; v + 1 < 500; v++) CHECK(has_edge(graph, v, v + 1) && has_edge(graph, v + 1, v));
        td_graph_destroy(graph);
    }
}

/* Levels of a breadth-first search from the vertex with the most edges. */
static uint32_t search_levels(const td_graph *graph, uint32_t *reached)
{
    uint32_t *queue = NULL, *level = NULL, from = 0, head = 0, tail = 0;
    CHECK_OK(TD_NEW(&queue, graph->vertices, "queue"));
    CHECK_OK(TD_NEW_ZEROED(&level, graph->vertices, "levels"));
    for (uint32_t v = 0; v < graph->vertices; v++)
        if (td_degree(&graph->out, v) > td_degree(&graph->out, from)) from = v;
    queue[tail++] = from;
    level[from] = 1;
    while (head < tail) {
        uint32_t v = queue[head++];
        for (uint64_t e = graph->out.offsets[v]; e < graph->out.offsets[v + 1]; e++) {
            uint32_t target = graph->out.targets[e];
            if (level[target] != 0) continue;
            level[target] = level[v] + 1;
            queue[tail++] = target;
        }
    }
    uint32_t levels = level[queue[tail - 1]];
    *reached = tail;
    td_free(queue);
    td_free(level);
    return levels;
}

TEST(a_web_has_locality_hubs_sinks_and_long_tails)
{
    td_gen_spec spec = {.kind = "web", .scale = 17};
    td_graph *graph = generate(&spec, &as_drawn, 2);
    uint64_t near = 0, sinks = 0, few = 0;
    for (uint32_t v = 0; v < graph->vertices; v++) {
        for (uint64_t e = graph->out.offsets[v]; e < graph->out.offsets[v + 1]; e++)
            near += labs((long)graph->out.targets[e] - (long)v) < 1000;
        sinks += td_degree(&graph->out, v) == 0;
        few += td_degree(&graph->in, v) <= 4;
    }
    double mean = (double)graph->edges / graph->vertices;
    CHECK(mean > 13 && mean < 17);
    CHECK((double)near / (double)graph->edges > 0.6);
    CHECK((double)sinks / graph->vertices > 0.08 && (double)sinks / graph->vertices < 0.16);
    CHECK((double)few / graph->vertices > 0.25);
    CHECK((double)most(&graph->in, graph->vertices) > 200 * mean);
    CHECK((double)most(&graph->out, graph->vertices) > 20 * mean);
    uint32_t reached = 0, levels = search_levels(graph, &reached);
    CHECK(reached > graph->vertices / 2);
    CHECK(levels > 64 && levels < 1000);
    td_graph_destroy(graph);
}

/* In-degrees of a power law: each doubling leaves a share of the pages, far into the tail. */
TEST(in_degrees_of_a_web_fall_as_a_power)
{
    td_gen_spec spec = {.kind = "web", .scale = 17};
    td_graph *graph = generate(&spec, &as_drawn, 2);
    uint64_t above[12] = {0};
    for (uint32_t v = 0; v < graph->vertices; v++)
        for (int k = 4; k < 12; k++) above[k] += td_degree(&graph->in, v) >= UINT64_C(1) << k;
    for (int k = 5; k < 12; k++) CHECK(above[k] > 0 && above[k - 1] < 8 * above[k] && above[k - 1] > above[k]);
    td_graph_destroy(graph);
}

TEST(pages_of_a_web_copy_from_those_before_them)
{
    td_gen_spec spec = {.kind = "web", .vertices = 20000, .degree = 10};
    td_graph *graph = generate(&spec, &as_drawn, 2);
    uint64_t links = 0, copied = 0;
    for (uint32_t v = 16; v < graph->vertices; v++)
        for (uint64_t e = graph->out.offsets[v]; e < graph->out.offsets[v + 1]; e++) {
            bool found = false;
            for (uint32_t before = 1; before <= 16 && !found; before++)
                found = has_edge(graph, v - before, graph->out.targets[e]);
            links++;
            copied += found;
        }
    CHECK((double)copied / (double)links > 0.4);
    td_graph_destroy(graph);
}

TEST(a_web_of_one_host_or_of_a_host_per_page_is_a_graph_too)
{
    static const td_gen_spec specs[] = {{.kind = "web", .vertices = 1000, .hosts = 1},
                                        {.kind = "web", .vertices = 1000, .hosts = 1000},
                                        {.kind = "web", .vertices = 1},
                                        {.kind = "web", .vertices = 2, .hosts = 2},
                                        {.kind = "web", .vertices = 3000, .degree = 0.2},
                                        {.kind = "web", .vertices = 300, .degree = 500}};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        td_graph *graph = generate(&specs[i], &as_drawn, 2);
        CHECK_EQ(graph->vertices, specs[i].vertices);
        td_graph_destroy(graph);
    }
}

TEST(a_small_world_without_rewiring_is_a_ring)
{
    td_gen_spec spec = {.kind = "smallworld", .vertices = 101, .degree = 6, .rewire = 0};
    td_graph *graph = generate(&spec, &as_drawn, 2);
    CHECK(graph->symmetric);
    for (uint32_t v = 0; v < 101; v++) {
        CHECK_EQ(td_degree(&graph->out, v), 6);
        for (uint32_t step = 1; step <= 3; step++) {
            CHECK(has_edge(graph, v, (v + step) % 101));
            CHECK(has_edge(graph, v, (v + 101 - step) % 101));
        }
    }
    td_graph_destroy(graph);
}

TEST(rewiring_moves_the_share_asked_for)
{
    static const double asked[] = {-1, 0.3, 1}, wanted[] = {0.1, 0.3, 1};
    for (int i = 0; i < 3; i++) {
        td_gen_spec spec = {.kind = "smallworld", .vertices = 20000, .rewire = asked[i]};
        td_graph *graph = generate(&spec, &as_drawn, 2);
        uint64_t moved = 0;
        for (uint32_t v = 0; v < graph->vertices; v++)
            for (uint64_t e = graph->out.offsets[v]; e < graph->out.offsets[v + 1]; e++) {
                uint32_t apart = (graph->out.targets[e] - v + graph->vertices) % graph->vertices;
                CHECK(apart != 0);
                moved += apart > 4 && apart < graph->vertices - 4;
            }
        CHECK_EQ(graph->edges, 160000);
        CHECK(fabs((double)moved / (double)graph->edges - wanted[i]) < 0.01);
        CHECK(most(&graph->out, graph->vertices) < 30);
        td_graph_destroy(graph);
    }
}

TEST(paths_stars_and_trees_are_exact)
{
    td_gen_spec specs[] = {{.kind = "path", .vertices = 1000}, {.kind = "star", .vertices = 1000},
                           {.kind = "tree", .vertices = 1000}, {.kind = "tree", .vertices = 1000, .arity = 7},
                           {.kind = "tree", .vertices = 1000, .arity = 1}};
    for (int i = 0; i < 5; i++) {
        td_graph *graph = generate(&specs[i], &as_drawn, 2);
        CHECK_EQ(graph->edges, 999);
        CHECK_EQ(td_degree(&graph->in, 0), 0);
        uint32_t arity = i == 2 ? 2 : i == 3 ? 7 : 1;
        for (uint32_t v = 1; v < 1000; v++) {
            CHECK_EQ(td_degree(&graph->in, v), 1);
            CHECK_EQ(graph->in.targets[graph->in.offsets[v]], i == 1 ? 0 : (v - 1) / arity);
        }
        td_graph_destroy(graph);
    }
}

TEST(a_complete_graph_has_every_pair)
{
    for (uint64_t vertices = 1; vertices <= 1000; vertices += vertices < 10 ? 1 : 495) {
        td_gen_spec spec = {.kind = "complete", .vertices = vertices};
        td_graph *graph = generate(&spec, &as_drawn, 2);
        CHECK_EQ(graph->edges, vertices * (vertices - 1));
        CHECK(graph->symmetric);
        for (uint32_t v = 0; v < graph->vertices; v++)
            for (uint32_t i = 0; i + 1 < graph->vertices; i++)
                CHECK_EQ(graph->out.targets[graph->out.offsets[v] + i], i < v ? i : i + 1);
        td_graph_destroy(graph);
    }
}

TEST(a_layered_network_joins_each_layer_to_the_next)
{
    for (uint64_t degree = 0; degree <= 30; degree += 10) { /* 0: all */
        td_gen_spec spec = {.kind = "layered", .layers = 5, .width = 30, .degree = (double)degree};
        td_graph *graph = generate(&spec, &as_drawn, 2);
        CHECK_EQ(graph->weights, TD_WEIGHT_F32);
        CHECK(graph->weight_min >= -1 && graph->weight_min < -0.9);
        CHECK(graph->weight_max <= 1 && graph->weight_max > 0.9);
        for (uint32_t v = 0; v < 150; v++) {
            CHECK_EQ(td_degree(&graph->out, v), v >= 120 ? 0 : degree == 0 ? 30 : degree);
            for (uint64_t e = graph->out.offsets[v]; e < graph->out.offsets[v + 1]; e++) {
                CHECK_EQ(graph->out.targets[e] / 30, v / 30 + 1);
                if (e > graph->out.offsets[v]) CHECK(graph->out.targets[e] > graph->out.targets[e - 1]);
            }
        }
        td_graph_destroy(graph);
    }
}

TEST(a_shuffle_is_a_bijection)
{
    static const uint32_t counts[] = {1, 2, 3, 4, 5, 7, 8, 9, 100, 1000, 1024, 1025, 65536, 65537, 300007};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (uint64_t seed = 0; seed < 3; seed++) {
            td_shuffle shuffle = td_shuffle_of(seed, counts[i]);
            bool *met = NULL;
            CHECK_OK(TD_NEW_ZEROED(&met, counts[i], "marks"));
            for (uint32_t x = 0; x < counts[i]; x++) {
                uint32_t y = td_shuffle_at(&shuffle, x);
                CHECK(y < counts[i] && !met[y]);
                met[y] = true;
            }
            td_free(met);
        }
    td_shuffle whole = td_shuffle_of(1, (uint32_t)TD_MAX_VERTICES);
    for (uint32_t x = 0; x < 1000; x++) CHECK(td_shuffle_at(&whole, UINT32_MAX - 2 - x) < TD_MAX_VERTICES);
}

/* Two random numbers below n are n/3 apart on average and agree never. */
TEST(a_shuffle_tears_neighbours_apart)
{
    static const uint32_t counts[] = {1 << 20, 900000};
    for (int i = 0; i < 2; i++)
        for (uint32_t stride = 1; stride <= 4096; stride *= 4) {
            td_shuffle shuffle = td_shuffle_of(3, counts[i]);
            double apart = 0, fixed = 0, ascending = 0;
            enum { PAIRS = 100000 };
            for (uint32_t x = 0; x < PAIRS; x++) {
                double a = td_shuffle_at(&shuffle, x), b = td_shuffle_at(&shuffle, x + stride);
                apart += fabs(a - b);
                fixed += a == x;
                ascending += a < b;
            }
            CHECK(fabs(apart / PAIRS / counts[i] - 1.0 / 3) < 0.02);
            CHECK(fabs(ascending / PAIRS - 0.5) < 0.02);
            CHECK(fixed < 10);
        }
}

TEST(shuffling_renames_vertices_and_keeps_the_shape)
{
    td_gen_spec spec = {.kind = "grid", .width = 50, .height = 40, .shuffle = true, .seed = 5};
    td_graph *graph = generate(&spec, &as_drawn, 2);
    uint64_t degrees[5] = {0}, near = 0;
    uint32_t reached = 0;
    for (uint32_t v = 0; v < graph->vertices; v++) {
        degrees[td_degree(&graph->out, v)]++;
        near += v + 1 < graph->vertices && has_edge(graph, v, v + 1);
    }
    CHECK_EQ(degrees[2], 4);
    CHECK_EQ(degrees[3], 2 * (48 + 38));
    CHECK_EQ(degrees[4], 48 * 38);
    CHECK(near < 30);
    search_levels(graph, &reached);
    CHECK_EQ(reached, 2000);
    td_graph_destroy(graph);
}

TEST(names_of_benchmark_graphs_are_understood)
{
    static const struct {
        const char *name, *kind;
        uint64_t scale, width;
    } named[] = {{"k23", "rmat", 23, 0}, {"k25", "rmat", 25, 0}, {"u23", "uniform", 23, 0},
                 {"grid3000", "grid", 0, 3000}, {"k5", "rmat", 5, 0}, {"grid1", "grid", 0, 1}};
    td_gen_spec spec;
    td_build_options build;
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        CHECK(td_gen_named(named[i].name, &spec, &build));
        CHECK_STR(spec.kind, named[i].kind);
        CHECK_EQ(spec.scale, named[i].scale);
        CHECK_EQ(spec.width, named[i].width);
        CHECK(spec.shuffle);
        CHECK(build.symmetrize && build.dedup && build.drop_loops && build.attach_weights && !build.weight_real);
        CHECK(build.weight_low == 1 && build.weight_high == 100);
        CHECK_OK(td_gen_check(&spec, NULL));
    }
    static const char *const others[] = {"", "k", "k0", "k-3", "kx", "k23x", "K23", "u", "u+1", "grid", "grid0",
                                         "gridx", "grid30x30", "web", "k12345678901234567890", "rmat", "k 3"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (td_gen_named(others[i], &spec, &build)) TEST_FAIL("'%s' is taken as a name", others[i]);
    CHECK(td_gen_named("k40", &spec, &build));
    CHECK_STATUS(td_gen_check(&spec, NULL), TD_LIMIT);
}

/* Symmetric with equal weights 1..100 both ways, no loops, no parallel edges. */
static void check_clean(const td_graph *graph)
{
    CHECK(graph->symmetric);
    CHECK_EQ(graph->weights, TD_WEIGHT_U8);
    CHECK(graph->weight_min >= 1 && graph->weight_max <= 100);
    for (uint32_t v = 0; v < graph->vertices; v++)
        for (uint64_t e = graph->out.offsets[v]; e < graph->out.offsets[v + 1]; e++) {
            CHECK(graph->out.targets[e] != v);
            if (e > graph->out.offsets[v]) CHECK(graph->out.targets[e] > graph->out.targets[e - 1]);
        }
}

TEST(named_graphs_are_clean)
{
    static const struct {
        const char *name;
        uint64_t least, most;
    } named[] = {{"k13", 180000, 225000}, {"u13", 258000, 262144}, {"grid200", 4 * 200 * 199, 4 * 200 * 199}};
    for (int i = 0; i < 3; i++) {
        td_gen_spec spec;
        td_build_options build;
        CHECK(td_gen_named(named[i].name, &spec, &build));
        td_graph *graph = generate(&spec, &build, 2);
        check_clean(graph);
        CHECK(graph->edges >= named[i].least && graph->edges <= named[i].most);
        td_graph_destroy(graph);
        CHECK(digest_of(&spec, &build, 1) == digest_of(&spec, &build, 8));
    }
}

TEST(what_cannot_be_generated_is_refused_by_name)
{
    static const struct {
        td_gen_spec spec;
        td_status status;
        const char *says;
    } bad[] = {
        {{.kind = "mesh", .scale = 3}, TD_USAGE, "no generator 'mesh'; there are rmat, uniform"},
        {{.kind = "grid", .scale = 3, .width = 3}, TD_USAGE, "grid has no scale; it takes width height"},
        {{.kind = "rmat", .vertices = 100}, TD_USAGE, "rmat has no vertices"},
        {{.kind = "rmat", .scale = 5, .rewire = .5}, TD_USAGE, "rmat has no rewire"},
        {{.kind = "path", .scale = 5, .degree = 3}, TD_USAGE, "path has no degree"},
        {{.kind = "uniform", .scale = 5, .a = .5}, TD_USAGE, "uniform has no a"},
        {{.kind = "star", .scale = 5, .arity = 3}, TD_USAGE, "star has no arity"},
        {{.kind = "tree", .scale = 5, .hosts = 3}, TD_USAGE, "tree has no hosts"},
        {{.kind = "web", .scale = 5, .layers = 3}, TD_USAGE, "web has no layers"},
        {{.kind = "layered", .width = 5, .layers = 3, .height = 4}, TD_USAGE, "layered has no height"},
        {{.kind = "uniform", .scale = 5, .vertices = 32}, TD_USAGE, "scale and vertices exclude each other"},
        {{.kind = "rmat"}, TD_USAGE, "scale"},
        {{.kind = "uniform"}, TD_USAGE, "vertices"},
        {{.kind = "grid"}, TD_USAGE, "width"},
        {{.kind = "grid", .height = 5}, TD_USAGE, "width"},
        {{.kind = "layered", .width = 5}, TD_USAGE, "layers"},
        {{.kind = "rmat", .scale = 32}, TD_LIMIT, "scale 32 is above 31"},
        {{.kind = "rmat", .scale = UINT64_MAX}, TD_LIMIT, "scale"},
        {{.kind = "uniform", .vertices = TD_MAX_VERTICES + 1}, TD_LIMIT, "vertices 4294967295 is above 2^32-2"},
        {{.kind = "rmat", .scale = 31, .degree = 1e9}, TD_LIMIT, "degree"},
        {{.kind = "uniform", .scale = 3, .degree = INFINITY}, TD_LIMIT, "degree inf"},
        {{.kind = "uniform", .scale = 3, .degree = -1}, TD_INVALID, "degree -1"},
        {{.kind = "uniform", .scale = 3, .degree = NAN}, TD_INVALID, "degree nan"},
        {{.kind = "rmat", .scale = 3, .a = .8, .b = .2, .c = .2}, TD_INVALID, "add up to 1.2"},
        {{.kind = "rmat", .scale = 3, .b = -.1}, TD_INVALID, "b -0.1"},
        {{.kind = "rmat", .scale = 3, .c = NAN}, TD_INVALID, "c"},
        {{.kind = "grid", .width = 1 << 16, .height = 1 << 16}, TD_LIMIT, "width and height ask for 65536 x 65536"},
        {{.kind = "grid", .width = UINT64_MAX}, TD_LIMIT, "at most 2^32-2"},
        {{.kind = "layered", .layers = UINT64_MAX, .width = 3}, TD_LIMIT, "layers and width"},
        {{.kind = "layered", .layers = 3, .width = 1 << 26}, TD_LIMIT, "degree ask for"},
        {{.kind = "layered", .layers = 3, .width = 10, .degree = 11}, TD_INVALID, "degree 11 is above the 10"},
        {{.kind = "layered", .layers = 3, .width = 10, .degree = 1.5}, TD_INVALID, "degree 1.5"},
        {{.kind = "complete", .vertices = TD_MAX_VERTICES}, TD_LIMIT, "at most 2^48"},
        {{.kind = "smallworld", .vertices = 100, .degree = 5}, TD_INVALID, "degree 5 is odd"},
        {{.kind = "smallworld", .vertices = 8, .degree = 8}, TD_INVALID, "more than 8 vertices"},
        {{.kind = "smallworld", .vertices = 100, .rewire = 1.5}, TD_INVALID, "rewire 1.5"},
        {{.kind = "smallworld", .vertices = 100, .rewire = NAN}, TD_INVALID, "rewire"},
        {{.kind = "web", .vertices = 100, .hosts = 101}, TD_INVALID, "hosts 101"},
        {{.kind = "web", .vertices = 100, .degree = 1e5}, TD_LIMIT, "degree"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        td_gen_size size = {7, 7};
        td_graph *graph = NULL;
        CHECK_STATUS(td_gen_check(&bad[i].spec, &size), bad[i].status);
        CHECK_CONTAINS(td_last_message(), bad[i].says);
        CHECK_STATUS(td_graph_generate(&graph, &bad[i].spec, &as_drawn, NULL), bad[i].status);
        CHECK(graph == NULL && size.vertices == 7);
    }
}

TEST(the_largest_sizes_pass_the_check)
{
    static const td_gen_spec large[] = {{.kind = "rmat", .scale = 31},
                                        {.kind = "uniform", .vertices = TD_MAX_VERTICES, .degree = 1000},
                                        {.kind = "grid", .width = TD_MAX_VERTICES, .height = 1},
                                        {.kind = "complete", .vertices = 1 << 24},
                                        {.kind = "web", .vertices = TD_MAX_VERTICES}};
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) CHECK_OK(td_gen_check(&large[i], NULL));
}

TEST(the_smallest_sizes_work)
{
    static const td_gen_spec small[] = {{.kind = "rmat", .scale = 1},     {.kind = "uniform", .vertices = 1},
                                        {.kind = "grid", .width = 1},     {.kind = "web", .vertices = 1},
                                        {.kind = "path", .vertices = 1},  {.kind = "star", .vertices = 1},
                                        {.kind = "tree", .vertices = 1},  {.kind = "complete", .vertices = 1},
                                        {.kind = "smallworld", .vertices = 3, .degree = 2},
                                        {.kind = "layered", .layers = 1, .width = 1},
                                        {.kind = "layered", .layers = 2, .width = 1}};
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        for (int shuffled = 0; shuffled < 2; shuffled++) {
            td_gen_spec spec = small[i];
            spec.shuffle = shuffled;
            td_graph *graph = generate(&spec, &as_drawn, 2);
            td_graph_destroy(graph);
        }
}

TEST(running_out_of_memory_anywhere_is_an_error_without_a_leak)
{
    td_pool *pool = NULL;
    CHECK_OK(td_pool_create(&pool, 2));
    td_build_options build = {.symmetrize = true, .dedup = true};
    for (const td_generator *kind = td_generators; kind->kind != NULL; kind++) {
        td_gen_spec spec = {.kind = kind->kind, .shuffle = true, .rewire = -1};
        if (strstr(kind->parameters, "scale") != NULL) spec.scale = 7;
        if (strstr(kind->parameters, "width") != NULL) spec.width = 9;
        if (strstr(kind->parameters, "layers") != NULL) spec.layers = 3;
        uint64_t held = td_memory().now, nth = 0;
        td_status status;
        td_graph *graph = NULL;
        do {
            td_alloc_fail_at(++nth);
            status = td_graph_generate(&graph, &spec, &build, pool);
            td_alloc_fail_at(0);
            if (status != TD_OK) {
                CHECK_EQ(status, TD_NO_MEMORY);
                CHECK(graph == NULL);
                CHECK_EQ(td_memory().now, held);
            }
        } while (status != TD_OK);
        CHECK(nth > 3);
        td_graph_destroy(graph);
    }
    td_pool_destroy(pool);
}

TEST(a_cancel_ends_the_generation)
{
    td_gen_spec spec = {.kind = "uniform", .scale = 16};
    td_graph *graph = NULL;
    td_cancel_request();
    td_status status = td_graph_generate(&graph, &spec, &as_drawn, NULL);
    td_cancel_clear();
    CHECK_EQ(status, TD_CANCELLED);
    CHECK(graph == NULL);
}

TEST(the_table_says_what_each_kind_is)
{
    for (const td_generator *kind = td_generators; kind->kind != NULL; kind++) {
        CHECK(td_generator_named(kind->kind) == kind);
        CHECK(strlen(kind->description) > 10);
        CHECK(strlen(kind->parameters) > 3);
    }
    CHECK(td_generator_named("nothing") == NULL);
}

TEST_MAIN
