/* Adjacency lists whose edges are in host memory and cross the link in subgraphs of 2^shift edges, uncompressed or
 * compressed (link_list.c). */
#ifndef TD_GPU_LINK_LIST_H
#define TD_GPU_LINK_LIST_H

#include "base/declare.h"
#include "device/device.h"
#include "gpu/pinning.h"
#include "kernels/gpu/args.h"
#include "layout/compressed.h"

enum { TD_LINK_LENGTHS = 256 };

typedef struct td_link_list {
    const uint64_t *offsets;      /* arrays in host memory */
    const uint32_t *targets;
    const void *weights;
    uint64_t *own_offsets;        /* copies made for this list; NULL: the graph's arrays are used */
    uint32_t *own_targets;
    void *own_weights;
    uint64_t edges;
    size_t weight_bytes;          /* bytes of a weight in `weights`; 0: none there */
    uint32_t weight_bits;         /* weight bits at the top of a packed edge word; 0: not packed */
    uint32_t useful_bytes;        /* bytes of an edge as stored in the graph */
    td_pinning pins[2];           /* of targets, of weights */
    bool readable;                /* kernels can read the edges */
    td_gpu_list seen;             /* offsets on the device; edges in host memory, as kernels see it */
    td_gpu_list prefix;           /* the resident prefix of all lists; offsets NULL: none */
    uint64_t prefix_edges;
    uint32_t prefix_most;         /* maximum edges of a list in the prefix */
    uint64_t *skip;               /* on the device: prefix sums of the edges that a pass over the rest skips in every
                                   * list; NULL: none */
    uint64_t *own_skip;           /* the same at the host, for extraction */
    uint64_t *light, *own_light;  /* prefix sums of light edges, on the device and at the host; NULL: no distinction */
    uint32_t shift, subgraphs;
    uint32_t *compressed;         /* compressed targets of all subgraphs; NULL: uncompressed */
    uint64_t *compressed_at, compressed_most; /* first word of every subgraph, and the end; words of the longest */
    bool compressed_pinned;
    uint32_t *first_vertex;       /* vertex whose list contains the first edge of every subgraph, and the end */
    uint64_t longest;
    uint64_t lengths[TD_LINK_LENGTHS + 1]; /* number of lists of every length; the last counts all longer ones */
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

/* Among vertices low .. high - 1, finds the one whose list contains the edge: the last whose list starts at or before
 * it. */
static inline uint32_t td_link_vertex(const td_link_list *list, uint64_t edge, uint32_t low, uint32_t high)
{
    while (low + 1 < high) {
        uint32_t middle = low + (high - low) / 2;
        if (list->offsets[middle] <= edge) low = middle;
        else high = middle;
    }
    return low;
}

/* Bytes of a subgraph that crosses whole. */
static inline uint64_t td_link_bytes(const td_link_list *list, uint32_t s)
{
    uint64_t edges = td_link_end(list, s) - td_link_begin(list, s);
    uint64_t targets = list->compressed != NULL ? list->compressed_at[s + 1] - list->compressed_at[s] : edges;
    return targets * sizeof(uint32_t) + edges * list->weight_bytes;
}

/* Lists stay uncompressed if their compressed size would exceed this share. */
#define TD_LINK_WORTH_IT 0.85

/* Estimates the compressed size in words from a sample of the targets; 0: they hardly shrink. */
uint64_t td_link_guess_compressed(const uint32_t *targets, uint64_t edges);

/* Compresses the targets of every subgraph, unless they hardly shrink. If arrays are measured, `guess` is the number of
 * words, because it depends on the data. */
td_status td_link_compress(td_link_list *list, uint64_t guess, td_host_memory *memory, td_device *device, td_pool *pool);
void td_link_free_compressed(td_device *device, td_link_list *list);

#endif
