/* Every figure is the best of three runs, after one to warm up. */
#include "device/cuda/rates.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "device/cuda/rate_kernels.h"

#include <string.h>

enum { TRIALS = 3, LAUNCHES = 1000, ROUND_TRIPS = 200, TURNS = 1000, THREADS = 256 };
#define DEVICE_BYTES (UINT64_C(1) << 30)
#define COPY_BYTES (UINT64_C(256) << 20)
#define MOST_LINES (UINT64_C(1) << 22)
#define MOST_GATHERS (UINT64_C(1) << 27)

typedef struct work {
    td_device *device;
    td_stream *a, *b;
    char *near;             /* device memory */
    uint64_t near_bytes;
    char *pinned, *seen, *pageable; /* host memory; seen: the pinned one's address for kernels */
    uint64_t host_bytes, copy_bytes, range;
    uint32_t *indices; /* device memory too */
    uint64_t gathers;
} work;

typedef td_status (*piece)(work *self);

static td_status launch(work *self, const char *name, const void *code, td_launch shape, const void *arguments,
                        size_t bytes)
{
    td_kernel kernel = {name, code};
    return td_stream_launch(self->a, &kernel, shape, arguments, bytes);
}

/* Eight blocks on every multiprocessor. */
static td_launch everywhere(const work *self)
{
    return (td_launch){.blocks = 8 * (uint32_t)self->device->properties.multiprocessors, .threads = THREADS};
}

static td_status read_near(work *self)
{
    td_rate_stream a = {.from = self->near, .bytes = self->near_bytes};
    TD_CHECK(launch(self, "read", td_rate_read, everywhere(self), &a, sizeof a));
    return td_stream_synchronize(self->a);
}

static td_status copy_near(work *self)
{
    td_rate_stream a = {.from = self->near, .to = self->near + self->near_bytes / 2, .bytes = self->near_bytes / 2};
    TD_CHECK(launch(self, "copy", td_rate_copy, everywhere(self), &a, sizeof a));
    return td_stream_synchronize(self->a);
}

static td_status to_device(work *self)
{
    TD_CHECK(td_stream_copy(self->a, self->near, self->pinned, self->copy_bytes, TD_TO_DEVICE));
    return td_stream_synchronize(self->a);
}

static td_status to_host(work *self)
{
    TD_CHECK(td_stream_copy(self->a, self->pinned, self->near, self->copy_bytes, TD_TO_HOST));
    return td_stream_synchronize(self->a);
}

static td_status both_ways(work *self)
{
    uint64_t half = self->copy_bytes / 2;
    TD_CHECK(td_stream_copy(self->a, self->near, self->pinned, half, TD_TO_DEVICE));
    TD_CHECK(td_stream_copy(self->b, self->pinned + half, self->near + half, half, TD_TO_HOST));
    TD_CHECK(td_stream_synchronize(self->a));
    return td_stream_synchronize(self->b);
}

static td_status pageable_to_device(work *self)
{
    TD_CHECK(td_stream_copy(self->a, self->near, self->pageable, self->copy_bytes, TD_TO_DEVICE));
    return td_stream_synchronize(self->a);
}

static td_status pageable_to_host(work *self)
{
    TD_CHECK(td_stream_copy(self->a, self->pageable, self->near, self->copy_bytes, TD_TO_HOST));
    return td_stream_synchronize(self->a);
}

static td_status small_to_device(work *self)
{
    for (int i = 0; i < ROUND_TRIPS; i++) {
        TD_CHECK(td_stream_copy(self->a, self->near, self->pinned, 4, TD_TO_DEVICE));
        TD_CHECK(td_stream_synchronize(self->a));
    }
    return TD_OK;
}

static td_status small_to_host(work *self)
{
    for (int i = 0; i < ROUND_TRIPS; i++) {
        TD_CHECK(td_stream_copy(self->a, self->pinned, self->near, 4, TD_TO_HOST));
        TD_CHECK(td_stream_synchronize(self->a));
    }
    return TD_OK;
}

static td_status launch_nothing(work *self)
{
    td_rate_turns a = {0};
    return launch(self, "nothing", td_rate_nothing, (td_launch){.blocks = 1, .threads = 32}, &a, sizeof a);
}

static td_status launches(work *self)
{
    for (int i = 0; i < LAUNCHES; i++) TD_CHECK(launch_nothing(self));
    return td_stream_synchronize(self->a);
}

static td_status launches_waited_for(work *self)
{
    for (int i = 0; i < ROUND_TRIPS; i++) {
        TD_CHECK(launch_nothing(self));
        TD_CHECK(td_stream_synchronize(self->a));
    }
    return TD_OK;
}

static td_status barriers(work *self)
{
    td_rate_turns a = {.turns = TURNS};
    td_launch shape = {.blocks = (uint32_t)self->device->properties.multiprocessors, .threads = THREADS,
                       .cooperative = true};
    TD_CHECK(launch(self, "barriers", td_rate_barriers, shape, &a, sizeof a));
    return td_stream_synchronize(self->a);
}

static td_status read_host(work *self)
{
    td_rate_stream a = {.from = self->seen, .bytes = self->host_bytes};
    TD_CHECK(launch(self, "read", td_rate_read, everywhere(self), &a, sizeof a));
    return td_stream_synchronize(self->a);
}

static uint64_t lines_read(uint64_t range) { return range / 128 < MOST_LINES ? range / 128 : MOST_LINES; }

static td_status read_host_lines(work *self)
{
    td_rate_lines a = {.from = (const uint32_t *)(const void *)self->seen, .lines = self->range / 128,
                       .count = lines_read(self->range)};
    TD_CHECK(launch(self, "random lines", td_rate_random, everywhere(self), &a, sizeof a));
    return td_stream_synchronize(self->a);
}

static td_rate_gathers gathers_of(const work *self)
{
    return (td_rate_gathers){.from = (const uint32_t *)(const void *)self->near, .indices = self->indices,
                             .words = self->near_bytes / sizeof(uint32_t), .count = self->gathers};
}

static td_status gather_near(work *self)
{
    td_rate_gathers a = gathers_of(self);
    TD_CHECK(launch(self, "gather", td_rate_gather, everywhere(self), &a, sizeof a));
    return td_stream_synchronize(self->a);
}

/* The best time of a piece of work, in seconds. */
static td_status time_of(work *self, piece what, double *out)
{
    double best = 0;
    TD_CHECK(what(self));
    for (int i = 0; i < TRIALS; i++) {
        uint64_t start = td_clock_ns();
        TD_CHECK(what(self));
        double seconds = td_seconds_since(start);
        if (i == 0 || seconds < best) best = seconds;
    }
    *out = best > 0 ? best : 1e-9;
    return TD_OK;
}

/* The rate: `amount` (bytes or operations) per second. */
static td_status rate_of(work *self, piece what, uint64_t amount, double *out)
{
    double seconds;
    TD_CHECK(time_of(self, what, &seconds));
    *out = (double)amount / seconds;
    return TD_OK;
}

static td_status each_of(work *self, piece what, int times, double *out)
{
    TD_CHECK(time_of(self, what, out));
    *out /= times;
    return TD_OK;
}

static td_status measure_host_lines(work *self, td_gpu_rates *out)
{
    static const uint64_t ranges[TD_HOST_RANGES] = {UINT64_C(64) << 20, UINT64_C(512) << 20, UINT64_C(2) << 30,
                                                    UINT64_C(8) << 30};
    for (int i = 0; i < TD_HOST_RANGES; i++) {
        td_host_reads *next = &out->host_random[out->host_random_count];
        if (ranges[i] > self->host_bytes) break;
        next->range = self->range = ranges[i];
        TD_CHECK(rate_of(self, read_host_lines, lines_read(ranges[i]) * 128, &next->rate));
        out->host_random_count++;
    }
    return TD_OK;
}

static td_status measure(work *self, td_gpu_rates *out)
{
    TD_CHECK(rate_of(self, read_near, self->near_bytes, &out->read));
    TD_CHECK(rate_of(self, copy_near, self->near_bytes, &out->copy));
    TD_CHECK(rate_of(self, to_device, self->copy_bytes, &out->to_device));
    TD_CHECK(rate_of(self, to_host, self->copy_bytes, &out->to_host));
    TD_CHECK(rate_of(self, both_ways, self->copy_bytes, &out->both_ways));
    TD_CHECK(rate_of(self, pageable_to_device, self->copy_bytes, &out->pageable_to_device));
    TD_CHECK(rate_of(self, pageable_to_host, self->copy_bytes, &out->pageable_to_host));
    TD_CHECK(each_of(self, small_to_device, ROUND_TRIPS, &out->small_to_device));
    TD_CHECK(each_of(self, small_to_host, ROUND_TRIPS, &out->small_to_host));
    TD_CHECK(each_of(self, launches, LAUNCHES, &out->launch));
    TD_CHECK(each_of(self, launches_waited_for, ROUND_TRIPS, &out->launch_synchronize));
    if (self->device->properties.cooperative) TD_CHECK(each_of(self, barriers, TURNS, &out->grid_barrier));
    if (!self->device->properties.reads_host) return TD_OK;
    TD_CHECK(rate_of(self, read_host, self->host_bytes, &out->host_read));
    return measure_host_lines(self, out);
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

static td_status prepare(work *self, uint64_t largest)
{
    void *pages = NULL;
    self->near_bytes = least(DEVICE_BYTES, td_device_left(self->device) / 2) & ~UINT64_C(4095);
    self->host_bytes = largest & ~UINT64_C(4095);
    self->copy_bytes = least(COPY_BYTES, least(self->near_bytes, self->host_bytes));
    TD_CHECK(td_device_new(self->device, &self->near, self->near_bytes, 1, "memory to measure"));
    TD_CHECK(td_new_pages(&pages, self->host_bytes, "memory to measure"));
    self->pinned = pages;
    memset(self->pinned, 1, self->host_bytes);
    TD_CHECK(TD_NEW_ZEROED(&self->pageable, self->copy_bytes, "memory to measure"));
    TD_CHECK(td_device_pin(self->device, self->pinned, self->host_bytes, &self->seen));
    TD_CHECK(td_stream_open(self->device, &self->a));
    TD_CHECK(td_stream_open(self->device, &self->b));
    return td_stream_fill(self->a, self->near, 1, self->near_bytes);
}

td_status td_cuda_measure(td_device *device, uint64_t largest, td_gpu_rates *out)
{
    work self = {.device = device};
    td_gpu_rates found = {0};
    td_status status = prepare(&self, largest);
    if (status == TD_OK) status = measure(&self, &found);
    td_stream_close(self.a);
    td_stream_close(self.b);
    if (self.seen != NULL) td_device_unpin(device, self.pinned);
    td_free(self.pinned);
    td_free(self.pageable);
    td_device_free(device, self.near);
    if (status == TD_OK) *out = found;
    return status;
}

/* Allocates the array and the indices; fewer indices if memory is short. */
static td_status prepare_gathers(work *self, uint64_t range)
{
    self->near_bytes = range > 4096 ? range & ~UINT64_C(3) : 4096;
    TD_CHECK(td_device_new(self->device, &self->near, self->near_bytes, 1, "memory to measure"));
    self->gathers = least(MOST_GATHERS, td_device_left(self->device) / (2 * sizeof *self->indices)) & ~UINT64_C(3);
    TD_CHECK(td_device_new(self->device, &self->indices, self->gathers, sizeof *self->indices, "memory to measure"));
    TD_CHECK(td_stream_open(self->device, &self->a));
    TD_CHECK(td_stream_fill(self->a, self->near, 1, self->near_bytes));
    td_rate_gathers a = gathers_of(self);
    return launch(self, "indices", td_rate_indices, everywhere(self), &a, sizeof a);
}

td_status td_cuda_measure_gathers(td_device *device, uint64_t range, double *out)
{
    work self = {.device = device};
    td_status status = prepare_gathers(&self, range);
    if (status == TD_OK) status = rate_of(&self, gather_near, self.gathers, out);
    td_stream_close(self.a);
    td_device_free(device, self.indices);
    td_device_free(device, self.near);
    return status;
}
