#include "engine/multi/multi.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "cpu/cpu.h"

#include <stdio.h>
#include <string.h>

enum {
    SET_PARTITION, SET_SEED, SET_DIRECTION, SET_VALUES, SET_EXCHANGE, SET_STEALING, SET_OWNERSHIP, SET_COST, SET_T1, SET_T2,
    SET_T3, SET_STEAL_EDGES, SET_LOOP_EDGES, SET_LOOP_QUEUE, SET_LOOP_BLOCKS, SET_LOOP_PULLS, SET_QUEUE_EDGES, SET_HIGH_DEGREE, SET_DELTA,
    SET_SAMPLES, SET_BREAKDOWN, SET_PREPARED,
    SET_MODEL, SET_LOG, SET_FAMILY, SET_ROUTES, SET_SHARES, SET_HUB_DEGREE, SET_RECOVERY, SET_RECOVERY_EVERY, SETTINGS,
};

/* Smaller iterations are not worth the GPUs' reports; a model's samples are. */
enum { TIMED_EDGES = 1 << 22, MODEL_EDGES = 1 << 18 };

static const td_setting settings[] = {
    [SET_PARTITION] = {"partition", TD_SETTING_CHOICE, 0, 0, 0, "seg|random|metis",
                       "how the graph is cut into fragments, one per GPU: ranges of vertices with equal edges, vertices at "
                       "random, few cut edges (METIS)"},
    [SET_SEED] = {"seed", TD_SETTING_WHOLE, 1, 0, 1e15, NULL, "seed of partition=random and partition=metis"},
    [SET_DIRECTION] = {"direction", TD_SETTING_CHOICE, 0, 0, 0, "auto|pull|push",
                       "direction of iterations; auto chooses one for each"},
    [SET_VALUES] = {"values", TD_SETTING_CHOICE, 0, 0, 0, "auto|shared|mirrored",
                    "values of vertices: shared by GPUs that have the same memory (slices of one), or an array per GPU, "
                    "with mirrors of other GPUs' vertices; auto: shared where it is possible"},
    [SET_EXCHANGE] = {"exchange", TD_SETTING_CHOICE, 0, 0, 0, "auto|copies",
                      "how updates reach other GPUs: auto lets kernels read them in the other GPU's memory where they "
                      "can; copies copies them first"},
    [SET_STEALING] = {"stealing", TD_SETTING_CHOICE, 1, 0, 0, "off|on",
                      "frontier stealing: GPUs with less work process edges of the others (GUM)"},
    [SET_OWNERSHIP] = {"ownership", TD_SETTING_CHOICE, 1, 0, 0, "off|on",
                       "ownership stealing: fewer GPUs take part in tiny iterations, and read the others' lists (GUM)"},
    [SET_COST] = {"cost", TD_SETTING_CHOICE, 0, 0, 0, "measured|uniform|model|exact",
                  "cost of an edge on each GPU. measured: by the times of earlier iterations and the links; uniform: the "
                  "same on all; model: predicted from the degrees of the frontier (tandem calibrate) and the links; exact, "
                  "to compare the others with: by the same iteration of the first of several runs, which steals nothing"},
    [SET_T1] = {"t1", TD_SETTING_NUMBER, TD_ADAPTIVE, -1, 1e15, NULL,
                "active edges of the busiest GPU from which edges are stolen; -1: by what a steal costs"},
    [SET_T2] = {"t2", TD_SETTING_NUMBER, TD_ADAPTIVE, -1, 1e15, NULL,
                "active edges by which the busiest and the idlest GPU must differ; -1: by what a steal costs"},
    [SET_T3] = {"t3", TD_SETTING_NUMBER, TD_ADAPTIVE, -1, 1e6, NULL,
                "seconds of an iteration below which fewer GPUs are considered; -1: by what they can save"},
    [SET_STEAL_EDGES] = {"steal_edges", TD_SETTING_WHOLE, 0, 0, 1e15, NULL,
                         "edges of an iteration from which the GPUs are timed and edges may be stolen, where t1 is not "
                         "given; 0: 4 million, with cost=model 262,144"},
    [SET_LOOP_EDGES] = {"loop_edges", TD_SETTING_WHOLE, 1 << 18, 0, 4e9, NULL,
                        "maximum edges of a frontier in rounds that the GPUs run without the host, where they can follow each "
                        "other's pointers; 0: the host launches every round"},
    [SET_LOOP_QUEUE] = {"loop_queue", TD_SETTING_CHOICE, 0, 0, 0, "auto|owners|common",
                        "frontiers of rounds without the host: a queue for every owner, or one from which all GPUs take equal "
                        "shares (GPUs that have the same memory); auto: the latter where it is possible, except for sssp on graphs "
                        "of mean degrees above 8"},
    [SET_LOOP_BLOCKS] = {"loop_blocks", TD_SETTING_WHOLE, 0, 0, 4096, NULL,
                         "blocks of each GPU in rounds without the host, as far as they are resident at once; 0: by the work "
                         "of the first round, at most one per multiprocessor; in rounds with pulls by the number of "
                         "vertices, as many as are resident"},
    [SET_LOOP_PULLS] = {"loop_pulls", TD_SETTING_CHOICE, 0, 0, 0, "auto|off|on",
                        "bfs on GPUs that have the same memory: iterations of both directions run without the host. auto: unless "
                        "a setting is given that has an effect only where the host decides between iterations; small "
                        "iterations of long searches run in loops that only push"},
    [SET_QUEUE_EDGES] = {"queue_edges", TD_SETTING_WHOLE, 1 << 18, 0, 4e9, NULL,
                         "where the host launches every round: maximum edges of a frontier that is stored in queues; a larger "
                         "one is found in bitmaps; 0: all are"},
    [SET_HIGH_DEGREE] = {"high_degree", TD_SETTING_WHOLE, TD_GPU_PIECE, 32, 1 << 26, NULL,
                         "degree from which a vertex's list is cut into pieces for all warps"},
    [SET_DELTA] = {"delta", TD_SETTING_NUMBER, 0, 0, 1e30, NULL, "sssp: width of a bucket of distances; 0: from the weights"},
    [SET_SAMPLES] = {"samples", TD_SETTING_WHOLE, 2, 0, 64, NULL,
                     "wcc: edges of every vertex processed before the largest component is skipped; 0: skip none"},
    [SET_BREAKDOWN] = {"breakdown", TD_SETTING_CHOICE, 0, 0, 0, "off|on",
                       "times every iteration in its parts, for the report: computing, packing, deciding, waiting"},
    [SET_MODEL] = {"model", TD_SETTING_TEXT, 0, 0, 0, NULL,
                   "file of cost=model (default: the devices', by tandem calibrate or shipped with Tandem)"},
    [SET_LOG] = {"log", TD_SETTING_TEXT, 0, 0, 0, NULL,
                 "file to which every iteration appends its time and the degrees of its frontier ('tandem calibrate --log' "
                 "reads it)"},
    [SET_FAMILY] = {"family", TD_SETTING_TEXT, 0, 0, 0, NULL,
                    "word for graphs of this kind in the log (default: the graph's file name)"},
    [SET_ROUTES] = {"routes", TD_SETTING_CHOICE, 0, 0, 0, "auto|host",
                    "copies between GPUs without a link: auto takes host memory or a third GPU that has links to both, whichever "
                    "is faster; host always takes host memory"},
    [SET_SHARES] = {"shares", TD_SETTING_CHOICE, 0, 0, 0, "auto|equal",
                    "edges of each fragment. auto: by the speed and the memory of its GPU; equal: the same"},
    [SET_HUB_DEGREE] = {"hub_degree", TD_SETTING_NUMBER, -1, -1, 1e15, NULL,
                        "in-degree above which a vertex's list is copied to every GPU, as far as their memory allows (GUM's t4); -1: "
                        "none is"},
    [SET_RECOVERY] = {"recovery", TD_SETTING_CHOICE, 1, 0, 0, "off|iterations",
                      "a GPU that is lost: the run fails, or goes on without it from the host's last copy of the values"},
    [SET_RECOVERY_EVERY] = {"recovery_every", TD_SETTING_WHOLE, 0, 0, 1e9, NULL,
                            "iterations between two copies of the values to the host; 0: a copy when the work since the last "
                            "took fifty times as long"},
    [SET_PREPARED] = {"prepared", TD_SETTING_CHOICE, TD_PREPARED_AUTO, 0, 0, TD_PREPARED_CHOICES,
                      "a partition beside the graph ('tandem prepare'): auto and read use it; make also writes it after the "
                      "run; off does not look for it"},
    [SETTINGS] = {0},
};

static bool uses(const td_program *program, const char *setting)
{
    const td_cpu_kernels *k = program->cpu;
    bool gas = program->info->kind == TD_KIND_GAS;
    if (strcmp(setting, "direction") == 0) return gas;
    if (strcmp(setting, "high_degree") == 0) return !gas || k->fused;
    if (strcmp(setting, "delta") == 0) return gas && k->schedule == TD_SCHEDULE_PRIORITY;
    if (strcmp(setting, "samples") == 0) return k->samples;
    if (strcmp(setting, "hub_degree") == 0) return gas && k->fused;
    if (strcmp(setting, "loop_pulls") == 0) return gas && k->first_hit;
    if (strncmp(setting, "loop_", 5) == 0 || strcmp(setting, "queue_edges") == 0)
        return gas && k->fused && k->sum == TD_SUM_MIN;
    if (strcmp(setting, "ownership") == 0 || strcmp(setting, "t3") == 0)
        return gas && k->fused && k->schedule != TD_SCHEDULE_PEEL;
    return true;
}

static bool applies(const td_settings *given, const char *setting)
{
    double set[SETTINGS];
    bool thief = strcmp(setting, "cost") == 0 || strcmp(setting, "t1") == 0 || strcmp(setting, "t2") == 0;
    if (td_settings_resolve(given, "multi", settings, set, NULL) != TD_OK) return true;
    if (strcmp(setting, "seed") == 0 || strcmp(setting, "prepared") == 0) return set[SET_PARTITION] != TD_PARTITION_SEG;
    if (strcmp(setting, "model") == 0)
        return set[SET_COST] == TD_COST_MODEL && set[SET_STEALING] == 1 && set[SET_EXCHANGE] == 0;
    if (strcmp(setting, "family") == 0) return td_settings_given(given, "multi.log");
    if (strcmp(setting, "recovery_every") == 0) return set[SET_RECOVERY] == 1;
    if (strcmp(setting, "hub_degree") == 0)
        return (set[SET_STEALING] == 1 || set[SET_OWNERSHIP] == 1) && set[SET_EXCHANGE] == 0;
    if (strcmp(setting, "t3") == 0) return set[SET_OWNERSHIP] == 1 && set[SET_EXCHANGE] == 0;
    if (strcmp(setting, "loop_edges") == 0) return set[SET_EXCHANGE] == 0;
    if (strcmp(setting, "loop_blocks") == 0) return set[SET_EXCHANGE] == 0 && set[SET_LOOP_EDGES] > 0;
    if (strcmp(setting, "loop_pulls") == 0)
        return set[SET_EXCHANGE] == 0 && set[SET_LOOP_EDGES] > 0 && set[SET_STEALING] == 1 && set[SET_DIRECTION] == 0 &&
               set[SET_LOOP_QUEUE] != TD_QUEUE_OWNERS;
    if (strcmp(setting, "loop_queue") == 0)
        return set[SET_EXCHANGE] == 0 && set[SET_LOOP_EDGES] > 0 && set[SET_STEALING] == 1;
    if (strcmp(setting, "queue_edges") == 0)
        return set[SET_EXCHANGE] == 0 && !(set[SET_STEALING] == 1 && set[SET_T1] >= 0) && !td_settings_given(given, "multi.log");
    return !thief || (set[SET_STEALING] == 1 && set[SET_EXCHANGE] == 0);
}

static const char *when(const char *setting)
{
    if (strcmp(setting, "seed") == 0 || strcmp(setting, "prepared") == 0)
        return "multi.partition=random and multi.partition=metis";
    if (strcmp(setting, "model") == 0) return "multi.cost=model with multi.stealing=on and multi.exchange=auto";
    if (strcmp(setting, "family") == 0) return "multi.log";
    if (strcmp(setting, "t3") == 0) return "multi.ownership=on with multi.exchange=auto";
    if (strcmp(setting, "loop_edges") == 0) return "multi.exchange=auto";
    if (strcmp(setting, "loop_blocks") == 0) return "multi.loop_edges above 0 with multi.exchange=auto";
    if (strcmp(setting, "loop_pulls") == 0)
        return "multi.loop_edges above 0 with multi.stealing=on, multi.exchange=auto, multi.direction=auto and without "
               "multi.loop_queue=owners";
    if (strcmp(setting, "loop_queue") == 0) return "multi.loop_edges above 0 with multi.stealing=on and multi.exchange=auto";
    if (strcmp(setting, "queue_edges") == 0) return "multi.exchange=auto, without multi.t1 and multi.log, which take all rounds from "
                                                    "bitmaps";
    if (strcmp(setting, "recovery_every") == 0) return "multi.recovery=iterations";
    if (strcmp(setting, "hub_degree") == 0) return "multi.stealing=on or multi.ownership=on, with multi.exchange=auto";
    return "multi.stealing=on with multi.exchange=auto";
}

/* Whether a setting is given that has an effect only where the host decides between iterations, as it does not in a search
 * of one launch. */
static bool asks_the_host(const td_settings *given)
{
    static const char *const keys[] = {"cost", "t1", "t2", "t3", "steal_edges", "log", "breakdown", "hub_degree",
                                       "loop_edges", "queue_edges", "ownership"};
    char key[32];
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        snprintf(key, sizeof key, "multi.%s", keys[i]);
        if (td_settings_given(given, key)) return true;
    }
    return false;
}

static td_multi_pulls_of pulls_of(const td_settings *given, const double set[SETTINGS])
{
    td_multi_pulls_of wanted = (td_multi_pulls_of)set[SET_LOOP_PULLS];
    bool host = set[SET_STEALING] == 0 || set[SET_DIRECTION] != 0 || set[SET_LOOP_QUEUE] == TD_QUEUE_OWNERS;
    return wanted == TD_PULLS_AUTO && (host || asks_the_host(given)) ? TD_PULLS_OFF : wanted;
}

td_status td_multi_read_settings(const td_settings *given, td_multi_settings *out)
{
    static const td_direction directions[] = {TD_DIRECTION_AUTO, TD_DIRECTION_PULL, TD_DIRECTION_PUSH};
    double set[SETTINGS];
    const char *texts[SETTINGS] = {NULL};
    TD_CHECK(td_settings_resolve(given, "multi", settings, set, texts));
    *out = (td_multi_settings){.partition = (td_partition_kind)set[SET_PARTITION], .seed = (uint64_t)set[SET_SEED],
                               .prepared = (int)set[SET_PREPARED],
                               .direction = directions[(int)set[SET_DIRECTION]], .values = (td_multi_values)set[SET_VALUES],
                               .copies = set[SET_EXCHANGE] == 1,
                               .steals = set[SET_STEALING] == 1,
                               .moves_owners = set[SET_OWNERSHIP] == 1, .cost = (td_multi_cost)set[SET_COST],
                               .t1 = set[SET_T1], .t2 = set[SET_T2], .t3 = set[SET_T3],
                               .steal_edges = (uint64_t)set[SET_STEAL_EDGES],
                               .high_degree = (uint64_t)set[SET_HIGH_DEGREE],
                               .loop_edges = (uint64_t)set[SET_LOOP_EDGES],
                               .loop_queue = (td_multi_queues_of)set[SET_LOOP_QUEUE],
                               .loop_blocks = (uint32_t)set[SET_LOOP_BLOCKS],
                               .loop_pulls = pulls_of(given, set),
                               .queue_edges = (uint64_t)set[SET_QUEUE_EDGES], .delta = set[SET_DELTA],
                               .samples = (uint32_t)set[SET_SAMPLES],
                               .breakdown = set[SET_BREAKDOWN] == 1, .model = texts[SET_MODEL],
                               .log = texts[SET_LOG], .family = texts[SET_FAMILY], .relays = set[SET_ROUTES] == 0,
                               .equal_shares = set[SET_SHARES] == 1,
                               .hub_degree = set[SET_HUB_DEGREE] < 0 ? UINT64_MAX : (uint64_t)set[SET_HUB_DEGREE],
                               .recovers = set[SET_RECOVERY] == 1,
                               .recovery_every = (uint32_t)set[SET_RECOVERY_EVERY]};
    bool modelled = out->cost == TD_COST_MODEL || out->log != NULL;
    if (out->steal_edges == 0) out->steal_edges = modelled ? MODEL_EDGES : TIMED_EDGES;
    if (out->model != NULL && out->cost != TD_COST_MODEL)
        return td_fail(TD_USAGE, "multi.model=%s is the file of multi.cost=model, which is not set", out->model);
    return TD_OK;
}

static td_status check_settings(const td_settings *given)
{
    td_multi_settings set;
    return td_multi_read_settings(given, &set);
}

/* Arrays. */

static void fill_job(td_gpu_job *job, const td_multi_settings *set)
{
    job->direction = set->direction;
    job->high_degree = (uint32_t)set->high_degree;
    job->delta = set->delta;
    job->samples = set->samples;
    job->balance = TD_BALANCE_WARP;
    job->even = true;
    job->prioritised = td_gpu_prioritises(job);
}

static size_t entry_bytes(const td_gpu_job *job)
{
    if (!td_gpu_is_gas(job)) return job->traits->edge != NULL ? 2 * sizeof(uint64_t) : sizeof(uint32_t);
    size_t accum = job->traits->sum == TD_SUM_MIN ? 0 : job->traits->accum_bytes, most = job->traits->value_bytes;
    if (job->traits->message_bytes > most) most = job->traits->message_bytes;
    return accum > most ? accum : most;
}

/* Arrays of each GPU, wherever the arrays of its vertices are. `edges`: the most that one of its launches may process,
 * those of any fragment. */
static td_status declare_own(td_multi_gpu *gpu, uint64_t edges)
{
    td_gpu_job *job = &gpu->job;
    uint64_t n = job->graph->vertices, pieces = edges / TD_GPU_WARP_PIECE + edges / job->high_degree + 2;
    TD_CHECK(td_gpu_new(job, &gpu->zeros, 1, TD_MULTI_COUNTERS, "counters"));
    if (gpu->loops && job->memory.measures) /* the set of members allocates its words itself */
        job->memory.bytes[TD_FOR_PROGRAM] += 2 * TD_SET_WORDS * sizeof(uint32_t);
    if (!td_gpu_is_gas(job) || job->traits->fused)
        TD_CHECK(td_gpu_new(job, &job->arrays.pieces, pieces, sizeof(uint64_t), "pieces of high-degree vertices"));
    if (!td_gpu_is_gas(job))
        return td_gpu_new(job, &job->arrays.drawn, TD_GPU_DRAWN, sizeof(uint32_t), "labels drawn");
    if (!job->traits->fused) return TD_OK;
    TD_CHECK(td_gpu_new(job, &gpu->tally, TD_FRAGMENTS, sizeof *gpu->tally, "degrees of the frontier"));
    TD_CHECK(td_gpu_new(job, &gpu->cuts, TD_FRAGMENTS, sizeof *gpu->cuts, "cuts of the frontiers"));
    if (job->traits->first_hit) TD_CHECK(td_gpu_new(job, &job->arrays.late, n, sizeof(uint32_t), "late vertices"));
    if (job->traits->schedule == TD_SCHEDULE_PEEL) {
        TD_CHECK(td_gpu_new(job, &job->arrays.queue[0], n, sizeof(uint32_t), "queue of vertices"));
        TD_CHECK(td_gpu_new(job, &job->arrays.left, n, sizeof(uint32_t), "vertices left"));
        TD_CHECK(td_gpu_new(job, &job->arrays.next_left, n, sizeof(uint32_t), "vertices left"));
    }
    /* Any vertex may become active: edges are estimated ahead, and many vertices may have few edges. */
    for (int i = 0; i < 2 && (gpu->loops || gpu->queues); i++) {
        TD_CHECK(td_gpu_new(job, &job->arrays.queue[i], n, sizeof(uint32_t), "queue of vertices"));
        if (job->prioritised && gpu->loops)
            TD_CHECK(td_gpu_new(job, &job->arrays.far[i], n, sizeof(uint32_t), "deferred vertices"));
    }
    return TD_OK;
}

/* The arrays of all vertices, beside their values. */
static td_status declare_vertices(td_multi_gpu *gpu, const td_multi_need *need, bool mirrored)
{
    td_gpu_job *job = &gpu->job;
    uint64_t n = job->graph->vertices, words = td_gpu_words(job);
    bool fused = job->traits->fused;
    TD_CHECK(td_gpu_new(job, &job->state.active, words, sizeof(uint32_t), "active vertices"));
    if (fused) TD_CHECK(td_gpu_new(job, &job->state.next_active, words, sizeof(uint32_t), "active vertices"));
    if (fused && mirrored) TD_CHECK(td_gpu_new(job, &gpu->changed, words, sizeof(uint32_t), "changed vertices"));
    if (job->prioritised)
        TD_CHECK(td_gpu_new(job, &job->arrays.far_map, words, sizeof(uint32_t), "deferred vertices"));
    if (need->pull && mirrored) {
        TD_CHECK(td_gpu_new(job, &gpu->mirror_vertices, n, sizeof(uint32_t), "updates of mirrors"));
        TD_CHECK(td_gpu_new(job, &gpu->mirror_messages, n, job->traits->message_bytes, "updates of mirrors"));
    }
    if (gpu->searches) TD_CHECK(td_gpu_new(job, &gpu->search, 1, sizeof *gpu->search, "counters of a search"));
    bool sums = need->heads || (fused && job->traits->sum != TD_SUM_MIN);
    return sums ? td_gpu_new(job, &job->arrays.sums, n, job->traits->accum_bytes, "sums") : TD_OK;
}

/* Of sweeps: the forest, or what another GPU found. */
static td_status declare_sweep(td_multi_gpu *gpu, bool first, bool mirrored)
{
    td_gpu_job *job = &gpu->job;
    uint64_t n = job->graph->vertices;
    if (job->traits->edge == NULL)
        return mirrored ? td_gpu_new(job, &gpu->labels, n, job->traits->value_bytes, "components of another GPU") : TD_OK;
    if (!first) return TD_OK;
    TD_CHECK(td_gpu_new(job, &job->arrays.edges, n, sizeof(uint64_t), "edges of the forest"));
    return td_gpu_new(job, &job->arrays.labels, n, sizeof(uint32_t), "labels");
}

/* The arrays of a GPU that shares those of the first. */
static td_status declare_sharing(td_multi_gpu *gpu, const td_multi_gpu *with, uint64_t edges)
{
    td_gpu_job *job = &gpu->job;
    td_gpu_control *control = NULL;
    TD_CHECK(td_gpu_new(job, &control, 1, sizeof(td_gpu_control), "counters"));
    job->state = with->job.state;
    job->state.control = control;
    job->arrays.far_map = with->job.arrays.far_map;
    job->arrays.sums = with->job.arrays.sums;
    return declare_own(gpu, edges);
}

/* `with`: the GPU whose arrays this one shares, itself for the first; NULL: arrays are mirrored. */
static td_status declare_arrays(td_multi_gpu *gpu, td_gpu_mailbox *box, const td_multi_need *need,
                                const td_multi_gpu *with, bool inbox, uint64_t edges, bool first)
{
    td_gpu_job *job = &gpu->job;
    bool mirrored = with == NULL;
    TD_CHECK(td_gpu_new(job, &box->on_device, 1, sizeof *box->on_device, "fragments"));
    if (!mirrored && with != gpu) return declare_sharing(gpu, with, edges);
    TD_CHECK(td_gpu_declare_values(job));
    if (mirrored) TD_CHECK(td_gpu_exchange_declare(box, job, entry_bytes(job), inbox));
    TD_CHECK(td_gpu_is_gas(job) ? declare_vertices(gpu, need, mirrored) : declare_sweep(gpu, first, mirrored));
    return declare_own(gpu, edges);
}

/* Setting up. */

static td_status open_jobs(td_multi_job *self, td_run *run)
{
    td_multi_graph *layout = self->layout;
    self->count = self->exchange.count = layout->count;
    for (int i = 0; i < self->count; i++) {
        td_multi_gpu *gpu = &self->gpu[i];
        TD_CHECK(td_gpu_job_open(&gpu->job, run, self->options));
        TD_CHECK(td_gpu_job_start(&gpu->job, layout->fragment[i].device, layout->fragment[i].stream));
        fill_job(&gpu->job, &self->set);
        gpu->fragment = &layout->fragment[i];
        self->exchange.box[i].job = &gpu->job;
    }
    return TD_OK;
}

static void fill_state(td_multi_job *self, td_gpu_job *job)
{
    td_gpu_state *state = &job->state;
    state->context = self->run->context;
    state->vertices = self->graph->vertices;
    state->weights = self->run->program->info->weights == TD_WEIGHTS_UNUSED ? TD_WEIGHT_NONE : self->graph->weights;
    state->symmetric = self->graph->symmetric;
    state->async = self->run->async;
    state->first_hit = self->traits->first_hit && !self->run->async;
    job->sampled = self->set.samples;
}

static uint64_t most_edges(const td_multi_graph *layout)
{
    uint64_t most = 0;
    for (int i = 0; i < layout->count; i++)
        if (layout->fragment[i].push.edges > most) most = layout->fragment[i].push.edges;
    return most;
}

static td_status set_up_gpu(td_multi_job *self, td_multi_gpu *gpu, const td_multi_need *need, bool inbox)
{
    int index = td_multi_index(self, gpu);
    td_gpu_mailbox *box = &self->exchange.box[index];
    td_gpu_job *job = &gpu->job;
    const td_multi_gpu *with = self->shared ? self->gpu : NULL;
    fill_state(self, job);
    TD_CHECK(declare_arrays(gpu, box, need, with, inbox, most_edges(self->layout), index == 0));
    if (self->set.relays && !self->shared) TD_CHECK(td_gpu_routes_declare(&self->exchange, index, box->job));
    box->fragments.count = (uint32_t)self->count;
    memcpy(box->fragments.first, self->layout->partition.first, sizeof box->fragments.first);
    TD_CHECK(td_gpu_exchange_own(box, self->shared ? UINT32_MAX : 1u << index)); /* kernels update all that is shared */
    box->fragments.owned = 1u << index;
    if (with != NULL && with != gpu) return td_stream_synchronize(job->stream);
    TD_CHECK(td_gpu_send_inputs(job));
    TD_CHECK(td_gpu_clear_map(job, job->state.next_active));
    TD_CHECK(td_gpu_clear_map(job, job->arrays.far_map));
    TD_CHECK(td_gpu_clear_map(job, gpu->changed));
    if (job->arrays.sums != NULL) TD_CHECK(td_gpu_clear_sums(job, job->arrays.sums));
    return td_stream_synchronize(job->stream);
}

/* Whether all GPUs have the same memory. */
static td_status have_same_memory(const td_gpu_set *gpus, bool *same)
{
    *same = gpus->count > 1;
    for (int i = 1; i < gpus->count; i++) {
        td_link link;
        td_status status = td_device_link(gpus->gpu[0], gpus->gpu[i], &link);
        if (status != TD_OK && status != TD_UNSUPPORTED) return status;
        *same = *same && status == TD_OK && link.same_memory;
    }
    return TD_OK;
}

td_status td_multi_choose_values(const td_multi_settings *set, const td_gpu_set *gpus, bool *shared)
{
    bool same;
    TD_CHECK(have_same_memory(gpus, &same));
    *shared = same && set->values != TD_VALUES_MIRRORED && !set->copies;
    if (set->values == TD_VALUES_SHARED && !*shared)
        return td_fail(TD_USAGE, "multi.values=shared: %s have memories of their own; allowed are auto and mirrored",
                       gpus->devices);
    return TD_OK;
}

static uint64_t stated_bytes(const td_plan *plan, const td_device *device)
{
    const td_device_uses *uses = &plan->devices;
    for (int i = 0; i < uses->count; i++)
        if (strcmp(uses->of[i].name, device->name) == 0) return uses->of[i].row.graph + uses->of[i].row.program;
    return 0;
}

/* Before anything is loaded, in memory that the plan has for the arrays to come; the rates stay with the layout. */
static td_status measure_links(td_multi_job *self, const td_plan *plan)
{
    td_multi_graph *layout = self->layout;
    uint64_t bytes[TD_FRAGMENTS];
    for (int i = 0; i < self->count; i++) bytes[i] = stated_bytes(plan, self->gpu[i].job.device);
    if (!layout->has_rates) TD_CHECK(td_gpu_measure_links(&self->exchange, bytes));
    else memcpy(self->exchange.rate, layout->rate, sizeof layout->rate);
    memcpy(layout->rate, self->exchange.rate, sizeof layout->rate);
    layout->has_rates = true;
    return TD_OK;
}

/* How small rounds are launched, which decides about the arrays of queues. */
static void choose_rounds(td_multi_job *self)
{
    self->loops = td_multi_loops(self);
    self->queues = td_multi_queues(self);
    self->searches = td_multi_may_search(self);
    TD_EACH_GPU(self, gpu) {
        gpu->loops = self->loops;
        gpu->queues = self->queues;
        gpu->searches = self->searches;
    }
}

static td_status set_up(td_multi_job *self, const td_plan *plan, td_run *run)
{
    TD_CHECK(td_gpu_layout_acquire(&td_multi_layout_kind, self->graph, self->options, &self->layout));
    self->loop = self->layout->gpu.set->loop;
    TD_CHECK(td_multi_choose_values(&self->set, self->layout->gpu.set, &self->shared));
    TD_CHECK(open_jobs(self, run));
    self->exchange.entry_bytes = entry_bytes(td_multi_first(self));
    TD_CHECK(td_gpu_exchange_open(&self->exchange, self->set.copies));
    TD_CHECK(measure_links(self, plan));
    TD_CHECK(td_multi_load(self));
    const td_partition *partition = &self->layout->partition;
    self->numbering = (td_numbering){partition->vertices, partition->order, partition->place};
    TD_CHECK(td_numbering_enter(&self->numbering, run, self->traits->value_bytes, &self->renumbered,
                                self->options->pool));
    td_multi_need need = td_multi_needs(self);
    bool inbox = !self->shared && td_gpu_exchange_copies(&self->exchange);
    choose_rounds(self);
    TD_EACH_GPU(self, gpu) TD_CHECK(set_up_gpu(self, gpu, &need, inbox));
    if (self->set.relays && !self->shared) TD_CHECK(td_gpu_routes_open(&self->exchange));
    TD_CHECK(td_multi_model_open(self));
    self->needs_classes = self->model.degrees != NULL;
    TD_CHECK(td_multi_open_balance(self));
    self->balance.loop_group = td_multi_loop_group(self);
    if (self->loops && self->balance.loop_group == 0) { /* no group of the tree reaches each other */
        self->loops = false;
        self->queues = td_multi_queues(self);
    }
    TD_CHECK(td_multi_open_search(self));
    return td_multi_open_loop(self);
}

static void tear_down(td_multi_job *self)
{
    if (self->layout != NULL) {
        td_multi_break_loop(self);
        TD_EACH_GPU(self, gpu) if (gpu->job.stream != NULL) (void)td_stream_synchronize(gpu->job.stream);
        td_multi_close_loop(self);
        td_multi_close_search(self);
        td_multi_model_close(self);
        td_gpu_exchange_close(&self->exchange);
        td_gpu_routes_close(&self->exchange);
        TD_EACH_GPU(self, gpu) {
            if (gpu->done != NULL) td_event_destroy(gpu->job.device, gpu->done);
            td_stream_close(gpu->reader);
            td_gpu_job_close(&gpu->job);
        }
    }
}

static td_status run_schedule(td_multi_job *self)
{
    td_run *run = self->run;
    run->converged = run->resumed != NULL && run->resumed->converged;
    if (run->converged) return td_multi_init(self); /* a checkpoint of a run that was through */
    if (run->program->info->kind == TD_KIND_SWEEP) return td_multi_sweeps(self);
    if (!self->traits->fused) return td_multi_gather(self);
    if (self->gpu[0].job.prioritised) return td_multi_priorities(self);
    return self->traits->schedule == TD_SCHEDULE_PEEL ? td_multi_peel(self) : td_multi_rounds(self);
}

static td_status work(td_multi_job *self, const td_plan *plan, td_run *run)
{
    td_multi_recovery *recovery = self->recovery;
    uint64_t began = td_clock_ns();
    if (recovery->ended_count > 0) /* fewer GPUs have larger fragments */
        TD_CHECK(td_multi_divide_memory(plan, self->options->cache->gpus, &self->division));
    TD_CHECK(set_up(self, plan, run));
    if (recovery->run_began == 0) {
        run->prepare_seconds += td_seconds_since(began);
        recovery->run_began = td_clock_ns();
    }
    TD_EACH_GPU(self, gpu) gpu->job.run_began = recovery->run_began;
    TD_EACH_GPU(self, gpu) td_gpu_start_row(&gpu->job);
    td_gpu_start_counting(td_multi_first(self));
    (void)td_multi_new_operations(self);
    self->times.ended = td_multi_clock(self);
    TD_CHECK(run_schedule(self));
    td_multi_close_parts(self);
    td_checkpoints_finish(run);
    td_multi_keep_learned(self);
    td_run_end_processing(run, recovery->run_began);
    td_gpu_stop_counting(td_multi_first(self));
    TD_EACH_GPU(self, gpu) td_gpu_fill_row(&gpu->job)->row.edges = gpu->all_processed;
    if (plan->prepared_count > 0) td_run_count(run, "prepared", self->layout->prepared);
    td_numbering_leave(run, &self->renumbered);
    return td_multi_copy_result(self);
}

/* From set-up to result, on the GPUs that are left; *again: without one that was lost. */
static td_status attempt(td_multi_recovery *recovery, const td_plan *plan, td_run *run, const td_multi_settings *set,
                         bool *again)
{
    td_weight_kind kind = run->program->info->weights == TD_WEIGHTS_UNUSED ? TD_WEIGHT_NONE : run->graph->weights;
    td_multi_job *self;
    *again = false;
    TD_CHECK(TD_NEW_ZEROED(&self, 1, "multi engine"));
    const td_multi_division *planned = plan->shape;
    *self = (td_multi_job){.recovery = recovery, .division = *planned, .run = run, .options = &plan->options, .graph = run->graph,
                           .traits = &run->program->cpu[kind], .set = *set};
    td_failure failure;
    td_status status = work(self, plan, run);
    if (status == TD_OK && plan->options.parents) status = td_cpu_parents(run, &plan->options);
    if (status == TD_OK) status = td_multi_log_write(self);
    td_numbering_leave(run, &self->renumbered);
    td_failure_keep(&failure);
    *again = status != TD_OK && td_multi_is_survived(self, status);
    tear_down(self);
    td_failure_set(&failure);
    if (*again) return td_multi_begin_again(self);
    td_gpu_layout_release(self->options, status != TD_OK);
    td_free(self);
    return status;
}

static td_status run_multi(const td_plan *plan, td_run *run)
{
    td_status status = TD_OK;
    td_multi_recovery recovery = {0};
    td_multi_settings set;
    bool again = true;
    TD_CHECK(td_multi_read_settings(plan->options.settings, &set));
    TD_TRY(td_multi_recovery_open(&recovery, run, &plan->options, set.recovers));
    while (again) TD_TRY(attempt(&recovery, plan, run, &set, &again));
done:
    if (recovery.ended_count > 0) td_gpu_set_drop(&plan->options); /* the next run opens all GPUs anew */
    td_multi_recovery_close(&recovery);
    return status;
}

/* For the plan. */

void td_multi_describe_job(td_multi_gpu *gpu, const td_multi_settings *set)
{
    fill_job(&gpu->job, set);
}

td_status td_multi_measure_arrays(td_multi_job *self, const td_multi_need *need, uint64_t edges)
{
    bool inbox = !self->shared && td_gpu_exchange_copies(&self->exchange);
    choose_rounds(self);
    TD_EACH_GPU(self, gpu) {
        int i = td_multi_index(self, gpu);
        td_gpu_mailbox *box = &self->exchange.box[i];
        TD_CHECK(declare_arrays(gpu, box, need, self->shared ? self->gpu : NULL, inbox, edges, i == 0));
        if (self->set.relays && !self->shared) TD_CHECK(td_gpu_routes_declare(&self->exchange, i, box->job));
    }
    return TD_OK;
}

#define COLUMN(kind, field) {#field, TD_COLUMN_##kind, offsetof(td_row, field)}
static const td_column columns[] = {
    COLUMN(LIST, busy),
    COLUMN(U32, gpus), COLUMN(TEXT, steal), COLUMN(LIST, load), COLUMN(LIST, share), COLUMN(U64, edges_stolen),
    COLUMN(U64, edges_cached), COLUMN(U64, messages), COLUMN(U64, bytes_exchanged), COLUMN(U64, bytes_direct),
    COLUMN(U64, bytes_relayed), COLUMN(U32, operations),
    COLUMN(REAL, predicted_seconds), COLUMN(REAL, longest_seconds), COLUMN(REAL, idle_share),
    COLUMN(REAL, decide_seconds), COLUMN(REAL, computing_seconds), COLUMN(REAL, packing_seconds),
    COLUMN(REAL, deciding_seconds), COLUMN(REAL, waiting_seconds), {0},
};

const td_engine td_multi_engine = {
    .name = "multi",
    .summary = "several GPUs: one fragment of the graph each, updates exchanged every iteration",
    .device = "cuda or emu, several of them",
    .uses_devices = TD_USES_GPU,
    .needs_gpu = true,
    .several_gpus = true,
    .limits_edges = true,
    .strict = true,
    .settings = settings,
    .uses = uses,
    .applies = applies,
    .when = when,
    .check = check_settings,
    .plan = td_multi_plan,
    .run = run_multi,
    .make_layout = td_multi_make_layout,
    .columns = columns,
};
