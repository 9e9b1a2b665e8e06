#include "run/result.h"

#include "base/alloc.h"
#include "base/random.h"

#include <math.h>
#include <string.h>

enum { VERTICES_AT_A_TIME = 1 << 14 };

bool td_run_value(const td_run *run, uint32_t vertex, double *value)
{
    if (run->kind == TD_VALUE_F64 || run->kind == TD_VALUE_F32) {
        *value = run->kind == TD_VALUE_F64 ? ((const double *)run->values)[vertex]
                                           : (double)((const float *)run->values)[vertex];
        return !(run->program->info->real_follows_weights && *value == (double)INFINITY);
    }
    if (run->kind == TD_VALUE_U64) {
        uint64_t wide = ((const uint64_t *)run->values)[vertex];
        *value = (double)wide;
        return wide != TD_UNREACHED_U64;
    }
    uint32_t whole = ((const uint32_t *)run->values)[vertex];
    *value = whole;
    return whole != TD_UNREACHED;
}

/* A distance has one digest with 32 and with 64 bits, unreached ones too: the two values that mean unreached change
 * places, so that no distance has the digest of another. */
static uint64_t wide_bits(uint64_t distance)
{
    if (distance == TD_UNREACHED_U64) return TD_UNREACHED;
    return distance == TD_UNREACHED ? TD_UNREACHED_U64 : distance;
}

/* The part of a value in the digest: its bits. Those of 32 bits, which may refer to an original id, have a loop of their
 * own (summarise_words). */
static uint64_t value_bits(const td_run *run, uint32_t vertex)
{
    uint64_t bits;
    if (run->kind == TD_VALUE_F32) return ((const uint32_t *)run->values)[vertex];
    if (run->kind == TD_VALUE_U64) return wide_bits(((const uint64_t *)run->values)[vertex]);
    memcpy(&bits, (const double *)run->values + vertex, sizeof bits);
    return bits;
}

/* One worker sums a range of vertices, and the caller adds the ranges in order, so that real sums do not depend on the
 * number of threads. */
typedef struct summing {
    const td_run *run;
    td_run_summary *parts;
} summing;

/* Values of 32 bits, the most common, in whole numbers: sums of a range are exact as doubles, too. */
static td_run_summary summarise_words(const td_run *run, uint64_t begin, uint64_t end)
{
    const uint32_t *words = run->values;
    const td_graph *graph = run->graph;
    bool names = run->program->info->vertex_values;
    uint64_t digest = 0, reached = 0, sum = 0;
    uint32_t lowest = UINT32_MAX, highest = 0;
    for (uint64_t v = begin; v < end; v++) {
        uint32_t word = words[v], has = word != TD_UNREACHED, value = has ? word : 0;
        digest += td_random_at(td_graph_id(graph, (uint32_t)v), names ? td_graph_id(graph, word) : word);
        reached += has;
        sum += value;
        lowest = word < lowest ? word : lowest; /* unreached is above all */
        highest = value > highest ? value : highest;
    }
    return (td_run_summary){.digest = digest, .reached = reached, .sum = (double)sum, .lowest = lowest, .highest = highest};
}

static td_status summarise_part(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const summing *self = context;
    td_run_summary part = {.lowest = (double)INFINITY, .highest = -(double)INFINITY};
    if (self->run->kind == TD_VALUE_U32) {
        self->parts[begin / VERTICES_AT_A_TIME] = summarise_words(self->run, begin, end);
        return TD_OK;
    }
    for (uint64_t v = begin; v < end; v++) {
        double value;
        part.digest += td_random_at(td_graph_id(self->run->graph, (uint32_t)v), value_bits(self->run, (uint32_t)v));
        if (!td_run_value(self->run, (uint32_t)v, &value)) continue;
        part.reached++;
        part.sum += value;
        if (value < part.lowest) part.lowest = value; /* not a number is neither */
        if (value > part.highest) part.highest = value;
    }
    self->parts[begin / VERTICES_AT_A_TIME] = part;
    return TD_OK;
}

td_named_edge td_run_named_edge(const td_run *run, uint64_t i, uint32_t *from)
{
    td_forest_edge of = run->forest != NULL ? run->forest[i] : td_run_forest_edge(run, i, *from);
    *from = of.source;
    uint64_t source = td_graph_id(run->graph, *from), target = td_graph_id(run->graph, of.target);
    bool turned = run->graph->symmetric && source > target;
    return (td_named_edge){turned ? target : source, turned ? source : target, of.weight};
}

typedef struct digesting {
    const td_run *run;
    uint64_t digest; /* a sum, in any order */
} digesting;

static td_status digest_part(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    digesting *self = context;
    uint64_t digest = 0;
    uint32_t from = 0;
    for (uint64_t i = begin; i < end; i++) {
        if (self->run->forest == NULL) td_run_fetch_edge(self->run, i);
        td_named_edge edge = td_run_named_edge(self->run, i, &from);
        uint64_t bits;
        memcpy(&bits, &edge.weight, sizeof bits);
        digest += td_random_at(td_random_at(edge.source, edge.target), bits);
    }
    __atomic_fetch_add(&self->digest, digest, __ATOMIC_RELAXED);
    return TD_OK;
}

static td_status digest_edges(const td_run *run, td_pool *pool, uint64_t *out)
{
    digesting self = {.run = run};
    TD_CHECK(td_pool_for(pool, run->edge_count, VERTICES_AT_A_TIME, digest_part, &self));
    *out = self.digest;
    return TD_OK;
}

/* Groups: their sizes are counted window by window, then visited. */

typedef struct counting {
    const uint32_t *names;
    uint32_t *sizes; /* of the groups named by vertices first .. first + count - 1, without the vertex that names one */
    uint32_t first, count;
    td_range_fn see; /* of numbers of these vertices */
    void *context;
} counting;

static uint32_t size_of(const counting *self, uint64_t i)
{
    return self->sizes[i] + (self->names[self->first + i] == self->first + i);
}

static void count_members(const counting *self, uint32_t name, uint32_t members)
{
    name -= self->first; /* wraps, if it is below the window */
    if (name < self->count) __atomic_fetch_add(&self->sizes[name], members, __ATOMIC_RELAXED);
}

/* Most vertices are in a few large groups: a worker keeps their counts to itself, because all workers would wait for
 * one another at the counter of the largest. Of two groups in one place the larger stays. The others are mostly alone in
 * their groups, which they name, and are not counted. */
static td_status count_part(void *context, uint64_t begin, uint64_t end, int worker)
{
    enum { PLACES = 16 };
    (void)worker;
    const counting *self = context;
    uint32_t kept[PLACES], members[PLACES] = {0};
    for (uint64_t v = begin; v < end;) {
        uint64_t first = v;
        uint32_t name = self->names[v], place = name % PLACES;
        for (v++; v < end && self->names[v] == name; v++) {}
        uint32_t run = (uint32_t)(v - first) - (first <= name && name < v);
        if (run == 0) continue;
        if (members[place] > 0 && kept[place] == name) members[place] += run;
        else if (members[place] > run) count_members(self, name, run);
        else {
            if (members[place] > 0) count_members(self, kept[place], members[place]);
            kept[place] = name;
            members[place] = run;
        }
    }
    for (int p = 0; p < PLACES; p++)
        if (members[p] > 0) count_members(self, kept[p], members[p]);
    return TD_OK;
}

static td_status clear_part(void *context, uint64_t begin, uint64_t end, int worker)
{
    const counting *self = context;
    (void)worker;
    memset(self->sizes + begin, 0, (end - begin) * sizeof *self->sizes);
    return TD_OK;
}

/* How many groups are counted at a time: all, or as many as half of the memory left holds. A run that just fits must not
 * fail for its summary. */
static uint32_t groups_at_a_time(uint32_t vertices)
{
    enum { FEWEST = 1 << 12 };
    td_memory_stats memory = td_memory();
    uint64_t left = memory.budget > memory.now ? (memory.budget - memory.now) / 2 / sizeof(uint32_t) : 0;
    if (memory.budget == 0 || left >= vertices) return vertices;
    return left > FEWEST ? (uint32_t)left : vertices < FEWEST ? vertices : FEWEST;
}

/* Calls `see` with self for vertices that may name groups, on any worker; size_of gives the sizes. */
static td_status for_groups(const td_run *run, td_pool *pool, counting *self)
{
    td_status status = TD_OK;
    uint32_t vertices = run->graph->vertices, most = groups_at_a_time(vertices);
    self->names = run->values;
    TD_CHECK(TD_NEW_ZEROED(&self->sizes, most, "sizes of groups"));
    for (uint64_t first = 0; first < vertices; first += most) {
        self->first = (uint32_t)first;
        self->count = vertices - self->first < most ? vertices - self->first : most;
        if (first > 0) TD_TRY(td_pool_for(pool, self->count, VERTICES_AT_A_TIME, clear_part, self));
        TD_TRY(td_pool_for(pool, vertices, VERTICES_AT_A_TIME, count_part, self));
        TD_TRY(td_pool_for(pool, self->count, VERTICES_AT_A_TIME, self->see, self));
    }
done:
    td_free(self->sizes);
    return status;
}

/* What a worker has seen of the groups. */
typedef struct groups_seen {
    uint64_t groups, largest;
    char apart[48]; /* of other workers' cache lines */
} groups_seen;

static td_status see_groups(void *context, uint64_t begin, uint64_t end, int worker)
{
    const counting *self = context;
    groups_seen *mine = (groups_seen *)self->context + worker;
    uint64_t groups = 0;
    uint32_t largest = 0;
    for (uint64_t i = begin; i < end; i++) {
        uint32_t size = size_of(self, i);
        groups += size > 0;
        if (size > largest) largest = size;
    }
    mine->groups += groups;
    if (largest > mine->largest) mine->largest = largest;
    return TD_OK;
}

static td_status summarise_groups(const td_run *run, td_pool *pool, td_run_summary *out)
{
    groups_seen *seen;
    int workers = td_pool_threads(pool);
    TD_CHECK(TD_NEW_ZEROED(&seen, (uint64_t)workers, "summary of groups"));
    td_status status = for_groups(run, pool, &(counting){.see = see_groups, .context = seen});
    for (int w = 0; w < workers; w++) {
        out->groups += seen[w].groups;
        if (seen[w].largest > out->largest) out->largest = seen[w].largest;
    }
    td_free(seen);
    return status;
}

td_status td_run_summarise(const td_run *run, td_pool *pool, td_run_summary *out)
{
    td_status status = TD_OK;
    td_run_summary whole = {.lowest = (double)INFINITY, .highest = -(double)INFINITY};
    uint64_t count = (uint64_t)run->graph->vertices / VERTICES_AT_A_TIME + 1;
    summing self = {run, NULL};
    TD_CHECK(TD_NEW_ZEROED(&self.parts, count, "summary"));
    TD_TRY(td_pool_for(pool, run->graph->vertices, VERTICES_AT_A_TIME, summarise_part, &self));
    for (uint64_t i = 0; i < count; i++) {
        if (self.parts[i].reached > 0) {
            whole.lowest = fmin(whole.lowest, self.parts[i].lowest);
            whole.highest = fmax(whole.highest, self.parts[i].highest);
        }
        whole.reached += self.parts[i].reached;
        whole.sum += self.parts[i].sum;
        whole.digest += self.parts[i].digest;
    }
    if (whole.reached == 0) whole.lowest = whole.highest = 0;
    if (run->edges != NULL) TD_TRY(digest_edges(run, pool, &whole.digest));
    if (run->program->info->vertex_values) TD_TRY(summarise_groups(run, pool, &whole));
    *out = whole;
done:
    td_free(self.parts);
    return status;
}

/* The top vertices so far, as a heap with the lowest on top. */
typedef struct best {
    td_top *rows;
    uint64_t count, most;
    const td_graph *graph;
} best;

/* Among equal values, the vertex that is first in the graph's own numbering is better. */
static bool worse(const best *self, td_top a, td_top b)
{
    if (a.value != b.value) return a.value < b.value;
    return td_graph_id(self->graph, a.vertex) > td_graph_id(self->graph, b.vertex);
}

static void sink(best *self, uint64_t at)
{
    td_top row = self->rows[at];
    for (uint64_t child; (child = 2 * at + 1) < self->count; at = child) {
        if (child + 1 < self->count && worse(self, self->rows[child + 1], self->rows[child])) child++;
        if (!worse(self, self->rows[child], row)) break;
        self->rows[at] = self->rows[child];
    }
    self->rows[at] = row;
}

static void offer(best *self, td_top row)
{
    if (self->count == self->most) {
        if (!worse(self, self->rows[0], row)) return;
        self->rows[0] = row;
        sink(self, 0);
        return;
    }
    uint64_t at = self->count++;
    for (; at > 0 && worse(self, row, self->rows[(at - 1) / 2]); at = (at - 1) / 2) self->rows[at] = self->rows[(at - 1) / 2];
    self->rows[at] = row;
}

/* Removes the lowest repeatedly, which sorts them, best first. */
static void put_in_order(best *self)
{
    uint64_t all = self->count;
    while (self->count > 0) {
        td_top worst = self->rows[0];
        self->rows[0] = self->rows[--self->count];
        if (self->count > 0) sink(self, 0);
        self->rows[self->count] = worst;
    }
    self->count = all;
}

/* Every worker has a heap of its own while those are small; the best of all are the best of the heaps. */
typedef struct choosing {
    const td_run *run;
    best *heaps; /* one per worker */
} choosing;

static td_status offer_groups(void *context, uint64_t begin, uint64_t end, int worker)
{
    const counting *self = context;
    best *mine = &((const choosing *)self->context)->heaps[worker];
    for (uint64_t i = begin; i < end; i++) {
        uint32_t size = size_of(self, i);
        if (size > 0) offer(mine, (td_top){.vertex = self->first + (uint32_t)i, .value = size});
    }
    return TD_OK;
}

static td_status offer_part(void *context, uint64_t begin, uint64_t end, int worker)
{
    const choosing *self = context;
    for (uint64_t v = begin; v < end; v++) {
        td_top row = {.vertex = (uint32_t)v};
        if (td_run_value(self->run, (uint32_t)v, &row.value)) offer(&self->heaps[worker], row);
    }
    return TD_OK;
}

static td_status choose(choosing *self, td_pool *pool)
{
    const td_run *run = self->run;
    if (run->program->info->vertex_values)
        return for_groups(run, pool, &(counting){.see = offer_groups, .context = self});
    return td_pool_for(pool, run->graph->vertices, VERTICES_AT_A_TIME, offer_part, self);
}

/* Offers all rows to the first heap. */
static void join_heaps(best *heaps, int workers)
{
    for (int w = 1; w < workers; w++)
        for (uint64_t i = 0; i < heaps[w].count; i++) offer(&heaps[0], heaps[w].rows[i]);
    put_in_order(&heaps[0]);
}

td_status td_run_top(const td_run *run, td_pool *pool, uint64_t most, td_top **out, uint64_t *count)
{
    enum { SMALL = 4096 }; /* rows of a heap that every worker may have */
    uint32_t vertices = run->graph->vertices;
    td_status status = TD_OK;
    if (most > vertices) most = vertices;
    if (most > SMALL) pool = NULL;
    int workers = td_pool_threads(pool);
    choosing self = {.run = run};
    td_top *rows = NULL;
    TD_TRY(TD_NEW_ZEROED(&self.heaps, (uint64_t)workers, "best vertices"));
    TD_TRY(TD_NEW(&rows, most * (uint64_t)workers, "best vertices"));
    for (int w = 0; w < workers; w++)
        self.heaps[w] = (best){.rows = rows + most * (uint64_t)w, .most = most, .graph = run->graph};
    if (most > 0) TD_TRY(choose(&self, pool));
    join_heaps(self.heaps, workers);
    *out = rows;
    *count = self.heaps[0].count;
    rows = NULL;
done:
    td_free(self.heaps);
    td_free(rows);
    return status;
}
