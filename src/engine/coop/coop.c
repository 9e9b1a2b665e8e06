/* The coop engine: a run is set up and taken down here. What the two cannot do together is the CPU's, and a graph that
 * fits the GPU whole is the resident engine's. */
#include "engine/coop/coop.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/size.h"
#include "run/checkpoint.h"

#include <stdio.h>
#include <string.h>

enum {
    SET_ORDER, SET_EXTRACT, SET_ON_DEMAND, SET_LINK, SET_COMPRESS, SET_INVOKE, SET_TAU, SET_THETA, SET_PIECE, SET_DELTA,
    SET_SINKS, SETTINGS,
};

enum { ORDER_AUTO = TD_ORDERS }; /* behind the orders */

const td_setting td_coop_settings[] = {
    [SET_ORDER] = {"order", TD_SETTING_CHOICE, ORDER_AUTO, 0, 0, "none|hot|indegree|random|rcm|auto",
                   "order of vertices whose first ones are the hot part; none: as the graph numbers them "
                   "('tandem reorder'); auto: hot, unless neighbours have near numbers"},
    [SET_EXTRACT] = {"extract", TD_SETTING_CHOICE, TD_EXTRACT_VERTEXEDGE, 0, 0, "vertexedge|vertex|random",
                     "hot edges: with both ends among the first vertices, all of the first vertices', between vertices "
                     "drawn at random"},
    [SET_ON_DEMAND] = {"on_demand", TD_SETTING_CHOICE, 0, 0, 0, "on|off",
                       "idle workers take what still waits for the GPU"},
    [SET_LINK] = {"link", TD_SETTING_CHOICE, 0, 0, 0, "on|off",
                  "an idle GPU takes what still waits for the workers, reading the edges from the host's memory"},
    [SET_COMPRESS] = {"compress", TD_SETTING_CHOICE, 0, 0, 0, "on|off",
                      "what crosses the link for programs that add up does so in fewer bits, where there are no "
                      "weights"},
    [SET_INVOKE] = {"invoke", TD_SETTING_CHOICE, TD_INVOKE_MEASURED, 0, 0, "paper|measured|always|never",
                    "whether the GPU takes part in an iteration: by tau and theta, or where it takes less time by "
                    "rates measured here"},
    [SET_TAU] = {"tau", TD_SETTING_NUMBER, 2.5e6, 0, 1e18, NULL,
                 "active edges above which the GPU takes part (invoke=paper)"},
    [SET_THETA] = {"theta", TD_SETTING_NUMBER, 0.35, 0, 1, NULL, "share of them that must be hot (invoke=paper)"},
    [SET_PIECE] = {"piece", TD_SETTING_WHOLE, 1 << 18, 1, 1e12, NULL,
                   "edges that the GPU is given at a time, at least; workers get a 16th each"},
    [SET_DELTA] = {"delta", TD_SETTING_NUMBER, 0, 0, 1e30, NULL,
                   "sssp: width of a step of distances; 0: from the weights"},
    [SET_SINKS] = {"sinks", TD_SETTING_CHOICE, 0, 0, 0, "now|defer",
                   "vertices without out-edges: with all others, or once at the end"},
    [SETTINGS] = {0},
};

bool td_coop_uses(const td_program *program, const char *setting)
{
    const td_cpu_kernels *k = program->cpu;
    if (!td_coop_cooperates(program)) return false;
    if (strcmp(setting, "delta") == 0) return k->schedule == TD_SCHEDULE_PRIORITY;
    if (strcmp(setting, "compress") == 0) return !k->fused && program->info->weights == TD_WEIGHTS_UNUSED;
    if (strcmp(setting, "sinks") == 0) return !k->fused && k->view == TD_VIEW_FORWARD;
    return true;
}

/* Settings. */

bool td_coop_compresses(const td_run_options *options)
{
    double set[SETTINGS];
    td_status status = td_settings_resolve(options->settings, "coop", td_coop_settings, set, NULL);
    if (status != TD_OK) return true; /* refused in time */
    return set[SET_COMPRESS] == 0 && set[SET_LINK] == 0;
}

static const double STEP = 0.6;     /* of the resident engine's width: an edge again costs more than a round here */
static const double OVERHEAD = 3e5; /* ns of the frontier's way to the GPU and back, before it was measured */

static td_status check_sinks(const td_coop_job *self)
{
    const td_run *run = self->gpu.run;
    int choice = run->program->info->sinks_choice;
    if (self->order != TD_ORDER_HOT || self->extract == TD_EXTRACT_RANDOM)
        return td_fail(TD_USAGE, "coop.sinks=defer needs coop.order=hot, which has the vertices without "
                                 "out-edges last");
    if (choice > 0 && run->context.parameter[choice - 1] == 0)
        return td_fail(TD_USAGE, "coop.sinks=defer: %s needs the values of vertices without out-edges before the "
                                 "end (unless pagerank.dangling=ignore)", run->program->info->name);
    return TD_OK;
}

/* Where results are the vertices' own numbers the order must not change them while they are under way; at the end a
 * component is a component. A program that looks at numbers gets those of the graph. */
static bool keeps_numbers(const td_coop_job *self)
{
    const td_run_options *options = self->gpu.options;
    const td_program_info *info = self->gpu.run->program->info;
    bool under_way = self->gpu.has_limit || options->checkpoint != NULL || options->resume != NULL;
    return !info->renumbers || (info->vertex_values && under_way);
}

/* An order that has neighbours near each other is worth more than one by heat: lists in fewer bits, values in
 * caches. */
static td_order choose_order(td_coop_job *self, double set)
{
    static const double LOCAL = 0.25;
    if (keeps_numbers(self)) return TD_ORDER_NONE;
    if (set != ORDER_AUTO) return (td_order)set;
    self->kept_order = !self->defer_sinks && td_share_near(self->gpu.run->graph) >= LOCAL;
    return self->kept_order ? TD_ORDER_NONE : TD_ORDER_HOT;
}

td_status td_coop_read_settings(td_coop_job *self)
{
    double set[SETTINGS];
    const td_settings *settings = self->gpu.options->settings;
    const td_program_info *info = self->gpu.run->program->info;
    TD_CHECK(td_settings_resolve(settings, "coop", td_coop_settings, set, NULL));
    self->defer_sinks = set[SET_SINKS] == 1;
    self->order = choose_order(self, set[SET_ORDER]);
    self->extract = (td_split_extract)set[SET_EXTRACT];
    if (keeps_numbers(self) && self->extract == TD_EXTRACT_RANDOM) self->extract = TD_EXTRACT_VERTEXEDGE;
    bool loud = !self->gpu.memory.measures; /* a plan may be refused */
    if (loud && td_settings_given(settings, "coop.order") && keeps_numbers(self) && set[SET_ORDER] != TD_ORDER_NONE)
        td_warn("coop.order: %s keeps the graph's own order%s", info->name,
                info->renumbers ? " under an iteration limit and with checkpoints, because its values are vertices"
                                : ", because its values may depend on vertices' numbers");
    self->on_demand = set[SET_ON_DEMAND] == 0;
    self->link = set[SET_LINK] == 0;
    self->compress = set[SET_COMPRESS] == 0 && self->link;
    self->invoke = (td_coop_invoke)set[SET_INVOKE];
    self->tau = set[SET_TAU];
    self->theta = set[SET_THETA];
    self->piece = (uint64_t)set[SET_PIECE];
    self->overhead = OVERHEAD;
    self->gpu.delta = set[SET_DELTA];
    self->gpu.prioritised = self->gpu.traits->schedule == TD_SCHEDULE_PRIORITY && !self->gpu.has_limit;
    return self->defer_sinks ? check_sinks(self) : TD_OK;
}

/* Setting up. */

td_status td_coop_new_pinned(td_coop_job *self, void *out, uint64_t count, uint64_t bytes, const char *what)
{
    void *memory, *seen;
    TD_CHECK(td_host_declare(&self->gpu.memory.host, out, count, bytes, what));
    if (self->gpu.memory.measures) return TD_OK;
    memcpy(&memory, out, sizeof memory);
    if (count > 0 && td_device_pin(self->held->device, memory, count * bytes, &seen) == TD_OK)
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
    state->out_offsets = self->held->out;
    state->push_offsets = self->held->rest.offsets;
    gpu->mean_degree = (uint32_t)(gpu->graph->edges / gpu->graph->vertices + 1);
    gpu->balance = TD_BALANCE_WARP;
    gpu->high_degree = TD_COOP_HEAVY;
    gpu->has_high_degree = self->held->longest >= TD_COOP_HEAVY;
}

/* Arrays of programs that push at the host: the frontier in blocks, what goes back and forth. */
static td_status declare_frontier(td_coop_job *self)
{
    td_host_memory *host = &self->gpu.memory.host;
    uint64_t n = self->gpu.graph->vertices, bytes = self->gpu.traits->value_bytes;
    self->block_count = (n + TD_BLOCK_WORDS * 64 - 1) / (TD_BLOCK_WORDS * 64);
    TD_CHECK(td_host_declare(host, &self->blocks, self->block_count + 1, sizeof *self->blocks,
                             "blocks of the frontier"));
    for (int i = 0; i < TD_POTS; i++)
        TD_CHECK(td_host_declare(host, &self->before[i], self->block_count + 1, sizeof(uint64_t),
                                 "blocks of the frontier"));
    TD_CHECK(td_coop_new_pinned(self, &self->told, n, bytes, "values of the frontier"));
    TD_CHECK(td_coop_new_pinned(self, &self->changed, n, sizeof(uint32_t), "vertices that changed"));
    TD_CHECK(td_coop_new_pinned(self, &self->given, n, bytes, "their values"));
    if (!self->gpu.prioritised) return TD_OK;
    return td_host_declare_zeroed(host, &self->pending, td_cpu_words(&self->cpu), sizeof *self->pending,
                                  "vertices put off");
}

td_status td_coop_declare_host(td_coop_job *self)
{
    return self->gpu.traits->fused ? declare_frontier(self) : td_coop_declare_sums(self);
}

static td_status make_frontier(td_coop_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    td_gpu_state *state = &gpu->state;
    uint64_t n = gpu->graph->vertices;
    void *seen;
    TD_CHECK(td_coop_declare_arrays(self));
    TD_CHECK(td_gpu_send_inputs(gpu));
    TD_CHECK(td_gpu_reset(gpu));
    td_init_args args = {.state = *state};
    TD_CHECK(td_gpu_launch(gpu, gpu->stream, &gpu->kernels->init, n, &args));
    TD_CHECK(td_gpu_clear_map(gpu, state->active));
    TD_CHECK(td_gpu_clear_map(gpu, state->next_active));
    TD_CHECK(td_stream_synchronize(gpu->stream));
    TD_CHECK(td_coop_declare_host(self));
    uint32_t *const queues[] = {self->cpu.queue, self->cpu.next_queue};
    for (int i = 0; i < 2; i++)
        if (td_device_pin(gpu->device, queues[i], n * sizeof(uint32_t), &seen) == TD_OK)
            self->pins[self->pin_count++] = queues[i];
    return TD_OK;
}

/* Workers who never sleep on every core would keep the driver's thread from telling for milliseconds what the GPU has
 * done: one core is left to it. */
static td_status make_crew(td_coop_job *self)
{
    enum { LEAST_CORES = 4 };
    const td_run_options *options = self->gpu.options;
    int threads = td_pool_threads(options->pool);
    self->cpu_options = *options;
    bool crowded = threads >= LEAST_CORES && threads >= td_machine_usable();
    if (self->gpu.device->kind == TD_DEVICE_EMULATOR || !crowded) return TD_OK;
    TD_CHECK(td_pool_create(&self->crew, threads - 1));
    self->cpu_options.pool = self->crew;
    return TD_OK;
}

static td_status set_up(td_coop_job *self)
{
    td_gpu_job *gpu = &self->gpu;
    td_cpu_job *cpu = &self->cpu;
    const td_split *split = &self->held->split;
    bool fused = gpu->traits->fused;
    TD_CHECK(td_numbering_enter(&self->held->numbering, gpu->run, gpu->traits->value_bytes, &self->renumbered,
                                gpu->options->pool));
    gpu->graph = cpu->graph = &self->held->shadow;
    gpu->both = false; /* one list */
    cpu->lists = 2;
    cpu->push[0] = split->push.hot;
    cpu->push[1] = split->push.rest;
    cpu->pull[0] = split->pull.hot;
    cpu->pull[1] = split->pull.rest;
    cpu->bare = !fused;
    cpu->by_rounds = true;
    TD_CHECK(make_crew(self));
    TD_CHECK(td_cpu_job_open(cpu, gpu->run, &self->cpu_options));
    cpu->coop.hot = self->held->cut->hot.offsets;
    cpu->coop.rest = self->held->cut->rest.offsets;
    if (gpu->prioritised)
        cpu->delta = td_gpu_delta(cpu->graph, gpu->delta > 0 ? gpu->delta : td_gpu_delta(cpu->graph, 0) * STEP);
    self->link = self->link && self->held->readable;
    fill_state(self);
    self->lane[TD_POT_HOT] = self->lane[TD_POT_REST] = gpu->stream;
    return fused ? make_frontier(self) : td_coop_make_sums(self);
}

static void tear_down(td_coop_job *self, td_status status)
{
    td_coop_graph *held = self->held;
    td_failure failure;
    td_failure_keep(&failure);
    if (held != NULL && held->incoming != NULL) { /* the last to be opened */
        (void)td_stream_synchronize(held->copies);
        (void)td_stream_synchronize(held->hot_stream);
        (void)td_stream_synchronize(held->incoming);
    }
    if (self->gpu.stream != NULL) (void)td_stream_synchronize(self->gpu.stream);
    for (int i = 0; i < self->pin_count; i++) td_device_unpin(held->device, self->pins[i]);
    td_gpu_job_close(&self->gpu);
    if (self->cpu.bare) self->cpu.messages = self->cpu.values = self->cpu.next_messages = self->cpu.next_values = NULL;
    td_cpu_job_close(&self->cpu);
    td_free(self->blocks);
    td_free(self->before[TD_POT_HOT]);
    td_free(self->before[TD_POT_REST]);
    td_free(self->told);
    td_free(self->changed);
    td_free(self->given);
    td_free(self->pending);
    td_free(self->sums);
    for (int i = 0; i < 2; i++) {
        if (self->messages[i] != self->snapshot[i]) td_free(self->messages[i]);
        td_free(self->snapshot[i]);
    }
    td_free(self->cpu.coop.partials);
    td_free(self->cpu.coop.cut);
    td_pool_destroy(self->crew);
    td_gpu_let_go(self->gpu.options, status != TD_OK);
    if (status != TD_OK) td_failure_set(&failure);
}

/* Results. */

static td_status hand_over(td_coop_job *self)
{
    td_run *run = self->gpu.run;
    const void *values = self->gpu.traits->fused ? self->cpu.values : self->snapshot[self->last_snapshot];
    TD_CHECK(td_numbering_hand_over(&self->held->numbering, run, values, self->gpu.traits->value_bytes,
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

static td_status stand_aside(td_run *run, const td_run_options *options, const char *why)
{
    td_info("coop: %s; the CPU does it alone", why);
    run->engine = td_cpu_engine.name;
    return td_cpu_run(run, options);
}

/* A search over a graph whose own order is kept goes a long way in small steps, which a GPU does not pay for. */
static bool walks_alone(const td_coop_job *self)
{
    return self->gpu.traits->fused && self->kept_order && self->invoke == TD_INVOKE_MEASURED &&
           self->gpu.run->program->info->needs_source && self->gpu.run->resumed == NULL;
}

/* A GPU that is lost does not take the run with it. */
static td_status go_on_alone(td_coop_job *self, bool *alone)
{
    char message[TD_MESSAGE_BYTES];
    snprintf(message, sizeof message, "%s", td_last_message());
    TD_CHECK(td_coop_recover(self));
    self->gpu.run->seconds = td_seconds_since(self->cpu.run_began);
    td_warn("%s; the CPU goes on alone after %u iterations", message, self->gpu.run->iterations);
    *alone = true;
    return TD_OK;
}

static td_status leave(td_coop_job *self, bool *alone)
{
    td_run *run = self->gpu.run;
    td_info("coop: frontiers stay small; the CPU does it alone");
    run->row_count = run->iterations = 0;
    run->edges_processed = 0;
    run->seconds = td_seconds_since(self->cpu.run_began);
    *alone = true;
    return TD_OK;
}

static td_status run_coop(td_coop_job *self, td_run *run, const td_run_options *options, uint64_t began, bool *alone)
{
    self->gpu.run_began = self->cpu.run_began = td_clock_ns();
    run->prepare_seconds = td_seconds_since(began);
    td_gpu_start_counting(&self->gpu);
    TD_CHECK(td_checkpoints_begin(run));
    td_status status = run_together(self);
    if (status == TD_DEVICE) return go_on_alone(self, alone);
    TD_CHECK(status);
    if (self->leaves) return leave(self, alone);
    td_checkpoints_finish(run);
    run->seconds = td_seconds_since(self->cpu.run_began);
    td_gpu_stop_counting(&self->gpu);
    td_device_use_of(&run->devices, run->device)->row.busy_seconds = (double)self->gpu_busy_in_all * 1e-9;
    td_numbering_leave(run, &self->renumbered);
    TD_CHECK(hand_over(self));
    return options->parents ? td_cpu_parents(run, options) : TD_OK;
}

/* The CPU ends what a lost GPU, or frontiers that stay small, left. */
static td_status end_alone(td_run *run, const td_run_options *options)
{
    double seconds = run->seconds;
    uint32_t rows = run->row_count;
    TD_CHECK(td_cpu_run(run, options));
    for (; rows < run->row_count; rows++) run->rows[rows].edges_cpu = run->rows[rows].edges;
    run->seconds += seconds;
    return TD_OK;
}

/* Once the graph is cut: why the GPU has no part in the run, or NULL. */
static const char *find_reason_against(const td_coop_job *self)
{
    const td_split *split = &self->held->split;
    if (split->inside == 0) return "no vertex and its edges fit what the GPU may hold";
    if (self->gpu.traits->fused || td_coop_invokes(self, split->edges, split->hot_edges)) return NULL;
    return self->invoke == TD_INVOKE_NEVER ? "coop.invoke=never" : "the GPU would not pay by coop.invoke";
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
    const char *aside = NULL;
    if (run->resumed != NULL && run->resumed->converged)
        return stand_aside(run, options, "the checkpoint is that of a run that was through");
    run->async = false;
    TD_CHECK(td_gpu_job_open(&self.gpu, run, options));
    TD_TRY(td_coop_read_settings(&self));
    if (walks_alone(&self)) {
        aside = "neighbours have near numbers, so a search's frontiers stay small";
        goto done;
    }
    TD_TRY(td_gpu_hold(&td_coop_keeper, run->graph, options, &self.held));
    self.probe_bytes = bytes->program;
    TD_TRY(td_coop_hold(&self, bytes->room));
    aside = find_reason_against(&self);
    if (aside != NULL) goto done;
    TD_TRY(td_gpu_job_start(&self.gpu, self.held->device, self.held->stream));
    TD_TRY(set_up(&self));
    if (async) td_warn("--async changes nothing: iterations that the GPU and the CPU share are synchronous");
    TD_TRY(run_coop(&self, run, options, began, &alone));
    run->prepare_seconds += prepared;
done:
    td_numbering_leave(run, &self.renumbered);
    tear_down(&self, alone && !self.leaves ? TD_DEVICE : status);
    if (aside != NULL || alone) run->async = async; /* the CPU's */
    if (status == TD_OK && alone) return end_alone(run, options);
    return status == TD_OK && aside != NULL ? stand_aside(run, options, aside) : status;
}

/* Settings that contradict each other or the request are refused whether or not the GPU has a part in the run. */
static td_status check_request(const td_run_options *options)
{
    double set[SETTINGS];
    const td_settings *settings = options->settings;
    TD_CHECK(td_settings_resolve(settings, "coop", td_coop_settings, set, NULL));
    bool by_paper = td_settings_given(settings, "coop.tau") || td_settings_given(settings, "coop.theta");
    if (by_paper && set[SET_INVOKE] != TD_INVOKE_PAPER)
        return td_fail(TD_USAGE, "coop.tau and coop.theta are those of coop.invoke=paper");
    if (td_settings_given(settings, "coop.order") && set[SET_EXTRACT] == TD_EXTRACT_RANDOM)
        return td_fail(TD_USAGE, "coop.order changes nothing with coop.extract=random, which draws an "
                                 "order of its own");
    if (set[SET_DELTA] > 0 && options->has_iterations)
        return td_fail(TD_USAGE, "coop.delta is the width of a step of sssp's distances, which an iteration "
                                 "limit replaces by rounds");
    if (set[SET_SINKS] == 1 && (options->checkpoint != NULL || options->resume != NULL))
        return td_fail(TD_USAGE, "coop.sinks=defer leaves vertices without out-edges behind the others, which a "
                                 "checkpoint cannot hold");
    if (set[SET_SINKS] == 1 && options->has_iterations)
        return td_fail(TD_USAGE, "coop.sinks=defer needs a run to the end: under an iteration limit vertices without "
                                 "out-edges would be an iteration ahead of the others");
    return TD_OK;
}

static td_status plan_coop(td_plan *plan)
{
    const td_run_options *options = &plan->options;
    td_coop_bytes *need;
    td_gpu_set *gpus;
    TD_CHECK(check_request(options));
    if (!td_coop_cooperates(plan->program)) {
        td_plan_say(plan, false, "coop: the two cannot share an iteration of this program; the CPU does it alone");
        return td_plan_hand_over(plan, &td_cpu_engine, "; coop cannot divide its iterations, so that the CPU does it");
    }
    TD_CHECK(td_gpu_check_vertices(plan->graph, "coop"));
    TD_CHECK(td_gpu_set_open(options, "coop", &gpus));
    TD_CHECK(td_plan_shape(plan, &need, sizeof *need));
    TD_CHECK(td_coop_plan(plan->program, plan->graph, options, gpus->gpu[0], need));
    if (need->all) {
        td_plan_say(plan, false, "coop: the graph fits the GPU; the resident engine does it");
        return td_plan_hand_over(plan, &td_resident_engine,
                                 "; everything fits the GPU, so that the resident engine does it");
    }
    if (options->mode == TD_MODE_ASYNC) td_plan_add_why(plan, "; iterations that two share are synchronous");
    td_plan_on_device(plan, gpus->gpu[0], need->hot + need->vertices - need->program, need->program, false);
    plan->program_bytes = need->host;
    return TD_OK;
}

#define COLUMN(kind, field) {#field, TD_COLUMN_##kind, offsetof(td_row, field)}
static const td_column columns[] = {
    COLUMN(U64, edges_gpu), COLUMN(U64, edges_link), COLUMN(U64, edges_cpu), COLUMN(U64, edges_on_demand),
    COLUMN(U64, bytes_synchronised), COLUMN(REAL, gpu_idle_seconds), COLUMN(REAL, cpu_idle_seconds),
    COLUMN(REAL, cpu_waited_seconds), {0},
};

const td_engine td_coop_engine = {
    .name = "coop",
    .summary = "a graph larger than GPU memory: its hot part there, the rest at the CPU, both at work to the end of "
               "every iteration",
    .device = "cuda or emu",
    .uses_devices = TD_USES_CPU | TD_USES_GPU,
    .needs_gpu = true,
    .settings = td_coop_settings,
    .uses = td_coop_uses,
    .plan = plan_coop,
    .run = run_plan,
    .columns = columns,
};
