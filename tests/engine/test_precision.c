/* Values of 4 and of 8 bytes (docs/design/precision.md): which a run takes, what its results are worth, and what the
 * verifier says of them. The tables of the engines run both kinds in all ways. */
#include "engine/checkpoint_scene.h"

#include "programs/verify/verify.h"
#include "run/result.h"
#include "run/verify_run.h"

#include <math.h>

/* A path whose edges weigh `weight`, and a way around every ten of them that is longer. */
static td_graph *path_of(uint32_t edges, double weight, bool doubles)
{
    td_edge_list *list = NULL;
    td_edge_chunk *chunk = NULL;
    td_graph *graph = NULL;
    CHECK_OK(td_edges_create(&list, "path"));
    if (doubles) CHECK_OK(td_edges_use_doubles(list));
    CHECK_OK(td_edges_chunk(list, 0, &chunk));
    list->declared = list->weighted = true;
    list->vertices = edges + 1;
    CHECK_OK(td_chunk_reserve(chunk, 2 * (uint64_t)edges, true));
    for (uint32_t v = 0; v < edges; v++) {
        CHECK_OK(td_chunk_put(chunk, v, v + 1));
        td_chunk_weight_double(chunk, weight);
        if (v % 10 != 0 || v + 10 > edges) continue;
        CHECK_OK(td_chunk_put(chunk, v, v + 10));
        td_chunk_weight_double(chunk, 11 * weight);
    }
    CHECK_OK(td_graph_build(&graph, list, &(td_build_options){0}, NULL));
    td_edges_destroy(list);
    return graph;
}

static td_graph *long_path(uint32_t edges, float weight) { return path_of(edges, (double)weight, false); }

static double farthest_off(const td_run *run, double weight)
{
    double most = 0;
    for (uint32_t v = 1; v < run->graph->vertices; v++) {
        double value;
        CHECK(td_run_value(run, v, &value));
        most = fmax(most, fabs(value / (v * weight) - 1));
    }
    return most;
}

/* The bound that the verifier says; 0: none. */
static double bound_said(const td_run *run)
{
    const char *claims = NULL;
    double bound = 0;
    CHECK_OK(td_run_verify(run, NULL, &claims));
    const char *at = strstr(claims, "within ");
    if (at != NULL) CHECK(sscanf(at, "within %lf, relative", &bound) == 1);
    return bound;
}

TEST(distances_over_real_weights_are_sums_of_doubles_on_every_engine)
{
    static const struct {
        const char *engine, *devices, *settings;
        double gpu_edges;
    } places[] = {{"cpu", NULL, "", 0},
                  {"cpu", NULL, "cpu.direction=pull", 0},
                  {"cpu", NULL, "cpu.direction=push", 0},
                  {"resident", "emu@unchecked", "", 0},
                  {"stream", "emu@unchecked", "", 0.25},
                  {"coop", "emu@unchecked", "", 0.4},
                  {"hybrid", NULL, "", 0},
                  {"hybrid", "emu@unchecked", "hybrid.use=gpu", 0},
                  {"multi", "emu:2@unchecked", "", 0}};
    td_graph *graph = long_path(600, 0.1f);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        td_run_options options = {.engine = places[i].engine, .devices = places[i].devices, .has_source = true,
                                  .gpu_edges = places[i].gpu_edges};
        td_run *run = run_of("sssp", graph, options, places[i].settings);
        CHECK_EQ(run->kind, TD_VALUE_F64);
        double off = farthest_off(run, (double)0.1f), bound = bound_said(run);
        if (!(off <= 1e-13 && bound >= off && bound < 1e-12))
            TEST_FAIL("%s %s: off by %g, the bound is %g", places[i].engine, places[i].settings, off, bound);
        td_run_destroy(run);
    }
    td_graph_destroy(graph);
}

TEST(single_precision_is_a_request_and_its_bound_is_honest)
{
    td_graph *graph = long_path(30000, 0.1f);
    td_run *single = run_of("sssp", graph, (td_run_options){.has_source = true}, "sssp.precision=single"),
           *wide = run_of("sssp", graph, (td_run_options){.has_source = true}, "");
    CHECK_EQ(single->kind, TD_VALUE_F32);
    CHECK(farthest_off(single, (double)0.1f) > 1e-4); /* what the second instance is for */
    CHECK(bound_said(single) >= farthest_off(single, (double)0.1f));
    CHECK(farthest_off(wide, (double)0.1f) < 1e-12);
    CHECK(bound_said(wide) >= farthest_off(wide, (double)0.1f));
    CHECK(bound_said(wide) < 1e-11);
    ((double *)wide->values)[20000] *= 1 + 0x1p-50; /* four units in the last place */
    const char *claims;
    CHECK_STATUS(td_run_verify(wide, NULL, &claims), TD_VERIFY);
    td_run_destroy(single);
    td_run_destroy(wide);
    td_graph_destroy(graph);
}

/* 0 -> 1 -> ... -> 5, each of `weight`. */
static td_graph *heavy_path(uint32_t weight)
{
    static const uint32_t ends[][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}};
    const uint32_t weights[] = {weight, weight, weight, weight, weight};
    return test_graph_of(7, ends, weights, 5, false);
}

TEST(integer_distances_beyond_32_bits_are_computed_again)
{
    td_graph *far = heavy_path(UINT32_MAX), *near = heavy_path(800000000);
    td_run *run = run_of("sssp", far, (td_run_options){.has_source = true, .parents = true}, "");
    const char *claims;
    double value;
    CHECK_EQ(run->kind, TD_VALUE_U64);
    for (uint64_t v = 0; v < 6; v++) CHECK_EQ(((const uint64_t *)run->values)[v], v * UINT32_MAX);
    CHECK_EQ(((const uint64_t *)run->values)[6], TD_UNREACHED_U64);
    CHECK(!td_run_value(run, 6, &value));
    CHECK_OK(td_run_verify(run, NULL, &claims));
    ((uint64_t *)run->values)[5]--;
    CHECK_STATUS(td_run_verify(run, NULL, &claims), TD_VERIFY);
    td_run_destroy(run);
    run = run_of("sssp", near, (td_run_options){.has_source = true}, ""); /* 4,000,000,000 fits */
    CHECK_EQ(run->kind, TD_VALUE_U32);
    td_run *wide = run_of("sssp", near, (td_run_options){.has_source = true}, "sssp.precision=double");
    td_run_summary one, other;
    CHECK_OK(td_run_summarise(run, NULL, &one));
    CHECK_OK(td_run_summarise(wide, NULL, &other));
    CHECK_EQ(wide->kind, TD_VALUE_U64);
    CHECK_EQ(one.digest, other.digest);
    td_run_destroy(run);
    td_run_destroy(wide);
    td_graph_destroy(far);
    td_graph_destroy(near);
}

TEST(the_digest_tells_the_distance_of_32_one_bits_from_none)
{
    td_graph *graph = heavy_path(UINT32_MAX);
    td_run *run = run_of("sssp", graph, (td_run_options){.has_source = true}, "");
    td_run_summary reached, unreached;
    CHECK_EQ(((const uint64_t *)run->values)[1], TD_UNREACHED);
    CHECK_OK(td_run_summarise(run, NULL, &reached));
    ((uint64_t *)run->values)[1] = TD_UNREACHED_U64;
    CHECK_OK(td_run_summarise(run, NULL, &unreached));
    CHECK(reached.digest != unreached.digest);
    td_run_destroy(run);
    td_graph_destroy(graph);
}

/* Distances beyond 2^53 are told apart, though no double can. */
TEST(the_largest_distances_are_exact)
{
    td_graph *graph = heavy_path(1);
    uint64_t distances[7] = {0, UINT64_C(1) << 60, 0, 0, 0, 0, TD_UNREACHED_U64};
    for (int v = 2; v < 6; v++) distances[v] = distances[v - 1] + 1;
    CHECK_STATUS(td_verify_sssp(graph, 0, TD_VALUE_U64, distances, NULL, NULL, NULL), TD_VERIFY);
    td_graph_destroy(graph);
}

TEST(a_checkpoint_decides_the_width_of_the_run_that_resumes)
{
    scene *self = open_scene();
    td_graph *made = self->graph;
    td_run *run = NULL;
    self->graph = long_path(300, 0.5f);
    leave_one(self, "sssp", 2, false, "sssp.precision=single");
    CHECK_OK(resume(self, &run, "sssp", "")); /* as one written before there were two instances */
    CHECK_EQ(run->kind, TD_VALUE_F32);
    td_run_destroy(run);
    CHECK_STATUS(resume(self, &run, "sssp", "sssp.precision=double"), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "has values of 4 bytes");
    CHECK_CONTAINS(td_last_message(), "give sssp.precision=single");
    td_graph_destroy(self->graph);
    self->graph = made;
    close_scene(self);
}

/* A run that writes checkpoints is not repeated: it begins with 64 bits where 32 may be too few. */
TEST(checkpoints_have_the_width_of_the_result)
{
    scene *self = open_scene();
    td_graph *made = self->graph;
    td_run *run = NULL;
    self->graph = heavy_path(UINT32_MAX);
    td_run_options options = {.has_source = true, .checkpoint = self->folder, .every = 1};
    CHECK_OK(attempt(self, &run, "sssp", options, ""));
    CHECK_EQ(run->kind, TD_VALUE_U64);
    CHECK(run->checkpoint_stats.written > 0);
    td_run_destroy(run);
    options = (td_run_options){.has_source = true, .resume = self->folder};
    CHECK_OK(attempt(self, &run, "sssp", options, ""));
    CHECK_EQ(((const uint64_t *)run->values)[5], UINT64_C(5) * UINT32_MAX);
    td_run_destroy(run);
    td_graph_destroy(self->graph);
    self->graph = made;
    close_scene(self);
}

/* As floats the weights alone would be off by 1.5e-8. */
TEST(weights_of_64_bits_are_added_as_they_are)
{
    td_graph *graph = path_of(2000, 0.1, true);
    td_run_options options = {.has_source = true};
    td_run *run = run_of("sssp", graph, options, "");
    CHECK_EQ(run->kind, TD_VALUE_F64);
    CHECK(farthest_off(run, 0.1) < 1e-12);
    td_run_destroy(run);
    run = run_of("sssp", graph, options, "sssp.precision=single");
    CHECK_EQ(run->kind, TD_VALUE_F32);
    CHECK(farthest_off(run, 0.1) > 1e-9 && farthest_off(run, 0.1) < 1e-4);
    td_run_destroy(run);
    td_graph_destroy(graph);
}

TEST(a_distance_beyond_all_doubles_is_refused)
{
    td_graph *graph = path_of(3, 1e308, true);
    td_run_options options = {.has_source = true};
    td_run *run = NULL;
    CHECK_STATUS(try_run(&run, "sssp", graph, options, ""), TD_LIMIT);
    CHECK_CONTAINS(td_last_message(), "the largest 64-bit float");
    td_graph_destroy(graph);
}

TEST(a_tolerance_below_single_precision_takes_doubles)
{
    scene *self = open_scene();
    td_run_options options = {.has_tolerance = true, .tolerance = 1e-12};
    td_run *run = run_of("pagerank", self->graph, options, ""), *none = NULL;
    CHECK_EQ(run->kind, TD_VALUE_F64);
    CHECK(run->converged && run->iterations < 200);
    td_run_destroy(run);
    CHECK_STATUS(try_run(&none, "pagerank", self->graph, options, "pagerank.precision=single"), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "single precision");
    options.tolerance = 1e-17;
    CHECK_STATUS(try_run(&none, "pagerank", self->graph, options, ""), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "double precision");
    run = run_of("pagerank", self->graph, (td_run_options){0}, "");
    CHECK_EQ(run->kind, TD_VALUE_F32);
    td_run_destroy(run);
    leave_one(self, "pagerank", 2, false, "");
    options = (td_run_options){.has_tolerance = true, .tolerance = 1e-12, .resume = self->folder};
    CHECK_STATUS(attempt(self, &none, "pagerank", options, ""), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "the checkpoint's values have that");
    close_scene(self);
}

TEST_MAIN
