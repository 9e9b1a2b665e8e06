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
#define PATH_DEPOSITED() TD_FENCE()
#define PATH_LEVEL(t, level, change) (void)TD_ADD(&(t)->block->levels[level], (change))

#include "kernels/path_walk.h"

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

TD_DEVICE void path_end_tally(const td_path_tally *mine, td_path_tally *sum)
{
    td_path_tally *block = mine->block;
#define ADD(field) \
    if (mine->field != 0) TD_ADD(&block->field, mine->field);
    TD_PATH_COUNTS(ADD)
    TD_PATH_SUMS(ADD)
#undef ADD
    if (PROGRAM_MEASURE == TD_MEASURE_MAX) raise_double(&block->residual, mine->residual);
    else if (mine->residual != 0) TD_ADD(&block->residual, mine->residual);
    TD_BARRIER();
    if (td_thread() < TD_PATH_LEVELS && TD_PEEK(&block->levels[td_thread()]) != 0)
        TD_ADD(&sum->levels[td_thread()], TD_PEEK(&block->levels[td_thread()]));
    if (td_thread() > 0) return;
#define ADD(field) \
    if (TD_PEEK(&block->field) != 0) TD_ADD(&sum->field, TD_PEEK(&block->field));
    TD_PATH_COUNTS(ADD)
    TD_PATH_SUMS(ADD)
#undef ADD
    if (PROGRAM_MEASURE == TD_MEASURE_MAX) raise_double(&sum->residual, TD_PEEK(&block->residual));
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

/* Counts the partitions of a group with marked paths, by class. */
TD_KERNEL(path_ranks, td_paths_args)
{
    for (uint32_t i = td_global_thread(); i < a.partitions; i += td_global_threads()) {
        uint32_t k = a.first_partition + i, marked = 0;
        for (uint32_t w = a.paths.first_word[k]; w < a.paths.first_word[k + 1]; w++)
            marked += TD_POPCOUNT(a.paths.marks[w]);
        uint32_t rank = marked > 0 ? path_class(a.paths.partition[k].degree, marked) : TD_PATH_CLASSES;
        a.ranks[i] = (uint8_t)rank;
        if (marked > 0) TD_ADD(&a.classes[rank], 1u);
    }
}

/* Lists them class by class. */
TD_KERNEL(path_orders, td_paths_args)
{
    TD_SHARED(uint32_t, before, TD_PATH_CLASSES);
    uint32_t *taken = a.classes + TD_PATH_CLASSES;
    if (td_thread() < TD_PATH_CLASSES) {
        uint32_t sum = 0;
        for (uint32_t l = 0; l < td_thread(); l++) sum += a.classes[l];
        before[td_thread()] = sum;
    }
    TD_BARRIER();
    for (uint32_t i = td_global_thread(); i < a.partitions; i += td_global_threads()) {
        uint32_t rank = a.ranks[i];
        if (rank < TD_PATH_CLASSES) a.order[before[rank] + TD_ADD(&taken[rank], 1u)] = a.first_partition + i;
    }
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

TD_DEVICE uint32_t path_listed(const td_paths_args *a)
{
    uint32_t count = 0;
    for (uint32_t l = 0; l < TD_PATH_CLASSES; l++) count += a->classes[l];
    return count;
}

/* Walks the listed partitions, or those of the group, a warp each. */
TD_KERNEL(path_walks, td_paths_args)
{
    TD_SHARED(td_path_tally, block, 1);
    const td_context c = kernel_context(&a.state);
    td_path_tally t = path_begin_tally(block);
    uint32_t count = a.ranks != 0 ? path_listed(&a) : a.partitions, warps = td_global_threads() / TD_WARP;
    for (uint32_t i = td_global_thread() / TD_WARP; i < count; i += warps) {
        uint64_t before = t.paths;
        path_walk_lane(&a.paths, &c, a.ranks != 0 ? a.order[i] : a.first_partition + i, &t);
        bool walked = TD_BALLOT(TD_ALL_LANES, t.paths != before) != 0;
        if (walked && td_lane() == 0) t.listed++;
        if (walked && td_lane() == 0 && a.ranks != 0) t.ranked++;
    }
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
TD_KERNEL(path_pushes, td_paths_args)
{
    TD_SHARED(td_path_tally, block, 1);
    const td_context c = kernel_context(&a.state);
    const td_path_state *s = &a.paths;
    program_message *sent = (program_message *)s->sent;
    td_path_tally t = path_begin_tally(block);
    uint64_t warps = td_global_threads() / TD_WARP;
    for (uint64_t w = td_global_thread() / TD_WARP; w < a.units; w += warps) {
        uint32_t v = (uint32_t)w * 32 + td_lane(), bit = 1u << td_lane();
        bool marked = (TD_PEEK(&s->marks[w]) & bit) != 0 && (TD_AND(&s->marks[w], ~bit) & bit) != 0;
        program_message before = 0, message = 0;
        TD_FENCE(); /* the mark is cleared before values are read */
        if (marked) {
            before = sent[v];
            sent[v] = message = path_read(s, &c, v, 0, &t);
        }
        for (uint32_t l = 0; l < a.lists; l++)
            path_push_lists(s, &c, &a.list_of[l], v, marked && message != before, before, message, &t);
    }
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
#undef PATH_DEPOSITED
#undef PATH_LEVEL
