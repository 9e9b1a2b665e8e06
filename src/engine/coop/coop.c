/* The coop engine: sets up, runs and tears down a run. Programs whose iterations cannot be divided run on the cpu
 * engine, and graphs that fit on the GPU on the resident engine. */
#include "engine/coop/coop.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/size.h"
#include "gpu/bytes.h"
#include "run/checkpoint.h"
#include "store/checks.h"
#include "run/sinks.h"

#include <stdio.h>
#include <string.h>

enum {
    SET_ORDER, SET_EXTRACT, SET_ON_DEMAND, SET_LINK, SET_COMPRESS, SET_INVOKE, SET_TAU, SET_THETA, SET_PIECE, SET_DELTA,
    SET_SINKS, SET_BALANCE, SET_STEALING, SET_PREPARED, SETTINGS,
};

enum { ORDER_AUTO = TD_ORDERS }; /* follows the orders */

const td_setting td_coop_settings[] = {
    [SET_ORDER] = {"order", TD_SETTING_CHOICE, ORDER_AUTO, 0, 0, "none|hot|indegree|random|rcm|gorder|bisect|auto",
                   "order of the vertices; the hot part is the subgraph among the first ones. none: as the graph "
                   "numbers them ('tandem reorder'); auto: hot, or none if neighbours have close numbers already"},
    [SET_EXTRACT] = {"extract", TD_SETTING_CHOICE, TD_EXTRACT_VERTEXEDGE, 0, 0, "vertexedge|vertex|random",
                     "hot edges. vertexedge: those with both ends among the first vertices; vertex: all edges of the "
                     "first vertices; random: those between random vertices"},
    [SET_ON_DEMAND] = {"on_demand", TD_SETTING_CHOICE, 0, 0, 0, "on|off",
                       "idle CPU workers take hot edges that the GPU has not started (on-demand allocation)"},
    [SET_LINK] = {"link", TD_SETTING_CHOICE, 0, 0, 0, "on|off",
                  "an idle GPU takes edges of the rest that no worker has started, and reads them over the link"},
    [SET_COMPRESS] = {"compress", TD_SETTING_CHOICE, 0, 0, 0, "on|off",
                      "accumulating programs without weights: edges of the rest cross the link with compressed "
                      "targets"},
    [SET_INVOKE] = {"invoke", TD_SETTING_CHOICE, TD_INVOKE_MEASURED, 0, 0, "paper|measured|always|never",
                    "whether the GPU takes part in an iteration. paper: by coop.tau and coop.theta; measured: if that "
                    "is faster by rates measured in this run"},
    [SET_TAU] = {"tau", TD_SETTING_NUMBER, 2.5e6, 0, 1e18, NULL,
                 "active edges above which the GPU takes part (invoke=paper)"},
    [SET_THETA] = {"theta", TD_SETTING_NUMBER, 0.35, 0, 1, NULL,
                   "minimum share of hot edges among the active ones (invoke=paper)"},
    [SET_PIECE] = {"piece", TD_SETTING_WHOLE, 1 << 18, 1, 1e12, NULL,
                   "minimum number of edges in a piece of work for the GPU; a piece for a worker has a 16th"},
    [SET_DELTA] = {"delta", TD_SETTING_NUMBER, 0, 0, 1e30, NULL,
                   "sssp: width of a bucket of delta-stepping; 0: from the weights"},
    [SET_SINKS] = {"sinks", TD_SETTING_CHOICE, 0, 0, 0, "now|defer",
                   "vertices without out-edges: computed in every iteration, or once at the end"},
    [SET_BALANCE] = {"balance", TD_SETTING_CHOICE, TD_BALANCE_WARP, 0, 0, "thread|cta|iwb|warp",
                     "load balance of the GPU's pushes. thread: a thread per vertex; cta: a thread, warp or block per "
                     "vertex, by degree; iwb: cta with medium lists passed between warps (CGgraph); warp: the lists of "
                     "32 vertices divided evenly among the lanes"},
    [SET_STEALING] = {"stealing", TD_SETTING_CHOICE, TD_STEAL_EDGE, 0, 0, "none|donate|vertex|edge",
                      "work stealing among the CPU's workers. none: equal shares; donate: busy workers give work away; "
                      "vertex: idle workers steal vertices; edge: and pieces of long lists (CGgraph)"},
    [SET_PREPARED] = {"prepared", TD_SETTING_CHOICE, TD_PREPARED_AUTO, 0, 0, TD_PREPARED_CHOICES,
                      "the split beside the graph ('tandem prepare'). read: it is read, if the run wants that order, "
                      "instead of ordering and cutting the graph; make: and written after the run, if there is none; "
                      "auto: written if earlier runs say that it pays; off: the run does not look for it"},
    [SETTINGS] = {0},
};

bool td_coop_uses(const td_program *program, const char *setting)
{
    const td_cpu_kernels *k = program->cpu;
    if (!td_coop_cooperates(program)) return false;
    if (strcmp(setting, "delta") == 0) return k->schedule == TD_SCHEDULE_PRIORITY;
    if (strcmp(setting, "balance") == 0) return k->fused;
    if (strcmp(setting, "compress") == 0) return !k->fused && program->info->weights == TD_WEIGHTS_UNUSED;
    if (strcmp(setting, "sinks") == 0) return k->view == TD_VIEW_FORWARD;
    return true;
}

/* Settings. */

bool td_coop_compresses(const td_run_options *options)
{
    double set[SETTINGS];
    td_status status = td_settings_resolve(options->settings, "coop", td_coop_settings, set, NULL);
    if (status != TD_OK) return true; /* an invalid setting is refused elsewhere */
    return set[SET_COMPRESS] == 0 && set[SET_LINK] == 0;
}

static const double STEP = 0.6;     /* bucket width over the resident engine's: relaxing an edge again costs more than a
                                     * round here */
static const double OVERHEAD = 3e5; /* assumed time for sending the frontier and merging changes, ns, until it is
                                     * measured */

static td_status check_sinks(const td_coop_job *self)
{
    if (self->setup.order != TD_ORDER_HOT || self->setup.extract == TD_EXTRACT_RANDOM)
        return td_fail(TD_USAGE, "coop.sinks=defer needs coop.order=hot, which puts the vertices without "
                                 "out-edges last");
    return TD_OK;
}

/* Programs whose values are vertex numbers must see the graph's numbers while the run continues (at the end, labels are
 * translated). Programs that read vertex numbers need the graph's numbers too. */
static bool keeps_stored_order(const td_coop_job *self)
{
    const td_run_options *options = self->gpu.options;
    const td_program_info *info = self->gpu.run->program->info;
    bool under_way = self->gpu.has_limit || options->checkpoint != NULL || options->resume != NULL;
    return !info->renumbers || (info->vertex_values && under_way);
}

/* Whether the split by the hot order lies beside the graph. It was prepared only if `auto` would choose that order. */
static bool is_prepared(td_coop_job *self, double set)
{
    char name[TD_SIDECAR_NAME];
    self->setup.order = TD_ORDER_HOT;
    return set != TD_PREPARED_OFF && td_coop_find_prepared(self, name);
}

/* An order with close neighbours is better than `hot`: targets compress better, and values stay in caches. A graph of
 * which only the counts are known is taken to have none. */
static td_status choose_order(td_coop_job *self, const double *set)
{
    static const double LOCAL = 0.25;
    const td_graph *graph = self->gpu.run->graph;
    double order = set[SET_ORDER];
    bool hot = !keeps_stored_order(self) && (order == ORDER_AUTO || order == TD_ORDER_HOT);
    bool whole = set[SET_SINKS] == 0 || !self->gpu.traits->fused; /* a search that defers sinks divides another graph */
    self->setup.prepared = hot && whole && is_prepared(self, set[SET_PREPARED]);
    self->setup.order = keeps_stored_order(self) ? TD_ORDER_NONE : hot ? TD_ORDER_HOT : (td_order)order;
    bool fixed = self->setup.prepared || !hot || order != ORDER_AUTO || self->setup.defer_sinks;
    if (fixed || graph->out.offsets == NULL) return TD_OK;
    TD_CHECK(td_checks_lists(graph, false, self->gpu.options->pool));
    self->setup.stored_order = td_share_near(graph) >= LOCAL;
    if (self->setup.stored_order) self->setup.order = TD_ORDER_NONE;
    return TD_OK;
}

td_status td_coop_read_settings(td_coop_job *self)
{
    double set[SETTINGS];
    const td_settings *settings = self->gpu.options->settings;
    const td_program_info *info = self->gpu.run->program->info;
    TD_CHECK(td_settings_resolve(settings, "coop", td_coop_settings, set, NULL));
    self->setup.defer_sinks = set[SET_SINKS] == 1 && !self->gpu.traits->fused; /* searches: run_deferring */
    self->gpu.prioritised = self->gpu.traits->schedule == TD_SCHEDULE_PRIORITY && !self->gpu.has_limit;
    self->setup.extract = (td_split_extract)set[SET_EXTRACT];
    TD_CHECK(choose_order(self, set));
    if (keeps_stored_order(self) && self->setup.extract == TD_EXTRACT_RANDOM)
        self->setup.extract = TD_EXTRACT_VERTEXEDGE;
    bool loud = !self->gpu.memory.measures; /* a plan may be refused */
    if (loud && td_settings_given(settings, "coop.order") && keeps_stored_order(self) && set[SET_ORDER] != TD_ORDER_NONE)
        td_warn("coop.order has no effect: %s keeps the graph's order%s", info->name,
                info->renumbers ? " under an iteration limit and with checkpoints, because its values are vertices"
                                : ", because its values may depend on vertex numbers");
    self->setup.on_demand = set[SET_ON_DEMAND] == 0;
    self->setup.link = set[SET_LINK] == 0;
    self->setup.compress = set[SET_COMPRESS] == 0 && self->setup.link;
    self->setup.invoke = (td_coop_invoke)set[SET_INVOKE];
    self->setup.tau = set[SET_TAU];
    self->setup.theta = set[SET_THETA];
    self->setup.piece = (uint64_t)set[SET_PIECE];
    self->rates.overhead = OVERHEAD;
    self->gpu.balance = (td_balance)set[SET_BALANCE];
    self->cpu.setup.stealing_given = true;
    self->cpu.share.stealing = (td_stealing)set[SET_STEALING];
    self->gpu.delta = set[SET_DELTA];
    return self->setup.defer_sinks ? check_sinks(self) : TD_OK;
}

/* Setting up. */

td_status td_coop_new_pinned(td_coop_job *self, void *out, uint64_t count, uint64_t bytes, const char *what)
{
    void *memory, *seen;
    TD_CHECK(td_host_declare(&self->gpu.memory.host, out, count, bytes, what));
    if (self->gpu.memory.measures) return TD_OK;
    memcpy(&memory, out, sizeof memory);
    if (count > 0 && td_device_pin(self->layout->device, memory, count * bytes, &seen) == TD_OK)
        self->pins[self->pin_count++] = memory;
    return TD_OK;
}

static void fill_state(td_coop_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    td_gpu_state *state = &gpu->state;
    state->context = gpu->run->context;
    state->vertices = gpu->graph->vertices;
    state->weights = gpu->run->program->info->weights == TD_WEIGHTS_UNUSED ? TD_WEIGHT_NONE : gpu->graph->weights;
    state->symmetric = gpu->graph->symmetric;
    state->out_offsets = self->layout->out;
    state->push_offsets = self->layout->rest.offsets;
    gpu->mean_degree = (uint32_t)(gpu->graph->edges / gpu->graph->vertices + 1);
    gpu->high_degree = gpu->balance == TD_BALANCE_WARP ? TD_COOP_HIGH_DEGREE : TD_GPU_PIECE;
    gpu->has_high_degree = self->layout->longest >= gpu->high_degree;
}

/* Host arrays of programs that push: blocks of the frontier, and the vertices and values that are exchanged. */
static td_status declare_frontier(td_coop_job *self)
{
    td_host_memory *host = &self->gpu.memory.host;
    uint64_t n = self->gpu.graph->vertices, bytes = self->gpu.traits->value_bytes;
    self->push.block_count = (n + TD_BLOCK_WORDS * 64 - 1) / (TD_BLOCK_WORDS * 64);
    TD_CHECK(td_host_declare(host, &self->push.blocks, self->push.block_count + 1, sizeof *self->push.blocks,
                             "blocks of the frontier"));
    for (int i = 0; i < TD_COOP_DEQUES; i++)
        TD_CHECK(td_host_declare(host, &self->push.before[i], self->push.block_count + 1, sizeof(uint64_t),
                                 "blocks of the frontier"));
    TD_CHECK(td_coop_new_pinned(self, &self->push.queue_values, n, bytes, "values of the frontier"));
    TD_CHECK(td_coop_new_pinned(self, &self->push.changed, n, sizeof(uint32_t), "vertices that changed"));
    TD_CHECK(td_coop_new_pinned(self, &self->push.given, n, bytes, "values that changed"));
    if (!self->gpu.prioritised) return TD_OK;
    return td_host_declare_zeroed(host, &self->push.pending, td_cpu_words(&self->cpu), sizeof *self->push.pending,
                                  "deferred vertices");
}

td_status td_coop_declare_host(td_coop_job *self)
{
    return self->gpu.traits->fused ? declare_frontier(self) : td_coop_declare_sums(self);
}

/* Makes the arrays of programs that push, on both sides, and their first values. */
static td_status make_frontier(td_coop_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    td_gpu_state *state = &gpu->state;
    uint64_t n = gpu->graph->vertices;
    void *seen;
    TD_CHECK(td_coop_declare_arrays(self));
    TD_CHECK(td_gpu_send_inputs(gpu));
    TD_CHECK(td_gpu_reset(gpu));
    td_init_args args = {.state = *state, .end_vertex = state->vertices};
    TD_CHECK(td_gpu_launch(gpu, gpu->stream, &gpu->kernels->init, n, &args));
    TD_CHECK(td_gpu_clear_map(gpu, state->active));
    TD_CHECK(td_gpu_clear_map(gpu, state->next_active));
    TD_CHECK(td_stream_synchronize(gpu->stream));
    TD_CHECK(td_coop_declare_host(self));
    uint32_t *const queues[] = {self->cpu.frontier.queue, self->cpu.frontier.next_queue};
    for (int i = 0; i < 2; i++)
        if (td_device_pin(gpu->device, queues[i], n * sizeof(uint32_t), &seen) == TD_OK)
            self->pins[self->pin_count++] = queues[i];
    return TD_OK;
}

/* Spinning workers on every core delay the driver's callback thread by milliseconds, so one core is left free. */
static td_status make_own_pool(td_coop_job *self)
{
    enum { LEAST_CORES = 4 };
    const td_run_options *options = self->gpu.options;
    int threads = td_pool_threads(options->pool);
    self->cpu_options = *options;
    bool crowded = threads >= LEAST_CORES && threads >= td_machine_usable();
    if (self->gpu.device->kind == TD_DEVICE_EMULATOR || !crowded) return TD_OK;
    TD_CHECK(td_pool_create(&self->own_pool, threads - 1));
    self->cpu_options.pool = self->own_pool;
    return TD_OK;
}

static td_status set_up(td_coop_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    td_cpu_job *cpu = &self->cpu;
    const td_split *split = &self->layout->split;
    bool fused = gpu->traits->fused;
    TD_CHECK(td_numbering_enter(&self->layout->numbering, gpu->run, gpu->traits->value_bytes, &self->renumbered,
                                gpu->options->pool));
    gpu->graph = cpu->graph = &self->layout->shadow;
    gpu->both = false; /* one list per part */
    cpu->view.lists = 2;
    cpu->view.push[0] = split->push.hot;
    cpu->view.push[1] = split->push.rest;
    cpu->view.pull[0] = split->pull.hot;
    cpu->view.pull[1] = split->pull.rest;
    cpu->setup.bare = !fused;
    cpu->setup.by_rounds = true;
    TD_CHECK(make_own_pool(self));
    TD_CHECK(td_cpu_job_open(cpu, gpu->run, &self->cpu_options));
    cpu->coop.hot = self->layout->cut->hot.offsets;
    cpu->coop.rest = self->layout->cut->rest.offsets;
    if (gpu->prioritised)
        cpu->setup.delta = td_gpu_delta(cpu->graph, gpu->delta > 0 ? gpu->delta : td_gpu_delta(cpu->graph, 0) * STEP);
    self->setup.link = self->setup.link && self->layout->readable;
    fill_state(self);
    self->share.lane[TD_COOP_HOT] = self->share.lane[TD_COOP_REST] = gpu->stream;
    return fused ? make_frontier(self) : td_coop_make_sums(self);
}

static void tear_down(td_coop_job *self, td_status status)
{
    td_coop_graph *layout = self->layout;
    td_failure failure;
    td_failure_keep(&failure);
    if (layout != NULL && layout->incoming != NULL) { /* opened last, so that all streams are open */
        (void)td_stream_synchronize(layout->copies);
        (void)td_stream_synchronize(layout->hot_stream);
        (void)td_stream_synchronize(layout->incoming);
    }
    if (self->gpu.stream != NULL) (void)td_stream_synchronize(self->gpu.stream);
    for (int i = 0; i < self->pin_count; i++) td_device_unpin(layout->device, self->pins[i]);
    td_gpu_job_close(&self->gpu);
    if (self->cpu.setup.bare)
        self->cpu.messages = self->cpu.values = self->cpu.next_messages = self->cpu.next_values = NULL;
    td_cpu_job_close(&self->cpu);
    td_free(self->push.blocks);
    td_free(self->push.before[TD_COOP_HOT]);
    td_free(self->push.before[TD_COOP_REST]);
    td_free(self->push.queue_values);
    td_free(self->push.changed);
    td_free(self->push.given);
    td_free(self->push.pending);
    td_free(self->sums.own);
    for (int i = 0; i < 2; i++) {
        if (self->sums.messages[i] != self->kept.values[i]) td_free(self->sums.messages[i]);
        td_free(self->kept.values[i]);
    }
    td_free(self->cpu.coop.partials);
    td_free(self->cpu.coop.cut);
    td_pool_destroy(self->own_pool);
    td_gpu_layout_release(self->gpu.options, status != TD_OK);
    if (status != TD_OK) td_failure_set(&failure);
}

/* Results. */

static td_status copy_result(td_coop_job *self)
{
    td_run *run = self->gpu.run;
    const void *values = self->gpu.traits->fused ? self->cpu.values : self->kept.values[self->kept.last];
    TD_CHECK(td_numbering_copy_result(&self->layout->numbering, run, values, self->gpu.traits->value_bytes,
                                    self->gpu.options->pool));
    run->array_bytes = self->gpu.graph->vertices * self->gpu.traits->value_bytes;
    return TD_OK;
}

/* Running. */

static td_status run_together(td_coop_job *self)
{
    if (!self->gpu.traits->fused) return td_coop_pulls(self);
    return self->gpu.prioritised ? td_coop_steps(self) : td_coop_rounds(self);
}

static td_status fall_back_to_cpu(td_run *run, const td_run_options *options, const char *why)
{
    td_info("coop: %s; the CPU runs it alone", why);
    run->engine = td_cpu_engine.name;
    TD_CHECK(td_checks_lists(run->graph, true, options->pool));
    return td_cpu_run(run, options);
}

/* A search over a graph whose order has close neighbours has many small frontiers, for which a GPU does not pay. */
static bool walks_alone(const td_coop_job *self)
{
    return self->gpu.traits->fused && self->setup.stored_order && self->setup.invoke == TD_INVOKE_MEASURED &&
           self->gpu.run->program->info->needs_source && self->gpu.run->resumed == NULL;
}

/* If the GPU is lost, the CPU finishes the run. */
static td_status go_on_alone(td_coop_job *self, bool *alone)
{
    char message[TD_MESSAGE_BYTES];
    snprintf(message, sizeof message, "%s", td_last_message());
    TD_CHECK(td_coop_recover(self));
    td_run_end_processing(self->gpu.run, self->cpu.progress.began);
    td_warn("%s; the CPU continues alone after %u iterations", message, self->gpu.run->iterations);
    *alone = true;
    return TD_OK;
}

static td_status leave(td_coop_job *self, bool *alone)
{
    td_run *run = self->gpu.run;
    td_info("coop: frontiers stay small; the CPU runs it alone");
    run->row_count = run->iterations = 0;
    run->edges_processed = 0;
    td_run_end_processing(run, self->cpu.progress.began);
    *alone = true;
    return TD_OK;
}

static td_status run_coop(td_coop_job *self, td_run *run, const td_run_options *options, uint64_t began, bool *alone)
{
    self->gpu.run_began = self->cpu.progress.began = td_clock_ns();
    run->prepare_seconds = td_seconds_since(began);
    td_gpu_start_counting(&self->gpu);
    TD_CHECK(td_checkpoints_begin(run));
    td_status status = run_together(self);
    if (status == TD_DEVICE) return go_on_alone(self, alone);
    TD_CHECK(status);
    if (self->rates.leaves) return leave(self, alone);
    td_checkpoints_finish(run);
    td_run_end_processing(run, self->cpu.progress.began);
    td_gpu_stop_counting(&self->gpu);
    if (self->gpu.balance == TD_BALANCE_IWB) td_run_count(run, "tasks_moved", self->gpu.control->tasks_moved);
    TD_CHECK(td_cpu_report_workers(&self->cpu));
    td_device_use_of(&run->devices, run->device)->row.busy_seconds = (double)self->rates.gpu_busy_in_all * 1e-9;
    td_numbering_leave(run, &self->renumbered);
    TD_CHECK(copy_result(self));
    if (self->setup.prepared) td_run_count(run, "prepared", self->layout->prepared);
    if (!options->parents) return TD_OK;
    TD_CHECK(td_checks_lists(run->graph, true, options->pool));
    return td_cpu_parents(run, options);
}

/* The CPU finishes a run after the GPU was lost or frontiers stayed small. */
static td_status end_alone(td_run *run, const td_run_options *options)
{
    double seconds = run->seconds;
    uint32_t rows = run->row_count;
    TD_CHECK(td_checks_lists(run->graph, true, options->pool));
    TD_CHECK(td_cpu_run(run, options));
    for (; rows < run->row_count; rows++) run->full_rows[rows].edges_cpu = run->rows[rows].edges;
    run->seconds += seconds;
    return TD_OK;
}

/* After the split: why the GPU takes no part in the run, or NULL. */
static const char *find_reason_against(const td_coop_job *self)
{
    const td_split *split = &self->layout->split;
    if (split->inside == 0) return "no vertex with its edges fits in the GPU memory allowed";
    if (self->gpu.traits->fused || td_coop_invokes(self, split->edges, split->hot_edges)) return NULL;
    return self->setup.invoke == TD_INVOKE_NEVER ? "coop.invoke=never" : "coop.invoke never uses the GPU on this graph";
}

static td_status run_plan(const td_plan *plan, td_run *run)
{
    td_status status = TD_OK;
    const td_coop_bytes *bytes = plan->shape;
    const td_run_options *options = &plan->options;
    uint64_t began = td_clock_ns();
    double prepared = run->prepare_seconds;
    bool async = run->async, alone = false;
    td_coop_job self = {0};
    const char *reason = NULL;
    if (run->resumed != NULL && run->resumed->converged)
        return fall_back_to_cpu(run, options, "the checkpoint is of a run that had converged");
    run->async = false;
    TD_CHECK(td_gpu_job_open(&self.gpu, run, options));
    TD_TRY(td_coop_read_settings(&self));
    if (walks_alone(&self)) {
        reason = "neighbours have close numbers, so the frontiers of a search stay small";
        goto done;
    }
    TD_TRY(td_gpu_layout_acquire(&td_coop_layout_kind, run->graph, options, &self.layout));
    self.setup.probe_bytes = bytes->program;
    TD_TRY(td_coop_prepare(&self, bytes->room));
    reason = find_reason_against(&self);
    if (reason != NULL) goto done;
    if (options->mode == TD_MODE_ASYNC && options->resume == NULL) /* a checkpoint may be of an asynchronous run */
        TD_TRY(td_fail(TD_USAGE, "{async} has no effect: iterations shared by GPU and CPU are synchronous; leave it out, "
                       "or use {engine} cpu or stream"));
    TD_TRY(td_gpu_job_start(&self.gpu, self.layout->device, self.layout->stream));
    TD_TRY(set_up(&self));
    TD_TRY(run_coop(&self, run, options, began, &alone));
    run->prepare_seconds += prepared;
done:
    td_numbering_leave(run, &self.renumbered);
    tear_down(&self, alone && !self.rates.leaves ? TD_DEVICE : status);
    if (reason != NULL || alone) run->async = async; /* the CPU alone may run asynchronously */
    if (status == TD_OK && alone) return end_alone(run, options);
    return status == TD_OK && reason != NULL ? fall_back_to_cpu(run, options, reason) : status;
}

/* Refuses settings that contradict each other or the request, whether or not the GPU takes part. */
static td_status check_request(const td_program *program, const td_run_options *options)
{
    double set[SETTINGS];
    const td_settings *settings = options->settings;
    TD_CHECK(td_settings_resolve(settings, "coop", td_coop_settings, set, NULL));
    bool by_paper = td_settings_given(settings, "coop.tau") || td_settings_given(settings, "coop.theta");
    if (by_paper && set[SET_INVOKE] != TD_INVOKE_PAPER)
        return td_fail(TD_USAGE, "coop.tau and coop.theta need coop.invoke=paper");
    if (td_settings_given(settings, "coop.order") && set[SET_EXTRACT] == TD_EXTRACT_RANDOM)
        return td_fail(TD_USAGE, "coop.order has no effect with coop.extract=random, which uses a "
                                 "random order");
    if (set[SET_DELTA] > 0 && options->has_iterations)
        return td_fail(TD_USAGE, "coop.delta is the width of a bucket of delta-stepping, and a limit on "
                                 "iterations makes sssp run plain rounds; leave one of them out");
    return set[SET_SINKS] == 1 ? td_run_check_sinks("coop", program, options, options->mode == TD_MODE_ASYNC) : TD_OK;
}

/* The graph that is divided: a search with coop.sinks=defer leaves out the edges to sinks. */
static td_status choose_graph(const td_program *program, const td_graph *graph, const td_run_options *options,
                              const td_graph **out)
{
    double sinks;
    *out = graph;
    TD_CHECK(td_settings_number(options->settings, "coop", td_coop_settings, "sinks", &sinks));
    return sinks == 1 && program->cpu[TD_WEIGHT_NONE].fused ? td_run_graph_without_sinks(graph, options, out) : TD_OK;
}

/* Sinks receive once, on the CPU, when all other values are final; then parents are those of the whole graph. */
static td_status run_deferring(const td_plan *plan, td_run *run)
{
    const td_run_options *options = &plan->options;
    const td_graph *whole = run->graph;
    TD_CHECK(choose_graph(run->program, whole, options, &run->graph));
    td_status status = run_plan(plan, run);
    bool deferred = run->graph != whole;
    run->graph = whole;
    if (status != TD_OK || !deferred) return status;
    TD_CHECK(td_cpu_settle_sinks(run, options));
    if (!options->parents) return TD_OK;
    td_free(run->parents);
    run->parents = NULL;
    return td_cpu_parents(run, options);
}

static td_status plan_coop(td_plan *plan)
{
    const td_run_options *options = &plan->options;
    td_coop_bytes *need;
    td_gpu_set *gpus;
    const td_graph *graph;
    TD_CHECK(check_request(plan->program, options));
    if (!td_coop_cooperates(plan->program)) {
        td_plan_say(plan, false, "coop: iterations of this program cannot be divided; the CPU runs it alone");
        return td_plan_delegate(plan, &td_cpu_engine, "; coop cannot divide its iterations, so the CPU runs it");
    }
    TD_CHECK(td_gpu_check_vertices(plan->graph, "coop"));
    TD_CHECK(td_gpu_set_open(options, "coop", &gpus));
    TD_CHECK(td_plan_shape(plan, &need, sizeof *need));
    TD_CHECK(td_coop_plan(plan->program, plan->graph, options, gpus->gpu[0], false, need));
    if (need->all) {
        td_plan_say(plan, false, "coop: the graph fits on the GPU; the resident engine runs it");
        return td_plan_delegate(plan, &td_resident_engine,
                                 "; the graph fits on the GPU, so the resident engine runs it");
    }
    TD_CHECK(choose_graph(plan->program, plan->graph, options, &graph));
    if (graph != plan->graph) TD_CHECK(td_coop_plan(plan->program, graph, options, gpus->gpu[0], true, need));
    td_plan_on_device(plan, gpus->gpu[0], need->hot + need->vertices - need->program, need->program, false);
    plan->program_bytes = need->host + td_gpu_run_bytes(1);
    if (!need->prepared) return TD_OK;
    char text[128];
    snprintf(text, sizeof text, "coop: the split is read as it was prepared (%s)", need->layout);
    td_plan_say(plan, false, text);
    td_plan_reads(plan, need->layout);
    if (!options->parents) td_plan_spares_lists(plan);
    return TD_OK;
}

static bool spares_lists(const td_plan *plan)
{
    const td_coop_bytes *need = plan->shape;
    return need->prepared;
}

#define COLUMN(kind, field) {#field, TD_COLUMN_##kind, offsetof(td_row, field)}
static const td_column columns[] = {
    COLUMN(U64, edges_gpu), COLUMN(U64, edges_link), COLUMN(U64, edges_cpu), COLUMN(U64, edges_on_demand),
    COLUMN(U64, bytes_synchronised), COLUMN(REAL, gpu_idle_seconds), COLUMN(REAL, cpu_idle_seconds),
    COLUMN(REAL, cpu_waited_seconds), {0},
};

const td_engine td_coop_engine = {
    .name = "coop",
    .summary = "a graph larger than GPU memory: the hot part on the GPU, the rest on the CPU; both process edges until "
               "the iteration ends (CGgraph)",
    .device = "cuda or emu",
    .uses_devices = TD_USES_CPU | TD_USES_GPU,
    .needs_gpu = true,
    .limits_edges = true,
    .strict = true,
    .settings = td_coop_settings,
    .uses = td_coop_uses,
    .estimate = td_coop_estimate,
    .plan = plan_coop,
    .layout = td_coop_layout,
    .make_layout = td_coop_make_layout,
    .spares_lists = spares_lists,
    .run = run_deferring,
    .columns = columns,
};
