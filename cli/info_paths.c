#include "info_paths.h"

#include "base/alloc.h"
#include "base/size.h"

#include <inttypes.h>
#include <stdio.h>

td_status td_settings_list(const td_arg_pairs *set, const char ***out)
{
    const char **list = NULL;
    TD_CHECK(TD_NEW_ZEROED(&list, (uint64_t)set->count + 1, "settings"));
    for (int i = 0; i < set->count; i++) list[i] = set->items[i];
    *out = list;
    return TD_OK;
}

td_status td_info_paths(td_session *session, const td_graph *graph, const td_arg_pairs *set, td_paths_info *out)
{
    td_status status = TD_OK;
    const char **settings = NULL;
    td_paths_info info = {.size = sizeof info};
    TD_TRY(td_settings_list(set, &settings));
    TD_TRY(td_graph_paths_info(session, graph, settings, &info));
    *out = info;
done:
    td_free(settings);
    return status;
}

static double over(uint64_t part, uint64_t whole) { return whole > 0 ? (double)part / (double)whole : 0; }

static void print_paths(const char *label, uint64_t paths, uint64_t edges, const char *meaning)
{
    char text[TD_NUMBER_BYTES];
    printf("%-14s %13s  mean length %.3f%s\n", label, td_format_count(text, paths), over(edges, paths), meaning);
}

static void print_part(const char *label, uint64_t part, uint64_t whole, const char *meaning)
{
    char text[TD_NUMBER_BYTES];
    printf("%-14s %13s  %.1f%% %s\n", label, td_format_count(text, part), 100 * over(part, whole), meaning);
}

static void print_number(const char *label, uint64_t number, const char *meaning)
{
    char text[TD_NUMBER_BYTES];
    printf("%-14s %13s  %s\n", label, td_format_count(text, number), meaning);
}

static void print_time(const td_paths_info *info)
{
    char bytes[TD_NUMBER_BYTES], peak[TD_NUMBER_BYTES];
    printf("%-14s %s%s, %s while it is made; decomposition %.3f s, sketch %.3f s, storage %.3f s\n", "",
           td_format_size(bytes, info->bytes), info->prepared ? ", prepared beside the graph" : "",
           td_format_size(peak, info->peak), info->paths_seconds, info->sketch_seconds, info->store_seconds);
}

void td_print_paths(const td_paths_info *info, const td_graph *graph)
{
    uint64_t vertices = td_graph_vertices(graph);
    printf("\n");
    print_paths("paths", info->paths, info->edges, "");
    print_paths("bound", info->bound, info->edges, ", at most: any disjoint paths");
    print_paths("", info->bound_one_pass, info->edges, ", at most: one path through a vertex");
    printf("%-14s %13s  %.1f%% of the bound, %.1f%% of that with one path through a vertex\n", "", "",
           100 * over(info->bound, info->paths), 100 * over(info->bound_one_pass, info->paths));
    print_number("longest", info->longest, "edges");
    print_part("hot", info->hot_paths, info->paths, "of the paths");
    print_number("components", info->components, "of dependencies");
    print_part("cyclic", info->cyclic, info->components, "of the components");
    print_part("giant", info->giant_paths, info->paths, "of the paths");
    print_part("", info->giant_vertices, vertices, "of the vertices");
    print_number("layers", info->layers, "of components");
    print_part("one update", info->once_vertices, vertices, "of the vertices");
    print_part("", info->once_paths, info->paths, "of the paths");
    print_number("groups", info->groups, "dispatched as one");
    printf("%-14s %13" PRIu32 "  %.2f replicas of a vertex, lanes %.1f%% full\n", "partitions", info->partitions,
           over(info->replicas, vertices), 100 * info->lane_balance);
    print_time(info);
}

void td_paths_json(td_json *json, const td_paths_info *info, const td_graph *graph)
{
    uint64_t vertices = td_graph_vertices(graph);
    td_json_object(json, "paths");
    td_json_u64(json, "paths", info->paths);
    td_json_u64(json, "bound", info->bound);
    td_json_u64(json, "bound_one_pass", info->bound_one_pass);
    td_json_u64(json, "found", info->found);
    td_json_real(json, "mean_length", over(info->edges, info->paths));
    td_json_real(json, "mean_length_bound", over(info->edges, info->bound));
    td_json_real(json, "mean_length_bound_one_pass", over(info->edges, info->bound_one_pass));
    td_json_u64(json, "longest", info->longest);
    td_json_u64(json, "hot_paths", info->hot_paths);
    td_json_u64(json, "hot_edges", info->hot_edges);
    td_json_u64(json, "components", info->components);
    td_json_u64(json, "cyclic", info->cyclic);
    td_json_u64(json, "giant_paths", info->giant_paths);
    td_json_real(json, "giant_paths_share", over(info->giant_paths, info->paths));
    td_json_u64(json, "giant_vertices", info->giant_vertices);
    td_json_real(json, "giant_vertices_share", over(info->giant_vertices, vertices));
    td_json_u64(json, "layers", info->layers);
    td_json_u64(json, "once_vertices", info->once_vertices);
    td_json_real(json, "once_vertices_share", over(info->once_vertices, vertices));
    td_json_u64(json, "once_paths", info->once_paths);
    td_json_u64(json, "groups", info->groups);
    td_json_u64(json, "partitions", info->partitions);
    td_json_u64(json, "replicas", info->replicas);
    td_json_real(json, "lane_balance", info->lane_balance);
    td_json_u64(json, "bytes", info->bytes);
    td_json_u64(json, "peak_bytes", info->peak);
    td_json_real(json, "paths_seconds", info->paths_seconds);
    td_json_real(json, "sketch_seconds", info->sketch_seconds);
    td_json_real(json, "store_seconds", info->store_seconds);
    td_json_bool(json, "prepared", info->prepared);
    td_json_end_object(json);
}

void td_print_prepared(const char *path)
{
    td_prepared entry = {.size = sizeof entry};
    char bytes[TD_NUMBER_BYTES];
    for (int i = 0; td_prepared_find(path, i, &entry) == TD_OK; i++)
        printf("%s%-26s %10s  %s\n", i == 0 ? "\nprepared\n" : "", entry.layout, td_format_size(bytes, entry.bytes),
               entry.matches ? entry.key : "of another build of the graph, or damaged: prepare it again");
}

void td_prepared_entry_json(td_json *json, const td_prepared *entry)
{
    td_json_string(json, "layout", entry->layout);
    td_json_string(json, "file", entry->path);
    td_json_string(json, "settings", entry->key);
    td_json_u64(json, "bytes", entry->bytes);
    td_json_bool(json, "matches", entry->matches);
}

void td_prepared_json(td_json *json, const char *path)
{
    td_prepared entry = {.size = sizeof entry};
    td_json_array(json, "prepared");
    for (int i = 0; td_prepared_find(path, i, &entry) == TD_OK; i++) {
        td_json_row(json, NULL);
        td_prepared_entry_json(json, &entry);
        td_json_end_object(json);
    }
    td_json_end_array(json);
}
