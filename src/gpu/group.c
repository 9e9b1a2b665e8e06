/* Searches from many sources at once: an iteration is a push and a launch that settles its vertices, or a pull, as the
 * frontier's edges are fewer or more than those of vertices that some source still lacks. The host reads the counters
 * after every iteration. */
#include "gpu/group.h"

#include "base/alloc.h"
#include "base/clock.h"

/* A push costs two reads and perhaps an atomic per edge, a pull one read, and it may end early. */
static const double PULL_ABOVE = 0.5; /* frontier's edges over those of vertices that some source lacks */

typedef struct search {
    td_gpu_job *job;
    td_group *group;
    td_bits_args args;
    td_gpu_bits_tally *tally; /* of the last iteration, at the host */
    bool next_dirty;          /* `next` has words of an earlier frontier */
    const td_kernel *start, *push, *pieces, *settle, *pull, *list;
} search;

#define LAUNCH(self, kernel, threads) \
    td_gpu_launch_bytes((self)->job, (self)->job->stream, kernel, threads, &(self)->args, sizeof (self)->args)

static uint64_t word_bytes(const td_group *group) { return group->width / 8; }
static uint64_t array_bytes(const search *self) { return self->job->graph->vertices * word_bytes(self->group); }

/* Declares the arrays besides the planes. */
static td_status declare_arrays(search *self)
{
    td_gpu_job *job = self->job;
    td_bits_args *args = &self->args;
    uint64_t n = job->graph->vertices, bytes = word_bytes(self->group);
    TD_CHECK(td_gpu_new(job, &args->tally, 1, sizeof(td_gpu_bits_tally), "counters"));
    TD_CHECK(td_gpu_new(job, &args->seen, n, bytes, "sources that reach a vertex"));
    TD_CHECK(td_gpu_new(job, &args->frontier, n, bytes, "frontiers"));
    TD_CHECK(td_gpu_new(job, &args->next, n, bytes, "frontiers"));
    TD_CHECK(td_gpu_new(job, &args->queue, n, sizeof(uint32_t), "queue of vertices"));
    TD_CHECK(td_gpu_new(job, &args->next_queue, n, sizeof(uint32_t), "queue of vertices"));
    TD_CHECK(td_gpu_new(job, &args->starts, TD_GROUP_MOST, sizeof(uint64_t), "first words"));
    return td_gpu_new(job, &args->pieces, td_gpu_piece_count(job), sizeof(uint64_t), "pieces of high-degree vertices");
}

static td_status make_planes(search *self, uint32_t level)
{
    td_group *group = self->group;
    while (level >> group->plane_count != 0) {
        int k = group->plane_count;
        TD_CHECK(td_gpu_new(self->job, &self->args.planes[k], self->job->graph->vertices, word_bytes(group), "levels"));
        TD_CHECK(td_stream_fill(self->job->stream, self->args.planes[k], 0, array_bytes(self)));
        group->planes[k] = NULL; /* the host's */
        group->plane_count++;
    }
    return TD_OK;
}

static void choose_kernels(search *self)
{
    const td_gpu_kernels *k = self->job->kernels;
    bool wide = self->group->width == 64;
    self->start = wide ? &k->bits_start_64.kernel : &k->bits_start_32.kernel;
    self->push = wide ? &k->bits_push_64.kernel : &k->bits_push_32.kernel;
    self->pieces = wide ? &k->bits_push_pieces_64.kernel : &k->bits_push_pieces_32.kernel;
    self->settle = wide ? &k->bits_settle_64.kernel : &k->bits_settle_32.kernel;
    self->pull = wide ? &k->bits_pull_64.kernel : &k->bits_pull_32.kernel;
    self->list = wide ? &k->bits_list_64.kernel : &k->bits_list_32.kernel;
}

static td_status clear_tally(search *self)
{
    return td_stream_fill(self->job->stream, self->args.tally, 0, sizeof *self->tally);
}

static td_status read_tally(search *self)
{
    td_stream *stream = self->job->stream;
    TD_CHECK(td_stream_copy(stream, self->tally, self->args.tally, sizeof *self->tally, TD_TO_HOST));
    return td_stream_synchronize(stream);
}

/* The frontier's words and queue: the sources, each at level 0. A source that is repeated has several bits. */
static td_status start(search *self, td_frontier *now)
{
    td_gpu_job *job = self->job;
    const td_group *group = self->group;
    uint32_t queue[TD_GROUP_MOST];
    uint64_t words[TD_GROUP_MOST] = {0};
    *now = (td_frontier){.listed = true};
    for (uint32_t i = 0; i < group->count; i++) {
        uint32_t at = 0, v = group->sources[i];
        while (at < now->vertices && queue[at] != v) at++;
        words[at] |= UINT64_C(1) << i;
        if (at < now->vertices) continue;
        queue[now->vertices++] = v;
        now->edges += td_degree(&job->graph->out, v);
    }
    TD_CHECK(td_stream_fill(job->stream, self->args.seen, 0, array_bytes(self)));
    TD_CHECK(td_stream_fill(job->stream, self->args.frontier, 0, array_bytes(self)));
    TD_CHECK(td_stream_fill(job->stream, self->args.next, 0, array_bytes(self)));
    TD_CHECK(td_stream_copy(job->stream, self->args.queue, queue, now->vertices * sizeof *queue, TD_TO_DEVICE));
    TD_CHECK(td_stream_copy(job->stream, self->args.starts, words, now->vertices * sizeof *words, TD_TO_DEVICE));
    self->args.count = (uint32_t)now->vertices;
    TD_CHECK(LAUNCH(self, self->start, now->vertices));
    self->args.all = self->args.live = UINT64_MAX >> (64 - group->count);
    job->unsettled = (td_unsettled){job->graph->vertices, td_gpu_view_edges(job)};
    return td_stream_synchronize(job->stream);
}

static td_status make_listed(search *self, td_frontier *now)
{
    if (now->listed) return TD_OK;
    TD_CHECK(clear_tally(self));
    now->listed = true;
    return LAUNCH(self, self->list, self->args.vertices);
}

static td_status push(search *self, td_frontier *now)
{
    td_gpu_job *job = self->job;
    TD_CHECK(make_listed(self, now));
    if (self->next_dirty) TD_CHECK(td_stream_fill(job->stream, self->args.next, 0, array_bytes(self)));
    TD_CHECK(clear_tally(self));
    self->args.list = job->push_list;
    self->args.count = (uint32_t)now->vertices;
    TD_CHECK(LAUNCH(self, self->push, now->vertices));
    uint64_t blocks = now->edges / TD_GPU_PIECE + 1;
    if (job->has_high_degree)
        TD_CHECK(td_gpu_launch_blocks_bytes(job, job->stream, self->pieces, blocks, 0, &self->args, sizeof self->args));
    TD_CHECK(LAUNCH(self, self->settle, now->edges < self->args.vertices ? now->edges + 1 : self->args.vertices));
    TD_CHECK(read_tally(self));
    td_gpu_swap(&self->args.queue, &self->args.next_queue);
    self->next_dirty = false;
    return TD_OK;
}

static td_status pull(search *self)
{
    TD_CHECK(clear_tally(self));
    self->args.list = self->job->pull_list;
    self->next_dirty = true;
    TD_CHECK(LAUNCH(self, self->pull, self->args.vertices));
    return read_tally(self);
}

static bool chooses_push(const search *self, const td_frontier *now)
{
    const td_gpu_job *job = self->job;
    if (job->direction != TD_DIRECTION_AUTO) return job->direction == TD_DIRECTION_PUSH;
    uint64_t pulled = job->unsettled.edges + job->graph->vertices / 8;
    return (double)(now->edges + now->vertices) <= PULL_ABOVE * (double)pulled;
}

static td_status iterate(search *self, td_frontier *now, td_row *row)
{
    td_gpu_job *job = self->job;
    bool pushes = chooses_push(self, now);
    row->direction = pushes ? "push" : "pull";
    self->args.level = job->state.context.iteration + 1;
    TD_CHECK(make_planes(self, self->args.level));
    TD_CHECK(pushes ? push(self, now) : pull(self));
    const td_gpu_bits_tally *tally = self->tally;
    td_gpu_swap(&self->args.frontier, &self->args.next);
    self->args.live = tally->found;
    self->group->words += now->vertices;
    td_unsettled_subtract(&job->unsettled, tally->complete, tally->complete_edges);
    *now = (td_frontier){.vertices = tally->activated, .edges = tally->activated_edges, .listed = pushes};
    job->run->updates += tally->activated;
    row->edges = tally->edges;
    return TD_OK;
}

static td_status run_search(search *self)
{
    td_gpu_job *job = self->job;
    td_frontier now;
    TD_CHECK(start(self, &now));
    while (now.vertices > 0 && job->state.context.iteration < job->limit) {
        uint64_t began = td_clock_ns();
        td_row row = {.active_vertices = now.vertices, .active_edges = now.edges};
        TD_CHECK(iterate(self, &now, &row));
        TD_CHECK(td_gpu_end_iteration(job, &row, began, td_seconds_since(began)));
    }
    job->run->converged = now.vertices == 0;
    return TD_OK;
}

td_status td_gpu_run_group(td_gpu_job *job, td_group *group)
{
    td_gpu_bits_tally tally;
    search self = {.job = job, .group = group, .tally = &tally};
    self.args.vertices = job->graph->vertices;
    self.args.high_degree = job->high_degree;
    self.args.push_offsets = job->state.push_offsets;
    self.args.pull_offsets = job->pull != NULL ? job->pull_list.offsets : NULL;
    choose_kernels(&self);
    TD_CHECK(declare_arrays(&self));
    td_status status = run_search(&self);
    job->found = (td_gpu_found){.seen = self.args.seen};
    for (int k = 0; k < group->plane_count; k++) job->found.planes[k] = self.args.planes[k];
    return status;
}

static td_status copy_words(td_gpu_job *job, const td_group *group, void **to, const void *from)
{
    TD_CHECK(td_new_bytes(to, job->graph->vertices, word_bytes(group), "levels"));
    return td_stream_copy(job->stream, *to, from, job->graph->vertices * word_bytes(group), TD_TO_HOST);
}

td_status td_gpu_copy_group(td_gpu_job *job, td_group *group)
{
    TD_CHECK(copy_words(job, group, &group->seen, job->found.seen));
    for (int k = 0; k < group->plane_count; k++)
        TD_CHECK(copy_words(job, group, &group->planes[k], job->found.planes[k]));
    return td_stream_synchronize(job->stream);
}

td_status td_gpu_group_bytes(const td_program *program, const td_graph *graph, const td_run_options *options,
                             const td_gpu_choice *choice, uint32_t width, td_gpu_bytes *out)
{
    td_gpu_graph layout = {0};
    td_gpu_job job;
    td_run run;
    td_group group = {.width = width};
    search self = {.job = &job, .group = &group};
    uint64_t words = td_group_planes(graph->vertices) + UINT64_C(1); /* and `seen`, at the host */
    TD_CHECK(td_gpu_job_measure(&job, &run, program, graph, options));
    td_gpu_measure_on(&job.memory, choice->device);
    job.layout = &layout;
    job.direction = choice->direction;
    job.high_degree = (uint32_t)choice->high_degree;
    td_gpu_choose_lists(&job);
    TD_CHECK(td_gpu_load(&job));
    TD_CHECK(declare_arrays(&self));
    for (int k = 0; k < td_group_planes(graph->vertices); k++)
        TD_CHECK(td_gpu_new(&job, &self.args.planes[k], graph->vertices, width / 8, "levels"));
    td_host_hold(&job.memory.host, graph->vertices * words * (width / 8));
    td_host_hold(&job.memory.host, graph->vertices * td_group_window(width) * sizeof(uint32_t));
    const td_gpu_memory *memory = &job.memory;
    *out = (td_gpu_bytes){.graph = memory->bytes[TD_FOR_EDGES] + memory->bytes[TD_FOR_LISTS],
                          .edges = memory->bytes[TD_FOR_EDGES], .program = memory->bytes[TD_FOR_PROGRAM],
                          .host = memory->host.peak, .list_edges = td_gpu_view_edges(&job),
                          .edge_bytes = sizeof(uint32_t)};
    return TD_OK;
}
