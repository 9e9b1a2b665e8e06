/* The CPU's kernels for searches from many sources at once: included once per width of the words, with
 *   WORD      the type of a word, a bit for every source
 *   BITS(x)   x with the width behind it
 *
 * The algorithm is MS-BFS (Then and others, VLDB 2014): an edge carries the frontier's word, so that all searches that
 * have the vertex in their frontiers share the edge. A push is divided over the frontier's vertices, and a target that
 * several of them reach is queued by the first; a second step settles the queued ones. A pull is divided over all
 * vertices and stops when the neighbours seen so far have brought every source that can still come: one that lacks the
 * vertex and has reached a vertex in the last iteration. */

/* What a worker adds up over a step. */
typedef struct BITS(bits_sums) {
    td_cpu_tally tally;
    uint64_t complete_edges;
    WORD found;
} BITS(bits_sums);

static inline void BITS(bits_end)(td_cpu_job *job, int worker, const BITS(bits_sums) *sums)
{
    td_cpu_bits *bits = job->bits;
    atomic_fetch_or_explicit(&bits->found, (uint64_t)sums->found, memory_order_relaxed);
    atomic_fetch_add_explicit(&bits->complete_edges, sums->complete_edges, memory_order_relaxed);
    job->tallies[worker] = sums->tally;
}

/* Gives a vertex its level in the searches that have found it; no other worker has the vertex. */
static inline void BITS(bits_settle_vertex)(td_cpu_job *job, uint32_t v, WORD found, BITS(bits_sums) *sums)
{
    const td_cpu_bits *bits = job->bits;
    WORD *seen = bits->seen;
    seen[v] |= found;
    for (uint32_t level = bits->level; level != 0; level &= level - 1)
        ((WORD *)bits->planes[__builtin_ctz(level)])[v] |= found;
    sums->found |= found;
    sums->tally.activated++;
    sums->tally.share += (double)td_popcount(found); /* searches that process the vertex together */
    sums->tally.activated_edges += td_cpu_push_degree(job, v);
    if (seen[v] != (WORD)bits->all) return;
    sums->tally.total++;
    sums->complete_edges += td_cpu_pull_degree(job, v);
}

/* The words of a list's vertices together, up to the first that completes `missing`; *e is then behind it. Tests after
 * each of the first few edges, because most lists end there or not early at all, then after four at a time. */
static inline WORD BITS(bits_gather)(const WORD *frontier, const uint32_t *targets, uint64_t *e, uint64_t last,
                                     WORD missing)
{
    uint64_t at = *e, few = last - at < 4 ? last : at + 4;
    WORD found = 0;
    while (at < few && (found & missing) != missing) found |= frontier[targets[at++]];
    for (; at + 4 <= last && (found & missing) != missing; at += 4)
        found |= frontier[targets[at]] | frontier[targets[at + 1]] | frontier[targets[at + 2]] |
                 frontier[targets[at + 3]];
    while (at < last && (found & missing) != missing) found |= frontier[targets[at++]];
    *e = at;
    return found & missing;
}

/* Units: 64 vertices. */
static void BITS(bits_pull)(td_cpu_job *job, int worker)
{
    const td_cpu_bits *bits = job->bits;
    const td_adjacency *list = &job->view.pull[0];
    const WORD *frontier = bits->frontier, *seen = bits->seen, live = (WORD)bits->live;
    WORD *next = bits->next;
    uint64_t begin, end, n = job->graph->vertices, scanned = 0;
    BITS(bits_sums) sums = {.tally = job->tallies[worker]};
    while (td_share_out_take(&job->share, worker, &begin, &end))
        for (uint64_t v = begin * 64; v < end * 64 && v < n; v++) {
            WORD missing = live & (WORD)~seen[v], found = 0;
            if (v + HEADS_AHEAD < n) td_fetch(list->targets + list->offsets[v + HEADS_AHEAD]);
            if (missing != 0) {
                uint64_t first = list->offsets[v], e = first;
                found = BITS(bits_gather)(frontier, list->targets, &e, list->offsets[v + 1], missing);
                scanned += e - first;
            }
            next[v] = found;
            if (found != 0) BITS(bits_settle_vertex)(job, (uint32_t)v, found, &sums);
        }
    sums.tally.edges += scanned;
    BITS(bits_end)(job, worker, &sums);
}

static inline void BITS(bits_push_vertex)(td_cpu_job *job, uint32_t u, uint64_t begin, uint64_t end, td_outbox *box,
                                          td_cpu_tally *tally)
{
    const td_cpu_bits *bits = job->bits;
    const td_adjacency *list = &job->view.push[0];
    const uint32_t *targets = list->targets + list->offsets[u];
    const WORD *seen = bits->seen, word = ((const WORD *)bits->frontier)[u];
    WORD *next = bits->next;
    for (uint64_t e = begin; e < end; e++) {
        uint32_t v = targets[e];
        if (e + BITS_AHEAD < end) {
            td_fetch(&seen[targets[e + BITS_AHEAD]]);
            td_fetch(&next[targets[e + BITS_AHEAD]]);
        }
        WORD fresh = word & (WORD)~seen[v];
        if ((fresh & (WORD)~__atomic_load_n(&next[v], __ATOMIC_RELAXED)) == 0) continue;
        if (__atomic_fetch_or(&next[v], fresh, __ATOMIC_RELAXED) == 0) td_outbox_put(box, v);
    }
    tally->edges += end - begin;
}

/* Units: queue entries. */
static void BITS(bits_push)(td_cpu_job *job, int worker)
{
    td_cpu_tally tally = job->tallies[worker];
    td_outbox box;
    td_outbox_open(&box, job->frontier.next_queue, &job->frontier.next_count);
    uint64_t begin, end;
    while (td_share_out_take(&job->share, worker, &begin, &end))
        for (uint64_t i = begin; i < end; i++) {
            uint32_t u = job->frontier.queue[i];
            if (i + LISTS_AHEAD < end)
                td_fetch(job->view.push[0].targets + job->view.push[0].offsets[job->frontier.queue[i + LISTS_AHEAD]]);
            uint64_t degree = td_cpu_push_degree(job, u);
            if (degree >= job->high.degree) job->high.list[job->high.count++] = u;
            else BITS(bits_push_vertex)(job, u, 0, degree, &box, &tally);
        }
    td_outbox_flush(&box);
    job->tallies[worker] = tally;
}

/* Units: 4096 edges of the high-degree vertices. */
static void BITS(bits_push_high_degree)(td_cpu_job *job, int worker)
{
    td_cpu_tally *tally = &job->tallies[worker];
    td_outbox box;
    td_outbox_open(&box, job->frontier.next_queue, &job->frontier.next_count);
    uint64_t begin, end;
    td_high_degree_part part;
    while (td_share_out_take(&job->share, worker, &begin, &end)) {
        td_high_degree_walk walk = td_high_degree_pieces_from(job->high.start, job->high.count, begin,
                                                              end);
        while (td_high_degree_next(&walk, &part))
            BITS(bits_push_vertex)(job, job->high.list[part.which], part.begin, part.end, &box, tally);
    }
    td_outbox_flush(&box);
}

/* After a push: gives the vertices of the next queue their levels. Units: its entries. */
static void BITS(bits_settle)(td_cpu_job *job, int worker)
{
    const WORD *next = job->bits->next;
    BITS(bits_sums) sums = {.tally = job->tallies[worker]};
    uint64_t begin, end;
    while (td_share_out_take(&job->share, worker, &begin, &end))
        for (uint64_t i = begin; i < end; i++)
            BITS(bits_settle_vertex)(job, job->frontier.next_queue[i], next[job->frontier.next_queue[i]], &sums);
    BITS(bits_end)(job, worker, &sums);
}

/* And clears the words of the last frontier. Units: queue entries. */
static void BITS(bits_clear)(td_cpu_job *job, int worker)
{
    WORD *frontier = job->bits->frontier;
    uint64_t begin, end;
    while (td_share_out_take(&job->share, worker, &begin, &end))
        for (uint64_t i = begin; i < end; i++) frontier[job->frontier.queue[i]] = 0;
}

/* Lists the frontier of a pull. Units: 64 vertices. */
static void BITS(bits_list)(td_cpu_job *job, int worker)
{
    const WORD *frontier = job->bits->frontier;
    td_outbox box;
    td_outbox_open(&box, job->frontier.queue, &job->frontier.next_count);
    uint64_t begin, end;
    while (td_share_out_take(&job->share, worker, &begin, &end))
        for (uint64_t v = begin * 64; v < end * 64 && v < job->graph->vertices; v++)
            if (frontier[v] != 0) td_outbox_put(&box, (uint32_t)v);
    td_outbox_flush(&box);
}
#undef WORD
#undef BITS
