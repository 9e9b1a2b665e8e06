/* The pages of a pass, their order, and their value for the cache afterwards. */
#include "engine/hybrid/gpu.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/clock.h"

#include <math.h>

static const double IDLE_VALUE = 0.5; /* value of a page without active vertices so far: above an empty frame */

/* Counting. */

typedef struct counting {
    td_hybrid_job *job;
    td_page_set *set;
    const uint64_t *map;
    _Atomic uint64_t vertices, edges;
} counting;

static uint64_t map_edges(const td_page_set *set, uint64_t v)
{
    uint64_t edges = set->lists & TD_LIST_OUT ? td_degree(&set->graph->out, (uint32_t)v) : 0;
    return set->lists & TD_LIST_IN ? edges + td_degree(&set->graph->in, (uint32_t)v) : edges;
}

static td_status count_pages(void *context, uint64_t begin, uint64_t end, int worker)
{
    counting *self = context;
    uint64_t vertices = 0, all = 0;
    (void)worker;
    for (uint64_t p = begin; p < end; p++) {
        const td_held_page *page = &self->set->pages[p];
        uint64_t edges = 0;
        for (uint64_t w = page->begin / 64; w < td_bitmap_words(page->end); w++)
            for (uint64_t rest = self->map[w]; rest != 0; rest &= rest - 1) {
                edges += map_edges(self->set, w * 64 + (uint64_t)__builtin_ctzll(rest));
                vertices++;
            }
        self->job->useful[p] = edges;
        all += edges;
    }
    self->vertices += vertices;
    self->edges += all;
    return TD_OK;
}

td_status td_hybrid_count(td_hybrid_job *self, td_page_set *set, const uint64_t *map, uint64_t *vertices,
                          uint64_t *edges)
{
    counting state = {.job = self, .set = set, .map = map};
    TD_CHECK(td_pool_for(self->cpu.pool, set->count, 4, count_pages, &state));
    *vertices = state.vertices;
    *edges = state.edges;
    return TD_OK;
}

/* The order. */

static void turn(td_hybrid_job *self)
{
    self->backwards = !self->backwards;
    if (self->backwards) return;
    for (uint32_t i = 0, j = self->order_count; i + 1 < j; i++) {
        uint32_t keep = self->order[i];
        self->order[i] = self->order[--j];
        self->order[j] = keep;
    }
}

void td_hybrid_order_all(td_hybrid_job *self, const td_page_set *set)
{
    self->order_count = set->count;
    for (uint32_t p = 0; p < set->count; p++) self->order[p] = p;
    turn(self);
}

void td_hybrid_order_useful(td_hybrid_job *self, td_page_set *set)
{
    self->order_count = 0;
    for (uint32_t p = 0; p < set->count; p++) {
        if (self->useful[p] > 0) self->order[self->order_count++] = p;
        set->pages[p].value = self->useful[p] > 0 ? (double)self->useful[p] : IDLE_VALUE;
    }
    turn(self);
}

static void mark_ranges(td_hybrid_job *self)
{
    const td_cpu_job *cpu = &self->cpu;
    uint32_t span = td_summary_span(cpu->graph->vertices);
    for (unsigned i = 0; i < TD_SUMMARY_WORDS; i++) self->active_ranges[i] = 0;
    for (uint64_t w = 0; w < td_cpu_words(cpu); w++) {
        if (cpu->frontier.active[w] == 0) continue;
        uint64_t first = w * 64 + (uint64_t)__builtin_ctzll(cpu->frontier.active[w]);
        uint64_t last = w * 64 + 63 - (uint64_t)__builtin_clzll(cpu->frontier.active[w]);
        for (uint64_t range = first / span; range <= last / span; range++) td_bit_set(self->active_ranges, range);
    }
}

/* Entries of the file's page directory, with summaries, from the page that contains the vertex on. */
typedef struct entries {
    const td_page *at, *end;
} entries;

static entries entries_from(const td_hybrid_job *self, const td_page_set *set, uint32_t vertex)
{
    int which = set == self->push ? 0 : 1;
    const td_page *directory = self->directory[which];
    if (directory == NULL) return (entries){NULL, NULL};
    uint64_t low = 0, high = self->directory_count[which] - 1;
    while (low < high) {
        uint64_t middle = low + (high - low + 1) / 2;
        if (directory[middle].first_vertex <= vertex) low = middle;
        else high = middle - 1;
    }
    return (entries){directory + low, directory + self->directory_count[which]};
}

static bool meets_active(const td_hybrid_job *self, const td_page_set *set, const td_held_page *page)
{
    entries of = entries_from(self, set, page->begin);
    for (; of.at < of.end && of.at->first_vertex < page->end; of.at++)
        if (td_summary_meets(of.at->summary, self->active_ranges)) return true;
    return false;
}

static bool has_active(const td_cpu_job *cpu, const td_held_page *page)
{
    for (uint64_t w = page->begin / 64; w < td_bitmap_words(page->end); w++)
        if (cpu->frontier.active[w] != 0) return true;
    return false;
}

void td_hybrid_skip_idle(td_hybrid_job *self, const td_page_set *set, td_hybrid_skip skip)
{
    uint32_t kept = 0;
    if (self->directory[set == self->push ? 0 : 1] == NULL) return;
    mark_ranges(self);
    for (uint32_t i = 0; i < self->order_count; i++) {
        const td_held_page *page = &set->pages[self->order[i]];
        if (meets_active(self, set, page) || has_active(&self->cpu, page)) self->order[kept++] = self->order[i];
        else skip(self, page->begin, page->end);
    }
    self->row.pages_skipped += self->order_count - kept;
    self->order_count = kept;
}

bool td_hybrid_is_local(const td_hybrid_job *self, const td_page_set *set, uint32_t page)
{
    entries of = entries_from(self, set, set->pages[page].begin);
    uint32_t span = td_summary_span(self->cpu.graph->vertices);
    bool known = of.at < of.end;
    for (; of.at < of.end && of.at->first_vertex < set->pages[page].end; of.at++) {
        uint32_t ranges = 0, own = of.at->vertices / span + 2;
        for (unsigned i = 0; i < TD_SUMMARY_WORDS; i++) ranges += (uint32_t)__builtin_popcountll(of.at->summary[i]);
        if (ranges > 2 * own) return false;
    }
    return known;
}

/* The pass. */

td_status td_hybrid_step(td_hybrid_job *self, td_cpu_kernel kernel, const td_page_set *set, uint32_t page,
                         td_cpu_tally *sum)
{
    const td_held_page *of = &set->pages[page];
    uint64_t words = td_bitmap_words(of->end) - of->begin / 64;
    self->cpu.part.first_unit = of->begin / 64;
    td_status status = td_cpu_step(&self->cpu, kernel, words, TD_WORDS_AT_A_TIME, words + td_page_edges(set, page),
                                   sum);
    self->cpu.part.first_unit = 0;
    return status;
}

void td_hybrid_add(td_cpu_tally *sum, const td_cpu_tally *more, int measure)
{
    sum->edges += more->edges;
    sum->activated += more->activated;
    sum->activated_edges += more->activated_edges;
    sum->total += more->total;
    sum->share += more->share;
    if (measure == TD_MEASURE_MAX) sum->change = td_larger_change(sum->change, more->change);
    else sum->change += more->change;
    if (more->lowest < sum->lowest) sum->lowest = more->lowest;
}

static double value_of(const td_held_page *page, const uint64_t *next)
{
    uint64_t active = 0;
    if (next == NULL) return 1;
    for (uint64_t w = page->begin / 64; w < td_bitmap_words(page->end); w++)
        active += (uint64_t)__builtin_popcountll(next[w]);
    return active > 0 ? (double)active : IDLE_VALUE;
}

/* Advances a virtual clock by work of the CPU alone, and measures the CPU's rate before the first pull. */
static void note_alone(td_hybrid_job *self, uint64_t edges, uint64_t began)
{
    if (self->gpu == NULL) return;
    td_device *device = self->gpu->job.device;
    td_device_host_worked(device, edges * TD_HYBRID_EDGE_BYTES);
    if (self->cpu_rate == 0) td_hybrid_update_rate(&self->cpu_rate, edges, td_device_clock(device) - began);
}

td_status td_hybrid_go(td_hybrid_job *self, const td_hybrid_pass *pass, td_cpu_tally *sum)
{
    td_page_pass pages = {.set = pass->set, .needs = pass->needs, .order = self->order, .count = self->order_count,
                          .only = pass->only, .part = pass->only != NULL ? 1 / self->ratio : 0};
    uint64_t began = self->gpu != NULL ? td_device_clock(self->gpu->job.device) : 0;
    *sum = (td_cpu_tally){.lowest = UINT64_MAX};
    TD_CHECK(td_paged_begin(self->paged, &pages));
    for (uint32_t i = 0; i < self->order_count; i++) {
        td_cpu_tally more = {.lowest = UINT64_MAX};
        uint32_t page = self->order[i];
        TD_CHECK(td_paged_wait(self->paged, i));
        TD_CHECK(pass->work(self, pass->set, page, &more));
        td_hybrid_add(sum, &more, self->cpu.kernels->measure);
        TD_CHECK(td_paged_leave(self->paged, i, value_of(&pass->set->pages[page], pass->next)));
        TD_CHECK(td_cancel_check());
    }
    self->row.pages_cpu += self->order_count;
    note_alone(self, sum->edges, began);
    return TD_OK;
}

/* Iterations. */

td_status td_hybrid_begin(td_hybrid_job *self)
{
    self->row = (td_row){0};
    self->before = td_paged_count(self->paged);
    return TD_OK;
}

td_status td_hybrid_end(td_hybrid_job *self, const char *direction, const td_cpu_tally *sum, uint64_t began)
{
    td_paged_counts now = td_paged_count(self->paged);
    td_row *row = &self->row;
    if (row->alpha == 0) td_hybrid_estimate(self); /* no pull was considered */
    row->direction = direction;
    row->edges = sum->edges;
    row->change = sum->change;
    row->page_hits = now.hits - self->before.hits;
    row->page_misses = now.misses - self->before.misses;
    row->evictions = (uint32_t)(now.evictions - self->before.evictions);
    row->disk_reads = now.reads - self->before.reads;
    row->disk_bytes = now.bytes - self->before.bytes;
    row->disk_wait_seconds = now.wait_seconds - self->before.wait_seconds;
    return td_cpu_end_iteration(&self->cpu, row, began);
}

td_status td_hybrid_checkpoint(td_hybrid_job *self, const uint64_t *active)
{
    td_state *state = td_checkpoint_due(self->cpu.run, &self->cpu.context);
    return state != NULL ? td_cpu_save(&self->cpu, state, active) : TD_OK;
}
