#include "base/outfile.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "base/transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_BUFFER = 1 << 20, LEAST_BUFFER = 4096, WRITE_AT_ONCE = 1 << 30 };
enum { SLOTS = 64, NAME_TRIES = 100, NAME_KEPT = 180 };

/* The temporary names, in static memory so that a signal handler can walk them. */
typedef struct slot {
    _Atomic int state; /* FREE, TAKEN, NAMED */
    pid_t owner;
    char name[PATH_MAX];
} slot;

enum { FREE, TAKEN, NAMED };

static slot slots[SLOTS];
static _Atomic uint64_t fail_at;
static _Atomic int fail_error;

struct td_outfile {
    char *path;      /* as given, for messages */
    char *target;    /* the final name, links resolved; NULL if the file is written directly */
    slot *temporary; /* NULL for standard output and devices, and once committed */
    int fd;
    bool is_paged, is_direct; /* written by td_outfile_write_pages; with O_DIRECT */
    char *buffer;
    size_t room, filled; /* of the buffer */
    uint64_t written;    /* bytes handed to the system by td_outfile_write */
};

void td_outfile_fail_at(uint64_t nth, int error)
{
    fail_error = error;
    fail_at = nth;
}

/* Called before every step that the disk can make fail; true: a test requested the failure. */
bool td_outfile_fails_now(void)
{
    uint64_t left = fail_at;
    while (left != 0) {
        if (!atomic_compare_exchange_weak(&fail_at, &left, left - 1)) continue;
        if (left != 1) return false;
        if (fail_error == TD_OUTFILE_KILL) (void)kill(getpid(), SIGKILL);
        errno = fail_error;
        return true;
    }
    return false;
}

void td_outfile_abort_all(void)
{
    for (int i = 0; i < SLOTS; i++)
        if (slots[i].state == NAMED && slots[i].owner == getpid()) unlink(slots[i].name);
}

static slot *take_slot(void)
{
    for (int i = 0; i < SLOTS; i++) {
        int expected = FREE;
        if (atomic_compare_exchange_strong(&slots[i].state, &expected, TAKEN)) return &slots[i];
    }
    return NULL;
}

static const char *kind_of_file(mode_t mode)
{
    if (S_ISDIR(mode)) return "a directory";
    if (S_ISFIFO(mode)) return "a FIFO";
    if (S_ISSOCK(mode)) return "a socket";
    return "a device";
}

/* The target's name with links resolved, and its permissions if it exists, else 0. */
static td_status resolve(const char *path, char target[PATH_MAX], mode_t *mode)
{
    struct stat info;
    *mode = 0;
    if (path[0] == '\0') return td_fail(TD_INVALID, "the output has an empty name");
    if (stat(path, &info) == 0) {
        if (!S_ISREG(info.st_mode))
            return td_fail(TD_IO, "cannot write %s: it is %s, not a regular file", path, kind_of_file(info.st_mode));
        if (access(path, W_OK) != 0) return td_fail_errno(TD_IO, errno, "cannot write %s", path);
        if (realpath(path, target) == NULL) return td_fail_errno(TD_IO, errno, "cannot write %s", path);
        *mode = info.st_mode & 0777;
        return TD_OK;
    }
    if (errno != ENOENT) return td_fail_errno(TD_IO, errno, "cannot write %s", path);
    if (lstat(path, &info) == 0) return td_fail(TD_IO, "cannot write %s: it is a link to a file that is absent", path);
    if (path[strlen(path) - 1] == '/') return td_fail(TD_IO, "cannot write %s: no such directory", path);
    char copy[PATH_MAX], folder[PATH_MAX];
    snprintf(copy, sizeof copy, "%s", path);
    if (realpath(dirname(copy), folder) == NULL)
        return td_fail_errno(TD_IO, errno, "cannot write %s: its directory", path);
    const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
    bool at_root = strcmp(folder, "/") == 0;
    if (snprintf(target, PATH_MAX, "%s/%s", at_root ? "" : folder, name) >= PATH_MAX)
        return td_fail_errno(TD_IO, ENAMETOOLONG, "cannot write %s", path);
    return TD_OK;
}

/* Makes <directory>/.<name>.<pid>-<random>.tmp, which must not exist yet. */
static td_status open_temporary(td_outfile *file, mode_t mode)
{
    const char *name = strrchr(file->target, '/') + 1;
    int folder = (int)(name - file->target);
    slot *mine = file->temporary;
    uint64_t seed = td_clock_ns() ^ (uintptr_t)file;
    mine->owner = getpid();
    for (int i = 0; i < NAME_TRIES; i++) {
        unsigned random = (unsigned)td_random_at(seed, (uint64_t)i);
        int length = snprintf(mine->name, sizeof mine->name, "%.*s.%.*s.%ld-%08x.tmp", folder, file->target, NAME_KEPT,
                              name, (long)getpid(), random);
        if (length >= (int)sizeof mine->name) return td_fail_errno(TD_IO, ENAMETOOLONG, "cannot write %s", file->path);
        mine->state = NAMED; /* before the file exists: a signal may come in between */
        file->fd = td_outfile_fails_now() ? -1 : open(mine->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file->fd >= 0) break;
        mine->state = TAKEN;
        if (errno != EEXIST) return td_fail_errno(TD_IO, errno, "cannot create a file beside %s", file->path);
    }
    if (file->fd < 0) return td_fail_errno(TD_IO, EEXIST, "cannot create a file beside %s", file->path);
    if (mode != 0 && fchmod(file->fd, mode) != 0)
        return td_fail_errno(TD_IO, errno, "cannot give %s its permissions", file->path);
    return TD_OK;
}

/* Devices such as /dev/null, which cannot be replaced by a file. */
static bool is_character_device(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISCHR(info.st_mode);
}

static td_status open_device(td_outfile *file)
{
    file->fd = td_outfile_fails_now() ? -1 : open(file->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return file->fd >= 0 ? TD_OK : td_fail_errno(TD_IO, errno, "cannot write %s", file->path);
}

static td_status open_target(td_outfile *file, td_outfile_kind kind)
{
    char target[PATH_MAX];
    mode_t mode;
    if (kind == TD_OUT_TEXT && is_character_device(file->path)) return open_device(file);
    TD_CHECK(resolve(file->path, target, &mode));
    TD_CHECK(td_string_copy(&file->target, target, "output name"));
    file->temporary = take_slot();
    td_refusal slots = {.resource = TD_RESOURCE_FILES, .needed = SLOTS + 1, .allowed = SLOTS};
    if (file->temporary == NULL)
        return td_refuse_as(TD_LIMIT, &slots, "cannot write %s: %d files are being written already", file->path, SLOTS);
    return open_temporary(file, mode);
}

td_status td_outfile_create(td_outfile **out, const char *path, td_outfile_kind kind)
{
    td_status status = TD_OK;
    td_outfile *file = NULL;
    bool to_stdout = strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0;
    if (to_stdout && kind == TD_OUT_BINARY)
        return td_fail(TD_INVALID, "a binary file cannot go to standard output: name a file, or choose a text format");
    TD_CHECK(TD_NEW_ZEROED(&file, 1, "output file"));
    file->fd = -1;
    TD_TRY(td_string_copy(&file->path, to_stdout ? "standard output" : path, "output name"));
    if (to_stdout)
        file->fd = STDOUT_FILENO;
    else
        TD_TRY(open_target(file, kind));
    *out = file;
    file = NULL;
done:
    td_outfile_close(file);
    return status;
}

bool td_outfile_is_stdout(const td_outfile *file) { return file->fd == STDOUT_FILENO && file->target == NULL; }

static td_status write_failed(const td_outfile *file, uint64_t offset)
{
    return td_fail_errno(TD_IO, errno, "cannot write %s at byte %llu", file->path, (unsigned long long)offset);
}

static size_t at_once(uint64_t bytes) { return bytes < WRITE_AT_ONCE ? (size_t)bytes : (size_t)WRITE_AT_ONCE; }

td_status td_outfile_write_at(td_outfile *file, uint64_t offset, const void *data, uint64_t bytes)
{
    return td_write_all_at(file->fd, &offset, data, bytes) ? TD_OK : write_failed(file, offset);
}

static void set_direct(td_outfile *file, bool direct)
{
    int flags = fcntl(file->fd, F_GETFL);
    bool done = flags >= 0 && fcntl(file->fd, F_SETFL, direct ? flags | O_DIRECT : flags & ~O_DIRECT) == 0;
    file->is_direct = direct && done;
}

td_status td_outfile_write_pages(td_outfile *file, uint64_t offset, const void *data, uint64_t bytes)
{
    uint64_t first = offset;
    if (!file->is_paged) set_direct(file, true);
    file->is_paged = true;
    bool whole = td_write_all_at(file->fd, &offset, data, bytes);
    if (!whole && errno == EINVAL && file->is_direct) { /* some file systems accept O_DIRECT, not the write */
        uint64_t done = offset - first;
        set_direct(file, false);
        whole = td_write_all_at(file->fd, &offset, (const char *)data + done, bytes - done);
    }
    if (!whole) return write_failed(file, offset);
    if (!file->is_direct) (void)sync_file_range(file->fd, (off_t)first, (off_t)bytes, SYNC_FILE_RANGE_WRITE);
    return TD_OK;
}

td_status td_outfile_read_at(td_outfile *file, uint64_t offset, void *into, uint64_t bytes)
{
    if (td_read_all_at(file->fd, &offset, into, bytes)) return TD_OK;
    return td_fail_errno(TD_IO, errno, "cannot read back %s at byte %llu", file->path, (unsigned long long)offset);
}

td_status td_outfile_set_length(td_outfile *file, uint64_t bytes)
{
    if (!td_outfile_fails_now() && ftruncate(file->fd, (off_t)bytes) == 0) return TD_OK;
    return td_fail_errno(TD_IO, errno, "cannot make %s %llu bytes long", file->path, (unsigned long long)bytes);
}

static td_status hand_over(td_outfile *file, const char *from, uint64_t bytes)
{
    TD_CHECK(td_cancel_check());
    while (bytes > 0) {
        ssize_t done = td_outfile_fails_now() ? -1 : write(file->fd, from, at_once(bytes));
        if (done < 0 && errno == EINTR) continue;
        if (done == 0) errno = EIO;
        if (done <= 0) return write_failed(file, file->written);
        from += done;
        file->written += (uint64_t)done;
        bytes -= (uint64_t)done;
    }
    return TD_OK;
}

static td_status flush(td_outfile *file)
{
    size_t filled = file->filled;
    file->filled = 0;
    return hand_over(file, file->buffer, filled);
}

/* Takes a smaller buffer when little of the memory budget is left, so that a result is not lost for lack of memory. */
static td_status make_buffer(td_outfile *file)
{
    td_memory_stats memory = td_memory();
    uint64_t left = memory.budget > memory.now ? memory.budget - memory.now : 0;
    file->room = MOST_BUFFER;
    while (memory.budget > 0 && file->room > LEAST_BUFFER && file->room > left / 4) file->room /= 2;
    return TD_NEW(&file->buffer, file->room, "output buffer");
}

td_status td_outfile_write(td_outfile *file, const void *data, uint64_t bytes)
{
    if (file->buffer == NULL) TD_CHECK(make_buffer(file));
    if (bytes > file->room - file->filled) TD_CHECK(flush(file));
    if (bytes >= file->room) return hand_over(file, data, bytes);
    memcpy(file->buffer + file->filled, data, bytes);
    file->filled += bytes;
    return TD_OK;
}

td_status td_outfile_print(td_outfile *file, const char *format, ...)
{
    char text[4096];
    va_list list;
    va_start(list, format);
    int length = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (length < 0 || length >= (int)sizeof text)
        return td_fail(TD_INTERNAL, "a line for %s is longer than %zu bytes", file->path, sizeof text - 1);
    return td_outfile_write(file, text, (uint64_t)length);
}

td_status td_outfile_reserve(td_outfile *file, uint64_t bytes)
{
    if (bytes == 0) return TD_OK;
    if (bytes > INT64_MAX) return td_fail_errno(TD_IO, EFBIG, "cannot write %s", file->path);
    int failed;
    do {
        failed = td_outfile_fails_now() ? -1 : fallocate(file->fd, 0, 0, (off_t)bytes);
    } while (failed && errno == EINTR);
    if (!failed || errno == EOPNOTSUPP || errno == ENOSYS) return TD_OK;
    return td_fail_errno(TD_IO, errno, "cannot write the %llu bytes of %s", (unsigned long long)bytes, file->path);
}

/* Failing here is a warning, not an error: only a power failure could still lose the name. */
static void sync_directory(const td_outfile *file)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", file->target);
    int fd = open(dirname(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || (fsync(fd) != 0 && errno != EINVAL))
        td_warn("%s is written, but its directory could not be synced: %s", file->path, strerror(errno));
    if (fd >= 0) close(fd);
}

static void release_slot(td_outfile *file)
{
    if (file->temporary != NULL) file->temporary->state = FREE;
    file->temporary = NULL;
}

td_status td_outfile_sync(td_outfile *file)
{
    TD_CHECK(flush(file));
    if (file->target != NULL && (td_outfile_fails_now() || fsync(file->fd) != 0))
        return td_fail_errno(TD_IO, errno, "cannot bring %s to the disk", file->path);
    return TD_OK;
}

td_status td_outfile_commit(td_outfile *file)
{
    TD_CHECK(td_outfile_sync(file));
    if (file->target == NULL) return TD_OK;
    bool closed = close(file->fd) == 0;
    file->fd = -1;
    if (!closed || td_outfile_fails_now()) return td_fail_errno(TD_IO, errno, "cannot close %s", file->path);
    if (td_outfile_fails_now() || rename(file->temporary->name, file->target) != 0)
        return td_fail_errno(TD_IO, errno, "cannot rename the finished file to %s", file->path);
    release_slot(file);
    sync_directory(file);
    return TD_OK;
}

void td_outfile_close(td_outfile *file)
{
    if (file == NULL) return;
    if (file->fd >= 0 && !td_outfile_is_stdout(file)) close(file->fd);
    if (file->temporary != NULL && file->temporary->state == NAMED) unlink(file->temporary->name);
    release_slot(file);
    td_free(file->buffer);
    td_free(file->target);
    td_free(file->path);
    td_free(file);
}
