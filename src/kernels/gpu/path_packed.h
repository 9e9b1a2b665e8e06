/* Walks of packed partitions (engine/paths/packed.c), whose words are on the GPU or are read in the host's memory: every
 * word once, by neighbouring lanes, so that a walk takes as few bytes over the link as the partition has.
 *
 *   read the messages of the vertices that edges leave -> 32 edges at a time: add up what they bring for one vertex, deposit
 *   it -> apply a vertex behind the last edge into it, if its home path is here -> mark the partitions that read it
 *
 * All edges of a partition that leave a vertex send the same message, so that a mirror is one of a partition and a vertex,
 * not of an edge: few enough to stay on the GPU. It is accessed by the warp alone that has the partition. A new value
 * reaches the other edges of the partition in the next walk. */

/* Clears the mark of a partition; false: it has none. All lanes call. */
TD_DEVICE bool path_take_mark(const td_path_state *s, uint32_t k)
{
    uint32_t mask = 1u << (k & 31u), marked = 0;
    if (td_lane() == 0) marked = TD_PEEK(&s->marks[k / 32]) & mask;
    if (marked != 0) (void)TD_AND(&s->marks[k / 32], ~mask);
    TD_FENCE(); /* the mark is cleared before values are read */
    TD_WARP_BARRIER(TD_ALL_LANES);
    return TD_SHUFFLE(TD_ALL_LANES, marked, 0) != 0;
}

/* Marks the partitions that read what lanes have renewed, except one (`but`). All lanes call. */
TD_DEVICE void path_spread(const td_path_state *s, uint32_t v, bool renewed, uint32_t but, td_path_tally *t)
{
    if (TD_BALLOT(TD_ALL_LANES, renewed) == 0) return;
    TD_FENCE(); /* a walk that clears a mark sees the message, or the mark is set again */
    path_notify_warp(s, v, renewed, but, t);
}

/* Takes the messages of the vertices that edges leave; whether any is new. All lanes call. */
TD_DEVICE bool path_refresh_mirrors(const td_path_state *s, const td_context *c, uint32_t k, const td_path_pack *of,
                                  td_path_tally *t)
{
    program_message *mirrors = (program_message *)s->sent + 2 * (uint64_t)of->first;
    bool fresh = false;
    for (uint32_t base = 0; base < of->sources; base += TD_WARP) {
        uint32_t i = base + td_lane(), word = i < of->sources ? TD_READ_ONLY(&of->words[i]) : 0;
        uint32_t v = word & ~TD_PATH_HOME_HERE;
        bool renewed = word != v && path_renew(s, c, v, t);
        path_spread(s, v, renewed, k, t);
        if (i >= of->sources) continue;
        program_message before = mirrors[2 * i + 1], message = path_message_at(s, v);
        if (mirrors[2 * i] != before) mirrors[2 * i] = before;
        if (message != before) mirrors[2 * i + 1] = message;
        fresh |= message != before;
        t->reads++;
    }
    TD_WARP_BARRIER(TD_ALL_LANES);
    return TD_BALLOT(TD_ALL_LANES, fresh) != 0;
}

/* Nothing is to be sent: applies the vertices that edges enter. All lanes call. */
TD_DEVICE void path_apply_targets(const td_path_state *s, const td_context *c, const td_path_pack *of, td_path_tally *t)
{
    const uint32_t *targets = of->words + of->sources;
    for (uint32_t base = 0; base < of->targets; base += TD_WARP) {
        uint32_t i = base + td_lane(), word = i < of->targets ? TD_READ_ONLY(&targets[i]) : 0;
        uint32_t w = word & ~TD_PATH_HOME_HERE;
        bool renewed = word != w && path_renew(s, c, w, t);
        path_spread(s, w, renewed, PATH_NO_VERTEX, t);
    }
}

/* Every lane sends along an edge: number `e` of the partition, or none (`on`), into the vertex of a word. All lanes call. */
TD_DEVICE void path_send_packed(const td_path_state *s, const td_context *c, const td_path_pack *of, bool on, uint32_t e,
                                uint32_t edge, uint32_t word, td_path_tally *t)
{
    const program_message *mirrors = (const program_message *)s->sent + 2 * (uint64_t)of->first;
    uint32_t from = edge & (TD_PATH_LAST_EDGE - 1), w = on ? word & ~TD_PATH_HOME_HERE : PATH_NO_VERTEX;
    bool here = on && (word & TD_PATH_HOME_HERE) != 0, brings = false, triggers = false, renewed = false, any, last;
    program_accum brought = path_no_deposit(c);
    if (on) {
        program_message before = mirrors[2 * from], message = mirrors[2 * from + 1];
        t->loaded++;
        if (before != message) {
            uint32_t v = PROGRAM_LOOPLESS ? TD_READ_ONLY(&of->words[from]) & ~TD_PATH_HOME_HERE : PATH_NO_VERTEX;
            t->edges++;
            brings = !path_is_idle(v, w) && path_brings(s, c, w, e, before, message, &brought);
            if (!brings) brought = path_no_deposit(c);
        }
    }
    if (TD_BALLOT(TD_ALL_LANES, brings) != 0) {
        program_accum sum = path_combine(w, brings, brought, &any, &last);
        if (on && any && last && (here || !path_takes_proxy(s, c, w, sum, t))) triggers = path_put(s, c, w, sum, !here, t);
    }
    if (here && (edge & TD_PATH_LAST_EDGE) != 0) renewed = path_renew(s, c, w, t);
    if (triggers) path_trigger(s, w, t);
    path_spread(s, w, renewed, PATH_NO_VERTEX, t);
}

/* Words that edges enter, a word for every lane: those from `first` on, and the 32 behind them. */
typedef struct path_window {
    uint32_t first, low, high;
} path_window;

TD_DEVICE uint32_t path_word_at(const uint32_t *words, uint32_t i, uint32_t count)
{
    return i < count ? TD_READ_ONLY(&words[i]) : 0;
}

/* The word of number i, at most 62 behind the window's first. All lanes call. */
TD_DEVICE uint32_t path_window_at(path_window window, uint32_t i)
{
    uint32_t low = TD_SHUFFLE(TD_ALL_LANES, window.low, (i - window.first) % TD_WARP);
    uint32_t high = TD_SHUFFLE(TD_ALL_LANES, window.high, (i - window.first) % TD_WARP);
    return i - window.first < TD_WARP ? low : high;
}

/* All lanes call. */
TD_DEVICE void path_walk_edges(const td_path_state *s, const td_context *c, const td_path_pack *of, td_path_tally *t)
{
    const uint32_t *targets = of->words + of->sources, *edges = targets + of->targets;
    uint32_t lane = td_lane(), words = (of->edges + 1) / 2, entered = 0;
    path_window window = {0, path_word_at(targets, lane, of->targets), path_word_at(targets, TD_WARP + lane, of->targets)};
    td_path_state along = *s;
    along.weights = of->weights;
    uint32_t next = path_word_at(edges, lane, words);
    for (uint32_t base = 0; base < of->edges; base += 2 * TD_WARP) {
        uint32_t word = next;
        next = path_word_at(edges, base / 2 + TD_WARP + lane, words);
        for (uint32_t half = 0; half < 2 && base + half * TD_WARP < of->edges; half++) {
            uint32_t e = base + half * TD_WARP + lane, pair = TD_SHUFFLE(TD_ALL_LANES, word, half * TD_WARP / 2 + lane / 2);
            uint32_t edge = pair >> (lane % 2 * 16) & 0xffffu;
            bool on = e < of->edges;
            uint32_t lasts = TD_BALLOT(TD_ALL_LANES, on && (edge & TD_PATH_LAST_EDGE) != 0);
            if (entered >= window.first + TD_WARP) {
                window.first += TD_WARP;
                window.low = window.high;
                window.high = path_word_at(targets, window.first + TD_WARP + lane, of->targets);
            }
            uint32_t target = path_window_at(window, entered + TD_POPCOUNT(lasts & td_lanes_below()));
            path_send_packed(&along, c, of, on, e, edge, target, t);
            entered += TD_POPCOUNT(lasts);
            if (lane == 0) t->lane_slots += TD_WARP;
        }
    }
}

/* Walks a partition while its own walk marks it, PATH_PASSES times at most, or once if its words cross the link; whether it
 * was marked. All lanes call. */
TD_DEVICE bool path_walk_packed(const td_path_state *s, const td_context *c, uint32_t k, td_path_tally *t)
{
    const td_path_pack *of = &s->packs[k];
    uint32_t passes = of->far > 0 ? 1 : PATH_PASSES, pass = 0;
    for (; pass < passes && path_take_mark(s, k); pass++) {
        bool fresh = path_refresh_mirrors(s, c, k, of, t);
        if (fresh) path_walk_edges(s, c, of, t);
        else path_apply_targets(s, c, of, t);
        path_flush(s, c, false, t);
        if (td_lane() > 0) continue;
        t->paths += fresh ? of->paths : 0;
        t->repeats += pass > 0;
        t->fetched += of->far > 0;
        t->crossed += of->far == 0 ? 0 : fresh ? of->far : (of->sources + of->targets) * (uint32_t)sizeof(uint32_t);
    }
    return pass > 0;
}
