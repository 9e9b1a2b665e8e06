/* Fragments of equal edges: boundaries by bisection over sums of degrees, in the graph's own order or in a random one;
 * then cut edges and mirrors, counted over all edges, one fragment after the other. */
#include "layout/partition.h"

#include "base/alloc.h"
#include "base/bitmap.h"
#include "base/size.h"
#include "layout/partition_metis.h"
#include "layout/reorder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { GRAIN = 1 << 12, BLOCKS_GRAIN = 1 << 10 };

/* Names. */

const char *td_partition_name(td_partition_kind kind)
{
    static const char *const names[] = {
#define NAME(code, name, text) name,
        TD_PARTITION_LIST(NAME)
#undef NAME
    };
    return names[kind];
}

const char *td_partition_text(td_partition_kind kind)
{
    static const char *const texts[] = {
#define TEXT(code, name, text) text,
        TD_PARTITION_LIST(TEXT)
#undef TEXT
    };
    return texts[kind];
}

td_status td_partition_named(const char *name, td_partition_kind *out)
{
    for (int i = 0; i < TD_PARTITIONS; i++)
        if (strcmp(td_partition_name((td_partition_kind)i), name) == 0) {
            *out = (td_partition_kind)i;
            return TD_OK;
        }
    return td_fail(TD_USAGE, "unknown partitioner '%s'; allowed are seg, random and metis", name);
}

td_status td_partition_parse(const char *text, td_partition_kind *kind, int *parts)
{
    char name[64];
    uint64_t count = 0;
    td_partition_kind found = TD_PARTITIONS;
    const char *colon = strchr(text, ':');
    if (colon == NULL)
        return td_fail(TD_USAGE, "'%s' has no number of fragments; write a partitioner (seg, random, metis), a colon "
                       "and the number: seg:8", text);
    snprintf(name, sizeof name, "%.*s", (int)(colon - text), text);
    TD_CHECK(td_partition_named(name, &found));
    if (td_parse_u64(colon + 1, &count) != TD_OK || count < 1 || count > TD_FRAGMENTS)
        return td_fail(TD_USAGE, "'%s' asks for '%s' fragments; allowed are 1 to %d", text, colon + 1, TD_FRAGMENTS);
    if (found == TD_PARTITION_METIS) TD_CHECK(td_metis_check());
    *kind = found;
    *parts = (int)count;
    return TD_OK;
}

/* What a partition is made from. */
typedef struct job {
    const td_graph *graph;
    const td_adjacency *lists[2]; /* whose entries count */
    int list_count;
    double shares[TD_FRAGMENTS];  /* of the edges; their sum is 1 */
    uint64_t *before;             /* entries of all vertices below 32 * i in the partition's order; NULL: the graph's
                                   * own order, whose offsets are these sums */
    td_partition partition;
    td_pool *pool;
} job;

static uint32_t vertex_of(const td_partition *partition, uint64_t number)
{
    return partition->order != NULL ? partition->order[number] : (uint32_t)number;
}

static uint32_t number_of(const td_partition *partition, uint32_t vertex)
{
    return partition->place != NULL ? partition->place[vertex] : vertex;
}

static uint64_t entries_of(const job *self, uint32_t vertex)
{
    uint64_t sum = 0;
    for (int l = 0; l < self->list_count; l++) sum += td_degree(self->lists[l], vertex);
    return sum;
}

static td_status choose_lists(job *self, const td_partition_wish *wish)
{
    const td_graph *graph = self->graph;
    bool has_in = graph->in.offsets != NULL, all = !wish->out && !wish->in;
    if (graph->paged != NULL)
        return td_fail(TD_UNSUPPORTED, "the edges of %s stay on disk; only a graph in memory is partitioned",
                       graph->name != NULL ? graph->name : "the graph");
    if (wish->in && !has_in)
        return td_fail(TD_INVALID, "the graph was built without its in-adjacency, whose edges are to be divided; build "
                       "it anew, without {out_only}");
    if (graph->symmetric || wish->out || all) self->lists[self->list_count++] = &graph->out;
    if (!graph->symmetric && (wish->in || (all && has_in))) self->lists[self->list_count++] = &graph->in;
    return TD_OK;
}

static td_status choose_shares(job *self, const td_partition_wish *wish)
{
    double sum = 0;
    if (wish->parts < 1 || wish->parts > TD_FRAGMENTS)
        return td_fail(TD_INVALID, "%d fragments asked for; allowed are 1 to %d", wish->parts, TD_FRAGMENTS);
    for (int k = 0; k < wish->parts; k++) {
        double weight = wish->weights != NULL ? wish->weights[k] : 1;
        if (!(weight >= 0) || !isfinite(weight))
            return td_fail(TD_INVALID, "the weight of fragment %d is %g; allowed are finite numbers from 0", k, weight);
        self->shares[k] = weight;
        sum += weight;
    }
    if (!(sum > 0) || !isfinite(sum))
        return td_fail(TD_INVALID, "the weights of the fragments sum up to %g; one has to be above 0", sum);
    for (int k = 0; k < wish->parts; k++) self->shares[k] /= sum;
    return TD_OK;
}

/* Boundaries. */

static td_status sum_blocks(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    job *self = context;
    for (uint64_t block = begin; block < end; block++) {
        uint64_t sum = 0;
        for (uint64_t i = 0; i < TD_FRAGMENT_ALIGN; i++)
            sum += entries_of(self, vertex_of(&self->partition, block * TD_FRAGMENT_ALIGN + i));
        self->before[block + 1] = sum;
    }
    return TD_OK;
}

static td_status sum_degrees(job *self)
{
    uint64_t blocks = self->partition.vertices / TD_FRAGMENT_ALIGN;
    TD_CHECK(TD_NEW(&self->before, blocks + 1, "sums of degrees"));
    self->before[0] = 0;
    TD_CHECK(td_pool_for(self->pool, blocks, BLOCKS_GRAIN, sum_blocks, self));
    for (uint64_t i = 0; i < blocks; i++) self->before[i + 1] += self->before[i];
    return TD_OK;
}

static uint64_t entries_before(const job *self, uint64_t block)
{
    uint64_t sum = 0;
    if (self->before != NULL) return self->before[block];
    for (int l = 0; l < self->list_count; l++) sum += self->lists[l]->offsets[block * TD_FRAGMENT_ALIGN];
    return sum;
}

/* The first block that has so many entries before it, or the last boundary if none has. */
static uint64_t block_with(const job *self, uint64_t entries)
{
    uint64_t low = 0, high = self->partition.vertices / TD_FRAGMENT_ALIGN;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (entries_before(self, middle) >= entries) high = middle;
        else low = middle + 1;
    }
    return low;
}

/* The boundary with the number of entries before it nearest to the wish. Of several with the same number, which have
 * only vertices without edges between them, the one nearest to the same share of the vertices. */
static uint64_t boundary_at(const job *self, double share)
{
    uint64_t last = self->partition.vertices / TD_FRAGMENT_ALIGN, entries = self->partition.all_edges;
    uint64_t wish = (uint64_t)(share * (double)entries);
    if (wish > entries) wish = entries;
    uint64_t block = block_with(self, wish), here = entries_before(self, block);
    if (block > 0 && here > wish && wish - entries_before(self, block - 1) < here - wish)
        here = entries_before(self, block - 1);
    uint64_t low = block_with(self, here), high = block_with(self, here + 1);
    if (entries_before(self, high) > here) high--;
    uint64_t by_vertices = (uint64_t)(share * (double)last + 0.5);
    return by_vertices < low ? low : by_vertices > high ? high : by_vertices;
}

static void find_boundaries(job *self)
{
    td_partition *partition = &self->partition;
    double share = 0;
    for (int k = 1; k < partition->parts; k++) {
        share += self->shares[k - 1];
        uint64_t first = boundary_at(self, share) * TD_FRAGMENT_ALIGN;
        partition->first[k] = first > partition->first[k - 1] ? (uint32_t)first : partition->first[k - 1];
    }
    partition->first[partition->parts] = partition->vertices;
}

/* Numberings. */

static td_status new_numbering(td_partition *partition)
{
    TD_CHECK(TD_NEW(&partition->order, partition->vertices, "order of vertices"));
    return TD_NEW(&partition->place, partition->vertices, "new numbers of vertices");
}

static td_status place_vertices(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const td_partition *partition = context;
    for (uint64_t i = begin; i < end; i++) partition->place[partition->order[i]] = (uint32_t)i;
    return TD_OK;
}

static td_status cut_at_random(job *self, uint64_t seed)
{
    td_partition *partition = &self->partition;
    TD_CHECK(new_numbering(partition));
    TD_CHECK(td_graph_order(self->graph, TD_ORDER_RANDOM, seed, partition->order, self->pool));
    TD_CHECK(td_pool_for(self->pool, partition->vertices, GRAIN, place_vertices, partition));
    TD_CHECK(sum_degrees(self));
    find_boundaries(self);
    return TD_OK;
}

/* METIS. Its parts have any number of vertices, and boundaries are rounded to multiples of 32: up to 16 vertices move
 * across each boundary. Those move whose edges lose least by it: in the sequence of vertices, the best for the part
 * before are the first of their part, and the best for the part behind the last. */

enum { MOVED = TD_FRAGMENT_ALIGN / 2, FIRST = 0, MIDDLE = 1, LAST = 2, PLACES = 3 };

/* The vertices of a part that another part would gain most from, best first. */
typedef struct candidates {
    int count;
    int64_t gain[MOVED];
    uint32_t vertex[MOVED];
} candidates;

static void offer(candidates *best, int64_t gain, uint32_t vertex)
{
    int at = best->count;
    if (at < MOVED) best->count++;
    else if (best->gain[--at] >= gain) return;
    for (; at > 0 && best->gain[at - 1] < gain; at--) {
        best->gain[at] = best->gain[at - 1];
        best->vertex[at] = best->vertex[at - 1];
    }
    best->gain[at] = gain;
    best->vertex[at] = vertex;
}

/* Offers every vertex to the part before its own and to the part behind it. The gain: edges to that part less edges to
 * its own. */
static void find_candidates(const job *self, const uint8_t *owner, candidates (*best)[PLACES])
{
    for (uint32_t v = 0; v < self->partition.vertices; v++) {
        int own = owner[v];
        int64_t before = 0, inside = 0, behind = 0;
        for (int l = 0; l < self->list_count; l++)
            for (uint64_t e = self->lists[l]->offsets[v]; e < self->lists[l]->offsets[v + 1]; e++) {
                int other = owner[self->lists[l]->targets[e]];
                before += other == own - 1;
                inside += other == own;
                behind += other == own + 1;
            }
        offer(&best[own][FIRST], before - inside, v);
        offer(&best[own][LAST], behind - inside, v);
    }
}

/* Rounds the parts' boundaries, and puts the vertices that have to move to the ends of their parts: afterwards owner[v]
 * is PLACES times the part, and the place in it. */
static void round_boundaries(job *self, uint8_t *owner, const candidates (*best)[PLACES])
{
    td_partition *partition = &self->partition;
    uint64_t sizes[TD_FRAGMENTS] = {0}, end = 0;
    uint64_t whole = partition->vertices / TD_FRAGMENT_ALIGN * TD_FRAGMENT_ALIGN;
    for (uint32_t v = 0; v < partition->vertices; v++) {
        sizes[owner[v]]++;
        owner[v] = (uint8_t)(owner[v] * PLACES + MIDDLE);
    }
    for (int k = 0; k + 1 < partition->parts; k++) {
        end += sizes[k];
        uint64_t rounded = (end + TD_FRAGMENT_ALIGN / 2) / TD_FRAGMENT_ALIGN * TD_FRAGMENT_ALIGN;
        if (rounded > whole) rounded = whole;
        partition->first[k + 1] = (uint32_t)rounded;
        bool given = rounded < end; /* by part k; otherwise by the next */
        uint64_t moved = given ? end - rounded : rounded - end;
        const candidates *from = given ? &best[k][LAST] : &best[k + 1][FIRST];
        for (uint64_t i = 0; i < moved && i < (uint64_t)from->count; i++)
            owner[from->vertex[i]] = (uint8_t)(given ? k * PLACES + LAST : (k + 1) * PLACES + FIRST);
    }
    partition->first[partition->parts] = partition->vertices;
}

static void sort_by_owner(td_partition *partition, const uint8_t *owner)
{
    uint32_t next[TD_FRAGMENTS * PLACES] = {0}, sum = 0;
    for (uint32_t v = 0; v < partition->vertices; v++) next[owner[v]]++;
    for (int i = 0; i < TD_FRAGMENTS * PLACES; i++) {
        uint32_t here = next[i];
        next[i] = sum;
        sum += here;
    }
    for (uint32_t v = 0; v < partition->vertices; v++) {
        uint32_t number = next[owner[v]]++;
        partition->place[v] = number;
        partition->order[number] = v;
    }
}

/* Fragments without a share get no part of METIS's. */
static td_status find_owners(job *self, uint64_t seed, uint8_t *owner)
{
    double shares[TD_FRAGMENTS];
    int fragments[TD_FRAGMENTS], parts = 0;
    for (int k = 0; k < self->partition.parts; k++)
        if (self->shares[k] > 0) {
            shares[parts] = self->shares[k];
            fragments[parts++] = k;
        }
    TD_CHECK(td_metis_cut(self->graph, self->lists, self->list_count, parts, shares, seed, owner, self->pool));
    for (uint32_t v = 0; v < self->partition.vertices; v++) owner[v] = (uint8_t)fragments[owner[v]];
    return TD_OK;
}

/* With fewer than 32 vertices a fragment, rounding would undo whatever METIS finds: such a graph is cut into ranges. */
static bool asks_metis(uint32_t vertices, int parts) { return parts > 1 && vertices >= (uint32_t)parts * TD_FRAGMENT_ALIGN; }

uint64_t td_partition_metis_bytes(const td_graph *graph, td_partition_kind kind, int parts)
{
    uint64_t n = graph->vertices, between = TD_FRAGMENTS * PLACES * sizeof(candidates);
    if (kind != TD_PARTITION_METIS || !asks_metis(graph->vertices, parts)) return 0;
    return n * sizeof(uint8_t) + between + td_metis_bytes(n, graph->edges, graph->symmetric);
}

static td_status cut_by_metis(job *self, uint64_t seed)
{
    td_partition *partition = &self->partition;
    candidates (*best)[PLACES] = NULL;
    uint8_t *owner = NULL;
    td_status status = TD_OK;
    TD_TRY(td_metis_check());
    if (!asks_metis(partition->vertices, partition->parts)) {
        find_boundaries(self);
        return TD_OK;
    }
    TD_TRY(TD_NEW(&owner, partition->vertices, "owners of vertices"));
    TD_TRY(TD_NEW_ZEROED(&best, TD_FRAGMENTS, "vertices between fragments"));
    TD_TRY(find_owners(self, seed, owner));
    TD_TRY(new_numbering(partition));
    find_candidates(self, owner, best);
    round_boundaries(self, owner, (const candidates (*)[PLACES])best);
    sort_by_owner(partition, owner);
done:
    td_free(owner);
    td_free(best);
    return status;
}

static td_status cut_by_kind(job *self, const td_partition_wish *wish)
{
    if (wish->kind == TD_PARTITION_RANDOM) return cut_at_random(self, wish->seed);
    if (wish->kind == TD_PARTITION_METIS) return cut_by_metis(self, wish->seed);
    find_boundaries(self);
    return TD_OK;
}

/* Quality. */

typedef struct counting {
    const job *job;
    uint64_t *seen;      /* bitmap of the other fragments' vertices that the fragment's lists refer to, by number */
    uint32_t first, own; /* the fragment's numbers */
    uint64_t edges, cut;
} counting;

static td_status count_some(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    counting *self = context;
    const td_partition *partition = &self->job->partition;
    uint64_t edges = 0, cut = 0;
    for (uint64_t i = begin; i < end; i++) {
        uint32_t v = vertex_of(partition, self->first + i);
        for (int l = 0; l < self->job->list_count; l++) {
            const td_adjacency *list = self->job->lists[l];
            edges += td_degree(list, v);
            for (uint64_t e = list->offsets[v]; e < list->offsets[v + 1]; e++) {
                uint32_t other = number_of(partition, list->targets[e]);
                if (other - self->first < self->own) continue; /* wraps below `first`, and is large then */
                td_bit_set_atomic(self->seen, other);
                cut++;
            }
        }
    }
    __atomic_fetch_add(&self->edges, edges, __ATOMIC_RELAXED);
    __atomic_fetch_add(&self->cut, cut, __ATOMIC_RELAXED);
    return TD_OK;
}

/* The set bits of [begin, end). */
static uint32_t count_bits(const uint64_t *map, uint64_t begin, uint64_t end)
{
    uint64_t count = 0;
    for (uint64_t at = begin; at < end;) {
        uint64_t stop = at / 64 * 64 + 64 < end ? at / 64 * 64 + 64 : end;
        count += td_popcount(map[at / 64] >> (at % 64) << (64 - (stop - at)));
        at = stop;
    }
    return (uint32_t)count;
}

static td_status measure(job *self)
{
    td_partition *partition = &self->partition;
    td_status status = TD_OK;
    uint64_t words = td_bitmap_words(partition->vertices);
    counting count = {.job = self};
    TD_CHECK(TD_NEW(&count.seen, words, "bitmap of mirrors"));
    for (int k = 0; k < partition->parts; k++) {
        count.first = partition->first[k];
        count.own = partition->first[k + 1] - count.first;
        count.edges = count.cut = 0;
        memset(count.seen, 0, words * sizeof *count.seen);
        TD_TRY(td_pool_for(self->pool, count.own, GRAIN, count_some, &count));
        partition->edges[k] = count.edges;
        partition->cut[k] = count.cut;
        partition->all_cut += count.cut;
        for (int j = 0; j < partition->parts; j++)
            partition->mirrors[k][j] = count_bits(count.seen, partition->first[j], partition->first[j + 1]);
    }
done:
    td_free(count.seen);
    return status;
}

/* A fragment whose share is 0 and that has edges all the same (the last one, of the vertices behind the last multiple
 * of 32) is left out. */
static double balance_of(const job *self)
{
    const td_partition *partition = &self->partition;
    double most = 0;
    if (partition->all_edges == 0) return 1;
    for (int k = 0; k < partition->parts; k++) {
        double share = self->shares[k] * (double)partition->all_edges;
        if (share > 0 && (double)partition->edges[k] / share > most) most = (double)partition->edges[k] / share;
    }
    return most;
}

td_status td_partition_make(td_partition *out, const td_graph *graph, const td_partition_wish *wish, td_pool *pool)
{
    td_status status = TD_OK;
    job self = {.graph = graph, .pool = pool, .partition = {.parts = wish->parts, .vertices = graph->vertices}};
    TD_TRY(choose_shares(&self, wish));
    TD_TRY(choose_lists(&self, wish));
    self.partition.all_edges = graph->edges * (uint64_t)self.list_count;
    TD_TRY(cut_by_kind(&self, wish));
    if (!wish->ranges_only) {
        TD_TRY(measure(&self));
        self.partition.balance = balance_of(&self);
    }
    *out = self.partition;
    self.partition = (td_partition){0};
done:
    td_free(self.before);
    td_partition_free(&self.partition);
    return status;
}

void td_partition_free(td_partition *partition)
{
    td_free(partition->order);
    td_free(partition->place);
    *partition = (td_partition){0};
}
