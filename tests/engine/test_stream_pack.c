/* Weights in the words of their targets: where they fit, what it spares, and what a graph that states a wrong range of
 * weights gets. That answers stay the same is the table's (test_stream_table.c), with and without. */
#include "engine/stream_ways.h"

#include "store/gen.h"

static uint32_t bits_of(uint32_t vertices, td_weight_kind weights, double most)
{
    return td_streaming_weight_bits(&(td_graph){.vertices = vertices, .weights = weights, .weight_max = most});
}

TEST(a_weight_takes_the_bits_that_the_largest_number_leaves)
{
    CHECK_EQ(bits_of(1u << 25, TD_WEIGHT_U8, 100), 7);
    CHECK_EQ(bits_of(1u << 25, TD_WEIGHT_U8, 127), 7);
    CHECK_EQ(bits_of((1u << 25) + 1, TD_WEIGHT_U8, 63), 6);
    CHECK_EQ(bits_of(1u << 16, TD_WEIGHT_U16, 65535), 16);
    CHECK_EQ(bits_of(1u << 4, TD_WEIGHT_U32, (1u << 28) - 1), 28);
    CHECK_EQ(bits_of(1u << 31, TD_WEIGHT_U8, 1), 1);
    CHECK_EQ(bits_of(1, TD_WEIGHT_U32, 0x7fffffff), 31);
}

TEST(weights_that_find_no_room_stay_apart)
{
    CHECK_EQ(bits_of(1u << 25, TD_WEIGHT_U8, 128), 0);
    CHECK_EQ(bits_of((1u << 25) + 1, TD_WEIGHT_U8, 64), 0);
    CHECK_EQ(bits_of((1u << 31) + 1, TD_WEIGHT_U8, 1), 0);
    CHECK_EQ(bits_of(1, TD_WEIGHT_U32, 0x80000000u), 0);
    CHECK_EQ(bits_of(2, TD_WEIGHT_F32, 1), 0);
    CHECK_EQ(bits_of(2, TD_WEIGHT_NONE, 0), 0);
}

static td_graph *weighted(void)
{
    td_graph *graph = NULL;
    td_build_options build = {.symmetrize = true, .dedup = true, .drop_loops = true, .attach_weights = true,
                              .weight_low = 1, .weight_high = 100, .weight_seed = 7};
    td_gen_spec spec = {.kind = "web", .seed = 7, .scale = 12, .degree = 16, .rewire = -1};
    CHECK_OK(td_graph_generate(&graph, &spec, &build, NULL));
    return graph;
}

static td_run_options quarter(const td_graph *graph)
{
    return (td_run_options){.engine = "stream", .devices = small_machine_path(), .gpu_edges = 0.25,
                            .source = busiest(graph), .has_source = true};
}

static uint64_t bytes_moved(const td_graph *graph, const char *settings)
{
    uint64_t moved = 0;
    td_run *run = run_of("sssp", graph, quarter(graph), settings);
    for (uint32_t i = 0; i < run->row_count; i++)
        moved += run->full_rows[i].bytes_whole + run->full_rows[i].bytes_extracted + run->full_rows[i].bytes_direct;
    td_run_destroy(run);
    return moved;
}

/* Four bytes instead of five, one stretch of sectors instead of two, and more of every list on the device. */
TEST(an_edge_in_one_word_spares_the_link_a_third)
{
    td_graph *graph = weighted();
    const char *always = "stream.subgraph=4K stream.small=0 stream.low=direct stream.delta=20";
    char apart[160];
    snprintf(apart, sizeof apart, "%s stream.pack=off", always);
    uint64_t with = bytes_moved(graph, always), without = bytes_moved(graph, apart);
    if (3 * with > 2 * without) TEST_FAIL("%" PRIu64 " bytes cross, %" PRIu64 " with weights apart", with, without);
    td_graph_destroy(graph);
}

/* Its bits would be lost, and distances wrong. */
TEST(a_weight_above_the_range_that_the_graph_states_is_reported)
{
    td_graph *graph = weighted();
    uint32_t *words = NULL;
    CHECK_OK(TD_NEW(&words, graph->edges, "words"));
    ((uint8_t *)graph->out.weights)[3] = 128;
    td_lists_ordering what = {graph, &graph->out, TD_LISTS_LIGHT, 7, words, NULL};
    CHECK_STATUS(td_lists_order(&what, NULL), TD_CORRUPT);
    CHECK_CONTAINS(td_last_message(), "a weight of 128 is above 100");
    td_free(words);
    td_graph_destroy(graph);
}

TEST_MAIN
