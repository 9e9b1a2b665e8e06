#include "info_needs.h"

#include "base/size.h"
#include "base/status.h"

#include <stdio.h>

/* Finds a program's needs; *runs: whether it can run on the graph. */
static td_status find(td_session *session, const td_graph *graph, const char *program, td_run_needs *out, bool *runs)
{
    *out = (td_run_needs){.size = sizeof *out};
    td_status status = td_graph_run_needs(session, graph, program, out);
    *runs = status == TD_OK;
    return status == TD_UNSUPPORTED ? TD_OK : status;
}

static void print_row(const char *program, const td_run_needs *needs)
{
    char memory[TD_NUMBER_BYTES], gpu[TD_NUMBER_BYTES], least[TD_NUMBER_BYTES], reads[TD_NUMBER_BYTES];
    bool enough = needs->disk_least <= needs->disk_memory, possible = needs->disk_least > 0;
    printf("%-14s %12s %12s %16s %20s\n", program, td_format_size(memory, needs->memory),
           td_format_size(gpu, needs->gpu), possible ? td_format_least(least, needs->disk_least) : "in memory only",
           !possible ? "-" : enough ? td_format_size(reads, needs->disk_bytes) : "too little");
}

td_status td_print_needs(td_session *session, const td_graph *graph)
{
    bool any = false, runs;
    td_run_needs needs;
    for (int i = 0; td_program_name(i) != NULL; i++) {
        TD_CHECK(find(session, graph, td_program_name(i), &needs, &runs));
        if (!runs) continue;
        if (!any)
            printf("\n%-14s %12s %12s %16s %20s\n", "to run", "in memory", "on a GPU", "from disk, min",
                   "read with --memory 25%");
        any = true;
        print_row(td_program_name(i), &needs);
    }
    if (any) printf("%-14s a sparse iteration reads less: only pages with active vertices\n", "");
    return TD_OK;
}

static void report_row(td_json *json, const char *program, const td_run_needs *needs)
{
    td_json_row(json, NULL);
    td_json_string(json, "program", program);
    td_json_u64(json, "memory", needs->memory);
    td_json_u64(json, "gpu_memory", needs->gpu);
    td_json_u64(json, "least_memory_from_disk", needs->disk_least);
    td_json_u64(json, "disk_bytes_per_iteration_at_quarter", needs->disk_bytes);
    td_json_end_object(json);
}

td_status td_needs_json(td_json *json, td_session *session, const td_graph *graph)
{
    bool runs;
    td_run_needs needs;
    td_json_array(json, "needs");
    for (int i = 0; td_program_name(i) != NULL; i++) {
        TD_CHECK(find(session, graph, td_program_name(i), &needs, &runs));
        if (runs) report_row(json, td_program_name(i), &needs);
    }
    td_json_end_array(json);
    return TD_OK;
}
