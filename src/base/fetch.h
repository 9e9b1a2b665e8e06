/* Fetching memory ahead of its use. __builtin_prefetch alone counts as having no
 * effect: gcc takes a function of nothing else for a pure one and drops the calls
 * of it. The empty asm is the effect that keeps them. */
#ifndef TD_BASE_FETCH_H
#define TD_BASE_FETCH_H

static inline __attribute__((always_inline)) void td_fetch(const void *address)
{
    __builtin_prefetch(address);
    __asm__ volatile("");
}

#endif
