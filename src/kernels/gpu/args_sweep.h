/* The arguments of kernels of sweeps: components and forests. Part of kernels/gpu/args.h, which includes it. */
#ifndef TD_KERNELS_GPU_ARGS_SWEEP_H
#define TD_KERNELS_GPU_ARGS_SWEEP_H

#include "kernels/gpu/args.h"

/* Sweeps over edges. */
typedef struct td_sweep_args {
    td_gpu_state state;
    td_gpu_list list;
    td_gpu_part part;
    uint64_t *pieces;             /* pieces of high-degree vertices */
    td_gpu_edge *survivors;       /* buffer for the edges that later sweeps must visit */
    uint64_t survivor_room;
    uint32_t high_degree;
    uint32_t sampled;             /* leading edges of every list that samples have visited */
    uint32_t left_out;            /* label of the component that is skipped */
    uint8_t skipping;             /* a component is skipped */
    uint8_t collects_vertices;    /* next_active collects the vertices that have edges for the next sweep */
    uint8_t collects_edges;       /* edges for the next sweep are kept while there is room */
} td_sweep_args;

/* Sweeps along extracted lists. */
typedef struct td_sweep_extracted_args {
    td_sweep_args sweep;
    const td_gpu_extract *extracts; /* [count + 1]; the additional one has the end of the last */
    uint32_t count;
} td_sweep_extracted_args;

/* Forests: the subgraphs that contain edges of a vertex (own) and of a component (of its root). */
typedef struct td_gpu_spans {
    uint32_t *own_first, *own_last, *first, *last;
} td_gpu_spans;

/* Components all of whose edges are in one subgraph, hooked within a round (hook_within). */
typedef struct td_hook_args {
    td_gpu_state state;
    td_gpu_spans spans;
    uint64_t *edges;              /* of the forest */
    uint32_t *count;
    uint32_t subgraph, step;
    uint32_t first_vertex, end_vertex;
} td_hook_args;

/* A sample of edges: edge number `step` of every list of the share. */
typedef struct td_sample_args {
    td_gpu_state state;
    td_gpu_list list;
    uint32_t step, share;
    uint32_t first_vertex, end_vertex;
    uint8_t from_host;
} td_sample_args;

/* The vertices that a sweep visits. */
typedef struct td_choose_args {
    td_gpu_state state;
    uint32_t *chosen;             /* bitmap */
    uint32_t left_out;
    uint8_t skipping;
} td_choose_args;

/* Work on every vertex between sweeps. */
typedef struct td_between_args {
    td_gpu_state state;
    uint32_t step;                /* of program_between */
    uint32_t first_vertex, end_vertex;
} td_between_args;

/* Labels of all vertices, or of TD_GPU_DRAWN vertices, which the labels replace. */
typedef struct td_labels_args {
    td_gpu_state state;
    uint32_t *labels;
} td_labels_args;

/* The edges that a round adds to the forest. */
typedef struct td_collect_args {
    td_gpu_state state;
    uint64_t *edges;              /* 0: another GPU collects the same edges */
    uint32_t *count;              /* edges so far */
    uint32_t first_vertex, end_vertex;
} td_collect_args;

/* An edge of a forest: its ends, the bits of its weight, as in its list, and its number in the list of its source. */
typedef struct td_gpu_listed_edge {
    uint32_t source, target, weight, place;
} td_gpu_listed_edge;

/* The forest's edges in ascending order, window by window of the edge numbers. */
typedef struct td_forest_args {
    td_gpu_state state;
    td_gpu_list list;             /* whole out-lists */
    const uint64_t *edges;        /* in any order */
    td_gpu_listed_edge *listed;
    uint32_t *marks;              /* a bit for every edge of the window; clear before mark_forest */
    uint32_t *before;             /* for every TD_GPU_MARKS words of them: edges listed before */
    uint64_t first_edge, end_edge; /* the window */
    uint32_t count;               /* of the edges */
} td_forest_args;

/* Sweeps over edges kept on the device. */
typedef struct td_survivor_args {
    td_gpu_state state;
    td_gpu_edge *survivors, *scratch; /* aside: edges of the stretch that later sweeps must visit */
    uint64_t room, first, end;    /* first .. end - 1: the stretch that the launch processes */
    uint32_t *part_covered;       /* for every subgraph: whether all edges that later sweeps must visit are kept */
    uint32_t part;                /* the first subgraph of the launch whose edges were kept */
} td_survivor_args;

#endif
