/* Programs that add up, piece by piece: what of the two parts of the lists a piece has, and how the GPU and the CPU's
 * workers go over it. Where lists are in fewer bits pots are in windows, and the hot part's ends with the windows of
 * the rest that stay on the device; elsewhere they are in tiles. */
#include "engine/coop/coop.h"

#include "base/alloc.h"

enum { STRETCHES_PER_WORKER = 8, LEAST_STRETCH = 2048 };

static const td_adjacency *list_of(const td_coop_job *self, int pot)
{
    return pot == TD_POT_HOT ? &self->held->cut->hot : &self->held->cut->rest;
}

/* Edges of one part of the lists that a piece has. */
typedef struct stretch {
    uint64_t begin, end;
} stretch;

static bool in_windows(const td_coop_job *self) { return self->held->link.narrow != NULL; }

static uint64_t edges_of(const td_coop_job *self, int part) { return list_of(self, part)->offsets[self->taking]; }

static uint64_t windows_of(const td_coop_job *self, int part)
{
    uint32_t shift = self->held->link.shift;
    return (edges_of(self, part) + (UINT64_C(1) << shift) - 1) >> shift;
}

/* Windows of the rest that cross: those behind are on the device. */
static uint64_t crossing_windows(const td_coop_job *self)
{
    const td_coop_narrow *kept = &self->held->kept[TD_POT_REST];
    uint64_t all = windows_of(self, TD_POT_REST);
    return kept->words != NULL && kept->first < all ? kept->first : all;
}

/* Where the rest's part that crosses ends. */
uint64_t td_coop_crossing_end(const td_coop_job *self)
{
    uint64_t edges = edges_of(self, TD_POT_REST);
    uint64_t end = in_windows(self) ? crossing_windows(self) << self->held->link.shift : edges;
    return end < edges ? end : edges;
}

static stretch part_of(const td_coop_job *self, const td_coop_piece *piece, int part)
{
    uint64_t begin = piece->begin, end = piece->end, most = edges_of(self, part), unit = TD_GPU_TILE;
    if (part != piece->pot && (piece->pot == TD_POT_REST || !in_windows(self))) return (stretch){0, 0};
    if (piece->pot == TD_POT_HOT && in_windows(self)) {
        uint64_t hot = windows_of(self, TD_POT_HOT), crossing = crossing_windows(self);
        unit = UINT64_C(1) << self->held->link.shift;
        begin = part == TD_POT_HOT ? (begin < hot ? begin : hot) : (begin > hot ? begin - hot : 0) + crossing;
        end = part == TD_POT_HOT ? (end < hot ? end : hot) : (end > hot ? end - hot : 0) + crossing;
    }
    return (stretch){begin * unit < most ? begin * unit : most, end * unit < most ? end * unit : most};
}

/* Sums along the tiles of one part of the lists, wherever its edges are at the time. */
static td_pull_args pull_args(const td_coop_job *self, int part, td_gpu_list list, stretch edges)
{
    const td_gpu_head_arrays *heads = &self->held->heads[part];
    td_gpu_segments segments = {heads->bits, heads->lists, heads->before, edges_of(self, part)};
    void *sums = part == TD_POT_HOT ? self->gpu.arrays.sums : self->rest_sums;
    return td_gpu_pull_args(&self->gpu, list, &segments, edges.begin, edges.end, sums);
}

static td_status launch_whole(td_coop_job *self, td_stream *lane, int part, stretch edges)
{
    td_pull_args args = pull_args(self, part, part == TD_POT_HOT ? self->held->hot : self->held->rest, edges);
    return td_gpu_launch_each(lane, &self->gpu.kernels->pull, (args.end_piece - args.first_piece) * 32, &args);
}

/* Compressed windows; `at` says where each begins, unless there is but one. */
static td_status launch_compressed(td_coop_job *self, td_stream *lane, int part, const td_coop_narrow *windows,
                                   stretch edges)
{
    const td_gpu_list none = {0}; /* targets are in the windows, and compressed lists have no weights */
    td_pull_compressed_args args = {.pull = pull_args(self, part, none, edges), .compressed = windows->words,
                                    .starts = windows->at != NULL ? windows->at - windows->first : NULL,
                                    .base = windows->base, .shift = self->held->link.shift};
    return td_gpu_launch_each(lane, &self->gpu.kernels->pull_compressed,
                              (args.pull.end_piece - args.pull.first_piece) * 32, &args);
}

/* A window crosses, and what the piece has of it is gone over; the next one is on its way meanwhile. */
static td_status launch_window(td_coop_job *self, td_stream *lane, uint32_t w, stretch piece)
{
    td_coop_graph *held = self->held;
    td_link_list *link = &held->link;
    uint32_t at = held->next_window++ % TD_COOP_WINDOWS;
    uint64_t words = link->narrow_at[w + 1] - link->narrow_at[w];
    uint64_t begin = td_link_begin(link, w), end = td_link_end(link, w);
    td_coop_narrow window = {.words = held->narrow[at]};
    if (held->freed[at] != NULL) {
        TD_CHECK(td_stream_wait(held->incoming, held->freed[at]));
        td_event_destroy(held->device, held->freed[at]);
        held->freed[at] = NULL;
    }
    TD_CHECK(td_stream_copy(held->incoming, held->narrow[at], link->narrow + link->narrow_at[w],
                            words * sizeof(uint32_t), TD_TO_DEVICE));
    TD_CHECK(td_coop_follow(self, lane, held->incoming));
    stretch edges = {begin > piece.begin ? begin : piece.begin, end < piece.end ? end : piece.end};
    TD_CHECK(launch_compressed(self, lane, TD_POT_REST, &window, edges));
    return td_stream_record(lane, &held->freed[at]);
}

static td_status launch_parts(td_coop_job *self, const td_coop_piece *piece)
{
    stretch hot = part_of(self, piece, TD_POT_HOT), rest = part_of(self, piece, TD_POT_REST);
    const td_coop_narrow *kept = self->held->kept;
    td_stream *lane = self->lane[piece->pot];
    if (hot.begin < hot.end) {
        if (kept[TD_POT_HOT].words == NULL) TD_CHECK(launch_whole(self, lane, TD_POT_HOT, hot));
        else TD_CHECK(launch_compressed(self, lane, TD_POT_HOT, &kept[TD_POT_HOT], hot));
    }
    if (rest.begin >= rest.end) return TD_OK;
    if (piece->pot == TD_POT_HOT) return launch_compressed(self, lane, TD_POT_REST, &kept[TD_POT_REST], rest);
    if (!in_windows(self)) return launch_whole(self, lane, TD_POT_REST, rest);
    uint32_t shift = self->held->link.shift;
    for (uint64_t w = rest.begin >> shift; w <= (rest.end - 1) >> shift; w++)
        TD_CHECK(launch_window(self, lane, (uint32_t)w, rest));
    return TD_OK;
}

/* And rows that this was the last of get their values. */
td_status td_coop_launch_pull(td_coop_job *self, const td_coop_piece *piece)
{
    stretch rest = part_of(self, piece, TD_POT_REST);
    TD_CHECK(launch_parts(self, piece));
    return rest.begin < rest.end ? td_coop_settle(self, piece->pot, rest.begin) : TD_OK;
}

/* The CPU's. It goes over the rest first, from its begin, and stores; what it takes from the hot part is added, and
 * so is whatever comes behind that. */

td_status td_coop_clear_until(td_coop_job *self, uint64_t end)
{
    td_cpu_job *cpu = &self->cpu;
    if (self->sums_end >= end) return TD_OK;
    uint64_t count = end - self->sums_end;
    cpu->coop.begin = self->sums_end;
    TD_CHECK(td_cpu_step(cpu, cpu->kernels->clear_sums, count, 4096, count, NULL));
    self->sums_end = end;
    return TD_OK;
}

/* Sums along edges begin .. end - 1. */
td_status td_coop_gather(td_coop_job *self, const td_adjacency *list, uint64_t begin, uint64_t end, bool adds)
{
    td_cpu_job *cpu = &self->cpu;
    uint64_t length = end - begin, most = (uint64_t)cpu->workers * STRETCHES_PER_WORKER, piece = length / most + 1;
    if (piece < LEAST_STRETCH) piece = LEAST_STRETCH;
    uint64_t pieces = (length + piece - 1) / piece;
    cpu->coop.list = list;
    cpu->coop.adds = adds;
    cpu->coop.begin = begin;
    cpu->coop.end = end;
    cpu->coop.piece = piece;
    TD_CHECK(td_cpu_step(cpu, cpu->kernels->gather, pieces, 1, length, NULL));
    cpu->kernels->gather_cut(cpu, pieces);
    return TD_OK;
}

static td_status work_on(td_coop_job *self, int part, stretch edges)
{
    const td_adjacency *list = list_of(self, part);
    uint64_t n = self->held->split.vertices;
    if (edges.begin >= edges.end) return TD_OK;
    uint64_t behind = td_first_list(list->offsets, n, edges.end);
    if (self->sums_add) TD_CHECK(td_coop_clear_until(self, behind));
    TD_CHECK(td_coop_gather(self, list, edges.begin, edges.end, self->sums_add));
    if (behind > self->sums_end) self->sums_end = behind;
    return TD_OK;
}

td_status td_coop_work_pull(td_coop_job *self, const td_coop_piece *piece)
{
    if (piece->pot == TD_POT_HOT) self->sums_add = true;
    TD_CHECK(work_on(self, TD_POT_HOT, part_of(self, piece, TD_POT_HOT)));
    return work_on(self, TD_POT_REST, part_of(self, piece, TD_POT_REST));
}

/* Pots. */

static td_coop_pot pot_of_tiles(const td_coop_job *self, int which, uint64_t edges)
{
    return (td_coop_pot){.back = (edges + TD_GPU_TILE - 1) / TD_GPU_TILE, .unit = TD_GPU_TILE, .edges = edges,
                         .gpu_rate = self->pot[which].gpu_rate};
}

/* The hot part and what stays of the rest. */
static td_coop_pot pot_of_windows(const td_coop_job *self)
{
    uint64_t count = windows_of(self, TD_POT_HOT) + windows_of(self, TD_POT_REST) - crossing_windows(self);
    uint64_t *before = self->before[TD_POT_HOT];
    for (uint64_t i = 0; i <= count; i++) {
        td_coop_piece all = {.pot = TD_POT_HOT, .end = i};
        stretch inside = part_of(self, &all, TD_POT_HOT), kept = part_of(self, &all, TD_POT_REST);
        before[i] = inside.end - inside.begin + kept.end - kept.begin;
    }
    return (td_coop_pot){.back = count, .before = before, .edges = before[count],
                         .gpu_rate = self->pot[TD_POT_HOT].gpu_rate};
}

void td_coop_fill_pots(td_coop_job *self)
{
    bool windows = in_windows(self);
    self->pot[TD_POT_HOT] = windows ? pot_of_windows(self) : pot_of_tiles(self, TD_POT_HOT, edges_of(self, TD_POT_HOT));
    self->pot[TD_POT_REST] = pot_of_tiles(self, TD_POT_REST, td_coop_crossing_end(self));
    if (windows) self->pot[TD_POT_REST].window = (UINT64_C(1) << self->held->link.shift) / TD_GPU_TILE;
}

td_status td_coop_make_pots(td_coop_job *self)
{
    uint64_t stretches = (uint64_t)self->cpu.workers * STRETCHES_PER_WORKER + 2;
    td_host_memory *host = &self->gpu.memory.host;
    TD_CHECK(td_host_declare(host, &self->cpu.coop.partials, stretches, 2 * self->gpu.traits->accum_bytes,
                             "partial sums"));
    TD_CHECK(td_host_declare(host, &self->cpu.coop.cut, stretches, sizeof *self->cpu.coop.cut, "partial sums"));
    if (!in_windows(self)) return TD_OK;
    return td_host_declare(host, &self->before[TD_POT_HOT],
                           (self->held->split.edges >> self->held->link.shift) + 3, sizeof(uint64_t), "windows");
}
