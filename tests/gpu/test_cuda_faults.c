/* A kernel that goes astray: every call and every completion says so, host memory stays,
 * everything closes, and who opens the GPU again in this process is told why not. */
#include "gpu/gpu.h"

static const td_launch narrow = {.blocks = 1, .threads = 32};

static void go_astray(setting *s)
{
    LAUNCH(s->a, wild, narrow, (add_arguments){NULL, UINT64_C(1) << 40, 1});
}

TEST(a_fault_names_the_kernel_and_stays)
{
    setting s = start();
    uint32_t *number = NULL;
    uint32_t host = 77;
    CHECK_OK(td_device_new(s.device, &number, 1, sizeof *number, "number"));
    go_astray(&s);
    CHECK_STATUS(td_stream_synchronize(s.a), TD_DEVICE);
    printf("    %s\n", td_last_message());
    CHECK_CONTAINS(td_last_message(), "kernel launched last: wild");
    CHECK_CONTAINS(td_last_message(), "compute-sanitizer");
    CHECK_STATUS(td_stream_synchronize(s.b), TD_DEVICE);
    CHECK_STATUS(td_stream_copy(s.b, &host, number, sizeof host, TD_TO_HOST), TD_DEVICE);
    CHECK_CONTAINS(td_last_message(), "lost");
    CHECK_STATUS(launch(s.b, "add", kernel_add, narrow, &(add_arguments){number, 1, 1}, sizeof(add_arguments)),
                 TD_DEVICE);
    uint32_t *more = NULL;
    CHECK_STATUS(td_device_new(s.device, &more, 1, 4, "more"), TD_DEVICE);
    CHECK_EQ(host, 77);
    td_device_free(s.device, number);
    stop(&s);
}

TEST(the_process_has_lost_the_gpu)
{
    td_device *device = NULL;
    td_loop *loop = NULL;
    CHECK_OK(td_loop_create(&loop));
    CHECK_STATUS(td_devices_open(&device, "cuda:0", &(td_device_options){.loop = loop}), TD_DEVICE);
    CHECK_CONTAINS(td_last_message(), "a new process gets it again");
    td_loop_destroy(loop);
}

TEST_MAIN
