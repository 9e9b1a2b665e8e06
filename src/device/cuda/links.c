/* Connections between GPUs. Slices of one GPU share its memory. GPUs with peer access copy over their link; without it
 * a copy goes through two pinned host buffers: while one is copied down, the other is filled. find_route decides which
 * of the three applies. */
#include "device/cuda/cuda.h"

#include "base/alloc.h"

enum { MOST_GPUS = 64, BUFFERS = 2 };
#define PIECE_BYTES (UINT64_C(1) << 20)

/* Buffers and events of a stream for copies to or from another GPU through the host. */
struct td_cuda_staging {
    struct td_cuda_staging *next;
    int other;    /* the other GPU */
    bool outgoing; /* from the stream's GPU */
    cudaStream_t helper; /* on the other GPU */
    cudaEvent_t begin, end; /* end of the stream's earlier work; end of the helper's work */
    cudaEvent_t filled[BUFFERS], emptied[BUFFERS];
    void *buffer[BUFFERS];
    bool pinned[BUFFERS];
};

typedef enum route { SAME_MEMORY, OVER_LINK, THROUGH_HOST } route;

static _Atomic bool enabled[MOST_GPUS][MOST_GPUS]; /* [from][to]: kernels of `to` may follow pointers of `from` */
static _Atomic bool always_staged;

void td_cuda_stage_always(bool on) { always_staged = on; }

static int gpu_of(const td_device *device) { return td_cuda_state_of(device)->gpu; }

static td_status can_access(td_device *device, const td_device *peer, bool *out)
{
    int can = 0;
    *out = false;
    TD_CHECK(td_cuda_enter(device));
    TD_CUDA(device, cudaDeviceCanAccessPeer(&can, gpu_of(device), gpu_of(peer)), "asking for peer access");
    *out = can != 0;
    return TD_OK;
}

static td_status find_route(td_device *from, td_device *to, route *out)
{
    bool can = false;
    *out = THROUGH_HOST;
    if (always_staged) return TD_OK;
    if (gpu_of(from) == gpu_of(to)) {
        *out = SAME_MEMORY;
        return TD_OK;
    }
    TD_CHECK(can_access(to, from, &can));
    if (can) *out = OVER_LINK;
    return TD_OK;
}

td_status td_cuda_link(td_device *from, td_device *to, td_link *out)
{
    route found;
    int a = gpu_of(from), b = gpu_of(to);
    TD_CHECK(find_route(from, to, &found));
    out->same_memory = found == SAME_MEMORY;
    out->direct = found != THROUGH_HOST;
    out->enabled = out->same_memory || (out->direct && a < MOST_GPUS && b < MOST_GPUS && enabled[a][b]);
    return TD_OK;
}

td_status td_cuda_enable_peer(td_device *device, td_device *peer)
{
    bool can = false;
    int from = gpu_of(peer), to = gpu_of(device);
    TD_CHECK(can_access(device, peer, &can));
    if (!can)
        return td_fail(TD_UNSUPPORTED, "%s: kernels cannot follow pointers of %s: the GPUs have no peer access to each "
                       "other (nvidia-smi topo -p2p r says why)", device->name, peer->name);
    cudaError_t error = cudaDeviceEnablePeerAccess(from, 0);
    if (error == cudaErrorPeerAccessAlreadyEnabled) cudaGetLastError();
    else TD_CUDA(device, error, "enabling peer access");
    if (from < MOST_GPUS && to < MOST_GPUS) enabled[from][to] = true;
    return TD_OK;
}

/* Through the host. */

static cudaError_t make_event(int gpu, cudaEvent_t *out)
{
    cudaError_t error = cudaSetDevice(gpu);
    return error == cudaSuccess ? cudaEventCreateWithFlags(out, cudaEventDisableTiming) : error;
}

static void drop_staging(td_device *device, struct td_cuda_staging *self)
{
    cudaEvent_t events[] = {self->begin, self->end, self->filled[0], self->filled[1], self->emptied[0],
                            self->emptied[1]};
    cudaSetDevice(self->other);
    if (self->helper != NULL) {
        cudaStreamSynchronize(self->helper);
        cudaStreamDestroy(self->helper);
    }
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (events[i] != NULL) cudaEventDestroy(events[i]);
    for (int i = 0; i < BUFFERS; i++) {
        if (self->pinned[i]) td_cuda_unpin(device, self->buffer[i]);
        td_free(self->buffer[i]);
    }
    cudaGetLastError();
    td_free(self);
}

void td_cuda_drop_stagings(td_cuda_stream *stream)
{
    for (struct td_cuda_staging *next; stream->stagings != NULL; stream->stagings = next) {
        next = stream->stagings->next;
        drop_staging(stream->base.device, stream->stagings);
    }
}

/* An event can be recorded only on the GPU that created it. */
static cudaError_t make_events(struct td_cuda_staging *self, int mine)
{
    int from = self->outgoing ? mine : self->other, to = self->outgoing ? self->other : mine;
    cudaError_t error = make_event(mine, &self->begin);
    if (error == cudaSuccess) error = make_event(self->other, &self->end);
    for (int i = 0; i < BUFFERS && error == cudaSuccess; i++) {
        error = make_event(from, &self->filled[i]);
        if (error == cudaSuccess) error = make_event(to, &self->emptied[i]);
    }
    if (error == cudaSuccess) error = cudaSetDevice(self->other);
    return error == cudaSuccess ? cudaStreamCreateWithFlags(&self->helper, cudaStreamNonBlocking) : error;
}

static td_status make_staging(td_cuda_stream *stream, int other, bool outgoing, struct td_cuda_staging **out)
{
    td_status status = TD_OK;
    td_device *device = stream->base.device;
    struct td_cuda_staging *self = NULL;
    void *seen;
    TD_CHECK(TD_NEW_ZEROED(&self, 1, "copies through the host"));
    self->other = other;
    self->outgoing = outgoing;
    for (int i = 0; i < BUFFERS; i++) {
        TD_TRY(td_new_pages(&self->buffer[i], PIECE_BYTES, "copies through the host"));
        TD_TRY(td_cuda_pin(device, self->buffer[i], PIECE_BYTES, &seen));
        self->pinned[i] = true;
    }
    TD_TRY(td_cuda_check(device, make_events(self, gpu_of(device)), "preparing copies through the host"));
    self->next = stream->stagings;
    *out = stream->stagings = self;
done:
    if (status != TD_OK) drop_staging(device, self);
    return status;
}

static td_status find_staging(td_cuda_stream *stream, int other, bool outgoing, struct td_cuda_staging **out)
{
    for (struct td_cuda_staging *s = stream->stagings; s != NULL; s = s->next) {
        if (s->other != other || s->outgoing != outgoing) continue;
        *out = s;
        return TD_OK;
    }
    return make_staging(stream, other, outgoing, out);
}

/* One piece: up from the source GPU when the buffer is empty; down to the other when it is full. */
static cudaError_t send_piece(struct td_cuda_staging *self, int i, cudaStream_t up, cudaStream_t down, int from_gpu,
                              int to_gpu, char *to, const char *from, uint64_t bytes)
{
    cudaError_t error = cudaSetDevice(from_gpu);
    if (error == cudaSuccess) error = cudaStreamWaitEvent(up, self->emptied[i], 0);
    if (error == cudaSuccess) error = cudaMemcpyAsync(self->buffer[i], from, bytes, cudaMemcpyDeviceToHost, up);
    if (error == cudaSuccess) error = cudaEventRecord(self->filled[i], up);
    if (error == cudaSuccess) error = cudaSetDevice(to_gpu);
    if (error == cudaSuccess) error = cudaStreamWaitEvent(down, self->filled[i], 0);
    if (error == cudaSuccess) error = cudaMemcpyAsync(to, self->buffer[i], bytes, cudaMemcpyHostToDevice, down);
    return error == cudaSuccess ? cudaEventRecord(self->emptied[i], down) : error;
}

static cudaError_t send_pieces(struct td_cuda_staging *self, cudaStream_t mine, int gpu, char *to, const char *from,
                               uint64_t bytes)
{
    cudaStream_t up = self->outgoing ? mine : self->helper, down = self->outgoing ? self->helper : mine;
    int from_gpu = self->outgoing ? gpu : self->other, to_gpu = self->outgoing ? self->other : gpu;
    cudaError_t error = cudaEventRecord(self->begin, mine);
    if (error == cudaSuccess) error = cudaStreamWaitEvent(self->helper, self->begin, 0);
    for (uint64_t at = 0, i = 0; at < bytes && error == cudaSuccess; at += PIECE_BYTES, i++) {
        uint64_t piece = bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES;
        error = send_piece(self, (int)(i % BUFFERS), up, down, from_gpu, to_gpu, to + at, from + at, piece);
    }
    if (error == cudaSuccess) error = cudaSetDevice(self->other);
    if (error == cudaSuccess) error = cudaEventRecord(self->end, self->helper);
    if (error == cudaSuccess) error = cudaSetDevice(gpu);
    return error == cudaSuccess ? cudaStreamWaitEvent(mine, self->end, 0) : error;
}

static td_status copy_staged(td_stream *stream, td_device *to_device, void *to, td_device *from_device,
                             const void *from, uint64_t bytes)
{
    td_device *device = stream->device;
    struct td_cuda_staging *staging = NULL;
    bool outgoing = device == from_device;
    TD_CHECK(find_staging((td_cuda_stream *)stream, gpu_of(outgoing ? to_device : from_device), outgoing, &staging));
    TD_CHECK(td_cuda_enter(device));
    return td_cuda_check(device, send_pieces(staging, td_cuda_stream_of(stream), gpu_of(device), to, from, bytes),
                         "copying between GPUs through the host");
}

td_status td_cuda_copy_peer(td_stream *stream, td_device *to_device, void *to, td_device *from_device, const void *from,
                            uint64_t bytes)
{
    route found;
    td_device *device = stream->device;
    cudaStream_t queue = td_cuda_stream_of(stream);
    TD_CHECK(find_route(from_device, to_device, &found));
    if (found == THROUGH_HOST) return copy_staged(stream, to_device, to, from_device, from, bytes);
    TD_CHECK(td_cuda_enter(device));
    cudaError_t error =
        found == SAME_MEMORY
            ? cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, queue)
            : cudaMemcpyPeerAsync(to, gpu_of(to_device), from, gpu_of(from_device), bytes, queue);
    return td_cuda_check(device, error, "copying between devices");
}
