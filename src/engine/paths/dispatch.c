/* The order of work (DiGraph, section 3.2.2). Groups of paths are processed in the order of their layers, each until it
 * is final: a group without cycles is walked once. Within a group, the marked partitions are walked in the order of
 *
 *     Pri(p) = a * D(p) * N(p) - L(p),     a = 1 / (largest mean degree * most vertices on a path),
 *
 * D the mean degree of its vertices, N its marked paths, L its layer. Programs of real numbers apply a vertex only when
 * what was deposited changes it by more than a threshold, which follows the mean change of the group down: small
 * deposits wait and are merged.
 *
 * Convergence. After a walk the changes that vertices still want are known without a look at edges, because their sums
 * are kept up to date; what mirrors do not have yet is sent first. A group is final when its vertices want at most their
 * part of the tolerance. The run ends when all vertices together want at most the tolerance (td_paths_end_pass). */
#include "engine/paths/gpu.h"

#include "base/cancel.h"
#include "base/clock.h"
#include "gpu/rounds.h"
#include "run/convergence.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_PASSES = 40 };

/* All partitions and vertices as one group. */
static td_paths_group whole(const td_paths_job *self)
{
    return (td_paths_group){0, 0, 0, self->paths.partitions, NULL, self->cpu.graph->vertices, 0, true};
}

static uint32_t count_marked(const td_paths_job *self, uint32_t k)
{
    uint32_t marked = 0;
    for (uint32_t w = self->index.first_word[k]; w < self->index.first_word[k + 1]; w++)
        marked += (uint32_t)td_popcount(self->steps.state.marks[w]);
    return marked;
}

/* Pri(p) of a partition. */
static double priority_of(const td_paths_job *self, uint32_t k, uint32_t marked, uint32_t layer)
{
    const td_path_stats *stats = &self->paths.stats;
    double most = stats->most_degree * (double)stats->most_vertices;
    return (most > 0 ? (double)self->paths.partition[k].degree * marked / most : 0) - layer;
}

static int by_rank(const void *a, const void *b, void *context)
{
    const double *rank = context;
    uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    if (rank[one] != rank[other]) return rank[one] > rank[other] ? -1 : 1;
    return one < other ? -1 : 1;
}

/* Whether partitions are walked in the order of their priority, or of their storage: paths without cycles once
 * (settle_once), back and forth with fewer updates so (docs/lab/paths.md), and all at once on a GPU with as many warps. */
bool td_paths_is_ranked(const td_paths_job *self, const td_paths_group *group)
{
    if (self->gpu != NULL && (self->gpu->batches != NULL || group->partitions <= td_paths_gpu_warps(self))) return false;
    return group->cyclic && self->set.priority && !self->steps.state.back;
}

/* Lists the marked partitions of a group in their order. */
static uint32_t list_marked(td_paths_job *self, const td_paths_group *group, uint64_t *paths)
{
    uint32_t count = 0;
    *paths = 0;
    for (uint32_t k = group->first_partition; k < group->first_partition + group->partitions; k++) {
        uint32_t marked = count_marked(self, k);
        if (marked == 0) continue;
        *paths += marked;
        self->rank[k] = priority_of(self, k, marked, group->layer);
        self->order[count++] = k;
    }
    if (!td_paths_is_ranked(self, group) || count < 2) return count;
    qsort_r(self->order, count, sizeof *self->order, by_rank, self->rank);
    self->sorted += count;
    return count;
}

static td_status walk_on_cores(td_paths_job *self, const td_paths_group *group, uint32_t *walked)
{
    uint64_t paths;
    td_path_tally tally;
    self->steps.order = self->order;
    *walked = list_marked(self, group, &paths);
    return td_paths_do(self, TD_PATHS_WALK, *walked, paths, &tally);
}

static td_status walk_on_gpu(td_paths_job *self, const td_paths_group *group, uint32_t *walked)
{
    td_path_tally tally;
    TD_CHECK(td_paths_gpu_walk(self, group, td_paths_is_ranked(self, group), &tally));
    td_paths_add(self, &tally);
    *walked = (uint32_t)tally.listed;
    self->sorted += tally.ranked;
    return TD_OK;
}

/* One round: walks the marked paths of the group. */
static td_status walk(td_paths_job *self, const td_paths_group *group, double least, uint32_t *walked)
{
    self->steps.state.least = least;
    self->steps.state.round++;
    TD_CHECK(self->gpu != NULL ? walk_on_gpu(self, group, walked) : walk_on_cores(self, group, walked));
    if (*walked == 0) return TD_OK;
    self->partitions_walked += *walked;
    self->rounds++;
    return td_cancel_check();
}

/* A step over the first `count` vertices of a group. */
static td_status do_members(td_paths_job *self, td_paths_step step, const td_paths_group *group, uint64_t count,
                            td_path_tally *out)
{
    self->group = group;
    self->steps.list = group->members;
    td_status status = td_paths_do(self, step, count, count, out);
    self->steps.list = NULL;
    self->group = NULL;
    return status;
}

/* Measures the changes that the group's vertices want, and marks the paths of those above the threshold. */
static td_status scan(td_paths_job *self, const td_paths_group *group, double least, td_path_tally *out)
{
    self->steps.state.least = least;
    return do_members(self, TD_PATHS_SCAN, group, group->member_count, out);
}

/* Sends what mirrors do not have, without applying anything, and measures what the vertices want then. */
static td_status flush_and_scan(td_paths_job *self, const td_paths_group *group, td_path_tally *found)
{
    if (td_paths_loops(self)) return td_paths_run_still(self, group, INFINITY, TD_PATH_MEASURED, found);
    uint32_t walked = 1;
    while (walked > 0) TD_CHECK(walk(self, group, INFINITY, &walked));
    return scan(self, group, INFINITY, found);
}

td_status td_paths_send_all(td_paths_job *self)
{
    td_paths_group all = whole(self);
    td_path_tally sent;
    uint32_t walked = 1;
    if (td_paths_loops(self)) return td_paths_run_still(self, &all, INFINITY, TD_PATH_STILL, &sent);
    while (walked > 0) TD_CHECK(walk(self, &all, INFINITY, &walked));
    return TD_OK;
}

/* Until nothing changes, or, with a bound of distances, the vertices that want a change are beyond it. */
static td_status settle_near(td_paths_job *self, const td_paths_group *group, uint32_t *rounds, td_path_tally *found)
{
    uint32_t walked;
    for (*found = (td_path_tally){0};;) {
        TD_CHECK(walk(self, group, 0, &walked));
        *rounds += walked > 0;
        if (walked > 0) continue;
        if (!group->cyclic || *rounds == 0) return TD_OK;
        TD_CHECK(scan(self, group, 0, found));
        if (found->wanting == 0) return TD_OK;
    }
}

/* Programs of whole numbers. Near-far, as in delta-stepping: a vertex beyond the bound waits, because it may come nearer,
 * and the bound rises when none is left up to it. */
static td_status settle_whole(td_paths_job *self, const td_paths_group *group)
{
    td_path_state *s = &self->steps.state;
    td_path_tally found;
    uint32_t rounds = 0;
    double kept = s->one_over_delta;
    if (td_paths_loops(self)) return td_paths_run_still(self, group, 0, TD_PATH_SETTLED, &found);
    for (bool more = true; more;) {
        uint64_t before = self->sum.updates;
        if (!group->cyclic) s->one_over_delta = 0;
        TD_CHECK(settle_near(self, group, &rounds, &found));
        more = s->one_over_delta > 0 && found.residual > 0;
        if (!group->cyclic) s->one_over_delta = kept;
        if (!more) break;
        td_path_raise(found.residual, (double)(self->sum.updates - before), (double)group->member_count,
                      &s->one_over_delta, &s->bound);
        self->raised++;
        TD_CHECK(scan(self, group, 0, &found));
    }
    return TD_OK;
}

bool td_paths_has_buckets(const td_paths_job *self)
{
    return self->set.near && self->cpu.kernels->schedule == TD_SCHEDULE_PRIORITY && !self->steps.state.plain;
}

/* Buckets of distance are as wide as those of delta-stepping on the same device. */
static void set_buckets(td_paths_job *self)
{
    if (!td_paths_has_buckets(self)) return;
    double cores = td_cpu_delta(self->cpu.graph);
    self->steps.state.one_over_delta = 1 / (self->gpu != NULL ? td_gpu_delta(self->cpu.graph, 0) : cores);
}

/* What the group may leave of the tolerance. Of a sum: its part, and what the groups before did not use; but as much as
 * the values' own rounding, below which nothing changes any more. */
static td_path_rule rule_of(const td_paths_job *self, const td_paths_group *group, uint64_t updates)
{
    const double rounding = self->cpu.kernels->value_bytes == sizeof(double) ? 0x1p-53 : 0x1p-24;
    double part = self->tolerance * (double)group->member_count / (double)self->cpu.graph->vertices;
    double most = (double)self->cpu.setup.limit * (double)group->member_count;
    td_path_rule rule = {.allowance = fmax(self->allowed + part - self->left, 0.5 * part), .rounding = rounding,
                         .share = self->set.share, .outside = self->outside[group->number],
                         .most_updates = most - (double)updates, .priority = self->set.priority,
                         .balances = self->set.balance && self->cpu.kernels->view == TD_VIEW_FORWARD};
    if (self->cpu.kernels->measure != TD_MEASURE_MAX) return rule;
    rule.largest = true;
    rule.allowance = self->tolerance;
    rule.rounding = 0;
    return rule;
}

/* The group has ended with these changes left. */
static void leave(td_paths_job *self, const td_paths_group *group, const td_path_tally *found)
{
    if (self->cpu.kernels->measure == TD_MEASURE_MAX) return;
    self->allowed += self->tolerance * (double)group->member_count / (double)self->cpu.graph->vertices;
    self->left += found->residual;
}

/* Whether the group's vertices want at most the tolerance once everything is sent. */
static td_status is_final(td_paths_job *self, const td_paths_group *group, const td_path_rule *rule,
                          td_path_tally *found, bool *final)
{
    *final = false;
    if (!(found->residual <= td_path_tolerance(rule, found))) return TD_OK;
    TD_CHECK(flush_and_scan(self, group, found));
    *final = found->residual <= td_path_tolerance(rule, found);
    return TD_OK;
}

/* Before a group has sent anything within itself: what its vertices want then comes from outside of it. */
static td_status measure_outside(td_paths_job *self, const td_paths_group *group)
{
    td_path_tally found;
    if (!self->set.balance || self->passes > 1) return TD_OK;
    TD_CHECK(scan(self, group, INFINITY, &found));
    self->outside[group->number] = found.fresh;
    return TD_OK;
}

/* A factor that does not make the changes smaller by this part of them is the group's last: another mode than the sum is
 * off. MOST_BALANCES: in a visit of a group. */
static const double WORTH = 0.5;
enum { MOST_BALANCES = 6 };

/* With the factor t = sum(o) / sum(y - A y) the changes of t y add up to 0 (td_path_unbalanced). */
static td_status balance(td_paths_job *self, const td_paths_group *group, const td_path_rule *rule, uint32_t *left,
                         td_path_tally *found)
{
    double before = found->magnitude;
    if (*left == 0 || !rule->balances || !td_path_unbalanced(rule, found)) return TD_OK;
    self->steps.state.scale = rule->outside / (found->value - (found->fresh - rule->outside));
    TD_CHECK(do_members(self, TD_PATHS_BALANCE, group, group->member_count, found));
    self->balanced++;
    TD_CHECK(flush_and_scan(self, group, found));
    *left = found->magnitude <= WORTH * before ? *left - 1 : 0;
    return TD_OK;
}

/* Applies the vertices of a group without cycles where its paths begin. No path of the group enters them, so that they
 * are final; every other vertex of the group is inside one path. So no vertex is applied twice, in whichever order the
 * paths are walked. */
static td_status open_group(td_paths_job *self, const td_paths_group *group)
{
    td_path_tally applied;
    self->steps.state.least = 0;
    self->steps.state.round++;
    return do_members(self, TD_PATHS_OPEN, group, group->openers, &applied);
}

/* Whether vertices may want changes that nothing has marked: in later passes deposits below the threshold of the group
 * that made them, after a checkpoint all. A scan marks them. */
static bool has_unmarked(const td_paths_job *self) { return self->passes > 1 || self->resumed; }

/* Programs of real numbers, a group without cycles. */
static td_status settle_once(td_paths_job *self, const td_paths_group *group)
{
    uint32_t walked = 1;
    td_path_tally found;
    if (has_unmarked(self)) TD_CHECK(scan(self, group, 0, &found));
    if (td_paths_loops(self)) return td_paths_run_still(self, group, 0, TD_PATH_STILL, &found);
    TD_CHECK(open_group(self, group));
    while (walked > 0) TD_CHECK(walk(self, group, 0, &walked));
    return TD_OK;
}

/* Marks the paths of the vertices above the next threshold. The scan behind the walk has marked those above the last one,
 * unless they were walked since (`flushed`): if the threshold does not fall, that is enough. */
static td_status mark_above(td_paths_job *self, const td_paths_group *group, const td_path_rule *rule, bool flushed,
                            double *least, td_path_tally *found)
{
    double before = *least;
    *least = td_path_threshold(rule, found, found->levels);
    if (before > 0 && !flushed && *least >= before) return TD_OK;
    return scan(self, group, *least, found);
}

/* Rounds: one, or as many as a launch runs. */
static td_status rounds(td_paths_job *self, const td_paths_group *group, const td_path_rule *rule, bool within,
                        double *least, uint32_t *walked, td_path_tally *found)
{
    if (td_paths_loops(self)) return td_paths_run_rounds(self, group, rule, within, least, walked, found);
    TD_CHECK(walk(self, group, *least, walked));
    return scan(self, group, *least > 0 ? *least : INFINITY, found);
}

/* Programs of real numbers: until the group's vertices want at most the tolerance. The limit of iterations is one of
 * updates here: as many as that many iterations over all vertices make. */
static td_status settle_real(td_paths_job *self, const td_paths_group *group)
{
    uint32_t walked, balances = MOST_BALANCES;
    uint64_t before = self->sum.updates;
    double least = 0;
    td_path_tally found = {0};
    bool final = false;
    if (!group->cyclic) return settle_once(self, group);
    TD_CHECK(measure_outside(self, group));
    for (uint32_t round = 0; !final; round++) {
        td_path_rule rule = rule_of(self, group, self->sum.updates - before);
        rule.balances &= balances > 0;
        TD_CHECK(rounds(self, group, &rule, round > 0, &least, &walked, &found));
        TD_CHECK(td_run_check_change(self->run, self->run->iterations, found.residual, 0));
        uint64_t walks = self->rounds;
        TD_CHECK(is_final(self, group, &rule, &found, &final));
        if (final) break;
        if (round > 0 || td_paths_loops(self)) TD_CHECK(balance(self, group, &rule, &balances, &found));
        TD_CHECK(mark_above(self, group, &rule, walks != self->rounds, &least, &found));
        if (walked == 0 && found.wanting == 0) break; /* no value changes any more: as close as their type can be */
        self->limited = (double)(self->sum.updates -
                                 before) > (double)self->cpu.setup.limit * (double)group->member_count;
        if (self->limited) break;
    }
    leave(self, group, &found);
    return TD_OK;
}

static td_status settle(td_paths_job *self, const td_paths_group *group)
{
    self->groups_walked++;
    return self->real ? settle_real(self, group) : settle_whole(self, group);
}

static td_status add_row(td_paths_job *self, const td_path_tally *before, uint64_t began)
{
    const td_path_tally *now = &self->sum;
    if (now->loaded == before->loaded) return TD_OK;
    td_row row = {.direction = "paths", .active_vertices = now->updates - before->updates,
                  .active_edges = now->loaded - before->loaded, .edges = now->edges - before->edges};
    if (self->gpu != NULL) row.edges_gpu = row.edges;
    row.bytes_direct = now->crossed - before->crossed;
    TD_CHECK(td_cpu_end_iteration(&self->cpu, &row, began));
    return td_paths_checkpoint(self);
}

/* Processes the groups of a layer, which do not depend on each other. */
static td_status process_layer(td_paths_job *self, uint32_t layer)
{
    uint64_t began = td_clock_ns();
    td_path_tally before = self->sum;
    td_paths_group group = {0};
    uint32_t end = self->paths.layer_group[layer + 1], next;
    for (uint32_t g = self->paths.layer_group[layer]; g < end; g = next) {
        group = td_paths_joined(self, g, &next);
        TD_CHECK(settle(self, &group));
    }
    return add_row(self, &before, began);
}

/* Whether the host decides within the range; the others are processed one after the other by one launch. */
static bool needs_host(const td_paths_job *self, const td_path_range *range)
{
    return (self->real && range->cyclic) || self->set.early; /* which groups start early is the host's to choose */
}

static td_status run_ranges(td_paths_job *self, uint32_t first, uint32_t end)
{
    const td_path_range *from = &self->gpu->ranges[first], *last = &self->gpu->ranges[end - 1];
    td_paths_group all = {.members = self->index.members + from->first_member,
                          .member_count = last->first_member + last->members - from->first_member};
    td_path_tally found;
    if (self->real && has_unmarked(self)) TD_CHECK(scan(self, &all, 0, &found));
    return td_paths_run_ranges(self, first, end);
}

static td_status process_ranges(td_paths_job *self)
{
    const td_path_range *ranges = self->gpu->ranges;
    uint32_t count = self->gpu->range_count, end, next;
    for (uint32_t r = 0; r < count; r = end) {
        uint64_t began = td_clock_ns();
        td_path_tally before = self->sum;
        for (end = r; end < count && !needs_host(self, &ranges[end]);) end++;
        if (end == r) {
            td_paths_group group = td_paths_joined(self, ranges[end++].group, &next);
            TD_CHECK(settle(self, &group));
        } else {
            TD_CHECK(run_ranges(self, r, end));
        }
        TD_CHECK(add_row(self, &before, began));
    }
    return TD_OK;
}

static td_status process_all(td_paths_job *self)
{
    uint64_t began = td_clock_ns();
    td_path_tally before = self->sum;
    td_paths_group group = whole(self);
    TD_CHECK(settle(self, &group));
    return add_row(self, &before, began);
}

static td_status pass(td_paths_job *self)
{
    self->allowed = self->left = 0;
    self->passes++;
    if (self->one_group || td_paths_goes_ahead(self)) return process_all(self);
    if (td_paths_loops(self)) return process_ranges(self);
    for (uint32_t layer = 0; layer < self->paths.layers; layer++) TD_CHECK(process_layer(self, layer));
    return TD_OK;
}

td_status td_paths_dispatch(td_paths_job *self)
{
    bool converged = false;
    set_buckets(self);
    self->tolerance = self->run->tolerance * TD_PATHS_FIRST;
    if (self->cpu.kernels->measure == TD_MEASURE_MAX) self->tolerance = self->run->tolerance * TD_PATHS_LARGEST;
    for (uint32_t i = 0; i < MOST_PASSES && !converged; i++) {
        TD_CHECK(pass(self));
        TD_CHECK(td_paths_end_pass(self, &converged));
        if (self->limited) break;
    }
    self->run->converged = converged;
    return TD_OK;
}
