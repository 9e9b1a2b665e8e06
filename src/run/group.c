#include "run/group.h"

#include "base/alloc.h"
#include "tandem.h"

#include <string.h>

void td_group_free(td_group *group)
{
    td_free(group->seen);
    for (int k = 0; k < group->plane_count; k++) td_free(group->planes[k]);
    group->seen = NULL;
    group->plane_count = 0;
}

uint32_t td_group_width(uint64_t count)
{
    uint32_t width = 8;
    while (width < count && width < TD_GROUP_MOST) width *= 2;
    return width;
}

int td_group_planes(uint64_t vertices)
{
    int bits = vertices < 2 ? 1 : 64 - __builtin_clzll(vertices - 1);
    return bits < TD_PLANES_EXPECTED ? bits : TD_PLANES_EXPECTED;
}

typedef struct reading {
    const td_group *group;
    uint32_t first, count;
    uint32_t *const *levels;
} reading;

/* The levels of one source in vertices begin .. end - 1, plane by plane, so that the loops are simple enough for the
 * compiler to do several vertices at once. */
#define DEFINE_READ(type, name)                                                                             \
    static void name(const td_group *group, uint32_t bit, uint32_t *levels, uint64_t begin, uint64_t end)   \
    {                                                                                                       \
        const type *seen = group->seen;                                                                     \
        for (uint64_t v = begin; v < end; v++) levels[v] = (uint32_t)(seen[v] >> bit & 1) - 1;              \
        for (int k = 0; k < group->plane_count; k++) {                                                      \
            const type *plane = group->planes[k];                                                           \
            for (uint64_t v = begin; v < end; v++) levels[v] |= (uint32_t)(plane[v] >> bit & 1) << k;       \
        }                                                                                                   \
    }
DEFINE_READ(uint8_t, read_8)
DEFINE_READ(uint16_t, read_16)
DEFINE_READ(uint32_t, read_32)
DEFINE_READ(uint64_t, read_64)

/* Vertices whose words stay in the nearest caches while the levels of a window are read from them. */
enum { VERTICES_AT_A_TIME = 1 << 11 };

static td_status read_part(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const reading *self = context;
    const td_group *group = self->group;
    for (uint32_t i = 0; i < self->count; i++) {
        uint32_t bit = self->first + i;
        if (group->width == 8) read_8(group, bit, self->levels[i], begin, end);
        else if (group->width == 16) read_16(group, bit, self->levels[i], begin, end);
        else if (group->width == 32) read_32(group, bit, self->levels[i], begin, end);
        else read_64(group, bit, self->levels[i], begin, end);
    }
    return TD_OK;
}

td_status td_group_read(const td_group *group, uint32_t first, uint32_t count, uint64_t vertices,
                        uint32_t *const *levels, td_pool *pool)
{
    reading self = {group, first, count, levels};
    return td_pool_for(pool, vertices, VERTICES_AT_A_TIME, read_part, &self);
}
