/* `tandem run`: runs a program on a graph.
 *
 * Options are checked before the graph is read, as far as possible. Then: load, reorder
 * if requested, run (several times with --repeat), verify, write, report. */
#include "build_settings.h"
#include "graph_text.h"
#include "ordering.h"
#include "output.h"
#include "outside.h"
#include "report.h"
#include "run_text.h"
#include "standard_input.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/median.h"
#include "base/outfile.h"
#include "base/size.h"
#include "run/output.h"
#include "planner/plan.h"
#include "run/verify_run.h"
#include "store/formats/format.h"
#include "store/paged.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_REPEATS = 1000 };

typedef struct run_settings {
    td_build_settings build;
    const char *source, *engine, *devices, *gpu_edges, *format, *output, *output_format, *trace, *checkpoint, *resume;
    uint64_t iterations, every, top, repeat, seed, gpu_memory;
    double tolerance;
    bool sync, async, parents, verify;
    td_arg_pairs set;
} run_settings;

static const run_settings defaults = {.tolerance = -1, .repeat = 1, .seed = 1, .output_format = "tsv"};

#define OPTION(...) TD_OPTION(run_settings, __VA_ARGS__)

static const td_arg_option options[] = {
    OPTION("source", TEXT, source, "ID", "the vertex to start from, by its original id; bfs and sssp need one",
           .letter = 's'),
    OPTION("engine", TEXT, engine, "E",
           "the engine: cpu, resident, stream, coop, hybrid (default: auto, which uses a GPU if it is faster)"),
    OPTION("devices", TEXT, devices, "LIST",
           "the devices to use, separated by commas: cpu, cuda:0, cuda:0/8, emu:2 (default: cpu and cuda:0)"),
    OPTION("gpu-memory", SIZE, gpu_memory, "SIZE", "limit on a GPU's memory: 4G, 512M", .least = 1,
           .most = 0x1p62),
    OPTION("gpu-edges", TEXT, gpu_edges, "SHARE",
           "limit on edges in a GPU's memory: 25% of the graph's, or a size; for experiments"),
    OPTION("iterations", COUNT, iterations, "N",
           "upper limit on iterations; fewer only if the run converges (default: the "
           "program's)", .least = 1, .most = 1e9),
    OPTION("tolerance", REAL, tolerance, "T",
           "converged when an iteration changes the values by no more (default: the program's; 0 if --iterations is "
           "given)",
           .most = 1e9),
    OPTION("sync", FLAG, sync, NULL, "an iteration reads the previous one's values (default)", .excludes = "async"),
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
           "results, one line per vertex (original id, value) or, for mst, per edge of the forest; -: standard output",
           .letter = 'o'),
    OPTION("output-format", TEXT, output_format, "F", "tsv, csv or graphalytics (default: tsv)", .needs = "output"),
    OPTION("top", COUNT, top, "N", "print the N vertices with the largest values, or the largest groups", .least = 1,
           .most = 1e9),
    OPTION("trace", TEXT, trace, "FILE", "a timeline of the run, in Chrome's trace format"),
    OPTION("repeat", COUNT, repeat, "N", "run N times and report the median time", .least = 1,
           .most = MOST_REPEATS),
    OPTION("set", PAIRS, set, "KEY=VALUE", "a parameter of the program or the engine; may be repeated"),
    OPTION("format", TEXT, format, "F", "format of the graph file (default: recognised)"),
    OPTION("seed", COUNT, seed, "N", "seed of --weights and of --order random (default: 1)", .needs = "weights order"),
    {0},
};

typedef struct job {
    const run_settings *settings;
    const char *path;
    const td_program *program;
    const td_output_format *output_format;
    uint64_t source_id;
    td_build_options build;
    td_ordering ordering;
    td_settings set;
    td_run_options options;
    td_plan *plan;
    bool plan_told;
    td_cache cache;
    td_pool *pool;
    td_graph *graph;
    td_run *run;
    td_run_summary summary;
    td_run_report report;
    double seconds[MOST_REPEATS];
} job;

static const char *program_name(const void *unused, int index)
{
    (void)unused;
    return td_programs[index] != NULL ? td_programs[index]->info->name : NULL;
}

/* Checks that need no graph. */

/* A key may be given once, like any option. */
static td_status add_setting(td_settings *settings, const char *pair)
{
    TD_CHECK(td_settings_add(settings, pair));
    const char *key = settings->keys[settings->count - 1];
    for (uint64_t i = 0; i + 1 < settings->count; i++)
        if (strcmp(settings->keys[i], key) == 0) return td_fail(TD_USAGE, "--set %s is given twice", key);
    return TD_OK;
}

static td_status check_settings(job *self)
{
    double huge_pages;
    const td_arg_pairs *set = &self->settings->set;
    for (int i = 0; i < set->count; i++) TD_CHECK(add_setting(&self->set, set->items[i]));
    const td_engine *engine = td_engine_choose(self->settings->engine, self->settings->devices, &self->set);
    TD_CHECK(td_plan_check_settings(engine, self->program, &self->set));
    TD_CHECK(td_settings_number(&self->set, "cpu", td_cpu_engine.settings, "huge_pages", &huge_pages));
    td_huge_pages(huge_pages == 0); /* before the graph's arrays are allocated */
    return TD_OK;
}

static bool is_stdout(const char *path) { return path != NULL && strcmp(path, "-") == 0; }

/* At most one output may go to standard output, and no two to the same file. */
static td_status check_targets(const run_settings *s, const char *graph)
{
    const td_common *common = &s->build.common;
    const char *paths[] = {s->output, s->trace};
    int on_stdout = is_stdout(s->output) + is_stdout(s->trace) + is_stdout(common->json) + (s->top > 0);
    if (on_stdout > 1)
        return td_fail(TD_USAGE, "only one of --output, --json, --trace and --top can go to standard output");
    if (s->trace != NULL && s->output != NULL && strcmp(s->trace, s->output) == 0)
        return td_fail(TD_USAGE, "--trace would overwrite --output '%s'", s->output);
    TD_CHECK(td_report_check_target(common, graph));
    for (int i = 0; i < 2; i++) {
        if (paths[i] == NULL || is_stdout(paths[i])) continue;
        TD_CHECK(td_output_spares(graph, i == 0 ? "--output" : "--trace", paths[i]));
        TD_CHECK(td_report_check_target(common, paths[i]));
        TD_CHECK(td_place_check(paths[i]));
    }
    if (common->json != NULL && !is_stdout(common->json)) TD_CHECK(td_place_check(common->json));
    return TD_OK;
}

static td_status check_source(job *self)
{
    const char *text = self->settings->source;
    if (text == NULL) return TD_OK;
    self->options.has_source = true;
    if (td_parse_u64(text, &self->source_id) == TD_OK) return TD_OK;
    return td_fail(TD_USAGE, "option --source: %s", td_last_message());
}

/* Parses --gpu-edges: a share becomes a number up to 1, a size a number above 1. */
static td_status check_gpu_edges(job *self)
{
    const char *text = self->settings->gpu_edges;
    uint64_t bytes, whole = UINT64_C(1) << 52;
    if (text == NULL) return TD_OK;
    bool share = strchr(text, '%') != NULL;
    if (td_parse_size_or_share(text, whole, &bytes) != TD_OK) return td_fail_context(TD_USAGE, "option --gpu-edges");
    if (bytes < (share ? 2 : 1))
        return td_fail(TD_USAGE, "option --gpu-edges %s: more than 0%%, or a size, is allowed", text);
    if (!share && bytes <= 100)
        return td_fail(TD_USAGE, "option --gpu-edges %s: that is %s bytes; a share is written %s%%", text, text, text);
    if (share && bytes > whole) bytes = whole; /* 100% is no limit */
    self->options.gpu_edges = share ? (double)bytes / (double)whole : (double)bytes;
    return TD_OK;
}

static void fill_options(job *self)
{
    const run_settings *s = self->settings;
    td_run_options *options = &self->options;
    options->mode = s->async ? TD_MODE_ASYNC : s->sync ? TD_MODE_SYNC : TD_MODE_DEFAULT;
    options->has_iterations = s->iterations > 0;
    options->iterations = (uint32_t)s->iterations;
    options->has_tolerance = s->tolerance >= 0;
    options->tolerance = s->tolerance;
    options->parents = s->parents;
    options->settings = &self->set;
    options->devices = s->devices;
    options->gpu_memory = s->gpu_memory;
    options->traces = s->trace != NULL;
    options->checkpoint = s->checkpoint;
    options->every = (uint32_t)s->every;
    options->resume = s->resume;
    options->cache = &self->cache;
}

static td_status unknown_program(const char *word, const char *path)
{
    if (td_program_named(path) != NULL)
        return td_fail(TD_USAGE, "'%s' is no program; the program comes first: tandem run %s %s", word, path, word);
    return td_fail_unknown("program", word, "programs", program_name, NULL);
}

static td_status check_line(job *self, const char *program)
{
    const run_settings *s = self->settings;
    self->program = td_program_named(program);
    if (self->program == NULL) return unknown_program(program, self->path);
    fill_options(self);
    TD_CHECK(td_plan_check(s->engine, s->devices));
    TD_CHECK(check_settings(self));
    TD_CHECK(check_source(self));
    TD_CHECK(check_gpu_edges(self));
    TD_CHECK(td_run_check_options(self->program, &self->options));
    TD_CHECK(td_output_format_find(s->output_format, &self->output_format));
    TD_CHECK(td_format_check(s->format));
    TD_CHECK(check_targets(s, self->path));
    self->build.weight_seed = s->seed;
    TD_CHECK(td_ordering_choose(&self->ordering, s->build.order, s->seed));
    if (s->build.out_only) return td_fail(TD_USAGE, "--out-only leaves out the in-adjacency, which engines need");
    return td_build_settings_apply(&s->build, &self->build);
}

/* The steps. */

static void begin(td_span *span, const char *name)
{
    span->name = name;
    span->began = td_clock_ns();
}

static void end(td_span *span) { span->seconds = td_seconds_since(span->began); }

static td_status reorder(job *self)
{
    if (self->ordering.order == TD_ORDER_NONE) return TD_OK;
    begin(&self->report.reorder, "reorder");
    TD_CHECK(td_ordering_apply(&self->ordering, &self->graph, self->pool));
    end(&self->report.reorder);
    return TD_OK;
}

static td_status find_format(const job *self, const td_format **format)
{
    *format = self->settings->format != NULL ? td_format_named(self->settings->format) : NULL;
    return *format == NULL ? td_format_detect(self->path, format) : TD_OK;
}

/* The limit of --memory; a share of a packed file refers to the file's length. */
static td_status find_limit(const job *self, bool is_packed, uint64_t *limit)
{
    const td_common *common = &self->settings->build.common;
    td_packed *packed = NULL;
    *limit = common->memory;
    if (common->memory_given.share == 0 || !is_packed) return TD_OK;
    TD_CHECK(td_packed_open(&packed, self->path));
    *limit = (uint64_t)(common->memory_given.share * (double)td_packed_describe(packed)->file_bytes);
    td_packed_close(packed);
    return TD_OK;
}

/* Sets the budget: --memory minus the memory of the process itself (mainly its code). If the process takes most of it,
 * a graph in memory gets all of --memory, one on disk half. */
static td_status set_limit(const job *self, bool is_packed, bool on_disk)
{
    uint64_t limit, held = td_memory().now, resident = td_machine_resident();
    TD_CHECK(find_limit(self, is_packed, &limit));
    if (limit == 0) return TD_OK;
    uint64_t besides = resident > held ? resident - held : 0;
    if (!on_disk && limit < 4 * besides) besides = 0;
    td_memory_set_limit(limit, besides < limit / 2 ? besides : limit / 2);
    return TD_OK;
}

/* Edges may stay on disk unless the user chose an engine that needs them in memory. */
static bool may_stay_on_disk(const job *self)
{
    /* The choice may come from --engine or from an engine's settings. */
    const td_engine *engine = td_engine_choose(self->settings->engine, "cpu", &self->set);
    bool automatic = self->settings->engine == NULL || strcmp(self->settings->engine, "auto") == 0;
    return engine->takes_disk || (automatic && engine == &td_cpu_engine);
}

static td_status open_on_disk(job *self)
{
    TD_CHECK(set_limit(self, true, true));
    td_status status = td_paged_open(&self->graph, self->path, self->pool, NULL);
    return status == TD_NO_MEMORY ? td_plan_too_small(self->path, self->program, &self->options) : status;
}

static bool changes_graph(const job *self)
{
    return td_build_options_change(&self->build) || self->ordering.order != TD_ORDER_NONE;
}

static td_status read_whole(job *self)
{
    return td_graph_read(&self->graph, self->path, self->settings->format, &self->build, self->pool);
}

/* Loads a packed graph; edges that do not fit in memory stay on disk if they may. */
static td_status load_packed(job *self)
{
    td_status status = read_whole(self);
    if (status != TD_NO_MEMORY || changes_graph(self)) return status;
    if (may_stay_on_disk(self)) status = open_on_disk(self);
    if (status != TD_NO_MEMORY) return status;
    TD_CHECK(set_limit(self, true, false));
    return td_plan_too_large(self->path, self->settings->engine, self->program, &self->options);
}

static td_status read_graph(job *self)
{
    const td_format *format;
    bool on_disk = false;
    self->options.pool = self->pool;
    TD_CHECK(find_format(self, &format));
    TD_CHECK(set_limit(self, format == &td_format_tg, false));
    if (format != &td_format_tg) {
        td_status status = read_whole(self);
        if (status != TD_NO_MEMORY) return status;
        (void)td_inside_too_small(self->path, format, &self->build, td_pool_threads(self->pool));
        return td_fail_add(TD_NO_MEMORY, "; or convert it to .tg ('tandem convert'), whose edges may stay on disk");
    }
    TD_CHECK(td_plan_check_file(self->path, self->program, &self->build));
    if (!changes_graph(self))
        TD_CHECK(td_plan_on_disk(self->path, self->settings->engine, self->program, &self->options, &on_disk));
    return on_disk ? open_on_disk(self) : load_packed(self);
}

static td_status load(job *self)
{
    char text[TD_GRAPH_TEXT];
    begin(&self->report.load, "load");
    TD_CHECK(read_graph(self));
    end(&self->report.load);
    td_progress_end();
    TD_CHECK(reorder(self));
    self->report.load_peak = td_memory().peak;
    td_info("%s: %s", td_shown_path(self->path), td_graph_text(text, self->graph));
    if (!self->options.has_source) return TD_OK;
    return td_graph_find(self->graph, self->source_id, &self->options.source);
}

static bool show_iteration(void *context, const td_iteration *row)
{
    const job *self = context;
    char active[TD_NUMBER_BYTES];
    if (!td_progress_visible()) return true;
    td_format_count(active, row->active_vertices);
    if (row->change > 0)
        td_progress_text("%s: iteration %" PRIu32 ", %s, change %.3g", self->program->info->name, row->number,
                         row->direction, row->change);
    else
        td_progress_text("%s: iteration %" PRIu32 ", %s, %s active", self->program->info->name, row->number,
                         row->direction, active);
    return true;
}

/* Shows the plan once, and not for a run that is refused. */
static void show_plan(void *context)
{
    job *self = context;
    const td_plan *plan = self->plan;
    if (self->plan_told) return;
    self->plan_told = true;
    if (plan->engine->uses_devices == TD_USES_CPU && (self->options.gpu_memory > 0 || self->options.gpu_edges > 0))
        td_warn("--gpu-memory and --gpu-edges change nothing: the %s engine uses no GPU (%s)", plan->engine->name,
                plan->why);
    td_show_plan(plan);
}

static td_status run_program(job *self)
{
    self->options.pool = self->pool;
    self->options.begins = show_plan;
    self->options.each = show_iteration;
    self->options.each_context = self;
    TD_CHECK(td_plan_make(&self->plan, self->settings->engine, self->program, self->graph, &self->options));
    td_memory_reset_peak();
    for (uint64_t i = 0; i < self->settings->repeat; i++) {
        td_run_destroy(self->run);
        self->run = NULL;
        begin(&self->report.run_span, self->program->info->name);
        TD_CHECK(td_plan_ended(self->plan, td_plan_execute(self->plan, &self->run)));
        end(&self->report.run_span);
        self->seconds[i] = self->run->seconds;
    }
    self->report.run_peak = td_memory().peak;
    td_progress_end();
    return td_run_summarise(self->run, self->pool, &self->summary);
}

static td_status verify(job *self)
{
    if (!self->settings->verify) return TD_OK;
    begin(&self->report.verify, "verify");
    TD_CHECK(td_run_verify(self->run, self->pool, &self->report.claims));
    end(&self->report.verify);
    return TD_OK;
}

static td_status write_results(job *self)
{
    if (self->settings->output == NULL) return TD_OK;
    begin(&self->report.output, "output");
    TD_CHECK(td_run_write(self->run, self->settings->output, self->output_format, self->pool));
    end(&self->report.output);
    return TD_OK;
}

static void fill_report(job *self)
{
    td_run_report *report = &self->report;
    report->run = self->run;
    report->summary = &self->summary;
    report->options = &self->options;
    report->plan = self->plan;
    report->each = self->seconds;
    report->repeats = self->settings->repeat;
    double sorted[MOST_REPEATS];
    memcpy(sorted, self->seconds, report->repeats * sizeof *sorted);
    report->median = td_median(sorted, (int)report->repeats);
}

static void put_report(td_json *json, const job *self)
{
    uint64_t load_peak = self->report.load_peak, run_peak = self->report.run_peak;
    td_json_string(json, "input", td_shown_path(self->path));
    td_ordering_json(json, &self->ordering);
    td_graph_json(json, self->graph);
    td_memory_json(json, self->graph, load_peak > run_peak ? load_peak : run_peak);
    td_run_report_json(json, &self->report);
}

typedef void (*report_fn)(td_json *json, const job *self);

static void put_trace(td_json *json, const job *self) { td_run_trace_json(json, &self->report); }

static td_status write_report(const job *self, const char *target, report_fn put)
{
    td_report out = {0};
    if (target == NULL) return TD_OK;
    TD_CHECK(td_report_begin(&out, target, "run", td_pool_threads(self->pool)));
    put(&out.json, self);
    return td_report_end(&out, TD_OK);
}

/* A run that did not meet the tolerance fails, unless the user limited the iterations. */
static td_status check_converged(const job *self)
{
    const td_run *run = self->run;
    bool promised = self->options.has_tolerance || run->program->info->tolerance > 0;
    if (run->converged || self->options.has_iterations || !promised) return TD_OK;
    return td_fail(TD_LIMIT,
                   "%s did not converge within its default of %" PRIu32 " iterations: the last change was %.3g, above "
                   "the tolerance of %g; set --tolerance or --iterations",
                   run->program->info->name, run->iterations, run->final_change, run->tolerance);
}

static td_status run_steps(job *self)
{
    const run_settings *s = self->settings;
    TD_CHECK(td_common_pool(&s->build.common, &self->pool));
    TD_CHECK(load(self));
    TD_CHECK(run_program(self));
    fill_report(self);
    td_show_run(&self->report);
    char unchecked[TD_MESSAGE_BYTES];
    td_status checked = verify(self);
    snprintf(unchecked, sizeof unchecked, "%s", td_last_message());
    if (checked != TD_OK && checked != TD_NO_MEMORY) return checked;
    if (s->verify && checked == TD_OK) td_info("verified: %s", self->report.claims);
    TD_CHECK(write_results(self));
    if (s->top > 0) TD_CHECK(td_print_top(self->run, self->pool, s->top));
    TD_CHECK(write_report(self, s->build.common.json, put_report));
    TD_CHECK(write_report(self, s->trace, put_trace));
    if (checked != TD_OK) return td_fail(checked, "%s; the result was written, but is not verified", unchecked);
    return check_converged(self);
}

static td_status run_run(const td_args *args, void *settings)
{
    job *self = NULL;
    TD_CHECK(TD_NEW_ZEROED(&self, 1, "run"));
    self->settings = settings;
    self->path = args->words[1];
    td_status status = check_line(self, args->words[0]);
    if (status == TD_OK) status = td_standard_input_take(&self->path, NULL, NULL);
    if (status == TD_OK) status = run_steps(self);
    td_run_destroy(self->run);
    td_plan_destroy(self->plan);
    td_cache_release(&self->cache);
    td_graph_destroy(self->graph);
    td_pool_destroy(self->pool);
    td_settings_clear(&self->set);
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
                "tandem run bfs g.tg --source 17 --engine resident --devices cuda:0\n"
                "tandem run pagerank g.tg --checkpoint state        # killed\n"
                "tandem run pagerank g.tg --resume state --top 10   # resumed",
};
