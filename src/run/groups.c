#include "run/groups.h"

#include "base/alloc.h"

enum { VERTICES_AT_A_TIME = 1 << 14 };

typedef struct naming {
    const td_run *run;
    uint32_t *values;
    uint32_t *names; /* new name of every label */
} naming;

/* A label is a vertex of its group, so that it names the group until a vertex that comes before it is found. */
static td_status take_labels(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const naming *self = context;
    for (uint64_t v = begin; v < end; v++) self->names[v] = (uint32_t)v;
    return TD_OK;
}

/* Vertices alone in their groups, and nearly all of a large one, only read. */
static td_status find_first(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const naming *self = context;
    const td_graph *graph = self->run->graph;
    for (uint64_t v = begin; v < end; v++) {
        uint32_t *name = &self->names[self->values[v]], first = TD_LOAD(name);
        while (td_graph_id(graph, (uint32_t)v) < td_graph_id(graph, first)) {
            if (TD_SWAP_IF(name, first, (uint32_t)v)) break;
            first = TD_LOAD(name);
        }
    }
    return TD_OK;
}

static td_status turn_ranks(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const naming *self = context;
    for (uint64_t v = begin; v < end; v++) self->names[(uint32_t)self->run->inputs[0][v]] = (uint32_t)v;
    return TD_OK;
}

static td_status give_names(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const naming *self = context;
    for (uint64_t v = begin; v < end; v++) self->values[v] = self->names[self->values[v]];
    return TD_OK;
}

uint64_t td_run_names_bytes(const td_run *run)
{
    const td_program_info *info = run->program->info;
    bool names = run->inputs[0] != NULL || info->any_member || td_graph_reordered(run->graph);
    return info->vertex_values && names ? run->graph->vertices * sizeof(uint32_t) : 0;
}

td_status td_run_name_groups(td_run *run, td_pool *pool)
{
    td_status status = TD_OK;
    uint64_t vertices = run->graph->vertices;
    bool ranks = run->inputs[0] != NULL; /* program labels: values are ranks */
    if (td_run_names_bytes(run) == 0) return TD_OK;
    naming self = {.run = run, .values = run->values};
    TD_CHECK(TD_NEW(&self.names, vertices, "names of groups"));
    if (!ranks) TD_TRY(td_pool_for(pool, vertices, VERTICES_AT_A_TIME, take_labels, &self));
    TD_TRY(td_pool_for(pool, vertices, VERTICES_AT_A_TIME, ranks ? turn_ranks : find_first, &self));
    TD_TRY(td_pool_for(pool, vertices, VERTICES_AT_A_TIME, give_names, &self));
done:
    td_free(self.names);
    return status;
}
