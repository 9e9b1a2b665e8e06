/* The checkpoint file: a header that identifies the run and its progress, then the state's arrays, each with a checksum
 * (docs/guide/checkpoints.md). */
#ifndef TD_RUN_CHECKPOINT_FILE_H
#define TD_RUN_CHECKPOINT_FILE_H

#include "base/outfile.h"
#include "run/checkpoint.h"

#define TD_CHECKPOINT_VERSION 2u

typedef enum td_graph_id_kind { TD_GRAPH_ID_DIGEST, TD_GRAPH_ID_BUILD } td_graph_id_kind;

/* Identity of a run: runs with equal identities can resume each other's states. */
typedef struct td_identity {
    char program[32];
    uint64_t graph_id, edges;
    uint32_t graph_id_kind, vertices, real_weights, symmetric;
    uint32_t source, value_bytes, async, strict; /* strict: td_run_strict */
    double parameter[TD_PARAMETERS];
    uint64_t input_hash[TD_INPUTS]; /* 0: no such input */
} td_identity;

td_status td_identity_check_program(const td_identity *written, const td_program_info *info, const char *path);
td_status td_identity_of(td_identity *out, const td_run *run, td_pool *pool);

/* TD_INVALID naming the first difference between the run and the one that wrote `path`. */
td_status td_identity_compare(const td_identity *written, const td_identity *mine, const td_run *run, td_pool *pool,
                              const char *path);

/* Allocates the arrays of a run's states, cleared. */
td_status td_state_new(td_state *state, const td_run *run, td_pool *pool);

/* Allocates one array in whole pages, as in the file, and its blocks' checksums. */
td_status td_state_new_part(td_state *state, td_state_part part, uint64_t bytes);
void *td_state_data(const td_state *state, td_state_part part);
static inline uint64_t td_state_padded(uint64_t bytes)
{
    return (bytes + TD_OUTFILE_PAGE - 1) / TD_OUTFILE_PAGE * TD_OUTFILE_PAGE;
}

/* Computes the checksums of the blocks in [begin, end) of an array of `bytes` bytes, unless td_state_fill has; begin is
 * a multiple of TD_STATE_BLOCK. Then the checksum of the whole array, computed from those. */
enum { TD_STATE_BLOCK = 256 << 10 };
void td_state_sum_blocks(td_state *state, td_state_part part, uint64_t begin, uint64_t end, uint64_t bytes);
uint64_t td_state_sum(const td_state *state, td_state_part part, uint64_t bytes);

/* Writes under a temporary name, syncs and renames; *bytes is the file's length. */
td_status td_checkpoint_write(const char *path, const td_identity *identity, td_state *state, uint64_t *bytes);

/* Checks every field of a state that was read, so that an engine can use it whatever wrote the file: TD_CORRUPT naming
 * the file, the field, the value and what is allowed (checkpoint_check.c). A state within a forest's round becomes that
 * of the round's start; the forest's edges are sorted. */
td_status td_state_check(td_state *state, const td_run *run, td_pool *pool, const char *path);

/* Whether the previous iteration ended a round of a sweep program; states are taken only there. */
bool td_state_ends_round(const td_run *run, uint32_t iteration);

/* Reads a file and checks its header and checksums, or reads the header alone. TD_CORRUPT, TD_FORMAT, TD_UNSUPPORTED or
 * TD_IO naming the file. */
td_status td_checkpoint_read(const char *path, td_identity *identity, td_state *state);
td_status td_checkpoint_peek(const char *path, td_identity *identity, uint32_t *iterations);

#endif
