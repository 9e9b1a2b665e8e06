/* A whole run on the CPU: the schedule of the program. */
#include "cpu/cpu.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "run/sweep.h"

/* Takes the values of a checkpoint whose run had converged. */
static td_status take_over(td_cpu_job *job)
{
    td_cpu_tally sum;
    job->run->converged = true;
    TD_CHECK(td_cpu_declare_forest(job, &(td_cpu_memory){0}));
    return td_cpu_init(job, &sum);
}

static td_status run_schedule(td_cpu_job *job)
{
    if (job->run->resumed != NULL && job->run->resumed->converged) return take_over(job);
    if (job->run->program->info->kind == TD_KIND_SWEEP) return td_cpu_sweep(job);
    if (job->setup.bucketed) return td_cpu_bucket(job);
    return job->kernels->schedule == TD_SCHEDULE_PEEL ? td_cpu_peel(job) : td_cpu_rounds(job);
}

td_status td_cpu_run(td_run *run, const td_run_options *options)
{
    td_status status = TD_OK;
    td_cpu_job job = {0};
    TD_TRY(td_cpu_job_open(&job, run, options));
    job.progress.began = td_clock_ns();
    TD_TRY(run_schedule(&job));
    td_checkpoints_finish(run);
    td_run_end_processing(run, job.progress.began);
    if (!job.setup.bucketed) TD_TRY(td_cpu_report_workers(&job)); /* buckets have one counter for all workers */
    if (run->edges != NULL) TD_TRY(td_sweep_end_forest(run, options->pool));
    if (options->parents) TD_TRY(td_cpu_find_parents(&job));
    TD_TRY(td_cpu_copy_result(&job));
done:
    td_cpu_job_close(&job);
    return status;
}
