/* Where the cost models of devices are: in the user's data folder, where `tandem calibrate` stores them, or among those
 * that ship with Tandem. A file is named by what the devices are: cost-emu-dgx1.model, cost-cuda-nvidia-h200-8.model (a
 * slice of eight). */
#ifndef TD_MULTI_COST_FIND_H
#define TD_MULTI_COST_FIND_H

#include "base/data_files.h"
#include "gpu/set.h"

enum { TD_COST_NAME = 160 };

/* TD_UNSUPPORTED for devices that are not all alike. */
td_status td_cost_file_name(char name[TD_COST_NAME], const td_gpu_set *gpus);

/* The file that a run on the devices reads. TD_NOT_FOUND says what to do. */
td_status td_cost_file_find(char path[TD_DATA_PATH], const td_gpu_set *gpus);

/* The file that a calibration of the devices writes; makes its folder. */
td_status td_cost_file_own(char path[TD_DATA_PATH], const td_gpu_set *gpus);

#endif
