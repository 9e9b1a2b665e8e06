/* `tandem bench`: measurements as ratios, and the table they are printed in. */
#include "bench.h"

#include "base/machine.h"

#include <stdio.h>
#include <string.h>

#define OPTION(...) TD_OPTION(td_bench_settings, __VA_ARGS__)

enum { MOST_GRAPHS = 64 };

static const td_arg_option options[] = {
    OPTION("scale", COUNT, scale, "N", "convert: 2^N vertices, 16 edges each (default: 22)", .least = 10, .most = 28),
    OPTION("trials", COUNT, trials, "N", "measurements; the median counts (default: 5)", .least = 1, .most = 99),
    OPTION("devices", TEXT, devices, "DEVICE",
           "gpu, reorder: the GPU, cuda:0 (the default) or emu; reorder: cpu for no GPU; paths: a GPU instead of the "
           "cores; answer: a GPU, or cpu for none"),
    OPTION("programs", TEXT, programs, "LIST", "answer: the programs, separated by commas (default: bfs, sssp, wcc, "
           "pagerank, mst and kcore)"),
    OPTION("shard", TEXT, shard, "I/N", "answer: measure part I of N, from 1 on"),
    OPTION("resume", TEXT, resume, "FILE", "answer, cpu: append results to FILE, and measure none that it has already"),
    OPTION("bv", TEXT, bv, "FILE", "convert: a BVGraph to decode"),
    OPTION("folder", TEXT, folder, "DIR", "folder for temporary files (default: $TMPDIR or /tmp)"),
    {0},
};

static const td_bench *const benches[] = {&td_bench_allocation, &td_bench_answer, &td_bench_convert, &td_bench_cpu, &td_bench_gpu,
                                         &td_bench_multi, &td_bench_paths, &td_bench_reorder, NULL};

static const char *bench_name(const void *unused, int index)
{
    (void)unused;
    return benches[index] != NULL ? benches[index]->name : NULL;
}

static void print_value(double value, const char *unit)
{
    char text[32] = "";
    if (value != 0) snprintf(text, sizeof text, "%.4g %s", value, unit);
    printf(" %13s", text);
}

void td_figure_print(const td_figure *figure)
{
    char name[96], ratio[32] = "";
    snprintf(name, sizeof name, "%s%s%s", figure->name, figure->against != NULL ? " / " : "",
             figure->against != NULL ? figure->against : "");
    if (figure->ratio != 0) snprintf(ratio, sizeof ratio, "%.2fx", figure->ratio);
    printf("%-33s", name);
    print_value(figure->measured, figure->unit);
    print_value(figure->baseline, figure->unit);
    printf(" %8s  %s%s\n", ratio, figure->target != NULL ? figure->target : "",
           figure->target != NULL && !figure->reached ? "  !" : "");
    fflush(stdout);
}

void td_figure_json(td_json *json, const td_figure *figure)
{
    td_json_row(json, NULL);
    td_json_string(json, "name", figure->name);
    td_json_string(json, "unit", figure->unit);
    td_json_real(json, "measured", figure->measured);
    if (figure->baseline != 0) {
        td_json_string(json, "against", figure->against);
        td_json_real(json, "baseline", figure->baseline);
    }
    if (figure->ratio != 0) td_json_real(json, "ratio", figure->ratio);
    if (figure->target != NULL) {
        td_json_string(json, "target", figure->target);
        td_json_bool(json, "reached", figure->reached);
    }
    td_json_end_object(json);
}

static td_status run_bench(const td_args *args, void *settings)
{
    td_bench_settings *s = settings;
    td_report report = {0};
    const td_bench *bench = NULL;
    for (int i = 0; benches[i] != NULL; i++)
        if (strcmp(benches[i]->name, args->words[0]) == 0) bench = benches[i];
    if (bench == NULL) return td_fail_unknown("benchmark", args->words[0], NULL, bench_name, NULL);
    s->graphs = args->words + 1;
    s->graph_count = args->count - 1;
    if (s->graph_count > 0 && !bench->takes_graphs)
        return td_fail(TD_USAGE, "unexpected argument '%s': bench %s makes its own graphs", s->graphs[0], bench->name);
    if (s->common.json != NULL) {
        char command[64];
        snprintf(command, sizeof command, "bench %s", bench->name);
        int threads = s->common.threads > 0 ? (int)s->common.threads : td_machine_usable();
        TD_CHECK(td_report_begin(&report, s->common.json, command, threads));
    }
    return td_report_end(&report, bench->run(s, &report));
}

static const td_bench_settings defaults = {.scale = 22, .trials = 5};

const td_command td_cmd_bench = {
    .name = "bench",
    .summary = "measure the techniques of Tandem against baselines",
    .positional = "SUBJECT [GRAPH ...]",
    .least = 1,
    .most = MOST_GRAPHS + 1,
    .options = options,
    .settings_bytes = sizeof(td_bench_settings),
    .defaults = &defaults,
    .run = run_bench,
    .details =
        "SUBJECT is one of:\n"
        "allocation: the division of edges among 4 to 16 GPUs by the linear program, and the choice of a group, on random "
        "instances.\n"
        "answer: the time to the answer: every engine as a separate process, from start to "
        "end, with the file in the page cache; for every graph, program and limit of memory (all, a quarter of the "
        "edges on the GPU, no GPU) auto's time over the best engine's, and predicted over measured. By default k16, "
        "u16, grid256 and web15, in --folder; --shard and --resume divide a long measurement.\n"
        "convert: parsing text against a scanf loop, building both directions against a memcpy of the edges, "
        "opening packed files of two sizes, peak memory, and, with --bv, decoding a BVGraph.\n"
        "cpu: programs with one thing changed at a time - direction, stealing, huge pages, the order of the "
        "vertices - against the defaults. Graphs are files or names (by default k18, u18, grid500 and stars); "
        "memory holds four copies of each; --resume divides a long measurement.\n"
        "gpu: the resident engine on a GPU with one thing changed at a time: direction, balance, gather and replication, rounds in a "
        "launch, order. Shows edges per second of the defaults, and PageRank against the rates of device memory and "
        "of random reads. By default k20, u20 and grid1000. On emu times are virtual.\n"
        "multi: several GPUs against the resident engine on the whole GPU and on one of them, against fewer GPUs, and "
        "with one thing changed at a time: stealing, costs, partition. Shows the idle time of the GPUs and the time of deciding. "
        "By default k23, web21 and grid3000 on cuda:0/8. On emu times are virtual.\n"
        "paths: updates, edges and bytes loaded by the paths engine until the same tolerance, against its variants, against "
        "itself without each of its techniques and against asynchronous vertices of another engine; with --devices on a "
        "GPU. By default web18. On emu times are virtual.\n"
        "reorder: every order of the vertices against that of the input, for every engine, and the number of runs "
        "after which reordering pays off; GPU engines if there is a GPU. By default k18, u18 and grid500.\n"
        "docs/performance.md has results.",
    .examples = "tandem bench convert\n"
                "tandem bench answer k20 u20 --programs bfs,wcc --resume answer.tsv\n"
                "tandem bench convert --scale 18 --json figures.json\n"
                "tandem bench cpu k20 web.tg --trials 9\n"
                "tandem bench gpu k23 u23 grid3000 --json figures.json\n"
                "tandem bench multi k25 grid3000 --devices cuda:0/8\n"
                "tandem bench reorder k20 web.tg --devices cpu",
};
