/* Edge lists, as SNAP, spreadsheets and scripts write them: two ids and
 * perhaps a weight on a line, with blanks, tabs, commas or semicolons between
 * them in any mix; comments start with # or %; a first line of words is a
 * header. The first edge decides whether there are weights; ids are arbitrary.
 * Vertices without edges are known from the comments of Tandem's own writer only.
 *
 * Lists with other columns, with quotes or with names instead of numbers are read as
 * tables (table.h): the lines up to the first edge tell which they are.
 */
#include "store/formats/format.h"

#include "base/log.h"
#include "store/formats/table.h"
#include "store/formats/text.h"
#include "store/vertex_names.h"

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

static bool looks_like_edge(const char *line, const char *end)
{
    uint64_t id;
    line = skip_separators(line, end);
    if (td_scan_u64(&line, end, &id) != TD_SCAN_OK || line == end || !separates(*line)) return false;
    line = skip_separators(line, end);
    return td_scan_u64(&line, end, &id) == TD_SCAN_OK && (td_line_ends(line, end) || separates(*line));
}

/* The facts from the lines up to the first edge. */
typedef struct opening {
    bool header; /* a line of words was skipped */
    bool heading; /* it has the usual words of a heading */
    uint64_t header_at; /* where it starts */
    unsigned columns; /* of the first edge; 0: there is none */
    uint64_t skip;    /* where its line starts */
} opening;

/* The byte order mark that some editors put in front of a text. */
static const char *skip_mark(const char *at, const char *end)
{
    return end - at >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0 ? at + 3 : at;
}

/* "12","7",... : in quotes, but no words. */
static bool quotes_number(const char *line, const char *end)
{
    return end - line >= 3 && line[0] == '"' && td_is_digit(line[1]);
}

/* True once `line` is the first edge. */
static bool open_line(opening *facts, const char *line, const char *end)
{
    line = skip_separators(line, end);
    if (line == end || starts_comment(*line)) return false;
    if (!facts->header && starts_word(*line) && !quotes_number(line, end)) {
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
    bool names;    /* ids are names, whatever they look like */
    bool tabular;  /* to be read as a table */
    td_table table;
    char *isolated; /* names of vertices without edges, each with its zero, and one more */
    uint64_t isolated_bytes;
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

/* "# names a b c": vertices without edges; the line says that ids are names, even if it names none. */
static td_status list_names(preface *self, const td_piece *piece, const char *line, const char *end)
{
    td_field field;
    td_status status;
    char buffer[TD_NAME_BYTES + 2];
    self->names = true;
    for (const char *at = line + strlen(TD_EDGE_LIST_NAMES); td_next_field(piece, ' ', &at, end, &field, &status);) {
        const char *text;
        size_t length;
        TD_CHECK(status);
        TD_CHECK(td_field_text(piece, &field, buffer, &text, &length));
        TD_CHECK(TD_RESIZE(&self->isolated, self->isolated_bytes + length + 2, "vertices without edges"));
        memcpy(self->isolated + self->isolated_bytes, text, length);
        self->isolated_bytes += length + 1;
        self->isolated[self->isolated_bytes - 1] = self->isolated[self->isolated_bytes] = '\0';
    }
    return TD_OK;
}

static bool is_number(const td_field *field)
{
    const char *at = field->begin;
    td_number number;
    return td_scan_number(&at, field->end, &number) == TD_SCAN_OK && at == field->end;
}

/* The columns of a table without a list of them: those of its first edge. False: its fields are no edge. */
static bool guess_columns(td_table *table, const td_field *fields, unsigned count)
{
    count = td_table_count(fields, td_table_count(fields, count, 2), 3);
    if (count != 2 && !(count == 3 && is_number(&fields[2]))) return false;
    *table = (td_table){.columns = count, .source = 0, .target = 1, .weight = count == 3 ? 2 : TD_NO_COLUMN};
    return true;
}

/* Tandem writes its own heading as a comment: words of a heading are names in its files. */
static bool is_heading(const preface *self, const td_field *fields, unsigned count)
{
    return !self->ours && td_table_heading(fields, count);
}

/* Whether the first edge makes the file a table, and of which columns. What is no edge either way is left to the reader
 * of plain lists, whose message says so. */
static td_status open_table(preface *self, const td_piece *piece, const char *line, const char *end, bool quoted)
{
    td_field fields[TD_TABLE_COLUMNS];
    unsigned count;
    uint64_t id;
    char separator = td_table_separator(line, end);
    TD_CHECK(td_table_fields(piece, separator, line, end, fields, &count));
    if (self->edges->columns != NULL) TD_CHECK(td_table_columns(&self->table, self->edges->columns));
    else if (!guess_columns(&self->table, fields, count) ||
             (is_heading(self, fields, count) && (self->facts.heading || !self->facts.header)))
        return TD_OK; /* behind a first edge between names there is no heading */
    self->table.separator = separator;
    self->tabular = true;
    if (count < self->table.columns) return TD_OK; /* the reader says so */
    bool numbers = td_field_u64(&fields[self->table.source], &id) && td_field_u64(&fields[self->table.target], &id);
    self->names |= !numbers;
    self->tabular = self->names || quoted || self->edges->columns != NULL;
    return TD_OK;
}

/* Whether a line has a word where edges have their weights. */
static bool has_word_for_weight(const preface *self, const td_field *fields, unsigned count)
{
    td_table table = {.weight = 2};
    if (self->edges->columns != NULL && td_table_columns(&table, self->edges->columns) != TD_OK) return false;
    return table.weight != TD_NO_COLUMN && count > table.weight && !is_number(&fields[table.weight]);
}

/* A first line of words may be an edge between names. */
static td_status note_header(preface *self, const td_piece *piece, const char *line, const char *end)
{
    td_field fields[TD_TABLE_COLUMNS];
    unsigned count = 0;
    self->facts.header_at = piece->byte + (uint64_t)(line - piece->text);
    if (td_table_fields(piece, td_table_separator(line, end), line, end, fields, &count) != TD_OK) count = 0;
    self->facts.heading = is_heading(self, fields, count) || (!self->ours && has_word_for_weight(self, fields, count));
    return TD_OK;
}

/* A line that begins with a word is an edge all the same if the columns of its ends are numbers. */
static td_status see_columns(preface *self, const td_piece *piece, const char *line, const char *end, bool *more)
{
    td_field fields[TD_TABLE_COLUMNS];
    td_table table;
    unsigned count;
    uint64_t id;
    TD_CHECK(td_table_columns(&table, self->edges->columns));
    TD_CHECK(td_table_fields(piece, td_table_separator(line, end), line, end, fields, &count));
    if (count < table.columns || !td_field_u64(&fields[table.source], &id) || !td_field_u64(&fields[table.target], &id))
        return TD_OK;
    self->facts.header = false;
    self->facts.columns = count;
    *more = false;
    return TD_OK;
}

static td_status visit_opening(void *context, const td_piece *piece, const char *line, const char *end, bool *more)
{
    preface *self = context;
    bool first = piece->byte == 0 && line == piece->text, headed = self->facts.header;
    if (first) line = skip_mark(line, end);
    if (first && begins(line, end, TD_EDGE_LIST_MARK)) self->ours = true;
    if (self->ours && begins(line, end, TD_EDGE_LIST_VERTICES)) return list_vertices(self, piece, line, end);
    if (self->ours && begins(line, end, TD_EDGE_LIST_NAMES)) return list_names(self, piece, line, end);
    *more = !open_line(&self->facts, line, end);
    bool words = self->facts.header && !headed;
    if (words && self->edges->columns != NULL) TD_CHECK(see_columns(self, piece, line, end, more));
    if (words && *more) return note_header(self, piece, line, end);
    if (*more) return TD_OK;
    self->facts.skip = piece->byte + (uint64_t)(line - piece->text);
    bool quoted = memchr(line, '"', (size_t)(end - line)) != NULL;
    if (!self->names && self->edges->columns == NULL && !quoted && looks_like_edge(line, end)) return TD_OK;
    return open_table(self, piece, line, end, quoted);
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

/* The line that was taken for a header, read again as the first edge. */
static td_status visit_header(void *context, const td_piece *piece, const char *line, const char *end, bool *more)
{
    preface *self = context;
    if (piece->byte + (uint64_t)(line - piece->text) < self->facts.header_at) return TD_OK;
    *more = false;
    self->facts.columns = count_columns(line, end);
    self->facts.skip = self->facts.header_at;
    return open_table(self, piece, line, end, true);
}

/* A file of names may have no heading: its first line is then an edge. */
static td_status reconsider_header(preface *self, td_input *input)
{
    uint64_t next;
    bool alone = self->facts.columns == 0 && (self->names || self->edges->columns != NULL);
    if (!self->facts.header || self->facts.heading || !(self->tabular || alone)) return TD_OK;
    if (!alone && !self->names) return TD_OK; /* ids are numbers, so that words are a heading */
    if (alone) return td_input_lines(input, visit_header, self, &next);
    self->facts.skip = self->facts.header_at;
    return TD_OK;
}

static td_status read_list(const char *path, bool names, td_edge_list *edges, td_pool *pool)
{
    td_status status = TD_OK;
    td_input *input = NULL;
    preface start = {.edges = edges, .names = names};
    uint64_t next;
    TD_CHECK(td_input_open(&input, path));
    TD_TRY(td_input_lines(input, visit_opening, &start, &next));
    TD_TRY(reconsider_header(&start, input));
    if (start.facts.heading && start.names) td_info("%s: the first line of words is taken for a heading", path);
    if (start.facts.columns == 0 && !start.ours)
        TD_TRY(td_fail(TD_FORMAT, "%s: no edge in it, only comments, a header or blank lines", path));
    reading job = {.edges = edges, .weighted = start.facts.columns >= 3};
    edges->weighted = job.weighted;
    if (start.facts.columns == 0) start.facts.skip = td_input_bytes(input); /* vertices alone */
    if (start.facts.columns == 0) start.table = (td_table){.columns = 2, .target = 1, .weight = TD_NO_COLUMN};
    if (start.tabular || (start.names && start.facts.columns == 0))
        TD_TRY(td_read_table(input, &start.table, start.names, start.facts.skip, edges, start.isolated, pool));
    else if (start.facts.columns > 0)
        TD_TRY(td_input_pieces(input, pool, start.facts.skip, read_piece, &job, NULL));
done:
    td_free(start.isolated);
    td_input_add_decoding(input, &edges->decoding);
    td_input_close(input);
    return status;
}

static td_status read_edgelist(const char *path, td_edge_list *edges, td_pool *pool)
{
    return read_list(path, false, edges, pool);
}

static td_status read_names(const char *path, td_edge_list *edges, td_pool *pool)
{
    return read_list(path, true, edges, pool);
}

static bool has_suffix(const td_probe *probe)
{
    static const char *const suffixes[] = {"el", "wel", "txt", "tsv", "csv", "edges", "edgelist", "snap"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (strcmp(probe->suffix, suffixes[i]) == 0) return true;
    return false;
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
        bool quoted = quotes_number(skip_separators(line, line_end), line_end);
        bool fits = (facts.columns == 2 || facts.columns == 3) && (quoted || looks_like_edge(line, line_end));
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
    .columns = true,
    .write = td_write_edge_list,
};

/* Never recognised: edge lists whose first edge has words are read as names anyway. */
static int recognise_never(const td_probe *probe)
{
    (void)probe;
    return 0;
}

const td_format td_format_names = {
    .name = "names",
    .description = "edge list whose ids are names, whatever they look like",
    .suffixes = "",
    .recognise = recognise_never,
    .read = read_names,
    .streams = true,
    .columns = true,
};
