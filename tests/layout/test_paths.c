/* Decomposition into paths: every edge on exactly one path, the fewest paths that the rules allow, dependencies, layers
 * and groups against an explicit graph of paths, tables, and the same result for any number of threads. */
#include "layout/paths_reference.h"

#include "store/formats/format.h"

enum { MOST_PAIRS = 200000 };

typedef struct variant {
    const char *name;
    td_path_merge merge;
    bool acyclic, scatter, loose;
    uint32_t depth, partition_edges;
    uint64_t longest;
} variant;

static const variant variants[] = {
    {.name = "default"},
    {.name = "off", .merge = TD_PATHS_MERGE_OFF},
    {.name = "off, depth 2", .merge = TD_PATHS_MERGE_OFF, .depth = 2},
    {.name = "free", .merge = TD_PATHS_MERGE_FREE},
    {.name = "acyclic", .acyclic = true, .partition_edges = 16},
    {.name = "acyclic, off", .merge = TD_PATHS_MERGE_OFF, .acyclic = true, .depth = 3},
    {.name = "partitions of 8", .partition_edges = 8},
    {.name = "no partitioning", .scatter = true, .loose = true, .partition_edges = 8},
    {.name = "at most 3", .longest = 3},
    {.name = "free, at most 3", .merge = TD_PATHS_MERGE_FREE, .longest = 3, .partition_edges = 32},
};
enum { VARIANTS = sizeof variants / sizeof *variants };

static td_path_options options_of(const variant *kind)
{
    td_path_options options = td_path_defaults();
    options.merge = kind->merge;
    options.acyclic = kind->acyclic;
    options.partition = !kind->scatter;
    options.pack = !kind->loose;
    options.longest = kind->longest;
    if (kind->depth > 0) options.depth = kind->depth;
    if (kind->partition_edges > 0) options.partition_edges = kind->partition_edges;
    return options;
}

/* Edges with weights, sorted. */
typedef struct edge {
    uint32_t source, target, weight;
} edge;

static int compare_edges(const void *a, const void *b) { return memcmp(a, b, sizeof(edge)); }

static uint32_t weight_of(const void *weights, uint64_t at, size_t bytes)
{
    uint32_t weight = 0;
    if (bytes > 0) memcpy(&weight, (const char *)weights + at * bytes, bytes);
    return weight;
}

static void check_edges(const td_paths *paths, const td_graph *graph)
{
    size_t bytes = td_weight_bytes(graph->weights);
    edge *wanted = ref_new(graph->edges, sizeof *wanted), *seen = ref_new(graph->edges, sizeof *seen);
    uint64_t count = 0, found = 0;
    for (uint32_t v = 0; v < graph->vertices; v++)
        for (uint64_t e = graph->out.offsets[v]; e < graph->out.offsets[v + 1]; e++)
            wanted[count++] = (edge){v, graph->out.targets[e], weight_of(graph->out.weights, e, bytes)};
    for (uint32_t k = 0; k < paths->partitions; k++)
        for (uint32_t p = 0; p < paths->partition[k].paths; p++) {
            const td_path_partition *here = &paths->partition[k];
            for (uint64_t i = td_path_begin(paths, here, p); i + 1 < td_path_end(paths, here, p); i++) {
                CHECK(found < graph->edges);
                seen[found++] = (edge){paths->vertices[i], paths->vertices[i + 1],
                                       weight_of(paths->weights, td_path_edge(here, p, i), bytes)};
            }
        }
    CHECK_EQ(found, count);
    qsort(wanted, count, sizeof *wanted, compare_edges);
    qsort(seen, count, sizeof *seen, compare_edges);
    CHECK(memcmp(wanted, seen, count * sizeof *seen) == 0);
    free(wanted);
    free(seen);
}

/* Passes through every vertex, counted on the paths. */
static void check_passes(const td_paths *paths, const variant *kind)
{
    uint32_t *passes = ref_new(paths->graph_vertices, sizeof *passes);
    uint64_t limit = kind->longest > 0 ? kind->longest : kind->merge == TD_PATHS_MERGE_OFF ? paths->options.depth : UINT64_MAX;
    uint64_t longest = 0;
    for (uint32_t k = 0; k < paths->partitions; k++)
        for (uint32_t p = 0; p < paths->partition[k].paths; p++) {
            uint64_t begin = td_path_begin(paths, &paths->partition[k], p), end = td_path_end(paths, &paths->partition[k], p);
            for (uint64_t i = begin + 1; i + 1 < end; i++) passes[paths->vertices[i]]++;
            if (end - begin - 1 > longest) longest = end - begin - 1;
        }
    for (uint32_t v = 0; v < paths->graph_vertices; v++)
        if (kind->merge != TD_PATHS_MERGE_FREE) CHECK(passes[v] <= 1);
    CHECK_EQ(paths->stats.longest, longest);
    CHECK(longest <= limit);
    free(passes);
}

/* The weakly connected part of a vertex is marked; says whether every vertex has as many in- as out-edges, and whether it
 * is a single cycle. */
static void follow_part(const td_graph *graph, uint32_t v, bool *seen, uint32_t *stack, bool *closed, bool *cycle)
{
    uint64_t count = 0;
    stack[count++] = v;
    seen[v] = true;
    while (count > 0) {
        v = stack[--count];
        uint64_t in = td_degree(&graph->in, v), out = td_degree(&graph->out, v);
        if (in != out || in == 0) *closed = false;
        if (in > 1) *cycle = false;
        for (int way = 0; way < 2; way++) {
            const td_adjacency *list = way == 0 ? &graph->out : &graph->in;
            for (uint64_t e = list->offsets[v]; e < list->offsets[v + 1]; e++)
                if (!seen[list->targets[e]]) {
                    seen[list->targets[e]] = true;
                    stack[count++] = list->targets[e];
                }
        }
    }
}

static void check_bounds(const td_paths *paths, const td_graph *graph, const variant *kind)
{
    bool *seen = ref_new(graph->vertices, sizeof *seen);
    uint32_t *stack = ref_new(graph->vertices, sizeof *stack);
    uint64_t bound = 0, one_pass = graph->edges;
    for (uint32_t v = 0; v < graph->vertices; v++) {
        uint64_t in = td_degree(&graph->in, v), out = td_degree(&graph->out, v);
        bool closed = true, cycle = true;
        bound += out > in ? out - in : 0;
        one_pass -= in > 0 && out > 0;
        if (seen[v]) continue;
        follow_part(graph, v, seen, stack, &closed, &cycle);
        bound += closed;
        one_pass += closed && cycle;
    }
    CHECK_EQ(paths->stats.bound, bound);
    CHECK_EQ(paths->stats.bound_one_pass, one_pass);
    CHECK(paths->paths >= bound);
    if (kind->merge == TD_PATHS_MERGE_ON && !kind->acyclic && kind->longest == 0) CHECK_EQ(paths->paths, one_pass);
    if (kind->merge == TD_PATHS_MERGE_FREE && kind->longest == 0) CHECK_EQ(paths->paths, bound);
    free(seen);
    free(stack);
}

static void check_readers(const td_paths *paths, const reference *wanted)
{
    uint64_t replicas = 0, entered = 0;
    uint32_t *last = ref_new(paths->graph_vertices, sizeof *last), *wrote = ref_new(paths->graph_vertices, sizeof *last);
    for (uint32_t v = 0; v < paths->graph_vertices; v++) {
        uint64_t at = paths->reader_offsets[v];
        for (uint64_t i = 0; i < wanted->readers[v].count; i++) {
            uint32_t partition = wanted->paths[wanted->readers[v].items[i]].partition;
            if (at > paths->reader_offsets[v] && paths->readers[at - 1] == partition) continue;
            CHECK(at < paths->reader_offsets[v + 1]);
            CHECK_EQ(paths->readers[at++], partition);
        }
        CHECK_EQ(at, paths->reader_offsets[v + 1]);
    }
    for (uint32_t p = 0; p < wanted->count; p++)
        for (uint64_t i = 0; i < wanted->paths[p].count; i++) {
            uint32_t *seen = &last[wanted->paths[p].vertices[i]];
            replicas += *seen != wanted->paths[p].partition + 1;
            *seen = wanted->paths[p].partition + 1;
            uint32_t *entry = &wrote[wanted->paths[p].vertices[i]];
            if (i == 0) continue;
            entered += *entry != wanted->paths[p].partition + 1;
            *entry = wanted->paths[p].partition + 1;
        }
    free(wrote);
    uint64_t counted = 0, written = 0;
    CHECK_OK(td_paths_replicas(paths, NULL, &counted, &written));
    CHECK_EQ(counted, replicas);
    CHECK_EQ(written, entered);
    free(last);
}

static void check_components(const td_paths *paths, const reference *wanted)
{
    uint64_t cyclic = 0, giant = 0, once_paths = 0, once_vertices = 0;
    for (uint32_t c = 0; c < wanted->components; c++) {
        cyclic += wanted->cyclic[c];
        if (wanted->members[c] > giant) giant = wanted->members[c];
    }
    for (uint32_t p = 0; p < wanted->count; p++) once_paths += !wanted->cyclic[wanted->component[p]];
    for (uint32_t v = 0; v < wanted->vertices; v++) {
        bool on_cycle = false;
        for (uint64_t i = 0; i < wanted->writers[v].count && !on_cycle; i++)
            for (uint64_t j = 0; j < wanted->readers[v].count; j++) {
                uint32_t c = wanted->component[wanted->writers[v].items[i]];
                if (c == wanted->component[wanted->readers[v].items[j]] && wanted->cyclic[c]) on_cycle = true;
            }
        once_vertices += !on_cycle;
    }
    CHECK_EQ(paths->stats.components, wanted->components);
    CHECK_EQ(paths->stats.cyclic, cyclic);
    CHECK_EQ(paths->stats.giant_paths, giant);
    CHECK_EQ(paths->stats.once_paths, once_paths);
    CHECK_EQ(paths->stats.once_vertices, once_vertices);
}

static void check_groups(const td_paths *paths, const reference *wanted)
{
    uint32_t layers = 0, *group_of = ref_new(wanted->components, sizeof *group_of);
    uint64_t *components = ref_new(paths->groups, sizeof *components);
    for (uint32_t p = 0; p < wanted->count; p++) {
        uint32_t c = wanted->component[p], g = wanted->paths[p].group;
        CHECK_EQ(paths->group[g].layer, wanted->layer[c]);
        CHECK_EQ((paths->group[g].flags & TD_GROUP_CYCLIC) != 0, wanted->cyclic[c]);
        if (wanted->layer[c] + 1 > layers) layers = wanted->layer[c] + 1;
        if (group_of[c] != 0) CHECK_EQ(group_of[c], g + 1);
        else components[g]++;
        group_of[c] = g + 1;
    }
    CHECK_EQ(paths->layers, layers);
    for (uint32_t g = 0; g < paths->groups; g++) {
        CHECK_EQ(paths->group[g].components, components[g]);
        if (paths->group[g].flags & TD_GROUP_ONE) CHECK(paths->group[g].edges >= paths->options.partition_edges);
    }
    free(group_of);
    free(components);
}

/* Links, hubs expanded, are exactly the dependencies between paths of different groups; both ways. */
static void check_links(const td_paths *paths, const reference *wanted)
{
    uint64_t groups = paths->groups;
    bool *by_paths = ref_new(groups * groups, 1), *by_links = ref_new(groups * groups, 1), *back = ref_new(groups * groups, 1);
    for (uint32_t p = 0; p < wanted->count; p++)
        for (uint64_t i = 0; i < wanted->next[p].count; i++)
            by_paths[wanted->paths[p].group * groups + wanted->paths[wanted->next[p].items[i]].group] = true;
    for (uint32_t g = 0; g < groups; g++) {
        for (uint64_t i = paths->next_offsets[g]; i < paths->next_offsets[g + 1]; i++) {
            uint32_t node = paths->next[i];
            if (node < groups) by_links[g * groups + node] = true;
            else
                for (uint64_t j = paths->next_offsets[node]; j < paths->next_offsets[node + 1]; j++)
                    by_links[g * groups + paths->next[j]] = true;
        }
        for (uint64_t i = paths->before_offsets[g]; i < paths->before_offsets[g + 1]; i++) {
            uint32_t node = paths->before[i];
            if (node < groups) back[node * groups + g] = true;
            else
                for (uint64_t j = paths->before_offsets[node]; j < paths->before_offsets[node + 1]; j++)
                    back[paths->before[j] * groups + g] = true;
        }
    }
    for (uint64_t g = 0; g < groups; g++)
        for (uint64_t h = 0; h < groups; h++) {
            if (g == h) continue;
            CHECK_EQ(by_links[g * groups + h], by_paths[g * groups + h]);
            CHECK_EQ(back[g * groups + h], by_paths[g * groups + h]);
            if (by_paths[g * groups + h]) CHECK(paths->group[g].layer < paths->group[h].layer);
        }
    free(by_paths);
    free(by_links);
    free(back);
}

static void check_sketch(const td_paths *paths)
{
    reference wanted = ref_make(paths);
    ref_find_layers(&wanted);
    check_components(paths, &wanted);
    check_groups(paths, &wanted);
    check_readers(paths, &wanted);
    if (paths->groups < 1000) check_links(paths, &wanted);
    ref_free(&wanted);
}

/* Partitions stay below the wanted number of edges unless they have one path, and lanes have their paths. */
static void check_partitions(const td_paths *paths)
{
    for (uint32_t k = 0; k < paths->partitions; k++) {
        const td_path_partition *here = &paths->partition[k];
        const uint32_t *lanes = paths->lanes + 33 * (uint64_t)k;
        uint64_t most = 0;
        if (here->paths > 1) CHECK(here->entries - here->paths <= paths->options.partition_edges);
        for (int l = 0; l < TD_PATH_LANES; l++) {
            uint64_t entries = 0;
            for (uint32_t p = lanes[l]; p < lanes[l + 1]; p++)
                entries += td_path_end(paths, here, p) - td_path_begin(paths, here, p);
            if (entries > most) most = entries;
        }
        CHECK_EQ(here->most_entries, most);
    }
}

static void check_all(const td_paths *paths, const td_graph *graph, const variant *kind)
{
    CHECK_OK(td_paths_check(paths, graph, NULL));
    check_edges(paths, graph);
    check_passes(paths, kind);
    check_bounds(paths, graph, kind);
    check_partitions(paths);
    if (ref_pairs(graph) <= MOST_PAIRS) check_sketch(paths);
}

#define SAME(array, count) CHECK(memcmp(one->array, other->array, (count) * sizeof *one->array) == 0)

static void check_same(const td_paths *one, const td_paths *other)
{
    uint64_t nodes = (uint64_t)one->groups + one->hubs;
    CHECK_EQ(one->paths, other->paths);
    CHECK_EQ(one->partitions, other->partitions);
    CHECK_EQ(one->groups, other->groups);
    CHECK_EQ(one->hubs, other->hubs);
    SAME(vertices, one->entries);
    SAME(starts, one->paths);
    SAME(lanes, 33 * (uint64_t)one->partitions);
    SAME(partition, one->partitions);
    SAME(group, one->groups);
    SAME(layer_group, (uint64_t)one->layers + 1);
    SAME(reader_offsets, (uint64_t)one->graph_vertices + 1);
    SAME(readers, one->reader_offsets[one->graph_vertices]);
    SAME(next_offsets, nodes + 1);
    SAME(before_offsets, nodes + 1);
    SAME(next, one->next_offsets[nodes]);
    SAME(before, one->before_offsets[nodes]);
    CHECK(memcmp(&one->stats, &other->stats, offsetof(td_path_stats, seconds_paths)) == 0);
    if (one->weights != NULL)
        CHECK(memcmp(one->weights, other->weights, one->edges * td_weight_bytes(one->weight_kind)) == 0);
}

static void check_threads(const td_graph *graph, const td_path_options *options, const td_paths *wanted)
{
    static const int threads[] = {2, 5};
    for (int i = 0; i < 2; i++) {
        td_pool *pool = NULL;
        td_paths paths = {0};
        CHECK_OK(td_pool_create(&pool, threads[i]));
        CHECK_OK(td_paths_make(&paths, graph, options, pool));
        check_same(wanted, &paths);
        td_paths_free(&paths);
        td_pool_destroy(pool);
    }
}

TEST(every_edge_of_every_test_graph_is_on_one_path_for_any_number_of_threads)
{
    for (int g = 0; g < TEST_GRAPHS; g++)
        for (int i = 0; i < VARIANTS; i++) {
            td_graph *graph = test_graph(g, (test_weights)((g + i) % TEST_WEIGHT_KINDS), NULL);
            td_path_options options = options_of(&variants[i]);
            td_paths paths = {0};
            CHECK_OK(td_paths_make(&paths, graph, &options, NULL));
            check_all(&paths, graph, &variants[i]);
            check_threads(graph, &options, &paths);
            td_paths_free(&paths);
            td_graph_destroy(graph);
        }
}

TEST(the_components_and_layers_of_small_random_graphs_are_those_of_the_explicit_dependency_graph)
{
    for (uint64_t seed = 0; seed < 400; seed++) {
        uint32_t ends[48][2];
        uint64_t vertices = 2 + td_random_below(td_random_at(seed, 0), 10), count = td_random_below(td_random_at(seed, 1), 40);
        for (uint64_t e = 0; e < count; e++)
            for (int i = 0; i < 2; i++) ends[e][i] = (uint32_t)td_random_below(td_random_at(seed, 2 + 2 * e + (uint64_t)i), vertices);
        td_graph *graph = test_graph_of(vertices, (const uint32_t(*)[2])ends, NULL, count, false);
        for (int i = 0; i < VARIANTS; i++) {
            td_path_options options = options_of(&variants[i]);
            td_paths paths = {0};
            CHECK_OK(td_paths_make(&paths, graph, &options, NULL));
            check_all(&paths, graph, &variants[i]);
            td_paths_free(&paths);
        }
        td_graph_destroy(graph);
    }
}

static td_paths paths_of(int graph_number, const td_path_options *options)
{
    td_paths paths = {0};
    td_graph *graph = test_graph(graph_number, TEST_UNWEIGHTED, NULL);
    CHECK_OK(td_paths_make(&paths, graph, options, NULL));
    td_graph_destroy(graph);
    return paths;
}

static td_path_stats stats_of(const char *graph, td_path_options options)
{
    td_paths paths = paths_of(test_graph_named(graph), &options);
    td_path_stats stats = paths.stats;
    td_paths_free(&paths);
    return stats;
}

TEST(acyclic_gives_acyclic_graphs_acyclic_dependencies)
{
    static const char *const graphs[] = {"dag", "layered", "tournament 20", "tree", "directed path", "directed star"};
    td_path_options options = td_path_defaults();
    uint64_t cyclic = 0;
    for (int i = 0; i < 6; i++) {
        options.acyclic = true;
        td_path_stats stats = stats_of(graphs[i], options);
        CHECK_EQ(stats.cyclic, 0);
        CHECK_EQ(stats.once_paths, stats.paths);
        CHECK_EQ(stats.paths, stats.bound_one_pass);
        options.acyclic = false;
        cyclic += stats_of(graphs[i], options).cyclic;
    }
    CHECK(cyclic > 0); /* the switch is worth something */
}

/* The graph's own cyclic components, by brute force: vertices that reach each other. */
TEST(acyclic_adds_no_vertex_to_the_cycles_of_a_graph)
{
    td_path_options options = td_path_defaults();
    options.acyclic = true;
    for (uint64_t seed = 0; seed < 100; seed++) {
        enum { N = 30 };
        uint32_t ends[60][2];
        bool reach[N][N] = {{0}};
        uint64_t once = 0;
        td_paths paths = {0};
        for (uint64_t e = 0; e < 60; e++) {
            for (int i = 0; i < 2; i++) ends[e][i] = (uint32_t)td_random_below(td_random_at(seed + 1000, 2 * e + (uint64_t)i), N);
            reach[ends[e][0]][ends[e][1]] = true;
        }
        for (int k = 0; k < N; k++)
            for (int i = 0; i < N; i++)
                for (int j = 0; j < N; j++) reach[i][j] |= reach[i][k] && reach[k][j];
        for (int i = 0; i < N; i++) once += !reach[i][i];
        td_graph *graph = test_graph_of(N, (const uint32_t(*)[2])ends, NULL, 60, false);
        CHECK_OK(td_paths_make(&paths, graph, &options, NULL));
        CHECK_EQ(paths.stats.once_vertices, once);
        td_paths_free(&paths);
        td_graph_destroy(graph);
    }
}

TEST(a_path_a_cycle_and_a_star_are_what_they_are)
{
    td_path_options options = td_path_defaults();
    td_path_stats path = stats_of("directed path", options), cycle = stats_of("directed cycle", options);
    td_path_stats star = stats_of("directed star", options), nothing = stats_of("empty", options);
    CHECK_EQ(path.paths, 1);
    CHECK_EQ(path.longest, 99);
    CHECK_EQ(path.layers, 1);
    CHECK_EQ(path.once_vertices, 100);
    CHECK_EQ(cycle.paths, 1);
    CHECK_EQ(cycle.cyclic, 1);
    CHECK_EQ(cycle.once_vertices, 0);
    CHECK_EQ(star.paths, 64);
    CHECK_EQ(star.layers, 1);
    CHECK_EQ(nothing.paths, 0);
    CHECK_EQ(nothing.layers, 0);
}

TEST(joining_saves_paths_and_joining_freely_saves_more)
{
    td_path_options options = td_path_defaults();
    static const char *const graphs[] = {"web", "rmat 14", "uniform", "grid 30x40"};
    for (int i = 0; i < 4; i++) {
        options.merge = TD_PATHS_MERGE_OFF;
        uint64_t off = stats_of(graphs[i], options).paths;
        CHECK_EQ(stats_of(graphs[i], options).found, off);
        options.merge = TD_PATHS_MERGE_ON;
        uint64_t on = stats_of(graphs[i], options).paths;
        options.merge = TD_PATHS_MERGE_FREE;
        uint64_t freely = stats_of(graphs[i], options).paths;
        CHECK(on < off);
        CHECK(freely < on);
    }
}

TEST(the_search_goes_deeper_where_it_may)
{
    td_path_options options = td_path_defaults();
    options.merge = TD_PATHS_MERGE_OFF;
    uint64_t before = UINT64_MAX;
    for (options.depth = 1; options.depth <= 16; options.depth *= 2) {
        td_path_stats stats = stats_of("directed path", options);
        CHECK_EQ(stats.longest, options.depth);
        CHECK(stats.paths < before);
        before = stats.paths;
    }
}

/* 0 -> 1, and 1 has successors 2, 3, 4 of which 3 has the highest degree. */
TEST(the_search_takes_the_successor_of_highest_degree)
{
    static const uint32_t ends[][2] = {{0, 1}, {1, 2}, {1, 3}, {1, 4}, {3, 5}, {3, 6}, {3, 7}};
    td_path_options options = td_path_defaults();
    bool found = false;
    options.merge = TD_PATHS_MERGE_OFF;
    td_graph *graph = test_graph_of(8, ends, NULL, 7, false);
    td_paths paths = {0};
    CHECK_OK(td_paths_make(&paths, graph, &options, NULL));
    for (uint64_t i = 0; i + 2 < paths.entries; i++)
        found |= paths.vertices[i] == 0 && paths.vertices[i + 1] == 1 && paths.vertices[i + 2] == 3;
    CHECK(found);
    td_paths_free(&paths);
    td_graph_destroy(graph);
}

TEST(hot_paths_come_first_in_their_group)
{
    td_path_options options = td_path_defaults();
    options.partition_edges = 64;
    options.hot = 8;
    td_paths paths = paths_of(test_graph_named("rmat 14"), &options);
    CHECK(paths.stats.hot_paths > 0 && paths.stats.hot_paths < paths.paths);
    uint64_t hot = 0, split = 0;
    for (uint32_t g = 0; g < paths.groups; g++) {
        const td_path_group *group = &paths.group[g];
        bool cold = false;
        hot += group->hot_paths;
        if (group->flags == TD_GROUP_CYCLIC) continue; /* small components together */
        for (uint32_t k = group->first_partition; k < group->first_partition + group->partitions; k++) {
            if (cold) CHECK_EQ(paths.partition[k].hot_paths, 0);
            split += paths.partition[k].hot_paths > 0 && paths.partition[k].hot_paths < paths.partition[k].paths;
            cold |= paths.partition[k].hot_paths < paths.partition[k].paths;
        }
    }
    CHECK_EQ(hot, paths.stats.hot_paths);
    CHECK(split <= paths.groups); /* at most one partition of a group has both */
    td_paths_free(&paths);
    options.hot = 0;
    CHECK_EQ(stats_of("rmat 14", options).hot_paths, stats_of("rmat 14", options).paths);
    options.hot = 1e9;
    CHECK_EQ(stats_of("rmat 14", options).hot_paths, 0);
}

/* Short paths into one vertex share a partition, so that fewer partitions write it. */
TEST(partitioning_leaves_fewer_partitions_that_write_a_vertex)
{
    static const char *const graphs[] = {"rmat 14", "heavy stars", "web"};
    for (int i = 0; i < 3; i++) {
        uint64_t written[2], replicas;
        for (int on = 0; on < 2; on++) {
            td_path_options options = td_path_defaults();
            options.partition = on;
            options.partition_edges = 64;
            td_paths paths = paths_of(test_graph_named(graphs[i]), &options);
            CHECK_OK(td_paths_replicas(&paths, NULL, &replicas, &written[on]));
            td_paths_free(&paths);
        }
        CHECK(written[1] < written[0]);
    }
}

TEST(packed_lanes_have_more_equal_edges)
{
    td_path_options options = td_path_defaults();
    options.merge = TD_PATHS_MERGE_FREE;
    double packed = stats_of("rmat 14", options).lane_balance;
    options.pack = false;
    CHECK(stats_of("rmat 14", options).lane_balance < packed);
}

TEST(graphs_that_cannot_be_decomposed_are_refused)
{
    td_graph *graph = test_graph(test_graph_named("web"), TEST_UNWEIGHTED, NULL);
    td_path_options options = td_path_defaults();
    td_paths paths = {0};
    td_adjacency in = graph->in;
    graph->in = (td_adjacency){0};
    CHECK_STATUS(td_paths_make(&paths, graph, &options, NULL), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "in-adjacency");
    graph->in = in;
    options.depth = 0;
    CHECK_STATUS(td_paths_make(&paths, graph, &options, NULL), TD_INVALID);
    options = td_path_defaults();
    options.partition_edges = 0;
    CHECK_STATUS(td_paths_make(&paths, graph, &options, NULL), TD_INVALID);
    td_graph_destroy(graph);
}

TEST(a_request_for_memory_that_fails_leaves_nothing)
{
    td_graph *graph = test_graph(test_graph_named("rmat 10"), TEST_U8, NULL);
    for (int i = 0; i < VARIANTS; i++) {
        td_path_options options = options_of(&variants[i]);
        bool done = false;
        for (uint64_t nth = 1; !done; nth++) {
            td_paths paths = {0};
            td_alloc_fail_at(nth);
            td_status status = td_paths_make(&paths, graph, &options, NULL);
            td_alloc_fail_at(0);
            done = status == TD_OK;
            if (!done) CHECK_EQ(status, TD_NO_MEMORY);
            CHECK(done || paths.vertices == NULL);
            td_paths_free(&paths);
            CHECK(nth < 1000);
        }
    }
    td_graph_destroy(graph);
}

TEST(the_peak_that_is_stated_is_enough)
{
    td_graph *graph = test_graph(test_graph_named("rmat 14"), TEST_U8, NULL);
    td_path_options options = td_path_defaults();
    td_paths paths = {0};
    CHECK_OK(td_paths_make(&paths, graph, &options, NULL));
    uint64_t peak = paths.stats.peak;
    CHECK(peak >= td_paths_bytes(&paths));
    td_paths_free(&paths);
    td_memory_set_budget(td_memory().now + peak);
    CHECK_OK(td_paths_make(&paths, graph, &options, NULL));
    td_paths_free(&paths);
    td_memory_set_budget(td_memory().now + peak / 2);
    CHECK_STATUS(td_paths_make(&paths, graph, &options, NULL), TD_NO_MEMORY);
    td_memory_set_budget(0);
    td_graph_destroy(graph);
}

/* A component large enough for its vertices to be divided among workers, behind others and before others. */
TEST(a_large_component_has_its_layer)
{
    enum { CYCLE = 6000, BEFORE = CYCLE, BEHIND = CYCLE + 3, VERTICES = CYCLE + 6 };
    static uint32_t ends[CYCLE + 9][2];
    uint64_t count = 0;
    td_path_options options = td_path_defaults();
    td_paths paths = {0};
    for (uint32_t v = 0; v < CYCLE; v++, count++) {
        ends[count][0] = v;
        ends[count][1] = (v + 1) % CYCLE;
    }
    const uint32_t others[][2] = {{BEFORE, BEFORE + 2}, {BEFORE + 1, BEFORE + 2}, {BEFORE + 2, 7}, {BEFORE + 2, 4444},
                                  {10, BEHIND}, {5000, BEHIND}, {BEHIND, BEHIND + 1}, {BEHIND, BEHIND + 2}};
    for (int i = 0; i < 8; i++, count++) memcpy(ends[count], others[i], sizeof ends[0]);
    td_graph *graph = test_graph_of(VERTICES, (const uint32_t(*)[2])ends, NULL, count, false);
    CHECK_OK(td_paths_make(&paths, graph, &options, NULL));
    check_all(&paths, graph, &variants[0]);
    check_threads(graph, &options, &paths);
    CHECK(paths.stats.giant_vertices >= CYCLE);
    uint32_t layer = 0;
    for (uint32_t g = 0; g < paths.groups; g++)
        if (paths.group[g].flags & TD_GROUP_ONE) layer = paths.group[g].layer;
    CHECK(layer > 0 && layer + 1 < paths.layers);
    td_paths_free(&paths);
    td_graph_destroy(graph);
}

/* The figures of the lab book: the sum of max(0, out - in) over cnr-2000 is 2,024,051. */
TEST(the_bounds_of_cnr_2000_are_met)
{
    char path[1024];
    td_pool *pool = NULL;
    td_graph *graph = NULL;
    td_paths paths = {0};
    td_path_options options = td_path_defaults();
    snprintf(path, sizeof path, "%s/cnr-2000/cnr-2000.graph", test_shared_data());
    if (access(path, R_OK) != 0) SKIP("cnr-2000 is absent");
    CHECK_OK(td_pool_create(&pool, 2));
    CHECK_OK(td_graph_read(&graph, path, NULL, NULL, pool));
    CHECK_OK(td_paths_make(&paths, graph, &options, pool));
    CHECK_EQ(paths.stats.bound, 2024051);
    CHECK_EQ(paths.paths, 2968651);
    CHECK_EQ(paths.stats.bound_one_pass, paths.paths);
    CHECK_OK(td_paths_check(&paths, graph, pool));
    td_paths_free(&paths);
    options.merge = TD_PATHS_MERGE_FREE;
    CHECK_OK(td_paths_make(&paths, graph, &options, pool));
    CHECK_EQ(paths.paths, 2024051);
    CHECK_OK(td_paths_check(&paths, graph, pool));
    td_paths_free(&paths);
    td_graph_destroy(graph);
    td_pool_destroy(pool);
}

/* A history is acyclic: with acyclic=on no vertex needs a second update. */
TEST(the_history_of_postgres_needs_one_update_per_vertex)
{
    char path[1024];
    td_pool *pool = NULL;
    td_graph *graph = NULL;
    td_paths paths = {0};
    td_path_options options = td_path_defaults();
    snprintf(path, sizeof path, "%s/git-postgres-16.0.graph-txt.xz", test_shared_data());
    if (access(path, R_OK) != 0) SKIP("git-postgres is absent");
    CHECK_OK(td_pool_create(&pool, 2));
    CHECK_OK(td_graph_read(&graph, path, NULL, NULL, pool));
    options.acyclic = true;
    CHECK_OK(td_paths_make(&paths, graph, &options, pool));
    CHECK_EQ(paths.stats.once_vertices, graph->vertices);
    CHECK_EQ(paths.stats.cyclic, 0);
    CHECK_EQ(paths.paths, paths.stats.bound_one_pass);
    CHECK_OK(td_paths_check(&paths, graph, pool));
    td_paths_free(&paths);
    td_graph_destroy(graph);
    td_pool_destroy(pool);
}

TEST_MAIN
