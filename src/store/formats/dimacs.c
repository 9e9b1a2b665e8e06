/* DIMACS graphs: `c` comments, one problem line, one line per edge, vertices
 * counted from 1. Shortest paths ("p sp n m", 9th challenge) has arcs
 * "a source target length"; colouring ("p edge n m" or "p col n m", 2nd
 * challenge) has undirected edges "e u v".
 */
#include "store/formats/format.h"
#include "store/formats/text.h"

#include <stdatomic.h>

typedef struct header {
    bool arcs; /* "a" lines with lengths; else "e" lines, both ways */
    bool seen;
    uint64_t vertices, edges;
} header;

/* Passes over `word` at *at, if it is the whole word there, and the blanks behind it. */
static bool take_word(const char **at, const char *end, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(end - *at) < length || memcmp(*at, word, length) != 0) return false;
    if (!td_word_ends(*at + length, end)) return false;
    *at = td_skip_blanks(*at + length, end);
    return true;
}

static td_status read_problem(header *head, const td_piece *piece, const char *line, const char *end)
{
    const char *at = line;
    char word[TD_WORD_BYTES];
    if (!take_word(&at, end, "p"))
        return td_fail_line(piece, line, "'%s' before the problem line; 'p sp N M' or 'p edge N M' comes first",
                            td_quote_word(word, line, end));
    head->arcs = take_word(&at, end, "sp");
    if (!head->arcs && !take_word(&at, end, "edge") && !take_word(&at, end, "col"))
        return td_fail_line(piece, at, "the problem '%s' is not supported, only sp, edge and col",
                            td_quote_word(word, at, end));
    TD_CHECK(td_read_u64(piece, &at, "number of vertices", &head->vertices));
    at = td_skip_blanks(at, end);
    TD_CHECK(td_read_u64(piece, &at, "number of edges", &head->edges));
    if (td_skip_blanks(at, end) != end) return td_fail_line(piece, line, "more on the problem line than N and M");
    if (head->vertices > TD_MAX_VERTICES)
        return td_fail_line(piece, line, "%llu vertices; at most %llu are supported",
                            (unsigned long long)head->vertices, (unsigned long long)TD_MAX_VERTICES);
    head->seen = true;
    return TD_OK;
}

static bool is_comment(const char *line, const char *end) { return line == end || take_word(&line, end, "c"); }

static td_status visit_header(void *context, const td_piece *piece, const char *line, const char *end, bool *more)
{
    line = td_skip_blanks(line, end);
    if (is_comment(line, end)) return TD_OK;
    *more = false;
    return read_problem(context, piece, line, end);
}

typedef struct reading {
    const header *head;
    td_edge_list *edges;
    _Atomic uint64_t count;
} reading;

static td_status wrong_line(const header *head, const td_piece *piece, const char *line)
{
    char word[TD_WORD_BYTES];
    td_quote_word(word, line, piece->end);
    if (strcmp(word, "p") == 0) return td_fail_line(piece, line, "a second problem line");
    return td_fail_line(piece, line, "the line begins with '%s'; only %s and 'c' can follow here", word,
                        head->arcs ? "'a source target length'" : "'e vertex vertex'");
}

static inline td_status read_edge(const header *head, const td_piece *piece, const char **at, td_edge_chunk *chunk)
{
    const char *line = *at, *end = piece->end;
    uint64_t source = 0, target = 0;
    if (*line != (head->arcs ? 'a' : 'e') || !td_word_ends(line + 1, end)) return wrong_line(head, piece, line);
    *at = td_skip_blanks(line + 1, end);
    TD_CHECK(td_read_vertex(piece, at, head->vertices, &source));
    *at = td_skip_blanks(*at, end);
    TD_CHECK(td_read_vertex(piece, at, head->vertices, &target));
    TD_CHECK(td_make_room(chunk, 1, head->arcs));
    TD_CHECK(td_chunk_put(chunk, source, target));
    *at = td_skip_blanks(*at, end);
    if (head->arcs) {
        const char *start = *at;
        TD_CHECK(td_read_weight(piece, at, chunk));
        if (!td_word_ends(*at, end)) return td_fail_word(piece, start, "length");
        *at = td_skip_blanks(*at, end);
    }
    if (td_line_ends(*at, end)) return TD_OK;
    return td_fail_line(piece, line, "more on the line than %s",
                        head->arcs ? "'a source target length'" : "'e vertex vertex'");
}

static td_status read_piece(void *context, const td_piece *piece, int worker)
{
    reading *job = context;
    const header *head = job->head;
    const char *end = piece->end;
    td_edge_chunk *chunk;
    TD_CHECK(td_edges_chunk(job->edges, piece->index, &chunk));
    TD_CHECK(td_chunk_reserve(chunk, td_guess_lines(piece), head->arcs));
    for (const char *at = piece->text; at < end;) {
        at = td_skip_blanks(at, end);
        if (td_line_ends(at, end) || (*at == 'c' && td_word_ends(at + 1, end)))
            at = td_line_end(at, end);
        else
            TD_CHECK(read_edge(head, piece, &at, chunk));
        if (at < end) at++;
    }
    job->count += chunk->count;
    TD_CHECK(td_trim_room(chunk));
    return td_edges_deliver(job->edges, chunk, worker);
}

static td_status read_dimacs(const char *path, td_edge_list *edges, td_pool *pool)
{
    td_status status = TD_OK;
    td_input *input = NULL;
    header head = {0};
    uint64_t skip;
    TD_CHECK(td_input_open(&input, path));
    TD_TRY(td_input_lines(input, visit_header, &head, &skip));
    if (!head.seen) TD_TRY(td_fail(TD_FORMAT, "%s: no problem line in it: 'p sp N M' or 'p edge N M'", path));
    edges->declared = true;
    edges->vertices = head.vertices;
    edges->id_base = 1;
    edges->weighted = head.arcs;
    edges->mirror = !head.arcs;
    reading job = {.head = &head, .edges = edges};
    TD_TRY(td_input_pieces(input, pool, skip, read_piece, &job, NULL));
    if (job.count != head.edges) TD_TRY(td_fail_count(input, head.arcs ? "arcs" : "edges", head.edges, job.count));
done:
    td_input_add_decoding(input, &edges->decoding);
    td_input_close(input);
    return status;
}

/* Comments and then a problem line are enough; comments alone need the name. */
static int recognise(const td_probe *probe)
{
    const char *end = probe->head + probe->head_bytes;
    bool named = strcmp(probe->suffix, "gr") == 0 || strcmp(probe->suffix, "dimacs") == 0 ||
                 strcmp(probe->suffix, "col") == 0;
    for (const char *line = probe->head; line < end; line = td_next_line(line, end)) {
        const char *line_end = td_line_end(line, end), *at = td_skip_blanks(line, line_end);
        if (is_comment(at, line_end)) continue;
        bool problem = take_word(&at, line_end, "p") && at < line_end && (*at | 0x20) >= 'a' && (*at | 0x20) <= 'z';
        return problem ? 90 : 0;
    }
    return named ? 50 : 0;
}

const td_format td_format_dimacs = {
    .name = "dimacs",
    .description = "DIMACS shortest-path (p sp) or colouring (p edge) graph",
    .suffixes = "gr dimacs col",
    .recognise = recognise,
    .read = read_dimacs,
    .streams = true,
};
