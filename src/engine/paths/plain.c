/* The variant without paths (DiGraph-t): plain asynchronous vertices. In every round the vertices that received a
 * deposit are applied in the order of their numbers, and each sends its change along its whole list at once, to be used
 * by the vertices behind it in the same round. */
#include "engine/paths/paths.h"

#include "base/clock.h"
#include "run/convergence.h"

/* What vertices still want: of real numbers after every round, to be compared with the tolerance; of whole numbers once
 * nothing is marked, in case a deposit went unnoticed beside an apply of the same vertex. */
static td_status look(td_paths_job *self, const td_path_tally *done, td_path_tally *found)
{
    *found = (td_path_tally){.wanting = 1};
    if (!self->real && done->reads > 0) return TD_OK;
    return td_paths_do(self, TD_PATHS_SCAN, self->cpu.graph->vertices, self->cpu.graph->vertices, found);
}

static td_status round_of(td_paths_job *self, td_path_tally *found, td_path_tally *done)
{
    td_cpu_job *cpu = &self->cpu;
    uint64_t words = ((uint64_t)cpu->graph->vertices + 31) / 32, began = td_clock_ns();
    self->steps.state.least = 0;
    self->steps.state.round++;
    TD_CHECK(td_paths_do(self, TD_PATHS_PUSH, words, td_cpu_view_edges(cpu), done));
    TD_CHECK(look(self, done, found));
    if (done->reads == 0) return TD_OK;
    self->rounds++;
    td_row row = {.direction = "plain", .active_vertices = done->updates, .active_edges = done->loaded,
                  .edges = done->edges, .change = found->residual};
    if (self->gpu != NULL) row.edges_gpu = row.edges;
    return td_cpu_end_iteration(cpu, &row, began);
}

/* Until no vertex wants a change, or all together want at most the tolerance. */
static td_status rounds(td_paths_job *self)
{
    td_path_tally found, done;
    for (uint32_t i = 0; i < self->cpu.limit; i++) {
        TD_CHECK(round_of(self, &found, &done));
        TD_CHECK(td_run_check_change(self->run, self->run->iterations, found.residual, 0));
        bool moves = done.reads > 0 || found.wanting > 0;
        if (!moves || (self->real && found.residual <= self->tolerance)) return TD_OK;
    }
    self->limited = true;
    return TD_OK;
}

td_status td_paths_plain(td_paths_job *self)
{
    bool converged = false, sum = self->cpu.kernels->measure == TD_MEASURE_SUM;
    self->tolerance = self->run->tolerance * (sum ? TD_PATHS_FIRST : TD_PATHS_LARGEST);
    while (!converged && !self->limited && self->passes < 40) {
        self->passes++;
        TD_CHECK(rounds(self));
        TD_CHECK(td_paths_end_pass(self, &converged));
    }
    self->run->converged = converged;
    return TD_OK;
}
