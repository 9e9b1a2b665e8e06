/* Walking paths (DiGraph, section 3.2.2), the same on the CPU and on GPUs. Included behind the definitions of
 *   PATH_FN, PATH_NAME(x)                   a function, its name
 *   PATH_GATHER(s, c, message, edge)        program_gather along an edge
 *   PATH_PEEK, PATH_POKE                    values under concurrent access
 *   PATH_ADD, PATH_LOWER, PATH_OR, PATH_AND, PATH_COUNT   atomics (COUNT: adds to a 32-bit word), the old value
 *   PATH_SWAP(place, old, fresh)            whether the value was the old one and is the fresh one now
 *   PATH_FENCE()                            orders writes before it and reads after it
 *   PATH_ORDER()                            orders writes before it and writes after it
 *   PATH_DEPOSITED()                        the same behind an atomic, which may be ordered by itself
 *   PATH_LEVEL(t, level, change)            adds to a level of the tally
 *   PATH_LATE(s, v, t)                      whether the paths of a vertex are marked later, by many threads
 *   PATH_PROXY(s, c, w, brought, t)         whether a proxy has taken a deposit for w
 *   PATH_COLLECT(s, c, v, t)                deposits what a proxy holds for v
 *   PATH_COARSE(s)                          whether marks are those of partitions
 *   PATH_SEVERAL(s)                         whether other GPUs have masters too
 *
 * A value is a function of what was deposited at the vertex, so that it may be computed late, by several threads, or
 * from an older sum: whoever reads the vertex next computes it again. Intended races:
 *   - a thread reads a sum while others add to it: it applies a part of the deposits, and the rest counts as a change
 *     that the vertex still wants, found by the next read or scan;
 *   - a thread reads a message while another applies the vertex: the other one marks the path afterwards. */

/* Marks a path: its bit is set after the values that its walk must see are written. */
PATH_FN void PATH_NAME(mark)(const td_path_state *s, uint32_t bit, td_path_tally *t)
{
    uint32_t mask = UINT32_C(1) << (bit & 31u);
    if ((PATH_PEEK(&s->marks[bit / 32]) & mask) != 0) return;
    (void)PATH_OR(&s->marks[bit / 32], mask); /* a GPU does not wait for an atomic whose result is not used */
    t->marks++;
}

/* Several GPUs. */

PATH_FN bool PATH_NAME(has_bit)(const uint32_t *map, uint32_t v) { return (map[v / 32] >> (v & 31u) & 1u) != 0; }

PATH_FN void PATH_NAME(set_bit)(uint32_t *map, uint32_t v)
{
    uint32_t mask = UINT32_C(1) << (v & 31u);
    if ((PATH_PEEK(&map[v / 32]) & mask) == 0) (void)PATH_OR(&map[v / 32], mask);
}

/* Whether another GPU has the master of a vertex. */
PATH_FN bool PATH_NAME(is_foreign)(const td_path_state *s, uint32_t v)
{
    return PATH_SEVERAL(s) && PATH_NAME(has_bit)(s->foreign, v);
}

/* Whether the deposit at a vertex is to be sent to another GPU; notes it then. */
PATH_FN bool PATH_NAME(is_owed)(const td_path_state *s, uint32_t v)
{
    if (!PATH_NAME(is_foreign)(s, v)) return false;
    PATH_NAME(set_bit)(s->owed, v);
    return true;
}

/* Whether any path reads a vertex. */
PATH_FN bool PATH_NAME(is_read)(const td_path_state *s, uint32_t v)
{
    return PATH_SEVERAL(s) ? PATH_NAME(has_bit)(s->read, v) : s->place_offsets[v] < s->place_offsets[v + 1];
}

/* Has a vertex applied: by the walk of its home path. Without out-edges it is applied when the run ends. */
PATH_FN void PATH_NAME(trigger)(const td_path_state *s, uint32_t v, td_path_tally *t)
{
    if (!PATH_NAME(is_read)(s, v)) return;
    PATH_DEPOSITED(); /* a walk that clears the mark sees the deposit, or the mark is set again */
    PATH_NAME(mark)(s, s->plain ? v : PATH_COARSE(s) ? s->home_partition[v] : s->home[v], t);
}

/* Marks the paths of a vertex's edges, except the one that is being walked: unless it passes twice. */
PATH_FN void PATH_NAME(notify)(const td_path_state *s, uint32_t v, uint32_t walked, td_path_tally *t)
{
    bool passed = PATH_COARSE(s); /* other paths of the partition may be behind with the vertex */
    if (PATH_SEVERAL(s) && !PATH_NAME(is_foreign)(s, v)) PATH_NAME(set_bit)(s->changed, v);
    if (s->plain || PATH_LATE(s, v, t)) return;
    for (uint64_t i = s->place_offsets[v]; i < s->place_offsets[v + 1]; i++) {
        uint32_t bit = s->places[i];
        if (bit != walked || passed) PATH_NAME(mark)(s, bit, t);
        passed |= bit == walked;
    }
    t->notices += s->place_offsets[v + 1] - s->place_offsets[v];
}

#if PROGRAM_PEELS
/* The largest h up to the old bound such that h neighbours have a bound of h or more. */
PATH_FN program_value PATH_NAME(fresh)(const td_path_state *s, const td_context *c, uint32_t v, program_value old,
                                       td_path_tally *t)
{
    uint32_t *count = s->counts + s->count_offsets[v];
    uint32_t most = (uint32_t)c->input[0][v], with = 0, h = most;
    for (; h > 0; h--) {
        with += PATH_PEEK(&count[h]);
        if (with >= h && h <= old) break;
    }
    t->counted += most - h + 1;
    return h < old ? h : old;
}
#else
/* A loop's mirror may be older than the vertex's value, by a round or more: a program that takes the old value off for
 * its loops would take off another one than they brought, and its values could grow without bound. */
PATH_FN program_value PATH_NAME(apply)(const td_context *c, uint32_t v, program_value old, program_accum sum)
{
#if PROGRAM_LOOPLESS
    return program_apply_loopless(c, v, old, sum);
#else
    return program_apply(c, v, old, sum);
#endif
}

PATH_FN program_value PATH_NAME(fresh)(const td_path_state *s, const td_context *c, uint32_t v, program_value old,
                                       td_path_tally *t)
{
    (void)t;
    return PATH_NAME(apply)(c, v, old, PATH_PEEK(&((program_accum *)s->sums)[v]));
}
#endif

/* Whether a change is more than what waits for further deposits. */
PATH_FN bool PATH_NAME(wants)(const td_path_state *s, const td_context *c, program_value fresh, program_value old)
{
    (void)s, (void)c;
#if PROGRAM_MEASURE != TD_MEASURE_NONE
    return program_change(c, fresh, old) > s->least;
#else
#if PROGRAM_HAS_PRIORITY
    if (s->one_over_delta > 0 && program_priority(c, fresh, s->one_over_delta) > s->bound) return false;
#endif
    return fresh < old;
#endif
}

PATH_FN program_message PATH_NAME(message_at)(const td_path_state *s, uint32_t v)
{
#if PROGRAM_SENDS_VALUE
    return PATH_PEEK(&((program_value *)s->values)[v]);
#else
    return PATH_PEEK(&((program_message *)s->messages)[v]);
#endif
}

/* Applies all deposits at once, if they are worth it; true: the vertex has a new value, and its paths are to be marked
 * behind a fence. */
PATH_FN bool PATH_NAME(renew)(const td_path_state *s, const td_context *c, uint32_t v, td_path_tally *t)
{
    program_value *values = (program_value *)s->values;
    if (s->rounds != 0 && PATH_PEEK(&s->rounds[v]) == s->round) return false;
    PATH_COLLECT(s, c, v, t);
    program_value old = PATH_PEEK(&values[v]), fresh = PATH_NAME(fresh)(s, c, v, old, t);
    if (!PATH_NAME(wants)(s, c, fresh, old) || !PATH_SWAP(&values[v], old, fresh)) return false;
    t->updates++;
    if (s->rounds != 0) PATH_POKE(&s->rounds[v], s->round);
#if !PROGRAM_SENDS_VALUE
    uint32_t degree = (uint32_t)(s->out_offsets[v + 1] - s->out_offsets[v]);
    PATH_POKE(&((program_message *)s->messages)[v], program_send(c, fresh, degree));
#endif
    return true;
}

PATH_FN void PATH_NAME(settle)(const td_path_state *s, const td_context *c, uint32_t v, uint32_t walked,
                               td_path_tally *t)
{
    if (!PATH_NAME(renew)(s, c, v, t)) return;
    PATH_FENCE();
    PATH_NAME(notify)(s, v, walked, t);
}

/* The message of a source. The walk of its home path applies its deposits first. */
PATH_FN program_message PATH_NAME(read)(const td_path_state *s, const td_context *c, uint32_t v, uint32_t walked,
                                        td_path_tally *t)
{
    t->reads++;
    if (s->plain || s->home[v] == walked) PATH_NAME(settle)(s, c, v, walked, t);
    return PATH_NAME(message_at)(s, v);
}

/* Deposits along an edge into w. `ends`: the walk does not apply w next, so that it must be triggered. */
#if PROGRAM_PEELS
PATH_FN void PATH_NAME(deposit)(const td_path_state *s, const td_context *c, uint32_t w, uint64_t e,
                                program_message before, program_message message, bool ends, td_path_tally *t)
{
    (void)e;
    uint32_t *count = s->counts + s->count_offsets[w], most = (uint32_t)c->input[0][w];
    uint32_t from = before < most ? before : most, to = message < most ? message : most;
    if (from == to) return;
    PATH_COUNT(&count[to], 1u);
    PATH_ORDER(); /* a reader that misses this neighbour in both bins would take too small a core, for good */
    PATH_COUNT(&count[from], UINT32_MAX);
    if (PATH_NAME(is_owed)(s, w)) return;
    if (ends && to < PATH_PEEK(&((program_value *)s->values)[w])) PATH_NAME(trigger)(s, w, t);
}
#elif PROGRAM_SUM == TD_SUM_MIN
/* Deposits at a master; true: the vertex is to be triggered, if it `ends` a path. */
PATH_FN bool PATH_NAME(put)(const td_path_state *s, const td_context *c, uint32_t w, program_accum brought, bool ends,
                            td_path_tally *t)
{
    (void)c;
    t->deposits++;
    PATH_LOWER(&((program_accum *)s->sums)[w], brought);
    return ends && !PATH_NAME(is_owed)(s, w); /* also beyond the bound: a group of a later layer may have none */
}

/* A deposit is worth it if it is less than the vertex's value and than all deposits before. A vertex beyond the bound keeps
 * its value, and an equal deposit would mark its home once more in every walk. */
PATH_FN bool PATH_NAME(brings)(const td_path_state *s, const td_context *c, uint32_t w, uint64_t e,
                               program_message before, program_message message, program_accum *brought)
{
    (void)before, (void)e;
    *brought = PATH_GATHER(s, c, message, e);
    if (*brought >= PATH_PEEK(&((program_value *)s->values)[w])) return false;
    return *brought < PATH_PEEK(&((program_accum *)s->sums)[w]);
}
#else
PATH_FN bool PATH_NAME(put)(const td_path_state *s, const td_context *c, uint32_t w, program_accum change, bool ends,
                            td_path_tally *t)
{
    t->deposits++;
    program_accum sum = PATH_ADD(&((program_accum *)s->sums)[w], change) + change;
    if (!ends || PATH_NAME(is_owed)(s, w)) return false;
    program_value old = PATH_PEEK(&((program_value *)s->values)[w]);
    return PATH_NAME(wants)(s, c, PATH_NAME(apply)(c, w, old, sum), old);
}

PATH_FN bool PATH_NAME(brings)(const td_path_state *s, const td_context *c, uint32_t w, uint64_t e,
                               program_message before, program_message message, program_accum *change)
{
    (void)s, (void)w, (void)e;
    *change = PATH_GATHER(s, c, message, e) - PATH_GATHER(s, c, before, e);
    return true;
}
#endif

#if !PROGRAM_PEELS
PATH_FN void PATH_NAME(receive)(const td_path_state *s, const td_context *c, uint32_t w, program_accum brought, bool ends,
                                td_path_tally *t)
{
    if (PATH_NAME(put)(s, c, w, brought, ends, t)) PATH_NAME(trigger)(s, w, t);
}

PATH_FN void PATH_NAME(deposit)(const td_path_state *s, const td_context *c, uint32_t w, uint64_t e,
                                program_message before, program_message message, bool ends, td_path_tally *t)
{
    program_accum brought;
    if (!PATH_NAME(brings)(s, c, w, e, before, message, &brought)) return;
    if (!ends || !PATH_PROXY(s, c, w, brought, t)) PATH_NAME(receive)(s, c, w, brought, ends, t);
}
#endif

/* Whether the edge is a loop of a program whose loops do not count. */
PATH_FN bool PATH_NAME(is_idle)(uint32_t v, uint32_t w) { return (PROGRAM_PEELS || PROGRAM_LOOPLESS) && v == w; }

/* Sends the message along edge e from v to w, unless the edge's mirror has it. */
PATH_FN void PATH_NAME(send)(const td_path_state *s, const td_context *c, uint32_t v, uint32_t w, uint64_t e,
                             program_message message, program_message *mirror, bool ends, td_path_tally *t)
{
    program_message before = PATH_PEEK(mirror);
    if (before == message) return;
    PATH_POKE(mirror, message);
    t->edges++;
    if (PATH_NAME(is_idle)(v, w)) return;
    PATH_NAME(deposit)(s, c, w, e, before, message, ends, t);
}

/* Walks one path: a new value travels its whole length. The first edge is number `edge`. */
PATH_FN void PATH_NAME(walk)(const td_path_state *s, const td_context *c, const uint32_t *path, uint32_t edges,
                             uint64_t edge, uint32_t bit, td_path_tally *t)
{
    program_message *sent = (program_message *)s->sent + edge, *back = (program_message *)s->sent_back + edge;
    uint32_t v = path[0], w;
    for (uint32_t i = 0; i < edges; i++, v = w) {
        w = path[i + 1];
        program_message message = PATH_NAME(read)(s, c, v, bit, t);
        PATH_NAME(send)(s, c, v, w, edge + i, message, &sent[i], s->home[w] != bit, t);
    }
    if (!s->back && s->home[v] == bit) PATH_NAME(settle)(s, c, v, UINT32_MAX, t); /* all paths into v are walked */
    for (uint32_t i = edges; s->back && i > 0; i--, v = w) {
        w = path[i - 1];
        if (s->home[v] == bit) PATH_NAME(settle)(s, c, v, UINT32_MAX, t); /* its edges on this path too were walked */
        program_message message = PATH_NAME(message_at)(s, v);
        t->reads++;
        PATH_NAME(send)(s, c, v, w, edge + i - 1, message, &back[i - 1], i == 1 || s->home[w] != bit, t);
    }
    t->paths++;
    t->loaded += edges;
}

/* Walks path number `path` of a partition. */
PATH_FN void PATH_NAME(walk_path)(const td_path_state *s, const td_context *c, uint32_t k, uint32_t path,
                                  td_path_tally *t)
{
    const td_path_partition *of = &s->partition[k];
    uint32_t begin = s->starts[of->first_path + path],
             end = path + 1 < of->paths ? s->starts[of->first_path + path + 1] : of->entries;
    uint64_t first = of->first_entry + begin;
    PATH_NAME(walk)(s, c, s->entries + first, end - begin - 1, first - (of->first_path + path),
                    32 * s->first_word[k] + path, t);
}

/* The same if it is marked. The mark is cleared before values are read. */
PATH_FN void PATH_NAME(walk_marked)(const td_path_state *s, const td_context *c, uint32_t k, uint32_t path,
                                    td_path_tally *t)
{
    uint32_t bit = 32 * s->first_word[k] + path, mask = UINT32_C(1) << (bit & 31u);
    if ((PATH_PEEK(&s->marks[bit / 32]) & mask) == 0) return;
    (void)PATH_AND(&s->marks[bit / 32], ~mask);
    PATH_FENCE();
    PATH_NAME(walk_path)(s, c, k, path, t);
}

/* The plain variant: a vertex pushes along every step-th edge of a list, which begins with edge number `begin`. */
PATH_FN void PATH_NAME(push_list)(const td_path_state *s, const td_context *c, uint32_t v, const uint32_t *targets,
                                  uint64_t begin, uint64_t end, uint32_t step, program_message before,
                                  program_message message, td_path_tally *t)
{
    uint64_t edges = begin < end ? (end - begin + step - 1) / step : 0;
    for (uint64_t e = begin; e < end; e += step)
        if (!PATH_NAME(is_idle)(v, targets[e])) PATH_NAME(deposit)(s, c, targets[e], e, before, message, true, t);
    t->loaded += edges;
    t->edges += edges;
}

/* The level of a change: its power of two. */
PATH_FN uint32_t PATH_NAME(level)(double change)
{
    uint32_t power = td_float_to_bits((float)change) >> 23, lowest = 127 - TD_PATH_LEVELS;
    uint32_t level = power < lowest ? 0 : power - lowest;
    return level < TD_PATH_LEVELS ? level : TD_PATH_LEVELS - 1;
}

/* Measures the change that a vertex still wants, and triggers it if that is above the threshold. Vertices that nothing
 * reads are applied at the end. */
PATH_FN void PATH_NAME(scan)(const td_path_state *s, const td_context *c, uint32_t v, td_path_tally *t)
{
    if (!s->all && !PATH_NAME(is_read)(s, v)) return;
    program_value old = PATH_PEEK(&((program_value *)s->values)[v]), fresh = PATH_NAME(fresh)(s, c, v, old, t);
    t->scanned++;
#if PROGRAM_MEASURE != TD_MEASURE_NONE
    double change = program_change(c, fresh, old);
    t->magnitude += change;
    t->moved += (double)fresh - (double)old;
    t->value += (double)old;
    t->fresh += (double)fresh;
    PATH_LEVEL(t, PATH_NAME(level)(change), change);
    if (PROGRAM_MEASURE == TD_MEASURE_SUM) t->residual += change;
    else t->residual = td_larger_change(t->residual, change);
#elif PROGRAM_HAS_PRIORITY
    if (s->one_over_delta > 0 && fresh < old)
        t->residual = td_larger_change(t->residual, td_path_nearness(program_priority(c, fresh, s->one_over_delta)));
#endif
    if (!PATH_NAME(wants)(s, c, fresh, old)) return;
    t->wanting++;
    t->reach += s->place_offsets[v + 1] - s->place_offsets[v];
    PATH_NAME(trigger)(s, v, t);
}

/* Applies a vertex that no path of its group enters, before any of them is walked: all that leave it read one value. */
PATH_FN void PATH_NAME(open)(const td_path_state *s, const td_context *c, uint32_t v, td_path_tally *t)
{
    t->scanned++;
    PATH_NAME(settle)(s, c, v, UINT32_MAX, t);
}

/* The values before the first deposit, and the paths that must be walked first. */
PATH_FN void PATH_NAME(start)(const td_path_state *s, const td_context *c, uint32_t v, td_path_tally *t)
{
    uint32_t degree = (uint32_t)(s->out_offsets[v + 1] - s->out_offsets[v]);
    program_value value = program_init(c, v, degree);
    ((program_value *)s->values)[v] = value;
#if !PROGRAM_SENDS_VALUE
    ((program_message *)s->messages)[v] = program_send(c, value, degree);
#endif
#if PROGRAM_PEELS
    uint32_t most = (uint32_t)c->input[0][v];
    uint32_t counted = PATH_NAME(is_foreign)(s, v) ? 0 : most; /* by its master */
    for (uint32_t h = 0; h <= most; h++) s->counts[s->count_offsets[v] + h] = h == most ? counted : 0;
    bool starts = true;
#else
    ((program_accum *)s->sums)[v] = program_zero(c);
    bool starts = program_starts(c, v, value);
#endif
    if (!starts) return;
    if (s->plain) PATH_NAME(trigger)(s, v, t);
    else PATH_NAME(notify)(s, v, UINT32_MAX, t);
}

/* What the mirrors hold before the first walk: a message that deposits nothing. */
PATH_FN program_message PATH_NAME(nothing)(const td_context *c)
{
    (void)c;
#if PROGRAM_PEELS
    return UINT32_MAX;
#elif PROGRAM_SUM == TD_SUM_MIN
    return program_zero(c);
#else
    return 0;
#endif
}

/* Applies a vertex that no path reads: once, when all others are final. */
PATH_FN void PATH_NAME(finish)(const td_path_state *s, const td_context *c, uint32_t v, td_path_tally *t)
{
    program_value old = ((program_value *)s->values)[v];
    if (PATH_NAME(is_read)(s, v)) return;
    program_value fresh = PATH_NAME(fresh)(s, c, v, old, t);
    if (fresh == old) return;
    ((program_value *)s->values)[v] = fresh;
    t->updates++;
}

#if PROGRAM_MEASURE != TD_MEASURE_NONE
/* Multiplies the value of a vertex that is read: an update like any other. */
PATH_FN void PATH_NAME(balance)(const td_path_state *s, const td_context *c, uint32_t v, td_path_tally *t)
{
    program_value *value = (program_value *)s->values + v;
    if (!PATH_NAME(is_read)(s, v)) return;
    *value = (program_value)(s->scale * (double)*value);
    t->updates++;
#if !PROGRAM_SENDS_VALUE
    uint32_t degree = (uint32_t)(s->out_offsets[v + 1] - s->out_offsets[v]);
    ((program_message *)s->messages)[v] = program_send(c, *value, degree);
#endif
    (void)c;
    PATH_NAME(notify)(s, v, UINT32_MAX, t);
}
#endif

#if PROGRAM_LINEAR && PROGRAM_SHARES
/* The sums from which the scale of the values follows: the run computes without what all vertices share. */
PATH_FN void PATH_NAME(total)(const td_path_state *s, const td_context *c, uint32_t v, td_path_tally *t)
{
    uint32_t degree = (uint32_t)(s->out_offsets[v + 1] - s->out_offsets[v]);
    td_context whole = *c;
    whole.global = 1;
    t->share += program_share(c, v, ((program_value *)s->values)[v], degree);
    t->offset += program_offset(c, v);
    t->answer += program_answer(&whole, v, 0);
}

/* Scales a value; `c` has the share. Adds to the residual over all vertices. */
PATH_FN void PATH_NAME(rescale)(const td_path_state *s, const td_context *c, uint32_t v, bool store, td_path_tally *t)
{
    program_value *value = (program_value *)s->values + v, old = (program_value)(s->scale * (double)*value);
    program_value fresh = program_apply(c, v, old, s->scale * ((program_accum *)s->sums)[v]);
    t->scanned++;
    t->residual += program_change(c, fresh, old);
    if (store) *value = old;
}
#endif
