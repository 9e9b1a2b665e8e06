/* Reading blocks of a packed file while the graph is being worked on.
 *
 * One queue per directory that the file lies in, served by one thread with
 * several reads under way (io_uring), or where there is no ring by a few threads that
 * read one after the other. Past the system's page cache (O_DIRECT) where the
 * file system can. Every block is checked against its checksum; a read that fails
 * or does not fit is done once more before it is an error, which names the
 * file and the block. The end of a read is a completion in the loop.
 */
#ifndef TD_STORE_PAGE_READER_H
#define TD_STORE_PAGE_READER_H

#include "base/loop.h"
#include "store/packed.h"

enum { TD_READ_BLOCKS = 16 }; /* most of one read */

typedef struct td_page_reader td_page_reader;

/* Neighbouring blocks of a section, all in one directory. The caller's, until the completion. */
typedef struct td_block_read {
    td_section_kind section;
    uint64_t first, blocks;
    char *into;
    td_handler handler; /* called with the status and `context`; the value is the read's address */
    void *context;
    uint64_t asked;     /* the rest is the reader's */
    uint64_t bytes, offset;
    struct td_block_read *next;
} td_block_read;

/* How blocks are read; zeros are the usual. */
typedef struct td_reader_options {
    unsigned depth;  /* reads under way per directory */
    bool threads;    /* no ring even where there is one */
    bool cached;     /* through the page cache even where O_DIRECT works */
} td_reader_options;

/* What the threads of a reader do with their time: nothing is asked of them; they ask the system; they wait for the
 * disk; they check what came. */
typedef enum td_reader_work {
    TD_READER_IDLE, TD_READER_ASKING, TD_READER_WAITING, TD_READER_CHECKING, TD_READER_WORK
} td_reader_work;

typedef struct td_reader_counts {
    uint64_t reads, bytes, retries;
    uint64_t busy_ns;             /* with a read under way */
    uint64_t ns[TD_READER_WORK];  /* of all threads together */
    int threads;
} td_reader_counts;

/* The file stays the caller's; its checksums are loaded. */
td_status td_page_reader_create(td_page_reader **out, td_packed *packed, td_loop *loop,
                                const td_reader_options *options);

/* Waits for what is under way; completions not yet delivered stay in the loop. NULL is fine. */
void td_page_reader_destroy(td_page_reader *reader);

/* How many blocks from `first` on, at most `most`, one read can fetch: reads end where multiples of
 * TD_READ_BLOCKS do. */
uint64_t td_page_reader_span(const td_page_reader *reader, td_section_kind section, uint64_t first, uint64_t most);

/* Queues a read of no more blocks than that. */
void td_page_reader_ask(td_page_reader *reader, td_block_read *read);

/* The bytes of a read, with the zeros behind a section's end. */
uint64_t td_page_reader_bytes(const td_page_reader *reader, td_section_kind section, uint64_t first, uint64_t blocks);

int td_page_reader_directories(const td_page_reader *reader);
const char *td_page_reader_directory(const td_page_reader *reader, int index);
td_reader_counts td_page_reader_counts(td_page_reader *reader, int directory);
const char *td_page_reader_method(const td_page_reader *reader); /* "io_uring, direct", ... */

/* Fails with TD_CORRUPT if the file is not the one that was opened: its length, its time, its build id. */
td_status td_page_reader_check_file(const td_page_reader *reader);

/* Tests: the nth read from now (1 = the next; 0: none) and the `more` reads behind it fail, or come with a bit flipped.
 * A read that is done once more counts again. */
typedef enum td_read_fault { TD_FAULT_ERROR, TD_FAULT_FLIP } td_read_fault;
void td_page_reader_inject(td_read_fault fault, uint64_t nth, uint64_t more);

#endif
