/* Checkpoints of the paths engine: it goes on from what the cpu engine left, and the cpu engine from what it left, to
 * the answer of an undisturbed run. */
#include "engine/checkpoint_scene.h"

typedef struct place {
    const char *devices, *settings;
} place;

static const place places[] = {
    {NULL, ""}, {NULL, "paths.variant=t"}, {"emu", ""}, {"emu", "paths.loop=off"}, {"emu", "paths.variant=t"},
    {"emu", "paths.streams=2 paths.batch_edges=2000"}, {"emu:2@unchecked", "paths.partition_edges=256"},
};
enum { PLACES = sizeof places / sizeof *places };
static const char *const programs[] = {"bfs", "sssp", "labels", "pagerank", "adsorption"};

static td_run_options on(scene *self, const char *program, const char *engine, const place *at)
{
    td_run_options options = options_of(self, program);
    options.engine = engine;
    options.devices = at != NULL ? at->devices : NULL;
    return options;
}

static void compare(const char *program, const td_run *one, const td_run *other, const char *how)
{
    bool real = strcmp(program, "pagerank") == 0 || strcmp(program, "adsorption") == 0;
    for (uint32_t v = 0; v < one->graph->vertices; v++) {
        bool same = real ? fabs(((const float *)one->values)[v] - ((const float *)other->values)[v]) < 1e-5
                         : ((const uint32_t *)one->values)[v] == ((const uint32_t *)other->values)[v];
        if (!same) TEST_FAIL("%s, %s: vertex %u differs", program, how, v);
    }
}

/* Stops after so many rows, with a checkpoint; false: the run was over before. */
static bool stop(scene *self, const char *program, td_run_options options, uint32_t rows, const char *settings)
{
    td_run *run = NULL;
    options.checkpoint = self->folder;
    options.every = 1000;
    self->stop_after = rows;
    td_status status = attempt(self, &run, program, options, settings);
    self->stop_after = 0;
    td_run_destroy(run);
    if (status != TD_OK) CHECK_EQ(status, TD_CANCELLED);
    return status != TD_OK;
}

static void clear_folder(scene *self)
{
    char paths[8][PATH];
    for (int count = list_files(self, paths); count > 0; count--) CHECK(unlink(paths[count - 1]) == 0);
}

static td_run *go_on(scene *self, const char *program, td_run_options options, const char *settings)
{
    td_run *run = NULL;
    options.resume = self->folder;
    CHECK_OK(attempt(self, &run, program, options, settings));
    return run;
}

TEST(paths_go_on_from_what_the_cpu_engine_left)
{
    scene *self = open_scene();
    for (int p = 0; p < 5; p++) {
        td_run *whole = NULL;
        CHECK_OK(attempt(self, &whole, programs[p], on(self, programs[p], "cpu", NULL), ""));
        CHECK(stop(self, programs[p], on(self, programs[p], "cpu", NULL), 2, ""));
        for (int i = 0; i < PLACES; i++) {
            td_run *run = go_on(self, programs[p], on(self, programs[p], "paths", &places[i]), places[i].settings);
            compare(programs[p], whole, run, places[i].settings);
            CHECK(run->checkpoint_stats.resumed_from != NULL);
            td_run_destroy(run);
        }
        td_run_destroy(whole);
        clear_folder(self);
    }
    close_scene(self);
}

/* Values that are nearly final need few updates: their messages are those of the values, not of the beginning. */
TEST(what_was_computed_is_not_computed_again)
{
    scene *self = open_scene();
    td_run *whole = NULL;
    td_run_options paths = on(self, "pagerank", "paths", &places[0]);
    CHECK_OK(attempt(self, &whole, "pagerank", paths, "paths.variant=w"));
    CHECK(stop(self, "pagerank", on(self, "pagerank", "cpu", NULL), 9, ""));
    td_run *rest = go_on(self, "pagerank", paths, "paths.variant=w");
    printf("     %" PRIu64 " updates, from the beginning %" PRIu64 "\n", rest->updates, whole->updates);
    CHECK(rest->updates > 0);
    CHECK(4 * rest->updates < 3 * whole->updates);
    td_run_destroy(whole);
    td_run_destroy(rest);
    close_scene(self);
}

TEST(the_cpu_engine_goes_on_from_what_paths_left)
{
    scene *self = open_scene();
    int stopped = 0;
    for (int p = 0; p < 5; p++) {
        td_run *whole = NULL;
        CHECK_OK(attempt(self, &whole, programs[p], on(self, programs[p], "cpu", NULL), ""));
        for (int i = 0; i < PLACES; i++) {
            if (!stop(self, programs[p], on(self, programs[p], "paths", &places[i]), 1, places[i].settings)) continue;
            td_run *run = go_on(self, programs[p], on(self, programs[p], "cpu", NULL), "");
            compare(programs[p], whole, run, places[i].settings);
            stopped++;
            td_run_destroy(run);
            clear_folder(self);
        }
        td_run_destroy(whole);
    }
    printf("     %d runs were stopped\n", stopped);
    CHECK(stopped > 20);
    close_scene(self);
}

TEST(core_numbers_have_no_checkpoints_along_paths)
{
    scene *self = open_scene();
    td_run *run = NULL;
    td_run_options options = on(self, "kcore", "paths", NULL);
    options.checkpoint = self->folder;
    CHECK_STATUS(attempt(self, &run, "kcore", options, ""), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "checkpoint");
    close_scene(self);
}

TEST_MAIN
