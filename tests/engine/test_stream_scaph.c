/* Scaph as published, for all of its programs: CC (labels), SSSP, MST, NNDR (nn) and GCS (circuit). Only the edges of
 * active vertices cross, the variants of Figure 13 differ, and every mechanism has a counter that is worse without it.
 * The emulated machine is deterministic, so that all inequalities are strict. */
#include "engine/stream_ways.h"

#include "store/formats/format.h"
#include "store/gen.h"

#include <math.h>

typedef struct counted {
    uint64_t iterations, moved, useful, whole, extracted, chunks, edges, rounds, evictions;
    uint32_t levels;
    double seconds; /* virtual */
} counted;

/* Graphs. */

static td_graph *from_text(const char *text, td_build_options build)
{
    td_graph *graph = NULL;
    const char *path = test_path("graph.txt");
    test_write_file(path, text, strlen(text));
    CHECK_OK(td_graph_read(&graph, path, "edgelist", &build, NULL));
    return graph;
}

/* Layers of neurons, each with as many edges to the next layer; every neuron but the first layer's has inputs. The
 * numbers of a layer's neurons are consecutive, or as far apart as there are layers (`mixed`): then every subgraph has
 * edges of every layer. */
enum { LAYERS = 8, WIDTH = 1000, FAN = 8 };

static uint32_t neuron(uint32_t layer, uint32_t v, uint32_t width, bool mixed)
{
    return mixed ? v * LAYERS + layer : layer * width + v;
}

static td_graph *network(uint32_t width, bool mixed)
{
    td_graph *graph;
    char *text = malloc((size_t)(LAYERS - 1) * width * FAN * 24), *at = text;
    for (uint32_t l = 0; l + 1 < LAYERS; l++)
        for (uint32_t v = 0; v < width; v++)
            for (uint32_t k = 0; k < FAN; k++)
                at += sprintf(at, "%u %u %d.25\n", neuron(l, v, width, mixed),
                              neuron(l + 1, (v + k * 37 + k * k) % width, width, mixed), (int)((v + 3 * k) % 7) - 3);
    graph = from_text(text, (td_build_options){0});
    free(text);
    return graph;
}

/* Dense clusters, whose edges are in few subgraphs, and a few edges between them. */
static td_graph *clusters(uint32_t count, uint32_t size)
{
    td_graph *graph;
    char *text = malloc((size_t)count * size * size * 24), *at = text;
    for (uint32_t c = 0; c < count; c++) {
        for (uint32_t a = 0; a < size; a++)
            for (uint32_t b = a + 1; b < size; b++)
                at += sprintf(at, "%u %u %u\n", c * size + a, c * size + b, 1 + (a * 31 + b * 17 + c * 7) % 50);
        at += sprintf(at, "%u %u %u\n", c * size, (c + 1) % count * size, 60 + c % 30);
    }
    graph = from_text(text, (td_build_options){.symmetrize = true, .dedup = true});
    free(text);
    return graph;
}

static td_graph *generated(const char *kind, uint64_t scale, uint64_t degree, uint64_t width)
{
    td_graph *graph = NULL;
    td_build_options build = {.symmetrize = true, .dedup = true, .drop_loops = true, .attach_weights = true,
                              .weight_low = 1, .weight_high = 100, .weight_seed = 7};
    td_gen_spec spec = {.kind = kind, .seed = 7, .scale = scale, .degree = degree, .width = width, .rewire = -1};
    CHECK_OK(td_graph_generate(&graph, &spec, &build, NULL));
    return graph;
}

/* Runs. */

static td_run *run_with(const char *program, const td_graph *graph, const char *settings)
{
    td_run_options options = {.engine = "stream", .devices = small_machine_path(), .gpu_edges = 0.25};
    options.source = busiest(graph);
    options.has_source = program_of(program)->info->needs_source;
    options.has_tolerance = strcmp(program, "circuit") == 0;
    options.tolerance = 0.01;
    if (options.has_tolerance) options.gpu_edges = 0.5; /* few edges, of which some subgraphs must fit */
    return run_of(program, graph, options, settings);
}

static counted count(const char *program, const td_graph *graph, const char *settings)
{
    td_run *run = run_with(program, graph, settings);
    counted sum = {.iterations = run->iterations, .edges = run->edges_processed, .seconds = run->device_seconds};
    for (uint32_t i = 0; i < run->row_count; i++) {
        const td_row *row = &run->full_rows[i];
        sum.whole += row->bytes_whole;
        sum.extracted += row->bytes_extracted;
        sum.moved += row->bytes_whole + row->bytes_extracted + row->bytes_direct;
        sum.useful += row->bytes_useful;
        sum.chunks += row->chunks_sent;
        sum.rounds += row->rounds;
        sum.evictions += row->evictions;
        if (row->levels > sum.levels) sum.levels = row->levels;
    }
    td_run_destroy(run);
    return sum;
}

/* The five programs of the paper, each with a graph and subgraphs of a size that leaves some of them on the device. */
typedef struct scene {
    const char *program, *subgraph;
    td_graph *graph;
} scene;

enum { SCENES = 5 };
enum { LBASE, HBASE, HVSP, LVSP, SCAPH, VARIANTS };

static void make_scenes(scene *out)
{
    out[0] = (scene){"labels", "2K", generated("web", 9, 16, 0)};
    out[1] = (scene){"sssp", "2K", generated("web", 9, 16, 0)};
    out[2] = (scene){"mst", "4K", clusters(40, 20)};
    out[3] = (scene){"nn", "2K", network(200, false)};
    out[4] = (scene){"circuit", "256", generated("grid", 0, 0, 10)};
}

static void count_variants(const scene *of, counted *out)
{
    static const char *const names[VARIANTS] = {[LBASE] = "lbase", [HBASE] = "hbase",
                                                [HVSP] = "hvsp", [LVSP] = "lvsp", [SCAPH] = "scaph"};
    for (int v = LBASE; v < VARIANTS; v++) {
        char text[160];
        snprintf(text, sizeof text, "stream.subgraph=%s stream.variant=%s", of->subgraph, names[v]);
        out[v] = count(of->program, of->graph, text);
    }
}

#define LESS(what, a, b)                                                                                       \
    do {                                                                                                       \
        double a_ = (double)(a), b_ = (double)(b);                                                             \
        if (!(a_ < b_)) TEST_FAIL("%s: %s: %s is %g, %s is %g", name, what, #a, a_, #b, b_);                   \
    } while (0)

static bool alike(const counted *a, const counted *b)
{
    return a->iterations == b->iterations && a->moved == b->moved && a->rounds == b->rounds && a->edges == b->edges;
}

/* Figure 13. The queue of levels and fixed repeats process subgraphs again, extraction copies none whole, and Scaph
 * does both, for every program that the paper ran. */
TEST(the_variants_of_the_papers_figure_differ_for_all_of_its_programs)
{
    scene scenes[SCENES];
    make_scenes(scenes);
    for (int i = 0; i < SCENES; i++) {
        const char *name = scenes[i].program;
        counted of[VARIANTS];
        count_variants(&scenes[i], of);
        for (int a = LBASE; a < VARIANTS; a++)
            for (int b = LBASE; b < a; b++)
                if (alike(&of[a], &of[b])) TEST_FAIL("%s: variants %d and %d have the same counters", name, a, b);
        LESS("the queue of levels", of[LBASE].rounds, of[HVSP].rounds);
        LESS("fixed repeats", of[LBASE].rounds, of[HBASE].rounds);
        LESS("fixed repeats", 0, of[HBASE].whole);
        LESS("extraction", 0, of[LVSP].extracted);
        CHECK_EQ(of[LVSP].whole, 0);
        LESS("Scaph", 0, of[SCAPH].whole);
        LESS("Scaph", 0, of[SCAPH].extracted);
        CHECK_EQ(of[LBASE].levels, 1);
        CHECK_EQ(of[HBASE].levels, 1);
        LESS("levels", 1, of[HVSP].levels);
        LESS("levels", 1, of[SCAPH].levels);
        if (strcmp(name, "sssp") != 0) LESS("repeats save iterations", of[HBASE].iterations, of[LBASE].iterations);
        if (i == 1 || i == 2) LESS("against Graphie", of[SCAPH].moved, of[LBASE].moved);
        td_graph_destroy(scenes[i].graph);
    }
}

/* Components within a subgraph hook while it is on the device: fewer of Boruvka's rounds, so that less crosses. */
TEST(a_forest_needs_fewer_rounds_when_subgraphs_are_reprocessed)
{
    const char *name = "mst";
    td_graph *graph = clusters(40, 20);
    counted lbase = count("mst", graph, "stream.subgraph=4K stream.variant=lbase");
    counted hvsp = count("mst", graph, "stream.subgraph=4K stream.variant=hvsp");
    counted lvsp = count("mst", graph, "stream.subgraph=4K stream.variant=lvsp");
    LESS("rounds", hvsp.iterations, lbase.iterations);
    LESS("moved", hvsp.moved, lbase.moved);
    LESS("moved", lvsp.moved, lbase.moved);
    LESS("extracted", 0, lvsp.extracted);
    CHECK_EQ(lvsp.moved, lvsp.extracted);
    td_graph_destroy(graph);
}

/* A layer at a time: 8,000 of 56,000 edges are useful in an iteration. */
TEST(of_a_layered_network_only_the_active_layer_crosses)
{
    const char *name = "nn";
    td_graph *graph = network(WIDTH, true), *sorted = network(WIDTH, false);
    CHECK_EQ(graph->edges, (LAYERS - 1) * WIDTH * FAN);
    td_run *run = run_with("nn", graph, "stream.subgraph=8K stream.variant=lvsp");
    for (uint32_t i = 0; i + 1 < LAYERS; i++) CHECK_EQ(run->rows[i].active_edges, WIDTH * FAN);
    td_run_destroy(run);
    counted plain = count("nn", graph, "stream.subgraph=8K stream.activity=off stream.compress=off");
    counted full = count("nn", graph, "stream.subgraph=8K");
    counted lbase = count("nn", graph, "stream.subgraph=8K stream.variant=lbase");
    counted lvsp = count("nn", graph, "stream.subgraph=8K stream.variant=lvsp");
    CHECK_EQ(full.edges, (LAYERS - 1) * WIDTH * FAN);
    LESS("extraction", 3 * lvsp.moved, lbase.moved);
    LESS("extraction", 4 * lvsp.moved, plain.moved);
    full = count("nn", sorted, "stream.subgraph=8K");
    plain = count("nn", sorted, "stream.subgraph=8K stream.activity=off stream.compress=off");
    LESS("activity", 4 * full.moved, plain.moved);
    td_graph_destroy(sorted);
    td_graph_destroy(graph);
}

/* Extracts of many subgraphs lie close together in a chunk: on a machine whose copies take 6 us to start, one copy for
 * each of them would take longer than copying whole subgraphs of 4 KiB does. */
TEST(extracts_of_several_subgraphs_cross_in_one_copy)
{
    const char *name = "nn";
    td_graph *graph = network(WIDTH, true);
    double seconds[2];
    for (int whole = 0; whole < 2; whole++) {
        td_run_options options = {.engine = "stream", .devices = "emu@h200", .gpu_edges = 0.25};
        td_run *run = run_of(name, graph, options, whole ? "stream.subgraph=4K stream.variant=lbase"
                                                         : "stream.subgraph=4K stream.variant=lvsp");
        seconds[whole] = run->device_seconds;
        td_run_destroy(run);
    }
    LESS("time", 2 * seconds[0], seconds[1]);
    td_graph_destroy(graph);
}

/* Heat spreads from one vertex of a grid; PageRank's values all change. */
TEST(activity_saves_what_has_not_changed)
{
    const char *name = "heat";
    td_graph *graph = generated("grid", 0, 0, 64);
    counted with = count("heat", graph, "stream.subgraph=2K stream.activity=on");
    counted without = count("heat", graph, "stream.subgraph=2K stream.activity=off");
    LESS("moved", with.moved, without.moved);
    LESS("edges", with.edges, without.edges);
    td_graph_destroy(graph);
}

/* Heat spreads from one vertex of a grid: few values change at first, then more than a push is worth. */
TEST(mixed_pushes_while_few_values_change_and_gathers_afterwards)
{
    const char *name = "heat";
    enum { ITERATIONS = 20 };
    td_graph *graph = generated("grid", 0, 0, 64);
    td_run *runs[2];
    uint64_t moved[2] = {0, 0}, gathers = 0;
    for (int off = 0; off < 2; off++) {
        td_run_options options = {.engine = "stream", .devices = small_machine_path(), .gpu_edges = 0.25,
                                  .has_iterations = true, .iterations = ITERATIONS};
        const char *settings = off ? "stream.subgraph=4K stream.activity=off" : "stream.subgraph=4K stream.activity=mixed";
        runs[off] = run_of(name, graph, options, settings);
        for (const td_row *row = runs[off]->full_rows; row < runs[off]->full_rows + ITERATIONS; row++)
            moved[off] += row->bytes_whole + row->bytes_direct;
    }
    for (uint32_t i = 0; i < ITERATIONS; i++) {
        const td_row *row = &runs[0]->full_rows[i];
        bool gathered = strcmp(row->direction, "pull") == 0;
        gathers += gathered;
        if (gathered) CHECK_EQ(row->edges, graph->edges);
        else LESS("edges of a push", 4 * row->edges, graph->edges);
        if (i < 4) CHECK(!gathered);
    }
    LESS("gathers", UINT64_C(0), gathers);
    LESS("bytes", 2 * moved[0], moved[1]);
    LESS("time", runs[0]->device_seconds, runs[1]->device_seconds);
    const float *chosen = runs[0]->values, *gathered = runs[1]->values;
    for (uint32_t v = 0; v < graph->vertices; v++)
        if (fabsf(chosen[v] - gathered[v]) > 1e-5f * (1 + gathered[v]))
            TEST_FAIL("vertex %u: %g, %g", v, (double)chosen[v], (double)gathered[v]);
    for (int off = 0; off < 2; off++) td_run_destroy(runs[off]);
    td_graph_destroy(graph);
}

/* A circuit's voltages change near its sources first; by default a run does not gather along every edge for them. */
TEST(a_circuit_begins_with_pushes)
{
    const char *name = "circuit";
    td_graph *graph = generated("grid", 0, 0, 64);
    td_run *runs[2];
    for (int off = 0; off < 2; off++) {
        td_run_options options = {.engine = "stream", .devices = small_machine_path(), .gpu_edges = 0.3,
                                  .has_tolerance = true, .tolerance = 0.02};
        runs[off] = run_of(name, graph, options, off ? "stream.subgraph=8K stream.activity=off" : "stream.subgraph=8K");
    }
    LESS("edges", 2 * runs[0]->edges_processed, runs[1]->edges_processed);
    LESS("time", runs[0]->device_seconds, runs[1]->device_seconds);
    for (int off = 0; off < 2; off++) td_run_destroy(runs[off]);
    td_graph_destroy(graph);
}

/* Refusals. */

static void refuses(const char *program, td_run_options options, const char *setting, const char *reason)
{
    td_settings settings;
    stream_settings_of(&settings, setting);
    options.settings = &settings;
    CHECK_STATUS(td_streaming_check_request(program_of(program), &options), TD_USAGE);
    if (strstr(td_last_message(), reason) == NULL) TEST_FAIL("%s: %s", setting, td_last_message());
    td_settings_clear(&settings);
}

TEST(a_variant_that_cannot_differ_is_refused_with_the_reason)
{
    td_run_options plain = {0}, sync = {.mode = TD_MODE_SYNC}, async = {.mode = TD_MODE_ASYNC}, limited = {.has_iterations = true, .iterations = 5};
    static const char *const repeating[] = {"stream.variant=hvsp", "stream.variant=hbase"};
    for (int i = 0; i < 2; i++) {
        refuses("bfs", plain, repeating[i], "every level once");
        refuses("wcc", plain, repeating[i], "labels finds the same components");
        refuses("heat", plain, repeating[i], "number of steps");
        refuses("pagerank", plain, repeating[i], "sum over all vertices");
        refuses("circuit", sync, repeating[i], "synchronous");
        refuses("labels", limited, repeating[i], "limit on iterations");
    }
    refuses("pagerank", plain, "stream.activity=mixed", "pagerank is not");
    refuses("circuit", async, "stream.activity=mixed", "synchronous");
    refuses("heat", plain, "stream.activity=mixed stream.prepared=read", "graph's own lists");
    refuses("pagerank", plain, "stream.alpha=0.4 stream.rules=paper", "stream.activity=on");
    refuses("labels", plain, "stream.levels=2", "stream.prefix=0");
    refuses("mst", plain, "stream.levels=2", "survivors");
    refuses("bfs", plain, "stream.variant=scaph stream.direction=push", "it is for every stream.variant but scaph");
    refuses("sssp", plain, "stream.variant=scaph stream.delta=3", "it is for every stream.variant but scaph");
    refuses("sssp", plain, "stream.variant=scaph stream.rules=paper", "it is for stream.variant=full");
    refuses("sssp", plain, "stream.rules=cost stream.alpha=0.4", "scaph, and full with stream.rules=paper");
}

/* Values depend on the order where a network has a cycle. */
TEST(a_network_with_a_cycle_is_not_reprocessed)
{
    td_graph *graph = from_text("0 1 0.5\n1 2 0.5\n2 1 -0.25\n2 3 0.5\n", (td_build_options){0});
    bool acyclic = true;
    CHECK_OK(td_streaming_is_acyclic(graph, &acyclic));
    CHECK(!acyclic);
    td_graph_destroy(graph);
    graph = network(10, false);
    CHECK_OK(td_streaming_is_acyclic(graph, &acyclic));
    CHECK(acyclic);
    td_graph_destroy(graph);
}

/* Mechanisms. */

/* With one level a subgraph is processed once per iteration, with more again while others are copied. */
TEST(more_levels_process_subgraphs_more_often)
{
    const char *name = "sssp";
    td_graph *graph = generated("web", 9, 16, 0);
    counted one = count("sssp", graph, "stream.subgraph=2K stream.variant=hvsp stream.levels=1");
    counted two = count("sssp", graph, "stream.subgraph=2K stream.variant=hvsp stream.levels=2");
    counted eight = count("sssp", graph, "stream.subgraph=2K stream.variant=hvsp stream.levels=8");
    counted lbase = count("sssp", graph, "stream.subgraph=2K stream.variant=lbase");
    CHECK_EQ(one.levels, 1);
    CHECK_EQ(two.levels, 2);
    CHECK_EQ(eight.levels, 8);
    LESS("rounds", one.rounds, two.rounds);
    LESS("rounds", two.rounds, eight.rounds);
    LESS("moved", eight.moved, lbase.moved);
    counted once = count("sssp", graph, "stream.subgraph=2K stream.variant=hbase stream.repeats=1");
    counted thrice = count("sssp", graph, "stream.subgraph=2K stream.variant=hbase stream.repeats=3");
    CHECK(alike(&once, &lbase));
    LESS("moved", thrice.moved, once.moved);
    LESS("rounds", once.rounds, thrice.rounds);
    td_graph_destroy(graph);
}

/* k is the rate of the device's memory over that of the link: reading and writing at 48 GB/s beside a link of 12. */
TEST(the_number_of_levels_follows_the_measured_rates)
{
    static const char slow[] = "gpus 1\nmultiprocessors 1\nresident-threads 256\nlaunch 1ns\nfinish 1ns\n"
                               "grid-barrier 1ns\nmemory-rate 48GB/s\noperation-rate 32T/s\natomic-rate 4T/s\n"
                               "host-link each 12GB/s 12GB/s 1ns\nhost-gather 8GB/s\ncheck off\n";
    td_graph *graph = generated("web", 9, 16, 0);
    uint32_t levels[2];
    for (int i = 0; i < 2; i++) {
        td_run_options options = {.engine = "stream", .gpu_edges = 0.25,
                                  .devices = i == 0 ? emulated("slow.topology", slow) : small_machine_path()};
        td_run *run = run_of("labels", graph, options, "stream.subgraph=4K stream.variant=hvsp");
        levels[i] = run->full_rows[0].levels;
        td_run_destroy(run);
    }
    if (levels[0] < 3 || levels[0] > 4) TEST_FAIL("%u levels, where memory is 4 times as fast as the link", levels[0]);
    CHECK_EQ(levels[1], 8);
    td_graph_destroy(graph);
}

/* The longest prefix of all lists whose edges fit, and no edge more. */
TEST(the_prefix_is_the_longest_that_fits)
{
    td_graph *graph = from_text("0 1\n0 2\n0 3\n1 2\n1 3\n2 3\n", (td_build_options){0});
    td_streaming_shape shape = {.pushes = 1};
    static const struct { uint64_t room, edges; uint32_t most; } rows[] = {
        {0, 0, 0}, {2, 0, 0}, {3, 3, 1}, {4, 3, 1}, {5, 5, 2}, {6, 6, 3}, {100, 6, 3}};
    for (uint64_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t edges;
        uint32_t most;
        td_streaming_degree degree = td_streaming_degree_of(graph, &shape, false);
        CHECK_OK(td_streaming_fit_prefix(graph, degree, rows[i].room, &most, &edges, NULL));
        CHECK_EQ(edges, rows[i].edges);
        CHECK_EQ(most, rows[i].most);
    }
    td_graph_destroy(graph);
}

/* Lists of 64 edges, 8 of them in a subgraph. Active in the first iteration are those without in-edges: 5, 5, 2 and 2
 * in the first subgraphs, which take 0.7 and 0.28 of a chunk. */
static td_graph *inputs_by_subgraph(void)
{
    enum { SOURCES = 64, EACH = 8, LENGTH = 64 };
    static const uint32_t active[SOURCES / EACH] = {5, 5, 2, 2};
    td_graph *graph;
    char *text = malloc(SOURCES * LENGTH * 16), *at = text;
    uint32_t fed = 0;
    for (uint32_t u = 0; u < SOURCES; u++)
        if (u % EACH >= active[u / EACH]) at += sprintf(at, "0 %u 0.5\n", u), fed++;
    for (uint32_t u = 0; u < SOURCES; u++)
        for (uint32_t k = u == 0 ? fed : 0; k < LENGTH; k++) at += sprintf(at, "%u %u 0.5\n", u, SOURCES + k);
    graph = from_text(text, (td_build_options){0});
    free(text);
    CHECK_EQ(graph->edges, SOURCES * LENGTH);
    return graph;
}

/* A large extract and a small one share a chunk: the third subgraph revisits the chunk of the first. */
TEST(partly_filled_chunks_are_revisited)
{
    td_graph *graph = inputs_by_subgraph();
    td_run_options options = {.engine = "stream", .devices = small_machine_path(), .gpu_edges = 0.6};
    td_run *run = run_of("nn", graph, options, "stream.subgraph=4K stream.variant=lvsp");
    CHECK_EQ(run->full_rows[0].subgraphs_extracted, 4);
    CHECK_EQ(run->full_rows[0].chunks_sent, 2);
    td_run_destroy(run);
    td_graph_destroy(graph);
}

/* Alpha and beta decide between whole and extracted subgraphs. */
TEST(alpha_and_beta_divide_the_subgraphs_of_scaph)
{
    const char *name = "sssp";
    td_graph *graph = generated("web", 9, 16, 0);
    counted low = count("sssp", graph, "stream.subgraph=2K stream.variant=scaph stream.alpha=0 stream.beta=0");
    counted middle = count("sssp", graph, "stream.subgraph=2K stream.variant=scaph");
    counted beta = count("sssp", graph, "stream.subgraph=2K stream.variant=scaph stream.alpha=1 stream.beta=0");
    counted high = count("sssp", graph, "stream.subgraph=2K stream.variant=scaph stream.alpha=1 stream.beta=1");
    CHECK_EQ(low.extracted, 0);
    CHECK_EQ(high.whole, 0);
    LESS("whole", middle.whole, low.whole);
    LESS("extracted", middle.extracted, high.extracted);
    LESS("beta", 0, beta.whole);
    LESS("beta", 0, beta.extracted);
    td_graph_destroy(graph);
}

TEST_MAIN
