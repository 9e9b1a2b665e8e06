/* The bounded depth-first search (DiGraph, algorithm 1). The graph is cut into parts, ranges of vertices with equally
 * many out-edges; a part has the edges that begin at its vertices. The search of a part visits each of its vertices
 * once, highest-degree successors first, at most `depth` edges from the root that it began at. Where it visits a
 * vertex along an edge and goes on, a path passes through the vertex: in by that edge, out by the edge to the
 * successor of highest degree. All other edges begin paths.
 *
 * The number of parts depends on the graph alone, and parts do not see each other. */
#include "layout/paths_inside.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_PARTS = 64,
    PART_EDGES = 1 << 16, /* fewest edges of a part, unless there is one */
};

enum { UNSEEN, SEEN, DONE }; /* DONE: its edges have been visited */

/* A vertex on the way from the root, with the successors to visit next: candidates[next .. end - 1]. */
typedef struct stage {
    uint32_t vertex;
    uint64_t next, end;
} stage;

typedef struct search {
    td_path_job *job;
    uint8_t *state;        /* all vertices; a part uses those of its own */
    uint32_t begin, end;   /* the part's vertices */
    stage *stages;
    uint64_t *candidates;  /* stacked: of the stages, one after the other; degree and inverted vertex in a word */
    uint64_t room;
    uint64_t passes;
} search;

uint64_t td_edge_place(const td_graph *graph, uint32_t source, uint32_t target)
{
    const uint32_t *sources = graph->in.targets;
    uint64_t low = graph->in.offsets[target], high = graph->in.offsets[target + 1];
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (sources[middle] < source) low = middle + 1;
        else high = middle;
    }
    return low;
}

static uint64_t word_of(const search *self, uint32_t vertex)
{
    return (uint64_t)self->job->degree[vertex] << 32 | (uint32_t)~vertex;
}

static int compare_words(const void *a, const void *b)
{
    uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return one < other ? 1 : one > other ? -1 : 0;
}

/* Descending. Most lists are short. */
static void sort_words(uint64_t *words, uint64_t count)
{
    if (count > 24) {
        qsort(words, count, sizeof *words, compare_words);
        return;
    }
    for (uint64_t i = 1; i < count; i++) {
        uint64_t word = words[i], at = i;
        for (; at > 0 && words[at - 1] < word; at--) words[at] = words[at - 1];
        words[at] = word;
    }
}

static td_status make_room(search *self, uint64_t count)
{
    if (count <= self->room) return TD_OK;
    uint64_t room = count + count / 2 + 64;
    TD_CHECK(TD_RESIZE(&self->candidates, room, "successors to visit"));
    self->room = room;
    return TD_OK;
}

static bool inside(const search *self, uint32_t vertex) { return vertex >= self->begin && vertex < self->end; }

/* Visits the vertex: its unseen successors become candidates, and the best of all its successors, other than itself
 * where there is one, is returned as a word; 0: none. */
static td_status expand(search *self, stage *here, uint64_t begin, uint64_t *best)
{
    const td_adjacency *out = &self->job->graph->out;
    uint32_t vertex = here->vertex;
    uint64_t found = begin;
    *best = 0;
    self->state[vertex] = DONE;
    TD_CHECK(make_room(self, begin + td_degree(out, vertex)));
    for (uint64_t e = out->offsets[vertex]; e < out->offsets[vertex + 1]; e++) {
        uint32_t target = out->targets[e];
        if (!td_edge_counts(self->job, vertex, target)) continue;
        uint64_t word = target != vertex ? word_of(self, target) : (uint32_t)~vertex;
        if (word > *best) *best = word;
        if (inside(self, target) && self->state[target] == UNSEEN) self->candidates[found++] = word;
    }
    sort_words(self->candidates + begin, found - begin);
    here->next = begin;
    here->end = found;
    return TD_OK;
}

static void pass(search *self, uint32_t source, uint32_t vertex, uint32_t target)
{
    td_path_passes *passes = &self->job->passes;
    passes->enters[vertex] = td_edge_place(self->job->graph, source, vertex);
    passes->leaves[vertex] = td_edge_place(self->job->graph, vertex, target);
    passes->to[vertex] = target;
    self->passes++;
}

static td_status search_from(search *self, uint32_t root)
{
    const td_graph *graph = self->job->graph;
    uint64_t best = 0;
    uint32_t depth = 0;
    self->stages[0].vertex = root;
    TD_CHECK(expand(self, &self->stages[0], 0, &best));
    for (;;) {
        stage *here = &self->stages[depth];
        if (here->next == here->end) {
            if (depth-- == 0) return TD_OK;
            continue;
        }
        uint32_t vertex = (uint32_t)~self->candidates[here->next++];
        if (self->state[vertex] != UNSEEN) continue;
        self->state[vertex] = SEEN;
        if (depth + 1 >= self->job->options.depth || td_degree(&graph->out, vertex) == 0) continue;
        self->stages[++depth].vertex = vertex;
        TD_CHECK(expand(self, &self->stages[depth], here->end, &best));
        if (best != 0) pass(self, here->vertex, vertex, (uint32_t)~best);
    }
}

static td_status search_part(search *self)
{
    td_status status = TD_OK;
    TD_TRY(TD_NEW(&self->stages, self->job->options.depth + 1, "stages of a search"));
    for (uint32_t v = self->begin; v < self->end; v++) {
        if (self->state[v] == DONE || td_degree(&self->job->graph->out, v) == 0) continue;
        TD_TRY(search_from(self, v));
    }
done:
    td_free(self->stages);
    td_free(self->candidates);
    return status;
}

typedef struct searches {
    td_path_job *job;
    uint8_t *state;
    uint64_t parts;
    uint64_t found[MOST_PARTS]; /* passes */
} searches;

/* The first vertex of a part: parts have equally many out-edges. */
static uint32_t first_of(const td_graph *graph, uint64_t part, uint64_t parts)
{
    uint64_t wish = (uint64_t)((unsigned __int128)graph->edges * part / parts);
    uint64_t low = 0, high = graph->vertices;
    if (part == parts) return graph->vertices;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (graph->out.offsets[middle] < wish) low = middle + 1;
        else high = middle;
    }
    return (uint32_t)low;
}

static td_status search_parts(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    searches *all = context;
    for (uint64_t part = begin; part < end; part++) {
        search self = {.job = all->job, .state = all->state, .begin = first_of(all->job->graph, part, all->parts),
                       .end = first_of(all->job->graph, part + 1, all->parts)};
        if (part == 0) self.begin = 0;
        TD_CHECK(search_part(&self));
        all->found[part] = self.passes;
    }
    return TD_OK;
}

td_status td_paths_search(td_path_job *job)
{
    td_status status = TD_OK;
    const td_graph *graph = job->graph;
    searches all = {.job = job, .parts = graph->edges / PART_EDGES};
    td_path_stats *stats = &job->paths.stats;
    if (all.parts < 1) all.parts = 1;
    if (all.parts > MOST_PARTS) all.parts = MOST_PARTS;
    TD_TRY(TD_NEW_ZEROED(&all.state, graph->vertices, "visited vertices"));
    TD_TRY(td_pool_for(job->pool, all.parts, 1, search_parts, &all));
    stats->parts = all.parts;
    stats->found = graph->edges;
    for (uint64_t part = 0; part < all.parts; part++) stats->found -= all.found[part];
done:
    td_free(all.state);
    return status;
}
