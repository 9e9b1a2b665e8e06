/* Passes that keep dependencies acyclic (`paths.acyclic`). Components of the graph are taken in the order of
 * dependencies: a path begins at a vertex whose in-edges are all on paths that came before, and goes on through the
 * next vertex only if it brings that vertex's last missing in-edge. So every path reads what earlier paths, or itself,
 * have written, and no dependency goes back. Every vertex that is a component of its own and has in- and out-edges is
 * passed through by exactly one path: on an acyclic graph that is the fewest paths that the rule of one pass allows.
 *
 * The edges inside a component are searched and joined among themselves (job->within); paths of one edge or more
 * between components end and begin at it. Sequential: each step depends on the one before. */
#include "layout/paths_inside.h"

#include "base/alloc.h"

#define TAKEN UINT64_MAX

typedef struct turn {
    uint32_t vertex;
    uint64_t next;  /* of its out-edges */
    uint64_t place; /* of the edge before that, in the in-adjacency */
} turn;

typedef struct ordering {
    td_path_job *job;
    const td_path_components *components;
    uint64_t *waiting; /* components: in-edges from others that are on no path yet; TAKEN */
    turn *turns;       /* vertices that are ready and have edges on no path; at most each once */
    uint64_t count;
} ordering;

static bool alone(const td_path_components *components, uint32_t component)
{
    return components->first[component + 1] - components->first[component] == 1;
}

static td_status count_waiting(ordering *self)
{
    const td_graph *graph = self->job->graph;
    const uint32_t *of = self->components->of;
    TD_CHECK(TD_NEW_ZEROED(&self->waiting, self->components->count, "edges into components"));
    for (uint32_t v = 0; v < graph->vertices; v++)
        for (uint64_t k = graph->in.offsets[v]; k < graph->in.offsets[v + 1]; k++)
            if (of[graph->in.targets[k]] != of[v]) self->waiting[of[v]]++;
    return TD_OK;
}

static void make_ready(ordering *self, uint32_t component)
{
    const td_path_components *components = self->components;
    for (uint32_t i = components->first[component + 1]; i-- > components->first[component];)
        self->turns[self->count++] = (turn){components->order[i], self->job->graph->out.offsets[components->order[i]], 0};
}

/* The successor of highest degree of a vertex alone; a loop is no way out. TD_NO_VERTEX: none. */
static uint32_t best_out(const td_path_job *job, uint32_t vertex)
{
    const td_adjacency *out = &job->graph->out;
    uint32_t best = TD_NO_VERTEX;
    for (uint64_t e = out->offsets[vertex]; e < out->offsets[vertex + 1]; e++) {
        uint32_t target = out->targets[e];
        if (target != vertex && (best == TD_NO_VERTEX || job->degree[target] > job->degree[best])) best = target;
    }
    return best;
}

static bool has_loop(const td_graph *graph, uint32_t vertex)
{
    uint64_t place = td_edge_place(graph, vertex, vertex);
    return place < graph->in.offsets[vertex + 1] && graph->in.targets[place] == vertex;
}

/* The edge `place` arrives at the vertex. Returns the vertex by which the path goes on, or TD_NO_VERTEX. */
static uint32_t arrive(ordering *self, uint32_t vertex, uint64_t place)
{
    td_path_job *job = self->job;
    uint32_t component = self->components->of[vertex], to = TD_NO_VERTEX;
    if (--self->waiting[component] > 0) return TD_NO_VERTEX;
    self->waiting[component] = TAKEN;
    make_ready(self, component);
    if (alone(self->components, component) && !has_loop(job->graph, vertex)) to = best_out(job, vertex);
    if (to == TD_NO_VERTEX) return to;
    job->passes.enters[vertex] = place;
    job->passes.leaves[vertex] = td_edge_place(job->graph, vertex, to);
    job->passes.to[vertex] = to;
    return to;
}

/* The path that begins with edge `place` from `source` to `target`. */
static void walk(ordering *self, uint32_t target, uint64_t place)
{
    uint32_t to;
    while ((to = arrive(self, target, place)) != TD_NO_VERTEX) {
        place = self->job->passes.leaves[target];
        target = to;
    }
}

static void take_turn(ordering *self)
{
    turn *here = &self->turns[self->count - 1];
    const td_graph *graph = self->job->graph;
    uint32_t v = here->vertex;
    uint64_t e = here->next++;
    if (e == graph->out.offsets[v + 1]) {
        self->count--;
        return;
    }
    uint32_t target = graph->out.targets[e];
    bool parallel = e > graph->out.offsets[v] && graph->out.targets[e - 1] == target;
    uint64_t place = here->place = parallel ? here->place + 1 : td_edge_place(graph, v, target);
    if (self->components->of[target] != self->components->of[v] && self->job->passes.leaves[v] != place)
        walk(self, target, place);
}

static td_status order_components(td_path_job *job, const td_path_components *components)
{
    td_status status = TD_OK;
    ordering self = {.job = job, .components = components};
    TD_TRY(count_waiting(&self));
    TD_TRY(TD_NEW(&self.turns, job->graph->vertices, "vertices in turn"));
    for (uint32_t c = components->count; c-- > 0;) {
        if (self.waiting[c] > 0) continue;
        self.waiting[c] = TAKEN;
        make_ready(&self, c);
        while (self.count > 0) take_turn(&self);
    }
done:
    td_free(self.waiting);
    td_free(self.turns);
    return status;
}

td_status td_paths_order(td_path_job *job)
{
    td_status status = TD_OK;
    td_path_components components = {0};
    TD_TRY(td_path_components_find(&components, job, false));
    job->within = components.of;
    TD_TRY(td_paths_search(job));
    if (job->options.merge != TD_PATHS_MERGE_OFF) TD_TRY(td_paths_join(job));
    TD_TRY(order_components(job, &components));
    if (job->options.merge == TD_PATHS_MERGE_OFF) job->options.longest = job->options.depth;
done:
    job->within = NULL;
    td_path_components_free(&components);
    return status;
}
