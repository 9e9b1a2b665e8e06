/* The partition beside the graph (layout/partition_file.h), as `tandem prepare` makes it: for equal GPUs, none of which it
 * opens. A run with multi.prepared=make makes its own, for the GPUs that it has. */
#ifndef TD_ENGINE_MULTI_PREPARED_H
#define TD_ENGINE_MULTI_PREPARED_H

#include "engine/engine.h"
#include "layout/partition.h"

/* Makes the partition that runs of a program on so many equal GPUs read, unless it is there. The program's lists and the
 * seed follow from the settings. TD_NOT_FOUND with the reason: such runs read none. */
td_status td_multi_prepare(const td_program *program, const td_graph *graph, const td_run_options *options,
                           td_partition_kind kind, int parts, td_prepared_file *out);

#endif
