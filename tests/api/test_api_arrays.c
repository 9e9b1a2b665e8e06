/* The API: graphs from the arrays of other programs, without copies where their types allow, and a graph's arrays. */
#include "map.h"

#include <math.h>
#include <stdio.h>

enum { VERTICES = 4, ROWS_EDGES = 5 };

/* 0 -> 1, 2; 1 -> 3; 2 -> 3; 3 -> 0 */
static const uint64_t offsets64[] = {0, 2, 3, 4, 5};
static const int32_t offsets32[] = {0, 2, 3, 4, 5};
static const uint32_t targets32[] = {1, 2, 3, 3, 0};
static const int64_t targets64[] = {1, 2, 3, 3, 0};
static const float reals[] = {0.5f, 2, 1, 0.25f, 8};
static const double doubles[] = {0.5, 2, 1, 0.25, 8};

static int released;
static void release(void *context) { released += *(int *)context; }
static int one = 1;

static td_csr rows_of(td_array weights)
{
    released = 0;
    return (td_csr){.size = sizeof(td_csr), .vertices = VERTICES, .edges = ROWS_EDGES,
                    .offsets = {offsets64, TD_TYPE_U64}, .targets = {targets32, TD_TYPE_U32}, .weights = weights,
                    .release = release, .context = &one};
}

static td_graph_parts parts_of(const td_graph *graph)
{
    td_graph_parts parts = {.size = sizeof parts};
    CHECK_OK(td_graph_describe_parts(graph, &parts));
    return parts;
}

/* The same graph from edges in 64-bit arrays, as a reference. */
static uint64_t expected_digest(td_session *session, const float *weights)
{
    static const uint64_t from[] = {0, 0, 1, 2, 3}, to[] = {1, 2, 3, 3, 0};
    td_edges edges = {.size = sizeof edges, .count = ROWS_EDGES, .sources = from, .targets = to,
                      .real_weights = weights, .vertices = VERTICES};
    td_graph *graph = NULL;
    uint64_t digest = 0;
    CHECK_OK(td_graph_from_edges(session, &edges, NULL, &graph));
    CHECK_OK(td_graph_digest_of(session, graph, &digest));
    td_graph_destroy(graph);
    return digest;
}

static uint64_t digest_of(td_session *session, const td_graph *graph)
{
    uint64_t digest = 0;
    CHECK_OK(td_graph_digest_of(session, graph, &digest));
    return digest;
}

TEST(rows_of_the_stored_types_are_taken_without_a_copy)
{
    td_session *session = session_of(2);
    td_graph *graph = NULL;
    td_csr rows = rows_of((td_array){reals, TD_TYPE_F32});
    CHECK_OK(td_graph_from_csr(session, &rows, NULL, &graph));
    td_graph_parts parts = parts_of(graph);
    CHECK(parts.offsets == offsets64 && parts.targets == targets32 && parts.weights.data == reals);
    CHECK(parts.borrows_offsets && parts.borrows_targets && parts.borrows_weights);
    CHECK_EQ(parts.weights.type, TD_TYPE_F32);
    CHECK_EQ(digest_of(session, graph), expected_digest(session, reals));
    CHECK_EQ(released, 0);
    td_graph_destroy(graph);
    CHECK_EQ(released, 1);
    td_session_destroy(session);
}

TEST(rows_of_other_types_are_converted_and_released_at_once)
{
    td_session *session = session_of(2);
    td_graph *graph = NULL;
    td_csr rows = rows_of((td_array){doubles, TD_TYPE_F64});
    rows.offsets = (td_array){offsets32, TD_TYPE_I32};
    rows.targets = (td_array){targets64, TD_TYPE_I64};
    CHECK_OK(td_graph_from_csr(session, &rows, NULL, &graph));
    CHECK_EQ(released, 1);
    td_graph_parts parts = parts_of(graph);
    CHECK(!parts.borrows_offsets && !parts.borrows_targets && !parts.borrows_weights);
    CHECK_EQ(digest_of(session, graph), expected_digest(session, reals));
    td_graph_destroy(graph);
    CHECK_EQ(released, 1);
    td_session_destroy(session);
}

/* Reals that no 32-bit float holds. */
TEST(doubles_are_kept_on_request)
{
    static const double exact[] = {0.1, 1e-300, 1, 1.0 / 3, 1e300};
    static const uint64_t from[] = {0, 0, 1, 2, 3}, to[] = {1, 2, 3, 3, 0};
    td_session *session = session_of(2);
    td_graph_options options = {.size = sizeof options, .weights = "f64"};
    td_edge_arrays edges = {.size = sizeof edges, .count = ROWS_EDGES, .sources = {from, TD_TYPE_U64},
                            .targets = {to, TD_TYPE_U64}, .weights = {exact, TD_TYPE_F64}, .vertices = VERTICES};
    td_csr rows = rows_of((td_array){exact, TD_TYPE_F64});
    td_graph *graphs[2] = {NULL, NULL};
    CHECK_OK(td_graph_from_csr(session, &rows, &options, &graphs[0]));
    CHECK_EQ(released, 1);
    CHECK_OK(td_graph_from_arrays(session, &edges, &options, &graphs[1]));
    for (int i = 0; i < 2; i++) {
        td_graph_parts parts = parts_of(graphs[i]);
        CHECK_STR(td_graph_weights(graphs[i]), "f64");
        CHECK_EQ(parts.weights.type, TD_TYPE_F64);
        CHECK(memcmp(parts.weights.data, exact, sizeof exact) == 0);
        td_graph_destroy(graphs[i]);
    }
    rows = rows_of((td_array){exact, TD_TYPE_F64});
    CHECK_STATUS(td_graph_from_csr(session, &rows, NULL, &graphs[0]), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "f64");
    td_session_destroy(session);
}

TEST(without_release_everything_is_copied)
{
    td_session *session = session_of(1);
    td_graph *graph = NULL;
    td_csr rows = rows_of((td_array){reals, TD_TYPE_F32});
    rows.release = NULL;
    CHECK_OK(td_graph_from_csr(session, &rows, NULL, &graph));
    td_graph_parts parts = parts_of(graph);
    CHECK(parts.offsets != offsets64 && parts.targets != targets32 && parts.weights.data != reals);
    CHECK_EQ(digest_of(session, graph), expected_digest(session, reals));
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(rows_out_of_order_are_sorted_in_a_copy)
{
    static const uint32_t mixed[] = {2, 1, 3, 3, 0};
    static const float weights[] = {2, 0.5f, 1, 0.25f, 8};
    td_session *session = session_of(2);
    td_graph *graph = NULL;
    td_csr rows = rows_of((td_array){weights, TD_TYPE_F32});
    rows.targets.data = mixed;
    CHECK_OK(td_graph_from_csr(session, &rows, NULL, &graph));
    CHECK_EQ(released, 1);
    CHECK_EQ(digest_of(session, graph), expected_digest(session, reals));
    CHECK_EQ(mixed[0], 2);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(parallel_edges_are_put_in_the_order_of_their_weights)
{
    static const uint64_t offsets[] = {0, 3, 3};
    static const uint32_t targets[] = {1, 1, 1};
    static const float weights[] = {3, 1, 2};
    td_session *session = session_of(1);
    td_graph *graph = NULL;
    td_csr rows = rows_of((td_array){weights, TD_TYPE_F32});
    rows.vertices = 2;
    rows.edges = 3;
    rows.offsets.data = offsets;
    rows.targets.data = targets;
    CHECK_OK(td_graph_from_csr(session, &rows, NULL, &graph));
    td_graph_parts parts = parts_of(graph);
    CHECK(parts.borrows_targets && !parts.borrows_weights);
    CHECK_EQ(((const float *)parts.weights.data)[0], 1);
    CHECK_EQ(weights[0], 3);
    td_graph_destroy(graph);
    CHECK_EQ(released, 1);
    td_session_destroy(session);
}

TEST(integer_weights_are_narrowed_and_negative_ones_are_reals)
{
    static const int64_t small[] = {1, 2, 3, 4, 200}, below[] = {1, -2, 3, 4, 5};
    static const uint64_t huge[] = {1, 2, 3, 4, UINT64_C(1) << 32};
    td_session *session = session_of(1);
    td_graph *graph = NULL;
    td_csr rows = rows_of((td_array){small, TD_TYPE_I64});
    CHECK_OK(td_graph_from_csr(session, &rows, NULL, &graph));
    CHECK_STR(td_graph_weights(graph), "u8");
    td_graph_destroy(graph);
    rows = rows_of((td_array){below, TD_TYPE_I64});
    CHECK_OK(td_graph_from_csr(session, &rows, NULL, &graph));
    CHECK_STR(td_graph_weights(graph), "f32");
    double lowest, highest;
    CHECK(td_graph_weight_range(graph, &lowest, &highest) && lowest == -2 && highest == 5);
    td_graph_destroy(graph);
    rows = rows_of((td_array){huge, TD_TYPE_U64});
    CHECK_STATUS(td_graph_from_csr(session, &rows, NULL, &graph), TD_LIMIT);
    CHECK_CONTAINS(td_last_message(), "weights[4]");
    CHECK_EQ(released, 0);
    td_session_destroy(session);
}

TEST(options_that_change_the_graph_make_it_a_copy)
{
    td_session *session = session_of(1);
    td_graph *graph = NULL;
    td_graph_options options = {.size = sizeof options, .symmetrize = true};
    td_csr rows = rows_of((td_array){reals, TD_TYPE_F32});
    CHECK_OK(td_graph_from_csr(session, &rows, &options, &graph));
    CHECK_EQ(released, 1);
    CHECK(td_graph_symmetric(graph));
    CHECK_EQ(td_graph_edges(graph), 2 * ROWS_EDGES);
    td_graph_destroy(graph);
    options = (td_graph_options){.size = sizeof options, .drop_weights = true};
    rows = rows_of((td_array){reals, TD_TYPE_F32});
    CHECK_OK(td_graph_from_csr(session, &rows, &options, &graph));
    CHECK_STR(td_graph_weights(graph), "none");
    CHECK(parts_of(graph).borrows_targets);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(symmetric_rows_have_one_adjacency)
{
    static const uint64_t offsets[] = {0, 1, 2};
    static const uint32_t targets[] = {1, 0};
    td_session *session = session_of(1);
    td_graph *graph = NULL;
    td_csr rows = {.size = sizeof rows, .vertices = 2, .edges = 2, .offsets = {offsets, TD_TYPE_U64},
                   .targets = {targets, TD_TYPE_U32}, .release = release, .context = &one};
    CHECK_OK(td_graph_from_csr(session, &rows, NULL, &graph));
    CHECK(td_graph_symmetric(graph));
    CHECK(parts_of(graph).in_targets == targets);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

static void expect_refusal(td_session *session, const td_csr *rows, const char *words)
{
    td_graph *graph = NULL;
    released = 0;
    CHECK_STATUS(td_graph_from_csr(session, rows, NULL, &graph), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), words);
    CHECK_EQ(released, 0);
    CHECK(graph == NULL);
}

TEST(rows_that_are_wrong_are_refused_with_their_place)
{
    static const int32_t beyond[] = {1, 2, 3, 4, 0}, negative[] = {1, -2, 3, 3, 0};
    static const uint64_t falling[] = {0, 3, 2, 4, 5}, short_by_one[] = {0, 2, 3, 4, 4};
    static const int64_t wide[] = {1, 2, 3, 3, INT64_C(1) << 40};
    static const float endless[] = {1, 2, INFINITY, 4, 5};
    td_session *session = session_of(1);
    td_csr rows = rows_of((td_array){0});
    rows.targets = (td_array){beyond, TD_TYPE_I32};
    expect_refusal(session, &rows, "targets[3] is 4; there are 4 vertices");
    rows.targets = (td_array){negative, TD_TYPE_I32};
    expect_refusal(session, &rows, "targets[1] is -2");
    rows.targets = (td_array){wide, TD_TYPE_I64};
    expect_refusal(session, &rows, "targets[4] is 1099511627776");
    rows = rows_of((td_array){0});
    rows.offsets.data = falling;
    expect_refusal(session, &rows, "offsets[2] is 2");
    rows.offsets.data = short_by_one;
    expect_refusal(session, &rows, "from 0 to 4");
    rows = rows_of((td_array){endless, TD_TYPE_F32});
    expect_refusal(session, &rows, "weights[2]");
    rows = rows_of((td_array){0});
    rows.targets.type = TD_TYPE_F32;
    expect_refusal(session, &rows, "integers");
    rows.targets.type = (td_type)99;
    expect_refusal(session, &rows, "td_type");
    td_session_destroy(session);
}

TEST(edges_of_every_type_give_the_same_graph)
{
    static const uint8_t from8[] = {0, 0, 1, 2, 3}, to8[] = {1, 2, 3, 3, 0};
    static const int16_t from16[] = {0, 0, 1, 2, 3};
    static const int64_t to64[] = {1, 2, 3, 3, 0};
    td_session *session = session_of(2);
    td_graph *graph = NULL;
    td_edge_arrays edges = {.size = sizeof edges, .count = ROWS_EDGES, .sources = {from8, TD_TYPE_U8},
                            .targets = {to8, TD_TYPE_U8}, .weights = {doubles, TD_TYPE_F64}, .vertices = VERTICES};
    CHECK_OK(td_graph_from_arrays(session, &edges, NULL, &graph));
    CHECK_EQ(digest_of(session, graph), expected_digest(session, reals));
    td_graph_destroy(graph);
    edges.sources = (td_array){from16, TD_TYPE_I16};
    edges.targets = (td_array){to64, TD_TYPE_I64};
    CHECK_OK(td_graph_from_arrays(session, &edges, NULL, &graph));
    CHECK_EQ(digest_of(session, graph), expected_digest(session, reals));
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(edges_that_are_wrong_are_refused_with_their_place)
{
    static const int32_t from[] = {0, 1, -7}, to[] = {1, 2, 0};
    static const double endless[] = {1, NAN, 3};
    static const uint32_t fine[] = {0, 1, 2};
    td_session *session = session_of(1);
    td_graph *graph = NULL;
    td_edge_arrays edges = {.size = sizeof edges, .count = 3, .sources = {from, TD_TYPE_I32},
                            .targets = {to, TD_TYPE_I32}};
    CHECK_STATUS(td_graph_from_arrays(session, &edges, NULL, &graph), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "sources[2] is -7");
    edges.sources = (td_array){fine, TD_TYPE_U32};
    edges.weights = (td_array){endless, TD_TYPE_F64};
    CHECK_STATUS(td_graph_from_arrays(session, &edges, NULL, &graph), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "weights[1]");
    static const double tiny[] = {1, 3, 1e-300};
    edges.weights.data = tiny;
    CHECK_STATUS(td_graph_from_arrays(session, &edges, NULL, &graph), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "weights[2]");
    edges.weights.data = NULL;
    edges.sources.data = NULL;
    CHECK_STATUS(td_graph_from_arrays(session, &edges, NULL, &graph), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "sources");
    CHECK(graph == NULL);
    td_session_destroy(session);
}

TEST(options_of_files_are_refused_for_arrays)
{
    td_session *session = session_of(1);
    td_graph *graph = NULL;
    td_csr rows = rows_of((td_array){reals, TD_TYPE_F32});
    td_graph_options columns = {.size = sizeof columns, .columns = "source,target"},
                     mapped = {.size = sizeof mapped, .edges = TD_PLACE_MAPPED},
                     check = {.size = sizeof check, .check = true};
    td_edge_arrays edges = {.size = sizeof edges, .count = ROWS_EDGES, .sources = {targets32, TD_TYPE_U32},
                            .targets = {targets32, TD_TYPE_U32}};
    CHECK_STATUS(td_graph_from_csr(session, &rows, &columns, &graph), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "columns");
    CHECK_STATUS(td_graph_from_csr(session, &rows, &mapped, &graph), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "in memory");
    CHECK_STATUS(td_graph_from_csr(session, &rows, &check, &graph), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "checked in any case");
    CHECK_STATUS(td_graph_from_arrays(session, &edges, &check, &graph), TD_USAGE);
    td_session_destroy(session);
}

/* The same numbers one byte further. */
static td_array shifted(char memory[64], const void *data, size_t bytes, td_type type)
{
    memcpy(memory + 1, data, bytes);
    return (td_array){memory + 1, type};
}

TEST(arrays_that_are_not_aligned_are_refused)
{
    static const uint64_t offsets[] = {0, 1, 2};
    static const uint32_t targets[] = {1, 0};
    static const float weights[] = {1, 2};
    _Alignas(8) char memory[64];
    td_session *session = session_of(1);
    td_csr rows = {.size = sizeof rows, .vertices = 2, .edges = 2, .offsets = {offsets, TD_TYPE_U64},
                   .targets = {targets, TD_TYPE_U32}, .weights = {weights, TD_TYPE_F32}};
    td_edge_arrays edges = {.size = sizeof edges, .count = 2, .sources = {targets, TD_TYPE_U32},
                            .targets = {targets, TD_TYPE_U32}};
    td_graph *graph = NULL;
    td_csr wrong = rows;
    wrong.offsets = shifted(memory, offsets, sizeof offsets, TD_TYPE_U64);
    CHECK_EQ(td_graph_from_csr(session, &wrong, NULL, &graph), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "td_csr.offsets.data is at an address that is no multiple of 8");
    wrong = rows;
    wrong.targets = shifted(memory, targets, sizeof targets, TD_TYPE_U32);
    CHECK_EQ(td_graph_from_csr(session, &wrong, NULL, &graph), TD_INVALID);
    wrong = rows;
    wrong.weights = shifted(memory, weights, sizeof weights, TD_TYPE_F32);
    CHECK_EQ(td_graph_from_csr(session, &wrong, NULL, &graph), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "weights.data");
    edges.sources = shifted(memory, targets, sizeof targets, TD_TYPE_U32);
    CHECK_EQ(td_graph_from_arrays(session, &edges, NULL, &graph), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "td_edge_arrays.sources.data");
    edges.sources = shifted(memory, "\0\1", 2, TD_TYPE_U8); /* a byte may be anywhere */
    edges.targets = (td_array){"\1\0", TD_TYPE_U8};
    CHECK_OK(td_graph_from_arrays(session, &edges, NULL, &graph));
    td_graph_destroy(graph);
    td_session_destroy(session);
}

/* Names, and the graph of distinct neighbours that a run left behind, stay the first graph's. */
TEST(a_reversed_graph_of_names_frees_nothing_of_the_other)
{
    td_session *session = session_of(1);
    td_graph *graph = NULL, *turned = NULL;
    td_result *result = NULL;
    const char *settings[] = {"kcore.degree=neighbours", NULL};
    td_request request = {.size = sizeof request, .settings = settings};
    FILE *file = fopen(test_path("names.csv"), "w");
    fputs("ann,bob\nbob,eve\neve,ann\n", file);
    fclose(file);
    CHECK_OK(td_graph_open(session, test_path("names.csv"), NULL, &graph));
    CHECK_OK(td_session_run(session, graph, "kcore", &request, &result));
    td_result_destroy(result);
    CHECK_OK(td_graph_reversed(session, graph, &turned));
    CHECK_STR(td_graph_vertex_name(turned, 1), "bob");
    td_graph_destroy(turned);
    CHECK_OK(td_session_run(session, graph, "kcore", &request, &result));
    CHECK_OK(td_result_save(session, result, test_path("cores.csv"), NULL));
    td_result_destroy(result);
    CHECK_STR(td_graph_vertex_name(graph, 2), "eve");
    td_graph_destroy(graph);
    char line[64];
    file = fopen(test_path("cores.csv"), "r");
    CHECK(file != NULL && fgets(line, sizeof line, file) != NULL);
    fclose(file);
    CHECK_CONTAINS(line, "ann"); /* names in the result, too */
    td_session_destroy(session);
}

TEST(a_reversed_graph_shares_the_arrays)
{
    td_session *session = session_of(2);
    td_graph *graph = NULL, *turned = NULL;
    td_result *result = NULL;
    td_csr rows = rows_of((td_array){reals, TD_TYPE_F32});
    CHECK_OK(td_graph_from_csr(session, &rows, NULL, &graph));
    CHECK_OK(td_graph_reversed(session, graph, &turned));
    CHECK(parts_of(turned).in_targets == targets32);
    CHECK(parts_of(turned).targets == parts_of(graph).in_targets);
    td_request request = {.size = sizeof request, .has_source = true, .source = 3};
    CHECK_OK(td_session_run(session, turned, "bfs", &request, &result));
    static const uint32_t levels[] = {2, 1, 1, 0};
    for (int v = 0; v < VERTICES; v++) CHECK_EQ(td_result_u32(result)[v], levels[v]);
    td_result_destroy(result);
    td_graph_destroy(turned);
    CHECK_EQ(released, 0);
    td_graph_destroy(graph);
    CHECK_EQ(released, 1);
    td_session_destroy(session);
}

TEST(a_lack_of_memory_leaves_nothing)
{
    td_session *session = session_of(1);
    td_graph *graph = NULL;
    td_csr rows = rows_of((td_array){doubles, TD_TYPE_F64});
    rows.offsets = (td_array){offsets32, TD_TYPE_I32};
    uint64_t before = td_memory_held();
    CHECK_OK(td_session_set_budget(session, 1));
    CHECK_STATUS(td_graph_from_csr(session, &rows, NULL, &graph), TD_NO_MEMORY);
    CHECK_EQ(td_memory_held(), before);
    CHECK_EQ(released, 0);
    td_session_destroy(session);
}

TEST_MAIN
