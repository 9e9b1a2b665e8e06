/* What all devices have in common: names, budgets, counters, failures. */
#include "device/device.h"
#include "device/kinds.h"
#include "test.h"

static td_device *open_devices(const char *names, td_loop **loop)
{
    td_device *devices = NULL;
    *loop = NULL;
    CHECK_OK(td_loop_create(loop));
    CHECK_OK(td_devices_open(&devices, names, &(td_device_options){.loop = *loop}));
    return devices;
}

static void refuse(const char *names, const char *part)
{
    CHECK_STATUS(td_devices_check(names), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "devices ");
    CHECK_CONTAINS(td_last_message(), part);
    td_device *devices = NULL;
    CHECK_STATUS(td_devices_open(&devices, names, &(td_device_options){0}), TD_USAGE);
    CHECK(devices == NULL);
}

TEST(a_wrong_name_is_told_with_what_is_wrong)
{
    refuse("", "a name is missing");
    refuse("cpu,", "a name is missing");
    refuse(",cpu", "a name is missing");
    refuse("gpu", "no device 'gpu'; there are cpu, cuda:N");
    refuse("cpu:2", "the cpu has no parts; threads");
    refuse("cuda:x", "the GPU's number should be a number, not 'x'");
    refuse("cuda:", "the GPU's number should be a number");
    refuse("cuda:-1", "the GPU's number should be a number");
    refuse("cuda:99", "the GPU's number is 99, allowed are 0 to 63");
    refuse("cuda:99999999999999999999", "allowed are 0 to 63");
    refuse("cuda:0/", "the number of slices should be a number");
    refuse("cuda:0/0", "the number of slices is 0");
    refuse("cuda:0/8#8", "the slice is 8, allowed are 0 to 7");
    refuse("cuda:0#1", "'#1' at its end is not understood");
    refuse("cuda:0/8#1x", "'x' at its end is not understood");
    refuse("emu:0", "the number of emulated devices is 0, allowed are 1 to 64");
    refuse("emu:65", "the number of emulated devices is 65, allowed are 1 to 64");
    refuse("emu:2@", "no topology is named");
    refuse("emu:2x", "'x' at its end is not understood");
    refuse("emulator", "no device 'emulator'");
}

TEST(a_device_is_named_once)
{
    refuse("cpu,cpu", "'cpu' and 'cpu' overlap");
    refuse("cuda:0,cuda", "'cuda:0' and 'cuda' overlap");
    refuse("cuda:0,cuda:0/8#1", "overlap");
    refuse("cuda:0/4#1,cuda:0/8#1", "overlap");
    refuse("cuda:0/8#1,cuda:0/8#1", "overlap");
    refuse("emu,emu:2", "overlap");
}

TEST(names_that_are_too_long_or_too_many_are_refused)
{
    char names[4096];
    memset(names, 'a', 100);
    names[100] = '\0';
    refuse(names, "there is no device");
    char *end = names;
    for (int i = 0; i < 65; i++) end += sprintf(end, "%scuda:0/100#%d", i > 0 ? "," : "", i);
    refuse(names, "more than 64 names");
}

TEST(what_the_machine_lacks_is_said)
{
    const char *why = NULL;
    CHECK(td_device_kind_present(TD_DEVICE_CPU, NULL));
    if (td_device_kind_present(TD_DEVICE_CUDA, &why)) SKIP("there is a GPU");
    CHECK(strlen(why) > 0);
    CHECK_EQ(td_cuda_count(), 0);
    CHECK_STATUS(td_devices_check("cpu,cuda:0"), TD_UNSUPPORTED);
    CHECK_CONTAINS(td_last_message(), "devices cpu,cuda:0: device 'cuda:0': ");
    CHECK_CONTAINS(td_last_message(), why);
    td_device *devices = NULL;
    CHECK_STATUS(td_devices_open(&devices, "cpu,cuda:0", &(td_device_options){0}), TD_UNSUPPORTED);
    CHECK_CONTAINS(td_last_message(), why);
}

TEST(memory_is_counted_and_kept_within_the_budget)
{
    td_loop *loop;
    td_device *device = open_devices("cpu", &loop);
    char *a = NULL, *b = NULL, *c = NULL, *nothing = NULL;
    device->budget = 1000;
    CHECK_OK(td_device_new(device, &a, 600, 1, "ranks"));
    CHECK_OK(td_device_new(device, &b, 50, 8, "offsets"));
    CHECK_OK(td_device_new(device, &nothing, 0, 8, "no weights"));
    CHECK(nothing != NULL);
    CHECK_EQ(device->now, 1000);
    CHECK_EQ(td_device_left(device), 0);
    CHECK_STATUS(td_device_new(device, &c, 3, 1024, "edges"), TD_NO_MEMORY);
    CHECK(c == NULL);
    CHECK_CONTAINS(td_last_message(), "cpu: edges needs 3.0 KiB");
    CHECK_CONTAINS(td_last_message(), "gpu_memory");
    td_device_free(device, a);
    CHECK_EQ(device->now, 400);
    CHECK_EQ(device->peak, 1000);
    CHECK_EQ(td_device_left(device), 600);
    CHECK_OK(td_device_new(device, &c, 600, 1, "edges"));
    td_device_free(device, b);
    td_device_free(device, c);
    td_device_free(device, nothing);
    td_device_free(device, NULL);
    CHECK_EQ(device->now, 0);
    td_devices_close(device);
    td_loop_destroy(loop);
}

TEST(a_request_beyond_all_memory_does_not_wrap)
{
    td_loop *loop;
    td_device *device = open_devices("cpu", &loop);
    char *a = NULL;
    CHECK_STATUS(td_device_new(device, &a, UINT64_MAX / 2, 8, "edges"), TD_NO_MEMORY);
    CHECK_CONTAINS(td_last_message(), "edges");
    device->budget = 1000;
    CHECK_STATUS(td_device_new(device, &a, UINT64_MAX, 1, "edges"), TD_NO_MEMORY);
    td_devices_close(device);
    td_loop_destroy(loop);
}

TEST(many_blocks_can_be_freed_in_any_order)
{
    enum { BLOCKS = 200 };
    td_loop *loop;
    td_device *device = open_devices("cpu", &loop);
    char *blocks[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) CHECK_OK(td_device_new(device, &blocks[i], (uint64_t)i, 1, "block"));
    for (int i = 0; i < BLOCKS; i++) td_device_free(device, blocks[(i * 7) % BLOCKS]);
    CHECK_EQ(device->now, 0);
    td_devices_close(device);
    td_loop_destroy(loop);
}

TEST(closing_frees_what_is_left)
{
    td_loop *loop;
    td_device *device = open_devices("cpu", &loop);
    char *block = NULL;
    CHECK_OK(td_device_new(device, &block, 1000, 1, "block"));
    td_devices_close(device);
    td_loop_destroy(loop);
}

TEST(work_is_counted)
{
    td_loop *loop;
    td_stream *stream = NULL;
    td_device *device = open_devices("cpu", &loop);
    char host[100] = {0}, *block = NULL;
    CHECK_OK(td_device_new(device, &block, 100, 1, "block"));
    CHECK_OK(td_stream_open(device, &stream));
    CHECK_OK(td_stream_fill(stream, block, 7, 100));
    CHECK_OK(td_stream_copy(stream, host, block, 60, TD_TO_HOST));
    CHECK_OK(td_stream_copy(stream, block, host, 40, TD_TO_DEVICE));
    CHECK_OK(td_stream_copy(stream, block + 50, block, 10, TD_ON_DEVICE));
    CHECK_OK(td_stream_copy(stream, block, host, 0, TD_TO_DEVICE));
    CHECK_OK(td_stream_synchronize(stream));
    CHECK_EQ(host[59], 7);
    CHECK_EQ(host[60], 0);
    CHECK_EQ(device->counts.fills, 1);
    CHECK_EQ(device->counts.copies, 3);
    CHECK_EQ(device->counts.bytes_to_host, 60);
    CHECK_EQ(device->counts.bytes_to_device, 40);
    CHECK_EQ(device->counts.bytes_on_device, 10);
    td_stream_close(stream);
    td_device_free(device, block);
    td_devices_close(device);
    td_loop_destroy(loop);
}

static td_status some_work(td_device *device)
{
    td_status status = TD_OK;
    td_stream *stream = NULL;
    char host[8] = {0}, *block = NULL;
    TD_TRY(td_device_new(device, &block, 8, 1, "block"));
    TD_TRY(td_stream_open(device, &stream));
    TD_TRY(td_stream_fill(stream, block, 1, 8));
    TD_TRY(td_stream_copy(stream, host, block, 8, TD_TO_HOST));
    TD_TRY(td_stream_synchronize(stream));
done:
    td_stream_close(stream);
    td_device_free(device, block);
    return status;
}

TEST(each_operation_can_be_made_to_fail)
{
    td_loop *loop;
    td_device *device = open_devices("cpu", &loop);
    for (uint64_t i = 1; i <= 4; i++) {
        td_device_fail_at(i);
        CHECK_STATUS(some_work(device), TD_DEVICE);
        CHECK_CONTAINS(td_last_message(), "cpu: device lost");
        CHECK_EQ(device->now, 0);
    }
    td_device_fail_at(5);
    CHECK_OK(some_work(device));
    td_device_fail_at(0);
    CHECK_OK(some_work(device));
    td_devices_close(device);
    td_loop_destroy(loop);
}

TEST(an_empty_launch_is_refused)
{
    td_loop *loop;
    td_stream *stream = NULL;
    td_device *device = open_devices("cpu", &loop);
    td_kernel kernel = {"nothing", NULL};
    CHECK_OK(td_stream_open(device, &stream));
    CHECK_STATUS(td_stream_launch(stream, &kernel, (td_launch){0}, NULL, 0), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "kernel nothing launched with 0 blocks");
    td_stream_close(stream);
    td_devices_close(device);
    td_loop_destroy(loop);
}

TEST(a_device_without_sort_says_so)
{
    td_loop *loop;
    uint64_t bytes;
    td_device *device = open_devices("cpu", &loop);
    CHECK(!td_device_supports(device, TD_FEATURE_SORT));
    CHECK_STATUS(td_device_sort_bytes(device, 10, &bytes), TD_UNSUPPORTED);
    CHECK_STATUS(td_device_scan_bytes(device, 10, &bytes), TD_UNSUPPORTED);
    td_devices_close(device);
    td_loop_destroy(loop);
}

TEST(opening_fails_cleanly_when_memory_does)
{
    td_loop *loop = NULL;
    CHECK_OK(td_loop_create(&loop));
    for (uint64_t nth = 1;; nth++) {
        td_device *device = NULL;
        td_alloc_fail_at(nth);
        td_status status = td_devices_open(&device, "cpu", &(td_device_options){.loop = loop});
        if (status == TD_OK) status = some_work(device);
        td_devices_close(device);
        td_alloc_fail_at(0);
        if (status == TD_OK) break;
        CHECK_EQ(status, TD_NO_MEMORY);
    }
    td_loop_destroy(loop);
}

TEST(only_emulated_gpus_take_host_memory)
{
    uint64_t none = 1, alone = 0, behind = 0, plain = 0;
    CHECK_OK(td_devices_host_bytes("cpu", 1 << 20, true, &none));
    CHECK_EQ(none, 0);
    CHECK_OK(td_devices_host_bytes("cuda:0,emu", 1 << 20, true, &none)); /* the first GPU is meant */
    CHECK_EQ(none, 0);
    CHECK_OK(td_devices_host_bytes("emu", 1 << 20, true, &alone));
    CHECK_OK(td_devices_host_bytes("cpu,emu:2", 1 << 20, true, &behind));
    CHECK_OK(td_devices_host_bytes("emu", 1 << 20, false, &plain));
    CHECK(plain > 1 << 20 && alone > plain && behind == alone);
    CHECK_STATUS(td_devices_host_bytes("emu:two", 1 << 20, true, &none), TD_USAGE);
    td_device *open = NULL; /* one that is open says the same */
    CHECK_OK(td_devices_open(&open, "emu", &(td_device_options){0}));
    CHECK_EQ(td_device_host_bytes(open, 1 << 20, true), alone);
    CHECK_EQ(td_device_host_bytes(open, 1 << 20, false), plain);
    td_devices_close(open);
}

TEST(memory_that_cannot_be_pinned_is_a_refusal_of_its_own)
{
    td_loop *loop;
    td_device *device = open_devices("cpu", &loop);
    char page[64], *seen = NULL;
    td_device_refuse_pins(true);
    td_status status = td_device_pin(device, page, sizeof page, &seen);
    td_device_refuse_pins(false);
    CHECK_EQ(status, TD_NO_MEMORY);
    CHECK_EQ(td_last_refusal()->resource, TD_RESOURCE_PINNED_MEMORY);
    CHECK_EQ(td_last_refusal()->needed, sizeof page);
    CHECK_STR(td_last_refusal()->device, "cpu");
    CHECK(seen == NULL);
    td_devices_close(device);
    td_loop_destroy(loop);
}

TEST_MAIN
