/* Lists of edges, the input of the builder.
 *
 * Workers of readers and generators fill chunks, one worker per chunk, and the builder
 * consumes them. A chunk stores ends in 32 bits and widens itself when an id needs
 * more. It stores weights as unsigned integers if all of its weights are, else as
 * floats; the list is converted to one kind at the end. A list whose weights are to be
 * 64-bit floats has a table, and its chunks store codes (weight_table.h).
 *
 * A *declared* list knows its vertices: ends are 0..vertices-1 and original ids
 * start at id_base (Matrix Market, DIMACS, ...). Otherwise ends are arbitrary
 * 64-bit ids, and td_edges_compact numbers the distinct ones in ascending order.
 */
#ifndef TD_STORE_EDGES_H
#define TD_STORE_EDGES_H

#include "base/alloc.h"
#include "base/pool.h"
#include "store/input.h"
#include "store/weight_table.h"

#include <pthread.h>

typedef struct td_edge_chunk {
    uint64_t count, room;
    uint32_t *ends;    /* source, target, source, target, ...; NULL when wide */
    uint64_t *wide;    /* the same with 64-bit ids, or NULL */
    uint32_t *weights; /* integers, or the bits of floats when `real`, or codes of `table`; or NULL */
    td_weight_table *table; /* the list's, or NULL */
    bool weighted;
    bool real;         /* the weights are floats */
    bool fraction;     /* some weight was written as a real number */
    bool rounded;      /* some of those is no float */
    bool chosen;       /* the request says what becomes of the weights: messages do not advise another kind */
    uint64_t inexact;  /* 1 + position of an integer that a float cannot hold, or 0 */
} td_edge_chunk;

typedef struct td_edge_list {
    td_edge_chunk **chunks; /* by index; an index never filled is NULL */
    uint64_t chunk_count, chunk_room;
    pthread_mutex_t lock; /* guards the three above while workers ask for chunks */
    bool weighted;        /* set by the reader before the list is built */
    bool unweighted;      /* the builder drops or replaces the weights */
    bool floats;          /* weights become 32-bit floats, whatever they are */
    td_weight_table *table; /* weights are 64-bit floats: td_edges_use_doubles; or NULL */
    bool mirror;      /* each edge represents both directions (a loop only one) */
    bool declared;
    uint64_t vertices, id_base; /* when declared */
    uint64_t *listed;           /* ids of vertices that may have no edge, or NULL */
    uint64_t listed_count;
    char *name;                 /* the file, for messages; may be NULL */
    const char *columns;        /* what the columns of a text are, "source,target,weight,_"; NULL: as the format has it */
    td_decoding decoding;       /* of compressed files that it was read from */
    struct td_vertex_names *names; /* of a declared list with ids from 0, or NULL; the builder takes them */
    /* If set: consumes every chunk when it is delivered, on the worker that filled it, so that the list never holds
     * all chunks. The fields above are set before the first chunk. */
    td_status (*take)(void *context, td_edge_chunk *chunk, int worker);
    void *take_context;
    _Atomic uint64_t taken; /* edges of chunks that were taken */
    td_edge_chunk *idle;    /* consumed chunks for reuse; guarded by the lock */
    uint64_t idle_count, idle_room;
} td_edge_list;

td_status td_edges_create(td_edge_list **out, const char *name);
void td_edges_destroy(td_edge_list *list);

/* Weights become 64-bit floats; before the first chunk. */
td_status td_edges_use_doubles(td_edge_list *list);

/* The chunk with this index, created empty by the first call. Any thread; the chunk
 * does not move. */
td_status td_edges_chunk(td_edge_list *list, uint64_t index, td_edge_chunk **out);
uint64_t td_edges_count(const td_edge_list *list); /* includes edges of consumed chunks */

/* Called by the worker that has filled a chunk. With `take` set, the chunk is empty afterwards. */
td_status td_edges_deliver(td_edge_list *list, td_edge_chunk *chunk, int worker);
void td_edges_drop_idle(td_edge_list *list); /* after the last chunk: frees the idle chunks */

/* Room for `room` edges in all; `weighted` is fixed by the first call. */
td_status td_chunk_reserve(td_edge_chunk *chunk, uint64_t room, bool weighted);
td_status td_chunk_shrink(td_edge_chunk *chunk); /* frees unused room */
void td_chunk_clear(td_edge_chunk *chunk);
td_status td_chunk_narrow(td_edge_chunk *chunk); /* back to 32 bits, which the ids must fit */

td_status td_chunk_widen(td_edge_chunk *chunk);
void td_chunk_make_real(td_edge_chunk *chunk);

/* Appends an edge; there must be room. Fails only if widening fails. */
static inline td_status td_chunk_put(td_edge_chunk *chunk, uint64_t source, uint64_t target)
{
    if (__builtin_expect(((source | target) >> 32) != 0, 0) && chunk->wide == NULL) TD_CHECK(td_chunk_widen(chunk));
    if (__builtin_expect(chunk->wide != NULL, 0)) {
        chunk->wide[2 * chunk->count] = source;
        chunk->wide[2 * chunk->count + 1] = target;
    } else {
        chunk->ends[2 * chunk->count] = (uint32_t)source;
        chunk->ends[2 * chunk->count + 1] = (uint32_t)target;
    }
    chunk->count++;
    return TD_OK;
}

/* Sets the weight of the last edge. Integers as sign and magnitude; the caller must
 * refuse magnitudes above 2^32-1. */
static inline void td_chunk_weight_integer(td_edge_chunk *chunk, bool negative, uint32_t magnitude)
{
    if (__builtin_expect(chunk->table != NULL, 0)) {
        double exact = negative ? -(double)magnitude : (double)magnitude;
        chunk->weights[chunk->count - 1] = td_weight_code(chunk->table, exact);
        return;
    }
    if (__builtin_expect(negative && magnitude != 0 && !chunk->real, 0)) td_chunk_make_real(chunk);
    if (__builtin_expect(!chunk->real, 1)) {
        chunk->weights[chunk->count - 1] = magnitude;
        return;
    }
    float value = negative ? -(float)magnitude : (float)magnitude;
    if ((double)(float)magnitude != (double)magnitude && chunk->inexact == 0) chunk->inexact = chunk->count;
    __builtin_memcpy(&chunk->weights[chunk->count - 1], &value, sizeof value);
}

static inline void td_chunk_weight_real(td_edge_chunk *chunk, float value)
{
    if (chunk->table != NULL) {
        chunk->weights[chunk->count - 1] = td_weight_code(chunk->table, (double)value);
        return;
    }
    if (!chunk->real) td_chunk_make_real(chunk);
    chunk->fraction = true;
    __builtin_memcpy(&chunk->weights[chunk->count - 1], &value, sizeof value);
}

/* Whether the chunk can store a finite weight, which is not 0 unless it was written so: not beyond the range of its
 * floats, and not so small that it would become 0. */
static inline bool td_chunk_holds(const td_edge_chunk *chunk, double weight)
{
    float narrow = (float)weight;
    if (!(weight - weight == 0)) return false;
    return chunk->table != NULL || (narrow - narrow == 0 && (narrow != 0 || weight == 0));
}

/* The same of a double, which may not be a float. */
static inline void td_chunk_weight_double(td_edge_chunk *chunk, double weight)
{
    if (chunk->table != NULL) {
        chunk->weights[chunk->count - 1] = td_weight_code(chunk->table, weight);
        return;
    }
    chunk->rounded |= (double)(float)weight != weight;
    td_chunk_weight_real(chunk, (float)weight);
}

/* Converts the weights of all chunks to one kind: ranks if the list has a table; integers if every chunk has
 * integers; floats if any weight is a real number or `floats` is set, or if some integer is negative and all are
 * exact as floats; an error otherwise. *real: floats. */
td_status td_edges_settle_weights(td_edge_list *list, td_pool *pool, bool *real);
void td_chunk_all_real(td_edge_chunk *chunk); /* integers, if it has any, become floats */

/* Says that weights were rounded to floats: real ones (rounded), integers beyond 2^24 (inexact). */
void td_edges_tell_rounding(const td_edge_list *list, bool rounded, bool inexact);

/* Numbers the distinct ids (and `listed`) in ascending order and replaces the
 * ends by those numbers. *ids receives the ids (to be freed by the caller), or
 * NULL when they are consecutive, starting at *id_base. A declared list passes
 * through with its ends checked against its vertices. */
td_status td_edges_compact(td_edge_list *list, td_pool *pool, uint64_t **ids, uint64_t *id_base, uint32_t *vertices);

/* Errors, for code that numbers edges itself: too many vertices, an end beyond the declared vertices, integers that
 * are not exact as floats. */
td_status td_edges_too_many(const td_edge_list *list, uint64_t count);
td_status td_edges_beyond_declared(const td_edge_list *list, uint64_t id);
td_status td_edges_inexact(const td_edge_list *list);

#endif
