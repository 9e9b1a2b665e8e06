/* One turn of a spin loop: the pause instruction leaves more of the core to its other hardware thread and avoids
 * mispredicted loads at the end of the loop. */
#ifndef TD_BASE_PAUSE_H
#define TD_BASE_PAUSE_H

static inline void td_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb"); /* about as long as x86's pause; `yield` does nothing on most cores */
#endif
}

#endif
