/* Linear programs push changes instead of values. Their solution is x = b + A x, where b is program_offset and A the
 * matrix of program_answer along the edges. For PageRank with damping d, restart distribution p and adjacency P:
 * b = (1 - d) p, and A = d P, plus d p in the column of every sink when sinks spread their rank.
 *
 * A vertex has a value y and a residual r = b + A y - y. Pushing a change moves it from the residual to the value and
 * adds A times the change to the residuals of the neighbours, which preserves the equation in any order. A synchronous
 * iteration would change the values by the residuals, so the sum of their magnitudes is the change that the tolerance
 * bounds. A column of A adds up to at most d in magnitude: pushing a residual removes at least (1 - d) of it from that
 * sum, so that any order converges.
 *
 * Vertices push in the order of residual over degree, in levels of half an octave. Pushing some and not others
 * moves the sum of the values away from that of the solution, and plain pushes bring it back slowly (by 1 - d). But for
 * any t > 0, y = t b + A y has the solution t x. So t (offsets_times) is a second unknown, chosen such that the
 * residuals add up to 0, as in synchronous PageRank; the values are divided by it at the end. The residual of a vertex
 * is r(t) = r(1) + (t - 1) b, with its own b: `residuals` holds r(1), residual_of adds the rest.
 *
 * With w = 1 - program_arrives, the loss of a unit of change, the residuals add up to t sum(b) - sum(w y): the balanced
 * t is sum(w y) / sum(b), positive as long as the values are. Of the pushed changes let W+ and W- be the sums of w
 * times those above and below 0. A round takes sum|r| down by at least 2 min(W+, W-), and moves t by (W+ - W-) /
 * sum(b). The measure of change is sum|r| / t: a round with W- = 0 makes t larger and is safe, one with W+ = 0 makes t
 * smaller and may gain nothing. A lone restart vertex is such a case: its residual is below 0, and pushing that scales
 * y and t down, round by round, until they vanish in rounding. So a round that would lower t noticeably, or that
 * follows one without gain, pushes of the negative residuals only the part (residual_part) that keeps W- at W+
 * (engine/stream/changes.c, choose). */

/* The level of change / degree: a float's exponent and the first bit of its fraction. */
TD_DEVICE uint32_t level_of(double change, uint32_t degree)
{
    enum { LOWEST = 2 * 64 }; /* the level of 2^-63 and below */
    uint32_t bits = td_float_to_bits((float)fabs(change) / (float)degree) >> 22;
    uint32_t level = bits < LOWEST ? 0 : bits - LOWEST;
    return level < TD_GPU_LEVELS ? level : TD_GPU_LEVELS - 1;
}

/* The part of a residual that changes the rounded value; the rest, less than the value's last bit, stays residual. */
TD_DEVICE double change_of(program_value value, double residual)
{
    return (double)(program_value)((double)value + residual) - (double)value;
}

/* The residual of a vertex at scale t, from the stored one at scale 1. */
TD_DEVICE double residual_of(const td_changes_args *a, const td_context *c, uint32_t v, double stored)
{
    return stored + (a->offsets_times - 1) * program_offset(c, v);
}

/* Every vertex at or above the lowest level, and every vertex without edges, moves the residual, or the part of it that
 * the round pushes, to its value and becomes active. */
TD_KERNEL(take_changes, td_changes_args)
{
    const td_context c = kernel_context(&a.state);
    program_value *values = (program_value *)a.state.values;
    uint64_t activated = 0, activated_edges = 0;
    double share = 0;
    uint32_t words = (a.state.vertices + 31) / 32;
    for (uint32_t w = td_global_thread() / TD_WARP; w < words; w += td_global_threads() / TD_WARP) {
        uint32_t v = w * 32 + td_lane();
        bool active = false;
        if (v < a.state.vertices) {
            uint32_t degree = degree_in(a.state.out_offsets, v);
            program_value value = values[v];
            double stored = a.residuals[v], residual = residual_of(&a, &c, v, stored);
            int sign = residual < 0;
            bool pushes = degree == 0 || level_of(change_of(value, residual), degree) >= a.least_level[sign];
            double change = change_of(value, residual * a.residual_part[sign]);
            if (change != 0 && pushes) {
                values[v] = (program_value)((double)value + residual * a.residual_part[sign]);
                a.residuals[v] = stored - change;
                ((program_message *)a.state.messages)[v] = program_send(&c, (program_value)change, degree);
#if PROGRAM_SHARES
                share += program_share(&c, v, (program_value)change, degree);
#endif
                active = degree > 0;
            }
            if (active) activated_edges += degree;
        }
        activated += active;
        uint32_t word = TD_BALLOT(TD_ALL_LANES, active);
        if (td_lane() == 0) a.state.active[w] = word;
    }
    add_tally(&a.state, 0, activated, activated_edges);
    add_share(&a.state, share);
}

/* Adds the received sums to the residuals; after a push of whole values, computes the residuals from scratch. Tallies
 * the sums from which the host computes the balanced scale. */
TD_KERNEL(settle_changes, td_changes_args)
{
    const td_context c = kernel_context(&a.state);
    const program_value *values = (const program_value *)a.state.values;
    program_accum *sums = (program_accum *)a.sums;
    double lost = 0, offsets = 0;
    for (uint32_t v = td_global_thread(); v < a.state.vertices; v += td_global_threads()) {
        double offset = program_offset(&c, v);
        double before = a.whole_values ? offset - (double)values[v] : a.residuals[v];
        a.residuals[v] = before + program_answer(&c, v, sums[v]);
        sums[v] = program_zero(&c);
        lost += (1 - program_arrives(&c, degree_in(a.state.out_offsets, v))) * (double)values[v];
        offsets += offset;
    }
    TD_WARP_BARRIER(TD_ALL_LANES);
    block_add_double(&a.state.control->tally.lost, lost);
    block_add_double(&a.state.control->tally.offset, offsets);
}

/* Sums the pending changes in all, and their losses (w times the change) per sign and level. */
TD_KERNEL(weigh_changes, td_changes_args)
{
    const td_context c = kernel_context(&a.state);
    const program_value *values = (const program_value *)a.state.values;
    TD_SHARED(double, sums, TD_GPU_LEVEL_SUMS);
    double left = 0;
    for (uint32_t l = td_thread(); l < TD_GPU_LEVEL_SUMS; l += td_threads()) TD_POKE(&sums[l], 0.0);
    TD_BARRIER();
    for (uint32_t v = td_global_thread(); v < a.state.vertices; v += td_global_threads()) {
        double change = change_of(values[v], residual_of(&a, &c, v, a.residuals[v]));
        uint32_t degree = degree_in(a.state.out_offsets, v);
        left += fabs(change);
        if (change == 0) continue;
        uint32_t level = degree > 0 ? level_of(change, degree) : TD_GPU_LEVELS;
        TD_ADD(&sums[(change < 0) * TD_GPU_SIGN_SUMS + level], (1 - program_arrives(&c, degree)) * fabs(change));
    }
    TD_BARRIER();
    for (uint32_t l = td_thread(); l < TD_GPU_LEVEL_SUMS; l += td_threads())
        if (TD_PEEK(&sums[l]) != 0) TD_ADD(&a.levels[l], TD_PEEK(&sums[l]));
    block_add_double(&a.state.control->tally.change, left);
}

/* Writes the values after one more synchronous iteration, at scale 1, to next_values. */
TD_KERNEL(end_changes, td_changes_args)
{
    const td_context c = kernel_context(&a.state);
    const program_value *values = (const program_value *)a.state.values;
    double share = 0;
    for (uint32_t v = td_global_thread(); v < a.state.vertices; v += td_global_threads()) {
        double residual = residual_of(&a, &c, v, a.residuals[v]);
        program_value fresh = (program_value)(((double)values[v] + residual) / a.offsets_times);
        ((program_value *)a.state.next_values)[v] = fresh;
#if PROGRAM_SHARES
        share += program_share(&c, v, fresh, degree_in(a.state.out_offsets, v));
#endif
    }
    TD_WARP_BARRIER(TD_ALL_LANES);
    add_share(&a.state, share);
}
