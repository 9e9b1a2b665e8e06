#include "gpu/route.h"

#include <math.h>
#include <string.h>

static td_status time_copies(td_gpu_job *from, const void *there, td_gpu_job *to, void *here, uint64_t bytes, double *rate)
{
    for (int trial = 0; trial < 2; trial++) {
        uint64_t began = td_device_clock(to->device);
        TD_CHECK(td_stream_copy_peer(to->stream, to->device, here, from->device, there, bytes));
        TD_CHECK(td_stream_synchronize(to->stream));
        *rate = (double)bytes * 1e9 / (double)(td_device_clock(to->device) - began + 1);
    }
    return TD_OK;
}

static td_status measure_rate(td_gpu_job *from, td_gpu_job *to, uint64_t bytes, double *rate)
{
    td_status status = TD_OK;
    void *there = NULL, *here = NULL;
    TD_TRY(td_device_new(from->device, &there, bytes, 1, "a measurement"));
    TD_TRY(td_device_new(to->device, &here, bytes, 1, "a measurement"));
    TD_TRY(time_copies(from, there, to, here, bytes, rate));
done:
    td_device_free(from->device, there);
    td_device_free(to->device, here);
    return status;
}

static td_status find_rate(td_gpu_job *from, td_gpu_job *to, uint64_t bytes, double *rate)
{
    td_link link = {0};
    *rate = 0;
    td_status status = td_device_link(from->device, to->device, &link);
    if (status == TD_UNSUPPORTED) return TD_OK;
    TD_CHECK(status);
    *rate = link.rate > 0 ? link.rate : link.same_memory ? 1e12 : 0;
    return *rate > 0 || bytes == 0 ? TD_OK : measure_rate(from, to, bytes, rate);
}

td_status td_gpu_measure_links(td_gpu_exchange *exchange, const uint64_t *bytes)
{
    enum { BYTES = 32 << 20 };
    for (int i = 0; i < exchange->count; i++)
        for (int j = 0; j < exchange->count; j++) {
            uint64_t most = bytes[i] < bytes[j] ? bytes[i] : bytes[j];
            if (i == j) continue;
            TD_CHECK(find_rate(exchange->box[i].job, exchange->box[j].job, most < BYTES ? most : BYTES,
                               &exchange->rate[i][j]));
        }
    return TD_OK;
}

/* Whether some pair without a link has links to this GPU. */
static bool may_relay(const td_gpu_exchange *exchange, int gpu)
{
    for (int i = 0; i < exchange->count; i++)
        for (int j = 0; j < exchange->count; j++)
            if (i != j && i != gpu && j != gpu && !exchange->linked[i][j] && exchange->linked[i][gpu] &&
                exchange->linked[gpu][j]) return true;
    return false;
}

td_status td_gpu_routes_declare(td_gpu_exchange *exchange, int gpu, td_gpu_job *job)
{
    if (!may_relay(exchange, gpu)) return TD_OK;
    return td_gpu_new(job, &exchange->relay[gpu].buffer, TD_GPU_RELAY_BYTES, 1, "copies in between");
}

/* Seconds of a full buffer over one leg. */
static td_status leg_seconds(td_gpu_exchange *exchange, int from, int to, double *out)
{
    td_link link = {0};
    double rate = exchange->rate[from][to];
    td_gpu_job *a = exchange->box[from].job, *b = exchange->box[to].job;
    *out = INFINITY;
    td_status status = td_device_link(a->device, b->device, &link);
    if (status == TD_UNSUPPORTED) return TD_OK;
    TD_CHECK(status);
    if (rate > 0) *out = link.latency_ns * 1e-9 + TD_GPU_RELAY_BYTES / rate;
    return TD_OK;
}

static td_status choose(td_gpu_exchange *exchange, int from, int to)
{
    double best;
    TD_CHECK(leg_seconds(exchange, from, to, &best)); /* through the host */
    for (int k = 0; k < exchange->count; k++) {
        double up, down;
        if (k == from || k == to || !exchange->linked[from][k] || !exchange->linked[k][to]) continue;
        TD_CHECK(leg_seconds(exchange, from, k, &up));
        TD_CHECK(leg_seconds(exchange, k, to, &down));
        if (up + down >= best) continue;
        best = up + down;
        exchange->relay_of[from][to] = k + 1;
    }
    return TD_OK;
}

td_status td_gpu_routes_open(td_gpu_exchange *exchange)
{
    for (int i = 0; i < exchange->count; i++)
        for (int j = 0; j < exchange->count; j++) {
            if (i != j && !exchange->linked[i][j]) TD_CHECK(choose(exchange, i, j));
            int by = exchange->relay_of[i][j] - 1;
            if (by >= 0 && exchange->relay[by].stream == NULL)
                TD_CHECK(td_stream_open(exchange->box[by].job->device, &exchange->relay[by].stream));
        }
    return TD_OK;
}

void td_gpu_routes_close(td_gpu_exchange *exchange)
{
    for (int i = 0; i < exchange->count; i++) {
        td_stream_close(exchange->relay[i].stream);
        exchange->relay[i].stream = NULL;
        for (int k = 0; k < TD_GPU_LANES; k++) td_stream_close(exchange->lane[i][k]);
        memset(exchange->lane[i], 0, sizeof exchange->lane[i]);
    }
}

/* What comes next in `stream` comes after all that is in `other`. */
static td_status follow(td_stream *stream, td_stream *other)
{
    td_event *event = NULL;
    TD_CHECK(td_stream_record(other, &event));
    td_status status = td_stream_wait(stream, event);
    td_event_destroy(other->device, event);
    return status;
}

/* Piece by piece, on a stream of the relay. */
static td_status relay(td_gpu_exchange *exchange, int by, int to, char *target, int from, const char *source,
                       uint64_t bytes)
{
    td_gpu_relay *self = &exchange->relay[by];
    td_gpu_job *a = exchange->box[from].job, *b = exchange->box[to].job;
    td_device *between = exchange->box[by].job->device;
    TD_CHECK(follow(self->stream, b->stream));
    for (uint64_t done = 0, piece; done < bytes; done += piece) {
        piece = bytes - done < TD_GPU_RELAY_BYTES ? bytes - done : TD_GPU_RELAY_BYTES;
        TD_CHECK(td_stream_copy_peer(self->stream, between, self->buffer, a->device, source + done, piece));
        TD_CHECK(td_stream_copy_peer(self->stream, b->device, target + done, between, self->buffer, piece));
    }
    exchange->relayed += bytes;
    return follow(b->stream, self->stream);
}

td_status td_gpu_copy_between(td_gpu_exchange *exchange, int to, void *target, int from, const void *source,
                              uint64_t bytes)
{
    td_gpu_job *a = exchange->box[from].job, *b = exchange->box[to].job;
    int by = exchange->relay_of[from][to] - 1;
    if (by >= 0 && bytes > 0) return relay(exchange, by, to, target, from, source, bytes);
    return td_stream_copy_peer(b->stream, b->device, target, a->device, source, bytes);
}

/* Ranges to all GPUs. */

/* Which lanes a spread uses, and where they are. */
typedef struct spread {
    td_gpu_exchange *exchange;
    char *const *array;
    bool used[TD_GPU_FRAGMENTS][TD_GPU_LANES];
    td_event *came[TD_GPU_FRAGMENTS][TD_GPU_LANES]; /* the first hop's copies; NULL: not asked for */
} spread;

/* The lane for copies between two GPUs, which begin after all that the target's stream has. */
static td_status take_lane(spread *self, int to, int from, td_stream **out)
{
    td_gpu_job *job = self->exchange->box[to].job;
    int k = from % TD_GPU_LANES;
    td_stream **lane = &self->exchange->lane[to][k];
    if (*lane == NULL) TD_CHECK(td_stream_open(job->device, lane));
    if (!self->used[to][k]) TD_CHECK(follow(*lane, job->stream));
    self->used[to][k] = true;
    *out = *lane;
    return TD_OK;
}

static td_status copy_range(spread *self, const td_gpu_range *range, int to, int from)
{
    td_gpu_exchange *exchange = self->exchange;
    td_stream *lane;
    TD_CHECK(take_lane(self, to, from, &lane));
    exchange->bytes += range->bytes;
    return td_stream_copy_peer(lane, exchange->box[to].job->device, self->array[to] + range->first,
                               exchange->box[from].job->device, self->array[from] + range->first, range->bytes);
}

/* Into GPU `to`, which takes it from `by` once it is there. */
static td_status copy_on(spread *self, const td_gpu_range *range, int to, int by)
{
    td_gpu_exchange *exchange = self->exchange;
    int k = range->owner % TD_GPU_LANES;
    td_event **came = &self->came[by][k];
    td_stream *lane;
    if (*came == NULL) TD_CHECK(td_stream_record(exchange->lane[by][k], came));
    TD_CHECK(take_lane(self, to, by, &lane));
    TD_CHECK(td_stream_wait(lane, *came));
    exchange->relayed += range->bytes;
    return copy_range(self, range, to, by);
}

static td_status one_hop(spread *self, const td_gpu_range *range, bool second)
{
    for (int to = 0; to < self->exchange->count; to++) {
        int by = self->exchange->relay_of[range->owner][to] - 1;
        if (to == range->owner || range->bytes == 0 || (by >= 0) != second) continue;
        TD_CHECK(second ? copy_on(self, range, to, by) : copy_range(self, range, to, range->owner));
    }
    return TD_OK;
}

static td_status end_spread(spread *self)
{
    for (int to = 0; to < self->exchange->count; to++)
        for (int k = 0; k < TD_GPU_LANES; k++)
            if (self->used[to][k]) TD_CHECK(follow(self->exchange->box[to].job->stream, self->exchange->lane[to][k]));
    return TD_OK;
}

td_status td_gpu_spread(td_gpu_exchange *exchange, char *const *array, const td_gpu_range *ranges, int count)
{
    td_status status = TD_OK;
    spread self = {.exchange = exchange, .array = array};
    for (int i = 0; i < count; i++) TD_TRY(one_hop(&self, &ranges[i], false));
    for (int i = 0; i < count; i++) TD_TRY(one_hop(&self, &ranges[i], true));
    TD_TRY(end_spread(&self));
done:
    for (int by = 0; by < exchange->count; by++)
        for (int k = 0; k < TD_GPU_LANES; k++) td_event_destroy(exchange->box[by].job->device, self.came[by][k]);
    return status;
}
