/* A GPU as a device: memory, copies, kernels, completions, marks, pinned memory, slices. */
#include "gpu/gpu.h"

#include "base/clock.h"
#include "device/cuda/rates.h"
#include "device/kinds.h"

enum { COUNT = 1 << 20 };
static const td_launch wide = {.blocks = 256, .threads = 256}, narrow = {.blocks = 1, .threads = 32};

TEST(a_gpu_tells_what_it_is)
{
    setting s = start();
    const td_device_properties *p = &s.device->properties;
    printf("    %s: %s, %d multiprocessors, %.1f GiB of which %.1f free, %" PRIu64 " KiB shared\n", s.device->name,
           p->model, p->multiprocessors, (double)p->memory * 0x1p-30, (double)p->memory_free * 0x1p-30,
           p->shared_bytes >> 10);
    CHECK_STR(s.device->name, gpu_name());
    CHECK(strlen(p->model) > 0);
    CHECK(p->memory > 1 << 28 && p->memory_free <= p->memory);
    CHECK(p->multiprocessors > 0 && p->block_threads >= 1024 && p->shared_bytes >= 48 << 10);
    CHECK(p->cooperative && p->reads_host);
    CHECK(td_device_supports(s.device, TD_FEATURE_COOPERATIVE) && td_device_supports(s.device, TD_FEATURE_SORT));
    stop(&s);
}

TEST(a_stream_fills_adds_and_copies_in_order)
{
    setting s = start();
    uint32_t *numbers = NULL, *host = NULL;
    CHECK_OK(TD_NEW_ZEROED(&host, COUNT, "host"));
    CHECK_OK(td_device_new(s.device, &numbers, COUNT, sizeof *numbers, "numbers"));
    for (uint32_t i = 0; i < COUNT; i++) host[i] = i;
    CHECK_OK(td_stream_copy(s.a, numbers, host, COUNT * sizeof *numbers, TD_TO_DEVICE));
    CHECK_OK(td_stream_fill(s.a, numbers + COUNT / 2, 0, COUNT / 2 * sizeof *numbers));
    for (uint32_t i = 1; i <= 10; i++) LAUNCH(s.a, add, wide, (add_arguments){numbers, COUNT, i});
    CHECK_OK(td_stream_copy(s.a, numbers + COUNT / 4, numbers, COUNT / 4 * sizeof *numbers, TD_ON_DEVICE));
    CHECK_OK(td_stream_copy(s.a, host, numbers, COUNT * sizeof *numbers, TD_TO_HOST));
    CHECK_OK(td_stream_synchronize(s.a));
    for (uint32_t i = 0; i < COUNT; i++) CHECK_EQ(host[i], (i < COUNT / 2 ? i % (COUNT / 4) : 0) + 55);
    CHECK_EQ(s.device->counts.launches, 10);
    td_device_free(s.device, numbers);
    td_free(host);
    stop(&s);
}

TEST(completions_come_through_the_loop)
{
    setting s = start();
    tally seen = {0};
    uint32_t *number = NULL, host = 0;
    CHECK_OK(td_device_new(s.device, &number, 1, sizeof *number, "number"));
    CHECK_OK(td_stream_fill(s.a, number, 0, sizeof *number));
    for (uint64_t i = 0; i < 4; i++) {
        LAUNCH(s.a, add, narrow, (add_arguments){number, 1, 1});
        CHECK_OK(td_stream_notify(s.a, note, &seen, i));
    }
    CHECK_OK(td_stream_copy(s.a, &host, number, sizeof host, TD_TO_HOST));
    CHECK_OK(td_loop_run(s.loop));
    CHECK_EQ(seen.count, 4);
    CHECK_EQ(seen.status, TD_OK);
    for (int i = 0; i < 4; i++) CHECK_EQ(seen.values[i], i);
    CHECK_OK(td_stream_synchronize(s.a));
    CHECK_EQ(host, 4);
    td_device_free(s.device, number);
    stop(&s);
}

TEST(a_stream_waits_for_another_ones_mark)
{
    setting s = start();
    uint32_t *numbers = NULL, *host = NULL;
    CHECK_OK(TD_NEW_ZEROED(&host, COUNT, "host"));
    CHECK_OK(td_device_new(s.device, &numbers, COUNT, sizeof *numbers, "numbers"));
    for (int round = 0; round < 20; round++) {
        td_event *event = NULL;
        CHECK_OK(td_stream_fill(s.a, numbers, 0, COUNT * sizeof *numbers));
        for (int i = 0; i < 5; i++) LAUNCH(s.a, add, narrow, (add_arguments){numbers, COUNT / 16, 1});
        CHECK_OK(td_stream_record(s.a, &event));
        CHECK_OK(td_stream_wait(s.b, event));
        CHECK_OK(td_stream_copy(s.b, host, numbers, COUNT * sizeof *numbers, TD_TO_HOST));
        td_event_destroy(s.device, event);
        CHECK_OK(td_stream_synchronize(s.b));
        CHECK_EQ(host[COUNT / 16 - 1], 5);
        CHECK_OK(td_stream_synchronize(s.a));
    }
    td_device_free(s.device, numbers);
    td_free(host);
    stop(&s);
}

TEST(blocks_launched_together_meet_at_barriers)
{
    setting s = start();
    uint32_t *words = NULL, host[2] = {0, 9}, blocks = 0;
    td_kernel kernel = {"rounds", kernel_rounds};
    CHECK_OK(td_device_occupancy(s.device, &kernel, 256, 0, &blocks));
    CHECK(blocks >= (uint32_t)s.device->properties.multiprocessors);
    CHECK_OK(td_device_new(s.device, &words, 3, sizeof *words, "words"));
    CHECK_OK(td_stream_fill(s.a, words, 0, 3 * sizeof *words));
    td_launch all = {.blocks = blocks, .threads = 256, .cooperative = true};
    LAUNCH(s.a, rounds, all, (rounds_arguments){words, words + 1, words + 2, 100});
    CHECK_OK(td_stream_copy(s.a, host, words, sizeof host, TD_TO_HOST));
    CHECK_OK(td_stream_synchronize(s.a));
    CHECK_EQ(host[0], 100 * blocks);
    CHECK_EQ(host[1], 0);
    all.blocks++;
    CHECK_STATUS(launch(s.a, "rounds", kernel_rounds, all, &(rounds_arguments){words, words + 1, words + 2, 1},
                        sizeof(rounds_arguments)),
                 TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "launching rounds (");
    CHECK_CONTAINS(td_last_message(), "more blocks than can run at once");
    td_device_free(s.device, words);
    stop(&s);
}

TEST(a_block_gets_all_the_shared_memory_there_is)
{
    setting s = start();
    uint32_t *words = NULL, host[4] = {0}, blocks = 0, bytes = (uint32_t)s.device->properties.shared_bytes;
    td_kernel kernel = {"shared", kernel_shared};
    CHECK_OK(td_device_occupancy(s.device, &kernel, 64, bytes, &blocks));
    CHECK_EQ(blocks, s.device->properties.multiprocessors);
    CHECK_OK(td_device_occupancy(s.device, &kernel, 64, bytes + 4, &blocks));
    CHECK_EQ(blocks, 0);
    CHECK_OK(td_device_new(s.device, &words, 4, sizeof *words, "words"));
    for (uint32_t need = 1024; need < bytes; need *= 2) {
        LAUNCH(s.a, shared, ((td_launch){.blocks = 4, .threads = 64, .shared_bytes = need}),
               (add_arguments){words, need / 4, need});
        CHECK_OK(td_stream_copy(s.a, host, words, sizeof host, TD_TO_HOST));
        CHECK_OK(td_stream_synchronize(s.a));
        CHECK_EQ(host[3], need);
    }
    LAUNCH(s.a, shared, ((td_launch){.blocks = 4, .threads = 64, .shared_bytes = bytes}),
           (add_arguments){words, bytes / 4, 7});
    CHECK_OK(td_stream_synchronize(s.a));
    td_launch over = {.blocks = 4, .threads = 64, .shared_bytes = bytes + 1024};
    CHECK(launch(s.a, "shared", kernel_shared, over, &(add_arguments){words, 1, 1}, sizeof(add_arguments)) != TD_OK);
    CHECK_CONTAINS(td_last_message(), "shared");
    CHECK_OK(td_stream_synchronize(s.a)); /* a refused launch does no harm */
    td_device_free(s.device, words);
    stop(&s);
}

TEST(kernels_read_pinned_memory)
{
    setting s = start();
    void *pages = NULL;
    uint64_t *sum = NULL, host = 0;
    uint32_t *seen = NULL, *again = NULL;
    CHECK_OK(td_new_pages(&pages, COUNT * sizeof(uint32_t), "pages"));
    uint32_t *numbers = pages;
    for (uint32_t i = 0; i < COUNT; i++) numbers[i] = i;
    CHECK_OK(td_device_pin(s.device, numbers, COUNT * sizeof *numbers, &seen));
    CHECK_OK(td_device_pin(s.device, numbers, COUNT * sizeof *numbers, &again)); /* as another slice would */
    CHECK(seen == again);
    td_device_unpin(s.device, numbers);
    CHECK_OK(td_device_new(s.device, &sum, 1, sizeof *sum, "sum"));
    CHECK_OK(td_stream_fill(s.a, sum, 0, sizeof *sum));
    LAUNCH(s.a, sum, wide, (sum_arguments){seen, COUNT, sum});
    CHECK_OK(td_stream_copy(s.a, &host, sum, sizeof host, TD_TO_HOST));
    CHECK_OK(td_stream_synchronize(s.a));
    CHECK_EQ(host, (uint64_t)COUNT * (COUNT - 1) / 2);
    td_device_unpin(s.device, numbers);
    td_device_free(s.device, sum);
    td_free(pages);
    stop(&s);
}

TEST(pairs_are_sorted_and_numbers_summed)
{
    setting s = start();
    uint32_t *keys = NULL, *values = NULL, *host = NULL;
    uint64_t *sums = NULL, *host_sums = NULL, bytes = 0, scan_bytes = 0, total = 0;
    void *room = NULL;
    CHECK_OK(TD_NEW(&host, 2 * COUNT, "host"));
    CHECK_OK(TD_NEW(&host_sums, COUNT + 1, "host"));
    for (uint32_t i = 0; i < COUNT; i++) host[i] = i * 2654435761u, host[COUNT + i] = i;
    CHECK_OK(td_device_sort_bytes(s.device, COUNT, &bytes));
    CHECK_OK(td_device_scan_bytes(s.device, COUNT, &scan_bytes));
    if (scan_bytes > bytes) bytes = scan_bytes;
    CHECK_OK(td_device_new(s.device, &keys, 2 * COUNT, sizeof *keys, "keys"));
    CHECK_OK(td_device_new(s.device, &sums, COUNT + 1, sizeof *sums, "sums"));
    CHECK_OK(td_device_new(s.device, &room, bytes, 1, "room"));
    values = keys + COUNT;
    CHECK_OK(td_stream_copy(s.a, keys, host, 2 * COUNT * sizeof *keys, TD_TO_DEVICE));
    CHECK_OK(td_stream_sort(s.a, keys, values, COUNT, room, bytes));
    CHECK_OK(td_stream_scan(s.a, keys, sums, COUNT, room, bytes));
    CHECK_OK(td_stream_copy(s.a, host, keys, 2 * COUNT * sizeof *keys, TD_TO_HOST));
    CHECK_OK(td_stream_copy(s.a, host_sums, sums, (COUNT + 1) * sizeof *sums, TD_TO_HOST));
    CHECK_OK(td_stream_synchronize(s.a));
    for (uint32_t i = 0; i < COUNT; i++) {
        CHECK(i == 0 || host[i - 1] <= host[i]);
        CHECK_EQ(host[i], host[COUNT + i] * 2654435761u);
        CHECK_EQ(host_sums[i], total);
        total += host[i];
    }
    CHECK_EQ(host_sums[COUNT], total);
    CHECK_OK(td_stream_sort(s.a, keys, values, 0, room, bytes));
    CHECK_OK(td_stream_scan(s.a, keys, sums, 0, room, bytes));
    CHECK_OK(td_stream_copy(s.a, host_sums, sums, sizeof *sums, TD_TO_HOST));
    CHECK_OK(td_stream_synchronize(s.a));
    CHECK_EQ(host_sums[0], 0);
    CHECK_STATUS(td_stream_sort(s.a, keys, values, COUNT, room, 64), TD_INVALID);
    td_device_free(s.device, keys);
    td_device_free(s.device, sums);
    td_device_free(s.device, room);
    td_free(host);
    td_free(host_sums);
    stop(&s);
}

TEST(out_of_memory_names_the_bytes)
{
    setting s = start();
    char *block = NULL;
    CHECK_STATUS(td_device_new(s.device, &block, s.device->properties.memory, 2, "edges"), TD_NO_MEMORY);
    CHECK_CONTAINS(td_last_message(), "edges");
    CHECK_CONTAINS(td_last_message(), "GiB");
    CHECK_OK(td_device_new(s.device, &block, 1 << 20, 1, "edges")); /* it does no harm */
    td_device_free(s.device, block);
    stop(&s);
}

TEST(a_budget_is_kept)
{
    setting s = start_with("cuda:0", 1 << 20);
    char *block = NULL, *more = NULL;
    CHECK_OK(td_device_new(s.device, &block, 1 << 19, 1, "offsets"));
    CHECK_STATUS(td_device_new(s.device, &more, (1 << 19) + 1, 1, "edges"), TD_NO_MEMORY);
    CHECK_CONTAINS(td_last_message(), "gpu_memory");
    td_device_free(s.device, block);
    stop(&s);
}

static td_device *open_slices(const char *names, td_loop **loop)
{
    td_device *first = NULL;
    need_gpu();
    CHECK_OK(td_loop_create(loop));
    td_status status = td_devices_open(&first, names, &(td_device_options){.loop = *loop, .gpu_memory = 64 << 20});
    if (status == TD_UNSUPPORTED) {
        td_loop_destroy(*loop);
        SKIP("this GPU has too few multiprocessors");
    }
    CHECK_OK(status);
    return first;
}

TEST(slices_have_multiprocessors_of_their_own)
{
    enum { WORDS = 32, SLICES = 4 };
    td_loop *loop;
    td_device *first = open_slices("cuda:0/4", &loop), *device = first;
    uint32_t all[WORDS] = {0};
    for (int i = 0; i < SLICES; i++, device = device->next) {
        uint32_t *bits = NULL, mine[WORDS];
        int used = 0;
        td_stream *stream = NULL;
        CHECK_EQ(device->budget, 16 << 20);
        CHECK_OK(td_device_new(device, &bits, WORDS, sizeof *bits, "bits"));
        CHECK_OK(td_stream_open(device, &stream));
        CHECK_OK(td_stream_fill(stream, bits, 0, sizeof mine));
        LAUNCH(stream, where, ((td_launch){.blocks = 4096, .threads = 256}), (where_arguments){bits});
        CHECK_OK(td_stream_copy(stream, mine, bits, sizeof mine, TD_TO_HOST));
        CHECK_OK(td_stream_synchronize(stream));
        for (int w = 0; w < WORDS; w++) {
            CHECK_EQ(all[w] & mine[w], 0);
            all[w] |= mine[w];
            used += __builtin_popcount(mine[w]);
        }
        printf("    %s: %d multiprocessors, %d seen\n", device->name, device->properties.multiprocessors, used);
        CHECK_EQ(used, device->properties.multiprocessors);
        td_stream_close(stream);
        td_device_free(device, bits);
    }
    CHECK(device == NULL);
    td_devices_close(first);
    td_loop_destroy(loop);
}

TEST(slices_run_side_by_side)
{
    td_loop *loop;
    td_device *a = open_slices("cuda:0/2", &loop), *b = a->next;
    td_stream *on_a = NULL, *on_b = NULL;
    uint32_t *words = NULL, host[4] = {0};
    uint64_t clocks = UINT64_C(2000000000);
    CHECK_OK(td_stream_open(a, &on_a));
    CHECK_OK(td_stream_open(b, &on_b));
    CHECK_OK(td_device_new(a, &words, 4, sizeof *words, "words"));
    CHECK_OK(td_stream_fill(on_a, words, 0, sizeof host));
    CHECK_OK(td_stream_synchronize(on_a));
    LAUNCH(on_a, meet, narrow, (meet_arguments){words, words + 1, words + 2, clocks});
    LAUNCH(on_b, meet, narrow, (meet_arguments){words + 1, words, words + 3, clocks});
    CHECK_OK(td_stream_synchronize(on_a));
    CHECK_OK(td_stream_synchronize(on_b));
    CHECK_OK(td_stream_copy(on_a, host, words, sizeof host, TD_TO_HOST));
    CHECK_OK(td_stream_synchronize(on_a));
    CHECK_EQ(host[2], 1);
    CHECK_EQ(host[3], 1);
    td_stream_close(on_a);
    td_stream_close(on_b);
    td_device_free(a, words);
    td_devices_close(a);
    td_loop_destroy(loop);
}

/* Memory on either slice, a pattern in the first's. */
typedef struct two_slices {
    td_loop *loop;
    td_device *device[2];
    td_stream *stream[2];
    uint32_t *numbers[2], *host;
} two_slices;

enum { SLICE_NUMBERS = 1300 << 10 }; /* of 4 bytes: more than two pieces of a copy through the host */

static two_slices open_two(void)
{
    two_slices s = {0};
    s.device[0] = open_slices("cuda:0/2", &s.loop);
    s.device[1] = s.device[0]->next;
    CHECK_OK(TD_NEW(&s.host, SLICE_NUMBERS, "host"));
    for (uint32_t i = 0; i < SLICE_NUMBERS; i++) s.host[i] = i * 2654435761u;
    for (int i = 0; i < 2; i++) {
        CHECK_OK(td_stream_open(s.device[i], &s.stream[i]));
        CHECK_OK(td_device_new(s.device[i], &s.numbers[i], SLICE_NUMBERS, sizeof *s.host, "numbers"));
        CHECK_OK(td_stream_fill(s.stream[i], s.numbers[i], 0, SLICE_NUMBERS * sizeof *s.host));
    }
    CHECK_OK(td_stream_copy(s.stream[0], s.numbers[0], s.host, SLICE_NUMBERS * sizeof *s.host, TD_TO_DEVICE));
    CHECK_OK(td_stream_synchronize(s.stream[0]));
    CHECK_OK(td_stream_synchronize(s.stream[1]));
    return s;
}

static void close_two(two_slices *s)
{
    for (int i = 0; i < 2; i++) {
        td_stream_close(s->stream[i]);
        td_device_free(s->device[i], s->numbers[i]);
    }
    td_devices_close(s->device[0]);
    td_loop_destroy(s->loop);
    td_free(s->host);
}

static void check_numbers(two_slices *s, const uint32_t *numbers)
{
    memset(s->host, 0, SLICE_NUMBERS * sizeof *s->host);
    CHECK_OK(td_stream_copy(s->stream[1], s->host, numbers, SLICE_NUMBERS * sizeof *s->host, TD_TO_HOST));
    CHECK_OK(td_stream_synchronize(s->stream[1]));
    for (uint32_t i = 0; i < SLICE_NUMBERS; i++) CHECK_EQ(s->host[i], i * 2654435761u);
}

TEST(slices_of_a_gpu_share_its_memory)
{
    two_slices s = open_two();
    td_link link = {0};
    uint64_t *sum = NULL, total = 0, expected = 0;
    CHECK_OK(td_device_link(s.device[0], s.device[1], &link));
    CHECK(link.direct && link.same_memory && link.enabled);
    CHECK_OK(td_device_enable_peer(s.device[1], s.device[0]));
    CHECK_OK(td_device_new(s.device[1], &sum, 1, sizeof *sum, "sum"));
    CHECK_OK(td_stream_fill(s.stream[1], sum, 0, sizeof *sum));
    LAUNCH(s.stream[1], sum, wide, (sum_arguments){s.numbers[0], SLICE_NUMBERS, sum}); /* the other slice's memory */
    CHECK_OK(td_stream_copy(s.stream[1], &total, sum, sizeof total, TD_TO_HOST));
    CHECK_OK(td_stream_synchronize(s.stream[1]));
    for (uint32_t i = 0; i < SLICE_NUMBERS; i++) expected += i * 2654435761u;
    CHECK_EQ(total, expected);
    td_device_free(s.device[1], sum);
    close_two(&s);
}

TEST(copies_between_slices_arrive_and_are_counted)
{
    two_slices s = open_two();
    uint64_t bytes = SLICE_NUMBERS * sizeof(uint32_t);
    CHECK_OK(td_stream_copy_peer(s.stream[1], s.device[1], s.numbers[1], s.device[0], s.numbers[0], bytes));
    CHECK_OK(td_stream_copy_peer(s.stream[1], s.device[1], s.numbers[1], s.device[0], s.numbers[0], 0));
    CHECK_OK(td_stream_synchronize(s.stream[1]));
    check_numbers(&s, s.numbers[1]);
    td_link_counts counts = td_device_link_counts(s.device[0], s.device[1]);
    CHECK(counts.copies == 1 && counts.copied_bytes == bytes && counts.reads == 0);
    CHECK_EQ(td_device_link_counts(s.device[1], s.device[0]).copies, 0);
    CHECK_EQ(s.device[1]->counts.bytes_to_peers, bytes);
    close_two(&s);
}

/* As between GPUs without peer access: given to a stream of the one that has the bytes, or of the one that gets them. */
TEST(copies_through_the_host_arrive)
{
    for (int mine = 0; mine < 2; mine++) {
        two_slices s = open_two();
        uint64_t bytes = SLICE_NUMBERS * sizeof(uint32_t);
        td_link link = {0};
        td_cuda_stage_always(true);
        CHECK_OK(td_device_link(s.device[0], s.device[1], &link));
        CHECK(!link.direct && !link.same_memory);
        for (int round = 0; round < 3; round++) /* buffers are used again */
            CHECK_OK(td_stream_copy_peer(s.stream[mine], s.device[1], s.numbers[1], s.device[0], s.numbers[0], bytes));
        CHECK_OK(td_stream_synchronize(s.stream[mine]));
        td_cuda_stage_always(false);
        check_numbers(&s, s.numbers[1]);
        CHECK_EQ(td_device_link_counts(s.device[0], s.device[1]).copies, 3);
        close_two(&s);
    }
}

TEST(blocks_meet_at_barriers_within_a_slice)
{
    td_loop *loop;
    td_device *device = open_slices("cuda:0/4#2", &loop);
    td_stream *stream = NULL;
    tally seen = {0};
    td_event *event = NULL;
    uint32_t *words = NULL, host[2] = {0}, blocks = 0;
    td_kernel kernel = {"rounds", kernel_rounds};
    CHECK_STR(device->name, "cuda:0/4#2");
    CHECK(device->next == NULL);
    CHECK_OK(td_device_occupancy(device, &kernel, 256, 0, &blocks));
    CHECK_OK(td_stream_open(device, &stream));
    CHECK_OK(td_device_new(device, &words, 3, sizeof *words, "words"));
    CHECK_OK(td_stream_fill(stream, words, 0, 3 * sizeof *words));
    td_launch all = {.blocks = blocks, .threads = 256, .cooperative = true};
    LAUNCH(stream, rounds, all, (rounds_arguments){words, words + 1, words + 2, 50});
    CHECK_OK(td_stream_copy(stream, host, words, sizeof host, TD_TO_HOST));
    CHECK_OK(td_stream_record(stream, &event));
    CHECK_OK(td_stream_wait(stream, event));
    td_event_destroy(device, event);
    CHECK_OK(td_stream_notify(stream, note, &seen, 1));
    CHECK_OK(td_loop_run(loop));
    CHECK_EQ(seen.count, 1);
    CHECK_EQ(host[0], 50 * blocks);
    CHECK_EQ(host[1], 0);
    all.blocks++;
    CHECK_STATUS(launch(stream, "rounds", kernel_rounds, all, &(rounds_arguments){words, words + 1, words + 2, 1},
                        sizeof(rounds_arguments)),
                 TD_INVALID);
    td_stream_close(stream);
    td_device_free(device, words);
    td_devices_close(device);
    td_loop_destroy(loop);
}

TEST(more_slices_than_the_chip_has_are_refused)
{
    td_loop *loop = NULL;
    td_device *first = NULL;
    need_gpu();
    CHECK_OK(td_loop_create(&loop));
    CHECK_STATUS(td_devices_open(&first, "cuda:0/1000", &(td_device_options){.loop = loop}), TD_UNSUPPORTED);
    CHECK_CONTAINS(td_last_message(), "cannot give 1000 slices");
    printf("    %s\n", td_last_message());
    CHECK_STATUS(td_devices_open(&first, "cuda:63", &(td_device_options){.loop = loop}), TD_UNSUPPORTED);
    CHECK_CONTAINS(td_last_message(), "the GPUs of this machine");
    td_loop_destroy(loop);
}

TEST(devices_open_and_close_many_times)
{
    need_gpu();
    for (int i = 0; i < 20; i++) {
        setting s = start_with(i % 2 == 0 ? "cuda:0" : "cuda:0/2#1", 0);
        uint32_t *number = NULL;
        CHECK_OK(td_device_new(s.device, &number, 1, sizeof *number, "number"));
        LAUNCH(s.a, add, narrow, (add_arguments){number, 1, 1});
        CHECK_OK(td_stream_synchronize(s.a));
        stop(&s); /* frees the number */
    }
}

TEST(a_failed_request_for_host_memory_leaves_nothing)
{
    need_gpu();
    td_loop *loop = NULL;
    CHECK_OK(td_loop_create(&loop));
    for (uint64_t nth = 1;; nth++) {
        td_device *device = NULL;
        td_stream *stream = NULL;
        td_event *event = NULL;
        td_alloc_fail_at(nth);
        td_status status = td_devices_open(&device, "cuda:0/2", &(td_device_options){.loop = loop});
        if (status == TD_OK) status = td_stream_open(device, &stream);
        if (status == TD_OK) status = td_stream_record(stream, &event);
        td_alloc_fail_at(0);
        if (event != NULL) td_event_destroy(device, event);
        td_stream_close(stream);
        td_devices_close(device);
        if (status == TD_OK) break;
        CHECK_EQ(status, TD_NO_MEMORY);
    }
    td_loop_destroy(loop);
}

TEST(random_reads_are_measured_where_there_is_room_and_memory_is_given_back)
{
    setting s = start_with(gpu_name(), 64 << 20);
    double rate = 0;
    CHECK_OK(td_cuda_measure_gathers(s.device, 1 << 20, &rate));
    CHECK(rate > 1e6);
    CHECK_OK(td_cuda_measure_gathers(s.device, 1, &rate));
    CHECK_EQ(s.device->now, 0);
    CHECK_STATUS(td_cuda_measure_gathers(s.device, 65 << 20, &rate), TD_NO_MEMORY);
    CHECK_EQ(s.device->now, 0);
    stop(&s);
}

TEST_MAIN
