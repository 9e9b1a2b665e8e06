/* A search from up to 64 sources at once, a bit each (MS-BFS: Then and others, VLDB 2014), and the levels found.
 *
 * Levels are kept in planes: bit s of word v of plane k is bit k of the level of vertex v in the search from source s.
 * So the search adds a level to all sources that reach a vertex with one operation per plane, and levels take as many
 * planes as the highest one has bits: 4 words a vertex for levels up to 15, instead of 4 bytes for every source. */
#ifndef TD_RUN_GROUP_H
#define TD_RUN_GROUP_H

#include "base/pool.h"

enum { TD_GROUP_MOST = 64, TD_LEVEL_PLANES = 32 };
enum { TD_PLANES_EXPECTED = 8 }; /* plans count so many: levels up to 255; a search adds others as it needs them */

typedef struct td_group {
    const uint32_t *sources; /* vertices, some perhaps repeatedly */
    uint32_t count;          /* of them; at most `width` */
    uint32_t width;          /* bits of a word: 8, 16, 32 or 64 */
    void *seen;              /* a word per vertex: the sources that reach it */
    void *planes[TD_LEVEL_PLANES];
    int plane_count;
    uint64_t words;          /* of the frontier that the search processed */
    bool may_stop, stopped;  /* the search may end early if its sources share too little; it has */
} td_group;

void td_group_free(td_group *group);

/* The narrowest word for so many sources. */
uint32_t td_group_width(uint64_t count);

/* Sources whose levels are read at a time, so that the planes are not read anew for each. */
static inline uint32_t td_group_window(uint32_t width) { return width / 8; }

/* Planes that levels of so many vertices can need, as far as plans count them. */
int td_group_planes(uint64_t vertices);

/* The levels of sources first .. first + count - 1, at most a window: levels[i][v]; TD_UNREACHED: none. */
td_status td_group_read(const td_group *group, uint32_t first, uint32_t count, uint64_t vertices,
                        uint32_t *const *levels, td_pool *pool);

#endif
