/* A graph divided in two by an order of its vertices (CGgraph, section 4.3): the hot part has the edges between the
 * first vertices of the order, as many as fit the room, and the rest has all other edges. Both use the new vertex
 * numbers, so that vertices below `inside` are hot; together they are one copy of the lists. */
#ifndef TD_LAYOUT_SPLIT_H
#define TD_LAYOUT_SPLIT_H

#include "base/declare.h"
#include "layout/reorder.h"

typedef enum td_split_extract {
    TD_EXTRACT_VERTEXEDGE, /* edges with both ends among the first vertices */
    TD_EXTRACT_VERTEX,     /* all edges of the first vertices */
    TD_EXTRACT_RANDOM,     /* edges with both ends among vertices drawn at random */
} td_split_extract;

typedef struct td_split_lists {
    td_adjacency hot, rest;
} td_split_lists;

typedef struct td_split_request {
    td_order order;
    td_split_extract extract;
    bool weighted;
    bool both;            /* the undirected view of a directed graph, as one list */
    bool pushes, pulls;   /* which lists are split */
    uint64_t room;        /* bytes for the hot edges of one list */
    bool keeps_within;    /* td_split.within is kept */
} td_split_request;

typedef struct td_split {
    uint32_t vertices, inside;
    uint64_t edges, hot_edges;    /* of one adjacency */
    size_t weight_bytes;          /* per edge, 0 without weights */
    uint32_t *order, *place;      /* the vertex of a new number, and the new number of a vertex; NULL: not renumbered */
    uint64_t *out;                /* offsets of the out-lists by the new numbers, for degrees */
    uint64_t *within;             /* edges within every prefix of the order; NULL unless they are kept */
    td_split_lists push, pull;    /* `pull` shares the arrays of `push` if the two are the same */
    bool same;
} td_split;

/* Arrays are declared (base/declare.h); where they are measured the graph's lists are not looked at, and the hot part
 * counts as having all edges: where they are does not change how many there are. */
td_status td_split_make(td_split *out, const td_graph *graph, const td_split_request *request, td_host_memory *memory,
                        td_pool *pool);
void td_split_free(td_split *split);

/* The longest prefix of the order whose edges are at most so many; 0: it would have none. */
uint32_t td_split_prefix(const uint64_t *within, uint32_t vertices, uint64_t most);

/* Fills `out`. */
td_status td_split_find_degrees(td_split *split, const td_graph *graph, td_host_memory *memory, td_pool *pool);

static inline uint32_t td_split_number(const td_split *split, uint32_t vertex)
{
    return split->place != NULL ? split->place[vertex] : vertex;
}

static inline uint32_t td_split_vertex(const td_split *split, uint32_t number)
{
    return split->order != NULL ? split->order[number] : number;
}

#endif
