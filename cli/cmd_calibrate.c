/* `tandem calibrate`: measures what is measured once. The rates of this machine, by which the planner estimates
 * (calibrate_machine.c); and, for several GPUs, trains the cost models of devices (multi.cost=model) on logged
 * iterations of generated and given graphs. Both are stored where later runs find them. */
#include "calibrate.h"
#include "command.h"
#include "output.h"
#include "report.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/log.h"
#include "engine/engine.h"
#include "engine/multi/cost_find.h"
#include "planner/rates.h"
#include "store/formats/format.h"
#include "store/gen.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_GRAPHS = 256, RANK_ITERATIONS = 2, LABEL_ITERATIONS = 8 };

typedef struct calibrate_settings {
    td_common common;
    const char *devices, *output, *size, *log, *keep;
    double seconds;
    bool machine;
} calibrate_settings;

#define OPTION(...) TD_OPTION(calibrate_settings, __VA_ARGS__)

static const td_arg_option options[] = {
    OPTION("machine", FLAG, machine, NULL, "measure the rates of this machine, for the planner (the default without "
           "--devices); with --devices also those of that GPU (default: cuda:0 if there is one)"),
    OPTION("devices", TEXT, devices, "LIST", "two or more GPUs that are alike: cuda:0/8, emu:2@dgx1"),
    OPTION("output", TEXT, output, "MODEL", "the file to write (default: where runs on these devices look for it)",
           .letter = 'o'),
    OPTION("size", TEXT, size, "SIZE", "small: 12 tiny graphs; normal (default): 105 of a size that suits the devices; "
           "none: only the graphs and the log given"),
    OPTION("seconds", REAL, seconds, "N", "begin no new graph after N seconds; families take turns, so that there are samples "
           "of each (default: all graphs)", .most = 1e6, .needs = "devices"),
    OPTION("log", TEXT, log, "FILE", "also train on a log that runs with multi.log=FILE made"),
    OPTION("samples", TEXT, keep, "FILE", "store the samples of the training"),
    {0},
};

/* Programs, each with what its work is called and settings that leave every edge to its fragment's own GPU. Searches
 * push in all iterations, because the cost of a first-hit pull has no model. */
typedef struct subject {
    const char *program;
    td_cost_work work;
    uint32_t iterations; /* 0: to the end */
    const char *settings[4];
} subject;

static const subject subjects[] = {
    {"bfs", TD_COST_PUSH, 0, {"multi.ownership=off", "multi.loop_edges=0", "multi.direction=push"}},
    {"sssp", TD_COST_PUSH, 0, {"multi.ownership=off", "multi.loop_edges=0"}},
    {"labels", TD_COST_PUSH, LABEL_ITERATIONS, {"multi.ownership=off", "multi.loop_edges=0", "multi.direction=push"}},
    {"wcc", TD_COST_SWEEP, 0, {NULL}},
    {"pagerank", TD_COST_GATHER, RANK_ITERATIONS, {NULL}},
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

typedef struct job {
    const calibrate_settings *settings;
    const char *const *graphs;
    int graph_count;
    td_calibrate_size size;
    td_pool *pool;
    td_cache cache;
    char log[TD_DATA_PATH]; /* of one run; empty: there is none yet */
    td_cost_sample *samples;
    uint64_t count, room, runs;
    int used; /* graphs */
    double run_seconds, train_seconds;
    td_cost_models models;
    td_calibrate_table tables[TD_COST_WORKS];
    char file[TD_DATA_PATH], label[TD_COST_LABEL];
} job;

/* Samples. */

static td_status keep_sample(job *self, const td_cost_sample *sample)
{
    if (self->count == self->room) {
        uint64_t room = self->room == 0 ? 4096 : 2 * self->room;
        TD_CHECK(TD_RESIZE(&self->samples, room, "samples of the cost model"));
        self->room = room;
    }
    self->samples[self->count++] = *sample;
    return TD_OK;
}

/* Edges of a fragment from which on a sample counts: below it all iterations take as long as their launches. A sample's
 * seconds include those, as do the seconds that a division predicts; the number of edges is one of the metrics. */
static double least_edges(const job *self) { return self->size <= TD_CALIBRATE_SMALL ? 64 : 4096; }

static td_status take_samples(job *self, const td_cost_sample *samples, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (samples[i].edges >= least_edges(self)) TD_CHECK(keep_sample(self, &samples[i]));
    return TD_OK;
}

/* Runs. */

static td_status make_log(job *self)
{
    const char *folder = getenv("TMPDIR");
    snprintf(self->log, sizeof self->log, "%s/tandem-log-XXXXXX", folder != NULL && folder[0] != '\0' ? folder : "/tmp");
    int file = mkstemp(self->log);
    if (file < 0) {
        td_status status = td_fail_errno(TD_IO, errno, "cannot make %s (TMPDIR)", self->log);
        self->log[0] = '\0';
        return status;
    }
    close(file);
    return TD_OK;
}

static td_status add_settings(const job *self, const subject *which, const char *family, td_settings *out)
{
    char text[TD_DATA_PATH + 32];
    TD_CHECK(td_settings_add(out, "multi.stealing=off"));
    for (int i = 0; which->settings[i] != NULL; i++) TD_CHECK(td_settings_add(out, which->settings[i]));
    snprintf(text, sizeof text, "multi.log=%s", self->log);
    TD_CHECK(td_settings_add(out, text));
    snprintf(text, sizeof text, "multi.family=%s", family);
    return td_settings_add(out, text);
}

static uint32_t busiest(const td_graph *graph)
{
    uint32_t best = 0;
    for (uint32_t v = 1; v < graph->vertices; v++)
        if (td_degree(&graph->out, v) > td_degree(&graph->out, best)) best = v;
    return best;
}

static td_status run_subject(job *self, int s, const td_graph *graph, const char *family)
{
    td_status status = TD_OK;
    const td_program *program = td_program_named(subjects[s].program);
    td_settings settings = {0};
    td_run *run = NULL;
    td_cost_sample *samples = NULL;
    uint64_t count = 0;
    if (program->info->needs_source && strcmp(family, "grid") == 0) return TD_OK; /* frontiers too small to be divided */
    if (program->info->weights == TD_WEIGHTS_NEEDED && graph->weights == TD_WEIGHT_NONE) return TD_OK;
    td_run_options how = {.pool = self->pool, .settings = &settings, .has_source = program->info->needs_source,
                          .source = busiest(graph), .has_iterations = subjects[s].iterations > 0,
                          .iterations = subjects[s].iterations,
                          .mode = td_program_has_async(program) && subjects[s].iterations > 0 ? TD_MODE_ASYNC : TD_MODE_DEFAULT,
                          .engine = "multi", .devices = self->settings->devices, .cache = &self->cache};
    if (truncate(self->log, 0) != 0) return td_fail_errno(TD_IO, errno, "cannot empty %s", self->log);
    TD_TRY(add_settings(self, &subjects[s], family, &settings));
    TD_TRY(td_run_program(&run, program, graph, &how));
    self->runs++;
    td_status read = td_cost_samples_read(&samples, &count, self->log);
    if (read == TD_OK) TD_TRY(take_samples(self, samples, count));
done:
    td_free(samples);
    td_run_destroy(run);
    td_settings_clear(&settings);
    return status;
}

static td_status run_graph(job *self, td_graph *graph, const char *family, int number, int all)
{
    td_status status = TD_OK;
    for (int s = 0; s < SUBJECTS && status == TD_OK; s++) {
        td_progress_text("graph %d of %d, %s: %s", number, all, family, subjects[s].program);
        status = td_cancel_check();
        if (status == TD_OK) status = run_subject(self, s, graph, family);
    }
    td_cache_release_layouts(&self->cache);
    td_graph_destroy(graph);
    return status;
}

/* The file's name without folder and suffix. */
static void family_of(char family[TD_COST_FAMILY], const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash != NULL) path = slash + 1;
    snprintf(family, TD_COST_FAMILY, "%.*s", (int)strcspn(path, "."), path);
}

static td_status run_all(job *self)
{
    int generated = td_calibrate_graphs(self->size), all = generated + self->graph_count;
    uint64_t began = td_clock_ns();
    for (int k = 0; k < all; k++) {
        int i = (k + generated) % all; /* the given ones first */
        if (self->settings->seconds > 0 && td_seconds_since(began) >= self->settings->seconds) return TD_OK;
        self->used = k + 1;
        td_graph *graph = NULL;
        char family[TD_COST_FAMILY];
        if (i < generated) {
            snprintf(family, sizeof family, "%s", td_calibrate_family(self->size, i));
            TD_CHECK(td_calibrate_graph(self->size, i, self->pool, &graph));
        } else {
            family_of(family, self->graphs[i - generated]);
            TD_CHECK(td_graph_read(&graph, self->graphs[i - generated], NULL, NULL, self->pool));
        }
        TD_CHECK(run_graph(self, graph, family, k + 1, all));
    }
    return TD_OK;
}

static td_status add_given_log(job *self)
{
    td_status status = TD_OK;
    td_cost_sample *samples = NULL;
    uint64_t count = 0;
    if (self->settings->log == NULL) return TD_OK;
    TD_TRY(td_cost_samples_read(&samples, &count, self->settings->log));
    TD_TRY(take_samples(self, samples, count));
done:
    td_free(samples);
    return status;
}

/* Devices. */

static td_status inspect(job *self)
{
    td_gpu_set *gpus;
    td_run_options how = {.pool = self->pool, .devices = self->settings->devices, .cache = &self->cache};
    char name[TD_COST_NAME];
    TD_CHECK(td_gpu_set_open(&how, "multi", &gpus));
    if (gpus->count < 2)
        return td_fail(TD_USAGE, "--devices %s: a cost model divides work among GPUs, and there is one; two or more that "
                       "are alike are needed, such as cuda:0/8 or emu:2@dgx1", self->settings->devices);
    TD_CHECK(td_cost_file_name(name, gpus));
    if (self->settings->output != NULL) snprintf(self->file, sizeof self->file, "%s", self->settings->output);
    else TD_CHECK(td_cost_file_own(self->file, gpus));
    if (self->size == TD_CALIBRATE_EMULATED)
        self->size = gpus->gpu[0]->kind == TD_DEVICE_EMULATOR ? TD_CALIBRATE_EMULATED : TD_CALIBRATE_GPU;
    snprintf(self->label, sizeof self->label, "%s, %.64s", self->settings->devices, gpus->gpu[0]->properties.model);
    return TD_OK;
}

/* Results. */

static void print_table(const td_calibrate_table *table, const td_cost_model *model, td_cost_work work)
{
    printf("\n%s: RMSRE on a family, trained on the others\n%-16s %8s", td_cost_work_names[work], "family", "samples");
    for (int kind = 0; kind < TD_CALIBRATE_KINDS; kind++) printf(" %11s", td_calibrate_kinds[kind]);
    printf("\n");
    for (int k = 0; k < table->families; k++) {
        printf("%-16s %8llu", table->family[k], (unsigned long long)table->samples[k]);
        for (int kind = 0; kind < TD_CALIBRATE_KINDS; kind++) printf(" %11.3f", table->error[k][kind]);
        printf("\n");
    }
    printf("%-16s %8s", "all", "");
    for (int kind = 0; kind < TD_CALIBRATE_KINDS; kind++) printf(" %11.3f", table->all[kind]);
    printf("\n%-16s %8s", "training, s", "");
    for (int kind = 0; kind < TD_CALIBRATE_KINDS; kind++) printf(" %11.3f", table->seconds[kind]);
    const char *kind = model->kind == TD_COST_EXPONENTIAL ? "the exponential of a polynomial" : "a polynomial";
    if (model->samples > 0) printf("\nstored: %s of degree %d\n", kind, model->degree);
    else printf("\nstored: none, because of errors of %g and more; runs measure instead\n", TD_CALIBRATE_WORST);
}

static void print(const job *self)
{
    printf("%s: %llu runs on %d graph%s in %.0f s, %llu samples;\ntraining took %.0f s\n", self->label,
           (unsigned long long)self->runs, self->used, self->used == 1 ? "" : "s", self->run_seconds,
           (unsigned long long)self->count, self->train_seconds);
    for (int work = 0; work < TD_COST_WORKS; work++)
        if (self->tables[work].families > 0) print_table(&self->tables[work], &self->models.of[work], (td_cost_work)work);
    printf("\nwrote %s\n", self->file);
}

static void report_table(td_json *json, const td_calibrate_table *table, const td_cost_model *model, td_cost_work work)
{
    td_json_object(json, NULL);
    td_json_string(json, "work", td_cost_work_names[work]);
    td_json_u64(json, "samples", model->samples); /* 0: not stored */
    td_json_u64(json, "degree", (uint64_t)model->degree);
    td_json_real(json, "error", model->error);
    td_json_real(json, "held_out_error", model->held_out_error);
    td_json_array(json, "families");
    for (int k = 0; k < table->families; k++) {
        td_json_row(json, NULL);
        td_json_string(json, "family", table->family[k]);
        td_json_u64(json, "samples", table->samples[k]);
        for (int kind = 0; kind < TD_CALIBRATE_KINDS; kind++)
            td_json_real(json, td_calibrate_kinds[kind], table->error[k][kind]);
        td_json_end_object(json);
    }
    td_json_end_array(json);
    td_json_end_object(json);
}

static void report(td_json *json, const job *self)
{
    td_json_string(json, "devices", self->settings->devices);
    td_json_string(json, "model", self->file);
    td_json_u64(json, "graphs", (uint64_t)self->used);
    td_json_u64(json, "runs", self->runs);
    td_json_u64(json, "samples", self->count);
    td_json_array(json, "models");
    for (int work = 0; work < TD_COST_WORKS; work++)
        if (self->tables[work].families > 0)
            report_table(json, &self->tables[work], &self->models.of[work], (td_cost_work)work);
    td_json_end_array(json);
}

static td_status calibrate(job *self)
{
    TD_CHECK(td_pool_create(&self->pool, (int)self->settings->common.threads));
    TD_CHECK(inspect(self));
    TD_CHECK(td_place_check(self->file));
    TD_CHECK(make_log(self));
    uint64_t began = td_clock_ns();
    TD_CHECK(run_all(self));
    self->run_seconds = td_seconds_since(began);
    TD_CHECK(add_given_log(self));
    if (self->count == 0)
        return td_fail(TD_INVALID, "there is no sample: no graph and no log was given, or no iteration had "
                       "edges enough; --size normal or larger graphs are needed");
    if (self->settings->keep != NULL)
        TD_CHECK(td_cost_samples_write(self->samples, self->count, self->settings->keep));
    began = td_clock_ns();
    for (int work = 0; work < TD_COST_WORKS; work++)
        TD_CHECK(td_calibrate_train(self->samples, self->count, (td_cost_work)work, self->label, &self->models.of[work],
                                    &self->tables[work]));
    self->train_seconds = td_seconds_since(began);
    bool any = false;
    for (int work = 0; work < TD_COST_WORKS; work++) any = any || self->models.of[work].samples > 0;
    if (!any)
        return td_fail(TD_INVALID, "no model predicts graphs that it was not trained on: every error is %g or more; larger "
                       "graphs are needed", TD_CALIBRATE_WORST);
    return td_cost_models_write(&self->models, self->file);
}

static td_status check_size(const char *size, td_calibrate_size *out)
{
    *out = TD_CALIBRATE_EMULATED;
    if (size == NULL || strcmp(size, "normal") == 0) return TD_OK;
    *out = strcmp(size, "small") == 0 ? TD_CALIBRATE_SMALL : TD_CALIBRATE_NONE;
    if (*out == TD_CALIBRATE_SMALL || strcmp(size, "none") == 0) return TD_OK;
    return td_fail(TD_USAGE, "--size %s: allowed are none, small and normal", size);
}

/* The file of the machine's rates; rates of an emulated GPU go nowhere but to a file that is named. */
static td_status machine_file(const calibrate_settings *s, char path[TD_DATA_PATH])
{
    char folder[TD_DATA_PATH];
    if (s->output != NULL) {
        snprintf(path, TD_DATA_PATH, "%s", s->output);
        return td_place_check(path);
    }
    if (s->devices != NULL && strstr(s->devices, "emu") != NULL)
        return td_fail(TD_USAGE, "--machine --devices %s: the emulator's times are not those of a GPU; -o names a file "
                       "for them", s->devices);
    if (!td_data_own(folder) || !td_rates_path(path))
        return td_fail(TD_INVALID, "neither XDG_DATA_HOME nor HOME names a folder for the rates; -o names a file");
    return td_data_make_folder(folder);
}

static td_status run_machine(const td_args *args, const calibrate_settings *s, td_calibrate_size size)
{
    enum { SMALL_SCALE = 12, NORMAL_SCALE = 20 };
    td_report out = {0};
    td_pool *pool = NULL;
    char path[TD_DATA_PATH];
    const char *gpu = s->devices != NULL ? s->devices : td_device_kind_present(TD_DEVICE_CUDA, NULL) ? "cuda:0" : NULL;
    if (args->count > 0 || s->seconds > 0 || s->log != NULL || s->keep != NULL || size == TD_CALIBRATE_NONE)
        return td_fail(TD_USAGE, "graphs, --seconds, --log, --samples and --size none are for the cost models of several GPUs: "
                       "--devices cuda:0/8, without --machine");
    TD_CHECK(machine_file(s, path));
    TD_CHECK(td_pool_create(&pool, (int)s->common.threads));
    td_status status = TD_OK;
    if (s->common.json != NULL) status = td_report_begin(&out, s->common.json, "calibrate", td_pool_threads(pool));
    if (status == TD_OK)
        status = td_calibrate_machine(pool, size == TD_CALIBRATE_SMALL ? SMALL_SCALE : NORMAL_SCALE, gpu, path,
                                      s->common.json != NULL ? &out.json : NULL, td_report_leaves_stdout(&s->common));
    td_pool_destroy(pool);
    return td_report_end(&out, status);
}

static td_status run_calibrate(const td_args *args, void *settings)
{
    td_status status = TD_OK;
    const calibrate_settings *s = settings;
    td_report out = {0};
    job *self = NULL;
    td_calibrate_size size;
    if (s->devices != NULL) TD_CHECK(td_devices_check(s->devices));
    TD_CHECK(check_size(s->size, &size));
    if (s->output != NULL) TD_CHECK(td_report_check_target(&s->common, s->output));
    if (s->machine || s->devices == NULL) return run_machine(args, s, size);
    TD_CHECK(TD_NEW_ZEROED(&self, 1, "calibration"));
    self->settings = s;
    self->graphs = args->words;
    self->graph_count = args->count;
    self->size = size;
    TD_TRY(calibrate(self));
    td_progress_end();
    if (td_report_leaves_stdout(&s->common)) print(self);
    if (s->common.json == NULL) goto done;
    TD_TRY(td_report_begin(&out, s->common.json, "calibrate", td_pool_threads(self->pool)));
    report(&out.json, self);
done:
    td_progress_end();
    if (self->log[0] != '\0') unlink(self->log);
    td_cache_release(&self->cache);
    td_pool_destroy(self->pool);
    td_free(self->samples);
    td_free(self);
    return td_report_end(&out, status);
}

const td_command td_cmd_calibrate = {
    .name = "calibrate",
    .summary = "measure rates of this machine, costs of several GPUs",
    .positional = "[GRAPH ...]",
    .most = MOST_GRAPHS,
    .options = options,
    .settings_bytes = sizeof(calibrate_settings),
    .run = run_calibrate,
    .details =
        "Without --devices, or with --machine: measures the rates at which this machine, and its GPU if it has one, loads "
        "a graph, processes the edges of every kind of program and finishes; takes half a minute on two cores. "
        "The rates are stored in the folder tandem in XDG_DATA_HOME, or in ~/.local/share, where 'tandem plan' and every "
        "run find them.\n"
        "With --devices that name several GPUs: runs bfs, sssp, labels, wcc and pagerank on generated graphs of seven "
        "families, and on the graphs given, every fragment on its own GPU, and logs the time of each iteration. From "
        "these samples it trains a model over the degrees of a frontier (mean, range, Gini coefficient, "
        "entropy) for each kind of work: pushes, gather-sums, sweeps.\n"
        "The tables show the error of a linear model, a polynomial of degree 4, a regression tree and the exponential of a "
        "polynomial of degree 2 on a family of graphs that they were not trained on: the root of the mean squared relative "
        "error (RMSRE). The best of them but the tree is stored.\n"
        "The model is stored in the folder tandem in XDG_DATA_HOME, or in ~/.local/share, where `tandem run --engine "
        "multi --set multi.cost=model` finds it. The cost of an edge does not depend on the number of GPUs: emu:2@dgx1 "
        "also calibrates emu:8@dgx1. Times of emulated GPUs are virtual.",
    .examples = "tandem calibrate\n"
                "tandem calibrate --devices cuda:0/8\n"
                "tandem calibrate --devices emu:2@dgx1 --size small -o try.model\n"
                "tandem calibrate --devices cuda:0,cuda:1 web.tg road.tg --json errors.json",
};
