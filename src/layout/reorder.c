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

static uint64_t class_of(const td_graph *graph, uint32_t v)
{
    uint64_t degree = td_degree(&graph->in, v);
    return degree < DEGREES_COUNTED - 1 ? DEGREES_COUNTED - 1 - degree : 0; /* descending */
}

static td_status sort_heavy(const td_graph *graph, uint32_t *order, uint64_t count)
{
    heavy *list = NULL;
    TD_CHECK(TD_NEW(&list, count, "heavy vertices"));
    for (uint64_t i = 0; i < count; i++) list[i] = (heavy){td_degree(&graph->in, order[i]), order[i]};
    qsort(list, count, sizeof *list, by_degree);
    for (uint64_t i = 0; i < count; i++) order[i] = list[i].vertex;
    td_free(list);
    return TD_OK;
}

static td_status order_by_degree(const td_graph *graph, uint32_t *order)
{
    td_status status = TD_OK;
    uint64_t *start = NULL;
    TD_CHECK(TD_NEW_ZEROED(&start, DEGREES_COUNTED + 1, "degrees"));
    for (uint32_t v = 0; v < graph->vertices; v++) start[class_of(graph, v) + 1]++;
    uint64_t heaviest = start[1];
    for (uint64_t d = 0; d < DEGREES_COUNTED; d++) start[d + 1] += start[d];
    for (uint32_t v = 0; v < graph->vertices; v++) order[start[class_of(graph, v)]++] = v;
    TD_TRY(sort_heavy(graph, order, heaviest));
done:
    td_free(start);
    return status;
}

/* CGgraph, section 3.1: breadth-first from the hottest vertex not yet visited;
 * vertices without out-edges go to a list of their own at the end. */
static td_status order_hot(const td_graph *graph, uint32_t *order)
{
    td_status status = TD_OK;
    uint32_t *by_heat = NULL, *sinks = NULL;
    uint64_t *visited = NULL, used = 0, sink_count = 0;
    TD_CHECK(TD_NEW(&by_heat, graph->vertices, "order of vertices"));
    TD_TRY(TD_NEW(&sinks, graph->vertices, "vertices without out-edges"));
    TD_TRY(TD_NEW_ZEROED(&visited, td_bitmap_words(graph->vertices), "visited vertices"));
    TD_TRY(order_by_degree(graph, by_heat));
    for (uint64_t i = 0, next = 0; i < graph->vertices; i++) {
        uint32_t root = by_heat[i];
        if (td_bit_get(visited, root)) continue;
        td_bit_set(visited, root);
        if (td_degree(&graph->out, root) == 0) {
            sinks[sink_count++] = root;
            continue;
        }
        order[used++] = root;
        for (; next < used; next++) {
            uint32_t v = order[next];
            for (uint64_t e = graph->out.offsets[v]; e < graph->out.offsets[v + 1]; e++) {
                uint32_t u = graph->out.targets[e];
                if (td_bit_get(visited, u)) continue;
                td_bit_set(visited, u);
                if (td_degree(&graph->out, u) == 0) sinks[sink_count++] = u;
                else order[used++] = u;
            }
        }
    }
    memcpy(order + used, sinks, sink_count * sizeof *sinks);
done:
    td_free(by_heat);
    td_free(sinks);
    td_free(visited);
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

td_status td_graph_reorder(td_graph **graph, td_order order, uint64_t seed, td_pool *pool)
{
    td_status status = TD_OK;
    uint32_t *vertices = NULL, *place = NULL, count = (*graph)->vertices;
    if (order == TD_ORDER_NONE) return TD_OK;
    TD_TRY(TD_NEW(&vertices, count, "order of vertices"));
    TD_TRY(TD_NEW(&place, count, "new numbers of vertices"));
    if (order == TD_ORDER_HOT) TD_TRY(order_hot(*graph, vertices));
    else if (order == TD_ORDER_INDEGREE) TD_TRY(order_by_degree(*graph, vertices));
    else order_at_random(*graph, vertices, seed);
    for (uint32_t i = 0; i < count; i++) place[vertices[i]] = i;
    status = td_graph_renumber(graph, place, pool);
    td_free(vertices);
    td_free(place);
    return status;
done:
    td_free(vertices);
    td_free(place);
    td_graph_destroy(*graph);
    *graph = NULL;
    return status;
}
