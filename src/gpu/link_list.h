/* Adjacency lists whose edges stay at the host and cross the link in subgraphs of 2^shift edges, as they are or
 * compressed (link_list.c). */
#ifndef TD_GPU_LINK_LIST_H
#define TD_GPU_LINK_LIST_H

#include "base/declare.h"
#include "device/device.h"
#include "kernels/gpu/args.h"
#include "layout/narrow.h"

enum { TD_LINK_LENGTHS = 256 };

typedef struct td_link_list {
    const uint64_t *offsets;      /* at the host */
    const uint32_t *targets;
    const void *weights;
    uint64_t *own_offsets;        /* what was made for it; NULL: the graph's own */
    uint32_t *own_targets;
    void *own_weights;
    uint64_t edges;
    size_t weight_bytes;          /* apart from the targets */
    uint32_t weight_bits;         /* at the top of the targets' words; 0: there is none in them */
    uint32_t useful_bytes;        /* of an edge as the graph has it */
    bool pinned[2];               /* targets, weights */
    bool readable;                /* by kernels */
    td_gpu_list seen;             /* offsets on the device; edges at the host, as kernels see them */
    td_gpu_list prefix;           /* on the device: the beginnings of all lists; offsets 0: none */
    uint64_t prefix_edges;
    uint32_t prefix_most;         /* of a list */
    uint64_t *skip;               /* on the device: how much of the lists' beginnings the rest leaves out; 0: nothing */
    uint64_t *own_skip;           /* the same at the host, for extraction */
    uint64_t *light, *own_light;  /* how many edges of a list are light, on the device and at the host; NULL: no
                                   * difference is made */
    uint32_t shift, subgraphs;
    uint32_t *narrow;             /* targets of every subgraph in fewer bits (stream_narrow.c); NULL: as they are */
    uint64_t *narrow_at, narrow_most; /* where each begins, and one more; the longest; in words */
    bool narrow_pinned;
    uint32_t *first_vertex;       /* of every subgraph, and one more: whose list its first edge is in */
    uint64_t longest;
    uint64_t lengths[TD_LINK_LENGTHS + 1]; /* how many lists are so long, the last: or longer */
} td_link_list;

static inline uint64_t td_link_edge_bytes(const td_link_list *list) { return sizeof(uint32_t) + list->weight_bytes; }
static inline uint64_t td_link_begin(const td_link_list *list, uint32_t subgraph)
{
    return (uint64_t)subgraph << list->shift;
}

static inline uint64_t td_link_end(const td_link_list *list, uint32_t subgraph)
{
    uint64_t end = (uint64_t)(subgraph + 1) << list->shift;
    return end < list->edges ? end : list->edges;
}

/* Of vertices low .. high - 1 the one whose list holds the edge: the last that begins at or before it. */
static inline uint32_t td_link_vertex(const td_link_list *list, uint64_t edge, uint32_t low, uint32_t high)
{
    while (low + 1 < high) {
        uint32_t middle = low + (high - low) / 2;
        if (list->offsets[middle] <= edge) low = middle;
        else high = middle;
    }
    return low;
}

/* Bytes that a subgraph takes over the link as a whole. */
static inline uint64_t td_link_bytes(const td_link_list *list, uint32_t s)
{
    uint64_t edges = td_link_end(list, s) - td_link_begin(list, s);
    uint64_t targets = list->narrow != NULL ? list->narrow_at[s + 1] - list->narrow_at[s] : edges;
    return targets * sizeof(uint32_t) + edges * list->weight_bytes;
}

/* Of the lists' bytes: lists that would take more in fewer bits stay as they are. */
#define TD_LINK_WORTH_IT 0.85

/* About the words that the targets take in fewer bits, from a sample of them; 0: they hardly shrink. */
uint64_t td_link_guess_narrow(const uint32_t *targets, uint64_t edges);

/* Compresses the targets of every subgraph; lists that hardly shrink stay as they are. Where arrays are measured, `guess`
 * is the number of words: the data decide it. */
td_status td_link_narrow(td_link_list *list, uint64_t guess, td_host_memory *memory, td_device *device, td_pool *pool);
void td_link_free_narrow(td_device *device, td_link_list *list);

#endif
