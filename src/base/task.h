/* Work beside the event loop: a job on a thread of its own, whose end is a completion. */
#ifndef TD_BASE_TASK_H
#define TD_BASE_TASK_H

#include "base/loop.h"

#include <pthread.h>

/* *time: when the work ended, for td_loop_complete; 0 (now) unless the work sets it. */
typedef td_status (*td_task_work)(void *context, uint64_t *time);

typedef struct td_task {
    td_loop *loop;
    td_task_work work;
    td_handler handler;
    void *context; /* of both */
    uint64_t value;
    struct td_account *account; /* of whoever started it */
    pthread_t thread;
    bool joins;    /* the thread has not been joined yet */
} td_task;

/* Starts the work; one at a time per task. If no thread can be created, the caller does the work itself. */
void td_task_start(td_task *task);

/* Waits until the work has ended: called in the handler, or when the loop no longer runs. */
void td_task_join(td_task *task);

#endif
