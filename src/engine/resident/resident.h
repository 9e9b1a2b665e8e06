/* The resident engine: the whole graph in the memory of one GPU. */
#ifndef TD_ENGINE_RESIDENT_RESIDENT_H
#define TD_ENGINE_RESIDENT_RESIDENT_H

#include "engine/engine.h"
#include "gpu/bytes.h"
#include "gpu/rounds.h"

extern const td_setting td_resident_settings[];

/* Whether the program uses the setting, one of td_resident_settings. */
bool td_resident_uses(const td_program *program, const char *setting);

/* Device memory of a run with these settings. */
td_status td_resident_count_bytes(const td_program *program, const td_graph *graph, const td_run_options *options,
                                  td_gpu_bytes *out);

#endif
