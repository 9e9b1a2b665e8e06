#include "store/external_build.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/size.h"
#include "store/build_bytes.h"
#include "store/builder_steps.h"
#include "store/vertex_names.h"

#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

/* Memory of a reader's worker: a piece of text and its chunk, twice while the chunk grows. */
#define READER_BYTES (UINT64_C(24) << 20)
#define LEAST_BYTES (UINT64_C(24) << 20)
#define MARGIN_BYTES (UINT64_C(1) << 20)

uint64_t td_external_least(int threads) { return LEAST_BYTES + (uint64_t)threads * (READER_BYTES + (4 << 20)); }

/* For each adjacency: an edge's key, without the bits given by its bucket, and its weight. */
uint64_t td_external_temporary(const td_packed_info *info)
{
    enum { BUCKET_BITS = 9 };
    uint32_t bits = info->vertices < 2 ? 0 : 64 - (uint32_t)__builtin_clzll(info->vertices - 1);
    uint64_t key = 2 * bits > BUCKET_BITS ? (2 * bits - BUCKET_BITS + 7) / 8 : 0;
    uint64_t record = key + (info->weights != TD_WEIGHT_NONE ? 4 : 0), sorts = info->has_in && !info->symmetric ? 2 : 1;
    return info->edges * (record * sorts + (info->weights != TD_WEIGHT_NONE ? 4 : 0));
}

/* Temporary files hold the edges as read, the ids while they are sorted, and the sorted ids. */
uint64_t td_external_ids_temporary(const td_packed_info *info, uint64_t highest)
{
    uint64_t id = highest > UINT32_MAX ? 8 : 4, ends = 2 * id + 2 * id;
    uint64_t weight = info->weights != TD_WEIGHT_NONE ? 4 : 0;
    return info->edges * (ends + weight) + info->edges / 2 + info->vertices * sizeof(uint64_t);
}

/* Computes the usable memory; the process's code, stacks and libraries count too. */
static td_status plan_memory(td_external *self)
{
    uint64_t memory = self->settings->memory, held = td_account_memory(td_account_process()).now;
    uint64_t resident = td_machine_resident();
    uint64_t besides = (resident > held ? resident - held : 0) + MARGIN_BYTES;
    uint64_t least = td_external_least(self->workers) + besides;
    char given[TD_NUMBER_BYTES], needed[TD_NUMBER_BYTES];
    td_refusal refusal = td_memory_refusal(least);
    if (memory < least)
        return td_refuse(&refusal, "building %s out of memory with %d threads needs at least %s (less with fewer "
                         "{threads}); %s given", self->settings->path, self->workers, td_format_least(needed, least),
                         td_format_size(given, memory));
    self->usable = memory - besides;
    return TD_OK;
}

uint64_t td_external_left(const td_external *self)
{
    uint64_t held = td_memory().now;
    return self->usable > held ? self->usable - held : 0;
}

uint64_t td_external_bounded(const td_external *self, uint64_t bytes)
{
    return self->settings->most != 0 && bytes > self->settings->most ? self->settings->most : bytes;
}

static uint64_t reader_bytes(const td_external *self) { return (uint64_t)self->workers * READER_BYTES; }

static td_status choose_directory(td_external *self)
{
    char copy[PATH_MAX];
    const char *given = self->settings->temporary;
    snprintf(copy, sizeof copy, "%s", self->settings->path);
    int length = snprintf(self->directory, sizeof self->directory, "%s", given != NULL ? given : dirname(copy));
    return length < (int)sizeof self->directory ? TD_OK : td_fail(TD_IO, "the name of %s is too long", given);
}

static td_status make_batches(td_external *self)
{
    TD_CHECK(TD_NEW_ZEROED(&self->batches, (uint64_t)self->workers, "batches"));
    for (int i = 0; i < self->workers; i++) {
        TD_CHECK(TD_NEW(&self->batches[i].keys, 2 * TD_EXTERNAL_BATCH, "batch of keys"));
        TD_CHECK(TD_NEW(&self->batches[i].weights, 2 * TD_EXTERNAL_BATCH, "batch of weights"));
    }
    return TD_OK;
}

void td_external_free_batches(td_external *self)
{
    for (int i = 0; self->batches != NULL && i < self->workers; i++) {
        td_free(self->batches[i].keys);
        td_free(self->batches[i].weights);
    }
    td_free(self->batches);
    self->batches = NULL;
}

td_status td_external_new_spill(td_external *self, uint64_t memory, const td_weight_table *codes, td_spill **out)
{
    memory = td_external_bounded(self, memory);
    td_spill_shape shape = {.key_bits = 2 * self->bits, .weighted = self->weighted, .codes = codes,
                            .directory = self->directory,
                            .memory = memory > TD_SPILL_LEAST_FILL ? memory : TD_SPILL_LEAST_FILL,
                            .pool = self->settings->pool, .workers = self->workers};
    return td_spill_create(out, &shape);
}

static td_status set_vertices(td_external *self, uint64_t vertices)
{
    if (vertices > TD_MAX_VERTICES) return td_edges_too_many(self->list, vertices);
    self->vertices = (uint32_t)vertices;
    self->bits = vertices < 2 ? 0 : 64 - (uint32_t)__builtin_clzll(vertices - 1);
    return TD_OK;
}

static td_status check_free(const char *directory, double needed, const char *what)
{
    struct statvfs disk;
    char need[TD_NUMBER_BYTES], there[TD_NUMBER_BYTES];
    if (statvfs(directory, &disk) != 0) return TD_OK; /* the writer will report it */
    double free_bytes = (double)disk.f_bavail * (double)disk.f_frsize;
    if (needed <= free_bytes) return TD_OK;
    return td_fail(TD_IO, "%s need at least %s on the disk of %s, which has %s left", what,
                   td_format_size(need, needed < 1e18 ? (uint64_t)needed : UINT64_MAX), directory,
                   td_format_size(there, (uint64_t)free_bytes));
}

/* Compares the free space of both directories with the minimum that the expected edges need. */
static td_status check_disk(const td_external *self)
{
    const td_build_options *options = self->settings->build;
    char copy[PATH_MAX];
    double edges = (double)self->settings->expected_edges * (self->mirror ? 2 : 1);
    double key_bytes = self->bits > 5 ? (2 * self->bits - 10) / 8.0 : 0;
    snprintf(copy, sizeof copy, "%s", self->settings->path);
    TD_CHECK(check_free(self->directory, edges * key_bytes, "the temporary files"));
    if (options->dedup || self->settings->stripes != NULL) return TD_OK;
    double lists = self->mirror || options->out_only ? 1 : 2;
    return check_free(dirname(copy), edges * 4 * lists, "the edges");
}

/* Runs with the first chunk, when the properties of the list are known, or at the end of an empty list. */
static td_status begin(td_external *self)
{
    const td_build_options *options = self->settings->build;
    const td_edge_list *list = self->list;
    uint64_t room = td_external_left(self), buffers = room > reader_bytes(self) ? (room - reader_bytes(self)) / 2 : 0;
    self->mirror = list->mirror || options->symmetrize;
    self->weighted = list->weighted && !options->drop_weights && !options->attach_weights;
    if (!list->declared)
        return td_external_ids_create(&self->ids, list, self->directory, td_external_bounded(self, buffers), self->settings->pool,
                                      self->workers);
    TD_CHECK(set_vertices(self, list->vertices));
    TD_CHECK(check_disk(self));
    return td_external_new_spill(self, buffers, list->table, &self->by_source);
}

static td_status begin_once(td_external *self)
{
    pthread_mutex_lock(&self->lock);
    if (!self->begun) {
        self->begun = true;
        self->begin_status = begin(self);
        if (self->begin_status != TD_OK) td_failure_keep(&self->begin_failure);
    }
    pthread_mutex_unlock(&self->lock);
    if (self->begin_status != TD_OK) td_failure_set(&self->begin_failure);
    return self->begin_status;
}

/* Puts edges between numbered vertices into the buckets, as the options require. */
static td_status put_edges(void *context, const uint32_t *ends, const uint32_t *weights, bool real, uint64_t count,
                           int worker)
{
    td_external *self = context;
    const td_build_options *options = self->settings->build;
    td_external_batch *mine = &self->batches[worker];
    for (uint64_t at = 0; at < count; at += TD_EXTERNAL_BATCH) {
        uint64_t stop = count - at < TD_EXTERNAL_BATCH ? count : at + TD_EXTERNAL_BATCH, filled = 0;
        for (uint64_t e = at; e < stop; e++) {
            uint32_t source = ends[2 * e], target = ends[2 * e + 1];
            if (source == target && options->drop_loops) continue;
            if (weights != NULL) mine->weights[filled] = weights[e];
            mine->keys[filled++] = td_edge_key(source, target, self->bits);
            if (!self->mirror || source == target) continue;
            if (weights != NULL) mine->weights[filled] = weights[e];
            mine->keys[filled++] = td_edge_key(target, source, self->bits);
        }
        TD_CHECK(td_spill_put(self->by_source, mine->keys, weights != NULL ? mine->weights : NULL, filled, real,
                              worker));
    }
    return TD_OK;
}

static td_status check_ends(const td_external *self, td_edge_chunk *chunk)
{
    uint64_t vertices = self->vertices;
    for (uint64_t i = 0; i < 2 * chunk->count; i++) {
        uint64_t id = chunk->wide != NULL ? chunk->wide[i] : chunk->ends[i];
        if (id >= vertices) return td_edges_beyond_declared(self->list, id);
    }
    return chunk->wide != NULL ? td_chunk_narrow(chunk) : TD_OK;
}

static td_status take_apart(td_external *self, td_edge_chunk *chunk, int worker)
{
    TD_CHECK(begin_once(self));
    if (self->weighted && self->list->floats) {
        td_chunk_all_real(chunk);
        self->fraction = true;
    }
    if (self->weighted && chunk->fraction) self->fraction = true;
    if (self->weighted && chunk->inexact != 0) self->inexact = true;
    if (self->weighted && chunk->rounded) self->rounded = true;
    if (self->ids != NULL) return td_external_ids_take(self->ids, chunk, self->weighted, worker);
    TD_CHECK(check_ends(self, chunk));
    return put_edges(self, chunk->ends, self->weighted ? chunk->weights : NULL, chunk->real, chunk->count, worker);
}

/* Keeping chunks in memory: the size of a compressed file's graph is known when it has been read. */

static void measure_chunk(td_external *self, const td_edge_chunk *chunk)
{
    self->held_edges += chunk->count;
    self->held_bytes += chunk->room * ((chunk->wide != NULL ? 16 : 8) + (chunk->weighted ? 4 : 0));
    for (uint64_t i = 0; !self->list->declared && i < 2 * chunk->count; i++) {
        uint64_t id = chunk->wide != NULL ? chunk->wide[i] : chunk->ends[i];
        if (id < self->lowest) self->lowest = id;
        if (id > self->highest) self->highest = id;
    }
}

static uint64_t most_vertices(const td_external *self)
{
    uint64_t ends = 2 * self->held_edges, span = self->highest - self->lowest;
    if (self->list->declared) return self->list->vertices;
    return self->held_edges > 0 && span < ends ? span + 1 : ends;
}

/* Whether the edges so far can be built in memory, and could still be taken apart if more come. */
static bool fits_inside(const td_external *self)
{
    double inside = td_inside_bytes(most_vertices(self), self->held_edges, self->list->weighted, self->settings->build);
    inside += (double)(self->held_bytes > 8 * self->held_edges ? self->held_bytes - 8 * self->held_edges : 0);
    return inside <= (double)self->usable && self->held_bytes + td_external_least(self->workers) <= self->usable;
}

static td_status keep_chunk(td_external *self, td_edge_chunk *chunk)
{
    if (self->held_count == self->held_room) {
        uint64_t room = 2 * self->held_room + 64;
        TD_CHECK(TD_RESIZE(&self->held, room, "chunks in memory"));
        self->held_room = room;
    }
    measure_chunk(self, chunk);
    self->held[self->held_count++] = *chunk;
    *chunk = (td_edge_chunk){0};
    return TD_OK;
}

static td_status give_up_holding(td_external *self, int worker)
{
    td_status status = TD_OK;
    self->holding = false;
    for (uint64_t i = 0; i < self->held_count; i++) {
        if (status == TD_OK) status = take_apart(self, &self->held[i], worker);
        td_chunk_clear(&self->held[i]);
    }
    td_free(self->held);
    self->held = NULL;
    self->held_count = 0;
    return status;
}

/* True: the chunk has been kept. */
static td_status hold(td_external *self, td_edge_chunk *chunk, int worker, bool *kept)
{
    td_status status = TD_OK;
    pthread_mutex_lock(&self->hold_lock);
    *kept = self->holding;
    if (*kept) status = keep_chunk(self, chunk);
    if (*kept && status == TD_OK && !fits_inside(self)) status = give_up_holding(self, worker);
    pthread_mutex_unlock(&self->hold_lock);
    return status;
}

static td_status take_chunk(void *context, td_edge_chunk *chunk, int worker)
{
    td_external *self = context;
    bool kept = false;
    if (self->settings->whole != NULL) TD_CHECK(hold(self, chunk, worker, &kept));
    return kept ? TD_OK : take_apart(self, chunk, worker);
}

/* Gives the list its chunks back; it is the caller's from here on. */
static td_status hand_over_list(td_external *self)
{
    td_edge_list *list = self->list;
    list->take = NULL;
    list->taken = 0;
    for (uint64_t i = 0; i < list->chunk_count; i++)
        if (list->chunks[i] != NULL) td_chunk_clear(list->chunks[i]);
    for (uint64_t i = 0; i < self->held_count; i++) {
        td_edge_chunk *chunk;
        TD_CHECK(td_edges_chunk(list, i, &chunk));
        *chunk = self->held[i];
        self->held[i] = (td_edge_chunk){0};
    }
    *self->settings->whole = list;
    self->list = NULL;
    return TD_OK;
}

static td_status number_vertices(td_external *self)
{
    uint64_t least = 0, room = td_external_left(self);
    char text[TD_NUMBER_BYTES];
    td_progress_text("sorting vertex ids");
    room = room > TD_EXTERNAL_STREAM_BYTES ? room - TD_EXTERNAL_STREAM_BYTES : 0;
    td_status status = td_external_ids_number(self->ids, room, &least);
    if (status == TD_NO_MEMORY && least > 0)
        return td_fail_add(TD_NO_MEMORY, ": {memory} %s would suffice",
                           td_format_least(text, self->settings->memory + least + LEAST_BYTES));
    TD_CHECK(status);
    TD_CHECK(set_vertices(self, td_external_ids_count(self->ids)));
    TD_CHECK(td_external_new_spill(self, td_external_left(self) / 2, self->list->table, &self->by_source));
    TD_CHECK(td_external_ids_replay(self->ids, put_edges, self));
    td_external_ids_forget(self->ids);
    return TD_OK;
}

static td_status fill(td_external *self, td_edge_source_fn source, void *context)
{
    uint64_t start = td_clock_ns();
    self->list->take = take_chunk;
    self->list->take_context = self;
    TD_CHECK(source(context, self->list, self->settings->pool));
    td_edges_drop_idle(self->list);
    self->report->edges_read = td_edges_count(self->list);
    self->report->fill_seconds = td_seconds_since(start);
    if (self->holding) return hand_over_list(self);
    TD_CHECK(begin_once(self));
    if (self->list->table != NULL) TD_CHECK(td_weight_table_rank(self->list->table, self->settings->pool));
    if (self->ids != NULL) TD_CHECK(number_vertices(self));
    TD_CHECK(td_spill_finish(self->by_source));
    self->report->edges_read = td_edges_count(self->list);
    self->report->fill_seconds = td_seconds_since(start);
    return TD_OK;
}

td_status td_external_build(const td_external_settings *settings, const char *name, td_edge_source_fn source,
                            void *context, td_external_report *report)
{
    td_status status = TD_OK;
    td_external self = {.settings = settings, .report = report, .workers = td_pool_threads(settings->pool),
                     .hold_lock = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER,
                     .holding = settings->whole != NULL, .lowest = UINT64_MAX};
    *report = (td_external_report){0};
    TD_TRY(plan_memory(&self));
    TD_TRY(choose_directory(&self));
    TD_TRY(td_edges_create(&self.list, name));
    TD_TRY(td_edges_prepare(self.list, settings->build));
    TD_TRY(td_packed_out_create(&self.out, settings->path, settings->stripes));
    TD_TRY(make_batches(&self));
    TD_TRY(fill(&self, source, context));
    if (self.list == NULL) goto done; /* handed over whole */
    TD_TRY(td_external_sort_out(&self));
    TD_TRY(td_external_sort_in(&self));
    TD_TRY(td_external_finish(&self));
done:
    td_progress_end();
    if (status == TD_NO_MEMORY && self.list != NULL && self.list->table != NULL)
        td_fail_add(status, "; distinct 64-bit weights stay in memory, and {weights} f32 needs none for them");
    td_external_free_batches(&self);
    for (uint64_t i = 0; i < self.held_count; i++) td_chunk_clear(&self.held[i]);
    td_free(self.held);
    td_external_rows_close(&self.out_rows);
    td_external_rows_close(&self.in_rows);
    td_spill_destroy(self.by_source);
    td_spill_destroy(self.by_target);
    td_external_ids_destroy(self.ids);
    td_packed_out_close(self.out);
    td_edges_destroy(self.list);
    return status;
}
