/* Links between emulated GPUs: what they say, how copies cross them, what they count, and that GPUs compute at the same
 * virtual time. */
#include "device/emulator/emulator.h"
#include "emulator_bench.h"

enum { MIB = 1 << 20 };

typedef struct party {
    td_loop *loop;
    td_device *gpu[8];
    td_stream *stream[8];
    uint32_t *memory[8]; /* a MiB each */
    int count;
} party;

static party party_open(const char *devices)
{
    party p = {0};
    td_device *first = NULL;
    CHECK_OK(td_loop_create(&p.loop));
    CHECK_OK(td_devices_open(&first, devices, &(td_device_options){.loop = p.loop}));
    for (td_device *next = first; next != NULL; next = next->next, p.count++) {
        p.gpu[p.count] = next;
        CHECK_OK(td_stream_open(next, &p.stream[p.count]));
        CHECK_OK(td_device_new(next, &p.memory[p.count], MIB, 1, "memory"));
        CHECK_OK(td_stream_fill(p.stream[p.count], p.memory[p.count], p.count + 1, MIB));
    }
    for (int i = 0; i < p.count; i++) CHECK_OK(td_stream_synchronize(p.stream[i]));
    return p;
}

static void party_close(party *p)
{
    for (int i = 0; i < p->count; i++) {
        td_stream_close(p->stream[i]);
        td_device_free(p->gpu[i], p->memory[i]);
    }
    td_devices_close(p->gpu[0]);
    td_loop_destroy(p->loop);
}

static uint64_t peer_copy(party *p, int from, int to, uint64_t bytes)
{
    uint64_t began = td_device_clock(p->gpu[0]);
    CHECK_OK(td_stream_copy_peer(p->stream[from], p->gpu[to], p->memory[to], p->gpu[from], p->memory[from], bytes));
    CHECK_OK(td_stream_synchronize(p->stream[from]));
    return td_device_clock(p->gpu[0]) - began;
}

TEST(a_link_says_what_the_topology_says)
{
    party p = party_open("emu:8@dgx1");
    td_link link = {0};
    CHECK_OK(td_device_link(p.gpu[0], p.gpu[4], &link));
    CHECK(link.direct && !link.same_memory && !link.enabled && link.rate == 50e9 && link.latency_ns == 2000);
    CHECK_OK(td_device_link(p.gpu[0], p.gpu[7], &link));
    CHECK(!link.direct && !link.same_memory && link.rate == 11e9 && link.latency_ns == 16000);
    CHECK_OK(td_device_link(p.gpu[3], p.gpu[3], &link));
    CHECK(link.direct && link.same_memory && link.enabled);
    CHECK_OK(td_device_enable_peer(p.gpu[3], p.gpu[3]));
    CHECK_OK(td_device_enable_peer(p.gpu[4], p.gpu[0]));
    CHECK_OK(td_device_enable_peer(p.gpu[4], p.gpu[0])); /* twice does no harm */
    CHECK_OK(td_device_link(p.gpu[0], p.gpu[4], &link));
    CHECK(link.enabled);
    CHECK_OK(td_device_link(p.gpu[4], p.gpu[0], &link));
    CHECK(!link.enabled);
    CHECK_STATUS(td_device_enable_peer(p.gpu[0], p.gpu[7]), TD_UNSUPPORTED);
    CHECK_CONTAINS(td_last_message(), "emu:0: kernels cannot follow pointers of emu:7: topology 'dgx1' has no link");
    party_close(&p);
}

TEST(devices_of_different_kinds_have_no_link)
{
    td_loop *loop = NULL;
    td_device *devices = NULL, *apart = NULL;
    td_stream *stream = NULL;
    td_link link;
    char block[4];
    CHECK_OK(td_loop_create(&loop));
    CHECK_OK(td_devices_open(&devices, "cpu,emu:2", &(td_device_options){.loop = loop}));
    CHECK_OK(td_devices_open(&apart, "emu", &(td_device_options){.loop = loop}));
    CHECK_OK(td_stream_open(devices->next, &stream));
    CHECK_STATUS(td_device_link(devices, devices->next, &link), TD_UNSUPPORTED);
    CHECK_CONTAINS(td_last_message(), "cpu and emu:0 are of different kinds");
    CHECK_STATUS(td_device_enable_peer(devices->next, devices), TD_UNSUPPORTED);
    CHECK_STATUS(td_stream_copy_peer(stream, devices->next, block, devices, block, 4), TD_UNSUPPORTED);
    CHECK_STATUS(td_device_link(devices->next, apart, &link), TD_UNSUPPORTED);
    CHECK_CONTAINS(td_last_message(), "were not opened together");
    CHECK_OK(td_device_link(devices, devices, &link));
    CHECK(link.same_memory && link.direct);
    td_stream_close(stream);
    td_devices_close(apart);
    td_devices_close(devices);
    td_loop_destroy(loop);
}

/* Over the link, through the host in pieces, and inside one GPU. */
TEST(a_peer_copy_takes_as_long_as_its_way)
{
    party p = party_open("emu:8@dgx1");
    uint32_t word = 0;
    CHECK_EQ(peer_copy(&p, 0, 4, MIB), 2000 + MIB / 50 + 1 + 6000);
    CHECK_OK(td_stream_copy(p.stream[4], &word, p.memory[4] + 100, 4, TD_TO_HOST));
    CHECK_OK(td_stream_synchronize(p.stream[4]));
    CHECK_EQ(word, 0x01010101);
    uint64_t staged = peer_copy(&p, 0, 7, MIB), sum = 8000 + MIB / 12 + 8000 + MIB / 11 + 6000;
    CHECK(staged >= sum && staged <= sum + 4);
    CHECK_OK(td_stream_copy(p.stream[7], &word, p.memory[7] + 100, 4, TD_TO_HOST));
    CHECK_OK(td_stream_synchronize(p.stream[7]));
    CHECK_EQ(word, 0x01010101);
    uint64_t inside = peer_copy(&p, 2, 2, MIB);
    CHECK(inside >= 4000 + 2 * MIB / 830 + 6000 && inside < 4000 + 2 * MIB / 830 + 6010);
    party_close(&p);
}

/* Of a large copy the second half goes up while the first comes down. */
TEST(a_copy_through_the_host_keeps_both_links_busy)
{
    enum { LARGE = 64 * MIB };
    party p = party_open("emu:8@dgx1");
    char *from = NULL, *to = NULL;
    CHECK_OK(td_device_new(p.gpu[0], &from, LARGE, 1, "memory"));
    CHECK_OK(td_device_new(p.gpu[7], &to, LARGE, 1, "memory"));
    CHECK_OK(td_stream_fill(p.stream[0], from, 9, LARGE));
    CHECK_OK(td_stream_synchronize(p.stream[0]));
    uint64_t began = td_device_clock(p.gpu[0]);
    CHECK_OK(td_stream_copy_peer(p.stream[0], p.gpu[7], to, p.gpu[0], from, LARGE));
    CHECK_OK(td_stream_synchronize(p.stream[0]));
    uint64_t took = td_device_clock(p.gpu[0]) - began;
    CHECK(took > LARGE / 11 && took < LARGE / 11 * 5 / 4);
    td_device_free(p.gpu[0], from);
    td_device_free(p.gpu[7], to);
    party_close(&p);
}

/* The way up is the slower one: the last piece comes down when it has come up. */
TEST(a_copy_through_the_host_ends_when_its_last_piece_is_down)
{
    enum { LARGE = 16 * MIB };
    static const char slow_up[] = "gpus 2\nhost-link each 20GB/s 2GB/s 6us\n";
    char name[600];
    char *from = NULL, *to = NULL;
    test_write_file(test_path("t"), slow_up, sizeof slow_up - 1);
    snprintf(name, sizeof name, "emu:2@%s", test_path("t"));
    party p = party_open(name);
    CHECK_OK(td_device_new(p.gpu[0], &from, LARGE, 1, "memory"));
    CHECK_OK(td_device_new(p.gpu[1], &to, LARGE, 1, "memory"));
    uint64_t began = td_device_clock(p.gpu[0]);
    CHECK_OK(td_stream_copy_peer(p.stream[1], p.gpu[1], to, p.gpu[0], from, LARGE));
    CHECK_OK(td_stream_synchronize(p.stream[1]));
    uint64_t took = td_device_clock(p.gpu[0]) - began, expected = 6000 + LARGE / 2 + 6000 + MIB / 20 + 5000;
    CHECK(took >= expected && took <= expected + 4);
    td_device_free(p.gpu[0], from);
    td_device_free(p.gpu[1], to);
    party_close(&p);
}

TEST(links_count_what_crosses_them)
{
    party p = party_open("emu:8@dgx1");
    td_link_counts c;
    peer_copy(&p, 0, 4, MIB);
    peer_copy(&p, 0, 4, 100);
    peer_copy(&p, 4, 0, 7);
    c = td_device_link_counts(p.gpu[0], p.gpu[4]);
    CHECK(c.copies == 2 && c.copied_bytes == MIB + 100 && c.reads == 0 && c.writes == 0);
    c = td_device_link_counts(p.gpu[4], p.gpu[0]);
    CHECK(c.copies == 1 && c.copied_bytes == 7);
    c = td_device_link_counts(p.gpu[0], p.gpu[1]);
    CHECK(c.copies == 0 && c.copied_bytes == 0);
    CHECK_EQ(p.gpu[0]->counts.bytes_to_peers, MIB + 100);
    CHECK_EQ(p.gpu[4]->counts.bytes_to_peers, 7);
    if (!td_watch_built()) {
        party_close(&p);
        SKIP("this build watches no accesses");
    }
    CHECK_OK(td_device_enable_peer(p.gpu[0], p.gpu[4]));
    kernel_arguments a = {.in = p.memory[4], .out = p.memory[0], .count = 64};
    td_launch shape = {.blocks = 1, .threads = 64};
    CHECK_OK(td_stream_launch(p.stream[0], kernel_named("add_one"), shape, &a, sizeof a));
    a = (kernel_arguments){.in = p.memory[0], .out = p.memory[4], .count = 32};
    CHECK_OK(td_stream_launch(p.stream[0], kernel_named("add_one"), shape, &a, sizeof a));
    CHECK_OK(td_stream_launch(p.stream[0], kernel_named("count_up"), shape, &a, sizeof a));
    CHECK_OK(td_stream_synchronize(p.stream[0]));
    c = td_device_link_counts(p.gpu[4], p.gpu[0]);
    CHECK(c.reads == 64 && c.read_bytes == 256 && c.writes == 0);
    c = td_device_link_counts(p.gpu[0], p.gpu[4]);
    CHECK(c.writes == 64 && c.written_bytes == 256 && c.reads == 0 && c.copies == 2);
    party_close(&p);
}

static uint64_t makespan(party *p, int gpus)
{
    td_launch shape = {.blocks = 64, .threads = 256};
    uint64_t began = td_device_clock(p->gpu[0]);
    for (int round = 0; round < 8; round++)
        for (int i = 0; i < gpus; i++) {
            kernel_arguments a = {.in = p->memory[i], .out = p->memory[i] + (MIB / 8), .count = MIB / 64};
            CHECK_OK(td_stream_launch(p->stream[i], kernel_named("add_one"), shape, &a, sizeof a));
        }
    for (int i = gpus; i-- > 0;) CHECK_OK(td_stream_synchronize(p->stream[i]));
    return td_device_clock(p->gpu[0]) - began;
}

TEST(gpus_compute_at_the_same_virtual_time)
{
    party p = party_open("emu:2");
    uint64_t one = makespan(&p, 1), two = makespan(&p, 2);
    CHECK((double)two < 1.2 * (double)one);
    CHECK_EQ(two, one + 5000); /* the host waits once more */
    party_close(&p);
}

/* A copy that waits for a kernel does not keep the link from one that is ready. */
TEST(a_unit_is_taken_by_the_work_that_is_ready)
{
    party p = party_open("emu:1@dgx1");
    td_stream *other = NULL;
    char *host = NULL;
    void *seen = NULL;
    uint64_t count = 0;
    CHECK_OK(td_stream_open(p.gpu[0], &other));
    CHECK_OK(TD_NEW_ZEROED(&host, MIB, "host memory"));
    CHECK_OK(td_device_pin(p.gpu[0], host, MIB, &seen));
    kernel_arguments a = {.in = p.memory[0], .out = p.memory[0] + (MIB / 8), .count = MIB / 64};
    td_launch shape = {.blocks = 64, .threads = 256};
    uint64_t began = td_device_clock(p.gpu[0]);
    for (int i = 0; i < 8; i++)
        CHECK_OK(td_stream_launch(p.stream[0], kernel_named("add_one"), shape, &a, sizeof a));
    CHECK_OK(td_stream_copy(p.stream[0], host, p.memory[0], 64, TD_TO_HOST));
    CHECK_OK(td_stream_copy(other, host + 4096, (char *)p.memory[0] + MIB - 64, 64, TD_TO_HOST));
    CHECK_OK(td_stream_synchronize(other));
    count = td_emulator_counted(p.gpu[0]).kernel_ns;
    CHECK(td_device_clock(p.gpu[0]) - began < 8000 + 10 + 6000 + 10);
    CHECK_OK(td_stream_synchronize(p.stream[0]));
    CHECK(td_emulator_counted(p.gpu[0]).kernel_ns > count); /* kernels that were still to come ran afterwards */
    td_stream_close(other);
    td_device_unpin(p.gpu[0], host);
    td_free(host);
    party_close(&p);
}

static td_status exchange(party *p)
{
    TD_CHECK(td_device_enable_peer(p->gpu[0], p->gpu[1]));
    TD_CHECK(td_stream_copy_peer(p->stream[0], p->gpu[1], p->memory[1], p->gpu[0], p->memory[0], 64));
    TD_CHECK(td_stream_copy_peer(p->stream[1], p->gpu[1], p->memory[1], p->gpu[1], p->memory[1] + 64, 64));
    TD_CHECK(td_stream_synchronize(p->stream[0]));
    return td_stream_synchronize(p->stream[1]);
}

TEST(each_operation_between_gpus_can_be_made_to_fail)
{
    static const char *const lost[] = {"enabling of peer access", "peer copy", "peer copy", "wait", "wait"};
    for (uint64_t i = 1; i <= 5; i++) {
        party p = party_open("emu:2@dgx1");
        td_device_fail_at(i);
        CHECK_STATUS(exchange(&p), TD_DEVICE);
        CHECK_CONTAINS(td_last_message(), "device lost during a");
        CHECK_CONTAINS(td_last_message(), lost[i - 1]);
        td_device_fail_at(0);
        party_close(&p);
    }
}

TEST(a_failed_request_for_memory_leaves_nothing)
{
    for (uint64_t nth = 1;; nth++) {
        td_loop *loop = NULL;
        td_device *devices = NULL;
        td_stream *stream = NULL;
        td_event *event = NULL;
        char *memory = NULL;
        CHECK_OK(td_loop_create(&loop));
        td_alloc_fail_at(nth);
        td_status status = td_devices_open(&devices, "emu:2@dgx1", &(td_device_options){.loop = loop});
        if (status == TD_OK) status = td_stream_open(devices, &stream);
        if (status == TD_OK) status = td_device_new(devices, &memory, 128, 1, "memory");
        if (status == TD_OK) status = td_stream_fill(stream, memory, 0, 128);
        if (status == TD_OK) status = td_stream_record(stream, &event);
        if (status == TD_OK)
            status = td_stream_copy_peer(stream, devices, memory, devices, memory + 64, 64);
        if (status == TD_OK) status = td_stream_synchronize(stream);
        td_alloc_fail_at(0);
        if (event != NULL) td_event_destroy(devices, event);
        td_stream_close(stream);
        if (memory != NULL) td_device_free(devices, memory);
        td_devices_close(devices);
        td_loop_destroy(loop);
        if (status == TD_OK) break;
        CHECK_EQ(status, TD_NO_MEMORY);
    }
}

TEST(copies_between_gpus_have_bounds_and_a_stream_of_one_of_them)
{
    party p = party_open("emu:3@dgx1");
    CHECK_STATUS(td_stream_copy_peer(p.stream[0], p.gpu[1], p.memory[1] + MIB / 4 - 1, p.gpu[0], p.memory[0], 8),
                 TD_DEVICE);
    CHECK_CONTAINS(td_last_message(), "emu:1: copied to: 8 bytes at byte 1048572 of device memory of 1048576 bytes");
    CHECK_STATUS(td_stream_copy_peer(p.stream[0], p.gpu[1], p.memory[1], p.gpu[0], p.memory[2], 8), TD_DEVICE);
    CHECK_CONTAINS(td_last_message(), "emu:0: copied from: 8 bytes of the memory of emu:2");
    CHECK_STATUS(td_stream_copy_peer(p.stream[2], p.gpu[1], p.memory[1], p.gpu[0], p.memory[0], 8), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "emu:2: a copy from emu:0 to emu:1 is given to a stream of neither");
    party_close(&p);
}

TEST_MAIN
