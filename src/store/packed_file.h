/* Internals of the packed file, shared by its writer and its reader: the header as
 * stored, the places of the sections, which follow from the counts alone, the
 * numbering of the blocks, and the open file. Blocks are numbered through all
 * sections except the checksums; every section starts with a new block. */
#ifndef TD_STORE_PACKED_FILE_H
#define TD_STORE_PACKED_FILE_H

#include "store/packed.h"

#define TD_PACKED_MAGIC "TandemTG" /* 8 bytes */
#define TD_PACKED_BYTE_ORDER UINT32_C(0x01020304)
#define TD_STRIPE_MAGIC "TandemST"
#define TD_STRIPE_VERSION 1u
#define TD_STRIPE_NAMES 3584 /* bytes in the header for the stripes' names */

enum { TD_PACKED_PLAIN = 1, TD_PACKED_STRIPED = 2, TD_PACKED_NAMED = 3 }; /* versions; 3 may be striped or not */
enum { TD_TABLE_ROOM = 12 }; /* entries of the section table; a further one is behind the stripes' names */
enum { TD_PACKED_SYMMETRIC = 1, TD_PACKED_HAS_IN = 2, TD_PACKED_HAS_IDS = 4, TD_PACKED_IDS_SORTED = 8,
       TD_PACKED_HAS_NAMES = 16 };

typedef struct td_disk_section {
    uint32_t kind; /* td_section_number */
    uint32_t element;
    uint64_t offset, bytes;
} td_disk_section;

typedef struct td_disk_header {
    char magic[8];
    uint32_t byte_order, version;
    uint32_t header_bytes, block_bytes;
    uint64_t file_bytes;
    uint64_t build_id; /* hash of the header with this field and header_hash zero */
    uint64_t vertices, edges;
    uint32_t flags, weights;
    double weight_min, weight_max;
    uint64_t id_base;
    uint64_t checksums_hash; /* of the checksums and the zeros behind them */
    uint32_t section_count, zero;
    td_disk_section sections[TD_TABLE_ROOM];
    uint32_t stripes, stripe_unit;        /* 0 in version 1 */
    char stripe_names[TD_STRIPE_NAMES];   /* one after the other, each with its zero */
    td_disk_section last_section;         /* entry 13, of version 3 */
    uint8_t zeros[TD_PACKED_ALIGN - 104 - sizeof(td_disk_section) * (TD_TABLE_ROOM + 1) - 8 - TD_STRIPE_NAMES - 8];
    uint64_t header_hash; /* of all before it */
} td_disk_header;

typedef struct td_stripe_header {
    char magic[8];
    uint32_t byte_order, version;
    uint32_t header_bytes, stripe_unit;
    uint32_t number, stripes; /* the first is 1 */
    uint64_t file_bytes;
    uint64_t build_id; /* of the graph */
    uint8_t zeros[TD_PACKED_ALIGN - 48 - 8];
    uint64_t header_hash;
} td_stripe_header;

_Static_assert(sizeof(td_stripe_header) == TD_PACKED_ALIGN, "units are aligned behind the stripe's header");

_Static_assert(sizeof(td_disk_header) == TD_PACKED_ALIGN, "the header fills one aligned block");
_Static_assert(sizeof(td_page) == 152, "a directory entry has no gaps");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the file is little endian and mapped as it is");

_Static_assert(TD_SECTIONS == TD_TABLE_ROOM + 1, "the section table has room for all");

/* A section's number in the file: names came after the checksums, which stay the last section. */
static inline uint32_t td_section_number(td_section_kind kind)
{
    return kind == TD_SECTION_NAMES ? 13 : kind == TD_SECTION_CHECKSUMS ? 12 : (uint32_t)kind + 1;
}

/* An entry of a header's section table, up to entry TD_TABLE_ROOM. */
static inline td_disk_section *td_table_entry(td_disk_header *header, uint32_t index)
{
    return index < TD_TABLE_ROOM ? &header->sections[index] : &header->last_section;
}

static inline uint64_t td_packed_padded(uint64_t bytes)
{
    return (bytes + TD_PACKED_ALIGN - 1) & ~(uint64_t)(TD_PACKED_ALIGN - 1);
}

static inline uint64_t td_section_blocks(const td_section *section)
{
    return (section->bytes + TD_PACKED_BLOCK - 1) / TD_PACKED_BLOCK;
}

/* Fills in the sections and the file's length from the counts and flags. */
void td_packed_place(td_packed_info *info, uint64_t out_pages, uint64_t in_pages);

/* The number of a section's first block; that of the checksums is the number of all. */
uint64_t td_packed_first_block(const td_packed_info *info, td_section_kind kind);

/* Neighbouring blocks of one section. */
typedef struct td_run {
    td_section_kind kind;
    uint64_t number;        /* of its first block, counted through the file */
    uint64_t blocks;
    uint64_t begin;         /* its place in the section */
    uint64_t bytes, padded; /* without and with the zeros behind the section's end */
} td_run;

#define TD_RUN_BLOCKS 16u
#define TD_RUN_BYTES (TD_RUN_BLOCKS * (uint64_t)TD_PACKED_BLOCK)

/* The run that starts at block `number` and ends at `end` or with its section. */
td_run td_packed_run(const td_packed_info *info, uint64_t number, uint64_t end);
uint64_t td_packed_longest_run(const td_packed_info *info); /* its bytes, padded; TD_RUN_BYTES at most */

/* Memory of the names when they are loaded: their text, and where each begins. */
static inline uint64_t td_packed_names_bytes(const td_packed_info *info)
{
    return info->name_bytes > 0 ? info->name_bytes + ((uint64_t)info->vertices + 1) * 8 + 64 : 0;
}

/* Lengths of the .tg and of each stripe. */
uint64_t td_packed_main_bytes(const td_packed_info *info);
uint64_t td_stripe_bytes(const td_packed_info *info);

/* Opens the stripes that a checked header names, and refuses any that is missing,
 * of another length or of another build (stripes.c). */
td_status td_stripes_open(td_packed *packed, const td_disk_header *header);

typedef struct td_packed_file {
    int fd;
    char *path;
} td_packed_file;

struct td_packed {
    char *path; /* that of files[0] */
    td_packed_file files[1 + TD_MOST_STRIPES];
    td_packed_info info;
    uint64_t checksums_hash;
    uint64_t *checksums; /* by block; NULL until they are loaded */
};

td_status td_packed_file_open(td_packed_file *file, const char *path, uint64_t *bytes);

/* With `got`: as many bytes as there are. Without: all, or an error. */
td_status td_packed_file_read(const td_packed_file *file, uint64_t offset, void *into, uint64_t bytes, uint64_t *got);

/* Reads part of a section, possibly with padding, from the .tg or its stripes. */
td_status td_packed_read(const td_packed *packed, td_section_kind kind, uint64_t offset, void *into, uint64_t bytes);

/* td_packed_verify, and checks that offsets ascend and targets are vertices. Any thread. */
td_status td_packed_verify_content(const td_packed *packed, td_section_kind kind, uint64_t first_block,
                                   const void *data, uint64_t bytes);

/* Maps all of the file; the graph ends the mapping. */
td_status td_packed_map_file(td_graph *graph, const td_packed *packed);

/* A graph with the header's values and no arrays; then its arrays, by section. */
td_status td_packed_new_graph(td_graph **out, const td_packed *packed);
void td_packed_attach(td_graph *graph, void *const sections[TD_SECTIONS]);
td_status td_packed_attach_names(td_graph *graph, const td_packed *packed, char *text, bool mapped); /* takes the text */

#endif
