/* What a run of the hybrid engine will hold and read, before it does. The sizes follow cpu.c (by pages) and paged.c; tests
 * compare them with what runs really took. */
#include "engine/hybrid.h"

#include <string.h>

enum { FIRST_PAGES = 4 << 20 }; /* the least for two pages, where no vertex has more than half of that */

static const td_cpu_kernels *kernels_of(const td_program *program, const td_packed_info *file)
{
    return &program->cpu[program->info->weights == TD_WEIGHTS_UNUSED ? TD_WEIGHT_NONE : file->weights];
}

static uint64_t bytes_per_vertex(const td_program *program, const td_cpu_kernels *k, const td_run_options *options)
{
    uint64_t bytes = k->value_bytes;
    bool gas = program->info->kind == TD_KIND_GAS, async = options->mode == TD_MODE_ASYNC;
    if (options->parents) bytes += sizeof(uint32_t);
    if (k->edge != NULL) bytes += sizeof(uint64_t) + sizeof(td_forest_edge);
    if (k->label != NULL && k->value_bytes != sizeof(uint32_t)) bytes += sizeof(uint32_t);
    if (!gas) return bytes;
    if (!k->sends_value) return bytes + k->message_bytes * (async ? 1 : 2);
    return !k->fused && !async ? bytes + k->value_bytes : bytes;
}

static uint64_t bitmaps(const td_program *program, const td_cpu_kernels *k)
{
    if (program->info->kind != TD_KIND_GAS) return 0;
    return 2 + (!k->fused && k->measure == TD_MEASURE_MAX) + (k->schedule == TD_SCHEDULE_PEEL);
}

/* A pass over all that a program goes over: one direction, or both where it looks at in- and out-edges alike. */
static uint64_t pass_bytes(const td_program *program, const td_cpu_kernels *k, const td_packed_info *file)
{
    bool weights = k != program->cpu, gas = program->info->kind == TD_KIND_GAS;
    uint64_t edge = sizeof(uint32_t) + (weights ? td_weight_bytes(file->weights) : 0);
    bool both = gas && k->view == TD_VIEW_BOTH && !file->symmetric;
    return file->edges * edge * (both ? 2 : 1);
}

td_status td_hybrid_count_bytes(const td_program *program, const td_packed_info *file, const td_run_options *options, uint64_t memory,
                                td_hybrid_bytes *out)
{
    const td_cpu_kernels *k = kernels_of(program, file);
    td_graph shape = {.vertices = file->vertices, .edges = file->edges, .symmetric = file->symmetric, .weights = file->weights};
    uint64_t arrays = file->vertices * bytes_per_vertex(program, k, options) + bitmaps(program, k) * td_bitmap_words(file->vertices) * 8;
    uint64_t slack = memory / 64 + (64 << 10);
    out->vertices = td_paged_open_bytes(file) + arrays + td_run_input_bytes(program, &shape, options);
    out->edges = pass_bytes(program, k, file);
    out->room = memory > out->vertices + slack ? memory - out->vertices - slack : 0;
    uint64_t ahead = out->room / 4 < (64 << 20) ? out->room / 4 : 64 << 20;
    uint64_t kept = out->room >= out->edges ? out->edges : out->room - ahead;
    out->reads = out->edges > kept ? out->edges - kept : 0;
    out->least = (out->vertices + FIRST_PAGES) / 63 * 64;
    return TD_OK;
}
