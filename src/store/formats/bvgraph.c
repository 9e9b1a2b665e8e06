/* WebGraph's BVGraph: x.graph (the lists as a bit stream), x.properties (their
 * codes and counts) and, optional, x.offsets (where each list starts).
 *
 * Lists refer back to earlier ones, so without offsets one thread reads from the
 * first to the last. With offsets the vertices are divided into blocks for all
 * workers; a worker first decodes the lists to which the references at its block's
 * start lead (bv_decoder.c).
 */
#include "base/log.h"
#include "store/formats/bv_decoder.h"
#include "store/formats/format.h"
#include "store/formats/lists.h"
#include "store/formats/paths.h"
#include "store/formats/properties.h"
#include "store/input.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum {
    MAX_WINDOW = 65536,
    MAX_PADDING_BITS = 128, /* writers fill up a byte or a word */
    MIN_BLOCKS = 16,        /* so that small graphs keep all workers busy too */
};

static const char *const suffixes[] = {".graph", ".properties", ".offsets", NULL};
static const char *const code_names[] = {"", "DELTA", "GAMMA", "GOLOMB", "SKEWED_GOLOMB", "UNARY", "ZETA", "NIBBLE"};

typedef struct bv_files {
    char *graph, *properties, *offsets;
    td_input *graph_input, *offsets_input;
} bv_files;

static bool is_bvgraph(const td_properties *properties)
{
    const char *class = td_properties_get(properties, "graphclass");
    return class != NULL && (strcmp(class, "it.unimi.dsi.webgraph.BVGraph") == 0 ||
                             strcmp(class, "it.unimi.dsi.big.webgraph.BVGraph") == 0);
}

static td_status name_files(const char *path, bv_files *files)
{
    int stem = td_path_stem(path, suffixes);
    TD_CHECK(td_path_print(&files->graph, "%.*s.graph", stem, path));
    TD_CHECK(td_path_print(&files->properties, "%.*s.properties", stem, path));
    return td_path_print(&files->offsets, "%.*s.offsets", stem, path);
}

static void close_files(bv_files *files)
{
    td_input_close(files->graph_input);
    td_input_close(files->offsets_input);
    td_free(files->graph);
    td_free(files->properties);
    td_free(files->offsets);
}

/* Decides by the properties: the .graph file is bits, and other formats use both
 * suffixes. If there is no memory to read them, reading will report it. */
static int recognise(const td_probe *probe)
{
    char path[PATH_MAX];
    td_properties *properties = NULL;
    int stem = td_path_stem(probe->path, suffixes);
    if (probe->path[stem] == '\0') return 0;
    int length = snprintf(path, sizeof path, "%.*s.properties", stem, probe->path);
    if (length >= (int)sizeof path || !td_path_exists(path)) return 0;
    td_status status = td_properties_load(&properties, path);
    bool ours = status == TD_NO_MEMORY || (status == TD_OK && is_bvgraph(properties));
    td_properties_free(properties);
    return ours ? 100 : 0;
}

/* "RESIDUALS_ZETA" and the like; accepts any code for any component. */
static td_status parse_flag(const char *path, const char *flag, int length, td_bv_shape *shape)
{
    const struct {
        const char *prefix;
        td_code *code;
    } components[] = {{"OUTDEGREES_", &shape->outdegrees}, {"BLOCKS_", &shape->blocks},
                      {"RESIDUALS_", &shape->residuals},   {"REFERENCES_", &shape->references},
                      {"BLOCK_COUNT_", &shape->block_counts}, {"OFFSETS_", &shape->offsets}};
    for (size_t i = 0; i < sizeof components / sizeof *components; i++) {
        size_t prefix = strlen(components[i].prefix), rest = (size_t)length - prefix;
        if ((size_t)length <= prefix || strncmp(flag, components[i].prefix, prefix) != 0) continue;
        for (int code = TD_CODE_DELTA; code <= TD_CODE_NIBBLE; code++) {
            if (strlen(code_names[code]) != rest || memcmp(code_names[code], flag + prefix, rest) != 0) continue;
            *components[i].code = (td_code)code;
            return TD_OK;
        }
    }
    return td_fail(TD_UNSUPPORTED, "%s: compression flag '%.*s' is unknown", path, length, flag);
}

static td_status parse_flags(const char *path, const char *flags, td_bv_shape *shape)
{
    while (flags != NULL && *flags != '\0') {
        const char *start = flags + strspn(flags, " \t|");
        int length = (int)strcspn(start, " \t|");
        if (length > 0) TD_CHECK(parse_flag(path, start, length, shape));
        flags = start + length;
    }
    return TD_OK;
}

static bool uses(const td_bv_shape *shape, td_code code)
{
    return shape->outdegrees == code || shape->blocks == code || shape->residuals == code ||
           shape->references == code || shape->block_counts == code || shape->offsets == code;
}

static td_status refuse_class(const td_properties *properties)
{
    const char *class = td_properties_get(properties, "graphclass"), *path = td_properties_path(properties);
    if (class == NULL) return td_fail(TD_FORMAT, "%s: the property 'graphclass' is missing", path);
    return td_fail(TD_UNSUPPORTED, "%s: graphclass=%s, but only it.unimi.dsi.webgraph.BVGraph can be read", path,
                   class);
}

static td_status parse_shape(const td_properties *properties, td_bv_shape *shape)
{
    const uint64_t none = 0, three = 3;
    uint64_t version, window, interval, parameter;
    const char *path = td_properties_path(properties), *order = td_properties_get(properties, "endianness");
    *shape = (td_bv_shape){.outdegrees = TD_CODE_GAMMA, .blocks = TD_CODE_GAMMA, .residuals = TD_CODE_ZETA,
                           .references = TD_CODE_UNARY, .block_counts = TD_CODE_GAMMA, .offsets = TD_CODE_GAMMA};
    if (!is_bvgraph(properties)) return refuse_class(properties);
    if (order != NULL && strcmp(order, "big") != 0)
        return td_fail(TD_UNSUPPORTED, "%s: endianness=%s, but only big-endian graphs can be read", path, order);
    TD_CHECK(td_properties_number(properties, "version", 0, 0, &none, &version));
    TD_CHECK(td_properties_number(properties, "nodes", 0, TD_MAX_VERTICES, NULL, &shape->vertices));
    TD_CHECK(td_properties_number(properties, "arcs", 0, shape->vertices * shape->vertices, NULL, &shape->arcs));
    TD_CHECK(td_properties_number(properties, "windowsize", 0, MAX_WINDOW, NULL, &window));
    TD_CHECK(td_properties_number(properties, "minintervallength", 0, UINT32_MAX, NULL, &interval));
    TD_CHECK(parse_flags(path, td_properties_get(properties, "compressionflags"), shape));
    TD_CHECK(td_properties_number(properties, "zetak", 1, uses(shape, TD_CODE_ZETA) ? 31 : INT32_MAX, &three,
                                  &parameter));
    shape->window = (uint32_t)window;
    shape->min_interval = (uint32_t)interval;
    shape->parameter = (uint32_t)parameter;
    return TD_OK;
}

static td_status load_shape(const char *path, td_bv_shape *shape)
{
    td_status status = TD_OK;
    td_properties *properties = NULL;
    TD_TRY(td_properties_load(&properties, path));
    TD_TRY(parse_shape(properties, shape));
done:
    td_properties_free(properties);
    return status;
}

/* A code has at least one bit: a file that is too short for its stated counts is refused
 * before anything is allocated. */
static td_status check_length(const bv_files *files, const td_bv_shape *shape)
{
    uint64_t bits = 8 * td_input_bytes(files->graph_input);
    if (shape->vertices <= bits) return TD_OK;
    return td_fail(TD_CORRUPT, "%s has %llu bits, too few for the %llu vertices that %s promises", files->graph,
                   (unsigned long long)bits, (unsigned long long)shape->vertices, files->properties);
}

static td_status refuse_offset(const bv_files *files, uint64_t vertex, const char *what)
{
    return td_fail(TD_CORRUPT, "%s: %s at vertex %llu; without this file the graph is read all the same, by one thread",
                   files->offsets, what, (unsigned long long)vertex);
}

static td_status decode_offsets(const bv_files *files, const td_bv_shape *shape, uint64_t *offsets)
{
    td_bits bits = {td_input_data(files->offsets_input), td_input_bytes(files->offsets_input), 0};
    uint64_t end = 8 * td_input_bytes(files->graph_input), offset = 0;
    for (uint64_t vertex = 0; vertex <= shape->vertices; vertex++) {
        uint64_t step = td_bits_code(&bits, shape->offsets, shape->parameter);
        if (td_bits_over(&bits)) return refuse_offset(files, vertex, "ends");
        if (step > end - offset) return refuse_offset(files, vertex, "points behind the end of the graph");
        if ((step == 0) != (vertex == 0)) return refuse_offset(files, vertex, "starts or steps wrongly");
        offset += step;
        offsets[vertex] = offset;
    }
    return TD_OK;
}

static td_status read_offsets(bv_files *files, const td_bv_shape *shape, uint64_t **out)
{
    td_status status = TD_OK;
    uint64_t *offsets = NULL;
    if (!td_path_exists(files->offsets)) return TD_OK;
    TD_TRY(td_input_open_plain(&files->offsets_input, files->offsets));
    if (8 * td_input_bytes(files->offsets_input) <= shape->vertices)
        TD_TRY(refuse_offset(files, 8 * td_input_bytes(files->offsets_input), "ends"));
    TD_TRY(TD_NEW(&offsets, shape->vertices + 1, "offsets of a BVGraph"));
    TD_TRY(decode_offsets(files, shape, offsets));
    *out = offsets;
    offsets = NULL;
done:
    td_free(offsets);
    return status;
}

typedef struct decoding {
    const bv_files *files;
    const td_bv_shape *shape;
    const uint64_t *offsets;
    td_edge_list *edges;
    td_bv_decoder **decoders; /* one per worker, made when first needed */
    uint64_t block;           /* vertices in each */
    uint64_t end_bit;         /* behind the last list */
} decoding;

static td_status make_decoder(const decoding *job, td_bv_decoder **out)
{
    if (*out != NULL) return TD_OK;
    return td_bv_decoder_create(out, job->shape, job->files->graph, td_input_data(job->files->graph_input),
                                td_input_bytes(job->files->graph_input), job->offsets);
}

static td_status decode_block(void *context, uint64_t begin, uint64_t end, int worker)
{
    decoding *job = context;
    td_bv_decoder **decoder = &job->decoders[worker];
    td_edge_chunk *chunk;
    td_progress("reading vertices", begin, job->shape->vertices);
    TD_CHECK(make_decoder(job, decoder));
    TD_CHECK(td_edges_chunk(job->edges, begin / job->block, &chunk));
    TD_CHECK(td_bv_decoder_seek(*decoder, begin));
    uint64_t first_bit = td_bv_decoder_bit(*decoder);
    TD_CHECK(td_bv_decoder_run(*decoder, end - begin, chunk));
    const char *data = td_input_data(job->files->graph_input);
    td_input_let_go(job->files->graph_input, data + first_bit / 8, data + td_bv_decoder_bit(*decoder) / 8);
    if (end == job->shape->vertices) job->end_bit = td_bv_decoder_bit(*decoder);
    TD_CHECK(td_chunk_shrink(chunk));
    return td_edges_deliver(job->edges, chunk, worker);
}

/* Checks the whole: all stated arcs were read, and only padding follows. */
static td_status check_whole(const decoding *job)
{
    uint64_t arcs = td_edges_count(job->edges), bits = 8 * td_input_bytes(job->files->graph_input);
    if (arcs != job->shape->arcs)
        return td_fail(TD_CORRUPT, "%s holds %llu arcs, but %s promises %llu", job->files->graph,
                       (unsigned long long)arcs, job->files->properties, (unsigned long long)job->shape->arcs);
    if (bits - job->end_bit < MAX_PADDING_BITS) return TD_OK;
    return td_fail(TD_CORRUPT, "%s: %llu bits behind the list of the last of the %llu vertices that %s promises",
                   job->files->graph, (unsigned long long)(bits - job->end_bit),
                   (unsigned long long)job->shape->vertices, job->files->properties);
}

static td_status decode_all(decoding *job, td_pool *pool)
{
    td_status status = TD_OK;
    int workers = job->offsets == NULL ? 1 : td_pool_threads(pool);
    uint64_t vertices = job->shape->vertices, blocks = job->shape->arcs / TD_LIST_CHUNK + MIN_BLOCKS;
    job->block = vertices / blocks + 1;
    TD_CHECK(TD_NEW_ZEROED(&job->decoders, (uint64_t)workers, "BVGraph decoders"));
    TD_TRY(td_pool_for(job->offsets == NULL ? NULL : pool, vertices, job->block, decode_block, job));
    TD_TRY(check_whole(job));
done:
    for (int i = 0; i < workers; i++) td_bv_decoder_destroy(job->decoders[i]);
    td_free(job->decoders);
    return status;
}

static td_status read(const char *path, td_edge_list *edges, td_pool *pool)
{
    td_status status = TD_OK;
    bv_files files = {0};
    td_bv_shape shape;
    uint64_t *offsets = NULL;
    TD_TRY(name_files(path, &files));
    TD_TRY(load_shape(files.properties, &shape));
    TD_TRY(td_input_open_plain(&files.graph_input, files.graph));
    TD_TRY(check_length(&files, &shape));
    TD_TRY(read_offsets(&files, &shape, &offsets));
    edges->declared = true;
    edges->vertices = shape.vertices;
    decoding job = {.files = &files, .shape = &shape, .offsets = offsets, .edges = edges};
    TD_TRY(decode_all(&job, pool));
done:
    td_free(offsets);
    close_files(&files);
    return status;
}

const td_format td_format_bvgraph = {
    .name = "bvgraph",
    .description = "WebGraph BVGraph (x.graph, x.properties, optional x.offsets)",
    .suffixes = "graph properties",
    .recognise = recognise,
    .read = read,
    .streams = true,
};
