/* The serialised graphs of the GAP Benchmark Suite: .sg, and .wsg with weights.
 *
 *     bool     directed
 *     int64    edges stored (an undirected edge is stored, and counted, twice)
 *     int64    vertices
 *     int64    offsets[vertices + 1], from 0 to edges
 *     int32    targets[edges], or {int32 target, int32 weight}[edges] in a .wsg
 *     offsets and targets once more, of the incoming edges, if directed
 *
 * The incoming half repeats the outgoing one; only its length is checked.
 * Vertices are 0..vertices-1: writing loses other ids.
 */
#include "base/log.h"
#include "base/outfile.h"
#include "store/formats/format.h"
#include "store/formats/rows.h"
#include "store/input.h"

#include <endian.h>
#include <math.h>
#include <string.h>

enum { HEADER_BYTES = 17, BY_SIZE = 90, BY_SIZE_AND_NAME = 100, BY_NAME = 50 };

typedef struct gap_header {
    uint8_t directed;
    uint64_t edges, vertices;
} gap_header;

static gap_header parse_header(const void *data)
{
    const uint8_t *bytes = data;
    gap_header header = {.directed = bytes[0]};
    memcpy(&header.edges, bytes + 1, 8);
    memcpy(&header.vertices, bytes + 9, 8);
    header.edges = le64toh(header.edges);
    header.vertices = le64toh(header.vertices);
    return header;
}

static unsigned neighbour_bytes(bool weighted) { return weighted ? 8 : 4; }

/* The length of the file that the header describes, UINT64_MAX if it is none. */
static uint64_t described_bytes(const gap_header *header, bool weighted)
{
    if (header->directed > 1 || header->edges >> 56 != 0 || header->vertices >> 56 != 0) return UINT64_MAX;
    uint64_t half = 8 * (header->vertices + 1) + neighbour_bytes(weighted) * header->edges;
    return HEADER_BYTES + (header->directed ? 2 : 1) * half;
}

static int recognise_as(const td_probe *probe, bool weighted, const char *suffix)
{
    bool named = strcmp(probe->suffix, suffix) == 0;
    if (probe->compressed || probe->head_bytes < HEADER_BYTES) return named ? BY_NAME : 0;
    gap_header header = parse_header(probe->head);
    if (described_bytes(&header, weighted) == probe->file_bytes) return named ? BY_SIZE_AND_NAME : BY_SIZE;
    return named ? BY_NAME : 0;
}

static td_status check_size(const char *path, const gap_header *header, uint64_t bytes, bool weighted)
{
    uint64_t described = described_bytes(header, weighted);
    if (described == bytes && header->vertices <= TD_MAX_VERTICES) return TD_OK;
    if (header->directed > 1)
        return td_fail(TD_FORMAT, "%s: its first byte is %u; that of a GAP graph is 0 (undirected) or 1", path,
                       header->directed);
    if (described == bytes)
        return td_fail(TD_LIMIT, "%s has %llu vertices, at most %llu are supported", path,
                       (unsigned long long)header->vertices, (unsigned long long)TD_MAX_VERTICES);
    const char *other = weighted ? "sg" : "wsg";
    if (described_bytes(header, !weighted) == bytes)
        return td_fail(TD_CORRUPT, "%s has %llu bytes, which is the length of a .%s file ({format} %s)", path,
                       (unsigned long long)bytes, other, other);
    return td_fail(TD_CORRUPT, "%s has %llu bytes, which do not fit the %llu vertices and %llu edges it promises",
                   path, (unsigned long long)bytes, (unsigned long long)header->vertices,
                   (unsigned long long)header->edges);
}

static td_status read_rows(const char *path, td_input *input, bool weighted, td_edge_list *edges, td_pool *pool)
{
    const uint8_t *file = td_input_data(input);
    uint64_t bytes = td_input_bytes(input);
    if (bytes < HEADER_BYTES)
        return td_fail(TD_CORRUPT, "%s has %llu bytes; the header of a GAP graph alone has %d", path,
                       (unsigned long long)bytes, HEADER_BYTES);
    gap_header header = parse_header(file);
    TD_CHECK(check_size(path, &header, bytes, weighted));
    const uint8_t *offsets = file + HEADER_BYTES, *targets = offsets + 8 * (header.vertices + 1);
    uint64_t first;
    memcpy(&first, offsets, sizeof first);
    if (first != 0)
        return td_fail(TD_CORRUPT, "%s: byte %d: the first list does not start at edge 0", path, HEADER_BYTES);
    td_rows rows = {.path = path, .input = input, .file = file, .vertices = header.vertices, .edges = header.edges,
                    .ends = offsets + 8, .targets = targets, .target_bytes = 4,
                    .target_step = neighbour_bytes(weighted), .weights = targets + 4, .weight_bytes = 4,
                    .weight_step = 8, .weight = weighted ? TD_ROW_SIGNED : TD_ROW_NONE};
    return td_rows_read(&rows, edges, pool);
}

static td_status read_as(const char *path, bool weighted, td_edge_list *edges, td_pool *pool)
{
    td_status status = TD_OK;
    td_input *input = NULL;
    TD_TRY(td_input_open_plain(&input, path));
    TD_TRY(read_rows(path, input, weighted, edges, pool));
done:
    td_input_close(input);
    return status;
}

static int32_t weight_as_integer(const td_graph *graph, const td_adjacency *adjacency, uint64_t edge)
{
    switch (graph->weights) {
    case TD_WEIGHT_U8: return ((const uint8_t *)adjacency->weights)[edge];
    case TD_WEIGHT_U16: return ((const uint16_t *)adjacency->weights)[edge];
    case TD_WEIGHT_U32: return (int32_t)((const uint32_t *)adjacency->weights)[edge];
    default: return (int32_t)td_weight_at(graph, adjacency, edge);
    }
}

static td_status write_pairs(td_outfile *file, const td_graph *graph, const td_adjacency *adjacency)
{
    enum { BATCH = 4096 };
    int32_t pairs[2 * BATCH];
    for (uint64_t edge = 0; edge < graph->edges;) {
        uint64_t count = graph->edges - edge < BATCH ? graph->edges - edge : BATCH;
        for (uint64_t i = 0; i < count; i++, edge++) {
            pairs[2 * i] = (int32_t)adjacency->targets[edge];
            pairs[2 * i + 1] = weight_as_integer(graph, adjacency, edge);
        }
        TD_CHECK(td_outfile_write(file, pairs, count * 2 * sizeof *pairs));
    }
    return TD_OK;
}

static td_status write_half(td_outfile *file, const td_graph *graph, const td_adjacency *adjacency, bool weighted)
{
    TD_CHECK(td_outfile_write(file, adjacency->offsets, 8 * ((uint64_t)graph->vertices + 1)));
    if (weighted) return write_pairs(file, graph, adjacency);
    return td_outfile_write(file, adjacency->targets, 4 * graph->edges);
}

static td_status write_body(td_outfile *file, const td_graph *graph, bool weighted)
{
    uint8_t head[HEADER_BYTES] = {!graph->symmetric};
    uint64_t edges = htole64(graph->edges), vertices = htole64(graph->vertices);
    gap_header header = {!graph->symmetric, graph->edges, graph->vertices};
    memcpy(head + 1, &edges, 8);
    memcpy(head + 9, &vertices, 8);
    TD_CHECK(td_outfile_reserve(file, described_bytes(&header, weighted)));
    TD_CHECK(td_outfile_write(file, head, sizeof head));
    TD_CHECK(write_half(file, graph, &graph->out, weighted));
    return graph->symmetric ? TD_OK : write_half(file, graph, &graph->in, weighted);
}

/* Floats can be written only if they are integers, which may be negative. */
static td_status check_weights(const td_graph *graph, const char *path)
{
    if (graph->weights == TD_WEIGHT_NONE)
        return td_fail(TD_INVALID, "%s: a .wsg file needs weights, which this graph has not; write a .sg file, "
                       "or give every edge the weight 1 ({weights} 1:1)", path);
    if (graph->weight_min < INT32_MIN || graph->weight_max > INT32_MAX)
        return td_fail(TD_LIMIT, "%s: a .wsg file holds weights from %d to %d, this graph has %.9g to %.9g", path,
                       INT32_MIN, INT32_MAX, graph->weight_min, graph->weight_max);
    if (!td_weight_real(graph->weights)) return TD_OK;
    for (uint64_t edge = 0; edge < graph->edges; edge++) {
        double weight = td_weight_at(graph, &graph->out, edge);
        if (weight != trunc(weight))
            return td_fail(TD_UNSUPPORTED, "%s: a .wsg file holds integer weights, but one here is %.9g", path, weight);
    }
    return TD_OK;
}

static td_status check_writable(const td_graph *graph, const char *path, bool weighted)
{
    if (graph->vertices > INT32_MAX)
        return td_fail(TD_LIMIT, "%s: a GAP graph has at most %d vertices, this one has %u", path, INT32_MAX,
                       graph->vertices);
    if (!graph->symmetric && graph->in.offsets == NULL)
        return td_fail(TD_INVALID, "%s: a GAP graph holds both directions, but this graph was built with one", path);
    if (weighted) return check_weights(graph, path);
    if (graph->weights != TD_WEIGHT_NONE) td_warn("%s: a .sg file holds no weights; they are left out", path);
    return TD_OK;
}

static td_status write_as(const td_graph *graph, const char *path, bool weighted)
{
    td_status status = TD_OK;
    td_outfile *file = NULL;
    TD_CHECK(check_writable(graph, path, weighted));
    td_warn_of_lost_ids(graph, path, 0);
    TD_TRY(td_outfile_create(&file, path, TD_OUT_BINARY));
    TD_TRY(write_body(file, graph, weighted));
    TD_TRY(td_outfile_commit(file));
done:
    td_outfile_close(file);
    return status;
}

static int recognise_sg(const td_probe *probe) { return recognise_as(probe, false, "sg"); }
static int recognise_wsg(const td_probe *probe) { return recognise_as(probe, true, "wsg"); }

static td_status read_sg(const char *path, td_edge_list *edges, td_pool *pool)
{
    return read_as(path, false, edges, pool);
}

static td_status read_wsg(const char *path, td_edge_list *edges, td_pool *pool)
{
    return read_as(path, true, edges, pool);
}

static td_status write_sg(const td_graph *graph, const char *path, td_pool *pool)
{
    (void)pool;
    return write_as(graph, path, false);
}

static td_status write_wsg(const td_graph *graph, const char *path, td_pool *pool)
{
    (void)pool;
    return write_as(graph, path, true);
}

const td_format td_format_sg = {
    .name = "sg",
    .description = "GAP serialised graph",
    .suffixes = "sg",
    .recognise = recognise_sg,
    .read = read_sg,
    .streams = true,
    .write = write_sg,
};

const td_format td_format_wsg = {
    .name = "wsg",
    .description = "GAP serialised graph with integer weights",
    .suffixes = "wsg",
    .recognise = recognise_wsg,
    .read = read_wsg,
    .streams = true,
    .write = write_wsg,
};
