/* Kernels of joint launches, for the tests of the emulator and of the CUDA device. */
#ifndef JOINT_KERNELS_H
#define JOINT_KERNELS_H

#include "device/set.h"

#include <stdint.h>

/* Every thread takes the token in its own box, adds 1, and puts it into the box of the next member; boxes are used in
 * turns. The counters are the first member's: every block of every member counts in each round. */
typedef struct ring_arguments {
    td_set_member set;
    uint32_t *own, *next;      /* two boxes of a word for every thread */
    uint32_t *counts;          /* one for each round, 0 at first */
    uint32_t *least, *members; /* the least of all blocks' numbers plus 7; a bit for each member */
    uint32_t *wrong;           /* this member's: how often a counter was not that of all blocks */
    uint64_t *clocks;          /* this member's: after each round */
    uint32_t rounds;
    uint32_t leaves;           /* the round in which this member leaves without a word; UINT32_MAX: none */
} ring_arguments;

#endif
