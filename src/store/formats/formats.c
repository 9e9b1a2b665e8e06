/* The table of formats, and reading a graph of any of them. */
#include "store/formats/format.h"

#include "base/clock.h"
#include "base/mapping.h"
#include "store/builder.h"
#include "store/formats/paths.h"
#include "store/input.h"
#include "store/packed.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

const td_format *const td_formats[] = {
#define ENTRY(name) &td_format_##name,
    TD_FORMAT_LIST(ENTRY)
#undef ENTRY
    NULL,
};

const td_format *td_format_named(const char *name)
{
    for (int i = 0; td_formats[i] != NULL; i++)
        if (strcmp(td_formats[i]->name, name) == 0) return td_formats[i];
    return NULL;
}

enum { SUFFIX_ROOM = 32 };

static bool ends_with(const char *text, size_t length, const char *ending)
{
    size_t ending_length = strlen(ending);
    return length > ending_length && strncasecmp(text + length - ending_length, ending, ending_length) == 0;
}

/* The last suffix of the file's name, below those of the compressors, lower case. */
static void find_suffix(const char *path, char suffix[SUFFIX_ROOM])
{
    static const char *const packed[] = {".gz", ".bgz", ".zst", ".xz"};
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    size_t length = strlen(name), start;
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++)
        if (ends_with(name, length, packed[i])) {
            length -= strlen(packed[i]);
            break;
        }
    for (start = length; start > 0 && name[start - 1] != '.'; start--) {}
    size_t room = start > 0 && length - start < SUFFIX_ROOM ? length - start : 0;
    for (size_t i = 0; i < room; i++) {
        char c = name[start + i];
        suffix[i] = c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
    }
    suffix[room] = '\0';
}

/* The names of all formats that can be read, for a message. */
static void list_names(char *text, size_t room)
{
    size_t used = 0;
    for (int i = 0; td_formats[i] != NULL && used < room; i++)
        used += (size_t)snprintf(text + used, room - used, "%s%s", i == 0 ? "" : ", ", td_formats[i]->name);
}

static td_status best_match(const td_probe *probe, const td_format **out)
{
    int best = 0;
    for (int i = 0; td_formats[i] != NULL; i++) {
        int score = td_formats[i]->recognise(probe);
        if (score <= best) continue;
        best = score;
        *out = td_formats[i];
    }
    if (best > 0) return TD_OK;
    char names[400];
    list_names(names, sizeof names);
    return td_fail(TD_FORMAT, "%s: neither its first bytes nor its name tell the format; known are %s "
                   "({format} NAME decides)", probe->path, names);
}

/* A graph of several files may be named by their common stem: then one of the files
 * determines the format. NULL if none does. */
static td_status detect_by_part(const char *stem, const td_format **out)
{
    static const char *const parts[] = {".properties", ".v"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts && *out == NULL; i++) {
        char *part = NULL;
        TD_CHECK(td_path_print(&part, "%s%s", stem, parts[i]));
        td_status status = td_path_exists(part) ? td_format_detect(part, out) : TD_OK;
        td_free(part);
        if (status == TD_NO_MEMORY) return status;
    }
    return TD_OK;
}

td_status td_format_detect(const char *path, const td_format **out)
{
    td_status status = TD_OK;
    td_input *input = NULL;
    const td_format *by_part = NULL;
    if (!td_path_exists(path)) TD_CHECK(detect_by_part(path, &by_part));
    if (by_part != NULL) {
        *out = by_part;
        return TD_OK;
    }
    char suffix[SUFFIX_ROOM];
    find_suffix(path, suffix);
    TD_CHECK(td_input_open(&input, path));
    td_probe probe = {.path = path, .suffix = suffix, .file_bytes = td_input_bytes(input),
                      .compressed = td_input_compressed(input)};
    TD_TRY(td_input_head(input, &probe.head, &probe.head_bytes));
    if (probe.head_bytes == 0) TD_TRY(td_fail(TD_FORMAT, "%s is empty", path));
    TD_TRY(best_match(&probe, out));
done:
    td_input_close(input);
    return td_mapping_settle(status);
}

static td_status choose(const char *path, const char *name, const td_format **out)
{
    if (name == NULL) return td_format_detect(path, out);
    *out = td_format_named(name);
    if (*out != NULL) return TD_OK;
    char names[400];
    list_names(names, sizeof names);
    return td_fail(TD_USAGE, "there is no format '%s'; known are %s", name, names);
}

td_status td_columns_unused(const td_format *format, const char *path)
{
    return td_fail(TD_USAGE, "{columns} is for edge lists; %s is %s", path, format->description);
}

/* An edge list may be mistaken for another format: the message then says which format was recognised. */
td_status td_format_read(const td_format *format, const char *path, bool recognised, td_edge_list *edges, td_pool *pool)
{
    if (edges->columns != NULL && !format->columns) return td_columns_unused(format, path);
    td_status status = td_mapping_settle(format->read(path, edges, pool));
    if (status != TD_FORMAT || !recognised || format == &td_format_edgelist) return status;
    return td_fail_add(TD_FORMAT, " (it was taken for %s; {format} NAME decides)", format->name);
}

static td_status load(td_graph **out, const char *path, const td_build_options *build, td_pool *pool)
{
    td_graph *graph = NULL;
    if (build != NULL && build->columns != NULL) return td_columns_unused(&td_format_tg, path);
    TD_CHECK(td_packed_load(&graph, path, pool));
    if (build != NULL && td_build_options_change(build)) TD_CHECK(td_graph_rebuild(&graph, build, pool));
    *out = graph;
    return TD_OK;
}

void td_graph_note_reading(td_graph *graph, const td_format *format, const td_edge_list *edges, double read_seconds,
                           double build_seconds)
{
    const td_decoding *decoding = &edges->decoding;
    graph->reading = (td_reading){.format = format->name, .compression = decoding->format,
                                  .decoder = decoding->library, .content_bytes = decoding->content,
                                  .members = decoding->members, .parallel_members = decoding->parallel,
                                  .read_seconds = read_seconds, .build_seconds = build_seconds};
}

td_status td_graph_read(td_graph **out, const char *path, const char *format_or_null,
                        const struct td_build_options *build, td_pool *pool)
{
    td_status status = TD_OK;
    td_edge_list *edges = NULL;
    const td_format *format = NULL;
    TD_CHECK(choose(path, format_or_null, &format));
    if (format == &td_format_tg) return load(out, path, build, pool);
    TD_CHECK(td_edges_create(&edges, path));
    if (build != NULL) TD_TRY(td_edges_prepare(edges, build));
    uint64_t start = td_clock_ns();
    TD_TRY(td_format_read(format, path, format_or_null == NULL, edges, pool));
    double read_seconds = td_seconds_since(start);
    start = td_clock_ns();
    TD_TRY(td_graph_build(out, edges, build, pool));
    td_graph_note_reading(*out, format, edges, read_seconds, td_seconds_since(start));
    (*out)->reading.weights_dropped = edges->weighted && build != NULL && build->drop_weights;
done:
    td_edges_destroy(edges);
    return status;
}
