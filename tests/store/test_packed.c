#include "sample.h"

#include "base/cancel.h"
#include "base/clock.h"
#include "base/outfile.h"
#include "store/packed.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

static const sample KINDS[] = {
    {.vertices = 40, .edges = 100, .seed = 1},
    {.vertices = 40, .edges = 100, .symmetric = true, .seed = 2},
    {.vertices = 40, .edges = 100, .weights = TD_WEIGHT_U8, .sparse_ids = true, .seed = 3},
    {.vertices = 40, .edges = 100, .weights = TD_WEIGHT_U16, .symmetric = true, .id_base = 1, .seed = 4},
    {.vertices = 40, .edges = 100, .weights = TD_WEIGHT_U32, .id_base = 99, .seed = 5},
    {.vertices = 40, .edges = 100, .weights = TD_WEIGHT_F32, .sparse_ids = true, .symmetric = true, .seed = 6},
    {.vertices = 40, .edges = 100, .weights = TD_WEIGHT_F32, .out_only = true, .seed = 7},
    {.vertices = 40, .edges = 100, .weights = TD_WEIGHT_F64, .seed = 7},
    {.vertices = 40, .edges = 100, .weights = TD_WEIGHT_F64, .symmetric = true, .sparse_ids = true, .seed = 13},
    {.vertices = 17, .edges = 0, .seed = 8},
    {.vertices = 17, .edges = 0, .symmetric = true, .sparse_ids = true, .seed = 9},
    {.vertices = 1, .edges = 3, .seed = 10},
    {.vertices = 0, .edges = 0, .seed = 11},
    {.vertices = 30000, .edges = 60000, .weights = TD_WEIGHT_U16, .sparse_ids = true, .seed = 12},
};

enum { KIND_COUNT = sizeof KINDS / sizeof *KINDS };

static void check_same(const td_graph *seen, const td_graph *wanted)
{
    CHECK_EQ(seen->vertices, wanted->vertices);
    CHECK_EQ(seen->edges, wanted->edges);
    CHECK_EQ(seen->symmetric, wanted->symmetric);
    CHECK_EQ(seen->weights, wanted->weights);
    CHECK(seen->weight_min == wanted->weight_min && seen->weight_max == wanted->weight_max);
    CHECK_EQ(seen->in.offsets == NULL, wanted->in.offsets == NULL);
    CHECK_EQ(seen->in.offsets == seen->out.offsets, seen->symmetric);
    CHECK_EQ(seen->ids == NULL, wanted->ids == NULL);
    CHECK_EQ(digest_of(seen), digest_of(wanted));
    CHECK_OK(td_graph_check(seen, NULL));
}

TEST(every_kind_of_graph_comes_back_as_it_was)
{
    for (int i = 0; i < KIND_COUNT; i++) {
        const char *path = test_path("kind.tg");
        td_graph *graph = sample_graph(KINDS[i]), *loaded = NULL, *mapped = NULL;
        CHECK_OK(td_packed_write(graph, path, NULL));
        CHECK_OK(td_packed_load(&loaded, path, NULL));
        CHECK_OK(td_packed_map(&mapped, path));
        CHECK_STR(loaded->name, path);
        check_same(loaded, graph);
        check_same(mapped, graph);
        CHECK_OK(td_packed_check(path, NULL));
        td_graph_destroy(loaded);
        td_graph_destroy(mapped);
        td_graph_destroy(graph);
    }
}

static uint64_t file_hash(const char *path)
{
    uint64_t hash = 0;
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    for (int c; (c = getc_unlocked(file)) != EOF;) hash = td_mix64(hash ^ (uint64_t)c);
    fclose(file);
    return hash;
}

TEST(the_bytes_do_not_depend_on_the_threads)
{
    td_graph *graph = sample_graph(KINDS[KIND_COUNT - 1]);
    uint64_t hashes[3];
    int threads[3] = {1, 2, 8};
    for (int i = 0; i < 3; i++) {
        td_pool *pool = NULL;
        td_graph *loaded = NULL;
        CHECK_OK(td_pool_create(&pool, threads[i]));
        CHECK_OK(td_packed_write(graph, test_path("threads.tg"), pool));
        hashes[i] = file_hash(test_path("threads.tg"));
        CHECK_OK(td_packed_load(&loaded, test_path("threads.tg"), pool));
        check_same(loaded, graph);
        CHECK_OK(td_packed_check(test_path("threads.tg"), pool));
        td_graph_destroy(loaded);
        td_pool_destroy(pool);
    }
    CHECK(hashes[0] == hashes[1] && hashes[1] == hashes[2]);
    td_graph_destroy(graph);
}

TEST(a_loaded_or_mapped_graph_is_written_as_the_same_bytes)
{
    const char *path = test_path("again.tg");
    td_graph *graph = sample_graph(KINDS[2]), *mapped = NULL;
    CHECK_OK(td_packed_write(graph, path, NULL));
    uint64_t hash = file_hash(path);
    CHECK_OK(td_packed_map(&mapped, path));
    CHECK_OK(td_packed_write(mapped, path, NULL)); /* over the file it is mapped from */
    CHECK(file_hash(path) == hash);
    CHECK_EQ(digest_of(mapped), digest_of(graph));
    td_graph_destroy(mapped);
    td_graph_destroy(graph);
}

TEST(the_plan_is_the_file_that_gets_written)
{
    for (int i = 0; i < KIND_COUNT; i++) {
        td_graph *graph = sample_graph(KINDS[i]);
        td_packed *packed = NULL;
        td_packed_info plan = td_packed_plan(graph);
        CHECK_OK(td_packed_write(graph, test_path("plan.tg"), NULL));
        CHECK_OK(td_packed_open(&packed, test_path("plan.tg")));
        const td_packed_info *info = td_packed_describe(packed);
        CHECK_EQ(plan.file_bytes, info->file_bytes);
        CHECK_EQ(plan.edges, info->edges);
        for (int kind = 0; kind < TD_SECTIONS; kind++) {
            CHECK_EQ(plan.sections[kind].bytes, info->sections[kind].bytes);
            CHECK_EQ(info->sections[kind].offset % TD_PACKED_ALIGN, 0);
        }
        CHECK_EQ(info->sections[TD_SECTION_IN_TARGETS].element, graph->symmetric || KINDS[i].out_only ? 0 : 4);
        CHECK_EQ(info->sections[TD_SECTION_OUT_WEIGHTS].bytes, graph->edges * td_weight_bytes(graph->weights));
        CHECK(info->build_id != 0);
        td_packed_close(packed);
        td_graph_destroy(graph);
    }
}

static void check_pages(td_packed *packed, const td_adjacency *adjacency, bool in)
{
    const td_packed_info *info = td_packed_describe(packed);
    td_page *pages = NULL;
    uint64_t count = 0;
    uint32_t span = td_summary_span(info->vertices);
    CHECK_OK(td_packed_pages(packed, in, &pages, &count, NULL));
    for (uint64_t p = 0; p < count; p++) {
        uint64_t wanted[TD_SUMMARY_WORDS] = {0};
        CHECK_EQ(pages[p].first_edge, adjacency->offsets[pages[p].first_vertex]);
        CHECK(pages[p].vertices <= TD_PAGE_VERTICES);
        CHECK(pages[p].edges <= TD_PAGE_EDGES || pages[p].vertices == 1);
        for (uint64_t e = pages[p].first_edge; e < pages[p].first_edge + pages[p].edges; e++)
            wanted[adjacency->targets[e] / span / 64] |= UINT64_C(1) << adjacency->targets[e] / span % 64;
        CHECK(memcmp(wanted, pages[p].summary, sizeof wanted) == 0);
        CHECK_EQ(td_summary_meets(wanted, wanted), pages[p].edges > 0);
    }
    td_free(pages);
}

TEST(pages_cover_every_list_and_summarise_its_targets)
{
    td_graph *graph = sample_graph((sample){.vertices = 700000, .edges = 100000, .seed = 14});
    td_packed *packed = NULL;
    CHECK_OK(td_packed_write(graph, test_path("pages.tg"), NULL));
    CHECK_OK(td_packed_open(&packed, test_path("pages.tg")));
    CHECK_EQ(td_packed_describe(packed)->sections[TD_SECTION_OUT_PAGES].bytes / sizeof(td_page), 3);
    check_pages(packed, &graph->out, false);
    check_pages(packed, &graph->in, true);
    td_packed_close(packed);
    td_graph_destroy(graph);
}

TEST(a_heavy_vertex_is_a_page_of_its_own)
{
    enum { VERTICES = 9 };
    uint64_t degrees[VERTICES] = {5, TD_PAGE_EDGES - 5, 1, 3 * TD_PAGE_EDGES, 0, 0, TD_PAGE_EDGES, 1, 0};
    uint64_t offsets[VERTICES + 1] = {0};
    uint32_t *targets = NULL;
    for (int v = 0; v < VERTICES; v++) offsets[v + 1] = offsets[v] + degrees[v];
    CHECK_OK(TD_NEW_ZEROED(&targets, offsets[VERTICES], "targets"));
    td_adjacency adjacency = {offsets, targets, NULL};
    td_page *pages = NULL;
    uint64_t count;
    CHECK_OK(td_pages_make(&pages, &count, &adjacency, VERTICES, NULL));
    uint32_t firsts[] = {0, 2, 3, 4, 7};
    CHECK_EQ(count, 5);
    for (uint64_t p = 0; p < count; p++) {
        CHECK_EQ(pages[p].first_vertex, firsts[p]);
        CHECK_EQ(pages[p].summary[0], 1);
    }
    CHECK_EQ(pages[2].edges, 3 * TD_PAGE_EDGES);
    CHECK_EQ(pages[3].vertices, 3);
    td_free(pages);
    td_free(targets);
}

TEST(sections_can_be_read_and_verified_one_by_one)
{
    td_graph *graph = sample_graph(KINDS[KIND_COUNT - 1]);
    td_packed *packed = NULL;
    void *degrees = NULL;
    static char blocks[2 * TD_PACKED_BLOCK];
    CHECK_OK(td_packed_write(graph, test_path("parts.tg"), NULL));
    CHECK_OK(td_packed_open(&packed, test_path("parts.tg")));
    CHECK_OK(td_packed_section(packed, TD_SECTION_IN_DEGREES, &degrees, NULL));
    for (uint32_t v = 0; v < graph->vertices; v++) CHECK_EQ(((uint32_t *)degrees)[v], td_degree(&graph->in, v));
    td_free(degrees);
    uint64_t offset = td_packed_describe(packed)->sections[TD_SECTION_OUT_TARGETS].offset + TD_PACKED_BLOCK;
    CHECK_EQ(pread(td_packed_descriptor(packed, 0), blocks, sizeof blocks, (off_t)offset), (ssize_t)sizeof blocks);
    CHECK_OK(td_packed_load_checksums(packed));
    CHECK_OK(td_packed_verify(packed, TD_SECTION_OUT_TARGETS, 1, blocks, sizeof blocks));
    blocks[TD_PACKED_BLOCK] ^= 16;
    CHECK_STATUS(td_packed_verify(packed, TD_SECTION_OUT_TARGETS, 1, blocks, sizeof blocks), TD_CORRUPT);
    CHECK_CONTAINS(td_last_message(), "block 2 of its out targets");
    td_packed_close(packed);
    td_graph_destroy(graph);
}

TEST(a_graph_without_in_lists_has_no_in_pages)
{
    td_graph *graph = sample_graph(KINDS[6]);
    td_packed *packed = NULL;
    td_page *pages = NULL;
    uint64_t count;
    CHECK_OK(td_packed_write(graph, test_path("out.tg"), NULL));
    CHECK_OK(td_packed_open(&packed, test_path("out.tg")));
    CHECK_STATUS(td_packed_pages(packed, true, &pages, &count, NULL), TD_NOT_FOUND);
    td_packed_close(packed);
    td_graph_destroy(graph);
}

TEST(opening_takes_milliseconds_whatever_the_size)
{
    td_graph *graph = sample_graph((sample){.vertices = 1000000, .edges = 4000000, .seed = 15}), *mapped = NULL;
    td_pool *pool = NULL;
    CHECK_OK(td_pool_create(&pool, 2));
    CHECK_OK(td_packed_write(graph, test_path("large.tg"), pool));
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 5; i++) {
        uint64_t start = td_clock_ns();
        CHECK_OK(td_packed_map(&mapped, test_path("large.tg")));
        uint64_t took = td_clock_ns() - start;
        best = took < best ? took : best;
        CHECK_EQ(mapped->edges, 4000000);
        td_graph_destroy(mapped);
    }
    printf("    mapped %" PRIu64 " bytes in %" PRIu64 " us\n", td_packed_plan(graph).file_bytes, best / 1000);
    CHECK(best < 5000000);
    td_pool_destroy(pool);
    td_graph_destroy(graph);
}

TEST(writing_needs_little_memory_beyond_the_graph)
{
    td_graph *graph = sample_graph((sample){.vertices = 500000, .edges = 4000000, .seed = 16});
    uint64_t before = td_memory().now;
    td_memory_reset_peak();
    CHECK_OK(td_packed_write(graph, test_path("memory.tg"), NULL));
    CHECK(td_memory().peak - before < (UINT64_C(3) << 20));
    td_memory_reset_peak();
    CHECK_OK(td_packed_check(test_path("memory.tg"), NULL));
    CHECK(td_memory().peak - before < (UINT64_C(3) << 20));
    td_graph_destroy(graph);
}

static td_status write_read_check(const td_graph *graph, const char *path)
{
    td_graph *loaded = NULL, *mapped = NULL;
    td_status status = td_packed_write(graph, path, NULL);
    if (status == TD_OK) status = td_packed_load(&loaded, path, NULL);
    if (status == TD_OK) status = td_packed_map(&mapped, path);
    if (status == TD_OK) status = td_packed_check(path, NULL);
    td_graph_destroy(loaded);
    td_graph_destroy(mapped);
    return status;
}

TEST(a_failed_allocation_anywhere_is_an_error_and_leaks_nothing)
{
    td_graph *graph = sample_graph(KINDS[2]);
    uint64_t held = td_memory().now, nth = 1;
    for (;; nth++) {
        td_alloc_fail_at(nth);
        td_status status = write_read_check(graph, test_path("nth.tg"));
        td_alloc_fail_at(0);
        CHECK_EQ(td_memory().now, held);
        if (status == TD_OK) break;
        CHECK_EQ(status, TD_NO_MEMORY);
    }
    CHECK(nth > 20);
    td_graph_destroy(graph);
}

TEST(a_failed_write_anywhere_leaves_no_file)
{
    td_graph *graph = sample_graph(KINDS[2]);
    int before = test_files("");
    uint64_t nth = 1;
    for (;; nth++) {
        td_outfile_fail_at(nth, nth % 2 ? ENOSPC : EIO);
        td_status status = td_packed_write(graph, test_path("full.tg"), NULL);
        td_outfile_fail_at(0, 0);
        if (status == TD_OK) break;
        CHECK_EQ(status, TD_IO);
        CHECK_EQ(test_files(""), before);
    }
    CHECK(nth > 10);
    td_graph_destroy(graph);
}

TEST(a_disk_quota_is_an_error_before_the_work)
{
    td_graph *graph = sample_graph(KINDS[2]);
    int before = test_files("");
    struct rlimit old, small;
    CHECK_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 20000;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    td_status status = td_packed_write(graph, test_path("quota.tg"), NULL);
    setrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, SIG_DFL);
    CHECK_EQ(status, TD_IO);
    CHECK_CONTAINS(td_last_message(), "File too large");
    CHECK_EQ(test_files(""), before);
    td_graph_destroy(graph);
}

TEST(a_cancel_leaves_no_file)
{
    td_graph *graph = sample_graph(KINDS[2]);
    int before = test_files("");
    td_cancel_request();
    td_status status = td_packed_write(graph, test_path("cancel.tg"), NULL);
    td_cancel_clear();
    CHECK_EQ(status, TD_CANCELLED);
    CHECK_EQ(test_files(""), before);
    td_graph_destroy(graph);
}

TEST_MAIN
