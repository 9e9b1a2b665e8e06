/* When an attempt counts as endless: by the processor's time, because a machine with other work may leave a process hardly
 * any; by the clock only after ten times as long, for one that waits. */
#ifndef TD_FUZZ_HANG_H
#define TD_FUZZ_HANG_H

#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* SIGPROF after so many seconds of processor time, SIGALRM after ten times as many; 0: no more. */
static inline void fuzz_limit(unsigned seconds)
{
    struct itimerval timer = {.it_value.tv_sec = seconds};
    setitimer(ITIMER_PROF, &timer, NULL);
    alarm(10 * seconds);
}

/* Processor time of all threads: a fuzzer's limit means as many attempts on a busy machine as on an idle one. */
static inline double fuzz_processor_seconds(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (double)used.tv_sec + (double)used.tv_nsec * 1e-9;
}

#endif
