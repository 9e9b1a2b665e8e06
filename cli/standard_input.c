#include "standard_input.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/log.h"
#include "base/tempfile.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COPY_BYTES = 64 << 10 }; /* capacity of a pipe */

static const char *shown = "standard input"; /* or the path of a process substitution */
static int from = STDIN_FILENO;             /* the descriptor that is read */
static char made[32]; /* the path for standard input; empty: none */
static td_tempfile *copy;

static bool is_standard(const char *path) { return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdin") == 0; }

/* A shell's process substitution, <(command): a pipe with the name of a descriptor. */
static bool is_substitution(const char *path)
{
    struct stat facts;
    int descriptor = -1, end = 0;
    if (sscanf(path, "/dev/fd/%d%n", &descriptor, &end) != 1 &&
        sscanf(path, "/proc/self/fd/%d%n", &descriptor, &end) != 1)
        return false;
    if (path[end] != '\0' || descriptor < 0 || fstat(descriptor, &facts) != 0 || !S_ISFIFO(facts.st_mode)) return false;
    from = descriptor;
    shown = path;
    return true;
}

/* Polls before it reads: Ctrl-C interrupts a poll, but not a blocked read. */
static td_status read_some(char *into, uint64_t *got)
{
    struct pollfd wait = {.fd = from, .events = POLLIN};
    for (;;) {
        TD_CHECK(td_cancel_check());
        if (poll(&wait, 1, -1) < 0 && errno == EINTR) continue;
        ssize_t count = read(from, into, COPY_BYTES);
        if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (count < 0) return td_fail_errno(TD_IO, errno, "cannot read %s", shown);
        *got = (uint64_t)count;
        return TD_OK;
    }
}

static td_status copy_all(void)
{
    td_status status = TD_OK;
    char *buffer = NULL;
    uint64_t got = 0, place;
    TD_CHECK(TD_NEW(&buffer, COPY_BYTES, "a piece of standard input"));
    do {
        TD_TRY(read_some(buffer, &got));
        TD_TRY(td_tempfile_append(copy, buffer, got, &place));
        td_progress("reading standard input, bytes", td_tempfile_bytes(copy), 0);
    } while (got > 0);
done:
    td_free(buffer);
    return status;
}

/* Chooses the folder for a copy. */
static void choose_folder(char folder[PATH_MAX], const char *directory, const char *output)
{
    const char *temporary = getenv("TMPDIR"), *slash = output != NULL ? strrchr(output, '/') : NULL;
    if (directory != NULL) snprintf(folder, PATH_MAX, "%s", directory);
    else if (output == NULL || strcmp(output, "-") == 0 || strncmp(output, "/dev/", 5) == 0)
        snprintf(folder, PATH_MAX, "%s", temporary != NULL && temporary[0] != '\0' ? temporary : "/tmp");
    else if (slash == NULL) snprintf(folder, PATH_MAX, ".");
    else snprintf(folder, PATH_MAX, "%.*s", slash == output ? 1 : (int)(slash - output), output);
}

/* Replaces every mention of the made path by "standard input". */
static void name_in(char *text, size_t bytes)
{
    char named[TD_MESSAGE_BYTES] = "";
    const char *rest = text, *at;
    size_t used = 0;
    while ((at = strstr(rest, made)) != NULL && used < sizeof named) {
        const char *behind = at + strlen(made);
        bool longer = *behind >= '0' && *behind <= '9'; /* a path of another descriptor */
        used += (size_t)snprintf(named + used, sizeof named - used, "%.*s%s", (int)(at - rest), rest,
                                 longer ? made : shown);
        rest = behind;
    }
    if (used < sizeof named) snprintf(named + used, sizeof named - used, "%s", rest);
    snprintf(text, bytes, "%s", named);
}

td_status td_standard_input_take(const char **path, const char *directory, const char *output)
{
    char folder[PATH_MAX];
    struct stat facts;
    if (!is_standard(*path) && !is_substitution(*path)) return TD_OK;
    int descriptor = from;
    if (fstat(from, &facts) != 0) return td_fail_errno(TD_IO, errno, "cannot read %s", shown);
    if (S_ISDIR(facts.st_mode)) return td_fail(TD_IO, "%s is a directory", shown);
    bool from_the_begin = S_ISREG(facts.st_mode) && lseek(from, 0, SEEK_CUR) == 0;
    if (!from_the_begin) { /* opening it by name would start at the begin */
        choose_folder(folder, directory, output);
        TD_CHECK(td_tempfile_create(&copy, folder));
        TD_CHECK(copy_all());
        descriptor = td_tempfile_descriptor(copy);
    }
    snprintf(made, sizeof made, "/dev/fd/%d", descriptor);
    *path = made;
    td_log_set_editor(name_in);
    return TD_OK;
}

const char *td_shown_path(const char *path) { return path == made ? shown : path; }

void td_standard_input_name(void)
{
    char text[TD_MESSAGE_BYTES];
    if (made[0] == '\0') return;
    snprintf(text, sizeof text, "%s", td_last_message());
    name_in(text, sizeof text);
    td_message_set(text);
}

void td_standard_input_close(void)
{
    td_tempfile_close(copy);
    copy = NULL;
    td_log_set_editor(NULL);
    made[0] = '\0';
}
