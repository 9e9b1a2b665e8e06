/* Sweeps over all edges. Every GPU sweeps its fragment on values of its own for all vertices. Components are then joined
 * across the cut: what one GPU found is an edge from every vertex to its label, for another GPU. Of forests the best edge
 * of every component is the best of all GPUs', and all GPUs then take the same steps. */
#include "engine/multi/multi.h"

#include "base/clock.h"

/* What a program does with every vertex after a sweep. GPUs with values of their own all do the same; GPUs that share
 * them do a range each, one step after another. */
static td_status steps_of_all(td_multi_job *self)
{
    if (!self->shared) {
        TD_EACH_GPU(self, gpu) TD_CHECK(td_gpu_vertex_steps(&gpu->job));
        return TD_OK;
    }
    for (uint32_t step = 0; step < (uint32_t)self->traits->steps; step++) {
        TD_CHECK(td_multi_all_wait(self));
        TD_EACH_OWNED(self, gpu, fragment) {
            td_between_args args = {.state = gpu->job.state, .step = step, .first_vertex = fragment->first,
                                    .end_vertex = fragment->end};
            if (fragment->first < fragment->end)
                TD_CHECK(td_gpu_launch(&gpu->job, gpu->job.stream, &gpu->job.kernels->between,
                                       fragment->end - fragment->first, &args));
        }
    }
    return td_multi_all_wait(self);
}

/* Components. */

/* Takes what another GPU found. */
static td_status join(td_multi_job *self, td_multi_gpu *gpu, td_multi_gpu *other)
{
    td_gpu_job *job = &gpu->job;
    uint64_t n = job->graph->vertices;
    TD_CHECK(td_gpu_copy_between(&self->exchange, td_multi_index(self, gpu), gpu->labels, td_multi_index(self, other),
                                 other->job.state.values, n * job->traits->value_bytes));
    td_join_args args = {.state = job->state, .labels = gpu->labels};
    return td_gpu_launch(job, job->stream, &job->kernels->join, n, &args);
}

/* Joins the components of all GPUs, pair by pair, on the first one. */
static td_status join_all(td_multi_job *self)
{
    if (self->shared) return TD_OK;
    for (int step = 1; step < self->count; step *= 2) {
        TD_CHECK(td_multi_all_wait(self));
        for (int i = 0; i + step < self->count; i += 2 * step)
            TD_CHECK(join(self, &self->gpu[i], &self->gpu[i + step]));
    }
    return td_gpu_vertex_steps(td_multi_first(self));
}

/* Gives all GPUs the values of the first. */
static td_status share_first(td_multi_job *self)
{
    td_gpu_job *first = td_multi_first(self);
    uint64_t bytes = self->graph->vertices * self->traits->value_bytes;
    TD_CHECK(td_multi_all_wait(self));
    if (self->shared) return TD_OK;
    TD_EACH_GPU(self, gpu)
        if (&gpu->job != first)
            TD_CHECK(td_gpu_copy_between(&self->exchange, td_multi_index(self, gpu), gpu->job.state.values, 0,
                                         first->state.values, bytes));
    return TD_OK;
}

static td_status skip_commonest(td_multi_job *self, uint32_t sampled)
{
    td_gpu_job *first = td_multi_first(self);
    TD_CHECK(td_gpu_find_commonest(first));
    TD_CHECK(share_first(self));
    TD_EACH_GPU(self, gpu) {
        gpu->job.left_out = first->left_out;
        gpu->job.sampled = sampled;
        gpu->job.skipping = true;
    }
    return TD_OK;
}

/* The vertices whose lists are not all on the GPU take their samples from the host. */
static td_status sample_range(td_multi_gpu *gpu, uint32_t step, uint32_t share, uint32_t first, uint32_t end, bool at_host)
{
    td_gpu_job *job = &gpu->job;
    const td_multi_lists *lists = &gpu->fragment->push;
    td_sample_args args = {.state = td_multi_state(gpu, gpu->fragment), .list = at_host ? lists->rest : lists->view,
                           .step = step, .share = share, .first_vertex = first, .end_vertex = end, .from_host = at_host};
    return first < end ? td_gpu_launch(job, job->stream, &job->kernels->sample, end - first, &args) : TD_OK;
}

static td_status sample_once(td_multi_job *self, uint32_t step, uint32_t share)
{
    TD_EACH_GPU(self, gpu) {
        const td_multi_fragment *fragment = gpu->fragment;
        TD_CHECK(sample_range(gpu, step, share, fragment->first, fragment->push.split, false));
        TD_CHECK(sample_range(gpu, step, share, fragment->push.split, fragment->end, true));
    }
    return step > 0 || share > 0 ? steps_of_all(self) : self->shared ? td_multi_all_wait(self) : TD_OK;
}

static void note_processed(td_multi_job *self)
{
    TD_EACH_GPU(self, gpu) {
        self->row.edges += gpu->processed = gpu->job.control->tally.edges;
        self->row.bytes_direct += td_multi_host_bytes(gpu, td_multi_edge_bytes(self));
    }
    self->row.active_edges = self->row.edges;
}

static td_status sample(td_multi_job *self)
{
    uint64_t began = td_clock_ns();
    self->row = (td_row){.direction = "sample", .active_vertices = self->graph->vertices};
    TD_CHECK(td_multi_reset(self));
    for (uint32_t step = 0; step < self->set.samples; step++)
        for (uint32_t share = 0; share < 2; share++) TD_CHECK(sample_once(self, step, share));
    TD_CHECK(join_all(self));
    TD_CHECK(skip_commonest(self, self->set.samples));
    TD_CHECK(td_multi_wait(self));
    note_processed(self);
    return td_multi_end_iteration(self, began);
}

/* Forests. */

static td_status share_best(td_multi_job *self)
{
    td_gpu_exchange *exchange = &self->exchange;
    if (self->shared) return TD_OK; /* all found theirs in the same place */
    TD_EACH_GPU(self, gpu) {
        td_gpu_mailbox *box = &exchange->box[td_multi_index(self, gpu)];
        td_best_args args = {.state = gpu->job.state, .vertices = box->vertices, .keys = box->values,
                             .length = &gpu->job.state.control->lengths[0]};
        TD_CHECK(td_gpu_launch(&gpu->job, gpu->job.stream, &gpu->job.kernels->pack_best,
                               td_gpu_words(&gpu->job) * 32, &args));
    }
    if (td_gpu_exchange_copies(exchange)) TD_CHECK(td_multi_wait(self)); /* lengths */
    TD_CHECK(td_multi_all_wait(self));
    TD_EACH_GPU(self, gpu)
        TD_EACH_GPU(self, other) {
            int to = td_multi_index(self, gpu), from = td_multi_index(self, other);
            td_gpu_mailbox *box = &exchange->box[from], *in = &exchange->box[to];
            td_best_args args = {.state = gpu->job.state, .vertices = box->vertices, .keys = box->values,
                                 .length = &other->job.state.control->lengths[0]};
            if (from == to) continue;
            if (!in->reads[from]) {
                uint64_t length = other->job.control->lengths[0];
                TD_CHECK(td_gpu_copy_between(exchange, to, in->in_vertices, from, box->vertices, length * sizeof(uint32_t)));
                TD_CHECK(td_gpu_copy_between(exchange, to, in->in_values, from, box->values,
                                             length * exchange->entry_bytes));
                TD_CHECK(td_gpu_copy_between(exchange, to, in->in_length, from, args.length, sizeof(uint32_t)));
                args = (td_best_args){gpu->job.state, in->in_vertices, in->in_values, in->in_length};
            }
            TD_CHECK(td_gpu_launch(&gpu->job, gpu->job.stream, &gpu->job.kernels->take_best, self->graph->vertices,
                                   &args));
        }
    return td_multi_all_wait(self); /* outboxes are free again, and counters may be cleared */
}

static td_status collect_edges(td_multi_job *self)
{
    td_gpu_job *first = td_multi_first(self);
    TD_EACH_OWNED(self, gpu, fragment) { /* without shared values the others only make ready for the next round */
        td_collect_args args = {.state = gpu->job.state, .edges = gpu->job.arrays.edges,
                                .count = &gpu->job.state.control->edge_count, .end_vertex = self->graph->vertices};
        if (self->shared) {
            args.edges = first->arrays.edges;
            args.count = &first->state.control->edge_count;
            args.first_vertex = fragment->first;
            args.end_vertex = fragment->end;
        }
        if (args.first_vertex < args.end_vertex)
            TD_CHECK(td_gpu_launch(&gpu->job, gpu->job.stream, &gpu->job.kernels->collect,
                                   args.end_vertex - args.first_vertex, &args));
    }
    return self->shared ? td_multi_all_wait(self) : TD_OK;
}

static td_status sweep_section(td_multi_job *self, const td_multi_part *which, bool at_host)
{
    td_multi_gpu *gpu = &self->gpu[which->gpu];
    const td_multi_fragment *fragment = &self->layout->fragment[which->fragment];
    td_gpu_job *job = &gpu->job;
    td_gpu_part part;
    td_gpu_list view;
    if (!td_multi_section(&fragment->push, which, at_host, &part, &view)) return TD_OK;
    td_sweep_args args = td_gpu_sweep_args(job, view, &part);
    args.state = td_multi_state(gpu, fragment);
    TD_CHECK(td_gpu_clear_pieces(job, job->stream)); /* those of a part before */
    return td_gpu_sweep_part(job, job->stream, &args);
}

static td_status sweep_part(td_multi_job *self, const td_multi_part *which)
{
    TD_CHECK(sweep_section(self, which, false));
    return sweep_section(self, which, true);
}

static td_status sweep(td_multi_job *self, bool *again)
{
    uint64_t began = td_clock_ns();
    td_gpu_job *first = td_multi_first(self);
    bool forest = self->traits->edge != NULL;
    self->row = (td_row){.direction = "sweep", .active_vertices = self->graph->vertices};
    TD_CHECK(td_multi_divide(self, TD_WORK_SWEEP));
    TD_CHECK(td_multi_reset(self));
    for (int i = 0; i < self->balance.parts; i++) TD_CHECK(sweep_part(self, &self->balance.part[i]));
    TD_EACH_GPU(self, gpu) TD_CHECK(td_multi_note_processed(self, gpu));
    if (forest) TD_CHECK(share_best(self));
    TD_CHECK(steps_of_all(self));
    TD_CHECK(forest ? collect_edges(self) : join_all(self));
    TD_CHECK(td_multi_wait(self));
    TD_CHECK(td_multi_settle(self));
    uint64_t total = first->control->tally.total;
    for (int i = 1; i < self->count && self->shared; i++) total += self->gpu[i].job.control->tally.total;
    *again = first->kernels->again(&first->state.context, total);
    note_processed(self);
    return td_multi_end_iteration(self, began);
}

td_status td_multi_sweeps(td_multi_job *self)
{
    td_gpu_job *first = td_multi_first(self);
    bool again = true, resumed = self->run->resumed != NULL, samples = self->traits->samples && self->set.samples > 0;
    TD_CHECK(td_multi_init(self));
    if (samples && resumed) TD_CHECK(skip_commonest(self, 0));
    else if (samples) TD_CHECK(sample(self));
    while (again && !(first->has_limit && first->state.context.iteration >= first->limit)) {
        if (first->state.context.iteration > 0) TD_CHECK(td_multi_checkpoint(self));
        TD_CHECK(sweep(self, &again));
    }
    self->run->converged = !again;
    return td_multi_checkpoint(self);
}
