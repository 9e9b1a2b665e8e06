/* Prefetching. gcc treats a function that only calls __builtin_prefetch as pure and
 * removes calls of it; the empty asm prevents that. */
#ifndef TD_BASE_FETCH_H
#define TD_BASE_FETCH_H

static inline __attribute__((always_inline)) void td_fetch(const void *address)
{
    __builtin_prefetch(address);
    __asm__ volatile("");
}

#endif
