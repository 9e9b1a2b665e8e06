/* `tandem info`: the contents of a graph file.
 *
 * A packed file is mapped, and only its header, its offsets and its ids are read and verified, so
 * that the command takes no time; counts that need every edge (loops, parallel edges, the digest)
 * need --check. Any other file is read whole, and so is a packed one for --partition and --paths. */
#include "command.h"
#include "graph_text.h"
#include "info_needs.h"
#include "info_partition.h"
#include "info_paths.h"
#include "output.h"
#include "report.h"
#include "standard_input.h"
#include "text.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/machine.h"
#include "base/size.h"
#include "base/pool.h"
#include "store/build_bytes.h"
#include "store/external.h"
#include "store/formats/format.h"
#include "store/graph_stats.h"
#include "store/packed.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct info_settings {
    td_common common;
    const char *format, *partition;
    bool check, paths;
    td_arg_pairs set;
} info_settings;

#define OPTION(...) TD_OPTION(info_settings, __VA_ARGS__)

static const td_arg_option options[] = {
    OPTION("check", FLAG, check, NULL, "verify all checksums and properties, and count loops and parallel edges"),
    OPTION("format", TEXT, format, "F", "format of the file (default: recognised)"),
    OPTION("partition", TEXT, partition, "P:N", "cut the graph into N fragments (1 to 16) by seg, random or metis, and "
           "count edges, cut edges and mirrors"),
    OPTION("paths", FLAG, paths, NULL, "divide the graph into directed paths and count them, their dependencies and "
           "their partitions"),
    OPTION("set", PAIRS, set, "KEY=VALUE", "a setting of --paths: paths.merge=free; may be repeated"),
    {0},
};

typedef struct inspection {
    const char *path;
    const td_format *format;
    bool packed, full, checked;
    td_pool *pool;
    td_graph *graph;
    td_packed_info file; /* facts of the packed file, or of the one that the graph would give */
    td_graph_stats stats;
    uint64_t digest;
    double seconds;
    const char *cut_by; /* --partition, or NULL */
    td_partition_info cut;
    bool by_paths; /* --paths */
    td_paths_info paths;
} inspection;

/* The checksums of a section include the zeros that follow it in the mapping. */
static td_status verify_section(const td_packed *file, td_section_kind kind, const void *data)
{
    const td_section *section = &td_packed_describe(file)->sections[kind];
    uint64_t padded = (section->bytes + TD_PACKED_ALIGN - 1) / TD_PACKED_ALIGN * TD_PACKED_ALIGN;
    return section->element > 0 ? td_packed_verify(file, kind, 0, data, padded) : TD_OK;
}

static td_status open_packed(inspection *job)
{
    td_status status = TD_OK;
    td_packed *file = NULL;
    TD_CHECK(td_packed_open(&file, job->path));
    job->file = *td_packed_describe(file);
    if (job->cut_by != NULL || job->by_paths) { /* needs every edge; loading verifies all that it reads */
        TD_TRY(td_packed_load(&job->graph, job->path, job->pool));
        goto done;
    }
    TD_TRY(td_packed_map(&job->graph, job->path));
    TD_TRY(td_packed_load_checksums(file));
    TD_TRY(verify_section(file, TD_SECTION_OUT_OFFSETS, job->graph->out.offsets));
    TD_TRY(verify_section(file, TD_SECTION_IN_OFFSETS, job->graph->in.offsets));
    TD_TRY(verify_section(file, TD_SECTION_IDS, job->graph->ids));
done:
    td_packed_close(file);
    return status;
}

static td_status open_other(inspection *job)
{
    td_build_options plain = {0};
    td_status status = td_graph_read(&job->graph, job->path, job->format->name, NULL, job->pool);
    if (status == TD_NO_MEMORY)
        return td_inside_too_small(job->path, job->format, &plain, td_pool_threads(job->pool));
    TD_CHECK(status);
    job->file = td_packed_plan(job->graph);
    return TD_OK;
}

static td_status choose_format(inspection *job, const char *name)
{
    if (name == NULL) return td_format_detect(job->path, &job->format);
    TD_CHECK(td_format_check(name));
    job->format = td_format_named(name);
    return TD_OK;
}

static td_status inspect(inspection *job, const info_settings *s)
{
    uint64_t start = td_clock_ns();
    TD_CHECK(choose_format(job, s->format));
    TD_CHECK(td_pool_create(&job->pool, (int)s->common.threads));
    job->packed = job->format == &td_format_tg;
    job->full = s->check || !job->packed;
    if (s->check && job->packed) TD_CHECK(td_packed_check(job->path, job->pool));
    TD_CHECK(job->packed ? open_packed(job) : open_other(job));
    if (s->check && !job->packed) TD_CHECK(td_graph_check(job->graph, job->pool));
    job->checked = s->check;
    if (job->full) {
        TD_CHECK(td_graph_stats_collect(job->graph, job->pool, &job->stats));
        TD_CHECK(td_graph_digest(job->graph, job->pool, &job->digest));
    } else {
        TD_CHECK(td_graph_stats_degrees(job->graph, job->pool, &job->stats));
    }
    if (job->cut_by != NULL) TD_CHECK(td_info_partition(job->graph, job->cut_by, &s->common, &job->cut));
    if (job->by_paths) TD_CHECK(td_info_paths(job->graph, &s->set, &s->common, &job->paths));
    job->seconds = td_seconds_since(start);
    return TD_OK;
}

static double share_of(uint64_t part, uint64_t whole) { return whole > 0 ? (double)part / (double)whole : 0; }

static void print_count(const char *label, uint64_t count)
{
    char text[TD_NUMBER_BYTES];
    printf("%-12s %s\n", label, td_format_count(text, count));
}

static void print_share(const char *label, uint64_t count, uint64_t whole, const char *meaning)
{
    char text[TD_NUMBER_BYTES];
    printf("%-12s %s (%.1f%%) %s\n", label, td_format_count(text, count), 100 * share_of(count, whole), meaning);
}

static void print_ids(const td_graph *graph)
{
    if (graph->vertices == 0) return;
    if (graph->ids == NULL)
        printf("%-12s %" PRIu64 "..%" PRIu64 "\n", "ids", graph->id_base, graph->id_base + graph->vertices - 1);
    else if (graph->ids_sorted)
        printf("%-12s %" PRIu64 "..%" PRIu64 ", with gaps\n", "ids", graph->ids[0], graph->ids[graph->vertices - 1]);
    else
        printf("%-12s given, in no order\n", "ids");
}

static void print_max_degree(const inspection *job)
{
    const td_graph *graph = job->graph;
    const td_degree_stats *out = &job->stats.out, *in = &job->stats.in;
    char text[TD_NUMBER_BYTES];
    if (out->max_vertex == TD_NO_VERTEX) return;
    printf("%-12s %s%s (vertex %" PRIu64 ")", "max degree", graph->symmetric ? "" : "out ",
           td_format_count(text, out->max), td_graph_id(graph, out->max_vertex));
    if (!graph->symmetric && job->stats.has_in)
        printf(", in %s (vertex %" PRIu64 ")", td_format_count(text, in->max), td_graph_id(graph, in->max_vertex));
    printf("\n");
}

static void print_facts(const inspection *job)
{
    const td_graph *graph = job->graph;
    char size[TD_NUMBER_BYTES], count[TD_NUMBER_BYTES], weights[TD_GRAPH_TEXT];
    printf("%s\n", td_shown_path(job->path));
    printf("%-12s %s, %s\n", "format", job->format->description, td_format_size(size, td_graph_file_bytes(job->path)));
    if (job->file.stripes > 0) printf("%-12s %" PRIu32 "\n", "stripes", job->file.stripes);
    print_count("vertices", graph->vertices);
    printf("%-12s %s directed, %.2f per vertex\n", "edges", td_format_count(count, graph->edges),
           job->stats.average_degree);
    printf("%-12s %s\n", "weights", td_weights_text(weights, graph));
    printf("%-12s %s\n", "symmetric", graph->symmetric ? "yes, stored once" : "no");
    print_ids(graph);
    print_max_degree(job);
    print_share("sinks", job->stats.sinks, graph->vertices, "without out-edges");
    if (job->stats.has_in) {
        print_share("sources", job->stats.sources, graph->vertices, "without in-edges");
        print_share("isolated", job->stats.isolated, graph->vertices, "without any edge");
    }
    if (job->full) {
        print_share("loops", job->stats.loops, graph->edges, "edges from a vertex to itself");
        print_share("parallel", job->stats.parallel, graph->edges, "edges beyond the first of a pair");
        printf("%-12s %016" PRIx64 "\n", "digest", job->digest);
    }
    if (job->packed) printf("%-12s %016" PRIx64 "\n", "checksum", job->file.build_id);
    if (job->checked) printf("%-12s passed\n", "check");
}

/* "0", "1", "2-3", "4-7", ...; large ones as powers of two. */
static char *bucket_label(char text[TD_NUMBER_BYTES], int bucket)
{
    uint64_t low = bucket == 0 ? 0 : UINT64_C(1) << (bucket - 1);
    if (bucket < 2) snprintf(text, TD_NUMBER_BYTES, "%d", bucket);
    else if (bucket < 18) snprintf(text, TD_NUMBER_BYTES, "%" PRIu64 "-%" PRIu64, low, 2 * low - 1);
    else snprintf(text, TD_NUMBER_BYTES, "2^%d..", bucket - 1);
    return text;
}

static uint64_t largest_bucket(const td_degree_stats *degrees)
{
    uint64_t largest = 1;
    for (int i = 0; i < degrees->bucket_count; i++)
        if (degrees->buckets[i] > largest) largest = degrees->buckets[i];
    return largest;
}

static void print_bucket(const td_degree_stats *degrees, int bucket, int width, bool last)
{
    char count[TD_NUMBER_BYTES];
    uint64_t vertices = degrees->buckets[bucket];
    printf("  %13s", td_format_count(count, vertices));
    if (last && vertices == 0) return;
    printf(" ");
    td_print_bar(share_of(vertices, largest_bucket(degrees)), width, !last);
}

/* One column of bars, or two side by side when the directions differ. */
static void print_degrees(const inspection *job)
{
    enum { ONE = 48, TWO = 15 };
    const td_degree_stats *out = &job->stats.out, *in = &job->stats.in;
    bool both = job->stats.has_in && !job->graph->symmetric;
    int width = both ? TWO : ONE, rows = out->bucket_count;
    if (both && in->bucket_count > rows) rows = in->bucket_count;
    printf("\n%-12s  %13s", "degree", job->graph->symmetric ? "vertices" : "out: vertices");
    if (both) printf(" %*s  %13s", width, "", "in: vertices");
    printf("\n");
    for (int i = 0; i < rows; i++) {
        char label[TD_NUMBER_BYTES];
        printf("%-12s", bucket_label(label, i));
        print_bucket(out, i, width, !both);
        if (both) print_bucket(in, i, width, true);
        printf("\n");
    }
}

static void print_sections(const inspection *job)
{
    char size[TD_NUMBER_BYTES];
    printf("\n%-14s %12s\n", job->packed ? "section" : "as a .tg", "bytes");
    for (int i = 0; i < TD_SECTIONS; i++) {
        const td_section *section = &job->file.sections[i];
        if (section->element == 0) continue;
        printf("%-14s %12s  %5.1f%%\n", td_section_name((td_section_kind)i), td_format_size(size, section->bytes),
               100 * share_of(section->bytes, job->file.file_bytes));
    }
    printf("%-14s %12s\n", "file", td_format_size(size, job->file.file_bytes));
}

/* Memory that the graph needs, without the values of programs. */
typedef struct needs {
    uint64_t load;      /* to load it */
    uint64_t build;     /* to build it in memory */
    uint64_t least;     /* minimum to build it out of memory with the command's threads */
    uint64_t temporary; /* temporary files of the latter */
} needs;

static uint64_t highest_id(const td_graph *graph)
{
    uint64_t highest = 0;
    for (uint32_t v = 0; v < graph->vertices; v++) {
        uint64_t id = td_graph_id(graph, v);
        if (id > highest) highest = id;
    }
    return highest;
}

static needs needs_of(const inspection *job)
{
    const td_packed_info *file = &job->file;
    td_build_options plain = {0};
    needs n = {.least = td_outside_bytes(td_pool_threads(job->pool)),
               .temporary = td_external_temporary(file)};
    if (!job->packed) n.temporary += td_external_ids_temporary(file, highest_id(job->graph));
    for (int i = 0; i <= TD_SECTION_IN_WEIGHTS; i++) n.load += file->sections[i].bytes;
    n.load += file->sections[TD_SECTION_IDS].bytes;
    bool weighted = file->weights != TD_WEIGHT_NONE;
    n.build = (uint64_t)td_inside_bytes(file->vertices, file->edges, weighted, &plain);
    return n;
}

static void print_needs(const inspection *job)
{
    needs n = needs_of(job);
    char text[TD_NUMBER_BYTES];
    printf("\n%-14s %12s  to hold all of it\n", "memory", td_format_size(text, n.load));
    printf("%-14s %12s  to build it in memory\n", "", td_format_size(text, n.build));
    printf("%-14s %12s  at least, to build it out of memory (--memory)\n", "", td_format_size(text, n.least));
    printf("%-14s %12s  for that, beside the output or in --temp\n", "temporary", td_format_size(text, n.temporary));
}

static void report_needs(td_json *json, const inspection *job)
{
    needs n = needs_of(job);
    td_json_object(json, "needs");
    td_json_u64(json, "load_bytes", n.load);
    td_json_u64(json, "build_bytes", n.build);
    td_json_u64(json, "build_least_bytes", n.least);
    td_json_u64(json, "build_temporary_bytes", n.temporary);
    td_json_end_object(json);
}

static void report_degrees(td_json *json, const char *key, const td_graph *graph, const td_degree_stats *degrees)
{
    td_json_object(json, key);
    td_json_u64(json, "max", degrees->max);
    if (degrees->max_vertex != TD_NO_VERTEX) td_json_u64(json, "max_vertex", td_graph_id(graph, degrees->max_vertex));
    td_json_array(json, "histogram");
    for (int i = 0; i < degrees->bucket_count; i++) {
        td_json_row(json, NULL);
        td_json_u64(json, "from", i == 0 ? 0 : UINT64_C(1) << (i - 1));
        td_json_u64(json, "to", i == 0 ? 0 : (UINT64_C(1) << (i - 1)) * 2 - 1);
        td_json_u64(json, "vertices", degrees->buckets[i]);
        td_json_end_object(json);
    }
    td_json_end_array(json);
    td_json_end_object(json);
}

static void report_sections(td_json *json, const td_packed_info *file)
{
    td_json_u64(json, "packed_bytes", file->file_bytes);
    td_json_array(json, "sections");
    for (int i = 0; i < TD_SECTIONS; i++) {
        if (file->sections[i].element == 0) continue;
        td_json_row(json, NULL);
        td_json_string(json, "name", td_section_name((td_section_kind)i));
        td_json_u64(json, "bytes", file->sections[i].bytes);
        td_json_end_object(json);
    }
    td_json_end_array(json);
}

static void report(td_json *json, const inspection *job)
{
    const td_graph *graph = job->graph;
    const td_graph_stats *stats = &job->stats;
    td_json_string(json, "file", td_shown_path(job->path));
    td_json_string(json, "format", job->format->name);
    td_json_u64(json, "file_bytes", td_graph_file_bytes(job->path));
    if (job->packed) td_json_u64(json, "stripes", job->file.stripes);
    td_graph_json(json, graph);
    td_json_real(json, "average_degree", stats->average_degree);
    td_json_u64(json, "sinks", stats->sinks);
    td_json_real(json, "sinks_share", share_of(stats->sinks, graph->vertices));
    if (stats->has_in) {
        td_json_u64(json, "sources", stats->sources);
        td_json_u64(json, "isolated", stats->isolated);
    }
    report_degrees(json, "out_degrees", graph, &stats->out);
    if (stats->has_in) report_degrees(json, "in_degrees", graph, &stats->in);
    if (job->full) {
        td_json_u64(json, "loops", stats->loops);
        td_json_u64(json, "parallel", stats->parallel);
        td_json_hex(json, "digest", job->digest);
    }
    if (job->packed) td_json_hex(json, "checksum", job->file.build_id);
    td_json_bool(json, "checked", job->checked);
    report_sections(json, &job->file);
    report_needs(json, job);
    td_json_real(json, "seconds", job->seconds);
    td_memory_json(json, graph, td_memory().peak);
}

static td_status show(const inspection *job, const td_common *common, td_report *out)
{
    if (td_report_leaves_stdout(common)) {
        print_facts(job);
        print_degrees(job);
        print_sections(job);
        TD_CHECK(td_print_needs(job->graph, &job->file, job->pool));
        print_needs(job);
        if (job->packed) td_print_prepared(job->path);
        if (job->cut_by != NULL) td_print_partition(&job->cut, job->cut_by, job->graph);
        if (job->by_paths) td_print_paths(&job->paths, job->graph);
    }
    if (common->json == NULL) return TD_OK;
    TD_CHECK(td_report_begin(out, common->json, "info", td_pool_threads(job->pool)));
    report(&out->json, job);
    if (job->packed) td_prepared_json(&out->json, job->path);
    if (job->cut_by != NULL) td_partition_json(&out->json, &job->cut, job->cut_by);
    if (job->by_paths) td_paths_json(&out->json, &job->paths, job->graph);
    return td_needs_json(&out->json, job->graph, &job->file, job->pool);
}

static td_status run_info(const td_args *args, void *settings)
{
    const info_settings *s = settings;
    inspection job = {.path = args->words[0], .cut_by = s->partition, .by_paths = s->paths};
    td_report out = {0};
    if (s->partition != NULL) TD_CHECK(td_info_check_partition(s->partition));
    if (s->set.count > 0 && !s->paths) return td_fail(TD_USAGE, "--set is for the settings of --paths");
    TD_CHECK(td_report_check_target(&s->common, job.path));
    TD_CHECK(td_standard_input_take(&job.path, NULL, NULL));
    td_status status = inspect(&job, s);
    if (status == TD_OK) status = show(&job, &s->common, &out);
    td_graph_destroy(job.graph);
    td_pool_destroy(job.pool);
    return td_report_end(&out, status);
}

const td_command td_cmd_info = {
    .name = "info",
    .summary = "describe a graph file: size, degrees, memory needed",
    .positional = "FILE|-",
    .least = 1,
    .most = 1,
    .options = options,
    .settings_bytes = sizeof(info_settings),
    .run = run_info,
    .details = "A .tg file is mapped, not read whole, unless --check is given. The checksum identifies the file's "
               "contents: packing the same graph twice gives the same. The digest identifies the graph: it is the "
               "same in every format. --partition reads the whole file and adds a table of what an engine on several "
               "GPUs would divide: per fragment its vertices, its edges (entries of its vertices' lists, out and in), "
               "those whose other end is in another fragment, and mirrors, which are the distinct other ends. "
               "--paths reads the whole file, too, and adds what the engine paths would work with; it takes prepared paths "
               "('tandem prepare') where there are some.",
    .examples = "tandem info web.tg\n"
                "tandem info web.tg --check\n"
                "tandem info web.tg --partition seg:8\n"
                "tandem info web.tg --paths --set paths.merge=free\n"
                "tandem info --json soc-Epinions1.txt.xz",
};
