/* Masters of vertices and mirrors of edges on the host. */
#include "engine/paths/paths.h"

#include "base/alloc.h"
#include "run/checkpoint.h"

void td_paths_fill_counts(td_paths_job *self)
{
    td_cpu_job *cpu = &self->cpu;
    for (uint64_t v = 0; v <= cpu->graph->vertices; v++)
        self->count_offsets[v] = cpu->view.pull[0].offsets[v] +
            (cpu->view.lists == 2 ? cpu->view.pull[1].offsets[v] : 0) + v;
}

/* Core numbers: a vertex counts its neighbours by their bounds, from 0 to its own degree. */
static td_status declare_counts(td_paths_job *self, td_host_memory *memory)
{
    td_cpu_job *cpu = &self->cpu;
    uint64_t n = cpu->graph->vertices;
    TD_CHECK(td_host_declare(memory, &self->steps.state.counts, td_cpu_view_edges(cpu) + n, sizeof(uint32_t),
                             "counts of bounds"));
    TD_CHECK(td_host_declare(memory, &self->count_offsets, n + 1, sizeof(uint64_t), "counts of bounds"));
    if (!memory->measures) td_paths_fill_counts(self);
    return TD_OK;
}

static td_status declare_masters(td_paths_job *self, td_host_memory *memory)
{
    td_cpu_job *cpu = &self->cpu;
    const td_cpu_kernels *k = cpu->kernels;
    uint64_t n = cpu->graph->vertices;
    TD_CHECK(td_host_declare(memory, &cpu->values, n, k->value_bytes, "vertex values"));
    if (!k->sends_value) TD_CHECK(td_host_declare(memory, &cpu->messages, n, k->message_bytes, "messages"));
    else cpu->messages = cpu->values;
    cpu->next_values = cpu->values;
    cpu->next_messages = cpu->messages;
    if (k->schedule == TD_SCHEDULE_PEEL) return declare_counts(self, memory);
    return td_host_declare(memory, &self->steps.state.sums, n, k->accum_bytes, "deposits at vertices");
}

td_status td_paths_declare_state(td_paths_job *self, td_host_memory *memory)
{
    td_cpu_job *cpu = &self->cpu;
    td_path_state *s = &self->steps.state;
    uint64_t n = cpu->graph->vertices, edges = s->plain ? n : cpu->graph->edges;
    uint64_t message = cpu->kernels->message_bytes, words = s->plain ? (n + 31) / 32 : self->index.words;
    if (memory->measures && !s->plain) words = cpu->graph->edges / 32 + 1;
    TD_CHECK(declare_masters(self, memory));
    TD_CHECK(td_host_declare(memory, &s->sent, edges, message, "mirrors of edges"));
    if (s->back && !s->plain) TD_CHECK(td_host_declare(memory, &s->sent_back, edges, message, "mirrors of edges"));
    if (self->real) TD_CHECK(td_host_declare_zeroed(memory, &s->rounds, n, sizeof *s->rounds, "rounds of vertices"));
    TD_CHECK(td_host_declare_zeroed(memory, &s->marks, words, sizeof *s->marks, "marks of paths"));
    self->steps.mirrors = edges;
    return td_host_declare_zeroed(memory, &self->steps.tallies, (uint64_t)cpu->workers, sizeof *self->steps.tallies,
                                  "counters");
}

void td_paths_free_state(td_paths_job *self)
{
    td_path_state *s = &self->steps.state;
    td_free(s->sums);
    td_free(s->sent);
    td_free(s->sent_back);
    td_free(s->rounds);
    td_free(s->marks);
    td_free(s->counts);
    td_free(self->count_offsets);
    td_free(self->steps.tallies);
    td_free(self->order);
    td_free(self->rank);
    td_free(self->outside);
}

/* First values, and the marks of the paths that are walked first. */
td_status td_paths_start(td_paths_job *self)
{
    td_cpu_job *cpu = &self->cpu;
    td_path_state *s = &self->steps.state;
    td_path_tally none;
    s->values = cpu->values;
    s->messages = cpu->messages;
    s->count_offsets = self->count_offsets;
    s->out_offsets = cpu->graph->out.offsets;
    s->vertices = cpu->graph->vertices;
    s->scale = 1;
    TD_CHECK(td_paths_do(self, TD_PATHS_CLEAR, (self->steps.mirrors + TD_PATH_MIRRORS - 1) / TD_PATH_MIRRORS,
                         self->steps.mirrors, &none));
    TD_CHECK(td_paths_do(self, TD_PATHS_INIT, s->vertices, s->vertices, &none));
    TD_CHECK(td_paths_resume(self));
    self->sum = (td_path_tally){0};
    return td_checkpoints_begin(self->run);
}
