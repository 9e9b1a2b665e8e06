/* Convergence: the one place where a measure of change is compared with the tolerance.
 *
 * A change is a sum of magnitudes or their maximum, so it is not negative. Any other number means that the values or
 * their computation are broken; it ends the run with an error and never counts as convergence. */
#ifndef TD_RUN_CONVERGENCE_H
#define TD_RUN_CONVERGENCE_H

#include "run/run.h"

/* Fails if an iteration's change, or the share common to all vertices, is NaN or infinite, or the change negative. */
td_status td_run_check_change(const td_run *run, uint32_t iteration, double change, double share);

/* Checks change and share and sets run->converged: whether the change is within the tolerance. Programs without a
 * measure (TD_MEASURE_NONE) do not converge by it. */
td_status td_run_check_convergence(td_run *run, int measure, uint32_t iteration, double change, double share);

#endif
