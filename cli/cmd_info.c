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

#include "base/clock.h"
#include "base/size.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct info_settings {
    td_common common;
    const char *format, *columns, *partition;
    bool check, paths;
    td_arg_pairs set;
} info_settings;

#define OPTION(...) TD_OPTION(info_settings, __VA_ARGS__)

static const td_arg_option options[] = {
    OPTION("check", FLAG, check, NULL, "verify all checksums and properties, and count loops and parallel edges"),
    OPTION("format", TEXT, format, "F", "format of the file (default: recognised)"),
    OPTION("columns", TEXT, columns, "LIST",
           "the columns of an edge list: source, target, weight, and _ for others (source,target,_,weight)"),
    OPTION("partition", TEXT, partition, "P:N", "cut the graph into N fragments (1 to 16) by seg, random or metis, and "
           "count edges, cut edges and mirrors"),
    OPTION("paths", FLAG, paths, NULL, "divide the graph into directed paths and count them, their dependencies and "
           "their partitions"),
    OPTION("set", PAIRS, set, "KEY=VALUE", "a setting of --paths: paths.merge=free; may be repeated"),
    {0},
};

typedef struct inspection {
    const char *path;
    bool checked;
    td_session *session;
    td_graph *graph;
    td_file_facts file;
    td_packed_facts packed; /* of the file, or of the .tg that the graph would give */
    td_graph_counts counts;
    uint64_t digest;
    double seconds;
    const char *cut_by; /* --partition, or NULL */
    td_partition_info cut;
    bool by_paths; /* --paths */
    td_paths_info paths;
} inspection;

/* A .tg is mapped unless --partition or --paths needs every edge. */
static td_status open_graph(inspection *job, const info_settings *s)
{
    bool mapped = job->file.packed && job->cut_by == NULL && !job->by_paths;
    td_graph_options wanted = {.size = sizeof wanted, .format = job->file.format, .check = s->check, .columns = s->columns,
                               .edges = mapped ? TD_PLACE_MAPPED : TD_PLACE_MEMORY};
    return td_graph_open(job->session, job->path, &wanted, &job->graph);
}

static td_status inspect(inspection *job, const info_settings *s)
{
    uint64_t start = td_clock_ns();
    if (s->format != NULL) TD_CHECK(td_format_check(s->format));
    TD_CHECK(td_common_session(&s->common, &job->session));
    TD_CHECK(td_file_describe(job->path, s->format, &job->file));
    bool full = s->check || !job->file.packed;
    job->checked = s->check;
    TD_CHECK(open_graph(job, s));
    TD_CHECK(td_graph_count(job->session, job->graph, full, &job->counts));
    if (full) TD_CHECK(td_graph_digest_of(job->session, job->graph, &job->digest));
    TD_CHECK(td_graph_packed(job->session, job->graph, &job->packed));
    if (job->cut_by != NULL) TD_CHECK(td_info_partition(job->session, job->graph, job->cut_by, &job->cut));
    if (job->by_paths) TD_CHECK(td_info_paths(job->session, job->graph, &s->set, &job->paths));
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

static void print_name(const char *before, const char *name, const char *after)
{
    printf("%s", before);
    td_print_path(name);
    printf("%s", after);
}

static void print_names(const td_graph *graph)
{
    printf("%-12s names", "ids");
    print_name(", from '", td_graph_vertex_name(graph, 0), "'");
    print_name(" to '", td_graph_vertex_name(graph, td_graph_vertices(graph) - 1), "'\n");
}

static void print_vertex(const td_graph *graph, uint32_t vertex)
{
    const char *name = td_graph_vertex_name(graph, vertex);
    if (name == NULL) printf("(vertex %" PRIu64 ")", td_graph_vertex_id(graph, vertex));
    else print_name("(vertex '", name, "')");
}

static void print_ids(const inspection *job)
{
    static const char *const order[] = {[TD_IDS_RANGE] = "", [TD_IDS_ASCENDING] = ", with gaps"};
    const td_graph_counts *counts = &job->counts;
    if (td_graph_vertices(job->graph) == 0) return;
    if (td_graph_vertex_name(job->graph, 0) != NULL) print_names(job->graph);
    else if (counts->ids == TD_IDS_UNORDERED) printf("%-12s given, in no order\n", "ids");
    else printf("%-12s %" PRIu64 "..%" PRIu64 "%s\n", "ids", counts->lowest_id, counts->highest_id, order[counts->ids]);
}

static void print_max_degree(const inspection *job)
{
    const td_degree_facts *out = &job->counts.out, *in = &job->counts.in;
    bool symmetric = td_graph_symmetric(job->graph);
    char text[TD_NUMBER_BYTES];
    if (out->max_vertex == TD_NO_VERTEX) return;
    printf("%-12s %s%s ", "max degree", symmetric ? "" : "out ", td_format_count(text, out->max));
    print_vertex(job->graph, out->max_vertex);
    if (!symmetric && job->counts.has_in) {
        printf(", in %s ", td_format_count(text, in->max));
        print_vertex(job->graph, in->max_vertex);
    }
    printf("\n");
}

static void print_file(const inspection *job)
{
    char size[TD_NUMBER_BYTES];
    td_format_facts format = {.size = sizeof format};
    td_print_path(td_shown_path(job->path));
    printf("\n");
    if (td_format_describe(job->file.format, &format) == TD_OK)
        printf("%-12s %s, %s\n", "format", format.description, td_format_size(size, job->file.bytes));
    if (job->file.stripes > 0) printf("%-12s %" PRIu32 "\n", "stripes", job->file.stripes);
}

/* What needs every edge. */
static void print_counted(const inspection *job)
{
    uint64_t edges = td_graph_edges(job->graph);
    print_share("loops", job->counts.loops, edges, "edges from a vertex to itself");
    print_share("parallel", job->counts.parallel, edges, "edges beyond the first of a pair");
    printf("%-12s %016" PRIx64 "\n", "digest", job->digest);
}

static void print_facts(const inspection *job)
{
    const td_graph_counts *counts = &job->counts;
    uint64_t vertices = td_graph_vertices(job->graph);
    char count[TD_NUMBER_BYTES], weights[TD_GRAPH_TEXT];
    print_file(job);
    print_count("vertices", vertices);
    printf("%-12s %s directed, %.2f per vertex\n", "edges", td_format_count(count, td_graph_edges(job->graph)),
           counts->average_degree);
    printf("%-12s %s\n", "weights", td_weights_text(weights, job->graph));
    printf("%-12s %s\n", "symmetric", td_graph_symmetric(job->graph) ? "yes, stored once" : "no");
    print_ids(job);
    print_max_degree(job);
    print_share("sinks", counts->sinks, vertices, "without out-edges");
    if (counts->has_in) {
        print_share("sources", counts->sources, vertices, "without in-edges");
        print_share("isolated", counts->isolated, vertices, "without any edge");
    }
    if (counts->counted) print_counted(job);
    if (job->file.packed) printf("%-12s %016" PRIx64 "\n", "checksum", job->file.checksum);
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

static uint64_t largest_bucket(const td_degree_facts *degrees)
{
    uint64_t largest = 1;
    for (int i = 0; i < degrees->bucket_count; i++)
        if (degrees->buckets[i] > largest) largest = degrees->buckets[i];
    return largest;
}

static void print_bucket(const td_degree_facts *degrees, int bucket, int width, bool last)
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
    const td_degree_facts *out = &job->counts.out, *in = &job->counts.in;
    bool symmetric = td_graph_symmetric(job->graph), both = job->counts.has_in && !symmetric;
    int width = both ? TWO : ONE, rows = out->bucket_count;
    if (both && in->bucket_count > rows) rows = in->bucket_count;
    printf("\n%-12s  %13s", "degree", symmetric ? "vertices" : "out: vertices");
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
    const td_packed_facts *packed = &job->packed;
    char size[TD_NUMBER_BYTES];
    printf("\n%-14s %12s\n", job->file.packed ? "section" : "as a .tg", "bytes");
    for (int i = 0; i < packed->sections; i++)
        printf("%-14s %12s  %5.1f%%\n", packed->section[i].name, td_format_size(size, packed->section[i].bytes),
               100 * share_of(packed->section[i].bytes, packed->bytes));
    printf("%-14s %12s\n", "file", td_format_size(size, packed->bytes));
}

/* Temporary files of building the graph out of memory from this file; a .tg has the vertices' ids. */
static uint64_t temporary_of(const inspection *job)
{
    return job->packed.temporary + (job->file.packed ? 0 : job->packed.temporary_ids);
}

static void print_build(const inspection *job)
{
    const td_packed_facts *packed = &job->packed;
    char text[TD_NUMBER_BYTES];
    printf("\n%-14s %12s  to hold all of it\n", "memory", td_format_size(text, packed->load));
    printf("%-14s %12s  to build it in memory\n", "", td_format_size(text, packed->build));
    printf("%-14s %12s  at least, to build it out of memory (--memory)\n", "",
           td_format_size(text, packed->build_least));
    printf("%-14s %12s  for that, beside the output or in --temp\n", "temporary",
           td_format_size(text, temporary_of(job)));
}

static void report_build(td_json *json, const inspection *job)
{
    td_json_object(json, "build");
    td_json_u64(json, "load_bytes", job->packed.load);
    td_json_u64(json, "build_bytes", job->packed.build);
    td_json_u64(json, "build_least_bytes", job->packed.build_least);
    td_json_u64(json, "build_temporary_bytes", temporary_of(job));
    td_json_end_object(json);
}

static void report_degrees(td_json *json, const char *key, const td_graph *graph, const td_degree_facts *degrees)
{
    td_json_object(json, key);
    td_json_u64(json, "max", degrees->max);
    if (degrees->max_vertex != TD_NO_VERTEX) td_json_u64(json, "max_vertex", td_graph_vertex_id(graph, degrees->max_vertex));
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

static void report_sections(td_json *json, const td_packed_facts *packed)
{
    td_json_u64(json, "packed_bytes", packed->bytes);
    td_json_array(json, "sections");
    for (int i = 0; i < packed->sections; i++) {
        td_json_row(json, NULL);
        td_json_string(json, "name", packed->section[i].name);
        td_json_u64(json, "bytes", packed->section[i].bytes);
        td_json_end_object(json);
    }
    td_json_end_array(json);
}

static void report_counts(td_json *json, const inspection *job)
{
    const td_graph_counts *counts = &job->counts;
    td_json_real(json, "average_degree", counts->average_degree);
    td_json_u64(json, "sinks", counts->sinks);
    td_json_real(json, "sinks_share", share_of(counts->sinks, td_graph_vertices(job->graph)));
    if (counts->has_in) {
        td_json_u64(json, "sources", counts->sources);
        td_json_u64(json, "isolated", counts->isolated);
    }
    report_degrees(json, "out_degrees", job->graph, &counts->out);
    if (counts->has_in) report_degrees(json, "in_degrees", job->graph, &counts->in);
    if (!counts->counted) return;
    td_json_u64(json, "loops", counts->loops);
    td_json_u64(json, "parallel", counts->parallel);
    td_json_hex(json, "digest", job->digest);
}

static void report(td_json *json, const inspection *job)
{
    td_json_string(json, "file", td_shown_path(job->path));
    td_json_string(json, "format", job->file.format);
    td_json_u64(json, "file_bytes", job->file.bytes);
    if (job->file.packed) td_json_u64(json, "stripes", job->file.stripes);
    td_graph_json(json, job->graph);
    report_counts(json, job);
    if (job->file.packed) td_json_hex(json, "checksum", job->file.checksum);
    td_json_bool(json, "checked", job->checked);
    report_sections(json, &job->packed);
    report_build(json, job);
    td_json_real(json, "seconds", job->seconds);
    td_memory_json(json, job->graph, td_memory_peak());
}

static td_status show(const inspection *job, const td_common *common, td_report *out)
{
    if (td_report_leaves_stdout(common)) {
        print_facts(job);
        print_degrees(job);
        print_sections(job);
        TD_CHECK(td_print_needs(job->session, job->graph));
        print_build(job);
        if (job->file.packed) td_print_prepared(job->path);
        if (job->cut_by != NULL) td_print_partition(&job->cut, job->cut_by, job->graph);
        if (job->by_paths) td_print_paths(&job->paths, job->graph);
    }
    if (common->json == NULL) return TD_OK;
    TD_CHECK(td_report_begin(out, common->json, "info", td_session_threads(job->session)));
    report(&out->json, job);
    if (job->file.packed) td_prepared_json(&out->json, job->path);
    if (job->cut_by != NULL) td_partition_json(&out->json, &job->cut, job->cut_by);
    if (job->by_paths) td_paths_json(&out->json, &job->paths, job->graph);
    return td_needs_json(&out->json, job->session, job->graph);
}

static td_status run_info(const td_args *args, void *settings)
{
    const info_settings *s = settings;
    inspection job = {.path = args->words[0], .cut_by = s->partition, .by_paths = s->paths, .file.size = sizeof job.file,
                      .packed.size = sizeof job.packed, .counts.size = sizeof job.counts};
    td_report out = {0};
    if (s->partition != NULL) TD_CHECK(td_info_check_partition(s->partition));
    if (s->set.count > 0 && !s->paths) return td_fail(TD_USAGE, "--set is for the settings of --paths");
    TD_CHECK(td_report_check_target(&s->common, job.path));
    TD_CHECK(td_standard_input_take(&job.path, NULL, NULL));
    td_status status = inspect(&job, s);
    if (status == TD_OK) status = show(&job, &s->common, &out);
    td_graph_destroy(job.graph);
    td_session_destroy(job.session);
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
               "contents: packing the same graph twice gives the same checksum. The digest identifies the graph: it is "
               "the same in every format. --partition reads the whole file and adds a table of the fragments for several "
               "GPUs: vertices, edges (entries of the vertices' lists, out and in), cut edges, whose other end is in "
               "another fragment, and mirrors, the distinct other ends. --paths reads the whole file, too, and adds the "
               "figures of the paths, from a prepared layout ('tandem prepare') if there is one.",
    .examples = "tandem info web.tg\n"
                "tandem info web.tg --check\n"
                "tandem info web.tg --partition seg:8\n"
                "tandem info web.tg --paths --set paths.merge=free\n"
                "tandem info --json soc-Epinions1.txt.xz",
};
