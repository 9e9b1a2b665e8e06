#include "sample.h"

#include "base/cancel.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/outfile.h"
#include "store/formats/format.h"
#include "store/formats/print.h"
#include "store/packed.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>

static char warning[TD_MESSAGE_BYTES];

static void keep_warning(void *context, td_log_level level, const char *line)
{
    (void)context;
    if (level == TD_LOG_WARN) snprintf(warning, sizeof warning, "%s", line);
}

static void listen(void)
{
    warning[0] = '\0';
    td_log_set_sink(keep_warning, NULL);
}

static td_graph *read_back(const char *path)
{
    td_graph *graph = NULL;
    CHECK_OK(td_graph_read(&graph, path, NULL, &(td_build_options){0}, NULL));
    CHECK_OK(td_graph_check(graph, NULL));
    return graph;
}

static td_graph *read_text(const char *text)
{
    test_write_file(test_path("text.el"), text, strlen(text));
    return read_back(test_path("text.el"));
}

/* .tg -> text -> graph -> .tg. */
static void check_round_trip(const td_graph *graph, const char *name)
{
    const char *text = test_path(name);
    td_graph *loaded = NULL, *last = NULL;
    CHECK_OK(td_graph_write(graph, test_path("first.tg"), NULL, NULL));
    CHECK_OK(td_packed_load(&loaded, test_path("first.tg"), NULL));
    CHECK_OK(td_graph_write(loaded, text, NULL, NULL));
    td_graph *back = read_back(text);
    CHECK_EQ(back->vertices, graph->vertices);
    CHECK_EQ(back->edges, graph->edges);
    CHECK_EQ(back->weights, graph->weights);
    CHECK_EQ(digest_of(back), digest_of(graph));
    CHECK_OK(td_graph_write(back, test_path("last.tg"), NULL, NULL));
    last = read_back(test_path("last.tg"));
    CHECK_EQ(digest_of(last), digest_of(graph));
    td_graph_destroy(last);
    td_graph_destroy(back);
    td_graph_destroy(loaded);
}

TEST(matrix_market_keeps_everything)
{
    listen();
    for (int kind = 0; kind < 10; kind++) {
        sample spec = {.vertices = 40, .edges = 100, .weights = (td_weight_kind)(kind % 5), .symmetric = kind >= 5,
                       .id_base = 1, .seed = (uint64_t)kind};
        td_graph *graph = sample_graph(spec);
        check_round_trip(graph, "graph.mtx");
        td_graph *back = read_back(test_path("graph.mtx"));
        CHECK_EQ(back->symmetric, spec.symmetric);
        td_graph_destroy(back);
        td_graph_destroy(graph);
    }
    td_graph *bare = sample_graph((sample){.vertices = 12, .edges = 0, .id_base = 1});
    check_round_trip(bare, "bare.mtx");
    td_graph_destroy(bare);
    CHECK_STR(warning, "");
    td_log_set_sink(NULL, NULL);
}

/* Numbers the vertices from `first` and forgets what they were called. */
static void rename_vertices(td_graph *graph, uint64_t first)
{
    td_free(graph->ids);
    graph->ids = NULL;
    graph->id_base = first;
}

static bool fits(const td_graph *graph, const td_format *format)
{
    if (strcmp(format->name, "sg") == 0) return graph->weights == TD_WEIGHT_NONE;
    if (strcmp(format->name, "wsg") == 0)
        return graph->weights != TD_WEIGHT_NONE && !td_weight_real(graph->weights);
    return format->write != NULL;
}

TEST(real_graphs_survive_every_writer)
{
    static const char *const files[] = {"karate.mtx.xz", "rome99.gr.xz", "add20.mtx.xz", "memplus.mtx.xz",
                                        "wiki-Vote.txt.xz", "email-Enron.txt.xz", "USA-road-d.NY.gr.xz",
                                        "npm-2016-08-26.tsv.xz"};
    td_pool *pool = NULL;
    const char *folder = test_shared_data();
    CHECK_OK(td_pool_create(&pool, 2));
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[600], name[64];
        td_graph *graph = NULL, *back = NULL;
        td_build_options options = {0};
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        CHECK_OK(td_graph_read(&graph, path, NULL, &options, pool));
        for (int f = 0; td_formats[f] != NULL; f++) {
            if (!fits(graph, td_formats[f])) continue;
            if (td_formats[f] == &td_format_matrixmarket) rename_vertices(graph, 1);
            if (strstr(td_formats[f]->name, "sg") != NULL) rename_vertices(graph, 0);
            snprintf(name, sizeof name, "real.%s", td_formats[f]->name);
            CHECK_OK(td_graph_write(graph, test_path(name), td_formats[f]->name, pool));
            CHECK_OK(td_graph_read(&back, test_path(name), td_formats[f]->name, &options, pool));
            if (digest_of(back) != digest_of(graph) || back->symmetric != graph->symmetric ||
                back->weights != graph->weights)
                TEST_FAIL("%s is another graph after %s", files[i], td_formats[f]->name);
            td_graph_destroy(back);
        }
        td_graph_destroy(graph);
    }
    td_pool_destroy(pool);
}

TEST(edge_lists_keep_everything)
{
    static const char *const names[] = {"list.el", "list.txt", "list.tsv", "list.csv"};
    listen();
    for (int kind = 0; kind < 20; kind++) {
        td_graph *graph = sample_graph((sample){.vertices = 40, .edges = 100, .weights = (td_weight_kind)(kind % 5),
                                                .symmetric = kind % 2, .sparse_ids = kind >= 10,
                                                .seed = (uint64_t)kind});
        check_round_trip(graph, names[kind % 4]);
        CHECK_STR(warning, "");
        td_graph_destroy(graph);
    }
    td_log_set_sink(NULL, NULL);
}

TEST(an_edge_list_tells_of_vertices_without_edges_in_comments)
{
    td_graph *bare = sample_graph((sample){.vertices = 40, .edges = 0, .sparse_ids = true});
    check_round_trip(bare, "bare.txt");
    td_graph_destroy(bare);
    const char *foreign = "# vertices 5 6\n1 2\n", *ours = TD_EDGE_LIST_MARK "\n# vertices 5 6\n1 2\n";
    td_graph *two = read_text(foreign), *four = read_text(ours);
    CHECK_EQ(two->vertices, 2);
    CHECK_EQ(four->vertices, 4);
    CHECK_EQ(four->ids[3], 6);
    td_graph_destroy(two);
    td_graph_destroy(four);
    const char *broken = TD_EDGE_LIST_MARK "\n# vertices 5 x\n1 2\n";
    td_graph *none = NULL;
    test_write_file(test_path("broken.el"), broken, strlen(broken));
    CHECK_STATUS(td_graph_read(&none, test_path("broken.el"), NULL, NULL, NULL), TD_FORMAT);
    CHECK_CONTAINS(td_last_message(), "broken.el:2");
}

TEST(a_matrix_keeps_consecutive_ids_and_says_that_it_loses_others)
{
    td_graph *sparse = sample_graph((sample){.vertices = 40, .edges = 100, .sparse_ids = true});
    td_graph *from_zero = sample_graph((sample){.vertices = 40, .edges = 100});
    listen();
    CHECK_OK(td_graph_write(sparse, test_path("ids.mtx"), NULL, NULL));
    CHECK_CONTAINS(warning, "original ids are not kept (vertex 7 becomes 1)");
    warning[0] = '\0';
    CHECK_OK(td_graph_write(from_zero, test_path("ids.mtx"), NULL, NULL));
    CHECK_STR(warning, "");
    td_log_set_sink(NULL, NULL);
    td_graph *back = read_back(test_path("ids.mtx"));
    CHECK_EQ(digest_of(back), digest_of(from_zero));
    td_graph_destroy(back);
    td_graph_destroy(sparse);
    td_graph_destroy(from_zero);
}

static void check_text(const char *path, const char *wanted)
{
    char seen[512] = "";
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    size_t bytes = fread(seen, 1, sizeof seen - 1, file);
    fclose(file);
    seen[bytes] = '\0';
    CHECK_STR(seen, wanted);
}

TEST(the_text_is_as_people_expect_it)
{
    td_graph *graph = read_text("10 30 5\n10 20 7\n30 30 1\n");
    CHECK_OK(td_graph_write(graph, test_path("out.el"), NULL, NULL));
    check_text(test_path("out.el"), "# Tandem edge list: 3 vertices, 3 edges\n# source target weight\n"
                                    "10 20 7\n10 30 5\n30 30 1\n");
    CHECK_OK(td_graph_write(graph, test_path("out.csv"), NULL, NULL));
    check_text(test_path("out.csv"), "# Tandem edge list: 3 vertices, 3 edges\n# source target weight\n"
                                     "10,20,7\n10,30,5\n30,30,1\n");
    td_log_set_level(TD_LOG_QUIET);
    CHECK_OK(td_graph_write(graph, test_path("out"), "mtx", NULL));
    td_log_set_level(TD_LOG_INFO);
    check_text(test_path("out"), "%%MatrixMarket matrix coordinate integer general\n3 3 3\n1 2 7\n1 3 5\n3 3 1\n");
    td_graph_destroy(graph);
}

static uint64_t text_hash(const td_graph *graph, const char *name, int threads)
{
    td_pool *pool = NULL;
    uint64_t hash = 0;
    int c;
    CHECK_OK(td_pool_create(&pool, threads));
    CHECK_OK(td_graph_write(graph, test_path(name), NULL, pool));
    td_pool_destroy(pool);
    FILE *file = fopen(test_path(name), "rb");
    while ((c = getc_unlocked(file)) != EOF) hash = td_mix64(hash ^ (uint64_t)c);
    fclose(file);
    return hash;
}

TEST(the_text_does_not_depend_on_the_threads)
{
    td_graph *graph = sample_graph((sample){.vertices = 30000, .edges = 200000, .weights = TD_WEIGHT_F32,
                                            .symmetric = true, .sparse_ids = true});
    td_log_set_level(TD_LOG_QUIET);
    uint64_t list = text_hash(graph, "threads.el", 1), matrix = text_hash(graph, "threads.mtx", 1);
    CHECK(text_hash(graph, "threads.el", 2) == list && text_hash(graph, "threads.el", 8) == list);
    CHECK(text_hash(graph, "threads.mtx", 2) == matrix && text_hash(graph, "threads.mtx", 8) == matrix);
    td_log_set_level(TD_LOG_INFO);
    td_graph_destroy(graph);
}

TEST(the_suffix_or_the_name_chooses_the_format)
{
    td_graph *graph = read_text("1 2\n2 3\n");
    CHECK_STATUS(td_graph_write(graph, test_path("x.unknown"), NULL, NULL), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "no such format has the suffix 'unknown'");
    CHECK_CONTAINS(td_last_message(), "mtx (mtx)");
    CHECK_CONTAINS(td_last_message(), "tg (tg)");
    CHECK(strstr(td_last_message(), "dimacs") == NULL);
    CHECK_STATUS(td_graph_write(graph, test_path("bare"), NULL, NULL), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "'bare' has no suffix");
    CHECK_STATUS(td_graph_write(graph, "-", NULL, NULL), TD_USAGE);
    CHECK_STATUS(td_graph_write(graph, test_path("x.el"), "nonsense", NULL), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "there is no format 'nonsense'");
    CHECK_STATUS(td_graph_write(graph, test_path("x.el"), "dimacs", NULL), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "can only be read");
    CHECK_STATUS(td_graph_write(graph, test_path("x.el.gz"), NULL, NULL), TD_UNSUPPORTED);
    CHECK_STATUS(td_graph_write(graph, "-", "tg", NULL), TD_INVALID);
    CHECK_OK(td_graph_write(graph, test_path("x.EL"), NULL, NULL));
    CHECK_OK(td_graph_write(graph, test_path("named"), "tg", NULL));
    CHECK_OK(td_packed_check(test_path("named"), NULL));
    td_graph_destroy(graph);
}

TEST(a_failure_while_writing_text_leaves_nothing)
{
    td_graph *graph = sample_graph((sample){.vertices = 1000, .edges = 400000, .weights = TD_WEIGHT_U32});
    td_pool *pool = NULL;
    CHECK_OK(td_pool_create(&pool, 4));
    td_log_set_level(TD_LOG_QUIET);
    int before = test_files("");
    uint64_t nth = 1;
    for (;; nth++) {
        td_outfile_fail_at(nth, ENOSPC);
        td_status status = td_graph_write(graph, test_path("failed.el"), NULL, pool);
        td_outfile_fail_at(0, 0);
        if (status == TD_OK) break;
        CHECK_EQ(status, TD_IO);
        CHECK_CONTAINS(td_last_message(), "No space left on device");
        CHECK_EQ(test_files(""), before);
    }
    CHECK(nth > 6);
    td_cancel_request();
    td_status status = td_graph_write(graph, test_path("cancelled.mtx"), NULL, pool);
    td_cancel_clear();
    CHECK_EQ(status, TD_CANCELLED);
    CHECK_EQ(test_files(""), before + 1);
    td_log_set_level(TD_LOG_INFO);
    td_pool_destroy(pool);
    td_graph_destroy(graph);
}

TEST(a_failed_allocation_while_writing_text_leaks_nothing)
{
    td_graph *graph = sample_graph((sample){.vertices = 40, .edges = 100, .symmetric = true, .id_base = 1});
    td_log_set_level(TD_LOG_QUIET);
    static const char *const names[] = {"nth.el", "nth.mtx"};
    for (int i = 0; i < 2; i++) {
        uint64_t nth = 1;
        for (;; nth++) {
            td_alloc_fail_at(nth);
            td_status status = td_graph_write(graph, test_path(names[i]), NULL, NULL);
            td_alloc_fail_at(0);
            if (status == TD_OK) break;
            CHECK_EQ(status, TD_NO_MEMORY);
        }
        CHECK(nth > 4);
    }
    td_log_set_level(TD_LOG_INFO);
    td_graph_destroy(graph);
}

static void check_u64(uint64_t value)
{
    char text[TD_PRINT_U64 + 1], wanted[32];
    *td_print_u64(text, value) = '\0';
    snprintf(wanted, sizeof wanted, "%" PRIu64, value);
    CHECK_STR(text, wanted);
}

TEST(integers_are_printed_as_the_library_does)
{
    uint64_t power = 1;
    for (int i = 0; i < 20; i++, power *= 10) {
        check_u64(power - 1);
        check_u64(power);
        check_u64(power + 1);
    }
    check_u64(UINT64_MAX);
    for (uint64_t i = 0; i < 100000; i++) check_u64(td_random_at(3, i) >> i % 64);
}

static void check_f32(float value)
{
    char text[TD_PRINT_F32 + 1];
    *td_print_f32(text, value) = '\0';
    float back = strtof(text, NULL);
    if (memcmp(&back, &value, sizeof value) != 0) TEST_FAIL("%.9g is printed as %s", (double)value, text);
    CHECK(strpbrk(text, ".e") != NULL);
}

TEST(every_float_comes_back_from_its_text)
{
    static const float corners[] = {0, -0.0f, 1, -1, 0.1f, 0.5f, 1e-5f, 9.99999e-6f, 1e8f, 1e9f, 999999936, 16777216,
                                    3.4028235e38f, 1.17549435e-38f, 1e-45f, 123456.789f};
    for (size_t i = 0; i < sizeof corners / sizeof *corners; i++) check_f32(corners[i]);
    for (uint64_t i = 0; i < 500000; i++) {
        uint32_t bits = (uint32_t)td_random_at(9, i);
        float value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value)) check_f32(value);
        check_f32((float)td_random_unit(td_random_at(10, i)) * 1000);
    }
    char text[TD_PRINT_F32 + 1];
    *td_print_f32(text, 2.5f) = '\0';
    CHECK_STR(text, "2.5");
    *td_print_f32(text, -3.0f) = '\0';
    CHECK_STR(text, "-3.0");
}

TEST_MAIN
