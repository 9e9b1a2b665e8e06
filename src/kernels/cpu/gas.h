/* The CPU's kernels for a gas program, for one kind of weight: included once per
 * kind by kind.h, which defines
 *   NAME(x)     x with the kind behind it
 *   CONTRIBUTION(c, message, weights, edge)   program_gather of that edge
 *
 * Pull is Garaph's (section 4.2): the edges, not the vertices, are cut into
 * equal pieces; a list that is cut leaves a partial sum per piece, merged by one
 * thread, and nothing else needs an atomic. Push applies edge by edge with a
 * compare-and-swap, for programs whose apply may be done piecemeal.
 */

/* The pointers of a pull, copied from the job so that they stay in registers. */
typedef struct NAME(view) {
    td_context context;
    td_adjacency list; /* pull[0] */
    const program_message *messages;
    const uint64_t *active;
    program_value *values, *next;
    program_message *next_messages;
    const uint64_t *out; /* offsets, for out-degrees */
    bool track;
    bool partial;        /* only marked vertices are pulled: shares are added as differences */
} NAME(view);

static inline NAME(view) NAME(view_of)(const td_cpu_job *job, bool partial)
{
    NAME(view)
    view = {.context = kernel_context(job), .list = job->view.pull[0], .messages = job->messages,
            .active = job->frontier.active,
            .values = job->values, .next = PROGRAM_SENDS_VALUE ? job->next_values : job->values,
            .next_messages = job->next_messages, .out = job->graph->out.offsets, .track = job->setup.track,
            .partial = partial};
    return view;
}

#define EDGE(e) CONTRIBUTION(c, read_message(&messages[targets[e]]), weights, e)

/* Gather-sums a long stretch of one list. Two sums shorten the chain of dependent additions. The
 * list itself is prefetched, because the random reads of messages between its entries keep the
 * hardware prefetcher from detecting that it is read in order. */
static inline program_accum NAME(fold_long)(const NAME(view) * view, const td_adjacency *list, uint64_t begin,
                                            uint64_t end)
{
    const td_context *c = &view->context;
    const uint32_t *targets = list->targets;
    const program_message *messages = view->messages;
    const void *weights = list->weights;
    (void)weights;
    program_accum even = program_zero(c), odd = even;
    uint64_t e = begin;
    for (; e + 4 <= end; e += 4) {
        td_fetch(targets + e + LIST_AHEAD);
        even = program_sum(even, program_sum(EDGE(e), EDGE(e + 1)));
        odd = program_sum(odd, program_sum(EDGE(e + 2), EDGE(e + 3)));
    }
    for (; e < end; e++) even = program_sum(even, EDGE(e));
    return program_sum(even, odd);
}

/* Gather-sums a short stretch. `ahead`: the lists that follow in memory are processed next, so
 * their messages are prefetched while this vertex is computed. */
static inline program_accum NAME(fold_short)(const NAME(view) * view, const td_adjacency *list, uint64_t begin,
                                             uint64_t end, bool ahead)
{
    const td_context *c = &view->context;
    const uint32_t *targets = list->targets;
    const program_message *messages = view->messages;
    const void *weights = list->weights;
    (void)weights;
    program_accum sum = program_zero(c);
    if (ahead) td_fetch(targets + begin + LIST_AHEAD);
    for (uint64_t e = begin; e < end; e++) {
        if (ahead) td_fetch(&messages[targets[e + MESSAGES_AHEAD]]);
        sum = program_sum(sum, EDGE(e));
    }
    return sum;
}
#undef EDGE

/* The same over active neighbours only: a fused program with additive sums must receive a change only once. */
static inline program_accum NAME(fold_active)(const NAME(view) * view, const td_adjacency *list, uint64_t begin,
                                              uint64_t end)
{
    const td_context *c = &view->context;
    const void *weights = list->weights;
    (void)weights;
    program_accum sum = program_zero(c);
    for (uint64_t e = begin; e < end; e++)
        if (td_bit_get(view->active, list->targets[e]))
            sum = program_sum(sum, CONTRIBUTION(c, read_message(&view->messages[list->targets[e]]), weights, e));
    return sum;
}

static inline program_accum NAME(fold)(const NAME(view) *view, const td_adjacency *list, uint64_t begin, uint64_t end,
                                       bool ahead)
{
    if (PROGRAM_FUSED && PROGRAM_SUM == TD_SUM_ADD) return NAME(fold_active)(view, list, begin, end);
    if (end - begin >= LONG_LIST) return NAME(fold_long)(view, list, begin, end);
    return NAME(fold_short)(view, list, begin, end, ahead);
}

/* Gather-sums edges begin..end - 1 of a vertex, counted through its one or two lists. */
static inline program_accum NAME(fold_vertex)(const td_cpu_job *job, const NAME(view) *view, uint32_t v, uint64_t begin,
                                              uint64_t end)
{
    const td_adjacency *one = &view->list, *two = &job->view.pull[1];
    uint64_t first = one->offsets[v], length = one->offsets[v + 1] - first;
    if (job->view.lists == 1 || end <= length) return NAME(fold)(view, one, first + begin, first + end, false);
    uint64_t second = two->offsets[v];
    if (begin >= length) return NAME(fold)(view, two, second + begin - length, second + end - length, false);
    return program_sum(NAME(fold)(view, one, first + begin, first + length, false),
                       NAME(fold)(view, two, second, second + end - length, false));
}

static inline void NAME(activate)(td_cpu_job *job, uint32_t v, td_cpu_tally *tally)
{
    td_bit_set_atomic(job->frontier.next_active, v);
    tally->activated++;
    tally->activated_edges += td_cpu_push_degree(job, v);
}

/* Applies the sum of a vertex of a fused program. */
static inline void NAME(finish_fused)(td_cpu_job *job, const NAME(view) *view, uint32_t v, program_accum sum,
                                      td_cpu_tally *tally)
{
    const td_context *c = &view->context;
    program_value old = read_value(&view->values[v]), fresh = program_apply(c, v, old, sum);
    bool activates = program_activates(c, fresh, old);
    if (PROGRAM_SUM == TD_SUM_ADD || activates) write_value(&view->values[v], fresh);
    if (activates) NAME(activate)(job, v, tally);
}

/* Applies the sum of a vertex: its new value, message, change and share. */
static inline void NAME(finish)(td_cpu_job *job, const NAME(view) *view, uint32_t v, program_accum sum, bool track,
                                td_cpu_tally *tally)
{
    if (PROGRAM_FUSED) {
        NAME(finish_fused)(job, view, v, sum, tally);
        return;
    }
    const td_context *c = &view->context;
    program_value old = read_value(&view->values[v]), fresh = program_apply(c, v, old, sum);
    uint32_t degree = PROGRAM_SENDS_VALUE && !PROGRAM_SHARES ? 0 : (uint32_t)(view->out[v + 1] - view->out[v]);
    (void)degree;
    write_value(&view->next[v], fresh);
    if (!PROGRAM_SENDS_VALUE) write_message(&view->next_messages[v], program_send(c, fresh, degree));
    tally->change = measure(c, tally->change, fresh, old);
#if PROGRAM_SHARES
    tally->share += program_share(c, v, fresh, degree);
    if (view->partial) tally->share -= program_share(c, v, old, degree);
#endif
    if (track && program_activates(c, fresh, old)) NAME(activate)(job, v, tally);
}

static inline bool NAME(deferred)(const td_cpu_job *job, uint32_t v)
{
    return job->setup.defer_sinks && td_degree(&job->graph->out, v) == 0;
}

/* Pulls along whole lists, consecutive in memory. */
static inline __attribute__((always_inline)) void NAME(walk)(td_cpu_job *job, const NAME(view) view, uint64_t first,
                                                             uint64_t last, bool track, td_cpu_tally *tally)
{
    const uint64_t *offsets = view.list.offsets;
    uint64_t begin = offsets[first], edges = job->view.edges_there;
    tally->edges += offsets[last] - begin;
    for (uint64_t v = first; v < last; v++) {
        uint64_t end = offsets[v + 1];
        program_accum sum = NAME(fold)(&view, &view.list, begin, end, end + MESSAGES_AHEAD <= edges);
        NAME(finish)(job, &view, (uint32_t)v, sum, track, tally);
        begin = end;
    }
}

/* Where activations are not recorded, the loop is compiled without the test for them. */
static inline void NAME(pull_lists)(td_cpu_job *job, const NAME(view) * view, uint64_t first, uint64_t last,
                                    td_cpu_tally *tally)
{
    if (view->track) NAME(walk)(job, *view, first, last, true, tally);
    else NAME(walk)(job, *view, first, last, false, tally);
}

/* Pulls along part of one vertex's list, which may be cut at either end. */
static inline void NAME(pull_part)(td_cpu_job *job, const NAME(view) *view, uint32_t v, uint64_t begin, uint64_t end,
                                   program_accum partials[2], td_cpu_tally *tally)
{
    if (NAME(deferred)(job, v)) return;
    program_accum sum = NAME(fold_vertex)(job, view, v, begin, end);
    tally->edges += end - begin;
    if (begin > 0) partials[0] = sum;
    else if (end < td_cpu_pull_degree(job, v)) partials[1] = sum;
    else NAME(finish)(job, view, v, sum, view->track, tally);
}

static inline void NAME(pull_piece)(td_cpu_job *job, const NAME(view) *view, uint64_t piece, td_cpu_tally *tally)
{
    td_cut from = job->cut.cuts[piece], to = job->cut.cuts[piece + 1];
    program_accum *partials = ((program_accum(*)[2])job->cut.partials)[piece];
    uint64_t v = from.vertex;
    if (from.place > 0) {
        uint64_t end = from.vertex == to.vertex ? to.place : td_cpu_pull_degree(job, from.vertex);
        NAME(pull_part)(job, view, from.vertex, from.place, end, partials, tally);
        if (from.vertex == to.vertex) return;
        v++;
    }
    if (job->view.lists == 1 && !job->setup.defer_sinks)
        NAME(pull_lists)(job, view, v, to.vertex, tally);
    else
        for (; v < to.vertex; v++)
            NAME(pull_part)(job, view, (uint32_t)v, 0, td_cpu_pull_degree(job, (uint32_t)v), partials, tally);
    if (to.place > 0) NAME(pull_part)(job, view, to.vertex, 0, to.place, partials, tally);
}

static void NAME(pull)(td_cpu_job *job, int worker)
{
    const NAME(view) view = NAME(view_of)(job, false);
    td_cpu_tally tally = job->tallies[worker];
    uint64_t begin, end;
    while (td_share_out_take(&job->share, worker, &begin, &end))
        for (uint64_t piece = begin; piece < end; piece++) NAME(pull_piece)(job, &view, piece, &tally);
    job->tallies[worker] = tally;
}

/* Merges the partial sums: a list cut at the end of piece p continues in the pieces after it. */
static void NAME(merge)(td_cpu_job *job)
{
    const NAME(view) view = NAME(view_of)(job, false);
    program_accum(*partials)[2] = job->cut.partials;
    for (uint64_t p = 0; p < job->cut.pieces; p++) {
        td_cut to = job->cut.cuts[p + 1];
        if (to.place == 0 || to.vertex >= job->graph->vertices) continue;
        bool starts_here = job->cut.cuts[p].vertex < to.vertex || job->cut.cuts[p].place == 0;
        if (!starts_here || NAME(deferred)(job, to.vertex)) continue;
        program_accum sum = partials[p][1];
        for (uint64_t q = p + 1; q < job->cut.pieces && job->cut.cuts[q].vertex == to.vertex &&
             job->cut.cuts[q].place > 0; q++)
            sum = program_sum(sum, partials[q][0]);
        NAME(finish)(job, &view, to.vertex, sum, view.track, &job->tallies[0]);
    }
}

static void NAME(pull_marked)(td_cpu_job *job, int worker)
{
    const NAME(view) view = NAME(view_of)(job, job->part.partial);
    td_cpu_tally tally = job->tallies[worker];
    uint64_t begin, end;
    while (td_share_out_take(&job->share, worker, &begin, &end))
        for (uint64_t w = begin; w < end; w++)
            for (uint64_t rest = job->frontier.marked[w]; rest != 0; rest &= rest - 1) {
                uint32_t v = (uint32_t)(w * 64 + (uint64_t)__builtin_ctzll(rest));
                if (NAME(deferred)(job, v)) continue;
                uint64_t degree = td_cpu_pull_degree(job, v);
                NAME(finish)(job, &view, v, NAME(fold_vertex)(job, &view, v, 0, degree), view.track, &tally);
                tally.edges += degree;
            }
    job->tallies[worker] = tally;
}

#if PROGRAM_FUSED
#if PROGRAM_FIRST_HIT
/* First hit: all active vertices of an iteration send the same message, so the scan
 * stops at the first active neighbour. */
TD_INLINE bool NAME(hit)(td_cpu_job *job, uint32_t v, bool mapped, uint64_t *scanned)
{
    for (int l = 0; l < job->view.lists; l++) {
        const td_adjacency *list = &job->view.pull[l];
        uint64_t begin = list->offsets[v], end = list->offsets[v + 1];
        uint64_t e = mapped ? first_active_mapped(job, list, begin, end)
                            : first_active(job->frontier.active, list->targets, begin, end);
        *scanned += e - begin + (e < end);
        if (e < end) return true;
    }
    return false;
}

/* Prefetches the first edges of a word's vertices, whose lists are scattered over memory. */
static inline void NAME(fetch_heads)(const td_cpu_job *job, uint64_t w)
{
    for (uint64_t rest = ~TD_LOAD(&job->frontier.done[w]); rest != 0; rest &= rest - 1) /* others may write it */
        for (int l = 0; l < job->view.lists; l++)
            td_fetch(job->view.pull[l].targets + job->view.pull[l].offsets[w * 64 + (uint64_t)__builtin_ctzll(rest)]);
}

TD_INLINE void NAME(pull_words)(td_cpu_job *job, int worker, bool mapped)
{
    const td_context context = kernel_context(job);
    td_cpu_tally tally = job->tallies[worker];
    const td_adjacency *heads = job->view.pull;
    program_value *values = job->values;
    program_accum sent = CONTRIBUTION(&context, ((const program_message *)job->messages)[job->frontier.an_active],
                                      NULL, 0);
    uint64_t begin, end, words = td_cpu_words(job), n = job->graph->vertices, scanned = 0;
    while (td_share_out_take(&job->share, worker, &begin, &end))
        for (uint64_t w = begin; w < end; w++) {
            uint64_t found = 0, rest = ~job->frontier.done[w];
            bool dense = td_popcount(rest) > 16;
            if (!dense && w + 1 < words) NAME(fetch_heads)(job, w + 1);
            for (; rest != 0; rest &= rest - 1) {
                uint64_t bit = (uint64_t)__builtin_ctzll(rest);
                uint32_t v = (uint32_t)(w * 64 + bit);
                for (int l = 0; dense && l < job->view.lists && v + HEADS_AHEAD < n; l++)
                    td_fetch(heads[l].targets + heads[l].offsets[v + HEADS_AHEAD]);
                if (!NAME(hit)(job, v, mapped, &scanned)) continue;
                values[v] = program_apply(&context, v, values[v], sent);
                found |= UINT64_C(1) << bit;
                tally.activated_edges += td_cpu_push_degree(job, v);
            }
            TD_STORE(&job->frontier.done[w], job->frontier.done[w] | found); /* no other worker writes the word */
            job->frontier.next_active[w] = found;
            tally.activated += td_popcount(found);
        }
    tally.edges += scanned;
    job->tallies[worker] = tally;
}

static void NAME(pull_hit)(td_cpu_job *job, int worker) { NAME(pull_words)(job, worker, false); }

#if PROGRAM_MAPS
static void NAME(pull_hit_mapped)(td_cpu_job *job, int worker) { NAME(pull_words)(job, worker, true); }
#endif

/* Rebuilds `done` from the values before a pull, because pushes do not maintain it. */
static void NAME(settle_words)(td_cpu_job *job, int worker)
{
    const td_context context = kernel_context(job);
    const program_value *values = job->values, none = program_zero(&context);
    uint64_t begin, end;
    while (td_share_out_take(&job->share, worker, &begin, &end))
        for (uint64_t w = begin; w < end; w++) {
            uint64_t done = job->frontier.done[w];
            for (uint64_t rest = ~done; rest != 0; rest &= rest - 1) {
                uint64_t bit = (uint64_t)__builtin_ctzll(rest);
                done |= (uint64_t)(values[w * 64 + bit] != none) << bit;
            }
            job->frontier.done[w] = done;
        }
}
#endif

/* Applies one contribution to v; true if the change activates v. *seen: the new value. */
static inline bool NAME(relax)(td_cpu_job *job, const td_context *c, uint32_t v, program_accum sum, program_value *seen)
{
    program_value *value = (program_value *)job->values + v, old, fresh;
    __atomic_load(value, &old, __ATOMIC_RELAXED);
    do {
        fresh = program_apply(c, v, old, sum);
        if (fresh == old) return false;
    } while (!__atomic_compare_exchange(value, &old, &fresh, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    *seen = fresh;
    return program_activates(c, fresh, old);
}

/* Flushes an outbox into the next queue. Counts the vertices' edges here, all at once: counted
 * right after its compare-and-swap, every vertex would wait for memory. */
static inline void NAME(post)(const td_cpu_job *job, td_outbox *box, td_cpu_tally *tally)
{
    for (uint32_t i = 0; i < box->count; i++) tally->activated_edges += td_cpu_push_degree(job, box->vertices[i]);
    td_outbox_flush(box);
}

/* Pushes a vertex's message along edges begin..end - 1. A target that is activated twice in
 * an iteration is queued once: a first-hit program activates a vertex only once, for others
 * next_active tests it. */
TD_INLINE void NAME(push_edges)(td_cpu_job *job, const td_context *c, const td_adjacency *list,
                                program_message message, uint64_t begin, uint64_t end, bool mapped, td_outbox *box,
                                td_cpu_tally *tally)
{
    const void *weights = list->weights;
    (void)weights;
    for (uint64_t e = begin; e < end; e++) {
        uint32_t v;
        program_value fresh;
        if (!read_target(job, list, e, mapped, &v)) continue;
        if (e + VALUES_AHEAD < end) td_fetch((const program_value *)job->values + list->targets[e + VALUES_AHEAD]);
        if (!NAME(relax)(job, c, v, CONTRIBUTION(c, message, weights, e), &fresh)) continue;
        if (!job->setup.first_hit && !td_bit_set_atomic(job->frontier.next_active, v)) continue;
        if (box->list == NULL) continue;
        td_fetch(&job->view.push[0].offsets[v]);
        if (box->count == TD_OUTBOX) NAME(post)(job, box, tally);
        td_outbox_put(box, v);
    }
}

/* Pushes from u along its edges begin..end - 1, counted through its one or two lists. */
TD_INLINE void NAME(push_vertex)(td_cpu_job *job, const td_context *c, uint32_t u, uint64_t begin, uint64_t end,
                                 bool mapped, td_outbox *box, td_cpu_tally *tally)
{
    const void *read = PROGRAM_SENDS_VALUE ? job->messages : job->values;
    program_value value = read_value(&((const program_value *)read)[u]);
    program_message message = program_send(c, value, (uint32_t)td_degree(&job->graph->out, u));
    uint64_t base = 0;
    for (int l = 0; l < job->view.lists; l++) {
        const td_adjacency *list = &job->view.push[l];
        uint64_t first = list->offsets[u], length = list->offsets[u + 1] - first;
        uint64_t from = begin > base ? begin - base : 0, to = end > base ? end - base : 0;
        to = to < length ? to : length;
        if (from < to) NAME(push_edges)(job, c, list, message, first + from, first + to, mapped, box, tally);
        base += length;
    }
    tally->edges += end - begin;
}

/* The lists of the vertices in a queue are scattered over memory. Prefetches in three stages:
 * offsets and value first, then the list, then the values of its targets. */
static inline void NAME(fetch_ahead)(const td_cpu_job *job, const uint32_t *queue, uint64_t i, uint64_t end)
{
    const td_adjacency *list = &job->view.push[0];
    if (i + PLACES_AHEAD < end) {
        td_fetch(&list->offsets[queue[i + PLACES_AHEAD]]);
        td_fetch((const program_value *)job->values + queue[i + PLACES_AHEAD]);
    }
    if (i + LISTS_AHEAD < end) td_fetch(list->targets + list->offsets[queue[i + LISTS_AHEAD]]);
    if (i + ENDS_AHEAD < end) fetch_ends(job, list, queue[i + ENDS_AHEAD]);
}

TD_INLINE void NAME(push_listed)(td_cpu_job *job, int worker, bool mapped)
{
    const td_context context = kernel_context(job);
    td_cpu_tally tally = job->tallies[worker];
    td_outbox box;
    td_outbox_open(&box, job->frontier.next_queue, &job->frontier.next_count);
    uint64_t begin, end;
    while (td_share_out_take(&job->share, worker, &begin, &end))
        for (uint64_t i = begin; i < end; i++) {
            uint32_t u = job->frontier.queue[i];
            NAME(fetch_ahead)(job, job->frontier.queue, i, job->frontier.queue_count);
            if (!job->setup.first_hit) td_bit_clear_atomic(job->frontier.active, u); /* clear for the next iteration */
            uint64_t degree = td_cpu_push_degree(job, u);
            if (degree >= job->high.degree)
                job->high.list[job->high.count++] = u;
            else
                NAME(push_vertex)(job, &context, u, 0, degree, mapped, &box, &tally);
        }
    NAME(post)(job, &box, &tally);
    job->tallies[worker] = tally;
}

static void NAME(push)(td_cpu_job *job, int worker) { NAME(push_listed)(job, worker, false); }

/* The same for a frontier that is a bitmap. */
static void NAME(push_words)(td_cpu_job *job, int worker)
{
    const td_context context = kernel_context(job);
    td_cpu_tally tally = job->tallies[worker];
    td_outbox box;
    td_outbox_open(&box, NULL, &job->frontier.next_count);
    uint64_t begin, end;
    while (td_share_out_take(&job->share, worker, &begin, &end))
        for (uint64_t w = begin; w < end; w++) {
            uint64_t rest = job->frontier.active[w];
            job->frontier.active[w] = 0;
            for (; rest != 0; rest &= rest - 1) {
                uint32_t u = (uint32_t)(w * 64 + (uint64_t)__builtin_ctzll(rest));
                uint64_t degree = td_cpu_push_degree(job, u);
                if (degree >= job->high.degree) job->high.list[job->high.count++] = u;
                else NAME(push_vertex)(job, &context, u, 0, degree, false, &box, &tally);
            }
        }
    job->tallies[worker] = tally;
}

/* Pushes along the edges of all high-degree vertices, in equal pieces. */
TD_INLINE void NAME(push_pieces)(td_cpu_job *job, int worker, bool mapped)
{
    const td_context context = kernel_context(job);
    td_cpu_tally *tally = &job->tallies[worker];
    td_outbox box;
    td_outbox_open(&box, job->frontier.next_queue, &job->frontier.next_count);
    uint64_t begin, end;
    td_high_degree_part part;
    while (td_share_out_take(&job->share, worker, &begin, &end)) {
        td_high_degree_walk walk = td_high_degree_pieces_from(job->high.start, job->high.count, begin,
                                                              end);
        while (td_high_degree_next(&walk, &part))
            NAME(push_vertex)(job, &context, job->high.list[part.which], part.begin, part.end, mapped, &box,
                              tally);
    }
    NAME(post)(job, &box, tally);
}

static void NAME(push_high_degree)(td_cpu_job *job, int worker) { NAME(push_pieces)(job, worker, false); }

#if PROGRAM_MAPS
static void NAME(push_mapped)(td_cpu_job *job, int worker) { NAME(push_listed)(job, worker, true); }

static void NAME(push_high_degree_mapped)(td_cpu_job *job, int worker) { NAME(push_pieces)(job, worker, true); }
#endif

/* Finds parents after the run of a TD_SUM_MIN program: the neighbour whose contribution equals
 * the vertex's value. Only neighbours with another value count; the caller resolves equal ones
 * (edges of weight zero). */
static void NAME(find_parents)(td_cpu_job *job, int worker)
{
    const td_context *c = &job->context;
    const program_value *values = job->values;
    const program_message *messages = job->messages;
    uint64_t begin, end;
    while (td_share_out_take(&job->share, worker, &begin, &end))
        for (uint64_t v = begin * 64; v < end * 64 && v < job->graph->vertices; v++) {
            job->parents[v] = program_starts(c, (uint32_t)v, values[v]) ? (uint32_t)v : TD_NO_VERTEX;
            if (values[v] == program_zero(c) || job->parents[v] != TD_NO_VERTEX) continue;
            for (int l = 0; l < job->view.lists && job->parents[v] == TD_NO_VERTEX; l++) {
                const td_adjacency *list = &job->view.pull[l];
                const void *weights = list->weights;
                (void)weights;
                for (uint64_t e = list->offsets[v]; e < list->offsets[v + 1]; e++) {
                    uint32_t u = list->targets[e];
                    if (values[u] == values[v] || CONTRIBUTION(c, messages[u], weights, e) != values[v]) continue;
                    job->parents[v] = u;
                    break;
                }
            }
        }
}
#endif
