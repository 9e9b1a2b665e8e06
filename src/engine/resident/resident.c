/* The resident engine: a graph that fits in the GPU's memory is loaded once, and all iterations run there (src/gpu). */
#include "engine/resident/resident.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "cpu/cpu.h"
#include "run/parents.h"
#include "run/sinks.h"

#include <math.h>
#include <string.h>

enum {
    SET_DIRECTION, SET_BALANCE, SET_GATHER, SET_REPLICATION, SET_HIGH_DEGREE, SET_TINY, SET_SMALL, SET_ROUNDS,
    SET_DELTA, SET_SAMPLES, SET_SINKS, SETTINGS,
};

const td_setting td_resident_settings[] = {
    [SET_DIRECTION] = {"direction", TD_SETTING_CHOICE, 0, 0, 0, "auto|pull|push",
                       "push or pull; auto chooses for every iteration"},
    [SET_BALANCE] = {"balance", TD_SETTING_CHOICE, TD_BALANCE_WARP, 0, 0, "thread|cta|iwb|warp",
                     "load balance of a push. thread: a thread per vertex; cta: a thread, warp or block per vertex, by "
                     "degree; iwb: cta with medium lists passed between warps; warp: the lists of 32 vertices divided "
                     "evenly among the lanes"},
    [SET_GATHER] = {"gather", TD_SETTING_CHOICE, 0, 0, 0, "rows|shards",
                    "gather-sum of a pull. rows: equal pieces of the adjacency lists, with a segmented sum; shards: "
                    "Garaph's shards in shared memory"},
    [SET_REPLICATION] = {"replication", TD_SETTING_CHOICE, 0, 0, 0, "auto|1|2|4|8|16|32",
                         "copies of every accumulator (gather=shards); auto: from the shard's edges and vertices"},
    /* The bound lets the counters of 32 lanes add up in 32 bits. */
    [SET_HIGH_DEGREE] = {"high_degree", TD_SETTING_WHOLE, TD_GPU_PIECE, 32, 1 << 26, NULL,
                         "minimum degree at which a list is divided among all blocks"},
    [SET_TINY] = {"tiny", TD_SETTING_WHOLE, 0, 0, 4e9, NULL,
                  "edges of a frontier up to which one thread block cluster executes the rounds (balance=warp; needs a "
                  "GPU with clusters)"},
    [SET_SMALL] = {"small", TD_SETTING_WHOLE, 1 << 18, 0, 4e9, NULL,
                   "edges of a frontier up to which few blocks execute the rounds, because a grid barrier of few "
                   "blocks is faster"},
    [SET_ROUNDS] = {"rounds", TD_SETTING_WHOLE, TD_GPU_ROUNDS, 1, TD_GPU_ROUNDS, NULL,
                    "maximum number of rounds per launch; 1: the host decides after every round"},
    [SET_DELTA] = {"delta", TD_SETTING_NUMBER, 0, 0, 1e30, NULL,
                   "sssp: width of a bucket of delta-stepping; 0: from the weights"},
    [SET_SAMPLES] = {"samples", TD_SETTING_WHOLE, 2, 0, 64, NULL,
                     "wcc: edges of every vertex that are sampled to find the largest component, which later sweeps "
                     "skip (Afforest); 0: no sample"},
    [SET_SINKS] = {"sinks", TD_SETTING_CHOICE, 0, 0, 0, "now|defer",
                   "bfs, sssp: vertices without out-edges receive in every iteration, or once at the end, along a copy "
                   "of the lists divided by where edges lead"},
    [SETTINGS] = {0},
};

enum { LEAN_DEGREE = 8 }; /* mean degree up to which loops do not count edges in advance */

bool td_resident_uses(const td_program *program, const char *setting)
{
    const td_cpu_kernels *k = program->cpu;
    bool gas = program->info->kind == TD_KIND_GAS;
    if (strcmp(setting, "direction") == 0 || strcmp(setting, "gather") == 0 || strcmp(setting, "replication") == 0)
        return gas;
    if (strcmp(setting, "sinks") == 0) return gas && k->fused;
    if (strcmp(setting, "high_degree") == 0) return !gas || k->fused;
    if (strcmp(setting, "delta") == 0) return gas && k->schedule == TD_SCHEDULE_PRIORITY;
    return strcmp(setting, "samples") == 0 ? k->samples : gas && k->fused;
}

/* Replicated accumulators are those of shards. */
static bool applies(const td_settings *settings, const char *setting)
{
    double gather = 1;
    if (strcmp(setting, "replication") != 0) return true;
    (void)td_settings_number(settings, "resident", td_resident_settings, "gather", &gather);
    return gather == 1;
}

static const char *when(const char *setting)
{
    (void)setting;
    return "resident.gather=shards";
}

/* Reads the settings that memory depends on. */
static td_status read_choice(const td_settings *settings, td_gpu_choice *out)
{
    static const td_direction directions[] = {TD_DIRECTION_AUTO, TD_DIRECTION_PULL, TD_DIRECTION_PUSH};
    double set[SETTINGS];
    TD_CHECK(td_settings_resolve(settings, "resident", td_resident_settings, set, NULL));
    *out = (td_gpu_choice){directions[(int)set[SET_DIRECTION]], set[SET_GATHER] == 1, (uint64_t)set[SET_HIGH_DEGREE], NULL};
    return TD_OK;
}

/* The graph whose lists are loaded: with resident.sinks=defer, without edges to sinks. */
static td_status choose_graph(const td_program *program, const td_graph *graph, const td_run_options *options,
                              const td_graph **out)
{
    double sinks;
    *out = graph;
    TD_CHECK(td_settings_number(options->settings, "resident", td_resident_settings, "sinks", &sinks));
    if (sinks == 0 || !td_resident_uses(program, "sinks")) return TD_OK;
    TD_CHECK(td_run_check_sinks("resident", program, options, options->mode == TD_MODE_ASYNC));
    return td_run_graph_without_sinks(graph, options, out);
}

td_status td_resident_count_bytes(const td_program *program, const td_graph *graph, const td_run_options *options,
                                  td_gpu_bytes *out)
{
    td_gpu_choice choice;
    TD_CHECK(read_choice(options->settings, &choice));
    return td_gpu_count_bytes(program, graph, options, &choice, out);
}

/* Setting up. */

static td_status read_settings(td_gpu_job *job)
{
    double set[SETTINGS];
    static const uint32_t copies[] = {0, 1, 2, 4, 8, 16, 32};
    TD_CHECK(td_settings_resolve(job->options->settings, "resident", td_resident_settings, set, NULL));
    static const td_direction directions[] = {TD_DIRECTION_AUTO, TD_DIRECTION_PULL, TD_DIRECTION_PUSH};
    job->direction = directions[(int)set[SET_DIRECTION]];
    job->balance = (td_balance)set[SET_BALANCE];
    job->shards = set[SET_GATHER] == 1;
    job->copies = copies[(int)set[SET_REPLICATION]];
    job->high_degree = (uint32_t)set[SET_HIGH_DEGREE];
    job->tiny = (uint64_t)set[SET_TINY];
    job->small = (uint64_t)set[SET_SMALL];
    job->rounds = (uint32_t)set[SET_ROUNDS];
    job->delta = set[SET_DELTA];
    job->samples = (uint32_t)set[SET_SAMPLES];
    bool gas = job->run->program->info->kind == TD_KIND_GAS;
    if (job->direction == TD_DIRECTION_PUSH && gas && !job->traits->fused)
        return td_fail(TD_USAGE,
                       "resident.direction=push: %s needs the whole sum of a vertex at once; allowed are auto and pull",
                       job->run->program->info->name);
    job->prioritised = td_gpu_prioritises(job);
    if (job->delta > 0 && !job->prioritised)
        return td_fail(TD_USAGE,
                       "resident.delta is the width of a bucket of delta-stepping; with a limit on iterations or "
                       "resident.direction, sssp runs plain rounds");
    return TD_OK;
}

static td_status fill_state(td_gpu_job *job)
{
    td_gpu_state *state = &job->state;
    state->context = job->run->context;
    state->vertices = job->graph->vertices;
    state->weights = job->run->program->info->weights == TD_WEIGHTS_UNUSED ? TD_WEIGHT_NONE : job->graph->weights;
    state->symmetric = job->graph->symmetric;
    uint64_t edges = td_gpu_view_edges(job);
    job->mean_degree = (uint32_t)(edges / job->graph->vertices + 1);
    job->lean = job->mean_degree <= LEAN_DEGREE && edges <= UINT32_MAX;
    uint64_t longest = 0;
    if (job->push != NULL) TD_CHECK(td_gpu_longest(job, &longest));
    job->has_high_degree = longest >= job->high_degree;
    state->async = job->run->async;
    job->sampled = job->samples;
    state->first_hit = job->traits->first_hit && !job->run->async;
    state->out_offsets = job->layout->out.view.offsets;
    if (job->push != NULL) job->push_list = job->push->view;
    state->push_offsets = job->push != NULL ? job->push_list.offsets : state->out_offsets;
    if (job->pull == NULL) return TD_OK;
    job->pull_list = job->pull->view;
    return td_gpu_load_gathers(job);
}

static td_status set_up(td_gpu_job *job, const td_plan *plan)
{
    TD_CHECK(read_settings(job));
    TD_CHECK(td_gpu_layout_acquire(&td_gpu_graph_layout_kind, job->graph, job->options, &job->layout));
    TD_CHECK(td_gpu_job_start(job, job->layout->device, job->layout->stream));
    td_gpu_choose_lists(job);
    td_gpu_mark before = td_gpu_layout_mark(job->options);
    if (plan->device_graph_bytes + plan->device_program_bytes > td_device_left(job->device)) td_gpu_drop_others(job);
    TD_CHECK(td_gpu_load(job));
    TD_CHECK(fill_state(job));
    td_gpu_layout_note(job->options, &before);
    TD_CHECK(td_gpu_declare_arrays(job));
    TD_CHECK(td_gpu_fill_arrays(job));
    TD_CHECK(td_gpu_size_loops(job));
    return td_stream_synchronize(job->stream);
}

static void tear_down(td_gpu_job *job, bool failed)
{
    td_gpu_job_close(job);
    td_gpu_layout_release(job->options, failed);
}

static td_status find_parents(td_gpu_job *job)
{
    uint64_t bytes = job->graph->vertices * sizeof(uint32_t);
    TD_CHECK(TD_NEW(&job->run->parents, job->graph->vertices, "parents"));
    td_gpu_part all = td_gpu_all(job);
    TD_CHECK(td_gpu_find_parents(job, job->stream, job->pull_list, &all, false));
    TD_CHECK(td_stream_copy(job->stream, job->run->parents, job->arrays.parents, bytes, TD_TO_HOST));
    TD_CHECK(td_stream_synchronize(job->stream));
    if (job->state.weights == TD_WEIGHT_NONE) return TD_OK;
    return td_run_solve_parents(job->run, &job->graph->out, job->run->values);
}

/* Deferred sinks: all other values are final, and every vertex pushes along its edges to sinks. */
static td_status settle_sinks(td_gpu_job *job)
{
    uint64_t began = td_clock_ns();
    td_row row = {.direction = "sinks", .active_vertices = job->graph->vertices};
    td_gpu_part all = td_gpu_all(job);
    td_push_part_args args = td_gpu_push_part_args(job, job->layout->tails.view, &all);
    job->has_high_degree = true;
    TD_CHECK(td_gpu_reset(job));
    TD_CHECK(td_gpu_clear_map(job, job->state.next_active));
    TD_CHECK(td_stream_fill(job->stream, job->state.active, 0xff, td_gpu_words(job) * sizeof(uint32_t)));
    TD_CHECK(td_gpu_push_part(job, job->stream, &args));
    TD_CHECK(td_gpu_read(job, 0));
    row.edges = row.active_edges = job->control->tally.edges;
    job->run->updates += job->control->slot[1].count;
    return td_gpu_end_iteration(job, &row, began, td_seconds_since(began));
}

static td_status run_schedule(td_gpu_job *job)
{
    job->run->converged = job->run->resumed != NULL && job->run->resumed->converged;
    if (job->run->converged) return td_gpu_init(job); /* the checkpoint is of a run that had converged */
    if (job->run->program->info->kind == TD_KIND_SWEEP) return td_gpu_run_sweeps(job);
    if (job->prioritised) return td_gpu_run_priorities(job);
    return job->traits->schedule == TD_SCHEDULE_PEEL ? td_gpu_run_peeling(job) : td_gpu_run_rounds(job);
}

static td_status run_resident(const td_plan *plan, td_run *run)
{
    td_status status = TD_OK;
    const td_run_options *options = &plan->options;
    td_gpu_job job;
    uint64_t began = td_clock_ns();
    TD_CHECK(td_gpu_job_open(&job, run, options));
    TD_TRY(choose_graph(run->program, run->graph, options, &job.graph));
    TD_TRY(set_up(&job, plan));
    run->prepare_seconds += td_seconds_since(began);
    job.run_began = td_clock_ns();
    td_gpu_start_counting(&job);
    TD_TRY(run_schedule(&job));
    if (job.graph->tails != NULL) TD_TRY(settle_sinks(&job));
    td_checkpoints_finish(run);
    TD_TRY(td_stream_synchronize(job.stream));
    td_run_end_processing(run, job.run_began);
    td_gpu_stop_counting(&job);
    if (job.balance == TD_BALANCE_IWB && job.traits->fused)
        td_run_count(run, "tasks_moved", job.control->tasks_moved);
    TD_TRY(td_gpu_copy_result(&job));
    if (options->parents) TD_TRY(job.graph->tails != NULL ? td_cpu_parents(run, options) : find_parents(&job));
done:
    tear_down(&job, status != TD_OK);
    return status;
}

static td_status warn_tiny(td_plan *plan, const td_device *device)
{
    double tiny;
    TD_CHECK(td_settings_number(plan->options.settings, "resident", td_resident_settings, "tiny", &tiny));
    if (tiny > 0 && device->properties.cluster == 0)
        td_plan_say(plan, true, "resident.tiny has no effect: the GPU has no thread block clusters");
    return TD_OK;
}

static td_status plan_resident(td_plan *plan)
{
    const td_run_options *options = &plan->options;
    td_gpu_choice choice;
    td_gpu_bytes need;
    td_gpu_set *gpus;
    const td_graph *graph;
    TD_CHECK(td_gpu_check_vertices(plan->graph, "resident"));
    TD_CHECK(choose_graph(plan->program, plan->graph, options, &graph));
    TD_CHECK(read_choice(options->settings, &choice));
    TD_CHECK(td_gpu_set_open(options, "resident", &gpus));
    choice.device = gpus->gpu[0];
    TD_CHECK(warn_tiny(plan, gpus->gpu[0]));
    TD_CHECK(td_gpu_count_bytes(plan->program, graph, options, &choice, &need));
    TD_CHECK(td_gpu_check_fit(plan->program, &need, options, gpus->gpu[0]));
    bool cooperative = plan->program->cpu[TD_WEIGHT_NONE].fused; /* several rounds per launch */
    td_plan_on_device(plan, gpus->gpu[0], need.graph, need.program, cooperative);
    plan->program_bytes = need.host + TD_FIRST_ROWS * sizeof(td_row);
    return TD_OK;
}

static const td_renamed_setting renamed[] = {{.formerly = "heavy", "high_degree"}, {0}};

const td_engine td_resident_engine = {
    .name = "resident",
    .summary = "a graph that fits in the memory of one GPU, loaded once: push and pull, many rounds per launch",
    .device = "cuda or emu",
    .uses_devices = TD_USES_GPU,
    .needs_gpu = true,
    .limits_edges = true,
    .checks_lists = true,
    .strict = true,
    .settings = td_resident_settings,
    .renamed = renamed,
    .uses = td_resident_uses,
    .applies = applies,
    .when = when,
    .plan = plan_resident,
    .run = run_resident,
};
