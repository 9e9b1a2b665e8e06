/* The pool as a device: order within a stream, marks between streams, completions
 * through the loop, all workers in every kernel. */
#include "device/device.h"
#include "test.h"

#include <stdatomic.h>

enum { THREADS = 3 };

typedef struct setting {
    td_loop *loop;
    td_pool *pool;
    td_device *device;
    td_stream *a, *b;
} setting;

static setting start(void)
{
    setting s = {0};
    CHECK_OK(td_loop_create(&s.loop));
    CHECK_OK(td_pool_create(&s.pool, THREADS));
    CHECK_OK(td_devices_open(&s.device, "cpu", &(td_device_options){.loop = s.loop, .pool = s.pool}));
    CHECK_OK(td_stream_open(s.device, &s.a));
    CHECK_OK(td_stream_open(s.device, &s.b));
    return s;
}

static void stop(setting *s)
{
    td_stream_close(s->a);
    td_stream_close(s->b);
    td_devices_close(s->device);
    td_pool_destroy(s->pool);
    td_loop_destroy(s->loop);
}

typedef struct add_arguments {
    uint32_t *numbers;
    uint64_t count;
    uint32_t by;
} add_arguments;

static void add(const void *arguments, int worker, int workers)
{
    const add_arguments *a = arguments;
    for (uint64_t i = td_share(a->count, worker, workers); i < td_share(a->count, worker + 1, workers); i++)
        a->numbers[i] += a->by;
}

static void visit(const void *arguments, int worker, int workers)
{
    atomic_int *const *visits = arguments;
    atomic_fetch_add(*visits, workers == THREADS ? 1 << (8 * worker) : 1000000000);
}

static td_kernel kernel_of(void (*code)(const void *, int, int), const char *name)
{
    td_kernel kernel = {name, NULL};
    memcpy(&kernel.code, &code, sizeof code);
    return kernel;
}

static const td_launch once = {.blocks = 1, .threads = 1};

TEST(every_worker_takes_part_in_a_kernel)
{
    setting s = start();
    atomic_int visits = 0, *place = &visits;
    td_kernel kernel = kernel_of(visit, "visit");
    CHECK_OK(td_stream_launch(s.a, &kernel, once, &place, sizeof place));
    CHECK_OK(td_stream_synchronize(s.a));
    CHECK_EQ(visits, 0x010101);
    stop(&s);
}

TEST(a_stream_works_in_order)
{
    enum { COUNT = 3000000 }; /* more than one thread copies alone */
    setting s = start();
    uint32_t *numbers = NULL, *host = NULL;
    td_kernel kernel = kernel_of(add, "add");
    CHECK_OK(TD_NEW_ZEROED(&host, COUNT, "host"));
    CHECK_OK(td_device_new(s.device, &numbers, COUNT, sizeof *numbers, "numbers"));
    CHECK_OK(td_stream_fill(s.a, numbers, 0, COUNT * sizeof *numbers));
    for (uint32_t i = 1; i <= 10; i++)
        CHECK_OK(td_stream_launch(s.a, &kernel, once, &(add_arguments){numbers, COUNT, i}, sizeof(add_arguments)));
    CHECK_OK(td_stream_copy(s.a, host, numbers, COUNT * sizeof *numbers, TD_TO_HOST));
    CHECK_OK(td_stream_fill(s.a, numbers, 0, COUNT * sizeof *numbers));
    CHECK_OK(td_stream_synchronize(s.a));
    CHECK_EQ(host[0], 55);
    CHECK_EQ(host[COUNT - 1], 55);
    CHECK_EQ(s.device->counts.launches, 10);
    td_device_free(s.device, numbers);
    td_free(host);
    stop(&s);
}

typedef struct tally {
    uint64_t values[8];
    int count;
    td_status status;
} tally;

static void note(void *context, td_status status, uint64_t value)
{
    tally *seen = context;
    seen->values[seen->count++] = value;
    seen->status |= status;
}

TEST(completions_come_through_the_loop_in_order)
{
    setting s = start();
    tally seen = {0};
    uint32_t number = 0;
    td_kernel kernel = kernel_of(add, "add");
    for (uint64_t i = 0; i < 4; i++) {
        CHECK_OK(td_stream_launch(s.a, &kernel, once, &(add_arguments){&number, 1, 1}, sizeof(add_arguments)));
        CHECK_OK(td_stream_notify(s.a, note, &seen, i));
    }
    CHECK_OK(td_loop_run(s.loop));
    CHECK_EQ(seen.count, 4);
    CHECK_EQ(seen.status, TD_OK);
    for (int i = 0; i < 4; i++) CHECK_EQ(seen.values[i], i);
    CHECK_EQ(number, 4);
    stop(&s);
}

TEST(a_stream_waits_for_another_streams_event)
{
    setting s = start();
    td_kernel kernel = kernel_of(add, "add");
    for (int round = 0; round < 100; round++) {
        td_event *event = NULL;
        uint32_t number = 0, seen = 0;
        CHECK_OK(td_stream_launch(s.a, &kernel, once, &(add_arguments){&number, 1, 5}, sizeof(add_arguments)));
        CHECK_OK(td_stream_record(s.a, &event));
        CHECK_OK(td_stream_wait(s.b, event));
        CHECK_OK(td_stream_copy(s.b, &seen, &number, sizeof seen, TD_TO_HOST));
        td_event_destroy(s.device, event); /* before it is reached, perhaps */
        CHECK_OK(td_stream_synchronize(s.b));
        CHECK_EQ(seen, 5);
        CHECK_OK(td_stream_synchronize(s.a));
    }
    stop(&s);
}

TEST(kernels_of_two_streams_take_turns)
{
    setting s = start();
    uint32_t numbers[100] = {0};
    td_kernel kernel = kernel_of(add, "add");
    for (int i = 0; i < 50; i++) {
        CHECK_OK(td_stream_launch(s.a, &kernel, once, &(add_arguments){numbers, 100, 1}, sizeof(add_arguments)));
        CHECK_OK(td_stream_launch(s.b, &kernel, once, &(add_arguments){numbers, 100, 1}, sizeof(add_arguments)));
    }
    CHECK_OK(td_stream_synchronize(s.a));
    CHECK_OK(td_stream_synchronize(s.b));
    for (int i = 0; i < 100; i++) CHECK_EQ(numbers[i], 100);
    stop(&s);
}

TEST(closing_a_stream_waits_for_its_work)
{
    setting s = start();
    td_stream *stream = NULL;
    uint32_t number = 0;
    td_kernel kernel = kernel_of(add, "add");
    CHECK_OK(td_stream_open(s.device, &stream));
    for (int i = 0; i < 20; i++)
        CHECK_OK(td_stream_launch(stream, &kernel, once, &(add_arguments){&number, 1, 1}, sizeof(add_arguments)));
    td_stream_close(stream);
    CHECK_EQ(number, 20);
    stop(&s);
}

TEST(host_memory_is_the_devices_own)
{
    setting s = start();
    uint32_t number = 0, *seen = NULL, blocks = 0;
    td_kernel kernel = kernel_of(add, "add");
    CHECK_OK(td_device_pin(s.device, &number, sizeof number, &seen));
    CHECK(seen == &number);
    td_device_unpin(s.device, &number);
    CHECK_OK(td_device_occupancy(s.device, &kernel, 1, 0, &blocks));
    CHECK_EQ(blocks, THREADS);
    CHECK(td_device_supports(s.device, TD_FEATURE_HOST_READS));
    uint64_t before = td_device_clock(s.device);
    CHECK(td_device_clock(s.device) >= before);
    stop(&s);
}

TEST(a_failed_allocation_reaches_the_completion_or_the_caller)
{
    setting s = start();
    td_event *event = NULL;
    uint32_t number = 0;
    tally seen = {0};
    td_alloc_fail_at(1);
    CHECK_STATUS(td_stream_fill(s.a, &number, 0, sizeof number), TD_NO_MEMORY);
    td_alloc_fail_at(2);
    CHECK_STATUS(td_stream_record(s.a, &event), TD_NO_MEMORY);
    td_loop_expect(s.loop); /* room in its queue, so that the next request is the stream's */
    td_loop_complete(s.loop, 0, note, &seen, TD_OK, 0);
    CHECK_OK(td_loop_run(s.loop));
    td_alloc_fail_at(1);
    CHECK_OK(td_stream_notify(s.a, note, &seen, 1));
    CHECK_OK(td_loop_run(s.loop));
    CHECK_EQ(seen.count, 2);
    CHECK_EQ(seen.status, TD_NO_MEMORY);
    stop(&s);
}

TEST_MAIN
