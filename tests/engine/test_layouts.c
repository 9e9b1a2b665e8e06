/* Layouts of several graphs and engines that a session caches side by side: which stay, which make way and when. */
#include "engine/ways.h"

#include "gpu/lists.h"
#include "gpu/set.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { GRAPHS = 3 };
static const char *const names[GRAPHS] = {"rmat 10", "web", "uniform"};

static td_graph *graph_number(int i) { return test_graph(test_graph_named(names[i]), TEST_UNWEIGHTED, NULL); }

/* Caches are static: those of a test that fails stay on the lists of what memory can be had from. */
static td_run_options options_on(td_cache *cache, const char *engine)
{
    return (td_run_options){.engine = engine, .devices = "emu@unchecked", .cache = cache, .has_iterations = true,
                            .iterations = 2};
}

static td_run *run_on(const td_graph *graph, td_run_options options)
{
    return run_of("pagerank", graph, options, "");
}

static void run_once(const td_graph *graph, td_run_options options) { td_run_destroy(run_on(graph, options)); }

/* The engine's cached layout of a graph; NULL: there is none. */
static const td_layout *layout_of(const td_cache *cache, const char *engine, const td_graph *graph)
{
    for (int i = 0; i < TD_LAYOUTS; i++) {
        const td_gpu_layout *cached = cache->layouts[i].state;
        if (cached != NULL && cached->graph == graph && strcmp(cache->layouts[i].engine, engine) == 0)
            return &cache->layouts[i];
    }
    return NULL;
}

TEST(layouts_of_several_graphs_and_engines_stay_side_by_side)
{
    static td_cache cache;
    td_graph *graphs[GRAPHS];
    const void *states[GRAPHS];
    for (int i = 0; i < GRAPHS; i++) {
        graphs[i] = graph_number(i);
        run_once(graphs[i], options_on(&cache, "resident"));
        states[i] = layout_of(&cache, "resident", graphs[i])->state;
    }
    td_run_options stream = options_on(&cache, "stream");
    stream.gpu_edges = 0.5;
    run_once(graphs[0], stream);
    CHECK(layout_of(&cache, "stream", graphs[0]) != NULL);
    uint64_t sent = cache.gpus->gpu[0]->counts.bytes_to_device;
    for (int i = 0; i < GRAPHS; i++) {
        td_run *run = run_on(graphs[i], options_on(&cache, "resident"));
        CHECK(layout_of(&cache, "resident", graphs[i])->state == states[i]);
        CHECK_EQ(run->device_opens, 1);
        td_run_destroy(run);
    }
    sent = cache.gpus->gpu[0]->counts.bytes_to_device - sent;
    CHECK(sent < graphs[0]->edges * sizeof(uint32_t)); /* no list again */
    for (int i = 0; i < GRAPHS; i++) td_graph_destroy(graphs[i]);
    for (int i = 0; i < TD_LAYOUTS; i++) CHECK(cache.layouts[i].state == NULL); /* each went with its graph */
    td_cache_release(&cache);
}

/* The multi engine's layout is on all GPUs of the set: the cache knows its bytes on each, and it makes way like any. */
TEST(layouts_of_several_gpus_stay_beside_others_and_make_way)
{
    enum { GPUS = 3 };
    static td_cache cache;
    td_graph *graph = graph_number(0), *other = graph_number(2);
    td_run_options multi = options_on(&cache, "multi"), resident = options_on(&cache, "resident");
    multi.devices = resident.devices = "emu:3@unchecked";
    run_once(graph, multi);
    run_once(graph, resident);
    run_once(other, multi);
    const td_layout *layout = layout_of(&cache, "multi", graph);
    CHECK(layout != NULL && layout_of(&cache, "resident", graph) != NULL && layout_of(&cache, "multi", other) != NULL);
    for (int i = 0; i < GPUS; i++) CHECK(layout->device_bytes[i] > graph->edges / GPUS);
    uint64_t sent = cache.gpus->gpu[1]->counts.bytes_to_device;
    run_once(graph, multi);
    CHECK(layout_of(&cache, "multi", graph) == layout);
    CHECK(cache.gpus->gpu[1]->counts.bytes_to_device - sent < graph->edges / GPUS * sizeof(uint32_t)); /* no list again */
    uint64_t before[GPUS], bytes[GPUS];
    for (int i = 0; i < GPUS; i++) {
        before[i] = cache.gpus->gpu[i]->now;
        bytes[i] = layout->device_bytes[i];
    }
    td_graph_destroy(graph);
    CHECK(layout_of(&cache, "multi", other) != NULL && layout_of(&cache, "multi", graph) == NULL);
    for (int i = 1; i < GPUS; i++) CHECK_EQ(before[i] - cache.gpus->gpu[i]->now, bytes[i]); /* resident used the first */
    while (td_gpu_make_way(&cache)) continue;
    for (int i = 0; i < GPUS; i++) CHECK_EQ(cache.gpus->gpu[i]->now, 0);
    td_graph_destroy(other);
    td_cache_release(&cache);
}

/* What a run took is its own, whatever other layouts are there. */
TEST(a_runs_peak_leaves_other_layouts_out)
{
    static td_cache alone, shared;
    td_graph *graph = graph_number(0), *other = graph_number(2);
    td_run *first = run_on(graph, options_on(&alone, "resident"));
    run_once(other, options_on(&shared, "resident"));
    td_run *second = run_on(graph, options_on(&shared, "resident"));
    CHECK_EQ(second->device_peak, first->device_peak);
    CHECK(shared.gpus->gpu[0]->peak > second->device_peak);
    td_run_destroy(first);
    td_run_destroy(second);
    td_cache_release(&alone);
    td_cache_release(&shared);
    td_graph_destroy(graph);
    td_graph_destroy(other);
}

/* The GPU has room for the first two layouts: the third run, of the first graph's size, finds that of the second graph,
 * which was used longest ago, in its way. */
TEST(a_full_gpu_releases_the_layout_used_longest_ago)
{
    static td_cache cache;
    td_graph *graphs[GRAPHS];
    td_run_options options = options_on(&cache, "resident");
    uint64_t peak = 0;
    for (int i = 0; i < GRAPHS; i++) graphs[i] = test_graph(test_graph_named("rmat 10"), TEST_UNWEIGHTED, NULL);
    for (int i = 0; i < 2; i++) {
        td_run *run = run_on(graphs[i], options);
        peak = run->device_peak;
        td_run_destroy(run);
    }
    options.gpu_memory = peak + cache.gpus->gpu[0]->now / 4 * 3; /* a run beside one and a half layouts */
    for (int i = 0; i < 2; i++) run_once(graphs[i], options); /* another budget is another start */
    run_once(graphs[0], options);
    CHECK(layout_of(&cache, "resident", graphs[0]) != NULL && layout_of(&cache, "resident", graphs[1]) != NULL);
    td_run *third = run_on(graphs[2], options);
    CHECK_EQ(third->device_peak, peak);
    CHECK(layout_of(&cache, "resident", graphs[0]) != NULL);
    CHECK(layout_of(&cache, "resident", graphs[1]) == NULL);
    CHECK(layout_of(&cache, "resident", graphs[2]) != NULL);
    td_run_destroy(third);
    for (int i = 0; i < GRAPHS; i++) td_graph_destroy(graphs[i]);
    td_cache_release(&cache);
}

/* The same of the host's budget, which an emulated GPU's memory is part of. */
TEST(a_budget_releases_the_layout_used_longest_ago)
{
    static td_cache cache;
    td_graph *graphs[GRAPHS];
    td_run_options options = options_on(&cache, "resident");
    for (int i = 0; i < GRAPHS; i++) {
        graphs[i] = test_graph(test_graph_named("rmat 14"), TEST_UNWEIGHTED, NULL);
        if (i < 2) run_once(graphs[i], options);
    }
    const td_layout *first = layout_of(&cache, "resident", graphs[0]);
    CHECK(first->host_bytes > 0 && td_cache_bytes(&cache) > 2 * first->host_bytes);
    td_plan *plan = NULL;
    CHECK_OK(td_plan_create(&plan, td_engine_named("resident"), program_of("pagerank"), graphs[2], &options));
    td_memory_set_budget(td_memory().now + plan->program_bytes - cache.set_bytes - first->host_bytes / 2);
    td_plan_destroy(plan);
    run_once(graphs[2], options);
    td_memory_set_budget(0);
    CHECK(layout_of(&cache, "resident", graphs[0]) == NULL);
    CHECK(layout_of(&cache, "resident", graphs[1]) != NULL);
    for (int i = 0; i < GRAPHS; i++) td_graph_destroy(graphs[i]);
    td_cache_release(&cache);
}

/* A graph that is destroyed while another one's run goes on. */
typedef struct destroying {
    td_graph *graph;
    const td_cache *cache;
    pthread_t thread;
    atomic_bool begun, done;
    bool inside; /* the run's own thread destroys it */
    bool released_early;
} destroying;

static void *destroy(void *context)
{
    destroying *self = context;
    self->begun = true;
    td_graph_destroy(self->graph);
    self->done = true;
    return NULL;
}

static bool on_iteration(void *context, const td_iteration *row)
{
    destroying *self = context;
    if (row->number != 0) return true;
    if (self->inside) return destroy(self) == NULL;
    CHECK_EQ(pthread_create(&self->thread, NULL, destroy, self), 0);
    while (!self->begun) usleep(1000);
    usleep(30000);
    self->released_early = self->done || layout_of(self->cache, "resident", self->graph) == NULL;
    return true;
}

static void destroy_meanwhile(bool inside)
{
    static td_cache caches[2];
    td_cache *cache = &caches[inside];
    td_graph *graph = graph_number(0);
    destroying other = {.graph = graph_number(1), .cache = cache, .inside = inside};
    run_once(other.graph, options_on(cache, "resident"));
    td_run_options options = options_on(cache, "resident");
    options.each = on_iteration;
    options.each_context = &other;
    run_once(graph, options);
    if (!inside) pthread_join(other.thread, NULL);
    CHECK(other.done && !other.released_early);
    int left = 0;
    for (int i = 0; i < TD_LAYOUTS; i++) left += cache->layouts[i].state != NULL;
    CHECK_EQ(left, 1);
    td_graph_destroy(graph);
    td_cache_release(cache);
}

TEST(another_threads_graph_is_destroyed_after_the_run) { destroy_meanwhile(false); }
TEST(a_callback_may_destroy_another_graph) { destroy_meanwhile(true); }

TEST_MAIN
