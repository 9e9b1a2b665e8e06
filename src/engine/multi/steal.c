/* Frontier stealing: the work of an iteration, divided over the GPUs so that the one that takes longest takes as short as
 * possible (decide.h). A thief gets consecutive vertices of a fragment's frontier, which it processes along the lists in
 * the victim's memory; a steal lasts one iteration. */
#include "engine/multi/multi.h"

#include "base/clock.h"

#include <math.h>
#include <string.h>

/* What is known before the first iteration. Seconds are refined by measurements; before any, they only have to be of the
 * right magnitude. */
static const double FIRST_EDGE_SECONDS = 1e-10, FIRST_STEAL_SECONDS = 200e-6, FIRST_SYNC_SECONDS = 10e-6,
                    SEARCH_SECONDS = 4e-8, CHANGE_SECONDS = 200e-6, SHARED_CHANGE_SECONDS = 20e-6;
/* How much of what a steal took beyond its prediction is believed at once, and forgotten with every steal that is declined
 * for it, so that another is tried some time. */
static const double BELIEVED = 0.5, FORGOTTEN = 0.02;
enum { LEAST_EDGES = 256 }; /* smaller iterations take as long as their launches, whatever an edge costs */

/* Bytes that a thief reads for an edge: its target and weight, and a vertex's share of offsets. */
static double edge_bytes(const td_multi_job *self)
{
    const td_gpu_job *job = &self->gpu[0].job;
    double degree = (double)(td_gpu_view_edges(job) + 1) / (double)(job->graph->vertices + 1);
    return (double)(sizeof(uint32_t) + td_gpu_weight_bytes(job)) + 2 * sizeof(uint64_t) / fmax(degree, 1);
}

/* Goes on with what the last run of this program on this graph has learned. */
static void begin_learned(td_multi_job *self)
{
    td_multi_learned *learned = &self->balance.learned;
    *learned = self->layout->learned;
    if (learned->program == self->run->program) return;
    *learned = (td_multi_learned){.program = self->run->program, .steal_seconds = FIRST_STEAL_SECONDS, .steal_factor = 1};
    for (int work = 0; work < TD_WORKS; work++)
        for (int i = 0; i < self->count; i++) {
            learned->edge_seconds[work][i] = FIRST_EDGE_SECONDS;
            learned->model_factor[work][i] = 1;
        }
    td_sync_cost_begin(&learned->sync, self->count, FIRST_SYNC_SECONDS);
}

void td_multi_keep_learned(td_multi_job *self)
{
    self->layout->learned = self->balance.learned;
    self->layout->learned.has_exact = self->set.cost == TD_COST_EXACT;
}

td_status td_multi_open_balance(td_multi_job *self)
{
    td_multi_balance *balance = &self->balance;
    double rates[TD_FRAGMENTS * TD_FRAGMENTS];
    int n = self->count;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double rate = i != j && self->exchange.box[j].reads[i] ? self->exchange.rate[i][j] : 0;
            rates[i * n + j] = rate;
            balance->link_seconds[i][j] = i == j ? 0 : rate > 0 ? edge_bytes(self) / rate : INFINITY;
        }
    for (int i = 0; i < n; i++) balance->speed[i] = td_multi_speed(self->gpu[i].job.device);
    begin_learned(self);
    TD_CHECK(td_reduction_tree_make(n, rates, NULL, &balance->tree));
    for (balance->least_group = n; balance->least_group > 1; balance->least_group--)
        for (int k = 0, m = balance->least_group - 1; k < n; k++)
            if (!isfinite(balance->link_seconds[k][balance->tree.owner[m][k]])) return TD_OK;
    return TD_OK;
}

/* Deciding. */

/* Of an edge of fragment i on GPU j, without the link: the fragment's own GPU may be faster or slower. */
static double seconds_on(const td_multi_balance *balance, int i, int j)
{
    double own = balance->is_predicted ? balance->predicted_seconds[i] : balance->learned.edge_seconds[balance->work][i];
    return own * (balance->speed[i] / balance->speed[j]);
}

static void fill_costs(const td_multi_job *self, double *cost)
{
    const td_multi_balance *balance = &self->balance;
    for (int i = 0; i < self->count; i++)
        for (int j = 0; j < self->count; j++) {
            double link = balance->link_seconds[i][j];
            bool uniform = self->set.cost == TD_COST_UNIFORM && isfinite(link);
            cost[i * self->count + j] = uniform ? FIRST_EDGE_SECONDS : seconds_on(balance, i, j) + link;
        }
}

/* What an edge costs must be known before a division by it can gain anything: the first timed iteration measures. */
static bool knows_costs(const td_multi_job *self, td_multi_work work)
{
    if (self->set.cost == TD_COST_EXACT) return self->balance.is_predicted;
    bool given = self->set.t1 >= 0 || self->set.cost == TD_COST_UNIFORM;
    return given || self->balance.is_predicted || self->balance.learned.knows[work];
}

/* Seconds that a GPU was at work on its parts. */
static double busy_seconds(const td_multi_job *self, int j)
{
    uint64_t at = self->gpu[j].processed_at;
    return at > self->balance.began ? (double)(at - self->balance.began) * 1e-9 : 0;
}

/* Costs of the same iteration of the first run. */
static void recall_exact(td_multi_job *self)
{
    const td_multi_learned *learned = &self->balance.learned;
    uint32_t iteration = td_multi_first(self)->state.context.iteration;
    if (self->set.cost != TD_COST_EXACT || !learned->has_exact || iteration >= TD_EXACT_ITERATIONS) return;
    self->balance.is_predicted = true;
    for (int k = 0; k < self->count; k++) {
        double seconds = learned->exact_seconds[iteration][k];
        self->balance.predicted_seconds[k] = seconds > 0 ? seconds : FIRST_EDGE_SECONDS;
    }
}

static void note_exact(td_multi_job *self)
{
    td_multi_learned *learned = &self->balance.learned;
    uint32_t iteration = td_multi_first(self)->state.context.iteration;
    if (self->set.cost != TD_COST_EXACT || learned->has_exact || iteration >= TD_EXACT_ITERATIONS) return;
    for (int k = 0; k < self->count; k++)
        learned->exact_seconds[iteration][k] =
            self->balance.load[k] > 0 ? busy_seconds(self, k) / (double)self->balance.load[k] : 0;
}

/* Ownership moves where iterations may be tiny: rounds of pushes, whose frontiers can be anything. Remaining vertices of
 * a peeling stay where they are. */
static bool may_move(const td_multi_job *self, td_multi_work work)
{
    if (!self->set.moves_owners || work != TD_WORK_PUSH || self->traits->schedule == TD_SCHEDULE_PEEL) return false;
    if (self->set.t3 >= 0) return true;
    if (self->queues && self->now.edges <= self->set.queue_edges) return true; /* nothing is searched */
    /* Fewer GPUs search the frontier's whole bitmap, which must take less than what they can save. */
    int processors = self->gpu[0].job.device->properties.multiprocessors;
    double words = (double)self->graph->vertices / 32, search = words * SEARCH_SECONDS / (processors > 0 ? processors : 1);
    return search < td_sync_cost_fit(&self->balance.learned.sync, NULL) * (self->count - 1);
}

/* The paper's rule alone decides about steals. */
static bool given_thresholds(const td_multi_job *self) { return self->set.t1 >= 0 && self->set.t2 >= 0; }

static td_status decide(td_multi_job *self, td_multi_work work, bool steals)
{
    td_multi_balance *balance = &self->balance;
    const td_multi_settings *set = &self->set;
    double load[TD_FRAGMENTS], cost[TD_FRAGMENTS * TD_FRAGMENTS];
    for (int i = 0; i < self->count; i++) load[i] = (double)balance->load[i];
    td_multi_predict(self, work);
    recall_exact(self);
    fill_costs(self, cost);
    bool given = given_thresholds(self);
    td_decide_input in = {.n = self->count, .load = load, .cost = cost, .tree = &balance->tree,
                          .least_group = balance->least_group,
                          .p = td_sync_cost_fit(&balance->learned.sync, NULL),
                          .steal_seconds = given ? 0 : balance->learned.steal_seconds,
                          .steal_factor = given ? 1 : balance->learned.steal_factor,
                          .change_seconds = self->shared ? SHARED_CHANGE_SECONDS : CHANGE_SECONDS, .t1 = set->t1, .t2 = set->t2, .t3 = set->t3,
                          .last_seconds = balance->last_seconds, .steal_frontiers = steals && knows_costs(self, work),
                          .steal_ownership = may_move(self, work)};
    TD_CHECK(td_decide(&in, &balance->state, &balance->decision));
    if (set->steals && balance->decision.steal == TD_STEAL_OFF)
        balance->decision.steal = steals ? TD_STEAL_UNKNOWN : TD_STEAL_SMALL;
    return td_multi_move(self, balance->decision.owner);
}

/* Cutting. */

/* Where GPU `gpu` begins in a fragment's edges: the owner's share comes first, then the thieves' in their order. */
static uint64_t edges_before(const td_multi_job *self, int fragment, int owner, int gpu)
{
    const uint64_t *share = &self->balance.share[fragment * self->count];
    uint64_t before = gpu == owner ? 0 : share[owner];
    for (int j = 0; j < gpu && gpu != owner; j++)
        if (j != owner) before += share[j];
    return before;
}

static void add_part(td_multi_job *self, td_multi_part part)
{
    if (part.first < part.end) self->balance.part[self->balance.parts++] = part;
}

/* Who takes part of a fragment, in the order of their parts; how many. */
static int takers_of(const td_multi_job *self, int fragment, int owner, int *takers)
{
    int count = 0;
    takers[count++] = owner;
    for (int j = 0; j < self->count; j++)
        if (j != owner && self->balance.share[fragment * self->count + j] > 0) takers[count++] = j;
    return count;
}

/* The owner's GPU searches the frontier for the vertices where each taker's edges end. */
static td_status queue_cuts(td_multi_job *self, td_multi_gpu *owner, int k, bool open)
{
    const td_multi_fragment *fragment = &self->layout->fragment[k];
    td_gpu_job *job = &owner->job;
    td_cut_args args = {.state = td_multi_state(owner, fragment), .map = open ? NULL : job->state.active,
                        .offsets = fragment->push.view.offsets, .tally = &owner->tally[k], .cuts = &owner->cuts[k],
                        .first_vertex = fragment->first, .end_vertex = fragment->end,
                        .chunk_words = td_multi_chunk_words(fragment)};
    int takers[TD_FRAGMENTS], count = takers_of(self, k, td_multi_index(self, owner), takers);
    for (int i = 1; i < count; i++) args.wanted[args.count++] = edges_before(self, k, takers[0], takers[i]);
    args.split_degree = open ? UINT32_MAX : job->high_degree;
    if (open) args.offsets = fragment->pull.view.offsets;
    return td_gpu_launch(job, job->stream, &job->kernels->cut_frontier, args.count * 32, &args);
}

/* `words`: takers write whole words of bitmaps. */
static void add_cut_parts(td_multi_job *self, int owner, int k, const td_frontier_cuts *cuts, bool words)
{
    const td_multi_fragment *fragment = &self->layout->fragment[k];
    int takers[TD_FRAGMENTS], count = takers_of(self, k, owner, takers);
    uint32_t first = fragment->first;
    uint64_t before = 0, first_edge = 0;
    for (int i = 0; i < count; i++) {
        bool last = i == count - 1, inside = !last && !words && cuts->edge[i] != UINT64_MAX;
        uint32_t end = last ? fragment->end : words ? cuts->vertex[i] / 32 * 32 : cuts->vertex[i];
        if (end < first) end = first;
        uint64_t until = last ? self->balance.load[k] : cuts->before[i], end_edge = inside ? cuts->edge[i] : 0;
        self->balance.share[k * self->count + takers[i]] = until - before;
        add_part(self, (td_multi_part){takers[i], k, first, end, until - before, first_edge, end_edge});
        first = inside ? end - 1 : end; /* a long list goes on in the next part */
        first_edge = end_edge;
        before = until;
    }
}

/* With the sums by chunks that cuts need. */
static td_status measure_again(td_multi_job *self, td_multi_map map)
{
    self->balance.tallies = true;
    TD_CHECK(td_multi_reset(self));
    TD_CHECK(td_multi_measure(self, map));
    return td_multi_wait(self);
}

/* Where the vertices without a value are, which only cuts need to know. The host's loads are estimates: those of pulls
 * follow what was measured. */
static td_status measure_open(td_multi_job *self)
{
    TD_CHECK(measure_again(self, TD_MAP_OPEN));
    TD_EACH_OWNED(self, owner, fragment) {
        int k = (int)(fragment - self->layout->fragment);
        uint64_t *share = &self->balance.share[k * self->count], found = owner->job.control->active_edges[k];
        double factor = self->balance.load[k] > 0 ? (double)found / (double)self->balance.load[k] : 0;
        for (int j = 0; j < self->count; j++) share[j] = (uint64_t)(factor * (double)share[j]);
        self->balance.load[k] = found;
    }
    return TD_OK;
}

/* All GPUs search before the first is waited for. */
static td_status read_cuts(td_multi_job *self, const bool *queued, td_frontier_cuts *cuts)
{
    td_stream *streams[TD_FRAGMENTS];
    int count = 0;
    TD_EACH_OWNED(self, owner, fragment) {
        int k = (int)(fragment - self->layout->fragment);
        if (!queued[k]) continue;
        TD_CHECK(td_stream_copy(owner->job.stream, &cuts[k], &owner->cuts[k], sizeof cuts[k], TD_TO_HOST));
        streams[count++] = owner->job.stream;
    }
    return td_streams_synchronize(streams, count);
}

static td_status cut_frontiers(td_multi_job *self, bool open)
{
    td_frontier_cuts cuts[TD_FRAGMENTS] = {0};
    bool queued[TD_FRAGMENTS] = {false};
    if (open && td_multi_is_stolen(self)) TD_CHECK(measure_open(self));
    if (!open && td_multi_is_stolen(self) && self->tally_stale) TD_CHECK(measure_again(self, TD_MAP_ACTIVE));
    TD_EACH_OWNED(self, owner, fragment) {
        int k = (int)(fragment - self->layout->fragment), takers[TD_FRAGMENTS];
        if (takers_of(self, k, td_multi_index(self, owner), takers) == 1) continue;
        TD_CHECK(queue_cuts(self, owner, k, open));
        queued[k] = true;
    }
    TD_CHECK(td_multi_end_copies(self, read_cuts(self, queued, cuts)));
    TD_EACH_OWNED(self, owner, fragment) {
        int k = (int)(fragment - self->layout->fragment), index = td_multi_index(self, owner);
        if (queued[k]) add_cut_parts(self, index, k, &cuts[k], open);
        else if (open || self->balance.load[k] > 0)
            add_part(self, (td_multi_part){.gpu = index, .fragment = k, .first = fragment->first, .end = fragment->end,
                                           .edges = self->balance.load[k]});
    }
    return TD_OK;
}

/* Pieces of gather-sums have equal edges. */
static void cut_pieces(td_multi_job *self)
{
    TD_EACH_OWNED(self, owner, fragment) {
        int k = (int)(fragment - self->layout->fragment), takers[TD_FRAGMENTS];
        int index = td_multi_index(self, owner), count = takers_of(self, k, index, takers);
        uint64_t first = 0, first_edge = 0, wanted = 0, pieces = fragment->pull.pieces;
        for (int i = 0; i < count; i++) {
            uint64_t *share = &self->balance.share[k * self->count + takers[i]];
            wanted += *share;
            uint64_t end = (wanted + TD_GPU_TILE / 2) / TD_GPU_TILE;
            if (i == count - 1 || end > pieces) end = pieces;
            uint64_t end_edge = end * TD_GPU_TILE;
            if (end_edge > fragment->pull.edges) end_edge = fragment->pull.edges;
            *share = end_edge - first_edge;
            add_part(self, (td_multi_part){.gpu = takers[i], .fragment = k, .first = (uint32_t)first, .end = (uint32_t)end,
                                           .edges = *share});
            first = end;
            first_edge = end_edge;
        }
    }
}

/* Sweeps visit all vertices, whose lists the host knows. */
static uint64_t place_of(const td_multi_job *self, uint64_t v)
{
    const td_graph *graph = self->graph;
    return graph->out.offsets[v] + (self->layout->both ? graph->in.offsets[v] : 0);
}

static uint32_t vertex_at(const td_multi_job *self, const td_multi_fragment *fragment, uint64_t edges)
{
    uint64_t low = fragment->first, high = fragment->end, wanted = place_of(self, fragment->first) + edges;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (place_of(self, middle) < wanted) low = middle + 1;
        else high = middle;
    }
    return (uint32_t)low;
}

/* Whether the list before v is long and the wanted edges end inside it. */
static bool ends_inside(const td_multi_job *self, const td_multi_fragment *fragment, uint32_t v, uint64_t place)
{
    if (v == fragment->first || place >= place_of(self, v)) return false;
    return place > place_of(self, v - 1) && place_of(self, v) - place_of(self, v - 1) >= self->set.high_degree;
}

static void cut_sweeps(td_multi_job *self)
{
    TD_EACH_OWNED(self, owner, fragment) {
        int k = (int)(fragment - self->layout->fragment), takers[TD_FRAGMENTS];
        int index = td_multi_index(self, owner), count = takers_of(self, k, index, takers);
        uint32_t first = fragment->first;
        uint64_t before = place_of(self, first), first_edge = 0, begin = before;
        for (int i = 0; i < count; i++) {
            uint32_t end = fragment->end;
            uint64_t wanted = i < count - 1 ? edges_before(self, k, index, takers[i + 1]) : UINT64_MAX;
            if (i < count - 1) end = vertex_at(self, fragment, wanted);
            bool inside = i < count - 1 && ends_inside(self, fragment, end, begin + wanted);
            uint64_t until = inside ? begin + wanted : place_of(self, end), end_edge = inside ? until : 0;
            self->balance.share[k * self->count + takers[i]] = until - before;
            add_part(self, (td_multi_part){takers[i], k, first, end, until - before, first_edge, end_edge});
            first = inside ? end - 1 : end;
            first_edge = end_edge;
            before = until;
        }
    }
}

static void note_loads(td_multi_job *self, td_multi_work work)
{
    for (int k = 0; k < self->count; k++) {
        const td_multi_fragment *fragment = &self->layout->fragment[k];
        uint64_t settled = self->gpu[k].settled_edges, all = fragment->pull.edges;
        self->balance.load[k] = work == TD_WORK_GATHER  ? fragment->pull.edges
                                : work == TD_WORK_SWEEP ? fragment->push.edges
                                : work == TD_WORK_OPEN  ? (settled < all ? all - settled : 0)
                                                        : self->gpu[k].edges;
    }
}

/* Without a steal everyone keeps its own. */
static void keep_own(td_multi_job *self)
{
    td_multi_balance *balance = &self->balance;
    memset(balance->share, 0, sizeof balance->share);
    TD_EACH_OWNED(self, owner, fragment) {
        int k = (int)(fragment - self->layout->fragment);
        balance->share[k * self->count + td_multi_index(self, owner)] = balance->load[k];
    }
}

/* A thief also needs the owner's values. Where it cannot read them, because the owner is not the GPU that has the lists,
 * the owner keeps the edges. */
static void give_back(td_multi_job *self)
{
    TD_EACH_OWNED(self, owner, fragment) {
        int k = (int)(fragment - self->layout->fragment), index = td_multi_index(self, owner);
        uint64_t *share = &self->balance.share[k * self->count];
        for (int j = 0; j < self->count; j++) {
            if (j == index || td_gpu_are_direct(&self->exchange, j, index)) continue;
            share[index] += share[j];
            share[j] = 0;
        }
    }
}

td_status td_multi_divide(td_multi_job *self, td_multi_work work)
{
    td_multi_balance *balance = &self->balance;
    uint64_t began = td_clock_ns(), all = 0;
    balance->divided = td_multi_clock(self);
    bool several = self->count > 1;
    note_loads(self, work);
    balance->parts = 0;
    for (int k = 0; k < self->count; k++) all += balance->load[k];
    balance->work = work;
    bool queued = work == TD_WORK_PUSH && td_multi_is_queued(self);
    bool large = several && !queued && (all >= self->set.steal_edges || self->set.t1 >= 0), steals = large && self->set.steals;
    balance->is_timed = large || (several && td_multi_logs(self));
    balance->is_predicted = false;
    TD_CHECK(td_multi_find_metrics(self, work));
    balance->decision.steal = self->set.steals ? TD_STEAL_SMALL : TD_STEAL_OFF;
    balance->decision.longest = 0;
    if (several && (steals || self->set.moves_owners)) TD_CHECK(decide(self, work, steals));
    keep_own(self);
    if (balance->decision.steal == TD_STEAL_STOLEN)
        td_allocation_round(self->count, balance->load, balance->decision.share, balance->share);
    if (work == TD_WORK_PUSH || work == TD_WORK_OPEN || work == TD_WORK_GATHER) give_back(self);
    if (work == TD_WORK_GATHER) cut_pieces(self);
    else if (work == TD_WORK_SWEEP) cut_sweeps(self);
    else TD_CHECK(cut_frontiers(self, work == TD_WORK_OPEN));
    balance->decide_seconds += td_seconds_since(began);
    balance->began = td_multi_clock(self);
    self->times.deciding += balance->began - balance->divided;
    TD_EACH_GPU(self, gpu) gpu->processed_at = gpu->packed_at = 0;
    return TD_OK;
}

uint64_t td_multi_assigned(const td_multi_job *self, int gpu)
{
    uint64_t edges = 0;
    for (int i = 0; i < self->balance.parts; i++)
        if (self->balance.part[i].gpu == gpu) edges += self->balance.part[i].edges;
    return edges;
}

/* What became of it. */

static void on_processed(void *context, td_status status, uint64_t gpu)
{
    td_multi_job *self = context;
    uint64_t virtual_time = td_loop_time(self->loop);
    if (status != TD_OK && self->failed == TD_OK) self->failed = status;
    self->gpu[gpu].processed_at = virtual_time > 0 ? virtual_time : td_loop_arrived(self->loop);
    if (--self->waiting == 0) td_loop_stop(self->loop);
}

td_status td_multi_note_processed(td_multi_job *self, td_multi_gpu *gpu)
{
    if (!self->balance.is_timed && !self->set.breakdown) return TD_OK;
    self->waiting++;
    return td_stream_notify(gpu->job.stream, on_processed, self, (uint64_t)td_multi_index(self, gpu));
}

/* A GPU's time over what was expected of it corrects the seconds of the fragments that it worked on, by their share of
 * the expectation. Iterations without steals teach this: others also show how the GPUs compete. */
static void learn_costs(td_multi_job *self, int j, double busy)
{
    td_multi_balance *balance = &self->balance;
    double expected = 0, part[TD_FRAGMENTS], *seconds = balance->learned.edge_seconds[balance->work];
    for (int i = 0; i < self->count; i++) {
        double edges = (double)balance->share[i * self->count + j], link = balance->link_seconds[i][j];
        double own = seconds[i] * (balance->speed[i] / balance->speed[j]);
        part[i] = edges > 0 ? edges * (own + (isfinite(link) ? link : 0)) : 0;
        expected += part[i];
    }
    if (!(expected > 0) || !(busy > 0)) return;
    bool knows = balance->learned.knows[balance->work]; /* the first measurement is the only one */
    for (int i = 0; i < self->count; i++)
        if (part[i] > 0) seconds[i] *= pow(busy / expected, knows ? BELIEVED * part[i] / expected : 1);
}

/* What the cost model says of a fragment is corrected by what its edges take on its own GPU, where that does nothing else: its
 * lists have much that metrics do not say, and stay the same in all iterations. In iterations with steals some GPUs say nothing,
 * so that only what sets the others apart from each other is learned, not what all of them take longer. */
static void learn_factors(td_multi_job *self)
{
    td_multi_balance *balance = &self->balance;
    double seen[TD_FRAGMENTS], sum = 0;
    int known = 0;
    if (self->set.cost != TD_COST_MODEL || !balance->is_predicted) return;
    for (int k = 0; k < self->count; k++) {
        uint64_t edges = balance->share[k * self->count + k];
        double busy = busy_seconds(self, k);
        seen[k] = NAN;
        if (edges < LEAST_EDGES || !(busy > 0) || td_multi_assigned(self, k) != edges) continue;
        seen[k] = log(busy / ((double)edges * balance->predicted_seconds[k]));
        sum += seen[k];
        known++;
    }
    double common = td_multi_is_stolen(self) && known > 0 ? sum / known : 0;
    for (int k = 0; k < self->count; k++)
        if (!isnan(seen[k])) balance->learned.model_factor[balance->work][k] *= exp(BELIEVED * (seen[k] - common));
}

static uint64_t all_edges(const td_multi_job *self)
{
    uint64_t all = 0;
    for (int k = 0; k < self->count; k++) all += self->balance.load[k];
    return all;
}

static void believe(double *figure, double seen) { *figure += BELIEVED * (seen - *figure); }
static void forget(double *figure, double first) { *figure += FORGOTTEN * (first - *figure); }

/* What the steals of this iteration have cost: its longest GPU, over what the edges' costs say, and all that the iteration
 * took besides, over what one without steals does. A steal that was declined is forgotten a little. */
static void learn_steal(td_multi_job *self, double longest)
{
    td_multi_balance *balance = &self->balance;
    td_multi_learned *learned = &balance->learned;
    double q, p = td_sync_cost_fit(&learned->sync, &q), whole = (double)(td_multi_clock(self) - balance->divided) * 1e-9;
    if (balance->decision.steal == TD_STEAL_STOLEN) {
        double predicted = balance->decision.longest / learned->steal_factor;
        believe(&learned->steal_seconds, fmax(0, whole - longest - p * balance->state.group - q));
        if (predicted > 0 && self->set.cost != TD_COST_UNIFORM) believe(&learned->steal_factor, fmax(1, longest / predicted));
    } else if (balance->decision.steal != TD_STEAL_OFF && balance->decision.steal != TD_STEAL_UNKNOWN) {
        if (learned->steal_seconds > FIRST_STEAL_SECONDS) forget(&learned->steal_seconds, FIRST_STEAL_SECONDS);
        forget(&learned->steal_factor, 1);
    }
}

/* The division, for the report. */
static td_status add_lists(td_multi_job *self)
{
    const td_multi_balance *balance = &self->balance;
    double numbers[TD_FRAGMENTS * TD_FRAGMENTS] = {0};
    uint32_t n = (uint32_t)self->count;
    for (uint32_t i = 0; i < n; i++) numbers[i] = (double)balance->load[i];
    TD_CHECK(td_run_add_list(self->run, numbers, n, &self->row.load));
    for (uint32_t i = 0; i < n; i++) numbers[i] = busy_seconds(self, (int)i);
    TD_CHECK(td_run_add_list(self->run, numbers, n, &self->row.busy));
    for (uint32_t i = 0; i < n * n; i++) numbers[i] = (double)balance->share[i];
    return td_run_add_list(self->run, numbers, n * n, &self->row.share);
}

td_status td_multi_settle(td_multi_job *self)
{
    td_multi_balance *balance = &self->balance;
    double longest = 0, all = 0;
    balance->last_seconds = (double)(td_multi_clock(self) - balance->began) * 1e-9;
    for (int p = 0; p < balance->parts; p++) {
        const td_multi_part *part = &balance->part[p];
        if (!(self->exchange.box[part->gpu].fragments.owned >> part->fragment & 1u)) self->row.edges_stolen += part->edges;
    }
    balance->stolen += self->row.edges_stolen;
    td_multi_add_parts(self);
    self->row.steal = td_steal_reason_name(balance->decision.steal);
    if (!balance->is_timed) {
        td_sync_cost_add(&balance->learned.sync, balance->state.group, balance->last_seconds, balance->decision.longest);
        return TD_OK;
    }
    bool teaches = !td_multi_is_stolen(self) && all_edges(self) >= LEAST_EDGES;
    note_exact(self);
    for (int j = 0; j < self->count; j++) {
        double busy = busy_seconds(self, j);
        longest = fmax(longest, busy);
        all += busy;
        if (teaches) learn_costs(self, j, busy);
    }
    learn_factors(self);
    if (!given_thresholds(self)) learn_steal(self, longest);
    if (teaches) balance->learned.knows[balance->work] = true;
    if (!td_multi_is_stolen(self) || given_thresholds(self))
        td_sync_cost_add(&balance->learned.sync, balance->state.group, balance->last_seconds, longest);
    balance->tallies = td_multi_is_stolen(self);
    self->row.predicted_seconds = balance->decision.longest;
    self->row.longest_seconds = longest;
    self->row.idle_share = longest > 0 ? 1 - all / (longest * self->count) : 0;
    TD_CHECK(add_lists(self));
    return td_multi_log(self);
}
