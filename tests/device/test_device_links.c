/* The matrix of measured links: what copies take, not what a file says. */
#include "device/links.h"
#include "device/emulator/emulator.h"
#include "test.h"

static td_device *open_devices(const char *names, td_loop **loop)
{
    td_device *devices = NULL;
    CHECK_OK(td_loop_create(loop));
    CHECK_OK(td_devices_open(&devices, names, &(td_device_options){.loop = *loop}));
    return devices;
}

static void near(double value, double expected)
{
    if (value < expected * 0.999 || value > expected * 1.001) TEST_FAIL("%g instead of %g", value, expected);
}

TEST(rates_and_latencies_are_those_of_copies)
{
    td_loop *loop = NULL;
    td_device *devices = open_devices("emu:8@dgx1", &loop);
    td_link_matrix m;
    CHECK_OK(td_links_measure(devices, &m));
    CHECK_EQ(m.count, 9);
    CHECK_STR(m.names[0], "host");
    CHECK_STR(m.names[8], "emu:7");
    near(td_links_at(&m, 0, 3)->rate, 11e9);
    near(td_links_at(&m, 3, 0)->rate, 12e9);
    near(td_links_at(&m, 0, 3)->latency, 8e-6);
    near(td_links_at(&m, 1, 5)->rate, 50e9);
    near(td_links_at(&m, 1, 5)->latency, 2e-6);
    CHECK(td_links_at(&m, 1, 5)->direct && !td_links_at(&m, 1, 5)->same_memory);
    CHECK(!td_links_at(&m, 1, 8)->direct);
    CHECK(td_links_at(&m, 1, 8)->rate > 9e9 && td_links_at(&m, 1, 8)->rate < 11e9);
    near(td_links_at(&m, 1, 8)->latency, 16e-6);
    CHECK_EQ(td_links_at(&m, 1, 1)->rate, 0);
    for (td_device *device = devices; device != NULL; device = device->next) CHECK_EQ(device->now, 0);
    td_links_free(&m);
    td_devices_close(devices);
    td_loop_destroy(loop);
}

/* What the model says is not asked: a slower link is seen by its copies. */
TEST(a_link_is_measured_not_read)
{
    td_loop *loop = NULL;
    td_device *devices = open_devices("emu:2@dgx1", &loop);
    td_link_matrix m;
    td_emulator_of(devices)->world->topology.between[0][1].rate = 5;
    CHECK_OK(td_links_measure(devices, &m));
    near(td_links_at(&m, 1, 2)->rate, 5e9);
    near(td_links_at(&m, 2, 1)->rate, 25e9);
    td_links_free(&m);
    td_devices_close(devices);
    td_loop_destroy(loop);
}

TEST(the_cpu_is_the_host_and_a_small_budget_is_kept)
{
    td_loop *loop = NULL;
    td_device *devices = open_devices("cpu,emu:2", &loop);
    td_link_matrix m;
    devices->next->budget = 64 << 10;
    CHECK_OK(td_links_measure(devices, &m));
    CHECK_EQ(m.count, 3);
    near(td_links_at(&m, 0, 1)->rate, 12e9);
    td_links_free(&m);
    devices->next->budget = 4;
    CHECK_STATUS(td_links_measure(devices, &m), TD_NO_MEMORY);
    CHECK(m.links == NULL);
    td_devices_close(devices);
    td_loop_destroy(loop);
    devices = open_devices("cpu", &loop);
    CHECK_OK(td_links_measure(devices, &m));
    CHECK_EQ(m.count, 1);
    td_links_free(&m);
    td_devices_close(devices);
    td_loop_destroy(loop);
}

TEST(a_failure_leaves_nothing_behind)
{
    for (uint64_t nth = 1;; nth++) {
        td_loop *loop = NULL;
        td_device *devices = open_devices("emu:2", &loop);
        td_link_matrix m;
        td_device_fail_at(nth);
        td_status status = td_links_measure(devices, &m);
        bool failed = status != TD_OK;
        td_device_fail_at(0);
        if (failed) CHECK_STATUS(status, TD_DEVICE);
        for (td_device *device = devices; device != NULL; device = device->next) CHECK_EQ(device->now, 0);
        td_links_free(&m);
        td_devices_close(devices);
        td_loop_destroy(loop);
        if (!failed) break;
        if (nth > 20) nth += 50;
    }
}

TEST_MAIN
