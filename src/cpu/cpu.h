/* Programs on the CPU's cores: what the cpu engine, and every engine that uses the cores beside a GPU, stands on. A job
 * has the program's arrays (job.c); rounds, buckets of distances and sweeps go over them (rounds.c, bucket.c, sweep.c)
 * with the kernels of src/kernels/cpu. */
#ifndef TD_CPU_CPU_H
#define TD_CPU_CPU_H

#include "base/declare.h"
#include "kernels/cpu/job.h"
#include "run/checkpoint.h"
#include "run/convergence.h"
#include "run/run.h"

extern const td_setting td_cpu_settings[];

/* A whole run: arrays, schedule, results (run.c). */
td_status td_cpu_run(td_run *run, const td_run_options *options);

/* The arrays of a run and their end. The job is empty but for what an engine that has more than the CPU fills in
 * before: its graph and lists, and what it does otherwise (by_pages, by_rounds, bare). */
td_status td_cpu_job_open(td_cpu_job *job, td_run *run, const td_run_options *options);
void td_cpu_job_close(td_cpu_job *job);

/* Parents of the job's values, into the run. */
td_status td_cpu_find_parents(td_cpu_job *job);

/* Parents that the run's values, in run->values, have in the run's graph. */
td_status td_cpu_parents(td_run *run, const td_run_options *options);

/* Whether a run of the program can feel the setting, one of td_cpu_settings (cpu_plan.c). */
bool td_cpu_uses(const td_program *program, const char *setting);

/* Arrays are declared once (base/declare.h). */
typedef td_host_memory td_cpu_memory;
#define td_cpu_declare td_host_declare
#define td_cpu_declare_zeroed td_host_declare_zeroed

/* A job as far as it depends on the request, before it has arrays; refused where the settings contradict the rest. */
td_status td_cpu_job_describe(td_cpu_job *job, td_run *run, const td_run_options *options);

/* The arrays of all runs (job.c), and those of a schedule: vertices that peeling has left, a forest's edges, notified
 * vertices. */
td_status td_cpu_declare_arrays(td_cpu_job *job, td_cpu_memory *memory);
td_status td_cpu_declare_heavy_list(td_cpu_job *job, td_cpu_memory *memory);
td_status td_cpu_declare_left(td_cpu_job *job, td_cpu_memory *memory);
td_status td_cpu_declare_forest(td_cpu_job *job, td_cpu_memory *memory);
td_status td_cpu_declare_marked(td_cpu_job *job, td_cpu_memory *memory);
td_status td_cpu_declare_buckets(td_cpu_job *job, td_cpu_memory *memory);
td_status td_cpu_declare_parents(td_cpu_job *job, td_cpu_memory *memory);

/* The bytes that a run's arrays take at their peak, inputs not counted (plan.c): exact, but for what is guessed there. */
td_status td_cpu_bytes(const td_program *program, const td_graph *graph, const td_run_options *options,
                       uint64_t *bytes);

/* The pieces of a pull over vertices first..end; the results into the run (cpu.c). */
td_status td_cpu_cut(td_cpu_job *job, uint32_t first, uint32_t end);
td_status td_cpu_hand_over(td_cpu_job *job);

/* The frontier is a bitmap, a queue, or both. */
typedef struct td_cpu_frontier {
    uint64_t vertices, edges;
    bool listed;  /* job->queue holds it */
    bool mapped;  /* job->active holds it */
} td_cpu_frontier;

/* Rounds one by one, for engines that do some of them otherwise: first values, the direction that suits a frontier, an
 * iteration in it, after which *now is the next frontier (cpu_rounds.c). */
td_status td_cpu_start(td_cpu_job *job, td_cpu_frontier *now);
td_direction td_cpu_choose(const td_cpu_job *job, const td_cpu_frontier *now);
td_status td_cpu_iterate(td_cpu_job *job, td_direction direction, td_cpu_frontier *now, td_cpu_tally *sum);
td_status td_cpu_make_mapped(td_cpu_job *job, td_cpu_frontier *now);
void td_cpu_settle(td_cpu_job *job, const td_cpu_frontier *now);
const char *td_cpu_direction_name(td_direction direction);

/* The three schedules and the sweeps (cpu_rounds.c, cpu_sweep.c, cpu_bucket.c). */
td_status td_cpu_rounds(td_cpu_job *job);
td_status td_cpu_peel(td_cpu_job *job);
td_status td_cpu_bucket(td_cpu_job *job);
td_status td_cpu_sweep(td_cpu_job *job);

/* Runs a kernel over `units` on all workers, or on this one when `work` (edges,
 * about) is too little to share; adds the workers' counts up in *sum. */
td_status td_cpu_step(td_cpu_job *job, td_cpu_kernel kernel, uint64_t units, uint32_t grain, uint64_t work,
                      td_cpu_tally *sum);

td_cpu_tally td_cpu_sum(const td_cpu_job *job);

/* First values and active vertices: the program's, or those of the checkpoint that it goes on from. */
td_status td_cpu_init(td_cpu_job *job, td_cpu_tally *sum);

/* Fills in a state that is due and has it written; `active` NULL: everyone is. */
td_status td_cpu_save(td_cpu_job *job, td_state *state, const uint64_t *active);

/* Room for every vertex that can be heavy; and a kernel over the edges of those that
 * the last step set aside, in equal pieces. */
td_status td_cpu_make_heavy_list(td_cpu_job *job);
td_status td_cpu_heavy_step(td_cpu_job *job, td_cpu_kernel kernel, td_cpu_tally *sum);

/* Decides whether the iteration under way ends the run (convergence.h). */
td_status td_cpu_judge(td_cpu_job *job, const td_cpu_tally *sum);

/* Ends an iteration: writes its row, tells whoever watches, looks for a cancel. */
td_status td_cpu_end_iteration(td_cpu_job *job, td_row *row, uint64_t began);

#endif
