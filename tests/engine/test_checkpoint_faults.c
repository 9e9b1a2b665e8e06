/* What goes wrong around checkpoints: disks that are full, files that are damaged, requests to stop, memory that fails.
 * The run goes on or says why not, and what was there before stays. */
#include "engine/checkpoint_scene.h"

/* Failing writes. */

TEST(a_write_that_fails_is_reported_once_and_the_run_continues)
{
    scene *self = open_scene();
    td_run *plain = run_of("kcore", self->graph, options_of(self, "kcore"), "");
    for (uint64_t step = 1; step <= 40; step++) {
        td_run *run = NULL;
        td_run_options options = options_of(self, "kcore");
        options.checkpoint = self->folder;
        options.every = 1;
        self->at_row = wait_a_little;
        self->warnings = 0;
        td_outfile_fail_at(step, ENOSPC);
        CHECK_OK(attempt(self, &run, "kcore", options, ""));
        td_outfile_fail_at(0, 0);
        check_same(run, plain);
        CHECK_EQ(run->checkpoint_stats.failed, 1);
        CHECK_EQ(self->warnings, 1);
        CHECK_CONTAINS(self->warning, "the run goes on");
        CHECK_CONTAINS(self->warning, "No space left on device");
        CHECK(run->checkpoint_stats.written > 5);
        td_run_destroy(run);
        self->at_row = NULL;
        CHECK_OK(resume(self, &run, "kcore", ""));
        check_same(run, plain);
        td_run_destroy(run);
        if (step >= 9) step += 7; /* every step of the first one, some of the later ones */
    }
    td_run_destroy(plain);
    close_scene(self);
}

/* From row 6 to row 12 files may not grow beyond a few bytes. */
static void fill_disk(scene *self, uint32_t rows)
{
    struct rlimit limit;
    wait_a_little(self, rows);
    if (rows != 6 && rows != 12) return;
    CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    limit.rlim_cur = rows == 6 ? 100 : limit.rlim_max;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

TEST(a_disk_that_is_full_for_a_while_leaves_the_old_checkpoint)
{
    scene *self = open_scene();
    td_run *run = NULL;
    td_run_options options = options_of(self, "pagerank");
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    options.has_iterations = true;
    options.iterations = 20;
    options.checkpoint = self->folder;
    options.every = 1;
    self->at_row = fill_disk;
    CHECK(sigaction(SIGXFSZ, &ignore, &before) == 0);
    CHECK_OK(attempt(self, &run, "pagerank", options, ""));
    CHECK(sigaction(SIGXFSZ, &before, NULL) == 0);
    CHECK_EQ(self->warnings, 1);
    CHECK_CONTAINS(self->warning, "File too large");
    CHECK(run->checkpoint_stats.failed > 1);
    CHECK(run->checkpoint_stats.written > 6); /* before and after */
    td_run_destroy(run);
    close_scene(self);
}

/* What a full disk leaves is looked at while it is full. */
static void look_at_full_disk(scene *self, uint32_t rows)
{
    char paths[8][PATH];
    td_identity identity;
    td_state state = {0};
    fill_disk(self, rows);
    if (rows != 11) return;
    int count = list_files(self, paths);
    CHECK(count >= 1 && count <= 2);
    CHECK_OK(td_checkpoint_read(paths[count - 1], &identity, &state));
    CHECK(state.iteration >= 1 && state.iteration <= 6);
    td_state_clear(&state);
}

TEST(the_old_checkpoint_is_whole_while_the_disk_is_full)
{
    scene *self = open_scene();
    td_run *run = NULL;
    td_run_options options = options_of(self, "heat");
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    options.has_iterations = true;
    options.iterations = 14;
    options.checkpoint = self->folder;
    options.every = 1;
    self->at_row = look_at_full_disk;
    CHECK(sigaction(SIGXFSZ, &ignore, &before) == 0);
    CHECK_OK(attempt(self, &run, "heat", options, ""));
    CHECK(sigaction(SIGXFSZ, &before, NULL) == 0);
    td_run_destroy(run);
    close_scene(self);
}

/* Damaged files. */

static void read_file(const char *path, char **data, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    CHECK(fseek(file, 0, SEEK_END) == 0);
    *bytes = (size_t)ftell(file);
    rewind(file);
    CHECK_OK(TD_NEW(data, *bytes, "file"));
    CHECK(fread(*data, 1, *bytes, file) == *bytes);
    fclose(file);
}

static void expect_older(scene *self, const td_run *plain, uint32_t iteration)
{
    td_run *run = NULL;
    self->warnings = 0;
    CHECK_OK(resume(self, &run, "sssp", ""));
    CHECK_EQ(run->checkpoint_stats.resumed_iteration, iteration);
    CHECK_EQ(self->warnings, 1);
    CHECK_CONTAINS(self->warning, "the one before it is used");
    CHECK(memcmp(run->values, plain->values, run->graph->vertices * sizeof(uint32_t)) == 0);
    td_run_destroy(run);
}

TEST(a_damaged_checkpoint_is_refused_and_the_older_one_used)
{
    scene *self = open_scene();
    char paths[8][PATH], *data;
    size_t bytes;
    td_run *plain = run_of("sssp", self->graph, options_of(self, "sssp"), ""), *run = NULL;
    leave_one(self, "sssp", 2, false, "");
    leave_one(self, "sssp", 2, true, "");
    CHECK_EQ(list_files(self, paths), 2);
    read_file(paths[1], &data, &bytes);
    for (size_t at = 0; at < bytes; at += at < 400 ? 13 : bytes / 25) { /* every part of the header, and of the rest */
        data[at] ^= 1 << at % 8;
        test_write_file(paths[1], data, bytes);
        expect_older(self, plain, 2);
        data[at] ^= 1 << at % 8;
    }
    for (size_t length = 0; length < bytes; length += bytes / 7) {
        test_write_file(paths[1], data, length);
        expect_older(self, plain, 2);
    }
    test_write_file(paths[1], data, bytes - 1);
    test_write_file(paths[0], data, bytes - 1);
    CHECK_STATUS(resume(self, &run, "sssp", ""), TD_CORRUPT);
    CHECK_CONTAINS(td_last_message(), "truncated");
    test_write_file(paths[0], "what is this", 12);
    CHECK_STATUS(resume(self, &run, "sssp", ""), TD_CORRUPT);
    td_free(data);
    td_run_destroy(plain);
    close_scene(self);
}

TEST(a_checkpoint_of_another_version_says_so)
{
    scene *self = open_scene();
    char paths[8][PATH], *data;
    size_t bytes;
    td_run *run = NULL;
    leave_one(self, "bfs", 1, false, "");
    CHECK_EQ(list_files(self, paths), 1);
    read_file(paths[0], &data, &bytes);
    data[12] = 9;
    test_write_file(paths[0], data, bytes);
    CHECK_STATUS(resume(self, &run, "bfs", ""), TD_UNSUPPORTED);
    CHECK_CONTAINS(td_last_message(), "has version 9");
    data[12] = 1; /* whose files were shorter than a page where the graph was small */
    test_write_file(paths[0], data, 700);
    CHECK_STATUS(resume(self, &run, "bfs", ""), TD_UNSUPPORTED);
    CHECK_CONTAINS(td_last_message(), "has version 1; this Tandem reads version 2");
    td_free(data);
    close_scene(self);
}

/* Being asked to stop, and memory. */

TEST(a_request_to_cancel_leaves_a_checkpoint_on_every_engine)
{
    static const struct {
        const char *engine, *program;
    } cases[] = {{"cpu", "sssp"},          {"resident", "sssp"},   {"stream", "sssp"},    {"cpu", "pagerank"},
                 {"resident", "pagerank"}, {"stream", "pagerank"}, {"resident", "kcore"}, {"stream", "kcore"},
                 {"cpu", "mst"},           {"resident", "mst"}};
    scene *self = open_scene();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        td_run *run = NULL, *plain = run_of(cases[i].program, self->graph, options_of(self, cases[i].program), "");
        td_run_options options = options_of(self, cases[i].program);
        snprintf(self->folder, sizeof self->folder, "%s/cancel%zu", test_folder(), i);
        CHECK(mkdir(self->folder, 0700) == 0);
        options.engine = cases[i].engine;
        options.devices = strcmp(cases[i].engine, "cpu") == 0 ? NULL : "emu:1@unchecked";
        options.gpu_edges = strcmp(cases[i].engine, "stream") == 0 ? 0.6 : 0;
        options.checkpoint = self->folder;
        self->stop_after = 1;
        self->cancels = true;
        bool peels = strcmp(cases[i].program, "kcore") == 0; /* by levels: one launch ends before it is cancelled */
        const char *resident = peels ? "resident.kcore=rounds" : "", *stream = peels ? "stream.kcore=levels" : "";
        td_status status = attempt(self, &run, cases[i].program, options,
                                   strcmp(cases[i].engine, "resident") == 0 ? resident : stream);
        td_cancel_clear();
        self->stop_after = 0;
        CHECK_STATUS(status, TD_CANCELLED);
        CHECK_CONTAINS(td_last_message(), "go on with resume");
        CHECK_OK(resume(self, &run, cases[i].program, ""));
        CHECK(run->checkpoint_stats.resumed_iteration >= 1);
        CHECK_EQ(run->converged, plain->converged);
        if (run->kind == TD_VALUE_U32)
            CHECK(memcmp(run->values, plain->values, run->graph->vertices * sizeof(uint32_t)) == 0);
        CHECK_EQ(run->edge_count, plain->edge_count);
        td_run_destroy(run);
        td_run_destroy(plain);
    }
    CHECK_STATUS((td_cancel_request(), td_cancel_check()), TD_CANCELLED); /* nobody holds it back any more */
    td_cancel_clear();
    close_scene(self);
}

TEST(a_failed_allocation_leaves_nothing_held)
{
    scene *self = open_scene();
    bool done = false;
    leave_one(self, "mst", 2, false, "");
    for (uint64_t nth = 1; !done; nth++) {
        td_run *run = NULL;
        td_run_options options = options_of(self, "mst");
        options.checkpoint = options.resume = self->folder;
        options.every = 1;
        uint64_t held = td_memory().now;
        td_alloc_fail_at(nth);
        td_status status = attempt(self, &run, "mst", options, "");
        td_alloc_fail_at(0);
        done = status == TD_OK && self->warnings == 0;
        if (status != TD_OK) CHECK_EQ(status, TD_NO_MEMORY);
        td_run_destroy(run);
        CHECK_EQ(td_memory().now, held);
        self->warnings = 0;
    }
    close_scene(self);
}

TEST_MAIN
