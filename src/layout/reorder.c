#include "layout/reorder.h"

#include "base/alloc.h"
#include "layout/orders.h"
#include "store/builder.h"

#include <math.h>
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
    return td_fail(TD_USAGE, "unknown order '%s'; allowed are none, hot, indegree, random, rcm, gorder and bisect", name);
}

static td_status sort_vertices(const td_graph *graph, td_order order, uint32_t *vertices, td_pool *pool)
{
    td_sorter sorter = {0};
    td_status status = td_sorter_create(&sorter, graph, pool);
    if (status == TD_OK && order == TD_ORDER_HOT) status = td_order_hot(graph, &sorter, vertices);
    if (status == TD_OK && order == TD_ORDER_INDEGREE) status = td_order_by_heat(graph, &sorter, vertices);
    if (status == TD_OK && order == TD_ORDER_RCM) status = td_order_rcm(graph, &sorter, vertices);
    if (status == TD_OK && order == TD_ORDER_GORDER) status = td_order_gorder(graph, &sorter, vertices);
    td_sorter_destroy(&sorter);
    return status;
}

td_status td_graph_order(const td_graph *graph, td_order order, uint64_t seed, uint32_t *vertices, td_pool *pool)
{
    if (order == TD_ORDER_RANDOM) return td_order_at_random(graph, seed, vertices, pool);
    if (order == TD_ORDER_BISECT) return td_order_bisect(graph, vertices);
    return sort_vertices(graph, order, vertices, pool);
}

typedef struct turning {
    const uint32_t *vertices;
    uint32_t *place;
} turning;

static td_status turn_round(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const turning *self = context;
    for (uint64_t i = begin; i < end; i++) self->place[self->vertices[i]] = (uint32_t)i;
    return TD_OK;
}

td_status td_graph_reorder(td_graph **graph, td_order order, uint64_t seed, td_pool *pool)
{
    td_status status = TD_OK;
    uint32_t *vertices = NULL, *place = NULL, count = (*graph)->vertices;
    if (order == TD_ORDER_NONE) return TD_OK;
    TD_TRY(TD_NEW(&vertices, count, "order of vertices"));
    TD_TRY(TD_NEW(&place, count, "new numbers of vertices"));
    TD_TRY(td_graph_order(*graph, order, seed, vertices, pool));
    TD_TRY(td_pool_for(pool, count, 1 << 15, turn_round, &(turning){vertices, place}));
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

double td_share_near(const td_graph *graph)
{
    enum { DRAWN = 4096, PART = 64 };
    const td_adjacency *list = &graph->out;
    uint64_t near = 0, n = graph->vertices;
    if (graph->edges == 0) return 0;
    for (uint64_t i = 0; i < DRAWN; i++) {
        uint64_t edge = (uint64_t)((double)graph->edges * ((double)i / DRAWN)), low = 0, high = n;
        while (low + 1 < high) { /* finds the vertex whose list has the edge */
            uint64_t middle = low + (high - low) / 2;
            if (list->offsets[middle] <= edge) low = middle;
            else high = middle;
        }
        uint64_t target = list->targets[edge], apart = target > low ? target - low : low - target;
        near += apart * PART < n;
    }
    return (double)near / DRAWN;
}

double td_gap_bits(const td_graph *graph)
{
    const td_adjacency *list = &graph->out;
    double sum = 0;
    for (uint64_t v = 0; v < graph->vertices; v++)
        for (uint64_t e = list->offsets[v]; e < list->offsets[v + 1]; e++) {
            uint64_t target = list->targets[e], apart = target > v ? target - v : v - target;
            sum += log2((double)(1 + apart));
        }
    return graph->edges > 0 ? sum / (double)graph->edges : 0;
}
