/* Opening graph files. */
#ifndef TD_API_OPEN_H
#define TD_API_OPEN_H

#include "api/session.h"
#include "store/builder.h"

/* The caller's options, NULL for defaults, and what they ask of the builder. */
td_status td_graph_options_take(const td_graph_options *given, td_graph_options *options, td_build_options *build);

#endif
