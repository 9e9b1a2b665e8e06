/* All weights are sorted, as words in the order of unsigned numbers, and the distinct ones kept; every edge then looks its
 * weight up by bisection. */
#include "store/ranks.h"

#include "base/alloc.h"
#include "base/sort.h"
#include "store/checks.h"

#include <pthread.h>
#include <string.h>

enum { EDGES_AT_A_TIME = 1 << 16 };
#define SIGN (UINT64_C(1) << 63)

/* Minus zero is zero: they are one weight. */
static uint64_t word_of(double weight)
{
    uint64_t bits;
    weight += 0.0;
    memcpy(&bits, &weight, sizeof bits);
    return bits & SIGN ? ~bits : bits | SIGN;
}

static double weight_of(uint64_t word)
{
    double weight;
    uint64_t bits = word & SIGN ? word & ~SIGN : ~word;
    memcpy(&weight, &bits, sizeof weight);
    return weight;
}

typedef struct ranking {
    const double *weights;
    uint32_t *ranks;
    uint64_t *words; /* all of them; then the distinct ones */
    uint64_t distinct;
} ranking;

static td_status copy_words(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    ranking *self = context;
    for (uint64_t e = begin; e < end; e++) self->words[e] = word_of(self->weights[e]);
    return TD_OK;
}

static td_status find_ranks(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    ranking *self = context;
    for (uint64_t e = begin; e < end; e++) {
        uint64_t word = word_of(self->weights[e]), low = 0, high = self->distinct - 1;
        while (low < high) {
            uint64_t middle = low + (high - low) / 2;
            if (self->words[middle] < word) low = middle + 1;
            else high = middle;
        }
        self->ranks[e] = (uint32_t)low;
    }
    return TD_OK;
}

static td_status rank_list(ranking *self, td_adjacency *lists, const td_graph *graph, td_pool *pool)
{
    void *ranks = NULL;
    self->weights = lists->weights;
    lists->weights = NULL;
    TD_CHECK(td_new_bytes(&ranks, graph->edges, sizeof *self->ranks, "ranks of weights"));
    lists->weights = self->ranks = ranks;
    return td_pool_for(pool, graph->edges, EDGES_AT_A_TIME, find_ranks, self);
}

static td_status find_distinct(ranking *self, const td_graph *graph, td_pool *pool)
{
    self->weights = graph->out.weights;
    TD_CHECK(TD_NEW(&self->words, graph->edges + 1, "sorted weights")); /* + 1: never an array of none */
    TD_CHECK(td_pool_for(pool, graph->edges, EDGES_AT_A_TIME, copy_words, self));
    TD_CHECK(td_sort_words(self->words, graph->edges, UINT64_MAX, pool));
    for (uint64_t e = 0; e < graph->edges; e++)
        if (e == 0 || self->words[e] != self->words[self->distinct - 1]) self->words[self->distinct++] = self->words[e];
    if (self->distinct >= UINT32_MAX)
        return td_fail(TD_LIMIT, "there are %llu distinct weights; with 2^32 or more edges are ordered by 32-bit floats "
                       "only: convert with {weights} f32", (unsigned long long)self->distinct);
    return TD_RESIZE(&self->words, self->distinct + 1, "distinct weights");
}

uint64_t td_ranks_bytes(const td_graph *graph, uint64_t distinct)
{
    bool two = !graph->symmetric && graph->in.offsets != NULL;
    return graph->edges * sizeof(uint32_t) * (two ? 2 : 1) + distinct * sizeof(double);
}

uint64_t td_ranks_peak_bytes(const td_graph *graph, uint64_t distinct)
{
    uint64_t sorting = graph->edges * sizeof(uint64_t), ranks = td_ranks_bytes(graph, distinct);
    return sorting > ranks ? sorting : ranks;
}

uint64_t td_ranks_most(const td_graph *graph) { return graph->symmetric ? graph->edges / 2 : graph->edges; }

static td_status rank(const td_graph *graph, td_pool *pool, td_graph **out)
{
    td_status status = TD_OK;
    td_graph *made = NULL;
    ranking self = {0};
    TD_TRY(TD_NEW(&made, 1, "graph of ranks"));
    *made = *graph;
    made->ranks_of = graph;
    made->borrowed = (td_borrowed){.all = true};
    made->pattern = made->simple = made->kept = made->tails = NULL;
    made->pattern_symmetric = made->unverified = false;
    made->mapping = NULL;
    made->checks = NULL;
    made->name = NULL;
    made->out.weights = made->in.weights = NULL;
    if (graph->name != NULL) TD_TRY(td_string_copy(&made->name, graph->name, "graph name"));
    TD_TRY(find_distinct(&self, graph, pool));
    made->weights = TD_WEIGHT_U32;
    made->weight_min = 0;
    made->weight_max = self.distinct > 0 ? (double)(self.distinct - 1) : 0;
    made->out.weights = graph->out.weights;
    TD_TRY(rank_list(&self, &made->out, graph, pool));
    if (graph->symmetric) made->in = made->out;
    else if (graph->in.offsets != NULL) {
        made->in.weights = graph->in.weights;
        TD_TRY(rank_list(&self, &made->in, graph, pool));
    }
    for (uint64_t i = 0; i < self.distinct; i++) {
        double weight = weight_of(self.words[i]);
        memcpy(&self.words[i], &weight, sizeof weight);
    }
    made->distinct = (double *)self.words;
    self.words = NULL;
    *out = made;
    made = NULL;
done:
    td_free(self.words);
    td_graph_destroy(made);
    return status;
}

td_status td_graph_ranked(const td_graph *graph, td_pool *pool, const td_graph **out)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    td_status status = TD_OK;
    td_graph **kept = &((td_graph *)(uintptr_t)graph)->ranked; /* a cache: the graph itself does not change */
    if (graph->paged != NULL)
        return td_fail(TD_UNSUPPORTED, "%s: its edges stay on disk, and 64-bit weights are ranked in memory; raise "
                       "{memory}, or convert it with {weights} f32", graph->name);
    TD_CHECK(td_checks_lists(graph, true, pool));
    pthread_mutex_lock(&lock);
    if (*kept == NULL) status = rank(graph, pool, kept);
    *out = *kept;
    pthread_mutex_unlock(&lock);
    return status;
}
