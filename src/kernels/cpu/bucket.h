/* Delta-stepping on all workers, in one job: the lowest bucket is emptied until
 * nothing falls into it any more, then the next. The workers' parts of a bucket
 * are read where they lie, as one row of entries; two barriers a round. A worker
 * that drops only a few vertices into the bucket being emptied goes on with them
 * alone (bucket fusion: Zhang et al., CGO'20). Included once per kind of weight. */

enum { NAME(FUSION) = 1024, NAME(ENTRIES_AT_A_TIME) = 64 };

static inline void NAME(put)(td_cpu_job *job, td_buckets *mine, uint32_t v, program_value value)
{
    uint64_t priority = program_priority(&job->context, value, job->delta);
    if (td_buckets_put(mine, priority, (uint64_t)v << 32 | value) != TD_OK) job->failed = TD_NO_MEMORY;
}

static inline void NAME(settle)(td_cpu_job *job, td_buckets *mine, uint64_t entry, td_cpu_tally *tally)
{
    const td_context *c = &job->context;
    uint32_t u = (uint32_t)(entry >> 32);
    program_value value = (program_value)entry;
    if (read_value(&((program_value *)job->values)[u]) != value) return; /* it improved since */
    const td_adjacency *list = &job->push[0];
    const void *weights = list->weights;
    (void)weights;
    uint64_t begin = list->offsets[u], end = list->offsets[u + 1];
    program_message message = program_send(c, value, (uint32_t)(end - begin));
    for (uint64_t e = begin; e < end; e++) {
        program_value fresh;
        uint32_t v = list->targets[e];
        if (NAME(relax)(job, v, CONTRIBUTION(c, message, weights, e), &fresh)) NAME(put)(job, mine, v, fresh);
    }
    tally->edges += end - begin;
    tally->activated++;
}

/* This worker's own additions to the current bucket, over and over while they stay few. */
static inline void NAME(fuse)(td_cpu_job *job, td_buckets *mine, td_cpu_tally *tally)
{
    td_bucket *bucket = &mine->window[job->bucket - mine->base];
    while (bucket->count > 0 && bucket->count < NAME(FUSION) && job->failed == TD_OK) {
        td_bucket_take(bucket, &mine->own);
        for (uint64_t i = 0; i < mine->own.count; i++) NAME(settle)(job, mine, mine->own.entries[i], tally);
    }
}

/* Moves a worker's window and deals out again what lay beyond it. */
static inline void NAME(move_window)(td_cpu_job *job, td_buckets *of)
{
    td_bucket old = of->beyond;
    of->beyond = (td_bucket){0};
    of->base = job->bucket;
    of->lowest_beyond = UINT64_MAX;
    for (uint64_t i = 0; i < old.count; i++) {
        uint32_t v = (uint32_t)(old.entries[i] >> 32);
        if (((program_value *)job->values)[v] == (program_value)old.entries[i])
            NAME(put)(job, of, v, (program_value)old.entries[i]);
    }
    td_free(old.entries);
}

/* Worker 0, while the others wait: the next bucket and where its entries are. */
static void NAME(next_bucket)(td_cpu_job *job)
{
    uint64_t lowest = UINT64_MAX, total = 0;
    for (int w = 0; w < job->workers; w++) lowest = job->tallies[w].lowest < lowest ? job->tallies[w].lowest : lowest;
    job->stop |= lowest == UINT64_MAX || job->failed != TD_OK;
    if (job->stop) return;
    job->bucket = lowest;
    for (int w = 0; w < job->workers; w++) {
        td_buckets *of = &job->buckets[w];
        if (job->bucket - of->base >= TD_BUCKET_WINDOW) NAME(move_window)(job, of);
        td_bucket_take(&of->window[job->bucket - of->base], &of->current);
        job->entry_start[w] = total;
        total += of->current.count;
    }
    job->entry_start[job->workers] = total;
    job->entry_next = 0;
    td_cpu_bucket_round(job, total);
}

static void NAME(bucket)(td_cpu_job *job, int worker)
{
    td_cpu_tally *tally = &job->tallies[worker];
    td_buckets *mine = &job->buckets[worker];
    for (;;) {
        tally->lowest = td_buckets_lowest(mine, job->bucket);
        td_barrier_wait(&job->barrier);
        if (worker == 0) NAME(next_bucket)(job);
        td_barrier_wait(&job->barrier);
        if (job->stop) return;
        uint64_t total = job->entry_start[job->workers];
        for (uint64_t at; (at = atomic_fetch_add_explicit(&job->entry_next, NAME(ENTRIES_AT_A_TIME), memory_order_relaxed)) < total;) {
            int of = 0;
            while (job->entry_start[of + 1] <= at) of++;
            for (uint64_t i = at; i < at + NAME(ENTRIES_AT_A_TIME) && i < total; i++) {
                while (job->entry_start[of + 1] <= i) of++;
                NAME(settle)(job, mine, job->buckets[of].current.entries[i - job->entry_start[of]], tally);
            }
        }
        NAME(fuse)(job, mine, tally);
    }
}
