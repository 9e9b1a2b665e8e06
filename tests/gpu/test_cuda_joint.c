/* Joint launches on slices of a GPU: kernels that meet at set barriers and exchange through device memory, and kernels
 * that are ended while they wait for a member that will not come. */
#include "gpu/gpu.h"

#include "base/clock.h"
#include "device/joint_kernels.h"

enum { MOST = 8, ROUNDS = 1000, THREADS = 256 };

typedef struct party {
    int count;
    uint32_t blocks;
    td_device *first, *gpu[MOST];
    td_stream *stream[MOST];
    td_set *set;
    ring_arguments arguments[MOST];
    uint32_t *words[MOST], *host;
    uint64_t *clocks[MOST];
} party;

static td_kernel ring_kernel(void) { return (td_kernel){"ring", kernel_ring}; }

static uint32_t tokens_of(const party *p) { return p->blocks * THREADS; }
static uint64_t words_of(const party *p) { return 2 * (uint64_t)tokens_of(p) + ROUNDS + 3; }

static void clear(party *p)
{
    for (int i = 0; i < p->count; i++) {
        CHECK_OK(td_stream_fill(p->stream[i], p->words[i], 0, words_of(p) * 4));
        CHECK_OK(td_stream_fill(p->stream[i], p->words[i] + 2 * tokens_of(p) + ROUNDS, 0xff, 4));
    }
}

static void describe(party *p)
{
    uint64_t counts = 2 * (uint64_t)tokens_of(p), least = counts + ROUNDS;
    for (int i = 0; i < p->count; i++)
        p->arguments[i] = (ring_arguments){
            .set = td_set_member_of(p->set, i), .own = p->words[i], .next = p->words[(i + 1) % p->count],
            .counts = p->words[0] + counts, .least = p->words[0] + least, .members = p->words[0] + least + 1,
            .wrong = p->words[i] + least + 2, .clocks = p->clocks[i], .rounds = ROUNDS, .leaves = UINT32_MAX};
}

/* As many blocks on every member as the smallest has room for, up to `most`. */
static party party_open(const char *devices, uint32_t most)
{
    party p = {.blocks = most};
    td_kernel kernel = ring_kernel();
    need_gpu();
    CHECK_OK(td_devices_open(&p.first, devices, &(td_device_options){0}));
    for (td_device *next = p.first; next != NULL; next = next->next) p.gpu[p.count++] = next;
    CHECK_OK(td_set_open(&p.set, p.gpu, p.count));
    for (int i = 0; i < p.count; i++) {
        uint32_t blocks = 0;
        CHECK_OK(td_set_occupancy(p.set, i, &kernel, THREADS, 0, &blocks));
        CHECK(blocks > 0);
        if (blocks < p.blocks) p.blocks = blocks;
    }
    CHECK_OK(TD_NEW_ZEROED(&p.host, words_of(&p), "host"));
    for (int i = 0; i < p.count; i++) {
        CHECK_OK(td_stream_open(p.gpu[i], &p.stream[i]));
        CHECK_OK(td_device_new(p.gpu[i], &p.words[i], words_of(&p), 4, "words"));
        CHECK_OK(td_device_new(p.gpu[i], &p.clocks[i], ROUNDS, 8, "clocks"));
    }
    clear(&p);
    describe(&p);
    return p;
}

static void party_close(party *p)
{
    for (int i = 0; i < p->count; i++) td_stream_close(p->stream[i]);
    td_set_close(p->set);
    td_devices_close(p->first);
    td_free(p->host);
}

static td_status launch_ring(party *p)
{
    td_kernel kernel = ring_kernel();
    const td_kernel *kernels[MOST];
    td_launch shapes[MOST];
    const void *arguments[MOST];
    for (int i = 0; i < p->count; i++) {
        kernels[i] = &kernel;
        shapes[i] = (td_launch){.blocks = p->blocks, .threads = THREADS};
        arguments[i] = &p->arguments[i];
    }
    return td_streams_launch_joint(p->set, p->stream, kernels, shapes, arguments, sizeof p->arguments[0]);
}

static void finish(party *p)
{
    for (int i = 0; i < p->count; i++) CHECK_OK(td_stream_synchronize(p->stream[i]));
}

/* Read behind the launch in one stream alone, without an event of the caller's. */
static void expect_ring(party *p, int gpu)
{
    uint32_t tokens = tokens_of(p), *host = p->host;
    uint64_t least = 2 * (uint64_t)tokens + ROUNDS;
    CHECK_OK(td_stream_copy(p->stream[gpu], host, p->words[gpu], words_of(p) * 4, TD_TO_HOST));
    CHECK_OK(td_stream_synchronize(p->stream[gpu]));
    for (uint32_t k = 0; k < tokens; k++) CHECK_EQ(host[ROUNDS % 2 * tokens + k], ROUNDS);
    CHECK_EQ(host[least + 2], 0);
    if (gpu > 0) return;
    for (int k = 0; k < ROUNDS; k++) CHECK_EQ(host[2 * tokens + k], p->blocks * (uint32_t)p->count);
    CHECK_EQ(host[least], 7);
    CHECK_EQ(host[least + 1], (1u << p->count) - 1);
}

TEST(a_ring_passes_tokens_over_a_thousand_barriers)
{
    static const char *const devices[] = {"cuda:0", "cuda:0/2", "cuda:0/4", "cuda:0/8"};
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        for (uint32_t most = 1; most <= 4096; most *= 4096) {
            party p = party_open(devices[i], most);
            for (int turn = 0; turn < 3; turn++) {
                uint64_t clocks[ROUNDS];
                clear(&p);
                finish(&p);
                CHECK_OK(launch_ring(&p));
                for (int k = p.count; k-- > 0;) expect_ring(&p, k);
                CHECK_OK(td_stream_copy(p.stream[0], clocks, p.clocks[0], sizeof clocks, TD_TO_HOST));
                CHECK_OK(td_stream_synchronize(p.stream[0]));
                CHECK(clocks[ROUNDS - 1] > clocks[0]);
                if (turn == 2)
                    printf("    %-8s %d members of %u blocks: %.2f us a round\n", devices[i], p.count, p.blocks,
                           (double)(clocks[ROUNDS - 1] - clocks[0]) / (ROUNDS - 1) / 1e3);
            }
            party_close(&p);
        }
    }
}

/* The words that the first round reads are filled by another member's stream, behind much else. */
TEST(a_joint_launch_begins_after_all_that_its_streams_did)
{
    party p = party_open("cuda:0/4", 4096);
    char *large = NULL;
    CHECK_OK(td_device_new(p.gpu[2], &large, UINT64_C(1) << 30, 1, "large"));
    for (int turn = 0; turn < 5; turn++) {
        for (int i = 0; i < p.count; i++) CHECK_OK(td_stream_fill(p.stream[i], p.words[i], 0x55, words_of(&p) * 4));
        finish(&p);
        for (int i = 0; i < 20; i++) CHECK_OK(td_stream_fill(p.stream[2], large, i, UINT64_C(1) << 30));
        clear(&p);
        CHECK_OK(launch_ring(&p));
        for (int i = 0; i < p.count; i++) expect_ring(&p, i);
    }
    party_close(&p);
}

static uint64_t ms_since(uint64_t began) { return (td_clock_ns() - began) / 1000000; }

/* Three members wait for one that has left; the host ends them. */
TEST(kernels_that_wait_in_vain_are_ended)
{
    party p = party_open("cuda:0/4", 4096);
    finish(&p);
    p.arguments[3].leaves = 10;
    CHECK_OK(launch_ring(&p));
    struct timespec moment = {.tv_nsec = 100000000};
    nanosleep(&moment, NULL);
    td_set_break(p.set);
    uint64_t began = td_clock_ns();
    finish(&p);
    printf("    ended after %" PRIu64 " ms\n", ms_since(began));
    CHECK(ms_since(began) < 1000);
    CHECK_STATUS(launch_ring(&p), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "td_set_mend");
    CHECK_OK(td_set_mend(p.set, p.stream));
    clear(&p);
    describe(&p);
    CHECK_OK(launch_ring(&p));
    for (int i = 0; i < p.count; i++) expect_ring(&p, i);
    party_close(&p);
}

/* The launch of a member fails after those of others were queued: they end, and the set can be mended. */
TEST(a_launch_that_fails_ends_the_others)
{
    party p = party_open("cuda:0/4", 4096);
    for (uint64_t nth = 1; nth <= 4; nth++) {
        finish(&p);
        td_device_fail_at(nth);
        CHECK_STATUS(launch_ring(&p), TD_DEVICE);
        td_device_fail_at(0);
        CHECK_CONTAINS(td_last_message(), "injected");
        CHECK_CONTAINS(td_last_message(), "joint launch of 4 devices");
        uint64_t began = td_clock_ns();
        finish(&p);
        CHECK(ms_since(began) < 1000);
        CHECK_OK(td_set_mend(p.set, p.stream));
        clear(&p);
        CHECK_OK(launch_ring(&p));
        for (int i = 0; i < p.count; i++) expect_ring(&p, i);
    }
    party_close(&p);
}

TEST(devices_that_share_multiprocessors_make_no_set)
{
    td_device *first = NULL, *second = NULL;
    td_set *set = NULL;
    need_gpu();
    CHECK_OK(td_devices_open(&first, "cuda:0/4", &(td_device_options){0}));
    CHECK_OK(td_devices_open(&second, "cuda:0", &(td_device_options){0}));
    CHECK_STATUS(td_set_open(&set, (td_device *[]){first, second}, 2), TD_UNSUPPORTED);
    CHECK_CONTAINS(td_last_message(), "share multiprocessors");
    td_devices_close(second);
    CHECK_OK(td_devices_open(&second, "cuda:0/4#0", &(td_device_options){0}));
    CHECK_STATUS(td_set_open(&set, (td_device *[]){first, second}, 2), TD_UNSUPPORTED);
    td_devices_close(second);
    CHECK_OK(td_set_open(&set, (td_device *[]){first, first->next}, 2));
    td_set_close(set);
    td_devices_close(first);
}

TEST_MAIN
