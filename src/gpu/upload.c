#include "gpu/upload.h"

#include "base/alloc.h"
#include "store/checks.h"

#include <string.h>

enum {
    RING_FROM = 16 << 20, /* bytes from which pinning a ring pays */
    HALF = 16 << 20,
    PIECE = 1 << 20,      /* of a worker; a multiple of TD_CHECKS_BLOCK */
    BEHIND = 4096,        /* bytes behind an array that belong to its last block */
};

static uint64_t ring_from = RING_FROM, half_bytes = HALF;

void td_gpu_upload_limits(uint64_t from, uint64_t half)
{
    ring_from = from > 0 ? from : RING_FROM;
    half_bytes = half > 0 ? half : HALF;
}

uint64_t td_gpu_upload_bytes(uint64_t bytes) { return bytes >= ring_from ? 2 * (half_bytes + BEHIND) : 0; }

typedef struct uploading {
    td_gpu_job *job;
    const char *array;
    uint64_t bytes, piece;
    bool checks;          /* the array's blocks are checked on their way */
    char *ring;
    bool pinned;
    td_stream *streams[2]; /* one for each half */
    char *half;           /* filled now, with the array's bytes first .. last - 1 */
    uint64_t first, last;
} uploading;

static td_status fill(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const uploading *self = context;
    const td_graph *graph = self->job->graph;
    for (uint64_t p = begin; p < end; p++) {
        uint64_t at = self->first + p * self->piece;
        uint64_t bytes = self->last - at < self->piece ? self->last - at : self->piece;
        char *into = self->half + p * self->piece;
        if (self->checks) bytes = td_checks_bytes(graph, self->array, at, bytes);
        memcpy(into, self->array + at, bytes);
        if (self->checks) TD_CHECK(td_checks_piece(graph, self->array, at, into, bytes));
    }
    return TD_OK;
}

static td_status open_ring(uploading *self)
{
    uint64_t bytes = 2 * (half_bytes + BEHIND);
    void *seen;
    TD_CHECK(TD_NEW(&self->ring, bytes, "ring of pinned memory"));
    self->pinned = td_device_pin(self->job->device, self->ring, bytes, &seen) == TD_OK;
    self->streams[0] = self->job->stream;
    return td_stream_open(self->job->device, &self->streams[1]);
}

/* Nothing may copy from the ring any more. */
static td_status close_ring(uploading *self, td_status status)
{
    td_failure failure;
    td_failure_keep(&failure);
    td_status ended = self->streams[0] != NULL ? td_stream_synchronize(self->streams[0]) : TD_OK;
    if (self->streams[1] != NULL) {
        td_status other = td_stream_synchronize(self->streams[1]);
        if (ended == TD_OK) ended = other;
        td_stream_close(self->streams[1]);
    }
    if (self->pinned) td_device_unpin(self->job->device, self->ring);
    td_free(self->ring);
    if (status == TD_OK) return ended;
    td_failure_set(&failure);
    return status;
}

static td_status send_halves(uploading *self, char *to)
{
    td_pool *pool = self->job->options->pool;
    for (uint64_t wave = 0; wave * half_bytes < self->bytes; wave++) {
        td_stream *stream = self->streams[wave % 2];
        self->half = self->ring + wave % 2 * (half_bytes + BEHIND);
        self->first = wave * half_bytes;
        self->last = self->bytes - self->first < half_bytes ? self->bytes : self->first + half_bytes;
        uint64_t pieces = (self->last - self->first + self->piece - 1) / self->piece;
        TD_CHECK(td_stream_synchronize(stream)); /* the half's last copy */
        TD_CHECK(td_pool_for(pool, pieces, 1, fill, self));
        TD_CHECK(td_stream_copy(stream, to + self->first, self->half, self->last - self->first, TD_TO_DEVICE));
    }
    return TD_OK;
}

static td_status send_through_ring(td_gpu_job *job, void *to, const void *host, uint64_t bytes)
{
    uploading self = {.job = job, .array = host, .bytes = bytes, .piece = half_bytes < PIECE ? half_bytes : PIECE,
                      .checks = td_checks_pending(job->graph, host)};
    td_status status = open_ring(&self);
    if (status == TD_OK) status = send_halves(&self, to);
    return close_ring(&self, status);
}

td_status td_gpu_upload(td_gpu_job *job, void *to, const void *host, uint64_t bytes)
{
    if (bytes >= ring_from) {
        td_status status = send_through_ring(job, to, host, bytes);
        if (status != TD_NO_MEMORY) return status;
    }
    TD_CHECK(td_checks_copy(job->graph, &host, job->options->pool));
    return td_stream_copy(job->stream, to, host, bytes, TD_TO_DEVICE);
}
