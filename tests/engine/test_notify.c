/* Garaph's thresholds of notify-pull: active vertices notify if the share f of their edges is at most 1/2 in memory,
 * and at most 1/(2k) where reading in order is k times as fast as reading at random. */
#include "engine/ways.h"

#include "store/formats/format.h"

enum { WIDTH = 40 };

/* Three layers with so many edges between the first two and between the last two. In the second iteration the middle
 * layer is active, and its edges are those of the second kind. */
static td_graph *layers(uint32_t first, uint32_t second)
{
    td_graph *graph = NULL;
    td_build_options build = {0};
    const char *path = test_path("layers.txt");
    char *text = malloc((first + second) * 24), *at = text;
    for (uint32_t i = 0; i < first; i++) at += sprintf(at, "%u %u 0.01\n", i / WIDTH, WIDTH + i % WIDTH);
    for (uint32_t i = 0; i < second; i++) at += sprintf(at, "%u %u 0.01\n", WIDTH + i % WIDTH, 2 * WIDTH + i / WIDTH);
    test_write_file(path, text, strlen(text));
    free(text);
    CHECK_OK(td_graph_read(&graph, path, "edgelist", &build, NULL));
    return graph;
}

static void check_second(const char *engine, const char *settings, uint32_t first, uint32_t second, const char *wanted)
{
    td_graph *graph = layers(first, second);
    td_run *run = run_of("nn", graph, (td_run_options){.engine = engine}, settings);
    CHECK(run->row_count > 1);
    CHECK_EQ(run->rows[1].active_edges, second);
    if (strcmp(run->rows[1].direction, wanted) != 0)
        TEST_FAIL("%s %s with %u of %u edges active: %s, not %s", engine, settings, second, first + second,
                  run->rows[1].direction, wanted);
    td_run_destroy(run);
    td_graph_destroy(graph);
}

TEST(half_of_the_edges_is_the_threshold_in_memory)
{
    check_second("cpu", "", 505, 495, "notify");
    check_second("cpu", "", 495, 505, "pull");
    check_second("hybrid", "hybrid.k=1", 505, 495, "notify");
    check_second("hybrid", "hybrid.k=1", 495, 505, "pull");
}

TEST(from_disk_the_threshold_is_lower_by_the_ratio_of_the_rates)
{
    check_second("hybrid", "hybrid.k=5", 905, 95, "notify");
    check_second("hybrid", "hybrid.k=5", 895, 105, "pull");
}

TEST_MAIN
