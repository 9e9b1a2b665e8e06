/* Every program of the table on the hybrid engine: from a packed file under memory for a tenth, a quarter, half or all
 * of its edges, and in memory. TANDEM_TEST_ALL=1 in the environment takes many more ways. */
#include "engine/hybrid_ways.h"

static int way_stride(const row *of, const td_graph *graph, test_weights kind)
{
    bool circuit = strcmp(of->program, "circuit") == 0; /* thousands of iterations */
    (void)kind;
    if (graph->vertices > (circuit ? VERY_TINY : LARGE)) return 0;
    if (getenv("TANDEM_TEST_ALL") != NULL) return 7;
    return circuit ? 1301 : graph->vertices <= TINY ? 709 : 1409;
}

static void check(const char *program) { hybrid_check(program, NULL, way_stride, NULL); }

TEST(bfs_by_pages) { check("bfs"); }
TEST(sssp_by_pages) { check("sssp"); }
TEST(wcc_by_pages) { check("wcc"); }
TEST(labels_by_pages) { check("labels"); }
TEST(kcore_by_pages) { check("kcore"); }
TEST(mst_by_pages) { check("mst"); }
TEST(pagerank_by_pages) { check("pagerank"); }
TEST(adsorption_by_pages) { check("adsorption"); }
TEST(nn_by_pages) { check("nn"); }
TEST(heat_by_pages) { check("heat"); }
TEST(circuit_by_pages) { check("circuit"); }

TEST_MAIN
