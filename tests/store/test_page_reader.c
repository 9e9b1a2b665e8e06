/* Graphs whose edges stay on disk: what is read is what was written, by every method; what goes wrong is told; and
 * pages stay in memory by their value. */
#include "sample.h"

#include "store/packed_file.h"
#include "store/paged.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static const sample LARGE = {.vertices = 20000, .edges = 400000, .weights = TD_WEIGHT_U32, .seed = 3};

static const td_reader_options METHODS[] = {{0}, {.threads = true}, {.cached = true}, {.threads = true, .cached = true},
                                            {.depth = 2}};
enum { METHOD_COUNT = sizeof METHODS / sizeof *METHODS };

static const char *large_file(void)
{
    const char *path = test_path("large.tg");
    td_graph *graph = sample_graph(LARGE);
    CHECK_OK(td_packed_write(graph, path, NULL));
    td_graph_destroy(graph);
    return path;
}

/* The sum of everything about the edges of all vertices. */
typedef struct total {
    const td_graph *graph;
    unsigned lists;
    _Atomic uint64_t sum;
} total;

static uint64_t list_total(const td_graph *graph, const td_adjacency *list, uint64_t v)
{
    uint64_t sum = 0;
    for (uint64_t e = list->offsets[v]; e < list->offsets[v + 1]; e++)
        sum += td_mix64(list->targets[e] + v * 31 +
                        (list->weights != NULL ? (uint64_t)td_weight_at(graph, list, e) << 32 : 0));
    return sum;
}

static td_status add_range(void *context, uint64_t begin, uint64_t end, int worker)
{
    total *self = context;
    (void)worker;
    for (uint64_t v = begin; v < end; v++) {
        if (self->lists & TD_LIST_OUT) self->sum += list_total(self->graph, &self->graph->out, v);
        if (self->lists & TD_LIST_IN) self->sum += list_total(self->graph, &self->graph->in, v);
    }
    return TD_OK;
}

static td_status sum_up(const td_graph *graph, unsigned lists, uint64_t *sum)
{
    total self = {.graph = graph, .lists = lists};
    TD_CHECK(td_graph_for_vertices(graph, lists, TD_WITH_WEIGHTS, NULL, 512, add_range, &self));
    *sum = self.sum;
    return TD_OK;
}

TEST(every_method_reads_what_was_written)
{
    const char *path = large_file();
    td_graph *loaded = NULL;
    uint64_t wanted[4], seen;
    CHECK_OK(td_packed_load(&loaded, path, NULL));
    for (unsigned lists = 1; lists <= 3; lists++) CHECK_OK(sum_up(loaded, lists, &wanted[lists]));
    for (int m = 0; m < METHOD_COUNT; m++) {
        td_graph *paged = NULL;
        CHECK_OK(td_paged_open(&paged, path, NULL, &METHODS[m]));
        for (unsigned lists = 1; lists <= 3; lists++) {
            CHECK_OK(sum_up(paged, lists, &seen));
            CHECK_EQ(seen, wanted[lists]);
        }
        td_graph_destroy(paged);
    }
    td_graph_destroy(loaded);
}

TEST(stripes_are_read_each_by_its_own_queue)
{
    char directories[600], one[256], two[256];
    td_graph *graph = sample_graph(LARGE), *paged = NULL;
    uint64_t wanted, seen, bytes = 0;
    snprintf(one, sizeof one, "%s", test_path("one"));
    snprintf(two, sizeof two, "%s", test_path("two"));
    CHECK_EQ(mkdir(one, 0700), 0);
    CHECK_EQ(mkdir(two, 0700), 0);
    snprintf(directories, sizeof directories, "%s,%s", one, two);
    const char *path = test_path("striped.tg");
    CHECK_OK(td_packed_write_striped(graph, path, directories, NULL));
    CHECK_OK(sum_up(graph, TD_LIST_BOTH, &wanted));
    CHECK_OK(td_paged_open(&paged, path, NULL, NULL));
    CHECK_OK(sum_up(paged, TD_LIST_BOTH, &seen));
    CHECK_EQ(seen, wanted);
    td_page_reader *reader = td_paged_reader(paged->paged);
    CHECK_EQ(td_page_reader_directories(reader), 2);
    for (int d = 0; d < 2; d++) {
        CHECK(td_page_reader_counts(reader, d).bytes > 0);
        bytes += td_page_reader_counts(reader, d).bytes;
    }
    CHECK_EQ(td_paged_count(paged->paged).bytes, bytes);
    td_graph_destroy(paged);
    td_graph_destroy(graph);
}

TEST(a_read_that_fails_is_done_once_more)
{
    const char *path = large_file();
    for (int fault = TD_FAULT_ERROR; fault <= TD_FAULT_FLIP; fault++)
        for (uint64_t nth = 1; nth < 12; nth++) {
            td_graph *paged = NULL;
            uint64_t sum;
            CHECK_OK(td_paged_open(&paged, path, NULL, NULL));
            td_page_reader_inject((td_read_fault)fault, nth, 0);
            CHECK_OK(sum_up(paged, TD_LIST_BOTH, &sum));
            CHECK_EQ(td_page_reader_counts(td_paged_reader(paged->paged), 0).retries, 1);
            td_page_reader_inject(TD_FAULT_ERROR, 0, 0);
            td_graph_destroy(paged);
        }
}

TEST(a_read_that_fails_twice_is_an_error_that_names_the_file)
{
    const char *path = large_file();
    td_graph *paged = NULL;
    uint64_t sum;
    CHECK_OK(td_paged_open(&paged, path, NULL, NULL));
    td_page_reader_inject(TD_FAULT_ERROR, 3, UINT64_MAX);
    CHECK_STATUS(sum_up(paged, TD_LIST_OUT, &sum), TD_IO);
    CHECK_CONTAINS(td_last_message(), "large.tg at byte");
    CHECK_STATUS(sum_up(paged, TD_LIST_OUT, &sum), TD_IO); /* and again */
    td_page_reader_inject(TD_FAULT_ERROR, 0, 0);
    td_graph_destroy(paged);
}

static void flip_bit(const char *path, uint64_t at)
{
    uint8_t byte;
    int file = open(path, O_RDWR);
    CHECK(file >= 0 && pread(file, &byte, 1, (off_t)at) == 1);
    byte ^= 4;
    CHECK(pwrite(file, &byte, 1, (off_t)at) == 1);
    close(file);
}

TEST(a_flipped_bit_is_told_with_file_and_block)
{
    const char *path = large_file();
    td_graph *paged = NULL;
    td_packed *packed = NULL;
    uint64_t sum;
    CHECK_OK(td_packed_open(&packed, path));
    td_section weights = td_packed_describe(packed)->sections[TD_SECTION_OUT_WEIGHTS];
    td_packed_close(packed);
    flip_bit(path, weights.offset + 3 * TD_PACKED_BLOCK + 77);
    CHECK_OK(td_paged_open(&paged, path, NULL, NULL));
    CHECK_STATUS(sum_up(paged, TD_LIST_OUT, &sum), TD_CORRUPT);
    CHECK_CONTAINS(td_last_message(), "large.tg is damaged: block 3 of its out weights");
    td_graph_destroy(paged);
}

TEST(a_file_that_changes_meanwhile_is_told)
{
    const char *path = large_file();
    td_graph *paged = NULL;
    uint64_t sum;
    CHECK_OK(td_paged_open(&paged, path, NULL, NULL));
    CHECK_OK(sum_up(paged, TD_LIST_OUT, &sum));
    flip_bit(path, 3 << 20);
    struct timespec times[2] = {{1000, 0}, {1000, 0}};
    CHECK_EQ(utimensat(AT_FDCWD, path, times, 0), 0);
    CHECK_STATUS(sum_up(paged, TD_LIST_OUT, &sum), TD_CORRUPT);
    CHECK_CONTAINS(td_last_message(), "large.tg changed while it was used");
    td_graph_destroy(paged);
    path = large_file();
    CHECK_OK(td_paged_open(&paged, path, NULL, NULL));
    CHECK_EQ(truncate(path, 1 << 20), 0);
    CHECK_STATUS(sum_up(paged, TD_LIST_OUT, &sum), TD_CORRUPT);
    td_graph_destroy(paged);
}

/* Goes over all pages; returns how many were there already. */
static uint64_t pass_over(td_paged *paged, td_page_set *set, bool backwards, double value)
{
    uint32_t order[512];
    td_paged_counts before = td_paged_count(paged);
    CHECK(set->count <= 512);
    for (uint32_t p = 0; p < set->count; p++) order[p] = backwards ? set->count - 1 - p : p;
    CHECK_OK(td_paged_begin(paged, &(td_page_pass){.set = set, .order = order, .count = set->count}));
    for (uint32_t p = 0; p < set->count; p++) {
        CHECK_OK(td_paged_wait(paged, p));
        CHECK_OK(td_paged_leave(paged, p, value));
    }
    td_paged_counts after = td_paged_count(paged);
    CHECK_EQ(after.hits + after.misses - before.hits - before.misses, set->count);
    return after.hits - before.hits;
}

TEST(a_cycle_over_more_pages_than_fit_keeps_some)
{
    const char *path = large_file();
    td_graph *paged = NULL;
    td_page_set *set = NULL;
    CHECK_OK(td_paged_open(&paged, path, NULL, NULL));
    CHECK_OK(td_page_set_create(&set, paged, TD_LIST_OUT, 1 << 14));
    uint64_t all = 0;
    for (uint32_t p = 0; p < set->count; p++) all += td_page_bytes(set, p, 0);
    CHECK_OK(td_paged_set_room(paged->paged, all / 2));
    CHECK(pass_over(paged->paged, set, false, 1) <= 1); /* a short last page may lie in its neighbour's block */
    for (int i = 0; i < 4; i++) {
        uint64_t hits = pass_over(paged->paged, set, i % 2 == 0, 1);
        CHECK(hits >= set->count / 4); /* half of the room is for reading ahead, on so small a scale */
    }
    CHECK(td_paged_count(paged->paged).held <= all / 2);
    td_page_set_destroy(set);
    CHECK_EQ(td_paged_count(paged->paged).held, 0);
    td_graph_destroy(paged);
}

TEST(pages_of_higher_value_stay)
{
    const char *path = large_file();
    td_graph *paged = NULL;
    td_page_set *set = NULL;
    CHECK_OK(td_paged_open(&paged, path, NULL, NULL));
    CHECK_OK(td_page_set_create(&set, paged, TD_LIST_OUT, 1 << 14));
    CHECK_OK(td_paged_set_room(paged->paged, 6 * set->largest));
    uint32_t order[512];
    for (uint32_t p = 0; p < set->count; p++) order[p] = p;
    CHECK_OK(td_paged_begin(paged->paged, &(td_page_pass){.set = set, .order = order, .count = set->count}));
    for (uint32_t p = 0; p < set->count; p++) {
        CHECK_OK(td_paged_wait(paged->paged, p));
        CHECK_OK(td_paged_leave(paged->paged, p, p == 3 || p == 11 ? 100 : 1));
    }
    uint32_t wanted[] = {3, 11};
    uint64_t reads = td_paged_count(paged->paged).reads;
    CHECK_OK(td_paged_begin(paged->paged, &(td_page_pass){.set = set, .order = wanted, .count = 2}));
    for (uint32_t p = 0; p < 2; p++) {
        CHECK_OK(td_paged_wait(paged->paged, p));
        CHECK_OK(td_paged_leave(paged->paged, p, 0)); /* worth nothing: gone at once */
    }
    CHECK_EQ(td_paged_count(paged->paged).reads, reads);
    td_graph_destroy(paged); /* with its set */
}

TEST(of_a_sparse_page_only_blocks_are_read)
{
    const char *path = large_file();
    td_graph *paged = NULL;
    td_page_set *set = NULL;
    uint64_t map[400] = {0};
    uint32_t order[1] = {0}, v = 5;
    CHECK_OK(td_paged_open(&paged, path, NULL, NULL));
    CHECK_OK(td_page_set_create(&set, paged, TD_LIST_OUT, 1 << 20)); /* one page */
    CHECK_EQ(set->count, 1);
    CHECK_OK(td_paged_set_room(paged->paged, 2 * set->largest));
    map[v / 64] |= UINT64_C(1) << (v % 64);
    td_page_pass pass = {.set = set, .needs = TD_WITH_WEIGHTS, .order = order, .count = 1, .only = map, .part = 0.5};
    CHECK_OK(td_paged_begin(paged->paged, &pass));
    CHECK_OK(td_paged_wait(paged->paged, 0));
    td_graph *loaded = NULL;
    CHECK_OK(td_packed_load(&loaded, path, NULL));
    CHECK_EQ(list_total(paged, &paged->out, v), list_total(loaded, &loaded->out, v));
    CHECK_EQ(td_paged_count(paged->paged).parts, 1);
    CHECK(td_paged_count(paged->paged).bytes <= 4 * TD_PACKED_BLOCK);
    CHECK_OK(td_paged_leave(paged->paged, 0, 1));
    td_graph_destroy(loaded);
    td_graph_destroy(paged);
}

TEST(too_little_room_names_the_least)
{
    td_graph *paged = NULL;
    td_page_set *set = NULL;
    CHECK_OK(td_paged_open(&paged, large_file(), NULL, NULL));
    CHECK_OK(td_page_set_create(&set, paged, TD_LIST_OUT, 1 << 14));
    CHECK_STATUS(td_paged_set_room(paged->paged, set->largest), TD_NO_MEMORY);
    CHECK_CONTAINS(td_last_message(), "large.tg");
    td_graph_destroy(paged);
}

TEST(no_allocation_that_fails_leaks)
{
    const char *path = large_file();
    for (uint64_t nth = 1; nth < 60; nth++) {
        td_graph *paged = NULL;
        uint64_t sum, held = td_memory().now;
        td_alloc_fail_at(nth);
        td_status status = td_paged_open(&paged, path, NULL, NULL);
        if (status == TD_OK) status = sum_up(paged, TD_LIST_IN, &sum);
        td_alloc_fail_at(0);
        td_graph_destroy(paged);
        CHECK(status == TD_OK || status == TD_NO_MEMORY);
        CHECK_EQ(td_memory().now, held);
    }
}

TEST_MAIN
