/* Rounds inside a launch (`paths.loop`; kernels/gpu/path_rounds.h): one cooperative launch walks, scans and chooses
 * thresholds, round after round, and range after range where no decision of the host lies between them. A range is a
 * group without cycles, or all cyclic groups of a layer. */
#include "engine/paths/gpu.h"

#include "base/alloc.h"
#include "base/cancel.h"

/* Rounds of a launch: the host looks for a cancel in between. */
enum { MOST_ROUNDS = 256 };

bool td_paths_loops(const td_paths_job *self)
{
    return self->gpu != NULL && self->gpu->loops && self->several == NULL;
}

/* Ranges. */

td_paths_group td_paths_group_at(const td_paths_job *self, uint32_t g)
{
    const td_path_group *of = &self->paths.group[g];
    const uint64_t *offsets = self->index.member_offsets;
    return (td_paths_group){g, of->layer, of->first_partition, of->partitions, self->index.members + offsets[g],
                            offsets[g + 1] - offsets[g], self->index.openers[g], (of->flags & TD_GROUP_CYCLIC) != 0};
}

td_paths_group td_paths_joined(const td_paths_job *self, uint32_t g, uint32_t *next)
{
    td_paths_group group = td_paths_group_at(self, g);
    uint32_t end = self->paths.layer_group[group.layer + 1];
    for (*next = g + 1; self->gpu != NULL && group.cyclic && *next < end; ++*next) {
        td_paths_group more = td_paths_group_at(self, *next);
        if (!more.cyclic) break;
        group.partitions += more.partitions;
        group.member_count += more.member_count;
    }
    return group;
}

/* Partitions of a group are consecutive. */
static uint64_t edges_of(const td_paths_job *self, const td_paths_group *group)
{
    if (group->partitions == 0) return 0;
    const td_path_partition *first = &self->paths.partition[group->first_partition], *last = first + group->partitions - 1;
    return last->first_entry + last->entries - first->first_entry - (last->first_path + last->paths - first->first_path);
}

static td_path_range range_of(const td_paths_job *self, const td_paths_group *group)
{
    uint64_t first = group->members != NULL ? (uint64_t)(group->members - self->index.members) : 0;
    return (td_path_range){.group = group->number, .first_partition = group->first_partition,
                           .partitions = group->partitions, .first_member = (uint32_t)first,
                           .members = (uint32_t)group->member_count, .openers = (uint32_t)group->openers,
                           .edges = edges_of(self, group),
                           .cyclic = group->cyclic, .ranked = td_paths_is_ranked(self, group),
                           .opens = self->real && !group->cyclic};
}

uint32_t td_paths_count_ranges(const td_paths_job *self)
{
    uint32_t count = 0, next;
    for (uint32_t g = 0; g < self->paths.groups; g = next, count++) (void)td_paths_joined(self, g, &next);
    return count;
}

/* The blocks of a launch over so many threads: as many as run at once. */
static uint32_t blocks_for(const td_paths_gpu *gpu, uint64_t threads)
{
    uint64_t blocks = (threads + TD_GPU_THREADS - 1) / TD_GPU_THREADS;
    return blocks < 1 ? 1 : blocks < gpu->most_blocks ? (uint32_t)blocks : gpu->most_blocks;
}

static uint64_t threads_of(const td_path_range *range)
{
    uint64_t walk = (uint64_t)range->partitions * TD_PATH_LANES;
    return walk > range->members ? walk : range->members;
}

td_status td_paths_open_rounds(td_paths_job *self)
{
    td_paths_gpu *gpu = self->gpu;
    const td_gpu_kernels *k = gpu->job.kernels;
    const td_kernel *kernel = self->steps.state.plain ? &k->path_push_rounds.kernel
                              : gpu->batches != NULL  ? &k->path_packed_rounds.kernel
                              : gpu->warps            ? &k->path_warp_rounds.kernel
                                                      : &k->path_rounds.kernel;
    if (!gpu->loops) return TD_OK;
    TD_CHECK(td_device_occupancy(gpu->job.device, kernel, TD_GPU_THREADS, 0, &gpu->most_blocks));
    if (gpu->most_blocks == 0)
        return td_fail(TD_DEVICE, "%s: no block of the kernel '%s' fits on a multiprocessor", gpu->job.device->name,
                       kernel->name);
    if (gpu->ranges_seen == NULL) return TD_OK;
    gpu->range_count = td_paths_count_ranges(self);
    TD_CHECK(TD_NEW(&gpu->ranges, gpu->range_count, "groups of paths"));
    for (uint32_t g = 0, i = 0, next; g < self->paths.groups; g = next, i++) {
        td_paths_group group = td_paths_joined(self, g, &next);
        gpu->ranges[i] = range_of(self, &group);
    }
    return td_stream_copy(gpu->job.stream, gpu->ranges_seen, gpu->ranges, gpu->range_count * sizeof *gpu->ranges,
                          TD_TO_DEVICE);
}

/* Launches. */

/* The last slot's counts are not in the total. */
static const td_path_slot *sum_counts(const td_paths_job *self, td_path_tally *out)
{
    const td_path_loop *loop = &self->gpu->seen->loop;
    const td_path_slot *last = &loop->slot[(loop->walks + TD_PATH_RING - 1) % TD_PATH_RING];
    const td_path_tally *all[] = {&loop->total, &last->open, &last->walk, &last->scan[0], &last->scan[1]};
    for (int i = 0; i < 5; i++) td_path_tally_add(out, all[i], self->cpu.kernels->measure);
    return last;
}

static const td_path_slot *take_counts(td_paths_job *self)
{
    const td_path_loop *loop = &self->gpu->seen->loop;
    td_path_tally all = {0};
    const td_path_slot *last = sum_counts(self, &all);
    td_paths_add(self, &all);
    self->partitions_walked += all.listed;
    self->sorted += all.ranked;
    self->rounds += loop->rounds;
    self->dense_rounds += loop->dense;
    self->raised += loop->raised;
    self->steps.state.one_over_delta = loop->one_over_delta;
    self->steps.state.bound = loop->bound;
    self->steps.state.round = loop->round;
    return last;
}

static td_status queue(td_paths_job *self, const td_kernel *kernel, uint64_t threads, const td_path_rounds_args *args)
{
    td_paths_gpu *gpu = self->gpu;
    td_stream *stream = gpu->job.stream;
    threads += (uint64_t)args->of.span.early_count * TD_PATH_LANES;
    td_launch shape = {.blocks = blocks_for(gpu, threads), .threads = TD_GPU_THREADS, .cooperative = true};
    TD_CHECK(td_stream_fill(stream, gpu->loop, 0, sizeof *gpu->loop));
    TD_CHECK(td_stream_launch(stream, kernel, shape, args, sizeof *args));
    return td_stream_copy(stream, &gpu->seen->loop, gpu->loop, sizeof *gpu->loop, TD_TO_HOST);
}

static td_status launch(td_paths_job *self, const td_kernel *kernel, uint64_t threads, const td_path_rounds_args *args)
{
    TD_CHECK(queue(self, kernel, threads, args));
    TD_CHECK(td_stream_synchronize(self->gpu->job.stream));
    return td_cancel_check();
}

static td_path_rounds_args args_for(td_paths_job *self, td_path_until until)
{
    td_path_rounds_args args = {.of = td_paths_gpu_args(self), .loop = self->gpu->loop, .until = until,
                                .most_rounds = MOST_ROUNDS, .steal = self->set.steal, .end_range = 1,
                                .dense = self->set.dense};
    args.of.span.ranks = self->gpu->args.span.ranks;
    return args;
}

static const td_kernel *rounds_of(const td_paths_job *self, const td_path_rounds_args *args)
{
    const td_gpu_kernels *k = self->gpu->job.kernels;
    if (self->gpu->batches != NULL) return TD_GPU_CHECKED(&k->path_packed_rounds, args);
    return self->gpu->warps ? TD_GPU_CHECKED(&k->path_warp_rounds, args) : TD_GPU_CHECKED(&k->path_rounds, args);
}

td_status td_paths_queue_rounds(td_paths_job *part, const td_paths_group *group, uint32_t most)
{
    td_path_rounds_args args = args_for(part, TD_PATH_STILL);
    part->gpu->seen->loop = (td_path_loop){0};
    if (group->partitions + args.of.span.early_count == 0) return TD_OK;
    args.of.list = part->gpu->members;
    args.range = range_of(part, group);
    args.range.opens = false; /* its first vertices have been applied */
    args.most_rounds = most;
    return queue(part, rounds_of(part, &args), threads_of(&args.range), &args);
}

uint32_t td_paths_count_rounds(const td_paths_job *part, td_path_tally *out)
{
    (void)sum_counts(part, out);
    return part->gpu->seen->loop.rounds;
}

/* Rounds over the ranges of the arguments until they are done. */
static td_status run_still(td_paths_job *self, td_path_rounds_args *args, uint64_t threads, td_path_tally *found)
{
    const td_path_loop *loop = &self->gpu->seen->loop;
    args->of.list = self->gpu->members;
    do {
        TD_CHECK(launch(self, rounds_of(self, args), threads, args));
        *found = take_counts(self)->scan[0];
        args->first_range = loop->range;
        args->within = loop->within != 0;
        args->of.paths.round = loop->round;
        args->of.paths.one_over_delta = loop->one_over_delta;
        args->of.paths.bound = loop->bound;
    } while (args->first_range < args->end_range);
    return TD_OK;
}

td_status td_paths_run_still(td_paths_job *self, const td_paths_group *group, double least, td_path_until until,
                             td_path_tally *found)
{
    TD_CHECK(td_paths_start_early(self, self, group));
    td_path_rounds_args args = args_for(self, until);
    args.of.paths.least = least;
    args.range = range_of(self, group);
    return run_still(self, &args, threads_of(&args.range), found);
}

td_status td_paths_run_ranges(td_paths_job *self, uint32_t first, uint32_t end)
{
    td_path_tally found;
    uint64_t threads = 0;
    td_path_rounds_args args = args_for(self, self->real ? TD_PATH_STILL : TD_PATH_SETTLED);
    args.of.paths.least = 0;
    args.ranges = self->gpu->ranges_seen;
    args.first_range = first;
    args.end_range = end;
    for (uint32_t r = first; r < end; r++) {
        uint64_t wants = threads_of(&self->gpu->ranges[r]);
        if (wants > threads) threads = wants;
    }
    self->groups_walked += end - first;
    return run_still(self, &args, threads, &found);
}

td_status td_paths_run_rounds(td_paths_job *self, const td_paths_group *group, const td_path_rule *rule, bool within,
                              double *least, uint32_t *walked, td_path_tally *found)
{
    TD_CHECK(td_paths_start_early(self, self, group));
    td_path_rounds_args args = args_for(self, TD_PATH_DECISION);
    args.of.paths.least = *least;
    args.of.list = self->gpu->members;
    args.range = range_of(self, group);
    args.rule = *rule;
    args.within = within;
    TD_CHECK(launch(self, rounds_of(self, &args), threads_of(&args.range), &args));
    const td_path_slot *last = take_counts(self);
    *found = last->scan[0];
    *walked = (uint32_t)last->walk.listed;
    *least = self->gpu->seen->loop.least;
    return TD_OK;
}

td_status td_paths_run_plain(td_paths_job *self, uint32_t most, td_path_tally *found, td_path_tally *done,
                             uint32_t *rounds)
{
    uint64_t n = self->cpu.graph->vertices;
    td_path_rounds_args args = args_for(self, TD_PATH_STILL);
    if (most < MOST_ROUNDS) args.most_rounds = most;
    args.of.paths.least = 0;
    args.of.units = (n + 31) / 32;
    args.rule.allowance = self->tolerance;
    TD_CHECK(launch(self, TD_GPU_CHECKED(&self->gpu->job.kernels->path_push_rounds, &args), (n + 31) / 32 * 32, &args));
    const td_path_slot *last = take_counts(self);
    *found = last->scan[0];
    *done = last->walk;
    *rounds = self->gpu->seen->loop.walks;
    return TD_OK;
}
