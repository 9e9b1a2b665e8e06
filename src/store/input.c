/* Cutting a file into pieces of whole lines.
 *
 * A plain file is mapped and cut into windows of equal size; the piece of a
 * window holds the lines that start in it, so every worker finds its bounds itself.
 * A compressed file is a stream: one worker at a time decodes the next piece into a
 * free buffer, the others parse queued pieces. That keeps one decoder busy with any
 * number of workers, one included, and needs workers + 2 buffers.
 */
#include "store/input.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/log.h"
#include "base/mapping.h"
#include "store/decoder.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD_BYTES ((size_t)64 << 10)
#define PIECE_BYTES ((size_t)4 << 20)     /* of a large file; small ones are cut finer, to feed all workers */
#define PIECE_BYTES_MIN ((size_t)64 << 10)
#define LINE_LIMIT ((size_t)1 << 30)      /* the longest line a compressed file may have */

struct td_input {
    char *path;
    const char *data; /* the file as stored, mapped; NULL when empty */
    size_t bytes;
    td_mapping mapping;
    bool compressed;
    char *head;       /* of compressed content, once asked for */
    size_t head_bytes;
    uint64_t decoder_bytes;
};

static td_status refuse_kind(const char *path, mode_t mode)
{
    const char *kind = S_ISDIR(mode)    ? "a directory"
                       : S_ISFIFO(mode) ? "a FIFO"
                       : S_ISSOCK(mode) ? "a socket"
                                        : "a device";
    return td_fail(TD_IO, "%s is %s; a regular file is needed", path, kind);
}

/* Tests the kind of file before opening it: opening a device can have side effects, a FIFO can block. */
static td_status open_regular(const char *path, int *descriptor, size_t *bytes)
{
    struct stat facts;
    if (stat(path, &facts) != 0) return td_fail_errno(TD_IO, errno, "cannot open %s", path);
    if (!S_ISREG(facts.st_mode)) return refuse_kind(path, facts.st_mode);
    int opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (opened < 0) return td_fail_errno(TD_IO, errno, "cannot open %s", path);
    if (fstat(opened, &facts) != 0 || !S_ISREG(facts.st_mode)) {
        close(opened);
        return td_fail(TD_IO, "%s changed while it was opened", path);
    }
    *descriptor = opened;
    *bytes = (size_t)facts.st_size;
    return TD_OK;
}

static td_status map_file(td_input *input)
{
    int descriptor = -1;
    TD_CHECK(open_regular(input->path, &descriptor, &input->bytes));
    void *data = input->bytes == 0 ? NULL : mmap(NULL, input->bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
    int error = errno;
    input->data = data != MAP_FAILED ? data : NULL;
    td_mapping_begin(&input->mapping, (void *)input->data, input->bytes, descriptor, input->path);
    close(descriptor);
    return data != MAP_FAILED ? TD_OK : td_fail_errno(TD_IO, error, "cannot map %s", input->path);
}

td_status td_input_open(td_input **out, const char *path)
{
    td_status status = TD_OK;
    td_input *input = NULL;
    TD_CHECK(TD_NEW_ZEROED(&input, 1, "input"));
    TD_TRY(td_string_copy(&input->path, path, "path"));
    TD_TRY(map_file(input));
    input->compressed = td_decoder_recognises(input->data, input->bytes);
    *out = input;
    input = NULL;
done:
    td_input_close(input);
    return status;
}

td_status td_input_open_plain(td_input **out, const char *path)
{
    td_input *input = NULL;
    TD_CHECK(td_input_open(&input, path));
    if (!input->compressed) {
        *out = input;
        return TD_OK;
    }
    td_input_close(input);
    return td_fail(TD_UNSUPPORTED, "%s is compressed, which this format cannot be; decompress it first", path);
}

void td_input_close(td_input *input)
{
    if (input == NULL) return;
    td_mapping_end(&input->mapping);
    td_free(input->head);
    td_free(input->path);
    td_free(input);
}

const char *td_input_path(const td_input *input) { return input->path; }
uint64_t td_input_bytes(const td_input *input) { return input->bytes; }
bool td_input_compressed(const td_input *input) { return input->compressed; }
const void *td_input_data(const td_input *input) { return input->data; }

void td_input_let_go(const td_input *input, const void *begin, const void *end)
{
    td_mapping_let_go(&input->mapping, begin, end);
}

static td_status decode_head(td_input *input)
{
    td_status status = TD_OK;
    td_decoder *decoder = NULL;
    char *head = NULL;
    TD_TRY(TD_NEW(&head, HEAD_BYTES, "first bytes of a file"));
    TD_TRY(td_decoder_create(&decoder, input->data, input->bytes, input->path));
    TD_TRY(td_decoder_read(decoder, head, HEAD_BYTES, &input->head_bytes));
    input->decoder_bytes = td_decoder_bytes(decoder);
    input->head = head;
    head = NULL;
done:
    td_decoder_destroy(decoder);
    td_free(head);
    return status;
}

uint64_t td_input_decoder_bytes(const td_input *input) { return input->decoder_bytes; }

td_status td_input_head(td_input *input, const char **text, size_t *bytes)
{
    if (!input->compressed) {
        *text = input->data != NULL ? input->data : "";
        *bytes = input->bytes < HEAD_BYTES ? input->bytes : HEAD_BYTES;
        return TD_OK;
    }
    if (input->head == NULL) TD_CHECK(decode_head(input));
    *text = input->head;
    *bytes = input->head_bytes;
    return TD_OK;
}

static size_t piece_bytes(const td_input *input)
{
    size_t part = input->bytes / 64;
    return part < PIECE_BYTES_MIN ? PIECE_BYTES_MIN : part < PIECE_BYTES ? part : PIECE_BYTES;
}

/* The start of the first line that begins in [from, to), or `to`. */
static const char *line_start(const char *from, const char *to, const char *text)
{
    if (from == text || from == to) return from;
    const char *newline = memchr(from - 1, '\n', (size_t)(to - from));
    return newline == NULL ? to : newline + 1;
}

/* A plain file's cut. */
typedef struct windows {
    const td_input *input;
    const char *text, *end; /* behind the header */
    size_t size;
    td_piece_fn read;
    void *context;
} windows;

static td_status read_window(void *context, uint64_t index, uint64_t next, int worker)
{
    (void)next;
    const windows *job = context;
    const char *from = job->text + index * job->size;
    const char *to = (size_t)(job->end - from) < job->size ? job->end : from + job->size;
    td_progress("reading", (uint64_t)(from - job->input->data), job->input->bytes);
    from = line_start(from, to, job->text);
    if (from == to) return TD_OK;
    to = line_start(to, job->end, job->text);
    td_piece piece = {.input = job->input, .index = index, .byte = (uint64_t)(from - job->input->data),
                      .text = from, .end = to};
    td_status status = job->read(job->context, &piece, worker);
    td_input_let_go(job->input, from, to);
    return status;
}

static td_status read_windows(td_input *input, td_pool *pool, uint64_t skip, td_piece_fn read, void *context,
                              uint64_t *pieces)
{
    if (skip >= input->bytes) {
        *pieces = 0;
        return TD_OK;
    }
    windows job = {input, input->data + skip, input->data + input->bytes, piece_bytes(input), read, context};
    *pieces = (input->bytes - skip + job.size - 1) / job.size;
    return td_pool_for(pool, *pieces, 1, read_window, &job);
}

/* A buffer and the piece decoded into it. */
typedef struct slot {
    td_piece piece;
    char *buffer;
    size_t room;
    struct slot *next; /* in the queue or among the free */
} slot;

typedef struct flow {
    const td_input *input;
    size_t size;
    uint64_t skip;
    td_piece_fn read;
    void *context;
    pthread_mutex_t lock; /* guards what follows, up to the decoder's own */
    pthread_cond_t change;
    slot *slots, *free, *queue, **queue_end;
    bool decoding, ended;
    uint64_t failed_at; /* the earliest piece that failed, UINT64_MAX: none */
    td_status status;
    td_failure failure;
    td_decoder *decoder; /* from here on: of the thread that decompresses */
    char *carry;         /* the beginning of the next piece's first line */
    size_t carried, carry_room;
    bool drained;        /* the decoder has reached the end */
    uint64_t index, byte, line;
} flow;

static uint64_t count_lines(const char *text, const char *end)
{
    uint64_t lines = 0;
    for (; text < end; text++) lines += *text == '\n';
    return lines;
}

static td_status skip_header(flow *job)
{
    char buffer[4096];
    while (job->byte < job->skip) {
        size_t got, part = job->skip - job->byte < sizeof buffer ? (size_t)(job->skip - job->byte) : sizeof buffer;
        TD_CHECK(td_decoder_read(job->decoder, buffer, part, &got));
        job->byte += got;
        job->line += count_lines(buffer, buffer + got);
        if (got < part) break;
    }
    return TD_OK;
}

static td_status make_room(const flow *job, slot *mine, size_t wanted)
{
    if (mine->room >= wanted) return TD_OK;
    if (wanted > LINE_LIMIT)
        return td_fail(TD_LIMIT, "%s:%llu: a line longer than %zu bytes, too long for a compressed file",
                       job->input->path, (unsigned long long)job->line, LINE_LIMIT);
    size_t room = mine->room == 0 ? job->size : mine->room;
    while (room < wanted) room = 2 * room < LINE_LIMIT ? 2 * room : LINE_LIMIT;
    TD_CHECK(TD_RESIZE(&mine->buffer, room, "decompressed text"));
    mine->room = room;
    return TD_OK;
}

static td_status keep_rest(flow *job, const char *rest, size_t bytes)
{
    if (bytes > job->carry_room) {
        TD_CHECK(TD_RESIZE(&job->carry, bytes, "unfinished line"));
        job->carry_room = bytes;
    }
    if (bytes > 0) memcpy(job->carry, rest, bytes);
    job->carried = bytes;
    return TD_OK;
}

/* Decodes into `mine` until it ends a line, or the content ends. */
static td_status decode_piece(flow *job, slot *mine)
{
    size_t filled = job->carried;
    const char *newline = NULL;
    TD_CHECK(make_room(job, mine, filled > 0 ? filled : 1));
    if (filled > 0) memcpy(mine->buffer, job->carry, filled);
    while (!job->drained && newline == NULL) {
        TD_CHECK(make_room(job, mine, filled + 1));
        size_t got, part = mine->room - filled;
        TD_CHECK(td_decoder_read(job->decoder, mine->buffer + filled, part, &got));
        job->drained = got < part;
        newline = got > 0 ? memrchr(mine->buffer + filled, '\n', got) : NULL;
        filled += got;
    }
    char *end = job->drained ? mine->buffer + filled : (char *)newline + 1;
    TD_CHECK(keep_rest(job, end, (size_t)(mine->buffer + filled - end)));
    mine->piece = (td_piece){job->input, job->index, job->byte, job->line, mine->buffer, end};
    job->byte += (uint64_t)(end - mine->buffer);
    job->line += count_lines(mine->buffer, end);
    return TD_OK;
}

static void record(flow *job, uint64_t index, td_status status)
{
    if (status == TD_OK || index >= job->failed_at) return;
    job->failed_at = index;
    job->status = status;
    td_failure_keep(&job->failure);
}

static void release(flow *job, slot *mine)
{
    if (mine->room > job->size) { /* grown for one long line */
        td_free(mine->buffer);
        mine->buffer = NULL;
        mine->room = 0;
    }
    mine->next = job->free;
    job->free = mine;
}

/* decode_next and parse_next are called with the lock held and return with it held. */
static void decode_next(flow *job)
{
    slot *mine = job->free;
    job->free = mine->next;
    job->decoding = true;
    pthread_mutex_unlock(&job->lock);
    td_progress("reading", td_decoder_position(job->decoder), job->input->bytes);
    uint64_t before = td_decoder_position(job->decoder);
    td_status status = decode_piece(job, mine);
    td_input_let_go(job->input, job->input->data + before, job->input->data + td_decoder_position(job->decoder));
    pthread_mutex_lock(&job->lock);
    job->decoding = false;
    job->ended = status != TD_OK || job->drained;
    record(job, job->index, status);
    if (status == TD_OK && mine->piece.text < mine->piece.end) {
        mine->next = NULL;
        *job->queue_end = mine;
        job->queue_end = &mine->next;
        job->index++;
    } else {
        release(job, mine);
    }
    pthread_cond_broadcast(&job->change);
}

static void parse_next(flow *job, int worker)
{
    slot *mine = job->queue;
    job->queue = mine->next;
    if (job->queue == NULL) job->queue_end = &job->queue;
    pthread_mutex_unlock(&job->lock);
    td_status status = td_cancel_check();
    if (status == TD_OK) status = job->read(job->context, &mine->piece, worker);
    pthread_mutex_lock(&job->lock);
    record(job, mine->piece.index, status);
    release(job, mine);
    pthread_cond_broadcast(&job->change);
}

/* Pieces before a failed one are still read: an earlier failure takes precedence. */
static td_status flow_worker(void *context, int worker, int workers)
{
    (void)workers;
    flow *job = context;
    pthread_mutex_lock(&job->lock);
    for (;;) {
        bool more = !job->ended && job->failed_at == UINT64_MAX;
        if (more && !job->decoding && job->free != NULL)
            decode_next(job);
        else if (job->queue != NULL && job->queue->piece.index < job->failed_at)
            parse_next(job, worker);
        else if (job->decoding || more)
            pthread_cond_wait(&job->change, &job->lock);
        else
            break;
    }
    pthread_mutex_unlock(&job->lock);
    return TD_OK;
}

static td_status read_flow(td_input *input, td_pool *pool, uint64_t skip, td_piece_fn read, void *context,
                           uint64_t *pieces)
{
    td_status status = TD_OK;
    int slots = td_pool_threads(pool) + 2;
    flow job = {.input = input, .size = piece_bytes(input), .skip = skip, .read = read, .context = context,
                .lock = PTHREAD_MUTEX_INITIALIZER, .change = PTHREAD_COND_INITIALIZER, .failed_at = UINT64_MAX,
                .line = 1};
    job.queue_end = &job.queue;
    TD_TRY(TD_NEW_ZEROED(&job.slots, (uint64_t)slots, "buffers of decompressed text"));
    for (int i = 0; i < slots; i++) release(&job, &job.slots[i]);
    TD_TRY(td_decoder_create(&job.decoder, input->data, input->bytes, input->path));
    TD_TRY(skip_header(&job));
    TD_TRY(td_pool_run(pool, flow_worker, &job));
    if (job.status != TD_OK) td_failure_set(&job.failure);
    status = job.status;
    *pieces = job.index;
done:
    td_decoder_destroy(job.decoder);
    td_free(job.carry);
    for (int i = 0; job.slots != NULL && i < slots; i++) td_free(job.slots[i].buffer);
    td_free(job.slots);
    return status;
}

td_status td_input_pieces(td_input *input, td_pool *pool, uint64_t skip, td_piece_fn read, void *context,
                          uint64_t *pieces)
{
    uint64_t count = 0;
    td_status status = input->compressed ? read_flow(input, pool, skip, read, context, &count)
                                         : read_windows(input, pool, skip, read, context, &count);
    TD_CHECK(td_mapping_check(&input->mapping, status));
    if (pieces != NULL) *pieces = count;
    return TD_OK;
}

static uint64_t first_line(const td_piece *piece)
{
    if (piece->line != 0) return piece->line;
    const char *data = piece->input->compressed ? piece->input->head : piece->input->data;
    return piece->byte == 0 ? 1 : 1 + count_lines(data, data + piece->byte);
}

td_status td_fail_line(const td_piece *piece, const char *at, const char *format, ...)
{
    char text[TD_MESSAGE_BYTES];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    uint64_t line = first_line(piece) + count_lines(piece->text, at);
    return td_fail(TD_FORMAT, "%s:%llu: %s", piece->input->path, (unsigned long long)line, text);
}
