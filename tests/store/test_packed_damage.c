/* Packed files that are damaged, cut, foreign or forged. */
#include "sample.h"

#include "base/hash.h"
#include "store/packed_file.h"

#include <fcntl.h>
#include <sys/stat.h>

static const sample PLAIN = {.vertices = 40, .edges = 100, .seed = 1};
static const sample SYMMETRIC = {.vertices = 40, .edges = 100, .symmetric = true, .seed = 2};
static const sample WEIGHTED = {.vertices = 40, .edges = 100, .weights = TD_WEIGHT_U8, .sparse_ids = true, .seed = 3};
static const sample FROM_99 = {.vertices = 40, .edges = 100, .weights = TD_WEIGHT_U32, .id_base = 99, .seed = 5};
static const sample LARGER = {.vertices = 30000, .edges = 60000, .weights = TD_WEIGHT_U16, .sparse_ids = true,
                              .seed = 12};

static void put_byte(int fd, off_t at, unsigned char byte) { CHECK_EQ(pwrite(fd, &byte, 1, at), 1); }

static unsigned char get_byte(int fd, off_t at)
{
    unsigned char byte = 0;
    CHECK_EQ(pread(fd, &byte, 1, at), 1);
    return byte;
}

TEST(no_flipped_byte_goes_unnoticed)
{
    const char *path = test_path("flip.tg");
    td_graph *graph = sample_graph(WEIGHTED);
    CHECK_OK(td_packed_write(graph, path, NULL));
    td_packed_info plan = td_packed_plan(graph);
    int fd = open(path, O_RDWR);
    for (off_t at = 0; at < (off_t)plan.file_bytes; at++) {
        unsigned char byte = get_byte(fd, at);
        td_graph *loaded = NULL;
        put_byte(fd, at, byte ^ (unsigned char)(1u << at % 8));
        td_status status = at % 2 == 0 ? td_packed_load(&loaded, path, NULL) : td_packed_check(path, NULL);
        put_byte(fd, at, byte);
        if (status == TD_OK) TEST_FAIL("byte %lld was flipped and nobody noticed", (long long)at);
        CHECK(status == TD_CORRUPT || (status == TD_FORMAT && at < 16));
        CHECK_CONTAINS(td_last_message(), path);
        CHECK(loaded == NULL);
    }
    close(fd);
    CHECK_OK(td_packed_check(path, NULL));
    td_graph_destroy(graph);
}

TEST(a_damaged_block_is_named)
{
    const char *path = test_path("block.tg");
    td_graph *graph = sample_graph(LARGER), *loaded = NULL;
    CHECK_OK(td_packed_write(graph, path, NULL));
    td_packed_info plan = td_packed_plan(graph);
    off_t at = (off_t)plan.sections[TD_SECTION_OUT_TARGETS].offset + 2 * TD_PACKED_BLOCK + 77;
    int fd = open(path, O_RDWR);
    put_byte(fd, at, get_byte(fd, at) ^ 1);
    close(fd);
    CHECK_STATUS(td_packed_load(&loaded, path, NULL), TD_CORRUPT);
    CHECK_CONTAINS(td_last_message(), "block 2 of its out targets (bytes ");
    td_graph_destroy(graph);
}

TEST(a_file_cut_at_any_length_is_refused)
{
    const char *path = test_path("cut.tg");
    td_graph *graph = sample_graph(SYMMETRIC), *opened = NULL;
    CHECK_OK(td_packed_write(graph, path, NULL));
    for (off_t length = (off_t)td_packed_plan(graph).file_bytes - 1; length >= 0; length--) {
        CHECK_EQ(truncate(path, length), 0);
        td_status status = length % 2 == 0 ? td_packed_map(&opened, path) : td_packed_load(&opened, path, NULL);
        CHECK_EQ(status, length == 0 ? TD_FORMAT : TD_CORRUPT);
        CHECK_CONTAINS(td_last_message(), length == 0 ? "is empty" : "is truncated");
    }
    td_graph_destroy(graph);
}

TEST(bytes_behind_the_end_are_refused)
{
    const char *path = test_path("long.tg");
    td_graph *graph = sample_graph(SYMMETRIC), *opened = NULL;
    CHECK_OK(td_packed_write(graph, path, NULL));
    FILE *file = fopen(path, "ab");
    fputs("more", file);
    fclose(file);
    CHECK_STATUS(td_packed_map(&opened, path), TD_CORRUPT);
    CHECK_CONTAINS(td_last_message(), "4 bytes behind its end");
    td_graph_destroy(graph);
}

/* Changes a header as someone who knows the format would: the checksum fits again. */
static td_status map_with(const char *path, void (*change)(td_disk_header *header))
{
    td_graph *opened = NULL;
    td_disk_header header, old;
    int fd = open(path, O_RDWR);
    CHECK_EQ(pread(fd, &header, sizeof header, 0), (ssize_t)sizeof header);
    old = header;
    change(&header);
    header.header_hash = td_hash64(&header, offsetof(td_disk_header, header_hash));
    CHECK_EQ(pwrite(fd, &header, sizeof header, 0), (ssize_t)sizeof header);
    td_status status = td_packed_map(&opened, path);
    CHECK_EQ(pwrite(fd, &old, sizeof old, 0), (ssize_t)sizeof old);
    close(fd);
    if (status == TD_OK) td_graph_destroy(opened);
    return status;
}

static void nothing(td_disk_header *header) { (void)header; }
static void newer(td_disk_header *header) { header->version = 7; }
static void other_order(td_disk_header *header) { header->byte_order = 0x04030201; }
static void many_vertices(td_disk_header *header) { header->vertices = UINT64_C(0xffffffff); }
static void more_vertices(td_disk_header *header) { header->vertices += 1000; }
static void more_edges(td_disk_header *header) { header->edges += 2000; }
static void huge_edges(td_disk_header *header) { header->edges = UINT64_MAX; }
static void other_flags(td_disk_header *header) { header->flags |= 64; }
static void half_symmetric(td_disk_header *header) { header->flags = TD_PACKED_SYMMETRIC; }
static void other_weights(td_disk_header *header) { header->weights = 9; }
static void section_beyond(td_disk_header *header) { header->sections[1].offset += header->file_bytes; }
static void unaligned_section(td_disk_header *header) { header->sections[1].offset += 4; }
static void long_section(td_disk_header *header) { header->sections[1].bytes = UINT64_MAX; }
static void unknown_section(td_disk_header *header) { header->sections[2].kind = 77; }
static void many_sections(td_disk_header *header) { header->section_count = 1000; }
static void few_sections(td_disk_header *header) { header->section_count--; }
static void many_pages(td_disk_header *header)
{
    for (uint32_t i = 0; i < header->section_count; i++)
        if (header->sections[i].kind == TD_SECTION_OUT_PAGES + 1) header->sections[i].bytes = UINT64_MAX;
}
static void weights_of_nothing(td_disk_header *header) { header->weight_max = 0.0 / 0.0; }
static void weights_reversed(td_disk_header *header) { header->weight_min = header->weight_max + 1; }
static void weights_beyond(td_disk_header *header) { header->weight_max = 0x1p40; }
static void ids_beyond(td_disk_header *header) { header->id_base = UINT64_MAX - 3; }
static void names_of_none(td_disk_header *header) { header->version = 3, header->flags |= TD_PACKED_HAS_NAMES; }
static void other_blocks(td_disk_header *header) { header->block_bytes = 512; }
static void longer(td_disk_header *header) { header->file_bytes += 4096; }

TEST(a_header_that_contradicts_itself_or_the_file_is_refused)
{
    const char *path = test_path("header.tg");
    td_graph *graph = sample_graph(FROM_99);
    CHECK_OK(td_packed_write(graph, path, NULL));
    CHECK_OK(map_with(path, nothing));
    CHECK_STATUS(map_with(path, newer), TD_FORMAT);
    CHECK_CONTAINS(td_last_message(), "written by a newer Tandem: version 7, this one reads up to 3");
    CHECK_STATUS(map_with(path, other_order), TD_FORMAT);
    CHECK_CONTAINS(td_last_message(), "byte order");
    CHECK_STATUS(map_with(path, many_vertices), TD_LIMIT);
    CHECK_CONTAINS(td_last_message(), "4294967295 vertices");
    CHECK_STATUS(map_with(path, longer), TD_CORRUPT);
    CHECK_CONTAINS(td_last_message(), "truncated");
    void (*changes[])(td_disk_header *) = {
        more_vertices, more_edges, huge_edges, other_flags, half_symmetric, other_weights, section_beyond,
        unaligned_section, long_section, unknown_section, many_sections, few_sections, many_pages, other_blocks,
        weights_of_nothing, weights_reversed, weights_beyond, ids_beyond, names_of_none,
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        CHECK_STATUS(map_with(path, changes[i]), TD_CORRUPT);
        CHECK_CONTAINS(td_last_message(), path);
    }
    CHECK_OK(td_packed_check(path, NULL));
    td_graph_destroy(graph);
}

TEST(what_is_no_packed_file_is_refused)
{
    td_graph *opened = NULL;
    test_write_file(test_path("text.tg"), "# a graph\n1 2\n", 14);
    CHECK_STATUS(td_packed_map(&opened, test_path("text.tg")), TD_FORMAT);
    CHECK_CONTAINS(td_last_message(), "not a packed graph");
    CHECK_STATUS(td_packed_map(&opened, test_path("absent.tg")), TD_IO);
    CHECK_STATUS(td_packed_load(&opened, test_folder(), NULL), TD_IO);
    CHECK_CONTAINS(td_last_message(), "not a regular file");
    CHECK_EQ(mkfifo(test_path("fifo.tg"), 0666), 0);
    CHECK_STATUS(td_packed_check(test_path("fifo.tg"), NULL), TD_IO);
    CHECK(td_packed_recognise("TandemTG....", 12));
    CHECK(!td_packed_recognise("TandemT", 7));
}

static unsigned char *read_file(const char *path, uint64_t bytes)
{
    unsigned char *content = NULL;
    CHECK_OK(TD_NEW(&content, bytes, "file"));
    FILE *file = fopen(path, "rb");
    CHECK_EQ(fread(content, 1, bytes, file), bytes);
    fclose(file);
    return content;
}

/* Makes every checksum fit the content again, as someone who knows the format would. */
static void seal(unsigned char *file, const td_packed_info *info)
{
    const td_section *table = &info->sections[TD_SECTION_CHECKSUMS];
    uint64_t *checksums = (uint64_t *)(file + table->offset);
    td_disk_header *header = (td_disk_header *)file;
    for (uint64_t number = 0; number < table->bytes / 8; number++) {
        td_run run = td_packed_run(info, number, number + 1);
        checksums[number] = td_hash64(file + info->sections[run.kind].offset + run.begin, run.padded);
    }
    header->checksums_hash = td_hash64(checksums, td_packed_padded(table->bytes));
    header->header_hash = td_hash64(header, offsetof(td_disk_header, header_hash));
}

/* Writes the graph with some bytes of a section changed and all checksums fitting. */
static void forge(const char *path, const td_graph *graph, td_section_kind kind, uint64_t at, const void *bytes,
                  size_t count)
{
    td_packed_info info = td_packed_plan(graph);
    CHECK_OK(td_packed_write(graph, path, NULL));
    unsigned char *file = read_file(path, info.file_bytes);
    memcpy(file + info.sections[kind].offset + at, bytes, count);
    seal(file, &info);
    test_write_file(path, file, info.file_bytes);
    td_free(file);
}

static void check_forged_offset(const td_graph *graph, uint64_t position, uint64_t value)
{
    const char *path = test_path("offsets.tg");
    td_graph *loaded = NULL;
    forge(path, graph, TD_SECTION_OUT_OFFSETS, position * 8, &value, sizeof value);
    CHECK_STATUS(td_packed_load(&loaded, path, NULL), TD_CORRUPT);
    CHECK_CONTAINS(td_last_message(), "out offsets");
    CHECK_STATUS(td_packed_check(path, NULL), TD_CORRUPT);
    CHECK_STATUS(td_packed_map_checked(&loaded, path, NULL), TD_CORRUPT); /* as `tandem info` maps it */
}

TEST(a_load_never_yields_offsets_or_targets_outside_the_graph)
{
    td_graph *graph = sample_graph((sample){.vertices = 20000, .edges = 40000, .seed = 13}), *loaded = NULL;
    const char *path = test_path("targets.tg");
    uint32_t beyond = 20000;
    forge(path, graph, TD_SECTION_IN_TARGETS, 39999 * 4, &beyond, sizeof beyond);
    CHECK_STATUS(td_packed_load(&loaded, path, NULL), TD_CORRUPT);
    CHECK_CONTAINS(td_last_message(), "number 39999 of its in targets is 20000; the graph has 20000 vertices");
    uint64_t positions[] = {1, 8191, 8192, 19999}; /* 8192 offsets are a block */
    for (int i = 0; i < 4; i++) {
        check_forged_offset(graph, positions[i], graph->out.offsets[positions[i] + 1] + 1);
        check_forged_offset(graph, positions[i], UINT64_MAX);
    }
    check_forged_offset(graph, 0, 1);
    check_forged_offset(graph, 20000, 40001);
    check_forged_offset(graph, 20000, 0);
    td_graph_destroy(graph);
}

/* The message that refuses a negative weight names the edge's end, by its id: a run checks the lists of a mapped file
 * before. */
TEST(a_run_never_follows_a_forged_target_to_name_an_edge)
{
    td_graph *graph = sample_graph((sample){.vertices = 40, .edges = 100, .weights = TD_WEIGHT_F32, .sparse_ids = true,
                                            .seed = 3});
    td_session *session = NULL;
    td_result *result = NULL;
    td_request request = {.size = sizeof request, .engine = "resident", .devices = "emu", .has_source = true,
                          .source = graph->ids[0]};
    const char *path = test_path("negative.tg");
    uint32_t wild[100];
    memset(wild, 0xff, sizeof wild);
    forge(path, graph, TD_SECTION_OUT_TARGETS, 0, wild, sizeof wild);
    td_graph_destroy(graph);
    CHECK_OK(td_session_create(1, &session));
    CHECK_OK(td_graph_open_for(session, path, NULL, "sssp", &request, &graph)); /* maps it */
    CHECK_STATUS(td_session_run(session, graph, "sssp", &request, &result), TD_CORRUPT);
    CHECK_CONTAINS(td_last_message(), "number 0 of its out targets is 4294967295");
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(a_check_finds_what_fits_its_checksums_but_not_the_graph)
{
    td_graph *graph = sample_graph(PLAIN);
    const char *path = test_path("claims.tg");
    uint64_t e = graph->in.offsets[1];
    while (graph->in.targets[e] == 0) e++;
    graph->in.targets[e]--;
    CHECK_OK(td_packed_write(graph, path, NULL));
    CHECK_STATUS(td_packed_check(path, NULL), TD_CORRUPT);
    graph->in.targets[e]++;
    td_graph_destroy(graph);
}

TEST(a_check_compares_degrees_and_pages_with_the_lists)
{
    const char *path = test_path("forged.tg");
    td_graph *graph = sample_graph(PLAIN);
    struct {
        td_section_kind kind;
        uint64_t at;
        const char *words;
    } cases[] = {
        {TD_SECTION_OUT_DEGREES, 8, "number 2 of its out degrees is 77"},
        {TD_SECTION_IN_DEGREES, 12, "number 3 of its in degrees is 77"},
        {TD_SECTION_OUT_PAGES, 24, "entry 0 of its out pages does not describe its edges"},
        {TD_SECTION_IN_PAGES, 0, "entry 0 of its in pages does not follow"},
        {TD_SECTION_IN_PAGES, 20, "in pages cover 77 vertices"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        forge(path, graph, cases[i].kind, cases[i].at, &(uint32_t){77}, 4);
        CHECK_STATUS(td_packed_check(path, NULL), TD_CORRUPT);
        CHECK_CONTAINS(td_last_message(), cases[i].words);
    }
    td_graph_destroy(graph);
}

/* Goes wherever the arrays lead; a sanitizer or the operating system says if that is outside. */
static bool safe_to_walk(const td_adjacency *adjacency, uint32_t vertices, uint64_t edges)
{
    uint64_t visited = 0;
    for (uint32_t v = 0; v < vertices; v++)
        for (uint64_t e = adjacency->offsets[v]; e < adjacency->offsets[v + 1]; e++)
            visited += adjacency->offsets[adjacency->targets[e]] <= edges;
    return visited == edges;
}

static void attempt(const char *path, uint64_t *accepted)
{
    td_graph *loaded = NULL;
    td_message_set("");
    td_status checked = td_packed_check(path, NULL);
    td_status status = td_packed_load(&loaded, path, NULL);
    CHECK(status == TD_OK || td_last_message()[0] != '\0');
    CHECK(checked != TD_OK || status == TD_OK);
    if (status != TD_OK) return;
    CHECK(safe_to_walk(&loaded->out, loaded->vertices, loaded->edges));
    CHECK(safe_to_walk(&loaded->in, loaded->vertices, loaded->edges));
    td_graph_destroy(loaded);
    ++*accepted;
}

TEST(forged_files_are_refused_or_safe_to_walk)
{
    const char *path = test_path("forgery.tg");
    td_graph *graph = sample_graph(WEIGHTED);
    td_packed_info info = td_packed_plan(graph);
    CHECK_OK(td_packed_write(graph, path, NULL));
    unsigned char *file = read_file(path, info.file_bytes), *forged = NULL;
    CHECK_OK(TD_NEW(&forged, info.file_bytes, "file"));
    uint64_t accepted = 0, attempts = 4000;
    for (uint64_t i = 0; i < attempts; i++) {
        memcpy(forged, file, info.file_bytes);
        for (uint64_t change = 0; change <= i % 3; change++) {
            uint64_t random = td_random_at(i, change);
            const td_section *section = &info.sections[random % TD_SECTION_CHECKSUMS];
            uint64_t at = random >> 32 & 1 ? 16 + (random >> 40) % 376 : section->offset + (random >> 40) % 256;
            forged[at] = (unsigned char)(random >> 8);
        }
        seal(forged, &info);
        test_write_file(path, forged, info.file_bytes);
        attempt(path, &accepted);
    }
    CHECK(accepted > attempts / 20 && accepted < attempts / 2);
    td_free(forged);
    td_free(file);
    td_graph_destroy(graph);
}

TEST_MAIN
