#include "store/external_ids.h"

#include "base/bitmap.h"
#include "base/log.h"
#include "store/key_sort.h"
#include "store/spill.h"
#include "store/graph.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { SLICE = 1 << 15, IDS_AT_A_TIME = 1 << 16, GUESS_BITS = 32 };

/* A chunk put aside: its ends, then its weights. */
typedef struct aside {
    uint64_t ends, weights; /* places in the file */
    uint64_t count;
    bool wide, weighted, real;
} aside;

/* The buffers of a worker. */
typedef struct desk {
    td_keys ids, spare;    /* of a slice */
    uint64_t *wide;        /* a slice's ends as stored in the file */
    uint32_t *ends, *weights;
} desk;

struct td_external_ids {
    const td_edge_list *list;
    char *directory;
    td_pool *pool;
    int workers;
    desk *desks;
    td_spill *spill;
    td_tempfile *edges;
    pthread_mutex_t lock; /* guards the chunks put aside */
    aside *chunks;
    uint64_t chunk_count, chunk_room;
    _Atomic uint64_t done; /* edges read again */
    uint64_t count, lowest, highest;
    bool consecutive;
    td_tempfile *sorted; /* the ids in order */
    uint64_t *buffer;    /* for writing it */
    uint64_t filled;
    uint64_t *map;       /* bitmap of ids from `lowest` on, and the ids below each word */
    uint32_t *rank;
    uint64_t *table;     /* or all ids in order */
    uint64_t spilled;
};

static td_status make_desks(td_external_ids *ids)
{
    TD_CHECK(TD_NEW_ZEROED(&ids->desks, (uint64_t)ids->workers, "desks"));
    for (int i = 0; i < ids->workers; i++) {
        desk *mine = &ids->desks[i];
        TD_CHECK(TD_NEW(&mine->ids.keys, 2 * SLICE, "ids"));
        TD_CHECK(TD_NEW(&mine->spare.keys, 2 * SLICE, "ids"));
        TD_CHECK(TD_NEW(&mine->wide, 2 * SLICE, "edges"));
        TD_CHECK(TD_NEW(&mine->ends, 2 * SLICE, "edges"));
        TD_CHECK(TD_NEW(&mine->weights, SLICE, "weights"));
    }
    return TD_OK;
}

static void free_desks(td_external_ids *ids)
{
    for (int i = 0; ids->desks != NULL && i < ids->workers; i++) {
        td_free(ids->desks[i].ids.keys);
        td_free(ids->desks[i].spare.keys);
        td_free(ids->desks[i].wide);
        td_free(ids->desks[i].ends);
        td_free(ids->desks[i].weights);
    }
    td_free(ids->desks);
    ids->desks = NULL;
}

td_status td_external_ids_create(td_external_ids **out, const td_edge_list *list, const char *directory,
                                 uint64_t memory, td_pool *pool, int workers)
{
    td_status status = TD_OK;
    td_external_ids *ids = NULL;
    TD_CHECK(TD_NEW_ZEROED(&ids, 1, "numbering"));
    ids->list = list;
    ids->pool = pool;
    ids->workers = workers;
    pthread_mutex_init(&ids->lock, NULL);
    TD_TRY(td_string_copy(&ids->directory, directory, "directory"));
    TD_TRY(make_desks(ids));
    td_spill_shape shape = {.key_bits = GUESS_BITS, .open = true, .memory = memory, .directory = ids->directory,
                            .pool = pool, .workers = workers};
    TD_TRY(td_spill_create(&ids->spill, &shape));
    TD_TRY(td_tempfile_create(&ids->edges, directory));
    *out = ids;
    ids = NULL;
done:
    td_external_ids_destroy(ids);
    return status;
}

void td_external_ids_forget(td_external_ids *ids)
{
    free_desks(ids);
    td_spill_destroy(ids->spill);
    ids->spill = NULL;
    if (ids->edges != NULL) ids->spilled += td_tempfile_bytes(ids->edges);
    td_tempfile_close(ids->edges);
    ids->edges = NULL;
    td_free(ids->chunks);
    ids->chunks = NULL;
    td_free(ids->buffer);
    ids->buffer = NULL;
    td_free(ids->map);
    td_free(ids->rank);
    td_free(ids->table);
    ids->map = ids->table = NULL;
    ids->rank = NULL;
}

void td_external_ids_destroy(td_external_ids *ids)
{
    if (ids == NULL) return;
    td_external_ids_forget(ids);
    td_tempfile_close(ids->sorted);
    pthread_mutex_destroy(&ids->lock);
    td_free(ids->directory);
    td_free(ids);
}

static uint64_t end_of(const td_edge_chunk *chunk, uint64_t i)
{
    return chunk->wide != NULL ? chunk->wide[i] : chunk->ends[i];
}

/* Collects a slice's distinct ids: most ids occur more than once even in a few edges. */
static td_status collect(td_external_ids *ids, const td_edge_chunk *chunk, uint64_t begin, uint64_t count, int worker)
{
    desk *mine = &ids->desks[worker];
    uint64_t low = UINT64_MAX, high = 0, kept = 1;
    for (uint64_t i = 0; i < 2 * count; i++) {
        uint64_t id = end_of(chunk, 2 * begin + i);
        mine->ids.keys[i] = id;
        low = id < low ? id : low;
        high = id > high ? id : high;
    }
    uint32_t bits = low == high ? 0 : 64 - (uint32_t)__builtin_clzll(low ^ high);
    TD_CHECK(td_keys_sort(&mine->ids, &mine->spare, 2 * count, bits, false, NULL));
    uint64_t *sorted = mine->ids.keys;
    for (uint64_t i = 1; i < 2 * count; i++)
        if (sorted[i] != sorted[kept - 1]) sorted[kept++] = sorted[i];
    return td_spill_put(ids->spill, sorted, NULL, kept, false, worker);
}

static td_status note_chunk(td_external_ids *ids, aside chunk)
{
    td_status status = TD_OK;
    pthread_mutex_lock(&ids->lock);
    if (ids->chunk_count == ids->chunk_room) {
        uint64_t room = 2 * ids->chunk_room + 64;
        TD_TRY(TD_RESIZE(&ids->chunks, room, "chunks put aside"));
        ids->chunk_room = room;
    }
    ids->chunks[ids->chunk_count++] = chunk;
done:
    pthread_mutex_unlock(&ids->lock);
    return status;
}

td_status td_external_ids_take(td_external_ids *ids, const td_edge_chunk *chunk, bool weighted, int worker)
{
    aside noted = {.count = chunk->count, .wide = chunk->wide != NULL, .weighted = weighted, .real = chunk->real};
    if (chunk->count == 0) return TD_OK;
    for (uint64_t at = 0; at < chunk->count; at += SLICE)
        TD_CHECK(collect(ids, chunk, at, chunk->count - at < SLICE ? chunk->count - at : SLICE, worker));
    const void *ends = noted.wide ? (const void *)chunk->wide : chunk->ends;
    TD_CHECK(td_tempfile_append(ids->edges, ends, 2 * chunk->count * (noted.wide ? 8 : 4), &noted.ends));
    if (weighted) TD_CHECK(td_tempfile_append(ids->edges, chunk->weights, 4 * chunk->count, &noted.weights));
    return note_chunk(ids, noted);
}

static td_status flush_ids(td_external_ids *ids)
{
    uint64_t offset, filled = ids->filled;
    ids->filled = 0;
    return td_tempfile_append(ids->sorted, ids->buffer, filled * sizeof *ids->buffer, &offset);
}

static td_status number_ids(void *context, const uint64_t *keys, const uint32_t *weights, uint64_t count)
{
    (void)weights;
    td_external_ids *ids = context;
    for (uint64_t i = 0; i < count; i++) {
        if (ids->count > 0 && keys[i] == ids->highest) continue;
        ids->highest = keys[i];
        ids->count++;
        if (ids->map != NULL) td_bit_set(ids->map, keys[i] - ids->lowest);
        if (ids->filled == IDS_AT_A_TIME) TD_CHECK(flush_ids(ids));
        ids->buffer[ids->filled++] = keys[i];
    }
    return ids->count > TD_MAX_VERTICES ? td_edges_too_many(ids->list, ids->count) : TD_OK;
}

static td_status put_listed(td_external_ids *ids)
{
    return td_spill_put(ids->spill, ids->list->listed, NULL, ids->list->listed_count, false, 0);
}

static uint64_t map_bytes(uint64_t span) { return span / 64 * 12 + 24; }

static td_status make_map(td_external_ids *ids, uint64_t span)
{
    uint64_t words = td_bitmap_words(span + 1);
    TD_CHECK(TD_NEW_ZEROED(&ids->map, words, "map of vertex ids"));
    return TD_NEW(&ids->rank, words, "ranks of vertex ids");
}

static void rank_map(td_external_ids *ids)
{
    uint64_t words = td_bitmap_words(ids->highest - ids->lowest + 1), count = 0;
    for (uint64_t w = 0; w < words; w++) {
        ids->rank[w] = (uint32_t)count;
        count += td_popcount(ids->map[w]);
    }
}

static td_status load_table(td_external_ids *ids, uint64_t memory, uint64_t *least)
{
    uint64_t bytes = ids->count * sizeof *ids->table;
    *least = bytes > memory ? bytes - memory : 0;
    td_refusal refusal = td_memory_lack(*least);
    if (bytes > memory)
        return td_refuse(&refusal, "%s: %llu different ids, too far apart for a map, need 8 bytes each",
                         ids->list->name != NULL ? ids->list->name : "edges", (unsigned long long)ids->count);
    TD_CHECK(TD_NEW(&ids->table, ids->count, "vertex ids"));
    return td_tempfile_read(ids->sorted, 0, ids->table, bytes);
}

td_status td_external_ids_number(td_external_ids *ids, uint64_t memory, uint64_t *least)
{
    uint64_t highest = 0;
    *least = 0;
    if (ids->list->listed_count > 0) TD_CHECK(put_listed(ids));
    TD_CHECK(td_spill_finish(ids->spill));
    if (td_spill_count(ids->spill) == 0) {
        ids->consecutive = true;
        return TD_OK;
    }
    td_spill_range(ids->spill, &ids->lowest, &highest);
    uint64_t span = highest - ids->lowest;
    bool mapped = map_bytes(span) <= memory / 2;
    if (mapped) TD_CHECK(make_map(ids, span));
    TD_CHECK(TD_NEW(&ids->buffer, IDS_AT_A_TIME, "ids"));
    TD_CHECK(td_tempfile_create(&ids->sorted, ids->directory));
    TD_CHECK(td_spill_run(ids->spill, mapped ? memory - map_bytes(span) : memory, number_ids, ids));
    TD_CHECK(flush_ids(ids));
    ids->spilled = td_spill_spilled(ids->spill) + td_tempfile_bytes(ids->sorted);
    td_spill_destroy(ids->spill);
    ids->spill = NULL;
    ids->consecutive = ids->highest - ids->lowest == ids->count - 1;
    if (mapped) rank_map(ids);
    return mapped || ids->consecutive ? TD_OK : load_table(ids, memory, least);
}

uint64_t td_external_ids_count(const td_external_ids *ids) { return ids->count; }
bool td_external_ids_consecutive(const td_external_ids *ids) { return ids->consecutive; }
uint64_t td_external_ids_lowest(const td_external_ids *ids) { return ids->lowest; }
uint64_t td_external_ids_spilled(const td_external_ids *ids) { return ids->spilled; }

static uint32_t search(const td_external_ids *ids, uint64_t id)
{
    const uint64_t *at = ids->table;
    for (uint64_t left = ids->count; left > 1;) {
        uint64_t half = left / 2;
        at += at[half] <= id ? half : 0;
        left -= half;
    }
    return (uint32_t)(at - ids->table);
}

static inline uint32_t number_of(const td_external_ids *ids, uint64_t id)
{
    if (ids->consecutive) return (uint32_t)(id - ids->lowest);
    if (ids->map == NULL) return search(ids, id);
    uint64_t bit = id - ids->lowest;
    uint64_t below = ids->map[bit / 64] & ((UINT64_C(1) << (bit % 64)) - 1);
    return ids->rank[bit / 64] + (uint32_t)td_popcount(below);
}

typedef struct replaying {
    td_external_ids *ids;
    td_numbered_fn take;
    void *context;
    uint64_t total;
} replaying;

static td_status replay_slice(const replaying *job, const aside *chunk, uint64_t begin, uint64_t count, int worker)
{
    td_external_ids *ids = job->ids;
    desk *mine = &ids->desks[worker];
    uint64_t bytes = chunk->wide ? 8 : 4;
    TD_CHECK(td_tempfile_read(ids->edges, chunk->ends + 2 * begin * bytes, mine->wide, 2 * count * bytes));
    if (chunk->weighted) TD_CHECK(td_tempfile_read(ids->edges, chunk->weights + 4 * begin, mine->weights, 4 * count));
    for (uint64_t i = 0; i < 2 * count; i++)
        mine->ends[i] = number_of(ids, chunk->wide ? mine->wide[i] : ((const uint32_t *)mine->wide)[i]);
    return job->take(job->context, mine->ends, chunk->weighted ? mine->weights : NULL, chunk->real, count, worker);
}

static td_status replay_chunk(void *context, uint64_t index, uint64_t next, int worker)
{
    (void)next;
    const replaying *job = context;
    const aside *chunk = &job->ids->chunks[index];
    for (uint64_t at = 0; at < chunk->count; at += SLICE)
        TD_CHECK(replay_slice(job, chunk, at, chunk->count - at < SLICE ? chunk->count - at : SLICE, worker));
    td_tempfile_drop(job->ids->edges, chunk->ends, 2 * chunk->count * (chunk->wide ? 8 : 4));
    if (chunk->weighted) td_tempfile_drop(job->ids->edges, chunk->weights, 4 * chunk->count);
    td_progress("numbering vertices", atomic_fetch_add(&job->ids->done, chunk->count) + chunk->count, job->total);
    return TD_OK;
}

td_status td_external_ids_replay(td_external_ids *ids, td_numbered_fn take, void *context)
{
    replaying job = {.ids = ids, .take = take, .context = context};
    for (uint64_t i = 0; i < ids->chunk_count; i++) job.total += ids->chunks[i].count;
    return td_pool_for(ids->pool, ids->chunk_count, 1, replay_chunk, &job);
}

td_status td_external_ids_read(const td_external_ids *ids, uint64_t first, uint64_t count, uint64_t *into)
{
    return td_tempfile_read(ids->sorted, first * sizeof *into, into, count * sizeof *into);
}
