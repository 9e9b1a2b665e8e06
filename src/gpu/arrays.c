/* Device arrays of a run and their initial contents; sizes of its cooperative launches. */
#include "gpu/rounds.h"

td_status td_gpu_clear_map(td_gpu_job *job, uint32_t *map)
{
    return map != NULL ? td_stream_fill(job->stream, map, 0, td_gpu_words(job) * sizeof(uint32_t)) : TD_OK;
}

uint64_t td_gpu_piece_count(const td_gpu_job *job)
{
    uint64_t edges = td_gpu_view_edges(job), tails = job->graph->tails != NULL ? job->graph->tails->edges : 0;
    if (tails > edges) edges = tails; /* pushed at the end */
    return edges / TD_GPU_WARP_PIECE + edges / job->high_degree + 2;
}

static td_status declare_frontier(td_gpu_job *job)
{
    uint64_t n = job->graph->vertices, words = (n + 31) / 32;
    td_gpu_arrays *arrays = &job->arrays;
    TD_CHECK(td_gpu_new(job, &arrays->pieces, td_gpu_piece_count(job), sizeof(uint64_t),
                        "pieces of high-degree vertices"));
    for (int i = 0; i < 2; i++) TD_CHECK(td_gpu_new(job, &arrays->queue[i], n, sizeof(uint32_t), "queue of vertices"));
    TD_CHECK(td_gpu_new(job, &job->state.next_active, words, sizeof(uint32_t), "active vertices"));
    if (job->traits->first_hit) TD_CHECK(td_gpu_new(job, &arrays->late, n, sizeof(uint32_t), "late vertices"));
    if (job->traits->schedule == TD_SCHEDULE_PEEL && job->cores != TD_CORES_HISTOGRAM) {
        TD_CHECK(td_gpu_new(job, &arrays->left, n, sizeof(uint32_t), "remaining vertices"));
        TD_CHECK(td_gpu_new(job, &arrays->next_left, n, sizeof(uint32_t), "remaining vertices"));
    }
    if (job->cores != TD_CORES_ROUNDS) TD_CHECK(td_gpu_declare_cores(job));
    if (!job->prioritised) return TD_OK;
    for (int i = 0; i < 2; i++) TD_CHECK(td_gpu_new(job, &arrays->far[i], n, sizeof(uint32_t), "deferred vertices"));
    return td_gpu_new(job, &arrays->far_map, words, sizeof(uint32_t), "deferred vertices");
}

static td_status declare_sweep(td_gpu_job *job)
{
    td_gpu_arrays *arrays = &job->arrays;
    uint64_t n = job->graph->vertices;
    TD_CHECK(td_gpu_new(job, &arrays->pieces, td_gpu_piece_count(job), sizeof(uint64_t),
                        "pieces of high-degree vertices"));
    TD_CHECK(td_gpu_new(job, &arrays->drawn, TD_GPU_DRAWN, sizeof(uint32_t), "labels drawn"));
    if (job->traits->edge != NULL)
        TD_CHECK(td_gpu_new(job, &arrays->edges, n, sizeof(uint64_t), "edges of the forest"));
    if (job->traits->value_bytes != sizeof(uint32_t))
        TD_CHECK(td_gpu_new(job, &arrays->labels, n, sizeof(uint32_t), "labels"));
    return TD_OK;
}

td_status td_gpu_declare_arrays(td_gpu_job *job)
{
    uint64_t n = job->graph->vertices;
    td_gpu_arrays *arrays = &job->arrays;
    TD_CHECK(td_gpu_declare_values(job));
    if (job->options->parents) TD_CHECK(td_gpu_new(job, &arrays->parents, n, sizeof(uint32_t), "parents"));
    if (!td_gpu_is_gas(job)) return declare_sweep(job);
    TD_CHECK(td_gpu_new(job, &job->state.active, td_gpu_words(job), sizeof(uint32_t), "active vertices"));
    if (job->traits->fused) TD_CHECK(declare_frontier(job));
    if (!job->accumulates || job->shards) return TD_OK;
    return td_gpu_new(job, &arrays->sums, n, job->traits->accum_bytes, "sums");
}

/* Of joined lists the in-list comes first: each is sorted for itself. */
static td_status count_neighbours(td_gpu_job *job)
{
    td_neighbours_args args = {.list = job->push_list, .second = job->both ? job->state.out_offsets : NULL,
                               .counts = (double *)(uintptr_t)job->state.context.input[0],
                               .vertices = job->graph->vertices};
    return td_gpu_launch(job, job->stream, &job->kernels->count_neighbours, job->graph->vertices, &args);
}

td_status td_gpu_fill_arrays(td_gpu_job *job)
{
    TD_CHECK(td_gpu_send_inputs(job));
    if (job->run->counts_neighbours) TD_CHECK(count_neighbours(job));
    TD_CHECK(td_gpu_clear_map(job, job->state.next_active));
    TD_CHECK(td_gpu_clear_map(job, job->arrays.far_map));
    return job->arrays.sums != NULL ? td_gpu_clear_sums(job, job->arrays.sums) : TD_OK;
}

/* Computes the number of blocks of cooperative launches, from the occupancy. */
td_status td_gpu_size_loops(td_gpu_job *job)
{
    const td_gpu_kernels *k = job->kernels;
    bool plain = job->balance == TD_BALANCE_WARP;
    uint32_t most;
    if (!job->traits->fused) return TD_OK;
    bool parts = job->core_prefix.offsets != NULL;
    if (job->cores == TD_CORES_PEEL) job->loop = parts ? &k->cores_peel_parts.kernel : &k->cores_peel.kernel;
    else if (job->cores == TD_CORES_HISTOGRAM) job->loop = &k->cores_histogram.kernel;
    else if (job->prioritised && plain) job->loop = job->lean ? &k->priorities_lean.kernel : &k->priorities.kernel;
    else if (job->prioritised) job->loop = &k->priorities_otherwise.kernel;
    else if (plain) job->loop = job->lean ? &k->levels_lean.kernel : &k->levels.kernel;
    else job->loop = &k->levels_otherwise.kernel;
    TD_CHECK(td_device_occupancy(job->device, job->loop, TD_GPU_THREADS, 0, &most));
    uint32_t few = (uint32_t)job->device->properties.multiprocessors;
    job->blocks_many = most;
    job->blocks_few = few < most ? few : most;
    job->blocks_cluster = plain ? job->device->properties.cluster : 0;
    return most > 0 ? TD_OK : td_fail(TD_DEVICE, "%s: no block of the kernel '%s' fits on a multiprocessor",
                                      job->device->name,
                                         job->loop->name);
}
