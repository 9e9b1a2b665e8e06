#include "gpu/pinning.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/pause.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { GROUP = 64, STEP_EDGES = 1 << 25 }; /* pieces that are counted together; 128 MiB of targets */

static uint64_t step_edges = STEP_EDGES;

uint64_t td_pinning_step_edges(void) { return step_edges; }
void td_pinning_limit(uint64_t edges) { step_edges = edges > 0 ? edges : STEP_EDGES; }

typedef struct filling {
    td_device *device;
    td_pinning *arrays;
    int count;
    uint64_t pieces, low; /* groups below `low` are filled */
    td_pinning_fill fill;
    void *context;
    _Atomic uint32_t *done; /* pieces of every group */
    _Alignas(64) _Atomic uint64_t next;
    atomic_bool stop;
    pthread_mutex_t lock; /* guards what follows */
    uint64_t failed_at;
    td_status status;
    td_failure failure;
} filling;

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t groups_of(uint64_t pieces) { return (pieces + GROUP - 1) / GROUP; }

void td_pinning_unpin(td_device *device, td_pinning *array)
{
    for (uint64_t at = 0; at < array->pinned; at += array->step) td_device_unpin(device, (char *)array->array + at);
    array->pinned = 0;
    array->seen = NULL;
}

static void refuse(td_device *device, td_pinning *array)
{
    td_pinning_unpin(device, array);
    array->refused = true;
}

static void pin_step(td_device *device, td_pinning *array)
{
    uint64_t at = array->pinned, bytes = least(array->step, array->bytes - at);
    void *seen = NULL;
    td_status status = td_device_pin(device, (char *)array->array + at, bytes, &seen);
    if (status == TD_OK) {
        array->pinned += bytes;
        if (at == 0) array->seen = seen;
        else if (array->seen + at != (char *)seen)
            status = td_fail(TD_DEVICE, "parts of pinned memory are not beside each other for the GPU");
    }
    if (status != TD_OK) refuse(device, array);
}

void td_pinning_pin(td_device *device, td_pinning *array)
{
    while (!array->refused && array->pinned < array->bytes) pin_step(device, array);
}

/* Of several failures that of the first piece is kept, so that the message does not depend on timing. */
static void fail(filling *self, uint64_t at, td_status status)
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

/* False: there is no piece left. */
static bool fill_next(filling *self, int worker)
{
    if (self->stop) return false;
    uint64_t piece = atomic_fetch_add_explicit(&self->next, 1, memory_order_relaxed);
    if (piece >= self->pieces) return false;
    td_status status = td_cancel_check();
    if (status == TD_OK) status = self->fill(self->context, piece, worker);
    if (status != TD_OK) fail(self, piece, status);
    atomic_fetch_add_explicit(&self->done[piece / GROUP], 1, memory_order_release);
    return true;
}

static uint64_t filled_pieces(filling *self)
{
    uint64_t groups = groups_of(self->pieces);
    while (self->low < groups && atomic_load_explicit(&self->done[self->low], memory_order_acquire) ==
                                     least(GROUP, self->pieces - self->low * GROUP))
        self->low++;
    return least(self->low * GROUP, self->pieces);
}

/* Pins one step of an array whose pieces are filled. False: there is none. */
static bool pin_filled(filling *self)
{
    uint64_t filled = filled_pieces(self);
    for (int i = 0; i < self->count; i++) {
        td_pinning *array = &self->arrays[i];
        uint64_t end = least(array->pinned + array->step, array->bytes);
        if (array->refused || array->pinned == array->bytes) continue;
        if (filled < self->pieces && filled * array->of_piece < end) continue;
        pin_step(self->device, array);
        return true;
    }
    return false;
}

static void wait_a_moment(void)
{
    const struct timespec moment = {.tv_nsec = 20000};
    nanosleep(&moment, NULL);
}

static td_status work(void *context, int worker, int workers)
{
    (void)workers;
    filling *self = context;
    bool more = true;
    if (worker > 0) {
        while (fill_next(self, worker)) {}
        return TD_OK;
    }
    while (!self->stop && (more || filled_pieces(self) < self->pieces)) {
        if (pin_filled(self)) continue;
        if (more) more = fill_next(self, worker);
        else wait_a_moment();
    }
    while (!self->stop && pin_filled(self)) {}
    return TD_OK;
}

td_status td_pinning_run(td_device *device, td_pinning *arrays, int count, uint64_t pieces, td_pinning_fill fill,
                         void *context, td_pool *pool)
{
    filling self = {.device = device, .arrays = arrays, .count = count, .pieces = pieces, .fill = fill, .context = context};
    if (pieces == 0) return TD_OK;
    TD_CHECK(TD_NEW_ZEROED(&self.done, groups_of(pieces), "filled pieces"));
    pthread_mutex_init(&self.lock, NULL);
    td_status status = td_pool_run(pool, work, &self);
    if (status != TD_OK) fail(&self, UINT64_MAX, status);
    if (self.status != TD_OK)
        for (int i = 0; i < count; i++) td_pinning_unpin(device, &arrays[i]);
    if (self.status != TD_OK) td_failure_set(&self.failure);
    pthread_mutex_destroy(&self.lock);
    td_free(self.done);
    return self.status;
}
