/* Work beside the event loop: a job on a thread of its own, whose end is a completion like any other. */
#ifndef TD_BASE_TASK_H
#define TD_BASE_TASK_H

#include "base/loop.h"

#include <pthread.h>

/* *time: when it ended, as td_loop_complete takes it; 0, now, unless the work says otherwise. */
typedef td_status (*td_task_work)(void *context, uint64_t *time);

typedef struct td_task {
    td_loop *loop;
    td_task_work work;
    td_handler handler;
    void *context; /* of both */
    uint64_t value;
    struct td_account *account; /* of whoever started it */
    pthread_t thread;
    bool joins;    /* the thread is still to be waited for */
} td_task;

/* Starts the work; one at a time per task. Where there is no thread to be had it is done at once, by the caller. */
void td_task_start(td_task *task);

/* Waits until the work is through: in the handler, or where the loop runs no more. */
void td_task_join(td_task *task);

#endif
