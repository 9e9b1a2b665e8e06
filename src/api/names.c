/* What the C API calls options: calls and fields of tandem.h. */
#include "api/session.h"

const td_option_name td_api_names[] = {
    {"memory", "td_memory_set_budget"},
    {"session_memory", "td_session_set_budget"},
    {"threads", "td_session_create"},
    {"source", "td_request.source and has_source"},
    {"sources", "td_request.sources"},
    {"iterations", "td_request.iterations"},
    {"tolerance", "td_request.tolerance"},
    {"sync", "TD_MODE_SYNC"},
    {"async", "TD_MODE_ASYNC"},
    {"parents", "td_request.parents"},
    {"engine", "td_request.engine"},
    {"set", "td_request.settings"},
    {"devices", "td_request.devices"},
    {"gpu_memory", "td_request.gpu_memory"},
    {"gpu_edges", "td_request.gpu_edges"},
    {"checkpoint", "td_request.checkpoint"},
    {"every", "td_request.checkpoint_every"},
    {"resume", "td_request.resume"},
    {"runs", "td_request.runs"},
    {"format", "td_graph_options.format"},
    {"to", "td_graph_save's format"},
    {"weights", "td_graph_options.weights"},
    {"columns", "td_graph_options.columns"},
    {NULL, NULL},
};
