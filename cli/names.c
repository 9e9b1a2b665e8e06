#include "names.h"

const td_option_name td_tool_names[] = {
    /* of a run */
    {"memory", "--memory"}, {"threads", "--threads"}, {"source", "--source"}, {"sources", "--sources"},
    {"iterations", "--iterations"},
    {"tolerance", "--tolerance"}, {"sync", "--sync"}, {"async", "--async"}, {"parents", "--parents"},
    {"engine", "--engine"}, {"set", "--set"}, {"devices", "--devices"}, {"gpu_memory", "--gpu-memory"},
    {"gpu_edges", "--gpu-edges"}, {"checkpoint", "--checkpoint"}, {"every", "--every"}, {"resume", "--resume"},
    {"runs", "--repeat"},
    /* of graph files */
    {"format", "--format"}, {"to", "--to"}, {"weights", "--weights"}, {"columns", "--columns"}, {"out_only", "--out-only"},
    /* of generators */
    {"scale", "--scale"}, {"vertices", "--vertices"}, {"degree", "--degree"}, {"a", "--a"}, {"b", "--b"}, {"c", "--c"},
    {"width", "--width"}, {"height", "--height"}, {"layers", "--layers"}, {"rewire", "--rewire"}, {"arity", "--arity"},
    {"hosts", "--hosts"}, {"shuffle", "--shuffle"},
    {NULL, NULL},
};
