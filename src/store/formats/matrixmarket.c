/* Matrix Market coordinate files: a banner, comments, "rows columns entries",
 * then one entry per line, counted from 1. Entry (i, j) is the edge i -> j. A
 * symmetric matrix lists one triangle and means both. Original ids start at 1, or
 * where a comment of Tandem's own writer says. (Boisvert, Pozo, Remington:
 * "The Matrix Market Exchange Formats", NISTIR 5935.)
 */
#include "store/formats/format.h"
#include "store/formats/text.h"

#include <stdatomic.h>
#include <strings.h>

static const char *const fields[] = {"pattern", "integer", "real", NULL};
static const char *const symmetries[] = {"general", "symmetric", "skew-symmetric", NULL};
enum { PATTERN, INTEGER, REAL };
enum { GENERAL, SYMMETRIC, SKEW };

typedef struct header {
    bool seen; /* the banner */
    int field, symmetry;
    bool sized;
    uint64_t rows, columns, entries;
    uint64_t id_base; /* original id of the first vertex */
} header;

enum { WORDS = 5, WORD_ROOM = 24 };

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c; }

/* The words of the banner, lower case. */
static int split_words(char words[WORDS][WORD_ROOM], const char *line, const char *end)
{
    int count = 0;
    for (line = td_skip_blanks(line, end); line < end && count < WORDS; line = td_skip_blanks(line, end), count++) {
        size_t length = 0;
        for (; line < end && !td_is_blank(*line); line++)
            if (length < WORD_ROOM - 1) words[count][length++] = lower(*line);
        words[count][length] = '\0';
    }
    return count;
}

/* The position of `word` in a list that ends with NULL, or -1. */
static int find(const char *word, const char *const *list)
{
    for (int i = 0; list[i] != NULL; i++)
        if (strcmp(word, list[i]) == 0) return i;
    return -1;
}

static td_status unsupported(const td_piece *piece, const char *what, const char *seen, const char *allowed)
{
    return td_fail(TD_UNSUPPORTED, "%s: Matrix Market %s '%s' is not supported, only %s", td_input_path(piece->input),
                   what, seen, allowed);
}

static td_status read_banner(header *head, const td_piece *piece, const char *line, const char *end)
{
    char words[WORDS][WORD_ROOM] = {{0}};
    int count = split_words(words, line, end);
    if (strcmp(words[0], "%%matrixmarket") != 0)
        return td_fail_line(piece, line, "the first line does not begin with %%%%MatrixMarket");
    if (count < WORDS)
        return td_fail_line(piece, line, "%d words where 5 are needed: %%%%MatrixMarket matrix FORMAT FIELD SYMMETRY",
                            count);
    head->field = find(words[3], fields);
    head->symmetry = find(words[4], symmetries);
    if (strcmp(words[1], "matrix") != 0) return unsupported(piece, "object", words[1], "matrix");
    if (strcmp(words[2], "coordinate") != 0)
        return unsupported(piece, "format", words[2], "coordinate (a sparse matrix)");
    if (head->field < 0) return unsupported(piece, "field", words[3], "pattern, integer and real");
    if (head->symmetry < 0)
        return unsupported(piece, "symmetry", words[4], "general, symmetric and skew-symmetric");
    if (head->symmetry == SKEW && head->field == PATTERN)
        return td_fail_line(piece, line, "a pattern cannot be skew-symmetric: it has no signs");
    head->seen = true;
    return TD_OK;
}

static td_status read_size(header *head, const td_piece *piece, const char *line, const char *end)
{
    const char *at = line;
    uint64_t *const numbers[] = {&head->rows, &head->columns, &head->entries};
    static const char *const names[] = {"number of rows", "number of columns", "number of entries"};
    for (int i = 0; i < 3; i++) {
        TD_CHECK(td_read_u64(piece, &at, names[i], numbers[i]));
        at = td_skip_blanks(at, end);
    }
    if (at < end) return td_fail_line(piece, line, "the size line has more than 3 numbers: rows columns entries");
    if (head->rows != head->columns)
        return td_fail_line(piece, line, "the matrix is %llu x %llu; a graph needs a square one (a bipartite view of "
                            "a rectangular one is not supported)", (unsigned long long)head->rows,
                            (unsigned long long)head->columns);
    if (head->rows > TD_MAX_VERTICES)
        return td_fail_line(piece, line, "%llu vertices; at most %llu are supported", (unsigned long long)head->rows,
                            (unsigned long long)TD_MAX_VERTICES);
    head->sized = true;
    return TD_OK;
}

/* Reads the first id from a comment of Tandem's own writer. */
static td_status read_comment(header *head, const td_piece *piece, const char *line, const char *end)
{
    size_t length = strlen(TD_MATRIX_IDS_FROM);
    if ((size_t)(end - line) <= length || memcmp(line, TD_MATRIX_IDS_FROM, length) != 0) return TD_OK;
    line += length;
    TD_CHECK(td_read_u64(piece, &line, "first id", &head->id_base));
    if (head->id_base <= UINT64_MAX - TD_MAX_VERTICES) return TD_OK;
    return td_fail_line(piece, line, "ids from %llu on would pass 2^64", (unsigned long long)head->id_base);
}

static td_status visit_header(void *context, const td_piece *piece, const char *line, const char *end, bool *more)
{
    header *head = context;
    if (!head->seen) return read_banner(head, piece, line, end);
    line = td_skip_blanks(line, end);
    if (line == end) return TD_OK;
    if (*line == '%') return read_comment(head, piece, line, end);
    *more = false;
    return read_size(head, piece, line, end);
}

typedef struct reading {
    const header *head;
    td_edge_list *edges;
    _Atomic uint64_t entries;
} reading;

/* A skew-symmetric entry is followed by its mirror image with the other sign. */
static td_status put_mirrored(const td_piece *piece, const char *at, td_edge_chunk *chunk, uint64_t row,
                              uint64_t column, td_number *weight)
{
    if (row == column)
        return td_fail_line(piece, at, "entry (%llu, %llu) on the diagonal of a skew-symmetric matrix",
                            (unsigned long long)row + 1, (unsigned long long)column + 1);
    weight->negative = !weight->negative;
    weight->value = -weight->value;
    TD_CHECK(td_chunk_put(chunk, column, row));
    return td_put_weight(piece, at, chunk, weight);
}

static td_status read_value(const header *head, const td_piece *piece, const char **at, td_edge_chunk *chunk,
                            uint64_t row, uint64_t column)
{
    td_number weight;
    const char *start = *at;
    TD_CHECK(td_read_number(piece, at, "value", &weight));
    if (head->field == INTEGER && !weight.integer)
        return td_fail_line(piece, start, "a fraction in a matrix of integers");
    weight.integer = head->field == INTEGER;
    TD_CHECK(td_put_weight(piece, start, chunk, &weight));
    return head->symmetry == SKEW ? put_mirrored(piece, start, chunk, row, column, &weight) : TD_OK;
}

static inline td_status read_entry(const header *head, const td_piece *piece, const char **at, td_edge_chunk *chunk)
{
    const char *line = *at, *end = piece->end;
    uint64_t row = 0, column = 0;
    TD_CHECK(td_read_vertex(piece, at, head->rows, &row));
    *at = td_skip_blanks(*at, end);
    TD_CHECK(td_read_vertex(piece, at, head->columns, &column));
    TD_CHECK(td_make_room(chunk, 2, head->field != PATTERN)); /* a skew-symmetric entry takes two */
    TD_CHECK(td_chunk_put(chunk, row, column));
    if (head->field != PATTERN) {
        *at = td_skip_blanks(*at, end);
        TD_CHECK(read_value(head, piece, at, chunk, row, column));
    }
    *at = td_skip_blanks(*at, end);
    if (td_line_ends(*at, end)) return TD_OK;
    return td_fail_line(piece, line, "more on the line than an entry of this matrix has: %s",
                        head->field == PATTERN ? "row column" : "row column value");
}

static td_status read_piece(void *context, const td_piece *piece, int worker)
{
    reading *job = context;
    const header *head = job->head;
    const char *end = piece->end;
    uint64_t copies = head->symmetry == SKEW ? 2 : 1;
    td_edge_chunk *chunk;
    TD_CHECK(td_edges_chunk(job->edges, piece->index, &chunk));
    TD_CHECK(td_chunk_reserve(chunk, copies * td_guess_lines(piece), head->field != PATTERN));
    for (const char *at = piece->text; at < end;) {
        at = td_skip_blanks(at, end);
        if (at < end && *at == '%')
            at = td_line_end(at, end);
        else if (!td_line_ends(at, end))
            TD_CHECK(read_entry(head, piece, &at, chunk));
        if (at < end) at++;
    }
    job->entries += chunk->count / copies;
    TD_CHECK(td_trim_room(chunk));
    return td_edges_deliver(job->edges, chunk, worker);
}

static td_status read_matrixmarket(const char *path, td_edge_list *edges, td_pool *pool)
{
    td_status status = TD_OK;
    td_input *input = NULL;
    header head = {.id_base = 1};
    uint64_t skip;
    TD_CHECK(td_input_open(&input, path));
    TD_TRY(td_input_lines(input, visit_header, &head, &skip));
    if (!head.sized) TD_TRY(td_fail(TD_FORMAT, "%s: it ends before the size line: rows columns entries", path));
    edges->declared = true;
    edges->vertices = head.rows;
    edges->id_base = head.id_base;
    edges->weighted = head.field != PATTERN;
    edges->mirror = head.symmetry == SYMMETRIC;
    reading job = {.head = &head, .edges = edges};
    TD_TRY(td_input_pieces(input, pool, skip, read_piece, &job, NULL));
    if (job.entries != head.entries) TD_TRY(td_fail_count(input, "entries", head.entries, job.entries));
done:
    td_input_add_decoding(input, &edges->decoding);
    td_input_close(input);
    return status;
}

/* Accepts a .mtx without its banner, so that it is not read as an edge list: its size line is not an edge. */
static int recognise(const td_probe *probe)
{
    static const char banner[] = "%%MatrixMarket";
    size_t length = sizeof banner - 1;
    if (probe->head_bytes >= length && strncasecmp(probe->head, banner, length) == 0) return 100;
    return strcmp(probe->suffix, "mtx") == 0 ? 70 : 0;
}

const td_format td_format_matrixmarket = {
    .name = "mtx",
    .description = "Matrix Market coordinate file",
    .suffixes = "mtx",
    .recognise = recognise,
    .read = read_matrixmarket,
    .streams = true,
    .write = td_write_matrix_market,
};
