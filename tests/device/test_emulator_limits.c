/* Opening emulated devices: topology files and what is wrong with them, memory and its
 * ends, failing allocations. */
#include "emulator_bench.h"

static td_status open_and_close(const char *names)
{
    td_device *devices = NULL;
    td_status status = td_devices_open(&devices, names, &(td_device_options){0});
    td_devices_close(devices);
    return status;
}

static void refuse_file(const char *text, const char *part)
{
    char name[600];
    const char *path = test_path("t");
    test_write_file(path, text, strlen(text));
    snprintf(name, sizeof name, "emu:1@%s", path);
    CHECK_STATUS(open_and_close(name), TD_FORMAT);
    CHECK_CONTAINS(td_last_message(), part);
    CHECK_CONTAINS(td_last_message(), path);
}

TEST(every_topology_that_comes_along_can_be_opened)
{
    CHECK_OK(open_and_close("emu:16@pcie3"));
    CHECK_OK(open_and_close("emu:16@pcie4"));
    CHECK_OK(open_and_close("emu:2@pcie5"));
    CHECK_OK(open_and_close("emu:8@dgx1"));
    CHECK_OK(open_and_close("emu:1@h200"));
    CHECK_OK(open_and_close("emu:8@late"));
    CHECK_OK(open_and_close("emu:8@slices"));
    CHECK_OK(open_and_close("emu:64@unchecked"));
}

TEST(a_topology_that_is_not_there_is_told)
{
    CHECK_STATUS(open_and_close("emu:1@nowhere"), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "there is no topology 'nowhere'");
    CHECK_STATUS(open_and_close("emu:1@/nowhere/at.all"), TD_IO);
    CHECK_STATUS(open_and_close("emu:9@dgx1"), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "9 emulated devices; topology 'dgx1' has 8 GPUs");
    CHECK_STATUS(open_and_close("emu:65"), TD_USAGE);
}

TEST(a_wrong_line_of_a_topology_is_named)
{
    refuse_file("gpus 0\n", ":1: gpus is '0'; 1 to 64 are allowed");
    refuse_file("gpus 2\n\nmemory lots\n", ":3: memory is 'lots'");
    refuse_file("# text\nmemmory 4G\n", ":2: there is no 'memmory'");
    refuse_file("memory\n", ":1: 'memory' has 0 values; 1 are needed");
    refuse_file("link 0 1 25GB/s\n", ":1: 'link' has 3 values; 4 are needed");
    refuse_file("gpus 2\nlink 0 2 25GB/s 1us\n", ":2: a GPU's number is '2'");
    refuse_file("gpus 2\nlink 1 1 25GB/s 1us\n", ":2: the other end of a link is '1'");
    refuse_file("remote-delay often\n", ":1: remote-delay is 'often'; 0 to 1048576 are allowed");
    refuse_file("launch 4\n", ":1: launch is '4'; a time is written 3.9us");
    refuse_file("memory-rate -1GB/s\n", ":1: memory-rate is '-1GB/s'");
    refuse_file("memory-rate 1..2GB/s\n", ":1: memory-rate is '1..2GB/s'");
    refuse_file("host-link 1-0 1GB/s 1GB/s 1us\n", ":1: the last GPU is '0'");
    refuse_file("pageable 2\n", ":1: pageable is '2'");
    refuse_file("check maybe\n", ":1: check is 'maybe'; there are on and off");
    refuse_file("block-threads 2000\n", ":1: block-threads is '2000'; 32 to 1024 are allowed");
    refuse_file("model 1 2 3 4 5 6 7 8 9 a b c d e f g h\n", ":1: more than 16 words");
}

TEST(gpus_of_one_topology_may_differ)
{
    static const char text[] = "gpus 3\nmemory 2G\ngpu 1-2\nmemory 1G\nmodel a smaller one\n";
    char name[600];
    td_device *devices = NULL;
    test_write_file(test_path("t"), text, sizeof text - 1);
    snprintf(name, sizeof name, "emu:3@%s", test_path("t"));
    CHECK_OK(td_devices_open(&devices, name, &(td_device_options){0}));
    CHECK_EQ(devices->properties.memory, UINT64_C(2) << 30);
    CHECK_EQ(devices->next->next->properties.memory, UINT64_C(1) << 30);
    CHECK_STR(devices->next->properties.model, "a smaller one");
    td_devices_close(devices);
}

TEST(memory_ends_where_the_budget_or_the_gpu_does)
{
    static const char text[] = "gpus 1\nmemory 2M\n";
    char name[600];
    void *memory = NULL;
    td_device *devices = NULL;
    test_write_file(test_path("t"), text, sizeof text - 1);
    snprintf(name, sizeof name, "emu:1@%s", test_path("t"));
    CHECK_OK(td_devices_open(&devices, name, &(td_device_options){0}));
    CHECK_STATUS(td_device_new(devices, &memory, 3 << 20, 1, "values"), TD_NO_MEMORY);
    CHECK_CONTAINS(td_last_message(), "values: emu:0: 3145728 bytes wanted, 0 of 2097152 taken");
    CHECK_OK(td_device_new(devices, &memory, 2 << 20, 1, "values"));
    td_device_free(devices, memory);
    td_devices_close(devices);
    CHECK_OK(td_devices_open(&devices, name, &(td_device_options){.gpu_memory = 1 << 20}));
    CHECK_STATUS(td_device_new(devices, &memory, 3 << 19, 1, "values"), TD_NO_MEMORY);
    CHECK_CONTAINS(td_last_message(), "gpu_memory");
    td_devices_close(devices);
}

TEST(memory_that_is_still_held_goes_with_the_device)
{
    td_device *devices = NULL;
    void *memory = NULL, *seen = NULL;
    static char host[100];
    CHECK_OK(td_devices_open(&devices, "emu:2", &(td_device_options){0}));
    CHECK_OK(td_device_new(devices, &memory, 100, 4, "values"));
    CHECK_OK(td_device_new(devices->next, &memory, 100, 4, "values"));
    CHECK_OK(td_device_pin(devices->next, host, sizeof host, &seen));
    td_devices_close(devices);
}

TEST(host_memory_may_be_pinned_for_several_devices)
{
    td_device *devices = NULL;
    char *seen = NULL;
    static char host[100];
    CHECK_OK(td_devices_open(&devices, "emu:2", &(td_device_options){0}));
    CHECK_OK(td_device_pin(devices, host, sizeof host, &seen));
    CHECK(seen == host);
    CHECK_OK(td_device_pin(devices->next, host, sizeof host, &seen));
    CHECK_STATUS(td_device_pin(devices, host + 50, 100, &seen), TD_DEVICE);
    CHECK_STATUS(td_device_pin(devices, host, 50, &seen), TD_DEVICE);
    td_device_unpin(devices, host);
    CHECK_STATUS(td_device_pin(devices, host + 50, 10, &seen), TD_DEVICE);
    td_device_unpin(devices->next, host);
    CHECK_OK(td_device_pin(devices, host + 50, 10, &seen));
    td_devices_close(devices);
}

/* Opens, allocates, launches and closes; whichever request for host memory fails, nothing is left. */
TEST(a_failing_allocation_leaves_nothing_behind)
{
    td_status status = TD_NO_MEMORY;
    for (uint64_t nth = 1; status != TD_OK; nth++) {
        CHECK(nth < 200);
        uint64_t held = td_memory().now;
        td_device *device = NULL;
        td_stream *stream = NULL;
        kernel_arguments arguments = {.count = 64};
        td_alloc_fail_at(nth);
        status = td_devices_open(&device, "emu:2@dgx1", &(td_device_options){0});
        if (status == TD_OK) status = td_stream_open(device, &stream);
        if (status == TD_OK) status = td_device_new(device, &arguments.in, 64, 4, "in");
        if (status == TD_OK) status = td_device_new(device, &arguments.out, 64, 4, "out");
        if (status == TD_OK) status = td_stream_fill(stream, arguments.in, 0, 256);
        if (status == TD_OK)
            status = td_stream_launch(stream, kernel_named("block_sum"), (td_launch){.blocks = 1, .threads = 64},
                                      &arguments, sizeof arguments);
        if (status == TD_OK) status = td_stream_synchronize(stream);
        td_alloc_fail_at(0);
        if (status != TD_OK) CHECK_EQ(status, TD_NO_MEMORY);
        td_stream_close(stream);
        td_devices_close(device);
        CHECK_EQ(td_memory().now, held);
    }
}

TEST_MAIN
