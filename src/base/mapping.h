/* Files mapped for reading, safe against a file that becomes shorter, and with an error for one that was written to.
 *
 * Reading a mapped page that the file no longer has raises SIGBUS. The handler installed with the first mapping puts
 * zeros in place of the missing pages and marks the mapping as torn; the code that read it then fails with
 * td_mapping_settle instead of ending the process. A SIGBUS anywhere else goes to the handler that was there before.
 */
#ifndef TD_BASE_MAPPING_H
#define TD_BASE_MAPPING_H

#include "base/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

/* A file of a mapping, with its length at the beginning (the rest of a last page reads as zeros, unnoticed) and the
 * time of its last change. */
typedef struct td_mapped_file {
    int descriptor;
    uint64_t length;
    struct timespec written;
} td_mapped_file;

enum { TD_MAPPED_FILES = 17 }; /* a packed graph with all of its stripes */

typedef struct td_mapping {
    struct td_mapping *_Atomic next; /* in the list that the handler searches */
    char *base;
    size_t bytes;
    const char *path; /* for the message; must outlive the mapping */
    td_mapped_file file[TD_MAPPED_FILES];
    int files;
    atomic_bool torn;
} td_mapping;

/* Guards `bytes` from `base` on, which the caller has mapped from the descriptor; td_mapping_end unmaps them. A mapping
 * of no bytes has base NULL and needs no guard. The caller may close its descriptor. */
void td_mapping_begin(td_mapping *mapping, void *base, size_t bytes, int descriptor, const char *path);
void td_mapping_add(td_mapping *mapping, int descriptor); /* one more file of it */
void td_mapping_end(td_mapping *mapping); /* a zeroed struct is fine */

/* Releases pages of it that will not be read again soon, where the memory budget is small relative to the mapping: they
 * no longer count as resident. NULL is fine for the mapping. */
void td_mapping_let_go(const td_mapping *mapping, const void *begin, const void *end);

/* The same whatever the budget, and the pages around, which the kernel has mapped along with them. */
void td_mapping_release(const td_mapping *mapping, const void *begin, const void *end);

/* Copies bytes at an address that may be in the mapping. A mapping of one file is read from the file: a fault would map
 * all that the page cache has around the page, a large folio of 2 MiB. NULL is fine for the mapping. */
void td_mapping_read(const td_mapping *mapping, const void *from, void *into, uint64_t bytes);

/* Whether the address is in the mapping. NULL is fine for it. */
bool td_mapping_holds(const td_mapping *mapping, const void *address);

/* `status`, or TD_IO with a message if the mapping is torn or a file of it was written to: what was read of it is
 * worthless. A rename onto its name changes nothing of the file that is mapped. NULL is fine for the mapping. */
td_status td_mapping_check(const td_mapping *mapping, td_status status);

/* Forgets mappings that the calling thread has ended: what begins has nothing to do with them. */
void td_mapping_forget(void);

/* As td_mapping_check, for all mappings that the calling thread has ended since the last call: for work that opens and closes files
 * by itself. */
td_status td_mapping_settle(td_status status);

#endif
