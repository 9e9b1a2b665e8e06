/* A probe is a breadth-first search that ends after some hundred vertices. Where the number of visited vertices grows
 * exponentially with the depth, all vertices are a few levels further; where it grows like a power (2 for a grid), the
 * depth grows like the root. */
#include "planner/probe.h"

#include "base/mapping.h"
#include "base/random.h"
#include "store/checks.h"

#include <math.h>

enum { PROBES = 3, MOST_VISITED = 512, MOST_LIST = 64, SLOTS = 2048, MOST_DEPTH = MOST_VISITED };
static const double TAIL = 4;     /* levels of stragglers behind an exponential growth */
static const double FAR = 2;      /* a source is rarely in the middle of a grid */
static const double STEEPEST = 5; /* a power above it is taken for an exponential */

typedef struct probe {
    const td_graph *graph;
    uint32_t visited[MOST_VISITED], slots[SLOTS]; /* slots: 1 + place in `visited`; 0: free */
    uint32_t count;
    uint32_t reached[MOST_DEPTH + 1]; /* vertices up to this depth */
    uint32_t depth;
    bool whole; /* the component ended before the probe did */
} probe;

static bool visit(probe *self, uint32_t vertex)
{
    uint64_t slot = td_random_at(7, vertex) % SLOTS;
    while (self->slots[slot] != 0 && self->visited[self->slots[slot] - 1] != vertex) slot = (slot + 1) % SLOTS;
    if (self->slots[slot] != 0) return false;
    self->visited[self->count++] = vertex;
    self->slots[slot] = self->count;
    return true;
}

/* A list's edges; none if the file says what cannot be. */
static uint64_t list_of(const td_graph *graph, uint32_t vertex, uint64_t *begin)
{
    uint64_t ends[2];
    td_mapping_read(graph->mapping, graph->out.offsets + vertex, ends, sizeof ends);
    *begin = ends[0];
    return ends[0] > ends[1] || ends[1] > graph->edges ? 0 : ends[1] - ends[0];
}

/* The first edges of a list; a long one says enough by then. */
static void expand(probe *self, uint32_t vertex)
{
    const td_graph *graph = self->graph;
    uint64_t begin, count = list_of(graph, vertex, &begin);
    if (count > MOST_LIST) count = MOST_LIST;
    uint32_t targets[MOST_LIST];
    td_checks_peek(graph, graph->out.targets, begin, targets, count);
    for (uint64_t e = 0; e < count && self->count < MOST_VISITED; e++)
        if (targets[e] < graph->vertices) (void)visit(self, targets[e]);
}

static void walk(probe *self, uint32_t source)
{
    uint32_t next = 0;
    (void)visit(self, source);
    self->reached[0] = 1;
    while (next < self->count && self->count < MOST_VISITED) {
        uint32_t level = self->count;
        for (; next < level; next++) expand(self, self->visited[next]);
        if (self->count > level) self->reached[++self->depth] = self->count;
    }
    self->whole = self->count < MOST_VISITED;
}

/* The last level was cut off: growth is taken from the levels before it, where there are some. */
static double extrapolate(const probe *self)
{
    uint32_t last = self->depth > 2 ? self->depth - 1 : self->depth, half = (last + 1) / 2;
    if (self->whole || half == last) return self->depth + (self->whole ? 0 : TAIL);
    double all = self->graph->vertices, there = self->reached[last], grown = there / self->reached[half];
    if (grown <= 1) return self->depth;
    double power = log(grown) / log((double)last / half);
    if (power <= STEEPEST && last > 4) return FAR * last * pow(all / there, 1 / power);
    double levels = log(all / there) / (log(grown) / (last - half));
    return last + (levels > 0 ? levels : 0) + TAIL;
}

/* A vertex that has edges, near a place that depends on the probe alone. */
static uint32_t start_of(const td_graph *graph, uint32_t probe_number)
{
    uint32_t first = (uint32_t)td_random_below(td_random_at(3, probe_number), graph->vertices);
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t vertex = (uint32_t)(((uint64_t)first + i) % graph->vertices);
        uint64_t begin;
        if (list_of(graph, vertex, &begin) > 0) return vertex;
    }
    return first;
}

double td_probe_rounds(const td_graph *graph, uint32_t source)
{
    double most = 0;
    if (graph->vertices == 0 || graph->out.offsets == NULL || graph->out.targets == NULL) return 0;
    bool given = source < graph->vertices;
    for (uint32_t i = 0; i < (given ? 1 : PROBES); i++) {
        probe self = {.graph = graph};
        walk(&self, given ? source : start_of(graph, i));
        double rounds = extrapolate(&self);
        if (rounds > most) most = rounds;
    }
    return most < graph->vertices ? most : graph->vertices;
}
