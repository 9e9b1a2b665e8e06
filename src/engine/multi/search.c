/* Searches without the host (mechanism 7 of GUM's engine here): on GPUs that have one memory, all rounds of bfs run in one
 * joint launch, which also chooses the direction of each (kernels/gpu/common_search.h). The host is asked only when a
 * checkpoint or a copy for recovery is due, or after TD_GPU_SEARCH_ROUNDS rounds: what is small then is left to loops that
 * only push, which have cheaper rounds and many more of them in a launch. */
#include "engine/multi/multi.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <math.h>
#include <string.h>

enum { WARPS = TD_GPU_THREADS / 32, BLOCKS_PER_PROCESSOR = 8, FEW_ROWS = 16 };

bool td_multi_may_search(const td_multi_job *self)
{
    return self->set.loop_pulls != TD_PULLS_OFF && self->shared && self->loops && self->traits->first_hit && !self->run->async;
}

td_status td_multi_open_search(td_multi_job *self)
{
    void *seen;
    if (!self->searches) return TD_OK;
    TD_CHECK(TD_NEW_ZEROED(&self->search, 1, "counters of a search"));
    self->search_pinned = td_device_pin(self->gpu[0].job.device, self->search, sizeof *self->search, &seen) == TD_OK;
    return TD_OK;
}

void td_multi_close_search(td_multi_job *self)
{
    if (self->search_pinned) td_device_unpin(self->gpu[0].job.device, self->search);
    td_free(self->search);
}

/* All that run at once, and no more than have a word of vertices per warp. */
static uint32_t blocks_of(const td_multi_job *self, const td_gpu_job *job, uint32_t most)
{
    uint64_t words = td_gpu_words(job), wanted = (words + WARPS - 1) / WARPS / (uint64_t)self->count + 1;
    uint64_t full = (uint64_t)job->device->properties.multiprocessors * BLOCKS_PER_PROCESSOR;
    if (self->set.loop_blocks > 0) wanted = self->set.loop_blocks;
    else if (wanted > full) wanted = full;
    return (uint32_t)(wanted < most ? wanted : most);
}

static void fill_args(td_multi_job *self, int member, uint32_t most_rounds, td_search_args *args)
{
    td_multi_gpu *first = self->gpu;
    *args = (td_search_args){.search = first->search, .late = first->job.arrays.late, .vertices = self->now.vertices,
                             .edges = self->now.edges, .unsettled = first->job.unsettled};
    td_multi_fill_joint(self, member, most_rounds, &args->joint);
    args->joint.lean = false;
    args->late_lists = td_multi_has_lists_above(self, TD_GPU_LATE, false) || td_multi_has_lists_above(self, TD_GPU_LATE, true);
    for (int k = 0; k < self->count; k++) args->pull[k] = self->layout->fragment[k].pull.view;
}

static td_status launch(td_multi_job *self, uint32_t most_rounds)
{
    td_set *set = self->rounds.set;
    td_search_args args[TD_FRAGMENTS];
    const void *arguments[TD_FRAGMENTS];
    td_stream *streams[TD_FRAGMENTS];
    const td_kernel *kernels[TD_FRAGMENTS];
    td_launch shapes[TD_FRAGMENTS];
    uint32_t blocks = 0;
    for (int i = 0; i < self->count; i++) {
        td_gpu_job *job = &self->gpu[i].job;
        uint32_t most;
        kernels[i] = &job->kernels->search_common.kernel;
        streams[i] = job->stream;
        arguments[i] = &args[i];
        fill_args(self, i, most_rounds, &args[i]);
        TD_CHECK(td_set_occupancy(set, i, kernels[i], TD_GPU_THREADS, 0, &most));
        if (most == 0)
            return td_fail(TD_DEVICE, "%s: the kernel '%s' does not fit a multiprocessor", job->device->name,
                           kernels[i]->name);
        shapes[i] = (td_launch){.blocks = blocks_of(self, job, most), .threads = TD_GPU_THREADS, .cooperative = true};
        args[i].joint.first_block = blocks;
        blocks += shapes[i].blocks;
    }
    for (int i = 0; i < self->count; i++) args[i].joint.set.blocks = blocks;
    return td_streams_launch_joint(set, streams, kernels, shapes, arguments, sizeof args[0]);
}

static size_t bytes_of(uint32_t rows) { return offsetof(td_gpu_search, row) + rows * sizeof(td_gpu_search_row); }

/* All streams are asked for their end: if a member is lost, those of the others never end by themselves. */
static td_status read_rows(td_multi_job *self, uint32_t rows)
{
    td_stream *first = self->gpu[0].job.stream;
    TD_CHECK(td_stream_copy(first, self->search, self->gpu[0].search, bytes_of(rows), TD_TO_HOST));
    td_status status = td_multi_synchronize(self);
    if (status != TD_OK) td_multi_break_loop(self);
    return status;
}

/* Seconds that every GPU was at work in the round, for the report. */
static td_status note_busy(td_multi_job *self, const td_gpu_search_row *from, td_row *row)
{
    double busy[TD_FRAGMENTS], all = 0;
    for (int i = 0; i < self->count; i++) {
        busy[i] = from->ended[i] > from->began ? (double)(from->ended[i] - from->began) * 1e-9 : 0;
        row->longest_seconds = fmax(row->longest_seconds, busy[i]);
        all += busy[i];
    }
    if (row->longest_seconds > 0) row->idle_share = 1 - all / (row->longest_seconds * self->count);
    return td_run_add_list(self->run, busy, (uint32_t)self->count, &row->busy);
}

/* Adds a row to the report for every round. The host's time is divided among them as the devices' clock measured them. */
static td_status take_rounds(td_multi_job *self, uint64_t began)
{
    const td_gpu_search *search = self->search;
    td_gpu_job *first = td_multi_first(self);
    double all = td_seconds_since(began), before = 0;
    double device = (double)(search->ended - search->row[0].began);
    for (uint32_t r = 0; r < search->rounds; r++) {
        const td_gpu_search_row *from = &search->row[r];
        uint64_t end = r + 1 < search->rounds ? search->row[r + 1].began : search->ended;
        double seconds = device > 0 ? all * ((double)(end - from->began) / device) : all / search->rounds;
        td_row row = {.direction = from->pulled ? "pull" : "push", .active_vertices = self->now.vertices,
                      .active_edges = self->now.edges, .gpus = (uint32_t)self->count, .steal = "loop"};
        for (int i = 0; i < self->count; i++) {
            row.edges += from->edges[i];
            row.edges_stolen += from->other_edges[i];
            self->gpu[i].all_processed += from->edges[i];
        }
        self->balance.stolen += row.edges_stolen;
        TD_CHECK(note_busy(self, from, &row));
        if (r == 0) row.operations = (uint32_t)td_multi_new_operations(self);
        td_multi_end_parts(self, &row, true);
        td_unsettled_subtract(&first->unsettled, self->now.vertices, self->now.edges);
        self->now = (td_frontier){.vertices = from->vertices, .edges = from->next.edges, .mapped = true};
        TD_CHECK(td_gpu_end_iteration(first, &row, began + (uint64_t)(before * 1e9), seconds));
        before += seconds;
    }
    TD_EACH_GPU(self, gpu) gpu->job.state.context.iteration = first->state.context.iteration;
    return TD_OK;
}

td_status td_multi_search(td_multi_job *self)
{
    uint64_t began = td_clock_ns();
    td_multi_gpu *first = self->gpu;
    uint32_t rounds = td_multi_rounds_left(self), most = TD_GPU_SEARCH_ROUNDS;
    if (rounds > most) rounds = most;
    TD_CHECK(td_multi_own_all(self));
    TD_CHECK(td_stream_fill(first->job.stream, first->search, 0, bytes_of(rounds)));
    TD_CHECK(launch(self, rounds));
    TD_CHECK(read_rows(self, rounds < FEW_ROWS ? rounds : FEW_ROWS));
    if (self->search->rounds > FEW_ROWS) TD_CHECK(read_rows(self, self->search->rounds));
    if (self->search->map != 0) TD_EACH_GPU(self, gpu) td_gpu_swap(&gpu->job.state.active, &gpu->job.state.next_active);
    self->next_dirty = self->tally_stale = self->mirrors_stale = true;
    self->search_is_long = self->search->rounds == TD_GPU_SEARCH_ROUNDS;
    return take_rounds(self, began);
}
