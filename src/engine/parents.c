#include "engine/parents.h"

#include "base/alloc.h"

static bool is_free(const td_run *run, const td_adjacency *list, uint32_t value, uint64_t edge)
{
    double weight = td_weight_at(run->graph, list, edge);
    float distance = td_bits_to_float(value);
    return run->context.real_weights ? distance + (float)weight == distance : weight == 0;
}

td_status td_run_solve_parents(td_run *run, const td_adjacency *list, const uint32_t *values)
{
    uint32_t unreached = run->context.real_weights ? UINT32_C(0x7f800000) : TD_UNREACHED, *stack;
    uint64_t top = 0, open = 0;
    TD_CHECK(TD_NEW(&stack, run->graph->vertices, "search for parents"));
    for (uint32_t v = 0; v < run->graph->vertices; v++) {
        if (run->parents[v] != TD_NO_VERTEX) stack[top++] = v;
        else open += values[v] != unreached;
    }
    while (top > 0 && open > 0) {
        uint32_t u = stack[--top];
        for (uint64_t e = list->offsets[u]; e < list->offsets[u + 1]; e++) {
            uint32_t v = list->targets[e];
            if (run->parents[v] != TD_NO_VERTEX || values[v] != values[u] || !is_free(run, list, values[u], e)) continue;
            run->parents[v] = u;
            stack[top++] = v;
            open--;
        }
    }
    td_free(stack);
    return TD_OK;
}
