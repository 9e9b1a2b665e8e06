/* For the tests of readers: a text becomes a graph, and a graph a line of text
 * that says all there is to know about it. */
#ifndef TD_TEST_TEXT_READING_H
#define TD_TEST_TEXT_READING_H

#include "compress.h"
#include "test.h"

#include "store/builder.h"
#include "store/formats/format.h"

static inline td_status test_read(td_graph **out, const char *path, const char *format, int threads)
{
    td_status status = TD_OK;
    td_pool *pool = NULL;
    td_graph *graph = NULL;
    td_build_options options = {0};
    TD_TRY(td_pool_create(&pool, threads));
    TD_TRY(td_graph_read(&graph, path, format, &options, pool));
    TD_TRY(td_graph_check(graph, pool));
    *out = graph;
    graph = NULL;
done:
    td_graph_destroy(graph);
    td_pool_destroy(pool);
    return status;
}

/* "3 vertices: 1>2 1>3:7 ..." with original ids, and weights where there are some. */
static inline const char *test_describe(const td_graph *graph)
{
    static char text[8192];
    size_t used = (size_t)snprintf(text, sizeof text, "%u:", graph->vertices);
    for (uint32_t v = 0; v < graph->vertices; v++)
        for (uint64_t e = graph->out.offsets[v]; e < graph->out.offsets[v + 1] && used < sizeof text - 64; e++) {
            used += (size_t)snprintf(text + used, sizeof text - used, " %" PRIu64 ">%" PRIu64, td_graph_id(graph, v),
                                     td_graph_id(graph, graph->out.targets[e]));
            if (graph->weights != TD_WEIGHT_NONE)
                used += (size_t)snprintf(text + used, sizeof text - used, ":%g", td_weight_at(graph, &graph->out, e));
        }
    return text;
}

static inline uint64_t test_digest(const td_graph *graph)
{
    uint64_t digest = 0;
    CHECK_OK(td_graph_digest(graph, NULL, &digest));
    return digest;
}

/* Writes `text` under `name` and expects the graph described. */
static inline void test_expect_graph(const char *name, const char *text, const char *description)
{
    td_graph *graph = NULL;
    test_write_file(test_path(name), text, strlen(text));
    CHECK_OK(test_read(&graph, test_path(name), NULL, 2));
    CHECK_STR(test_describe(graph), description);
    td_graph_destroy(graph);
}

/* Writes `text` under `name` and expects a failure that names the file and says `part`. */
static inline void test_expect_failure(const char *name, const char *text, td_status wanted, const char *part)
{
    td_graph *graph = NULL;
    const char *path = test_path(name);
    test_write_file(path, text, strlen(text));
    CHECK_STATUS(test_read(&graph, path, NULL, 2), wanted);
    CHECK_CONTAINS(td_last_message(), path);
    CHECK_CONTAINS(td_last_message(), part);
    CHECK(graph == NULL);
}

/* The same graph for every number of threads and every compression. */
static inline void test_expect_same_everywhere(const char *name, const char *text, size_t bytes)
{
    uint64_t first = 0;
    bool known = false;
    char packed[128];
    for (int codec = -1; codec < TEST_CODECS; codec++) {
        snprintf(packed, sizeof packed, "%s%s", name, codec < 0 ? "" : test_codecs[codec].suffix);
        if (codec < 0)
            test_write_file(test_path(packed), text, bytes);
        else if (!test_write_compressed(test_path(packed), text, bytes, 3, test_codecs[codec].compress))
            continue;
        static const int threads[] = {1, 2, 8};
        for (int i = 0; i < 3; i++) {
            td_graph *graph = NULL;
            CHECK_OK(test_read(&graph, test_path(packed), NULL, threads[i]));
            if (!known) first = test_digest(graph);
            known = true;
            CHECK(test_digest(graph) == first);
            td_graph_destroy(graph);
        }
    }
}

/* Every allocation of reading and building fails once: an error each time, and no leak. */
static inline void test_expect_survival(const char *name, const char *text)
{
    test_write_file(test_path(name), text, strlen(text));
    uint64_t held = td_memory().now, nth = 0;
    td_graph *graph = NULL;
    td_status status;
    do {
        td_alloc_fail_at(++nth);
        status = test_read(&graph, test_path(name), NULL, 2);
        td_alloc_fail_at(0);
        if (status == TD_OK) td_graph_destroy(graph);
        CHECK_EQ(td_memory().now, held);
        CHECK(status == TD_OK || status == TD_NO_MEMORY);
        if (status != TD_OK) CHECK_CONTAINS(td_last_message(), "memory");
    } while (status != TD_OK && nth < 1000);
    CHECK_OK(status);
    CHECK(nth > 10);
}

#endif
