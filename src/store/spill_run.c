/* Emptying: all workers load a bucket, sort it and pass it on, bucket by bucket. */
#include "store/spill.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "store/key_sort.h"
#include "store/spill_file.h"
#include "store/weight_order.h"
#include "store/weight_table.h"

enum { LEAST_KEYS = 1 << 16, SAME_KEYS = 1 << 14, SORT_EXTRA = 1 << 20 };

typedef struct run {
    td_spill *spill;
    uint64_t memory, limit; /* keys that are sorted at once */
    td_sorted_fn take;
    void *context;
    td_keys keys, spare;
    uint64_t room;
    char *read_buffers; /* segment_bytes for each worker */
} run;

/* Per worker: the segment it reads, line buffers and counts of the sort. */
static uint64_t worker_bytes(const td_spill *spill) { return spill->segment_bytes + (UINT64_C(512) << 10); }

static uint64_t key_room(const td_spill *spill) { return 2 * (spill->shape.weighted ? 12 : 8); }

static void unpack(const td_spill *spill, uint64_t bucket, const char *from, uint32_t count, bool real,
                   const td_keys *to, uint64_t at, bool *inexact)
{
    uint64_t mask = spill->shape.open || spill->shift >= 64 ? UINT64_MAX : (UINT64_C(1) << spill->shift) - 1;
    uint64_t high = spill->shape.base + (spill->shape.open ? 0 : bucket << (spill->shift & 63));
    bool make_float = spill->real && !real;
    const td_weight_table *codes = spill->shape.codes;
    if (!spill->shape.open && spill->shift >= 64) high = spill->shape.base;
    for (uint32_t i = 0; i < count; i++, from += spill->record_bytes) {
        uint64_t key;
        memcpy(&key, from, sizeof key);
        to->keys[at + i] = high + (key & mask);
        if (to->weights == NULL) continue;
        uint32_t weight;
        memcpy(&weight, from + spill->key_bytes, sizeof weight);
        to->weights[at + i] = make_float   ? td_weight_as_float(weight, inexact)
                              : codes != NULL ? td_weight_rank(codes, weight)
                                              : weight;
    }
}

/* One segment of a bucket, or its buffer, and the place for its keys. */
typedef struct task {
    uint64_t bucket, index, at;
} task;

typedef struct loading {
    run *job;
    task *tasks;
    uint64_t count;
} loading;

static uint64_t parts_of(const td_spill_bucket *bucket) { return bucket->segment_count + (bucket->filled > 0); }

/* Lists the tasks of buckets first..last - 1. */
static td_status list_tasks(loading *self, uint64_t first, uint64_t last)
{
    const td_spill *spill = self->job->spill;
    uint64_t count = 0, at = 0;
    for (uint64_t b = first; b < last; b++) count += parts_of(&spill->bucket[b]);
    TD_CHECK(TD_NEW(&self->tasks, count, "segments of buckets"));
    for (uint64_t b = first; b < last; b++) {
        const td_spill_bucket *bucket = &spill->bucket[b];
        for (uint64_t i = 0; i < parts_of(bucket); i++) {
            self->tasks[self->count++] = (task){b, i, at};
            at += i < bucket->segment_count ? bucket->segments[i].count : bucket->filled;
        }
    }
    return TD_OK;
}

/* The segment's records: in the bucket's buffer, or read into the worker's own. */
static td_status fetch(const loading *self, const task *what, int worker, const char **data, td_segment *segment)
{
    td_spill *spill = self->job->spill;
    const td_spill_bucket *bucket = &spill->bucket[what->bucket];
    if (what->index == bucket->segment_count) {
        *segment = (td_segment){.count = bucket->filled, .real = spill->real};
        *data = td_spill_buffer(spill, what->bucket);
        return TD_OK;
    }
    char *buffer = self->job->read_buffers + (uint64_t)worker * spill->segment_bytes;
    *segment = bucket->segments[what->index];
    *data = buffer;
    return td_tempfile_read(spill->file, segment->offset, buffer, (uint64_t)segment->count * spill->record_bytes);
}

static td_status load_segment(void *context, uint64_t index, uint64_t next, int worker)
{
    (void)next;
    const loading *self = context;
    const task *what = &self->tasks[index];
    td_spill *spill = self->job->spill;
    const char *data = NULL;
    td_segment segment;
    bool inexact = false;
    TD_CHECK(fetch(self, what, worker, &data, &segment));
    unpack(spill, what->bucket, data, segment.count, segment.real, &self->job->keys, what->at, &inexact);
    if (inexact) spill->inexact = true;
    return TD_OK;
}

static void drop_bucket(td_spill *spill, uint64_t number)
{
    const td_spill_bucket *bucket = &spill->bucket[number];
    for (uint64_t i = 0; i < bucket->segment_count; i++)
        td_tempfile_drop(spill->file, bucket->segments[i].offset,
                         (uint64_t)bucket->segments[i].count * spill->record_bytes);
}

static void expect_bucket(const td_spill *spill, uint64_t number)
{
    if (number >= spill->buckets) return;
    const td_spill_bucket *bucket = &spill->bucket[number];
    for (uint64_t i = 0; i < bucket->segment_count; i++)
        td_tempfile_expect(spill->file, bucket->segments[i].offset,
                           (uint64_t)bucket->segments[i].count * spill->record_bytes);
}

static td_status load(run *job, uint64_t first, uint64_t last)
{
    td_status status = TD_OK;
    loading self = {.job = job};
    TD_TRY(list_tasks(&self, first, last));
    TD_TRY(td_pool_for(job->spill->shape.pool, self.count, 1, load_segment, &self));
done:
    td_free(self.tasks);
    return status;
}

static uint32_t bits_of(uint64_t value) { return value == 0 ? 0 : 64 - (uint32_t)__builtin_clzll(value); }

/* Sorts as many buckets as fit together, because every sort has barriers. */
static td_status sort_buckets(run *job, uint64_t first, uint64_t last, uint64_t count)
{
    td_spill *spill = job->spill;
    uint64_t base = spill->shape.base, lowest = UINT64_MAX, highest = 0;
    for (uint64_t b = first; b < last; b++) {
        const td_spill_bucket *bucket = &spill->bucket[b];
        if (bucket->count == 0) continue;
        if (bucket->lowest < lowest) lowest = bucket->lowest;
        if (bucket->highest > highest) highest = bucket->highest;
    }
    TD_CHECK(load(job, first, last));
    for (uint64_t b = first; b < last; b++) drop_bucket(spill, b);
    for (uint64_t b = last; b < last + (last - first); b++) expect_bucket(spill, b);
    uint32_t bits = bits_of((base + lowest) ^ (base + highest));
    TD_CHECK(td_keys_sort(&job->keys, &job->spare, count, bits, spill->real, spill->shape.pool));
    return job->take(job->context, job->keys.keys, job->keys.weights, count);
}

/* Moves a bucket into a spill of its own. */
typedef struct splitting {
    loading from;
    td_spill *into;
    td_keys *batches; /* a segment for each worker */
    bool by_weight; /* all keys are equal: the weights serve as keys */
} splitting;

static td_status split_segment(void *context, uint64_t index, uint64_t next, int worker)
{
    (void)next;
    splitting *self = context;
    td_spill *spill = self->from.job->spill;
    const task *what = &self->from.tasks[index];
    const td_keys *mine = &self->batches[worker];
    const char *data = NULL;
    td_segment segment;
    bool inexact = false;
    TD_CHECK(fetch(&self->from, what, worker, &data, &segment));
    unpack(spill, what->bucket, data, segment.count, segment.real, mine, 0, &inexact);
    if (inexact) spill->inexact = true;
    if (!self->by_weight)
        return td_spill_put(self->into, mine->keys, mine->weights, segment.count, spill->real, worker);
    for (uint32_t i = 0; i < segment.count; i++) mine->keys[i] = td_weight_key(mine->weights[i], spill->real);
    return td_spill_put(self->into, mine->keys, NULL, segment.count, false, worker);
}

static td_status make_split_batches(splitting *self)
{
    td_spill *spill = self->from.job->spill;
    TD_CHECK(TD_NEW_ZEROED(&self->batches, (uint64_t)spill->workers, "batches"));
    for (int i = 0; i < spill->workers; i++) {
        TD_CHECK(TD_NEW(&self->batches[i].keys, spill->segment_records, "batch of keys"));
        if (spill->shape.weighted)
            TD_CHECK(TD_NEW(&self->batches[i].weights, spill->segment_records, "batch of weights"));
    }
    return TD_OK;
}

static void free_split_batches(splitting *self)
{
    for (int i = 0; self->batches != NULL && i < self->from.job->spill->workers; i++) {
        td_free(self->batches[i].keys);
        td_free(self->batches[i].weights);
    }
    td_free(self->batches);
}

static td_status split(run *job, uint64_t number, const td_spill_shape *shape, bool by_weight, td_spill **out)
{
    td_status status = TD_OK;
    splitting self = {.from = {.job = job}, .by_weight = by_weight};
    TD_TRY(list_tasks(&self.from, number, number + 1));
    TD_TRY(make_split_batches(&self));
    TD_TRY(td_spill_create(&self.into, shape));
    TD_TRY(td_pool_for(shape->pool, self.from.count, 1, split_segment, &self));
    drop_bucket(job->spill, number);
    TD_TRY(td_spill_finish(self.into));
    *out = self.into;
    self.into = NULL;
done:
    td_spill_destroy(self.into);
    free_split_batches(&self);
    td_free(self.from.tasks);
    return status;
}

/* One key with many weights, which a child spill sorts. */
typedef struct same_key {
    run *job;
    uint64_t key;
    uint64_t keys[SAME_KEYS];
    uint32_t weights[SAME_KEYS];
} same_key;

static td_status take_weights(void *context, const uint64_t *keys, const uint32_t *weights, uint64_t count)
{
    (void)weights;
    same_key *self = context;
    for (uint64_t at = 0; at < count;) {
        uint64_t now = count - at < SAME_KEYS ? count - at : SAME_KEYS;
        for (uint64_t i = 0; i < now; i++)
            self->weights[i] = td_weight_of_key((uint32_t)keys[at + i], self->job->spill->real);
        TD_CHECK(self->job->take(self->job->context, self->keys, self->weights, now));
        at += now;
    }
    return TD_OK;
}

static td_status repeat_key(const same_key *self, uint64_t count)
{
    for (uint64_t at = 0; at < count; at += SAME_KEYS) {
        uint64_t now = count - at < SAME_KEYS ? count - at : SAME_KEYS;
        TD_CHECK(self->job->take(self->job->context, self->keys, NULL, now));
    }
    return TD_OK;
}

/* A child spill may use the memory of this spill's keys. */
static td_spill_shape child_shape(const run *job)
{
    td_spill_shape shape = job->spill->shape;
    shape.open = false;
    shape.memory = job->memory / 2;
    shape.codes = NULL; /* unpacking has turned them into ranks */
    return shape;
}

static td_status sort_same(run *job, uint64_t number)
{
    td_status status = TD_OK;
    td_spill *child = NULL;
    same_key *self = NULL;
    const td_spill_bucket *bucket = &job->spill->bucket[number];
    TD_TRY(TD_NEW(&self, 1, "equal keys"));
    self->job = job;
    for (int i = 0; i < SAME_KEYS; i++) self->keys[i] = job->spill->shape.base + bucket->lowest;
    if (!job->spill->shape.weighted) {
        TD_TRY(repeat_key(self, bucket->count));
        drop_bucket(job->spill, number);
        goto done;
    }
    td_spill_shape shape = child_shape(job);
    shape.weighted = false;
    shape.key_bits = 32;
    shape.base = 0;
    TD_TRY(split(job, number, &shape, true, &child));
    TD_TRY(td_spill_run(child, job->memory, take_weights, self));
done:
    td_spill_destroy(child);
    td_free(self);
    return status;
}

static td_status sort_large(run *job, uint64_t number)
{
    td_spill *child = NULL;
    const td_spill_bucket *bucket = &job->spill->bucket[number];
    if (bucket->lowest == bucket->highest) return sort_same(job, number);
    td_spill_shape shape = child_shape(job);
    shape.base += bucket->lowest;
    shape.key_bits = bits_of(bucket->highest - bucket->lowest);
    TD_CHECK(split(job, number, &shape, false, &child));
    td_status status = td_spill_run(child, job->memory, job->take, job->context);
    td_spill_destroy(child);
    return status;
}

static td_status make_room(run *job, uint64_t count)
{
    bool weighted = job->spill->shape.weighted;
    TD_CHECK(TD_NEW(&job->keys.keys, count, "keys to be sorted"));
    TD_CHECK(TD_NEW(&job->spare.keys, count, "keys to be sorted"));
    if (weighted) TD_CHECK(TD_NEW(&job->keys.weights, count, "weights to be sorted"));
    if (weighted) TD_CHECK(TD_NEW(&job->spare.weights, count, "weights to be sorted"));
    job->room = count;
    return TD_OK;
}

static void free_room(run *job)
{
    td_free(job->keys.keys);
    td_free(job->spare.keys);
    td_free(job->keys.weights);
    td_free(job->spare.weights);
    job->keys = job->spare = (td_keys){0};
    job->room = 0;
}

/* The end of the buckets that are sorted together with `first`, and their keys. */
static uint64_t group_end(const run *job, uint64_t first, uint64_t *count)
{
    const td_spill *spill = job->spill;
    uint64_t last = first;
    for (*count = 0; last < spill->buckets && spill->bucket[last].count <= job->limit - *count; last++)
        *count += spill->bucket[last].count;
    return last;
}

static td_status run_group(run *job, uint64_t first, uint64_t *last)
{
    uint64_t count;
    TD_CHECK(td_cancel_check());
    *last = group_end(job, first, &count);
    if (*last == first) {
        free_room(job);
        *last = first + 1;
        return sort_large(job, first);
    }
    if (count == 0) return TD_OK;
    if (count > job->room) {
        uint64_t most = td_spill_count(job->spill);
        free_room(job);
        TD_CHECK(make_room(job, most < job->limit ? most : job->limit));
    }
    return sort_buckets(job, first, *last, count);
}

td_status td_spill_run(td_spill *spill, uint64_t memory, td_sorted_fn take, void *context)
{
    td_status status = TD_OK;
    run job = {.spill = spill, .take = take, .context = context};
    uint64_t fixed = worker_bytes(spill) * (uint64_t)spill->workers + SORT_EXTRA;
    job.memory = memory > fixed ? memory - fixed : 0;
    job.limit = job.memory / key_room(spill);
    if (job.limit < LEAST_KEYS) job.limit = LEAST_KEYS;
    if (job.limit > UINT32_MAX) job.limit = UINT32_MAX;
    TD_TRY(TD_NEW(&job.read_buffers, (uint64_t)spill->workers * spill->segment_bytes + TD_RECORD_SLACK,
                  "read buffers"));
    for (uint64_t b = 0; b < spill->buckets;) TD_TRY(run_group(&job, b, &b));
done:
    free_room(&job);
    td_free(job.read_buffers);
    return status;
}
