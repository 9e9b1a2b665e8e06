/* Searches from many sources at once on a real GPU, the whole one and a slice of it: levels are those of single runs,
 * and edges are fewer. */
#include "engine/batches.h"
#include "gpu/gpu.h"

static void check_on(const char *device)
{
    const batch_way ways[] = {
        {"bfs", "resident", device, {"resident.batch=bits"}},
        {"bfs", "resident", device, {"resident.batch=bits", "resident.direction=push", "resident.high_degree=32"}},
        {"bfs", "resident", device, {"resident.batch=bits", "resident.direction=pull"}},
    };
    td_session *session = session_of(0);
    for (int g = 1; g < TEST_GRAPHS; g++)
        for (unsigned w = 0; w < sizeof ways / sizeof *ways; w++) {
            td_batch_facts facts;
            uint64_t count = counts[((unsigned)g + w) % COUNTS];
            td_graph *graph = test_graph(g, TEST_UNWEIGHTED, NULL);
            check_batch(session, graph, &ways[w], count, &facts, NULL);
            CHECK_EQ(facts.at_once > 1, count > 1);
            td_graph_destroy(graph);
        }
    td_session_destroy(session);
}

TEST(levels_of_a_batch_on_a_real_gpu_are_those_of_single_runs)
{
    char slice[64];
    need_gpu();
    check_on(gpu_name());
    snprintf(slice, sizeof slice, "%s/8#3", gpu_name());
    check_on(slice);
}

TEST(a_shared_search_on_a_real_gpu_processes_fewer_edges)
{
    td_batch_facts facts;
    uint64_t alone;
    need_gpu();
    td_session *session = session_of(0);
    td_graph *graph = test_graph(test_graph_named("rmat 14, clean"), TEST_UNWEIGHTED, NULL);
    check_batch(session, graph, &(batch_way){"bfs", "resident", gpu_name(), {"resident.batch=bits"}}, 64, &facts, &alone);
    CHECK(facts.edges_processed * 2 < alone);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST_MAIN
