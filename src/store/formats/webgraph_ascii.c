/* WebGraph's ASCII graphs, .graph-txt: the number of vertices on the first
 * line, then the successors of vertex 0, 1, 2, ... on a line each. */
#include "store/formats/format.h"
#include "store/formats/text.h"
#include "store/formats/vertex_lines.h"

enum { BY_NAME_AND_CONTENT = 80, BY_NAME = 45, BY_CONTENT = 30 };

static td_status visit_header(void *context, const td_piece *piece, const char *line, const char *end, bool *more)
{
    uint64_t *vertices = context;
    const char *at = td_skip_blanks(line, end);
    *more = false;
    TD_CHECK(td_read_u64(piece, &at, "number of vertices", vertices));
    if (td_skip_blanks(at, end) != end)
        return td_fail_line(piece, line, "more on the first line than the number of vertices");
    if (*vertices > TD_MAX_VERTICES)
        return td_fail_line(piece, line, "%llu vertices; at most %llu are supported", (unsigned long long)*vertices,
                            (unsigned long long)TD_MAX_VERTICES);
    return TD_OK;
}

static td_status read_ascii(const char *path, td_edge_list *edges, td_pool *pool)
{
    td_status status = TD_OK;
    td_input *input = NULL;
    td_vertex_lines form = {.first_id = 0};
    uint64_t vertices = UINT64_MAX;
    TD_CHECK(td_input_open(&input, path));
    TD_TRY(td_input_lines(input, visit_header, &vertices, &form.skip));
    if (vertices == UINT64_MAX) TD_TRY(td_fail(TD_FORMAT, "%s is empty; the number of vertices comes first", path));
    form.vertices = vertices;
    TD_TRY(td_vertex_lines_read(&form, input, edges, pool));
done:
    td_input_add_decoding(input, &edges->decoding);
    td_input_close(input);
    return status;
}

static bool only_numbers(const char *at, const char *end)
{
    while (at < end && (td_is_digit(*at) || td_is_blank(*at) || *at == '\n')) at++;
    return at == end;
}

static int recognise(const td_probe *probe)
{
    const char *end = probe->head + probe->head_bytes, *at = td_skip_blanks(probe->head, end);
    uint64_t vertices;
    bool named = strcmp(probe->suffix, "graph-txt") == 0;
    bool fits = td_scan_u64(&at, end, &vertices) == TD_SCAN_OK && td_line_ends(td_skip_blanks(at, end), end) &&
                only_numbers(at, end);
    return named ? (fits ? BY_NAME_AND_CONTENT : BY_NAME) : (fits ? BY_CONTENT : 0);
}

const td_format td_format_webgraph_ascii = {
    .name = "graph-txt",
    .description = "WebGraph ASCII graph: the number of vertices, then a line of successors for each",
    .suffixes = "graph-txt",
    .recognise = recognise,
    .read = read_ascii,
    .streams = true,
};
