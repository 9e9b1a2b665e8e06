/* What the library calls the tool's options: calls and fields of tandem.h. */
#include "api/session.h"

const td_option_name td_library_words[] = {
    {"--memory", "td_memory_set_budget", "td_session_set_budget"},
    {"--threads", "td_session_create", NULL},
    {"--source", "td_request.source and has_source", NULL},
    {"--iterations", "td_request.iterations", NULL},
    {"--tolerance", "td_request.tolerance", NULL},
    {"--sync", "TD_MODE_SYNC", NULL},
    {"--async", "TD_MODE_ASYNC", NULL},
    {"--parents", "td_request.parents", NULL},
    {"--engine", "td_request.engine", NULL},
    {"--set", "td_request.settings", NULL},
    {"--devices", "td_request.devices", NULL},
    {"--gpu-memory", "td_request.gpu_memory", NULL},
    {"--gpu-edges", "td_request.gpu_edges", NULL},
    {"--checkpoint", "td_request.checkpoint", NULL},
    {"--every", "td_request.checkpoint_every", NULL},
    {"--resume", "td_request.resume", NULL},
    {"--format", "td_graph_options.format", NULL},
    {"--to", "td_graph_save's format", NULL},
    {"--weights", "td_graph_options.weights", NULL},
    {NULL, NULL, NULL},
};
