/* The curves of a run, small in the terminal: `--plot` of run. */
#ifndef TD_CLI_RUN_PLOT_H
#define TD_CLI_RUN_PLOT_H

#include "tandem.h"

/* On standard error, within 80 columns: active vertices, edges processed, bytes moved, seconds and directions, an
 * iteration or the maximum of several per column; and how busy every device was. */
td_status td_plot_run(const td_result *result);

#endif
