/* Each rate is the time of a large copy less that of a small one, so that what a copy costs whatever its size does not
 * count; each latency is that of small copies one behind the other. Of several trials the best counts. */
#include "device/links.h"

#include "base/alloc.h"
#include "base/cancel.h"

#include <stdio.h>

enum { SMALL = 4, SMALL_COPIES = 33, TRIALS = 3 };
#define EMULATED_BYTES (UINT64_C(8) << 20) /* virtual time is exact */
#define REAL_BYTES (UINT64_C(64) << 20)

typedef struct end {
    td_device *device; /* NULL: the host */
    td_stream *stream;
    char *memory;
    bool pinned; /* the host's memory, for this device */
} end;

typedef struct work {
    end *ends;
    int count;
    uint64_t bytes;
    char *host;
} work;

static td_status copy(const end *from, const end *to, uint64_t bytes)
{
    if (from->device == NULL) return td_stream_copy(to->stream, to->memory, from->memory, bytes, TD_TO_DEVICE);
    if (to->device == NULL) return td_stream_copy(from->stream, to->memory, from->memory, bytes, TD_TO_HOST);
    return td_stream_copy_peer(from->stream, to->device, to->memory, from->device, from->memory, bytes);
}

/* Seconds that so many copies take until the host knows. */
static td_status time_copies(const end *from, const end *to, uint64_t bytes, int copies, double *out)
{
    td_stream *stream = from->device != NULL ? from->stream : to->stream;
    for (int trial = 0; trial < TRIALS; trial++) {
        TD_CHECK(td_cancel_check());
        uint64_t began = td_device_clock(stream->device);
        for (int i = 0; i < copies; i++) TD_CHECK(copy(from, to, bytes));
        TD_CHECK(td_stream_synchronize(stream));
        double seconds = (double)(td_device_clock(stream->device) - began) * 1e-9;
        if (trial == 0 || seconds < *out) *out = seconds;
    }
    return TD_OK;
}

static td_status measure(const work *self, const end *from, const end *to, td_measured_link *out)
{
    double one = 0, several = 0, large = 0;
    td_link link = {0};
    if (from->device != NULL && to->device != NULL) {
        td_status status = td_device_link(from->device, to->device, &link);
        if (status == TD_UNSUPPORTED) return TD_OK;
        TD_CHECK(status);
    }
    TD_CHECK(time_copies(from, to, SMALL, 1, &one));
    TD_CHECK(time_copies(from, to, SMALL, SMALL_COPIES, &several));
    TD_CHECK(time_copies(from, to, self->bytes, 1, &large));
    double moved = large > one ? large - one : large;
    *out = (td_measured_link){moved > 0 ? (double)self->bytes / moved : 0, (several - one) / (SMALL_COPIES - 1),
                              link.direct, link.same_memory};
    return TD_OK;
}

static td_status prepare(work *self, td_device *first)
{
    void *seen, *pages = NULL;
    int i = 1;
    for (td_device *device = first; device != NULL; device = device->next)
        if (device->kind == TD_DEVICE_CUDA) self->bytes = REAL_BYTES;
    for (td_device *device = first; device != NULL; device = device->next)
        if (device->kind != TD_DEVICE_CPU && td_device_left(device) / 2 < self->bytes)
            self->bytes = td_device_left(device) / 2 & ~UINT64_C(4095);
    td_refusal small = {.resource = TD_RESOURCE_DEVICE_MEMORY, .needed = SMALL, .allowed = self->bytes};
    if (self->bytes < SMALL) return td_refuse(&small, "no GPU memory is left to measure links with");
    TD_CHECK(td_new_pages(&pages, self->bytes, "memory to measure links"));
    self->ends[0].memory = self->host = pages;
    for (td_device *device = first; device != NULL; device = device->next) {
        if (device->kind == TD_DEVICE_CPU) continue;
        end *mine = &self->ends[i++];
        mine->device = device;
        mine->pinned = td_device_pin(device, self->host, self->bytes, &seen) == TD_OK;
        TD_CHECK(td_stream_open(device, &mine->stream));
        TD_CHECK(td_device_new(device, &mine->memory, self->bytes, 1, "memory to measure links"));
        TD_CHECK(td_stream_fill(mine->stream, mine->memory, 1, self->bytes));
        TD_CHECK(td_stream_synchronize(mine->stream));
    }
    return TD_OK;
}

static void give_back(work *self)
{
    for (int i = 1; i < self->count; i++) {
        end *mine = &self->ends[i];
        if (mine->device == NULL) continue;
        td_stream_close(mine->stream);
        td_device_free(mine->device, mine->memory);
        if (mine->pinned) td_device_unpin(mine->device, self->host);
    }
    td_free(self->host);
    td_free(self->ends);
}

static int count_places(const td_device *first)
{
    int count = 1;
    for (; first != NULL; first = first->next) count += first->kind != TD_DEVICE_CPU;
    return count;
}

static td_status fill_matrix(const work *self, td_link_matrix *out)
{
    snprintf(out->names[0], sizeof *out->names, "host");
    for (int i = 1; i < out->count; i++) snprintf(out->names[i], sizeof *out->names, "%s", self->ends[i].device->name);
    for (int from = 0; from < out->count; from++)
        for (int to = 0; to < out->count; to++)
            if (from != to)
                TD_CHECK(measure(self, &self->ends[from], &self->ends[to], &out->links[from * out->count + to]));
    return TD_OK;
}

td_status td_links_measure(td_device *first, td_link_matrix *out)
{
    td_status status = TD_OK;
    work self = {.count = count_places(first), .bytes = EMULATED_BYTES};
    *out = (td_link_matrix){.count = self.count};
    if (self.count == 1) return TD_OK;
    TD_TRY(TD_NEW_ZEROED(&self.ends, (uint64_t)self.count, "links"));
    TD_TRY(TD_NEW_ZEROED(&out->names, (uint64_t)self.count, "links"));
    TD_TRY(TD_NEW_ZEROED(&out->links, (uint64_t)self.count * (uint64_t)self.count, "links"));
    TD_TRY(prepare(&self, first));
    TD_TRY(fill_matrix(&self, out));
done:
    if (self.ends != NULL) give_back(&self);
    if (status != TD_OK) td_links_free(out);
    return status;
}

void td_links_free(td_link_matrix *matrix)
{
    td_free(matrix->names);
    td_free(matrix->links);
    *matrix = (td_link_matrix){0};
}
