/* `tandem convert`: reads a graph file and writes another. Phases: read, build, reorder if requested, write. */
#include "build_settings.h"
#include "graph_text.h"
#include "layouts.h"
#include "made_text.h"
#include "ordering.h"
#include "output.h"
#include "report.h"
#include "standard_input.h"

#include "base/log.h"
#include "base/size.h"

typedef struct convert_settings {
    td_build_settings build;
    const char *output, *format, *columns, *to, *stripe, *temporary, *layouts;
    uint64_t seed;
} convert_settings;

#define OPTION(...) TD_OPTION(convert_settings, __VA_ARGS__)

static const td_arg_option options[] = {
    OPTION("output", TEXT, output, "OUT", "the file to write; its suffix determines the format", .letter = 'o'),
    OPTION("format", TEXT, format, "F", "format of the input (default: recognised)"),
    OPTION("columns", TEXT, columns, "LIST",
           "the columns of an edge list: source, target, weight, and _ for others (source,target,_,weight)"),
    OPTION("to", TEXT, to, "F", "format of the output (default: by suffix)"),
    OPTION("stripe", TEXT, stripe, "DIRS", "dir1,dir2,...: spread the edges of a .tg over one file in each directory"),
    OPTION("temp", TEXT, temporary, "DIR",
           "folder for temporary files when memory is short (default: that of the output)"),
    OPTION("for", TEXT, layouts, "LAYOUT,...",
           "of a .tg: prepares these layouts beside it, as 'tandem prepare' does: paths, stream, coop, stream:sssp, "
           "multi:metis:8"),
    OPTION("seed", COUNT, seed, "N", "seed of random weights and of the random order (default: 1)",
           .needs = "weights order"),
    {0},
};

typedef struct conversion {
    const char *input;
    const convert_settings *settings;
    td_graph_options options;
    td_ordering ordering;
    td_session *session;
    td_graph *graph;
    td_made made;
    td_layouts_made layouts;
    uint64_t digest;
} conversion;

static double rate(uint64_t bytes, double seconds) { return seconds > 0 ? (double)bytes / seconds * 1e-6 : 0; }

static void show_inside(const conversion *job)
{
    const td_made *made = &job->made;
    char order[TD_ORDERING_TEXT], peak[TD_NUMBER_BYTES], edges[TD_NUMBER_BYTES];
    td_info("read %.3f s (%.0f MB/s), build %.3f s,%s write %.3f s; peak memory %s, the edges are %s",
            made->read_seconds, rate(made->input_bytes, made->read_seconds), made->build_seconds,
            td_ordering_text(order, &job->ordering), made->write_seconds, td_format_size(peak, made->peak),
            td_format_size(edges, td_edge_bytes(job->graph)));
}

static void show(const conversion *job)
{
    const td_made *made = &job->made;
    char graph[TD_GRAPH_TEXT], written[TD_WRITTEN_TEXT];
    td_info("%s (%s): %s", td_shown_path(job->input), made->format, td_graph_text(graph, job->graph));
    if (made->out_of_memory) td_show_out_of_memory(made);
    else if (made->copied)
        td_info("checked and copied in %.3f s (%.0f MB/s)", made->write_seconds,
                rate(made->input_bytes, made->write_seconds));
    else show_inside(job);
    td_info("%s", td_written_text(written, job->settings->output));
}

/* Whether to omit the digest: for a copied file it would read all edges into memory. */
static bool keeps_memory(const conversion *job) { return job->made.copied && job->settings->build.common.memory != 0; }

static void report(td_json *json, const conversion *job)
{
    const td_made *made = &job->made;
    td_reading reading = {.size = sizeof reading};
    uint64_t output_bytes = td_graph_file_bytes(job->settings->output);
    td_json_string(json, "input", td_shown_path(job->input));
    td_json_string(json, "format", made->format);
    td_json_u64(json, "input_bytes", made->input_bytes);
    td_written_json(json, job->settings->output);
    td_graph_json(json, job->graph);
    if (td_graph_reading(job->graph, &reading) == TD_OK) td_reading_json(json, &reading);
    td_json_real(json, "seconds",
                 made->read_seconds + made->build_seconds + made->order_seconds + made->write_seconds);
    td_json_real(json, "read_seconds", made->read_seconds);
    td_json_real(json, "build_seconds", made->build_seconds);
    td_ordering_json(json, &job->ordering);
    td_json_real(json, "write_seconds", made->write_seconds);
    td_json_real(json, "read_mb_per_second", rate(made->input_bytes, made->read_seconds));
    td_json_real(json, "write_mb_per_second", rate(output_bytes, made->write_seconds));
    td_memory_json(json, job->graph, made->peak);
    if (made->out_of_memory) td_json_out_of_memory(json, made);
    else if (!keeps_memory(job)) td_json_hex(json, "digest", job->digest);
    if (job->settings->layouts != NULL) td_layouts_json(json, &job->layouts);
}

static td_status convert(conversion *job, td_report *out)
{
    const convert_settings *s = job->settings;
    const td_common *common = &s->build.common;
    td_file_options file = {.size = sizeof file, .to = s->to, .stripes = s->stripe, .temporary = s->temporary,
                            .order = job->ordering.order, .order_seed = s->seed, .in_memory = common->memory == 0};
    job->made.size = sizeof job->made;
    TD_CHECK(td_common_session(common, &job->session));
    TD_CHECK(td_file_convert(job->session, job->input, s->output, &job->options, &file, &job->made, &job->graph));
    job->ordering.seconds = job->made.order_seconds;
    show(job);
    if (s->layouts != NULL) TD_CHECK(td_layouts_make(job->session, s->output, s->layouts, NULL, &job->layouts));
    if (common->json == NULL) return TD_OK;
    if (!job->made.out_of_memory && !keeps_memory(job))
        TD_CHECK(td_graph_digest_of(job->session, job->graph, &job->digest));
    TD_CHECK(td_report_begin(out, common->json, "convert", td_session_threads(job->session)));
    report(&out->json, job);
    return TD_OK;
}

static td_status run_convert(const td_args *args, void *settings)
{
    const convert_settings *s = settings;
    conversion job = {.input = args->words[0], .settings = s,
                      .options = {.format = s->format, .columns = s->columns, .weight_seed = s->seed}};
    td_report out = {0};
    TD_CHECK(td_report_check_target(&s->build.common, job.input));
    TD_CHECK(td_format_check(s->format));
    TD_CHECK(td_output_check(&s->build.common, s->output, s->to));
    TD_CHECK(td_output_check_stripes(s->output, s->to, s->stripe));
    TD_CHECK(td_output_check_temporary(s->temporary));
    if (s->layouts != NULL) TD_CHECK(td_layouts_check(s->layouts));
    TD_CHECK(td_output_spares(job.input, "-o", s->output));
    TD_CHECK(td_build_settings_apply(&s->build, &job.options));
    TD_CHECK(td_ordering_choose(&job.ordering, s->build.order, s->seed));
    TD_CHECK(td_standard_input_take(&job.input, s->temporary, s->output));
    td_status status = convert(&job, &out);
    td_layouts_free(&job.layouts);
    td_graph_destroy(job.graph);
    td_session_destroy(job.session);
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
                "tandem convert trips.csv -o trips.tg --columns _,source,target,weight\n"
                "tandem convert web.txt.gz -o web.tg --stripe /disk1,/disk2,/disk3\n"
                "tandem convert social.el -o social.wsg --symmetrize --dedup --weights 1:255",
};
