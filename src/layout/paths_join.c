/* Joining paths head to tail. With one pass through a vertex, a path may still pass through every vertex that has in-
 * and out-edges and no pass: all its in-edges are ends, all its out-edges beginnings. Edges from and to the vertices
 * of highest degree are joined, so that they come to lie on one path. Vertices choose for themselves, so a few joined
 * paths close into cycles; these are opened afterwards, at a vertex where another edge ends or begins, without losing
 * a pass. */
#include "layout/paths_inside.h"

#include "base/alloc.h"

/* The place of the in-edge from the vertex of highest degree, itself last; TD_NO_EDGE: none. */
static uint64_t best_in(const td_path_job *job, uint32_t vertex)
{
    const td_adjacency *in = &job->graph->in;
    uint64_t best = TD_NO_EDGE;
    int64_t most = -1;
    for (uint64_t k = in->offsets[vertex]; k < in->offsets[vertex + 1]; k++) {
        uint32_t source = in->targets[k];
        if (!td_edge_counts(job, source, vertex)) continue;
        int64_t degree = source != vertex ? (int64_t)job->degree[source] : 0;
        if (degree > most) {
            most = degree;
            best = k;
        }
    }
    return best;
}

/* The successor of highest degree; where the path came from and the vertex itself are last. TD_NO_VERTEX: none. */
static uint32_t best_out(const td_path_job *job, uint32_t vertex, uint32_t source)
{
    const td_adjacency *out = &job->graph->out;
    uint32_t best = TD_NO_VERTEX;
    int64_t most = -1;
    for (uint64_t e = out->offsets[vertex]; e < out->offsets[vertex + 1]; e++) {
        uint32_t target = out->targets[e];
        if (!td_edge_counts(job, vertex, target)) continue;
        int64_t degree = target != vertex && target != source ? (int64_t)job->degree[target] : 0;
        if (degree > most) {
            most = degree;
            best = target;
        }
    }
    return best;
}

static td_status join_vertices(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    td_path_job *job = context;
    td_path_passes *passes = &job->passes;
    for (uint64_t i = begin; i < end; i++) {
        uint32_t v = (uint32_t)i;
        if (td_passed(passes, v) || td_degree(&job->graph->in, v) == 0 || td_degree(&job->graph->out, v) == 0) continue;
        uint64_t enters = best_in(job, v);
        uint32_t to = enters != TD_NO_EDGE ? best_out(job, v, job->graph->in.targets[enters]) : TD_NO_VERTEX;
        if (to == TD_NO_VERTEX) continue;
        passes->enters[v] = enters;
        passes->to[v] = to;
        passes->leaves[v] = td_edge_place(job->graph, v, to);
    }
    return TD_OK;
}

/* Cycles. */

typedef struct chains {
    td_path_job *job;
    uint64_t *open; /* bitmap of vertices on joined paths that have a beginning */
} chains;

/* The vertex that the path passes through before `vertex`, or TD_NO_VERTEX. */
static uint32_t passed_before(const td_path_job *job, uint32_t vertex)
{
    uint64_t edge = job->passes.enters[vertex];
    uint32_t source = job->graph->in.targets[edge];
    return job->passes.leaves[source] == edge ? source : TD_NO_VERTEX;
}

static uint32_t passed_next(const td_path_job *job, uint32_t vertex)
{
    uint32_t target = job->passes.to[vertex];
    return job->passes.enters[target] == job->passes.leaves[vertex] ? target : TD_NO_VERTEX;
}

static void end_pass(td_path_passes *passes, uint32_t vertex)
{
    passes->enters[vertex] = passes->leaves[vertex] = TD_NO_EDGE;
    passes->to[vertex] = TD_NO_VERTEX;
}

/* Marks the vertices of a path from its first inner vertex on. */
static void follow(const chains *self, uint32_t vertex)
{
    for (; vertex != TD_NO_VERTEX; vertex = passed_next(self->job, vertex)) td_bit_set_atomic(self->open, vertex);
}

static bool begins(const td_path_job *job, uint32_t vertex)
{
    return td_passed(&job->passes, vertex) && passed_before(job, vertex) == TD_NO_VERTEX;
}

static td_status follow_paths(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const chains *self = context;
    for (uint64_t v = begin; v < end; v++)
        if (begins(self->job, (uint32_t)v)) follow(self, (uint32_t)v);
    return TD_OK;
}

/* Lets another edge than the cycle's enter the vertex; false: there is none. */
static bool enter_otherwise(td_path_job *job, uint32_t vertex)
{
    const td_adjacency *in = &job->graph->in;
    uint64_t *enters = &job->passes.enters[vertex];
    for (uint64_t k = in->offsets[vertex]; k < in->offsets[vertex + 1]; k++)
        if (k != *enters && td_edge_counts(job, in->targets[k], vertex)) {
            *enters = k;
            return true;
        }
    return false;
}

static bool leave_otherwise(td_path_job *job, uint32_t vertex)
{
    const td_adjacency *out = &job->graph->out;
    td_path_passes *passes = &job->passes;
    for (uint64_t e = out->offsets[vertex]; e < out->offsets[vertex + 1]; e++) {
        uint32_t target = out->targets[e];
        uint64_t place = td_edge_place(job->graph, vertex, target);
        if (e > out->offsets[vertex] && target == out->targets[e - 1]) place++; /* the second of parallel edges */
        if (place == passes->leaves[vertex] || !td_edge_counts(job, vertex, target)) continue;
        passes->leaves[vertex] = place;
        passes->to[vertex] = target;
        return true;
    }
    return false;
}

/* Opens the cycle through `first`, its smallest vertex, at the first vertex where that can be done. A cycle that no
 * other edge touches becomes a path from a vertex to itself. */
static void open_cycle(const chains *self, uint32_t first)
{
    uint32_t vertex = first;
    do {
        td_bit_set(self->open, vertex);
        vertex = passed_next(self->job, vertex);
    } while (vertex != first);
    do {
        uint32_t next = passed_next(self->job, vertex);
        if (enter_otherwise(self->job, vertex) || leave_otherwise(self->job, vertex)) return;
        vertex = next;
    } while (vertex != first);
    end_pass(&self->job->passes, first);
}

static td_status open_cycles(td_path_job *job)
{
    td_status status = TD_OK;
    chains self = {.job = job};
    uint32_t vertices = job->graph->vertices;
    TD_TRY(TD_NEW_ZEROED(&self.open, td_bitmap_words(vertices), "vertices on open paths"));
    TD_TRY(td_pool_for(job->pool, vertices, TD_PATH_GRAIN, follow_paths, &self));
    for (uint32_t v = 0; v < vertices; v++)
        if (td_passed(&job->passes, v) && !td_bit_get(self.open, v)) open_cycle(&self, v);
done:
    td_free(self.open);
    return status;
}

/* Long paths. */

typedef struct cuts {
    td_path_job *job;
    uint64_t *at; /* bitmap of vertices that paths no longer pass through; whatever follows paths does not see it yet */
} cuts;

static td_status find_cuts(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const cuts *self = context;
    td_path_job *job = self->job;
    for (uint64_t v = begin; v < end; v++) {
        uint64_t edges = 0;
        if (!begins(job, (uint32_t)v)) continue;
        for (uint32_t at = (uint32_t)v; at != TD_NO_VERTEX; at = passed_next(job, at))
            if (++edges % job->options.longest == 0) td_bit_set_atomic(self->at, at);
    }
    return TD_OK;
}

static td_status make_cuts(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const cuts *self = context;
    for (uint64_t v = begin; v < end; v++)
        if (td_bit_get(self->at, v)) end_pass(&self->job->passes, (uint32_t)v);
    return TD_OK;
}

td_status td_paths_shorten(td_path_job *job)
{
    td_status status = TD_OK;
    cuts self = {.job = job};
    uint32_t vertices = job->graph->vertices;
    if (job->options.longest == 0) return TD_OK;
    TD_TRY(TD_NEW_ZEROED(&self.at, td_bitmap_words(vertices), "cuts of paths"));
    TD_TRY(td_pool_for(job->pool, vertices, TD_PATH_GRAIN, find_cuts, &self));
    TD_TRY(td_pool_for(job->pool, vertices, TD_PATH_GRAIN, make_cuts, &self));
done:
    td_free(self.at);
    return status;
}

td_status td_paths_join(td_path_job *job)
{
    TD_CHECK(td_pool_for(job->pool, job->graph->vertices, TD_PATH_GRAIN, join_vertices, job));
    return open_cycles(job);
}
