/* The steps of the paths engine on the CPU's cores. */
#include "engine/paths/several.h"

enum { VERTICES_AT_A_TIME = 4096, PARTITIONS_AT_A_TIME = 1, WORDS_AT_A_TIME = 8 };

static td_cpu_kernel kernel_of(const td_cpu_kernels *k, td_paths_step step)
{
    switch (step) {
    case TD_PATHS_WALK: return k->path_walks;
    case TD_PATHS_PUSH: return k->path_pushes;
    case TD_PATHS_INIT: return k->path_starts;
    case TD_PATHS_OPEN: return k->path_opens;
    case TD_PATHS_SCAN: return k->path_scans;
    case TD_PATHS_FINISH: return k->path_finishes;
    case TD_PATHS_BALANCE: return k->path_balances;
    case TD_PATHS_TOTAL: return k->path_totals;
    case TD_PATHS_RESCALE: return k->path_rescales;
    case TD_PATHS_CLEAR: return k->path_clears;
    }
    return NULL;
}

static uint32_t grain_of(td_paths_step step)
{
    if (step == TD_PATHS_WALK) return PARTITIONS_AT_A_TIME;
    return step == TD_PATHS_CLEAR ? 1 : step == TD_PATHS_PUSH ? WORDS_AT_A_TIME : VERTICES_AT_A_TIME;
}

void td_path_tally_add(td_path_tally *sum, const td_path_tally *more, int measure)
{
#define ADD(field) sum->field += more->field;
    TD_PATH_COUNTS(ADD)
    TD_PATH_SUMS(ADD)
#undef ADD
    if (measure != TD_MEASURE_SUM) sum->residual = td_larger_change(sum->residual, more->residual);
    else sum->residual += more->residual;
    for (int l = 0; l < TD_PATH_LEVELS; l++) sum->levels[l] += more->levels[l];
}

void td_paths_add(td_paths_job *self, const td_path_tally *more)
{
    td_path_tally_add(&self->sum, more, self->cpu.kernels->measure);
}

td_status td_paths_do(td_paths_job *self, td_paths_step step, uint64_t units, uint64_t work, td_path_tally *out)
{
    td_cpu_job *cpu = &self->cpu;
    *out = (td_path_tally){0};
    if (units == 0) return TD_OK;
    cpu->paths = &self->steps;
    if (self->several != NULL) {
        TD_CHECK(td_paths_several_do(self, step, out));
    } else if (self->gpu != NULL) {
        TD_CHECK(td_paths_gpu_do(self, step, units, out));
    } else {
        TD_CHECK(td_cpu_step(cpu, kernel_of(cpu->kernels, step), units, grain_of(step), work, NULL));
        for (int w = 0; w < cpu->counting; w++) td_path_tally_add(out, &self->steps.tallies[w], cpu->kernels->measure);
    }
    td_paths_add(self, out);
    return TD_OK;
}
