/* Paths that stay at the host (DiGraph, section 3.2.1): the GPU has the vertices' state and a few slots, each with a
 * stream of its own. A batch, consecutive partitions with their mirrors, is copied into a slot when one of its partitions
 * has something to do. Marks are those of partitions, because a bit and a place for every path would take the memory of the paths.
 *
 * Where values flow one way, partitions are packed instead (packed.c), and there are no batches.
 *
 *   batches.c      how paths are divided, the partitions that read a vertex, the arrays
 *   batch_walk.c   rounds: which batch is next, copies ahead, which one makes way */
#ifndef TD_ENGINE_PATHS_BATCHES_H
#define TD_ENGINE_PATHS_BATCHES_H

#include "engine/paths/gpu.h"

enum { TD_PATHS_SLOTS = 64 };

typedef struct td_paths_batch {
    uint32_t first, end;     /* partitions */
    int slot;                /* that it is in; -1: none */
    bool mirrored;           /* its mirrors have values: they were on the GPU before */
    td_stream *leaving;      /* copies its mirrors to the host, or has copied them */
    uint64_t visited;        /* the last round that walked it */
} td_paths_batch;

typedef struct td_paths_slot {
    td_stream *stream;
    char *memory;            /* on the GPU */
    int batch;               /* -1: none */
    uint64_t used;           /* when it was last walked or copied */
    bool dirty;              /* mirrors differ from the host's */
    bool ahead;              /* copied before it was needed, and not walked yet */
} td_paths_slot;

typedef struct td_paths_batches {
    uint32_t slots;
    uint64_t slot_bytes;
    char *memory;            /* of all slots, on the GPU */
    td_paths_slot slot[TD_PATHS_SLOTS];
    td_paths_batch *batch;
    uint32_t count, rounds, words; /* words: of marks */
    uint64_t *successors;    /* a bitmap for every batch: batches that read what it writes */
    uint64_t *active;        /* bitmap: batches with a marked partition */
    uint32_t *marks;         /* the host's copy */
    void *sent, *sent_back;  /* mirrors of edges */
    uint64_t *place_offsets; /* vertices + 1 */
    uint32_t *places;        /* the partitions that read a vertex */
    uint32_t *home;          /* the partition of a vertex's home path */
    uint64_t place_count, most_places;
    void *pinned[6];         /* arrays at the host that are pinned, so that copies take the link's whole rate */
    uint64_t pinned_bytes;
    /* packed.c: no batches and slots, but packed partitions, some of them on the GPU (`memory`) */
    bool packed;
    uint32_t *sources, *targets; /* of partitions: vertices that edges leave and enter; of the latter a bound */
    bool *chained;           /* partitions: whether they are chains (path_state.h) */
    uint64_t mirrors, chains; /* of all partitions; how many are chains */
    char *packed_words;      /* of all packed partitions, pinned; those on the GPU first */
    void *packed_seen;       /* their address for kernels */
    uint64_t packed_bytes;   /* of packed partitions, at most: the room for their words */
    td_path_pack *packs;     /* of partitions; NULL: they are not packed yet */
    uint64_t *at, *bytes_of; /* of partitions: where their words are at the host, and their bytes */
    uint64_t words_bytes;    /* of all of them */
    uint64_t pool_bytes, near_bytes, residents; /* pool: on the GPU, of which near_bytes are in use */
    uint64_t clock;
    uint64_t copies, bytes, evictions, prefetched, kept; /* kept: visits of a batch that was in a slot already */
} td_paths_batches;

/* Where the parts of a batch are in its slot. */
typedef struct td_paths_batch_parts {
    uint64_t entries, starts, lanes, weights, sent, sent_back, end;
} td_paths_batch_parts;
td_paths_batch_parts td_paths_parts_of(const td_paths_job *self, uint32_t first, uint32_t end);

uint64_t td_paths_first_edge(const td_paths_job *self, uint32_t k); /* of a partition; behind the last: all edges */

/* Counts the partitions that read a vertex; chooses the slots, for a GPU with so many bytes besides. */
td_status td_paths_count_readers(td_paths_job *self);
td_status td_paths_shape_batches(td_paths_job *self, uint64_t fixed, uint64_t room);
uint64_t td_paths_batch_host_bytes(const td_paths_job *self);
uint64_t td_paths_pinned_bytes(const td_paths_job *self); /* wanted */

/* Lists the partitions that read a vertex; packs partitions if they are to be packed. Then: allocates and fills what the
 * host has besides, and sends what the GPU has. */
td_status td_paths_list_readers(td_paths_job *self);
td_status td_paths_open_batches(td_paths_job *self);
void td_paths_close_batches(td_paths_job *self);

/* packed.c: decides whether partitions are packed and counts their bytes; pins them (or decides otherwise); packs them; how
 * many bytes of them are on the GPU, where so many are left; sends what the GPU has. */
td_status td_paths_choose_packs(td_paths_job *self, const td_device *device);
td_status td_paths_reserve_packs(td_paths_job *self);
td_status td_paths_pack_words(td_paths_job *self);
void td_paths_shape_packs(td_paths_job *self, uint64_t left);
td_status td_paths_open_packs(td_paths_job *self);
void td_paths_close_packs(td_paths_job *self);
uint64_t td_paths_pack_host_bytes(const td_paths_job *self);
td_status td_paths_count_sources(const td_paths_job *self, uint32_t *sources); /* of partitions: vertices that they read */

/* A round over the marked partitions of a group. */
td_status td_paths_batch_walk(td_paths_job *self, const td_paths_group *group, td_path_tally *out);

#endif
