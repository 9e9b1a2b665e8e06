#include "layout/reorder.h"

#include "base/alloc.h"
#include "base/bitmap.h"
#include "base/random.h"
#include "store/builder.h"

#include <stdlib.h>
#include <string.h>

const char *td_order_name(td_order order)
{
    static const char *const names[] = {
#define NAME(code, name, text) name,
        TD_ORDER_LIST(NAME)
#undef NAME
    };
    return names[order];
}

const char *td_order_text(td_order order)
{
    static const char *const texts[] = {
#define TEXT(code, name, text) text,
        TD_ORDER_LIST(TEXT)
#undef TEXT
    };
    return texts[order];
}

td_status td_order_named(const char *name, td_order *out)
{
    for (int i = 0; i < TD_ORDERS; i++)
        if (strcmp(td_order_name((td_order)i), name) == 0) {
            *out = (td_order)i;
            return TD_OK;
        }
    return td_fail(TD_USAGE, "unknown order '%s'; allowed are none, hot, indegree and random", name);
}

/* In-degrees; counted where the graph has no in-adjacency. */
static td_status count_heat(const td_graph *graph, uint64_t **out)
{
    uint64_t *heat = NULL;
    TD_CHECK(TD_NEW_ZEROED(&heat, graph->vertices, "in-degrees"));
    if (graph->in.offsets != NULL)
        for (uint32_t v = 0; v < graph->vertices; v++) heat[v] = td_degree(&graph->in, v);
    else
        for (uint64_t e = 0; e < graph->edges; e++) heat[graph->out.targets[e]]++;
    *out = heat;
    return TD_OK;
}

/* Vertices by descending in-degree, ties by number: a counting sort over degrees,
 * in which all above the largest counted one share a class and are sorted apart. */
enum { DEGREES_COUNTED = 1 << 16 };

typedef struct heavy {
    uint64_t degree;
    uint32_t vertex;
} heavy;

static int by_degree(const void *a, const void *b)
{
    const heavy *x = a, *y = b;
    if (x->degree != y->degree) return x->degree > y->degree ? -1 : 1;
    return (x->vertex > y->vertex) - (x->vertex < y->vertex);
}

static uint64_t class_of(uint64_t degree)
{
    return degree < DEGREES_COUNTED - 1 ? DEGREES_COUNTED - 1 - degree : 0; /* descending */
}

static td_status sort_heavy(const uint64_t *heat, uint32_t *order, uint64_t count)
{
    heavy *list = NULL;
    TD_CHECK(TD_NEW(&list, count, "heavy vertices"));
    for (uint64_t i = 0; i < count; i++) list[i] = (heavy){heat[order[i]], order[i]};
    qsort(list, count, sizeof *list, by_degree);
    for (uint64_t i = 0; i < count; i++) order[i] = list[i].vertex;
    td_free(list);
    return TD_OK;
}

static td_status order_by_degree(const td_graph *graph, uint32_t *order)
{
    td_status status = TD_OK;
    uint64_t *start = NULL, *heat = NULL;
    TD_TRY(count_heat(graph, &heat));
    TD_TRY(TD_NEW_ZEROED(&start, DEGREES_COUNTED + 1, "degrees"));
    for (uint32_t v = 0; v < graph->vertices; v++) start[class_of(heat[v]) + 1]++;
    uint64_t heaviest = start[1];
    for (uint64_t d = 0; d < DEGREES_COUNTED; d++) start[d + 1] += start[d];
    for (uint32_t v = 0; v < graph->vertices; v++) order[start[class_of(heat[v])]++] = v;
    TD_TRY(sort_heavy(heat, order, heaviest));
done:
    td_free(start);
    td_free(heat);
    return status;
}

/* CGgraph, section 3.1: breadth-first from the hottest vertex not yet visited;
 * vertices without out-edges go to a list of their own at the end. */
typedef struct walk {
    const td_graph *graph;
    uint64_t *visited;
    uint32_t *order, *sinks;
    uint64_t used, sink_count;
} walk;

static void visit(walk *self, uint32_t v)
{
    if (td_bit_get(self->visited, v)) return;
    td_bit_set(self->visited, v);
    if (td_degree(&self->graph->out, v) == 0) self->sinks[self->sink_count++] = v;
    else self->order[self->used++] = v;
}

static void visit_from(walk *self, uint32_t root)
{
    const td_adjacency *out = &self->graph->out;
    uint64_t next = self->used;
    visit(self, root);
    for (; next < self->used; next++)
        for (uint64_t e = out->offsets[self->order[next]]; e < out->offsets[self->order[next] + 1]; e++)
            visit(self, out->targets[e]);
}

static td_status order_hot(const td_graph *graph, uint32_t *order)
{
    td_status status = TD_OK;
    uint32_t *by_heat = NULL;
    walk self = {.graph = graph, .order = order};
    TD_TRY(TD_NEW(&by_heat, graph->vertices, "order of vertices"));
    TD_TRY(TD_NEW(&self.sinks, graph->vertices, "vertices without out-edges"));
    TD_TRY(TD_NEW_ZEROED(&self.visited, td_bitmap_words(graph->vertices), "visited vertices"));
    TD_TRY(order_by_degree(graph, by_heat));
    for (uint64_t i = 0; i < graph->vertices; i++) visit_from(&self, by_heat[i]);
    memcpy(order + self.used, self.sinks, self.sink_count * sizeof *self.sinks);
done:
    td_free(by_heat);
    td_free(self.sinks);
    td_free(self.visited);
    return status;
}

/* Fisher and Yates. */
static void order_at_random(const td_graph *graph, uint32_t *order, uint64_t seed)
{
    for (uint32_t v = 0; v < graph->vertices; v++) {
        uint64_t other = td_random_below(td_random_at(seed, v), (uint64_t)v + 1);
        order[v] = order[other];
        order[other] = v;
    }
}

static td_status choose_order(const td_graph *graph, td_order order, uint64_t seed, uint32_t *vertices)
{
    if (order == TD_ORDER_HOT) return order_hot(graph, vertices);
    if (order == TD_ORDER_INDEGREE) return order_by_degree(graph, vertices);
    order_at_random(graph, vertices, seed);
    return TD_OK;
}

td_status td_graph_reorder(td_graph **graph, td_order order, uint64_t seed, td_pool *pool)
{
    td_status status = TD_OK;
    uint32_t *vertices = NULL, *place = NULL, count = (*graph)->vertices;
    if (order == TD_ORDER_NONE) return TD_OK;
    TD_TRY(TD_NEW(&vertices, count, "order of vertices"));
    TD_TRY(TD_NEW(&place, count, "new numbers of vertices"));
    TD_TRY(choose_order(*graph, order, seed, vertices));
    for (uint32_t i = 0; i < count; i++) place[vertices[i]] = i;
    TD_TRY(td_graph_renumber(graph, place, pool));
done:
    if (status != TD_OK) {
        td_graph_destroy(*graph);
        *graph = NULL;
    }
    td_free(vertices);
    td_free(place);
    return status;
}
