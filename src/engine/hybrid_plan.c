/* What a run of the hybrid engine will hold and read, before it does. The sizes follow cpu.c (by pages) and paged.c;
 * tests compare them with what runs really took. */
#include "engine/hybrid_gpu.h"

#include "base/alloc.h"
#include "base/machine.h"
#include "base/size.h"

#include <string.h>

enum { FIRST_PAGES = 5 << 20 }; /* the least for two pages of a list, where no vertex has more than half of that */

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

/* In- and out-edges alike. */
static bool looks_at_both(const td_program *program, const td_cpu_kernels *k, const td_packed_info *file)
{
    return program->info->kind == TD_KIND_GAS && k->view == TD_VIEW_BOTH && !file->symmetric;
}

static uint64_t section_bytes(const td_packed_info *file, td_section_kind kind)
{
    return (file->sections[kind].bytes + TD_PACKED_ALIGN - 1) / TD_PACKED_ALIGN * TD_PACKED_ALIGN;
}

/* A pass over all that a program goes over: whole blocks, each once (pages that share one are asked for before the
 * first of them is left). Lists of one direction are as long as those of the other. */
static uint64_t pass_bytes(const td_program *program, const td_cpu_kernels *k, const td_packed_info *file, bool weights)
{
    uint64_t bytes = section_bytes(file, TD_SECTION_OUT_TARGETS);
    if (weights) bytes += section_bytes(file, TD_SECTION_OUT_WEIGHTS);
    return bytes * (looks_at_both(program, k, file) ? 2 : 1);
}

/* From disk in an iteration: at most, and about, where all edges are gone over again and pages stayed from the last. */
static td_status count_reads(td_hybrid_bytes *out, const td_program *program, const td_cpu_kernels *k,
                             const td_packed_info *file, const td_run_options *options)
{
    td_direction direction;
    bool gas = program->info->kind == TD_KIND_GAS, pulls = gas && !k->fused && k->schedule != TD_SCHEDULE_PEEL;
    TD_CHECK(td_hybrid_direction(options->settings, &direction));
    bool tells = pulls && td_hybrid_tracks(k, direction); /* one pass to tell, one to hear */
    out->reads = out->edges + (tells ? pass_bytes(program, k, file, false) : 0);
    out->later = out->reads;
    if (tells || (gas && !pulls)) return TD_OK;
    uint64_t ahead = out->room / 4 < (64 << 20) ? out->room / 4 : 64 << 20, kept = out->room - ahead;
    out->later = out->edges > kept ? out->edges - kept : 0;
    return TD_OK;
}

td_status td_hybrid_count_bytes(const td_program *program, const td_packed_info *file, const td_run_options *options,
                                uint64_t memory, td_hybrid_bytes *out)
{
    const td_cpu_kernels *k = kernels_of(program, file);
    td_graph shape = {.vertices = file->vertices, .edges = file->edges, .symmetric = file->symmetric,
                      .weights = file->weights};
    uint64_t arrays = file->vertices * bytes_per_vertex(program, k, options) +
                      bitmaps(program, k) * td_bitmap_words(file->vertices) * 8;
    uint64_t slack = memory / 64 + (64 << 10);
    if (td_hybrid_bounds_cores(k, options)) arrays += td_hybrid_cores_bytes(file->vertices, td_pool_threads(options->pool));
    out->vertices = td_paged_open_bytes(file) + arrays + td_run_input_bytes(program, &shape, options);
    out->edges = pass_bytes(program, k, file, k != program->cpu);
    out->room = memory > out->vertices + slack ? memory - out->vertices - slack : 0;
    uint64_t pages = looks_at_both(program, k, file) ? 2 * FIRST_PAGES : FIRST_PAGES;
    uint64_t gpu = td_hybrid_asks_gpu(options->settings)
                       ? td_hybrid_gpu_host_bytes(program, &shape, options, FIRST_PAGES / 2 / sizeof(uint32_t))
                       : 0;
    out->least = (out->vertices + pages + gpu) / 63 * 64;
    return count_reads(out, program, k, file, options);
}

/* The most edges that 64 vertices have, which no page can do without. */
static uint64_t largest_word(const td_graph *graph)
{
    uint64_t largest = 0;
    for (uint64_t v = 0; v < graph->vertices; v += 64) {
        uint64_t end = v + 64 < graph->vertices ? v + 64 : graph->vertices;
        uint64_t edges = graph->out.offsets[end] - graph->out.offsets[v];
        if (!graph->symmetric && graph->in.offsets != NULL) edges += graph->in.offsets[end] - graph->in.offsets[v];
        if (edges > largest) largest = edges;
    }
    return largest;
}

td_status td_hybrid_too_small(const td_program *program, const td_graph *graph, const td_run_options *options)
{
    enum { PAGE_EDGES = 1 << 14 }; /* of the smallest pages */
    enum { BLOCKS = 16 };          /* at both ends of what two have in four sections */
    td_hybrid_bytes need;
    char least[TD_NUMBER_BYTES], has[TD_NUMBER_BYTES];
    uint64_t edge = sizeof(uint32_t) + td_weight_bytes(graph->weights), word = largest_word(graph);
    uint64_t budget = td_memory().budget;
    TD_CHECK(td_hybrid_count_bytes(program, td_paged_describe(graph->paged), options, budget, &need));
    uint64_t edges = word > PAGE_EDGES ? word : PAGE_EDGES, page = edges * edge + BLOCKS * TD_PACKED_BLOCK;
    bool asked = td_hybrid_asks_gpu(options->settings);
    uint64_t gpu = asked ? td_hybrid_gpu_host_bytes(program, graph, options, edges) : 0;
    uint64_t directories = td_paged_describe(graph->paged)->sections[TD_SECTION_OUT_PAGES].bytes * 2;
    uint64_t bytes = (need.vertices + 2 * page + directories + gpu + (256 << 10)) / 63 * 64;
    td_format_size(has, budget + td_machine_besides());
    td_format_size(least, bytes + td_machine_besides());
    return td_fail(TD_NO_MEMORY,
                   "%s on %s needs at least --memory %s, about, for its vertices, pages of edges and the process "
                   "itself, and may use %s",
                   program->info->name, graph->name, least, has);
}
