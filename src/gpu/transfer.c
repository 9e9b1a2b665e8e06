#include "gpu/transfer.h"

#include "gpu/ring.h"
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
