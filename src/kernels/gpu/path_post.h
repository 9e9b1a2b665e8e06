/* Several GPUs that share the paths of a graph (engine/paths/post.c). Behind a walk every GPU packs its outboxes: the
 * deposits at masters of other GPUs, aggregated where they were made, and the messages of its own masters that changed.
 * Then every GPU takes what the others packed for it.
 *
 * A list has the vertices of an outbox in the order of the paths that its messages are for, so that those of one
 * destination partition stay together: a block keeps the order of its part of the list. */

/* What a deposit sends: of core numbers a count and how much it has changed. */
#if PROGRAM_PEELS
typedef uint64_t path_parcel;
#else
typedef program_accum path_parcel;
#endif

/* The sum of `count` over the threads of the block before this one, and over all of them. All threads call; `sums`: a
 * word of shared memory for every warp. */
TD_DEVICE uint32_t path_before(uint32_t *sums, uint32_t count, uint32_t *total)
{
    uint32_t sum = count, before = 0;
    for (uint32_t step = 1; step < TD_WARP; step *= 2) {
        uint32_t below = TD_SHUFFLE_UP(TD_ALL_LANES, sum, step);
        if (td_lane() >= step) sum += below;
    }
    if (td_lane() == TD_WARP - 1) sums[td_warp()] = sum;
    TD_BARRIER();
    *total = 0;
    for (uint32_t w = 0; w < td_threads() / TD_WARP; w++) {
        if (w < td_warp()) before += sums[w];
        *total += sums[w];
    }
    TD_BARRIER();
    return before + sum - count;
}

/* The deposits that wait for a vertex: how many messages they are. */
TD_DEVICE uint32_t path_count_owed(const td_path_state *s, const td_context *c, uint32_t v)
{
#if PROGRAM_PEELS
    uint32_t most = (uint32_t)c->input[0][v], cells = 0;
    for (uint32_t h = 0; h <= most; h++) cells += s->counts[s->count_offsets[v] + h] != 0;
    return cells;
#else
    (void)s, (void)c, (void)v;
    return 1;
#endif
}

/* Writes them, and leaves none. The least of all deposits stays: a later one that is not smaller need not be sent. */
TD_DEVICE void path_write_owed(const td_path_state *s, const td_context *c, uint32_t v, uint32_t *vertices,
                               path_parcel *values)
{
#if PROGRAM_PEELS
    uint32_t most = (uint32_t)c->input[0][v], *count = s->counts + s->count_offsets[v], at = 0;
    for (uint32_t h = 0; h <= most; h++) {
        if (count[h] == 0) continue;
        vertices[at] = v;
        values[at++] = (uint64_t)h << 32 | count[h];
        count[h] = 0;
    }
#else
    program_accum *sum = (program_accum *)s->sums + v;
    (void)c;
    vertices[0] = v;
    values[0] = *sum;
    if (PROGRAM_SUM != TD_SUM_MIN) *sum = 0;
#endif
}

/* Every block packs parts of the list of TD_GPU_THREADS vertices. `count`, `write`: the messages about vertex v. */
#define PATH_PACK(name, type, number, write)                                                                  \
    TD_KERNEL(name, td_path_pack_args)                                                                        \
    {                                                                                                         \
        TD_SHARED(uint32_t, sums, TD_GPU_THREADS / TD_WARP + 1);                                              \
        uint32_t *begin = sums + TD_GPU_THREADS / TD_WARP;                                                    \
        const td_context context = kernel_context(&a.state), *c = &context;                                   \
        const td_path_state *s = &a.paths;                                                                    \
        uint32_t to = 0, total;                                                                               \
        (void)c;                                                                                              \
        for (uint32_t part = td_block(); part < a.first[a.count]; part += td_blocks()) {                      \
            while (part >= a.first[to + 1]) to++;                                                             \
            uint32_t v = a.list[(uint64_t)part * TD_GPU_THREADS + td_thread()];                               \
            uint32_t count = v != TD_PATH_NO_VERTEX && bit_of(a.map, v) ? number : 0;                         \
            uint32_t before = path_before(sums, count, &total);                                               \
            if (td_thread() == 0 && total > 0) begin[0] = TD_ADD(&a.lengths[to], total);                      \
            TD_BARRIER();                                                                                     \
            uint64_t at = total > 0 ? a.room[to] + begin[0] + before : 0;                                     \
            uint32_t *vertices = a.vertices + at;                                                             \
            type *values = (type *)a.values + at;                                                             \
            if (count > 0) { write; }                                                                         \
            TD_BARRIER();                                                                                     \
        }                                                                                                     \
    }
PATH_PACK(path_pack_deposits, path_parcel, path_count_owed(s, c, v), path_write_owed(s, c, v, vertices, values))
PATH_PACK(path_pack_messages, program_message, 1, (vertices[0] = v, values[0] = path_message_at(s, v)))
#undef PATH_PACK

/* A deposit of another GPU, like one of this GPU. */
TD_DEVICE void path_take_deposit(const td_path_state *s, const td_context *c, uint32_t v, path_parcel brought,
                                 td_path_tally *t)
{
#if PROGRAM_PEELS
    uint32_t bound = (uint32_t)(brought >> 32), more = (uint32_t)brought;
    (void)c;
    TD_ADD(&s->counts[s->count_offsets[v] + bound], more);
    if (more < 0x80000000u && bound < TD_PEEK(&((program_value *)s->values)[v])) path_trigger(s, v, t);
#elif PROGRAM_SUM == TD_SUM_MIN
    if (brought < TD_PEEK(&((program_value *)s->values)[v])) path_receive(s, c, v, brought, true, t);
#else
    path_receive(s, c, v, brought, true, t);
#endif
}

/* The message of a master on another GPU: the paths here that read it are marked. */
TD_DEVICE void path_take_message(const td_path_state *s, uint32_t v, program_message message, td_path_tally *t)
{
#if PROGRAM_SENDS_VALUE
    TD_POKE(&((program_value *)s->values)[v], message);
#else
    TD_POKE(&((program_message *)s->messages)[v], message);
#endif
    TD_FENCE();
    path_notify(s, v, 0xffffffffu, t);
}

/* The word of marks that a message leads to: of the path that applies the vertex, or the first that reads it. */
TD_DEVICE uint32_t path_word_of(const td_path_state *s, uint32_t v, bool deposit)
{
    if (deposit) return s->home[v] / 32;
    return s->places[s->place_offsets[v]] / 32;
}

#define PATH_TAKE(name, type, deposit, take)                                                                  \
    TD_KERNEL(name, td_path_take_args)                                                                        \
    {                                                                                                         \
        TD_SHARED(td_path_tally, block, 1);                                                                   \
        const td_context context = kernel_context(&a.state), *c = &context;                                   \
        const td_path_state *s = &a.paths;                                                                    \
        td_path_tally tally = path_begin_tally(block), *t = &tally;                                           \
        (void)c;                                                                                              \
        for (uint32_t b = 0; b < a.count; b++)                                                                \
            for (uint32_t i = td_global_thread(); i < a.box[b].length; i += td_global_threads()) {            \
                uint32_t v = a.box[b].vertices[i], u = i > 0 ? a.box[b].vertices[i - 1] : v;                  \
                type value = ((const type *)a.box[b].values)[i];                                              \
                take;                                                                                         \
                t->messages++;                                                                                \
                t->runs += i == 0 || path_word_of(s, u, deposit) != path_word_of(s, v, deposit);              \
            }                                                                                                 \
        path_end_tally(&tally, a.tally);                                                                      \
    }
PATH_TAKE(path_take_deposits, path_parcel, true, path_take_deposit(s, c, v, value, t))
PATH_TAKE(path_take_messages, program_message, false, path_take_message(s, v, value, t))
#undef PATH_TAKE
