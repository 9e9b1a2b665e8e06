#include "store/build_bytes.h"

#include "base/alloc.h"
#include "base/machine.h"
#include "base/size.h"
#include "store/external.h"
#include "store/input.h"
#include "store/packed.h"

#include <math.h>
#include <sys/stat.h>

/* Peak memory of the builder in memory (docs/performance.md): the edge list, and two sets of buckets or the buckets and
 * the rows. */
enum { BYTES_PER_EDGE = 28, BYTES_PER_WEIGHT = 16, BYTES_PER_VERTEX = 40 };
enum { BYTES_PER_DOUBLE = 8 + TD_WEIGHT_TABLE_BYTES }; /* in addition, if all weights are distinct */
enum { INSIDE_BYTES = 1 << 20, INSIDE_THREAD_BYTES = 2 << 20 }; /* in addition, for a graph of any size */

double td_inside_bytes(uint64_t vertices, uint64_t edges, bool weighted, const td_build_options *build)
{
    uint64_t per_edge = BYTES_PER_EDGE;
    if (weighted && !build->drop_weights) per_edge += BYTES_PER_WEIGHT;
    if (weighted && !build->drop_weights && build->weights_as == TD_WEIGHT_F64) per_edge += BYTES_PER_DOUBLE;
    if (build->attach_weights) per_edge += BYTES_PER_WEIGHT / 2;
    if (build->symmetrize) per_edge *= 2;
    return (double)edges * (double)per_edge + (double)vertices * BYTES_PER_VERTEX;
}

double td_inside_rebuilt(const td_packed_info *info, const td_build_options *build)
{
    td_build_options as = *build;
    if (info->weights == TD_WEIGHT_F64 && as.weights_as == TD_WEIGHT_NONE) as.weights_as = TD_WEIGHT_F64;
    return td_inside_bytes(info->vertices, info->edges, info->weights != TD_WEIGHT_NONE, &as);
}

uint64_t td_file_bytes(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && facts.st_size > 0 ? (uint64_t)facts.st_size : 0;
}

static bool compressed(const char *path)
{
    td_input *input = NULL;
    if (td_input_open(&input, path) != TD_OK) return false;
    bool compressed = td_input_compressed(input);
    td_input_close(input);
    return compressed;
}

uint64_t td_decoder_needs(const char *path)
{
    td_input *input = NULL;
    const char *head;
    size_t bytes;
    if (td_input_open(&input, path) != TD_OK) return 0;
    uint64_t needs = td_input_compressed(input) && td_input_head(input, &head, &bytes) == TD_OK
                         ? td_input_decoder_bytes(input)
                         : 0;
    td_input_close(input);
    return needs;
}

/* An edge takes at least four bytes of a text ("1 2" and a line end), and nobody knows how little of a compressed one.
 * The length of a file says nothing if the graph has several files. */
uint64_t td_most_edges(const char *path, const td_format *format)
{
    enum { BYTES = 4 };
    if (format == &td_format_bvgraph || format == &td_format_graphalytics) return UINT64_MAX;
    return compressed(path) ? UINT64_MAX : td_file_bytes(path) / BYTES;
}

/* Reading a file to learn the size of its graph: chunks are looked at and dropped. A limit that was too small for the
 * graph may be too small for that, too. */
enum { MEASURING_BYTES = 8 << 20 };

typedef struct measure {
    uint64_t lowest, highest;
    bool wide;
} measure;

static td_status look_at_chunk(void *context, td_edge_chunk *chunk, int worker)
{
    (void)worker;
    measure *self = context;
    self->wide = self->wide || chunk->wide != NULL;
    for (uint64_t i = 0; i < 2 * chunk->count; i++) {
        uint64_t id = chunk->wide != NULL ? chunk->wide[i] : chunk->ends[i];
        if (id < self->lowest) self->lowest = id;
        if (id > self->highest) self->highest = id;
    }
    return TD_OK;
}

/* Bytes of the estimate above that no graph of numbered vertices took which was measured (docs/lab/tests.md): what is left
 * is named as enough. Only ids of 64 bits take all of a vertex's part, to be sorted. */
enum { EDGE_MARGIN = 8, WEIGHT_MARGIN = 4, VERTEX_MARGIN = 16 };

static double measured_bytes(const td_edge_list *list, const measure *seen, const td_build_options *build)
{
    uint64_t edges = list->taken, span = seen->highest - seen->lowest;
    uint64_t vertices = list->declared ? list->vertices : edges > 0 && span < 2 * edges ? span + 1 : 2 * edges;
    td_build_options as = *build;
    as.symmetrize |= list->mirror;
    double bytes = td_inside_bytes(vertices, edges, list->weighted, &as), mirrored = as.symmetrize ? 2 : 1;
    if (list->names != NULL) return bytes;
    bytes -= mirrored * (double)edges * EDGE_MARGIN;
    if (list->weighted && !as.drop_weights) bytes -= mirrored * (double)edges * WEIGHT_MARGIN;
    return bytes - (seen->wide ? 0 : (double)vertices * VERTEX_MARGIN);
}

double td_inside_measured(const char *path, const td_format *format, const td_build_options *build)
{
    td_edge_list *list = NULL;
    measure seen = {.lowest = UINT64_MAX};
    double bytes = td_inside_bytes(0, td_most_edges(path, format), true, build);
    if (!format->streams || td_edges_create(&list, path) != TD_OK) return bytes;
    list->columns = build->columns;
    list->take = look_at_chunk;
    list->take_context = &seen;
    td_memory_lend(MEASURING_BYTES);
    if (td_format_read(format, path, false, list, NULL) == TD_OK) bytes = measured_bytes(list, &seen, build);
    td_memory_lend(-(int64_t)MEASURING_BYTES);
    td_edges_destroy(list);
    return bytes;
}

double td_inside_with_decoder(double inside_bytes, uint64_t decoder_bytes)
{
    enum { LIST_SHARE = 3 }; /* of the builder's memory, at most, are the edges as they were read */
    double reading = inside_bytes / LIST_SHARE + (double)decoder_bytes;
    return reading > inside_bytes ? reading : inside_bytes;
}

double td_inside_with_buffers(double inside_bytes, int threads)
{
    double needs = inside_bytes + INSIDE_BYTES + (double)threads * INSIDE_THREAD_BYTES;
    double least = 2.0 * TD_PROCESS_BYTES; /* smaller limits cannot be kept (td_memory_apply_limit) */
    return td_memory_counts_process() && needs < least ? least : needs;
}

/* Memory to read and build a file, or to load a packed one. */
static double reading_bytes(const char *path, const td_format *format, const td_build_options *build)
{
    td_packed *packed = NULL;
    if (format != &td_format_tg)
        return td_inside_with_decoder(td_inside_measured(path, format, build), td_decoder_needs(path));
    if (td_packed_open(&packed, path) != TD_OK) return INFINITY;
    const td_packed_info *info = td_packed_describe(packed);
    double bytes = td_inside_rebuilt(info, build);
    td_packed_close(packed);
    return bytes;
}

td_status td_inside_too_small(const char *path, const td_format *format, const td_build_options *build, int threads)
{
    char enough[TD_NUMBER_BYTES];
    td_failure failed;
    td_failure_keep(&failed); /* which measuring may replace */
    double needs = td_inside_with_buffers(reading_bytes(path, format, build), threads);
    td_failure_set(&failed);
    if (td_memory().budget == 0 || needs >= 0x1p62 || needs <= (double)td_memory().budget) return TD_NO_MEMORY;
    td_refusal refusal = td_memory_refusal((uint64_t)needs);
    td_refusal_set(&refusal);
    return td_fail_add(TD_NO_MEMORY, ": %s is enough to read %s", td_format_least(enough, (uint64_t)needs), path);
}

/* Includes the memory of the process itself as it was at the first call:
 * a failed attempt has mapped more, which the next attempt does not need. */
uint64_t td_outside_bytes(int threads)
{
    static uint64_t besides;
    if (besides == 0) besides = td_machine_besides();
    return td_external_least(threads) + besides + (1 << 20);
}
