/* The packed graph file, .tg: what a graph looks like on disk.
 *
 * A 4 KiB header (magic, version, byte order, counts, weight kind and range, a
 * build id, the section table, its own checksum), then sections aligned to
 * 4 KiB: out- and in-adjacency (offsets, targets, weights each; `in` absent when
 * symmetric), degrees, original ids, the page directories (pages.h), and the
 * checksums: one XXH64 per 64 KiB block of each section, so that a reader of
 * single pages checks what it reads and can name the block that is broken.
 * The same graph gives the same bytes. A striped graph keeps the targets and
 * weights in further files, one per directory, so that several disks are read
 * at once. docs/guide/packed-file.md has it all.
 */
#ifndef TD_STORE_PACKED_H
#define TD_STORE_PACKED_H

#include "store/graph.h"
#include "store/pages.h"

#define TD_PACKED_VERSION 2u /* the latest that is read: 2 is striped, 1 is not */
#define TD_PACKED_BLOCK 65536u
#define TD_PACKED_ALIGN 4096u
#define TD_STRIPE_UNIT (1u << 20) /* consecutive bytes of a section in one stripe */
#define TD_MOST_STRIPES 16u

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
    X(CHECKSUMS, "checksums")

typedef enum td_section_kind {
#define TD_SECTION_CODE(code, name) TD_SECTION_##code,
    TD_SECTION_LIST(TD_SECTION_CODE)
#undef TD_SECTION_CODE
    TD_SECTIONS
} td_section_kind;

const char *td_section_name(td_section_kind kind);

/* `bytes` of `element` each, without the zeros that fill up to the alignment.
 * An absent section has an element size of 0. The offset is that in a file that
 * is not striped; td_packed_locate knows where the bytes are. */
typedef struct td_section {
    uint64_t offset, bytes;
    uint32_t element;
} td_section;

typedef struct td_packed_info {
    uint32_t vertices;
    uint64_t edges;
    bool symmetric, has_in, has_ids, ids_sorted; /* has_in: also true when symmetric */
    bool pattern_symmetric; /* not symmetric, but for its weights; the file says it by its checksums */
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

/* A packed file into another, striped or not, block by block, every one checked:
 * the same graph and build id, in little memory. */
td_status td_packed_copy(const char *from, const char *path, const char *directories, td_pool *pool);

/* What writing the graph would give, but for the build id. */
td_packed_info td_packed_plan(const td_graph *graph);

/* Maps the file: milliseconds whatever its size; nothing but the header is read
 * and checked. The arrays are read-only. A striped one is mapped unit by unit,
 * as far as the system allows that many mappings. */
td_status td_packed_map(td_graph **out, const char *path);

/* Reads the file into memory (huge pages), checking every block, and that no
 * offset or target leads outside the graph. */
td_status td_packed_load(td_graph **out, const char *path, td_pool *pool);
uint64_t td_packed_load_bytes(const td_packed_info *info, const td_pool *pool); /* held besides, while it is read */

/* Verifies every byte of the file, every claim of td_graph_check, the degrees
 * and the page directories, in little memory. */
td_status td_packed_check(const char *path, td_pool *pool);

/* Verifies every byte, and that no target leads outside the graph: then a mapping of it can be walked. */
td_status td_packed_verify_all(const char *path, td_pool *pool);

/* True for the first bytes of a .tg file, whatever its version. */
bool td_packed_recognise(const void *head, size_t bytes);

/* An open file, for those who read it piece by piece. Opening reads and checks
 * the headers and lengths only, of the file and of its stripes. */
typedef struct td_packed td_packed;

td_status td_packed_open(td_packed **out, const char *path);
void td_packed_close(td_packed *packed); /* NULL is fine */
const td_packed_info *td_packed_describe(const td_packed *packed);

/* The files behind it, for reads of one's own: 0 is the .tg itself, 1 to
 * info.stripes are its stripes. */
const char *td_packed_path(const td_packed *packed, uint32_t file);
int td_packed_descriptor(const td_packed *packed, uint32_t file);

/* Where a section's bytes from `offset` on are: `bytes` of them, up to the end
 * of the section with its filling zeros, lie one after the other. A block never
 * crosses two spots, and every spot starts at a multiple of TD_PACKED_ALIGN if
 * `offset` is one. */
typedef struct td_packed_spot {
    uint32_t file;
    uint64_t offset, bytes;
} td_packed_spot;

td_packed_spot td_packed_locate(const td_packed_info *info, td_section_kind kind, uint64_t offset);

/* A whole section, checked; freed by the caller with td_free. Absent: NULL. */
td_status td_packed_section(td_packed *packed, td_section_kind kind, void **out, td_pool *pool);

/* The page directory of the out- or in-adjacency, checked. Of a symmetric graph both are the same. */
td_status td_packed_pages(td_packed *packed, bool in, td_page **out, uint64_t *count, td_pool *pool);

/* Loads the checksums, once, before the first td_packed_verify. */
td_status td_packed_load_checksums(td_packed *packed);

/* Checks blocks that the caller has read: `data` holds those of the section
 * from `first_block` on, `bytes` of them with the filling zeros of the last. Any thread. */
td_status td_packed_verify(const td_packed *packed, td_section_kind kind, uint64_t first_block, const void *data,
                           uint64_t bytes);

#endif
