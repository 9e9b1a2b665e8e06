/* When a fuzzer dies, by a signal or by a sanitizer, it says what repeats the attempt. */
#ifndef TD_FUZZ_DEATHS_H
#define TD_FUZZ_DEATHS_H

#include <signal.h>
#include <string.h>
#include <unistd.h>

/* Ready to be written from a signal handler: the attempt under way, and what it runs, where that is said. */
static char repeat_line[200], run_line[2000];

static void say_where(void)
{
    ssize_t ignored = write(STDERR_FILENO, run_line, strlen(run_line));
    ignored = write(STDERR_FILENO, repeat_line, strlen(repeat_line));
    (void)ignored;
}

static void on_signal(int number)
{
    say_where();
    signal(number, SIG_DFL);
    raise(number);
}

extern void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void watch_for_death(void)
{
    static const int deaths[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM, SIGPROF};
    if (__sanitizer_set_death_callback != NULL) __sanitizer_set_death_callback(say_where);
    for (size_t i = 0; i < sizeof deaths / sizeof *deaths; i++)
        if (__sanitizer_set_death_callback == NULL || deaths[i] == SIGALRM || deaths[i] == SIGPROF)
            signal(deaths[i], on_signal);
}

#endif
