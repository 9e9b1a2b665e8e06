/* The table of programs on the multi engine, on two and three emulated GPUs that copy through the host, on eight with
 * the links of a DGX-1 and on four slices of one, in ways that differ from row to row. The emulator watches every access
 * of every kernel, so graphs
 * are small and few ways are taken of each; TANDEM_TEST_ALL=1 in the environment takes many more. */
#ifndef TD_TEST_MULTI_TABLE_H
#define TD_TEST_MULTI_TABLE_H

#include "engine/multi_machines.h"
#include "engine/multi_ways.h"

#include "device/emulator/sanitizer.h"

/* Vertices: more is left to GPUs. The sanitizers are slower than the watch. */
enum { MANY = TD_ADDRESS_CHECKED || TD_THREADS_CHECKED ? 300 : 2004, FEW = 130 };

/* Primes, so that every setting and machine gets its turn. One kind of a row's weights is looked at more closely than the
 * others. */
static inline int multi_stride(const row *of, const td_graph *graph, test_weights kind)
{
    bool circuit = strcmp(of->program, "circuit") == 0; /* thousands of iterations */
    test_weights awkward = of->weights & KIND(TEST_TIES) ? TEST_TIES : (test_weights)__builtin_ctz(of->weights);
    if (graph->vertices > (circuit ? VERY_TINY : MANY)) return 0;
    if (getenv("TANDEM_TEST_ALL") != NULL) return 17;
    if (kind != awkward && graph->vertices > FEW) return 0;
    bool buckets = of->engine != NULL && strncmp(of->engine, "delta", 5) == 0; /* almost as many as vertices */
    bool again = strncmp(of->settings, "kcore", 5) == 0; /* what the row before does */
    if ((buckets && graph->vertices > FEW) || (again && graph->vertices > 600)) return 0;
    if (circuit || buckets || kind != awkward) return 6719;
    bool ordered = strcmp(of->program, "sssp") == 0 || strcmp(of->program, "kcore") == 0; /* many small iterations */
    if (ordered) return graph->vertices <= TINY ? 3343 : 6719;
    return graph->vertices <= TINY ? 2137 : graph->vertices <= 600 ? 3343 : 6719;
}

static inline void check_on_several(const char *program)
{
    multi_places places = {.machine = {"emu:2", "emu:3", cube_mesh("cube.topology", ""),
                                       machine_of("slices.topology", 4, "slices all\n", "")}, .machines = 4};
    td_pool *pool = NULL;
    CHECK_OK(td_pool_create(&pool, 2));
    places.place.pool = pool;
    table_ways ways = {MULTI_WAYS * 4, multi_run_in_turn, multi_stride, table_leave, &places, pool, NULL};
    check_program(program, &ways);
    td_pool_destroy(pool);
}

#endif
