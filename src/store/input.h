/* A text file to be read in parallel, compressed or not.
 *
 * Plain files are mapped; .gz, .zst and .xz (recognised by content, not name)
 * are decompressed by one thread while the others parse, or, if their blocks are independent of
 * each other, by all. Either way a reader gets pieces of whole lines, in any order, each with its index: the edges of
 * piece i go to chunk i, so that the result does not depend on the threads. The last line may
 * lack its newline.
 */
#ifndef TD_STORE_INPUT_H
#define TD_STORE_INPUT_H

#include "base/pool.h"
#include "base/status.h"

typedef struct td_input td_input;

/* Refuses a path that is not a regular readable file. */
td_status td_input_open(td_input **out, const char *path);
td_status td_input_open_plain(td_input **out, const char *path); /* refuses compressed files too */
void td_input_close(td_input *input);
const char *td_input_path(const td_input *input);
uint64_t td_input_bytes(const td_input *input);      /* of the file as stored */
bool td_input_compressed(const td_input *input);
const void *td_input_data(const td_input *input);    /* the file as stored, for binary formats; NULL when empty */

/* Memory that decoding takes besides the buffers, known once the head has been read; 0 for plain files. */
uint64_t td_input_decoder_bytes(const td_input *input);

/* How a compressed file was decoded. */
typedef struct td_decoding {
    const char *format, *library; /* "gzip", "ISA-L"; NULL: nothing was decoded */
    uint64_t members;             /* gzip members, zstd frames; of xz only blocks decoded in parallel */
    uint64_t parallel;            /* of these, those that workers decoded side by side */
    uint64_t content;             /* bytes of the content */
} td_decoding;
void td_input_add_decoding(const td_input *input, td_decoding *sum); /* by the last td_input_pieces */

/* The first bytes of the (decompressed) content, up to 64 KiB, at least that
 * many if there are. Valid until close. Also for a header to be parsed at once. */
td_status td_input_head(td_input *input, const char **text, size_t *bytes);

/* Releases bytes of td_input_data that will not be read again soon: for a file that is large relative to the
 * memory budget, they no longer count as resident memory. td_input_pieces does so itself. */
void td_input_let_go(const td_input *input, const void *begin, const void *end);

typedef struct td_piece {
    const td_input *input;
    uint64_t index;         /* 0, 1, 2, ... in file order */
    uint64_t byte;          /* position of `text` in the decompressed content */
    uint64_t line;          /* number of its first line, or 0: counted when a message needs it */
    const char *text, *end; /* whole lines; nothing at or behind `end` may be read */
} td_piece;

/* Calls `read` for every piece from byte `skip` on (the length of a header that
 * was parsed from the head; it must end a line), concurrently, on the pool's
 * workers. How a file is cut depends on the file alone. Failures are reported
 * for the earliest piece that fails. *pieces (may be NULL) receives one more than
 * the last index; an index may be left out where a long line swallowed it. */
typedef td_status (*td_piece_fn)(void *context, const td_piece *piece, int worker);
td_status td_input_pieces(td_input *input, td_pool *pool, uint64_t skip, td_piece_fn read, void *context,
                          uint64_t *pieces);

/* "path:line: " + message, the line computed from where `at` stands in the piece. */
td_status td_fail_line(const td_piece *piece, const char *at, const char *format, ...) TD_PRINTF(3, 4);

#endif
