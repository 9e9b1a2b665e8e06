/* The CPU's part of the coop engine, for one kind of weight (engine/coop/coop.h). Accumulating programs: gather-sums
 * along a part of the lists. Other programs: the frontier in blocks, and the merge of the vertices that the GPU
 * changed. */

#if !PROGRAM_FUSED
/* Gather-sums along a stretch of edges, which may begin and end inside a list. The sum of a whole list is stored (or
 * added to the stored one); a list cut at the begin or end of the stretch gets a partial sum. A vertex belongs to the
 * stretch in which its list begins. */
static inline void NAME(put_sum)(const td_cpu_coop *part, const td_context *c, uint32_t v, program_accum sum, bool adds)
{
    program_accum *sums = part->sums;
    (void)c;
    sums[v] = adds ? program_sum(sums[v], sum) : sum;
}

static inline void NAME(gather_range)(const td_cpu_job *job, const NAME(view) *view, uint64_t piece)
{
    const td_cpu_coop *part = &job->coop;
    const uint64_t *offsets = part->list->offsets;
    uint64_t n = job->graph->vertices, begin = part->begin + piece * part->piece, end = begin + part->piece;
    if (end > part->end) end = part->end;
    uint64_t v = td_first_list(offsets, n, begin), edges = offsets[n];
    program_accum(*partials)[2] = part->partials;
    part->cut[piece][0] = part->cut[piece][1] = TD_NO_VERTEX;
    if (begin < offsets[v]) {
        uint64_t stop = offsets[v] < end ? offsets[v] : end;
        part->cut[piece][0] = (uint32_t)v - 1;
        partials[piece][0] = NAME(fold)(view, part->list, begin, stop, false);
    }
    for (; v < n && offsets[v] < end; v++) {
        if (offsets[v + 1] > end) {
            part->cut[piece][1] = (uint32_t)v;
            partials[piece][1] = NAME(fold)(view, part->list, offsets[v], end, false);
            return;
        }
        bool ahead = offsets[v + 1] + MESSAGES_AHEAD <= edges;
        NAME(put_sum)
        (part, &view->context, (uint32_t)v, NAME(fold)(view, part->list, offsets[v], offsets[v + 1], ahead),
         part->adds);
    }
}

static void NAME(gather)(td_cpu_job *job, int worker)
{
    const NAME(view) view = NAME(view_of)(job, false);
    uint64_t begin, end;
    while (td_share_out_take(&job->share, worker, &begin, &end))
        for (uint64_t piece = begin; piece < end; piece++) NAME(gather_range)(job, &view, piece);
}

/* Merges the partial sums in the order of the stretches: stores the first part of a list and adds the others to it. */
static void NAME(gather_cut)(td_cpu_job *job, uint64_t pieces)
{
    const td_cpu_coop *part = &job->coop;
    const td_context context = kernel_context(job);
    const program_accum(*partials)[2] = part->partials;
    for (uint64_t p = 0; p < pieces; p++)
        for (int side = 0; side < 2; side++)
            if (part->cut[p][side] != TD_NO_VERTEX)
                NAME(put_sum)(part, &context, part->cut[p][side], partials[p][side], side == 0 || part->adds);
}

static void NAME(clear_sums)(td_cpu_job *job, int worker)
{
    const td_context context = kernel_context(job);
    program_accum *sums = job->coop.sums;
    uint64_t begin, end;
    while (td_share_out_take(&job->share, worker, &begin, &end))
        for (uint64_t v = begin; v < end; v++) sums[job->coop.begin + v] = program_zero(&context);
}
#elif PROGRAM_SUM == TD_SUM_MIN
/* Merges the values of vertices that the GPU changed; the CPU may have found a better value already. */
static void NAME(take_back)(td_cpu_job *job, int worker)
{
    const td_context context = kernel_context(job);
    td_cpu_tally tally = job->tallies[worker];
    const program_value *given = job->coop.given;
    td_outbox box;
    td_outbox_open(&box, job->frontier.next_queue, &job->frontier.next_count);
    uint64_t begin, end;
    while (td_share_out_take(&job->share, worker, &begin, &end))
        for (uint64_t i = begin; i < end; i++) {
            program_value fresh;
            uint32_t v = job->coop.changed[i];
            if (!NAME(relax)(job, &context, v, given[i], &fresh)) continue;
            if (!td_bit_set_atomic(job->frontier.next_active, v)) continue;
            if (box.count == TD_OUTBOX) NAME(post)(job, &box, &tally);
            td_outbox_put(&box, v);
        }
    NAME(post)(job, &box, &tally);
    job->tallies[worker] = tally;
}

/* The vertices of a word that push in this iteration; with priorities the others stay pending. */
static inline uint64_t NAME(near)(td_cpu_job *job, const td_context *c, uint64_t w, td_cpu_tally *tally)
{
    (void)c, (void)tally;
    if (job->coop.pending == NULL) return job->frontier.active[w];
#if PROGRAM_HAS_PRIORITY
    const program_value *values = job->values;
    uint64_t near = 0, all = job->coop.pending[w] | job->frontier.next_active[w];
    for (uint64_t rest = all; rest != 0; rest &= rest - 1) {
        uint64_t bit = (uint64_t)__builtin_ctzll(rest),
                 priority = program_priority(c, values[w * 64 + bit], 1 / job->setup.delta);
        if (priority <= job->coop.bound) near |= UINT64_C(1) << bit;
        else if (priority < tally->lowest) tally->lowest = priority;
    }
    job->coop.pending[w] = all & ~near;
    tally->total += td_popcount(all & ~near);
    job->frontier.next_active[w] = 0;
    job->frontier.active[w] = near;
#endif
    return job->frontier.active[w];
}

/* Counts the active vertices and edges of every block. */
static void NAME(count_blocks)(td_cpu_job *job, int worker)
{
    const td_context context = kernel_context(job);
    td_cpu_tally tally = job->tallies[worker];
    const td_cpu_coop *part = &job->coop;
    uint64_t begin, end, words = td_cpu_words(job);
    while (td_share_out_take(&job->share, worker, &begin, &end))
        for (uint64_t b = begin; b < end; b++) {
            td_cpu_block block = {0};
            for (uint64_t w = b * TD_BLOCK_WORDS; w < (b + 1) * TD_BLOCK_WORDS && w < words; w++)
                for (uint64_t rest = NAME(near)(job, &context, w, &tally); rest != 0; rest &= rest - 1) {
                    uint64_t v = w * 64 + (uint64_t)__builtin_ctzll(rest);
                    block.vertices++;
                    block.hot += part->hot[v + 1] - part->hot[v];
                    block.rest += part->rest[v + 1] - part->rest[v];
                }
            part->blocks[b] = block;
        }
    job->tallies[worker] = tally;
}

/* Writes the frontier as a queue in ascending order, with the vertices' values. */
static void NAME(list_blocks)(td_cpu_job *job, int worker)
{
    const td_cpu_coop *part = &job->coop;
    const program_value *values = job->values;
    program_value *queue_values = part->queue_values;
    uint64_t begin, end, words = td_cpu_words(job);
    while (td_share_out_take(&job->share, worker, &begin, &end))
        for (uint64_t b = begin; b < end; b++) {
            uint64_t at = part->blocks[b].vertices;
            for (uint64_t w = b * TD_BLOCK_WORDS; w < (b + 1) * TD_BLOCK_WORDS && w < words; w++)
                for (uint64_t rest = job->frontier.active[w]; rest != 0; rest &= rest - 1, at++) {
                    uint32_t v = (uint32_t)(w * 64 + (uint64_t)__builtin_ctzll(rest));
                    job->frontier.queue[at] = v;
                    queue_values[at] = values[v];
                }
        }
}
#endif
