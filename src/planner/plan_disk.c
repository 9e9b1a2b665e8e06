/* Graphs whose edges stay on disk: when they do, and what a run then needs. */
#include "planner/plan.h"

#include "base/alloc.h"
#include "base/machine.h"
#include "base/size.h"
#include "base/words.h"
#include "engine/hybrid_gpu.h"

#include <stdio.h>
#include <string.h>

static uint64_t memory_allowed(void)
{
    uint64_t budget = td_memory().budget;
    return budget > 0 ? budget : td_machine_memory_free();
}

/* What the file's graph takes when it is loaded. */
static uint64_t loaded_bytes(const td_packed_info *file)
{
    uint64_t bytes = file->sections[TD_SECTION_IDS].bytes;
    for (int kind = 0; kind <= TD_SECTION_IN_WEIGHTS; kind++) bytes += file->sections[kind].bytes;
    return bytes;
}

td_status td_plan_on_disk(const char *path, const char *engine, const td_program *program,
                          const td_run_options *options, bool *on_disk)
{
    td_packed *packed = NULL;
    uint64_t program_bytes;
    *on_disk = false;
    if (engine != NULL && strcmp(engine, "auto") != 0 && strcmp(engine, "hybrid") != 0) return TD_OK;
    TD_CHECK(td_packed_open(&packed, path));
    const td_packed_info *file = td_packed_describe(packed);
    td_graph shape = {.vertices = file->vertices, .edges = file->edges, .symmetric = file->symmetric,
                      .weights = file->weights};
    td_status status = td_cpu_bytes(program, &shape, options, &program_bytes);
    uint64_t gpu = td_hybrid_asks_gpu(options->settings) ? td_hybrid_gpu_host_bytes(program, &shape, options, 0) : 0;
    uint64_t inputs = td_run_input_bytes(program, &shape, options);
    if (status == TD_OK) *on_disk = loaded_bytes(file) + program_bytes + inputs + gpu > memory_allowed();
    td_packed_close(packed);
    return status;
}

td_status td_plan_exceeds_memory(const char *path, bool *exceeds)
{
    enum { PROGRAM_BYTES = 24 }; /* of a vertex: what most programs hold, and a little more */
    td_packed *packed = NULL;
    td_memory_stats memory = td_memory();
    TD_CHECK(td_packed_open(&packed, path));
    const td_packed_info *file = td_packed_describe(packed);
    uint64_t left = memory.budget > memory.now ? memory.budget - memory.now : 0;
    uint64_t needs = loaded_bytes(file) + (uint64_t)file->vertices * PROGRAM_BYTES;
    *exceeds = needs > (memory.budget > 0 ? left : td_machine_memory_free());
    td_packed_close(packed);
    return TD_OK;
}

td_status td_plan_too_small(const char *path, const td_program *program, const td_run_options *options)
{
    char least[TD_NUMBER_BYTES];
    td_hybrid_bytes need;
    td_packed *packed = NULL;
    TD_CHECK(td_packed_open(&packed, path));
    td_status status = td_hybrid_count_bytes(program, td_packed_describe(packed), options, memory_allowed(), &need);
    td_packed_close(packed);
    TD_CHECK(status);
    return td_fail(TD_NO_MEMORY, "%s on %s needs at least --memory %s, about, for its vertices and two pages of edges",
                   program->info->name, path, td_format_least(least, need.least + td_machine_besides()));
}

/* A few percent more than what is counted. What loading holds for a while is gone when the run begins. */
td_status td_plan_too_large(const char *path, const td_program *program, const td_run_options *options)
{
    char least[TD_NUMBER_BYTES], has[TD_NUMBER_BYTES];
    td_hybrid_bytes disk;
    td_packed *packed = NULL;
    uint64_t running;
    TD_CHECK(td_packed_open(&packed, path));
    td_packed_info file = *td_packed_describe(packed);
    td_packed_close(packed);
    td_graph shape = {.vertices = file.vertices, .edges = file.edges, .symmetric = file.symmetric,
                      .weights = file.weights};
    TD_CHECK(td_cpu_bytes(program, &shape, options, &running));
    TD_CHECK(td_hybrid_count_bytes(program, &file, options, memory_allowed(), &disk));
    running += td_run_input_bytes(program, &shape, options);
    uint64_t loading = td_packed_load_bytes(&file, options->pool);
    td_format_least(least, loaded_bytes(&file) + (running > loading ? running : loading) / 16 * 17 + (64 << 10));
    bool fits = disk.least + td_machine_besides() <= memory_allowed();
    return td_fail(TD_NO_MEMORY, "%s on %s needs at least --memory %s, about, with its edges in memory, and may use "
                   "%s%s%s%s", program->info->name, path, least, td_format_size(has, memory_allowed()),
                   fits ? "; " : "", fits ? td_word("--engine") : "", fits ? " hybrid leaves them on disk" : "");
}

td_status td_plan_hybrid(td_plan *plan, const td_program *program, const td_graph *graph, const td_run_options *options)
{
    td_hybrid_bytes need;
    td_packed_info file = graph->paged != NULL ? *td_paged_describe(graph->paged) : td_packed_plan(graph);
    TD_CHECK(td_hybrid_count_bytes(program, &file, options, memory_allowed(), &need));
    if (graph->paged == NULL) return td_cpu_bytes(program, graph, options, &plan->program_bytes);
    uint64_t open = td_paged_open_bytes(&file);
    plan->graph_bytes = open;
    plan->program_bytes = need.vertices - open - td_run_input_bytes(program, graph, options);
    plan->room_bytes = need.room;
    plan->disk_bytes = need.reads;
    plan->disk_bytes_later = need.later;
    return TD_OK;
}

void td_plan_choose_disk(td_plan *plan, const td_graph *graph)
{
    char whole[TD_NUMBER_BYTES], has[TD_NUMBER_BYTES];
    plan->engine = "hybrid";
    td_format_size(whole, loaded_bytes(td_paged_describe(graph->paged)));
    td_format_size(has, memory_allowed());
    snprintf(plan->why, sizeof plan->why, "the graph, %s, does not fit the memory of %s beside the program", whole,
             has);
}
