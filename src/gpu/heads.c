/* Where the lists of a pull begin (td_gpu_segments), found by all workers: a table of some bytes for every vertex takes
 * one of them longer than the copy of the lists takes. */
#include "gpu/job.h"

#include "base/alloc.h"

enum { PARTS = 512 };

/* Part p has the vertices from td_share(n, p, PARTS) on. */
typedef struct finding {
    td_gpu_heads *found;
    uint64_t (*place)(const void *of, uint64_t v);
    const void *of;
    uint64_t n;
    uint64_t lists[PARTS + 1]; /* non-empty lists before each part */
} finding;

static td_status count_lists(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    finding *self = context;
    for (uint64_t part = begin; part < end; part++) {
        uint64_t v = td_share(self->n, (int)part, PARTS), last = td_share(self->n, (int)part + 1, PARTS), count = 0;
        for (uint64_t place = self->place(self->of, v); v < last; v++) {
            uint64_t next = self->place(self->of, v + 1);
            count += next != place;
            place = next;
        }
        self->lists[part + 1] = count;
    }
    return TD_OK;
}

/* The list from edge `begin` on is the one with this number. A piece is in the list that its first edge is in. */
static void enter_list(const finding *self, uint64_t begin, uint64_t end, uint64_t number)
{
    for (uint64_t piece = (begin + TD_GPU_TILE - 1) / TD_GPU_TILE; piece * TD_GPU_TILE < end; piece++)
        self->found->before[piece] = (uint32_t)(number + (piece * TD_GPU_TILE > begin));
}

/* The words at the ends of a part have bits of its neighbours, too. */
static td_status fill_lists(void *context, uint64_t first, uint64_t last, int worker)
{
    (void)worker;
    finding *self = context;
    for (uint64_t part = first; part < last; part++) {
        uint64_t v = td_share(self->n, (int)part, PARTS), end = td_share(self->n, (int)part + 1, PARTS);
        uint64_t number = self->lists[part], begin = self->place(self->of, v), word = begin / 32;
        uint32_t bits = 0;
        for (; v < end; v++) {
            uint64_t next = self->place(self->of, v + 1);
            if (next == begin) continue;
            if (begin / 32 != word) {
                __atomic_fetch_or(&self->found->bits[word], bits, __ATOMIC_RELAXED);
                word = begin / 32;
                bits = 0;
            }
            bits |= 1u << (begin & 31u);
            enter_list(self, begin, next, number);
            self->found->lists[number++] = (uint32_t)v;
            begin = next;
        }
        if (bits != 0) __atomic_fetch_or(&self->found->bits[word], bits, __ATOMIC_RELAXED);
    }
    return TD_OK;
}

td_status td_gpu_find_heads(td_gpu_heads *found, uint64_t (*place)(const void *of, uint64_t v), const void *of,
                            uint64_t n, td_pool *pool)
{
    finding self = {.found = found, .place = place, .of = of, .n = n};
    uint64_t edges = place(of, n);
    found->pieces = (edges + TD_GPU_TILE - 1) / TD_GPU_TILE;
    found->words = edges / 32 + TD_GPU_TILE / 32;
    TD_CHECK(TD_NEW_ZEROED(&found->bits, found->words, "list starts"));
    TD_CHECK(TD_NEW(&found->lists, n, "vertices with lists"));
    TD_CHECK(TD_NEW(&found->before, found->pieces + 1, "list starts"));
    TD_CHECK(td_pool_for(pool, PARTS, 1, count_lists, &self));
    for (int part = 0; part < PARTS; part++) self.lists[part + 1] += self.lists[part];
    found->count = self.lists[PARTS];
    return td_pool_for(pool, PARTS, 1, fill_lists, &self);
}

void td_gpu_free_heads(td_gpu_heads *heads)
{
    td_free(heads->bits);
    td_free(heads->lists);
    td_free(heads->before);
    *heads = (td_gpu_heads){0};
}
