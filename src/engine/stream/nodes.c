/* Memory nodes of the host (Scaph, section 4.3). Subgraphs of the push list are distributed over the nodes in proportion
 * to their processors, each on one node, its home, whose workers extract its useful edges (extract.c). A share of every
 * node's subgraphs is duplicated on the other nodes, as far as there is memory: their workers extract from the duplicate
 * when the home has more work than they have. Whole copies and kernels read the list itself. */
#include "engine/stream/stream.h"

#include "base/alloc.h"

#include <string.h>

/* Divides subgraphs among the nodes that have processors and memory. */
static void divide(td_streaming_nodes *nodes, const td_numa *numa, uint32_t subgraphs)
{
    uint64_t before = 0, all = 0;
    nodes->count = numa->nodes;
    for (int n = 0; n < numa->nodes; n++) {
        nodes->holds[n] = td_numa_has_memory(numa, n);
        all += nodes->holds[n] ? (uint64_t)CPU_COUNT(&numa->usable[n]) : 0;
    }
    for (int n = 0; n < numa->nodes; n++) {
        nodes->first[n] = all == 0 ? 0 : (uint32_t)(subgraphs * before / all);
        before += nodes->holds[n] ? (uint64_t)CPU_COUNT(&numa->usable[n]) : 0;
    }
    nodes->first[numa->nodes] = subgraphs;
}

/* Duplicates among the first `count` subgraphs of a node. */
static uint32_t duplicates_among(uint32_t count, double share) { return (uint32_t)(share * (double)count); }

static uint32_t duplicates_of(const td_streaming_nodes *nodes, int home)
{
    return duplicates_among(nodes->first[home + 1] - nodes->first[home], nodes->share);
}

int td_streaming_home(const td_streaming_nodes *nodes, uint32_t subgraph)
{
    int node = 0;
    while (nodes->first[node + 1] <= subgraph) node++;
    return node;
}

/* The place of a subgraph among the duplicates on a node; UINT32_MAX: there is none. */
static uint32_t place_of(const td_streaming_nodes *nodes, uint32_t subgraph, int home, int node)
{
    uint32_t rank = subgraph - nodes->first[home], at = duplicates_among(rank, nodes->share);
    if (duplicates_among(rank + 1, nodes->share) == at) return UINT32_MAX;
    for (int other = 0; other < home; other++) at += other == node ? 0 : duplicates_of(nodes, other);
    return at;
}

bool td_streaming_nearest(const td_streaming_graph *layout, const td_link_list *list, uint32_t subgraph, int node,
                          const uint32_t **targets, const char **weights)
{
    const td_streaming_nodes *nodes = &layout->nodes;
    int home = td_streaming_home(nodes, subgraph);
    uint32_t place = home == node ? UINT32_MAX : place_of(nodes, subgraph, home, node);
    *targets = list->targets;
    *weights = list->weights;
    if (home == node || place == UINT32_MAX || nodes->copies[node] == NULL) return home == node;
    uint64_t edges = UINT64_C(1) << list->shift, first = td_link_begin(list, subgraph);
    const char *copy = nodes->copies[node] + place * edges * td_link_edge_bytes(list);
    *targets = (const uint32_t *)copy - first;
    *weights = list->weight_bytes == 0 ? NULL : copy + edges * sizeof(uint32_t) - first * list->weight_bytes;
    return true;
}

static uint64_t duplicates_on(const td_streaming_nodes *nodes, int node)
{
    uint64_t count = 0;
    if (!nodes->holds[node]) return 0;
    for (int home = 0; home < nodes->count; home++) count += home == node ? 0 : duplicates_of(nodes, home);
    return count;
}

double td_streaming_fit_duplicates(const td_numa *numa, uint64_t list_edges, uint64_t slot_edges, uint64_t edge_bytes,
                                   double wanted, uint64_t most, uint64_t *taken)
{
    td_streaming_nodes nodes = {.share = wanted};
    divide(&nodes, numa, (uint32_t)((list_edges + slot_edges - 1) / slot_edges));
    for (;; nodes.share /= 2) {
        *taken = 0;
        for (int n = 0; n < nodes.count; n++) *taken += duplicates_on(&nodes, n) * slot_edges * edge_bytes;
        if (*taken == 0) return 0;
        if (*taken <= most) return nodes.share;
    }
}

static void copy_subgraph(const td_link_list *list, uint32_t s, char *to)
{
    uint64_t first = td_link_begin(list, s), edges = td_link_end(list, s) - first;
    memcpy(to, list->targets + first, edges * sizeof(uint32_t));
    if (list->weight_bytes == 0) return;
    memcpy(to + (sizeof(uint32_t) << list->shift), (const char *)list->weights + first * list->weight_bytes,
           edges * list->weight_bytes);
}

static void fill_copies(const td_streaming_nodes *nodes, const td_link_list *list, int node)
{
    uint64_t bytes = td_link_edge_bytes(list) << list->shift;
    for (uint32_t s = 0; s < list->subgraphs; s++) {
        int home = td_streaming_home(nodes, s);
        uint32_t place = home == node ? UINT32_MAX : place_of(nodes, s, home, node);
        if (place != UINT32_MAX) copy_subgraph(list, s, nodes->copies[node] + place * bytes);
    }
}

/* The list's own pages. */
static void place_list(const td_numa *numa, const td_streaming_nodes *nodes, const td_link_list *list)
{
    char *arrays[2] = {(char *)(uintptr_t)list->targets, (char *)(uintptr_t)list->weights};
    uint64_t bytes[2] = {sizeof(uint32_t), list->weight_bytes};
    for (int a = 0; a < 2; a++) {
        if (bytes[a] == 0) continue;
        if (!nodes->homes) td_numa_spread_again(numa, arrays[a], list->edges * bytes[a]);
        for (int n = 0; nodes->homes && n < nodes->count; n++) {
            uint64_t begin = td_link_begin(list, nodes->first[n]), end = td_link_begin(list, nodes->first[n + 1]);
            if (end > list->edges) end = list->edges;
            if (begin < end) td_numa_place(numa, n, arrays[a] + begin * bytes[a], (end - begin) * bytes[a]);
        }
    }
}

td_status td_streaming_place(td_streaming_job *self, const td_streaming_shape *shape)
{
    td_streaming_graph *layout = self->layout;
    td_streaming_nodes *nodes = &layout->nodes;
    const td_link_list *list = &layout->lists[0];
    const td_numa *numa = td_numa_here();
    td_host_memory *host = &self->gpu.memory.host;
    if (shape->nodes != TD_PLACE_HOME && shape->nodes != TD_PLACE_INTERLEAVE) return TD_OK;
    *nodes = (td_streaming_nodes){.homes = shape->nodes == TD_PLACE_HOME, .share = shape->duplicate};
    divide(nodes, numa, list->subgraphs);
    if (!host->measures) place_list(numa, nodes, list);
    for (int n = 0; nodes->homes && n < nodes->count; n++) {
        uint64_t bytes = duplicates_on(nodes, n) * (td_link_edge_bytes(list) << list->shift);
        if (bytes == 0) continue;
        TD_CHECK(td_host_declare_pages(host, &nodes->copies[n], bytes, "duplicates of subgraphs"));
        if (host->measures) continue;
        td_numa_place(numa, n, nodes->copies[n], bytes);
        fill_copies(nodes, list, n);
    }
    return TD_OK;
}

void td_streaming_free_places(td_streaming_graph *layout)
{
    for (int n = 0; n < TD_NUMA_NODES; n++) td_free(layout->nodes.copies[n]);
    layout->nodes = (td_streaming_nodes){0};
}
