#include "base/task.h"

static void *run_task(void *context)
{
    td_task *task = context;
    uint64_t time = 0;
    td_status status = task->work(task->context, &time);
    td_loop_complete(task->loop, time, task->handler, task->context, status, task->value);
    return NULL;
}

void td_task_start(td_task *task)
{
    td_loop_expect(task->loop);
    task->joins = pthread_create(&task->thread, NULL, run_task, task) == 0;
    if (!task->joins) (void)run_task(task);
}

void td_task_join(td_task *task)
{
    if (task->joins) pthread_join(task->thread, NULL);
    task->joins = false;
}
