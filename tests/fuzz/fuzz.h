/* Fuzzing the readers: seeds, mutations, one attempt.
 *
 * A seed is the file, or the few files with the same stem, that one graph of a
 * format consists of. What a mutation does depends on (seed number, attempt)
 * alone, so that any attempt can be repeated by naming the two.
 */
#ifndef TD_FUZZ_H
#define TD_FUZZ_H

#include "base/pool.h"
#include "store/formats/format.h"

enum { FUZZ_FILES = 4, FUZZ_BYTES = 192 << 10, FUZZ_SUFFIX = 32 };

typedef struct fuzz_file {
    char suffix[FUZZ_SUFFIX]; /* all behind the first dot: "el.gz" */
    size_t bytes;
    unsigned char data[FUZZ_BYTES];
} fuzz_file;

typedef struct fuzz_seed {
    char stem[64];
    int count, main; /* `main` is the file the reader is given */
    fuzz_file files[FUZZ_FILES];
} fuzz_seed;

void fuzz_copy(fuzz_seed *to, const fuzz_seed *from);

/* Changes one file of `seed`; may take bytes of `other`. */
void fuzz_mutate(fuzz_seed *seed, const fuzz_seed *other, uint64_t number, uint64_t attempt);

/* A folder for the files of attempts, in memory if there is such a place. False with a message on stderr. */
bool fuzz_open_folder(void);
void fuzz_close_folder(void);
const char *fuzz_path(const char *suffix); /* of a file in it; the next call overwrites */

/* Writes the files, reads them as `format` (or as what they look like), builds and
 * checks. False, with the reason on stderr, when the reader did what no reader
 * may: fail without words, leak, or return a graph that is none. */
bool fuzz_attempt(const fuzz_seed *seed, const td_format *format, bool detect, td_pool *pool, bool *graph_made);

#endif
