/* The builder against a plain one: all edges in one array, sorted by qsort. */
#include "test.h"

#include "base/cancel.h"
#include "base/random.h"
#include "store/builder.h"

#include <math.h>

typedef struct edge {
    uint64_t source, target; /* original ids; vertex numbers after numbering */
    double weight;
} edge;

typedef struct plain {
    edge *edges; /* by source, target, weight */
    uint64_t count, room;
    uint64_t *ids; /* of the vertices */
    uint64_t vertices;
} plain;

static int by_source(const void *a, const void *b)
{
    const edge *x = a, *y = b;
    if (x->source != y->source) return x->source < y->source ? -1 : 1;
    if (x->target != y->target) return x->target < y->target ? -1 : 1;
    return (x->weight > y->weight) - (x->weight < y->weight);
}

static int by_target(const void *a, const void *b)
{
    const edge *x = a, *y = b;
    edge turned_x = {x->target, x->source, x->weight}, turned_y = {y->target, y->source, y->weight};
    return by_source(&turned_x, &turned_y);
}

static int by_id(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* What a case is made of. */
typedef enum weighting { UNWEIGHTED, BYTES, SHORTS, WORDS, NEGATIVES, FRACTIONS, WEIGHTINGS } weighting;
typedef enum naming { DECLARED, CLOSE, WIDE, LISTED, NAMINGS } naming;

typedef struct sample {
    uint64_t seed, vertices, edges, chunks;
    weighting weights;
    naming names;
    bool mirror;
} sample;

static uint64_t draw(const sample *of, uint64_t use, uint64_t i) { return td_random_at(of->seed * 16 + use, i); }

static uint64_t name_of(const sample *of, uint64_t vertex)
{
    switch (of->names) {
    case DECLARED: return vertex;
    case CLOSE: return 17 + 3 * vertex;
    default: return td_mix64(vertex + of->seed);
    }
}

static double weight_of(const sample *of, uint64_t i)
{
    uint64_t random = draw(of, 3, i);
    switch (of->weights) {
    case UNWEIGHTED: return 0;
    case BYTES: return (double)(random % 5 == 0 ? 255 : random % 256);
    case SHORTS: return (double)(i == 0 ? 256 : random % 65536);
    case WORDS: return (double)(i == 0 ? UINT32_MAX : random & UINT32_MAX);
    case NEGATIVES: return i == 0 ? -5 : (double)(int64_t)(random % 1000) - 500;
    default: return i == 0 ? 0.5 : (double)(float)(td_random_unit(random) * 10 - 3);
    }
}

static edge edge_of(const sample *of, uint64_t i)
{
    uint64_t few = of->vertices / 4 + 1; /* parallel edges and loops are frequent */
    uint64_t source = td_random_below(draw(of, 1, i), i % 3 == 0 ? few : of->vertices);
    uint64_t target = i % 11 == 0 ? source : td_random_below(draw(of, 2, i), i % 2 == 0 ? few : of->vertices);
    return (edge){name_of(of, source), name_of(of, target), weight_of(of, i)};
}

/* A few vertices that no edge names. */
enum { EXTRA = 5 };
static uint64_t listed_id(const sample *of, uint64_t i) { return name_of(of, of->vertices + i * i); }

static void put_edge(td_edge_list *list, const sample *of, uint64_t index, const edge *what)
{
    td_edge_chunk *chunk = NULL;
    CHECK_OK(td_edges_chunk(list, index, &chunk));
    if (chunk->count == chunk->room) CHECK_OK(td_chunk_reserve(chunk, 2 * chunk->room + 4, of->weights != UNWEIGHTED));
    CHECK_OK(td_chunk_put(chunk, what->source, what->target));
    if (of->weights == FRACTIONS) td_chunk_weight_real(chunk, (float)what->weight);
    else if (of->weights != UNWEIGHTED) td_chunk_weight_integer(chunk, what->weight < 0, (uint32_t)fabs(what->weight));
}

static td_edge_list *list_of(const sample *of)
{
    td_edge_list *list = NULL;
    CHECK_OK(td_edges_create(&list, "sample"));
    list->weighted = of->weights != UNWEIGHTED;
    list->mirror = of->mirror;
    list->declared = of->names == DECLARED;
    list->vertices = of->names == DECLARED ? of->vertices : 0;
    list->id_base = of->names == DECLARED ? 1 : 0;
    for (uint64_t i = 0; i < of->edges; i++) {
        edge what = edge_of(of, i);
        put_edge(list, of, i * of->chunks / of->edges * 2, &what); /* every other chunk is never asked for */
    }
    if (of->names == LISTED) {
        CHECK_OK(TD_NEW(&list->listed, EXTRA, "listed"));
        list->listed_count = EXTRA;
        for (uint64_t i = 0; i < EXTRA; i++) list->listed[i] = listed_id(of, i);
    }
    return list;
}

static void add(plain *graph, edge what)
{
    if (graph->count == graph->room) {
        graph->room = 2 * graph->room + 16;
        CHECK_OK(TD_RESIZE(&graph->edges, graph->room, "edges"));
    }
    graph->edges[graph->count++] = what;
}

static void number_vertices(plain *graph, const sample *of)
{
    uint64_t named = 0;
    CHECK_OK(TD_NEW(&graph->ids, 2 * of->edges + of->vertices + EXTRA, "ids"));
    for (uint64_t i = 0; i < of->edges; i++) {
        edge what = edge_of(of, i);
        graph->ids[named++] = what.source;
        graph->ids[named++] = what.target;
    }
    for (uint64_t i = 0; of->names == DECLARED && i < of->vertices; i++) graph->ids[named++] = i;
    for (uint64_t i = 0; of->names == LISTED && i < EXTRA; i++) graph->ids[named++] = listed_id(of, i);
    qsort(graph->ids, named, sizeof *graph->ids, by_id);
    for (uint64_t i = 0; i < named; i++)
        if (i == 0 || graph->ids[i] != graph->ids[i - 1]) graph->ids[graph->vertices++] = graph->ids[i];
}

static uint64_t number_of(const plain *graph, uint64_t id)
{
    const uint64_t *found = bsearch(&id, graph->ids, graph->vertices, sizeof id, by_id);
    CHECK(found != NULL);
    return (uint64_t)(found - graph->ids);
}

static plain build_plainly(const sample *of, const td_build_options *options)
{
    plain graph = {0};
    number_vertices(&graph, of);
    for (uint64_t i = 0; i < of->edges; i++) {
        edge what = edge_of(of, i);
        what.source = number_of(&graph, what.source);
        what.target = number_of(&graph, what.target);
        if (options->drop_weights || options->attach_weights) what.weight = 0;
        if (options->drop_loops && what.source == what.target) continue;
        add(&graph, what);
        if ((of->mirror || options->symmetrize) && what.source != what.target)
            add(&graph, (edge){what.target, what.source, what.weight});
    }
    if (graph.count > 0) qsort(graph.edges, graph.count, sizeof *graph.edges, by_source);
    if (!options->dedup) return graph;
    uint64_t kept = 0;
    for (uint64_t i = 0; i < graph.count; i++)
        if (i == 0 || graph.edges[i].source != graph.edges[i - 1].source ||
            graph.edges[i].target != graph.edges[i - 1].target)
            graph.edges[kept++] = graph.edges[i];
    graph.count = kept;
    return graph;
}

static void plain_free(plain *graph)
{
    td_free(graph->edges);
    td_free(graph->ids);
}

/* The rows of one adjacency, against edges sorted by their row. */
static void check_rows(const td_graph *graph, const td_adjacency *adjacency, const plain *wanted, bool turned)
{
    uint64_t at = 0;
    for (uint32_t v = 0; v < graph->vertices; v++) {
        CHECK_EQ(adjacency->offsets[v], at);
        for (; at < adjacency->offsets[v + 1]; at++) {
            const edge *what = &wanted->edges[at];
            CHECK_EQ(turned ? what->target : what->source, v);
            CHECK_EQ(adjacency->targets[at], turned ? what->source : what->target);
            if (graph->weights != TD_WEIGHT_NONE) CHECK(td_weight_at(graph, adjacency, at) == what->weight);
        }
    }
    CHECK_EQ(adjacency->offsets[graph->vertices], graph->edges);
}

static bool same_both_ways(const plain *graph)
{
    plain turned = {.count = graph->count};
    bool same = true;
    CHECK_OK(TD_NEW(&turned.edges, graph->count, "edges"));
    for (uint64_t i = 0; i < graph->count; i++)
        turned.edges[i] = (edge){graph->edges[i].target, graph->edges[i].source, graph->edges[i].weight};
    qsort(turned.edges, turned.count, sizeof *turned.edges, by_source);
    for (uint64_t i = 0; i < graph->count; i++) same = same && by_source(&turned.edges[i], &graph->edges[i]) == 0;
    td_free(turned.edges);
    return same;
}

static void check_kind(const td_graph *graph, const sample *of, const plain *wanted)
{
    double low = wanted->count > 0 ? wanted->edges[0].weight : 0, high = low;
    for (uint64_t i = 0; i < wanted->count; i++) {
        low = fmin(low, wanted->edges[i].weight);
        high = fmax(high, wanted->edges[i].weight);
    }
    CHECK(graph->weight_min == low);
    CHECK(graph->weight_max == high);
    td_weight_kind kind = of->weights >= NEGATIVES ? TD_WEIGHT_F32
                          : high <= 255            ? TD_WEIGHT_U8
                          : high <= 65535          ? TD_WEIGHT_U16
                                                   : TD_WEIGHT_U32;
    CHECK_STR(td_weight_name(graph->weights), td_weight_name(kind));
}

static void check_graph(const td_graph *graph, const sample *of, const td_build_options *options)
{
    plain wanted = build_plainly(of, options);
    CHECK_EQ(graph->vertices, wanted.vertices);
    CHECK_EQ(graph->edges, wanted.count);
    for (uint32_t v = 0; v < graph->vertices; v++)
        CHECK(td_graph_id(graph, v) == wanted.ids[v] + (of->names == DECLARED ? 1 : 0));
    bool kept = of->weights != UNWEIGHTED && !options->drop_weights && !options->attach_weights;
    if (kept) check_kind(graph, of, &wanted);
    else if (!options->attach_weights) CHECK_EQ(graph->weights, TD_WEIGHT_NONE);
    td_graph bare = *graph;
    if (!kept) bare.weights = TD_WEIGHT_NONE; /* attached ones are looked at elsewhere */
    check_rows(&bare, &graph->out, &wanted, false);
    bool symmetric = of->mirror || options->symmetrize || (!options->out_only && same_both_ways(&wanted));
    CHECK_EQ(graph->symmetric, symmetric);
    if (symmetric) {
        CHECK(graph->in.offsets == graph->out.offsets && graph->in.targets == graph->out.targets);
        CHECK(graph->in.weights == graph->out.weights);
    } else if (options->out_only) {
        CHECK(graph->in.offsets == NULL && graph->in.targets == NULL && graph->in.weights == NULL);
    } else {
        qsort(wanted.edges, wanted.count, sizeof *wanted.edges, by_target);
        check_rows(&bare, &graph->in, &wanted, true);
    }
    plain_free(&wanted);
}

static td_pool *pools[3];
static const int pool_threads[] = {1, 2, 8};

static void start_pools(void)
{
    for (int i = 0; i < 3; i++) CHECK_OK(td_pool_create(&pools[i], pool_threads[i]));
}

static void stop_pools(void)
{
    for (int i = 0; i < 3; i++) td_pool_destroy(pools[i]);
}

static void check_build(const sample *of, const td_build_options *options, td_pool *pool)
{
    td_edge_list *list = list_of(of);
    td_graph *graph = NULL;
    CHECK_OK(td_graph_build(&graph, list, options, pool));
    CHECK_EQ(td_edges_count(list), 0); /* consumed */
    td_edges_destroy(list);
    check_graph(graph, of, options);
    CHECK_OK(td_graph_check(graph, pool));
    CHECK_STR(graph->name, "sample");
    td_graph_destroy(graph);
}

/* Every set of options with every kind of weights; ids, sizes and threads take turns. */
TEST(every_option_with_every_weight_gives_what_a_plain_builder_gives)
{
    start_pools();
    uint64_t round = 0;
    for (int bits = 0; bits < 64; bits++) {
        td_build_options options = {.symmetrize = bits & 1, .dedup = bits & 2, .drop_loops = bits & 4,
                                    .drop_weights = bits & 8, .out_only = bits & 16};
        for (int weights = 0; weights < WEIGHTINGS; weights++, round++) {
            sample of = {.seed = round, .vertices = 1 + round % 97, .edges = 1 + round % 311, .chunks = 1 + round % 5,
                         .weights = (weighting)weights, .names = (naming)(round / 2 % NAMINGS), .mirror = bits & 32};
            if (of.chunks > of.edges) of.chunks = of.edges;
            check_build(&of, &options, pools[round % 3]);
        }
    }
    stop_pools();
}

/* Several buckets, several strips, rows that cross them. */
TEST(large_graphs_give_what_a_plain_builder_gives)
{
    start_pools();
    static const sample samples[] = {
        {.seed = 1, .vertices = 40000, .edges = 400000, .chunks = 7, .weights = SHORTS, .names = DECLARED},
        {.seed = 2, .vertices = 700000, .edges = 150000, .chunks = 3, .weights = UNWEIGHTED, .names = CLOSE},
        {.seed = 3, .vertices = 100, .edges = 300000, .chunks = 9, .weights = FRACTIONS, .names = WIDE},
    };
    static const td_build_options all[] = {
        {0}, {.symmetrize = true, .dedup = true, .drop_loops = true}, {.dedup = true}};
    for (int s = 0; s < 3; s++)
        for (int o = 0; o < 3; o++) check_build(&samples[s], &all[o], pools[(s + o) % 3]);
    stop_pools();
}

static td_graph *build_all(const sample *of, const td_build_options *options, td_pool *pool)
{
    td_edge_list *list = list_of(of);
    td_graph *graph = NULL;
    CHECK_OK(td_graph_build(&graph, list, options, pool));
    td_edges_destroy(list);
    return graph;
}

TEST(threads_do_not_change_the_graph)
{
    start_pools();
    static const td_build_options all[] = {{0}, {.symmetrize = true}, {.dedup = true}};
    for (int o = 0; o < 3; o++) {
        sample of = {.seed = 5, .vertices = 30000, .edges = 250000, .chunks = 6, .weights = BYTES, .names = WIDE};
        uint64_t digests[3] = {0};
        for (int t = 0; t < 3; t++) {
            td_graph *graph = build_all(&of, &all[o], pools[t]);
            CHECK_OK(td_graph_digest(graph, pools[t], &digests[t]));
            td_graph_destroy(graph);
        }
        CHECK(digests[0] == digests[1] && digests[1] == digests[2]);
    }
    stop_pools();
}

/* So many edges at one vertex that its bucket fits no copy. */
TEST(a_bucket_larger_than_the_cache_is_ordered_in_place)
{
    enum { LEAVES = 600000, HUB = 77 };
    for (int turned = 0; turned < 2; turned++) {
        td_edge_list *list = NULL;
        td_edge_chunk *chunk = NULL;
        td_graph *graph = NULL;
        CHECK_OK(td_edges_create(&list, NULL));
        list->declared = list->weighted = true;
        list->vertices = LEAVES;
        CHECK_OK(td_edges_chunk(list, 0, &chunk));
        CHECK_OK(td_chunk_reserve(chunk, LEAVES, true));
        for (uint64_t i = 0; i < LEAVES; i++) {
            uint64_t leaf = i * 7919 % LEAVES, target = i % 100 == 0 ? i % 512 : HUB;
            CHECK_OK(td_chunk_put(chunk, turned ? target : leaf, turned ? leaf : target));
            td_chunk_weight_integer(chunk, false, (uint32_t)(leaf * 3));
        }
        CHECK_OK(td_graph_build(&graph, list, NULL, NULL));
        CHECK_OK(td_graph_check(graph, NULL));
        CHECK_EQ(graph->edges, LEAVES);
        const td_adjacency *to_hub = turned ? &graph->out : &graph->in;
        CHECK(td_degree(to_hub, HUB) > LEAVES * 98 / 100);
        for (uint32_t v = 0; v < LEAVES; v++)
            for (uint64_t e = to_hub->offsets[v]; e < to_hub->offsets[v + 1]; e++)
                CHECK(td_weight_at(graph, to_hub, e) == to_hub->targets[e] * 3.0);
        td_graph_destroy(graph);
        td_edges_destroy(list);
    }
}

TEST(a_symmetric_input_is_stored_once)
{
    sample of = {.seed = 9, .vertices = 50, .edges = 400, .chunks = 3, .weights = BYTES, .names = CLOSE};
    for (int spoiled = 0; spoiled < 3; spoiled++) {
        td_edge_list *list = list_of(&of);
        for (uint64_t i = 0; i < of.edges; i++) { /* the other direction, listed as an edge of its own */
            edge back = edge_of(&of, i), there = back;
            if (back.source == back.target) continue;
            back.source = there.target;
            back.target = there.source;
            if (spoiled == 1 && i == 7) back.weight = back.weight == 1 ? 2 : 1;
            if (spoiled == 2 && i == 7) continue;
            put_edge(list, &of, 8, &back);
        }
        td_graph *graph = NULL;
        CHECK_OK(td_graph_build(&graph, list, NULL, NULL));
        CHECK_EQ(graph->symmetric, spoiled == 0);
        CHECK_EQ(graph->in.offsets == graph->out.offsets, spoiled == 0);
        CHECK_OK(td_graph_check(graph, NULL));
        td_graph_destroy(graph);
        td_edges_destroy(list);
    }
}

TEST(the_lightest_of_parallel_edges_is_kept)
{
    static const float weights[] = {3, -0.0f, 0, -2.5f, 7, -2.5f};
    td_edge_list *list = NULL;
    td_edge_chunk *chunk = NULL;
    td_graph *graph = NULL;
    CHECK_OK(td_edges_create(&list, NULL));
    list->weighted = true;
    for (int i = 0; i < 6; i++) {
        CHECK_OK(td_edges_chunk(list, (uint64_t)(5 - i), &chunk));
        CHECK_OK(td_chunk_reserve(chunk, 1, true));
        CHECK_OK(td_chunk_put(chunk, 4, 5));
        td_chunk_weight_real(chunk, weights[i]);
    }
    CHECK_OK(td_graph_build(&graph, list, &(td_build_options){.dedup = true}, NULL));
    CHECK_EQ(graph->edges, 1);
    CHECK(td_weight_at(graph, &graph->out, 0) == -2.5);
    td_graph_destroy(graph);
    td_edges_destroy(list);
}

/* Attached weights. */

static void check_attached(const td_graph *graph, const td_adjacency *adjacency, const td_build_options *options)
{
    float low = (float)options->weight_low, high = (float)options->weight_high;
    double lowest = INFINITY, highest = -INFINITY;
    for (uint64_t e = 0; e < graph->edges; e++) {
        double weight = td_weight_at(graph, adjacency, e);
        if (options->weight_real) CHECK(weight >= (double)low && (weight < (double)high || low == high));
        else CHECK(weight >= options->weight_low && weight <= options->weight_high && weight == floor(weight));
        lowest = fmin(lowest, weight);
        highest = fmax(highest, weight);
    }
    CHECK(graph->weight_min == lowest && graph->weight_max == highest);
}

/* The weight of the first edge from a to b. */
static double weight_between(const td_graph *graph, uint32_t a, uint32_t b)
{
    for (uint64_t e = graph->out.offsets[a]; e < graph->out.offsets[a + 1]; e++)
        if (graph->out.targets[e] == b) return td_weight_at(graph, &graph->out, e);
    return -1e9;
}

TEST(attached_weights_keep_their_range_and_agree_both_ways)
{
    static const struct {
        const char *range;
        td_weight_kind kind;
    } ranges[] = {{"1:100", TD_WEIGHT_U8},         {"0:255", TD_WEIGHT_U8}, {"5:5", TD_WEIGHT_U8},
                  {"0:256", TD_WEIGHT_U16},        {"1:65536", TD_WEIGHT_U32}, {"0:4294967295", TD_WEIGHT_U32},
                  {"0.0:1.0", TD_WEIGHT_F32},      {"-1:1", TD_WEIGHT_F32}, {"0.7:0.7", TD_WEIGHT_F32},
                  {"1e-3:2e30", TD_WEIGHT_F32},    {"16777216.0:16777218.0", TD_WEIGHT_F32}};
    start_pools();
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++)
        for (int bits = 0; bits < 8; bits++) {
            td_build_options options = {.symmetrize = bits & 1, .dedup = bits & 2, .out_only = bits & 4,
                                        .weight_seed = r};
            sample of = {.seed = r, .vertices = 60, .edges = 500, .chunks = 2, .weights = bits & 2 ? WORDS : UNWEIGHTED,
                         .names = DECLARED};
            CHECK_OK(td_parse_weights(ranges[r].range, &options));
            td_graph *graph = build_all(&of, &options, pools[bits % 3]);
            check_graph(graph, &of, &options);
            CHECK_OK(td_graph_check(graph, NULL));
            CHECK_STR(td_weight_name(graph->weights), td_weight_name(ranges[r].kind));
            check_attached(graph, &graph->out, &options);
            if (graph->in.offsets != NULL) check_attached(graph, &graph->in, &options);
            for (uint32_t v = 0; v < graph->vertices; v++)
                for (uint64_t e = graph->out.offsets[v]; e < graph->out.offsets[v + 1]; e++) {
                    double there = td_weight_at(graph, &graph->out, e);
                    double back = weight_between(graph, graph->out.targets[e], v);
                    CHECK(back == -1e9 || back == there);
                }
            td_graph_destroy(graph);
        }
    stop_pools();
}

TEST(attached_weights_come_from_their_seed)
{
    sample of = {.seed = 4, .vertices = 500, .edges = 5000, .chunks = 2, .names = DECLARED};
    td_build_options options = {.attach_weights = true, .weight_low = 1, .weight_high = 100, .weight_seed = 1};
    uint64_t digests[3] = {0};
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        options.weight_seed = i == 2 ? 2 : 1;
        td_graph *graph = build_all(&of, &options, NULL);
        CHECK_OK(td_graph_digest(graph, NULL, &digests[i]));
        for (uint64_t e = 0; i == 0 && e < graph->edges; e++) sum += td_weight_at(graph, &graph->out, e);
        td_graph_destroy(graph);
    }
    CHECK(digests[0] == digests[1] && digests[0] != digests[2]);
    CHECK(fabs(sum / 5000 - 50.5) < 2);
}

TEST(weight_ranges_are_read_or_refused)
{
    static const char *const bad[] = {"", ":", "1", "1:", ":2", "5:1", "a:b", "1:2:3", "nan:1", "1:inf", " 1:2", "1 :2",
                                      "0.5:0.1", "1:1e999"};
    td_build_options options = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_STATUS(td_parse_weights(bad[i], &options), TD_USAGE);
        CHECK_CONTAINS(td_last_message(), bad[i]);
        CHECK(!options.attach_weights);
    }
    CHECK_STATUS(td_parse_weights("1:4294967296", &options), TD_LIMIT);
    CHECK_STATUS(td_parse_weights("1.0:1e39", &options), TD_LIMIT);
    CHECK_OK(td_parse_weights("2:9", &options));
    CHECK(options.attach_weights && !options.weight_real && options.weight_low == 2 && options.weight_high == 9);
    CHECK_OK(td_parse_weights("-0.5:1e3", &options));
    CHECK(options.weight_real && options.weight_low == -0.5 && options.weight_high == 1000);
}

/* The smallest graphs. */

TEST(nothing_at_all_is_a_graph)
{
    static const td_build_options all[] = {{0}, {.symmetrize = true, .dedup = true, .drop_loops = true},
                                           {.out_only = true},
                                           {.attach_weights = true, .weight_low = 1, .weight_high = 9}};
    for (int i = 0; i < 16; i++) {
        td_edge_list *list = NULL;
        td_graph *graph = NULL;
        CHECK_OK(td_edges_create(&list, NULL));
        list->declared = i & 4;
        list->vertices = list->declared ? 3 : 0;
        list->weighted = i & 8;
        CHECK_OK(td_graph_build(&graph, list, &all[i % 4], NULL));
        CHECK_EQ(graph->vertices, list->declared ? 3 : 0);
        CHECK_EQ(graph->edges, 0);
        CHECK(graph->weight_min == 0 && graph->weight_max == 0);
        for (uint32_t v = 0; v <= graph->vertices; v++) CHECK_EQ(graph->out.offsets[v], 0);
        CHECK_OK(td_graph_check(graph, NULL));
        td_graph_destroy(graph);
        td_edges_destroy(list);
    }
}

TEST(a_single_vertex_with_a_loop)
{
    for (int drop = 0; drop < 2; drop++) {
        td_edge_list *list = NULL;
        td_graph *graph = NULL;
        CHECK_OK(td_edges_create(&list, NULL));
        td_edge_chunk *chunk = NULL;
        CHECK_OK(td_edges_chunk(list, 0, &chunk));
        CHECK_OK(td_chunk_reserve(chunk, 1, false));
        CHECK_OK(td_chunk_put(chunk, UINT64_MAX, UINT64_MAX));
        CHECK_OK(td_graph_build(&graph, list, &(td_build_options){.drop_loops = drop}, NULL));
        CHECK_EQ(graph->vertices, 1);
        CHECK_EQ(graph->edges, 1 - drop);
        CHECK(td_graph_id(graph, 0) == UINT64_MAX);
        CHECK(graph->symmetric);
        td_graph_destroy(graph);
        td_edges_destroy(list);
    }
}

TEST(vertices_are_found_by_their_original_ids)
{
    for (int names = 0; names < NAMINGS; names++) {
        sample of = {.seed = 3, .vertices = 40, .edges = 200, .chunks = 1, .names = (naming)names};
        td_graph *graph = build_all(&of, NULL, NULL);
        for (uint32_t v = 0; v < graph->vertices; v++) {
            uint32_t found = TD_NO_VERTEX;
            CHECK_OK(td_graph_find(graph, td_graph_id(graph, v), &found));
            CHECK_EQ(found, v);
        }
        uint32_t found = 7;
        CHECK_STATUS(td_graph_find(graph, 0, &found), TD_NOT_FOUND);
        CHECK_STATUS(td_graph_find(graph, UINT64_MAX, &found), TD_NOT_FOUND);
        CHECK_CONTAINS(td_last_message(), "18446744073709551615 is not in sample");
        CHECK_EQ(found, 7);
        td_graph_destroy(graph);
    }
}

TEST(a_graph_counts_its_bytes)
{
    sample of = {.seed = 3, .vertices = 100, .edges = 1000, .chunks = 1, .weights = SHORTS, .names = DECLARED};
    td_graph *graph = build_all(&of, NULL, NULL);
    CHECK_EQ(td_graph_bytes(graph), 2 * (101 * 8 + 1000 * 6));
    td_graph_destroy(graph);
    graph = build_all(&of, &(td_build_options){.symmetrize = true, .drop_weights = true}, NULL);
    CHECK_EQ(td_graph_bytes(graph), 101 * 8 + graph->edges * 4);
    td_graph_destroy(graph);
}

/* The check of a graph's claims finds each kind of damage. */

static td_graph *sound_graph(void)
{
    sample of = {.seed = 6, .vertices = 80, .edges = 900, .chunks = 1, .weights = SHORTS, .names = CLOSE};
    td_graph *graph = build_all(&of, NULL, NULL);
    CHECK(graph->ids != NULL && !graph->symmetric);
    CHECK_OK(td_graph_check(graph, NULL));
    return graph;
}

static void damage(td_graph *graph, int kind)
{
    uint32_t *targets = graph->out.targets;
    uint16_t *weights = graph->out.weights;
    switch (kind) {
    case 0: graph->out.offsets[0] = 1; break;
    case 1: graph->out.offsets[graph->vertices]--; break;
    case 2: graph->out.offsets[5] = graph->out.offsets[6] + 1; break;
    case 3: graph->in.offsets[5] = UINT64_MAX; break;
    case 4: targets[graph->out.offsets[3] + 1] = graph->vertices; break;
    case 5: targets[graph->out.offsets[3]] = graph->vertices - 1; break;
    case 6: graph->weight_max--; break;
    case 7: graph->weight_min++; break;
    case 8: weights[0] ^= 1; break; /* in the range still, but not the transpose's any more */
    case 9: graph->ids[4] = graph->ids[3]; break;
    default: graph->in.targets[graph->edges - 1] = graph->in.targets[graph->edges - 2]; break;
    }
}

TEST(every_damage_to_a_graph_is_found)
{
    for (int kind = 0; kind <= 10; kind++) {
        td_graph *graph = sound_graph();
        damage(graph, kind);
        CHECK_STATUS(td_graph_check(graph, NULL), TD_CORRUPT);
        CHECK_CONTAINS(td_last_message(), "sample: ");
        td_graph_destroy(graph);
    }
}

TEST(a_digest_tells_graphs_apart)
{
    td_graph *graph = sound_graph();
    uint64_t digest = 0, other = 0;
    CHECK_OK(td_graph_digest(graph, NULL, &digest));
    uint16_t *weights = graph->out.weights;
    weights[9] ^= 1;
    CHECK_OK(td_graph_digest(graph, NULL, &other));
    CHECK(digest != other);
    weights[9] ^= 1;
    graph->ids[7]++;
    CHECK_OK(td_graph_digest(graph, NULL, &other));
    CHECK(digest != other);
    graph->ids[7]--;
    graph->out.targets[3] ^= 1;
    CHECK_OK(td_graph_digest(graph, NULL, &other));
    CHECK(digest != other);
    graph->out.targets[3] ^= 1;
    CHECK_OK(td_graph_digest(graph, NULL, &other));
    CHECK(digest == other);
    td_graph_destroy(graph);
}

/* Failures. */

TEST(running_out_of_memory_anywhere_is_an_error_without_a_leak)
{
    static const td_build_options all[] = {{0}, {.symmetrize = true, .dedup = true},
                                           {.attach_weights = true, .weight_low = 1, .weight_high = 9}};
    start_pools();
    for (int o = 0; o < 3; o++)
        for (int threads = 0; threads < 2; threads++) {
            td_status status = TD_NO_MEMORY;
            for (uint64_t nth = 1; status != TD_OK; nth++) {
                sample of = {.seed = 8, .vertices = 30, .edges = 100, .chunks = 3, .weights = BYTES,
                             .names = (naming)(nth % NAMINGS)};
                td_edge_list *list = list_of(&of);
                td_graph *graph = NULL;
                td_alloc_fail_at(nth);
                status = td_graph_build(&graph, list, &all[o], pools[threads]);
                td_alloc_fail_at(0);
                CHECK(status == TD_OK || status == TD_NO_MEMORY);
                CHECK_EQ(graph != NULL, status == TD_OK);
                CHECK_EQ(td_edges_count(list), 0);
                td_graph_destroy(graph);
                td_edges_destroy(list);
            }
        }
    stop_pools();
}

TEST(bad_edges_and_cancels_end_the_build_without_a_leak)
{
    sample of = {.seed = 8, .vertices = 30, .edges = 100, .chunks = 3, .names = DECLARED};
    td_graph *graph = NULL;
    td_edge_list *list = list_of(&of);
    list->vertices = 20;
    CHECK_STATUS(td_graph_build(&graph, list, NULL, NULL), TD_FORMAT);
    td_edges_destroy(list);
    list = list_of(&of);
    td_cancel_request();
    td_status status = td_graph_build(&graph, list, NULL, NULL);
    td_cancel_clear();
    CHECK_EQ(status, TD_CANCELLED);
    td_edges_destroy(list);
    CHECK(graph == NULL);
}

TEST_MAIN
