/* Joint launches on the emulator: kernels of several GPUs that meet at set barriers and exchange through each other's
 * memory; what is refused; what the watch finds; how time goes on. */
#include "device/emulator/debug_lines.h"
#include "device/emulator/emulator.h"
#include "device/emulator/watch.h"
#include "emulator_kernels.h"
#include "joint_kernels.h"

#include "base/alloc.h"
#include "test.h"

#include <unistd.h>

extern const td_kernel joint_kernels[];

enum { MOST = 8, ROUNDS = 12, SEEDS = 8 };
static const td_launch shape = {.blocks = 2, .threads = 64};
enum { THREADS = 128 };

typedef struct party {
    int count;
    td_device *first, *gpu[MOST];
    td_stream *stream[MOST];
    td_set *set;
    ring_arguments arguments[MOST];
    uint32_t *words[MOST]; /* boxes, counters */
    uint64_t *clocks[MOST];
} party;

enum { COUNTS = 4 * THREADS, LEAST = COUNTS + 64, MEMBERS, WRONG, WORDS };

static const td_kernel *named(const char *name)
{
    for (const td_kernel *kernel = joint_kernels; kernel->name != NULL; kernel++)
        if (strcmp(kernel->name, name) == 0) return kernel;
    TEST_FAIL("no kernel %s", name);
}

static void enable_all(party *p)
{
    for (int i = 0; i < p->count; i++)
        for (int j = 0; j < p->count; j++) CHECK_OK(td_device_enable_peer(p->gpu[i], p->gpu[j]));
}

static party party_open(const char *devices, uint64_t seed)
{
    party p = {0};
    CHECK_OK(td_devices_open(&p.first, devices, &(td_device_options){.seed = seed}));
    for (td_device *next = p.first; next != NULL; next = next->next) p.gpu[p.count++] = next;
    enable_all(&p);
    CHECK_OK(td_set_open(&p.set, p.gpu, p.count));
    for (int i = 0; i < p.count; i++) {
        CHECK_OK(td_stream_open(p.gpu[i], &p.stream[i]));
        CHECK_OK(td_device_new(p.gpu[i], &p.words[i], WORDS, 4, "words"));
        CHECK_OK(td_device_new(p.gpu[i], &p.clocks[i], ROUNDS, 8, "clocks"));
        CHECK_OK(td_stream_fill(p.stream[i], p.words[i], 0, WORDS * 4));
        CHECK_OK(td_stream_fill(p.stream[i], p.words[i] + LEAST, 0xff, 4));
    }
    for (int i = 0; i < p.count; i++)
        p.arguments[i] = (ring_arguments){
            .set = td_set_member_of(p.set, i), .own = p.words[i], .next = p.words[(i + 1) % p.count],
            .counts = p.words[0] + COUNTS, .least = p.words[0] + LEAST, .members = p.words[0] + MEMBERS,
            .wrong = p.words[i] + WRONG, .clocks = p.clocks[i], .rounds = ROUNDS, .leaves = UINT32_MAX};
    return p;
}

static void party_close(party *p)
{
    for (int i = 0; i < p->count; i++) td_stream_close(p->stream[i]);
    td_set_close(p->set);
    for (int i = 0; i < p->count; i++) {
        td_device_free(p->gpu[i], p->words[i]);
        td_device_free(p->gpu[i], p->clocks[i]);
    }
    td_devices_close(p->first);
}

static td_status launch_shape(party *p, const char *name, td_launch each)
{
    const td_kernel *kernels[MOST];
    td_launch shapes[MOST];
    const void *arguments[MOST];
    for (int i = 0; i < p->count; i++) {
        kernels[i] = named(name);
        shapes[i] = each;
        arguments[i] = &p->arguments[i];
    }
    return td_streams_launch_joint(p->set, p->stream, kernels, shapes, arguments, sizeof p->arguments[0]);
}

static td_status launch(party *p, const char *name) { return launch_shape(p, name, shape); }

/* The first failure that any of the streams has to tell. */
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

static uint32_t word_of(party *p, int gpu, uint32_t at)
{
    uint32_t word = 0;
    CHECK_OK(td_stream_copy(p->stream[gpu], &word, p->words[gpu] + at, 4, TD_TO_HOST));
    CHECK_OK(td_stream_synchronize(p->stream[gpu]));
    return word;
}

static void expect_ring(party *p)
{
    for (int i = 0; i < p->count; i++) {
        for (uint32_t k = 0; k < THREADS; k++) CHECK_EQ(word_of(p, i, ROUNDS % 2 * THREADS + k), ROUNDS);
        CHECK_EQ(word_of(p, i, WRONG), 0);
    }
    CHECK_EQ(word_of(p, 0, LEAST), 7);
    CHECK_EQ(word_of(p, 0, MEMBERS), (1u << p->count) - 1);
}

TEST(a_ring_passes_tokens_through_the_others_memory)
{
    static const char *const devices[] = {"emu:1@late", "emu:2@late", "emu:4@late", "emu:8@late", "emu:4@dgx1"};
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        party p = party_open(devices[i], i);
        CHECK_OK(launch(&p, "ring"));
        CHECK_OK(finish(&p));
        expect_ring(&p);
        for (int k = 0; k < p.count; k++) {
            CHECK_EQ(td_emulator_counted(p.gpu[k]).set_barriers, ROUNDS);
            CHECK_EQ(td_emulator_counted(p.gpu[k]).threads, THREADS);
            CHECK_EQ(p.gpu[k]->counts.launches, 1);
        }
        party_close(&p);
    }
}

TEST(members_take_turns_while_one_waits_for_a_word)
{
    if (!td_watch_built()) SKIP("builds without the watch pause no kernel");
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        party p = party_open("emu:3@late", seed);
        CHECK_OK(launch(&p, "joint_flag"));
        CHECK_OK(finish(&p));
        for (int i = 0; i < p.count; i++) CHECK_EQ(word_of(&p, i, WRONG), 0);
        party_close(&p);
    }
}

TEST(a_launch_may_use_grid_barriers_and_set_barriers)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        party p = party_open("emu:3@late", seed);
        CHECK_OK(launch(&p, "joint_both_barriers"));
        CHECK_OK(finish(&p));
        for (int i = 0; i < p.count; i++) CHECK_EQ(word_of(&p, i, WRONG), 0);
        party_close(&p);
    }
}

/* What another GPU wrote may be seen late in the same round, and never after the barrier. */
TEST(late_words_have_come_at_the_next_set_barrier)
{
    uint32_t early = 0;
    if (!td_watch_built()) SKIP("builds without the watch pause no kernel");
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        party p = party_open("emu:2@late", seed);
        CHECK_OK(launch(&p, "joint_relay"));
        CHECK_OK(finish(&p));
        for (int i = 0; i < p.count; i++) CHECK_EQ(word_of(&p, i, WRONG), 0);
        CHECK_OK(td_stream_fill(p.stream[0], p.words[0], 0, 8));
        CHECK_OK(td_stream_fill(p.stream[1], p.words[1], 0, 8));
        CHECK_OK(launch(&p, "joint_early"));
        CHECK_OK(finish(&p));
        early += word_of(&p, 0, COUNTS + 1); /* an atomic had shown that the store was made */
        party_close(&p);
    }
    CHECK(early > 0);
}

TEST(a_device_sees_its_own_stores)
{
    if (!td_watch_built()) SKIP("builds without the watch pause no kernel");
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        party p = party_open("emu:2@late", seed);
        CHECK_OK(launch(&p, "joint_own_store"));
        CHECK_OK(finish(&p));
        CHECK_EQ(word_of(&p, 0, WRONG), 0);
        party_close(&p);
    }
}

/* Order with what comes before and after, on every stream, without any event of the caller's. */
TEST(a_joint_launch_comes_between_all_that_its_streams_do)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        party p = party_open("emu:3@late", seed);
        uint32_t tokens[2 * THREADS], host[THREADS];
        for (uint32_t i = 0; i < 2 * THREADS; i++) tokens[i] = 100;
        /* The last thing before is long, on one stream alone. */
        for (int i = 0; i < 20; i++)
            CHECK_OK(td_stream_copy(p.stream[2], p.words[2], tokens, sizeof tokens, TD_TO_DEVICE));
        CHECK_OK(launch(&p, "ring"));
        /* The last tokens of each were written by another member; the host knows of none of them. */
        int gpu = (int)(seed % 3);
        CHECK_OK(td_stream_copy(p.stream[gpu], host, p.words[gpu] + ROUNDS % 2 * THREADS, sizeof host, TD_TO_HOST));
        CHECK_OK(td_stream_synchronize(p.stream[gpu]));
        CHECK_EQ(host[3], gpu == 2 ? 100 + ROUNDS : ROUNDS); /* twelve rounds among three: the token is at home */
        CHECK_OK(finish(&p));
        party_close(&p);
    }
}

/* Another stream that waits for nobody races with it, whichever member it is of. */
TEST(work_beside_a_joint_launch_is_a_race)
{
    if (!td_watch_built()) SKIP("this build watches no accesses");
    for (int gpu = 0; gpu < 2; gpu++) {
        party p = party_open("emu:2@late", 3);
        td_stream *beside = NULL;
        CHECK_OK(finish(&p));
        CHECK_OK(td_stream_open(p.gpu[gpu], &beside));
        CHECK_OK(launch(&p, "ring"));
        CHECK_OK(td_stream_fill(beside, p.words[gpu], 0, 4));
        td_status status = td_stream_synchronize(beside);
        if (status == TD_OK) status = finish(&p);
        CHECK_EQ(status, TD_DEVICE);
        CHECK_CONTAINS(td_last_message(), "race between streams");
        CHECK_CONTAINS(td_last_message(), "joint launch on 2 devices");
        td_stream_close(beside);
        party_close(&p);
    }
}

static bool names_the_line(const char *kernel, const char *message)
{
    char text[256], wanted[64], begin[96];
    bool inside = false, found = false;
    FILE *file = fopen(TEST_SOURCES "/device/joint_kernels.c", "r");
    CHECK(file != NULL);
    snprintf(begin, sizeof begin, "TD_KERNEL(%s,", kernel);
    for (int line = 1; fgets(text, sizeof text, file) != NULL; line++) {
        if (strncmp(text, "TD_KERNEL(", 10) == 0) inside = strncmp(text, begin, strlen(begin)) == 0;
        if (!inside || strstr(text, "/* here */") == NULL) continue;
        snprintf(wanted, sizeof wanted, "joint_kernels.c:%d,", line);
        found = found || strstr(message, wanted) != NULL;
    }
    fclose(file);
    return found;
}

/* Told whatever the order, by every stream; and the next joint launch runs. */
static void refuse(const char *name, bool by_access, const char *part)
{
    if (by_access && !td_watch_built()) SKIP("this build watches no accesses");
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        party p = party_open("emu:2@late", seed);
        CHECK_OK(launch(&p, name));
        CHECK_STATUS(td_stream_synchronize(p.stream[0]), TD_DEVICE);
        CHECK_CONTAINS(td_last_message(), part);
        CHECK_CONTAINS(td_last_message(), name);
        if (!names_the_line(name, td_last_message()) && (!by_access || td_debug_lines_available()))
            TEST_FAIL("'%s' names another line", td_last_message());
        CHECK_STATUS(td_stream_synchronize(p.stream[1]), TD_DEVICE);
        for (int i = 0; i < p.count; i++) {
            CHECK_OK(td_stream_fill(p.stream[i], p.words[i], 0, WORDS * 4));
            CHECK_OK(td_stream_fill(p.stream[i], p.words[i] + LEAST, 0xff, 4));
        }
        CHECK_OK(launch(&p, "ring"));
        CHECK_OK(finish(&p));
        expect_ring(&p);
        party_close(&p);
    }
}

TEST(a_missing_set_barrier_is_a_race) { refuse("joint_missing_barrier", true, "race between devices"); }
TEST(a_grid_barrier_is_not_enough)
{
    refuse("joint_grid_barrier", true, "race between devices");
    refuse("joint_grid_between", true, "race between devices");
    refuse("joint_reader_forgotten", true, "race");
}
TEST(two_devices_that_write_one_word_race) { refuse("joint_plain_write", true, "with no set barrier between"); }
TEST(a_plain_write_beside_an_atomic_races) { refuse("joint_plain_and_atomic", true, "race between devices"); }
TEST(atomics_of_one_device_are_none_for_another)
{
    refuse("joint_device_atomics", true, "an atomic of one device's threads: it changes a word that emu:");
    refuse("joint_device_atomic", true, "TD_ADD_SYSTEM and the like are atomic among devices");
    refuse("joint_device_atomic_loaded", true, "it changes a word that emu:0 changes too");
}

TEST(a_word_that_one_device_changes_others_may_load)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        party p = party_open("emu:3@late", seed);
        CHECK_OK(launch(&p, "joint_loaded_word"));
        CHECK_OK(finish(&p));
        CHECK_EQ(word_of(&p, 0, COUNTS), ROUNDS * 200 * THREADS);
        party_close(&p);
    }
}

TEST(unequal_numbers_of_barriers_are_told)
{
    refuse("joint_unequal", false, "it waits for emu:0, whose kernel has ended after 12 set barriers");
}
TEST(barriers_of_two_lines_are_told) { refuse("joint_lines_differ", false, "divergent set barrier: emu:"); }
TEST(a_block_that_leaves_is_told) { refuse("joint_block_leaves", false, " of block 1 has ended"); }
TEST(a_thread_that_leaves_is_told) { refuse("joint_thread_leaves", false, "divergent set barrier: thread 5"); }

TEST(a_member_that_leaves_early_is_told)
{
    party p = party_open("emu:3@late", 1);
    p.arguments[1].leaves = 4;
    CHECK_OK(launch(&p, "ring"));
    CHECK_STATUS(td_stream_synchronize(p.stream[2]), TD_DEVICE);
    CHECK_CONTAINS(td_last_message(), "divergent set barrier: it waits for emu:1, whose kernel has ended after 4 set");
    CHECK_CONTAINS(td_last_message(), "joint_ring.h:");
    party_close(&p);
}

TEST(a_set_barrier_needs_a_joint_launch_and_its_own_member)
{
    party p = party_open("emu:2@late", 1);
    CHECK_OK(finish(&p));
    CHECK_OK(td_stream_launch(p.stream[0], named("ring"), (td_launch){.blocks = 2, .threads = 64, .cooperative = true},
                              &p.arguments[0], sizeof p.arguments[0]));
    CHECK_STATUS(td_stream_synchronize(p.stream[0]), TD_DEVICE);
    CHECK_CONTAINS(td_last_message(), "set barrier in a launch that is not joint");
    p.arguments[1].set = p.arguments[0].set;
    CHECK_OK(launch(&p, "ring"));
    CHECK_STATUS(td_stream_synchronize(p.stream[0]), TD_DEVICE);
    CHECK_CONTAINS(td_last_message(), "set barrier of member 0 of 2; the kernel runs as member 1 of 2");
    party_close(&p);
}

TEST(a_set_needs_access_between_all_members)
{
    td_device *first = NULL, *gpu[8];
    td_set *set = NULL;
    CHECK_OK(td_devices_open(&first, "emu:8@dgx1", &(td_device_options){0}));
    int count = 0;
    for (td_device *next = first; next != NULL; next = next->next) gpu[count++] = next;
    CHECK_STATUS(td_set_open(&set, gpu, 2), TD_UNSUPPORTED);
    CHECK_CONTAINS(td_last_message(), "kernels of emu:1 cannot follow pointers of emu:0: access is not enabled");
    CHECK_OK(td_device_enable_peer(gpu[1], gpu[0]));
    CHECK_STATUS(td_set_open(&set, gpu, 2), TD_UNSUPPORTED);
    CHECK_CONTAINS(td_last_message(), "kernels of emu:0 cannot follow pointers of emu:1");
    CHECK_OK(td_device_enable_peer(gpu[0], gpu[1]));
    CHECK_OK(td_set_open(&set, gpu, 2));
    td_set_close(set);
    CHECK_STATUS(td_set_open(&set, (td_device *[]){gpu[0], gpu[7]}, 2), TD_UNSUPPORTED);
    CHECK_CONTAINS(td_last_message(), "no link joins them");
    CHECK_STATUS(td_set_open(&set, (td_device *[]){gpu[0], gpu[0]}, 2), TD_UNSUPPORTED);
    CHECK_CONTAINS(td_last_message(), "share multiprocessors");
    CHECK_STATUS(td_set_open(&set, gpu, 0), TD_INVALID);
    td_devices_close(first);
    td_pool *pool = NULL;
    CHECK_OK(td_pool_create(&pool, 1));
    CHECK_OK(td_devices_open(&first, "cpu,emu", &(td_device_options){.pool = pool}));
    CHECK_STATUS(td_set_open(&set, (td_device *[]){first, first->next}, 2), TD_UNSUPPORTED);
    CHECK_CONTAINS(td_last_message(), "cpu and emu:0 are of different kinds");
    td_devices_close(first);
    td_pool_destroy(pool);
}

TEST(launches_that_do_not_fit_are_refused_before_any_is_queued)
{
    party p = party_open("emu:2@late", 1);
    uint32_t most = 0;
    CHECK_OK(td_set_occupancy(p.set, 1, named("ring"), 64, 0, &most));
    CHECK_STATUS(launch_shape(&p, "ring", (td_launch){.blocks = most + 1, .threads = 64}), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "run at once (td_set_occupancy)");
    CHECK_STATUS(launch_shape(&p, "ring", (td_launch){.blocks = 0, .threads = 64}), TD_INVALID);
    CHECK_STATUS(launch_shape(&p, "ring", (td_launch){.blocks = 2, .threads = 64, .cluster = true}), TD_INVALID);
    td_stream *swapped[] = {p.stream[1], p.stream[0]};
    const td_kernel *kernels[] = {named("ring"), named("ring")};
    const void *arguments[] = {&p.arguments[0], &p.arguments[1]};
    CHECK_STATUS(td_streams_launch_joint(p.set, swapped, kernels, (td_launch[]){shape, shape}, arguments,
                                         sizeof p.arguments[0]),
                 TD_INVALID);
    CHECK_OK(finish(&p));
    CHECK_EQ(p.gpu[0]->counts.launches, 0);
    party_close(&p);
    p = party_open("emu:4@dgx1", 1); /* the emulator's threads are shared */
    CHECK_OK(td_set_occupancy(p.set, 0, named("ring"), 256, 0, &most));
    CHECK_EQ(most, 16384 / 4 / 256);
    party_close(&p);
}

/* Every operation of it fails once: nothing is lost, nothing hangs. */
TEST(an_operation_that_fails_leaves_nothing_behind)
{
    for (uint64_t at = 1; at <= 16; at++) {
        party p = party_open("emu:2@late", at);
        CHECK_OK(finish(&p));
        td_device_fail_at(at);
        td_set *again = NULL;
        td_status status = td_set_open(&again, p.gpu, p.count);
        td_set_close(again);
        if (status == TD_OK) status = launch(&p, "ring");
        if (status == TD_OK) status = finish(&p);
        td_device_fail_at(0);
        CHECK_EQ(status, at <= 10 ? TD_DEVICE : TD_OK);
        (void)finish(&p);
        party_close(&p);
    }
    td_device_refuse_pins(true);
    td_device *device = NULL;
    td_set *set = NULL;
    CHECK_OK(td_devices_open(&device, "emu", &(td_device_options){0}));
    CHECK_STATUS(td_set_open(&set, &device, 1), TD_NO_MEMORY);
    td_device_refuse_pins(false);
    td_devices_close(device);
}

TEST(a_failed_request_for_memory_leaves_nothing)
{
    uint64_t nth = 1;
    for (td_status status = TD_NO_MEMORY; status != TD_OK; nth++) {
        party p = party_open("emu:2@late", nth);
        td_set *again = NULL;
        CHECK_OK(finish(&p));
        td_alloc_fail_at(nth);
        status = td_set_open(&again, p.gpu, p.count);
        if (status == TD_OK) status = launch(&p, "ring");
        if (status == TD_OK) status = finish(&p);
        td_alloc_fail_at(0);
        if (status != TD_OK) CHECK_EQ(status, TD_NO_MEMORY);
        (void)finish(&p);
        td_set_close(again);
        party_close(&p);
    }
    CHECK(nth > 10);
}

TEST(a_failure_before_it_drops_it_on_all_devices)
{
    party p = party_open("emu:3@late", 1);
    td_device *spare = p.gpu[1];
    uint32_t host[4] = {0}, *gone = NULL;
    CHECK_OK(finish(&p));
    CHECK_OK(td_device_new(spare, &gone, 4, 4, "gone"));
    ring_arguments wild = p.arguments[1];
    wild.rounds = 1;
    CHECK_OK(td_stream_launch(p.stream[1], named("joint_missing_barrier"), shape, &wild, sizeof wild));
    CHECK_OK(td_stream_launch(p.stream[1], named("ring"), shape, &wild, sizeof wild)); /* fails: not joint */
    CHECK_OK(launch(&p, "ring"));
    CHECK_STATUS(td_stream_synchronize(p.stream[0]), TD_DEVICE);
    CHECK_CONTAINS(td_last_message(), "emu:0: the joint launch of kernel ring on 3 devices did not begin: an earlier "
                                      "operation of emu:1 failed");
    CHECK_STATUS(td_stream_synchronize(p.stream[1]), TD_DEVICE);
    CHECK_CONTAINS(td_last_message(), "set barrier in a launch that is not joint");
    CHECK_STATUS(td_stream_synchronize(p.stream[2]), TD_DEVICE);
    CHECK_EQ(word_of(&p, 0, MEMBERS), 0);
    CHECK_OK(td_stream_copy(p.stream[1], host, gone, 4, TD_TO_HOST));
    CHECK_OK(finish(&p));
    td_device_free(spare, gone);
    party_close(&p);
}

TEST(kernels_of_a_broken_set_end_at_the_barrier)
{
    party p = party_open("emu:3@late", 1);
    CHECK_OK(launch(&p, "ring"));
    td_set_break(p.set);
    CHECK_OK(finish(&p));
    CHECK_EQ(word_of(&p, 0, ROUNDS % 2 * THREADS), 0);
    CHECK_STATUS(launch(&p, "ring"), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "broken; td_set_mend");
    CHECK_OK(td_set_mend(p.set, p.stream));
    for (int i = 0; i < p.count; i++) CHECK_OK(td_stream_fill(p.stream[i], p.words[i], 0, LEAST * 4));
    CHECK_OK(launch(&p, "ring"));
    CHECK_OK(finish(&p));
    expect_ring(&p);
    party_close(&p);
}

static const char *topology_file(const char *text)
{
    static char path[] = "/tmp/tandem_joint_XXXXXX";
    static bool made;
    int file = made ? -1 : mkstemp(path);
    if (file >= 0) close(file);
    made = true;
    FILE *out = fopen(path, "w");
    CHECK(out != NULL);
    fputs(text, out);
    fclose(out);
    return path;
}

/* Rounds without work take a barrier each; a round with work, as long as the member that has most. */
TEST(a_round_takes_the_longest_member_and_the_barrier)
{
    char devices[128];
    if (!td_watch_built()) SKIP("builds without the watch count no accesses");
    snprintf(devices, sizeof devices, "emu:2@%s", topology_file("gpus 2\nlink 0 1 25GB/s 2us\nset-barrier 3us\n"
                                                                "gpu 0\nmemory-rate 1GB/s\n"));
    party p = party_open(devices, 1);
    uint64_t clocks[2][ROUNDS];
    CHECK_OK(finish(&p));
    uint64_t began = td_device_clock(p.first);
    CHECK_OK(launch(&p, "ring"));
    CHECK_OK(finish(&p));
    uint64_t took = td_device_clock(p.first) - began;
    for (int i = 0; i < 2; i++) {
        CHECK_OK(td_stream_copy(p.stream[i], clocks[i], p.clocks[i], sizeof clocks[i], TD_TO_HOST));
        CHECK_OK(td_stream_synchronize(p.stream[i]));
    }
    CHECK(clocks[0][0] > began + 4000 + 3000);
    for (int i = 0; i < 2; i++)
        for (int k = 1; k < ROUNDS; k++) CHECK(clocks[i][k] > clocks[i][k - 1] + 3000);
    /* Member 0 reads 128 tokens at a byte a ns; the clock also shows what other threads have begun. */
    uint64_t rounds = clocks[0][ROUNDS - 1] - clocks[0][0];
    CHECK(rounds >= (ROUNDS - 1) * (3000 + 512) && rounds < (ROUNDS - 1) * (3000 + 512 + 100));
    CHECK(clocks[0][ROUNDS - 1] - clocks[1][ROUNDS - 1] < 600);
    CHECK(took >= 4000 + ROUNDS * 3512 && took < 4000 + ROUNDS * 4300 + 20000);
    CHECK_EQ(td_emulator_counted(p.gpu[0]).kernel_ns / 1000, (4000 + ROUNDS * 3532) / 1000);
    party_close(&p);
    /* What comes behind it in a stream waits for the last member. */
    snprintf(devices, sizeof devices, "emu:2@%s", topology_file("gpus 2\nlink 0 1 25GB/s 2us\ngpu 1\nmemory-rate 1GB/s\n"));
    p = party_open(devices, 1);
    CHECK_OK(finish(&p));
    began = td_device_clock(p.first);
    CHECK_OK(launch(&p, "joint_tail"));
    CHECK_OK(td_stream_synchronize(p.stream[0]));
    took = td_device_clock(p.first) - began;
    CHECK(took >= 4000 + 2000 + 100 * 512);
    CHECK(td_emulator_counted(p.gpu[0]).kernel_ns < 10000);
    party_close(&p);
    snprintf(devices, sizeof devices, "emu:2@%s", topology_file("gpus 2\nset-barrier none\n"));
    CHECK_STATUS(td_devices_open(&p.first, devices, &(td_device_options){0}), TD_FORMAT);
    CHECK_CONTAINS(td_last_message(), ":2: set-barrier is 'none'; a time is written 3.9us");
    unlink(devices + strlen("emu:2@"));
}

TEST_MAIN
