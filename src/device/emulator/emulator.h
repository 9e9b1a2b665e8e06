/* What is inside an emulated device, and what it counts. */
#ifndef TD_DEVICE_EMULATOR_EMULATOR_H
#define TD_DEVICE_EMULATOR_EMULATOR_H

#include "device/emulator/model.h"
#include "device/emulator/regions.h"

typedef struct td_emulator_counts {
    uint64_t launches;
    uint64_t blocks, threads, barriers, grid_barriers, exchanges;
    uint64_t bytes_read, bytes_written;     /* of device memory, by kernels */
    uint64_t host_bytes, peer_bytes;        /* of pinned host memory, of other GPUs */
    uint64_t accesses, atomics, shared_accesses;
    uint64_t kernel_ns;                     /* virtual time in kernels */
} td_emulator_counts;

/* Counted so far by a device of kind TD_DEVICE_EMULATOR. */
td_emulator_counts td_emulator_counted(const td_device *device);

/* What devices that were opened together share. */
typedef struct td_emu_world {
    int open;          /* devices that are not yet closed */
    uint64_t host_now; /* the host's virtual time */
    td_regions regions;
    td_topology topology;
} td_emu_world;

typedef struct td_emulator {
    td_emu_world *world;
    int number;
    uint64_t taken;      /* bytes allocated */
    uint64_t kernels_at; /* when its kernels end */
    td_emu_machine machine;
    td_emulator_counts counts;
} td_emulator;

typedef struct td_emu_stream {
    td_stream stream; /* first */
    uint64_t at;      /* when all that is queued ends */
    td_status status; /* of what went wrong and was not yet told */
    td_failure failure;
} td_emu_stream;

/* Utilities: operations of a stream that run no kernel (utilities.c). */
td_status td_emu_sort(td_stream *stream, uint32_t *keys, uint32_t *values, uint64_t count, void *room,
                      uint64_t room_bytes);
td_status td_emu_sort_bytes(td_device *device, uint64_t count, uint64_t *bytes);
td_status td_emu_scan(td_stream *stream, const uint32_t *in, uint64_t *out, uint64_t count, void *room,
                      uint64_t room_bytes);
td_status td_emu_scan_bytes(td_device *device, uint64_t count, uint64_t *bytes);

/* The stream's earlier failure, told once. */
td_status td_emu_stream_check(td_emu_stream *stream);

/* Whether these bytes are the device's, in words that name `what` if not. */
td_status td_emu_check_range(const td_device *device, const void *memory, uint64_t bytes, const char *what);

/* Queues work of the device's own that takes so long. */
void td_emu_stream_work(td_emu_stream *stream, double duration_ns);

#endif
