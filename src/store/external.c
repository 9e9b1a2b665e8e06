#include "store/external.h"

#include "base/account.h"
#include "base/alloc.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/size.h"
#include "store/build_bytes.h"
#include "store/builder_steps.h"
#include "store/external_ids.h"
#include "store/external_rows.h"
#include "store/packed_file.h"
#include "store/spill.h"
#include "store/vertex_names.h"

#include <libgen.h>
#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

enum { BATCH = 1 << 15 }; /* edges turned into keys at a time */

/* Memory of a reader's worker: a piece of text and its chunk, twice while the chunk grows. */
#define READER_BYTES (UINT64_C(24) << 20)
#define STREAM_BYTES (UINT64_C(8) << 20) /* buffers for sections and pages */
#define LEAST_BYTES (UINT64_C(24) << 20)
#define MARGIN_BYTES (UINT64_C(1) << 20)

typedef struct batch {
    uint64_t *keys;
    uint32_t *weights;
} batch;

typedef struct external {
    const td_external_settings *settings;
    td_edge_list *list;
    td_external_report *report;
    td_packed_out *out;
    char directory[PATH_MAX];
    uint64_t usable; /* limit on td_memory().now */
    int workers;
    pthread_mutex_t hold_lock; /* guards the chunks in memory, and is taken before the other */
    pthread_mutex_t lock; /* guards what follows */
    bool begun;
    td_status begin_status; /* how that went, for every worker that comes with a chunk */
    td_failure begin_failure;
    bool mirror, weighted;
    atomic_bool fraction, inexact, rounded;
    uint32_t vertices, bits;
    batch *batches; /* by worker */
    td_external_ids *ids; /* for a list whose vertices are not declared */
    td_spill *by_source, *by_target;
    td_external_rows out_rows, in_rows;
    uint64_t total; /* keys of the current sort */
    uint64_t last_key; /* the previous key, to drop duplicates */
    bool any;
    bool holding;         /* chunks are kept in memory; what follows is about them, guarded by hold_lock */
    td_edge_chunk *held;
    uint64_t held_count, held_room, held_edges, held_bytes, lowest, highest;
} external;

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
static td_status plan_memory(external *self)
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

static uint64_t left(const external *self)
{
    uint64_t held = td_memory().now;
    return self->usable > held ? self->usable - held : 0;
}

static uint64_t bounded(const external *self, uint64_t bytes)
{
    return self->settings->most != 0 && bytes > self->settings->most ? self->settings->most : bytes;
}

static uint64_t reader_bytes(const external *self) { return (uint64_t)self->workers * READER_BYTES; }

static td_status choose_directory(external *self)
{
    char copy[PATH_MAX];
    const char *given = self->settings->temporary;
    snprintf(copy, sizeof copy, "%s", self->settings->path);
    int length = snprintf(self->directory, sizeof self->directory, "%s", given != NULL ? given : dirname(copy));
    return length < (int)sizeof self->directory ? TD_OK : td_fail(TD_IO, "the name of %s is too long", given);
}

static td_status make_batches(external *self)
{
    TD_CHECK(TD_NEW_ZEROED(&self->batches, (uint64_t)self->workers, "batches"));
    for (int i = 0; i < self->workers; i++) {
        TD_CHECK(TD_NEW(&self->batches[i].keys, 2 * BATCH, "batch of keys"));
        TD_CHECK(TD_NEW(&self->batches[i].weights, 2 * BATCH, "batch of weights"));
    }
    return TD_OK;
}

static void free_batches(external *self)
{
    for (int i = 0; self->batches != NULL && i < self->workers; i++) {
        td_free(self->batches[i].keys);
        td_free(self->batches[i].weights);
    }
    td_free(self->batches);
    self->batches = NULL;
}

static td_status new_spill(external *self, uint64_t memory, const td_weight_table *codes, td_spill **out)
{
    memory = bounded(self, memory);
    td_spill_shape shape = {.key_bits = 2 * self->bits, .weighted = self->weighted, .codes = codes,
                            .directory = self->directory,
                            .memory = memory > TD_SPILL_LEAST_FILL ? memory : TD_SPILL_LEAST_FILL,
                            .pool = self->settings->pool, .workers = self->workers};
    return td_spill_create(out, &shape);
}

static td_status set_vertices(external *self, uint64_t vertices)
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
static td_status check_disk(const external *self)
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
static td_status begin(external *self)
{
    const td_build_options *options = self->settings->build;
    const td_edge_list *list = self->list;
    uint64_t room = left(self), buffers = room > reader_bytes(self) ? (room - reader_bytes(self)) / 2 : 0;
    self->mirror = list->mirror || options->symmetrize;
    self->weighted = list->weighted && !options->drop_weights && !options->attach_weights;
    if (!list->declared)
        return td_external_ids_create(&self->ids, list, self->directory, bounded(self, buffers), self->settings->pool,
                                      self->workers);
    TD_CHECK(set_vertices(self, list->vertices));
    TD_CHECK(check_disk(self));
    return new_spill(self, buffers, list->table, &self->by_source);
}

static td_status begin_once(external *self)
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
    external *self = context;
    const td_build_options *options = self->settings->build;
    batch *mine = &self->batches[worker];
    for (uint64_t at = 0; at < count; at += BATCH) {
        uint64_t stop = count - at < BATCH ? count : at + BATCH, filled = 0;
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

static td_status check_ends(const external *self, td_edge_chunk *chunk)
{
    uint64_t vertices = self->vertices;
    for (uint64_t i = 0; i < 2 * chunk->count; i++) {
        uint64_t id = chunk->wide != NULL ? chunk->wide[i] : chunk->ends[i];
        if (id >= vertices) return td_edges_beyond_declared(self->list, id);
    }
    return chunk->wide != NULL ? td_chunk_narrow(chunk) : TD_OK;
}

static td_status take_apart(external *self, td_edge_chunk *chunk, int worker)
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

static void measure_chunk(external *self, const td_edge_chunk *chunk)
{
    self->held_edges += chunk->count;
    self->held_bytes += chunk->room * ((chunk->wide != NULL ? 16 : 8) + (chunk->weighted ? 4 : 0));
    for (uint64_t i = 0; !self->list->declared && i < 2 * chunk->count; i++) {
        uint64_t id = chunk->wide != NULL ? chunk->wide[i] : chunk->ends[i];
        if (id < self->lowest) self->lowest = id;
        if (id > self->highest) self->highest = id;
    }
}

static uint64_t most_vertices(const external *self)
{
    uint64_t ends = 2 * self->held_edges, span = self->highest - self->lowest;
    if (self->list->declared) return self->list->vertices;
    return self->held_edges > 0 && span < ends ? span + 1 : ends;
}

/* Whether the edges so far can be built in memory, and could still be taken apart if more come. */
static bool fits_inside(const external *self)
{
    double inside = td_inside_bytes(most_vertices(self), self->held_edges, self->list->weighted, self->settings->build);
    inside += (double)(self->held_bytes > 8 * self->held_edges ? self->held_bytes - 8 * self->held_edges : 0);
    return inside <= (double)self->usable && self->held_bytes + td_external_least(self->workers) <= self->usable;
}

static td_status keep_chunk(external *self, td_edge_chunk *chunk)
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

static td_status give_up_holding(external *self, int worker)
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
static td_status hold(external *self, td_edge_chunk *chunk, int worker, bool *kept)
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
    external *self = context;
    bool kept = false;
    if (self->settings->whole != NULL) TD_CHECK(hold(self, chunk, worker, &kept));
    return kept ? TD_OK : take_apart(self, chunk, worker);
}

/* Gives the list its chunks back; it is the caller's from here on. */
static td_status hand_over_list(external *self)
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

static td_status number_vertices(external *self)
{
    uint64_t least = 0, room = left(self);
    char text[TD_NUMBER_BYTES];
    td_progress_text("sorting vertex ids");
    td_status status = td_external_ids_number(self->ids, room > STREAM_BYTES ? room - STREAM_BYTES : 0, &least);
    if (status == TD_NO_MEMORY && least > 0)
        return td_fail_add(TD_NO_MEMORY, ": {memory} %s would suffice",
                           td_format_least(text, self->settings->memory + least + LEAST_BYTES));
    TD_CHECK(status);
    TD_CHECK(set_vertices(self, td_external_ids_count(self->ids)));
    TD_CHECK(new_spill(self, left(self) / 2, self->list->table, &self->by_source));
    TD_CHECK(td_external_ids_replay(self->ids, put_edges, self));
    td_external_ids_forget(self->ids);
    return TD_OK;
}

static td_status fill(external *self, td_edge_source_fn source, void *context)
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

static bool kept_ids(const external *self)
{
    return self->settings->ids_of != NULL && td_packed_describe(self->settings->ids_of)->has_ids;
}

/* Fixes the layout as far as it is known: all sections before the first one of unknown length. */
static td_status place(external *self, uint64_t edges, bool symmetric, bool claim)
{
    const td_build_options *options = self->settings->build;
    td_packed_info *info = &self->report->info;
    *info = (td_packed_info){
        .vertices = self->vertices,
        .edges = edges,
        .symmetric = symmetric,
        .has_in = symmetric || !options->out_only,
        .has_ids = self->ids != NULL ? !td_external_ids_consecutive(self->ids) : kept_ids(self),
        .weights = self->out_rows.kind,
    };
    if (self->settings->ids_of != NULL) info->name_bytes = td_packed_describe(self->settings->ids_of)->name_bytes;
    if (self->list->names != NULL) info->name_bytes = self->list->names->bytes;
    info->ids_sorted = info->has_ids && (self->ids != NULL || td_packed_describe(self->settings->ids_of)->ids_sorted);
    if (self->ids == NULL) info->id_base = info->has_ids ? 0 : self->list->id_base;
    else if (!info->has_ids && self->vertices > 0) info->id_base = td_external_ids_lowest(self->ids);
    if (info->weights != TD_WEIGHT_NONE && edges > 0) {
        info->weight_min = self->out_rows.lowest;
        info->weight_max = self->out_rows.highest;
    }
    td_packed_place(info, self->out_rows.page_count, self->in_rows.page_count);
    return td_packed_out_place(self->out, info, claim);
}

static void set_up_rows(external *self, td_external_rows *rows, bool in)
{
    const td_build_options *options = self->settings->build;
    rows->out = self->out;
    rows->path = self->settings->path;
    rows->draw = options->attach_weights ? options : NULL;
    rows->vertices = self->vertices;
    rows->bits = self->bits;
    rows->dedup = options->dedup && !in;
    rows->in = in;
    rows->weighted = self->weighted;
    rows->ranks = self->weighted ? self->list->table : NULL;
    rows->real = options->attach_weights ? options->weight_real : td_spill_real(in ? self->by_target : self->by_source);
}

/* One worker writes the sorted rows to the file, while the others put the reversed edges into the buckets of
 * the other adjacency. */
typedef struct turning {
    external *self;
    const uint64_t *keys;
    const uint32_t *weights;
    uint64_t count;
} turning;

static td_status turn(const turning *job, uint64_t begin, uint64_t end, int worker)
{
    external *self = job->self;
    batch *mine = &self->batches[worker];
    bool dedup = self->settings->build->dedup;
    uint64_t filled = 0;
    for (uint64_t i = begin; i < end; i++) {
        uint64_t key = job->keys[i];
        if (dedup && (i > 0 ? key == job->keys[i - 1] : self->any && key == self->last_key)) continue;
        if (job->weights != NULL) mine->weights[filled] = job->weights[i];
        mine->keys[filled++] = td_edge_key(td_key_target(key, self->bits), (uint32_t)(key >> self->bits), self->bits);
    }
    return td_spill_put(self->by_target, mine->keys, job->weights != NULL ? mine->weights : NULL, filled,
                        self->out_rows.real, worker);
}

static td_status write_or_turn(void *context, uint64_t task, uint64_t next, int worker)
{
    (void)next;
    const turning *job = context;
    if (task == 0) return td_external_rows_put(&job->self->out_rows, job->keys, job->weights, job->count);
    uint64_t begin = (task - 1) * 2 * BATCH, end = begin + 2 * BATCH;
    return turn(job, begin, end < job->count ? end : job->count, worker);
}

static td_status take_out(void *context, const uint64_t *keys, const uint32_t *weights, uint64_t count)
{
    external *self = context;
    turning job = {self, keys, weights, count};
    uint64_t turns = self->by_target != NULL ? (count + 2 * BATCH - 1) / (2 * BATCH) : 0;
    TD_CHECK(td_pool_for(self->settings->pool, 1 + turns, 1, write_or_turn, &job));
    self->last_key = keys[count - 1];
    self->any = true;
    td_progress("sorting by source", self->out_rows.edges, self->total);
    return TD_OK;
}

static td_status take_in(void *context, const uint64_t *keys, const uint32_t *weights, uint64_t count)
{
    external *self = context;
    TD_CHECK(td_external_rows_put(&self->in_rows, keys, weights, count));
    td_progress("sorting by target", self->in_rows.edges, self->total);
    return TD_OK;
}

static uint64_t sort_bytes(const external *self)
{
    uint64_t room = left(self);
    return bounded(self, room > STREAM_BYTES ? room - STREAM_BYTES : 0);
}

/* The kind of drawn weights is known in advance, that of others after the last edge. */
static void settle_kind(external *self)
{
    td_external_rows *rows = &self->out_rows;
    double highest = rows->edges > 0 ? rows->highest : -INFINITY;
    if (self->weighted) rows->kind = rows->ranks != NULL ? TD_WEIGHT_F64 : td_weights_narrowest(rows->real, highest);
}

static td_status sort_out(external *self)
{
    const td_build_options *options = self->settings->build;
    td_external_rows *rows = &self->out_rows;
    uint64_t start = td_clock_ns();
    bool turned = !self->mirror && !options->out_only;
    self->total = td_spill_count(self->by_source);
    set_up_rows(self, rows, false);
    if (options->attach_weights) rows->kind = td_weights_narrowest(options->weight_real, options->weight_high);
    if (self->weighted || (options->attach_weights && options->dedup)) rows->spool_directory = self->directory;
    if (turned) TD_CHECK(new_spill(self, left(self) / 4, NULL, &self->by_target));
    TD_CHECK(place(self, self->total, self->mirror, !options->dedup && !self->weighted));
    TD_CHECK(td_external_rows_open(rows));
    TD_CHECK(td_spill_run(self->by_source, sort_bytes(self), take_out, self));
    TD_CHECK(td_external_rows_end(rows));
    bool inexact = self->inexact || td_spill_inexact(self->by_source);
    if (rows->real && self->weighted && inexact && !self->fraction) return td_edges_inexact(self->list);
    if (rows->real && self->weighted) td_edges_tell_rounding(self->list, self->rounded, inexact);
    self->report->temporary_bytes += td_spill_spilled(self->by_source);
    td_spill_destroy(self->by_source);
    self->by_source = NULL;
    settle_kind(self);
    TD_CHECK(place(self, rows->edges, self->mirror, true));
    if (rows->spool != NULL) {
        self->report->temporary_bytes += td_tempfile_bytes(rows->spool);
        TD_CHECK(td_external_rows_place_weights(rows));
    }
    self->report->out_seconds = td_seconds_since(start);
    return TD_OK;
}

static bool adjacencies_alike(const external *self)
{
    return td_packed_out_alike(self->out, TD_SECTION_OUT_OFFSETS, TD_SECTION_IN_OFFSETS) &&
           td_packed_out_alike(self->out, TD_SECTION_OUT_TARGETS, TD_SECTION_IN_TARGETS) &&
           td_packed_out_alike(self->out, TD_SECTION_OUT_WEIGHTS, TD_SECTION_IN_WEIGHTS);
}

static td_status sort_in(external *self)
{
    td_external_rows *rows = &self->in_rows;
    uint64_t start = td_clock_ns();
    if (self->by_target == NULL) return place(self, self->out_rows.edges, self->mirror, true);
    free_batches(self);
    TD_CHECK(td_spill_finish(self->by_target));
    set_up_rows(self, rows, true);
    rows->kind = self->out_rows.kind;
    TD_CHECK(td_external_rows_open(rows));
    TD_CHECK(td_spill_run(self->by_target, sort_bytes(self), take_in, self));
    TD_CHECK(td_external_rows_end(rows));
    self->report->temporary_bytes += td_spill_spilled(self->by_target);
    td_spill_destroy(self->by_target);
    self->by_target = NULL;
    self->report->in_seconds = td_seconds_since(start);
    return place(self, rows->edges, adjacencies_alike(self), true);
}

static td_status write_ids(external *self)
{
    td_status status = TD_OK;
    td_section_stream stream = {0};
    uint64_t *ids = NULL, step = TD_STREAMING_BYTES / 8;
    TD_TRY(TD_NEW(&ids, step, "original ids"));
    TD_TRY(td_section_stream_open(&stream, self->out, TD_SECTION_IDS));
    for (uint64_t v = 0; v < self->vertices; v += step) {
        uint64_t count = self->vertices - v < step ? self->vertices - v : step;
        if (self->ids != NULL) TD_TRY(td_external_ids_read(self->ids, v, count, ids));
        else TD_TRY(td_packed_read(self->settings->ids_of, TD_SECTION_IDS, v * 8, ids, count * 8));
        for (uint64_t i = 0; i < count; i++) *(uint64_t *)td_section_stream_next(&stream, 8, &status) = ids[i];
        if (status != TD_OK) goto done;
    }
    TD_TRY(td_section_stream_end(&stream));
done:
    td_section_stream_close(&stream);
    td_free(ids);
    return status;
}

static td_status read_names(const external *self, uint64_t at, char *into, uint64_t bytes)
{
    const td_vertex_names *names = self->list->names;
    if (names == NULL) return td_packed_read(self->settings->ids_of, TD_SECTION_NAMES, at, into, bytes);
    uint64_t there = at + bytes < names->bytes ? bytes : names->bytes - at;
    memcpy(into, names->text + at, there);
    memset(into + there, 0, bytes - there);
    return TD_OK;
}

/* Copies the names of the list, or of the graph that is rebuilt. */
static td_status write_names(external *self)
{
    td_status status = TD_OK;
    char *part = NULL;
    uint64_t padded = td_packed_padded(self->report->info.name_bytes), step = TD_STREAMING_BYTES;
    TD_CHECK(TD_NEW(&part, step, "names of vertices"));
    for (uint64_t at = 0; at < padded; at += step) {
        uint64_t bytes = padded - at < step ? padded - at : step;
        TD_TRY(read_names(self, at, part, bytes));
        TD_TRY(td_packed_out_put(self->out, TD_SECTION_NAMES, at, part, bytes));
    }
done:
    td_free(part);
    return status;
}

static td_status write_pages(external *self, const td_external_rows *rows, td_section_kind kind)
{
    td_status status = TD_OK;
    td_section_stream stream = {0};
    const uint64_t *words = (const uint64_t *)rows->pages;
    TD_TRY(td_section_stream_open(&stream, self->out, kind));
    for (uint64_t i = 0; i < rows->page_count * sizeof(td_page) / 8; i++) {
        *(uint64_t *)td_section_stream_next(&stream, 8, &status) = words[i];
        if (status != TD_OK) goto done;
    }
    TD_TRY(td_section_stream_end(&stream));
done:
    td_section_stream_close(&stream);
    return status;
}

static td_status finish(external *self)
{
    uint64_t start = td_clock_ns();
    bool in = self->report->info.has_in && !self->report->info.symmetric;
    td_progress_text("finishing the file");
    TD_CHECK(td_external_rows_degrees(&self->out_rows));
    if (in) TD_CHECK(td_external_rows_degrees(&self->in_rows));
    if (self->report->info.has_ids) TD_CHECK(write_ids(self));
    if (self->report->info.name_bytes > 0) TD_CHECK(write_names(self));
    TD_CHECK(write_pages(self, &self->out_rows, TD_SECTION_OUT_PAGES));
    if (in) TD_CHECK(write_pages(self, &self->in_rows, TD_SECTION_IN_PAGES));
    TD_CHECK(td_packed_out_commit(self->out));
    if (self->ids != NULL) self->report->temporary_bytes += td_external_ids_spilled(self->ids);
    self->report->info = *td_packed_out_info(self->out);
    self->report->finish_seconds = td_seconds_since(start);
    return TD_OK;
}

td_status td_external_build(const td_external_settings *settings, const char *name, td_edge_source_fn source,
                            void *context, td_external_report *report)
{
    td_status status = TD_OK;
    external self = {.settings = settings, .report = report, .workers = td_pool_threads(settings->pool),
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
    TD_TRY(sort_out(&self));
    TD_TRY(sort_in(&self));
    TD_TRY(finish(&self));
done:
    td_progress_end();
    if (status == TD_NO_MEMORY && self.list != NULL && self.list->table != NULL)
        td_fail_add(status, "; distinct 64-bit weights stay in memory, and {weights} f32 needs none for them");
    free_batches(&self);
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
