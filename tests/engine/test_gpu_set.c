/* Several GPUs of one set under one policy: counters are read by completions, so that all of them work at the same
 * time. */
#include "engine/engine.h"
#include "engine/ways.h"

#include "gpu/launch.h"
#include "gpu/rounds.h"

enum { GPUS = 4, LAUNCHES = 8 };

typedef struct worker {
    td_gpu_job job;
    td_stream *stream;
    td_loop *loop;
    uint32_t left;    /* launches to come */
    uint64_t started; /* vertices active at the start, as the last one counted */
    int *working;     /* of all workers */
} worker;

static td_status launch(worker *self);

static void on_read(void *context, td_status status, uint64_t rows)
{
    worker *self = context;
    CHECK_EQ(rows, 0);
    CHECK_OK(status);
    self->started = self->job.control->tally.activated;
    if (--self->left > 0) CHECK_OK(launch(self));
    else if (--*self->working == 0) td_loop_stop(self->loop);
}

static td_status launch(worker *self)
{
    td_gpu_job *job = &self->job;
    td_init_args args = {.state = job->state, .end_vertex = job->graph->vertices};
    TD_CHECK(td_gpu_reset(job));
    TD_CHECK(td_gpu_launch(job, self->stream, &job->kernels->init, job->graph->vertices, &args));
    return td_gpu_read_begin(job, 0, on_read, self);
}

static td_status open_worker(worker *self, td_run *run, const td_run_options *options, td_device *device)
{
    td_gpu_job *job = &self->job;
    const td_graph *graph = run->graph;
    TD_CHECK(td_gpu_job_open(job, run, options));
    TD_CHECK(td_stream_open(device, &self->stream));
    TD_CHECK(td_gpu_job_start(job, device, self->stream));
    TD_CHECK(td_gpu_declare_values(job));
    void *offsets = NULL;
    TD_CHECK(td_gpu_new(job, &offsets, graph->vertices + UINT64_C(1), sizeof(uint64_t), "offsets"));
    TD_CHECK(td_gpu_new(job, &job->state.active, td_gpu_words(job), sizeof(uint32_t), "active vertices"));
    TD_CHECK(td_stream_copy(self->stream, offsets, graph->out.offsets, (graph->vertices + UINT64_C(1)) * 8,
                            TD_TO_DEVICE));
    job->state.context = run->context;
    job->state.vertices = graph->vertices;
    job->state.out_offsets = job->state.push_offsets = offsets;
    return td_stream_synchronize(self->stream);
}

/* Virtual time that `count` GPUs take for LAUNCHES launches each. */
static uint64_t time_of(const td_graph *graph, const char *devices, int count)
{
    td_cache cache = {0};
    td_settings none = {0};
    td_run_options options = {.devices = devices, .cache = &cache, .settings = &none};
    td_gpu_set *set = NULL;
    worker workers[GPUS] = {0};
    td_run *runs[GPUS] = {NULL};
    int working = count;
    CHECK_OK(td_gpu_set_open(&options, "test", &set));
    CHECK_EQ(set->count, count);
    for (int i = 0; i < count; i++) {
        CHECK_OK(td_run_create(&runs[i], program_of("labels"), graph, &options));
        CHECK_OK(open_worker(&workers[i], runs[i], &options, set->gpu[i]));
        workers[i].loop = set->loop;
        workers[i].left = LAUNCHES;
        workers[i].working = &working;
    }
    uint64_t began = 0, ended = 0;
    for (int i = 0; i < count; i++) began = td_device_clock(set->gpu[i]) > began ? td_device_clock(set->gpu[i]) : began;
    for (int i = 0; i < count; i++) CHECK_OK(launch(&workers[i]));
    CHECK_OK(td_loop_run(set->loop));
    CHECK_EQ(working, 0);
    for (int i = 0; i < count; i++) {
        CHECK_EQ(workers[i].started, graph->vertices);
        ended = td_device_clock(set->gpu[i]) > ended ? td_device_clock(set->gpu[i]) : ended;
        td_gpu_job_close(&workers[i].job);
        td_stream_close(workers[i].stream);
        td_run_destroy(runs[i]);
    }
    td_cache_release(&cache);
    return ended - began;
}

TEST(gpus_of_a_set_work_at_the_same_time)
{
    td_graph *graph = test_graph(test_graph_named("rmat 14"), TEST_UNWEIGHTED, NULL);
    uint64_t one = time_of(graph, "emu:1@unchecked", 1), four = time_of(graph, "cpu,emu:4@unchecked", 4);
    printf("    one GPU %.1f us, four %.1f us\n", (double)one * 1e-3, (double)four * 1e-3);
    CHECK(one > 0);
    CHECK((double)four < 1.2 * (double)one);
    td_graph_destroy(graph);
}

/* A set is opened once for all who ask for the same devices, and anew for others. */
TEST(a_set_is_opened_once)
{
    td_cache cache = {0};
    td_run_options options = {.devices = "emu:2@unchecked", .cache = &cache};
    td_gpu_set *first = NULL, *again = NULL;
    CHECK_OK(td_gpu_set_open(&options, "resident", &first));
    CHECK_OK(td_gpu_set_open(&options, "stream", &again));
    CHECK(first == again);
    CHECK_EQ(cache.opens, 1);
    CHECK(td_gpu_set_room(&options, "coop") > 0);
    CHECK_EQ(cache.opens, 1);
    options.gpu_memory = 64 << 20;
    CHECK_OK(td_gpu_set_open(&options, "resident", &again));
    CHECK_EQ(cache.opens, 2);
    CHECK_EQ(td_gpu_set_room(&options, "resident"), 64 << 20);
    td_gpu_set_drop(&options);
    CHECK(cache.gpus == NULL);
    options.devices = "cpu";
    CHECK_STATUS(td_gpu_set_open(&options, "resident", &again), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "needs a GPU");
    CHECK_EQ(td_gpu_set_room(&options, "resident"), 0);
    td_cache_release(&cache);
}

TEST_MAIN
