/* Reads and writes at a place of a file that go on until all of it is done, interrupted or not. False with errno set
 * and *offset where it ended otherwise; the end of the file in the middle of a read is EIO. */
#ifndef TD_BASE_TRANSFER_H
#define TD_BASE_TRANSFER_H

#include <stdbool.h>
#include <stdint.h>

/* Fails when td_outfile_fail_at says so. */
bool td_write_all_at(int fd, uint64_t *offset, const void *data, uint64_t bytes);
bool td_read_all_at(int fd, uint64_t *offset, void *into, uint64_t bytes);

#endif
