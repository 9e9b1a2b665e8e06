/* Division of an iteration between GPU and CPU, driven by completions.
 *
 * The GPU has two pieces queued, so that it never waits for the host; a completion queues the next. The CPU's workers
 * process one piece after another, each as one event of the loop; the GPU's completions are handled in between. By the
 * rates measured so far, a piece takes its side a fixed part of the time that both need for the remaining edges: pieces
 * shrink towards the end, and both sides end at about the same time. */
#include "engine/coop/coop.h"

#include "base/clock.h"

#include <stdio.h>

static const double GPU_GUESS = 10;      /* edges per ns, before the first measurement */
static const double CPU_GUESS = 0.1;
static const double SLOWER = 0.5;        /* weight of a new measurement */
static const double GPU_PART = 0.3;      /* a GPU piece's part of the remaining time */
static const double CPU_PART = 0.12; /* a CPU piece's part: smaller, so that the GPU's queued pieces last longer than a
                                      * piece of the CPU */
enum { GPU_WORKERS = 16 };      /* GPU piece over a worker's minimum piece */
enum { LEAST_SEEN = 1 << 12 };  /* minimum edges of a piece for measuring a rate */

uint64_t td_coop_edges(const td_coop_deque *deque, uint64_t begin, uint64_t end)
{
    if (deque->before != NULL) return deque->before[end] - deque->before[begin];
    uint64_t first = begin * deque->unit, last = end * deque->unit;
    return (last < deque->edges ? last : deque->edges) - (first < deque->edges ? first : deque->edges);
}

void td_coop_record_status(td_coop_job *self, td_status status)
{
    if (status == TD_OK || self->status != TD_OK) return;
    self->status = status;
    td_failure_keep(&self->failure);
    td_loop_stop(self->layout->gpu.set->loop);
}

/* Taking. */

/* Takes about so many edges from one end: units from `front` up, or from `back` down. */
static td_coop_piece take(td_coop_job *self, int which, bool in_front, uint64_t wanted)
{
    td_coop_deque *deque = &self->share.deque[which];
    uint64_t low = 1, high = deque->back - deque->front; /* units */
    while (low < high) { /* smallest number of units with that many edges */
        uint64_t middle = low + (high - low) / 2;
        uint64_t edges = in_front ? td_coop_edges(deque, deque->front, deque->front + middle)
                                  : td_coop_edges(deque, deque->back - middle, deque->back);
        if (edges >= wanted) high = middle;
        else low = middle + 1;
    }
    td_coop_piece piece = {.deque = which};
    if (in_front) {
        piece.begin = deque->front;
        piece.end = deque->front += low;
    } else {
        piece.end = deque->back;
        deque->back -= low;
        if (deque->window > 0) deque->back = deque->back / deque->window * deque->window;
        if (deque->back < deque->front) deque->back = deque->front;
        piece.begin = deque->back;
    }
    piece.edges = td_coop_edges(deque, piece.begin, piece.end);
    piece.asked = td_device_clock(self->layout->device);
    return piece;
}

static bool is_empty(const td_coop_deque *deque) { return deque->front >= deque->back; }

static double gpu_rate(const td_coop_job *self, int which)
{
    if (self->share.deque[which].gpu_rate > 0) return self->share.deque[which].gpu_rate;
    if (which == TD_COOP_HOT) return GPU_GUESS;
    return self->layout->copy_rate / (double)(sizeof(uint32_t) + self->layout->split.weight_bytes);
}

/* Rate of all workers. Lists of the rest may be much shorter than hot ones and cost more per edge. */
static double cpu_rate(const td_coop_job *self, int which)
{
    const double *rate = self->rates.cpu_rate;
    if (rate[which] > 0) return rate[which];
    return rate[!which] > 0 ? rate[!which] : CPU_GUESS * td_pool_threads(self->gpu.options->pool);
}

static uint64_t left_in(const td_coop_deque *deque) { return td_coop_edges(deque, deque->front, deque->back); }

/* Whether the GPU processes both deques concurrently. */
static bool has_lanes(const td_coop_job *self)
{
    return self->share.lane[TD_COOP_HOT] != self->share.lane[TD_COOP_REST];
}

/* Time until both sides have processed all remaining edges, each its own deque first and then the other's if it may. */
static double time_left(const td_coop_job *self)
{
    double hot = (double)left_in(&self->share.deque[TD_COOP_HOT]);
    double rest = (double)left_in(&self->share.deque[TD_COOP_REST]);
    double cpu_hot = cpu_rate(self, TD_COOP_HOT), cpu_rest = cpu_rate(self, TD_COOP_REST);
    if (!self->now.gpu_takes) return hot / cpu_hot + rest / cpu_rest;
    double gpu_hot = gpu_rate(self, TD_COOP_HOT), gpu_rest = gpu_rate(self, TD_COOP_REST);
    double on_gpu = hot / gpu_hot, on_cpu = rest / cpu_rest;
    if (self->setup.link && has_lanes(self)) {
        double both = rest / (cpu_rest + gpu_rest);
        if (on_gpu <= both || !self->setup.on_demand) return on_gpu > both ? on_gpu : both;
        return both + (hot - gpu_hot * both) / (cpu_hot + gpu_hot);
    }
    if (on_gpu <= on_cpu) return self->setup.link ? on_gpu +
        (rest - cpu_rest * on_gpu) / (cpu_rest + gpu_rest) : on_cpu;
    return self->setup.on_demand ? on_cpu + (hot - gpu_hot * on_cpu) / (cpu_hot + gpu_hot) : on_gpu;
}

static uint64_t piece_edges(const td_coop_job *self, double part, double rate, uint64_t least)
{
    uint64_t edges = (uint64_t)(time_left(self) * part * rate);
    return edges < least ? least : edges;
}

static void learn(double *rate, uint64_t edges, uint64_t ns)
{
    double seen = (double)edges / (double)(ns == 0 ? 1 : ns);
    *rate = *rate == 0 ? seen : *rate * (1 - SLOWER) + seen * SLOWER;
}

void td_coop_learn_cpu(td_coop_job *self, int which, uint64_t edges, uint64_t ns)
{
    if (edges < LEAST_SEEN) return;
    for (int i = 0; i < TD_COOP_DEQUES; i++)
        if (which == i || which == TD_COOP_DEQUES) learn(&self->rates.cpu_rate[i], edges, ns);
}

/* The GPU. */

static void on_flown(void *context, td_status status, uint64_t value);

static uint32_t flights(const td_coop_job *self) { return self->share.flights[TD_COOP_HOT] +
                                                  self->share.flights[TD_COOP_REST]; }

static td_status fly_from(td_coop_job *self, int which)
{
    while (self->share.flights[which] < TD_COOP_FLIGHTS && !is_empty(&self->share.deque[which])) {
        td_coop_piece piece = take(self, which, !self->share.cpu_in_front,
                                   piece_edges(self, GPU_PART, gpu_rate(self, which), self->setup.piece));
        TD_CHECK(self->share.launch(self, &piece));
        TD_CHECK(td_stream_notify(self->share.lane[which], on_flown, self, (uint64_t)which));
        self->share.flight[which][(self->share.first_flight[which] +
                                   self->share.flights[which]++) % TD_COOP_FLIGHTS] = piece;
        if (which == TD_COOP_HOT) self->now.row->edges_gpu += piece.edges;
        else self->now.row->edges_link += piece.edges;
    }
    return TD_OK;
}

/* If the rest has a stream of its own, it is started at once, because the link is idle otherwise; else hot edges come
 * first. */
static td_status fly(td_coop_job *self)
{
    if (!self->now.gpu_takes) return TD_OK;
    TD_CHECK(fly_from(self, TD_COOP_HOT));
    bool takes_rest = self->setup.link && (has_lanes(self) || is_empty(&self->share.deque[TD_COOP_HOT]));
    return takes_rest ? fly_from(self, TD_COOP_REST) : TD_OK;
}

/* When the current completion was posted; the host may have been busy since. */
static uint64_t arrival(const td_coop_job *self)
{
    const td_loop *loop = self->layout->gpu.set->loop;
    return td_loop_time(loop) > 0 ? td_loop_time(loop) : td_loop_arrived(loop);
}

/* Adds a trace event: hot edges on the lane of kernels, edges that cross on the lane of copies. */
static td_status note_piece(td_coop_job *self, td_lane lane, const td_coop_piece *piece, uint64_t began, uint64_t ended)
{
    static const char *const names[TD_COOP_DEQUES] = {"hot edges", "other edges"};
    td_gpu_job *gpu = &self->gpu;
    td_run_event event = {lane, names[piece->deque], UINT32_MAX, (double)(began - gpu->device_began) * 1e-9,
                          (double)(ended - began) * 1e-9, piece->edges * sizeof(uint32_t)};
    return td_run_add_event(gpu->run, gpu->options, &event);
}

static void on_flown(void *context, td_status status, uint64_t which)
{
    td_coop_job *self = context;
    const td_coop_piece *piece = &self->share.flight[which][self->share.first_flight[which]];
    uint64_t now = arrival(self), began = piece->asked > self->rates.gpu_free[which]
        ? piece->asked : self->rates.gpu_free[which];
    uint64_t took = now > began ? now - began : 1;
    if (piece->edges >= LEAST_SEEN) learn(&self->share.deque[piece->deque].gpu_rate, piece->edges, took);
    self->rates.gpu_free[which] = now;
    td_lane lane = which == TD_COOP_HOT ? TD_LANE_KERNELS : TD_LANE_COPIES;
    td_coop_record_status(self, note_piece(self, lane, piece, now - took, now));
    self->share.first_flight[which] = (self->share.first_flight[which] + 1) % TD_COOP_FLIGHTS;
    self->share.flights[which]--;
    if (began < self->share.busy_until) began = self->share.busy_until;
    if (now > began) {
        self->rates.gpu_busy += now - began;
        self->share.busy_until = now;
    }
    td_coop_record_status(self, status);
    if (self->status == TD_OK) td_coop_record_status(self, fly(self));
}

/* The CPU. */

static void on_turn(void *context, td_status status, uint64_t value);

/* Advances a virtual clock by the workers' time; a real clock needs nothing. */
static void post_turn(td_coop_job *self)
{
    td_device *device = self->layout->device;
    td_loop *loop = self->layout->gpu.set->loop;
    uint64_t time = device->kind == TD_DEVICE_EMULATOR ? td_device_clock(device) : 0;
    self->now.cpu_posted = true;
    td_loop_expect(loop);
    td_loop_complete(loop, time, on_turn, self, TD_OK, 0);
}

static bool cpu_may_take(const td_coop_job *self, int which)
{
    return !is_empty(&self->share.deque[which]) && (which == TD_COOP_REST || self->setup.on_demand ||
                                                    !self->now.gpu_takes);
}

/* Whether the GPU would finish the whole deque before the workers finish one unit of it. */
static bool is_gpus(const td_coop_job *self, int which)
{
    const td_coop_deque *deque = &self->share.deque[which];
    if (!self->now.gpu_takes || is_empty(deque) || (which == TD_COOP_REST && !self->setup.link)) return false;
    uint64_t unit = self->share.cpu_in_front ? td_coop_edges(deque, deque->front, deque->front + 1)
                                       : td_coop_edges(deque, deque->back - 1, deque->back);
    uint64_t ahead = left_in(deque);
    for (uint32_t i = 0; i < self->share.flights[which]; i++)
        ahead += self->share.flight[which][(self->share.first_flight[which] + i) % TD_COOP_FLIGHTS].edges;
    return (double)unit / cpu_rate(self, which) > (double)ahead / gpu_rate(self, which);
}

static td_status work(td_coop_job *self)
{
    int which = cpu_may_take(self, TD_COOP_REST) && !is_gpus(self, TD_COOP_REST) ? TD_COOP_REST : TD_COOP_HOT;
    if (!cpu_may_take(self, which) || is_gpus(self, which)) return TD_OK;
    uint64_t least = self->setup.piece / GPU_WORKERS * (uint64_t)self->cpu.workers;
    td_coop_piece piece = take(self, which, self->share.cpu_in_front,
                               piece_edges(self, CPU_PART, cpu_rate(self, which), least));
    TD_CHECK(self->share.work(self, &piece));
    td_device_host_worked(self->layout->device, piece.edges * TD_COOP_EDGE_BYTES);
    uint64_t took = td_device_clock(self->layout->device) - piece.asked;
    td_coop_learn_cpu(self, which, piece.edges, took);
    TD_CHECK(note_piece(self, TD_LANE_WORKERS, &piece, piece.asked, piece.asked + took));
    self->rates.cpu_busy += took;
    if (which == TD_COOP_REST) self->now.row->edges_cpu += piece.edges;
    else self->now.row->edges_on_demand += piece.edges;
    post_turn(self);
    return TD_OK;
}

static void on_turn(void *context, td_status status, uint64_t value)
{
    (void)value;
    td_coop_job *self = context;
    self->now.cpu_posted = false;
    td_coop_record_status(self, status);
    if (self->status == TD_OK) td_coop_record_status(self, work(self));
}

void td_coop_start_cpu(td_coop_job *self)
{
    self->now.cpu_waits = false;
    self->rates.cpu_began = td_device_clock(self->layout->device);
    if (!self->now.cpu_posted) post_turn(self);
}

/* An iteration. */

td_status td_coop_drain(td_coop_job *self)
{
    uint64_t began = td_device_clock(self->layout->device);
    self->rates.cpu_busy = self->rates.gpu_busy = 0;
    self->rates.cpu_began = self->share.busy_until = began;
    for (int i = 0; i < TD_COOP_DEQUES; i++) {
        self->rates.gpu_free[i] = began;
        self->share.flights[i] = self->share.first_flight[i] = 0;
    }
    if (self->now.gpu_takes) TD_CHECK(fly(self));
    if (!self->now.cpu_waits) post_turn(self);
    while ((flights(self) > 0 || self->now.cpu_posted || self->now.cpu_waits) && self->status == TD_OK)
        TD_CHECK(td_loop_run(self->layout->gpu.set->loop));
    if (self->status != TD_OK) td_failure_set(&self->failure);
    if (self->status != TD_OK) return self->status;
    self->now.row->cpu_waited_seconds += (double)(self->rates.cpu_began - began) * 1e-9;
    double seconds = (double)(td_device_clock(self->layout->device) - began) * 1e-9;
    self->now.row->cpu_idle_seconds += seconds - (double)self->rates.cpu_busy * 1e-9;
    self->rates.gpu_busy_in_all += self->rates.gpu_busy;
    if (self->now.gpu_takes) self->now.row->gpu_idle_seconds += seconds - (double)self->rates.gpu_busy * 1e-9;
    return TD_OK;
}

/* The paper invokes the GPU above tau active edges of which a share theta is hot; with measured rates it is invoked if
 * that is faster. */
bool td_coop_invokes(const td_coop_job *self, uint64_t active, uint64_t hot)
{
    if (self->setup.invoke == TD_INVOKE_ALWAYS) return true;
    if (self->setup.invoke == TD_INVOKE_NEVER) return false;
    if (self->setup.invoke == TD_INVOKE_PAPER)
        return (double)active > self->setup.tau && (double)hot > self->setup.theta * (double)active;
    double left = (double)(active - hot), cpu_rest = cpu_rate(self, TD_COOP_REST);
    double alone = (double)hot / cpu_rate(self, TD_COOP_HOT) + left / cpu_rest;
    double rest = left / (cpu_rest + (self->setup.link ? gpu_rate(self, TD_COOP_REST) : 0));
    double on_gpu = (double)hot / gpu_rate(self, TD_COOP_HOT);
    return self->rates.overhead + (self->setup.link ? on_gpu + rest : on_gpu > rest ? on_gpu : rest) < alone;
}
