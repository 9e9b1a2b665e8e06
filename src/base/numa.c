#include "base/numa.h"

#include "base/log.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LINE = 4096 };
enum { PREFERRED = 1, INTERLEAVE = 3, MOVE = 2 }; /* MPOL_PREFERRED, MPOL_INTERLEAVE, MPOL_MF_MOVE of
                                                    * linux/mempolicy.h */

/* The numbers of a list like "0-3,8", handed to `each`. False if there is no such file or nothing in it. */
static bool for_list(const char *folder, const char *file, void (*each)(void *context, long number), void *context)
{
    char path[LINE], line[LINE];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *open = fopen(path, "r");
    if (open == NULL) return false;
    bool any = false, got = fgets(line, sizeof line, open) != NULL;
    fclose(open);
    for (char *at = line, *end; got; at = end + 1) {
        long first = strtol(at, &end, 10), last = first;
        if (end == at || first < 0) break;
        if (*end == '-') last = strtol(end + 1, &end, 10);
        for (long number = first; number <= last && number < CPU_SETSIZE; number++) each(context, number), any = true;
        if (*end != ',') break;
    }
    return any;
}

typedef struct reading {
    td_numa *out;
    const char *folder;
    const cpu_set_t *allowed;
    cpu_set_t now; /* processors of the current node */
} reading;

static void add_processor(void *context, long number)
{
    reading *self = context;
    if (CPU_ISSET((size_t)number, self->allowed)) CPU_SET((size_t)number, &self->now);
}

static void add_memory(void *context, long number)
{
    reading *self = context;
    if (number < TD_NUMA_NODES) self->out->memories |= UINT64_C(1) << number;
}

static void add_node(void *context, long number)
{
    reading *self = context;
    char file[64];
    CPU_ZERO(&self->now);
    snprintf(file, sizeof file, "node%ld/cpulist", number);
    if (self->out->nodes == TD_NUMA_NODES || !for_list(self->folder, file, add_processor, self)) return;
    if (CPU_COUNT(&self->now) == 0) return; /* no processor that this process may use */
    self->out->processors += CPU_COUNT(&self->now);
    self->out->number[self->out->nodes] = (int)number;
    self->out->usable[self->out->nodes++] = self->now;
}

void td_numa_read(td_numa *out, const char *folder, const cpu_set_t *allowed)
{
    reading self = {.out = out, .folder = folder, .allowed = allowed};
    *out = (td_numa){0};
    (void)for_list(folder, "online", add_node, &self);
    (void)for_list(folder, "has_memory", add_memory, &self);
    if (out->nodes > 1) return;
    *out = (td_numa){.nodes = 1, .processors = CPU_COUNT(allowed)};
    out->usable[0] = *allowed;
}

static td_numa here;

static void read_here(void)
{
    const char *wish = getenv("TANDEM_NUMA");
    cpu_set_t allowed;
    bool off = wish != NULL && strcmp(wish, "off") == 0, folder = wish != NULL && strchr(wish, '/') != NULL;
    if (wish != NULL && !off && !folder && wish[0] != '\0')
        td_warn("TANDEM_NUMA=%s: allowed are 'off' and a folder; workers are bound as without it", wish);
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) off = true; /* more processors than a cpu_set_t */
    td_numa_read(&here, off ? "" : folder ? wish : "/sys/devices/system/node", &allowed);
}

const td_numa *td_numa_here(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_here);
    return &here;
}

int td_numa_node(const td_numa *numa, int worker, int workers)
{
    int before = 0, place = (int)((int64_t)worker * numa->processors / workers);
    for (int node = 0; node < numa->nodes; node++) {
        before += CPU_COUNT(&numa->usable[node]);
        if (place < before) return node;
    }
    return 0;
}

void td_numa_bind(const td_numa *numa, int worker, int workers)
{
    if (numa->nodes == 1) return;
    (void)sched_setaffinity(0, sizeof(cpu_set_t), &numa->usable[td_numa_node(numa, worker, workers)]);
}

void td_numa_visit(const td_numa *numa, int worker, int workers, cpu_set_t *before)
{
    CPU_ZERO(before);
    if (numa->nodes == 1 || sched_getaffinity(0, sizeof *before, before) != 0) return;
    td_numa_bind(numa, worker, workers);
}

void td_numa_leave(const td_numa *numa, const cpu_set_t *before)
{
    if (numa->nodes > 1 && CPU_COUNT(before) > 0) (void)sched_setaffinity(0, sizeof *before, before);
}

bool td_numa_has_memory(const td_numa *numa, int node)
{
    int number = numa->number[node];
    return numa->memories == 0 || (number < TD_NUMA_NODES && (numa->memories >> number & 1u) != 0);
}

/* Whole pages alone: one at an end may have other contents. */
static void advise(const td_numa *numa, void *memory, size_t bytes, int policy, uint64_t nodes, unsigned flags)
{
    if (numa->nodes == 1 || nodes == 0 || memory == NULL) return;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = ((uintptr_t)memory + page - 1) / page * page;
    uintptr_t end = ((uintptr_t)memory + bytes) / page * page;
    unsigned long mask = (unsigned long)nodes;
    unsigned long bits = TD_NUMA_NODES + 1;
    if (begin < end) (void)syscall(SYS_mbind, begin, end - begin, policy, &mask, bits, (unsigned long)flags);
}

void td_numa_spread(const td_numa *numa, void *memory, size_t bytes)
{
    advise(numa, memory, bytes, INTERLEAVE, numa->memories, 0);
}

void td_numa_spread_again(const td_numa *numa, void *memory, size_t bytes)
{
    advise(numa, memory, bytes, INTERLEAVE, numa->memories, MOVE);
}

void td_numa_place(const td_numa *numa, int node, void *memory, size_t bytes)
{
    if (numa->number[node] >= TD_NUMA_NODES) return;
    advise(numa, memory, bytes, PREFERRED, UINT64_C(1) << numa->number[node], MOVE);
}
