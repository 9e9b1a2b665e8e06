/* `tandem run`: runs a program on a graph.
 *
 * Options are checked before the graph is read, as far as possible. Then: load, reorder
 * if requested, run (several times with --repeat), verify, write, report. */
#include "build_settings.h"
#include "gpu_edges.h"
#include "graph_text.h"
#include "ordering.h"
#include "output.h"
#include "page_file.h"
#include "report.h"
#include "run_batch.h"
#include "run_plot.h"
#include "run_text.h"
#include "sources.h"
#include "standard_input.h"
#include "wall.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/median.h"
#include "base/size.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_REPEATS = 1000 };

typedef struct run_settings {
    td_build_settings build;
    const char *source, *sources, *engine, *devices, *gpu_edges, *format, *columns, *output, *output_format, *trace,
        *report, *checkpoint, *resume;
    uint64_t iterations, every, top, repeat, seed, gpu_memory;
    double tolerance;
    bool sync, async, parents, verify, header, plot;
    td_arg_pairs set;
} run_settings;

static const run_settings defaults = {.tolerance = -1, .repeat = 1, .seed = 1};

#define OPTION(...) TD_OPTION(run_settings, __VA_ARGS__)

static const td_arg_option options[] = {
    OPTION("source", TEXT, source, "ID", "the vertex to start from, by its original id or name; bfs and sssp need one",
           .letter = 's'),
    OPTION("sources", TEXT, sources, "LIST",
           "many vertices to start from, one run each: a file with one per line, ids with commas (17,4,99) or random:N "
           "(--seed); prints a row for each",
           .excludes = "source repeat trace report plot"),
    OPTION("engine", TEXT, engine, "E", "the engine: {} (default: auto, which uses a GPU if it is faster)",
           .names = td_engine_name),
    OPTION("devices", TEXT, devices, "LIST",
           "the devices to use, separated by commas: cpu, cuda:0, cuda:0/8, emu:2 (default: cpu and cuda:0)"),
    OPTION("gpu-memory", SIZE, gpu_memory, "SIZE", "limit on a GPU's memory: 4G, 512M", .least = 1,
           .most = 0x1p62),
    OPTION("gpu-edges", TEXT, gpu_edges, "SHARE",
           "limit on edges in a GPU's memory: 25% of what the engine keeps of them, or a size; for experiments"),
    OPTION("iterations", COUNT, iterations, "N",
           "upper limit on iterations; fewer only if the run converges (default: the "
           "program's)", .least = 1, .most = 1e9),
    OPTION("tolerance", REAL, tolerance, "T",
           "converged when an iteration changes the values by no more (default: the program's; 0 if --iterations is "
           "given)",
           .most = 1e9),
    OPTION("sync", FLAG, sync, NULL,
           "an iteration reads the previous one's values (default; of sssp and labels if --iterations is given)",
           .excludes = "async"),
    OPTION("async", FLAG, async, NULL, "an iteration also reads values that it has updated itself"),
    OPTION("checkpoint", TEXT, checkpoint, "DIR",
           "write checkpoints to this folder, from which a killed run can resume", .excludes = "repeat"),
    OPTION("every", COUNT, every, "N", "iterations between checkpoints (default: one every ten seconds)", .least = 1,
           .most = 1e9, .needs = "checkpoint"),
    OPTION("resume", TEXT, resume, "DIR", "resume from the last checkpoint in this folder, on any engine",
           .excludes = "repeat"),
    OPTION("parents", FLAG, parents, NULL, "bfs, sssp: also compute the previous vertex on the path to each"),
    OPTION("verify", FLAG, verify, NULL, "check that the result is correct"),
    OPTION("output", TEXT, output, "FILE",
           "results, one line per vertex (original id, value) or, for mst, per edge of the forest; -: standard output; "
           "with --sources one file each, whose name has the source in the place of %s",
           .letter = 'o'),
    OPTION("output-format", TEXT, output_format, "F", "tsv, csv or graphalytics (default: by suffix, else tsv)",
           .needs = "output"),
    OPTION("header", FLAG, header, NULL, "begin the results with a line of column names", .needs = "output"),
    OPTION("top", COUNT, top, "N", "print the N vertices with the largest values, or the largest groups", .least = 1,
           .most = 1e9),
    OPTION("trace", TEXT, trace, "FILE", "a timeline of the run, in Chrome's trace format"),
    OPTION("report", TEXT, report, "FILE",
           "a page (HTML) that shows the run, as of 'tandem report'; -: standard output"),
    OPTION("plot", FLAG, plot, NULL, "draw the iterations small in the terminal, on standard error"),
    OPTION("repeat", COUNT, repeat, "N", "run N times and report the median time", .least = 1,
           .most = MOST_REPEATS),
    OPTION("set", PAIRS, set, "KEY=VALUE", "a parameter of the program or the engine; may be repeated"),
    OPTION("format", TEXT, format, "F", "format of the graph file (default: recognised)"),
    OPTION("columns", TEXT, columns, "LIST",
           "the columns of an edge list: source, target, weight, and _ for others (source,target,_,weight)"),
    OPTION("seed", COUNT, seed, "N", "seed of --weights, --order random and --sources random (default: 1)",
           .needs = "weights order sources"),
    {0},
};

typedef struct job {
    const run_settings *settings;
    const char *program, *path;
    const char **set; /* the settings as td_request takes them */
    td_program_facts facts;
    td_graph_options opening;
    td_ordering ordering;
    td_sources sources;
    td_batch_job batch;
    td_request request;
    td_session *session;
    td_graph *graph;
    td_reading reading;     /* of a text */
    const char *engine;     /* that ran */
    td_estimates *expected; /* of the file, before it is loaded; NULL: it has none */
    td_plan *plan;
    bool plan_shown;
    td_result *result;
    td_summary summary;
    td_report_facts report;
    td_phase reporting, closing; /* making the report; freeing everything */
    td_report out;               /* the report, open until the last phase has ended */
    td_result_facts result_facts;
    double seconds[MOST_REPEATS];
} job;

/* Checks that need no graph. */

/* A key may be given once, like any option. */
static td_status check_settings_differ(const td_arg_pairs *set)
{
    for (int i = 0; i < set->count; i++) {
        size_t length = strcspn(set->items[i], "=");
        for (int other = 0; other < i; other++)
            if (strncmp(set->items[other], set->items[i], length + 1) == 0)
                return td_fail(TD_USAGE, "--set %.*s is given twice", (int)length, set->items[i]);
    }
    return TD_OK;
}

static bool is_stdout(const char *path) { return path != NULL && strcmp(path, "-") == 0; }

/* At most one output may go to standard output, and no two to the same file. */
static td_status check_targets(const run_settings *s, const char *graph)
{
    const td_common *common = &s->build.common;
    static const char *const names[] = {"--output", "--trace", "--report"};
    const char *paths[] = {s->output, s->trace, s->report};
    if (s->sources != NULL) TD_CHECK(td_batch_check_output(s->output));
    int on_stdout = is_stdout(s->output) + is_stdout(s->trace) + is_stdout(s->report) + is_stdout(common->json) +
                    (s->top > 0);
    if (on_stdout > 1)
        return td_fail(TD_USAGE, "only one of --output, --json, --trace, --report and --top can go to standard output");
    TD_CHECK(td_report_check_target(common, graph));
    for (int i = 0; i < 3; i++) {
        if (paths[i] == NULL || is_stdout(paths[i])) continue;
        for (int other = 0; other < i; other++)
            if (paths[other] != NULL && !is_stdout(paths[other]) && td_same_place(paths[other], paths[i]))
                return td_fail(TD_USAGE, "%s would overwrite %s '%s'", names[i], names[other], paths[other]);
        TD_CHECK(td_output_spares(graph, names[i], paths[i]));
        TD_CHECK(td_report_check_target(common, paths[i]));
        TD_CHECK(td_place_check(paths[i]));
    }
    if (common->json != NULL && !is_stdout(common->json)) TD_CHECK(td_place_check(common->json));
    return TD_OK;
}

static bool show_iteration(void *context, const td_iteration *row)
{
    const job *self = context;
    char active[TD_NUMBER_BYTES];
    if (!td_progress_visible()) return true;
    td_format_count(active, row->active_vertices);
    if (self->sources.count > 0)
        td_progress_text("%s: %" PRIu64 " of %" PRIu64 " sources, iteration %" PRIu32 ", %s, %s active", self->program,
                         self->batch.facts.done, self->sources.count, row->number, row->direction, active);
    else if (row->change > 0)
        td_progress_text("%s: iteration %" PRIu32 ", %s, change %.3g", self->program, row->number, row->direction,
                         row->change);
    else
        td_progress_text("%s: iteration %" PRIu32 ", %s, %s active", self->program, row->number, row->direction, active);
    return true;
}

/* Shows the plan once, and not for a run that is refused. */
static void show_plan(void *context)
{
    job *self = context;
    if (self->plan_shown) return;
    self->plan_shown = true;
    if (!td_plan_uses_gpu(self->plan) && (self->request.gpu_memory > 0 || self->request.gpu_edges > 0))
        td_warn("--gpu-memory and --gpu-edges have no effect: the %s engine uses no GPU (%s)",
                td_plan_engine(self->plan), td_plan_why(self->plan));
    td_show_plan(self->plan);
}

static td_status fill_request(job *self)
{
    const run_settings *s = self->settings;
    TD_CHECK(check_settings_differ(&s->set));
    TD_CHECK(TD_NEW_ZEROED(&self->set, (uint64_t)s->set.count + 1, "settings"));
    for (int i = 0; i < s->set.count; i++) self->set[i] = s->set.items[i];
    self->request = (td_request){
        .size = sizeof self->request, .mode = s->async ? TD_MODE_ASYNC : s->sync ? TD_MODE_SYNC : TD_MODE_DEFAULT,
        .has_iterations = s->iterations > 0, .iterations = (uint32_t)s->iterations, .has_tolerance = s->tolerance >= 0,
        .tolerance = s->tolerance, .parents = s->parents, .engine = s->engine, .settings = self->set,
        .devices = s->devices, .gpu_memory = s->gpu_memory, .traces = s->trace != NULL, .checkpoint = s->checkpoint,
        .checkpoint_every = (uint32_t)s->every, .resume = s->resume, .begins = show_plan, .progress = show_iteration,
        .progress_context = self, .source_name = s->source, .runs = s->repeat};
    if (s->sources != NULL) TD_CHECK(td_sources_read(&self->sources, s->sources, s->seed));
    self->request.sources = self->sources.ids; /* found once the graph is there */
    self->request.source_count = self->sources.count;
    if (self->sources.count > s->repeat) self->request.runs = self->sources.count;
    return td_gpu_edges_parse(s->gpu_edges, &self->request.gpu_edges);
}

static td_status check_line(job *self)
{
    const run_settings *s = self->settings;
    self->facts.size = sizeof self->facts;
    if (td_program_describe(self->program, &self->facts) != TD_OK) return td_unknown_program(self->program, self->path);
    TD_CHECK(fill_request(self));
    TD_CHECK(td_request_check(self->session, self->program, &self->request));
    if (s->verify && !td_program_verifies(self->program))
        return td_fail(TD_USAGE, "--verify: there is no verifier for %s", self->program);
    TD_CHECK(td_result_format_check(s->output_format));
    TD_CHECK(td_format_check(s->format));
    TD_CHECK(check_targets(s, self->path));
    TD_CHECK(td_ordering_choose(&self->ordering, s->build.order, s->seed));
    if (s->build.out_only) return td_fail(TD_USAGE, "--out-only leaves out the in-adjacency, which engines need");
    self->opening.format = s->format;
    self->opening.columns = s->columns;
    self->opening.weight_seed = s->seed;
    if (self->ordering.changes) self->opening.edges = TD_PLACE_MEMORY;
    return td_build_settings_apply(&s->build, &self->opening);
}

/* The steps. */

static void begin(td_phase *phase) { phase->start = (double)td_clock_ns() * 1e-9; }

static void end(td_phase *phase)
{
    phase->seconds = (double)td_clock_ns() * 1e-9 - phase->start;
    phase->done = true;
}

static td_status reorder(job *self)
{
    if (!self->ordering.changes) return TD_OK;
    begin(&self->report.renumber);
    TD_CHECK(td_ordering_apply(&self->ordering, &self->graph, self->session));
    end(&self->report.renumber);
    return TD_OK;
}

/* Sets the limit of --memory; a share of a packed file refers to the file's length. */
static td_status set_limit(const job *self)
{
    const td_common *common = &self->settings->build.common;
    td_file_facts file = {.size = sizeof file};
    uint64_t limit = common->memory;
    if (common->memory_given.share > 0) {
        TD_CHECK(td_file_describe(self->path, self->settings->format, &file));
        if (file.packed) limit = (uint64_t)(common->memory_given.share * (double)file.plain_bytes);
    }
    if (limit > 0) td_memory_set_limit(limit);
    return TD_OK;
}

static td_status load(job *self)
{
    char text[TD_GRAPH_TEXT];
    end(&self->report.start);
    begin(&self->report.load);
    TD_CHECK(set_limit(self));
    bool limited = self->settings->build.common.memory > 0; /* then every page counts: the plan's estimates serve */
    if (!limited &&
        td_file_expect(self->session, self->path, self->program, &self->request, &self->expected) == TD_OK)
        self->report.expected = self->expected;
    TD_CHECK(td_graph_open_for(self->session, self->path, &self->opening, self->program, &self->request, &self->graph));
    end(&self->report.load);
    td_progress_end();
    self->reading.size = sizeof self->reading;
    (void)td_graph_reading(self->graph, &self->reading);
    TD_CHECK(reorder(self));
    if (self->sources.count > 0) TD_CHECK(td_sources_find(&self->sources, self->session, self->graph));
    self->report.load_peak = td_memory_peak();
    td_info("%s: %s", td_shown_path(self->path), td_graph_text(text, self->graph));
    if (self->reading.weights_dropped) td_info("%s ignores weights: those of the file were left out", self->program);
    return TD_OK;
}

static td_status summarise(job *self)
{
    begin(&self->report.summarise);
    self->summary.size = sizeof self->summary;
    TD_CHECK(td_result_summarise(self->session, self->result, &self->summary));
    self->result_facts.size = sizeof self->result_facts;
    TD_CHECK(td_result_describe(self->result, &self->result_facts));
    end(&self->report.summarise);
    return TD_OK;
}

static td_status run_program(job *self)
{
    begin(&self->report.plan);
    TD_CHECK(td_session_plan(self->session, self->graph, self->program, &self->request, &self->plan));
    end(&self->report.plan);
    td_memory_restart_peak();
    begin(&self->report.earlier);
    for (uint64_t i = 0; i < self->settings->repeat; i++) {
        td_result_destroy(self->result);
        self->result = NULL;
        if (i > 0) end(&self->report.earlier);
        begin(&self->report.run);
        TD_CHECK(td_plan_run(self->session, self->plan, &self->result));
        end(&self->report.run);
        self->seconds[i] = td_result_seconds(self->result);
    }
    self->report.run_peak = td_memory_peak();
    self->engine = td_plan_engine(self->plan);
    td_progress_end();
    return summarise(self);
}

/* Runs from all sources; the report is of the last run, with a row for each. */
static td_status run_batch(job *self)
{
    const run_settings *s = self->settings;
    begin(&self->report.plan);
    TD_CHECK(td_session_plan(self->session, self->graph, self->program, &self->request, &self->plan));
    end(&self->report.plan);
    td_memory_restart_peak();
    self->batch = (td_batch_job){
        .session = self->session, .graph = self->graph, .program = &self->facts, .plan = self->plan,
        .output = s->output,
        .saving = {.size = sizeof self->batch.saving, .format = s->output_format, .header = s->header}, .top = s->top,
        .verify = s->verify, .table = s->top == 0 && !is_stdout(s->build.common.json), .report = &self->report,
        .count = self->sources.count};
    TD_CHECK(TD_NEW_ZEROED(&self->batch.rows, self->sources.count, "rows of the batch"));
    for (uint64_t i = 0; i < self->sources.count; i++) self->batch.rows[i].id = self->sources.ids[i];
    TD_CHECK(td_batch_run(&self->batch));
    self->report.run_peak = td_memory_peak();
    self->result = self->batch.last;
    self->result_facts.size = sizeof self->result_facts;
    TD_CHECK(td_result_describe(self->result, &self->result_facts));
    self->result_facts.prepare_seconds = self->batch.facts.prepare_seconds;
    self->result_facts.finish_seconds = self->batch.facts.finish_seconds;
    self->seconds[0] = self->batch.facts.seconds;
    if (s->verify) td_info("verified, for every source: %s", self->report.claims);
    return TD_OK;
}

static td_status verify(job *self)
{
    if (!self->settings->verify) return TD_OK;
    begin(&self->report.verify);
    TD_CHECK(td_result_claims(self->session, self->result, &self->report.claims));
    end(&self->report.verify);
    return TD_OK;
}

static td_status write_results(job *self)
{
    const run_settings *s = self->settings;
    if (s->output == NULL && s->top == 0) {
        td_info("the result was not kept: add --top 10 to see its largest values, or --output FILE for all of it");
        return TD_OK;
    }
    begin(&self->report.output);
    td_save_options options = {.size = sizeof options, .format = s->output_format, .header = s->header};
    if (s->output != NULL) TD_CHECK(td_result_save_as(self->session, self->result, s->output, &options));
    if (s->top > 0) TD_CHECK(td_print_top(self->session, self->graph, self->result, &self->facts, s->top, NULL));
    end(&self->report.output);
    return TD_OK;
}

static void show_run(const job *self)
{
    double sorted[MOST_REPEATS];
    uint64_t repeats = self->settings->repeat;
    memcpy(sorted, self->seconds, repeats * sizeof *sorted);
    td_show_run(&(td_run_text){.graph = self->graph, .result = self->result, .summary = &self->summary,
                               .program = &self->facts, .request = &self->request, .report = &self->report,
                               .seconds = td_median(sorted, (int)repeats), .repeats = repeats});
}

/* The report but for the wall clock. */
static td_status begin_report(job *self, td_report *out, const char *target)
{
    char *text = NULL;
    uint64_t load_peak = self->report.load_peak, run_peak = self->report.run_peak;
    TD_CHECK(td_report_json(self->session, self->plan, self->result, &self->report, &text));
    td_status status = td_report_begin(out, target, "run", td_session_threads(self->session));
    if (status == TD_OK) {
        td_json_string(&out->json, "input", td_shown_path(self->path));
        td_ordering_json(&out->json, &self->ordering);
        td_graph_json(&out->json, self->graph);
        td_reading_json(&out->json, &self->reading);
        td_memory_json(&out->json, self->graph, load_peak > run_peak ? load_peak : run_peak);
        td_json_members(&out->json, text);
        if (self->sources.count > 0) td_batch_json(&out->json, &self->batch);
    }
    td_text_free(text);
    return status;
}

static td_status open_report(job *self)
{
    const char *target = self->settings->build.common.json;
    return target == NULL ? TD_OK : begin_report(self, &self->out, target);
}

static td_status write_page(job *self)
{
    td_report out = {0};
    char *text = NULL;
    const char *target = self->settings->report;
    if (target == NULL) return TD_OK;
    TD_CHECK(td_report_take(&out, begin_report(self, &out, target), &text));
    td_status status = td_page_write_text(self->program, text, target);
    free(text); /* open_memstream's */
    return status;
}

/* The file's name without its suffix, and without that of a compressed file. */
static int stem_length(const char *path)
{
    static const char *const packed[] = {".gz", ".zst", ".xz"};
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++) {
        size_t suffix = strlen(packed[i]);
        if (length > suffix && strcmp(path + length - suffix, packed[i]) == 0) length -= suffix;
    }
    const char *dot = memrchr(path, '.', length);
    return (int)(dot != NULL && dot > name ? (size_t)(dot - path) : length);
}

/* What a .tg would have saved. */
static void show_reading(const job *self, double seconds)
{
    const char *path = td_shown_path(self->path);
    int stem = stem_length(path);
    if (self->reading.format == NULL) return;
    double took = self->reading.read_seconds + self->reading.build_seconds;
    if (path != self->path)
        td_info("reading and building the text took %.3f s of %.3f s; 'tandem convert - -o graph.tg' does that once, "
                "for later runs to load graph.tg", took, seconds);
    else
        td_info("reading and building the text took %.3f s of %.3f s; 'tandem convert %s -o %.*s.tg' does that once, "
                "for later runs to load %.*s.tg", took, seconds, path, stem, path, stem, path);
}

static void show_wall(job *self)
{
    td_wall wall = {.seconds = (double)(td_clock_ns() - td_tool_began) * 1e-9,
                    .processing = self->seconds[self->settings->repeat - 1], .phases = &self->report,
                    .run = &self->result_facts, .report = &self->reporting, .close = &self->closing,
                    .expected = self->expected, .engine = self->engine};
    td_wall_show(&wall);
    show_reading(self, wall.seconds);
    if (self->out.json.file != NULL) td_wall_json(&self->out.json, &wall);
}

/* Writes the report of a run that has a result, even if the command fails for another reason. */
static td_status end_report(job *self, td_status status)
{
    td_failure failure;
    td_failure_keep(&failure);
    if (self->reporting.done) show_wall(self);
    td_status written = td_report_end(&self->out, self->reporting.done ? TD_OK : status);
    if (status == TD_OK) return written;
    td_failure_set(&failure);
    return status;
}

static td_status write_trace(job *self)
{
    td_report out = {0};
    char *text = NULL;
    if (self->settings->trace == NULL) return TD_OK;
    TD_CHECK(td_trace_json(self->session, self->plan, self->result, &self->report, &text));
    td_status status = td_report_begin(&out, self->settings->trace, "run", td_session_threads(self->session));
    if (status == TD_OK) td_json_members(&out.json, text);
    td_text_free(text);
    return td_report_end(&out, status);
}

/* A run that did not meet the tolerance fails, unless the user limited the iterations. */
static td_status check_converged(const job *self)
{
    td_result_facts facts = {.size = sizeof facts};
    bool promised = self->request.has_tolerance || self->facts.tolerance > 0;
    if (td_result_converged(self->result) || self->request.has_iterations || !promised) return TD_OK;
    TD_CHECK(td_result_describe(self->result, &facts));
    return td_fail(TD_LIMIT,
                   "%s did not converge within its default of %" PRIu32 " iterations: the last change was %.3g, above "
                   "the tolerance of %g; set --tolerance or --iterations",
                   self->program, td_result_iterations(self->result), facts.final_change, facts.tolerance);
}

static td_status run_batch_steps(job *self)
{
    TD_CHECK(run_batch(self));
    begin(&self->reporting);
    TD_CHECK(open_report(self));
    end(&self->reporting);
    return TD_OK;
}

/* Prepares a layout for later runs, if the setting or earlier runs call for one. The run has its result: what goes wrong
 * here is a warning. */
static void prepare_later(job *self)
{
    td_prepared made = {.size = sizeof made};
    td_failure before;
    td_failure_keep(&before);
    td_status status = td_plan_prepare(self->session, self->plan, &made);
    if (status == TD_OK) {
        char size[TD_NUMBER_BYTES];
        td_info("prepared %s for later runs: %s, made in %.3f s, written in %.3f s; 'tandem prepare %s --remove %s' "
                "removes it", td_shown_path(made.path), td_format_size(size, made.bytes), made.make_seconds,
                made.write_seconds, td_shown_path(self->path), made.layout);
    } else if (status != TD_NOT_FOUND)
        td_warn("no layout was prepared for later runs: %s", td_last_message());
    td_failure_set(&before);
}

static td_status run_steps(job *self)
{
    const run_settings *s = self->settings;
    TD_CHECK(load(self));
    if (self->sources.count > 0) return run_batch_steps(self);
    TD_CHECK(run_program(self));
    show_run(self);
    if (s->plot) TD_CHECK(td_plot_run(self->result));
    td_failure unchecked;
    td_status checked = verify(self);
    td_failure_keep(&unchecked);
    if (checked != TD_OK && checked != TD_NO_MEMORY) return checked;
    if (s->verify && checked == TD_OK) td_info("verified: %s", self->report.claims);
    TD_CHECK(write_results(self));
    begin(&self->reporting);
    prepare_later(self);
    TD_CHECK(open_report(self));
    TD_CHECK(write_page(self));
    TD_CHECK(write_trace(self));
    end(&self->reporting);
    if (checked == TD_OK) return check_converged(self);
    td_failure_set(&unchecked);
    return td_fail_add(checked, "; the result was written, but is not verified");
}

static td_status close_all(job *self, td_status status)
{
    begin(&self->closing);
    td_result_destroy(self->result);
    td_batch_job_close(&self->batch);
    td_sources_free(&self->sources);
    td_plan_destroy(self->plan);
    td_graph_destroy(self->graph);
    td_session_destroy(self->session);
    end(&self->closing);
    return status;
}

static td_status run_run(const td_args *args, void *settings)
{
    job *self = NULL;
    TD_CHECK(TD_NEW_ZEROED(&self, 1, "run"));
    self->settings = settings;
    self->program = args->words[0];
    self->path = args->words[1];
    self->report = (td_report_facts){.size = sizeof self->report, .summary = &self->summary,
                                     .seconds = self->seconds, .repeats = self->settings->repeat};
    self->report.start.start = (double)td_tool_began * 1e-9;
    td_status status = td_common_session(&self->settings->build.common, &self->session);
    if (status == TD_OK) status = check_line(self);
    if (status == TD_OK) status = td_standard_input_take(&self->path, NULL, NULL);
    if (status == TD_OK) status = run_steps(self);
    status = end_report(self, close_all(self, status));
    td_estimates_destroy(self->expected);
    td_free(self->set);
    td_free(self);
    return status;
}

const td_command td_cmd_run = {
    .name = "run",
    .summary = "run a program on a graph",
    .positional = "PROGRAM FILE|-",
    .least = 2,
    .most = 2,
    .options = options,
    .shared = td_build_settings_options,
    .settings_bytes = sizeof(run_settings),
    .defaults = &defaults,
    .run = run_run,
    .help_topic = td_help_run_topic,
    .details = "'tandem help programs' lists the programs, 'tandem help PROGRAM' the parameters of one, "
               "'tandem help engines' the engines, 'tandem help ENGINE' the settings of one, "
               "'tandem help devices' the names of devices. Results go to standard output or a file, everything else "
               "to standard error; the exit status is 0, 1 (failed) or 2 (wrong usage).",
    .examples = "tandem run bfs g.tg --source 17 --output levels.tsv\n"
                "tandem run sssp road.gr.gz -s 1 --parents --verify -o -\n"
                "tandem run pagerank web.tg --top 10 --set pagerank.damping=0.9\n"
                "tandem run wcc g.tg --json stats.json --trace trace.json\n"
                "tandem run bfs g.tg --sources random:64 --json batch.json\n"
                "tandem run sssp road.tg --sources 0,17,99 -o d-%s.tsv\n"
                "tandem run bfs g.tg --source 17 --engine resident --devices cuda:0\n"
                "tandem run pagerank g.tg --checkpoint state        # killed\n"
                "tandem run pagerank g.tg --resume state --top 10   # resumed",
};
