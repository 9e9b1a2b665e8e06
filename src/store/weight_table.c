/* Sets of weights in shards, each with a lock: a shard is an array of the weights in the order in which they came, and a
 * hash table of their positions. A code is position * SHARDS + shard. */
#include "store/weight_table.h"

#include "base/alloc.h"
#include "base/random.h"
#include "base/sort.h"

#include <pthread.h>
#include <string.h>

enum { SHARDS = 64, FIRST_SLOTS = 64, MOST_POSITIONS = UINT32_MAX / SHARDS };
#define SIGN (UINT64_C(1) << 63)

/* Keys are the bits of weights in the order of unsigned numbers; minus zero comes before zero. */
typedef struct shard {
    pthread_mutex_t lock;
    uint64_t *keys;
    uint32_t *slots; /* 1 + position, 0 where free; at most half are taken */
    uint32_t *ranks; /* by position, once the weights are ranked */
    uint32_t count, room, slot_count;
} shard;

struct td_weight_table {
    shard shards[SHARDS];
    uint64_t *ranked; /* all keys in ascending order */
    bool is_ranked;
    pthread_mutex_t lock; /* guards what follows */
    td_status status;
    td_failure failure;
};

static uint64_t key_of(double weight)
{
    uint64_t bits;
    memcpy(&bits, &weight, sizeof bits);
    return bits & SIGN ? ~bits : bits | SIGN;
}

static double weight_of(uint64_t key)
{
    double weight;
    uint64_t bits = key & SIGN ? key & ~SIGN : ~key;
    memcpy(&weight, &bits, sizeof weight);
    return weight;
}

td_status td_weight_table_create(td_weight_table **out)
{
    TD_CHECK(TD_NEW_ZEROED(out, 1, "table of weights"));
    pthread_mutex_init(&(*out)->lock, NULL);
    for (int i = 0; i < SHARDS; i++) pthread_mutex_init(&(*out)->shards[i].lock, NULL);
    return TD_OK;
}

void td_weight_table_destroy(td_weight_table *table)
{
    if (table == NULL) return;
    for (int i = 0; i < SHARDS; i++) {
        td_free(table->shards[i].keys);
        td_free(table->shards[i].slots);
        td_free(table->shards[i].ranks);
        pthread_mutex_destroy(&table->shards[i].lock);
    }
    pthread_mutex_destroy(&table->lock);
    td_free(table->ranked);
    td_free(table);
}

static uint32_t slot_of(const shard *self, uint64_t key, uint64_t hash)
{
    uint32_t slot = (uint32_t)hash & (self->slot_count - 1);
    while (self->slots[slot] != 0 && self->keys[self->slots[slot] - 1] != key)
        slot = (slot + 1) & (self->slot_count - 1);
    return slot;
}

static td_status grow(shard *self)
{
    uint32_t slots = self->slot_count == 0 ? FIRST_SLOTS : 2 * self->slot_count, room = slots / 2, *fresh = NULL;
    if (self->count >= MOST_POSITIONS / 2)
        return td_fail(TD_LIMIT, "there are about 2^31 distinct weights, more than 64-bit floats are supported for; "
                       "{weights} f32 rounds them");
    TD_CHECK(TD_RESIZE(&self->keys, room, "distinct weights"));
    TD_CHECK(TD_NEW_ZEROED(&fresh, slots, "table of weights"));
    td_free(self->slots);
    self->slots = fresh;
    self->slot_count = slots;
    self->room = room;
    for (uint32_t i = 0; i < self->count; i++)
        self->slots[slot_of(self, self->keys[i], td_mix64(self->keys[i]) / SHARDS)] = i + 1;
    return TD_OK;
}

static td_status find(shard *self, uint64_t key, uint64_t hash, uint32_t *position)
{
    if (self->count == self->room) TD_CHECK(grow(self));
    uint32_t *slot = &self->slots[slot_of(self, key, hash)];
    if (*slot == 0) {
        self->keys[self->count] = key;
        *slot = ++self->count;
    }
    *position = *slot - 1;
    return TD_OK;
}

uint32_t td_weight_code(td_weight_table *table, double weight)
{
    uint64_t key = key_of(weight), hash = td_mix64(key);
    uint32_t number = (uint32_t)(hash % SHARDS), position = 0;
    shard *self = &table->shards[number];
    pthread_mutex_lock(&self->lock);
    td_status status = find(self, key, hash / SHARDS, &position);
    pthread_mutex_unlock(&self->lock);
    if (status == TD_OK) return position * SHARDS + number;
    pthread_mutex_lock(&table->lock);
    if (table->status == TD_OK) td_failure_keep(&table->failure);
    if (table->status == TD_OK) table->status = status;
    pthread_mutex_unlock(&table->lock);
    return 0;
}

td_status td_weight_table_check(td_weight_table *table)
{
    pthread_mutex_lock(&table->lock);
    td_status status = table->status;
    if (status != TD_OK) td_failure_set(&table->failure);
    pthread_mutex_unlock(&table->lock);
    return status;
}

typedef struct ranking {
    td_weight_table *table;
    uint64_t count;
} ranking;

static td_status rank_shards(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const ranking *job = context;
    for (uint64_t s = begin; s < end; s++) {
        shard *self = &job->table->shards[s];
        for (uint32_t i = 0; i < self->count; i++) {
            uint64_t low = 0, high = job->count - 1;
            while (low < high) {
                uint64_t middle = low + (high - low) / 2;
                if (job->table->ranked[middle] < self->keys[i]) low = middle + 1;
                else high = middle;
            }
            self->ranks[i] = (uint32_t)low;
        }
        td_free(self->keys);
        self->keys = NULL;
    }
    return TD_OK;
}

td_status td_weight_table_rank(td_weight_table *table, td_pool *pool)
{
    ranking job = {.table = table};
    uint64_t *all = NULL, at = 0;
    if (table->is_ranked) return TD_OK;
    TD_CHECK(td_weight_table_check(table));
    for (int s = 0; s < SHARDS; s++) {
        td_free(table->shards[s].slots);
        table->shards[s].slots = NULL;
        job.count += table->shards[s].count;
    }
    TD_CHECK(TD_NEW(&all, job.count + 1, "distinct weights in order")); /* + 1: never an array of none */
    table->ranked = all;
    for (int s = 0; s < SHARDS; s++) {
        shard *self = &table->shards[s];
        if (self->count == 0) continue;
        memcpy(all + at, self->keys, self->count * sizeof *all);
        at += self->count;
        TD_CHECK(TD_NEW(&self->ranks, self->count, "ranks of weights"));
    }
    TD_CHECK(td_sort_words(all, job.count, UINT64_MAX, pool));
    TD_CHECK(td_pool_for(pool, SHARDS, 1, rank_shards, &job));
    table->is_ranked = true;
    return TD_OK;
}

uint32_t td_weight_rank(const td_weight_table *table, uint32_t code)
{
    return table->shards[code % SHARDS].ranks[code / SHARDS];
}

double td_weight_of_rank(const td_weight_table *table, uint32_t rank) { return weight_of(table->ranked[rank]); }
