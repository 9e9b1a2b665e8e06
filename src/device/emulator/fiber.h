/* Fibers: stacks that one thread of the system switches between by hand. A
 * switch saves the registers a call must keep and takes another stack: a few
 * nanoseconds. All stacks lie in one mapping, each above a page that faults.
 *
 * The thread sanitizer takes fibers for the one thread they run on, which is what
 * they are. It must not follow their calls then: scripts/emulator.cmake. */
#ifndef TD_DEVICE_EMULATOR_FIBER_H
#define TD_DEVICE_EMULATOR_FIBER_H

#include "base/status.h"
#include "device/emulator/sanitizer.h"

typedef struct td_fiber {
    void *top;      /* the stack pointer while it does not run */
    char *stack;    /* lowest address; NULL: the thread's own stack, until it has been left */
    size_t bytes;
    void *shadow;   /* the address sanitizer's */
    bool begun;
} td_fiber;

typedef struct td_fiber_stacks {
    char *memory;
    size_t bytes;
    td_fiber *fibers;
    uint32_t count;
    struct td_account *account; /* that their pages are charged to */
} td_fiber_stacks;

/* Frames that the address sanitizer checks after are several times larger. */
#define TD_FIBER_STACK ((size_t)(TD_ADDRESS_CHECKED ? 256 : 64) << 10)
enum {
    TD_FIBERS_MOST = 16384, /* each takes two of the mappings that Linux allows, 65530 */
    TD_FIBER_TOUCHED = 4096 /* bytes of a stack that kernels use, which is what counts as memory: little more than a page */
};

td_status td_fiber_stacks_open(td_fiber_stacks *out, uint32_t count);
void td_fiber_stacks_close(td_fiber_stacks *stacks);

/* The next switch to it calls `entry`, which never returns. */
void td_fiber_prepare(td_fiber *fiber, void (*entry)(void));

/* Switches from `from`, which runs, to `to`; returns after a switch back. */
void td_fiber_switch(td_fiber *from, td_fiber *to);

/* Called first by `entry`: the stack has been taken. */
void td_fiber_arrived(void);

/* Drops the contents of a fiber's stack; it must not be switched to before td_fiber_prepare. */
void td_fiber_drop(td_fiber *fiber);

#endif
