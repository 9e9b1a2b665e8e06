/* A packed file being written, from a graph in memory (packed_write.c) or by a build
 * out of memory (external.c). Sections may be put in any order, by any thread, once
 * the layout is known. The file and its stripes appear under their names together, at
 * the end, or not at all.
 *
 *     TD_TRY(td_packed_out_create(&out, path, directories));
 *     TD_TRY(td_packed_out_place(out, &info));
 *     TD_TRY(td_packed_out_put(out, kind, offset, data, bytes)); ... until all is there
 *     TD_TRY(td_packed_out_commit(out));
 *     done: td_packed_out_close(out);
 */
#ifndef TD_STORE_PACKED_OUT_H
#define TD_STORE_PACKED_OUT_H

#include "store/packed.h"

typedef struct td_packed_out td_packed_out;

/* Starts the file, and one stripe in each of `directories` ("dir1,dir2"; NULL: no stripes). */
td_status td_packed_out_create(td_packed_out **out, const char *path, const char *directories);

/* Fixes the layout and, if `claim` is set, reserves the disk space. It may be called
 * again when more is known about the graph: sections put before stay valid if no
 * section before them in the file changes its length. */
td_status td_packed_out_place(td_packed_out *out, const td_packed_info *info, bool claim);

/* Writes whole blocks of a section: `offset` is a multiple of TD_PACKED_BLOCK, `bytes` too unless the section
 * ends there; then `data` must be padded with zeros to a multiple of TD_PACKED_ALIGN. */
td_status td_packed_out_put(td_packed_out *out, td_section_kind kind, uint64_t offset, const void *data,
                            uint64_t bytes);

/* Reads bytes of a section that were put before. */
td_status td_packed_out_read(td_packed_out *out, td_section_kind kind, uint64_t offset, void *into, uint64_t bytes);

/* True if two sections, as far as they were put, have the same checksums. */
bool td_packed_out_alike(const td_packed_out *out, td_section_kind a, td_section_kind b);

/* The layout, with the file's stripes. */
const td_packed_info *td_packed_out_info(const td_packed_out *out);

/* Writes a section from begin to end, in pieces of any length. One thread. */
typedef struct td_section_stream {
    td_packed_out *out;
    td_section_kind kind;
    char *buffer;
    uint64_t offset;
    uint32_t filled;
} td_section_stream;

#define TD_STREAMING_BYTES (16u * TD_PACKED_BLOCK)

td_status td_section_stream_open(td_section_stream *stream, td_packed_out *out, td_section_kind kind);
td_status td_section_stream_flush(td_section_stream *stream); /* when the buffer is full */
td_status td_section_stream_end(td_section_stream *stream);   /* puts the rest with its padding */
void td_section_stream_close(td_section_stream *stream);      /* frees the buffer; any time */

/* Elements of 1, 2, 4 or 8 bytes: they never cross two buffers. */
static inline void *td_section_stream_next(td_section_stream *stream, uint32_t element, td_status *status)
{
    if (__builtin_expect(stream->filled == TD_STREAMING_BYTES, 0)) *status = td_section_stream_flush(stream);
    void *at = stream->buffer + stream->filled;
    stream->filled += element;
    return at;
}

/* Writes checksums and headers, flushes all files to disk and renames them. */
td_status td_packed_out_commit(td_packed_out *out);
void td_packed_out_close(td_packed_out *out); /* NULL is fine; removes uncommitted files */

#endif
