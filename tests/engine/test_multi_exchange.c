/* What GPUs send each other: one message for all updates of a vertex in an iteration, nothing for a value that did not
 * change, bitmaps where all active vertices have the same value. The figures are computed from the graph and its
 * fragments alone. */
#include "engine/multi_scene.h"

#define ALONE "multi.stealing=off multi.ownership=off multi.loop_edges=0 multi.queue_edges=0 " /* every GPU processes its own fragment */

enum { GPUS = 4 };

static td_partition ranges_of(const td_graph *graph, int parts)
{
    td_partition partition = {0};
    td_partition_wish wish = {.kind = TD_PARTITION_SEG, .parts = parts, .ranges_only = true, .out = true};
    CHECK_OK(td_partition_make(&partition, graph, &wish, NULL));
    return partition;
}

static uint64_t messages_of(const td_run *run)
{
    uint64_t messages = 0;
    for (uint32_t i = 0; i < run->row_count; i++) messages += run->full_rows[i].messages;
    return messages;
}

/* Vertex 0 points at 1 .. 127; these, which two GPUs own, all point at the last vertex, which another one owns. */
TEST(updates_of_one_vertex_are_one_message)
{
    enum { FAN = 127, LAST = 255 };
    scene_edges edges = {0};
    for (uint32_t v = 1; v <= FAN; v++) put_edge(&edges, 0, v);
    for (uint32_t v = 1; v <= FAN; v++) put_edge(&edges, v, LAST);
    for (uint32_t v = 128; v < LAST; v++) put_edge(&edges, v, v - 1); /* edges for the other GPUs, never reached */
    td_graph *graph = made_graph(&edges, LAST + 1, false);
    td_partition ranges = ranges_of(graph, GPUS);
    uint32_t senders = 0, others = 0; /* GPUs with vertices of the fan; vertices of the fan that vertex 0's GPU lacks */
    int target = td_partition_owner(&ranges, LAST);
    for (int k = 0; k < GPUS; k++) {
        bool any = false;
        for (uint32_t v = ranges.first[k]; v < ranges.first[k + 1]; v++) any = any || (v >= 1 && v <= FAN);
        senders += any && k != target;
    }
    for (uint32_t v = 1; v <= FAN; v++) others += td_partition_owner(&ranges, v) != td_partition_owner(&ranges, 0);
    CHECK(senders >= 2);
    static const char *const ways[] = {ALONE "multi.direction=push", ALONE "multi.direction=push multi.exchange=copies"};
    const char *machines[] = {linked_gpus("linked.topology", GPUS, ""), "emu:4"};
    for (int w = 0; w < 2; w++)
        for (int m = 0; m < 2; m++) {
            td_run_options options = multi_options("bfs", machines[m]);
            td_run *run = run_of("bfs", graph, options, ways[w]);
            CHECK(run->row_count >= 2);
            CHECK_EQ(run->full_rows[0].messages, others);
            CHECK_EQ(run->full_rows[1].messages, senders);
            CHECK_EQ(run->rows[1].edges, FAN);
            CHECK_EQ(run->full_rows[1].bytes_exchanged, senders * (sizeof(uint32_t) + sizeof(uint32_t)));
            check_as_cpu(run, options, "");
            td_run_destroy(run);
        }
    td_partition_free(&ranges);
    td_graph_destroy(graph);
}

/* A search that pushes updates a mirror once, and never that of the source. So there is a message for every other vertex
 * and every other fragment that has a reached neighbour of it. */
static uint64_t expected_messages(const td_graph *graph, const td_partition *ranges, const uint32_t *levels)
{
    uint8_t *sent = NULL;
    uint64_t messages = 0;
    CHECK_OK(TD_NEW_ZEROED(&sent, (uint64_t)graph->vertices * GPUS, "pairs"));
    for (uint32_t v = 0; v < graph->vertices; v++)
        for (uint64_t e = graph->out.offsets[v]; e < graph->out.offsets[v + 1] && levels[v] != UINT32_MAX; e++) {
            uint32_t w = graph->out.targets[e];
            int from = td_partition_owner(ranges, v);
            if (levels[w] == 0 || from == td_partition_owner(ranges, w) || sent[w * GPUS + (uint32_t)from]) continue;
            sent[w * GPUS + (uint32_t)from] = 1;
            messages++;
        }
    td_free(sent);
    return messages;
}

TEST(a_search_sends_one_message_for_every_vertex_and_fragment)
{
    static const char *const names[] = {"rmat 10", "rmat 10, clean", "small world", "heavy stars", "grid 30x40", "uniform"};
    const char *devices = linked_gpus("linked.topology", GPUS, "");
    for (int i = 0; i < 6; i++) {
        td_graph *graph = test_graph(test_graph_named(names[i]), TEST_UNWEIGHTED, NULL);
        td_partition ranges = ranges_of(graph, GPUS);
        td_run_options options = multi_options("bfs", devices);
        options.source = busiest(graph);
        td_run *run = run_of("bfs", graph, options, ALONE "multi.direction=push");
        uint64_t messages = expected_messages(graph, &ranges, run->values);
        if (messages_of(run) != messages)
            TEST_FAIL("%s: %" PRIu64 " messages, not %" PRIu64, names[i], messages_of(run), messages);
        CHECK(messages > 0);
        check_as_cpu(run, options, "");
        td_run_destroy(run);
        td_partition_free(&ranges);
        td_graph_destroy(graph);
    }
}

/* Mirrors. */

/* Ranks of layers are final one after another, from the first on. */
TEST(sums_send_what_changed_once_little_changes)
{
    static const char *const settings[] = {"pagerank.dangling=ignore", "pagerank.dangling=ignore multi.exchange=copies"};
    td_graph *graph = test_graph(test_graph_named("layered"), TEST_UNWEIGHTED, NULL);
    for (int s = 0; s < 2; s++) {
        td_run_options options = multi_options("pagerank", linked_gpus("linked.topology", 2, ""));
        options.has_iterations = true;
        options.iterations = 12;
        td_run *run = run_of("pagerank", graph, options, settings[s]);
        uint64_t whole = graph->vertices * sizeof(float); /* each GPU's range, to the other one */
        uint32_t last = run->row_count - 1;
        CHECK(last >= 3);
        CHECK(run->full_rows[0].bytes_exchanged >= whole);
        for (uint32_t i = 1; i <= last; i++) CHECK(run->full_rows[i].bytes_exchanged <= whole);
        CHECK_EQ(run->full_rows[last].bytes_exchanged, 0);
        check_as_cpu(run, options, "pagerank.dangling=ignore");
        td_run_destroy(run);
    }
    td_graph_destroy(graph);
}

/* All ranks change in all iterations: most iterations do not even list them. */
TEST(lists_in_vain_become_rare)
{
    td_graph *graph = hubs_graph(300);
    td_run_options options = multi_options("pagerank", linked_gpus("linked.topology", 2, ""));
    options.has_iterations = true;
    options.iterations = 11;
    td_run *run = run_of("pagerank", graph, options, "multi.stealing=off");
    uint32_t few = 0;
    for (uint32_t i = 1; i < run->row_count; i++) few += run->full_rows[i].operations < run->full_rows[0].operations;
    CHECK_EQ(few, 10); /* the first row has the first values, too */
    for (uint32_t i = 1; i < run->row_count; i++) { /* behind one, three and seven iterations without */
        if (i == 2 || i == 6) CHECK_EQ(run->full_rows[i].operations, run->full_rows[2].operations);
        else CHECK(run->full_rows[i].operations < run->full_rows[2].operations);
    }
    check_as_cpu(run, options, "");
    td_run_destroy(run);
    td_graph_destroy(graph);
}

TEST(minima_send_what_changed_once_little_changes)
{
    td_graph *graph = test_graph(test_graph_named("grid 30x40"), TEST_UNWEIGHTED, NULL);
    for (int copies = 0; copies < 2; copies++) {
        td_run_options options = multi_options("labels", linked_gpus("linked.topology", GPUS, ""));
        td_run *run = run_of("labels", graph, options,
                             copies ? ALONE "multi.direction=pull multi.exchange=copies" : ALONE "multi.direction=pull");
        const td_row *first = &run->full_rows[1], *last = &run->full_rows[run->row_count - 1]; /* before 0 nothing has changed */
        CHECK(last->active_vertices < first->active_vertices);
        CHECK(last->bytes_exchanged < first->bytes_exchanged);
        check_as_cpu(run, options, "");
        td_run_destroy(run);
    }
    td_graph_destroy(graph);
}

/* All vertices of a level have the same value: bits tell which they are. */
TEST(levels_are_sent_as_bitmaps)
{
    td_graph *graph = test_graph(test_graph_named("grid 30x40"), TEST_UNWEIGHTED, NULL);
    td_run_options options = multi_options("bfs", linked_gpus("linked.topology", GPUS, ""));
    td_run *run = run_of("bfs", graph, options, ALONE "multi.direction=pull");
    uint64_t words = ((uint64_t)graph->vertices + 31) / 32;
    CHECK(run->row_count > 3);
    for (uint32_t i = 1; i < run->row_count; i++) /* the first row has the first values, too */
        CHECK_EQ(run->full_rows[i].bytes_exchanged, words * sizeof(uint32_t) * (GPUS - 1));
    check_as_cpu(run, options, "");
    td_run_destroy(run);
    td_graph_destroy(graph);
}

/* Latencies of a gather-sum's iteration on a DGX-1, by virtual time: a copy on the GPU (4 us), two launches and their work,
 * then the ranges' two hops over all links, while counters go to the host (4 us) and it learns of them (6 us). A wait for one
 * GPU after another, ranges one after another, counters by copies over the switches or blocks of 256 threads exceed it. */
TEST(an_iteration_on_eight_gpus_has_few_latencies)
{
    enum { MOST_US = 26 };
    td_graph *graph = islands_graph(1, 8192, 12);
    td_run_options options = multi_options("pagerank", "emu:8@dgx1");
    options.has_iterations = true;
    options.iterations = 6;
    td_run *run = run_of("pagerank", graph, options, "multi.breakdown=on multi.stealing=off");
    const td_row *row = &run->full_rows[4]; /* whole ranges, behind another iteration that sent them */
    double seconds = row->computing_seconds + row->packing_seconds + row->deciding_seconds + row->waiting_seconds;
    printf("    %.1f us\n", seconds * 1e6);
    CHECK(seconds * 1e6 < MOST_US);
    td_run_destroy(run);
    td_graph_destroy(graph);
}

TEST_MAIN
