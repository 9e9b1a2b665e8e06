#include "build_settings.h"

#define OPTION(...) TD_OPTION(td_build_settings, __VA_ARGS__)

const td_arg_option td_build_settings_options[] = {
    OPTION("symmetrize", FLAG, symmetrize, NULL, "add the reverse of every edge"),
    OPTION("dedup", FLAG, dedup, NULL, "keep one edge per pair of vertices, the lightest"),
    OPTION("drop-loops", FLAG, drop_loops, NULL, "drop edges from a vertex to itself"),
    OPTION("drop-weights", FLAG, drop_weights, NULL, "drop the weights", .excludes = "weights"),
    OPTION("weights", TEXT, weights, "LO:HI|f32|f64",
           "LO:HI: random weights from the seed, equal in both directions; reals if LO or HI has a point. f64: keeps the "
           "weights as 64-bit floats, f32: as 32-bit ones (the default of real weights)"),
    OPTION("out-only", FLAG, out_only, NULL, "store no in-adjacency: half the size, but no pull"),
    OPTION("order", TEXT, order, "ORDER",
           "reorder the vertices: hot, indegree, random, rcm, gorder, bisect or none ('tandem help reorder')"),
    {0},
};

td_status td_build_settings_apply(const td_build_settings *settings, td_graph_options *options)
{
    options->size = sizeof *options;
    options->symmetrize |= settings->symmetrize;
    options->dedup |= settings->dedup;
    options->drop_loops |= settings->drop_loops;
    options->out_only |= settings->out_only;
    options->drop_weights |= settings->drop_weights;
    if (settings->drop_weights) options->weights = NULL;
    if (settings->weights != NULL) options->weights = settings->weights;
    td_status status = td_graph_options_check(options);
    return status == TD_INVALID || status == TD_LIMIT ? td_fail_context(TD_USAGE, "option --weights") : status;
}
