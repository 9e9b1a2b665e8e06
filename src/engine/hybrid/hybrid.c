/* The hybrid engine: sets up and tears down a run. */
#include "engine/hybrid/gpu.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/size.h"

#include <math.h>
#include <string.h>

enum { SET_USE, SET_PAGE, SET_ROUNDS, SET_RATIO, SET_DIRECTION, SET_GATHER, SET_REPLICATION, SET_RULE, SETTINGS };

const td_setting td_hybrid_settings[] = {
    [SET_USE] = {"use", TD_SETTING_CHOICE, 0, 0, 0, "auto|cpu|gpu|both",
                 "devices that process pages; auto: the CPU, and a GPU if {devices} names one"},
    [SET_PAGE] = {"page", TD_SETTING_WHOLE, 0, 0, 1 << 30, NULL,
                  "approximate number of edges in a page; 0: from the memory for pages"},
    [SET_ROUNDS] = {"rounds", TD_SETTING_WHOLE, 1000, 1, 1e9, NULL,
                    "maximum number of rounds on a page while it is in memory, if most of its edges stay within it"},
    [SET_RATIO] = {"k", TD_SETTING_NUMBER, 0, 0, 1000, NULL,
                   "sequential over random read speed of the disk (Garaph's k); 0: measured"},
    [SET_DIRECTION] = {"direction", TD_SETTING_CHOICE, 0, 0, 0, "auto|pull|notify",
                       "pull: every vertex; notify: active vertices mark their neighbours, which then pull; auto: "
                       "notify if the share f of active edges is at most 1/(2k)"},
    [SET_GATHER] = {"gather", TD_SETTING_CHOICE, 0, 0, 0, "rows|shards",
                    "gather-sum of a page on the GPU. rows: equal pieces of the adjacency lists, with a segmented sum; "
                    "shards: Garaph's shards in shared memory"},
    [SET_REPLICATION] = {"replication", TD_SETTING_CHOICE, 0, 0, 0, "auto|1|2|4|8|16|32",
                         "copies of every accumulator (gather=shards); auto: from the shard's edges and vertices"},
    [SET_RULE] = {"rule", TD_SETTING_CHOICE, TD_RULE_MEASURED, 0, 0, "measured|paper",
                  "whether the GPU takes part in an iteration, and which pages it gets. measured: if both together are "
                  "expected to be faster by a margin, and pages that it ends before the CPU would; paper: if Garaph's "
                  "alpha is at least 1, and pages whenever it is free"},
    [SETTINGS] = {0},
};

bool td_hybrid_uses(const td_program *program, const char *setting)
{
    const td_cpu_kernels *k = program->cpu;
    bool gas = program->info->kind == TD_KIND_GAS;
    if (strcmp(setting, "rounds") == 0) return gas && k->fused;
    if (strcmp(setting, "direction") == 0) return gas && !k->fused;
    bool of_gpu = strcmp(setting, "use") == 0 || strcmp(setting, "gather") == 0 || strcmp(setting, "replication") == 0 ||
                  strcmp(setting, "rule") == 0;
    if (of_gpu) return gas && k->schedule != TD_SCHEDULE_PEEL; /* for any graph */
    return true;
}

td_status td_hybrid_gather_of(const td_settings *settings, bool *shards, uint32_t *copies)
{
    static const uint32_t choices[] = {0, 1, 2, 4, 8, 16, 32};
    double set[SETTINGS];
    TD_CHECK(td_settings_resolve(settings, "hybrid", td_hybrid_settings, set, NULL));
    *shards = set[SET_GATHER] == 1;
    *copies = choices[(int)set[SET_REPLICATION]];
    return TD_OK;
}

/* Replicated accumulators are those of shards; what concerns a GPU has no effect without one. */
static bool applies(const td_settings *settings, const char *setting)
{
    bool shards = false;
    uint32_t copies;
    if (strcmp(setting, "replication") != 0) return true;
    (void)td_hybrid_gather_of(settings, &shards, &copies);
    return shards;
}

static const char *when(const char *setting)
{
    (void)setting;
    return "hybrid.gather=shards";
}

td_hybrid_use td_hybrid_use_of(const td_settings *settings)
{
    double set[SETTINGS];
    td_status status = td_settings_resolve(settings, "hybrid", td_hybrid_settings, set, NULL);
    return status == TD_OK ? (td_hybrid_use)set[SET_USE] : TD_USE_AUTO;
}

uint64_t td_hybrid_page_of(const td_settings *settings)
{
    double set[SETTINGS];
    td_status status = td_settings_resolve(settings, "hybrid", td_hybrid_settings, set, NULL);
    return status == TD_OK ? (uint64_t)set[SET_PAGE] : 0;
}

td_status td_hybrid_direction(const td_settings *settings, td_direction *out)
{
    double set[SETTINGS];
    TD_CHECK(td_settings_resolve(settings, "hybrid", td_hybrid_settings, set, NULL));
    *out = (td_direction)set[SET_DIRECTION];
    return TD_OK;
}

/* Arrays that a run allocates later. */
static uint64_t bytes_to_come(const td_cpu_job *cpu)
{
    const td_cpu_kernels *k = cpu->kernels;
    uint64_t n = cpu->graph->vertices, bytes = n / 4 + td_cpu_view_edges(cpu) / cpu->high.degree * 16;
    if (k->edge != NULL) bytes += n * (sizeof(uint64_t) + sizeof(td_forest_edge));
    if (k->label != NULL && k->value_bytes != sizeof(uint32_t)) bytes += n * sizeof(uint32_t);
    return cpu->options->parents ? bytes + n * sizeof(uint32_t) : bytes;
}

/* Free memory of the budget, or of the machine, after the program's arrays. */
static uint64_t room_left(const td_cpu_job *cpu)
{
    td_memory_stats memory = td_memory();
    if (memory.budget > 0) {
        uint64_t rows = 4 * TD_FIRST_ROWS * TD_ROW_BYTES; /* of more iterations than a run has room for at first */
        uint64_t slack = memory.budget / 64 + rows + bytes_to_come(cpu);
        return memory.budget > memory.now + slack ? memory.budget - memory.now - slack : 0;
    }
    return td_machine_memory_free() / 10 * 8;
}

/* Pages of the push and the pull lists: one set if pages contain both lists, or if the lists are the same. */
static td_status make_sets(td_hybrid_job *self, uint64_t edges)
{
    td_cpu_job *cpu = &self->cpu;
    const td_graph *graph = cpu->graph;
    bool both = cpu->view.lists == 2 || (self->cores && !graph->symmetric);
    bool gas = cpu->run->program->info->kind == TD_KIND_GAS;
    TD_CHECK(td_page_set_create(&self->push, graph, both ? TD_LIST_BOTH : TD_LIST_OUT, edges));
    self->pull = self->push;
    const td_cpu_kernels *k = cpu->kernels;
    bool pulls = gas && (!k->fused || k->first_hit || cpu->options->parents || self->use >= TD_USE_GPU);
    if (pulls && !both && !graph->symmetric) TD_CHECK(td_page_set_create(&self->pull, graph, TD_LIST_IN, edges));
    uint32_t count = self->push->count > self->pull->count ? self->push->count : self->pull->count;
    TD_CHECK(TD_NEW(&self->useful, count, "pages"));
    return TD_NEW(&self->order, count, "order of pages");
}

static td_status read_directories(td_hybrid_job *self)
{
    td_cpu_job *cpu = &self->cpu;
    if (self->paged == NULL || self->push->lists == TD_LIST_BOTH) return TD_OK;
    TD_CHECK(td_paged_directory(self->paged, false, &self->directory[0], &self->directory_count[0], cpu->pool));
    if (self->pull == self->push) return TD_OK;
    return td_paged_directory(self->paged, true, &self->directory[1], &self->directory_count[1], cpu->pool);
}

static td_status too_small(td_hybrid_job *self)
{
    const td_cpu_job *cpu = &self->cpu;
    td_hybrid_gpu_close(self); /* its allocations so far count in its requirement */
    return td_hybrid_too_small(cpu->run->program, cpu->graph, td_paged_describe(self->paged), cpu->options,
                               self->use >= TD_USE_GPU);
}

static td_status make_room(td_hybrid_job *self)
{
    uint64_t room = room_left(&self->cpu);
    if (self->paged == NULL) return TD_OK;
    if (room < 2 * self->push->largest || room < 2 * self->pull->largest) return too_small(self);
    return td_paged_set_room(self->paged, room);
}

/* Warns if the user asked for a GPU that cannot take part; otherwise logs that it is unused. */
static void warn_cpu_alone(const td_cpu_job *cpu, bool asked)
{
    const char *name = cpu->run->program->info->name;
    const char *why = cpu->kernels->first_hit && cpu->options->has_iterations
                          ? "with a limit on iterations it proceeds level by level"
                          : "a GPU can only pull, and along two lists only where sums are added";
    if (asked) td_warn("hybrid.use: the CPU processes all pages of %s: %s", name, why);
    else td_info("hybrid: the CPU processes all pages of %s: %s", name, why);
}

/* A GPU can pull along one list per vertex; the CPU does all other work. */
static void choose_use(td_hybrid_job *self)
{
    const td_cpu_job *cpu = &self->cpu;
    bool asked = self->use >= TD_USE_GPU, named = td_gpu_is_named(cpu->options->devices);
    bool can = td_hybrid_suits_gpu(cpu->run->program, cpu->kernels, cpu->view.lists, cpu->options);
    bool wanted = asked || (self->use == TD_USE_AUTO && named);
    if (wanted && !can) warn_cpu_alone(cpu, asked);
    if (!wanted || !can) self->use = TD_USE_CPU;
    else if (!asked) self->use = TD_USE_BOTH;
}

/* Whether a run from disk failed for lack of host memory and the refusal does not state the minimum. */
static bool lacks_host_memory(const td_paged *paged, td_status status)
{
    const td_refusal *refusal = td_last_refusal();
    bool of_device = refusal->resource == TD_RESOURCE_DEVICE_MEMORY || refusal->resource == TD_RESOURCE_DEVICE_EDGES;
    return status == TD_NO_MEMORY && paged != NULL && td_memory().budget > 0 && !of_device && !refusal->minimum_known;
}

static td_status open_gpu(td_hybrid_job *self)
{
    if (self->use < TD_USE_GPU) return TD_OK;
    td_status status = td_hybrid_gpu_open(self);
    return lacks_host_memory(self->paged, status) ? too_small(self) : status;
}

/* Pages get the memory that the GPU leaves. */
static td_status make_parts(td_hybrid_job *self, const double *set)
{
    const td_cpu_job *cpu = &self->cpu;
    TD_CHECK(make_sets(self, td_hybrid_page_edges(cpu->run->program, cpu->graph, cpu->options, self->paged != NULL,
                                                  self->use >= TD_USE_GPU, room_left(cpu))));
    td_status status = read_directories(self);
    if (status != TD_OK) return status == TD_NO_MEMORY ? too_small(self) : status;
    if (self->paged != NULL && set[SET_RATIO] == 0) TD_CHECK(td_paged_measure(self->paged, &self->ratio));
    TD_CHECK(open_gpu(self));
    return make_room(self);
}

static void drop_parts(td_hybrid_job *self)
{
    td_hybrid_gpu_close(self);
    if (self->pull != self->push) td_page_set_destroy(self->pull);
    td_page_set_destroy(self->push);
    self->pull = self->push = NULL;
    for (int i = 0; i < 2; i++) {
        td_free(self->directory[i]);
        self->directory[i] = NULL;
    }
    td_free(self->useful);
    td_free(self->order);
    self->useful = NULL;
    self->order = NULL;
}

static td_status set_up(td_hybrid_job *self)
{
    td_cpu_job *cpu = &self->cpu;
    double set[SETTINGS];
    TD_CHECK(td_settings_resolve(cpu->options->settings, "hybrid", td_hybrid_settings, set, NULL));
    self->use = (td_hybrid_use)set[SET_USE];
    self->rule = (td_hybrid_rule)set[SET_RULE];
    self->most_rounds = (uint32_t)fmin(set[SET_ROUNDS], UINT32_MAX);
    cpu->setup.direction = (td_direction)set[SET_DIRECTION];
    if (cpu->run->program->info->kind == TD_KIND_SWEEP) cpu->view.lists = 1; /* every edge is visited once */
    choose_use(self);
    TD_CHECK(td_hybrid_open_cores(self));
    self->needs = cpu->kernels != cpu->run->program->cpu ? TD_WITH_WEIGHTS : 0;
    self->ratio = set[SET_RATIO] > 0 ? set[SET_RATIO] : 1;
    td_status status = make_parts(self, set);
    bool asked = set[SET_USE] >= TD_USE_GPU;
    if (status != TD_NO_MEMORY || asked || self->use < TD_USE_GPU) return status;
    drop_parts(self);
    self->use = TD_USE_CPU;
    td_info("hybrid: the GPU is not used: with it %s", td_last_message());
    return make_parts(self, set);
}

static void tear_down(td_hybrid_job *self)
{
    drop_parts(self);
    td_hybrid_close_cores(self);
    td_cpu_job_close(&self->cpu);
}

static td_status run_schedule(td_hybrid_job *self)
{
    const td_cpu_kernels *k = self->cpu.kernels;
    if (self->cpu.run->resumed != NULL && self->cpu.run->resumed->converged) return td_hybrid_resume_converged(self);
    if (self->cpu.run->program->info->kind == TD_KIND_SWEEP) return td_hybrid_sweep(self);
    if (k->schedule == TD_SCHEDULE_PEEL) return self->cores ? td_hybrid_find_cores(self) : td_hybrid_peel(self);
    return k->fused ? td_hybrid_push_rounds(self) : td_hybrid_pull_rounds(self);
}

static void count_readers(td_paged *paged, td_reader_counts counts[TD_RUN_DIRECTORIES])
{
    td_page_reader *reader = td_paged_reader(paged);
    for (int d = 0; d < td_page_reader_directories(reader) && d < TD_RUN_DIRECTORIES; d++)
        counts[d] = td_page_reader_counts(reader, d);
}

static void note_start(td_hybrid_job *self)
{
    self->at_start = td_paged_count(self->paged);
    if (self->paged != NULL) count_readers(self->paged, self->readers_at_start);
}

static void note_readers(const td_hybrid_job *self, td_run_disk *disk)
{
    td_page_reader *reader = td_paged_reader(self->paged);
    td_reader_counts now[TD_RUN_DIRECTORIES] = {0};
    disk->directories = td_page_reader_directories(reader);
    count_readers(self->paged, now);
    for (int d = 0; d < TD_RUN_DIRECTORIES; d++) {
        const td_reader_counts *then = &self->readers_at_start[d];
        disk->directory_bytes[d] = now[d].bytes - then->bytes;
        disk->reader_threads += now[d].threads;
        for (int i = 0; i < TD_READER_WORK; i++) disk->reader_seconds[i] += (double)(now[d].ns[i] - then->ns[i]) * 1e-9;
    }
    (void)strncpy(disk->method, td_page_reader_method(reader), sizeof disk->method - 1);
}

static void note_disk(td_hybrid_job *self)
{
    td_run_disk *disk = &self->cpu.run->disk;
    td_paged_counts now = td_paged_count(self->paged), *then = &self->at_start;
    /* Out- and in-lists are divided separately, and the numbers of their pages differ: those of the usual direction. */
    const td_page_set *set = self->cpu.kernels->fused ? self->push : self->pull;
    *disk = (td_run_disk){.used = self->paged != NULL, .ratio = self->ratio, .hits = now.hits - then->hits,
                          .misses = now.misses - then->misses, .parts = now.parts - then->parts,
                          .reads = now.reads - then->reads, .bytes = now.bytes - then->bytes,
                          .evictions = now.evictions - then->evictions,
                          .wait_seconds = now.wait_seconds - then->wait_seconds,
                          .reused_bytes = now.reused - then->reused, .pages = set->count};
    if (self->paged != NULL) note_readers(self, disk);
}

static td_status run_hybrid(const td_plan *plan, td_run *run)
{
    td_status status = TD_OK;
    const td_run_options *options = &plan->options;
    td_hybrid_job self = {.paged = run->graph->paged};
    self.cpu.setup.by_pages = true;
    TD_TRY(td_cpu_job_open(&self.cpu, run, options));
    uint64_t began = td_clock_ns();
    TD_TRY(set_up(&self));
    note_start(&self);
    run->prepare_seconds += td_seconds_since(began);
    self.cpu.progress.began = td_clock_ns();
    TD_TRY(run_schedule(&self));
    td_checkpoints_finish(run);
    td_run_end_processing(run, self.cpu.progress.began);
    if (options->parents) TD_TRY(td_hybrid_parents(&self));
    note_disk(&self);
    if (self.gpu != NULL) {
        td_gpu_stop_counting(&self.gpu->job);
        td_device_use_of(&run->devices, run->device)->row.busy_seconds = (double)self.gpu->busy_ns * 1e-9;
    }
    td_hybrid_gpu_unpin(self.gpu);
    TD_TRY(td_cpu_copy_result(&self.cpu));
    self.through = true;
done:
    tear_down(&self);
    return status;
}

static uint64_t memory_allowed(void)
{
    uint64_t budget = td_memory().budget;
    return budget > 0 ? budget : td_machine_memory_free();
}

/* The GPU is opened once it is known to take part: its free memory is part of the plan. */
static td_status plan_gpu(td_plan *plan, const td_hybrid_bytes *need)
{
    td_gpu_set *gpus;
    TD_CHECK(td_gpu_set_open(&plan->options, "hybrid", &gpus));
    td_plan_on_device(plan, gpus->gpu[0], need->device_graph, need->device_program, false);
    return TD_OK;
}

static td_status plan_hybrid(td_plan *plan)
{
    td_hybrid_bytes need;
    const td_graph *graph = plan->graph;
    td_packed_info file = graph->paged != NULL ? *td_paged_describe(graph->paged) : td_packed_plan(graph);
    TD_CHECK(td_hybrid_count_bytes(plan->program, graph, &file, &plan->options, memory_allowed(), &need));
    if (need.device_graph > 0) TD_CHECK(plan_gpu(plan, &need));
    plan->program_bytes = need.arrays + need.tables + need.gpu;
    plan->emulated_bytes = need.emulated;
    if (graph->paged == NULL) return TD_OK;
    plan->graph_bytes = td_paged_open_bytes(&file);
    td_plan_count(plan, "room_bytes", need.room);
    td_plan_count(plan, "cache_bytes", need.cached);
    td_plan_count(plan, "disk_bytes_per_iteration", need.reads);
    td_plan_count(plan, "disk_bytes_later", need.later);
    td_plan_count(plan, "least_bytes", need.least);
    return TD_OK;
}

/* If the user set the page size, names it in the message: smaller pages may fit. */
static td_status name_page(const td_run_options *options, td_status status)
{
    if (status != TD_NO_MEMORY || !td_settings_given(options->settings, "hybrid.page")) return status;
    return td_fail_add(TD_NO_MEMORY, "; hybrid.page=%llu is the size of its pages, and smaller ones need less",
                       (unsigned long long)td_hybrid_page_of(options->settings));
}

static td_status explain(const td_plan *plan, td_status status)
{
    const td_graph *graph = plan->graph;
    if (lacks_host_memory(graph->paged, status))
        status = td_hybrid_too_small(plan->program, graph, td_paged_describe(graph->paged), &plan->options,
                                     td_hybrid_use_of(plan->options.settings) >= TD_USE_GPU);
    return graph->paged != NULL ? name_page(&plan->options, status) : status;
}

#define COLUMN(kind, field) {#field, TD_COLUMN_##kind, offsetof(td_row, field)}
static const td_column columns[] = {
    COLUMN(U32, pages_cpu), COLUMN(U32, pages_gpu), COLUMN(U32, pages_skipped), COLUMN(U32, page_hits),
    COLUMN(U32, page_misses), COLUMN(U32, evictions), COLUMN(U32, rounds), COLUMN(U64, disk_reads), COLUMN(U64, disk_bytes),
    COLUMN(REAL, disk_wait_seconds), COLUMN(REAL, alpha), COLUMN(REAL, tpull_seconds), COLUMN(REAL, tgpu_seconds),
    COLUMN(REAL, overlap_seconds), {0},
};

/* Processing over that of the cpu engine, of a graph in memory that the cores process page by page
 * (docs/lab/answer.md). */
static const double over_cpu[TD_WORKLOADS] = {
    [TD_WORKLOAD_SEARCH] = 5.2, [TD_WORKLOAD_DISTANCE] = 1.5, [TD_WORKLOAD_COMPONENTS] = 4.5,
    [TD_WORKLOAD_FOREST] = 1.1, [TD_WORKLOAD_PEEL] = 12, [TD_WORKLOAD_GATHER] = 1.65, [TD_WORKLOAD_SPREAD] = 3.2,
};

static td_status estimate_hybrid(const td_case *of, td_plan_estimate *out)
{
    TD_CHECK(td_case_host(of, out));
    out->load = td_case_load(of, false);
    out->prepare = of->graph->vertices * of->rates->settle;
    out->processing = td_case_processing(of, of->rates->cpu) * over_cpu[td_workload_of(of->program)];
    out->finish = td_case_finish(of);
    return td_case_check_host(of, out);
}

const td_engine td_hybrid_engine = {
    .name = "hybrid",
    .summary = "a graph larger than memory: pages are read from disk or cached, and the next free device processes "
               "them (Garaph)",
    .device = "cpu, with cuda or emu beside it",
    .uses_devices = TD_USES_CPU | TD_USES_GPU,
    .takes_disk = true,
    .strict = true,
    .settings = td_hybrid_settings,
    .uses = td_hybrid_uses,
    .applies = applies,
    .when = when,
    .estimate = estimate_hybrid,
    .plan = plan_hybrid,
    .run = run_hybrid,
    .explain = explain,
    .columns = columns,
};
