/* The table of programs (tests/engine/table.h) on a real GPU, for whichever engine: the test graphs, and some larger
 * ones on which blocks, clusters and heavy vertices meet in earnest. */
#ifndef TD_TESTS_GPU_TABLES_H
#define TD_TESTS_GPU_TABLES_H

#include "engine/budget.h"
#include "gpu/gpu.h"

/* All that the strides take, instead of draws. */
static inline bool by_strides(void) { return getenv("TANDEM_TEST_ALL") != NULL; }

/* How an engine runs a row: its ways, how many; which of them, by strides (by_strides) and by draws (table_draws);
 * strides_only: draws are for budgets alone. */
typedef struct gpu_ways {
    int count;
    td_run *(*run)(void *context, subject *about, int way);
    int (*stride)(const row *of, const td_graph *graph, test_weights kind);
    int (*runs)(const row *of, const td_graph *graph, test_weights kind);
    bool strides_only;
} gpu_ways;

static const char *const larger_graphs[] = {"k12", "u13", "grid150", "k16", NULL};

/* One whole GPU stays open, so that its context is not made anew for every run; and so do the slices or the GPU of the
 * runs. Some tables have several divisions into slices, one place for each. */
enum { GPU_PLACES = 3 };
typedef struct gpu_table {
    td_loop *loop;
    td_device *open;
    table_place place[GPU_PLACES]; /* the first is the context of `ways` */
    table_draws draws;
    table_ways ways;
} gpu_table;

static inline void gpu_leave(void *context)
{
    for (int i = 0; i < GPU_PLACES; i++) table_leave((table_place *)context + i);
}

/* `devices`: a list of devices for each place; NULL where the table needs fewer. */
static inline void gpu_table_open_several(gpu_table *self, const char *const devices[GPU_PLACES], gpu_ways ways)
{
    td_pool *pool = NULL;
    need_gpu();
    *self = (gpu_table){.draws = {.runs = ways.runs}};
    CHECK_OK(td_loop_create(&self->loop));
    CHECK_OK(td_devices_open(&self->open, gpu_name(), &(td_device_options){.loop = self->loop}));
    CHECK_OK(td_pool_create(&pool, 4));
    for (int i = 0; i < GPU_PLACES; i++)
        self->place[i] = (table_place){.devices = devices[i], .pool = pool, .stays_open = true};
    self->ways = (table_ways){ways.count, ways.run, ways.stride, gpu_leave, self->place, pool,
                              (ways.strides_only || by_strides()) && budget_seconds() == 0 ? NULL : &self->draws};
}

static inline void gpu_table_open(gpu_table *self, const char *devices, gpu_ways ways)
{
    gpu_table_open_several(self, (const char *const[GPU_PLACES]){devices}, ways);
}

static inline void gpu_table_close(gpu_table *self)
{
    for (int i = 0; i < GPU_PLACES; i++) table_close(&self->place[i]);
    td_pool_destroy(self->place[0].pool);
    td_devices_close(self->open);
    td_loop_destroy(self->loop);
}

static inline void gpu_check_table(const char *program, gpu_table *table)
{
    check_program(program, &table->ways);
    if (table->ways.draws != NULL) check_rest(program, &table->ways);
    gpu_table_close(table);
}

/* Under a budget, programs have no tables of their own. */
static inline void gpu_skip_under_budget(void)
{
    if (budget_seconds() > 0) SKIP("TANDEM_TEST_BUDGET: see the test of the whole table");
}

static inline void gpu_check(const char *program, const char *devices, gpu_ways ways)
{
    gpu_table table;
    gpu_skip_under_budget();
    gpu_table_open(&table, devices, ways);
    gpu_check_table(program, &table);
}

/* Weights are 1 .. 100; programs that take none leave them alone. Every row runs on it once, and has one reference. */
static inline void gpu_check_graph(const char *name, int seed, gpu_table *table)
{
    td_gen_spec spec;
    td_build_options build;
    td_graph *graph = NULL;
    uint64_t began = td_clock_ns();
    int runs = 0;
    CHECK(td_gen_named(name, &spec, &build));
    CHECK_OK(td_graph_generate(&graph, &spec, &build, table->ways.pool));
    for (int r = 0; r < ROWS; r++)
        if (takes_larger(r)) runs += check_row_on(r, graph, name, seed, larger_kind(r), &table->ways);
    gpu_leave(table->place);
    td_graph_destroy(graph);
    printf("     %s: %d runs in %.1f s\n", name, runs, td_seconds_since(began));
    fflush(stdout);
}

static inline void gpu_check_larger_table(gpu_table *table)
{
    for (int i = 0; larger_graphs[i] != NULL; i++) gpu_check_graph(larger_graphs[i], i, table);
    gpu_table_close(table);
}

static inline void gpu_check_larger(gpu_ways ways)
{
    gpu_table table;
    gpu_skip_under_budget();
    gpu_table_open(&table, gpu_name(), ways);
    gpu_check_larger_table(&table);
}

/* What TANDEM_TEST_BUDGET gives the programs, in one table; a skip without it. */
static inline budget gpu_budget(const char *const *programs, bool larger)
{
    budget plan = {.seconds = budget_seconds()};
    if (plan.seconds == 0) SKIP("TANDEM_TEST_BUDGET is not set: the whole table runs");
    for (int i = 0; programs[i] != NULL; i++) plan.programs[i] = programs[i];
    for (int i = 0; larger && larger_graphs[i] != NULL; i++) plan.larger[i] = larger_graphs[i];
    return plan;
}

static inline void gpu_check_within(const budget *plan, gpu_table *table)
{
    check_within(plan, &table->ways);
    gpu_table_close(table);
}

static inline void gpu_check_budget(const char *const *programs, bool larger, const char *devices, gpu_ways ways)
{
    gpu_table table;
    budget plan = gpu_budget(programs, larger);
    gpu_table_open(&table, devices, ways);
    gpu_check_within(&plan, &table);
}

#endif
