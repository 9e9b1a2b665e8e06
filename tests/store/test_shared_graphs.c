/* The real graphs beside the project: each is read, with the counts that its
 * folder's README gives, and keeps every claim of a graph. */
#include "text_reading.h"

typedef struct known_graph {
    const char *file;
    uint64_t vertices, edges;
    bool symmetric;
    td_weight_kind weights;
} known_graph;

static const known_graph known[] = {
    {"karate.mtx.xz", 34, 156, true, TD_WEIGHT_NONE},
    {"chesapeake.mtx.xz", 39, 340, true, TD_WEIGHT_NONE},
    {"rome99.gr.xz", 3353, 8870, false, TD_WEIGHT_U16},
    {"wb-cs-stanford.mtx.xz", 9914, 36854, false, TD_WEIGHT_NONE},
    {"add20.mtx.xz", 2395, 17319, false, TD_WEIGHT_F32},
    {"memplus.mtx.xz", 17758, 126150, false, TD_WEIGHT_F32},
    {"ego-Facebook.txt.xz", 4039, 88234, false, TD_WEIGHT_NONE},
    {"wiki-Vote.txt.xz", 7115, 103689, false, TD_WEIGHT_NONE},
    {"email-Enron.txt.xz", 36692, 367662, true, TD_WEIGHT_NONE},
    {"soc-Epinions1.txt.xz", 75879, 508837, false, TD_WEIGHT_NONE},
    {"luxembourg_osm.mtx.xz", 114599, 239332, true, TD_WEIGHT_NONE},
    {"delaunay_n16.mtx.xz", 65536, 393150, true, TD_WEIGHT_NONE},
    {"USA-road-d.NY.gr.xz", 264346, 730100, true, TD_WEIGHT_U16},
    {"npm-2016-08-26.tsv.xz", 228028, 807758, false, TD_WEIGHT_NONE},
    {"caidaRouterLevel.mtx.xz", 192244, 1218132, true, TD_WEIGHT_NONE},
    {"web-NotreDame.txt.xz", 325729, 1497134, false, TD_WEIGHT_NONE},
    {"dblp-2010.mtx.xz", 326186, 1615400, true, TD_WEIGHT_NONE},
    {"ego-Twitter.tsv.xz", 81306, 1768135, false, TD_WEIGHT_U8},
};

static const char *shared_path(const char *file)
{
    static char path[4][600];
    static int turn;
    char *mine = path[turn++ % 4];
    snprintf(mine, sizeof path[0], "%s/%s", test_shared_data(), file);
    return mine;
}

TEST(every_real_graph_is_read_with_its_counts)
{
#ifndef TANDEM_HAVE_LZMA
    SKIP("built without liblzma");
#endif
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        td_graph *graph = NULL;
        CHECK_OK(test_read(&graph, shared_path(known[i].file), NULL, 2));
        bool as_known = graph->vertices == known[i].vertices && graph->edges == known[i].edges &&
                        graph->symmetric == known[i].symmetric && graph->weights == known[i].weights;
        if (!as_known)
            TEST_FAIL("%s has %u vertices, %" PRIu64 " edges, is %ssymmetric, weights %s", known[i].file,
                      graph->vertices, graph->edges, graph->symmetric ? "" : "not ", td_weight_name(graph->weights));
        td_graph_destroy(graph);
    }
}

static uint32_t source_of(const td_graph *graph, uint64_t edge)
{
    uint32_t v = 0;
    while (graph->out.offsets[v + 1] <= edge) v++;
    return v;
}

/* The same edges in the same order. An edge list counts from 0 here and knows no
 * vertex without edges; the others count from 1 and declare all 14. */
static void expect_same_edges(const char *list_file, const char *other_file)
{
    td_graph *list = NULL, *other = NULL;
    CHECK_OK(test_read(&list, shared_path(list_file), NULL, 2));
    CHECK_OK(test_read(&other, shared_path(other_file), NULL, 1));
    CHECK_EQ(list->vertices, 13);
    CHECK_EQ(other->vertices, 14);
    CHECK_EQ(list->edges, 256);
    CHECK_EQ(other->edges, 256);
    CHECK_EQ(other->weights, list->weights);
    for (uint64_t e = 0; e < list->edges; e++) {
        CHECK_EQ(td_graph_id(list, source_of(list, e)) + 1, td_graph_id(other, source_of(other, e)));
        CHECK_EQ(td_graph_id(list, list->out.targets[e]) + 1, td_graph_id(other, other->out.targets[e]));
        if (list->weights != TD_WEIGHT_NONE)
            CHECK(td_weight_at(list, &list->out, e) == td_weight_at(other, &other->out, e));
    }
    td_graph_destroy(list);
    td_graph_destroy(other);
}

TEST(encodings_of_the_same_graph_give_the_same_graph)
{
    expect_same_edges("formats/4.el", "formats/4.mtx");
    expect_same_edges("formats/4.wel", "formats/4.gr");
    expect_same_edges("formats/4.wel", "formats/4w.mtx");
}

static uint64_t digest_of(const char *file)
{
    td_graph *graph = NULL;
    CHECK_OK(test_read(&graph, shared_path(file), NULL, 2));
    uint64_t digest = test_digest(graph);
    td_graph_destroy(graph);
    return digest;
}

TEST(encodings_with_the_same_ids_have_the_same_digest)
{
    CHECK(digest_of("formats/4.gr") == digest_of("formats/4w.mtx"));
    CHECK(digest_of("formats/4.gr") != digest_of("formats/4.mtx"));
}

TEST_MAIN
