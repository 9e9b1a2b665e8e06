/* The registry of engines; making and running plans. */
#include "engine/engine.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/names.h"
#include "gpu/set.h"
#include "run/checkpoint.h"
#include "run/groups.h"
#include "run/precision.h"
#include "store/checks.h"
#include "store/ranks.h"

#include <stdio.h>
#include <string.h>

const td_engine *const td_engines[] = {
#define TD_ENGINE(name) &td_##name##_engine,
#include "engine/engines.def"
#undef TD_ENGINE
    NULL,
};

const td_engine *td_engine_named(const char *name)
{
    for (int i = 0; td_engines[i] != NULL; i++)
        if (strcmp(td_engines[i]->name, name) == 0) return td_engines[i];
    return NULL;
}

/* Planning. */

static uint64_t free_memory(void)
{
    td_memory_stats memory = td_memory();
    if (memory.budget > 0) return memory.budget > memory.now ? memory.budget - memory.now : 0;
    return td_machine_memory_free();
}

static void clear(td_plan *plan)
{
    td_free(plan->shape);
    plan->shape = NULL;
    plan->counter_count = 0;
    plan->program_bytes = plan->emulated_bytes = 0;
    plan->process_bytes = TD_PROCESS_BYTES;
    plan->device_graph_bytes = plan->device_program_bytes = 0;
    plan->devices.count = 0;
    plan->group = 1;
    plan->prepared_count = 0;
}

/* Gives the plan to an engine; statements of the previous one are dropped. */
static void give_to(td_plan *plan, const td_engine *engine)
{
    clear(plan);
    plan->engine = plan->reported = engine;
    if (engine->uses_devices & TD_USES_CPU) (void)td_device_use_of(&plan->devices, "cpu");
}

static td_status check_disk(const td_plan *plan)
{
    const char *disk = NULL;
    if (plan->graph->paged == NULL || plan->engine->takes_disk) return TD_OK;
    for (int i = 0; td_engines[i] != NULL; i++)
        if (td_engines[i]->takes_disk) disk = td_engines[i]->name;
    return td_fail(TD_USAGE,
                   "the edges of %s stay on disk, and the engine %s needs them in memory; {engine} %s does not",
                   plan->graph->name, plan->engine->name, disk);
}

/* An engine that lets an iteration read its own values cannot promise what so many iterations give. */
static td_status check_strict(const td_plan *plan)
{
    char names[128] = "";
    if (plan->engine->strict || !td_run_strict(plan->program, &plan->options)) return TD_OK;
    for (int i = 0; td_engines[i] != NULL; i++)
        if (td_engines[i]->strict) {
            size_t used = strlen(names);
            snprintf(names + used, sizeof names - used, "%s%s", used > 0 ? " or " : "", td_engines[i]->name);
        }
    return td_fail(TD_USAGE, "{iterations}: with the engine %s an iteration of %s reads values of its own, so "
                   "that a number of iterations means other values elsewhere; use {engine} %s, or give {async}",
                   plan->engine->name, plan->program->info->name, names);
}

static bool serves(const td_layout *layout, const td_plan *plan)
{
    const td_gpu_layout *cached = layout->state;
    return cached != NULL && strcmp(layout->engine, plan->engine->name) == 0 && cached->graph == plan->graph;
}

/* Bytes that the run can have without releasing layouts: free memory, and the part of the cache that it uses. */
static uint64_t bytes_at_hand(const td_plan *plan)
{
    const td_cache *cache = plan->options.cache;
    uint64_t bytes = free_memory() + (plan->engine->uses_devices & TD_USES_GPU ? cache->set_bytes : 0);
    for (int i = 0; i < TD_LAYOUTS; i++) bytes += serves(&cache->layouts[i], plan) ? cache->layouts[i].host_bytes : 0;
    return bytes;
}

/* The least recently used of the cached layouts that the run does not use; NULL: none. */
static td_layout *oldest_other(td_plan *plan)
{
    td_layout *oldest = NULL;
    for (int i = 0; i < TD_LAYOUTS; i++) {
        td_layout *layout = &plan->options.cache->layouts[i];
        if (layout->state == NULL || layout->in_use || serves(layout, plan)) continue;
        if (oldest == NULL || layout->used < oldest->used) oldest = layout;
    }
    return oldest;
}

/* Releases cached layouts that the run does not use, least recently used first, and then GPUs that it does not use. A
 * plan of a GPU engine that would not fit even then releases nothing: another engine may be planned instead. */
static void make_room(td_plan *plan)
{
    td_cache *cache = plan->options.cache;
    td_layout *other;
    if (plan->engine->needs_gpu && plan->program_bytes > plan->free_bytes) return;
    while (plan->program_bytes > bytes_at_hand(plan) && (other = oldest_other(plan)) != NULL) td_layout_release(other);
    bool idle = !(plan->engine->uses_devices & TD_USES_GPU) && cache->gpus != NULL;
    if (idle && plan->program_bytes > bytes_at_hand(plan)) td_cache_release(cache);
}

static void state_cpu(td_plan *plan)
{
    if (!(plan->engine->uses_devices & TD_USES_CPU)) return;
    td_device_row *row = &td_device_use_of(&plan->devices, "cpu")->row;
    row->graph = plan->graph_bytes;
    row->program = plan->program_bytes;
    row->free = plan->free_bytes;
}

/* Ranks of weights lie beside the graph, and more while they were found, before the program's arrays. */
static void state_ranks(td_plan *plan)
{
    const td_graph *graph = plan->graph;
    if (graph->ranks_of == NULL) return;
    uint64_t distinct = graph->edges > 0 ? (uint64_t)graph->weight_max + 1 : 0;
    uint64_t kept = td_ranks_bytes(graph->ranks_of, distinct);
    uint64_t besides = td_ranks_peak_bytes(graph->ranks_of, distinct) - kept;
    plan->graph_bytes = td_graph_bytes(graph->ranks_of) + kept;
    if (plan->program_bytes < besides) plan->program_bytes = besides;
}

static td_status plan_with(td_plan *plan, const td_engine *engine)
{
    give_to(plan, engine);
    plan->note[0] = '\0';
    plan->graph_bytes = td_graph_bytes(plan->graph);
    TD_CHECK(check_disk(plan));
    TD_CHECK(engine->plan(plan));
    TD_CHECK(check_strict(plan));
    plan->options.counts_neighbours = plan->engine->counts_neighbours != NULL && plan->engine->counts_neighbours(plan);
    if (!plan->options.counts_neighbours)
        plan->program_bytes += td_run_input_bytes(plan->program, plan->graph, &plan->options);
    plan->program_bytes += td_checkpoint_bytes(plan->program, plan->graph, &plan->options);
    state_ranks(plan);
    make_room(plan);
    plan->fits = plan->program_bytes <= plan->free_bytes;
    uint64_t limit = td_memory().limit; /* 0: no limit */
    if (limit > 0 && td_plan_counter(plan, "least_bytes") > limit) plan->fits = false;
    state_cpu(plan);
    return TD_OK;
}

td_status td_plan_with(td_plan *plan, const td_engine *engine)
{
    td_graph_user_begin(&plan->options.cache->user);
    td_status status = plan_with(plan, engine);
    td_graph_user_end(&plan->options.cache->user);
    return status;
}

td_status td_plan_delegate(td_plan *plan, const td_engine *engine, const char *why)
{
    give_to(plan, engine);
    if (why != NULL) td_plan_add_why(plan, why);
    return engine->plan(plan);
}

td_status td_plan_create(td_plan **out, const td_engine *engine, const td_program *program, const td_graph *graph,
                         const td_run_options *options)
{
    td_plan *plan = NULL;
    const td_graph *seen;
    td_graph_facts facts = td_graph_facts_of(graph);
    TD_CHECK(td_run_check_facts(program, &facts));
    TD_CHECK(td_program_for(&program, program, &facts, options));
    TD_CHECK(td_graph_for(&seen, program, graph, options));
    uint64_t available = free_memory() + (options->cache != NULL ? td_cache_bytes(options->cache) : 0);
    TD_CHECK(TD_NEW_ZEROED(&plan, 1, "plan"));
    plan->program = program;
    plan->graph = seen;
    plan->options = *options;
    if (options->cache == NULL) plan->options.cache = &plan->own_cache;
    plan->free_bytes = available; /* before the plan's allocations; cached layouts serve the run or are released */
    plan->opened = plan->options.cache->open_seconds;
    td_status status = engine != NULL ? td_plan_with(plan, engine) : TD_OK;
    plan->options.cache->plans++;
    if (status == TD_OK) *out = plan;
    else td_plan_destroy(plan);
    return status;
}

void td_plan_destroy(td_plan *plan)
{
    if (plan == NULL) return;
    clear(plan);
    td_cache_release(&plan->own_cache);
    if (plan->free_owner != NULL) plan->free_owner(plan->owner);
    td_free(plan);
}

td_status td_plan_shape(td_plan *plan, void *out, size_t bytes)
{
    TD_CHECK(td_new_zeroed_bytes(&plan->shape, 1, bytes, "plan"));
    memcpy(out, &plan->shape, sizeof plan->shape);
    return TD_OK;
}

void td_plan_count(td_plan *plan, const char *name, uint64_t value)
{
    if (plan->counter_count < TD_PLAN_COUNTERS) plan->counters[plan->counter_count++] = (td_counter){name, value};
}

uint64_t td_plan_counter(const td_plan *plan, const char *name)
{
    for (int i = 0; plan != NULL && name != NULL && i < plan->counter_count; i++)
        if (strcmp(plan->counters[i].name, name) == 0) return plan->counters[i].value;
    return 0;
}

/* Layouts beside the graph. */

void td_plan_reads(td_plan *plan, const char *layout)
{
    if (plan->prepared_count < TD_PLAN_PREPARED)
        snprintf(plan->prepared[plan->prepared_count++], TD_SIDECAR_NAME, "%s", layout);
}

/* Whether a run copies all lists into memory before its engine begins, because something else reads them. */
static bool copies_lists(const td_plan *plan)
{
    const td_run_options *options = &plan->options;
    bool peels = td_workload_of(plan->program) == TD_WORKLOAD_PEEL; /* its input is found in the file (run/prepare.c) */
    bool inputs = td_run_input_bytes(plan->program, plan->graph, options) > 0 && !peels;
    return inputs || options->resume != NULL || td_run_looks_at_weights(plan->program->info, plan->graph);
}

void td_plan_spares_weights(td_plan *plan)
{
    bool ignored = plan->program->info->weights == TD_WEIGHTS_UNUSED;
    plan->graph_bytes = td_graph_bytes(plan->graph) - (ignored ? td_checks_pending_weights(plan->graph) : 0);
}

/* Whether parents of vertices at the ends of edges of length 0 may have to be found, among the lists (run/parents.c). A real
 * length may add nothing to a distance. */
static bool may_solve_parents(const td_plan *plan)
{
    const td_graph *graph = plan->graph;
    if (!plan->options.parents || plan->program->info->weights == TD_WEIGHTS_UNUSED) return false;
    return graph->weights != TD_WEIGHT_NONE && (td_weight_real(graph->weights) || !(graph->weight_min > 0));
}

bool td_plan_spares_lists(td_plan *plan)
{
    const td_graph *graph = plan->graph;
    td_plan_spares_weights(plan);
    if (copies_lists(plan) || may_solve_parents(plan)) return false;
    plan->graph_bytes = td_graph_bytes(graph) - td_checks_pending_weights(graph);
    if (td_run_may_exceed(plan->program->info, graph)) return false; /* copies the targets when it ends */
    plan->graph_bytes -= td_checks_pending_targets(graph);
    return true;
}

bool td_prepared_has(const td_graph *graph, const td_engine *engine, const td_program *program,
                     const td_run_options *options)
{
    char name[TD_SIDECAR_NAME];
    td_failure before;
    td_failure_keep(&before);
    double wish = TD_PREPARED_AUTO;
    bool can = engine->layout != NULL && graph->build_id != 0 && graph->name != NULL;
    if (can) (void)td_settings_number(options->settings, engine->name, engine->settings, "prepared", &wish);
    bool named = can && wish != TD_PREPARED_OFF && engine->layout(program, graph, options, name) == TD_OK;
    td_failure_set(&before);
    td_sidecar_id id = {graph->name, graph->build_id, name};
    return named && td_sidecar_has(&id);
}

void td_plan_on_device(td_plan *plan, td_device *device, uint64_t graph, uint64_t program, bool cooperative)
{
    uint64_t emulated = td_device_host_bytes(device, graph + program, cooperative);
    td_device_row *row = &td_device_use_of(&plan->devices, device->name)->row;
    row->graph = graph;
    row->program = program;
    row->free = td_device_left(device) + device->now; /* cached layouts can be released */
    plan->device_graph_bytes += graph;
    plan->device_program_bytes += program;
    plan->emulated_bytes += emulated;
    plan->program_bytes += emulated;
}

void td_plan_say(td_plan *plan, bool warns, const char *text)
{
    char named[sizeof plan->note];
    snprintf(plan->note, sizeof plan->note, "%s", td_names_in(text, named, sizeof named));
    plan->note_warns = warns;
    plan->note_printed = false;
}

void td_plan_add_why(td_plan *plan, const char *text)
{
    size_t used = strlen(plan->why);
    snprintf(plan->why + used, sizeof plan->why - used, "%s", text);
}

/* Running. */

/* Fills what the engine left open in the devices' rows. Iterations state the edges of one GPU beside the CPU; engines
 * with several GPUs count the edges of each. */
static void end_devices(td_run *run, const td_engine *engine, uint64_t held, uint64_t peak)
{
    td_device_use *cpu = engine->uses_devices & TD_USES_CPU ? td_device_use_of(&run->devices, "cpu") : NULL;
    uint64_t on_gpu = 0;
    double waited = 0;
    for (uint32_t i = 0; i < run->row_count; i++) {
        on_gpu += run->full_rows[i].edges_gpu + run->full_rows[i].edges_link;
        waited += run->full_rows[i].cpu_idle_seconds;
    }
    if (cpu == NULL) on_gpu = run->edges_processed;
    for (int i = 0; i < run->devices.count && run->devices.count - (cpu != NULL) == 1; i++) {
        td_device_use *gpu = &run->devices.of[i];
        if (gpu != cpu && gpu->row.edges == 0 && gpu->row.launches > 0) gpu->row.edges = on_gpu;
    }
    if (cpu == NULL) return;
    cpu->row.peak = cpu->row.graph + (peak > held ? peak - held : 0);
    cpu->row.edges = run->edges_processed - on_gpu;
    cpu->row.busy_seconds = run->seconds > waited ? run->seconds - waited : 0;
}

/* Says once what the program makes of a directed graph, where that can surprise. */
static void print_view(const td_plan *plan, const td_run *run)
{
    bool *printed = &((td_plan *)(uintptr_t)plan)->view_printed;
    const td_program_info *info = run->program->info;
    bool other = info->forward_choice > 0 && run->context.parameter[info->forward_choice - 1] != 0;
    if (info->directed == NULL || run->graph->symmetric || other || *printed) return;
    *printed = true;
    td_info("%s of a directed graph: %s", info->name, info->directed);
}

/* Prints the plan's message once. */
static void print_note(const td_plan *plan)
{
    bool *printed = &((td_plan *)(uintptr_t)plan)->note_printed; /* this and view_printed are all that a run changes of its plan */
    if (plan->note[0] == '\0' || *printed) return;
    *printed = true;
    if (plan->note_warns) td_warn("%s", plan->note);
    else td_info("%s", plan->note);
}

/* Bytes of the account's memory that are not the run's: layouts that it uses count as its own. */
static uint64_t held_for_others(const td_plan *plan)
{
    const td_cache *cache = plan->options.cache;
    uint64_t own = plan->engine->uses_devices & TD_USES_GPU ? cache->set_bytes : 0, now = td_memory().now;
    for (int i = 0; i < TD_LAYOUTS; i++) own += serves(&cache->layouts[i], plan) ? cache->layouts[i].host_bytes : 0;
    return now > own ? now - own : 0;
}

/* Lists that were not checked when the graph was opened are checked here, unless the engine does so on their way to its
 * devices and nothing reads them before. */
static td_status check_lists(const td_plan *plan)
{
    bool spares = plan->engine->checks_lists ||
                  (plan->engine->spares_lists != NULL && plan->engine->spares_lists(plan));
    if (spares && !copies_lists(plan)) return TD_OK;
    return td_checks_lists(plan->graph, plan->program->info->weights != TD_WEIGHTS_UNUSED, plan->options.pool);
}

bool td_plan_may_group(const td_plan *plan)
{
    const td_run_options *options = &plan->options;
    return td_options_are_batch(options) && options->source_count > 1 && options->mode != TD_MODE_ASYNC &&
           !options->parents && !options->traces;
}

/* *narrow: the run failed because its values were too small. With a group they are the group's. */
static td_status run_plan(const td_plan *plan, td_group *group, td_run **out, bool *narrow)
{
    td_status status = TD_OK;
    td_run *run = NULL;
    uint64_t held = held_for_others(plan), before = td_memory_peak_begin();
    td_graph_user_begin(&plan->options.cache->user);
    uint64_t began = td_clock_ns();
    TD_TRY(check_lists(plan));
    double checked = td_seconds_since(began);
    TD_TRY(td_run_create(&run, plan->program, plan->graph, &plan->options));
    run->prepare_seconds += checked;
    run->engine = plan->reported->name;
    run->has_columns = plan->engine->columns != NULL || (plan->engine->uses_devices & TD_USES_CPU) != 0;
    run->devices = plan->devices;
    TD_TRY(td_checkpoints_open(run, &plan->options));
    if (plan->options.begins != NULL) plan->options.begins(plan->options.each_context);
    print_view(plan, run);
    print_note(plan);
    if (group != NULL) {
        TD_TRY(plan->engine->run_group(plan, run, group));
    } else {
        TD_TRY(td_checkpoints_explain(run, plan->engine->run(plan, run)));
        if (run->graph->ranks_of != NULL) run->graph = run->graph->ranks_of; /* results are about its weights */
        TD_TRY(td_run_name_groups(run, plan->options.pool));
        status = td_run_check_overflow(run, plan->options.pool);
        *narrow = status == TD_LIMIT;
        TD_TRY(td_checkpoints_explain(run, status));
    }
    td_checkpoints_close(run);
    run->device_opens = plan->options.cache->opens;
    run->plans = plan->options.cache->plans;
    run->open_seconds = plan->options.cache->open_seconds - plan->opened;
    TD_TRY(td_run_complete_rows(run));
    end_devices(run, plan->engine, held, td_memory().peak);
    run->finish_seconds = td_seconds_since(run->processed_at);
    *out = run;
    run = NULL;
done:
    td_graph_user_end(&plan->options.cache->user);
    td_memory_peak_end(before);
    if (run != NULL) td_checkpoints_close(run);
    td_run_destroy(run);
    return status;
}

/* Repeats a run with values of 8 bytes. */
static td_status run_wide(const td_plan *plan, td_run **out)
{
    td_plan *wide = NULL;
    bool narrow;
    td_run_options options = plan->options;
    options.begins = NULL;
    td_info("%s: distances do not fit into 32 bits; it runs again with 64 (%s.precision=double does so at once)",
            plan->program->info->name, plan->program->info->name);
    TD_CHECK(td_plan_create(&wide, plan->engine, plan->program->wide, plan->graph, &options));
    wide->reported = plan->reported;
    td_status status = run_plan(wide, NULL, out, &narrow);
    td_plan_destroy(wide);
    return status;
}

td_status td_plan_execute(const td_plan *plan, td_run **out)
{
    bool narrow = false;
    uint64_t began = td_clock_ns();
    td_status status = run_plan(plan, NULL, out, &narrow);
    double attempt = td_seconds_since(began);
    if (narrow && td_program_widens(plan->program, &plan->options)) {
        status = run_wide(plan, out);
        if (status == TD_OK) (*out)->prepare_seconds += attempt;
    }
    return plan->engine->explain != NULL ? plan->engine->explain(plan, status) : status;
}

td_status td_plan_execute_group(const td_plan *plan, td_group *group, td_run **out)
{
    bool narrow;
    td_status status = run_plan(plan, group, out, &narrow);
    if (status != TD_OK) td_group_free(group);
    return plan->engine->explain != NULL ? plan->engine->explain(plan, status) : status;
}

td_status td_run_program(td_run **out, const td_program *program, const td_graph *graph, const td_run_options *options)
{
    td_plan *plan = NULL;
    const td_engine *engine = options->engine != NULL ? td_engine_named(options->engine) : td_engines[0];
    TD_CHECK(td_plan_create(&plan, engine, program, graph, options));
    td_status status = td_plan_execute(plan, out);
    td_plan_destroy(plan);
    return status;
}
