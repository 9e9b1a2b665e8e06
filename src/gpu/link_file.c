#include "gpu/link_file.h"

#include "base/alloc.h"

#include <string.h>

/* Making. */

typedef struct grouping {
    const td_link_list *list;
    td_link_groups *out;
    uint64_t *starts; /* of every group among the words */
} grouping;

static uint32_t do_group(const td_link_list *list, uint64_t group, uint32_t *out)
{
    uint64_t first = group * TD_COMPRESS_GROUP, left = list->edges - first;
    return td_compress_group(list->targets + first, (uint32_t)(left < TD_COMPRESS_GROUP ? left : TD_COMPRESS_GROUP),
                             first > 0 ? list->targets[first - 1] : 0, out);
}

static td_status measure_groups(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const grouping *self = context;
    for (uint64_t g = begin; g < end; g++) self->out->lengths[g] = (uint16_t)do_group(self->list, g, NULL);
    return TD_OK;
}

static td_status write_groups(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const grouping *self = context;
    for (uint64_t g = begin; g < end; g++) (void)do_group(self->list, g, self->out->words + self->starts[g]);
    return TD_OK;
}

void td_link_free_groups(td_link_groups *groups)
{
    td_free(groups->lengths);
    td_free(groups->words);
    *groups = (td_link_groups){0};
}

td_status td_link_make_groups(td_link_groups *out, const td_link_list *list, td_pool *pool)
{
    td_status status = TD_OK;
    td_link_groups made = {0};
    grouping self = {.list = list, .out = &made};
    uint64_t groups = td_lists_groups(list->edges);
    TD_TRY(TD_NEW(&made.lengths, groups, "groups of targets"));
    TD_TRY(TD_NEW(&self.starts, groups + 1, "groups of targets"));
    TD_TRY(td_pool_for(pool, groups, 64, measure_groups, &self));
    for (uint64_t g = 0; g < groups; g++) {
        self.starts[g] = made.word_count;
        made.word_count += made.lengths[g];
    }
    if ((double)(made.word_count + groups) > TD_LINK_WORTH_IT * (double)list->edges)
        TD_TRY(td_fail(TD_NOT_FOUND, "the targets of its lists hardly shrink when they are compressed"));
    TD_TRY(TD_NEW(&made.words, made.word_count, "compressed targets"));
    TD_TRY(td_pool_for(pool, groups, 64, write_groups, &self));
    *out = made;
    made = (td_link_groups){0};
done:
    td_link_free_groups(&made);
    td_free(self.starts);
    return status;
}

/* Reading. */

typedef struct placing {
    td_link_list *list;
    const uint16_t *lengths;
    uint64_t groups_each;  /* groups per subgraph */
    uint64_t *words_before; /* words of the file before every subgraph, and all */
    uint32_t vertices;
} placing;

static uint64_t groups_of(const placing *self, uint32_t s)
{
    return td_lists_groups(td_link_end(self->list, s) - td_link_begin(self->list, s));
}

/* Where every subgraph begins, with its table; the words of the longest. */
static void place_subgraphs(placing *self)
{
    td_link_list *list = self->list;
    uint64_t *at = list->compressed_at;
    at[0] = self->words_before[0] = 0;
    for (uint32_t s = 0; s < list->subgraphs; s++) {
        uint64_t groups = groups_of(self, s), words = 0;
        for (uint64_t g = 0; g < groups; g++) words += self->lengths[s * self->groups_each + g];
        self->words_before[s + 1] = self->words_before[s] + words;
        at[s + 1] = at[s] + groups + words;
        if (groups + words > list->compressed_most) list->compressed_most = groups + words;
    }
}

/* Copies words of the file behind the tables of their subgraphs. */
static td_status take_words(const void *context, uint64_t at, const void *data, uint64_t bytes)
{
    const placing *self = context;
    const td_link_list *list = self->list;
    const uint32_t *words = data;
    uint64_t first = at / sizeof(uint32_t), end = first + bytes / sizeof(uint32_t);
    uint32_t low = 0, high = list->subgraphs;
    while (low + 1 < high) { /* the subgraph with the first word */
        uint32_t middle = low + (high - low) / 2;
        if (self->words_before[middle] <= first) low = middle;
        else high = middle;
    }
    for (uint32_t s = low; first < end; s++) {
        uint64_t stop = self->words_before[s + 1] < end ? self->words_before[s + 1] : end;
        uint64_t to = list->compressed_at[s] + groups_of(self, s) + first - self->words_before[s];
        memcpy(list->compressed + to, words, (stop - first) * sizeof(uint32_t));
        words += stop - first;
        first = stop;
    }
    return TD_OK;
}

/* Writes the tables, and expands every group: a forged one must not lead a kernel outside. */
static td_status finish_subgraphs(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const placing *self = context;
    const td_link_list *list = self->list;
    uint32_t targets[TD_COMPRESS_GROUP];
    for (uint64_t s = begin; s < end; s++) {
        uint32_t *out = list->compressed + list->compressed_at[s];
        uint32_t groups = (uint32_t)groups_of(self, (uint32_t)s), at = groups;
        uint64_t left = td_link_end(list, (uint32_t)s) - td_link_begin(list, (uint32_t)s);
        for (uint32_t g = 0; g < groups; g++) {
            uint32_t length = self->lengths[s * self->groups_each + g];
            uint32_t count = left < TD_COMPRESS_GROUP ? (uint32_t)left : TD_COMPRESS_GROUP;
            out[g] = at;
            if (!td_expand_group(out + at, length, count, targets))
                return td_fail(TD_CORRUPT, "a compressed group is none; prepare it again");
            TD_CHECK(td_lists_check_targets(targets, count, UINT32_MAX, self->vertices));
            at += length;
            left -= count;
        }
    }
    return TD_OK;
}

static td_status read_words(placing *self, const td_sidecar *file, uint64_t words, td_pool *pool)
{
    td_link_list *list = self->list;
    TD_CHECK(td_lists_take_words(file, words, take_words, self, pool));
    td_status status = td_pool_for(pool, list->subgraphs, 1, finish_subgraphs, self);
    return status == TD_CORRUPT ? td_fail_context(status, "%s", td_sidecar_file(file)) : status;
}

td_status td_link_read_compressed(td_link_list *list, const td_sidecar *file, uint64_t words, uint32_t vertices,
                                  td_host_memory *memory, td_device *device, td_pool *pool)
{
    td_status status = TD_OK;
    placing self = {.list = list, .vertices = vertices, .groups_each = (UINT64_C(1) << list->shift) / TD_COMPRESS_GROUP};
    uint64_t groups = td_lists_groups(list->edges), count = list->subgraphs + UINT64_C(1), all = words + groups;
    uint16_t *lengths = NULL;
    void *seen;
    TD_TRY(td_host_declare(memory, &list->compressed_at, count, sizeof *list->compressed_at, "compressed subgraphs"));
    TD_TRY(td_host_declare(memory, &lengths, groups, sizeof *lengths, "groups of targets"));
    TD_TRY(td_host_declare(memory, &self.words_before, count, sizeof *self.words_before, "compressed subgraphs"));
    TD_TRY(td_host_declare_pages(memory, &list->compressed, all * sizeof(uint32_t), "compressed subgraphs"));
    if (!memory->measures) {
        TD_TRY(td_lists_read_lengths(file, groups, words, lengths, pool));
        self.lengths = lengths;
        place_subgraphs(&self);
        TD_TRY(read_words(&self, file, words, pool));
        list->compressed_pinned = td_device_pin(device, list->compressed, all * sizeof(uint32_t), &seen) == TD_OK;
    }
done:
    td_host_undeclare(memory, &lengths, groups, sizeof *lengths);
    td_host_undeclare(memory, &self.words_before, count, sizeof *self.words_before);
    if (status != TD_OK) td_link_free_compressed(device, list);
    return status;
}
