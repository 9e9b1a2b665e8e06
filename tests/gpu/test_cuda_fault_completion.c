/* After a kernel that goes astray a completion still comes, and fails. In a process of its own, because the fault
 * takes the GPU from it. */
#include "gpu/gpu.h"

static const td_launch narrow = {.blocks = 1, .threads = 32};

static void go_astray(setting *s)
{
    LAUNCH(s->a, wild, narrow, (add_arguments){NULL, UINT64_C(1) << 40, 1});
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

TEST_MAIN
