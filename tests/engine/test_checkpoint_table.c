/* Checkpoints go from engine to engine (relay.h), on an emulated GPU. */
#include "engine/relay.h"

#define UNWATCHED "emu:1@unchecked"

TEST(distances_put_aside_are_not_lost) { check_stops(&puts_aside, "sssp", TEST_U16, "grid 30x40", UNWATCHED); }
TEST(labels_put_aside_are_not_lost) { check_stops(&puts_aside, "labels", TEST_UNWEIGHTED, "grid 30x40", UNWATCHED); }
TEST(nobody_is_peeled_twice) { check_stops(&puts_aside, "kcore", TEST_UNWEIGHTED, "rmat 10, clean", UNWATCHED); }
TEST(levels_ahead_of_others_are_not_taken_for_final)
{
    check_stops(&goes_ahead, "bfs", TEST_UNWEIGHTED, "grid 30x40", UNWATCHED);
}

TEST(vertices_of_other_gpus_are_not_lost)
{
    check_stops(&shares_out, "sssp", TEST_U16, "grid 30x40", UNWATCHED);
    check_stops(&shares_out, "labels", TEST_UNWEIGHTED, "grid 30x40", UNWATCHED);
}

TEST(bfs_goes_on) { check_relays("bfs", "emu"); }
TEST(sssp_goes_on) { check_relays("sssp", "emu"); }
TEST(wcc_goes_on) { check_relays("wcc", "emu"); }
TEST(labels_go_on) { check_relays("labels", "emu"); }
TEST(kcore_goes_on) { check_relays("kcore", "emu"); }
TEST(mst_goes_on) { check_relays("mst", "emu"); }
TEST(pagerank_goes_on) { check_relays("pagerank", "emu"); }
TEST(adsorption_goes_on) { check_relays("adsorption", "emu"); }
TEST(nn_goes_on) { check_relays("nn", "emu"); }
TEST(heat_goes_on) { check_relays("heat", "emu"); }
TEST(circuit_goes_on) { check_relays("circuit", "emu"); }

TEST_MAIN
