/* Every block is hashed and written to its place at once. The checksums and then the
 * headers are written last, because they contain hashes of the rest. */
#include "store/packed_out.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/hash.h"
#include "base/outfile.h"
#include "store/packed_file.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct td_packed_out {
    td_packed_info info;
    td_outfile *files[1 + TD_MOST_STRIPES]; /* the .tg, then the stripes */
    char *stripe_paths[TD_MOST_STRIPES];
    char names[TD_STRIPE_NAMES]; /* of the stripes, as in the header */
    size_t names_used;
    uint64_t *checksums; /* with room for the zeros behind them */
    uint64_t checksum_words;
};

/* The directory, absolute and without links, ending in a slash. */
static td_status resolve_directory(char full[PATH_MAX], const char *directory)
{
    if (realpath(directory, full) == NULL) return td_fail_errno(TD_IO, errno, "cannot use directory %s", directory);
    size_t length = strlen(full);
    if (full[length - 1] == '/') return TD_OK;
    if (length + 2 > PATH_MAX) return td_fail_errno(TD_IO, ENAMETOOLONG, "cannot use directory %s", directory);
    memcpy(full + length, "/", 2);
    return TD_OK;
}

/* Names below the .tg's directory are stored relative to it, so that the directory can be moved. */
static td_status note_name(td_packed_out *out, const char *home, const char *path)
{
    size_t under = strncmp(path, home, strlen(home)) == 0 ? strlen(home) : 0;
    size_t bytes = strlen(path + under) + 1;
    if (bytes > sizeof out->names - out->names_used)
        return td_fail(TD_LIMIT, "the names of the stripes take more than %zu bytes in all: use shorter directories",
                       sizeof out->names);
    memcpy(out->names + out->names_used, path + under, bytes);
    out->names_used += bytes;
    return TD_OK;
}

static td_status add_stripe(td_packed_out *out, const char *tg, const char *directory, uint32_t number, uint32_t count)
{
    char home[PATH_MAX], full[PATH_MAX], path[PATH_MAX], copy[PATH_MAX];
    const char *slash = strrchr(tg, '/'), *name = slash == NULL ? tg : slash + 1;
    snprintf(copy, sizeof copy, "%s", tg);
    TD_CHECK(resolve_directory(home, dirname(copy)));
    TD_CHECK(resolve_directory(full, directory));
    if (snprintf(path, sizeof path, "%s%s.%uof%u", full, name, number, count) >= (int)sizeof path)
        return td_fail_errno(TD_IO, ENAMETOOLONG, "cannot write a stripe in %s", directory);
    TD_CHECK(note_name(out, home, path));
    TD_CHECK(td_string_copy(&out->stripe_paths[number - 1], path, "stripe name"));
    return td_outfile_create(&out->files[number], path, TD_OUT_BINARY);
}

static uint32_t count_directories(const char *directories)
{
    uint32_t count = 1;
    for (const char *at = directories; *at != '\0'; at++) count += *at == ',';
    return count;
}

static td_status add_stripes(td_packed_out *out, const char *tg, const char *directories)
{
    uint32_t count = count_directories(directories);
    if (count > TD_MOST_STRIPES)
        return td_fail(TD_LIMIT, "%u directories for stripes; at most %u are supported", count, TD_MOST_STRIPES);
    const char *at = directories;
    for (uint32_t number = 1; number <= count; number++) {
        char directory[PATH_MAX];
        size_t length = strcspn(at, ",");
        if (length == 0)
            return td_fail(TD_INVALID, "'%s' names no directory at place %u (example: dir1,dir2,dir3)", directories,
                           number);
        if (length >= sizeof directory) return td_fail_errno(TD_IO, ENAMETOOLONG, "cannot use directory %s", at);
        memcpy(directory, at, length);
        directory[length] = '\0';
        TD_CHECK(add_stripe(out, tg, directory, number, count));
        at += length + 1;
    }
    out->info.stripes = count;
    return TD_OK;
}

td_status td_packed_out_create(td_packed_out **result, const char *path, const char *directories)
{
    td_status status = TD_OK;
    td_packed_out *out = NULL;
    TD_CHECK(TD_NEW_ZEROED(&out, 1, "packed file"));
    TD_TRY(td_outfile_create(&out->files[0], path, TD_OUT_BINARY));
    if (directories != NULL) TD_TRY(add_stripes(out, path, directories));
    *result = out;
    out = NULL;
done:
    td_packed_out_close(out);
    return status;
}

const td_packed_info *td_packed_out_info(const td_packed_out *out) { return &out->info; }

static uint64_t file_bytes(const td_packed_out *out, uint32_t file)
{
    return file == 0 ? td_packed_main_bytes(&out->info) : td_stripe_bytes(&out->info);
}

td_status td_packed_out_place(td_packed_out *out, const td_packed_info *info, bool claim)
{
    uint32_t stripes = out->info.stripes;
    uint64_t words = td_packed_padded(info->sections[TD_SECTION_CHECKSUMS].bytes) / 8;
    TD_CHECK(TD_RESIZE(&out->checksums, words, "checksums"));
    if (words > out->checksum_words)
        memset(out->checksums + out->checksum_words, 0, (words - out->checksum_words) * sizeof *out->checksums);
    out->checksum_words = words;
    out->info = *info;
    out->info.stripes = stripes;
    for (uint32_t i = 0; claim && i <= stripes; i++) TD_CHECK(td_outfile_reserve(out->files[i], file_bytes(out, i)));
    return TD_OK;
}

td_status td_packed_out_read(td_packed_out *out, td_section_kind kind, uint64_t offset, void *into, uint64_t bytes)
{
    for (char *to = into; bytes > 0;) {
        td_packed_spot spot = td_packed_locate(&out->info, kind, offset);
        uint64_t now = spot.bytes < bytes ? spot.bytes : bytes;
        TD_CHECK(td_outfile_read_at(out->files[spot.file], spot.offset, to, now));
        to += now;
        offset += now;
        bytes -= now;
    }
    return TD_OK;
}

bool td_packed_out_alike(const td_packed_out *out, td_section_kind a, td_section_kind b)
{
    const td_packed_info *info = &out->info;
    uint64_t blocks = td_section_blocks(&info->sections[a]);
    if (info->sections[a].bytes != info->sections[b].bytes) return false;
    return memcmp(out->checksums + td_packed_first_block(info, a), out->checksums + td_packed_first_block(info, b),
                  blocks * sizeof *out->checksums) == 0;
}

static td_status put_bytes(td_packed_out *out, td_section_kind kind, uint64_t offset, const char *data, uint64_t bytes)
{
    while (bytes > 0) {
        td_packed_spot spot = td_packed_locate(&out->info, kind, offset);
        uint64_t now = spot.bytes < bytes ? spot.bytes : bytes;
        TD_CHECK(td_outfile_write_at(out->files[spot.file], spot.offset, data, now));
        data += now;
        offset += now;
        bytes -= now;
    }
    return TD_OK;
}

td_status td_packed_out_put(td_packed_out *out, td_section_kind kind, uint64_t offset, const void *data, uint64_t bytes)
{
    uint64_t *checksums = out->checksums + td_packed_first_block(&out->info, kind) + offset / TD_PACKED_BLOCK;
    for (uint64_t at = 0; at < bytes; at += TD_PACKED_BLOCK) {
        uint64_t left = bytes - at;
        *checksums++ = td_hash64((const char *)data + at, left < TD_PACKED_BLOCK ? left : TD_PACKED_BLOCK);
    }
    return put_bytes(out, kind, offset, data, bytes);
}

/* The header of the file without stripes; its hash is the build id. */
static void fill_header(const td_packed_out *out, td_disk_header *header)
{
    const td_packed_info *info = &out->info;
    uint64_t checksum_bytes = td_packed_padded(info->sections[TD_SECTION_CHECKSUMS].bytes);
    *header = (td_disk_header){
        .byte_order = TD_PACKED_BYTE_ORDER,
        .version = info->name_bytes > 0 ? TD_PACKED_NAMED : TD_PACKED_PLAIN,
        .header_bytes = sizeof *header,
        .block_bytes = TD_PACKED_BLOCK,
        .file_bytes = info->file_bytes,
        .vertices = info->vertices,
        .edges = info->edges,
        .flags = (info->symmetric ? TD_PACKED_SYMMETRIC : 0u) | (info->has_in ? TD_PACKED_HAS_IN : 0u) |
                 (info->has_ids ? TD_PACKED_HAS_IDS : 0u) | (info->ids_sorted ? TD_PACKED_IDS_SORTED : 0u) |
                 (info->name_bytes > 0 ? TD_PACKED_HAS_NAMES : 0u),
        .weights = (uint32_t)info->weights,
        .weight_min = info->weight_min,
        .weight_max = info->weight_max,
        .id_base = info->id_base,
        .checksums_hash = td_hash64(out->checksums, checksum_bytes),
    };
    memcpy(header->magic, TD_PACKED_MAGIC, sizeof header->magic);
    for (uint32_t kind = 0; kind < TD_SECTIONS; kind++) {
        const td_section *section = &info->sections[kind];
        if (section->element == 0) continue;
        *td_table_entry(header, header->section_count++) =
            (td_disk_section){td_section_number(kind), section->element, section->offset, section->bytes};
    }
    header->build_id = td_hash64(header, sizeof *header);
}

static void stripe_header(const td_packed_out *out, td_disk_header *header)
{
    if (header->version == TD_PACKED_PLAIN) header->version = TD_PACKED_STRIPED;
    header->stripes = out->info.stripes;
    header->stripe_unit = TD_STRIPE_UNIT;
    memcpy(header->stripe_names, out->names, out->names_used);
}

static td_status write_stripe_header(td_packed_out *out, uint32_t number)
{
    td_stripe_header header = {
        .byte_order = TD_PACKED_BYTE_ORDER,
        .version = TD_STRIPE_VERSION,
        .header_bytes = sizeof header,
        .stripe_unit = TD_STRIPE_UNIT,
        .number = number,
        .stripes = out->info.stripes,
        .file_bytes = td_stripe_bytes(&out->info),
        .build_id = out->info.build_id,
    };
    memcpy(header.magic, TD_STRIPE_MAGIC, sizeof header.magic);
    header.header_hash = td_hash64(&header, offsetof(td_stripe_header, header_hash));
    return td_outfile_write_at(out->files[number], 0, &header, sizeof header);
}

static td_status write_headers(td_packed_out *out)
{
    td_disk_header header;
    fill_header(out, &header);
    out->info.build_id = header.build_id;
    if (out->info.stripes > 0) stripe_header(out, &header);
    header.header_hash = td_hash64(&header, offsetof(td_disk_header, header_hash));
    for (uint32_t i = 1; i <= out->info.stripes; i++) TD_CHECK(write_stripe_header(out, i));
    return td_outfile_write_at(out->files[0], 0, &header, sizeof header);
}

/* Flushes all files to disk before the first one is renamed; renames the .tg last. If that
 * fails half-way, removes the stripes. */
static td_status name_files(td_packed_out *out)
{
    for (uint32_t i = 0; i <= out->info.stripes; i++) TD_CHECK(td_outfile_sync(out->files[i]));
    td_status status = TD_OK;
    uint32_t named = 0;
    while (status == TD_OK && named < out->info.stripes) {
        status = td_outfile_commit(out->files[named + 1]);
        if (status == TD_OK) named++;
    }
    if (status == TD_OK) status = td_outfile_commit(out->files[0]);
    if (status == TD_OK) return TD_OK;
    for (uint32_t i = 0; i < named; i++) unlink(out->stripe_paths[i]);
    return status;
}

td_status td_packed_out_commit(td_packed_out *out)
{
    const td_section *section = &out->info.sections[TD_SECTION_CHECKSUMS];
    uint64_t padded = td_packed_padded(section->bytes);
    memset(out->checksums + section->bytes / 8, 0, padded - section->bytes); /* remains of an earlier layout */
    for (uint32_t i = 0; i <= out->info.stripes; i++)
        TD_CHECK(td_outfile_set_length(out->files[i], file_bytes(out, i)));
    TD_CHECK(put_bytes(out, TD_SECTION_CHECKSUMS, 0, (const char *)out->checksums, padded));
    TD_CHECK(write_headers(out));
    return name_files(out);
}

void td_packed_out_close(td_packed_out *out)
{
    if (out == NULL) return;
    for (uint32_t i = 0; i <= TD_MOST_STRIPES; i++) td_outfile_close(out->files[i]);
    for (uint32_t i = 0; i < TD_MOST_STRIPES; i++) td_free(out->stripe_paths[i]);
    td_free(out->checksums);
    td_free(out);
}

td_status td_section_stream_open(td_section_stream *stream, td_packed_out *out, td_section_kind kind)
{
    *stream = (td_section_stream){.out = out, .kind = kind};
    return TD_NEW(&stream->buffer, TD_STREAMING_BYTES, "section buffer");
}

td_status td_section_stream_flush(td_section_stream *stream)
{
    uint64_t offset = stream->offset, filled = stream->filled;
    stream->offset += filled;
    stream->filled = 0;
    TD_CHECK(td_cancel_check());
    return td_packed_out_put(stream->out, stream->kind, offset, stream->buffer, filled);
}

td_status td_section_stream_end(td_section_stream *stream)
{
    uint64_t padded = td_packed_padded(stream->filled);
    memset(stream->buffer + stream->filled, 0, padded - stream->filled);
    stream->filled = (uint32_t)padded;
    return padded > 0 ? td_section_stream_flush(stream) : TD_OK;
}

void td_section_stream_close(td_section_stream *stream)
{
    td_free(stream->buffer);
    stream->buffer = NULL;
}
