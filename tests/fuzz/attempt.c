/* One attempt: the files are written, read, built and checked, under a budget
 * that turns a header that promises billions of vertices into an error. */
#include "fuzz.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "store/builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUDGET (UINT64_C(48) << 20)

static char folder[64];

bool fuzz_open_folder(void)
{
    static const char *const places[] = {"/dev/shm", "/tmp"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(folder, sizeof folder, "%s/tandem-fuzz-XXXXXX", places[i]);
        if (mkdtemp(folder) != NULL) return true;
    }
    perror(folder);
    return false;
}

void fuzz_close_folder(void) { rmdir(folder); }

const char *fuzz_path(const char *suffix)
{
    static char path[sizeof folder + FUZZ_SUFFIX + 8];
    snprintf(path, sizeof path, "%s/fuzz.%s", folder, suffix);
    return path;
}

static bool write_files(const fuzz_seed *seed)
{
    for (int i = 0; i < seed->count; i++) {
        const fuzz_file *file = &seed->files[i];
        const char *path = fuzz_path(file->suffix);
        FILE *stream = fopen(path, "wb");
        bool written = stream != NULL && fwrite(file->data, 1, file->bytes, stream) == file->bytes;
        if (stream != NULL && fclose(stream) != 0) written = false;
        if (written) continue;
        perror(path);
        return false;
    }
    return true;
}

static bool complain(const char *what, td_status status)
{
    fprintf(stderr, "fuzz: %s (%s: %s)\n", what, td_status_name(status), td_last_message());
    return false;
}

/* What a file does wrong is said with the file's name. */
static bool check_failure(td_status status)
{
    const char *message = td_last_message();
    bool of_file = status == TD_FORMAT || status == TD_CORRUPT || status == TD_UNSUPPORTED || status == TD_LIMIT;
    if (message[0] == '\0') return complain("a failure without a message", status);
    if (status == TD_INTERNAL) return complain("an internal error", status);
    if (of_file && strstr(message, folder) == NULL) return complain("a message that does not name the file", status);
    return true;
}

/* Of formats whose columns may be given, one attempt in four is made with some besides,
 * which ones depends on the file. */
static const char *columns_of(const fuzz_file *file, const td_format *format)
{
    static const char *const lists[] = {"source,target,_,weight", "_,source,target,weight", "target,source", "_,_,to,from"};
    uint64_t hash = td_hash64(file->data, file->bytes);
    return format->columns && hash % 4 == 0 ? lists[hash / 4 % 4] : NULL;
}

/* Reads and checks a file; true if the reader did what a reader may. */
static bool read_once(const char *path, const char *format, const char *columns, td_pool *pool, bool *graph_made)
{
    td_graph *graph = NULL;
    td_build_options build = {.columns = columns};
    bool fine = true;
    td_message_set("");
    td_status status = td_graph_read(&graph, path, format, &build, pool);
    *graph_made = status == TD_OK;
    if (status == TD_OK && (graph == NULL || (status = td_graph_check(graph, pool)) != TD_OK))
        fine = complain("a graph that is none", status);
    else if (status != TD_OK)
        fine = graph == NULL ? check_failure(status) : complain("a failure that left a graph", status);
    td_graph_destroy(graph);
    return fine;
}

bool fuzz_attempt(const fuzz_seed *seed, const td_format *format, bool detect, td_pool *pool, bool *graph_made)
{
    bool fine = write_files(seed);
    uint64_t held = td_memory().now;
    const fuzz_file *main = &seed->files[seed->main];
    const char *columns = columns_of(main, format);
    char path[sizeof folder + FUZZ_SUFFIX + 8];
    snprintf(path, sizeof path, "%s", fuzz_path(main->suffix));
    td_memory_set_budget(held + BUDGET);
    *graph_made = false;
    if (fine && columns != NULL) fine = read_once(path, format->name, columns, pool, graph_made);
    if (fine) fine = read_once(path, detect ? NULL : format->name, NULL, pool, graph_made);
    td_memory_set_budget(0);
    if (td_memory().now != held) fine = complain("memory is still held", TD_OK);
    for (int i = 0; i < seed->count; i++) unlink(fuzz_path(seed->files[i].suffix));
    return fine;
}
