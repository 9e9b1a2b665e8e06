/* Packed graphs whose edges lie in several directories. */
#include "sample.h"

#include "base/outfile.h"
#include "store/packed_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

static const sample SMALL = {.vertices = 40, .edges = 100, .weights = TD_WEIGHT_U16, .sparse_ids = true, .seed = 3};
static const sample KINDS[] = {
    {.vertices = 40, .edges = 100, .seed = 1},
    {.vertices = 17, .edges = 0, .seed = 8},
    {.vertices = 0, .edges = 0, .seed = 11},
    {.vertices = 3000, .edges = 900000, .weights = TD_WEIGHT_U16, .sparse_ids = true, .seed = 12},
    {.vertices = 3000, .edges = 700000, .weights = TD_WEIGHT_F32, .symmetric = true, .id_base = 1, .seed = 13},
};

/* "a,b,c" below the test's folder, made if need be. */
static const char *directories(uint32_t count)
{
    static char list[8192];
    list[0] = '\0';
    for (uint32_t i = 0; i < count; i++) {
        char name[512];
        snprintf(name, sizeof name, "%s/disk%u", test_folder(), i);
        mkdir(name, 0777);
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i == 0 ? "" : ",", name);
    }
    return list;
}

static uint64_t build_id(const char *path)
{
    td_packed *packed = NULL;
    CHECK_OK(td_packed_open(&packed, path));
    uint64_t id = td_packed_describe(packed)->build_id;
    td_packed_close(packed);
    return id;
}

TEST(every_kind_of_graph_comes_back_from_any_number_of_stripes)
{
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        td_graph *graph = sample_graph(KINDS[i]);
        CHECK_OK(td_packed_write(graph, test_path("plain.tg"), NULL));
        for (uint32_t stripes = 1; stripes <= TD_MOST_STRIPES; stripes += 5) {
            const char *path = test_path("striped.tg");
            td_graph *loaded = NULL, *mapped = NULL;
            CHECK_OK(td_packed_write_striped(graph, path, directories(stripes), NULL));
            CHECK_OK(td_packed_load(&loaded, path, NULL));
            CHECK_OK(td_packed_map(&mapped, path));
            CHECK_EQ(digest_of(loaded), digest_of(graph));
            CHECK_EQ(digest_of(mapped), digest_of(graph));
            CHECK_OK(td_packed_check(path, NULL));
            CHECK_EQ(build_id(path), build_id(test_path("plain.tg")));
            td_graph_destroy(loaded);
            td_graph_destroy(mapped);
        }
        td_graph_destroy(graph);
    }
}

TEST(a_copy_is_the_same_graph_striped_or_not)
{
    td_graph *graph = sample_graph(KINDS[3]);
    const char *plain = test_path("plain.tg");
    CHECK_OK(td_packed_write(graph, plain, NULL));
    CHECK_OK(td_packed_copy(plain, test_path("copy.tg"), directories(3), NULL));
    CHECK_OK(td_packed_check(test_path("copy.tg"), NULL));
    CHECK_EQ(build_id(test_path("copy.tg")), build_id(plain));
    CHECK_OK(td_packed_copy(test_path("copy.tg"), test_path("back.tg"), NULL, NULL));
    CHECK_OK(td_packed_check(test_path("back.tg"), NULL));
    CHECK_EQ(build_id(test_path("back.tg")), build_id(plain));
    td_graph_destroy(graph);
}

/* Every unit has a place of its own, in the stripe and behind its header. */
TEST(units_of_a_group_lie_in_different_stripes)
{
    enum { UNITS = 1000 };
    for (uint32_t stripes = 1; stripes <= TD_MOST_STRIPES; stripes++) {
        static bool taken[1 + TD_MOST_STRIPES][UNITS + 2];
        memset(taken, 0, sizeof taken);
        td_packed_info info = {.vertices = 100, .edges = (uint64_t)UNITS * TD_STRIPE_UNIT / 8 - 1, .has_in = true,
                               .stripes = stripes};
        td_packed_place(&info, 1, 1);
        td_section_kind kinds[] = {TD_SECTION_OUT_TARGETS, TD_SECTION_IN_TARGETS};
        for (int k = 0; k < 2; k++)
            for (uint64_t at = 0; at < info.sections[kinds[k]].bytes; at += TD_STRIPE_UNIT) {
                td_packed_spot spot = td_packed_locate(&info, kinds[k], at);
                uint64_t unit = (spot.offset - TD_PACKED_ALIGN) / TD_STRIPE_UNIT;
                CHECK(spot.file >= 1 && spot.file <= stripes);
                CHECK_EQ((spot.offset - TD_PACKED_ALIGN) % TD_STRIPE_UNIT, 0);
                CHECK(spot.offset + spot.bytes <= td_stripe_bytes(&info));
                CHECK(!taken[spot.file][unit]);
                taken[spot.file][unit] = true;
            }
        CHECK_EQ(td_stripe_bytes(&info), TD_PACKED_ALIGN + (uint64_t)(UNITS + stripes - 1) / stripes * TD_STRIPE_UNIT);
    }
}

TEST(a_plain_file_is_one_spot_per_section)
{
    td_packed_info info = {.vertices = 1000, .edges = 5000000, .has_in = true};
    td_packed_place(&info, 5, 5);
    td_packed_spot spot = td_packed_locate(&info, TD_SECTION_IN_TARGETS, 65536);
    CHECK_EQ(spot.file, 0);
    CHECK_EQ(spot.offset, info.sections[TD_SECTION_IN_TARGETS].offset + 65536);
    CHECK_EQ(spot.bytes, td_packed_padded(info.sections[TD_SECTION_IN_TARGETS].bytes) - 65536);
}

TEST(a_striped_graph_moves_with_the_directories_below_it)
{
    td_graph *graph = sample_graph(SMALL), *loaded = NULL;
    mkdir(test_path("home"), 0777);
    mkdir(test_path("home/one"), 0777);
    char list[1024];
    snprintf(list, sizeof list, "%s,%s", test_path("home/one"), test_path("home"));
    CHECK_OK(td_packed_write_striped(graph, test_path("home/g.tg"), list, NULL));
    CHECK_EQ(access(test_path("home/one/g.tg.1of2"), R_OK), 0);
    CHECK_EQ(access(test_path("home/g.tg.2of2"), R_OK), 0);
    CHECK_EQ(rename(test_path("home"), test_path("elsewhere")), 0);
    CHECK_EQ(symlink(test_path("elsewhere/g.tg"), test_path("link.tg")), 0);
    CHECK_OK(td_packed_load(&loaded, test_path("link.tg"), NULL));
    CHECK_EQ(digest_of(loaded), digest_of(graph));
    td_graph_destroy(loaded);
    td_graph_destroy(graph);
}

static void refuses(td_status wanted, const char *words, const char *file)
{
    td_graph *opened = NULL;
    CHECK_STATUS(td_packed_load(&opened, test_path("g.tg"), NULL), wanted);
    CHECK_CONTAINS(td_last_message(), words);
    CHECK_CONTAINS(td_last_message(), file);
    CHECK_STATUS(td_packed_map(&opened, test_path("g.tg")), wanted);
    CHECK_STATUS(td_packed_check(test_path("g.tg"), NULL), wanted);
}

TEST(a_stripe_that_is_missing_foreign_or_cut_is_named)
{
    td_graph *graph = sample_graph(SMALL), *other = sample_graph(KINDS[0]);
    CHECK_OK(td_packed_write_striped(other, test_path("g.tg"), directories(3), NULL));
    CHECK_EQ(rename(test_path("disk1/g.tg.2of3"), test_path("foreign")), 0);
    CHECK_OK(td_packed_write_striped(graph, test_path("g.tg"), directories(3), NULL));
    CHECK_EQ(rename(test_path("disk1/g.tg.2of3"), test_path("kept")), 0);
    refuses(TD_IO, "stripe 2 of 3 of ", "disk1/g.tg.2of3");
    CHECK_EQ(rename(test_path("foreign"), test_path("disk1/g.tg.2of3")), 0);
    refuses(TD_CORRUPT, "of build ", "disk1/g.tg.2of3");
    CHECK_EQ(rename(test_path("kept"), test_path("disk1/g.tg.2of3")), 0);
    CHECK_EQ(truncate(test_path("disk1/g.tg.2of3"), 100000), 0);
    refuses(TD_CORRUPT, "truncated", "disk1/g.tg.2of3");
    CHECK_EQ(truncate(test_path("disk1/g.tg.2of3"), 100), 0);
    refuses(TD_CORRUPT, "truncated", "disk1/g.tg.2of3");
    static const char zeros[8192];
    test_write_file(test_path("disk1/g.tg.2of3"), zeros, sizeof zeros);
    refuses(TD_FORMAT, "is not stripe 2", "disk1/g.tg.2of3");
    CHECK_OK(td_packed_write_striped(graph, test_path("g.tg"), directories(3), NULL));
    CHECK_OK(td_packed_check(test_path("g.tg"), NULL));
    td_graph_destroy(graph);
    td_graph_destroy(other);
}

static void flip(const char *path, uint64_t at)
{
    unsigned char byte = 0;
    int fd = open(path, O_RDWR);
    CHECK_EQ(pread(fd, &byte, 1, (off_t)at), 1);
    byte ^= 4;
    CHECK_EQ(pwrite(fd, &byte, 1, (off_t)at), 1);
    close(fd);
}

TEST(a_flipped_bit_names_the_stripe_and_the_block)
{
    td_graph *graph = sample_graph(KINDS[3]), *loaded = NULL;
    td_packed *packed = NULL;
    CHECK_OK(td_packed_write_striped(graph, test_path("g.tg"), directories(3), NULL));
    CHECK_OK(td_packed_open(&packed, test_path("g.tg")));
    uint64_t at = 21 * (uint64_t)TD_PACKED_BLOCK + 77;
    td_packed_spot spot = td_packed_locate(td_packed_describe(packed), TD_SECTION_IN_TARGETS, at);
    CHECK(spot.file > 0);
    flip(td_packed_path(packed, spot.file), spot.offset);
    CHECK_STATUS(td_packed_load(&loaded, test_path("g.tg"), NULL), TD_CORRUPT);
    CHECK_CONTAINS(td_last_message(), td_packed_path(packed, spot.file));
    CHECK_CONTAINS(td_last_message(), "block 21 of its in targets (bytes ");
    flip(td_packed_path(packed, spot.file), spot.offset);
    flip(td_packed_path(packed, spot.file), 40);
    CHECK_STATUS(td_packed_load(&loaded, test_path("g.tg"), NULL), TD_CORRUPT);
    CHECK_CONTAINS(td_last_message(), "its header");
    td_packed_close(packed);
    td_graph_destroy(graph);
}

static int files_in(const char *folder)
{
    DIR *dir = opendir(folder);
    int count = 0;
    while (readdir(dir) != NULL) count++;
    closedir(dir);
    return count;
}

TEST(a_failed_write_anywhere_leaves_no_file_in_any_directory)
{
    td_graph *graph = sample_graph(SMALL);
    mkdir(test_path("full"), 0777);
    char list[1024];
    snprintf(list, sizeof list, "%s,%s", test_path("full"), test_path("full"));
    uint64_t nth = 1;
    for (;; nth++) {
        td_outfile_fail_at(nth, ENOSPC);
        td_status status = td_packed_write_striped(graph, test_path("full/g.tg"), list, NULL);
        td_outfile_fail_at(0, 0);
        if (status == TD_OK) break;
        CHECK_EQ(status, TD_IO);
        CHECK_CONTAINS(td_last_message(), "No space left");
        CHECK_EQ(files_in(test_path("full")), 2);
    }
    CHECK(nth > 15);
    CHECK_EQ(files_in(test_path("full")), 5);
    td_graph_destroy(graph);
}

TEST(directories_that_will_not_do_are_refused_by_name)
{
    td_graph *graph = sample_graph(SMALL);
    const char *path = test_path("g.tg");
    CHECK_STATUS(td_packed_write_striped(graph, path, "/nowhere/at/all", NULL), TD_IO);
    CHECK_CONTAINS(td_last_message(), "/nowhere/at/all");
    CHECK_STATUS(td_packed_write_striped(graph, path, ",/tmp", NULL), TD_INVALID);
    CHECK_STATUS(td_packed_write_striped(graph, path, "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", NULL), TD_LIMIT);
    td_graph_destroy(graph);
}

TEST_MAIN
