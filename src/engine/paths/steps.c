/* Steps and walks on a GPU: launches between an empty tally and its copy at the host; and the result. */
#include "engine/paths/batches.h"
#include "engine/paths/several.h"

#include "base/alloc.h"

#include <string.h>

td_paths_args td_paths_gpu_args(td_paths_job *self)
{
    td_paths_args args = self->gpu->args;
    const td_path_state *now = &self->steps.state;
    td_context *c = &args.state.context;
    args.state = self->gpu->job.state;
    *c = self->cpu.context;
    memcpy(c->input, self->gpu->job.state.context.input, sizeof c->input);
    args.paths.least = now->least;
    args.paths.one_over_delta = now->one_over_delta;
    args.paths.bound = now->bound;
    args.paths.scale = now->scale;
    args.paths.round = now->round;
    args.paths.all = now->all;
    args.stores = self->steps.stores;
    args.list = self->steps.list != NULL ? self->gpu->members + (self->steps.list - self->index.members) : NULL;
    args.span.ranks = NULL;
    return args;
}

static td_status launch(td_paths_job *self, td_paths_step step, const td_paths_args *args)
{
    const td_gpu_job *job = &self->gpu->job;
    const td_gpu_kernels *k = job->kernels;
    uint64_t units = args->units, lanes = TD_PATH_LANES;
    switch (step) {
    case TD_PATHS_WALK:
        units = (args->span.partitions + args->span.early_count) * lanes;
        if (args->paths.packs != NULL) return td_gpu_launch(job, job->stream, &k->path_packed_walks, units, args);
        if (self->gpu->warps) return td_gpu_launch(job, job->stream, &k->path_warp_walks, units, args);
        return td_gpu_launch(job, job->stream, &k->path_walks, units, args);
    case TD_PATHS_PUSH: return td_gpu_launch(job, job->stream, &k->path_pushes, units * lanes, args);
    case TD_PATHS_INIT: return td_gpu_launch(job, job->stream, &k->path_starts, units, args);
    case TD_PATHS_OPEN: return td_gpu_launch(job, job->stream, &k->path_opens, units, args);
    case TD_PATHS_SCAN: return td_gpu_launch(job, job->stream, &k->path_scans, units, args);
    case TD_PATHS_FINISH: return td_gpu_launch(job, job->stream, &k->path_finishes, units, args);
    case TD_PATHS_BALANCE: return td_gpu_launch(job, job->stream, &k->path_balances, units, args);
    case TD_PATHS_TOTAL: return td_gpu_launch(job, job->stream, &k->path_totals, units, args);
    case TD_PATHS_RESCALE: return td_gpu_launch(job, job->stream, &k->path_rescales, units, args);
    case TD_PATHS_CLEAR: return td_gpu_launch(job, job->stream, &k->path_clears, units, args);
    }
    return TD_OK;
}

/* Marks the paths of the vertices that the launch before has listed. */
static td_status launch_notices(td_paths_job *self, td_stream *stream, td_paths_step step, const td_paths_args *args)
{
    const td_gpu_job *job = &self->gpu->job;
    bool lists = step == TD_PATHS_WALK || step == TD_PATHS_INIT || step == TD_PATHS_OPEN || step == TD_PATHS_BALANCE;
    if (!lists || args->paths.late == NULL) return TD_OK;
    return td_gpu_launch_blocks(job, stream, &job->kernels->path_notices,
                                (uint64_t)job->device->properties.multiprocessors, 0, args);
}

/* Clears the tally before a launch that counts in it; end_count copies it to the host. */
static td_status begin_count(td_paths_job *self, td_stream *stream)
{
    TD_CHECK(td_stream_fill(stream, self->gpu->args.tally, 0, sizeof(td_path_tally)));
    return self->gpu->words != NULL ? td_stream_fill(stream, self->gpu->words, 0, TD_PATHS_WORDS * sizeof(uint32_t)) : TD_OK;
}

static td_status end_count(td_paths_job *self, td_stream *stream)
{
    return td_stream_copy(stream, &self->gpu->seen->tally, self->gpu->args.tally, sizeof(td_path_tally), TD_TO_HOST);
}

static td_status queue_launch(td_paths_job *self, td_paths_step step, const td_paths_args *args)
{
    td_stream *stream = self->gpu->job.stream;
    TD_CHECK(begin_count(self, stream));
    TD_CHECK(launch(self, step, args));
    TD_CHECK(launch_notices(self, stream, step, args));
    return end_count(self, stream);
}

static td_status count_launch(td_paths_job *self, td_paths_step step, const td_paths_args *args, td_path_tally *out)
{
    TD_CHECK(queue_launch(self, step, args));
    TD_CHECK(td_stream_synchronize(self->gpu->job.stream));
    *out = self->gpu->seen->tally;
    return TD_OK;
}

td_status td_paths_gpu_clear_words(td_paths_job *self)
{
    return td_stream_fill(self->gpu->job.stream, self->gpu->words, 0, TD_PATHS_WORDS * sizeof(uint32_t));
}

td_status td_paths_gpu_notice(td_paths_job *self, td_path_tally *tally)
{
    td_paths_args args = td_paths_gpu_args(self);
    args.tally = tally;
    return launch_notices(self, self->gpu->job.stream, TD_PATHS_WALK, &args);
}

td_status td_paths_gpu_queue_walk(td_paths_job *self, td_stream *stream, const td_paths_args *args)
{
    const td_gpu_job *job = &self->gpu->job;
    td_paths_args with = *args;
    with.span.next = self->set.steal ? &self->gpu->words[TD_PATHS_WORD_NEXT] : NULL;
    TD_CHECK(begin_count(self, stream));
    uint64_t threads = (uint64_t)with.span.partitions * TD_PATH_LANES;
    TD_CHECK(td_gpu_launch(job, stream, &job->kernels->path_batch_walks, threads, &with));
    TD_CHECK(launch_notices(self, stream, TD_PATHS_WALK, &with));
    return end_count(self, stream);
}

uint64_t td_paths_gpu_warps(const td_paths_job *self)
{
    if (self->gpu->loops) return (uint64_t)self->gpu->most_blocks * (TD_GPU_THREADS / TD_PATH_LANES);
    return (uint64_t)self->gpu->job.device->properties.multiprocessors * TD_PATHS_RESIDENT_WARPS;
}

/* Mirrors of paths at the host come with their batches. */
static bool is_done(const td_paths_job *self, td_paths_step step)
{
    return step == TD_PATHS_CLEAR && self->gpu->batches != NULL && !self->gpu->batches->packed;
}

static td_paths_args step_args(td_paths_job *self, td_paths_step step, uint64_t units)
{
    td_paths_args args = td_paths_gpu_args(self);
    args.units = step == TD_PATHS_CLEAR ? self->steps.mirrors : units;
    return args;
}

td_status td_paths_gpu_queue(td_paths_job *self, td_paths_step step, uint64_t units)
{
    td_stream *stream = self->gpu->job.stream;
    td_paths_args args = step_args(self, step, units);
    if (args.units > 0 && !is_done(self, step)) return queue_launch(self, step, &args);
    TD_CHECK(begin_count(self, stream));
    return end_count(self, stream);
}

td_status td_paths_gpu_do(td_paths_job *self, td_paths_step step, uint64_t units, td_path_tally *out)
{
    td_paths_args args = step_args(self, step, units);
    return is_done(self, step) ? TD_OK : count_launch(self, step, &args, out);
}

/* The arguments of a walk over a group; with `ranks` its marked partitions are listed by their ranks first. */
static td_status span_args(td_paths_job *self, const td_paths_group *group, bool ranks, td_paths_args *args)
{
    const td_gpu_job *job = &self->gpu->job;
    *args = td_paths_gpu_args(self);
    args->span.first_partition = group->first_partition;
    args->span.partitions = group->partitions;
    args->span.next = self->set.steal ? &self->gpu->words[TD_PATHS_WORD_NEXT] : NULL;
    if (!ranks) return TD_OK;
    args->span.ranks = self->gpu->args.span.ranks;
    TD_CHECK(td_stream_fill(job->stream, args->span.classes, 0, 2 * TD_PATH_CLASSES * sizeof(uint32_t)));
    TD_CHECK(td_gpu_launch(job, job->stream, &job->kernels->path_ranks, group->partitions, args));
    return td_gpu_launch(job, job->stream, &job->kernels->path_orders, group->partitions, args);
}

td_status td_paths_gpu_begin_span(td_paths_job *self, const td_paths_group *group, td_paths_args *args)
{
    TD_CHECK(begin_count(self, self->gpu->job.stream));
    return span_args(self, group, false, args);
}

td_status td_paths_gpu_end_span(td_paths_job *self, const td_paths_args *args)
{
    TD_CHECK(launch_notices(self, self->gpu->job.stream, TD_PATHS_WALK, args));
    return end_count(self, self->gpu->job.stream);
}

td_status td_paths_gpu_queue_span(td_paths_job *self, const td_paths_group *group, bool ranks)
{
    td_stream *stream = self->gpu->job.stream;
    td_paths_args args;
    if (group->partitions + self->gpu->args.span.early_count > 0) {
        TD_CHECK(span_args(self, group, ranks, &args));
        return queue_launch(self, TD_PATHS_WALK, &args);
    }
    TD_CHECK(begin_count(self, stream));
    return end_count(self, stream);
}

td_status td_paths_gpu_walk(td_paths_job *self, const td_paths_group *group, bool ranks, td_path_tally *out)
{
    td_paths_args args;
    if (self->several != NULL) return td_paths_several_walk(self, group, out);
    if (self->gpu->batches != NULL && !self->gpu->batches->packed) return td_paths_batch_walk(self, group, out);
    TD_CHECK(td_paths_start_early(self, self, group));
    TD_CHECK(span_args(self, group, ranks, &args));
    return count_launch(self, TD_PATHS_WALK, &args, out);
}

td_status td_paths_gpu_result(td_paths_job *self)
{
    td_cpu_job *cpu = &self->cpu;
    td_gpu_job *job = &self->gpu->job;
    uint64_t n = cpu->graph->vertices, bytes = cpu->kernels->value_bytes;
    TD_CHECK(td_new_bytes(&cpu->values, n, bytes, "vertex values"));
    cpu->next_values = cpu->messages = cpu->next_messages = cpu->values;
    if (self->several != NULL) return td_paths_several_values(self, cpu->values);
    TD_CHECK(td_stream_copy(job->stream, cpu->values, job->state.values, n * bytes, TD_TO_HOST));
    return td_stream_synchronize(job->stream);
}
