/* The edges of a batch, for core numbers in one launch (cores.h). An edge carries its source (message_from).
 *
 * Peel: the sources are removed, and every target loses a neighbour (PeelOne: Zhao and others, "PICO", 2024). The
 * count is lowered by an atomic without a retry, so that many removals may meet in one high-degree vertex; the one that
 * brings it down to the level removes the vertex, and those behind it give back what they took.
 *
 * Histogram: the bounds of the sources have fallen (HistoCore, the same paper). A vertex has one bin for every bound
 * below its own, with the number of neighbours there, and the number of the others, its support. A neighbour that falls
 * moves from bin to bin, or from the support to a bin; a support below the bound makes the vertex fall too. */

enum { CORES_REMOVALS = 1, CORES_FALLS = 2 };

/* A block removes vertices of short lists itself, within the round, as long as its buffer lasts. */
enum { PEEL_BUFFER = 512, PEEL_SHORT = 32 };

/* The block's buffer; the word behind it counts its entries, and those that found it full. */
TD_DEVICE uint32_t *peel_buffer(void)
{
    TD_SHARED(uint32_t, buffer, PEEL_BUFFER + 1);
    return buffer;
}

/* Appends the wanted targets to the next queue. */
TD_DEVICE void queue_targets(const td_push_args *a, push_round *r, const uint32_t *targets, const bool *wanted)
{
    TD_UNROLL
    for (int k = 0; k < PUSH_BATCH; k++)
        if (wanted[k]) expect(a, r, targets[k]);
    push_places places = count_places(wanted);
    if (td_lane() == 0 && places.total > 0) places.at = TD_ADD(&r->next->count, places.total);
    fill_places(&places, 0, r->out, wanted, targets);
}

/* Moves the wanted targets with short lists to the block's buffer while it has room. */
TD_DEVICE void buffer_targets(const td_push_args *a, push_round *r, const uint32_t *targets, bool *wanted)
{
    uint32_t *buffer = peel_buffer();
    bool is_short[PUSH_BATCH];
    TD_UNROLL
    for (int k = 0; k < PUSH_BATCH; k++)
        is_short[k] = wanted[k] && degree_in(a->state.push_offsets, targets[k]) < PEEL_SHORT;
    push_places places = count_places(is_short);
    if (places.total == 0) return;
    if (td_lane() == 0) places.at = TD_ADD(&buffer[PEEL_BUFFER], places.total);
    uint32_t at = TD_SHUFFLE(TD_ALL_LANES, places.at, 0);
    TD_UNROLL
    for (int k = 0; k < PUSH_BATCH; k++) {
        uint32_t place = at + TD_POPCOUNT(places.lanes[k] & td_lanes_below());
        if (is_short[k] && place < r->cores->buffer) {
            buffer[place] = targets[k];
            wanted[k] = false;
        }
        at += TD_POPCOUNT(places.lanes[k]);
    }
}

TD_DEVICE void push_removals(const td_push_args *a, const td_context *c, push_round *r, const push_batch *batch,
                             const uint32_t *targets)
{
    uint32_t *left = (uint32_t *)a->state.values, old[PUSH_BATCH];
    bool removed[PUSH_BATCH], nears[PUSH_BATCH];
    TD_UNROLL
    for (int k = 0; k < PUSH_BATCH; k++) old[k] = batch->is[k] ? TD_PEEK(&left[targets[k]]) : 0;
    TD_UNROLL
    for (int k = 0; k < PUSH_BATCH; k++) {
        nears[k] = old[k] > c->phase;
        if (nears[k]) old[k] = TD_ADD(&left[targets[k]], 0xffffffffu);
    }
    TD_UNROLL
    for (int k = 0; k < PUSH_BATCH; k++) {
        if (nears[k] && old[k] <= c->phase) TD_ADD(&left[targets[k]], 1u);
        removed[k] = nears[k] && old[k] == c->phase + 1;
        nears[k] = nears[k] && old[k] == r->bound && r->bound > c->phase + 1; /* it enters the window of levels */
    }
    push_places places = count_places(nears);
    if (td_lane() == 0 && places.total > 0) places.at = TD_ADD(r->far_count, places.total);
    fill_places(&places, 0, r->far, nears, targets);
    if (r->cores->buffer > 0) buffer_targets(a, r, targets, removed);
    queue_targets(a, r, targets, removed);
}

TD_DEVICE void push_falls(const td_push_args *a, push_round *r, const push_batch *batch, const uint32_t *targets)
{
    const td_cores_args *cores = r->cores;
    const uint32_t *bounds = (const uint32_t *)a->state.values;
    uint32_t bound[PUSH_BATCH], old[PUSH_BATCH], fresh[PUSH_BATCH];
    bool queued[PUSH_BATCH];
    TD_UNROLL
    for (int k = 0; k < PUSH_BATCH; k++) {
        uint32_t source = batch->is[k] ? batch->message[k] : 0;
        bool is = batch->is[k] && targets[k] != source; /* loops do not count */
        bound[k] = is ? bounds[targets[k]] : 0;
        old[k] = is ? cores->before[source] : 0;
        fresh[k] = is ? bounds[source] : 0;
    }
    TD_UNROLL
    for (int k = 0; k < PUSH_BATCH; k++) {
        queued[k] = false;
        if (bound[k] <= fresh[k]) continue;
        uint32_t *bins = cores->bins + cores->places[targets[k]];
        if (fresh[k] > 0) TD_ADD(&bins[fresh[k] - 1], 1u);
        if (bound[k] <= old[k]) queued[k] = TD_ADD(&cores->support[targets[k]], 0xffffffffu) == bound[k];
        else TD_ADD(&bins[old[k] - 1], 0xffffffffu);
    }
    queue_targets(a, r, targets, queued);
}

TD_DEVICE void push_for_cores(const td_push_args *a, const td_context *c, push_round *r, const push_batch *batch)
{
    uint32_t targets[PUSH_BATCH];
    TD_UNROLL
    for (int k = 0; k < PUSH_BATCH; k++) targets[k] = batch->is[k] ? TD_READ_ONCE(&a->list.targets[batch->edge[k]]) : 0;
    if (r->cores_push == CORES_REMOVALS) push_removals(a, c, r, batch, targets);
    else push_falls(a, r, batch, targets);
}
