/* The event loop, which delivers completions.
 *
 * Devices and I/O post completions from any thread; the one thread that runs
 * the loop calls their handlers, one at a time, in the order of their times
 * (ties: the order in which they were posted). A real device posts with the
 * time 0, "now"; the emulator posts with the virtual time at which the work
 * ends, and may post ahead: the loop delivers such a completion only when
 * nothing earlier can still arrive, that is, once every operation announced
 * with td_loop_expect has posted, and once no clock of the loop has anything
 * left to do before that time.
 */
#ifndef TD_BASE_LOOP_H
#define TD_BASE_LOOP_H

#include "base/status.h"

typedef struct td_loop td_loop;
typedef void (*td_handler)(void *context, td_status status, uint64_t value);

td_status td_loop_create(td_loop **out);
void td_loop_destroy(td_loop *loop); /* undelivered completions are dropped */

/* Reserves space for `count` completions, so that announcing them cannot fail. */
td_status td_loop_reserve(td_loop *loop, uint64_t count);

/* Announces one completion; the loop waits for it. */
void td_loop_expect(td_loop *loop);

/* Delivers an announced completion. Any thread. `time` in nanoseconds of the
 * poster's clock, 0 for now. The message of a failed status is carried along. */
void td_loop_complete(td_loop *loop, uint64_t time, td_handler handler, void *context, td_status status,
                      uint64_t value);

/* The time of the completion being handled (0 for real devices). */
uint64_t td_loop_time(const td_loop *loop);

/* When the completion was posted, by the host's clock (td_clock_ns): earlier handlers may have delayed its delivery. */
uint64_t td_loop_arrived(const td_loop *loop);

/* Handles completions until none is queued or announced, td_loop_stop is
 * called, or a cancel is requested (TD_CANCELLED). A stop ends one run: the
 * current one or, if there is none, the next; so it cannot be missed.
 * Completions that were not delivered stay queued. */
td_status td_loop_run(td_loop *loop);
void td_loop_stop(td_loop *loop); /* any thread */

/* A virtual clock: a device whose work happens when the loop comes to its time. The functions are called by the thread
 * that runs the loop. */
typedef struct td_loop_clock {
    struct td_loop_clock *next; /* the loop's own */
    void *context;
    bool (*pending)(void *context, uint64_t *time);  /* when the next thing happens; false: no completion is to come */
    void (*advance)(void *context);                  /* lets it happen */
    void (*delivered)(void *context, uint64_t time); /* a completion of this time is about to be handled */
} td_loop_clock;

void td_loop_add_clock(td_loop *loop, td_loop_clock *clock);
void td_loop_remove_clock(td_loop *loop, td_loop_clock *clock);

/* Handles what has happened up to this time, and waits for nothing. */
td_status td_loop_poll(td_loop *loop, uint64_t until);

#endif
