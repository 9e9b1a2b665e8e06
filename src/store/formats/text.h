/* Shared by the readers of text: lines, blanks, the weight column and messages about
 * wrong numbers. */
#ifndef TD_STORE_TEXT_H
#define TD_STORE_TEXT_H

#include "store/edges.h"
#include "store/formats/numbers.h"
#include "store/input.h"

/* Calls `visit` for the lines of the file in order, from the first one on, until
 * it sets *more to false: for headers, however long the comments before them.
 * `end` is the position of the line's newline. *next receives the position of the line
 * after the last one visited. */
typedef td_status (*td_line_fn)(void *context, const td_piece *piece, const char *line, const char *end, bool *more);
td_status td_input_lines(td_input *input, td_line_fn visit, void *context, uint64_t *next);

/* A carriage return counts as a blank, which handles CRLF. */
static inline bool td_is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static inline const char *td_skip_blanks(const char *at, const char *end)
{
    while (at < end && td_is_blank(*at)) at++;
    return at;
}

static inline bool td_line_ends(const char *at, const char *end) { return at == end || *at == '\n'; }

static inline bool td_word_ends(const char *at, const char *end) { return td_line_ends(at, end) || td_is_blank(*at); }

static inline const char *td_line_end(const char *at, const char *end)
{
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    return newline != NULL ? newline : end;
}

/* Behind the newline, or `end`. */
static inline const char *td_next_line(const char *at, const char *end)
{
    at = td_line_end(at, end);
    return at < end ? at + 1 : end;
}

/* Estimates the number of lines of a piece from its begin, for the initial room. */
uint64_t td_guess_lines(const td_piece *piece);

/* Room for `count` more edges. */
static inline td_status td_make_room(td_edge_chunk *chunk, uint64_t count, bool weighted)
{
    if (__builtin_expect(chunk->room - chunk->count >= count, 1)) return TD_OK;
    return td_chunk_reserve(chunk, chunk->room + chunk->room / 4 + 64 + count, weighted);
}

/* Frees unused room if the estimate was much too high; the builder soon frees the rest. */
static inline td_status td_trim_room(td_edge_chunk *chunk)
{
    return chunk->count < chunk->room - chunk->room / 8 ? td_chunk_shrink(chunk) : TD_OK;
}

/* The word at `at`, printable and shortened, for a message. Returns `buffer`. */
#define TD_WORD_BYTES 48
char *td_quote_word(char buffer[TD_WORD_BYTES], const char *at, const char *end);

/* Fails with a message for the result of a scan at `at`; `what` is "vertex id", "weight", ... */
td_status td_fail_scan(const td_piece *piece, const char *at, td_scan scan, const char *what);

/* "the header promises 5 entries, 4 follow" */
td_status td_fail_count(const td_input *input, const char *what, uint64_t promised, uint64_t found);

/* Fails because the word at `at` only begins like a number. */
td_status td_fail_word(const td_piece *piece, const char *at, const char *what);

/* Read an integer, any number, or a vertex 1..vertices (returned 0-based); the number must
 * be a whole word, and *at moves to its end. */
td_status td_read_u64(const td_piece *piece, const char **at, const char *what, uint64_t *value);
td_status td_read_number(const td_piece *piece, const char **at, const char *what, td_number *number);
td_status td_fail_vertex(const td_piece *piece, const char *at, uint64_t vertices);

static inline td_status td_read_vertex(const td_piece *piece, const char **at, uint64_t vertices, uint64_t *vertex)
{
    const char *start = *at;
    td_scan scan = td_scan_u64(at, piece->end, vertex);
    if (__builtin_expect(scan != TD_SCAN_OK, 0)) return td_fail_scan(piece, start, scan, "vertex");
    if (__builtin_expect(!td_word_ends(*at, piece->end), 0)) return td_fail_word(piece, start, "vertex");
    if (__builtin_expect(*vertex == 0 || *vertex > vertices, 0)) return td_fail_vertex(piece, start, vertices);
    --*vertex;
    return TD_OK;
}

/* Sets the weight of the last edge, which was read at `at`. Integers are 0..2^32-1, or
 * their negatives; reals must be finite as the chunk stores them, and 0 only if they are written so. */
td_status td_fail_weight(const td_piece *piece, const char *at, const td_edge_chunk *chunk, const td_number *weight);

/* An integer beyond 2^32-1, which only a chunk of 64-bit floats can store, up to 2^53. */
td_status td_put_large(const td_piece *piece, const char *at, td_edge_chunk *chunk, const td_number *weight);

static inline td_status td_put_weight(const td_piece *piece, const char *at, td_edge_chunk *chunk,
                                      const td_number *weight)
{
    if (__builtin_expect(weight->integer, 1)) {
        if (__builtin_expect(weight->magnitude > UINT32_MAX, 0)) return td_put_large(piece, at, chunk, weight);
        td_chunk_weight_integer(chunk, weight->negative, (uint32_t)weight->magnitude);
        return TD_OK;
    }
    bool vanished = weight->value == 0 && weight->magnitude != 0;
    if (__builtin_expect(!td_chunk_holds(chunk, weight->value) || vanished, 0))
        return td_fail_weight(piece, at, chunk, weight);
    td_chunk_weight_double(chunk, weight->value);
    return TD_OK;
}

/* Reads the weight at *at and sets it for the last edge. */
static inline td_status td_read_weight(const td_piece *piece, const char **at, td_edge_chunk *chunk)
{
    const char *start = *at;
    td_number weight;
    td_scan scan = td_scan_number(at, piece->end, &weight);
    if (__builtin_expect(scan != TD_SCAN_OK, 0)) return td_fail_scan(piece, start, scan, "weight");
    return td_put_weight(piece, start, chunk, &weight);
}

#endif
