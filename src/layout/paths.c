/* Decomposing a graph: the steps one after the other. */
#include "layout/paths_inside.h"

#include "base/alloc.h"
#include "base/clock.h"

td_path_options td_path_defaults(void)
{
    return (td_path_options){.depth = TD_PATH_DEPTH, .partition = true, .pack = true, .hot = TD_PATH_HOT,
                             .partition_edges = TD_PATH_PARTITION_EDGES};
}

static td_status check(const td_graph *graph, const td_path_options *options)
{
    const char *name = graph->name != NULL ? graph->name : "the graph";
    if (graph->paged != NULL)
        return td_fail(TD_UNSUPPORTED, "the edges of %s stay on disk; only a graph in memory is divided into paths", name);
    if (graph->edges > 0 && graph->in.offsets == NULL)
        return td_fail(TD_INVALID, "%s was built without its in-adjacency, along which paths are found; build it anew, "
                       "without {out_only}", name);
    if (options->depth < 1) return td_fail(TD_INVALID, "the depth of the search is 0; allowed are numbers from 1");
    if (options->partition_edges < 1 || options->partition_edges > UINT32_MAX / 4)
        return td_fail(TD_INVALID, "%u edges per partition asked for; allowed are 1 to %u", options->partition_edges,
                       UINT32_MAX / 4);
    return TD_OK;
}

static td_status sum_degrees(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    td_path_job *job = context;
    for (uint64_t i = begin; i < end; i++) {
        uint32_t v = (uint32_t)i;
        uint64_t degree = td_degree(&job->graph->out, v) + td_degree(&job->graph->in, v);
        job->degree[v] = degree < UINT32_MAX ? (uint32_t)degree : UINT32_MAX;
    }
    return TD_OK;
}

static td_status start(td_path_job *job)
{
    uint32_t vertices = job->graph->vertices;
    td_path_passes *passes = &job->passes;
    TD_CHECK(TD_NEW(&job->degree, vertices, "degrees"));
    TD_CHECK(TD_NEW(&passes->enters, vertices, "edges into inner vertices"));
    TD_CHECK(TD_NEW(&passes->leaves, vertices, "edges out of inner vertices"));
    TD_CHECK(TD_NEW(&passes->to, vertices, "vertices behind inner ones"));
    for (uint32_t v = 0; v < vertices; v++) {
        passes->enters[v] = passes->leaves[v] = TD_NO_EDGE;
        passes->to[v] = TD_NO_VERTEX;
    }
    return td_pool_for(job->pool, vertices, TD_PATH_GRAIN, sum_degrees, job);
}

static td_status decompose(td_path_job *job)
{
    TD_CHECK(start(job));
    if (job->options.acyclic) {
        TD_CHECK(td_paths_order(job));
        return td_paths_shorten(job);
    }
    TD_CHECK(td_paths_search(job));
    if (job->options.merge == TD_PATHS_MERGE_OFF) return TD_OK;
    TD_CHECK(td_paths_join(job));
    return job->options.merge == TD_PATHS_MERGE_FREE ? td_paths_join_free(job) : td_paths_shorten(job);
}

static uint64_t count_paths(const td_path_job *job)
{
    uint64_t paths = job->graph->edges;
    const td_path_passes *passes = &job->passes;
    if (passes->before != NULL) return paths - td_bitmap_count(passes->followed, td_bitmap_words(paths));
    for (uint32_t v = 0; v < job->graph->vertices; v++) paths -= td_passed(passes, v);
    return paths;
}

static td_status make(td_path_job *job)
{
    td_path_stats *stats = &job->paths.stats;
    uint64_t begin = td_clock_ns();
    TD_CHECK(decompose(job));
    stats->edges = job->paths.edges;
    stats->paths = job->paths.paths = count_paths(job);
    stats->seconds_paths = td_seconds_since(begin);
    begin = td_clock_ns();
    TD_CHECK(td_path_components_find(&job->components, job, true));
    TD_CHECK(td_paths_layers(job));
    stats->seconds_sketch = td_seconds_since(begin);
    begin = td_clock_ns();
    TD_CHECK(td_paths_place(job));
    TD_CHECK(td_paths_readers(job));
    stats->seconds_store = td_seconds_since(begin);
    return td_paths_bound(job);
}

static void free_job(td_path_job *job)
{
    td_free(job->degree);
    td_free(job->passes.enters);
    td_free(job->passes.leaves);
    td_free(job->passes.to);
    td_free(job->passes.before);
    td_free(job->passes.followed);
    td_free(job->passes.place);
    td_path_components_free(&job->components);
    td_free(job->sketch.ready);
    td_free(job->sketch.paths);
    td_free(job->sketch.edges);
    td_free(job->sketch.crossing);
    td_free(job->sketch.loose);
    td_free(job->sketch.waiting);
    td_free(job->group_of);
    td_free(job->once_group);
}

td_status td_paths_make(td_paths *out, const td_graph *graph, const td_path_options *options, td_pool *pool)
{
    td_status status = TD_OK;
    td_path_job job = {.graph = graph, .options = *options, .pool = pool};
    uint64_t before = td_memory_peak_begin(), held = td_memory().now;
    job.paths.options = *options;
    job.paths.build_id = graph->build_id;
    job.paths.graph_vertices = graph->vertices;
    job.paths.edges = graph->edges;
    job.paths.weight_kind = graph->weights;
    TD_TRY(check(graph, options));
    TD_TRY(make(&job));
    job.paths.stats.peak = td_memory().peak - held;
    *out = job.paths;
    job.paths = (td_paths){0};
done:
    td_memory_peak_end(before);
    free_job(&job);
    td_paths_free(&job.paths);
    return status;
}

static void free_arrays(td_paths *paths)
{
    void *arrays[] = {paths->vertices, paths->weights, paths->starts, paths->lanes, paths->partition, paths->group,
                      paths->layer_group, paths->reader_offsets, paths->readers, paths->next_offsets,
                      paths->before_offsets, paths->next, paths->before};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) td_free(arrays[i]);
}

void td_paths_free(td_paths *paths)
{
    if (paths->block != NULL) td_free(paths->block);
    else free_arrays(paths);
    *paths = (td_paths){0};
}

uint64_t td_paths_bytes(const td_paths *paths)
{
    uint64_t nodes = (uint64_t)paths->groups + paths->hubs;
    uint64_t bytes = 4 * (paths->entries + paths->paths) + td_weight_bytes(paths->weight_kind) * paths->edges;
    bytes += paths->partitions * (sizeof(td_path_partition) + 4 * (TD_PATH_LANES + 1));
    bytes += paths->groups * sizeof(td_path_group) + 4 * ((uint64_t)paths->layers + 1);
    bytes += 8 * ((uint64_t)paths->graph_vertices + 1) + 4 * paths->reader_offsets[paths->graph_vertices];
    return bytes + 16 * (nodes + 1) + 4 * (paths->next_offsets[nodes] + paths->before_offsets[nodes]);
}
