/* Complete reads and writes at an offset of a file, resumed after interruptions. False with errno set and *offset where
 * it failed; the end of the file in the middle of a read is EIO. */
#ifndef TD_BASE_TRANSFER_H
#define TD_BASE_TRANSFER_H

#include <stdbool.h>
#include <stdint.h>

/* Also fails where td_outfile_fail_at requests it. */
bool td_write_all_at(int fd, uint64_t *offset, const void *data, uint64_t bytes);
bool td_read_all_at(int fd, uint64_t *offset, void *into, uint64_t bytes);

#endif
