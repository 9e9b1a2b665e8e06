/* Copies between GPUs without a link: through host memory, or through a third GPU that has links to both, whichever is
 * faster. */
#include "device/emulator/watch.h"
#include "engine/multi_scene.h"

/* GPU 1 has links to 0 and 2, which have none to each other. */
static const char *chain(const char *file, const char *link_rate, const char *host_rate)
{
    char links[300];
    snprintf(links, sizeof links, "link 0 1 %s 1us\nlink 1 2 %s 1us\nhost-link each %s %s 5us\n", link_rate, link_rate,
             host_rate, host_rate);
    return machine_of(file, 3, links, "");
}

typedef struct traffic {
    uint64_t past, first_leg, relayed, exchanged; /* copied from 0 to 2 and from 0 to 1; reported */
    double seconds;
} traffic;

static traffic run_on(const char *program, const td_graph *graph, const char *devices, const char *settings)
{
    td_cache kept = {0};
    td_run_options options = multi_options(program, devices);
    options.cache = &kept;
    td_run *run = run_of(program, graph, options, settings);
    const td_gpu_set *gpus = kept.gpus;
    traffic found = {.past = td_device_link_counts(gpus->gpu[0], gpus->gpu[2]).copied_bytes,
                     .first_leg = td_device_link_counts(gpus->gpu[0], gpus->gpu[1]).copied_bytes +
                                  td_device_link_counts(gpus->gpu[0], gpus->gpu[1]).read_bytes,
                     .seconds = run->device_seconds};
    for (uint32_t i = 0; i < run->row_count; i++) {
        found.relayed += run->full_rows[i].bytes_relayed;
        found.exchanged += run->full_rows[i].bytes_exchanged;
    }
    options.cache = NULL;
    check_as_cpu(run, options, "");
    td_run_destroy(run);
    td_cache_release(&kept);
    return found;
}

TEST(copies_go_through_a_third_gpu_where_its_links_are_faster)
{
    td_graph *graph = islands_graph(1, 2000, 8);
    const char *fast = chain("fast.topology", "100GB/s", "2GB/s");
    static const char *const programs[] = {"bfs", "sssp", "pagerank", "wcc", "mst", "kcore", "labels"};
    for (int p = 0; p < 7; p++) {
        bool groups = p < 2 || p == 6; /* two GPUs that reach each other would do without copies */
        traffic through = run_on(programs[p], graph, fast, groups ? "multi.ownership=off" : "");
        traffic host = run_on(programs[p], graph, fast, groups ? "multi.ownership=off multi.routes=host" : "multi.routes=host");
        if (through.past > 0 || through.relayed == 0 || host.past == 0 || host.relayed > 0)
            TEST_FAIL("%s: %" PRIu64 " bytes past GPU 1 and %" PRIu64 " through it; by the host %" PRIu64 " and %" PRIu64,
                      programs[p], through.past, through.relayed, host.past, host.relayed);
        if (td_watch_built()) CHECK(through.first_leg >= host.past); /* other builds count no reads by kernels */
        if (p == 2) CHECK(through.seconds < host.seconds); /* whole ranges of values */
    }
    td_graph_destroy(graph);
}

TEST(copies_go_through_the_host_where_that_is_faster)
{
    td_graph *graph = islands_graph(1, 500, 8);
    const char *slow = chain("slow.topology", "1GB/s", "50GB/s");
    static const char *const programs[] = {"bfs", "pagerank", "mst"};
    for (int p = 0; p < 3; p++) {
        traffic found = run_on(programs[p], graph, slow, p == 0 ? "multi.ownership=off" : "");
        CHECK(found.past > 0);
        CHECK_EQ(found.relayed, 0);
    }
    td_graph_destroy(graph);
}

/* A round of eight GPUs, of which each has no link to three others: one launch per GPU in between carries their updates. With
 * three copies in two legs for each pair it would take 260 operations of the host. */
TEST(updates_of_gpus_without_a_link_are_carried_by_a_launch)
{
    enum { MOST = 130 };
    td_graph *graph = islands_graph(1, 2000, 8);
    td_run_options options = multi_options("bfs", cube_mesh("carry.topology", "check off\n"));
    td_run *run = run_of("bfs", graph, options, "multi.direction=push multi.ownership=off multi.stealing=off");
    uint64_t relayed = 0;
    for (uint32_t i = 1; i < run->row_count; i++) { /* the first row has the first values, too */
        CHECK(run->full_rows[i].operations < MOST);
        relayed += run->full_rows[i].bytes_relayed;
    }
    CHECK(relayed > 0);
    check_as_cpu(run, options, "");
    td_run_destroy(run);
    td_graph_destroy(graph);
}

TEST_MAIN
