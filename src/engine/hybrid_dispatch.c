/* Garaph's dispatcher (section 5): alpha decides, iteration by iteration, whether the GPU takes part in a pull; if it does,
 * pages go to whichever of the two is free next. */
#include "engine/hybrid_gpu.h"

#include "base/cancel.h"
#include "base/clock.h"

#include <math.h>

static const double HARDWARE_RATIO = 4;  /* Tpull / Tgpu before anything was measured */
enum { HOST_EDGE_BYTES = 16 };           /* that an edge costs the processor, for virtual clocks */

void td_hybrid_learn(double *rate, uint64_t edges, uint64_t ns)
{
    double now = (double)edges / (double)(ns > 0 ? ns : 1);
    if (edges > 0) *rate = *rate > 0 ? 0.5 * (*rate + now) : now;
}

/* alpha = min(2 f rho, 1) Tpull / Tgpu. */
bool td_hybrid_invites_gpu(const td_hybrid_job *self)
{
    double f = (double)self->row.active_edges / (double)(td_cpu_view_edges(&self->cpu) + 1);
    double ratio = self->cpu_rate > 0 && self->gpu_rate > 0 ? self->gpu_rate / self->cpu_rate : HARDWARE_RATIO;
    if (self->gpu == NULL) return false;
    return self->use == TD_USE_GPU || fmin(2 * f * self->ratio, 1) * ratio >= 1;
}

typedef struct dispatch {
    td_hybrid_job *job;
    const td_hybrid_pass *pass;
    td_cpu_tally *sum;
    uint32_t next; /* place of the order */
} dispatch;

static td_hybrid_slot *free_slot(td_hybrid_gpu *gpu)
{
    for (int i = 0; i < TD_HYBRID_SLOTS; i++)
        if (!gpu->slots[i].busy) return &gpu->slots[i];
    return NULL;
}

static td_status feed_gpu(dispatch *self)
{
    td_hybrid_job *job = self->job;
    td_hybrid_slot *slot;
    while (self->next < job->order_count && td_hybrid_gpu_takes(job->gpu, job->order[self->next]) && (slot = free_slot(job->gpu)) != NULL) {
        uint32_t place = self->next++;
        TD_CHECK(td_paged_wait(job->paged, place));
        TD_CHECK(td_hybrid_gpu_fly(job->gpu, slot, place));
        self->sum->edges += slot->edges;
    }
    return TD_OK;
}

/* A page for the processor; a virtual clock goes on with it. */
static td_status feed_cpu(dispatch *self)
{
    td_hybrid_job *job = self->job;
    td_cpu_tally more = {.lowest = UINT64_MAX};
    uint32_t place = self->next++;
    td_device *device = job->gpu->job.device;
    TD_CHECK(td_paged_wait(job->paged, place));
    uint64_t began = td_device_clock(device);
    TD_CHECK(self->pass->work(job, self->pass->set, job->order[place], &more));
    td_device_host_worked(device, more.edges * HOST_EDGE_BYTES);
    td_hybrid_learn(&job->cpu_rate, more.edges, td_device_clock(device) - began);
    td_hybrid_add(self->sum, &more, job->cpu.kernels->measure);
    job->row.pages_cpu++;
    return td_paged_leave(job->paged, place, 1);
}

/* Whether the processor would be through with the page before the GPU were through with all that is left. */
static bool cpu_is_worth_it(const dispatch *self)
{
    const td_hybrid_job *job = self->job;
    uint32_t page = job->order[self->next];
    if (!td_hybrid_gpu_takes(job->gpu, page)) return true;
    if (job->use == TD_USE_GPU) return false;
    if (job->cpu_rate == 0 || job->gpu_rate == 0) return true;
    uint64_t edges = td_page_edges(self->pass->set, page), ahead = 0;
    for (int i = 0; i < TD_HYBRID_SLOTS; i++) ahead += job->gpu->slots[i].busy ? job->gpu->slots[i].edges : 0;
    for (uint32_t i = self->next; i < job->order_count && i < self->next + 64; i++) ahead += td_page_edges(self->pass->set, job->order[i]);
    return (double)edges / job->cpu_rate <= (double)ahead / job->gpu_rate;
}

static td_status failed(const td_hybrid_gpu *gpu)
{
    if (gpu->status != TD_OK) td_message_set(gpu->message);
    return gpu->status;
}

static td_status go(dispatch *self)
{
    td_hybrid_job *job = self->job;
    td_hybrid_gpu *gpu = job->gpu;
    while (self->next < job->order_count || gpu->flights > 0) {
        TD_CHECK(feed_gpu(self));
        if (self->next < job->order_count && cpu_is_worth_it(self)) TD_CHECK(feed_cpu(self));
        else if (gpu->flights > 0) TD_CHECK(td_loop_run(gpu->loop));
        TD_CHECK(td_loop_poll(gpu->loop, td_device_clock(gpu->job.device)));
        TD_CHECK(failed(gpu));
        TD_CHECK(td_cancel_check());
    }
    return TD_OK;
}

td_status td_hybrid_dispatch(td_hybrid_job *self, const td_hybrid_pass *pass, td_cpu_tally *sum)
{
    dispatch state = {self, pass, sum, 0};
    td_page_pass pages = {.set = pass->set, .needs = pass->needs, .order = self->order, .count = self->order_count};
    *sum = (td_cpu_tally){.lowest = UINT64_MAX};
    TD_CHECK(td_hybrid_gpu_begin(self->gpu));
    TD_CHECK(td_paged_begin(self->paged, &pages));
    TD_CHECK(go(&state));
    return td_hybrid_gpu_end(self->gpu, sum);
}
