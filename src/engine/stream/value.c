/* Value of a subgraph (Scaph, section 3): its share of useful edges, counted on the GPU, which decides its transfer
 * mode.
 *
 * By the paper's rules (stream.rules=paper) a subgraph has high value if more than alpha of its edges are useful, or
 * more than beta and more than in the last iteration; it is copied whole. From other subgraphs the useful edges are
 * extracted. By cost (stream.rules=cost) every subgraph gets the mode that is fastest by the measured rates; a kernel
 * that reads host memory moves only the cache lines that contain useful edges. */
#include "engine/stream/stream.h"

#include <math.h>
#include <string.h>

td_status td_streaming_count_useful(td_streaming_job *self, td_link_list *list, bool heavy)
{
    td_gpu_job *gpu = &self->gpu;
    td_gpu_part part = td_gpu_all(gpu);
    part.skip = list->skip;
    part.light = list->light;
    part.heavy_edges = heavy;
    td_useful_args args = {.state = gpu->state, .offsets = list->seen.offsets, .part = part,
                           .useful = self->device_useful, .shift = list->shift};
    uint64_t began = td_device_clock(gpu->device);
    td_gpu_swap(&self->useful, &self->useful_before);
    TD_CHECK(td_gpu_reset(gpu));
    TD_CHECK(td_stream_fill(gpu->stream, args.useful, 0, list->subgraphs * sizeof(uint64_t)));
    TD_CHECK(td_gpu_launch(gpu, gpu->stream, &gpu->kernels->useful, td_gpu_words(gpu) * 32, &args));
    TD_CHECK(td_stream_copy(gpu->stream, self->useful, args.useful, list->subgraphs * sizeof(uint64_t), TD_TO_HOST));
    TD_CHECK(td_gpu_read(gpu, 0));
    self->row->bitmap_seconds += (double)(td_device_clock(gpu->device) - began) * 1e-9;
    self->vertices_useful = gpu->control->tally.activated;
    self->edges_useful = gpu->control->tally.edges;
    return TD_OK;
}

void td_streaming_all_useful(td_streaming_job *self, td_link_list *list)
{
    for (uint32_t s = 0; s < list->subgraphs; s++) self->useful[s] = td_link_end(list, s) - td_link_begin(list, s);
    self->edges_useful = list->edges;
    self->vertices_useful = self->gpu.graph->vertices;
}

/* Whether the useful edges of subgraphs can be extracted. Survivors are collected per subgraph, not from extracts. */
static bool can_extract(const td_streaming_job *self)
{
    bool works = self->work == TD_WORK_PUSH || (self->work == TD_WORK_SWEEP && !self->collects_edges);
    return self->layout->chunk[0] != NULL && works;
}

/* Rate of direct reads over that of copies: 41 of 54.7 GB/s on an H200 (docs/lab/stream.md). */
static const double DIRECT_RATE = 0.75;
enum { LINE = 128 }; /* bytes of a cache line; both ends of a list waste about one, for targets and for weights */

/* Bytes that kernels read for so many useful edges, in lists of that mean length. */
static double bytes_direct(const td_link_list *list, double useful, double all, double length)
{
    double bytes = (double)td_link_edge_bytes(list);
    double wasted = useful / length * (list->weight_bytes > 0 ? 2 * LINE : LINE) * 0.75;
    double read = useful * bytes + wasted;
    return read < all * bytes ? read : all * bytes; /* few lines are read twice */
}

static double mean_length(uint64_t edges, uint64_t vertices) { return (double)(vertices > 0 ? edges / vertices : 0) + 1; }

double td_streaming_direct_ns(const td_streaming_job *self, const td_link_list *list, uint64_t useful, uint64_t vertices)
{
    double rate = self->layout->copy_rate > 0 ? self->layout->copy_rate : 1;
    return bytes_direct(list, (double)useful, (double)list->edges, mean_length(useful, vertices)) / (rate * DIRECT_RATE);
}

/* Time of each transfer mode in ns; INFINITY: not possible. */
typedef struct costs {
    double of[TD_TRANSFER_MODES];
} costs;

static costs cost_of(const td_streaming_job *self, const td_link_list *list, uint32_t s)
{
    const td_streaming_graph *layout = self->layout;
    double useful = (double)self->useful[s], all = (double)(td_link_end(list, s) - td_link_begin(list, s));
    double bytes = (double)td_link_edge_bytes(list), rate = layout->copy_rate > 0 ? layout->copy_rate : 1;
    double collecting = layout->extract_rate < rate ? layout->extract_rate : rate;
    bool may_direct = list->readable && self->low != TD_LOW_EXTRACT && self->low != TD_LOW_WHOLE;
    bool may_extract = can_extract(self) && (self->low == TD_LOW_AUTO || self->low == TD_LOW_EXTRACT);
    costs cost;
    for (int mode = 0; mode < TD_TRANSFER_MODES; mode++) cost.of[mode] = INFINITY;
    cost.of[TD_TRANSFER_WHOLE] = (double)td_link_bytes(list, s) / rate;
    double length = mean_length(self->edges_useful, self->vertices_useful);
    if (may_direct) cost.of[TD_TRANSFER_DIRECT] = bytes_direct(list, useful, all, length) / (rate * DIRECT_RATE);
    if (may_extract && collecting > 0) cost.of[TD_TRANSFER_EXTRACT] = useful * bytes / collecting;
    if (self->low == TD_LOW_EXTRACT && may_extract) cost.of[TD_TRANSFER_WHOLE] = INFINITY; /* extraction was asked
                                                                                            * for */
    return cost;
}

static td_transfer_mode cheapest(const costs *cost)
{
    td_transfer_mode best = TD_TRANSFER_WHOLE;
    for (td_transfer_mode mode = TD_TRANSFER_NONE; mode < TD_TRANSFER_MODES; mode++)
        if (cost->of[mode] < cost->of[best]) best = mode;
    return best;
}

/* Fills empty slots with subgraphs of which much is useful, so that they need not cross again. */
static const double MUCH = 0.3;
enum { KEEP_EMPTY = 8 }; /* so many slots stay free for passing copies */

static void fill_empty_slots(td_streaming_job *self, const td_link_list *list)
{
    uint32_t room = 0;
    const td_slots *slots = &self->layout->slots;
    for (uint32_t i = 0; i < slots->count; i++) room += slots->slots[i].subgraph == TD_NO_SUBGRAPH;
    if (room < KEEP_EMPTY) return;
    for (uint32_t s = 0; s < list->subgraphs && room > 0; s++) {
        double all = (double)(td_link_end(list, s) - td_link_begin(list, s));
        bool crosses = self->mode[s] != TD_TRANSFER_NONE && self->mode[s] != TD_TRANSFER_RESIDENT;
        if (!crosses || (double)self->useful[s] < MUCH * all) continue;
        self->mode[s] = TD_TRANSFER_WHOLE;
        room--;
    }
}

/* Chooses the cheapest mode for every subgraph, unless one direct launch over all that are not resident takes hardly
 * longer: switching between modes costs time too. */
static const double HARDLY = 1.1;
static const double HARDLY_CHANGES = 2.5; /* few vertices push, so that fewer bytes cross (docs/lab/stream.md) */

static void choose_by_cost(td_streaming_job *self, const td_link_list *list)
{
    double each = 0, direct = 0, hardly = self->pushes_changes ? HARDLY_CHANGES : HARDLY;
    for (uint32_t s = 0; s < list->subgraphs; s++) {
        if (self->useful[s] == 0 || self->layout->slots.place[s] != TD_NO_SLOT) {
            self->mode[s] = self->useful[s] == 0 ? TD_TRANSFER_NONE : TD_TRANSFER_RESIDENT;
            continue;
        }
        costs cost = cost_of(self, list, s);
        self->mode[s] = (uint8_t)cheapest(&cost);
        each += cost.of[self->mode[s]];
        direct += cost.of[TD_TRANSFER_DIRECT];
    }
    for (uint32_t s = 0; s < list->subgraphs && direct <= hardly * each; s++)
        if (self->mode[s] != TD_TRANSFER_NONE && self->mode[s] != TD_TRANSFER_RESIDENT)
            self->mode[s] = TD_TRANSFER_DIRECT;
    if (self->low == TD_LOW_AUTO) fill_empty_slots(self, list);
}

static td_transfer_mode low_value_mode(const td_streaming_job *self, const td_link_list *list)
{
    bool wants = self->variant == TD_STREAMING_LVSP || self->low == TD_LOW_AUTO || self->low == TD_LOW_EXTRACT;
    if (wants && can_extract(self)) return TD_TRANSFER_EXTRACT;
    return list->readable && self->low != TD_LOW_WHOLE ? TD_TRANSFER_DIRECT : TD_TRANSFER_WHOLE;
}

/* Edges of a subgraph that can be useful. A sweep that visits every edge of a symmetric graph from its lower end uses
 * half of them; its first iteration, in which all vertices are active, shows which. */
static double usable(const td_streaming_job *self, const td_link_list *list, uint32_t s)
{
    if (self->usable != NULL) return (double)self->usable[s];
    return (double)(td_link_end(list, s) - td_link_begin(list, s));
}

static td_transfer_mode choose(const td_streaming_job *self, const td_link_list *list, uint32_t s)
{
    double useful = (double)self->useful[s], all = usable(self, list, s);
    bool there = self->layout->slots.place[s] != TD_NO_SLOT;
    if (self->useful[s] == 0) return TD_TRANSFER_NONE;
    if (self->variant == TD_STREAMING_LVSP) return low_value_mode(self, list);
    if (there) return TD_TRANSFER_RESIDENT;
    if (self->variant != TD_STREAMING_FULL && self->variant != TD_STREAMING_SCAPH) return TD_TRANSFER_WHOLE;
    if (self->work == TD_WORK_HIT && list->readable) return TD_TRANSFER_DIRECT; /* most of the subgraph is not read */
    if (self->work == TD_WORK_SUM) return TD_TRANSFER_WHOLE;
    bool high = useful > self->alpha * all || (self->useful[s] > self->useful_before[s] && useful > self->beta * all);
    return high ? TD_TRANSFER_WHOLE : low_value_mode(self, list);
}

void td_streaming_choose_modes(td_streaming_job *self, const td_link_list *list)
{
    if (self->variant == TD_STREAMING_FULL && self->rules == 0 && self->work != TD_WORK_HIT && self->work != TD_WORK_SUM) {
        choose_by_cost(self, list);
        return;
    }
    for (uint32_t s = 0; s < list->subgraphs; s++) {
        if (self->usable != NULL && self->useful[s] > self->usable[s]) self->usable[s] = self->useful[s];
        self->mode[s] = (uint8_t)choose(self, list, s);
    }
}
