/* What the tests of the API share: a session and a small graph. They see what users see: only
 * tandem.h, apart from the tests' harness. */
#ifndef TEST_API_MAP_H
#define TEST_API_MAP_H

#include "test.h"

#include "tandem.h"

/* A small road map; 50 and 60 are ends of roads. */
static const uint64_t sources[] = {10, 10, 20, 30, 30, 40}, targets[] = {20, 30, 30, 40, 50, 60};
static const uint32_t lengths[] = {7, 3, 1, 2, 9, 4};
enum { EDGES = 6 };

static const td_edges map_edges = {.size = sizeof map_edges, .count = EDGES, .sources = sources, .targets = targets,
                                   .whole_weights = lengths};

static inline td_session *session_of(int threads)
{
    td_session *session = NULL;
    CHECK_OK(td_session_create(threads, &session));
    return session;
}

static inline td_graph *map_of(td_session *session)
{
    td_graph *graph = NULL;
    td_graph_options options = {.size = sizeof options, .symmetrize = true};
    CHECK_OK(td_graph_from_edges(session, &map_edges, &options, &graph));
    return graph;
}

static inline uint32_t vertex_of(const td_graph *graph, uint64_t id)
{
    uint32_t vertex = 0;
    CHECK_OK(td_graph_find(graph, id, &vertex));
    return vertex;
}

#endif
