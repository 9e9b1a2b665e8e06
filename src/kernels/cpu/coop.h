/* The CPU's side of a cooperation with a GPU, for one kind of weight (engine/coop.h): sums of a part of the lists, of
 * programs that add up; of the others the frontier in blocks, and what the GPU changed. */

#if !PROGRAM_FUSED
/* A stretch of edges, cut wherever it falls: whole lists are stored (or added to what is there), of lists cut at its
 * begin and end there is a partial sum each. A vertex belongs to the stretch that its list begins in. */
static inline void NAME(put_sum)(const td_cpu_coop *part, const td_context *c, uint32_t v, program_accum sum, bool adds)
{
    program_accum *sums = part->sums;
    (void)c;
    sums[v] = adds ? program_sum(sums[v], sum) : sum;
}

static inline void NAME(gather_stretch)(const td_cpu_job *job, const NAME(view) *view, uint64_t piece)
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
    const NAME(view) view = NAME(look)(job, false);
    uint64_t begin, end;
    while (td_share_out_take(&job->share, worker, &begin, &end))
        for (uint64_t piece = begin; piece < end; piece++) NAME(gather_stretch)(job, &view, piece);
}

/* The partial sums of the stretches, in their order: the begin of a list is stored, the rest added to it. */
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
/* What the GPU made of vertices, of which this side may know better. */
static void NAME(take_back)(td_cpu_job *job, int worker)
{
    const td_context context = kernel_context(job);
    td_cpu_tally tally = job->tallies[worker];
    const program_value *given = job->coop.given;
    td_outbox box;
    td_outbox_open(&box, job->next_queue, &job->next_count);
    uint64_t begin, end;
    while (td_share_out_take(&job->share, worker, &begin, &end))
        for (uint64_t i = begin; i < end; i++) {
            program_value fresh;
            uint32_t v = job->coop.changed[i];
            if (!NAME(relax)(job, &context, v, given[i], &fresh)) continue;
            if (!td_bit_set_atomic(job->next_active, v)) continue;
            if (box.count == TD_OUTBOX) NAME(post)(job, &box, &tally);
            td_outbox_put(&box, v);
        }
    NAME(post)(job, &box, &tally);
    job->tallies[worker] = tally;
}

/* The vertices of a word that are to be told now; the others wait. */
static inline uint64_t NAME(near)(td_cpu_job *job, const td_context *c, uint64_t w, td_cpu_tally *tally)
{
    (void)c, (void)tally;
    if (job->coop.pending == NULL) return job->active[w];
#if PROGRAM_HAS_PRIORITY
    const program_value *values = job->values;
    uint64_t near = 0, all = job->coop.pending[w] | job->next_active[w];
    for (uint64_t rest = all; rest != 0; rest &= rest - 1) {
        uint64_t bit = (uint64_t)__builtin_ctzll(rest),
                 priority = program_priority(c, values[w * 64 + bit], 1 / job->delta);
        if (priority <= job->coop.bound) near |= UINT64_C(1) << bit;
        else if (priority < tally->lowest) tally->lowest = priority;
    }
    job->coop.pending[w] = all & ~near;
    tally->total += td_popcount(all & ~near);
    job->next_active[w] = 0;
    job->active[w] = near;
#endif
    return job->active[w];
}

/* How many vertices and edges every block of the frontier has. */
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

/* The frontier as a queue in the vertices' order, with their values. */
static void NAME(list_blocks)(td_cpu_job *job, int worker)
{
    const td_cpu_coop *part = &job->coop;
    const program_value *values = job->values;
    program_value *told = part->told;
    uint64_t begin, end, words = td_cpu_words(job);
    while (td_share_out_take(&job->share, worker, &begin, &end))
        for (uint64_t b = begin; b < end; b++) {
            uint64_t at = part->blocks[b].vertices;
            for (uint64_t w = b * TD_BLOCK_WORDS; w < (b + 1) * TD_BLOCK_WORDS && w < words; w++)
                for (uint64_t rest = job->active[w]; rest != 0; rest &= rest - 1, at++) {
                    uint32_t v = (uint32_t)(w * 64 + (uint64_t)__builtin_ctzll(rest));
                    job->queue[at] = v;
                    told[at] = values[v];
                }
        }
}
#endif
