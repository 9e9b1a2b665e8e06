/* Core numbers from disk. Peeling pushes every edge once but runs hundreds of rounds, each of which reads the pages of
 * a few vertices. Instead every vertex has a bound, at first its degree, which falls to the largest k such that k
 * neighbours have a bound of at least k; when no bound falls any more, the bounds are the core numbers (SemiCore*: Wen,
 * Qin, Zhang, Lin, Yu, "I/O efficient core graph decomposition at web scale", ICDE'16). Bounds fall in any order, so
 * that a page in memory serves all its active vertices. `support` is the exact number of neighbours whose bound is at
 * least the vertex's own; the vertex becomes active when its support is below its bound.
 *
 * A page is processed in two steps, so that counts stay exact with several workers: first bounds fall; then, while no
 * bound changes, support is recounted and neighbours lose support. Values and the active bitmap are the cpu engine's
 * arrays. */
#include "engine/hybrid/hybrid.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/clock.h"

#include <string.h>

enum { BINS = 1 << 12 };          /* bins of a worker's histogram of bounds */
enum { WORDS_AT_A_TIME = 1 };     /* one word at a time, because lists may be long */

typedef struct step {
    td_hybrid_job *job;
    uint64_t first_word;
    _Atomic uint64_t edges;
} step;

/* Bounds need no levels; checkpoints and limits on iterations do. */
static bool by_bounds(const td_cpu_kernels *k, const td_run_options *options)
{
    bool peels = k->schedule == TD_SCHEDULE_PEEL;
    return peels && !options->has_iterations && options->checkpoint == NULL && options->resume == NULL;
}

uint64_t td_hybrid_cores_bytes(const td_cpu_kernels *k, const td_run_options *options, uint64_t vertices)
{
    uint64_t bins = (uint64_t)td_pool_threads(options->pool) * BINS;
    return by_bounds(k, options) ? (vertices + bins) * sizeof(uint32_t) : 0;
}

td_status td_hybrid_open_cores(td_hybrid_job *self)
{
    const td_cpu_job *cpu = &self->cpu;
    self->cores = self->paged != NULL && by_bounds(cpu->kernels, cpu->options);
    if (self->paged != NULL && !self->cores && cpu->kernels->schedule == TD_SCHEDULE_PEEL)
        td_info("%s: with {checkpoint}, {resume} or {iterations} it peels level by level, which reads several times as "
                "much from disk",
                cpu->run->program->info->name);
    if (!self->cores) return TD_OK;
    self->pulls_what_it_pushes = cpu->view.lists == 2 || cpu->graph->symmetric;
    TD_CHECK(TD_NEW(&self->support, cpu->graph->vertices, "neighbours of high bounds"));
    return TD_NEW(&self->bins, (uint64_t)td_pool_threads(cpu->pool) * BINS, "counts of bounds");
}

void td_hybrid_close_cores(td_hybrid_job *self)
{
    td_free(self->support);
    td_free(self->bins);
}

static uint32_t bound_of(const uint32_t *bounds, uint32_t v) { return __atomic_load_n(&bounds[v], __ATOMIC_RELAXED); }

/* Histogram of the neighbours' bounds, low..high in bins of 2^shift; higher bounds count in the last bin. */
static void count_bins(const td_cpu_job *cpu, uint32_t v, uint32_t low, uint32_t high, int shift, uint32_t *bins)
{
    const uint32_t *bounds = cpu->values;
    memset(bins, 0, (((high - low) >> shift) + 1) * sizeof *bins);
    for (int l = 0; l < cpu->view.lists; l++) {
        const td_adjacency *list = &cpu->view.pull[l];
        for (uint64_t e = list->offsets[v]; e < list->offsets[v + 1]; e++) {
            uint32_t u = list->targets[e], bound = bound_of(bounds, u);
            if (u == v || bound < low) continue;
            bins[((bound < high ? bound : high) - low) >> shift]++;
        }
    }
}

/* The largest k up to `bound` such that k neighbours have a bound of at least k: first the bin, then the value within
 * it. The result is too large if neighbours' bounds fall meanwhile; the support shows that afterwards. */
static uint32_t fallen(const td_cpu_job *cpu, uint32_t v, uint32_t bound, uint32_t *bins)
{
    uint32_t low = 0, high = bound;
    for (;;) {
        int shift = 0;
        while ((high - low) >> shift >= BINS) shift++;
        count_bins(cpu, v, low, high, shift, bins);
        uint32_t bin = (high - low) >> shift;
        uint64_t have = bins[bin];
        while (bin > 0 && have < low + ((uint64_t)bin << shift)) have += bins[--bin];
        if (shift == 0) return low + bin;
        low += bin << shift;
        if (high - low >= UINT32_C(1) << shift) high = low + (UINT32_C(1) << shift) - 1;
    }
}

/* The array `support` holds the old bound until the new support is counted. */
static td_status let_fall(void *context, uint64_t begin, uint64_t end, int worker)
{
    step *self = context;
    td_cpu_job *cpu = &self->job->cpu;
    uint32_t *bounds = cpu->values, *bins = self->job->bins + (uint64_t)worker * BINS;
    uint64_t edges = 0;
    for (uint64_t w = self->first_word + begin; w < self->first_word + end; w++)
        for (uint64_t rest = cpu->frontier.active[w]; rest != 0; rest &= rest - 1) {
            uint32_t v = (uint32_t)(w * 64 + (uint64_t)__builtin_ctzll(rest)), old = bounds[v];
            self->job->support[v] = old;
            __atomic_store_n(&bounds[v], fallen(cpu, v, old, bins), __ATOMIC_RELAXED);
            edges += td_cpu_pull_degree(cpu, v);
        }
    self->edges += edges;
    return TD_OK;
}

/* A neighbour with a bound between the vertex's old and new one loses support. Active neighbours recount theirs
 * anyway. */
static void take_support(td_hybrid_job *self, uint32_t u)
{
    td_cpu_job *cpu = &self->cpu;
    const uint32_t *bounds = cpu->values;
    if (td_bit_get(cpu->frontier.active, u)) return;
    if (__atomic_sub_fetch(&self->support[u], 1, __ATOMIC_RELAXED) < bounds[u])
        td_bit_set_atomic(cpu->frontier.next_active, u);
}

/* Counts a vertex's support. If in- and out-lists are the same, its neighbours lose support in the same scan. */
static uint32_t count_support(td_hybrid_job *self, uint32_t v, uint32_t old)
{
    const td_cpu_job *cpu = &self->cpu;
    const uint32_t *bounds = cpu->values;
    uint32_t count = 0, bound = bounds[v], lost = self->pulls_what_it_pushes ? old - bound : 0;
    for (int l = 0; l < cpu->view.lists; l++) {
        const td_adjacency *list = &cpu->view.pull[l];
        for (uint64_t e = list->offsets[v]; e < list->offsets[v + 1]; e++) {
            uint32_t u = list->targets[e], other = bounds[u];
            count += other >= bound && u != v;
            if (other - bound - 1 < lost) take_support(self, u);
        }
    }
    return count;
}

static void withdraw_support(td_hybrid_job *self, uint32_t v, uint32_t old)
{
    const uint32_t *bounds = self->cpu.values;
    const td_adjacency *list = &self->cpu.view.push[0];
    for (uint64_t e = list->offsets[v]; e < list->offsets[v + 1]; e++)
        if (bounds[list->targets[e]] - bounds[v] - 1 < old - bounds[v]) take_support(self, list->targets[e]);
}

static td_status update_page(void *context, uint64_t begin, uint64_t end, int worker)
{
    step *self = context;
    td_cpu_job *cpu = &self->job->cpu;
    const uint32_t *bounds = cpu->values;
    uint32_t *support = self->job->support;
    (void)worker;
    for (uint64_t w = self->first_word + begin; w < self->first_word + end; w++)
        for (uint64_t rest = cpu->frontier.active[w]; rest != 0; rest &= rest - 1) {
            uint32_t v = (uint32_t)(w * 64 + (uint64_t)__builtin_ctzll(rest)), old = support[v];
            if (!self->job->pulls_what_it_pushes && bounds[v] < old) withdraw_support(self->job, v, old);
            support[v] = count_support(self->job, v, old);
            if (support[v] < bounds[v]) td_bit_set_atomic(cpu->frontier.next_active, v);
        }
    return TD_OK;
}

static td_status work_once(td_hybrid_job *self, const td_held_page *page, td_cpu_tally *sum)
{
    td_cpu_job *cpu = &self->cpu;
    step now = {.job = self, .first_word = page->begin / 64};
    uint64_t words = td_bitmap_words(page->end) - now.first_word;
    TD_CHECK(td_pool_for(cpu->pool, words, WORDS_AT_A_TIME, let_fall, &now));
    TD_CHECK(td_pool_for(cpu->pool, words, WORDS_AT_A_TIME, update_page, &now));
    memset(cpu->frontier.active + now.first_word, 0, words * sizeof *cpu->frontier.active);
    sum->edges += now.edges;
    return TD_OK;
}

/* Vertices activated since the pass began are processed too if the whole page is in memory. */
static td_status work_page(td_hybrid_job *self, td_page_set *set, uint32_t page, td_cpu_tally *sum)
{
    const td_held_page *of = &set->pages[page];
    bool whole = td_paged_is_whole(self->paged, set, page), again = of->whole;
    if (whole) (void)td_hybrid_take_activated(&self->cpu, of);
    TD_CHECK(work_once(self, of, sum));
    for (uint32_t round = 1; again && round < self->most_rounds && td_hybrid_take_activated(&self->cpu, of); round++) {
        TD_CHECK(work_once(self, of, sum));
        self->row.rounds++;
    }
    return TD_OK;
}

static void begin_with_all(td_cpu_job *cpu)
{
    const uint32_t *bounds = cpu->values;
    memset(cpu->frontier.active, 0, td_cpu_words(cpu) * sizeof *cpu->frontier.active);
    for (uint32_t v = 0; v < cpu->graph->vertices; v++)
        if (bounds[v] > 0) td_bit_set(cpu->frontier.active, v);
}

td_status td_hybrid_find_cores(td_hybrid_job *self)
{
    td_cpu_job *cpu = &self->cpu;
    td_cpu_tally sum;
    TD_CHECK(td_cpu_init(cpu, &sum));
    begin_with_all(cpu);
    memcpy(self->support, cpu->values, cpu->graph->vertices * sizeof *self->support);
    for (;;) {
        uint64_t began = td_clock_ns();
        TD_CHECK(td_hybrid_begin(self));
        TD_CHECK(td_hybrid_count(self, self->push, cpu->frontier.active, &self->row.active_vertices,
                                 &self->row.active_edges));
        if (self->row.active_vertices == 0) break;
        td_hybrid_order_useful(self, self->push);
        td_hybrid_pass pass = {.set = self->push, .only = cpu->frontier.active, .next = cpu->frontier.next_active,
                               .work = work_page};
        TD_CHECK(td_hybrid_go(self, &pass, &sum));
        td_hybrid_swap(&cpu->frontier.active, &cpu->frontier.next_active);
        TD_CHECK(td_hybrid_end(self, "bounds", &sum, began));
    }
    cpu->run->converged = true;
    return TD_OK;
}
