/* Paths on GPUs (kernels/path_walk.h; DiGraph, section 3.2.2): a warp takes a partition, a lane walks its marked paths in
 * order, and every new value is used at once, by this lane's next edge and by whichever thread reads it next.
 *
 * The races that path_walk.h intends are on the masters: `sums`, `counts`, `values`, `messages`, and on `marks`. All of
 * them are accessed by PATH_PEEK, PATH_POKE and atomics. A mirror is accessed by the lane alone that walks its path. */

#define PATH_FN TD_DEVICE
#define PATH_NAME(x) path_##x
#define PATH_GATHER(s, c, message, e) contribution_by((s)->weight_kind, (c), (message), (s)->weights, (e))
#define PATH_PEEK(place) TD_PEEK(place)
#define PATH_POKE(place, value) TD_POKE(place, value)
#define PATH_SWAP(place, old, fresh) TD_SWAP_VALUE(place, old, fresh)
#define PATH_ADD(place, value) TD_ADD(place, value)
#define PATH_LOWER(place, value) TD_LOWER(place, value)
#define PATH_OR(place, bits) TD_OR(place, bits)
#define PATH_AND(place, bits) TD_AND(place, bits)
#define PATH_COUNT(place, more) TD_ADD(place, more)
#define PATH_FENCE() TD_FENCE()
#define PATH_ORDER() TD_FENCE()
#define PATH_DEPOSITED() TD_FENCE()
#define PATH_LEVEL(t, level, change) path_add_level((t), (level), (change))
#define PATH_COARSE(s) ((s)->coarse)
#define PATH_SEVERAL(s) ((s)->foreign != 0)
#define PATH_LATE(s, v, t) path_is_late((s), (v), (t))
#if PROGRAM_PEELS
#define PATH_PROXY(s, c, w, brought, t) false
#define PATH_COLLECT(s, c, v, t) ((void)0)
#else
#define PATH_PROXY(s, c, w, brought, t) path_takes_proxy((s), (c), (w), (brought), (t))
#define PATH_COLLECT(s, c, v, t) path_collect((s), (c), (v), (t))
#endif

/* The levels of a block's changes are counted in shared memory in parts of 1/256 of their power of two: whole numbers,
 * because many lanes add to one level at a time. The last level has no upper end; the first is below every threshold. */
enum { PATH_LEVEL_PARTS = 256 };
TD_DEVICE uint32_t *path_level_parts(td_path_tally *block) { return (uint32_t *)(void *)block->levels; }

TD_DEVICE void path_add_level(td_path_tally *t, uint32_t level, double change)
{
    double power = td_bits_to_double((uint64_t)(1023 + TD_PATH_LEVELS - level) << 52);
    if (level == 0) return;
    if (level == TD_PATH_LEVELS - 1) TD_ADD(&t->block->levels[level], change);
    else TD_ADD(path_level_parts(t->block) + level, (uint32_t)(change * power * PATH_LEVEL_PARTS));
}

/* A vertex with many edges: one thread would mark their paths for a long time. It is listed, and path_notices marks. */
TD_DEVICE bool path_is_late(const td_path_state *s, uint32_t v, td_path_tally *t)
{
    if (s->late == 0 || s->place_offsets[v + 1] - s->place_offsets[v] < TD_PATH_LATE) return false;
    uint32_t at = TD_ADD(s->late_count, 1u);
    if (at >= s->late_room) return false; /* listed several times; path_notices knows the room */
    s->late[at] = v;
    t->late++;
    return true;
}

/* Proxies (DiGraph, section 3.2.2): deposits of a warp for vertices of high in-degree are gathered in shared memory, and
 * deposited when the warp's partition ends, or before a lane of the warp applies the vertex. A vertex has one slot, which
 * another one may hold: then its deposits go to the master. */
#define PATH_NO_VERTEX 0xffffffffu
typedef struct td_path_proxies {
    uint32_t vertex[TD_PATH_SLOTS];
    program_accum sum[TD_PATH_SLOTS];
} td_path_proxies;

#if !PROGRAM_PEELS
TD_DEVICE program_accum path_no_deposit(const td_context *c)
{
    (void)c;
#if PROGRAM_SUM == TD_SUM_MIN
    return program_zero(c);
#else
    return 0;
#endif
}

TD_DEVICE uint32_t path_slot(uint32_t v) { return (v ^ v / TD_PATH_SLOTS) % TD_PATH_SLOTS; }

TD_DEVICE bool path_takes_proxy(const td_path_state *s, const td_context *c, uint32_t w, program_accum brought,
                                td_path_tally *t)
{
    (void)c;
    if (t->proxies == 0 || !bit_of(s->hubs, w)) return false;
    uint32_t slot = path_slot(w), *held = &t->proxies->vertex[slot];
    if (TD_PEEK(held) != w && (TD_PEEK(held) != PATH_NO_VERTEX || !TD_SWAP_VALUE(held, PATH_NO_VERTEX, w))) return false;
#if PROGRAM_SUM == TD_SUM_MIN
    TD_LOWER(&t->proxies->sum[slot], brought);
#else
    TD_ADD(&t->proxies->sum[slot], brought);
#endif
    t->proxied++;
    return true;
}

/* Empties a slot; returns what it held. */
TD_DEVICE program_accum path_take(td_path_proxies *proxies, uint32_t slot, const td_context *c)
{
    program_accum held;
    do held = TD_PEEK(&proxies->sum[slot]);
    while (!TD_SWAP_VALUE(&proxies->sum[slot], held, path_no_deposit(c)));
    return held;
}

TD_DEVICE void path_collect(const td_path_state *s, const td_context *c, uint32_t v, td_path_tally *t);
#endif

#include "kernels/path_walk.h"

#if !PROGRAM_PEELS
TD_DEVICE void path_collect(const td_path_state *s, const td_context *c, uint32_t v, td_path_tally *t)
{
    if (t->proxies == 0 || TD_PEEK(&t->proxies->vertex[path_slot(v)]) != v) return;
    program_accum held = path_take(t->proxies, path_slot(v), c);
    if (held != path_no_deposit(c)) path_receive(s, c, v, held, false, t);
}

/* The partition ends: everything goes to the masters. `quiet`: without a mark. All lanes call. */
TD_DEVICE void path_flush(const td_path_state *s, const td_context *c, bool quiet, td_path_tally *t)
{
    TD_WARP_BARRIER(TD_ALL_LANES);
    for (uint32_t slot = td_lane(); t->proxies != 0 && slot < TD_PATH_SLOTS; slot += TD_WARP) {
        uint32_t v = TD_PEEK(&t->proxies->vertex[slot]);
        if (v == PATH_NO_VERTEX) continue;
        program_accum held = path_take(t->proxies, slot, c);
        TD_POKE(&t->proxies->vertex[slot], PATH_NO_VERTEX);
        if (held != path_no_deposit(c)) path_receive(s, c, v, held, !quiet, t);
    }
    TD_WARP_BARRIER(TD_ALL_LANES);
}

TD_DEVICE void path_clear_proxies(td_path_proxies *proxies, const td_context *c)
{
    for (uint32_t slot = td_lane(); slot < TD_PATH_SLOTS; slot += TD_WARP) {
        TD_POKE(&proxies->vertex[slot], PATH_NO_VERTEX);
        TD_POKE(&proxies->sum[slot], path_no_deposit(c));
    }
    TD_WARP_BARRIER(TD_ALL_LANES);
}
#else
TD_DEVICE void path_flush(const td_path_state *s, const td_context *c, bool quiet, td_path_tally *t)
{
    (void)s, (void)c, (void)quiet, (void)t;
}
TD_DEVICE void path_clear_proxies(td_path_proxies *proxies, const td_context *c) { (void)proxies, (void)c; }
#endif

/* The counters of a block, in shared memory: set to zero, and added to the launch's. All threads call. */
TD_DEVICE td_path_tally path_begin_tally(td_path_tally *block)
{
    td_path_tally mine = {0};
    uint64_t *words = (uint64_t *)block;
    for (uint32_t i = td_thread(); i < sizeof *block / sizeof *words; i += td_threads()) TD_STORE(&words[i], (uint64_t)0);
    TD_BARRIER();
    mine.block = block;
    return mine;
}

/* Adds a count of all lanes: the lanes' own are small, so that 32 bits hold the sum of a warp's, or 64 do. */
TD_DEVICE void path_add_count(uint64_t *word, uint64_t mine)
{
    if (TD_BALLOT(TD_ALL_LANES, mine != 0) == 0) return;
    uint64_t sum = TD_BALLOT(TD_ALL_LANES, mine >> 26 != 0) == 0 ? TD_WARP_SUM((uint32_t)mine) : warp_sum_u64(mine);
    if (td_lane() == 0) TD_ADD(word, sum);
}

TD_DEVICE void path_add_real(double *word, double mine)
{
    if (TD_BALLOT(TD_ALL_LANES, mine != 0) == 0) return;
    mine = warp_sum_double(mine);
    if (td_lane() == 0) TD_ADD(word, mine);
}

TD_DEVICE void path_end_tally(const td_path_tally *mine, td_path_tally *sum)
{
    td_path_tally *block = mine->block;
#define ADD(field) path_add_count(&block->field, mine->field);
    TD_PATH_COUNTS(ADD)
#undef ADD
#define ADD(field) path_add_real(&block->field, mine->field);
    TD_PATH_SUMS(ADD)
#undef ADD
    if (PROGRAM_MEASURE != TD_MEASURE_SUM) {
        double most = warp_max_double(mine->residual);
        if (td_lane() == 0) raise_double(&block->residual, most);
    } else {
        path_add_real(&block->residual, mine->residual);
    }
    TD_BARRIER();
    if (td_thread() < TD_PATH_LEVELS - 1) {
        uint32_t parts = TD_PEEK(path_level_parts(block) + td_thread());
        double power = td_bits_to_double((uint64_t)(1023 - TD_PATH_LEVELS + td_thread()) << 52);
        if (parts > 0) TD_ADD(&sum->levels[td_thread()], power * parts / PATH_LEVEL_PARTS);
    } else if (td_thread() == TD_PATH_LEVELS - 1 && TD_PEEK(&block->levels[td_thread()]) != 0) {
        TD_ADD(&sum->levels[td_thread()], TD_PEEK(&block->levels[td_thread()]));
    }
    if (td_thread() > 0) return;
#define ADD(field) \
    if (TD_PEEK(&block->field) != 0) TD_ADD(&sum->field, TD_PEEK(&block->field));
    TD_PATH_COUNTS(ADD)
    TD_PATH_SUMS(ADD)
#undef ADD
    if (PROGRAM_MEASURE != TD_MEASURE_SUM) raise_double(&sum->residual, TD_PEEK(&block->residual));
    else TD_ADD(&sum->residual, TD_PEEK(&block->residual));
}

/* One step over vertices: units are vertices, or positions in a list of vertices. */
#define PATH_STEP(name, call)                                                                       \
    TD_KERNEL(name, td_paths_args)                                                                  \
    {                                                                                               \
        TD_SHARED(td_path_tally, block, 1);                                                         \
        const td_context context = kernel_context(&a.state), *c = &context;                         \
        const td_path_state *s = &a.paths;                                                          \
        td_path_tally tally = path_begin_tally(block), *t = &tally;                                 \
        for (uint64_t i = td_global_thread(); i < a.units; i += td_global_threads()) {              \
            uint32_t v = a.list != 0 ? TD_READ_ONLY(&a.list[i]) : (uint32_t)i;                      \
            call;                                                                                   \
        }                                                                                           \
        path_end_tally(&tally, a.tally);                                                            \
    }
PATH_STEP(path_starts, path_start(s, c, v, t))
PATH_STEP(path_opens, path_open(s, c, v, t))
PATH_STEP(path_scans, path_scan(s, c, v, t))
PATH_STEP(path_finishes, path_finish(s, c, v, t))
#if PROGRAM_MEASURE != TD_MEASURE_NONE
PATH_STEP(path_balances, path_balance(s, c, v, t))
#endif
#if PROGRAM_LINEAR && PROGRAM_SHARES
PATH_STEP(path_totals, path_total(s, c, v, t))
PATH_STEP(path_rescales, path_rescale(s, c, v, a.stores, t))
#endif
#undef PATH_STEP

/* Units: mirrors. */
TD_KERNEL(path_clears, td_paths_args)
{
    program_message nothing = path_nothing(&a.state.context);
    for (uint64_t e = td_global_thread(); e < a.units; e += td_global_threads()) {
        ((program_message *)a.paths.sent)[e] = nothing;
        if (a.paths.sent_back != 0) ((program_message *)a.paths.sent_back)[e] = nothing;
    }
}

/* The class of a partition in the order of Pri(p): within a group that is the order of its degree times its marked paths.
 * The first class is the highest. */
TD_DEVICE uint32_t path_class(float degree, uint32_t marked)
{
    uint32_t step = (td_float_to_bits(degree * (float)marked + 1.0f) - td_float_to_bits(1.0f)) >> 22;
    return TD_PATH_CLASSES - 1 - (step < TD_PATH_CLASSES ? step : TD_PATH_CLASSES - 1);
}

/* Counts the partitions of a span with marked paths, by class. */
TD_DEVICE void path_rank_span(const td_path_state *s, const td_path_span *span)
{
    for (uint32_t i = td_global_thread(); i < span->partitions; i += td_global_threads()) {
        uint32_t k = span->first_partition + i, marked = 0;
        for (uint32_t w = s->first_word[k]; w < s->first_word[k + 1]; w++) marked += TD_POPCOUNT(s->marks[w]);
        uint32_t rank = marked > 0 ? path_class(s->partition[k].degree, marked) : TD_PATH_CLASSES;
        span->ranks[i] = (uint8_t)rank;
        if (marked > 0) TD_ADD(&span->classes[rank], 1u);
    }
}

/* Lists them class by class; `before`: TD_PATH_CLASSES words of shared memory. */
TD_DEVICE void path_order_span(const td_path_span *span, uint32_t *before)
{
    uint32_t *taken = span->classes + TD_PATH_CLASSES;
    if (td_thread() < TD_PATH_CLASSES) {
        uint32_t sum = 0;
        for (uint32_t l = 0; l < td_thread(); l++) sum += span->classes[l];
        before[td_thread()] = sum;
    }
    TD_BARRIER();
    for (uint32_t i = td_global_thread(); i < span->partitions; i += td_global_threads()) {
        uint32_t rank = span->ranks[i];
        if (rank < TD_PATH_CLASSES) span->order[before[rank] + TD_ADD(&taken[rank], 1u)] = span->first_partition + i;
    }
}

TD_KERNEL(path_ranks, td_paths_args) { path_rank_span(&a.paths, &a.span); }

TD_KERNEL(path_orders, td_paths_args)
{
    TD_SHARED(uint32_t, before, TD_PATH_CLASSES);
    path_order_span(&a.span, before);
}

/* The marked ones among the lane's paths of a partition, in ascending order. */
TD_DEVICE void path_walk_lane(const td_path_state *s, const td_context *c, uint32_t k, td_path_tally *t)
{
    const uint32_t *lanes = s->lanes + (uint64_t)(TD_PATH_LANES + 1) * k + td_lane();
    uint32_t end = lanes[1];
    for (uint32_t path = lanes[0]; path < end; path++) {
        uint32_t rest = TD_PEEK(&s->marks[s->first_word[k] + path / 32]) >> (path & 31u);
        if (rest == 0) path |= 31u; /* no marked path in the rest of the word */
        else if ((rest & 1u) != 0) path_walk_marked(s, c, k, path, t);
        else path += TD_LOWEST_BIT(rest) - 1;
    }
}

/* Coarse marks: all paths of the lane, if the partition is marked. All lanes call. */
TD_DEVICE void path_walk_whole(const td_path_state *s, const td_context *c, uint32_t k, td_path_tally *t)
{
    const uint32_t *lanes = s->lanes + (uint64_t)(TD_PATH_LANES + 1) * k + td_lane();
    uint32_t mask = 1u << (k & 31u), marked = 0;
    if (td_lane() == 0) marked = TD_PEEK(&s->marks[k / 32]) & mask;
    if (marked != 0) (void)TD_AND(&s->marks[k / 32], ~mask);
    TD_FENCE(); /* the mark is cleared before values are read */
    TD_WARP_BARRIER(TD_ALL_LANES);
    if (TD_SHUFFLE(TD_ALL_LANES, marked, 0) == 0) return;
    for (uint32_t path = lanes[0], end = lanes[1]; path < end; path++) path_walk_path(s, c, k, path, t);
}

TD_DEVICE uint32_t path_listed(const td_path_span *span)
{
    uint32_t count = 0;
    for (uint32_t l = 0; l < TD_PATH_CLASSES; l++) count += span->classes[l];
    return count;
}

/* Deposits add up, or their least counts: then a warp can walk together, along paths that are not walked back. */
#define PATH_HAS_WARPS (!PROGRAM_PEELS)
#if PATH_HAS_WARPS
#include "kernels/gpu/path_warp.h"
#include "kernels/gpu/path_packed.h"
#endif

/* The next partition of the walk: warps take turns, or (span->next) the first free warp takes it. All lanes call. */
TD_DEVICE uint32_t path_next(const td_path_span *span, uint32_t before, uint32_t warps)
{
    uint32_t next = 0;
    if (span->next == 0) return before + warps;
    if (td_lane() == 0) next = TD_ADD(span->next, 1u);
    return TD_SHUFFLE(TD_ALL_LANES, next, 0);
}

/* The edges of the lane that walked most, of all lanes; `longest`: a word of shared memory. */
TD_DEVICE uint32_t path_longest(uint32_t *longest, uint32_t edges)
{
    if (td_lane() == 0) TD_STORE(longest, 0u);
    TD_WARP_BARRIER(TD_ALL_LANES);
    if (edges > 0) TD_MAX(longest, edges);
    TD_WARP_BARRIER(TD_ALL_LANES);
    uint32_t most = TD_LOAD(longest);
    TD_WARP_BARRIER(TD_ALL_LANES);
    return most;
}

/* How a partition is walked: its marked paths, lane by lane or by the warp together, or all paths of one with coarse marks,
 * or packed edges. A constant in every kernel. */
typedef enum path_way { PATH_BY_LANES, PATH_BY_WARP, PATH_WHOLE, PATH_PACKED } path_way;

/* Walks a partition; returns whether there was anything to walk. All lanes call. */
TD_DEVICE bool path_walk_partition(const td_path_state *s, const td_context *c, uint32_t k, const td_path_span *span,
                                   path_way way, uint32_t *longest, td_path_tally *t)
{
    uint64_t before = t->loaded;
#if PATH_HAS_WARPS
    if (way == PATH_BY_WARP) {
        uint64_t slots = t->lane_slots;
        path_walk_warp(s, c, k, span->dense != 0, span->pack != 0, t); /* lane 0 counts the slots */
        return TD_BALLOT(TD_ALL_LANES, t->lane_slots != slots) != 0;
    }
    if (way == PATH_PACKED) return path_walk_packed(s, c, k, t);
#endif
    (void)span;
    if (way == PATH_WHOLE) path_walk_whole(s, c, k, t);
    else path_walk_lane(s, c, k, t);
    path_flush(s, c, false, t);
    uint32_t most = path_longest(longest, (uint32_t)(t->loaded - before));
    if (td_lane() == 0) t->lane_slots += (uint64_t)most * TD_WARP;
    return most > 0;
}

/* Walks the listed partitions, or those of the span, a warp each; `longest`: a word of shared memory for every warp. */
TD_DEVICE void path_walk_span(const td_path_state *s, const td_context *c, const td_path_span *span, path_way way,
                              uint32_t *longest, td_path_tally *t)
{
    uint32_t warp = td_global_thread() / TD_WARP, warps = td_global_threads() / TD_WARP;
    uint32_t count = span->ranks != 0 ? path_listed(span) : span->partitions + span->early_count;
    for (uint32_t i = span->next != 0 ? path_next(span, 0, 0) : warp; i < count; i = path_next(span, i, warps)) {
        bool early = span->ranks == 0 && i >= span->partitions;
        uint32_t k = span->ranks != 0 ? span->order[i] : early ? span->early[i - span->partitions] : span->first_partition + i;
        bool walked = path_walk_partition(s, c, k, span, way, &longest[td_warp()], t);
        if (!walked || td_lane() > 0) continue;
        t->listed += !early; /* partitions of later groups do not keep a group going */
        t->early += early;
        t->ranked += span->ranks != 0;
        t->stolen += span->next != 0 && i % warps != warp;
    }
}

TD_DEVICE void path_walks_of(const td_paths_args *a, path_way way, td_path_tally *block, td_path_proxies *proxies,
                             uint32_t *longest)
{
    const td_context c = kernel_context(&a->state);
    td_path_tally t = path_begin_tally(block);
    if (a->paths.hubs != 0) t.proxies = &proxies[td_warp()];
    if (a->paths.hubs != 0) path_clear_proxies(t.proxies, &c);
    path_walk_span(&a->paths, &c, &a->span, way, longest, &t);
    path_end_tally(&t, a->tally);
}

TD_KERNEL(path_walks, td_paths_args)
{
    TD_SHARED(td_path_tally, block, 1);
    TD_SHARED(td_path_proxies, proxies, TD_GPU_THREADS / TD_WARP);
    TD_SHARED(uint32_t, longest, TD_GPU_THREADS / TD_WARP);
    path_walks_of(&a, PATH_BY_LANES, block, proxies, longest);
}

#if PATH_HAS_WARPS
TD_KERNEL(path_warp_walks, td_paths_args)
{
    TD_SHARED(td_path_tally, block, 1);
    TD_SHARED(td_path_proxies, proxies, TD_GPU_THREADS / TD_WARP);
    uint32_t none[TD_GPU_THREADS / TD_WARP] = {0}; /* of walks lane by lane */
    path_walks_of(&a, PATH_BY_WARP, block, proxies, none);
}

TD_KERNEL(path_packed_walks, td_paths_args)
{
    TD_SHARED(td_path_tally, block, 1);
    TD_SHARED(td_path_proxies, proxies, TD_GPU_THREADS / TD_WARP);
    uint32_t none[TD_GPU_THREADS / TD_WARP] = {0};
    path_walks_of(&a, PATH_PACKED, block, proxies, none);
}
#endif

/* A walk of several GPUs with one memory, at the same time: warps that find no partition of their own GPU take those of
 * the others, each by the state of the GPU that has it. */
TD_KERNEL(path_steals, td_path_steal_args)
{
    TD_SHARED(td_path_tally, block, 1);
    TD_SHARED(td_path_proxies, proxies, TD_GPU_THREADS / TD_WARP);
    TD_SHARED(uint32_t, longest, TD_GPU_THREADS / TD_WARP);
    const td_context c = kernel_context(&a.of.state);
    td_path_tally t = path_begin_tally(block);
    if (a.of.paths.hubs != 0) t.proxies = &proxies[td_warp()];
    if (a.of.paths.hubs != 0) path_clear_proxies(t.proxies, &c);
    path_walk_span(&a.of.paths, &c, &a.of.span, PATH_BY_LANES, longest, &t);
    for (uint32_t i = 1; i < a.count; i++) {
        const td_path_peer *peer = &a.peers[(a.number + i) % a.count];
        uint64_t before = t.listed + t.early;
        path_walk_span(&peer->paths, &c, &peer->span, PATH_BY_LANES, longest, &t);
        t.far += t.listed + t.early - before;
    }
    path_end_tally(&t, a.of.tally);
}

/* A batch of a graph whose paths stay at the host. */
TD_KERNEL(path_batch_walks, td_paths_args)
{
    TD_SHARED(td_path_tally, block, 1);
    TD_SHARED(td_path_proxies, proxies, TD_GPU_THREADS / TD_WARP);
    TD_SHARED(uint32_t, longest, TD_GPU_THREADS / TD_WARP);
    path_walks_of(&a, PATH_WHOLE, block, proxies, longest);
}

/* Marks the paths of the vertices that are listed as late, a block each. */
TD_DEVICE void path_notice_late(const td_path_state *s, td_path_tally *t)
{
    uint32_t count = *s->late_count < s->late_room ? *s->late_count : s->late_room;
    for (uint32_t i = td_block(); i < count; i += td_blocks())
        for (uint64_t p = s->place_offsets[s->late[i]] + td_thread(); p < s->place_offsets[s->late[i] + 1]; p += td_threads()) {
            path_mark(s, s->places[p], t);
            t->notices++;
        }
}

TD_KERNEL(path_notices, td_paths_args)
{
    TD_SHARED(td_path_tally, block, 1);
    td_path_tally t = path_begin_tally(block);
    path_notice_late(&a.paths, &t);
    path_end_tally(&t, a.tally);
}

/* The variant without paths. Edges from which on the lanes of a warp share a list. */
enum { PATH_SHARED_LIST = 32 };

/* A lane's vertex pushes a change along one of its lists. All lanes call; those without a change have no list. */
TD_DEVICE void path_push_lists(const td_path_state *s, const td_context *c, const td_gpu_list *list, uint32_t v, bool sends,
                               program_message before, program_message message, td_path_tally *t)
{
    td_path_state along = *s;
    uint64_t begin = sends ? list->offsets[v] : 0, end = sends ? list->offsets[v + 1] : 0;
    uint32_t rest = TD_BALLOT(TD_ALL_LANES, end - begin >= PATH_SHARED_LIST);
    along.weights = list->weights;
    if (end - begin < PATH_SHARED_LIST) path_push_list(&along, c, v, list->targets, begin, end, 1, before, message, t);
    for (; rest != 0; rest &= rest - 1) {
        uint32_t of = TD_LOWEST_BIT(rest), u = TD_SHUFFLE(TD_ALL_LANES, v, of);
        program_message was = TD_SHUFFLE(TD_ALL_LANES, before, of), is = TD_SHUFFLE(TD_ALL_LANES, message, of);
        path_push_list(&along, c, u, list->targets, list->offsets[u] + td_lane(), list->offsets[u + 1], TD_WARP, was, is, t);
    }
}

/* Applies the marked vertices of a word each, and pushes their changes. */
TD_DEVICE void path_push_words(const td_paths_args *a, const td_path_state *s, const td_context *c, td_path_tally *t)
{
    program_message *sent = (program_message *)s->sent;
    uint64_t warps = td_global_threads() / TD_WARP;
    for (uint64_t w = td_global_thread() / TD_WARP; w < a->units; w += warps) {
        uint32_t v = (uint32_t)w * 32 + td_lane(), bit = 1u << td_lane();
        bool marked = (TD_PEEK(&s->marks[w]) & bit) != 0 && (TD_AND(&s->marks[w], ~bit) & bit) != 0;
        program_message before = 0, message = 0;
        TD_FENCE(); /* the mark is cleared before values are read */
        if (marked) {
            before = sent[v];
            sent[v] = message = path_read(s, c, v, 0, t);
        }
        for (uint32_t l = 0; l < a->lists; l++)
            path_push_lists(s, c, &a->list_of[l], v, marked && message != before, before, message, t);
    }
}

TD_KERNEL(path_pushes, td_paths_args)
{
    TD_SHARED(td_path_tally, block, 1);
    const td_context c = kernel_context(&a.state);
    td_path_tally t = path_begin_tally(block);
    path_push_words(&a, &a.paths, &c, &t);
    path_end_tally(&t, a.tally);
}

#undef PATH_FN
#undef PATH_NAME
#undef PATH_GATHER
#undef PATH_PEEK
#undef PATH_POKE
#undef PATH_SWAP
#undef PATH_ADD
#undef PATH_LOWER
#undef PATH_OR
#undef PATH_AND
#undef PATH_COUNT
#undef PATH_FENCE
#undef PATH_ORDER
#undef PATH_DEPOSITED
#undef PATH_LEVEL
#undef PATH_LATE
#undef PATH_COARSE
#undef PATH_SEVERAL
#undef PATH_PROXY
#undef PATH_COLLECT
#undef PATH_NO_VERTEX
