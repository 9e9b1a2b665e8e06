/* Push: the vertices of the frontier tell their neighbours, who form the next one. `levels` runs round after
 * round in one launch, with a barrier of the whole grid between them, until the frontier is empty or the host has
 * something to decide: it has become too large or too small for the shape of the launch. */

typedef struct push_round {
    const uint32_t *in;
    uint32_t *out;
    uint32_t *map, *next_map; /* bitmaps of the two queues; 0 where a vertex is queued once by nature */
    td_gpu_slot *now, *next;
    uint64_t next_edges, taken_edges;
    uint32_t bound;           /* priorities: those above it are put off */
    uint32_t *far, *far_count;
} push_round;

#if PROGRAM_HAS_PRIORITY
TD_DEVICE uint32_t priority_of(const td_gpu_args *a, const td_context *c, program_value value)
{
    uint64_t priority = program_priority(c, value, a->one_over_delta);
    return priority < 0xfffffffeu ? (uint32_t)priority : 0xfffffffeu;
}
#endif

/* Applies one contribution to a value; true if the vertex must tell it on. */
TD_DEVICE bool relax(const td_gpu_args *a, const td_context *c, uint32_t v, program_accum sum, program_value *seen)
{
    program_value *value = (program_value *)a->values + v, old = TD_PEEK(value), fresh = program_apply(c, v, old, sum);
#if PROGRAM_SUM == TD_SUM_MIN
    if (!program_activates(c, fresh, old)) return false;
    old = TD_MIN(value, fresh);
#else
    for (;; fresh = program_apply(c, v, old, sum)) {
        if (fresh == old) return false;
        if (TD_SWAP_IF(value, old, fresh)) break;
        old = TD_PEEK(value);
    }
#endif
    *seen = fresh;
    return program_activates(c, fresh, old);
}

/* A vertex is queued: its edges are counted ahead, so that the round after this one can be planned. On graphs of small
 * degrees (lean) their number says little and the read would only lengthen every round. */
TD_DEVICE void expect(const td_gpu_args *a, push_round *r, uint32_t v)
{
    if (a->lean) TD_PREFETCH(&a->push.offsets[v]);
    else r->next_edges += degree_in(a->push.offsets, v);
}

/* True for the first who marks. */
TD_DEVICE bool mark(uint32_t *map, uint32_t v)
{
    uint32_t bit = 1u << (v & 31u);
    return (TD_LOAD(&map[v / 32]) & bit) == 0 && (TD_OR(&map[v / 32], bit) & bit) == 0;
}

TD_DEVICE void tell(const td_gpu_args *a, const td_context *c, push_round *r, bool is, program_message message, uint64_t e)
{
    bool queued = false, put_off = false;
    uint32_t v = 0;
    if (is) {
        program_value fresh;
        v = TD_READ_ONLY(&a->push.targets[e]);
        queued = relax(a, c, v, contribution(a, c, message, a->push.weights, e), &fresh);
#if PROGRAM_HAS_PRIORITY
        put_off = queued && r->far != 0 && priority_of(a, c, fresh) > r->bound;
        queued = queued && !put_off;
        put_off = put_off && mark(a->far_map, v);
#endif
        queued = queued && (r->next_map == 0 || mark(r->next_map, v));
        if (queued) expect(a, r, v);
    }
    warp_append(r->out, &r->next->count, queued, v);
    if (PROGRAM_HAS_PRIORITY && r->far != 0) warp_append(r->far, r->far_count, put_off, v);
}

#include "kernels/gpu/expand.h"

TD_DEVICE void clear_slot(td_gpu_slot *slot)
{
    TD_STORE(&slot->edges, (uint64_t)0);
    TD_STORE(&slot->count, 0u);
    TD_STORE(&slot->pieces, 0u);
}

TD_DEVICE push_round round_of(const td_gpu_args *a, uint32_t slot, uint32_t number)
{
    td_gpu_slot *slots = a->control->slot;
    uint32_t odd = number & 1u;
    push_round r = {a->queue[odd], a->queue[1 - odd], 0, 0, &slots[slot % TD_GPU_SLOTS], &slots[(slot + 1) % TD_GPU_SLOTS],
                    0, 0, 0, 0, 0};
    if (!a->first_hit) {
        r.map = odd ? a->next_active : a->active;
        r.next_map = odd ? a->active : a->next_active;
    }
    return r;
}

/* The frontier's edges; afterwards the next one is known to all. */
TD_DEVICE void run_round(const td_gpu_args *a, const td_context *c, push_round *r)
{
    expand(a, c, r, TD_LOAD(&r->now->count));
    warp_add_u64(a->lean ? &r->now->edges : &r->next->edges, a->lean ? r->taken_edges : r->next_edges);
    TD_GRID_BARRIER();
    uint32_t pieces = TD_LOAD(&r->now->pieces);
    if (pieces == 0) return;
    r->next_edges = 0;
    expand_pieces(a, c, r, pieces);
    warp_add_u64(&r->next->edges, r->next_edges);
    TD_GRID_BARRIER();
}

/* What a loop does between two rounds: the row of the one behind, and whether there is to be another. In a lean
 * loop a row has the edges of its own frontier, otherwise those of the next. */
TD_DEVICE bool close_round(const td_gpu_args *a, const push_round *r, uint32_t round, bool split, bool any)
{
    uint32_t count = TD_LOAD(&r->next->count);
    uint64_t edges = a->lean ? (uint64_t)count * a->mean_degree : TD_LOAD(&r->next->edges);
    if (td_global_thread() == 0) {
        td_gpu_row row = {a->lean ? TD_LOAD(&r->now->edges) : edges, count, split};
        a->control->rows[round] = row;
    }
    bool fits = count == 0 || (edges <= a->leave_edges && edges >= a->stay_edges);
    return (count > 0 || any) && fits && round + 1 < a->most_rounds;
}

/* The edges of the frontier that a lean loop leaves behind. */
TD_DEVICE void count_ahead(const td_gpu_args *a, const push_round *r)
{
    uint64_t edges = 0;
    uint32_t count = TD_LOAD(&r->next->count);
    for (uint32_t i = td_global_thread(); i < count; i += td_global_threads()) edges += degree_in(a->push.offsets, r->out[i]);
    TD_WARP_BARRIER(TD_ALL_LANES);
    warp_add_u64(&a->control->left_edges, edges);
}

TD_KERNEL(levels, td_gpu_args)
{
    td_context c = kernel_context(&a);
    td_gpu_control *control = a.control;
    uint32_t slot = control->at, round = 0;
    for (bool more = true; more; slot++, round++) {
        push_round r = round_of(&a, slot, round);
        c.iteration = a.context.iteration + round;
        if (td_global_thread() == 0) clear_slot(&control->slot[(slot + 2) % TD_GPU_SLOTS]);
        run_round(&a, &c, &r);
        more = close_round(&a, &r, round, false, false);
        if (!more && a.lean) count_ahead(&a, &r);
    }
    if (td_global_thread() == 0) {
        control->rounds = round;
        control->at = slot % TD_GPU_SLOTS;
    }
}
