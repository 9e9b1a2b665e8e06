#include "planner/needs.h"

#include "cpu/cpu.h"
#include "engine/hybrid/hybrid.h"
#include "engine/resident/resident.h"
#include "run/precision.h"
#include "store/ranks.h"

static td_status check(const td_program *program, const td_graph *graph)
{
    const td_program_info *info = program->info;
    if (graph->vertices == 0) return td_fail(TD_UNSUPPORTED, "%s: a graph without vertices", info->name);
    if (graph->in.offsets == NULL)
        return td_fail(TD_UNSUPPORTED, "%s: a graph without in-adjacency ({out_only})", info->name);
    if (info->weights == TD_WEIGHTS_NEEDED && graph->weights == TD_WEIGHT_NONE)
        return td_fail(TD_UNSUPPORTED, "%s needs weights, which the graph lacks", info->name);
    return TD_OK;
}

td_status td_needs_find(td_run_needs *out, const td_program *program, const td_graph *graph,
                        const td_packed_info *file, td_pool *pool)
{
    td_settings none = {0};
    td_run_options options = {.pool = pool, .settings = &none};
    td_gpu_bytes gpu;
    td_hybrid_bytes disk;
    uint64_t loaded = td_graph_bytes(graph), quarter = file->file_bytes / 4;
    td_graph_facts facts = td_graph_facts_of(graph);
    TD_CHECK(check(program, graph));
    TD_CHECK(td_program_for(&program, program, &facts, &options));
    graph = td_graph_seen_by(program, graph);
    TD_CHECK(td_cpu_bytes(program, graph, &options, &out->memory));
    TD_CHECK(td_resident_count_bytes(program, graph, &options, &gpu));
    TD_CHECK(td_hybrid_count_bytes(program, graph, file, &options, quarter, &disk));
    bool ranks = td_run_ranks(program, graph->weights);
    if (ranks) out->memory += td_ranks_peak_bytes(graph, td_ranks_most(graph));
    out->memory += loaded + td_run_input_bytes(program, graph, &options);
    out->gpu = gpu.graph + gpu.program;
    out->disk_memory = quarter;
    if (ranks) return TD_OK;
    out->disk_least = disk.least;
    out->disk_bytes = disk.later;
    return TD_OK;
}
