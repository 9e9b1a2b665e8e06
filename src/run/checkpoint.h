/* Checkpoints: a run that was killed resumes, on any engine and device (Garaph, fault tolerance).
 *
 * A checkpoint has the state of the program, not of an engine: a value per vertex, the active vertices, and a few
 * numbers. An engine computes the rest (messages, queues, buckets, remaining vertices) from that.
 *
 * An engine does two things. Between two iterations, whenever its values form such a state, it asks whether a
 * checkpoint is due:
 *
 *     td_state *state = td_checkpoint_due(run, &context);
 *     if (state != NULL) {
 *         TD_CHECK(td_state_fill(state, TD_STATE_VALUES, values, ..., pool));
 *         state->has_active = true;
 *         TD_CHECK(td_state_fill(state, TD_STATE_ACTIVE, active, ..., pool));
 *         TD_CHECK(td_checkpoint_save(run, state));
 *     }
 *
 * And when it initialises the values, it takes those of run->resumed instead, if there is one: values, active vertices,
 * iteration, phase, global, edges. The write overlaps with the following iterations. */
#ifndef TD_RUN_CHECKPOINT_H
#define TD_RUN_CHECKPOINT_H

#include "run/run.h"

typedef enum td_state_part { TD_STATE_VALUES, TD_STATE_ACTIVE, TD_STATE_EDGES, TD_STATE_PARTS } td_state_part;

typedef struct td_state {
    void *values;         /* program_value of every vertex */
    uint64_t *active;     /* bitmap of active vertices (value not pushed yet), near or deferred */
    bool has_active;      /* false: all vertices are active (accumulating programs), or it has no meaning (sweeps) */
    bool by_levels;       /* first-hit programs: all active vertices send the same value, and all other values are
                           * final; otherwise the resumed run is asynchronous */
    uint64_t *edges;      /* edges of a forest so far, in any order; NULL: the program has none */
    uint64_t edge_count;
    uint32_t iteration;   /* next iteration */
    uint32_t phase;       /* peeling: current level */
    double global;        /* the sum of program_share */
    double change;        /* change of the last iteration */
    bool converged;       /* the run had converged */
    uint64_t *sums[TD_STATE_PARTS]; /* checksums of the arrays' blocks */
    bool is_summed[TD_STATE_PARTS]; /* the checksums are computed; otherwise the writer computes them */
} td_state;

/* Copies one of the arrays on all workers and computes its checksums while the data is in their caches: on a busy CPU
 * that is cheaper than in the writer. An engine that fills an array otherwise (a device copy, single bits) leaves the
 * checksums to the writer. */
td_status td_state_fill(td_state *state, td_state_part part, const void *from, uint64_t bytes, td_pool *pool);

/* Returns the state to fill in, with room for all vertices and the numbers set; NULL: no checkpoint is due. The run
 * owns it. `active` is cleared. */
td_state *td_checkpoint_due(td_run *run, const td_context *context);

/* Has the state written. TD_CANCELLED if the run was asked to stop: the state is on the disk then. The first failed
 * write is reported, and the run continues. */
td_status td_checkpoint_save(td_run *run, td_state *state);

/* Maximum iterations until the next checkpoint is due, for engines that run many per launch. */
uint32_t td_checkpoint_rounds(const td_run *run, uint32_t iteration);

/* A run that writes checkpoints stops at the end of an iteration, where it can be resumed: between the two calls a
 * request to stop waits for one. An engine calls them before its first iteration, when the values are initialised, and
 * after its last. During set-up and while the result is copied, a request stops the run at once. */
td_status td_checkpoints_begin(td_run *run);
void td_checkpoints_finish(td_run *run);

/* Frees the arrays of a resumed state after the engine has copied them. */
void td_state_clear(td_state *state);

/* Bytes of a value in the checkpoint that the run resumes from; 0 if there is none of this program. */
uint32_t td_checkpoint_value_bytes(const td_program *program, const td_run_options *options);

/* For td_run_program. Opening reads run->resumed, if asked for, and prepares for writing; closing waits for the last
 * write. */
td_status td_checkpoints_check(const td_program *program, const td_run_options *options); /* before the graph is
                                                                                           * known */
td_status td_checkpoints_open(td_run *run, const td_run_options *options);
td_status td_checkpoints_explain(td_run *run, td_status status); /* adds to TD_CANCELLED and TD_DEVICE how to
                                                                         * resume the run */
void td_checkpoints_close(td_run *run);

/* Approximate memory of a run's checkpoints. */
uint64_t td_checkpoint_bytes(const td_program *program, const td_graph *graph, const td_run_options *options);

#endif
