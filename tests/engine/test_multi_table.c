/* The programs of the table on several emulated GPUs (multi_table.h); test_multi_order.c has those that process vertices
 * in an order of their own. */
#include "engine/multi_table.h"

TEST(bfs_on_several_gpus) { check_on_several("bfs"); }
TEST(wcc_on_several_gpus) { check_on_several("wcc"); }
TEST(labels_on_several_gpus) { check_on_several("labels"); }
TEST(mst_on_several_gpus) { check_on_several("mst"); }
TEST(pagerank_on_several_gpus) { check_on_several("pagerank"); }
TEST(adsorption_on_several_gpus) { check_on_several("adsorption"); }
TEST(nn_on_several_gpus) { check_on_several("nn"); }
TEST(heat_on_several_gpus) { check_on_several("heat"); }
TEST(circuit_on_several_gpus) { check_on_several("circuit"); }

TEST_MAIN
