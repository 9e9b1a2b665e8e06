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

#define OPTION(...) TD_OPTION(run_settings, __VA_ARGS__)

static const td_arg_option options[] = {
    OPTION("source", TEXT, source, "ID", "the vertex to start from, by its original id", .letter = 's'),
    OPTION("engine", TEXT, engine, "E", "which engine (default: auto)"),
    OPTION("devices", TEXT, devices, "LIST", "cpu, cuda:0, cuda:0/8, separated by commas"),
    OPTION("gpu-memory", SIZE, gpu_memory, "SIZE", "most memory to hold on each GPU"),
    OPTION("iterations", COUNT, iterations, "N", "stop after that many", .least = 1, .most = 1e9),
    OPTION("tolerance", REAL, tolerance, "T", "stop when values change by less", .most = 1e9),
    OPTION("sync", FLAG, sync, NULL, "iterations see the values of the one before", .excludes = "async"),
    OPTION("async", FLAG, async, NULL, "values are seen as soon as they are there"),
    OPTION("format", TEXT, format, "F", "format of the graph file (default: recognised)"),
    OPTION("output", TEXT, output, "FILE", "results, one line per vertex: original id, value", .letter = 'o'),
    OPTION("top", COUNT, top, "N", "print the N vertices with the largest values", .least = 1, .most = 1e9),
    OPTION("verify", FLAG, verify, NULL, "check the result against the claims it makes"),
    OPTION("trace", TEXT, trace, "FILE", "what happened when, in Chrome's trace format"),
    OPTION("checkpoint", TEXT, checkpoint, "DIR", "keep the state there, to go on after a crash"),
    OPTION("every", COUNT, every, "N", "iterations between checkpoints",
           .needs = "checkpoint", .least = 1, .most = 1e9),
    OPTION("resume", TEXT, resume, "DIR", "go on from that checkpoint"),
    OPTION("set", PAIRS, set, "KEY=VALUE", "a parameter of the engine or program; may be repeated"),
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
