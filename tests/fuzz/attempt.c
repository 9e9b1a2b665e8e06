/* One attempt: the files are written, read, built and checked, under a budget
 * that turns a header that promises billions of vertices into an error. */
#include "fuzz.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "store/builder.h"
#include "store/decoder.h"

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

/* One attempt in four stores weights as floats of 64 bits or of 32. */
static td_weight_kind weights_of(const fuzz_file *file)
{
    uint64_t hash = td_hash64(file->data, file->bytes) >> 8;
    return hash % 8 == 0 ? TD_WEIGHT_F32 : hash % 8 == 1 ? TD_WEIGHT_F64 : TD_WEIGHT_NONE;
}

/* What came of reading a file. */
typedef struct outcome {
    td_status status;
    char message[TD_MESSAGE_BYTES];
    uint64_t digest;
} outcome;

/* Reads and checks a file; true if the reader did what a reader may. */
static bool read_once(const char *path, const char *format, const char *columns, td_weight_kind weights, td_pool *pool,
                      outcome *out)
{
    td_graph *graph = NULL;
    td_build_options build = {.columns = columns, .weights_as = weights};
    bool fine = true;
    td_message_set("");
    *out = (outcome){.status = td_graph_read(&graph, path, format, &build, pool)};
    td_status status = out->status;
    snprintf(out->message, sizeof out->message, "%s", td_last_message());
    if (status == TD_OK && (graph == NULL || (status = td_graph_check(graph, pool)) != TD_OK))
        fine = complain("a graph that is none", status);
    else if (status != TD_OK)
        fine = graph == NULL ? check_failure(status) : complain("a failure that left a graph", status);
    if (fine && status == TD_OK && td_graph_digest(graph, pool, &out->digest) != TD_OK)
        fine = complain("a graph without a digest", status);
    td_graph_destroy(graph);
    return fine;
}

/* A compressed file is read once more by the sequential decoder, which must give the same graph or the same message,
 * and by zlib, which must not give another graph. */
static bool read_all_ways(const char *path, const char *format, const char *columns, td_pool *pool,
                          const fuzz_file *file, bool *graph_made)
{
    outcome first, other;
    td_weight_kind weights = weights_of(file);
    bool fine = read_once(path, format, columns, weights, pool, &first);
    *graph_made = first.status == TD_OK;
    if (!fine || !td_decoder_recognises(file->data, file->bytes)) return fine;
    setenv("TANDEM_DECODER", "sequential", 1);
    fine = read_once(path, format, columns, weights, pool, &other);
    bool same = first.status == other.status && first.digest == other.digest;
    bool lacks = first.status == TD_NO_MEMORY; /* the message has the bytes that were taken, which differ */
    if (fine && !(same && (lacks || strcmp(first.message, other.message) == 0))) {
        fprintf(stderr, "fuzz: by units: '%s'\n", first.message);
        fine = complain("the sequential decoder disagrees", other.status);
    }
    setenv("TANDEM_DECODER", "zlib", 1);
    if (fine) fine = read_once(path, format, columns, weights, pool, &other);
    unsetenv("TANDEM_DECODER");
    if (fine && first.status == TD_OK && other.status == TD_OK && first.digest != other.digest)
        fine = complain("zlib disagrees", TD_OK);
    td_message_set(first.message);
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
    if (fine && columns != NULL) fine = read_all_ways(path, format->name, columns, pool, main, graph_made);
    if (fine) fine = read_all_ways(path, detect ? NULL : format->name, NULL, pool, main, graph_made);
    td_memory_set_budget(0);
    if (td_memory().now != held) fine = complain("memory is still held", TD_OK);
    for (int i = 0; i < seed->count; i++) unlink(fuzz_path(seed->files[i].suffix));
    return fine;
}
