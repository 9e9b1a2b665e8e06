/* A kernel that goes astray: every call and every completion says so, host memory stays,
 * everything closes, and the next run gets the GPU again. */
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
    CHECK_STATUS(td_stream_finish(s.a), TD_DEVICE);
    printf("    %s\n", td_last_message());
    CHECK_CONTAINS(td_last_message(), "kernel launched last: wild");
    CHECK_CONTAINS(td_last_message(), "compute-sanitizer");
    CHECK_STATUS(td_stream_finish(s.b), TD_DEVICE);
    CHECK_STATUS(td_stream_copy(s.b, &host, number, sizeof host, TD_TO_HOST), TD_DEVICE);
    CHECK_CONTAINS(td_last_message(), "lost");
    CHECK_STATUS(launch(s.b, "add", kernel_add, narrow, &(add_arguments){number, 1, 1}, sizeof(add_arguments)), TD_DEVICE);
    uint32_t *more = NULL;
    CHECK_STATUS(td_device_new(s.device, &more, 1, 4, "more"), TD_DEVICE);
    CHECK_EQ(host, 77);
    td_device_free(s.device, number);
    stop(&s);
}

TEST(a_completion_after_a_fault_fails_and_comes)
{
    setting s = start();
    tally seen = {0};
    go_astray(&s);
    CHECK_OK(td_stream_notify(s.a, note, &seen, 1));
    CHECK_OK(td_loop_run(s.loop));
    CHECK_EQ(seen.count, 1);
    CHECK_EQ(seen.status, TD_DEVICE);
    printf("    %s\n", seen.message);
    CHECK_CONTAINS(seen.message, "wild");
    stop(&s);
}

TEST(the_gpu_can_be_opened_again)
{
    setting s = start();
    uint32_t *number = NULL, host = 0;
    CHECK_OK(td_device_new(s.device, &number, 1, sizeof *number, "number"));
    CHECK_OK(td_stream_fill(s.a, number, 0, sizeof *number));
    LAUNCH(s.a, add, narrow, (add_arguments){number, 1, 9});
    CHECK_OK(td_stream_copy(s.a, &host, number, sizeof host, TD_TO_HOST));
    CHECK_OK(td_stream_finish(s.a));
    CHECK_EQ(host, 9);
    td_device_free(s.device, number);
    stop(&s);
}

TEST_MAIN
