/* A file that appears whole or not at all.
 *
 * Writes go to a temporary file in the target's directory; td_outfile_commit renames
 * it after the bytes are on disk. Any failure, a cancel, or closing without a commit
 * removes it. An existing target stays unchanged until the commit, and the new file
 * gets its permissions.
 *
 *     TD_TRY(td_outfile_create(&file, path, TD_OUT_BINARY));
 *     TD_TRY(td_outfile_write(file, data, bytes));
 *     TD_TRY(td_outfile_commit(file));
 *     done: td_outfile_close(file);
 */
#ifndef TD_BASE_OUTFILE_H
#define TD_BASE_OUTFILE_H

#include "base/status.h"

typedef struct td_outfile td_outfile;

/* Text may go to standard output, called "-" or "/dev/stdout", and straight to a
 * character device such as /dev/null. */
typedef enum td_outfile_kind { TD_OUT_BINARY, TD_OUT_TEXT } td_outfile_kind;

/* Refuses a path that cannot become a regular file. */
td_status td_outfile_create(td_outfile **out, const char *path, td_outfile_kind kind);

/* Appends, through a large buffer. One thread. */
td_status td_outfile_write(td_outfile *file, const void *data, uint64_t bytes);
td_status td_outfile_print(td_outfile *file, const char *format, ...) TD_PRINTF(2, 3);

/* Writes at an offset, unbuffered, from any thread; not for standard output. */
td_status td_outfile_write_at(td_outfile *file, uint64_t offset, const void *data, uint64_t bytes);

/* Writes whole pages from page-aligned memory: with O_DIRECT where the file system supports it, otherwise starting
 * write-back at once. Must not be mixed with the other writes. One thread. */
enum { TD_OUTFILE_PAGE = 4096 };
td_status td_outfile_write_pages(td_outfile *file, uint64_t offset, const void *data, uint64_t bytes);

/* Reads bytes written before the commit; all of them or an error. */
td_status td_outfile_read_at(td_outfile *file, uint64_t offset, void *into, uint64_t bytes);

/* Sets the length: cuts the file off, or extends it with zeros. */
td_status td_outfile_set_length(td_outfile *file, uint64_t bytes);

/* Reserves disk space for a file of this length, so that a full disk is detected at
 * the start. Does nothing where the file system does not support it. */
td_status td_outfile_reserve(td_outfile *file, uint64_t bytes);

bool td_outfile_is_stdout(const td_outfile *file);

/* Flushes to disk, as td_outfile_commit does. For files that must appear together. */
td_status td_outfile_sync(td_outfile *file);
td_status td_outfile_commit(td_outfile *file);
void td_outfile_close(td_outfile *file); /* NULL is fine; removes an uncommitted file */

/* Removes every uncommitted file of this process. Async-signal-safe: for a
 * handler that is about to end the process. */
void td_outfile_abort_all(void);

/* For tests: the nth following step (create, reserve, write, sync, rename; 1: the next) fails with
 * this errno; 0: none. TD_OUTFILE_KILL: the process ends there. */
enum { TD_OUTFILE_KILL = -1 };
void td_outfile_fail_at(uint64_t nth, int error);
bool td_outfile_fails_now(void); /* sets errno if this step must fail; steps of temporary files count too */

#endif
