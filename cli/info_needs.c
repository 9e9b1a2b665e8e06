#include "info_needs.h"

#include "base/machine.h"
#include "base/size.h"
#include "cpu/cpu.h"
#include "engine/hybrid/hybrid.h"
#include "engine/resident/resident.h"
#include "run/precision.h"
#include "store/graph.h"

#include <stdio.h>

typedef struct needs {
    uint64_t memory, gpu;        /* graph and program in memory; on a GPU */
    uint64_t least, reads;       /* from disk: minimum of memory; approximate bytes that an iteration over all edges,
                                  * after the first, reads with a quarter of the file in memory */
} needs;

/* For a program that needs weights which the graph lacks, assumes them. */
static td_status find_needs(needs *out, const td_program *program, const td_graph *graph, const td_packed_info *file,
                            td_pool *pool)
{
    td_settings none = {0};
    td_run_options options = {.pool = pool, .settings = &none};
    td_gpu_bytes gpu;
    td_hybrid_bytes disk;
    uint64_t graph_bytes = td_graph_bytes(graph);
    td_graph_facts facts = td_graph_facts_of(graph);
    TD_CHECK(td_program_for(&program, program, &facts, &options));
    graph = td_graph_seen_by(program, graph);
    uint64_t inputs = td_run_input_bytes(program, graph, &options);
    TD_CHECK(td_cpu_bytes(program, graph, &options, &out->memory));
    TD_CHECK(td_resident_count_bytes(program, graph, &options, &gpu));
    TD_CHECK(td_hybrid_count_bytes(program, graph, file, &options, file->file_bytes / 4, &disk));
    out->memory += graph_bytes + inputs;
    out->gpu = gpu.graph + gpu.program;
    out->least = disk.least;
    out->reads = disk.later;
    return TD_OK;
}

static bool can_run(const td_program *program, const td_graph *graph)
{
    return graph->vertices > 0 && graph->in.offsets != NULL &&
           (program->info->weights != TD_WEIGHTS_NEEDED || graph->weights != TD_WEIGHT_NONE);
}

td_status td_print_needs(const td_graph *graph, const td_packed_info *file, td_pool *pool)
{
    bool any = false;
    for (int i = 0; td_programs[i] != NULL; i++) {
        char memory[TD_NUMBER_BYTES], gpu[TD_NUMBER_BYTES], least[TD_NUMBER_BYTES], reads[TD_NUMBER_BYTES];
        needs of;
        if (!can_run(td_programs[i], graph)) continue;
        TD_CHECK(find_needs(&of, td_programs[i], graph, file, pool));
        if (!any)
            printf("\n%-14s %12s %12s %16s %20s\n", "to run", "in memory", "on a GPU", "from disk, min",
                   "read with --memory 25%");
        any = true;
        printf("%-14s %12s %12s %16s %20s\n", td_programs[i]->info->name, td_format_size(memory, of.memory),
               td_format_size(gpu, of.gpu), td_format_least(least, of.least),
               of.least <= file->file_bytes / 4 ? td_format_size(reads, of.reads) : "too little");
    }
    if (any) printf("%-14s a sparse iteration reads less: only pages with active vertices\n", "");
    return TD_OK;
}

td_status td_needs_json(td_json *json, const td_graph *graph, const td_packed_info *file, td_pool *pool)
{
    td_status status = TD_OK;
    td_json_array(json, "needs");
    for (int i = 0; td_programs[i] != NULL && status == TD_OK; i++) {
        needs of;
        if (!can_run(td_programs[i], graph)) continue;
        status = find_needs(&of, td_programs[i], graph, file, pool);
        if (status != TD_OK) break;
        td_json_row(json, NULL);
        td_json_string(json, "program", td_programs[i]->info->name);
        td_json_u64(json, "memory", of.memory);
        td_json_u64(json, "gpu_memory", of.gpu);
        td_json_u64(json, "least_memory_from_disk", of.least);
        td_json_u64(json, "disk_bytes_per_iteration_at_quarter", of.reads);
        td_json_end_object(json);
    }
    td_json_end_array(json);
    return status;
}
