/* Programs that push: every iteration has a frontier whose vertices update their neighbours. The host has the valid
 * values. If the GPU takes part, it gets the frontier and its values and returns its changes; values are minima, so
 * they can be merged in any order. Small frontiers and first-hit pulls run on the CPU alone (the GPU is not invoked:
 * CGgraph, section 5.4). Shortest paths use delta-stepping. */
#include "engine/coop/coop.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <string.h>

enum { BLOCK = TD_BLOCK_WORDS * 64 };

/* The frontier in blocks. */

/* Counts the edges of every block, then computes prefix sums. *far gets the deferred vertices and their lowest
 * priority. */
static td_status count_frontier(td_coop_job *self, td_frontier *now, td_cpu_tally *far)
{
    td_cpu_job *cpu = &self->cpu;
    uint64_t vertices = 0, sums[TD_COOP_DEQUES] = {0};
    cpu->coop.blocks = self->push.blocks;
    TD_CHECK(td_cpu_step(cpu, cpu->kernels->count_blocks, self->push.block_count, 64, cpu->graph->vertices / 8, far));
    for (uint64_t b = 0; b < self->push.block_count; b++) {
        td_cpu_block block = self->push.blocks[b];
        self->push.blocks[b].vertices = vertices;
        self->push.before[TD_COOP_HOT][b] = sums[TD_COOP_HOT];
        self->push.before[TD_COOP_REST][b] = sums[TD_COOP_REST];
        vertices += block.vertices;
        sums[TD_COOP_HOT] += block.hot;
        sums[TD_COOP_REST] += block.rest;
    }
    self->push.blocks[self->push.block_count].vertices = vertices;
    for (int i = 0; i < TD_COOP_DEQUES; i++) self->push.before[i][self->push.block_count] = sums[i];
    *now = (td_frontier){vertices, sums[TD_COOP_HOT] + sums[TD_COOP_REST], false, true};
    return TD_OK;
}

static td_status list_frontier(td_coop_job *self)
{
    td_cpu_job *cpu = &self->cpu;
    cpu->coop.queue_values = self->push.queue_values;
    cpu->frontier.queue_count = self->push.blocks[self->push.block_count].vertices;
    return td_cpu_step(cpu, cpu->kernels->list_blocks, self->push.block_count, 64, cpu->graph->vertices / 8, NULL);
}

/* The GPU's pieces. */

static td_status launch(td_coop_job *self, const td_coop_piece *piece)
{
    td_gpu_job *gpu = &self->gpu;
    uint64_t n = gpu->graph->vertices, end = piece->end * BLOCK;
    bool hot = piece->deque == TD_COOP_HOT;
    td_gpu_part part = td_gpu_all(gpu);
    part.from_host = !hot;
    part.weight_bytes = (uint8_t)td_weight_bytes((td_weight_kind)gpu->state.weights);
    part.first_vertex = (uint32_t)(piece->begin * BLOCK);
    part.end_vertex = (uint32_t)(end < n ? end : n);
    td_push_part_args args = td_gpu_push_part_args(gpu, hot ? self->layout->hot : self->layout->rest, &part);
    if (gpu->balance == TD_BALANCE_WARP) return td_gpu_push_part(gpu, gpu->stream, &args);
    uint64_t from = self->push.blocks[piece->begin].vertices;
    td_push_queue_args queue = {.part = args, .queue = self->push.sent_vertices + from, .balance = gpu->balance,
                                .count = (uint32_t)(self->push.blocks[piece->end].vertices - from)};
    return queue.count > 0 ? td_gpu_push_queue(gpu, gpu->stream, &queue) : TD_OK;
}

/* The CPU's pieces: a range of the queue, along one part of the lists or both. */

static td_status push(td_cpu_job *cpu, uint64_t begin, uint64_t end, uint64_t edges, td_cpu_tally *sum)
{
    uint32_t *queue = cpu->frontier.queue;
    uint64_t all = cpu->frontier.queue_count, count = end - begin, fair = count / ((uint64_t)cpu->workers * 16) + 4;
    cpu->frontier.queue += begin;
    cpu->frontier.queue_count = count;
    cpu->high.count = 0;
    td_status status = td_cpu_step(cpu, cpu->kernels->push, count,
                                   fair < TD_QUEUE_AT_A_TIME ? (uint32_t)fair : TD_QUEUE_AT_A_TIME, count + edges, sum);
    if (status == TD_OK) status = td_cpu_high_degree_step(cpu, cpu->kernels->push_high_degree, sum);
    cpu->frontier.queue = queue;
    cpu->frontier.queue_count = all;
    return status;
}

static td_status work(td_coop_job *self, const td_coop_piece *piece)
{
    td_cpu_job *cpu = &self->cpu;
    td_adjacency lists[2] = {cpu->view.push[0], cpu->view.push[1]};
    td_cpu_tally sum;
    cpu->view.push[0] = piece->deque == TD_COOP_HOT ? lists[0] : lists[1];
    cpu->view.lists = 1;
    td_status status = push(cpu, self->push.blocks[piece->begin].vertices, self->push.blocks[piece->end].vertices,
                            piece->edges,
                            &sum);
    cpu->view.push[0] = lists[0];
    cpu->view.lists = 2;
    return status;
}

/* A round. */

static td_exchange_args exchange_args(const td_coop_job *self, uint64_t count)
{
    return (td_exchange_args){.state = self->gpu.state, .vertices = self->push.sent_vertices,
                              .values = self->push.sent_values,
                              .count = (uint32_t)count};
}

/* Sends the vertices that the GPU needs: those with hot edges, or all if it also processes the rest. */
static td_status send_frontier(td_coop_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    uint64_t hot = ((uint64_t)self->layout->split.inside + BLOCK - 1) / BLOCK;
    uint64_t count = self->push.blocks[self->setup.link ? self->push.block_count : hot].vertices;
    TD_CHECK(td_gpu_reset(gpu));
    TD_CHECK(td_stream_copy(gpu->stream, self->push.sent_vertices, self->cpu.frontier.queue, count * sizeof(uint32_t),
                            TD_TO_DEVICE));
    TD_CHECK(td_stream_copy(gpu->stream, self->push.sent_values, self->push.queue_values,
                            count * gpu->traits->value_bytes,
                            TD_TO_DEVICE));
    self->now.row->bytes_synchronised += count * (sizeof(uint32_t) + gpu->traits->value_bytes);
    td_exchange_args args = exchange_args(self, count);
    TD_CHECK(td_gpu_launch(gpu, gpu->stream, &gpu->kernels->take_frontier, count, &args));
    return td_gpu_keep_values(gpu);
}

static td_status take_changed(td_coop_job *self, td_cpu_tally *sum)
{
    td_gpu_job *gpu = &self->gpu;
    td_cpu_job *cpu = &self->cpu;
    td_exchange_args args = exchange_args(self, 0);
    TD_CHECK(td_gpu_launch(gpu, gpu->stream, &gpu->kernels->list_changed, td_gpu_words(gpu) * 32, &args));
    TD_CHECK(td_gpu_read(gpu, 0));
    uint64_t count = gpu->control->given;
    TD_CHECK(td_stream_copy(gpu->stream, self->push.changed, self->push.sent_vertices, count * sizeof(uint32_t),
                            TD_TO_HOST));
    TD_CHECK(td_stream_copy(gpu->stream, self->push.given, self->push.sent_values, count * gpu->traits->value_bytes,
                            TD_TO_HOST));
    TD_CHECK(td_stream_synchronize(gpu->stream));
    self->now.row->bytes_synchronised += count * (sizeof(uint32_t) + gpu->traits->value_bytes);
    cpu->coop.changed = self->push.changed;
    cpu->coop.given = self->push.given;
    return td_cpu_step(cpu, cpu->kernels->take_back, count, 1024, count, sum);
}

static void fill_pots(td_coop_job *self)
{
    for (int i = 0; i < TD_COOP_DEQUES; i++) {
        td_coop_deque *deque = &self->share.deque[i];
        deque->before = self->push.before[i];
        deque->front = 0;
        deque->back = self->push.block_count;
        /* No later block has edges. */
        while (deque->back > 0 && deque->before[deque->back -
                                                1] == deque->before[self->push.block_count]) deque->back--;
    }
}

/* Pushes a counted frontier on both sides. */
static td_status push_together(td_coop_job *self, td_row *row)
{
    td_cpu_job *cpu = &self->cpu;
    td_cpu_tally sum;
    td_device *device = self->layout->device;
    cpu->frontier.next_count = 0;
    TD_CHECK(list_frontier(self));
    fill_pots(self);
    self->now.gpu_takes = true;
    self->gpu.state.context = cpu->context;
    uint64_t began = td_device_clock(device);
    TD_CHECK(send_frontier(self));
    uint64_t sent = td_device_clock(device);
    TD_CHECK(td_coop_drain(self));
    uint64_t done = td_device_clock(device);
    TD_CHECK(take_changed(self, &sum));
    row->edges = row->edges_gpu + row->edges_link + row->edges_cpu + row->edges_on_demand;
    self->rates.overhead = (self->rates.overhead + (double)(sent - began + td_device_clock(device) - done)) / 2;
    return TD_OK;
}

/* Graphs with a large diameter have small frontiers throughout, for which a GPU costs time. After a few such rounds the
 * cpu engine starts over, which is faster than passing on the state. Programs whose values are vertex numbers start
 * with all vertices active and are excluded. */
static bool stays_small(td_coop_job *self, const td_frontier *now)
{
    enum { ROUNDS = 6, LARGE = 64 };
    self->rates.grown = self->rates.grown || now->edges > td_cpu_view_edges(&self->cpu) / LARGE ||
                  self->setup.invoke == TD_INVOKE_ALWAYS || self->gpu.run->program->info->vertex_values ||
                  self->gpu.run->resumed != NULL || self->gpu.run->checkpoints != NULL;
    return !self->rates.grown && self->cpu.context.iteration >= ROUNDS;
}

/* Rounds. */

static td_status turn(td_cpu_job *cpu, td_frontier *now)
{
    uint64_t *map = cpu->frontier.active;
    uint32_t *queue = cpu->frontier.queue;
    cpu->frontier.active = cpu->frontier.next_active;
    cpu->frontier.next_active = map;
    cpu->frontier.queue = cpu->frontier.next_queue;
    cpu->frontier.next_queue = queue;
    cpu->frontier.queue_count = cpu->frontier.next_count;
    cpu->frontier.next_dirty = true;
    cpu->frontier.done_stale = true;
    *now = (td_frontier){cpu->frontier.next_count, 0, true, true};
    return TD_OK;
}

static td_status round_together(td_coop_job *self, td_frontier *now, td_row *row)
{
    td_cpu_job *cpu = &self->cpu;
    bool first_hit = cpu->setup.first_hit;
    TD_CHECK(td_cpu_keep_values(cpu));
    memset(cpu->frontier.next_active, 0, td_cpu_words(cpu) * 8);
    cpu->setup.first_hit = false; /* the GPU may have reached a vertex as well */
    td_status status = push_together(self, row);
    cpu->setup.first_hit = first_hit;
    return status == TD_OK ? turn(cpu, now) : status;
}

static td_status round_alone(td_coop_job *self, td_direction direction, td_frontier *now, td_row *row)
{
    td_cpu_tally sum;
    uint64_t began = td_device_clock(self->layout->device);
    TD_CHECK(td_cpu_iterate(&self->cpu, direction, now, &sum));
    row->edges = row->edges_cpu = sum.edges;
    td_device_host_worked(self->layout->device, sum.edges * TD_COOP_EDGE_BYTES);
    td_coop_learn_cpu(self, TD_COOP_DEQUES, sum.edges, td_device_clock(self->layout->device) - began);
    return TD_OK;
}

td_status td_coop_rounds(td_coop_job *self)
{
    td_cpu_job *cpu = &self->cpu;
    td_frontier now;
    td_cpu_tally far;
    bool counted = true; /* now.edges is valid */
    self->share.launch = launch;
    self->share.work = work;
    self->share.cpu_in_front = false;
    TD_CHECK(td_cpu_start(cpu, &now));
    while (now.vertices > 0 && cpu->context.iteration < cpu->setup.limit) {
        uint64_t began = td_clock_ns();
        td_row row = {.direction = "push"};
        uint64_t most = counted ? now.edges : td_cpu_view_edges(cpu); /* upper bound of the hot edges */
        bool worth = td_coop_invokes(self, most, most);
        self->now.row = &row;
        if (!counted || worth) {
            TD_CHECK(td_cpu_make_mapped(cpu, &now));
            bool listed = now.listed;
            TD_CHECK(count_frontier(self, &now, &far));
            now.listed = listed;
            counted = true;
        }
        row.active_vertices = now.vertices;
        row.active_edges = now.edges;
        self->rates.leaves = stays_small(self, &now);
        if (self->rates.leaves) return TD_OK;
        td_unsettled_subtract(&cpu->unsettled, now.vertices, now.edges);
        td_direction direction = td_cpu_choose(cpu, &now);
        bool pushes = direction == TD_DIRECTION_PUSH || !cpu->setup.first_hit;
        bool together = worth && pushes;
        if (together)
            together = td_coop_invokes(self, now.edges, self->push.before[TD_COOP_HOT][self->push.block_count]);
        if (together) {
            TD_CHECK(round_together(self, &now, &row));
            counted = false;
        } else {
            row.direction = td_cpu_direction_name(direction);
            TD_CHECK(round_alone(self, direction, &now, &row));
        }
        TD_CHECK(td_cpu_end_iteration(cpu, &row, began));
        if (self->gpu.run->checkpoints != NULL) TD_CHECK(td_cpu_make_mapped(cpu, &now));
        self->gpu.run->converged = now.vertices == 0;
        TD_CHECK(td_coop_save(self, &cpu->context, cpu->values));
    }
    self->gpu.run->converged = now.vertices == 0;
    return TD_OK;
}

/* Delta-stepping. */

static td_status step_alone(td_coop_job *self, td_row *row)
{
    td_cpu_job *cpu = &self->cpu;
    td_cpu_tally sum;
    uint64_t began = td_device_clock(self->layout->device);
    cpu->frontier.next_count = 0;
    TD_CHECK(list_frontier(self));
    TD_CHECK(push(cpu, 0, cpu->frontier.queue_count, row->active_edges, &sum));
    row->edges = row->edges_cpu = sum.edges;
    td_device_host_worked(self->layout->device, sum.edges * TD_COOP_EDGE_BYTES);
    td_coop_learn_cpu(self, TD_COOP_DEQUES, sum.edges, td_device_clock(self->layout->device) - began);
    return TD_OK;
}

td_status td_coop_steps(td_coop_job *self)
{
    td_cpu_job *cpu = &self->cpu;
    td_frontier now;
    self->share.launch = launch;
    self->share.work = work;
    self->share.cpu_in_front = false;
    TD_CHECK(td_cpu_start(cpu, &now));
    memcpy(self->push.pending, cpu->frontier.active, td_cpu_words(cpu) * 8);
    cpu->coop.pending = self->push.pending;
    cpu->coop.bound = 0;
    for (;;) {
        uint64_t began = td_clock_ns();
        td_cpu_tally far;
        TD_CHECK(count_frontier(self, &now, &far));
        if (now.vertices == 0 && far.total == 0) break;
        if (now.vertices == 0) {
            cpu->coop.bound = far.lowest;
            continue;
        }
        self->rates.leaves = stays_small(self, &now);
        if (self->rates.leaves) return TD_OK;
        td_row row = {.direction = "near", .active_vertices = now.vertices, .active_edges = now.edges};
        self->now.row = &row;
        bool together = td_coop_invokes(self, now.edges, self->push.before[TD_COOP_HOT][self->push.block_count]);
        TD_CHECK(together ? push_together(self, &row) : step_alone(self, &row));
        TD_CHECK(td_cpu_end_iteration(cpu, &row, began));
        TD_CHECK(td_coop_save(self, &cpu->context, cpu->values));
    }
    self->gpu.run->converged = true;
    return TD_OK;
}
