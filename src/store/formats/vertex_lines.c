#include "store/formats/vertex_lines.h"

#include "store/formats/lists.h"
#include "store/formats/piece_counts.h"
#include "store/formats/text.h"

enum { USUAL_ENTRY_BYTES = 4, USUAL_WEIGHTED_ENTRY_BYTES = 6 };

typedef struct reading {
    const td_vertex_lines *form;
    td_edge_list *edges;
    td_piece_counts lines; /* vertices in each piece */
    td_piece_counts used;  /* lines up to the last one that is not blank */
    bool counted;          /* the lines were counted first, so that sources are final */
    uint64_t total;        /* lines, once they are counted */
} reading;

static td_status refuse_neighbour(const td_vertex_lines *form, const td_piece *piece, const char *at)
{
    char word[TD_WORD_BYTES];
    td_quote_word(word, at, piece->end);
    if (form->vertices == 0) return td_fail_line(piece, at, "neighbour %s, but the header promises no vertices", word);
    return td_fail_line(piece, at, "neighbour %s is outside %u..%llu, the vertices that the header promises", word,
                        form->first_id, (unsigned long long)(form->vertices - 1 + form->first_id));
}

static inline td_status read_neighbour(const td_vertex_lines *form, const td_piece *piece, const char **at,
                                       uint64_t *neighbour)
{
    const char *start = *at;
    td_scan scan = td_scan_u64(at, piece->end, neighbour);
    if (__builtin_expect(scan != TD_SCAN_OK, 0)) return td_fail_scan(piece, start, scan, "neighbour");
    if (__builtin_expect(!td_word_ends(*at, piece->end), 0)) return td_fail_word(piece, start, "neighbour");
    *neighbour -= form->first_id; /* 0 - 1 is out of range too */
    return *neighbour < form->vertices ? TD_OK : refuse_neighbour(form, piece, start);
}

static td_status read_list_weight(const td_piece *piece, const char **at, td_edge_chunk *chunk)
{
    const char *start = *at;
    uint64_t weight = 0;
    TD_CHECK(td_read_u64(piece, at, "weight", &weight));
    return td_put_weight(piece, start, chunk, &(td_number){.integer = true, .magnitude = weight});
}

static td_status skip_fields(const td_vertex_lines *form, const td_piece *piece, const char **at)
{
    for (unsigned field = 0; field < form->vertex_fields; field++) {
        uint64_t unused;
        TD_CHECK(td_read_u64(piece, at, "vertex weight or size", &unused));
        *at = td_skip_blanks(*at, piece->end);
    }
    return TD_OK;
}

/* From the first character that is not blank to the line's end. */
static inline td_status read_line(const td_vertex_lines *form, const td_piece *piece, uint64_t line, const char **at,
                                  td_edge_chunk *chunk)
{
    const char *end = piece->end;
    if (form->vertex_fields > 0) TD_CHECK(skip_fields(form, piece, at));
    while (!td_line_ends(*at, end)) {
        uint64_t neighbour = 0;
        TD_CHECK(read_neighbour(form, piece, at, &neighbour));
        TD_CHECK(td_chunk_need(chunk, 1, form->weighted));
        TD_CHECK(td_chunk_put(chunk, line, neighbour));
        *at = td_skip_blanks(*at, end);
        if (form->weighted) {
            TD_CHECK(read_list_weight(piece, at, chunk));
            *at = td_skip_blanks(*at, end);
        }
    }
    return TD_OK;
}

static bool is_comment(const td_vertex_lines *form, const char *at, const char *end)
{
    return form->comments && at < end && *at == '%';
}

static td_status count_piece(void *context, const td_piece *piece, int worker)
{
    (void)worker;
    reading *job = context;
    uint64_t lines = 0;
    for (const char *at = piece->text; at < piece->end; at = td_next_line(at, piece->end))
        lines += !is_comment(job->form, td_skip_blanks(at, piece->end), piece->end);
    return td_piece_counts_put(&job->lines, piece->index, lines);
}

static td_status count_lines(reading *job, td_input *input, td_pool *pool)
{
    TD_CHECK(td_input_pieces(input, pool, job->form->skip, count_piece, job, NULL));
    job->total = td_piece_counts_sum(&job->lines);
    job->counted = true;
    return TD_OK;
}

static td_status read_piece(void *context, const td_piece *piece, int worker)
{
    reading *job = context;
    const td_vertex_lines *form = job->form;
    const char *end = piece->end;
    uint64_t entry = form->weighted ? USUAL_WEIGHTED_ENTRY_BYTES : USUAL_ENTRY_BYTES;
    uint64_t lines = 0, used = 0, first = 0;
    if (job->counted) first = piece->index < job->lines.room ? job->lines.counts[piece->index] : job->total;
    td_edge_chunk *chunk;
    TD_CHECK(td_edges_chunk(job->edges, piece->index, &chunk));
    TD_CHECK(td_chunk_reserve(chunk, (uint64_t)(end - piece->text) / entry + 1, form->weighted));
    for (const char *at = piece->text; at < end;) {
        at = td_skip_blanks(at, end);
        if (is_comment(form, at, end)) {
            at = td_next_line(at, end);
            continue;
        }
        bool blank = td_line_ends(at, end);
        TD_CHECK(read_line(form, piece, first + lines++, &at, chunk));
        if (!blank) used = lines;
        if (at < end) at++;
    }
    if (!job->counted) TD_CHECK(td_piece_counts_put(&job->lines, piece->index, lines));
    TD_CHECK(td_piece_counts_put(&job->used, piece->index, used));
    TD_CHECK(td_chunk_shrink(chunk));
    return td_edges_deliver(job->edges, chunk, worker);
}

/* Checks that every vertex has a line, and that lines after the last vertex are blank. */
static td_status check_lines(reading *job, const td_input *input)
{
    uint64_t used = 0, vertices = job->form->vertices;
    if (!job->counted) job->total = td_piece_counts_sum(&job->lines);
    for (uint64_t i = 0; i < job->used.room; i++)
        if (job->used.counts[i] > 0) used = job->lines.counts[i] + job->used.counts[i];
    if (job->total >= vertices && used <= vertices) return TD_OK;
    return td_fail_count(input, "vertices, each on a line of its own", vertices,
                         job->total < vertices ? job->total : used);
}

static td_status move_sources(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const reading *job = context;
    for (uint64_t i = begin; i < end; i++) {
        td_edge_chunk *chunk = job->edges->chunks[i];
        if (chunk == NULL) continue;
        uint32_t before = (uint32_t)job->lines.counts[i];
        for (uint64_t edge = 0; edge < chunk->count; edge++) chunk->ends[2 * edge] += before;
    }
    return TD_OK;
}

td_status td_vertex_lines_read(const td_vertex_lines *form, td_input *input, td_edge_list *edges, td_pool *pool)
{
    td_status status = TD_OK;
    reading job = {form, edges, TD_PIECE_COUNTS_NONE, TD_PIECE_COUNTS_NONE, false, 0};
    edges->declared = true;
    edges->vertices = form->vertices;
    edges->id_base = form->first_id;
    edges->weighted = form->weighted;
    if (edges->take != NULL) TD_TRY(count_lines(&job, input, pool));
    TD_TRY(td_input_pieces(input, pool, form->skip, read_piece, &job, NULL));
    TD_TRY(check_lines(&job, input));
    if (!job.counted) TD_TRY(td_pool_for(pool, edges->chunk_count, 1, move_sources, &job));
done:
    td_piece_counts_free(&job.lines);
    td_piece_counts_free(&job.used);
    return status;
}
