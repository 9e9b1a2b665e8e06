#include "base/alloc.h"

#include "base/account.h"
#include "base/size.h"

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

/* Under a budget smaller blocks, too, are mappings of their own: the C library keeps what is freed of its heap, which would
 * be resident and not counted. Below 64 MiB decoders need what they freed again at once, and the heap is less; below 32 MiB
 * a large block that it keeps exceeds the limit (docs/lab/tests.md). */
#define UNDER_BUDGET ((size_t)128 << 10)
#define UNDER_TINY_BUDGET ((size_t)1 << 20)
#define SMALL_BUDGET (UINT64_C(64) << 20)
#define TINY_BUDGET (UINT64_C(32) << 20)

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

td_account *td_account_of(const void *block) { return header_of(block)->account; }
void td_account_adopt(void *block) { header_of(block)->account = td_account_process(); }

void td_huge_pages(bool on) { td_account_current()->huge_pages = on; }
bool td_huge_pages_on(void) { return td_account_current()->huge_pages; }
void td_alloc_fail_at(uint64_t nth) { fail_at = nth; }

uint64_t td_alloc_requests(void) { return requests; }

static bool injected_failure(void)
{
    requests++;
    uint64_t left = fail_at;
    while (left != 0)
        if (atomic_compare_exchange_weak(&fail_at, &left, left - 1)) return left == 1;
    return false;
}

/* Off means off, also where the system hands out huge pages unasked. */
static void advise(void *base, size_t bytes)
{
    madvise(base, bytes, td_huge_pages_on() ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

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

static void *map_small(size_t bytes)
{
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return base != MAP_FAILED ? base : NULL;
}

static bool is_mapped(const td_account *account, size_t bytes)
{
    uint64_t process = td_account_process()->budget, budget = account->budget > process ? account->budget : process;
    bool tiny = budget > 0 && budget < TINY_BUDGET;
    return MAP_LARGE && bytes >= (budget >= SMALL_BUDGET ? UNDER_BUDGET : tiny ? UNDER_TINY_BUDGET : HUGE);
}

/* `lead` bytes precede the block: the header, padded to the alignment wanted. */
static void *allocate(td_account *account, size_t bytes, size_t lead, bool zeroed)
{
    if (injected_failure()) return NULL;
    if (bytes > SIZE_MAX / 2) return NULL;
    size_t held = (bytes + lead + PAGE - 1) & ~(size_t)(PAGE - 1);
    bool mapped = is_mapped(account, bytes);
    if (!mapped) held = (bytes + lead + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    td_account_levels now;
    if (!td_account_charge(account, held, &now)) return NULL;
    char *base = !mapped         ? aligned_alloc(lead, (held + lead - 1) / lead * lead)
                 : bytes >= HUGE ? map_aligned(held)
                                 : map_small(held);
    if (base == NULL) {
        td_account_credit(account, held);
        return NULL;
    }
    td_account_raise_peak(account, now);
    td_account_keep(account);
    if (zeroed && !mapped) memset(base, 0, held);
    void *block = base + lead;
    *header_of(block) = (header){base, held, bytes, account, mapped};
    return block;
}

static td_resource resource_of(const td_account *account)
{
    if (account->budget == 0) return TD_RESOURCE_SYSTEM_MEMORY;
    return account != td_account_process() ? TD_RESOURCE_SESSION_BUDGET : TD_RESOURCE_PROCESS_BUDGET;
}

td_refusal td_memory_refusal(uint64_t minimum)
{
    const td_account *least = td_account_binding(td_account_current());
    return (td_refusal){.resource = resource_of(least), .needed = minimum, .allowed = td_account_limit(least),
                        .minimum_known = true};
}

td_refusal td_memory_lack(uint64_t more)
{
    const td_account *least = td_account_binding(td_account_current());
    uint64_t allowed = td_account_limit(least);
    return (td_refusal){.resource = resource_of(least), .needed = allowed + more, .allowed = allowed};
}

/* The message of a refused request: it exceeds any memory, a budget, or the system's memory. Names the option that
 * allows more. */
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
        return td_refuse(&refusal, "%s of memory for %s: %s of the budget of %s are taken; {memory} allows more",
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
    td_account_levels now = {0};
    if (more > 0 && !td_account_charge(old.account, more, &now)) return false;
    char *base = mremap(old.base, old.held, held, 0);
    if (base == MAP_FAILED && more > 0) base = move_mapping(old.base, old.held, held);
    if (base == MAP_FAILED) {
        td_account_credit(old.account, more);
        return false;
    }
    if (held < old.held) td_account_credit(old.account, old.held - held);
    td_account_raise_peak(old.account, now);
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
    if (old->mapped && old->bytes >= HUGE && bytes >= HUGE) {
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
    td_account_credit(old.account, old.held);
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
    td_account_levels now;
    if (bytes == 0) return true;
    if (!td_account_charge(account, bytes, &now)) return false;
    td_account_raise_peak(account, now);
    return true;
}

void td_space_drop(td_account *account, void *part, uint64_t bytes)
{
    if (bytes == 0) return;
    madvise(part, bytes, MADV_DONTNEED);
    td_account_credit(account, bytes);
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
