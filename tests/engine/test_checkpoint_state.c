/* The arrays of a state and the file they make: filled by all workers or by one, with checksums over every byte. */
#include "engine/checkpoint_scene.h"

#include "base/random.h"

/* An array of so many vertices' values, of two blocks and a piece of a page. */
enum { VERTICES = 2 * TD_STATE_BLOCK / 4 + 77 };

static const td_identity identity = {.program = "pagerank", .vertices = VERTICES, .value_bytes = 4};

static td_state make_state(const uint32_t *values, bool filled, td_pool *pool)
{
    td_state state = {0};
    CHECK_OK(td_state_new_part(&state, TD_STATE_VALUES, VERTICES * 4));
    CHECK_OK(td_state_new_part(&state, TD_STATE_ACTIVE, td_bitmap_words(VERTICES) * 8));
    CHECK_OK(td_state_new_part(&state, TD_STATE_EDGES, 3 * 8));
    memset(state.values, 0xee, td_state_padded(VERTICES * 4)); /* also what follows */
    memset(state.active, 0x55, td_state_padded(td_bitmap_words(VERTICES) * 8));
    state.edge_count = 3;
    for (uint64_t i = 0; i < 3; i++) state.edges[i] = 1000 + i;
    state.has_active = true;
    state.iteration = 4;
    if (filled) CHECK_OK(td_state_fill(&state, TD_STATE_VALUES, values, VERTICES * 4, pool));
    else memcpy(state.values, values, VERTICES * 4);
    return state;
}

static uint32_t *make_values(void)
{
    uint32_t *values;
    CHECK_OK(TD_NEW(&values, VERTICES, "values"));
    for (uint64_t i = 0; i < VERTICES; i++) values[i] = (uint32_t)td_random_at(7, i);
    return values;
}

static char *read_whole(const char *path, size_t *bytes)
{
    char *data;
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL && fseek(file, 0, SEEK_END) == 0);
    *bytes = (size_t)ftell(file);
    rewind(file);
    CHECK_OK(TD_NEW(&data, *bytes, "file"));
    CHECK_EQ(fread(data, 1, *bytes, file), *bytes);
    fclose(file);
    return data;
}

TEST(a_state_filled_by_workers_makes_the_same_file)
{
    td_pool *pool = NULL;
    uint32_t *values = make_values();
    char *files[3];
    size_t bytes[3];
    CHECK_OK(td_pool_create(&pool, 3));
    for (int i = 0; i < 3; i++) { /* by the engine's own copy, by one worker, by three */
        uint64_t told;
        td_state state = make_state(values, i > 0, i == 2 ? pool : NULL);
        CHECK_OK(td_checkpoint_write(test_path("state"), &identity, &state, &told));
        files[i] = read_whole(test_path("state"), &bytes[i]);
        CHECK_EQ(bytes[i], told);
        CHECK_EQ(bytes[i], bytes[0]);
        CHECK(memcmp(files[i], files[0], bytes[0]) == 0);
        td_state_clear(&state);
    }
    for (int i = 0; i < 3; i++) td_free(files[i]);
    td_free(values);
    td_pool_destroy(pool);
}

TEST(what_was_written_is_read)
{
    uint32_t *values = make_values();
    uint64_t bytes;
    td_identity of;
    td_state state = make_state(values, true, NULL), seen = {0};
    CHECK_OK(td_checkpoint_write(test_path("state"), &identity, &state, &bytes));
    CHECK_OK(td_checkpoint_read(test_path("state"), &of, &seen));
    CHECK(memcmp(&of, &identity, sizeof of) == 0);
    CHECK(memcmp(seen.values, values, VERTICES * 4) == 0);
    CHECK(memcmp(seen.active, state.active, td_bitmap_words(VERTICES) * 8) == 0);
    CHECK(seen.has_active && seen.edge_count == 3 && seen.edges[2] == 1002);
    CHECK_EQ(seen.iteration, 4);
    td_state_clear(&state);
    td_state_clear(&seen);
    td_free(values);
}

TEST(every_byte_is_under_a_checksum_those_that_fill_pages_too)
{
    uint32_t *values = make_values();
    uint64_t told;
    size_t bytes;
    td_state state = make_state(values, true, NULL);
    CHECK_OK(td_checkpoint_write(test_path("state"), &identity, &state, &told));
    char *data = read_whole(test_path("state"), &bytes);
    uint64_t behind_values = TD_OUTFILE_PAGE + VERTICES * 4;
    uint64_t places[] = {TD_OUTFILE_PAGE - 1, TD_OUTFILE_PAGE, behind_values - 1, behind_values, bytes - 1};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        td_identity of;
        td_state seen = {0};
        data[places[i]] ^= 4;
        test_write_file(test_path("state"), data, bytes);
        CHECK_STATUS(td_checkpoint_read(test_path("state"), &of, &seen), TD_CORRUPT);
        CHECK_CONTAINS(td_last_message(), "damaged");
        data[places[i]] ^= 4;
    }
    td_free(data);
    td_state_clear(&state);
    td_free(values);
}

TEST_MAIN
