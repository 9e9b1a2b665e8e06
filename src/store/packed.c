/* The packed file's layout, and opening: a header is trusted only after its
 * checksum, the file's length and the place of every section agree with its
 * counts. Opening reads only the header. */
#include "store/packed.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/mapping.h"
#include "store/packed_file.h"
#include "store/vertex_names.h"

#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

const char *td_section_name(td_section_kind kind)
{
    static const char *const names[] = {
#define NAME(code, name) name,
        TD_SECTION_LIST(NAME)
#undef NAME
    };
    return (size_t)kind < TD_SECTIONS ? names[kind] : "unknown section";
}

/* Limit on every length in a header, so that sums of a few of them do not wrap. */
#define MOST_FILE_BYTES (UINT64_C(1) << 60)

typedef struct extent {
    uint32_t element; /* 0: absent */
    uint64_t count;
} extent;

void td_packed_place(td_packed_info *info, uint64_t out_pages, uint64_t in_pages)
{
    bool in = info->has_in && !info->symmetric;
    uint32_t weight = (uint32_t)td_weight_bytes(info->weights);
    uint64_t vertices = info->vertices, edges = info->edges;
    extent extents[TD_SECTIONS] = {
        [TD_SECTION_OUT_OFFSETS] = {8, vertices + 1},
        [TD_SECTION_OUT_TARGETS] = {4, edges},
        [TD_SECTION_OUT_WEIGHTS] = {weight, edges},
        [TD_SECTION_IN_OFFSETS] = {in ? 8 : 0, vertices + 1},
        [TD_SECTION_IN_TARGETS] = {in ? 4 : 0, edges},
        [TD_SECTION_IN_WEIGHTS] = {in ? weight : 0, edges},
        [TD_SECTION_OUT_DEGREES] = {4, vertices},
        [TD_SECTION_IN_DEGREES] = {in ? 4 : 0, vertices},
        [TD_SECTION_IDS] = {info->has_ids ? 8 : 0, vertices},
        [TD_SECTION_OUT_PAGES] = {sizeof(td_page), out_pages},
        [TD_SECTION_IN_PAGES] = {in ? sizeof(td_page) : 0, in_pages},
        [TD_SECTION_NAMES] = {info->name_bytes > 0, info->name_bytes},
    };
    uint64_t offset = TD_PACKED_ALIGN, blocks = 0;
    for (int kind = 0; kind < TD_SECTIONS; kind++) {
        if (kind == TD_SECTION_CHECKSUMS) extents[kind] = (extent){8, blocks};
        td_section section = {0, extents[kind].element * extents[kind].count, extents[kind].element};
        if (section.element != 0) section.offset = offset;
        info->sections[kind] = section;
        offset += td_packed_padded(section.bytes);
        blocks += td_section_blocks(&section);
    }
    info->file_bytes = offset;
}

uint64_t td_packed_first_block(const td_packed_info *info, td_section_kind kind)
{
    uint64_t first = 0;
    for (td_section_kind k = 0; k < kind; k++) first += td_section_blocks(&info->sections[k]);
    return first;
}

td_run td_packed_run(const td_packed_info *info, uint64_t number, uint64_t end)
{
    td_section_kind kind = 0;
    uint64_t inside = number, blocks;
    while (inside >= (blocks = td_section_blocks(&info->sections[kind]))) {
        inside -= blocks;
        kind++;
    }
    const td_section *section = &info->sections[kind];
    uint64_t left = blocks - inside;
    td_run run = {.kind = kind, .number = number, .blocks = left < end - number ? left : end - number,
                  .begin = inside * TD_PACKED_BLOCK};
    uint64_t rest = section->bytes - run.begin, whole = run.blocks * TD_PACKED_BLOCK;
    run.bytes = rest < whole ? rest : whole;
    run.padded = td_packed_padded(run.bytes);
    return run;
}

uint64_t td_packed_longest_run(const td_packed_info *info)
{
    uint64_t longest = 0;
    for (td_section_kind kind = 0; kind < TD_SECTIONS; kind++) {
        uint64_t padded = td_packed_padded(info->sections[kind].bytes);
        if (padded > longest) longest = padded;
    }
    return longest < TD_RUN_BYTES ? longest : TD_RUN_BYTES;
}

bool td_packed_recognise(const void *head, size_t bytes)
{
    return bytes >= strlen(TD_PACKED_MAGIC) && memcmp(head, TD_PACKED_MAGIC, strlen(TD_PACKED_MAGIC)) == 0;
}

td_packed_info td_packed_plan(const td_graph *graph)
{
    td_packed_info info = {
        .vertices = graph->vertices,
        .edges = graph->edges,
        .symmetric = graph->symmetric,
        .has_in = graph->symmetric || graph->in.offsets != NULL,
        .has_ids = graph->ids != NULL,
        .ids_sorted = graph->ids != NULL && graph->ids_sorted,
        .pattern_symmetric = graph->pattern_symmetric,
        .weights = graph->weights,
        .weight_min = graph->weight_min,
        .weight_max = graph->weight_max,
        .id_base = graph->ids != NULL ? 0 : graph->id_base,
        .name_bytes = graph->names != NULL ? graph->names->bytes : 0,
    };
    bool in = info.has_in && !info.symmetric;
    td_packed_place(&info, td_pages_count(&graph->out, graph->vertices),
                    in ? td_pages_count(&graph->in, graph->vertices) : 0);
    return info;
}

uint64_t td_packed_graph_bytes(const td_packed_info *info)
{
    uint64_t bytes = info->sections[TD_SECTION_IDS].bytes + info->name_bytes;
    if (info->name_bytes > 0) bytes += ((uint64_t)info->vertices + 1) * sizeof(uint64_t); /* where each begins */
    for (int kind = 0; kind <= TD_SECTION_IN_WEIGHTS; kind++) bytes += info->sections[kind].bytes;
    return bytes;
}

/* Checks before the checksum: whether the file is a packed graph of a known version. */
static td_status check_kind(const td_disk_header *header, size_t bytes, const char *path)
{
    if (bytes == 0) return td_fail(TD_FORMAT, "%s is empty, not a packed graph (.tg)", path);
    size_t magic = bytes < strlen(TD_PACKED_MAGIC) ? bytes : strlen(TD_PACKED_MAGIC);
    if (memcmp(header->magic, TD_PACKED_MAGIC, magic) != 0)
        return td_fail(TD_FORMAT, "%s is not a packed graph (.tg): it does not start with \"%s\"", path,
                       TD_PACKED_MAGIC);
    if (bytes < sizeof *header)
        return td_fail(TD_CORRUPT, "%s is truncated: %zu bytes, its header has %zu", path, bytes, sizeof *header);
    if (header->byte_order == __builtin_bswap32(TD_PACKED_BYTE_ORDER))
        return td_fail(TD_FORMAT, "%s was written in big-endian byte order; packed graphs are little endian", path);
    if (header->byte_order != TD_PACKED_BYTE_ORDER)
        return td_fail(TD_CORRUPT, "%s: its byte-order mark (byte 8) is %08" PRIx32 ", not %08" PRIx32, path,
                       header->byte_order, TD_PACKED_BYTE_ORDER);
    if (header->version > TD_PACKED_VERSION)
        return td_fail(TD_FORMAT, "%s was written by a newer Tandem: version %" PRIu32 ", this one reads up to %u",
                       path, header->version, TD_PACKED_VERSION);
    if (header->version == 0) return td_fail(TD_CORRUPT, "%s: its version (byte 12) is 0", path);
    return TD_OK;
}

static td_status check_length(uint64_t bytes, uint64_t wanted, const char *path)
{
    if (bytes < wanted)
        return td_fail(TD_CORRUPT, "%s is truncated: %" PRIu64 " of its %" PRIu64 " bytes", path, bytes, wanted);
    if (bytes > wanted)
        return td_fail(TD_CORRUPT, "%s has %" PRIu64 " bytes behind its end at byte %" PRIu64, path, bytes - wanted,
                       wanted);
    return TD_OK;
}

/* Version 3 says by its number of stripes whether it is striped. */
static bool is_striped(const td_disk_header *header)
{
    return header->version == TD_PACKED_STRIPED || (header->version == TD_PACKED_NAMED && header->stripes > 0);
}

/* What is printed of a header without looking at the edges: the range of weights, the ids. */
static td_status check_values(const td_disk_header *header, const char *path)
{
    double low = header->weight_min, high = header->weight_max;
    double most = header->weights == TD_WEIGHT_NONE ? 0 : header->weights == TD_WEIGHT_U8 ? UINT8_MAX
                  : header->weights == TD_WEIGHT_U16 ? UINT16_MAX : header->weights == TD_WEIGHT_U32 ? UINT32_MAX
                  : DBL_MAX;
    double least = header->weights <= TD_WEIGHT_U32 ? 0 : -DBL_MAX;
    if (!(low >= least && low <= high && high <= most))
        return td_fail(TD_CORRUPT, "%s: it states weights from %g to %g, which its kind of weights does not have", path,
                       low, high);
    bool ids = header->flags & TD_PACKED_HAS_IDS, names = header->flags & TD_PACKED_HAS_NAMES;
    if (header->vertices > 0 && header->id_base > UINT64_MAX - (header->vertices - 1))
        return td_fail(TD_CORRUPT, "%s: %" PRIu64 " ids from %" PRIu64 " on pass the largest number", path,
                       header->vertices, header->id_base);
    if (names && !ids && header->id_base != 0)
        return td_fail(TD_CORRUPT, "%s: its ids begin with %" PRIu64 "; those of vertices with names begin with 0", path,
                       header->id_base);
    return TD_OK;
}

/* Checks ranges first, so that no product of the layout can wrap. */
static td_status check_counts(const td_disk_header *header, const char *path)
{
    if (header->file_bytes > MOST_FILE_BYTES)
        return td_fail(TD_CORRUPT, "%s: it states a length of %" PRIu64 " bytes", path, header->file_bytes);
    if (header->vertices > TD_MAX_VERTICES)
        return td_fail(TD_LIMIT, "%s has %" PRIu64 " vertices; at most %" PRIu64 " are supported", path,
                       header->vertices, TD_MAX_VERTICES);
    if (header->vertices > header->file_bytes / 8 || header->edges > header->file_bytes / 4)
        return td_fail(TD_CORRUPT, "%s: %" PRIu64 " vertices and %" PRIu64 " edges do not fit its %" PRIu64 " bytes",
                       path, header->vertices, header->edges, header->file_bytes);
    uint32_t known = TD_PACKED_SYMMETRIC | TD_PACKED_HAS_IN | TD_PACKED_HAS_IDS | TD_PACKED_IDS_SORTED;
    if (header->version == TD_PACKED_NAMED) known |= TD_PACKED_HAS_NAMES;
    bool in_contradiction = header->flags & TD_PACKED_SYMMETRIC && !(header->flags & TD_PACKED_HAS_IN);
    if (header->flags & ~known || in_contradiction)
        return td_fail(TD_CORRUPT, "%s: its flags are %08" PRIx32 "; %08" PRIx32 " are known, 1 implies 2", path,
                       header->flags, known);
    if (header->weights > TD_WEIGHT_F64)
        return td_fail(TD_CORRUPT, "%s: its weight kind is %" PRIu32 ", the last known is %d", path, header->weights,
                       TD_WEIGHT_F64);
    TD_CHECK(check_values(header, path));
    bool striped = is_striped(header);
    if (striped ? header->stripes == 0 || header->stripes > TD_MOST_STRIPES || header->stripe_unit != TD_STRIPE_UNIT
                : header->stripes != 0)
        return td_fail(TD_CORRUPT, "%s: %" PRIu32 " stripes of units of %" PRIu32 " bytes; version %" PRIu32
                       " has %s", path, header->stripes, header->stripe_unit, header->version,
                       striped ? "1 to 16, of 1048576" : "none");
    if (header->header_bytes != sizeof *header || header->block_bytes != TD_PACKED_BLOCK ||
        header->section_count > TD_SECTIONS)
        return td_fail(TD_CORRUPT, "%s: header of %" PRIu32 " bytes, blocks of %" PRIu32 ", %" PRIu32
                       " sections; version %" PRIu32 " has %zu, %u and at most %d", path, header->header_bytes,
                       header->block_bytes, header->section_count, header->version, sizeof *header,
                       TD_PACKED_BLOCK, TD_SECTIONS);
    return TD_OK;
}

/* The length of a section whose length does not follow from the counts. */
static uint64_t bytes_stated(td_disk_header *header, td_section_kind kind)
{
    for (uint32_t i = 0; i < header->section_count; i++) {
        const td_disk_section *entry = td_table_entry(header, i);
        if (entry->kind == td_section_number(kind) && entry->bytes <= header->file_bytes) return entry->bytes;
    }
    return 0;
}

static uint64_t pages_stated(td_disk_header *header, td_section_kind kind)
{
    return bytes_stated(header, kind) / sizeof(td_page);
}

static td_packed_info info_of(td_disk_header *header)
{
    return (td_packed_info){
        .vertices = (uint32_t)header->vertices,
        .edges = header->edges,
        .symmetric = header->flags & TD_PACKED_SYMMETRIC,
        .has_in = header->flags & TD_PACKED_HAS_IN,
        .has_ids = header->flags & TD_PACKED_HAS_IDS,
        .ids_sorted = header->flags & TD_PACKED_IDS_SORTED,
        .weights = (td_weight_kind)header->weights,
        .weight_min = header->weight_min,
        .weight_max = header->weight_max,
        .id_base = header->id_base,
        .build_id = header->build_id,
        .stripes = header->stripes,
        .name_bytes = header->flags & TD_PACKED_HAS_NAMES ? bytes_stated(header, TD_SECTION_NAMES) : 0,
    };
}

/* The sections and their places must be exactly those that follow from the counts. */
static td_status check_sections(td_disk_header *header, const td_packed_info *info, const char *path)
{
    uint32_t next = 0;
    for (td_section_kind kind = 0; kind < TD_SECTIONS; kind++) {
        const td_section *wanted = &info->sections[kind];
        if (wanted->element == 0) continue;
        td_disk_section seen = next < header->section_count ? *td_table_entry(header, next) : (td_disk_section){0};
        next++;
        if (seen.kind == td_section_number(kind) && seen.element == wanted->element && seen.offset == wanted->offset &&
            seen.bytes == wanted->bytes)
            continue;
        return td_fail(TD_CORRUPT, "%s: entry %" PRIu32 " of its section table has kind %" PRIu32 ", byte %" PRIu64
                       ", length %" PRIu64 "; its counts call for %s, byte %" PRIu64 ", length %" PRIu64, path, next,
                       seen.kind, seen.offset, seen.bytes, td_section_name(kind), wanted->offset, wanted->bytes);
    }
    if (next != header->section_count || info->file_bytes != header->file_bytes)
        return td_fail(TD_CORRUPT, "%s: %" PRIu32 " sections and %" PRIu64 " bytes, its counts call for %" PRIu32
                       " and %" PRIu64, path, header->section_count, header->file_bytes, next, info->file_bytes);
    return TD_OK;
}

static td_status check_header(td_packed *packed, td_disk_header *header, size_t head_bytes, uint64_t bytes)
{
    const char *path = packed->path;
    TD_CHECK(check_kind(header, head_bytes, path));
    if (header->header_hash != td_hash64(header, offsetof(td_disk_header, header_hash)))
        return td_fail(TD_CORRUPT, "%s: its header (bytes 0 to %zu) is damaged: the checksum does not fit", path,
                       sizeof *header - 1);
    if (!is_striped(header)) TD_CHECK(check_length(bytes, header->file_bytes, path));
    TD_CHECK(check_counts(header, path));
    packed->info = info_of(header);
    td_packed_place(&packed->info, pages_stated(header, TD_SECTION_OUT_PAGES),
                    pages_stated(header, TD_SECTION_IN_PAGES));
    TD_CHECK(check_sections(header, &packed->info, path));
    if (packed->info.stripes > 0) TD_CHECK(check_length(bytes, td_packed_main_bytes(&packed->info), path));
    packed->checksums_hash = header->checksums_hash;
    return TD_OK;
}

td_status td_packed_file_read(const td_packed_file *file, uint64_t offset, void *into, uint64_t bytes, uint64_t *got)
{
    char *to = into;
    uint64_t done = 0;
    while (done < bytes) {
        uint64_t now = bytes - done < (1u << 30) ? bytes - done : 1u << 30;
        ssize_t count = pread(file->fd, to + done, now, (off_t)(offset + done));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0)
            return td_fail_errno(TD_IO, errno, "cannot read %s at byte %" PRIu64, file->path, offset + done);
        if (count == 0) break;
        done += (uint64_t)count;
    }
    if (got != NULL) *got = done;
    if (got == NULL && done < bytes)
        return td_fail(TD_CORRUPT, "%s ends at byte %" PRIu64 ": it became shorter while it was read", file->path,
                       offset + done);
    return TD_OK;
}

td_status td_packed_read(const td_packed *packed, td_section_kind kind, uint64_t offset, void *into, uint64_t bytes)
{
    for (char *to = into; bytes > 0;) {
        td_packed_spot spot = td_packed_locate(&packed->info, kind, offset);
        uint64_t now = spot.bytes < bytes ? spot.bytes : bytes;
        TD_CHECK(td_packed_file_read(&packed->files[spot.file], spot.offset, to, now, NULL));
        to += now;
        offset += now;
        bytes -= now;
    }
    return TD_OK;
}

/* Compares the checksums of two sections of one length, from the first on: most graphs that are not symmetric differ
 * in the first. */
static td_status sections_alike(const td_packed *packed, td_section_kind a, td_section_kind b, bool *alike)
{
    enum { AT_A_TIME = 512 };
    uint64_t sums[2][AT_A_TIME], blocks = td_section_blocks(&packed->info.sections[a]), count = 1;
    const td_section_kind kinds[] = {a, b};
    for (uint64_t at = 0; *alike && at < blocks; at += count, count = AT_A_TIME) {
        if (count > blocks - at) count = blocks - at;
        for (int i = 0; i < 2; i++) {
            uint64_t place = (td_packed_first_block(&packed->info, kinds[i]) + at) * sizeof **sums;
            TD_CHECK(td_packed_read(packed, TD_SECTION_CHECKSUMS, place, sums[i], count * sizeof **sums));
        }
        *alike = memcmp(sums[0], sums[1], count * sizeof **sums) == 0;
    }
    return TD_OK;
}

/* Detects by the checksums whether a graph is symmetric except for its weights; works for files of any version. */
static td_status compare_patterns(td_packed *packed)
{
    td_packed_info *info = &packed->info;
    bool alike = info->has_in && !info->symmetric && info->weights != TD_WEIGHT_NONE;
    TD_CHECK(sections_alike(packed, TD_SECTION_OUT_OFFSETS, TD_SECTION_IN_OFFSETS, &alike));
    TD_CHECK(sections_alike(packed, TD_SECTION_OUT_TARGETS, TD_SECTION_IN_TARGETS, &alike));
    info->pattern_symmetric = alike;
    return TD_OK;
}

/* O_NONBLOCK: opening a FIFO must not wait. */
td_status td_packed_file_open(td_packed_file *file, const char *path, uint64_t *bytes)
{
    struct stat info;
    TD_CHECK(td_string_copy(&file->path, path, "file name"));
    file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file->fd < 0 || fstat(file->fd, &info) != 0) return td_fail_errno(TD_IO, errno, "cannot open %s", path);
    if (!S_ISREG(info.st_mode)) return td_fail(TD_IO, "cannot read %s: it is not a regular file", path);
    *bytes = (uint64_t)info.st_size;
    return TD_OK;
}

td_status td_packed_open(td_packed **out, const char *path)
{
    td_status status = TD_OK;
    td_packed *packed = NULL;
    td_disk_header header = {0};
    uint64_t bytes = 0, got = 0;
    TD_CHECK(TD_NEW_ZEROED(&packed, 1, "packed file"));
    for (uint32_t i = 0; i <= TD_MOST_STRIPES; i++) packed->files[i].fd = -1;
    TD_TRY(td_packed_file_open(&packed->files[0], path, &bytes));
    packed->path = packed->files[0].path;
    TD_TRY(td_packed_file_read(&packed->files[0], 0, &header, sizeof header, &got));
    TD_TRY(check_header(packed, &header, got, bytes));
    TD_TRY(td_stripes_open(packed, &header));
    TD_TRY(compare_patterns(packed));
    *out = packed;
    packed = NULL;
done:
    td_packed_close(packed);
    return status;
}

void td_packed_close(td_packed *packed)
{
    if (packed == NULL) return;
    for (uint32_t i = 0; i <= TD_MOST_STRIPES; i++) {
        if (packed->files[i].fd >= 0) close(packed->files[i].fd);
        td_free(packed->files[i].path);
    }
    td_free(packed->checksums);
    td_free(packed);
}

const td_packed_info *td_packed_describe(const td_packed *packed) { return &packed->info; }
const char *td_packed_path(const td_packed *packed, uint32_t file) { return packed->files[file].path; }
int td_packed_descriptor(const td_packed *packed, uint32_t file) { return packed->files[file].fd; }

td_status td_packed_new_graph(td_graph **out, const td_packed *packed)
{
    const td_packed_info *info = &packed->info;
    td_graph *graph = NULL;
    TD_CHECK(TD_NEW_ZEROED(&graph, 1, "graph"));
    td_status status = td_string_copy(&graph->name, packed->path, "graph name");
    if (status != TD_OK) {
        td_free(graph);
        return status;
    }
    graph->vertices = info->vertices;
    graph->edges = info->edges;
    graph->symmetric = info->symmetric;
    graph->pattern_symmetric = info->pattern_symmetric;
    graph->weights = info->weights;
    graph->weight_min = info->weight_min;
    graph->weight_max = info->weight_max;
    graph->id_base = info->id_base;
    graph->build_id = info->build_id;
    graph->ids_sorted = info->ids_sorted || !info->has_ids;
    *out = graph;
    return TD_OK;
}

void td_packed_attach(td_graph *graph, void *const sections[TD_SECTIONS])
{
    graph->out = (td_adjacency){sections[TD_SECTION_OUT_OFFSETS], sections[TD_SECTION_OUT_TARGETS],
                                sections[TD_SECTION_OUT_WEIGHTS]};
    graph->in = (td_adjacency){sections[TD_SECTION_IN_OFFSETS], sections[TD_SECTION_IN_TARGETS],
                               sections[TD_SECTION_IN_WEIGHTS]};
    if (graph->symmetric) graph->in = graph->out;
    graph->ids = sections[TD_SECTION_IDS];
}

td_status td_packed_attach_names(td_graph *graph, const td_packed *packed, char *text, bool mapped)
{
    const td_packed_info *info = &packed->info;
    if (text == NULL) return TD_OK;
    return td_vertex_names_take(&graph->names, text, info->name_bytes, info->vertices, mapped, packed->path);
}

/* Checks the first and the last offset, on which all else relies. */
static td_status check_ends(const td_packed *packed)
{
    td_section_kind kinds[] = {TD_SECTION_OUT_OFFSETS, TD_SECTION_IN_OFFSETS};
    for (int i = 0; i < 2; i++) {
        const td_section *section = &packed->info.sections[kinds[i]];
        uint64_t first, last;
        if (section->element == 0) continue;
        TD_CHECK(td_packed_read(packed, kinds[i], 0, &first, sizeof first));
        TD_CHECK(td_packed_read(packed, kinds[i], section->bytes - 8, &last, sizeof last));
        if (first != 0 || last != packed->info.edges)
            return td_fail(TD_CORRUPT, "%s: its %s run from %" PRIu64 " to %" PRIu64 ", not from 0 to %" PRIu64,
                           packed->path, td_section_name(kinds[i]), first, last, packed->info.edges);
    }
    return TD_OK;
}

/* Maps every unit at the place that it would have in a file without stripes. */
static td_status map_spots(const td_packed *packed, char *base)
{
    const td_packed_info *info = &packed->info;
    for (int kind = 0; kind < TD_SECTIONS; kind++) {
        uint64_t padded = td_packed_padded(info->sections[kind].bytes);
        td_packed_spot spot;
        for (uint64_t at = 0; at < padded; at += spot.bytes) {
            spot = td_packed_locate(info, (td_section_kind)kind, at);
            void *mapped = mmap(base + info->sections[kind].offset + at, spot.bytes, PROT_READ, MAP_SHARED | MAP_FIXED,
                                packed->files[spot.file].fd, (off_t)spot.offset);
            if (mapped == MAP_FAILED)
                return td_fail_errno(TD_IO, errno, "cannot map %s, a striped graph, unit by unit: load it instead",
                                     packed->path);
        }
    }
    return TD_OK;
}

td_status td_packed_map_file(td_graph *graph, const td_packed *packed)
{
    const td_packed_info *info = &packed->info;
    TD_CHECK(TD_NEW_ZEROED(&graph->mapping, 1, "mapping of a graph"));
    char *base = info->stripes == 0
                     ? mmap(NULL, info->file_bytes, PROT_READ, MAP_SHARED, packed->files[0].fd, 0)
                     : mmap(NULL, info->file_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return td_fail_errno(TD_IO, errno, "cannot map the %" PRIu64 " bytes of %s", info->file_bytes, packed->path);
    td_mapping_begin(graph->mapping, base, info->file_bytes, packed->files[0].fd, graph->name);
    for (uint32_t i = 1; i <= info->stripes; i++) td_mapping_add(graph->mapping, packed->files[i].fd);
    return info->stripes > 0 ? map_spots(packed, base) : TD_OK;
}

static td_status map_sections(td_graph *graph, const td_packed *packed)
{
    const td_packed_info *info = &packed->info;
    void *sections[TD_SECTIONS] = {NULL};
    TD_CHECK(td_packed_map_file(graph, packed));
    for (int kind = 0; kind < TD_SECTIONS; kind++)
        if (info->sections[kind].element != 0) sections[kind] = graph->mapping->base + info->sections[kind].offset;
    td_packed_attach(graph, sections);
    return td_packed_attach_names(graph, packed, sections[TD_SECTION_NAMES], true);
}

td_status td_packed_map(td_graph **out, const char *path)
{
    td_status status = TD_OK;
    td_packed *packed = NULL;
    td_graph *graph = NULL;
    TD_TRY(td_packed_open(&packed, path));
    TD_TRY(check_ends(packed));
    TD_TRY(td_packed_new_graph(&graph, packed));
    TD_TRY(map_sections(graph, packed));
    TD_TRY(td_graph_share_pattern(graph));
    *out = graph;
    graph = NULL;
done:
    td_graph_destroy(graph);
    td_packed_close(packed);
    return status;
}
