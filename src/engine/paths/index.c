/* From vertices to the paths of their edges. A change of a vertex marks these paths; the first of them in the order of
 * storage lies in the group that applies the vertex: all paths that enter a vertex precede those that leave it, so that
 * in every later group the vertex is final.
 *
 * The home path of a vertex is the one whose walk applies it: the last one of the group that ends there, when all others
 * have deposited, because paths are stored in the order of the vertices where they end; or else the path that passes
 * through it; or else, where nothing in the group enters it, the first that leaves it. */
#include "engine/paths/paths.h"

#include "base/alloc.h"
#include "base/bitmap.h"

void td_paths_free_index(td_paths_index *index)
{
    td_free(index->first_word);
    td_free(index->place_offsets);
    td_free(index->places);
    td_free(index->owner);
    td_free(index->home);
    td_free(index->members);
    td_free(index->member_offsets);
    td_free(index->openers);
    *index = (td_paths_index){0};
}

/* Partitions begin at words of marks, so that one worker's paths share no word with another's. */
static td_status number_words(td_paths_job *self)
{
    const td_paths *paths = &self->paths;
    uint64_t words = 0;
    TD_CHECK(TD_NEW(&self->index.first_word, (uint64_t)paths->partitions + 1, "marks of partitions"));
    for (uint32_t k = 0; k < paths->partitions; k++) {
        self->index.first_word[k] = (uint32_t)words;
        words += (paths->partition[k].paths + 31) / 32;
    }
    if (words > UINT32_MAX / 32)
        return td_fail(TD_LIMIT, "the engine paths numbers up to %u paths, and this graph has %llu; another {engine} has "
                                 "no such limit", UINT32_MAX, (unsigned long long)paths->paths);
    self->index.first_word[paths->partitions] = (uint32_t)words;
    self->index.words = words;
    return TD_OK;
}

/* Calls for every entry that an edge leaves; with edges in both directions the last entry of a path is one too. */
typedef void (*visit)(td_paths_job *self, uint32_t vertex, uint32_t bit);

static void for_sources(td_paths_job *self, visit each)
{
    const td_paths *paths = &self->paths;
    for (uint32_t k = 0; k < paths->partitions; k++) {
        const td_path_partition *of = &paths->partition[k];
        for (uint32_t p = 0; p < of->paths; p++) {
            uint64_t begin = td_path_begin(paths, of, p), end = td_path_end(paths, of, p);
            if (!self->steps.state.back) end--;
            for (uint64_t i = begin; i < end; i++)
                each(self, paths->vertices[i], 32 * self->index.first_word[k] + p);
        }
    }
}

static void count_place(td_paths_job *self, uint32_t vertex, uint32_t bit)
{
    (void)bit;
    self->index.place_offsets[vertex + 1]++;
}

/* place_offsets[v + 1] is where the next place of v goes, until all are placed. */
static void put_place(td_paths_job *self, uint32_t vertex, uint32_t bit)
{
    self->index.places[self->index.place_offsets[vertex + 1]++] = bit;
}

static td_status make_places(td_paths_job *self)
{
    uint64_t n = self->cpu.graph->vertices, places = self->paths.edges, before = 0;
    td_paths_index *index = &self->index;
    if (self->steps.state.back) places += self->paths.paths;
    TD_CHECK(TD_NEW_ZEROED(&index->place_offsets, n + 1, "paths of vertices"));
    TD_CHECK(TD_NEW(&index->places, places, "paths of vertices"));
    for_sources(self, count_place);
    for (uint64_t v = 1; v <= n; v++) { /* shifted by one vertex: put_place moves every offset to its list's end */
        uint64_t count = index->place_offsets[v];
        index->place_offsets[v] = before;
        before += count;
    }
    for_sources(self, put_place);
    for (uint64_t v = 0; v < n; v++)
        if (index->place_offsets[v + 1] - index->place_offsets[v] > index->most_places)
            index->most_places = index->place_offsets[v + 1] - index->place_offsets[v];
    return TD_OK;
}

uint32_t td_paths_partition_of(const td_paths_job *self, uint32_t bit)
{
    uint32_t low = 0, high = self->paths.partitions - 1;
    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;
        if (self->index.first_word[middle] <= bit / 32) low = middle;
        else high = middle - 1;
    }
    return low;
}

static uint32_t group_of_bit(const td_paths_job *self, uint32_t bit)
{
    return self->paths.partition[td_paths_partition_of(self, bit)].group;
}

/* Marks the vertices that paths of their own groups enter. */
static void mark_entered(const td_paths_job *self, uint64_t *entered)
{
    const td_paths *paths = &self->paths;
    for (uint32_t k = 0; k < paths->partitions; k++) {
        const td_path_partition *of = &paths->partition[k];
        for (uint32_t p = 0; p < of->paths; p++)
            for (uint64_t i = td_path_begin(paths, of, p) + 1; i < td_path_end(paths, of, p); i++)
                if (self->index.owner[paths->vertices[i]] == of->group) td_bit_set(entered, paths->vertices[i]);
    }
}

/* Lists the vertices of every group: first those that no path of it enters. */
static td_status list_members(td_paths_job *self)
{
    td_paths_index *index = &self->index;
    uint64_t n = self->cpu.graph->vertices, *entered, *next = index->member_offsets + 1;
    TD_CHECK(TD_NEW_ZEROED(&entered, n / 64 + 1, "vertices that are entered"));
    mark_entered(self, entered);
    for (int round = 0; round < 2; round++)
        for (uint32_t v = 0; v < n; v++) {
            uint32_t group = index->owner[v];
            if (group == UINT32_MAX || td_bit_get(entered, v) != (round == 1)) continue;
            index->members[next[group]++] = v;
            if (round == 0) index->openers[group]++;
        }
    td_free(entered);
    return TD_OK;
}

static td_status find_owners(td_paths_job *self)
{
    td_paths_index *index = &self->index;
    uint64_t n = self->cpu.graph->vertices, groups = self->paths.groups;
    TD_CHECK(TD_NEW(&index->owner, n, "groups of vertices"));
    TD_CHECK(TD_NEW(&index->members, n, "vertices of groups"));
    TD_CHECK(TD_NEW_ZEROED(&index->member_offsets, groups + 2, "vertices of groups"));
    TD_CHECK(TD_NEW_ZEROED(&index->openers, groups, "vertices of groups"));
    for (uint64_t v = 0; v < n; v++) {
        bool reads = index->place_offsets[v] < index->place_offsets[v + 1];
        index->owner[v] = reads ? group_of_bit(self, index->places[index->place_offsets[v]]) : UINT32_MAX;
        if (reads) index->member_offsets[index->owner[v] + 2]++;
    }
    for (uint64_t g = 2; g < groups + 2; g++) index->member_offsets[g] += index->member_offsets[g - 1];
    return list_members(self);
}

/* Whether the path of a group may be the home of a vertex. */
static bool applies(const td_paths_index *index, uint32_t vertex, uint32_t group)
{
    return index->place_offsets[vertex] < index->place_offsets[vertex + 1] &&
           (index->owner == NULL || index->owner[vertex] == group);
}

/* Gives the vertices that paths pass through, or those where they end, their homes. */
static void settle_homes(td_paths_job *self, bool inner)
{
    const td_paths *paths = &self->paths;
    td_paths_index *index = &self->index;
    for (uint32_t k = 0; k < paths->partitions; k++) {
        const td_path_partition *of = &paths->partition[k];
        for (uint32_t p = 0; p < of->paths; p++) {
            uint64_t begin = td_path_begin(paths, of, p), end = td_path_end(paths, of, p);
            uint64_t from = inner ? begin + 1 : end - 1, to = inner ? end - 1 : end;
            for (uint64_t i = from; i < to; i++)
                if (applies(index, paths->vertices[i], of->group))
                    index->home[paths->vertices[i]] = 32 * index->first_word[k] + p;
        }
    }
}

static td_status find_homes(td_paths_job *self)
{
    td_paths_index *index = &self->index;
    uint64_t n = self->cpu.graph->vertices;
    TD_CHECK(TD_NEW(&index->home, n, "home paths of vertices"));
    for (uint64_t v = 0; v < n; v++) {
        bool reads = index->place_offsets[v] < index->place_offsets[v + 1];
        index->home[v] = reads ? index->places[index->place_offsets[v]] : UINT32_MAX;
    }
    settle_homes(self, true);
    settle_homes(self, false);
    return TD_OK;
}

td_status td_paths_make_places(td_paths_job *self)
{
    TD_CHECK(number_words(self));
    return make_places(self);
}

td_status td_paths_make_index(td_paths_job *self)
{
    td_path_state *state = &self->steps.state;
    TD_CHECK(td_paths_make_places(self));
    if (!self->one_group) TD_CHECK(find_owners(self));
    TD_CHECK(find_homes(self));
    state->first_word = self->index.first_word;
    state->place_offsets = self->index.place_offsets;
    state->places = self->index.places;
    state->home = self->index.home;
    return TD_OK;
}
