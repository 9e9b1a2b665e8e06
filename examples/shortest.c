/* Tandem from C, complete: distances from one vertex and the ranks of all.
 *
 *     shortest [GRAPH [SOURCE]]
 *
 * GRAPH is any file that `tandem convert` reads; it needs weights for distances,
 * and gets random ones if it has none. Without a file a small city is made: a grid
 * of streets with a fast ring road around it. Build it against the installed
 * library with
 *
 *     cc shortest.c $(pkg-config --cflags --libs tandem) -o shortest
 */
#include <tandem.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDE = 40, TOP = 5 };

/* Every call returns a status; this program ends at the first that is not TD_OK,
 * through one place that gives everything back. */
#define TRY(call)                                                                          \
    do {                                                                                   \
        if ((call) != TD_OK) {                                                             \
            fprintf(stderr, "shortest: %s\n", td_last_message());                          \
            goto done;                                                                     \
        }                                                                                  \
    } while (0)

/* Corner (x, y) is called 100 x + y: ids need not be dense. */
static uint64_t corner(uint64_t x, uint64_t y) { return 100 * x + y; }

static void add_street(td_edges *city, uint64_t *sources, uint64_t *targets, uint32_t *minutes, uint64_t a, uint64_t b,
                       uint32_t takes)
{
    sources[city->count] = a;
    targets[city->count] = b;
    minutes[city->count] = takes;
    city->count++;
}

/* A graph from arrays: sources, targets and weights of the edges. */
static td_status make_city(td_session *session, td_graph **graph)
{
    enum { MOST = 2 * WIDE * WIDE };
    static uint64_t sources[MOST], targets[MOST];
    static uint32_t minutes[MOST];
    td_edges city = {.size = sizeof city, .sources = sources, .targets = targets, .whole_weights = minutes};
    for (uint64_t x = 0; x < WIDE; x++)
        for (uint64_t y = 0; y < WIDE; y++) {
            bool ring_down = x == 0 || x == WIDE - 1, ring_right = y == 0 || y == WIDE - 1;
            if (y + 1 < WIDE) add_street(&city, sources, targets, minutes, corner(x, y), corner(x, y + 1), ring_down ? 1 : 4);
            if (x + 1 < WIDE) add_street(&city, sources, targets, minutes, corner(x, y), corner(x + 1, y), ring_right ? 1 : 4);
        }
    td_graph_options both_ways = {.size = sizeof both_ways, .symmetrize = true};
    return td_graph_from_edges(session, &city, &both_ways, graph);
}

/* A file; random weights are attached if it has none. */
static td_status open_file(td_session *session, const char *path, td_graph **graph)
{
    td_status status = td_graph_open(session, path, NULL, graph);
    if (status != TD_OK || td_graph_weights(*graph)[0] != 'n') return status;
    td_graph_destroy(*graph);
    *graph = NULL;
    td_graph_options weighted = {.size = sizeof weighted, .weights = "1:100", .weight_seed = 1};
    return td_graph_open(session, path, &weighted, graph);
}

/* Called after every iteration; returning false would cancel the run. */
static bool show_progress(void *context, const td_iteration *row)
{
    const char *program = context;
    if (row->number % 10 == 0)
        fprintf(stderr, "%s: iteration %" PRIu32 ", %s, %" PRIu64 " edges\n", program, row->number, row->direction, row->edges);
    return true;
}

static void print_top(const td_graph *graph, const uint32_t *vertices, const double *values, uint64_t count, const char *what)
{
    printf("%s\n", what);
    for (uint64_t i = 0; i < count; i++)
        printf("  %" PRIu64 "\t%g\n", td_graph_vertex_id(graph, vertices[i]), values[i]);
}

/* The way to a vertex, from its parents, last vertex first. */
static void print_way(const td_graph *graph, const td_result *distances, uint32_t vertex)
{
    const uint32_t *parents = td_result_parents(distances);
    printf("the way back from %" PRIu64 ":", td_graph_vertex_id(graph, vertex));
    for (int steps = 0; parents[vertex] != vertex && steps < 6; steps++) {
        vertex = parents[vertex];
        printf(" %" PRIu64, td_graph_vertex_id(graph, vertex));
    }
    printf("%s\n", parents[vertex] != vertex ? " ..." : "");
}

int main(int argc, char **argv)
{
    td_session *session = NULL;
    td_graph *graph = NULL;
    td_result *distances = NULL, *ranks = NULL;
    uint32_t vertices[TOP];
    double values[TOP];
    uint64_t count;
    td_plan *plan = NULL;
    int failed = 1;

    TRY(td_session_create(0, &session));
    TRY(argc > 1 ? open_file(session, argv[1], &graph) : make_city(session, &graph));
    printf("%" PRIu32 " vertices, %" PRIu64 " edges, weights %s\n", td_graph_vertices(graph), td_graph_edges(graph),
           td_graph_weights(graph));

    /* A request says what differs from the defaults; its size first. */
    td_request request = {.size = sizeof request, .has_source = true, .parents = true, .progress = show_progress,
                          .progress_context = "sssp"};
    request.source = argc > 2 ? strtoull(argv[2], NULL, 10) : td_graph_vertex_id(graph, 0);

    /* What it will take can be asked before. */
    td_plan_memory host = {.size = sizeof host};
    TRY(td_session_plan(session, graph, "sssp", &request, &plan));
    TRY(td_plan_memory_row(plan, 0, &host));
    fprintf(stderr, "sssp: engine %s, because %s; about %" PRIu64 " bytes besides the graph's %" PRIu64 "%s\n",
            td_plan_engine(plan), td_plan_why(plan), host.program, host.graph,
            host.fits ? "" : ", which is more than there is");

    TRY(td_plan_run(session, plan, &distances));
    TRY(td_result_verify(session, distances));
    TRY(td_result_top(session, distances, TOP, vertices, values, &count));
    print_top(graph, vertices, values, count, "farthest vertices:");
    if (count > 0) print_way(graph, distances, vertices[0]);

    /* Settings are those of `tandem run --set`. */
    const char *settings[] = {"pagerank.damping=0.9", NULL};
    td_request ranking = {.size = sizeof ranking, .settings = settings, .progress = show_progress,
                          .progress_context = "pagerank"};
    TRY(td_session_run(session, graph, "pagerank", &ranking, &ranks));
    TRY(td_result_top(session, ranks, TOP, vertices, values, &count));
    print_top(graph, vertices, values, count, "highest ranks:");

    /* Or look at all values: one per vertex. */
    double sum = 0;
    for (uint32_t v = 0; v < td_graph_vertices(graph); v++) sum += (double)td_result_f32(ranks)[v];
    printf("ranks add up to %.4f after %" PRIu32 " iterations\n", sum, td_result_iterations(ranks));
    failed = 0;
done:
    td_plan_destroy(plan);
    td_result_destroy(ranks);
    td_result_destroy(distances);
    td_graph_destroy(graph);
    td_session_destroy(session);
    return failed;
}
