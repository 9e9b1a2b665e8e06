/* The claims of PageRank:
 *
 *   1. ranks are numbers, not negative;
 *   2. after a fixed number of iterations: they are those of a replay in doubles;
 *   3. of a run to a tolerance: one exact step moves them by no more than the
 *      tolerance, in the L1 norm;
 *   4. and where the mass of the sinks is spread, their sum is 1.
 *
 * On 3: a step contracts distances in the L1 norm by the damping, so if the last
 * iteration changed the ranks by at most the tolerance, the next one would
 * change them by less, synchronous or not; float rounding comes on top. On 4: a
 * step brings the sum nearer to 1 by (1 - damping) of its distance, so 3 bounds
 * that distance. On 2: all terms are positive, so relative errors do not grow.
 */
#include "programs/verify/verify.h"

#include "base/alloc.h"
#include "programs/verify/replay.h"

typedef struct model {
    const td_graph *graph;
    const td_pagerank_claim *claim;
    td_estimate *shares; /* what a vertex gives to each of its out-edges */
    td_estimate dangling; /* mass of the sinks */
    double sinks;
} model;

static double personal(const model *self, uint32_t v)
{
    return self->claim->personal != NULL ? self->claim->personal[v] : 1.0 / self->graph->vertices;
}

static td_estimate step(const td_replay *replay, uint32_t v)
{
    const model *self = replay->model;
    const td_adjacency *in = &replay->graph->in;
    double damping = self->claim->damping, p = personal(self, v);
    td_estimate sum = {p * self->dangling.value, p * self->dangling.error};
    for (uint64_t e = in->offsets[v]; e < in->offsets[v + 1]; e++) {
        sum.value += self->shares[in->targets[e]].value;
        sum.error += self->shares[in->targets[e]].error;
    }
    double rank = (1 - damping) * p + damping * sum.value;
    return (td_estimate){rank, damping * sum.error + td_float_rounding(td_degree(in, v)) * fabs(rank)};
}

static td_status share_out(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const td_replay *replay = context;
    const model *self = replay->model;
    for (uint64_t v = begin; v < end; v++) {
        double degree = (double)td_degree(&replay->graph->out, (uint32_t)v);
        self->shares[v] = degree == 0 ? (td_estimate){0}
                                      : (td_estimate){replay->now[v].value / degree, replay->now[v].error / degree};
    }
    return TD_OK;
}

static double sink_term(const void *context, uint32_t v)
{
    const td_graph *graph = context;
    return td_degree(&graph->out, v) == 0;
}

static double dangling_value(const void *context, uint32_t v)
{
    const td_replay *replay = context;
    return td_degree(&replay->graph->out, v) == 0 ? replay->now[v].value : 0;
}

static double dangling_error(const void *context, uint32_t v)
{
    const td_replay *replay = context;
    return td_degree(&replay->graph->out, v) == 0 ? replay->now[v].error : 0;
}

static td_status iterate(td_replay *replay, model *self)
{
    const td_graph *graph = replay->graph;
    TD_CHECK(td_over_vertices(graph, replay->pool, share_out, replay));
    if (self->claim->spread_dangling) {
        TD_CHECK(td_sum_vertices(graph, replay->pool, dangling_value, replay, &self->dangling.value));
        TD_CHECK(td_sum_vertices(graph, replay->pool, dangling_error, replay, &self->dangling.error));
        self->dangling.error += td_float_rounding((uint64_t)self->sinks) * self->dangling.value;
    }
    return td_replay_step(replay);
}

static td_status check_ranks(const td_graph *graph, const float *ranks)
{
    for (uint32_t v = 0; v < graph->vertices; v++)
        if (!(ranks[v] >= 0 && ranks[v] < INFINITY))
            return td_refute("pagerank", "ranks are numbers, not negative", "vertex %" PRIu64 " has rank %g",
                             td_graph_id(graph, v), (double)ranks[v]);
    return TD_OK;
}

static td_status check_iterations(td_replay *replay, model *self, const float *ranks)
{
    for (uint32_t v = 0; v < replay->graph->vertices; v++)
        replay->now[v] = (td_estimate){personal(self, v), TD_UNIT_ROUNDOFF * personal(self, v)};
    for (uint32_t i = 0; i < self->claim->iterations; i++) TD_CHECK(iterate(replay, self));
    return td_replay_compare(replay, "ranks are those of the iterations replayed", ranks, TD_RESULT_TOLERANCE);
}

/* After a step from the ranks themselves. */
static double moved(const td_replay *replay, uint32_t v) { return fabs(replay->now[v].value - replay->next[v].value); }

static double moved_term(const void *context, uint32_t v) { return moved(context, v); }

static double rounding_term(const void *context, uint32_t v)
{
    const td_replay *replay = context;
    return replay->now[v].error;
}

static double rank_term(const void *context, uint32_t v)
{
    const td_replay *replay = context;
    return replay->next[v].value;
}

static uint32_t farthest_moved(const td_replay *replay)
{
    uint32_t farthest = 0;
    for (uint32_t v = 1; v < replay->graph->vertices; v++)
        if (moved(replay, v) > moved(replay, farthest)) farthest = v;
    return farthest;
}

static td_status check_fixpoint(td_replay *replay, model *self, const float *ranks)
{
    double distance, rounding, sum, damping = self->claim->damping;
    td_replay_start_at_result(replay, ranks, 0);
    TD_CHECK(iterate(replay, self));
    TD_CHECK(td_sum_vertices(replay->graph, replay->pool, rank_term, replay, &sum));
    TD_CHECK(td_sum_vertices(replay->graph, replay->pool, moved_term, replay, &distance));
    TD_CHECK(td_sum_vertices(replay->graph, replay->pool, rounding_term, replay, &rounding));
    double allowed = self->claim->tolerance + rounding;
    if (self->claim->spread_dangling && fabs(sum - 1) * (1 - damping) > allowed)
        return td_refute("pagerank", "the sum of all ranks is 1", "it is %.9g, more than %.3g away", sum,
                         allowed / (1 - damping));
    if (distance <= allowed) return TD_OK;
    uint32_t v = farthest_moved(replay);
    return td_refute("pagerank", "one more step stays within the tolerance",
                     "it moves the ranks by %.3g, %.3g are allowed; most of all vertex %" PRIu64 ", from %.9g to %.9g",
                     distance, allowed, td_graph_id(replay->graph, v), replay->next[v].value, replay->now[v].value);
}

td_status td_verify_pagerank(const td_graph *graph, const float *ranks, const td_pagerank_claim *claim, td_pool *pool)
{
    td_status status = TD_OK;
    model self = {.graph = graph, .claim = claim};
    td_replay replay = {.program = "pagerank", .graph = graph, .pool = pool, .model = &self, .step = step};
    if (graph->vertices == 0) return TD_OK;
    TD_CHECK(td_in_lists_check(graph));
    TD_CHECK(check_ranks(graph, ranks));
    TD_TRY(TD_NEW(&self.shares, graph->vertices, "shares of ranks"));
    TD_TRY(td_replay_create(&replay));
    TD_TRY(td_sum_vertices(graph, pool, sink_term, graph, &self.sinks));
    TD_TRY(claim->iterations > 0 ? check_iterations(&replay, &self, ranks) : check_fixpoint(&replay, &self, ranks));
done:
    td_free(self.shares);
    td_replay_destroy(&replay);
    return status;
}
