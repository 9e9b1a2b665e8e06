/* Garaph's dispatcher (section 5): alpha decides for every iteration whether the GPU takes part in a pull; if it does,
 * pages go to the device that is free next. The CPU's page is a task beside the event loop, so that the GPU is served
 * meanwhile; the CPU starts while values are still copied to the GPU. */
#include "engine/hybrid/gpu.h"

#include "base/cancel.h"
#include "base/clock.h"
#include "base/task.h"

#include <math.h>

static const double HARDWARE_RATIO = 4; /* Tpull / Tgpu before the first measurement */
static const double WORTH_IT = 1.1;     /* minimum gain expected from an estimated time */
/* A push propagates new values within the pass, so a pull leaves more work for later passes. */
static const double PUSH_IS_AHEAD = 1.5;
enum { LOOK_AHEAD = 64 };               /* pages considered when the devices' remaining times are compared */

void td_hybrid_update_rate(double *rate, uint64_t edges, uint64_t ns)
{
    double now = (double)edges / (double)(ns > 0 ? ns : 1);
    if (edges > 0) *rate = *rate > 0 ? 0.5 * (*rate + now) : now;
}

/* Garaph: alpha = min(2 f rho, 1) Tpull / Tgpu, for the paper's rule with the GPU's time for all pages. By the measured
 * rule a push visits the active edges once, not twice like notify and pull, and Tgpu is the time of both devices together,
 * including the copy of the values to the GPU. Times are those of all edges, by the rates measured so far; before the
 * CPU's first measurement their ratio is the hardware's. */
void td_hybrid_estimate(td_hybrid_job *self)
{
    td_row *row = &self->row;
    bool paper = self->rule == TD_RULE_PAPER;
    if (self->gpu == NULL) return;
    double all = (double)td_cpu_view_edges(&self->cpu) + 1, f = (double)row->active_edges / all;
    double visits = !paper && self->cpu.kernels->fused ? 1 : 2, part = fmin(visits * f * self->ratio, 1);
    row->alpha = part * HARDWARE_RATIO;
    if (self->gpu_rate > 0) row->tgpu_seconds = (all / self->gpu_rate + self->gpu->setup_ns) * 1e-9;
    if (self->cpu_rate == 0) return;
    double guess = fmin(HARDWARE_RATIO * self->cpu_rate, self->gpu->link_rate);
    double gpu_rate = self->gpu_rate > 0 ? self->gpu_rate : guess, copy = self->gpu->setup_ns;
    double together = (all + gpu_rate * copy) / (self->cpu_rate + gpu_rate) + self->gpu->end_ns;
    row->tpull_seconds = all / self->cpu_rate * 1e-9;
    row->tgpu_seconds = (paper ? all / gpu_rate + copy : together) * 1e-9;
    row->alpha = part * row->tpull_seconds / row->tgpu_seconds;
}

bool td_hybrid_invokes_gpu(td_hybrid_job *self)
{
    td_hybrid_estimate(self);
    if (self->gpu == NULL) return false;
    if (self->use == TD_USE_GPU) return true;
    bool exact = self->rule == TD_RULE_PAPER || self->cpu_rate == 0;
    double least = exact ? 1 : self->cpu.kernels->fused ? PUSH_IS_AHEAD : WORTH_IT;
    return self->row.alpha >= least;
}

typedef struct dispatch {
    td_hybrid_job *job;
    const td_hybrid_pass *pass;
    td_cpu_tally *sum;
    bool alone;     /* the GPU processes all pages that fit in its slots */
    uint32_t next;  /* next position in the order */
    td_task task;   /* the CPU's page */
    bool at_work;
    uint32_t place;
    uint64_t began;
    td_cpu_tally found;
} dispatch;

/* Gains. */

static uint64_t edges_left(const dispatch *self)
{
    uint64_t edges = 0;
    for (uint32_t i = self->next; i < self->job->order_count && i < self->next + LOOK_AHEAD; i++)
        edges += td_page_edges(self->pass->set, self->job->order[i]);
    return edges;
}

static uint64_t edges_flying(const td_hybrid_gpu *gpu)
{
    uint64_t edges = 0;
    for (int i = 0; i < TD_HYBRID_SLOTS; i++) edges += gpu->slots[i].busy ? gpu->slots[i].edges : 0;
    return edges;
}

static bool rates_known(const td_hybrid_job *job) { return job->cpu_rate > 0 && job->gpu_rate > 0; }

/* Whether the CPU would finish the page before the GPU finishes all remaining pages. */
static bool cpu_is_worth_it(const dispatch *self)
{
    const td_hybrid_job *job = self->job;
    uint32_t page = job->order[self->next];
    if (!td_hybrid_gpu_takes(job->gpu, page)) return true;
    if (self->alone) return false;
    if (!rates_known(job) || job->rule == TD_RULE_PAPER) return true; /* Garaph: the next free device */
    double there = (double)(edges_flying(job->gpu) + edges_left(self)) / job->gpu_rate +
                   (job->gpu->ready ? 0 : job->gpu->setup_ns);
    return (double)td_page_edges(self->pass->set, page) / job->cpu_rate <= there;
}

/* Whether the GPU would finish a page before the CPU finishes the rest. The first page measures the GPU's rate. */
static bool gpu_is_worth_it(const dispatch *self)
{
    const td_hybrid_job *job = self->job;
    uint32_t page = job->order[self->next];
    if (!job->gpu->ready || !td_hybrid_gpu_takes(job->gpu, page)) return false;
    if (self->alone || job->rule == TD_RULE_PAPER) return true;
    if (job->gpu_rate == 0) return job->gpu->flights == 0;
    if (job->cpu_rate == 0) return true;
    uint64_t here = edges_left(self) + (self->at_work ? td_page_edges(self->pass->set, job->order[self->place]) : 0);
    return (double)(edges_flying(job->gpu) + td_page_edges(self->pass->set, page)) / job->gpu_rate <=
           (double)here / job->cpu_rate;
}

/* Accumulating programs visit every edge in every iteration. Rates of pages do not show how CPU and GPU slow each other
 * down (memory, link): after two shared iterations the GPU is tried alone, unless its rate is far too low, and the
 * faster choice is used from then on. */
static bool gpu_goes_alone(const td_hybrid_job *job)
{
    enum { TOGETHER_FIRST = 2 };
    static const double FAR_BEHIND = 1.25;
    if (job->use == TD_USE_GPU) return true;
    if (job->rule == TD_RULE_PAPER) return false;
    if (job->cpu.kernels->fused || job->passes < TOGETHER_FIRST) return false;
    if (job->alone_ns > 0) return job->alone_ns < job->together_ns;
    double edges = (double)td_cpu_view_edges(&job->cpu);
    double alone = job->gpu_rate > 0 ? edges / job->gpu_rate + job->gpu->setup_ns : INFINITY;
    return alone < FAR_BEHIND * (double)job->together_ns;
}

/* Pages for the GPU. */

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
    while (self->next < job->order_count && gpu_is_worth_it(self) && (slot = free_slot(job->gpu)) != NULL) {
        uint32_t place = self->next++;
        TD_CHECK(td_paged_wait(job->paged, place));
        TD_CHECK(td_hybrid_gpu_launch(job->gpu, slot, place));
        self->sum->edges += slot->edges;
    }
    return TD_OK;
}

/* Pages for the CPU. */

static td_status work_on_page(void *context, uint64_t *time)
{
    dispatch *self = context;
    td_hybrid_job *job = self->job;
    self->found = (td_cpu_tally){.lowest = UINT64_MAX};
    TD_CHECK(self->pass->work(job, self->pass->set, job->order[self->place], &self->found));
    *time = td_device_host_until(job->gpu->job.device, self->began, self->found.edges * TD_HYBRID_EDGE_BYTES);
    return TD_OK;
}

static void on_worked(void *context, td_status status, uint64_t value)
{
    dispatch *self = context;
    td_hybrid_job *job = self->job;
    uint64_t now = td_hybrid_gpu_done_at(job->gpu);
    (void)value;
    td_task_join(&self->task);
    td_hybrid_gpu_note(job->gpu, now);
    self->at_work = job->gpu->cpu_works = false;
    td_hybrid_gpu_record_status(job->gpu, status);
    td_hybrid_update_rate(&job->cpu_rate, self->found.edges, now > self->began ? now - self->began : 1);
    td_hybrid_add(self->sum, &self->found, job->cpu.kernels->measure);
    job->row.pages_cpu++;
    td_hybrid_gpu_record_status(job->gpu, td_paged_leave(job->paged, self->place, 1));
    td_loop_stop(job->gpu->set->loop);
}

static td_status feed_cpu(dispatch *self)
{
    td_hybrid_job *job = self->job;
    if (self->at_work || self->next == job->order_count || !cpu_is_worth_it(self)) return TD_OK;
    self->place = self->next++;
    TD_CHECK(td_paged_wait(job->paged, self->place));
    self->began = td_device_clock(job->gpu->job.device);
    td_hybrid_gpu_note(job->gpu, self->began);
    self->at_work = job->gpu->cpu_works = true;
    self->task = (td_task){.loop = job->gpu->set->loop, .work = work_on_page, .handler = on_worked, .context = self};
    td_task_start(&self->task);
    return TD_OK;
}

static td_status failed(const td_hybrid_gpu *gpu)
{
    if (gpu->status != TD_OK) td_failure_set(&gpu->failure);
    return gpu->status;
}

static td_status go(dispatch *self)
{
    td_hybrid_job *job = self->job;
    td_hybrid_gpu *gpu = job->gpu;
    while (self->next < job->order_count || gpu->flights > 0 || self->at_work || !gpu->ready) {
        TD_CHECK(feed_gpu(self));
        TD_CHECK(feed_cpu(self));
        if (gpu->flights > 0 || self->at_work || !gpu->ready) TD_CHECK(td_loop_run(gpu->set->loop));
        TD_CHECK(failed(gpu));
        TD_CHECK(td_cancel_check());
    }
    return TD_OK;
}

td_status td_hybrid_dispatch(td_hybrid_job *self, const td_hybrid_pass *pass, td_cpu_tally *sum)
{
    dispatch state = {.job = self, .pass = pass, .sum = sum, .alone = gpu_goes_alone(self)};
    uint64_t began = td_device_clock(self->gpu->job.device);
    td_page_pass pages = {.set = pass->set, .needs = pass->needs, .order = self->order, .count = self->order_count};
    *sum = (td_cpu_tally){.lowest = UINT64_MAX};
    TD_CHECK(td_paged_begin(self->paged, &pages));
    TD_CHECK(td_hybrid_gpu_begin(self->gpu));
    td_status status = go(&state);
    td_task_join(&state.task);
    self->row.overlap_seconds = (double)self->gpu->overlap_ns * 1e-9;
    if (status == TD_OK) status = td_hybrid_gpu_end(self->gpu, sum);
    *(state.alone ? &self->alone_ns : &self->together_ns) = td_device_clock(self->gpu->job.device) - began;
    self->passes++;
    return status;
}
