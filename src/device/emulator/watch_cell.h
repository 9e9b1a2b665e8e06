/* Kinds of accesses, and the cells that remember them: fields of one word, and the thread that a cell names. */
#ifndef TD_DEVICE_EMULATOR_WATCH_CELL_H
#define TD_DEVICE_EMULATOR_WATCH_CELL_H

#include "device/emulator/machine.h"

/* ATOMIC: a read-modify-write of system scope, or a store; ATOMIC_DEVICE: a read-modify-write of device scope. */
typedef enum access_kind { PLAIN_READ, PLAIN_WRITE, ATOMIC, ATOMIC_DEVICE, ATOMIC_LOAD } access_kind;
static inline bool is_change(access_kind kind) { return kind == ATOMIC || kind == ATOMIC_DEVICE; }

/* A cell: tick, thread (its low bits), scope and change, bytes of the word. The scope says which other threads the cell
 * stands for, when several accessed the word and none of their accesses is ordered. The change says, in a joint launch,
 * what the thread's member did to the word since the last set barrier. */
enum { BYTES_BITS = 4, SCOPE_BITS = 4, SCOPE_SHIFT = 4, THREAD_SHIFT = 8, THREAD_BITS = 24, TICK_SHIFT = 32 };
enum { UNCHANGED, CHANGED, CHANGED_FOR_DEVICE, CHANGES };
enum { ONE_THREAD, ONE_WARP, ONE_BLOCK, SEVERAL_BLOCKS, SEVERAL_MEMBERS };
#define THREAD_MASK ((1u << THREAD_BITS) - 1)

static inline uint32_t tick_of(uint64_t cell) { return (uint32_t)(cell >> TICK_SHIFT); }
static inline uint32_t thread_of(uint64_t cell) { return (uint32_t)cell >> THREAD_SHIFT; }
static inline uint32_t both_of(uint64_t cell) { return (uint32_t)cell >> SCOPE_SHIFT & ((1u << SCOPE_BITS) - 1); }
static inline uint32_t scope_of(uint64_t cell) { return both_of(cell) / CHANGES; }
static inline uint32_t change_of(uint64_t cell) { return both_of(cell) % CHANGES; }
static inline uint32_t bytes_of(uint64_t cell) { return (uint32_t)cell & ((1u << BYTES_BITS) - 1); }

static inline uint64_t cell_make(uint32_t tick, uint32_t thread, uint32_t scope, uint32_t bytes)
{
    return (uint64_t)tick << TICK_SHIFT | (thread & THREAD_MASK) << THREAD_SHIFT | scope * CHANGES << SCOPE_SHIFT | bytes;
}

/* Of a new cell. */
static inline uint64_t with_change(uint64_t cell, uint32_t change) { return cell + ((uint64_t)change << SCOPE_SHIFT); }

/* Whether a cell's thread belongs to this launch; in a joint launch, to this member. */
static inline bool td_cell_is_of(const td_emu_machine *m, uint64_t cell)
{
    return m->joint == NULL || thread_of(cell) - m->first_id < m->ids;
}

#endif
