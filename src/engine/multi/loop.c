/* Rounds without the host: while the frontier is small, the GPUs that own fragments run rounds in one joint launch,
 * update each other's memory and meet on the device. The host is asked when the frontier outgrows the loop. */
#include "engine/multi/multi.h"

#include "base/clock.h"

#include <string.h>

static uint32_t members_of(td_multi_job *self)
{
    uint32_t mask = 0;
    TD_EACH_MEMBER(self, gpu) mask |= 1u << td_multi_index(self, gpu);
    return mask;
}

static bool are_cooperative(const td_multi_job *self)
{
    for (int i = 0; i < self->count; i++)
        if (!self->gpu[i].job.device->properties.cooperative) return false;
    return true;
}

bool td_multi_may_reach(const td_multi_job *self)
{
    bool all = true, some = false;
    for (int i = 0; i < self->count; i++)
        for (int j = 0; j < self->count; j++) {
            all = all && self->exchange.box[i].reads[j];
            some = some || (i != j && td_gpu_are_direct(&self->exchange, i, j));
        }
    return all || (some && self->set.moves_owners && self->traits->schedule != TD_SCHEDULE_PEEL);
}

bool td_multi_loops(const td_multi_job *self)
{
    const td_cpu_kernels *traits = self->traits;
    bool strict = self->gpu[0].job.strict; /* copies values between rounds */
    return self->set.loop_edges > 0 && !strict && !self->division.spills && traits->fused && traits->sum == TD_SUM_MIN &&
           are_cooperative(self) && td_multi_may_reach(self);
}

/* Every member reaches the others' memory, and the lists of the fragments that it owns. */
static bool reaches(const td_multi_job *self, const int *owner)
{
    for (int k = 0; k < self->count; k++) {
        if (!self->exchange.box[owner[k]].reads[k]) return false;
        for (int j = 0; j < self->count; j++)
            if (!self->exchange.box[owner[k]].reads[owner[j]]) return false;
    }
    return true;
}

/* A meeting of all takes hardly longer than one of few, so the more the better. */
int td_multi_loop_group(const td_multi_job *self)
{
    int m = self->count;
    while (m > 0 && !reaches(self, self->balance.tree.owner[m])) m--;
    return m > 1 || self->count == 1 ? m : 0;
}

/* The loop's group owns all fragments. */
static td_status own_in_group(td_multi_job *self)
{
    int m = self->balance.loop_group;
    if (m == self->count) return td_multi_own_again(self);
    self->balance.state = (td_decide_state){.group = m};
    return td_multi_move(self, self->balance.tree.owner[m]);
}

void td_multi_list_members(td_multi_job *self)
{
    td_multi_loop *loop = &self->rounds;
    loop->count = 0;
    TD_EACH_MEMBER(self, gpu) loop->member[loop->count++] = td_multi_index(self, gpu);
}

/* The set of the members, which is kept as long as they stay the same. */
static td_status open_set(td_multi_job *self)
{
    td_multi_loop *loop = &self->rounds;
    uint32_t members = members_of(self);
    if (loop->set != NULL && loop->members == members) return TD_OK;
    td_set_close(loop->set);
    loop->set = NULL;
    td_multi_list_members(self);
    td_device *devices[TD_FRAGMENTS];
    for (int i = 0; i < loop->count; i++) devices[i] = self->gpu[loop->member[i]].job.device;
    TD_CHECK(td_set_open(&loop->set, devices, loop->count));
    loop->members = members;
    return TD_OK;
}

td_status td_multi_own_all(td_multi_job *self)
{
    TD_CHECK(own_in_group(self));
    return open_set(self);
}

/* Before the run, because it allocates, pins and waits. */
td_status td_multi_open_loop(td_multi_job *self)
{
    return self->loops && self->balance.loop_group == self->count ? open_set(self) : TD_OK;
}

/* A member that is lost never comes to the barrier: the others leave it. */
void td_multi_break_loop(td_multi_job *self)
{
    if (self->rounds.set != NULL) td_set_break(self->rounds.set);
}

void td_multi_close_loop(td_multi_job *self) { td_set_close(self->rounds.set); }

static td_gpu_job *job_of(td_multi_job *self, int member) { return &self->gpu[self->rounds.member[member]].job; }

enum { LEAN_DEGREE = 8 }; /* mean degree up to which loops do not count edges ahead */

/* The members take vertices from the first one's queue. Where many vertices are deferred that is slower: one GPU lists
 * them. */
static bool is_common(const td_multi_job *self)
{
    bool lean = self->rounds.mean_degree <= LEAN_DEGREE, prioritised = self->gpu[0].job.prioritised;
    if (!self->shared || !self->set.steals || self->set.loop_queue == TD_QUEUE_OWNERS) return false;
    return self->set.loop_queue == TD_QUEUE_COMMON || lean || !prioritised;
}

/* The active and the deferred vertices first .. end - 1, from bitmaps into the GPU's queues. */
static td_status list_range(td_gpu_job *job, uint32_t first, uint32_t end)
{
    uint64_t threads = ((uint64_t)end - first + 31) / 32 * 32;
    td_queue_args args = {.state = job->state, .queue = job->arrays.queue[0], .first_vertex = first, .end_vertex = end};
    if (threads == 0) return TD_OK;
    TD_CHECK(td_gpu_launch(job, job->stream, &job->kernels->list_words, threads, &args));
    if (job->arrays.far_map == NULL) return TD_OK;
    td_far_args far = td_gpu_far_args(job);
    far.first_vertex = first;
    far.end_vertex = end;
    return td_gpu_launch(job, job->stream, &job->kernels->list_far, threads, &far);
}

static td_status list_frontier(td_multi_job *self)
{
    if (is_common(self)) return list_range(job_of(self, 0), 0, self->graph->vertices);
    TD_EACH_OWNED(self, gpu, fragment) TD_CHECK(list_range(&gpu->job, fragment->first, fragment->end));
    return TD_OK;
}

enum { GROWTH = 4, LEAST_BLOCKS = 8 };
enum { LONG_LIST = 128 }; /* edges that a warp of a common queue processes at once */

void td_multi_fill_peers(td_multi_job *self, td_joint_args *args)
{
    const td_multi_loop *loop = &self->rounds;
    for (int i = 0; i < loop->count; i++) {
        td_gpu_job *job = job_of(self, i);
        td_gpu_arrays *arrays = &job->arrays;
        args->peer[i] = (td_joint_peer){.values = job->state.values, .queue = {arrays->queue[0], arrays->queue[1]},
                                        .map = {job->state.active, job->state.next_active},
                                        .far = {arrays->far[0], arrays->far[1]}, .far_map = arrays->far_map,
                                        .control = job->state.control};
        uint32_t owned = self->exchange.box[loop->member[i]].fragments.owned;
        for (int k = 0; k < self->count; k++)
            if (owned >> k & 1u) args->owner[k] = (uint8_t)i;
    }
}

bool td_multi_has_lists_above(const td_multi_job *self, uint64_t edges, bool pull)
{
    for (int k = 0; k < self->count; k++) {
        const td_multi_fragment *fragment = &self->layout->fragment[k];
        if ((pull ? fragment->pull.longest : fragment->push.longest) > edges) return true;
    }
    return false;
}

void td_multi_fill_joint(td_multi_job *self, int member, uint32_t most_rounds, td_joint_args *args)
{
    td_multi_loop *loop = &self->rounds;
    td_multi_gpu *gpu = &self->gpu[loop->member[member]];
    *args = (td_joint_args){.state = gpu->job.state, .set = td_set_member_of(loop->set, member),
                            .fragments = self->exchange.box[loop->member[member]].fragments,
                            .changed = self->shared ? NULL : gpu->changed,
                            .one_over_delta = gpu->job.one_over_delta, .leave_edges = self->set.loop_edges,
                            .most_rounds = most_rounds, .mean_degree = self->rounds.mean_degree,
                            .lean = self->rounds.mean_degree <= LEAN_DEGREE, .long_lists = td_multi_has_lists_above(self, LONG_LIST, false)};
    td_multi_fill_peers(self, args);
    for (int k = 0; k < self->count; k++)
        if (self->exchange.box[loop->member[member]].reads[k]) args->list[k] = self->layout->fragment[k].push.view;
}

/* Fewer blocks meet faster: as many as have an edge per thread, and grow with the frontier, at most one per
 * multiprocessor. Of a common queue so many at once: it has enough for all. */
static uint32_t blocks_of(const td_multi_job *self, const td_gpu_job *job)
{
    if (self->set.loop_blocks > 0) return self->set.loop_blocks;
    uint64_t work = self->now.edges + self->now.vertices, processors = (uint64_t)job->device->properties.multiprocessors;
    uint64_t wanted = GROWTH * work / ((uint64_t)self->rounds.count * TD_GPU_THREADS) + LEAST_BLOCKS;
    return (uint32_t)(wanted < processors && !is_common(self) ? wanted : processors);
}

static const td_kernel *kernel_of(const td_multi_job *self, const td_gpu_job *job)
{
    const td_gpu_kernels *k = job->kernels;
    if (is_common(self)) return job->prioritised ? &k->priorities_common.kernel : &k->levels_common.kernel;
    return job->prioritised ? &k->priorities_joint.kernel : &k->levels_joint.kernel;
}

static td_status launch(td_multi_job *self, uint32_t most_rounds)
{
    td_multi_loop *loop = &self->rounds;
    td_joint_args args[TD_FRAGMENTS];
    const void *arguments[TD_FRAGMENTS];
    td_stream *streams[TD_FRAGMENTS];
    const td_kernel *kernels[TD_FRAGMENTS];
    td_launch shapes[TD_FRAGMENTS];
    uint32_t blocks = 0;
    for (int i = 0; i < loop->count; i++) {
        td_gpu_job *job = job_of(self, i);
        uint32_t most, few = blocks_of(self, job);
        kernels[i] = kernel_of(self, job);
        streams[i] = job->stream;
        arguments[i] = &args[i];
        td_multi_fill_joint(self, i, most_rounds, &args[i]);
        TD_CHECK(td_set_occupancy(loop->set, i, kernels[i], TD_GPU_THREADS, 0, &most));
        if (most == 0)
            return td_fail(TD_DEVICE, "%s: the kernel '%s' does not fit a multiprocessor", job->device->name,
                           kernels[i]->name);
        args[i].first_block = blocks;
        blocks += few < most ? few : most;
        shapes[i] = (td_launch){.blocks = few < most ? few : most, .threads = TD_GPU_THREADS, .cooperative = true};
        uint64_t rows = most_rounds * sizeof(td_gpu_row);
        TD_CHECK(td_stream_fill(job->stream, job->state.control->rows, 0, rows));
    }
    for (int i = 0; i < loop->count; i++) args[i].set.blocks = self->shared ? blocks : 0;
    return td_streams_launch_joint(loop->set, streams, kernels, shapes, arguments, sizeof args[0]);
}

/* The rounds are iterations; rows of the members add up. */
static td_status take_rounds(td_multi_job *self, uint64_t began)
{
    td_gpu_job *first = job_of(self, 0);
    uint32_t rounds = first->control->rounds;
    double each = td_seconds_since(began) / (rounds == 0 ? 1 : rounds);
    for (uint32_t r = 0; r < rounds; r++) {
        td_row row = {.direction = first->prioritised ? "near" : "push", .active_vertices = self->now.vertices,
                      .gpus = (uint32_t)self->rounds.count, .steal = "loop"};
        for (int i = 0; i < self->rounds.count; i++) {
            row.edges += job_of(self, i)->control->rows[r].edges;
            row.edges_stolen += job_of(self, i)->control->rows[r].other_edges;
        }
        self->balance.stolen += row.edges_stolen;
        row.active_edges = row.edges;
        if (r == 0) row.operations = (uint32_t)td_multi_new_operations(self);
        td_multi_end_parts(self, &row, true);
        self->now.vertices = first->control->rows[r].vertices;
        if (first->control->rows[r].split) continue;
        for (int i = 0; i < self->rounds.count; i++)
            self->gpu[self->rounds.member[i]].all_processed += job_of(self, i)->control->rows[r].edges;
        td_unsettled_subtract(&td_multi_first(self)->unsettled, row.active_vertices, row.edges);
        TD_CHECK(td_gpu_end_iteration(td_multi_first(self), &row, began + (uint64_t)(each * 1e9 * r), each));
    }
    TD_EACH_GPU(self, gpu) {
        gpu->job.state.context.iteration = td_multi_first(self)->state.context.iteration;
        if (first->prioritised) gpu->job.bound = first->control->bound;
    }
    return TD_OK;
}

/* The frontier that the loop left, from queues into bitmaps. The far bitmaps are up to date. */
static td_status map_frontier(td_multi_job *self)
{
    self->next_dirty = false;
    if (is_common(self)) { /* on one stream, which sets bits of all fragments */
        td_gpu_job *first = job_of(self, 0);
        TD_CHECK(td_gpu_clear_map(first, first->state.active));
        TD_CHECK(td_gpu_clear_map(first, first->state.next_active));
    } else TD_EACH_MEMBER(self, gpu) {
        TD_CHECK(td_multi_clear(self, gpu, gpu->job.state.active));
        TD_CHECK(td_multi_clear(self, gpu, gpu->job.state.next_active));
    }
    for (int i = 0; i < (is_common(self) ? 1 : self->rounds.count); i++) {
        td_gpu_job *job = job_of(self, i);
        uint32_t count = job->control->slot[job->control->at].count;
        td_queue_args args = {.state = job->state, .queue = job->arrays.queue[job->control->rounds % 2], .count = count};
        if (count > 0) TD_CHECK(td_gpu_launch(job, job->stream, &job->kernels->map_queue, count, &args));
    }
    return TD_OK;
}

/* The frontier that the loop left. One GPU made its bitmap if the queue was common, and measures it alone: the others have
 * nothing to wait for. */
static td_status measure_left(td_multi_job *self)
{
    td_multi_gpu *first = &self->gpu[self->rounds.member[0]];
    if (self->now.vertices == 0) { /* there is nothing to measure */
        self->now.edges = 0;
        TD_EACH_GPU(self, gpu) gpu->vertices = gpu->edges = 0;
        return is_common(self) ? td_multi_follow(self, first) : TD_OK;
    }
    if (is_common(self) && !td_multi_needs_tally(self)) {
        TD_CHECK(td_multi_measure_alone(self, first));
    } else {
        if (is_common(self)) TD_CHECK(td_multi_follow(self, first));
        TD_CHECK(td_multi_reset(self));
        TD_CHECK(td_multi_measure(self, TD_MAP_ACTIVE));
        TD_CHECK(td_multi_wait(self));
    }
    td_multi_add_up(self);
    return TD_OK;
}

uint32_t td_multi_rounds_left(const td_multi_job *self)
{
    const td_gpu_job *first = &self->gpu[0].job;
    uint32_t iteration = first->state.context.iteration, rounds = td_checkpoint_rounds(self->run, iteration);
    uint32_t left = first->limit - iteration, until_copy = td_multi_keep_rounds(self);
    if (rounds > left) rounds = left;
    return rounds < until_copy ? rounds : until_copy;
}

td_status td_multi_loop_rounds(td_multi_job *self, bool *far)
{
    enum { FEW_ROWS = 16 };
    td_gpu_job *first = td_multi_first(self);
    uint64_t began = td_clock_ns();
    uint32_t rounds = td_multi_rounds_left(self), most = TD_GPU_ROUNDS;
    if (rounds > most) rounds = most;
    TD_CHECK(td_multi_own_all(self));
    self->rounds.mean_degree = (uint32_t)(td_gpu_view_edges(first) / self->graph->vertices + 1);
    /* Of a common queue's counters but the rows, only the first member's are used. */
    TD_CHECK(is_common(self) ? td_multi_reset_one(self, &self->gpu[self->rounds.member[0]]) : td_multi_reset(self));
    TD_CHECK(list_frontier(self));
    TD_CHECK(launch(self, rounds));
    TD_CHECK(td_multi_wait_rows(self, rounds < FEW_ROWS ? rounds : FEW_ROWS));
    uint32_t done = job_of(self, 0)->control->rounds;
    if (done > FEW_ROWS) TD_CHECK(td_multi_wait_rows(self, done));
    TD_CHECK(map_frontier(self));
    TD_CHECK(take_rounds(self, began));
    *far = false;
    for (int i = 0; i < (is_common(self) ? 1 : self->rounds.count); i++)
        if (job_of(self, i)->control->far_count[job_of(self, i)->control->far_at] > 0) *far = true;
    self->mirrors_stale = true;
    return measure_left(self);
}
