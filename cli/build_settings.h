/* The builder's options on the command line, shared by the commands that build
 * a graph. Their settings begin with this struct. */
#ifndef TD_CLI_BUILD_SETTINGS_H
#define TD_CLI_BUILD_SETTINGS_H

#include "command.h"

typedef struct td_build_settings {
    td_common common;
    bool symmetrize, dedup, drop_loops, drop_weights, out_only;
    const char *weights; /* "lo:hi", "f32", "f64" or NULL */
    const char *order;   /* a name or NULL; the commands apply it once the graph is built */
} td_build_settings;

extern const td_arg_option td_build_settings_options[];

/* Applies the settings to `options` and checks them. */
td_status td_build_settings_apply(const td_build_settings *settings, td_graph_options *options);

#endif
