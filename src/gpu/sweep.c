/* Sweeps on the device: every edge once, then every vertex. Components are sampled
 * first, as by the cpu engine (cpu_sweep.c). */
#include "gpu/rounds.h"

#include "base/clock.h"
#include "run/sweep.h"

td_status td_gpu_vertex_steps(td_gpu_job *job)
{
    for (job->args.step = 0; job->args.step < (uint32_t)job->traits->steps; job->args.step++)
        TD_CHECK(td_gpu_launch(job, &job->kernels->between, job->graph->vertices));
    return TD_OK;
}

/* The commonest label among vertices drawn at random. */
td_status td_gpu_find_commonest(td_gpu_job *job)
{
    uint32_t labels[TD_GPU_DRAWN];
    for (uint64_t i = 0; i < TD_GPU_DRAWN; i++) labels[i] = td_sweep_drawn(job->graph, i);
    TD_CHECK(td_stream_copy(job->stream, job->args.drawn, labels, sizeof labels, TD_TO_DEVICE));
    TD_CHECK(td_gpu_launch(job, &job->kernels->draw, TD_GPU_DRAWN));
    TD_CHECK(td_stream_copy(job->stream, labels, job->args.drawn, sizeof labels, TD_TO_HOST));
    TD_CHECK(td_stream_synchronize(job->stream));
    job->args.left_out = td_sweep_commonest(labels, TD_GPU_DRAWN);
    return TD_OK;
}

td_status td_gpu_sample(td_gpu_job *job)
{
    uint64_t began = td_clock_ns();
    td_iteration row = {.direction = "sample", .active_vertices = job->graph->vertices};
    TD_CHECK(td_gpu_reset(job));
    for (uint32_t i = 0; i < job->args.samples; i++) {
        for (job->args.share = 0; job->args.share < 2; job->args.share++) {
            job->args.step = i;
            TD_CHECK(td_gpu_launch(job, &job->kernels->sample, job->graph->vertices));
            if (i > 0 || job->args.share > 0) TD_CHECK(td_gpu_vertex_steps(job));
        }
    }
    TD_CHECK(td_gpu_find_commonest(job));
    TD_CHECK(td_gpu_read(job, 0));
    job->args.skipping = true;
    row.edges = row.active_edges = job->control->tally.edges;
    return td_gpu_end_iteration(job, &row, began, td_seconds_since(began));
}

/* After a checkpoint: the largest component is known, but not which edges of every vertex were looked at. */
td_status td_gpu_leave_out(td_gpu_job *job)
{
    TD_CHECK(td_gpu_find_commonest(job));
    job->args.sampled = 0;
    job->args.skipping = true;
    return TD_OK;
}

static td_status sweep_once(td_gpu_job *job, bool *again)
{
    uint64_t began = td_clock_ns();
    td_iteration row = {.direction = "sweep", .active_vertices = job->graph->vertices};
    TD_CHECK(td_gpu_reset(job));
    TD_CHECK(td_gpu_launch(job, &job->kernels->sweep, job->graph->vertices));
    TD_CHECK(td_gpu_launch_blocks(job, &job->kernels->sweep_pieces, UINT32_MAX, 0));
    TD_CHECK(td_gpu_vertex_steps(job));
    if (job->args.edges != NULL) TD_CHECK(td_gpu_launch(job, &job->kernels->collect, job->graph->vertices));
    TD_CHECK(td_gpu_read(job, 0));
    *again = job->kernels->again(&job->args.context, job->control->tally.total);
    row.edges = row.active_edges = job->control->tally.edges;
    return td_gpu_end_iteration(job, &row, began, td_seconds_since(began));
}

td_status td_gpu_run_sweeps(td_gpu_job *job)
{
    bool again = true, resumed = job->run->resumed != NULL, samples = job->traits->samples && job->args.samples > 0;
    TD_CHECK(td_gpu_init(job));
    if (samples && resumed) TD_CHECK(td_gpu_leave_out(job));
    else if (samples) TD_CHECK(td_gpu_sample(job));
    while (again && !(job->has_limit && job->args.context.iteration >= job->limit)) {
        if (job->args.context.iteration > 0) TD_CHECK(td_gpu_checkpoint(job));
        TD_CHECK(sweep_once(job, &again));
    }
    job->run->converged = !again;
    return td_gpu_checkpoint(job);
}
