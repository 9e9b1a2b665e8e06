/* Recursive bisection (Dhulipala and others, KDD'16): a vertex and its neighbours get near numbers.
 *
 * The vertices are cut into two halves, and each half again. The cost of a cut is the estimated logarithm of the gaps in
 * the adjacency lists: a list with a members in a half of n vertices costs a log2(n / (a + 1)) there. The members are the
 * targets and, beyond the paper, the vertex itself: on a bipartite graph such as a grid the neighbours alone would bring
 * only one side's vertices together. Starting from the order at hand, the vertices of either half that gain most by
 * changing sides are exchanged in pairs, up to ROUNDS times. The authors exchange by the gains at the start of a round;
 * here a pair is exchanged if it gains after the exchanges before it, because two halves in which all vertices gain would
 * only change names. One thread. */
#include "layout/orders.h"

#include "base/alloc.h"
#include "base/cancel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROUNDS = 12,
    CANDIDATES = 4, /* for an exchange; the gains that they were sorted by are those before the round */
    FEW = 1000,     /* a round that exchanges fewer than a 1000th of the vertices is the last */
    LEAF = 8,
    LOGS = 4096,
};
static const double LEAST_GAIN = 1e-9; /* above rounding */

typedef struct gain {
    double gain;
    uint32_t vertex;
} gain;

typedef struct bisection {
    const td_graph *graph;
    td_in_lists in;          /* of a vertex: the lists that it is in */
    uint32_t *order;
    uint32_t *degree[2];     /* members of a vertex's list in either half; 0 between cuts */
    uint8_t *side;           /* 1: the second half */
    gain *gains;
    double logs[LOGS];
} bisection;

static double log_of(const bisection *self, uint64_t x) { return x < LOGS ? self->logs[x] : log2((double)x); }

/* Estimated cost of one list, up to a constant. n: vertices of the halves; a, b: the list's members in them. */
static double cost_of(const bisection *self, const uint64_t n[2], uint64_t a, uint64_t b)
{
    return (double)a * (log_of(self, n[0]) - log_of(self, a + 1)) + (double)b * (log_of(self, n[1]) - log_of(self, b + 1));
}

/* The ith list that a vertex is in: its own first. */
static uint32_t list_at(const bisection *self, uint32_t v, uint64_t i)
{
    return i == 0 ? v : self->in.targets[self->in.offsets[v] + i - 1];
}

static uint64_t lists_of(const bisection *self, uint32_t v) { return self->in.offsets[v + 1] - self->in.offsets[v] + 1; }

/* Counts the members of all lists that the vertices are in, or clears the counts. */
static void count(bisection *self, const uint32_t *vertices, uint64_t n, int side, bool clears)
{
    for (uint64_t i = 0; i < n; i++) {
        self->side[vertices[i]] = (uint8_t)side;
        for (uint64_t l = 0; l < lists_of(self, vertices[i]); l++) {
            uint32_t list = list_at(self, vertices[i], l);
            if (clears) self->degree[0][list] = self->degree[1][list] = 0;
            else self->degree[side][list]++;
        }
    }
}

/* What moving the vertex to the other half gains. */
static double gain_of(const bisection *self, const uint64_t n[2], uint32_t v)
{
    double sum = 0;
    bool back = self->side[v] == 1;
    for (uint64_t l = 0; l < lists_of(self, v); l++) {
        uint32_t list = list_at(self, v, l);
        uint64_t a = self->degree[0][list], b = self->degree[1][list];
        sum += cost_of(self, n, a, b) - (back ? cost_of(self, n, a + 1, b - 1) : cost_of(self, n, a - 1, b + 1));
    }
    return sum;
}

static int by_gain(const void *a, const void *b)
{
    const gain *x = a, *y = b;
    if (x->gain != y->gain) return x->gain > y->gain ? -1 : 1;
    return x->vertex < y->vertex ? -1 : x->vertex > y->vertex;
}

/* Moves a vertex to the other half. */
static void move(bisection *self, uint32_t v)
{
    int from = self->side[v], to = 1 - from;
    for (uint64_t l = 0; l < lists_of(self, v); l++) {
        uint32_t list = list_at(self, v, l);
        self->degree[from][list]--;
        self->degree[to][list]++;
    }
    self->side[v] = (uint8_t)to;
}

/* Of the first few candidates the one that gains most after the moves so far. */
static uint64_t best_of(const bisection *self, const uint64_t n[2], const gain *from, uint64_t left, double *best)
{
    uint64_t which = 0;
    for (uint64_t i = 0; i < left && i < CANDIDATES; i++) {
        double one = gain_of(self, n, from[i].vertex);
        if (i > 0 && one <= *best) continue;
        *best = one;
        which = i;
    }
    return which;
}

static void swap_vertices(gain *a, gain *b)
{
    uint32_t vertex = a->vertex;
    a->vertex = b->vertex;
    b->vertex = vertex;
}

/* Exchanges a vertex of the first half with one of the second if that gains; otherwise it stays. */
static bool exchange_one(bisection *self, const uint64_t n[2], gain *first, gain *second, uint64_t left)
{
    double gains = gain_of(self, n, first->vertex), back = 0;
    move(self, first->vertex);
    uint64_t which = best_of(self, n, second, left, &back);
    if (gains + back <= LEAST_GAIN) {
        move(self, first->vertex);
        return false;
    }
    move(self, second[which].vertex);
    swap_vertices(second, &second[which]);
    swap_vertices(first, second);
    return true;
}

/* Sorts both halves by gains and exchanges vertices in this order, while a pair promises a gain; returns how many. */
static uint64_t exchange(bisection *self, const uint64_t n[2], uint32_t *vertices)
{
    uint64_t pairs = 0, all = n[0] + n[1];
    gain *first = self->gains, *second = self->gains + n[0];
    for (uint64_t i = 0; i < all; i++) self->gains[i] = (gain){gain_of(self, n, vertices[i]), vertices[i]};
    qsort(first, n[0], sizeof *first, by_gain);
    qsort(second, n[1], sizeof *second, by_gain);
    for (uint64_t i = 0; i < n[0] && pairs < n[1] && first[i].gain + second[pairs].gain > LEAST_GAIN; i++)
        pairs += exchange_one(self, n, &first[i], &second[pairs], n[1] - pairs);
    for (uint64_t i = 0; i < all; i++) vertices[i] = self->gains[i].vertex;
    return pairs;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static td_status cut(bisection *self, uint32_t *vertices, uint64_t all)
{
    uint64_t n[2] = {all / 2, all - all / 2};
    count(self, vertices, n[0], 0, false);
    count(self, vertices + n[0], n[1], 1, false);
    for (int round = 0; round < ROUNDS; round++) {
        TD_CHECK(td_cancel_check());
        if (exchange(self, n, vertices) * FEW < all) break;
    }
    count(self, vertices, all, 0, true);
    qsort(vertices, n[0], sizeof *vertices, by_number); /* a half starts from the order at hand */
    qsort(vertices + n[0], n[1], sizeof *vertices, by_number);
    if (n[0] > LEAF) TD_CHECK(cut(self, vertices, n[0]));
    return n[1] > LEAF ? cut(self, vertices + n[0], n[1]) : TD_OK;
}

static td_status start(bisection *self)
{
    uint64_t n = self->graph->vertices;
    TD_CHECK(td_in_lists_make(self->graph, &self->in));
    for (int i = 0; i < 2; i++) TD_CHECK(TD_NEW_ZEROED(&self->degree[i], n, "members in either half"));
    TD_CHECK(TD_NEW_ZEROED(&self->side, n, "halves of vertices"));
    TD_CHECK(TD_NEW(&self->gains, n, "gains of vertices"));
    self->logs[0] = 0;
    for (int i = 1; i < LOGS; i++) self->logs[i] = log2(i);
    for (uint64_t v = 0; v < n; v++) self->order[v] = (uint32_t)v;
    return TD_OK;
}

td_status td_order_bisect(const td_graph *graph, uint32_t *order)
{
    td_status status = TD_OK;
    bisection *self = NULL;
    TD_CHECK(TD_NEW_ZEROED(&self, 1, "recursive bisection"));
    self->graph = graph;
    self->order = order;
    TD_TRY(start(self));
    if (graph->vertices > LEAF) TD_TRY(cut(self, order, graph->vertices));
done:
    td_in_lists_clear(&self->in);
    for (int i = 0; i < 2; i++) td_free(self->degree[i]);
    td_free(self->side);
    td_free(self->gains);
    td_free(self);
    return status;
}
