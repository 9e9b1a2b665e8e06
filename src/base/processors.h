/* Cores, caches and memory nodes of the machine, by hwloc. Loading its topology takes 2 ms with two processors and tens
 * of milliseconds with 256 (docs/lab/emulator.md), so only reports use it; runs use numa.h. */
#ifndef TD_BASE_PROCESSORS_H
#define TD_BASE_PROCESSORS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct td_processors {
    int cores;            /* physical ones that are online */
    int nodes;            /* nodes with memory or processors, usable by this process or not */
    uint64_t cache_bytes; /* the largest cache that a processor has or shares; 0: unknown */
} td_processors;

/* Whether this build supports hwloc and the library is installed. */
bool td_processors_available(void);

/* Describes the machine given by hwloc's syntax for synthetic topologies, like "numa:2 l3:1(size=32MB) core:8 pu:2", or
 * this machine for NULL. False, with zeros: there is no hwloc, or it fails. */
bool td_processors_read(td_processors *out, const char *synthetic);

#endif
