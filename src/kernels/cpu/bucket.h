/* Delta-stepping on all workers, in one job. The workers empty the lowest bucket until
 * no vertex is added to it any more, then the next one, with two barriers per round. Every
 * worker has its own part of a bucket; a round reads the parts in place as one sequence of
 * entries. A worker that adds only a few vertices to the current bucket processes them
 * itself (bucket fusion: Zhang et al., CGO'20). Included once per kind of weight. */

enum { NAME(FUSION) = 1024, NAME(ENTRIES_AT_A_TIME) = 64 };

/* What an entry holds of a value: all of it, or a value of 8 bytes folded (kernels/cpu/buckets.h). */
static inline uint32_t NAME(tag)(program_value value) { return td_bucket_tag(value, sizeof value); }

static inline void NAME(put)(td_cpu_job *job, const td_context *c, td_buckets *mine, uint32_t v, program_value value)
{
    uint64_t priority = program_priority(c, value, job->setup.delta);
    if (td_buckets_put(mine, priority, (uint64_t)v << 32 | NAME(tag)(value)) != TD_OK) job->failed = TD_NO_MEMORY;
}

/* Relaxes edges begin..end - 1 of the entry's vertex. */
static inline void NAME(settle_part)(td_cpu_job *job, const td_context *c, td_buckets *mine, uint64_t entry,
                                     uint64_t begin, uint64_t end, td_cpu_tally *tally)
{
    uint32_t u = (uint32_t)(entry >> 32);
    program_value value = read_value(&((program_value *)job->values)[u]);
    if (NAME(tag)(value) != (uint32_t)entry) return; /* stale: the vertex has a newer entry */
    const td_adjacency *list = &job->view.push[0];
    const void *weights = list->weights;
    (void)weights;
    program_message message = program_send(c, value, (uint32_t)td_degree(list, u));
    uint64_t last = list->offsets[u] + end;
    for (uint64_t e = list->offsets[u] + begin; e < last; e++) {
        program_value fresh;
        uint32_t v = list->targets[e];
        if (e + VALUES_AHEAD < last) td_fetch((const program_value *)job->values + list->targets[e + VALUES_AHEAD]);
        if (NAME(relax)(job, c, v, CONTRIBUTION(c, message, weights, e), &fresh)) NAME(put)(job, c, mine, v, fresh);
    }
    tally->edges += end - begin;
}

static inline void NAME(settle)(td_cpu_job *job, const td_context *c, td_buckets *mine, uint64_t entry,
                                td_cpu_tally *tally)
{
    uint64_t degree = td_degree(&job->view.push[0], (uint32_t)(entry >> 32));
    if (__builtin_expect(degree < job->high.degree, 1)) NAME(settle_part)(job, c, mine, entry, 0, degree, tally);
    else if (td_bucket_put(&mine->high_degree, entry) != TD_OK) job->failed = TD_NO_MEMORY;
}

/* Relaxes the edges of several entries and prefetches what the later ones need. */
static inline void NAME(settle_row)(td_cpu_job *job, const td_context *c, td_buckets *mine, const uint64_t *entries,
                                    uint64_t count, td_cpu_tally *tally)
{
    const td_adjacency *list = &job->view.push[0];
    const program_value *values = job->values;
    for (uint64_t i = 0; i < count; i++) {
        if (i + PLACES_AHEAD < count) {
            uint32_t v = (uint32_t)(entries[i + PLACES_AHEAD] >> 32);
            td_fetch(&values[v]);
            td_fetch(&list->offsets[v]);
        }
        if (i + LISTS_AHEAD < count) {
            uint32_t v = (uint32_t)(entries[i + LISTS_AHEAD] >> 32);
            if (NAME(tag)(read_value(&values[v])) == (uint32_t)entries[i + LISTS_AHEAD]) {
                td_fetch(list->targets + list->offsets[v]);
                FETCH_WEIGHT(list->weights, list->offsets[v]);
            }
        }
        if (i + ENDS_AHEAD < count) {
            uint32_t v = (uint32_t)(entries[i + ENDS_AHEAD] >> 32);
            if (NAME(tag)(read_value(&values[v])) == (uint32_t)entries[i + ENDS_AHEAD]) fetch_ends(job, list, v);
        }
        NAME(settle)(job, c, mine, entries[i], tally);
    }
}

/* Bucket fusion: processes this worker's own additions to the current bucket while they stay few. */
static inline void NAME(fuse)(td_cpu_job *job, const td_context *c, td_buckets *mine, td_cpu_tally *tally)
{
    td_bucket *bucket = &mine->window[job->priority.bucket - mine->base];
    while (bucket->count > 0 && bucket->count < NAME(FUSION) && job->failed == TD_OK) {
        td_bucket_take(bucket, &mine->own);
        NAME(settle_row)(job, c, mine, mine->own.entries, mine->own.count, tally);
    }
}

/* Moves a worker's window and distributes the entries beyond it again. */
static inline void NAME(move_window)(td_cpu_job *job, td_buckets *of)
{
    td_bucket old = of->beyond;
    of->beyond = (td_bucket){0};
    of->base = job->priority.bucket;
    of->lowest_beyond = UINT64_MAX;
    for (uint64_t i = 0; i < old.count; i++) {
        uint32_t v = (uint32_t)(old.entries[i] >> 32);
        program_value value = ((program_value *)job->values)[v];
        if (NAME(tag)(value) != (uint32_t)old.entries[i]) continue;
        /* stale after all */
        if (PROGRAM_WIDE && program_priority(&job->context, value, job->setup.delta) < of->base) continue;
        NAME(put)(job, &job->context, of, v, value);
    }
    td_free(old.entries);
}

/* Called by worker 0 while the others wait: collects the entries of high-degree vertices of all workers. True if there
 * are any. */
static bool NAME(collect_high_degree)(td_cpu_job *job)
{
    td_bucket *all = &job->priority.high_degree_entries;
    uint64_t edges = 0;
    all->count = 0;
    for (int w = 0; w < job->workers; w++) {
        td_bucket *of = &job->priority.buckets[w].high_degree;
        for (uint64_t i = 0; i < of->count && job->failed == TD_OK; i++)
            if (td_bucket_put(all, of->entries[i]) != TD_OK) job->failed = TD_NO_MEMORY;
        of->count = 0;
    }
    if (all->count == 0 || job->failed != TD_OK) return false;
    if (TD_RESIZE(&job->high.start, all->count + 1, "high-degree vertices") != TD_OK) job->failed = TD_NO_MEMORY;
    for (uint64_t i = 0; i < all->count && job->failed == TD_OK; i++) {
        job->high.start[i] = edges;
        edges += td_degree(&job->view.push[0], (uint32_t)(all->entries[i] >> 32));
    }
    if (job->failed != TD_OK) return false;
    job->high.start[all->count] = edges;
    job->priority.entry_next = 0;
    return true;
}

/* Called by worker 0 while the others wait: takes the next bucket of all workers and numbers its entries. */
static void NAME(next_bucket)(td_cpu_job *job)
{
    uint64_t lowest = UINT64_MAX, total = 0;
    for (int w = 0; w < job->workers; w++) lowest = job->tallies[w].lowest < lowest ? job->tallies[w].lowest : lowest;
    job->progress.stop |= lowest == UINT64_MAX || job->failed != TD_OK;
    if (job->progress.stop) return;
    job->priority.bucket = lowest;
    for (int w = 0; w < job->workers; w++) {
        td_buckets *of = &job->priority.buckets[w];
        if (job->priority.bucket - of->base >= TD_BUCKET_WINDOW) NAME(move_window)(job, of);
        td_bucket_take(&of->window[job->priority.bucket - of->base], &of->current);
        job->priority.entry_start[w] = total;
        total += of->current.count;
    }
    job->priority.entry_start[job->workers] = total;
    job->priority.entry_next = 0;
    td_cpu_bucket_round(job, total);
}

/* This worker's share of the current bucket. */
static inline void NAME(empty_bucket)(td_cpu_job *job, const td_context *c, td_buckets *mine, td_cpu_tally *tally)
{
    uint64_t row[NAME(ENTRIES_AT_A_TIME)], total = job->priority.entry_start[job->workers];
    for (;;) {
        uint64_t at = atomic_fetch_add_explicit(&job->priority.entry_next, NAME(ENTRIES_AT_A_TIME),
                                                memory_order_relaxed),
                 count = 0;
        if (at >= total) return;
        for (int of = 0; count < NAME(ENTRIES_AT_A_TIME) && at < total; at++) {
            while (job->priority.entry_start[of + 1] <= at) of++;
            row[count++] = job->priority.buckets[of].current.entries[at - job->priority.entry_start[of]];
        }
        NAME(settle_row)(job, c, mine, row, count, tally);
    }
}

/* This worker's share of the high-degree vertices' edges. */
static inline void NAME(settle_high_degree)(td_cpu_job *job, const td_context *c, td_buckets *mine, td_cpu_tally *tally)
{
    const td_bucket *all = &job->priority.high_degree_entries;
    uint64_t pieces = td_high_degree_pieces(job->high.start[all->count]), piece;
    td_high_degree_part part;
    while ((piece = atomic_fetch_add_explicit(&job->priority.entry_next, 1, memory_order_relaxed)) < pieces) {
        td_high_degree_walk walk = td_high_degree_pieces_from(job->high.start, all->count, piece, piece + 1);
        while (td_high_degree_next(&walk, &part))
            NAME(settle_part)(job, c, mine, all->entries[part.which], part.begin, part.end, tally);
    }
}

/* Puts the active vertices into the buckets of their values. */
static void NAME(fill_buckets)(td_cpu_job *job, int worker)
{
    const td_context context = kernel_context(job);
    const program_value *values = job->values;
    uint64_t begin, end;
    while (td_share_out_take(&job->share, worker, &begin, &end))
        for (uint64_t w = begin; w < end; w++)
            for (uint64_t rest = job->frontier.active[w]; rest != 0; rest &= rest - 1) {
                uint32_t v = (uint32_t)(w * 64 + (uint64_t)__builtin_ctzll(rest));
                NAME(put)(job, &context, &job->priority.buckets[worker], v, values[v]);
            }
}

static void NAME(bucket)(td_cpu_job *job, int worker)
{
    const td_context context = kernel_context(job);
    td_cpu_tally *tally = &job->tallies[worker];
    td_buckets *mine = &job->priority.buckets[worker];
    for (;;) {
        tally->lowest = td_buckets_lowest(mine, job->priority.bucket);
        td_barrier_wait(&job->barrier);
        if (worker == 0 && !NAME(collect_high_degree)(job)) NAME(next_bucket)(job);
        td_barrier_wait(&job->barrier);
        if (job->progress.stop) return;
        if (job->priority.high_degree_entries.count > 0) {
            NAME(settle_high_degree)(job, &context, mine, tally);
            continue;
        }
        NAME(empty_bucket)(job, &context, mine, tally);
        NAME(fuse)(job, &context, mine, tally);
    }
}
