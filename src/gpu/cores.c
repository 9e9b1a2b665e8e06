/* Core numbers in one cooperative launch (kernels/gpu/cores.h): all levels of a peeling, or bounds that fall. The host
 * launches again when the queue suits another size of launch, when the rows of a launch are used up, and for
 * checkpoints. */
#include "gpu/rounds.h"

#include "base/clock.h"

td_status td_gpu_declare_cores(td_gpu_job *job)
{
    td_gpu_arrays *arrays = &job->arrays;
    uint64_t n = job->graph->vertices;
    bool forward = !job->both && !job->graph->symmetric; /* neighbours are the in-lists, values flow along out-lists */
    if (job->cores == TD_CORES_PEEL)
        return td_gpu_new(job, &arrays->near, n, sizeof(uint32_t), "vertices of the next levels");
    TD_CHECK(td_gpu_new(job, &arrays->bins, td_gpu_view_edges(job), sizeof(uint32_t), "neighbours by bound"));
    TD_CHECK(td_gpu_new(job, &arrays->support, n, sizeof(uint32_t), "neighbours of high bounds"));
    TD_CHECK(td_gpu_new(job, &arrays->before, n, sizeof(uint32_t), "earlier bounds"));
    return forward ? td_gpu_new(job, &arrays->places, n + 1, sizeof(uint64_t), "offsets of the in-lists") : TD_OK;
}

static td_cores_args cores_args(const td_gpu_job *job, uint32_t most_rounds, td_loop_shape shape)
{
    const td_gpu_arrays *arrays = &job->arrays;
    td_loop_args loop = {.push = td_gpu_push_args(job, job->push_list), .queue = {arrays->queue[0], arrays->queue[1]},
                         .leave_edges = shape.most, .stay_edges = shape.least, .most_rounds = most_rounds,
                         .mean_degree = job->mean_degree, .has_high_degree = job->has_high_degree};
    loop.push.lean = false; /* rounds are chosen by edges */
    return (td_cores_args){.loop = loop, .prefix = job->core_prefix,
                           .left = {arrays->left, arrays->next_left}, .near = arrays->near,
                           .window = job->core_window, .buffer = job->core_buffer, .bins = arrays->bins,
                           .support = arrays->support, .before = arrays->before,
                           .places = arrays->places != NULL ? arrays->places : job->state.push_offsets};
}

/* Launches rounds over the queue, and adds a row for each. *now: what is queued afterwards. */
static td_status run_launch(td_gpu_job *job, td_frontier *now, bool builds)
{
    uint64_t began = td_clock_ns(), rows_at = offsetof(td_gpu_control, rows);
    uint32_t until = td_checkpoint_rounds(job->run, job->state.context.iteration);
    uint32_t most = until < job->rounds ? until : job->rounds;
    td_loop_shape shape = td_gpu_loop_shape(job, now);
    td_cores_args args = cores_args(job, most, shape);
    args.builds = builds;
    TD_CHECK(td_stream_fill(job->stream, (char *)job->state.control + rows_at, 0, most * sizeof(td_gpu_row)));
    td_launch launch = {.blocks = shape.blocks, .threads = TD_GPU_THREADS, .cooperative = true};
    TD_CHECK(td_stream_launch(job->stream, job->loop, launch, &args, sizeof args));
    TD_CHECK(td_gpu_read_rounds(job, most));
    uint32_t rounds = job->control->rounds;
    const uint64_t edge_bytes = sizeof(uint32_t); /* the program uses no weights */
    const td_gpu_slot *next = &job->control->slot[job->control->at];
    *now = (td_frontier){next->count, next->edges, true, false};
    if (rounds % 2 == 1) td_gpu_swap(&job->arrays.queue[0], &job->arrays.queue[1]);
    double each = td_seconds_since(began) / (rounds == 0 ? 1 : rounds);
    for (uint32_t i = 0; i < rounds; i++) {
        const td_gpu_row *row = &job->control->rows[i];
        td_row report = {.direction = job->cores == TD_CORES_PEEL ? "peel" : "bounds", .active_vertices = row->vertices,
                         .active_edges = row->edges, .edges = row->edges,
                         .bytes_direct = row->other_edges * edge_bytes, .bytes_useful = row->other_edges * edge_bytes};
        if (row->split) continue;
        job->run->updates += row->vertices;
        TD_CHECK(td_gpu_end_iteration(job, &report, began + (uint64_t)(each * 1e9 * i), each));
    }
    return TD_OK;
}

static td_status peel(td_gpu_job *job, td_frontier *now, bool within)
{
    td_gpu_peeling *at = &job->control->peeling;
    uint32_t phase = job->state.context.phase;
    TD_CHECK(td_gpu_init_remaining(job));
    TD_CHECK(td_stream_synchronize(job->stream)); /* the counters have been copied */
    *at = (td_gpu_peeling){.next_level = within ? phase + 1 : phase, .left_count = job->graph->vertices};
    at->window_end = at->next_level;
    TD_CHECK(td_stream_copy(job->stream, &job->state.control->peeling, at, sizeof *at, TD_TO_DEVICE));
    while (!at->done) {
        TD_CHECK(run_launch(job, now, false));
        if (at->done || (now->vertices == 0 && at->next_level >= at->window_end)) continue; /* the level is unknown */
        job->state.context.phase = at->next_level - 1;
        TD_CHECK(td_gpu_save_frontier(job, now));
    }
    job->scanned = at->scanned;
    return TD_OK;
}

/* The first round counts every vertex's neighbours by their bounds. */
static td_status fall(td_gpu_job *job)
{
    const td_gpu_arrays *arrays = &job->arrays;
    uint64_t edges = td_gpu_view_edges(job);
    td_frontier now = {job->graph->vertices, edges, true, false};
    if (arrays->places != NULL)
        TD_CHECK(td_stream_copy(job->stream, arrays->places, job->graph->in.offsets,
                                (job->graph->vertices + UINT64_C(1)) * sizeof(uint64_t), TD_TO_DEVICE));
    if (edges > 0) TD_CHECK(td_stream_fill(job->stream, arrays->bins, 0, edges * sizeof(uint32_t)));
    TD_CHECK(td_gpu_reset(job));
    for (bool builds = true; now.vertices > 0; builds = false) TD_CHECK(run_launch(job, &now, builds));
    return TD_OK;
}

td_status td_gpu_run_cores(td_gpu_job *job)
{
    td_frontier now;
    bool within = job->run->resumed != NULL; /* resumed within a level: `now` is its frontier */
    TD_CHECK(td_gpu_start(job, &now));
    if (job->cores == TD_CORES_HISTOGRAM) {
        TD_CHECK(fall(job));
    } else {
        if (!within) now = (td_frontier){0};
        TD_CHECK(within ? td_gpu_make_listed(job, &now) : td_gpu_reset(job));
        TD_CHECK(peel(job, &now, within));
    }
    job->run->converged = true;
    return TD_OK;
}

/* Auto. Where nearly all vertices have few neighbours (grids, roads) a level has thousands of tiny rounds, which few
 * blocks finish sooner than a launch whose rounds wait for the whole grid (docs/lab/kernels.md). Bounds that fall were
 * slower than peeling on every graph that was measured. */
enum { FEW_LEVELS = 8, SAMPLES = 1 << 20 };

static uint64_t neighbours_of(const td_graph *graph, uint32_t v, bool both)
{
    return td_degree(&graph->in, v) + (both ? td_degree(&graph->out, v) : 0);
}

/* Whether there may be a core of `levels`: so many vertices with so many neighbours; of large graphs by a sample. Reads on
 * only until it has found them. */
static bool may_have_levels(const td_graph *graph, bool both, uint64_t levels)
{
    uint64_t found = 0, step = graph->vertices / SAMPLES + 1;
    for (uint64_t v = 0; v < graph->vertices && found < levels; v += step)
        if (neighbours_of(graph, (uint32_t)v, both) >= levels) found += step;
    return found >= levels;
}

td_cores td_gpu_choose_cores(const td_graph *graph, const td_run_options *options, td_cores set)
{
    if (set != TD_CORES_AUTO) return set;
    if (options->has_iterations) return TD_CORES_ROUNDS;
    bool known = graph->in.offsets != NULL;
    return known && !may_have_levels(graph, !graph->symmetric, FEW_LEVELS) ? TD_CORES_ROUNDS : TD_CORES_PEEL;
}
