/* The result of a forest whose whole out-lists are on the device: its edges come back in ascending order, with their ends and
 * weights, so that the host neither sorts them nor reads the lists. */
#ifndef TD_GPU_FOREST_H
#define TD_GPU_FOREST_H

#include "gpu/launch.h"

/* Whether the run's edges are listed on the device: its lists are there, and the host's are in a file. */
bool td_gpu_lists_forest(const td_gpu_job *job);

/* Lists the edges, in the memory of the values, which are gone afterwards; copies them into run->edges and run->forest,
 * and sums their weights. */
td_status td_gpu_list_forest(td_gpu_job *job);

#endif
