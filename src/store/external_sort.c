/* Building out of memory, from the buckets on: edges are taken out of them sorted and written to the packed file, the
 * out-lists first, while their reversed edges fill the buckets of the in-lists. */
#include "store/external_build.h"

#include "base/clock.h"
#include "base/log.h"
#include "store/builder_steps.h"
#include "store/packed_file.h"
#include "store/vertex_names.h"

#include <math.h>
#include <string.h>

static bool kept_ids(const td_external *self)
{
    return self->settings->ids_of != NULL && td_packed_describe(self->settings->ids_of)->has_ids;
}

/* Fixes the layout as far as it is known: all sections before the first one of unknown length. */
static td_status place(td_external *self, uint64_t edges, bool symmetric, bool claim)
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

static void set_up_rows(td_external *self, td_external_rows *rows, bool in)
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
    td_external *self;
    const uint64_t *keys;
    const uint32_t *weights;
    uint64_t count;
} turning;

static td_status turn(const turning *job, uint64_t begin, uint64_t end, int worker)
{
    td_external *self = job->self;
    td_external_batch *mine = &self->batches[worker];
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
    uint64_t begin = (task - 1) * 2 * TD_EXTERNAL_BATCH, end = begin + 2 * TD_EXTERNAL_BATCH;
    return turn(job, begin, end < job->count ? end : job->count, worker);
}

static td_status take_out(void *context, const uint64_t *keys, const uint32_t *weights, uint64_t count)
{
    td_external *self = context;
    turning job = {self, keys, weights, count};
    uint64_t turns = self->by_target != NULL ? (count + 2 * TD_EXTERNAL_BATCH - 1) / (2 * TD_EXTERNAL_BATCH) : 0;
    TD_CHECK(td_pool_for(self->settings->pool, 1 + turns, 1, write_or_turn, &job));
    self->last_key = keys[count - 1];
    self->any = true;
    td_progress("sorting by source", self->out_rows.edges, self->total);
    return TD_OK;
}

static td_status take_in(void *context, const uint64_t *keys, const uint32_t *weights, uint64_t count)
{
    td_external *self = context;
    TD_CHECK(td_external_rows_put(&self->in_rows, keys, weights, count));
    td_progress("sorting by target", self->in_rows.edges, self->total);
    return TD_OK;
}

static uint64_t sort_bytes(const td_external *self)
{
    uint64_t room = td_external_left(self);
    return td_external_bounded(self, room > TD_EXTERNAL_STREAM_BYTES ? room - TD_EXTERNAL_STREAM_BYTES : 0);
}

/* The kind of drawn weights is known in advance, that of others after the last edge. */
static void settle_kind(td_external *self)
{
    td_external_rows *rows = &self->out_rows;
    double highest = rows->edges > 0 ? rows->highest : -INFINITY;
    if (self->weighted) rows->kind = rows->ranks != NULL ? TD_WEIGHT_F64 : td_weights_narrowest(rows->real, highest);
}

td_status td_external_sort_out(td_external *self)
{
    const td_build_options *options = self->settings->build;
    td_external_rows *rows = &self->out_rows;
    uint64_t start = td_clock_ns();
    bool turned = !self->mirror && !options->out_only;
    self->total = td_spill_count(self->by_source);
    set_up_rows(self, rows, false);
    if (options->attach_weights) rows->kind = td_weights_narrowest(options->weight_real, options->weight_high);
    if (self->weighted || (options->attach_weights && options->dedup)) rows->spool_directory = self->directory;
    if (turned) TD_CHECK(td_external_new_spill(self, td_external_left(self) / 4, NULL, &self->by_target));
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

static bool adjacencies_alike(const td_external *self)
{
    return td_packed_out_alike(self->out, TD_SECTION_OUT_OFFSETS, TD_SECTION_IN_OFFSETS) &&
           td_packed_out_alike(self->out, TD_SECTION_OUT_TARGETS, TD_SECTION_IN_TARGETS) &&
           td_packed_out_alike(self->out, TD_SECTION_OUT_WEIGHTS, TD_SECTION_IN_WEIGHTS);
}

td_status td_external_sort_in(td_external *self)
{
    td_external_rows *rows = &self->in_rows;
    uint64_t start = td_clock_ns();
    if (self->by_target == NULL) return place(self, self->out_rows.edges, self->mirror, true);
    td_external_free_batches(self);
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

static td_status write_ids(td_external *self)
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

static td_status read_names(const td_external *self, uint64_t at, char *into, uint64_t bytes)
{
    const td_vertex_names *names = self->list->names;
    if (names == NULL) return td_packed_read(self->settings->ids_of, TD_SECTION_NAMES, at, into, bytes);
    uint64_t there = at + bytes < names->bytes ? bytes : names->bytes - at;
    memcpy(into, names->text + at, there);
    memset(into + there, 0, bytes - there);
    return TD_OK;
}

/* Copies the names of the list, or of the graph that is rebuilt. */
static td_status write_names(td_external *self)
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

static td_status write_pages(td_external *self, const td_external_rows *rows, td_section_kind kind)
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

td_status td_external_finish(td_external *self)
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
