/* What the planner finds out before it compares engines: counts, rates, rounds, earlier runs, the GPU. */
#include "planner/choose.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/machine.h"
#include "base/mapping.h"
#include "base/names.h"
#include "device/device.h"
#include "gpu/set.h"
#include "planner/plan.h"
#include "planner/probe.h"
#include "planner/rates.h"
#include "run/precision.h"
#include "store/packed.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* A part of a GPU's memory is the driver's. */
static const double USABLE = 0.97;

/* Text files: bytes of a line, vertices of an edge, for want of better. */
enum { LINE_BYTES = 12, EDGES_OF_VERTEX = 16, COMPRESSION = 4 };

uint64_t td_question_how(const td_run_options *options)
{
    char text[512];
    int used = snprintf(text, sizeof text, "%d %llu %g %s %g", (int)options->mode,
                        (unsigned long long)options->gpu_memory, options->gpu_edges, options->devices != NULL ? options->devices : "",
                        options->has_tolerance ? options->tolerance : -1);
    for (uint64_t i = 0; options->settings != NULL && i < options->settings->count && used < (int)sizeof text; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, " %s=%s", options->settings->keys[i],
                         options->settings->values[i]);
    return td_hash64(text, strlen(text));
}

/* Whether the engine's layout of the graph is cached on the session's GPU. */
static bool cached(const td_case *of, const char *engine)
{
    const td_question *self = (const td_question *)of;
    const td_cache *cache = of->options->cache;
    for (int i = 0; cache != NULL && self->graph != NULL && i < TD_LAYOUTS; i++) {
        const td_gpu_layout *layout = cache->layouts[i].state;
        bool same = layout != NULL && layout->graph == self->graph;
        if (same && strcmp(cache->layouts[i].engine, engine) == 0) return true;
    }
    return false;
}

static int threads_of(const td_run_options *options)
{
    return options->pool != NULL ? td_pool_threads(options->pool) : td_machine_usable();
}

static void begin(td_question *self, const td_program *program, const td_run_options *options)
{
    static const uint64_t MOST_RUNS = (uint64_t)1 << 32;
    const char *devices = options->devices;
    uint64_t runs = options->runs < MOST_RUNS ? options->runs : MOST_RUNS;
    *self = (td_question){.of = {.program = program, .graph = &self->shape, .options = options, .rates = &self->rates,
                                 .runs = runs > 0 ? runs : 1, .cached = cached}};
    td_rates_find(&self->rates, threads_of(options));
    self->how = td_question_how(options);
    self->named = td_gpu_is_named(devices);
    self->emulated = td_plan_lists(devices, "emu");
    self->cpu = devices == NULL || (td_plan_lists(devices, "cpu") && !self->emulated);
    self->ask_cuda = devices == NULL;
    self->of.gpu = self->named;
    if (devices != NULL && !self->named) self->no_gpu = "no GPU among {devices}";
}

/* Bytes that a run may use on the GPU: of the open one, or as far as it is known without opening it. */
void td_question_find_room(td_question *self)
{
    const td_run_options *options = self->of.options;
    const td_cache *cache = options->cache;
    uint64_t room = UINT64_MAX;
    self->of.gpu_open = cache != NULL && cache->gpus != NULL;
    if (self->of.gpu_open) room = td_gpu_set_room(options, "resident");
    else if (!self->emulated && self->of.gpu) room = (uint64_t)(USABLE * (double)td_devices_memory(td_gpu_wanted(options)));
    if (room == 0) room = UINT64_MAX; /* unknown: opening it says more */
    if (options->gpu_memory > 0 && options->gpu_memory < room) room = options->gpu_memory;
    self->of.gpu_room = room;
}

/* Rounds of an earlier run, of whatever engine; or those of probes. */
static void find_rounds(td_question *self, const td_graph *lists_of)
{
    const td_case *of = &self->of;
    const td_run_options *options = of->options;
    td_workload work = td_workload_of(of->program);
    if (td_history_wants(self->shape.edges))
        self->past_count = td_history_find(self->shape.build_id, td_rates_machine(threads_of(options)),
                                           of->program->info->name, self->past, TD_MOST_PAST);
    for (int i = 0; i < self->past_count && self->of.rounds == 0; i++) self->of.rounds = self->past[i].iterations;
    bool peels = work == TD_WORKLOAD_PEEL;
    bool matters = work == TD_WORKLOAD_SEARCH || work == TD_WORKLOAD_DISTANCE || work == TD_WORKLOAD_SPREAD || peels;
    if (self->of.rounds > 0 || !matters || lists_of == NULL) return;
    bool known = options->has_source && self->graph != NULL;
    self->of.rounds = td_probe_rounds(lists_of, known ? options->source : TD_NO_VERTEX);
    if (peels) self->of.rounds /= 2; /* a grid is peeled from all of its borders */
    self->probed = self->of.rounds > 0;
}

static void take_shape(td_question *self, const td_graph *graph)
{
    const td_graph *seen = td_graph_seen_by(self->of.program, graph);
    self->shape = (td_graph){.vertices = seen->vertices, .edges = seen->edges, .symmetric = seen->symmetric,
                             .weights = seen->weights, .weight_min = seen->weight_min, .weight_max = seen->weight_max,
                             .ids = seen->ids, .ids_sorted = seen->ids_sorted, .name = graph->name,
                             .build_id = graph->build_id, .pattern_symmetric = seen->pattern_symmetric};
}

void td_question_of_graph(td_question *out, const td_program *program, const td_graph *graph,
                          const td_run_options *options, uint64_t host_free)
{
    begin(out, program, options);
    take_shape(out, graph);
    out->graph = graph;
    out->of.loaded = graph->checks != NULL ? TD_LOADED_MAPPED : TD_LOADED_MEMORY;
    out->of.graph_bytes = out->of.file_bytes = td_graph_bytes(graph);
    out->of.host_free = host_free;
    find_rounds(out, graph->paged == NULL ? graph : NULL);
    td_question_find_room(out);
}

static uint64_t host_free(void)
{
    td_memory_stats memory = td_memory();
    if (memory.budget > 0) return memory.budget > memory.now ? memory.budget - memory.now : 0;
    return td_machine_memory_free();
}

static td_status of_packed(td_question *self, const char *path)
{
    td_graph *graph = NULL;
    TD_CHECK(td_packed_map(&graph, path));
    td_graph_facts facts = td_graph_facts_of(graph);
    td_status status = td_run_check_facts(self->of.program, &facts);
    if (status == TD_OK) status = td_program_for(&self->of.program, self->of.program, &facts, self->of.options);
    if (status == TD_OK) {
        take_shape(self, graph);
        self->shape.name = (char *)(uintptr_t)path; /* read only */
        self->of.graph_bytes = self->of.file_bytes = td_graph_bytes(graph);
        find_rounds(self, graph);
        self->shape.ids = NULL; /* of the mapping */
    }
    status = td_mapping_check(graph->mapping, status);
    td_graph_destroy(graph);
    return status;
}

/* Of a text file only the length is known. */
static void of_text(td_question *self, uint64_t bytes, bool compressed)
{
    uint64_t edges = bytes * (compressed ? COMPRESSION : 1) / LINE_BYTES;
    uint64_t vertices = edges / EDGES_OF_VERTEX + 1;
    self->of.text = true;
    self->of.file_bytes = bytes * (compressed ? COMPRESSION : 1);
    self->shape.vertices = vertices < UINT32_MAX ? (uint32_t)vertices : UINT32_MAX - 1;
    self->shape.edges = edges;
    self->of.graph_bytes = edges * 8 + vertices * 16;
}

static bool is_compressed(const char *path)
{
    static const char *const suffixes[] = {".gz", ".xz", ".zst", ".bz2"};
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t end = strlen(suffixes[i]);
        if (length > end && strcmp(path + length - end, suffixes[i]) == 0) return true;
    }
    return false;
}

td_status td_question_of_file(td_question *out, const char *path, const td_program *program,
                              const td_run_options *options)
{
    struct stat facts;
    begin(out, program, options);
    out->of.loaded = TD_LOADED_NOT;
    out->of.host_free = host_free();
    td_status status = of_packed(out, path);
    if (status == TD_FORMAT) {
        if (stat(path, &facts) != 0 || !S_ISREG(facts.st_mode))
            return td_fail(TD_INVALID, "%s is no file whose length is known", path);
        of_text(out, (uint64_t)facts.st_size, is_compressed(path));
        status = TD_OK;
    }
    TD_CHECK(status);
    td_question_find_room(out);
    return TD_OK;
}
