/* Which GPU has which partitions (DiGraph, section 3.2.2: a component goes to the GPU with most of its direct
 * predecessors, the giant one to several), and the tables of each GPU. */
#include "engine/paths/share.h"

#include "base/alloc.h"
#include "base/bitmap.h"
#include "kernels/gpu/args.h"

#include <stdlib.h>
#include <string.h>

void td_paths_free_share(td_paths_share *share)
{
    td_free(share->gpu);
    for (int i = 0; i < share->count; i++) {
        td_paths *p = &share->paths[i];
        td_free(p->vertices);
        td_free(p->weights);
        td_free(p->starts);
        td_free(p->lanes);
        td_free(p->partition);
        td_free(p->group);
        td_paths_free_index(&share->index[i]);
        for (int m = 0; m < TD_PATHS_MAILS; m++) {
            td_free(share->list[i][m].vertices);
            td_free(share->list[i][m].uses);
        }
    }
    *share = (td_paths_share){0};
}

/* Partitions. */

typedef struct placing {
    td_paths_job *self;
    td_paths_share *share;
    uint8_t *of;               /* partitions: the GPU */
    uint32_t *home;            /* vertices: the partition of the home path; UINT32_MAX: nothing reads it */
    uint8_t *touched;          /* vertices: the last GPU whose paths have it, from 1 on */
    uint64_t all[TD_GPUS];     /* edges of a GPU */
    uint64_t load[TD_GPUS];    /* of the range alone */
    uint32_t placed;           /* partitions before it have a GPU */
} placing;

static uint64_t edges_of(const td_paths *paths, uint32_t k)
{
    return paths->partition[k].entries - paths->partition[k].paths;
}

/* The vertices of a partition whose masters, of other partitions, are on each GPU. */
static void count_near(const placing *at, uint32_t k, uint64_t *near)
{
    const td_paths *paths = &at->self->paths;
    const td_path_partition *of = &paths->partition[k];
    memset(near, 0, TD_GPUS * sizeof *near);
    for (uint64_t e = of->first_entry; e < of->first_entry + of->entries; e++) {
        uint32_t home = at->home[paths->vertices[e]];
        if (home < at->placed && home != k) near[at->of[home]]++;
    }
}

/* The GPU with most of them, of those with room for the partition; of equal ones, the one that has it. */
static int choose(const placing *at, uint32_t k, const uint64_t *near, double room)
{
    int best = at->of[k];
    for (int g = 0; g < at->share->count; g++)
        if (near[g] > near[best] && (double)(at->load[g] + edges_of(&at->self->paths, k)) <= room) best = g;
    return best;
}

/* Moves partitions of a range to the GPUs that have most of what they read and write. */
static void draw_near(placing *at, uint32_t first, uint32_t end, double room)
{
    enum { PASSES = 4 };
    const td_paths *paths = &at->self->paths;
    uint64_t near[TD_GPUS];
    for (int pass = 0; pass < PASSES; pass++)
        for (uint32_t k = first; k < end; k++) {
            count_near(at, k, near);
            int from = at->of[k], to = choose(at, k, near, room);
            at->load[from] -= edges_of(paths, k);
            at->load[to] += edges_of(paths, k);
            at->of[k] = (uint8_t)to;
        }
}

/* Counts the partitions of a range that are where most of their masters are, and notes which GPUs have its vertices. */
static void note_range(placing *at, uint32_t first, uint32_t end)
{
    const td_paths *paths = &at->self->paths;
    uint64_t near[TD_GPUS], seen = 0;
    for (uint32_t k = first; k < end; k++) {
        const td_path_partition *of = &paths->partition[k];
        int gpu = at->of[k];
        count_near(at, k, near);
        bool affine = near[gpu] > 0;
        for (int g = 0; g < at->share->count; g++) affine &= near[g] <= near[gpu];
        at->share->affine += affine;
        seen |= UINT64_C(1) << gpu;
        for (uint64_t e = of->first_entry; e < of->first_entry + of->entries; e++)
            at->touched[paths->vertices[e]] = (uint8_t)(gpu + 1);
    }
    at->share->spread += td_popcount(seen) > 1;
}

/* The GPU that a small range goes to: that of most masters; without affinity, the next in turn. */
static int choose_one(placing *at, uint32_t first, uint32_t end, uint32_t *turn)
{
    uint64_t near[TD_GPUS], sum[TD_GPUS] = {0};
    int best = 0;
    if (!at->self->set.affinity) return (int)((*turn)++ % (uint32_t)at->share->count);
    for (uint32_t k = first; k < end; k++) {
        count_near(at, k, near);
        for (int g = 0; g < at->share->count; g++) sum[g] += near[g];
    }
    for (int g = 1; g < at->share->count; g++)
        if (sum[g] > sum[best] || (sum[g] == sum[best] && at->all[g] < at->all[best])) best = g;
    return best;
}

/* The partitions of a range that is processed at a time: about equally many edges on every GPU, consecutive ones at
 * first; fewer partitions than two for each GPU stay together. */
static void place_range(placing *at, uint32_t first, uint32_t end, uint32_t *turn)
{
    const td_paths *paths = &at->self->paths;
    uint64_t count = (uint64_t)at->share->count, edges = 0, before = 0;
    bool small = end - first < 2 * count;
    for (uint32_t k = first; k < end; k++) edges += edges_of(paths, k);
    memset(at->load, 0, sizeof at->load);
    at->placed = first; /* of masters */
    int one = small ? choose_one(at, first, end, turn) : 0;
    at->placed = end;
    for (uint32_t k = first; k < end; k++) {
        at->of[k] = small ? (uint8_t)one : (uint8_t)(before * count / (edges + 1));
        before += edges_of(paths, k);
        at->load[at->of[k]] += edges_of(paths, k);
    }
    if (!small && at->self->set.affinity) draw_near(at, first, end, 1.05 * (double)edges / (double)count);
    note_range(at, first, end);
    for (uint64_t g = 0; g < count; g++) at->all[g] += at->load[g];
}

static void place_partitions(placing *at)
{
    const td_paths_job *self = at->self;
    const td_paths *paths = &self->paths;
    uint32_t turn = 0, next;
    if (self->one_group) place_range(at, 0, paths->partitions, &turn);
    for (uint32_t g = 0; !self->one_group && g < paths->groups; g = next) {
        td_paths_group range = td_paths_joined(self, g, &next);
        place_range(at, range.first_partition, range.first_partition + range.partitions, &turn);
    }
}

/* Masters are where their home paths are; those of vertices that nothing reads, where a path enters them last. */
static void place_masters(const placing *at)
{
    uint64_t n = at->self->cpu.graph->vertices;
    for (uint64_t v = 0; v < n; v++)
        at->share->gpu[v] = at->home[v] != UINT32_MAX  ? at->of[at->home[v]]
                            : at->touched[v] > 0       ? (uint8_t)(at->touched[v] - 1)
                                                       : (uint8_t)(v * (uint64_t)at->share->count / n);
}

/* Tables of a GPU. */

/* Copies the partitions of a GPU behind one another. Without `out->vertices` it counts them. */
static void copy_partitions(const placing *at, int gpu, td_paths *out)
{
    const td_paths *from = &at->self->paths;
    uint64_t weight = td_weight_bytes(from->weight_kind);
    uint32_t lanes = TD_PATH_LANES + 1;
    out->partitions = 0;
    out->paths = out->entries = out->edges = 0;
    for (uint32_t k = 0; k < from->partitions; k++) {
        const td_path_partition *of = &from->partition[k];
        if (at->of[k] != gpu) continue;
        if (out->vertices != NULL) {
            memcpy(out->vertices + out->entries, from->vertices + of->first_entry, of->entries * sizeof(uint32_t));
            memcpy(out->starts + out->paths, from->starts + of->first_path, of->paths * sizeof(uint32_t));
            memcpy(out->lanes + (uint64_t)lanes * out->partitions, from->lanes + (uint64_t)lanes * k,
                   lanes * sizeof(uint32_t));
            if (from->weights != NULL)
                memcpy((char *)out->weights + out->edges * weight,
                       (const char *)from->weights + (of->first_entry - of->first_path) * weight,
                       edges_of(from, k) * weight);
            out->partition[out->partitions] = *of;
            out->partition[out->partitions].first_path = out->paths;
            out->partition[out->partitions].first_entry = out->entries;
        }
        out->partitions++;
        out->paths += of->paths;
        out->entries += of->entries;
        out->edges += edges_of(from, k);
    }
}

static void count_groups(const placing *at, int gpu, td_paths *out)
{
    const td_paths *from = &at->self->paths;
    uint32_t before = 0;
    for (uint32_t g = 0; g < from->groups; g++) {
        td_path_group *group = &out->group[g];
        *group = from->group[g];
        group->first_partition = before;
        for (uint32_t k = 0; k < from->group[g].partitions; k++)
            before += at->of[from->group[g].first_partition + k] == gpu;
        group->partitions = before - group->first_partition;
    }
}

static td_status cut(const placing *at, int gpu)
{
    const td_paths *from = &at->self->paths;
    td_paths *out = &at->share->paths[gpu];
    *out = *from;
    out->block = NULL;
    out->vertices = out->starts = out->lanes = NULL;
    out->weights = NULL;
    out->partition = NULL;
    out->group = NULL;
    out->reader_offsets = out->next_offsets = out->before_offsets = NULL;
    out->readers = out->next = out->before = NULL;
    copy_partitions(at, gpu, out);
    TD_CHECK(TD_NEW(&out->partition, (uint64_t)out->partitions + 1, "partitions of a GPU"));
    TD_CHECK(TD_NEW(&out->group, (uint64_t)out->groups + 1, "groups of a GPU"));
    TD_CHECK(TD_NEW(&out->starts, out->paths + 1, "beginnings of paths"));
    TD_CHECK(TD_NEW(&out->lanes, (uint64_t)(TD_PATH_LANES + 1) * (out->partitions + 1), "lanes"));
    if (from->weights != NULL)
        TD_CHECK(td_new_bytes(&out->weights, out->edges + 1, td_weight_bytes(from->weight_kind), "weights along paths"));
    TD_CHECK(TD_NEW(&out->vertices, out->entries + 1, "vertices along paths"));
    copy_partitions(at, gpu, out);
    count_groups(at, gpu, out);
    return TD_OK;
}

/* The path of a GPU's tables that is the home of a vertex: partitions keep their order. */
static void find_homes(const placing *at, int gpu, const uint32_t *local, uint32_t *home)
{
    const td_paths_index *all = &at->self->index, *here = &at->share->index[gpu];
    for (uint64_t v = 0; v < at->self->cpu.graph->vertices; v++) {
        uint32_t k = at->home[v];
        bool mine = k != UINT32_MAX && at->of[k] == gpu;
        home[v] = mine ? 32 * here->first_word[local[k]] + all->home[v] - 32 * all->first_word[k] : UINT32_MAX;
    }
}

/* The GPU's vertices: of every group, first those that no path of it enters; then those that nothing reads. */
static void list_members(const placing *at, int gpu)
{
    const td_paths_index *all = &at->self->index;
    td_paths_index *here = &at->share->index[gpu];
    const uint8_t *of = at->share->gpu;
    uint64_t n = at->self->cpu.graph->vertices, count = 0;
    for (uint32_t g = 0; !at->self->one_group && g < at->self->paths.groups; g++) {
        here->member_offsets[g] = count;
        for (uint64_t i = all->member_offsets[g]; i < all->member_offsets[g + 1]; i++) {
            if (of[all->members[i]] != gpu) continue;
            here->members[count++] = all->members[i];
            here->openers[g] += i - all->member_offsets[g] < all->openers[g];
        }
    }
    if (!at->self->one_group) here->member_offsets[at->self->paths.groups] = count;
    for (uint64_t v = 0; v < n; v++)
        if (of[v] == gpu && (at->self->one_group || at->home[v] == UINT32_MAX)) here->members[count++] = (uint32_t)v;
    at->share->members[gpu] = count;
}

static td_status make_index(const placing *at, int gpu)
{
    td_paths_job part = *at->self;
    td_paths_index *here = &at->share->index[gpu];
    uint64_t n = part.cpu.graph->vertices, groups = part.paths.groups;
    uint32_t *local, number = 0;
    part.paths = at->share->paths[gpu];
    part.index = (td_paths_index){0};
    td_status status = td_paths_make_places(&part);
    *here = part.index;
    TD_CHECK(status);
    TD_CHECK(TD_NEW(&here->home, n, "home paths of vertices"));
    TD_CHECK(TD_NEW(&here->members, n, "vertices of groups"));
    TD_CHECK(TD_NEW_ZEROED(&here->member_offsets, groups + 2, "vertices of groups"));
    TD_CHECK(TD_NEW_ZEROED(&here->openers, groups + 1, "vertices of groups"));
    TD_CHECK(TD_NEW(&local, (uint64_t)at->self->paths.partitions + 1, "partitions of a GPU"));
    for (uint32_t k = 0; k < at->self->paths.partitions; k++) {
        local[k] = number;
        number += at->of[k] == gpu;
    }
    find_homes(at, gpu, local, here->home);
    td_free(local);
    list_members(at, gpu);
    return TD_OK;
}

/* Lists of messages. */

typedef struct item {
    uint32_t vertex, key, uses; /* key: the path at the receiver that the message is for */
} item;

static int by_key(const void *a, const void *b)
{
    const item *one = a, *other = b;
    if (one->key != other->key) return one->key < other->key ? -1 : 1;
    return one->vertex < other->vertex ? -1 : one->vertex > other->vertex;
}

/* Edges of a GPU that deposit at each vertex. */
static void count_uses(const placing *at, int gpu, uint32_t *uses)
{
    const td_paths *paths = &at->share->paths[gpu];
    bool back = at->self->steps.state.back;
    for (uint32_t k = 0; k < paths->partitions; k++) {
        const td_path_partition *of = &paths->partition[k];
        for (uint32_t p = 0; p < of->paths; p++) {
            uint64_t begin = td_path_begin(paths, of, p), end = td_path_end(paths, of, p);
            for (uint64_t e = begin; e < end; e++)
                uses[paths->vertices[e]] += (e > begin) + (back && e + 1 < end);
        }
    }
}

static uint64_t collect(const placing *at, int from, int to, td_paths_mail mail, const uint32_t *uses, item *out)
{
    const td_paths_index *there = &at->share->index[to];
    uint64_t count = 0;
    for (uint32_t v = 0; v < at->self->cpu.graph->vertices; v++) {
        bool reads = there->place_offsets[v] < there->place_offsets[v + 1];
        bool sends = mail == TD_PATHS_DEPOSITS ? at->share->gpu[v] == to && uses[v] > 0
                                               : at->share->gpu[v] == from && reads;
        if (!sends) continue;
        uint32_t key = mail == TD_PATHS_DEPOSITS ? there->home[v] : there->places[there->place_offsets[v]];
        if (out != NULL) out[count] = (item){v, at->self->set.sort ? key : 0, uses[v]};
        count++;
    }
    return count;
}

static td_status fill_list(const placing *at, int from, td_paths_mail mail, const uint32_t *uses, item *items)
{
    td_paths_list *list = &at->share->list[from][mail];
    int count = at->share->count;
    for (int to = 0; to < count; to++) {
        list->count[to] = to == from ? 0 : collect(at, from, to, mail, uses, NULL);
        list->first[to + 1] = list->first[to] + (uint32_t)((list->count[to] + TD_GPU_THREADS - 1) / TD_GPU_THREADS);
    }
    uint64_t length = (uint64_t)list->first[count] * TD_GPU_THREADS;
    TD_CHECK(TD_NEW(&list->vertices, length + 1, "vertices of messages"));
    TD_CHECK(TD_NEW_ZEROED(&list->uses, length + 1, "vertices of messages"));
    for (uint64_t i = 0; i < length; i++) list->vertices[i] = TD_PATH_NO_VERTEX;
    for (int to = 0; to < count; to++) {
        uint64_t begin = (uint64_t)list->first[to] * TD_GPU_THREADS;
        if (to == from) continue;
        (void)collect(at, from, to, mail, uses, items);
        qsort(items, list->count[to], sizeof *items, by_key);
        for (uint64_t i = 0; i < list->count[to]; i++) {
            list->vertices[begin + i] = items[i].vertex;
            list->uses[begin + i] = items[i].uses;
        }
    }
    return TD_OK;
}

static td_status make_lists(const placing *at)
{
    td_status status = TD_OK;
    uint64_t n = at->self->cpu.graph->vertices;
    uint32_t *uses = NULL;
    item *items = NULL;
    TD_TRY(TD_NEW(&uses, n, "edges into vertices"));
    TD_TRY(TD_NEW(&items, n, "vertices of messages"));
    for (int from = 0; from < at->share->count; from++) {
        memset(uses, 0, n * sizeof *uses);
        count_uses(at, from, uses);
        for (td_paths_mail mail = 0; mail < TD_PATHS_MAILS; mail++) TD_TRY(fill_list(at, from, mail, uses, items));
    }
done:
    td_free(uses);
    td_free(items);
    return status;
}

/* All of it. */

static td_status find_partitions(placing *at)
{
    uint64_t n = at->self->cpu.graph->vertices;
    TD_CHECK(TD_NEW(&at->home, n, "partitions of vertices"));
    TD_CHECK(TD_NEW_ZEROED(&at->touched, n, "GPUs of vertices"));
    TD_CHECK(TD_NEW_ZEROED(&at->of, (uint64_t)at->self->paths.partitions + 1, "GPUs of partitions"));
    TD_CHECK(TD_NEW(&at->share->gpu, n, "GPUs of vertices"));
    for (uint64_t v = 0; v < n; v++) {
        uint32_t home = at->self->index.home[v];
        at->home[v] = home == UINT32_MAX ? UINT32_MAX : td_paths_partition_of(at->self, home);
    }
    return TD_OK;
}

static td_status make(placing *at)
{
    TD_CHECK(find_partitions(at));
    place_partitions(at);
    place_masters(at);
    for (int i = 0; i < at->share->count; i++) TD_CHECK(cut(at, i));
    for (int i = 0; i < at->share->count; i++) TD_CHECK(make_index(at, i));
    return make_lists(at);
}

td_status td_paths_make_share(td_paths_job *self, int count, td_paths_share *out)
{
    placing at = {.self = self, .share = out};
    *out = (td_paths_share){.count = count};
    td_status status = make(&at);
    td_free(at.of);
    td_free(at.home);
    td_free(at.touched);
    if (status != TD_OK) td_paths_free_share(out);
    return status;
}
