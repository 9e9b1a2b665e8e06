#include "base/tempfile.h"

#include "base/alloc.h"
#include "base/outfile.h"
#include "base/transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct td_tempfile {
    int fd;
    char *directory;
    _Atomic uint64_t bytes;
};

/* Where the file system has no unnamed files, creates a file and unlinks it at once. */
static int open_nameless(const char *directory)
{
    char name[PATH_MAX];
    int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT && errno != EINVAL)) return fd;
    if (snprintf(name, sizeof name, "%s/.tandem-XXXXXX", directory) >= (int)sizeof name) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = mkostemp(name, O_CLOEXEC);
    if (fd >= 0) unlink(name);
    return fd;
}

td_status td_tempfile_create(td_tempfile **out, const char *directory)
{
    td_status status = TD_OK;
    td_tempfile *file = NULL;
    TD_CHECK(TD_NEW_ZEROED(&file, 1, "temporary file"));
    file->fd = -1;
    TD_TRY(td_string_copy(&file->directory, directory, "directory"));
    file->fd = td_outfile_fails_now() ? -1 : open_nameless(directory);
    if (file->fd < 0) TD_TRY(td_fail_errno(TD_IO, errno, "cannot make a temporary file in %s", directory));
    *out = file;
    file = NULL;
done:
    td_tempfile_close(file);
    return status;
}

void td_tempfile_close(td_tempfile *file)
{
    if (file == NULL) return;
    if (file->fd >= 0) close(file->fd);
    td_free(file->directory);
    td_free(file);
}

td_status td_tempfile_append(td_tempfile *file, const void *data, uint64_t bytes, uint64_t *offset)
{
    uint64_t at = *offset = atomic_fetch_add(&file->bytes, bytes);
    if (td_write_all_at(file->fd, &at, data, bytes)) return TD_OK;
    return td_fail_errno(TD_IO, errno, "cannot write a temporary file in %s at byte %llu", file->directory,
                         (unsigned long long)at);
}

td_status td_tempfile_read(const td_tempfile *file, uint64_t offset, void *into, uint64_t bytes)
{
    if (td_read_all_at(file->fd, &offset, into, bytes)) return TD_OK;
    return td_fail_errno(TD_IO, errno, "cannot read back a temporary file in %s at byte %llu", file->directory,
                         (unsigned long long)offset);
}

void td_tempfile_expect(const td_tempfile *file, uint64_t offset, uint64_t bytes)
{
    posix_fadvise(file->fd, (off_t)offset, (off_t)bytes, POSIX_FADV_WILLNEED);
}

void td_tempfile_drop(const td_tempfile *file, uint64_t offset, uint64_t bytes)
{
    if (fallocate(file->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)bytes) != 0)
        posix_fadvise(file->fd, (off_t)offset, (off_t)bytes, POSIX_FADV_DONTNEED);
}

int td_tempfile_descriptor(const td_tempfile *file) { return file->fd; }
uint64_t td_tempfile_bytes(const td_tempfile *file) { return file->bytes; }
