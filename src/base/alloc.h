/* The one allocator.
 *
 * Every byte that Tandem holds on the host comes from here and is charged to the
 * calling thread's account (account.h), so that a budget can be kept, a peak
 * reported, and a test can make the Nth request fail.
 * Blocks are 64-byte aligned. Large ones are their own mapping, aligned to
 * 2 MiB and advised to huge pages, which is worth up to 1.5x to an engine that
 * gathers at random (docs/lab/cpu.md); td_huge_pages(false) turns that off.
 */
#ifndef TD_BASE_ALLOC_H
#define TD_BASE_ALLOC_H

#include "base/status.h"

struct td_account; /* account.h */

/* Uninitialised, zeroed, resized. On failure *out is untouched and the message
 * names `what`. A count of zero gives a valid block of no elements. */
td_status td_new_bytes(void **out, uint64_t count, size_t element, const char *what);
td_status td_new_zeroed_bytes(void **out, uint64_t count, size_t element, const char *what);
td_status td_resize_bytes(void **block, uint64_t count, size_t element, const char *what);

/* TD_NEW(&array, count, "vertex offsets") for any T *array. */
#define TD_NEW(pointer, count, what) TD_BLOCK_BY(td_new_bytes, NULL, pointer, count, what)
#define TD_NEW_ZEROED(pointer, count, what) TD_BLOCK_BY(td_new_zeroed_bytes, NULL, pointer, count, what)
#define TD_RESIZE(pointer, count, what) TD_BLOCK_BY(td_resize_bytes, *(pointer), pointer, count, what)
#define TD_BLOCK_BY(function, old, pointer, count, what)                            \
    ({                                                                              \
        void *block_ = (old);                                                       \
        td_status made_ = function(&block_, (count), sizeof **(pointer), (what));   \
        if (made_ == TD_OK) *(pointer) = block_;                                    \
        made_;                                                                      \
    })

/* Page-aligned, for direct I/O and pinning. Freed by td_free, never resized. */
td_status td_new_pages(void **out, uint64_t bytes, const char *what);

void td_free(void *block); /* NULL is fine */

/* Addresses without memory, for arrays of which only parts are in memory at a time: code that fills a part charges its
 * bytes first (false: the budget forbids it) and credits them to the same account when it drops the part. Whole 4 KiB
 * pages; what is not filled reads as zeros. Small pages, because parts come and go. */
td_status td_space_create(void **out, uint64_t bytes, const char *what);
void td_space_destroy(void *space, uint64_t bytes); /* NULL is fine; no part may be held any more */
bool td_space_take(struct td_account *account, uint64_t bytes);
void td_space_drop(struct td_account *account, void *part, uint64_t bytes);

/* A part that is filled gives its bytes to one that is not, and with them its memory, which is not cleared: that takes
 * a fortieth of the time that dropping and filling take. False: the system could not move it (it has a limit of
 * mappings); the bytes went over all the same. */
bool td_space_move(void *to, void *from, uint64_t bytes);
size_t td_block_bytes(const void *block);

td_status td_string_copy(char **out, const char *text, const char *what);

typedef struct td_memory_stats {
    uint64_t now;      /* bytes held */
    uint64_t peak;     /* most bytes held at once since td_memory_reset_peak */
    uint64_t budget;   /* most that may be held, by the account's budget and by the process's; 0: none */
    uint64_t limit;    /* the same with what the process holds besides, where that is counted */
    uint64_t requests; /* calls so far, of all accounts */
} td_memory_stats;

td_memory_stats td_memory(void); /* of the calling thread's account; td_memory_set_budget is in tandem.h */
td_memory_stats td_account_memory(const struct td_account *account);
void td_memory_reset_peak(void); /* of the calling thread's account */
/* The peak of a part of what the thread's account does: what begin returned goes to end, which keeps the larger. */
uint64_t td_memory_peak_begin(void);
void td_memory_peak_end(uint64_t before);

/* What is refused to the calling thread (td_refuse) if its call takes so many bytes in all, or if it lacks so many more
 * and nobody knows how many the whole call takes. */
td_refusal td_memory_refusal(uint64_t minimum);
td_refusal td_memory_lack(uint64_t more);

/* A budget for all of the process, of which `besides` is not asked for here: code, stacks, libraries. */
void td_memory_set_budget_besides(uint64_t bytes, uint64_t besides);

/* Applies the limit that td_memory_set_limit has set, if any: measures what the process holds besides. */
void td_memory_apply_limit(bool on_disk);
bool td_memory_counts_process(void); /* td_memory_set_limit has set the limit */
/* Raises the budgets that bind the calling thread by so many bytes, or lowers them again: for finding out how much memory
 * a call that was refused needs. */
void td_memory_lend(int64_t bytes);
void td_huge_pages(bool on);
bool td_huge_pages_on(void);

uint64_t td_alloc_requests(void); /* so far */

/* Tests: the nth request from now fails (1 = the next one), 0 = none. */
void td_alloc_fail_at(uint64_t nth);

#endif
