/* What `tandem bench` can measure. A benchmark prints a table of ratios taken in
 * one run, so that a slow or busy machine slows both sides. */
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
    const char *const *graphs; /* names or files behind the benchmark's name */
    int graph_count;
} td_bench_settings;

typedef struct td_bench {
    const char *name, *summary;
    bool takes_graphs;
    td_status (*run)(const td_bench_settings *settings, td_report *report); /* the report is open if --json was given */
} td_bench;

extern const td_bench td_bench_convert, td_bench_cpu, td_bench_gpu, td_bench_reorder;

/* A graph by name (k20, u20, grid1000, stars) or from a file. Its vertices are called by their numbers, so that the
 * ids of a reordered copy are the numbers in the first (bench_graphs.c). */
td_status td_bench_make_graph(td_graph **out, const char *name, td_pool *pool);
uint32_t td_bench_busiest(const td_graph *graph);

/* TD_VERIFY if a variant's run found something else than the first one; their graphs may be in different orders. */
td_status td_bench_compare(const char *graph, const td_run *first, const td_run *run, const char *variant);

/* What every benchmark of engines has; its own struct begins with this. */
typedef struct td_bench_base {
    const td_bench_settings *settings;
    td_json *json; /* or NULL */
    td_pool *pool;
    const char *name; /* of the graph */
    bool first;       /* it is the first one */
} td_bench_base;

/* A benchmark of engines: graph by graph, in variants and programs. */
typedef struct td_bench_page {
    size_t bytes;                      /* of its own struct */
    const char *const *graphs;         /* the usual ones, up to a NULL */
    td_status (*begin)(void *bench);   /* before the first graph and the report's array of figures; or NULL */
    td_status (*measure)(void *bench); /* a graph */
    void (*drop)(void *bench);         /* what was made of it, when it was told about or has failed */
    void (*heading)(const void *bench); /* before the first graph's table */
    void (*table)(const void *bench);
    void (*figure)(const void *bench, int variant, int program); /* into the report, if it was measured */
    int variants, programs;
} td_bench_page;

/* Measures every graph of the settings, or the usual ones. Tables go to the standard output unless the report does. */
td_status td_bench_run(const td_bench_page *page, const td_bench_settings *settings, td_report *report);

/* A cell of eleven columns: the runs after which a cost is won back, 0 for never. */
void td_bench_print_payoff(double runs);

/* One line of a table: what, how much, against what, their ratio, the ratio aimed at.
 * Also a row of the report's array "figures". */
typedef struct td_figure {
    const char *name, *unit, *against;
    double measured, baseline; /* in `unit`; baseline 0: there is none */
    double ratio;              /* 0: none */
    const char *target;        /* in words, "at least 5 times" */
    bool reached;
} td_figure;

void td_figure_print(const td_figure *figure);
void td_figure_json(td_json *json, const td_figure *figure);

#endif
