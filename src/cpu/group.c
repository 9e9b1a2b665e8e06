/* Searches from many sources at once on the CPU (kernels/cpu/bits.h): an iteration pushes the frontier's words or, if
 * the frontier has more edges than the vertices that some source still lacks, lets those pull. */
#include "cpu/cpu.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <string.h>

/* A push costs two random reads and perhaps an atomic per edge, a pull one read, and it may end early. */
static const double PULL_ABOVE = 0.25; /* frontier's edges over those of vertices that some source lacks */

/* Searches from far apart meet a vertex in different iterations, and its edges are then processed once for each of them,
 * at a higher price. From this iteration on a search may stop if, so far, fewer than two searches shared a vertex on
 * average: graphs whose searches share more have ended by then, or have done most of their work. */
enum { STOPS_FROM = 12, LEAST_SHARED = 2 };

typedef struct search {
    td_cpu_job job;
    td_cpu_bits bits;
    td_group *group;
    const td_cpu_bits_kernels *kernels;
    uint64_t word_bytes;
    bool next_dirty; /* `next` has words of an earlier frontier */
    double found;    /* vertices, counted once for every source that has found them */
} search;

static td_status declare_arrays(search *self, td_cpu_memory *memory)
{
    td_cpu_job *job = &self->job;
    uint64_t n = job->graph->vertices;
    TD_CHECK(td_cpu_declare_zeroed(memory, &self->group->seen, n, self->word_bytes, "sources that reach a vertex"));
    TD_CHECK(td_cpu_declare_zeroed(memory, &self->bits.frontier, n, self->word_bytes, "frontiers"));
    TD_CHECK(td_cpu_declare_zeroed(memory, &self->bits.next, n, self->word_bytes, "frontiers"));
    TD_CHECK(td_cpu_declare(memory, &job->frontier.queue, n, sizeof *job->frontier.queue, "queue of vertices"));
    TD_CHECK(td_cpu_declare(memory, &job->frontier.next_queue, n, sizeof *job->frontier.next_queue,
                            "queue of vertices"));
    return td_cpu_declare_high_degree_list(job, memory);
}

/* Adds planes until they hold this level. */
static td_status make_planes(search *self, uint32_t level)
{
    td_group *group = self->group;
    while (level >> group->plane_count != 0) {
        TD_CHECK(td_new_zeroed_bytes(&group->planes[group->plane_count], self->job.graph->vertices, self->word_bytes,
                                     "levels"));
        group->plane_count++;
    }
    return TD_OK;
}

static uint64_t word_bytes(uint32_t width) { return width / 8; }

static td_status open_search(search *self, td_run *run, const td_run_options *options, td_group *group)
{
    uint64_t began = td_clock_ns();
    td_cpu_job *job = &self->job;
    job->setup.bare = true;
    TD_CHECK(td_cpu_job_open(job, run, options));
    job->bits = &self->bits;
    self->group = group;
    self->kernels = &job->kernels->bits[__builtin_ctz(group->width) - 3];
    self->word_bytes = word_bytes(group->width);
    TD_CHECK(declare_arrays(self, &(td_cpu_memory){0}));
    self->bits.seen = group->seen;
    self->bits.planes = group->planes;
    self->bits.all = UINT64_MAX >> (64 - group->count);
    run->prepare_seconds += td_seconds_since(began);
    return TD_OK;
}

static void close_search(search *self)
{
    td_free(self->bits.frontier);
    td_free(self->bits.next);
    td_cpu_job_close(&self->job);
}

/* The sources reach themselves at level 0; one that is repeated has several bits. */
static void set_bit(void *words, uint32_t width, uint32_t v, uint32_t bit)
{
    ((unsigned char *)words)[(uint64_t)v * width / 8 + bit / 8] |= (unsigned char)(1u << bit % 8);
}

static void start(search *self, td_frontier *now)
{
    td_cpu_job *job = &self->job;
    const td_group *group = self->group;
    _Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "bit i of a word is in its byte i / 8");
    *now = (td_frontier){.listed = true};
    for (uint32_t i = 0; i < group->count; i++) {
        uint32_t v = group->sources[i];
        bool listed = false;
        for (uint32_t j = 0; j < i && !listed; j++) listed = group->sources[j] == v;
        set_bit(group->seen, group->width, v, i);
        set_bit(self->bits.frontier, group->width, v, i);
        if (listed) continue;
        job->frontier.queue[now->vertices++] = v;
        now->edges += td_cpu_push_degree(job, v);
    }
    job->frontier.queue_count = now->vertices;
    self->bits.live = self->bits.all;
    job->unsettled = (td_unsettled){job->graph->vertices, td_cpu_view_edges(job)};
}

static td_status make_listed(search *self, td_frontier *now)
{
    td_cpu_job *job = &self->job;
    uint64_t words = td_cpu_words(job);
    if (now->listed) return TD_OK;
    job->frontier.next_count = 0;
    TD_CHECK(td_cpu_step(job, self->kernels->list, words, TD_WORDS_AT_A_TIME, job->graph->vertices, NULL));
    job->frontier.queue_count = job->frontier.next_count;
    now->listed = true;
    return TD_OK;
}

typedef struct clearing {
    char *words;
} clearing;

static td_status clear_part(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    memset(((clearing *)context)->words + begin, 0, end - begin);
    return TD_OK;
}

static td_status push(search *self, td_frontier *now, td_cpu_tally *sum)
{
    td_cpu_job *job = &self->job;
    td_cpu_tally settled;
    TD_CHECK(make_listed(self, now));
    if (self->next_dirty)
        TD_CHECK(td_pool_for(job->pool, job->graph->vertices * self->word_bytes, 1 << 18, clear_part,
                             &(clearing){self->bits.next}));
    job->frontier.next_count = 0;
    job->high.count = 0;
    TD_CHECK(td_cpu_step(job, self->kernels->push, job->frontier.queue_count, TD_QUEUE_AT_A_TIME,
                         job->frontier.queue_count + now->edges,
                         sum));
    TD_CHECK(td_cpu_high_degree_step(job, self->kernels->push_high_degree, sum));
    uint64_t found = job->frontier.next_count;
    TD_CHECK(td_cpu_step(job, self->kernels->settle, found, TD_QUEUE_AT_A_TIME, found, &settled));
    TD_CHECK(td_cpu_step(job, self->kernels->clear, job->frontier.queue_count, 1024, job->frontier.queue_count, NULL));
    settled.edges = sum->edges;
    *sum = settled;
    uint32_t *queue = job->frontier.queue;
    job->frontier.queue = job->frontier.next_queue;
    job->frontier.next_queue = queue;
    job->frontier.queue_count = found;
    self->next_dirty = false;
    return TD_OK;
}

static td_status pull(search *self, td_cpu_tally *sum)
{
    td_cpu_job *job = &self->job;
    uint64_t words = td_cpu_words(job);
    self->next_dirty = true;
    return td_cpu_step(job, self->kernels->pull, words, TD_WORDS_AT_A_TIME, words + job->unsettled.edges, sum);
}

static bool chooses_push(const search *self, const td_frontier *now)
{
    const td_cpu_job *job = &self->job;
    if (job->setup.direction != TD_DIRECTION_AUTO) return job->setup.direction == TD_DIRECTION_PUSH;
    uint64_t pulled = job->unsettled.edges + job->graph->vertices / 8;
    return (double)(now->edges + now->vertices) <= PULL_ABOVE * (double)pulled;
}

/* One iteration; afterwards *now is the next frontier. */
static td_status iterate(search *self, td_frontier *now, td_row *row)
{
    td_cpu_job *job = &self->job;
    td_cpu_bits *bits = &self->bits;
    td_cpu_tally sum;
    bool pushes = chooses_push(self, now);
    row->direction = pushes ? "push" : "pull";
    bits->level = job->context.iteration + 1;
    bits->found = bits->complete_edges = 0;
    TD_CHECK(make_planes(self, bits->level));
    TD_CHECK(pushes ? push(self, now, &sum) : pull(self, &sum));
    void *frontier = bits->frontier;
    bits->frontier = bits->next;
    bits->next = frontier;
    bits->live = bits->found;
    self->group->words += now->vertices;
    td_unsettled_subtract(&job->unsettled, sum.total, bits->complete_edges);
    *now = (td_frontier){.vertices = sum.activated, .edges = sum.activated_edges, .listed = pushes};
    self->found += sum.share;
    job->run->updates += sum.activated;
    row->edges = sum.edges;
    return TD_OK;
}

static bool shares_little(const search *self)
{
    return self->group->may_stop && self->job.context.iteration >= STOPS_FROM &&
           self->found < LEAST_SHARED * (double)self->group->words;
}

static td_status run_search(search *self)
{
    td_cpu_job *job = &self->job;
    td_frontier now;
    start(self, &now);
    while (now.vertices > 0 && job->context.iteration < job->setup.limit) {
        if (shares_little(self)) {
            self->group->stopped = true;
            return TD_OK;
        }
        uint64_t began = td_clock_ns();
        td_row row = {.active_vertices = now.vertices, .active_edges = now.edges};
        TD_CHECK(iterate(self, &now, &row));
        TD_CHECK(td_cpu_end_iteration(job, &row, began));
    }
    job->run->converged = now.vertices == 0;
    return TD_OK;
}

td_status td_cpu_run_group(td_run *run, const td_run_options *options, td_group *group)
{
    td_status status = TD_OK;
    search self = {0};
    TD_TRY(open_search(&self, run, options, group));
    self.job.progress.began = td_clock_ns();
    TD_TRY(run_search(&self));
    td_run_end_processing(run, self.job.progress.began);
    td_run_count(run, "batch_words", group->words);
    TD_TRY(td_cpu_report_workers(&self.job));
done:
    close_search(&self);
    return status;
}

td_status td_cpu_group_bytes(const td_program *program, const td_graph *graph, const td_run_options *options,
                             uint32_t width, uint64_t *bytes)
{
    td_run run = {.program = program, .graph = graph};
    td_group group = {.width = width};
    td_cpu_memory memory = {.measures = true};
    search self = {.group = &group, .word_bytes = word_bytes(width)};
    TD_CHECK(td_cpu_job_describe(&self.job, &run, options));
    self.job.setup.bare = true;
    TD_CHECK(td_cpu_declare_arrays(&self.job, &memory));
    TD_CHECK(declare_arrays(&self, &memory));
    uint64_t words = (uint64_t)td_group_planes(graph->vertices) * self.word_bytes;
    uint64_t levels = td_group_window(width) * sizeof(uint32_t); /* of the results that are read at a time */
    *bytes = memory.bytes + graph->vertices * (words + levels) + sizeof(td_run) + TD_FIRST_ROWS * TD_ROW_BYTES +
             (td_cpu_view_edges(&self.job) / self.job.high.degree + 1) * sizeof(uint64_t);
    return TD_OK;
}
