/* Prepared layouts: files beside a packed graph that hold what an engine makes of it before it runs, so that it is
 * made once. The layout `paths` of g.tg is g.tg.paths; where that folder cannot be written, it is in the user's cache
 * folder, named after the graph's build id. The .tg itself is never changed.
 *
 * A file has a 4 KiB header (magic, version, byte order, its length, the build id of the graph, the name of the
 * layout, a key that says how it was made, the table of sections, a checksum), the sections, aligned to 4 KiB, and a
 * checksum per 64 KiB of each section. It appears whole or not at all (td_outfile), so that two processes may write it
 * at once: one of the two files stays. A file of another build of the graph is refused. docs/guide/prepared.md
 * describes it. */
#ifndef TD_STORE_SIDECAR_H
#define TD_STORE_SIDECAR_H

#include "base/pool.h"
#include "base/status.h"

#define TD_SIDECAR_VERSION 1u

enum {
    TD_SIDECAR_PATH = 4096,
    TD_SIDECAR_NAME = 32,     /* bytes of a layout's name, with its zero */
    TD_SIDECAR_KEY = 512,
    TD_SIDECAR_SECTION = 24,  /* bytes of a section's name */
    TD_SIDECAR_SECTIONS = 48,
};

typedef struct td_sidecar_part {
    const char *name;
    const void *data;
    uint64_t bytes;
} td_sidecar_part;

/* What identifies a layout. */
typedef struct td_sidecar_id {
    const char *graph;  /* path of the .tg */
    uint64_t build_id;  /* of the .tg */
    const char *layout; /* letters, digits and '-' */
} td_sidecar_id;

/* Writes the layout, in place of an older one. `where` receives the file's path. */
td_status td_sidecar_write(const td_sidecar_id *id, const char *key, const td_sidecar_part *parts, int count,
                           char where[TD_SIDECAR_PATH], td_pool *pool);

/* Whether the folder of the graph can be written and has room for such a file, and as much again. */
bool td_sidecar_has_room(const char *graph, uint64_t bytes);

typedef struct td_sidecar td_sidecar;

/* Opens the layout and checks its header. TD_NOT_FOUND: there is none. TD_INVALID: it is of another build of the graph.
 * TD_CORRUPT, TD_FORMAT, TD_UNSUPPORTED or TD_IO naming the file. */
td_status td_sidecar_open(td_sidecar **out, const td_sidecar_id *id);
void td_sidecar_close(td_sidecar *sidecar); /* NULL is fine */

const char *td_sidecar_file(const td_sidecar *sidecar);
const char *td_sidecar_layout(const td_sidecar *sidecar); /* TD_SIDECAR_NAME bytes */
const char *td_sidecar_key(const td_sidecar *sidecar);
uint64_t td_sidecar_bytes(const td_sidecar *sidecar); /* of the file */

/* The bytes of a section; TD_CORRUPT if there is none of that name. */
td_status td_sidecar_size(const td_sidecar *sidecar, const char *part, uint64_t *bytes);

/* Reads a section of exactly so many bytes and checks it. */
td_status td_sidecar_read(const td_sidecar *sidecar, const char *part, void *into, uint64_t bytes, td_pool *pool);

/* The same for a section whose numbers lead somewhere: calls `check` for every block that was read, `bytes` of them from
 * `at` on, while it is in the cache; any thread. A failure names the file. */
typedef td_status (*td_sidecar_check)(const void *context, uint64_t at, const void *data, uint64_t bytes);
td_status td_sidecar_read_checked(const td_sidecar *sidecar, const char *part, void *into, uint64_t bytes,
                                  td_sidecar_check check, const void *context, td_pool *pool);

/* The same for a section that does not stay as it is: hands every block of 64 KiB to `take` instead of keeping it;
 * the last one may be shorter. */
td_status td_sidecar_take(const td_sidecar *sidecar, const char *part, uint64_t bytes, td_sidecar_check take,
                          const void *context, td_pool *pool);

/* Whether the layout is there: its header is whole and of this build of the graph. Sets no message. */
bool td_sidecar_has(const td_sidecar_id *id);

/* A layout that was found. */
typedef struct td_sidecar_entry {
    char layout[TD_SIDECAR_NAME], key[TD_SIDECAR_KEY], path[TD_SIDECAR_PATH];
    uint64_t bytes;
    bool matches; /* is of this build of the graph, and its header is whole */
} td_sidecar_entry;

/* All layouts of a graph, in the order of their names; freed with td_free. */
td_status td_sidecar_list(const char *graph, uint64_t build_id, td_sidecar_entry **out, int *count);

/* Removes a layout, whatever build it is of; *removed says how many files there were. Files that are none are kept. */
td_status td_sidecar_remove(const td_sidecar_id *id, int *removed);

#endif
