/* The frontier: the active vertices, as the schedules of both sides see them (cpu/rounds.c, gpu/rounds.c), and what a
 * direction is chosen by. The arrays behind it are each side's own, because kernels read them: bitmaps have words of 64
 * bits on the CPU and of 32, one per warp, on a GPU. */
#ifndef TD_KERNELS_FRONTIER_H
#define TD_KERNELS_FRONTIER_H

#include "kernels/program.h"

/* A bitmap, a queue, or both. */
typedef struct td_frontier {
    uint64_t vertices, edges; /* edges: those of the vertices in the direction values flow */
    bool listed; /* it is the job's queue: `queue` on the CPU; queue[0] on a GPU, whose length is in the counters */
    bool mapped; /* it is the job's bitmap `active` */
} td_frontier;

/* Vertices that were never active so far, and the edges that a first-hit pull may scan for them. */
typedef struct td_unsettled {
    uint64_t vertices, edges;
} td_unsettled;

TD_INLINE void td_unsettled_subtract(td_unsettled *unsettled, uint64_t vertices, uint64_t edges)
{
    unsettled->edges -= edges < unsettled->edges ? edges : unsettled->edges;
    unsettled->vertices -= vertices < unsettled->vertices ? vertices : unsettled->vertices;
}

enum { TD_HIT_ALPHA = 15 }; /* Beamer: pull above 1/15 of the unvisited vertices' edges */

/* Edges of a frontier from which a first-hit pull visits fewer edges than a push: a pull reads every word of the bitmap,
 * at least one edge of every unvisited vertex, and on skewed graphs about 1/15 of their edges. */
TD_INLINE uint64_t td_hit_bound(const td_unsettled *unsettled, uint64_t words)
{
    uint64_t bound = unsettled->edges / TD_HIT_ALPHA;
    if (bound < 2 * unsettled->vertices) bound = 2 * unsettled->vertices;
    return bound < words / 2 ? words / 2 : bound;
}

#endif
