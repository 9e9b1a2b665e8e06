/* Slices of one emulated GPU: devices with multiprocessors, streams and a budget of their own and one memory. Kernels of
 * one access what another allocated as their own; streams of two slices are ordered by events, like any two streams. */
#include "device/emulator/emulator.h"
#include "device/emulator/watch.h"
#include "emulator_bench.h"
#include "joint_kernels.h"

extern const td_kernel slice_kernels[];

enum { COUNT = 1024, BYTES = COUNT * 4, MIB = 1 << 20, MOST = 8 };

static const td_launch shape = {.blocks = 4, .threads = 256};

typedef struct party {
    td_loop *loop;
    int count;
    td_device *gpu[MOST];
    td_stream *stream[MOST];
    uint32_t *in[MOST], *out[MOST];
    uint64_t *wide;
    double *real;
} party;

static party party_open_with(const char *devices, td_device_options options)
{
    party p = {0};
    td_device *first = NULL;
    CHECK_OK(td_loop_create(&p.loop));
    options.loop = p.loop;
    CHECK_OK(td_devices_open(&first, devices, &options));
    for (td_device *next = first; next != NULL; next = next->next, p.count++) {
        p.gpu[p.count] = next;
        CHECK_OK(td_stream_open(next, &p.stream[p.count]));
        CHECK_OK(td_device_new(next, &p.in[p.count], COUNT, 4, "in"));
        CHECK_OK(td_device_new(next, &p.out[p.count], COUNT, 4, "out"));
        CHECK_OK(td_stream_fill(p.stream[p.count], p.in[p.count], 1, BYTES));
        CHECK_OK(td_stream_fill(p.stream[p.count], p.out[p.count], 0, BYTES));
    }
    CHECK_OK(td_device_new(first, &p.wide, 8, 8, "wide"));
    CHECK_OK(td_device_new(first, &p.real, 8, 8, "real"));
    CHECK_OK(td_stream_fill(p.stream[0], p.wide, 0, 64));
    CHECK_OK(td_stream_fill(p.stream[0], p.real, 0, 64));
    for (int i = 0; i < p.count; i++) CHECK_OK(td_stream_synchronize(p.stream[i]));
    return p;
}

static party party_open(const char *devices) { return party_open_with(devices, (td_device_options){.seed = 1}); }

static const char *file_devices(int count, const char *text)
{
    static char name[600];
    test_write_file(test_path("t"), text, strlen(text));
    snprintf(name, sizeof name, "emu:%d@%s", count, test_path("t"));
    return name;
}

static party party_of(int count, const char *topology) { return party_open(file_devices(count, topology)); }

static void party_close(party *p)
{
    for (int i = 0; i < p->count; i++) td_stream_close(p->stream[i]);
    td_device_free(p->gpu[0], p->wide);
    td_device_free(p->gpu[0], p->real);
    for (int i = 0; i < p->count; i++) {
        td_device_free(p->gpu[i], p->in[i]);
        td_device_free(p->gpu[i], p->out[i]);
    }
    td_devices_close(p->gpu[0]);
    td_loop_destroy(p->loop);
}

static void run(party *p, int gpu, const char *kernel, uint32_t *in, uint32_t *out)
{
    kernel_arguments a = {.in = in, .out = out, .wide = p->wide, .real = p->real, .count = COUNT, .choice = 7};
    CHECK_OK(td_stream_launch(p->stream[gpu], kernel_named(kernel), shape, &a, sizeof a));
}

static void follow(td_stream *stream, td_stream *other)
{
    td_event *event = NULL;
    CHECK_OK(td_stream_record(other, &event));
    CHECK_OK(td_stream_wait(stream, event));
    td_event_destroy(other->device, event);
}

static td_status finish(party *p)
{
    td_status first = TD_OK;
    td_failure kept = {0};
    for (int i = 0; i < p->count; i++) {
        td_status status = td_stream_synchronize(p->stream[i]);
        if (first == TD_OK && status != TD_OK) td_failure_keep(&kept);
        if (first == TD_OK) first = status;
    }
    if (first != TD_OK) td_failure_set(&kept);
    return first;
}

static uint32_t word_of(party *p, int gpu, const uint32_t *word)
{
    uint32_t value = 0;
    CHECK_OK(td_stream_copy(p->stream[gpu], &value, word, 4, TD_TO_HOST));
    CHECK_OK(td_stream_synchronize(p->stream[gpu]));
    return value;
}

static void needs_the_watch(void)
{
    if (!td_watch_built()) SKIP("this build watches no accesses");
}

/* What they are. */

TEST(slices_have_multiprocessors_of_their_own_and_one_memory)
{
    party p = party_open("emu:8@slices");
    td_link link = {0};
    CHECK_STR(p.gpu[0]->name, "emu:0/8#0");
    CHECK_STR(p.gpu[7]->name, "emu:0/8#7");
    for (int i = 0; i < 8; i++) {
        CHECK_EQ(p.gpu[i]->properties.multiprocessors, 16);
        CHECK_EQ(p.gpu[i]->properties.memory, UINT64_C(139) << 30);
        CHECK_OK(td_device_link(p.gpu[i], p.gpu[(i + 3) % 8], &link));
        CHECK(link.same_memory && link.direct && link.enabled);
        CHECK_EQ((uint64_t)link.rate, (uint64_t)(4474e9 / 8 / 2)); /* a copy reads and writes every byte */
        CHECK_OK(td_device_enable_peer(p.gpu[i], p.gpu[(i + 3) % 8]));
    }
    party_close(&p);
}

TEST(some_gpus_of_a_topology_may_be_slices)
{
    party p = party_of(5, "gpus 5\nslices 1-2\nslices 3-4\nlink 0 1 10GB/s 2us\nlink 1 3 20GB/s 2us\n");
    static const char *const names[] = {"emu:0", "emu:1/2#0", "emu:1/2#1", "emu:2/2#0", "emu:2/2#1"};
    td_link link = {0};
    for (int i = 0; i < 5; i++) CHECK_STR(p.gpu[i]->name, names[i]);
    CHECK_OK(td_device_link(p.gpu[3], p.gpu[4], &link));
    CHECK(link.same_memory);
    CHECK_OK(td_device_link(p.gpu[1], p.gpu[3], &link));
    CHECK(!link.same_memory && link.direct && !link.enabled && link.rate == 20e9);
    CHECK_OK(td_device_link(p.gpu[2], p.gpu[3], &link));
    CHECK(!link.same_memory && !link.direct);
    if (td_watch_built()) {
        run(&p, 1, "add_one", p.in[2], p.out[2]);
        CHECK_OK(finish(&p));
        run(&p, 1, "add_one", p.in[3], p.out[1]);
        CHECK_STATUS(finish(&p), TD_DEVICE);
        CHECK_CONTAINS(td_last_message(), "touches the memory of emu:2/2#0, to which access is not enabled");
        run(&p, 1, "add_one", p.in[4], p.out[1]);
        CHECK_STATUS(finish(&p), TD_DEVICE);
        CHECK_CONTAINS(td_last_message(), "touches the memory of emu:2/2#1, to which there is no link");
        run(&p, 0, "add_one", p.in[1], p.out[0]);
        CHECK_STATUS(finish(&p), TD_DEVICE);
        CHECK_CONTAINS(td_last_message(), "touches the memory of emu:1/2#0, to which access is not enabled");
    }
    party_close(&p);
}

TEST(wrong_lines_about_slices_are_named)
{
    static const struct {
        const char *text, *message;
    } files[] = {
        {"gpus 8\nslices\n", ":2: 'slices' has 0 values; 1 are needed"},
        {"gpus 8\nslices 0 3\n", ":2: 'slices' has 2 values; 1 are needed"},
        {"gpus 8\nslices 8\n", ":2: a GPU's number is '8'"},
        {"gpus 8\nslices 0-8\n", ":2: a GPU's number is '8'"},
        {"gpus 8\nslices some\n", ":2: a GPU's number is 'some'"},
        {"gpus 8\n\nslices 3\n", ":3: slices is '3'; a GPU is divided into two slices at least"},
        {"gpus 8\nslices 5-5\n", ":2: slices is '5-5'; a GPU is divided into two slices at least"},
        {"gpus 1\nslices all\n", ":2: slices is 'all'; a GPU is divided into two slices at least"},
        {"gpus 8\nslices 0-3\nslices 3-7\n", ":3: 3 is a slice of two GPUs; line 2 made it one of the first"},
        {"slices 0-1\ngpus 8\n", ":2: 'gpus' comes behind 'slices' of line 1; it must come first"},
        {"gpus 4\nslices 0-3\nlink 1 2 10GB/s 2us\n", ":3: a link joins 1 and 2, which are slices of one GPU"},
        {"gpus 4\nlink 1 2 10GB/s 2us\nslices 0-3\n", ":3: a link joins 1 and 2, which are slices of one GPU"},
        {"gpus 4\nslices 2-3\ngpu 3\nmemory 1G\n", ":2: 2 and 3 are slices of one GPU and have different values of 'memory'"},
        {"gpus 4\ngpu 3\ncache 1M\nslices 2-3\n", ":4: 2 and 3 are slices of one GPU and have different values of 'cache'"},
        {"gpus 4\nslices all\ngpu 3\nmemory-rate 1GB/s\n", ":2: 0 and 3 are slices of one GPU and have different values of "
                                                         "'memory-rate'"},
        {"gpus 4\nslices all\ngpu 1\natomic-rate 1G/s\n", ":2: 0 and 1 are slices of one GPU and have different values of "
                                                        "'atomic-rate'"},
        {"gpus 4\nslices all\nhost-link 0-1 1GB/s 1GB/s 1us\n", ":2: 0 and 2 are slices of one GPU and have different values "
                                                              "of 'host-link'"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        td_device *devices = NULL;
        CHECK_STATUS(td_devices_open(&devices, file_devices(1, files[i].text), &(td_device_options){0}), TD_FORMAT);
        CHECK_CONTAINS(td_last_message(), files[i].message);
        CHECK_CONTAINS(td_last_message(), test_path("t"));
    }
}

/* Memory. */

TEST(each_slice_has_an_equal_budget_of_the_memory)
{
    void *memory = NULL;
    const char *devices = file_devices(3, "gpus 4\nslices all\nmemory 8M\n");
    party p = party_open(devices);
    uint64_t left = 2 * MIB - 2 * BYTES;
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(p.gpu[i]->budget, 2 * MIB);
        CHECK_EQ(td_device_left(p.gpu[i]), left - (i == 0 ? 128 : 0));
    }
    CHECK_OK(td_device_new(p.gpu[1], &memory, left, 1, "values"));
    td_device_free(p.gpu[1], memory);
    CHECK_STATUS(td_device_new(p.gpu[1], &memory, left + 1, 1, "values"), TD_NO_MEMORY);
    CHECK_CONTAINS(td_last_message(), "emu:0/4#1: values needs 2.0 MiB of device memory");
    CHECK_CONTAINS(td_last_message(), "8.0 KiB of the 2.0 MiB allowed are taken");
    party_close(&p);
    p = party_open_with(devices, (td_device_options){.gpu_memory = 4 * MIB}); /* the GPU's */
    for (int i = 0; i < 3; i++) CHECK_EQ(p.gpu[i]->budget, MIB);
    party_close(&p);
}

/* A budget above the GPU's memory does not make it larger. */
TEST(slices_together_have_the_memory_of_the_gpu)
{
    void *one = NULL, *other = NULL;
    party p = party_open_with(file_devices(2, "gpus 2\nslices all\nmemory 8M\n"),
                              (td_device_options){.gpu_memory = 16 * MIB});
    CHECK_OK(td_device_new(p.gpu[0], &one, 6 * MIB, 1, "values"));
    CHECK_STATUS(td_device_new(p.gpu[1], &other, 3 * MIB, 1, "values"), TD_NO_MEMORY);
    CHECK_CONTAINS(td_last_message(), "emu:0/2#1: 3145728 bytes wanted, 6307968 of 8388608 taken");
    td_device_free(p.gpu[0], one);
    CHECK_OK(td_device_new(p.gpu[1], &other, 3 * MIB, 1, "values"));
    td_device_free(p.gpu[1], other);
    party_close(&p);
}

TEST(operations_of_a_slice_take_memory_of_another)
{
    party p = party_of(2, "gpus 2\nslices all\n");
    uint32_t word = 5, *room = NULL;
    uint64_t room_bytes = 0;
    CHECK_OK(td_stream_fill(p.stream[0], p.out[1], 3, 4));
    CHECK_EQ(word_of(&p, 0, p.out[1]), 0x03030303);
    CHECK_OK(td_stream_copy(p.stream[0], p.out[1], &word, 4, TD_TO_DEVICE));
    CHECK_OK(td_stream_copy(p.stream[0], p.out[0] + 1, p.out[1], 4, TD_ON_DEVICE));
    CHECK_EQ(word_of(&p, 0, p.out[0] + 1), 5);
    CHECK_OK(td_device_sort_bytes(p.gpu[0], COUNT, &room_bytes));
    CHECK_OK(td_device_new(p.gpu[1], &room, room_bytes, 1, "room"));
    CHECK_OK(td_stream_sort(p.stream[0], p.out[1], p.in[1], COUNT, room, room_bytes));
    CHECK_EQ(word_of(&p, 0, p.out[1] + COUNT - 1), 5);
    CHECK_EQ(word_of(&p, 1, p.out[1]), 0);
    td_device_free(p.gpu[1], room);
    party_close(&p);
}

TEST(kernels_access_what_another_slice_allocated_as_their_own)
{
    needs_the_watch();
    party p = party_open("emu:8@slices");
    run(&p, 0, "add_one", p.in[5], p.out[7]);
    run(&p, 0, "count_up", NULL, p.out[7]);
    CHECK_OK(finish(&p));
    CHECK_EQ(word_of(&p, 3, p.out[7] + 9), 0x01010101 + 2);
    td_emulator_counts c = td_emulator_counted(p.gpu[0]);
    CHECK(c.bytes_read == 2 * BYTES && c.bytes_written == BYTES && c.peer_bytes == 0 && c.atomics == COUNT);
    for (int i = 1; i < 8; i++) {
        td_link_counts to = td_device_link_counts(p.gpu[0], p.gpu[i]), from = td_device_link_counts(p.gpu[i], p.gpu[0]);
        CHECK(to.reads == 0 && to.writes == 0 && from.reads == 0 && from.writes == 0);
    }
    party_close(&p);
}

/* Time. */

static uint64_t peer_copy(party *p, uint64_t bytes)
{
    char *from = NULL, *to = NULL;
    CHECK_OK(td_device_new(p->gpu[0], &from, bytes, 1, "memory"));
    CHECK_OK(td_device_new(p->gpu[1], &to, bytes, 1, "memory"));
    CHECK_OK(td_stream_fill(p->stream[0], from, 9, bytes));
    CHECK_OK(td_stream_synchronize(p->stream[0]));
    uint64_t began = td_device_clock(p->gpu[0]);
    CHECK_OK(td_stream_copy_peer(p->stream[0], p->gpu[1], to, p->gpu[0], from, bytes));
    CHECK_OK(td_stream_synchronize(p->stream[0]));
    uint64_t took = td_device_clock(p->gpu[0]) - began;
    CHECK_EQ(word_of(p, 1, (uint32_t *)(void *)(to + bytes - 4)), 0x09090909);
    td_device_free(p->gpu[0], from);
    td_device_free(p->gpu[1], to);
    return took;
}

/* Every byte is read and written, at the slice's share of the rate: 250 GB/s of 500. */
TEST(a_copy_between_slices_is_one_within_the_memory)
{
    party p = party_of(2, "gpus 2\nslices all\n");
    uint64_t took = peer_copy(&p, MIB), expected = 4000 + 2 * MIB / 250 + 5000;
    CHECK(took >= expected && took <= expected + 2);
    td_link_counts c = td_device_link_counts(p.gpu[0], p.gpu[1]);
    CHECK(c.copies == 1 && c.copied_bytes == MIB);
    party_close(&p);
}

static uint64_t kernel_ns(const char *topology, const char *kernel)
{
    party p = party_of(2, topology);
    run(&p, 1, kernel, p.in[1], p.out[1]);
    CHECK_OK(finish(&p));
    uint64_t took = td_emulator_counted(p.gpu[1]).kernel_ns - 4000;
    party_close(&p);
    return took;
}

TEST(slices_share_the_rates_of_memory_and_atomics)
{
    needs_the_watch();
    static const char whole[] = "gpus 2\nmemory-rate 1GB/s\n", halves[] = "gpus 2\nslices all\nmemory-rate 1GB/s\n";
    static const char whole_atomics[] = "gpus 2\natomic-rate 0.1G/s\n";
    static const char halves_atomics[] = "gpus 2\natomic-rate 0.1G/s\nslices all\n";
    CHECK_EQ(kernel_ns(whole, "add_one"), 2 * BYTES);
    CHECK_EQ(kernel_ns(halves, "add_one"), 2 * 2 * BYTES);
    CHECK_EQ(kernel_ns(whole_atomics, "count_up"), COUNT * 10);
    CHECK_EQ(kernel_ns(halves_atomics, "count_up"), COUNT * 20);
}

static uint64_t copies_to_both(const char *topology)
{
    party p = party_of(2, topology);
    char *host = NULL;
    void *seen = NULL;
    CHECK_OK(TD_NEW_ZEROED(&host, 2 * BYTES, "host memory"));
    CHECK_OK(td_device_pin(p.gpu[0], host, 2 * BYTES, &seen));
    uint64_t began = td_device_clock(p.gpu[0]);
    for (int i = 0; i < 2; i++) CHECK_OK(td_stream_copy(p.stream[i], p.in[i], host + i * BYTES, BYTES, TD_TO_DEVICE));
    for (int i = 2; i-- > 0;) CHECK_OK(td_stream_synchronize(p.stream[i])); /* the later one first */
    uint64_t took = td_device_clock(p.gpu[0]) - began;
    td_device_unpin(p.gpu[0], host);
    td_free(host);
    party_close(&p);
    return took - 2 * 5000;
}

TEST(slices_share_the_link_to_the_host)
{
    static const char *const shared[] = {"gpus 2\nslices all\nhost-link each 1GB/s 1GB/s 1us\n",
                                         "gpus 2\nhost-link each 1GB/s 1GB/s 1us\nslices all\n",
                                         "gpus 2\nslices all\nhost-link 0-1 1GB/s 1GB/s 1us\n"};
    for (int i = 0; i < 3; i++) CHECK_EQ(copies_to_both(shared[i]), 2 * (1000 + BYTES));
    CHECK_EQ(copies_to_both("gpus 2\nhost-link each 1GB/s 1GB/s 1us\n"), 1000 + BYTES);
}

/* Order. */

/* At the same virtual time: each slice's kernel ends as early as if it were alone. */
TEST(atomics_of_all_slices_meet_in_one_word)
{
    party p = party_open("emu:8@slices");
    uint32_t threads = shape.blocks * shape.threads;
    uint64_t began = td_device_clock(p.gpu[0]), alone;
    CHECK_OK(td_stream_fill(p.stream[0], p.out[0] + 1, 0xff, 4));
    for (int i = 1; i < 8; i++) follow(p.stream[i], p.stream[0]);
    run(&p, 0, "atomics_only", NULL, p.out[3]);
    CHECK_OK(td_stream_synchronize(p.stream[0]));
    alone = td_device_clock(p.gpu[0]) - began;
    began = td_device_clock(p.gpu[0]);
    for (int i = 0; i < 8; i++) run(&p, i, "atomics_only", NULL, p.out[0]);
    for (int i = 8; i-- > 0;) CHECK_OK(td_stream_synchronize(p.stream[i]));
    CHECK(td_device_clock(p.gpu[0]) - began < alone + 8 * 5000);
    CHECK_EQ(word_of(&p, 5, p.out[0]), 8 * threads);
    CHECK_EQ(word_of(&p, 5, p.out[0] + 1), 0);
    CHECK_EQ(word_of(&p, 5, p.out[0] + 2), threads - 1);
    CHECK_EQ(word_of(&p, 5, p.out[0] + 3), UINT32_MAX);
    party_close(&p);
}

static void expect_race(party *p, const char *it, const char *other)
{
    CHECK_STATUS(finish(p), TD_DEVICE);
    CHECK_CONTAINS(td_last_message(), "race between streams");
    CHECK_CONTAINS(td_last_message(), it);
    CHECK_CONTAINS(td_last_message(), other);
    CHECK_CONTAINS(td_last_message(), "nothing orders them: wait for an event recorded behind the first");
    CHECK_CONTAINS(td_last_message(), IN_FILE("queued at ", "test_emulator_slices.c", ""));
    CHECK_OK(finish(p));
}

TEST(a_missing_event_between_two_slices_is_reported)
{
    needs_the_watch();
    static const struct {
        const char *first, *then;
    } pairs[] = {{"write_peer", "write_peer"}, {"write_peer", "load_all"}, {"write_peer", "count_up"},
                 {"count_up", "write_peer"}, {"load_all", "write_peer"}, {"store_all", "write_peer"}};
    party p = party_open("emu:8@slices");
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        bool first_loads = strcmp(pairs[i].first, "load_all") == 0, then_loads = strcmp(pairs[i].then, "load_all") == 0;
        for (int waits = 0; waits < 2; waits++) { /* the word of both is slice 2's */
            run(&p, 0, pairs[i].first, first_loads ? p.out[2] : NULL, first_loads ? p.out[0] : p.out[2]);
            if (waits == 1) follow(p.stream[1], p.stream[0]);
            run(&p, 1, pairs[i].then, then_loads ? p.out[2] : NULL, then_loads ? p.out[1] : p.out[2]);
            if (waits == 1) CHECK_OK(finish(&p));
            else expect_race(&p, "(stream 0 of emu:0/8#1)", "(stream 0 of emu:0/8#0, queued at");
        }
    }
    party_close(&p);
}

TEST(a_copy_between_slices_is_ordered_by_events_too)
{
    needs_the_watch();
    party p = party_open("emu:2@slices");
    for (int waits = 0; waits < 2; waits++) {
        run(&p, 0, "write_peer", NULL, p.out[0]);
        if (waits == 1) follow(p.stream[1], p.stream[0]);
        CHECK_OK(td_stream_copy_peer(p.stream[1], p.gpu[1], p.out[1], p.gpu[0], p.out[0], BYTES));
        if (waits == 1) CHECK_OK(finish(&p));
        else expect_race(&p, "the copy on the device (stream 0 of emu:0/8#1", "kernel write_peer");
    }
    CHECK_EQ(word_of(&p, 1, p.out[1] + 4), 12);
    party_close(&p);
}

/* Loads that another slice's stores were not ordered before. */
static uint32_t stale_words(const char *topology, int writer, int reader)
{
    uint32_t seen[COUNT], old = 0;
    party p = party_of(4, topology);
    for (int i = 0; i < 4; i++) (void)td_device_enable_peer(p.gpu[i], p.gpu[0]);
    run(&p, writer, "store_all", NULL, p.in[0]);
    run(&p, reader, "load_all", p.in[0], p.out[reader]);
    CHECK_OK(td_stream_copy(p.stream[reader], seen, p.out[reader], BYTES, TD_TO_HOST));
    CHECK_OK(finish(&p));
    for (int i = 0; i < COUNT; i++) old += seen[i] != 7;
    party_close(&p);
    return old;
}

TEST(slices_see_the_writes_of_each_other_at_once)
{
    needs_the_watch();
    static const char halves[] = "gpus 4\nslices 0-1\nslices 2-3\nlink 0 2 25GB/s 2us\nremote-delay 4\n";
    CHECK_EQ(stale_words(halves, 1, 0), 0);
    CHECK_EQ(stale_words(halves, 0, 1), 0);
    CHECK(stale_words(halves, 1, 2) > COUNT / 4);
}

static void launch_rounds(party *p, uint32_t me)
{
    kernel_arguments a = {.in = p->in[me], .out = p->in[1 - me], .wide = p->wide, .count = 20, .choice = me};
    CHECK_OK(td_stream_launch(p->stream[me], kernel_named("rounds_of_two"), (td_launch){.blocks = 1, .threads = 64}, &a,
                              sizeof a));
}

/* Launches of two slices that meet at a counter: the first is paused until the second has come. */
TEST(launches_of_two_slices_wait_for_each_other)
{
    needs_the_watch();
    party p = party_open("emu:2@slices");
    launch_rounds(&p, 0);
    launch_rounds(&p, 1);
    CHECK_OK(finish(&p));
    CHECK_EQ(word_of(&p, 0, (const uint32_t *)p.wide), 80);
    CHECK_EQ(word_of(&p, 0, (const uint32_t *)p.wide + 1), 0);
    party_close(&p);
}

/* The launch that waits for the other slice occupies its own. */
TEST(a_copy_between_slices_waits_for_the_kernels_of_its_slice)
{
    needs_the_watch();
    party p = party_of(2, "gpus 2\nslices all\n");
    td_stream *beside = NULL;
    char *large = NULL;
    CHECK_OK(td_stream_open(p.gpu[0], &beside));
    CHECK_OK(td_device_new(p.gpu[1], &large, 4 * MIB, 1, "memory"));
    uint64_t began = td_device_clock(p.gpu[0]);
    launch_rounds(&p, 0);
    CHECK_OK(td_stream_copy_peer(beside, p.gpu[1], p.out[1], p.gpu[0], p.out[0], BYTES));
    CHECK_OK(td_stream_fill(p.stream[1], large, 0, 4 * MIB));
    launch_rounds(&p, 1);
    CHECK_OK(td_stream_synchronize(beside));
    CHECK(td_device_clock(p.gpu[0]) - began > 4000 + 4 * MIB / 250 + 4000);
    CHECK_OK(finish(&p));
    td_stream_close(beside);
    td_device_free(p.gpu[1], large);
    party_close(&p);
}

/* Joint launches. */

enum { ROUNDS = 6, LEAST = 64, MEMBERS, WRONG };

static td_status launch_jointly(party *p, td_set *set, int kernel)
{
    const td_kernel *kernels[MOST];
    td_launch shapes[MOST];
    ring_arguments each[MOST];
    const void *arguments[MOST];
    for (int i = 0; i < p->count; i++) {
        each[i] = (ring_arguments){.set = td_set_member_of(set, i), .counts = p->out[3], .least = p->out[3] + LEAST,
                                   .members = p->out[3] + MEMBERS, .wrong = p->out[i] + WRONG, .rounds = ROUNDS};
        kernels[i] = &slice_kernels[kernel];
        shapes[i] = (td_launch){.blocks = 2, .threads = 64};
        arguments[i] = &each[i];
    }
    return td_streams_launch_joint(set, p->stream, kernels, shapes, arguments, sizeof *each);
}

TEST(slices_launch_jointly_with_atomics_of_the_device)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        party p = party_open_with("emu:8@slices", (td_device_options){.seed = seed});
        td_set *set = NULL;
        CHECK_OK(td_set_open(&set, p.gpu, p.count));
        CHECK_OK(td_stream_fill(p.stream[0], p.out[3] + LEAST, 0xff, 4));
        CHECK_OK(launch_jointly(&p, set, 0));
        CHECK_OK(finish(&p));
        for (uint32_t i = 0; i < ROUNDS; i++) CHECK_EQ(word_of(&p, 0, p.out[3] + i), 8 * 128);
        CHECK_EQ(word_of(&p, 0, p.out[3] + LEAST), 7);
        CHECK_EQ(word_of(&p, 0, p.out[3] + MEMBERS), 0xff);
        for (int i = 0; i < 8; i++) CHECK_EQ(word_of(&p, i, p.out[i] + WRONG), 0);
        CHECK_EQ(td_emulator_counted(p.gpu[7]).peer_bytes, 0);
        td_set_close(set);
        party_close(&p);
    }
}

/* The others' atomics are those of another device. */
TEST(slices_of_two_gpus_need_atomics_of_the_system)
{
    needs_the_watch();
    party p = party_of(4, "gpus 4\nslices 0-1\nslices 2-3\nlink 0 2 25GB/s 2us\nlink 0 3 25GB/s 2us\n"
                       "link 1 2 25GB/s 2us\nlink 1 3 25GB/s 2us\n");
    td_set *set = NULL;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) CHECK_OK(td_device_enable_peer(p.gpu[i], p.gpu[j]));
    CHECK_OK(td_set_open(&set, p.gpu, p.count));
    CHECK_OK(launch_jointly(&p, set, 0));
    CHECK_STATUS(finish(&p), TD_DEVICE);
    CHECK_CONTAINS(td_last_message(), "an atomic of one device's threads: it changes a word that emu:");
    bool first = strncmp(td_last_message(), "emu:0/2#", 8) == 0;
    CHECK_CONTAINS(td_last_message(), first ? "that emu:1/2#" : "that emu:0/2#");
    (void)finish(&p);
    td_set_close(set);
    party_close(&p);
}

TEST(a_plain_write_of_one_slice_in_a_joint_launch_is_reported)
{
    needs_the_watch();
    party p = party_open("emu:8@slices");
    td_set *set = NULL;
    CHECK_OK(td_set_open(&set, p.gpu, p.count));
    CHECK_OK(launch_jointly(&p, set, 1));
    CHECK_STATUS(finish(&p), TD_DEVICE);
    CHECK_CONTAINS(td_last_message(), IN_FILE("kernel slices_plain, ", "slice_kernels.c", "slices_plain+0x"));
    CHECK_CONTAINS(td_last_message(), "race between devices: it ");
    CHECK_CONTAINS(td_last_message(), "with no set barrier between");
    (void)finish(&p);
    td_set_close(set);
    party_close(&p);
}

TEST_MAIN
