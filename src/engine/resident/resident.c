/* The resident engine: a graph that fits in the GPU's memory is loaded once, and all iterations run there (src/gpu). */
#include "engine/resident/resident.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "cpu/cpu.h"
#include "gpu/bytes.h"
#include "gpu/group.h"
#include "run/parents.h"
#include "run/sinks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    SET_DIRECTION, SET_BALANCE, SET_GATHER, SET_REPLICATION, SET_HIGH_DEGREE, SET_TINY, SET_SMALL, SET_ROUNDS,
    SET_DELTA, SET_SAMPLES, SET_SINKS, SET_BATCH, SET_KCORE, SET_WINDOW, SET_BUFFER, SETTINGS,
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
    [SET_BATCH] = {"batch", TD_SETTING_CHOICE, 0, 0, 0, "bits|single",
                   "bfs from many sources ({sources}). bits: up to 64 at once, a bit each; single: one after another"},
    [SET_KCORE] = {"kcore", TD_SETTING_CHOICE, TD_CORES_AUTO, 0, 0, "rounds|peel|histogram|auto",
                   "kcore: rounds: a launch for every level, then rounds; peel: all levels in one launch; histogram: "
                   "bounds that fall, with a histogram of every vertex's neighbours; auto: chosen by the graph"},
    [SET_WINDOW] = {"window", TD_SETTING_WHOLE, TD_CORE_WINDOW, 1, 1 << 20, NULL,
                    "kcore=peel: levels that are found among the vertices near them, before all remaining ones are "
                    "scanned again"},
    [SET_BUFFER] = {"buffer", TD_SETTING_WHOLE, TD_CORE_BUFFER, 0, 512, NULL,
                    "kcore=peel: vertices of short lists that a block removes in a round as soon as it finds them; 0: "
                    "all wait for the next round"},
    [SETTINGS] = {0},
};

enum { LEAN_DEGREE = 8 }; /* mean degree up to which loops do not count edges in advance */

bool td_resident_uses(const td_program *program, const char *setting)
{
    const td_cpu_kernels *k = program->cpu;
    bool gas = program->info->kind == TD_KIND_GAS;
    if (strcmp(setting, "direction") == 0 || strcmp(setting, "gather") == 0 || strcmp(setting, "replication") == 0)
        return gas;
    if (strcmp(setting, "sinks") == 0) return gas && k->fused && k->view == TD_VIEW_FORWARD;
    if (strcmp(setting, "high_degree") == 0) return !gas || k->fused;
    if (strcmp(setting, "batch") == 0) return k->bits != NULL;
    if (strcmp(setting, "kcore") == 0 || strcmp(setting, "window") == 0 || strcmp(setting, "buffer") == 0)
        return k->schedule == TD_SCHEDULE_PEEL;
    if (strcmp(setting, "delta") == 0) return gas && k->schedule == TD_SCHEDULE_PRIORITY;
    return strcmp(setting, "samples") == 0 ? k->samples : gas && k->fused;
}

/* Settings of plain rounds, and of peeling in one launch. */
static bool is_of_rounds(const char *setting)
{
    return strcmp(setting, "direction") == 0 || strcmp(setting, "balance") == 0 || strcmp(setting, "gather") == 0 ||
           strcmp(setting, "replication") == 0 || strcmp(setting, "tiny") == 0;
}

static bool is_of_peel(const char *setting) { return strcmp(setting, "window") == 0 || strcmp(setting, "buffer") == 0; }

/* Replicated accumulators are those of shards. */
static bool applies(const td_settings *settings, const char *setting)
{
    double gather = 1, kcore = TD_CORES_AUTO;
    (void)td_settings_number(settings, "resident", td_resident_settings, "gather", &gather);
    (void)td_settings_number(settings, "resident", td_resident_settings, "kcore", &kcore);
    if (is_of_peel(setting)) return kcore == TD_CORES_PEEL || kcore == TD_CORES_AUTO;
    if (is_of_rounds(setting) && kcore != TD_CORES_ROUNDS && kcore != TD_CORES_AUTO) return false;
    return strcmp(setting, "replication") != 0 || gather == 1;
}

static const char *when(const char *setting)
{
    if (is_of_peel(setting)) return "resident.kcore=peel";
    return strcmp(setting, "replication") == 0 ? "resident.gather=shards" : "resident.kcore=rounds";
}

/* Whether a setting of the kind is given. */
static bool is_any_given(const td_settings *settings, bool (*is_of)(const char *setting))
{
    char name[64];
    for (int i = 0; i < SETTINGS; i++) {
        snprintf(name, sizeof name, "resident.%s", td_resident_settings[i].name);
        if (is_of(td_resident_settings[i].name) && td_settings_given(settings, name)) return true;
    }
    return false;
}

/* kcore=auto with a setting of plain rounds means them, with one of peeling that. */
static td_cores choose_cores(const td_graph *graph, const td_run_options *options, double set)
{
    if (set == TD_CORES_AUTO && is_any_given(options->settings, is_of_rounds)) return TD_CORES_ROUNDS;
    if (set == TD_CORES_AUTO && !options->has_iterations && is_any_given(options->settings, is_of_peel))
        return TD_CORES_PEEL;
    return td_gpu_choose_cores(graph, options, (td_cores)set);
}

/* Reads how core numbers are computed; TD_CORES_ROUNDS for other programs. */
static td_status read_cores(const td_program *program, const td_graph *graph, const td_run_options *options, double set,
                            td_cores *out)
{
    *out = TD_CORES_ROUNDS;
    if (program->cpu->schedule != TD_SCHEDULE_PEEL) return TD_OK;
    if (set != TD_CORES_AUTO && set != TD_CORES_ROUNDS && options->has_iterations)
        return td_fail(TD_USAGE,
                       "resident.kcore=%s has no rounds that {iterations} could count; resident.kcore=rounds has",
                       set == TD_CORES_PEEL ? "peel" : "histogram");
    if (set == TD_CORES_HISTOGRAM && options->checkpoint != NULL)
        return td_fail(TD_USAGE, "resident.kcore=histogram lowers bounds, from which no peeling can resume: it writes "
                                 "no {checkpoint}; resident.kcore=peel does");
    *out = choose_cores(graph, options, set);
    return TD_OK;
}

/* Reads the settings that memory depends on. */
static td_status read_choice(const td_program *program, const td_graph *graph, const td_run_options *options,
                             td_gpu_choice *out)
{
    static const td_direction directions[] = {TD_DIRECTION_AUTO, TD_DIRECTION_PULL, TD_DIRECTION_PUSH};
    double set[SETTINGS];
    TD_CHECK(td_settings_resolve(options->settings, "resident", td_resident_settings, set, NULL));
    *out = (td_gpu_choice){directions[(int)set[SET_DIRECTION]], set[SET_GATHER] == 1, (uint64_t)set[SET_HIGH_DEGREE],
                           NULL, TD_CORES_ROUNDS};
    return read_cores(program, graph, options, set[SET_KCORE], &out->cores);
}

/* The graph whose lists are loaded: with resident.sinks=defer, without edges to sinks. */
static td_status choose_graph(const td_program *program, const td_graph *graph, const td_run_options *options,
                              const td_graph **out)
{
    double sinks;
    *out = graph;
    TD_CHECK(td_settings_number(options->settings, "resident", td_resident_settings, "sinks", &sinks));
    if (sinks == 0 || program->info->kind != TD_KIND_GAS || !program->cpu[TD_WEIGHT_NONE].fused) return TD_OK;
    TD_CHECK(td_run_check_sinks("resident", program, options, options->mode == TD_MODE_ASYNC));
    return td_run_graph_without_sinks(graph, options, out);
}

td_status td_resident_count_bytes(const td_program *program, const td_graph *graph, const td_run_options *options,
                                  td_gpu_bytes *out)
{
    td_gpu_choice choice;
    TD_CHECK(read_choice(program, graph, options, &choice));
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
    job->core_window = (uint32_t)set[SET_WINDOW];
    job->core_buffer = (uint32_t)set[SET_BUFFER];
    TD_CHECK(read_cores(job->run->program, job->graph, job->options, set[SET_KCORE], &job->cores));
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

/* The lists that the run needs, on the device. */
static td_status load_lists(td_gpu_job *job, const td_plan *plan)
{
    TD_CHECK(td_gpu_layout_acquire(&td_gpu_graph_layout_kind, job->graph, job->options, &job->layout));
    TD_CHECK(td_gpu_job_start(job, job->layout->device, job->layout->stream));
    td_gpu_choose_lists(job);
    td_gpu_mark before = td_gpu_layout_mark(job->options);
    if (plan->device_graph_bytes + plan->device_program_bytes > td_device_left(job->device)) td_gpu_drop_others(job);
    TD_CHECK(td_gpu_load(job));
    TD_CHECK(fill_state(job));
    td_gpu_layout_note(job->options, &before);
    return TD_OK;
}

static td_status set_up(td_gpu_job *job, const td_plan *plan)
{
    TD_CHECK(read_settings(job));
    TD_CHECK(load_lists(job, plan));
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
    if (job->cores != TD_CORES_ROUNDS) return td_gpu_run_cores(job);
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
    if (job.traits->schedule == TD_SCHEDULE_PEEL) td_run_count(run, "vertices_scanned", job.scanned);
    TD_TRY(td_gpu_copy_result(&job));
    if (options->parents) TD_TRY(job.graph->tails != NULL ? td_cpu_parents(run, options) : find_parents(&job));
done:
    tear_down(&job, status != TD_OK);
    return status;
}

/* A search from many sources: lists as for a single one, arrays of its own. */
static td_status set_up_group(td_gpu_job *job, const td_plan *plan)
{
    TD_CHECK(read_settings(job));
    TD_CHECK(load_lists(job, plan));
    return td_stream_synchronize(job->stream);
}

static td_status run_group(const td_plan *plan, td_run *run, td_group *group)
{
    td_status status = TD_OK;
    td_gpu_job job;
    uint64_t began = td_clock_ns();
    TD_CHECK(td_gpu_job_open(&job, run, &plan->options));
    TD_TRY(set_up_group(&job, plan));
    run->prepare_seconds += td_seconds_since(began);
    job.run_began = td_clock_ns();
    td_gpu_start_counting(&job);
    TD_TRY(td_gpu_run_group(&job, group));
    td_run_end_processing(run, job.run_began);
    td_gpu_stop_counting(&job);
    td_run_count(run, "batch_words", group->words);
    TD_TRY(td_gpu_copy_group(&job, group));
done:
    tear_down(&job, status != TD_OK);
    return status;
}

/* Settings that single searches alone use. */
static bool is_of_single(const char *setting)
{
    return strcmp(setting, "balance") == 0 || strcmp(setting, "tiny") == 0 || strcmp(setting, "small") == 0 ||
           strcmp(setting, "rounds") == 0;
}

/* The widest words that fit device and host; none: every source has a run of its own. */
static td_status plan_group(td_plan *plan, const td_gpu_choice *choice, td_gpu_bytes *need)
{
    double set[SETTINGS];
    uint64_t room = td_device_left(choice->device) + choice->device->now;
    TD_CHECK(td_settings_resolve(plan->options.settings, "resident", td_resident_settings, set, NULL));
    if (!td_plan_may_group(plan) || plan->program->cpu->bits == NULL || set[SET_BATCH] != 0 || set[SET_SINKS] != 0)
        return TD_OK; /* deferring is a single search's */
    if (is_any_given(plan->options.settings, is_of_single) && !td_settings_given(plan->options.settings, "resident.batch"))
        return TD_OK;
    uint32_t width = td_group_width(plan->options.source_count);
    for (width = width < TD_GPU_GROUP_LEAST ? TD_GPU_GROUP_LEAST : width; width >= TD_GPU_GROUP_LEAST; width /= 2) {
        td_gpu_bytes group;
        TD_CHECK(td_gpu_group_bytes(plan->program, plan->graph, &plan->options, choice, width, &group));
        if (group.graph + group.program > room || group.host > plan->free_bytes) continue;
        plan->group = width;
        td_plan_count(plan, "batch_at_once", width);
        if (group.program > need->program) need->program = group.program;
        bool alone = plan->options.source_count % width == 1; /* the last search is a single one */
        if (!alone || group.host > need->host) need->host = group.host;
        return TD_OK;
    }
    return TD_OK;
}

static td_status warn_tiny(td_plan *plan, const td_device *device)
{
    double tiny;
    TD_CHECK(td_settings_number(plan->options.settings, "resident", td_resident_settings, "tiny", &tiny));
    if (tiny > 0 && device->properties.cluster == 0)
        td_plan_say(plan, true, "resident.tiny has no effect: the GPU has no thread block clusters");
    return TD_OK;
}

/* Copies of a mapped graph's lists, beside those that the plan counts as the graph's: of a run that copies the targets in
 * any case, the weights. */
static uint64_t copied_bytes(const td_plan *plan, bool spares, uint64_t copies)
{
    const td_graph *graph = plan->graph;
    uint64_t weight = td_weight_bytes(graph->weights);
    if (spares) return copies;
    if (!td_run_may_exceed(plan->program->info, graph) || plan->graph_bytes == td_graph_bytes(graph)) return 0;
    return copies / (sizeof(uint32_t) + weight) * weight;
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
    TD_CHECK(read_choice(plan->program, plan->graph, options, &choice));
    TD_CHECK(td_gpu_set_open(options, "resident", &gpus));
    choice.device = gpus->gpu[0];
    TD_CHECK(warn_tiny(plan, gpus->gpu[0]));
    TD_CHECK(td_gpu_count_bytes(plan->program, graph, options, &choice, &need));
    TD_CHECK(td_gpu_check_fit(plan->program, &need, options, gpus->gpu[0]));
    TD_CHECK(plan_group(plan, &choice, &need));
    bool cooperative = plan->program->cpu[TD_WEIGHT_NONE].fused; /* several rounds per launch */
    td_plan_on_device(plan, gpus->gpu[0], need.graph, need.program, cooperative);
    plan->program_bytes = need.host + td_gpu_run_bytes(1);
    plan->program_bytes += copied_bytes(plan, td_plan_spares_lists(plan), need.copies);
    return TD_OK;
}

/* A file that goes to the GPU whole is mapped (api/open.c). */
static td_status estimate_resident(const td_case *of, td_plan_estimate *out)
{
    td_gpu_bytes need;
    td_workload work = td_workload_of(of->program);
    bool maps = !of->text && of->options->gpu_memory == 0 && of->options->gpu_edges == 0;
    TD_CHECK(td_gpu_check_vertices(of->graph, "resident"));
    TD_CHECK(td_resident_count_bytes(of->program, of->graph, of->options, &need));
    TD_CHECK(td_gpu_check_room(&need, of->options, of->gpu_room));
    out->host_graph = maps ? of->graph->vertices * sizeof(uint64_t) : of->graph_bytes;
    out->host_program = of->graph->vertices * sizeof(uint64_t); /* results */
    out->device = need.graph + need.program;
    out->load = td_case_load(of, maps);
    if (!of->cached(of, "resident"))
        out->prepare = (double)need.graph / of->rates->upload + of->graph->vertices * of->rates->tables[work];
    out->processing = td_case_processing(of, of->rates->gpu);
    out->finish = td_case_finish(of);
    td_case_gpu(of, out);
    return td_case_check_host(of, out);
}

/* The way that kcore=auto takes. */
static double in_effect(const td_plan *plan, const td_setting *entry, double number)
{
    bool chosen = entry == &td_resident_settings[SET_KCORE] && plan->program->cpu->schedule == TD_SCHEDULE_PEEL;
    return chosen ? choose_cores(plan->graph, &plan->options, number) : number;
}

/* Along lists that the device has: not where in-edges alone count. A checkpoint is about the input at the host. */
static bool counts_neighbours(const td_plan *plan)
{
    const td_program_info *info = plan->program->info;
    const td_run_options *options = &plan->options;
    double number[TD_PARAMETERS];
    if (plan->program->cpu->schedule != TD_SCHEDULE_PEEL || options->checkpoint != NULL || options->resume != NULL)
        return false;
    if (td_settings_resolve(options->settings, info->name, info->parameters, number, NULL) != TD_OK) return false;
    return plan->graph->symmetric || number[info->forward_choice - 1] != 1; /* both|in|neighbours */
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
    .estimate = estimate_resident,
    .plan = plan_resident,
    .run = run_resident,
    .run_group = run_group,
    .least_width = TD_GPU_GROUP_LEAST,
    .counts_neighbours = counts_neighbours,
    .in_effect = in_effect,
};
