/* The slow paths of text.h: headers, which are read line by line, and messages. */
#include "store/formats/text.h"

#include <math.h>

typedef struct walk {
    td_line_fn visit;
    void *context;
    bool more;
    uint64_t next;
} walk;

/* Ends the reading of pieces with TD_CANCELLED once no more lines are wanted. */
static td_status walk_piece(void *context, const td_piece *piece, int worker)
{
    (void)worker;
    walk *job = context;
    for (const char *line = piece->text; line < piece->end && job->more;) {
        const char *next = td_next_line(line, piece->end);
        TD_CHECK(job->visit(job->context, piece, line, td_line_end(line, piece->end), &job->more));
        line = next;
        job->next = piece->byte + (uint64_t)(line - piece->text);
    }
    return job->more ? TD_OK : TD_CANCELLED;
}

td_status td_input_lines(td_input *input, td_line_fn visit, void *context, uint64_t *next)
{
    walk job = {visit, context, true, 0};
    td_status status = td_input_pieces(input, NULL, 0, walk_piece, &job, NULL);
    if (status == TD_CANCELLED && !job.more) status = TD_OK;
    *next = job.next;
    return status;
}

uint64_t td_guess_lines(const td_piece *piece)
{
    enum { SAMPLE = 16384 };
    size_t bytes = (size_t)(piece->end - piece->text), sample = bytes < SAMPLE ? bytes : SAMPLE;
    uint64_t lines = 1;
    for (size_t i = 0; i < sample; i++) lines += piece->text[i] == '\n';
    uint64_t guess = lines * (bytes / sample);
    return guess + guess / 32;
}

char *td_quote_word(char buffer[TD_WORD_BYTES], const char *at, const char *end)
{
    enum { SHOWN = TD_WORD_BYTES - 8 };
    size_t length = 0;
    for (; at < end && *at != '\n' && !td_is_blank(*at) && *at != ',' && *at != ';' && length < SHOWN; at++)
        buffer[length++] = *at >= ' ' && *at <= '~' ? *at : '?';
    buffer[length] = '\0';
    if (length == SHOWN) strcpy(buffer + length, "...");
    return buffer;
}

td_status td_fail_scan(const td_piece *piece, const char *at, td_scan scan, const char *what)
{
    char word[TD_WORD_BYTES];
    td_quote_word(word, at, piece->end);
    switch (scan) {
    case TD_SCAN_RANGE: return td_fail_line(piece, at, "the %s %s is too large", what, word);
    case TD_SCAN_NOT_FINITE: return td_fail_line(piece, at, "the %s is '%s'; a finite number is needed", what, word);
    case TD_SCAN_LONG: return td_fail_line(piece, at, "the %s '%s' has too many digits", what, word);
    default: break;
    }
    if (word[0] == '\0') return td_fail_line(piece, at, "the %s is missing", what);
    if (word[0] == '-' && td_is_digit(word[1]))
        return td_fail_line(piece, at, "the %s is %s; it must not be negative", what, word);
    return td_fail_word(piece, at, what);
}

td_status td_fail_word(const td_piece *piece, const char *at, const char *what)
{
    char word[TD_WORD_BYTES];
    return td_fail_line(piece, at, "the %s is '%s', which is no valid number", what,
                        td_quote_word(word, at, piece->end));
}

td_status td_fail_count(const td_input *input, const char *what, uint64_t promised, uint64_t found)
{
    return td_fail(TD_FORMAT, "%s: the header promises %llu %s, %llu follow", td_input_path(input),
                   (unsigned long long)promised, what, (unsigned long long)found);
}

td_status td_read_u64(const td_piece *piece, const char **at, const char *what, uint64_t *value)
{
    const char *start = *at;
    td_scan scan = td_scan_u64(at, piece->end, value);
    if (scan != TD_SCAN_OK) return td_fail_scan(piece, start, scan, what);
    return td_word_ends(*at, piece->end) ? TD_OK : td_fail_word(piece, start, what);
}

td_status td_read_number(const td_piece *piece, const char **at, const char *what, td_number *number)
{
    const char *start = *at;
    td_scan scan = td_scan_number(at, piece->end, number);
    if (scan != TD_SCAN_OK) return td_fail_scan(piece, start, scan, what);
    return td_word_ends(*at, piece->end) ? TD_OK : td_fail_word(piece, start, what);
}

td_status td_fail_vertex(const td_piece *piece, const char *at, uint64_t vertices)
{
    char word[TD_WORD_BYTES];
    return td_fail_line(piece, at, "vertex %s is outside the declared range 1..%llu",
                        td_quote_word(word, at, piece->end), (unsigned long long)vertices);
}

td_status td_fail_weight(const td_piece *piece, const char *at, const td_edge_chunk *chunk, const td_number *weight)
{
    char word[TD_WORD_BYTES];
    bool wide = chunk->table != NULL;
    td_quote_word(word, at, piece->end);
    if (weight->integer && wide)
        return td_fail_line(piece, at, "the weight %s is beyond 2^53, the largest integer that a 64-bit float holds; "
                            "with a decimal point it is rounded", word);
    if (weight->integer) {
        td_status status = td_fail_line(piece, at, "the weight %s is beyond 4294967295, the largest integer weight; with "
                                        "a decimal point it is %sa float", word, chunk->chosen ? "" : "kept as ");
        return chunk->chosen ? status : td_fail_add(status, ", and {weights} f64 allows 2^53");
    }
    td_status status =
        fabs(weight->value) < 1
            ? td_fail_line(piece, at, "the weight %s is below the range of a %s, and would become 0", word,
                           wide ? "64-bit float, 4.9e-324" : "float, 1.4e-45")
            : td_fail_line(piece, at, "the weight %s is beyond the range of a %s", word,
                           wide ? "64-bit float, 1.8e308" : "float, 3.4e38");
    bool kept = !wide && !chunk->chosen && weight->value != 0 && isfinite(weight->value);
    return kept ? td_fail_add(status, "; {weights} f64 keeps it") : status;
}

td_status td_put_large(const td_piece *piece, const char *at, td_edge_chunk *chunk, const td_number *weight)
{
    if (chunk->table == NULL || weight->magnitude > UINT64_C(1) << 53) return td_fail_weight(piece, at, chunk, weight);
    double exact = (double)weight->magnitude;
    td_chunk_weight_double(chunk, weight->negative ? -exact : exact);
    return TD_OK;
}
