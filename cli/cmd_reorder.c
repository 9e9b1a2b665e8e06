/* `tandem reorder`: writes a graph with its vertices in another order. */
#include "graph_text.h"
#include "ordering.h"
#include "output.h"
#include "report.h"
#include "standard_input.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/size.h"

typedef struct reorder_settings {
    td_common common;
    const char *output, *by, *format, *columns, *to;
    uint64_t seed;
} reorder_settings;

#define OPTION(...) TD_OPTION(reorder_settings, __VA_ARGS__)

static const td_arg_option options[] = {
    OPTION("output", TEXT, output, "OUT", "the file to write; its suffix determines the format", .letter = 'o'),
    OPTION("by", TEXT, by, "ORDER", "hot, indegree, random, rcm, gorder, bisect or none (default: hot)"),
    OPTION("seed", COUNT, seed, "N", "seed of the random order (default: 1)"),
    OPTION("format", TEXT, format, "F", "format of the input (default: recognised)"),
    OPTION("columns", TEXT, columns, "LIST",
           "the columns of an edge list: source, target, weight, and _ for others (source,target,_,weight)"),
    OPTION("to", TEXT, to, "F", "format of the output (default: by suffix)"),
    {0},
};

typedef struct reordering {
    const char *input;
    const reorder_settings *settings;
    td_ordering ordering;
    td_session *session;
    td_graph *graph;
    uint64_t peak, digest;
    double read_seconds, write_seconds;
} reordering;

static void show(const reordering *job)
{
    char graph[TD_GRAPH_TEXT], order[TD_ORDERING_TEXT], written[TD_WRITTEN_TEXT], peak[TD_NUMBER_BYTES];
    td_info("%s: %s", td_shown_path(job->input), td_graph_text(graph, job->graph));
    td_info("read %.3f s,%s write %.3f s; peak memory %s", job->read_seconds, td_ordering_text(order, &job->ordering),
            job->write_seconds, td_format_size(peak, job->peak));
    td_info("%s", td_written_text(written, job->settings->output));
}

static void report(td_json *json, const reordering *job)
{
    td_json_string(json, "input", td_shown_path(job->input));
    td_written_json(json, job->settings->output);
    td_graph_json(json, job->graph);
    td_ordering_json(json, &job->ordering);
    td_json_real(json, "read_seconds", job->read_seconds);
    td_json_real(json, "write_seconds", job->write_seconds);
    td_memory_json(json, job->graph, job->peak);
    td_json_hex(json, "digest", job->digest);
}

static td_status reorder(reordering *job, td_report *out)
{
    const reorder_settings *s = job->settings;
    td_graph_options options = {.size = sizeof options, .format = s->format, .columns = s->columns,
                                .edges = TD_PLACE_MEMORY};
    TD_CHECK(td_common_session(&s->common, &job->session));
    uint64_t start = td_clock_ns();
    TD_CHECK(td_graph_open(job->session, job->input, &options, &job->graph));
    job->read_seconds = td_seconds_since(start);
    TD_CHECK(td_ordering_apply(&job->ordering, &job->graph, job->session));
    start = td_clock_ns();
    TD_CHECK(td_graph_save(job->session, job->graph, s->output, s->to));
    job->write_seconds = td_seconds_since(start);
    job->peak = td_memory_peak();
    show(job);
    if (s->common.json == NULL) return TD_OK;
    TD_CHECK(td_graph_digest_of(job->session, job->graph, &job->digest));
    TD_CHECK(td_report_begin(out, s->common.json, "reorder", td_session_threads(job->session)));
    report(&out->json, job);
    return TD_OK;
}

static td_status run_reorder(const td_args *args, void *settings)
{
    const reorder_settings *s = settings;
    reordering job = {.input = args->words[0], .settings = s};
    td_report out = {0};
    TD_CHECK(td_ordering_choose(&job.ordering, s->by, s->seed));
    TD_CHECK(td_format_check(s->format));
    TD_CHECK(td_report_check_target(&s->common, job.input));
    TD_CHECK(td_output_check(&s->common, s->output, s->to));
    TD_CHECK(td_standard_input_take(&job.input, NULL, s->output));
    td_status status = reorder(&job, &out);
    td_graph_destroy(job.graph);
    td_session_destroy(job.session);
    return td_report_end(&out, status);
}

static const reorder_settings defaults = {.by = "hot", .seed = 1};

const td_command td_cmd_reorder = {
    .name = "reorder",
    .summary = "reorder the vertices of a graph",
    .positional = "IN|-",
    .least = 1,
    .most = 1,
    .options = options,
    .settings_bytes = sizeof(reorder_settings),
    .defaults = &defaults,
    .run = run_reorder,
    .details =
        "Vertices that are near each other in the order are near each other in memory and in the cache. The graph and "
        "its original ids do not change: sources and results are given by original id. A packed file (.tg) keeps the "
        "order; text formats do not.\n"
        "  hot       breadth-first from the vertex with most in-edges; vertices\n"
        "            without out-edges last\n"
        "  indegree  by descending in-degree\n"
        "  random    at random, from the seed\n"
        "  rcm       reverse Cuthill-McKee: neighbours near each other, for grids and\n"
        "            road networks\n"
        "  gorder    next to vertices with many edges and in-neighbours in common\n"
        "            (Wei and others); one thread, slow\n"
        "  bisect    by recursive bisection, for small gaps in adjacency lists\n"
        "            (Dhulipala and others); one thread, slow\n"
        "  none      the order of the input",
    .examples = "tandem reorder web.tg -o hot.tg\n"
                "tandem reorder web.tg -o mixed.tg --by random --seed 7\n"
                "tandem run pagerank web.tg --order hot",
};
