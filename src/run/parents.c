#include "run/parents.h"

#include "base/alloc.h"
#include "base/cancel.h"

static bool is_free(const td_run *run, const td_adjacency *list, uint32_t value, uint64_t edge)
{
    double weight = td_weight_at(run->graph, list, edge);
    float distance = td_bits_to_float(value);
    return run->context.real_weights ? distance + (float)weight == distance : weight == 0;
}

/* One edge of a solved vertex; true if it solves the other end. */
static bool solves(td_run *run, const td_adjacency *list, const uint32_t *values, uint32_t u, uint64_t edge)
{
    uint32_t v = list->targets[edge];
    if (run->parents[v] != TD_NO_VERTEX || values[v] != values[u] || !is_free(run, list, values[u], edge)) return false;
    run->parents[v] = u;
    return true;
}

static uint32_t unreached(const td_run *run) { return run->context.real_weights ? UINT32_C(0x7f800000) : TD_UNREACHED; }

uint64_t td_run_solve_parents_of(td_run *run, const td_adjacency *list, const uint32_t *values, uint32_t u)
{
    uint64_t count = 0;
    if (run->parents[u] == TD_NO_VERTEX) return 0;
    for (uint64_t e = list->offsets[u]; e < list->offsets[u + 1]; e++) count += solves(run, list, values, u, e);
    return count;
}

uint64_t td_run_parents_open(const td_run *run, const uint32_t *values)
{
    uint64_t open = 0;
    for (uint32_t v = 0; v < run->graph->vertices; v++)
        open += run->parents[v] == TD_NO_VERTEX && values[v] != unreached(run);
    return open;
}

td_status td_run_solve_parents(td_run *run, const td_adjacency *list, const uint32_t *values)
{
    enum { CANCEL_EVERY = 1 << 14 };
    uint32_t *stack;
    td_status status = TD_OK;
    uint64_t solved = 0, top = 0, open = td_run_parents_open(run, values);
    TD_CHECK(TD_NEW(&stack, run->graph->vertices, "search for parents"));
    for (uint32_t v = 0; v < run->graph->vertices; v++)
        if (run->parents[v] != TD_NO_VERTEX) stack[top++] = v;
    while (top > 0 && open > 0) {
        uint32_t u = stack[--top];
        if (++solved % CANCEL_EVERY == 0 && (status = td_cancel_check()) != TD_OK) break;
        for (uint64_t e = list->offsets[u]; e < list->offsets[u + 1]; e++) {
            if (!solves(run, list, values, u, e)) continue;
            stack[top++] = list->targets[e];
            open--;
        }
    }
    td_free(stack);
    return status;
}
