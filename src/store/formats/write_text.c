/* Graphs as text: edge lists and Matrix Market. Workers divide the edges, not the
 * vertices, so that they share the list of a high-degree vertex. */
#include "base/lines.h"
#include "base/log.h"
#include "store/formats/format.h"
#include "store/formats/print.h"
#include "store/vertex_names.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>
#include <strings.h>

enum { IDS_PER_LINE = 12 };

typedef struct writing {
    const td_graph *graph;
    td_outfile *file;
    char separator;
    bool lower_only;  /* only the lower triangle, without edges to a higher row */
    bool row_numbers; /* from 1, instead of original ids */
} writing;

static char *print_weight(char *at, const td_graph *graph, uint64_t edge)
{
    const void *weights = graph->out.weights;
    switch (graph->weights) {
    case TD_WEIGHT_U8: return td_print_u64(at, ((const uint8_t *)weights)[edge]);
    case TD_WEIGHT_U16: return td_print_u64(at, ((const uint16_t *)weights)[edge]);
    case TD_WEIGHT_U32: return td_print_u64(at, ((const uint32_t *)weights)[edge]);
    case TD_WEIGHT_F32: return td_print_f32(at, ((const float *)weights)[edge]);
    case TD_WEIGHT_F64: return td_print_f64(at, ((const double *)weights)[edge]);
    default: return at;
    }
}

static char *print_end(const writing *self, uint32_t vertex, char *at)
{
    return self->row_numbers ? td_print_u64(at, (uint64_t)vertex + 1) : td_print_vertex(at, self->graph, vertex);
}

/* The part of one list that lies in [begin, end). The source is formatted once. */
static char *print_list(const writing *self, uint32_t source, uint64_t begin, uint64_t end, char *at)
{
    const td_graph *graph = self->graph;
    char front[2 * TD_NAME_BYTES + 4];
    char *front_end = print_end(self, source, front);
    *front_end++ = self->separator;
    size_t front_bytes = (size_t)(front_end - front);
    for (uint64_t e = begin; e < end; e++) {
        uint32_t target = graph->out.targets[e];
        if (self->lower_only && target > source) break; /* lists are sorted */
        memcpy(at, front, front_bytes);
        at = print_end(self, target, at + front_bytes);
        if (graph->weights != TD_WEIGHT_NONE) {
            *at++ = self->separator;
            at = print_weight(at, graph, e);
        }
        *at++ = '\n';
    }
    return at;
}

static char *print_range(const void *context, uint64_t begin, uint64_t end, char *at)
{
    const writing *self = context;
    const uint64_t *offsets = self->graph->out.offsets;
    for (uint32_t v = td_edge_source(self->graph, begin); begin < end; v++) {
        uint64_t list_end = offsets[v + 1] < end ? offsets[v + 1] : end;
        at = print_list(self, v, begin, list_end, at);
        begin = list_end;
    }
    return at;
}

/* Writes the edges after the header, which the caller has written. */
static td_status write_edges(const writing *self, td_pool *pool)
{
    size_t room = 2 * td_print_room(self->graph) + TD_PRINT_U64 + TD_PRINT_F64 + 4; /* a row number may exceed a name */
    return td_lines_write(self->file, pool, self->graph->edges, room, print_range, self, "writing edges");
}

static char separator_of(const char *path)
{
    const char *suffix = strrchr(path, '.');
    if (suffix != NULL && strcasecmp(suffix, ".tsv") == 0) return '\t';
    if (suffix != NULL && strcasecmp(suffix, ".csv") == 0) return ',';
    return ' ';
}

typedef struct counting {
    const td_graph *graph;
    _Atomic uint64_t count;
} counting;

/* Whether the vertex has no edges. Without in-lists, a vertex without out-edges may be a
 * target; listing it too does no harm. */
static bool is_isolated(const td_graph *graph, uint32_t vertex)
{
    return td_degree(&graph->out, vertex) == 0 && (graph->in.offsets == NULL || td_degree(&graph->in, vertex) == 0);
}

/* Vertices without edges, in comments that Tandem's reader understands: lines of
 * "# vertices ID ID ID". */
static td_status write_isolated(const td_graph *graph, td_outfile *file)
{
    char line[sizeof TD_EDGE_LIST_VERTICES + IDS_PER_LINE * (TD_PRINT_U64 + 1)], *at = line;
    int ids = 0;
    for (uint32_t v = 0; v < graph->vertices; v++) {
        if (!is_isolated(graph, v)) continue;
        if (ids == 0) at = stpcpy(line, TD_EDGE_LIST_VERTICES);
        *at++ = ' ';
        at = td_print_u64(at, td_graph_id(graph, v));
        if (++ids < IDS_PER_LINE) continue;
        *at++ = '\n';
        TD_CHECK(td_outfile_write(file, line, (uint64_t)(at - line)));
        ids = 0;
    }
    if (ids == 0) return TD_OK;
    *at++ = '\n';
    return td_outfile_write(file, line, (uint64_t)(at - line));
}

/* The same with names. The first line says that ids are names, even if it names none. */
static td_status write_isolated_names(const td_graph *graph, td_outfile *file)
{
    char text[2 * TD_NAME_BYTES + 8];
    TD_CHECK(td_outfile_print(file, "%s\n", TD_EDGE_LIST_NAMES));
    for (uint32_t v = 0; v < graph->vertices; v++) {
        if (!is_isolated(graph, v)) continue;
        *td_print_vertex(text, graph, v) = '\0';
        TD_CHECK(td_outfile_print(file, "%s ", TD_EDGE_LIST_NAMES));
        TD_CHECK(td_outfile_write(file, text, strlen(text)));
        TD_CHECK(td_outfile_print(file, "\n"));
    }
    return TD_OK;
}

td_status td_write_edge_list(const td_graph *graph, const char *path, td_pool *pool)
{
    td_status status = TD_OK;
    writing self = {.graph = graph, .separator = separator_of(path)};
    TD_TRY(td_outfile_create(&self.file, path, TD_OUT_TEXT));
    TD_TRY(td_outfile_print(self.file, TD_EDGE_LIST_MARK ": %" PRIu32 " vertices, %" PRIu64 " edges%s\n",
                            graph->vertices, graph->edges, graph->symmetric ? ", each in both directions" : ""));
    TD_TRY(td_outfile_print(self.file, "# source target%s\n", graph->weights != TD_WEIGHT_NONE ? " weight" : ""));
    TD_TRY(graph->names != NULL ? write_isolated_names(graph, self.file) : write_isolated(graph, self.file));
    TD_TRY(write_edges(&self, pool));
    TD_TRY(td_outfile_commit(self.file));
done:
    td_outfile_close(self.file);
    return status;
}

static uint64_t loops_at(const td_graph *graph, uint32_t vertex)
{
    const uint32_t *targets = graph->out.targets;
    uint64_t low = graph->out.offsets[vertex], high = graph->out.offsets[vertex + 1], end = high;
    while (low < high) { /* the first target that is not below the vertex */
        uint64_t middle = low + (high - low) / 2;
        if (targets[middle] < vertex)
            low = middle + 1;
        else
            high = middle;
    }
    uint64_t first = low;
    while (low < end && targets[low] == vertex) low++;
    return low - first;
}

static td_status count_loops(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    counting *self = context;
    uint64_t count = 0;
    for (uint64_t v = begin; v < end; v++) count += loops_at(self->graph, (uint32_t)v);
    self->count += count;
    return TD_OK;
}

/* Counts the entries; for a symmetric graph those of the lower triangle: half of the edges, but every loop. */
static td_status count_entries(const td_graph *graph, td_pool *pool, uint64_t *entries)
{
    counting loops = {.graph = graph};
    *entries = graph->edges;
    if (!graph->symmetric) return TD_OK;
    TD_CHECK(td_pool_for(pool, graph->vertices, 4096, count_loops, &loops));
    *entries = (graph->edges + loops.count) / 2;
    return TD_OK;
}

void td_warn_of_lost_ids(const td_graph *graph, const char *path, uint64_t first)
{
    if (graph->vertices > 0 && graph->names != NULL)
        td_warn("%s: this format numbers its vertices from %" PRIu64 ": names are not kept", path, first);
    if (graph->vertices == 0 || graph->names != NULL || (graph->ids == NULL && graph->id_base == first)) return;
    uint32_t v = 0;
    while (v < graph->vertices && td_graph_id(graph, v) == first + v) v++;
    if (v < graph->vertices)
        td_warn("%s: this format numbers its vertices from %" PRIu64 ": original ids are not kept (vertex %" PRIu64
                " becomes %" PRIu64 ")", path, first, td_graph_id(graph, v), first + v);
}

td_status td_write_matrix_market(const td_graph *graph, const char *path, td_pool *pool)
{
    td_status status = TD_OK;
    writing self = {.graph = graph, .separator = ' ', .row_numbers = true, .lower_only = graph->symmetric};
    uint64_t entries;
    const char *field = graph->weights == TD_WEIGHT_NONE  ? "pattern"
                        : td_weight_real(graph->weights) ? "real"
                                                          : "integer";
    TD_TRY(td_outfile_create(&self.file, path, TD_OUT_TEXT));
    if (graph->ids != NULL || graph->names != NULL) td_warn_of_lost_ids(graph, path, 1);
    TD_TRY(count_entries(graph, pool, &entries));
    TD_TRY(td_outfile_print(self.file, "%%%%MatrixMarket matrix coordinate %s %s\n", field,
                            graph->symmetric ? "symmetric" : "general"));
    if (graph->ids == NULL && graph->id_base != 1)
        TD_TRY(td_outfile_print(self.file, "%s%" PRIu64 "\n", TD_MATRIX_IDS_FROM, graph->id_base));
    TD_TRY(td_outfile_print(self.file, "%" PRIu32 " %" PRIu32 " %" PRIu64 "\n", graph->vertices, graph->vertices,
                            entries));
    TD_TRY(write_edges(&self, pool));
    TD_TRY(td_outfile_commit(self.file));
done:
    td_outfile_close(self.file);
    return status;
}
