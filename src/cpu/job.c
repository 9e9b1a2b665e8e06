/* A program's arrays on the CPU, and steps divided among the workers. */
#include "cpu/cpu.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "kernels/cpu/buckets.h"
#include "run/parents.h"
#include "run/sinks.h"
#include "run/sweep.h"

#include <string.h>

enum { PIECES_PER_WORKER = 8, SMALLEST_PIECE = 4096 }; /* pieces of a pulled page; minimum edges of a piece */
enum {
    SET_DIRECTION, SET_STEALING, SET_HIGH_DEGREE, SET_PIECE, SET_SERIAL, SET_DELTA, SET_SINKS, SET_SAMPLES,
    SET_HUGE_PAGES, SET_BATCH, SET_SURVIVORS, SET_LISTS,
    SETTINGS,
};

const td_setting td_cpu_settings[] = {
    [SET_DIRECTION] = {"direction", TD_SETTING_CHOICE, 0, 0, 0, "auto|pull|notify|push",
                       "push, pull or notify-pull (active vertices mark their neighbours, which then pull); auto "
                       "chooses for every iteration"},
    [SET_STEALING] = {"stealing", TD_SETTING_CHOICE, TD_STEAL_EDGE, 0, 0, "none|donate|vertex|edge",
                      "work stealing. none: equal shares; donate: busy workers give work away; vertex: idle workers "
                      "steal vertices; edge: and pieces of long lists"},
    [SET_HIGH_DEGREE] = {"high_degree", TD_SETTING_WHOLE, 16384, 1, 4e9, NULL,
                         "minimum degree at which a list is divided among the workers (stealing=edge)"},
    [SET_PIECE] = {"piece", TD_SETTING_WHOLE, 32768, 1, 1e9, NULL, "edges in a piece of a pull"},
    [SET_SERIAL] = {"serial", TD_SETTING_WHOLE, 1024, 0, 4e9, NULL,
                    "a step with fewer edges than this runs on one worker, because waking the others takes longer"},
    [SET_DELTA] = {"delta", TD_SETTING_NUMBER, 0, 0, 1e30, NULL,
                   "sssp: width of a bucket of delta-stepping; 0: from the weights"},
    [SET_SINKS] = {"sinks", TD_SETTING_CHOICE, 0, 0, 0, "now|defer",
                   "vertices without out-edges: computed in every iteration, or once at the end"},
    [SET_SAMPLES] = {"samples", TD_SETTING_WHOLE, 2, 0, 64, NULL,
                     "wcc: edges of every vertex that are sampled to find the largest component, which later sweeps "
                     "skip (Afforest); 0: no sample"},
    [SET_HUGE_PAGES] = {"huge_pages", TD_SETTING_CHOICE, 0, 0, 0, "on|off", "large arrays in huge pages"},
    [SET_BATCH] = {"batch", TD_SETTING_CHOICE, TD_BATCH_AUTO, 0, 0, "single|auto|bits",
                   "bfs from many sources ({sources}). single: one after another; bits: up to 64 at once, a bit each; "
                   "auto: bits, until a search shows that its sources share too little"},
    [SET_SURVIVORS] = {"survivors", TD_SETTING_CHOICE, 0, 0, 0, "on|off",
                       "mst: light edges are swept first, and later sweeps visit only edges that still join two "
                       "components (Filter-Kruskal)"},
    [SET_LISTS] = {"lists", TD_SETTING_CHOICE, TD_CPU_LISTS_AUTO, 0, 0, "auto|mapped|copied",
                   "bfs, wcc on a .tg. copied: lists are read into memory, with their checksums; mapped: they stay in "
                   "the file, where every target is checked as it is read; auto: by cost, mapped only if the file is "
                   "in the page cache"},
    [SETTINGS] = {0},
};

/* Steps. */

typedef struct step {
    td_cpu_job *job;
    td_cpu_kernel kernel;
} step;

static td_status run_kernel(void *context, int worker, int workers)
{
    (void)workers;
    step *self = context;
    self->job->tallies[worker] = (td_cpu_tally){.lowest = UINT64_MAX};
    self->kernel(self->job, worker);
    td_share_out_end(&self->job->share, worker);
    return TD_OK;
}

td_cpu_tally td_cpu_sum(const td_cpu_job *job)
{
    td_cpu_tally sum = {.lowest = UINT64_MAX};
    for (int w = 0; w < job->counting; w++) {
        const td_cpu_tally *one = &job->tallies[w];
        sum.edges += one->edges;
        sum.activated += one->activated;
        sum.activated_edges += one->activated_edges;
        sum.total += one->total;
        sum.share += one->share;
        if (job->kernels->measure == TD_MEASURE_MAX) sum.change = td_larger_change(sum.change, one->change);
        else sum.change += one->change;
        if (one->lowest < sum.lowest) sum.lowest = one->lowest;
    }
    return sum;
}

td_status td_cpu_step(td_cpu_job *job, td_cpu_kernel kernel, uint64_t units, uint32_t grain, uint64_t work,
                      td_cpu_tally *sum)
{
    job->counting = work < job->serial ? 1 : job->workers;
    job->share.first = job->first_unit;
    if (job->counting == 1) {
        job->tallies[0] = (td_cpu_tally){.lowest = UINT64_MAX};
        td_share_out_deal_one(&job->share, units);
        kernel(job, 0);
    } else {
        td_share_out_deal(&job->share, units, grain);
        TD_CHECK(td_pool_run(job->pool, run_kernel, &(step){job, kernel}));
        td_share_out_close(&job->share);
    }
    if (sum != NULL) *sum = td_cpu_sum(job);
    return td_cpu_check_wild(job);
}

td_status td_cpu_report_workers(const td_cpu_job *job)
{
    td_run *run = job->run;
    if (run->workers == NULL) TD_CHECK(TD_NEW_ZEROED(&run->workers, (uint64_t)job->workers, "counters of workers"));
    run->worker_count = job->workers;
    for (int w = 0; w < job->workers; w++) {
        run->workers[w].steals += job->share.runs[w].steals;
        run->workers[w].gifts += job->share.runs[w].gifts;
        run->workers[w].pieces += job->share.runs[w].pieces;
        run->workers[w].idle_seconds += (double)job->share.runs[w].idle * 1e-9;
    }
    return TD_OK;
}

/* Arrays. */

static uint64_t most_high_degree(const td_cpu_job *job) { return td_cpu_view_edges(job) / job->high_degree + 1; }

td_status td_cpu_declare_high_degree_list(td_cpu_job *job, td_cpu_memory *memory)
{
    return td_cpu_declare(memory, &job->high_degree_list, most_high_degree(job), sizeof *job->high_degree_list,
                          "high-degree vertices");
}

td_status td_cpu_make_high_degree_list(td_cpu_job *job)
{
    return td_cpu_declare_high_degree_list(job, &(td_cpu_memory){0});
}

td_status td_cpu_declare_left(td_cpu_job *job, td_cpu_memory *memory)
{
    uint64_t n = job->graph->vertices;
    TD_CHECK(td_cpu_declare(memory, &job->left, n, sizeof *job->left, "remaining vertices"));
    return td_cpu_declare(memory, &job->next_left, n, sizeof *job->next_left, "remaining vertices");
}

td_status td_cpu_declare_forest(td_cpu_job *job, td_cpu_memory *memory)
{
    if (job->kernels->edge == NULL) return TD_OK;
    return td_cpu_declare(memory, &job->run->edges, job->graph->vertices, sizeof *job->run->edges,
                          "edges of the forest");
}

td_status td_cpu_declare_marked(td_cpu_job *job, td_cpu_memory *memory)
{
    if (job->marked != NULL) return TD_OK;
    return td_cpu_declare(memory, &job->marked, td_cpu_words(job), sizeof *job->marked, "notified vertices");
}

td_status td_cpu_declare_parents(td_cpu_job *job, td_cpu_memory *memory)
{
    return td_cpu_declare(memory, &job->run->parents, job->graph->vertices, sizeof *job->run->parents, "parents");
}

td_status td_cpu_high_degree_step(td_cpu_job *job, td_cpu_kernel kernel, td_cpu_tally *sum)
{
    td_cpu_tally more;
    uint64_t count = job->high_degree_count, edges = 0;
    if (count == 0) return TD_OK;
    TD_CHECK(TD_RESIZE(&job->high_degree_start, count + 1, "high-degree vertices"));
    for (uint64_t i = 0; i < count; i++) {
        job->high_degree_start[i] = edges;
        edges += td_cpu_push_degree(job, job->high_degree_list[i]);
    }
    job->high_degree_start[count] = edges;
    job->share.counts_pieces = true;
    td_status status = td_cpu_step(job, kernel, td_high_degree_pieces(edges), 1, edges, &more);
    job->share.counts_pieces = false;
    TD_CHECK(status);
    sum->edges += more.edges;
    sum->activated_edges += more.activated_edges;
    return TD_OK;
}

td_status td_cpu_end_iteration(td_cpu_job *job, td_row *row, uint64_t began)
{
    row->number = job->context.iteration++;
    row->start = (double)(began - job->run_began) * 1e-9;
    row->seconds = td_seconds_since(began);
    job->run->iterations = job->context.iteration;
    job->run->edges_processed += row->edges;
    job->run->final_change = row->change;
    TD_CHECK(td_run_add_row(job->run, job->options, row));
    return td_cancel_check();
}

/* The state of the program: from a checkpoint, to one. */

static void restore(td_cpu_job *job, td_state *from)
{
    uint64_t words = td_cpu_words(job);
    job->resumed = true;
    job->context.iteration = from->iteration;
    job->context.phase = from->phase;
    memcpy(job->values, from->values, job->graph->vertices * job->kernels->value_bytes);
    if (job->active != NULL && from->has_active) memcpy(job->active, from->active, words * sizeof *job->active);
    else if (job->active != NULL) memset(job->active, 0xff, words * sizeof *job->active);
    if (job->run->edges == NULL) return;
    job->run->edge_count = from->edge_count;
    memcpy(job->run->edges, from->edges, from->edge_count * sizeof *from->edges);
}

td_status td_cpu_init(td_cpu_job *job, td_cpu_tally *sum)
{
    td_state *from = job->run->resumed;
    if (from != NULL) restore(job, from);
    TD_CHECK(td_cpu_step(job, job->kernels->init, td_cpu_words(job), TD_WORDS_AT_A_TIME * 8, job->graph->vertices,
                         sum));
    job->context.global = from != NULL ? from->global : sum->share;
    if (from != NULL) td_state_clear(from);
    return td_checkpoints_begin(job->run);
}

td_status td_cpu_save(td_cpu_job *job, td_state *state, const uint64_t *active)
{
    const td_run *run = job->run;
    uint64_t value_bytes = job->graph->vertices * job->kernels->value_bytes;
    TD_CHECK(td_state_fill(state, TD_STATE_VALUES, job->values, value_bytes, job->pool));
    state->has_active = active != NULL;
    state->by_levels = job->first_hit;
    if (active != NULL && active != state->active)
        TD_CHECK(td_state_fill(state, TD_STATE_ACTIVE, active, td_cpu_words(job) * sizeof *active, job->pool));
    state->edge_count = run->edge_count;
    TD_CHECK(td_state_fill(state, TD_STATE_EDGES, run->edges, run->edge_count * sizeof *run->edges, job->pool));
    return td_checkpoint_save(job->run, state);
}

/* Setting up. */

static void choose_lists(td_cpu_job *job)
{
    const td_graph *graph = job->graph;
    uint64_t n = graph->vertices;
    if (job->lists > 0) { /* set by the engine */
        job->view_edges = job->pull[0].offsets[n] + (job->lists == 2 ? job->pull[1].offsets[n] : 0);
        return;
    }
    int forward = job->run->program->info->forward_choice;
    bool both = job->kernels->view == TD_VIEW_BOTH && !(forward > 0 && job->context.parameter[forward - 1] == 1);
    job->lists = both && !graph->symmetric && !job->kernels->once ? 2 : 1;
    job->pull[0] = graph->in;
    job->push[0] = job->pull[1] = graph->out;
    job->push[1] = graph->in;
    job->view_edges = graph->edges * (uint64_t)job->lists;
}

static td_status declare_values(td_cpu_job *job, td_cpu_memory *memory)
{
    const td_cpu_kernels *k = job->kernels;
    uint64_t n = job->graph->vertices;
    TD_CHECK(td_cpu_declare(memory, &job->values, n, k->value_bytes, "vertex values"));
    job->next_values = job->messages = job->next_messages = job->values;
    if (job->run->program->info->kind != TD_KIND_GAS) return TD_OK;
    if (!k->fused && !job->async) {
        if (k->sends_value)
            TD_CHECK(td_cpu_declare(memory, &job->next_values, n, k->value_bytes, "new vertex values"));
        job->next_messages = job->next_values;
    }
    if (job->strict) {
        TD_CHECK(td_cpu_declare(memory, &job->snapshot, n, k->value_bytes, "values before the iteration"));
        job->messages = job->next_messages = job->snapshot;
    }
    if (k->sends_value) return TD_OK;
    TD_CHECK(td_cpu_declare(memory, &job->messages, n, k->message_bytes, "messages"));
    job->next_messages = job->messages;
    return job->async ? TD_OK
                      : td_cpu_declare(memory, &job->next_messages, n, k->message_bytes, "new messages");
}

static td_status declare_frontier(td_cpu_job *job, td_cpu_memory *memory)
{
    const td_cpu_kernels *k = job->kernels;
    uint64_t n = job->graph->vertices, words = td_cpu_words(job), bytes = sizeof *job->active;
    bool peels_pages = job->by_pages && k->schedule == TD_SCHEDULE_PEEL;
    TD_CHECK(td_cpu_declare_zeroed(memory, &job->active, words, bytes, "active vertices"));
    if (job->bucketed && !job->defer_sinks) return TD_OK;
    TD_CHECK(td_cpu_declare_zeroed(memory, &job->next_active, words, bytes, "active vertices"));
    if (job->bucketed) return TD_OK;
    if (job->first_hit || peels_pages)
        TD_CHECK(td_cpu_declare_zeroed(memory, &job->done, words, bytes, "settled or removed vertices"));
    if (!k->fused || job->by_pages) return TD_OK;
    TD_CHECK(td_cpu_declare(memory, &job->queue, n, sizeof *job->queue, "queue of vertices"));
    return td_cpu_declare(memory, &job->next_queue, n, sizeof *job->next_queue, "queue of vertices");
}

/* Position of a vertex in the concatenated lists, each with one extra place, so that vertices without edges are divided
 * evenly too. */
static uint64_t places_before(const td_cpu_job *job, uint64_t v)
{
    return job->pull[0].offsets[v] + (job->lists == 2 ? job->pull[1].offsets[v] : 0) + v;
}

/* The piece that starts at that position, among vertices low..high. */
static td_cut find_cut(const td_cpu_job *job, uint64_t at, uint64_t low, uint64_t high)
{
    while (low < high) {
        uint64_t middle = low + (high - low + 1) / 2;
        if (places_before(job, middle) <= at) low = middle;
        else high = middle - 1;
    }
    td_cut cut = {(uint32_t)low, at - places_before(job, low)};
    bool behind = low < job->graph->vertices && cut.place > 0 && cut.place >= td_cpu_pull_degree(job, cut.vertex);
    if (behind) cut = (td_cut){cut.vertex + 1, 0};
    return cut;
}

static td_status declare_pieces(td_cpu_job *job, td_cpu_memory *memory)
{
    if (job->pieces <= job->piece_room) return TD_OK;
    if (!memory->measures) { /* by pages: free those of the previous page */
        td_free(job->cuts);
        td_free(job->partials);
        job->cuts = NULL;
        job->partials = NULL;
        job->piece_room = 0;
    }
    TD_CHECK(td_cpu_declare(memory, &job->cuts, job->pieces + 1, sizeof *job->cuts, "pull pieces"));
    TD_CHECK(td_cpu_declare(memory, &job->partials, job->pieces, 2 * job->kernels->accum_bytes, "partial sums"));
    job->piece_room = job->pieces;
    return TD_OK;
}

/* Pieces of a page are smaller, so that every worker gets several. */
static uint64_t piece_of_page(const td_cpu_job *job, uint64_t whole)
{
    uint64_t piece = whole / ((uint64_t)td_pool_threads(job->pool) * PIECES_PER_WORKER);
    if (piece < SMALLEST_PIECE) piece = SMALLEST_PIECE;
    return piece < job->piece_edges ? piece : job->piece_edges;
}

/* Edges of a piece when so many positions are divided. */
static uint64_t choose_piece(const td_cpu_job *job, uint64_t whole)
{
    uint64_t piece = job->by_pages ? piece_of_page(job, whole) : job->piece_edges;
    return whole / piece > UINT32_MAX / 2 ? whole / (UINT32_MAX / 2) + 1 : piece;
}

/* Pulls over a whole graph in memory are divided once. */
static bool cuts_once(const td_cpu_job *job)
{
    bool pushes = job->kernels->fused && job->direction == TD_DIRECTION_PUSH;
    return job->run->program->info->kind == TD_KIND_GAS && !job->bucketed && !pushes && !job->by_pages;
}

td_status td_cpu_declare_arrays(td_cpu_job *job, td_cpu_memory *memory)
{
    TD_CHECK(td_cpu_declare_zeroed(memory, &job->tallies, (uint64_t)job->workers, sizeof *job->tallies, "counters"));
    if (job->bare) return TD_OK;
    TD_CHECK(declare_values(job, memory));
    if (job->run->program->info->kind == TD_KIND_GAS) TD_CHECK(declare_frontier(job, memory));
    TD_CHECK(td_cpu_declare_kept(job, memory));
    if (!cuts_once(job)) return TD_OK;
    uint64_t whole = td_cpu_view_edges(job) + job->graph->vertices;
    job->pieces = whole / choose_piece(job, whole) + 1;
    return declare_pieces(job, memory);
}

td_status td_cpu_cut(td_cpu_job *job, uint32_t first, uint32_t end)
{
    uint64_t before = places_before(job, first), whole = places_before(job, end) - before;
    uint64_t piece = choose_piece(job, whole);
    job->pieces = whole / piece + 1;
    TD_CHECK(declare_pieces(job, &(td_cpu_memory){0}));
    for (uint64_t p = 0; p < job->pieces; p++) job->cuts[p] = find_cut(job, before + p * piece, first, end);
    job->cuts[job->pieces] = (td_cut){end, 0};
    job->edges_there = job->pull[0].offsets[end];
    return TD_OK;
}

static td_status read_settings(td_cpu_job *job)
{
    double set[SETTINGS];
    TD_CHECK(td_settings_resolve(job->options->settings, "cpu", td_cpu_settings, set, NULL));
    job->direction = (td_direction)set[SET_DIRECTION];
    job->bucketed = job->kernels->schedule == TD_SCHEDULE_PRIORITY && job->direction == TD_DIRECTION_AUTO &&
                    !job->has_limit && !job->by_rounds && !job->by_pages;
    if (!job->stealing_given) job->share.stealing = (td_stealing)set[SET_STEALING];
    job->high_degree = job->share.stealing == TD_STEAL_EDGE ? (uint64_t)set[SET_HIGH_DEGREE] : UINT64_MAX;
    job->serial = (uint64_t)set[SET_SERIAL];
    job->delta = set[SET_DELTA];
    job->defer_sinks = set[SET_SINKS] == 1;
    job->samples = (int)set[SET_SAMPLES];
    job->piece_edges = (uint64_t)set[SET_PIECE];
    job->collects_survivors = set[SET_SURVIVORS] == 0 && job->kernels->light_first && !job->has_limit;
    if (job->direction == TD_DIRECTION_PUSH && !job->kernels->fused && job->run->program->info->kind == TD_KIND_GAS)
        return td_fail(TD_USAGE,
                       "cpu.direction=push: %s needs the whole sum of a vertex at once; allowed are auto, pull and "
                       "notify",
                       job->run->program->info->name);
    if (job->defer_sinks) TD_CHECK(td_run_check_sinks("cpu", job->run->program, job->options, job->async));
    if (job->delta > 0 && !job->bucketed)
        return td_fail(TD_USAGE,
                       "cpu.delta is the width of a bucket of delta-stepping; with a limit on iterations or "
                       "cpu.direction, sssp runs plain rounds");
    return TD_OK;
}

/* Notify-pull and deferred sinks are for single runs. */
td_status td_cpu_read_batch(const td_program *program, const td_run_options *options, td_cpu_batch *out)
{
    double set[SETTINGS];
    TD_CHECK(td_settings_resolve(options->settings, "cpu", td_cpu_settings, set, NULL));
    bool possible = program->cpu->bits != NULL && set[SET_DIRECTION] != TD_DIRECTION_NOTIFY && set[SET_SINKS] == 0;
    *out = possible ? (td_cpu_batch)set[SET_BATCH] : TD_BATCH_SINGLE;
    return TD_OK;
}

void td_cpu_job_close(td_cpu_job *job)
{
    if (job->next_values != job->values) td_free(job->next_values);
    if (job->messages != job->values && job->messages != job->snapshot) {
        if (job->next_messages != job->messages) td_free(job->next_messages);
        td_free(job->messages);
    }
    td_free(job->snapshot);
    td_free(job->kept.offsets);
    td_free(job->kept.targets);
    td_free(job->kept.weights);
    td_free(job->values);
    td_free(job->active);
    td_free(job->next_active);
    td_free(job->done);
    td_free(job->marked);
    td_free(job->queue);
    td_free(job->next_queue);
    td_free(job->high_degree_list);
    td_free(job->high_degree_start);
    td_free(job->left);
    td_free(job->next_left);
    td_free(job->survivors.edges);
    td_free(job->survivors.counts);
    td_free(job->survivors.keys);
    td_free(job->cuts);
    td_free(job->partials);
    td_free(job->tallies);
    td_free(job->entry_start);
    td_free(job->high_degree_entries.entries);
    for (int w = 0; job->buckets != NULL && w < job->workers; w++) td_buckets_destroy(&job->buckets[w]);
    td_free(job->buckets);
    td_free(job->own_kernels);
    td_share_out_destroy(&job->share);
}

td_status td_cpu_find_parents(td_cpu_job *job)
{
    TD_CHECK(td_cpu_declare_parents(job, &(td_cpu_memory){0}));
    if (job->snapshot != NULL) job->messages = job->next_messages = job->values;
    job->parents = job->run->parents;
    TD_CHECK(td_cpu_step(job, job->kernels->find_parents, td_cpu_words(job), TD_WORDS_AT_A_TIME, job->graph->edges,
                         NULL));
    if (job->graph->weights != TD_WEIGHT_NONE && job->run->program->info->weights != TD_WEIGHTS_UNUSED)
        return td_run_solve_parents(job->run, &job->push[0], job->values);
    return TD_OK;
}

typedef struct labelling {
    const td_cpu_job *job;
    uint32_t *labels;
} labelling;

static td_status read_labels(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const labelling *self = context;
    for (uint64_t v = begin; v < end; v++) self->labels[v] = self->job->kernels->label(self->job, (uint32_t)v);
    return TD_OK;
}

/* Copies the result: the labels of a sweep program, the values of a gas program. */
td_status td_cpu_copy_result(td_cpu_job *job)
{
    if (job->kernels->label == NULL || job->kernels->value_bytes == sizeof(uint32_t)) {
        job->run->values = job->values;
        if (job->messages == job->values) job->messages = job->next_messages = NULL;
        if (job->next_values == job->values) job->next_values = NULL;
        job->values = NULL;
        return TD_OK;
    }
    labelling self = {.job = job};
    TD_CHECK(TD_NEW(&self.labels, job->graph->vertices, "labels"));
    job->run->values = self.labels;
    return td_pool_for(job->pool, job->graph->vertices, 1 << 14, read_labels, &self);
}

td_status td_cpu_job_describe(td_cpu_job *job, td_run *run, const td_run_options *options)
{
    td_weight_kind kind = run->program->info->weights == TD_WEIGHTS_UNUSED ? TD_WEIGHT_NONE : run->graph->weights;
    job->context = run->context;
    if (job->graph == NULL) job->graph = run->graph;
    job->kernels = &run->program->cpu[kind];
    job->options = options;
    job->run = run;
    job->pool = options->pool;
    job->workers = td_pool_threads(options->pool);
    job->has_limit = options->has_iterations;
    job->limit = options->has_iterations ? options->iterations
                 : run->program->info->iterations > 0 ? run->program->info->iterations : UINT32_MAX;
    job->async = run->async;
    job->strict = td_run_strict(run->program, options);
    TD_CHECK(read_settings(job));
    bool by_levels = run->resumed == NULL || run->resumed->by_levels;
    job->first_hit = job->kernels->first_hit && !job->async && !job->by_pages && by_levels;
    choose_lists(job);
    return TD_OK;
}

td_status td_cpu_job_open(td_cpu_job *job, td_run *run, const td_run_options *options)
{
    uint64_t began = td_clock_ns(), held = td_memory().now;
    TD_CHECK(td_cpu_job_describe(job, run, options));
    TD_CHECK(td_cpu_use_mapping(job));
    TD_CHECK(td_share_out_create(&job->share, job->workers, job->share.stealing));
    TD_CHECK(td_cpu_declare_arrays(job, &(td_cpu_memory){0}));
    TD_CHECK(td_cpu_keep_lists(job));
    if (!job->bare && cuts_once(job)) TD_CHECK(td_cpu_cut(job, 0, job->graph->vertices));
    uint64_t now = td_memory().now; /* may be less than before, if a cached layout was released */
    run->array_bytes = now > held ? now - held : 0;
    run->prepare_seconds += td_seconds_since(began);
    return TD_OK;
}

td_status td_cpu_parents(td_run *run, const td_run_options *options)
{
    td_cpu_job job = {0};
    td_status status = TD_OK;
    double prepared = run->prepare_seconds;
    TD_TRY(td_cpu_job_open(&job, run, options));
    run->prepare_seconds = prepared; /* the job is part of finishing the run */
    memcpy(job.values, run->values, job.graph->vertices * job.kernels->value_bytes);
    TD_TRY(td_cpu_find_parents(&job));
done:
    td_cpu_job_close(&job);
    return status;
}

td_status td_cpu_settle_sinks(td_run *run, const td_run_options *options)
{
    td_cpu_job job = {.by_rounds = true};
    td_status status = TD_OK;
    double prepared = run->prepare_seconds;
    uint64_t bytes;
    TD_TRY(td_cpu_job_open(&job, run, options));
    run->prepare_seconds = prepared; /* the job is part of the run */
    bytes = job.graph->vertices * job.kernels->value_bytes;
    memcpy(job.values, run->values, bytes);
    job.run_began = td_clock_ns() - (uint64_t)(run->seconds * 1e9);
    job.context.iteration = run->iterations;
    TD_TRY(td_cpu_finish_sinks(&job));
    memcpy(run->values, job.values, bytes);
    td_run_end_processing(run, job.run_began);
done:
    td_cpu_job_close(&job);
    return status;
}

td_status td_cpu_measure_parents(td_run *run, const td_run_options *options, uint64_t *bytes)
{
    td_host_memory memory = {.measures = true};
    td_cpu_job job = {0};
    TD_CHECK(td_cpu_job_describe(&job, run, options));
    TD_CHECK(td_cpu_declare_arrays(&job, &memory));
    TD_CHECK(td_cpu_declare_parents(&job, &memory));
    *bytes = memory.bytes;
    return TD_OK;
}
