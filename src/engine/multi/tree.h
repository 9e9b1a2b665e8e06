/* The reduction tree of ownership stealing (GUM, section IV): which GPUs remain in a group of m, for every m, and which of
 * them owns each fragment.
 *
 * The tree is greedy, as in the paper: of a group, the GPU whose removal keeps the most bandwidth among the others is
 * evicted next. Groups are nested, so that a smaller group only moves fragments of the evicted GPU. */
#ifndef TD_MULTI_TREE_H
#define TD_MULTI_TREE_H

#include "engine/multi/allocation.h"

typedef struct td_reduction_tree {
    int n;    /* fragments, and GPUs with those that are lost */
    int most; /* the largest group: the GPUs that are not lost */
    bool stays[TD_MULTI_GPUS + 1][TD_MULTI_GPUS]; /* [m][j]: GPU j belongs to the group of m */
    int owner[TD_MULTI_GPUS + 1][TD_MULTI_GPUS];  /* [m][i]: the GPU that owns fragment i in a group of m */
    int evicted[TD_MULTI_GPUS + 1];               /* [m]: the GPU that leaves when a group of m + 1 becomes one of m */
    double bandwidth[TD_MULTI_GPUS + 1];          /* [m]: bytes per second between all pairs of the group */
} td_reduction_tree;

/* bandwidth[i * n + j]: bytes per second from GPU i to GPU j; on the diagonal a GPU's own memory, or 0 if unknown. Rates
 * are measured, so those within 5% of each other count as equal. Of GPUs whose removal costs the same, the one with the
 * slowest memory is evicted, then the one with the highest number, so that GPU 0 coordinates as long as it can.
 *
 * A fragment stays with its GPU while that remains. Then it goes to the GPU of the group with the fastest link to the
 * fragment's own GPU, which stays as its memory; of equals, to the one that owns fewest fragments. `lost` (or NULL)
 * names GPUs that failed: they belong to no group. Fails with TD_INVALID for another n than 1 to TD_MULTI_GPUS, a
 * bandwidth that is negative or not finite, and where every GPU is lost. */
td_status td_reduction_tree_make(int n, const double *bandwidth, const bool *lost, td_reduction_tree *out);

#endif
