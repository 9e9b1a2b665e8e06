#include "planner/choose.h"

#include "base/names.h"
#include "base/size.h"
#include "device/device.h"

#include <stdio.h>
#include <string.h>

static const double LEAST_GAIN = 0.9; /* advice is given where it saves a tenth, */
static const double LEAST_WORK = 1e-3; /* and where processing takes a millisecond */

static double seconds_of(const td_plan_estimate *row, uint64_t runs)
{
    return row->start + row->load + row->open + row->plan + row->prepare + (double)runs * row->processing + row->finish;
}

/* Earlier runs of the same engine, with the same limits and settings. Accumulating programs took so long for their
 * iterations; others are taken as they were. */
static void use_past(const td_question *self, td_plan_estimate *row)
{
    for (int i = 0; i < self->past_count; i++) {
        const td_past *past = &self->past[i];
        if (past->how != self->how || strcmp(past->engine, row->engine) != 0) continue;
        double passes = td_case_passes(&self->of);
        bool scales = td_workload_of(self->of.program) == TD_WORKLOAD_GATHER && past->iterations > 0;
        row->processing = past->processing * (scales ? passes / past->iterations : 1);
        if (row->prepare > past->prepare) row->prepare = past->prepare; /* a cached layout needs less */
        row->measured = true;
        return;
    }
}

/* What an earlier run took on the cores over what the model says. A graph that the model gets wrong, it gets wrong for
 * every engine on the cores: otherwise the one that has not been measured would seem faster. */
static double cores_over_model(const td_question *self)
{
    td_plan_estimate model = {.engine = td_cpu_engine.name};
    if (self->past_count == 0 || td_cpu_engine.estimate(&self->of, &model) != TD_OK) return 1;
    td_plan_estimate past = model;
    use_past(self, &past);
    return past.measured && model.processing > 0 ? past.processing / model.processing : 1;
}

static void refuse(td_estimates *out, int row, const char *reason)
{
    snprintf(out->refusals[row], sizeof out->refusals[row], "%s", reason);
    out->rows[row].refusal = out->refusals[row];
}

/* Why the devices rule an engine out; NULL: they do not. */
static const char *ruled_out(const td_question *self, const td_engine *engine)
{
    if (engine->estimate == NULL) return "runs only if {engine} names it";
    if (engine->needs_gpu) return self->of.gpu ? NULL : self->no_gpu;
    if (self->emulated) return "{devices} names an emulated GPU";
    return self->cpu ? NULL : "cpu is not among {devices}";
}

static void fill_row(const td_question *self, td_estimates *out, int at)
{
    const td_engine *engine = td_engines[at];
    td_plan_estimate *row = &out->rows[at];
    *row = (td_plan_estimate){.engine = engine->name};
    const char *reason = ruled_out(self, engine);
    if (reason != NULL) {
        char named[TD_ESTIMATE_TEXT];
        refuse(out, at, td_names_in(reason, named, sizeof named));
        return;
    }
    if (self->of.loaded == TD_LOADED_NOT) row->start = self->rates.start;
    if (engine->estimate(&self->of, row) != TD_OK) refuse(out, at, td_last_message());
    else use_past(self, row);
    if (row->refusal == NULL && !row->measured && !engine->needs_gpu) row->processing *= cores_over_model(self);
    row->seconds = seconds_of(row, self->of.runs);
}

void td_question_leave_gpu(td_question *question)
{
    if (!question->ask_cuda) return;
    question->ask_cuda = false;
    question->no_gpu = "{engine} names an engine without one";
}

/* A GPU is asked for only if its context could be worth waiting for. */
static void ask_for_gpu(td_question *self)
{
    td_plan_estimate cpu = {.engine = td_cpu_engine.name};
    const char *why = NULL;
    if (!self->ask_cuda) return;
    self->ask_cuda = false;
    bool known = td_cpu_engine.estimate(&self->of, &cpu) == TD_OK;
    if (known) use_past(self, &cpu);
    if (known && !self->of.gpu_open && seconds_of(&cpu, self->of.runs) < self->rates.context) {
        self->no_gpu = "little work: a GPU would take longer to start";
        return;
    }
    self->of.gpu = td_device_kind_present(TD_DEVICE_CUDA, &why);
    if (self->of.gpu) td_question_find_room(self);
    else self->no_gpu = "there is no GPU";
}

static void choose_least(td_estimates *out)
{
    out->chosen = -1;
    for (int i = 0; i < out->count; i++) {
        out->rows[i].chosen = false;
        if (out->rows[i].refusal != NULL) continue;
        if (out->chosen < 0 || out->rows[i].seconds < out->rows[out->chosen].seconds) out->chosen = i;
    }
    if (out->chosen >= 0) out->rows[out->chosen].chosen = true;
}

static void say_basis(const td_question *self, td_estimates *out)
{
    char rounds[64] = "";
    const td_rates *rates = &self->rates;
    if (self->of.rounds > 0)
        snprintf(rounds, sizeof rounds, "; %.0f rounds, %s", self->of.rounds,
                 self->probed ? "guessed by probes" : "as in an earlier run");
    snprintf(out->basis, sizeof out->basis, "%s for %d thread%s%s%s%s", rates->cpu_measured ? "calibrated rates" :
             "default rates (not calibrated)", rates->threads, rates->threads == 1 ? "" : "s",
             rates->cpu_measured && !rates->gpu_measured ? "; of a GPU: defaults" : "",
             self->emulated ? "; an emulated GPU is estimated as a real one, and takes longer" : "", rounds);
}

/* The second best, for the reason. */
static const td_plan_estimate *runner_up(const td_estimates *out)
{
    const td_plan_estimate *best = NULL;
    for (int i = 0; i < out->count; i++)
        if (i != out->chosen && out->rows[i].refusal == NULL && (best == NULL || out->rows[i].seconds < best->seconds))
            best = &out->rows[i];
    return best;
}

static void say_why(const td_question *self, td_estimates *out)
{
    const td_plan_estimate *other = runner_up(out);
    char named[TD_ESTIMATE_TEXT];
    if (out->chosen < 0) snprintf(out->why, sizeof out->why, "no engine can run it");
    else if (self->emulated || (self->named && !self->cpu && other == NULL))
        snprintf(out->why, sizeof out->why, "a GPU is among %s", td_named("devices"));
    else if (!td_engines[out->chosen]->needs_gpu && self->no_gpu != NULL)
        snprintf(out->why, sizeof out->why, "%s", td_names_in(self->no_gpu, named, sizeof named));
    else if (other == NULL) snprintf(out->why, sizeof out->why, "the only engine that can run it");
    else
        snprintf(out->why, sizeof out->why, "the least time to the answer: about %.3g s; %s would take %.3g s",
                 out->rows[out->chosen].seconds, other->engine, other->seconds);
}

const td_plan_estimate *td_estimates_of(const td_estimates *estimates, const td_engine *engine)
{
    for (int i = 0; estimates != NULL && i < estimates->count; i++)
        if (td_engines[i] == engine) return &estimates->rows[i];
    return NULL;
}

/* If no engine on the devices can run it, the cpu engine does, whichever devices are named. */
static void fall_back(const td_question *self, td_estimates *out)
{
    td_question other = *self;
    const td_plan_estimate *resident = td_estimates_of(out, &td_resident_engine);
    int cpu = (int)(td_estimates_of(out, &td_cpu_engine) - out->rows);
    if (out->chosen >= 0 || (self->cpu && !self->emulated)) return;
    other.of.graph = &other.shape;
    other.of.rates = &other.rates;
    other.emulated = false;
    other.cpu = true;
    fill_row(&other, out, cpu);
    choose_least(out);
    if (out->chosen >= 0 && resident->refusal != NULL)
        snprintf(out->why, sizeof out->why, "the engine resident %.*s", TD_ESTIMATE_TEXT - 24, resident->refusal);
}

void td_question_answer(td_question *self, td_estimates *out)
{
    td_failure before;
    td_failure_keep(&before);
    *out = (td_estimates){.chosen = -1};
    ask_for_gpu(self);
    for (; td_engines[out->count] != NULL && out->count < TD_MOST_ESTIMATES; out->count++)
        fill_row(self, out, out->count);
    choose_least(out);
    say_why(self, out);
    fall_back(self, out);
    say_basis(self, out);
    td_failure_set(&before);
}

bool td_estimates_refuse(td_estimates *estimates, const td_engine *engine, const char *reason)
{
    for (int i = 0; i < estimates->count; i++)
        if (td_engines[i] == engine) refuse(estimates, i, reason);
    choose_least(estimates);
    return estimates->chosen >= 0;
}

const td_engine *td_estimates_engine(const td_estimates *estimates)
{
    return estimates->chosen >= 0 ? td_engines[estimates->chosen] : NULL;
}

void td_estimates_choose(td_estimates *estimates, const td_engine *engine)
{
    for (int i = 0; i < estimates->count; i++) {
        estimates->rows[i].chosen = td_engines[i] == engine;
        if (td_engines[i] == engine) estimates->chosen = i;
    }
}

/* Advice: the same question with one thing changed. */

static td_plan_estimate best_of(td_question question)
{
    td_plan_estimate best = {0};
    td_estimates other;
    question.of.graph = &question.shape;
    question.of.rates = &question.rates;
    td_question_answer(&question, &other);
    if (other.chosen >= 0) best = other.rows[other.chosen];
    return best;
}

static void advise(td_estimates *out, const char *text, const td_plan_estimate *row)
{
    if (out->advice_count == TD_MOST_ADVICE) return;
    snprintf(out->advice[out->advice_count++], TD_ESTIMATE_TEXT, "with %s: %s, %.3g s", text, row->engine,
             row->seconds);
}

/* What the resident engine would need on the GPU. */
static uint64_t resident_bytes(const td_question *self)
{
    td_question all = *self;
    td_run_options options = *self->of.options;
    td_plan_estimate row = {0};
    options.gpu_edges = 0;
    all.of.graph = &all.shape;
    all.of.options = &options;
    all.of.gpu_room = UINT64_MAX;
    return td_resident_engine.estimate(&all.of, &row) == TD_OK ? row.device : 0;
}

static void advise_memory(const td_question *self, td_estimates *out, const td_plan_estimate *chosen)
{
    char bytes[TD_NUMBER_BYTES], text[128];
    uint64_t needed = resident_bytes(self);
    td_question other = *self;
    td_run_options options = *self->of.options;
    if (needed == 0) return;
    options.gpu_edges = 0;
    options.gpu_memory = options.gpu_memory > 0 && options.gpu_memory < needed ? needed : options.gpu_memory;
    other.of.options = &options;
    other.of.gpu = true;
    other.ask_cuda = false;
    other.no_gpu = NULL;
    other.of.gpu_room = needed;
    td_plan_estimate best = best_of(other);
    if (best.engine == NULL || best.engine == chosen->engine || best.seconds > LEAST_GAIN * chosen->seconds) return;
    if (!self->of.gpu)
        snprintf(text, sizeof text, "a GPU like an H200 that has %s free", td_format_least(bytes, needed));
    else if (self->of.gpu_room < needed)
        snprintf(text, sizeof text, "%s more GPU memory", td_format_least(bytes, needed - self->of.gpu_room));
    else snprintf(text, sizeof text, "all edges on the GPU (no %s)", td_named("gpu_edges"));
    advise(out, text, &best);
}

/* The least number of runs of one session that would change the engine. */
static void advise_runs(const td_question *self, td_estimates *out, const td_plan_estimate *chosen)
{
    char text[128];
    for (uint64_t runs = 2 * self->of.runs; runs <= 1024 * self->of.runs; runs *= 2) {
        td_question other = *self;
        other.of.runs = runs;
        other.ask_cuda = other.ask_cuda || (self->no_gpu != NULL && !self->named && self->of.options->devices == NULL);
        td_plan_estimate best = best_of(other);
        if (best.engine == NULL || best.engine == chosen->engine) continue;
        snprintf(text, sizeof text, "%llu runs (%s)", (unsigned long long)runs, td_named("runs"));
        advise(out, text, &best);
        return;
    }
}

void td_question_advise(const td_question *self, td_estimates *out)
{
    td_failure before;
    if (out->chosen < 0 || out->rows[out->chosen].processing < LEAST_WORK) return;
    td_failure_keep(&before);
    td_plan_estimate chosen = out->rows[out->chosen];
    if (!self->emulated) advise_memory(self, out, &chosen);
    advise_runs(self, out, &chosen);
    td_failure_set(&before);
}
