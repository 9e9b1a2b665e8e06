#include "base/machine.h"

#include "base/account.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/numa.h"
#include "base/processors.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { LINE = 512, FREE_MEMORY_STAYS = 10000000 }; /* bytes; nanoseconds */

/* The first line of a small system file, without the line end; false if there is none. */
static bool read_line(const char *path, char line[LINE])
{
    FILE *file = fopen(path, "r");
    if (file == NULL) return false;
    bool got = fgets(line, LINE, file) != NULL;
    fclose(file);
    if (got) line[strcspn(line, "\n")] = '\0';
    return got;
}

static bool read_number(const char *path, uint64_t *out)
{
    char line[LINE];
    return read_line(path, line) && sscanf(line, "%" SCNu64, out) == 1;
}

/* The value of "key   : value" in a file of such lines. */
static bool read_field(const char *path, const char *key, char *value, size_t room)
{
    FILE *file = fopen(path, "r");
    if (file == NULL) return false;
    char line[LINE];
    bool found = false;
    while (!found && fgets(line, sizeof line, file) != NULL) {
        char *colon = strchr(line, ':');
        if (colon == NULL || strncmp(line, key, strlen(key)) != 0) continue;
        char *text = colon + 1 + strspn(colon + 1, " \t");
        text[strcspn(text, "\n")] = '\0';
        snprintf(value, room, "%s", text);
        found = true;
    }
    fclose(file);
    return found;
}

static int online_processors(void)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

int td_machine_usable(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
    return online_processors();
}

/* The smallest limit on the path from this process's control group to the root (version 2), or version 1's. */
static uint64_t group_limit(void)
{
    uint64_t least = UINT64_MAX, limit;
    if (read_number("/sys/fs/cgroup/memory/memory.limit_in_bytes", &limit)) least = limit;
    char group[LINE], path[2 * LINE];
    if (!read_field("/proc/self/cgroup", "0:", group, sizeof group)) return least;
    char *place = strchr(group, '/');
    while (place != NULL) {
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.max", place);
        if (read_number(path, &limit) && limit < least) least = limit;
        char *parent = strrchr(place, '/');
        if (*place == '\0' || parent == NULL) break;
        *parent = '\0';
    }
    return least;
}

uint64_t td_machine_memory(void)
{
    uint64_t built_in = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE), limit = group_limit();
    return limit < built_in ? limit : built_in;
}

static uint64_t read_memory_free(void)
{
    char text[LINE];
    uint64_t kib = 0, usable = td_machine_memory();
    if (!read_field("/proc/meminfo", "MemAvailable", text, sizeof text) || sscanf(text, "%" SCNu64, &kib) != 1)
        return usable;
    return kib * 1024 < usable ? kib * 1024 : usable;
}

/* Reading takes 40 microseconds, more than planning a run on a small graph: a figure stays good for a while. */
uint64_t td_machine_memory_free(void)
{
    static _Atomic uint64_t figure, read_at; /* nanoseconds; 0: never */
    uint64_t now = td_clock_ns(), at = read_at;
    if (at != 0 && now - at < FREE_MEMORY_STAYS) return figure;
    figure = read_memory_free();
    read_at = now;
    return figure;
}

/* "always [madvise] never": the word in brackets. */
static void huge_page_mode(char *out, size_t room)
{
    char line[LINE];
    char *open = read_line("/sys/kernel/mm/transparent_hugepage/enabled", line) ? strchr(line, '[') : NULL;
    char *close = open != NULL ? strchr(open, ']') : NULL;
    if (close != NULL) *close = '\0';
    snprintf(out, room, "%s", close != NULL ? open + 1 : "unknown");
}

static char processor[TD_MACHINE_TEXT] = "unknown";

static void read_processor(void)
{
    char name[TD_MACHINE_TEXT];
    if (read_field("/proc/cpuinfo", "model name", name, sizeof name)) memcpy(processor, name, sizeof name);
}

/* Every plan names the machine: reading takes as long as all the rest of a plan of a small graph, so it is done once. */
void td_machine_processor(char name[TD_MACHINE_TEXT])
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_processor);
    memcpy(name, processor, sizeof processor);
}

void td_machine_describe(td_machine *out)
{
    td_processors found;
    *out = (td_machine){.processors = online_processors(), .usable = td_machine_usable()};
    bool known = td_processors_read(&found, NULL);
    td_machine_processor(out->processor);
    out->cores = found.cores;
    out->cache_bytes = found.cache_bytes;
    out->numa_nodes = known ? found.nodes : td_numa_here()->nodes;
    out->memory = td_machine_memory();
    out->memory_free = td_machine_memory_free();
    huge_page_mode(out->huge_pages, sizeof out->huge_pages);
}

static uint64_t own_memory(const char *field)
{
    char text[64];
    uint64_t kib;
    if (!read_field("/proc/self/status", field, text, sizeof text) || sscanf(text, "%" SCNu64, &kib) != 1) return 0;
    return kib << 10;
}

uint64_t td_machine_resident(void) { return own_memory("VmRSS"); }
uint64_t td_machine_peak_resident(void) { return own_memory("VmHWM"); }

uint64_t td_machine_besides(void)
{
    uint64_t resident = td_machine_resident(), held = td_account_memory(td_account_process()).now;
    return resident > held + TD_PROCESS_BYTES ? resident - held : TD_PROCESS_BYTES;
}
