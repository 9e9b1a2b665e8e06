/* Arrays at the host that are declared once. The function that declares a group of arrays runs twice: before a run, to
 * measure them for its plan, and in the run, to allocate them. So the memory that a plan states is the memory that its
 * run takes. Where arrays come and go, the function takes them back too: what counts is the most at a time. */
#ifndef TD_BASE_DECLARE_H
#define TD_BASE_DECLARE_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct td_host_memory {
    bool measures;    /* arrays are added up and not allocated; their slots stay as they are */
    uint64_t bytes;   /* declared and not taken back */
    uint64_t besides; /* taken of the host's memory beside these arrays: by an emulated GPU */
    uint64_t peak;    /* most of both at a time */
} td_host_memory;

/* Adds the array up and, unless arrays are measured, puts its address into *slot. */
td_status td_host_declare(td_host_memory *memory, void *slot, uint64_t count, uint64_t bytes, const char *what);
td_status td_host_declare_zeroed(td_host_memory *memory, void *slot, uint64_t count, uint64_t bytes, const char *what);
td_status td_host_declare_pages(td_host_memory *memory, void *slot, uint64_t bytes, const char *what); /* of whole pages */

/* Frees the array in *slot, which may be NULL, and takes its bytes back. */
void td_host_undeclare(td_host_memory *memory, void *slot, uint64_t count, uint64_t bytes);

/* Bytes that other code allocates and frees: counted while they are held. */
static inline void td_host_hold(td_host_memory *memory, uint64_t bytes)
{
    memory->bytes += bytes;
    if (memory->bytes + memory->besides > memory->peak) memory->peak = memory->bytes + memory->besides;
}

static inline void td_host_let_go(td_host_memory *memory, uint64_t bytes) { memory->bytes -= bytes; }

/* An array that is held while nothing else is declared. */
static inline void td_host_note(td_host_memory *memory, uint64_t bytes)
{
    td_host_hold(memory, bytes);
    td_host_let_go(memory, bytes);
}

#endif
