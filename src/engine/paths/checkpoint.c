/* Checkpoints. A state has the values of the vertices: mirrors, sums and marks belong to the engine. A run that goes on
 * from values begins with empty mirrors and all paths marked, so that its first walks deposit everything anew. Between
 * two rows the values of programs of whole numbers are upper bounds, each of which may still have to be sent: every
 * vertex that has one is active in the state. Core numbers have no common state: other engines peel degrees level by
 * level. */
#include "engine/paths/several.h"

#include "base/alloc.h"
#include "base/bitmap.h"
#include "run/checkpoint.h"
#include "run/parents.h"

#include <math.h>
#include <string.h>

/* Going on. */

static void set_bits(uint32_t *words, uint64_t first, uint64_t count)
{
    for (uint64_t i = first; i < first + count; i++) words[i / 32] |= 1u << (i & 31u);
}

/* All paths, or vertices, or partitions that there are; no other bit of a word. */
static void mark_all(const td_paths_job *self, uint32_t *words)
{
    const td_paths *p = &self->paths;
    const td_path_state *s = &self->steps.state;
    if (s->plain) {
        for (uint64_t v = 0; v < self->cpu.graph->vertices; v++)
            if (s->place_offsets[v] < s->place_offsets[v + 1]) set_bits(words, v, 1);
    } else if (self->gpu != NULL && self->gpu->batches != NULL) {
        set_bits(words, 0, p->partitions);
    } else {
        for (uint32_t k = 0; k < p->partitions; k++)
            set_bits(words, (uint64_t)self->index.first_word[k] * 32, p->partition[k].paths);
    }
}

static td_status send_marks(td_paths_job *self)
{
    td_stream *stream = self->gpu->job.stream;
    uint64_t count = td_paths_mark_words(self);
    uint32_t *words;
    TD_CHECK(TD_NEW_ZEROED(&words, count + 1, "marks of paths"));
    mark_all(self, words);
    td_status status = td_stream_copy(stream, self->gpu->args.paths.marks, words, count * sizeof *words, TD_TO_DEVICE);
    if (status == TD_OK) status = td_stream_synchronize(stream);
    td_free(words);
    return status;
}

static td_status take_values(td_paths_job *self, const td_state *from)
{
    td_cpu_job *cpu = &self->cpu;
    uint64_t bytes = cpu->graph->vertices * cpu->kernels->value_bytes;
    if (self->gpu == NULL) {
        memcpy(cpu->values, from->values, bytes);
        return TD_OK;
    }
    if (self->several != NULL) {
        for (int i = 0; i < self->several->count; i++) TD_CHECK(take_values(&self->several->part[i], from));
        return TD_OK;
    }
    td_gpu_job *job = &self->gpu->job;
    TD_CHECK(td_stream_copy(job->stream, job->state.values, from->values, bytes, TD_TO_DEVICE));
    return td_stream_synchronize(job->stream);
}

/* Programs of real numbers: values at this engine's scale (finish.c) and their messages, then sums of all messages. A
 * vertex that was applied before all of them have arrived would lose what the checkpoint had. */
static td_status send_values(td_paths_job *self)
{
    uint64_t n = self->cpu.graph->vertices;
    td_path_tally none;
    self->resumed = true;
    self->set.balance = false; /* what a group wants from outside is no longer known apart from the rest */
    TD_CHECK(td_paths_unscale(self));
    TD_CHECK(td_paths_do(self, TD_PATHS_BALANCE, n, n, &none));
    if (!self->steps.state.plain) return td_paths_send_all(self);
    self->steps.state.least = INFINITY;
    self->steps.state.round++;
    TD_CHECK(td_paths_do(self, TD_PATHS_PUSH, (n + 31) / 32, td_cpu_view_edges(&self->cpu), &none));
    self->steps.state.least = 0;
    return td_paths_do(self, TD_PATHS_SCAN, n, n, &none);
}

td_status td_paths_resume(td_paths_job *self)
{
    td_cpu_job *cpu = &self->cpu;
    td_state *from = self->run->resumed;
    if (from == NULL) return TD_OK;
    cpu->context.iteration = from->iteration;
    self->finished = from->converged;
    TD_CHECK(take_values(self, from));
    td_state_clear(from);
    if (self->finished) return TD_OK;
    if (self->several != NULL)
        for (int i = 0; i < self->several->count; i++) TD_CHECK(send_marks(&self->several->part[i]));
    else if (self->gpu != NULL) TD_CHECK(send_marks(self));
    else mark_all(self, self->steps.state.marks);
    return self->real ? send_values(self) : TD_OK;
}

/* Leaving one. */

/* Vertices with a value other than that of an unreached one; of labels all have one. */
static void find_active(const td_paths_job *self, td_state *state)
{
    bool wide = self->cpu.kernels->value_bytes == sizeof(uint64_t);
    uint64_t none = td_run_unreached(self->run);
    for (uint64_t v = 0; v < self->cpu.graph->vertices; v++) {
        uint64_t value = wide ? ((const uint64_t *)state->values)[v] : ((const uint32_t *)state->values)[v];
        if (value != none) td_bit_set(state->active, v);
    }
}

td_status td_paths_checkpoint(td_paths_job *self)
{
    td_cpu_job *cpu = &self->cpu;
    uint64_t bytes = cpu->graph->vertices * cpu->kernels->value_bytes;
    td_state *state = td_checkpoint_due(self->run, &cpu->context);
    if (state == NULL) return TD_OK;
    if (self->gpu == NULL) {
        TD_CHECK(td_state_fill(state, TD_STATE_VALUES, cpu->values, bytes, cpu->pool));
    } else if (self->several != NULL) {
        TD_CHECK(td_paths_several_values(self, state->values));
    } else {
        td_gpu_job *job = &self->gpu->job;
        TD_CHECK(td_stream_copy(job->stream, state->values, job->state.values, bytes, TD_TO_HOST));
        TD_CHECK(td_stream_synchronize(job->stream));
    }
    state->by_levels = false;
    state->has_active = !self->real;
    if (state->has_active) find_active(self, state);
    return td_checkpoint_save(self->run, state);
}
