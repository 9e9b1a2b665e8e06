/* LDBC Graphalytics datasets: x.v lists the vertices, x.e the edges (source,
 * target, properties), x.properties names both files and says whether edges are
 * directed and what their properties are. Without x.properties the pair is read
 * as a directed graph; the first edge decides whether there are weights.
 *
 * A vertex without edges is a vertex; an edge of a vertex that is not listed is
 * an error, so all ids of x.v go into a set before x.e is read.
 */
#include "base/log.h"
#include "store/formats/format.h"
#include "store/formats/id_set.h"
#include "store/formats/paths.h"
#include "store/formats/piece_counts.h"
#include "store/formats/properties.h"
#include "store/formats/text.h"

#include <stdatomic.h>
#include <strings.h>

enum { SHORTEST_EDGE = 4, ADD_GRAIN = 1 << 14 };

static const char *const compressed_suffixes[] = {".gz", ".zst", ".xz", NULL};
static const char *const suffixes[] = {".properties", ".v", ".e", NULL};

typedef struct dataset {
    char *properties, *vertex_file, *edge_file; /* properties: NULL if there are none */
    bool directed;
    bool vertex_columns;            /* vertices may have properties after their ids */
    unsigned columns, weight;       /* properties of an edge; which of them is the weight, from 1, or 0 */
    bool counted;                   /* the properties state the two below */
    uint64_t vertices, edges;
} dataset;

static void free_dataset(dataset *set)
{
    td_free(set->properties);
    td_free(set->vertex_file);
    td_free(set->edge_file);
}

/* The path without its suffix and without that of a compressor. */
static td_status find_stem(const char *path, char **stem)
{
    td_status status = TD_OK;
    char *plain = NULL;
    TD_CHECK(td_path_print(&plain, "%.*s", td_path_stem(path, compressed_suffixes), path));
    TD_TRY(td_path_print(stem, "%.*s", td_path_stem(plain, suffixes), plain));
done:
    td_free(plain);
    return status;
}

/* stem.v, or stem.v.gz and so on if only that exists. */
static td_status find_part(const char *stem, const char *suffix, char **out)
{
    td_status status = TD_OK;
    char *path = NULL;
    TD_TRY(td_path_print(out, "%s%s", stem, suffix));
    for (int i = 0; compressed_suffixes[i] != NULL && !td_path_exists(*out); i++) {
        TD_TRY(td_path_print(&path, "%s%s%s", stem, suffix, compressed_suffixes[i]));
        if (!td_path_exists(path)) {
            td_free(path);
            path = NULL;
            continue;
        }
        td_free(*out);
        *out = path;
        path = NULL;
    }
done:
    td_free(path);
    return status;
}

static bool is_ours(const td_properties *properties)
{
    return td_properties_match(properties, "graph.", ".edge-file") != NULL;
}

/* The properties of this stem; NULL if there are none or they describe something else. */
static td_status load_properties(const char *stem, td_properties **out)
{
    td_status status = TD_OK;
    char *path = NULL;
    TD_CHECK(td_path_print(&path, "%s.properties", stem));
    if (td_path_exists(path)) TD_TRY(td_properties_load(out, path));
    if (*out != NULL && !is_ours(*out)) {
        td_properties_free(*out);
        *out = NULL;
    }
done:
    td_free(path);
    return status;
}

static td_status find_pair(const char *stem, bool *both)
{
    td_status status = TD_OK;
    char *vertices = NULL, *edges = NULL;
    TD_TRY(find_part(stem, ".v", &vertices));
    TD_TRY(find_part(stem, ".e", &edges));
    *both = td_path_exists(vertices) && td_path_exists(edges);
done:
    td_free(vertices);
    td_free(edges);
    return status;
}

static td_status look(const char *path, bool *described, bool *both)
{
    td_status status = TD_OK;
    char *stem = NULL;
    td_properties *properties = NULL;
    TD_CHECK(find_stem(path, &stem));
    TD_TRY(load_properties(stem, &properties));
    *described = properties != NULL;
    TD_TRY(find_pair(stem, both));
done:
    td_properties_free(properties);
    td_free(stem);
    return status;
}

/* Also accepts the file if there is no memory to read the properties, so that reading
 * reports it: as an edge list, x.e would give another graph. */
static int recognise(const td_probe *probe)
{
    bool properties = strcmp(probe->suffix, "properties") == 0, described = false, both = false;
    bool part = strcmp(probe->suffix, "v") == 0 || strcmp(probe->suffix, "e") == 0;
    if (!properties && !part) return 0;
    if (look(probe->path, &described, &both) == TD_NO_MEMORY) return part ? 100 : 60;
    return described ? 100 : part && both ? 85 : 0;
}

static td_status missing(const td_properties *properties, const char *key)
{
    return td_fail(TD_FORMAT, "%s: no property 'graph.NAME.%s'", td_properties_path(properties), key);
}

/* A file named by the properties, in the same folder. */
static td_status named_file(const td_properties *properties, const char *key, char **out)
{
    const char *path = td_properties_path(properties), *name = td_properties_match(properties, "graph.", key);
    if (name == NULL || *name == '\0') return missing(properties, key + 1);
    if (name[0] == '/') return td_path_print(out, "%s", name);
    return td_path_print(out, "%.*s%s", td_path_folder(path), path, name);
}

/* Parses names separated by commas: their number, and the column of the weight: the one so named, else the first. */
static void parse_columns(const char *names, dataset *set)
{
    while (names != NULL && *names != '\0') {
        names += strspn(names, " \t,");
        size_t length = strcspn(names, " \t,");
        if (length == 0) break;
        set->columns++;
        if (set->weight == 0 || (length == 6 && strncasecmp(names, "weight", 6) == 0)) set->weight = set->columns;
        names += length;
    }
}

static td_status parse_direction(const td_properties *properties, dataset *set)
{
    const char *directed = td_properties_match(properties, "graph.", ".directed");
    if (directed == NULL) return missing(properties, "directed");
    set->directed = strcmp(directed, "true") == 0;
    if (set->directed || strcmp(directed, "false") == 0) return TD_OK;
    return td_fail(TD_FORMAT, "%s: directed = %s, where true or false is needed", td_properties_path(properties),
                   directed);
}

static td_status parse_counts(const td_properties *properties, dataset *set)
{
    const char *vertices = td_properties_match(properties, "graph.", ".meta.vertices");
    const char *edges = td_properties_match(properties, "graph.", ".meta.edges");
    td_number number;
    set->counted = vertices != NULL && edges != NULL;
    for (int i = 0; set->counted && i < 2; i++) {
        const char *at = i == 0 ? vertices : edges, *end = at + strlen(at);
        if (td_scan_number(&at, end, &number) != TD_SCAN_OK || at != end || !number.integer || number.negative)
            return td_fail(TD_FORMAT, "%s: meta.%s = %s is no count", td_properties_path(properties),
                           i == 0 ? "vertices" : "edges", i == 0 ? vertices : edges);
        *(i == 0 ? &set->vertices : &set->edges) = number.magnitude;
    }
    return TD_OK;
}

static td_status describe(const td_properties *properties, dataset *set)
{
    const char *vertex_columns = td_properties_match(properties, "graph.", ".vertex-properties.names");
    TD_CHECK(td_path_print(&set->properties, "%s", td_properties_path(properties)));
    TD_CHECK(named_file(properties, ".vertex-file", &set->vertex_file));
    TD_CHECK(named_file(properties, ".edge-file", &set->edge_file));
    TD_CHECK(parse_direction(properties, set));
    TD_CHECK(parse_counts(properties, set));
    parse_columns(td_properties_match(properties, "graph.", ".edge-properties.names"), set);
    set->vertex_columns = vertex_columns != NULL && *vertex_columns != '\0';
    return TD_OK;
}

/* The columns behind source and target, on the first line with anything on it. */
static td_status visit_edge(void *context, const td_piece *piece, const char *line, const char *end, bool *more)
{
    dataset *set = context;
    unsigned words = 0;
    (void)piece;
    for (const char *at = td_skip_blanks(line, end); at < end; at = td_skip_blanks(at, end), words++)
        while (!td_word_ends(at, end)) at++;
    if (words == 0) return TD_OK;
    set->columns = set->weight = words > 2;
    *more = false;
    return TD_OK;
}

static td_status describe_pair(const char *stem, dataset *set)
{
    td_status status = TD_OK;
    td_input *input = NULL;
    uint64_t next;
    TD_CHECK(find_part(stem, ".v", &set->vertex_file));
    TD_CHECK(find_part(stem, ".e", &set->edge_file));
    set->directed = true;
    TD_TRY(td_input_open(&input, set->edge_file));
    TD_TRY(td_input_lines(input, visit_edge, set, &next));
    td_info("%s.properties is absent: the edges are taken as directed%s", stem, set->weight ? ", with a weight" : "");
done:
    td_input_close(input);
    return status;
}

static td_status find_dataset(const char *path, dataset *set)
{
    td_status status = TD_OK;
    td_properties *properties = NULL;
    char *stem = NULL;
    TD_CHECK(find_stem(path, &stem));
    TD_TRY(load_properties(stem, &properties));
    TD_TRY(properties != NULL ? describe(properties, set) : describe_pair(stem, set));
done:
    td_properties_free(properties);
    td_free(stem);
    return status;
}

typedef struct reading {
    const dataset *set;
    td_edge_list *edges;
    td_piece_counts lines; /* vertices in each piece of the vertex file */
    td_id_set ids;
    _Atomic uint64_t edge_count;
} reading;

static td_status count_vertices(void *context, const td_piece *piece, int worker)
{
    (void)worker;
    reading *job = context;
    uint64_t vertices = 0;
    for (const char *at = piece->text; at < piece->end; at = td_next_line(at, piece->end))
        vertices += !td_line_ends(td_skip_blanks(at, piece->end), piece->end);
    return td_piece_counts_put(&job->lines, piece->index, vertices);
}

static td_status read_vertices(void *context, const td_piece *piece, int worker)
{
    (void)worker;
    reading *job = context;
    const char *end = piece->end;
    uint64_t vertex = piece->index < job->lines.room ? job->lines.counts[piece->index] : job->edges->listed_count;
    for (const char *at = piece->text; at < end; at = td_next_line(at, end)) {
        at = td_skip_blanks(at, end);
        if (td_line_ends(at, end)) continue;
        if (vertex == job->edges->listed_count)
            return td_fail_line(piece, at, "more lines than a moment ago: the file was changed while it was read");
        TD_CHECK(td_read_u64(piece, &at, "vertex id", &job->edges->listed[vertex++]));
        if (!job->set->vertex_columns && !td_line_ends(td_skip_blanks(at, end), end))
            return td_fail_line(piece, at, "more on the line than a vertex id");
    }
    return TD_OK;
}

static td_status add_ids(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    reading *job = context;
    for (uint64_t i = begin; i < end; i++)
        if (!td_id_set_add(&job->ids, job->edges->listed[i]))
            return td_fail(TD_FORMAT, "%s: vertex %llu is listed twice", job->set->vertex_file,
                           (unsigned long long)job->edges->listed[i]);
    return TD_OK;
}

static td_status check_count(const dataset *set, const char *path, const char *what, uint64_t found, uint64_t promised)
{
    if (!set->counted || found == promised) return TD_OK;
    return td_fail(TD_FORMAT, "%s has %llu %s, but %s promises %llu", path, (unsigned long long)found, what,
                   set->properties, (unsigned long long)promised);
}

static td_status read_vertex_file(reading *job, td_pool *pool)
{
    td_status status = TD_OK;
    const dataset *set = job->set;
    td_input *input = NULL;
    TD_CHECK(td_input_open(&input, set->vertex_file));
    TD_TRY(td_input_pieces(input, pool, 0, count_vertices, job, NULL));
    uint64_t count = td_piece_counts_sum(&job->lines);
    TD_TRY(check_count(set, set->vertex_file, "vertices", count, set->vertices));
    TD_TRY(TD_NEW(&job->edges->listed, count, "vertex ids"));
    job->edges->listed_count = count;
    TD_TRY(td_input_pieces(input, pool, 0, read_vertices, job, NULL));
    TD_TRY(td_id_set_create(&job->ids, count));
    TD_TRY(td_pool_for(pool, count, ADD_GRAIN, add_ids, job));
done:
    td_input_add_decoding(input, &job->edges->decoding);
    td_input_close(input);
    return status;
}

static inline td_status read_end(const reading *job, const td_piece *piece, const char **at, uint64_t *id)
{
    const char *start = *at;
    TD_CHECK(td_read_u64(piece, at, "vertex id", id));
    if (__builtin_expect(!td_id_set_has(&job->ids, *id), 0))
        return td_fail_line(piece, start, "vertex %llu is not in %s", (unsigned long long)*id, job->set->vertex_file);
    *at = td_skip_blanks(*at, piece->end);
    return TD_OK;
}

static td_status read_column(const reading *job, const td_piece *piece, unsigned column, const char **at,
                             td_edge_chunk *chunk)
{
    const char *start = *at;
    if (td_line_ends(start, piece->end))
        return td_fail_line(piece, start, "the edge has %u properties, not %u", column - 1, job->set->columns);
    if (column == job->set->weight) {
        TD_CHECK(td_read_weight(piece, at, chunk));
        if (!td_word_ends(*at, piece->end)) return td_fail_word(piece, start, "weight");
    }
    while (!td_word_ends(*at, piece->end)) ++*at;
    *at = td_skip_blanks(*at, piece->end);
    return TD_OK;
}

static inline td_status read_edge(const reading *job, const td_piece *piece, const char **at, td_edge_chunk *chunk)
{
    uint64_t source = 0, target = 0;
    TD_CHECK(read_end(job, piece, at, &source));
    TD_CHECK(read_end(job, piece, at, &target));
    TD_CHECK(td_chunk_put(chunk, source, target));
    for (unsigned column = 1; column <= job->set->columns; column++)
        TD_CHECK(read_column(job, piece, column, at, chunk));
    if (td_line_ends(*at, piece->end)) return TD_OK;
    return td_fail_line(piece, *at, "more on the line than source, target and %u properties", job->set->columns);
}

static td_status read_edges(void *context, const td_piece *piece, int worker)
{
    reading *job = context;
    const char *end = piece->end;
    bool weighted = job->set->weight > 0;
    td_edge_chunk *chunk;
    TD_CHECK(td_edges_chunk(job->edges, piece->index, &chunk));
    TD_CHECK(td_chunk_reserve(chunk, 1 + (uint64_t)(end - piece->text) / SHORTEST_EDGE, weighted));
    for (const char *at = piece->text; at < end;) {
        at = td_skip_blanks(at, end);
        if (!td_line_ends(at, end)) TD_CHECK(read_edge(job, piece, &at, chunk));
        if (at < end) at++;
    }
    job->edge_count += chunk->count;
    TD_CHECK(td_chunk_shrink(chunk));
    return td_edges_deliver(job->edges, chunk, worker);
}

static td_status read_edge_file(reading *job, td_pool *pool)
{
    td_status status = TD_OK;
    const dataset *set = job->set;
    td_input *input = NULL;
    job->edges->weighted = set->weight > 0;
    job->edges->mirror = !set->directed;
    TD_CHECK(td_input_open(&input, set->edge_file));
    TD_TRY(td_input_pieces(input, pool, 0, read_edges, job, NULL));
    TD_TRY(check_count(set, set->edge_file, "edges", job->edge_count, set->edges));
done:
    td_input_add_decoding(input, &job->edges->decoding);
    td_input_close(input);
    return status;
}

static td_status read_dataset(const char *path, td_edge_list *edges, td_pool *pool)
{
    td_status status = TD_OK;
    dataset set = {0};
    reading job = {.set = &set, .edges = edges, .lines = TD_PIECE_COUNTS_NONE};
    TD_TRY(find_dataset(path, &set));
    TD_TRY(read_vertex_file(&job, pool));
    TD_TRY(read_edge_file(&job, pool));
done:
    td_id_set_free(&job.ids);
    td_piece_counts_free(&job.lines);
    free_dataset(&set);
    return status;
}

const td_format td_format_graphalytics = {
    .name = "graphalytics",
    .description = "LDBC Graphalytics dataset (x.v, x.e, x.properties)",
    .suffixes = "v e properties",
    .recognise = recognise,
    .read = read_dataset,
    .streams = true,
};
