/* Asynchronous reads of blocks of a packed file.
 *
 * Every directory of the file has a queue, served by a thread with several reads in
 * flight (io_uring) or, without a ring, by a few threads with one read each. Reads
 * bypass the page cache (O_DIRECT) if the file system supports it. Every block is
 * checked against its checksum; a failed read is repeated once before it is an error,
 * which names the file and the block. The end of a read is a completion in the loop.
 */
#ifndef TD_STORE_PAGE_READER_H
#define TD_STORE_PAGE_READER_H

#include "base/loop.h"
#include "store/packed.h"

enum { TD_READ_BLOCKS = 16 }; /* limit per read */

typedef struct td_page_reader td_page_reader;

/* Consecutive blocks of a section, all in one directory. Owned by the caller; must stay until the completion. */
typedef struct td_block_read {
    td_section_kind section;
    uint64_t first, blocks;
    char *into;
    td_handler handler; /* called with the status and `context`; the value is the read's address */
    void *context;
    uint64_t asked;     /* from here on: private to the reader */
    uint64_t bytes, offset;
    struct td_block_read *next;
} td_block_read;

/* How blocks are read; zeros are the defaults. */
typedef struct td_reader_options {
    unsigned depth;  /* reads in flight per directory */
    bool threads;    /* does not use a ring */
    bool cached;     /* does not use O_DIRECT */
} td_reader_options;

/* The activities of a reader's threads: idle, submitting reads, waiting for the disk, checking blocks. */
typedef enum td_reader_work {
    TD_READER_IDLE, TD_READER_ASKING, TD_READER_WAITING, TD_READER_CHECKING, TD_READER_WORK
} td_reader_work;

typedef struct td_reader_counts {
    uint64_t reads, bytes, retries;
    uint64_t busy_ns;             /* time with a read in flight */
    uint64_t ns[TD_READER_WORK];  /* of all threads together */
    int threads;
} td_reader_counts;

/* The caller owns the file, whose checksums must be loaded. */
td_status td_page_reader_create(td_page_reader **out, td_packed *packed, td_loop *loop,
                                const td_reader_options *options);

/* Waits for reads in flight; completions not yet delivered stay in the loop. NULL is fine. */
void td_page_reader_destroy(td_page_reader *reader);

/* The number of blocks from `first` on, at most `most`, that one read can fetch: reads end at multiples of
 * TD_READ_BLOCKS. */
uint64_t td_page_reader_span(const td_page_reader *reader, td_section_kind section, uint64_t first, uint64_t most);

/* Queues a read of no more blocks than that. */
void td_page_reader_ask(td_page_reader *reader, td_block_read *read);

/* The bytes of a read, including a section's padding. */
uint64_t td_page_reader_bytes(const td_page_reader *reader, td_section_kind section, uint64_t first, uint64_t blocks);

int td_page_reader_directories(const td_page_reader *reader);
const char *td_page_reader_directory(const td_page_reader *reader, int index);
td_reader_counts td_page_reader_counts(td_page_reader *reader, int directory);
const char *td_page_reader_method(const td_page_reader *reader); /* "io_uring, direct", ... */

/* Fails with TD_CORRUPT if the file has changed after it was opened: its length, time or build id. */
td_status td_page_reader_check_file(const td_page_reader *reader);

/* For tests: the nth following read (1: the next; 0: none) and the `more` reads after it fail, or have a bit flipped.
 * A repeated read counts again. */
typedef enum td_read_fault { TD_FAULT_ERROR, TD_FAULT_FLIP } td_read_fault;
void td_page_reader_inject(td_read_fault fault, uint64_t nth, uint64_t more);

#endif
