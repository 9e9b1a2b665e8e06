/* Extraction of useful edges at the host (Scaph, section 4.3). The active bitmap is copied back; workers scan it by
 * words, bytes and bits, each one slice of a subgraph at a time, and append the lists of active vertices to a chunk of
 * pinned memory. A chunk has 32 tiles; the extract of a subgraph takes as many as it needs, in the first chunk that has
 * enough consecutive tiles. A task fills a chunk; its end is a completion, as are those of the chunk's copies and of
 * the kernel over it. While one chunk crosses and is processed, the other is filled. */
#include "engine/stream/stream.h"

#include "base/alloc.h"
#include "base/cancel.h"

#include <stdatomic.h>
#include <string.h>

enum { TILES = 32, SLICES = 16, MOST_EXTRACTS = TD_STREAMING_EXTRACTS };
enum { LONGEST_PART = 2048 }; /* longer lists are divided, so that warps have equal work */

/* The extract of a slice of a subgraph, made by one worker: vertices, positions, numbers of the first edges (sweeps),
 * targets, weights, in this order. */
typedef struct extract {
    uint32_t subgraph;
    bool numbered;           /* has numbers of edges */
    uint64_t first, end;     /* edges of the slice */
    uint64_t at, bytes;      /* position and size in the chunk */
    uint32_t parts;          /* lists, or pieces of long lists */
    uint64_t edges;
    int node;                /* memory node whose workers fill it, and the addresses at which they find edge 0 */
    const uint32_t *targets;
    const char *weights;
} extract;

/* Work of the pool on some extracts. */
typedef struct extraction {
    td_streaming_job *job;
    const td_link_list *list;
    extract *extracts;
    char *chunk;
    bool fills;              /* writes the lists; otherwise counts them */
} extraction;

/* The extraction of one iteration. */
struct td_extracting {
    td_streaming_job *job;
    td_task task;
    extract *extracts;
    uint32_t count, done;    /* extracts; those already in chunks */
    uint32_t fit;            /* extracts that the task puts into its chunk */
    bool counted, working;
    int chunk;               /* the task's chunk */
    bool full[2];            /* the chunk is being copied or processed */
    bool crossing[2];        /* the copy's completion has not been handled */
    bool early[2];           /* the kernel's completion was handled before the copy's */
    uint64_t began;          /* start of the task, by the device's clock */
    uint64_t bytes[2], copy_asked[2], kernel_asked[2];
    uint64_t local, remote;  /* the task's bytes of edges on the memory node of the worker, and on others */
};

static uint64_t round_up(uint64_t bytes) { return (bytes + 15) / 16 * 16; }

static uint64_t places_at(const extract *it) { return it->at + round_up(it->parts * sizeof(uint32_t)); }
static uint64_t numbers_at(const extract *it)
{
    return places_at(it) + round_up((it->parts + UINT64_C(1)) * sizeof(uint32_t));
}

static uint64_t targets_at(const extract *it)
{
    return numbers_at(it) + (it->numbered ? round_up(it->parts * sizeof(uint64_t)) : 0);
}

static uint64_t weights_at(const extract *it) { return targets_at(it) + round_up(it->edges * sizeof(uint32_t)); }

static uint64_t bytes_of(const extract *it, const td_link_list *list)
{
    extract at_zero = *it;
    at_zero.at = 0;
    return weights_at(&at_zero) + round_up(it->edges * list->weight_bytes);
}

/* A worker's write position in its extract. */
typedef struct cursor {
    extraction *self;
    extract *it;
    uint64_t first, end; /* edges of the slice */
    uint32_t parts;
    uint64_t edges;
} cursor;

static void put_part(cursor *at, uint32_t v, uint64_t begin, uint64_t count)
{
    extraction *self = at->self;
    const td_link_list *list = self->list;
    char *chunk = self->chunk;
    ((uint32_t *)(chunk + at->it->at))[at->parts] = v;
    ((uint32_t *)(chunk + places_at(at->it)))[at->parts] = (uint32_t)at->edges;
    if (at->it->numbered) ((uint64_t *)(chunk + numbers_at(at->it)))[at->parts] = begin;
    memcpy(chunk + targets_at(at->it) + at->edges * sizeof(uint32_t), at->it->targets + begin,
           count * sizeof(uint32_t));
    if (list->weight_bytes > 0)
        memcpy(chunk + weights_at(at->it) + at->edges * list->weight_bytes,
               at->it->weights + begin * list->weight_bytes, count * list->weight_bytes);
}

static void take_vertex(cursor *at, uint32_t v)
{
    extraction *self = at->self;
    uint64_t begin = self->list->offsets[v], end = self->list->offsets[v + 1];
    const td_link_list *list = self->list;
    uint64_t split = begin;
    if (list->own_skip != NULL) begin += list->own_skip[v + 1] - list->own_skip[v];
    if (list->own_light != NULL) { /* the same as part_of on the device */
        split += list->own_light[v + 1] - list->own_light[v];
        if (split < begin) split = begin;
        if (self->job->heavy_edges) begin = split;
        else end = split;
    }
    if (begin < at->first) begin = at->first;
    if (end > at->end) end = at->end;
    while (begin < end) {
        uint64_t count = end - begin < LONGEST_PART ? end - begin : LONGEST_PART;
        if (self->fills) put_part(at, v, begin, count);
        at->parts++;
        at->edges += count;
        begin += count;
    }
}

static void take_word(cursor *at, uint32_t word, uint32_t first)
{
    for (uint32_t byte = 0; byte < 4; byte++) {
        uint32_t bits = word >> (8 * byte) & 0xff;
        for (uint32_t bit = 0; bits >> bit != 0; bit++)
            if (bits >> bit & 1u) take_vertex(at, first + 8 * byte + bit);
    }
}

static void go_through(extraction *self, extract *it)
{
    const td_link_list *list = self->list;
    cursor at = {self, it, it->first, it->end, 0, 0};
    uint32_t low = list->first_vertex[it->subgraph], high = self->job->gpu.graph->vertices;
    uint32_t first = td_link_vertex(list, it->first, low, high), last = td_link_vertex(list, it->end - 1, first, high);
    for (uint32_t w = first / 32; w <= last / 32; w++)
        if (self->job->active[w] != 0) take_word(&at, self->job->active[w], w * 32);
    if (self->fills) ((uint32_t *)(self->chunk + places_at(it)))[at.parts] = (uint32_t)at.edges;
    it->parts = at.parts;
    it->edges = at.edges;
}

static td_status work_on(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    extraction *self = context;
    for (uint64_t i = begin; i < end; i++)
        if (!self->fills || self->extracts[i].parts > 0) go_through(self, &self->extracts[i]);
    return TD_OK;
}

static void cut_slices(const td_streaming_job *job, uint32_t s, extract *extracts, uint32_t *count)
{
    const td_link_list *list = job->crossing;
    uint64_t first = td_link_begin(list, s), end = td_link_end(list, s);
    uint64_t step = (UINT64_C(1) << list->shift) / SLICES;
    for (; first < end; first += step)
        extracts[(*count)++] = (extract){.subgraph = s, .numbered = job->work == TD_WORK_SWEEP, .first = first,
                                         .end = first + step < end ? first + step : end, .targets = list->targets,
                                         .weights = list->weights};
}

/* Assigns positions from `at` on to extracts; returns how many fit. */
static uint32_t place_group(const extraction *self, extract *group, uint32_t count, uint64_t at, uint64_t end)
{
    for (uint32_t i = 0; i < count; i++) {
        group[i].bytes = group[i].parts == 0 ? 0 : bytes_of(&group[i], self->list);
        if (at + group[i].bytes > end) return i;
        group[i].at = at;
        at += group[i].bytes;
    }
    return count;
}

/* Moves a group of extracts to position `to`, before others that have to wait for the next chunk. */
static void move_group(extract *extracts, uint32_t to, uint32_t from, uint32_t count)
{
    extract group[SLICES];
    memcpy(group, extracts + from, count * sizeof *group);
    memmove(extracts + to + count, extracts + to, (from - to) * sizeof *extracts);
    memcpy(extracts + to, group, count * sizeof *group);
}

/* Chooses extracts from `first` on for the chunk, moves them to the front and assigns positions; returns their number.
 * The extracts of a subgraph take consecutive tiles. If there are too few left, the chunk is revisited by the
 * subgraphs behind it (Scaph, section 4.3). Only where half of a chunk would stay empty, the first that waits is
 * divided. */
static uint32_t place_in_tiles(const extraction *self, uint32_t first, uint32_t count, uint64_t chunk_bytes)
{
    uint64_t tile = round_up(chunk_bytes / TILES), used = 0;
    uint32_t placed = first;
    for (uint32_t i = first, end; i < count; i = end) {
        extract *group = &self->extracts[i];
        for (end = i + 1; end < count && self->extracts[end].subgraph == group->subgraph; end++) {}
        if (placed - first + end - i > MOST_EXTRACTS) break;
        uint32_t fit = place_group(self, group, end - i, used, chunk_bytes);
        if (fit < end - i) continue;
        used = group[fit - 1].at + group[fit - 1].bytes;
        used = (used + tile - 1) / tile * tile;
        move_group(self->extracts, placed, i, end - i);
        placed += end - i;
    }
    bool divides = placed < count && used < chunk_bytes / 2 && placed - first + SLICES <= MOST_EXTRACTS;
    if (!divides) return placed - first;
    uint32_t rest = 1; /* the first subgraph that waits begins in the remaining tiles */
    while (placed + rest < count && self->extracts[placed + rest].subgraph == self->extracts[placed].subgraph) rest++;
    return placed - first + place_group(self, &self->extracts[placed], rest, used, chunk_bytes);
}

/* Copies the table of extracts, by which a kernel finds the lists in the chunk. */
static td_status send_table(td_streaming_job *job, const extract *extracts, uint32_t count, int chunk)
{
    td_gpu_extract *table = job->layout->table[chunk];
    const char *to = job->layout->chunk[chunk];
    uint32_t groups = 0;
    for (uint32_t i = 0; i < count; i++) {
        const extract *it = &extracts[i];
        table[i] = (td_gpu_extract){(const uint32_t *)(to + it->at), (const uint32_t *)(to + places_at(it)),
                                    (const uint32_t *)(to + targets_at(it)), to + weights_at(it), it->parts, groups};
        groups += (it->parts + 31) / 32;
    }
    table[count] = (td_gpu_extract){.groups_before = groups};
    return td_stream_copy(job->layout->copies, job->layout->device_table[chunk], table,
                          (count + UINT64_C(1)) * sizeof *table, TD_TO_DEVICE);
}

static void on_filled(void *context, td_status status, uint64_t chunk);
static void on_copied(void *context, td_status status, uint64_t chunk);
static void on_done(void *context, td_status status, uint64_t chunk);

/* Launches over the extracts of a chunk. */
static td_status launch_chunk(td_streaming_job *job, int chunk, uint32_t count)
{
    td_gpu_job *gpu = &job->gpu;
    const td_gpu_extract *table = job->layout->device_table[chunk];
    uint64_t threads = (uint64_t)job->layout->table[chunk][count].groups_before * 32;
    if (job->work == TD_WORK_SWEEP) {
        td_gpu_part all = td_gpu_all(gpu);
        td_sweep_extracted_args args = {.sweep = td_gpu_sweep_args(gpu, job->crossing->seen, &all), .extracts = table,
                                        .count = count};
        args.sweep.collects_vertices = job->collects_vertices;
        return td_gpu_launch(gpu, gpu->stream, &gpu->kernels->sweep_extracted, threads, &args);
    }
    td_push_extracted_args args = {.push = td_gpu_push_args(gpu, (td_gpu_list){0}), .count = count, .extracts = table,
                                   .bound = gpu->bound};
    return td_gpu_launch(gpu, gpu->stream, &gpu->kernels->push_extracted, threads, &args);
}

/* Finds the next copy of a chunk from extract `first` on: the extracts up to a gap that takes longer to copy than another
 * copy takes to start. Returns the extract behind it. */
enum { LONGEST_GAP = 128 << 10 };

static uint32_t next_copy(const extract *extracts, uint32_t first, uint32_t count, uint64_t *at, uint64_t *bytes)
{
    uint32_t i = first;
    *at = *bytes = 0;
    for (; i < count; i++) {
        const extract *it = &extracts[i];
        if (it->bytes == 0) continue;
        if (*bytes > 0 && it->at > *at + *bytes + LONGEST_GAP) break;
        if (*bytes == 0) *at = it->at;
        *bytes = it->at + it->bytes - *at;
    }
    return i;
}

/* Copies the chunk and launches over it. */
static td_status send_chunk(struct td_extracting *self, int chunk)
{
    td_streaming_job *job = self->job;
    td_streaming_graph *layout = job->layout;
    const extract *extracts = self->extracts + self->done;
    td_event *event = NULL;
    uint64_t at, bytes;
    for (uint32_t i = 0; i < self->fit;) {
        i = next_copy(extracts, i, self->fit, &at, &bytes);
        if (bytes > 0)
            TD_CHECK(td_stream_copy(layout->copies, (char *)layout->chunk[chunk] + at,
                                    (char *)layout->staging[chunk] + at, bytes, TD_TO_DEVICE));
    }
    TD_CHECK(send_table(job, extracts, self->fit, chunk));
    TD_CHECK(td_stream_notify(layout->copies, on_copied, self, (uint64_t)chunk));
    td_streaming_account_time(job);
    self->copy_asked[chunk] = job->clock;
    job->copies_in_flight++;
    self->crossing[chunk] = true;
    TD_CHECK(td_stream_record(layout->copies, &event));
    td_status status = td_stream_wait(job->gpu.stream, event);
    td_event_destroy(job->gpu.device, event);
    TD_CHECK(status);
    TD_CHECK(launch_chunk(job, chunk, self->fit));
    return td_stream_notify(job->gpu.stream, on_done, self, (uint64_t)chunk);
}

/* Memory nodes (nodes.c). Extracts are assigned to nodes before workers start, so that the counters do not depend on
 * timing: each to the node that would have filled it first, given the bytes that its workers already have. A byte of
 * another node takes as long as REMOTE of the own. */
static const double REMOTE = 2;

typedef struct on_nodes {
    extraction *all;
    uint32_t count;
    _Atomic uint32_t next[TD_NUMA_NODES]; /* the first extract that no worker of the node has looked at */
} on_nodes;

static void count_workers(const td_numa *numa, int workers, double out[TD_NUMA_NODES])
{
    for (int n = 0; n < numa->nodes; n++) out[n] = 0;
    for (int w = 0; w < workers; w++) out[td_numa_node(numa, w, workers)]++;
}

static void assign_node(struct td_extracting *self, extract *it, const double *workers, double *load)
{
    const td_streaming_graph *layout = self->job->layout;
    const td_link_list *list = self->job->crossing;
    double bytes = (double)(it->edges * td_link_edge_bytes(list)), best = 0, added = 0;
    int home = td_streaming_home(&layout->nodes, it->subgraph);
    bool local = false;
    it->node = -1;
    for (int i = 0; i < layout->nodes.count; i++) {
        int n = (home + i) % layout->nodes.count; /* the home wins ties */
        const uint32_t *targets;
        const char *weights;
        bool near = td_streaming_nearest(layout, list, it->subgraph, n, &targets, &weights);
        double cost = near ? bytes : REMOTE * bytes, end = (load[n] + cost) / workers[n];
        if (workers[n] == 0 || (it->node >= 0 && end >= best)) continue;
        it->node = n;
        it->targets = targets;
        it->weights = weights;
        local = near;
        best = end;
        added = cost;
    }
    load[it->node] += added;
    *(local ? &self->local : &self->remote) += (uint64_t)bytes;
}

static td_status fill_own(void *context, int worker, int workers)
{
    on_nodes *self = context;
    const td_numa *numa = td_numa_here();
    int node = td_numa_node(numa, worker, workers);
    td_status status = TD_OK;
    cpu_set_t before;
    if (worker == 0) td_numa_visit(numa, worker, workers, &before); /* the others are bound */
    for (uint32_t i; status == TD_OK && (i = self->next[node]++) < self->count;) {
        extract *it = &self->all->extracts[i];
        if (it->node != node || it->parts == 0) continue;
        status = td_cancel_check();
        if (status == TD_OK) go_through(self->all, it);
    }
    if (worker == 0) td_numa_leave(numa, &before);
    return status;
}

static td_status fill_on_nodes(struct td_extracting *self, extraction *all)
{
    double workers[TD_NUMA_NODES], load[TD_NUMA_NODES] = {0};
    td_pool *pool = self->job->gpu.options->pool;
    on_nodes work = {.all = all, .count = self->fit};
    count_workers(td_numa_here(), td_pool_threads(pool), workers);
    for (uint32_t i = 0; i < self->fit; i++) assign_node(self, &all->extracts[i], workers, load);
    return td_pool_run(pool, fill_own, &work);
}

static td_status fill_extracts(struct td_extracting *self, extraction *all)
{
    const td_streaming_nodes *nodes = &self->job->layout->nodes;
    self->local = self->remote = 0;
    if (nodes->count > 1 && nodes->homes && self->job->crossing == &self->job->layout->lists[0])
        return fill_on_nodes(self, all);
    for (uint32_t i = 0; i < self->fit && nodes->count > 1; i++) { /* every node has so many of the pages */
        uint64_t bytes = all->extracts[i].edges * td_link_edge_bytes(all->list);
        self->local += bytes / (uint64_t)nodes->count;
        self->remote += bytes - bytes / (uint64_t)nodes->count;
    }
    return td_pool_for(self->job->gpu.options->pool, self->fit, 1, work_on, all);
}

/* The task: workers count the useful edges, the first time, and fill a chunk. */
static td_status fill_chunk(void *context, uint64_t *time)
{
    struct td_extracting *self = context;
    td_streaming_job *job = self->job;
    extraction all = {.job = job, .list = job->crossing, .extracts = self->extracts};
    uint64_t room = td_link_edge_bytes(all.list) << all.list->shift, at, bytes;
    if (!self->counted) TD_CHECK(td_pool_for(job->gpu.options->pool, self->count, 1, work_on, &all));
    self->counted = true;
    self->fit = place_in_tiles(&all, self->done, self->count, room);
    all.extracts += self->done;
    all.chunk = job->layout->staging[self->chunk];
    all.fills = true;
    TD_CHECK(fill_extracts(self, &all));
    uint64_t filled = 0;
    for (uint32_t i = 0; i < self->fit; i++) filled += all.extracts[i].bytes;
    self->bytes[self->chunk] = 0;
    for (uint32_t i = 0; i < self->fit; self->bytes[self->chunk] += bytes)
        i = next_copy(all.extracts, i, self->fit, &at, &bytes);
    *time = td_device_host_until(job->gpu.device, self->began, filled);
    return TD_OK;
}

/* Starts filling a chunk if one is free and extracts are left. */
static void fill_next(struct td_extracting *self)
{
    int chunk = self->full[0] ? 1 : 0;
    if (self->working || self->full[chunk] || self->done == self->count) return;
    self->chunk = chunk;
    self->working = true;
    self->began = td_device_clock(self->job->gpu.device);
    self->task = (td_task){.loop = self->job->layout->gpu.set->loop, .work = fill_chunk, .handler = on_filled,
                           .context = self, .value = (uint64_t)chunk};
    td_task_start(&self->task);
}

static void on_filled(void *context, td_status status, uint64_t chunk)
{
    struct td_extracting *self = context;
    td_streaming_job *job = self->job;
    td_task_join(&self->task);
    self->working = false;
    td_streaming_record_status(job, status);
    if (job->status != TD_OK) return;
    job->row->bytes_extracted += self->bytes[chunk];
    job->row->bytes_local += self->local;
    job->row->bytes_remote += self->remote;
    job->row->chunks_sent++;
    td_streaming_record_status(job, td_streaming_note_event(job, TD_LANE_WORKERS, "extract", UINT32_MAX, self->began,
                                             self->bytes[chunk]));
    td_streaming_record_status(job, send_chunk(self, (int)chunk));
    self->full[chunk] = true;
    self->done += self->fit;
    if (job->status == TD_OK) fill_next(self);
}

static void end_chunk(struct td_extracting *self, uint64_t chunk)
{
    td_streaming_job *job = self->job;
    td_streaming_account_time(job);
    job->flights--;
    self->full[chunk] = self->early[chunk] = false;
    td_streaming_record_status(job, td_streaming_note_event(job, TD_LANE_KERNELS, "chunk", UINT32_MAX,
                                                            self->kernel_asked[chunk],
                                             self->bytes[chunk]));
    if (job->status == TD_OK) fill_next(self);
    if (job->status == TD_OK) td_streaming_record_status(job, td_streaming_process_more(job));
}

static void on_copied(void *context, td_status status, uint64_t chunk)
{
    struct td_extracting *self = context;
    td_streaming_job *job = self->job;
    td_streaming_account_time(job);
    self->crossing[chunk] = false;
    job->copies_in_flight--;
    job->flights++;
    self->kernel_asked[chunk] = job->clock;
    td_streaming_record_status(job, status);
    td_streaming_record_status(job, td_streaming_note_event(job, TD_LANE_COPIES, "chunk", UINT32_MAX,
                                                            self->copy_asked[chunk],
                                             self->bytes[chunk]));
    if (job->status == TD_OK) td_streaming_record_status(job, td_streaming_start_copies(job));
    if (self->early[chunk]) end_chunk(self, chunk);
}

/* Completions of two streams arrive in any order: the copy's may be handled after the kernel's. */
static void on_done(void *context, td_status status, uint64_t chunk)
{
    struct td_extracting *self = context;
    td_streaming_record_status(self->job, status);
    if (self->crossing[chunk]) self->early[chunk] = true;
    else end_chunk(self, chunk);
}

/* Copies the bitmap to the host. Call it before the iteration queues other work, which the copy would wait for. */
td_status td_streaming_fetch_active(td_streaming_job *job)
{
    td_gpu_job *gpu = &job->gpu;
    bool any = false;
    for (uint32_t s = 0; s < job->crossing->subgraphs && !any; s++) any = job->mode[s] == TD_TRANSFER_EXTRACT;
    if (!any) return TD_OK;
    uint64_t began = td_device_clock(gpu->device);
    TD_CHECK(td_stream_copy(gpu->stream, job->active, gpu->state.active, td_gpu_words(gpu) * sizeof(uint32_t),
                            TD_TO_HOST));
    TD_CHECK(td_stream_synchronize(gpu->stream));
    job->row->bitmap_seconds += (double)(td_device_clock(gpu->device) - began) * 1e-9;
    return TD_OK;
}

td_status td_streaming_start_extraction(td_streaming_job *job)
{
    struct td_extracting *self;
    const td_link_list *list = job->crossing;
    uint32_t count = 0;
    for (uint32_t s = 0; s < list->subgraphs; s++) count += job->mode[s] == TD_TRANSFER_EXTRACT;
    if (count == 0) return TD_OK;
    job->row->subgraphs_extracted += count;
    TD_CHECK(TD_NEW_ZEROED(&self, 1, "extraction"));
    job->extracting = self;
    self->job = job;
    TD_CHECK(TD_NEW_ZEROED(&self->extracts, (uint64_t)count * SLICES, "extracts"));
    for (uint32_t s = 0; s < list->subgraphs; s++)
        if (job->mode[s] == TD_TRANSFER_EXTRACT) cut_slices(job, s, self->extracts, &self->count);
    fill_next(self);
    return TD_OK;
}

bool td_streaming_is_extracting(const td_streaming_job *job)
{
    const struct td_extracting *self = job->extracting;
    return self != NULL && (self->working || self->full[0] || self->full[1]);
}

void td_streaming_end_extraction(td_streaming_job *job)
{
    if (job->extracting == NULL) return;
    td_task_join(&job->extracting->task);
    td_free(job->extracting->extracts);
    td_free(job->extracting);
    job->extracting = NULL;
}
