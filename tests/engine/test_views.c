/* What programs make of direction, loops and parallel edges, where a parameter decides. */
#include "engine/ways.h"

#include "base/log.h"

static char said[4096];

static void hear(void *context, td_log_level level, const char *line)
{
    (void)context, (void)level;
    size_t used = strlen(said);
    snprintf(said + used, sizeof said - used, "%s\n", line);
}

/* A clique of four with every edge in both directions, a parallel edge, a loop, and a tail. */
static td_graph *reciprocal(void)
{
    static const uint32_t ends[][2] = {{0, 1}, {1, 0}, {0, 2}, {2, 0}, {0, 3}, {3, 0}, {1, 2}, {2, 1}, {1, 3}, {3, 1},
                                       {2, 3}, {3, 2}, {3, 4}, {3, 4}, {4, 4}, {4, 5}};
    return test_graph_of(7, ends, NULL, sizeof ends / sizeof *ends, false);
}

TEST(a_neighbour_counts_once_where_that_is_asked_for)
{
    static const uint32_t both[] = {6, 6, 6, 6, 2, 1, 0}, once[] = {3, 3, 3, 3, 1, 1, 0};
    static const char *const engines[] = {"cpu", "resident", "multi"};
    td_graph *graph = reciprocal();
    for (int e = 0; e < 3; e++) {
        td_run_options options = {.engine = engines[e], .devices = e == 0 ? NULL : e == 1 ? "emu" : "emu:2"};
        td_run *run = run_of("kcore", graph, options, ""), *other = run_of("kcore", graph, options,
                                                                          "kcore.degree=neighbours");
        for (uint32_t v = 0; v < graph->vertices; v++) {
            CHECK_EQ(((const uint32_t *)run->values)[v], both[v]);
            CHECK_EQ(((const uint32_t *)other->values)[v], once[v]);
            CHECK_EQ(td_graph_id(other->graph, v), td_graph_id(graph, v));
        }
        td_run_destroy(run);
        td_run_destroy(other);
    }
    td_graph_destroy(graph); /* and the graph of distinct neighbours with it */
}

TEST(a_run_says_what_can_surprise)
{
    td_graph *graph = reciprocal();
    td_log_set_sink(hear, NULL);
    said[0] = 0;
    td_run_destroy(run_of("kcore", graph, (td_run_options){0}, ""));
    CHECK_CONTAINS(said, "kcore.degree=neighbours");
    said[0] = 0;
    td_run_destroy(run_of("kcore", graph, (td_run_options){0}, "kcore.degree=neighbours"));
    td_run_destroy(run_of("kcore", graph, (td_run_options){0}, "kcore.degree=in"));
    CHECK(strstr(said, "directed graph") == NULL);
    td_run_destroy(run_of("circuit", graph, (td_run_options){0}, ""));
    CHECK_CONTAINS(said, "two resistors");
    td_log_set_sink(NULL, NULL);
    td_graph_destroy(graph);
}

TEST(every_program_says_what_it_makes_of_edges)
{
    for (int i = 0; td_programs[i] != NULL; i++)
        if (td_programs[i]->info->edges == NULL) TEST_FAIL("%s does not", td_programs[i]->info->name);
}

TEST_MAIN
