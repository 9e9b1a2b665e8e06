#include "run/parents.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "store/checks.h"

/* The bits of a value of 4 or 8 bytes. */
static uint64_t bits_of(const td_run *run, const void *values, uint32_t v)
{
    return run->program->info->wide ? ((const uint64_t *)values)[v] : ((const uint32_t *)values)[v];
}

/* Whether the edge adds nothing to the distance of its begin. */
static bool is_free(const td_run *run, const td_adjacency *list, uint64_t value, uint64_t edge)
{
    double weight = td_weight_at(run->graph, list, edge), wide = td_bits_to_double(value);
    float single = td_bits_to_float((uint32_t)value);
    if (!run->context.real_weights) return weight == 0;
    return run->program->info->wide ? wide + weight == wide : single + (float)weight == single;
}

/* One edge of a solved vertex; true if it solves the other end. */
static bool solves(td_run *run, const td_adjacency *list, const void *values, uint32_t u, uint64_t edge)
{
    uint32_t v = list->targets[edge];
    uint64_t value = bits_of(run, values, u);
    if (run->parents[v] != TD_NO_VERTEX || bits_of(run, values, v) != value || !is_free(run, list, value, edge))
        return false;
    run->parents[v] = u;
    return true;
}

uint64_t td_run_unreached(const td_run *run)
{
    bool wide = run->program->info->wide;
    if (run->context.real_weights) return wide ? UINT64_C(0x7ff0000000000000) : UINT32_C(0x7f800000);
    return wide ? TD_UNREACHED_U64 : TD_UNREACHED;
}

uint64_t td_run_solve_parents_of(td_run *run, const td_adjacency *list, const void *values, uint32_t u)
{
    uint64_t count = 0;
    if (run->parents[u] == TD_NO_VERTEX) return 0;
    for (uint64_t e = list->offsets[u]; e < list->offsets[u + 1]; e++) count += solves(run, list, values, u, e);
    return count;
}

uint64_t td_run_parents_open(const td_run *run, const void *values)
{
    uint64_t open = 0, none = td_run_unreached(run);
    for (uint32_t v = 0; v < run->graph->vertices; v++)
        open += run->parents[v] == TD_NO_VERTEX && bits_of(run, values, v) != none;
    return open;
}

td_status td_run_solve_parents(td_run *run, const td_adjacency *list, const void *values)
{
    enum { CANCEL_EVERY = 1 << 14 };
    uint32_t *stack;
    td_status status = TD_OK;
    uint64_t solved = 0, top = 0, open = td_run_parents_open(run, values);
    if (open > 0) TD_CHECK(td_checks_lists(run->graph, true, NULL));
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
