#include "gpu/transfer.h"

#include "base/alloc.h"
#include "store/checks.h"

#include <string.h>

typedef struct uploading {
    const td_graph *graph;
    const char *array;
} uploading;

static td_status fill(void *context, uint64_t at, char *part, uint64_t bytes)
{
    const uploading *self = context;
    memcpy(part, self->array + at, bytes);
    return TD_OK;
}

static td_status fill_from_file(void *context, uint64_t at, char *part, uint64_t bytes)
{
    const uploading *self = context;
    return td_checks_read(self->graph, self->array, at, part, bytes);
}

td_status td_gpu_upload(td_gpu_job *job, void *to, const void *host, uint64_t bytes)
{
    const td_graph *graph = job->graph;
    uploading self = {graph, host};
    bool pending = td_checks_pending(graph, host);
    if (td_gpu_ring_pays(bytes)) {
        td_status status = td_gpu_ring_send(job, to, bytes, pending ? fill_from_file : fill, &self);
        if (status != TD_NO_MEMORY) return status;
    }
    TD_CHECK(td_checks_copy(graph, &host, job->options->pool));
    return td_stream_copy(job->stream, to, host, bytes, TD_TO_DEVICE);
}

void td_gpu_note_upload(td_gpu_job *job, const void *host, uint64_t bytes)
{
    td_gpu_ring_note(job, bytes);
    if (job->memory.measures && !td_gpu_ring_pays(bytes) && td_checks_pending(job->graph, host)) job->file_copies += bytes;
}

void td_gpu_note_made(td_gpu_job *job, uint64_t bytes)
{
    if (td_gpu_ring_pays(bytes)) td_gpu_ring_note(job, bytes);
    else td_host_note(&job->memory.host, bytes);
}

/* A small array, which is made whole. */
enum { PIECE = 64 << 10 };

typedef struct making {
    char *array;
    uint64_t bytes;
    td_ring_fn fill;
    void *context;
} making;

static td_status make_pieces(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const making *self = context;
    for (uint64_t p = begin; p < end; p++) {
        uint64_t at = p * PIECE, bytes = self->bytes - at < PIECE ? self->bytes - at : PIECE;
        TD_CHECK(self->fill(self->context, at, self->array + at, bytes));
    }
    return TD_OK;
}

td_status td_gpu_upload_made(td_gpu_job *job, void *to, uint64_t bytes, td_ring_fn fill, void *context)
{
    td_status status = TD_OK;
    making self = {.bytes = bytes, .fill = fill, .context = context};
    if (bytes == 0) return TD_OK;
    if (td_gpu_ring_pays(bytes)) return td_gpu_ring_send(job, to, bytes, fill, context);
    TD_CHECK(TD_NEW(&self.array, bytes, "an array for the GPU"));
    TD_TRY(td_pool_for(job->options->pool, (bytes + PIECE - 1) / PIECE, 1, make_pieces, &self));
    TD_TRY(td_stream_copy(job->stream, to, self.array, bytes, TD_TO_DEVICE));
    TD_TRY(td_stream_synchronize(job->stream));
done:
    td_free(self.array);
    return status;
}

td_status td_gpu_upload_heads(td_gpu_job *job, const td_gpu_head_arrays *arrays, const td_gpu_heads *found)
{
    const uint64_t word = sizeof(uint32_t);
    TD_CHECK(td_gpu_upload(job, arrays->bits, found->bits, found->words * word));
    TD_CHECK(td_gpu_upload(job, arrays->before, found->before, found->pieces * word));
    TD_CHECK(td_gpu_upload(job, arrays->lists, found->lists, found->count * word));
    return td_stream_synchronize(job->stream);
}

void td_gpu_note_heads(td_gpu_job *job, uint64_t edges, uint64_t vertices)
{
    td_host_note(&job->memory.host, td_gpu_head_host_bytes(edges, vertices));
    td_gpu_ring_note(job, (edges / 32 + vertices + 1) * sizeof(uint32_t));
}

static td_status empty(void *context, uint64_t at, char *part, uint64_t bytes)
{
    memcpy((char *)context + at, part, bytes);
    return TD_OK;
}

td_status td_gpu_download(td_gpu_job *job, void *host, const void *from, uint64_t bytes)
{
    if (td_gpu_ring_pays(bytes)) {
        td_status status = td_gpu_ring_receive(job, from, bytes, empty, host);
        if (status != TD_NO_MEMORY) return status;
    }
    TD_CHECK(td_stream_copy(job->stream, host, from, bytes, TD_TO_HOST));
    return td_stream_synchronize(job->stream);
}
