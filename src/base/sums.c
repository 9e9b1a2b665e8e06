#include "base/sums.h"

#include "base/alloc.h"

enum { BLOCK = 1 << 16, FEW = 4 * BLOCK };

typedef struct adding {
    uint64_t *sums;   /* behind the 0 */
    uint64_t *before; /* of every block: its sum, then the sum of those before it */
} adding;

static void add_block(uint64_t *sums, uint64_t begin, uint64_t end, uint64_t sum)
{
    for (uint64_t i = begin; i < end; i++) sums[i] = sum += sums[i];
}

static td_status count_block(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const adding *self = context;
    for (uint64_t at = begin; at < end; at += BLOCK) { /* a range may have several blocks */
        uint64_t sum = 0, stop = at + BLOCK < end ? at + BLOCK : end;
        for (uint64_t i = at; i < stop; i++) sum += self->sums[i];
        self->before[at / BLOCK] = sum;
    }
    return TD_OK;
}

static td_status sum_block(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const adding *self = context;
    for (uint64_t at = begin; at < end; at += BLOCK)
        add_block(self->sums, at, at + BLOCK < end ? at + BLOCK : end, self->before[at / BLOCK]);
    return TD_OK;
}

td_status td_sum_up(uint64_t *sums, uint64_t count, td_pool *pool)
{
    adding self = {.sums = sums + 1};
    uint64_t blocks = (count + BLOCK - 1) / BLOCK, sum = 0;
    sums[0] = 0;
    if (count < FEW || td_pool_threads(pool) == 1) {
        add_block(self.sums, 0, count, 0);
        return TD_OK;
    }
    TD_CHECK(TD_NEW(&self.before, blocks, "sums of blocks"));
    td_status status = td_pool_for(pool, count, BLOCK, count_block, &self);
    for (uint64_t b = 0; b < blocks && status == TD_OK; b++) {
        uint64_t here = self.before[b];
        self.before[b] = sum;
        sum += here;
    }
    if (status == TD_OK) status = td_pool_for(pool, count, BLOCK, sum_block, &self);
    td_free(self.before);
    return status;
}
