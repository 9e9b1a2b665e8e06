/* One member's place in a set of devices whose kernels wait for each other: what TD_SET_BARRIER of the kernels' language
 * takes. A kernel gets its own with its arguments (td_set_member_of). Plain data that C, C++ and CUDA read. */
#ifndef TD_DEVICE_SET_H
#define TD_DEVICE_SET_H

#include <stdint.h>

typedef struct td_set_member {
    uint32_t *met;                   /* memory of the first device: the members that have come; its highest bit flips
                                      * when all have */
    uint32_t *grid;                  /* memory of this member's device: its blocks that have come [TD_SET_COME], and
                                      * how often they were released [TD_SET_RELEASED] */
    const volatile uint32_t *broken; /* pinned host memory; not 0: the members do not meet any more */
    uint32_t members, member;        /* how many there are; which one this is */
    uint32_t blocks;                 /* of all members together, which have the same memory: they meet in one step at
                                      * `met`; 0: members meet after their own blocks have */
} td_set_member;

/* Places in `grid`, in cache lines of their own; a release that ends the kernel has the highest bit. */
enum { TD_SET_COME = 0, TD_SET_RELEASED = 32, TD_SET_WORDS = 64 };
#define TD_SET_ENDS 0x80000000u

#endif
