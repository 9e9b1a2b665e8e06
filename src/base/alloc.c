#include "base/alloc.h"

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

static _Atomic uint64_t held_now, held_peak, budget, limit_of_all, requests, fail_at;
static _Atomic bool huge_pages = true;

static header *header_of(const void *block) { return (header *)((char *)block - sizeof(header)); }

td_memory_stats td_memory(void)
{
    return (td_memory_stats){held_now, held_peak, budget, limit_of_all > 0 ? limit_of_all : budget, requests};
}

void td_memory_reset_peak(void) { held_peak = held_now; }
void td_memory_set_budget(uint64_t bytes)
{
    budget = bytes;
    limit_of_all = 0;
}

void td_memory_set_limit(uint64_t bytes, uint64_t besides)
{
    td_memory_set_budget(bytes > besides ? bytes - besides : 1);
    limit_of_all = bytes;
}
void td_huge_pages(bool on) { huge_pages = on; }
bool td_huge_pages_on(void) { return huge_pages; }
void td_alloc_fail_at(uint64_t nth) { fail_at = nth; }

static bool injected_failure(void)
{
    requests++;
    uint64_t left = fail_at;
    while (left != 0)
        if (atomic_compare_exchange_weak(&fail_at, &left, left - 1)) return left == 1;
    return false;
}

/* Returns what is then held in all, or 0 if the budget forbids it. Never
 * overshoots, not even for a moment: another thread's request that fits must
 * not fail because of one that does not. */
static uint64_t charge(uint64_t bytes)
{
    uint64_t limit = budget, now = held_now;
    do {
        if (limit != 0 && (now > limit || bytes > limit - now)) return 0;
    } while (!atomic_compare_exchange_weak(&held_now, &now, now + bytes));
    return now + bytes;
}

/* Called when the system has given what was charged: a refused request is no peak. */
static void raise_peak(uint64_t now)
{
    uint64_t peak = held_peak;
    while (now > peak && !atomic_compare_exchange_weak(&held_peak, &peak, now)) {}
}

/* Off means off, also where the system hands out huge pages unasked. */
static void advise(void *base, size_t bytes) { madvise(base, bytes, huge_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE); }

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
static void *allocate(size_t bytes, size_t lead, bool zeroed)
{
    if (injected_failure()) return NULL;
    if (bytes > SIZE_MAX / 2) return NULL;
    size_t held = (bytes + lead + PAGE - 1) & ~(size_t)(PAGE - 1);
    bool mapped = MAP_LARGE && bytes >= HUGE;
    if (!mapped) held = (bytes + lead + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    uint64_t now = charge(held);
    if (now == 0) return NULL;
    char *base = mapped ? map_aligned(held) : aligned_alloc(lead, (held + lead - 1) / lead * lead);
    if (base == NULL) {
        held_now -= held;
        return NULL;
    }
    raise_peak(now);
    if (zeroed && !mapped) memset(base, 0, held);
    void *block = base + lead;
    *header_of(block) = (header){base, held, bytes, mapped};
    return block;
}

/* Why a request was refused, in the words of whoever can allow more: it was beyond any memory, beyond what may be held,
 * or beyond what the system has. */
static td_status no_memory(uint64_t count, size_t element, const char *what)
{
    char wanted[TD_NUMBER_BYTES], taken[TD_NUMBER_BYTES], allowed[TD_NUMBER_BYTES];
    uint64_t limit = budget, now = held_now, bytes;
    if (__builtin_mul_overflow(count, (uint64_t)element, &bytes))
        return td_fail(TD_NO_MEMORY, "%s: %llu elements of %zu bytes are more than any memory holds", what,
                       (unsigned long long)count, element);
    if (limit != 0 && (now > limit || bytes > limit - now || limit - now - bytes < PAGE + ALIGNMENT))
        return td_fail(TD_NO_MEMORY, "%s of memory for %s: %s of the budget of %s are taken; --memory allows more",
                       td_format_size(wanted, bytes), what, td_format_size(taken, now), td_format_size(allowed, limit));
    return td_fail(TD_NO_MEMORY, "%s of memory for %s: the system has no more", td_format_size(wanted, bytes), what);
}

static td_status new_block(void **out, uint64_t count, size_t element, size_t lead, bool zeroed, const char *what)
{
    uint64_t bytes;
    void *block = NULL;
    if (!__builtin_mul_overflow(count, (uint64_t)element, &bytes) && bytes <= SIZE_MAX / 2)
        block = allocate((size_t)bytes, lead, zeroed);
    if (block == NULL) return no_memory(count, element, what);
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
    uint64_t now = more > 0 ? charge(more) : 0;
    if (more > 0 && now == 0) return false;
    char *base = mremap(old.base, old.held, held, 0);
    if (base == MAP_FAILED && more > 0) base = move_mapping(old.base, old.held, held);
    if (base == MAP_FAILED) {
        held_now -= more;
        return false;
    }
    if (held < old.held) held_now -= old.held - held;
    raise_peak(now);
    *block = base + lead;
    *header_of(*block) = (header){base, held, bytes, true};
    return true;
}

td_status td_resize_bytes(void **block, uint64_t count, size_t element, const char *what)
{
    if (*block == NULL) return td_new_bytes(block, count, element, what);
    uint64_t bytes;
    if (__builtin_mul_overflow(count, (uint64_t)element, &bytes) || bytes > SIZE_MAX / 2)
        return no_memory(count, element, what);
    header *old = header_of(*block);
    if (old->mapped && bytes >= HUGE) {
        if (injected_failure() || !remap(block, (size_t)bytes)) return no_memory(count, element, what);
        return TD_OK;
    }
    void *moved = allocate((size_t)bytes, ALIGNMENT, false);
    if (moved == NULL) return no_memory(count, element, what);
    memcpy(moved, *block, old->bytes < bytes ? old->bytes : (size_t)bytes);
    td_free(*block);
    *block = moved;
    return TD_OK;
}

void td_free(void *block)
{
    if (block == NULL) return;
    header old = *header_of(block);
    held_now -= old.held;
    if (old.mapped)
        munmap(old.base, old.held);
    else
        free(old.base);
}

td_status td_space_create(void **out, uint64_t bytes, const char *what)
{
    if (injected_failure() || bytes > SIZE_MAX / 2) return no_memory(bytes, 1, what);
    void *space = mmap(NULL, bytes > 0 ? bytes : PAGE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (space == MAP_FAILED) return no_memory(bytes, 1, what);
    madvise(space, bytes, MADV_NOHUGEPAGE);
    *out = space;
    return TD_OK;
}

void td_space_destroy(void *space, uint64_t bytes)
{
    if (space != NULL) munmap(space, bytes > 0 ? bytes : PAGE);
}

bool td_space_take(uint64_t bytes)
{
    uint64_t now = bytes > 0 ? charge(bytes) : 0;
    if (bytes > 0 && now == 0) return false;
    raise_peak(now);
    return true;
}

void td_space_drop(void *part, uint64_t bytes)
{
    if (bytes == 0) return;
    madvise(part, bytes, MADV_DONTNEED);
    held_now -= bytes;
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
