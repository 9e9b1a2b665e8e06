/* Sinks once (CGgraph, section 4.2): a vertex without out-edges is read by no other, so that its value is computed once,
 * when all others are final. Pulls skip the sinks. Pushes run along lists without the edges that lead to sinks, a copy
 * made before the run: the kernels are the same. */
#include "cpu/cpu.h"

#include "base/clock.h"

#include <string.h>

enum { VERTICES_AT_A_TIME = 1 << 12 };

static bool is_sink(const td_graph *graph, uint32_t v) { return td_degree(&graph->out, v) == 0; }

/* Edges that do not lead to sinks. */
static uint64_t count_kept(const td_graph *graph)
{
    uint64_t edges = graph->edges;
    if (graph->out.offsets == NULL) return edges; /* a plan of a file: at most so many */
    for (uint32_t v = 0; v < graph->vertices; v++)
        if (is_sink(graph, v)) edges -= td_degree(&graph->in, v);
    return edges;
}

td_status td_cpu_declare_kept(td_cpu_job *job, td_cpu_memory *memory)
{
    const td_graph *graph = job->graph;
    if (!job->setup.defer_sinks || !job->kernels->fused) return TD_OK;
    uint64_t kept = count_kept(graph), weight = td_weight_bytes(graph->weights);
    TD_CHECK(td_cpu_declare(memory, &job->view.kept.offsets, (uint64_t)graph->vertices + 1, sizeof(uint64_t),
                            "lists without sinks"));
    TD_CHECK(td_cpu_declare(memory, &job->view.kept.targets, kept, sizeof(uint32_t), "lists without sinks"));
    if (graph->out.weights == NULL || job->run->program->info->weights == TD_WEIGHTS_UNUSED) return TD_OK;
    return td_cpu_declare(memory, &job->view.kept.weights, kept, weight, "lists without sinks");
}

static td_status count_lists(void *context, uint64_t begin, uint64_t end, int worker)
{
    td_cpu_job *job = context;
    const td_adjacency *out = &job->graph->out;
    (void)worker;
    for (uint64_t v = begin; v < end; v++) {
        uint64_t kept = 0;
        for (uint64_t e = out->offsets[v]; e < out->offsets[v + 1]; e++) kept += !is_sink(job->graph, out->targets[e]);
        job->view.kept.offsets[v + 1] = kept;
    }
    return TD_OK;
}

static td_status copy_lists(void *context, uint64_t begin, uint64_t end, int worker)
{
    td_cpu_job *job = context;
    const td_adjacency *out = &job->graph->out;
    uint64_t weight = td_weight_bytes(job->graph->weights);
    (void)worker;
    for (uint64_t v = begin; v < end; v++) {
        uint64_t at = job->view.kept.offsets[v];
        for (uint64_t e = out->offsets[v]; e < out->offsets[v + 1]; e++) {
            if (is_sink(job->graph, out->targets[e])) continue;
            job->view.kept.targets[at] = out->targets[e];
            if (job->view.kept.weights != NULL)
                memcpy((char *)job->view.kept.weights + at * weight, (const char *)out->weights + e * weight, weight);
            at++;
        }
    }
    return TD_OK;
}

td_status td_cpu_keep_lists(td_cpu_job *job)
{
    uint32_t n = job->graph->vertices;
    if (job->view.kept.offsets == NULL) return TD_OK;
    TD_CHECK(td_pool_for(job->pool, n, VERTICES_AT_A_TIME, count_lists, job));
    job->view.kept.offsets[0] = 0;
    for (uint64_t v = 0; v < n; v++) job->view.kept.offsets[v + 1] += job->view.kept.offsets[v];
    TD_CHECK(td_pool_for(job->pool, n, VERTICES_AT_A_TIME, copy_lists, job));
    job->view.push[0] = job->view.kept;
    return TD_OK;
}

/* Computes the deferred vertices without out-edges after all others are final. */
td_status td_cpu_finish_sinks(td_cpu_job *job)
{
    td_cpu_tally sum;
    uint64_t words = td_cpu_words(job), began = td_clock_ns();
    TD_CHECK(td_cpu_declare_marked(job, &(td_cpu_memory){0}));
    memset(job->frontier.marked, 0, words * 8);
    for (uint32_t v = 0; v < job->graph->vertices; v++)
        if (td_degree(&job->graph->out, v) == 0) td_bit_set(job->frontier.marked, v);
    job->setup.defer_sinks = false;
    job->view.push[0] = job->graph->out;
    TD_CHECK(td_cpu_step(job, job->kernels->pull_marked, words, TD_WORDS_AT_A_TIME, td_cpu_view_edges(job), &sum));
    TD_CHECK(td_run_check_change(job->run, job->context.iteration, sum.change, sum.share));
    if (job->next_values != job->values || job->next_messages != job->messages)
        TD_CHECK(td_cpu_step(job, job->kernels->commit_marked, words, 64, words, NULL));
    td_row row = {.direction = "sinks", .edges = sum.edges, .change = job->run->final_change};
    return td_cpu_end_iteration(job, &row, began);
}
