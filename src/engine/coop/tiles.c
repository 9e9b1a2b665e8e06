/* Pieces of accumulating programs: which edges of either part a piece covers, and how GPU and workers process it. With
 * compressed targets the deques are in windows, and the hot deque ends with the resident windows of the rest; otherwise
 * they are in tiles. */
#include "engine/coop/coop.h"

#include "base/alloc.h"

enum { RANGES_PER_WORKER = 8, LEAST_RANGE = 2048 };

static const td_adjacency *list_of(const td_coop_job *self, int deque)
{
    return deque == TD_COOP_HOT ? &self->layout->cut->hot : &self->layout->cut->rest;
}

/* Edges of one part of the lists. */
typedef struct edge_range {
    uint64_t begin, end;
} edge_range;

static bool in_windows(const td_coop_job *self) { return self->layout->link.compressed != NULL; }

static uint64_t edges_of(const td_coop_job *self, int part)
{
    return list_of(self, part)->offsets[self->sums.participants];
}

static uint64_t windows_of(const td_coop_job *self, int part)
{
    uint32_t shift = self->layout->link.shift;
    return (edges_of(self, part) + (UINT64_C(1) << shift) - 1) >> shift;
}

/* Number of windows of the rest that cross; those behind are resident. */
static uint64_t crossing_windows(const td_coop_job *self)
{
    const td_coop_windows *resident = &self->layout->resident[TD_COOP_REST];
    uint64_t all = windows_of(self, TD_COOP_REST);
    return resident->words != NULL && resident->first < all ? resident->first : all;
}

/* End of the edges of the rest that cross. */
uint64_t td_coop_crossing_end(const td_coop_job *self)
{
    uint64_t edges = edges_of(self, TD_COOP_REST);
    uint64_t end = in_windows(self) ? crossing_windows(self) << self->layout->link.shift : edges;
    return end < edges ? end : edges;
}

static edge_range part_of(const td_coop_job *self, const td_coop_piece *piece, int part)
{
    uint64_t begin = piece->begin, end = piece->end, most = edges_of(self, part), unit = TD_GPU_TILE;
    if (part != piece->deque && (piece->deque == TD_COOP_REST || !in_windows(self))) return (edge_range){0, 0};
    if (piece->deque == TD_COOP_HOT && in_windows(self)) {
        uint64_t hot = windows_of(self, TD_COOP_HOT), crossing = crossing_windows(self);
        unit = UINT64_C(1) << self->layout->link.shift;
        begin = part == TD_COOP_HOT ? (begin < hot ? begin : hot) : (begin > hot ? begin - hot : 0) + crossing;
        end = part == TD_COOP_HOT ? (end < hot ? end : hot) : (end > hot ? end - hot : 0) + crossing;
    }
    return (edge_range){begin * unit < most ? begin * unit : most, end * unit < most ? end * unit : most};
}

/* Arguments of a pull along tiles of one part, wherever its edges are. */
static td_pull_args pull_args(const td_coop_job *self, int part, td_gpu_list list, edge_range edges)
{
    const td_gpu_head_arrays *heads = &self->layout->heads[part];
    td_gpu_segments segments = {heads->bits, heads->lists, heads->before, edges_of(self, part)};
    void *sums = part == TD_COOP_HOT ? self->gpu.arrays.sums : self->sums.rest;
    return td_gpu_pull_args(&self->gpu, list, &segments, edges.begin, edges.end, sums);
}

static td_status launch_whole(td_coop_job *self, td_stream *lane, int part, edge_range edges)
{
    td_pull_args args = pull_args(self, part, part == TD_COOP_HOT ? self->layout->hot : self->layout->rest, edges);
    return td_gpu_launch_each(lane, &self->gpu.kernels->pull, (args.end_piece - args.first_piece) * 32, &args);
}

/* Launches over compressed windows; `at` has the start of each, or is NULL for a single one. */
static td_status launch_compressed(td_coop_job *self, td_stream *lane, int part, const td_coop_windows *windows,
                                   edge_range edges)
{
    const td_gpu_list none = {0}; /* targets are compressed, and there are no weights */
    td_pull_compressed_args args = {.pull = pull_args(self, part, none, edges), .compressed = windows->words,
                                    .starts = windows->at != NULL ? windows->at - windows->first : NULL,
                                    .base = windows->base, .shift = self->layout->link.shift};
    return td_gpu_launch_each(lane, &self->gpu.kernels->pull_compressed,
                              (args.pull.end_piece - args.pull.first_piece) * 32, &args);
}

/* Copies a window and launches over the piece's edges in it; the copy of the next window overlaps. */
static td_status launch_window(td_coop_job *self, td_stream *lane, uint32_t w, edge_range piece)
{
    td_coop_graph *layout = self->layout;
    td_link_list *link = &layout->link;
    uint32_t at = layout->next_window++ % TD_COOP_WINDOWS;
    uint64_t words = link->compressed_at[w + 1] - link->compressed_at[w];
    uint64_t begin = td_link_begin(link, w), end = td_link_end(link, w);
    td_coop_windows window = {.words = layout->window[at]};
    if (layout->freed[at] != NULL) {
        TD_CHECK(td_stream_wait(layout->incoming, layout->freed[at]));
        td_event_destroy(layout->device, layout->freed[at]);
        layout->freed[at] = NULL;
    }
    TD_CHECK(td_stream_copy(layout->incoming, layout->window[at], link->compressed + link->compressed_at[w],
                            words * sizeof(uint32_t), TD_TO_DEVICE));
    TD_CHECK(td_coop_follow(self, lane, layout->incoming));
    edge_range edges = {begin > piece.begin ? begin : piece.begin, end < piece.end ? end : piece.end};
    TD_CHECK(launch_compressed(self, lane, TD_COOP_REST, &window, edges));
    return td_stream_record(lane, &layout->freed[at]);
}

static td_status launch_parts(td_coop_job *self, const td_coop_piece *piece)
{
    edge_range hot = part_of(self, piece, TD_COOP_HOT), rest = part_of(self, piece, TD_COOP_REST);
    const td_coop_windows *resident = self->layout->resident;
    td_stream *lane = self->share.lane[piece->deque];
    if (hot.begin < hot.end) {
        if (resident[TD_COOP_HOT].words == NULL) TD_CHECK(launch_whole(self, lane, TD_COOP_HOT, hot));
        else TD_CHECK(launch_compressed(self, lane, TD_COOP_HOT, &resident[TD_COOP_HOT], hot));
    }
    if (rest.begin >= rest.end) return TD_OK;
    if (piece->deque == TD_COOP_HOT) return launch_compressed(self, lane, TD_COOP_REST, &resident[TD_COOP_REST], rest);
    if (!in_windows(self)) return launch_whole(self, lane, TD_COOP_REST, rest);
    uint32_t shift = self->layout->link.shift;
    for (uint64_t w = rest.begin >> shift; w <= (rest.end - 1) >> shift; w++)
        TD_CHECK(launch_window(self, lane, (uint32_t)w, rest));
    return TD_OK;
}

/* Launches the piece and applies the vertices that it completes. */
td_status td_coop_launch_pull(td_coop_job *self, const td_coop_piece *piece)
{
    edge_range rest = part_of(self, piece, TD_COOP_REST);
    TD_CHECK(launch_parts(self, piece));
    return rest.begin < rest.end ? td_coop_settle(self, piece->deque, rest.begin) : TD_OK;
}

/* The CPU's pieces. It processes the rest first, from the front, and stores sums; sums of hot edges, and all later
 * ones, are added. */

td_status td_coop_clear_until(td_coop_job *self, uint64_t end)
{
    td_cpu_job *cpu = &self->cpu;
    if (self->sums.end >= end) return TD_OK;
    uint64_t count = end - self->sums.end;
    cpu->coop.begin = self->sums.end;
    TD_CHECK(td_cpu_step(cpu, cpu->kernels->clear_sums, count, 4096, count, NULL));
    self->sums.end = end;
    return TD_OK;
}

/* Gathers along edges begin .. end - 1. */
td_status td_coop_gather(td_coop_job *self, const td_adjacency *list, uint64_t begin, uint64_t end, bool adds)
{
    td_cpu_job *cpu = &self->cpu;
    uint64_t length = end - begin, most = (uint64_t)cpu->workers * RANGES_PER_WORKER, piece = length / most + 1;
    if (piece < LEAST_RANGE) piece = LEAST_RANGE;
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

static td_status work_on(td_coop_job *self, int part, edge_range edges)
{
    const td_adjacency *list = list_of(self, part);
    uint64_t n = self->layout->split.vertices;
    if (edges.begin >= edges.end) return TD_OK;
    uint64_t behind = td_first_list(list->offsets, n, edges.end);
    if (self->sums.add) TD_CHECK(td_coop_clear_until(self, behind));
    TD_CHECK(td_coop_gather(self, list, edges.begin, edges.end, self->sums.add));
    if (behind > self->sums.end) self->sums.end = behind;
    return TD_OK;
}

td_status td_coop_work_pull(td_coop_job *self, const td_coop_piece *piece)
{
    if (piece->deque == TD_COOP_HOT) self->sums.add = true;
    TD_CHECK(work_on(self, TD_COOP_HOT, part_of(self, piece, TD_COOP_HOT)));
    return work_on(self, TD_COOP_REST, part_of(self, piece, TD_COOP_REST));
}

/* Deques. */

static td_coop_deque deque_of_tiles(const td_coop_job *self, int which, uint64_t edges)
{
    return (td_coop_deque){.back = (edges + TD_GPU_TILE - 1) / TD_GPU_TILE, .unit = TD_GPU_TILE, .edges = edges,
                         .gpu_rate = self->share.deque[which].gpu_rate};
}

/* The hot part and the resident windows of the rest. */
static td_coop_deque deque_of_windows(const td_coop_job *self)
{
    uint64_t count = windows_of(self, TD_COOP_HOT) + windows_of(self, TD_COOP_REST) - crossing_windows(self);
    uint64_t *before = self->push.before[TD_COOP_HOT];
    for (uint64_t i = 0; i <= count; i++) {
        td_coop_piece all = {.deque = TD_COOP_HOT, .end = i};
        edge_range inside = part_of(self, &all, TD_COOP_HOT), resident = part_of(self, &all, TD_COOP_REST);
        before[i] = inside.end - inside.begin + resident.end - resident.begin;
    }
    return (td_coop_deque){.back = count, .before = before, .edges = before[count],
                         .gpu_rate = self->share.deque[TD_COOP_HOT].gpu_rate};
}

void td_coop_fill_deques(td_coop_job *self)
{
    bool windows = in_windows(self);
    self->share.deque[TD_COOP_HOT] = windows ? deque_of_windows(self)
                                       : deque_of_tiles(self, TD_COOP_HOT, edges_of(self, TD_COOP_HOT));
    self->share.deque[TD_COOP_REST] = deque_of_tiles(self, TD_COOP_REST, td_coop_crossing_end(self));
    if (windows) self->share.deque[TD_COOP_REST].window = (UINT64_C(1) << self->layout->link.shift) / TD_GPU_TILE;
}

td_status td_coop_make_deques(td_coop_job *self)
{
    uint64_t ranges = (uint64_t)self->cpu.workers * RANGES_PER_WORKER + 2;
    td_host_memory *host = &self->gpu.memory.host;
    TD_CHECK(td_host_declare(host, &self->cpu.coop.partials, ranges, 2 * self->gpu.traits->accum_bytes,
                             "partial sums"));
    TD_CHECK(td_host_declare(host, &self->cpu.coop.cut, ranges, sizeof *self->cpu.coop.cut, "partial sums"));
    if (!in_windows(self)) return TD_OK;
    return td_host_declare(host, &self->push.before[TD_COOP_HOT],
                           (self->layout->split.edges >> self->layout->link.shift) + 3, sizeof(uint64_t), "windows");
}
