/* Distances over the stored weights of real graphs, within 1e-12 of a serial Dijkstra in doubles: random real weights on
 * every graph, and those of the file where a path may use them. The graphs are in TANDEM_SHARED_DATA; TANDEM_TEST_ALL=1
 * takes the largest ones too (minutes). */
#include "engine/ways.h"

#include "store/formats/format.h"

#include <math.h>
#include <unistd.h>

static const struct real_graph {
    const char *file;
    bool large, weighted; /* weighted: the file's own weights are lengths */
} files[] = {
    {"karate.mtx.xz", false, false}, {"chesapeake.mtx.xz", false, false}, {"rome99.gr.xz", false, true},
    {"wb-cs-stanford.mtx.xz", false, false}, {"add20.mtx.xz", false, false}, {"memplus.mtx.xz", false, false},
    {"ego-Facebook.txt.xz", false, false}, {"wiki-Vote.txt.xz", false, false}, {"email-Enron.txt.xz", false, false},
    {"soc-Epinions1.txt.xz", true, false}, {"luxembourg_osm.mtx.xz", true, false}, {"delaunay_n16.mtx.xz", true, false},
    {"USA-road-d.NY.gr.xz", true, true}, {"npm-2016-08-26.tsv.xz", true, false}, {"caidaRouterLevel.mtx.xz", true, false},
    {"web-NotreDame.txt.xz", true, false}, {"dblp-2010.mtx.xz", true, false}, {"ego-Twitter.tsv.xz", true, true},
    {"cnr-2000/cnr-2000.graph", true, false}, {"git-postgres-16.0.graph-txt.xz", true, false},
    {"git-rust-1.40.0.graph-txt.xz", true, false},
};

static double distance_of(const td_run *run, uint32_t v)
{
    switch (run->kind) {
    case TD_VALUE_U32: {
        uint32_t whole = ((const uint32_t *)run->values)[v];
        return whole == TD_UNREACHED ? INFINITY : whole;
    }
    case TD_VALUE_F64: return ((const double *)run->values)[v];
    default: TEST_FAIL("distances of kind %d", (int)run->kind); return 0;
    }
}

static void compare(const char *file, const td_graph *graph, td_pool *pool)
{
    uint32_t source = busiest(graph), *parents = NULL, reached = 0;
    td_run_options options = {.engine = "cpu", .pool = pool, .has_source = true, .source = source};
    td_run *run = run_of("sssp", graph, options, "");
    double *wanted = reference_sssp(graph, source, &parents), worst = 0, farthest = 0;
    for (uint32_t v = 0; v < graph->vertices; v++) {
        double seen = distance_of(run, v);
        CHECK_EQ(isinf(seen), isinf(wanted[v]));
        if (isinf(seen)) continue;
        reached++;
        farthest = fmax(farthest, wanted[v]);
        worst = fmax(worst, wanted[v] > 0 ? fabs(seen - wanted[v]) / wanted[v] : seen);
    }
    printf("     %s: %u of %u vertices reached, the farthest at %g, off by %g\n", file, reached, graph->vertices, farthest,
           worst);
    if (worst > 1e-12) TEST_FAIL("%s: a distance is off by %g", file, worst);
    td_free(wanted);
    td_free(parents);
    td_run_destroy(run);
}

TEST(distances_of_real_graphs_are_those_of_doubles)
{
    const char *folder = getenv("TANDEM_SHARED_DATA");
    td_pool *pool;
    if (folder == NULL || access(folder, R_OK) != 0) SKIP("the folder of real graphs is absent (TANDEM_SHARED_DATA)");
    CHECK_OK(td_pool_create(&pool, 2));
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[700];
        td_build_options random = {.attach_weights = true, .weight_real = true, .weight_low = 0.1, .weight_high = 1.7,
                                   .weight_seed = 11};
        td_graph *graph = NULL;
        if (files[i].large && getenv("TANDEM_TEST_ALL") == NULL) continue;
        snprintf(path, sizeof path, "%s/%s", folder, files[i].file);
        CHECK_OK(td_graph_read(&graph, path, NULL, &random, pool));
        compare(files[i].file, graph, pool);
        td_graph_destroy(graph);
        if (!files[i].weighted) continue;
        CHECK_OK(td_graph_read(&graph, path, NULL, &(td_build_options){0}, pool));
        compare(files[i].file, graph, pool);
        td_graph_destroy(graph);
    }
    td_pool_destroy(pool);
}

TEST_MAIN
