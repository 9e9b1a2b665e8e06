/* Device memory of a run, and whether it fits: the functions that declare its arrays measure them (gpu/memory.h). */
#include "gpu/bytes.h"

#include "base/size.h"
#include "base/names.h"
#include "gpu/ring.h"
#include "gpu/rounds.h"
#include "run/groups.h"

/* Kernels count vertices in 32 bits, up to a launch's threads past the last one. */
#define MOST_VERTICES (UINT32_MAX - (UINT32_C(1) << 22))

/* Groups are named beside the run's result and the graph's lists: the program's arrays and the ring are gone. */
static void note_names(td_gpu_job *job)
{
    const td_gpu_memory *memory = &job->memory;
    uint64_t names = td_run_names_bytes(job->run), lists = memory->bytes[TD_FOR_EDGES] + memory->bytes[TD_FOR_LISTS];
    td_host_memory *host = &job->memory.host, then = {.bytes = host->bytes};
    if (names == 0) return;
    if (job->ring_noted) td_host_let_go(&then, td_gpu_ring_bytes(UINT64_MAX));
    if (memory->device != NULL) then.besides = td_device_host_bytes(memory->device, lists, memory->cooperative);
    td_host_note(&then, td_gpu_result_bytes(job) + names);
    if (then.peak > host->peak) host->peak = then.peak;
}

td_status td_gpu_count_bytes(const td_program *program, const td_graph *graph, const td_run_options *options,
                             const td_gpu_choice *choice, td_gpu_bytes *out)
{
    td_gpu_graph layout = {0};
    td_gpu_job job;
    td_run run;
    TD_CHECK(td_gpu_job_measure(&job, &run, program, graph, options));
    td_gpu_measure_on(&job.memory, choice->device);
    job.layout = &layout;
    job.direction = choice->direction;
    job.shards = choice->shards;
    job.high_degree = (uint32_t)choice->high_degree;
    job.prioritised = td_gpu_prioritises(&job);
    job.cores = choice->cores;
    td_gpu_choose_lists(&job);
    TD_CHECK(td_gpu_load(&job));
    TD_CHECK(td_gpu_load_gathers(&job));
    job.memory.cooperative = job.traits->fused; /* rounds inside one launch */
    TD_CHECK(td_gpu_declare_arrays(&job));
    td_gpu_note_results(&job);
    note_names(&job);
    const td_gpu_memory *memory = &job.memory;
    *out = (td_gpu_bytes){.graph = memory->bytes[TD_FOR_EDGES] + memory->bytes[TD_FOR_LISTS],
                          .edges = memory->bytes[TD_FOR_EDGES], .program = memory->bytes[TD_FOR_PROGRAM],
                          .host = memory->host.peak, .copies = job.file_copies, .list_edges = td_gpu_view_edges(&job),
                          .edge_bytes = sizeof(uint32_t) + td_gpu_weight_bytes(&job), .both = job.both};
    return TD_OK;
}

/* A share refers to the edges that the engine needs, so that 100% is no limit. */
static uint64_t allowed_edges(const td_run_options *options, uint64_t needed)
{
    double cap = options->gpu_edges;
    return cap <= 0 ? UINT64_MAX : cap <= 1 ? (uint64_t)(cap * (double)needed) : (uint64_t)cap;
}

td_status td_gpu_check_room(const td_gpu_bytes *need, const td_run_options *options, uint64_t room)
{
    char a[TD_NUMBER_BYTES], b[TD_NUMBER_BYTES];
    uint64_t allowed = allowed_edges(options, need->edges);
    if (need->edges > allowed)
        return td_fail(TD_NO_MEMORY, "needs %s of edges on the GPU, and {gpu_edges} allows %s",
                       td_format_size(a, need->edges), td_format_size(b, allowed));
    if (need->graph + need->program <= room) return TD_OK;
    return td_fail(TD_NO_MEMORY, "needs %s on the GPU, which has %s", td_format_size(a, need->graph + need->program),
                   td_format_size(b, room));
}

static td_status check_edges(const td_run_options *options, uint64_t needed, const td_device *device)
{
    char a[TD_NUMBER_BYTES], b[TD_NUMBER_BYTES];
    uint64_t allowed = allowed_edges(options, needed);
    if (needed <= allowed) return TD_OK;
    td_refusal refusal = td_device_refusal(device, needed, allowed);
    refusal.resource = TD_RESOURCE_DEVICE_EDGES;
    refusal.minimum_known = true;
    return td_refuse(&refusal,
                     "the resident engine needs all edges on %s: %s, and {gpu_edges} allows %s; {engine} stream needs "
                     "a part of them",
                     device->name, td_format_size(a, needed), td_format_size(b, allowed));
}

static td_status too_large(const td_program *program, const td_gpu_bytes *need, const td_device *device, uint64_t room)
{
    char a[TD_NUMBER_BYTES], b[TD_NUMBER_BYTES], c[TD_NUMBER_BYTES];
    bool capped = device->budget > 0;
    td_refusal refusal = td_device_refusal(device, need->graph + need->program, room);
    refusal.minimum_known = true;
    return td_refuse(&refusal,
                     "%s needs %s on %s for the graph and %s for its own arrays, and %s are free%s%s; {engine} stream "
                     "keeps the edges in host memory, {engine} cpu needs no GPU",
                     program->info->name, td_format_size(a, need->graph), device->name,
                     td_format_size(b, need->program), td_format_size(c, room), capped ? " under " : "",
                     capped ? td_named("gpu_memory") : "");
}

td_status td_gpu_check_vertices(const td_graph *graph, const char *engine)
{
    if (graph->vertices <= MOST_VERTICES) return TD_OK;
    return td_fail(TD_LIMIT, "the %s engine takes up to %u vertices, and the graph has %u; {engine} cpu runs it",
                   engine, MOST_VERTICES, graph->vertices);
}

td_status td_gpu_check_fit(const td_program *program, const td_gpu_bytes *need, const td_run_options *options,
                           const td_device *device)
{
    uint64_t room = td_device_left(device) + device->now; /* the cached layout can be released */
    TD_CHECK(check_edges(options, need->edges, device));
    if (need->graph + need->program <= room) return TD_OK;
    return too_large(program, need, device, room);
}

uint64_t td_gpu_run_bytes(int gpus)
{
    return (uint64_t)gpus * sizeof(td_gpu_control) + sizeof(td_run) + TD_FIRST_ROWS * TD_ROW_BYTES;
}
