/* Gorder (Wei and others, SIGMOD'16): vertices that are read together get near numbers.
 *
 * The score of two vertices is the number of edges between them plus the number of their common in-neighbours. Greedily,
 * the next vertex is one whose scores with the last WINDOW vertices add up to the most. The sums are kept up to date:
 * a vertex that enters the window adds one to every neighbour, and one to every out-neighbour of every in-neighbour; when
 * it leaves it subtracts the same. The second part costs the square of an in-neighbour's degree over the whole order, so
 * in-neighbours of more than td_gorder_hub out-edges are left out of it: common hubs say little about two vertices.
 *
 * Vertices of equal sums are in a list each, which gives the next vertex in constant time. One thread. */
#include "layout/orders.h"

#include "base/alloc.h"
#include "base/cancel.h"

#include <string.h>

enum { MOST_SUMS = 1 << 22, CHECK_EVERY = 1024 }; /* larger sums share the last list */
#define NOBODY UINT32_MAX

typedef struct greedy {
    const td_graph *graph;
    td_in_lists in;
    uint64_t hub;
    uint64_t *sums;
    uint32_t *next, *before; /* of the list of equal sums; NOBODY at its ends */
    uint32_t *heads;         /* [list_count] */
    uint64_t list_count, highest;
    bool *placed;
} greedy;

uint64_t td_gorder_hub(uint64_t vertices)
{
    uint64_t root = 1;
    while (root < TD_GORDER_HUB && root * root < vertices) root++;
    return root;
}

static uint64_t list_of(uint64_t sum) { return sum < MOST_SUMS ? sum : MOST_SUMS - 1; }

static void unlink_vertex(greedy *self, uint32_t v)
{
    uint32_t before = self->before[v], next = self->next[v];
    if (before != NOBODY) self->next[before] = next;
    else self->heads[list_of(self->sums[v])] = next;
    if (next != NOBODY) self->before[next] = before;
}

static void link_vertex(greedy *self, uint32_t v)
{
    uint64_t list = list_of(self->sums[v]);
    uint32_t head = self->heads[list];
    self->next[v] = head;
    self->before[v] = NOBODY;
    if (head != NOBODY) self->before[head] = v;
    self->heads[list] = v;
    if (list > self->highest) self->highest = list;
}

static td_status make_lists(greedy *self, uint64_t count)
{
    uint64_t had = self->list_count;
    if (count <= had) return TD_OK;
    TD_CHECK(TD_RESIZE(&self->heads, 2 * count, "lists of equal sums"));
    self->list_count = 2 * count;
    for (uint64_t i = had; i < self->list_count; i++) self->heads[i] = NOBODY;
    return TD_OK;
}

/* Adds one to the sum of a vertex that has no place yet, or subtracts it. */
static td_status change(greedy *self, uint32_t v, bool adds)
{
    if (self->placed[v]) return TD_OK;
    unlink_vertex(self, v);
    self->sums[v] += adds ? 1 : UINT64_MAX;
    TD_CHECK(make_lists(self, list_of(self->sums[v]) + 1));
    link_vertex(self, v);
    return TD_OK;
}

static td_status change_list(greedy *self, const uint64_t *offsets, const uint32_t *targets, uint32_t v, bool adds)
{
    for (uint64_t e = offsets[v]; e < offsets[v + 1]; e++) TD_CHECK(change(self, targets[e], adds));
    return TD_OK;
}

/* A vertex enters the window or leaves it. */
static td_status pass(greedy *self, uint32_t v, bool enters)
{
    const td_adjacency *out = &self->graph->out;
    TD_CHECK(change_list(self, out->offsets, out->targets, v, enters));
    TD_CHECK(change_list(self, self->in.offsets, self->in.targets, v, enters));
    for (uint64_t e = self->in.offsets[v]; e < self->in.offsets[v + 1]; e++) {
        uint32_t common = self->in.targets[e];
        if (td_degree(out, common) > self->hub) continue;
        TD_CHECK(change_list(self, out->offsets, out->targets, common, enters));
    }
    return TD_OK;
}

static uint32_t take_highest(greedy *self)
{
    while (self->heads[self->highest] == NOBODY) self->highest--;
    uint32_t v = self->heads[self->highest];
    unlink_vertex(self, v);
    self->placed[v] = true;
    return v;
}

static td_status start(greedy *self, td_sorter *sorter, uint32_t *order)
{
    uint64_t n = self->graph->vertices;
    TD_CHECK(td_in_lists_make(self->graph, &self->in));
    TD_CHECK(TD_NEW_ZEROED(&self->sums, n, "sums of scores"));
    TD_CHECK(TD_NEW(&self->next, n, "lists of equal sums"));
    TD_CHECK(TD_NEW(&self->before, n, "lists of equal sums"));
    TD_CHECK(TD_NEW_ZEROED(&self->placed, n, "vertices with a place"));
    TD_CHECK(make_lists(self, 64));
    TD_CHECK(td_order_by_heat(self->graph, sorter, order));
    for (uint64_t i = n; i-- > 0;) link_vertex(self, order[i]); /* of equal sums the highest in-degree first */
    return TD_OK;
}

td_status td_order_gorder(const td_graph *graph, td_sorter *sorter, uint32_t *order)
{
    td_status status = TD_OK;
    uint64_t n = graph->vertices;
    greedy self = {.graph = graph, .hub = td_gorder_hub(n)};
    TD_TRY(start(&self, sorter, order));
    for (uint64_t i = 0; i < n; i++) {
        if (i % CHECK_EVERY == 0) TD_TRY(td_cancel_check());
        order[i] = take_highest(&self);
        TD_TRY(pass(&self, order[i], true));
        if (i >= TD_GORDER_WINDOW) TD_TRY(pass(&self, order[i - TD_GORDER_WINDOW], false));
    }
done:
    td_in_lists_clear(&self.in);
    td_free(self.sums);
    td_free(self.next);
    td_free(self.before);
    td_free(self.heads);
    td_free(self.placed);
    return status;
}
