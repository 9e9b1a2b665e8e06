/* Strongly connected components, by Tarjan's method with a stack of its own. */
#include "layout/paths_inside.h"

#include "base/alloc.h"

typedef struct frame {
    uint32_t vertex;
    uint64_t next; /* of its edges */
} frame;

typedef struct tarjan {
    const td_path_job *job;
    bool of_paths;
    uint32_t *number, *low; /* 0: not visited */
    uint32_t *stack;        /* vertices whose component is not known, and from the other end `order` */
    frame *frames;
    uint64_t depth, stacked, ordered;
    uint32_t visited;
    td_path_components result;
} tarjan;

/* The n-th neighbour, or TD_NO_VERTEX behind the last; *skip: no neighbour, but there may be more. */
static uint32_t neighbour(const tarjan *self, uint32_t v, uint64_t n, bool *skip)
{
    const td_graph *graph = self->job->graph;
    const td_path_passes *passes = &self->job->passes;
    uint64_t degree = td_degree(&graph->out, v);
    *skip = false;
    if (n < degree) return graph->out.targets[graph->out.offsets[v] + n];
    if (!self->of_paths) return TD_NO_VERTEX;
    if (passes->before == NULL) {
        if (n > degree || !td_passed(passes, v)) return TD_NO_VERTEX;
        uint32_t source = graph->in.targets[passes->enters[v]];
        return passes->leaves[source] == passes->enters[v] ? source : TD_NO_VERTEX;
    }
    uint64_t k = graph->in.offsets[v] + (n - degree);
    if (k >= graph->in.offsets[v + 1]) return TD_NO_VERTEX;
    *skip = passes->before[k] == TD_NONE_BEFORE || !td_bit_get(passes->followed, k);
    return graph->in.targets[k];
}

static void visit(tarjan *self, uint32_t v)
{
    self->number[v] = self->low[v] = ++self->visited;
    self->stack[self->stacked++] = v;
    self->frames[self->depth++] = (frame){v, 0};
}

static void close_component(tarjan *self, uint32_t v)
{
    td_path_components *result = &self->result;
    uint32_t member;
    result->first[result->count] = (uint32_t)self->ordered;
    do {
        member = self->stack[--self->stacked];
        result->of[member] = result->count;
        result->order[self->ordered++] = member;
    } while (member != v);
    result->count++;
}

static void leave(tarjan *self, uint32_t v)
{
    if (self->low[v] == self->number[v]) close_component(self, v);
    if (--self->depth == 0) return;
    uint32_t parent = self->frames[self->depth - 1].vertex;
    if (self->low[v] < self->low[parent]) self->low[parent] = self->low[v];
}

static void step(tarjan *self)
{
    frame *here = &self->frames[self->depth - 1];
    bool skip = false;
    uint32_t v = here->vertex, w = neighbour(self, v, here->next++, &skip);
    if (w == TD_NO_VERTEX) leave(self, v);
    else if (skip) return;
    else if (self->number[w] == 0) visit(self, w);
    else if (self->result.of[w] == TD_NO_VERTEX && self->number[w] < self->low[v]) self->low[v] = self->number[w];
}

td_status td_path_components_find(td_path_components *out, const td_path_job *job, bool of_paths)
{
    td_status status = TD_OK;
    uint64_t vertices = job->graph->vertices;
    tarjan self = {.job = job, .of_paths = of_paths};
    TD_TRY(TD_NEW_ZEROED(&self.number, vertices, "numbers of vertices"));
    TD_TRY(TD_NEW(&self.low, vertices, "lowest numbers"));
    TD_TRY(TD_NEW(&self.stack, vertices, "stack of vertices"));
    TD_TRY(TD_NEW(&self.frames, vertices, "stack of a search"));
    TD_TRY(TD_NEW(&self.result.of, vertices, "components of vertices"));
    TD_TRY(TD_NEW(&self.result.order, vertices, "vertices by components"));
    TD_TRY(TD_NEW(&self.result.first, vertices + 1, "components"));
    for (uint64_t v = 0; v < vertices; v++) self.result.of[v] = TD_NO_VERTEX;
    for (uint32_t v = 0; v < vertices; v++) {
        if (self.number[v] != 0) continue;
        visit(&self, v);
        while (self.depth > 0) step(&self);
    }
    self.result.first[self.result.count] = (uint32_t)vertices;
    *out = self.result;
    self.result = (td_path_components){0};
done:
    td_free(self.number);
    td_free(self.low);
    td_free(self.stack);
    td_free(self.frames);
    td_path_components_free(&self.result);
    return status;
}

void td_path_components_free(td_path_components *components)
{
    td_free(components->of);
    td_free(components->order);
    td_free(components->first);
    *components = (td_path_components){0};
}
