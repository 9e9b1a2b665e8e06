/* The registry of engines; making and running plans. */
#include "engine/engine.h"

#include "base/alloc.h"
#include "base/machine.h"
#include "run/checkpoint.h"
#include "run/groups.h"

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
    plan->device_graph_bytes = plan->device_program_bytes = plan->device_free_bytes = 0;
    plan->device[0] = '\0';
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

/* Releases the cached layout of the previous run if this run does not use it. */
static void make_room(td_plan *plan)
{
    td_cache *cache = plan->options.cache;
    bool serves = cache->state != NULL && strcmp(cache->engine, plan->engine->name) == 0 &&
                  cache->watch.graph == plan->graph;
    if (cache->state == NULL || serves || plan->program_bytes <= plan->free_bytes) return;
    td_cache_release_layout(cache);
    plan->free_bytes = free_memory();
}

td_status td_plan_with(td_plan *plan, const td_engine *engine)
{
    clear(plan);
    plan->engine = plan->reported = engine;
    plan->graph_bytes = td_graph_bytes(plan->graph);
    TD_CHECK(check_disk(plan));
    TD_CHECK(engine->plan(plan));
    plan->program_bytes += td_run_input_bytes(plan->program, plan->graph, &plan->options) +
                           td_checkpoint_bytes(plan->program, plan->graph, &plan->options);
    make_room(plan);
    plan->fits = plan->program_bytes <= plan->free_bytes;
    uint64_t limit = td_memory().limit; /* 0: no limit */
    if (limit > 0 && td_plan_counter(plan, "least_bytes") > limit) plan->fits = false;
    return TD_OK;
}

td_status td_plan_delegate(td_plan *plan, const td_engine *engine, const char *why)
{
    clear(plan);
    plan->engine = plan->reported = engine;
    if (why != NULL) td_plan_add_why(plan, why);
    return engine->plan(plan);
}

td_status td_plan_create(td_plan **out, const td_engine *engine, const td_program *program, const td_graph *graph,
                         const td_run_options *options)
{
    td_plan *plan = NULL;
    uint64_t available = free_memory(); /* before the plan's allocations */
    td_graph_facts facts = td_graph_facts_of(graph);
    TD_CHECK(td_run_check_facts(program, &facts));
    TD_CHECK(TD_NEW_ZEROED(&plan, 1, "plan"));
    plan->program = program;
    plan->graph = td_graph_seen_by(program, graph);
    plan->options = *options;
    if (options->cache == NULL) plan->options.cache = &plan->own_cache;
    plan->free_bytes = available;
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

void td_plan_on_device(td_plan *plan, td_device *device, uint64_t graph, uint64_t program, bool cooperative)
{
    memcpy(plan->device, device->name, sizeof plan->device);
    plan->device_graph_bytes = graph;
    plan->device_program_bytes = program;
    plan->device_free_bytes = td_device_left(device) + device->now; /* the cached layout can be released */
    plan->emulated_bytes = td_device_host_bytes(device, graph + program, cooperative);
    plan->program_bytes += plan->emulated_bytes;
    plan->process_bytes += td_device_stack_bytes(device, cooperative);
}

void td_plan_add_why(td_plan *plan, const char *text)
{
    size_t used = strlen(plan->why);
    snprintf(plan->why + used, sizeof plan->why - used, "%s", text);
}

/* Running. */

static td_status run_plan(const td_plan *plan, td_run **out)
{
    td_status status = TD_OK;
    td_run *run = NULL;
    TD_CHECK(td_run_create(&run, plan->program, plan->graph, &plan->options));
    run->engine = plan->reported->name;
    TD_TRY(td_checkpoints_open(run, &plan->options));
    if (plan->options.begins != NULL) plan->options.begins(plan->options.each_context);
    TD_TRY(td_checkpoints_explain(run, plan->engine->run(plan, run)));
    TD_TRY(td_run_name_groups(run, plan->options.pool));
    TD_TRY(td_checkpoints_explain(run, td_run_check_overflow(run, plan->options.pool)));
    td_checkpoints_close(run);
    run->device_opens = plan->options.cache->opens;
    run->plans = plan->options.cache->plans;
    *out = run;
    run = NULL;
done:
    if (run != NULL) td_checkpoints_close(run);
    td_run_destroy(run);
    return status;
}

td_status td_plan_execute(const td_plan *plan, td_run **out)
{
    td_status status = run_plan(plan, out);
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
