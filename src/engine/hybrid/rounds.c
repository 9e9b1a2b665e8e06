/* Rounds by pages. Fused programs push: a pass processes the pages with active vertices, and a page whose edges stay
 * near it is processed for several rounds while it is in memory. Other programs pull in Garaph's dual mode (section
 * 4.3): all pages; or, if few vertices are notified, active vertices notify and only pages with notified vertices are
 * read. */
#include "engine/hybrid/hybrid.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <string.h>

void td_hybrid_swap(void *a, void *b)
{
    void *keep;
    memcpy(&keep, a, sizeof keep);
    memcpy(a, b, sizeof keep);
    memcpy(b, &keep, sizeof keep);
}

/* Clears the bitmap `done`, except the bits behind the last vertex. */
static void clear_done(td_cpu_job *cpu)
{
    uint64_t words = td_cpu_words(cpu), last = cpu->graph->vertices % 64;
    memset(cpu->frontier.done, 0, words * 8);
    if (last > 0) cpu->frontier.done[words - 1] = ~UINT64_C(0) << last;
}

/* A page of a pull. */
static td_status pull_page(td_hybrid_job *self, td_page_set *set, uint32_t page, td_cpu_tally *sum)
{
    td_cpu_job *cpu = &self->cpu;
    TD_CHECK(td_cpu_cut(cpu, set->pages[page].begin, set->pages[page].end));
    TD_CHECK(td_cpu_step(cpu, cpu->kernels->pull, cpu->cut.pieces, 1, td_page_edges(set, page), NULL));
    cpu->kernels->merge(cpu);
    *sum = td_cpu_sum(cpu);
    return TD_OK;
}

/* Push. */

static td_status push_once(td_hybrid_job *self, td_page_set *set, uint32_t page, td_cpu_tally *sum)
{
    td_cpu_job *cpu = &self->cpu;
    td_cpu_tally more;
    cpu->high.count = 0;
    TD_CHECK(td_hybrid_step(self, cpu->kernels->push_words, set, page, &more));
    TD_CHECK(td_cpu_high_degree_step(cpu, cpu->kernels->push_high_degree, &more));
    td_hybrid_add(sum, &more, TD_MEASURE_NONE);
    return TD_OK;
}

/* Activates the page's vertices that changed meanwhile; false if there are none. */
bool td_hybrid_take_activated(td_cpu_job *cpu, const td_held_page *page)
{
    uint64_t any = 0;
    for (uint64_t w = page->begin / 64; w < td_bitmap_words(page->end); w++) {
        any |= cpu->frontier.next_active[w];
        cpu->frontier.active[w] |= cpu->frontier.next_active[w];
        cpu->frontier.next_active[w] = 0;
    }
    return any != 0;
}

static td_status push_page(td_hybrid_job *self, td_page_set *set, uint32_t page, td_cpu_tally *sum)
{
    td_cpu_job *cpu = &self->cpu;
    bool again = set->pages[page].whole;
    if (again) (void)td_hybrid_take_activated(cpu, &set->pages[page]);
    TD_CHECK(push_once(self, set, page, sum));
    for (uint32_t round = 1; again && round < self->most_rounds; round++) {
        if (!td_hybrid_take_activated(cpu, &set->pages[page])) break;
        TD_CHECK(push_once(self, set, page, sum));
        self->row.rounds++;
    }
    return TD_OK;
}

static td_status push_for_active(td_hybrid_job *self, td_cpu_tally *sum)
{
    td_hybrid_order_useful(self, self->push);
    td_hybrid_pass pass = {.set = self->push, .needs = self->needs, .only = self->cpu.frontier.active,
                           .next = self->cpu.frontier.next_active, .work = push_page};
    return td_hybrid_go(self, &pass, sum);
}

/* All vertices pull, which is fast on a GPU. */
static td_status pull_for_all(td_hybrid_job *self, td_cpu_tally *sum)
{
    td_hybrid_order_all(self, self->pull);
    td_hybrid_pass pass = {.set = self->pull, .needs = self->needs, .work = pull_page};
    return td_hybrid_dispatch(self, &pass, sum);
}

/* Chooses the pages that are processed for several rounds. Their active vertices are not known in advance, so the whole
 * page must be read. Without such pages a search proceeds level by level. */
static void choose_local(td_hybrid_job *self)
{
    td_cpu_job *cpu = &self->cpu;
    bool rounds = self->most_rounds > 1 && !cpu->setup.has_limit && cpu->view.lists == 1, any = false;
    for (uint32_t p = 0; p < self->push->count; p++) {
        self->push->pages[p].whole = rounds && td_hybrid_is_local(self, self->push, p);
        any = any || self->push->pages[p].whole;
    }
    self->by_levels = !any && cpu->kernels->first_hit && !cpu->setup.async && cpu->run->resumed == NULL;
}

/* Bottom-up step of a search by levels: unreached vertices look for one active neighbour. */

static td_status find_unreached(td_hybrid_job *self, uint64_t *edges)
{
    td_cpu_job *cpu = &self->cpu;
    uint64_t words = td_cpu_words(cpu), vertices;
    if (cpu->frontier.marked == NULL) TD_CHECK(TD_NEW(&cpu->frontier.marked, words, "vertices not reached"));
    if (cpu->frontier.done == NULL) {
        TD_CHECK(TD_NEW(&cpu->frontier.done, words, "settled vertices"));
        clear_done(cpu);
    }
    TD_CHECK(td_cpu_step(cpu, cpu->kernels->settle_words, words, 64, cpu->graph->vertices, NULL));
    for (uint64_t w = 0; w < words; w++) cpu->frontier.marked[w] = ~cpu->frontier.done[w];
    return td_hybrid_count(self, self->pull, cpu->frontier.marked, &vertices, edges);
}

static uint32_t any_active(const td_cpu_job *cpu)
{
    uint64_t w = 0;
    while (cpu->frontier.active[w] == 0) w++;
    return (uint32_t)(w * 64 + (uint64_t)__builtin_ctzll(cpu->frontier.active[w]));
}

static td_status hit_page(td_hybrid_job *self, td_page_set *set, uint32_t page, td_cpu_tally *sum)
{
    return td_hybrid_step(self, self->cpu.kernels->pull_hit, set, page, sum);
}

/* Pulls if the unreached vertices have at most twice the edges of the active ones. */
static td_status choose_pull(td_hybrid_job *self, bool *pulls)
{
    td_cpu_job *cpu = &self->cpu;
    uint64_t unreached, vertices, active;
    *pulls = false;
    if (!self->by_levels || (!self->pulled && self->row.active_edges < td_cpu_view_edges(cpu) / 8)) return TD_OK;
    TD_CHECK(find_unreached(self, &unreached));
    *pulls = self->pulled = unreached <= 2 * self->row.active_edges;
    return *pulls ? TD_OK : td_hybrid_count(self, self->push, cpu->frontier.active, &vertices, &active);
}

static td_status pull_unreached(td_hybrid_job *self, td_cpu_tally *sum)
{
    td_cpu_job *cpu = &self->cpu;
    cpu->frontier.an_active = any_active(cpu);
    td_hybrid_order_useful(self, self->pull);
    td_hybrid_pass pass = {.set = self->pull, .only = cpu->frontier.marked, .next = cpu->frontier.marked,
                           .work = hit_page};
    return td_hybrid_go(self, &pass, sum);
}

/* Pushes until no vertex is active: one level of peeling, or the whole run. */
static td_status push_out(td_hybrid_job *self)
{
    td_cpu_job *cpu = &self->cpu;
    while (cpu->context.iteration < cpu->setup.limit) {
        uint64_t began = td_clock_ns();
        td_cpu_tally sum;
        TD_CHECK(td_hybrid_begin(self));
        TD_CHECK(td_hybrid_count(self, self->push, cpu->frontier.active, &self->row.active_vertices,
                                 &self->row.active_edges));
        if (self->row.active_vertices == 0) return TD_OK;
        bool hits = false;
        if (self->use != TD_USE_GPU) TD_CHECK(choose_pull(self, &hits)); /* the pull needs no GPU */
        bool gpu = !hits && td_hybrid_invokes_gpu(self);
        if (gpu) self->by_levels = false; /* Reading a neighbour that was updated in this iteration yields a level one
                                           * too high. */
        TD_CHECK(td_cpu_keep_values(cpu));
        TD_CHECK(gpu ? pull_for_all(self, &sum) : hits ? pull_unreached(self, &sum) : push_for_active(self, &sum));
        memset(cpu->frontier.active, 0, td_cpu_words(cpu) * 8); /* vertices without edges are in no page of the pass */
        td_hybrid_swap(&cpu->frontier.active, &cpu->frontier.next_active);
        TD_CHECK(td_hybrid_end(self, gpu || hits ? "pull" : "push", &sum, began));
        TD_CHECK(td_hybrid_checkpoint(self, cpu->frontier.active));
    }
    return TD_OK;
}

static bool anyone_active(const td_cpu_job *cpu)
{
    for (uint64_t w = 0; w < td_cpu_words(cpu); w++)
        if (cpu->frontier.active[w] != 0) return true;
    return false;
}

td_status td_hybrid_push_rounds(td_hybrid_job *self)
{
    td_cpu_tally sum;
    choose_local(self);
    TD_CHECK(td_cpu_make_high_degree_list(&self->cpu));
    TD_CHECK(td_cpu_init(&self->cpu, &sum));
    TD_CHECK(push_out(self));
    self->cpu.run->converged = !anyone_active(&self->cpu);
    return TD_OK;
}

/* Peeling: level by level. */

td_status td_hybrid_peel(td_hybrid_job *self)
{
    td_cpu_job *cpu = &self->cpu;
    td_cpu_tally sum;
    choose_local(self);
    TD_CHECK(td_cpu_make_high_degree_list(cpu));
    TD_CHECK(td_cpu_init(cpu, &sum));
    clear_done(cpu);
    if (cpu->setup.resumed) { /* resumed within a level */
        TD_CHECK(push_out(self));
        cpu->context.phase++;
    }
    for (uint64_t left = cpu->graph->vertices; left > 0;) {
        TD_CHECK(td_cpu_step(cpu, cpu->kernels->peel_words, td_cpu_words(cpu), 64, cpu->graph->vertices, &sum));
        left = sum.total;
        TD_CHECK(push_out(self));
        if (cpu->context.iteration >= cpu->setup.limit) return TD_OK;
        cpu->context.phase = sum.activated > 0 ? cpu->context.phase + 1 : (uint32_t)sum.lowest;
    }
    cpu->run->converged = true;
    return TD_OK;
}

/* Pull. */

/* Vertices that are not notified keep their values. */
static void carry_over(td_hybrid_job *self, uint32_t first, uint32_t end)
{
    td_cpu_job *cpu = &self->cpu;
    const td_cpu_kernels *k = cpu->kernels;
    if (cpu->next_values != cpu->values)
        memcpy((char *)cpu->next_values + first * k->value_bytes, (char *)cpu->values + first * k->value_bytes,
               (end - first) * k->value_bytes);
    if (!k->sends_value && cpu->next_messages != cpu->messages)
        memcpy((char *)cpu->next_messages + first * k->message_bytes, (char *)cpu->messages + first * k->message_bytes,
               (end - first) * k->message_bytes);
}

static void commit_pull(td_cpu_job *cpu)
{
    if (cpu->next_values != cpu->values) td_hybrid_swap(&cpu->values, &cpu->next_values);
    if (cpu->kernels->sends_value) {
        cpu->messages = cpu->values;
        cpu->next_messages = cpu->next_values;
    } else {
        td_hybrid_swap(&cpu->messages, &cpu->next_messages);
    }
}

static td_status pull_all(td_hybrid_job *self, bool all_vertices, td_cpu_tally *sum)
{
    td_cpu_job *cpu = &self->cpu;
    if (cpu->setup.track) memset(cpu->frontier.next_active, 0, td_cpu_words(cpu) * 8);
    td_hybrid_order_all(self, self->pull);
    bool gpu = td_hybrid_invokes_gpu(self);
    if (cpu->setup.track && !all_vertices && !gpu) td_hybrid_skip_idle(self, self->pull, carry_over);
    td_hybrid_pass pass = {.set = self->pull, .needs = self->needs, .work = pull_page};
    TD_CHECK(gpu ? td_hybrid_dispatch(self, &pass, sum) : td_hybrid_go(self, &pass, sum));
    commit_pull(cpu);
    return TD_OK;
}

static td_status notify_page(td_hybrid_job *self, td_page_set *set, uint32_t page, td_cpu_tally *sum)
{
    return td_hybrid_step(self, self->cpu.kernels->notify, set, page, sum);
}

static td_status pull_marked_page(td_hybrid_job *self, td_page_set *set, uint32_t page, td_cpu_tally *sum)
{
    return td_hybrid_step(self, self->cpu.kernels->pull_marked, set, page, sum);
}

static td_status notify_pull(td_hybrid_job *self, td_cpu_tally *sum)
{
    td_cpu_job *cpu = &self->cpu;
    td_cpu_tally notified;
    uint64_t words = td_cpu_words(cpu), vertices, edges;
    if (cpu->frontier.marked == NULL) TD_CHECK(TD_NEW(&cpu->frontier.marked, words, "notified vertices"));
    memset(cpu->frontier.marked, 0, words * 8);
    memset(cpu->frontier.next_active, 0, words * 8);
    td_hybrid_order_useful(self, self->push); /* counted with the frontier */
    td_hybrid_pass notify_pass = {.set = self->push, .only = cpu->frontier.active, .next = cpu->frontier.next_active,
                                  .work = notify_page};
    TD_CHECK(td_hybrid_go(self, &notify_pass, &notified));
    TD_CHECK(td_hybrid_count(self, self->pull, cpu->frontier.marked, &vertices, &edges));
    td_hybrid_order_useful(self, self->pull);
    td_hybrid_pass pulling = {.set = self->pull, .needs = self->needs, .only = cpu->frontier.marked,
                              .next = cpu->frontier.next_active,
                              .work = pull_marked_page};
    TD_CHECK(td_hybrid_go(self, &pulling, sum));
    sum->edges += notified.edges;
    if (cpu->next_values == cpu->values && cpu->next_messages == cpu->messages) return TD_OK;
    return td_cpu_step(cpu, cpu->kernels->commit_marked, words, 64, words, NULL);
}

/* Garaph: f <= 1/2 in memory, f <= 1/(2k) from disk. */
static bool few_notified(const td_hybrid_job *self)
{
    double f = (double)self->row.active_edges / (double)(td_cpu_view_edges(&self->cpu) + 1);
    return f <= 1 / (2 * self->ratio);
}

static td_status pull_iteration(td_hybrid_job *self, td_cpu_tally *sum)
{
    td_cpu_job *cpu = &self->cpu;
    uint64_t began = td_clock_ns();
    bool all_vertices = cpu->context.iteration == 0 || cpu->global_moved || !cpu->setup.track;
    bool notify = !all_vertices &&
                  (cpu->setup.direction == TD_DIRECTION_NOTIFY ||
                   (cpu->setup.direction == TD_DIRECTION_AUTO && few_notified(self)));
    cpu->part.partial = notify;
    TD_CHECK(notify ? notify_pull(self, sum) : pull_all(self, all_vertices, sum));
    TD_CHECK(td_cpu_check_convergence(cpu, sum));
    if (cpu->part.partial) sum->share += cpu->context.global;
    cpu->global_moved = sum->share != cpu->context.global;
    cpu->context.global = sum->share;
    if (cpu->setup.track) td_hybrid_swap(&cpu->frontier.active, &cpu->frontier.next_active);
    return td_hybrid_end(self, notify ? "notify" : "pull", sum, began);
}

td_status td_hybrid_pull_rounds(td_hybrid_job *self)
{
    td_cpu_job *cpu = &self->cpu;
    td_cpu_tally sum;
    cpu->setup.track = td_hybrid_tracks(cpu->kernels, cpu->setup.direction);
    TD_CHECK(td_cpu_init(cpu, &sum));
    cpu->global_moved = cpu->setup.resumed; /* unknown after a checkpoint */
    while (cpu->context.iteration < cpu->setup.limit) {
        TD_CHECK(td_hybrid_begin(self));
        TD_CHECK(td_hybrid_count(self, self->push, cpu->frontier.active, &self->row.active_vertices,
                                 &self->row.active_edges));
        if (cpu->setup.track && self->row.active_vertices == 0) break;
        TD_CHECK(pull_iteration(self, &sum));
        TD_CHECK(td_hybrid_checkpoint(self, cpu->setup.track ? cpu->frontier.active : NULL));
        if (cpu->run->converged) return TD_OK;
    }
    if (cpu->setup.track && !anyone_active(cpu)) cpu->run->converged = true;
    return TD_OK;
}
