/* Lists and splits beside a graph: what is written is what a run would make, whatever the threads; what was forged,
 * damaged, half written or of another build is refused and leads nowhere outside. */
#include "programs/graphs.h"

#include "base/data_files.h"
#include "base/outfile.h"
#include "gpu/link_file.h"
#include "layout/compressed.h"
#include "layout/lists_file.h"
#include "layout/split_file.h"
#include "store/gen.h"
#include "store/packed.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/wait.h>

__attribute__((constructor)) static void choose_cache(void) { setenv("XDG_CACHE_HOME", test_folder(), 1); }

static td_graph *graph_file(const char *name, const char *kind, test_weights weights)
{
    td_graph *made = test_graph(test_graph_named(kind), weights, NULL), *graph = NULL;
    CHECK_OK(td_packed_write(made, test_path(name), NULL));
    td_graph_destroy(made);
    CHECK_OK(td_packed_load(&graph, test_path(name), NULL));
    return graph;
}

/* Lists. */

static const td_lists_form light = {.view = TD_LISTS_OUT, .order = TD_LISTS_LIGHT, .weighted = true};

static td_status save_light(const td_graph *graph, td_pool *pool)
{
    char where[TD_SIDECAR_PATH];
    uint32_t *targets = NULL;
    void *weights = NULL;
    CHECK_OK(TD_NEW(&targets, graph->edges, "targets"));
    CHECK_OK(td_new_bytes(&weights, graph->edges, td_weight_bytes(graph->weights), "weights"));
    td_lists_ordering what = {graph, &graph->out, TD_LISTS_LIGHT, 0, targets, weights};
    CHECK_OK(td_lists_order(&what, pool));
    td_lists_content content = {.targets = targets, .weights = weights};
    td_status status = td_lists_save(graph, &light, &content, where, pool);
    td_free(targets);
    td_free(weights);
    return status;
}

static td_status load_form(const td_graph *graph, const td_lists_form *form)
{
    td_status status = TD_OK;
    td_sidecar *file = NULL;
    uint32_t *targets = NULL;
    void *weights = NULL;
    uint64_t words = 0;
    TD_TRY(td_lists_open(&file, graph, form, &words));
    TD_TRY(TD_NEW(&targets, td_lists_edges(graph, form), "targets"));
    if (form->weighted && form->weight_bits == 0)
        TD_TRY(td_new_bytes(&weights, graph->edges, td_weight_bytes(graph->weights), "weights"));
    for (uint64_t piece = 0; piece < td_lists_pieces(td_lists_edges(graph, form)); piece++)
        TD_TRY(td_lists_read_piece(file, graph, form, piece, targets, weights));
done:
    td_sidecar_close(file);
    td_free(targets);
    td_free(weights);
    return status;
}

static char *bytes_of(const char *path, size_t *count)
{
    FILE *file = fopen(path, "rb");
    struct stat facts;
    CHECK(file != NULL && stat(path, &facts) == 0);
    char *bytes = malloc((size_t)facts.st_size);
    CHECK(bytes != NULL && fread(bytes, 1, (size_t)facts.st_size, file) == (size_t)facts.st_size);
    fclose(file);
    *count = (size_t)facts.st_size;
    return bytes;
}

static void check_same_bytes(const char *path, char **kept, size_t *count)
{
    size_t now = 0;
    char *bytes = bytes_of(path, &now);
    if (*kept != NULL) CHECK(now == *count && memcmp(*kept, bytes, now) == 0);
    free(*kept);
    *kept = bytes;
    *count = now;
}

TEST(lists_and_splits_have_the_same_bytes_with_any_number_of_threads)
{
    td_graph *graph = graph_file("threads.tg", "rmat 14", TEST_U8);
    char *lists = NULL, *split = NULL, where[TD_SIDECAR_PATH];
    size_t list_bytes = 0, split_bytes = 0;
    double seconds[2];
    for (int threads = 1; threads < 4; threads++) {
        td_pool *pool = NULL;
        CHECK_OK(td_pool_create(&pool, threads));
        CHECK_OK(save_light(graph, pool));
        check_same_bytes(test_path("threads.tg.stream-out-light-weights"), &lists, &list_bytes);
        CHECK_OK(td_split_save(graph, false, true, where, seconds, pool));
        CHECK_STR(where, test_path("threads.tg.coop-hot-weights"));
        check_same_bytes(where, &split, &split_bytes);
        td_pool_destroy(pool);
    }
    free(lists);
    free(split);
    td_graph_destroy(graph);
}

TEST(a_form_finds_the_file_of_its_own_form_alone)
{
    td_graph *graph = graph_file("forms.tg", "web", TEST_U8);
    td_lists_form hot = {.view = TD_LISTS_OUT, .order = TD_LISTS_HOT}, packed = light;
    char name[TD_SIDECAR_NAME];
    packed.weight_bits = 5;
    CHECK_STATUS(load_form(graph, &light), TD_NOT_FOUND);
    CHECK_OK(save_light(graph, NULL));
    CHECK_OK(load_form(graph, &light));
    CHECK(td_lists_prepared(graph, &light) && !td_lists_prepared(graph, &hot) && !td_lists_prepared(graph, &packed));
    CHECK_STR(td_lists_form_name(name, &packed), "stream-out-light-packed");
    graph->weights = TD_WEIGHT_U16; /* the same name, made of other weights */
    CHECK_STATUS(load_form(graph, &light), TD_NOT_FOUND);
    CHECK_CONTAINS(td_last_message(), "prepared with other settings");
    graph->weights = TD_WEIGHT_U8;
    graph->build_id++;
    CHECK_STATUS(load_form(graph, &light), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "another build");
    graph->build_id = 0;
    CHECK_STATUS(load_form(graph, &light), TD_NOT_FOUND);
    td_graph_destroy(graph);
}

/* The graph may have been built anew on a disk that cannot be written, so that its layout went to the cache folder. */
TEST(a_stale_file_beside_the_graph_does_not_hide_a_good_one_in_the_cache_folder)
{
    td_graph *graph = graph_file("stale.tg", "web", TEST_U8);
    const char *beside = test_path("stale.tg.stream-out-light-weights");
    char folder[TD_SIDECAR_PATH], cached[TD_SIDECAR_PATH + 64];
    size_t count = 0;
    CHECK_OK(save_light(graph, NULL));
    char *good = bytes_of(beside, &count);
    CHECK(td_data_cache(folder));
    snprintf(cached, sizeof cached, "%s/%016" PRIx64 ".stream-out-light-weights", folder, graph->build_id);
    (void)mkdir(folder, 0777);
    test_write_file(cached, good, count);
    graph->build_id++;
    CHECK_OK(save_light(graph, NULL)); /* beside the graph: of the other build */
    graph->build_id--;
    CHECK_OK(load_form(graph, &light));
    CHECK(remove(cached) == 0);
    CHECK_STATUS(load_form(graph, &light), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), beside);
    free(good);
    td_graph_destroy(graph);
}

TEST(damage_is_found)
{
    td_graph *graph = graph_file("damage.tg", "rmat 10", TEST_U8);
    const char *path = test_path("damage.tg.stream-out-light-weights");
    size_t count = 0;
    int reported = 0, flips = 0;
    CHECK_OK(save_light(graph, NULL));
    char *bytes = bytes_of(path, &count);
    for (size_t at = 0; at < count; at += at < 4096 ? 97 : 911, flips++) {
        bytes[at] ^= 0x20;
        test_write_file(path, bytes, count);
        bytes[at] ^= 0x20;
        td_status status = load_form(graph, &light);
        CHECK(status == TD_OK || status == TD_CORRUPT || status == TD_FORMAT || status == TD_UNSUPPORTED);
        reported += status != TD_OK;
    }
    CHECK(2 * reported > flips); /* the rest fell into the zeros between sections */
    for (size_t length = 0; length < count; length += 1 + length / 2) {
        test_write_file(path, bytes, length);
        CHECK_STATUS(load_form(graph, &light), TD_CORRUPT);
    }
    free(bytes);
    td_graph_destroy(graph);
}

/* Checksums that fit: as another program might write the file. */
TEST(forged_lists_are_refused)
{
    td_graph *graph = graph_file("forged.tg", "rmat 10", TEST_F32);
    const float wrong[] = {-1, 1e30f, __builtin_nanf(""), __builtin_inff()};
    uint32_t *targets = graph->out.targets, kept = targets[7];
    float *weights = graph->out.weights, heavy = weights[9];
    td_lists_content content = {.targets = targets, .weights = weights};
    char where[TD_SIDECAR_PATH];
    targets[7] = graph->vertices;
    CHECK_OK(td_lists_save(graph, &light, &content, where, NULL));
    CHECK_STATUS(load_form(graph, &light), TD_CORRUPT);
    CHECK_CONTAINS(td_last_message(), "forged.tg.stream-out-light-weights");
    targets[7] = kept;
    for (int i = 0; i < 4; i++) {
        weights[9] = wrong[i];
        CHECK_OK(td_lists_save(graph, &light, &content, where, NULL));
        CHECK_STATUS(load_form(graph, &light), TD_CORRUPT);
        CHECK_CONTAINS(td_last_message(), "range of the graph");
    }
    weights[9] = heavy;
    CHECK_OK(td_lists_save(graph, &light, &content, where, NULL));
    CHECK_OK(load_form(graph, &light));
    td_graph_destroy(graph);
}

TEST(forged_doubles_are_refused)
{
    td_graph *graph = graph_file("doubles.tg", "rmat 10", TEST_F64);
    const double wrong[] = {-1, 1e300, __builtin_nan(""), __builtin_inf()};
    double *weights = graph->out.weights, heavy = weights[9];
    td_lists_content content = {.targets = graph->out.targets, .weights = weights};
    char where[TD_SIDECAR_PATH];
    for (int i = 0; i < 5; i++) {
        weights[9] = i < 4 ? wrong[i] : heavy;
        CHECK_OK(td_lists_save(graph, &light, &content, where, NULL));
        CHECK_STATUS(load_form(graph, &light), i < 4 ? TD_CORRUPT : TD_OK);
    }
    td_graph_destroy(graph);
}

TEST(forged_packed_words_are_refused)
{
    td_graph *graph = graph_file("packed.tg", "rmat 10", TEST_U8);
    td_lists_form form = {.view = TD_LISTS_OUT, .order = TD_LISTS_LIGHT, .weighted = true, .weight_bits = 21};
    uint32_t *words = NULL;
    char where[TD_SIDECAR_PATH];
    CHECK_OK(TD_NEW(&words, graph->edges, "words"));
    for (uint64_t e = 0; e < graph->edges; e++) words[e] = UINT32_C(1) << 11 | graph->out.targets[e];
    td_lists_content content = {.targets = words};
    for (int what = 0; what < 3; what++) {
        uint32_t kept = words[3];
        if (what == 0) words[3] = UINT32_C(1) << 11 | graph->vertices;
        if (what == 1) words[3] = UINT32_C(101) << 11;
        CHECK_OK(td_lists_save(graph, &form, &content, where, NULL));
        CHECK_STATUS(load_form(graph, &form), what < 2 ? TD_CORRUPT : TD_OK);
        words[3] = kept;
    }
    td_free(words);
    td_graph_destroy(graph);
}

/* Compressed groups. */

static const td_lists_form small = {.view = TD_LISTS_OUT, .compressed = true};

static td_link_groups groups_of(const td_graph *graph)
{
    td_link_groups groups = {0};
    td_link_list list = {.targets = graph->out.targets, .edges = graph->edges};
    CHECK_OK(td_link_make_groups(&groups, &list, NULL));
    return groups;
}

static td_status save_groups(const td_graph *graph, const td_link_groups *groups)
{
    char where[TD_SIDECAR_PATH];
    td_lists_content content = {.lengths = groups->lengths, .words = groups->words, .word_count = groups->word_count};
    return td_lists_save(graph, &small, &content, where, NULL);
}

static td_status read_groups(td_link_list *list, const td_graph *graph, uint32_t shift)
{
    td_sidecar *file = NULL;
    td_host_memory memory = {0};
    td_device *device = NULL;
    uint64_t words = 0;
    *list = (td_link_list){.edges = graph->edges, .shift = shift,
                           .subgraphs = (uint32_t)((graph->edges + (UINT64_C(1) << shift) - 1) >> shift)};
    CHECK_OK(td_devices_open(&device, "cpu", &(td_device_options){0}));
    td_status status = td_lists_open(&file, graph, &small, &words);
    if (status == TD_OK) status = td_link_read_compressed(list, file, words, graph->vertices, &memory, device, NULL);
    td_sidecar_close(file);
    if (list->compressed_pinned) td_device_unpin(device, list->compressed);
    list->compressed_pinned = false;
    td_devices_close(device);
    return status;
}

/* Every division into subgraphs has the groups that compressing those subgraphs would give. */
TEST(groups_serve_every_division_into_subgraphs)
{
    td_graph *graph = graph_file("groups.tg", "rmat 14, clean", TEST_UNWEIGHTED);
    td_link_groups groups = groups_of(graph);
    uint32_t targets[TD_COMPRESS_GROUP];
    CHECK_OK(save_groups(graph, &groups));
    for (uint32_t shift = 10; shift < 20; shift += 3) {
        td_link_list list;
        uint64_t edge = 0;
        CHECK_OK(read_groups(&list, graph, shift));
        for (uint32_t s = 0; s < list.subgraphs; s++) {
            const uint32_t *of = list.compressed + list.compressed_at[s];
            uint64_t words = list.compressed_at[s + 1] - list.compressed_at[s];
            uint32_t count = (uint32_t)td_lists_groups(td_link_end(&list, s) - td_link_begin(&list, s));
            for (uint32_t g = 0; g < count; g++) {
                uint32_t end = g + 1 < count ? of[g + 1] : (uint32_t)words;
                uint64_t left = graph->edges - edge;
                uint32_t here = left < TD_COMPRESS_GROUP ? (uint32_t)left : TD_COMPRESS_GROUP;
                CHECK(td_expand_group(of + of[g], end - of[g], here, targets));
                CHECK(memcmp(targets, graph->out.targets + edge, here * sizeof *targets) == 0);
                edge += here;
            }
        }
        CHECK_EQ(edge, graph->edges);
        td_free(list.compressed);
        td_free(list.compressed_at);
    }
    td_link_free_groups(&groups);
    td_graph_destroy(graph);
}

/* A group of other lengths or wider numbers would have a kernel read beyond it. */
TEST(groups_that_are_none_do_not_expand)
{
    td_graph *graph = graph_file("none.tg", "rmat 10", TEST_UNWEIGHTED);
    td_link_groups groups = groups_of(graph);
    uint32_t targets[TD_COMPRESS_GROUP], length = groups.lengths[0], kept = groups.words[3];
    CHECK(td_expand_group(groups.words, length, TD_COMPRESS_GROUP, targets));
    CHECK(!td_expand_group(groups.words, length - 1, TD_COMPRESS_GROUP, targets));
    CHECK(!td_expand_group(groups.words, length + 1, TD_COMPRESS_GROUP, targets));
    CHECK(!td_expand_group(groups.words, TD_COMPRESS_HEAD - 1, TD_COMPRESS_GROUP, targets));
    groups.words[3] = 33u << 6 | 33u;
    CHECK(!td_expand_group(groups.words, length, TD_COMPRESS_GROUP, targets));
    groups.words[3] = kept;
    CHECK(td_expand_group(groups.words, length, 1, targets));
    td_link_free_groups(&groups);
    td_graph_destroy(graph);
}

/* Words and lengths drawn at random, with checksums that fit: read without harm, and refused or still in range. */
TEST(forged_groups_lead_nowhere)
{
    td_graph *graph = graph_file("groups.tg", "rmat 10", TEST_UNWEIGHTED);
    int refused = 0;
    for (uint64_t draw = 0; draw < 300; draw++) {
        td_link_groups groups = groups_of(graph);
        td_link_list list;
        uint64_t drawn = td_random_at(4, draw), at = drawn % groups.word_count;
        if (draw % 3 == 0) groups.words[at] = (uint32_t)(drawn >> 32);
        else if (draw % 3 == 1) groups.words[1 + drawn % 16] = (uint32_t)(drawn >> 32); /* widths */
        else if (draw % 2 == 0) groups.lengths[0]++, groups.lengths[1]--;
        else groups.lengths[drawn % td_lists_groups(graph->edges)] = (uint16_t)(drawn >> 40);
        CHECK_OK(save_groups(graph, &groups));
        td_status status = read_groups(&list, graph, 12);
        CHECK(status == TD_OK || status == TD_CORRUPT);
        refused += status != TD_OK;
        td_free(list.compressed);
        td_free(list.compressed_at);
        td_link_free_groups(&groups);
    }
    CHECK(refused > 200);
    td_graph_destroy(graph);
}

TEST(lists_that_hardly_shrink_are_not_prepared_compressed)
{
    td_graph *graph = graph_file("wide.tg", "isolated", TEST_UNWEIGHTED);
    uint32_t targets[2048];
    td_link_list list = {.targets = targets, .edges = 2048};
    td_link_groups groups = {0};
    for (uint64_t i = 0; i < 2048; i++) targets[i] = (uint32_t)td_random_at(9, i);
    CHECK_STATUS(td_link_make_groups(&groups, &list, NULL), TD_NOT_FOUND);
    td_graph_destroy(graph);
}

/* Splits. */

static td_split_request request_of(const td_graph *graph, uint64_t room, bool both)
{
    return (td_split_request){.order = TD_ORDER_HOT, .weighted = graph->weights != TD_WEIGHT_NONE, .both = both,
                              .pushes = true, .pulls = true, .room = room};
}

static td_status read_split(td_split *split, const td_graph *graph, const td_split_request *request)
{
    td_sidecar *file = NULL;
    td_host_memory memory = {0};
    td_pool *pool = NULL; /* several workers read a list that blocks divide */
    CHECK_OK(td_pool_create(&pool, request->room % 2 == 0 ? 3 : 1));
    td_status status = td_split_open(&file, graph, request);
    if (status == TD_OK) status = td_split_read(split, file, graph, request, &memory, pool);
    td_sidecar_close(file);
    td_pool_destroy(pool);
    return status;
}

static void check_same_part(const td_split *split, const td_adjacency *a, const td_adjacency *b)
{
    uint64_t n = split->vertices, edges = a->offsets[n];
    CHECK(memcmp(a->offsets, b->offsets, (n + 1) * sizeof(uint64_t)) == 0);
    if (edges == 0) return;
    CHECK(memcmp(a->targets, b->targets, edges * sizeof(uint32_t)) == 0);
    if (split->weight_bytes > 0) CHECK(memcmp(a->weights, b->weights, edges * split->weight_bytes) == 0);
}

/* For every room, the file gives the split that would be made. */
TEST(a_split_that_is_read_is_the_one_that_would_be_made)
{
    static const char *const kinds[] = {"rmat 14", "rmat 14, clean", "web", "single loop", "isolated"};
    for (int i = 0; i < 10; i++) {
        td_graph *graph = graph_file("split.tg", kinds[i / 2], i % 2 ? TEST_U16 : TEST_UNWEIGHTED);
        char where[TD_SIDECAR_PATH];
        double seconds[2];
        for (int both = 0; both < (graph->symmetric ? 1 : 2); both++) {
            CHECK_OK(td_split_save(graph, both, graph->weights != TD_WEIGHT_NONE, where, seconds, NULL));
            for (uint64_t room = 0; room < graph->edges * 16; room = 3 * room + 400) {
                td_split_request request = request_of(graph, room, both);
                td_split made = {0}, read = {0};
                td_host_memory memory = {0};
                CHECK_OK(td_split_make(&made, graph, &request, &memory, NULL));
                CHECK_OK(read_split(&read, graph, &request));
                CHECK_EQ(read.inside, made.inside);
                CHECK_EQ(read.hot_edges, made.hot_edges);
                CHECK(memcmp(read.order, made.order, graph->vertices * sizeof(uint32_t)) == 0);
                CHECK(memcmp(read.out, made.out, (graph->vertices + 1) * sizeof(uint64_t)) == 0);
                check_same_part(&made, &made.push.hot, &read.push.hot);
                check_same_part(&made, &made.push.rest, &read.push.rest);
                check_same_part(&made, &made.pull.hot, &read.pull.hot);
                check_same_part(&made, &made.pull.rest, &read.pull.rest);
                td_split_free(&made);
                td_split_free(&read);
            }
        }
        td_graph_destroy(graph);
    }
}

static bool have_equal_degrees(const td_graph *graph, uint32_t a, uint32_t b)
{
    return td_degree(&graph->out, a) == td_degree(&graph->out, b) && td_degree(&graph->in, a) == td_degree(&graph->in, b);
}

/* Makes targets[edge] less than the target before it, which is in the same list, for the first such edge from `edge` on. */
static void put_descent(const td_graph *graph, const uint32_t *order, uint32_t *targets, uint64_t edge)
{
    uint64_t begin = 0;
    for (uint64_t i = 0; i < graph->vertices; i++) {
        uint64_t end = begin + td_degree(&graph->out, order[i]);
        while (edge > begin && edge < end && targets[edge - 1] == 0) edge++;
        if (edge > begin && edge < end) {
            targets[edge] = 0;
            return;
        }
        begin = end;
        if (edge <= begin) edge = begin + 1;
    }
    TEST_FAIL("no list has such an edge");
}

/* Writes the sections of a split with one of them changed. */
static void forge_split(const td_graph *graph, int what)
{
    td_sidecar_id id = {graph->name, graph->build_id, "coop-hot"};
    const char *names[] = {"meta", "order", "within", "out", "in"};
    td_sidecar_part parts[5];
    td_sidecar *file = NULL;
    char where[TD_SIDECAR_PATH], key[TD_SIDECAR_KEY];
    double seconds[2];
    CHECK_OK(td_split_save(graph, false, false, where, seconds, NULL));
    CHECK_OK(td_sidecar_open(&file, &id));
    snprintf(key, sizeof key, "%s", td_sidecar_key(file));
    for (int i = 0; i < 5; i++) {
        void *data = NULL;
        uint64_t bytes = 0;
        CHECK_OK(td_sidecar_size(file, names[i], &bytes));
        CHECK_OK(td_new_bytes(&data, bytes, 1, "section"));
        CHECK_OK(td_sidecar_read(file, names[i], data, bytes, NULL));
        parts[i] = (td_sidecar_part){names[i], data, bytes};
    }
    td_sidecar_close(file);
    uint32_t *order = (uint32_t *)(uintptr_t)parts[1].data, *out = (uint32_t *)(uintptr_t)parts[3].data;
    uint64_t *within = (uint64_t *)(uintptr_t)parts[2].data, n = graph->vertices;
    if (what == 1) order[3] = graph->vertices;
    if (what == 2) { /* a vertex twice, in the place of another with as many edges */
        uint32_t i = graph->vertices - 1;
        while (!have_equal_degrees(graph, order[i - 1], order[i])) i--;
        order[i] = order[i - 1];
    }
    if (what == 3) within[n] = UINT64_MAX;
    if (what == 4) within[n / 2] = within[n / 2 + 1] + 1;
    if (what == 5)
        for (uint64_t i = 0; i < n; i++) within[i] /= 2;
    if (what == 6) out[5] = graph->vertices;
    if (what == 7) out[0] = graph->vertices - 1; /* the first list is longer than one */
    if (what == 8) ((uint32_t *)(uintptr_t)parts[0].data)[2]++;
    if (what == 9) parts[3].bytes -= 4;
    if (what == 10) ((uint32_t *)(uintptr_t)parts[4].data)[0] = UINT32_MAX;
    if (what == 11) put_descent(graph, order, out, 400);
    if (what == 12) put_descent(graph, order, out, 1 << 14); /* the first of a block */
    CHECK_OK(td_sidecar_write(&id, key, parts, 5, where, NULL));
    for (int i = 0; i < 5; i++) td_free((void *)(uintptr_t)parts[i].data);
}

TEST(forged_splits_are_refused)
{
    td_gen_spec spec = {.kind = "uniform", .vertices = 2000, .degree = 20, .seed = 3}; /* three blocks */
    td_graph *made = NULL, *graph = NULL;
    CHECK_OK(td_graph_generate(&made, &spec, &(td_build_options){0}, NULL));
    CHECK_OK(td_packed_write(made, test_path("forged.tg"), NULL));
    CHECK_OK(td_packed_load(&graph, test_path("forged.tg"), NULL));
    td_graph_destroy(made);
    td_split_request request = request_of(graph, graph->edges * 2, false);
    for (int what = 0; what < 13; what++) {
        td_split split = {0};
        forge_split(graph, what);
        td_status status = read_split(&split, graph, &request);
        if (status != (what == 0 ? TD_OK : TD_CORRUPT)) TEST_FAIL("%d gives %s", what, td_status_name(status));
        if (what > 0) CHECK_CONTAINS(td_last_message(), "prepare it again");
        td_split_free(&split);
    }
    td_graph_destroy(graph);
}

/* Writers. */

TEST(a_full_disk_or_a_killed_writer_leaves_nothing)
{
    td_graph *graph = graph_file("full.tg", "rmat 10", TEST_U8);
    int failures = 0, killed = 0;
    for (uint64_t nth = 1; nth < 500; nth++, failures++) {
        td_outfile_fail_at(nth, nth % 2 ? ENOSPC : EIO);
        td_status status = save_light(graph, NULL);
        td_outfile_fail_at(0, 0);
        if (status == TD_OK) break;
        CHECK_EQ(status, TD_IO);
        CHECK_EQ(test_files("full.tg."), 0);
    }
    CHECK(failures > 3);
    graph->build_id++; /* the file that is there is of another build until it is replaced */
    for (uint64_t nth = 1; nth < 500; nth++, killed++) {
        int state = 0;
        pid_t child = fork();
        if (child == 0) {
            td_outfile_fail_at(nth, TD_OUTFILE_KILL);
            _exit(save_light(graph, NULL) == TD_OK ? 0 : 1);
        }
        CHECK(waitpid(child, &state, 0) == child);
        if (WIFEXITED(state) && WEXITSTATUS(state) == 0) break;
        td_status status = load_form(graph, &light); /* killed after the rename: it is whole */
        CHECK(status == TD_INVALID || status == TD_OK);
    }
    CHECK(killed > 3);
    CHECK_OK(load_form(graph, &light));
    td_graph_destroy(graph);
}

TEST(two_processes_may_prepare_at_once)
{
    td_graph *graph = graph_file("both.tg", "rmat 14", TEST_U8);
    for (int child = 0; child < 2; child++)
        if (fork() == 0) {
            for (int i = 0; i < 5; i++)
                if (save_light(graph, NULL) != TD_OK || load_form(graph, &light) != TD_OK) _exit(1);
            _exit(0);
        }
    for (int child = 0; child < 2; child++) {
        int state = 1;
        CHECK(wait(&state) > 0);
        CHECK_EQ(state, 0);
    }
    CHECK_OK(load_form(graph, &light));
    CHECK_EQ(test_files("both.tg."), 1);
    td_graph_destroy(graph);
}

TEST(a_request_for_memory_that_fails_leaves_nothing)
{
    td_graph *graph = graph_file("memory.tg", "web", TEST_U8);
    td_split_request request = request_of(graph, graph->edges, false);
    char where[TD_SIDECAR_PATH];
    double seconds[2];
    bool done = false;
    CHECK_OK(save_light(graph, NULL));
    CHECK_OK(td_split_save(graph, false, true, where, seconds, NULL));
    uint64_t held = td_memory().now;
    for (uint64_t nth = 1; !done; nth++) {
        td_split split = {0};
        td_alloc_fail_at(nth);
        td_status status = load_form(graph, &light);
        if (status == TD_OK) status = read_split(&split, graph, &request);
        td_alloc_fail_at(0);
        done = status == TD_OK;
        if (!done) CHECK_EQ(status, TD_NO_MEMORY);
        td_split_free(&split);
        CHECK_EQ(td_memory().now, held);
        CHECK(nth < 100);
    }
    td_graph_destroy(graph);
}

TEST_MAIN
