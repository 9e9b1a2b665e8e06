/* Prepared layouts: what is written is read again; damage, another build, other settings, a full disk and a killed writer
 * are told or leave nothing, and never a wrong layout. */
#include "layout/paths.h"
#include "programs/graphs.h"

#include "base/outfile.h"
#include "store/packed.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* No test may touch the user's own cache. */
__attribute__((constructor)) static void choose_cache(void) { setenv("XDG_CACHE_HOME", test_folder(), 1); }

static td_graph *graph_file(const char *name, const char *kind, test_weights weights)
{
    td_graph *made = test_graph(test_graph_named(kind), weights, NULL), *graph = NULL;
    CHECK_OK(td_packed_write(made, test_path(name), NULL));
    td_graph_destroy(made);
    CHECK_OK(td_packed_load(&graph, test_path(name), NULL));
    CHECK(graph->build_id != 0);
    return graph;
}

static td_paths make(const td_graph *graph)
{
    td_paths paths = {0};
    td_path_options options = td_path_defaults();
    CHECK_OK(td_paths_make(&paths, graph, &options, NULL));
    return paths;
}

static td_status save(const td_paths *paths, const td_graph *graph)
{
    char where[TD_SIDECAR_PATH];
    return td_paths_save(paths, graph->name, where, NULL);
}

static td_status load(const td_graph *graph)
{
    td_paths paths = {0};
    td_path_options options = td_path_defaults();
    td_status status = td_paths_load(&paths, graph, &options, NULL);
    if (status == TD_OK) CHECK_OK(td_paths_check(&paths, graph, NULL));
    td_paths_free(&paths);
    return status;
}

static char *bytes_of(const char *path, size_t *count)
{
    FILE *file = fopen(path, "rb");
    struct stat facts;
    CHECK(file != NULL && stat(path, &facts) == 0);
    char *bytes = malloc((size_t)facts.st_size);
    CHECK(bytes != NULL && fread(bytes, 1, (size_t)facts.st_size, file) == (size_t)facts.st_size);
    fclose(file);
    *count = (size_t)facts.st_size;
    return bytes;
}

TEST(what_is_written_is_read_again)
{
    td_pool *pool = NULL;
    td_graph *graph = graph_file("again.tg", "rmat 14", TEST_U16);
    td_paths paths = make(graph), read = {0};
    bool prepared = false;
    CHECK_OK(td_pool_create(&pool, 3));
    CHECK_STATUS(load(graph), TD_NOT_FOUND);
    CHECK_OK(save(&paths, graph));
    CHECK_OK(td_paths_open(&read, graph, &paths.options, pool, &prepared));
    CHECK(prepared);
    CHECK_EQ(read.paths, paths.paths);
    CHECK(memcmp(read.vertices, paths.vertices, 4 * paths.entries) == 0);
    CHECK(memcmp(read.weights, paths.weights, 2 * paths.edges) == 0);
    CHECK(memcmp(read.partition, paths.partition, paths.partitions * sizeof *paths.partition) == 0);
    CHECK(memcmp(read.lanes, paths.lanes, 4 * 33 * (uint64_t)paths.partitions) == 0);
    CHECK(memcmp(&read.stats, &paths.stats, sizeof read.stats) == 0);
    CHECK_EQ(td_paths_bytes(&read), td_paths_bytes(&paths));
    CHECK_OK(td_paths_check(&read, graph, pool));
    td_paths_free(&read);
    td_paths_free(&paths);
    td_pool_destroy(pool);
    td_graph_destroy(graph);
}

TEST(graphs_without_edges_are_prepared_too)
{
    static const char *const kinds[] = {"empty", "isolated", "single loop"};
    for (int i = 0; i < 3; i++) {
        td_graph *graph = graph_file("small.tg", kinds[i], TEST_UNWEIGHTED);
        td_paths paths = make(graph);
        CHECK_OK(save(&paths, graph));
        CHECK_OK(load(graph));
        td_paths_free(&paths);
        td_graph_destroy(graph);
    }
}

TEST(other_settings_are_made_and_other_builds_are_refused_and_made)
{
    td_graph *graph = graph_file("build.tg", "web", TEST_UNWEIGHTED);
    td_paths paths = make(graph), read = {0};
    td_path_options free_merge = paths.options;
    bool prepared = true;
    CHECK_OK(save(&paths, graph));
    free_merge.merge = TD_PATHS_MERGE_FREE;
    CHECK_STATUS(td_paths_load(&read, graph, &free_merge, NULL), TD_NOT_FOUND);
    CHECK_CONTAINS(td_last_message(), "merge=on");
    CHECK_OK(td_paths_open(&read, graph, &free_merge, NULL, &prepared));
    CHECK(!prepared);
    CHECK(read.paths < paths.paths);
    td_paths_free(&read);
    td_graph_destroy(graph);
    graph = graph_file("build.tg", "uniform", TEST_UNWEIGHTED);
    CHECK_STATUS(load(graph), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "another build");
    CHECK_CONTAINS(td_last_message(), "build.tg.paths");
    CHECK_OK(td_paths_open(&read, graph, &paths.options, NULL, &prepared));
    CHECK(!prepared);
    CHECK_OK(td_paths_check(&read, graph, NULL));
    td_paths_free(&read);
    td_paths_free(&paths);
    td_graph_destroy(graph);
}

/* Every byte that is read is checked: flips at many places, and every length. */
TEST(damage_is_found)
{
    td_graph *graph = graph_file("damage.tg", "rmat 10", TEST_U8);
    td_paths paths = make(graph);
    size_t count = 0;
    uint64_t told = 0, flips = 0;
    CHECK_OK(save(&paths, graph));
    char *bytes = bytes_of(test_path("damage.tg.paths"), &count);
    for (size_t at = 0; at < count; at += at < 4096 ? 97 : 1021) {
        bytes[at] ^= 0x40;
        test_write_file(test_path("damage.tg.paths"), bytes, count);
        bytes[at] ^= 0x40;
        td_status status = load(graph);
        CHECK(status == TD_OK || status == TD_CORRUPT || status == TD_FORMAT || status == TD_UNSUPPORTED);
        told += status != TD_OK;
        flips++;
    }
    CHECK(told * 2 > flips); /* the rest fell into the zeros between sections */
    for (size_t length = 0; length < count; length += 1 + length / 3) {
        test_write_file(test_path("damage.tg.paths"), bytes, length);
        CHECK_STATUS(load(graph), TD_CORRUPT);
    }
    test_write_file(test_path("damage.tg.paths"), "not a layout, but as long as a header", 37);
    CHECK_STATUS(load(graph), TD_CORRUPT);
    free(bytes);
    td_paths_free(&paths);
    td_graph_destroy(graph);
}

/* Tables that lead outside, with checksums that fit: as another program might write them. */
TEST(forged_tables_are_refused)
{
    td_graph *graph = graph_file("forged.tg", "rmat 10", TEST_UNWEIGHTED);
    for (int what = 0; what < 11; what++) {
        td_paths paths = make(graph);
        uint32_t nodes = paths.groups + paths.hubs;
        if (what == 0) paths.vertices[5] = paths.graph_vertices;
        if (what == 1) paths.starts[1] = UINT32_MAX;
        if (what == 2) paths.lanes[3] = UINT32_MAX;
        if (what == 3) paths.partition[1].first_entry = paths.entries + 1;
        if (what == 4) paths.group[0].first_partition = 1;
        if (what == 5) paths.layer_group[1] = UINT32_MAX;
        if (what == 6) paths.readers[0] = paths.partitions;
        if (what == 7) paths.next[0] = nodes;
        if (what == 8) paths.reader_offsets[1] = UINT64_MAX / 2;
        if (what == 9) paths.partition[0].paths = 1 << 20, paths.partition[1].first_path = 1 << 20;
        if (what == 10) paths.reader_offsets[paths.graph_vertices - 1] = paths.reader_offsets[paths.graph_vertices] + 1;
        CHECK_OK(save(&paths, graph));
        CHECK_STATUS(load(graph), TD_CORRUPT);
        if (what == 9) CHECK_CONTAINS(td_last_message(), "ends out of range");
        td_paths_free(&paths);
    }
    td_graph_destroy(graph);
}

TEST(a_full_disk_leaves_the_old_file_or_none)
{
    td_graph *graph = graph_file("full.tg", "rmat 10", TEST_UNWEIGHTED);
    td_paths paths = make(graph);
    bool done = false;
    uint64_t failures = 0;
    for (uint64_t nth = 1; !done; nth++) {
        td_outfile_fail_at(nth, nth % 2 ? ENOSPC : EIO);
        td_status status = save(&paths, graph);
        td_outfile_fail_at(0, 0);
        done = status == TD_OK;
        if (done) break;
        CHECK_EQ(status, TD_IO);
        CHECK_STATUS(load(graph), TD_NOT_FOUND);
        CHECK_EQ(test_files("full.tg."), 0);
        failures++;
        CHECK(nth < 500);
    }
    CHECK(failures > 3);
    CHECK_OK(load(graph));
    td_paths_free(&paths);
    td_graph_destroy(graph);
}

TEST(a_killed_writer_leaves_nothing_visible)
{
    td_graph *graph = graph_file("killed.tg", "rmat 10", TEST_UNWEIGHTED);
    td_paths paths = make(graph);
    int killed = 0;
    for (uint64_t nth = 1; nth < 500; nth++) {
        int state = 0;
        pid_t child = fork();
        if (child == 0) {
            td_outfile_fail_at(nth, TD_OUTFILE_KILL);
            _exit(save(&paths, graph) == TD_OK ? 0 : 1);
        }
        CHECK(waitpid(child, &state, 0) == child);
        if (WIFEXITED(state) && WEXITSTATUS(state) == 0) break;
        td_status status = load(graph); /* killed after the rename: it is whole */
        CHECK(status == TD_NOT_FOUND || status == TD_OK);
        killed++;
    }
    CHECK(killed > 3);
    CHECK_OK(load(graph));
    td_paths_free(&paths);
    td_graph_destroy(graph);
}

TEST(two_processes_may_write_at_once)
{
    td_graph *graph = graph_file("both.tg", "rmat 14", TEST_UNWEIGHTED);
    td_paths paths = make(graph);
    for (int child = 0; child < 2; child++)
        if (fork() == 0) {
            for (int i = 0; i < 10; i++)
                if (save(&paths, graph) != TD_OK || load(graph) != TD_OK) _exit(1);
            _exit(0);
        }
    for (int child = 0; child < 2; child++) {
        int state = 1;
        CHECK(wait(&state) > 0);
        CHECK_EQ(state, 0);
    }
    CHECK_OK(load(graph));
    CHECK_EQ(test_files("both.tg."), 1);
    td_paths_free(&paths);
    td_graph_destroy(graph);
}

/* A folder that is not there cannot be written, as one on a read-only disk. */
TEST(the_cache_folder_takes_what_cannot_lie_beside_the_graph)
{
    td_sidecar_id id = {.graph = "/no/such/folder/g.tg", .build_id = 0x1234, .layout = "paths"};
    td_sidecar_part part = {"data", "abcdefgh", 8};
    td_sidecar *file = NULL;
    char where[TD_SIDECAR_PATH], read[8];
    int removed = 0;
    CHECK_OK(td_sidecar_write(&id, "a key", &part, 1, where, NULL));
    CHECK_STR(where, test_path("tandem/0000000000001234.paths"));
    CHECK_OK(td_sidecar_open(&file, &id));
    CHECK_STR(td_sidecar_key(file), "a key");
    CHECK_OK(td_sidecar_read(file, "data", read, 8, NULL));
    CHECK(memcmp(read, "abcdefgh", 8) == 0);
    CHECK_STATUS(td_sidecar_read(file, "other", read, 8, NULL), TD_CORRUPT);
    CHECK_STATUS(td_sidecar_read(file, "data", read, 7, NULL), TD_CORRUPT);
    td_sidecar_close(file);
    CHECK_OK(td_sidecar_remove(&id, &removed));
    CHECK_EQ(removed, 1);
    CHECK_STATUS(td_sidecar_open(&file, &id), TD_NOT_FOUND);
    char *cache = strdup(getenv("XDG_CACHE_HOME")), *home = strdup(getenv("HOME") != NULL ? getenv("HOME") : "");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    CHECK_STATUS(td_sidecar_write(&id, "a key", &part, 1, where, NULL), TD_IO);
    CHECK_CONTAINS(td_last_message(), "XDG_CACHE_HOME");
    setenv("XDG_CACHE_HOME", cache, 1);
    setenv("HOME", home, 1);
    free(cache);
    free(home);
}

/* A graph on a disk that can no longer be written: what lies beside it is of an older build. */
TEST(a_stale_file_beside_the_graph_does_not_hide_the_one_in_the_cache)
{
    td_sidecar_id elsewhere = {.graph = "/no/such/folder/g.tg", .build_id = 0x77, .layout = "paths"};
    td_sidecar_id id = {.graph = test_path("hidden.tg"), .build_id = 0x66, .layout = "paths"};
    td_sidecar_part part = {"data", "abcdefgh", 8};
    td_sidecar *file = NULL;
    char where[TD_SIDECAR_PATH];
    CHECK_OK(td_sidecar_write(&id, "old", &part, 1, where, NULL));
    id.build_id = 0x77;
    CHECK_STATUS(td_sidecar_open(&file, &id), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "hidden.tg.paths");
    CHECK_OK(td_sidecar_write(&elsewhere, "new", &part, 1, where, NULL));
    CHECK_OK(td_sidecar_open(&file, &id));
    CHECK_STR(td_sidecar_key(file), "new");
    td_sidecar_close(file);
    test_write_file(test_path("hidden.tg.paths"), "damaged", 7);
    CHECK_OK(td_sidecar_open(&file, &id));
    td_sidecar_close(file);
}

TEST(layouts_are_listed_and_only_layouts_are_removed)
{
    td_graph *graph = graph_file("list.tg", "web", TEST_UNWEIGHTED);
    td_paths paths = make(graph);
    td_sidecar_id id = {.graph = graph->name, .build_id = graph->build_id, .layout = "paths"};
    td_sidecar_entry *entries = NULL;
    int count = -1, removed = -1;
    CHECK_OK(save(&paths, graph));
    test_write_file(test_path("list.tg.notes"), "mine", 4);
    CHECK_OK(td_sidecar_list(graph->name, graph->build_id, &entries, &count));
    CHECK_EQ(count, 1);
    CHECK_STR(entries[0].layout, "paths");
    CHECK(entries[0].matches);
    CHECK_CONTAINS(entries[0].key, "depth=16");
    td_free(entries);
    CHECK_OK(td_sidecar_list(graph->name, graph->build_id + 1, &entries, &count));
    CHECK_EQ(count, 1);
    CHECK(!entries[0].matches);
    td_free(entries);
    id.layout = "notes";
    CHECK_OK(td_sidecar_remove(&id, &removed));
    CHECK_EQ(removed, 0);
    CHECK(access(test_path("list.tg.notes"), F_OK) == 0);
    id.layout = "paths";
    CHECK_OK(td_sidecar_remove(&id, &removed));
    CHECK_EQ(removed, 1);
    id.layout = "../paths";
    CHECK_STATUS(td_sidecar_remove(&id, &removed), TD_USAGE);
    td_paths_free(&paths);
    td_graph_destroy(graph);
}

TEST(a_request_for_memory_that_fails_while_reading_leaves_nothing)
{
    td_graph *graph = graph_file("memory.tg", "web", TEST_U8);
    td_paths paths = make(graph);
    bool done = false;
    CHECK_OK(save(&paths, graph));
    for (uint64_t nth = 1; !done; nth++) {
        td_alloc_fail_at(nth);
        td_status status = load(graph);
        td_alloc_fail_at(0);
        done = status == TD_OK;
        if (!done) CHECK_EQ(status, TD_NO_MEMORY);
        CHECK(nth < 100);
    }
    td_paths_free(&paths);
    td_graph_destroy(graph);
}

TEST_MAIN
