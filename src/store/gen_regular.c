/* Kinds with a fixed shape: grid, path, star, tree, complete, layered. Only weights may
 * be random. */
#include "store/gen_fill.h"

#include "base/random.h"

#include <math.h>

/* A town of crossings about BLOCK apart, each moved by up to JITTER along both
 * axes; a road's weight is the distance between its ends, from 20 to 197, so
 * that it fits a byte and a detour is never shorter than the straight road. */
enum { BLOCK = 100, JITTER = 40 };

typedef struct offset {
    int x, y;
} offset;

static offset jitter(uint64_t stream, uint64_t crossing)
{
    uint64_t random = td_random_at(stream, crossing);
    return (offset){(int)td_random_below(random, 2 * JITTER + 1) - JITTER,
                    (int)td_random_below(td_mix64(random), 2 * JITTER + 1) - JITTER};
}

static uint32_t distance(int along, int across) { return (uint32_t)(sqrt(along * along + across * across) + 0.5); }

/* The number of roads to the right of and down from the crossings in [begin, end). */
static uint64_t grid_room(const td_gen_job *job, uint64_t begin, uint64_t end)
{
    uint64_t width = job->spec->width, last_row = job->vertices - width;
    uint64_t right = (end - begin) - (end / width - begin / width);
    return right + (end < last_row ? end : last_row) - (begin < last_row ? begin : last_row);
}

static void emit_grid(const td_gen_job *job, uint64_t begin, uint64_t end, td_edge_chunk *chunk)
{
    uint64_t stream = td_gen_stream(job->spec, 1), width = job->spec->width, column = begin % width;
    offset here = jitter(stream, begin);
    for (uint64_t v = begin; v < end; v++) {
        offset next = jitter(stream, v + 1);
        if (++column < width) {
            td_gen_put(chunk, v, v + 1);
            td_chunk_weight_integer(chunk, false, distance(BLOCK + next.x - here.x, next.y - here.y));
        } else {
            column = 0;
        }
        if (v + width < job->vertices) {
            offset below = jitter(stream, v + width);
            td_gen_put(chunk, v, v + width);
            td_chunk_weight_integer(chunk, false, distance(BLOCK + below.y - here.y, below.x - here.x));
        }
        here = next;
    }
}

td_status td_gen_grid_size(const td_gen_spec *spec, td_gen_size *size)
{
    uint64_t width = spec->width, height = spec->height != 0 ? spec->height : width;
    if (width == 0) return td_fail(TD_USAGE, "grid: its size is missing; give {width} (and {height})");
    TD_CHECK(td_gen_area(spec, "{width} and {height}", width, height, &size->vertices));
    size->edges = (width - 1) * height + (height - 1) * width;
    return TD_OK;
}

td_status td_gen_grid_fill(const td_gen_spec *spec, td_edge_list *edges, td_pool *pool)
{
    td_gen_size size;
    TD_CHECK(td_gen_check(spec, &size));
    td_gen_job job = {.spec = spec, .vertices = size.vertices, .items = size.vertices, .grain = TD_GEN_GRAIN / 2,
                      .weighted = true, .mirror = true, .room = grid_room, .emit = emit_grid};
    return td_gen_fill(&job, edges, pool);
}

/* Path, star and tree: one edge into every vertex but the first. */

static td_status spanning_size(const td_gen_spec *spec, td_gen_size *size)
{
    TD_CHECK(td_gen_vertices(spec, &size->vertices));
    size->edges = size->vertices - 1;
    return TD_OK;
}

static td_status spanning_fill(const td_gen_spec *spec, td_edge_list *edges, td_pool *pool,
                               void (*emit)(const td_gen_job *, uint64_t, uint64_t, td_edge_chunk *))
{
    td_gen_size size;
    TD_CHECK(td_gen_check(spec, &size));
    td_gen_job job = {.spec = spec, .vertices = size.vertices, .items = size.edges, .emit = emit};
    return td_gen_fill(&job, edges, pool);
}

static void emit_path(const td_gen_job *job, uint64_t begin, uint64_t end, td_edge_chunk *chunk)
{
    (void)job;
    for (uint64_t e = begin; e < end; e++) td_gen_put(chunk, e, e + 1);
}

static void emit_star(const td_gen_job *job, uint64_t begin, uint64_t end, td_edge_chunk *chunk)
{
    (void)job;
    for (uint64_t e = begin; e < end; e++) td_gen_put(chunk, 0, e + 1);
}

static void emit_tree(const td_gen_job *job, uint64_t begin, uint64_t end, td_edge_chunk *chunk)
{
    uint64_t arity = job->spec->arity != 0 ? job->spec->arity : 2;
    for (uint64_t e = begin; e < end; e++) td_gen_put(chunk, e / arity, e + 1);
}

td_status td_gen_path_size(const td_gen_spec *spec, td_gen_size *size) { return spanning_size(spec, size); }
td_status td_gen_star_size(const td_gen_spec *spec, td_gen_size *size) { return spanning_size(spec, size); }
td_status td_gen_tree_size(const td_gen_spec *spec, td_gen_size *size) { return spanning_size(spec, size); }

td_status td_gen_path_fill(const td_gen_spec *spec, td_edge_list *edges, td_pool *pool)
{
    return spanning_fill(spec, edges, pool, emit_path);
}

td_status td_gen_star_fill(const td_gen_spec *spec, td_edge_list *edges, td_pool *pool)
{
    return spanning_fill(spec, edges, pool, emit_star);
}

td_status td_gen_tree_fill(const td_gen_spec *spec, td_edge_list *edges, td_pool *pool)
{
    return spanning_fill(spec, edges, pool, emit_tree);
}

/* Complete: pair e is (row, column) of the triangle below the diagonal, row by row. */

static uint64_t triangle(uint64_t rows) { return rows % 2 == 0 ? rows / 2 * (rows - 1) : (rows - 1) / 2 * rows; }

/* The row of pair e: the largest with triangle(row) <= e. The square root is off by at most one. */
static uint64_t row_of(uint64_t e)
{
    uint64_t row = (uint64_t)((1 + sqrt(1 + 8 * (double)e)) / 2);
    while (triangle(row) > e) row--;
    while (triangle(row + 1) <= e) row++;
    return row;
}

static void emit_complete(const td_gen_job *job, uint64_t begin, uint64_t end, td_edge_chunk *chunk)
{
    (void)job;
    uint64_t row = row_of(begin), column = begin - triangle(row);
    for (uint64_t e = begin; e < end; e++) {
        td_gen_put(chunk, row, column);
        if (++column == row) {
            column = 0;
            row++;
        }
    }
}

td_status td_gen_complete_size(const td_gen_spec *spec, td_gen_size *size)
{
    TD_CHECK(td_gen_vertices(spec, &size->vertices));
    size->edges = triangle(size->vertices);
    return td_gen_edge_limit(spec, "its vertices ({scale} or {vertices})", size->edges);
}

td_status td_gen_complete_fill(const td_gen_spec *spec, td_edge_list *edges, td_pool *pool)
{
    td_gen_size size;
    TD_CHECK(td_gen_check(spec, &size));
    td_gen_job job = {.spec = spec, .vertices = size.vertices, .items = size.edges, .mirror = true,
                      .emit = emit_complete};
    return td_gen_fill(&job, edges, pool);
}

/* Layered: the next layer is divided into `degree` equal parts, and a vertex has one
 * edge to each part, so that no target occurs twice; with as many parts as vertices, it
 * has edges to all of them. */

static uint64_t part(uint64_t width, uint64_t index, uint64_t parts)
{
    return (uint64_t)((unsigned __int128)width * index / parts);
}

static void emit_layered(const td_gen_job *job, uint64_t begin, uint64_t end, td_edge_chunk *chunk)
{
    uint64_t choices = td_gen_stream(job->spec, 1), weights = td_gen_stream(job->spec, 2);
    uint64_t width = job->spec->width, degree = *(const uint64_t *)job->model;
    uint64_t source = begin / degree, index = begin % degree;
    for (uint64_t e = begin; e < end; e++) {
        uint64_t first = part(width, index, degree), last = part(width, index + 1, degree);
        uint64_t next_layer = (source / width + 1) * width;
        td_gen_put(chunk, source, next_layer + first + td_random_below(td_random_at(choices, e), last - first));
        td_chunk_weight_real(chunk, (float)(2 * td_random_unit(td_random_at(weights, e)) - 1));
        if (++index == degree) {
            index = 0;
            source++;
        }
    }
}

static td_status layered_degree(const td_gen_spec *spec, uint64_t *degree)
{
    TD_CHECK(td_gen_whole_degree(spec, spec->width, degree));
    if (*degree > spec->width)
        return td_fail(TD_INVALID, "layered: {degree} %llu is above the %llu vertices of a layer ({width})",
                       (unsigned long long)*degree, (unsigned long long)spec->width);
    return TD_OK;
}

td_status td_gen_layered_size(const td_gen_spec *spec, td_gen_size *size)
{
    uint64_t degree;
    if (spec->layers == 0 || spec->width == 0)
        return td_fail(TD_USAGE, "layered: its size is missing; give {layers} and {width}");
    TD_CHECK(layered_degree(spec, &degree));
    TD_CHECK(td_gen_area(spec, "{layers} and {width}", spec->layers, spec->width, &size->vertices));
    size->edges = (size->vertices - spec->width) * degree;
    return td_gen_edge_limit(spec, "{layers}, {width} and {degree}", size->edges);
}

td_status td_gen_layered_fill(const td_gen_spec *spec, td_edge_list *edges, td_pool *pool)
{
    td_gen_size size;
    uint64_t degree;
    TD_CHECK(td_gen_check(spec, &size));
    TD_CHECK(layered_degree(spec, &degree));
    td_gen_job job = {.spec = spec, .vertices = size.vertices, .items = size.edges, .weighted = true, .model = &degree,
                      .emit = emit_layered};
    return td_gen_fill(&job, edges, pool);
}
