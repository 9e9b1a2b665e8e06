/* Devices: everything that computes.
 *
 * A device has memory with a budget, and streams; a stream executes copies, fills and kernel launches in order. Calls
 * do not wait: a caller requests a completion (td_stream_notify), which the event loop delivers, or synchronizes the
 * stream (td_stream_synchronize). Engines use this header alone; behind it is a table of functions per kind of device
 * (cpu/, cuda/, emulator/) that only device.c and the devices use.
 *
 * Device memory is named by plain pointers that only kernels and copies may dereference. */
#ifndef TD_DEVICE_DEVICE_H
#define TD_DEVICE_DEVICE_H

#include "base/loop.h"
#include "base/pool.h"
#include "base/status.h"
#include "device/set.h"

typedef enum td_device_kind { TD_DEVICE_CPU, TD_DEVICE_EMULATOR, TD_DEVICE_CUDA, TD_DEVICE_KINDS } td_device_kind;

typedef struct td_device td_device;
typedef struct td_stream td_stream;
typedef struct td_event td_event; /* a place in a stream that other streams can wait for */
typedef struct td_set td_set;     /* devices whose kernels may wait for each other */

typedef struct td_device_properties {
    char model[96];          /* "NVIDIA H200" */
    uint64_t memory;         /* total bytes on the device */
    uint64_t memory_free;    /* free bytes when it was opened */
    uint64_t cache;          /* bytes of its last-level cache, 0: unknown */
    int multiprocessors;     /* for a slice: those of the slice */
    int block_threads;       /* maximum per block */
    uint64_t shared_bytes;   /* maximum shared memory of a block */
    bool cooperative;           /* supports cooperative launches */
    uint32_t cluster;        /* maximum blocks of a cluster; 0: no clusters */
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
    bool cooperative;         /* cooperative launch: all blocks are resident and may use a grid barrier */
    bool cluster;          /* one cluster, whose barrier is fastest; at most properties.cluster blocks */
} td_launch;

/* The connection between two devices. */
typedef struct td_link {
    double rate;       /* bytes per second of a copy; 0: unknown until measured */
    double latency_ns; /* of a copy; 0: unknown until measured */
    bool direct;       /* kernels can dereference the other device's pointers after td_device_enable_peer */
    bool same_memory;  /* slices of one GPU, or the same device: no peer access needed */
    bool enabled;      /* kernels of `to` may dereference pointers of `from` */
} td_link;

/* Traffic over a link in one direction. Only the emulator counts accesses of kernels. */
typedef struct td_link_counts {
    uint64_t copies, copied_bytes;
    uint64_t reads, read_bytes;     /* by kernels of `to` */
    uint64_t writes, written_bytes; /* by kernels of `from`; atomics that change a word count as writes */
} td_link_counts;

/* TD_TO_DEVICE_LIVE: from memory that the host keeps changing; every word arrives as it was before or after a
 * change. */
typedef enum td_copy_kind { TD_TO_DEVICE, TD_TO_HOST, TD_ON_DEVICE, TD_TO_DEVICE_LIVE } td_copy_kind;

/* Optional features of a kind of device. */
typedef enum td_feature { TD_FEATURE_COOPERATIVE, TD_FEATURE_HOST_READS, TD_FEATURE_SORT } td_feature;

/* A counter of a kind of device besides td_device_counts. */
typedef struct td_counter {
    const char *name;
    uint64_t value;
} td_counter;
enum { TD_COUNTERS = 16 }; /* maximum per device */

typedef struct td_device_ops {
    void (*close)(td_device *device);
    td_status (*allocate)(td_device *device, uint64_t bytes, void **out);
    void (*release)(td_device *device, void *memory);
    td_status (*pin)(td_device *device, void *host, uint64_t bytes, void **seen); /* seen: its address for kernels */
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
    td_status (*ended)(td_stream *stream, bool *out); /* whether it has no work left; without it: synchronize */
    /* Occupancy: maximum resident blocks of this size on the device; 0: none fits. */
    td_status (*occupancy)(td_device *device, const td_kernel *kernel, uint32_t threads, uint32_t shared_bytes,
                     uint32_t *blocks);
    /* Sorts `count` keys ascending with their values, in place; optional. `room` is device memory of at
     * least td_device_sort_bytes. */
    td_status (*sort)(td_stream *stream, uint32_t *keys, uint32_t *values, uint64_t count, void *room,
                      uint64_t room_bytes);
    td_status (*sort_bytes)(td_device *device, uint64_t count, uint64_t *bytes);
    /* Exclusive prefix sums of 32-bit numbers, in 64 bits; out[count] is the total. */
    td_status (*scan)(td_stream *stream, const uint32_t *in, uint64_t *out, uint64_t count, void *room,
                      uint64_t room_bytes);
    td_status (*scan_bytes)(td_device *device, uint64_t count, uint64_t *bytes);
    bool (*supports)(const td_device *device, td_feature feature);
    /* Between two devices of this kind; NULL: the kind has a single device. */
    td_status (*link)(td_device *from, td_device *to, td_link *out);
    td_status (*enable_peer)(td_device *device, td_device *peer);
    td_status (*copy_peer)(td_stream *stream, td_device *to_device, void *to, td_device *from_device, const void *from,
                           uint64_t bytes);
    void (*link_counts)(const td_device *from, const td_device *to, td_link_counts *out); /* optional: of kernels */
    /* All launches of a joint launch as one operation, ordered as td_streams_launch_joint says; without it events and
     * `launch` do it. `until` (NULL: none) is for tests: a member is lost, and the others wait for it until the word is
     * not 0. */
    td_status (*launch_joint)(td_stream *const *streams, int count, const td_kernel *const *kernels,
                              const td_launch *shapes, const void *const *arguments, size_t bytes,
                              const uint32_t *until);
    uint32_t (*joint_threads)(const td_device *device); /* optional: most threads of all members together */
    int (*counters)(const td_device *device, td_counter *out); /* how many there are; optional */
    uint64_t (*now)(td_device *device); /* ns of the device's own clock: virtual time, or the host's */
    uint64_t (*host_bytes)(td_device *device, uint64_t bytes, bool cooperative); /* of td_devices_host_bytes; optional */
    uint64_t (*idle_bytes)(td_device *device); /* of td_device_idle_bytes; optional */
    bool (*is_lost)(const td_device *device); /* of td_device_is_lost; optional */
    void (*drain)(td_device *device); /* optional: until this and all devices opened with it have no work */
    void (*poison)(td_device *device, void *memory, uint64_t bytes); /* for tests: fills the device's memory with garbage */
    void (*host_worked)(td_device *device, uint64_t bytes); /* optional: of kinds whose time is not the host's */
    uint64_t (*host_until)(td_device *device, uint64_t began, uint64_t bytes); /* likewise */
} td_device_ops;

/* Counters for reports. */
typedef struct td_device_counts {
    uint64_t launches, copies, bytes_to_device, bytes_to_host, bytes_on_device, fills;
    uint64_t waits;          /* of the host, for a stream */
    uint64_t bytes_to_peers; /* copied between devices by streams of this device */
} td_device_counts;

struct td_device {
    const td_device_ops *ops;
    td_device_kind kind;
    char name[48]; /* "cuda:0", "cuda:0/8#3", "emu:1", "emu:0/8#3", "cpu" */
    td_device_properties properties;
    td_loop *loop; /* event loop that delivers its completions */
    uint64_t budget; /* maximum bytes that may be allocated; 0: no limit */
    uint64_t now, peak; /* allocated bytes, and their peak */
    td_device_counts counts;
    struct td_device *next; /* next device that was opened with it */
    void *state; /* state of the kind */
    struct td_device_block *blocks; /* allocated blocks, used by device.c */
    uint32_t block_count, block_room;
    struct td_link_use *links; /* copies to other devices, used by device.c */
    uint32_t link_count;
    const void *caller; /* last caller, for messages that name its line */
    bool lost; /* by td_device_lose_at */
    bool dying; /* by td_device_lose_in_joint; lost when the host next waits for it */
};

struct td_stream {
    td_device *device;
    void *state; /* state of the kind; a kind may also embed this struct as the first member of its own */
};

/* Options for opening devices. */
typedef struct td_device_options {
    td_loop *loop;
    td_pool *pool;        /* pool of the cpu device */
    uint64_t gpu_memory;  /* the budget of every other device; 0: none */
    uint64_t seed;        /* seed of the emulator's random orders */
    bool keep_lost;       /* GPUs that this process has lost are opened all the same, and td_device_is_lost */
} td_device_options;

/* Opens the devices of a list: names separated by commas, "cpu", "cuda:0", "cuda:0/8" (eight slices), "cuda:0/8#3" (one
 * of them), "emu", "emu:2" (two), "emu:8@dgx1" (of a topology). They are chained by `next` in the list's order.
 * TD_USAGE naming the error in a name, TD_UNSUPPORTED or TD_DEVICE naming what is missing. td_devices_check does the
 * checks that need no device. */
td_status td_devices_open(td_device **out, const char *list, const td_device_options *options);
td_status td_devices_check(const char *list);
void td_devices_close(td_device *first);

/* Approximate host memory of the list's first GPU while kernels run (blocks one by one, or cooperative) and so many
 * bytes of its memory are allocated: an emulated GPU's memory is host memory. A real GPU needs none. No device is
 * opened. */
td_status td_devices_host_bytes(const char *list, uint64_t device_bytes, bool cooperative, uint64_t *out);

/* Memory of the list's first GPU, as far as it is known without opening it; 0: unknown, as of an emulated one. */
uint64_t td_devices_memory(const char *list);

/* td_devices_host_bytes of an open device. */
uint64_t td_device_host_bytes(td_device *device, uint64_t device_bytes, bool cooperative);

/* A refusal of device memory for td_refuse: bytes needed in total, and bytes allowed. */
td_refusal td_device_refusal(const td_device *device, uint64_t needed, uint64_t allowed);

/* Host memory that the device keeps for launches to come, beside its own memory: an emulated one does. */
uint64_t td_device_idle_bytes(td_device *device);

/* Whether this build and this machine have the kind; `why` (may be NULL) says why not. */
bool td_device_kind_present(td_device_kind kind, const char **why);
uint32_t td_devices_cuda_asks(void); /* how often CUDA's driver was asked for GPUs, which starts it; for tests */

/* Memory. `what` names the array in the message of a refusal, with the bytes requested, allocated and allowed. */
td_status td_device_new(td_device *device, void *out, uint64_t count, uint64_t bytes, const char *what);
void td_device_free(td_device *device, void *memory);
uint64_t td_device_left(const td_device *device); /* approximate bytes that can still be allocated */

td_status td_device_pin(td_device *device, void *host, uint64_t bytes, void *seen);
void td_device_unpin(td_device *device, void *host);

/* Streams. Calls return when the work is queued; later failures are reported by the next call, by the completion or by
 * td_stream_synchronize. Arguments of a launch are copied when it is queued. Host memory of a copy belongs to the copy
 * until the host knows that it has ended (synchronize, completion): a source must not change, a target must not be
 * read. CUDA copies a pageable source when the copy is queued; the emulator does so up to 64 KiB, and reports a larger
 * one, or a pinned one, that changes. */
td_status td_stream_open(td_device *device, td_stream **out);
td_status td_stream_open_low_priority(td_device *device, td_stream **out); /* blocks of other streams go first */
void td_stream_close(td_stream *stream); /* waits for queued work */
td_status td_stream_copy(td_stream *stream, void *to, const void *from, uint64_t bytes, td_copy_kind kind);
td_status td_stream_fill(td_stream *stream, void *to, int byte, uint64_t bytes);
td_status td_stream_launch(td_stream *stream, const td_kernel *kernel, td_launch shape, const void *arguments,
                           size_t bytes);
td_status td_stream_notify(td_stream *stream, td_handler handler, void *context, uint64_t value);
td_status td_stream_record(td_stream *stream, td_event **out);
td_status td_stream_wait(td_stream *stream, td_event *event);
void td_event_destroy(td_device *device, td_event *event);
td_status td_stream_synchronize(td_stream *stream);

/* Synchronizes several streams. Returns with the first failure of any of them, while the others may still be at work:
 * kernels of a joint launch wait for ever for a member that is lost, until td_set_break. */
td_status td_streams_synchronize(td_stream *const *streams, int count);

/* Links. td_device_link describes the connection of two devices: TD_UNSUPPORTED if they are of different kinds or were
 * not opened together. After td_device_enable_peer, kernels of `device` may dereference pointers of `peer`;
 * TD_UNSUPPORTED with the reason if the hardware cannot. td_stream_copy_peer needs no peer access: without it the bytes
 * go through pinned host memory. The stream belongs to either device. */
td_status td_device_link(td_device *from, td_device *to, td_link *out);
td_status td_device_enable_peer(td_device *device, td_device *peer);
td_status td_stream_copy_peer(td_stream *stream, td_device *to_device, void *to, td_device *from_device,
                              const void *from, uint64_t bytes);
td_link_counts td_device_link_counts(const td_device *from, const td_device *to); /* since they were opened */

/* Joint launches: kernels on several devices that run at the same time and wait for each other (TD_SET_BARRIER of
 * kernels/gpu/language.h).
 *
 * A set is made once for the devices: of one kind, opened together, each of which can follow the pointers of every
 * other (slices of one GPU, or td_device_enable_peer both ways); TD_UNSUPPORTED naming the pair otherwise. Each
 * member's arguments hold its td_set_member_of.
 *
 * td_streams_launch_joint queues one launch on a stream of each member, in the members' order; argument i is `bytes` bytes
 * for member i. All blocks of all members run at once, whatever shape.cooperative says. It begins after the work that was
 * queued before on all of these streams, and later work on any of them comes after the whole of it, on all devices: a
 * member may touch the others' memory at any moment. No launch may be larger than td_set_occupancy, and nothing else may
 * occupy the devices so that a member cannot begin.
 *
 * When a launch fails after others were queued, those would wait for ever: the set is broken then. A kernel of a broken
 * set ends at its next set barrier (all threads, on every member), whatever it would have done behind it. td_set_break
 * does the same at any time, from any thread: for a host that gives a run up while kernels wait for a member that will
 * not come. td_set_mend makes a broken set usable again; it waits for the streams. */
enum { TD_SET_MOST = 64 }; /* members */
td_status td_set_open(td_set **out, td_device *const *devices, int count);
void td_set_close(td_set *set); /* breaks it first */
td_set_member td_set_member_of(const td_set *set, int member);
td_status td_set_occupancy(td_set *set, int member, const td_kernel *kernel, uint32_t threads, uint32_t shared_bytes,
                           uint32_t *blocks);
td_status td_streams_launch_joint(td_set *set, td_stream *const *streams, const td_kernel *const *kernels,
                                  const td_launch *shapes, const void *const *arguments, size_t bytes);
void td_set_break(td_set *set);
td_status td_set_mend(td_set *set, td_stream *const *streams);

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

/* Advances virtual time: workers of the host have collected so many bytes for the device since the last call. */
void td_device_host_worked(td_device *device, uint64_t bytes);

/* Virtual time at which workers that began to collect so many bytes at this time end, for a completion; 0: real time.
 * Any thread may call. */
uint64_t td_device_host_until(td_device *device, uint64_t began, uint64_t bytes);
int td_device_counters(const td_device *device, td_counter out[TD_COUNTERS]); /* counters of the kind since it was
                                                                               * opened */

/* For tests: the Nth operation from now (allocation, copy, peer copy, fill, launch, synchronize, enabling of peer access)
 * of any device fails as if the device were lost; 0: none. */
void td_device_fail_at(uint64_t operation);

/* Whether the device is gone for good: no later operation on it will succeed, and its memory is lost. An operation that
 * failed for another reason (memory, a kernel that breaks a rule of the emulator) does not make a device lost. */
bool td_device_is_lost(const td_device *device);

/* For tests: from its Nth operation on, the device of this name fails for good; 0: none. Its memory is filled with garbage:
 * at once if the kind can finish the others' work before (the emulator), otherwise by td_device_bury. */
void td_device_lose_at(const char *name, uint64_t operation);

/* For tests: the device of this name is lost for good while its Nth joint launch from now runs; 0: none. The other members
 * wait for it until the set is broken. */
void td_device_lose_in_joint(const char *name, uint64_t launch);

/* For tests: the device of this name cannot be opened again, as a GPU that this process has lost; "": none. */
void td_device_lose_for_good(const char *name);

/* For an engine that continues without a lost device, when nothing runs on any device. */
void td_device_bury(td_device *device);

/* For tests: while on, no host memory can be pinned. */
void td_device_refuse_pins(bool on);

#endif
