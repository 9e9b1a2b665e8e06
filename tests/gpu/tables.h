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

/* All that the strides take, instead of draws; or no larger share than compute-sanitizer bears. */
static inline bool by_strides(void) { return few() || getenv("TANDEM_TEST_ALL") != NULL; }

/* How an engine runs a row: its ways, how many; which of them, by strides (by_strides) and by draws (table_draws; NULL:
 * never). */
typedef struct gpu_ways {
    int count;
    td_run *(*run)(void *context, subject *about, int way);
    int (*stride)(const row *of, const td_graph *graph, test_weights kind);
    int (*runs)(const row *of, const td_graph *graph, test_weights kind);
} gpu_ways;

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
                              ways.runs == NULL || by_strides() ? NULL : &self->draws};
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

static inline void gpu_check(const char *program, const char *devices, gpu_ways ways)
{
    gpu_table table;
    gpu_table_open(&table, devices, ways);
    gpu_check_table(program, &table);
}

/* Weights are 1 .. 100; programs that take none leave them alone. */
static inline void gpu_check_graph(const char *name, int seed, gpu_table *table)
{
    td_gen_spec spec;
    td_build_options build;
    td_graph *graph = NULL;
    CHECK(td_gen_named(name, &spec, &build));
    CHECK_OK(td_graph_generate(&graph, &spec, &build, table->ways.pool));
    for (int p = 0; td_programs[p] != NULL; p++)
        for (int kind = TEST_UNWEIGHTED; kind <= TEST_U8; kind++)
            (void)check_program_on(td_programs[p]->info->name, graph, name, seed, (test_weights)kind, &table->ways);
    gpu_leave(table->place);
    td_graph_destroy(graph);
}

static inline void gpu_check_larger_table(gpu_table *table)
{
    static const char *const larger[] = {"k12", "u13", "grid150", "k16"};
    for (int i = 0; i < 4; i++) gpu_check_graph(larger[i], i, table);
    gpu_table_close(table);
}

static inline void gpu_check_larger(gpu_ways ways)
{
    gpu_table table;
    if (few()) SKIP("TANDEM_TEST_FEW");
    gpu_table_open(&table, gpu_name(), ways);
    gpu_check_larger_table(&table);
}

#endif
