#include "run/convergence.h"

#include <math.h>

td_status td_run_check_change(const td_run *run, uint32_t iteration, double change, double share)
{
    const char *name = run->program->info->name;
    if (!isfinite(change) || !isfinite(share))
        return td_fail(TD_LIMIT,
                       "%s: values grew beyond all bounds in iteration %u: %s is %g; use smaller weights or inputs",
                       name, iteration, isfinite(change) ? "what all vertices share" : "the change",
                       isfinite(change) ? share : change);
    if (change < 0)
        return td_fail(TD_INTERNAL,
                       "%s: the change of iteration %u is %g, and a change is never negative: this is an error of "
                       "Tandem's, please report it; {sync} or another {engine} may do without it", name, iteration,
                       change);
    return TD_OK;
}

td_status td_run_check_convergence(td_run *run, int measure, uint32_t iteration, double change, double share)
{
    run->converged = false;
    TD_CHECK(td_run_check_change(run, iteration, change, share));
    run->converged = measure != TD_MEASURE_NONE && change <= run->tolerance;
    return TD_OK;
}
