/* Spanning forests of the cpu engine sweep the light edges first, and then the survivors of the others
 * (cpu.survivors): the forest is Kruskal's, fewer edges are visited, and what does not fit is done another way. */
#include "engine/ways.h"

#include "store/formats/format.h"
#include "store/gen.h"

static td_graph *drawn(const char *weights, bool undirected, double degree)
{
    td_graph *graph = NULL;
    td_gen_spec spec = {.kind = "rmat", .seed = 5, .rewire = -1, .scale = 11, .degree = degree};
    td_build_options build = {.symmetrize = undirected};
    CHECK_OK(td_parse_weights(weights, &build));
    CHECK_OK(td_graph_generate(&graph, &spec, &build, NULL));
    return graph;
}

static uint64_t rows_of(const td_run *run, const char *direction)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < run->row_count; i++) count += strcmp(run->rows[i].direction, direction) == 0;
    return count;
}

static uint64_t edges_of(const td_run *run)
{
    uint64_t edges = 0;
    for (uint64_t i = 0; i < run->row_count; i++) edges += run->rows[i].edges;
    return edges;
}

/* The run's forest is Kruskal's. */
static void check_forest(const td_graph *graph, const td_run *run)
{
    uint64_t count, *wanted;
    double total;
    wanted = reference_mst(graph, &count, &total);
    CHECK(run->converged);
    CHECK_EQ(run->edge_count, count);
    CHECK(fabs(run->total_weight - total) <= 1e-6 * total);
    bool *taken = calloc(graph->edges + 1, sizeof *taken);
    for (uint64_t i = 0; i < count; i++) taken[wanted[i]] = true;
    for (uint64_t i = 0; i < count; i++) CHECK(taken[run->edges[i]]);
    free(taken);
    td_free(wanted);
}

static void check_both(td_graph *graph, td_pool *pool, bool few_weights)
{
    td_run *on = run_of("mst", graph, (td_run_options){.engine = "cpu", .pool = pool}, "");
    td_run *off = run_of("mst", graph, (td_run_options){.engine = "cpu", .pool = pool}, "cpu.survivors=off");
    check_forest(graph, on);
    check_forest(graph, off);
    CHECK_EQ(rows_of(off, "light"), 0);
    if (few_weights) { /* a round over all edges comes first */
        CHECK_EQ(on->rows[0].edges, graph->edges);
        CHECK(edges_of(on) <= edges_of(off) + 2 * graph->edges);
    } else {
        CHECK(rows_of(on, "light") > 0);
        CHECK(edges_of(on) < edges_of(off) / 2 + graph->edges / 8);
    }
    td_run_destroy(on);
    td_run_destroy(off);
}

TEST(the_forest_is_kruskals_and_fewer_edges_are_visited)
{
    static const char *const weights[] = {"1:1", "1:3", "1:250", "1:60000", "1:4000000000", "0.5:99.5"};
    pools all = make_pools();
    for (size_t w = 0; w < sizeof weights / sizeof *weights; w++)
        for (int undirected = 0; undirected < 2; undirected++) {
            td_graph *graph = drawn(weights[w], undirected, 24);
            check_both(graph, all.of[(w + (size_t)undirected) % WAY_THREADS], w < 2);
            td_graph_destroy(graph);
        }
    destroy_pools(&all);
}

/* A graph of few edges is one class: its lists are read once. */
TEST(the_lists_of_a_sparse_graph_are_read_once)
{
    td_graph *graph = drawn("1:100", false, 2);
    td_run *run = run_of("mst", graph, (td_run_options){.engine = "cpu"}, "");
    check_forest(graph, run);
    CHECK_EQ(rows_of(run, "sweep"), 1);
    td_run_destroy(run);
    td_graph_destroy(graph);
}

/* The light edges join few vertices; of the others, a hundred per vertex survive, three times what there is room for
 * even in a quarter of them. */
static td_graph *clique_and_pairs(void)
{
    td_graph *graph = NULL;
    const char *path = test_path("clique.txt");
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    enum { CLIQUE = 64, OTHERS = 256 };
    for (int a = 0; a < CLIQUE; a++)
        for (int b = a + 1; b < CLIQUE; b++) fprintf(file, "%d %d 1\n", a, b);
    for (int a = 0; a < OTHERS; a++)
        for (int b = a + 1; b < OTHERS; b++) fprintf(file, "%d %d %d\n", CLIQUE + a, CLIQUE + b, 2 + (a * 7 + b) % 90);
    fprintf(file, "0 %d 99\n", CLIQUE);
    CHECK(fclose(file) == 0);
    CHECK_OK(td_graph_read(&graph, path, "edgelist", &(td_build_options){.symmetrize = true}, NULL));
    return graph;
}

TEST(a_class_with_too_many_survivors_is_halved)
{
    td_graph *graph = clique_and_pairs();
    td_run *run = run_of("mst", graph, (td_run_options){.engine = "cpu"}, "");
    check_forest(graph, run);
    CHECK(rows_of(run, "light") > 0);
    CHECK(rows_of(run, "sweep") > 2);
    uint64_t most = 0;
    for (uint64_t i = 0; i < run->row_count; i++) most = run->rows[i].edges > most ? run->rows[i].edges : most;
    CHECK(most >= 2 * graph->edges); /* the lists were read again for half of a class */
    td_run_destroy(run);
    td_graph_destroy(graph);
}

/* With a budget that has no room for survivors, every sweep visits the lists; the plan states what the run takes. */
TEST(without_memory_for_survivors_the_lists_are_swept)
{
    td_graph *graph = drawn("1:250", true, 24);
    td_run_options options = {.engine = "cpu"};
    uint64_t with, without;
    td_settings off = settings_from("cpu.survivors=off");
    CHECK_OK(td_cpu_bytes(program_of("mst"), graph, &options, &with));
    options.settings = &off;
    CHECK_OK(td_cpu_bytes(program_of("mst"), graph, &options, &without));
    td_settings_clear(&off);
    CHECK(with > without + graph->vertices * 3 * sizeof(td_survivor));
    td_memory_set_budget(td_memory().now + without + (with - without) / 2 + 65536);
    td_run *run = run_of("mst", graph, (td_run_options){.engine = "cpu"}, "");
    td_memory_set_budget(0);
    check_forest(graph, run);
    CHECK_EQ(rows_of(run, "light"), 0);
    td_run_destroy(run);
    td_graph_destroy(graph);
}

/* A limited run sweeps the lists: its iterations are those of every engine. */
TEST(a_limit_on_iterations_counts_whole_sweeps)
{
    td_graph *graph = drawn("1:250", true, 24);
    td_run *run = run_of("mst", graph, (td_run_options){.engine = "cpu", .has_iterations = true, .iterations = 2}, "");
    CHECK_EQ(run->row_count, 2);
    CHECK_EQ(rows_of(run, "sweep"), 2);
    CHECK(!run->converged);
    td_run_destroy(run);
    td_graph_destroy(graph);
}

TEST_MAIN
