#include "run/checkpoint_file.h"

#include "base/alloc.h"
#include "base/bitmap.h"
#include "base/cancel.h"
#include "base/hash.h"
#include "base/outfile.h"
#include "base/names.h"
#include "kernels/cpu/job.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "TANDEMCP"
#define BYTE_ORDER_MARK UINT32_C(0x01020304)

static const char *const part_names[TD_STATE_PARTS] = {"values", "active vertices", "edges"};

enum { PAGE = TD_OUTFILE_PAGE, CHUNK = 16 << 20 }; /* CHUNK: bytes written or read at a time */
enum { MOST_VALUE_BYTES = 64 }; /* with up to 2^32 vertices, lengths do not overflow */

typedef struct disk_header {
    char magic[8];
    uint32_t byte_order, version;
    td_identity identity;
    uint32_t iteration, phase, converged, has_active, by_levels, unused;
    double global, change;
    uint64_t bytes[TD_STATE_PARTS], hashes[TD_STATE_PARTS];
    uint64_t page_hash; /* hash of the page with this field 0 */
} disk_header;

/* Every part starts at a page, so that it is written without a copy; the padding is covered by its checksum. */
typedef union header_page {
    _Alignas(PAGE) disk_header header;
    char bytes[PAGE];
} header_page;

_Static_assert(sizeof(header_page) == PAGE && TD_STATE_BLOCK % PAGE == 0 && CHUNK % TD_STATE_BLOCK == 0, "whole pages");
_Static_assert(sizeof(td_identity) % 8 == 0 && offsetof(disk_header, identity) == 16, "the same on every machine");

/* Identity. */

static td_status identify_graph(const td_run *run, td_pool *pool, td_identity *out)
{
    const td_graph *graph = run->graph;
    out->vertices = graph->vertices;
    out->edges = graph->edges;
    out->symmetric = graph->symmetric;
    out->real_weights = run->context.real_weights;
    out->graph_id_kind = graph->build_id != 0 ? TD_GRAPH_ID_BUILD : TD_GRAPH_ID_DIGEST;
    out->graph_id = graph->build_id;
    return graph->build_id != 0 ? TD_OK : td_graph_digest(graph, pool, &out->graph_id);
}

td_status td_identity_of(td_identity *out, const td_run *run, td_pool *pool)
{
    memset(out, 0, sizeof *out);
    snprintf(out->program, sizeof out->program, "%s", run->program->info->name);
    out->source = run->context.source;
    out->value_bytes = (uint32_t)run->program->cpu[TD_WEIGHT_NONE].value_bytes;
    out->async = run->async;
    out->strict = run->strict;
    memcpy(out->parameter, run->context.parameter, sizeof out->parameter);
    int precision = run->program->info->precision_choice;
    if (precision > 0) out->parameter[precision - 1] = 0; /* value_bytes says it */
    for (int i = 0; i < TD_INPUTS; i++)
        if (run->inputs[i] != NULL)
            out->input_hash[i] = td_hash64(run->inputs[i], run->graph->vertices * sizeof(double));
    return identify_graph(run, pool, out);
}

/* A packed file has a build id; another graph is identified by its digest, which a graph from a packed file has too. */
static td_status same_graph(const td_identity *written, const td_identity *mine, const td_run *run, td_pool *pool,
                            bool *same)
{
    uint64_t digest = mine->graph_id;
    *same = false;
    if (written->vertices != mine->vertices || written->edges != mine->edges || written->symmetric != mine->symmetric)
        return TD_OK;
    if (written->graph_id_kind == TD_GRAPH_ID_DIGEST && mine->graph_id_kind == TD_GRAPH_ID_BUILD)
        TD_CHECK(td_graph_digest(run->graph, pool, &digest));
    *same = written->graph_id == digest && written->real_weights == mine->real_weights;
    return TD_OK;
}

static td_status compare_graph(const td_identity *written, const td_identity *mine, const td_run *run, td_pool *pool,
                               const char *path)
{
    bool same;
    const char *name = run->graph->name != NULL ? run->graph->name : "this one";
    if (written->graph_id_kind == TD_GRAPH_ID_BUILD && mine->graph_id_kind == TD_GRAPH_ID_DIGEST)
        return td_fail(TD_INVALID,
                       "%s is of a graph that came straight from a .tg file, and %s does not; give that file", path,
                       name);
    if (written->graph_id_kind == TD_GRAPH_ID_DIGEST && run->graph->paged != NULL)
        return td_fail(TD_INVALID,
                       "%s is of a graph that did not come straight from a .tg file, and the edges of %s stay on disk",
                       path, name);
    TD_CHECK(same_graph(written, mine, run, pool, &same));
    if (same) return TD_OK;
    return td_fail(TD_INVALID,
                   "%s is of another graph: of %" PRIu32 " vertices and %" PRIu64 " edges with checksum %016" PRIx64
                   "; %s has %" PRIu32 " and %" PRIu64 " and checksum %016" PRIx64,
                   path, written->vertices, written->edges, written->graph_id, name, mine->vertices, mine->edges,
                   mine->graph_id);
}

/* Compares all but the precision, which the size of a value stands for. */
static td_status compare_parameters(const td_identity *written, const td_identity *mine, const td_program_info *info,
                                    const char *path)
{
    char one[TD_SETTING_BYTES], other[TD_SETTING_BYTES];
    for (uint64_t i = 0; i < td_settings_length(info->parameters); i++) {
        const td_setting *entry = &info->parameters[i];
        if ((int)i + 1 == info->precision_choice) continue;
        if (entry->kind == TD_SETTING_TEXT || memcmp(&written->parameter[i], &mine->parameter[i], sizeof(double)) == 0)
            continue;
        td_setting_print(one, entry, written->parameter[i], NULL);
        td_setting_print(other, entry, mine->parameter[i], NULL);
        return td_fail(TD_INVALID, "%s is of a run with %s.%s=%s; this one has %s", path, info->name, entry->name, one,
                       other);
    }
    return TD_OK;
}

/* Inputs come from files, or from the source if there is no file. */
static td_status compare_inputs(const td_identity *written, const td_identity *mine, const td_program_info *info,
                                const char *path)
{
    char names[128] = "";
    if (memcmp(written->input_hash, mine->input_hash, sizeof mine->input_hash) == 0) return TD_OK;
    for (uint64_t i = 0; i < td_settings_length(info->parameters); i++) {
        size_t used = strlen(names);
        if (info->parameters[i].kind != TD_SETTING_TEXT) continue;
        snprintf(names + used, sizeof names - used, "%s%s.%s", used > 0 ? ", " : "", info->name,
                 info->parameters[i].name);
    }
    return td_fail(TD_INVALID, "%s is of a run with other inputs (%s)", path, names);
}

td_status td_identity_check_program(const td_identity *written, const td_program_info *info, const char *path)
{
    if (strcmp(written->program, info->name) == 0) return TD_OK;
    return td_fail(TD_INVALID, "%s is of the program %s; this one is %s", path, written->program, info->name);
}

td_status td_identity_compare(const td_identity *written, const td_identity *mine, const td_run *run, td_pool *pool,
                              const char *path)
{
    const td_program_info *info = run->program->info;
    TD_CHECK(td_identity_check_program(written, info, path));
    TD_CHECK(compare_graph(written, mine, run, pool, path));
    if (written->source != mine->source)
        return td_fail(TD_INVALID, "%s is of a run from the source %" PRIu64 "; this one is from %" PRIu64, path,
                       td_graph_id(run->graph, written->source), td_graph_id(run->graph, mine->source));
    if (written->async != mine->async)
        return td_fail(TD_INVALID, "%s is of %s; give %s", path,
                       written->async ? "an asynchronous run" : "a synchronous run",
                       td_named(written->async ? "async" : "sync"));
    if (mine->strict && !written->strict)
        return td_fail(TD_INVALID, "%s is of a run whose iterations may read their own values, so that this run would not "
                       "give what its number of iterations gives elsewhere; leave out {iterations}", path);
    TD_CHECK(compare_parameters(written, mine, info, path));
    TD_CHECK(compare_inputs(written, mine, info, path));
    if (written->value_bytes == mine->value_bytes) return TD_OK;
    if (info->precision_choice > 0)
        return td_fail(TD_INVALID, "%s has values of %" PRIu32 " bytes, and this run of %s has %" PRIu32
                       "; give %s.precision=%s", path, written->value_bytes, info->name, mine->value_bytes, info->name,
                       written->value_bytes == sizeof(uint32_t) ? "single" : "double");
    return td_fail(TD_INVALID, "%s is of another version of %s, with values of %" PRIu32 " bytes instead of %" PRIu32,
                   path, info->name, written->value_bytes, mine->value_bytes);
}

/* Writing. */

static uint64_t place_of(const disk_header *header, td_state_part which)
{
    uint64_t place = PAGE;
    for (int i = 0; i < (int)which; i++) place += td_state_padded(header->bytes[i]);
    return place;
}

static uint64_t file_bytes(const disk_header *header) { return place_of(header, TD_STATE_PARTS); }

static uint64_t hash_page(const header_page *page)
{
    header_page copy = *page;
    copy.header.page_hash = 0;
    return td_hash64(&copy, sizeof copy);
}

static void fill_header(disk_header *header, const td_identity *identity, const td_state *state)
{
    *header = (disk_header){.byte_order = BYTE_ORDER_MARK, .version = TD_CHECKPOINT_VERSION, .identity = *identity,
                            .iteration = state->iteration, .phase = state->phase, .converged = state->converged,
                            .has_active = state->has_active, .by_levels = state->by_levels, .global = state->global,
                            .change = state->change};
    memcpy(header->magic, MAGIC, sizeof header->magic);
    header->bytes[TD_STATE_VALUES] = (uint64_t)identity->vertices * identity->value_bytes;
    header->bytes[TD_STATE_ACTIVE] = state->has_active ? td_bitmap_words(identity->vertices) * sizeof(uint64_t) : 0;
    header->bytes[TD_STATE_EDGES] = state->edge_count * sizeof(uint64_t);
}

/* Writes in chunks, so that the disk works while checksums are computed. */
static td_status write_part(td_outfile *file, disk_header *header, td_state *state, td_state_part part)
{
    uint64_t bytes = header->bytes[part], whole = td_state_padded(bytes), place = place_of(header, part);
    const char *data = td_state_data(state, part);
    for (uint64_t begin = 0, end; begin < whole; begin = end) {
        end = whole - begin < CHUNK ? whole : begin + CHUNK;
        td_state_sum_blocks(state, part, begin, end, bytes);
        TD_CHECK(td_outfile_write_pages(file, place + begin, data + begin, end - begin));
    }
    header->hashes[part] = td_state_sum(state, part, bytes);
    return TD_OK;
}

td_status td_checkpoint_write(const char *path, const td_identity *identity, td_state *state, uint64_t *bytes)
{
    td_status status = TD_OK;
    td_outfile *file = NULL;
    header_page page = {.bytes = {0}};
    fill_header(&page.header, identity, state);
    *bytes = file_bytes(&page.header);
    TD_TRY(td_outfile_create(&file, path, TD_OUT_BINARY));
    TD_TRY(td_outfile_reserve(file, *bytes));
    for (td_state_part i = 0; i < TD_STATE_PARTS; i++) TD_TRY(write_part(file, &page.header, state, i));
    page.header.page_hash = hash_page(&page);
    TD_TRY(td_outfile_write_pages(file, 0, &page, sizeof page));
    TD_TRY(td_outfile_commit(file));
done:
    td_outfile_close(file);
    return status;
}

/* Reading. */

static td_status read_at(int fd, const char *path, uint64_t offset, void *into, uint64_t bytes)
{
    char *to = into;
    while (bytes > 0) {
        ssize_t got = pread(fd, to, bytes < (1u << 30) ? bytes : 1u << 30, (off_t)offset);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return td_fail_errno(TD_IO, errno, "cannot read %s at byte %" PRIu64, path, offset);
        if (got == 0) return td_fail(TD_CORRUPT, "%s is truncated: it ends at byte %" PRIu64, path, offset);
        to += got;
        offset += (uint64_t)got;
        bytes -= (uint64_t)got;
    }
    return TD_OK;
}

/* Checks the fields that all versions of the format have first. */
static td_status check_version(const disk_header *header, const char *path)
{
    if (memcmp(header->magic, MAGIC, sizeof header->magic) != 0)
        return td_fail(TD_FORMAT, "%s is no checkpoint of Tandem", path);
    if (header->byte_order != BYTE_ORDER_MARK)
        return td_fail(TD_UNSUPPORTED, "%s was written by a machine of the other byte order", path);
    if (header->version != TD_CHECKPOINT_VERSION)
        return td_fail(TD_UNSUPPORTED, "%s has version %" PRIu32 "; this Tandem reads version %u", path,
                       header->version, TD_CHECKPOINT_VERSION);
    return TD_OK;
}

static bool is_flag(uint32_t word) { return word <= 1; }

/* Checks the fields that are independent of arrays, and the size of a value, from which the arrays' lengths follow. */
static td_status check_words(const disk_header *header, const char *path)
{
    const td_identity *identity = &header->identity;
    static const char *const names[] = {"converged", "has_active", "by_levels", "async", "strict", "symmetric", "real_weights"};
    const uint32_t flags[] = {header->converged, header->has_active, header->by_levels, identity->async,
                              identity->strict, identity->symmetric, identity->real_weights};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (!is_flag(flags[i]))
            return td_fail(TD_CORRUPT, "%s: the flag %s of its header is %" PRIu32 "; allowed are 0 and 1", path,
                           names[i], flags[i]);
    if (identity->value_bytes == 0 || identity->value_bytes > MOST_VALUE_BYTES)
        return td_fail(TD_CORRUPT, "%s: its header has values of %" PRIu32 " bytes; allowed are 1 to %d", path,
                       identity->value_bytes, MOST_VALUE_BYTES);
    return TD_OK;
}

static td_status check_header(const header_page *page, const char *path, uint64_t length)
{
    const disk_header *header = &page->header;
    if (header->page_hash != hash_page(page))
        return td_fail(TD_CORRUPT, "%s: its header is damaged: the checksum does not fit", path);
    TD_CHECK(check_words(header, path));
    const td_identity *identity = &header->identity;
    uint64_t words = td_bitmap_words(identity->vertices) * sizeof(uint64_t),
             most = (uint64_t)identity->vertices * sizeof(uint64_t);
    bool fits = header->bytes[TD_STATE_VALUES] == (uint64_t)identity->vertices * identity->value_bytes &&
                header->bytes[TD_STATE_ACTIVE] == (header->has_active ? words : 0) &&
                header->bytes[TD_STATE_EDGES] <= most &&
                header->bytes[TD_STATE_EDGES] % sizeof(uint64_t) == 0 && identity->source < identity->vertices &&
                memchr(identity->program, 0, sizeof identity->program) != NULL;
    if (!fits) return td_fail(TD_CORRUPT, "%s: its header contradicts itself", path);
    uint64_t wanted = file_bytes(header);
    if (length == wanted) return TD_OK;
    return td_fail(TD_CORRUPT, "%s is %s: it has %" PRIu64 " bytes, not %" PRIu64, path,
                   length < wanted ? "truncated" : "too long", length, wanted);
}

static td_status read_part(int fd, const char *path, const disk_header *header, td_state *state, td_state_part part)
{
    uint64_t bytes = header->bytes[part], whole = td_state_padded(bytes), place = place_of(header, part);
    TD_CHECK(td_state_new_part(state, part, bytes));
    for (uint64_t begin = 0, end; begin < whole; begin = end) {
        end = whole - begin < CHUNK ? whole : begin + CHUNK;
        TD_CHECK(td_cancel_check());
        TD_CHECK(read_at(fd, path, place + begin, (char *)td_state_data(state, part) + begin, end - begin));
        td_state_sum_blocks(state, part, begin, end, whole);
    }
    if (td_state_sum(state, part, bytes) == header->hashes[part]) return TD_OK;
    return td_fail(TD_CORRUPT, "%s: its %s (bytes %" PRIu64 " to %" PRIu64 ") are damaged: the checksum does not fit",
                   path, part_names[part], place, place + whole - 1);
}

static td_status open_file(const char *path, int *fd, header_page *page)
{
    struct stat info;
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0 || fstat(*fd, &info) != 0) return td_fail_errno(TD_IO, errno, "cannot open %s", path);
    TD_CHECK(read_at(*fd, path, 0, page, offsetof(disk_header, identity)));
    TD_CHECK(check_version(&page->header, path)); /* a file of another version may be shorter than a page */
    TD_CHECK(read_at(*fd, path, 0, page, sizeof *page));
    return check_header(page, path, (uint64_t)info.st_size);
}

td_status td_checkpoint_peek(const char *path, td_identity *identity, uint32_t *iterations)
{
    header_page page;
    int fd;
    td_status status = open_file(path, &fd, &page);
    if (fd >= 0) close(fd);
    if (status != TD_OK) return status;
    *identity = page.header.identity;
    *iterations = page.header.iteration;
    return TD_OK;
}

td_status td_checkpoint_read(const char *path, td_identity *identity, td_state *state)
{
    td_status status = TD_OK;
    header_page page;
    const disk_header *header = &page.header;
    int fd = -1;
    td_state read = {0};
    TD_TRY(open_file(path, &fd, &page));
    for (td_state_part i = 0; i < TD_STATE_PARTS; i++) TD_TRY(read_part(fd, path, header, &read, i));
    read.has_active = header->has_active;
    read.by_levels = header->by_levels;
    read.edge_count = header->bytes[TD_STATE_EDGES] / sizeof(uint64_t);
    read.iteration = header->iteration;
    read.phase = header->phase;
    read.global = header->global;
    read.change = header->change;
    read.converged = header->converged;
    *identity = header->identity;
    *state = read;
    read = (td_state){0};
done:
    td_state_clear(&read);
    if (fd >= 0) close(fd);
    return status;
}
