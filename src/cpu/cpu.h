/* Programs on the CPU's cores, for the cpu engine and engines that use the CPU beside a GPU. A job has the program's
 * arrays (job.c); rounds, buckets and sweeps process them (rounds.c, bucket.c, sweep.c) with the kernels of
 * src/kernels/cpu. */
#ifndef TD_CPU_CPU_H
#define TD_CPU_CPU_H

#include "base/declare.h"
#include "kernels/cpu/job.h"
#include "run/checkpoint.h"
#include "run/convergence.h"
#include "run/group.h"
#include "run/run.h"

extern const td_setting td_cpu_settings[];

/* A whole run: arrays, schedule, results (run.c). */
td_status td_cpu_run(td_run *run, const td_run_options *options);

/* A search from many sources at once, and its peak bytes, with the levels that are read of it (group.c). */
td_status td_cpu_run_group(td_run *run, const td_run_options *options, td_group *group);
td_status td_cpu_group_bytes(const td_program *program, const td_graph *graph, const td_run_options *options,
                             uint32_t width, uint64_t *bytes);

/* How the settings let runs of a batch share searches: not at all, as long as it pays, or always. */
typedef enum td_cpu_batch { TD_BATCH_SINGLE, TD_BATCH_AUTO, TD_BATCH_BITS } td_cpu_batch;
td_status td_cpu_read_batch(const td_program *program, const td_run_options *options, td_cpu_batch *out);

/* Allocates and frees the arrays of a run. Engines that use more than the CPU set fields of the empty job first: graph,
 * lists, and by_pages, by_rounds, bare. */
td_status td_cpu_job_open(td_cpu_job *job, td_run *run, const td_run_options *options);
void td_cpu_job_close(td_cpu_job *job);

/* Finds parents of the job's values, for the run. */
td_status td_cpu_find_parents(td_cpu_job *job);

/* Finds parents for run->values in the run's graph. */
td_status td_cpu_parents(td_run *run, const td_run_options *options);
/* Computes the sinks of a finished search whose run left out the edges to them (run/sinks.h). */
td_status td_cpu_settle_sinks(td_run *run, const td_run_options *options);
/* Host memory of td_cpu_parents: a job of its own, which has its own copy of the values. */
td_status td_cpu_measure_parents(td_run *run, const td_run_options *options, uint64_t *bytes);

/* Whether the program uses the setting, one of td_cpu_settings (plan.c). */
bool td_cpu_uses(const td_program *program, const char *setting);

/* Arrays are declared once (base/declare.h). */
typedef td_host_memory td_cpu_memory;
#define td_cpu_declare td_host_declare
#define td_cpu_declare_zeroed td_host_declare_zeroed

/* Fills in a job as far as the request determines it, without arrays; refuses contradictory settings. */
td_status td_cpu_job_describe(td_cpu_job *job, td_run *run, const td_run_options *options);

/* Declare the arrays of all runs (job.c) and those of a schedule: remaining vertices of peeling, a forest's edges,
 * notified vertices. */
td_status td_cpu_declare_arrays(td_cpu_job *job, td_cpu_memory *memory);
td_status td_cpu_declare_high_degree_list(td_cpu_job *job, td_cpu_memory *memory);
td_status td_cpu_declare_left(td_cpu_job *job, td_cpu_memory *memory);
td_status td_cpu_declare_forest(td_cpu_job *job, td_cpu_memory *memory);
td_status td_cpu_declare_marked(td_cpu_job *job, td_cpu_memory *memory);
td_status td_cpu_declare_buckets(td_cpu_job *job, td_cpu_memory *memory);
td_status td_cpu_declare_parents(td_cpu_job *job, td_cpu_memory *memory);

/* Peak bytes of a run's arrays without inputs (plan.c): exact, except for estimates there. */
td_status td_cpu_bytes(const td_program *program, const td_graph *graph, const td_run_options *options,
                       uint64_t *bytes);

/* Divides a pull over vertices first..end into pieces; copies the result into the run. */
td_status td_cpu_cut(td_cpu_job *job, uint32_t first, uint32_t end);
td_status td_cpu_copy_result(td_cpu_job *job);

/* Single rounds, for engines that do some of them differently: initial values; the direction for a frontier; one
 * iteration, after which *now is the next frontier (rounds.c). */
td_status td_cpu_start(td_cpu_job *job, td_frontier *now);
td_direction td_cpu_choose(const td_cpu_job *job, const td_frontier *now);
/* Copies the values to the messages if the run is strict (td_run_strict), before an iteration. */
td_status td_cpu_keep_values(td_cpu_job *job);
td_status td_cpu_iterate(td_cpu_job *job, td_direction direction, td_frontier *now, td_cpu_tally *sum);
td_status td_cpu_make_mapped(td_cpu_job *job, td_frontier *now);
const char *td_cpu_direction_name(td_direction direction);

/* Lists in the mapped file (mapped.c): whether the program has kernels for them; whether a run with these options can
 * use them; gives them to a job whose lists are there; fails if one of them has found a target that is no vertex. */
bool td_cpu_has_mapped(const td_program *program);
typedef enum td_cpu_lists { TD_CPU_LISTS_AUTO, TD_CPU_LISTS_MAPPED, TD_CPU_LISTS_COPIED } td_cpu_lists;
td_status td_cpu_can_map(const td_program *program, const td_run_options *options, bool *out);
td_status td_cpu_use_mapping(td_cpu_job *job);
td_status td_cpu_check_wild(const td_cpu_job *job);

/* Sinks once (sinks.c): lists without edges to sinks, and the sinks' values at the end. */
td_status td_cpu_declare_kept(td_cpu_job *job, td_cpu_memory *memory);
td_status td_cpu_keep_lists(td_cpu_job *job);
td_status td_cpu_finish_sinks(td_cpu_job *job);

/* Sweeps over survivors (survivors.c): whether they fit beside so many bytes more; declares them; sweeps until nothing
 * changes, or leaves *again true if they do not fit. */
bool td_cpu_choose_survivors(td_cpu_job *job, uint64_t bytes);
td_status td_cpu_declare_survivors(td_cpu_job *job, td_cpu_memory *memory);
td_status td_cpu_sweep_survivors(td_cpu_job *job, bool *again);

/* Sweeps all lists once; *again: whether another sweep is needed. */
td_status td_cpu_sweep_lists(td_cpu_job *job, bool *again);

/* Ends a sweep: vertices hook, the forest grows, a row is added, a checkpoint is written if one is due. *again: whether
 * the same edges need another sweep; `last`: the run has converged if they do not (sweep.c). */
td_status td_cpu_end_sweep(td_cpu_job *job, td_row *row, uint64_t began, bool last, bool *again);

/* The schedules (rounds.c, bucket.c, sweep.c). */
td_status td_cpu_rounds(td_cpu_job *job);
td_status td_cpu_peel(td_cpu_job *job);
td_status td_cpu_bucket(td_cpu_job *job);
double td_cpu_delta(const td_graph *graph); /* the width of a bucket of delta-stepping, from the weights */
td_status td_cpu_sweep(td_cpu_job *job);
td_status td_cpu_collect_edges(td_cpu_job *job); /* of a forest, in one iteration */

/* Runs a kernel over `units` on all workers, or on this one if `work` (about edges) is too little; adds the workers'
 * counters in *sum. */
td_status td_cpu_step(td_cpu_job *job, td_cpu_kernel kernel, uint64_t units, uint32_t grain, uint64_t work,
                      td_cpu_tally *sum);

td_cpu_tally td_cpu_sum(const td_cpu_job *job);

/* Adds the steals and idle time of every worker, in all steps of the job, to the run's. */
td_status td_cpu_report_workers(const td_cpu_job *job);

/* Initialises values and active vertices, from the program or the checkpoint to resume. */
td_status td_cpu_init(td_cpu_job *job, td_cpu_tally *sum);

/* Fills in a state that is due and has it written; `active` NULL: all vertices are active. */
td_status td_cpu_save(td_cpu_job *job, td_state *state, const uint64_t *active);

/* Allocates the list of high-degree vertices; runs a kernel over the edges of those that the last step put into it, in
 * equal pieces. */
td_status td_cpu_make_high_degree_list(td_cpu_job *job);
td_status td_cpu_high_degree_step(td_cpu_job *job, td_cpu_kernel kernel, td_cpu_tally *sum);

/* Decides whether the current iteration ends the run (convergence.h). */
td_status td_cpu_check_convergence(td_cpu_job *job, const td_cpu_tally *sum);

/* Ends an iteration: adds its row, calls the observer, checks for cancellation. */
td_status td_cpu_end_iteration(td_cpu_job *job, td_row *row, uint64_t began);

#endif
