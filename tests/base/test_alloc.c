#include "test.h"

#include "base/account.h"
#include "base/machine.h"
#include "base/pool.h"
#include "device/emulator/sanitizer.h"

#include <malloc.h>
#include <stdatomic.h>

/* Small, just below and above the size from which blocks are mappings, and large. */
static const uint64_t sizes[] = {1, 63, 64, 65, 4096, (2 << 20) - 1, 2 << 20, (2 << 20) + 1, 5 << 20, 12 << 20};
enum { SIZES = sizeof sizes / sizeof *sizes };

static unsigned char pattern(uint64_t i) { return (unsigned char)(i * 37 + (i >> 8) * 11 + 5); }

static void fill(unsigned char *block, uint64_t begin, uint64_t end)
{
    for (uint64_t i = begin; i < end; i++) block[i] = pattern(i);
}

static bool holds_pattern(const unsigned char *block, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes; i++)
        if (block[i] != pattern(i)) return false;
    return true;
}

TEST(what_is_held_is_counted_until_it_is_freed)
{
    uint64_t before = td_memory().now;
    void *blocks[SIZES] = {NULL};
    uint64_t asked = 0;
    for (int i = 0; i < SIZES; i++) {
        CHECK_OK(td_new_bytes(&blocks[i], sizes[i], 1, "block"));
        CHECK_EQ(td_block_bytes(blocks[i]), sizes[i]);
        asked += sizes[i];
        CHECK(td_memory().now - before >= asked);
        CHECK(td_memory().now - before <= asked + (uint64_t)(i + 1) * 8192);
    }
    for (int i = 0; i < SIZES; i++) td_free(blocks[i]);
    CHECK_EQ(td_memory().now, before);
}

TEST(every_request_is_counted)
{
    uint64_t before = td_memory().requests;
    int *block = NULL;
    CHECK_OK(TD_NEW(&block, 10, "block"));
    CHECK_OK(TD_RESIZE(&block, 20, "block"));
    td_free(block);
    CHECK_EQ(td_memory().requests - before, 2);
}

TEST(blocks_are_aligned)
{
    for (int i = 0; i < SIZES; i++) {
        void *block = NULL, *pages = NULL;
        CHECK_OK(td_new_bytes(&block, sizes[i], 1, "block"));
        CHECK_OK(td_new_pages(&pages, sizes[i], "pages"));
        CHECK_EQ((uintptr_t)block % 64, 0);
        CHECK_EQ((uintptr_t)pages % 4096, 0);
        memset(pages, 1, sizes[i]);
        td_free(block);
        td_free(pages);
    }
}

TEST(a_block_of_nothing_is_valid)
{
    uint64_t *block = NULL;
    CHECK_OK(TD_NEW(&block, 0, "nothing"));
    CHECK(block != NULL);
    CHECK_EQ(td_block_bytes(block), 0);
    CHECK_OK(TD_RESIZE(&block, 3, "something"));
    block[2] = 7;
    CHECK_OK(TD_RESIZE(&block, 0, "nothing"));
    td_free(block);
    td_free(NULL);
    CHECK_EQ(td_block_bytes(NULL), 0);
}

TEST(zeroed_blocks_are_zero)
{
    for (int i = 0; i < SIZES; i++) {
        unsigned char *dirty = NULL, *block = NULL;
        CHECK_OK(TD_NEW(&dirty, sizes[i], "dirty"));
        memset(dirty, 0xff, sizes[i]);
        td_free(dirty);
        CHECK_OK(TD_NEW_ZEROED(&block, sizes[i], "zeroed"));
        for (uint64_t k = 0; k < sizes[i]; k++) CHECK(block[k] == 0);
        td_free(block);
    }
}

TEST(resizing_keeps_the_content)
{
    for (int from = 0; from < SIZES; from++)
        for (int to = 0; to < SIZES; to++) {
            unsigned char *block = NULL;
            CHECK_OK(TD_NEW(&block, sizes[from], "block"));
            fill(block, 0, sizes[from]);
            CHECK_OK(TD_RESIZE(&block, sizes[to], "block"));
            CHECK(holds_pattern(block, sizes[from] < sizes[to] ? sizes[from] : sizes[to]));
            CHECK_EQ(td_block_bytes(block), sizes[to]);
            CHECK_EQ((uintptr_t)block % 64, 0);
            if (sizes[to] > sizes[from]) fill(block, sizes[from], sizes[to]);
            CHECK(holds_pattern(block, sizes[to]));
            td_free(block);
        }
}

TEST(a_mapped_block_that_must_move_keeps_content_and_alignment)
{
    enum { BLOCKS = 6 };
    unsigned char *blocks[BLOCKS] = {NULL};
    uint64_t bytes = 3 << 20;
    bool mapped = true; /* not under a sanitizer */
    for (int i = 0; i < BLOCKS; i++) {
        CHECK_OK(TD_NEW(&blocks[i], bytes, "block"));
        fill(blocks[i], 0, bytes);
        mapped = mapped && (uintptr_t)blocks[i] % (2 << 20) == 64;
    }
    for (int round = 0; round < 3; round++) {
        bytes += 5 << 20;
        for (int i = 0; i < BLOCKS; i++) {
            CHECK_OK(TD_RESIZE(&blocks[i], bytes, "block"));
            CHECK(holds_pattern(blocks[i], bytes - (5 << 20)));
            fill(blocks[i], bytes - (5 << 20), bytes);
            if (mapped) CHECK_EQ((uintptr_t)blocks[i] % (2 << 20), 64);
        }
    }
    for (int i = 0; i < BLOCKS; i++) {
        CHECK(holds_pattern(blocks[i], bytes));
        td_free(blocks[i]);
    }
}

TEST(resizing_changes_the_count_held)
{
    uint64_t before = td_memory().now;
    unsigned char *block = NULL;
    for (int i = 0; i < 2 * SIZES; i++) {
        uint64_t bytes = sizes[i < SIZES ? i : 2 * SIZES - 1 - i];
        CHECK_OK(TD_RESIZE(&block, bytes, "block"));
        CHECK(td_memory().now - before >= bytes);
        CHECK(td_memory().now - before <= bytes + 8192);
    }
    td_free(block);
    CHECK_EQ(td_memory().now, before);
}

TEST(the_budget_is_kept_and_named)
{
    uint64_t before = td_memory().now;
    unsigned char *block = NULL, *other = NULL;
    td_memory_set_budget(before + (8 << 20));
    CHECK_OK(TD_NEW(&block, 5 << 20, "first array"));
    td_status status = TD_NEW(&other, 5 << 20, "second array");
    td_status resized = TD_RESIZE(&block, 9 << 20, "first array");
    td_memory_set_budget(0);
    CHECK_EQ(status, TD_NO_MEMORY);
    CHECK(other == NULL);
    CHECK_EQ(resized, TD_NO_MEMORY);
    CHECK_CONTAINS(td_last_message(), "first array");
    CHECK_CONTAINS(td_last_message(), "9.0 MiB of memory");
    CHECK_CONTAINS(td_last_message(), "budget of 8.0 MiB are taken; memory allows more");
    CHECK_EQ(td_block_bytes(block), 5 << 20);
    CHECK_OK(TD_NEW(&other, 5 << 20, "second array"));
    td_free(block);
    td_free(other);
    CHECK_EQ(td_memory().now, before);
}

TEST(the_peak_is_the_most_ever_held)
{
    td_memory_reset_peak();
    uint64_t before = td_memory().now;
    CHECK_EQ(td_memory().peak, before);
    unsigned char *block = NULL, *other = NULL;
    CHECK_OK(TD_NEW(&block, 6 << 20, "block"));
    CHECK_OK(TD_NEW(&other, 3 << 20, "block"));
    td_free(block);
    CHECK_OK(TD_RESIZE(&other, 4 << 20, "block"));
    td_free(other);
    uint64_t peak = td_memory().peak - before;
    CHECK(peak >= (9 << 20) && peak <= (9 << 20) + 16384);
    td_memory_reset_peak();
    CHECK_EQ(td_memory().peak, before);
}

TEST(sizes_beyond_any_machine_are_out_of_memory)
{
    static const struct {
        uint64_t count;
        size_t element;
    } huge[] = {{UINT64_MAX, 1},      {UINT64_MAX, 8},           {UINT64_MAX / 8 + 1, 8}, {UINT64_C(1) << 63, 1},
                {UINT64_C(1) << 63, 2}, {(UINT64_C(1) << 63) - 1, 1}, {UINT64_C(1) << 50, 4},   {UINT64_C(1) << 48, 1}};
    td_memory_reset_peak();
    uint64_t before = td_memory().now, peak = td_memory().peak;
    for (size_t i = 0; i < sizeof huge / sizeof *huge; i++) {
        void *untouched = &before, *block = untouched;
        CHECK_STATUS(td_new_bytes(&block, huge[i].count, huge[i].element, "monster"), TD_NO_MEMORY);
        CHECK_CONTAINS(td_last_message(), "monster");
        CHECK_STATUS(td_new_zeroed_bytes(&block, huge[i].count, huge[i].element, "monster"), TD_NO_MEMORY);
        CHECK(block == untouched);
        for (uint64_t bytes = 100; bytes <= 3 << 20; bytes += (3 << 20) - 100) {
            unsigned char *kept = NULL;
            CHECK_OK(TD_NEW(&kept, bytes, "kept"));
            fill(kept, 0, bytes);
            block = kept;
            CHECK_STATUS(td_resize_bytes(&block, huge[i].count, huge[i].element, "monster"), TD_NO_MEMORY);
            CHECK(block == kept && holds_pattern(kept, bytes));
            td_free(kept);
        }
    }
    void *pages = NULL;
    CHECK_STATUS(td_new_pages(&pages, UINT64_MAX - 100, "monster"), TD_NO_MEMORY);
    CHECK_EQ(td_memory().now, before);
    CHECK(td_memory().peak <= peak + (4 << 20)); /* what was refused is no peak */
}

TEST(the_nth_request_can_be_made_to_fail)
{
    for (uint64_t nth = 1; nth <= 4; nth++) {
        void *blocks[5] = {NULL};
        td_alloc_fail_at(nth);
        for (uint64_t i = 1; i <= 5; i++) {
            td_status status = td_new_bytes(&blocks[i - 1], 100, 1, "block");
            CHECK_EQ(status, i == nth ? TD_NO_MEMORY : TD_OK);
        }
        for (int i = 0; i < 5; i++) td_free(blocks[i]);
    }
    void *block = NULL;
    CHECK_OK(td_new_bytes(&block, 3 << 20, 1, "block"));
    for (uint64_t bytes = 100; bytes <= 5 << 20; bytes += (5 << 20) - 100) {
        td_alloc_fail_at(1);
        CHECK_STATUS(td_resize_bytes(&block, bytes, 1, "block"), TD_NO_MEMORY);
    }
    td_alloc_fail_at(2);
    td_alloc_fail_at(0);
    CHECK_OK(td_resize_bytes(&block, 4 << 20, 1, "block"));
    CHECK_OK(td_resize_bytes(&block, 5 << 20, 1, "block"));
    td_free(block);
}

TEST(strings_are_copied)
{
    char text[] = "graph.tg", *copy = NULL;
    CHECK_OK(td_string_copy(&copy, text, "name"));
    text[0] = 'X';
    CHECK_STR(copy, "graph.tg");
    td_free(copy);
}

/* What /proc says of the mapping that holds this address: "... rd wr mr mw me ac hg". */
static void read_flags(const void *address, char flags[512])
{
    char line[512];
    unsigned long begin, end;
    bool here = false;
    FILE *file = fopen("/proc/self/smaps", "r");
    flags[0] = '\0';
    if (file == NULL) SKIP("the system does not list mappings");
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "%lx-%lx ", &begin, &end) == 2) here = (uintptr_t)address >= begin && (uintptr_t)address < end;
        if (here && strncmp(line, "VmFlags:", 8) == 0) strcpy(flags, line);
    }
    fclose(file);
}

/* So that they are used at random, and pinned, at the price of one page per 2 MiB. */
TEST(large_blocks_stand_on_huge_pages)
{
    char flags[512];
    unsigned char *block = NULL;
    if (TD_ADDRESS_CHECKED || TD_THREADS_CHECKED) SKIP("under a sanitizer no block is a mapping of its own");
    CHECK_OK(TD_NEW(&block, 5 << 20, "block"));
    CHECK_EQ((uintptr_t)block % (2 << 20), 64);
    read_flags(block, flags);
    td_free(block);
    if (flags[0] == '\0') SKIP("the system does not list flags of mappings");
    CHECK_CONTAINS(flags, " hg");
}

TEST(huge_pages_can_be_turned_off)
{
    CHECK(td_huge_pages_on());
    td_huge_pages(false);
    CHECK(!td_huge_pages_on());
    unsigned char *block = NULL;
    CHECK_OK(TD_NEW_ZEROED(&block, 5 << 20, "block"));
    CHECK_OK(TD_RESIZE(&block, 50 << 20, "block"));
    td_free(block);
    td_huge_pages(true);
}

/* Worker 0 asks for more than the budget all the time; the others' requests fit. */
static td_status ask_in_turns(void *context, int worker, int workers)
{
    (void)workers;
    _Atomic int *refused = context;
    for (int i = 0; i < 20000; i++) {
        void *block = NULL;
        td_status status = td_new_bytes(&block, worker == 0 ? 64 << 20 : 256, 1, "block");
        if (worker != 0 && status != TD_OK) ++*refused;
        td_free(block);
    }
    return TD_OK;
}

TEST(a_request_that_fits_is_not_refused_because_of_one_that_does_not)
{
    td_pool *pool = NULL;
    CHECK_OK(td_pool_create(&pool, 3));
    uint64_t before = td_memory().now;
    _Atomic int refused = 0;
    td_memory_set_budget(before + (1 << 20));
    td_status status = td_pool_run(pool, ask_in_turns, (void *)&refused);
    td_memory_set_budget(0);
    CHECK_EQ(status, TD_OK);
    CHECK_EQ(refused, 0);
    CHECK_EQ(td_memory().now, before);
    td_pool_destroy(pool);
}

TEST(memory_of_a_space_goes_from_one_part_to_another)
{
    enum { PART = 1 << 16 };
    void *space = NULL;
    uint64_t before = td_memory().now;
    CHECK_OK(td_space_create(&space, 8 * PART, "space"));
    char *from = (char *)space + PART, *to = (char *)space + 5 * PART;
    CHECK(td_space_take(td_account_current(), PART));
    memset(from, 7, PART);
    bool moved = td_space_move(to, from, PART);
    CHECK_EQ(td_memory().now, before + PART);
    CHECK_EQ(from[0], 0);
    CHECK_EQ(from[PART - 1], 0);
    CHECK_EQ(to[0], moved ? 7 : 0);
    memset(to, 9, PART);
    CHECK_EQ(to[PART - 1], 9);
    td_space_drop(td_account_current(), to, PART);
    CHECK_EQ(td_memory().now, before);
    td_space_destroy(space, 8 * PART);
}

/* The C library's heap would keep what lies below a block that is still held, and count it to nobody. */
TEST(under_a_budget_freed_blocks_go_back_to_the_system)
{
    enum { BLOCKS = 100, BYTES = 512 << 10 };
    char *blocks[BLOCKS], *last = NULL;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    SKIP("a sanitizer's allocator keeps freed blocks");
#endif
    td_memory_set_budget(td_memory().now + (UINT64_C(200) << 20));
    for (int turn = 0; turn < 2; turn++) { /* the first free raises the heap's threshold for mappings */
        uint64_t before = td_machine_resident();
        for (int i = 0; i < BLOCKS; i++) {
            CHECK_OK(TD_NEW(&blocks[i], BYTES, "block"));
            memset(blocks[i], 1, BYTES);
        }
        CHECK_OK(TD_NEW(&last, 100 << 10, "the last block"));
        memset(last, 1, 100 << 10);
        CHECK(td_machine_resident() - before > (uint64_t)BLOCKS * BYTES / 10 * 9);
        for (int i = 0; i < BLOCKS; i++) td_free(blocks[i]);
        CHECK(td_machine_resident() < before + (uint64_t)BLOCKS * BYTES / 10);
        td_free(last);
    }
    td_memory_set_budget(0);
}

/* Blocks of the C library: on its heap, and mapped. */
static uint64_t heap_bytes(void)
{
    struct mallinfo2 heap = mallinfo2();
    return (uint64_t)heap.uordblks + (uint64_t)heap.hblkhd;
}

/* A large one that was freed would raise the heap's threshold for mappings. */
TEST(under_a_tiny_budget_the_heap_has_no_large_blocks)
{
    static const size_t sizes[] = {1 << 20, 3 << 20};
    char *block;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    SKIP("a sanitizer's allocator has all blocks");
#endif
    td_memory_set_budget(td_memory().now + (UINT64_C(20) << 20));
    for (int i = 0; i < 2; i++) {
        uint64_t before = heap_bytes();
        CHECK_OK(TD_NEW(&block, sizes[i], "block"));
        CHECK(heap_bytes() < before + sizes[i]);
        td_free(block);
    }
    td_memory_set_budget(0);
}

TEST_MAIN
