/* Every broken rule is told: with the kernel's name, the file and the line, the thread and its block; and the device goes
 * on. Builds without libdw name the function instead of the line where an access broke the rule. */
#include "device/emulator/debug_lines.h"
#include "device/emulator/sanitizer.h"
#include "device/emulator/watch.h"
#include "emulator_bench.h"

#include <sys/wait.h>

enum { SEEDS = 20 };

/* Whether the message names a line of the kernel's text that says `here`. */
static bool names_the_line(const char *kernel, const char *message)
{
    char text[256], wanted[64], begin[96];
    bool inside = false, found = false;
    FILE *file = fopen(TEST_SOURCES "/device/emulator_wrong_kernels.c", "r");
    CHECK(file != NULL);
    snprintf(begin, sizeof begin, "TD_KERNEL(%s,", kernel);
    for (int line = 1; fgets(text, sizeof text, file) != NULL; line++) {
        if (strncmp(text, "TD_KERNEL(", 10) == 0) inside = strncmp(text, begin, strlen(begin)) == 0;
        if (!inside || strstr(text, "/* here */") == NULL) continue;
        snprintf(wanted, sizeof wanted, "emulator_wrong_kernels.c:%d,", line);
        found = found || strstr(message, wanted) != NULL;
    }
    fclose(file);
    return found;
}

/* Whether the message names a place inside the kernel: no kernel of this test has 4 KiB of code. */
static bool names_the_function(const char *kernel, const char *message)
{
    char wanted[96];
    snprintf(wanted, sizeof wanted, ", %s+", kernel);
    const char *place = strstr(message, wanted);
    if (place == NULL) return false;
    unsigned long offset = strtoul(place + strlen(wanted), NULL, 16);
    return offset > 0 && offset < 4096;
}

static void expect_message(const char *name, const char *part)
{
    char kernel[96];
    snprintf(kernel, sizeof kernel, "emu:0, kernel %s, ", name);
    CHECK_CONTAINS(td_last_message(), kernel);
    CHECK_CONTAINS(td_last_message(), "thread ");
    CHECK_CONTAINS(td_last_message(), " of block ");
    CHECK_CONTAINS(td_last_message(), part);
    if (names_the_line(name, td_last_message())) return;
    if (td_debug_lines_available()) TEST_FAIL("'%s' names another line", td_last_message());
    if (!names_the_function(name, td_last_message())) TEST_FAIL("'%s' names no function", td_last_message());
}

/* Caught whatever the order of threads; and the next kernel runs. */
static void refuse_shape(const char *name, td_launch shape, const char *part)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        bench b = bench_open("emu", seed);
        CHECK_STATUS(bench_run(&b, name, shape), TD_DEVICE);
        expect_message(name, part);
        CHECK_OK(bench_run(&b, "add_one", (td_launch){.blocks = 16, .threads = 256}));
        bench_close(&b);
    }
}

static void refuse(const char *name, const char *part)
{
    refuse_shape(name, (td_launch){.blocks = 2, .threads = 64}, part);
}

static void needs_the_watch(void)
{
    if (!td_watch_built()) SKIP("this build watches no accesses");
}

TEST(a_missing_barrier_is_a_race)
{
    needs_the_watch();
    refuse("missing_barrier", "race");
    refuse("missing_barrier_atomics", "race");
    refuse("missing_second_barrier", "race");
}

TEST(a_barrier_that_some_threads_pass_by_is_divergent)
{
    refuse("divergent_barrier", "divergent barrier: thread 5 of the block has ended");
    refuse("barriers_apart", "divergent barrier");
    refuse_shape("grid_and_block", (td_launch){.blocks = 2, .threads = 64, .cooperative = true}, "divergent");
}

TEST(a_grid_barrier_needs_all_blocks_at_once)
{
    refuse("grid_alone", "a launch that is not cooperative");
    refuse_shape("block_leaves_grid", (td_launch){.blocks = 2, .threads = 64, .cooperative = true}, "deadlock");
}

TEST(a_mask_names_the_lanes_that_come)
{
    refuse("mask_of_ended", "names lane 7, which has ended");
    refuse("mask_without_self", "not in its own mask 0x0000ffff");
    refuse("masks_differ", "the mask 0x");
    refuse("sites_differ", "which waits at emulator_wrong_kernels.c:");
}

TEST(lanes_that_wait_for_each_other_in_vain_are_a_deadlock)
{
    refuse("deadlock", "deadlock: it waits at");
}

TEST(shared_memory_has_bounds)
{
    refuse("shared_too_large", "4194304 bytes of shared memory, with 0 taken; a block has 49152");
    needs_the_watch();
    refuse("shared_overrun", "shared memory");
    refuse("shared_underrun", "shared memory");
}

TEST(plain_stores_that_race_are_found)
{
    needs_the_watch();
    refuse("plain_race", "race: it writes plainly a word of device memory");
    refuse("race_of_blocks", "race: it writes plainly");
    refuse("race_with_atomic", "race: it");
    refuse("race_with_reader", "race: it");
    refuse("race_in_warp", "race: it");
    refuse("race_of_bytes", "race: it writes plainly");
    refuse_shape("grid_rounds_apart", (td_launch){.blocks = 4, .threads = 32, .cooperative = true}, "race: it");
}

TEST(an_endless_loop_ends)
{
    needs_the_watch();
    static const char impatient[] = "gpus 1\ncheck off\npatience 4M\n";
    char name[600];
    test_write_file(test_path("t"), impatient, sizeof impatient - 1);
    snprintf(name, sizeof name, "emu:1@%s", test_path("t"));
    bench b = bench_open(name, 1);
    CHECK_STATUS(bench_run(&b, "endless", (td_launch){.blocks = 1, .threads = 32}), TD_DEVICE);
    expect_message("endless", "an endless loop");
    bench_close(&b);
}

TEST(a_cancelled_process_does_not_wait_for_its_kernels)
{
    needs_the_watch();
    bench b = bench_open("emu", 1);
    td_cancel_request();
    td_launch shape = {.blocks = 1, .threads = 32, .cooperative = true};
    const td_kernel *endless = kernel_named("endless");
    CHECK_OK(td_stream_launch(b.stream, endless, shape, &b.arguments, sizeof b.arguments));
    CHECK_STATUS(td_stream_synchronize(b.stream), TD_CANCELLED);
    td_cancel_clear();
    CHECK_OK(bench_run(&b, "add_one", (td_launch){.blocks = 16, .threads = 256}));
    bench_close(&b);
}

TEST(canaries_tell_of_shared_memory_where_nothing_watches)
{
    if (td_watch_built() || TD_ADDRESS_CHECKED || TD_THREADS_CHECKED) SKIP("accesses are seen at once in this build");
    bench b = bench_open("emu", 1);
    CHECK_STATUS(bench_run(&b, "shared_overrun", (td_launch){.blocks = 2, .threads = 64}), TD_DEVICE);
    CHECK_CONTAINS(td_last_message(), "shared memory was written behind the 256 bytes of emulator_wrong_kernels.c:");
    bench_close(&b);
}

/* The sanitizer ends the process, so a process is given to it. */
static bool ends_the_process(const char *name, bool freed)
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        if (freopen("/dev/null", "w", stderr) == NULL) _exit(0);
        bench b = bench_open("emu", 1);
        if (freed && td_stream_synchronize(b.stream) == TD_OK) td_device_free(b.device, b.arguments.in);
        bench_run(&b, name, (td_launch){.blocks = 2, .threads = 64});
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

TEST(the_address_sanitizer_sees_what_kernels_touch)
{
    if (!TD_ADDRESS_CHECKED) SKIP("not a build with the address sanitizer");
    CHECK(!ends_the_process("plain_race", false));
    CHECK(ends_the_process("shared_overrun", false));
    CHECK(ends_the_process("shared_underrun", false));
    CHECK(ends_the_process("global_overrun", false));
    CHECK(ends_the_process("global_underrun", false));
    CHECK(ends_the_process("freed_memory", true));
}

TEST(device_memory_has_bounds)
{
    needs_the_watch();
    refuse("global_overrun", "device memory of 16384 bytes");
    refuse("global_underrun", "device memory of 16384 bytes");
}

TEST(freed_device_memory_is_no_longer_the_kernels)
{
    needs_the_watch();
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        bench b = bench_open("emu", seed);
        CHECK_OK(td_stream_synchronize(b.stream));
        td_device_free(b.device, b.arguments.in);
        CHECK_STATUS(bench_run(&b, "freed_memory", (td_launch){.blocks = 1, .threads = 32}), TD_DEVICE);
        expect_message("freed_memory", "reads 4 bytes at byte 12 of freed device memory of 16384 bytes");
        b.arguments.in = NULL;
        bench_close(&b);
    }
}

TEST(host_memory_is_the_kernels_only_while_pinned)
{
    needs_the_watch();
    bench b = bench_open("emu", 1);
    static uint32_t host[8] = {1, 2, 3, 4};
    uint32_t *device_memory = b.arguments.in, *seen = NULL;
    b.arguments.in = host;
    CHECK_STATUS(bench_run(&b, "host_memory", (td_launch){.blocks = 1, .threads = 32}), TD_DEVICE);
    expect_message("host_memory", "neither the device's memory nor pinned host memory");
    CHECK_OK(td_device_pin(b.device, host, sizeof host, &seen));
    b.arguments.in = seen;
    CHECK_OK(bench_run(&b, "host_memory", (td_launch){.blocks = 1, .threads = 32}));
    td_device_unpin(b.device, host);
    CHECK_STATUS(bench_run(&b, "host_memory", (td_launch){.blocks = 1, .threads = 32}), TD_DEVICE);
    expect_message("host_memory", "unpinned host memory");
    b.arguments.in = device_memory;
    bench_close(&b);
}

TEST(variables_of_the_program_and_other_threads_stacks_are_not_the_kernels)
{
    needs_the_watch();
    refuse("writable_global", "neither the device's memory nor pinned host memory");
    refuse("other_stack", "reads 4 bytes");
}

TEST(a_failure_drops_what_is_queued_behind_it_and_is_told_once)
{
    bench b = bench_open("emu", 3);
    td_launch shape = {.blocks = 1, .threads = 64};
    const td_kernel *wrong = kernel_named("divergent_barrier");
    uint32_t word = 1;
    CHECK_OK(td_stream_fill(b.stream, b.arguments.out, 0, 4));
    CHECK_OK(td_stream_launch(b.stream, wrong, shape, &b.arguments, sizeof b.arguments));
    CHECK_OK(td_stream_fill(b.stream, b.arguments.out, 0xff, 4));
    CHECK_STATUS(td_stream_synchronize(b.stream), TD_DEVICE);
    CHECK_CONTAINS(td_last_message(), "divergent barrier");
    CHECK_OK(td_stream_synchronize(b.stream));
    bench_read(&b, &word, b.arguments.out, 4);
    CHECK(word != UINT32_MAX);
    bench_close(&b);
}

/* Work on another stream lets time pass: the failure is known before the stream is waited for. */
TEST(a_failure_is_told_by_whatever_comes_next)
{
    bench b = bench_open("emu", 3);
    td_stream *other = NULL;
    td_event *event = NULL;
    td_launch shape = {.blocks = 1, .threads = 64};
    const td_kernel *wrong = kernel_named("divergent_barrier");
    CHECK_OK(td_stream_open(b.device, &other));
    CHECK_OK(td_stream_launch(b.stream, wrong, shape, &b.arguments, sizeof b.arguments));
    CHECK_OK(td_stream_record(b.stream, &event));
    CHECK_OK(td_stream_wait(other, event));
    CHECK_OK(td_stream_synchronize(other));
    CHECK_STATUS(td_stream_fill(b.stream, b.arguments.out, 0, 4), TD_DEVICE);
    CHECK_OK(td_stream_fill(b.stream, b.arguments.out, 0, 4));
    CHECK_OK(td_stream_synchronize(b.stream));
    td_event_destroy(b.device, event);
    td_stream_close(other);
    bench_close(&b);
}

static void keep_status(void *context, td_status status, uint64_t value)
{
    (void)value;
    *(td_status *)context = status;
}

TEST(a_completion_carries_the_failure)
{
    bench b = bench_open("emu", 3);
    td_status seen = TD_OK;
    const td_kernel *wrong = kernel_named("mask_of_ended");
    td_launch shape = {.blocks = 1, .threads = 64};
    CHECK_OK(td_stream_launch(b.stream, wrong, shape, &b.arguments, sizeof b.arguments));
    CHECK_OK(td_stream_notify(b.stream, keep_status, &seen, 0));
    CHECK_OK(td_loop_run(b.loop));
    CHECK_EQ(seen, TD_DEVICE);
    CHECK_CONTAINS(td_last_message(), "names lane 7");
    bench_close(&b);
}

TEST(copies_and_fills_have_bounds)
{
    bench b = bench_open("emu", 1);
    char host[64] = {0};
    CHECK_STATUS(td_stream_copy(b.stream, b.arguments.out + BENCH_WORDS - 1, host, 8, TD_TO_DEVICE), TD_DEVICE);
    CHECK_CONTAINS(td_last_message(), "emu:0: copied to: 8 bytes at byte 16380 of device memory of 16384 bytes");
    CHECK_STATUS(td_stream_copy(b.stream, host, host + 32, 8, TD_TO_HOST), TD_DEVICE);
    CHECK_STATUS(td_stream_fill(b.stream, b.arguments.bytes - 1, 0, 8), TD_DEVICE);
    CHECK_OK(td_stream_copy(b.stream, b.arguments.out, b.arguments.in, 64, TD_ON_DEVICE));
    bench_close(&b);
}

TEST(shapes_that_no_gpu_has_are_refused)
{
    bench b = bench_open("emu", 1);
    CHECK_STATUS(bench_run(&b, "add_one", (td_launch){.blocks = 1, .threads = 33}), TD_DEVICE);
    CHECK_CONTAINS(td_last_message(), "blocks of 33 threads; a multiple of 32 up to 1024 is possible");
    CHECK_STATUS(bench_run(&b, "add_one", (td_launch){.blocks = 1, .threads = 2048}), TD_DEVICE);
    CHECK_STATUS(bench_run(&b, "add_one", (td_launch){.blocks = 1, .threads = 32, .shared_bytes = 1 << 20}), TD_DEVICE);
    CHECK_STATUS(bench_run(&b, "add_one", (td_launch){.blocks = 5, .threads = 1024, .cooperative = true}), TD_DEVICE);
    CHECK_CONTAINS(td_last_message(), "5 blocks of 1024 threads in a cooperative launch; 4 run at once");
    bench_close(&b);
}

TEST_MAIN
