/* Memory nodes of the host, made up: two nodes with all processors each, so that any machine has workers of both.
 * Extraction counts the bytes that workers read on their own node and on the other; assignment precedes the work, so that
 * the counters are exact. */
#include "engine/stream_ways.h"

#include "store/formats/format.h"
#include "store/gen.h"

#include <sys/stat.h>

static void add_file(const char *folder, const char *name, const char *text)
{
    char path[900];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    test_write_file(path, text, strlen(text));
}

/* The first call of a process decides which nodes there are. */
static void make_nodes(void)
{
    static bool made;
    char node[700];
    const char *folder = test_path("nodes");
    if (made) return;
    made = true;
    CHECK_EQ(mkdir(folder, 0700), 0);
    add_file(folder, "online", "0,2\n");
    add_file(folder, "has_memory", "0,2\n");
    for (int n = 0; n < 4; n += 2) {
        snprintf(node, sizeof node, "%s/node%d", folder, n);
        CHECK_EQ(mkdir(node, 0700), 0);
        add_file(node, "cpulist", "0-1000\n");
    }
    CHECK_EQ(setenv("TANDEM_NUMA", folder, 1), 0);
    CHECK_EQ(td_numa_here()->nodes, 2);
}

static td_graph *web(void)
{
    td_graph *graph = NULL;
    td_build_options build = {.symmetrize = true, .dedup = true, .drop_loops = true, .attach_weights = true,
                              .weight_low = 1, .weight_high = 1000, .weight_seed = 7};
    td_gen_spec spec = {.kind = "web", .seed = 7, .scale = 10, .degree = 16, .rewire = -1};
    CHECK_OK(td_graph_generate(&graph, &spec, &build, NULL));
    return graph;
}

typedef struct counted {
    uint64_t local, remote, extracted, digest;
} counted;

static counted count(const char *program, const td_graph *graph, const char *settings, td_pool *pool)
{
    td_run_options options = {.engine = "stream", .devices = small_machine_path(), .gpu_edges = 0.25, .pool = pool};
    options.has_source = program_of(program)->info->needs_source;
    options.source = busiest(graph);
    td_run *run = run_of(program, graph, options, settings);
    counted sum = {.digest = 14695981039346656037u};
    for (uint32_t i = 0; i < run->row_count; i++) {
        sum.local += run->full_rows[i].bytes_local;
        sum.remote += run->full_rows[i].bytes_remote;
        sum.extracted += run->full_rows[i].bytes_extracted;
    }
    for (uint32_t v = 0; v < graph->vertices; v++)
        sum.digest = (sum.digest ^ ((const uint32_t *)run->values)[v]) * 1099511628211u;
    td_run_destroy(run);
    return sum;
}

TEST(workers_extract_the_subgraphs_of_their_node)
{
    static const char *const programs[] = {"sssp", "labels", "mst"};
    td_pool *pool;
    make_nodes();
    td_graph *graph = web();
    CHECK_OK(td_pool_create(&pool, 4));
    for (int p = 0; p < 3; p++) {
        const char *lvsp = "stream.variant=lvsp stream.subgraph=2K ";
        char settings[256];
        counted off = count(programs[p], graph, lvsp, pool);
        snprintf(settings, sizeof settings, "%s stream.nodes=interleave", lvsp);
        counted mixed = count(programs[p], graph, settings, pool);
        snprintf(settings, sizeof settings, "%s stream.nodes=home stream.duplicate=0", lvsp);
        counted home = count(programs[p], graph, settings, pool);
        snprintf(settings, sizeof settings, "%s stream.nodes=home stream.duplicate=1", lvsp);
        counted all = count(programs[p], graph, settings, pool);
        CHECK(off.extracted > 0);
        CHECK_EQ(off.local + off.remote, 0);
        CHECK(mixed.local > 0);
        CHECK(home.local > mixed.local);
        CHECK(home.remote < mixed.remote);
        CHECK_EQ(home.local + home.remote, mixed.local + mixed.remote);
        CHECK_EQ(all.remote, 0);
        CHECK_EQ(all.local, home.local + home.remote);
        CHECK_EQ(home.extracted, off.extracted);
        if (strcmp(programs[p], "mst") == 0) continue; /* values are names of components within the run */
        CHECK_EQ(home.digest, off.digest);
        CHECK_EQ(mixed.digest, off.digest);
        CHECK_EQ(all.digest, off.digest);
    }
    td_pool_destroy(pool);
    td_graph_destroy(graph);
}

TEST(duplicates_let_the_other_node_help_without_remote_bytes)
{
    td_pool *pool;
    make_nodes();
    td_graph *graph = web();
    CHECK_OK(td_pool_create(&pool, 4));
    uint64_t before = UINT64_MAX, all = 0;
    static const char *const shares[] = {"0", "0.3", "0.7", "1"};
    for (int i = 0; i < 4; i++) {
        char settings[256];
        snprintf(settings, sizeof settings, "stream.variant=scaph stream.subgraph=1K stream.duplicate=%s", shares[i]);
        counted now = count("labels", graph, settings, pool);
        CHECK(now.remote < before);
        if (i == 0) all = now.local + now.remote;
        CHECK_EQ(now.local + now.remote, all);
        before = now.remote;
    }
    CHECK_EQ(before, 0);
    counted alone = count("labels", graph, "stream.variant=scaph stream.subgraph=1K stream.duplicate=0", NULL);
    CHECK(alone.remote > 0); /* one worker, of the first node */
    CHECK_EQ(alone.local + alone.remote, all);
    td_pool_destroy(pool);
    td_graph_destroy(graph);
}

/* Two cliques, of which the search sees the first: all useful edges are on the first node. A remote byte takes as long as
 * two local ones, so that the other node gets a third of them. */
TEST(a_node_without_work_takes_a_third_of_the_others)
{
    enum { CLIQUE = 60 };
    td_pool *pool;
    td_graph *graph = NULL;
    const char *path = test_path("cliques.txt");
    char *text = malloc(2 * CLIQUE * CLIQUE * 16), *at = text;
    make_nodes();
    for (uint32_t c = 0; c < 2; c++)
        for (uint32_t u = 0; u < CLIQUE; u++)
            for (uint32_t v = 0; v < CLIQUE; v++)
                if (u != v) at += sprintf(at, "%u %u\n", c * CLIQUE + u, c * CLIQUE + v);
    test_write_file(path, text, (size_t)(at - text));
    free(text);
    CHECK_OK(td_graph_read(&graph, path, "edgelist", &(td_build_options){0}, NULL));
    CHECK_OK(td_pool_create(&pool, 4));
    counted sum = count("bfs", graph, "stream.variant=lvsp stream.subgraph=1K stream.direction=push stream.nodes=home "
                                      "stream.duplicate=0", pool);
    CHECK(10 * sum.local > 17 * sum.remote);
    CHECK(10 * sum.local < 23 * sum.remote);
    td_pool_destroy(pool);
    td_graph_destroy(graph);
}

TEST(the_published_system_has_homes_and_the_plan_states_the_duplicates)
{
    make_nodes();
    td_graph *graph = web();
    td_plan *plan;
    uint64_t bytes[2], stated[2];
    for (int i = 0; i < 2; i++) {
        td_settings settings = settings_from(i == 0 ? "stream.variant=scaph stream.subgraph=1K stream.duplicate=0"
                                                    : "stream.variant=scaph stream.subgraph=1K stream.duplicate=0.5");
        td_run_options options = {.engine = "stream", .devices = small_machine_path(), .gpu_edges = 0.25,
                                  .settings = &settings};
        CHECK_OK(td_plan_make(&plan, "stream", program_of("labels"), graph, &options));
        CHECK_EQ(td_plan_counter(plan, "memory_nodes"), 2);
        stated[i] = td_plan_counter(plan, "duplicate_bytes");
        bytes[i] = plan->program_bytes;
        td_plan_destroy(plan);
        td_settings_clear(&settings);
    }
    CHECK_EQ(stated[0], 0);
    CHECK(stated[1] > graph->edges * sizeof(uint32_t) * 9 / 20);
    CHECK(stated[1] <= graph->edges * sizeof(uint32_t) / 2 + 1024);
    CHECK(bytes[1] >= bytes[0] + stated[1]);
    CHECK(bytes[1] <= bytes[0] + stated[1] + 2 * (4 << 10)); /* a page of each node */
    td_graph_destroy(graph);
}

TEST(duplicates_shrink_to_the_memory_there_is)
{
    td_numa numa = {.nodes = 3, .processors = 12, .memories = 5, .number = {0, 1, 2}};
    uint64_t taken;
    for (size_t i = 0; i < 12; i++) CPU_SET(i, &numa.usable[i / 4]); /* the second node has no memory */
    CHECK(td_streaming_fit_duplicates(&numa, 8000, 100, 4, 0.5, 1 << 20, &taken) == 0.5);
    CHECK_EQ(taken, 40 * 400); /* of 80 subgraphs, each on the one other node that has memory */
    CHECK(td_streaming_fit_duplicates(&numa, 8000, 100, 4, 0.5, 40 * 400 - 1, &taken) == 0.25);
    CHECK_EQ(taken, 20 * 400);
    CHECK(td_streaming_fit_duplicates(&numa, 8000, 100, 4, 1, 100, &taken) == 0);
    CHECK_EQ(taken, 0);
}

TEST(settings_without_effect_are_refused)
{
    td_run *run = NULL;
    make_nodes();
    td_graph *graph = web();
    td_run_options options = {.engine = "stream", .devices = small_machine_path(), .gpu_edges = 0.25};
    CHECK_STATUS(try_run(&run, "labels", graph, options, "stream.duplicate=0.5"), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "without stream.nodes=home");
    CHECK_STATUS(try_run(&run, "labels", graph, options, "stream.variant=lbase stream.nodes=home"), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "which extract edges");
    CHECK_STATUS(try_run(&run, "pagerank", graph, options, "stream.nodes=home"), TD_USAGE);
    td_graph_destroy(graph);
}

TEST(failing_allocations_leave_no_duplicate_behind)
{
    td_pool *pool;
    make_nodes();
    td_graph *graph = web();
    CHECK_OK(td_pool_create(&pool, 2));
    td_run_options options = {.engine = "stream", .devices = small_machine_path(), .gpu_edges = 0.25, .pool = pool};
    td_settings settings = settings_from("stream.variant=scaph stream.subgraph=2K stream.duplicate=1");
    options.settings = &settings;
    uint64_t held = td_memory().now;
    td_status status = TD_NO_MEMORY;
    for (uint64_t n = 1; status == TD_NO_MEMORY; n++) {
        td_run *run = NULL;
        td_alloc_fail_at(n);
        status = td_run_program(&run, program_of("labels"), graph, &options);
        td_alloc_fail_at(0);
        if (status != TD_OK) CHECK_EQ(td_memory().now, held);
        td_run_destroy(run);
    }
    CHECK_EQ(status, TD_OK);
    td_settings_clear(&settings);
    td_pool_destroy(pool);
    td_graph_destroy(graph);
}

TEST_MAIN
