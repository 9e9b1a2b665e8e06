/* Schedules: what streams, GPUs and the host forget to wait for is found and named; what is ordered is clean. */
#include "device/emulator/emulator.h"
#include "emulator_bench.h"

enum { COUNT = 1024, BYTES = COUNT * 4 };

static const td_launch shape = {.blocks = 4, .threads = 256};

/* Two GPUs with a link, two streams on each, memory on each. */
typedef struct pair {
    td_loop *loop;
    td_device *gpu[2];
    td_stream *stream[2][2];
    uint32_t *in[2], *out[2];
    uint32_t *pinned; /* host memory */
} pair;

static pair pair_open_as(const char *devices, uint64_t seed)
{
    pair p = {0};
    void *seen = NULL;
    CHECK_OK(td_loop_create(&p.loop));
    CHECK_OK(td_devices_open(&p.gpu[0], devices, &(td_device_options){.loop = p.loop, .seed = seed}));
    p.gpu[1] = p.gpu[0]->next;
    CHECK_OK(TD_NEW_ZEROED(&p.pinned, COUNT, "host memory"));
    CHECK_OK(td_device_pin(p.gpu[0], p.pinned, BYTES, &seen));
    for (int i = 0; i < 2; i++) {
        CHECK_OK(td_device_new(p.gpu[i], &p.in[i], COUNT, 4, "in"));
        CHECK_OK(td_device_new(p.gpu[i], &p.out[i], COUNT, 4, "out"));
        for (int k = 0; k < 2; k++) CHECK_OK(td_stream_open(p.gpu[i], &p.stream[i][k]));
        CHECK_OK(td_stream_fill(p.stream[i][0], p.in[i], 1, BYTES));
        CHECK_OK(td_stream_fill(p.stream[i][0], p.out[i], 0, BYTES));
        CHECK_OK(td_stream_synchronize(p.stream[i][0]));
    }
    CHECK_OK(td_device_enable_peer(p.gpu[0], p.gpu[1]));
    CHECK_OK(td_device_enable_peer(p.gpu[1], p.gpu[0]));
    return p;
}

static pair pair_open(void) { return pair_open_as("emu:2@dgx1", 1); }

/* Kernels that wait in vain are given up soon. */
static pair pair_open_impatient(uint64_t seed)
{
    static const char impatient[] = "gpus 2\nlink 0 1 25GB/s 2us\npatience 4M\n";
    char name[600];
    test_write_file(test_path("t"), impatient, sizeof impatient - 1);
    snprintf(name, sizeof name, "emu:2@%s", test_path("t"));
    return pair_open_as(name, seed);
}

static void pair_close(pair *p)
{
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++) td_stream_close(p->stream[i][k]);
    td_device_unpin(p->gpu[0], p->pinned);
    for (int i = 0; i < 2; i++) {
        td_device_free(p->gpu[i], p->in[i]);
        td_device_free(p->gpu[i], p->out[i]);
    }
    td_devices_close(p->gpu[0]);
    td_loop_destroy(p->loop);
    td_free(p->pinned);
}

static void run(td_stream *stream, const char *kernel, uint32_t *in, uint32_t *out)
{
    kernel_arguments a = {.in = in, .out = out, .count = COUNT, .choice = 7};
    CHECK_OK(td_stream_launch(stream, kernel_named(kernel), shape, &a, sizeof a));
}

static void follow(td_stream *stream, td_stream *other)
{
    td_event *event = NULL;
    CHECK_OK(td_stream_record(other, &event));
    CHECK_OK(td_stream_wait(stream, event));
    td_event_destroy(other->device, event);
}

static td_status finish_all(pair *p)
{
    td_status status = TD_OK;
    char message[TD_MESSAGE_BYTES] = "";
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++) {
            td_status here = td_stream_synchronize(p->stream[i][k]);
            if (here == TD_OK || status != TD_OK) continue;
            status = here;
            snprintf(message, sizeof message, "%s", td_last_message());
        }
    if (status != TD_OK) td_message_set(message);
    return status;
}

static void expect_race(pair *p, const char *a, const char *b)
{
    CHECK_STATUS(finish_all(p), TD_DEVICE);
    CHECK_CONTAINS(td_last_message(), "race between streams");
    CHECK_CONTAINS(td_last_message(), a);
    CHECK_CONTAINS(td_last_message(), b);
    CHECK_CONTAINS(td_last_message(), "nothing orders them: wait for an event recorded behind the first");
    CHECK_CONTAINS(td_last_message(), IN_FILE("queued at ", "test_emulator_order.c", ""));
    CHECK_OK(finish_all(p));
}

static void needs_the_watch(void)
{
    if (!td_watch_built()) SKIP("this build watches no accesses");
}

/* A schedule, right (waits) or wrong. */
typedef void (*schedule)(pair *p, bool waits);

static void expect_found(schedule queue, const char *a, const char *b)
{
    for (int waits = 0; waits < 2; waits++) {
        pair p = pair_open();
        queue(&p, waits);
        if (waits) CHECK_OK(finish_all(&p));
        else expect_race(&p, a, b);
        pair_close(&p);
    }
}

static void copy_then_kernel(pair *p, bool waits)
{
    CHECK_OK(td_stream_copy(p->stream[0][0], p->in[0], p->pinned, BYTES, TD_TO_DEVICE));
    if (waits) follow(p->stream[0][1], p->stream[0][0]);
    run(p->stream[0][1], "add_one", p->in[0], p->out[0]);
}

static void kernel_then_copy(pair *p, bool waits)
{
    run(p->stream[0][0], "add_one", p->in[0], p->out[0]);
    if (waits) follow(p->stream[0][1], p->stream[0][0]);
    CHECK_OK(td_stream_copy(p->stream[0][1], p->pinned, p->out[0], BYTES, TD_TO_HOST));
}

static void kernel_then_fill(pair *p, bool waits)
{
    run(p->stream[0][0], "add_one", p->in[0], p->out[0]);
    if (waits) follow(p->stream[0][1], p->stream[0][0]);
    CHECK_OK(td_stream_fill(p->stream[0][1], p->in[0], 0, BYTES)); /* over what the kernel reads */
}

static void kernel_then_kernel(pair *p, bool waits)
{
    run(p->stream[0][0], "add_one", p->in[0], p->out[0]);
    if (waits) follow(p->stream[0][1], p->stream[0][0]);
    run(p->stream[0][1], "add_one", p->out[0], p->in[0]);
}

static void kernel_overwrites_what_another_reads(pair *p, bool waits)
{
    run(p->stream[0][0], "add_one", p->in[0], p->out[0]);
    if (waits) follow(p->stream[0][1], p->stream[0][0]);
    run(p->stream[0][1], "write_peer", NULL, p->in[0]);
}

static void copy_then_atomics(pair *p, bool waits)
{
    CHECK_OK(td_stream_copy(p->stream[0][0], p->out[0], p->pinned, BYTES, TD_TO_DEVICE));
    if (waits) follow(p->stream[0][1], p->stream[0][0]);
    run(p->stream[0][1], "count_up", NULL, p->out[0]);
}

TEST(a_forgotten_wait_between_two_streams_of_a_gpu_is_found)
{
    needs_the_watch();
    expect_found(kernel_then_copy, "the copy to the host (stream 1 of emu:0", "kernel add_one (stream 0 of emu:0");
    expect_found(copy_then_kernel, IN_FILE("kernel add_one, ", "emulator_kernels.c", "add_one+0x"), "the copy to the device (stream 0 of emu:0");
    expect_found(kernel_then_fill, "the fill (stream 1 of emu:0", "kernel add_one (stream 0 of emu:0");
    expect_found(kernel_then_kernel, IN_FILE("kernel add_one, ", "emulator_kernels.c", "add_one+0x"), "kernel add_one (stream 0 of emu:0");
    expect_found(kernel_overwrites_what_another_reads, IN_FILE("kernel write_peer, ", "emulator_kernels.c", "write_peer+0x"),
                 "kernel add_one (stream 0 of emu:0");
    expect_found(copy_then_atomics, "kernel count_up, ", "the copy to the device (stream 0 of");
}

static void peer_copy_then_kernel(pair *p, bool waits)
{
    CHECK_OK(td_stream_copy_peer(p->stream[0][0], p->gpu[1], p->in[1], p->gpu[0], p->in[0], BYTES));
    if (waits) follow(p->stream[1][0], p->stream[0][0]);
    run(p->stream[1][0], "add_one", p->in[1], p->out[1]);
}

static void kernel_then_peer_copy(pair *p, bool waits)
{
    run(p->stream[0][0], "add_one", p->in[0], p->out[0]);
    if (waits) follow(p->stream[1][0], p->stream[0][0]);
    CHECK_OK(td_stream_copy_peer(p->stream[1][0], p->gpu[1], p->in[1], p->gpu[0], p->out[0], BYTES));
}

static void remote_write_then_kernel(pair *p, bool waits)
{
    run(p->stream[0][0], "write_peer", NULL, p->in[1]);
    if (waits) follow(p->stream[1][0], p->stream[0][0]);
    run(p->stream[1][0], "add_one", p->in[1], p->out[1]);
}

static void two_peer_copies(pair *p, bool waits)
{
    CHECK_OK(td_stream_copy_peer(p->stream[0][0], p->gpu[1], p->in[1], p->gpu[0], p->in[0], BYTES));
    if (waits) follow(p->stream[0][1], p->stream[0][0]);
    CHECK_OK(td_stream_copy_peer(p->stream[0][1], p->gpu[1], p->in[1] + 8, p->gpu[0], p->out[0], 64));
}

TEST(a_forgotten_wait_between_two_gpus_is_found)
{
    expect_found(two_peer_copies, "the copy between GPUs (stream 1 of emu:0", "the copy between GPUs (stream 0 of emu:0");
    needs_the_watch();
    expect_found(peer_copy_then_kernel, IN_FILE("emu:1, kernel add_one, ", "emulator_kernels.c", "add_one+0x"),
                 "the copy between GPUs (stream 0 of emu:0");
    expect_found(kernel_then_peer_copy, "the copy between GPUs (stream 0 of emu:1", "kernel add_one (stream 0 of emu:0");
    expect_found(remote_write_then_kernel, IN_FILE("emu:1, kernel add_one, ", "emulator_kernels.c", "add_one+0x"),
                 "kernel write_peer (stream 0 of emu:0");
}

/* The host did not wait for the result either, or its reading it would be ordered by that. */
static void result_sent_on_too_early(pair *p, bool waits)
{
    CHECK_OK(td_stream_copy(p->stream[0][0], p->pinned, p->in[0], BYTES, TD_TO_HOST));
    if (waits) CHECK_OK(td_stream_synchronize(p->stream[0][0]));
    CHECK_OK(td_stream_copy(p->stream[1][0], p->in[1], p->pinned, BYTES, TD_TO_DEVICE));
}

static void result_read_by_a_kernel_too_early(pair *p, bool waits)
{
    CHECK_OK(td_stream_copy(p->stream[0][0], p->pinned, p->in[0], BYTES, TD_TO_HOST));
    if (waits) CHECK_OK(td_stream_synchronize(p->stream[0][0]));
    run(p->stream[1][0], "add_one", p->pinned, p->out[1]);
}

static void source_overwritten_under_a_kernel(pair *p, bool waits)
{
    run(p->stream[1][0], "add_one", p->pinned, p->out[1]);
    if (waits) follow(p->stream[0][0], p->stream[1][0]);
    CHECK_OK(td_stream_fill(p->stream[0][0], p->out[0], 0, BYTES)); /* the kernel has begun */
    CHECK_OK(td_stream_copy(p->stream[0][0], p->pinned, p->in[0], BYTES, TD_TO_HOST));
}

TEST(a_result_that_nobody_waited_for_is_found_when_it_is_used)
{
    for (int waits = 0; waits < 2; waits++) {
        pair p = pair_open();
        result_sent_on_too_early(&p, waits);
        td_status status = finish_all(&p);
        if (waits) CHECK_OK(status);
        else CHECK_STATUS(status, TD_DEVICE);
        if (!waits) CHECK_CONTAINS(td_last_message(), "race ");
        if (!waits) CHECK_CONTAINS(td_last_message(), "pinned host memory");
        pair_close(&p);
    }
    needs_the_watch();
    expect_found(result_read_by_a_kernel_too_early, IN_FILE("emu:1, kernel add_one, ", "emulator_kernels.c", "add_one+0x"),
                 "the copy to the host (stream 0 of emu:0");
    expect_found(source_overwritten_under_a_kernel, "the copy to the host (stream 0 of emu:0",
                 "kernel add_one (stream 0 of emu:1");
}

static void keep_value(void *context, td_status status, uint64_t value)
{
    CHECK_OK(status);
    *(uint64_t *)context = value;
}

/* By the host's waiting, and by its waiting for a completion. */
TEST(a_staging_buffer_that_is_filled_again_too_early_is_found)
{
    for (int way = 0; way < 3; way++) {
        pair p = pair_open();
        uint64_t came = 0;
        uint32_t word = 0;
        p.pinned[5] = 1;
        CHECK_OK(td_stream_copy(p.stream[0][0], p.in[0], p.pinned, BYTES, TD_TO_DEVICE));
        if (way == 1) CHECK_OK(td_stream_synchronize(p.stream[0][0]));
        if (way == 2) {
            CHECK_OK(td_stream_notify(p.stream[0][0], keep_value, &came, 9));
            CHECK_OK(td_loop_run(p.loop));
            CHECK_EQ(came, 9);
        }
        p.pinned[5] = 2;
        CHECK_OK(td_stream_copy(p.stream[0][0], p.out[0], p.pinned, BYTES, TD_TO_DEVICE));
        td_status status = finish_all(&p);
        if (way > 0) {
            CHECK_OK(status);
            CHECK_OK(td_stream_copy(p.stream[0][0], &word, p.in[0] + 5, 4, TD_TO_HOST));
            CHECK_OK(finish_all(&p));
            CHECK_EQ(word, 1);
        } else {
            CHECK_STATUS(status, TD_DEVICE);
            CHECK_CONTAINS(td_last_message(), IN_FILE("race with the host: the copy to the device (stream 0 of emu:0, queued at ",
                                                      "test_emulator_order.c", ""));
            CHECK_CONTAINS(td_last_message(), "which the host changed after it had queued the copy");
        }
        pair_close(&p);
    }
}

/* The copy has happened by then, but the host did not wait for it: another stream let time pass. */
TEST(a_staging_buffer_that_is_filled_again_without_knowing_is_found)
{
    for (int waits = 0; waits < 2; waits++)
        for (uint32_t words = COUNT / 2; words <= COUNT; words += COUNT / 2) {
            pair p = pair_open();
            p.pinned[5] = 1;
            CHECK_OK(td_stream_copy(p.stream[0][0], p.in[0], p.pinned, BYTES, TD_TO_DEVICE));
            for (int i = 0; i < 8; i++) run(p.stream[0][1], "count_up", NULL, p.out[0]);
            CHECK_OK(td_stream_synchronize(p.stream[0][!waits]));
            if (waits) CHECK_OK(td_stream_synchronize(p.stream[0][1]));
            p.pinned[5] = 2;
            td_status status = td_stream_copy(p.stream[1][0], p.in[1], p.pinned, words * 4, TD_TO_DEVICE);
            if (waits) CHECK_OK(status);
            else CHECK_STATUS(status, TD_DEVICE);
            if (!waits) CHECK_CONTAINS(td_last_message(), "race with the host: it changed");
            if (!waits) CHECK_CONTAINS(td_last_message(), IN_FILE("the copy to the device (stream 0 of emu:0, queued at ",
                                                                  "test_emulator_order.c", ""));
            CHECK_OK(finish_all(&p));
            pair_close(&p);
        }
}

/* Completions order what the host does after them, not what it did before. */
TEST(a_completion_of_one_stream_orders_work_of_another)
{
    needs_the_watch();
    for (int waits = 0; waits < 2; waits++) {
        pair p = pair_open();
        uint64_t came = 0;
        CHECK_OK(td_stream_copy(p.stream[0][0], p.in[0], p.pinned, BYTES, TD_TO_DEVICE));
        CHECK_OK(td_stream_notify(p.stream[0][0], keep_value, &came, 1));
        if (waits) CHECK_OK(td_loop_run(p.loop));
        run(p.stream[0][1], "add_one", p.in[0], p.out[0]);
        if (waits) CHECK_OK(finish_all(&p));
        else expect_race(&p, "kernel add_one", "the copy to the device");
        CHECK_OK(td_loop_run(p.loop));
        pair_close(&p);
    }
}

TEST(a_source_that_is_said_to_be_live_may_change)
{
    pair p = pair_open();
    CHECK_OK(td_stream_copy(p.stream[0][0], p.in[0], p.pinned, BYTES, TD_TO_DEVICE_LIVE));
    p.pinned[5] = 2;
    CHECK_OK(finish_all(&p));
    pair_close(&p);
}

/* CUDA takes a small pageable source when the copy is queued. */
TEST(a_small_pageable_source_is_taken_at_once_and_a_pinned_one_when_the_copy_happens)
{
    pair p = pair_open();
    uint32_t local[16] = {3}, got[2] = {0};
    p.pinned[0] = 3;
    CHECK_OK(td_stream_copy(p.stream[0][0], p.in[0], local, sizeof local, TD_TO_DEVICE));
    CHECK_OK(td_stream_copy(p.stream[0][0], p.out[0], p.pinned, 4, TD_TO_DEVICE_LIVE));
    local[0] = p.pinned[0] = 4;
    CHECK_OK(td_stream_copy(p.stream[0][0], &got[0], p.in[0], 4, TD_TO_HOST));
    CHECK_OK(td_stream_copy(p.stream[0][0], &got[1], p.out[0], 4, TD_TO_HOST));
    CHECK_EQ(got[0], 0); /* nothing has happened yet */
    CHECK_OK(finish_all(&p));
    CHECK_EQ(got[0], 3);
    CHECK_EQ(got[1], 4);
    pair_close(&p);
}

TEST(memory_that_is_freed_while_a_stream_uses_it_is_found)
{
    for (int waits = 0; waits < 2; waits++) {
        pair p = pair_open();
        uint32_t *block = NULL;
        CHECK_OK(td_device_new(p.gpu[0], &block, COUNT, 4, "block"));
        CHECK_OK(td_stream_fill(p.stream[0][1], block, 0, BYTES));
        CHECK_OK(td_stream_synchronize(p.stream[0][waits]));
        td_device_free(p.gpu[0], block);
        td_status status = td_stream_synchronize(p.stream[0][1]);
        if (waits) CHECK_OK(status);
        else {
            CHECK_STATUS(status, TD_DEVICE);
            CHECK_CONTAINS(td_last_message(), IN_FILE("emu:0: 4096 bytes of device memory are freed at ", "test_emulator_order.c", ""));
            CHECK_CONTAINS(td_last_message(), IN_FILE("while the fill (stream 1 of emu:0, queued at ", "test_emulator_order.c", ""));
        }
        pair_close(&p);
    }
}

TEST(memory_that_is_unpinned_while_a_kernel_of_another_stream_reads_it_is_found)
{
    needs_the_watch();
    for (int waits = 0; waits < 2; waits++) {
        pair p = pair_open();
        uint32_t *host = NULL;
        void *seen = NULL;
        CHECK_OK(TD_NEW_ZEROED(&host, COUNT, "host memory"));
        CHECK_OK(td_device_pin(p.gpu[0], host, BYTES, &seen));
        run(p.stream[0][1], "add_one", host, p.out[0]);
        CHECK_OK(td_stream_synchronize(p.stream[0][waits]));
        td_device_unpin(p.gpu[0], host);
        td_status status = td_stream_synchronize(p.stream[0][1]);
        if (waits) CHECK_OK(status);
        else CHECK_STATUS(status, TD_DEVICE);
        if (!waits) CHECK_CONTAINS(td_last_message(), IN_FILE("4096 bytes of host memory are unpinned at ", "test_emulator_order.c", ""));
        if (!waits) CHECK_CONTAINS(td_last_message(), "while kernel add_one (stream 1 of emu:0");
        td_free(host);
        pair_close(&p);
    }
}

/* What atomics are for is no race, on one GPU or on two; nor is reading by several. */
TEST(marked_accesses_and_common_reads_are_clean)
{
    pair p = pair_open();
    run(p.stream[0][0], "count_up", NULL, p.out[0]);
    run(p.stream[0][1], "count_up", NULL, p.out[0]);
    run(p.stream[1][0], "store_all", NULL, p.out[0]);
    run(p.stream[1][1], "load_all", p.out[0], p.in[1]);
    CHECK_OK(finish_all(&p));
    CHECK_OK(td_stream_fill(p.stream[0][0], p.in[0], 1, BYTES));
    CHECK_OK(finish_all(&p));
    run(p.stream[0][0], "add_one", p.in[0], p.out[0]);
    run(p.stream[1][0], "add_one", p.in[0], p.out[1]);
    CHECK_OK(td_stream_copy(p.stream[0][1], p.pinned, p.in[0], BYTES, TD_TO_HOST));
    CHECK_OK(finish_all(&p));
    CHECK_EQ(p.pinned[0], 0x01010101);
    pair_close(&p);
}

/* An event orders what came before it in its stream, and what that stream waited for; not what comes after. */
TEST(events_order_what_came_before_them)
{
    needs_the_watch();
    pair p = pair_open();
    td_event *event = NULL;
    CHECK_OK(td_stream_copy(p.stream[0][0], p.in[0], p.pinned, BYTES, TD_TO_DEVICE));
    follow(p.stream[0][1], p.stream[0][0]);
    follow(p.stream[1][0], p.stream[0][1]); /* by way of a third stream */
    run(p.stream[1][0], "add_one", p.in[0], p.out[1]);
    CHECK_OK(finish_all(&p));
    CHECK_OK(td_stream_record(p.stream[0][0], &event));
    CHECK_OK(td_stream_copy(p.stream[0][0], p.in[0], p.pinned, BYTES, TD_TO_DEVICE));
    CHECK_OK(td_stream_wait(p.stream[0][1], event));
    td_event_destroy(p.gpu[0], event);
    run(p.stream[0][1], "add_one", p.in[0], p.out[0]);
    expect_race(&p, "kernel add_one", "the copy to the device");
    pair_close(&p);
}

/* Until an event orders them, writes of another GPU may be seen late, as the seed draws; afterwards they are seen. */
static uint32_t stale_words(uint64_t seed, bool waits)
{
    static const char late[] = "gpus 2\nlink 0 1 25GB/s 2us\nremote-delay 4\n";
    char name[600];
    uint32_t seen[COUNT], old = 0;
    test_write_file(test_path("t"), late, sizeof late - 1);
    snprintf(name, sizeof name, "emu:2@%s", test_path("t"));
    pair p = pair_open_as(name, seed);
    run(p.stream[0][0], "store_all", NULL, p.in[1]); /* 7, over 0x01010101, on the other GPU */
    if (waits) follow(p.stream[1][0], p.stream[0][0]);
    run(p.stream[1][0], "load_all", p.in[1], p.out[1]);
    CHECK_OK(td_stream_copy(p.stream[1][0], seen, p.out[1], BYTES, TD_TO_HOST));
    CHECK_OK(finish_all(&p));
    for (int i = 0; i < COUNT; i++) {
        CHECK(seen[i] == 7 || seen[i] == 0x01010101);
        old += seen[i] != 7;
    }
    pair_close(&p);
    return old;
}

TEST(writes_of_another_gpu_may_be_seen_late_until_an_event_orders_them)
{
    needs_the_watch();
    uint32_t some = stale_words(1, false);
    CHECK(some > COUNT / 4 && some < COUNT);
    CHECK_EQ(stale_words(1, false), some);
    CHECK(stale_words(2, false) != some || stale_words(3, false) != some);
    CHECK_EQ(stale_words(1, true), 0);
}

static void launch_rounds(pair *p, uint32_t *counter, uint32_t choice)
{
    for (uint32_t i = 0; i < 2; i++) {
        kernel_arguments a = {.in = p->in[i], .out = p->in[1 - i], .wide = (uint64_t *)(void *)counter, .count = 5,
                              .choice = i + choice};
        CHECK_OK(td_stream_launch(p->stream[i][0], kernel_named("rounds_of_two"),
                                  (td_launch){.blocks = 1, .threads = 64}, &a, sizeof a));
    }
}

/* Each waits for the other at a counter, round after round. */
TEST(kernels_of_two_gpus_can_wait_for_each_other)
{
    needs_the_watch();
    for (uint64_t seed = 1; seed <= 5; seed++) {
        pair p = pair_open_impatient(seed);
        uint32_t words[2] = {9, 9};
        launch_rounds(&p, p.out[0], 0);
        run(p.stream[0][0], "load_all", p.in[0], p.out[1]); /* goes on behind it */
        CHECK_OK(finish_all(&p));
        CHECK_OK(td_stream_copy(p.stream[0][0], words, p.out[0], sizeof words, TD_TO_HOST));
        CHECK_OK(finish_all(&p));
        CHECK_EQ(words[0], 20);
        CHECK_EQ(words[1], 0);
        pair_close(&p);
    }
}

TEST(a_forgotten_meeting_of_two_gpus_is_found)
{
    needs_the_watch();
    pair p = pair_open_impatient(1);
    launch_rounds(&p, p.out[0], 2);
    td_status first = td_stream_synchronize(p.stream[0][0]);
    char message[TD_MESSAGE_BYTES] = "";
    if (first != TD_OK) snprintf(message, sizeof message, "%s", td_last_message());
    td_status second = td_stream_synchronize(p.stream[1][0]);
    CHECK(first == TD_DEVICE || second == TD_DEVICE);
    if (strstr(message, "race") == NULL) snprintf(message, sizeof message, "%s", td_last_message());
    CHECK_CONTAINS(message, IN_FILE("kernel rounds_of_two, ", "emulator_kernels.c", "rounds_of_two+0x"));
    CHECK_CONTAINS(message, "race between streams: it");
    pair_close(&p);
}

/* One that waits for what never comes is given up. */
TEST(a_kernel_that_waits_for_another_gpu_in_vain_is_given_up)
{
    needs_the_watch();
    pair p = pair_open_impatient(1);
    kernel_arguments a = {.in = p.in[0], .out = p.in[1], .wide = (uint64_t *)(void *)p.out[0], .count = 1};
    CHECK_OK(td_stream_launch(p.stream[0][0], kernel_named("rounds_of_two"), (td_launch){.blocks = 1, .threads = 64}, &a,
                              sizeof a));
    run(p.stream[1][0], "count_up", NULL, p.out[1]); /* not the one that it waits for */
    CHECK_STATUS(td_stream_synchronize(p.stream[0][0]), TD_DEVICE);
    CHECK_CONTAINS(td_last_message(), "an endless loop");
    CHECK_OK(finish_all(&p));
    pair_close(&p);
}

TEST(more_can_be_queued_than_the_queue_holds)
{
    pair p = pair_open();
    for (int i = 0; i < 3 * TD_EMU_QUEUED; i++) run(p.stream[i % 2][0], "count_up", NULL, p.out[i % 2]);
    CHECK_OK(finish_all(&p));
    CHECK_OK(td_stream_copy(p.stream[0][0], p.pinned, p.out[0], BYTES, TD_TO_HOST));
    CHECK_OK(finish_all(&p));
    CHECK_EQ(p.pinned[COUNT - 1], 3 * TD_EMU_QUEUED / 2);
    pair_close(&p);
}

TEST_MAIN
