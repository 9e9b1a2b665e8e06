/* Tandem from C on a graph larger than the memory it may use: ranks and components.
 *
 *     large [GRAPH.tg [MEGABYTES]]
 *
 * GRAPH.tg is a packed graph (`tandem convert`, `tandem gen`), MEGABYTES what may be held at once. Where the graph does
 * not fit that, its edges stay on disk and are read page by page while a program runs; nothing else changes.
 * Without a file a random graph of some 40 MB is made first, to be run in 15. Build it against the installed library with
 *
 *     cc large.c $(pkg-config --cflags --libs tandem) -o large
 */
#define _POSIX_C_SOURCE 200809L
#include <tandem.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TOP = 3, MADE_VERTICES = 1 << 16, MADE_EDGES = 1 << 22 };

#define TRY(call)                                                                          \
    do {                                                                                   \
        if ((call) != TD_OK) {                                                             \
            fprintf(stderr, "large: %s\n", td_last_message());                             \
            goto done;                                                                     \
        }                                                                                  \
    } while (0)

/* Random edges, most of them among the vertices with low numbers. */
static td_status make_graph(td_session *session, const char *path)
{
    uint64_t *ends = malloc(2 * sizeof *ends * MADE_EDGES), state = 1;
    td_edges edges = {.size = sizeof edges, .count = MADE_EDGES, .sources = ends, .targets = ends + MADE_EDGES, .vertices = MADE_VERTICES};
    td_graph *graph = NULL;
    td_status status = ends != NULL ? TD_OK : TD_NO_MEMORY;
    for (uint64_t i = 0; ends != NULL && i < 2 * MADE_EDGES; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint64_t a = state >> 48, b = state >> 32 & 0xffff;
        ends[i] = (a < b ? a : b) % MADE_VERTICES;
    }
    if (status == TD_OK) status = td_graph_from_edges(session, &edges, NULL, &graph);
    if (status == TD_OK) status = td_graph_save(session, graph, path, "tg");
    td_graph_destroy(graph);
    free(ends);
    return status;
}

/* Bytes that a run read from disk. */
static uint64_t bytes_read(const td_result *result)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; td_result_iteration(result, i) != NULL; i++) bytes += (uint64_t)td_iteration_counter(td_result_iteration(result, i), "disk_bytes");
    return bytes;
}

int main(int argc, char **argv)
{
    char made[] = "large-XXXXXX";
    const char *path = argc > 1 ? argv[1] : made;
    uint64_t limit = (argc > 2 ? strtoull(argv[2], NULL, 10) : 15) << 20, count;
    td_session *session = NULL;
    td_graph *graph = NULL;
    td_result *ranks = NULL, *parts = NULL;
    td_plan *plan = NULL;
    uint32_t vertices[TOP];
    double values[TOP];
    int failed = 1, file = argc > 1 ? -1 : mkstemp(made);

    TRY(td_session_create(0, &session));
    if (file >= 0) TRY(make_graph(session, path));

    /* From here on no more than this is held, the graph included. TD_PLACE_DISK in td_graph_options would leave the edges on
     * disk even where they fit. */
    td_memory_set_budget(limit);
    TRY(td_graph_open(session, path, NULL, &graph));
    printf("%" PRIu32 " vertices, %" PRIu64 " edges, %s\n", td_graph_vertices(graph), td_graph_edges(graph),
           td_graph_on_disk(graph) ? "which stay on disk" : "in memory");

    TRY(td_session_plan(session, graph, "pagerank", NULL, &plan));
    printf("pagerank: engine %s, %" PRIu64 " MB of memory for edges, an iteration reads up to %" PRIu64 " MB\n",
           td_plan_engine(plan), td_plan_counter(plan, "room_bytes") >> 20,
           td_plan_counter(plan, "disk_bytes_per_iteration") >> 20);

    TRY(td_plan_run(session, plan, &ranks));
    TRY(td_result_verify(session, ranks));
    TRY(td_result_top(session, ranks, TOP, vertices, values, &count));
    for (uint64_t i = 0; i < count; i++) printf("  %" PRIu64 "\t%g\n", td_graph_vertex_id(graph, vertices[i]), values[i]);
    printf("%" PRIu32 " iterations, %" PRIu64 " MB read\n", td_result_iterations(ranks), bytes_read(ranks) >> 20);

    TRY(td_session_run(session, graph, "wcc", NULL, &parts));
    TRY(td_result_verify(session, parts));
    TRY(td_result_top(session, parts, 1, vertices, values, &count));
    printf("the largest component has %.0f vertices; %" PRIu64 " MB read\n", values[0], bytes_read(parts) >> 20);
    failed = 0;
done:
    td_plan_destroy(plan);
    td_result_destroy(parts);
    td_result_destroy(ranks);
    td_graph_destroy(graph);
    td_session_destroy(session);
    if (file >= 0) {
        close(file);
        unlink(made);
    }
    return failed;
}
