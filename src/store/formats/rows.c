#include "store/formats/rows.h"

#include "base/log.h"
#include "store/formats/lists.h"

#include <endian.h>
#include <math.h>
#include <string.h>

enum { CHECK_GRAIN = 1 << 16 };

static inline uint64_t load64(const uint8_t *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return le64toh(value);
}

static inline uint32_t load32(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return le32toh(value);
}

static inline uint64_t row_end(const td_rows *rows, uint64_t vertex) { return load64(rows->ends + 8 * vertex); }

static inline uint64_t row_start(const td_rows *rows, uint64_t vertex)
{
    return vertex == 0 ? 0 : row_end(rows, vertex - 1);
}

static td_status refuse_row(const td_rows *rows, uint64_t vertex)
{
    return td_fail(TD_CORRUPT, "%s: byte %llu: the list of vertex %llu runs from edge %llu to %llu of %llu", rows->path,
                   (unsigned long long)(rows->ends + 8 * vertex - rows->file), (unsigned long long)vertex,
                   (unsigned long long)row_start(rows, vertex), (unsigned long long)row_end(rows, vertex),
                   (unsigned long long)rows->edges);
}

static td_status check_ends(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const td_rows *rows = context;
    for (uint64_t v = begin, from = row_start(rows, begin); v < end; v++) {
        uint64_t to = row_end(rows, v);
        if (to < from || to > rows->edges) return refuse_row(rows, v);
        from = to;
    }
    if (end == rows->vertices && row_end(rows, end - 1) != rows->edges) return refuse_row(rows, end - 1);
    td_input_let_go(rows->input, rows->ends + 8 * begin, rows->ends + 8 * end);
    return TD_OK;
}

/* The vertex in whose row the edge lies. */
static uint64_t source_of(const td_rows *rows, uint64_t edge)
{
    uint64_t low = 0, high = rows->vertices - 1;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (row_end(rows, middle) > edge)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static td_status refuse_target(const td_rows *rows, uint64_t edge, uint64_t source, uint64_t target)
{
    return td_fail(TD_CORRUPT, "%s: byte %llu: vertex %llu points to %llu, but the last vertex is %llu", rows->path,
                   (unsigned long long)(rows->targets + edge * rows->target_step - rows->file),
                   (unsigned long long)source, (unsigned long long)target, (unsigned long long)rows->vertices - 1);
}

static td_status refuse_weight(const td_rows *rows, uint64_t edge, const char *what)
{
    unsigned long long at = (unsigned long long)(rows->weights + edge * rows->weight_step - rows->file);
    if (rows->other_format == NULL)
        return td_fail(TD_FORMAT, "%s: byte %llu: the weight of edge %llu is %s", rows->path, at,
                       (unsigned long long)edge, what);
    return td_fail(TD_FORMAT, "%s: byte %llu: the weight of edge %llu is %s; %s are read by {format} %s", rows->path,
                   at, (unsigned long long)edge, what, rows->other_weights, rows->other_format);
}

static uint64_t load_unsigned(const uint8_t *at, unsigned bytes)
{
    uint64_t value = 0;
    memcpy(&value, at, bytes);
    return le64toh(value);
}

static double load_real(const uint8_t *at, unsigned bytes)
{
    double wide;
    float narrow;
    if (bytes == sizeof narrow) {
        uint32_t bits = load32(at);
        memcpy(&narrow, &bits, sizeof narrow);
        return narrow;
    }
    uint64_t bits = load64(at);
    memcpy(&wide, &bits, sizeof wide);
    return wide;
}

static td_status put_weight(const td_rows *rows, uint64_t edge, td_edge_chunk *chunk)
{
    const uint8_t *at = rows->weights + edge * rows->weight_step;
    if (rows->weight == TD_ROW_REAL) {
        double value = load_real(at, rows->weight_bytes);
        bool small = fabs(value) < 1; /* false of NaN */
        if (!td_chunk_holds(chunk, value) && !small)
            return refuse_weight(rows, edge, "not a finite number that a float can hold");
        if (!td_chunk_holds(chunk, value)) return refuse_weight(rows, edge, "too small for a float: it would become 0");
        td_chunk_weight_double(chunk, value);
        return TD_OK;
    }
    uint64_t value = load_unsigned(at, rows->weight_bytes);
    bool negative = rows->weight == TD_ROW_SIGNED && value >> 31 != 0;
    if (negative) value = UINT64_C(0x100000000) - value;
    if (value > UINT32_MAX) return refuse_weight(rows, edge, "above 4294967295, the largest integer weight");
    td_chunk_weight_integer(chunk, negative, (uint32_t)value);
    return TD_OK;
}

typedef struct copying {
    const td_rows *rows;
    td_edge_list *edges;
} copying;

static void let_go(const td_rows *rows, const uint8_t *column, uint64_t step, uint64_t begin, uint64_t end)
{
    td_input_let_go(rows->input, column + begin * step, column + end * step);
}

static td_status copy_edges(void *context, uint64_t begin, uint64_t end, int worker)
{
    const copying *job = context;
    const td_rows *rows = job->rows;
    bool weighted = rows->weight != TD_ROW_NONE;
    uint64_t source = source_of(rows, begin), row = row_end(rows, source), first = source;
    td_edge_chunk *chunk;
    td_progress("reading edges", begin, rows->edges);
    TD_CHECK(td_edges_chunk(job->edges, begin / TD_LIST_CHUNK, &chunk));
    TD_CHECK(td_chunk_reserve(chunk, end - begin, weighted));
    for (uint64_t edge = begin; edge < end; edge++) {
        while (edge == row) row = row_end(rows, ++source);
        const uint8_t *at = rows->targets + edge * rows->target_step;
        uint64_t target = rows->target_bytes == 4 ? load32(at) : load64(at);
        if (target >= rows->vertices) return refuse_target(rows, edge, source, target);
        TD_CHECK(td_chunk_put(chunk, source, target));
        if (weighted) TD_CHECK(put_weight(rows, edge, chunk));
    }
    td_input_let_go(rows->input, rows->ends + 8 * first, rows->ends + 8 * source);
    let_go(rows, rows->targets, rows->target_step, begin, end);
    if (weighted) let_go(rows, rows->weights, rows->weight_step, begin, end);
    return td_edges_deliver(job->edges, chunk, worker);
}

td_status td_rows_read(const td_rows *rows, td_edge_list *edges, td_pool *pool)
{
    copying job = {rows, edges};
    if (rows->vertices == 0 && rows->edges > 0)
        return td_fail(TD_CORRUPT, "%s promises %llu edges but no vertices", rows->path,
                       (unsigned long long)rows->edges);
    TD_CHECK(td_pool_for(pool, rows->vertices, CHECK_GRAIN, check_ends, (void *)rows));
    edges->declared = true;
    edges->vertices = rows->vertices;
    edges->weighted = rows->weight != TD_ROW_NONE;
    return td_pool_for(pool, rows->edges, TD_LIST_CHUNK, copy_edges, &job);
}
