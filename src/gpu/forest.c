#include "gpu/forest.h"

#include "base/alloc.h"
#include "gpu/transfer.h"
#include "run/sweep.h"
#include "store/checks.h"

#include <string.h>

_Static_assert(sizeof(td_gpu_listed_edge) == sizeof(td_forest_edge), "one is replaced by the other");

enum {
    WARP = 32,
    LEAST_MARKS = 8, /* bytes of a value that must be left for marks */
};

bool td_gpu_lists_forest(const td_gpu_job *job)
{
    bool room = job->traits->value_bytes >= sizeof(td_gpu_listed_edge) + LEAST_MARKS;
    return job->layout != NULL && job->traits->edge != NULL && room &&
           td_checks_pending(job->graph, job->graph->out.targets);
}

static td_status list_window(const td_gpu_job *job, const td_forest_args *args)
{
    const td_gpu_kernels *kernels = job->kernels;
    uint64_t words = (args->end_edge - args->first_edge + 31) / 32;
    uint64_t warps = (words + TD_GPU_MARKS - 1) / TD_GPU_MARKS;
    TD_CHECK(td_stream_fill(job->stream, args->marks, 0, words * sizeof(uint32_t)));
    TD_CHECK(td_gpu_launch(job, job->stream, &kernels->mark_forest, args->count, args));
    TD_CHECK(td_gpu_launch(job, job->stream, &kernels->count_forest, warps * WARP, args));
    TD_CHECK(td_gpu_launch(job, job->stream, &kernels->place_forest, WARP, args));
    return td_gpu_launch(job, job->stream, &kernels->list_forest, warps * WARP, args);
}

/* The memory of the values: the edges first, then marks, and a place for every TD_GPU_MARKS words of them. */
static td_status list_edges(td_gpu_job *job, td_gpu_listed_edge *listed)
{
    uint64_t n = job->graph->vertices, edges = job->graph->edges;
    uint64_t room = n * (job->traits->value_bytes - sizeof *listed) / sizeof(uint32_t);
    uint64_t words = room - (room / TD_GPU_MARKS + 1);
    td_forest_args args = {.state = job->state, .list = job->push_list, .edges = job->arrays.edges, .listed = listed,
                           .marks = (uint32_t *)(listed + n), .count = job->control->edge_count};
    args.before = args.marks + words;
    TD_CHECK(td_gpu_reset(job));
    for (; args.first_edge < edges; args.first_edge = args.end_edge) {
        uint64_t left = edges - args.first_edge;
        args.end_edge = args.first_edge + (left < words * 32 ? left : words * 32);
        TD_CHECK(list_window(job, &args));
    }
    TD_CHECK(td_gpu_read(job, 0));
    if (job->control->tally.total == args.count) return TD_OK;
    return td_fail(TD_INTERNAL, "%s: an edge of the forest is there twice", job->device->name);
}

/* Edges first .. last - 1 of the forest, as the device has listed them, become those of the run. */
static void take_listed(td_run *run, uint64_t first, uint64_t last)
{
    const td_graph *graph = run->graph;
    for (uint64_t i = first; i < last; i++) {
        td_gpu_listed_edge listed;
        memcpy(&listed, &run->forest[i], sizeof listed);
        const td_adjacency one = {.weights = &listed.weight};
        run->edges[i] = graph->out.offsets[listed.source] + listed.place;
        run->forest[i] = (td_forest_edge){listed.source, listed.target, td_weight_at(graph, &one, 0)};
    }
}

td_status td_gpu_list_forest(td_gpu_job *job)
{
    td_run *run = job->run;
    td_gpu_listed_edge *listed = job->state.values;
    if (run->edge_count > 0) TD_CHECK(list_edges(job, listed));
    TD_CHECK(TD_NEW(&run->forest, run->edge_count + 1, "edges of the forest"));
    if (run->edge_count > 0)
        TD_CHECK(td_gpu_download(job, run->forest, listed, run->edge_count * sizeof *run->forest));
    return td_sweep_sum_forest(run, job->options->pool, take_listed);
}
