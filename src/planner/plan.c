#include "planner/plan.h"

#include "base/alloc.h"
#include "base/machine.h"
#include "base/size.h"
#include "base/names.h"
#include "device/device.h"
#include "engine/resident/resident.h"
#include "store/packed.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

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

/* Whether a list of devices has a name with this prefix. */
static bool lists(const char *devices, const char *beginning)
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
    if (devices != NULL && !lists(devices, "cuda") && !lists(devices, "emu"))
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
    if (found != NULL && found->uses_devices == TD_USES_CPU && devices != NULL && !lists(devices, "cpu"))
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
    return td_see(engine->name, td_fail(TD_USAGE, "the setting '%s' changes nothing about %s; it is for %s", key,
                                        program->info->name, names));
}

/* Refuses a setting of the engine that has no effect beside the others. */
static td_status check_applies(const td_engine *engine, const td_settings *settings, uint64_t i)
{
    const char *key = settings->keys[i];
    size_t length = strlen(engine->name);
    if (strncmp(key, engine->name, length) != 0 || key[length] != '.') return TD_OK;
    if (engine->applies == NULL || engine->applies(settings, key + length + 1)) return TD_OK;
    return td_see(engine->name, td_fail(TD_USAGE, "%s=%s changes nothing beside the other settings; it is for %s", key,
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
    return td_fail(TD_USAGE, "{gpu_edges} changes nothing about the %s engine; it is for %s ({gpu_memory} limits the "
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

const td_engine *td_engine_choose(const char *engine, const char *devices, const td_settings *settings)
{
    if (!is_auto(engine)) return td_engine_named(engine);
    for (int i = 0; td_engines[i] != NULL; i++)
        if (sets(settings, td_engines[i]->name)) return td_engines[i];
    bool gpu = devices != NULL ? lists(devices, "cuda") || lists(devices, "emu")
                               : td_device_kind_present(TD_DEVICE_CUDA, NULL);
    return gpu ? &td_resident_engine : &td_cpu_engine;
}

/* A GPU that the user did not name is not used for little work: opening it takes a few tenths of a second, in which the
 * CPU processes this many edges. */
enum { LITTLE_WORK = 1 << 25 };

/* Of a file that is no .tg, by its length: an edge takes four bytes or more. */
bool td_plan_is_large(const char *path)
{
    struct stat facts;
    td_packed *packed = NULL;
    if (stat(path, &facts) != 0 || !S_ISREG(facts.st_mode)) return false;
    if (td_packed_open(&packed, path) != TD_OK) return (uint64_t)facts.st_size >= LITTLE_WORK * sizeof(uint32_t);
    bool large = td_packed_describe(packed)->edges >= LITTLE_WORK;
    td_packed_close(packed);
    return large;
}

const td_engine *td_engine_expected(const char *engine, const char *devices, const td_settings *settings,
                                    const char *path)
{
    const td_engine *first = td_engine_choose(engine, devices, settings);
    bool own = is_auto(engine) && devices == NULL && !sets(settings, first->name);
    return own && first->needs_gpu && !td_plan_is_large(path) ? &td_cpu_engine : first;
}

/* Says why not all edges are on the GPU. */
static void say_why_not_all(td_plan *plan, uint64_t wanted, uint64_t room)
{
    char need[TD_NUMBER_BYTES], has[TD_NUMBER_BYTES];
    if (wanted <= room)
        snprintf(plan->why, sizeof plan->why, "%s allows the GPU a part of the edges", td_named("gpu_edges"));
    else
        snprintf(plan->why, sizeof plan->why, "%s needs %s on the GPU, which has %s", plan->program->info->name,
                 td_format_size(need, wanted), td_format_size(has, room));
}

/* If the edges do not fit on the GPU, they cross the link (stream); if the vertices do not fit, the CPU runs it. */
static td_status choose_for_room(td_plan *plan)
{
    td_gpu_bytes whole;
    char why[sizeof plan->why];
    td_status status = td_plan_with(plan, &td_resident_engine);
    if (status != TD_NO_MEMORY) return status;
    TD_CHECK(td_resident_count_bytes(plan->program, plan->graph, &plan->options, &whole));
    say_why_not_all(plan, whole.graph + whole.program, td_gpu_set_room(&plan->options, td_resident_engine.name));
    memcpy(why, plan->why, sizeof why);
    status = td_plan_with(plan, &td_stream_engine);
    if (status != TD_NO_MEMORY) return status;
    memcpy(plan->why, why, sizeof why);
    return td_plan_with(plan, &td_cpu_engine);
}

/* Chooses the engine if the user named none, and says why. */
static td_status choose(td_plan *plan, const td_engine *first)
{
    const td_run_options *options = &plan->options;
    if (sets(options->settings, first->name)) {
        snprintf(plan->why, sizeof plan->why, "the settings are this engine's");
        return td_plan_with(plan, first);
    }
    if (!first->needs_gpu && options->devices != NULL) {
        snprintf(plan->why, sizeof plan->why, "no GPU among %s", td_named("devices"));
    } else if (!first->needs_gpu) {
        snprintf(plan->why, sizeof plan->why, "there is no GPU"); /* 'tandem devices' says why */
    } else if (options->devices == NULL && plan->graph->edges < LITTLE_WORK) {
        snprintf(plan->why, sizeof plan->why, "little work: a GPU would take longer to start");
    } else {
        if (options->devices == NULL) snprintf(plan->why, sizeof plan->why, "the graph fits on the GPU");
        else snprintf(plan->why, sizeof plan->why, "a GPU is among %s", td_named("devices"));
        return choose_for_room(plan);
    }
    return td_plan_with(plan, &td_cpu_engine);
}

/* Chooses the cpu engine if the GPU's host memory (an emulated GPU: all its memory) does not fit. */
static td_status leave_gpu_out(td_plan *plan)
{
    char need[TD_NUMBER_BYTES], has[TD_NUMBER_BYTES];
    const char *engine = plan->engine->name;
    bool emulated = plan->emulated_bytes > 0;
    td_format_size(need, plan->program_bytes);
    td_format_size(has, plan->free_bytes);
    snprintf(plan->why, sizeof plan->why, "the engine %s needs %s of memory, and %s are free", engine, need,
             has);
    if (emulated) td_plan_add_why(plan, ": an emulated GPU's memory is this machine's");
    return td_plan_with(plan, &td_cpu_engine);
}

static td_status make(td_plan *plan, const char *engine)
{
    const td_run_options *options = &plan->options;
    const td_engine *first = td_engine_choose(engine, options->devices, options->settings);
    bool own = is_auto(engine) && !sets(options->settings, first->name);
    if (!is_auto(engine)) {
        snprintf(plan->why, sizeof plan->why, "asked for");
        return td_plan_with(plan, first);
    }
    if (plan->graph->paged != NULL) {
        td_plan_say_disk(plan);
        return td_plan_with(plan, &td_hybrid_engine);
    }
    TD_CHECK(choose(plan, first));
    return own && plan->engine->needs_gpu && !plan->fits ? leave_gpu_out(plan) : TD_OK;
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

/* Plans are accurate to a few percent, which the message adds. */
td_status td_plan_ended(const td_plan *plan, td_status status)
{
    char enough[TD_NUMBER_BYTES], emulated[TD_NUMBER_BYTES];
    td_refusal refusal = *td_last_refusal();
    bool of_budget = refusal.resource == TD_RESOURCE_SESSION_BUDGET || refusal.resource == TD_RESOURCE_PROCESS_BUDGET;
    if (status != TD_NO_MEMORY || !of_budget || refusal.minimum_known || plan->fits) return status;
    refusal.needed = refusal.allowed - plan->free_bytes + plan->program_bytes / 16 * 17 + (64 << 10) +
                     td_machine_besides(); /* a limit includes the process itself */
    refusal.minimum_known = true;
    td_format_least(enough, refusal.needed);
    td_format_size(emulated, plan->emulated_bytes);
    td_refusal_set(&refusal);
    td_fail_add(status, ": %s, about, is enough", enough);
    if (plan->emulated_bytes > 0)
        td_fail_add(status, ", %s of it for the emulated GPU, whose memory is this machine's", emulated);
    return status;
}
