/* What goes wrong around checkpoints: disks that are full, files that are damaged, runs that are not the same, folders
 * that cannot be used, memory that does not suffice, and being asked to stop. */
#include "engine/checkpoint_file.h"
#include "engine/ways.h"

#include "base/cancel.h"
#include "base/outfile.h"
#include "store/gen.h"
#include "store/packed.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

__attribute__((constructor)) static void choose_folder(void)
{
    if (getenv("TMPDIR") == NULL && access("/dev/shm", W_OK) == 0) setenv("TMPDIR", "/dev/shm", 1);
}

enum { PATH = 600 };

/* A graph, a folder, and what is said meanwhile. */
typedef struct scene {
    td_pool *pool;
    td_graph *graph;
    char folder[300];
    uint32_t stop_after, rows; /* the watcher ends the run after so many iterations; 0: never */
    bool cancels;              /* by a request, not by its answer */
    void (*at_row)(struct scene *self, uint32_t rows);
    int warnings;
    char warning[1024];
} scene;

static void hear(void *context, td_log_level level, const char *line)
{
    scene *self = context;
    if (level != TD_LOG_WARN) return;
    self->warnings++;
    snprintf(self->warning, sizeof self->warning, "%s", line);
}

static td_graph *generated(const char *kind, uint64_t size, uint64_t seed, td_pool *pool)
{
    td_graph *graph = NULL;
    td_gen_spec spec = {.kind = kind, .seed = seed, .rewire = -1};
    td_build_options build = {0};
    if (strcmp(kind, "grid") == 0) spec.width = size;
    else spec.scale = size, spec.degree = 8;
    CHECK_OK(td_parse_weight_range("1:100", &build));
    CHECK_OK(td_graph_generate(&graph, &spec, &build, pool));
    return graph;
}

static scene *open_scene(void)
{
    static scene self;
    static int number;
    self = (scene){0};
    CHECK_OK(td_pool_create(&self.pool, 2));
    self.graph = generated("rmat", 10, 3, self.pool);
    snprintf(self.folder, sizeof self.folder, "%s/scene%d", test_folder(), number++);
    CHECK(mkdir(self.folder, 0700) == 0);
    td_log_set_sink(hear, &self);
    return &self;
}

static void close_scene(scene *self)
{
    td_log_set_sink(NULL, NULL);
    td_graph_destroy(self->graph);
    td_pool_destroy(self->pool);
}

static bool watch(void *context, const td_iteration *row)
{
    scene *self = context;
    (void)row;
    self->rows++;
    if (self->at_row != NULL) self->at_row(self, self->rows);
    bool last = self->stop_after > 0 && self->rows >= self->stop_after;
    if (last && self->cancels) td_cancel_request();
    return !last || self->cancels;
}

static td_run_options options_of(scene *self, const char *program)
{
    const td_program_info *info = program_of(program)->info;
    return (td_run_options){.pool = self->pool, .has_source = info->needs_source, .source = 1, .each = watch,
                            .each_context = self};
}

static td_status attempt(scene *self, td_run **out, const char *program, td_run_options options, const char *settings)
{
    self->rows = 0;
    return try_run(out, program, self->graph, options, settings);
}

/* Leaves a checkpoint after so many iterations more. */
static void leave_one(scene *self, const char *program, uint32_t iterations, bool resumes, const char *settings)
{
    td_run *run = NULL;
    td_run_options options = options_of(self, program);
    options.checkpoint = self->folder;
    options.every = 1000;
    options.resume = resumes ? self->folder : NULL;
    self->stop_after = iterations;
    CHECK_STATUS(attempt(self, &run, program, options, settings), TD_CANCELLED);
    CHECK_CONTAINS(td_last_message(), "go on with --resume");
    self->stop_after = 0;
}

static td_status resume(scene *self, td_run **out, const char *program, const char *settings)
{
    td_run_options options = options_of(self, program);
    options.resume = self->folder;
    return attempt(self, out, program, options, settings);
}

/* The paths of the files there, the oldest first. */
static int list_files(const scene *self, char paths[8][PATH])
{
    struct dirent **entries = NULL;
    int count = scandir(self->folder, &entries, NULL, alphasort), found = 0;
    for (int i = 0; i < count; i++) {
        if (entries[i]->d_name[0] != '.' && found < 8)
            snprintf(paths[found++], PATH, "%s/%s", self->folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return found;
}

static void check_same(const td_run *one, const td_run *other)
{
    size_t bytes = one->program->cpu[0].value_bytes;
    CHECK_EQ(one->iterations, other->iterations);
    CHECK(memcmp(one->values, other->values, one->graph->vertices * bytes) == 0);
}

/* Failing writes. */

static void wait_a_little(scene *self, uint32_t rows)
{
    (void)self, (void)rows;
    usleep(3000); /* so that the write of the iteration before has ended */
}

TEST(a_write_that_fails_is_told_once_and_the_run_goes_on)
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

TEST(a_checkpoint_of_a_later_version_says_so)
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
    td_free(data);
    close_scene(self);
}

/* Runs that are not the same. */

static void expect_refusal(scene *self, const char *program, td_run_options options, const char *settings,
                           const char *words)
{
    td_run *run = NULL;
    options.resume = self->folder;
    CHECK_STATUS(attempt(self, &run, program, options, settings), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), words);
    options.resume = NULL; /* nor may another run replace it */
    options.checkpoint = self->folder;
    CHECK_STATUS(attempt(self, &run, program, options, settings), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), words);
    CHECK_CONTAINS(td_last_message(), "holds those of another run");
}

TEST(another_program_graph_source_mode_or_parameter_is_refused_by_name)
{
    scene *self = open_scene();
    td_graph *graph = self->graph;
    leave_one(self, "pagerank", 3, false, "pagerank.damping=0.5");
    td_run_options options = options_of(self, "pagerank");
    expect_refusal(self, "pagerank", options, "", "is of a run with pagerank.damping=0.5; this one has 0.85");
    expect_refusal(self, "pagerank", options, "pagerank.damping=0.5 pagerank.dangling=ignore",
                   "pagerank.dangling=spread; this one has ignore");
    expect_refusal(self, "bfs", options_of(self, "bfs"), "", "is of the program pagerank; this one is bfs");
    options.mode = TD_MODE_ASYNC;
    expect_refusal(self, "pagerank", options, "pagerank.damping=0.5", "give --sync");
    self->graph = generated("rmat", 10, 4, self->pool);
    options.mode = TD_MODE_DEFAULT;
    expect_refusal(self, "pagerank", options, "pagerank.damping=0.5", "is of another graph");
    td_graph_destroy(self->graph);
    self->graph = graph;
    close_scene(self);
}

TEST(another_source_or_other_inputs_are_refused_by_name)
{
    scene *self = open_scene();
    char settings[600];
    leave_one(self, "sssp", 2, false, "");
    td_run_options options = options_of(self, "sssp");
    options.source = 7;
    expect_refusal(self, "sssp", options, "", "from the source 1; this one is from 7");
    snprintf(settings, sizeof settings, "adsorption.seeds=%s", test_path("seeds.txt"));
    test_write_file(test_path("seeds.txt"), "3 1\n4 1\n", 8);
    scene *other = self;
    snprintf(other->folder, sizeof other->folder, "%s/seeds", test_folder());
    CHECK(mkdir(other->folder, 0700) == 0);
    leave_one(other, "adsorption", 2, false, settings);
    test_write_file(test_path("seeds.txt"), "3 1\n5 1\n", 8);
    expect_refusal(other, "adsorption", options_of(self, "adsorption"), settings, "other inputs (adsorption.seeds)");
    close_scene(self);
}

TEST(a_graph_is_known_by_the_id_of_its_file_or_by_its_digest)
{
    scene *self = open_scene();
    td_run *run = NULL;
    td_graph *made = self->graph, *packed = NULL;
    const char *path = test_path("same.tg");
    CHECK_OK(td_packed_write(made, path, self->pool));
    CHECK_OK(td_packed_load(&packed, path, self->pool));
    leave_one(self, "bfs", 1, false, "");
    self->graph = packed; /* the same graph from a file: its digest is looked at */
    CHECK_OK(resume(self, &run, "bfs", ""));
    td_run_destroy(run);
    leave_one(self, "bfs", 1, true, "");
    CHECK_OK(resume(self, &run, "bfs", ""));
    td_run_destroy(run);
    self->graph = made;
    CHECK_STATUS(resume(self, &run, "bfs", ""), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "came straight from a .tg file");
    td_graph_destroy(packed);
    close_scene(self);
}

TEST(iterations_and_tolerance_may_differ_but_not_go_back)
{
    scene *self = open_scene();
    td_run *run = NULL, *whole = NULL;
    leave_one(self, "pagerank", 5, false, "");
    td_run_options options = options_of(self, "pagerank");
    options.has_iterations = true;
    options.resume = self->folder;
    options.iterations = 4;
    CHECK_STATUS(td_run_check_options(program_of("pagerank"), &options), TD_USAGE); /* without a graph */
    CHECK_CONTAINS(td_last_message(), "--iterations 4");
    CHECK_STATUS(attempt(self, &run, "pagerank", options, ""), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "--iterations 4");
    CHECK_CONTAINS(td_last_message(), "from after iteration 5");
    for (options.iterations = 5; options.iterations < 8; options.iterations += 2) {
        td_run_options plain = options;
        plain.resume = NULL;
        CHECK_OK(attempt(self, &whole, "pagerank", plain, ""));
        CHECK_OK(attempt(self, &run, "pagerank", options, ""));
        CHECK_EQ(run->iterations, options.iterations);
        CHECK_EQ(run->row_count, options.iterations - 5);
        for (uint32_t v = 0; v < self->graph->vertices; v++)
            CHECK(fabsf(((float *)run->values)[v] - ((float *)whole->values)[v]) <=
                  1e-6f * ((float *)whole->values)[v]);
        td_run_destroy(run);
        td_run_destroy(whole);
    }
    options.has_iterations = false;
    options.has_tolerance = true;
    options.tolerance = 1e-7;
    CHECK_OK(attempt(self, &run, "pagerank", options, ""));
    CHECK(run->converged && run->final_change <= 1e-7);
    td_run_destroy(run);
    close_scene(self);
}

TEST(one_thread_goes_on_bit_for_bit)
{
    scene *self = open_scene();
    static const char *const programs[] = {"pagerank", "adsorption", "circuit"};
    td_pool *pool = self->pool;
    self->pool = NULL;
    for (int i = 0; i < 3; i++) {
        td_run *plain = NULL, *run = NULL;
        td_run_options options = options_of(self, programs[i]);
        options.has_iterations = true;
        options.iterations = 12;
        snprintf(self->folder, sizeof self->folder, "%s/bits-%s", test_folder(), programs[i]);
        CHECK(mkdir(self->folder, 0700) == 0);
        CHECK_OK(attempt(self, &plain, programs[i], options, "cpu.direction=pull"));
        leave_one(self, programs[i], 5, false, "cpu.direction=pull");
        options.resume = self->folder;
        CHECK_OK(attempt(self, &run, programs[i], options, "cpu.direction=pull"));
        check_same(run, plain);
        td_run_destroy(run);
        td_run_destroy(plain);
    }
    self->pool = pool;
    close_scene(self);
}

/* Folders. */

TEST(a_folder_that_cannot_be_used_is_a_mistake_of_usage)
{
    scene *self = open_scene();
    td_run *run = NULL;
    td_run_options options = options_of(self, "bfs");
    const td_program *program = program_of("bfs");
    options.checkpoint = test_path("nowhere");
    CHECK_STATUS(td_run_check_options(program, &options), TD_USAGE); /* without a graph */
    CHECK_CONTAINS(td_last_message(), "--checkpoint");
    CHECK_CONTAINS(td_last_message(), "No such file or directory");
    test_write_file(test_path("plain"), "", 0);
    options.checkpoint = test_path("plain");
    CHECK_STATUS(td_run_check_options(program, &options), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "not a folder");
    options.checkpoint = NULL;
    options.resume = test_path("nowhere");
    CHECK_STATUS(td_run_check_options(program, &options), TD_USAGE);
    options.resume = self->folder;
    CHECK_STATUS(td_run_check_options(program, &options), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "there is no checkpoint in it");
    options.checkpoint = self->folder; /* the same folder: it may be the first start */
    CHECK_OK(attempt(self, &run, "bfs", options, ""));
    CHECK(run->checkpoint_stats.resumed_from == NULL);
    td_run_destroy(run);
    CHECK(chmod(self->folder, 0500) == 0);
    if (geteuid() != 0) CHECK_STATUS(td_run_check_options(program, &options), TD_USAGE);
    CHECK(chmod(self->folder, 0700) == 0);
    options = options_of(self, "pagerank");
    options.checkpoint = self->folder;
    CHECK_STATUS(attempt(self, &run, "pagerank", options, "cpu.sinks=defer pagerank.dangling=ignore"), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "cpu.sinks=defer");
    close_scene(self);
}

static void run_another(scene *self, uint32_t rows)
{
    td_run *run = NULL;
    if (rows != 1) return;
    td_run_options options = {.checkpoint = self->folder, .has_source = true};
    CHECK_STATUS(td_run_program(&run, program_of("bfs"), self->graph, &options), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "another run is writing");
}

TEST(two_runs_do_not_share_a_folder)
{
    scene *self = open_scene();
    td_run *run = NULL;
    td_run_options options = options_of(self, "bfs");
    options.checkpoint = self->folder;
    self->at_row = run_another;
    CHECK_OK(attempt(self, &run, "bfs", options, ""));
    td_run_destroy(run);
    close_scene(self);
}

TEST(the_last_two_are_kept_and_what_a_killed_run_left_is_removed)
{
    scene *self = open_scene();
    char paths[8][PATH], left[400];
    td_run *run = NULL;
    snprintf(left, sizeof left, "%s/.checkpoint-00000009.tdck.123-abcdef01.tmp", self->folder);
    test_write_file(left, "half", 4);
    snprintf(left, sizeof left, "%s/notes.txt", self->folder);
    test_write_file(left, "mine", 4);
    for (uint32_t i = 0; i < 5; i++) leave_one(self, "kcore", 1, i > 0, "");
    CHECK_EQ(list_files(self, paths), 3); /* notes.txt is nobody else's business */
    CHECK_CONTAINS(paths[0], "checkpoint-00000004.tdck");
    CHECK_CONTAINS(paths[1], "checkpoint-00000005.tdck");
    snprintf(left, sizeof left, "%s/.checkpoint-00000009.tdck.123-abcdef01.tmp", self->folder);
    CHECK(access(left, F_OK) != 0);
    leave_one(self, "kcore", 1, false, ""); /* a new run of the same kind goes on counting */
    CHECK_OK(resume(self, &run, "kcore", ""));
    CHECK_EQ(run->checkpoint_stats.resumed_iteration, 1);
    td_run_destroy(run);
    close_scene(self);
}

TEST(by_time_a_short_run_writes_nothing)
{
    scene *self = open_scene();
    td_run *run = NULL;
    td_run_options options = options_of(self, "kcore");
    options.checkpoint = self->folder;
    CHECK_OK(attempt(self, &run, "kcore", options, ""));
    CHECK_EQ(run->checkpoint_stats.written, 0);
    td_run_destroy(run);
    options.every = 4;
    self->at_row = wait_a_little;
    CHECK_OK(attempt(self, &run, "kcore", options, ""));
    CHECK(run->checkpoint_stats.written <= run->iterations / 4);
    CHECK(run->checkpoint_stats.written >= run->iterations / 8);
    td_run_destroy(run);
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
        td_status status = attempt(self, &run, cases[i].program, options, "");
        td_cancel_clear();
        self->stop_after = 0;
        CHECK_STATUS(status, TD_CANCELLED);
        CHECK_CONTAINS(td_last_message(), "go on with --resume");
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
