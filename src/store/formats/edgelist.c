/* Edge lists, as SNAP, spreadsheets and scripts write them: two ids and
 * perhaps a weight on a line, with blanks, tabs, commas or semicolons between
 * them in any mix; comments start with # or %; a first line of words is a
 * header. The first edge decides whether there are weights; ids are arbitrary.
 * Vertices without edges are known from the comments of Tandem's own writer only.
 */
#include "store/formats/format.h"
#include "store/formats/text.h"

static bool separates(char c) { return td_is_blank(c) || c == ',' || c == ';'; }

static inline const char *skip_separators(const char *at, const char *end)
{
    while (at < end && separates(*at)) at++;
    return at;
}

static bool starts_comment(char c) { return c == '#' || c == '%'; }

/* Words of a header: "source", "\"from\"", "_id". */
static bool starts_word(char c)
{
    return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '"' || c == '\'' || c == '_';
}

static unsigned count_columns(const char *at, const char *end)
{
    unsigned columns = 0;
    for (at = skip_separators(at, end); !td_line_ends(at, end); at = skip_separators(at, end)) {
        columns++;
        while (!td_line_ends(at, end) && !separates(*at)) at++;
    }
    return columns;
}

/* The facts from the lines up to the first edge. */
typedef struct opening {
    bool header; /* a line of words was skipped */
    unsigned columns; /* of the first edge; 0: there is none */
    uint64_t skip;    /* where its line starts */
} opening;

/* The byte order mark that some editors put in front of a text. */
static const char *skip_mark(const char *at, const char *end)
{
    return end - at >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0 ? at + 3 : at;
}

/* True once `line` is the first edge. */
static bool open_line(opening *facts, const char *line, const char *end)
{
    line = skip_separators(line, end);
    if (line == end || starts_comment(*line)) return false;
    if (!facts->header && starts_word(*line)) {
        facts->header = true;
        return false;
    }
    facts->columns = count_columns(line, end);
    return true;
}

static bool begins(const char *line, const char *end, const char *with)
{
    size_t length = strlen(with);
    return (size_t)(end - line) >= length && memcmp(line, with, length) == 0;
}

/* The second reading of the lines up to the first edge. */
typedef struct preface {
    opening facts;
    bool ours; /* Tandem wrote the file */
    td_edge_list *edges;
    uint64_t room; /* in edges->listed */
} preface;

static td_status list_vertex(preface *self, uint64_t id)
{
    td_edge_list *edges = self->edges;
    if (edges->listed_count == self->room) {
        uint64_t room = 2 * self->room + 64;
        TD_CHECK(TD_RESIZE(&edges->listed, room, "vertices without edges"));
        self->room = room;
    }
    edges->listed[edges->listed_count++] = id;
    return TD_OK;
}

/* "# vertices 3 17 18" */
static td_status list_vertices(preface *self, const td_piece *piece, const char *line, const char *end)
{
    const char *at = td_skip_blanks(line + strlen(TD_EDGE_LIST_VERTICES), end);
    while (at < end) {
        uint64_t id;
        TD_CHECK(td_read_u64(piece, &at, "vertex id", &id));
        TD_CHECK(list_vertex(self, id));
        at = td_skip_blanks(at, end);
    }
    return TD_OK;
}

static td_status visit_opening(void *context, const td_piece *piece, const char *line, const char *end, bool *more)
{
    preface *self = context;
    bool first = piece->byte == 0 && line == piece->text;
    if (first) line = skip_mark(line, end);
    if (first && begins(line, end, TD_EDGE_LIST_MARK)) self->ours = true;
    if (self->ours && begins(line, end, TD_EDGE_LIST_VERTICES)) return list_vertices(self, piece, line, end);
    *more = !open_line(&self->facts, line, end);
    if (!*more) self->facts.skip = piece->byte + (uint64_t)(line - piece->text);
    return TD_OK;
}

typedef struct reading {
    td_edge_list *edges;
    bool weighted;
} reading;

static td_status wrong_columns(const td_piece *piece, const char *line, bool weighted)
{
    unsigned columns = count_columns(line, piece->end);
    const char *noun = columns == 1 ? "column" : "columns";
    if (columns == 2 || columns == 3)
        return td_fail_line(piece, line, "%u %s, but the first edge has %d: all edges need a weight or none", columns,
                            noun, weighted ? 3 : 2);
    return td_fail_line(piece, line, "%u %s; an edge has 2 (source, target) or 3 (and a weight)", columns, noun);
}

static td_status bad_id(const td_piece *piece, const char *line, const char *at, td_scan scan)
{
    if (td_line_ends(at, piece->end)) return wrong_columns(piece, line, false);
    return scan != TD_SCAN_OK ? td_fail_scan(piece, at, scan, "vertex id") : td_fail_word(piece, at, "vertex id");
}

/* The id at *at and the separators behind it. */
static inline td_status read_id(const td_piece *piece, const char *line, const char **at, uint64_t *id)
{
    const char *start = *at, *end = piece->end;
    td_scan scan = td_scan_u64(at, end, id);
    if (__builtin_expect(scan != TD_SCAN_OK, 0)) return bad_id(piece, line, start, scan);
    if (__builtin_expect(*at < end && separates(**at), 1))
        *at = skip_separators(*at + 1, end);
    else if (!td_line_ends(*at, end))
        return bad_id(piece, line, start, scan);
    return TD_OK;
}

/* The edge on `line`, whose first character that counts is at *at. */
static inline td_status read_edge(const td_piece *piece, const char *line, const char **at, td_edge_chunk *chunk,
                                  bool weighted)
{
    uint64_t source = 0, target = 0;
    TD_CHECK(read_id(piece, line, at, &source));
    TD_CHECK(read_id(piece, line, at, &target));
    TD_CHECK(td_make_room(chunk, 1, weighted));
    TD_CHECK(td_chunk_put(chunk, source, target));
    if (weighted) {
        const char *start = *at;
        if (td_line_ends(start, piece->end)) return wrong_columns(piece, line, weighted);
        TD_CHECK(td_read_weight(piece, at, chunk));
        if (!td_line_ends(*at, piece->end) && !separates(**at))
            return td_fail_word(piece, start, "weight");
        *at = skip_separators(*at, piece->end);
    }
    return td_line_ends(*at, piece->end) ? TD_OK : wrong_columns(piece, line, weighted);
}

static inline td_status read_lines(const td_piece *piece, td_edge_chunk *chunk, bool weighted)
{
    const char *end = piece->end;
    for (const char *at = piece->text; at < end;) {
        const char *line = at;
        at = skip_separators(at, end);
        if (at < end && starts_comment(*at))
            at = td_line_end(at, end);
        else if (!td_line_ends(at, end))
            TD_CHECK(read_edge(piece, line, &at, chunk, weighted));
        if (at < end) at++;
    }
    return TD_OK;
}

static td_status read_piece(void *context, const td_piece *piece, int worker)
{
    reading *job = context;
    td_edge_chunk *chunk;
    TD_CHECK(td_edges_chunk(job->edges, piece->index, &chunk));
    TD_CHECK(td_chunk_reserve(chunk, td_guess_lines(piece), job->weighted));
    TD_CHECK(job->weighted ? read_lines(piece, chunk, true) : read_lines(piece, chunk, false));
    TD_CHECK(td_trim_room(chunk));
    return td_edges_deliver(job->edges, chunk, worker);
}

static td_status read_edgelist(const char *path, td_edge_list *edges, td_pool *pool)
{
    td_status status = TD_OK;
    td_input *input = NULL;
    preface start = {.edges = edges};
    uint64_t next;
    TD_CHECK(td_input_open(&input, path));
    TD_TRY(td_input_lines(input, visit_opening, &start, &next));
    if (start.facts.columns == 0 && !start.ours)
        TD_TRY(td_fail(TD_FORMAT, "%s: no edge in it, only comments, a header or blank lines", path));
    reading job = {.edges = edges, .weighted = start.facts.columns >= 3};
    edges->weighted = job.weighted;
    if (start.facts.columns > 0) TD_TRY(td_input_pieces(input, pool, start.facts.skip, read_piece, &job, NULL));
done:
    td_input_close(input);
    return status;
}

static bool has_suffix(const td_probe *probe)
{
    static const char *const suffixes[] = {"el", "wel", "txt", "tsv", "csv", "edges", "edgelist", "snap"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (strcmp(probe->suffix, suffixes[i]) == 0) return true;
    return false;
}

static bool looks_like_edge(const char *line, const char *end)
{
    uint64_t id;
    line = skip_separators(line, end);
    if (td_scan_u64(&line, end, &id) != TD_SCAN_OK || line == end || !separates(*line)) return false;
    line = skip_separators(line, end);
    return td_scan_u64(&line, end, &id) == TD_SCAN_OK && (td_line_ends(line, end) || separates(*line));
}

/* Accepts any name if the content fits. The name alone is enough too, so that the reader reports the wrong line. */
static int recognise(const td_probe *probe)
{
    opening facts = {0};
    const char *end = probe->head + probe->head_bytes;
    bool named = has_suffix(probe);
    if (begins(skip_mark(probe->head, end), end, TD_EDGE_LIST_MARK)) return 100;
    for (const char *line = skip_mark(probe->head, end); line < end; line = td_next_line(line, end)) {
        const char *line_end = td_line_end(line, end);
        if (!open_line(&facts, line, line_end)) continue;
        bool fits = (facts.columns == 2 || facts.columns == 3) && looks_like_edge(line, line_end);
        return fits ? (named ? 60 : 40) : (named ? 10 : 0);
    }
    return named ? 10 : 0;
}

const td_format td_format_edgelist = {
    .name = "edgelist",
    .description = "edge list: source, target and perhaps a weight on each line (SNAP, TSV, CSV)",
    .suffixes = "el wel txt tsv csv edges edgelist snap",
    .recognise = recognise,
    .read = read_edgelist,
    .streams = true,
    .write = td_write_edge_list,
};
