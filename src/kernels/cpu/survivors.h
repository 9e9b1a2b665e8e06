/* Survivors on the CPU: edges that later sweeps of a light-first program must visit (Filter-Kruskal: Osipov, Sanders,
 * Singler, ALENEX'09). They lie in blocks; a worker fills blocks of its own, and a sweep drops edges within theirs. */
#ifndef TD_KERNELS_CPU_SURVIVORS_H
#define TD_KERNELS_CPU_SURVIVORS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* u and v: vertices with the labels of the edge's ends; key: the weight's ordered bits above the edge number, which has
 * context.edge_bits bits. */
typedef struct td_survivor {
    uint32_t u, v;
    uint64_t key;
} td_survivor;

enum { TD_SURVIVOR_BLOCK = 256 }; /* survivors of a block */

typedef struct td_survivors {
    td_survivor *edges;
    uint32_t *counts;      /* survivors in every block */
    uint64_t *keys;        /* sampled keys, which divide the edges into classes */
    uint64_t blocks;       /* room; 0: every sweep visits the lists */
    _Atomic uint64_t used; /* blocks that were taken; more than `blocks`: some survivors were dropped */
    uint64_t high;         /* keys below it are collected */
} td_survivors;

static inline bool td_survivors_full(const td_survivors *self)
{
    return atomic_load_explicit(&self->used, memory_order_relaxed) > self->blocks;
}

/* The block that a worker fills. */
typedef struct td_survivor_box {
    td_survivors *into;
    td_survivor *at, *end; /* equal: there is no place left, or no block yet */
    uint64_t block;
} td_survivor_box;

static inline void td_survivor_box_close(td_survivor_box *box)
{
    if (box->end != NULL) box->into->counts[box->block] = TD_SURVIVOR_BLOCK - (uint32_t)(box->end - box->at);
}

static inline bool td_survivor_box_next(td_survivor_box *box)
{
    td_survivors *into = box->into;
    td_survivor_box_close(box);
    box->at = box->end = NULL;
    if (td_survivors_full(into)) return false;
    box->block = atomic_fetch_add_explicit(&into->used, 1, memory_order_relaxed);
    if (box->block >= into->blocks) return false;
    box->at = into->edges + box->block * TD_SURVIVOR_BLOCK;
    box->end = box->at + TD_SURVIVOR_BLOCK;
    return true;
}

static inline void td_survivor_put(td_survivor_box *box, uint32_t u, uint32_t v, uint64_t key)
{
    if (box->at == box->end && !td_survivor_box_next(box)) return;
    *box->at++ = (td_survivor){u, v, key};
}

#endif
