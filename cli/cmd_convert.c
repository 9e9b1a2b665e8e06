/* `tandem convert`: reads a graph file and writes another. Phases: read, build, reorder if requested, write. */
#include "build_settings.h"
#include "graph_text.h"
#include "ordering.h"
#include "output.h"
#include "outside.h"
#include "report.h"
#include "standard_input.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/size.h"
#include "store/formats/format.h"
#include "store/packed.h"

typedef struct convert_settings {
    td_build_settings build;
    const char *output, *format, *to, *stripe, *temporary;
    uint64_t seed;
} convert_settings;

#define OPTION(...) TD_OPTION(convert_settings, __VA_ARGS__)

static const td_arg_option options[] = {
    OPTION("output", TEXT, output, "OUT", "the file to write; its suffix determines the format", .letter = 'o'),
    OPTION("format", TEXT, format, "F", "format of the input (default: recognised)"),
    OPTION("to", TEXT, to, "F", "format of the output (default: by suffix)"),
    OPTION("stripe", TEXT, stripe, "DIRS", "dir1,dir2,...: spread the edges of a .tg over one file in each directory"),
    OPTION("temp", TEXT, temporary, "DIR",
           "folder for temporary files when memory is short (default: that of the output)"),
    OPTION("seed", COUNT, seed, "N", "seed of random weights and of the random order (default: 1)",
           .needs = "weights order"),
    {0},
};

/* One conversion: its data, and the times of its phases. */
typedef struct conversion {
    const char *input;
    const convert_settings *settings;
    td_build_options build;
    td_ordering ordering;
    td_pool *pool;
    const td_format *format;
    td_edge_list *edges;
    td_graph *graph;
    uint64_t input_bytes, output_bytes, peak, digest;
    double read_seconds, build_seconds, write_seconds;
    td_packed *file; /* the input, if it is packed */
    bool is_copy;    /* a packed file is copied */
    bool is_outside; /* built out of memory, by `outside` */
    td_outside outside;
} conversion;

static td_status choose_format(conversion *job)
{
    const char *name = job->settings->format;
    if (name == NULL) return td_format_detect(job->input, &job->format);
    TD_CHECK(td_format_check(name));
    job->format = td_format_named(name);
    return TD_OK;
}

/* A packed file is loaded as a graph, any other file as edges. */
static td_status read_input(conversion *job)
{
    uint64_t start = td_clock_ns();
    if (job->format == &td_format_tg) {
        TD_CHECK(td_packed_load(&job->graph, job->input, job->pool));
    } else {
        TD_CHECK(td_edges_create(&job->edges, job->input));
        TD_CHECK(td_format_read(job->format, job->input, job->settings->format == NULL, job->edges, job->pool));
    }
    job->read_seconds = td_seconds_since(start);
    return TD_OK;
}

static td_status build_graph(conversion *job)
{
    uint64_t start = td_clock_ns();
    if (job->graph == NULL) TD_CHECK(td_graph_build(&job->graph, job->edges, &job->build, job->pool));
    else if (td_build_options_change(&job->build)) TD_CHECK(td_graph_rebuild(&job->graph, &job->build, job->pool));
    job->build_seconds = td_seconds_since(start);
    return TD_OK;
}

static td_status write_output(conversion *job)
{
    uint64_t start = td_clock_ns();
    const convert_settings *s = job->settings;
    TD_CHECK(td_output_write(job->graph, s->output, s->to, s->stripe, job->pool));
    job->write_seconds = td_seconds_since(start);
    job->peak = td_memory().peak;
    job->output_bytes = td_graph_file_bytes(s->output);
    return TD_OK;
}

static double rate(uint64_t bytes, double seconds) { return seconds > 0 ? (double)bytes / seconds * 1e-6 : 0; }

static void show_inside(const conversion *job)
{
    char order[TD_ORDERING_TEXT], peak[TD_NUMBER_BYTES], edges[TD_NUMBER_BYTES];
    td_info("read %.3f s (%.0f MB/s), build %.3f s,%s write %.3f s; peak memory %s, the edges are %s",
            job->read_seconds, rate(job->input_bytes, job->read_seconds), job->build_seconds,
            td_ordering_text(order, &job->ordering), job->write_seconds, td_format_size(peak, job->peak),
            td_format_size(edges, td_edge_bytes(job->graph)));
}

static void show(const conversion *job)
{
    char graph[TD_GRAPH_TEXT], written[TD_WRITTEN_TEXT];
    td_info("%s (%s): %s", td_shown_path(job->input), job->format->name, td_graph_text(graph, job->graph));
    if (job->is_outside) td_outside_show(&job->outside);
    else if (job->is_copy)
        td_info("checked and copied in %.3f s (%.0f MB/s)", job->write_seconds,
                rate(job->input_bytes, job->write_seconds));
    else show_inside(job);
    td_info("%s", td_written_text(written, job->settings->output));
}

/* Whether to omit the digest: for a copied file it would read all edges into memory. */
static bool keeps_memory(const conversion *job) { return job->is_copy && job->settings->build.common.memory != 0; }

static void report(td_json *json, const conversion *job)
{
    td_json_string(json, "input", td_shown_path(job->input));
    td_json_string(json, "format", job->format->name);
    td_json_u64(json, "input_bytes", job->input_bytes);
    td_written_json(json, job->settings->output);
    td_graph_json(json, job->graph);
    td_json_real(json, "seconds", job->read_seconds + job->build_seconds + job->ordering.seconds + job->write_seconds);
    td_json_real(json, "read_seconds", job->read_seconds);
    td_json_real(json, "build_seconds", job->build_seconds);
    td_ordering_json(json, &job->ordering);
    td_json_real(json, "write_seconds", job->write_seconds);
    td_json_real(json, "read_mb_per_second", rate(job->input_bytes, job->read_seconds));
    td_json_real(json, "write_mb_per_second", rate(job->output_bytes, job->write_seconds));
    td_memory_json(json, job->graph, job->peak);
    if (job->is_outside) td_outside_json(json, &job->outside);
    else if (!keeps_memory(job)) td_json_hex(json, "digest", job->digest);
}

/* Whether the graph may be built out of memory: the output is a .tg, and no option needs the whole graph in memory. */
static bool may_go_outside(const conversion *job)
{
    const td_format *format = NULL;
    const convert_settings *s = job->settings;
    if (job->ordering.order != TD_ORDER_NONE) return false;
    return td_format_for_output(s->output, s->to, &format) == TD_OK && format == &td_format_tg;
}

/* Upper estimate of the memory to build the graph in memory, or to load a packed one. */
static double inside_bytes(const conversion *job)
{
    if (job->file == NULL) return td_inside_bytes(0, td_most_edges(job->input, job->format), true, &job->build);
    const td_packed_info *info = td_packed_describe(job->file);
    if (job->ordering.order == TD_ORDER_NONE && !td_build_options_change(&job->build)) return (double)info->file_bytes;
    return td_inside_bytes(info->vertices, info->edges, info->weights != TD_WEIGHT_NONE, &job->build);
}

/* Whether building in memory might exceed --memory. */
static bool exceeds_limit(const conversion *job)
{
    return job->settings->build.common.memory != 0 && inside_bytes(job) > (double)td_memory().budget;
}

static td_status read_packed(const conversion *job, td_edge_list *edges, td_pool *pool)
{
    td_graph *graph = NULL;
    TD_CHECK(td_packed_verify_all(job->input, pool));
    TD_CHECK(td_packed_map(&graph, job->input));
    td_status status = td_graph_deliver(graph, edges, pool);
    td_graph_destroy(graph);
    return status;
}

static td_status read_list(void *context, td_edge_list *edges, td_pool *pool)
{
    const conversion *job = context;
    if (job->file != NULL) return read_packed(job, edges, pool);
    return td_format_read(job->format, job->input, job->settings->format == NULL, edges, pool);
}

static td_status convert_outside(conversion *job)
{
    const convert_settings *s = job->settings;
    uint64_t start = td_clock_ns();
    job->is_outside = true;
    job->outside = (td_outside){.output = s->output, .stripes = s->stripe,
                                .temporary = s->temporary, .build = &job->build, .ids_of = job->file,
                                .pool = job->pool};
    TD_CHECK(td_outside_build(&job->outside, job->input, read_list, job));
    job->graph = job->outside.graph;
    job->output_bytes = td_graph_file_bytes(s->output);
    job->peak = td_memory().peak;
    job->build_seconds = td_seconds_since(start);
    return TD_OK;
}

/* A packed file whose graph does not change is copied without building. */
static td_status copy_packed(conversion *job)
{
    const convert_settings *s = job->settings;
    uint64_t start = td_clock_ns();
    job->is_copy = true;
    TD_CHECK(td_packed_copy(job->input, s->output, s->stripe, job->pool));
    job->write_seconds = td_seconds_since(start);
    job->output_bytes = td_graph_file_bytes(s->output);
    job->peak = td_memory().peak;
    return td_packed_map(&job->graph, s->output);
}

static td_status convert_inside(conversion *job)
{
    TD_CHECK(read_input(job));
    TD_CHECK(build_graph(job));
    TD_CHECK(td_ordering_apply(&job->ordering, &job->graph, job->pool));
    return write_output(job);
}

/* TD_NO_MEMORY with the memory needed; for formats that are read into memory whole, with a way around. */
static td_status too_small(const conversion *job, bool may_go_outside)
{
    const td_common *common = &job->settings->build.common;
    if (common->memory == 0)
        return td_fail_add(TD_NO_MEMORY, "; --memory SIZE builds a .tg out of memory");
    if (!job->format->streams && job->file == NULL)
        return td_fail_add(TD_NO_MEMORY, "; %s files need about %.1f times their length in memory: convert without "
                           "--memory or to another text format first", job->format->name, 8.0);
    return td_outside_too_small(inside_bytes(job), job->settings->output, td_pool_threads(job->pool), may_go_outside);
}

/* Builds out of memory or in memory. With less memory than the former needs, a small graph may still fit the latter. */
static td_status convert_somewhere(conversion *job)
{
    if (job->format == &td_format_tg) TD_CHECK(td_packed_open(&job->file, job->input));
    bool possible = td_outside_possible(td_pool_threads(job->pool)); /* before any file is mapped */
    bool packs = may_go_outside(job), can = packs && (job->format->streams || job->file != NULL);
    if (job->file != NULL && packs && !td_build_options_change(&job->build)) return copy_packed(job);
    bool outside = can && exceeds_limit(job) && possible;
    td_status status = outside ? convert_outside(job) : convert_inside(job);
    return status == TD_NO_MEMORY && !outside ? too_small(job, can) : status;
}

static td_status convert(conversion *job, td_report *out)
{
    const td_common *common = &job->settings->build.common;
    TD_CHECK(choose_format(job));
    TD_CHECK(td_common_pool(common, &job->pool));
    job->input_bytes = td_graph_file_bytes(job->input);
    TD_CHECK(convert_somewhere(job));
    show(job);
    if (common->json == NULL) return TD_OK;
    if (!job->is_outside && !keeps_memory(job)) TD_CHECK(td_graph_digest(job->graph, job->pool, &job->digest));
    TD_CHECK(td_report_begin(out, common->json, "convert", td_pool_threads(job->pool)));
    report(&out->json, job);
    return TD_OK;
}

static td_status run_convert(const td_args *args, void *settings)
{
    const convert_settings *s = settings;
    conversion job = {.input = args->words[0], .settings = s, .build = {.weight_seed = s->seed}};
    td_report out = {0};
    TD_CHECK(td_report_check_target(&s->build.common, job.input));
    TD_CHECK(td_output_check(&s->build.common, s->output, s->to));
    TD_CHECK(td_output_check_stripes(s->output, s->to, s->stripe));
    TD_CHECK(td_output_check_temporary(s->temporary));
    TD_CHECK(td_output_spares(job.input, "-o", s->output));
    TD_CHECK(td_build_settings_apply(&s->build, &job.build));
    TD_CHECK(td_ordering_choose(&job.ordering, s->build.order, s->seed));
    TD_CHECK(td_standard_input_take(&job.input, s->temporary, s->output));
    td_status status = convert(&job, &out);
    td_edges_destroy(job.edges);
    td_graph_destroy(job.graph);
    td_packed_close(job.file);
    td_pool_destroy(job.pool);
    return td_report_end(&out, status);
}

static const convert_settings defaults = {.seed = 1};

const td_command td_cmd_convert = {
    .name = "convert",
    .summary = "convert a graph file to another format",
    .positional = "IN|-",
    .least = 1,
    .most = 1,
    .options = options,
    .shared = td_build_settings_options,
    .settings_bytes = sizeof(convert_settings),
    .defaults = &defaults,
    .run = run_convert,
    .details = "- is standard input: any text format, or the format named by --format. The output appears "
               "under its name when it is complete; a failure or Ctrl-C leaves no files behind. "
               "'tandem help formats' lists what can be read and written.",
    .examples = "tandem convert web.txt.gz -o web.tg\n"
                "grep -v '^9' web.txt | tandem convert - -o part.tg\n"
                "tandem convert road.gr -o road.tg --symmetrize --dedup\n"
                "tandem convert web.tg -o web.mtx\n"
                "tandem convert web.txt.gz -o web.tg --stripe /disk1,/disk2,/disk3\n"
                "tandem convert social.el -o social.wsg --symmetrize --dedup --weights 1:255",
};
