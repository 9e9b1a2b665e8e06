#include "sample.h"

#include "base/cancel.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/outfile.h"
#include "store/packed_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static const sample KINDS[] = {
    {.vertices = 40, .edges = 100, .seed = 1},
    {.vertices = 40, .edges = 100, .symmetric = true, .seed = 2},
    {.vertices = 40, .edges = 100, .weights = TD_WEIGHT_U8, .sparse_ids = true, .seed = 3},
    {.vertices = 40, .edges = 100, .weights = TD_WEIGHT_U16, .symmetric = true, .id_base = 1, .seed = 4},
    {.vertices = 40, .edges = 100, .weights = TD_WEIGHT_U32, .id_base = 99, .seed = 5},
    {.vertices = 40, .edges = 100, .weights = TD_WEIGHT_F32, .sparse_ids = true, .symmetric = true, .seed = 6},
    {.vertices = 40, .edges = 100, .weights = TD_WEIGHT_F32, .out_only = true, .seed = 7},
    {.vertices = 17, .edges = 0, .seed = 8},
    {.vertices = 17, .edges = 0, .symmetric = true, .sparse_ids = true, .seed = 9},
    {.vertices = 1, .edges = 3, .seed = 10},
    {.vertices = 0, .edges = 0, .seed = 11},
    {.vertices = 30000, .edges = 60000, .weights = TD_WEIGHT_U16, .sparse_ids = true, .seed = 12},
};

enum { KIND_COUNT = sizeof KINDS / sizeof *KINDS };

static void check_same(const td_graph *seen, const td_graph *wanted)
{
    CHECK_EQ(seen->vertices, wanted->vertices);
    CHECK_EQ(seen->edges, wanted->edges);
    CHECK_EQ(seen->symmetric, wanted->symmetric);
    CHECK_EQ(seen->weights, wanted->weights);
    CHECK(seen->weight_min == wanted->weight_min && seen->weight_max == wanted->weight_max);
    CHECK_EQ(seen->in.offsets == NULL, wanted->in.offsets == NULL);
    CHECK_EQ(seen->in.offsets == seen->out.offsets, seen->symmetric);
    CHECK_EQ(seen->ids == NULL, wanted->ids == NULL);
    CHECK_EQ(digest_of(seen), digest_of(wanted));
    CHECK_OK(td_graph_check(seen, NULL));
}

TEST(every_kind_of_graph_comes_back_as_it_was)
{
    for (int i = 0; i < KIND_COUNT; i++) {
        const char *path = test_path("kind.tg");
        td_graph *graph = sample_graph(KINDS[i]), *loaded = NULL, *mapped = NULL;
        CHECK_OK(td_packed_write(graph, path, NULL));
        CHECK_OK(td_packed_load(&loaded, path, NULL));
        CHECK_OK(td_packed_map(&mapped, path));
        CHECK_STR(loaded->name, path);
        check_same(loaded, graph);
        check_same(mapped, graph);
        CHECK_OK(td_packed_check(path, NULL));
        td_graph_destroy(loaded);
        td_graph_destroy(mapped);
        td_graph_destroy(graph);
    }
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

static uint64_t file_hash(const char *path)
{
    struct stat info;
    CHECK_EQ(stat(path, &info), 0);
    unsigned char *content = read_file(path, (uint64_t)info.st_size);
    uint64_t hash = td_hash64(content, (size_t)info.st_size);
    td_free(content);
    return hash;
}

TEST(the_bytes_do_not_depend_on_the_threads)
{
    td_graph *graph = sample_graph(KINDS[KIND_COUNT - 1]);
    uint64_t hashes[3];
    int threads[3] = {1, 2, 8};
    for (int i = 0; i < 3; i++) {
        td_pool *pool = NULL;
        td_graph *loaded = NULL;
        CHECK_OK(td_pool_create(&pool, threads[i]));
        CHECK_OK(td_packed_write(graph, test_path("threads.tg"), pool));
        hashes[i] = file_hash(test_path("threads.tg"));
        CHECK_OK(td_packed_load(&loaded, test_path("threads.tg"), pool));
        check_same(loaded, graph);
        CHECK_OK(td_packed_check(test_path("threads.tg"), pool));
        td_graph_destroy(loaded);
        td_pool_destroy(pool);
    }
    CHECK(hashes[0] == hashes[1] && hashes[1] == hashes[2]);
    td_graph_destroy(graph);
}

TEST(a_loaded_or_mapped_graph_is_written_as_the_same_bytes)
{
    const char *path = test_path("again.tg");
    td_graph *graph = sample_graph(KINDS[2]), *mapped = NULL;
    CHECK_OK(td_packed_write(graph, path, NULL));
    uint64_t hash = file_hash(path);
    CHECK_OK(td_packed_map(&mapped, path));
    CHECK_OK(td_packed_write(mapped, path, NULL)); /* over the file it is mapped from */
    CHECK(file_hash(path) == hash);
    CHECK_EQ(digest_of(mapped), digest_of(graph));
    td_graph_destroy(mapped);
    td_graph_destroy(graph);
}

TEST(the_plan_is_the_file_that_gets_written)
{
    for (int i = 0; i < KIND_COUNT; i++) {
        td_graph *graph = sample_graph(KINDS[i]);
        td_packed *packed = NULL;
        td_packed_info plan = td_packed_plan(graph);
        CHECK_OK(td_packed_write(graph, test_path("plan.tg"), NULL));
        CHECK_OK(td_packed_open(&packed, test_path("plan.tg")));
        const td_packed_info *info = td_packed_describe(packed);
        CHECK_EQ(plan.file_bytes, info->file_bytes);
        CHECK_EQ(plan.edges, info->edges);
        for (int kind = 0; kind < TD_SECTIONS; kind++) {
            CHECK_EQ(plan.sections[kind].bytes, info->sections[kind].bytes);
            CHECK_EQ(info->sections[kind].offset % TD_PACKED_ALIGN, 0);
        }
        CHECK_EQ(info->sections[TD_SECTION_IN_TARGETS].element, graph->symmetric || KINDS[i].out_only ? 0 : 4);
        CHECK_EQ(info->sections[TD_SECTION_OUT_WEIGHTS].bytes, graph->edges * td_weight_bytes(graph->weights));
        CHECK(info->build_id != 0);
        td_packed_close(packed);
        td_graph_destroy(graph);
    }
}

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
    td_graph *graph = sample_graph(KINDS[2]);
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
    td_graph *graph = sample_graph(KINDS[KIND_COUNT - 1]), *loaded = NULL;
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
    td_graph *graph = sample_graph(KINDS[1]), *opened = NULL;
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
    td_graph *graph = sample_graph(KINDS[1]), *opened = NULL;
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
static void other_blocks(td_disk_header *header) { header->block_bytes = 512; }
static void longer(td_disk_header *header) { header->file_bytes += 4096; }

TEST(a_header_that_contradicts_itself_or_the_file_is_refused)
{
    const char *path = test_path("header.tg");
    td_graph *graph = sample_graph(KINDS[4]);
    CHECK_OK(td_packed_write(graph, path, NULL));
    CHECK_OK(map_with(path, nothing));
    CHECK_STATUS(map_with(path, newer), TD_FORMAT);
    CHECK_CONTAINS(td_last_message(), "written by a newer Tandem: version 7, this one reads up to 1");
    CHECK_STATUS(map_with(path, other_order), TD_FORMAT);
    CHECK_CONTAINS(td_last_message(), "byte order");
    CHECK_STATUS(map_with(path, many_vertices), TD_LIMIT);
    CHECK_CONTAINS(td_last_message(), "4294967295 vertices");
    CHECK_STATUS(map_with(path, longer), TD_CORRUPT);
    CHECK_CONTAINS(td_last_message(), "truncated");
    void (*changes[])(td_disk_header *) = {more_vertices, more_edges, huge_edges, other_flags, half_symmetric, other_weights,
                                           section_beyond, unaligned_section, long_section, unknown_section,
                                           many_sections, few_sections, many_pages, other_blocks};
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

/* Makes every checksum fit the content again, as someone who knows the format would. */
static void seal(unsigned char *file, const td_packed_info *info)
{
    const td_section *table = &info->sections[TD_SECTION_CHECKSUMS];
    uint64_t *checksums = (uint64_t *)(file + table->offset);
    td_disk_header *header = (td_disk_header *)file;
    for (uint64_t number = 0; number < table->bytes / 8; number++) {
        td_run run = td_packed_run(info, number, number + 1);
        checksums[number] = td_hash64(file + run.offset, run.padded);
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

TEST(a_check_finds_what_fits_its_checksums_but_not_the_graph)
{
    td_graph *graph = sample_graph(KINDS[0]);
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
    td_graph *graph = sample_graph(KINDS[0]);
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
    td_graph *graph = sample_graph(KINDS[2]);
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

static void check_pages(td_packed *packed, const td_adjacency *adjacency, bool in)
{
    const td_packed_info *info = td_packed_describe(packed);
    td_page *pages = NULL;
    uint64_t count = 0;
    uint32_t span = td_summary_span(info->vertices);
    CHECK_OK(td_packed_pages(packed, in, &pages, &count, NULL));
    for (uint64_t p = 0; p < count; p++) {
        uint64_t wanted[TD_SUMMARY_WORDS] = {0};
        CHECK_EQ(pages[p].first_edge, adjacency->offsets[pages[p].first_vertex]);
        CHECK(pages[p].vertices <= TD_PAGE_VERTICES);
        CHECK(pages[p].edges <= TD_PAGE_EDGES || pages[p].vertices == 1);
        for (uint64_t e = pages[p].first_edge; e < pages[p].first_edge + pages[p].edges; e++)
            wanted[adjacency->targets[e] / span / 64] |= UINT64_C(1) << adjacency->targets[e] / span % 64;
        CHECK(memcmp(wanted, pages[p].summary, sizeof wanted) == 0);
        CHECK_EQ(td_summary_meets(wanted, wanted), pages[p].edges > 0);
    }
    td_free(pages);
}

TEST(pages_cover_every_list_and_summarise_its_targets)
{
    td_graph *graph = sample_graph((sample){.vertices = 700000, .edges = 100000, .seed = 14});
    td_packed *packed = NULL;
    CHECK_OK(td_packed_write(graph, test_path("pages.tg"), NULL));
    CHECK_OK(td_packed_open(&packed, test_path("pages.tg")));
    CHECK_EQ(td_packed_describe(packed)->sections[TD_SECTION_OUT_PAGES].bytes / sizeof(td_page), 3);
    check_pages(packed, &graph->out, false);
    check_pages(packed, &graph->in, true);
    td_packed_close(packed);
    td_graph_destroy(graph);
}

TEST(a_heavy_vertex_is_a_page_of_its_own)
{
    enum { VERTICES = 9 };
    uint64_t degrees[VERTICES] = {5, TD_PAGE_EDGES - 5, 1, 3 * TD_PAGE_EDGES, 0, 0, TD_PAGE_EDGES, 1, 0};
    uint64_t offsets[VERTICES + 1] = {0};
    uint32_t *targets = NULL;
    for (int v = 0; v < VERTICES; v++) offsets[v + 1] = offsets[v] + degrees[v];
    CHECK_OK(TD_NEW_ZEROED(&targets, offsets[VERTICES], "targets"));
    td_adjacency adjacency = {offsets, targets, NULL};
    td_page *pages = NULL;
    uint64_t count;
    CHECK_OK(td_pages_make(&pages, &count, &adjacency, VERTICES, NULL));
    uint32_t firsts[] = {0, 2, 3, 4, 7};
    CHECK_EQ(count, 5);
    for (uint64_t p = 0; p < count; p++) {
        CHECK_EQ(pages[p].first_vertex, firsts[p]);
        CHECK_EQ(pages[p].summary[0], 1);
    }
    CHECK_EQ(pages[2].edges, 3 * TD_PAGE_EDGES);
    CHECK_EQ(pages[3].vertices, 3);
    td_free(pages);
    td_free(targets);
}

TEST(sections_can_be_read_and_verified_one_by_one)
{
    td_graph *graph = sample_graph(KINDS[KIND_COUNT - 1]);
    td_packed *packed = NULL;
    void *degrees = NULL;
    static char blocks[2 * TD_PACKED_BLOCK];
    CHECK_OK(td_packed_write(graph, test_path("parts.tg"), NULL));
    CHECK_OK(td_packed_open(&packed, test_path("parts.tg")));
    CHECK_OK(td_packed_section(packed, TD_SECTION_IN_DEGREES, &degrees, NULL));
    for (uint32_t v = 0; v < graph->vertices; v++) CHECK_EQ(((uint32_t *)degrees)[v], td_degree(&graph->in, v));
    td_free(degrees);
    uint64_t offset = td_packed_describe(packed)->sections[TD_SECTION_OUT_TARGETS].offset + TD_PACKED_BLOCK;
    CHECK_EQ(pread(td_packed_descriptor(packed), blocks, sizeof blocks, (off_t)offset), (ssize_t)sizeof blocks);
    CHECK_OK(td_packed_load_checksums(packed));
    CHECK_OK(td_packed_verify(packed, TD_SECTION_OUT_TARGETS, 1, blocks, sizeof blocks));
    blocks[TD_PACKED_BLOCK] ^= 16;
    CHECK_STATUS(td_packed_verify(packed, TD_SECTION_OUT_TARGETS, 1, blocks, sizeof blocks), TD_CORRUPT);
    CHECK_CONTAINS(td_last_message(), "block 2 of its out targets");
    td_packed_close(packed);
    td_graph_destroy(graph);
}

TEST(a_graph_without_in_lists_has_no_in_pages)
{
    td_graph *graph = sample_graph(KINDS[6]);
    td_packed *packed = NULL;
    td_page *pages = NULL;
    uint64_t count;
    CHECK_OK(td_packed_write(graph, test_path("out.tg"), NULL));
    CHECK_OK(td_packed_open(&packed, test_path("out.tg")));
    CHECK_STATUS(td_packed_pages(packed, true, &pages, &count, NULL), TD_NOT_FOUND);
    td_packed_close(packed);
    td_graph_destroy(graph);
}

TEST(opening_takes_milliseconds_whatever_the_size)
{
    td_graph *graph = sample_graph((sample){.vertices = 1000000, .edges = 4000000, .seed = 15}), *mapped = NULL;
    td_pool *pool = NULL;
    CHECK_OK(td_pool_create(&pool, 2));
    CHECK_OK(td_packed_write(graph, test_path("large.tg"), pool));
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 5; i++) {
        uint64_t start = td_clock_ns();
        CHECK_OK(td_packed_map(&mapped, test_path("large.tg")));
        uint64_t took = td_clock_ns() - start;
        best = took < best ? took : best;
        CHECK_EQ(mapped->edges, 4000000);
        td_graph_destroy(mapped);
    }
    printf("    mapped %" PRIu64 " bytes in %" PRIu64 " us\n", td_packed_plan(graph).file_bytes, best / 1000);
    CHECK(best < 5000000);
    td_pool_destroy(pool);
    td_graph_destroy(graph);
}

TEST(writing_needs_little_memory_beyond_the_graph)
{
    td_graph *graph = sample_graph((sample){.vertices = 500000, .edges = 4000000, .seed = 16});
    uint64_t before = td_memory().now;
    td_memory_reset_peak();
    CHECK_OK(td_packed_write(graph, test_path("memory.tg"), NULL));
    CHECK(td_memory().peak - before < (UINT64_C(3) << 20));
    td_memory_reset_peak();
    CHECK_OK(td_packed_check(test_path("memory.tg"), NULL));
    CHECK(td_memory().peak - before < (UINT64_C(3) << 20));
    td_graph_destroy(graph);
}

static int files_in_folder(void)
{
    DIR *dir = opendir(test_folder());
    int count = 0;
    while (readdir(dir) != NULL) count++;
    closedir(dir);
    return count;
}

static td_status write_read_check(const td_graph *graph, const char *path)
{
    td_graph *loaded = NULL, *mapped = NULL;
    td_status status = td_packed_write(graph, path, NULL);
    if (status == TD_OK) status = td_packed_load(&loaded, path, NULL);
    if (status == TD_OK) status = td_packed_map(&mapped, path);
    if (status == TD_OK) status = td_packed_check(path, NULL);
    td_graph_destroy(loaded);
    td_graph_destroy(mapped);
    return status;
}

TEST(a_failed_allocation_anywhere_is_an_error_and_leaks_nothing)
{
    td_graph *graph = sample_graph(KINDS[2]);
    uint64_t held = td_memory().now, nth = 1;
    for (;; nth++) {
        td_alloc_fail_at(nth);
        td_status status = write_read_check(graph, test_path("nth.tg"));
        td_alloc_fail_at(0);
        CHECK_EQ(td_memory().now, held);
        if (status == TD_OK) break;
        CHECK_EQ(status, TD_NO_MEMORY);
    }
    CHECK(nth > 20);
    td_graph_destroy(graph);
}

TEST(a_failed_write_anywhere_leaves_no_file)
{
    td_graph *graph = sample_graph(KINDS[2]);
    int before = files_in_folder();
    uint64_t nth = 1;
    for (;; nth++) {
        td_outfile_fail_at(nth, nth % 2 ? ENOSPC : EIO);
        td_status status = td_packed_write(graph, test_path("full.tg"), NULL);
        td_outfile_fail_at(0, 0);
        if (status == TD_OK) break;
        CHECK_EQ(status, TD_IO);
        CHECK_EQ(files_in_folder(), before);
    }
    CHECK(nth > 10);
    td_graph_destroy(graph);
}

TEST(a_disk_quota_is_an_error_before_the_work)
{
    td_graph *graph = sample_graph(KINDS[2]);
    int before = files_in_folder();
    struct rlimit old, small;
    CHECK_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 20000;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    td_status status = td_packed_write(graph, test_path("quota.tg"), NULL);
    setrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, SIG_DFL);
    CHECK_EQ(status, TD_IO);
    CHECK_CONTAINS(td_last_message(), "File too large");
    CHECK_EQ(files_in_folder(), before);
    td_graph_destroy(graph);
}

TEST(a_cancel_leaves_no_file)
{
    td_graph *graph = sample_graph(KINDS[2]);
    int before = files_in_folder();
    td_cancel_request();
    td_status status = td_packed_write(graph, test_path("cancel.tg"), NULL);
    td_cancel_clear();
    CHECK_EQ(status, TD_CANCELLED);
    CHECK_EQ(files_in_folder(), before);
    td_graph_destroy(graph);
}

TEST_MAIN
