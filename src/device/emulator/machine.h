/* The interpreter of kernels: the threads of the blocks in flight, their waits, and the current launch, of which the
 * process has one at a time.
 *
 * A thread runs until it waits or ends. In every round each ready thread gets a turn, in a random order; threads
 * released during a round run in the next. A thread that ends passes its stack to the next one to begin, so that
 * threads that never wait share one stack. */
#ifndef TD_DEVICE_EMULATOR_MACHINE_H
#define TD_DEVICE_EMULATOR_MACHINE_H

#include "base/account.h"
#include "device/kinds.h"
#include "device/emulator/fiber.h"
#include "device/emulator/runtime.h"

enum { TD_EMU_WARP = 32, TD_EMU_SHARED_SITES = 32, TD_EMU_CANARY = 64, TD_EMU_BLOCK_WARPS = 32 };

typedef enum td_emu_state {
    TD_EMU_FRESH,   /* not begun */
    TD_EMU_READY,   /* ready or running */
    TD_EMU_BARRIER, /* waits for its block */
    TD_EMU_GRID,    /* waits for all blocks */
    TD_EMU_SET,     /* waits for all members of the joint launch */
    TD_EMU_LANES,   /* waits for lanes of its warp */
    TD_EMU_ENDED
} td_emu_state;

typedef enum td_emu_exchange { TD_EMU_MEET, TD_EMU_VOTE, TD_EMU_MOVE_VALUE } td_emu_exchange;

struct td_emu_block;
struct td_emu_order;
struct td_emu_stale;
struct td_regions;

typedef struct td_emu_fiber_thread {
    td_emu_thread self; /* first: what the kernel sees */
    uint32_t id;        /* in the whole launch, a joint one's members counted through */
    td_emu_state state;
    td_fiber *fiber;
    struct td_emu_block *block;
    td_site site;       /* where it waits */
    uint32_t mask, from_lane;
    td_emu_exchange exchange;
    struct td_emu_fiber_thread *leader; /* the first that came to the exchange */
    uint32_t come;      /* of a leader: the lanes that are there */
    uint64_t operations; /* accesses, exchanges, barriers */
    uint64_t value;     /* value that it contributes to the exchange, then its result */
    uint32_t seen[TD_EMU_WARP]; /* for every lane of its warp: accesses before this tick happened before this
                                 * thread's */
} td_emu_fiber_thread;

/* Lanes of a warp: those that wait for an exchange, those that ended. */
typedef struct td_emu_warp {
    uint32_t waiting, ended;
} td_emu_warp;

typedef struct td_emu_shared_piece {
    td_site site;
    uint32_t begin, bytes; /* in the arena */
} td_emu_shared_piece;

typedef struct td_emu_cell td_emu_cell;

typedef struct td_emu_block {
    uint32_t number, threads, waiting, ended;
    td_emu_fiber_thread *thread;
    td_emu_fiber_thread *thread_waiting; /* the last that came to the barrier */
    td_emu_warp warp[TD_EMU_BLOCK_WARPS];
    char *shared; /* the arena */
    td_emu_cell *cells; /* of the arena, when accesses are watched */
    uint32_t shared_end, shared_sum; /* bytes of the arena in use; those that kernels requested */
    uint32_t pieces;
    td_emu_shared_piece piece[TD_EMU_SHARED_SITES];
    uint32_t began, met; /* ticks of its begin and of its last barrier */
} td_emu_block;

/* Counters of a launch. */
typedef struct td_emu_work {
    uint64_t blocks, threads;
    uint64_t barriers, grid_barriers, exchanges; /* barriers: of blocks */
    uint64_t set_barriers;
    uint64_t bytes_read, bytes_written;          /* of device memory */
    uint64_t host_bytes, peer_bytes;             /* of pinned host memory, of other GPUs */
    double peer_ns;                              /* how long the links to other GPUs are busy */
    uint64_t accesses, atomics, shared_accesses;
    uint64_t busiest;                            /* operations of the multiprocessor with most of them */
} td_emu_work;

/* A joint launch: its members run in turns, each until none of its threads can go on or it gives way. */
struct td_emu_machine;
typedef struct td_emu_joint {
    uint32_t count, come; /* members; those at the set barrier */
    struct td_emu_machine *member[TD_EMULATED_DEVICES];
    uint64_t turns;
    bool ended;           /* the set is broken: no thread goes on */
    double elapsed_ns;    /* virtual time from its begin to the last set barrier */
    void (*round)(struct td_emu_joint *joint); /* all members are at a set barrier: time goes on */
} td_emu_joint;

/* The watch's place in a launch. */
typedef struct td_watch_state {
    bool races, mixed;
    uint32_t began, last_barrier, until_check, until_yield, idle_yields;
    uint64_t checks, progress;
} td_watch_state;

/* The fibers and arenas of a device, reused by all launches. */
typedef struct td_emu_machine {
    td_device *device;
    td_kept kept; /* listed while no launch uses them */
    struct td_regions *regions;
    uint32_t era; /* of the ticks in its threads and arenas */
    uint64_t seed;
    uint32_t shared_limit; /* bytes that a block may ask for */
    uint32_t arena_bytes;  /* the same with canaries */
    bool races;            /* report races */
    uint64_t patience;     /* accesses without progress (a thread's end or a barrier) after which a launch counts as an
                            * endless loop */
    double peer_rate[TD_EMULATED_DEVICES]; /* bytes per ns from the other GPUs; 0: their memory is out of reach */
    bool peer_enabled[TD_EMULATED_DEVICES]; /* kernels may dereference their pointers */
    int first_slice, slices; /* devices with the same memory: slices of one GPU, or this one alone */
    struct td_emu_order *order;
    struct td_emu_stale *stale;
    td_fiber_stacks stacks;
    td_fiber **free_fibers;
    uint32_t free_count;
    td_emu_fiber_thread *threads; /* of the blocks in flight */
    uint32_t threads_room;
    td_emu_fiber_thread **turn, **next_turn; /* this round's, the next one's */
    uint32_t turn_at, turn_count, next_count;
    td_emu_block *blocks;
    uint32_t blocks_room;
    uint64_t *loads; /* operations of each multiprocessor */
    uint64_t launches, rounds;
    /* The current launch. */
    td_fiber caller;
    td_fiber *running_fiber;
    void (*code)(const void *);
    const char *kernel;
    const void *arguments;
    size_t arguments_bytes;
    td_launch shape;
    uint32_t stream;      /* its number */
    uint32_t *seen;       /* the vector clock of its stream */
    uint32_t block_at;    /* blocks that have begun */
    bool in_progress;     /* its last blocks have not ended */
    bool beside;          /* it began while a launch of another GPU was paused */
    bool paused;          /* it waits for kernels of other GPUs to go on */
    bool (*may_pause)(struct td_emu_machine *machine); /* whether another GPU has a ready launch */
    uint64_t progress_seen; /* when it last might have been paused */
    td_watch_state watched; /* while it is paused */
    uint32_t actor;         /* its stream's */
    uint32_t in_flight, finished; /* blocks; threads that ended */
    uint32_t grid_waiting, set_waiting; /* blocks that have come */
    uint64_t began_ns;      /* virtual time at its begin */
    td_emu_joint *joint;    /* the joint launch that it is a member of, or NULL */
    uint32_t member;
    uint32_t first_id, ids; /* of its threads */
    uint32_t last_grid_barrier; /* its tick, where it is not that of all threads (joint launches) */
    td_emu_work counted;    /* of a joint launch: the work that virtual time has gone on for */
    td_emu_work work;
    td_status status; /* why it was ended early, with the current message */
} td_emu_machine;

extern td_emu_machine *td_emu_now;          /* the current launch, or NULL */
extern td_emu_fiber_thread *td_emu_running; /* its thread that runs */

void td_emu_machine_close(td_emu_machine *machine);

/* Memory that a launch of so many blocks at once takes, without the stacks, which are mapped as they are touched. */
uint64_t td_emu_machine_bytes(const td_emu_machine *machine, uint32_t blocks, uint32_t threads);

/* Runs the launch until it ends or is paused (machine->paused), and on from there. A broken rule is TD_DEVICE with the
 * message made where it was broken. */
td_status td_emu_machine_resume(td_emu_machine *machine, td_emu_work *work);
td_status td_emu_machine_launch(td_emu_machine *machine, const td_kernel *kernel, const td_launch *shape,
                                const void *arguments, size_t bytes, td_emu_work *work);

/* Runs the kernels of all members, which td_emu_machine_prepare has prepared, to their ends. */
td_status td_emu_machine_prepare(td_emu_machine *machine, const td_kernel *kernel, const td_launch *shape,
                                 const void *arguments, size_t bytes);
td_status td_emu_joint_run(td_emu_joint *joint);

/* Operations of the busiest multiprocessor, of the blocks in flight; a further call counts those from then on where
 * `restart` says so. Of cooperative launches. */
uint64_t td_emu_machine_busiest(td_emu_machine *machine, bool restart);

/* For those who make threads wait (block.c, exchange.c). */
void td_emu_pause(void); /* the launch lets those of other GPUs go on; the thread stays ready */
void td_emu_wait(void);                           /* gives way; returns when the thread is chosen again */
void td_emu_release(td_emu_fiber_thread *thread); /* it can go on */
void td_emu_release_on(td_emu_machine *machine, td_emu_fiber_thread *thread); /* of a member of a joint launch */
uint32_t td_emu_tick(void);                       /* the next tick */

/* Ends the launch with a message naming the kernel, the place, the thread and its block. */
_Noreturn void td_emu_break(td_site site, const char *format, ...) TD_PRINTF(2, 3);

const char *td_emu_file(const char *path); /* its name without folders */

/* Ends the launch with the current message (td_last_message). */
_Noreturn void td_emu_abandon(td_status status);

/* Describes what a thread waits for, for messages. */
#define TD_EMU_WORDS 160
const char *td_emu_describe(const td_emu_fiber_thread *thread, char words[TD_EMU_WORDS]);

/* The shared memory of a block. */
void td_emu_shared_begin(td_emu_block *block);
void td_emu_shared_check(td_emu_block *block, td_site site); /* breaks the launch when a canary is gone */

/* Barriers. */
void td_emu_barrier_leave(td_emu_block *block); /* its running thread has ended */

#endif
