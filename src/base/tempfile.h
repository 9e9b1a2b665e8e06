/* An unnamed temporary file. It disappears with its descriptor: after a close, a
 * failure, a Ctrl-C or a kill there is nothing to remove. */
#ifndef TD_BASE_TEMPFILE_H
#define TD_BASE_TEMPFILE_H

#include "base/status.h"

typedef struct td_tempfile td_tempfile;

td_status td_tempfile_create(td_tempfile **out, const char *directory);
void td_tempfile_close(td_tempfile *file); /* NULL is fine */

/* Appends; any thread may call, because the place is reserved atomically. *offset receives the place. */
td_status td_tempfile_append(td_tempfile *file, const void *data, uint64_t bytes, uint64_t *offset);
td_status td_tempfile_read(const td_tempfile *file, uint64_t offset, void *into, uint64_t bytes);

/* Advises the system that these bytes will be read soon; and that they will not be
 * read again, so that it may free their space. */
void td_tempfile_expect(const td_tempfile *file, uint64_t offset, uint64_t bytes);
void td_tempfile_drop(const td_tempfile *file, uint64_t offset, uint64_t bytes);

int td_tempfile_descriptor(const td_tempfile *file); /* owned by the file */
uint64_t td_tempfile_bytes(const td_tempfile *file); /* written so far */

#endif
