/* The rates of this machine (engine/estimate.h): as 'tandem calibrate' measured and stored them, or the defaults. */
#ifndef TD_PLANNER_RATES_H
#define TD_PLANNER_RATES_H

#include "base/data_files.h"
#include "engine/estimate.h"

/* For runs with so many threads. A file that cannot be read is a warning, and the defaults are taken. */
void td_rates_find(td_rates *out, int threads);

/* Converts the CPU's rates to another number of threads. */
void td_rates_scale(td_rates *rates, int threads);

/* Where this machine's rates are stored: named by its processor, because a home folder may be that of several machines.
 * False: no folder is known. */
bool td_rates_path(char path[TD_DATA_PATH]);
td_status td_rates_write(const td_rates *rates, const char *path);
td_status td_rates_read(td_rates *out, const char *path); /* TD_NOT_FOUND, or TD_FORMAT naming file and line */

/* Calls `each` for every rate by its name in the file, "load" or "cpu.search.edge", in the order of the file. */
void td_rates_each(td_rates *rates, void (*each)(void *context, const char *name, double *rate), void *context);

/* A number that stands for the processor and the threads of a run, for the history of runs. */
uint64_t td_rates_machine(int threads);

#endif
