/* Cores, caches and memory nodes of the machine, by hwloc. Loading its picture of the machine takes 2 ms with two
 * processors and tens of them with 256 (docs/lab/emulator.md), so only descriptions ask for it; what a run needs when it
 * begins is in numa.h. */
#ifndef TD_BASE_PROCESSORS_H
#define TD_BASE_PROCESSORS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct td_processors {
    int cores;            /* physical ones that are online */
    int nodes;            /* with memory or processors, whether this process may use them or not */
    uint64_t cache_bytes; /* the largest cache that a processor has or shares; 0: unknown */
} td_processors;

/* Whether this build knows hwloc and the library is installed. */
bool td_processors_available(void);

/* Of the machine that `synthetic` describes in hwloc's words, like "numa:2 l3:1(size=32MB) core:8 pu:2", or of this
 * machine for NULL. False, with zeros: there is no hwloc, or it refuses. */
bool td_processors_read(td_processors *out, const char *synthetic);

#endif
