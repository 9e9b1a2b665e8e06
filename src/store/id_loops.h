/* The loops over vertex ids that a later instruction set makes shorter: counting bits, and vectors that know a minimum.
 * They are compiled once per level (base/isa.h), as CPU kernels are, and called once per chunk of edges. */
#ifndef TD_STORE_ID_LOOPS_H
#define TD_STORE_ID_LOOPS_H

#include <stdint.h>

typedef struct td_id_loops {
    /* Widens low..high, so that all ids are in it. */
    void (*range)(const uint32_t *ids, uint64_t count, uint32_t *low, uint32_t *high);
    /* Replaces each id by how many ids below it are in the map, whose bit 0 is the id `lowest`; rank[w] counts those
     * in the words before w. */
    void (*number)(uint32_t *ids, uint64_t count, uint64_t lowest, const uint64_t *map, const uint32_t *rank);
} td_id_loops;

const td_id_loops *td_id_loops_in_use(void);

#endif
