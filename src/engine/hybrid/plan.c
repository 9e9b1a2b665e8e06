/* States the memory and the disk reads of a run. Arrays are measured by the functions that allocate them; pages and
 * their tables follow paged.c, and tests compare them with runs. */
#include "engine/hybrid/gpu.h"

#include "base/alloc.h"
#include "base/machine.h"
#include "base/size.h"
#include "run/checkpoint.h"

#include <stdio.h>
#include <string.h>

static const uint64_t LARGEST_PAGE = 2 << 20, SMALLEST_PAGE = 1 << 14; /* edges */
enum { PAGES_IN_MEMORY = 24 };                                          /* minimum wanted */
enum { PAGES_TO_SHARE = 64, LEAST_TO_SHARE = 1 << 18 }; /* pages of a graph in memory that CPU and GPU share; minimum
                                                         * edges of one */
enum { TABLES = 124 << 10, ROWS = 512 };                /* tables of pages, and rounding; iterations of the report */

static const td_cpu_kernels *kernels_of(const td_program *program, const td_packed_info *file)
{
    return &program->cpu[program->info->weights == TD_WEIGHTS_UNUSED ? TD_WEIGHT_NONE : file->weights];
}

/* The program's arrays and results, by the functions that allocate them. Bitmaps that a schedule makes when it first
 * notifies vertices are among the tables. */
static td_status measure_arrays(const td_program *program, const td_graph *graph, const td_run_options *options,
                                bool on_disk, uint64_t *bytes)
{
    const td_program_info *info = program->info;
    td_run run = {.program = program, .graph = graph, .async = options->mode == TD_MODE_ASYNC};
    td_host_memory memory = {.measures = true};
    td_cpu_job job = {.setup.by_pages = true};
    TD_CHECK(td_settings_resolve(options->settings, info->name, info->parameters, run.context.parameter, NULL));
    TD_CHECK(td_cpu_job_describe(&job, &run, options));
    TD_CHECK(td_cpu_declare_arrays(&job, &memory));
    if (info->kind == TD_KIND_SWEEP) TD_CHECK(td_hybrid_declare_forest(&job, on_disk, &memory));
    if (options->parents) TD_CHECK(td_cpu_declare_parents(&job, &memory));
    bool labels = job.kernels->label != NULL && job.kernels->value_bytes != sizeof(uint32_t);
    *bytes = memory.bytes + (labels ? graph->vertices * sizeof(uint32_t) : 0);
    return TD_OK;
}

/* Whether the program uses in- and out-lists. */
static bool uses_both_lists(const td_program *program, const td_cpu_kernels *k, const td_packed_info *file)
{
    bool unweighted = program->info->weights == TD_WEIGHTS_UNUSED;
    bool symmetric = file->symmetric || (file->pattern_symmetric && unweighted);
    return program->info->kind == TD_KIND_GAS && k->view == TD_VIEW_BOTH && !symmetric;
}

static uint64_t section_bytes(const td_packed_info *file, td_section_kind kind)
{
    return (file->sections[kind].bytes + TD_PACKED_ALIGN - 1) / TD_PACKED_ALIGN * TD_PACKED_ALIGN;
}

/* Bytes of a pass over all lists that the program uses: whole blocks, each read once (pages that share a block are
 * requested before the first of them is released). Lists of both directions have the same length. */
static uint64_t pass_bytes(const td_program *program, const td_cpu_kernels *k, const td_packed_info *file, bool weights)
{
    uint64_t bytes = section_bytes(file, TD_SECTION_OUT_TARGETS);
    if (weights) bytes += section_bytes(file, TD_SECTION_OUT_WEIGHTS);
    return bytes * (uses_both_lists(program, k, file) ? 2 : 1);
}

/* Disk reads of an iteration: the maximum, and an estimate for iterations that visit all edges again while some pages
 * are cached. */
static td_status count_reads(td_hybrid_bytes *out, const td_program *program, const td_cpu_kernels *k,
                             const td_packed_info *file, const td_run_options *options)
{
    td_direction direction;
    bool gas = program->info->kind == TD_KIND_GAS, pulls = gas && !k->fused && k->schedule != TD_SCHEDULE_PEEL;
    TD_CHECK(td_hybrid_direction(options->settings, &direction));
    bool notifies = pulls && td_hybrid_tracks(k, direction); /* one pass to notify, one to pull */
    out->reads = out->edges + (notifies ? pass_bytes(program, k, file, false) : 0);
    out->later = out->reads;
    bool again = gas ? pulls && !notifies : k->edge != NULL; /* wcc needs one sweep */
    if (!again) return TD_OK;
    uint64_t ahead = out->room / 4 < (64 << 20) ? out->room / 4 : 64 << 20, kept = out->room - ahead;
    out->later = out->edges > kept ? out->edges - kept : 0;
    return TD_OK;
}

/* Devices. */

bool td_hybrid_suits_gpu(const td_program *program, const td_cpu_kernels *k, int lists, const td_run_options *options)
{
    return program->info->kind == TD_KIND_GAS && (lists == 1 || !k->fused) && k->schedule != TD_SCHEDULE_PEEL &&
           !(k->first_hit && options->has_iterations);
}

static bool takes_gpu(const td_program *program, const td_cpu_kernels *k, const td_packed_info *file,
                      const td_run_options *options)
{
    td_hybrid_use use = td_hybrid_use_of(options->settings);
    bool wanted = use >= TD_USE_GPU || (use == TD_USE_AUTO && td_gpu_is_named(options->devices));
    return wanted && td_hybrid_suits_gpu(program, k, uses_both_lists(program, k, file) ? 2 : 1, options);
}

/* Pages. */

static uint64_t edge_bytes(const td_graph *graph) { return sizeof(uint32_t) + td_weight_bytes(graph->weights); }

/* The most edges of 64 vertices, the minimum of a page. */
uint64_t td_hybrid_largest_word(const td_graph *graph, bool both)
{
    uint64_t largest = 0;
    bool two = !graph->symmetric && graph->in.offsets != NULL;
    if (graph->out.offsets == NULL) return 0; /* a plan of a file: the lengths of its lists are not known */
    for (uint64_t v = 0; v < graph->vertices; v += 64) {
        uint64_t end = v + 64 < graph->vertices ? v + 64 : graph->vertices;
        uint64_t out = graph->out.offsets[end] - graph->out.offsets[v];
        uint64_t in = two ? graph->in.offsets[end] - graph->in.offsets[v] : 0;
        uint64_t edges = both ? out + in : out > in ? out : in;
        if (edges > largest) largest = edges;
    }
    return largest;
}

/* The most edges of a page that fits in a slot of the GPU. */
static uint64_t most_of_gpu(const td_program *program, const td_graph *graph, const td_run_options *options)
{
    uint64_t most, least;
    td_status status = td_hybrid_gpu_most(program, graph, options, &most, &least);
    return status == TD_OK && most > 0 ? most : UINT64_MAX; /* refused in time */
}

static uint64_t fit_memory(const td_program *program, const td_graph *graph, const td_run_options *options,
                           bool on_disk, bool gpu, uint64_t room)
{
    uint64_t bytes = edge_bytes(graph), fixed = 0, slots = 0;
    if (gpu && on_disk) {
        fixed = td_hybrid_gpu_host_bytes(program, graph, options, 0, true);
        uint64_t most = td_hybrid_gpu_host_bytes(program, graph, options, LARGEST_PAGE, true);
        slots = (most - fixed) / (LARGEST_PAGE * bytes) + 1;
    }
    uint64_t edges = (room > fixed ? room - fixed : 0) / (PAGES_IN_MEMORY + slots) / bytes;
    uint64_t shares = graph->edges / PAGES_TO_SHARE;
    if (!on_disk && shares < edges) edges = shares > LEAST_TO_SHARE ? shares : LEAST_TO_SHARE;
    return edges > LARGEST_PAGE ? LARGEST_PAGE : edges < SMALLEST_PAGE ? SMALLEST_PAGE : edges;
}

uint64_t td_hybrid_page_edges(const td_program *program, const td_graph *graph, const td_run_options *options,
                              bool on_disk, bool gpu, uint64_t room)
{
    uint64_t asked = td_hybrid_page_of(options->settings);
    if (asked > 0) return asked;
    uint64_t edges = fit_memory(program, graph, options, on_disk, gpu, room);
    uint64_t most = gpu ? most_of_gpu(program, graph, options) : UINT64_MAX;
    return edges < most ? edges : most;
}

/* Refuses {gpu_memory} with less than a run needs, or than pages of the size that the user set. */
static td_status check_gpu(const td_program *program, const td_graph *graph, const td_run_options *options)
{
    char has[TD_NUMBER_BYTES], needs[TD_NUMBER_BYTES];
    uint64_t most, least, page = td_hybrid_page_of(options->settings);
    TD_CHECK(td_hybrid_gpu_most(program, graph, options, &most, &least));
    td_refusal refusal = {.resource = TD_RESOURCE_DEVICE_MEMORY, .needed = least, .allowed = options->gpu_memory,
                          .minimum_known = true};
    td_format_size(has, options->gpu_memory);
    td_format_least(needs, least);
    if (most == 0)
        return td_refuse(&refusal, "%s needs at least {gpu_memory} %s on the GPU (vertices, and %d slots for pages of "
                         "edges); %s given", program->info->name, needs, TD_HYBRID_SLOTS, has);
    if (page <= most) return TD_OK;
    return td_fail(TD_USAGE, "hybrid.page=%llu: with {gpu_memory} %s a page of the GPU has at most %llu edges; leave "
                   "hybrid.page out, or raise {gpu_memory}", (unsigned long long)page, has, (unsigned long long)most);
}

/* Bytes of a page with so many edges, which begins and ends within blocks. */
static uint64_t page_bytes(const td_graph *graph, bool both, uint64_t edges)
{
    uint64_t sections = (graph->weights != TD_WEIGHT_NONE ? 2 : 1) * (both ? 2 : 1);
    return edges * edge_bytes(graph) + sections * 2 * TD_PACKED_BLOCK;
}

static uint64_t least_of(const td_hybrid_bytes *need, const td_packed_info *file, uint64_t page, uint64_t gpu)
{
    uint64_t directories = file->sections[TD_SECTION_OUT_PAGES].bytes + file->sections[TD_SECTION_IN_PAGES].bytes;
    uint64_t bytes = need->vertices + need->tables + 2 * page + directories + gpu + (64 << 10);
    return bytes / 63 * 64 + 64 + TD_PROCESS_BYTES;
}

/* The minimum: two pages of the smallest size. */
static void count_least(td_hybrid_bytes *out, const td_program *program, const td_graph *graph,
                        const td_packed_info *file, const td_run_options *options, bool both, bool gpu)
{
    uint64_t word = td_hybrid_largest_word(graph, both), given = td_hybrid_page_of(options->settings);
    uint64_t smallest = given > 0 ? given : SMALLEST_PAGE, edges = word > smallest ? word : smallest;
    uint64_t page = page_bytes(graph, both, edges);
    out->least_gpu = gpu ? td_hybrid_gpu_host_bytes(program, graph, options, edges, true) : 0;
    out->least_emulated = gpu ? td_hybrid_gpu_emulated_bytes(program, graph, options, edges) : 0;
    out->least_with_gpu = least_of(out, file, page, out->least_gpu);
    bool asked = td_hybrid_use_of(options->settings) >= TD_USE_GPU;
    out->least = asked ? out->least_with_gpu : least_of(out, file, page, 0);
}

/* Host memory of the GPU. For a graph on disk, a GPU that leaves too little for pages is not used, unless the user
 * asked for it. */
static td_status count_gpu(td_hybrid_bytes *need, const td_program *program, const td_graph *graph,
                           const td_run_options *options, bool on_disk, bool both)
{
    uint64_t page = td_hybrid_page_edges(program, graph, options, on_disk, true, need->room);
    bool asked = td_hybrid_use_of(options->settings) != TD_USE_AUTO;
    if (options->gpu_memory > 0) {
        td_status status = check_gpu(program, graph, options);
        if (status == TD_NO_MEMORY && !asked) return TD_OK;
        TD_CHECK(status);
    }
    uint64_t most = most_of_gpu(program, graph, options), edges = page < most ? page : most;
    if (most > TD_HYBRID_LARGEST_SLOT) most = TD_HYBRID_LARGEST_SLOT;
    uint64_t word = td_hybrid_largest_word(graph, both), slot = word > edges && word <= most ? word : edges;
    uint64_t all = graph->edges * (both ? 2 : 1);
    if (slot > all) slot = all;
    uint64_t bytes = td_hybrid_gpu_host_bytes(program, graph, options, slot, on_disk);
    bool dear = on_disk && need->room < bytes + 2 * page_bytes(graph, both, word > edges ? word : edges);
    if (dear && !asked) return TD_OK;
    td_gpu_memory taken;
    TD_CHECK(td_hybrid_gpu_measure(program, graph, options, slot, &taken));
    need->gpu = bytes + sizeof(td_gpu_control);
    need->emulated = td_hybrid_gpu_emulated_bytes(program, graph, options, slot);
    need->device_program = taken.bytes[TD_FOR_PROGRAM];
    need->device_graph = td_gpu_memory_sum(&taken) - need->device_program;
    return TD_OK;
}

td_status td_hybrid_count_bytes(const td_program *program, const td_graph *graph, const td_packed_info *file,
                                const td_run_options *options, uint64_t memory, td_hybrid_bytes *out)
{
    const td_cpu_kernels *k = kernels_of(program, file);
    bool on_disk = graph->paged != NULL, both = uses_both_lists(program, k, file);
    bool gpu = takes_gpu(program, k, file, options);
    uint64_t from_disk; /* the program's arrays of a run from disk, even if the edges are in memory */
    *out = (td_hybrid_bytes){0};
    TD_CHECK(measure_arrays(program, graph, options, on_disk, &out->arrays));
    TD_CHECK(measure_arrays(program, graph, options, true, &from_disk));
    out->tables = TABLES + ROWS * TD_ROW_BYTES;
    out->tables += graph->vertices / 4 + graph->edges / 512; /* marks; high-degree vertices */
    uint64_t cores = td_hybrid_cores_bytes(k, options, file->vertices);
    out->vertices = td_paged_open_bytes(file) + from_disk + cores + td_run_input_bytes(program, graph, options) +
                    td_checkpoint_bytes(program, graph, options);
    if (on_disk) out->arrays += cores;
    out->edges = pass_bytes(program, k, file, k != program->cpu);
    uint64_t taken = out->vertices + memory / 64 + out->tables;
    out->room = memory > taken ? memory - taken : 0;
    count_least(out, program, graph, file, options, both, gpu);
    if (gpu) TD_CHECK(count_gpu(out, program, graph, options, on_disk, both));
    out->room = out->room > out->gpu ? out->room - out->gpu : 0;
    uint64_t lists = out->edges * (k->first_hit && !graph->symmetric ? 2 : 1); /* pushes and pulls along different
                                                                                * lists */
    out->cached = out->room < lists ? out->room : lists;
    return count_reads(out, program, k, file, options);
}

td_status td_hybrid_too_small(const td_program *program, const td_graph *graph, const td_packed_info *file,
                              const td_run_options *options, bool gpu)
{
    td_hybrid_bytes need;
    char least[TD_NUMBER_BYTES], has[TD_NUMBER_BYTES], emulated[TD_NUMBER_BYTES], beside[64] = "";
    TD_CHECK(td_hybrid_count_bytes(program, graph, file, options, td_memory().budget, &need));
    td_format_size(has, td_memory().limit);
    td_refusal refusal = td_memory_refusal(gpu ? need.least_with_gpu : need.least);
    td_format_least(least, refusal.needed);
    if (gpu && need.least_emulated > 0)
        snprintf(beside, sizeof beside, ", the emulated GPU's own memory (%s)",
                 td_format_size(emulated, need.least_emulated));
    else if (gpu && need.least_gpu > 0) snprintf(beside, sizeof beside, ", the GPU");
    return td_refuse(&refusal,
                     "%s on %s needs at least {memory} %s (vertices, two pages of edges%s%s and the "
                     "process itself, estimated); %s given",
                     program->info->name, graph->name, least,
                     td_checkpoint_bytes(program, graph, options) > 0 ? ", checkpoints" : "", beside, has);
}
