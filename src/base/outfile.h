/* A file that appears whole or not at all.
 *
 * What is written goes to a temporary name in the target's directory; only
 * td_outfile_commit gives it its own name, after the bytes are on the disk. Any
 * failure, a cancel, or closing without a commit removes it. An existing target
 * stays as it was until that moment and lends the new file its permissions.
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

/* Refuses, by name, what cannot become a regular file. */
td_status td_outfile_create(td_outfile **out, const char *path, td_outfile_kind kind);

/* One after the other, through a large buffer. One thread. */
td_status td_outfile_write(td_outfile *file, const void *data, uint64_t bytes);
td_status td_outfile_print(td_outfile *file, const char *format, ...) TD_PRINTF(2, 3);

/* At a place of the caller's choice, unbuffered, from any thread; not for standard output. */
td_status td_outfile_write_at(td_outfile *file, uint64_t offset, const void *data, uint64_t bytes);

/* The same for whole pages out of memory that begins at one: past the system's page cache where the file system can do
 * that, otherwise with the way to the disk begun. A file that is written so is written by this alone. One thread. */
enum { TD_OUTFILE_PAGE = 4096 };
td_status td_outfile_write_pages(td_outfile *file, uint64_t offset, const void *data, uint64_t bytes);

/* What was written, before the commit; all of it or an error. */
td_status td_outfile_read_at(td_outfile *file, uint64_t offset, void *into, uint64_t bytes);

/* Makes the file that long: the rest is cut off, or reads as zeros. */
td_status td_outfile_set_length(td_outfile *file, uint64_t bytes);

/* Claims the disk space for a file of this length, so that a full disk is known
 * at the start. Where the file system cannot do that, it does nothing. */
td_status td_outfile_reserve(td_outfile *file, uint64_t bytes);

bool td_outfile_is_stdout(const td_outfile *file);

/* Brings what was written to the disk; td_outfile_commit does it too. For files that are to appear together. */
td_status td_outfile_sync(td_outfile *file);
td_status td_outfile_commit(td_outfile *file);
void td_outfile_close(td_outfile *file); /* NULL is fine; removes what was not committed */

/* Removes every uncommitted file of this process. Async-signal-safe: for a
 * handler that is about to end the process. */
void td_outfile_abort_all(void);

/* Tests: the nth step from now (create, reserve, write, sync, rename; 1 = the
 * next one) fails with this errno; 0 = none. TD_OUTFILE_KILL: it is the last thing the process does. */
enum { TD_OUTFILE_KILL = -1 };
void td_outfile_fail_at(uint64_t nth, int error);
bool td_outfile_fails_now(void); /* sets errno if this step is the one; temporary files count too */

#endif
