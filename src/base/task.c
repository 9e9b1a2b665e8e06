#include "base/task.h"

#include "base/account.h"

static void *run_task(void *context)
{
    td_task *task = context;
    uint64_t time = 0;
    td_status status = task->work(task->context, &time);
    td_loop_complete(task->loop, time, task->handler, task->context, status, task->value);
    return NULL;
}

static void *thread_main(void *context)
{
    td_task *task = context;
    td_account_help(task->account);
    return run_task(task);
}

void td_task_start(td_task *task)
{
    td_loop_expect(task->loop);
    task->account = td_account_current();
    task->joins = pthread_create(&task->thread, NULL, thread_main, task) == 0;
    if (!task->joins) (void)run_task(task);
}

void td_task_join(td_task *task)
{
    if (task->joins) pthread_join(task->thread, NULL);
    task->joins = false;
}
