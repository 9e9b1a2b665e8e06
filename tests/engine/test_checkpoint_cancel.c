/* When a request to stop is heard in a run that writes checkpoints: at once while the run is set up and while its
 * result is made ready, at the end of an iteration in between. */
#include "engine/checkpoint_scene.h"

#include "run/parents.h"
#include "store/formats/format.h"

static const struct {
    const char *name, *devices;
    double gpu_edges;
} engines[] = {{"cpu", NULL, 0}, {"resident", "emu:1@unchecked", 0}, {"stream", "emu:1@unchecked", 0.5},
               {"coop", "emu:1@unchecked", 0.4}, {"hybrid", NULL, 0},
               {"multi", "emu:3@unchecked", 0}};
enum { ENGINES = sizeof engines / sizeof *engines };

static void cancel(void *context)
{
    (void)context;
    td_cancel_request();
}

TEST(a_request_while_a_run_is_set_up_ends_it_before_its_first_iteration)
{
    scene *self = open_scene();
    static const char *const programs[] = {"pagerank", "bfs", "sssp", "mst", "kcore"};
    for (int i = 0; i < ENGINES * 5; i++) {
        td_run *run = NULL;
        char paths[8][PATH];
        td_run_options options = options_of(self, programs[i / ENGINES]);
        options.engine = engines[i % ENGINES].name;
        options.devices = engines[i % ENGINES].devices;
        options.gpu_edges = engines[i % ENGINES].gpu_edges;
        options.checkpoint = self->folder;
        options.every = 1;
        options.begins = cancel;
        td_status status = attempt(self, &run, programs[i / ENGINES], options, "");
        td_cancel_clear();
        CHECK_STATUS(status, TD_CANCELLED);
        CHECK_EQ(self->rows, 0);
        CHECK_EQ(list_files(self, paths), 0);
    }
    close_scene(self);
}

TEST(requests_wait_from_the_first_iteration_to_the_last)
{
    scene *self = open_scene();
    td_run_options options = options_of(self, "wcc");
    td_run run = {.program = program_of("wcc"), .graph = self->graph, .context = {.vertices = self->graph->vertices}};
    options.checkpoint = self->folder;
    CHECK_OK(td_checkpoints_open(&run, &options));
    td_cancel_request();
    CHECK_STATUS(td_cancel_check(), TD_CANCELLED); /* nothing is lost yet */
    CHECK_STATUS(td_checkpoints_begin(&run), TD_CANCELLED);
    td_cancel_clear();
    CHECK_OK(td_checkpoints_begin(&run));
    CHECK_OK(td_checkpoints_begin(&run)); /* an engine that hands over to another */
    td_cancel_request();
    CHECK_OK(td_cancel_check());
    td_checkpoints_finish(&run);
    CHECK_STATUS(td_cancel_check(), TD_CANCELLED);
    CHECK_STATUS(td_checkpoints_explain(&run, TD_CANCELLED), TD_CANCELLED);
    CHECK_CONTAINS(td_last_message(), "interrupted"); /* there is no checkpoint to name */
    td_cancel_clear();
    td_checkpoints_close(&run);
    CHECK_OK(td_cancel_check());
    close_scene(self);
}

/* A checkpoint on its way to the disk gets there, and the message names the folder. */
TEST(a_request_after_the_last_iteration_keeps_the_last_checkpoint)
{
    scene *self = open_scene();
    char paths[8][PATH];
    td_run_options options = options_of(self, "wcc");
    td_run run = {.program = program_of("wcc"), .graph = self->graph, .context = {.vertices = self->graph->vertices}};
    options.checkpoint = self->folder;
    options.every = 1;
    CHECK_OK(td_checkpoints_open(&run, &options));
    CHECK_OK(td_checkpoints_begin(&run));
    td_context after = run.context;
    after.iteration = 1;
    td_state *state = td_checkpoint_due(&run, &after);
    CHECK(state != NULL);
    for (uint32_t v = 0; v < run.graph->vertices; v++) ((uint32_t *)state->values)[v] = v;
    CHECK_OK(td_checkpoint_save(&run, state));
    td_checkpoints_finish(&run);
    td_cancel_request();
    CHECK_STATUS(td_checkpoints_explain(&run, TD_CANCELLED), TD_CANCELLED);
    CHECK_CONTAINS(td_last_message(), "go on with resume");
    CHECK_CONTAINS(td_last_message(), self->folder);
    td_cancel_clear();
    td_checkpoints_close(&run);
    CHECK_EQ(list_files(self, paths), 1);
    close_scene(self);
}

/* Parents along a way of free edges are found one by one. */
TEST(a_request_ends_the_search_for_parents)
{
    enum { VERTICES = 50000 };
    const char *path = test_path("way.txt");
    td_graph *graph = NULL;
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    for (int v = 0; v + 1 < VERTICES; v++) fprintf(file, "%d %d 0\n", v, v + 1);
    CHECK(fclose(file) == 0);
    CHECK_OK(td_graph_read(&graph, path, "edgelist", NULL, NULL));
    CHECK_EQ(graph->vertices, VERTICES);
    td_run run = {.program = program_of("sssp"), .graph = graph};
    uint32_t *values;
    CHECK_OK(TD_NEW_ZEROED(&values, VERTICES, "values"));
    CHECK_OK(TD_NEW(&run.parents, VERTICES, "parents"));
    memset(run.parents, 0xff, VERTICES * sizeof *run.parents);
    run.parents[0] = 0;
    td_cancel_request();
    td_status status = td_run_solve_parents(&run, &graph->out, values);
    td_cancel_clear();
    CHECK_STATUS(status, TD_CANCELLED);
    CHECK_OK(td_run_solve_parents(&run, &graph->out, values));
    CHECK_EQ(run.parents[VERTICES - 1], VERTICES - 2);
    td_free(run.parents);
    td_free(values);
    td_graph_destroy(graph);
}

TEST_MAIN
