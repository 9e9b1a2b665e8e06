/* An emulated device and its counters. */
#ifndef TD_DEVICE_EMULATOR_EMULATOR_H
#define TD_DEVICE_EMULATOR_EMULATOR_H

#include "device/emulator/model.h"
#include "device/emulator/order.h"
#include "device/emulator/regions.h"
#include "device/emulator/stale.h"

typedef struct td_emulator_counts {
    uint64_t launches;
    uint64_t blocks, threads, barriers, grid_barriers, set_barriers, exchanges;
    uint64_t bytes_read, bytes_written;     /* of device memory, by kernels */
    uint64_t host_bytes, peer_bytes;        /* of pinned host memory, of other GPUs */
    uint64_t accesses, atomics, shared_accesses;
    uint64_t kernel_ns;                     /* virtual time in kernels */
} td_emulator_counts;

/* Counted so far by a device of kind TD_DEVICE_EMULATOR. */
td_emulator_counts td_emulator_counted(const td_device *device);

struct td_emu_stream;
typedef struct td_emu_party td_emu_party; /* the streams of a joint launch (joint.c) */

/* Maximum queued operations; beyond these the host waits, as in CUDA. */
enum { TD_EMU_QUEUED = 256 };
enum { TD_EMU_PAYLOAD = 1024 }; /* bytes of an operation: a kernel's arguments, a pageable source */

typedef enum td_emu_kind {
    TD_EMU_COPY, TD_EMU_FILL, TD_EMU_LAUNCH, TD_EMU_SORT, TD_EMU_SCAN, /* work, which a failure drops */
    TD_EMU_NOTIFY, TD_EMU_RECORD, TD_EMU_WAIT
} td_emu_kind;

typedef struct td_emu_entry {
    struct td_emu_entry *next;
    td_emu_kind kind;
    uint64_t queued_at;    /* the host's time */
    uint64_t sequence;     /* entries queued before it, in all streams */
    td_emu_snapshot *snapshot; /* the host's vector clock at that time */
    td_emu_snapshot *host_snapshot; /* of a completion: the vector clock that the host learns */
    const void *caller;    /* caller that queued it */
    bool dropped;          /* an earlier operation of its stream failed */
    void *to;              /* of copies and fills; keys, sums */
    const void *from;      /* values, numbers */
    uint64_t bytes;        /* bytes, or elements */
    void *room;            /* of sorts */
    int from_device, to_device; /* of copies; -1: the host */
    bool inside;           /* of copies: within the memory of one GPU */
    bool pinned;           /* the host memory of a copy */
    bool digested;         /* the source must not change until it is copied */
    uint64_t digest;
    int byte;
    td_kernel kernel;
    td_launch shape;
    td_handler handler;
    void *context;
    uint64_t value;
    td_event *event;
    struct td_emu_party *party; /* of a joint launch */
    void *large;           /* a payload that is too large for its place */
    _Alignas(16) char payload[TD_EMU_PAYLOAD];
} td_emu_entry;

/* Shared by devices that were opened together. */
typedef struct td_emu_world {
    int open;          /* devices that are not yet closed */
    uint64_t host_now; /* the host's virtual time */
    uint64_t reached;  /* virtual time of the last operation */
    uint64_t turns;    /* number of pauses of launches so far */
    td_regions regions;
    td_topology topology;
    uint64_t taken[TD_EMULATED_DEVICES]; /* bytes allocated, by the first slice of a GPU */
    td_emu_order order;
    td_emu_stale stale;
    td_loop *loop;
    td_loop_clock clock;
    struct td_emu_stream *streams; /* all that are open, by device and number */
    uint64_t queued;               /* entries so far */
    uint32_t notifies;             /* completions that are queued */
    td_emu_entry *unused;
    td_emu_entry entries[TD_EMU_QUEUED];
} td_emu_world;

typedef struct td_emulator {
    td_emu_world *world;
    int number;
    uint32_t streams;    /* opened so far */
    uint64_t kernels_at; /* when its kernels end */
    struct td_emu_stream *paused; /* the stream whose launch waits for other GPUs */
    td_emu_machine machine;
    td_emulator_counts counts;
    td_link_counts to[TD_EMULATED_DEVICES]; /* accesses of all kernels over the links from here */
} td_emulator;

typedef struct td_emu_stream {
    td_stream stream; /* first */
    struct td_emu_stream *next;
    uint32_t number;  /* of its device's */
    uint32_t actor;
    uint64_t at;      /* end of all executed operations */
    bool in_progress; /* the first entry, a copy, has begun; its bytes move when it ends */
    uint64_t ends;
    bool paused;      /* the first entry, a launch, has begun and waits for kernels of other GPUs */
    uint64_t turn;    /* time of the pause, as an increasing number */
    td_emu_op op;     /* that launch */
    td_emu_entry *first, **last;
    td_status status; /* earlier failure, not reported yet */
    td_failure failure;
    uint32_t seen[TD_EMU_ACTORS]; /* its vector clock */
} td_emu_stream;

static inline td_emulator *td_emulator_of(const td_device *device) { return (td_emulator *)device->state; }
static inline td_emu_stream *td_emu_stream_of(td_stream *stream) { return (td_emu_stream *)stream; }

/* The queue (queue.c). */
void td_emu_queue_open(td_emu_world *world, td_loop *loop);
void td_emu_queue_close(td_emu_world *world);
uint64_t td_emu_host_now(td_emu_world *world);
bool td_emu_step(td_emu_world *world); /* executes the next operation; false: nothing is queued */
void td_emu_drain(td_emu_world *world, const td_device *device); /* executes all queued operations (NULL: of all
                                                                  * devices) */

td_status td_emu_stream_open(td_device *device, bool low_priority, td_stream **out);
void td_emu_stream_close(td_stream *stream);
td_status td_emu_stream_synchronize(td_stream *stream);
td_status td_emu_stream_ended(td_stream *stream, bool *out);
td_status td_emu_notify(td_stream *stream, td_handler handler, void *context, uint64_t value);
td_status td_emu_record(td_stream *stream, td_event **out);
td_status td_emu_wait_event(td_stream *stream, td_event *event);
void td_emu_event_destroy(td_event *event);

/* Returns the stream's earlier failure, once. */
td_status td_emu_stream_check(td_emu_stream *stream);
void td_emu_stream_fail(td_emu_stream *stream, td_status status); /* with the current message */

/* Queues an entry that the caller filled in; `payload` is copied. */
td_status td_emu_queue(td_emu_stream *stream, const td_emu_entry *what, const void *payload, size_t bytes);
static inline const void *td_emu_payload(const td_emu_entry *entry)
{
    return entry->large != NULL ? entry->large : entry->payload;
}

/* Operations, executed by queue.c at their virtual time (work.c, links.c, utilities.c). Work on the device returns its
 * duration. */
td_status td_emu_do_launch(td_emu_stream *stream, td_emu_entry *entry, double *duration_ns);
td_status td_emu_resume_launch(td_emu_stream *stream, td_emu_entry *entry, double *duration_ns);
bool td_emu_may_pause(td_emu_machine *machine);
bool td_emu_any_paused(const td_emu_world *world); /* a launch that waits for kernels of other GPUs */
td_status td_emu_do_fill(td_emu_stream *stream, td_emu_entry *entry, double *duration_ns);
td_status td_emu_do_sort(td_emu_stream *stream, td_emu_entry *entry, double *duration_ns);
td_status td_emu_do_scan(td_emu_stream *stream, td_emu_entry *entry, double *duration_ns);
td_status td_emu_start_copy(td_emu_stream *stream, td_emu_entry *entry);
td_status td_emu_end_copy(td_emu_stream *stream, td_emu_entry *entry);
uint64_t td_emu_copy_free(const td_emu_stream *stream, const td_emu_entry *entry); /* when its unit is free */
uint64_t td_emu_copy_begin(td_emu_stream *stream, const td_emu_entry *entry, uint64_t at); /* when it ends */
td_emu_op *td_emu_operate(td_emu_stream *stream, const td_emu_entry *entry, const char *what); /* begins its
                                                                                                * execution */

td_status td_emu_copy(td_stream *stream, void *to, const void *from, uint64_t bytes, td_copy_kind kind);
td_status td_emu_copy_peer(td_stream *stream, td_device *to_device, void *to, td_device *from_device, const void *from,
                           uint64_t bytes);
td_status td_emu_fill(td_stream *stream, void *to, int byte, uint64_t bytes);
td_status td_emu_launch(td_stream *stream, const td_kernel *kernel, const td_launch *shape, const void *arguments,
                        size_t bytes);
td_status td_emu_occupancy(td_device *device, const td_kernel *kernel, uint32_t threads, uint32_t shared_bytes,
                           uint32_t *blocks);

void td_emu_count(td_emulator *emulator, const td_emu_work *work, double duration_ns); /* a launch has ended */
void td_emu_note_regions(td_emu_world *world, const td_emu_op *op); /* and touched these regions, for those who free them */

/* Joint launches (joint.c). */
td_status td_emu_launch_joint(td_stream *const *streams, int count, const td_kernel *const *kernels,
                              const td_launch *shapes, const void *const *arguments, size_t bytes,
                              const uint32_t *until);
bool td_emu_is_held(const td_emu_entry *entry); /* a joint launch whose members wait for one that is lost */
uint32_t td_emu_joint_threads(const td_device *device);
bool td_emu_party_time(const td_emu_stream *stream, uint64_t *time); /* when its first entry could begin, if it could */
void td_emu_do_joint(td_emu_stream *lead, uint64_t at);
int td_emu_party_streams(const td_emu_party *party, td_emu_stream **out);
bool td_emu_is_dropped(const td_emu_entry *entry); /* it will not be carried out */
void td_emu_party_drop(td_emu_party *party, const td_emu_stream *stream); /* because this stream failed */
void td_emu_party_skip(td_emu_stream *stream, const td_emu_entry *entry);
void td_emu_party_leave(td_emu_party *party); /* an entry goes */

/* Links (links.c). */
td_status td_emu_link(td_device *from, td_device *to, td_link *out);
td_status td_emu_enable_peer(td_device *device, td_device *peer);
void td_emu_link_counts(const td_device *from, const td_device *to, td_link_counts *out);

/* Utilities: operations of a stream that run no kernel (utilities.c). */
td_status td_emu_sort(td_stream *stream, uint32_t *keys, uint32_t *values, uint64_t count, void *room,
                      uint64_t room_bytes);
td_status td_emu_sort_bytes(td_device *device, uint64_t count, uint64_t *bytes);
td_status td_emu_scan(td_stream *stream, const uint32_t *in, uint64_t *out, uint64_t count, void *room,
                      uint64_t room_bytes);
td_status td_emu_scan_bytes(td_device *device, uint64_t count, uint64_t *bytes);

/* Checks that these bytes are the device's; the message names `what`. */
td_status td_emu_check_range(const td_device *device, const void *memory, uint64_t bytes, const char *what);

#endif
