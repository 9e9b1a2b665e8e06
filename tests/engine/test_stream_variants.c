/* Scaph's Figure 13 as inequalities, on an emulated GPU, where bytes and times are the same every time: the queue of
 * levels needs no more iterations and moves no more bytes than going over every subgraph once, extraction moves
 * fewer, and choosing a way for every subgraph is no slower than the better of the two engines alone. */
#include "engine/stream_ways.h"

#include "store/gen.h"

/* Graphs. */

static td_graph *generated(const td_gen_spec *spec)
{
    td_graph *graph = NULL;
    td_build_options build = {.symmetrize = true, .dedup = true, .drop_loops = true, .attach_weights = true,
                              .weight_low = 1, .weight_high = 100, .weight_seed = 7};
    CHECK_OK(td_graph_generate(&graph, spec, &build, NULL));
    return graph;
}

/* As skewed as it is dense: lists are about as long as those of the graphs that need this engine. */
static td_graph *skewed(uint64_t scale)
{
    return generated(&(td_gen_spec){.kind = "rmat", .seed = 7, .scale = scale, .degree = 64, .rewire = -1});
}

static td_graph *web(void)
{
    return generated(&(td_gen_spec){.kind = "web", .seed = 7, .scale = 9, .degree = 32, .rewire = -1});
}

static td_graph *grid(void)
{
    return generated(&(td_gen_spec){.kind = "grid", .seed = 7, .width = 48, .rewire = -1});
}

/* Runs. */

typedef struct measured {
    uint64_t iterations, moved, useful, edges;
    double seconds; /* virtual */
} measured;

static td_run *run_variant(const char *program, const td_graph *graph, const char *variant)
{
    char all[160], used[160];
    snprintf(all, sizeof all, "stream.subgraph=2K stream.variant=%s stream.small=1K stream.levels=2", variant);
    stream_settings_used(used, sizeof used, program_of(program), all);
    if (strstr(variant, "hvsp") == NULL) { /* levels are for whole lists on the device */
        char *levels = strstr(used, " stream.levels=2");
        if (levels != NULL) *levels = 0;
    }
    td_run_options options = {.engine = "stream", .devices = small_machine_path(), .gpu_edges = 0.25};
    options.source = busiest(graph);
    options.has_source = program_of(program)->info->needs_source;
    options.has_iterations = strcmp(program, "pagerank") == 0;
    options.iterations = 2;
    return run_of(program, graph, options, used);
}

/* Whether the variant differs from lbase for the program. */
static bool has_variant(const char *program, const char *variant)
{
    char text[64];
    snprintf(text, sizeof text, "stream.variant=%s", variant);
    td_run_options options = {.has_iterations = strcmp(program, "pagerank") == 0};
    return stream_takes(program_of(program), &options, text);
}

static measured measure(const char *program, const td_graph *graph, const char *variant)
{
    td_run *run = run_variant(program, graph, variant);
    measured sum = {.iterations = run->iterations, .edges = run->edges_processed, .seconds = run->device_seconds};
    for (uint32_t i = 0; i < run->row_count; i++) {
        const td_row *row = &run->full_rows[i];
        sum.moved += row->bytes_whole + row->bytes_extracted + row->bytes_direct;
        sum.useful += row->bytes_useful;
    }
    td_run_destroy(run);
    return sum;
}

#define AT_MOST(what, a, b)                                                                                         \
    do {                                                                                                            \
        double a_ = (double)(a), b_ = (double)(b);                                                                  \
        if (!(a_ <= b_)) TEST_FAIL("%s: %s: %s is %g, %s is %g", of->program, what, #a, a_, #b, b_);                \
    } while (0)

typedef struct claim {
    const char *program;
    double gain;   /* how many times as long as full lbase takes, at least; 0: nothing is said of full */
    bool extracts; /* so little is useful that picking it out moves less than copying it whole */
} claim;

static void check_claim(const claim *of, const td_graph *graph)
{
    measured full = measure(of->program, graph, "full");
    bool active = strcmp(of->program, "pagerank") != 0;
    measured paper = measure(of->program, graph, active ? "full stream.rules=paper stream.prefix=0" : "full");
    measured lbase = measure(of->program, graph, "lbase"), lvsp = measure(of->program, graph, "lvsp");
    bool repeats = has_variant(of->program, "hvsp");
    measured hvsp = repeats ? measure(of->program, graph, "hvsp") : lbase;
    measured hbase = repeats ? measure(of->program, graph, "hbase") : lbase;
    double best = hvsp.seconds < lvsp.seconds ? hvsp.seconds : lvsp.seconds;
    AT_MOST("the queue of levels", hvsp.iterations, lbase.iterations);
    AT_MOST("the queue of levels", hvsp.moved, lbase.moved);
    AT_MOST("the queue of levels", hvsp.seconds, 1.001 * lbase.seconds); /* mst: no component is within a subgraph */
    AT_MOST("fixed repeats", hbase.iterations, lbase.iterations);
    if (of->extracts) AT_MOST("extraction", lvsp.moved, lbase.moved);
    if (of->gain == 0) return;
    AT_MOST("each its way, by cost", full.seconds, 1.05 * best);
    AT_MOST("each its way, by the paper's rules", paper.seconds, 1.1 * best);
    AT_MOST("against Graphie", of->gain * full.seconds, lbase.seconds);
}

TEST(on_a_skewed_graph_the_variants_stand_as_in_the_paper)
{
    static const claim claims[] = {
        {"sssp", 0, true}, {"bfs", 19, true}, {"labels", 0, false}, {"wcc", 2.5, false}, {"mst", 3, false},
        {"pagerank", 1, false},
    };
    td_graph *graph = skewed(9);
    for (int i = 0; i < 6; i++) check_claim(&claims[i], graph);
    td_graph_destroy(graph);
}

TEST(on_a_web_graph_the_variants_stand_as_in_the_paper)
{
    static const claim claims[] = {{"sssp", 0, true}, {"bfs", 14, true}, {"wcc", 1.6, false}};
    td_graph *graph = web();
    for (int i = 0; i < 3; i++) check_claim(&claims[i], graph);
    td_graph_destroy(graph);
}

TEST(on_a_grid_the_variants_stand_as_in_the_paper)
{
    static const claim claims[] = {{"sssp", 6, true}, {"bfs", 5, true}};
    td_graph *graph = grid();
    for (int i = 0; i < 2; i++) check_claim(&claims[i], graph);
    td_graph_destroy(graph);
}

TEST(hardly_more_than_the_useful_edges_of_bfs_cross_the_link)
{
    td_graph *graph = skewed(10);
    const claim *of = &(claim){.program = "bfs"};
    measured full = measure(of->program, graph, "full");
    AT_MOST("moved", full.moved, 1.2 * (double)full.useful);
    td_graph_destroy(graph);
}

static uint32_t pulls_of_bfs(const td_graph *graph, const char *engine, double cap)
{
    uint32_t pulls = 0;
    td_run_options options = {.engine = engine, .devices = small_machine_path(), .gpu_edges = cap,
                              .source = busiest(graph), .has_source = true};
    td_run *run = run_of("bfs", graph, options, cap < 1 ? "stream.subgraph=4K stream.small=0" : "");
    for (uint32_t i = 0; i < run->row_count; i++) pulls += strcmp(run->rows[i].direction, "pull") == 0;
    td_run_destroy(run);
    return pulls;
}

/* Lists of equals of which little is on the device: open vertices would read most of theirs. Of a skewed graph the
 * beginnings have somebody active. */
TEST(levels_pull_where_that_reads_less_than_a_push)
{
    td_gen_spec uniform = {.kind = "uniform", .seed = 7, .scale = 13, .degree = 16, .rewire = -1};
    td_graph *equals = generated(&uniform), *hubs = skewed(10);
    CHECK(pulls_of_bfs(equals, "stream", 0.1) < pulls_of_bfs(equals, "resident", 1));
    CHECK(pulls_of_bfs(hubs, "stream", 0.25) > 0);
    CHECK_EQ(pulls_of_bfs(hubs, "stream", 0.25), pulls_of_bfs(hubs, "resident", 1));
    td_graph_destroy(equals);
    td_graph_destroy(hubs);
}

/* Light edges first, and of the others those that still join two components: after that nothing crosses twice. */
TEST(edges_that_survive_spare_a_forest_most_of_its_sweeps)
{
    const claim *of = &(claim){.program = "mst"};
    td_graph *graphs[] = {skewed(9), web()};
    for (int i = 0; i < 2; i++) {
        measured with = measure(of->program, graphs[i], "full"),
            without = measure(of->program, graphs[i], "full stream.survivors=off");
        AT_MOST("moved", 2 * with.moved, without.moved);
        AT_MOST("looked at", 2 * with.edges, without.edges);
        AT_MOST("time", 1.8 * with.seconds, without.seconds);
        td_graph_destroy(graphs[i]);
    }
}

/* Workers pick out a chunk at 8 GB/s while the one before crosses at 12 GB/s and is gone over. */
TEST(extraction_goes_on_while_what_was_extracted_crosses)
{
    const claim *of = &(claim){.program = "labels"};
    td_graph *graph = skewed(10);
    measured lvsp = measure(of->program, graph, "lvsp");
    double one_after_another = (double)lvsp.moved / 8e9 + (double)lvsp.moved / 12e9;
    AT_MOST("three stages", lvsp.seconds, 0.9 * one_after_another);
    td_graph_destroy(graph);
}

/* Sums: every edge in every iteration. */
TEST(subgraphs_in_fewer_bits_spare_the_link_half_of_the_bytes)
{
    const claim *of = &(claim){.program = "pagerank"};
    td_graph *graphs[] = {skewed(9), web()};
    for (int i = 0; i < 2; i++) {
        measured with = measure(of->program, graphs[i], "full stream.subgraph=4K");
        measured without = measure(of->program, graphs[i], "full stream.subgraph=4K stream.compress=off");
        AT_MOST("moved", 2 * with.moved, without.moved);
        AT_MOST("time", 1.8 * with.seconds, without.seconds);
        td_graph_destroy(graphs[i]);
    }
}

/* Neither behind what is on the device already nor for want of a slot that holds some of it. */
TEST(copies_of_sums_do_not_wait_for_what_is_on_the_device)
{
    td_gen_spec longer_web = {.kind = "web", .seed = 7, .scale = 12, .degree = 32, .rewire = -1};
    td_graph *graphs[] = {skewed(11), generated(&longer_web)};
    for (int i = 0; i < 2; i++) {
        td_run *run = run_variant("pagerank", graphs[i], "full stream.subgraph=4K");
        const td_row *row = &run->full_rows[1];
        CHECK(row->subgraphs_resident > 12);
        CHECK(row->subgraphs_whole > 6);
        double either = row->copy_seconds + row->compute_seconds - row->both_seconds;
        double longer = row->copy_seconds > row->compute_seconds ? row->copy_seconds : row->compute_seconds;
        if (either > 1.1 * longer)
            TEST_FAIL("copies take %g s, sums %g, both together %g", row->copy_seconds, row->compute_seconds, either);
        td_run_destroy(run);
        td_graph_destroy(graphs[i]);
    }
}

TEST(the_same_run_twice_moves_the_same_bytes_in_the_same_virtual_time)
{
    static const char *const variants[] = {"full", "full stream.rules=paper stream.prefix=0", "hvsp", "lvsp"};
    td_graph *graph = skewed(8);
    for (int i = 0; i < 4; i++) {
        td_run *a = run_variant("sssp", graph, variants[i]), *b = run_variant("sssp", graph, variants[i]);
        CHECK(a->device_seconds > 0 && a->device_seconds == b->device_seconds);
        CHECK_EQ(a->launches, b->launches);
        CHECK_EQ(a->bytes_to_device, b->bytes_to_device);
        CHECK_EQ(a->row_count, b->row_count);
        for (uint32_t r = 0; r < a->row_count; r++) {
            td_row first = a->full_rows[r], second = b->full_rows[r];
            first.start = first.seconds = second.start = second.seconds = 0; /* by the host's clock */
            first.queue_seconds = second.queue_seconds = 0;
            CHECK_EQ(memcmp(&first, &second, sizeof first), 0);
        }
        td_run_destroy(a);
        td_run_destroy(b);
    }
    td_graph_destroy(graph);
}

/* In fewer bits subgraphs differ in length. Each that stays takes its own, so that what crosses after the first
 * iteration is what finds no room, but for the slots that it passes through. */
TEST(subgraphs_that_stay_fill_the_room_for_edges)
{
    td_gen_spec specs[] = {{.kind = "rmat", .seed = 7, .scale = 13, .degree = 16, .rewire = -1},
                           {.kind = "web", .seed = 7, .scale = 14, .degree = 16, .rewire = -1}};
    for (int i = 0; i < 2; i++) {
        td_graph *graph = generated(&specs[i]);
        double room = 0.25 * (double)(graph->edges * sizeof(uint32_t));
        td_run_options options = {.engine = "stream", .devices = "emu:1@unchecked", .gpu_edges = 0.25,
                                  .has_iterations = true, .iterations = 3};
        td_run *run = run_of("pagerank", graph, options, "stream.subgraph=8K");
        const td_row *rows = run->full_rows;
        CHECK_EQ(run->row_count, 3);
        CHECK(rows[0].bytes_whole > room && rows[2].bytes_whole > 0);
        double stays = (double)(rows[0].bytes_whole - rows[2].bytes_whole) / room;
        if (stays < 0.85 || stays > 1) TEST_FAIL("%s: %.3f of the room holds edges that stay", specs[i].kind, stays);
        td_run_destroy(run);
        td_graph_destroy(graph);
    }
}

/* By the paper's rules, with alpha out of reach: what crosses whole does so for beta, and only while it is of more use
 * than an iteration before. */
TEST(beta_is_for_subgraphs_of_growing_use)
{
    td_graph *graph = test_graph(test_graph_named("rmat 10"), TEST_UNWEIGHTED, NULL);
    static const char *const settings[] = {
        "stream.rules=paper stream.alpha=1 stream.beta=1 stream.low=direct stream.prefix=0 stream.subgraph=256 "
        "stream.small=0",
        "stream.rules=paper stream.alpha=1 stream.beta=0 stream.low=direct stream.prefix=0 stream.subgraph=256 "
        "stream.small=0"};
    uint64_t whole[2] = {0}, direct[2] = {0};
    for (int i = 0; i < 2; i++) {
        td_run_options options = {.engine = "stream", .devices = "emu:1@unchecked", .gpu_edges = 0.1};
        td_run *run = run_of("labels", graph, options, settings[i]);
        for (uint32_t r = 0; r < run->row_count; r++) {
            whole[i] += run->full_rows[r].subgraphs_whole;
            direct[i] += run->full_rows[r].subgraphs_direct;
        }
        td_run_destroy(run);
    }
    CHECK_EQ(whole[0], 0);
    CHECK(whole[1] > 0 && direct[1] > 0);
    td_graph_destroy(graph);
}

TEST_MAIN
