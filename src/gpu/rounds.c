/* Rounds on the device: in every iteration all vertices pull, or the frontier's vertices push. Pushes run many rounds
 * in one launch and return to the host when the frontier needs another direction or launch size. Peeling and
 * delta-stepping are loops of the same kind. */
#include "gpu/rounds.h"

#include "base/clock.h"

#include <math.h>
#include <string.h>

static const double PUSH_BELOW = 0.25; /* share of all edges: an edge costs an atomic in a push, not in a pull */

/* Direction. */

uint64_t td_gpu_push_bound(const td_gpu_job *job)
{
    if (job->direction != TD_DIRECTION_AUTO) return UINT64_MAX;
    if (job->state.first_hit) return td_hit_bound(&job->unsettled, td_gpu_words(job));
    return (uint64_t)(PUSH_BELOW * (double)td_gpu_view_edges(job)) + 1;
}

bool td_gpu_chooses_push(const td_gpu_job *job, const td_frontier *now)
{
    if (!job->traits->fused) return false;
    if (job->direction != TD_DIRECTION_AUTO) return job->direction == TD_DIRECTION_PUSH;
    return now->edges < td_gpu_push_bound(job);
}

/* Pull. */

td_status td_gpu_make_mapped(td_gpu_job *job, td_frontier *now)
{
    if (now->mapped) return TD_OK;
    TD_CHECK(td_stream_fill(job->stream, job->state.active, 0, td_gpu_words(job) * sizeof(uint32_t)));
    td_queue_args args = {.state = job->state, .queue = job->arrays.queue[0], .count = (uint32_t)now->vertices};
    TD_CHECK(td_gpu_launch(job, job->stream, &job->kernels->map_queue, now->vertices, &args));
    now->mapped = true;
    return TD_OK;
}

/* Asynchronous pulls gather and apply in parts, so that later parts read the new values of earlier ones. A list divided
 * by the end of a part belongs to the next part. */
enum { ASYNC_PARTS = 8 };

static td_status pull_in_parts(td_gpu_job *job, uint64_t parts)
{
    uint64_t piece = 0, vertex = 0;
    for (uint64_t part = 1; part <= parts; part++) {
        uint64_t end_piece = job->pull_pieces * part / parts;
        uint64_t end_vertex = part == parts ? job->graph->vertices : td_gpu_lists_ended(job, end_piece);
        td_pull_args args = td_gpu_pull_args(job, job->pull_list, &job->segments, piece * TD_GPU_TILE,
                                             end_piece * TD_GPU_TILE, job->arrays.sums);
        if (end_piece > piece)
            TD_CHECK(td_gpu_launch(job, job->stream, &job->kernels->pull, (end_piece - piece) * 32, &args));
        if (end_vertex > vertex) TD_CHECK(td_gpu_apply(job, job->stream, job->arrays.sums, vertex, end_vertex));
        piece = end_piece;
        vertex = end_vertex;
    }
    return TD_OK;
}

static td_status pull_shards(td_gpu_job *job)
{
    const td_gpu_graph *layout = job->layout;
    td_shard_args args = {.state = job->state, .list = {job->pull_list}, .shards = layout->shards,
                          .targets = {layout->shard_targets}, .count = layout->shard_count};
    return td_gpu_launch_blocks(job, job->stream, &job->kernels->pull_shards, layout->shard_count, layout->shard_bytes,
                                &args);
}

static td_status pull_whole(td_gpu_job *job)
{
    if (job->traits->fused)
        TD_CHECK(td_stream_fill(job->stream, job->state.next_active, 0, td_gpu_words(job) * sizeof(uint32_t)));
    if (job->shards) TD_CHECK(pull_shards(job));
    else TD_CHECK(pull_in_parts(job, job->run->async && !job->traits->fused ? ASYNC_PARTS : 1));
    td_gpu_turn_values(job);
    return TD_OK;
}

static td_status pull_open(td_gpu_job *job)
{
    td_gpu_part all = td_gpu_all(job);
    return td_gpu_pull_hit(job, job->stream, job->pull_list, &all, false);
}

static td_status pull(td_gpu_job *job, td_frontier *now)
{
    uint64_t began = td_clock_ns();
    td_row row = {.direction = "pull", .active_vertices = now->vertices, .active_edges = now->edges};
    if (job->traits->fused) TD_CHECK(td_gpu_make_mapped(job, now));
    if (job->traits->fused) td_unsettled_subtract(&job->unsettled, now->vertices, now->edges);
    TD_CHECK(td_gpu_reset(job));
    TD_CHECK(job->state.first_hit ? pull_open(job) : pull_whole(job));
    TD_CHECK(td_gpu_read(job, 0));
    const td_gpu_tally *sum = &job->control->tally;
    TD_CHECK(td_gpu_check_convergence(job, sum->change, sum->share));
    if (job->traits->fused) td_gpu_swap(&job->state.active, &job->state.next_active);
    job->next_dirty = true;
    *now = (td_frontier){sum->activated, sum->activated_edges, false, true};
    job->state.context.global = sum->share;
    row.edges = job->state.first_hit ? sum->edges : td_gpu_view_edges(job);
    row.change = sum->change;
    job->run->updates += job->traits->fused ? sum->activated : job->graph->vertices;
    return td_gpu_end_iteration(job, &row, began, td_seconds_since(began));
}

/* Push. */

td_status td_gpu_make_listed(td_gpu_job *job, td_frontier *now)
{
    if (job->next_dirty && !job->state.first_hit)
        TD_CHECK(td_stream_fill(job->stream, job->state.next_active, 0, td_gpu_words(job) * sizeof(uint32_t)));
    job->next_dirty = false;
    if (now->listed) return TD_OK;
    TD_CHECK(td_gpu_reset(job));
    td_queue_args args = {.state = job->state, .queue = job->arrays.queue[0], .end_vertex = job->graph->vertices};
    TD_CHECK(td_gpu_launch(job, job->stream, &job->kernels->list_words, td_gpu_words(job) * 32, &args));
    now->listed = true;
    return TD_OK;
}

/* One cluster for a tiny frontier, few blocks for a small one, otherwise all that fit. The launch ends when the
 * frontier exceeds its size, or shrinks well below it. */
td_loop_shape td_gpu_loop_shape(const td_gpu_job *job, const td_frontier *now)
{
    uint64_t work = now->edges + now->vertices, tiny = job->blocks_cluster > 0 ? job->tiny : 0;
    if (tiny > 0 && work <= tiny) return (td_loop_shape){job->blocks_cluster, true, 0, 2 * tiny};
    if (work <= job->small) return (td_loop_shape){job->blocks_few, false, tiny / 2, 2 * job->small};
    return (td_loop_shape){job->blocks_many, false, job->small / 2, UINT64_MAX};
}

enum { FEW_ROWS = 16 }; /* rows read with the counters; further rows in a second copy */

td_status td_gpu_read_rounds(td_gpu_job *job, uint32_t most)
{
    uint32_t few_rows = most < FEW_ROWS ? most : FEW_ROWS;
    TD_CHECK(td_gpu_read(job, few_rows));
    return job->control->rounds > few_rows ? td_gpu_read(job, job->control->rounds) : TD_OK;
}

static td_status launch_loop(td_gpu_job *job, const td_frontier *now, uint64_t bound, uint64_t rounds)
{
    const td_gpu_arrays *arrays = &job->arrays;
    td_loop_shape shape = td_gpu_loop_shape(job, now);
    uint32_t most_rounds = (uint32_t)(rounds < job->rounds ? rounds : job->rounds);
    if (job->strict) most_rounds = 1; /* values are copied between two rounds */
    td_loop_args args = {.push = td_gpu_push_args(job, job->push_list), .queue = {arrays->queue[0], arrays->queue[1]},
                         .far = {arrays->far[0], arrays->far[1]},
                         .leave_edges = shape.most < bound ? shape.most : bound, .stay_edges = shape.least,
                         .most_rounds = most_rounds, .balance = job->balance, .mean_degree = job->mean_degree,
                         .cluster = shape.cluster, .has_high_degree = job->has_high_degree};
    job->control->left_edges = 0;
    _Static_assert(offsetof(td_gpu_control, rows) == offsetof(td_gpu_control, left_edges) + sizeof(uint64_t),
                   "cleared together");
    uint64_t place = offsetof(td_gpu_control, left_edges), rows = most_rounds * sizeof(td_gpu_row);
    if (job->lean)
        TD_CHECK(td_stream_fill(job->stream, (char *)job->state.control + place, 0, sizeof(uint64_t) + rows));
    td_launch launch = {.blocks = shape.blocks, .threads = shape.cluster ? TD_GPU_CLUSTER_THREADS : TD_GPU_THREADS,
                        .cooperative = true,
                        .cluster = shape.cluster};
    TD_CHECK(td_stream_launch(job->stream, job->loop, launch, &args, sizeof args));
    return td_gpu_read_rounds(job, most_rounds);
}

/* After a loop: adds a row per round; the remaining vertices are the frontier. */
static td_status take_rounds(td_gpu_job *job, td_frontier *now, const char *direction, uint64_t began)
{
    uint32_t rounds = job->control->rounds;
    double each = td_seconds_since(began) / (rounds == 0 ? 1 : rounds);
    td_row report = {.direction = direction}; /* cleared once: there may be thousands of rounds of microseconds */
    for (uint32_t i = 0; i < rounds; i++) {
        const td_gpu_row *row = &job->control->rows[i];
        report.active_vertices = now->vertices;
        report.edges = report.active_edges = job->lean ? row->edges : now->edges;
        if (!row->split) {
            td_unsettled_subtract(&job->unsettled, now->vertices, report.edges);
            TD_CHECK(td_gpu_end_iteration(job, &report, began + (uint64_t)(each * 1e9 * i), each));
        }
        *now = (td_frontier){row->vertices, row->edges, true, !job->state.first_hit};
        job->run->updates += row->split ? 0 : row->vertices;
    }
    if (job->lean) now->edges = job->control->left_edges;
    if (rounds % 2 == 0) return TD_OK;
    td_gpu_swap(&job->arrays.queue[0], &job->arrays.queue[1]);
    if (!job->state.first_hit) td_gpu_swap(&job->state.active, &job->state.next_active);
    return TD_OK;
}

td_status td_gpu_push_rounds(td_gpu_job *job, td_frontier *now, uint64_t bound)
{
    uint64_t began = td_clock_ns(), left = job->limit - job->state.context.iteration;
    uint32_t until = td_checkpoint_rounds(job->run, job->state.context.iteration);
    if (left > until) left = until;
    TD_CHECK(td_gpu_make_listed(job, now));
    TD_CHECK(launch_loop(job, now, bound, left));
    return take_rounds(job, now, "push", began);
}

static td_status push(td_gpu_job *job, td_frontier *now)
{
    return td_gpu_push_rounds(job, now, td_gpu_push_bound(job));
}

/* The schedules. */

td_status td_gpu_start(td_gpu_job *job, td_frontier *now)
{
    bool resumed = job->run->resumed != NULL;
    TD_CHECK(td_gpu_init(job));
    const td_gpu_tally *sum = &job->control->tally;
    job->unsettled.edges = resumed && job->state.first_hit ? sum->edges + sum->activated_edges : td_gpu_view_edges(job);
    job->unsettled.vertices = resumed && job->state.first_hit ? sum->total + sum->activated : job->graph->vertices;
    *now = (td_frontier){sum->activated, sum->activated_edges, false, true};
    return TD_OK;
}

td_status td_gpu_save_frontier(td_gpu_job *job, td_frontier *now)
{
    td_state *state = td_checkpoint_due(job->run, &job->state.context);
    if (state == NULL) return TD_OK;
    if (!job->traits->fused) return td_gpu_save(job, state, NULL, 0);
    TD_CHECK(td_gpu_make_mapped(job, now));
    return td_gpu_save(job, state, (const uint32_t *const[]){job->state.active, job->arrays.far_map}, 2);
}

td_status td_gpu_keep_values(td_gpu_job *job)
{
    if (!job->strict) return TD_OK;
    return td_stream_copy(job->stream, job->state.messages, job->state.values,
                          job->graph->vertices * job->traits->value_bytes, TD_ON_DEVICE);
}

td_status td_gpu_run_rounds(td_gpu_job *job)
{
    td_frontier now;
    TD_CHECK(td_gpu_start(job, &now));
    while (job->state.context.iteration < job->limit && !job->run->converged) {
        if (job->traits->fused && now.vertices == 0) break;
        TD_CHECK(td_gpu_keep_values(job));
        TD_CHECK(td_gpu_chooses_push(job, &now) ? push(job, &now) : pull(job, &now));
        TD_CHECK(td_gpu_save_frontier(job, &now));
    }
    if (job->traits->fused && now.vertices == 0) job->run->converged = true;
    return td_gpu_keep_values(job); /* parents are found among the last values */
}

static td_peel_args peel_args(const td_gpu_job *job, uint32_t left)
{
    return (td_peel_args){.state = job->state, .left = job->arrays.left, .next_left = job->arrays.next_left,
                          .queue = job->arrays.queue[0], .count = left};
}

td_status td_gpu_init_remaining(td_gpu_job *job)
{
    td_peel_args args = peel_args(job, job->graph->vertices);
    return td_gpu_launch(job, job->stream, &job->kernels->fill_left, job->graph->vertices, &args);
}

/* Moves the remaining vertices of this level to the frontier. */
td_status td_gpu_next_level(td_gpu_job *job, td_frontier *now, uint32_t *left)
{
    TD_CHECK(td_gpu_reset(job));
    job->scanned += *left;
    td_peel_args args = peel_args(job, *left);
    TD_CHECK(td_gpu_launch(job, job->stream, &job->kernels->peel, *left, &args));
    TD_CHECK(td_gpu_read(job, 0));
    *left = job->control->left_count;
    td_gpu_swap(&job->arrays.left, &job->arrays.next_left);
    *now = (td_frontier){job->control->slot[0].count, job->control->slot[0].edges, true, false};
    return TD_OK;
}

td_status td_gpu_run_peeling(td_gpu_job *job)
{
    td_frontier now;
    bool within = job->run->resumed != NULL; /* resumed within a level: `now` is its frontier */
    TD_CHECK(td_gpu_start(job, &now));
    if (!within) TD_CHECK(td_stream_fill(job->stream, job->state.active, 0, td_gpu_words(job) * sizeof(uint32_t)));
    TD_CHECK(td_gpu_init_remaining(job));
    for (uint32_t left = job->graph->vertices; left > 0; within = false) {
        if (!within) TD_CHECK(td_gpu_next_level(job, &now, &left));
        bool anyone = within || now.vertices > 0;
        uint64_t lowest = job->control->tally.lowest;
        while (now.vertices > 0 && job->state.context.iteration < job->limit) {
            TD_CHECK(td_gpu_chooses_push(job, &now) ? push(job, &now) : pull(job, &now));
            TD_CHECK(td_gpu_save_frontier(job, &now));
        }
        if (job->state.context.iteration >= job->limit) return TD_OK;
        job->state.context.phase = anyone ? job->state.context.phase + 1 : (uint32_t)lowest;
    }
    job->run->converged = true;
    return TD_OK;
}

/* Wider buckets than on a CPU, because a round costs more and a superfluous relaxation less; the widest on sparse
 * graphs, where a round has little work (docs/lab/kernels.md). */
static const double DELTA_DEGREE = 13, DELTA_POWER = 2.5; /* fitted to degrees 4 and 32 */

static double choose_delta(const td_graph *graph)
{
    double heaviest = graph->weights == TD_WEIGHT_NONE ? 1 : graph->weight_max;
    double degree = fmax(1, graph->vertices == 0 ? 1 : (double)graph->edges / graph->vertices);
    return fmax(heaviest * pow(DELTA_DEGREE / degree, DELTA_POWER), td_weight_real(graph->weights) ? 1e-30 : 1);
}

double td_gpu_delta(const td_graph *graph, double delta)
{
    double farthest = graph->weight_max * graph->vertices;
    return fmax(delta > 0 ? delta : choose_delta(graph), farthest * 0x1p-31); /* bucket numbers must fit in 32 bits */
}

td_far_args td_gpu_far_args(const td_gpu_job *job)
{
    return (td_far_args){.state = job->state, .far = job->arrays.far[0], .far_map = job->arrays.far_map,
                         .one_over_delta = job->one_over_delta, .bound = job->bound,
                         .end_vertex = job->graph->vertices};
}

td_status td_gpu_near_rounds(td_gpu_job *job, td_frontier *now, uint64_t bound, uint64_t *far)
{
    uint64_t began = td_clock_ns();
    job->next_dirty = now->listed = false;
    TD_CHECK(td_gpu_make_listed(job, now));
    td_far_args args = td_gpu_far_args(job);
    TD_CHECK(td_gpu_launch(job, job->stream, &job->kernels->list_far, td_gpu_words(job) * 32, &args));
    TD_CHECK(launch_loop(job, now, bound, td_checkpoint_rounds(job->run, job->state.context.iteration)));
    TD_CHECK(take_rounds(job, now, "near", began));
    job->bound = job->control->bound;
    *far = job->control->far_count[job->control->far_at];
    return TD_OK;
}

td_status td_gpu_run_priorities(td_gpu_job *job)
{
    td_frontier now;
    job->one_over_delta = 1 / td_gpu_delta(job->graph, job->delta);
    TD_CHECK(td_gpu_start(job, &now));
    TD_CHECK(td_gpu_make_listed(job, &now));
    bool more = now.vertices > 0;
    while (more) {
        uint64_t began = td_clock_ns();
        TD_CHECK(launch_loop(job, &now, UINT64_MAX, td_checkpoint_rounds(job->run, job->state.context.iteration)));
        TD_CHECK(take_rounds(job, &now, "near", began));
        more = now.vertices > 0 || job->control->far_count[job->control->far_at] > 0;
        job->run->converged = !more;
        TD_CHECK(td_gpu_save_frontier(job, &now));
    }
    job->run->converged = true;
    return TD_OK;
}
