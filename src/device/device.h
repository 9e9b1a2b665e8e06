/* Devices: everything that computes.
 *
 * A device has memory with a budget and streams; a stream does what it is given
 * in order: copies, fills, launches of kernels. Nothing waits: whoever wants to
 * know asks for a completion (td_stream_notify), which the event loop delivers,
 * or waits for the stream to run dry (td_stream_synchronize). The engines see this
 * header alone; what stands behind it is a table of functions per kind of device
 * (cpu/, cuda/, emulator/) that only device.c and the devices themselves use.
 *
 * Device memory is named by plain pointers that only kernels and copies may
 * follow.
 */
#ifndef TD_DEVICE_DEVICE_H
#define TD_DEVICE_DEVICE_H

#include "base/loop.h"
#include "base/pool.h"
#include "base/status.h"

typedef enum td_device_kind { TD_DEVICE_CPU, TD_DEVICE_EMULATOR, TD_DEVICE_CUDA, TD_DEVICE_KINDS } td_device_kind;

typedef struct td_device td_device;
typedef struct td_stream td_stream;
typedef struct td_event td_event; /* a place in a stream that other streams can wait for */

typedef struct td_device_properties {
    char model[96];          /* "NVIDIA H200" */
    uint64_t memory;         /* bytes on the device, all of them */
    uint64_t memory_free;    /* bytes that could be allocated when it was opened */
    uint64_t cache;          /* bytes of its last-level cache, 0: unknown */
    int multiprocessors;     /* of a slice: its own */
    int block_threads;       /* most in a block */
    uint64_t shared_bytes;   /* most shared memory of a block */
    bool cooperative;           /* launches of blocks that all run at once are possible */
    uint32_t cluster;        /* most blocks that can run side by side with a barrier of their own; 0: none */
    bool reads_host;         /* kernels can read pinned host memory */
} td_device_properties;

/* A kernel is code for one kind of device: a host function for the emulator and
 * the cpu, a device function's handle for CUDA. */
typedef struct td_kernel {
    const char *name;
    const void *code;
} td_kernel;

typedef struct td_launch {
    uint32_t blocks, threads;
    uint32_t shared_bytes; /* dynamic shared memory of a block */
    bool cooperative;         /* all blocks at once, so that they may wait for each other */
    bool cluster;          /* and side by side, where waiting takes least; no more than properties.cluster of them */
} td_launch;

/* How bytes get from one device to another. */
typedef struct td_link {
    double rate;       /* bytes per second of a copy; 0: not known before it is measured */
    double latency_ns; /* of a copy; 0: likewise */
    bool direct;       /* kernels of the one device may follow pointers of the other, once td_device_enable_peer allows it */
    bool same_memory;  /* slices of one GPU, or the device itself: nothing has to be enabled */
    bool enabled;      /* kernels of `to` may follow pointers of `from` */
} td_link;

/* What crossed a link, in its direction. Only the emulator sees the accesses of kernels. */
typedef struct td_link_counts {
    uint64_t copies, copied_bytes;
    uint64_t reads, read_bytes;     /* by kernels of `to` */
    uint64_t writes, written_bytes; /* by kernels of `from`; atomics that change a word count as writes */
} td_link_counts;

/* TD_TO_DEVICE_LIVE: from memory that the host goes on changing; every word arrives as it was before or after a change. */
typedef enum td_copy_kind { TD_TO_DEVICE, TD_TO_HOST, TD_ON_DEVICE, TD_TO_DEVICE_LIVE } td_copy_kind;

/* What a kind of device can be asked for, beyond what all have. */
typedef enum td_feature { TD_FEATURE_COOPERATIVE, TD_FEATURE_HOST_READS, TD_FEATURE_SORT } td_feature;

/* What a kind of device counts besides td_device_counts. */
typedef struct td_counter {
    const char *name;
    uint64_t value;
} td_counter;
enum { TD_COUNTERS = 16 }; /* most of a device */

typedef struct td_device_ops {
    void (*close)(td_device *device);
    td_status (*allocate)(td_device *device, uint64_t bytes, void **out);
    void (*release)(td_device *device, void *memory);
    td_status (*pin)(td_device *device, void *host, uint64_t bytes, void **seen); /* seen: the kernels' address of it */
    void (*unpin)(td_device *device, void *host);
    td_status (*stream_open)(td_device *device, bool low_priority, td_stream **out);
    void (*stream_close)(td_stream *stream);
    td_status (*copy)(td_stream *stream, void *to, const void *from, uint64_t bytes, td_copy_kind kind);
    td_status (*fill)(td_stream *stream, void *to, int byte, uint64_t bytes);
    td_status (*launch)(td_stream *stream, const td_kernel *kernel, const td_launch *shape, const void *arguments,
                        size_t bytes);
    td_status (*notify)(td_stream *stream, td_handler handler, void *context, uint64_t value);
    td_status (*record)(td_stream *stream, td_event **out);
    td_status (*wait)(td_stream *stream, td_event *event);
    void (*event_destroy)(td_event *event);
    td_status (*synchronize)(td_stream *stream);
    /* Most blocks of this shape that can run at once; 0: none fits. */
    td_status (*occupancy)(td_device *device, const td_kernel *kernel, uint32_t threads, uint32_t shared_bytes,
                     uint32_t *blocks);
    /* Sorts `count` keys ascending with their values, in place; optional. `room` is device memory of at
     * least td_device_sort_bytes. */
    td_status (*sort)(td_stream *stream, uint32_t *keys, uint32_t *values, uint64_t count, void *room,
                      uint64_t room_bytes);
    td_status (*sort_bytes)(td_device *device, uint64_t count, uint64_t *bytes);
    /* Sums of all before each, of 32-bit numbers into 64-bit ones; out[count] is the total. */
    td_status (*scan)(td_stream *stream, const uint32_t *in, uint64_t *out, uint64_t count, void *room,
                      uint64_t room_bytes);
    td_status (*scan_bytes)(td_device *device, uint64_t count, uint64_t *bytes);
    bool (*supports)(const td_device *device, td_feature feature);
    /* Between two devices of this kind; without them a kind has one device, whose memory is its own. */
    td_status (*link)(td_device *from, td_device *to, td_link *out);
    td_status (*enable_peer)(td_device *device, td_device *peer);
    td_status (*copy_peer)(td_stream *stream, td_device *to_device, void *to, td_device *from_device, const void *from,
                           uint64_t bytes);
    void (*link_counts)(const td_device *from, const td_device *to, td_link_counts *out); /* optional: of kernels */
    int (*counters)(const td_device *device, td_counter *out); /* how many there are; optional */
    uint64_t (*now)(td_device *device); /* ns of the device's own clock: virtual time, or the host's */
    uint64_t (*host_bytes)(td_device *device, uint64_t bytes, bool cooperative); /* of td_devices_host_bytes; optional */
    uint64_t (*stack_bytes)(td_device *device, bool cooperative); /* of td_device_stack_bytes; optional */
    uint64_t (*idle_bytes)(td_device *device); /* of td_device_idle_bytes; optional */
    void (*host_worked)(td_device *device, uint64_t bytes); /* optional: of kinds whose time is not the host's */
    uint64_t (*host_until)(td_device *device, uint64_t began, uint64_t bytes); /* likewise */
} td_device_ops;

/* What is counted, for reports. */
typedef struct td_device_counts {
    uint64_t launches, copies, bytes_to_device, bytes_to_host, bytes_on_device, fills;
    uint64_t bytes_to_peers; /* by streams of this device, from one device to another */
} td_device_counts;

struct td_device {
    const td_device_ops *ops;
    td_device_kind kind;
    char name[48]; /* "cuda:0", "cuda:0/8#3", "emu:1", "cpu" */
    td_device_properties properties;
    td_loop *loop; /* where its completions go */
    uint64_t budget; /* bytes that may be taken, 0: all there are */
    uint64_t now, peak; /* bytes taken */
    td_device_counts counts;
    struct td_device *next; /* of those opened together */
    void *state; /* the kind's own */
    struct td_device_block *blocks; /* what is allocated, device.c's own */
    uint32_t block_count, block_room;
    struct td_link_use *links; /* copies to other devices, device.c's own */
    uint32_t link_count;
    const void *caller; /* the code that called last, for messages that name its line */
};

struct td_stream {
    td_device *device;
    void *state; /* the kind's own; a kind may also embed this struct at the begin of its own */
};

/* How devices are opened. */
typedef struct td_device_options {
    td_loop *loop;
    td_pool *pool;        /* the cpu device's */
    uint64_t gpu_memory;  /* the budget of every other device; 0: none */
    uint64_t seed;        /* of the emulator's orders */
} td_device_options;

/* Opens the devices of a list: names separated by commas, "cpu", "cuda:0", "cuda:0/8" (eight slices),
 * "cuda:0/8#3" (one of them), "emu", "emu:2" (two), "emu:8@dgx1" (of a topology). They are chained by
 * `next`, in the list's order. TD_USAGE naming what is wrong with a name, TD_UNSUPPORTED or TD_DEVICE what
 * is missing. td_devices_check does what needs no device. */
td_status td_devices_open(td_device **out, const char *list, const td_device_options *options);
td_status td_devices_check(const char *list);
void td_devices_close(td_device *first);

/* Host memory that the list's first GPU takes while kernels run on it (blocks one by one, or as many `cooperative` as it
 * has room for) and so many bytes of its own memory are taken, about: an emulated one has no other. A real one takes
 * none. No device is opened. */
td_status td_devices_host_bytes(const char *list, uint64_t device_bytes, bool cooperative, uint64_t *out);

/* The same of a device that is open. */
uint64_t td_device_host_bytes(td_device *device, uint64_t device_bytes, bool cooperative);

/* What td_refuse says of a device's memory: bytes needed in all, and bytes allowed. */
td_refusal td_device_refusal(const td_device *device, uint64_t needed, uint64_t allowed);

/* Host memory that the stacks of its threads take beside that, where the device is emulated. */
uint64_t td_device_stack_bytes(td_device *device, bool cooperative);

/* Host memory that the device keeps for launches to come, beside its own memory: an emulated one does. */
uint64_t td_device_idle_bytes(td_device *device);

/* Whether this build and this machine have the kind; `why` (may be NULL) says why not. */
bool td_device_kind_present(td_device_kind kind, const char **why);

/* Memory. `what` goes into the message of a refusal, with the bytes wanted, taken and allowed. */
td_status td_device_new(td_device *device, void *out, uint64_t count, uint64_t bytes, const char *what);
void td_device_free(td_device *device, void *memory);
uint64_t td_device_left(const td_device *device); /* bytes that can still be taken, about */

td_status td_device_pin(td_device *device, void *host, uint64_t bytes, void *seen);
void td_device_unpin(td_device *device, void *host);

/* Streams. Calls return once the work is queued; what goes wrong later is reported by the next call, by the
 * completion or by td_stream_synchronize. Arguments of a launch are taken when it is queued. Host memory of a copy belongs
 * to the copy until the host knows that it is done (synchronize, completion): a source must not change, a target must not
 * be read. CUDA takes a pageable source when the copy is queued; the emulator does so up to 64 KiB, and
 * reports a larger one, or a pinned one, that changes. */
td_status td_stream_open(td_device *device, td_stream **out);
td_status td_stream_open_low_priority(td_device *device, td_stream **out); /* its blocks let those of others go first */
void td_stream_close(td_stream *stream); /* waits for what is under way */
td_status td_stream_copy(td_stream *stream, void *to, const void *from, uint64_t bytes, td_copy_kind kind);
td_status td_stream_fill(td_stream *stream, void *to, int byte, uint64_t bytes);
td_status td_stream_launch(td_stream *stream, const td_kernel *kernel, td_launch shape, const void *arguments,
                           size_t bytes);
td_status td_stream_notify(td_stream *stream, td_handler handler, void *context, uint64_t value);
td_status td_stream_record(td_stream *stream, td_event **out);
td_status td_stream_wait(td_stream *stream, td_event *event);
void td_event_destroy(td_device *device, td_event *event);
td_status td_stream_synchronize(td_stream *stream);

/* Links. td_device_link says how bytes get from one device to another: TD_UNSUPPORTED where both are of different kinds
 * or were not opened together. After td_device_enable_peer kernels of `device` may follow pointers of `peer`;
 * TD_UNSUPPORTED with the reason where the hardware cannot. td_stream_copy_peer needs no access: without it the bytes
 * go through pinned host memory. The stream is one of either device. */
td_status td_device_link(td_device *from, td_device *to, td_link *out);
td_status td_device_enable_peer(td_device *device, td_device *peer);
td_status td_stream_copy_peer(td_stream *stream, td_device *to_device, void *to, td_device *from_device,
                              const void *from, uint64_t bytes);
td_link_counts td_device_link_counts(const td_device *from, const td_device *to); /* since they were opened */

/* TD_UNSUPPORTED where the device does not support TD_FEATURE_SORT. Keys and values are sorted in place; scan writes
 * count + 1 sums. `room` is device memory of as many bytes as the device says. */
td_status td_device_sort_bytes(td_device *device, uint64_t count, uint64_t *bytes);
td_status td_device_scan_bytes(td_device *device, uint64_t count, uint64_t *bytes);
td_status td_stream_sort(td_stream *stream, uint32_t *keys, uint32_t *values, uint64_t count, void *room,
                         uint64_t room_bytes);
td_status td_stream_scan(td_stream *stream, const uint32_t *in, uint64_t *out, uint64_t count, void *room,
                         uint64_t room_bytes);

td_status td_device_occupancy(td_device *device, const td_kernel *kernel, uint32_t threads, uint32_t shared_bytes,
                        uint32_t *blocks);
bool td_device_supports(const td_device *device, td_feature feature);
uint64_t td_device_clock(td_device *device);

/* The host's workers collected so many bytes for the device since it was last told anything: virtual time goes on. */
void td_device_host_worked(td_device *device, uint64_t bytes);

/* When workers that began to collect so many bytes at this time are through, for a completion; 0: when they are. Any
 * thread. */
uint64_t td_device_host_until(td_device *device, uint64_t began, uint64_t bytes);
int td_device_counters(const td_device *device, td_counter out[TD_COUNTERS]); /* the kind's own, since it was opened */

/* For tests: the Nth operation from now (allocation, copy, peer copy, fill, launch, synchronize, enabling of peer access)
 * of any device fails as if the device were lost; 0: none. */
void td_device_fail_at(uint64_t operation);

/* For tests: while on, no host memory can be pinned. */
void td_device_refuse_pins(bool on);

#endif
