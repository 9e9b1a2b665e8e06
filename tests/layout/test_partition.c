/* Fragments: what td_partition_make counts is counted again here, edge by edge; every claim of partition.h is checked
 * on every test graph, for every partitioner and number of fragments. */
#include "programs/graphs.h"

#include "base/clock.h"
#include "layout/partition.h"
#include "store/gen.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sys/wait.h>

#ifdef TANDEM_HAVE_METIS
#if __has_include(<metis.h>)
#include <metis.h>
#endif
enum { KINDS = TD_PARTITIONS };
#else
enum { KINDS = TD_PARTITION_METIS };
#endif

static td_partition partition_of(const td_graph *graph, const td_partition_wish *wish, td_pool *pool)
{
    td_partition partition = {0};
    CHECK_OK(td_partition_make(&partition, graph, wish, pool));
    return partition;
}

static td_partition cut(const td_graph *graph, td_partition_kind kind, int parts)
{
    return partition_of(graph, &(td_partition_wish){.kind = kind, .parts = parts, .seed = 1}, NULL);
}

/* Ranges: multiples of 32 from 0 to all vertices; a numbering that is a permutation and its inverse, or none. */
static void check_ranges(const td_partition *partition, const td_graph *graph, const td_partition_wish *wish)
{
    CHECK_EQ(partition->parts, wish->parts);
    CHECK_EQ(partition->vertices, graph->vertices);
    CHECK_EQ(partition->first[0], 0);
    CHECK_EQ(partition->first[wish->parts], graph->vertices);
    for (int k = 0; k < wish->parts; k++) {
        CHECK_EQ(partition->first[k] % 32, 0);
        CHECK(partition->first[k] <= partition->first[k + 1]);
    }
    CHECK_EQ(partition->order == NULL, partition->place == NULL);
    bool own = wish->kind == TD_PARTITION_SEG ||
               (wish->kind == TD_PARTITION_METIS &&
                (wish->parts == 1 || graph->vertices < 32 * (uint32_t)wish->parts)); /* too small for METIS */
    CHECK_EQ(partition->order == NULL, own);
    for (uint32_t v = 0; v < graph->vertices && partition->place != NULL; v++) {
        CHECK(partition->place[v] < graph->vertices);
        CHECK_EQ(partition->order[partition->place[v]], v);
    }
}

static int owner_of(const td_partition *partition, uint32_t vertex)
{
    uint32_t number = partition->place != NULL ? partition->place[vertex] : vertex;
    for (int k = 0; k < partition->parts; k++)
        if (number >= partition->first[k] && number < partition->first[k + 1]) return k;
    TEST_FAIL("vertex %" PRIu32 " has no owner", vertex);
}

/* Counts by hand. */
typedef struct count {
    uint64_t edges[TD_FRAGMENTS], cut[TD_FRAGMENTS];
    uint8_t *mirror; /* fragment * vertices + vertex */
    uint32_t vertices;
} count;

/* The edge is in a list of `own`, and names `other`. */
static void count_entry(count *self, const td_partition *partition, uint32_t own, uint32_t other)
{
    int k = owner_of(partition, own);
    self->edges[k]++;
    if (owner_of(partition, other) == k) return;
    self->cut[k]++;
    self->mirror[(uint64_t)k * self->vertices + other] = 1;
}

static void count_by_hand(count *self, const td_partition *partition, const td_graph *graph,
                          const td_partition_wish *wish)
{
    bool all = !wish->out && !wish->in;
    bool out = graph->symmetric || wish->out || all, in = !graph->symmetric && (wish->in || all);
    if (graph->in.offsets == NULL) in = false;
    self->vertices = graph->vertices;
    CHECK_OK(TD_NEW_ZEROED(&self->mirror, (uint64_t)TD_FRAGMENTS * graph->vertices, "mirrors"));
    for (uint32_t v = 0; v < graph->vertices; v++)
        for (uint64_t e = graph->out.offsets[v]; e < graph->out.offsets[v + 1]; e++) {
            if (out) count_entry(self, partition, v, graph->out.targets[e]);
            if (in) count_entry(self, partition, graph->out.targets[e], v);
        }
}

static void check_counts(const td_partition *partition, const td_graph *graph, const td_partition_wish *wish)
{
    count by_hand = {0};
    uint64_t edges = 0, all_cut = 0;
    double most = 0, weights = 0;
    count_by_hand(&by_hand, partition, graph, wish);
    for (int k = 0; k < wish->parts; k++) {
        uint64_t sum = 0;
        CHECK_EQ(partition->edges[k], by_hand.edges[k]);
        CHECK_EQ(partition->cut[k], by_hand.cut[k]);
        for (int j = 0; j < wish->parts; j++) {
            uint64_t mirrors = 0;
            for (uint32_t v = 0; v < graph->vertices; v++)
                mirrors += by_hand.mirror[(uint64_t)k * graph->vertices + v] && owner_of(partition, v) == j;
            CHECK_EQ(partition->mirrors[k][j], mirrors);
            sum += mirrors;
        }
        CHECK_EQ(partition->mirrors[k][k], 0);
        CHECK_EQ(td_partition_mirrors(partition, k), sum);
        edges += by_hand.edges[k];
        all_cut += by_hand.cut[k];
        weights += wish->weights != NULL ? wish->weights[k] : 1;
    }
    CHECK_EQ(partition->all_edges, edges);
    CHECK_EQ(partition->all_cut, all_cut);
    for (int k = 0; k < wish->parts && edges > 0; k++) {
        double share = (wish->weights != NULL ? wish->weights[k] : 1) / weights * (double)edges;
        if (share > 0) most = fmax(most, (double)by_hand.edges[k] / share);
    }
    CHECK(fabs(partition->balance - (edges > 0 ? most : 1)) < 1e-9);
    td_free(by_hand.mirror);
}

static void check_partition(const td_graph *graph, const td_partition_wish *wish, td_pool *pool)
{
    td_partition partition = partition_of(graph, wish, pool);
    check_ranges(&partition, graph, wish);
    check_counts(&partition, graph, wish);
    for (uint32_t i = 0; i < graph->vertices; i++)
        CHECK_EQ(td_partition_owner(&partition, i),
                 owner_of(&partition, partition.order != NULL ? partition.order[i] : i));
    td_partition_free(&partition);
    CHECK(partition.order == NULL && partition.place == NULL);
}

static const int part_counts[] = {1, 2, 3, 8, 16};
enum { PART_COUNTS = sizeof part_counts / sizeof *part_counts };

TEST(edges_cuts_and_mirrors_of_every_graph_are_those_counted_by_hand)
{
    td_pool *pool = NULL;
    CHECK_OK(td_pool_create(&pool, 3));
    for (int i = 0; i < TEST_GRAPHS; i++) {
        td_graph *graph = test_graph(i, TEST_UNWEIGHTED, NULL);
        for (int kind = 0; kind < KINDS; kind++)
            for (int p = 0; p < PART_COUNTS; p++) {
                td_partition_wish wish = {.kind = (td_partition_kind)kind, .parts = part_counts[p], .seed = 4};
                check_partition(graph, &wish, p % 2 == 0 ? pool : NULL);
            }
        td_graph_destroy(graph);
    }
    td_pool_destroy(pool);
}

TEST(the_lists_that_a_run_uses_are_counted)
{
    static const char *const names[] = {"heavy stars", "web", "multigraph", "rmat 10, clean", "directed star"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        td_graph *graph = test_graph(test_graph_named(names[i]), TEST_UNWEIGHTED, NULL);
        for (int kind = 0; kind < KINDS; kind++)
            for (int lists = 1; lists < 4; lists++)
                check_partition(graph, &(td_partition_wish){.kind = (td_partition_kind)kind, .parts = 4,
                                                            .out = lists & 1, .in = lists & 2}, NULL);
        td_graph_destroy(graph);
    }
}

/* A random graph of any density and size, with its own skew. */
static td_graph *drawn_graph(uint64_t seed)
{
    td_graph *graph = NULL;
    test_sketch sketch = {.seed = seed, .id_factor = 1};
    CHECK_OK(td_edges_create(&sketch.edges, "drawn"));
    CHECK_OK(td_edges_chunk(sketch.edges, 0, &sketch.chunk));
    uint64_t n = 1 + test_draw(&sketch, 700), edges = test_draw(&sketch, 4 * n), skew = 1 + test_draw(&sketch, 6);
    sketch.edges->vertices = n;
    sketch.edges->declared = true;
    for (uint64_t e = 0; e < edges; e++) {
        uint64_t source = test_draw(&sketch, 1 + test_draw(&sketch, n)) / (1 + test_draw(&sketch, skew));
        test_put(&sketch, source, test_draw(&sketch, n));
    }
    CHECK_OK(td_graph_build(&graph, sketch.edges, &(td_build_options){.symmetrize = seed % 3 == 0}, NULL));
    td_edges_destroy(sketch.edges);
    return graph;
}

TEST(random_graphs_with_random_weights_of_the_fragments)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        td_graph *graph = drawn_graph(seed);
        for (int kind = 0; kind < KINDS; kind++) {
            double weights[TD_FRAGMENTS];
            int parts = 1 + (int)td_random_below(td_random_at(seed, 1000), TD_FRAGMENTS);
            for (int k = 0; k < parts; k++)
                weights[k] = (double)td_random_below(td_random_at(seed, 2000 + (uint64_t)k), 5);
            weights[seed % (uint64_t)parts] = 3;
            check_partition(graph, &(td_partition_wish){.kind = (td_partition_kind)kind, .parts = parts,
                                                        .weights = weights, .seed = seed}, NULL);
        }
        td_graph_destroy(graph);
    }
}

/* Balance. */

static uint64_t heaviest_block(const td_graph *graph, const td_partition *partition)
{
    uint64_t most = 0;
    for (uint32_t begin = 0; begin < graph->vertices; begin += 32) {
        uint64_t sum = 0;
        for (uint32_t i = begin; i < begin + 32 && i < graph->vertices; i++) {
            uint32_t v = partition->order != NULL ? partition->order[i] : i;
            sum += td_degree(&graph->out, v) + (graph->symmetric ? 0 : td_degree(&graph->in, v));
        }
        if (sum > most) most = sum;
    }
    return most;
}

/* Each end of a range is off by half a block of 32 vertices at most; the end before the last vertices, which have no
 * boundary behind them, by a whole one. */
TEST(ranges_have_their_share_of_the_edges_up_to_a_block_of_32_vertices)
{
    static const double unlike[] = {1, 2, 3, 0.5, 1, 0, 4, 1};
    for (int i = 0; i < TEST_GRAPHS; i++) {
        td_graph *graph = test_graph(i, TEST_UNWEIGHTED, NULL);
        for (int kind = TD_PARTITION_SEG; kind <= TD_PARTITION_RANDOM; kind++)
            for (int weighted = 0; weighted < 2; weighted++) {
                td_partition_wish wish = {.kind = (td_partition_kind)kind, .parts = 8, .seed = 2,
                                          .weights = weighted ? unlike : NULL};
                td_partition partition = partition_of(graph, &wish, NULL);
                double block = (double)heaviest_block(graph, &partition);
                for (int k = 0; k < 8; k++) {
                    double share = (weighted ? unlike[k] / 12.5 : 0.125) * (double)partition.all_edges;
                    if (fabs((double)partition.edges[k] - share) > 1.5 * block + 1)
                        TEST_FAIL("%s, %s: fragment %d has %" PRIu64 " edges, not about %.1f", test_graphs[i].name,
                                  td_partition_name(wish.kind), k, partition.edges[k], share);
                }
                td_partition_free(&partition);
            }
        td_graph_destroy(graph);
    }
}

/* No other multiple of 32 has a number of edges before it that is nearer to the share. */
TEST(every_boundary_is_the_nearest_to_its_share_of_the_edges)
{
    for (int i = 0; i < TEST_GRAPHS; i++) {
        td_graph *graph = test_graph(i, TEST_UNWEIGHTED, NULL);
        for (int parts = 2; parts <= 16; parts++) {
            td_partition partition = cut(graph, TD_PARTITION_SEG, parts);
            for (int k = 1; k < parts; k++) {
                double wish = floor((double)partition.all_edges * k / parts + 1e-6), nearest = INFINITY;
                double here = INFINITY;
                for (uint32_t v = 0; v <= graph->vertices; v += 32) {
                    uint64_t before = graph->out.offsets[v] + (graph->symmetric ? 0 : graph->in.offsets[v]);
                    nearest = fmin(nearest, fabs((double)before - wish));
                    if (v == partition.first[k]) here = fabs((double)before - wish);
                }
                if (here > nearest + 1) /* the share is rounded */
                    TEST_FAIL("%s: boundary %d of %d is %g edges off, not %g", test_graphs[i].name, k, parts, here,
                              nearest);
            }
            td_partition_free(&partition);
        }
        td_graph_destroy(graph);
    }
}

static td_graph *generated(const td_gen_spec *spec, td_pool *pool)
{
    td_graph *graph = NULL;
    CHECK_OK(td_graph_generate(&graph, spec, &(td_build_options){0}, pool));
    return graph;
}

static const td_gen_spec skewed = {.kind = "rmat", .scale = 14, .degree = 8, .seed = 1, .rewire = -1};

TEST(seg_and_random_balance_a_skewed_graph)
{
    td_graph *graph = generated(&skewed, NULL);
    for (int kind = TD_PARTITION_SEG; kind <= TD_PARTITION_RANDOM; kind++) {
        td_partition partition = cut(graph, (td_partition_kind)kind, 4);
        CHECK(partition.balance >= 1 && partition.balance < 1.1);
        td_partition_free(&partition);
    }
    td_graph_destroy(graph);
}

TEST(vertices_without_edges_are_shared_out_too)
{
    td_graph *graph = test_graph_of(3200, NULL, NULL, 0, false);
    for (int kind = TD_PARTITION_SEG; kind <= TD_PARTITION_RANDOM; kind++) {
        td_partition partition = cut(graph, (td_partition_kind)kind, 10);
        for (int k = 0; k < 10; k++) CHECK_EQ(partition.first[k], 320 * k);
        CHECK(partition.balance == 1);
        td_partition_free(&partition);
    }
    td_graph_destroy(graph);
}

/* Determinism. */

static void check_same(const td_partition *one, const td_partition *other)
{
    CHECK_EQ(memcmp(one->first, other->first, sizeof one->first), 0);
    CHECK_EQ(memcmp(one->edges, other->edges, sizeof one->edges), 0);
    CHECK_EQ(memcmp(one->cut, other->cut, sizeof one->cut), 0);
    CHECK_EQ(memcmp(one->mirrors, other->mirrors, sizeof one->mirrors), 0);
    CHECK_EQ(one->order == NULL, other->order == NULL);
    if (one->order != NULL) CHECK_EQ(memcmp(one->order, other->order, one->vertices * sizeof *one->order), 0);
}

TEST(workers_together_make_the_partition_that_one_makes_alone)
{
    td_pool *pool = NULL;
    CHECK_OK(td_pool_create(&pool, 4));
    td_graph *graph = generated(&skewed, pool);
    for (int kind = 0; kind < KINDS; kind++) {
        td_partition_wish wish = {.kind = (td_partition_kind)kind, .parts = 8, .seed = 3};
        td_partition one = partition_of(graph, &wish, NULL), other = partition_of(graph, &wish, pool);
        check_same(&one, &other);
        td_partition_free(&one);
        td_partition_free(&other);
    }
    td_graph_destroy(graph);
    td_pool_destroy(pool);
}

TEST(random_depends_on_the_seed)
{
    td_graph *graph = test_graph(test_graph_named("rmat 14"), TEST_UNWEIGHTED, NULL);
    td_partition_wish wish = {.kind = TD_PARTITION_RANDOM, .parts = 4, .seed = 3};
    td_partition one = partition_of(graph, &wish, NULL);
    wish.seed = 4;
    td_partition other = partition_of(graph, &wish, NULL);
    CHECK(memcmp(one.order, other.order, one.vertices * sizeof *one.order) != 0);
    td_partition_free(&one);
    td_partition_free(&other);
    td_graph_destroy(graph);
}

/* Cuts. */

TEST(ranges_of_a_mesh_cut_few_edges_and_random_fragments_most)
{
    td_gen_spec spec = {.kind = "grid", .width = 100, .rewire = -1};
    td_graph *graph = generated(&spec, NULL);
    td_partition seg = cut(graph, TD_PARTITION_SEG, 8), random = cut(graph, TD_PARTITION_RANDOM, 8);
    CHECK((double)seg.all_cut < 0.04 * (double)seg.all_edges); /* 7 of 99 rows of edges in one of two directions */
    CHECK((double)random.all_cut > 0.8 * (double)random.all_edges); /* 7 of 8 */
    td_partition_free(&seg);
    td_partition_free(&random);
    td_graph_destroy(graph);
}

#ifdef TANDEM_HAVE_METIS

TEST(metis_cuts_less_of_a_mesh_than_ranges_whatever_its_numbers)
{
    for (int shuffle = 0; shuffle < 2; shuffle++) {
        td_gen_spec spec = {.kind = "grid", .width = 150, .rewire = -1, .shuffle = shuffle == 1};
        td_graph *graph = generated(&spec, NULL);
        for (int parts = 2; parts <= 8; parts *= 2) {
            td_partition seg = cut(graph, TD_PARTITION_SEG, parts), metis = cut(graph, TD_PARTITION_METIS, parts);
            if (parts > 2 || shuffle) CHECK(metis.all_cut < seg.all_cut);
            CHECK((double)metis.all_cut < 0.06 * (double)metis.all_edges);
            CHECK(metis.balance < 1.08);
            td_partition_free(&seg);
            td_partition_free(&metis);
        }
        td_graph_destroy(graph);
    }
}

/* Of METIS's parts, 16 vertices at each end may move; moving any 16 instead of the best cuts 2,032 here. */
TEST(vertices_that_move_to_round_a_boundary_are_those_that_cost_least)
{
    td_gen_spec spec = {.kind = "grid", .width = 80, .rewire = -1, .shuffle = true};
    td_graph *graph = generated(&spec, NULL);
    td_partition partition = cut(graph, TD_PARTITION_METIS, 16);
    CHECK(partition.all_cut < 1700);
    td_partition_free(&partition);
    td_graph_destroy(graph);
}

/* METIS gets every pair of neighbours once in each direction, so that parallel edges cost no memory. */
TEST(the_graph_for_metis_has_no_parallel_edges)
{
    enum { N = 2000, COPIES = 200 };
    static uint32_t ends[N * COPIES][2];
    for (uint32_t e = 0; e < N * COPIES; e++) {
        ends[e][0] = e % N;
        ends[e][1] = (e % N + 1) % N;
    }
    td_graph *graph = test_graph_of(N, (const uint32_t(*)[2])ends, NULL, N * COPIES, false);
    uint64_t held = td_memory().now;
    td_memory_reset_peak();
    td_partition partition = cut(graph, TD_PARTITION_METIS, 4);
    CHECK(td_memory().peak - held < 1 << 20);
    CHECK(partition.all_cut < 40 * COPIES);
    td_partition_free(&partition);
    td_graph_destroy(graph);
}

/* Unit weights would give one part several times the edges of another (docs/lab/layout.md). */
TEST(metis_balances_the_edges_of_a_skewed_graph)
{
    td_graph *graph = generated(&skewed, NULL);
    td_partition metis = cut(graph, TD_PARTITION_METIS, 8), random = cut(graph, TD_PARTITION_RANDOM, 8);
    CHECK(metis.balance < 1.2);
    CHECK(metis.all_cut < random.all_cut);
    td_partition_free(&metis);
    td_partition_free(&random);
    td_graph_destroy(graph);
}

TEST(metis_gives_unlike_devices_unlike_fragments)
{
    td_gen_spec spec = {.kind = "grid", .width = 100, .rewire = -1};
    td_graph *graph = generated(&spec, NULL);
    static const double weights[] = {1, 0, 3};
    td_partition partition = partition_of(
        graph, &(td_partition_wish){.kind = TD_PARTITION_METIS, .parts = 3, .weights = weights, .seed = 1}, NULL);
    CHECK(partition.balance < 1.1);
    CHECK_EQ(partition.edges[1], 0);
    CHECK(partition.edges[2] > 2 * partition.edges[0]);
    td_partition_free(&partition);
    td_graph_destroy(graph);
}

TEST(metis_is_refused_where_its_graph_lacks_a_direction_or_memory)
{
    td_graph *graph = NULL;
    td_partition partition;
    td_partition_wish wish = {.kind = TD_PARTITION_METIS, .parts = 4};
    CHECK_OK(td_graph_generate(&graph, &skewed, &(td_build_options){.out_only = true}, NULL));
    CHECK_STATUS(td_partition_make(&partition, graph, &wish, NULL), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "in-adjacency");
    td_graph_destroy(graph);
    graph = generated(&skewed, NULL);
    td_memory_set_budget(td_memory().now + (4 << 20));
    td_status status = td_partition_make(&partition, graph, &wish, NULL);
    td_memory_set_budget(0);
    CHECK_EQ(status, TD_NO_MEMORY);
    CHECK_CONTAINS(td_last_message(), "METIS takes about");
    td_graph_destroy(graph);
}

#if IDXTYPEWIDTH == 32

/* A graph of so many vertices is refused before any of its arrays is looked at. */
TEST(a_graph_beyond_the_numbers_of_metis_is_refused)
{
    td_graph huge = {.vertices = 1200000000, .symmetric = true};
    td_partition partition;
    td_partition_wish wish = {.kind = TD_PARTITION_METIS, .parts = 4};
    td_status status = td_partition_make(&partition, &huge, &wish, NULL);
    if (status == TD_NO_MEMORY) SKIP("too little memory for the owners of its vertices");
    CHECK_EQ(status, TD_LIMIT);
    CHECK_CONTAINS(td_last_message(), "32-bit numbers: it takes at most 536,870,911 vertices");
    CHECK_CONTAINS(td_last_message(), "1,200,000,000; use seg or random");
}

#endif

static void *cancel_soon(void *unused)
{
    (void)unused;
    usleep(20000);
    td_cancel_request();
    return NULL;
}

/* METIS takes a second for this graph, or more; nothing of it is left behind. */
TEST(a_cancelled_call_ends_metis)
{
    td_gen_spec spec = {.kind = "rmat", .scale = 16, .degree = 16, .seed = 1, .rewire = -1};
    td_graph *graph = generated(&spec, NULL);
    td_partition partition;
    pthread_t thread;
    td_partition_wish wish = {.kind = TD_PARTITION_METIS, .parts = 8};
    uint64_t start = td_clock_ns();
    partition = partition_of(graph, &wish, NULL);
    td_partition_free(&partition);
    double whole = td_seconds_since(start);
    start = td_clock_ns();
    CHECK_EQ(pthread_create(&thread, NULL, cancel_soon, NULL), 0);
    td_status status = td_partition_make(&partition, graph, &wish, NULL);
    double seconds = td_seconds_since(start);
    pthread_join(thread, NULL);
    td_cancel_clear();
    CHECK_EQ(status, TD_CANCELLED);
    if (seconds > 0.7 * whole) TEST_FAIL("cancelled after 0.02 s, ended after %g s of %g", seconds, whole);
    CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
    td_graph_destroy(graph);
}

#else

TEST(metis_is_refused_with_the_name_of_its_package)
{
    td_graph *graph = test_graph(test_graph_named("web"), TEST_UNWEIGHTED, NULL);
    td_partition partition;
    td_partition_kind kind;
    int parts;
    td_partition_wish wish = {.kind = TD_PARTITION_METIS, .parts = 4};
    CHECK_STATUS(td_partition_make(&partition, graph, &wish, NULL), TD_UNSUPPORTED);
    CHECK_CONTAINS(td_last_message(), "libmetis-dev");
    CHECK_STATUS(td_partition_parse("metis:4", &kind, &parts), TD_UNSUPPORTED);
    CHECK_CONTAINS(td_last_message(), "libmetis-dev");
    td_graph_destroy(graph);
}

#endif

/* Bad input. */

TEST(a_partition_is_written_as_a_partitioner_and_a_number)
{
    static const struct { const char *text, *part; } bad[] = {
        {"seg", "seg:8"}, {"", "seg:8"}, {"8", "seg:8"},
        {"foo:2", "unknown partitioner 'foo'; allowed are seg, random"},
        {":2", "unknown partitioner ''"}, {"Seg:2", "unknown partitioner 'Seg'"}, {"seg:", "1 to 16"},
        {"seg:0", "'0' fragments; allowed are 1 to 16"}, {"seg:17", "1 to 16"}, {"seg:2x", "'2x' fragments"},
        {"seg:-1", "1 to 16"}, {"seg: 2", "1 to 16"}, {"seg:2:2", "1 to 16"}, {"random:4294967297", "1 to 16"},
        {"seg:99999999999999999999999", "1 to 16"}, {"se:2", "unknown partitioner 'se'"}};
    td_partition_kind kind = TD_PARTITIONS;
    int parts = -1;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_STATUS(td_partition_parse(bad[i].text, &kind, &parts), TD_USAGE);
        CHECK_CONTAINS(td_last_message(), bad[i].part);
        CHECK(kind == TD_PARTITIONS && parts == -1);
    }
    for (int k = 0; k < KINDS; k++)
        for (int p = 1; p <= TD_FRAGMENTS; p++) {
            char text[32];
            snprintf(text, sizeof text, "%s:%d", td_partition_name((td_partition_kind)k), p);
            CHECK_OK(td_partition_parse(text, &kind, &parts));
            CHECK_EQ(kind, k);
            CHECK_EQ(parts, p);
            CHECK(td_partition_text(kind)[0] != '\0');
        }
}

TEST(numbers_of_fragments_and_weights_that_mean_nothing_are_refused)
{
    td_graph *graph = test_graph(test_graph_named("web"), TEST_UNWEIGHTED, NULL), *out_only = NULL;
    td_partition partition = {.parts = -7};
    static const double bad[][2] = {{-1, 2}, {0, 0}, {NAN, 1}, {INFINITY, 1}, {1e308, 1e308}};
    for (int parts = -1; parts <= 17; parts += parts == 0 ? 17 : 1)
        CHECK_STATUS(td_partition_make(&partition, graph, &(td_partition_wish){.parts = parts}, NULL), TD_INVALID);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_STATUS(td_partition_make(&partition, graph, &(td_partition_wish){.parts = 2, .weights = bad[i]}, NULL),
                     TD_INVALID);
    CHECK_OK(td_graph_generate(&out_only, &skewed, &(td_build_options){.out_only = true}, NULL));
    CHECK_STATUS(td_partition_make(&partition, out_only, &(td_partition_wish){.parts = 2, .in = true}, NULL),
                 TD_INVALID);
    CHECK_EQ(partition.parts, -7);
    check_partition(out_only, &(td_partition_wish){.kind = TD_PARTITION_RANDOM, .parts = 2}, NULL);
    td_graph_destroy(out_only);
    td_graph_destroy(graph);
}

TEST(every_failing_allocation_is_an_error_without_a_leak)
{
    td_graph *graph = test_graph(test_graph_named("web"), TEST_UNWEIGHTED, NULL);
    for (int kind = 0; kind < KINDS; kind++) {
        uint64_t held = td_memory().now, nth = 1;
        for (;; nth++) {
            td_partition partition = {0};
            td_partition_wish wish = {.kind = (td_partition_kind)kind, .parts = 4};
            td_alloc_fail_at(nth);
            td_status status = td_partition_make(&partition, graph, &wish, NULL);
            td_alloc_fail_at(0);
            td_partition_free(&partition);
            CHECK_EQ(td_memory().now, held);
            if (status == TD_OK) break;
            CHECK_EQ(status, TD_NO_MEMORY);
        }
        CHECK(nth > (kind == TD_PARTITION_SEG ? 1 : 3));
    }
    td_graph_destroy(graph);
}

TEST_MAIN
