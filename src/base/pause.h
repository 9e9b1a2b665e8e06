/* One turn of a loop that waits for another thread's word: tells the core that it waits, so that it takes less from
 * the thread beside it and leaves the loop without a pipeline full of wrong guesses. */
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
