/* Batches against runs of their own, for tests of several devices. */
#ifndef TD_TEST_BATCHES_H
#define TD_TEST_BATCHES_H

#include "api/map.h"

#include "engine/engine.h"
#include "programs/graphs.h"

enum { MOST = 130 };

/* Sources of a graph: spread over it, with some that repeat. */
static inline uint64_t choose_sources(const td_graph *graph, uint64_t count, uint64_t *ids)
{
    for (uint64_t i = 0; i < count; i++)
        ids[i] = td_graph_id(graph, (uint32_t)(td_random_at(7, i / 3 * 2) % graph->vertices));
    return count;
}

typedef struct batch_way {
    const char *program, *engine, *devices;
    const char *settings[5]; /* ends with NULL */
} batch_way;

static inline td_request request_of(const batch_way *of)
{
    return (td_request){.size = sizeof(td_request), .engine = of->engine, .devices = of->devices,
                        .settings = of->settings};
}

static inline td_plan *plan_of(td_session *session, const td_graph *graph, const batch_way *of, const uint64_t *ids,
                               uint64_t count)
{
    td_plan *plan = NULL;
    td_request request = request_of(of);
    request.sources = ids;
    request.source_count = count;
    CHECK_OK(td_session_plan(session, graph, of->program, &request, &plan));
    return plan;
}

/* The same way without a setting of batches, which a run of its own does not take. */
static inline batch_way without_batch(batch_way of)
{
    int kept = 0;
    for (int i = 0; i < 5; i++)
        if (of.settings[i] != NULL && strstr(of.settings[i], ".batch=") == NULL) of.settings[kept++] = of.settings[i];
    while (kept < 5) of.settings[kept++] = NULL;
    return of;
}

/* Compares all results of a batch with runs of their own: by the cpu engine, or in the same way if `alone` is given,
 * which then has the edges that they processed. *facts: the batch's. */
static inline void check_batch_from(td_session *session, const td_graph *graph, const batch_way *of, const uint64_t *ids,
                                    uint64_t count, td_batch_facts *facts, uint64_t *alone)
{
    uint64_t processed = 0;
    td_batch *batch = NULL;
    batch_way own_way = alone != NULL ? without_batch(*of) : (batch_way){.program = of->program, .engine = "cpu"};
    td_plan *plan = plan_of(session, graph, of, ids, count);
    CHECK_OK(td_batch_create(session, plan, &batch));
    for (uint64_t i = 0; i < count; i++) {
        td_result *result = NULL, *own = NULL;
        td_summary sum = {.size = sizeof sum}, own_sum = {.size = sizeof own_sum};
        td_request request = request_of(&own_way);
        request.has_source = true;
        request.source = ids[i];
        CHECK_OK(td_batch_next(session, batch, &result));
        CHECK(result != NULL);
        CHECK_OK(td_session_run(session, graph, of->program, &request, &own));
        CHECK_EQ(td_result_kind(result), td_result_kind(own));
        size_t bytes = td_result_kind(own) == TD_VALUE_U64 ? 8 : 4;
        if (memcmp(result->values, own->values, graph->vertices * bytes) != 0)
            TEST_FAIL("%s %s %s: source %" PRIu64 " of %" PRIu64 " on %s has other values", of->program, of->engine,
                      of->settings[0] != NULL ? of->settings[0] : "", i, count, graph->name);
        CHECK_OK(td_result_summarise(session, result, &sum));
        CHECK_OK(td_result_summarise(session, own, &own_sum));
        CHECK(sum.digest == own_sum.digest);
        CHECK_EQ(sum.reached, own_sum.reached);
        if (i % 13 == 0) CHECK_OK(td_result_verify(session, result));
        processed += td_result_edges_processed(own);
        td_result_destroy(own);
        td_result_destroy(result); /* the batch's */
    }
    td_result *after = (td_result *)&batch;
    CHECK_OK(td_batch_next(session, batch, &after));
    CHECK(after == NULL);
    facts->size = sizeof *facts;
    CHECK_OK(td_batch_describe(batch, facts));
    CHECK_EQ(facts->sources, count);
    CHECK_EQ(facts->done, count);
    if (alone != NULL) *alone = processed;
    td_batch_destroy(batch);
    td_plan_destroy(plan);
}

static inline void check_batch(td_session *session, const td_graph *graph, const batch_way *of, uint64_t count,
                               td_batch_facts *facts, uint64_t *alone)
{
    uint64_t ids[MOST];
    check_batch_from(session, graph, of, ids, choose_sources(graph, count, ids), facts, alone);
}

/* Counts of sources that take words of every width, and a last group with one source or narrower words. */
static const uint64_t counts[] = {1, 2, 8, 11, 30, 64, 65, 79, 130};
enum { COUNTS = sizeof counts / sizeof *counts };

#endif
