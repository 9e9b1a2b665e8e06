#include "outside.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/size.h"
#include "graph_text.h"
#include "output.h"

#include <math.h>
#include <string.h>

/* Peak memory of the builder in memory (docs/performance.md): the edge list, and two sets of buckets or the buckets and
 * the rows. */
enum { BYTES_PER_EDGE = 28, BYTES_PER_WEIGHT = 16, BYTES_PER_VERTEX = 40 };
enum { INSIDE_BYTES = 1 << 20, INSIDE_THREAD_BYTES = 2 << 20 }; /* in addition, for a graph of any size */

double td_inside_bytes(uint64_t vertices, uint64_t edges, bool weighted, const td_build_options *build)
{
    uint64_t per_edge = BYTES_PER_EDGE;
    if (weighted && !build->drop_weights) per_edge += BYTES_PER_WEIGHT;
    if (build->attach_weights) per_edge += BYTES_PER_WEIGHT / 2;
    if (build->symmetrize) per_edge *= 2;
    return (double)edges * (double)per_edge + (double)vertices * BYTES_PER_VERTEX;
}

/* An edge takes at least four bytes of a text ("1 2" and a line end), a few bits of a compressed one. The length of a
 * file says nothing if the graph has several files. */
uint64_t td_most_edges(const char *path, const td_format *format)
{
    enum { BYTES = 4, PER_COMPRESSED_BYTE = 3 };
    if (format == &td_format_bvgraph || format == &td_format_graphalytics) return UINT64_MAX;
    return td_file_compressed(path) ? td_file_bytes(path) * PER_COMPRESSED_BYTE : td_file_bytes(path) / BYTES;
}

static double with_buffers(double inside_bytes, int threads)
{
    return inside_bytes + INSIDE_BYTES + (double)threads * INSIDE_THREAD_BYTES;
}

/* Memory to read and build a file, or to load a packed one. */
static double reading_bytes(const char *path, const td_format *format, const td_build_options *build)
{
    td_packed *packed = NULL;
    if (format != &td_format_tg) return td_inside_bytes(0, td_most_edges(path, format), true, build);
    if (td_packed_open(&packed, path) != TD_OK) return INFINITY;
    const td_packed_info *info = td_packed_describe(packed);
    double bytes = td_inside_bytes(info->vertices, info->edges, info->weights != TD_WEIGHT_NONE, build);
    td_packed_close(packed);
    return bytes;
}

td_status td_inside_too_small(const char *path, const td_format *format, const td_build_options *build, int threads)
{
    char enough[TD_NUMBER_BYTES];
    double needs = with_buffers(reading_bytes(path, format, build), threads);
    if (td_memory().budget == 0 || needs >= 0x1p62 || needs <= (double)td_memory().budget) return TD_NO_MEMORY;
    return td_fail_add(TD_NO_MEMORY, ": %s is enough to read %s", td_format_least(enough, (uint64_t)needs), path);
}

bool td_outside_needed(uint64_t vertices, uint64_t edges, bool weighted, const td_build_options *build)
{
    uint64_t budget = td_memory().budget;
    return budget != 0 && td_inside_bytes(vertices, edges, weighted, build) > (double)budget;
}

/* Includes the memory of the process itself as it was at the first call: a failed attempt has mapped more, which the
 * next attempt does not need. */
uint64_t td_outside_bytes(int threads)
{
    static uint64_t besides;
    if (besides == 0) besides = td_machine_besides();
    return td_external_least(threads) + besides + (1 << 20);
}

bool td_outside_possible(int threads) { return td_memory().budget >= td_outside_bytes(threads); }

td_status td_outside_too_small(double inside_bytes, const char *output, int threads, bool may_go_outside)
{
    char given[TD_NUMBER_BYTES], least[TD_NUMBER_BYTES];
    double inside = with_buffers(inside_bytes, threads), outside = (double)td_outside_bytes(threads);
    bool smaller = may_go_outside && outside < inside;
    double needs = smaller ? outside : inside;
    td_format_size(given, td_memory().budget);
    if (needs >= 0x1p62) return TD_NO_MEMORY; /* unknown; the message at hand says what was too large */
    td_format_least(least, (uint64_t)needs);
    td_refusal refusal = td_memory_refusal((uint64_t)needs);
    return td_refuse(&refusal, "making %s with %d thread%s needs at least --memory %s%s; %s given",
                     strcmp(output, "-") == 0 ? "the graph" : output, threads, threads == 1 ? "" : "s", least,
                     smaller && threads > 1 ? " (less with fewer --threads)" : "", given);
}

td_status td_outside_build(td_outside *self, const char *name, td_edge_source_fn source, void *context)
{
    td_external_settings settings = {.path = self->output, .stripes = self->stripes, .temporary = self->temporary,
                                     .build = self->build, .memory = td_memory().budget,
                                     .expected_edges = self->expected_edges, .ids_of = self->ids_of,
                                     .pool = self->pool};
    TD_CHECK(td_external_build(&settings, name, source, context, &self->report));
    return td_packed_map(&self->graph, self->output);
}

void td_outside_show(const td_outside *self)
{
    const td_external_report *report = &self->report;
    char memory[TD_NUMBER_BYTES], temporary[TD_NUMBER_BYTES], resident[TD_NUMBER_BYTES];
    td_info("built out of memory, within %s: read and bucketed %.3f s, by source %.3f s, by target %.3f s, finished "
            "%.3f s", td_format_size(memory, td_memory().budget), report->fill_seconds, report->out_seconds,
            report->in_seconds, report->finish_seconds);
    td_info("%s of temporary files; peak resident memory %s", td_format_size(temporary, report->temporary_bytes),
            td_format_size(resident, td_machine_peak_resident()));
}

void td_outside_json(td_json *json, const td_outside *self)
{
    const td_external_report *report = &self->report;
    td_json_object(json, "out_of_memory");
    td_json_u64(json, "memory", td_memory().budget);
    td_json_u64(json, "edges_read", report->edges_read);
    td_json_u64(json, "temporary_bytes", report->temporary_bytes);
    td_json_real(json, "fill_seconds", report->fill_seconds);
    td_json_real(json, "out_seconds", report->out_seconds);
    td_json_real(json, "in_seconds", report->in_seconds);
    td_json_real(json, "finish_seconds", report->finish_seconds);
    td_json_end_object(json);
}
