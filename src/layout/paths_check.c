/* The claims of paths.h. td_paths_check_shape looks at the tables alone, so that whatever uses them stays inside; it
 * is for tables that were read from a file. td_paths_check compares them with the graph. */
#include "layout/paths_inside.h"

#include "base/alloc.h"
#include "base/random.h"

#include <string.h>

#define CLAIM(holds, ...) \
    do { \
        if (!(holds)) return td_fail(TD_CORRUPT, __VA_ARGS__); \
    } while (0)

/* Tables. */

static td_status check_starts(const td_paths *paths, uint64_t k)
{
    const td_path_partition *partition = &paths->partition[k];
    const uint32_t *starts = paths->starts + partition->first_path;
    CLAIM(partition->paths > 0 && starts[0] == 0, "partition %llu of the paths does not begin at its first entry",
          (unsigned long long)k);
    for (uint32_t p = 0; p < partition->paths; p++) {
        uint32_t end = p + 1 < partition->paths ? starts[p + 1] : partition->entries;
        CLAIM(end > starts[p] && end - starts[p] >= 2, "path %llu has no edge",
              (unsigned long long)(partition->first_path + p));
    }
    return TD_OK;
}

static td_status check_lanes(const td_paths *paths, uint64_t k)
{
    const uint32_t *lanes = paths->lanes + (TD_PATH_LANES + 1) * k;
    CLAIM(lanes[0] == 0 && lanes[TD_PATH_LANES] == paths->partition[k].paths,
          "the lanes of partition %llu do not have its paths", (unsigned long long)k);
    for (int l = 0; l < TD_PATH_LANES; l++)
        CLAIM(lanes[l] <= lanes[l + 1], "lane %d of partition %llu ends before it begins", l, (unsigned long long)k);
    return TD_OK;
}

static td_status check_partitions(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const td_paths *paths = context;
    for (uint64_t k = begin; k < end; k++) {
        const td_path_partition *here = &paths->partition[k];
        bool last = k + 1 == paths->partitions;
        uint64_t path = last ? paths->paths : here[1].first_path, entry = last ? paths->entries : here[1].first_entry;
        CLAIM(here->first_path <= paths->paths && here->first_entry <= paths->entries && here->group < paths->groups,
              "partition %llu of the paths is out of range", (unsigned long long)k);
        CLAIM(path <= paths->paths && entry <= paths->entries, "partition %llu of the paths ends out of range",
              (unsigned long long)k);
        CLAIM(here->first_path + here->paths == path && here->first_entry + here->entries == entry,
              "partition %llu of the paths does not end where the next one begins", (unsigned long long)k);
        TD_CHECK(check_starts(paths, k));
        TD_CHECK(check_lanes(paths, k));
    }
    return TD_OK;
}

static td_status check_group(const td_paths *paths, uint32_t g, uint64_t *partition)
{
    const td_path_group *group = &paths->group[g];
    uint64_t path = 0, edges = 0;
    CLAIM(group->layer < paths->layers && (g == 0 || group->layer >= group[-1].layer),
          "group %u of the paths is in layer %u, out of order", g, group->layer);
    CLAIM(group->first_partition == *partition && group->partitions > 0 &&
          *partition + group->partitions <= paths->partitions, "group %u has partitions out of order", g);
    for (uint32_t k = group->first_partition; k < group->first_partition + group->partitions; k++) {
        CLAIM(paths->partition[k].group == g, "partition %u is not of group %u", k, g);
        path += paths->partition[k].paths;
        edges += paths->partition[k].entries - paths->partition[k].paths;
    }
    CLAIM(path == group->paths && edges == group->edges, "group %u has other paths than it says", g);
    *partition += group->partitions;
    return TD_OK;
}

static td_status check_layers(const td_paths *paths)
{
    CLAIM(paths->layer_group[0] == 0 && paths->layer_group[paths->layers] == paths->groups,
          "the layers of the paths do not have all groups");
    for (uint32_t l = 0; l < paths->layers; l++) {
        CLAIM(paths->layer_group[l] <= paths->layer_group[l + 1] && paths->layer_group[l + 1] <= paths->groups,
              "layer %u ends before it begins", l);
        for (uint32_t g = paths->layer_group[l]; g < paths->layer_group[l + 1]; g++)
            CLAIM(paths->group[g].layer == l, "group %u is not in layer %u", g, l);
    }
    return TD_OK;
}

static td_status check_list(const uint64_t *offsets, const uint32_t *list, uint64_t count, uint32_t below,
                            const char *what)
{
    CLAIM(offsets[0] == 0, "the %s do not begin at 0", what);
    for (uint64_t i = 0; i < count; i++) {
        CLAIM(offsets[i] <= offsets[i + 1] && offsets[i + 1] <= offsets[count], "the %s of %llu end before they begin", what, (unsigned long long)i);
        for (uint64_t at = offsets[i]; at < offsets[i + 1]; at++)
            CLAIM(list[at] < below && (at == offsets[i] || list[at] > list[at - 1]), "the %s of %llu are out of order",
                  what, (unsigned long long)i);
    }
    return TD_OK;
}

static td_status check_vertices(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const td_paths *paths = context;
    for (uint64_t i = begin; i < end; i++)
        CLAIM(paths->vertices[i] < paths->graph_vertices, "entry %llu of the paths is vertex %u of %u",
              (unsigned long long)i, paths->vertices[i], paths->graph_vertices);
    return TD_OK;
}

td_status td_paths_check_shape(const td_paths *paths, td_pool *pool)
{
    uint64_t partition = 0;
    uint32_t nodes = paths->groups + paths->hubs;
    CLAIM(paths->entries == paths->edges + paths->paths, "the paths have other entries than edges");
    CLAIM((paths->partitions == 0) == (paths->paths == 0), "the paths are in no partition");
    TD_CHECK(td_pool_for(pool, paths->entries, 1 << 16, check_vertices, (void *)paths));
    TD_CHECK(td_pool_for(pool, paths->partitions, 64, check_partitions, (void *)paths));
    CLAIM(paths->partitions == 0 || (paths->partition[0].first_path == 0 && paths->partition[0].first_entry == 0),
          "the first partition does not begin with the first path");
    for (uint32_t g = 0; g < paths->groups; g++) TD_CHECK(check_group(paths, g, &partition));
    CLAIM(partition == paths->partitions, "a partition is in no group");
    TD_CHECK(check_layers(paths));
    TD_CHECK(check_list(paths->reader_offsets, paths->readers, paths->graph_vertices, paths->partitions, "readers"));
    TD_CHECK(check_list(paths->next_offsets, paths->next, nodes, nodes, "successors"));
    return check_list(paths->before_offsets, paths->before, nodes, nodes, "predecessors");
}

/* The graph. */

/* A sum over all edges that is equal for equal edges and weights, in any order. */
typedef struct digest {
    const td_paths *paths;
    const td_graph *graph;
    uint64_t sum; /* atomically */
} digest;

static uint64_t mix(uint64_t source, uint64_t target, const void *weight, size_t bytes)
{
    uint32_t word = 0;
    if (bytes > 0) memcpy(&word, weight, bytes);
    return td_mix64(td_mix64(source << 32 | target) + word);
}

static const void *weight_at(const void *weights, uint64_t edge, size_t bytes)
{
    return bytes > 0 ? (const char *)weights + edge * bytes : NULL;
}

static td_status sum_graph(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    digest *self = context;
    const td_adjacency *out = &self->graph->out;
    size_t bytes = td_weight_bytes(self->graph->weights);
    uint64_t sum = 0;
    for (uint64_t v = begin; v < end; v++)
        for (uint64_t e = out->offsets[v]; e < out->offsets[v + 1]; e++)
            sum += mix(v, out->targets[e], weight_at(out->weights, e, bytes), bytes);
    __atomic_fetch_add(&self->sum, sum, __ATOMIC_RELAXED);
    return TD_OK;
}

static td_status sum_paths(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    digest *self = context;
    const td_paths *paths = self->paths;
    size_t bytes = td_weight_bytes(paths->weight_kind);
    uint64_t sum = 0;
    for (uint64_t k = begin; k < end; k++)
        for (uint32_t p = 0; p < paths->partition[k].paths; p++) {
            const td_path_partition *here = &paths->partition[k];
            for (uint64_t i = td_path_begin(paths, here, p); i + 1 < td_path_end(paths, here, p); i++)
                sum += mix(paths->vertices[i], paths->vertices[i + 1],
                           weight_at(paths->weights, td_path_edge(here, p, i), bytes), bytes);
        }
    __atomic_fetch_add(&self->sum, sum, __ATOMIC_RELAXED);
    return TD_OK;
}

td_status td_paths_check(const td_paths *paths, const td_graph *graph, td_pool *pool)
{
    digest one = {paths, graph, 0}, other = one;
    CLAIM(paths->graph_vertices == graph->vertices && paths->edges == graph->edges && paths->weight_kind == graph->weights,
          "the paths are of a graph with %u vertices and %llu edges, not of this one", paths->graph_vertices,
          (unsigned long long)paths->edges);
    TD_CHECK(td_paths_check_shape(paths, pool));
    TD_CHECK(td_pool_for(pool, graph->vertices, TD_PATH_GRAIN, sum_graph, &one));
    TD_CHECK(td_pool_for(pool, paths->partitions, 64, sum_paths, &other));
    CLAIM(one.sum == other.sum, "the paths have other edges than the graph");
    return TD_OK;
}
