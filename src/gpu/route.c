#include "gpu/route.h"

#include "base/clock.h"

#include <math.h>

td_status td_gpu_link_rate(td_device *from, td_device *to, td_stream *on_to, double *rate)
{
    enum { BYTES = 32 << 20 };
    td_link link = {0};
    *rate = 0;
    td_status status = td_device_link(from, to, &link);
    if (status == TD_UNSUPPORTED) return TD_OK;
    TD_CHECK(status);
    *rate = link.rate > 0 ? link.rate : link.same_memory ? 1e12 : 0;
    if (*rate > 0) return TD_OK;
    void *there = NULL, *here = NULL;
    TD_TRY(td_device_new(from, &there, BYTES, 1, "a measurement"));
    TD_TRY(td_device_new(to, &here, BYTES, 1, "a measurement"));
    for (int trial = 0; trial < 2; trial++) {
        uint64_t began = td_clock_ns();
        TD_TRY(td_stream_copy_peer(on_to, to, here, from, there, BYTES));
        TD_TRY(td_stream_synchronize(on_to));
        *rate = BYTES / td_seconds_since(began);
    }
done:
    td_device_free(from, there);
    td_device_free(to, here);
    return status;
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

td_status td_gpu_routes_declare(td_gpu_exchange *exchange, int gpu)
{
    if (!may_relay(exchange, gpu)) return TD_OK;
    return td_gpu_new(exchange->box[gpu].job, &exchange->relay[gpu].buffer, TD_GPU_RELAY_BYTES, 1, "copies in between");
}

/* Seconds of a full buffer over one leg. */
static td_status leg_seconds(td_gpu_exchange *exchange, int from, int to, double *out)
{
    td_link link = {0};
    double rate;
    td_gpu_job *a = exchange->box[from].job, *b = exchange->box[to].job;
    *out = INFINITY;
    td_status status = td_device_link(a->device, b->device, &link);
    if (status == TD_UNSUPPORTED) return TD_OK;
    TD_CHECK(status);
    TD_CHECK(td_gpu_link_rate(a->device, b->device, b->stream, &rate));
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

/* Piece by piece, on a stream of the GPU in between. */
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
