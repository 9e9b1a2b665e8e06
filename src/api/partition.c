/* Partitions in the API: how good one is, before any run uses it. */
#include "api/session.h"

#include "base/clock.h"
#include "layout/partition.h"

#include <string.h>

td_status td_partition_check(const char *partition)
{
    td_partition_kind kind;
    int parts;
    TD_CHECK(td_need(partition, "the partition"));
    return td_partition_parse(partition, &kind, &parts);
}

static void describe(const td_partition *partition, td_partition_info *out)
{
    out->parts = partition->parts;
    out->edges = partition->all_edges;
    out->cut = partition->all_cut;
    out->cut_share = partition->all_edges > 0 ? (double)partition->all_cut / (double)partition->all_edges : 0;
    out->balance = partition->balance;
    for (int k = 0; k < partition->parts; k++) {
        td_fragment_info *fragment = &out->fragments[k];
        fragment->vertices = partition->first[k + 1] - partition->first[k];
        fragment->edges = partition->edges[k];
        fragment->cut = partition->cut[k];
        fragment->mirrors = td_partition_mirrors(partition, k);
        out->mirrors += fragment->mirrors;
    }
}

static td_status measure(td_session *session, const td_graph *graph, const char *text, uint64_t seed,
                         td_partition_info *out)
{
    td_partition partition = {0};
    td_partition_wish wish = {.seed = seed};
    uint64_t start = td_clock_ns();
    TD_CHECK(td_partition_parse(text, &wish.kind, &wish.parts));
    TD_CHECK(td_partition_make(&partition, graph, &wish, session->pool));
    out->seconds = td_seconds_since(start);
    describe(&partition, out);
    td_partition_free(&partition);
    return TD_OK;
}

td_status td_graph_partition_info(td_session *session, const td_graph *graph, const char *partition, uint64_t seed,
                                  td_partition_info *out)
{
    td_partition_info found = {0};
    TD_CHECK(td_need_graph(graph));
    TD_CHECK(td_need(partition, "the partition"));
    TD_CHECK(td_need(out, "the place for the partition's figures"));
    TD_CHECK(td_session_enter(session));
    td_status status = measure(session, graph, partition, seed, &found);
    td_session_leave(session);
    return status == TD_OK ? td_struct_give(out, &found, sizeof found, "td_partition_info") : status;
}
