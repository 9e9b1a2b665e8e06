/* The report of `tandem devices` on a GPU: its properties and its rates, measured or, for an
 * emulated one, from its topology. */
#ifndef TD_CLI_GPU_TEXT_H
#define TD_CLI_GPU_TEXT_H

#include "base/json.h"
#include "tandem.h"

void td_gpu_print(const td_survey *survey, int index, const td_surveyed_device *gpu);
void td_gpu_json(td_json *json, const td_survey *survey, int index, const td_surveyed_device *gpu);

#endif
