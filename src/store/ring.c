#include "store/ring.h"

#include "base/alloc.h"

#if defined(TANDEM_HAVE_URING)
#include <errno.h>
#include <liburing.h>

struct td_ring {
    struct io_uring uring;
};

td_ring *td_ring_create(unsigned depth)
{
    td_ring *ring = NULL;
    if (TD_NEW_ZEROED(&ring, 1, "ring of reads") != TD_OK) return NULL;
    if (io_uring_queue_init(depth, &ring->uring, 0) == 0) return ring;
    td_free(ring);
    return NULL;
}

void td_ring_destroy(td_ring *ring)
{
    if (ring == NULL) return;
    io_uring_queue_exit(&ring->uring);
    td_free(ring);
}

bool td_ring_read(td_ring *ring, int file, void *into, uint64_t bytes, uint64_t offset, void *tag)
{
    struct io_uring_sqe *entry = io_uring_get_sqe(&ring->uring);
    if (entry == NULL) return false;
    io_uring_prep_read(entry, file, into, (unsigned)bytes, offset);
    io_uring_sqe_set_data(entry, tag);
    return io_uring_submit(&ring->uring) == 1;
}

int64_t td_ring_wait(td_ring *ring, void **tag)
{
    struct io_uring_cqe *done = NULL;
    int waited;
    while ((waited = io_uring_wait_cqe(&ring->uring, &done)) == -EINTR) {}
    *tag = waited == 0 ? io_uring_cqe_get_data(done) : NULL;
    int64_t result = waited == 0 ? done->res : waited;
    if (waited == 0) io_uring_cqe_seen(&ring->uring, done);
    return result;
}

#else

td_ring *td_ring_create(unsigned depth)
{
    (void)depth;
    return NULL;
}

void td_ring_destroy(td_ring *ring) { (void)ring; }

bool td_ring_read(td_ring *ring, int file, void *into, uint64_t bytes, uint64_t offset, void *tag)
{
    (void)ring, (void)file, (void)into, (void)bytes, (void)offset, (void)tag;
    return false;
}

int64_t td_ring_wait(td_ring *ring, void **tag)
{
    (void)ring;
    *tag = NULL;
    return 0;
}

#endif
