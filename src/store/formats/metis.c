/* METIS graphs: a header `n m [fmt [ncon]]`, then the neighbours of vertex 1, 2,
 * ... on a line each; lines that start with % are comments, a blank line is a
 * vertex without neighbours. The digits of fmt say, from the right, whether
 * neighbours have weights, vertices ncon weights, and vertices a size. Weights and
 * sizes of vertices are skipped.
 *
 * METIS graphs are undirected: each of the m edges is listed from both its ends.
 * Programs also write lists of directed graphs in this form, with m entries in
 * all, and headers with a meaningless fmt of 100 (GAPBS reads both). Such files are
 * read with a warning: the number of entries must be 2m or m, either with the lines
 * read as fmt says or with neighbours only.
 */
#include "base/log.h"
#include "store/formats/format.h"
#include "store/formats/text.h"
#include "store/formats/vertex_lines.h"

enum { BY_NAME_AND_CONTENT = 75, BY_NAME = 45, MAX_VERTEX_WEIGHTS = 65535 };

typedef struct header {
    bool seen;
    uint64_t vertices, edges, format, constraints;
} header;

static td_status check_header(const header *head, const td_piece *piece, const char *line)
{
    uint64_t sizes = head->format / 100, weights = head->format / 10 % 10, edge_weights = head->format % 10;
    if (head->vertices > TD_MAX_VERTICES)
        return td_fail_line(piece, line, "%llu vertices; at most %llu are supported",
                            (unsigned long long)head->vertices, (unsigned long long)TD_MAX_VERTICES);
    if (head->edges >> 62 != 0)
        return td_fail_line(piece, line, "%llu edges are more than a file can list", (unsigned long long)head->edges);
    if (sizes > 1 || weights > 1 || edge_weights > 1)
        return td_fail_line(piece, line, "fmt is %llu; it consists of up to three digits 0 or 1",
                            (unsigned long long)head->format);
    if (head->constraints > MAX_VERTEX_WEIGHTS)
        return td_fail_line(piece, line, "%llu weights per vertex; at most %d are supported",
                            (unsigned long long)head->constraints, MAX_VERTEX_WEIGHTS);
    return TD_OK;
}

static td_status visit_header(void *context, const td_piece *piece, const char *line, const char *end, bool *more)
{
    header *head = context;
    const struct {
        const char *what;
        uint64_t *value;
        bool needed;
    } fields[] = {{"number of vertices", &head->vertices, true},
                  {"number of edges", &head->edges, true},
                  {"fmt", &head->format, false},
                  {"number of weights per vertex", &head->constraints, false}};
    const char *at = td_skip_blanks(line, end);
    if (at == end || *at == '%') return TD_OK;
    for (size_t i = 0; i < sizeof fields / sizeof *fields && (fields[i].needed || at < end); i++) {
        TD_CHECK(td_read_u64(piece, &at, fields[i].what, fields[i].value));
        at = td_skip_blanks(at, end);
    }
    if (at < end) return td_fail_line(piece, line, "more in the header than 'vertices edges fmt ncon'");
    head->seen = true;
    *more = false;
    return check_header(head, piece, line);
}

static td_status check_entries(const char *path, const header *head, const td_edge_list *edges)
{
    uint64_t entries = td_edges_count(edges);
    if (entries == head->edges || entries == 2 * head->edges) return TD_OK;
    return td_fail(TD_FORMAT, "%s: the header promises %llu edges, but %llu neighbours are listed; "
                   "%llu (each edge from both ends) or %llu (directed edges) would fit", path,
                   (unsigned long long)head->edges, (unsigned long long)entries, (unsigned long long)(2 * head->edges),
                   (unsigned long long)head->edges);
}

static td_status read_lists(const char *path, const header *head, const td_vertex_lines *form, td_input *input,
                            td_edge_list *edges, td_pool *pool)
{
    TD_CHECK(td_vertex_lines_read(form, input, edges, pool));
    return check_entries(path, head, edges);
}

/* Reads again without the vertex fields that fmt states. If that fails too, reports the
 * first failure. */
static td_status read_without_fields(const char *path, const header *head, td_vertex_lines *form, td_input *input,
                                     td_edge_list *edges, td_pool *pool)
{
    td_failure first;
    td_failure_keep(&first);
    for (uint64_t i = 0; i < edges->chunk_count; i++)
        if (edges->chunks[i] != NULL) td_chunk_clear(edges->chunks[i]);
    form->vertex_fields = 0;
    td_status status = read_lists(path, head, form, input, edges, pool);
    if (status == TD_FORMAT) td_failure_set(&first);
    if (status == TD_OK)
        td_warn("%s: fmt is %llu, but the lines hold no vertex weights or sizes; they are read as neighbours only",
                path, (unsigned long long)head->format);
    return status;
}

static void say_what_was_read(const char *path, const header *head, const td_vertex_lines *form,
                              const td_edge_list *edges)
{
    if (form->vertex_fields > 0) td_info("%s: vertex weights and sizes are ignored", path);
    if (head->edges > 0 && td_edges_count(edges) == head->edges)
        td_warn("%s lists %llu neighbours for %llu edges, where METIS lists each edge from both ends; "
                "they are read as directed edges", path, (unsigned long long)head->edges,
                (unsigned long long)head->edges);
}

static td_status read_body(const char *path, const header *head, td_vertex_lines *form, td_input *input,
                           td_edge_list *edges, td_pool *pool)
{
    bool sizes = head->format / 100 != 0, weights = head->format / 10 % 10 != 0;
    form->vertices = head->vertices;
    form->vertex_fields = sizes + (weights ? (unsigned)head->constraints : 0);
    form->weighted = head->format % 10 != 0;
    td_status status = read_lists(path, head, form, input, edges, pool);
    if (status == TD_FORMAT && form->vertex_fields > 0 && edges->take == NULL) /* else chunks were consumed already */
        status = read_without_fields(path, head, form, input, edges, pool);
    if (status == TD_OK) say_what_was_read(path, head, form, edges);
    return status;
}

static td_status read_metis(const char *path, td_edge_list *edges, td_pool *pool)
{
    td_status status = TD_OK;
    td_input *input = NULL;
    header head = {.constraints = 1};
    td_vertex_lines form = {.first_id = 1, .comments = true};
    TD_CHECK(td_input_open(&input, path));
    TD_TRY(td_input_lines(input, visit_header, &head, &form.skip));
    if (!head.seen) TD_TRY(td_fail(TD_FORMAT, "%s: no header in it: 'vertices edges fmt ncon'", path));
    TD_TRY(read_body(path, &head, &form, input, edges, pool));
done:
    td_input_add_decoding(input, &edges->decoding);
    td_input_close(input);
    return status;
}

/* Two to four numbers on the first line that counts. */
static bool has_header(const td_probe *probe)
{
    const char *end = probe->head + probe->head_bytes;
    for (const char *line = probe->head; line < end; line = td_next_line(line, end)) {
        const char *line_end = td_line_end(line, end), *at = td_skip_blanks(line, line_end);
        uint64_t number;
        int numbers = 0;
        if (at == line_end || *at == '%') continue;
        while (td_scan_u64(&at, line_end, &number) == TD_SCAN_OK && td_word_ends(at, line_end)) {
            numbers++;
            at = td_skip_blanks(at, line_end);
        }
        return at == line_end && numbers >= 2 && numbers <= 4;
    }
    return false;
}

static int recognise(const td_probe *probe)
{
    bool named = strcmp(probe->suffix, "graph") == 0 || strcmp(probe->suffix, "metis") == 0;
    return !named ? 0 : has_header(probe) ? BY_NAME_AND_CONTENT : BY_NAME;
}

const td_format td_format_metis = {
    .name = "metis",
    .description = "METIS graph: a header, then a line of neighbours for each vertex",
    .suffixes = "graph metis",
    .recognise = recognise,
    .read = read_metis,
    .streams = true,
};
