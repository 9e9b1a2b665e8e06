/* Storing the paths: layer after layer, group after group, divided into partitions and lanes.
 *
 * Paths are found by their last edges, in the order of the vertices where they end, so that short paths into one
 * vertex lie side by side; walking back from there gives the path. They are put into *buckets*, which are parts of a
 * group: its hot paths, its other paths, or a few small components. Two walks, a stable counting sort: the first one
 * counts paths and entries, by block of vertices and bucket, the second one writes them where they belong. */
#include "layout/paths_inside.h"

#include "base/alloc.h"

#include <string.h>

enum { MOST_BLOCKS = 256, BLOCK_EDGES = 1 << 14, MOST_COUNTS = 1 << 22 };

typedef td_path_bucket bucket;

/* What the walks need of a vertex, side by side: they come to vertices at random. */
typedef struct facts {
    uint32_t degree, component;
    uint32_t to;     /* the vertex by which the path through it goes on; with several passes not used */
    uint32_t bucket; /* of its component's paths, if it has any: twice the number, odd if hot paths have one of their own */
} facts;

typedef struct placing {
    td_path_job *job;
    td_paths *paths;
    double hot;             /* mean degree from which a path is hot */
    uint32_t *bucket_of;    /* components: their first bucket */
    facts *vertex;          /* vertices */
    uint32_t *once_bucket;  /* layers: the first bucket of once-only paths */
    uint32_t *group_bucket; /* groups + 1: the first bucket */
    uint32_t buckets;
    uint64_t blocks;
    bucket *counts;         /* blocks * buckets: counts, then places */
    bucket *all;            /* buckets + 1: places */
    td_path_stats *block_stats; /* blocks: what the first walk finds */
    uint64_t room;          /* partitions */
} placing;

/* A path, walked back from its last edge. */
typedef struct found {
    uint64_t edges, degrees; /* sum of the degrees of its vertices */
    uint32_t bucket;         /* as in `facts` */
} found;

static uint64_t edge_before(const placing *self, uint64_t k, uint32_t source, uint32_t target)
{
    const td_path_passes *passes = &self->job->passes;
    if (passes->before == NULL && self->vertex[source].to != target) return TD_NO_EDGE;
    return td_edge_before(passes, k, source);
}

/* The path whose last edge is k, and that edge's bucket: td_path_component by the facts at hand. */
static found walk(const placing *self, uint64_t k, uint32_t last)
{
    const td_path_job *job = self->job;
    const uint32_t *sources = job->graph->in.targets;
    uint32_t source = sources[k];
    const facts *end = &self->vertex[last], *here = &self->vertex[source];
    uint64_t before = edge_before(self, k, source, last);
    found path = {.edges = 1, .degrees = (uint64_t)end->degree + here->degree, .bucket = here->bucket};
    if (before == TD_NO_EDGE && here->component != end->component)
        path.bucket = 2 * self->once_bucket[job->sketch.ready[here->component]] + 1;
    while (before != TD_NO_EDGE) {
        uint32_t target = source;
        source = sources[before];
        path.degrees += self->vertex[source].degree;
        path.edges++;
        before = edge_before(self, before, source, target);
    }
    return path;
}

/* Edges further on: the facts of their beginnings are on their way when the walk comes to them. */
static void expect(const placing *self, uint64_t k)
{
    enum { AHEAD = 24 };
    const td_graph *graph = self->job->graph;
    if (k + AHEAD < graph->edges) __builtin_prefetch(&self->vertex[graph->in.targets[k + AHEAD]]);
}

static double mean_degree(const found *path) { return (double)path->degrees / (double)(path->edges + 1); }

/* Groups and buckets. */

enum { ALONE, SMALL, ONCE };

/* How a component's paths are dispatched. */
static int kind_of(const td_path_job *job, uint32_t component)
{
    if (!td_component_cyclic(job, component)) return ONCE;
    return job->sketch.edges[component] >= job->options.partition_edges ? ALONE : SMALL;
}

/* Components of a layer, and edges of loose paths. */
typedef struct layer {
    uint32_t alone, first_alone; /* components that are groups; where they begin in the list of all */
    uint64_t small, once;        /* paths of small components; once-only paths */
    uint64_t small_components, once_components;
    uint64_t small_edges, once_edges;
    uint64_t fill;               /* edges in the current bucket of small components */
    uint32_t small_bucket;
} layer;

static void count_components(const td_path_job *job, layer *layers)
{
    for (uint32_t l = 0; l < job->sketch.layers; l++)
        layers[l].once_components = layers[l].once_edges = layers[l].once = job->sketch.loose[l];
    for (uint32_t c = 0; c < job->components.count; c++) {
        if (job->sketch.paths[c] == 0) continue;
        layer *here = &layers[td_component_layer(job, c)];
        int kind = kind_of(job, c);
        uint64_t edges = job->sketch.edges[c], paths = job->sketch.paths[c];
        here->alone += kind == ALONE;
        here->small += kind == SMALL ? paths : 0;
        here->small_components += kind == SMALL;
        here->small_edges += kind == SMALL ? edges : 0;
        here->once += kind == ONCE ? paths : 0;
        here->once_components += kind == ONCE;
        here->once_edges += kind == ONCE ? edges : 0;
    }
}

/* Numbers groups, and counts them. Groups of components alone get their members later. */
static td_status number_groups(placing *self, layer *layers)
{
    td_paths *paths = self->paths;
    uint64_t groups = 0;
    for (uint32_t l = 0; l < paths->layers; l++) {
        paths->layer_group[l] = (uint32_t)groups;
        layers[l].first_alone = (uint32_t)groups;
        groups += layers[l].alone + (layers[l].small > 0) + (layers[l].once > 0);
        if (groups > UINT32_MAX / 4) return td_fail(TD_LIMIT, "the graph's paths have more than %u groups", UINT32_MAX / 4);
    }
    paths->layer_group[paths->layers] = paths->groups = (uint32_t)groups;
    TD_CHECK(TD_NEW_ZEROED(&paths->group, groups, "groups of paths"));
    return TD_NEW(&self->group_bucket, groups + 1, "buckets of groups");
}

static void describe_bundles(td_paths *paths, const layer *layers)
{
    for (uint32_t l = 0; l < paths->layers; l++) {
        const layer *here = &layers[l];
        uint32_t g = here->first_alone + here->alone;
        if (here->small > 0)
            paths->group[g++] = (td_path_group){.layer = l, .flags = TD_GROUP_CYCLIC, .paths = here->small,
                                                .edges = here->small_edges, .components = here->small_components};
        if (here->once > 0)
            paths->group[g++] = (td_path_group){.layer = l, .paths = here->once, .edges = here->once_edges,
                                                .components = here->once_components};
    }
}

static void assign_groups(placing *self, layer *layers)
{
    td_path_job *job = self->job;
    for (uint32_t l = 0; l < self->paths->layers; l++) job->once_group[l] = self->paths->layer_group[l + 1] - 1;
    for (uint32_t c = job->components.count; c-- > 0;) {
        if (job->sketch.paths[c] == 0) continue;
        layer *here = &layers[td_component_layer(job, c)];
        uint32_t end = self->paths->layer_group[td_component_layer(job, c) + 1];
        int kind = kind_of(job, c);
        job->group_of[c] = kind == ALONE ? here->first_alone++ : kind == ONCE ? end - 1 : end - 1 - (here->once > 0);
        if (kind == ALONE)
            self->paths->group[job->group_of[c]] =
                (td_path_group){.layer = td_component_layer(job, c), .flags = TD_GROUP_CYCLIC | TD_GROUP_ONE,
                                .paths = job->sketch.paths[c], .edges = job->sketch.edges[c], .components = 1};
    }
}

/* A group has a bucket of hot paths and one of others. The small components of a layer have a bucket for each time they
 * fill a partition. Without partitioning a group is a bucket. */
static uint64_t buckets_of(const placing *self, uint32_t g)
{
    const td_path_group *group = &self->paths->group[g];
    if (!self->job->options.partition) return 1;
    if (group->flags != TD_GROUP_CYCLIC) return 2;
    return group->edges / self->job->options.partition_edges + 1;
}

static td_status number_buckets(placing *self)
{
    uint64_t buckets = 0;
    for (uint32_t g = 0; g < self->paths->groups; g++) {
        self->group_bucket[g] = (uint32_t)buckets;
        buckets += buckets_of(self, g);
        if (buckets > UINT32_MAX / 4) return td_fail(TD_LIMIT, "the graph's paths have more than %u buckets", UINT32_MAX / 4);
    }
    self->group_bucket[self->paths->groups] = self->buckets = (uint32_t)buckets;
    return TD_OK;
}

static void assign_buckets(placing *self, layer *layers)
{
    const td_path_job *job = self->job;
    for (uint32_t l = 0; l < self->paths->layers; l++) {
        uint32_t end = self->paths->layer_group[l + 1];
        bool once = layers[l].once > 0;
        self->once_bucket[l] = self->group_bucket[end - 1];
        if (layers[l].small > 0) layers[l].small_bucket = self->group_bucket[end - 1 - once];
    }
    for (uint32_t c = job->components.count; c-- > 0;) {
        if (job->sketch.paths[c] == 0) continue;
        layer *here = &layers[td_component_layer(job, c)];
        int kind = kind_of(job, c);
        if (kind == ONCE) self->bucket_of[c] = self->once_bucket[td_component_layer(job, c)];
        if (kind == ALONE) self->bucket_of[c] = self->group_bucket[job->group_of[c]];
        if (kind != SMALL) continue;
        self->bucket_of[c] = here->small_bucket;
        here->fill += job->sketch.edges[c];
        if (here->fill < job->options.partition_edges || !job->options.partition) continue;
        here->fill = 0;
        here->small_bucket++;
    }
}

static td_status make_groups(placing *self)
{
    td_status status = TD_OK;
    td_path_job *job = self->job;
    layer *layers = NULL;
    self->paths->layers = job->sketch.layers;
    TD_TRY(TD_NEW_ZEROED(&layers, self->paths->layers, "layers"));
    TD_TRY(TD_NEW(&job->group_of, job->components.count, "groups of components"));
    TD_TRY(TD_NEW(&self->bucket_of, job->components.count, "buckets of components"));
    TD_TRY(TD_NEW(&job->once_group, self->paths->layers, "groups of layers"));
    TD_TRY(TD_NEW(&self->once_bucket, self->paths->layers, "buckets of layers"));
    TD_TRY(TD_NEW(&self->paths->layer_group, (uint64_t)self->paths->layers + 1, "layers of groups"));
    count_components(job, layers);
    TD_TRY(number_groups(self, layers));
    describe_bundles(self->paths, layers);
    assign_groups(self, layers);
    TD_TRY(number_buckets(self));
    assign_buckets(self, layers);
done:
    td_free(layers);
    return status;
}

/* The two walks. */

static uint32_t bucket_of(const placing *self, const found *path, bool *hot)
{
    *hot = mean_degree(path) >= self->hot;
    return path->bucket / 2 + (path->bucket % 2 == 1 && self->job->options.partition && !*hot);
}

static td_status gather_facts(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const placing *self = context;
    const td_path_job *job = self->job;
    for (uint64_t v = begin; v < end; v++) {
        uint32_t c = job->components.of[v];
        bool has_paths = job->sketch.paths[c] > 0;
        self->vertex[v] = (facts){.degree = job->degree[v], .component = c, .to = job->passes.to[v],
                                  .bucket = has_paths ? 2 * self->bucket_of[c] + (kind_of(job, c) != SMALL) : 0};
    }
    return TD_OK;
}

static uint32_t first_of(const td_graph *graph, uint64_t block, uint64_t blocks)
{
    uint64_t low = 0, high = graph->vertices;
    uint64_t wish = (uint64_t)((unsigned __int128)graph->edges * block / blocks);
    if (block == blocks) return graph->vertices;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (graph->in.offsets[middle] < wish) low = middle + 1;
        else high = middle;
    }
    return (uint32_t)low;
}

static void note(td_path_stats *stats, const found *path, bool hot)
{
    if (path->edges > stats->longest) stats->longest = path->edges;
    if (mean_degree(path) > stats->most_degree) stats->most_degree = mean_degree(path);
    stats->hot_paths += hot;
    stats->hot_edges += hot ? path->edges : 0;
}

/* One path: its last edge k into `last`, and the bucket of its block that it goes to. */
typedef td_status (*path_visit)(placing *self, uint64_t block, uint64_t k, uint32_t last, const found *path, bool hot,
                                bucket *here);

/* Visits the paths that end at the vertices of a block. */
static inline td_status each_path(placing *self, uint64_t block, path_visit visit)
{
    const td_path_job *job = self->job;
    const td_adjacency *in = &job->graph->in;
    bucket *buckets = self->counts + block * self->buckets;
    uint32_t end = first_of(job->graph, block + 1, self->blocks);
    for (uint32_t v = first_of(job->graph, block, self->blocks); v < end; v++)
        for (uint64_t k = in->offsets[v]; k < in->offsets[v + 1]; k++) {
            bool hot = false;
            expect(self, k);
            if (!td_edge_last(&job->passes, k, v)) continue;
            found path = walk(self, k, v);
            bucket *here = &buckets[bucket_of(self, &path, &hot)];
            TD_CHECK(visit(self, block, k, v, &path, hot, here));
        }
    return TD_OK;
}

static td_status count_path(placing *self, uint64_t block, uint64_t k, uint32_t last, const found *path, bool hot,
                            bucket *here)
{
    (void)k, (void)last;
    if (path->edges >= UINT32_MAX - 1)
        return td_fail(TD_LIMIT, "a path has %llu edges; allowed are %u. Set paths.longest",
                       (unsigned long long)path->edges, UINT32_MAX - 2);
    here->paths++;
    here->entries += path->edges + 1;
    note(&self->block_stats[block], path, hot);
    return TD_OK;
}

static td_status count_blocks(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    for (uint64_t block = begin; block < end; block++) TD_CHECK(each_path(context, block, count_path));
    return TD_OK;
}

/* Writes path `number` backwards, its last entry at `end` - 1. */
static void write_path(const placing *self, uint64_t k, uint32_t last, uint64_t end, uint64_t number)
{
    const td_path_job *job = self->job;
    const td_adjacency *in = &job->graph->in;
    td_paths *paths = self->paths;
    size_t bytes = td_weight_bytes(paths->weight_kind);
    paths->vertices[--end] = last;
    while (k != TD_NO_EDGE) {
        uint32_t target = last;
        last = in->targets[k];
        paths->vertices[--end] = last;
        if (bytes > 0)
            memcpy((char *)paths->weights + (end - number) * bytes, (const char *)in->weights + k * bytes, bytes);
        k = edge_before(self, k, last, target);
    }
}

static td_status place_path(placing *self, uint64_t block, uint64_t k, uint32_t last, const found *path, bool hot,
                            bucket *here)
{
    (void)block, (void)hot;
    uint64_t number = here->paths++;
    here->entries += path->edges + 1;
    self->paths->starts[number] = (uint32_t)(path->edges + 1); /* its entries, for now */
    write_path(self, k, last, here->entries, number);
    return TD_OK;
}

static td_status place_blocks(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    for (uint64_t block = begin; block < end; block++) TD_CHECK(each_path(context, block, place_path));
    return TD_OK;
}

static void sum_counts(placing *self)
{
    bucket sum = {0};
    for (uint64_t b = 0; b < self->buckets; b++) {
        self->all[b] = sum;
        for (uint64_t block = 0; block < self->blocks; block++) {
            bucket *here = &self->counts[block * self->buckets + b], count = *here;
            *here = sum;
            sum.paths += count.paths;
            sum.entries += count.entries;
        }
    }
    self->all[self->buckets] = sum;
}

static void sum_stats(placing *self)
{
    td_path_stats *stats = &self->paths->stats;
    for (uint64_t block = 0; block < self->blocks; block++) {
        const td_path_stats *here = &self->block_stats[block];
        if (here->longest > stats->longest) stats->longest = here->longest;
        if (here->most_degree > stats->most_degree) stats->most_degree = here->most_degree;
        stats->hot_paths += here->hot_paths;
        stats->hot_edges += here->hot_edges;
    }
    stats->most_vertices = stats->longest > 0 ? stats->longest + 1 : 0;
}

static uint64_t blocks_of(const placing *self)
{
    uint64_t blocks = self->job->graph->edges / BLOCK_EDGES + 1;
    uint64_t most = self->buckets > 0 ? MOST_COUNTS / self->buckets : 1;
    if (blocks > MOST_BLOCKS) blocks = MOST_BLOCKS;
    if (blocks > most) blocks = most;
    return blocks > 0 ? blocks : 1;
}

static td_status place_paths(placing *self)
{
    td_paths *paths = self->paths;
    self->blocks = blocks_of(self);
    TD_CHECK(TD_NEW(&self->vertex, self->job->graph->vertices, "facts of vertices"));
    TD_CHECK(td_pool_for(self->job->pool, self->job->graph->vertices, TD_PATH_GRAIN, gather_facts, self));
    TD_CHECK(TD_NEW_ZEROED(&self->counts, self->blocks * self->buckets, "counts of paths"));
    TD_CHECK(TD_NEW_ZEROED(&self->block_stats, self->blocks, "figures of paths"));
    TD_CHECK(TD_NEW(&self->all, (uint64_t)self->buckets + 1, "places of buckets"));
    TD_CHECK(td_pool_for(self->job->pool, self->blocks, 1, count_blocks, self));
    sum_counts(self);
    sum_stats(self);
    paths->entries = self->all[self->buckets].entries;
    TD_CHECK(TD_NEW(&paths->vertices, paths->entries, "vertices along paths"));
    TD_CHECK(TD_NEW(&paths->starts, paths->paths, "table of paths"));
    if (paths->weight_kind != TD_WEIGHT_NONE)
        TD_CHECK(td_new_bytes(&paths->weights, paths->edges, td_weight_bytes(paths->weight_kind), "weights along paths"));
    return td_pool_for(self->job->pool, self->blocks, 1, place_blocks, self);
}

/* Partitions. */

static td_status add_partition(placing *self, uint32_t group, uint64_t path, uint64_t entry)
{
    td_paths *paths = self->paths;
    if (paths->partitions == self->room) {
        self->room = self->room + self->room / 2 + 64;
        TD_CHECK(TD_RESIZE(&paths->partition, self->room, "partitions"));
    }
    if (paths->partitions == UINT32_MAX - 1)
        return td_fail(TD_LIMIT, "the graph's paths have more than %u partitions; set paths.partition_edges", UINT32_MAX - 1);
    paths->group[group].partitions++;
    paths->partition[paths->partitions++] = (td_path_partition){.first_path = path, .first_entry = entry, .group = group};
    return TD_OK;
}

/* Cuts a group's paths where they fill a partition, and behind its hot paths if these fill half of one. */
static td_status cut_group(placing *self, uint32_t g)
{
    td_paths *paths = self->paths;
    uint64_t wish = self->job->options.partition_edges, filled = 0;
    paths->group[g].first_partition = paths->partitions;
    for (uint32_t b = self->group_bucket[g]; b < self->group_bucket[g + 1]; b++) {
        uint64_t entry = self->all[b].entries;
        if (filled >= wish / 2) filled = 0;
        for (uint64_t p = self->all[b].paths; p < self->all[b + 1].paths; p++) {
            uint64_t edges = paths->starts[p] - 1;
            if (filled > 0 && filled + edges > wish) filled = 0;
            if (filled == 0) TD_CHECK(add_partition(self, g, p, entry));
            filled += edges;
            entry += paths->starts[p];
        }
    }
    return TD_OK;
}

/* Lanes have consecutive paths: equally many edges, each lane its share of what is left (pack), or equally many paths. */
static void cut_lanes(const placing *self, td_path_partition *partition, uint32_t *lanes)
{
    const uint32_t *entries = self->paths->starts + partition->first_path;
    uint64_t left = partition->entries - partition->paths;
    uint32_t path = 0;
    for (uint32_t l = 0; l < TD_PATH_LANES; l++) {
        uint64_t share = (left + TD_PATH_LANES - l - 1) / (TD_PATH_LANES - l), edges = 0, sum = 0;
        uint32_t until = (uint32_t)((uint64_t)partition->paths * (l + 1) / TD_PATH_LANES);
        lanes[l] = path;
        for (; path < partition->paths; path++) {
            uint64_t more = entries[path] - 1;
            if (self->job->options.pack ? edges > 0 && edges + more > share : path >= until) break;
            edges += more;
            sum += entries[path];
        }
        left -= edges;
        if (sum > partition->most_entries) partition->most_entries = (uint32_t)sum;
    }
    lanes[TD_PATH_LANES] = path;
}

/* Turns the numbers of entries into beginnings, and counts hot paths and degrees on the way. */
static void finish_partition(const placing *self, td_path_partition *partition)
{
    td_paths *paths = self->paths;
    uint64_t all = 0;
    uint32_t start = 0;
    for (uint32_t p = 0; p < partition->paths; p++) {
        uint32_t count = paths->starts[partition->first_path + p];
        const uint32_t *vertices = paths->vertices + partition->first_entry + start;
        uint64_t degrees = 0;
        for (uint32_t i = 0; i < count; i++) degrees += self->job->degree[vertices[i]];
        partition->hot_paths += (double)degrees / count >= self->hot;
        paths->starts[partition->first_path + p] = start;
        start += count;
        all += degrees;
    }
    partition->degree = (float)((double)all / partition->entries);
}

static td_status finish_partitions(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const placing *self = context;
    td_paths *paths = self->paths;
    for (uint64_t k = begin; k < end; k++) {
        td_path_partition *partition = &paths->partition[k];
        bool last = k + 1 == paths->partitions;
        partition->paths = (uint32_t)((last ? paths->paths : partition[1].first_path) - partition->first_path);
        partition->entries = (uint32_t)((last ? paths->entries : partition[1].first_entry) - partition->first_entry);
        cut_lanes(self, partition, paths->lanes + (TD_PATH_LANES + 1) * k);
        finish_partition(self, partition);
    }
    return TD_OK;
}

static void sum_partitions(td_paths *paths)
{
    double slots = 0;
    for (uint32_t k = 0; k < paths->partitions; k++) {
        const td_path_partition *partition = &paths->partition[k];
        const uint32_t *lanes = paths->lanes + (uint64_t)(TD_PATH_LANES + 1) * k;
        uint64_t most = 0;
        for (uint32_t l = 0; l < TD_PATH_LANES; l++) {
            uint32_t begin = lanes[l], end = lanes[l + 1];
            if (begin == end) continue;
            uint64_t first = paths->starts[partition->first_path + begin];
            uint64_t behind = end < partition->paths ? paths->starts[partition->first_path + end] : partition->entries;
            if (behind - first - (end - begin) > most) most = behind - first - (end - begin);
        }
        slots += (double)most * TD_PATH_LANES;
        paths->group[partition->group].hot_paths += partition->hot_paths;
    }
    paths->stats.lane_balance = slots > 0 ? (double)paths->edges / slots : 1;
}

static td_status make_partitions(placing *self)
{
    td_paths *paths = self->paths;
    for (uint32_t g = 0; g < paths->groups; g++) TD_CHECK(cut_group(self, g));
    TD_CHECK(TD_RESIZE(&paths->partition, paths->partitions, "partitions"));
    TD_CHECK(TD_NEW(&paths->lanes, (uint64_t)(TD_PATH_LANES + 1) * paths->partitions, "lanes of partitions"));
    TD_CHECK(td_pool_for(self->job->pool, paths->partitions, 16, finish_partitions, self));
    sum_partitions(paths);
    return TD_OK;
}

td_status td_paths_place(td_path_job *job)
{
    td_status status = TD_OK;
    placing self = {.job = job, .paths = &job->paths};
    uint32_t vertices = job->graph->vertices;
    self.hot = vertices > 0 ? job->options.hot * 2 * (double)job->graph->edges / (double)vertices : 0;
    TD_TRY(make_groups(&self));
    TD_TRY(place_paths(&self));
    if (!job->options.partition) TD_TRY(td_paths_by_first(job, self.all, self.buckets));
    TD_TRY(make_partitions(&self));
done:
    td_free(self.bucket_of);
    td_free(self.vertex);
    td_free(self.once_bucket);
    td_free(self.group_bucket);
    td_free(self.counts);
    td_free(self.all);
    td_free(self.block_stats);
    return status;
}
