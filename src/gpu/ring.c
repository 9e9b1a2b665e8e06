#include "gpu/ring.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/pause.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum {
    PAYS_FROM = 16 << 20, /* bytes from which pinning a ring pays */
    PART = 8 << 20,
    PIECE = 512 << 10, LEAST_PIECE = 64 << 10,
    BEHIND = 4096,        /* bytes behind a part that belong to the last block of an array */
    AHEAD = 2,            /* copies that are queued at once */
};

static uint64_t pays_from = PAYS_FROM, part_bytes = PART;

void td_gpu_ring_limits(uint64_t from, uint64_t part)
{
    pays_from = from > 0 ? from : PAYS_FROM;
    part_bytes = part > 0 ? part : PART;
}

bool td_gpu_ring_pays(uint64_t bytes) { return bytes >= pays_from; }

typedef struct td_gpu_ring {
    char *memory;
    bool pinned;
    td_stream *streams[TD_RING_PARTS]; /* the first is the job's */
} td_gpu_ring;

static uint64_t ring_bytes(void) { return TD_RING_PARTS * (part_bytes + BEHIND); }
uint64_t td_gpu_ring_bytes(uint64_t bytes) { return td_gpu_ring_pays(bytes) ? ring_bytes() : 0; }

void td_gpu_ring_note(td_gpu_job *job, uint64_t bytes)
{
    if (!job->memory.measures || job->ring_noted || !td_gpu_ring_pays(bytes)) return;
    job->ring_noted = true;
    td_host_hold(&job->memory.host, ring_bytes());
}

void td_gpu_ring_close(td_gpu_job *job)
{
    td_gpu_ring *ring = job->ring;
    if (ring == NULL) return;
    for (int i = 1; i < TD_RING_PARTS; i++) td_stream_close(ring->streams[i]);
    if (ring->pinned) td_device_unpin(job->device, ring->memory);
    td_free(ring->memory);
    td_free(ring);
    job->ring = NULL;
}

/* A ring that cannot be pinned copies more slowly. */
static td_status open_ring(td_gpu_job *job)
{
    td_status status = TD_OK;
    void *seen;
    if (job->ring != NULL) return TD_OK;
    TD_CHECK(TD_NEW_ZEROED(&job->ring, 1, "ring of pinned memory"));
    td_gpu_ring *ring = job->ring;
    TD_TRY(TD_NEW(&ring->memory, ring_bytes(), "ring of pinned memory"));
    ring->pinned = td_device_pin(job->device, ring->memory, ring_bytes(), &seen) == TD_OK;
    ring->streams[0] = job->stream;
    for (int i = 1; i < TD_RING_PARTS; i++) TD_TRY(td_stream_open(job->device, &ring->streams[i]));
    return TD_OK;
done:
    td_gpu_ring_close(job);
    return status;
}

/* A transfer. Workers take pieces in ascending order, and process those of waves below `open`. */
typedef struct transfer {
    td_gpu_ring *ring;
    char *device;
    uint64_t bytes, piece, in_wave, pieces, waves; /* in_wave: pieces of a wave */
    bool sends;
    td_ring_fn work;
    void *context;
    _Alignas(64) _Atomic uint64_t next; /* piece to take */
    _Alignas(64) _Atomic uint64_t open;
    _Alignas(64) _Atomic uint64_t done[TD_RING_PARTS]; /* processed pieces of the wave in a part */
    atomic_bool stop;
    pthread_mutex_t lock; /* guards what follows */
    uint64_t failed_at;
    td_status status;
    td_failure failure;
} transfer;

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }
static char *part_of(const transfer *self, uint64_t wave)
{
    return self->ring->memory + wave % TD_RING_PARTS * (part_bytes + BEHIND);
}
static uint64_t pieces_of(const transfer *self, uint64_t wave)
{
    return least(self->in_wave, self->pieces - wave * self->in_wave);
}
static td_stream *stream_of(const transfer *self, uint64_t wave) { return self->ring->streams[wave % TD_RING_PARTS]; }

/* Of several failures that of the first piece is kept, so that the message does not depend on timing: pieces before it
 * have been taken, and are processed to their end. */
static void fail(transfer *self, uint64_t at, td_status status)
{
    pthread_mutex_lock(&self->lock);
    if (self->status == TD_OK || at < self->failed_at) {
        self->failed_at = at;
        self->status = status;
        td_failure_keep(&self->failure);
    }
    pthread_mutex_unlock(&self->lock);
    self->stop = true;
}

static void process(transfer *self, uint64_t piece)
{
    uint64_t wave = piece / self->in_wave, at = piece * self->piece;
    td_status status = td_cancel_check();
    if (status == TD_OK)
        status = self->work(self->context, at, part_of(self, wave) + piece % self->in_wave * self->piece,
                            least(self->piece, self->bytes - at));
    if (status != TD_OK) fail(self, piece, status);
    atomic_fetch_add_explicit(&self->done[wave % TD_RING_PARTS], 1, memory_order_release);
}

static bool is_open(transfer *self, uint64_t piece)
{
    return piece / self->in_wave < atomic_load_explicit(&self->open, memory_order_acquire);
}

/* A part is copied in about 0.2 ms: longer waits sleep. */
static void wait_a_moment(uint32_t *waits)
{
    enum { SPINS = 2000 };
    const struct timespec moment = {.tv_nsec = 20000};
    if (++*waits < SPINS) td_pause();
    else nanosleep(&moment, NULL);
}

static td_status serve(transfer *self)
{
    for (;;) {
        uint64_t piece = atomic_fetch_add_explicit(&self->next, 1, memory_order_relaxed);
        uint32_t waits = 0;
        if (piece >= self->pieces) return TD_OK;
        while (!is_open(self, piece)) {
            if (self->stop) return TD_OK;
            wait_a_moment(&waits);
        }
        process(self, piece);
        if (self->stop) return TD_OK;
    }
}

/* Waits until all pieces of a wave are processed, and processes open pieces meanwhile. False: the transfer has failed. */
static bool await_pieces(transfer *self, uint64_t wave)
{
    _Atomic uint64_t *done = &self->done[wave % TD_RING_PARTS];
    uint32_t waits = 0;
    while (atomic_load_explicit(done, memory_order_acquire) < pieces_of(self, wave)) {
        uint64_t piece = self->next;
        if (self->stop) return false;
        if (piece >= self->pieces || !is_open(self, piece)) wait_a_moment(&waits);
        else if (atomic_compare_exchange_strong(&self->next, &piece, piece + 1)) process(self, piece);
    }
    atomic_store_explicit(done, 0, memory_order_relaxed);
    return !self->stop;
}

static td_status copy_wave(transfer *self, uint64_t wave)
{
    uint64_t at = wave * part_bytes, bytes = least(part_bytes, self->bytes - at);
    char *device = self->device + at, *host = part_of(self, wave);
    return self->sends ? td_stream_copy(stream_of(self, wave), device, host, bytes, TD_TO_DEVICE)
                       : td_stream_copy(stream_of(self, wave), host, device, bytes, TD_TO_HOST);
}

static void open_waves(transfer *self, uint64_t waves)
{
    atomic_store_explicit(&self->open, least(waves, self->waves), memory_order_release);
}

static td_status send(transfer *self)
{
    open_waves(self, TD_RING_PARTS);
    for (uint64_t wave = 0; wave < self->waves; wave++) {
        if (!await_pieces(self, wave)) return TD_OK;
        TD_CHECK(copy_wave(self, wave));
        if (wave + 1 < AHEAD) continue;
        TD_CHECK(td_stream_synchronize(stream_of(self, wave + 1 - AHEAD)));
        open_waves(self, wave + 1 - AHEAD + 1 + TD_RING_PARTS);
    }
    return TD_OK;
}

static td_status receive(transfer *self)
{
    for (uint64_t wave = 0; wave < least(TD_RING_PARTS, self->waves); wave++) TD_CHECK(copy_wave(self, wave));
    for (uint64_t wave = 0; wave < self->waves + AHEAD; wave++) {
        if (wave < self->waves) {
            TD_CHECK(td_stream_synchronize(stream_of(self, wave)));
            open_waves(self, wave + 1);
        }
        if (wave < AHEAD) continue;
        uint64_t emptied = wave - AHEAD, next = emptied + TD_RING_PARTS;
        if (!await_pieces(self, emptied)) return TD_OK;
        if (next < self->waves) TD_CHECK(copy_wave(self, next));
    }
    return TD_OK;
}

/* Workers must not wait for a caller that has failed. */
static td_status work(void *context, int worker, int workers)
{
    (void)workers;
    transfer *self = context;
    if (worker > 0) return serve(self);
    td_status status = self->sends ? send(self) : receive(self);
    if (status != TD_OK) fail(self, UINT64_MAX, status);
    return TD_OK;
}

/* Nothing may use the ring any more. */
static void end_copies(transfer *self)
{
    for (int i = 0; i < TD_RING_PARTS; i++) {
        td_status status = td_stream_synchronize(self->ring->streams[i]);
        if (status != TD_OK) fail(self, UINT64_MAX, status);
    }
}

static td_status run(td_gpu_job *job, transfer *self)
{
    TD_CHECK(open_ring(job));
    self->ring = job->ring;
    self->piece = part_bytes > PIECE ? PIECE : LEAST_PIECE;
    self->in_wave = part_bytes / self->piece;
    self->pieces = (self->bytes + self->piece - 1) / self->piece;
    self->waves = (self->bytes + part_bytes - 1) / part_bytes;
    pthread_mutex_init(&self->lock, NULL);
    TD_CHECK(td_stream_synchronize(job->stream)); /* other streams of the ring read and write what it has made */
    td_status status = td_pool_run(job->options->pool, work, self);
    if (status != TD_OK) fail(self, UINT64_MAX, status);
    end_copies(self);
    pthread_mutex_destroy(&self->lock);
    if (self->status != TD_OK) td_failure_set(&self->failure);
    return self->status;
}

td_status td_gpu_ring_send(td_gpu_job *job, void *to, uint64_t bytes, td_ring_fn fill, void *context)
{
    transfer self = {.device = to, .bytes = bytes, .sends = true, .work = fill, .context = context};
    return run(job, &self);
}

td_status td_gpu_ring_receive(td_gpu_job *job, const void *from, uint64_t bytes, td_ring_fn take, void *context)
{
    transfer self = {.device = (char *)(uintptr_t)from, .bytes = bytes, .work = take, .context = context};
    return run(job, &self);
}
