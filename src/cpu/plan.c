/* Memory of a run of the cpu engine: the functions that declare its arrays measure them; sizes that depend on the data
 * are estimated here. */
#include "base/sort.h"
#include "kernels/cpu/buckets.h"
#include "cpu/cpu.h"

#include <string.h>

bool td_cpu_uses(const td_program *program, const char *setting)
{
    const td_cpu_kernels *k = program->cpu;
    bool gas = program->info->kind == TD_KIND_GAS;
    if (strcmp(setting, "direction") == 0 || strcmp(setting, "piece") == 0 || strcmp(setting, "sinks") == 0) return gas;
    if (strcmp(setting, "high_degree") == 0) return !gas || k->fused;
    if (strcmp(setting, "batch") == 0) return k->bits != NULL;
    if (strcmp(setting, "delta") == 0) return gas && k->schedule == TD_SCHEDULE_PRIORITY;
    if (strcmp(setting, "survivors") == 0) return k->light_first;
    if (strcmp(setting, "lists") == 0) return td_cpu_has_mapped(program);
    return strcmp(setting, "samples") != 0 || k->samples;
}

/* Estimates. */

/* Entries of all buckets together, with their room to grow: a vertex of a random graph is improved the more often the more
 * neighbours it has. Measured per vertex: 1 on a grid, 2.6 with degree 12, 3.5 with 20 (docs/lab/tests.md). */
static uint64_t bucket_entries(const td_graph *graph)
{
    uint64_t by_edges = graph->edges / 6, most = 3 * (uint64_t)graph->vertices;
    return graph->vertices + (by_edges < most ? by_edges : most);
}

/* Arrays of the schedule. Pulls may notify vertices; every vertex that can have a high degree is counted. */
static td_status measure_schedule(td_cpu_job *job, td_cpu_memory *memory)
{
    bool sweeps = job->run->program->info->kind == TD_KIND_SWEEP;
    if (job->setup.bucketed) {
        memory->bytes += bucket_entries(job->graph) * sizeof(uint64_t);
        return td_cpu_declare_buckets(job, memory);
    }
    if (job->kernels->fused || sweeps) {
        TD_CHECK(td_cpu_declare_high_degree_list(job, memory));
        memory->bytes += (td_cpu_view_edges(job) / job->high.degree + 1) * sizeof *job->high.start;
    }
    if (sweeps) return td_cpu_declare_forest(job, memory);
    if (job->kernels->schedule == TD_SCHEDULE_PEEL) TD_CHECK(td_cpu_declare_left(job, memory));
    return td_cpu_declare_marked(job, memory);
}

/* Results besides the arrays: parents, with the search along edges of length 0; labels. */
static td_status measure_results(td_cpu_job *job, td_cpu_memory *memory)
{
    const td_cpu_kernels *k = job->kernels;
    uint64_t n = job->graph->vertices;
    bool weighted = k != &job->run->program->cpu[TD_WEIGHT_NONE];
    if (job->options->parents) TD_CHECK(td_cpu_declare_parents(job, memory));
    if (job->options->parents && weighted) memory->bytes += n * sizeof(uint32_t);
    if (k->edge != NULL) memory->bytes += td_sort_bitmap_bytes(n, job->graph->edges);
    if (k->label != NULL && k->value_bytes != sizeof(uint32_t)) memory->bytes += n * sizeof(uint32_t);
    memory->bytes += sizeof(td_run) + TD_FIRST_ROWS * TD_ROW_BYTES + (uint64_t)job->workers * sizeof(td_run_of_units);
    return TD_OK;
}

td_status td_cpu_bytes(const td_program *program, const td_graph *graph, const td_run_options *options, uint64_t *bytes)
{
    const td_program_info *info = program->info;
    td_run run = {.program = program, .graph = graph, .async = options->mode == TD_MODE_ASYNC};
    td_cpu_memory memory = {.measures = true};
    td_cpu_job job = {0};
    TD_CHECK(td_settings_resolve(options->settings, info->name, info->parameters, run.context.parameter, NULL));
    TD_CHECK(td_cpu_job_describe(&job, &run, options));
    TD_CHECK(td_cpu_declare_arrays(&job, &memory));
    TD_CHECK(measure_schedule(&job, &memory));
    TD_CHECK(measure_results(&job, &memory));
    if (td_cpu_choose_survivors(&job, memory.bytes)) TD_CHECK(td_cpu_declare_survivors(&job, &memory));
    *bytes = memory.bytes;
    return TD_OK;
}
