/* Strongly connected components. The largest is usually found by all workers together, as what the vertex of highest
 * degree reaches and is reached from (forward-backward); the rest by Tarjan's method, with a stack of its own.
 * Components are numbered by their smallest vertices, so that the result does not depend on either. */
#include "layout/paths_inside.h"

#include "base/alloc.h"
#include "base/cancel.h"

/* Neighbours. Along an edge inside a path, one goes both ways. */

static bool inner_edge(const td_path_passes *passes, uint64_t k)
{
    return passes->before[k] != TD_NONE_BEFORE && td_bit_get(passes->followed, k);
}

/* The inner vertex before v on the path through it, or TD_NO_VERTEX: with one pass through a vertex. */
static uint32_t inner_before(const td_path_job *job, uint32_t v)
{
    const td_path_passes *passes = &job->passes;
    if (!td_passed(passes, v)) return TD_NO_VERTEX;
    uint32_t source = job->graph->in.targets[passes->enters[v]];
    return passes->leaves[source] == passes->enters[v] ? source : TD_NO_VERTEX;
}

static uint32_t inner_behind(const td_path_job *job, uint32_t v)
{
    const td_path_passes *passes = &job->passes;
    uint32_t target = td_passed(passes, v) ? passes->to[v] : TD_NO_VERTEX;
    return target != TD_NO_VERTEX && passes->enters[target] == passes->leaves[v] ? target : TD_NO_VERTEX;
}

/* What a vertex reaches. */

enum {
    FORWARD = 1, BACKWARD = 2, BOTH = 3,
    REACH_GRAIN = 256,
    CHECK_EVERY = 64, /* vertices after which a request to stop is looked for */
    FEW = 2048, /* vertices of a round that one worker is enough for: a deep graph has many such rounds */
};

typedef struct reaching {
    const td_path_job *job;
    bool of_paths;
    uint8_t *mark, way;
    uint32_t *now, *next; /* vertices reached last, and from them */
    uint64_t count;       /* of next, atomically */
} reaching;

static void reach(reaching *self, uint32_t vertex)
{
    if (__atomic_load_n(&self->mark[vertex], __ATOMIC_RELAXED) & self->way) return;
    if (__atomic_fetch_or(&self->mark[vertex], self->way, __ATOMIC_RELAXED) & self->way) return;
    self->next[__atomic_fetch_add(&self->count, 1, __ATOMIC_RELAXED)] = vertex;
}

/* Along the inner edges of paths against their direction: of the out-edges when going backward, and the other way
 * round. */
static void reach_along_paths(reaching *self, uint32_t v)
{
    const td_path_job *job = self->job;
    const td_path_passes *passes = &job->passes;
    bool forward = self->way == FORWARD;
    const td_adjacency *list = forward ? &job->graph->in : &job->graph->out;
    if (passes->before == NULL) {
        uint32_t vertex = forward ? inner_before(job, v) : inner_behind(job, v);
        if (vertex != TD_NO_VERTEX) reach(self, vertex);
        return;
    }
    for (uint64_t e = list->offsets[v]; e < list->offsets[v + 1]; e++)
        if (inner_edge(passes, forward ? e : passes->place[e])) reach(self, list->targets[e]);
}

static td_status reach_next(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    reaching *self = context;
    const td_adjacency *list = self->way == FORWARD ? &self->job->graph->out : &self->job->graph->in;
    for (uint64_t i = begin; i < end; i++) {
        uint32_t v = self->now[i];
        for (uint64_t e = list->offsets[v]; e < list->offsets[v + 1]; e++) reach(self, list->targets[e]);
        if (self->of_paths) reach_along_paths(self, v);
    }
    return TD_OK;
}

static td_status reach_all(reaching *self, uint32_t pivot, uint8_t way)
{
    self->way = way;
    self->count = 0;
    reach(self, pivot);
    while (self->count > 0) {
        uint32_t *now = self->next;
        uint64_t count = self->count;
        self->next = self->now;
        self->now = now;
        self->count = 0;
        TD_CHECK(td_pool_for(count < FEW ? NULL : self->job->pool, count, REACH_GRAIN, reach_next, self));
    }
    return TD_OK;
}

typedef struct frame {
    uint32_t vertex;
    uint64_t next; /* of its edges */
} frame;

typedef struct tarjan {
    const td_path_job *job;
    bool of_paths;
    uint32_t *number, *low; /* 0: not visited */
    uint32_t *stack;        /* vertices whose component is not known */
    frame *frames;
    uint64_t depth, stacked;
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
    if (passes->before == NULL) return n == degree ? inner_before(self->job, v) : TD_NO_VERTEX;
    uint64_t k = graph->in.offsets[v] + (n - degree);
    if (k >= graph->in.offsets[v + 1]) return TD_NO_VERTEX;
    *skip = !inner_edge(passes, k);
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
    uint32_t member;
    do {
        member = self->stack[--self->stacked];
        self->result.of[member] = self->result.count;
    } while (member != v);
    self->result.count++;
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

static uint32_t highest_degree(const td_path_job *job)
{
    uint32_t best = TD_NO_VERTEX;
    for (uint32_t v = 0; v < job->graph->vertices; v++)
        if (td_degree(&job->graph->in, v) > 0 && td_degree(&job->graph->out, v) > 0 &&
            (best == TD_NO_VERTEX || job->degree[v] > job->degree[best]))
            best = v;
    return best;
}

/* The component of the vertex of highest degree. Its members count as visited. The arrays of Tarjan's numbers are free
 * until then. */
static td_status find_first(tarjan *self)
{
    td_status status = TD_OK;
    uint32_t vertices = self->job->graph->vertices, pivot = highest_degree(self->job);
    reaching both = {.job = self->job, .of_paths = self->of_paths, .now = self->number, .next = self->low};
    if (pivot == TD_NO_VERTEX) return TD_OK;
    TD_TRY(TD_NEW_ZEROED(&both.mark, vertices, "vertices reached"));
    TD_TRY(reach_all(&both, pivot, FORWARD));
    TD_TRY(reach_all(&both, pivot, BACKWARD));
    for (uint32_t v = 0; v < vertices; v++)
        if (both.mark[v] == BOTH) self->result.of[v] = 0;
    self->result.count = 1;
done:
    td_free(both.mark);
    return status;
}

static td_status find_others(tarjan *self)
{
    uint32_t vertices = self->job->graph->vertices;
    for (uint32_t v = 0; v < vertices; v++) self->number[v] = self->result.of[v] != TD_NO_VERTEX;
    self->visited = 1;
    for (uint32_t v = 0; v < vertices; v++) {
        if (self->number[v] != 0) continue;
        if (v % CHECK_EVERY == 0) TD_CHECK(td_cancel_check());
        visit(self, v);
        while (self->depth > 0) step(self);
    }
    return TD_OK;
}

/* Numbers components by their smallest vertices, and lists their members. `number` is the new number of an old one. */
static void number_components(td_path_components *result, uint32_t vertices, uint32_t *number)
{
    uint32_t count = 0;
    for (uint32_t c = 0; c < result->count; c++) number[c] = TD_NO_VERTEX;
    for (uint32_t v = 0; v < vertices; v++) {
        uint32_t *mine = &number[result->of[v]];
        if (*mine == TD_NO_VERTEX) {
            *mine = count++;
            result->first[*mine + 1] = 0;
        }
        result->of[v] = *mine;
        result->first[*mine + 1]++;
    }
    result->first[0] = 0;
    for (uint32_t c = 0; c < count; c++) {
        result->first[c + 1] += result->first[c];
        number[c] = result->first[c]; /* where the next member goes */
    }
    for (uint32_t v = 0; v < vertices; v++) result->order[number[result->of[v]]++] = v;
}

td_status td_path_components_find(td_path_components *out, const td_path_job *job, bool of_paths)
{
    td_status status = TD_OK;
    uint64_t vertices = job->graph->vertices;
    tarjan self = {.job = job, .of_paths = of_paths};
    TD_TRY(TD_NEW(&self.number, vertices, "numbers of vertices"));
    TD_TRY(TD_NEW(&self.low, vertices, "lowest numbers"));
    TD_TRY(TD_NEW(&self.stack, vertices, "stack of vertices"));
    TD_TRY(TD_NEW(&self.frames, vertices, "stack of a search"));
    TD_TRY(TD_NEW(&self.result.of, vertices, "components of vertices"));
    TD_TRY(TD_NEW(&self.result.order, vertices, "vertices by components"));
    TD_TRY(TD_NEW(&self.result.first, vertices + 1, "components"));
    for (uint64_t v = 0; v < vertices; v++) self.result.of[v] = TD_NO_VERTEX;
    TD_TRY(find_first(&self));
    TD_TRY(find_others(&self));
    number_components(&self.result, (uint32_t)vertices, self.number);
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
