/* A search from many sources at once on the CPU: the arrays that its kernels (kernels/cpu/bits.h) use. All have a word
 * per vertex, of as many bits as the search has room for sources. */
#ifndef TD_KERNELS_CPU_BITS_JOB_H
#define TD_KERNELS_CPU_BITS_JOB_H

#include <stdatomic.h>
#include <stdint.h>

typedef struct td_cpu_bits {
    void *seen;              /* the sources that reach the vertex */
    void *frontier, *next;   /* those that reached it in the last iteration, and in this one */
    void *const *planes;     /* of levels (run/group.h) */
    uint32_t level;          /* of the vertices that this iteration finds */
    uint64_t all, live;      /* all sources; those that have reached a vertex in the last iteration */
    _Atomic uint64_t found;  /* those that reach one in this iteration */
    _Atomic uint64_t complete_edges; /* in-edges of vertices that this iteration completes: all sources reach them */
} td_cpu_bits;

#endif
