/* The binary .gr files of the Galois system, versions 1 and 2, little endian:
 *
 *     uint64   version, bytes per edge weight, vertices, edges
 *     uint64   ends[vertices]: where each vertex's edges end
 *     uint32 (version 1) or uint64 (version 2) targets[edges]
 *     padding to 8 bytes in version 1
 *     weights[edges]
 *
 * The file does not say what its weights are. They are taken as unsigned integers;
 * the format `galois-real` takes 4 bytes as a float and 8 as a double. Writers
 * disagree on the padding when nothing follows it, and on padding an odd number of
 * edges in version 2: the file's length decides. DIMACS text shares the suffix.
 */
#include "store/formats/format.h"
#include "store/formats/rows.h"
#include "store/input.h"

#include <endian.h>
#include <string.h>

enum { HEADER_BYTES = 32, BY_SIZE = 95, BY_NAME = 60 };

typedef struct galois_header {
    uint64_t version, weight_bytes, vertices, edges;
} galois_header;

static galois_header parse_header(const void *data)
{
    uint64_t words[4];
    memcpy(words, data, sizeof words);
    return (galois_header){le64toh(words[0]), le64toh(words[1]), le64toh(words[2]), le64toh(words[3])};
}

static bool plausible(const galois_header *header)
{
    return (header->version == 1 || header->version == 2) && header->weight_bytes <= 4096 &&
           header->vertices >> 48 == 0 && header->edges >> 48 == 0;
}

/* Where the weights begin without padding, and how much of it there is. False if
 * the length does not fit the header. */
static bool measure(const galois_header *header, uint64_t bytes, uint64_t *targets_end, uint64_t *padding)
{
    if (!plausible(header)) return false;
    uint64_t target_bytes = header->version == 1 ? 4 : 8, weights = header->weight_bytes * header->edges;
    *targets_end = HEADER_BYTES + 8 * header->vertices + target_bytes * header->edges;
    *padding = bytes - *targets_end - weights;
    if (bytes < *targets_end || bytes - *targets_end < weights) return false;
    bool odd = header->edges % 2 != 0, needed = odd && header->version == 1 && weights > 0;
    return (*padding == 0 && !needed) || (*padding == target_bytes && odd);
}

static int recognise(const td_probe *probe)
{
    uint64_t targets_end, padding;
    if (probe->compressed || probe->head_bytes < HEADER_BYTES) return 0;
    galois_header header = parse_header(probe->head);
    if (measure(&header, probe->file_bytes, &targets_end, &padding)) return BY_SIZE;
    return plausible(&header) && strcmp(probe->suffix, "gr") == 0 ? BY_NAME : 0;
}

static int recognise_never(const td_probe *probe)
{
    (void)probe;
    return 0;
}

static td_status check_header(const char *path, const galois_header *header, bool real)
{
    uint64_t size = header->weight_bytes;
    if (header->version != 1 && header->version != 2)
        return td_fail(TD_FORMAT, "%s: version %llu; Galois graphs have version 1 or 2", path,
                       (unsigned long long)header->version);
    if (size != 0 && size != 4 && size != 8 && (real || (size != 1 && size != 2)))
        return td_fail(TD_UNSUPPORTED, "%s: edge data of %llu bytes; %s can be read as weights", path,
                       (unsigned long long)size, real ? "0, 4 and 8" : "0, 1, 2, 4 and 8");
    if (header->vertices > TD_MAX_VERTICES)
        return td_fail(TD_LIMIT, "%s has %llu vertices, at most %llu are supported", path,
                       (unsigned long long)header->vertices, (unsigned long long)TD_MAX_VERTICES);
    return TD_OK;
}

static td_status read_rows(const char *path, td_input *input, bool real, td_edge_list *edges, td_pool *pool)
{
    const uint8_t *file = td_input_data(input);
    uint64_t bytes = td_input_bytes(input), targets_end, padding;
    if (bytes < HEADER_BYTES)
        return td_fail(TD_CORRUPT, "%s has %llu bytes; the header of a Galois graph alone has %d", path,
                       (unsigned long long)bytes, HEADER_BYTES);
    galois_header header = parse_header(file);
    TD_CHECK(check_header(path, &header, real));
    if (!measure(&header, bytes, &targets_end, &padding))
        return td_fail(TD_CORRUPT, "%s has %llu bytes, which do not fit the %llu vertices and %llu edges it promises",
                       path, (unsigned long long)bytes, (unsigned long long)header.vertices,
                       (unsigned long long)header.edges);
    unsigned target = header.version == 1 ? 4 : 8, weight = (unsigned)header.weight_bytes;
    td_rows rows = {.path = path, .input = input, .file = file, .vertices = header.vertices, .edges = header.edges,
                    .ends = file + HEADER_BYTES, .targets = file + HEADER_BYTES + 8 * header.vertices,
                    .target_bytes = target, .target_step = target, .weights = file + targets_end + padding,
                    .weight_bytes = weight, .weight_step = weight,
                    .weight = weight == 0 ? TD_ROW_NONE : real ? TD_ROW_REAL : TD_ROW_UNSIGNED,
                    .other_weights = real ? "integers" : "real numbers",
                    .other_format = real ? "galois" : "galois-real"};
    return td_rows_read(&rows, edges, pool);
}

static td_status read_as(const char *path, bool real, td_edge_list *edges, td_pool *pool)
{
    td_status status = TD_OK;
    td_input *input = NULL;
    TD_TRY(td_input_open_plain(&input, path));
    TD_TRY(read_rows(path, input, real, edges, pool));
done:
    td_input_close(input);
    return status;
}

static td_status read_integers(const char *path, td_edge_list *edges, td_pool *pool)
{
    return read_as(path, false, edges, pool);
}

static td_status read_reals(const char *path, td_edge_list *edges, td_pool *pool)
{
    return read_as(path, true, edges, pool);
}

const td_format td_format_galois = {
    .name = "galois",
    .description = "Galois binary graph, weights as integers",
    .suffixes = "gr",
    .recognise = recognise,
    .read = read_integers,
    .streams = true,
};

const td_format td_format_galois_real = {
    .name = "galois-real",
    .description = "Galois binary graph, weights as floats or doubles",
    .suffixes = "",
    .recognise = recognise_never,
    .read = read_reals,
    .streams = true,
};
