#include "base/alloc.h"

#include "base/account.h"
#include "base/size.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The header sits right below the block; `base` is what goes back to the system. */
typedef struct header {
    void *base;
    size_t held;   /* bytes taken from the system */
    size_t bytes;  /* bytes asked for */
    td_account *account; /* that is charged */
    bool mapped;
} header;

enum { ALIGNMENT = 64, PAGE = 4096 };
#define HUGE ((size_t)2 << 20)

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MAP_LARGE 0 /* red zones around every block */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define MAP_LARGE 0
#endif
#endif
#ifndef MAP_LARGE
#define MAP_LARGE 1
#endif

static _Atomic uint64_t requests, fail_at;

static header *header_of(const void *block) { return (header *)((char *)block - sizeof(header)); }

/* Accounts. */

static td_account process = {.huge_pages = true};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of budgets that are checked and charged, and of lists */
static pthread_mutex_t evict_lock = PTHREAD_MUTEX_INITIALIZER; /* held while something cached is released */
static _Thread_local td_account *current; /* NULL: the process's */
static _Thread_local bool helps, evicting;

td_account *td_account_process(void) { return &process; }
td_account *td_account_current(void) { return current != NULL ? current : &process; }
td_account *td_account_of(const void *block) { return header_of(block)->account; }

td_account *td_account_enter(td_account *account)
{
    td_account *before = td_account_current();
    current = account;
    return before;
}

void td_account_stand_in(td_account *account, bool evicts)
{
    current = account;
    helps = !evicts;
}

void td_account_help(td_account *account) { td_account_stand_in(account, false); }
bool td_account_evicts(void) { return !helps; }

td_status td_account_create(td_account **out, const struct td_option_name *words)
{
    td_account speaker = {.words = words}; /* of the refusal, if there is no memory */
    td_account *account = NULL, *before = td_account_enter(&speaker);
    td_status status = TD_NEW_ZEROED(&account, 1, "account");
    (void)td_account_enter(before);
    if (status != TD_OK) return status;
    header_of(account)->account = &process; /* which has been charged, like for every account's blocks */
    account->words = words;
    account->references = 1;
    account->huge_pages = process.huge_pages;
    *out = account;
    return TD_OK;
}

void td_account_keep(td_account *account)
{
    if (account != &process) account->references++;
}

void td_account_release(td_account *account)
{
    if (account == NULL || account == &process) return;
    if (atomic_fetch_sub(&account->references, 1) == 1) td_free(account);
}

static uint64_t room_of(const td_account *account)
{
    uint64_t budget = account->budget, now = account->now;
    if (budget == 0) return UINT64_MAX;
    return budget > now ? budget - now : 0;
}

const td_account *td_account_binding(const td_account *account)
{
    return room_of(account) <= room_of(&process) && account->budget != 0 ? account : &process;
}

static uint64_t limit_of(const td_account *account) { return account->limit > 0 ? account->limit : account->budget; }

td_memory_stats td_account_memory(const td_account *account)
{
    const td_account *least = td_account_binding(account);
    uint64_t now = account->now, room = room_of(least), budget = account->budget;
    if (least != account) budget = room == UINT64_MAX ? 0 : now + room;
    return (td_memory_stats){now, account->peak, budget, limit_of(least), requests};
}

td_memory_stats td_memory(void) { return td_account_memory(td_account_current()); }

void td_memory_reset_peak(void)
{
    td_account *account = td_account_current();
    account->peak = account->now;
}

void td_memory_set_budget(uint64_t bytes)
{
    process.budget = bytes;
    process.limit = 0;
}

void td_memory_set_limit(uint64_t bytes, uint64_t besides)
{
    td_memory_set_budget(bytes > besides ? bytes - besides : 1);
    process.limit = bytes;
}

void td_huge_pages(bool on) { td_account_current()->huge_pages = on; }
bool td_huge_pages_on(void) { return td_account_current()->huge_pages; }
void td_alloc_fail_at(uint64_t nth) { fail_at = nth; }

static bool injected_failure(void)
{
    requests++;
    uint64_t left = fail_at;
    while (left != 0)
        if (atomic_compare_exchange_weak(&fail_at, &left, left - 1)) return left == 1;
    return false;
}

/* Caching. */

static void unlink_kept(td_kept *kept)
{
    td_kept **at = &kept->account->oldest;
    while (*at != kept) at = &(*at)->next;
    *at = kept->next;
    kept->account = NULL;
}

void td_kept_offer(td_kept *kept, void (*release)(td_kept *kept))
{
    td_kept_take(kept);
    pthread_mutex_lock(&lock);
    *kept = (td_kept){.account = td_account_current(), .release = release};
    td_kept **last = &kept->account->oldest;
    while (*last != NULL) last = &(*last)->next;
    *last = kept;
    pthread_mutex_unlock(&lock);
}

void td_kept_take(td_kept *kept)
{
    pthread_mutex_lock(&lock);
    if (kept->account != NULL) unlink_kept(kept);
    pthread_mutex_unlock(&lock);
}

/* Charging. */

/* What an account and the process hold with what has just been charged. */
typedef struct levels {
    uint64_t own, all;
} levels;

static bool charge_once(td_account *account, uint64_t bytes, levels *out)
{
    bool granted = bytes <= room_of(account) && bytes <= room_of(&process);
    if (!granted) return false;
    out->all = atomic_fetch_add(&process.now, bytes) + bytes;
    out->own = account != &process ? atomic_fetch_add(&account->now, bytes) + bytes : out->all;
    return true;
}

/* Never overshoots, not even for a moment: another thread's request that fits must not fail because of one that does
 * not. Budgets are checked under the lock; without any there is nothing to check. */
static bool charge_within(td_account *account, uint64_t bytes, levels *out)
{
    bool limited = account->budget != 0 || process.budget != 0;
    if (limited) pthread_mutex_lock(&lock);
    bool granted = charge_once(account, bytes, out);
    if (limited) pthread_mutex_unlock(&lock);
    return granted;
}

/* Takes the oldest of what the account caches off its list; NULL: there is nothing. */
static td_kept *take_oldest(td_account *account)
{
    pthread_mutex_lock(&lock);
    td_kept *kept = account->oldest;
    if (kept != NULL) unlink_kept(kept);
    pthread_mutex_unlock(&lock);
    return kept;
}

/* Releases what is cached, oldest first, until the request fits. One thread does so at a time: another one's request
 * waits for the memory instead of finding the list empty. */
static bool charge_evicting(td_account *account, uint64_t bytes, levels *out)
{
    td_kept *kept;
    pthread_mutex_lock(&evict_lock);
    evicting = true;
    bool granted = charge_within(account, bytes, out);
    while (!granted && (kept = take_oldest(account)) != NULL) {
        kept->release(kept);
        granted = charge_within(account, bytes, out);
    }
    evicting = false;
    pthread_mutex_unlock(&evict_lock);
    return granted;
}

static bool charge(td_account *account, uint64_t bytes, levels *out)
{
    if (charge_within(account, bytes, out)) return true;
    bool may_evict = !helps && !evicting && account == td_account_current();
    return may_evict && charge_evicting(account, bytes, out);
}

static void credit(td_account *account, uint64_t bytes)
{
    process.now -= bytes;
    if (account != &process) account->now -= bytes;
}

static void raise_to(_Atomic uint64_t *peak, uint64_t now)
{
    uint64_t before = *peak;
    while (now > before && !atomic_compare_exchange_weak(peak, &before, now)) {}
}

/* Called when the system has given what was charged: a refused request is no peak. */
static void raise_peak(td_account *account, levels now)
{
    raise_to(&process.peak, now.all);
    if (account != &process) raise_to(&account->peak, now.own);
}

/* Blocks. */

/* Off means off, also where the system hands out huge pages unasked. */
static void advise(void *base, size_t bytes) { madvise(base, bytes, td_huge_pages_on() ? MADV_HUGEPAGE : MADV_NOHUGEPAGE); }

/* Not MAP_NORESERVE: the kernel then refuses here what the machine cannot hold,
 * instead of killing the process when it is touched. */
static void *map_aligned(size_t bytes)
{
    size_t room = bytes + HUGE;
    char *raw = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (raw == MAP_FAILED) return NULL;
    char *base = (char *)(((uintptr_t)raw + HUGE - 1) & ~(uintptr_t)(HUGE - 1));
    if (base > raw) munmap(raw, (size_t)(base - raw));
    size_t tail = (size_t)(raw + room - (base + bytes));
    if (tail > 0) munmap(base + bytes, tail);
    advise(base, bytes);
    return base;
}

/* `lead` bytes precede the block: the header, padded to the alignment wanted. */
static void *allocate(td_account *account, size_t bytes, size_t lead, bool zeroed)
{
    if (injected_failure()) return NULL;
    if (bytes > SIZE_MAX / 2) return NULL;
    size_t held = (bytes + lead + PAGE - 1) & ~(size_t)(PAGE - 1);
    bool mapped = MAP_LARGE && bytes >= HUGE;
    if (!mapped) held = (bytes + lead + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    levels now;
    if (!charge(account, held, &now)) return NULL;
    char *base = mapped ? map_aligned(held) : aligned_alloc(lead, (held + lead - 1) / lead * lead);
    if (base == NULL) {
        credit(account, held);
        return NULL;
    }
    raise_peak(account, now);
    td_account_keep(account);
    if (zeroed && !mapped) memset(base, 0, held);
    void *block = base + lead;
    *header_of(block) = (header){base, held, bytes, account, mapped};
    return block;
}

static td_resource resource_of(const td_account *account)
{
    if (account->budget == 0) return TD_RESOURCE_SYSTEM_MEMORY;
    return account != &process ? TD_RESOURCE_SESSION_BUDGET : TD_RESOURCE_PROCESS_BUDGET;
}

td_refusal td_memory_refusal(uint64_t minimum)
{
    const td_account *least = td_account_binding(td_account_current());
    return (td_refusal){.resource = resource_of(least), .needed = minimum, .allowed = limit_of(least),
                        .minimum_known = true};
}

td_refusal td_memory_lack(uint64_t more)
{
    const td_account *least = td_account_binding(td_account_current());
    return (td_refusal){.resource = resource_of(least), .needed = limit_of(least) + more, .allowed = limit_of(least)};
}

/* Why a request was refused, in the words of whoever can allow more: it was beyond any memory, beyond what may be held,
 * or beyond what the system has. */
static td_status no_memory(const td_account *account, uint64_t count, size_t element, const char *what)
{
    char wanted[TD_NUMBER_BYTES], taken[TD_NUMBER_BYTES], allowed[TD_NUMBER_BYTES];
    const td_account *least = td_account_binding(account);
    uint64_t limit = least->budget, now = least->now, bytes;
    td_refusal system = {.resource = TD_RESOURCE_SYSTEM_MEMORY, .needed = UINT64_MAX};
    if (__builtin_mul_overflow(count, (uint64_t)element, &bytes))
        return td_refuse(&system, "%s: %llu elements of %zu bytes are more than any memory holds", what,
                         (unsigned long long)count, element);
    system.needed = bytes;
    td_refusal refusal = {.resource = resource_of(least),
                          .needed = bytes > UINT64_MAX - now - 2 * PAGE ? UINT64_MAX : now + bytes + 2 * PAGE,
                          .allowed = limit};
    if (limit != 0 && (now > limit || bytes > limit - now || limit - now - bytes < PAGE + ALIGNMENT))
        return td_refuse(&refusal, "%s of memory for %s: %s of the budget of %s are taken; --memory allows more",
                         td_format_size(wanted, bytes), what, td_format_size(taken, now),
                         td_format_size(allowed, limit));
    return td_refuse(&system, "%s of memory for %s: the system has no more", td_format_size(wanted, bytes), what);
}

static td_status new_block(void **out, uint64_t count, size_t element, size_t lead, bool zeroed, const char *what)
{
    uint64_t bytes;
    void *block = NULL;
    td_account *account = td_account_current();
    if (!__builtin_mul_overflow(count, (uint64_t)element, &bytes) && bytes <= SIZE_MAX / 2)
        block = allocate(account, (size_t)bytes, lead, zeroed);
    if (block == NULL) return no_memory(account, count, element, what);
    *out = block;
    return TD_OK;
}

td_status td_new_bytes(void **out, uint64_t count, size_t element, const char *what)
{
    return new_block(out, count, element, ALIGNMENT, false, what);
}

td_status td_new_zeroed_bytes(void **out, uint64_t count, size_t element, const char *what)
{
    return new_block(out, count, element, ALIGNMENT, true, what);
}

td_status td_new_pages(void **out, uint64_t bytes, const char *what)
{
    return new_block(out, bytes, 1, PAGE, false, what);
}

/* Pages move to another aligned place without being copied; moved to any other,
 * huge pages would be split. */
static void *move_mapping(void *base, size_t held, size_t wanted)
{
    void *there = map_aligned(wanted);
    if (there == NULL) return MAP_FAILED;
    void *moved = mremap(base, held, wanted, MREMAP_MAYMOVE | MREMAP_FIXED, there);
    if (moved == MAP_FAILED) munmap(there, wanted);
    else advise(moved, wanted);
    return moved;
}

/* A large block shrinks or grows in place or by remapping, never by copying. */
static bool remap(void **block, size_t bytes)
{
    header old = *header_of(*block);
    size_t lead = (size_t)((char *)*block - (char *)old.base);
    size_t held = (bytes + lead + PAGE - 1) & ~(size_t)(PAGE - 1);
    size_t more = held > old.held ? held - old.held : 0;
    levels now = {0};
    if (more > 0 && !charge(old.account, more, &now)) return false;
    char *base = mremap(old.base, old.held, held, 0);
    if (base == MAP_FAILED && more > 0) base = move_mapping(old.base, old.held, held);
    if (base == MAP_FAILED) {
        credit(old.account, more);
        return false;
    }
    if (held < old.held) credit(old.account, old.held - held);
    raise_peak(old.account, now);
    *block = base + lead;
    *header_of(*block) = (header){base, held, bytes, old.account, true};
    return true;
}

td_status td_resize_bytes(void **block, uint64_t count, size_t element, const char *what)
{
    if (*block == NULL) return td_new_bytes(block, count, element, what);
    uint64_t bytes;
    if (__builtin_mul_overflow(count, (uint64_t)element, &bytes) || bytes > SIZE_MAX / 2)
        return no_memory(td_account_of(*block), count, element, what);
    header *old = header_of(*block);
    if (old->mapped && bytes >= HUGE) {
        if (injected_failure() || !remap(block, (size_t)bytes))
            return no_memory(td_account_of(*block), count, element, what);
        return TD_OK;
    }
    void *moved = allocate(old->account, (size_t)bytes, ALIGNMENT, false);
    if (moved == NULL) return no_memory(old->account, count, element, what);
    memcpy(moved, *block, old->bytes < bytes ? old->bytes : (size_t)bytes);
    td_free(*block);
    *block = moved;
    return TD_OK;
}

void td_free(void *block)
{
    if (block == NULL) return;
    header old = *header_of(block);
    credit(old.account, old.held);
    if (old.mapped)
        munmap(old.base, old.held);
    else
        free(old.base);
    td_account_release(old.account);
}

td_status td_space_create(void **out, uint64_t bytes, const char *what)
{
    const td_account *account = td_account_current();
    if (injected_failure() || bytes > SIZE_MAX / 2) return no_memory(account, bytes, 1, what);
    void *space = mmap(NULL, bytes > 0 ? bytes : PAGE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (space == MAP_FAILED) return no_memory(account, bytes, 1, what);
    madvise(space, bytes, MADV_NOHUGEPAGE);
    *out = space;
    return TD_OK;
}

void td_space_destroy(void *space, uint64_t bytes)
{
    if (space != NULL) munmap(space, bytes > 0 ? bytes : PAGE);
}

bool td_space_take(td_account *account, uint64_t bytes)
{
    levels now;
    if (bytes == 0) return true;
    if (!charge(account, bytes, &now)) return false;
    raise_peak(account, now);
    return true;
}

void td_space_drop(td_account *account, void *part, uint64_t bytes)
{
    if (bytes == 0) return;
    madvise(part, bytes, MADV_DONTNEED);
    credit(account, bytes);
}

#if defined(MREMAP_DONTUNMAP)
bool td_space_move(void *to, void *from, uint64_t bytes)
{
    if (mremap(from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, to) == to) return true;
    /* It may have taken away what was there before it failed. */
    (void)mmap(to, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    madvise(to, bytes, MADV_NOHUGEPAGE);
    madvise(from, bytes, MADV_DONTNEED);
    return false;
}
#else
bool td_space_move(void *to, void *from, uint64_t bytes)
{
    (void)to;
    madvise(from, bytes, MADV_DONTNEED);
    return false;
}
#endif

size_t td_block_bytes(const void *block) { return block == NULL ? 0 : header_of(block)->bytes; }

td_status td_string_copy(char **out, const char *text, const char *what)
{
    size_t length = strlen(text) + 1;
    TD_CHECK(TD_NEW(out, length, what));
    memcpy(*out, text, length);
    return TD_OK;
}
