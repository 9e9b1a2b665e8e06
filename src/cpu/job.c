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
    job->counting = work < job->setup.serial ? 1 : job->workers;
    job->share.first = job->part.first_unit;
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

static uint64_t most_high_degree(const td_cpu_job *job) { return td_cpu_view_edges(job) / job->high.degree + 1; }

td_status td_cpu_declare_high_degree_list(td_cpu_job *job, td_cpu_memory *memory)
{
    return td_cpu_declare(memory, &job->high.list, most_high_degree(job), sizeof *job->high.list,
                          "high-degree vertices");
}

td_status td_cpu_make_high_degree_list(td_cpu_job *job)
{
    return td_cpu_declare_high_degree_list(job, &(td_cpu_memory){0});
}

td_status td_cpu_declare_left(td_cpu_job *job, td_cpu_memory *memory)
{
    uint64_t n = job->graph->vertices;
    TD_CHECK(td_cpu_declare(memory, &job->peel.left, n, sizeof *job->peel.left, "remaining vertices"));
    return td_cpu_declare(memory, &job->peel.next_left, n, sizeof *job->peel.next_left, "remaining vertices");
}

td_status td_cpu_declare_forest(td_cpu_job *job, td_cpu_memory *memory)
{
    if (job->kernels->edge == NULL) return TD_OK;
    return td_cpu_declare(memory, &job->run->edges, job->graph->vertices, sizeof *job->run->edges,
                          "edges of the forest");
}

td_status td_cpu_declare_marked(td_cpu_job *job, td_cpu_memory *memory)
{
    if (job->frontier.marked != NULL) return TD_OK;
    return td_cpu_declare(memory, &job->frontier.marked, td_cpu_words(job), sizeof *job->frontier.marked,
                          "notified vertices");
}

td_status td_cpu_declare_parents(td_cpu_job *job, td_cpu_memory *memory)
{
    return td_cpu_declare(memory, &job->run->parents, job->graph->vertices, sizeof *job->run->parents, "parents");
}

td_status td_cpu_high_degree_step(td_cpu_job *job, td_cpu_kernel kernel, td_cpu_tally *sum)
{
    td_cpu_tally more;
    uint64_t count = job->high.count, edges = 0;
    if (count == 0) return TD_OK;
    TD_CHECK(TD_RESIZE(&job->high.start, count + 1, "high-degree vertices"));
    for (uint64_t i = 0; i < count; i++) {
        job->high.start[i] = edges;
        edges += td_cpu_push_degree(job, job->high.list[i]);
    }
    job->high.start[count] = edges;
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
    row->start = (double)(began - job->progress.began) * 1e-9;
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
    job->setup.resumed = true;
    job->context.iteration = from->iteration;
    job->context.phase = from->phase;
    memcpy(job->values, from->values, job->graph->vertices * job->kernels->value_bytes);
    if (job->frontier.active != NULL && from->has_active)
        memcpy(job->frontier.active, from->active, words * sizeof *job->frontier.active);
    else if (job->frontier.active != NULL) memset(job->frontier.active, 0xff, words * sizeof *job->frontier.active);
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
    state->by_levels = job->setup.first_hit;
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
    if (job->view.lists > 0) { /* set by the engine */
        job->view.edges = job->view.pull[0].offsets[n] + (job->view.lists == 2 ? job->view.pull[1].offsets[n] : 0);
        return;
    }
    int forward = job->run->program->info->forward_choice;
    bool both = job->kernels->view == TD_VIEW_BOTH && !(forward > 0 && job->context.parameter[forward - 1] == 1);
    job->view.lists = both && !graph->symmetric && !job->kernels->once ? 2 : 1;
    job->view.pull[0] = graph->in;
    job->view.push[0] = job->view.pull[1] = graph->out;
    job->view.push[1] = graph->in;
    job->view.edges = graph->edges * (uint64_t)job->view.lists;
}

static td_status declare_values(td_cpu_job *job, td_cpu_memory *memory)
{
    const td_cpu_kernels *k = job->kernels;
    uint64_t n = job->graph->vertices;
    TD_CHECK(td_cpu_declare(memory, &job->values, n, k->value_bytes, "vertex values"));
    job->next_values = job->messages = job->next_messages = job->values;
    if (job->run->program->info->kind != TD_KIND_GAS) return TD_OK;
    if (!k->fused && !job->setup.async) {
        if (k->sends_value)
            TD_CHECK(td_cpu_declare(memory, &job->next_values, n, k->value_bytes, "new vertex values"));
        job->next_messages = job->next_values;
    }
    if (job->setup.strict) {
        TD_CHECK(td_cpu_declare(memory, &job->snapshot, n, k->value_bytes, "values before the iteration"));
        job->messages = job->next_messages = job->snapshot;
    }
    if (k->sends_value) return TD_OK;
    TD_CHECK(td_cpu_declare(memory, &job->messages, n, k->message_bytes, "messages"));
    job->next_messages = job->messages;
    return job->setup.async ? TD_OK
                      : td_cpu_declare(memory, &job->next_messages, n, k->message_bytes, "new messages");
}

static td_status declare_frontier(td_cpu_job *job, td_cpu_memory *memory)
{
    const td_cpu_kernels *k = job->kernels;
    uint64_t n = job->graph->vertices, words = td_cpu_words(job), bytes = sizeof *job->frontier.active;
    bool peels_pages = job->setup.by_pages && k->schedule == TD_SCHEDULE_PEEL;
    TD_CHECK(td_cpu_declare_zeroed(memory, &job->frontier.active, words, bytes, "active vertices"));
    if (job->setup.bucketed && !job->setup.defer_sinks) return TD_OK;
    TD_CHECK(td_cpu_declare_zeroed(memory, &job->frontier.next_active, words, bytes, "active vertices"));
    if (job->setup.bucketed) return TD_OK;
    if (job->setup.first_hit || peels_pages)
        TD_CHECK(td_cpu_declare_zeroed(memory, &job->frontier.done, words, bytes, "settled or removed vertices"));
    if (!k->fused || job->setup.by_pages) return TD_OK;
    TD_CHECK(td_cpu_declare(memory, &job->frontier.queue, n, sizeof *job->frontier.queue, "queue of vertices"));
    return td_cpu_declare(memory, &job->frontier.next_queue, n, sizeof *job->frontier.next_queue, "queue of vertices");
}

/* Position of a vertex in the concatenated lists, each with one extra place, so that vertices without edges are divided
 * evenly too. */
static uint64_t places_before(const td_cpu_job *job, uint64_t v)
{
    return job->view.pull[0].offsets[v] + (job->view.lists == 2 ? job->view.pull[1].offsets[v] : 0) + v;
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
    if (job->cut.pieces <= job->cut.piece_room) return TD_OK;
    if (!memory->measures) { /* by pages: free those of the previous page */
        td_free(job->cut.cuts);
        td_free(job->cut.partials);
        job->cut.cuts = NULL;
        job->cut.partials = NULL;
        job->cut.piece_room = 0;
    }
    TD_CHECK(td_cpu_declare(memory, &job->cut.cuts, job->cut.pieces + 1, sizeof *job->cut.cuts, "pull pieces"));
    TD_CHECK(td_cpu_declare(memory, &job->cut.partials, job->cut.pieces, 2 * job->kernels->accum_bytes,
                            "partial sums"));
    job->cut.piece_room = job->cut.pieces;
    return TD_OK;
}

/* Pieces of a page are smaller, so that every worker gets several. */
static uint64_t piece_of_page(const td_cpu_job *job, uint64_t whole)
{
    uint64_t piece = whole / ((uint64_t)td_pool_threads(job->pool) * PIECES_PER_WORKER);
    if (piece < SMALLEST_PIECE) piece = SMALLEST_PIECE;
    return piece < job->cut.piece_edges ? piece : job->cut.piece_edges;
}

/* Edges of a piece when so many positions are divided. */
static uint64_t choose_piece(const td_cpu_job *job, uint64_t whole)
{
    uint64_t piece = job->setup.by_pages ? piece_of_page(job, whole) : job->cut.piece_edges;
    return whole / piece > UINT32_MAX / 2 ? whole / (UINT32_MAX / 2) + 1 : piece;
}

/* Pulls over a whole graph in memory are divided once. */
static bool cuts_once(const td_cpu_job *job)
{
    bool pushes = job->kernels->fused && job->setup.direction == TD_DIRECTION_PUSH;
    return job->run->program->info->kind == TD_KIND_GAS && !job->setup.bucketed && !pushes && !job->setup.by_pages;
}

td_status td_cpu_declare_arrays(td_cpu_job *job, td_cpu_memory *memory)
{
    TD_CHECK(td_cpu_declare_zeroed(memory, &job->tallies, (uint64_t)job->workers, sizeof *job->tallies, "counters"));
    if (job->setup.bare) return TD_OK;
    TD_CHECK(declare_values(job, memory));
    if (job->run->program->info->kind == TD_KIND_GAS) TD_CHECK(declare_frontier(job, memory));
    TD_CHECK(td_cpu_declare_kept(job, memory));
    if (!cuts_once(job)) return TD_OK;
    uint64_t whole = td_cpu_view_edges(job) + job->graph->vertices;
    job->cut.pieces = whole / choose_piece(job, whole) + 1;
    return declare_pieces(job, memory);
}

td_status td_cpu_cut(td_cpu_job *job, uint32_t first, uint32_t end)
{
    uint64_t before = places_before(job, first), whole = places_before(job, end) - before;
    uint64_t piece = choose_piece(job, whole);
    job->cut.pieces = whole / piece + 1;
    TD_CHECK(declare_pieces(job, &(td_cpu_memory){0}));
    for (uint64_t p = 0; p < job->cut.pieces; p++) job->cut.cuts[p] = find_cut(job, before + p * piece, first, end);
    job->cut.cuts[job->cut.pieces] = (td_cut){end, 0};
    job->view.edges_there = job->view.pull[0].offsets[end];
    return TD_OK;
}

static td_status read_settings(td_cpu_job *job)
{
    double set[SETTINGS];
    TD_CHECK(td_settings_resolve(job->options->settings, "cpu", td_cpu_settings, set, NULL));
    job->setup.direction = (td_direction)set[SET_DIRECTION];
    job->setup.bucketed = job->kernels->schedule == TD_SCHEDULE_PRIORITY && job->setup.direction == TD_DIRECTION_AUTO &&
                    !job->setup.has_limit && !job->setup.by_rounds && !job->setup.by_pages;
    if (!job->setup.stealing_given) job->share.stealing = (td_stealing)set[SET_STEALING];
    job->high.degree = job->share.stealing == TD_STEAL_EDGE ? (uint64_t)set[SET_HIGH_DEGREE] : UINT64_MAX;
    job->setup.serial = (uint64_t)set[SET_SERIAL];
    job->setup.delta = set[SET_DELTA];
    job->setup.defer_sinks = set[SET_SINKS] == 1;
    job->setup.samples = (int)set[SET_SAMPLES];
    job->cut.piece_edges = (uint64_t)set[SET_PIECE];
    job->sweep.collects_survivors = set[SET_SURVIVORS] == 0 && job->kernels->light_first && !job->setup.has_limit;
    if (job->setup.direction == TD_DIRECTION_PUSH && !job->kernels->fused &&
        job->run->program->info->kind == TD_KIND_GAS)
        return td_fail(TD_USAGE,
                       "cpu.direction=push: %s needs the whole sum of a vertex at once; allowed are auto, pull and "
                       "notify",
                       job->run->program->info->name);
    if (job->setup.defer_sinks) TD_CHECK(td_run_check_sinks("cpu", job->run->program, job->options, job->setup.async));
    if (job->setup.delta > 0 && !job->setup.bucketed)
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
    td_free(job->view.kept.offsets);
    td_free(job->view.kept.targets);
    td_free(job->view.kept.weights);
    td_free(job->values);
    td_free(job->frontier.active);
    td_free(job->frontier.next_active);
    td_free(job->frontier.done);
    td_free(job->frontier.marked);
    td_free(job->frontier.queue);
    td_free(job->frontier.next_queue);
    td_free(job->high.list);
    td_free(job->high.start);
    td_free(job->peel.left);
    td_free(job->peel.next_left);
    td_free(job->sweep.survivors.edges);
    td_free(job->sweep.survivors.counts);
    td_free(job->sweep.survivors.keys);
    td_free(job->cut.cuts);
    td_free(job->cut.partials);
    td_free(job->tallies);
    td_free(job->priority.entry_start);
    td_free(job->priority.high_degree_entries.entries);
    for (int w = 0; job->priority.buckets != NULL && w < job->workers; w++)
        td_buckets_destroy(&job->priority.buckets[w]);
    td_free(job->priority.buckets);
    td_free(job->mapped.kernels);
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
        return td_run_solve_parents(job->run, &job->view.push[0], job->values);
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
    job->setup.has_limit = options->has_iterations;
    job->setup.limit = options->has_iterations ? options->iterations
                 : run->program->info->iterations > 0 ? run->program->info->iterations : UINT32_MAX;
    job->setup.async = run->async;
    job->setup.strict = td_run_strict(run->program, options);
    TD_CHECK(read_settings(job));
    bool by_levels = run->resumed == NULL || run->resumed->by_levels;
    job->setup.first_hit = job->kernels->first_hit && !job->setup.async && !job->setup.by_pages && by_levels;
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
    if (!job->setup.bare && cuts_once(job)) TD_CHECK(td_cpu_cut(job, 0, job->graph->vertices));
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
    td_cpu_job job = {.setup.by_rounds = true};
    td_status status = TD_OK;
    double prepared = run->prepare_seconds;
    uint64_t bytes;
    TD_TRY(td_cpu_job_open(&job, run, options));
    run->prepare_seconds = prepared; /* the job is part of the run */
    bytes = job.graph->vertices * job.kernels->value_bytes;
    memcpy(job.values, run->values, bytes);
    job.progress.began = td_clock_ns() - (uint64_t)(run->seconds * 1e9);
    job.context.iteration = run->iterations;
    TD_TRY(td_cpu_finish_sinks(&job));
    memcpy(run->values, job.values, bytes);
    td_run_end_processing(run, job.progress.began);
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
