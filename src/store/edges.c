/* Chunks of edges and the numbering of their ids.
 *
 * Dense ids are numbered by a bitmap and its prefix counts; ids scattered over 64 bits
 * by a hash set that all workers fill, which starts small and doubles when it gets
 * crowded. Either way vertices are numbered in ascending order of their ids, for any
 * number of threads.
 */
#include "store/edges.h"

#include "base/bitmap.h"
#include "base/log.h"
#include "base/random.h"
#include "store/graph.h"
#include "store/id_loops.h"
#include "store/vertex_names.h"

#include <stdatomic.h>
#include <string.h>

td_status td_edges_create(td_edge_list **out, const char *name)
{
    td_status status = TD_OK;
    td_edge_list *list = NULL;
    TD_CHECK(TD_NEW_ZEROED(&list, 1, "edge list"));
    pthread_mutex_init(&list->lock, NULL);
    if (name != NULL) TD_TRY(td_string_copy(&list->name, name, "edge list"));
    *out = list;
    list = NULL;
done:
    td_edges_destroy(list);
    return status;
}

void td_chunk_clear(td_edge_chunk *chunk)
{
    td_free(chunk->ends);
    td_free(chunk->wide);
    td_free(chunk->weights);
    *chunk = (td_edge_chunk){0};
}

void td_edges_destroy(td_edge_list *list)
{
    if (list == NULL) return;
    for (uint64_t i = 0; i < list->chunk_count; i++) {
        if (list->chunks[i] == NULL) continue;
        td_chunk_clear(list->chunks[i]);
        td_free(list->chunks[i]);
    }
    td_edges_drop_idle(list);
    pthread_mutex_destroy(&list->lock);
    td_free(list->idle);
    td_free(list->chunks);
    td_free(list->listed);
    td_vertex_names_destroy(list->names);
    td_weight_table_destroy(list->table);
    td_free(list->name);
    td_free(list);
}

td_status td_edges_use_doubles(td_edge_list *list)
{
    return list->table != NULL ? TD_OK : td_weight_table_create(&list->table);
}

static td_status chunk_at(td_edge_list *list, uint64_t index, td_edge_chunk **out)
{
    if (index >= list->chunk_room) {
        uint64_t room = index + 1 + index / 2;
        TD_CHECK(TD_RESIZE(&list->chunks, room, "edge chunks"));
        memset(list->chunks + list->chunk_room, 0, (room - list->chunk_room) * sizeof *list->chunks);
        list->chunk_room = room;
    }
    if (index >= list->chunk_count) list->chunk_count = index + 1;
    if (list->chunks[index] == NULL) {
        TD_CHECK(TD_NEW_ZEROED(&list->chunks[index], 1, "edge chunk"));
        if (list->idle_count > 0) *list->chunks[index] = list->idle[--list->idle_count];
    }
    list->chunks[index]->table = list->table;
    list->chunks[index]->chosen = list->unweighted || list->floats;
    *out = list->chunks[index];
    return TD_OK;
}

td_status td_edges_chunk(td_edge_list *list, uint64_t index, td_edge_chunk **out)
{
    pthread_mutex_lock(&list->lock);
    td_status status = chunk_at(list, index, out);
    pthread_mutex_unlock(&list->lock);
    return status;
}

/* Keeps a chunk for reuse, because page faults cost more than filling it. There are at most as many idle chunks as
 * workers. */
static td_status keep_idle(td_edge_list *list, td_edge_chunk *chunk)
{
    td_status status = TD_OK;
    pthread_mutex_lock(&list->lock);
    if (list->idle_count == list->idle_room) {
        uint64_t room = list->idle_room + 16;
        TD_TRY(TD_RESIZE(&list->idle, room, "idle chunks"));
        list->idle_room = room;
    }
    list->idle[list->idle_count++] = (td_edge_chunk){.room = chunk->room, .ends = chunk->ends,
                                                     .weights = chunk->weights, .weighted = chunk->weighted};
    *chunk = (td_edge_chunk){0};
done:
    pthread_mutex_unlock(&list->lock);
    return status;
}

td_status td_edges_deliver(td_edge_list *list, td_edge_chunk *chunk, int worker)
{
    if (list->table != NULL) TD_CHECK(td_weight_table_check(list->table));
    if (list->take == NULL) return TD_OK;
    list->taken += chunk->count;
    td_status status = list->take(list->take_context, chunk, worker);
    if (status == TD_OK && chunk->ends != NULL) status = keep_idle(list, chunk);
    td_chunk_clear(chunk);
    return status;
}

void td_edges_drop_idle(td_edge_list *list)
{
    while (list->idle_count > 0) td_chunk_clear(&list->idle[--list->idle_count]);
}

uint64_t td_edges_count(const td_edge_list *list)
{
    uint64_t count = list->taken;
    for (uint64_t i = 0; i < list->chunk_count; i++)
        if (list->chunks[i] != NULL) count += list->chunks[i]->count;
    return count;
}

static td_status resize_chunk(td_edge_chunk *chunk, uint64_t room)
{
    td_refusal system = {.resource = TD_RESOURCE_SYSTEM_MEMORY, .needed = UINT64_MAX};
    if (room > UINT64_MAX / 2)
        return td_refuse(&system, "%llu edges are more than any memory holds", (unsigned long long)room);
    if (chunk->wide != NULL)
        TD_CHECK(TD_RESIZE(&chunk->wide, 2 * room, "edges"));
    else
        TD_CHECK(TD_RESIZE(&chunk->ends, 2 * room, "edges"));
    if (chunk->weighted) TD_CHECK(TD_RESIZE(&chunk->weights, room, "edge weights"));
    chunk->room = room;
    return TD_OK;
}

td_status td_chunk_reserve(td_edge_chunk *chunk, uint64_t room, bool weighted)
{
    if (chunk->ends == NULL && chunk->wide == NULL) chunk->weighted = weighted;
    return room > chunk->room || (chunk->ends == NULL && chunk->wide == NULL) ? resize_chunk(chunk, room) : TD_OK;
}

td_status td_chunk_shrink(td_edge_chunk *chunk)
{
    return chunk->count < chunk->room ? resize_chunk(chunk, chunk->count) : TD_OK;
}

td_status td_chunk_widen(td_edge_chunk *chunk)
{
    TD_CHECK(TD_NEW(&chunk->wide, 2 * chunk->room, "edges with 64-bit ids"));
    for (uint64_t i = 0; i < 2 * chunk->count; i++) chunk->wide[i] = chunk->ends[i];
    td_free(chunk->ends);
    chunk->ends = NULL;
    return TD_OK;
}

td_status td_chunk_narrow(td_edge_chunk *chunk)
{
    TD_CHECK(TD_NEW(&chunk->ends, 2 * chunk->count, "edges"));
    for (uint64_t i = 0; i < 2 * chunk->count; i++) chunk->ends[i] = (uint32_t)chunk->wide[i];
    td_free(chunk->wide);
    chunk->wide = NULL;
    chunk->room = chunk->count;
    return TD_OK;
}

/* td_chunk_weight_* call this before they store the last edge's weight; converting
 * the undefined value there does no harm. */
void td_chunk_make_real(td_edge_chunk *chunk)
{
    if (chunk->real) return;
    chunk->real = true;
    for (uint64_t i = 0; i + 1 < chunk->count; i++) {
        float value = (float)chunk->weights[i];
        if ((double)value != (double)chunk->weights[i] && chunk->inexact == 0) chunk->inexact = i + 1;
        memcpy(&chunk->weights[i], &value, sizeof value);
    }
}

void td_chunk_all_real(td_edge_chunk *chunk)
{
    if (chunk->weights == NULL) return;
    chunk->count++; /* td_chunk_make_real does not convert the last one */
    td_chunk_make_real(chunk);
    chunk->count--;
}

td_status td_edges_inexact(const td_edge_list *list)
{
    return td_fail(TD_LIMIT, "%s: integer weights with negative ones among them are kept as 32-bit floats, which "
                   "cannot hold one of the weights exactly; allowed are -2^24..2^24",
                   list->name != NULL ? list->name : "edges");
}

void td_edges_tell_rounding(const td_edge_list *list, bool rounded, bool inexact)
{
    const char *name = list->name != NULL ? list->name : "edges";
    if (inexact)
        td_warn("%s: integer weights beyond 2^24 = 16777216 are rounded to 32-bit floats, because other weights are real",
                name);
    else if (rounded && !list->floats)
        td_info("%s: weights are kept as 32-bit floats; some were rounded, by up to 6e-8 of themselves ({weights} f64 "
                "keeps 64 bits)", name);
}

static td_status rank_chunks(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const td_edge_list *list = context;
    for (uint64_t i = begin; i < end; i++) {
        td_edge_chunk *chunk = list->chunks[i];
        if (chunk == NULL || chunk->weights == NULL) continue;
        for (uint64_t e = 0; e < chunk->count; e++) chunk->weights[e] = td_weight_rank(list->table, chunk->weights[e]);
    }
    return TD_OK;
}

td_status td_edges_settle_weights(td_edge_list *list, td_pool *pool, bool *real)
{
    bool some_real = list->floats, fraction = list->floats, rounded = false, inexact = false;
    *real = false;
    if (list->table != NULL) {
        TD_CHECK(td_weight_table_rank(list->table, pool));
        return td_pool_for(pool, list->chunk_count, 1, rank_chunks, list);
    }
    for (uint64_t i = 0; i < list->chunk_count; i++) {
        if (list->chunks[i] == NULL) continue;
        some_real |= list->chunks[i]->real;
        fraction |= list->chunks[i]->fraction;
        rounded |= list->chunks[i]->rounded;
    }
    *real = some_real;
    if (!some_real) return TD_OK;
    for (uint64_t i = 0; i < list->chunk_count; i++) {
        td_edge_chunk *chunk = list->chunks[i];
        if (chunk == NULL || chunk->weights == NULL) continue;
        td_chunk_all_real(chunk);
        if (chunk->inexact != 0 && !fraction) return td_edges_inexact(list);
        inexact |= chunk->inexact != 0;
    }
    td_edges_tell_rounding(list, rounded, inexact);
    return TD_OK;
}

/* Numbering ids. */

typedef struct numbering {
    td_edge_list *list;
    _Atomic uint64_t lowest, highest;
    uint64_t *map;  /* bitmap of ids present, from `lowest` on */
    uint32_t *rank; /* ids below each word of it */
    uint64_t *keys; /* hash set of ids, EMPTY where free; EMPTY itself is a flag beside it */
    uint32_t *numbers;
    uint64_t slots; /* a power of two */
    _Atomic uint64_t filled;
    atomic_bool crowded, has_empty;
    uint64_t *ids;
    uint64_t count;
} numbering;

#define EMPTY UINT64_MAX
enum { COUNT_EVERY = 256 }; /* ids that a worker adds before it updates the shared count */

/* Calls visit(job, id) for every end of a chunk. */
#define FOR_ENDS(chunk, id, body)                                 \
    if ((chunk)->wide != NULL)                                    \
        for (uint64_t e_ = 0; e_ < 2 * (chunk)->count; e_++) {    \
            uint64_t id = (chunk)->wide[e_];                      \
            body                                                  \
        }                                                         \
    else                                                          \
        for (uint64_t e_ = 0; e_ < 2 * (chunk)->count; e_++) {    \
            uint64_t id = (chunk)->ends[e_];                      \
            body                                                  \
        }

static td_status find_range(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    numbering *job = context;
    uint64_t low = UINT64_MAX, high = 0;
    for (uint64_t i = begin; i < end; i++) {
        const td_edge_chunk *chunk = job->list->chunks[i];
        if (chunk == NULL || chunk->count == 0) continue;
        uint32_t narrow_low = UINT32_MAX, narrow_high = 0;
        if (chunk->wide == NULL) {
            td_id_loops_in_use()->range(chunk->ends, 2 * chunk->count, &narrow_low, &narrow_high);
            low = narrow_low < low ? narrow_low : low;
            high = narrow_high > high ? narrow_high : high;
            continue;
        }
        for (uint64_t e = 0; e < 2 * chunk->count; e++) {
            low = chunk->wide[e] < low ? chunk->wide[e] : low;
            high = chunk->wide[e] > high ? chunk->wide[e] : high;
        }
    }
    uint64_t seen = job->lowest;
    while (low < seen && !atomic_compare_exchange_weak(&job->lowest, &seen, low)) {}
    seen = job->highest;
    while (high > seen && !atomic_compare_exchange_weak(&job->highest, &seen, high)) {}
    return TD_OK;
}

static td_status mark_ids(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    numbering *job = context;
    for (uint64_t i = begin; i < end; i++) {
        if (job->list->chunks[i] == NULL) continue;
        FOR_ENDS(job->list->chunks[i], id, { td_bit_set_atomic(job->map, id - job->lowest); })
    }
    return TD_OK;
}

static uint64_t slot_of(const numbering *job, uint64_t id)
{
    uint64_t slot = td_mix64(id) & (job->slots - 1);
    for (;;) {
        uint64_t key = __atomic_load_n(&job->keys[slot], __ATOMIC_RELAXED);
        if (key == id || key == EMPTY) return slot;
        slot = (slot + 1) & (job->slots - 1);
    }
}

/* True if this call added the id. */
static bool insert_id(numbering *job, uint64_t id)
{
    if (id == EMPTY) return !atomic_exchange(&job->has_empty, true);
    for (;;) {
        uint64_t slot = slot_of(job, id), expected = EMPTY;
        if (__atomic_load_n(&job->keys[slot], __ATOMIC_RELAXED) == id) return false;
        if (__atomic_compare_exchange_n(&job->keys[slot], &expected, id, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return true;
    }
}

static void note_filled(numbering *job, uint64_t added)
{
    if (atomic_fetch_add(&job->filled, added) + added > job->slots / 2) job->crowded = true;
}

static td_status insert_ids(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    numbering *job = context;
    uint64_t added = 0;
    for (uint64_t i = begin; i < end; i++) {
        if (job->list->chunks[i] == NULL) continue;
        FOR_ENDS(job->list->chunks[i], id, {
            added += insert_id(job, id);
            if (added == COUNT_EVERY) {
                note_filled(job, added);
                added = 0;
            }
            if (atomic_load_explicit(&job->crowded, memory_order_relaxed)) return TD_OK;
        })
    }
    note_filled(job, added);
    return TD_OK;
}

static uint32_t number_of(const numbering *job, uint64_t id)
{
    if (job->map != NULL) {
        uint64_t bit = id - job->lowest;
        return job->rank[bit / 64] +
               (uint32_t)td_popcount(job->map[bit / 64] & ((UINT64_C(1) << (bit % 64)) - 1));
    }
    return id == EMPTY ? (uint32_t)(job->count - 1) : job->numbers[slot_of(job, id)];
}

static td_status renumber(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    numbering *job = context;
    for (uint64_t i = begin; i < end; i++) {
        td_edge_chunk *chunk = job->list->chunks[i];
        if (chunk == NULL) continue;
        if (chunk->wide == NULL && job->map != NULL) {
            td_id_loops_in_use()->number(chunk->ends, 2 * chunk->count, job->lowest, job->map, job->rank);
            continue;
        }
        if (chunk->wide == NULL) {
            for (uint64_t e = 0; e < 2 * chunk->count; e++) chunk->ends[e] = number_of(job, chunk->ends[e]);
            continue;
        }
        for (uint64_t e = 0; e < 2 * chunk->count; e++) chunk->wide[e] = number_of(job, chunk->wide[e]);
        TD_CHECK(td_chunk_narrow(chunk));
    }
    return TD_OK;
}

td_status td_edges_too_many(const td_edge_list *list, uint64_t count)
{
    return td_fail(TD_LIMIT, "%s: %llu vertices, at most 2^32-2 are supported",
                   list->name != NULL ? list->name : "edges", (unsigned long long)count);
}

/* The bitmap is used if it is no larger than the edges themselves. */
static bool close_together(const numbering *job)
{
    uint64_t span = job->highest - job->lowest;
    return span / 8 < (UINT64_C(32) << 20) + 4 * (td_edges_count(job->list) + job->list->listed_count);
}

static td_status number_by_bitmap(numbering *job, td_pool *pool)
{
    uint64_t bits = job->highest - job->lowest + 1, words = td_bitmap_words(bits);
    TD_CHECK(TD_NEW_ZEROED(&job->map, words, "map of vertex ids"));
    TD_CHECK(TD_NEW(&job->rank, words, "ranks of vertex ids"));
    TD_CHECK(td_pool_for(pool, job->list->chunk_count, 1, mark_ids, job));
    for (uint64_t i = 0; i < job->list->listed_count; i++) td_bit_set(job->map, job->list->listed[i] - job->lowest);
    for (uint64_t w = 0; w < words; w++) {
        job->rank[w] = (uint32_t)job->count;
        job->count += td_popcount(job->map[w]);
    }
    if (job->count > TD_MAX_VERTICES) return td_edges_too_many(job->list, job->count);
    if (job->count == bits) return TD_OK;
    TD_CHECK(TD_NEW(&job->ids, job->count, "original ids"));
    uint64_t next = 0;
    for (uint64_t w = 0; w < words; w++)
        for (uint64_t rest = job->map[w]; rest != 0; rest &= rest - 1)
            job->ids[next++] = job->lowest + w * 64 + (uint64_t)__builtin_ctzll(rest);
    return TD_OK;
}

/* Half of the set stays free for ids that workers have added but not counted yet: a
 * search in a full set would not end. */
static td_status fill_set(numbering *job, td_pool *pool)
{
    uint64_t edges = td_edges_count(job->list) + job->list->listed_count;
    uint64_t uncounted = COUNT_EVERY * (uint64_t)td_pool_threads(pool);
    for (job->slots = 1024; job->slots < edges / 8 || job->slots < 4 * uncounted; job->slots *= 2) {}
    for (;;) {
        job->filled = 0;
        job->crowded = false;
        job->has_empty = false;
        TD_CHECK(TD_NEW(&job->keys, job->slots, "set of vertex ids"));
        memset(job->keys, 0xff, job->slots * sizeof *job->keys);
        uint64_t added = 0;
        for (uint64_t i = 0; i < job->list->listed_count && !job->crowded; i++) {
            added = insert_id(job, job->list->listed[i]);
            note_filled(job, added);
        }
        if (!job->crowded) TD_CHECK(td_pool_for(pool, job->list->chunk_count, 1, insert_ids, job));
        if (!job->crowded) return TD_OK;
        td_free(job->keys);
        job->keys = NULL;
        job->slots *= 2;
    }
}

/* Radix sort from the least significant byte; skips a byte that is equal in all ids. */
static td_status sort_ids(uint64_t *ids, uint64_t count)
{
    uint64_t *other = NULL, *from = ids;
    TD_CHECK(TD_NEW(&other, count, "sorted ids"));
    uint64_t *to = other;
    for (int shift = 0; shift < 64; shift += 8) {
        uint64_t start[257] = {0};
        for (uint64_t i = 0; i < count; i++) start[(from[i] >> shift & 255) + 1]++;
        bool alike = false;
        for (int d = 1; d <= 256; d++) alike |= start[d] == count;
        if (alike) continue;
        for (int d = 0; d < 256; d++) start[d + 1] += start[d];
        for (uint64_t i = 0; i < count; i++) to[start[from[i] >> shift & 255]++] = from[i];
        uint64_t *keep = from;
        from = to;
        to = keep;
    }
    if (from != ids) memcpy(ids, from, count * sizeof *ids);
    td_free(other);
    return TD_OK;
}

static td_status number_slots(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    numbering *job = context;
    for (uint64_t i = begin; i < end; i++)
        if (job->ids[i] != EMPTY) job->numbers[slot_of(job, job->ids[i])] = (uint32_t)i;
    return TD_OK;
}

static td_status number_by_set(numbering *job, td_pool *pool)
{
    TD_CHECK(fill_set(job, pool));
    job->count = job->filled;
    if (job->count > TD_MAX_VERTICES) return td_edges_too_many(job->list, job->count);
    TD_CHECK(TD_NEW(&job->ids, job->count, "original ids"));
    uint64_t next = 0;
    for (uint64_t slot = 0; slot < job->slots; slot++)
        if (job->keys[slot] != EMPTY) job->ids[next++] = job->keys[slot];
    if (job->has_empty) job->ids[next++] = EMPTY;
    TD_CHECK(sort_ids(job->ids, job->count));
    TD_CHECK(TD_NEW(&job->numbers, job->slots, "numbers of vertex ids"));
    return td_pool_for(pool, job->count, 65536, number_slots, job);
}

td_status td_edges_beyond_declared(const td_edge_list *list, uint64_t id)
{
    const char *name = list->name != NULL ? list->name : "edges";
    if (list->vertices == 0)
        return td_fail(TD_FORMAT, "%s: an edge names vertex %llu, but none is declared", name,
                       (unsigned long long)(id + list->id_base));
    return td_fail(TD_FORMAT, "%s: an edge names vertex %llu, allowed are %llu to %llu", name,
                   (unsigned long long)(id + list->id_base), (unsigned long long)list->id_base,
                   (unsigned long long)(list->id_base + list->vertices - 1));
}

static td_status check_declared(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    td_edge_list *list = context;
    for (uint64_t i = begin; i < end; i++) {
        td_edge_chunk *chunk = list->chunks[i];
        if (chunk == NULL) continue;
        FOR_ENDS(chunk, id, {
            if (id >= list->vertices) return td_edges_beyond_declared(list, id);
        })
        if (chunk->wide != NULL) TD_CHECK(td_chunk_narrow(chunk));
    }
    return TD_OK;
}

static td_status pass_declared(td_edge_list *list, td_pool *pool, uint64_t **ids, uint64_t *id_base, uint32_t *vertices)
{
    if (list->vertices > TD_MAX_VERTICES) return td_edges_too_many(list, list->vertices);
    TD_CHECK(td_pool_for(pool, list->chunk_count, 1, check_declared, list));
    *ids = NULL;
    *id_base = list->id_base;
    *vertices = (uint32_t)list->vertices;
    return TD_OK;
}

td_status td_edges_compact(td_edge_list *list, td_pool *pool, uint64_t **ids, uint64_t *id_base, uint32_t *vertices)
{
    if (list->declared) return pass_declared(list, pool, ids, id_base, vertices);
    td_status status = TD_OK;
    numbering job = {.list = list, .lowest = UINT64_MAX};
    TD_TRY(td_pool_for(pool, list->chunk_count, 1, find_range, &job));
    for (uint64_t i = 0; i < list->listed_count; i++) {
        if (list->listed[i] < job.lowest) job.lowest = list->listed[i];
        if (list->listed[i] > job.highest) job.highest = list->listed[i];
    }
    if (job.lowest <= job.highest) { /* else the graph has no vertices */
        TD_TRY(close_together(&job) ? number_by_bitmap(&job, pool) : number_by_set(&job, pool));
        TD_TRY(td_pool_for(pool, list->chunk_count, 1, renumber, &job));
    }
    *ids = job.ids;
    *id_base = job.ids == NULL && job.count > 0 ? job.lowest : 0;
    *vertices = (uint32_t)job.count;
    job.ids = NULL;
done:
    td_free(job.map);
    td_free(job.rank);
    td_free(job.keys);
    td_free(job.numbers);
    td_free(job.ids);
    return status;
}
