/* The handler walks the list of mappings without a lock. `walkers` counts the handlers under way: a mapping that has
 * been taken out of the list is freed only when there are none. */
#include "base/mapping.h"

#include "base/alloc.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of changes to the list */
static td_mapping *_Atomic mappings;
static atomic_int walkers;
static struct sigaction before; /* the handler that was there when the first file was mapped */
static uintptr_t page_bytes;

/* What can happen to a file; of both, the last is reported. */
typedef enum fault { NONE, WRITTEN, TORN } fault;

/* The file of the first mapping with a fault that this thread has ended since td_mapping_settle. */
static _Thread_local char torn_path[PATH_MAX];
static _Thread_local fault torn_by;

static td_mapping *find(uintptr_t address)
{
    td_mapping *at = mappings;
    while (at != NULL && address - (uintptr_t)at->base >= at->bytes) at = at->next;
    return at;
}

/* Zeros from the missing page to the end of the mapping: a file that lost a page has lost all behind it. */
static bool patch(uintptr_t address)
{
    atomic_fetch_add(&walkers, 1);
    td_mapping *hit = find(address);
    bool done = false;
    if (hit != NULL) {
        char *from = (char *)(address & ~(page_bytes - 1));
        size_t bytes = (size_t)(hit->base + hit->bytes - from);
        hit->torn = true;
        done = mmap(from, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != MAP_FAILED;
    }
    atomic_fetch_sub(&walkers, 1);
    return done;
}

/* A fault elsewhere: with the default action, returning repeats it and ends the process. */
static void pass_on(int number, siginfo_t *facts, void *context)
{
    if (before.sa_flags & SA_SIGINFO) before.sa_sigaction(number, facts, context);
    else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) before.sa_handler(number);
    else sigaction(SIGBUS, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
}

/* A signal that a process sent is no fault: there is no address, and nothing would repeat it. */
static void on_fault(int number, siginfo_t *facts, void *context)
{
    bool sent = facts->si_code <= 0;
    if (sent && before.sa_handler == SIG_IGN && !(before.sa_flags & SA_SIGINFO)) return;
    if (!sent && patch((uintptr_t)facts->si_addr)) return;
    pass_on(number, facts, context);
    if (sent && before.sa_handler == SIG_DFL && !(before.sa_flags & SA_SIGINFO)) raise(number);
}

static void install(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &before);
}

static td_mapped_file look_at(int descriptor)
{
    struct stat facts = {0};
    if (fstat(descriptor, &facts) != 0) return (td_mapped_file){.descriptor = descriptor};
    return (td_mapped_file){descriptor, (uint64_t)facts.st_size, facts.st_mtim};
}

/* Without a descriptor left, the handler alone guards the file. */
void td_mapping_add(td_mapping *mapping, int descriptor)
{
    int own = mapping->files < TD_MAPPED_FILES ? fcntl(descriptor, F_DUPFD_CLOEXEC, 0) : -1;
    if (own >= 0) mapping->file[mapping->files++] = look_at(own);
}

void td_mapping_begin(td_mapping *mapping, void *base, size_t bytes, int descriptor, const char *path)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    *mapping = (td_mapping){.base = base, .bytes = bytes, .path = path};
    if (base == NULL) return;
    td_mapping_add(mapping, descriptor);
    pthread_once(&once, install);
    pthread_mutex_lock(&lock);
    mapping->next = mappings;
    mappings = mapping;
    pthread_mutex_unlock(&lock);
}

static void take_out(td_mapping *mapping)
{
    pthread_mutex_lock(&lock);
    td_mapping *at = mappings;
    if (at == mapping) mappings = mapping->next;
    else {
        while (at->next != mapping) at = at->next;
        at->next = mapping->next;
    }
    pthread_mutex_unlock(&lock);
    while (walkers != 0) sched_yield();
}

/* The time of the last change of the inode (ctime) tells no more: a rename onto the file's name changes it, too. */
static bool is_written(const td_mapped_file *then, const td_mapped_file *now)
{
    return then->written.tv_sec != now->written.tv_sec || then->written.tv_nsec != now->written.tv_nsec;
}

static fault fault_of(const td_mapping *mapping)
{
    fault found = mapping != NULL && mapping->torn ? TORN : NONE;
    if (mapping == NULL || mapping->base == NULL) return found;
    for (int i = 0; i < mapping->files && found != TORN; i++) {
        td_mapped_file now = look_at(mapping->file[i].descriptor);
        if (now.length < mapping->file[i].length) found = TORN;
        else if (is_written(&mapping->file[i], &now)) found = WRITTEN;
    }
    return found;
}

void td_mapping_end(td_mapping *mapping)
{
    if (mapping->base == NULL) return;
    fault found = fault_of(mapping);
    take_out(mapping);
    munmap(mapping->base, mapping->bytes);
    for (int i = 0; i < mapping->files; i++) close(mapping->file[i].descriptor);
    mapping->base = NULL;
    if (found == NONE || torn_path[0] != '\0') return;
    snprintf(torn_path, sizeof torn_path, "%s", mapping->path);
    torn_by = found;
}

bool td_mapping_holds(const td_mapping *mapping, const void *address)
{
    return mapping != NULL && (uintptr_t)address - (uintptr_t)mapping->base < mapping->bytes;
}

void td_mapping_let_go(const td_mapping *mapping, const void *begin, const void *end)
{
    enum { SHARE = 16 };
    uint64_t budget = mapping != NULL ? td_memory().budget : 0;
    if (budget == 0 || mapping->bytes < budget / SHARE) return;
    uintptr_t from = ((uintptr_t)begin + page_bytes - 1) & ~(page_bytes - 1), to = (uintptr_t)end & ~(page_bytes - 1);
    if (from < to && td_mapping_holds(mapping, begin)) madvise((void *)from, to - from, MADV_DONTNEED);
}

void td_mapping_release(const td_mapping *mapping, const void *begin, const void *end)
{
    enum { AROUND = 2 << 20 }; /* a fault maps what the page cache has around the page: a whole large folio */
    if (begin >= end || !td_mapping_holds(mapping, begin)) return;
    uintptr_t base = (uintptr_t)mapping->base, limit = base + mapping->bytes;
    uintptr_t from = (uintptr_t)begin > base + AROUND ? ((uintptr_t)begin - AROUND) & ~(page_bytes - 1) : base;
    uintptr_t to = (uintptr_t)end + AROUND < limit ? (uintptr_t)end + AROUND : limit;
    madvise((void *)from, to - from, MADV_DONTNEED);
}

void td_mapping_read(const td_mapping *mapping, const void *from, void *into, uint64_t bytes)
{
    if (td_mapping_holds(mapping, from) && mapping->files == 1) {
        off_t at = (off_t)((uintptr_t)from - (uintptr_t)mapping->base);
        if (pread(mapping->file[0].descriptor, into, bytes, at) == (ssize_t)bytes) return;
    }
    memcpy(into, from, bytes);
}

static td_status fail_torn(const char *path, fault found)
{
    if (found == WRITTEN)
        return td_fail(TD_IO, "%s was written to while it was read; try again when it is complete", path);
    return td_fail(TD_IO, "%s became shorter, or its disk failed, while it was read", path);
}

td_status td_mapping_check(const td_mapping *mapping, td_status status)
{
    fault found = fault_of(mapping);
    return found != NONE ? fail_torn(mapping->path, found) : status;
}

void td_mapping_forget(void) { torn_path[0] = '\0'; }

td_status td_mapping_settle(td_status status)
{
    if (torn_path[0] == '\0') return status;
    status = fail_torn(torn_path, torn_by);
    torn_path[0] = '\0';
    return status;
}
