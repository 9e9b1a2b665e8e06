#include "gpu/launch.h"

enum { THREADS_PER_PROCESSOR = 2048 };

static td_status launch(td_stream *stream, const td_kernel *kernel, uint64_t blocks, uint32_t shared_bytes,
                        const void *args, size_t bytes)
{
    td_launch shape = {.blocks = blocks == 0 ? 1 : (uint32_t)blocks, .threads = TD_GPU_THREADS,
                       .shared_bytes = shared_bytes};
    return td_stream_launch(stream, kernel, shape, args, bytes);
}

/* Smaller blocks, so that all multiprocessors have about as many threads: blocks of 256 would leave some without any, or with
 * one block less than others. */
static td_launch even_shape(uint64_t threads, uint64_t processors)
{
    uint64_t each = processors * TD_GPU_THREADS, waves = (threads + each - 1) / each, places = processors * waves;
    uint64_t size = places == 0 ? 32 : ((threads + places - 1) / places + 31) / 32 * 32;
    if (size < 32) size = 32;
    return (td_launch){.blocks = threads == 0 ? 1 : (uint32_t)((threads + size - 1) / size), .threads = (uint32_t)size};
}

static uint64_t blocks_of(uint64_t threads) { return (threads + TD_GPU_THREADS - 1) / TD_GPU_THREADS; }

td_status td_gpu_launch_blocks_bytes(const td_gpu_job *job, td_stream *stream, const td_kernel *kernel, uint64_t blocks,
                                     uint32_t shared_bytes, const void *args, size_t bytes)
{
    uint64_t most = (uint64_t)job->device->properties.multiprocessors * (THREADS_PER_PROCESSOR / TD_GPU_THREADS);
    return launch(stream, kernel, blocks < most ? blocks : most, shared_bytes, args, bytes);
}

td_status td_gpu_launch_each_bytes(td_stream *stream, const td_kernel *kernel, uint64_t threads, const void *args,
                                   size_t bytes)
{
    uint64_t blocks = blocks_of(threads);
    return launch(stream, kernel, blocks < INT32_MAX ? blocks : INT32_MAX, 0, args, bytes);
}

td_status td_gpu_launch_bytes(const td_gpu_job *job, td_stream *stream, const td_kernel *kernel, uint64_t threads,
                              const void *args, size_t bytes)
{
    uint64_t processors = (uint64_t)job->device->properties.multiprocessors;
    if (!job->even || threads >= processors * THREADS_PER_PROCESSOR)
        return td_gpu_launch_blocks_bytes(job, stream, kernel, blocks_of(threads), 0, args, bytes);
    return td_stream_launch(stream, kernel, even_shape(threads, processors), args, bytes);
}

td_gpu_part td_gpu_all(const td_gpu_job *job)
{
    return (td_gpu_part){.end_edge = UINT64_MAX, .end_vertex = job->graph->vertices};
}

/* Sums. */

td_status td_gpu_clear_sums(const td_gpu_job *job, void *sums)
{
    td_apply_args args = {.state = job->state, .sums = sums, .end_vertex = job->graph->vertices};
    return td_gpu_launch(job, job->stream, &job->kernels->clear_sums, job->graph->vertices, &args);
}

td_pull_args td_gpu_pull_args(const td_gpu_job *job, td_gpu_list list, const td_gpu_segments *segments, uint64_t first,
                              uint64_t end, void *sums)
{
    return (td_pull_args){.state = job->state, .list = list, .segments = *segments, .first_piece = first / TD_GPU_TILE,
                          .end_piece = (end + TD_GPU_TILE - 1) / TD_GPU_TILE, .sums = sums};
}

td_status td_gpu_apply(const td_gpu_job *job, td_stream *stream, void *sums, uint64_t first, uint64_t end)
{
    td_apply_args args = {.state = job->state, .sums = sums, .first_vertex = (uint32_t)first,
                          .end_vertex = (uint32_t)end};
    return td_gpu_launch(job, stream, &job->kernels->apply, end - first, &args);
}

td_status td_gpu_pull_hit(const td_gpu_job *job, td_stream *stream, td_gpu_list list, const td_gpu_part *part,
                          bool adding)
{
    td_hit_args args = {.state = job->state, .list = list, .part = *part, .late = job->arrays.late, .adding = adding};
    TD_CHECK(td_gpu_launch(job, stream, &job->kernels->pull_hit, td_gpu_part_threads(part), &args));
    return td_gpu_launch_blocks(job, stream, &job->kernels->pull_late,
                                (uint64_t)job->device->properties.multiprocessors, 0, &args);
}

/* Pushes. */

td_push_args td_gpu_push_args(const td_gpu_job *job, td_gpu_list list)
{
    const td_gpu_arrays *arrays = &job->arrays;
    return (td_push_args){.state = job->state, .list = list, .pieces = arrays->pieces, .far_map = arrays->far_map,
                          .sums = arrays->sums, .one_over_delta = job->one_over_delta,
                          .high_degree = job->high_degree, .lean = job->lean};
}

td_push_part_args td_gpu_push_part_args(const td_gpu_job *job, td_gpu_list list, const td_gpu_part *part)
{
    return (td_push_part_args){.push = td_gpu_push_args(job, list), .part = *part, .bound = job->bound};
}

td_status td_gpu_clear_pieces(const td_gpu_job *job, td_stream *stream)
{
    uint32_t *place = &job->state.control->slot[0].pieces;
    return td_stream_fill(stream, place, 0, sizeof *place);
}

static td_status push_pieces(const td_gpu_job *job, td_stream *stream, const td_push_part_args *args)
{
    if (!job->has_high_degree) return TD_OK;
    return td_gpu_launch_blocks(job, stream, &job->kernels->push_part_pieces, UINT32_MAX, 0, args);
}

static td_status push_alone(const td_gpu_job *job, td_stream *stream, const td_push_part_args *args)
{
    TD_CHECK(td_gpu_launch(job, stream, &job->kernels->push_part, td_gpu_part_threads(&args->part), args));
    return push_pieces(job, stream, args);
}

static td_status push_fragment(const td_gpu_job *job, td_stream *stream, const td_push_part_args *args)
{
    TD_CHECK(td_gpu_launch(job, stream, &job->kernels->push_fragment, td_gpu_part_threads(&args->part), args));
    if (!job->has_high_degree) return TD_OK;
    return td_gpu_launch_blocks(job, stream, &job->kernels->push_fragment_pieces, UINT32_MAX, 0, args);
}

td_status td_gpu_push_part(const td_gpu_job *job, td_stream *stream, const td_push_part_args *args)
{
    if (job->has_high_degree && !job->pieces_clear) TD_CHECK(td_gpu_clear_pieces(job, stream));
    return args->push.fragments == NULL ? push_alone(job, stream, args) : push_fragment(job, stream, args);
}

td_status td_gpu_push_queue(const td_gpu_job *job, td_stream *stream, const td_push_queue_args *args)
{
    if (job->has_high_degree) TD_CHECK(td_gpu_clear_pieces(job, stream));
    TD_CHECK(td_gpu_launch(job, stream, &job->kernels->push_queue, args->count, args));
    return push_pieces(job, stream, &args->part);
}

/* Sweeps and parents. */

td_sweep_args td_gpu_sweep_args(const td_gpu_job *job, td_gpu_list list, const td_gpu_part *part)
{
    return (td_sweep_args){.state = job->state, .list = list, .part = *part, .pieces = job->arrays.pieces,
                           .high_degree = job->high_degree, .sampled = job->sampled, .left_out = job->left_out,
                           .skipping = job->skipping};
}

td_status td_gpu_sweep_part(const td_gpu_job *job, td_stream *stream, const td_sweep_args *args)
{
    TD_CHECK(td_gpu_launch(job, stream, &job->kernels->sweep, td_gpu_part_threads(&args->part), args));
    return td_gpu_launch_blocks(job, stream, &job->kernels->sweep_pieces, UINT32_MAX, 0, args);
}

td_status td_gpu_find_parents(const td_gpu_job *job, td_stream *stream, td_gpu_list list, const td_gpu_part *part,
                              bool adding)
{
    td_parents_args args = {.state = job->state, .list = list, .part = *part, .parents = job->arrays.parents,
                            .adding = adding};
    uint64_t threads = (uint64_t)(part->end_vertex - part->first_vertex) * 32; /* one warp per vertex */
    return td_gpu_launch(job, stream, &job->kernels->find_parents, threads, &args);
}
