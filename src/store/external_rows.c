#include "store/external_rows.h"

#include "base/alloc.h"
#include "base/bitmap.h"
#include "store/builder_steps.h"

#include <math.h>
#include <string.h>

enum { COPY_BYTES = 16 * TD_PACKED_BLOCK };

static td_section_kind section(const td_external_rows *rows, td_section_kind out, td_section_kind in)
{
    return rows->in ? in : out;
}

static bool has_weights(const td_external_rows *rows) { return rows->draw != NULL || rows->weighted; }

static uint32_t weight_bytes(const td_external_rows *rows)
{
    return rows->kind == TD_WEIGHT_NONE ? 4 : (uint32_t)td_weight_bytes(rows->kind);
}

static void start_page(td_external_rows *rows, uint32_t vertex)
{
    rows->state.page = (td_page){.first_edge = rows->state.row_start, .first_vertex = vertex};
}

td_status td_external_rows_open(td_external_rows *rows)
{
    memset(&rows->state, 0, sizeof rows->state);
    rows->lowest = INFINITY;
    rows->highest = -INFINITY;
    rows->state.summary_factor = td_summary_factor(rows->vertices);
    start_page(rows, 0);
    TD_CHECK(td_section_stream_open(&rows->state.offsets, rows->out,
                                    section(rows, TD_SECTION_OUT_OFFSETS, TD_SECTION_IN_OFFSETS)));
    TD_CHECK(td_section_stream_open(&rows->state.targets, rows->out,
                                    section(rows, TD_SECTION_OUT_TARGETS, TD_SECTION_IN_TARGETS)));
    if (!has_weights(rows)) return TD_OK;
    if (rows->spool_directory == NULL)
        return td_section_stream_open(&rows->state.weights, rows->out,
                                      section(rows, TD_SECTION_OUT_WEIGHTS, TD_SECTION_IN_WEIGHTS));
    TD_CHECK(td_tempfile_create(&rows->spool, rows->spool_directory));
    return TD_NEW(&rows->state.spool_buffer, COPY_BYTES, "weights on their way");
}

/* Closes the page before row `before`: its summary has the bits set by earlier rows. The bits that
 * row `before` has set already belong to the next page. */
static td_status close_page(td_external_rows *rows, uint64_t before)
{
    td_page *page = &rows->state.page;
    for (unsigned bit = 0; bit < TD_SUMMARY_BITS; bit++) {
        uint32_t first = rows->state.first[bit];
        if (first != 0 && first != before + 1) td_bit_set(page->summary, bit);
        rows->state.first[bit] = rows->state.last[bit] == before + 1 ? (uint32_t)(before + 1) : 0;
        if (rows->state.first[bit] == 0) rows->state.last[bit] = 0;
    }
    if (rows->page_count == rows->page_room) {
        uint64_t room = 2 * rows->page_room + 64;
        TD_CHECK(TD_RESIZE(&rows->pages, room, "page directory"));
        rows->page_room = room;
    }
    rows->pages[rows->page_count++] = *page;
    start_page(rows, (uint32_t)before);
    return TD_OK;
}

/* Adds a complete row to the current page, or begins the next page with it. */
static td_status end_row(td_external_rows *rows, uint64_t row)
{
    td_page *page = &rows->state.page;
    uint64_t degree = rows->edges - rows->state.row_start;
    if (degree > UINT32_MAX)
        return td_fail(TD_LIMIT, "cannot write %s: vertex number %llu has %llu edges; a packed graph allows %u",
                       rows->path, (unsigned long long)row, (unsigned long long)degree, UINT32_MAX);
    if (page->vertices > 0 && (page->edges + degree > TD_PAGE_EDGES || page->vertices == TD_PAGE_VERTICES))
        TD_CHECK(close_page(rows, row));
    page->edges += degree;
    page->vertices++;
    rows->state.row_start = rows->edges;
    return TD_OK;
}

/* Writes the offsets up to that of `row`, which begins here. */
static td_status begin_rows(td_external_rows *rows, uint64_t row)
{
    td_status status = TD_OK;
    while (rows->state.next_row <= row) {
        if (rows->state.next_row > 0) TD_CHECK(end_row(rows, rows->state.next_row - 1));
        *(uint64_t *)td_section_stream_next(&rows->state.offsets, 8, &status) = rows->edges;
        if (status != TD_OK) return status;
        rows->state.next_row++;
    }
    return TD_OK;
}

static inline void store(const td_external_rows *rows, void *to, uint32_t weight, uint32_t bytes)
{
    if (bytes == 8) *(double *)to = td_weight_of_rank(rows->ranks, weight);
    else if (bytes == 1) *(uint8_t *)to = (uint8_t)weight;
    else if (bytes == 2) *(uint16_t *)to = (uint16_t)weight;
    else *(uint32_t *)to = weight;
}

static td_status flush_spool(td_external_rows *rows)
{
    uint64_t offset;
    uint32_t filled = rows->state.spool_filled;
    rows->state.spool_filled = 0;
    return td_tempfile_append(rows->spool, rows->state.spool_buffer, filled, &offset);
}

static td_status put_weight(td_external_rows *rows, uint32_t weight)
{
    td_status status = TD_OK;
    uint32_t bytes = weight_bytes(rows);
    float real;
    memcpy(&real, &weight, sizeof real);
    double value = rows->ranks != NULL ? td_weight_of_rank(rows->ranks, weight)
                   : rows->real        ? (double)real
                                       : (double)weight;
    if (value < rows->lowest) rows->lowest = value;
    if (value > rows->highest) rows->highest = value;
    if (rows->spool == NULL) {
        store(rows, td_section_stream_next(&rows->state.weights, bytes, &status), weight, bytes);
        return status;
    }
    if (rows->state.spool_filled == COPY_BYTES) TD_CHECK(flush_spool(rows));
    store(rows, rows->state.spool_buffer + rows->state.spool_filled, weight, bytes);
    rows->state.spool_filled += bytes;
    return TD_OK;
}

/* True for a duplicate key that must be dropped. */
static inline bool repeats(const td_external_rows *rows, const uint64_t *keys, uint64_t i)
{
    return rows->dedup && (i > 0 ? keys[i] == keys[i - 1] : rows->state.any && keys[i] == rows->state.last_key);
}

/* Writes the targets of one row, keys[begin..end). This is the innermost loop. */
static td_status put_targets(td_external_rows *rows, const uint64_t *keys, uint64_t begin, uint64_t end)
{
    td_status status = TD_OK;
    uint64_t factor = rows->state.summary_factor, mask = (UINT64_C(1) << rows->bits) - 1, put = 0;
    uint32_t *last = rows->state.last, *first = rows->state.first;
    uint32_t stamp = (uint32_t)(keys[begin] >> rows->bits) + 1;
    for (uint64_t i = begin; i < end; i++) {
        if (repeats(rows, keys, i)) continue;
        uint32_t target = (uint32_t)(keys[i] & mask);
        *(uint32_t *)td_section_stream_next(&rows->state.targets, 4, &status) = target;
        if (__builtin_expect(status != TD_OK, 0)) return status;
        put++;
        uint64_t bit = td_summary_bit(target, factor);
        uint32_t before = first[bit];
        last[bit] = stamp;
        first[bit] = before != 0 ? before : stamp;
    }
    rows->edges += put;
    return TD_OK;
}

static td_status put_weights(td_external_rows *rows, const uint64_t *keys, const uint32_t *weights, uint64_t begin,
                             uint64_t end)
{
    uint32_t row = (uint32_t)(keys[begin] >> rows->bits);
    for (uint64_t i = begin; i < end; i++) {
        if (repeats(rows, keys, i)) continue;
        uint32_t target = td_key_target(keys[i], rows->bits);
        TD_CHECK(put_weight(rows, rows->draw != NULL ? td_weights_draw(rows->draw, row, target) : weights[i]));
    }
    return TD_OK;
}

td_status td_external_rows_put(td_external_rows *rows, const uint64_t *keys, const uint32_t *weights, uint64_t count)
{
    for (uint64_t i = 0, end; i < count; i = end) {
        uint64_t row = keys[i] >> rows->bits;
        for (end = i + 1; end < count && keys[end] >> rows->bits == row; end++) {}
        if (row >= rows->state.next_row) TD_CHECK(begin_rows(rows, row));
        TD_CHECK(put_targets(rows, keys, i, end));
        if (has_weights(rows)) TD_CHECK(put_weights(rows, keys, weights, i, end));
    }
    if (count > 0) rows->state.last_key = keys[count - 1];
    rows->state.any |= count > 0;
    return TD_OK;
}

td_status td_external_rows_end(td_external_rows *rows)
{
    TD_CHECK(begin_rows(rows, rows->vertices));
    if (rows->vertices > 0) TD_CHECK(close_page(rows, rows->vertices));
    TD_CHECK(td_section_stream_end(&rows->state.offsets));
    TD_CHECK(td_section_stream_end(&rows->state.targets));
    if (!has_weights(rows)) return TD_OK;
    return rows->spool != NULL ? flush_spool(rows) : td_section_stream_end(&rows->state.weights);
}

td_status td_external_rows_place_weights(td_external_rows *rows)
{
    td_status status = TD_OK;
    td_section_stream stream = {0};
    uint32_t from = rows->draw != NULL ? weight_bytes(rows) : 4, to = weight_bytes(rows);
    uint64_t total = td_tempfile_bytes(rows->spool);
    TD_TRY(td_section_stream_open(&stream, rows->out, section(rows, TD_SECTION_OUT_WEIGHTS, TD_SECTION_IN_WEIGHTS)));
    for (uint64_t at = 0; at < total; at += COPY_BYTES) {
        uint64_t now = total - at < COPY_BYTES ? total - at : COPY_BYTES;
        TD_TRY(td_tempfile_read(rows->spool, at, rows->state.spool_buffer, now));
        for (uint64_t i = 0; i < now; i += from) {
            uint32_t weight = 0;
            memcpy(&weight, rows->state.spool_buffer + i, from);
            store(rows, td_section_stream_next(&stream, to, &status), weight, to);
            if (status != TD_OK) goto done;
        }
        td_tempfile_drop(rows->spool, at, now);
    }
    TD_TRY(td_section_stream_end(&stream));
done:
    td_section_stream_close(&stream);
    td_tempfile_close(rows->spool);
    rows->spool = NULL;
    return status;
}

td_status td_external_rows_degrees(td_external_rows *rows)
{
    td_status status = TD_OK;
    td_section_stream stream = {0};
    uint64_t *offsets = NULL, step = COPY_BYTES / 8 - 1;
    td_section_kind kind = section(rows, TD_SECTION_OUT_OFFSETS, TD_SECTION_IN_OFFSETS);
    TD_TRY(TD_NEW(&offsets, step + 1, "offsets"));
    TD_TRY(td_section_stream_open(&stream, rows->out, section(rows, TD_SECTION_OUT_DEGREES, TD_SECTION_IN_DEGREES)));
    for (uint64_t v = 0; v < rows->vertices; v += step) {
        uint64_t count = rows->vertices - v < step ? rows->vertices - v : step;
        TD_TRY(td_packed_out_read(rows->out, kind, v * 8, offsets, (count + 1) * 8));
        for (uint64_t i = 0; i < count; i++) {
            *(uint32_t *)td_section_stream_next(&stream, 4, &status) = (uint32_t)(offsets[i + 1] - offsets[i]);
            if (status != TD_OK) goto done;
        }
    }
    TD_TRY(td_section_stream_end(&stream));
done:
    td_section_stream_close(&stream);
    td_free(offsets);
    return status;
}

void td_external_rows_close(td_external_rows *rows)
{
    td_section_stream_close(&rows->state.offsets);
    td_section_stream_close(&rows->state.targets);
    td_section_stream_close(&rows->state.weights);
    td_free(rows->state.spool_buffer);
    rows->state.spool_buffer = NULL;
    td_tempfile_close(rows->spool);
    rows->spool = NULL;
    td_free(rows->pages);
    rows->pages = NULL;
}
