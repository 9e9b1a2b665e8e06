#include "programs/verify/replay.h"

#include "base/alloc.h"

#include <float.h>

typedef struct comparison {
    const td_replay *replay;
    const char *claim;
    const void *values;
    double relative;
} comparison;

td_status td_replay_create(td_replay *replay)
{
    TD_CHECK(TD_NEW_ZEROED(&replay->now, replay->graph->vertices, "replayed values"));
    return TD_NEW_ZEROED(&replay->next, replay->graph->vertices, "replayed values");
}

void td_replay_destroy(td_replay *replay)
{
    td_free(replay->now);
    td_free(replay->next);
}

void td_replay_start(td_replay *replay, const double *values)
{
    for (uint32_t v = 0; v < replay->graph->vertices; v++)
        replay->now[v] = (td_estimate){values[v], TD_UNIT_ROUNDOFF * fabs(values[v])};
}

static td_status step_some(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    td_replay *replay = context;
    for (uint64_t v = begin; v < end; v++) replay->next[v] = replay->step(replay, (uint32_t)v);
    return TD_OK;
}

td_status td_replay_step(td_replay *replay)
{
    TD_CHECK(td_over_edges(replay->graph, replay->lists, replay->pool, step_some, replay));
    td_estimate *before = replay->now;
    replay->now = replay->next;
    replay->next = before;
    return TD_OK;
}

td_status td_replay_run(td_replay *replay, uint32_t iterations)
{
    for (uint32_t i = 0; i < iterations; i++) TD_CHECK(td_replay_step(replay));
    return TD_OK;
}

static td_status compare(const comparison *self, uint32_t v, td_estimate wanted)
{
    double seen = td_replay_value(self->replay, self->values, v);
    double allowed = self->relative * fabs(wanted.value) + wanted.error + (double)FLT_MIN; /* floats underflow */
    if (fabs(seen - wanted.value) <= allowed) return TD_OK;
    return td_refute(self->replay->program, self->claim, "vertex %" PRIu64 " has %.9g, not %.9g within %.3g",
                     td_graph_id(self->replay->graph, v), seen, wanted.value, allowed);
}

static td_status compare_some(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const comparison *self = context;
    for (uint64_t v = begin; v < end; v++) TD_CHECK(compare(self, (uint32_t)v, self->replay->now[v]));
    return TD_OK;
}

static td_status step_and_compare(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const comparison *self = context;
    for (uint64_t v = begin; v < end; v++)
        TD_CHECK(compare(self, (uint32_t)v, self->replay->step(self->replay, (uint32_t)v)));
    return TD_OK;
}

td_status td_replay_compare(const td_replay *replay, const char *claim, const void *values, double relative)
{
    comparison self = {replay, claim, values, relative};
    return td_over_vertices(replay->graph, replay->pool, compare_some, &self);
}

td_status td_replay_check_fixpoint(td_replay *replay, const char *claim, const void *values, double error)
{
    comparison self = {replay, claim, values, 0};
    replay->result = values;
    replay->error = error;
    td_status status = td_over_edges(replay->graph, replay->lists, replay->pool, step_and_compare, &self);
    replay->result = NULL;
    return status;
}
