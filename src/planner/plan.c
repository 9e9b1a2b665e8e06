#include "planner/plan.h"

#include "base/alloc.h"
#include "base/machine.h"
#include "base/size.h"
#include "base/names.h"
#include "device/device.h"
#include "planner/choose.h"
#include "planner/history.h"
#include "planner/rates.h"

#include <stdio.h>
#include <string.h>

enum { MOST_SETTINGS = 64 }; /* of an engine or a program */

static bool is_auto(const char *engine) { return engine == NULL || strcmp(engine, "auto") == 0; }

static td_status check_engine(const char *name)
{
    char names[256] = "auto";
    if (is_auto(name) || td_engine_named(name) != NULL) return TD_OK;
    for (int i = 0; td_engines[i] != NULL; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, ", %s", td_engines[i]->name);
    }
    return td_fail(TD_USAGE, "unknown engine '%s'; there are %s", name, names);
}

bool td_plan_lists(const char *devices, const char *beginning)
{
    for (const char *at = devices; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, beginning, strlen(beginning)) == 0) return true;
    }
    return false;
}

/* Checks for a GPU before anything is read. */
static td_status check_gpu(const char *engine, const char *devices)
{
    const td_engine *found = engine != NULL ? td_engine_named(engine) : NULL;
    if (found == NULL || !found->needs_gpu) return TD_OK;
    if (devices != NULL && !td_plan_lists(devices, "cuda") && !td_plan_lists(devices, "emu"))
        return td_fail(TD_USAGE, "{devices} %s: the %s engine needs a GPU (cuda:0), or an emulated one (emu)", devices,
                       engine);
    td_status status = devices == NULL ? td_devices_check("cuda:0") : TD_OK;
    if (status == TD_OK) return TD_OK;
    return td_fail_context(status, "the %s engine needs a GPU ({devices} emu emulates one)", engine);
}

td_status td_plan_check(const char *engine, const char *devices)
{
    TD_CHECK(check_engine(engine));
    const td_engine *found = engine != NULL ? td_engine_named(engine) : NULL;
    if (found != NULL && found->uses_devices == TD_USES_CPU && devices != NULL && !td_plan_lists(devices, "cpu"))
        return td_fail(TD_USAGE,
                       "{engine} %s and {devices} %s: the %s engine runs on the device cpu; {engine} resident uses a "
                       "GPU", engine, devices, engine);
    if (devices != NULL) TD_CHECK(td_devices_check(devices));
    return check_gpu(engine, devices);
}

/* Refuses keys of other programs and engines: they are not misspelt keys of this one. */
static td_status check_owner(const char *key, const td_engine *engine, const char *program)
{
    size_t length = strcspn(key, ".");
    if (key[length] != '.') return TD_OK;
    for (int i = 0; td_engines[i] != NULL; i++) {
        const char *owner = td_engines[i]->name;
        if (strlen(owner) == length && strncmp(owner, key, length) == 0 && td_engines[i] != engine)
            return td_see(engine->name,
                          td_fail(TD_USAGE, "the setting '%s' is one of the engine %s, and the engine is %s", key, owner,
                                  engine->name));
    }
    for (int i = 0; td_programs[i] != NULL; i++) {
        const char *name = td_programs[i]->info->name;
        bool owns = strlen(name) == length && strncmp(name, key, length) == 0;
        if (owns && strcmp(name, program) != 0)
            return td_fail(TD_USAGE, "unknown setting '%s': '%s.' begins the parameters of %s, and the program is %s",
                           key, name, name, program);
    }
    return TD_OK;
}

/* Refuses the former name of one of the engine's settings. */
static td_status check_renamed(const td_engine *engine, const char *key)
{
    size_t length = strlen(engine->name);
    const td_renamed_setting *renamed = engine->renamed;
    if (renamed == NULL || strncmp(key, engine->name, length) != 0 || key[length] != '.') return TD_OK;
    for (; renamed->name != NULL; renamed++)
        if (strcmp(key + length + 1, renamed->formerly) == 0)
            return td_fail(TD_USAGE, "the setting '%s' is now called '%s.%s' (see 'tandem help %s')", key, engine->name,
                           renamed->name, engine->name);
    return TD_OK;
}

/* Refuses a setting of the engine that the program does not use. */
static td_status check_use(const td_engine *engine, const td_program *program, const char *key)
{
    char names[256] = "";
    size_t length = strlen(engine->name);
    if (strncmp(key, engine->name, length) != 0 || key[length] != '.') return TD_OK;
    if (engine->uses == NULL || engine->uses(program, key + length + 1)) return TD_OK;
    for (int i = 0; td_programs[i] != NULL; i++) {
        size_t used = strlen(names);
        if (engine->uses(td_programs[i], key + length + 1))
            snprintf(names + used, sizeof names - used, "%s%s", used > 0 ? ", " : "", td_programs[i]->info->name);
    }
    return td_see(engine->name, td_fail(TD_USAGE, "the setting '%s' has no effect on %s; it is for %s", key,
                                        program->info->name, names));
}

/* Refuses a setting of the engine that has no effect beside the others. */
static td_status check_applies(const td_engine *engine, const td_settings *settings, uint64_t i)
{
    const char *key = settings->keys[i];
    size_t length = strlen(engine->name);
    if (strncmp(key, engine->name, length) != 0 || key[length] != '.') return TD_OK;
    if (engine->applies == NULL || engine->applies(settings, key + length + 1)) return TD_OK;
    return td_see(engine->name, td_fail(TD_USAGE, "%s=%s has no effect beside the other settings; it is for %s", key,
                                        settings->values[i], engine->when(key + length + 1)));
}

td_status td_plan_check_edges(const td_engine *engine, double gpu_edges)
{
    char names[128] = "";
    bool gpu = (engine->uses_devices & TD_USES_GPU) != 0;
    if (gpu_edges <= 0 || !gpu || engine->limits_edges) return TD_OK;
    for (int i = 0; td_engines[i] != NULL; i++) {
        size_t used = strlen(names);
        if (td_engines[i]->limits_edges)
            snprintf(names + used, sizeof names - used, "%s%s", used > 0 ? ", " : "", td_engines[i]->name);
    }
    return td_fail(TD_USAGE, "{gpu_edges} has no effect on the %s engine; it is for %s ({gpu_memory} limits the "
                   "memory of every GPU)", engine->name, names);
}

td_status td_plan_check_settings(const td_engine *engine, const td_program *program, const td_settings *settings)
{
    double numbers[MOST_SETTINGS];
    const td_program_info *info = program->info;
    const char *const prefixes[] = {engine->name, info->name, NULL};
    const td_setting *const tables[] = {engine->settings, info->parameters, NULL};
    for (uint64_t i = 0; i < settings->count; i++) TD_CHECK(check_owner(settings->keys[i], engine, info->name));
    for (uint64_t i = 0; i < settings->count; i++) TD_CHECK(check_renamed(engine, settings->keys[i]));
    TD_CHECK(td_settings_check(settings, prefixes, tables));
    for (uint64_t i = 0; i < settings->count; i++) TD_CHECK(check_use(engine, program, settings->keys[i]));
    for (int i = 0; prefixes[i] != NULL; i++)
        TD_CHECK(td_settings_resolve(settings, prefixes[i], tables[i], numbers, NULL));
    if (engine->check != NULL) TD_CHECK(engine->check(settings));
    for (uint64_t i = 0; i < settings->count; i++) TD_CHECK(check_applies(engine, settings, i));
    return TD_OK;
}

static bool sets(const td_settings *settings, const char *engine)
{
    size_t length = strlen(engine);
    for (uint64_t i = 0; settings != NULL && i < settings->count; i++)
        if (strncmp(settings->keys[i], engine, length) == 0 && settings->keys[i][length] == '.') return true;
    return false;
}

const td_engine *td_engine_asked(const char *engine, const td_settings *settings)
{
    if (!is_auto(engine)) return td_engine_named(engine);
    for (int i = 0; td_engines[i] != NULL; i++)
        if (sets(settings, td_engines[i]->name)) return td_engines[i];
    return NULL;
}

const td_engine *td_engine_choose(const char *engine, const char *devices, const td_settings *settings)
{
    const td_engine *asked = td_engine_asked(engine, settings);
    if (asked != NULL || !is_auto(engine)) return asked;
    bool gpu = devices != NULL ? td_plan_lists(devices, "cuda") || td_plan_lists(devices, "emu")
                               : td_device_kind_present(TD_DEVICE_CUDA, NULL);
    return gpu ? &td_resident_engine : &td_cpu_engine;
}

const td_engine *td_engine_expected(const char *engine, const td_program *program, const td_run_options *options,
                                    const char *path)
{
    td_question question;
    td_estimates answer;
    td_failure before;
    const td_engine *asked = td_engine_asked(engine, options->settings);
    if (asked != NULL || !is_auto(engine)) return asked;
    td_failure_keep(&before);
    const td_engine *found = &td_cpu_engine;
    if (td_question_of_file(&question, path, program, options) == TD_OK) {
        td_question_answer(&question, &answer);
        if (answer.chosen >= 0) found = td_estimates_engine(&answer);
    }
    td_failure_set(&before);
    return found;
}

/* The cpu engine runs what no GPU engine can, whichever devices are named. */
static td_status fall_back(td_plan *plan, const td_engine *last)
{
    const td_plan_estimate *row = td_estimates_of(&plan->estimates, last);
    if (row != NULL && row->refusal != NULL)
        snprintf(plan->why, sizeof plan->why, "the engine %s %s", row->engine, row->refusal);
    return td_plan_with(plan, &td_cpu_engine);
}

/* Why an engine's plan was refused although its estimate was not; false: the failure is another one. */
static bool is_refused(td_plan *plan, td_status status, char reason[TD_ESTIMATE_TEXT])
{
    char need[TD_NUMBER_BYTES], has[TD_NUMBER_BYTES];
    reason[0] = '\0';
    if (status == TD_NO_MEMORY || status == TD_UNSUPPORTED || status == TD_USAGE || status == TD_LIMIT)
        snprintf(reason, TD_ESTIMATE_TEXT, "%s", td_last_message());
    else if (status == TD_OK && plan->engine->needs_gpu && !plan->fits)
        snprintf(reason, TD_ESTIMATE_TEXT, "needs %s of memory, and %s are free%s",
                 td_format_size(need, plan->program_bytes), td_format_size(has, plan->free_bytes),
                 plan->emulated_bytes > 0 ? ": an emulated GPU's memory is this machine's" : "");
    return reason[0] != '\0';
}

/* The engine with the least estimate whose plan fits. A stream or coop plan says why not all edges are on the GPU. */
static td_status choose(td_plan *plan)
{
    td_estimates *answer = &plan->estimates;
    const td_engine *engine, *last = &td_resident_engine;
    const td_plan_estimate *resident = td_estimates_of(answer, &td_resident_engine);
    char reason[TD_ESTIMATE_TEXT];
    while ((engine = td_estimates_engine(answer)) != NULL) {
        snprintf(plan->why, sizeof plan->why, "%.*s", (int)sizeof plan->why - 1, answer->why);
        if (engine->needs_gpu && engine != &td_resident_engine && resident->refusal != NULL)
            snprintf(plan->why, sizeof plan->why, "resident %.*s", (int)sizeof plan->why - 16, resident->refusal);
        td_status status = td_plan_with(plan, engine);
        if (!is_refused(plan, status, reason)) return status;
        last = engine;
        (void)td_estimates_refuse(answer, engine, reason);
    }
    return fall_back(plan, last);
}

/* Estimates of all engines, with what would change the choice. */
static void consider(td_plan *plan, const char *engine)
{
    td_question question;
    const td_engine *asked = td_engine_asked(engine, plan->options.settings);
    td_question_of_graph(&question, plan->program, plan->graph, &plan->options, plan->free_bytes);
    if (asked != NULL && !asked->needs_gpu) td_question_leave_gpu(&question);
    td_question_answer(&question, &plan->estimates);
    if (is_auto(engine)) td_question_advise(&question, &plan->estimates);
}

static td_status make_with(td_plan *plan, const char *engine)
{
    const td_run_options *options = &plan->options;
    const td_engine *asked = td_engine_asked(engine, options->settings);
    if (asked != NULL) {
        snprintf(plan->why, sizeof plan->why, "%s", is_auto(engine) ? "the settings are this engine's" : "asked for");
        return td_plan_with(plan, asked);
    }
    if (plan->graph->paged != NULL) {
        td_plan_say_disk(plan);
        return td_plan_with(plan, &td_hybrid_engine);
    }
    return choose(plan);
}

static td_status make(td_plan *plan, const char *engine)
{
    consider(plan, engine);
    TD_CHECK(make_with(plan, engine));
    td_estimates_choose(&plan->estimates, plan->engine);
    snprintf(plan->estimates.why, sizeof plan->estimates.why, "%.*s", TD_ESTIMATE_TEXT - 1, plan->why);
    return TD_OK;
}

td_status td_plan_make(td_plan **out, const char *engine, const td_program *program, const td_graph *graph,
                       const td_run_options *options)
{
    td_plan *plan = NULL;
    TD_CHECK(td_plan_create(&plan, NULL, program, graph, options));
    td_status status = make(plan, engine);
    if (status == TD_OK) *out = plan;
    else td_plan_destroy(plan);
    return status;
}

/* Runs that were stopped, resumed, limited or emulated say nothing about others, nor do those of a batch, of which many
 * search at once or follow each other. */
void td_plan_remember(const td_plan *plan, const td_run *run)
{
    const td_run_options *options = &plan->options;
    bool limited = options->has_iterations && td_workload_of(plan->program) != TD_WORKLOAD_GATHER;
    bool kept = options->resume != NULL || options->checkpoint != NULL;
    bool odd = limited || kept || options->source_count > 0 || plan->emulated_bytes > 0;
    if (odd || plan->engine != plan->reported || !td_history_wants(plan->graph->edges)) return;
    td_past past = {.build_id = plan->graph->build_id, .machine = td_rates_machine(td_pool_threads(options->pool)),
                    .how = td_question_how(options), .iterations = run->iterations, .prepare = run->prepare_seconds,
                    .processing = run->seconds, .finish = run->finish_seconds};
    snprintf(past.program, sizeof past.program, "%s", plan->program->info->name);
    snprintf(past.engine, sizeof past.engine, "%s", plan->engine->name);
    td_history_add(&past);
}

/* Plans are accurate to a few percent, which the message adds: a run whose plan fits by less may be refused too. */
td_status td_plan_ended(const td_plan *plan, td_status status)
{
    char enough[TD_NUMBER_BYTES], emulated[TD_NUMBER_BYTES];
    td_refusal refusal = *td_last_refusal();
    bool of_budget = refusal.resource == TD_RESOURCE_SESSION_BUDGET || refusal.resource == TD_RESOURCE_PROCESS_BUDGET;
    if (status != TD_NO_MEMORY || !of_budget || refusal.minimum_known) return status;
    refusal.needed = refusal.allowed - plan->free_bytes + plan->program_bytes / 16 * 17 + (64 << 10) +
                     td_machine_besides(); /* a limit includes the process itself */
    if (plan->fits && refusal.needed <= refusal.allowed) return status;
    refusal.minimum_known = true;
    td_format_least(enough, refusal.needed);
    td_format_size(emulated, plan->emulated_bytes);
    td_refusal_set(&refusal);
    td_fail_add(status, ": %s, about, is enough", enough);
    if (plan->emulated_bytes > 0)
        td_fail_add(status, ", %s of it for the emulated GPU, whose memory is this machine's", emulated);
    return status;
}
