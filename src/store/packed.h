/* The packed graph file, .tg.
 *
 * A 4 KiB header (magic, version, byte order, counts, weight kind and range, a
 * build id, the section table, its own checksum), then sections aligned to
 * 4 KiB: out- and in-adjacency (offsets, targets, weights each; `in` absent when
 * symmetric), degrees, original ids, the page directories (pages.h), and the
 * checksums: one XXH64 per 64 KiB block of each section, so that a reader of
 * single pages can check them and name a corrupt block. The same graph gives the
 * same bytes. A striped graph has its targets and weights in further files, one per
 * directory, so that several disks are read at once. docs/guide/packed-file.md is
 * the full description.
 */
#ifndef TD_STORE_PACKED_H
#define TD_STORE_PACKED_H

#include "store/graph.h"
#include "store/pages.h"

#define TD_PACKED_VERSION 3u /* the latest that is read: 3 has names, 2 is striped, 1 is neither */
#define TD_PACKED_BLOCK 65536u
#define TD_PACKED_ALIGN 4096u
#define TD_STRIPE_UNIT (1u << 20) /* consecutive bytes of a section in one stripe */
#define TD_MOST_STRIPES 16u /* with the .tg: TD_MAPPED_FILES */

/* In file order. code, name */
#define TD_SECTION_LIST(X)            \
    X(OUT_OFFSETS, "out offsets")     \
    X(OUT_TARGETS, "out targets")     \
    X(OUT_WEIGHTS, "out weights")     \
    X(IN_OFFSETS, "in offsets")       \
    X(IN_TARGETS, "in targets")       \
    X(IN_WEIGHTS, "in weights")       \
    X(OUT_DEGREES, "out degrees")     \
    X(IN_DEGREES, "in degrees")       \
    X(IDS, "original ids")            \
    X(OUT_PAGES, "out pages")         \
    X(IN_PAGES, "in pages")           \
    X(NAMES, "names")                 \
    X(CHECKSUMS, "checksums")

typedef enum td_section_kind {
#define TD_SECTION_CODE(code, name) TD_SECTION_##code,
    TD_SECTION_LIST(TD_SECTION_CODE)
#undef TD_SECTION_CODE
    TD_SECTIONS
} td_section_kind;

const char *td_section_name(td_section_kind kind);

/* `bytes` of elements of `element` bytes, without the padding. An absent section has
 * an element size of 0. The offset is that in a file without stripes;
 * td_packed_locate finds the bytes in any file. */
typedef struct td_section {
    uint64_t offset, bytes;
    uint32_t element;
} td_section;

typedef struct td_packed_info {
    uint32_t vertices;
    uint64_t edges;
    bool symmetric, has_in, has_ids, ids_sorted; /* has_in: also true when symmetric */
    uint64_t name_bytes; /* of the vertices' names with their zeros; 0: they have none */
    bool pattern_symmetric; /* symmetric except for its weights; derived from the checksums */
    td_weight_kind weights;
    double weight_min, weight_max;
    uint64_t id_base;
    uint64_t build_id; /* a hash of the whole content, whether striped or not */
    uint64_t file_bytes; /* when not striped */
    uint32_t stripes;    /* files beside the .tg that hold targets and weights, or 0 */
    td_section sections[TD_SECTIONS];
} td_packed_info;

/* Written to a temporary name beside `path`, synced and renamed. A directed
 * graph without in-adjacency is written without it. */
td_status td_packed_write(const td_graph *graph, const char *path, td_pool *pool);

/* The same with targets and weights spread over a file in each of `directories`,
 * "dir1,dir2,dir3". */
td_status td_packed_write_striped(const td_graph *graph, const char *path, const char *directories, td_pool *pool);

/* Copies a packed file to another, striped or not, and checks every block: the same
 * graph and build id, in little memory. */
td_status td_packed_copy(const char *from, const char *path, const char *directories, td_pool *pool);

/* The layout of the file that writing the graph would give, without the build id. */
td_packed_info td_packed_plan(const td_graph *graph);
uint64_t td_packed_graph_bytes(const td_packed_info *info); /* memory of the graph once it is loaded */

/* Maps the file in milliseconds, whatever its size; reads and checks only the header.
 * The arrays are read-only. A striped file is mapped unit by unit, which needs many
 * mappings. */
td_status td_packed_map(td_graph **out, const char *path);

/* The same, and verifies all that is about vertices: offsets, ids and names fit their checksums and the graph, even in
 * a forged file. */
td_status td_packed_map_checked(td_graph **out, const char *path, td_pool *pool);

/* Reads the file into memory (huge pages), checking every block, and that no
 * offset or target leads outside the graph. */
td_status td_packed_load(td_graph **out, const char *path, td_pool *pool);
uint64_t td_packed_load_bytes(const td_packed_info *info, const td_pool *pool); /* additional memory while it is read */

/* Verifies every byte of the file, every claim of td_graph_check, the degrees
 * and the page directories, in little memory. */
td_status td_packed_check(const char *path, td_pool *pool);

/* Verifies every byte, and that every target is a vertex, so that a mapping of the file is safe to use. */
td_status td_packed_verify_all(const char *path, td_pool *pool);

/* True for the first bytes of a .tg file, whatever its version. */
bool td_packed_recognise(const void *head, size_t bytes);

/* An open file, for reading in parts. Opening reads and checks only the headers and
 * lengths of the file and of its stripes. */
typedef struct td_packed td_packed;

td_status td_packed_open(td_packed **out, const char *path);
void td_packed_close(td_packed *packed); /* NULL is fine */
const td_packed_info *td_packed_describe(const td_packed *packed);

/* The files, for the caller's own reads: 0 is the .tg itself, 1 to info.stripes are
 * its stripes. */
const char *td_packed_path(const td_packed *packed, uint32_t file);
int td_packed_descriptor(const td_packed *packed, uint32_t file);

/* Where a section's bytes from `offset` on are: `bytes` of them, at most up to the end
 * of the padded section, are contiguous. A block never crosses two spots, and every
 * spot starts at a multiple of TD_PACKED_ALIGN if `offset` is one. */
typedef struct td_packed_spot {
    uint32_t file;
    uint64_t offset, bytes;
} td_packed_spot;

td_packed_spot td_packed_locate(const td_packed_info *info, td_section_kind kind, uint64_t offset);

/* A whole section, checked; freed by the caller with td_free. Absent: NULL. */
td_status td_packed_section(td_packed *packed, td_section_kind kind, void **out, td_pool *pool);

/* The page directory of the out- or in-adjacency, checked. A symmetric graph has one for both. */
td_status td_packed_pages(td_packed *packed, bool in, td_page **out, uint64_t *count, td_pool *pool);

/* Loads the checksums, once, before the first td_packed_verify. */
td_status td_packed_load_checksums(td_packed *packed);

/* Checks blocks that the caller has read: `data` has `bytes` bytes of the section from
 * `first_block` on, including padding. Any thread. */
td_status td_packed_verify(const td_packed *packed, td_section_kind kind, uint64_t first_block, const void *data,
                           uint64_t bytes);

#endif
