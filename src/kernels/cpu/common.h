/* The CPU's kernels that do not read weights: included once per program. */

/* Values that other workers may write concurrently are read and written with relaxed
 * atomics, which compile to plain moves. */
#if PROGRAM_GAS
static inline program_value read_value(const program_value *value)
{
    program_value read;
    __atomic_load(value, &read, __ATOMIC_RELAXED);
    return read;
}

static inline void write_value(program_value *value, program_value fresh)
{
    __atomic_store(value, &fresh, __ATOMIC_RELAXED);
}

static inline program_message read_message(const program_message *message)
{
    program_message read;
    __atomic_load(message, &read, __ATOMIC_RELAXED);
    return read;
}

static inline void write_message(program_message *message, program_message fresh)
{
    __atomic_store(message, &fresh, __ATOMIC_RELAXED);
}
#endif

/* A worker's own copy of the context: the compiler keeps it in registers. */
static inline td_context kernel_context(const td_cpu_job *job)
{
    td_context context = job->context;
#if PROGRAM_BEGINS
    program_begin(&context);
#endif
    return context;
}

/* The target of an edge. A list in a mapped file may hold any number, and another one at the next read: its targets are
 * read once, and false is returned for a wild one, which is no vertex. */
TD_INLINE bool read_target(td_cpu_job *job, const td_adjacency *list, uint64_t e, bool mapped, uint32_t *target)
{
    *target = mapped ? TD_LOAD(&list->targets[e]) : list->targets[e];
    if (!mapped || __builtin_expect(*target < job->graph->vertices, 1)) return true;
    td_cpu_find_wild(&job->mapped.wild, list->targets == job->graph->out.targets, e, *target);
    return false;
}

#if PROGRAM_GAS
/* Prefetch distances, in entries of a list or of a queue. */
enum { HEADS_AHEAD = 16, VALUES_AHEAD = 24, PLACES_AHEAD = 16, LISTS_AHEAD = 8, ENDS_AHEAD = 3, ENDS_FETCHED = 8 };

/* Prefetch distances of a pull, in edges: for the list itself and for the messages of its vertices. A list is long from
 * LONG_LIST edges on. */
enum { LIST_AHEAD = 512, MESSAGES_AHEAD = 96, LONG_LIST = 16 };

static inline void fetch_ends(const td_cpu_job *job, const td_adjacency *list, uint32_t u)
{
    uint64_t begin = list->offsets[u], end = list->offsets[u + 1];
    if (end > begin + ENDS_FETCHED) end = begin + ENDS_FETCHED;
    for (uint64_t e = begin; e < end; e++) td_fetch((const program_value *)job->values + list->targets[e]);
}

/* Adds the change of one vertex to the change of the step. */
static inline double measure(const td_context *c, double so_far, program_value fresh, program_value old)
{
    (void)c, (void)fresh, (void)old;
#if PROGRAM_MEASURE == TD_MEASURE_MAX
    return td_larger_change(so_far, program_change(c, fresh, old));
#elif PROGRAM_MEASURE == TD_MEASURE_SUM
    return so_far + program_change(c, fresh, old);
#else
    return so_far;
#endif
}

/* The first edge in begin..end - 1 that leads to an active vertex, or `end`. Tests the
 * first few edges one by one, because most lists of a skewed graph hit early, then eight
 * at a time without a branch between them. */
static inline uint64_t first_active(const uint64_t *active, const uint32_t *targets, uint64_t begin, uint64_t end)
{
    uint64_t e = begin, few = end - begin < 4 ? end : begin + 4;
    for (; e < few; e++)
        if (td_bit_get(active, targets[e])) return e;
    for (; e + 8 <= end; e += 8) {
        unsigned hits = 0;
        for (unsigned i = 0; i < 8; i++) hits |= (unsigned)td_bit_get(active, targets[e + i]) << i;
        if (hits != 0) return e + (uint64_t)__builtin_ctz(hits);
    }
    while (e < end && !td_bit_get(active, targets[e])) e++;
    return e;
}
#endif

#if PROGRAM_GAS && PROGRAM_FIRST_HIT
/* first_active of such a list. */
static inline uint64_t first_active_mapped(td_cpu_job *job, const td_adjacency *list, uint64_t begin, uint64_t end)
{
    const uint64_t *active = job->frontier.active;
    uint64_t e = begin, few = end - begin < 4 ? end : begin + 4;
    uint32_t v, n = job->graph->vertices;
    for (; e < few; e++)
        if (read_target(job, list, e, true, &v) && td_bit_get(active, v)) return e;
    for (; e + 8 <= end; e += 8) {
        uint32_t read[8], largest = 0;
        unsigned hits = 0;
        for (unsigned i = 0; i < 8; i++) read[i] = TD_LOAD(&list->targets[e + i]);
        for (unsigned i = 0; i < 8; i++) largest = read[i] > largest ? read[i] : largest;
        if (__builtin_expect(largest >= n, 0)) break; /* the loop below finds out which */
        for (unsigned i = 0; i < 8; i++) hits |= (unsigned)td_bit_get(active, read[i]) << i;
        if (hits != 0) return e + (uint64_t)__builtin_ctz(hits);
    }
    while (e < end && !(read_target(job, list, e, true, &v) && td_bit_get(active, v))) e++;
    return e;
}
#endif

static void init(td_cpu_job *job, int worker)
{
    const td_context *c = &job->context;
    td_cpu_tally *tally = &job->tallies[worker];
    program_value *values = job->values;
    uint64_t begin, end;
    while (td_share_out_take(&job->share, worker, &begin, &end))
        for (uint64_t w = begin; w < end; w++) {
            uint64_t active = 0, done = 0, last = job->graph->vertices - w * 64;
            uint64_t given = job->setup.resumed && job->frontier.active != NULL ? job->frontier.active[w] : 0;
            (void)given;
            for (uint64_t bit = 0; bit < 64 && bit < last; bit++) {
                uint32_t v = (uint32_t)(w * 64 + bit), degree = (uint32_t)td_degree(&job->graph->out, v);
                if (!job->setup.resumed) values[v] = program_init(c, v, degree);
#if PROGRAM_GAS
                if (!PROGRAM_SENDS_VALUE) ((program_message *)job->messages)[v] = program_send(c, values[v], degree);
#if PROGRAM_SHARES
                tally->share += program_share(c, v, values[v], degree);
#endif
                bool starts = job->setup.resumed ? given >> bit & 1 : program_starts(c, v, values[v]);
                active |= (uint64_t)starts << bit;
                if (starts) tally->activated_edges += td_cpu_push_degree(job, v);
                bool never = td_cpu_pull_degree(job, v) == 0 || (job->setup.defer_sinks && degree == 0);
                bool settled = starts || never;
#if PROGRAM_FIRST_HIT
                settled |= job->setup.resumed && values[v] != program_zero(c);
                if (!settled) tally->edges += td_cpu_push_degree(job, v);
#endif
                done |= (uint64_t)settled << bit;
#endif
            }
            if (last < 64) done |= ~UINT64_C(0) << last;
            if (job->frontier.active != NULL) job->frontier.active[w] = active;
            if (job->frontier.done != NULL) job->frontier.done[w] = done;
            tally->activated += td_popcount(active);
            tally->total += 64 - td_popcount(done); /* vertices without a value */
        }
}

#if PROGRAM_GAS
/* Garaph's notify: every active vertex marks its push neighbours. */
static void notify(td_cpu_job *job, int worker)
{
    td_cpu_tally *tally = &job->tallies[worker];
    uint64_t begin, end;
    while (td_share_out_take(&job->share, worker, &begin, &end))
        for (uint64_t w = begin; w < end; w++)
            for (uint64_t rest = job->frontier.active[w]; rest != 0; rest &= rest - 1) {
                uint32_t u = (uint32_t)(w * 64 + (uint64_t)__builtin_ctzll(rest));
                if (PROGRAM_OWN_VALUE) td_bit_set_atomic(job->frontier.marked, u);
                for (int l = 0; l < job->view.lists; l++) {
                    const td_adjacency *list = &job->view.push[l];
                    for (uint64_t e = list->offsets[u]; e < list->offsets[u + 1]; e++)
                        td_bit_set_atomic(job->frontier.marked, list->targets[e]);
                    tally->edges += list->offsets[u + 1] - list->offsets[u];
                }
            }
}

/* Copies the new values of marked vertices to the values after a synchronous pull. */
static void commit_marked(td_cpu_job *job, int worker)
{
    program_value *values = job->values;
    const program_value *next = job->next_values;
    program_message *messages = job->messages;
    const program_message *next_messages = job->next_messages;
    uint64_t begin, end;
    while (td_share_out_take(&job->share, worker, &begin, &end))
        for (uint64_t w = begin; w < end; w++)
            for (uint64_t rest = job->frontier.marked[w]; rest != 0; rest &= rest - 1) {
                uint64_t v = w * 64 + (uint64_t)__builtin_ctzll(rest);
                if (job->setup.defer_sinks && td_degree(&job->graph->out, (uint32_t)v) == 0) continue;
                if (PROGRAM_SENDS_VALUE) values[v] = next[v];
                else messages[v] = next_messages[v];
            }
}

#if PROGRAM_PEELS
/* Peeling: divides the remaining vertices. A vertex at this level is removed (next_queue),
 * one above it remains (next_left), one below it was removed earlier. */
static void peel(td_cpu_job *job, int worker)
{
    const td_context *c = &job->context;
    td_cpu_tally *tally = &job->tallies[worker];
    const program_value *values = job->values;
    td_outbox going, staying;
    td_outbox_open(&going, job->frontier.next_queue, &job->frontier.next_count);
    td_outbox_open(&staying, job->peel.next_left, &job->peel.next_left_count);
    uint64_t begin, end;
    while (td_share_out_take(&job->share, worker, &begin, &end))
        for (uint64_t i = begin; i < end; i++) {
            uint32_t v = job->peel.left[i];
            if (!program_starts(c, v, values[v])) {
                if (values[v] < tally->lowest) tally->lowest = values[v];
                td_outbox_put(&staying, v);
            } else if (values[v] == c->phase) {
                tally->activated_edges += td_cpu_push_degree(job, v);
                td_outbox_put(&going, v);
            }
        }
    td_outbox_flush(&going);
    td_outbox_flush(&staying);
}

/* The same with bitmaps: `done` has the vertices removed so far, `active` receives those removed at this level. */
static void peel_words(td_cpu_job *job, int worker)
{
    const td_context *c = &job->context;
    td_cpu_tally *tally = &job->tallies[worker];
    const program_value *values = job->values;
    uint64_t begin, end;
    while (td_share_out_take(&job->share, worker, &begin, &end))
        for (uint64_t w = begin; w < end; w++) {
            uint64_t going = 0, gone = 0;
            for (uint64_t rest = ~job->frontier.done[w]; rest != 0; rest &= rest - 1) {
                uint64_t bit = (uint64_t)__builtin_ctzll(rest);
                uint32_t v = (uint32_t)(w * 64 + bit);
                if (program_starts(c, v, values[v])) {
                    gone |= UINT64_C(1) << bit;
                    going |= (uint64_t)(values[v] == c->phase) << bit;
                } else {
                    tally->total++; /* remains */
                    if (values[v] < tally->lowest) tally->lowest = values[v];
                }
            }
            job->frontier.done[w] |= gone;
            job->frontier.active[w] = going;
            tally->activated += td_popcount(going);
        }
}
#endif
#endif
