#include "base/transfer.h"

#include "base/outfile.h"

#include <errno.h>
#include <sys/types.h>
#include <unistd.h>

enum { AT_ONCE = 1 << 30 }; /* below the limit of a system call */

static size_t at_once(uint64_t bytes) { return bytes < AT_ONCE ? (size_t)bytes : (size_t)AT_ONCE; }

/* Advances by the bytes done; returns whether to continue. */
static bool moved(ssize_t done, uint64_t *offset, uint64_t *bytes)
{
    if (done < 0) return errno == EINTR;
    if (done == 0) errno = EIO;
    *offset += (uint64_t)done;
    *bytes -= (uint64_t)done;
    return done > 0;
}

bool td_write_all_at(int fd, uint64_t *offset, const void *data, uint64_t bytes)
{
    const char *from = data;
    for (uint64_t first = *offset; bytes > 0;) {
        ssize_t done = td_outfile_fails_now() ? -1
                                              : pwrite(fd, from + (*offset - first), at_once(bytes), (off_t)*offset);
        if (!moved(done, offset, &bytes)) return false;
    }
    return true;
}

bool td_read_all_at(int fd, uint64_t *offset, void *into, uint64_t bytes)
{
    char *to = into;
    for (uint64_t first = *offset; bytes > 0;)
        if (!moved(pread(fd, to + (*offset - first), at_once(bytes), (off_t)*offset), offset, &bytes)) return false;
    return true;
}
