/* Galois binary graphs: both versions, all weights, both paddings, broken files. */
#include "base/random.h"
#include "reading.h"

extern const td_format td_format_galois, td_format_galois_real;

typedef struct layout {
    char bytes[512];
    size_t count;
} layout;

static void add(layout *l, uint64_t value, size_t width)
{
    memcpy(l->bytes + l->count, &value, width);
    l->count += width;
}

/* 0>1 0>2 2>1, weights 5 7 9 of this width; `padding` as some writers do. */
static void small_layout(layout *l, unsigned version, unsigned weight, bool padding)
{
    size_t target = version == 1 ? 4 : 8;
    l->count = 0;
    add(l, version, 8);
    add(l, weight, 8);
    add(l, 3, 8);
    add(l, 3, 8);
    add(l, 2, 8);
    add(l, 2, 8);
    add(l, 3, 8);
    add(l, 1, target);
    add(l, 2, target);
    add(l, 1, target);
    if (padding) add(l, 0, target);
    for (uint64_t w = 5; weight > 0 && w <= 9; w += 2) add(l, w, weight);
}

static void write_layout(const layout *l, const char *path) { test_write_file(path, l->bytes, l->count); }

TEST(both_versions_are_read_with_weights_of_any_width)
{
    layout l;
    const char *path = test_path("widths.gr");
    for (unsigned version = 1; version <= 2; version++) {
        for (unsigned weight = 0; weight <= 8; weight = weight == 0 ? 1 : 2 * weight) {
            small_layout(&l, version, weight, version == 1 || weight == 4);
            write_layout(&l, path);
            check_reads_as(&td_format_galois, path, weight == 0 ? "0>1 0>2 2>1" : "0>1:5 0>2:7 2>1:9");
        }
    }
}

TEST(padding_behind_the_last_target_may_be_missing_when_nothing_follows)
{
    layout l;
    small_layout(&l, 1, 0, false);
    write_layout(&l, test_path("padding.gr"));
    check_reads_as(&td_format_galois, test_path("padding.gr"), "0>1 0>2 2>1");
    small_layout(&l, 1, 4, false);
    write_layout(&l, test_path("padding.gr"));
    check_refused(&td_format_galois, test_path("padding.gr"), TD_CORRUPT, "do not fit");
}

TEST(real_weights_are_read_when_asked_for)
{
    layout l;
    const char *path = test_path("real.gr");
    for (unsigned width = 4; width <= 8; width += 4) {
        small_layout(&l, 1, width, true);
        l.count -= 3 * width;
        for (int i = 0; i < 3; i++) {
            float narrow = 0.5f + (float)i;
            double wide = 0.5 + i;
            memcpy(l.bytes + l.count, width == 4 ? (void *)&narrow : (void *)&wide, width);
            l.count += width;
        }
        write_layout(&l, path);
        check_reads_as(&td_format_galois_real, path, "0>1:0.5 0>2:1.5 2>1:2.5");
        double infinite = 1e300;
        float not_a_number = __builtin_nanf("");
        memcpy(l.bytes + l.count - width, width == 4 ? (void *)&not_a_number : (void *)&infinite, width);
        write_layout(&l, path);
        check_refused(&td_format_galois_real, path, TD_FORMAT, "the weight of edge 2 is not a finite number");
    }
}

TEST(weights_beyond_32_bits_are_refused_with_advice)
{
    layout l;
    small_layout(&l, 2, 8, false);
    l.bytes[l.count - 1] = 1;
    write_layout(&l, test_path("wide.gr"));
    check_refused(&td_format_galois, test_path("wide.gr"), TD_FORMAT, "format galois-real");
}

TEST(broken_files_are_refused)
{
    layout l;
    const char *path = test_path("broken.gr");
    for (unsigned version = 1; version <= 2; version++) {
        small_layout(&l, version, 4, version == 1);
        write_layout(&l, path);
        check_truncations(&td_format_galois, path, 0);
        check_bit_flips(&td_format_galois, path, path);
        check_allocations(&td_format_galois, path);
        add(&l, 0, 1);
        write_layout(&l, path);
        check_refused(&td_format_galois, path, TD_CORRUPT, "do not fit the 3 vertices and 3 edges");
    }
}

static void check_patched(size_t at, uint64_t value, size_t width, td_status status, const char *words)
{
    layout l;
    small_layout(&l, 1, 4, true);
    memcpy(l.bytes + at, &value, width);
    write_layout(&l, test_path("patched.gr"));
    check_refused(&td_format_galois, test_path("patched.gr"), status, words);
}

TEST(what_is_wrong_is_named)
{
    check_patched(0, 3, 8, TD_FORMAT, "version 3");
    check_patched(8, 3, 8, TD_UNSUPPORTED, "edge data of 3 bytes");
    check_patched(16, UINT64_C(1) << 40, 8, TD_LIMIT, "1099511627776 vertices");
    check_patched(16, 4, 8, TD_CORRUPT, "4 vertices");
    check_patched(24, UINT64_MAX, 8, TD_CORRUPT, "18446744073709551615 edges");
    check_patched(32, 9, 8, TD_CORRUPT, "byte 32: the list of vertex 0");
    check_patched(56, 3, 4, TD_CORRUPT, "byte 56: vertex 0 points to 3, but the last vertex is 2");
}

TEST(content_tells_it_from_dimacs_text)
{
    static const char dimacs[] = "c a comment that is long enough for a header\np sp 3 1\na 1 2 3\n";
    layout l;
    td_probe probe = {.path = "x.gr", .suffix = "gr", .head = dimacs, .head_bytes = sizeof dimacs - 1,
                      .file_bytes = sizeof dimacs - 1};
    CHECK_EQ(td_format_galois.recognise(&probe), 0);
    small_layout(&l, 1, 4, true);
    probe.head = l.bytes;
    probe.head_bytes = probe.file_bytes = l.count;
    CHECK(td_format_galois.recognise(&probe) > 90);
    probe.file_bytes--;
    CHECK(td_format_galois.recognise(&probe) > 50);
    probe.suffix = "";
    CHECK_EQ(td_format_galois.recognise(&probe), 0);
    CHECK_EQ(td_format_galois_real.recognise(&probe), 0);
}

TEST(an_empty_graph_and_isolated_vertices_are_read)
{
    layout l = {.count = 0};
    td_edge_list *list = NULL;
    add(&l, 1, 8);
    add(&l, 0, 8);
    add(&l, 2, 8);
    for (int i = 0; i < 3; i++) add(&l, 0, 8);
    write_layout(&l, test_path("isolated.gr"));
    CHECK_OK(read_list(&td_format_galois, test_path("isolated.gr"), 2, &list));
    CHECK_EQ(list->vertices, 2);
    CHECK_EQ(td_edges_count(list), 0);
    td_edges_destroy(list);
    check_refused(&td_format_galois, test_path("absent.gr"), TD_IO, "absent.gr");
}

TEST(many_chunks_are_read_alike_by_any_number_of_threads)
{
    enum { VERTICES = 5000, EDGES = 500001 };
    static char bytes[32 + 8 * VERTICES + 4 * (EDGES + 1) + 2 * EDGES];
    uint64_t header[4] = {1, 2, VERTICES, EDGES};
    memcpy(bytes, header, sizeof header);
    for (uint64_t v = 0; v < VERTICES; v++) {
        uint64_t end = v + 1 == VERTICES ? EDGES : (v + 1) * (v + 1) * EDGES / VERTICES / VERTICES;
        memcpy(bytes + 32 + 8 * v, &end, 8);
    }
    for (uint64_t e = 0; e < EDGES; e++) {
        uint32_t target = (uint32_t)td_random_below(td_random_at(1, e), VERTICES);
        uint16_t weight = (uint16_t)td_random_at(2, e);
        memcpy(bytes + 32 + 8 * VERTICES + 4 * e, &target, 4);
        memcpy(bytes + 32 + 8 * VERTICES + 4 * (EDGES + 1) + 2 * e, &weight, 2);
    }
    test_write_file(test_path("large.gr"), bytes, sizeof bytes);
    check_threads_agree(&td_format_galois, test_path("large.gr"));
}

TEST_MAIN
