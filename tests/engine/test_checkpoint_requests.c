/* Which runs may go on from a checkpoint, and which folders take one. */
#include "engine/engine.h"
#include "engine/checkpoint_scene.h"

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
    expect_refusal(self, "pagerank", options, "pagerank.damping=0.5", "give sync");
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

/* Iterations that read their own values go further than as many synchronous ones. */
TEST(a_number_of_synchronous_iterations_goes_on_from_such_a_run_alone)
{
    scene *self = open_scene();
    td_run *run = NULL;
    leave_one(self, "sssp", 2, false, "");
    td_run_options options = options_of(self, "sssp");
    options.has_iterations = true;
    options.iterations = 1000;
    expect_refusal(self, "sssp", options, "", "may read their own values");
    snprintf(self->folder, sizeof self->folder, "%s/synchronous", test_folder());
    CHECK(mkdir(self->folder, 0700) == 0);
    options.iterations = 3;
    options.checkpoint = self->folder;
    options.every = 1;
    CHECK_OK(attempt(self, &run, "sssp", options, ""));
    td_run_destroy(run);
    options.checkpoint = NULL;
    options.resume = self->folder;
    options.iterations = 1000;
    CHECK_OK(attempt(self, &run, "sssp", options, ""));
    td_run_destroy(run);
    CHECK_OK(resume(self, &run, "sssp", "")); /* without a limit, too */
    td_run_destroy(run);
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
    CHECK_CONTAINS(td_last_message(), "iterations 4");
    CHECK_STATUS(attempt(self, &run, "pagerank", options, ""), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "iterations 4");
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
    CHECK_CONTAINS(td_last_message(), "checkpoint");
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
    char paths[8][PATH];
    const char *left = ".checkpoint-00000009.tdck.123-abcdef01.tmp";
    td_run *run = NULL;
    test_write_file(inside(self, left), "half", 4);
    test_write_file(inside(self, "notes.txt"), "mine", 4);
    for (uint32_t i = 0; i < 5; i++) leave_one(self, "kcore", 1, i > 0, "");
    CHECK_EQ(list_files(self, paths), 3); /* notes.txt is nobody else's business */
    CHECK_CONTAINS(paths[0], "checkpoint-00000004.tdck");
    CHECK_CONTAINS(paths[1], "checkpoint-00000005.tdck");
    CHECK(access(inside(self, left), F_OK) != 0);
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

TEST_MAIN
