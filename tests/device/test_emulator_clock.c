/* The emulator's virtual time and counters: modelled, in order, and the same twice. */
#include "device/emulator/emulator.h"
#include "emulator_bench.h"

enum { MIB = 1 << 20 };

typedef struct outcome {
    td_emulator_counts counts;
    uint64_t time;
} outcome;

static outcome run_some(uint64_t seed)
{
    bench b = bench_open("emu", seed);
    CHECK_OK(bench_run(&b, "block_sum", (td_launch){.blocks = 16, .threads = 256}));
    CHECK_OK(td_stream_fill(b.stream, b.arguments.out, 0, BENCH_WORDS * 4));
    CHECK_OK(bench_run(&b, "compact", (td_launch){.blocks = 16, .threads = 256}));
    b.arguments.count = 8;
    CHECK_OK(bench_run(&b, "grid_rounds", (td_launch){.blocks = 4, .threads = 64, .cooperative = true}));
    outcome out = {td_emulator_counted(b.device), td_device_clock(b.device)};
    bench_close(&b);
    return out;
}

TEST(the_same_commands_take_the_same_virtual_time_and_counts)
{
    for (uint64_t seed = 0; seed < 3; seed++) {
        outcome first = run_some(seed), second = run_some(seed);
        CHECK_EQ(first.time, second.time);
        CHECK(memcmp(&first.counts, &second.counts, sizeof first.counts) == 0);
        CHECK(first.time > 0);
    }
}

TEST(kernels_are_counted)
{
    outcome out = run_some(7);
    CHECK_EQ(out.counts.launches, 3);
    CHECK_EQ(out.counts.blocks, 16 + 16 + 4);
    CHECK_EQ(out.counts.threads, 4096 + 4096 + 256);
    CHECK_EQ(out.counts.barriers, 16 * 9);
    CHECK_EQ(out.counts.grid_barriers, 8);
    if (!td_watch_built()) SKIP("this build watches no accesses");
    CHECK_EQ(out.counts.bytes_written, 16 * 4 + (BENCH_WORDS + 2) / 3 * 4 + 8 * 4 * 4);
    CHECK_EQ(out.counts.atomics, BENCH_WORDS / 32);
    CHECK(out.counts.bytes_read >= 2 * BENCH_WORDS * 4);
    CHECK(out.counts.shared_accesses > 2 * BENCH_WORDS);
}

TEST(uneven_work_takes_longer_than_even_work)
{
    if (!td_watch_built()) SKIP("this build watches no accesses");
    uint64_t took[2];
    for (uint32_t uneven = 0; uneven < 2; uneven++) {
        bench b = bench_open("emu:1@dgx1", 1);
        b.arguments.choice = uneven;
        CHECK_OK(bench_run(&b, "read_many", (td_launch){.blocks = 1, .threads = 256}));
        took[uneven] = td_emulator_counted(b.device).kernel_ns;
        bench_close(&b);
    }
    CHECK(took[1] > 3 * took[0]);
}

static uint64_t copy_time(const char *devices, bool pinned, uint64_t bytes)
{
    bench b = bench_open(devices, 1);
    char *host = NULL;
    void *memory = NULL, *seen = NULL;
    CHECK_OK(TD_NEW_ZEROED(&host, bytes, "host memory"));
    CHECK_OK(td_device_new(b.device, &memory, bytes, 1, "device memory"));
    if (pinned) CHECK_OK(td_device_pin(b.device, host, bytes, &seen));
    CHECK_OK(td_stream_synchronize(b.stream));
    uint64_t start = td_device_clock(b.device);
    CHECK_OK(td_stream_copy(b.stream, memory, host, bytes, TD_TO_DEVICE));
    CHECK_OK(td_stream_synchronize(b.stream));
    uint64_t took = td_device_clock(b.device) - start;
    if (pinned) td_device_unpin(b.device, host);
    td_device_free(b.device, memory);
    td_free(host);
    bench_close(&b);
    return took;
}

TEST(copies_take_as_long_as_the_link_says)
{
    CHECK_EQ(copy_time("emu:1@h200", true, 32 * MIB), 6100 + (uint64_t)(32 * MIB / 54.7) + 1 + 5000);
    CHECK(copy_time("emu:1@h200", false, 32 * MIB) > 7 * copy_time("emu:1@h200", true, 32 * MIB));
    CHECK(copy_time("emu:1@pcie3", true, 32 * MIB) > 4 * copy_time("emu:1@pcie5", true, 32 * MIB));
}

typedef struct arrivals {
    uint64_t times[8], values[8];
    int count;
    td_loop *loop;
} arrivals;

static void arrive(void *context, td_status status, uint64_t value)
{
    arrivals *all = context;
    CHECK_OK(status);
    all->values[all->count] = value;
    all->times[all->count++] = td_loop_time(all->loop);
}

TEST(completions_of_all_devices_come_in_the_order_of_virtual_time)
{
    td_loop *loop = NULL;
    td_device *devices = NULL;
    td_stream *streams[3];
    static char host[MIB];
    char *memory[3];
    arrivals all = {.count = 0};
    CHECK_OK(td_loop_create(&loop));
    all.loop = loop;
    CHECK_OK(td_devices_open(&devices, "emu:3@pcie4", &(td_device_options){.loop = loop}));
    int i = 0;
    for (td_device *device = devices; device != NULL; device = device->next, i++) {
        CHECK_OK(td_stream_open(device, &streams[i]));
        CHECK_OK(td_device_new(device, &memory[i], MIB, 1, "memory"));
        CHECK_OK(td_stream_copy(streams[i], memory[i], host, MIB >> i, TD_TO_DEVICE));
        CHECK_OK(td_stream_notify(streams[i], arrive, &all, (uint64_t)i));
    }
    CHECK_OK(td_loop_run(loop));
    CHECK_EQ(all.count, 3);
    for (int k = 0; k < 3; k++) CHECK_EQ(all.values[k], 2 - k);
    CHECK(all.times[0] < all.times[1] && all.times[1] < all.times[2]);
    CHECK(td_device_clock(devices) >= all.times[2]);
    for (int k = 0; k < 3; k++) td_stream_close(streams[k]);
    td_devices_close(devices);
    td_loop_destroy(loop);
}

TEST(a_stream_waits_for_a_mark_of_another)
{
    bench b = bench_open("emu", 1);
    td_stream *other = NULL;
    td_event *event = NULL;
    static char host[MIB];
    char *memory = NULL;
    CHECK_OK(td_stream_synchronize(b.stream));
    CHECK_OK(td_stream_open(b.device, &other));
    CHECK_OK(td_device_new(b.device, &memory, MIB, 1, "memory"));
    uint64_t start = td_device_clock(b.device);
    CHECK_OK(td_stream_copy(b.stream, memory, host, MIB, TD_TO_DEVICE));
    CHECK_OK(td_stream_record(b.stream, &event));
    CHECK_OK(td_stream_synchronize(other));
    CHECK_EQ(td_device_clock(b.device), start + 5000);
    CHECK_OK(td_stream_wait(other, event));
    CHECK_OK(td_stream_synchronize(other));
    CHECK(td_device_clock(b.device) >= start + 6000 + MIB / 12);
    td_event_destroy(b.device, event);
    td_device_free(b.device, memory);
    td_stream_close(other);
    bench_close(&b);
}

/* Through a link, through the host, and not at all for kernels without a link. */
TEST(gpus_reach_each_other_as_their_links_allow)
{
    td_loop *loop = NULL;
    td_device *devices = NULL, *device[8];
    td_stream *stream = NULL;
    char *mine = NULL, *near = NULL, *far = NULL;
    CHECK_OK(td_loop_create(&loop));
    CHECK_OK(td_devices_open(&devices, "emu:8@dgx1", &(td_device_options){.loop = loop}));
    int count = 0;
    for (td_device *next = devices; next != NULL; next = next->next) device[count++] = next;
    CHECK_EQ(count, 8);
    CHECK_STR(device[5]->name, "emu:5");
    CHECK_OK(td_stream_open(device[0], &stream));
    CHECK_OK(td_device_new(device[0], &mine, MIB, 1, "memory"));
    CHECK_OK(td_device_new(device[4], &near, MIB, 1, "memory"));
    CHECK_OK(td_device_new(device[7], &far, MIB, 1, "memory"));
    CHECK_OK(td_stream_copy(stream, near, mine, MIB, TD_ON_DEVICE));
    CHECK_OK(td_stream_synchronize(stream));
    uint64_t through_link = td_device_clock(devices);
    CHECK_EQ(through_link, 2000 + MIB / 50 + 1 + 6000);
    CHECK_OK(td_stream_copy(stream, far, mine, MIB, TD_ON_DEVICE));
    CHECK_OK(td_stream_synchronize(stream));
    CHECK(td_device_clock(devices) - through_link > 5 * through_link);
    if (td_watch_built()) {
        kernel_arguments arguments = {.in = (uint32_t *)(void *)near, .out = (uint32_t *)(void *)mine, .count = 64};
        td_launch shape = {.blocks = 1, .threads = 64};
        const td_kernel *kernel = kernel_named("add_one");
        CHECK_OK(td_stream_launch(stream, kernel, shape, &arguments, sizeof arguments));
        CHECK_STATUS(td_stream_synchronize(stream), TD_DEVICE);
        CHECK_CONTAINS(td_last_message(), "touches the memory of emu:4, to which access is not enabled");
        CHECK_OK(td_device_enable_peer(device[0], device[4]));
        CHECK_OK(td_stream_launch(stream, kernel, shape, &arguments, sizeof arguments));
        CHECK_OK(td_stream_synchronize(stream));
        CHECK_EQ(td_emulator_counted(device[0]).peer_bytes, 256);
        arguments.in = (uint32_t *)(void *)far;
        CHECK_OK(td_stream_launch(stream, kernel, shape, &arguments, sizeof arguments));
        CHECK_STATUS(td_stream_synchronize(stream), TD_DEVICE);
        CHECK_CONTAINS(td_last_message(), "touches the memory of emu:7, to which there is no link");
    }
    td_stream_close(stream);
    td_devices_close(devices);
    td_loop_destroy(loop);
}

TEST(sorts_and_sums_are_a_streams_work_too)
{
    enum { COUNT = 1000 };
    bench b = bench_open("emu", 1);
    uint32_t keys[COUNT], values[COUNT];
    uint64_t sums[COUNT + 1], room_bytes = 0;
    void *room = NULL;
    for (uint32_t i = 0; i < COUNT; i++) {
        keys[i] = (uint32_t)(i * UINT64_C(2654435761)) % 500;
        values[i] = i;
    }
    CHECK_OK(td_device_sort_bytes(b.device, COUNT, &room_bytes));
    CHECK_OK(td_device_new(b.device, &room, room_bytes, 1, "room"));
    CHECK_OK(td_stream_copy(b.stream, b.arguments.in, keys, sizeof keys, TD_TO_DEVICE));
    CHECK_OK(td_stream_copy(b.stream, b.arguments.out, values, sizeof values, TD_TO_DEVICE));
    CHECK_OK(td_stream_scan(b.stream, b.arguments.in, b.arguments.wide, COUNT, NULL, 0));
    CHECK_OK(td_stream_sort(b.stream, b.arguments.in, b.arguments.out, COUNT, room, room_bytes));
    uint32_t sorted[COUNT], moved[COUNT];
    bench_read(&b, sorted, b.arguments.in, sizeof sorted);
    bench_read(&b, moved, b.arguments.out, sizeof moved);
    bench_read(&b, sums, b.arguments.wide, sizeof sums);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        CHECK_EQ(sums[i], sum);
        sum += keys[i];
        CHECK_EQ(sorted[i], keys[moved[i]]);
        CHECK(i == 0 || sorted[i - 1] < sorted[i] || (sorted[i - 1] == sorted[i] && moved[i - 1] < moved[i]));
    }
    CHECK_EQ(sums[COUNT], sum);
    CHECK_STATUS(td_stream_sort(b.stream, b.arguments.in, b.arguments.out, COUNT, room, 8), TD_DEVICE);
    td_device_free(b.device, room);
    bench_close(&b);
}

TEST(as_many_blocks_run_at_once_as_the_gpu_holds)
{
    bench b = bench_open("emu", 1);
    uint32_t blocks = 0;
    CHECK_OK(td_device_occupancy(b.device, kernel_named("add_one"), 256, 0, &blocks));
    CHECK_EQ(blocks, 8);
    CHECK_OK(td_device_occupancy(b.device, kernel_named("add_one"), 256, 48 << 10, &blocks));
    CHECK_EQ(blocks, 4);
    CHECK_OK(td_device_occupancy(b.device, kernel_named("add_one"), 2048, 0, &blocks));
    CHECK_EQ(blocks, 0);
    bench_close(&b);
}

TEST_MAIN
