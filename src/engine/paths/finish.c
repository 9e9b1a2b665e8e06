/* The end of a pass over all groups. A linear program whose vertices share a part of all values (the rank of sinks,
 * spread by PageRank) computes without that part: y = b + A y. The solution with it is a multiple x = t y, because what
 * is shared is spread in proportion to b (kernels/gpu/changes.h): with s(y) the share of the values and k the ratio of
 * what a share of 1 adds to b, t = 1 / (1 - k s(y)). */
#include "engine/paths/paths.h"

#include "run/convergence.h"

#include <math.h>

/* k s of the values, and s. */
static td_status measure_share(td_paths_job *self, double *part, double *share)
{
    td_path_tally sums;
    TD_CHECK(td_paths_do(self, TD_PATHS_TOTAL, self->cpu.graph->vertices, self->cpu.graph->vertices, &sums));
    *part = sums.offset > 0 ? sums.answer / sums.offset * sums.share : 0;
    *share = sums.share;
    return TD_OK;
}

/* The other way: y = x / t, and with s(x) = t s(y), t = 1 + k s(x). */
td_status td_paths_unscale(td_paths_job *self)
{
    double part = 0, share;
    if (self->cpu.kernels->path_rescales != NULL) TD_CHECK(measure_share(self, &part, &share));
    self->steps.state.scale = 1 / (1 + part);
    return TD_OK;
}

static td_status rescale(td_paths_job *self, bool store, double *residual)
{
    td_cpu_job *cpu = &self->cpu;
    td_path_tally sums;
    double part, share;
    self->steps.stores = store;
    TD_CHECK(measure_share(self, &part, &share));
    self->steps.state.scale = 1 / (1 - part);
    cpu->context.global = share * self->steps.state.scale;
    TD_CHECK(td_paths_do(self, TD_PATHS_RESCALE, cpu->graph->vertices, cpu->graph->vertices, &sums));
    cpu->context.global = 0;
    *residual = sums.residual;
    return TD_OK;
}

static td_status measure(td_paths_job *self, double *residual)
{
    td_path_tally found;
    self->steps.state.least = INFINITY;
    self->steps.state.all = true;
    TD_CHECK(td_paths_do(self, TD_PATHS_SCAN, self->cpu.graph->vertices, self->cpu.graph->vertices, &found));
    self->steps.state.all = false;
    *residual = found.residual;
    return TD_OK;
}

td_status td_paths_end_pass(td_paths_job *self, bool *converged)
{
    td_path_tally applied;
    double residual = 0;
    bool scales = self->cpu.kernels->path_rescales != NULL;
    TD_CHECK(td_paths_do(self, TD_PATHS_FINISH, self->cpu.graph->vertices, self->cpu.graph->vertices, &applied));
    *converged = !self->real;
    if (!self->real) return TD_OK;
    TD_CHECK(scales ? rescale(self, false, &residual) : measure(self, &residual));
    TD_CHECK(td_run_check_change(self->run, self->run->iterations, residual, 0));
    self->run->final_change = residual;
    *converged = residual <= self->run->tolerance;
    if (!*converged) self->tolerance *= fmin(0.7, 0.8 * self->run->tolerance / residual);
    return TD_OK;
}

td_status td_paths_store_scaled(td_paths_job *self)
{
    double residual;
    return self->cpu.kernels->path_rescales != NULL ? rescale(self, true, &residual) : TD_OK;
}
