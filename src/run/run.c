/* Common to the runs of all engines: checks the request against the program and the graph, prepares inputs, adds
 * rows. */
#include "run/run.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "kernels/cpu/job.h"
#include "store/checks.h"
#include "run/checkpoint.h"
#include "store/builder.h"
#include "store/paged.h"
#include "store/ranks.h"

#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { MOST_ROWS = 1 << 20 };

const td_graph *td_graph_seen_by(const td_program *program, const td_graph *graph)
{
    return program->info->weights == TD_WEIGHTS_UNUSED ? td_graph_without_weights(graph) : graph;
}

bool td_run_ranks(const td_program *program, td_weight_kind weights)
{
    const td_program_info *info = program->info;
    bool ordered = info->kind == TD_KIND_SWEEP && info->weights != TD_WEIGHTS_UNUSED;
    return ordered && weights == TD_WEIGHT_F64;
}

td_status td_graph_for(const td_graph **out, const td_program *program, const td_graph *graph,
                       const td_run_options *options)
{
    const td_program_info *info = program->info;
    double numbers[TD_PARAMETERS] = {0};
    *out = td_graph_seen_by(program, graph);
    if (td_run_ranks(program, graph->weights)) return td_graph_ranked(graph, options->pool, out);
    if (info->forward_choice == 0) return TD_OK;
    TD_CHECK(td_settings_resolve(options->settings, info->name, info->parameters, numbers, NULL));
    if (numbers[info->forward_choice - 1] != TD_VIEW_NEIGHBOURS) return TD_OK;
    TD_CHECK(td_checks_lists(graph, false, options->pool));
    return td_graph_simple(graph, options->pool, out);
}

/* A block of numbers, which rows refer to: blocks never move. */
typedef struct td_row_numbers {
    struct td_row_numbers *next;
    uint32_t used, room;
    double values[];
} td_row_numbers;

static void free_numbers(td_row_numbers *block)
{
    while (block != NULL) {
        td_row_numbers *next = block->next;
        td_free(block);
        block = next;
    }
}

void td_run_destroy(td_run *run)
{
    if (run == NULL) return;
    free_numbers(run->numbers);
    td_free(run->values);
    td_free(run->parents);
    td_free(run->edges);
    td_free(run->forest);
    td_free(run->workers);
    td_free(run->rows);
    td_free(run->full_rows);
    td_free(run->events);
    td_free(run->checkpoint_stats.resumed_from);
    for (int i = 0; i < TD_INPUTS; i++) td_free(run->inputs[i]);
    td_free(run);
}

#define NO_MORE_ROWS (UINT32_C(1) << 31) /* in row_room: memory is too short to keep more */

/* Whether further rows are not kept. */
static bool rows_end(const td_run *run)
{
    return run->row_count == MOST_ROWS || (run->row_room & NO_MORE_ROWS) != 0;
}

/* Whether so many rows would take memory that the run may still need: engines that fill what they are given, with pages
 * for example, leave room for PLANNED_ROWS. */
enum { PLANNED_ROWS = 8 * TD_FIRST_ROWS };

static bool rows_crowd(uint32_t rows)
{
    td_memory_stats memory = td_memory();
    if (memory.budget == 0 || rows <= PLANNED_ROWS) return false;
    return memory.now + rows * TD_ROW_BYTES + memory.budget / 16 > memory.budget;
}

/* Plans count the first rows alone: a run does not fail because its report would be long. */
static td_status make_row_room(td_run *run)
{
    uint32_t room = run->row_room == 0 ? TD_FIRST_ROWS : run->row_room * 2;
    td_status status = rows_crowd(room) ? TD_NO_MEMORY : TD_RESIZE(&run->rows, room, "rows of iterations");
    if (status == TD_OK && run->has_columns) status = TD_RESIZE(&run->full_rows, room, "rows of iterations");
    if (status == TD_NO_MEMORY && run->row_room > 0) {
        run->row_room |= NO_MORE_ROWS;
        return TD_OK;
    }
    if (status == TD_OK) run->row_room = room;
    return status;
}

td_status td_run_add_row(td_run *run, const td_run_options *options, const td_row *row)
{
    if (options->each != NULL && !options->each(options->each_context, &row->common)) {
        if (run->checkpoints == NULL) return td_fail(TD_CANCELLED, "cancelled");
        run->stop = true; /* td_checkpoint_due reads it */
    }
    if (rows_end(run)) return TD_OK;
    if (run->row_count == run->row_room) TD_CHECK(make_row_room(run));
    if (rows_end(run)) return TD_OK;
    run->rows[run->row_count] = row->common;
    if (run->has_columns) run->full_rows[run->row_count] = *row;
    run->row_count++;
    return TD_OK;
}

td_status td_run_complete_rows(td_run *run)
{
    if (!run->has_columns && run->row_count > 0) {
        td_failure before;
        if (rows_crowd(run->row_count)) run->row_count = PLANNED_ROWS;
        td_failure_keep(&before);
        while (run->row_count > 0 && TD_NEW_ZEROED(&run->full_rows, run->row_count, "rows of iterations") != TD_OK)
            run->row_count /= 2; /* a run does not fail because its report would be long */
        td_failure_set(&before);
        run->has_columns = true;
    }
    for (uint32_t i = 0; i < run->row_count; i++) run->full_rows[i].common = run->rows[i];
    return TD_OK;
}

void td_run_count(td_run *run, const char *name, uint64_t value)
{
    if (run->work_count < TD_RUN_COUNTERS) run->work[run->work_count++] = (td_counter){name, value};
}

td_status td_run_add_list(td_run *run, const double *values, uint32_t count, td_row_list *out)
{
    enum { ROOM = 8192 };
    td_row_numbers *block = run->numbers;
    *out = (td_row_list){0};
    if (rows_end(run)) return TD_OK; /* its row is not kept either */
    if (block == NULL || block->room - block->used < count) {
        uint32_t room = count > ROOM ? count : ROOM;
        void *memory;
        TD_CHECK(td_new_bytes(&memory, 1, sizeof *block + room * sizeof *values, "numbers of iterations"));
        block = memory;
        block->next = run->numbers;
        block->used = 0;
        block->room = room;
        run->numbers = block;
    }
    memcpy(block->values + block->used, values, count * sizeof *values);
    *out = (td_row_list){block->values + block->used, count};
    block->used += count;
    return TD_OK;
}

td_status td_run_add_event(td_run *run, const td_run_options *options, const td_run_event *event)
{
    if (!options->traces || run->event_count == MOST_ROWS) return TD_OK;
    if (run->event_count == run->event_room) {
        uint32_t room = run->event_room == 0 ? 256 : run->event_room * 2;
        TD_CHECK(TD_RESIZE(&run->events, room, "events of a trace"));
        run->event_room = room;
    }
    run->events[run->event_count++] = *event;
    return TD_OK;
}

/* The first edge whose weight the program refuses. */
typedef struct weight_check {
    const td_graph *graph;
    const td_program_info *info;
    bool positive; /* zero is refused too */
} weight_check;

static td_status check_weights_of(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    weight_check *self = context;
    const td_graph *graph = self->graph;
    for (uint64_t v = begin; v < end; v++)
        for (uint64_t e = graph->out.offsets[v]; e < graph->out.offsets[v + 1]; e++) {
            double weight = td_weight_at(graph, &graph->out, e);
            if (weight > 0 || (weight == 0 && !self->positive)) continue;
            return td_fail(TD_INVALID, "%s: the edge from %llu to %llu has weight %g; %s needs weights %s zero",
                           graph->name != NULL ? graph->name : "graph",
                           (unsigned long long)td_graph_id(graph, (uint32_t)v),
                           (unsigned long long)td_graph_id(graph, graph->out.targets[e]), weight, self->info->name,
                           self->positive ? "above" : "of at least");
        }
    return TD_OK;
}

bool td_run_looks_at_weights(const td_program_info *info, const td_graph *graph)
{
    if (info->weights == TD_WEIGHTS_UNUSED || graph->weights == TD_WEIGHT_NONE || !info->non_negative) return false;
    return !(graph->weight_min > 0 || (graph->weight_min >= 0 && !info->positive));
}

static td_status check_weights(const td_program_info *info, const td_graph *graph, td_pool *pool)
{
    if (!td_run_looks_at_weights(info, graph)) return TD_OK;
    weight_check self = {graph, info, info->positive};
    return td_graph_for_vertices(graph, TD_LIST_OUT, TD_WITH_WEIGHTS, pool, 4096, check_weights_of, &self);
}

bool td_run_strict(const td_program *program, const td_run_options *options)
{
    const td_cpu_kernels *k = &program->cpu[TD_WEIGHT_NONE];
    return options->mode != TD_MODE_ASYNC && options->has_iterations && program->info->kind == TD_KIND_GAS && k->fused &&
           k->sum == TD_SUM_MIN && !k->first_hit;
}

/* Sweeps and levels of peeling have one order, which a mode does not change. */
bool td_program_has_async(const td_program *program)
{
    return program->info->order_free && program->info->kind == TD_KIND_GAS &&
           program->cpu[TD_WEIGHT_NONE].schedule != TD_SCHEDULE_PEEL;
}

static td_status check_mode(const td_program *program, const td_run_options *options)
{
    const td_program_info *info = program->info;
    bool levels = program->cpu[TD_WEIGHT_NONE].schedule == TD_SCHEDULE_PEEL;
    if (options->mode != TD_MODE_ASYNC || td_program_has_async(program)) return TD_OK;
    if (!info->order_free)
        return td_fail(TD_USAGE, "%s depends on the order of updates and runs synchronously only", info->name);
    return td_fail(TD_USAGE, "{async} has no effect on %s, which %s; leave it out", info->name,
                   levels ? "peels level by level" : "sweeps over all edges");
}

td_status td_run_check_options(const td_program *program, const td_run_options *options)
{
    const td_program_info *info = program->info;
    if (info->needs_source && !options->has_source)
        return td_fail(TD_USAGE, "%s needs a source vertex; give one with {source}", info->name);
    if (options->has_source && !info->needs_source && !info->takes_source)
        return td_fail(TD_USAGE, "%s starts everywhere and takes no source vertex", info->name);
    if (options->parents && !info->gives_parents) return td_fail(TD_USAGE, "%s has no parents to give", info->name);
    TD_CHECK(check_mode(program, options));
    if (options->has_tolerance && !(options->tolerance >= 0))
        return td_fail(TD_USAGE, "the tolerance must be at least 0");
    if (options->has_tolerance && program->cpu[TD_WEIGHT_NONE].measure == TD_MEASURE_NONE)
        return td_fail(TD_USAGE, "%s ends with an exact result and takes no tolerance", info->name);
    return td_checkpoints_check(program, options);
}

td_graph_facts td_graph_facts_of(const td_graph *graph)
{
    return (td_graph_facts){.name = graph->name, .vertices = graph->vertices, .has_in = graph->in.offsets != NULL,
                            .weights = graph->weights, .weight_max = graph->weight_max};
}

static td_status check_kind_of_weights(const td_program_info *info, const td_graph_facts *facts)
{
    const char *name = facts->name != NULL ? facts->name : "the graph";
    if (info->weights == TD_WEIGHTS_NEEDED && facts->weights == TD_WEIGHT_NONE)
        return td_fail(TD_INVALID,
                       "%s needs edge weights and %s has none; {weights} 1:1 makes every weight 1, which bfs does not "
                       "need, {weights} 1:100 draws random ones", info->name, name);
    bool limited = info->weights != TD_WEIGHTS_UNUSED && info->largest_weight > 0;
    if (!limited || facts->weights != TD_WEIGHT_U32 || facts->weight_max <= info->largest_weight) return TD_OK;
    return td_fail(TD_LIMIT, "%s takes integer weights up to %u; %s has %.0f", info->name, info->largest_weight, name,
                   facts->weight_max);
}

td_status td_run_check_facts(const td_program *program, const td_graph_facts *facts)
{
    const td_program_info *info = program->info;
    if (facts->vertices == 0)
        return td_fail(TD_INVALID, "the graph has no vertices: there is nothing to run %s on", info->name);
    if (!facts->has_in)
        return td_fail(TD_INVALID, "the graph was built without its in-adjacency; build it anew, without {out_only} "
                       "of 'tandem convert'");
    return check_kind_of_weights(info, facts);
}

static td_status check_request(const td_program *program, const td_graph *graph, const td_run_options *options)
{
    td_graph_facts facts = td_graph_facts_of(graph);
    TD_CHECK(td_run_check_options(program, options));
    TD_CHECK(td_run_check_facts(program, &facts));
    if (options->has_source && options->source >= graph->vertices)
        return td_fail(TD_INVALID, "source vertex number %u is beyond the last vertex", options->source);
    return check_weights(program->info, graph, options->pool);
}

/* Integer distances saturate instead of overflowing; a saturated one is not a result. */
static td_status find_saturated(void *context, uint64_t begin, uint64_t end, int worker)
{
    const td_run *run = context;
    const uint32_t *distances = run->values;
    (void)worker;
    for (uint64_t v = begin; v < end; v++)
        if (distances[v] == UINT32_C(0xfffffffe))
            return td_fail(TD_LIMIT,
                           "the distance of vertex %llu is beyond 4294967293, the largest of 32 bits; give "
                           "sssp.precision=double",
                           (unsigned long long)td_graph_id(run->graph, (uint32_t)v));
    return TD_OK;
}

static bool is_infinite(const td_run *run, uint64_t v)
{
    return run->kind == TD_VALUE_F64 ? isinf(((const double *)run->values)[v]) : isinf(((const float *)run->values)[v]);
}

/* A real distance that is too large has become infinite, like that of an unreached vertex. */
static td_status find_infinity(void *context, uint64_t begin, uint64_t end, int worker)
{
    const td_run *run = context;
    const td_graph *graph = run->graph;
    (void)worker;
    for (uint64_t u = begin; u < end; u++)
        for (uint64_t e = graph->out.offsets[u]; e < graph->out.offsets[u + 1] && !is_infinite(run, u); e++) {
            unsigned long long id = td_graph_id(graph, graph->out.targets[e]);
            if (!is_infinite(run, graph->out.targets[e])) continue;
            if (run->kind == TD_VALUE_F64)
                return td_fail(TD_LIMIT, "the distance of vertex %llu is beyond %g, the largest 64-bit float; use smaller "
                               "weights", id, DBL_MAX);
            return td_fail(TD_LIMIT, "the distance of vertex %llu is beyond %g, the largest in single precision; give "
                           "sssp.precision=double", id, (double)FLT_MAX);
        }
    return TD_OK;
}

bool td_run_may_exceed(const td_program_info *info, const td_graph *graph)
{
    double largest = info->wide ? DBL_MAX : (double)FLT_MAX;
    return info->real_follows_weights && td_weight_real(graph->weights) && graph->weight_max * graph->vertices >= largest;
}

static td_status check_infinities(td_run *run, td_pool *pool)
{
    const td_graph *graph = run->graph;
    if (!run->converged || !td_run_may_exceed(run->program->info, graph)) return TD_OK;
    TD_CHECK(td_checks_lists(graph, false, pool));
    return td_graph_for_vertices(graph, TD_LIST_OUT, 0, pool, 4096, find_infinity, run);
}

/* Values that are too small for the result: the run may be repeated with wider ones. */
td_status td_run_check_overflow(td_run *run, td_pool *pool)
{
    bool real = run->kind == TD_VALUE_F32 || run->kind == TD_VALUE_F64;
    if (!run->program->info->saturates && !(run->program->info->real_follows_weights && real)) return TD_OK;
    if (real) return check_infinities(run, pool);
    return td_pool_for(pool, run->graph->vertices, 1 << 16, find_saturated, run);
}

void td_run_fetch_edge(const td_run *run, uint64_t i)
{
    enum { AHEAD = 24 };
    const td_adjacency *out = &run->graph->out;
    if (i + AHEAD >= run->edge_count) return;
    uint64_t edge = run->edges[i + AHEAD];
    td_fetch(out->targets + edge);
    if (out->weights != NULL) td_fetch((const char *)out->weights + edge * td_weight_bytes(run->graph->weights));
}

td_forest_edge td_run_forest_edge(const td_run *run, uint64_t i, uint32_t from)
{
    const td_graph *graph = run->graph;
    if (run->forest != NULL) return run->forest[i];
    return (td_forest_edge){td_edge_source_from(graph, run->edges[i], from), graph->out.targets[run->edges[i]],
                            td_run_edge_weight(run, i)};
}

double td_run_edge_weight(const td_run *run, uint64_t i)
{
    return run->forest != NULL ? run->forest[i].weight : td_weight_at(run->graph, &run->graph->out, run->edges[i]);
}

void td_run_end_processing(td_run *run, uint64_t began)
{
    run->processed_at = td_clock_ns();
    run->seconds = (double)(run->processed_at - began) * 1e-9;
}

/* Devices. */

td_device_use *td_device_use_of(td_device_uses *uses, const char *name)
{
    int i = 0;
    while (i < uses->count && strcmp(uses->of[i].name, name) != 0) i++;
    if (i < uses->count) return &uses->of[i];
    if (i == TD_DEVICE_ROWS) i--; /* a set has no more GPUs */
    else uses->count++;
    uses->of[i] = (td_device_use){0};
    snprintf(uses->of[i].name, sizeof uses->of[i].name, "%s", name);
    return &uses->of[i];
}

td_status td_device_uses_row(const td_device_uses *uses, int row, td_device_row *out)
{
    if (row < 0 || row >= uses->count)
        return td_fail(TD_NOT_FOUND, "there is no device row %d; there are %d", row, uses->count);
    *out = uses->of[row].row;
    out->device = uses->of[row].name;
    return TD_OK;
}

/* Caching. */

void td_layout_release(td_layout *layout)
{
    td_cache *cache = layout->cache;
    td_kept_take(&layout->kept);
    td_graph_watch_end(&layout->watch);
    if (layout->release != NULL) {
        layout->release(layout->state);
        cache->gone_host += layout->host_bytes;
        for (int i = 0; i < TD_MOST_GPUS; i++) cache->gone_device[i] += layout->device_bytes[i];
    }
    *layout = (td_layout){.cache = cache};
}

void td_cache_release_layouts(td_cache *cache)
{
    if (cache == NULL) return;
    for (int i = 0; i < TD_LAYOUTS; i++) td_layout_release(&cache->layouts[i]);
}

void td_cache_release(td_cache *cache)
{
    if (cache == NULL) return;
    td_cache_release_layouts(cache);
    if (cache->gpus != NULL) cache->close(cache->gpus);
    cache->gpus = NULL;
    cache->set_bytes = 0;
}

td_layout *td_cache_oldest(td_cache *cache)
{
    td_layout *oldest = NULL;
    for (int i = 0; i < TD_LAYOUTS; i++) {
        td_layout *layout = &cache->layouts[i];
        if (layout->state == NULL || layout->in_use) continue;
        if (oldest == NULL || layout->used < oldest->used) oldest = layout;
    }
    return oldest;
}

uint64_t td_cache_bytes(const td_cache *cache)
{
    uint64_t bytes = cache->set_bytes;
    for (int i = 0; i < TD_LAYOUTS; i++) bytes += cache->layouts[i].host_bytes;
    return bytes;
}

/* Bits for all numbers below `count`; minimum 1. */
static uint8_t bits_below(uint64_t count) { return count < 3 ? 1 : (uint8_t)(64 - __builtin_clzll(count - 1)); }

static uint8_t weight_bits(const td_program_info *info, const td_graph *graph)
{
    if (info->weights == TD_WEIGHTS_UNUSED || graph->weights == TD_WEIGHT_NONE) return 1;
    return td_weight_real(graph->weights) ? 32 : bits_below((uint64_t)graph->weight_max + 1);
}

static td_context make_context(const td_program_info *info, const td_graph *graph, const td_run_options *options)
{
    return (td_context){.vertices = graph->vertices, .edges = graph->edges, .one_over_vertices = 1.0 / graph->vertices,
                        .vertex_bits = bits_below(graph->vertices), .edge_bits = bits_below(graph->edges),
                        .weight_bits = weight_bits(info, graph),
                        .real_weights = td_weight_real(graph->weights) && info->weights != TD_WEIGHTS_UNUSED,
                        .source = options->has_source   ? options->source
                                  : info->takes_source ? td_graph_first(graph)
                                                       : 0};
}

td_status td_run_create(td_run **out, const td_program *program, const td_graph *graph, const td_run_options *options)
{
    td_status status = TD_OK;
    const td_program_info *info = program->info;
    td_run *run = NULL;
    uint64_t began = td_clock_ns();
    const char *texts[TD_PARAMETERS] = {NULL};
    TD_CHECK(check_request(program, graph, options));
    TD_TRY(TD_NEW_ZEROED(&run, 1, "run"));
    run->program = program;
    run->graph = graph;
    run->async = options->mode == TD_MODE_ASYNC;
    run->strict = td_run_strict(program, options);
    run->tolerance = options->has_tolerance ? options->tolerance : info->tolerance;
    if (options->has_iterations && !options->has_tolerance) run->tolerance = 0;
    run->context = make_context(info, graph, options);
    run->kind = info->value;
    if (info->real_follows_weights && run->context.real_weights) run->kind = info->wide ? TD_VALUE_F64 : TD_VALUE_F32;
    TD_TRY(td_settings_resolve(options->settings, info->name, info->parameters, run->context.parameter, texts));
    TD_TRY(td_run_prepare_inputs(run, options, texts));
    for (int i = 0; i < TD_INPUTS; i++) run->context.input[i] = run->inputs[i];
    run->prepare_seconds = td_seconds_since(began);
    *out = run;
    run = NULL;
done:
    td_run_destroy(run);
    return status;
}
