/* Programs without a frontier: every iteration gather-sums along all lists of every fragment, and the new messages go to
 * the mirrors. */
#include "engine/multi/multi.h"

#include "base/clock.h"

#include <math.h>

/* The counters of all GPUs, in their order. */
static void add_changes(const td_multi_job *self, double *change, double *share)
{
    *change = *share = 0;
    for (int i = 0; i < self->count; i++) {
        const td_gpu_tally *tally = &self->gpu[i].job.control->tally;
        if (self->traits->measure == TD_MEASURE_MAX)
            *change = td_larger_change(*change, tally->change);
        else *change += tally->change;
        *share += tally->share;
    }
}

static td_status share_early(td_multi_job *self)
{
    TD_CHECK(td_multi_read_aside(self));
    TD_EACH_GPU(self, gpu) td_gpu_turn_values(&gpu->job);
    TD_CHECK(td_multi_share_messages(self));
    return td_multi_wait_aside(self);
}

static td_status gather(td_multi_job *self)
{
    uint64_t began = td_clock_ns();
    double change, share;
    self->row = (td_row){.direction = "pull", .active_vertices = self->graph->vertices,
                         .active_edges = td_gpu_view_edges(td_multi_first(self))};
    self->row.edges = self->row.active_edges;
    TD_CHECK(td_multi_divide(self, TD_WORK_GATHER));
    TD_CHECK(td_multi_reset(self));
    for (int i = 0; i < self->balance.parts; i++) TD_CHECK(td_multi_gather_part(self, &self->balance.part[i]));
    TD_EACH_GPU(self, gpu) TD_CHECK(td_multi_note_processed(self, gpu));
    TD_CHECK(td_multi_apply(self));
    bool early = td_multi_shares_whole(self); /* then the exchange needs no counters, and goes on while the host reads them */
    if (early) TD_CHECK(share_early(self));
    else TD_CHECK(td_multi_wait(self));
    TD_CHECK(td_multi_settle(self));
    TD_EACH_GPU(self, gpu) gpu->processed = td_multi_assigned(self, td_multi_index(self, gpu));
    add_changes(self, &change, &share);
    TD_CHECK(td_gpu_check_convergence(td_multi_first(self), change, share));
    TD_EACH_GPU(self, gpu) gpu->job.state.context.global = share;
    if (!early) TD_EACH_GPU(self, gpu) td_gpu_turn_values(&gpu->job);
    if (!early) TD_CHECK(td_multi_share_messages(self));
    self->row.change = change;
    return td_multi_end_iteration(self, began);
}

td_status td_multi_gather(td_multi_job *self)
{
    td_gpu_job *first = td_multi_first(self);
    TD_CHECK(td_multi_init(self));
    while (first->state.context.iteration < first->limit && !self->run->converged) {
        TD_CHECK(gather(self));
        TD_CHECK(td_multi_checkpoint(self));
    }
    return TD_OK;
}
