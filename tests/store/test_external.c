/* Graphs built out of memory: the same bytes as those built in memory. */
#include "sample.h"

#include "base/cancel.h"
#include "base/outfile.h"
#include "store/external.h"
#include "store/external_ids.h"
#include "store/formats/format.h"
#include "store/gen.h"

#include <errno.h>
#include <sys/stat.h>

enum { LEAST = 1 << 20, PIECES = 7 };
#define PLENTY (UINT64_C(1) << 30)

/* A sample's edges in pieces, as a reader delivers them. */
static td_status deliver(void *context, td_edge_list *edges, td_pool *pool)
{
    const sample *spec = context;
    td_status status = TD_OK;
    td_edge_list *whole = NULL;
    (void)pool;
    TD_TRY(sample_list(&whole, *spec));
    edges->weighted = whole->weighted;
    edges->mirror = whole->mirror;
    edges->declared = whole->declared;
    edges->vertices = whole->vertices;
    edges->id_base = whole->id_base;
    if (spec->weights == TD_WEIGHT_F64) TD_TRY(td_edges_use_doubles(edges));
    edges->listed = whole->listed;
    edges->listed_count = whole->listed_count;
    whole->listed = NULL;
    const td_edge_chunk *from = whole->chunks[0];
    for (uint64_t p = 0; p < PIECES; p++) {
        uint64_t begin = td_share(from->count, (int)p, PIECES), end = td_share(from->count, (int)p + 1, PIECES);
        td_edge_chunk *chunk = NULL;
        TD_TRY(td_edges_chunk(edges, p, &chunk));
        TD_TRY(td_chunk_reserve(chunk, end - begin, edges->weighted));
        for (uint64_t e = begin; e < end; e++) {
            bool wide = from->wide != NULL;
            TD_TRY(td_chunk_put(chunk, wide ? from->wide[2 * e] : from->ends[2 * e],
                                wide ? from->wide[2 * e + 1] : from->ends[2 * e + 1]));
            if (edges->weighted) sample_weight(spec, chunk, e);
        }
        TD_TRY(td_edges_deliver(edges, chunk, 0));
    }
done:
    td_edges_destroy(whole);
    return status;
}

static td_status build_outside(const sample *spec, const td_build_options *options, const char *path, td_pool *pool,
                               td_external_report *report)
{
    td_external_settings settings = {.path = path, .build = options, .memory = PLENTY, .most = LEAST, .pool = pool};
    return td_external_build(&settings, "sample", deliver, (void *)spec, report);
}

static void build_inside(const sample *spec, const td_build_options *options, const char *path)
{
    td_edge_list *list = NULL;
    td_graph *graph = NULL;
    CHECK_OK(sample_list(&list, *spec));
    CHECK_OK(td_graph_build(&graph, list, options, NULL));
    CHECK_OK(td_packed_write(graph, path, NULL));
    td_edges_destroy(list);
    td_graph_destroy(graph);
}

static void check_same_file(const char *a, const char *b)
{
    FILE *one = fopen(a, "rb"), *two = fopen(b, "rb");
    uint64_t at = 0;
    int x, y;
    do {
        x = getc(one);
        y = getc(two);
        if (x != y) break;
        at++;
    } while (x != EOF);
    fclose(one);
    fclose(two);
    if (x != y) TEST_FAIL("the files differ at byte %" PRIu64 ": %d, not %d", at, x, y);
}

static const td_build_options OPTIONS[] = {
    {0},
    {.dedup = true},
    {.symmetrize = true},
    {.symmetrize = true, .dedup = true, .drop_loops = true},
    {.out_only = true, .drop_weights = true},
    {.attach_weights = true, .weight_low = 1, .weight_high = 300, .weight_seed = 5},
    {.attach_weights = true, .weight_real = true, .weight_low = -1, .weight_high = 1, .weight_seed = 5, .dedup = true},
};
enum { OPTION_COUNT = sizeof OPTIONS / sizeof *OPTIONS };

static const sample KINDS[] = {
    {.vertices = 40, .edges = 100, .seed = 1},
    {.vertices = 3000, .edges = 400000, .seed = 2},
    {.vertices = 3000, .edges = 250000, .symmetric = true, .weights = TD_WEIGHT_U8, .seed = 2},
    {.vertices = 60000, .edges = 250000, .weights = TD_WEIGHT_U16, .sparse_ids = true, .seed = 3},
    {.vertices = 300, .edges = 250000, .weights = TD_WEIGHT_F32, .id_base = 99, .seed = 4},
    {.vertices = 70000, .edges = 200000, .weights = TD_WEIGHT_U32, .sparse_ids = true, .symmetric = true, .seed = 6},
    {.vertices = 3000, .edges = 250000, .weights = TD_WEIGHT_F64, .sparse_ids = true, .seed = 7},
    {.vertices = 17, .edges = 0, .seed = 8},
    {.vertices = 17, .edges = 0, .weights = TD_WEIGHT_F32, .sparse_ids = true, .seed = 9},
    {.vertices = 1, .edges = 3, .seed = 10},
    {.vertices = 0, .edges = 0, .seed = 11},
    {.vertices = 600000, .edges = 1000, .seed = 12},
};
enum { KIND_COUNT = sizeof KINDS / sizeof *KINDS };

TEST(every_option_gives_the_bytes_of_the_builder_in_memory)
{
    td_pool *pool = NULL;
    CHECK_OK(td_pool_create(&pool, 2));
    for (int k = 0; k < KIND_COUNT; k++)
        for (int o = 0; o < OPTION_COUNT; o++) {
            td_external_report report;
            bool skipped = KINDS[k].edges < 10000 ? o % 3 != k % 3 : o != 3 && (k + o) % 2 != 0;
            if (skipped) continue; /* every file is synced, which takes time */
            build_inside(&KINDS[k], &OPTIONS[o], test_path("inside.tg"));
            CHECK_OK(build_outside(&KINDS[k], &OPTIONS[o], test_path("outside.tg"), o % 2 ? pool : NULL, &report));
            check_same_file(test_path("outside.tg"), test_path("inside.tg"));
            if (KINDS[k].edges >= 250000 && KINDS[k].vertices >= 3000) CHECK(report.temporary_bytes > 0);
        }
    td_pool_destroy(pool);
}

static td_status generate(void *context, td_edge_list *edges, td_pool *pool)
{
    const td_gen_spec *spec = context;
    return td_generator_named(spec->kind)->fill(spec, edges, pool);
}

TEST(every_generator_streams)
{
    static const td_gen_spec specs[] = {
        {.kind = "rmat", .seed = 1, .scale = 14, .rewire = -1, .shuffle = true},
        {.kind = "uniform", .seed = 2, .vertices = 5000, .rewire = -1},
        {.kind = "grid", .seed = 3, .width = 300, .rewire = -1},
        {.kind = "web", .seed = 4, .vertices = 9000, .rewire = -1},
        {.kind = "smallworld", .seed = 5, .vertices = 3000, .rewire = -1},
        {.kind = "path", .seed = 6, .vertices = 5000, .rewire = -1},
        {.kind = "star", .seed = 6, .vertices = 5000, .rewire = -1},
        {.kind = "tree", .seed = 6, .vertices = 5000, .rewire = -1},
        {.kind = "complete", .seed = 6, .vertices = 300, .rewire = -1},
        {.kind = "layered", .seed = 6, .layers = 4, .width = 100, .rewire = -1},
    };
    td_pool *pool = NULL;
    td_build_options options = {.dedup = true};
    CHECK_OK(td_pool_create(&pool, 2));
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        td_graph *graph = NULL;
        td_external_report report;
        td_external_settings settings = {.path = test_path("gen.tg"), .build = &options, .memory = PLENTY,
                                         .most = LEAST, .pool = pool};
        CHECK_OK(td_graph_generate(&graph, &specs[i], &options, pool));
        CHECK_OK(td_packed_write(graph, test_path("inside.tg"), pool));
        CHECK_OK(td_external_build(&settings, specs[i].kind, generate, (void *)&specs[i], &report));
        check_same_file(settings.path, test_path("inside.tg"));
        td_graph_destroy(graph);
    }
    td_pool_destroy(pool);
}

/* Texts that Tandem reads but does not write. */
static void print_dimacs(const td_graph *graph, FILE *file)
{
    fprintf(file, "p sp %u %" PRIu64 "\n", graph->vertices, graph->edges);
    for (uint32_t v = 0; v < graph->vertices; v++)
        for (uint64_t e = graph->out.offsets[v]; e < graph->out.offsets[v + 1]; e++)
            fprintf(file, "a %u %u %u\n", v + 1, graph->out.targets[e] + 1, (unsigned)(e % 100));
}

static void print_lists(const td_graph *graph, FILE *file, uint32_t first)
{
    for (uint32_t v = 0; v < graph->vertices; v++) {
        for (uint64_t e = graph->out.offsets[v]; e < graph->out.offsets[v + 1]; e++)
            fprintf(file, " %u", graph->out.targets[e] + first);
        fprintf(file, "\n");
    }
}

static void print_metis(const td_graph *graph, FILE *file)
{
    fprintf(file, "%% lists\n%u %" PRIu64 "\n", graph->vertices, graph->edges);
    print_lists(graph, file, 1);
}

static void print_graph_text(const td_graph *graph, FILE *file)
{
    fprintf(file, "%u\n", graph->vertices);
    print_lists(graph, file, 0);
}

typedef struct reading {
    const td_format *format;
    const char *path;
} reading;

static td_status read_format(void *context, td_edge_list *edges, td_pool *pool)
{
    const reading *self = context;
    return self->format->read(self->path, edges, pool);
}

static void check_format(const char *name, const char *path, td_pool *pool)
{
    td_graph *graph = NULL;
    td_build_options options = {.drop_loops = true};
    td_external_report report;
    reading source = {td_format_named(name), path};
    td_external_settings settings = {.path = test_path("read.tg"), .build = &options, .memory = PLENTY, .most = LEAST,
                                     .pool = pool};
    CHECK(source.format->streams);
    CHECK_OK(td_graph_read(&graph, path, name, &options, pool));
    CHECK_OK(td_packed_write(graph, test_path("inside.tg"), pool));
    CHECK_OK(td_external_build(&settings, path, read_format, &source, &report));
    CHECK_EQ(report.edges_read > 0, true);
    check_same_file(settings.path, test_path("inside.tg"));
    td_graph_destroy(graph);
}

static void print_with(void (*print)(const td_graph *, FILE *), const td_graph *graph, const char *path)
{
    FILE *file = fopen(path, "w");
    print(graph, file);
    fclose(file);
}

TEST(every_format_that_streams_gives_the_same_bytes)
{
    td_pool *pool = NULL;
    CHECK_OK(td_pool_create(&pool, 2));
    td_graph *plain = sample_graph((sample){.vertices = 4000, .edges = 60000, .seed = 21});
    td_graph *weighted = sample_graph((sample){.vertices = 4000, .edges = 60000, .weights = TD_WEIGHT_U16, .seed = 22});
    td_graph *real = sample_graph(
        (sample){.vertices = 4000, .edges = 60000, .weights = TD_WEIGHT_F32, .sparse_ids = true, .seed = 23});
    CHECK_OK(td_graph_write(plain, test_path("g.el"), NULL, pool));
    check_format("edgelist", test_path("g.el"), pool);
    CHECK_OK(td_graph_write(real, test_path("g.wel"), NULL, pool));
    check_format("edgelist", test_path("g.wel"), pool);
    CHECK_OK(td_graph_write(weighted, test_path("g.mtx"), NULL, pool));
    check_format("mtx", test_path("g.mtx"), pool);
    CHECK_OK(td_graph_write(plain, test_path("g.sg"), NULL, pool));
    check_format("sg", test_path("g.sg"), pool);
    CHECK_OK(td_graph_write(weighted, test_path("g.wsg"), NULL, pool));
    check_format("wsg", test_path("g.wsg"), pool);
    print_with(print_dimacs, plain, test_path("g.gr"));
    check_format("dimacs", test_path("g.gr"), pool);
    print_with(print_metis, plain, test_path("g.metis"));
    check_format("metis", test_path("g.metis"), pool);
    print_with(print_graph_text, plain, test_path("g.graph-txt"));
    check_format("graph-txt", test_path("g.graph-txt"), pool);
    td_graph_destroy(plain);
    td_graph_destroy(weighted);
    td_graph_destroy(real);
    td_pool_destroy(pool);
}

/* Lists whose chunks hold integers, negative ones, or fractions. */
typedef struct mixed {
    const char *weights[PIECES]; /* "7", "-3", "0.5", "16777217" for all edges of the chunk */
} mixed;

static td_status deliver_mixed(void *context, td_edge_list *edges, td_pool *pool)
{
    (void)pool;
    const mixed *self = context;
    edges->weighted = true;
    for (uint64_t p = 0; p < PIECES; p++) {
        td_edge_chunk *chunk = NULL;
        TD_CHECK(td_edges_chunk(edges, p, &chunk));
        TD_CHECK(td_chunk_reserve(chunk, 1000, true));
        for (uint64_t e = 0; e < 1000; e++) {
            double weight = strtod(self->weights[p], NULL);
            TD_CHECK(td_chunk_put(chunk, e % 37, e * 7 % 41));
            if (strchr(self->weights[p], '.') != NULL) td_chunk_weight_real(chunk, (float)weight);
            else td_chunk_weight_integer(chunk, weight < 0, (uint32_t)(weight < 0 ? -weight : weight));
        }
        TD_CHECK(td_edges_deliver(edges, chunk, 0));
    }
    return TD_OK;
}

static void check_mixed(mixed chunks, td_status wanted)
{
    td_edge_list *list = NULL;
    td_graph *graph = NULL;
    td_external_report report;
    td_build_options options = {0};
    td_external_settings settings = {.path = test_path("mixed.tg"), .build = &options, .memory = PLENTY, .most = LEAST};
    CHECK_OK(td_edges_create(&list, "mixed"));
    CHECK_OK(deliver_mixed(&chunks, list, NULL));
    CHECK_STATUS(td_graph_build(&graph, list, &options, NULL), wanted);
    td_edges_destroy(list);
    CHECK_STATUS(td_external_build(&settings, "mixed", deliver_mixed, &chunks, &report), wanted);
    if (wanted == TD_OK) {
        CHECK_OK(td_packed_write(graph, test_path("inside.tg"), NULL));
        check_same_file(settings.path, test_path("inside.tg"));
        td_graph_destroy(graph);
    }
}

TEST(weights_of_several_kinds_settle_as_in_memory)
{
    check_mixed((mixed){{"1", "2", "300", "4", "5", "6", "7"}}, TD_OK);
    check_mixed((mixed){{"1", "2", "300", "-4", "5", "6", "7"}}, TD_OK);
    check_mixed((mixed){{"-1", "2", "3.5", "4", "5", "6", "16777217"}}, TD_OK);
    check_mixed((mixed){{"16777217", "2", "3", "4.5", "5", "6", "7"}}, TD_OK);
    check_mixed((mixed){{"16777217", "2", "3", "-4", "5", "6", "7"}}, TD_LIMIT);
    check_mixed((mixed){{"1", "2", "3", "-4", "5", "6", "16777217"}}, TD_LIMIT);
}

static const sample FAILING = {.vertices = 20000, .edges = 150000, .weights = TD_WEIGHT_U16, .sparse_ids = true,
                               .seed = 31};

TEST(a_full_disk_anywhere_is_an_error_and_leaves_nothing)
{
    int before = test_files("");
    uint64_t held = td_memory().now, nth = 1;
    for (;; nth += nth < 30 ? 1 : 13) {
        td_external_report report;
        td_outfile_fail_at(nth, ENOSPC);
        td_status status = build_outside(&FAILING, &OPTIONS[0], test_path("full.tg"), NULL, &report);
        td_outfile_fail_at(0, 0);
        CHECK_EQ(td_memory().now, held);
        if (status == TD_OK) break;
        CHECK_EQ(status, TD_IO);
        CHECK_CONTAINS(td_last_message(), "No space left");
        CHECK_EQ(test_files(""), before);
    }
    CHECK(nth > 30);
    unlink(test_path("full.tg"));
}

TEST(no_memory_anywhere_is_an_error_and_leaks_nothing)
{
    int before = test_files("");
    uint64_t held = td_memory().now, nth = 1;
    for (;; nth += nth < 60 ? 1 : 29) {
        td_external_report report;
        td_alloc_fail_at(nth);
        td_status status = build_outside(&FAILING, &OPTIONS[0], test_path("memory.tg"), NULL, &report);
        td_alloc_fail_at(0);
        CHECK_EQ(td_memory().now, held);
        if (status == TD_OK) break;
        CHECK_EQ(status, TD_NO_MEMORY);
        CHECK_EQ(test_files(""), before);
    }
    CHECK(nth > 60);
    unlink(test_path("memory.tg"));
}

TEST(a_failure_at_the_first_chunk_reaches_every_worker)
{
    td_pool *pool = NULL;
    CHECK_OK(td_pool_create(&pool, 4));
    td_gen_spec spec = {.kind = "uniform", .seed = 1, .vertices = 100000, .rewire = -1};
    td_external_report report;
    td_external_settings settings = {.path = test_path("first.tg"), .build = &OPTIONS[0], .memory = PLENTY,
                                     .most = LEAST, .expected_edges = UINT64_C(1) << 60, .pool = pool};
    uint64_t held = td_memory().now;
    CHECK_STATUS(td_external_build(&settings, "uniform", generate, &spec, &report), TD_IO);
    CHECK_CONTAINS(td_last_message(), "on the disk of");
    settings.expected_edges = 0;
    for (uint64_t nth = 1; nth < 80; nth++) {
        td_alloc_fail_at(nth);
        td_status status = td_external_build(&settings, "uniform", generate, &spec, &report);
        td_alloc_fail_at(0);
        CHECK_EQ(status, TD_NO_MEMORY);
        CHECK_EQ(td_memory().now, held);
    }
    td_pool_destroy(pool);
}

TEST(a_cancel_leaves_nothing)
{
    int before = test_files("");
    td_external_report report;
    td_cancel_request();
    td_status status = build_outside(&FAILING, &OPTIONS[0], test_path("cancel.tg"), NULL, &report);
    td_cancel_clear();
    CHECK_EQ(status, TD_CANCELLED);
    CHECK_EQ(test_files(""), before);
}

TEST(too_little_memory_names_the_least)
{
    td_external_report report;
    td_external_settings settings = {.path = test_path("little.tg"), .build = &OPTIONS[0], .memory = 1 << 20};
    CHECK_STATUS(td_external_build(&settings, "sample", deliver, (void *)&FAILING, &report), TD_NO_MEMORY);
    CHECK_CONTAINS(td_last_message(), "needs at least");
}

TEST(ids_too_many_for_memory_say_how_much_more_is_needed)
{
    enum { IDS = 100000 };
    td_edge_list *list = NULL;
    td_external_ids *ids = NULL;
    td_edge_chunk *chunk = NULL;
    uint64_t least = 0, seen[2];
    CHECK_OK(td_edges_create(&list, "spread.txt"));
    CHECK_OK(td_edges_chunk(list, 0, &chunk));
    CHECK_OK(td_chunk_reserve(chunk, IDS / 2, false));
    for (uint64_t i = 0; i < IDS / 2; i++)
        CHECK_OK(td_chunk_put(chunk, 2 * i * UINT64_C(1000000007), (2 * i + 1) * UINT64_C(1000000007)));
    for (int enough = 0; enough < 2; enough++) {
        CHECK_OK(td_external_ids_create(&ids, list, test_folder(), LEAST, NULL, 1));
        CHECK_OK(td_external_ids_take(ids, chunk, false, 0));
        CHECK_STATUS(td_external_ids_number(ids, IDS * 8 - 100 + 100 * (uint64_t)enough, &least),
                     enough ? TD_OK : TD_NO_MEMORY);
        CHECK_EQ(least, enough ? 0 : 100);
        if (!enough) CHECK_CONTAINS(td_last_message(), "spread.txt: 100000 different ids");
        CHECK_EQ(td_external_ids_count(ids), IDS);
        CHECK_OK(td_external_ids_read(ids, IDS - 2, 2, seen));
        CHECK_EQ(seen[1] - seen[0], 1000000007);
        td_external_ids_destroy(ids);
    }
    td_edges_destroy(list);
}

TEST(stripes_are_written_without_a_detour)
{
    td_external_report report;
    td_graph *a = NULL, *b = NULL;
    td_build_options options = {.dedup = true};
    td_external_settings settings = {.path = test_path("striped.tg"), .stripes = test_folder(), .build = &options,
                                     .memory = PLENTY, .most = LEAST};
    CHECK_OK(td_external_build(&settings, "sample", deliver, (void *)&FAILING, &report));
    CHECK_OK(td_packed_check(settings.path, NULL));
    CHECK_OK(td_packed_load(&a, settings.path, NULL));
    build_inside(&FAILING, &options, test_path("inside.tg"));
    CHECK_OK(td_packed_load(&b, test_path("inside.tg"), NULL));
    CHECK_EQ(digest_of(a), digest_of(b));
    td_graph_destroy(a);
    td_graph_destroy(b);
}

TEST_MAIN
