/* Cutting a file into pieces of whole lines.
 *
 * A plain file is mapped and cut into windows of equal size; the piece of a
 * window holds the lines that start in it, so every worker finds its bounds itself.
 * A compressed file is a stream, which input_flow.c decodes and cuts.
 */
#include "store/input.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/mapping.h"
#include "store/decoder.h"
#include "store/input_flow.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD_BYTES ((size_t)64 << 10)
#define PIECE_BYTES ((size_t)4 << 20)     /* of a large file; small ones are cut finer, to feed all workers */
#define PIECE_BYTES_MIN ((size_t)64 << 10)

struct td_input {
    char *path;
    const char *data; /* the file as stored, mapped; NULL when empty */
    size_t bytes;
    td_mapping mapping;
    bool compressed;
    char *head;       /* of compressed content, once asked for */
    size_t head_bytes;
    uint64_t decoder_bytes;
    td_decoding decoding; /* what td_input_pieces has decoded, the last time */
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
    TD_TRY(td_decoder_create(&decoder, input->data, input->bytes, input->path, 0));
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

void td_input_add_decoding(const td_input *input, td_decoding *sum)
{
    const td_decoding *mine = &input->decoding;
    if (mine->format == NULL) return;
    *sum = (td_decoding){mine->format, mine->library, sum->members + mine->members, sum->parallel + mine->parallel,
                         sum->content + mine->content};
}

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

td_status td_input_pieces(td_input *input, td_pool *pool, uint64_t skip, td_piece_fn read, void *context,
                          uint64_t *pieces)
{
    uint64_t count = 0;
    td_flow_settings flow = {piece_bytes(input), skip, read, context};
    td_status status = input->compressed ? td_flow_read(input, pool, &flow, &input->decoding, &count)
                                         : read_windows(input, pool, skip, read, context, &count);
    TD_CHECK(td_mapping_check(&input->mapping, status));
    if (pieces != NULL) *pieces = count;
    return TD_OK;
}

static uint64_t first_line(const td_piece *piece)
{
    if (piece->line != 0) return piece->line;
    const char *data = piece->input->compressed ? piece->input->head : piece->input->data;
    return piece->byte == 0 ? 1 : 1 + td_count_lines(data, data + piece->byte);
}

td_status td_fail_line(const td_piece *piece, const char *at, const char *format, ...)
{
    char text[TD_MESSAGE_BYTES];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    uint64_t line = first_line(piece) + td_count_lines(piece->text, at);
    return td_fail(TD_FORMAT, "%s:%llu: %s", piece->input->path, (unsigned long long)line, text);
}
