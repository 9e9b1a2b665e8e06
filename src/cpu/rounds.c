/* Rounds: every active vertex once per iteration, in the cheapest direction. Garaph's rule (section 4.3) compares pull
 * with notify-pull by the share f of active edges; fused programs can push too; first-hit programs use Beamer's rule
 * (SC'12), because their pulls end early. Peeling is rounds of push, level by level. */
#include "cpu/cpu.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/clock.h"

#include <string.h>

static const double NOTIFY_BELOW = 0.5;     /* Garaph: f <= 1/2 in memory */
static const double PUSH_BELOW = 0.25;      /* an edge costs an atomic in a push, not in a pull */

static void list_words(td_cpu_job *job, int worker)
{
    td_outbox box;
    td_outbox_open(&box, job->frontier.queue, &job->frontier.next_count);
    uint64_t begin, end;
    while (td_share_out_take(&job->share, worker, &begin, &end))
        for (uint64_t w = begin; w < end; w++)
            for (uint64_t rest = job->frontier.active[w]; rest != 0; rest &= rest - 1)
                td_outbox_put(&box, (uint32_t)(w * 64 + (uint64_t)__builtin_ctzll(rest)));
    td_outbox_flush(&box);
}

static void clear_words(td_cpu_job *job, int worker)
{
    uint64_t begin, end;
    while (td_share_out_take(&job->share, worker, &begin, &end))
        memset(job->frontier.active + begin, 0, (end - begin) * 8);
}

static void map_queue(td_cpu_job *job, int worker)
{
    uint64_t begin, end;
    while (td_share_out_take(&job->share, worker, &begin, &end))
        for (uint64_t i = begin; i < end; i++) td_bit_set_atomic(job->frontier.active, job->frontier.queue[i]);
}

static td_status make_listed(td_cpu_job *job, td_frontier *now)
{
    if (now->listed) return TD_OK;
    job->frontier.next_count = 0;
    TD_CHECK(td_cpu_step(job, list_words, td_cpu_words(job), 64, td_cpu_words(job), NULL));
    job->frontier.queue_count = job->frontier.next_count;
    now->listed = true;
    return TD_OK;
}

td_status td_cpu_make_mapped(td_cpu_job *job, td_frontier *now)
{
    if (now->mapped) return TD_OK;
    TD_CHECK(td_cpu_step(job, clear_words, td_cpu_words(job), 1024, td_cpu_words(job), NULL));
    TD_CHECK(td_cpu_step(job, map_queue, job->frontier.queue_count, 1024, job->frontier.queue_count, NULL));
    now->mapped = true;
    return TD_OK;
}

static void swap(void *a, void *b)
{
    void *keep;
    memcpy(&keep, a, sizeof keep);
    memcpy(a, b, sizeof keep);
    memcpy(b, &keep, sizeof keep);
}

/* Direction. */

static td_direction choose_hit(const td_cpu_job *job, const td_frontier *now)
{
    return now->edges < td_hit_bound(&job->unsettled, td_cpu_words(job)) ? TD_DIRECTION_PUSH : TD_DIRECTION_PULL;
}

td_direction td_cpu_choose(const td_cpu_job *job, const td_frontier *now)
{
    bool all = !job->kernels->fused && (job->context.iteration == 0 || job->global_moved);
    if (all) return TD_DIRECTION_PULL; /* vertices that are not notified must apply too */
    if (job->setup.direction != TD_DIRECTION_AUTO) return job->setup.direction;
    if (job->setup.first_hit) return choose_hit(job, now);
    double f = (double)now->edges / (double)(td_cpu_view_edges(job) + 1);
    if (job->kernels->fused) return f <= PUSH_BELOW ? TD_DIRECTION_PUSH : TD_DIRECTION_PULL;
    return job->setup.track && f <= NOTIFY_BELOW ? TD_DIRECTION_NOTIFY : TD_DIRECTION_PULL;
}

/* One iteration in each direction. */

static td_status pull_all(td_cpu_job *job, td_cpu_tally *sum)
{
    if (job->setup.track) memset(job->frontier.next_active, 0, td_cpu_words(job) * 8);
    TD_CHECK(td_cpu_step(job, job->kernels->pull, job->cut.pieces, 1, td_cpu_view_edges(job), NULL));
    job->kernels->merge(job);
    *sum = td_cpu_sum(job);
    if (job->next_values != job->values) swap(&job->values, &job->next_values);
    if (job->snapshot != NULL) return TD_OK;
    if (job->kernels->sends_value) {
        job->messages = job->values;
        job->next_messages = job->next_values;
    } else {
        swap(&job->messages, &job->next_messages);
    }
    return TD_OK;
}

static td_status pull_unsettled(td_cpu_job *job, td_cpu_tally *sum)
{
    if (job->frontier.done_stale)
        TD_CHECK(td_cpu_step(job, job->kernels->settle_words, td_cpu_words(job), 64, job->graph->vertices, NULL));
    job->frontier.done_stale = false;
    uint64_t w = 0;
    while (job->frontier.active[w] == 0) w++;
    job->frontier.an_active = (uint32_t)(w * 64 + (uint64_t)__builtin_ctzll(job->frontier.active[w]));
    uint64_t words = td_cpu_words(job);
    return td_cpu_step(job, job->kernels->pull_hit, words, TD_WORDS_AT_A_TIME, words + job->unsettled.edges, sum);
}

/* Vertices that an iteration applied; of programs that push values those that it changed. */
static uint64_t updates_of(const td_cpu_job *job, td_direction direction, const td_cpu_tally *sum)
{
    if (job->kernels->fused) return sum->activated;
    if (direction == TD_DIRECTION_NOTIFY) return td_bitmap_count(job->frontier.marked, td_cpu_words(job));
    return job->graph->vertices;
}

static td_status notify_pull(td_cpu_job *job, uint64_t edges, td_cpu_tally *sum)
{
    td_cpu_tally notified;
    uint64_t words = td_cpu_words(job);
    TD_CHECK(td_cpu_declare_marked(job, &(td_cpu_memory){0}));
    memset(job->frontier.marked, 0, words * 8);
    memset(job->frontier.next_active, 0, words * 8);
    TD_CHECK(td_cpu_step(job, job->kernels->notify, words, TD_WORDS_AT_A_TIME, words + edges, &notified));
    TD_CHECK(td_cpu_step(job, job->kernels->pull_marked, words, TD_WORDS_AT_A_TIME, words + edges, sum));
    sum->edges += notified.edges;
    if (job->next_values == job->values && job->next_messages == job->messages) return TD_OK;
    return td_cpu_step(job, job->kernels->commit_marked, words, 64, words, NULL);
}

static td_status push_queue(td_cpu_job *job, uint64_t edges, td_cpu_tally *sum)
{
    job->frontier.next_count = 0;
    job->high.count = 0;
    if (job->frontier.next_dirty && !job->setup.first_hit) memset(job->frontier.next_active, 0, td_cpu_words(job) * 8);
    /* Small enough that workers end at about the same time. */
    uint64_t fair = job->frontier.queue_count / ((uint64_t)job->workers * 16) + 4;
    uint32_t grain = fair < TD_QUEUE_AT_A_TIME ? (uint32_t)fair : TD_QUEUE_AT_A_TIME;
    TD_CHECK(td_cpu_step(job, job->kernels->push, job->frontier.queue_count, grain, job->frontier.queue_count + edges,
                         sum));
    TD_CHECK(td_cpu_high_degree_step(job, job->kernels->push_high_degree, sum));
    job->frontier.done_stale = true;
    sum->activated = job->frontier.next_count;
    return TD_OK;
}

static void copy_values(td_cpu_job *job, int worker)
{
    uint64_t begin, end, bytes = job->kernels->value_bytes;
    while (td_share_out_take(&job->share, worker, &begin, &end))
        memcpy((char *)job->snapshot + begin * bytes, (const char *)job->values + begin * bytes, (end - begin) * bytes);
}

td_status td_cpu_keep_values(td_cpu_job *job)
{
    if (job->snapshot == NULL) return TD_OK;
    return td_cpu_step(job, copy_values, job->graph->vertices, 1 << 14, job->graph->vertices, NULL);
}

/* One iteration in the chosen direction; afterwards *now is the next frontier. */
td_status td_cpu_iterate(td_cpu_job *job, td_direction direction, td_frontier *now, td_cpu_tally *sum)
{
    bool pushing = direction == TD_DIRECTION_PUSH;
    TD_CHECK(td_cpu_keep_values(job));
    if (pushing) TD_CHECK(make_listed(job, now));
    else if (job->frontier.active != NULL) TD_CHECK(td_cpu_make_mapped(job, now));
    if (pushing) TD_CHECK(push_queue(job, now->edges, sum));
    else if (direction == TD_DIRECTION_NOTIFY) TD_CHECK(notify_pull(job, now->edges, sum));
    else if (job->setup.first_hit) TD_CHECK(pull_unsettled(job, sum));
    else TD_CHECK(pull_all(job, sum));
    *now = (td_frontier){sum->activated, sum->activated_edges, pushing, !pushing || !job->setup.first_hit};
    if (pushing) {
        swap(&job->frontier.queue, &job->frontier.next_queue);
        job->frontier.queue_count = job->frontier.next_count;
    }
    if (now->mapped) swap(&job->frontier.active, &job->frontier.next_active);
    job->frontier.next_dirty = !pushing;
    return TD_OK;
}

const char *td_cpu_direction_name(td_direction direction)
{
    static const char *const names[] = {"auto", "pull", "notify", "push"};
    return names[direction];
}

td_status td_cpu_check_convergence(td_cpu_job *job, const td_cpu_tally *sum)
{
    return td_run_check_convergence(job->run, job->kernels->measure, job->context.iteration, sum->change, sum->share);
}

td_status td_cpu_start(td_cpu_job *job, td_frontier *now)
{
    td_cpu_tally sum;
    job->setup.track = job->kernels->fused || job->setup.direction == TD_DIRECTION_NOTIFY ||
                 (job->setup.direction == TD_DIRECTION_AUTO && job->kernels->measure == TD_MEASURE_MAX);
    if (job->kernels->fused) TD_CHECK(td_cpu_make_high_degree_list(job));
    TD_CHECK(td_cpu_init(job, &sum));
    if (job->setup.defer_sinks && job->next_values != job->values) /* deferred sinks have their initial values in both
                                                              * arrays */
        memcpy(job->next_values, job->values, job->graph->vertices * job->kernels->value_bytes);
    if (job->setup.defer_sinks && job->next_messages != job->messages && !job->kernels->sends_value)
        memcpy(job->next_messages, job->messages, job->graph->vertices * job->kernels->message_bytes);
    job->global_moved = job->setup.resumed; /* unknown after a checkpoint */
    job->unsettled.edges = job->setup.resumed && job->setup.first_hit
        ? sum.edges + sum.activated_edges : td_cpu_view_edges(job);
    job->unsettled.vertices = sum.total + sum.activated;
    *now = (td_frontier){sum.activated, sum.activated_edges, false, true};
    return TD_OK;
}

/* Writes a checkpoint if one is due. */
static td_status checkpoint(td_cpu_job *job, td_frontier *now)
{
    td_state *state = td_checkpoint_due(job->run, &job->context);
    if (state == NULL) return TD_OK;
    if (job->setup.track) TD_CHECK(td_cpu_make_mapped(job, now));
    return td_cpu_save(job, state, job->setup.track ? job->frontier.active : NULL);
}

td_status td_cpu_rounds(td_cpu_job *job)
{
    td_frontier now;
    bool deferred = job->setup.defer_sinks;
    TD_CHECK(td_cpu_start(job, &now));
    while (job->context.iteration < job->setup.limit) {
        if (job->setup.track && now.vertices == 0) {
            job->run->converged = true;
            break;
        }
        uint64_t began = td_clock_ns();
        td_cpu_tally sum;
        td_unsettled_subtract(&job->unsettled, now.vertices, now.edges);
        td_direction direction = td_cpu_choose(job, &now);
        td_row row = {.direction = td_cpu_direction_name(direction), .active_vertices = now.vertices,
                            .active_edges = now.edges};
        job->part.partial = direction == TD_DIRECTION_NOTIFY;
        TD_CHECK(td_cpu_iterate(job, direction, &now, &sum));
        job->run->updates += updates_of(job, direction, &sum);
        TD_CHECK(td_cpu_check_convergence(job, &sum));
        if (job->part.partial) sum.share += job->context.global;
        job->global_moved = sum.share != job->context.global;
        job->context.global = sum.share;
        row.edges = sum.edges;
        row.change = sum.change;
        TD_CHECK(td_cpu_end_iteration(job, &row, began));
        TD_CHECK(checkpoint(job, &now));
        if (job->run->converged) break;
    }
    if (job->setup.track && now.vertices == 0) job->run->converged = true;
    return deferred ? td_cpu_finish_sinks(job) : TD_OK;
}

/* Peeling. */

static td_status next_level(td_cpu_job *job, td_frontier *now, uint64_t *lowest)
{
    td_cpu_tally sum;
    job->frontier.next_count = 0;
    job->peel.next_left_count = 0;
    TD_CHECK(td_cpu_step(job, job->kernels->peel, job->peel.left_count, 1024, job->peel.left_count, &sum));
    swap(&job->peel.left, &job->peel.next_left);
    swap(&job->frontier.queue, &job->frontier.next_queue);
    job->peel.left_count = job->peel.next_left_count;
    job->frontier.queue_count = job->frontier.next_count;
    *now = (td_frontier){job->frontier.queue_count, sum.activated_edges, true, false};
    *lowest = sum.lowest;
    return TD_OK;
}

static td_status empty_level(td_cpu_job *job, td_frontier *now)
{
    while (now->vertices > 0 && job->context.iteration < job->setup.limit) {
        uint64_t began = td_clock_ns();
        td_cpu_tally sum;
        td_direction direction = td_cpu_choose(job, now);
        td_row row = {.direction = td_cpu_direction_name(direction), .active_vertices = now->vertices,
                            .active_edges = now->edges};
        TD_CHECK(td_cpu_iterate(job, direction, now, &sum));
        job->run->updates += updates_of(job, direction, &sum);
        row.edges = sum.edges;
        TD_CHECK(td_cpu_end_iteration(job, &row, began));
        TD_CHECK(checkpoint(job, now));
    }
    return TD_OK;
}

td_status td_cpu_peel(td_cpu_job *job)
{
    td_frontier now;
    uint64_t lowest = 0;
    TD_CHECK(td_cpu_start(job, &now));
    bool within = job->setup.resumed; /* resumed within a level: `now` is its frontier */
    job->frontier.next_dirty = true;
    if (!within) memset(job->frontier.active, 0, td_cpu_words(job) * 8);
    TD_CHECK(td_cpu_declare_left(job, &(td_cpu_memory){0}));
    job->peel.left_count = job->graph->vertices;
    for (uint32_t v = 0; v < job->graph->vertices; v++) job->peel.left[v] = v;
    while (job->peel.left_count > 0) {
        if (!within) TD_CHECK(next_level(job, &now, &lowest));
        bool anyone = within || now.vertices > 0;
        within = false;
        TD_CHECK(empty_level(job, &now));
        if (job->context.iteration >= job->setup.limit) return TD_OK;
        job->context.phase = anyone ? job->context.phase + 1 : (uint32_t)lowest;
    }
    job->run->converged = true;
    return TD_OK;
}
