/* Failing with a message.
 *
 * A message refers to options by their neutral names in braces, which every face
 * has names of its own for (names.h). The first of them is the option of the
 * td_refusal that accompanies the message.
 *
 * A function that fails calls td_fail (or td_fail_errno) once, where the cause
 * is known, and its callers hand the status up: TD_TRY jumps to the single
 * `done:` label of a function that has something to release, TD_CHECK returns
 * at once from one that has nothing. The message is kept per thread; the
 * thread pool carries it from a worker to the caller.
 */
#ifndef TD_BASE_STATUS_H
#define TD_BASE_STATUS_H

#include "tandem.h"

#if defined(__GNUC__)
#define TD_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define TD_PRINTF(text, first)
#endif

/* Sets the message and returns `status`. */
td_status td_fail(td_status status, const char *format, ...) TD_PRINTF(2, 3);

/* The same, followed by ": " and the text of `error` (an errno value). */
td_status td_fail_errno(td_status status, int error, const char *format, ...) TD_PRINTF(3, 4);

/* Fails with TD_NO_MEMORY and keeps what was refused, for td_last_refusal. */
td_status td_refuse(const td_refusal *refusal, const char *format, ...) TD_PRINTF(2, 3);

/* The same with another status: a lack of threads, files or disk is no lack of memory. */
td_status td_refuse_as(td_status status, const td_refusal *refusal, const char *format, ...) TD_PRINTF(3, 4);

/* Fails because a thread could not be started, which pthread_create refused with `error`; `threads`: of the process,
 * with this one, as far as the caller knows. */
td_status td_refuse_thread(int error, uint64_t threads, const char *format, ...) TD_PRINTF(3, 4);

/* Adds to a failure the topic (a program or an engine) whose settings were violated. */
td_status td_see(const char *topic, td_status status);

/* Replaces the message alone, or what was refused alone. */
void td_message_set(const char *message);
void td_refusal_set(const td_refusal *refusal);

/* Replaces control characters by question marks, also those of UTF-8 (U+0080..U+009F) and the marks that turn the
 * direction of text: a file name must not command a terminal. All messages and log lines are masked. */
char *td_mask(char *text); /* returns `text` */

/* Puts "context: " in front of the message (file names, mostly), or text behind it. What was refused stays. */
td_status td_fail_context(td_status status, const char *format, ...) TD_PRINTF(2, 3);
td_status td_fail_add(td_status status, const char *format, ...) TD_PRINTF(2, 3);

#define TD_MESSAGE_BYTES 1024

/* A failure as the thread remembers it: kept while others may replace it, or to be carried to another thread. */
typedef struct td_failure {
    char message[TD_MESSAGE_BYTES];
    td_refusal refusal;
} td_failure;
void td_failure_keep(td_failure *out);
void td_failure_set(const td_failure *failure);

/* Needs `td_status status = TD_OK;` and a label `done:` in the function. */
#define TD_TRY(call)                        \
    do {                                    \
        status = (call);                    \
        if (status != TD_OK) goto done;     \
    } while (0)

#define TD_CHECK(call)                      \
    do {                                    \
        td_status check_ = (call);          \
        if (check_ != TD_OK) return check_; \
    } while (0)

#endif
