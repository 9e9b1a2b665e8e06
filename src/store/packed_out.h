/* A packed file in the making, for whoever has its sections: a graph in memory
 * (packed_write.c) or a build that never holds one. Sections may be
 * put in any order, by any thread, once the layout is known. The file and its
 * stripes appear under their names together, at the end, or not at all.
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

/* Fixes the layout and claims the space. */
td_status td_packed_out_place(td_packed_out *out, const td_packed_info *info);

/* Whole blocks of a section: `offset` is a multiple of TD_PACKED_BLOCK, `bytes` too unless the section
 * ends there, and then `data` goes on with zeros up to a multiple of TD_PACKED_ALIGN. */
td_status td_packed_out_put(td_packed_out *out, td_section_kind kind, uint64_t offset, const void *data,
                            uint64_t bytes);

/* The layout, with the file's stripes. */
const td_packed_info *td_packed_out_info(const td_packed_out *out);

/* Writes checksums and headers, brings everything to the disk and gives the files their names. */
td_status td_packed_out_commit(td_packed_out *out);
void td_packed_out_close(td_packed_out *out); /* NULL is fine; removes what was not committed */

#endif
