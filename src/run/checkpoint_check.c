/* Checks every field of a state before an engine begins with it. Checksums show that a file is as it was written; they
 * do not show that Tandem wrote it. Engines use labels and edge numbers as indices, follow parents until they reach a
 * root and append to a forest that has room for one edge per vertex, so a forged state must not reach them.
 *
 * Which values a program's vertices may have is its rule (td_value_rule). Acyclic parents follow from an order (no
 * parent has a larger number than its child) or from flat trees (a component's root names itself), so that one pass
 * over the vertices by all workers is enough. */
#include "run/checkpoint_file.h"

#include "base/bitmap.h"
#include "kernels/cpu/job.h"
#include "base/sort.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

enum { GRAIN = 1 << 14 };

/* Maximum iteration number: counters can continue from here without overflow. */
#define MOST_ITERATIONS UINT32_C(0x7fffffff)

typedef struct checking {
    const td_run *run;
    td_state *state;
    const char *path;
    uint32_t vertices, source;
    uint64_t unreached;
    double farthest;  /* upper bound of distances */
    uint32_t highest; /* upper bound of degrees */
    bool mid_round;   /* the state is within a forest's round, which is restarted */
    _Atomic uint64_t roots;
    _Atomic uint32_t furthest, lowest_active; /* levels */
} checking;

/* Ends every message: what the user can do. */
#define REMEDY "; remove the file to go on from the checkpoint before it, or start anew"

__attribute__((format(printf, 2, 3))) static td_status refuse(const checking *self, const char *format, ...)
{
    char what[400];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    return td_fail(TD_CORRUPT, "%s: %s" REMEDY, self->path, what);
}

static td_status refuse_number(const checking *self, const char *field, uint64_t seen, uint64_t low, uint64_t high)
{
    return refuse(self, "its %s is %" PRIu64 "; allowed are %" PRIu64 " to %" PRIu64, field, seen, low, high);
}

static td_status refuse_value(const checking *self, const char *field, uint32_t v, uint64_t seen, uint64_t high)
{
    return refuse(self, "the %s of vertex %" PRIu32 " is %" PRIu64 "; allowed are 0 to %" PRIu64, field, v, seen, high);
}

static bool is_active(const checking *self, uint32_t v)
{
    return self->state->has_active && !self->state->converged && td_bit_get(self->state->active, v);
}

/* One vertex. */

static td_status check_parent(checking *self, uint32_t v)
{
    const uint32_t *parents = self->state->values;
    if (parents[v] > v) return refuse_value(self, "label", v, parents[v], v);
    if (!self->state->converged || parents[parents[v]] == parents[v]) return TD_OK;
    return refuse(self, "vertex %" PRIu32 " has the label %" PRIu32 ", whose own label is %" PRIu32
                  "; in a finished run a label is its own", v, parents[v], parents[parents[v]]);
}

/* Labels are ranks if the graph's vertices are reordered. */
static td_status check_label(checking *self, uint32_t v)
{
    const double *ranks = self->run->inputs[0];
    uint32_t label = ((const uint32_t *)self->state->values)[v];
    if (ranks == NULL) return check_parent(self, v);
    return label <= ranks[v] ? TD_OK : refuse_value(self, "label", v, label, (uint64_t)ranks[v]);
}

static td_status check_start(checking *self, const char *field, uint32_t v, uint32_t value)
{
    if ((v == self->source) == (value == 0)) return TD_OK;
    if (v == self->source) return refuse_value(self, field, v, value, 0);
    return refuse(self, "the %s of vertex %" PRIu32 " is 0; only the source %" PRIu32 " may have that", field, v,
                  self->source);
}

static td_status check_reached(checking *self, uint32_t v, uint64_t value)
{
    if (value != self->unreached || !is_active(self, v)) return TD_OK;
    return refuse(self, "vertex %" PRIu32 " is active and unreached; active vertices are reached", v);
}

static td_status check_level(checking *self, uint32_t v)
{
    uint32_t level = ((const uint32_t *)self->state->values)[v];
    TD_CHECK(check_start(self, "level", v, level));
    TD_CHECK(check_reached(self, v, level));
    if (level == self->unreached) return TD_OK;
    if (level >= self->vertices) return refuse_value(self, "level", v, level, self->vertices - 1);
    uint32_t seen = self->furthest;
    while (level > seen && !atomic_compare_exchange_weak(&self->furthest, &seen, level)) {}
    seen = self->lowest_active;
    while (is_active(self, v) && level < seen && !atomic_compare_exchange_weak(&self->lowest_active, &seen, level)) {}
    return TD_OK;
}

static td_status check_distance(checking *self, uint32_t v)
{
    bool real = self->run->context.real_weights, wide = self->run->program->info->wide;
    uint64_t bits = wide ? ((const uint64_t *)self->state->values)[v] : ((const uint32_t *)self->state->values)[v];
    if (v == self->source && bits != 0) return refuse_value(self, "distance", v, bits, 0);
    TD_CHECK(check_reached(self, v, bits));
    double distance = !real ? (double)bits : wide ? td_bits_to_double(bits) : (double)td_bits_to_float((uint32_t)bits);
    bool negative = real && bits >> (wide ? 63 : 31) != 0; /* -0 too */
    if (bits == self->unreached || (distance >= 0 && distance <= self->farthest && !negative)) return TD_OK;
    return refuse(self, "the distance of vertex %" PRIu32 " is %g; allowed are 0 to %g", v, distance, self->farthest);
}

static td_status check_degree(checking *self, uint32_t v)
{
    uint32_t left = ((const uint32_t *)self->state->values)[v];
    double most = self->run->context.input[0][v];
    if (left > most) return refuse_value(self, "number of neighbours left", v, left, (uint64_t)most);
    if (!is_active(self, v) || left <= self->state->phase) return TD_OK;
    return refuse(self, "vertex %" PRIu32 " is active and has %" PRIu32 " neighbours left; at level %" PRIu32
                  " active vertices have at most that many", v, left, self->state->phase);
}

static td_status check_real(checking *self, uint32_t v)
{
    bool wide = self->run->program->info->value == TD_VALUE_F64;
    const void *values = self->state->values;
    double value = wide ? ((const double *)values)[v] : (double)((const float *)values)[v];
    if (isfinite(value)) return TD_OK;
    return refuse(self, "the value of vertex %" PRIu32 " is %g; allowed are finite numbers", v, value);
}

/* Between two rounds no edge is chosen. A state within a round loses its chosen keys: only a scan of all edges could
 * prove them minimal. */
static td_status check_tree(checking *self, uint32_t v)
{
    td_forest_value *values = self->state->values, *mine = &values[v];
    if (mine->component >= self->vertices)
        return refuse_value(self, "component", v, mine->component, self->vertices - 1);
    uint32_t above = values[mine->component].component;
    if (above != mine->component)
        return refuse(self, "vertex %" PRIu32 " is in component %" PRIu32 ", whose root is in component %" PRIu32
                      "; a root is in its own", v, mine->component, above);
    if (mine->component == v) atomic_fetch_add_explicit(&self->roots, 1, memory_order_relaxed);
    if (self->mid_round) mine->best[0] = mine->best[1] = TD_NO_KEY;
    if (mine->chosen != 0) return refuse_value(self, "mark of a chosen edge", v, mine->chosen, 0);
    if (mine->best[0] == TD_NO_KEY && mine->best[1] == TD_NO_KEY) return TD_OK;
    return refuse(self, "vertex %" PRIu32 " has an edge in its key; between two rounds nobody has", v);
}

static td_status check_vertex(checking *self, uint32_t v)
{
    switch (self->run->program->info->rule) {
    case TD_RULE_PARENTS: return check_parent(self, v);
    case TD_RULE_LABELS: return check_label(self, v);
    case TD_RULE_LEVELS: return check_level(self, v);
    case TD_RULE_DISTANCES: return check_distance(self, v);
    case TD_RULE_DEGREES: return check_degree(self, v);
    case TD_RULE_REALS: return check_real(self, v);
    case TD_RULE_FOREST: return check_tree(self, v);
    default: return TD_OK;
    }
}

static td_status check_vertices(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    for (uint64_t v = begin; v < end; v++) TD_CHECK(check_vertex(context, (uint32_t)v));
    return TD_OK;
}

/* The numbers. */

static td_status check_flags(const checking *self)
{
    const td_cpu_kernels *traits = &self->run->program->cpu[TD_WEIGHT_NONE];
    const td_state *state = self->state;
    bool frontier = self->run->program->info->kind == TD_KIND_GAS && traits->fused;
    if (state->iteration > MOST_ITERATIONS)
        return refuse_number(self, "iteration", state->iteration, 0, MOST_ITERATIONS);
    if (frontier && !state->has_active && !state->converged)
        return refuse(self, "it has no active vertices; a state of %s that is not finished has them",
                      self->run->program->info->name);
    if (state->by_levels && !traits->first_hit)
        return refuse(self, "it is of a search that goes level by level; %s is none", self->run->program->info->name);
    if (!isfinite(state->global)) return refuse(self, "its sum over all vertices is %g; allowed are finite numbers",
                                                state->global);
    if (!(state->change >= 0) || isinf(state->change))
        return refuse(self, "its last change is %g; allowed are finite numbers from 0", state->change);
    return TD_OK;
}

static td_status check_phase(const checking *self)
{
    uint64_t most = self->run->program->info->rule == TD_RULE_DEGREES ? self->highest : 0;
    return self->state->phase <= most ? TD_OK : refuse_number(self, "level of peeling", self->state->phase, 0, most);
}

/* Refuses bits behind the last vertex. */
static td_status check_active(const checking *self)
{
    uint64_t words = td_bitmap_words(self->vertices), used = self->vertices % 64;
    if (!self->state->has_active || used == 0) return TD_OK;
    uint64_t behind = self->state->active[words - 1] >> used;
    if (behind == 0) return TD_OK;
    return refuse(self, "vertex %" PRIu64 " is active; there are %" PRIu32 " vertices",
                  self->vertices + (uint64_t)__builtin_ctzll(behind), self->vertices);
}

static td_status check_levels(const checking *self)
{
    if (!self->state->by_levels || self->lowest_active == UINT32_MAX || self->lowest_active == self->furthest)
        return TD_OK;
    return refuse(self, "a vertex of level %" PRIu32 " is active and another has level %" PRIu32
                  "; in a search that goes level by level all active vertices have the highest level",
                  self->lowest_active, self->furthest);
}

/* Every component was hooked onto another by one edge, except the remaining roots. */
static td_status check_edges(const checking *self, td_pool *pool)
{
    td_state *state = self->state;
    bool grows = self->run->program->info->rule == TD_RULE_FOREST;
    uint64_t wanted = grows ? self->vertices - self->roots : 0;
    if (state->edge_count != wanted)
        return refuse(self, "it has %" PRIu64 " edges of a forest; its %" PRIu64 " components of %" PRIu32
                      " vertices take %" PRIu64, state->edge_count, (uint64_t)self->roots, self->vertices, wanted);
    for (uint64_t i = 0; i < state->edge_count; i++)
        if (state->edges[i] >= self->run->graph->edges)
            return refuse(self, "edge %" PRIu64 " of its forest is number %" PRIu64 "; allowed are 0 to %" PRIu64, i,
                          state->edges[i], self->run->graph->edges - 1);
    TD_CHECK(td_sort_words(state->edges, state->edge_count, self->run->graph->edges, pool));
    for (uint64_t i = 1; i < state->edge_count; i++)
        if (state->edges[i] == state->edges[i - 1])
            return refuse(self, "edge number %" PRIu64 " is in its forest twice", state->edges[i]);
    return TD_OK;
}

/* Limits from the graph. A sum of floats rounded to nearest grows by at most twice the addend. */
static void find_limits(checking *self)
{
    const td_graph *graph = self->run->graph;
    const td_context *context = &self->run->context;
    double heaviest = graph->weights == TD_WEIGHT_NONE ? 1 : graph->weight_max;
    bool wide = self->run->program->info->wide;
    self->unreached = wide ? TD_UNREACHED_U64 : TD_UNREACHED;
    if (context->real_weights) self->unreached = wide ? UINT64_C(0x7ff0000000000000) : UINT32_C(0x7f800000);
    self->farthest = heaviest * self->vertices * (context->real_weights ? 2 : 1);
    if (!context->real_weights && !wide) self->farthest = fmin(self->farthest, TD_UNREACHED - 1);
    for (uint32_t v = 0; self->run->program->info->rule == TD_RULE_DEGREES && v < self->vertices; v++)
        if (context->input[0][v] > self->highest) self->highest = (uint32_t)context->input[0][v];
}

bool td_state_ends_round(const td_run *run, uint32_t iteration)
{
    const td_cpu_kernels *traits = &run->program->cpu[TD_WEIGHT_NONE];
    if (traits->again == NULL || iteration == 0) return true;
    td_cpu_job last = {.context = run->context};
    last.context.iteration = iteration - 1;
    return !traits->again(&last, 0); /* a sweep that hooked nothing continues only within a round */
}

td_status td_state_check(td_state *state, const td_run *run, td_pool *pool, const char *path)
{
    checking self = {.run = run, .state = state, .path = path, .vertices = run->graph->vertices,
                     .source = run->context.source, .lowest_active = UINT32_MAX};
    find_limits(&self);
    TD_CHECK(check_flags(&self));
    TD_CHECK(check_phase(&self));
    TD_CHECK(check_active(&self));
    self.mid_round = !state->converged && !td_state_ends_round(run, state->iteration);
    TD_CHECK(td_pool_for(pool, self.vertices, GRAIN, check_vertices, &self));
    TD_CHECK(check_levels(&self));
    TD_CHECK(check_edges(&self, pool));
    while (self.mid_round && !td_state_ends_round(run, state->iteration)) state->iteration--;
    return TD_OK;
}
