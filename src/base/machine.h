/* The machine as the system reports it, and the part of it that this process may use:
 * limited by its processor affinity and the memory limits of its control groups. */
#ifndef TD_BASE_MACHINE_H
#define TD_BASE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

enum { TD_MACHINE_TEXT = 96 };

typedef struct td_machine {
    char processor[TD_MACHINE_TEXT]; /* model name, or "unknown" */
    int processors;                  /* logical ones that are online */
    int cores;                       /* physical ones among them, 0: unknown */
    int usable;                      /* logical ones that this process may run on */
    int numa_nodes;                  /* without hwloc only those with usable processors */
    uint64_t cache_bytes;     /* the largest cache one processor sees, 0: unknown */
    uint64_t memory;          /* bytes this process may use */
    uint64_t memory_free;     /* bytes available at present */
    char huge_pages[16];      /* "always", "madvise", "never" or "unknown" */
} td_machine;

/* Fills in everything, for reports: hwloc takes milliseconds (processors.h). The functions below take microseconds. */
void td_machine_describe(td_machine *out);

void td_machine_processor(char name[TD_MACHINE_TEXT]);
int td_machine_usable(void);
uint64_t td_machine_memory(void);
uint64_t td_machine_memory_free(void); /* what can still be used without swapping */

/* Resident bytes of this process, mapped files included: at present, and the maximum so far. 0: unknown. */
uint64_t td_machine_resident(void);
uint64_t td_machine_peak_resident(void);

/* The approximate part of them that td_memory does not count: code, stacks, libraries. */
uint64_t td_machine_besides(void);
enum { TD_PROCESS_BYTES = 9 << 19 }; /* typical for a process that has just started */

#endif
