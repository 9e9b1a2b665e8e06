/* Sweeps on the device: every edge once, then every vertex. Components are sampled first, as in src/cpu/sweep.c. */
#include "gpu/rounds.h"

#include "base/clock.h"
#include "run/sweep.h"

td_status td_gpu_vertex_steps(td_gpu_job *job)
{
    for (uint32_t step = 0; step < (uint32_t)job->traits->steps; step++) {
        td_between_args args = {.state = job->state, .step = step, .end_vertex = job->graph->vertices};
        TD_CHECK(td_gpu_launch(job, job->stream, &job->kernels->between, job->graph->vertices, &args));
    }
    return TD_OK;
}

td_status td_gpu_collect_edges(td_gpu_job *job)
{
    td_collect_args args = {.state = job->state, .edges = job->arrays.edges,
                            .count = &job->state.control->edge_count, .end_vertex = job->graph->vertices};
    if (args.edges == NULL) return TD_OK;
    return td_gpu_launch(job, job->stream, &job->kernels->collect, job->graph->vertices, &args);
}

td_status td_gpu_label_drawn(td_gpu_job *job)
{
    td_labels_args args = {.state = job->state, .labels = job->arrays.drawn};
    return td_gpu_launch(job, job->stream, &job->kernels->draw, TD_GPU_DRAWN, &args);
}

/* Finds the most frequent label among random vertices. */
td_status td_gpu_find_commonest(td_gpu_job *job)
{
    uint32_t labels[TD_GPU_DRAWN];
    for (uint64_t i = 0; i < TD_GPU_DRAWN; i++) labels[i] = td_sweep_drawn(job->graph, i);
    TD_CHECK(td_stream_copy(job->stream, job->arrays.drawn, labels, sizeof labels, TD_TO_DEVICE));
    TD_CHECK(td_gpu_label_drawn(job));
    TD_CHECK(td_stream_copy(job->stream, labels, job->arrays.drawn, sizeof labels, TD_TO_HOST));
    TD_CHECK(td_stream_synchronize(job->stream));
    job->left_out = td_sweep_commonest(labels, TD_GPU_DRAWN);
    return TD_OK;
}

td_status td_gpu_sample(td_gpu_job *job, td_gpu_list list)
{
    uint64_t began = td_clock_ns();
    td_row row = {.direction = "sample", .active_vertices = job->graph->vertices};
    TD_CHECK(td_gpu_reset(job));
    for (uint32_t i = 0; i < job->samples; i++) {
        for (uint32_t share = 0; share < 2; share++) {
            td_sample_args args = {.state = job->state, .list = list, .step = i, .share = share,
                                   .end_vertex = job->graph->vertices};
            TD_CHECK(td_gpu_launch(job, job->stream, &job->kernels->sample, job->graph->vertices, &args));
            if (i > 0 || share > 0) TD_CHECK(td_gpu_vertex_steps(job));
        }
    }
    TD_CHECK(td_gpu_find_commonest(job));
    TD_CHECK(td_gpu_read(job, 0));
    job->skipping = true;
    row.edges = row.active_edges = job->control->tally.edges;
    return td_gpu_end_iteration(job, &row, began, td_seconds_since(began));
}

/* After a checkpoint: finds the largest component. The sampled edges are unknown, so sweeps visit all edges of the
 * others. */
td_status td_gpu_exclude_largest(td_gpu_job *job)
{
    TD_CHECK(td_gpu_find_commonest(job));
    job->sampled = 0;
    job->skipping = true;
    return TD_OK;
}

static td_status sweep_once(td_gpu_job *job, bool *again)
{
    uint64_t began = td_clock_ns();
    td_row row = {.direction = "sweep", .active_vertices = job->graph->vertices};
    TD_CHECK(td_gpu_reset(job));
    td_gpu_part all = td_gpu_all(job);
    td_sweep_args args = td_gpu_sweep_args(job, job->push_list, &all);
    TD_CHECK(td_gpu_sweep_part(job, job->stream, &args));
    TD_CHECK(td_gpu_vertex_steps(job));
    TD_CHECK(td_gpu_collect_edges(job));
    TD_CHECK(td_gpu_read(job, 0));
    *again = job->kernels->again(&job->state.context, job->control->tally.total);
    row.edges = row.active_edges = job->control->tally.edges;
    return td_gpu_end_iteration(job, &row, began, td_seconds_since(began));
}

td_status td_gpu_run_sweeps(td_gpu_job *job)
{
    bool again = true, resumed = job->run->resumed != NULL, samples = job->traits->samples && job->samples > 0;
    TD_CHECK(td_gpu_init(job));
    if (samples && resumed) TD_CHECK(td_gpu_exclude_largest(job));
    else if (samples) TD_CHECK(td_gpu_sample(job, job->push_list));
    while (again && !(job->has_limit && job->state.context.iteration >= job->limit)) {
        if (job->state.context.iteration > 0) TD_CHECK(td_gpu_checkpoint(job));
        TD_CHECK(sweep_once(job, &again));
    }
    job->run->converged = !again;
    return td_gpu_checkpoint(job);
}
