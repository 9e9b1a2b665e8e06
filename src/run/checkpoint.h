/* Checkpoints: a run that is killed goes on where it was, on any engine and device (Garaph, fault tolerance).
 *
 * What is kept is the state of the program, not of an engine: a value per vertex, who has still to tell its value, and
 * a few numbers. Everything else (messages, queues, buckets, vertices left to peel) an engine makes anew from that.
 *
 * An engine does two things. Between two iterations, wherever its values are such a state, it asks whether one is
 * wanted:
 *
 *     td_state *state = td_checkpoint_due(run, &context);
 *     if (state != NULL) {
 *         TD_CHECK(td_state_fill(state, TD_STATE_VALUES, values, ..., pool));
 *         state->has_active = true;
 *         TD_CHECK(td_state_fill(state, TD_STATE_ACTIVE, active, ..., pool));
 *         TD_CHECK(td_checkpoint_save(run, state));
 *     }
 *
 * and where it gives vertices their first values it takes those of run->resumed instead, if there is one: values,
 * active vertices, iteration, phase, global, edges. The write itself overlaps with the iterations that follow. */
#ifndef TD_RUN_CHECKPOINT_H
#define TD_RUN_CHECKPOINT_H

#include "run/run.h"

typedef enum td_state_part { TD_STATE_VALUES, TD_STATE_ACTIVE, TD_STATE_EDGES, TD_STATE_PARTS } td_state_part;

typedef struct td_state {
    void *values;         /* program_value of every vertex */
    uint64_t *active;     /* bitmap: vertices that have still to tell their value, whether near or put off */
    bool has_active;      /* otherwise everyone is (programs that hear everybody every iteration), or it has no meaning
                           * (sweeps) */
    bool by_levels;       /* of first-hit programs: active vertices all send the same, and other values are final. Where
                           * this is not so, what goes on is asynchronous */
    uint64_t *edges;      /* of a forest so far, in any order; NULL where the program has none */
    uint64_t edge_count;
    uint32_t iteration;   /* that comes next */
    uint32_t phase;       /* peeling: the level being emptied */
    double global;        /* the sum of program_share */
    double change;        /* of the last iteration */
    bool converged;       /* nothing is left to be done */
    uint64_t *sums[TD_STATE_PARTS]; /* checksums of the arrays' blocks, */
    bool is_summed[TD_STATE_PARTS]; /* which the writer takes where td_state_fill has not */
} td_state;

/* Copies one of the arrays, all workers together, with its checksums while it is in their caches: a run waits for the
 * copy, and on processors that it keeps busy the writer is better off without the work. Who has another way to fill an
 * array (a device that copies, bits set one by one) leaves its checksums to the writer. */
td_status td_state_fill(td_state *state, td_state_part part, const void *from, uint64_t bytes, td_pool *pool);

/* The state to be filled in, with room for all vertices and the numbers filled in already; NULL: none is wanted now.
 * Filled or not, it is the run's. `active` comes cleared. */
td_state *td_checkpoint_due(td_run *run, const td_context *context);

/* Has it written. TD_CANCELLED if the run was asked to stop: it is on the disk then. A write that fails is told once
 * and the run goes on. */
td_status td_checkpoint_save(td_run *run, td_state *state);

/* Most iterations that may pass before the next is due: for engines that do many at a time. */
uint32_t td_checkpoint_rounds(const td_run *run, uint32_t iteration);

/* A run that writes checkpoints stops where it can go on. That is the end of an iteration, so between the two calls a
 * request to stop waits for one; an engine makes them before its first iteration, when the values are there, and after
 * its last. While the run is set up and while its result is made ready a request ends it at once. */
td_status td_checkpoints_begin(td_run *run);
void td_checkpoints_finish(td_run *run);

/* The arrays of a resumed state, once the engine has what was in them. */
void td_state_clear(td_state *state);

/* For td_run_program. Opening reads run->resumed, if that is asked for, and makes ready for writing; closing waits for
 * the last write. */
td_status td_checkpoints_check(const td_program *program, const td_run_options *options); /* before there is a graph */
td_status td_checkpoints_open(td_run *run, const td_run_options *options);
td_status td_checkpoints_explain(td_run *run, td_status status); /* adds to TD_CANCELLED where the run can go on */
void td_checkpoints_close(td_run *run);

/* About the bytes that checkpoints of a run take. */
uint64_t td_checkpoint_bytes(const td_program *program, const td_graph *graph, const td_run_options *options);

#endif
