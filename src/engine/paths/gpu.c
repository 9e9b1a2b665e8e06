/* The paths engine on a GPU: the state is in its memory, and so are the paths if they fit (batches.c: if not). The host
 * decides by the counters of the launches. The decomposition at the host is a layout of the session's cache: the plan
 * makes it, because the memory on the GPU follows from the number of paths, and the runs take it from there. */
#include "engine/paths/several.h"

#include "base/alloc.h"
#include "gpu/bytes.h"
#include "store/checks.h"

#include <stdio.h>
#include <string.h>

/* The decomposition. */

typedef struct paths_layout {
    td_gpu_layout gpu;
    int streams;
    td_device *device[TD_GPUS];
    td_stream *stream[TD_GPUS];
    td_paths paths;
    td_paths_index index;
    td_paths_share share;        /* of several GPUs */
    bool made, prepared, shared;
    bool layers;                 /* whether groups are processed layer by layer */
    char key[TD_PATHS_KEY + 16], share_key[16]; /* what they were made for */
} paths_layout;

static void drop_paths(paths_layout *layout)
{
    if (!layout->made) return;
    if (layout->shared) td_paths_free_share(&layout->share);
    layout->shared = false;
    td_paths_free_index(&layout->index);
    td_paths_free(&layout->paths);
    layout->made = false;
}

static void release_layout(void *state)
{
    paths_layout *layout = state;
    drop_paths(layout);
    for (int i = 0; i < layout->streams; i++) td_stream_close(layout->stream[i]);
    td_free(layout);
}

static td_status open_layout(void *state, td_device *device)
{
    paths_layout *layout = state;
    const td_gpu_set *set = layout->gpu.set;
    (void)device;
    for (int i = 0; i < set->count; i++) {
        layout->device[i] = set->gpu[i];
        TD_CHECK(td_stream_open(set->gpu[i], &layout->stream[i]));
        layout->streams = i + 1;
    }
    return TD_OK;
}

static const td_gpu_layout_kind layout_kind = {"paths", sizeof(paths_layout), open_layout, release_layout, .many = true};

static void make_key(const td_paths_job *self, char text[TD_PATHS_KEY + 16])
{
    char options[TD_PATHS_KEY];
    snprintf(text, TD_PATHS_KEY + 16, "%s,%d,%d,%d", td_paths_key(options, &self->set.layout), self->steps.state.back,
             self->one_group, td_paths_chooses_layers(self));
}

/* The job has the layout's tables, which stay the layout's. */
static void borrow(td_paths_job *self, const paths_layout *layout)
{
    self->paths = layout->paths;
    self->index = layout->index;
    self->prepared = layout->prepared;
    self->has_paths = false;
    self->borrows = true;
}

/* Takes the decomposition from the layout, or makes it. */
static td_status take_paths(td_paths_job *self, paths_layout *layout)
{
    char key[TD_PATHS_KEY + 16];
    make_key(self, key);
    if (!layout->made || strcmp(layout->key, key) != 0) {
        td_gpu_mark before = td_gpu_layout_mark(self->options);
        drop_paths(layout);
        bool weighted = self->run->program->info->weights != TD_WEIGHTS_UNUSED;
        TD_CHECK(td_checks_lists(self->cpu.graph, weighted, self->cpu.pool)); /* a plan may be the first to read them */
        TD_CHECK(td_paths_open(&self->paths, self->cpu.graph, &self->set.layout, self->cpu.pool, &self->prepared));
        self->has_paths = true;
        td_paths_choose_layers(self, layout->device[0]);
        TD_CHECK(td_paths_make_index(self));
        layout->paths = self->paths;
        layout->index = self->index;
        layout->prepared = self->prepared;
        layout->layers = self->set.layers;
        layout->made = true;
        memcpy(layout->key, key, sizeof key);
        td_gpu_layout_note(self->options, &before);
    }
    if (td_paths_chooses_layers(self) && !layout->layers) self->set.layers = false, self->one_group = true;
    borrow(self, layout);
    return TD_OK;
}

/* Whether several GPUs share the paths: the variant without paths is one GPU's. */
static bool is_shared(const td_paths_job *self, const td_gpu_set *gpus)
{
    return gpus->count > 1 && !self->steps.state.plain;
}

/* Takes the shares of the GPUs from the layout, or makes them. */
static td_status take_share(td_paths_job *self, paths_layout *layout)
{
    char key[sizeof layout->share_key];
    snprintf(key, sizeof key, "%d,%d,%d", layout->streams, self->set.affinity, self->set.sort);
    if (layout->shared && strcmp(layout->share_key, key) == 0) return TD_OK;
    td_gpu_mark before = td_gpu_layout_mark(self->options);
    if (layout->shared) td_paths_free_share(&layout->share);
    layout->shared = false;
    TD_CHECK(td_paths_make_share(self, layout->streams, &layout->share));
    layout->shared = true;
    memcpy(layout->share_key, key, sizeof key);
    td_gpu_layout_note(self->options, &before);
    return TD_OK;
}

/* Arrays. Measured for the plan, allocated in the run. */

enum { ID = sizeof(uint32_t), OFFSET = sizeof(uint64_t) };

static bool has_proxies(const td_paths_job *self) { return td_paths_has_proxies(self, self->gpu->batches != NULL); }

static bool is_packed(const td_paths_job *self) { return self->gpu->batches != NULL && self->gpu->batches->packed; }

static uint64_t count_places(const td_paths_job *self)
{
    const td_paths *p = &self->paths;
    if (self->gpu->batches != NULL) return self->gpu->batches->place_count;
    return p->edges + (self->steps.state.back ? p->paths : 0);
}

/* Vertices whose paths are marked by whole blocks; those that a launch applies more often than its list has room for are
 * marked by their threads. */
static uint32_t late_room(const td_paths_job *self)
{
    const td_paths_batches *b = self->gpu->batches;
    uint64_t room = 2 * count_places(self) / TD_PATH_LATE + 1;
    if ((b != NULL ? b->most_places : self->index.most_places) < TD_PATH_LATE) return 0;
    return room < UINT32_MAX ? (uint32_t)room : UINT32_MAX;
}

/* What a batch has of it, if paths stay at the host. */
static td_status declare_walks(td_paths_job *self)
{
    td_gpu_job *job = &self->gpu->job;
    td_path_state *s = &self->gpu->args.paths;
    const td_paths *p = &self->paths;
    TD_CHECK(td_gpu_new_for(job, TD_FOR_EDGES, &s->entries, p->entries, ID, "vertices along paths"));
    if (td_gpu_weight_bytes(job) > 0)
        TD_CHECK(td_gpu_new_for(job, TD_FOR_EDGES, &s->weights, p->edges, td_gpu_weight_bytes(job), "weights"));
    TD_CHECK(td_gpu_new_for(job, TD_FOR_LISTS, &s->starts, p->paths, ID, "beginnings of paths"));
    return td_gpu_new_for(job, TD_FOR_LISTS, &s->lanes, (uint64_t)(TD_PATH_LANES + 1) * p->partitions, ID, "lanes");
}

static uint64_t count_members(const td_paths_job *self)
{
    const td_paths_post *post = self->gpu->post;
    return post != NULL ? post->share->members[post->number] : self->gpu->job.graph->vertices;
}

/* On several GPUs, and where paths stay at the host, the home of a path's first vertex is looked up. */
static bool has_openers(const td_paths_job *self)
{
    return self->gpu->warps && self->gpu->post == NULL && self->gpu->batches == NULL;
}

static td_status declare_paths(td_paths_job *self)
{
    td_gpu_job *job = &self->gpu->job;
    td_path_state *s = &self->gpu->args.paths;
    const td_paths *p = &self->paths;
    uint64_t n = job->graph->vertices, places = count_places(self);
    bool batched = self->gpu->batches != NULL;
    TD_CHECK(batched ? td_gpu_new_for(job, TD_FOR_LISTS, &s->home_partition, n, ID, "partitions of vertices")
                     : declare_walks(self));
    TD_CHECK(td_gpu_new_for(job, TD_FOR_LISTS, &s->partition, p->partitions, sizeof *p->partition, "partitions"));
    TD_CHECK(td_gpu_new_for(job, TD_FOR_LISTS, &s->first_word, (uint64_t)p->partitions + 1, ID, "marks of partitions"));
    TD_CHECK(td_gpu_new_for(job, TD_FOR_LISTS, &s->place_offsets, n + 1, OFFSET, "paths of vertices"));
    TD_CHECK(td_gpu_new_for(job, TD_FOR_LISTS, &s->places, places, ID, "paths of vertices"));
    TD_CHECK(td_gpu_new_for(job, TD_FOR_LISTS, &s->home, n, ID, "home paths of vertices"));
    if (has_openers(self))
        TD_CHECK(td_gpu_new_for(job, TD_FOR_LISTS, &s->opens, self->index.words, ID, "home paths of first vertices"));
    if (!self->one_group || self->gpu->post != NULL)
        TD_CHECK(td_gpu_new_for(job, TD_FOR_LISTS, &self->gpu->members, count_members(self), ID, "vertices of groups"));
    if (has_proxies(self))
        TD_CHECK(td_gpu_new_for(job, TD_FOR_LISTS, &s->hubs, td_gpu_words(job), ID, "vertices with proxies"));
    s->late_room = late_room(self);
    if (is_packed(self))
        TD_CHECK(td_gpu_new_for(job, TD_FOR_LISTS, &s->packs, p->partitions, sizeof *s->packs, "packed partitions"));
    if (s->late_room > 0) TD_CHECK(td_gpu_new(job, &s->late, s->late_room, ID, "vertices of many edges"));
    TD_CHECK(td_gpu_new(job, &self->gpu->words, TD_PATHS_WORDS, ID, "counters"));
    if (self->set.early && !self->one_group && !batched && !td_paths_goes_ahead(self))
        TD_CHECK(td_gpu_new(job, &self->gpu->args.span.early, td_paths_early_room(job->memory.device), ID,
                            "partitions that start early"));
    if (!self->set.priority || batched) return TD_OK;
    TD_CHECK(td_gpu_new(job, &self->gpu->args.span.ranks, p->partitions, sizeof(uint8_t), "priorities of partitions"));
    TD_CHECK(td_gpu_new(job, &self->gpu->args.span.order, p->partitions, ID, "order of partitions"));
    return td_gpu_new(job, &self->gpu->args.span.classes, 2 * TD_PATH_CLASSES, ID, "classes of partitions");
}

static td_status declare_lists(td_paths_job *self)
{
    td_gpu_job *job = &self->gpu->job;
    td_paths_args *args = &self->gpu->args;
    uint64_t n = job->graph->vertices, edges = job->graph->edges, weight = td_gpu_weight_bytes(job);
    for (int l = 0; l < self->cpu.view.lists; l++) {
        td_gpu_list *list = &args->list_of[l];
        TD_CHECK(td_gpu_new_for(job, TD_FOR_EDGES, &list->targets, edges, ID, "targets"));
        TD_CHECK(td_gpu_new_for(job, TD_FOR_LISTS, &list->offsets, n + 1, OFFSET, "offsets"));
        if (weight > 0) TD_CHECK(td_gpu_new_for(job, TD_FOR_EDGES, &list->weights, edges, weight, "weights"));
    }
    return td_gpu_new_for(job, TD_FOR_LISTS, &args->paths.place_offsets, n + 1, OFFSET, "lists of vertices");
}

static td_status declare_masters(td_paths_job *self)
{
    td_gpu_job *job = &self->gpu->job;
    td_path_state *s = &self->gpu->args.paths;
    uint64_t n = job->graph->vertices;
    TD_CHECK(td_gpu_declare_values(job));
    TD_CHECK(td_gpu_new_for(job, TD_FOR_LISTS, &s->out_offsets, n + 1, OFFSET, "offsets"));
    if (self->real) TD_CHECK(td_gpu_new(job, &s->rounds, n, ID, "rounds of vertices"));
    if (job->traits->schedule != TD_SCHEDULE_PEEL)
        return td_gpu_new(job, &s->sums, n, job->traits->accum_bytes, "deposits at vertices");
    TD_CHECK(td_gpu_new(job, &s->counts, td_cpu_view_edges(&self->cpu) + n, ID, "counts of bounds"));
    return td_gpu_new(job, &s->count_offsets, n + 1, OFFSET, "counts of bounds");
}

uint64_t td_paths_mark_words(const td_paths_job *self)
{
    if (self->steps.state.plain) return td_gpu_words(&self->gpu->job);
    return self->gpu->batches != NULL ? ((uint64_t)self->paths.partitions + 31) / 32 : self->index.words;
}

/* Bytes for a run's arrays. A part of a GPU without a limit is left to its driver. */
static uint64_t room_on(const td_device *device)
{
    uint64_t room = td_device_left(device) + device->now; /* cached layouts can be released */
    return device->budget > 0 ? room : room - room / 16;
}

static td_status declare_slots(td_paths_job *self)
{
    td_gpu_job *job = &self->gpu->job;
    td_paths_batches *b = self->gpu->batches;
    TD_CHECK(td_paths_shape_batches(self, td_gpu_memory_sum(&job->memory), room_on(job->memory.device)));
    if (b->packed) return td_gpu_new_for(job, TD_FOR_EDGES, &b->memory, b->pool_bytes, 1, "packed partitions");
    return td_gpu_new_for(job, TD_FOR_EDGES, &b->memory, b->slots, b->slot_bytes, "batches of paths");
}

static td_status declare(td_paths_job *self)
{
    td_gpu_job *job = &self->gpu->job;
    td_path_state *s = &self->gpu->args.paths;
    bool batched = self->gpu->batches != NULL;
    uint64_t message = job->traits->message_bytes, mirrors = s->plain ? job->graph->vertices : self->paths.edges;
    if (is_packed(self)) mirrors = self->gpu->batches->mirrors;
    TD_CHECK(s->plain ? declare_lists(self) : declare_paths(self));
    TD_CHECK(declare_masters(self));
    TD_CHECK(td_gpu_new(job, &s->marks, td_paths_mark_words(self), ID, "marks of paths"));
    if (!batched || is_packed(self)) TD_CHECK(td_gpu_new(job, &s->sent, mirrors, message, "mirrors of edges"));
    if (s->back && !s->plain && !batched)
        TD_CHECK(td_gpu_new(job, &s->sent_back, mirrors, message, "mirrors of edges"));
    TD_CHECK(td_gpu_new(job, &self->gpu->args.tally, 1, sizeof(td_path_tally), "counters"));
    self->steps.mirrors = mirrors;
    if (self->gpu->post != NULL) TD_CHECK(td_paths_declare_post(self));
    if (self->gpu->loops && !s->plain && !self->one_group && self->gpu->post == NULL)
        TD_CHECK(td_gpu_new_for(job, TD_FOR_LISTS, &self->gpu->ranges_seen, td_paths_count_ranges(self),
                                sizeof *self->gpu->ranges, "groups of paths"));
    if (self->gpu->loops) TD_CHECK(td_gpu_new(job, &self->gpu->loop, 1, sizeof(td_path_loop), "counters of rounds"));
    return batched ? declare_slots(self) : TD_OK; /* last: they take what is left */
}

/* What the arrays hold from the start. */

static td_status send(td_gpu_job *job, const void *to, const void *from, uint64_t count, uint64_t bytes)
{
    if (count == 0) return TD_OK;
    return td_stream_copy(job->stream, (void *)(uintptr_t)to, from, count * bytes, TD_TO_DEVICE);
}

static td_status send_walks(td_paths_job *self)
{
    td_gpu_job *job = &self->gpu->job;
    const td_path_state *s = &self->gpu->args.paths;
    const td_paths *p = &self->paths;
    const td_paths_index *index = &self->index;
    TD_CHECK(send(job, s->entries, p->vertices, p->entries, ID));
    TD_CHECK(send(job, s->weights, p->weights, p->edges, td_gpu_weight_bytes(job)));
    TD_CHECK(send(job, s->starts, p->starts, p->paths, ID));
    TD_CHECK(send(job, s->lanes, p->lanes, (uint64_t)(TD_PATH_LANES + 1) * p->partitions, ID));
    TD_CHECK(send(job, s->place_offsets, index->place_offsets, job->graph->vertices + (uint64_t)1, OFFSET));
    return send(job, s->places, index->places, count_places(self), ID);
}

static td_status send_paths(td_paths_job *self)
{
    td_gpu_job *job = &self->gpu->job;
    const td_path_state *s = &self->gpu->args.paths;
    const td_paths *p = &self->paths;
    const td_paths_index *index = &self->index;
    TD_CHECK(self->gpu->batches != NULL ? td_paths_open_batches(self) : send_walks(self));
    TD_CHECK(send(job, s->partition, p->partition, p->partitions, sizeof *p->partition));
    TD_CHECK(send(job, s->first_word, index->first_word, (uint64_t)p->partitions + 1, ID));
    TD_CHECK(send(job, s->home, index->home, job->graph->vertices, ID));
    if (self->gpu->post != NULL) TD_CHECK(td_paths_fill_post(self));
    if (self->one_group && self->gpu->post == NULL) return TD_OK;
    return send(job, self->gpu->members, index->members,
                self->gpu->post != NULL ? count_members(self) : index->member_offsets[p->groups], ID);
}

static td_status send_lists(td_paths_job *self)
{
    td_gpu_job *job = &self->gpu->job;
    const td_paths_args *args = &self->gpu->args;
    uint64_t n = job->graph->vertices;
    for (int l = 0; l < self->cpu.view.lists; l++) {
        const td_adjacency *from = &self->cpu.view.push[l];
        TD_CHECK(send(job, args->list_of[l].targets, from->targets, job->graph->edges, ID));
        TD_CHECK(send(job, args->list_of[l].offsets, from->offsets, n + 1, OFFSET));
        TD_CHECK(send(job, args->list_of[l].weights, from->weights, job->graph->edges, td_gpu_weight_bytes(job)));
    }
    return send(job, args->paths.place_offsets, self->steps.state.place_offsets, n + 1, OFFSET);
}

/* The paths that may be the homes of their first vertices: the homes that are the first paths of their vertices. */
static td_status send_openers(td_paths_job *self)
{
    td_gpu_job *job = &self->gpu->job;
    const td_paths_index *index = &self->index;
    uint32_t *map;
    if (!has_openers(self)) return TD_OK;
    TD_CHECK(TD_NEW_ZEROED(&map, index->words, "home paths of first vertices"));
    for (uint32_t v = 0; v < job->graph->vertices; v++) {
        bool reads = index->place_offsets[v] < index->place_offsets[v + 1];
        uint32_t bit = index->home[v];
        if (reads && index->places[index->place_offsets[v]] == bit) map[bit / 32] |= 1u << (bit & 31u);
    }
    td_status status = send(job, self->gpu->args.paths.opens, map, index->words, ID);
    if (status == TD_OK) status = td_stream_synchronize(job->stream);
    td_free(map);
    return status;
}

/* The vertices of high in-degree, in the view of the program. */
static td_status send_hubs(td_paths_job *self)
{
    td_gpu_job *job = &self->gpu->job;
    uint32_t *map;
    if (!has_proxies(self)) return TD_OK;
    TD_CHECK(TD_NEW_ZEROED(&map, td_gpu_words(job), "vertices with proxies"));
    for (uint32_t v = 0; v < job->graph->vertices; v++)
        if (td_cpu_pull_degree(&self->cpu, v) >= self->set.proxy) map[v / 32] |= 1u << (v & 31u);
    td_status status = send(job, self->gpu->args.paths.hubs, map, td_gpu_words(job), ID);
    if (status == TD_OK) status = td_stream_synchronize(job->stream);
    td_free(map);
    return status;
}

/* Core numbers: where the counts of a vertex begin. */
static td_status send_counts(td_paths_job *self)
{
    td_gpu_job *job = &self->gpu->job;
    uint64_t count = (uint64_t)job->graph->vertices + 1;
    if (job->traits->schedule != TD_SCHEDULE_PEEL) return TD_OK;
    TD_CHECK(TD_NEW(&self->count_offsets, count, "counts of bounds"));
    td_paths_fill_counts(self);
    return send(job, self->gpu->args.paths.count_offsets, self->count_offsets, count, OFFSET);
}

static td_status fill(td_paths_job *self)
{
    td_gpu_job *job = &self->gpu->job;
    td_path_state *s = &self->gpu->args.paths;
    uint64_t n = job->graph->vertices, words = td_paths_mark_words(self);
    TD_CHECK(td_gpu_send_inputs(job));
    TD_CHECK(s->plain ? send_lists(self) : send_paths(self));
    TD_CHECK(send(job, s->out_offsets, job->graph->out.offsets, n + 1, OFFSET));
    TD_CHECK(send_counts(self));
    if (!s->plain) TD_CHECK(send_hubs(self));
    if (!s->plain) TD_CHECK(send_openers(self));
    if (words > 0) TD_CHECK(td_stream_fill(job->stream, s->marks, 0, words * ID));
    if (s->rounds != NULL) TD_CHECK(td_stream_fill(job->stream, s->rounds, 0, n * ID));
    s->values = job->state.values;
    s->messages = job->state.messages;
    s->vertices = job->graph->vertices;
    if (s->late != NULL) s->late_count = &self->gpu->words[TD_PATHS_WORD_LATE];
    self->gpu->args.lists = s->plain ? (uint32_t)self->cpu.view.lists : 0;
    return td_stream_synchronize(job->stream);
}

/* Opening, planning, closing. */

static void describe_gpu(td_paths_job *self, const td_device *device)
{
    td_gpu_job *job = &self->gpu->job;
    td_path_state *s = &self->gpu->args.paths;
    *s = (td_path_state){.plain = self->steps.state.plain, .back = self->steps.state.back,
                         .coarse = self->gpu->batches != NULL};
    s->weight_kind = td_gpu_weight_bytes(job) > 0 ? job->graph->weights : TD_WEIGHT_NONE;
    job->state.weights = s->weight_kind;
    self->gpu->warps = td_paths_walks_by_warps(self);
    self->gpu->args.span.pack = self->set.layout.pack;
    self->gpu->loops = self->set.loop && device->properties.cooperative && (self->gpu->batches == NULL || is_packed(self));
    job->memory.cooperative = self->gpu->loops;
}

static td_status measure(td_paths_job *self, td_run *run, td_device *device)
{
    td_gpu_job *job = &self->gpu->job;
    TD_CHECK(td_gpu_job_measure(job, run, self->run->program, self->cpu.graph, self->options));
    run->async = true;
    job->device = device;
    describe_gpu(self, device);
    td_gpu_measure_on(&job->memory, device);
    return declare(self);
}

/* Packed partitions need their mirrors on the GPU; batches do with less. */
static td_status choose_packs(td_paths_job *self, td_device *device)
{
    td_paths_gpu *gpu = self->gpu, probe = {.post = gpu->post, .batches = gpu->batches};
    td_run run;
    TD_CHECK(td_gpu_job_measure(&probe.job, &run, self->run->program, self->cpu.graph, self->options));
    self->gpu = &probe;
    td_status status = td_paths_choose_packs(self, device);
    if (status == TD_OK && gpu->batches->packed) status = measure(self, &run, device);
    self->gpu = gpu;
    if (status != TD_OK || !gpu->batches->packed) return status;
    gpu->batches->packed = td_gpu_memory_sum(&probe.job.memory) <= room_on(device);
    return status;
}

/* Whether the paths stay at the host: if the settings say so, or if the GPU has no room for all of them. */
static td_status choose_batches(td_paths_job *self, td_device *device)
{
    td_paths_gpu *gpu = self->gpu, probe = {.post = gpu->post};
    td_run run;
    double cap = self->options->gpu_edges;
    if (self->steps.state.plain) return TD_OK;
    self->gpu = &probe;
    td_status status = measure(self, &run, device);
    self->gpu = gpu;
    TD_CHECK(status);
    const td_gpu_memory *memory = &probe.job.memory;
    bool fits = td_gpu_memory_sum(memory) <= td_device_left(device) + device->now;
    if (cap > 0) fits &= cap <= 1 ? cap == 1 : (double)memory->bytes[TD_FOR_EDGES] <= cap;
    bool batched = !fits || self->set.streams > 0;
    if (!batched) return td_paths_check_batches(self->options->settings, false, false);
    TD_CHECK(TD_NEW_ZEROED(&gpu->batches, 1, "batches of paths"));
    TD_CHECK(td_paths_count_readers(self));
    TD_CHECK(choose_packs(self, device));
    TD_CHECK(td_paths_check_batches(self->options->settings, true, gpu->batches->packed));
    /* Copies cost more than updates, and a factor needs all mirrors. */
    if (!td_settings_given(self->options->settings, "paths.share")) self->set.share = 1;
    if (!td_settings_given(self->options->settings, "paths.balance")) self->set.balance = false;
    return TD_OK;
}

/* States the memory on the GPU; at the host, what batches take besides. */
static td_status state_memory(td_paths_job *self, td_plan *plan, td_device *device)
{
    const td_gpu_memory *memory = &self->gpu->job.memory;
    td_gpu_bytes need = {.graph = memory->bytes[TD_FOR_EDGES] + memory->bytes[TD_FOR_LISTS],
                         .edges = memory->bytes[TD_FOR_EDGES], .program = memory->bytes[TD_FOR_PROGRAM]};
    td_run_options options = plan->options;
    if (self->gpu->batches != NULL) options.gpu_edges = 0; /* the slots obey it */
    TD_CHECK(td_gpu_check_fit(plan->program, &need, &options, device));
    td_plan_on_device(plan, device, need.graph, need.program, self->gpu->loops);
    plan->program_bytes += td_gpu_run_bytes(1);
    if (self->gpu->batches != NULL) plan->program_bytes += td_paths_batch_host_bytes(self);
    return TD_OK;
}

static td_status plan_one(td_paths_job *self, td_plan *plan, td_device *device)
{
    td_run run;
    TD_CHECK(choose_batches(self, device));
    TD_CHECK(measure(self, &run, device));
    return state_memory(self, plan, device);
}

/* Every GPU has its share of the paths, and room for its part of the messages. */
static td_status plan_several(td_paths_job *self, td_plan *plan, paths_layout *layout)
{
    td_status status = TD_OK;
    td_run run;
    TD_CHECK(take_share(self, layout));
    self->gpu = NULL;
    TD_TRY(td_paths_several_parts(self, &layout->share));
    td_paths_several *all = self->several;
    for (int i = 0; i < all->count; i++) {
        td_gpu_job *job = &all->part[i].gpu->job;
        TD_TRY(td_gpu_job_measure(job, &run, self->run->program, self->cpu.graph, self->options));
        job->device = layout->device[i];
    }
    TD_TRY(td_gpu_exchange_open(&all->exchange, self->set.copies));
    TD_TRY(td_paths_choose_steals(self));
    for (int i = 0; i < all->count; i++) td_paths_shape_post(&all->part[i]);
    for (int i = 0; i < all->count; i++) TD_TRY(plan_one(&all->part[i], plan, layout->device[i]));
    plan->program_bytes += td_paths_bytes(&self->paths); /* the shares, and places of their beginnings */
    if (self->steps.state.back) plan->program_bytes += (uint64_t)self->paths.paths * sizeof(uint32_t);
    td_plan_count(plan, "gpus", (uint64_t)all->count);
    uint64_t pinned = 0;
    for (int i = 0; i < all->count; i++) pinned += td_paths_pinned_bytes(&all->part[i]);
    if (pinned > 0) td_plan_count(plan, "pinned_bytes", pinned);
done:
    for (int i = 0; self->several != NULL && i < self->several->count; i++)
        td_paths_close_batches(&self->several->part[i]);
    td_paths_several_free(self);
    return status;
}

/* At the host: the copy of the result and the engine's few arrays. */
td_status td_paths_gpu_plan(td_paths_job *self, td_plan *plan, uint64_t host)
{
    td_status status = TD_OK;
    td_gpu_set *gpus;
    td_paths_gpu gpu = {0};
    paths_layout *layout;
    self->gpu = &gpu;
    self->options = &plan->options;
    TD_CHECK(td_gpu_check_vertices(plan->graph, "paths"));
    TD_CHECK(td_gpu_set_open(&plan->options, "paths", &gpus));
    TD_CHECK(td_gpu_layout_acquire(&layout_kind, plan->graph, &plan->options, &layout));
    if (is_shared(self, gpus)) td_paths_set_defaults(self);
    if (!self->steps.state.plain) TD_TRY(take_paths(self, layout));
    TD_TRY(td_paths_check_several(plan->options.settings, is_shared(self, gpus)));
    if (gpus->count > 1 && self->steps.state.plain)
        td_plan_say(plan, true, "the variant without paths uses the first GPU of {devices} alone");
    plan->program_bytes = 0;
    TD_TRY(is_shared(self, gpus) ? plan_several(self, plan, layout) : plan_one(self, plan, gpus->gpu[0]));
    if (self->gpu != NULL && gpu.batches != NULL) td_plan_count(plan, "pinned_bytes", td_paths_pinned_bytes(self));
    plan->program_bytes += host;
done:
    if (self->gpu != NULL) td_paths_close_batches(self);
    td_gpu_layout_release(&plan->options, status != TD_OK);
    self->gpu = NULL;
    return status;
}

td_status td_paths_gpu_start(td_paths_job *self, td_device *device, td_stream *stream)
{
    void *seen;
    td_paths_gpu *gpu = self->gpu;
    TD_CHECK(td_gpu_job_open(&gpu->job, self->run, self->options));
    TD_CHECK(td_gpu_job_start(&gpu->job, device, stream));
    TD_CHECK(TD_NEW_ZEROED(&gpu->seen, 1, "counters"));
    gpu->pinned = td_device_pin(device, gpu->seen, sizeof *gpu->seen, &seen) == TD_OK;
    return TD_OK;
}

td_status td_paths_gpu_set_up(td_paths_job *self)
{
    td_gpu_job *job = &self->gpu->job;
    TD_CHECK(choose_batches(self, job->device));
    if (self->gpu->batches != NULL) TD_CHECK(td_paths_reserve_packs(self));
    if (self->gpu->batches != NULL) TD_CHECK(td_paths_list_readers(self)); /* what is packed decides its part on the GPU */
    job->state.context = self->cpu.context;
    job->state.vertices = job->graph->vertices;
    describe_gpu(self, job->device);
    TD_CHECK(declare(self));
    if (self->gpu->args.span.early != NULL)
        TD_CHECK(TD_NEW(&self->gpu->early, td_paths_early_room(job->device), "partitions that start early"));
    TD_CHECK(td_paths_open_rounds(self));
    return fill(self);
}

static td_status open_one(td_paths_job *self, paths_layout *layout)
{
    TD_CHECK(TD_NEW_ZEROED(&self->gpu, 1, "GPU of the engine paths"));
    TD_CHECK(td_paths_gpu_start(self, layout->device[0], layout->stream[0]));
    if (!self->steps.state.plain) TD_CHECK(take_paths(self, layout));
    return td_paths_gpu_set_up(self);
}

/* Groups of a layer are joined on GPUs: the shares follow that. */
static td_status open_several(td_paths_job *self, paths_layout *layout)
{
    td_paths_gpu none = {0};
    td_paths_set_defaults(self);
    self->gpu = &none;
    td_status status = take_paths(self, layout);
    if (status == TD_OK) status = take_share(self, layout);
    self->gpu = NULL;
    TD_CHECK(status);
    return td_paths_several_open(self, &layout->share, layout->device, layout->stream);
}

td_status td_paths_gpu_open(td_paths_job *self)
{
    paths_layout *layout;
    TD_CHECK(td_gpu_layout_acquire(&layout_kind, self->cpu.graph, self->options, &layout));
    self->acquired = true;
    return is_shared(self, layout->gpu.set) ? open_several(self, layout) : open_one(self, layout);
}

void td_paths_gpu_shut(td_paths_job *self)
{
    td_paths_gpu *gpu = self->gpu;
    if (gpu == NULL) return;
    if (gpu->job.stream != NULL) (void)td_stream_synchronize(gpu->job.stream);
    td_paths_close_batches(self);
    if (gpu->pinned) td_device_unpin(gpu->job.device, gpu->seen);
    td_gpu_job_close(&gpu->job);
    td_free(gpu->ranges);
    td_free(gpu->early);
    td_free(gpu->seen);
}

void td_paths_gpu_close(td_paths_job *self, bool failed)
{
    if (self->several != NULL) {
        td_paths_several_close(self);
    } else {
        td_paths_gpu_shut(self);
        td_free(self->gpu);
        self->gpu = NULL;
    }
    if (self->acquired) td_gpu_layout_release(self->options, failed);
    self->acquired = false;
}
