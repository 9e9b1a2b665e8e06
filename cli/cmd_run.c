/* `tandem run`: a program on a graph. */
#include "command.h"

typedef struct run_settings {
    td_common common;
    const char *source;
    const char *engine, *devices;
    uint64_t gpu_memory;
    uint64_t iterations;
    double tolerance;
    bool sync, async, verify;
    const char *output, *trace, *checkpoint, *resume, *format;
    uint64_t top, every;
    td_arg_pairs set;
} run_settings;

#define AT(field) offsetof(run_settings, field)

static const td_arg_option options[] = {
    {"source", 's', TD_ARG_TEXT, AT(source), "ID", "the vertex to start from, by its original id", NULL, NULL, 0, 0},
    {"engine", 0, TD_ARG_TEXT, AT(engine), "E", "which engine (default: auto)", NULL, NULL, 0, 0},
    {"devices", 0, TD_ARG_TEXT, AT(devices), "LIST", "cpu, cuda:0, cuda:0/8, separated by commas", NULL, NULL, 0, 0},
    {"gpu-memory", 0, TD_ARG_SIZE, AT(gpu_memory), "SIZE", "most memory to hold on each GPU", NULL, NULL, 0, 0},
    {"iterations", 0, TD_ARG_COUNT, AT(iterations), "N", "stop after that many", NULL, NULL, 1, 1e9},
    {"tolerance", 0, TD_ARG_REAL, AT(tolerance), "T", "stop when values change by less", NULL, NULL, 0, 1e9},
    {"sync", 0, TD_ARG_FLAG, AT(sync), NULL, "iterations see the values of the one before", "async", NULL, 0, 0},
    {"async", 0, TD_ARG_FLAG, AT(async), NULL, "values are seen as soon as they are there", NULL, NULL, 0, 0},
    {"format", 0, TD_ARG_TEXT, AT(format), "F", "format of the graph file (default: recognised)", NULL, NULL, 0, 0},
    {"output", 'o', TD_ARG_TEXT, AT(output), "FILE", "results, one line per vertex: original id, value", NULL, NULL, 0, 0},
    {"top", 0, TD_ARG_COUNT, AT(top), "N", "print the N vertices with the largest values", NULL, NULL, 1, 1e9},
    {"verify", 0, TD_ARG_FLAG, AT(verify), NULL, "check the result against the claims it makes", NULL, NULL, 0, 0},
    {"trace", 0, TD_ARG_TEXT, AT(trace), "FILE", "what happened when, in Chrome's trace format", NULL, NULL, 0, 0},
    {"checkpoint", 0, TD_ARG_TEXT, AT(checkpoint), "DIR", "keep the state there, to go on after a crash", NULL, NULL, 0, 0},
    {"every", 0, TD_ARG_COUNT, AT(every), "N", "iterations between checkpoints", NULL, "checkpoint", 1, 1e9},
    {"resume", 0, TD_ARG_TEXT, AT(resume), "DIR", "go on from that checkpoint", NULL, NULL, 0, 0},
    {"set", 0, TD_ARG_PAIRS, AT(set), "KEY=VALUE", "a parameter of the engine or program; may be repeated", NULL, NULL, 0, 0},
    {0},
};

static td_status run_run(const td_args *args, void *settings)
{
    (void)settings;
    return td_fail(TD_UNSUPPORTED, "cannot run '%s' on '%s': this build of tandem has no engine", args->words[0],
                   args->words[1]);
}

const td_command td_cmd_run = {
    .name = "run",
    .summary = "run a program on a graph",
    .positional = "PROGRAM FILE",
    .least = 2,
    .most = 2,
    .options = options,
    .settings_bytes = sizeof(run_settings),
    .run = run_run,
};
