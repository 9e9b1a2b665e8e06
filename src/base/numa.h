/* NUMA nodes. On a machine with more than one, the workers of pools are distributed over the nodes and each is bound to
 * one, and memory that all workers use is interleaved. With one node, or if the system does not report nodes, nothing
 * is done. TANDEM_NUMA in the environment is 'off', which means one node, or a folder like /sys/devices/system/node, which
 * is read instead of the system's. Every pool reads this when it starts, so it uses the
 * kernel's lists, which takes microseconds, and not hwloc, which takes milliseconds (processors.h). */
#ifndef TD_BASE_NUMA_H
#define TD_BASE_NUMA_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TD_NUMA_NODES = 64 };

typedef struct td_numa {
    int nodes;                         /* nodes with processors that this process may use; 1: not a NUMA machine */
    int processors;                    /* usable processors of all nodes */
    cpu_set_t usable[TD_NUMA_NODES];   /* usable processors of each node */
    int number[TD_NUMA_NODES];         /* the system's number of each node */
    uint64_t memories;                 /* a bit per node of the system that has memory */
} td_numa;

/* From a folder like /sys/devices/system/node; processors are those in `allowed`. */
void td_numa_read(td_numa *out, const char *folder, const cpu_set_t *allowed);

/* This machine's, read once. */
const td_numa *td_numa_here(void);

/* The node of a worker: each node gets workers in proportion to its processors. */
int td_numa_node(const td_numa *numa, int worker, int workers);

/* Binds the calling thread, a pool's worker, to its node; ignores a refusal of the system. */
void td_numa_bind(const td_numa *numa, int worker, int workers);

/* Binds the calling thread as td_numa_bind does, for a while: *before is for td_numa_leave. */
void td_numa_visit(const td_numa *numa, int worker, int workers, cpu_set_t *before);
void td_numa_leave(const td_numa *numa, const cpu_set_t *before);

/* Whether a node has memory of its own. */
bool td_numa_has_memory(const td_numa *numa, int node);

/* Interleaves the pages of untouched memory over all nodes. Advice only. */
void td_numa_spread(const td_numa *numa, void *memory, size_t bytes);

/* The same for memory that has contents: its pages move. */
void td_numa_spread_again(const td_numa *numa, void *memory, size_t bytes);

/* Puts the pages of memory on a node; those with contents move. Advice only. */
void td_numa_place(const td_numa *numa, int node, void *memory, size_t bytes);

#endif
