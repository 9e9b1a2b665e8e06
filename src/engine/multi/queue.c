/* Small rounds that the host launches, where no loop runs without it (loop.c). The frontier is in queues, one per owner,
 * and a round is one launch per GPU that has active vertices: it updates the owners' values and appends to their queues
 * in their memory (round_apart, kernels/gpu/joint.h). Counters only grow, so that a round needs no fill, and the host reads
 * those of the GPUs that it launched: a round of one GPU is a launch, a copy and a wait.
 *
 * The bitmaps of the frontier and of deferred vertices are kept up to date beside the queues: checkpoints, changes of
 * owners, pulls and large rounds use them as they are. */
#include "engine/multi/multi.h"

#include "base/clock.h"

#include <string.h>

enum { LEAN_DEGREE = 8 }; /* mean degree up to which edges of the next frontier are estimated */

bool td_multi_queues(const td_multi_job *self)
{
    const td_cpu_kernels *traits = self->traits;
    bool given = self->set.steals && self->set.t1 >= 0; /* thresholds that may divide any round */
    bool strict = self->gpu[0].job.strict;
    return self->set.queue_edges > 0 && !strict && !self->loops && !self->division.spills && !given &&
           !td_multi_logs(self) && traits->fused && traits->sum == TD_SUM_MIN && self->count > 1 && td_multi_may_reach(self);
}

/* Every member updates the others' memory, and reads the lists of its fragments. */
static bool members_reach(td_multi_job *self)
{
    TD_EACH_MEMBER(self, one) {
        const td_gpu_mailbox *box = &self->exchange.box[td_multi_index(self, one)];
        TD_EACH_MEMBER(self, other)
            if (!box->reads[td_multi_index(self, other)]) return false;
        for (int k = 0; k < self->count; k++)
            if (box->fragments.owned >> k & 1u && !box->reads[k]) return false;
    }
    return true;
}

bool td_multi_is_queued(td_multi_job *self)
{
    return self->queues && self->now.edges <= self->set.queue_edges && members_reach(self);
}

/* The frontier's bitmaps into the owners' queues. */
static td_status list(td_multi_job *self)
{
    td_multi_queue *queue = &self->queue;
    *queue = (td_multi_queue){.listed = true};
    TD_CHECK(td_multi_clean_next(self));
    TD_CHECK(td_multi_reset(self));
    TD_EACH_OWNED(self, gpu, fragment) {
        td_gpu_job *job = &gpu->job;
        int k = (int)(fragment - self->layout->fragment);
        td_queue_args args = {.state = job->state, .queue = job->arrays.queue[0], .first_vertex = fragment->first,
                              .end_vertex = fragment->end};
        if (self->gpu[k].vertices == 0) continue;
        queue->length[td_multi_index(self, gpu)] += (uint32_t)self->gpu[k].vertices;
        TD_CHECK(td_gpu_launch(job, job->stream, &job->kernels->list_words,
                               ((uint64_t)fragment->end - fragment->first + 31) / 32 * 32, &args));
    }
    return td_multi_synchronize(self); /* others write there from now on */
}

/* Large rounds and pulls need exact loads and tallies, and no bits in the next frontier: queued rounds clear those of their
 * own vertices alone. */
td_status td_multi_leave_queue(td_multi_job *self)
{
    if (!self->queue.listed) return TD_OK;
    self->queue.listed = false;
    TD_EACH_MEMBER(self, gpu) TD_CHECK(td_multi_clear(self, gpu, gpu->job.state.next_active));
    TD_CHECK(td_multi_reset(self));
    TD_CHECK(td_multi_measure(self, TD_MAP_ACTIVE));
    TD_CHECK(td_multi_wait(self));
    TD_EACH_GPU(self, gpu) gpu->settled_edges -= gpu->edges; /* which is counted again */
    td_multi_add_up(self);
    return TD_OK;
}

static uint64_t edges_of(td_multi_job *self, const td_multi_gpu *gpu)
{
    uint64_t edges = 0;
    for (td_multi_fragment *f = td_multi_next_owned(self, gpu, NULL); f != NULL; f = td_multi_next_owned(self, gpu, f))
        edges += self->gpu[f - self->layout->fragment].edges;
    return edges;
}

static td_status launch(td_multi_job *self, const td_joint_args *of_all, int member, td_multi_gpu *gpu)
{
    td_joint_args args = *of_all;
    int index = td_multi_index(self, gpu);
    const td_gpu_mailbox *box = &self->exchange.box[index];
    args.state = gpu->job.state;
    args.set = (td_set_member){.member = (uint32_t)member, .members = (uint32_t)self->rounds.count};
    args.fragments = box->fragments;
    args.changed = self->shared ? NULL : gpu->changed;
    args.one_over_delta = gpu->job.one_over_delta;
    args.count = self->queue.length[index];
    args.bound = gpu->job.bound;
    for (int k = 0; k < self->count; k++)
        if (box->reads[k]) args.list[k] = self->layout->fragment[k].push.view;
    return td_gpu_launch(&gpu->job, gpu->job.stream, &gpu->job.kernels->round_apart, edges_of(self, gpu) + args.count,
                         &args);
}

static td_status launch_members(td_multi_job *self)
{
    td_joint_args args = {.apart = true};
    args.mean_degree = (uint32_t)(td_gpu_view_edges(td_multi_first(self)) / self->graph->vertices + 1);
    args.lean = args.mean_degree <= LEAN_DEGREE;
    td_multi_list_members(self);
    td_multi_fill_peers(self, &args);
    for (int i = 0; i < self->rounds.count; i++) args.peer[i].before = self->queue.before[self->rounds.member[i]];
    for (int i = 0; i < self->rounds.count; i++) {
        td_multi_gpu *gpu = &self->gpu[self->rounds.member[i]];
        if (self->queue.length[self->rounds.member[i]] > 0) TD_CHECK(launch(self, &args, i, gpu));
    }
    return TD_OK;
}

static td_status read_launched(td_multi_job *self)
{
    td_stream *streams[TD_FRAGMENTS];
    int count = 0;
    TD_EACH_MEMBER(self, gpu) {
        if (self->queue.length[td_multi_index(self, gpu)] == 0) continue;
        TD_CHECK(td_multi_note_processed(self, gpu));
        TD_CHECK(td_multi_queue_counters(gpu, gpu->job.stream));
        streams[count++] = gpu->job.stream;
    }
    TD_CHECK(td_streams_synchronize(streams, count));
    return td_multi_reports(self);
}

/* What a GPU's counters have grown by. */
static void take_counters(td_multi_job *self, td_multi_gpu *gpu)
{
    const td_gpu_control *control = gpu->job.control;
    int index = td_multi_index(self, gpu);
    td_multi_counted *seen = &self->queue.seen[index];
    gpu->processed = control->tally.edges - seen->processed;
    seen->processed = control->tally.edges;
    self->row.edges += gpu->processed;
    for (int k = 0; k < self->count; k++) {
        uint64_t vertices = control->active_vertices[k] - seen->vertices[k];
        self->gpu[k].vertices += vertices;
        self->gpu[k].edges += control->active_edges[k] - seen->edges[k];
        seen->vertices[k] = control->active_vertices[k];
        seen->edges[k] = control->active_edges[k];
        if (!self->shared && !(self->exchange.box[index].fragments.owned >> k & 1u)) self->exchange.messages += vertices;
    }
}

/* The next frontier, by fragment and by owner. */
static void add_up(td_multi_job *self)
{
    td_multi_queue *queue = &self->queue;
    bool launched[TD_FRAGMENTS];
    for (int i = 0; i < self->count; i++) {
        launched[i] = queue->length[i] > 0;
        queue->length[i] = 0;
        self->gpu[i].vertices = self->gpu[i].edges = self->gpu[i].processed = 0;
    }
    for (int i = 0; i < self->count; i++)
        if (launched[i]) take_counters(self, &self->gpu[i]);
    self->now = (td_frontier){.mapped = true};
    TD_EACH_OWNED(self, owner, fragment) {
        td_multi_gpu *of = &self->gpu[fragment - self->layout->fragment];
        queue->length[td_multi_index(self, owner)] += (uint32_t)of->vertices;
        of->settled_edges += of->edges;
        self->now.vertices += of->vertices;
        self->now.edges += of->edges;
    }
    for (int i = 0; i < self->count; i++) queue->before[i] += queue->length[i];
}

td_status td_multi_push_queued(td_multi_job *self, uint64_t began)
{
    if (!self->queue.listed) TD_CHECK(list(self));
    TD_CHECK(launch_members(self));
    TD_CHECK(read_launched(self));
    add_up(self);
    self->row.active_edges = self->row.edges; /* those of the row may be estimates */
    self->exchange.bytes += self->exchange.messages * (sizeof(uint32_t) + self->exchange.entry_bytes);
    TD_CHECK(td_multi_settle(self));
    self->mirrors_stale = self->tally_stale = true;
    td_multi_next_frontier(self);
    TD_EACH_GPU(self, gpu) td_gpu_swap(&gpu->job.arrays.queue[0], &gpu->job.arrays.queue[1]);
    return td_multi_end_iteration(self, began);
}
