/* The table of programs (tests/engine/table.h) on a real GPU, for whichever engine: the test graphs, and some larger
 * ones on which blocks, clusters and heavy vertices meet in earnest. */
#ifndef TD_TESTS_GPU_TABLES_H
#define TD_TESTS_GPU_TABLES_H

#include "engine/table.h"
#include "gpu/gpu.h"

#include "store/gen.h"

enum { FEW_VERTICES = 600 };

/* Most is left out, for compute-sanitizer. */
static inline bool few(void) { return getenv("TANDEM_TEST_FEW") != NULL; }

/* How an engine runs a row: its ways, how many, and which of them. */
typedef struct gpu_ways {
    int count;
    td_run *(*run)(void *context, subject *about, int way);
    int (*stride)(const row *of, const td_graph *graph, test_weights kind);
} gpu_ways;

/* One whole GPU stays open, so that its context is not made anew for every run. */
typedef struct gpu_table {
    td_loop *loop;
    td_device *open;
    table_place place;
    table_ways ways;
} gpu_table;

static inline void gpu_table_open(gpu_table *self, const char *devices, gpu_ways ways)
{
    need_gpu();
    *self = (gpu_table){.place = {.devices = devices}};
    CHECK_OK(td_loop_create(&self->loop));
    CHECK_OK(td_devices_open(&self->open, gpu_name(), &(td_device_options){.loop = self->loop}));
    CHECK_OK(td_pool_create(&self->place.pool, 4));
    self->ways = (table_ways){ways.count, ways.run, ways.stride, table_leave, &self->place, self->place.pool};
}

static inline void gpu_table_close(gpu_table *self)
{
    table_leave(&self->place);
    td_pool_destroy(self->place.pool);
    td_devices_close(self->open);
    td_loop_destroy(self->loop);
}

static inline void gpu_check(const char *program, const char *devices, gpu_ways ways)
{
    gpu_table table;
    gpu_table_open(&table, devices, ways);
    check_program(program, &table.ways);
    gpu_table_close(&table);
}

/* Weights are 1 .. 100; programs that take none leave them alone. */
static inline void gpu_check_graph(const char *name, int seed, gpu_ways ways)
{
    gpu_table table;
    td_gen_spec spec;
    td_build_options build;
    td_graph *graph = NULL;
    gpu_table_open(&table, gpu_name(), ways);
    CHECK(td_gen_named(name, &spec, &build));
    CHECK_OK(td_graph_generate(&graph, &spec, &build, table.place.pool));
    for (int p = 0; td_programs[p] != NULL; p++)
        for (int kind = TEST_UNWEIGHTED; kind <= TEST_U8; kind++)
            (void)check_program_on(td_programs[p]->info->name, graph, name, seed, (test_weights)kind, &table.ways);
    table_leave(&table.place);
    td_graph_destroy(graph);
    gpu_table_close(&table);
}

static inline void gpu_check_larger(gpu_ways ways)
{
    static const char *const larger[] = {"k12", "u13", "grid150", "k16"};
    if (few()) SKIP("TANDEM_TEST_FEW");
    for (int i = 0; i < 4; i++) gpu_check_graph(larger[i], i, ways);
}

#endif
