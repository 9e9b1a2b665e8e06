/* Every stream.* switch changes a counter: ignored, or inverted, it fails here or in the test that docs/lab/stream.md
 * names for it. The emulated machine is deterministic. */
#include "engine/stream_ways.h"

#include "store/gen.h"

static td_graph *generated(const char *kind, uint64_t scale, uint64_t degree)
{
    td_graph *graph = NULL;
    td_build_options build = {.symmetrize = true, .dedup = true, .drop_loops = true, .attach_weights = true,
                              .weight_low = 1, .weight_high = 100, .weight_seed = 7};
    td_gen_spec spec = {.kind = kind, .seed = 7, .scale = scale, .degree = degree, .rewire = -1};
    CHECK_OK(td_graph_generate(&graph, &spec, &build, NULL));
    return graph;
}

/* What a run did. */
typedef struct seen {
    uint64_t iterations, launches, edges, whole, extracted, direct, subgraphs;
    uint32_t pushes, pulls, prefixes, samples;
} seen;

static seen see(const char *program, const td_graph *graph, const char *settings)
{
    td_run_options options = {.engine = "stream", .devices = small_machine_path(), .gpu_edges = 0.4};
    options.source = busiest(graph);
    options.has_source = program_of(program)->info->needs_source;
    td_run *run = run_of(program, graph, options, settings);
    seen out = {.iterations = run->iterations, .launches = run->launches, .edges = run->edges_processed};
    for (uint32_t i = 0; i < run->row_count; i++) {
        const td_row *row = &run->full_rows[i];
        out.whole += row->bytes_whole;
        out.extracted += row->bytes_extracted;
        out.direct += row->bytes_direct;
        out.subgraphs += row->subgraphs_whole + row->subgraphs_extracted + row->subgraphs_direct;
        out.subgraphs += row->subgraphs_resident;
        out.pushes += strcmp(row->direction, "push") == 0;
        out.pulls += strcmp(row->direction, "pull") == 0;
        out.prefixes += strcmp(row->direction, "prefix") == 0;
        out.samples += strcmp(row->direction, "sample") == 0;
    }
    td_run_destroy(run);
    return out;
}

#define LESS(a, b)                                                                                  \
    do {                                                                                            \
        double a_ = (double)(a), b_ = (double)(b);                                                  \
        if (!(a_ < b_)) TEST_FAIL("%s is %g, %s is %g", #a, a_, #b, b_);                            \
    } while (0)

TEST(direction_pushes_or_pulls)
{
    td_graph *graph = generated("rmat", 9, 16);
    seen pull = see("bfs", graph, "stream.subgraph=1K stream.direction=pull");
    seen push = see("bfs", graph, "stream.subgraph=1K stream.direction=push");
    LESS(0, pull.pulls);
    CHECK_EQ(pull.pushes, 0);
    LESS(0, push.pushes);
    CHECK_EQ(push.pulls, 0);
    td_graph_destroy(graph);
}

TEST(low_is_the_mode_of_subgraphs_of_low_value)
{
    td_graph *graph = generated("web", 9, 16);
    static const char *const lows[] = {"whole", "direct", "extract"};
    for (int i = 0; i < 3; i++) {
        char text[160];
        snprintf(text, sizeof text, "stream.subgraph=512 stream.small=0 stream.prefix=0 stream.rules=paper "
                 "stream.alpha=1 stream.beta=1 stream.low=%s", lows[i]);
        seen of = see("labels", graph, text);
        CHECK_EQ(of.whole > 0, i == 0);
        CHECK_EQ(of.direct > 0, i == 1);
        CHECK_EQ(of.extracted > 0, i == 2);
    }
    td_graph_destroy(graph);
}

TEST(rules_choose_by_cost_or_by_value)
{
    td_graph *graph = generated("web", 9, 16);
    seen cost = see("labels", graph, "stream.subgraph=512 stream.small=0 stream.prefix=0 stream.rules=cost "
                                     "stream.low=direct");
    seen paper = see("labels", graph, "stream.subgraph=512 stream.small=0 stream.prefix=0 stream.rules=paper "
                                      "stream.low=direct");
    CHECK(cost.whole != paper.whole);
    td_graph_destroy(graph);
}

TEST(prefix_and_the_order_of_lists_decide_what_is_on_the_device)
{
    td_graph *graph = generated("web", 10, 16);
    seen with = see("labels", graph, "stream.subgraph=512 stream.small=0 stream.prefix=1");
    seen without = see("labels", graph, "stream.subgraph=512 stream.small=0 stream.prefix=0");
    LESS(0, with.prefixes);
    CHECK_EQ(without.prefixes, 0);
    seen light = see("sssp", graph, "stream.subgraph=512 stream.small=0 stream.pack=off stream.list_order=light");
    seen hot = see("sssp", graph, "stream.subgraph=512 stream.small=0 stream.pack=off stream.list_order=hot");
    seen stored = see("sssp", graph, "stream.subgraph=512 stream.small=0 stream.list_order=stored");
    LESS(light.whole + light.direct + light.extracted, stored.whole + stored.direct + stored.extracted);
    CHECK(hot.edges != light.edges && hot.edges != stored.edges);
    td_graph_destroy(graph);
}

TEST(small_frontiers_share_a_launch)
{
    td_graph *graph = generated("web", 9, 16);
    seen loops = see("labels", graph, "stream.subgraph=512"), none = see("labels", graph, "stream.subgraph=512 "
                                                                                       "stream.small=0");
    LESS(loops.launches, none.launches);
    td_graph_destroy(graph);
}

TEST(high_degree_divides_lists)
{
    td_graph *graph = generated("rmat", 9, 16);
    seen divided = see("labels", graph, "stream.subgraph=512 stream.small=0 stream.high_degree=32");
    seen whole = see("labels", graph, "stream.subgraph=512 stream.small=0 stream.high_degree=100000");
    LESS(whole.launches, divided.launches);
    td_graph_destroy(graph);
}

TEST(delta_is_the_width_of_a_bucket)
{
    td_graph *graph = generated("web", 9, 16);
    seen narrow = see("sssp", graph, "stream.subgraph=512 stream.small=0 stream.delta=2");
    seen wide = see("sssp", graph, "stream.subgraph=512 stream.small=0 stream.delta=1000");
    LESS(wide.iterations, narrow.iterations);
    LESS(narrow.edges, wide.edges);
    td_graph_destroy(graph);
}

TEST(samples_skip_the_largest_component)
{
    td_graph *graph = generated("web", 9, 16);
    seen with = see("wcc", graph, "stream.subgraph=512 stream.samples=2");
    seen without = see("wcc", graph, "stream.subgraph=512 stream.samples=0");
    CHECK_EQ(with.samples, 1);
    CHECK_EQ(without.samples, 0);
    LESS(with.edges, without.edges);
    td_graph_destroy(graph);
}

TEST(subgraph_is_the_unit_of_transfer)
{
    td_graph *graph = generated("web", 9, 16);
    seen small = see("labels", graph, "stream.subgraph=512 stream.variant=lbase");
    seen large = see("labels", graph, "stream.subgraph=2K stream.variant=lbase");
    LESS(3 * large.subgraphs, small.subgraphs);
    td_graph_destroy(graph);
}

TEST_MAIN
