/* Spanning forests of the stream engine begin with the light edges alone: a run that is stopped or killed between their
 * sweeps goes on to the same forest, there or on another engine. */
#include "engine/checkpoint_scene.h"

#include <sys/wait.h>

typedef struct story {
    scene *scene;
    uint32_t light, heard, kill_after; /* sweeps of light edges, rows; the process ends itself after so many rows */
    uint32_t stop_after;
} story;

static bool hear_row(void *context, const td_iteration *row)
{
    story *self = context;
    self->light += strcmp(row->direction, "light") == 0;
    self->heard++;
    if (self->kill_after > 0 && self->heard == self->kill_after) {
        usleep(20000); /* what was written before is there */
        (void)kill(getpid(), SIGKILL);
    }
    return self->stop_after == 0 || self->heard < self->stop_after;
}

static td_run_options story_options(story *self, const char *engine)
{
    td_run_options options = {.pool = self->scene->pool, .engine = engine, .each = hear_row, .each_context = self};
    if (strcmp(engine, "cpu") != 0) options.devices = "emu:1@unchecked";
    if (strcmp(engine, "stream") == 0) options.gpu_edges = 0.5;
    return options;
}

static td_status tell(story *self, td_run **out, const char *engine, bool writes, bool resumes)
{
    td_run_options options = story_options(self, engine);
    self->light = self->heard = 0;
    options.checkpoint = writes ? self->scene->folder : NULL;
    options.every = 1;
    options.resume = resumes ? self->scene->folder : NULL;
    return try_run(out, "mst", self->scene->graph, options,
                   strcmp(engine, "stream") == 0 ? "stream.subgraph=4096" : "");
}

static void new_folder(scene *self)
{
    static int number;
    snprintf(self->folder, sizeof self->folder, "%s/light%d", test_folder(), number++);
    CHECK(mkdir(self->folder, 0700) == 0);
}

static void check_forest(const td_run *run, const td_run *wanted)
{
    CHECK(run->converged);
    CHECK_EQ(run->edge_count, wanted->edge_count);
    CHECK(memcmp(run->edges, wanted->edges, run->edge_count * sizeof *run->edges) == 0);
}

/* Stopped after rows of the light phase, and taken over by one engine after another. */
static void check_stops(scene *scene, uint32_t rows_a_round, uint32_t most)
{
    static const char *const engines[] = {"stream", "cpu", "stream", "resident"};
    story self = {.scene = scene};
    td_run *wanted = NULL, *run = NULL;
    CHECK_OK(tell(&self, &wanted, "cpu", false, false));
    CHECK_OK(tell(&self, &run, "stream", false, false));
    check_forest(run, wanted);
    td_run_destroy(run);
    uint32_t light = self.light;
    CHECK(light >= 3 * rows_a_round);
    for (uint32_t stop = 1; stop < light && stop <= most; stop++) {
        uint32_t whole = (stop + rows_a_round - 1) / rows_a_round * rows_a_round; /* at a round's end */
        const char *engine = engines[stop % 4];
        new_folder(scene);
        self.stop_after = stop;
        CHECK_STATUS(tell(&self, &run, "stream", true, false), TD_CANCELLED);
        CHECK_EQ(self.light, whole);
        CHECK_EQ(self.heard, whole);
        self.stop_after = 0;
        CHECK_OK(tell(&self, &run, engine, false, true));
        CHECK_EQ(run->checkpoint_stats.resumed_iteration, whole);
        check_forest(run, wanted);
        if (strcmp(engine, "stream") == 0) CHECK(self.light > 0 && self.light <= light); /* it goes on with them */
        td_run_destroy(run);
    }
    td_run_destroy(wanted);
}

TEST(a_forest_goes_on_from_between_its_light_sweeps)
{
    scene *scene = open_scene();
    check_stops(scene, 1, 8);
    close_scene(scene);
}

/* Keys of 32 bits of weight and 16 each of an edge and a vertex: a round takes two sweeps. */
TEST(a_round_of_two_light_sweeps_is_finished_first)
{
    scene *scene = open_scene();
    td_graph *graph = NULL;
    td_gen_spec spec = {.kind = "rmat", .seed = 3, .rewire = -1, .scale = 16, .degree = 1};
    td_build_options build = {0};
    CHECK_OK(td_parse_weights("1.0:100.0", &build));
    CHECK_OK(td_graph_generate(&graph, &spec, &build, scene->pool));
    td_graph_destroy(scene->graph);
    scene->graph = graph;
    check_stops(scene, 2, 3);
    close_scene(scene);
}

/* A run that is stopped after every row gets there all the same. */
TEST(short_runs_one_after_another_come_to_an_end)
{
    scene *scene = open_scene();
    story self = {.scene = scene};
    td_run *wanted = NULL, *run = NULL;
    CHECK_OK(tell(&self, &wanted, "cpu", false, false));
    new_folder(scene);
    self.stop_after = 1;
    int legs = 1;
    for (td_status status = tell(&self, &run, "stream", true, false); status != TD_OK; legs++) {
        CHECK_EQ(status, TD_CANCELLED);
        CHECK(legs < 100);
        status = tell(&self, &run, "stream", true, true);
    }
    CHECK(legs > 2);
    check_forest(run, wanted);
    td_run_destroy(run);
    td_run_destroy(wanted);
    close_scene(scene);
}

/* Killed, not stopped: processes that end themselves in the light phase, each a row later. */
TEST(a_killed_run_goes_on_from_its_light_sweeps)
{
    scene *scene = open_scene();
    td_pool *pool = scene->pool;
    scene->pool = NULL; /* no thread is there when the process is copied */
    td_pool_destroy(pool);
    story self = {.scene = scene};
    td_run *wanted = NULL, *run = NULL;
    CHECK_OK(tell(&self, &wanted, "cpu", false, false));
    new_folder(scene);
    for (self.kill_after = 2; self.kill_after <= 4; self.kill_after++) {
        int status;
        fflush(stdout);
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) _exit(tell(&self, &run, "stream", true, self.kill_after > 2) == TD_OK ? 0 : 3);
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
    self.kill_after = 0;
    CHECK_OK(tell(&self, &run, "stream", false, true));
    CHECK(run->checkpoint_stats.resumed_iteration >= 1);
    check_forest(run, wanted);
    td_run_destroy(run);
    td_run_destroy(wanted);
    close_scene(scene);
}

TEST_MAIN
