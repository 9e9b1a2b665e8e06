/* A warp walks the marked paths of a partition (paths.h; kernels/path_walk.h has what happens at a vertex).
 *
 * Words of 32 marks are taken at a time, a word for every lane; the lanes then take one marked path each, in the order of
 * storage, and the next one when theirs ends (`pack`), so that most lanes have an edge in every step and neighbouring lanes
 * read neighbouring entries, mirrors and weights. In a step every lane walks one edge:
 *
 *   apply the source, if this is its home path -> compare its message with the mirror -> add up what the lanes bring for
 *   one vertex -> the last of them deposits it -> apply the end of the path -> a fence -> mark the paths of what changed
 *
 * Paths of a partition are in the order of their last vertices, so that the lanes that bring something for one vertex are
 * neighbours, and one atomic has the sum of all. The home path of a vertex is the last of those that end there: its lane
 * makes the deposit and sees the whole sum. The lanes of a warp mark the paths of a changed vertex together.
 *
 * A mirror is accessed by the warp alone that has its partition; two lanes of it in two passes, with barriers of the warp
 * in between. */

/* The lane's place on its path. */
typedef struct path_cursor {
    uint64_t entry, edge;
    uint32_t left; /* edges to walk; 0: it has no path */
    uint32_t vertex, bit;
    bool first;    /* at the first vertex of the path */
} path_cursor;

/* The marked paths that the warp takes from: a word for every lane, and the marks in the words of the lanes below. */
typedef struct path_words {
    uint32_t first;        /* number of the path of lane 0's first bit, in the partition */
    uint32_t word, before, total, taken;
} path_words;

/* Passes over a partition while its own walk marks paths in it: the home paths of what it deposits at. */
enum { PATH_PASSES = 4 };

/* The n-th bit that is set, from 0 on. */
TD_DEVICE uint32_t path_bit_of(uint32_t word, uint32_t n)
{
    uint32_t at = 0;
    TD_UNROLL
    for (uint32_t by = 16; by > 0; by /= 2) {
        uint32_t below = TD_POPCOUNT(word & ((1u << by) - 1));
        if (n < below) continue;
        n -= below;
        word >>= by;
        at += by;
    }
    return at;
}

/* The bits of a word of marks that are paths. */
TD_DEVICE uint32_t path_valid(const td_path_partition *of, uint32_t first)
{
    uint32_t left = first < of->paths ? of->paths - first : 0;
    return left >= 32 ? 0xffffffffu : (1u << left) - 1;
}

/* Idle lanes take the next marked paths. With `pack` every idle lane does; without it the paths of one word are taken, a
 * path by the lane of its bit, when all lanes are idle. All lanes call. */
TD_DEVICE void path_refill(const td_path_state *s, uint32_t k, path_words *words, bool pack, path_cursor *at)
{
    const td_path_partition *of = &s->partition[k];
    uint32_t idle = TD_BALLOT(TD_ALL_LANES, at->left == 0);
    if (words->taken == words->total || (pack ? idle == 0 : idle != TD_ALL_LANES)) return;
    uint32_t i = words->taken + (pack ? TD_POPCOUNT(idle & td_lanes_below()) : 0);
    uint32_t lane = owner_of(words->before, i < words->total ? i : words->total - 1);
    uint32_t word = TD_SHUFFLE(TD_ALL_LANES, words->word, lane), before = TD_SHUFFLE(TD_ALL_LANES, words->before, lane);
    bool takes = at->left == 0 && i < words->total;
    uint32_t bit = td_lane();
    if (pack) {
        if (takes) bit = path_bit_of(word, i - before);
        words->taken += TD_POPCOUNT(idle);
        if (words->taken > words->total) words->taken = words->total;
    } else {
        takes = (word >> td_lane() & 1u) != 0;
        words->taken += TD_POPCOUNT(word);
    }
    if (!takes) return;
    uint32_t path = words->first + 32 * lane + bit, begin = s->starts[of->first_path + path],
             end = path + 1 < of->paths ? s->starts[of->first_path + path + 1] : of->entries;
    at->entry = of->first_entry + begin;
    at->edge = at->entry - (of->first_path + path);
    at->left = end - begin - 1;
    at->vertex = s->entries[at->entry];
    at->bit = 32 * s->first_word[k] + path;
    at->first = true;
}

/* Whether the lane's path is the home of the vertex that it is at. Of first vertices few are: their paths are in a
 * bitmap, which is read by neighbouring lanes in one access. */
TD_DEVICE bool path_is_home(const td_path_state *s, const path_cursor *at)
{
    if (at->first && s->opens != 0 && (s->opens[at->bit / 32] >> (at->bit & 31u) & 1u) == 0) return false;
    return s->home[at->vertex] == at->bit;
}

/* Marks the paths of the vertices that lanes have renewed, except those that the lanes are walking: unless they pass
 * twice. All lanes call. */
TD_DEVICE void path_notify_warp(const td_path_state *s, uint32_t v, bool renewed, uint32_t walked, td_path_tally *t)
{
    if (TD_BALLOT(TD_ALL_LANES, renewed) == 0) return;
    uint64_t begin = 0;
    uint32_t count = 0, total;
    if (renewed) {
        begin = s->place_offsets[v];
        uint64_t all = s->place_offsets[v + 1] - begin;
        count = all < TD_PATH_LATE ? (uint32_t)all : 0;
        if (all >= TD_PATH_LATE) path_notify(s, v, walked, t); /* listed: a block marks them */
        else if (PATH_SEVERAL(s) && !path_is_foreign(s, v)) path_set_bit(s->changed, v);
        t->notices += count;
    }
    uint32_t before = warp_scan(count, &total);
    for (uint32_t base = 0; base < total; base += TD_WARP) {
        uint32_t i = base + td_lane(), lane = owner_of(before, i < total ? i : total - 1);
        uint64_t first = TD_SHUFFLE(TD_ALL_LANES, begin, lane);
        uint32_t of = TD_SHUFFLE(TD_ALL_LANES, before, lane), own = TD_SHUFFLE(TD_ALL_LANES, walked, lane);
        if (i >= total) continue;
        uint64_t place = first + (i - of);
        uint32_t bit = s->places[place];
        if (bit == own && !(place > first && s->places[place - 1] == bit)) continue;
        path_mark(s, bit, t);
    }
}

/* The sum of what a lane and the lanes below it bring for the same vertex, and whether any of them brings something.
 * `last`: no lane above does. All lanes call. */
TD_DEVICE program_accum path_combine(uint32_t w, bool brings, program_accum brought, bool *any, bool *last)
{
    uint32_t lane = td_lane(), lower = TD_SHUFFLE_UP(TD_ALL_LANES, w, 1);
    uint32_t heads = TD_BALLOT(TD_ALL_LANES, lane == 0 || lower != w), bringing = TD_BALLOT(TD_ALL_LANES, brings);
    uint32_t below = td_lanes_below() | 1u << lane, head = 0;
    for (uint32_t rest = heads & below, by = 16; by > 0; by /= 2) /* the highest bit: where this vertex's lanes begin */
        if (rest >> by != 0) rest >>= by, head += by;
    if (heads != TD_ALL_LANES)
        for (uint32_t by = 1; by < TD_WARP; by *= 2) {
            program_accum other = TD_SHUFFLE_UP(TD_ALL_LANES, brought, by);
            if (lane >= head + by) brought = PROGRAM_SUM == TD_SUM_MIN && other > brought ? brought
                                           : PROGRAM_SUM == TD_SUM_MIN ? other : brought + other;
        }
    *any = (bringing & below & ~((1u << head) - 1)) != 0;
    *last = lane == TD_WARP - 1 || (heads >> (lane + 1) & 1u) != 0;
    return brought;
}

/* Every lane with a path walks one edge. All lanes call. */
TD_DEVICE void path_step(const td_path_state *s, const td_context *c, bool quiet, path_cursor *at, td_path_tally *t)
{
    bool on = at->left > 0, renewed = false, ended = false, brings = false, ends = true, triggers = false, any, last;
    program_accum brought = path_no_deposit(c);
    uint32_t v = at->vertex, w = PATH_NO_VERTEX, home = 0;
    if (on) {
        w = s->entries[at->entry + 1];
        home = s->home[w];
        ends = home != at->bit;
        program_message *mirror = (program_message *)s->sent + at->edge, before = PATH_PEEK(mirror);
        if (path_is_home(s, at)) renewed = path_renew(s, c, v, t);
        program_message message = path_message_at(s, v);
        t->reads++;
        t->loaded++;
        if (before != message) {
            PATH_POKE(mirror, message);
            t->edges++;
            brings = !path_is_idle(v, w) && path_brings(s, c, w, at->edge, before, message, &brought);
            if (!brings) brought = path_no_deposit(c);
        }
    }
    if (TD_BALLOT(TD_ALL_LANES, brings) != 0) {
        program_accum sum = path_combine(w, brings, brought, &any, &last);
        if (on && any && last && !(ends && path_takes_proxy(s, c, w, sum, t))) triggers = path_put(s, c, w, sum, ends, t);
    }
    if (on && at->left == 1 && !ends) ended = path_renew(s, c, w, t); /* all paths into it are walked */
    if (TD_BALLOT(TD_ALL_LANES, renewed || ended || triggers) != 0 && !quiet) {
        TD_FENCE(); /* a walk that clears a mark sees what was deposited and sent, or the mark is set again */
        if (triggers && (PATH_SEVERAL(s) ? path_is_read(s, w) : home != PATH_NO_VERTEX)) path_mark(s, home, t);
        path_notify_warp(s, v, renewed, at->bit, t);
        path_notify_warp(s, w, ended, PATH_NO_VERTEX, t);
    }
    if (!on) return;
    at->vertex = w;
    at->entry++;
    at->edge++;
    at->left--;
    at->first = false;
    t->paths += at->left == 0;
}

/* Walks the marked paths of a partition; `dense`: all of them, and without marking others. All lanes call. */
TD_DEVICE void path_walk_warp(const td_path_state *s, const td_context *c, uint32_t k, bool dense, bool pack,
                              td_path_tally *t)
{
    const td_path_partition *of = &s->partition[k];
    uint32_t first = s->first_word[k], end = s->first_word[k + 1], found = 1;
    for (uint32_t pass = 0; found != 0 && pass < (dense ? 1 : PATH_PASSES); pass++) {
        found = 0;
        for (uint32_t base = first; base < end; base += TD_WARP) {
            path_words words = {32 * (base - first), 0, 0, 0, 0};
            path_cursor at = {0};
            if (base + td_lane() < end) {
                uint32_t *place = &s->marks[base + td_lane()];
                words.word = TD_PEEK(place);
                if (words.word != 0) words.word = TD_EXCHANGE(place, 0u);
                if (dense) words.word = path_valid(of, words.first + 32 * td_lane());
            }
            words.before = warp_scan(TD_POPCOUNT(words.word), &words.total);
            if (words.total == 0) continue;
            found = 1;
            TD_FENCE(); /* marks are cleared before values are read */
            TD_WARP_BARRIER(TD_ALL_LANES);
            for (;;) {
                path_refill(s, k, &words, pack, &at);
                if (TD_BALLOT(TD_ALL_LANES, at.left > 0) == 0) break;
                path_step(s, c, dense, &at, t);
                if (td_lane() == 0) t->lane_slots += TD_WARP;
            }
        }
        if (found != 0) path_flush(s, c, dense, t);
    }
}
