/* What the tests of the readers have in common: reading with so many threads,
 * looking at the edges, damaging files in every way. */
#ifndef TD_TEST_READING_H
#define TD_TEST_READING_H

#include "base/log.h"
#include "store/builder.h"
#include "store/formats/format.h"
#include "test.h"

/* Reads with `threads` into a new list. On failure there is none. */
static inline td_status read_list(const td_format *format, const char *path, int threads, td_edge_list **out)
{
    td_status status = TD_OK;
    td_edge_list *list = NULL;
    td_pool *pool = NULL;
    TD_TRY(td_pool_create(&pool, threads));
    TD_TRY(td_edges_create(&list, path));
    TD_TRY(format->read(path, list, pool));
    *out = list;
    list = NULL;
done:
    td_edges_destroy(list);
    td_pool_destroy(pool);
    return status;
}

static inline td_status read_and_forget(const td_format *format, const char *path, int threads)
{
    td_edge_list *list = NULL;
    td_status status = read_list(format, path, threads, &list);
    td_edges_destroy(list);
    return status;
}

static inline td_status read_graph(const td_format *format, const char *path, int threads,
                                   const td_build_options *options, td_graph **out)
{
    td_status status = TD_OK;
    td_edge_list *list = NULL;
    td_pool *pool = NULL;
    TD_TRY(td_pool_create(&pool, threads));
    TD_TRY(read_list(format, path, threads, &list));
    TD_TRY(td_graph_build(out, list, options, pool));
done:
    td_edges_destroy(list);
    td_pool_destroy(pool);
    return status;
}

static inline uint64_t graph_digest(const td_graph *graph)
{
    uint64_t digest = 0;
    CHECK_OK(td_graph_digest(graph, NULL, &digest));
    return digest;
}

static inline uint64_t read_digest(const td_format *format, const char *path, int threads)
{
    const td_build_options plain = {0};
    td_graph *graph = NULL;
    CHECK_OK(read_graph(format, path, threads, &plain, &graph));
    uint64_t digest = graph_digest(graph);
    td_graph_destroy(graph);
    return digest;
}

/* Reads with 1, 2 and 8 threads and wants the same graph each time. */
static inline void check_threads_agree(const td_format *format, const char *path)
{
    uint64_t one = read_digest(format, path, 1);
    CHECK(read_digest(format, path, 2) == one);
    CHECK(read_digest(format, path, 8) == one);
}

typedef struct one_edge {
    uint64_t source, target;
    double weight;
} one_edge;

/* The list's edges in the order of its chunks; *count of them, freed by td_free. */
static inline one_edge *list_edges(const td_edge_list *list, uint64_t *count)
{
    one_edge *edges = NULL;
    uint64_t at = 0;
    *count = td_edges_count(list);
    CHECK_OK(TD_NEW(&edges, *count, "edges of a test"));
    for (uint64_t c = 0; c < list->chunk_count; c++) {
        const td_edge_chunk *chunk = list->chunks[c];
        for (uint64_t i = 0; chunk != NULL && i < chunk->count; i++) {
            one_edge *e = &edges[at++];
            float real = 0;
            e->source = chunk->wide != NULL ? chunk->wide[2 * i] : chunk->ends[2 * i];
            e->target = chunk->wide != NULL ? chunk->wide[2 * i + 1] : chunk->ends[2 * i + 1];
            if (chunk->weights != NULL) memcpy(&real, &chunk->weights[i], sizeof real);
            e->weight = chunk->weights == NULL ? 0 : chunk->real ? (double)real : chunk->weights[i];
        }
    }
    return edges;
}

/* "0>1 0>2:5 ..." for small graphs; weights when there are any. */
static inline const char *list_text(const td_edge_list *list)
{
    static char text[8192];
    uint64_t count, used = 0;
    one_edge *edges = list_edges(list, &count);
    text[0] = '\0';
    for (uint64_t i = 0; i < count && used < sizeof text - 100; i++) {
        used += (uint64_t)sprintf(text + used, "%s%" PRIu64 ">%" PRIu64, i > 0 ? " " : "", edges[i].source,
                                  edges[i].target);
        if (list->weighted) used += (uint64_t)sprintf(text + used, ":%g", edges[i].weight);
    }
    td_free(edges);
    return text;
}

static inline void check_reads_as(const td_format *format, const char *path, const char *wanted)
{
    for (int threads = 1; threads <= 4; threads *= 4) {
        td_edge_list *list = NULL;
        CHECK_OK(read_list(format, path, threads, &list));
        CHECK_STR(list_text(list), wanted);
        td_edges_destroy(list);
    }
}

/* The reading fails so, with these words, leaving nothing behind. */
static inline void check_refused(const td_format *format, const char *path, td_status wanted, const char *words)
{
    for (int threads = 1; threads <= 4; threads *= 4) {
        CHECK_STATUS(read_and_forget(format, path, threads), wanted);
        CHECK_CONTAINS(td_last_message(), words);
    }
}

/* Fails the 1st, 2nd, 3rd ... allocation until the reading succeeds. */
static inline void check_allocations(const td_format *format, const char *path)
{
    for (uint64_t nth = 1;; nth++) {
        uint64_t held = td_memory().now;
        td_edge_list *list = NULL;
        td_status status = td_edges_create(&list, path);
        CHECK_OK(status);
        td_alloc_fail_at(nth);
        status = format->read(path, list, NULL);
        td_alloc_fail_at(0);
        td_edges_destroy(list);
        if (td_memory().now != held) TEST_FAIL("allocation %" PRIu64 " failed and leaked", nth);
        if (status == TD_OK) {
            CHECK(nth > 1);
            return;
        }
        CHECK_EQ(status, TD_NO_MEMORY);
    }
}

static inline size_t read_file(const char *path, char *into, size_t room)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) TEST_FAIL("cannot open %s", path);
    size_t bytes = fread(into, 1, room, file);
    fclose(file);
    return bytes;
}

/* A new file each time: file systems sync one that is cut and written anew. */
static inline void rewrite_file(const char *path, const void *data, size_t bytes)
{
    remove(path);
    test_write_file(path, data, bytes);
}

/* Cut after every byte, the file is refused; `tolerated` bytes may be missing at the end. */
static inline void check_truncations(const td_format *format, const char *path, size_t tolerated)
{
    static char whole[1 << 16];
    size_t bytes = read_file(path, whole, sizeof whole);
    for (size_t kept = 0; kept + tolerated < bytes; kept++) {
        rewrite_file(path, whole, kept);
        td_status status = read_and_forget(format, path, 1);
        if (status == TD_OK) TEST_FAIL("%s, cut to %zu of %zu bytes, was accepted", path, kept, bytes);
    }
    test_write_file(path, whole, bytes);
}

/* Every single bit flipped: refused, or read and built into a graph that holds. */
static inline void check_bit_flips(const td_format *format, const char *path, const char *main_path)
{
    static char whole[1 << 16];
    const td_build_options plain = {0};
    size_t bytes = read_file(path, whole, sizeof whole);
    for (size_t bit = 0; bit < 8 * bytes; bit++) {
        td_graph *graph = NULL;
        whole[bit / 8] ^= (char)(1 << bit % 8);
        rewrite_file(path, whole, bytes);
        td_log_set_level(TD_LOG_QUIET);
        td_status status = read_graph(format, main_path, 1, &plain, &graph);
        td_log_set_level(TD_LOG_INFO);
        if (status == TD_OK) CHECK_OK(td_graph_check(graph, NULL));
        td_graph_destroy(graph);
        whole[bit / 8] ^= (char)(1 << bit % 8);
    }
    test_write_file(path, whole, bytes);
}

#endif
