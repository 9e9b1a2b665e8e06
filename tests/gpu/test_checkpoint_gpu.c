/* Checkpoints go from engine to engine (tests/engine/relay.h), on a real GPU, the cpu and from disk. */
#include "engine/relay.h"
#include "gpu/tables.h"

/* One GPU stays open, so that its context is not made anew for every leg. */
static void check_on_gpu(const char *program)
{
    td_loop *loop = NULL;
    td_device *open = NULL;
    need_gpu();
    CHECK_OK(td_loop_create(&loop));
    CHECK_OK(td_devices_open(&open, gpu_name(), &(td_device_options){.loop = loop}));
    check_relays(program, gpu_name());
    td_devices_close(open);
    td_loop_destroy(loop);
}

static void check_aside(const char *program, test_weights kind, const char *graph)
{
    need_gpu();
    check_stops(&puts_aside, program, kind, graph, gpu_name());
}

TEST(bfs_goes_on_on_the_gpu) { check_on_gpu("bfs"); }
TEST(sssp_goes_on_on_the_gpu) { check_on_gpu("sssp"); }
TEST(wcc_goes_on_on_the_gpu) { check_on_gpu("wcc"); }
TEST(labels_go_on_on_the_gpu) { check_on_gpu("labels"); }
TEST(kcore_goes_on_on_the_gpu) { check_on_gpu("kcore"); }
TEST(mst_goes_on_on_the_gpu) { check_on_gpu("mst"); }
TEST(pagerank_goes_on_on_the_gpu) { check_on_gpu("pagerank"); }
TEST(adsorption_goes_on_on_the_gpu) { check_on_gpu("adsorption"); }
TEST(nn_goes_on_on_the_gpu) { check_on_gpu("nn"); }
TEST(heat_goes_on_on_the_gpu) { check_on_gpu("heat"); }
TEST(circuit_goes_on_on_the_gpu) { check_on_gpu("circuit"); }

TEST(distances_put_aside_on_the_gpu_are_not_lost) { check_aside("sssp", TEST_U16, "grid 30x40"); }
TEST(labels_put_aside_on_the_gpu_are_not_lost) { check_aside("labels", TEST_UNWEIGHTED, "grid 30x40"); }
TEST(nobody_is_peeled_twice_on_the_gpu) { check_aside("kcore", TEST_UNWEIGHTED, "rmat 10, clean"); }

TEST_MAIN
