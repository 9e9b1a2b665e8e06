/* A decomposition in the file beside its graph (store/sidecar.h): every array is a section, and the section `meta` has
 * the counts and figures. Its key is the options, so that one made with others is not taken. */
#include "layout/paths_inside.h"

#include "base/alloc.h"
#include "base/log.h"

#include <stdio.h>
#include <string.h>

/* Raised when an array, td_path_partition, td_path_group or the meaning of either changes. */
#define PATHS_VERSION 1u

typedef struct meta {
    uint32_t version, bytes; /* of this struct */
    uint32_t graph_vertices, weight_kind;
    uint64_t edges, paths, entries, readers, next, before;
    uint32_t partitions, groups, layers, hubs;
    td_path_stats stats;
} meta;

/* An array and its section. */
typedef struct field {
    const char *name;
    void **array;
    uint64_t count;
    size_t element;
} field;

enum { FIELDS = 13 };

static int list_fields(td_paths *paths, const meta *counts, field out[FIELDS])
{
    uint64_t nodes = (uint64_t)counts->groups + counts->hubs;
    int count = 0;
    out[count++] = (field){"vertices", (void **)&paths->vertices, counts->entries, 4};
    out[count++] = (field){"starts", (void **)&paths->starts, counts->paths, 4};
    out[count++] = (field){"lanes", (void **)&paths->lanes, (uint64_t)(TD_PATH_LANES + 1) * counts->partitions, 4};
    out[count++] = (field){"partitions", (void **)&paths->partition, counts->partitions, sizeof *paths->partition};
    out[count++] = (field){"groups", (void **)&paths->group, counts->groups, sizeof *paths->group};
    out[count++] = (field){"layers", (void **)&paths->layer_group, (uint64_t)counts->layers + 1, 4};
    out[count++] = (field){"reader offsets", (void **)&paths->reader_offsets, (uint64_t)counts->graph_vertices + 1, 8};
    out[count++] = (field){"readers", (void **)&paths->readers, counts->readers, 4};
    out[count++] = (field){"next offsets", (void **)&paths->next_offsets, nodes + 1, 8};
    out[count++] = (field){"next", (void **)&paths->next, counts->next, 4};
    out[count++] = (field){"before offsets", (void **)&paths->before_offsets, nodes + 1, 8};
    out[count++] = (field){"before", (void **)&paths->before, counts->before, 4};
    size_t bytes = td_weight_bytes((td_weight_kind)counts->weight_kind);
    if (bytes > 0) out[count++] = (field){"weights", &paths->weights, counts->edges, bytes};
    return count;
}

char *td_paths_key(char text[TD_PATHS_KEY], const td_path_options *options)
{
    static const char *const merges[] = {"on", "off", "free"};
    snprintf(text, TD_PATHS_KEY, "depth=%u merge=%s acyclic=%s partition=%s pack=%s hot=%.17g longest=%llu partition_edges=%u",
             options->depth, merges[options->merge], options->acyclic ? "on" : "off", options->partition ? "on" : "off",
             options->pack ? "on" : "off", options->hot, (unsigned long long)options->longest, options->partition_edges);
    return text;
}

static meta meta_of(const td_paths *paths)
{
    uint64_t nodes = (uint64_t)paths->groups + paths->hubs;
    return (meta){.version = PATHS_VERSION, .bytes = sizeof(meta), .graph_vertices = paths->graph_vertices,
                  .weight_kind = paths->weight_kind, .edges = paths->edges, .paths = paths->paths,
                  .entries = paths->entries, .readers = paths->reader_offsets[paths->graph_vertices],
                  .next = paths->next_offsets[nodes], .before = paths->before_offsets[nodes],
                  .partitions = paths->partitions, .groups = paths->groups, .layers = paths->layers,
                  .hubs = paths->hubs, .stats = paths->stats};
}

td_status td_paths_save(const td_paths *paths, const char *graph, char where[TD_SIDECAR_PATH], td_pool *pool)
{
    char key[TD_PATHS_KEY];
    td_paths shown = *paths;
    meta counts = meta_of(paths);
    field fields[FIELDS];
    td_sidecar_part parts[FIELDS + 1] = {{"meta", &counts, sizeof counts}};
    int count = list_fields(&shown, &counts, fields);
    for (int i = 0; i < count; i++)
        parts[i + 1] = (td_sidecar_part){fields[i].name, *fields[i].array, fields[i].count * fields[i].element};
    td_sidecar_id id = {graph, paths->build_id, TD_PATHS_LAYOUT};
    return td_sidecar_write(&id, td_paths_key(key, &paths->options), parts, count + 1, where, pool);
}

static td_status read_arrays(td_paths *paths, const td_sidecar *file, const meta *counts, td_pool *pool)
{
    field fields[FIELDS];
    int count = list_fields(paths, counts, fields);
    for (int i = 0; i < count; i++) {
        uint64_t bytes = 0;
        TD_CHECK(td_sidecar_size(file, fields[i].name, &bytes)); /* before as many bytes are allocated */
        if (fields[i].count > bytes / fields[i].element || bytes != fields[i].count * fields[i].element)
            return td_fail(TD_CORRUPT, "section '%s' of %s has %llu bytes, not %llu of %zu; prepare it again", fields[i].name,
                           td_sidecar_file(file), (unsigned long long)bytes, (unsigned long long)fields[i].count,
                           fields[i].element);
        TD_CHECK(td_new_bytes(fields[i].array, fields[i].count, fields[i].element, fields[i].name));
        TD_CHECK(td_sidecar_read(file, fields[i].name, *fields[i].array, bytes, pool));
    }
    return TD_OK;
}

/* A program without weights sees the graph without them; the paths are the same. */
static bool fits_weights(const meta *counts, const td_graph *graph)
{
    return counts->weight_kind == graph->weights || graph->weights == TD_WEIGHT_NONE;
}

static td_status check_meta(const meta *counts, const td_graph *graph, const char *file)
{
    if (counts->version != PATHS_VERSION || counts->bytes != sizeof *counts)
        return td_fail(TD_UNSUPPORTED, "%s has version %u of paths; this Tandem has %u. Prepare it again", file,
                       counts->version, PATHS_VERSION);
    if (counts->graph_vertices != graph->vertices || counts->edges != graph->edges || !fits_weights(counts, graph) ||
        counts->paths > counts->edges || counts->entries != counts->edges + counts->paths)
        return td_fail(TD_CORRUPT, "%s does not have the counts of its graph; prepare it again", file);
    return TD_OK;
}

static void take_counts(td_paths *paths, const meta *counts)
{
    paths->graph_vertices = counts->graph_vertices;
    paths->weight_kind = (td_weight_kind)counts->weight_kind;
    paths->edges = counts->edges;
    paths->paths = counts->paths;
    paths->entries = counts->entries;
    paths->partitions = counts->partitions;
    paths->groups = counts->groups;
    paths->layers = counts->layers;
    paths->hubs = counts->hubs;
    paths->stats = counts->stats;
}

/* The lists must end where their sections end, because the sections were sized by the counts. */
static td_status check_ends(const td_paths *paths, const meta *counts, const char *file)
{
    uint64_t nodes = (uint64_t)paths->groups + paths->hubs;
    if (paths->reader_offsets[paths->graph_vertices] == counts->readers && paths->next_offsets[nodes] == counts->next &&
        paths->before_offsets[nodes] == counts->before)
        return TD_OK;
    return td_fail(TD_CORRUPT, "the lists of %s end elsewhere than their sections; prepare it again", file);
}

td_status td_paths_load(td_paths *out, const td_graph *graph, const td_path_options *options, td_pool *pool)
{
    td_status status = TD_OK;
    td_sidecar *file = NULL;
    td_paths paths = {.options = *options, .build_id = graph->build_id};
    meta counts = {0};
    char key[TD_PATHS_KEY];
    td_sidecar_id id = {graph->name, graph->build_id, TD_PATHS_LAYOUT};
    if (graph->build_id == 0 || graph->name == NULL || graph->paged != NULL)
        return td_fail(TD_NOT_FOUND, "the graph is not one of a .tg file in memory, so nothing is prepared for it");
    TD_TRY(td_sidecar_open(&file, &id));
    if (strcmp(td_sidecar_key(file), td_paths_key(key, options)) != 0)
        TD_TRY(td_fail(TD_NOT_FOUND, "%s was prepared with other settings (%s)", td_sidecar_file(file), td_sidecar_key(file)));
    TD_TRY(td_sidecar_read(file, "meta", &counts, sizeof counts, pool));
    TD_TRY(check_meta(&counts, graph, td_sidecar_file(file)));
    counts.weight_kind = graph->weights;
    take_counts(&paths, &counts);
    TD_TRY(read_arrays(&paths, file, &counts, pool));
    TD_TRY(check_ends(&paths, &counts, td_sidecar_file(file)));
    status = td_paths_check_shape(&paths, pool);
    if (status != TD_OK) TD_TRY(td_fail_context(status, "%s", td_sidecar_file(file)));
    *out = paths;
    paths = (td_paths){0};
done:
    td_paths_free(&paths);
    td_sidecar_close(file);
    return status;
}

td_status td_paths_open(td_paths *out, const td_graph *graph, const td_path_options *options, td_pool *pool,
                        bool *prepared)
{
    td_status status = td_paths_load(out, graph, options, pool);
    if (prepared != NULL) *prepared = status == TD_OK;
    if (status == TD_OK || status == TD_NO_MEMORY || status == TD_CANCELLED) return status;
    if (status == TD_NOT_FOUND) td_debug("%s", td_last_message());
    else td_warn("%s; the paths are made for this run", td_last_message());
    return td_paths_make(out, graph, options, pool);
}
