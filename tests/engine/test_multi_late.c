/* The core of the table of programs on GPUs that may see each other's writes late, as real ones do where no event orders
 * them (`remote-delay`): no race is reported, and the results are right. */
#include "engine/multi_machines.h"
#include "engine/multi_ways.h"

enum { GPUS = 4 };

static int few_ways(const row *of, const td_graph *graph, test_weights kind)
{
    test_weights first = (test_weights)__builtin_ctz(of->weights);
    bool circuit = strcmp(of->program, "circuit") == 0, again = of->engine != NULL || of->settings[0] != '\0';
    if (kind != first || again || graph->vertices > (circuit ? VERY_TINY : 1024)) return 0;
    return graph->vertices <= TINY ? 1601 : graph->vertices <= 600 ? 809 : 557;
}

static void check_late(const char *program, const char *graph_name, const char *devices)
{
    table_place place = {.devices = devices};
    int g = test_graph_named(graph_name);
    CHECK_OK(td_pool_create(&place.pool, 2));
    table_ways ways = {MULTI_WAYS, multi_run_way, few_ways, table_leave, &place, place.pool, NULL};
    for (int kind = 0; kind < TEST_WEIGHT_KINDS; kind++) {
        if (!program_takes(program, kind)) continue;
        td_graph *graph = test_graph(g, (test_weights)kind, place.pool);
        (void)check_program_on(program, graph, graph_name, g, (test_weights)kind, &ways);
        table_leave(&place);
        td_graph_destroy(graph);
    }
    td_pool_destroy(place.pool);
}

TEST(writes_of_other_gpus_may_be_seen_late)
{
    static const char *const names[] = {"rmat 10", "rmat 10, clean", "uniform", "small world", "directed cycle",
                                        "two components", "complete 20"};
    const char *devices = linked_gpus("late.topology", GPUS, "remote-delay 4\n");
    for (int p = 0; td_programs[p] != NULL; p++)
        for (int i = 0; i < 7; i++) check_late(td_programs[p]->info->name, names[i], devices);
}

TEST(the_late_topology_works)
{
    for (int p = 0; td_programs[p] != NULL; p++) check_late(td_programs[p]->info->name, "two components", "emu:8@late");
}

TEST_MAIN
