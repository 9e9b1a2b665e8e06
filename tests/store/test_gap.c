/* GAP's .sg and .wsg: their layout, round trips, and broken files. */
#include "base/outfile.h"
#include "base/random.h"
#include "reading.h"

#include <errno.h>

extern const td_format td_format_sg, td_format_wsg;

typedef struct sample {
    uint64_t vertices, edges, id_base;
    bool mirror;
    int weights; /* 0 none, 1 small, 2 negative too, 3 fractions, 4 above 2^31 */
} sample;

static td_graph *make_graph(const sample *s)
{
    const td_build_options plain = {0};
    td_edge_list *list = NULL;
    td_edge_chunk *chunk;
    td_graph *graph = NULL;
    CHECK_OK(td_edges_create(&list, "sample"));
    CHECK_OK(td_edges_chunk(list, 0, &chunk));
    CHECK_OK(td_chunk_reserve(chunk, s->edges, s->weights > 0));
    list->declared = true;
    list->vertices = s->vertices;
    list->id_base = s->id_base;
    list->mirror = s->mirror;
    list->weighted = s->weights > 0;
    for (uint64_t i = 0; i < s->edges; i++) {
        uint64_t a = td_random_below(td_random_at(1, i), s->vertices);
        uint64_t b = td_random_below(td_random_at(2, i), s->vertices);
        uint32_t w = (uint32_t)(td_random_at(3, i) % 1000);
        CHECK_OK(td_chunk_put(chunk, a, b));
        if (s->weights == 3) td_chunk_weight_real(chunk, (float)w / 8);
        if (s->weights == 1 || s->weights == 2) td_chunk_weight_integer(chunk, s->weights == 2 && w % 3 == 0, w);
        if (s->weights == 4) td_chunk_weight_integer(chunk, false, UINT32_MAX - w);
    }
    CHECK_OK(td_graph_build(&graph, list, &plain, NULL));
    td_edges_destroy(list);
    return graph;
}

static void check_round_trip(const td_format *format, const sample *s, const char *name)
{
    td_graph *graph = make_graph(s);
    const char *path = test_path(name);
    CHECK_OK(format->write(graph, path, NULL));
    for (int threads = 1; threads <= 8; threads = threads == 1 ? 2 : threads * 4)
        CHECK(read_digest(format, path, threads) == graph_digest(graph));
    td_graph_destroy(graph);
}

TEST(graphs_survive_a_round_trip)
{
    check_round_trip(&td_format_sg, &(sample){50, 300, 0, false, 0}, "a.sg");
    check_round_trip(&td_format_sg, &(sample){50, 300, 0, true, 0}, "b.sg");
    check_round_trip(&td_format_wsg, &(sample){50, 300, 0, false, 1}, "a.wsg");
    check_round_trip(&td_format_wsg, &(sample){50, 300, 0, true, 1}, "b.wsg");
    check_round_trip(&td_format_wsg, &(sample){50, 300, 0, false, 2}, "c.wsg");
    check_round_trip(&td_format_sg, &(sample){3, 0, 0, false, 0}, "d.sg");
    check_round_trip(&td_format_wsg, &(sample){1, 4, 0, false, 1}, "d.wsg");
}

TEST(many_chunks_are_read_alike_by_any_number_of_threads)
{
    check_round_trip(&td_format_sg, &(sample){20000, 600000, 0, false, 0}, "large.sg");
    check_round_trip(&td_format_wsg, &(sample){20000, 300000, 0, true, 1}, "large.wsg");
}

/* 0>1:5, 0>2:7, 2>1:9 */
static td_graph *small_graph(bool weighted)
{
    const td_build_options plain = {0};
    td_edge_list *list = NULL;
    td_edge_chunk *chunk;
    td_graph *graph = NULL;
    static const uint32_t edges[3][3] = {{0, 2, 7}, {2, 1, 9}, {0, 1, 5}};
    CHECK_OK(td_edges_create(&list, "small"));
    CHECK_OK(td_edges_chunk(list, 0, &chunk));
    CHECK_OK(td_chunk_reserve(chunk, 3, weighted));
    list->declared = true;
    list->vertices = 3;
    list->weighted = weighted;
    for (int i = 0; i < 3; i++) {
        CHECK_OK(td_chunk_put(chunk, edges[i][0], edges[i][1]));
        if (weighted) td_chunk_weight_integer(chunk, false, edges[i][2]);
    }
    CHECK_OK(td_graph_build(&graph, list, &plain, NULL));
    td_edges_destroy(list);
    return graph;
}

typedef struct layout {
    char bytes[256];
    size_t count;
} layout;

static void add64(layout *l, uint64_t value)
{
    memcpy(l->bytes + l->count, &value, 8);
    l->count += 8;
}

static void add32(layout *l, int32_t value)
{
    memcpy(l->bytes + l->count, &value, 4);
    l->count += 4;
}

static void small_layout(layout *l, bool weighted)
{
    static const int out[3][2] = {{1, 5}, {2, 7}, {1, 9}}, in[3][2] = {{0, 5}, {2, 9}, {0, 7}};
    static const uint64_t out_offsets[] = {0, 2, 2, 3}, in_offsets[] = {0, 0, 2, 3};
    l->bytes[0] = 1;
    l->count = 1;
    add64(l, 3);
    add64(l, 3);
    for (int i = 0; i < 4; i++) add64(l, out_offsets[i]);
    for (int i = 0; i < 3; i++) {
        add32(l, out[i][0]);
        if (weighted) add32(l, out[i][1]);
    }
    for (int i = 0; i < 4; i++) add64(l, in_offsets[i]);
    for (int i = 0; i < 3; i++) {
        add32(l, in[i][0]);
        if (weighted) add32(l, in[i][1]);
    }
}

TEST(the_bytes_are_those_of_the_benchmark_suite)
{
    char seen[256];
    for (int weighted = 0; weighted < 2; weighted++) {
        const td_format *format = weighted ? &td_format_wsg : &td_format_sg;
        td_graph *graph = small_graph(weighted);
        layout wanted;
        const char *path = test_path("bytes.sg");
        small_layout(&wanted, weighted);
        CHECK_OK(format->write(graph, path, NULL));
        CHECK_EQ(read_file(path, seen, sizeof seen), wanted.count);
        CHECK(memcmp(seen, wanted.bytes, wanted.count) == 0);
        check_reads_as(format, path, weighted ? "0>1:5 0>2:7 2>1:9" : "0>1 0>2 2>1");
        td_graph_destroy(graph);
    }
}

TEST(an_undirected_graph_is_stored_once)
{
    td_graph *graph = make_graph(&(sample){10, 20, 0, true, 0});
    char seen[4096];
    uint64_t edges;
    CHECK(graph->symmetric);
    CHECK_OK(td_format_sg.write(graph, test_path("once.sg"), NULL));
    CHECK_EQ(read_file(test_path("once.sg"), seen, sizeof seen), 17 + 8 * 11 + 4 * graph->edges);
    CHECK_EQ(seen[0], 0);
    memcpy(&edges, seen + 1, 8);
    CHECK_EQ(edges, graph->edges);
    td_graph_destroy(graph);
}

static int score(const td_format *format, const char *path, const char *suffix, bool cut)
{
    char head[4096];
    size_t bytes = read_file(path, head, sizeof head);
    return format->recognise(&(td_probe){.path = path, .suffix = suffix, .head = head, .head_bytes = bytes,
                                         .file_bytes = bytes - cut});
}

TEST(content_tells_the_two_apart_and_from_others)
{
    td_graph *plain = small_graph(false), *weighted = small_graph(true);
    CHECK_OK(td_format_sg.write(plain, test_path("x.sg"), NULL));
    CHECK_OK(td_format_wsg.write(weighted, test_path("x.wsg"), NULL));
    CHECK(score(&td_format_sg, test_path("x.sg"), "", false) > 80);
    CHECK(score(&td_format_wsg, test_path("x.wsg"), "", false) > 80);
    CHECK_EQ(score(&td_format_wsg, test_path("x.sg"), "", false), 0);
    CHECK_EQ(score(&td_format_sg, test_path("x.wsg"), "", false), 0);
    CHECK_EQ(score(&td_format_sg, test_path("x.sg"), "", true), 0);
    CHECK(score(&td_format_sg, test_path("x.sg"), "sg", true) > 0);
    td_graph_destroy(plain);
    td_graph_destroy(weighted);
}

TEST(broken_files_are_refused)
{
    for (int weighted = 0; weighted < 2; weighted++) {
        const td_format *format = weighted ? &td_format_wsg : &td_format_sg;
        const char *path = test_path("broken");
        layout l;
        small_layout(&l, weighted);
        test_write_file(path, l.bytes, l.count);
        check_truncations(format, path, 0);
        check_bit_flips(format, path, path);
        check_allocations(format, path);
        l.bytes[l.count] = 0;
        test_write_file(path, l.bytes, l.count + 1);
        check_refused(format, path, TD_CORRUPT, "do not fit the 3 vertices and 3 edges");
    }
}

static void check_patched(size_t at, uint64_t value, size_t width, td_status status, const char *words)
{
    layout l;
    small_layout(&l, false);
    memcpy(l.bytes + at, &value, width);
    test_write_file(test_path("patched.sg"), l.bytes, l.count);
    check_refused(&td_format_sg, test_path("patched.sg"), status, words);
}

TEST(what_is_wrong_is_named_with_its_byte)
{
    check_patched(0, 2, 1, TD_FORMAT, "first byte is 2");
    check_patched(1, 1u << 30, 8, TD_CORRUPT, "1073741824 edges");
    check_patched(9, UINT64_MAX, 8, TD_CORRUPT, "18446744073709551615 vertices");
    check_patched(17, 1, 8, TD_CORRUPT, "byte 17: the first list does not start at edge 0");
    check_patched(25, 4, 8, TD_CORRUPT, "byte 25: the list of vertex 0 runs from edge 0 to 4 of 3");
    check_patched(33, 1, 8, TD_CORRUPT, "byte 33: the list of vertex 1 runs from edge 2 to 1 of 3");
    check_patched(41, 2, 8, TD_CORRUPT, "byte 41: the list of vertex 2 runs from edge 2 to 2 of 3");
    check_patched(49, 3, 4, TD_CORRUPT, "byte 49: vertex 0 points to 3, but the last vertex is 2");
}

TEST(the_other_kind_is_suggested)
{
    layout l;
    small_layout(&l, true);
    test_write_file(test_path("kind.sg"), l.bytes, l.count);
    check_refused(&td_format_sg, test_path("kind.sg"), TD_CORRUPT, "format wsg");
    small_layout(&l, false);
    test_write_file(test_path("kind.wsg"), l.bytes, l.count);
    check_refused(&td_format_wsg, test_path("kind.wsg"), TD_CORRUPT, "format sg");
}

static void check_unwritable(const sample *s, td_status status, const char *words)
{
    td_graph *graph = make_graph(s);
    const char *path = test_path("unwritable.wsg");
    CHECK_STATUS(td_format_wsg.write(graph, path, NULL), status);
    CHECK_CONTAINS(td_last_message(), words);
    CHECK(access(path, F_OK) != 0);
    td_graph_destroy(graph);
}

TEST(weights_that_do_not_fit_are_refused)
{
    check_unwritable(&(sample){5, 9, 0, false, 0}, TD_INVALID, "weights");
    check_unwritable(&(sample){5, 9, 0, false, 3}, TD_UNSUPPORTED, "integer weights");
    check_unwritable(&(sample){5, 9, 0, false, 4}, TD_LIMIT, "2147483647");
}

TEST(half_a_graph_is_refused)
{
    td_graph *graph = small_graph(false);
    td_adjacency in = graph->in;
    graph->in = (td_adjacency){0};
    CHECK_STATUS(td_format_sg.write(graph, test_path("half.sg"), NULL), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "both directions");
    graph->in = in;
    td_graph_destroy(graph);
}

static char warning[TD_MESSAGE_BYTES];

static void keep_warning(void *context, td_log_level level, const char *line)
{
    (void)context;
    if (level == TD_LOG_WARN) snprintf(warning, sizeof warning, "%s", line);
}

TEST(what_is_lost_is_said)
{
    td_graph *based = make_graph(&(sample){5, 9, 1, false, 0}), *weighted = make_graph(&(sample){5, 9, 0, false, 1});
    td_log_set_sink(keep_warning, NULL);
    td_status first = td_format_sg.write(based, test_path("based.sg"), NULL);
    bool ids = strstr(warning, "original ids are not kept") != NULL;
    td_status second = td_format_sg.write(weighted, test_path("weighted.sg"), NULL);
    bool weights = strstr(warning, "holds no weights") != NULL;
    td_log_set_sink(NULL, NULL);
    CHECK(first == TD_OK && second == TD_OK && ids && weights);
    td_graph_destroy(based);
    td_graph_destroy(weighted);
}

TEST(a_failed_writing_leaves_nothing_behind)
{
    td_graph *graph = small_graph(true);
    int before = test_files("");
    for (uint64_t nth = 1;; nth++) {
        td_outfile_fail_at(nth, ENOSPC);
        td_status status = td_format_wsg.write(graph, test_path("full.wsg"), NULL);
        td_outfile_fail_at(0, 0);
        if (status == TD_OK) break;
        CHECK_EQ(status, TD_IO);
        CHECK_EQ(test_files(""), before);
    }
    for (uint64_t nth = 1;; nth++) {
        td_alloc_fail_at(nth);
        td_status status = td_format_wsg.write(graph, test_path("memory.wsg"), NULL);
        td_alloc_fail_at(0);
        if (status == TD_OK) break;
        CHECK_EQ(status, TD_NO_MEMORY);
        CHECK_EQ(test_files(""), before + 1);
    }
    td_graph_destroy(graph);
}

TEST_MAIN
