/* Weights of 64-bit floats: kept to the last bit from a text to the file, ordered as such, turned back into 32-bit ones on
 * request; what they allow that others do not, and what they refuse. */
#include "programs/graphs.h"

#include "base/alloc.h"
#include "engine/engine.h"
#include "programs/reference.h"
#include "store/formats/format.h"
#include "store/packed.h"
#include "store/ranks.h"

#include <math.h>
#include <stdlib.h>

static const td_build_options doubles = {.weights_as = TD_WEIGHT_F64};

static td_status read_text(td_graph **out, const char *text, const td_build_options *build, td_pool *pool)
{
    *out = NULL;
    test_write_file(test_path("g.txt"), text, strlen(text));
    return td_graph_read(out, test_path("g.txt"), NULL, build, pool);
}

static td_graph *graph_of(const char *text, const td_build_options *build)
{
    td_graph *graph = NULL;
    CHECK_OK(read_text(&graph, text, build, NULL));
    CHECK_OK(td_graph_check(graph, NULL));
    return graph;
}

static void refuse(const char *text, const td_build_options *build, const char *line, const char *why)
{
    td_graph *graph = NULL;
    CHECK(read_text(&graph, text, build, NULL) != TD_OK);
    CHECK(graph == NULL);
    CHECK_CONTAINS(td_last_message(), line);
    CHECK_CONTAINS(td_last_message(), why);
}

static void check_weights(const td_graph *graph, td_weight_kind kind, const double *wanted)
{
    CHECK_EQ(graph->weights, kind);
    for (uint64_t e = 0; e < graph->edges; e++) {
        double seen = td_weight_at(graph, &graph->out, e);
        if (seen != wanted[e]) TEST_FAIL("the weight of edge %d is %.17g, not %.17g", (int)e, seen, wanted[e]);
    }
}

TEST(weights_of_a_text_are_kept_to_the_last_bit)
{
    const char *text = "0 1 0.1\n0 2 -1e300\n1 2 9007199254740992\n2 0 4.9e-324\n2 1 7\n";
    const double wanted[] = {0.1, -1e300, 9007199254740992.0, 4.9e-324, 7};
    td_graph *graph = graph_of(text, &doubles), *other = NULL;
    check_weights(graph, TD_WEIGHT_F64, wanted);
    CHECK(graph->weight_min == -1e300 && graph->weight_max == 9007199254740992.0);
    static const char *const formats[] = {"g.tg", "g.el", "g.mtx"};
    for (int i = 0; i < 3; i++) { /* through files of every kind that can have them */
        CHECK_OK(td_graph_write(graph, test_path(formats[i]), NULL, NULL));
        CHECK_OK(td_graph_read(&other, test_path(formats[i]), NULL, &doubles, NULL));
        check_weights(other, TD_WEIGHT_F64, wanted);
        td_graph_destroy(other);
    }
    td_graph_destroy(graph);
}

/* As 32-bit floats the two are one weight, and the first by position would be kept. */
TEST(the_lightest_of_parallel_edges_is_found_by_all_bits)
{
    const char *text = "0 1 1.00000000000000022\n0 1 1\n1 0 2\n0 1 1.00000000000000044\n";
    const double all[] = {1, 1.0000000000000002, 1.0000000000000004, 2}, lightest[] = {1, 2};
    td_build_options dedup = {.dedup = true, .weights_as = TD_WEIGHT_F64};
    td_graph *graph = graph_of(text, &doubles);
    CHECK_EQ(graph->edges, 4);
    check_weights(graph, TD_WEIGHT_F64, all);
    CHECK_OK(td_graph_rebuild(&graph, &(td_build_options){.dedup = true}, NULL)); /* a rebuilt graph keeps them */
    CHECK_EQ(graph->edges, 2);
    check_weights(graph, TD_WEIGHT_F64, lightest);
    td_graph_destroy(graph);
    graph = graph_of(text, &dedup);
    check_weights(graph, TD_WEIGHT_F64, lightest);
    td_graph_destroy(graph);
}

TEST(a_graph_of_doubles_becomes_one_of_floats_on_request)
{
    const td_build_options floats = {.weights_as = TD_WEIGHT_F32};
    const double wanted[] = {(double)0.1f, 3};
    td_graph *graph = graph_of("0 1 0.1\n1 0 3\n", &doubles);
    CHECK_OK(td_graph_rebuild(&graph, &floats, NULL));
    check_weights(graph, TD_WEIGHT_F32, wanted);
    td_graph_destroy(graph);
    graph = graph_of("0 1 2\n1 0 3\n", &floats); /* integers too */
    check_weights(graph, TD_WEIGHT_F32, (const double[]){2, 3});
    td_graph_destroy(graph);
    static const char *const beyond[] = {"0 1 1e300\n", "0 1 1e-300\n"};
    for (int i = 0; i < 2; i++) {
        graph = graph_of(beyond[i], &doubles);
        CHECK_STATUS(td_graph_rebuild(&graph, &floats, NULL), TD_LIMIT);
        CHECK(graph == NULL);
        CHECK_CONTAINS(td_last_message(), "no 32-bit float holds");
    }
}

TEST(weights_that_no_kind_holds_are_refused_with_their_line)
{
    const td_build_options none = {0};
    refuse("0 1 1\n0 2 1e39\n", &none, "g.txt:2", "; weights f64 keeps it");
    refuse("0 1 1\n0 2 1e-50\n", &none, "g.txt:2", "; weights f64 keeps it");
    refuse("0 1 1\n0 2 4294967296\n", &none, "g.txt:2", "f64 allows 2^53");
    refuse("0 1 1\n0 2 9007199254740993\n", &doubles, "g.txt:2", "2^53");
    refuse("0 1 1\n0 2 1e-400\n", &doubles, "g.txt:2", "4.9e-324");
    /* No advice against what was asked for. */
    td_build_options dropped = {.drop_weights = true}, drawn = {0}, floats = {.weights_as = TD_WEIGHT_F32};
    td_build_options *const asked[] = {&dropped, &drawn, &floats};
    CHECK_OK(td_parse_weights("1:5", &drawn));
    for (int i = 0; i < 3; i++)
        for (int text = 0; text < 3; text++) {
            static const char *const beyond[] = {"0 1 1\n0 2 1e39\n", "0 1 1\n0 2 1e-50\n", "0 1 1\n0 2 4294967296\n"};
            refuse(beyond[text], asked[i], "g.txt:2", "the weight ");
            CHECK(strstr(td_last_message(), "f64") == NULL);
        }
    td_build_options as = {0};
    CHECK_STATUS(td_parse_weights("f16", &as), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "f64");
}

/* Ranks order edges like the weights, and td_weight_at sees through them. */
/* Means divide by the sum of the weights. */
TEST(weights_whose_sum_no_double_divides_by_are_refused)
{
    static const char *const texts[] = {"0 2 1e308\n1 2 1.5e308\n2 0 1\n", "0 2 1e-310\n1 2 1e-310\n2 0 1\n"};
    for (int i = 0; i < 2; i++) {
        td_graph *graph = graph_of(texts[i], &doubles);
        td_run *run = NULL;
        td_run_options options = {.engine = "cpu"};
        CHECK_STATUS(td_run_program(&run, td_program_named("adsorption"), graph, &options), TD_LIMIT);
        CHECK_CONTAINS(td_last_message(), "vertex 2");
        td_graph_destroy(graph);
    }
}

TEST(ranks_are_those_of_the_weights)
{
    for (int symmetric = 0; symmetric < 2; symmetric++) {
        td_graph *graph = test_graph(test_graph_named(symmetric ? "rmat 14, clean" : "rmat 10"), TEST_F64, NULL);
        const td_graph *ranked = NULL, *again = NULL;
        CHECK_OK(td_graph_ranked(graph, NULL, &ranked));
        CHECK_EQ(ranked->weights, TD_WEIGHT_U32);
        const td_adjacency *lists[] = {&graph->out, &graph->in}, *ranks[] = {&ranked->out, &ranked->in};
        for (int i = 0; i < 2; i++)
            for (uint64_t e = 0; e < graph->edges; e++) {
                CHECK(td_weight_at(ranked, ranks[i], e) == td_weight_at(graph, lists[i], e));
                if (e == 0) continue;
                const uint32_t *rank = ranks[i]->weights;
                const double *weight = lists[i]->weights;
                CHECK((rank[e] < rank[e - 1]) == (weight[e] < weight[e - 1]));
            }
        CHECK_OK(td_graph_ranked(graph, NULL, &again));
        CHECK(again == ranked);
        td_graph_destroy(graph);
    }
}

TEST(every_failing_allocation_is_an_error_without_a_leak)
{
    const char *text = "5 1 0.1\n1 900000000000 0.2\n5 1 0.3\n3 5 1e-9\n";
    uint64_t held = td_memory().now;
    bool done = false;
    for (uint64_t nth = 1; !done && nth < 1000; nth++) {
        td_graph *graph = NULL;
        const td_graph *ranked = NULL;
        td_alloc_fail_at(nth);
        td_status status = read_text(&graph, text, &doubles, NULL);
        if (status == TD_OK) status = td_graph_ranked(graph, NULL, &ranked);
        td_alloc_fail_at(0);
        if (status != TD_OK) CHECK_STATUS(status, TD_NO_MEMORY);
        if (status != TD_OK) CHECK(td_last_message()[0] != '\0');
        done = status == TD_OK;
        td_graph_destroy(graph);
        CHECK_EQ(td_memory().now, held);
    }
    CHECK(done);
}

TEST_MAIN
