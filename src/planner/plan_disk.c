/* Graphs whose edges stay on disk: the choice, and the memory of such a run. */
#include "planner/plan.h"

#include "base/alloc.h"
#include "base/machine.h"
#include "base/size.h"
#include "base/names.h"
#include "run/checkpoint.h"
#include "run/precision.h"
#include "store/ranks.h"
#include "engine/hybrid/gpu.h"

#include <stdio.h>
#include <string.h>

/* What no plan states: headers and rounding of blocks, texts, tallies of workers. 45 to 66 KB were measured; a graph
 * stays in memory only if that fits as well. */
enum { SMALL_BLOCKS = 96 << 10 };

static uint64_t memory_allowed(void)
{
    uint64_t budget = td_memory().budget;
    return budget > 0 ? budget : td_machine_memory_free();
}

td_status td_plan_check_file(const char *path, const td_program *program, const td_build_options *build)
{
    td_packed *packed = NULL;
    TD_CHECK(td_packed_open(&packed, path));
    const td_packed_info *file = td_packed_describe(packed);
    td_graph_facts facts = {.name = path, .vertices = file->vertices, .weights = file->weights,
                            .has_in = file->has_in || td_build_options_change(build)};
    if (!td_build_options_change(build)) facts.weight_max = file->weight_max; /* build options may drop the heaviest
                                                                               * edge */
    td_packed_close(packed);
    if (build->drop_weights) facts.weights = TD_WEIGHT_NONE;
    return build->attach_weights ? TD_OK : td_run_check_facts(program, &facts);
}

/* Of weights that the run replaces by ranks. */
static uint64_t ranks_bytes(const td_program *program, const td_graph *graph)
{
    if (!td_run_ranks(program, graph->weights)) return 0;
    return td_ranks_peak_bytes(graph, td_ranks_most(graph));
}

td_status td_plan_on_disk(const char *path, const char *engine, const td_program *program,
                          const td_run_options *options, bool *on_disk)
{
    td_packed *packed = NULL;
    uint64_t program_bytes;
    *on_disk = false;
    const td_engine *wanted = engine != NULL ? td_engine_named(engine) : NULL; /* NULL: not named */
    bool possible = wanted == NULL || wanted->takes_disk;
    TD_CHECK(td_packed_open(&packed, path));
    const td_packed_info *file = td_packed_describe(packed);
    bool ranks = td_run_ranks(program, file->weights);
    if (!possible && !ranks) {
        td_packed_close(packed);
        return TD_OK;
    }
    static uint64_t ids; /* a non-NULL pointer stands for existing ids */
    bool unweighted = file->pattern_symmetric && program->info->weights == TD_WEIGHTS_UNUSED;
    td_graph shape = {.vertices = file->vertices, .edges = file->edges, .symmetric = file->symmetric || unweighted,
                      .weights = unweighted ? TD_WEIGHT_NONE : file->weights,
                      .ids = file->has_ids ? &ids : NULL, .ids_sorted = file->ids_sorted};
    td_graph_facts facts = {.vertices = file->vertices, .weights = file->weights, .weight_max = file->weight_max};
    td_status status = td_program_for(&program, program, &facts, options);
    if (status == TD_OK) status = td_cpu_bytes(program, &shape, options, &program_bytes);
    bool asked = td_hybrid_use_of(options->settings) >= TD_USE_GPU;
    uint64_t slot = td_hybrid_page_edges(program, &shape, options, false, true, UINT64_MAX);
    uint64_t gpu = asked ? td_hybrid_gpu_host_bytes(program, &shape, options, slot, false) : 0;
    uint64_t besides = td_run_input_bytes(program, &shape, options) + td_checkpoint_bytes(program, &shape, options) +
                       ranks_bytes(program, &shape) + SMALL_BLOCKS;
    bool large = status == TD_OK && td_packed_graph_bytes(file) + program_bytes + besides + gpu > memory_allowed();
    td_packed_close(packed);
    if (large && ranks) return td_plan_too_large(path, engine, program, options);
    *on_disk = large;
    return status;
}

td_status td_plan_exceeds_memory(const char *path, bool *exceeds)
{
    enum { PROGRAM_BYTES = 24 }; /* bytes per vertex of most programs, rounded up */
    td_packed *packed = NULL;
    td_memory_stats memory = td_memory();
    TD_CHECK(td_packed_open(&packed, path));
    const td_packed_info *file = td_packed_describe(packed);
    uint64_t left = memory.budget > memory.now ? memory.budget - memory.now : 0;
    uint64_t needs = td_packed_graph_bytes(file) + (uint64_t)file->vertices * PROGRAM_BYTES;
    *exceeds = needs > (memory.budget > 0 ? left : td_machine_memory_free());
    td_packed_close(packed);
    return TD_OK;
}

td_status td_plan_too_small(const char *path, const td_program *program, const td_run_options *options)
{
    td_graph *graph = NULL;
    TD_CHECK(td_packed_map(&graph, path));
    td_packed_info file = td_packed_plan(graph);
    td_graph_facts facts = td_graph_facts_of(graph);
    td_status status = td_program_for(&program, program, &facts, options);
    if (status == TD_OK)
        status = td_hybrid_too_small(program, td_graph_seen_by(program, graph), &file, options,
                                     td_hybrid_use_of(options->settings) >= TD_USE_GPU);
    td_graph_destroy(graph);
    return status;
}

/* Whether the engine uses an emulated GPU, whose memory is host memory. */
static bool emulates(const td_engine *engine, const td_run_options *options)
{
    uint64_t bytes = 0;
    if (options->devices == NULL || !(engine->uses_devices & TD_USES_GPU)) return false;
    return td_devices_host_bytes(options->devices, 1, false, &bytes) == TD_OK && bytes > 0;
}

static td_status planned_bytes(const char *engine, const td_program *program, const td_graph *graph,
                               const td_run_options *options, uint64_t *running)
{
    td_plan *plan = NULL;
    TD_CHECK(td_plan_make(&plan, engine, program, graph, options));
    *running = plan->program_bytes;
    td_plan_destroy(plan);
    return TD_OK;
}

/* What paths take on a GPU is known once their index is made. A guess without memory for that: what they take on cores,
 * and as much on an emulated GPU. */
static td_status guess_paths(const td_program *program, const td_graph *graph, const td_run_options *options,
                             uint64_t *running)
{
    td_settings none = {0};
    td_run_options cores = *options;
    uint64_t emulated;
    cores.devices = "cpu";
    cores.settings = &none;
    cores.gpu_edges = 0;
    TD_CHECK(planned_bytes(td_paths_engine.name, program, graph, &cores, running));
    TD_CHECK(td_devices_host_bytes(options->devices, *running, true, &emulated));
    *running += emulated;
    return TD_OK;
}

/* The host memory of a run that has more than the cpu engine's arrays, an emulated GPU or an index of paths: what the
 * engine's plan states. */
static td_status count_planned(const td_engine *engine, const td_program *program, const td_graph *graph,
                               const td_run_options *options, uint64_t *running)
{
    td_status status = planned_bytes(engine->name, program, graph, options, running);
    bool guess = status == TD_NO_MEMORY && engine == &td_paths_engine && options->devices != NULL;
    return guess ? guess_paths(program, graph, options, running) : status;
}

/* Adds a few percent to the sum. Temporary memory of loading is free when the run begins. */
td_status td_plan_too_large(const char *path, const char *engine, const td_program *program,
                            const td_run_options *options)
{
    char least[TD_NUMBER_BYTES], has[TD_NUMBER_BYTES];
    td_hybrid_bytes disk;
    td_graph *graph = NULL;
    uint64_t running = 0;
    TD_CHECK(td_packed_map(&graph, path));
    td_packed_info file = td_packed_plan(graph);
    td_graph_facts facts = td_graph_facts_of(graph);
    const td_graph *seen = td_graph_seen_by(program, graph);
    uint64_t ranks = ranks_bytes(program, seen);
    const td_engine *chosen = td_engine_choose(engine, options->devices, options->settings);
    bool emulated = emulates(chosen, options), planned = emulated || chosen == &td_paths_engine;
    td_status status = planned ? count_planned(chosen, program, graph, options, &running) : TD_NO_MEMORY;
    bool counted = status == TD_OK;
    if (counted || status == TD_NO_MEMORY) status = td_program_for(&program, program, &facts, options);
    if (status == TD_OK && !counted) status = td_cpu_bytes(program, seen, options, &running);
    if (!counted) running += td_run_input_bytes(program, seen, options) + td_checkpoint_bytes(program, seen, options);
    if (status == TD_OK) status = td_hybrid_count_bytes(program, seen, &file, options, memory_allowed(), &disk);
    running += ranks;
    td_graph_destroy(graph);
    TD_CHECK(status);
    uint64_t loading = td_packed_load_bytes(&file, options->pool);
    uint64_t more = (running > loading ? running : loading) / 16 * 17;
    td_refusal refusal = td_memory_refusal(td_packed_graph_bytes(&file) + more + (64 << 10) + TD_PROCESS_BYTES);
    td_format_least(least, refusal.needed);
    bool fits = disk.least <= td_memory().limit && ranks == 0; /* which are made in memory */
    return td_refuse(&refusal, "%s on %s needs at least {memory} %s (with its edges in memory%s, estimated); %s "
                     "given%s%s%s", program->info->name, path, least,
                     !emulated ? "" : counted ? " and an emulated GPU's memory" : ", without the emulated GPU's memory",
                     td_format_size(has, td_memory().limit),
                     fits ? "; " : "", fits ? td_named("engine") : "", fits ? " hybrid leaves them on disk" : "");
}

void td_plan_say_disk(td_plan *plan)
{
    char whole[TD_NUMBER_BYTES], has[TD_NUMBER_BYTES];
    td_format_size(whole, td_packed_graph_bytes(td_paged_describe(plan->graph->paged)));
    td_format_size(has, memory_allowed());
    snprintf(plan->why, sizeof plan->why, "the graph (%s) and the program do not fit in the memory of %s", whole,
             has);
}
