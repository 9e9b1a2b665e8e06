/* The value of --gpu-edges: "25%" or a size. */
#ifndef TD_CLI_GPU_EDGES_H
#define TD_CLI_GPU_EDGES_H

#include "base/status.h"

/* As td_request.gpu_edges has it: a share becomes a number up to 1, a size a number above 1. `text` NULL: no limit. */
td_status td_gpu_edges_parse(const char *text, double *out);

#endif
