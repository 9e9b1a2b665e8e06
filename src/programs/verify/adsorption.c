/* The claims of adsorption (Baluja et al., 2008, one label):
 *
 *   1. after a fixed number of iterations: the scores are those of a replay in
 *      doubles;
 *   2. after a run to a tolerance: one exact step changes no score by more than
 *      the tolerance. A step averages, so it passes on at most the continuation's
 *      share of the largest change.
 */
#include "programs/verify/verify.h"

#include "programs/verify/replay.h"

static td_estimate step(const td_replay *replay, uint32_t v)
{
    const td_adsorption_claim *claim = replay->model;
    const td_adjacency *in = &replay->graph->in;
    double sum = 0, size = 0, error = 0, weights = 0;
    for (uint64_t e = in->offsets[v]; e < in->offsets[v + 1]; e++) {
        double weight = td_edge_weight(replay->graph, in, e);
        td_estimate score = td_replay_at(replay, in->targets[e]);
        weights += weight;
        sum += weight * score.value;
        size += fabs(weight * score.value);
        error += fabs(weight) * score.error;
    }
    double scale = weights != 0 ? claim->continuation / weights : 0;
    double injected = claim->injection * claim->seeds[v];
    double rounding = td_float_rounding(td_degree(in, v)) * (fabs(injected) + fabs(scale) * size);
    return (td_estimate){injected + scale * sum, fabs(scale) * error + rounding};
}

static td_status check_probabilities(const td_adsorption_claim *claim)
{
    bool fine = claim->injection >= 0 && claim->continuation >= 0 && claim->injection + claim->continuation <= 1 + 1e-9;
    if (fine) return TD_OK;
    return td_fail(TD_INVALID, "cannot verify adsorption: injection %g and continuation %g are no shares of 1",
                   claim->injection, claim->continuation);
}

static td_status verify(td_replay *replay, const float *scores, const td_adsorption_claim *claim)
{
    if (claim->iterations > 0) {
        TD_CHECK(td_replay_create(replay));
        td_replay_start(replay, claim->seeds);
        TD_CHECK(td_replay_run(replay, claim->iterations));
        return td_replay_compare(replay, "scores are those of the iterations replayed", scores, TD_RESULT_TOLERANCE);
    }
    return td_replay_check_fixpoint(replay, "one more step stays within the tolerance", scores, claim->tolerance);
}

td_status td_verify_adsorption(const td_graph *graph, const float *scores, const td_adsorption_claim *claim,
                               td_pool *pool)
{
    td_replay replay = {.program = "adsorption", .graph = graph, .pool = pool, .model = claim, .step = step,
                        .lists = TD_LIST_IN | TD_WITH_WEIGHTS};
    TD_CHECK(check_probabilities(claim));
    TD_CHECK(td_in_lists_check(graph));
    td_status status = verify(&replay, scores, claim);
    td_replay_destroy(&replay);
    return status;
}
