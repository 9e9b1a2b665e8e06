/* The CPU pool as a device. A stream is a queue with a thread that takes from it in order; a kernel is a function that
 * every worker of the pool calls, so only one kernel runs at a time, on whichever stream. Device memory is host memory.
 *
 * While kernels run, the pool belongs to the device: its owner runs no jobs on it. */
#include "device/kinds.h"

#include "base/account.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/machine.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

typedef void (*cpu_kernel)(const void *arguments, int worker, int workers);

typedef struct cpu_state {
    td_pool *pool;
    pthread_mutex_t kernels; /* held while a kernel runs */
    pthread_mutex_t lock;    /* guards all events */
    pthread_cond_t reached;
} cpu_state;

struct td_event {
    cpu_state *state;
    bool reached;
    int holders; /* references: the caller, and operations in queues */
};

typedef enum kind { COPY, FILL, LAUNCH, NOTIFY, MARK, WAIT } kind;

typedef struct entry {
    struct entry *next;
    kind kind;
    void *to;
    const void *from;
    uint64_t bytes;
    int byte;
    cpu_kernel code;
    td_handler handler;
    void *context;
    uint64_t value;
    td_event *event;
    _Alignas(16) char arguments[]; /* arguments of a launch */
} entry;

typedef struct cpu_stream {
    td_stream base;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    entry *first, **last; /* queued operations, including the current one */
    bool closing;
} cpu_stream;

static cpu_state *state_of(const td_device *device) { return device->state; }

/* Events. */

static void drop_event(td_event *event)
{
    pthread_mutex_lock(&event->state->lock);
    bool unused = --event->holders == 0;
    pthread_mutex_unlock(&event->state->lock);
    if (unused) td_free(event);
}

static void hold_event(td_event *event)
{
    pthread_mutex_lock(&event->state->lock);
    event->holders++;
    pthread_mutex_unlock(&event->state->lock);
}

static void reach_event(td_event *event)
{
    pthread_mutex_lock(&event->state->lock);
    event->reached = true;
    pthread_cond_broadcast(&event->state->reached);
    pthread_mutex_unlock(&event->state->lock);
    drop_event(event);
}

static void await_event(td_event *event)
{
    pthread_mutex_lock(&event->state->lock);
    while (!event->reached) pthread_cond_wait(&event->state->reached, &event->state->lock);
    pthread_mutex_unlock(&event->state->lock);
    drop_event(event);
}

/* The thread of a stream. */

static td_status run_kernel(void *context, int worker, int workers)
{
    const entry *self = context;
    self->code(self->arguments, worker, workers);
    return TD_OK;
}

static td_status copy_share(void *context, int worker, int workers)
{
    const entry *self = context;
    uint64_t begin = td_share(self->bytes, worker, workers), end = td_share(self->bytes, worker + 1, workers);
    memcpy((char *)self->to + begin, (const char *)self->from + begin, end - begin);
    return TD_OK;
}

static void run_on_all(cpu_state *state, td_worker_fn work, entry *self)
{
    pthread_mutex_lock(&state->kernels);
    td_pool_run(state->pool, work, self);
    pthread_mutex_unlock(&state->kernels);
}

static void execute(td_device *device, entry *self)
{
    enum { LARGE = 4 << 20 }; /* bytes from which all workers copy */
    cpu_state *state = state_of(device);
    switch (self->kind) {
    case COPY:
        if (self->bytes < LARGE) copy_share(self, 0, 1);
        else run_on_all(state, copy_share, self);
        break;
    case FILL: memset(self->to, self->byte, self->bytes); break;
    case LAUNCH: run_on_all(state, run_kernel, self); break;
    case NOTIFY: td_loop_complete(device->loop, 0, self->handler, self->context, TD_OK, self->value); break;
    case MARK: reach_event(self->event); break;
    case WAIT: await_event(self->event); break;
    }
}

/* An entry leaves the queue when it has ended: an empty queue is an idle stream. */
static void *stream_main(void *argument)
{
    cpu_stream *stream = argument;
    td_account_help(td_account_of(stream));
    pthread_mutex_lock(&stream->lock);
    for (;;) {
        entry *first = stream->first;
        if (first == NULL && stream->closing) break;
        if (first == NULL) {
            pthread_cond_wait(&stream->changed, &stream->lock);
            continue;
        }
        pthread_mutex_unlock(&stream->lock);
        execute(stream->base.device, first);
        pthread_mutex_lock(&stream->lock);
        stream->first = first->next;
        if (stream->first == NULL) stream->last = &stream->first;
        td_free(first);
        pthread_cond_broadcast(&stream->changed);
    }
    pthread_mutex_unlock(&stream->lock);
    return NULL;
}

static td_status enqueue(td_stream *base, const entry *what, const void *arguments, size_t bytes)
{
    cpu_stream *stream = (cpu_stream *)base;
    void *block = NULL;
    TD_CHECK(td_new_bytes(&block, sizeof *what + bytes, 1, "operation of a stream"));
    entry *mine = block;
    *mine = *what;
    if (bytes > 0) memcpy(mine->arguments, arguments, bytes);
    pthread_mutex_lock(&stream->lock);
    *stream->last = mine;
    stream->last = &mine->next;
    pthread_cond_broadcast(&stream->changed);
    pthread_mutex_unlock(&stream->lock);
    return TD_OK;
}

/* The table. */

static void cpu_close(td_device *device)
{
    cpu_state *state = state_of(device);
    pthread_mutex_destroy(&state->kernels);
    pthread_mutex_destroy(&state->lock);
    pthread_cond_destroy(&state->reached);
    td_free(state);
}

static td_status cpu_allocate(td_device *device, uint64_t bytes, void **out)
{
    (void)device;
    return td_new_bytes(out, bytes, 1, "device memory");
}

static void cpu_release(td_device *device, void *memory)
{
    (void)device;
    td_free(memory);
}

static td_status cpu_pin(td_device *device, void *host, uint64_t bytes, void **seen)
{
    (void)device, (void)bytes;
    *seen = host;
    return TD_OK;
}

static void cpu_unpin(td_device *device, void *host) { (void)device, (void)host; }

static void free_stream(cpu_stream *stream)
{
    pthread_mutex_destroy(&stream->lock);
    pthread_cond_destroy(&stream->changed);
    td_free(stream);
}

static td_status cpu_stream_open(td_device *device, bool low_priority, td_stream **out)
{
    (void)low_priority;
    cpu_stream *stream = NULL;
    TD_CHECK(TD_NEW_ZEROED(&stream, 1, "stream"));
    stream->base.device = device;
    stream->last = &stream->first;
    pthread_mutex_init(&stream->lock, NULL);
    pthread_cond_init(&stream->changed, NULL);
    int error = pthread_create(&stream->thread, NULL, stream_main, stream);
    if (error != 0) {
        free_stream(stream);
        return td_refuse_thread(error, 1, "cpu: cannot start the thread of a stream");
    }
    *out = &stream->base;
    return TD_OK;
}

static void cpu_stream_close(td_stream *base)
{
    cpu_stream *stream = (cpu_stream *)base;
    pthread_mutex_lock(&stream->lock);
    stream->closing = true;
    pthread_cond_broadcast(&stream->changed);
    pthread_mutex_unlock(&stream->lock);
    pthread_join(stream->thread, NULL);
    free_stream(stream);
}

static td_status cpu_copy(td_stream *stream, void *to, const void *from, uint64_t bytes, td_copy_kind copy)
{
    (void)copy;
    return enqueue(stream, &(entry){.kind = COPY, .to = to, .from = from, .bytes = bytes}, NULL, 0);
}

static td_status cpu_fill(td_stream *stream, void *to, int byte, uint64_t bytes)
{
    return enqueue(stream, &(entry){.kind = FILL, .to = to, .byte = byte, .bytes = bytes}, NULL, 0);
}

/* The launch size has no meaning here: all workers execute every kernel. */
static td_status cpu_launch(td_stream *stream, const td_kernel *kernel, const td_launch *shape, const void *arguments,
                            size_t bytes)
{
    entry what = {.kind = LAUNCH};
    (void)shape;
    memcpy(&what.code, &kernel->code, sizeof what.code); /* C has no conversion from object to function pointers */
    return enqueue(stream, &what, arguments, bytes);
}

/* An announced completion must arrive, so a failure is delivered as its status. */
static td_status cpu_notify(td_stream *stream, td_handler handler, void *context, uint64_t value)
{
    entry what = {.kind = NOTIFY, .handler = handler, .context = context, .value = value};
    td_loop_expect(stream->device->loop);
    td_status status = enqueue(stream, &what, NULL, 0);
    if (status != TD_OK) td_loop_complete(stream->device->loop, 0, handler, context, status, value);
    return TD_OK;
}

static td_status cpu_record(td_stream *stream, td_event **out)
{
    td_event *event = NULL;
    TD_CHECK(TD_NEW_ZEROED(&event, 1, "event"));
    event->state = state_of(stream->device);
    event->holders = 2;
    td_status status = enqueue(stream, &(entry){.kind = MARK, .event = event}, NULL, 0);
    if (status != TD_OK) td_free(event);
    else *out = event;
    return status;
}

static td_status cpu_wait(td_stream *stream, td_event *event)
{
    hold_event(event);
    td_status status = enqueue(stream, &(entry){.kind = WAIT, .event = event}, NULL, 0);
    if (status != TD_OK) drop_event(event);
    return status;
}

static td_status cpu_synchronize(td_stream *base)
{
    cpu_stream *stream = (cpu_stream *)base;
    pthread_mutex_lock(&stream->lock);
    while (stream->first != NULL) pthread_cond_wait(&stream->changed, &stream->lock);
    pthread_mutex_unlock(&stream->lock);
    return TD_OK;
}

static td_status cpu_occupancy(td_device *device, const td_kernel *kernel, uint32_t threads, uint32_t shared_bytes,
                         uint32_t *blocks)
{
    (void)kernel;
    *blocks = threads == 1 && shared_bytes == 0 ? (uint32_t)device->properties.multiprocessors : 0;
    return TD_OK;
}

static bool cpu_supports(const td_device *device, td_feature feature)
{
    (void)device;
    return feature == TD_FEATURE_COOPERATIVE || feature == TD_FEATURE_HOST_READS;
}

static uint64_t cpu_now(td_device *device)
{
    (void)device;
    return td_clock_ns();
}

static const td_device_ops cpu_ops = {
    .close = cpu_close,
    .allocate = cpu_allocate,
    .release = cpu_release,
    .pin = cpu_pin,
    .unpin = cpu_unpin,
    .stream_open = cpu_stream_open,
    .stream_close = cpu_stream_close,
    .copy = cpu_copy,
    .fill = cpu_fill,
    .launch = cpu_launch,
    .notify = cpu_notify,
    .record = cpu_record,
    .wait = cpu_wait,
    .event_destroy = drop_event,
    .synchronize = cpu_synchronize,
    .occupancy = cpu_occupancy,
    .supports = cpu_supports,
    .now = cpu_now,
};

static void describe(td_device_properties *out, const td_pool *pool)
{
    char processor[TD_MACHINE_TEXT];
    td_machine_processor(processor);
    snprintf(out->model, sizeof out->model, "%s", processor);
    out->memory = td_machine_memory();
    out->memory_free = td_machine_memory_free();
    out->multiprocessors = td_pool_threads(pool);
    out->block_threads = 1;
    out->cooperative = true;
    out->reads_host = true;
}

/* Its memory counts in the process's budget, like all host memory. */
td_status td_cpu_device_open(td_device **out, const td_device_options *options)
{
    td_status status = TD_OK;
    td_device *device = NULL;
    cpu_state *state = NULL;
    TD_TRY(TD_NEW_ZEROED(&device, 1, "device"));
    TD_TRY(TD_NEW_ZEROED(&state, 1, "device"));
    state->pool = options->pool;
    pthread_mutex_init(&state->kernels, NULL);
    pthread_mutex_init(&state->lock, NULL);
    pthread_cond_init(&state->reached, NULL);
    *device = (td_device){.ops = &cpu_ops, .kind = TD_DEVICE_CPU, .name = "cpu", .loop = options->loop, .state = state};
    describe(&device->properties, options->pool);
    *out = device;
    return TD_OK;
done:
    td_free(device);
    return status;
}
