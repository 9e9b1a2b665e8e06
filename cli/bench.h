/* The benchmarks of `tandem bench`. A benchmark prints ratios of times measured in the
 * same run, so that a slow or busy machine slows both sides. */
#ifndef TD_CLI_BENCH_H
#define TD_CLI_BENCH_H

#include "base/median.h"
#include "command.h"
#include "run/run.h"
#include "report.h"

typedef struct td_bench_settings {
    td_common common;
    uint64_t scale, trials;
    const char *bv, *folder, *devices;
    const char *programs, *shard, *resume; /* of bench answer */
    const char *const *graphs; /* names or files given after the benchmark's name */
    int graph_count;
} td_bench_settings;

typedef struct td_bench {
    const char *name, *summary;
    bool takes_graphs;
    td_status (*run)(const td_bench_settings *settings, td_report *report); /* the report is open if --json was given */
} td_bench;

extern const td_bench td_bench_allocation, td_bench_answer, td_bench_convert, td_bench_cpu, td_bench_gpu,
    td_bench_multi, td_bench_paths, td_bench_reorder;

/* Makes a graph by name (k20, u20, grid1000, web20, stars) or reads a file. Original ids are replaced by vertex numbers, so
 * that the ids of a reordered copy are the numbers in the first (bench_graphs.c). */
td_status td_bench_make_graph(td_graph **out, const char *name, td_pool *pool);
uint32_t td_bench_busiest(const td_graph *graph);

/* TD_VERIFY if the result of a variant differs from the first one's; their graphs may have different orders. */
td_status td_bench_compare(const char *graph, const td_run *first, const td_run *run, const char *variant);

/* The common part of every benchmark of engines; its own struct begins with it. */
typedef struct td_bench_base {
    const td_bench_settings *settings;
    td_json *json; /* or NULL */
    td_pool *pool;
    const char *name; /* the graph's name */
    bool first;       /* this is the first graph */
} td_bench_base;

/* A benchmark of engines: graph by graph, in variants and programs. */
typedef struct td_bench_page {
    size_t bytes;                      /* size of its own struct */
    const char *const *graphs;         /* the default graphs, up to a NULL */
    td_status (*begin)(void *bench);   /* before the first graph and the report's array of figures; or NULL */
    td_status (*measure)(void *bench); /* measures one graph */
    void (*drop)(void *bench);         /* frees a graph's data after its report or a failure */
    void (*heading)(const void *bench); /* before the first graph's table */
    void (*table)(const void *bench);
    void (*figure)(const void *bench, int variant, int program); /* writes a measured figure to the report */
    int variants, programs;
} td_bench_page;

/* Measures every graph of the settings, or the default ones. Tables go to standard output unless the report does. */
td_status td_bench_run(const td_bench_page *page, const td_bench_settings *settings, td_report *report);

/* Begins a row of the report's figures; the caller adds what it has besides, and ends the object. */
void td_bench_begin_figure(const td_bench_base *base, const char *program, const char *variant, double seconds,
                           double ratio);

/* Prints a cell of eleven columns: the runs after which reordering pays off; 0: never. */
void td_bench_print_payoff(double runs);

/* One line of a table: name, measured value, baseline, ratio, target ratio. Also a row of the
 * report's array "figures". */
typedef struct td_figure {
    const char *name, *unit, *against;
    double measured, baseline; /* in `unit`; baseline 0: none */
    double ratio;              /* 0: none */
    const char *target;        /* in words, "at least 5 times" */
    bool reached;
} td_figure;

void td_figure_print(const td_figure *figure);
void td_figure_json(td_json *json, const td_figure *figure);

#endif
