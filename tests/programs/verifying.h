/* What the verifiers' tests share. */
#ifndef TD_TEST_VERIFYING_H
#define TD_TEST_VERIFYING_H

#include "graphs.h"
#include "reference.h"

#include "programs/verify/verify.h"

static inline td_pool *pool_of(int threads)
{
    td_pool *pool = NULL;
    if (threads > 0) CHECK_OK(td_pool_create(&pool, threads));
    return pool;
}

#define CHECK_REFUTED(call, claim)                \
    do {                                          \
        CHECK_STATUS(call, TD_VERIFY);            \
        CHECK_CONTAINS(td_last_message(), claim); \
    } while (0)

/* Fails each allocation in turn until the call gets through. */
#define CHECK_EVERY_ALLOCATION(call)                \
    do {                                            \
        uint64_t held_ = td_memory().now, nth_ = 1; \
        for (;; nth_++) {                           \
            td_alloc_fail_at(nth_);                 \
            td_status outcome_ = (call);            \
            td_alloc_fail_at(0);                    \
            CHECK_EQ(td_memory().now, held_);       \
            if (outcome_ == TD_OK) break;           \
            CHECK_EQ(outcome_, TD_NO_MEMORY);       \
        }                                           \
        CHECK(nth_ > 1);                            \
    } while (0)

/* Vertices to try a change at: all of a small graph, some of a larger one. */
static inline uint32_t stride(const td_graph *graph) { return graph->vertices / (graph->vertices > 3000 ? 3 : 40) + 1; }

static const test_weights some_weights[] = {TEST_UNWEIGHTED, TEST_TIES, TEST_U16, TEST_F32};
enum { SOME_WEIGHTS = sizeof some_weights / sizeof *some_weights };

/* From 0 to 1, at random. */
static inline double unit(uint64_t seed, uint64_t i) { return td_random_unit(td_random_at(seed, i)); }

enum { TINY_DIRECTED = 729 };

/* All directed graphs of three vertices, loops left out, an edge being absent or
 * of weight 0 or 1. */
static inline td_graph *tiny_directed(int number)
{
    uint32_t ends[6][2], weights[6];
    uint64_t count = 0;
    for (uint32_t u = 0; u < 3; u++)
        for (uint32_t v = 0; v < 3; v++) {
            if (u == v) continue;
            if (number % 3 > 0) {
                ends[count][0] = u;
                ends[count][1] = v;
                weights[count++] = (uint32_t)(number % 3 - 1);
            }
            number /= 3;
        }
    return test_graph_of(3, (const uint32_t(*)[2])ends, weights, count, false);
}

/* All undirected graphs of four vertices, an edge being absent or one of `weights` weights. */
static inline td_graph *tiny_undirected(int number, int weights)
{
    uint32_t ends[6][2], drawn[6];
    uint64_t count = 0;
    for (uint32_t u = 0; u < 4; u++)
        for (uint32_t v = u + 1; v < 4; v++) {
            if (number % (weights + 1) > 0) {
                ends[count][0] = u;
                ends[count][1] = v;
                drawn[count++] = (uint32_t)(number % (weights + 1));
            }
            number /= weights + 1;
        }
    return test_graph_of(4, (const uint32_t(*)[2])ends, drawn, count, true);
}

#endif
