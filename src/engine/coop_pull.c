/* Programs that add up all their neighbours: every edge once an iteration, shared out between the GPU and the CPU by tiles of
 * edges; then every vertex, on the GPU. The CPU hands over its sums and gets the new messages; while they are on
 * their way the GPU is at the next iteration already. */
#include "engine/coop.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <string.h>

enum { STRETCHES_PER_WORKER = 8, LEAST_STRETCH = 2048 };

static const td_adjacency *list_of(const td_coop_job *self, int pot)
{
    return pot == TD_POT_HOT ? &self->held->cut->hot : &self->held->cut->rest;
}

/* The GPU's pieces. */

/* What is queued on one stream from now on waits for what the other has. */
static td_status follow(td_coop_job *self, td_stream *stream, td_stream *other)
{
    td_mark *mark = NULL;
    TD_CHECK(td_stream_mark(other, &mark));
    td_status status = td_stream_wait(stream, mark);
    td_mark_destroy(self->held->device, mark);
    return status;
}

/* Tiles of one part of the lists, wherever its edges are at the time. */
static td_status launch_tiles(td_coop_job *self, int pot, const td_gpu_list *list, uint64_t first, uint64_t end)
{
    td_gpu_args a = self->gpu.args;
    const td_coop_heads *heads = &self->held->heads[pot];
    td_gpu_args *args = &self->gpu.args;
    args->pull = *list;
    args->heads = heads->bits;
    args->lists = heads->lists;
    args->lists_before = heads->before;
    args->pull_edges = self->pot[pot].edges;
    args->sums = pot == TD_POT_HOT ? a.sums : a.more_sums;
    args->first_piece = first;
    args->end_piece = end;
    self->gpu.stream = self->lane[pot];
    td_status status = td_gpu_launch(&self->gpu, &self->gpu.kernels->pull, (end - first) * 32);
    self->gpu.stream = self->held->stream;
    *args = a;
    return status;
}

/* A window comes in fewer bits, is made whole and gone over; the next one is on its way meanwhile. */
static td_status launch_window(td_coop_job *self, uint32_t w, uint64_t last)
{
    td_coop_graph *held = self->held;
    td_link_list *link = &held->link;
    td_stream *stream = self->gpu.stream;
    td_gpu_args *a = &self->gpu.args;
    uint32_t at = held->next_window++ % TD_COOP_WINDOWS;
    uint64_t words = link->narrow_at[w + 1] - link->narrow_at[w], first = td_link_begin(link, w), end = td_link_end(link, w);
    if (held->freed[at] != NULL) {
        TD_CHECK(td_stream_wait(held->incoming, held->freed[at]));
        td_mark_destroy(held->device, held->freed[at]);
        held->freed[at] = NULL;
    }
    TD_CHECK(td_stream_copy(held->incoming, held->narrow[at], link->narrow + link->narrow_at[w], words * sizeof(uint32_t), TD_TO_DEVICE));
    TD_CHECK(follow(self, stream, held->incoming));
    a->narrow = held->narrow[at];
    a->narrow_edges = end - first;
    a->window = held->window[at];
    TD_CHECK(td_gpu_launch(&self->gpu, &self->gpu.kernels->widen, (end - first + TD_GPU_TILE - 1) / TD_GPU_TILE * 32));
    TD_CHECK(td_stream_mark(stream, &held->freed[at]));
    td_gpu_list list = {held->rest.offsets, (const uint32_t *)held->window[at] - first, NULL};
    if (end > last) end = last;
    return launch_tiles(self, TD_POT_REST, &list, first / TD_GPU_TILE, (end + TD_GPU_TILE - 1) / TD_GPU_TILE);
}

static td_status launch(td_coop_job *self, const td_coop_piece *piece)
{
    const td_coop_pot *pot = &self->pot[piece->pot];
    bool hot = piece->pot == TD_POT_HOT;
    if (hot || self->held->link.narrow == NULL) {
        uint64_t tiles = pot->unit / TD_GPU_TILE;
        return launch_tiles(self, piece->pot, hot ? &self->held->hot : &self->held->rest, piece->begin * tiles, piece->end * tiles);
    }
    for (uint64_t w = piece->begin; w < piece->end; w++) TD_CHECK(launch_window(self, (uint32_t)w, pot->edges));
    return TD_OK;
}

/* The CPU's. It goes over the rest first, from its begin, and stores; what it takes from the hot part is added. */

static td_status clear_until(td_coop_job *self, uint64_t end)
{
    td_cpu_job *cpu = &self->cpu;
    if (self->sums_end >= end) return TD_OK;
    uint64_t count = end - self->sums_end;
    cpu->coop.begin = self->sums_end;
    TD_CHECK(td_cpu_step(cpu, cpu->kernels->clear_sums, count, 4096, count, NULL));
    self->sums_end = end;
    return TD_OK;
}

/* Sums along edges begin .. end - 1. */
static td_status gather(td_coop_job *self, const td_adjacency *list, uint64_t begin, uint64_t end, bool adds)
{
    td_cpu_job *cpu = &self->cpu;
    uint64_t length = end - begin, most = (uint64_t)cpu->workers * STRETCHES_PER_WORKER, piece = length / most + 1;
    if (piece < LEAST_STRETCH) piece = LEAST_STRETCH;
    uint64_t pieces = (length + piece - 1) / piece;
    cpu->coop.list = list;
    cpu->coop.adds = adds;
    cpu->coop.begin = begin;
    cpu->coop.end = end;
    cpu->coop.piece = piece;
    TD_CHECK(td_cpu_step(cpu, cpu->kernels->gather, pieces, 1, length, NULL));
    cpu->kernels->gather_cut(cpu, pieces);
    return TD_OK;
}

static td_status work(td_coop_job *self, const td_coop_piece *piece)
{
    const td_adjacency *list = list_of(self, piece->pot);
    uint64_t n = self->held->split.vertices, most = self->pot[piece->pot].edges;
    uint64_t unit = self->pot[piece->pot].unit, begin = piece->begin * unit, end = piece->end * unit < most ? piece->end * unit : most;
    uint64_t behind = end == list->offsets[n] ? n : td_first_list(list->offsets, n, end);
    if (piece->pot == TD_POT_HOT) TD_CHECK(clear_until(self, behind));
    TD_CHECK(gather(self, list, begin, end, piece->pot == TD_POT_HOT));
    if (behind > self->sums_end) self->sums_end = behind;
    return TD_OK;
}

/* Iterations. */

static void fill_pots(td_coop_job *self)
{
    for (int i = 0; i < TD_POTS; i++) {
        td_coop_pot *pot = &self->pot[i];
        pot->edges = list_of(self, i)->offsets[self->taking];
        pot->unit = i == TD_POT_REST && self->held->link.narrow != NULL ? UINT64_C(1) << self->held->link.shift : TD_GPU_TILE;
        pot->before = NULL;
        pot->front = 0;
        pot->back = (pot->edges + pot->unit - 1) / pot->unit;
    }
}

static void on_messages(void *context, td_status status, uint64_t which)
{
    td_coop_job *self = context;
    td_coop_note(self, status);
    if (status == TD_OK && which < 2) self->safe = (int)which;
    if (self->status == TD_OK && self->cpu_waits) td_coop_let_cpu_begin(self);
}

/* What the CPU needs for its next sums, and values from which it could go on alone. */
static td_status fetch(td_coop_job *self, uint32_t next)
{
    td_gpu_job *gpu = &self->gpu;
    td_stream *copies = self->held->copies;
    uint64_t n = gpu->graph->vertices, values = n * gpu->traits->value_bytes, messages = self->heard * gpu->traits->message_bytes;
    uint32_t to = self->snapshots++ % 2;
    if (self->safe == (int)to) self->safe = -1;
    self->snapshot_of[to] = (td_coop_moment){next, gpu->args.context.global};
    TD_CHECK(follow(self, copies, gpu->stream));
    self->cpu_waits = true;
    if (!gpu->traits->sends_value) {
        TD_CHECK(td_stream_copy(copies, self->messages, gpu->args.messages, messages, TD_TO_HOST));
        TD_CHECK(td_stream_notify(copies, on_messages, self, 2));
    }
    TD_CHECK(td_stream_copy(copies, self->snapshot[to], gpu->args.values, values, TD_TO_HOST));
    TD_CHECK(td_stream_notify(copies, on_messages, self, to));
    self->cpu.messages = gpu->traits->sends_value ? self->snapshot[to] : self->messages;
    self->row->bytes_synchronised += values + (gpu->traits->sends_value ? 0 : messages);
    return TD_OK;
}

static td_status apply(td_coop_job *self, uint64_t first, uint64_t end)
{
    td_gpu_job *gpu = &self->gpu;
    td_gpu_args *a = &gpu->args;
    uint64_t sum = gpu->traits->accum_bytes, given = self->sums_end - self->sums_begin;
    a->given_first = (uint32_t)self->sums_begin;
    a->given_count = (uint32_t)given;
    if (given > 0) TD_CHECK(td_stream_copy(gpu->stream, a->given, (char *)self->sums + self->sums_begin * sum, given * sum, TD_TO_DEVICE));
    self->row->bytes_synchronised += given * sum;
    TD_CHECK(td_gpu_launch(gpu, &gpu->kernels->add_given, gpu->graph->vertices));
    a->first_vertex = (uint32_t)first;
    a->end_vertex = (uint32_t)end;
    TD_CHECK(td_gpu_launch(gpu, &gpu->kernels->apply, end - first));
    TD_CHECK(td_gpu_read(gpu, 0));
    TD_CHECK(td_gpu_check_finite(gpu, &gpu->control->tally));
    td_gpu_turn_values(gpu);
    return TD_OK;
}

static td_status pull(td_coop_job *self)
{
    uint64_t began = td_clock_ns();
    td_gpu_job *gpu = &self->gpu;
    td_iteration row = {.direction = "pull", .active_vertices = self->taking};
    self->row = &row;
    TD_CHECK(td_gpu_reset(gpu));
    fill_pots(self);
    row.active_edges = self->pot[TD_POT_HOT].edges + self->pot[TD_POT_REST].edges;
    self->sums_begin = self->sums_end = 0;
    TD_CHECK(follow(self, self->held->hot_stream, gpu->stream));
    TD_CHECK(td_coop_share(self));
    TD_CHECK(follow(self, gpu->stream, self->held->hot_stream));
    row.edges = row.edges_gpu + row.edges_link + row.edges_cpu + row.edges_on_demand;
    TD_CHECK(apply(self, 0, self->taking));
    gpu->args.context.global = gpu->control->tally.share;
    row.change = gpu->control->tally.change;
    TD_CHECK(fetch(self, gpu->args.context.iteration + 1));
    TD_CHECK(td_gpu_end_iteration(gpu, &row, began, td_seconds_since(began)));
    self->cpu.context = gpu->args.context;
    return TD_OK;
}

/* Vertices that nobody hears, once everyone else is final: the first number from which on there are none but them. */
static uint64_t first_sink(const td_coop_job *self)
{
    const uint64_t *out = self->held->split.out;
    uint64_t v = self->held->split.vertices;
    while (v > 0 && out[v] == out[v - 1]) v--;
    return v;
}

static td_status wait_for_messages(td_coop_job *self)
{
    while (self->cpu_waits && self->status == TD_OK) TD_CHECK(td_loop_run(self->held->loop));
    return self->status == TD_OK ? TD_OK : td_fail(self->status, "%s", self->message);
}

static td_status pull_sinks(td_coop_job *self, uint64_t first)
{
    uint64_t began = td_clock_ns(), n = self->held->split.vertices;
    const td_adjacency *rest = &self->held->cut->rest;
    td_iteration row = {.direction = "sinks", .active_vertices = n - first, .change = self->gpu.run->final_change};
    self->row = &row;
    row.edges = row.edges_cpu = row.active_edges = rest->offsets[n] - rest->offsets[first];
    TD_CHECK(wait_for_messages(self));
    TD_CHECK(td_gpu_reset(&self->gpu));
    self->sums_begin = self->sums_end = first;
    TD_CHECK(clear_until(self, n));
    if (row.edges > 0) TD_CHECK(gather(self, rest, rest->offsets[first], rest->offsets[n], false));
    self->gpu.args.next_values = self->gpu.args.values; /* nobody hears them: everyone else stays as it is */
    TD_CHECK(apply(self, first, n));
    return td_gpu_end_iteration(&self->gpu, &row, began, td_seconds_since(began));
}

td_status td_coop_make_sums(td_coop_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    td_gpu_args *a = &gpu->args;
    const td_cpu_kernels *k = gpu->traits;
    uint64_t n = gpu->graph->vertices, stretches = (uint64_t)self->cpu.workers * STRETCHES_PER_WORKER + 2;
    TD_CHECK(td_gpu_make_values(gpu));
    TD_CHECK(td_gpu_new(gpu, &a->active, td_gpu_words(gpu), sizeof(uint32_t), "active vertices"));
    TD_CHECK(td_gpu_new(gpu, &a->sums, n, k->accum_bytes, "sums"));
    TD_CHECK(td_gpu_launch(gpu, &gpu->kernels->clear_sums, n));
    void *first = a->sums;
    TD_CHECK(td_gpu_new(gpu, &a->sums, n, k->accum_bytes, "sums"));
    TD_CHECK(td_gpu_launch(gpu, &gpu->kernels->clear_sums, n));
    a->more_sums = a->sums;
    a->sums = first;
    TD_CHECK(td_gpu_new(gpu, &a->given, n, k->accum_bytes, "the host's sums"));
    TD_CHECK(td_coop_new_pinned(self, &self->sums, n, k->accum_bytes, "sums"));
    if (!k->sends_value) TD_CHECK(td_coop_new_pinned(self, &self->messages, n, k->message_bytes, "messages"));
    for (int i = 0; i < 2; i++) TD_CHECK(td_coop_new_pinned(self, &self->snapshot[i], n, k->value_bytes, "vertex values"));
    self->cpu.coop.sums = self->sums;
    TD_CHECK(td_new_bytes(&self->cpu.coop.partials, stretches, 2 * k->accum_bytes, "partial sums"));
    return TD_NEW(&self->cpu.coop.cut, stretches, "partial sums");
}

td_status td_coop_pulls(td_coop_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    td_gpu_frontier now;
    td_iteration row = {0};
    uint64_t n = gpu->graph->vertices;
    self->taking = self->defer_sinks ? first_sink(self) : n;
    self->heard = gpu->traits->view == TD_VIEW_FORWARD ? first_sink(self) : n;
    self->lane[TD_POT_HOT] = self->held->hot_stream;
    self->lane[TD_POT_REST] = self->held->stream;
    self->safe = -1;
    self->launch = launch;
    self->work = work;
    self->cpu_in_front = self->gpu_takes = true;
    self->row = &row;
    TD_CHECK(td_resident_start(gpu, &now));
    if (self->taking < n && gpu->args.next_values != gpu->args.values) /* those who wait keep what they start with in both */
        TD_CHECK(td_stream_copy(gpu->stream, gpu->args.next_values, gpu->args.values, n * gpu->traits->value_bytes, TD_ON_DEVICE));
    self->cpu.context = gpu->args.context;
    TD_CHECK(fetch(self, gpu->args.context.iteration));
    while (gpu->args.context.iteration < gpu->limit && !gpu->run->converged) {
        TD_CHECK(pull(self));
        gpu->run->converged = gpu->traits->measure != TD_MEASURE_NONE && gpu->control->tally.change <= gpu->tolerance;
        if (gpu->run->checkpoints == NULL) continue;
        TD_CHECK(td_stream_finish(self->held->copies)); /* the values are here */
        TD_CHECK(td_coop_save(self, &gpu->args.context, self->snapshot[(self->snapshots - 1) % 2]));
    }
    if (self->taking < n) TD_CHECK(pull_sinks(self, self->taking));
    TD_CHECK(wait_for_messages(self));
    TD_CHECK(td_stream_copy(self->held->copies, self->snapshot[0], gpu->args.values, n * gpu->traits->value_bytes, TD_TO_HOST));
    return td_stream_finish(self->held->copies);
}
