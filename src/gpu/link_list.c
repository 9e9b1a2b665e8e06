/* Compressed subgraphs (layout/compressed.h): a second copy of the targets in host memory, made once by the workers. */
#include "gpu/link_list.h"

#include "base/alloc.h"
#include "base/log.h"

typedef struct compression {
    const td_link_list *list;
    uint64_t groups_each;  /* groups per subgraph */
    uint32_t *words;       /* words of every group */
} compression;

/* Words of a subgraph's table, which precedes its groups. */
static uint64_t table_words(const td_link_list *list, uint32_t s)
{
    return (td_link_end(list, s) - td_link_begin(list, s) + TD_COMPRESS_GROUP - 1) / TD_COMPRESS_GROUP;
}

static uint32_t do_group(const compression *self, uint64_t subgraph, uint64_t group, uint32_t *out)
{
    const td_link_list *list = self->list;
    uint64_t first = td_link_begin(list, (uint32_t)subgraph) + group * TD_COMPRESS_GROUP;
    uint64_t end = td_link_end(list, (uint32_t)subgraph);
    uint64_t count = end - first < TD_COMPRESS_GROUP ? end - first : TD_COMPRESS_GROUP;
    return td_compress_group(list->targets + first, (uint32_t)count, first > 0 ? list->targets[first - 1] : 0, out);
}

static td_status measure_groups(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    compression *self = context;
    for (uint64_t i = begin; i < end; i++) {
        uint64_t subgraph = i / self->groups_each, group = i % self->groups_each;
        if (group < table_words(self->list, (uint32_t)subgraph)) self->words[i] = do_group(self, subgraph, group, NULL);
    }
    return TD_OK;
}

static td_status write_subgraphs(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    compression *self = context;
    for (uint64_t s = begin; s < end; s++) {
        uint32_t *out = self->list->compressed + self->list->compressed_at[s];
        uint32_t groups = (uint32_t)table_words(self->list, (uint32_t)s), at = groups;
        for (uint32_t g = 0; g < groups; g++) {
            out[g] = at;
            at += do_group(self, s, g, out + at);
        }
    }
    return TD_OK;
}

/* Computes the first word of every subgraph; returns the words of the longest. */
static uint64_t place_subgraphs(const compression *self, uint64_t *at)
{
    uint64_t most = 0;
    at[0] = 0;
    for (uint32_t s = 0; s < self->list->subgraphs; s++) {
        uint64_t groups = table_words(self->list, s), words = groups;
        for (uint64_t g = 0; g < groups; g++) words += self->words[s * self->groups_each + g];
        at[s + 1] = at[s] + words;
        if (words > most) most = words;
    }
    return most;
}

static td_status compress(td_link_list *list, compression *it, uint64_t guess, td_host_memory *memory, td_device *device,
                        td_pool *pool)
{
    uint64_t groups = it->groups_each * list->subgraphs, words = guess;
    void *seen;
    TD_CHECK(td_host_declare(memory, &list->compressed_at, list->subgraphs + UINT64_C(1), sizeof *list->compressed_at,
                             "compressed subgraphs"));
    if (!memory->measures) {
        TD_CHECK(td_pool_for(pool, groups, 64, measure_groups, it));
        list->compressed_most = place_subgraphs(it, list->compressed_at);
        words = list->compressed_at[list->subgraphs];
    }
    if (list->compressed_most > UINT32_MAX || (double)words > TD_LINK_WORTH_IT * (double)list->edges) return TD_OK;
    TD_CHECK(td_host_declare_pages(memory, &list->compressed, words * sizeof(uint32_t), "compressed subgraphs"));
    if (memory->measures) return TD_OK;
    TD_CHECK(td_pool_for(pool, list->subgraphs, 1, write_subgraphs, it));
    list->compressed_pinned = td_device_pin(device, list->compressed, words * sizeof(uint32_t), &seen) == TD_OK;
    return TD_OK;
}

uint64_t td_link_guess_compressed(const uint32_t *targets, uint64_t edges)
{
    enum { SAMPLE = 4096 };            /* groups in a sample */
    const double margin = 1.02;        /* allowance for sampling error */
    uint64_t groups = edges / TD_COMPRESS_GROUP, step = groups / SAMPLE + 1, words = 0, seen = 0;
    for (uint64_t g = 0; g < groups; g += step, seen++) {
        const uint32_t *first = targets + g * TD_COMPRESS_GROUP;
        words += 1 + td_compress_group(first, TD_COMPRESS_GROUP, g > 0 ? first[-1] : 0, NULL);
    }
    if (seen == 0) return edges;
    double all = (double)words / (double)seen * ((double)edges / TD_COMPRESS_GROUP + 1);
    if (all > margin * TD_LINK_WORTH_IT * (double)edges) return 0;
    return (uint64_t)(margin * all);
}

/* list->compressed stays NULL if the targets hardly shrink. */
td_status td_link_compress(td_link_list *list, uint64_t guess, td_host_memory *memory, td_device *device, td_pool *pool)
{
    compression it = {.list = list,
                    .groups_each = ((UINT64_C(1) << list->shift) + TD_COMPRESS_GROUP - 1) / TD_COMPRESS_GROUP};
    uint64_t groups = it.groups_each * list->subgraphs;
    if (list->edges == 0) return TD_OK;
    TD_CHECK(td_host_declare_zeroed(memory, &it.words, groups + 1, sizeof *it.words, "groups of targets"));
    td_status status = compress(list, &it, guess, memory, device, pool);
    td_host_undeclare(memory, &it.words, groups + 1, sizeof *it.words);
    return status;
}

void td_link_free_compressed(td_device *device, td_link_list *list)
{
    if (list->compressed_pinned) td_device_unpin(device, list->compressed);
    td_free(list->compressed);
    td_free(list->compressed_at);
    list->compressed = NULL;
    list->compressed_at = NULL;
    list->compressed_pinned = false;
}
