/* Searches from many sources at once, a bit each (MS-BFS: Then and others, VLDB 2014): included once per width of the
 * words, with WORD, the type of a word, and BITS(x), x with the width behind it.
 *
 * An edge carries the frontier's word, so that all searches that have the vertex in their frontiers share the edge. A
 * push divides the frontier's edges evenly over the lanes of a warp, those of high-degree vertices over all blocks; a
 * target is queued by the first that reaches it, and a second launch settles the queue. In a pull a warp has 32 vertices:
 * every lane scans the first few edges of its own, then all lanes scan the remaining lists together, one after another,
 * until the neighbours have brought every source that can still come. */

#define BITS_KERNEL(name) TD_KERNEL(name, td_bits_args) /* with the name expanded */

typedef struct BITS(bits_sums) {
    uint64_t scanned, activated, activated_edges, complete, complete_edges;
    WORD found;
} BITS(bits_sums);

TD_DEVICE WORD BITS(warp_or)(WORD word)
{
    for (uint32_t by = TD_WARP / 2; by > 0; by /= 2) word |= TD_SHUFFLE_XOR(TD_ALL_LANES, word, by);
    return word;
}

/* Gives a vertex its level in the searches that have found it; no other thread has the vertex. */
TD_DEVICE void BITS(bits_settle_vertex)(const td_bits_args *a, uint32_t v, WORD had, WORD found, BITS(bits_sums) *sums)
{
    WORD now = had | found;
    ((WORD *)a->seen)[v] = now;
    for (uint32_t level = a->level; level != 0; level &= level - 1)
        ((WORD *)a->planes[TD_LOWEST_BIT(level)])[v] |= found;
    sums->found |= found;
    sums->activated++;
    sums->activated_edges += degree_in(a->push_offsets, v);
    if (now != (WORD)a->all) return;
    sums->complete++;
    if (a->pull_offsets != 0) sums->complete_edges += degree_in(a->pull_offsets, v);
}

/* All threads of a block call. */
TD_DEVICE void BITS(bits_add)(const td_bits_args *a, const BITS(bits_sums) *sums)
{
    block_add_u64(&a->tally->edges, sums->scanned);
    block_add_u64(&a->tally->activated, sums->activated);
    block_add_u64(&a->tally->activated_edges, sums->activated_edges);
    block_add_u64(&a->tally->complete, sums->complete);
    block_add_u64(&a->tally->complete_edges, sums->complete_edges);
    uint64_t found = BITS(warp_or)(sums->found);
    if (td_lane() == 0 && found != 0) TD_OR(&a->tally->found, found);
}

/* Before the first iteration: the words of the sources. */
BITS_KERNEL(BITS(bits_start))
{
    for (uint32_t i = td_global_thread(); i < a.count; i += td_global_threads())
        ((WORD *)a.seen)[a.queue[i]] = ((WORD *)a.frontier)[a.queue[i]] = (WORD)a.starts[i];
}

/* Offers a vertex to the searches of `word`; true: it was not queued in this iteration before. */
TD_DEVICE bool BITS(bits_offer)(const td_bits_args *a, uint32_t v, WORD word)
{
    WORD *next = (WORD *)a->next, fresh = word & ~((const WORD *)a->seen)[v];
    if ((fresh & ~TD_PEEK(&next[v])) == 0) return false;
    return TD_OR(&next[v], fresh) == 0;
}

BITS_KERNEL(BITS(bits_push))
{
    const WORD *frontier = (const WORD *)a.frontier;
    uint64_t scanned = 0;
    for (uint64_t base = (uint64_t)(td_global_thread() / TD_WARP) * TD_WARP; base < a.count;
         base += td_global_threads()) {
        uint64_t i = base + td_lane(), begin = 0;
        uint32_t degree = 0, total;
        WORD word = 0;
        if (i < a.count) {
            uint32_t u = a.queue[i];
            begin = a.list.offsets[u];
            degree = degree_in(a.list.offsets, u);
            word = frontier[u];
            scanned += degree;
            if (degree >= a.high_degree) {
                cut_vertex(a.pieces, &a.tally->pieces, u, degree, TD_GPU_PIECE);
                degree = 0;
            }
        }
        uint32_t before = warp_scan(degree, &total);
        uint64_t shifted = begin - before; /* plus e: the place of edge e, if it is in this lane's list */
        for (uint32_t first = 0; first < total; first += TD_WARP) {
            uint32_t e = first + td_lane(), owner = owner_of(before, e);
            uint64_t place = TD_SHUFFLE(TD_ALL_LANES, shifted, owner) + e;
            WORD carried = TD_SHUFFLE(TD_ALL_LANES, word, owner);
            uint32_t v = e < total ? TD_READ_ONCE(&a.list.targets[place]) : 0;
            warp_append(a.next_queue, &a.tally->count, e < total && BITS(bits_offer)(&a, v, carried), v);
        }
    }
    block_add_u64(&a.tally->edges, scanned);
}

/* The pieces of high-degree vertices, one per block at a time. */
BITS_KERNEL(BITS(bits_push_pieces))
{
    uint32_t count = a.tally->pieces;
    for (uint32_t p = td_block(); p < count; p += td_blocks()) {
        uint32_t u = (uint32_t)(a.pieces[p] >> 32);
        uint64_t begin = a.list.offsets[u] + (a.pieces[p] & 0xffffffffu) * TD_GPU_PIECE, end = a.list.offsets[u + 1];
        WORD word = ((const WORD *)a.frontier)[u];
        if (end > begin + TD_GPU_PIECE) end = begin + TD_GPU_PIECE;
        for (uint64_t first = begin + td_warp() * TD_WARP; first < end; first += td_threads()) {
            uint64_t e = first + td_lane();
            uint32_t v = e < end ? TD_READ_ONCE(&a.list.targets[e]) : 0;
            warp_append(a.next_queue, &a.tally->count, e < end && BITS(bits_offer)(&a, v, word), v);
        }
    }
}

/* After a push: levels of the next queue's vertices, and words of the last frontier cleared. */
BITS_KERNEL(BITS(bits_settle))
{
    const WORD *next = (const WORD *)a.next, *seen = (const WORD *)a.seen;
    BITS(bits_sums) sums = {0, 0, 0, 0, 0, 0};
    uint32_t count = a.tally->count;
    for (uint64_t i = td_global_thread(); i < count; i += td_global_threads()) {
        uint32_t v = a.next_queue[i];
        BITS(bits_settle_vertex)(&a, v, seen[v], next[v], &sums);
    }
    for (uint64_t i = td_global_thread(); i < a.count; i += td_global_threads()) ((WORD *)a.frontier)[a.queue[i]] = 0;
    TD_WARP_BARRIER(TD_ALL_LANES);
    BITS(bits_add)(&a, &sums);
}

/* All lanes scan begin..end - 1 together, until `missing` is found. */
TD_DEVICE WORD BITS(bits_scan)(const td_bits_args *a, uint64_t begin, uint64_t end, WORD missing, WORD found,
                               uint64_t *scanned)
{
    const WORD *frontier = (const WORD *)a->frontier;
    while (begin < end && found != missing) {
        WORD mine = 0;
        for (int turn = 0; turn < 4 && begin < end; turn++, begin += TD_WARP) {
            uint64_t e = begin + td_lane();
            if (e < end) mine |= TD_READ_ONLY(&frontier[TD_READ_ONLY(&a->list.targets[e])]);
            *scanned += e < end;
        }
        found |= BITS(warp_or)(mine) & missing;
    }
    return found;
}

BITS_KERNEL(BITS(bits_pull))
{
    const WORD *frontier = (const WORD *)a.frontier, *seen = (const WORD *)a.seen;
    BITS(bits_sums) sums = {0, 0, 0, 0, 0, 0};
    uint32_t words = (a.vertices + TD_WARP - 1) / TD_WARP;
    for (uint32_t w = td_global_thread() / TD_WARP; w < words; w += td_global_threads() / TD_WARP) {
        uint32_t v = w * TD_WARP + td_lane();
        bool is = v < a.vertices;
        WORD had = is ? seen[v] : 0, missing = is ? (WORD)a.live & ~had : 0, found = 0;
        uint64_t begin = missing != 0 ? a.list.offsets[v] : 0, end = missing != 0 ? a.list.offsets[v + 1] : 0;
        for (uint32_t i = 0; i < TD_GPU_ALONE && begin < end && found != missing; i++, begin++) {
            found |= TD_READ_ONLY(&frontier[TD_READ_ONLY(&a.list.targets[begin])]) & missing;
            sums.scanned++;
        }
        uint32_t rest = TD_BALLOT(TD_ALL_LANES, begin < end && found != missing);
        for (; rest != 0; rest &= rest - 1) {
            uint32_t lane = TD_LOWEST_BIT(rest);
            uint64_t from = TD_SHUFFLE(TD_ALL_LANES, begin, lane), to = TD_SHUFFLE(TD_ALL_LANES, end, lane);
            WORD wanted = TD_SHUFFLE(TD_ALL_LANES, missing, lane), so_far = TD_SHUFFLE(TD_ALL_LANES, found, lane);
            WORD got = BITS(bits_scan)(&a, from, to, wanted, so_far, &sums.scanned);
            if (td_lane() == lane) found = got;
        }
        if (is) ((WORD *)a.next)[v] = found;
        if (found != 0) BITS(bits_settle_vertex)(&a, v, had, found, &sums);
    }
    BITS(bits_add)(&a, &sums);
}

/* Lists the frontier of a pull. */
BITS_KERNEL(BITS(bits_list))
{
    const WORD *frontier = (const WORD *)a.frontier;
    uint32_t words = (a.vertices + TD_WARP - 1) / TD_WARP;
    for (uint32_t w = td_global_thread() / TD_WARP; w < words; w += td_global_threads() / TD_WARP) {
        uint32_t v = w * TD_WARP + td_lane();
        warp_append(a.queue, &a.tally->count, v < a.vertices && frontier[v] != 0, v);
    }
}
#undef WORD
#undef BITS
#undef BITS_KERNEL
