/* What the time of an iteration goes to (GUM, Figure 6): computing, packing, deciding, and the rest, which is communication
 * and starvation. Iterations follow each other without gaps, so that the parts of all of them add up to the run's time by
 * the devices' clock, to the nanosecond. */
#include "engine/multi/multi.h"

uint64_t td_multi_clock(const td_multi_job *self)
{
    uint64_t latest = 0;
    for (int i = 0; i < self->count; i++) {
        uint64_t now = td_device_clock(self->gpu[i].job.device);
        if (now > latest) latest = now;
    }
    return latest;
}

static void on_packed(void *context, td_status status, uint64_t gpu)
{
    td_multi_job *self = context;
    uint64_t virtual_time = td_loop_time(self->loop);
    if (status != TD_OK && self->failed == TD_OK) self->failed = status;
    self->gpu[gpu].packed_at = virtual_time > 0 ? virtual_time : td_loop_arrived(self->loop);
    if (--self->waiting == 0) td_loop_stop(self->loop);
}

td_status td_multi_note_packed(td_multi_job *self, td_multi_gpu *gpu)
{
    if (!self->set.breakdown) return TD_OK;
    self->waiting++;
    return td_stream_notify(gpu->job.stream, on_packed, self, (uint64_t)td_multi_index(self, gpu));
}

static uint64_t after(uint64_t end, uint64_t begin) { return end > begin ? end - begin : 0; }

void td_multi_add_parts(td_multi_job *self)
{
    uint64_t computing = 0, packing = 0;
    TD_EACH_GPU(self, gpu) {
        uint64_t began = self->balance.began; /* or when messages of the iteration before were there */
        if (gpu->started_at > began) began = gpu->started_at;
        computing += after(gpu->processed_at, began);
        if (gpu->processed_at > 0) packing += after(gpu->packed_at, gpu->processed_at);
    }
    self->times.computing += computing / (uint64_t)self->count;
    self->times.packing += packing / (uint64_t)self->count;
}

/* A part is cut to what is left of the iteration: a GPU may report late. */
static double take_part(uint64_t *left, uint64_t part)
{
    uint64_t taken = part < *left ? part : *left;
    *left -= taken;
    return (double)taken * 1e-9;
}

void td_multi_end_parts(td_multi_job *self, td_row *row, bool computing)
{
    td_multi_times *times = &self->times;
    uint64_t now = td_multi_clock(self), left = after(now, times->ended);
    if (self->set.breakdown) {
        row->deciding_seconds = take_part(&left, times->deciding);
        row->computing_seconds = take_part(&left, times->computing);
        row->packing_seconds = take_part(&left, times->packing);
        if (computing) row->computing_seconds += take_part(&left, left);
        row->waiting_seconds = (double)left * 1e-9;
    }
    *times = (td_multi_times){.ended = now};
}

/* Behind the last iteration: the search that found nothing more to do. */
void td_multi_close_parts(td_multi_job *self)
{
    td_run *run = self->run;
    if (!self->set.breakdown || run->row_count == 0) return;
    run->full_rows[run->row_count - 1].deciding_seconds += (double)after(td_multi_clock(self), self->times.ended) * 1e-9;
}
