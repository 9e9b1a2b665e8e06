/* The claims of PageRank:
 *
 *   1. ranks are numbers, not negative;
 *   2. after a fixed number of iterations: they are those of a replay in doubles;
 *   3. after a run to a tolerance: one exact step changes them by no more than the
 *      tolerance, in the L1 norm;
 *   4. if the mass of the sinks is spread, their sum is 1.
 *
 * On 3: a step contracts distances in the L1 norm by the damping, so if the last
 * iteration changed the ranks by at most the tolerance, the next one would
 * change them by less, synchronous or not; float rounding adds to that. On 4: a
 * step brings the sum nearer to 1 by (1 - damping) of its distance, so 3 bounds
 * that distance. On 2: all terms are positive, so relative errors do not grow.
 */
#include "programs/verify/verify.h"

#include "base/alloc.h"
#include "programs/verify/replay.h"

#define WIDE_TOLERANCE 1e-12 /* relative, of ranks in doubles, beside the bound on rounding */

typedef struct model {
    const td_graph *graph;
    const td_pagerank_claim *claim;
    const void *ranks;
    bool wide;            /* doubles, not floats */
    td_estimate *shares;  /* replay: the message of each vertex; NULL: computed from the ranks */
    td_estimate dangling; /* mass of the sinks */
    double sinks;
} model;

static double personal(const model *self, uint32_t v)
{
    return self->claim->personal != NULL ? self->claim->personal[v] : 1.0 / self->graph->vertices;
}

static double rank_of(const model *self, uint32_t v)
{
    return self->wide ? ((const double *)self->ranks)[v] : (double)((const float *)self->ranks)[v];
}

/* The bound on rounding of a sum (replay.h), for values of either width. */
static double rounding(const model *self, uint64_t terms)
{
    return td_float_rounding(terms) * (self->wide ? 0x1p-53 / TD_UNIT_ROUNDOFF : 1);
}

static td_estimate share(const model *self, uint32_t u)
{
    if (self->shares != NULL) return self->shares[u];
    return (td_estimate){rank_of(self, u) / (double)td_degree(&self->graph->out, u), 0};
}

static td_estimate step_from(const model *self, uint32_t v)
{
    const td_adjacency *in = &self->graph->in;
    double damping = self->claim->damping, p = personal(self, v);
    td_estimate sum = {p * self->dangling.value, p * self->dangling.error};
    for (uint64_t e = in->offsets[v]; e < in->offsets[v + 1]; e++) {
        td_estimate given = share(self, in->targets[e]);
        sum.value += given.value;
        sum.error += given.error;
    }
    double rank = (1 - damping) * p + damping * sum.value;
    return (td_estimate){rank, damping * sum.error + rounding(self, td_degree(in, v)) * fabs(rank)};
}

static double sink_term(const void *context, uint32_t v)
{
    const td_graph *graph = context;
    return td_degree(&graph->out, v) == 0;
}

/* Replaying: a step reads shares only, so that it can overwrite the ranks. */

static td_estimate step(const td_replay *replay, uint32_t v) { return step_from(replay->model, v); }

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

static void add_rounding(model *self)
{
    self->dangling.error += rounding(self, (uint64_t)self->sinks) * self->dangling.value;
}

static td_status iterate(td_replay *replay, model *self)
{
    const td_graph *graph = replay->graph;
    TD_CHECK(td_over_vertices(graph, replay->pool, share_out, replay));
    if (self->claim->spread_dangling) {
        TD_CHECK(td_sum_vertices(graph, replay->pool, dangling_value, replay, &self->dangling.value));
        TD_CHECK(td_sum_vertices(graph, replay->pool, dangling_error, replay, &self->dangling.error));
        add_rounding(self);
    }
    return td_replay_step(replay);
}

static td_status replay_all(td_replay *replay, model *self)
{
    const td_graph *graph = self->graph;
    TD_CHECK(TD_NEW(&self->shares, graph->vertices, "shares of ranks"));
    TD_CHECK(TD_NEW(&replay->now, graph->vertices, "replayed ranks"));
    replay->next = replay->now;
    for (uint32_t v = 0; v < graph->vertices; v++)
        replay->now[v] = (td_estimate){personal(self, v), rounding(self, 0) * personal(self, v)};
    for (uint32_t i = 0; i < self->claim->iterations; i++) TD_CHECK(iterate(replay, self));
    return td_replay_compare(replay, "ranks are those of the iterations replayed", self->ranks,
                             self->wide ? WIDE_TOLERANCE : TD_RESULT_TOLERANCE);
}

static td_status check_iterations(model *self, td_pool *pool)
{
    td_replay replay = {.program = "pagerank", .graph = self->graph, .pool = pool, .model = self, .lists = TD_LIST_IN,
                        .step = step, .wide = self->wide};
    td_status status = replay_all(&replay, self);
    td_free(replay.now);
    td_free(self->shares);
    return status;
}

/* One step from the ranks themselves, summed per word of 64 vertices, so that the sums do not depend on the threads. */
typedef struct stepped {
    double sum, moved, rounding;
    double farthest; /* the largest change among these vertices, and its vertex */
    uint32_t vertex;
} stepped;

typedef struct fixpoint {
    const model *model;
    stepped *words;
} fixpoint;

static td_status step_words(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const fixpoint *self = context;
    for (uint64_t v = begin; v < end; v++) {
        stepped *word = &self->words[v / 64];
        td_estimate next = step_from(self->model, (uint32_t)v);
        double mine = rank_of(self->model, (uint32_t)v), moved = fabs(next.value - mine);
        word->sum += mine;
        word->moved += moved;
        word->rounding += next.error;
        if (moved < word->farthest) continue;
        word->farthest = moved;
        word->vertex = (uint32_t)v;
    }
    return TD_OK;
}

static double dangling_rank(const void *context, uint32_t v)
{
    const model *self = context;
    return td_degree(&self->graph->out, v) == 0 ? rank_of(self, v) : 0;
}

static td_status step_once(model *self, stepped *words, td_pool *pool, stepped *all)
{
    fixpoint state = {self, words};
    if (self->claim->spread_dangling)
        TD_CHECK(td_sum_vertices(self->graph, pool, dangling_rank, self, &self->dangling.value));
    add_rounding(self);
    TD_CHECK(td_over_edges(self->graph, TD_LIST_IN, pool, step_words, &state));
    for (uint64_t w = 0; w < td_bitmap_words(self->graph->vertices); w++) {
        all->sum += words[w].sum;
        all->moved += words[w].moved;
        all->rounding += words[w].rounding;
        if (words[w].farthest < all->farthest) continue;
        all->farthest = words[w].farthest;
        all->vertex = words[w].vertex;
    }
    return TD_OK;
}

static td_status check_fixpoint(model *self, td_pool *pool)
{
    double damping = self->claim->damping;
    stepped *words = NULL, all = {0};
    TD_CHECK(TD_NEW_ZEROED(&words, td_bitmap_words(self->graph->vertices), "sums of ranks"));
    td_status status = step_once(self, words, pool, &all);
    td_free(words);
    TD_CHECK(status);
    double allowed = self->claim->tolerance + all.rounding;
    if (self->claim->spread_dangling && fabs(all.sum - 1) * (1 - damping) > allowed)
        return td_refute("pagerank", "the sum of all ranks is 1", "it is %.9g, more than %.3g away", all.sum,
                         allowed / (1 - damping));
    if (all.moved <= allowed) return TD_OK;
    return td_refute("pagerank", "one more step stays within the tolerance",
                     "it moves the ranks by %.3g, %.3g are allowed; most of all vertex %" PRIu64 ", from %.9g by %.9g",
                     all.moved, allowed, td_graph_id(self->graph, all.vertex), rank_of(self, all.vertex),
                     all.farthest);
}

static td_status check_ranks(const model *self)
{
    for (uint32_t v = 0; v < self->graph->vertices; v++)
        if (!(rank_of(self, v) >= 0 && rank_of(self, v) < INFINITY))
            return td_refute("pagerank", "ranks are numbers, not negative", "vertex %" PRIu64 " has rank %g",
                             td_graph_id(self->graph, v), rank_of(self, v));
    return TD_OK;
}

static td_status verify(model *self, td_pool *pool)
{
    const td_graph *graph = self->graph;
    if (graph->vertices == 0) return TD_OK;
    TD_CHECK(td_in_lists_check(graph));
    TD_CHECK(check_ranks(self));
    TD_CHECK(td_sum_vertices(graph, pool, sink_term, graph, &self->sinks));
    return self->claim->iterations > 0 ? check_iterations(self, pool) : check_fixpoint(self, pool);
}

td_status td_verify_pagerank(const td_graph *graph, const float *ranks, const td_pagerank_claim *claim, td_pool *pool)
{
    model self = {.graph = graph, .claim = claim, .ranks = ranks};
    return verify(&self, pool);
}

td_status td_verify_pagerank_f64(const td_graph *graph, const double *ranks, const td_pagerank_claim *claim,
                                 td_pool *pool)
{
    model self = {.graph = graph, .claim = claim, .ranks = ranks, .wide = true};
    return verify(&self, pool);
}
