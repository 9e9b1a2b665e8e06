#include "planner/plan.h"

#include "base/alloc.h"
#include "base/machine.h"
#include "base/size.h"
#include "base/words.h"
#include "device/device.h"
#include "engine/checkpoint.h"
#include "engine/coop.h"
#include "engine/cpu.h"
#include "engine/hybrid.h"
#include "engine/resident.h"
#include "engine/stream.h"

#include <stdio.h>
#include <string.h>

enum { MOST_SETTINGS = 64 }; /* of an engine or a program */

const td_engine td_engines[] = {
    {.name = "cpu",
     .summary = "all cores on a graph in memory: edge-balanced pull, notify-pull and push, chosen every iteration",
     .device = "cpu", .settings = td_cpu_settings, .uses = td_cpu_uses},
    {.name = "resident",
     .summary = "a graph that fits the memory of one GPU, loaded once: pull and push, many rounds in one launch",
     .device = "cuda or emu", .settings = td_resident_settings, .uses = td_resident_uses},
    {.name = "stream",
     .summary = "a graph larger than GPU memory: vertices there, edges at the host, of which only useful ones cross "
                "the link",
     .device = "cuda or emu", .settings = td_stream_settings, .uses = td_stream_uses, .check = td_stream_check_settings,
     .example = "sssp g.tg --source 17 --engine stream --devices cuda:0 --gpu-edges 25%"},
    {.name = "hybrid",
     .summary = "a graph larger than memory: pages from disk and memory go to whichever device is free",
     .device = "cpu, with cuda or emu beside it", .settings = td_hybrid_settings, .uses = td_hybrid_uses},
    {.name = "coop",
     .summary = "a graph larger than GPU memory: its hot part there, the rest at the CPU, both at work to the end of "
                "every iteration",
     .device = "cuda or emu", .settings = td_coop_settings, .uses = td_coop_uses},
    {0},
};

const td_engine *td_engine_named(const char *name)
{
    for (const td_engine *engine = td_engines; engine->name != NULL; engine++)
        if (strcmp(engine->name, name) == 0) return engine;
    return NULL;
}

static td_status check_engine(const char *name)
{
    char names[256] = "auto";
    if (name == NULL || strcmp(name, "auto") == 0 || td_engine_named(name) != NULL) return TD_OK;
    for (const td_engine *engine = td_engines; engine->name != NULL; engine++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, ", %s", engine->name);
    }
    return td_fail(TD_USAGE, "unknown engine '%s'; there are %s", name, names);
}

/* Whether a list of devices has one of this name's beginning. */
static bool lists(const char *devices, const char *beginning)
{
    for (const char *at = devices; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, beginning, strlen(beginning)) == 0) return true;
    }
    return false;
}

/* Known before anything is read. */
static td_status check_gpu(const char *engine, const char *devices)
{
    const td_engine *found = engine != NULL ? td_engine_named(engine) : NULL;
    if (found == NULL || strncmp(found->device, "cuda", 4) != 0) return TD_OK;
    if (devices != NULL && !lists(devices, "cuda") && !lists(devices, "emu"))
        return td_fail(TD_USAGE, "--devices %s: the %s engine needs a GPU (cuda:0), or an emulated one (emu)", devices,
                       engine);
    td_status status = devices == NULL ? td_devices_check("cuda:0") : TD_OK;
    if (status == TD_OK) return TD_OK;
    return td_fail_context(status, "the %s engine needs a GPU (--devices emu emulates one)", engine);
}

td_status td_plan_check(const char *engine, const char *devices)
{
    TD_CHECK(check_engine(engine));
    if (engine != NULL && strcmp(engine, "cpu") == 0 && devices != NULL && !lists(devices, "cpu"))
        return td_fail(TD_USAGE,
                       "--engine cpu and --devices %s: the cpu engine runs on the device cpu; --engine resident uses a "
                       "GPU", devices);
    if (devices != NULL) TD_CHECK(td_devices_check(devices));
    return check_gpu(engine, devices);
}

/* A key of another program or engine is no misspelling of one of this one's. */
static td_status check_owner(const char *key, const char *engine, const char *program)
{
    size_t length = strcspn(key, ".");
    if (key[length] != '.') return TD_OK;
    for (const td_engine *each = td_engines; each->name != NULL; each++)
        if (strlen(each->name) == length && strncmp(each->name, key, length) == 0 && strcmp(each->name, engine) != 0)
            return td_fail(TD_USAGE,
                           "the setting '%s' is one of the engine %s, and the engine is %s; 'tandem help %s' lists its "
                           "settings",
                           key, each->name, engine, engine);
    for (int i = 0; td_programs[i] != NULL; i++) {
        const char *name = td_programs[i]->info->name;
        bool owns = strlen(name) == length && strncmp(name, key, length) == 0;
        if (owns && strcmp(name, program) != 0)
            return td_fail(TD_USAGE, "unknown setting '%s': '%s.' begins the parameters of %s, and the program is %s",
                           key, name, name, program);
    }
    return TD_OK;
}

/* A setting of the engine that the program's runs do not look at. */
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
    return td_fail(TD_USAGE, "the setting '%s' changes nothing about %s; it is for %s (see 'tandem help %s')", key,
                   program->info->name, names, engine->name);
}

td_status td_plan_check_settings(const td_engine *engine, const td_program *program, const td_settings *settings)
{
    double numbers[MOST_SETTINGS];
    const td_program_info *info = program->info;
    const char *const prefixes[] = {engine->name, info->name, NULL};
    const td_setting *const tables[] = {engine->settings, info->parameters, NULL};
    for (uint64_t i = 0; i < settings->count; i++) TD_CHECK(check_owner(settings->keys[i], engine->name, info->name));
    TD_CHECK(td_settings_check(settings, prefixes, tables));
    for (uint64_t i = 0; i < settings->count; i++) TD_CHECK(check_use(engine, program, settings->keys[i]));
    for (int i = 0; prefixes[i] != NULL; i++)
        TD_CHECK(td_settings_resolve(settings, prefixes[i], tables[i], numbers, NULL));
    return engine->check != NULL ? engine->check(settings) : TD_OK;
}

static bool is_auto(const char *engine) { return engine == NULL || strcmp(engine, "auto") == 0; }

static bool sets(const td_settings *settings, const char *engine)
{
    size_t length = strlen(engine);
    for (uint64_t i = 0; settings != NULL && i < settings->count; i++)
        if (strncmp(settings->keys[i], engine, length) == 0 && settings->keys[i][length] == '.') return true;
    return false;
}

const td_engine *td_plan_engine(const char *engine, const char *devices, const td_settings *settings)
{
    if (!is_auto(engine)) return td_engine_named(engine);
    for (const td_engine *each = td_engines; each->name != NULL; each++)
        if (sets(settings, each->name)) return each;
    bool gpu = devices != NULL ? lists(devices, "cuda") || lists(devices, "emu")
                               : td_device_kind_present(TD_DEVICE_CUDA, NULL);
    return td_engine_named(gpu ? "resident" : "cpu");
}

static uint64_t free_memory(void)
{
    td_memory_stats memory = td_memory();
    if (memory.budget > 0) return memory.budget > memory.now ? memory.budget - memory.now : 0;
    return td_machine_memory_free();
}

/* The resident engine holds the result in the host's memory, and for a while what it sends; an emulated GPU's
 * memory is the host's too. */
static td_status plan_resident(td_plan *plan, const td_program *program, const td_graph *graph,
                               const td_run_options *options)
{
    td_resident_bytes need;
    uint64_t emulated = 0;
    TD_CHECK(td_resident_count_bytes(program, graph, options, &need));
    bool cooperative = program->cpu[TD_WEIGHT_NONE].fused; /* rounds inside one launch */
    if (options->devices != NULL)
        TD_CHECK(td_devices_host_bytes(options->devices, need.graph + need.program, cooperative, &emulated));
    plan->device_graph_bytes = need.graph;
    plan->device_program_bytes = need.program;
    plan->program_bytes = (uint64_t)graph->vertices * sizeof(double) + need.host + emulated;
    plan->emulated_bytes = emulated;
    return TD_OK;
}

/* What the GPU that would be used has free, under its cap; 0 where there is none. */
static td_status gpu_memory_left(const td_run_options *options, uint64_t *left)
{
    td_loop *loop = NULL;
    td_device *first = NULL, *device;
    *left = 0;
    TD_CHECK(td_loop_create(&loop));
    td_device_options how = {.loop = loop, .pool = options->pool, .gpu_memory = options->gpu_memory};
    if (td_devices_open(&first, options->devices != NULL ? options->devices : "cuda:0", &how) == TD_OK) {
        for (device = first; device != NULL && device->kind == TD_DEVICE_CPU; device = device->next) {}
        if (device != NULL) *left = td_device_left(device);
    }
    td_devices_close(first);
    td_loop_destroy(loop);
    return TD_OK;
}

static void add_why(td_plan *plan, const char *text)
{
    size_t used = strlen(plan->why);
    snprintf(plan->why + used, sizeof plan->why - used, "%s", text);
}

/* The stream engine holds what the device has room for; an emulated one's memory is the host's. */
static td_status plan_stream(td_plan *plan, const td_program *program, const td_graph *graph,
                             const td_run_options *options)
{
    td_stream_bytes need;
    td_stream_shape shape;
    uint64_t left, emulated = 0;
    TD_CHECK(gpu_memory_left(options, &left));
    if (left == 0) left = options->gpu_memory;
    if (left == 0) return TD_OK; /* without a GPU to ask: the run will say so */
    TD_CHECK(td_stream_plan(program, graph, options, left, &need, &shape));
    bool cooperative = program->cpu[TD_WEIGHT_NONE].fused;
    if (options->devices != NULL)
        TD_CHECK(td_devices_host_bytes(options->devices, need.on_device + need.vertices, cooperative, &emulated));
    plan->device_graph_bytes = need.on_device;
    plan->device_program_bytes = need.vertices;
    plan->program_bytes = (uint64_t)graph->vertices * sizeof(double) + need.host + emulated;
    plan->emulated_bytes = emulated;
    if (need.all) {
        add_why(plan, "; everything fits the GPU, so that the resident engine does it");
        return TD_OK;
    }
    plan->subgraph_edges = shape.slot_edges;
    plan->subgraph_bytes = shape.slot_edges * need.edge_bytes;
    plan->subgraph_slots = shape.slots;
    plan->chunks = shape.chunks;
    plan->prefix_bytes = shape.prefix_bytes;
    plan->kept_edges = shape.kept_edges;
    return TD_OK;
}

/* The coop engine holds the hot part there and one copy of the lists, cut in two, here. */
static td_status plan_coop(td_plan *plan, const td_program *program, const td_graph *graph,
                           const td_run_options *options)
{
    td_coop_bytes need;
    uint64_t left, emulated = 0;
    if (!td_coop_cooperates(program)) return td_cpu_bytes(program, graph, options, &plan->program_bytes);
    TD_CHECK(gpu_memory_left(options, &left));
    if (left == 0) left = options->gpu_memory;
    if (left == 0) return TD_OK;
    TD_CHECK(td_coop_plan(program, graph, options, left, &need));
    if (need.all) return plan_resident(plan, program, graph, options);
    if (options->mode == TD_MODE_ASYNC) add_why(plan, "; iterations that two share are synchronous");
    if (options->devices != NULL)
        TD_CHECK(td_devices_host_bytes(options->devices, need.room + need.vertices, false, &emulated));
    plan->device_graph_bytes = need.room;
    plan->device_program_bytes = need.vertices;
    plan->program_bytes = need.host + emulated;
    plan->emulated_bytes = emulated;
    return TD_OK;
}

/* A GPU that nobody named is used where it pays: not for little work. Opening one takes a few tenths of a second, in
 * which a processor is through with this many edges. */
enum { LITTLE_WORK = 1 << 25 };

/* What the GPU cannot hold, or may not, crosses the link; if not even the vertices fit, the processor does it. */
static td_status choose_for_room(td_plan *plan, const td_program *program, const td_graph *graph,
                                 const td_run_options *options)
{
    char need[TD_NUMBER_BYTES], has[TD_NUMBER_BYTES];
    td_stream_bytes bytes;
    td_stream_shape shape;
    uint64_t left, wanted;
    TD_CHECK(plan_resident(plan, program, graph, options));
    TD_CHECK(gpu_memory_left(options, &left));
    wanted = plan->device_graph_bytes + plan->device_program_bytes;
    if (left == 0) return TD_OK; /* the run will say what is missing */
    td_status status = td_stream_plan(program, graph, options, left, &bytes, &shape);
    if (status == TD_OK && bytes.all) return TD_OK;
    plan->engine = status == TD_OK ? "stream" : "cpu";
    td_format_size(need, wanted);
    td_format_size(has, left);
    if (wanted <= left)
        snprintf(plan->why, sizeof plan->why, "%s allows the GPU a part of the edges", td_word("--gpu-edges"));
    else
        snprintf(plan->why, sizeof plan->why, "%s would take %s on the GPU, which has %s", program->info->name, need,
                 has);
    return TD_OK;
}

/* Tandem's own choice, and why. */
static td_status choose(td_plan *plan, const td_program *program, const td_graph *graph, const td_run_options *options)
{
    const char *why = "";
    bool gpu = strcmp(plan->engine, "resident") == 0;
    if (sets(options->settings, plan->engine)) {
        snprintf(plan->why, sizeof plan->why, "the settings are this engine's");
    } else if (!gpu && options->devices != NULL) {
        snprintf(plan->why, sizeof plan->why, "no GPU among %s", td_word("--devices"));
    } else if (!gpu) {
        (void)td_device_kind_present(TD_DEVICE_CUDA, &why);
        snprintf(plan->why, sizeof plan->why, "%s", why);
    } else if (options->devices == NULL && graph->edges < LITTLE_WORK) {
        plan->engine = "cpu";
        snprintf(plan->why, sizeof plan->why, "little work: a GPU would take longer to start");
    } else {
        if (options->devices == NULL) snprintf(plan->why, sizeof plan->why, "the graph fits the GPU's memory");
        else snprintf(plan->why, sizeof plan->why, "a GPU is among %s", td_word("--devices"));
        return choose_for_room(plan, program, graph, options);
    }
    return TD_OK;
}

static td_status count(td_plan *plan, const td_program *program, const td_graph *graph, const td_run_options *options)
{
    plan->device_graph_bytes = plan->device_program_bytes = plan->program_bytes = plan->emulated_bytes = 0;
    if (strcmp(plan->engine, "resident") == 0) TD_CHECK(plan_resident(plan, program, graph, options));
    else if (strcmp(plan->engine, "stream") == 0) TD_CHECK(plan_stream(plan, program, graph, options));
    else if (strcmp(plan->engine, "coop") == 0) TD_CHECK(plan_coop(plan, program, graph, options));
    else if (strcmp(plan->engine, "hybrid") == 0) TD_CHECK(td_plan_hybrid(plan, program, graph, options));
    else TD_CHECK(td_cpu_bytes(program, graph, options, &plan->program_bytes));
    plan->program_bytes += td_run_input_bytes(program, graph, options) + td_checkpoint_bytes(program, graph, options);
    plan->fits = plan->program_bytes <= plan->free_bytes;
    uint64_t limit = td_memory().limit; /* 0: there is none */
    if (graph->paged != NULL && limit > 0) plan->fits = plan->fits && plan->least_bytes <= limit;
    return TD_OK;
}

/* What a GPU takes of the host's memory, an emulated one all that is on it, may be more than there is. */
static td_status leave_gpu_out(td_plan *plan, const td_program *program, const td_graph *graph,
                               const td_run_options *options)
{
    char need[TD_NUMBER_BYTES], has[TD_NUMBER_BYTES];
    const char *engine = plan->engine;
    td_format_size(need, plan->program_bytes);
    td_format_size(has, plan->free_bytes);
    plan->engine = "cpu";
    snprintf(plan->why, sizeof plan->why, "the engine %s would take %s of memory, of which %s are free", engine, need,
             has);
    if (plan->emulated_bytes > 0) add_why(plan, ": an emulated GPU's memory is this machine's");
    return count(plan, program, graph, options);
}

td_status td_plan_make(td_plan *out, const char *engine, const td_program *program, const td_graph *graph,
                       const td_run_options *options)
{
    td_plan plan = {.size = sizeof plan, .engine = td_plan_engine(engine, options->devices, options->settings)->name,
                    .graph_bytes = td_graph_bytes(graph), .free_bytes = free_memory()};
    bool own = is_auto(engine) && !sets(options->settings, plan.engine);
    td_graph_facts facts = td_graph_facts_of(graph);
    TD_CHECK(td_run_check_facts(program, &facts));
    if (is_auto(engine) && graph->paged != NULL) td_plan_choose_disk(&plan, graph);
    else if (is_auto(engine)) TD_CHECK(choose(&plan, program, graph, options));
    else snprintf(plan.why, sizeof plan.why, "asked for");
    if (strcmp(plan.engine, "resident") == 0) TD_CHECK(td_resident_check_caps(program, graph, options));
    TD_CHECK(count(&plan, program, graph, options));
    bool gpu = strcmp(plan.engine, "resident") == 0 || strcmp(plan.engine, "stream") == 0;
    if (own && gpu && !plan.fits) TD_CHECK(leave_gpu_out(&plan, program, graph, options));
    *out = plan;
    return TD_OK;
}

/* Plans are right to a few percent. */
td_status td_plan_ended(const td_plan *plan, td_status status)
{
    char enough[TD_NUMBER_BYTES], emulated[TD_NUMBER_BYTES];
    uint64_t budget = td_memory().budget;
    bool names = td_message_names("--memory") && strstr(td_last_message(), "needs at least") == NULL;
    if (status != TD_NO_MEMORY || budget == 0 || plan->fits || !names) return status;
    td_format_least(enough, budget - plan->free_bytes + plan->program_bytes / 16 * 17 + (64 << 10) +
                                td_machine_besides()); /* a larger limit counts the process too */
    if (plan->emulated_bytes == 0) return td_fail(TD_NO_MEMORY, "%s: %s, about, is enough", td_last_message(), enough);
    return td_fail(TD_NO_MEMORY, "%s: %s, about, is enough, %s of it for the emulated GPU, whose memory is this "
                   "machine's", td_last_message(), enough, td_format_size(emulated, plan->emulated_bytes));
}
