/* Nodes of a machine whose memory is nearer to some processors than to others. Where there is more than one, workers of
 * pools are spread over them and bound to one each, and memory that all of them use is spread as well. Where there is
 * one, or the system does not tell, nothing is done. TANDEM_NUMA=off in the environment says that there is one.
 * Every pool begins with this, so it reads the kernel's list of each node, in microseconds, and leaves hwloc, which takes
 * milliseconds, to descriptions (processors.h). */
#ifndef TD_BASE_NUMA_H
#define TD_BASE_NUMA_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>

enum { TD_NUMA_NODES = 64 };

typedef struct td_numa {
    int nodes;                         /* that have processors this process may use; 1: no difference is made */
    int processors;                    /* of all of them */
    cpu_set_t usable[TD_NUMA_NODES];   /* of each: those that may be used */
    uint64_t memories;                 /* a bit per node of the system that has memory */
} td_numa;

/* From a folder like /sys/devices/system/node; processors are those in `allowed`. */
void td_numa_read(td_numa *out, const char *folder, const cpu_set_t *allowed);

/* This machine's, read once. */
const td_numa *td_numa_here(void);

/* The node of a worker, such that each has workers in proportion to its processors. */
int td_numa_node(const td_numa *numa, int worker, int workers);

/* Binds the calling thread, a pool's worker; what the system refuses is not done. */
void td_numa_bind(const td_numa *numa, int worker, int workers);

/* Memory that was not touched yet and that all workers will use: its pages go to all nodes in turn. Advice only. */
void td_numa_spread(const td_numa *numa, void *memory, size_t bytes);

#endif
