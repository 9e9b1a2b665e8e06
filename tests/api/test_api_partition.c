/* Partitions in the API: figures of a cut that can be drawn on paper, and calls that cannot be meant. */
#include "map.h"

enum { RING = 128 };

/* A directed ring of four times 32 vertices. */
static td_graph *ring_of(td_session *session, bool symmetrize)
{
    uint64_t from[RING], to[RING];
    td_graph *graph = NULL;
    td_graph_options options = {.size = sizeof options, .symmetrize = symmetrize};
    for (uint64_t i = 0; i < RING; i++) {
        from[i] = i;
        to[i] = (i + 1) % RING;
    }
    CHECK_OK(td_graph_from_edges(session, &(td_edges){.size = sizeof(td_edges), .count = RING, .sources = from,
                                                      .targets = to, .vertices = RING}, &options, &graph));
    return graph;
}

/* In each of four arcs of a ring, the first and the last vertex have a neighbour outside. */
TEST(a_ring_in_four_has_two_mirrors_in_each_part)
{
    td_session *session = session_of(2);
    for (int symmetric = 0; symmetric < 2; symmetric++) {
        td_graph *graph = ring_of(session, symmetric == 1);
        td_partition_info info = {.size = sizeof info};
        CHECK_OK(td_graph_partition_info(session, graph, "seg:4", 1, &info));
        CHECK_EQ(info.parts, 4);
        CHECK_EQ(info.edges, 2 * RING); /* both lists of the directed ring, or the one of the symmetric */
        CHECK_EQ(info.cut, 8);
        CHECK_EQ(info.mirrors, 8);
        CHECK(info.cut_share == 8.0 / (2 * RING));
        CHECK(info.balance == 1);
        CHECK(info.seconds > 0);
        for (int k = 0; k < 4; k++) {
            CHECK_EQ(info.fragments[k].vertices, RING / 4);
            CHECK_EQ(info.fragments[k].edges, RING / 2);
            CHECK_EQ(info.fragments[k].cut, 2);
            CHECK_EQ(info.fragments[k].mirrors, 2);
        }
        td_graph_destroy(graph);
    }
    td_session_destroy(session);
}

TEST(a_partition_depends_on_its_seed_and_changes_nothing)
{
    td_session *session = session_of(2);
    td_graph *graph = ring_of(session, false);
    td_partition_info one = {.size = sizeof one}, again = one, other = one;
    uint64_t held = 0, after = 0;
    CHECK_OK(td_session_memory(session, &held, NULL));
    CHECK_OK(td_graph_partition_info(session, graph, "random:4", 1, &one));
    CHECK_OK(td_graph_partition_info(session, graph, "random:4", 1, &again));
    CHECK_OK(td_graph_partition_info(session, graph, "random:4", 2, &other));
    CHECK_EQ(memcmp(one.fragments, again.fragments, sizeof one.fragments), 0);
    CHECK(memcmp(one.fragments, other.fragments, sizeof one.fragments) != 0);
    CHECK_OK(td_session_memory(session, &after, NULL));
    CHECK_EQ(after, held);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(what_cannot_be_meant_is_refused_and_leaves_the_figures_untouched)
{
    static const char *const wrong[] = {"seg", "seg:0", "seg:17", "seg:2x", "foo:2", ""};
    td_session *session = session_of(1);
    td_graph *graph = map_of(session);
    td_partition_info info = {.size = sizeof info, .parts = 99};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK_STATUS(td_partition_check(wrong[i]), TD_USAGE);
        CHECK_STATUS(td_graph_partition_info(session, graph, wrong[i], 1, &info), TD_USAGE);
    }
    CHECK_OK(td_partition_check("random:16"));
    CHECK_STATUS(td_partition_check(NULL), TD_INVALID);
    CHECK_STATUS(td_graph_partition_info(NULL, graph, "seg:2", 1, &info), TD_INVALID);
    CHECK_STATUS(td_graph_partition_info(session, NULL, "seg:2", 1, &info), TD_INVALID);
    CHECK_STATUS(td_graph_partition_info(session, graph, NULL, 1, &info), TD_INVALID);
    CHECK_STATUS(td_graph_partition_info(session, graph, "seg:2", 1, NULL), TD_INVALID);
    CHECK_EQ(info.parts, 99);
    info.size = 0;
    CHECK_STATUS(td_graph_partition_info(session, graph, "seg:2", 1, &info), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "sizeof(td_partition_info)");
    info.size = offsetof(td_partition_info, cut_share); /* an older program's struct */
    info.cut_share = -1;
    CHECK_OK(td_graph_partition_info(session, graph, "seg:2", 1, &info));
    CHECK_EQ(info.parts, 2);
    CHECK(info.cut_share == -1);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(a_graph_on_disk_is_refused)
{
    td_session *session = session_of(1);
    td_graph *graph = map_of(session), *on_disk = NULL;
    td_partition_info info = {.size = sizeof info};
    td_graph_options options = {.size = sizeof options, .edges = TD_PLACE_DISK};
    CHECK_OK(td_graph_save(session, graph, test_path("map.tg"), NULL));
    CHECK_OK(td_graph_open(session, test_path("map.tg"), &options, &on_disk));
    CHECK_STATUS(td_graph_partition_info(session, on_disk, "seg:2", 1, &info), TD_UNSUPPORTED);
    CHECK_CONTAINS(td_last_message(), "stay on disk");
    td_graph_destroy(on_disk);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST_MAIN
