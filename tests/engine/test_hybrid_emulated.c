/* The same with an emulated GPU that takes pages, alone or beside the processor. Programs that no GPU takes pages of are
 * in test_hybrid_table.c. */
#include "engine/hybrid_ways.h"

#include "device/emulator/sanitizer.h"

enum { MANY = TD_ADDRESS_CHECKED || TD_THREADS_CHECKED ? 100 : 1200 }; /* vertices: more is left to GPUs */

static int way_stride(const row *of, const td_graph *graph, test_weights kind)
{
    (void)of, (void)kind;
    if (graph->vertices > MANY) return 0;
    if (getenv("TANDEM_TEST_ALL") != NULL) return 37;
    return graph->vertices <= TINY ? 1999 : 2803;
}

static void check(const char *program) { hybrid_check(program, "emu", way_stride); }

TEST(bfs_by_pages_with_a_gpu) { check("bfs"); }
TEST(sssp_by_pages_with_a_gpu) { check("sssp"); }
TEST(labels_by_pages_with_a_gpu) { check("labels"); }
TEST(pagerank_by_pages_with_a_gpu) { check("pagerank"); }
TEST(adsorption_by_pages_with_a_gpu) { check("adsorption"); }
TEST(nn_by_pages_with_a_gpu) { check("nn"); }
TEST(heat_by_pages_with_a_gpu) { check("heat"); }

TEST_MAIN
