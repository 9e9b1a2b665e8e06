/* Changes told instead of values, for linear programs: x = b + A x, where b is program_offset and A what neighbours
 * answer to what they hear.
 *
 * A vertex has a value and a residual, what its value lacks: r = b + A x - x. Telling a change d moves it from the
 * residual to the value and adds A d to the residuals of the neighbours, which keeps that equation whoever tells, and
 * when. The residuals are what a synchronous iteration would change, so their sum is the change that the tolerance is
 * about.
 *
 * Who tells is chosen by what an edge brings: residual over degree, in levels of half an octave. Telling some and not
 * others breaks the balance of the whole, which comes back slowly (by the damping only, an iteration); but it has a
 * closed form. For any number t, y = t b + A y has the solution t x, so instead of values it is t (offsets_times) that
 * is fitted, such that the residuals add up to 0, as they do in synchronous PageRank; the values are divided by t at
 * the end. */

#include "kernels/gpu/batch.h"

/* The edges of a batch, by all lanes of a warp. */
TD_DEVICE void push_edges(const td_push_args *a, const td_context *c, push_round *r, const push_batch *batch)
{
    (void)r;
    program_accum *sums = (program_accum *)a->sums;
    uint32_t told[PUSH_BATCH];
    TD_UNROLL
    for (int k = 0; k < PUSH_BATCH; k++) told[k] = batch->is[k] ? TD_READ_ONCE(&a->list.targets[batch->edge[k]]) : 0;
    TD_UNROLL
    for (int k = 0; k < PUSH_BATCH; k++) {
        if (!batch->is[k]) continue;
        program_accum brought = contribution(&a->state, c, batch->message[k], a->list.weights, batch->edge[k]);
        TD_ADD(&sums[told[k]], brought);
    }
}

#include "kernels/gpu/expand.h"

/* The level of what an edge brings: a float's exponent and the first bit of its fraction. */
TD_DEVICE uint32_t level_of(double change, uint32_t degree)
{
    enum { LOWEST = 2 * 64 }; /* the level of 2^-63; what is smaller has it too */
    uint32_t bits = td_float_to_bits((float)fabs(change) / (float)degree) >> 22;
    uint32_t level = bits < LOWEST ? 0 : bits - LOWEST;
    return level < TD_GPU_LEVELS ? level : TD_GPU_LEVELS - 1;
}

/* What a residual can change of the value; the rest, less than the value's last bit, stays where it is. */
TD_DEVICE double change_of(program_value value, double residual)
{
    return (double)(program_value)((double)value + residual) - (double)value;
}

/* Everyone of the least level or above moves its residual to its value and is active; those without edges all do. */
TD_KERNEL(take_changes, td_changes_args)
{
    const td_context c = kernel_context(&a.state);
    program_value *values = (program_value *)a.state.values;
    uint64_t activated = 0, activated_edges = 0;
    double share = 0;
    uint32_t words = (a.state.vertices + 31) / 32;
    for (uint32_t w = td_global_thread() / TD_WARP; w < words; w += td_global_threads() / TD_WARP) {
        uint32_t v = w * 32 + td_lane();
        bool tells = false;
        if (v < a.state.vertices) {
            uint32_t degree = degree_in(a.state.out_offsets, v);
            program_value value = values[v];
            double residual = a.residuals[v], change = change_of(value, residual);
            if (change != 0 && (degree == 0 || level_of(change, degree) >= a.least_level)) {
                values[v] = (program_value)((double)value + residual);
                a.residuals[v] = residual - change;
                ((program_message *)a.state.messages)[v] = program_send(&c, (program_value)change, degree);
#if PROGRAM_SHARES
                share += program_share(&c, v, (program_value)change, degree);
#endif
                tells = degree > 0;
            }
            if (tells) activated_edges += degree;
        }
        activated += tells;
        uint32_t word = TD_BALLOT(TD_ALL_LANES, tells);
        if (td_lane() == 0) a.state.active[w] = word;
    }
    add_tally(&a.state, 0, activated, activated_edges);
    add_share(&a.state, share);
}

/* What was heard becomes residuals; after whole values were told, these are made anew. */
TD_KERNEL(settle_changes, td_changes_args)
{
    const td_context c = kernel_context(&a.state);
    const program_value *values = (const program_value *)a.state.values;
    program_accum *sums = (program_accum *)a.sums;
    double residuals = 0, offsets = 0;
    for (uint32_t v = td_global_thread(); v < a.state.vertices; v += td_global_threads()) {
        double offset = program_offset(&c, v);
        double before = a.whole_values ? a.offsets_times * offset - (double)values[v] : a.residuals[v];
        double residual = before + program_answer(&c, v, sums[v]);
        a.residuals[v] = residual;
        sums[v] = program_zero(&c);
        residuals += residual;
        offsets += offset;
    }
    TD_WARP_BARRIER(TD_ALL_LANES);
    block_add_double(&a.state.control->tally.residual, residuals);
    block_add_double(&a.state.control->tally.offset, offsets);
}

/* The balance is restored; then how much there is to be told, in all and on each level. */
TD_KERNEL(weigh_changes, td_changes_args)
{
    const td_context c = kernel_context(&a.state);
    const program_value *values = (const program_value *)a.state.values;
    TD_SHARED(double, sums, TD_GPU_LEVELS);
    double left = 0;
    for (uint32_t l = td_thread(); l < TD_GPU_LEVELS; l += td_threads()) TD_POKE(&sums[l], 0.0);
    TD_BARRIER();
    for (uint32_t v = td_global_thread(); v < a.state.vertices; v += td_global_threads()) {
        double residual = a.residuals[v] + a.offsets_more * program_offset(&c, v);
        double change = change_of(values[v], residual);
        uint32_t degree = degree_in(a.state.out_offsets, v);
        a.residuals[v] = residual;
        left += fabs(change);
        if (degree > 0 && change != 0) TD_ADD(&sums[level_of(change, degree)], fabs(change));
    }
    TD_BARRIER();
    for (uint32_t l = td_thread(); l < TD_GPU_LEVELS; l += td_threads())
        if (TD_PEEK(&sums[l]) != 0) TD_ADD(&a.levels[l], TD_PEEK(&sums[l]));
    block_add_double(&a.state.control->tally.change, left);
}

/* The values that a synchronous iteration would end with, to be given out or to go on from: into next_values. */
TD_KERNEL(end_changes, td_changes_args)
{
    const td_context c = kernel_context(&a.state);
    const program_value *values = (const program_value *)a.state.values;
    double share = 0;
    for (uint32_t v = td_global_thread(); v < a.state.vertices; v += td_global_threads()) {
        program_value fresh = (program_value)(((double)values[v] + a.residuals[v]) / a.offsets_times);
        ((program_value *)a.state.next_values)[v] = fresh;
#if PROGRAM_SHARES
        share += program_share(&c, v, fresh, degree_in(a.state.out_offsets, v));
#endif
    }
    TD_WARP_BARRIER(TD_ALL_LANES);
    add_share(&a.state, share);
}
