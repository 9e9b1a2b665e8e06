/* Pushes across the link. A frontier is a bitmap; a list has two parts, the resident prefix on the device and the rest
 * in host memory. Order-free programs push along prefixes until nothing changes; then the rest of the lists crosses,
 * once for all changes of a vertex. Programs by levels process both parts in every round. Small frontiers run many
 * rounds in one launch, as in the resident engine, reading edges from host memory. */
#include "engine/stream/stream.h"

#include "base/clock.h"
#include "base/log.h"

static bool has_prefix(const td_streaming_job *self) { return self->push->prefix.offsets != NULL; }

/* The vertices that a round changed become the frontier. */
static td_status end_round(td_streaming_job *self, td_row *row, uint64_t began, td_frontier *now)
{
    td_gpu_job *gpu = &self->gpu;
    const td_gpu_control *control = gpu->control;
    TD_CHECK(td_gpu_read(gpu, 0));
    td_gpu_swap(&gpu->state.active, &gpu->state.next_active);
    TD_CHECK(td_stream_fill(gpu->stream, gpu->state.next_active, 0, td_gpu_words(gpu) * sizeof(uint32_t)));
    *now = (td_frontier){control->slot[1].count, control->slot[1].edges, false, true};
    row->edges = control->tally.edges;
    row->bytes_direct = control->tally.host_bytes;
    return td_gpu_end_iteration(gpu, row, began, td_seconds_since(began));
}

/* A small frontier crosses faster than its useful edges can be counted: one direct launch over all lists. */
enum { LITTLE = 64 }; /* a frontier with fewer than 1/LITTLE of all edges is small */

static bool is_little(const td_streaming_job *self, uint64_t edges)
{
    bool direct = self->push->readable && self->rules == 0 && (self->low == TD_LOW_AUTO || self->low == TD_LOW_DIRECT);
    return self->variant == TD_STREAMING_FULL && direct && edges > 0 && edges < self->push->edges / LITTLE;
}

static td_status push_directly(td_streaming_job *self, bool prefix, td_frontier *now, td_row *row)
{
    uint64_t began = td_clock_ns();
    td_gpu_job *gpu = &self->gpu;
    td_link_list *list = self->push;
    self->row = row;
    TD_CHECK(td_gpu_reset(gpu));
    if (prefix) TD_CHECK(td_streaming_push_prefix(self, false));
    self->crossing = list;
    self->work = TD_WORK_PUSH;
    self->heavy_edges = false;
    td_streaming_range all = {.end = list->edges, .targets = list->seen.targets, .weights = list->seen.weights,
                                .from_host = true};
    TD_CHECK(td_streaming_launch_part(self, &all));
    return end_round(self, row, began, now);
}

/* Pushes from the active vertices along the rest of their lists, or along all of them where no prefix is resident;
 * `heavy`: along the heavy edges alone. */
static td_status push_rest(td_streaming_job *self, bool prefix, bool heavy, td_frontier *now, td_row *row)
{
    uint64_t began = td_clock_ns();
    td_gpu_job *gpu = &self->gpu;
    self->row = row;
    TD_CHECK(td_streaming_count_useful(self, self->push, heavy));
    if (row->active_vertices == 0) { /* deferred vertices, some of them deferred several times */
        row->active_vertices = self->vertices_useful;
        row->active_edges = self->edges_useful;
    }
    TD_CHECK(td_gpu_reset(gpu));
    if (prefix) TD_CHECK(td_streaming_push_prefix(self, false));
    if (self->edges_useful > 0) TD_CHECK(td_streaming_cross(self, self->push, TD_WORK_PUSH, heavy));
    return end_round(self, row, began, now);
}

static td_status push_prefix(td_streaming_job *self, td_frontier *now, td_row *row)
{
    uint64_t began = td_clock_ns();
    td_gpu_job *gpu = &self->gpu;
    self->rest_count += now->vertices;
    if (self->heavy != NULL) self->heavy_count += now->vertices;
    TD_CHECK(td_gpu_reset(gpu));
    TD_CHECK(td_streaming_push_prefix(self, true));
    return end_round(self, row, began, now);
}

/* Pushes along the rest of the lists of all deferred vertices, after the prefixes have converged. */
static td_status push_deferred(td_streaming_job *self, td_frontier *now)
{
    td_row row = {.direction = "rest"};
    td_gpu_swap(&self->gpu.state.active, &self->rest);
    self->rest_count = 0;
    return push_rest(self, false, false, now, &row);
}

/* No light edge improved this bucket, so its distances are final: relax the heavy edges once. */
static td_status push_heavy(td_streaming_job *self, td_frontier *now)
{
    td_row row = {.direction = "heavy"};
    td_gpu_swap(&self->gpu.state.active, &self->heavy);
    self->heavy_count = 0;
    return push_rest(self, false, true, now, &row);
}

/* Adds the bytes read from host memory to the rows of a loop on the device. */
static void note_loop(td_streaming_job *self, uint32_t first_row)
{
    td_run *run = self->gpu.run;
    for (uint32_t i = first_row; i < run->row_count; i++) {
        run->full_rows[i].bytes_direct = run->rows[i].edges * td_link_edge_bytes(self->push);
        run->full_rows[i].bytes_useful = run->rows[i].edges * self->push->useful_bytes;
    }
}

/* Many rounds in one launch while the frontier is small. */
static td_status push_in_loop(td_streaming_job *self, td_frontier *now)
{
    td_gpu_job *gpu = &self->gpu;
    gpu->next_dirty = false;
    uint64_t bound = td_gpu_push_bound(gpu);
    uint32_t first_row = gpu->run->row_count;
    TD_CHECK(td_gpu_push_rounds(gpu, now, bound < self->small_edges ? bound : self->small_edges));
    note_loop(self, first_row);
    return td_gpu_make_mapped(gpu, now);
}

static bool is_small(const td_streaming_job *self, const td_frontier *now)
{
    return self->push->readable && self->variant == TD_STREAMING_FULL && now->edges + now->vertices < self->small_edges;
}

/* Writes a checkpoint if one is due. A resumed run pushes along whole lists again, including partly processed ones;
 * accumulating programs must not add twice, so they wait until no list is partly processed. */
static td_status checkpoint(td_streaming_job *self, td_frontier *now)
{
    td_gpu_job *gpu = &self->gpu;
    bool partly = self->rest_count > 0 || self->heavy_count > 0;
    if (partly && gpu->traits->sum == TD_SUM_ADD) return TD_OK;
    td_state *state = td_checkpoint_due(gpu->run, &gpu->state.context);
    if (state == NULL) return TD_OK;
    TD_CHECK(td_gpu_make_mapped(gpu, now));
    return td_gpu_save(gpu, state, (const uint32_t *const[]){gpu->state.active, self->rest, self->heavy,
                                                             gpu->arrays.far_map}, 4);
}

/* Pushes from the frontier until nothing changes. */
static td_status push_all(td_streaming_job *self, td_frontier *now)
{
    td_gpu_job *gpu = &self->gpu;
    while ((now->vertices > 0 || self->rest_count > 0) && gpu->state.context.iteration < gpu->limit) {
        td_row row = {.direction = "push", .active_vertices = now->vertices, .active_edges = now->edges};
        TD_CHECK(td_gpu_keep_values(gpu));
        if (now->vertices == 0) {
            TD_CHECK(push_deferred(self, now));
        } else if (is_small(self, now)) {
            TD_CHECK(push_in_loop(self, now));
        } else if (has_prefix(self) && self->order_free) {
            row.direction = "prefix";
            TD_CHECK(push_prefix(self, now, &row));
        } else {
            TD_CHECK(push_rest(self, has_prefix(self), false, now, &row));
        }
        TD_CHECK(checkpoint(self, now));
    }
    return TD_OK;
}

/* Edges that a first-hit pull is expected to read from host memory: for every unvisited vertex without an active
 * neighbour in its prefix, the edges behind it up to a cache line. A neighbour is active with probability equal to the
 * frontier's share of all edges. */
static double expected_pull(const td_streaming_job *self, const td_frontier *now)
{
    enum { EDGES_OF_A_LINE = 32 };
    const td_link_list *list = self->pull;
    uint64_t unsettled = self->gpu.unsettled.vertices;
    uint64_t open = unsettled > now->vertices ? unsettled - now->vertices : 0;
    double share = (double)now->edges / (double)(list->edges + 1), missed = 1, edges = 0;
    for (uint32_t i = 0; i <= TD_LINK_LENGTHS; i++) {
        uint64_t length = i < TD_LINK_LENGTHS ? i : list->longest;
        uint64_t behind = length > list->prefix_most ? length - list->prefix_most : 0;
        edges += (double)list->lengths[i] * missed * (double)(behind < EDGES_OF_A_LINE ? behind : EDGES_OF_A_LINE);
        if (i < list->prefix_most) missed *= share < 1 ? 1 - share : 0;
    }
    return edges * (double)open / (double)self->gpu.graph->vertices;
}

/* Chooses by visited edges, as in the resident engine, but pushes if a push reads less from host memory. */
static bool chooses_push(const td_streaming_job *self, const td_frontier *now)
{
    const td_link_list *list = self->push;
    if (td_gpu_chooses_push(&self->gpu, now)) return true;
    if (self->gpu.direction != TD_DIRECTION_AUTO || self->variant != TD_STREAMING_FULL) return false;
    double at_host = 1 - (double)list->prefix_edges / (double)(list->edges + 1);
    return (double)now->edges * at_host < expected_pull(self, now);
}

/* One level in either direction, or several small ones. */
static td_status go_on_level(td_streaming_job *self, td_frontier *now)
{
    td_gpu_job *gpu = &self->gpu;
    uint64_t began = td_clock_ns();
    bool pushes = chooses_push(self, now);
    td_row row = {.direction = pushes ? "push" : "pull", .active_vertices = now->vertices,
                        .active_edges = now->edges};
    if (pushes && is_small(self, now)) return push_in_loop(self, now);
    td_unsettled_subtract(&gpu->unsettled, now->vertices, now->edges);
    if (pushes && is_little(self, row.active_edges)) return push_directly(self, has_prefix(self), now, &row);
    if (pushes) return push_rest(self, has_prefix(self), false, now, &row);
    self->row = &row;
    TD_CHECK(td_streaming_pull_hit(self));
    td_gpu_swap(&gpu->state.active, &gpu->state.next_active);
    TD_CHECK(td_stream_fill(gpu->stream, gpu->state.next_active, 0, td_gpu_words(gpu) * sizeof(uint32_t)));
    *now = (td_frontier){gpu->control->tally.activated, gpu->control->tally.activated_edges, false, true};
    row.edges = gpu->control->tally.edges;
    return td_gpu_end_iteration(gpu, &row, began, td_seconds_since(began));
}

static td_status go_by_levels(td_streaming_job *self, td_frontier *now)
{
    td_gpu_job *gpu = &self->gpu;
    while (now->vertices > 0 && gpu->state.context.iteration < gpu->limit) {
        TD_CHECK(go_on_level(self, now));
        TD_CHECK(checkpoint(self, now));
    }
    return TD_OK;
}

td_status td_streaming_rounds(td_streaming_job *self)
{
    td_frontier now;
    TD_CHECK(td_gpu_start(&self->gpu, &now));
    TD_CHECK(self->gpu.state.first_hit ? go_by_levels(self, &now) : push_all(self, &now));
    self->gpu.run->converged = now.vertices == 0 && self->rest_count == 0;
    return td_gpu_keep_values(&self->gpu); /* parents are found among the last values */
}

td_status td_streaming_peel(td_streaming_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    td_frontier now;
    bool within = gpu->run->resumed != NULL; /* resumed within a level: `now` is its frontier */
    TD_CHECK(td_gpu_start(gpu, &now));
    TD_CHECK(td_gpu_init_remaining(gpu));
    for (uint32_t left = gpu->graph->vertices; left > 0; within = false) {
        if (!within) TD_CHECK(td_gpu_next_level(gpu, &now, &left));
        bool anyone = within || now.vertices > 0;
        uint64_t lowest = gpu->control->tally.lowest;
        TD_CHECK(td_gpu_make_mapped(gpu, &now));
        TD_CHECK(push_all(self, &now));
        if (gpu->state.context.iteration >= gpu->limit) return TD_OK;
        gpu->state.context.phase = anyone ? gpu->state.context.phase + 1 : (uint32_t)lowest;
    }
    gpu->run->converged = true;
    return TD_OK;
}

/* All levels in one launch; rows count the edges read from host memory where a prefix is resident. */
td_status td_streaming_peel_at_once(td_streaming_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    uint32_t first_row = gpu->run->row_count;
    if (!self->push->readable) {
        if (td_settings_given(gpu->options->settings, "stream.kcore"))
            td_info("stream.kcore=peel: kernels on %s cannot read the lists in host memory; kcore peels level by level",
                    gpu->device->name);
        return td_streaming_peel(self);
    }
    TD_CHECK(td_gpu_run_cores(gpu));
    if (!has_prefix(self)) note_loop(self, first_row);
    return TD_OK;
}

/* Priorities. */

/* Moves the deferred vertices of the lowest bucket to the frontier. */
static td_status deal_out(td_streaming_job *self, td_frontier *now, uint64_t *far)
{
    td_gpu_job *gpu = &self->gpu;
    td_far_args args = td_gpu_far_args(gpu);
    TD_CHECK(td_gpu_reset(gpu));
    TD_CHECK(td_gpu_launch(gpu, gpu->stream, &gpu->kernels->far_lowest, td_gpu_words(gpu) * 32, &args));
    TD_CHECK(td_gpu_launch(gpu, gpu->stream, &gpu->kernels->far_split, td_gpu_words(gpu) * 32, &args));
    TD_CHECK(td_gpu_read(gpu, 0));
    const td_gpu_control *control = gpu->control;
    if (control->far_lowest != UINT32_MAX) gpu->bound = control->far_lowest;
    *far = control->tally.edges;
    *now = (td_frontier){control->tally.activated, control->tally.activated_edges, false, true};
    td_gpu_swap(&gpu->state.active, &gpu->state.next_active);
    return td_stream_fill(gpu->stream, gpu->state.next_active, 0, td_gpu_words(gpu) * sizeof(uint32_t));
}

/* Small buckets run in one launch, one after another, until a frontier is too large. */
static td_status go_in_loop(td_streaming_job *self, td_frontier *now, uint64_t *far)
{
    td_gpu_job *gpu = &self->gpu;
    uint32_t first_row = gpu->run->row_count;
    TD_CHECK(td_gpu_near_rounds(gpu, now, self->small_edges, far));
    note_loop(self, first_row);
    return TD_OK;
}

td_status td_streaming_priorities(td_streaming_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    td_frontier now;
    uint64_t far = 0, pushed = 0;
    bool loops = self->push->readable && self->variant == TD_STREAMING_FULL && self->small_edges > 0;
    gpu->one_over_delta = 1 / td_gpu_delta(gpu->graph, gpu->delta);
    TD_CHECK(td_gpu_start(gpu, &now));
    while (now.vertices > 0 || self->rest_count > 0 || self->heavy_count > 0 || far > 0) {
        td_row row = {.direction = "near", .active_vertices = now.vertices, .active_edges = now.edges};
        bool between = self->rest_count == 0 && self->heavy_count == 0;
        if (loops && between && now.edges + pushed < self->small_edges) {
            TD_CHECK(go_in_loop(self, &now, &far));
            pushed = now.vertices > 0 ? self->small_edges : 0; /* the frontier of this bucket is too large */
        } else if (now.vertices > 0) {
            TD_CHECK(has_prefix(self) ? push_prefix(self, &now, &row) : push_rest(self, false, false, &now, &row));
            far += gpu->control->far_count[0];
        } else if (self->rest_count > 0 || self->heavy_count > 0) {
            TD_CHECK(self->rest_count > 0 ? push_deferred(self, &now) : push_heavy(self, &now));
            far += gpu->control->far_count[0];
        } else {
            TD_CHECK(deal_out(self, &now, &far));
            pushed = 0;
            continue;
        }
        pushed += row.edges;
        TD_CHECK(checkpoint(self, &now));
    }
    gpu->run->converged = true;
    return TD_OK;
}
