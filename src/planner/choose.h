/* The choice of an engine by the time to the answer.
 *
 * A question is a case (engine/estimate.h) with all that the planner finds out about it: the graph's counts, the rates
 * of the machine, earlier runs, the GPU. The answer is an estimate of every engine, the least of which is chosen, and
 * what would change the choice. No device is opened, and CUDA is not asked for where the CPU is done before a GPU's
 * context would be there. */
#ifndef TD_PLANNER_CHOOSE_H
#define TD_PLANNER_CHOOSE_H

#include "engine/engine.h"
#include "planner/history.h"

enum { TD_MOST_PAST = 16 };

typedef struct td_question {
    td_case of;           /* first: engines get this part */
    td_graph shape;       /* the graph's counts, without lists */
    const td_graph *graph; /* in memory, or NULL */
    td_rates rates;
    td_past past[TD_MOST_PAST];
    int past_count;
    uint64_t how;
    bool probed;          /* the rounds are guessed from probes */
    bool named, emulated; /* {devices} names a GPU; it is an emulated one */
    bool cpu;             /* {devices} has the CPU, or names nothing */
    bool ask_cuda;        /* whether there is a GPU is not known yet */
    const char *no_gpu;   /* why there is none; NULL: there is, or it was not asked for */
} td_question;

/* About a graph in memory, or about a file of which only the header is read. */
void td_question_of_graph(td_question *out, const td_program *program, const td_graph *graph,
                          const td_run_options *options, uint64_t host_free);
td_status td_question_of_file(td_question *out, const char *path, const td_program *program,
                              const td_run_options *options);

/* CUDA is not asked for a GPU, which takes a tenth of a second: the engine that was asked for uses none. */
void td_question_leave_gpu(td_question *question);

/* Estimates all engines and chooses the least; no engine that lacks memory is chosen. */
void td_question_answer(td_question *question, td_estimates *out);
void td_question_advise(const td_question *question, td_estimates *out);

/* Takes an engine out, for a reason that planning it gave, and chooses again; false: none is left. */
bool td_estimates_refuse(td_estimates *estimates, const td_engine *engine, const char *reason);
const td_engine *td_estimates_engine(const td_estimates *estimates); /* the chosen one, or NULL */
const td_plan_estimate *td_estimates_of(const td_estimates *estimates, const td_engine *engine);
void td_estimates_choose(td_estimates *estimates, const td_engine *engine); /* one that was named */

/* Finds how many bytes a run may use on the GPU. Asking CUDA for them starts its driver, a tenth of a second, so that this
 * waits until a GPU is known to matter. */
void td_question_find_room(td_question *self);

/* The key of td_past.how. */
uint64_t td_question_how(const td_run_options *options);

#endif
