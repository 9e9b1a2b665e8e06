/* What the system says about the machine this process runs on, and how much of
 * it the process may use: processor affinity and the memory limits of its
 * control groups count, not what is built in. */
#ifndef TD_BASE_MACHINE_H
#define TD_BASE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

enum { TD_MACHINE_TEXT = 96 };

typedef struct td_machine {
    char processor[TD_MACHINE_TEXT]; /* model name, "unknown" if the system does not tell */
    int processors;                  /* logical ones that are online */
    int cores;                       /* physical ones among them, 0: unknown */
    int usable;                      /* logical ones this process may run on */
    int numa_nodes;                  /* without hwloc only those with usable processors */
    uint64_t cache_bytes;     /* the largest cache one processor sees, 0: unknown */
    uint64_t memory;          /* bytes this process may use */
    uint64_t memory_free;     /* bytes that are available now */
    char huge_pages[16];      /* "always", "madvise", "never" or "unknown" */
} td_machine;

/* All of it, for reports: hwloc takes milliseconds (processors.h). The functions below take microseconds. */
void td_machine_describe(td_machine *out);

void td_machine_processor(char name[TD_MACHINE_TEXT]);
int td_machine_usable(void);
uint64_t td_machine_memory(void);
uint64_t td_machine_memory_free(void); /* what can still be used without swapping */

/* Bytes of this process that are in memory, mapped files included: now, and the most so far. 0: unknown. */
uint64_t td_machine_resident(void);
uint64_t td_machine_peak_resident(void);

/* Of those, about, what is not counted as memory that was asked for (td_memory): code, stacks, libraries. */
uint64_t td_machine_besides(void);
enum { TD_PROCESS_BYTES = 9 << 19 }; /* of a process that has just begun */

#endif
