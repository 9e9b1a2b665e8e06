/* Textbook references: each computes a program's result from scratch, serially,
 * in doubles where numbers are real, from the out-lists alone. Slow and plain on
 * purpose; they share no code with verifiers or engines. Results are freed with
 * td_free by the caller.
 */
#ifndef TD_TEST_REFERENCE_H
#define TD_TEST_REFERENCE_H

#include "store/graph.h"
#include "test.h"

#include <math.h>

#define REFERENCE_NEW(pointer, count) CHECK_OK(TD_NEW_ZEROED(pointer, count, "reference"))

static inline double reference_weight(const td_graph *graph, uint64_t edge)
{
    return graph->weights == TD_WEIGHT_NONE ? 1 : td_weight_at(graph, &graph->out, edge);
}

static inline float *reference_floats(const double *values, uint64_t count)
{
    float *floats = NULL;
    REFERENCE_NEW(&floats, count);
    for (uint64_t i = 0; i < count; i++) floats[i] = (float)values[i];
    return floats;
}

/* The edges as a list. `undirected`: of a directed graph each also turned round,
 * so that "for every edge, source -> target" covers the undirected view. */
typedef struct reference_edge {
    uint32_t source, target;
    double weight;
    uint64_t position;
} reference_edge;

static inline reference_edge *reference_edges(const td_graph *graph, bool undirected, uint64_t *count)
{
    reference_edge *edges = NULL;
    bool turn = undirected && !graph->symmetric;
    *count = 0;
    REFERENCE_NEW(&edges, graph->edges * 2);
    for (uint32_t u = 0; u < graph->vertices; u++)
        for (uint64_t e = graph->out.offsets[u]; e < graph->out.offsets[u + 1]; e++) {
            uint32_t v = graph->out.targets[e];
            double weight = reference_weight(graph, e);
            edges[(*count)++] = (reference_edge){u, v, weight, e};
            if (turn) edges[(*count)++] = (reference_edge){v, u, weight, e};
        }
    return edges;
}

/* Breadth-first search with a queue. */
static inline uint32_t *reference_bfs(const td_graph *graph, uint32_t source, uint32_t **parents)
{
    uint32_t *levels = NULL, *queue = NULL, head = 0, tail = 0;
    REFERENCE_NEW(&levels, graph->vertices);
    REFERENCE_NEW(parents, graph->vertices);
    REFERENCE_NEW(&queue, graph->vertices);
    memset(levels, 0xff, graph->vertices * sizeof *levels);
    memset(*parents, 0xff, graph->vertices * sizeof **parents);
    levels[source] = 0;
    (*parents)[source] = source;
    queue[tail++] = source;
    while (head < tail) {
        uint32_t u = queue[head++];
        for (uint64_t e = graph->out.offsets[u]; e < graph->out.offsets[u + 1]; e++) {
            uint32_t v = graph->out.targets[e];
            if (levels[v] != UINT32_MAX) continue;
            levels[v] = levels[u] + 1;
            (*parents)[v] = u;
            queue[tail++] = v;
        }
    }
    td_free(queue);
    return levels;
}

/* Dijkstra's algorithm with a binary heap; a vertex may stand in it several times. */
typedef struct reference_heap {
    struct reference_heap_entry {
        double key;
        uint32_t vertex;
    } *entries;
    uint64_t count;
} reference_heap;

static inline void reference_heap_put(reference_heap *heap, double key, uint32_t vertex)
{
    uint64_t at = heap->count++;
    for (; at > 0 && heap->entries[(at - 1) / 2].key > key; at = (at - 1) / 2)
        heap->entries[at] = heap->entries[(at - 1) / 2];
    heap->entries[at] = (struct reference_heap_entry){key, vertex};
}

static inline uint32_t reference_heap_take(reference_heap *heap)
{
    uint32_t least = heap->entries[0].vertex;
    struct reference_heap_entry last = heap->entries[--heap->count];
    uint64_t at = 0;
    for (uint64_t child; (child = 2 * at + 1) < heap->count; at = child) {
        if (child + 1 < heap->count && heap->entries[child + 1].key < heap->entries[child].key) child++;
        if (heap->entries[child].key >= last.key) break;
        heap->entries[at] = heap->entries[child];
    }
    heap->entries[at] = last;
    return least;
}

/* Distances are INFINITY where unreached, exact for integer weights. */
static inline double *reference_sssp(const td_graph *graph, uint32_t source, uint32_t **parents)
{
    double *distances = NULL;
    bool *settled = NULL;
    reference_heap heap = {0};
    REFERENCE_NEW(&distances, graph->vertices);
    REFERENCE_NEW(parents, graph->vertices);
    REFERENCE_NEW(&settled, graph->vertices);
    REFERENCE_NEW(&heap.entries, graph->edges + 1);
    for (uint32_t v = 0; v < graph->vertices; v++) {
        distances[v] = INFINITY;
        (*parents)[v] = TD_NO_VERTEX;
    }
    distances[source] = 0;
    (*parents)[source] = source;
    reference_heap_put(&heap, 0, source);
    while (heap.count > 0) {
        uint32_t u = reference_heap_take(&heap);
        if (settled[u]) continue;
        settled[u] = true;
        for (uint64_t e = graph->out.offsets[u]; e < graph->out.offsets[u + 1]; e++) {
            uint32_t v = graph->out.targets[e];
            double through = distances[u] + reference_weight(graph, e);
            if (through >= distances[v]) continue;
            distances[v] = through;
            (*parents)[v] = u;
            reference_heap_put(&heap, through, v);
        }
    }
    td_free(settled);
    td_free(heap.entries);
    return distances;
}

static inline uint32_t *reference_whole_distances(const double *distances, uint32_t vertices)
{
    uint32_t *whole = NULL;
    REFERENCE_NEW(&whole, vertices);
    for (uint32_t v = 0; v < vertices; v++) whole[v] = distances[v] == INFINITY ? UINT32_MAX : (uint32_t)distances[v];
    return whole;
}

/* Union-find in which the smaller root wins. */
static inline uint32_t reference_root(uint32_t *parents, uint32_t v)
{
    while (parents[v] != v) v = parents[v] = parents[parents[v]];
    return v;
}

static inline uint32_t *reference_wcc(const td_graph *graph)
{
    uint32_t *labels = NULL;
    REFERENCE_NEW(&labels, graph->vertices);
    for (uint32_t v = 0; v < graph->vertices; v++) labels[v] = v;
    for (uint32_t u = 0; u < graph->vertices; u++)
        for (uint64_t e = graph->out.offsets[u]; e < graph->out.offsets[u + 1]; e++) {
            uint32_t a = reference_root(labels, u), b = reference_root(labels, graph->out.targets[e]);
            if (a < b) labels[b] = a;
            else labels[a] = b;
        }
    for (uint32_t v = 0; v < graph->vertices; v++) labels[v] = reference_root(labels, v);
    return labels;
}

/* Power iteration. `personal` may be NULL. */
static inline double *reference_pagerank(const td_graph *graph, double damping, bool spread_dangling,
                                         const double *personal, uint32_t iterations)
{
    uint32_t n = graph->vertices;
    double *ranks = NULL, *sums = NULL;
    REFERENCE_NEW(&ranks, n);
    REFERENCE_NEW(&sums, n);
    for (uint32_t v = 0; v < n; v++) ranks[v] = personal != NULL ? personal[v] : 1.0 / n;
    for (uint32_t i = 0; i < iterations; i++) {
        double dangling = 0;
        memset(sums, 0, n * sizeof *sums);
        for (uint32_t u = 0; u < n; u++) {
            uint64_t degree = td_degree(&graph->out, u);
            if (degree == 0) dangling += ranks[u];
            for (uint64_t e = graph->out.offsets[u]; e < graph->out.offsets[u + 1]; e++)
                sums[graph->out.targets[e]] += ranks[u] / (double)degree;
        }
        for (uint32_t v = 0; v < n; v++) {
            double p = personal != NULL ? personal[v] : 1.0 / n;
            ranks[v] = (1 - damping) * p + damping * (sums[v] + (spread_dangling ? p * dangling : 0));
        }
    }
    td_free(sums);
    return ranks;
}

/* Kruskal's algorithm over edges by (weight, position); returns positions. */
static inline int reference_edge_order(const void *a, const void *b)
{
    const reference_edge *x = a, *y = b;
    if (x->weight != y->weight) return x->weight < y->weight ? -1 : 1;
    return x->position < y->position ? -1 : x->position > y->position;
}

static inline uint64_t *reference_mst(const td_graph *graph, uint64_t *count, double *total)
{
    uint64_t edge_count, *positions = NULL;
    reference_edge *edges = reference_edges(graph, false, &edge_count);
    uint32_t *parents = NULL;
    REFERENCE_NEW(&positions, graph->vertices);
    REFERENCE_NEW(&parents, graph->vertices);
    for (uint32_t v = 0; v < graph->vertices; v++) parents[v] = v;
    qsort(edges, edge_count, sizeof *edges, reference_edge_order);
    *count = 0;
    *total = 0;
    for (uint64_t i = 0; i < edge_count; i++) {
        if (graph->symmetric && edges[i].source > edges[i].target) continue;
        uint32_t a = reference_root(parents, edges[i].source), b = reference_root(parents, edges[i].target);
        if (a == b) continue;
        parents[a] = b;
        positions[(*count)++] = edges[i].position;
        *total += edges[i].weight;
    }
    td_free(edges);
    td_free(parents);
    return positions;
}

/* Batagelj and Zaversnik's peeling: vertices stand in an array in the order of
 * their degrees, with the place where each degree begins; the first is taken,
 * and each one it held up changes places with the first of its degree, which
 * then belongs to the degree below. Loops do not count. */
typedef struct reference_bins {
    uint32_t *degree, *order, *place, *first; /* per vertex, per place, per vertex, per degree */
} reference_bins;

static inline void reference_sort_by_degree(reference_bins *bins, uint32_t n, uint64_t most)
{
    for (uint32_t v = 0; v < n; v++) bins->first[bins->degree[v] + 1]++;
    for (uint64_t d = 0; d < most; d++) bins->first[d + 1] += bins->first[d];
    for (uint32_t v = 0; v < n; v++) {
        bins->place[v] = bins->first[bins->degree[v]]++;
        bins->order[bins->place[v]] = v;
    }
    for (uint64_t d = most; d > 0; d--) bins->first[d] = bins->first[d - 1];
    bins->first[0] = 0;
}

static inline void reference_lower_degree(reference_bins *bins, uint32_t v)
{
    uint32_t front = bins->first[bins->degree[v]]++, other = bins->order[front];
    bins->order[bins->place[v]] = other;
    bins->place[other] = bins->place[v];
    bins->order[front] = v;
    bins->place[v] = front;
    bins->degree[v]--;
}

static inline int reference_source_order(const void *a, const void *b)
{
    const reference_edge *x = a, *y = b;
    return x->source < y->source ? -1 : x->source > y->source;
}

static inline uint32_t *reference_kcore(const td_graph *graph, bool in_degree_only)
{
    uint32_t n = graph->vertices;
    uint64_t count, *start = NULL;
    reference_edge *edges = reference_edges(graph, !in_degree_only, &count);
    reference_bins bins = {0};
    REFERENCE_NEW(&start, (uint64_t)n + 1);
    REFERENCE_NEW(&bins.degree, n);
    REFERENCE_NEW(&bins.order, n);
    REFERENCE_NEW(&bins.place, n);
    REFERENCE_NEW(&bins.first, count + 2);
    qsort(edges, count, sizeof *edges, reference_source_order);
    for (uint64_t i = 0; i < count; i++) {
        start[edges[i].source + 1]++;
        if (edges[i].source != edges[i].target) bins.degree[edges[i].target]++;
    }
    for (uint32_t v = 0; v < n; v++) start[v + 1] += start[v];
    reference_sort_by_degree(&bins, n, count);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = bins.order[i];
        for (uint64_t e = start[v]; e < start[v + 1]; e++)
            if (edges[e].target != v && bins.degree[edges[e].target] > bins.degree[v])
                reference_lower_degree(&bins, edges[e].target);
    }
    td_free(edges);
    td_free(start);
    td_free(bins.order);
    td_free(bins.place);
    td_free(bins.first);
    return bins.degree;
}

static inline double *reference_adsorption(const td_graph *graph, double injection, double continuation,
                                           const double *seeds, uint32_t iterations)
{
    uint32_t n = graph->vertices;
    uint64_t count;
    reference_edge *edges = reference_edges(graph, false, &count);
    double *scores = NULL, *sums = NULL, *weights = NULL;
    REFERENCE_NEW(&scores, n);
    REFERENCE_NEW(&sums, n);
    REFERENCE_NEW(&weights, n);
    for (uint64_t i = 0; i < count; i++) weights[edges[i].target] += edges[i].weight;
    for (uint32_t v = 0; v < n; v++) scores[v] = seeds[v];
    for (uint32_t k = 0; k < iterations; k++) {
        memset(sums, 0, n * sizeof *sums);
        for (uint64_t i = 0; i < count; i++) sums[edges[i].target] += edges[i].weight * scores[edges[i].source];
        for (uint32_t v = 0; v < n; v++)
            scores[v] = injection * seeds[v] + (weights[v] != 0 ? continuation * sums[v] / weights[v] : 0);
    }
    td_free(edges);
    td_free(sums);
    td_free(weights);
    return scores;
}

/* Synchronous steps of a network with any activation function; an input of NaN is none. */
static inline double *reference_nn(const td_graph *graph, double (*activation)(double), const double *inputs,
                                   uint32_t iterations)
{
    uint32_t n = graph->vertices;
    uint64_t count;
    reference_edge *edges = reference_edges(graph, false, &count);
    double *values = NULL, *sums = NULL;
    REFERENCE_NEW(&values, n);
    REFERENCE_NEW(&sums, n);
    for (uint32_t v = 0; v < n; v++) values[v] = isnan(inputs[v]) ? 0 : inputs[v];
    for (uint32_t k = 0; k < iterations; k++) {
        memset(sums, 0, n * sizeof *sums);
        for (uint64_t i = 0; i < count; i++) sums[edges[i].target] += edges[i].weight * values[edges[i].source];
        for (uint32_t v = 0; v < n; v++)
            if (isnan(inputs[v])) values[v] = activation(sums[v]);
    }
    td_free(edges);
    td_free(sums);
    return values;
}

static inline double reference_tanh(double x) { return tanh(x); }
static inline double reference_sigmoid(double x) { return 1 / (1 + exp(-x)); }
static inline double reference_relu(double x) { return x > 0 ? x : 0; }

static inline double *reference_heat(const td_graph *graph, const double *initial, double step, uint32_t iterations)
{
    uint32_t n = graph->vertices;
    uint64_t count;
    reference_edge *edges = reference_edges(graph, true, &count);
    double *values = NULL, *flows = NULL;
    REFERENCE_NEW(&values, n);
    REFERENCE_NEW(&flows, n);
    for (uint32_t v = 0; v < n; v++) values[v] = initial[v];
    for (uint32_t k = 0; k < iterations; k++) {
        memset(flows, 0, n * sizeof *flows);
        for (uint64_t i = 0; i < count; i++)
            flows[edges[i].target] += edges[i].weight * (values[edges[i].source] - values[edges[i].target]);
        for (uint32_t v = 0; v < n; v++) values[v] += step * flows[v];
    }
    td_free(edges);
    td_free(flows);
    return values;
}

/* A dense system, by elimination with the largest pivot of each column. */
static inline void reference_solve(double *matrix, double *right, uint64_t n)
{
    for (uint64_t k = 0; k < n; k++) {
        uint64_t pivot = k;
        for (uint64_t i = k + 1; i < n; i++)
            if (fabs(matrix[i * n + k]) > fabs(matrix[pivot * n + k])) pivot = i;
        for (uint64_t j = 0; j < n; j++) {
            double swapped = matrix[k * n + j];
            matrix[k * n + j] = matrix[pivot * n + j];
            matrix[pivot * n + j] = swapped;
        }
        double swapped = right[k];
        right[k] = right[pivot];
        right[pivot] = swapped;
        for (uint64_t i = k + 1; i < n; i++) {
            double factor = matrix[i * n + k] / matrix[k * n + k];
            if (factor == 0) continue;
            for (uint64_t j = k; j < n; j++) matrix[i * n + j] -= factor * matrix[k * n + j];
            right[i] -= factor * right[k];
        }
    }
    for (uint64_t k = n; k-- > 0;) {
        for (uint64_t j = k + 1; j < n; j++) right[k] -= matrix[k * n + j] * right[j];
        right[k] /= matrix[k * n + k];
    }
}

enum { REFERENCE_MOST_VOLTAGES = 2000 };

/* Kirchhoff's equations solved directly: held[v] is a vertex's given voltage, NaN
 * where it is free. A vertex that no path joins with a held one has 0 volts. */
static inline double *reference_circuit(const td_graph *graph, const double *held)
{
    uint64_t n = graph->vertices, count;
    CHECK(n <= REFERENCE_MOST_VOLTAGES);
    reference_edge *edges = reference_edges(graph, true, &count);
    uint32_t *labels = reference_wcc(graph);
    double *matrix = NULL, *volts = NULL;
    bool *fed = NULL;
    REFERENCE_NEW(&matrix, n * n);
    REFERENCE_NEW(&volts, n);
    REFERENCE_NEW(&fed, n);
    for (uint64_t v = 0; v < n; v++)
        if (!isnan(held[v])) fed[labels[v]] = true;
    for (uint64_t v = 0; v < n; v++) {
        if (isnan(held[v]) && fed[labels[v]]) continue;
        matrix[v * n + v] = 1;
        volts[v] = isnan(held[v]) ? 0 : held[v];
    }
    for (uint64_t i = 0; i < count; i++) {
        uint64_t v = edges[i].target, u = edges[i].source;
        if (u == v || !isnan(held[v]) || !fed[labels[v]]) continue;
        matrix[v * n + v] += 1 / edges[i].weight;
        matrix[v * n + u] -= 1 / edges[i].weight;
    }
    reference_solve(matrix, volts, n);
    for (uint64_t v = 0; v < n; v++)
        if (!isnan(held[v])) volts[v] = held[v]; /* not off by the elimination's rounding */
    td_free(edges);
    td_free(labels);
    td_free(matrix);
    td_free(fed);
    return volts;
}

#endif
