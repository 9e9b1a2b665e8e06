#include "test.h"

#include "base/random.h"
#include "store/edges.h"
#include "store/graph.h"

#include <math.h>

static td_edge_list *new_list(const char *name)
{
    td_edge_list *list = NULL;
    CHECK_OK(td_edges_create(&list, name));
    return list;
}

static void put(td_edge_list *list, uint64_t chunk_index, uint64_t source, uint64_t target)
{
    td_edge_chunk *chunk = NULL;
    CHECK_OK(td_edges_chunk(list, chunk_index, &chunk));
    if (chunk->count == chunk->room) CHECK_OK(td_chunk_reserve(chunk, 2 * chunk->room + 4, false));
    CHECK_OK(td_chunk_put(chunk, source, target));
}

TEST(a_chunk_keeps_its_edges_while_it_grows_widens_and_shrinks)
{
    td_edge_list *list = new_list(NULL);
    for (uint64_t i = 0; i < 1000; i++) put(list, 0, i, 2 * i);
    const td_edge_chunk *chunk = list->chunks[0];
    CHECK(chunk->wide == NULL);
    put(list, 0, UINT64_C(1) << 32, 5);
    CHECK(chunk->wide != NULL && chunk->ends == NULL);
    for (uint64_t i = 1001; i < 2000; i++) put(list, 0, i, 2 * i);
    CHECK_OK(td_chunk_shrink(list->chunks[0]));
    CHECK_EQ(chunk->room, 2000);
    for (uint64_t i = 0; i < 2000; i++) {
        CHECK_EQ(chunk->wide[2 * i], i == 1000 ? INT64_C(1) << 32 : (int64_t)i);
        CHECK_EQ(chunk->wide[2 * i + 1], i == 1000 ? 5 : 2 * i);
    }
    CHECK_EQ(td_edges_count(list), 2000);
    td_edges_destroy(list);
}

TEST(room_for_more_edges_than_exist_is_out_of_memory)
{
    static const uint64_t rooms[] = {UINT64_C(1) << 63, UINT64_MAX, UINT64_C(1) << 61, (UINT64_C(1) << 63) + 1};
    td_edge_chunk chunk = {0};
    CHECK_OK(td_chunk_reserve(&chunk, 10, true));
    for (int i = 0; i < 4; i++) {
        CHECK_STATUS(td_chunk_reserve(&chunk, rooms[i], true), TD_NO_MEMORY);
        CHECK_EQ(chunk.room, 10);
    }
    td_chunk_clear(&chunk);
    CHECK_STATUS(td_chunk_reserve(&chunk, UINT64_C(1) << 63, false), TD_NO_MEMORY);
    td_chunk_clear(&chunk);
}

static td_status fill_chunks(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    for (uint64_t i = begin; i < end; i++) {
        td_edge_chunk *chunk = NULL;
        uint64_t index = (i * 7919) % 1000 * 2; /* every other one, in no order */
        TD_CHECK(td_edges_chunk(context, index, &chunk));
        TD_CHECK(td_chunk_reserve(chunk, 3, false));
        for (uint64_t e = 0; e < 3; e++) TD_CHECK(td_chunk_put(chunk, index, e));
    }
    return TD_OK;
}

TEST(threads_may_ask_for_chunks_in_any_order)
{
    td_pool *pool = NULL;
    td_edge_list *list = new_list("x");
    CHECK_OK(td_pool_create(&pool, 4));
    CHECK_OK(td_pool_for(pool, 1000, 3, fill_chunks, list));
    CHECK_EQ(list->chunk_count, 1999);
    CHECK_EQ(td_edges_count(list), 3000);
    for (uint64_t i = 0; i < 1999; i++) {
        CHECK_EQ(list->chunks[i] == NULL, i % 2 == 1);
        if (i % 2 == 0) CHECK_EQ(list->chunks[i]->ends[4], i);
    }
    td_edges_destroy(list);
    td_pool_destroy(pool);
}

/* Weights. A number given as text would be: negative sign, magnitude, or a real. */

static void put_integer(td_edge_list *list, uint64_t index, int64_t weight)
{
    td_edge_chunk *chunk = NULL;
    CHECK_OK(td_edges_chunk(list, index, &chunk));
    CHECK_OK(td_chunk_reserve(chunk, 16, true));
    CHECK_OK(td_chunk_put(chunk, 1, 2));
    td_chunk_weight_integer(chunk, weight < 0, (uint32_t)(weight < 0 ? -weight : weight));
}

static void put_real(td_edge_list *list, uint64_t index, float weight)
{
    td_edge_chunk *chunk = NULL;
    CHECK_OK(td_edges_chunk(list, index, &chunk));
    CHECK_OK(td_chunk_reserve(chunk, 16, true));
    CHECK_OK(td_chunk_put(chunk, 1, 2));
    td_chunk_weight_real(chunk, weight);
}

static float real_at(const td_edge_list *list, uint64_t index, uint64_t edge)
{
    float value;
    memcpy(&value, &list->chunks[index]->weights[edge], sizeof value);
    return value;
}

TEST(unsigned_weights_stay_integers)
{
    td_edge_list *list = new_list(NULL);
    bool real = true;
    put_integer(list, 0, 0);
    put_integer(list, 2, UINT32_MAX);
    CHECK_OK(td_edges_settle_weights(list, NULL, &real));
    CHECK(!real);
    CHECK_EQ(list->chunks[2]->weights[0], UINT32_MAX);
    td_edges_destroy(list);
}

TEST(a_real_weight_anywhere_makes_all_of_them_real)
{
    td_edge_list *list = new_list(NULL);
    bool real = false;
    put_integer(list, 0, 3);
    put_integer(list, 1, 7);
    put_real(list, 1, 0.5f);
    put_integer(list, 1, 9);
    put_integer(list, 3, UINT32_MAX); /* rounded, as reals are */
    CHECK_OK(td_edges_settle_weights(list, NULL, &real));
    CHECK(real);
    CHECK(real_at(list, 0, 0) == 3);
    CHECK(real_at(list, 1, 0) == 7 && real_at(list, 1, 1) == 0.5f && real_at(list, 1, 2) == 9);
    CHECK(real_at(list, 3, 0) == 4294967296.0f);
    td_edges_destroy(list);
}

TEST(negative_integers_become_reals_if_all_are_exact)
{
    td_edge_list *list = new_list("minus.txt");
    bool real = false;
    put_integer(list, 0, 1 << 24);
    put_integer(list, 0, -5);
    put_integer(list, 0, 6);
    put_integer(list, 1, 7);
    CHECK_OK(td_edges_settle_weights(list, NULL, &real));
    CHECK(real);
    CHECK(real_at(list, 0, 0) == 16777216 && real_at(list, 0, 1) == -5 && real_at(list, 0, 2) == 6);
    CHECK(real_at(list, 1, 0) == 7);
    td_edges_destroy(list);
}

/* Before the negative one, after it, in another chunk, and the negative one itself. */
TEST(negative_integers_beside_ones_too_large_are_refused)
{
    static const struct {
        int64_t weights[2];
        uint64_t chunks[2];
    } cases[] = {{{(1 << 24) + 1, -5}, {0, 0}}, {{-5, (1 << 24) + 1}, {0, 0}}, {{-5, (1 << 24) + 1}, {0, 1}},
                 {{(1 << 24) + 1, -5}, {0, 1}}, {{-16777217, 1}, {0, 1}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        td_edge_list *list = new_list("minus.txt");
        bool real = false;
        for (int k = 0; k < 2; k++) put_integer(list, cases[i].chunks[k], cases[i].weights[k]);
        CHECK_STATUS(td_edges_settle_weights(list, NULL, &real), TD_LIMIT);
        CHECK_CONTAINS(td_last_message(), "minus.txt");
        td_edges_destroy(list);
    }
}

/* Numbering: against a sorted array of the distinct ids. */

static int by_id(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t distinct_ids(uint64_t *ids, uint64_t count)
{
    uint64_t kept = 0;
    qsort(ids, count, sizeof *ids, by_id);
    for (uint64_t i = 0; i < count; i++)
        if (i == 0 || ids[i] != ids[i - 1]) ids[kept++] = ids[i];
    return kept;
}

typedef uint64_t (*id_fn)(uint64_t random);
static uint64_t dense(uint64_t random) { return 1000 + random % 50; }
static uint64_t gaps(uint64_t random) { return random % 100000 * 3; }
static uint64_t far_away(uint64_t random) { return (UINT64_C(1) << 40) + random % 5000; }
static uint64_t scattered(uint64_t random) { return td_mix64(random % 3000); }
static uint64_t any(uint64_t random) { return random; }
static uint64_t extremes(uint64_t random)
{
    return random % 3 == 0 ? UINT64_MAX : random % 3 == 1 ? 0 : td_mix64(random % 99);
}
static uint64_t last_ones(uint64_t random) { return UINT64_MAX - random % 77; }
static const id_fn spreads[] = {dense, gaps, far_away, scattered, any, extremes, last_ones};
enum { SPREADS = sizeof spreads / sizeof *spreads };

static void check_compact(id_fn spread, uint64_t edges, uint64_t chunks, uint64_t listed, td_pool *pool)
{
    td_edge_list *list = new_list("ids");
    uint64_t *wanted = NULL, *ends = NULL, count = 0, *ids = NULL, base = 99;
    uint32_t vertices = 0;
    CHECK_OK(TD_NEW(&ends, 2 * edges, "ends"));
    CHECK_OK(TD_NEW(&wanted, 2 * edges + listed, "ids"));
    for (uint64_t i = 0; i < 2 * edges; i++) wanted[count++] = ends[i] = spread(td_random_at(edges, i));
    for (uint64_t i = 0; i < edges; i++) put(list, i * chunks / edges * 2, ends[2 * i], ends[2 * i + 1]);
    if (listed > 0) {
        CHECK_OK(TD_NEW(&list->listed, listed, "listed"));
        list->listed_count = listed;
        for (uint64_t i = 0; i < listed; i++) wanted[count++] = list->listed[i] = spread(td_random_at(edges + 1, i));
    }
    uint64_t known = distinct_ids(wanted, count);
    CHECK_OK(td_edges_compact(list, pool, &ids, &base, &vertices));
    CHECK_EQ(vertices, known);
    if (ids == NULL) CHECK(wanted[known - 1] - wanted[0] == known - 1 && base == wanted[0]);
    else CHECK(memcmp(ids, wanted, known * sizeof *ids) == 0);
    for (uint64_t i = 0; i < edges; i++) {
        const td_edge_chunk *chunk = list->chunks[i * chunks / edges * 2];
        uint64_t first = (i * chunks / edges * edges + chunks - 1) / chunks; /* the edge that begins the chunk */
        CHECK(chunk->wide == NULL);
        CHECK(wanted[chunk->ends[2 * (i - first)]] == ends[2 * i]);
        CHECK(wanted[chunk->ends[2 * (i - first) + 1]] == ends[2 * i + 1]);
    }
    td_free(ids);
    td_free(wanted);
    td_free(ends);
    td_edges_destroy(list);
}

TEST(ids_are_numbered_in_ascending_order)
{
    static const int threads[] = {1, 2, 8};
    for (int t = 0; t < 3; t++) {
        td_pool *pool = NULL;
        CHECK_OK(td_pool_create(&pool, threads[t]));
        for (int s = 0; s < SPREADS; s++) {
            check_compact(spreads[s], 1, 1, 0, pool);
            check_compact(spreads[s], 1000, 7, 0, pool);
            check_compact(spreads[s], 1000, 13, 500, pool);
            check_compact(spreads[s], 30000, 20, 10, pool);
        }
        td_pool_destroy(pool);
    }
}

/* Many workers, each with few new ids, must not fill the set before one of them notices. */
TEST(a_set_of_ids_grows_in_time_whatever_the_threads)
{
    td_pool *pool = NULL;
    CHECK_OK(td_pool_create(&pool, 16));
    for (uint64_t round = 0; round < 20; round++) check_compact(any, 2000 + round, 16, 0, pool);
    td_pool_destroy(pool);
}

TEST(vertices_may_be_listed_without_edges)
{
    td_edge_list *list = new_list(NULL);
    uint64_t *ids = NULL, base = 0;
    uint32_t vertices = 0;
    CHECK_OK(TD_NEW(&list->listed, 3, "listed"));
    list->listed_count = 3;
    list->listed[0] = 30, list->listed[1] = 10, list->listed[2] = 10;
    CHECK_OK(td_edges_compact(list, NULL, &ids, &base, &vertices));
    CHECK_EQ(vertices, 2);
    CHECK_EQ(ids[0], 10);
    CHECK_EQ(ids[1], 30);
    td_free(ids);
    td_edges_destroy(list);
}

TEST(a_list_of_nothing_has_no_vertices)
{
    td_edge_list *list = new_list(NULL);
    uint64_t *ids = NULL, base = 7;
    uint32_t vertices = 7;
    CHECK_OK(td_edges_compact(list, NULL, &ids, &base, &vertices));
    CHECK(ids == NULL);
    CHECK_EQ(vertices, 0);
    CHECK_EQ(base, 0);
    td_edges_destroy(list);
    td_edges_destroy(NULL);
}

static td_edge_list *declared(uint64_t vertices, uint64_t base)
{
    td_edge_list *list = new_list("d.mtx");
    list->declared = true;
    list->vertices = vertices;
    list->id_base = base;
    return list;
}

static td_status compact_declared(td_edge_list *list, uint32_t *vertices)
{
    uint64_t *ids = NULL, base = 0;
    td_status status = td_edges_compact(list, NULL, &ids, &base, vertices);
    CHECK(ids == NULL);
    if (status == TD_OK) CHECK_EQ(base, list->id_base);
    return status;
}

TEST(declared_vertices_are_taken_as_they_are)
{
    uint32_t vertices = 0;
    td_edge_list *list = declared(100, 1);
    put(list, 0, 0, 99);
    CHECK_OK(compact_declared(list, &vertices));
    CHECK_EQ(vertices, 100);
    CHECK_EQ(list->chunks[0]->ends[1], 99);
    td_edges_destroy(list);
}

TEST(a_declared_chunk_with_room_for_wide_ids_comes_out_narrow)
{
    uint32_t vertices = 0;
    td_edge_list *list = declared(100, 0);
    put(list, 0, 3, 4);
    CHECK_OK(td_chunk_widen(list->chunks[0]));
    put(list, 0, 5, 6);
    CHECK_OK(compact_declared(list, &vertices));
    CHECK(list->chunks[0]->ends != NULL && list->chunks[0]->wide == NULL);
    CHECK_EQ(list->chunks[0]->ends[2], 5);
    td_edges_destroy(list);
}

TEST(an_edge_beyond_the_declared_vertices_is_named)
{
    static const uint64_t beyond[] = {100, 101, UINT64_C(1) << 32, UINT64_MAX - 1};
    for (int i = 0; i < 4; i++) {
        uint32_t vertices = 0;
        td_edge_list *list = declared(100, 1);
        put(list, 0, 0, 99);
        put(list, 1, beyond[i], 3);
        CHECK_STATUS(compact_declared(list, &vertices), TD_FORMAT);
        char id[64];
        snprintf(id, sizeof id, "d.mtx: an edge names vertex %llu", (unsigned long long)(beyond[i] + 1));
        CHECK_CONTAINS(td_last_message(), id);
        CHECK_CONTAINS(td_last_message(), "allowed are 1 to 100");
        td_edges_destroy(list);
    }
    uint32_t vertices = 0;
    td_edge_list *list = declared(0, 0);
    put(list, 0, 0, 0);
    CHECK_STATUS(compact_declared(list, &vertices), TD_FORMAT);
    CHECK_CONTAINS(td_last_message(), "none");
    td_edges_destroy(list);
}

TEST(more_vertices_than_supported_are_refused)
{
    uint32_t vertices = 0;
    td_edge_list *list = declared(TD_MAX_VERTICES + 1, 0);
    CHECK_STATUS(compact_declared(list, &vertices), TD_LIMIT);
    CHECK_CONTAINS(td_last_message(), "4294967295 vertices, at most 2^32-2");
    list->vertices = TD_MAX_VERTICES;
    CHECK_OK(compact_declared(list, &vertices));
    CHECK_EQ(vertices, TD_MAX_VERTICES);
    td_edges_destroy(list);
}

TEST(numbering_that_runs_out_of_memory_leaks_nothing)
{
    for (int s = 0; s < SPREADS; s++) {
        td_status status = TD_NO_MEMORY;
        for (uint64_t nth = 1; status != TD_OK; nth++) {
            td_edge_list *list = new_list("ids");
            uint64_t *ids = NULL, base = 0;
            uint32_t vertices = 0;
            for (uint64_t i = 0; i < 100; i++) put(list, i / 30, spreads[s](td_mix64(i)), spreads[s](td_mix64(~i)));
            td_alloc_fail_at(nth);
            status = td_edges_compact(list, NULL, &ids, &base, &vertices);
            td_alloc_fail_at(0);
            if (status != TD_OK) CHECK_EQ(status, TD_NO_MEMORY);
            if (status != TD_OK) CHECK(ids == NULL);
            td_free(ids);
            td_edges_destroy(list);
        }
    }
}

TEST(filling_that_runs_out_of_memory_leaks_nothing)
{
    td_status status = TD_NO_MEMORY;
    for (uint64_t nth = 1; status != TD_OK; nth++) {
        td_edge_list *list = NULL;
        td_edge_chunk *chunk = NULL;
        td_alloc_fail_at(nth);
        status = td_edges_create(&list, "name");
        if (status == TD_OK) status = td_edges_chunk(list, 5, &chunk);
        if (status == TD_OK) status = td_chunk_reserve(chunk, 10, true);
        for (uint64_t i = 0; i < 10 && status == TD_OK; i++) status = td_chunk_put(chunk, i, i << 40);
        if (status == TD_OK) status = td_chunk_reserve(chunk, 20, true);
        td_alloc_fail_at(0);
        td_edges_destroy(list);
    }
}

TEST_MAIN
