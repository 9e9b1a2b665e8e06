/* Push: the vertices of the frontier push along their lists, and the targets that change form the next one. `levels`
 * runs round after round in one launch, with a barrier of the whole grid between them, until the frontier is empty or
 * the host must decide: it has become too large or too small for the shape of the launch. */

#include "kernels/gpu/batch.h"

#if PROGRAM_HAS_PRIORITY
TD_DEVICE uint32_t priority_of(double one_over_delta, const td_context *c, program_value value)
{
    uint64_t priority = program_priority(c, value, one_over_delta);
    return priority < 0xfffffffeu ? (uint32_t)priority : 0xfffffffeu;
}
#endif

#if PROGRAM_SUM != TD_SUM_MIN
/* Applies one contribution to *value by compare-and-swap. *old: a recent value, then the one that was replaced. */
TD_DEVICE program_value swap_in(program_value *value, const td_context *c, uint32_t v, program_accum sum,
                                program_value *old)
{
    for (;;) {
        program_value fresh = program_apply(c, v, *old, sum);
        if (fresh == *old || TD_SWAP_IF(value, *old, fresh)) return fresh;
        *old = TD_PEEK(value);
    }
}
#endif

/* Counts the edges of a queued vertex for the next round's decisions. On graphs of small degrees (lean) the number of
 * vertices is enough, and the read would only lengthen every round. */
TD_DEVICE void expect(const td_push_args *a, push_round *r, uint32_t v)
{
    if (r->fragments != 0) return; /* v may have its list on another GPU */
    if (r->lean) TD_PREFETCH(&a->list.offsets[v]);
    else r->next_edges += degree_in(a->state.push_offsets, v);
}

/* Places in a list for the lanes' batches: one atomic per warp, done by lane `by`, reserves them. */
typedef struct push_places {
    uint32_t lanes[PUSH_BATCH], total, at;
} push_places;

TD_DEVICE push_places count_places(const bool *wanted)
{
    push_places places;
    places.total = places.at = 0;
    TD_UNROLL
    for (int k = 0; k < PUSH_BATCH; k++) {
        places.lanes[k] = TD_BALLOT(TD_ALL_LANES, wanted[k]);
        places.total += TD_POPCOUNT(places.lanes[k]);
    }
    return places;
}

TD_DEVICE void fill_places(const push_places *places, uint32_t by, uint32_t *list, const bool *wanted,
                           const uint32_t *values)
{
    if (places->total == 0) return;
    uint32_t at = places->at;
    at = TD_SHUFFLE(TD_ALL_LANES, at, by);
    TD_UNROLL
    for (int k = 0; k < PUSH_BATCH; k++) {
        if (wanted[k]) list[at + TD_POPCOUNT(places->lanes[k] & td_lanes_below())] = values[k];
        at += TD_POPCOUNT(places->lanes[k]);
    }
}

/* Relaxes the edges of a batch, whose target words are `words`; `changed`: the targets that become active. Every step
 * covers the whole batch, so that the atomics overlap. */
TD_DEVICE void relax_batch(const td_push_args *a, const td_context *c, const push_round *r, const push_batch *batch, const uint32_t *words, const uint32_t *targets, bool *changed,
                           program_value *fresh)
{
    program_value *values = (program_value *)a->state.values, old[PUSH_BATCH];
    program_accum sum[PUSH_BATCH];
#if PROGRAM_SUM != TD_SUM_MIN
    bool sent[PUSH_BATCH];
#endif
    TD_UNROLL
    for (int k = 0; k < PUSH_BATCH; k++)
        if (batch->is[k])
            sum[k] = contribution_of(&a->state, c, batch->message[k], a->list.weights, batch->edge[k], words[k]);
    TD_UNROLL
    for (int k = 0; k < PUSH_BATCH; k++) /* a read first saves most atomics; lean rounds have too few to gain */
        if (batch->is[k])
            old[k] = PROGRAM_SUM == TD_SUM_MIN && r->lean ? program_zero(c) : TD_PEEK(&values[targets[k]]);
    TD_UNROLL
    for (int k = 0; k < PUSH_BATCH; k++) {
        changed[k] = false;
        if (!batch->is[k]) continue;
#if PROGRAM_SUM == TD_SUM_MIN
        fresh[k] = program_apply(c, targets[k], old[k], sum[k]);
        changed[k] = program_activates(c, fresh[k], old[k]);
        if (changed[k]) old[k] = TD_MIN(&values[targets[k]], fresh[k]);
#else
        sent[k] = !is_owned(r->fragments, targets[k]);
        if (sent[k]) accumulate((program_accum *)a->sums + targets[k], sum[k]);
        else fresh[k] = swap_in(&values[targets[k]], c, targets[k], sum[k], &old[k]);
        changed[k] = true;
#endif
    }
    TD_UNROLL
    for (int k = 0; k < PUSH_BATCH; k++) {
#if PROGRAM_SUM != TD_SUM_MIN
        if (batch->is[k] && sent[k]) continue; /* the owner decides */
#endif
        changed[k] = changed[k] && program_activates(c, fresh[k], old[k]);
    }
}

/* Marks the queued and the deferred targets in their bitmaps and drops those that were marked already. */
TD_DEVICE void mark_batch(uint32_t *far_map, const push_round *r, const uint32_t *targets, bool *queued, bool *deferred)
{
    uint32_t before[PUSH_BATCH];
    TD_UNROLL
    for (int k = 0; k < PUSH_BATCH; k++) {
        uint32_t *map = deferred[k] ? far_map : r->next_map;
        before[k] = 0;
        if (queued[k] || deferred[k]) before[k] = TD_OR(&map[targets[k] / 32], 1u << (targets[k] & 31u));
    }
    TD_UNROLL
    for (int k = 0; k < PUSH_BATCH; k++) {
        bool fresh = (before[k] >> (targets[k] & 31u) & 1u) == 0;
        queued[k] = queued[k] && fresh;
        deferred[k] = deferred[k] && fresh;
    }
}

#if PROGRAM_PEELS
#include "kernels/gpu/cores_edges.h"
#endif

/* Pushes along the edges of a batch; all lanes of a warp call. Targets that change are queued or deferred. */
TD_DEVICE void push_edges(const td_push_args *a, const td_context *c, push_round *r, const push_batch *batch)
{
#if PROGRAM_PEELS
    if (r->cores != 0) {
        push_for_cores(a, c, r, batch);
        return;
    }
#endif
    bool queued[PUSH_BATCH], deferred[PUSH_BATCH];
    uint32_t words[PUSH_BATCH], targets[PUSH_BATCH];
    program_value fresh[PUSH_BATCH];
    TD_UNROLL
    for (int k = 0; k < PUSH_BATCH; k++) words[k] = batch->is[k] ? TD_READ_ONCE(&a->list.targets[batch->edge[k]]) : 0;
    TD_UNROLL
    for (int k = 0; k < PUSH_BATCH; k++) targets[k] = end_of(&a->state, words[k]);
    relax_batch(a, c, r, batch, words, targets, queued, fresh);
    TD_UNROLL
    for (int k = 0; k < PUSH_BATCH; k++) {
        deferred[k] = false;
#if PROGRAM_HAS_PRIORITY
        deferred[k] = queued[k] && r->defers && priority_of(a->one_over_delta, c, fresh[k]) > r->bound;
        queued[k] = queued[k] && !deferred[k];
#endif
    }
    if (a->again) TD_FENCE(); /* the value before the bit: other warps clear bits and then read values */
    if (r->next_map != 0) mark_batch(a->far_map, r, targets, queued, deferred);
    TD_UNROLL
    for (int k = 0; k < PUSH_BATCH; k++)
        if (queued[k]) expect(a, r, targets[k]);
    push_places near = count_places(queued);
    if (td_lane() == 0 && near.total > 0) near.at = TD_ADD(&r->next->count, near.total);
    if (PROGRAM_HAS_PRIORITY && r->defers) {
        push_places far = count_places(deferred);
        if (td_lane() == 1 && far.total > 0) far.at = TD_ADD(r->far_count, far.total);
        if (r->far != 0) fill_places(&far, 1, r->far, deferred, targets);
    }
    if (r->out != 0) fill_places(&near, 0, r->out, queued, targets);
}

#include "kernels/gpu/expand.h"

TD_DEVICE void clear_slot(td_gpu_slot *slot)
{
    TD_STORE(&slot->edges, (uint64_t)0);
    TD_STORE(&slot->count, 0u);
    TD_STORE(&slot->pieces, 0u);
#if PROGRAM_PEELS
    TD_STORE(&slot->nearest, 0u);
    TD_STORE(&slot->left, 0u);
#endif
}

TD_DEVICE push_round round_of(const td_loop_args *a, uint32_t slot, uint32_t number, bool lean)
{
    td_gpu_slot *slots = a->push.state.control->slot;
    uint32_t odd = number & 1u;
    td_gpu_slot *here = &slots[slot % TD_GPU_SLOTS], *next = &slots[(slot + 1) % TD_GPU_SLOTS];
    push_round r = {a->queue[odd], a->queue[1 - odd], 0, 0, here, next, 0, 0, number, 0, 0, 0, false, 0, lean PUSH_NO_CORES};
    if (!a->push.state.first_hit) {
        r.map = odd ? a->push.state.next_active : a->push.state.active;
        r.next_map = odd ? a->push.state.active : a->push.state.next_active;
    }
    return r;
}

/* The edges of a lean round, which fit 32 bits. */
TD_DEVICE uint32_t edges_taken(const push_round *r) { return PROGRAM_PEELS ? r->taken_edges : (uint32_t)r->next_edges; }

/* Pushes along the edges of a frontier of `count` vertices; afterwards all blocks see the next frontier. */
TD_DEVICE void run_round(const td_loop_args *a, const td_context *c, push_round *r, uint32_t count, bool plain)
{
    expand(a, c, r, count, plain);
    if (r->lean) warp_add_u32(&a->push.state.control->rows[r->number].edges, edges_taken(r));
    else warp_add_u64(&r->next->edges, r->next_edges);
    TD_GRID_BARRIER(a->cluster, &a->push.state.control->barrier);
    uint32_t pieces = a->has_high_degree ? TD_LOAD(&r->now->pieces) : 0;
    if (pieces == 0) return;
    r->next_edges = 0;
    expand_pieces(&a->push, c, r, pieces);
    warp_add_u64(&r->next->edges, r->next_edges);
    TD_GRID_BARRIER(a->cluster, &a->push.state.control->barrier);
}

/* Writes the row of a round and returns whether another one follows. A row has the number of vertices of the next
 * frontier, and the edges of the next frontier too, or in a lean loop those of its own. */
TD_DEVICE bool close_round(const td_loop_args *a, const push_round *r, bool split, bool any, uint32_t *count)
{
    *count = TD_LOAD(&r->next->count);
    uint64_t edges = r->lean ? (uint64_t)*count * a->mean_degree : TD_LOAD(&r->next->edges);
    if (td_global_thread() == 0) {
        td_gpu_row *row = &a->push.state.control->rows[r->number];
        if (!r->lean) row->edges = edges;
        row->vertices = *count;
        row->split = split;
    }
    bool fits = *count == 0 || (edges <= a->leave_edges && edges >= a->stay_edges);
    return (*count > 0 || any) && fits && r->number + 1 < a->most_rounds;
}

/* Counts the edges of the frontier that a lean loop ends with. */
TD_DEVICE void count_ahead(const td_loop_args *a, const push_round *r)
{
    uint64_t edges = 0;
    uint32_t count = TD_LOAD(&r->next->count);
    for (uint32_t i = td_global_thread(); i < count; i += td_global_threads())
        edges += degree_in(a->push.state.push_offsets, r->out[i]);
    TD_WARP_BARRIER(TD_ALL_LANES);
    warp_add_u64(&a->push.state.control->left_edges, edges);
}

TD_DEVICE void run_levels(const td_loop_args *a, bool plain, bool lean)
{
    td_context c = kernel_context(&a->push.state);
    td_gpu_control *control = a->push.state.control;
    uint32_t slot = control->at, round = 0, count = TD_LOAD(&control->slot[slot].count);
    for (bool more = true; more; slot++, round++) {
        push_round r = round_of(a, slot, round, lean);
        c.iteration = a->push.state.context.iteration + round;
        if (td_global_thread() == 0) clear_slot(&control->slot[(slot + 2) % TD_GPU_SLOTS]);
        run_round(a, &c, &r, count, plain);
        more = close_round(a, &r, false, false, &count);
        if (!more && lean) count_ahead(a, &r);
    }
    if (td_global_thread() == 0) {
        control->rounds = round;
        control->at = slot % TD_GPU_SLOTS;
    }
}

/* With resident.balance=warp, and with the other ways. Rounds of lean loops are short, and what a thread spills is read
 * from the L2 cache after every barrier of the grid: they take more registers instead, and fewer blocks. */
TD_DENSE_KERNEL(levels, td_loop_args, TD_GPU_CLUSTER_THREADS, PUSH_BLOCKS) { run_levels(&a, true, false); }
TD_DENSE_KERNEL(levels_lean, td_loop_args, TD_GPU_CLUSTER_THREADS, 1) { run_levels(&a, true, true); }
TD_KERNEL(levels_otherwise, td_loop_args) { run_levels(&a, false, a.push.lean); }
