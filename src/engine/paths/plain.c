/* The variant without paths (DiGraph-t): plain asynchronous vertices. In every round the vertices that received a
 * deposit are applied in the order of their numbers, and each sends its change along its whole list at once, to be used
 * by the vertices behind it in the same round. */
#include "engine/paths/gpu.h"

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
    uint64_t words = ((uint64_t)self->cpu.graph->vertices + 31) / 32;
    self->steps.state.least = 0;
    self->steps.state.round++;
    TD_CHECK(td_paths_do(self, TD_PATHS_PUSH, words, td_cpu_view_edges(&self->cpu), done));
    TD_CHECK(look(self, done, found));
    self->rounds += done->reads > 0;
    return TD_OK;
}

/* A round, or as many as a launch runs; the row of what they did. */
static td_status some_rounds(td_paths_job *self, uint32_t most, td_path_tally *found, td_path_tally *done,
                             uint32_t *rounds)
{
    uint64_t began = td_clock_ns();
    td_path_tally before = self->sum;
    *rounds = 1;
    TD_CHECK(td_paths_loops(self) ? td_paths_run_plain(self, most, found, done, rounds) : round_of(self, found, done));
    if (self->sum.reads == before.reads) return TD_OK;
    td_row row = {.direction = "plain", .active_vertices = self->sum.updates - before.updates,
                  .active_edges = self->sum.loaded - before.loaded, .edges = self->sum.edges - before.edges,
                  .change = found->residual};
    if (self->gpu != NULL) row.edges_gpu = row.edges;
    TD_CHECK(td_cpu_end_iteration(&self->cpu, &row, began));
    return td_paths_checkpoint(self);
}

/* Until no vertex wants a change, or all together want at most the tolerance. */
static td_status rounds(td_paths_job *self)
{
    td_path_tally found, done;
    for (uint32_t i = 0, more; i < self->cpu.setup.limit; i += more) {
        TD_CHECK(some_rounds(self, self->cpu.setup.limit - i, &found, &done, &more));
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
