#include "info_partition.h"

#include "base/size.h"

#include <stdio.h>
#include <string.h>

enum { SEED = 1 };

td_status td_info_check_partition(const char *text)
{
    td_status status = td_partition_check(text);
    return status == TD_OK ? TD_OK : td_fail_context(status, "--partition");
}

td_status td_info_partition(td_session *session, const td_graph *graph, const char *text, td_partition_info *out)
{
    td_partition_info info = {.size = sizeof info};
    td_status status = td_graph_partition_info(session, graph, text, SEED, &info);
    if (status != TD_OK) return td_fail_context(status, "--partition %s", text);
    *out = info;
    return TD_OK;
}

static void print_row(const char *label, uint64_t vertices, uint64_t edges, uint64_t cut, uint64_t mirrors)
{
    char text[4][TD_NUMBER_BYTES];
    printf("%-14s %13s %15s %15s %13s\n", label, td_format_count(text[0], vertices), td_format_count(text[1], edges),
           td_format_count(text[2], cut), td_format_count(text[3], mirrors));
}

void td_print_partition(const td_partition_info *info, const char *text, const td_graph *graph)
{
    printf("\n%-14s %13s %15s %15s %13s\n", text, "vertices", "edges", "cut edges", "mirrors");
    for (int k = 0; k < info->parts; k++) {
        const td_fragment_info *fragment = &info->fragments[k];
        char label[TD_NUMBER_BYTES];
        snprintf(label, sizeof label, "fragment %d", k);
        print_row(label, fragment->vertices, fragment->edges, fragment->cut, fragment->mirrors);
    }
    print_row("all", td_graph_vertices(graph), info->edges, info->cut, info->mirrors);
    printf("%-14s cut %.2f%%, balance %.3f (most edges over mean), %.3f s\n", "", 100 * info->cut_share, info->balance,
           info->seconds);
    if (!td_graph_symmetric(graph)) printf("%-14s an edge counts in the lists of both of its ends\n", "");
}

void td_partition_json(td_json *json, const td_partition_info *info, const char *text)
{
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, ":"), text);
    td_json_object(json, "partition");
    td_json_string(json, "partitioner", name);
    td_json_u64(json, "parts", (uint64_t)info->parts);
    td_json_u64(json, "seed", SEED);
    td_json_u64(json, "edges", info->edges);
    td_json_u64(json, "cut_edges", info->cut);
    td_json_u64(json, "mirrors", info->mirrors);
    td_json_real(json, "cut_share", info->cut_share);
    td_json_real(json, "balance", info->balance);
    td_json_real(json, "seconds", info->seconds);
    td_json_array(json, "fragments");
    for (int k = 0; k < info->parts; k++) {
        const td_fragment_info *fragment = &info->fragments[k];
        td_json_row(json, NULL);
        td_json_u64(json, "vertices", fragment->vertices);
        td_json_u64(json, "edges", fragment->edges);
        td_json_u64(json, "cut_edges", fragment->cut);
        td_json_u64(json, "mirrors", fragment->mirrors);
        td_json_end_object(json);
    }
    td_json_end_array(json);
    td_json_end_object(json);
}
