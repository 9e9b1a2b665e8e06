/* Edge lists with names instead of numbers, with other columns and with quotes; adjacency lists; names in packed files. */
#include "text_reading.h"

#include "base/hash.h"
#include "base/random.h"
#include "store/external.h"
#include "store/packed.h"
#include "store/vertex_names.h"

/* "a>b:7 b>c:1", by names. */
static const char *by_names(const td_graph *graph)
{
    static char text[4096];
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t v = 0; v < graph->vertices; v++) {
        for (uint64_t e = graph->out.offsets[v]; e < graph->out.offsets[v + 1]; e++) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s>%s", used > 0 ? " " : "",
                                     td_vertex_name(graph, v), td_vertex_name(graph, graph->out.targets[e]));
            if (graph->weights != TD_WEIGHT_NONE)
                used += (size_t)snprintf(text + used, sizeof text - used, ":%g", td_weight_at(graph, &graph->out, e));
        }
    }
    return text;
}

static td_status read_as(td_graph **out, const char *name, const char *text, const char *format, const char *columns)
{
    td_build_options build = {.columns = columns};
    test_write_file(test_path(name), text, strlen(text));
    return td_graph_read(out, test_path(name), format, &build, NULL);
}

static void expect_names(const char *text, const char *wanted)
{
    td_graph *graph = NULL;
    CHECK_OK(read_as(&graph, "names.csv", text, NULL, NULL));
    CHECK(graph->names != NULL);
    CHECK_STR(by_names(graph), wanted);
    td_graph_destroy(graph);
}

TEST(words_are_names_of_vertices_in_the_order_of_their_bytes)
{
    expect_names("x y\ny z\nz x\n", "x>y y>z z>x");
    expect_names("b,a,5\na,b,7\n", "a>b:7 b>a:5");
    expect_names("source,target\nb,a\nB,a\n", "B>a b>a");
    expect_names("New York,Los Angeles,1.5\nLos Angeles,X,2\n", "Los Angeles>X:2 New York>Los Angeles:1.5");
    expect_names("\"a,b\";c\n\"say \"\"hi\"\"\";c\n", "a,b>c say \"hi\">c");
    expect_names("# comment\nq1 q2\nq2 q3\n% another\nq3 q1\n", "q1>q2 q2>q3 q3>q1");
    expect_names("3com ibm\nibm 12\n", "3com>ibm ibm>12");
}

TEST(numbers_stay_numbers_unless_names_are_asked_for)
{
    td_graph *graph = NULL;
    CHECK_OK(read_as(&graph, "n.txt", "10 9\n9 100\n", NULL, NULL));
    CHECK(graph->names == NULL);
    td_graph_destroy(graph);
    CHECK_OK(read_as(&graph, "n.txt", "10 9\n9 100\n", "names", NULL));
    CHECK_STR(by_names(graph), "10>9 9>100");
    CHECK_EQ(td_graph_id(graph, 1), 1);
    td_graph_destroy(graph);
    CHECK_OK(read_as(&graph, "one.txt", "a b\n", "names", NULL));
    CHECK_STR(by_names(graph), "a>b");
    td_graph_destroy(graph);
    CHECK_STATUS(read_as(&graph, "one.txt", "a b\n", NULL, NULL), TD_FORMAT); /* a heading, as far as anyone knows */
    CHECK_STATUS(read_as(&graph, "late.txt", "1 2\na b\n", NULL, NULL), TD_FORMAT);
    CHECK_CONTAINS(td_last_message(), ":2: the vertex id is 'a'");
}

TEST(columns_say_where_the_ends_and_weights_are)
{
    td_graph *graph = NULL;
    const char *text = "when,from_node,to_node,km\n2021-01-01,1,2,5.5\n2021-01-02,2,3,\n";
    CHECK_STATUS(read_as(&graph, "c.csv", text, NULL, "_,source,target,weight"), TD_FORMAT);
    CHECK_CONTAINS(td_last_message(), "c.csv:3: ");
    CHECK_OK(read_as(&graph, "c.csv", text, NULL, "_,source,target,_"));
    CHECK_STR(test_describe(graph), "3: 1>2 2>3");
    td_graph_destroy(graph);
    CHECK_OK(read_as(&graph, "c.txt", "7 2 1\n8 3 2\n", NULL, "weight,target,source"));
    CHECK_STR(test_describe(graph), "3: 1>2:7 2>3:8");
    td_graph_destroy(graph);
    CHECK_OK(read_as(&graph, "c.csv", "a,1,2\nb,2,3\n", NULL, "_,source,target"));
    CHECK_STR(test_describe(graph), "3: 1>2 2>3");
    td_graph_destroy(graph);
    CHECK_OK(read_as(&graph, "c.csv", "5,x,y\n6,y,z\n", NULL, "weight,from,to"));
    CHECK_STR(by_names(graph), "x>y:5 y>z:6");
    td_graph_destroy(graph);
}

TEST(columns_that_make_no_sense_are_refused)
{
    td_graph *graph = NULL;
    static const char *const wrong[] = {"source", "source,target,source", "source,target,foo", "", "_,_", "source,,target"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK_STATUS(read_as(&graph, "c.csv", "1,2\n", NULL, wrong[i]), TD_USAGE);
    CHECK_STATUS(read_as(&graph, "c.csv", "1,2\n3,4,5\n", NULL, "source,target"), TD_FORMAT);
    CHECK_CONTAINS(td_last_message(), "c.csv:2: 3 columns, but 2 are expected");
    CHECK_STATUS(read_as(&graph, "c.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n", NULL,
                         "source,target"), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "is for edge lists");
}

TEST(fields_may_be_in_quotes)
{
    td_graph *graph = NULL;
    CHECK_OK(read_as(&graph, "q.csv", "\"1\",\"2\",\"5\"\n\"2\" , \"3\" , 6\n", NULL, NULL));
    CHECK_STR(test_describe(graph), "3: 1>2:5 2>3:6");
    td_graph_destroy(graph);
    CHECK_OK(read_as(&graph, "q.csv", "\"from\",\"to\"\n\"1\",\"2\"\n", NULL, NULL));
    CHECK_STR(test_describe(graph), "2: 1>2");
    td_graph_destroy(graph);
    test_expect_failure("open.csv", "\"1\",\"2\"\n\"2\",\"3\n", TD_FORMAT, ":2: a quoted field does not end on its line");
    test_expect_failure("after.csv", "\"1\",\"2\"\n\"2\"x,\"3\"\n", TD_FORMAT, ":2: text follows the closing quote");
    test_expect_failure("word.csv", "\"1\",\"2\"\n\"2\",\"b\"\n", TD_FORMAT, ":2: the vertex id is 'b'");
}

TEST(names_that_cannot_be_are_refused)
{
    td_graph *graph = NULL;
    char *text = malloc(3000);
    memset(text, 'x', 2000);
    strcpy(text + 2000, " y\ny z\n");
    CHECK_STATUS(read_as(&graph, "long.txt", text, "names", NULL), TD_FORMAT);
    CHECK_CONTAINS(td_last_message(), "more than 1024 bytes");
    free(text);
    CHECK_STATUS(read_as(&graph, "empty.csv", "a,b\n\"\",c\n", "names", NULL), TD_FORMAT);
    CHECK_CONTAINS(td_last_message(), ":2: the name of a vertex is empty");
    test_write_file(test_path("zero.txt"), "a b\nc\0d e\n", 10);
    CHECK_STATUS(td_graph_read(&graph, test_path("zero.txt"), "names", NULL, NULL), TD_FORMAT);
    CHECK_CONTAINS(td_last_message(), "zero byte");
}

/* Many pieces: names repeat in all of them. */
static char *many_names(size_t *bytes)
{
    enum { EDGES = 60000 };
    char *text = malloc(EDGES * 40);
    size_t used = 0;
    for (uint64_t i = 0; i < EDGES; i++)
        used += (size_t)sprintf(text + used, "v%" PRIu64 " name-%" PRIu64 "\n", td_random_at(1, i) % 5000,
                                td_random_at(2, i) % 7000);
    *bytes = used;
    return text;
}

TEST(names_do_not_depend_on_pieces_threads_or_compression)
{
    size_t bytes;
    char *text = many_names(&bytes);
    test_expect_same_everywhere("many.txt", text, bytes);
    td_graph *graph = NULL;
    CHECK_OK(test_read(&graph, test_path("many.txt"), NULL, 4));
    CHECK_EQ(graph->edges, 60000);
    for (uint32_t v = 1; v < graph->vertices; v++) {
        uint32_t found = 0;
        CHECK(strcmp(td_vertex_name(graph, v - 1), td_vertex_name(graph, v)) < 0);
        CHECK_OK(td_vertex_named(graph, td_vertex_name(graph, v), &found));
        CHECK_EQ(found, v);
    }
    td_graph_destroy(graph);
    free(text);
}

TEST(every_failing_allocation_is_survived)
{
    test_expect_survival("survive.csv", "source,target,weight\n\"a b\",c,1\nc,\"d\"\"\",2.5\nd,a,1\n");
    test_expect_survival("survive.adjlist", "1 2 3\n4\n2 1\n");
}

TEST(a_packed_file_keeps_the_names)
{
    size_t bytes;
    char *text = many_names(&bytes);
    td_graph *graph = NULL, *other = NULL;
    const char *path = test_path("kept.tg");
    test_write_file(test_path("kept.txt"), text, bytes);
    free(text);
    CHECK_OK(test_read(&graph, test_path("kept.txt"), NULL, 2));
    CHECK_OK(td_packed_write(graph, path, NULL));
    CHECK_OK(td_packed_check(path, NULL));
    for (int way = 0; way < 4; way++) {
        uint32_t found = 0;
        if (way == 0) CHECK_OK(td_packed_load(&other, path, NULL));
        if (way == 1) CHECK_OK(td_packed_map_checked(&other, path, NULL));
        if (way >= 2) { /* rebuilt from memory, and out of a mapping */
            CHECK_OK(way == 2 ? td_packed_load(&other, path, NULL) : td_packed_map(&other, path));
            CHECK_OK(td_graph_rebuild(&other, &(td_build_options){.drop_loops = true}, NULL));
        }
        CHECK_EQ(other->vertices, graph->vertices);
        for (uint32_t v = 0; v < graph->vertices; v++)
            CHECK_STR(td_vertex_name(other, v), td_vertex_name(graph, v));
        CHECK_OK(td_vertex_named(other, "v17", &found));
        CHECK_STATUS(td_vertex_named(other, "v17x", &found), TD_NOT_FOUND);
        td_graph_destroy(other);
    }
    td_graph_destroy(graph);
}

/* Names move with their vertices in a graph that is renumbered, and in the file of it. */
TEST(a_renumbered_graph_keeps_the_names)
{
    td_graph *graph = NULL;
    uint32_t place[] = {2, 0, 1};
    CHECK_OK(read_as(&graph, "r.txt", "a b 1\nb c 2\n", "names", NULL));
    CHECK_OK(td_graph_renumber(&graph, place, NULL));
    CHECK_STR(td_vertex_name(graph, 0), "b");
    CHECK_STR(by_names(graph), "b>c:2 a>b:1");
    CHECK_OK(td_packed_write(graph, test_path("r.tg"), NULL));
    td_graph_destroy(graph);
    CHECK_OK(td_packed_load(&graph, test_path("r.tg"), NULL)); /* has all thirteen sections */
    uint32_t found = 9;
    CHECK_OK(td_vertex_named(graph, "a", &found));
    CHECK_EQ(found, 2);
    CHECK_STR(by_names(graph), "b>c:2 a>b:1");
    td_graph_destroy(graph);
}

TEST(text_files_of_named_graphs_are_read_back)
{
    td_graph *graph = NULL, *back = NULL;
    CHECK_OK(read_as(&graph, "w.csv", "\"a b\",\"#c\"\n\"#c\",12\n12,\"q\"\"\"\n", "names", NULL));
    static const char *const names[] = {"back.txt", "back.tsv", "back.csv"};
    for (int i = 0; i < 3; i++) {
        CHECK_OK(td_graph_write(graph, test_path(names[i]), NULL, NULL));
        CHECK_OK(test_read(&back, test_path(names[i]), NULL, 2));
        CHECK_EQ(test_digest(back), test_digest(graph));
        CHECK_STR(by_names(back), by_names(graph));
        td_graph_destroy(back);
    }
    td_graph_destroy(graph);
    CHECK_OK(read_as(&graph, "w.txt", "# Tandem edge list\n# names\n# names lonely \"very lonely\"\nb c\n", NULL, NULL));
    CHECK_EQ(graph->vertices, 4);
    CHECK_OK(td_graph_write(graph, test_path("lonely.txt"), NULL, NULL));
    CHECK_OK(test_read(&back, test_path("lonely.txt"), NULL, 2));
    CHECK_EQ(back->vertices, 4);
    CHECK_STR(td_vertex_name(back, 3), "very lonely");
    td_graph_destroy(graph);
    td_graph_destroy(back);
}

typedef struct names_source {
    const char *path;
} names_source;

static td_status deliver(void *context, td_edge_list *edges, td_pool *pool)
{
    const names_source *self = context;
    return td_format_read(td_format_named("names"), self->path, false, edges, pool);
}

TEST(a_build_out_of_memory_keeps_the_names)
{
    size_t bytes;
    char *text = many_names(&bytes);
    names_source source = {test_path("out.txt")};
    td_build_options build = {0};
    td_external_report report;
    td_pool *pool = NULL;
    td_graph *graph = NULL;
    test_write_file(source.path, text, bytes);
    free(text);
    CHECK_OK(td_pool_create(&pool, 2));
    CHECK_OK(td_graph_read(&graph, source.path, "names", &build, pool));
    CHECK_OK(td_packed_write(graph, test_path("inside.tg"), pool));
    td_graph_destroy(graph);
    td_external_settings settings = {.path = test_path("outside.tg"), .build = &build, .memory = 1 << 30, .most = 1 << 20,
                                     .pool = pool};
    CHECK_OK(td_external_build(&settings, source.path, deliver, &source, &report));
    td_packed *one = NULL, *two = NULL;
    CHECK_OK(td_packed_open(&one, test_path("inside.tg")));
    CHECK_OK(td_packed_open(&two, settings.path));
    CHECK(td_packed_describe(one)->build_id == td_packed_describe(two)->build_id);
    td_packed_close(one);
    td_packed_close(two);
    td_pool_destroy(pool);
}

TEST(forged_names_are_refused)
{
    static const struct {
        const char *text;
        uint64_t bytes, count;
    } wrong[] = {{"a\0b", 3, 2}, {"a\0\0b\0", 5, 3}, {"b\0a\0", 4, 2}, {"a\0a\0", 4, 2}, {"a\0b\0", 4, 1}, {"a\0b\0", 4, 3}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        td_vertex_names *names = NULL;
        CHECK_STATUS(td_vertex_names_take(&names, (char *)wrong[i].text, wrong[i].bytes, wrong[i].count, true, "x.tg"),
                     TD_CORRUPT);
        CHECK_CONTAINS(td_last_message(), "x.tg: number ");
        CHECK(names == NULL);
    }
}

TEST(adjacency_lists_have_a_vertex_and_its_neighbours_on_a_line)
{
    test_expect_graph("a.adjlist", "# c\n1 2 3\n2\n4,1;9\n\n7: 7 8\n", "7: 1>2 1>3 4>1 4>9 7>7 7>8");
    test_expect_graph("alone.adjlist", "5\n7 5\n9\n", "3: 7>5");
    test_expect_failure("word.adjlist", "1 2\n3 x 4\n", TD_FORMAT, ":2: the vertex id is 'x'");
    test_expect_failure("none.adjlist", "# nothing\n\n", TD_FORMAT, "no vertex in it");
    size_t bytes = 0;
    char *text = malloc(2000000);
    for (uint64_t i = 0; i < 50000; i++)
        bytes += (size_t)sprintf(text + bytes, i % 7 == 0 ? "%" PRIu64 "\n" : "%" PRIu64 " %" PRIu64 " 3\n", i,
                                 td_random_at(4, i) % 60000);
    test_expect_same_everywhere("large.adjlist", text, bytes);
    free(text);
}

TEST_MAIN
