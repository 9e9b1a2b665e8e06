#include "engine/multi/decide.h"

#include <math.h>
#include <string.h>

#define WORTH_TRYING 0.02 /* of an iteration: less than this is not worth trying other groups for */

enum { MOST = TD_MULTI_GPUS };

#define TD_NAME(code, name, words) name,
#define TD_WORDS(code, name, words) words,
static const char *const steal_names[] = {TD_STEAL_REASONS(TD_NAME)};
static const char *const steal_words[] = {TD_STEAL_REASONS(TD_WORDS)};
static const char *const group_names[] = {TD_GROUP_REASONS(TD_NAME)};
static const char *const group_words[] = {TD_GROUP_REASONS(TD_WORDS)};

const char *td_steal_reason_name(td_steal_reason reason) { return steal_names[reason]; }
const char *td_steal_reason_words(td_steal_reason reason) { return steal_words[reason]; }
const char *td_group_reason_name(td_group_reason reason) { return group_names[reason]; }
const char *td_group_reason_words(td_group_reason reason) { return group_words[reason]; }

/* An allocation for a group of one size. */
typedef struct candidate {
    int m;
    double share[MOST * MOST];
    double longest, unbalanced, predicted; /* predicted: INFINITY where the group cannot process everything */
    td_steal_reason steal;
} candidate;

static td_status check(const td_decide_input *in, const td_decide_state *state)
{
    const struct {
        const char *name;
        double value;
    } figures[] = {{"p", in->p}, {"last_seconds", in->last_seconds}, {"steal_seconds", in->steal_seconds},
                   {"change_seconds", in->change_seconds}, {"steal_factor", in->steal_factor}};
    TD_CHECK(td_allocation_check(in->n, in->load, in->cost));
    if (in->tree->n != in->n)
        return td_fail(TD_INVALID, "a reduction tree of %d GPUs for %d fragments", in->tree->n, in->n);
    if (state->group < 0 || state->group > MOST)
        return td_fail(TD_INVALID, "the last group had %d GPUs; 0 to %d are allowed", state->group, MOST);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        if (!(figures[i].value >= 0) || isinf(figures[i].value))
            return td_fail(TD_INVALID, "%s is %g; a finite number from 0 on is allowed", figures[i].name,
                           figures[i].value);
    return TD_OK;
}

/* Frontier stealing: Algorithm 1 for a group of m. */

/* What the owners of a group have to do if nothing is stolen. */
typedef struct work {
    double most_edges, least_edges, most_seconds, least_seconds;
} work;

static work keep_own(const td_decide_input *in, candidate *c)
{
    double edges[MOST] = {0}, seconds[MOST] = {0};
    work w = {0, INFINITY, 0, INFINITY};
    memset(c->share, 0, (size_t)(in->n * in->n) * sizeof *c->share);
    for (int i = 0; i < in->n; i++) {
        int j = in->tree->owner[c->m][i];
        if (in->load[i] == 0) continue;
        c->share[i * in->n + j] = in->load[i];
        edges[j] += in->load[i];
        seconds[j] += in->cost[i * in->n + j] * in->load[i];
    }
    for (int j = 0; j < in->n; j++) {
        if (!in->tree->stays[c->m][j]) continue;
        w = (work){fmax(w.most_edges, edges[j]), fmin(w.least_edges, edges[j]), fmax(w.most_seconds, seconds[j]),
                   fmin(w.least_seconds, seconds[j])};
    }
    return w;
}

static bool too_small(const td_decide_input *in, const work *w)
{
    return in->t1 >= 0 ? w->most_edges < in->t1 : w->most_seconds < in->steal_seconds;
}

static bool balanced(const td_decide_input *in, const work *w)
{
    if (in->t2 >= 0) return w->most_edges - w->least_edges < in->t2;
    return w->most_seconds - w->least_seconds < in->steal_seconds;
}

/* Solves the program with the evicted GPUs forbidden. False where the group cannot process everything. */
static bool solve(const td_decide_input *in, int m, double *share, double *longest)
{
    double cost[MOST * MOST];
    for (int i = 0; i < in->n; i++)
        for (int j = 0; j < in->n; j++)
            cost[i * in->n + j] = in->tree->stays[m][j] ? in->cost[i * in->n + j] : INFINITY;
    return td_allocation_solve(in->n, in->load, cost, share, longest) == TD_OK;
}

static void steal_frontiers(const td_decide_input *in, candidate *c, td_decision *out)
{
    double share[MOST * MOST], longest;
    work w = keep_own(in, c);
    c->longest = c->unbalanced = w.most_seconds;
    double factor = in->steal_factor > 0 ? in->steal_factor : 1;
    bool possible = isfinite(w.most_seconds); /* every owner may process its fragments */
    if (c->m == 1) c->steal = TD_STEAL_ALONE;
    else if (!in->steal_frontiers) c->steal = TD_STEAL_OFF;
    else if (possible && too_small(in, &w)) c->steal = TD_STEAL_SMALL;
    else if (possible && balanced(in, &w)) c->steal = TD_STEAL_BALANCED;
    else {
        out->solves++;
        c->steal = TD_STEAL_NO_GAIN;
        if (solve(in, c->m, share, &longest) && factor * longest + in->steal_seconds < c->unbalanced) {
            c->steal = TD_STEAL_STOLEN;
            c->longest = factor * longest;
            memcpy(c->share, share, (size_t)(in->n * in->n) * sizeof *share);
        }
    }
    c->predicted = c->longest + in->p * c->m + (c->steal == TD_STEAL_STOLEN ? in->steal_seconds : 0);
    out->estimate[c->m] = c->predicted;
}

/* Ownership stealing: Algorithm 2. */

/* Less than this no group of m can take: every edge where it is cheapest, spread evenly. */
static double lower_bound(const td_decide_input *in, int m)
{
    double sum = 0;
    for (int i = 0; i < in->n; i++) {
        double least = INFINITY;
        for (int j = 0; j < in->n; j++)
            if (in->tree->stays[m][j]) least = fmin(least, in->cost[i * in->n + j]);
        if (in->load[i] > 0) sum += in->load[i] * least;
    }
    return sum / m + in->p * m;
}

static bool worth_trying(const td_decide_input *in, int group)
{
    double t3 = in->t3 >= 0 ? in->t3 : in->p * (in->tree->most - 1) / WORTH_TRYING;
    return group < in->tree->most || in->last_seconds < t3; /* a smaller group may always grow */
}

/* The group with the lowest z + p m; `best` is that of the current group at first. */
static void steal_ownership(const td_decide_input *in, candidate *best, td_decision *out)
{
    candidate tried;
    int current = best->m;
    for (int m = in->tree->most; m >= 1 && m >= in->least_group; m--) {
        if (m == current || lower_bound(in, m) >= best->predicted) continue;
        tried.m = m;
        steal_frontiers(in, &tried, out);
        if (tried.predicted < best->predicted) *best = tried;
    }
}

static void hand_out(const td_decide_input *in, const candidate *c, td_decision *out)
{
    out->group = c->m;
    memcpy(out->stays, in->tree->stays[c->m], sizeof out->stays);
    memcpy(out->owner, in->tree->owner[c->m], sizeof out->owner);
    memcpy(out->share, c->share, (size_t)(in->n * in->n) * sizeof *c->share);
    out->longest = c->longest;
    out->unbalanced = c->unbalanced;
    out->predicted = c->predicted;
    out->steal = c->steal;
}

td_status td_decide(const td_decide_input *in, td_decide_state *state, td_decision *out)
{
    candidate current, best;
    TD_CHECK(check(in, state));
    *out = (td_decision){.grouping = TD_GROUP_BEST};
    bool first = state->group == 0;
    current.m = first || !in->steal_ownership || state->group > in->tree->most ? in->tree->most : state->group;
    steal_frontiers(in, &current, out);
    best = current;
    if (in->tree->most == 1) out->grouping = TD_GROUP_ALONE;
    else if (!in->steal_ownership) out->grouping = TD_GROUP_OFF;
    else if (!first && !worth_trying(in, current.m)) out->grouping = TD_GROUP_LONG;
    else steal_ownership(in, &best, out);

    if (best.m == current.m) {
        state->regret = 0;
    } else if (!first) {
        state->regret += current.predicted - best.predicted;
        if (state->regret > in->change_seconds) {
            state->regret = 0;
        } else {
            best = current;
            out->grouping = TD_GROUP_KEPT;
        }
    }
    if (!isfinite(best.predicted))
        return td_fail(TD_INVALID, "no group of the %d GPUs left may process all %d fragments: the costs of one are "
                       "infinite on all of them", in->tree->most, in->n);
    hand_out(in, &best, out);
    out->changed = !first && best.m != state->group;
    state->group = best.m;
    return TD_OK;
}
