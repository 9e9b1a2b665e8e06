/* Rounds of programs with a frontier: push, pull, near and far vertices, peeling. */
#include "engine/multi/multi.h"

#include "base/clock.h"

/* Strict iterations (td_run_strict) send the values before the iteration, with those of mirrors. Behind changes of owners. */
static td_status keep_values(td_multi_job *self)
{
    if (!self->gpu[0].job.strict) return TD_OK;
    size_t bytes = self->traits->value_bytes;
    TD_EACH_GPU(self, gpu) {
        uint64_t first = self->shared ? gpu->fragment->first : 0;
        uint64_t end = self->shared ? gpu->fragment->end : self->graph->vertices;
        const td_gpu_state *state = &gpu->job.state;
        if (first == end) continue;
        TD_CHECK(td_stream_copy(gpu->job.stream, (char *)state->messages + first * bytes,
                                (const char *)state->values + first * bytes, (end - first) * bytes, TD_ON_DEVICE));
    }
    return td_multi_all_wait(self);
}

/* Push. */

/* The active vertices first .. end - 1 of a fragment push along their lists, which may be another GPU's: then they are
 * its active vertices with its values, and the targets are updated here. */
static td_status push_along(td_multi_job *self, const td_multi_part *which, td_gpu_list view, const td_gpu_part *part)
{
    td_multi_gpu *gpu = &self->gpu[which->gpu], *owner = td_multi_owner(self, which->fragment);
    const td_multi_fragment *fragment = &self->layout->fragment[which->fragment];
    td_gpu_job *job = &gpu->job;
    td_push_part_args args = td_gpu_push_part_args(job, view, part);
    args.push.state = td_multi_state(gpu, fragment);
    args.push.state.active = owner->job.state.active;
    args.push.state.messages = owner->job.state.messages;
    args.push.fragments = self->exchange.box[td_multi_index(self, gpu)].on_device;
    job->has_high_degree = fragment->push.longest >= job->high_degree;
    TD_CHECK(td_gpu_push_part(job, job->stream, &args));
    job->pieces_clear = job->pieces_clear && !job->has_high_degree;
    return TD_OK;
}

/* On the lists' GPU and at the host; another GPU has the cached ones itself. */
static td_status push_range(td_multi_job *self, const td_multi_part *which)
{
    const td_multi_fragment *fragment = &self->layout->fragment[which->fragment];
    const td_multi_hubs *hubs = &self->gpu[which->gpu].fragment->hubs;
    bool divided = which->first_edge > 0 || which->end_edge > 0; /* by numbers of edges that the copy does not have */
    bool cached = which->gpu != which->fragment && hubs->view.offsets != NULL && !divided;
    td_gpu_part part;
    td_gpu_list view;
    for (int at_host = 0; at_host < 2; at_host++) {
        if (!td_multi_section(&fragment->push, which, at_host, &part, &view)) continue;
        if (cached) part.skip = hubs->view.offsets;
        TD_CHECK(push_along(self, which, view, &part));
    }
    if (!cached) return TD_OK;
    part = (td_gpu_part){.end_edge = UINT64_MAX, .first_vertex = which->first, .end_vertex = which->end, .cached = true};
    return push_along(self, which, hubs->view, &part);
}

/* Behind a first-hit pull of GPUs that share bitmaps its frontier's is not cleared: the next pull overwrites every word, and a
 * GPU that clears would have to wait for the others, which still read it. A push clears it first. */
static bool leaves_frontier(const td_multi_job *self) { return self->shared && self->gpu[0].job.state.first_hit; }

td_status td_multi_clean_next(td_multi_job *self)
{
    if (!self->next_dirty) return TD_OK;
    self->next_dirty = false;
    if (self->shared) {
        td_multi_gpu *one = td_multi_next_member(self, self->gpu);
        TD_CHECK(td_gpu_clear_map(&one->job, one->job.state.next_active));
        return td_multi_follow(self, one);
    }
    TD_EACH_MEMBER(self, gpu) TD_CHECK(td_multi_clear(self, gpu, gpu->job.state.next_active));
    return td_multi_all_wait(self);
}

/* Behind everything that reads the frontier: its bitmap becomes that of the frontier after the next. One that is shared is
 * cleared once, by a GPU whose stream has waited for all others. */
static td_status retire_frontier(td_multi_job *self)
{
    td_multi_gpu *one = td_multi_next_member(self, self->gpu);
    if (self->shared) return td_gpu_clear_map(&one->job, one->job.state.active);
    TD_EACH_MEMBER(self, gpu) TD_CHECK(td_multi_clear(self, gpu, gpu->job.state.active));
    return TD_OK;
}

void td_multi_next_frontier(td_multi_job *self)
{
    TD_EACH_GPU(self, gpu) {
        bool is_member = self->exchange.box[td_multi_index(self, gpu)].fragments.owned != 0;
        if (is_member || self->shared) td_gpu_swap(&gpu->job.state.active, &gpu->job.state.next_active);
    }
}

static td_status exchange(td_multi_job *self)
{
    td_gpu_exchange *all = &self->exchange;
    if (self->shared) return td_multi_all_wait(self);
    if (self->balance.state.group == 1) return TD_OK; /* no other GPU takes part */
    TD_EACH_MEMBER(self, gpu) {
        TD_CHECK(td_gpu_pack(all, td_multi_index(self, gpu), gpu->job.arrays.far_map));
        TD_CHECK(td_multi_note_packed(self, gpu));
    }
    if (td_gpu_exchange_copies(all)) {
        TD_CHECK(td_multi_wait(self)); /* lengths of the outboxes */
        TD_CHECK(td_gpu_carry(all));
    }
    TD_EACH_MEMBER(self, gpu) TD_CHECK(td_gpu_take(all, td_multi_index(self, gpu), gpu->job.arrays.far_map));
    return TD_OK;
}

static td_status push(td_multi_job *self)
{
    uint64_t began = td_clock_ns();
    if (self->now.edges > self->set.queue_edges) TD_CHECK(td_multi_leave_queue(self));
    self->row = (td_row){.direction = "push", .active_vertices = self->now.vertices, .active_edges = self->now.edges};
    td_unsettled_subtract(&td_multi_first(self)->unsettled, self->now.vertices, self->now.edges);
    TD_CHECK(td_multi_divide(self, TD_WORK_PUSH));
    if (td_multi_is_queued(self) && !td_multi_is_stolen(self)) return td_multi_push_queued(self, began);
    TD_CHECK(td_multi_leave_queue(self));
    self->row.active_edges = self->now.edges; /* a queue's were an estimate */
    TD_CHECK(td_multi_clean_next(self));
    TD_CHECK(keep_values(self));
    TD_CHECK(td_multi_reset(self));
    for (int i = 0; i < self->balance.parts; i++) TD_CHECK(push_range(self, &self->balance.part[i]));
    TD_EACH_MEMBER(self, gpu) TD_CHECK(td_multi_note_processed(self, gpu));
    TD_CHECK(exchange(self));
    TD_CHECK(td_multi_measure(self, TD_MAP_NEXT));
    TD_CHECK(retire_frontier(self));
    TD_CHECK(td_multi_wait(self));
    TD_EACH_MEMBER(self, gpu) {
        gpu->processed = gpu->job.control->tally.edges;
        self->row.edges += gpu->processed;
        self->row.bytes_direct += td_multi_host_bytes(gpu, td_multi_edge_bytes(self));
        self->row.edges_cached += gpu->job.control->tally.cached_edges;
        for (int k = 0; k < self->count; k++) self->exchange.messages += gpu->job.control->lengths[k];
    }
    for (int k = 0; k < self->count; k++)
        for (int j = 0; j < self->count; j++)
            self->exchange.bytes +=
                self->gpu[j].job.control->lengths[k] * (sizeof(uint32_t) + self->exchange.entry_bytes);
    TD_CHECK(td_multi_settle(self));
    td_multi_add_up(self);
    self->mirrors_stale = true;
    td_multi_next_frontier(self);
    return td_multi_end_iteration(self, began);
}

/* Pull. */

/* A GPU that pulls for another one works on the owner's arrays. */
static td_gpu_state state_of(td_multi_job *self, const td_multi_part *part)
{
    td_gpu_state state = td_multi_state(td_multi_owner(self, part->fragment), &self->layout->fragment[part->fragment]);
    state.control = self->gpu[part->gpu].job.state.control;
    return state;
}

static td_status open_section(td_multi_job *self, const td_multi_part *part, bool at_host)
{
    td_gpu_job *job = &self->gpu[part->gpu].job;
    td_hit_args args = {.state = state_of(self, part), .late = job->arrays.late, .adding = at_host};
    const td_multi_lists *lists = &self->layout->fragment[part->fragment].pull;
    if (!td_multi_section(lists, part, at_host, &args.part, &args.list)) return TD_OK;
    if (self->gpu[part->gpu].has_late) /* of the part before */
        TD_CHECK(td_stream_fill(job->stream, &job->state.control->tally.late, 0, sizeof(uint64_t)));
    TD_CHECK(td_gpu_launch(job, job->stream, &job->kernels->pull_hit, td_gpu_part_threads(&args.part), &args));
    if (lists->longest <= TD_GPU_LATE + (at_host ? 0 : TD_GPU_ALONE)) return TD_OK; /* no list is left to a block */
    self->gpu[part->gpu].has_late = true;
    return td_gpu_launch_blocks(job, job->stream, &job->kernels->pull_late,
                                (uint64_t)job->device->properties.multiprocessors, 0, &args);
}

static td_status pull_open(td_multi_job *self, const td_multi_part *part)
{
    TD_CHECK(open_section(self, part, false));
    return open_section(self, part, true);
}

/* Where every GPU pulled its own fragment, its tally has the next frontier's vertices and edges. */
static bool is_tallied(const td_multi_job *self)
{
    return self->gpu[0].job.state.first_hit && !td_multi_is_stolen(self) && !td_multi_needs_tally(self) &&
           self->balance.state.group == self->count;
}

void td_multi_take_tallies(td_multi_job *self)
{
    TD_EACH_GPU(self, gpu) {
        td_gpu_control *control = gpu->job.control;
        int k = td_multi_index(self, gpu);
        control->active_vertices[k] = control->tally.activated;
        control->active_edges[k] = control->tally.activated_edges;
    }
}

static td_status gather_pieces(td_multi_job *self, const td_multi_part *part, uint64_t first, uint64_t end, bool at_host)
{
    td_gpu_job *job = &self->gpu[part->gpu].job;
    const td_multi_lists *lists = &self->layout->fragment[part->fragment].pull;
    td_pull_args args = {.state = state_of(self, part), .list = at_host ? lists->rest : lists->view,
                         .segments = lists->segments, .first_piece = first, .end_piece = end,
                         .sums = td_multi_owner(self, part->fragment)->job.arrays.sums};
    if (first >= end) return TD_OK;
    return td_gpu_launch(job, job->stream, &job->kernels->pull, (end - first) * 32, &args);
}

td_status td_multi_gather_part(td_multi_job *self, const td_multi_part *part)
{
    const td_multi_lists *lists = &self->layout->fragment[part->fragment].pull;
    uint64_t here = lists->resident == lists->edges ? lists->pieces : lists->resident / TD_GPU_TILE;
    uint64_t split = part->first > here ? part->first : part->end < here ? part->end : here, last = part->end * (uint64_t)TD_GPU_TILE;
    if (last > lists->edges) last = lists->edges;
    if (split < part->end) self->row.bytes_direct += (last - split * TD_GPU_TILE) * td_multi_edge_bytes(self);
    TD_CHECK(gather_pieces(self, part, part->first, split, false));
    return gather_pieces(self, part, split, part->end, true);
}

td_status td_multi_apply(td_multi_job *self)
{
    if (td_multi_is_stolen(self)) TD_CHECK(td_multi_all_wait(self)); /* the thieves' sums */
    TD_EACH_OWNED(self, gpu, fragment) {
        uint32_t count = fragment->end - fragment->first;
        td_apply_args args = {.state = td_multi_state(gpu, fragment), .sums = gpu->job.arrays.sums,
                              .first_vertex = fragment->first, .end_vertex = fragment->end};
        if (count > 0) TD_CHECK(td_gpu_launch(&gpu->job, gpu->job.stream, &gpu->job.kernels->apply, count, &args));
    }
    return TD_OK;
}

static td_status pull_parts(td_multi_job *self, bool first_hit)
{
    TD_CHECK(td_multi_divide(self, first_hit ? TD_WORK_OPEN : TD_WORK_GATHER));
    TD_CHECK(td_multi_reset(self));
    TD_EACH_GPU(self, gpu) gpu->has_late = false;
    for (int i = 0; i < self->balance.parts; i++) {
        const td_multi_part *part = &self->balance.part[i];
        TD_CHECK(first_hit ? pull_open(self, part) : td_multi_gather_part(self, part));
    }
    TD_EACH_MEMBER(self, gpu) TD_CHECK(td_multi_note_processed(self, gpu));
    if (!first_hit) TD_CHECK(td_multi_apply(self));
    return td_multi_is_stolen(self) || (self->shared && !leaves_frontier(self)) ? td_multi_all_wait(self) : TD_OK;
}

/* The value of active vertices of a first-hit program, which is the same for all. */
static td_status read_value(td_multi_job *self, uint64_t *value)
{
    for (int k = 0; k < self->count; k++) {
        td_multi_gpu *owner = td_multi_owner(self, k);
        if (self->gpu[k].vertices == 0) continue;
        TD_CHECK(td_stream_copy(owner->job.stream, value, &owner->tally[k].value, sizeof *value, TD_TO_HOST));
        return td_multi_end_copies(self, td_stream_synchronize(owner->job.stream));
    }
    return TD_OK;
}

/* Bitmaps and this value are all that mirrors need then. */
static td_status adopt_active(td_multi_job *self, uint64_t value)
{
    TD_EACH_GPU(self, gpu) {
        td_adopt_args args = {.state = gpu->job.state, .value = value,
                              .fragments = self->exchange.box[td_multi_index(self, gpu)].on_device};
        TD_CHECK(td_gpu_launch(&gpu->job, gpu->job.stream, &gpu->job.kernels->adopt, td_gpu_words(&gpu->job) * 32,
                               &args));
    }
    return TD_OK;
}

static td_status pull(td_multi_job *self)
{
    uint64_t began = td_clock_ns(), value = 0;
    bool first_hit = self->gpu[0].job.state.first_hit;
    TD_CHECK(td_multi_leave_queue(self));
    self->row = (td_row){.direction = "pull", .active_vertices = self->now.vertices, .active_edges = self->now.edges};
    td_unsettled_subtract(&td_multi_first(self)->unsettled, self->now.vertices, self->now.edges);
    bool adopts = first_hit && !self->shared;
    if (adopts) TD_CHECK(read_value(self, &value));
    TD_CHECK(td_multi_own_again(self));
    TD_CHECK(td_multi_share_active(self));
    TD_CHECK(adopts ? adopt_active(self, value) : td_multi_update_mirrors(self));
    TD_CHECK(keep_values(self));
    TD_CHECK(pull_parts(self, first_hit));
    bool tallied = is_tallied(self);
    if (tallied) self->tally_stale = true;
    else TD_CHECK(td_multi_measure(self, TD_MAP_NEXT));
    self->next_dirty = leaves_frontier(self);
    if (!self->next_dirty) TD_CHECK(retire_frontier(self));
    TD_CHECK(td_multi_wait(self));
    if (tallied) td_multi_take_tallies(self);
    TD_EACH_MEMBER(self, gpu) {
        gpu->processed = first_hit ? gpu->job.control->tally.edges : td_multi_assigned(self, td_multi_index(self, gpu));
        self->row.edges += gpu->processed;
        if (first_hit) self->row.bytes_direct += td_multi_host_bytes(gpu, sizeof(uint32_t));
    }
    TD_CHECK(td_multi_settle(self));
    td_multi_add_up(self);
    self->mirrors_stale = true;
    td_multi_next_frontier(self);
    return td_multi_end_iteration(self, began);
}

static bool is_small(const td_multi_job *self)
{
    return self->loops && self->now.edges <= self->set.loop_edges;
}

static td_status go_on(td_multi_job *self)
{
    bool far, pushes = td_gpu_chooses_push(td_multi_first(self), &self->now), small = pushes && is_small(self);
    bool long_and_small = self->search_is_long && small && self->set.loop_pulls == TD_PULLS_AUTO;
    if (self->searches && !long_and_small) {
        TD_CHECK(td_multi_search(self));
        return td_multi_checkpoint(self);
    }
    if (small) {
        TD_CHECK(td_multi_loop_rounds(self, &far));
        return td_multi_checkpoint(self);
    }
    TD_CHECK(pushes ? push(self) : pull(self));
    return td_multi_checkpoint(self);
}

td_status td_multi_rounds(td_multi_job *self)
{
    td_gpu_job *first = td_multi_first(self);
    TD_CHECK(td_multi_init(self));
    while (self->now.vertices > 0 && first->state.context.iteration < first->limit) TD_CHECK(go_on(self));
    self->run->converged = self->now.vertices == 0;
    return TD_OK;
}

/* Peeling. */

static td_peel_args peel_args(const td_multi_gpu *gpu, uint32_t count)
{
    return (td_peel_args){.state = gpu->job.state, .left = gpu->job.arrays.left, .next_left = gpu->job.arrays.next_left,
                          .queue = gpu->job.arrays.queue[0], .count = count};
}

static td_status leave_all(td_multi_job *self)
{
    TD_EACH_GPU(self, gpu) {
        gpu->left = gpu->fragment->end - gpu->fragment->first;
        td_peel_args args = peel_args(gpu, gpu->left);
        args.first_vertex = gpu->fragment->first;
        TD_CHECK(td_gpu_launch(&gpu->job, gpu->job.stream, &gpu->job.kernels->fill_left, gpu->left, &args));
    }
    return TD_OK;
}

/* Of the vertices left, those of this level become the frontier. */
static td_status next_level(td_multi_job *self, uint64_t *lowest)
{
    *lowest = UINT64_MAX;
    self->tally_stale = true;
    TD_CHECK(td_multi_reset(self));
    TD_EACH_GPU(self, gpu) {
        td_peel_args args = peel_args(gpu, gpu->left);
        args.state = td_multi_state(gpu, gpu->fragment);
        TD_CHECK(td_gpu_launch(&gpu->job, gpu->job.stream, &gpu->job.kernels->peel, gpu->left, &args));
    }
    TD_CHECK(td_multi_wait(self));
    self->now = (td_frontier){.mapped = true};
    TD_EACH_GPU(self, gpu) {
        const td_gpu_control *control = gpu->job.control;
        gpu->left = control->left_count;
        td_gpu_swap(&gpu->job.arrays.left, &gpu->job.arrays.next_left);
        gpu->vertices = control->slot[0].count;
        gpu->edges = control->slot[0].edges;
        self->now.vertices += gpu->vertices;
        self->now.edges += gpu->edges;
        if (control->tally.lowest < *lowest) *lowest = control->tally.lowest;
        TD_CHECK(td_multi_clear(self, gpu, gpu->job.state.active));
        td_queue_args args = {.state = gpu->job.state, .queue = gpu->job.arrays.queue[0],
                              .count = control->slot[0].count};
        TD_CHECK(td_gpu_launch(&gpu->job, gpu->job.stream, &gpu->job.kernels->map_queue, gpu->vertices, &args));
    }
    return TD_OK;
}

static uint64_t all_left(const td_multi_job *self)
{
    uint64_t left = 0;
    for (int i = 0; i < self->count; i++) left += self->gpu[i].left;
    return left;
}

td_status td_multi_peel(td_multi_job *self)
{
    td_gpu_job *first = td_multi_first(self);
    bool within = self->run->resumed != NULL; /* a level that is being emptied: `now` is what is under way */
    uint64_t lowest = UINT64_MAX;
    TD_CHECK(td_multi_init(self));
    TD_CHECK(leave_all(self));
    for (; all_left(self) > 0; within = false) {
        if (!within) TD_CHECK(next_level(self, &lowest));
        bool any = within || self->now.vertices > 0;
        while (self->now.vertices > 0 && first->state.context.iteration < first->limit) TD_CHECK(go_on(self));
        if (first->state.context.iteration >= first->limit) return TD_OK;
        uint32_t phase = any ? first->state.context.phase + 1 : (uint32_t)lowest;
        TD_EACH_GPU(self, gpu) gpu->job.state.context.phase = phase;
    }
    self->run->converged = true;
    return TD_OK;
}

/* Priorities: one bucket for all GPUs. */

static td_far_args far_args(const td_multi_gpu *gpu, const td_multi_fragment *fragment)
{
    td_far_args args = td_gpu_far_args(&gpu->job);
    args.state = td_multi_state(gpu, fragment);
    args.first_vertex = fragment->first;
    args.end_vertex = fragment->end;
    return args;
}

static td_status find_lowest(td_multi_job *self, uint32_t *lowest)
{
    *lowest = UINT32_MAX;
    TD_CHECK(td_multi_reset(self));
    TD_EACH_OWNED(self, gpu, fragment) {
        td_far_args args = far_args(gpu, fragment);
        TD_CHECK(td_gpu_launch(&gpu->job, gpu->job.stream, &gpu->job.kernels->far_lowest,
                               ((uint64_t)fragment->end - fragment->first + 31) / 32 * 32, &args));
    }
    TD_CHECK(td_multi_wait(self));
    TD_EACH_MEMBER(self, gpu)
        if (gpu->job.control->far_lowest < *lowest) *lowest = gpu->job.control->far_lowest;
    return TD_OK;
}

/* The deferred vertices of the lowest priority on any GPU become the frontier. */
static td_status next_bucket(td_multi_job *self, bool *more)
{
    uint32_t lowest;
    self->queue.listed = false; /* and empty */
    TD_CHECK(find_lowest(self, &lowest));
    *more = lowest != UINT32_MAX;
    if (!*more) return TD_OK;
    TD_CHECK(td_multi_reset(self));
    TD_EACH_OWNED(self, gpu, fragment) {
        td_far_args args = far_args(gpu, fragment);
        args.next_bound = lowest;
        TD_CHECK(td_gpu_launch(&gpu->job, gpu->job.stream, &gpu->job.kernels->far_split,
                               ((uint64_t)fragment->end - fragment->first + 31) / 32 * 32, &args));
    }
    TD_CHECK(td_multi_measure(self, TD_MAP_NEXT));
    TD_CHECK(retire_frontier(self));
    TD_CHECK(td_multi_wait(self));
    TD_EACH_GPU(self, gpu) gpu->job.bound = lowest;
    td_multi_add_up(self);
    td_multi_next_frontier(self);
    return TD_OK;
}

td_status td_multi_priorities(td_multi_job *self)
{
    double one_over_delta = 1 / td_gpu_delta(self->graph, self->set.delta);
    TD_EACH_GPU(self, gpu) gpu->job.one_over_delta = one_over_delta;
    TD_CHECK(td_multi_init(self));
    for (bool more = true; more;) {
        if (is_small(self)) {
            TD_CHECK(td_multi_loop_rounds(self, &more));
            more = more || self->now.vertices > 0;
            self->run->converged = !more;
            TD_CHECK(td_multi_checkpoint(self));
            continue;
        }
        if (self->now.vertices == 0) {
            uint64_t began = td_multi_clock(self);
            TD_CHECK(next_bucket(self, &more));
            self->times.deciding += more ? td_multi_clock(self) - began : 0;
            continue;
        }
        TD_CHECK(push(self));
        self->run->rows[self->run->row_count - 1].direction = "near";
        TD_CHECK(td_multi_checkpoint(self));
    }
    self->run->converged = true;
    return TD_OK;
}
