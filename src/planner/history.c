#include "planner/history.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE = 256 };
static const uint64_t LEAST_EDGES = 1 << 20; /* below it a run is over before a choice matters */

static bool path_of(char path[TD_DATA_PATH], char folder[TD_DATA_PATH])
{
    return td_data_cache(folder) && snprintf(path, TD_DATA_PATH, "%s/runs", folder) < TD_DATA_PATH;
}

bool td_history_wants(uint64_t edges)
{
    const char *wish = getenv("TANDEM_HISTORY");
    if (wish != NULL && strcmp(wish, "off") == 0) return false;
    return edges >= LEAST_EDGES || (wish != NULL && strcmp(wish, "all") == 0);
}

/* Lines. */

static uint64_t sum_of(const char *text, size_t bytes) { return td_hash64(text, bytes); }

static bool print_line(char line[LINE], const td_past *past)
{
    int length = snprintf(line, LINE, "%016" PRIx64 " %016" PRIx64 " %016" PRIx64 " %s %s %" PRIu32 " %.6g %.6g %.6g",
                          past->build_id, past->machine, past->how, past->program, past->engine, past->iterations,
                          past->prepare, past->processing, past->finish);
    if (length < 0 || length >= LINE - 20) return false;
    snprintf(line + length, LINE - (size_t)length, " %016" PRIx64 "\n", sum_of(line, (size_t)length));
    return true;
}

static bool is_time(double seconds) { return isfinite(seconds) && seconds >= 0 && seconds < 1e7; }

/* A line without its end; false: it is none of ours. */
static bool parse_line(const char *line, size_t length, td_past *out)
{
    char text[LINE];
    uint64_t sum;
    int used = 0;
    if (length < 18 || length >= LINE || line[length - 17] != ' ') return false;
    snprintf(text, sizeof text, "%.*s", (int)length, line);
    if (strlen(text) != length || sscanf(text + length - 16, "%16" SCNx64, &sum) != 1) return false;
    if (sum != sum_of(text, length - 17)) return false;
    int fields = sscanf(text, "%16" SCNx64 " %16" SCNx64 " %16" SCNx64 " %31s %31s %" SCNu32 " %lf %lf %lf%n",
                        &out->build_id, &out->machine, &out->how, out->program, out->engine, &out->iterations,
                        &out->prepare, &out->processing, &out->finish, &used);
    return fields == 9 && (size_t)used == length - 17 && is_time(out->prepare) && is_time(out->processing) &&
           is_time(out->finish);
}

/* The file. */

/* Its last TD_HISTORY_BYTES, with a zero behind them, freed with td_free; NULL: there is none. */
static char *read_end(int file, uint64_t size, uint64_t *bytes)
{
    char *text = NULL;
    uint64_t begin = size > TD_HISTORY_BYTES ? size - TD_HISTORY_BYTES : 0;
    if (TD_NEW(&text, size - begin + 1, "history of runs") != TD_OK) return NULL;
    ssize_t taken = pread(file, text, size - begin, (off_t)begin);
    *bytes = taken > 0 ? (uint64_t)taken : 0;
    text[*bytes] = '\0';
    return text;
}

static char *read_file(const char *path, uint64_t *bytes)
{
    struct stat facts;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* not to wait for the writer of a pipe */
    if (file < 0) return NULL;
    char *text = NULL;
    if (fstat(file, &facts) == 0 && S_ISREG(facts.st_mode)) text = read_end(file, (uint64_t)facts.st_size, bytes);
    close(file);
    return text;
}

static bool known(const td_past *list, int count, const td_past *past)
{
    for (int i = 0; i < count; i++)
        if (list[i].how == past->how && strcmp(list[i].engine, past->engine) == 0) return true;
    return false;
}

/* From the last line to the first. */
static int search(const char *text, uint64_t bytes, const td_past *like, td_past *out, int most)
{
    int count = 0;
    const char *end = text + bytes;
    while (end > text && count < most) {
        td_past past;
        const char *begin = end - 1; /* the end of the line before `end` */
        while (begin > text && begin[-1] != '\n') begin--;
        size_t length = (size_t)(end - begin) - (end[-1] == '\n');
        if (parse_line(begin, length, &past) && past.build_id == like->build_id && past.machine == like->machine &&
            strcmp(past.program, like->program) == 0 && !known(out, count, &past))
            out[count++] = past;
        end = begin;
    }
    return count;
}

int td_history_find(uint64_t build_id, uint64_t machine, const char *program, td_past *out, int most)
{
    char path[TD_DATA_PATH], folder[TD_DATA_PATH];
    uint64_t bytes = 0;
    td_failure before;
    td_past like = {.build_id = build_id, .machine = machine};
    if (build_id == 0 || !path_of(path, folder)) return 0;
    snprintf(like.program, sizeof like.program, "%s", program);
    td_failure_keep(&before);
    char *text = read_file(path, &bytes);
    td_failure_set(&before);
    int count = text != NULL ? search(text, bytes, &like, out, most) : 0;
    td_free(text);
    return count;
}

static bool is_like(const td_past *past, const td_past *like)
{
    return past->build_id == like->build_id && past->machine == like->machine && past->how == like->how &&
           strcmp(past->program, like->program) == 0 && strcmp(past->engine, like->engine) == 0;
}

/* The longest preparing of all lines, then the number of those that took at least half as long. */
uint64_t td_history_prepares(const td_past *like, double *most)
{
    char path[TD_DATA_PATH], folder[TD_DATA_PATH];
    uint64_t bytes = 0, count = 0;
    *most = 0;
    if (like->build_id == 0 || !path_of(path, folder)) return 0;
    char *text = read_file(path, &bytes);
    for (int pass = 0; pass < 2; pass++)
        for (const char *at = text, *end; at != NULL && (end = strchr(at, '\n')) != NULL; at = end + 1) {
            td_past past;
            if (!parse_line(at, (size_t)(end - at), &past) || !is_like(&past, like)) continue;
            if (pass == 0 && past.prepare > *most) *most = past.prepare;
            count += pass == 1 && 2 * past.prepare >= *most;
        }
    td_free(text);
    return count;
}

/* Replaces a file that has grown too long by its newer half. A line that another process appends meanwhile may be lost,
 * which costs an estimate. */
static void shorten(const char *path)
{
    char other[TD_DATA_PATH];
    uint64_t bytes = 0;
    char *text = read_file(path, &bytes);
    if (text == NULL || snprintf(other, sizeof other, "%s.%ld", path, (long)getpid()) >= (int)sizeof other) goto done;
    const char *half = bytes / 2 < bytes ? strchr(text + bytes / 2, '\n') : NULL;
    half = half != NULL ? half + 1 : text + bytes;
    size_t left = (size_t)(text + bytes - half);
    int file = open(other, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0) goto done;
    bool whole = write(file, half, left) == (ssize_t)left;
    close(file);
    if (!whole || rename(other, path) != 0) unlink(other);
done:
    td_free(text);
}

void td_history_add(const td_past *past)
{
    char path[TD_DATA_PATH], folder[TD_DATA_PATH], line[LINE];
    struct stat facts;
    td_failure before;
    if (past->build_id == 0 || !path_of(path, folder) || !print_line(line, past)) return;
    td_failure_keep(&before);
    int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW;
    int file = open(path, flags, 0666);
    if (file < 0 && errno == ENOENT && td_data_make_folder(folder) == TD_OK) file = open(path, flags, 0666);
    td_failure_set(&before);
    if (file < 0) return;
    bool regular = fstat(file, &facts) == 0 && S_ISREG(facts.st_mode);
    if (regular && write(file, line, strlen(line)) < 0) regular = false;
    close(file);
    if (regular && facts.st_size > TD_HISTORY_BYTES) shorten(path);
}
