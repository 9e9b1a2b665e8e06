/* A run that continues without a lost GPU. The host has a copy of the program's state (run/checkpoint.h: values, active
 * vertices, edges of a forest), of the end of some iteration. When a GPU is lost, all that the GPUs have is taken as gone:
 * the job ends, the lost GPU leaves the set, and the run begins again on the others as if it resumed a checkpoint, with
 * fragments from the host's graph. Iterations since the copy are repeated.
 *
 * A copy has all values. It is taken when the work since the last one took COPY_SHARE times as long as a copy, so that
 * copies cost 2% at most and a lost GPU costs a bounded repetition; runs that end before that are never copied, and begin
 * again from their start. Two copies alternate: one is complete while the other is made. Memory at the host: two states,
 * allocated with the first copy. */
#include "engine/multi/multi.h"

#include "base/alloc.h"
#include "base/bitmap.h"
#include "base/log.h"
#include "run/checkpoint_file.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

enum { COPY_SHARE = 50 };
static const double FIRST_RATE = 10e9, FIRST_SECONDS = 100e-6; /* of a copy, before one was measured */

static uint64_t state_bytes(const td_run *run)
{
    const td_cpu_kernels *traits = &run->program->cpu[TD_WEIGHT_NONE];
    uint64_t n = run->graph->vertices;
    return td_state_padded(n * traits->value_bytes) + td_state_padded(td_bitmap_words(n) * sizeof(uint64_t)) +
           td_state_padded(traits->edge != NULL ? n * sizeof(uint64_t) : 0);
}

static td_status make_states(td_multi_recovery *self, const td_run *run, td_pool *pool)
{
    if (self->has_states) return TD_OK;
    self->has_states = true;
    for (int i = 0; i < 2; i++) TD_CHECK(td_state_new(&self->state[i], run, pool));
    return TD_OK;
}

static void copy_state(td_state *to, const td_state *from, const td_run *run)
{
    uint64_t n = run->graph->vertices;
    memcpy(to->values, from->values, n * run->program->cpu[TD_WEIGHT_NONE].value_bytes);
    if (from->has_active) memcpy(to->active, from->active, td_bitmap_words(n) * sizeof *to->active);
    if (from->edge_count > 0) memcpy(to->edges, from->edges, from->edge_count * sizeof *to->edges);
    to->has_active = from->has_active;
    to->by_levels = from->by_levels;
    to->edge_count = from->edge_count;
    to->iteration = from->iteration;
    to->phase = from->phase;
    to->global = from->global;
    to->change = from->change;
    to->converged = from->converged;
}

/* The state of a checkpoint that the run resumes is its first copy: the engine clears the original. */
td_status td_multi_recovery_open(td_multi_recovery *self, td_run *run, const td_run_options *options, bool on)
{
    self->on = run->recovery.on = on;
    self->good = -1;
    self->seconds = FIRST_SECONDS + (double)state_bytes(run) / FIRST_RATE;
    if (!on || run->resumed == NULL) return TD_OK;
    TD_CHECK(make_states(self, run, options->pool));
    copy_state(&self->state[0], run->resumed, run);
    self->good = 0;
    self->taken = run->resumed->iteration;
    return TD_OK;
}

void td_multi_recovery_close(td_multi_recovery *self)
{
    for (int i = 0; i < 2; i++) td_state_clear(&self->state[i]);
    for (int i = 0; i < self->ended_count; i++) td_free(self->ended[i]);
}

uint64_t td_multi_recovery_bytes(const td_multi_job *self)
{
    return self->set.recovers ? 2 * state_bytes(self->run) : 0;
}

/* Copies. */

static uint64_t clock_of(const td_multi_job *self) { return td_device_clock(self->gpu[0].job.device); }

/* Values that name vertices in a numbering of their own mean nothing to another partition. */
static bool is_copyable(const td_multi_job *self)
{
    return !(self->run->program->info->vertex_values && self->numbering.order != NULL) &&
           td_state_ends_round(self->run, self->gpu[0].job.state.context.iteration);
}

static bool is_due(td_multi_job *self)
{
    td_multi_recovery *recovery = self->recovery;
    uint32_t iteration = td_multi_first(self)->state.context.iteration, every = self->set.recovery_every;
    if (!recovery->on || self->count == 1 || self->run->converged || !is_copyable(self)) return false;
    if (every > 0) return iteration - recovery->taken >= every;
    uint64_t now = clock_of(self);
    if (recovery->taken_at == 0) recovery->taken_at = now;
    return (double)(now - recovery->taken_at) * 1e-9 >= COPY_SHARE * recovery->seconds;
}

uint32_t td_multi_keep_rounds(const td_multi_job *self)
{
    uint32_t every = self->set.recovery_every, since = self->gpu[0].job.state.context.iteration - self->recovery->taken;
    if (!self->recovery->on || every == 0) return UINT32_MAX;
    return since < every ? every - since : every;
}

static void fill_numbers(const td_multi_job *self, td_state *state)
{
    const td_context *context = &self->gpu[0].job.state.context;
    state->iteration = context->iteration;
    state->phase = context->phase;
    state->global = context->global;
    state->change = self->run->final_change;
    state->converged = false;
}

td_status td_multi_keep(td_multi_job *self)
{
    td_multi_recovery *recovery = self->recovery;
    if (!is_due(self)) return TD_OK;
    int other = recovery->good == 0 ? 1 : 0;
    uint64_t began = clock_of(self);
    TD_CHECK(make_states(recovery, self->run, self->options->pool));
    td_state *state = &recovery->state[other];
    memset(state->active, 0, td_bitmap_words(self->graph->vertices) * sizeof *state->active);
    state->has_active = false;
    state->edge_count = 0;
    fill_numbers(self, state);
    TD_CHECK(td_multi_save(self, state));
    recovery->good = other;
    recovery->taken = state->iteration;
    recovery->taken_at = clock_of(self);
    recovery->seconds = (double)(recovery->taken_at - began) * 1e-9;
    self->run->recovery.copies++;
    self->run->recovery.bytes += self->graph->vertices * self->traits->value_bytes;
    self->run->recovery.seconds += recovery->seconds;
    return TD_OK;
}

/* Beginning again. */

/* Every GPU is asked: one that is lost may not be the one that reported it. */
static int count_lost(td_multi_job *self)
{
    const td_gpu_set *set = self->options->cache->gpus;
    int lost = 0;
    td_multi_break_loop(self);
    TD_EACH_GPU(self, gpu) if (gpu->job.stream != NULL) (void)td_stream_synchronize(gpu->job.stream);
    for (int i = 0; set != NULL && i < set->count; i++) lost += td_device_is_lost(set->gpu[i]);
    return lost;
}

bool td_multi_is_survived(td_multi_job *self, td_status status)
{
    const td_gpu_set *set = self->options->cache->gpus;
    if (status != TD_DEVICE || !self->recovery->on || set == NULL) return false;
    int lost = count_lost(self);
    return lost > 0 && lost < set->count;
}

/* The iterations after the copy did not take place, and a result is not complete. */
static void forget(td_run *run, uint32_t iteration)
{
    td_checkpoints_finish(run);
    td_free(run->values);
    td_free(run->edges);
    run->values = NULL;
    run->edges = NULL;
    run->edge_count = 0;
    while (run->row_count > 0 && run->rows[run->row_count - 1].number >= iteration) {
        run->edges_processed -= run->rows[--run->row_count].edges;
        run->recovery.iterations_repeated++;
    }
    run->iterations = iteration;
    run->converged = false;
}

static td_status resume_copy(td_multi_recovery *self, td_run *run, td_pool *pool)
{
    if (self->good < 0) return TD_OK;
    if (run->resumed == NULL) TD_CHECK(TD_NEW_ZEROED(&run->resumed, 1, "state of the run"));
    td_state_clear(run->resumed);
    TD_CHECK(td_state_new(run->resumed, run, pool));
    copy_state(run->resumed, &self->state[self->good], run);
    return TD_OK;
}

static void report_lost(td_multi_job *ended, int *lost)
{
    const td_gpu_set *set = ended->options->cache->gpus;
    TD_EACH_GPU(ended, gpu)
        if (gpu->job.device != NULL && td_device_is_lost(gpu->job.device) && ended->recovery->run_began > 0)
            td_gpu_fill_row(&gpu->job)->row.edges = gpu->all_processed;
    *lost = 0;
    for (int i = 0; i < set->count; i++) *lost += td_device_is_lost(set->gpu[i]);
}

td_status td_multi_begin_again(td_multi_job *ended)
{
    td_multi_recovery *self = ended->recovery;
    td_run *run = ended->run;
    const td_run_options *options = ended->options;
    int lost;
    td_failure failure;
    td_failure_keep(&failure);
    report_lost(ended, &lost);
    ended->waiting = INT_MIN / 2; /* what still arrives for it ends no wait */
    self->ended[self->ended_count++] = ended;
    int left = td_gpu_set_evict(options);
    uint32_t iteration = self->good >= 0 ? self->state[self->good].iteration : 0;
    run->recovery.gpus_lost += (uint32_t)lost;
    if (self->good >= 0)
        td_warn("%s; the run goes on with %d of %d GPUs, with the graph and the values that the host has: those after "
                "iteration %" PRIu32, failure.message, left, left + lost, iteration);
    else
        td_warn("%s; the run begins again with %d of %d GPUs, with the graph that the host has", failure.message, left,
                left + lost);
    forget(run, iteration);
    self->taken = iteration;
    self->taken_at = 0;
    return resume_copy(self, run, options->pool);
}
