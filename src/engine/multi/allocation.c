/* A primal simplex with an explicit inverse of the basis, after dropping fragments without active edges and GPUs that
 * may process nothing, and scaling: y_ij = x_ij / l_i is a fraction, and the first maximum is 1.
 *
 *     minimise z    row i:    sum_j y_ij = 1
 *                   column j: sum_i a_ij y_ij + s_j - z = 0       a_ij = c_ij l_i / (first maximum)
 *
 * The first basis is "everyone keeps its own": y_ii, z in the column of the longest GPU, s_j in the others. Its inverse
 * is written down, not computed. Since the objective is z alone, the row of z in the inverse holds the dual prices, so
 * that pricing all variables takes one multiplication each. */
#include "engine/multi/allocation.h"

#include <math.h>
#include <string.h>

/* Rows of arrays are filled with zeros up to a multiple of BLOCK, so that inner loops have a constant length. */
enum { MOST = TD_MULTI_GPUS, WIDE = 2 * MOST, BLOCK = 8 };

/* A fragment starts on another GPU only if that one is so many times cheaper. This bounds the ratio of the first to the
 * last maximum and with it the loss of digits. */
#define FAR_CHEAPER 1000.0
#define OPTIMAL 1e-11  /* a lower bound that is so close to the maximum, relatively, ends the search */
#define CANCELLED 1e-11 /* of two terms that cancel out so far, only noise is left */
#define LONGEST 1e250   /* seconds; sums of them stay finite */
#define FORBIDDEN 1e290 /* stands for infinity, which times zero is no number */

typedef struct tableau {
    int rows, columns, size, wide;      /* size: rows + columns; wide: the next multiple of BLOCK */
    int fragment[MOST], gpu[MOST];      /* of a row, of a column */
    double first;                       /* the first maximum, in seconds */
    double a[MOST][MOST];
    double preference[MOST][MOST];      /* the more a variable can grow, the higher; 0: it is forbidden */
    double inverse[WIDE][WIDE + BLOCK]; /* of the basis; rows by position, columns by constraint */
    double value[WIDE];                 /* of the basic variables */
    int basic[WIDE];                    /* y_rk is r * columns + k, s_k is rows * columns + k; z is -1 */
    int z;                              /* the position of z */
} tableau;

td_status td_allocation_check(int n, const double *load, const double *cost)
{
    if (n < 1 || n > MOST) return td_fail(TD_INVALID, "an allocation for %d GPUs; 1 to %d are allowed", n, MOST);
    for (int i = 0; i < n; i++) {
        bool possible = false;
        if (!(load[i] >= 0) || isinf(load[i]))
            return td_fail(TD_INVALID, "fragment %d has %g active edges; a finite number from 0 on is allowed", i,
                           load[i]);
        for (int j = 0; j < n; j++) {
            if (!(cost[i * n + j] >= 0))
                return td_fail(TD_INVALID, "an edge of fragment %d costs GPU %d %g seconds; 0 or more is allowed, and "
                               "infinity where it may not", i, j, cost[i * n + j]);
            if (isfinite(cost[i * n + j]) && cost[i * n + j] * load[i] > LONGEST)
                return td_fail(TD_INVALID, "%g active edges of fragment %d at %g seconds on GPU %d: more than %g "
                               "seconds", load[i], i, cost[i * n + j], j, LONGEST);
            possible |= isfinite(cost[i * n + j]);
        }
        if (load[i] > 0 && !possible)
            return td_fail(TD_INVALID, "fragment %d has %g active edges and no GPU may process them: all its costs are "
                           "infinite", i, load[i]);
    }
    return TD_OK;
}

/* Where fragment i starts: on its own GPU, or on the cheapest. */
static int start_of(int n, const double *cost, int i)
{
    int cheapest = i;
    for (int j = 0; j < n; j++)
        if (cost[i * n + j] < cost[i * n + cheapest]) cheapest = j;
    return cost[i * n + i] <= FAR_CHEAPER * cost[i * n + cheapest] ? i : cheapest;
}

/* Rows, columns and their numbers; `start` gets the first GPU of a fragment, `column` the column of a GPU. */
static void shrink(tableau *t, int n, const double *load, const double *cost, int start[MOST], int column[MOST])
{
    double sum[MOST] = {0};
    for (int i = 0; i < n; i++) {
        if (load[i] == 0) continue;
        start[i] = start_of(n, cost, i);
        sum[start[i]] += cost[i * n + start[i]] * load[i];
        t->fragment[t->rows++] = i;
    }
    for (int j = 0; j < n; j++) {
        bool possible = false;
        for (int r = 0; r < t->rows; r++) possible |= isfinite(cost[t->fragment[r] * n + j]);
        if (!possible) continue;
        column[j] = t->columns;
        t->gpu[t->columns++] = j;
        if (sum[j] > t->first) t->first = sum[j], t->z = column[j];
    }
    t->size = t->rows + t->columns;
    t->wide = (t->size + BLOCK - 1) / BLOCK * BLOCK;
    t->z += t->rows;
}

static void scale(tableau *t, int n, const double *load, const double *cost)
{
    for (int r = 0; r < t->rows; r++) {
        memset(t->preference[r], 0, sizeof t->preference[r]);
        memset(t->a[r], 0, sizeof t->a[r]);
        for (int k = 0; k < t->columns; k++) {
            double a = cost[t->fragment[r] * n + t->gpu[k]] * (load[t->fragment[r]] / t->first);
            bool may = a < FORBIDDEN;
            t->a[r][k] = may ? a : FORBIDDEN;
            t->preference[r][k] = may ? 1 / (0.1 + a) : 0;
        }
    }
}

/* The first basis: position r has y of row r where the fragment starts, position rows + k has s_k, or z. */
static void begin(tableau *t, const int start[MOST], const int column[MOST])
{
    memset(t->value, 0, sizeof t->value);
    for (int p = 0; p < t->size; p++) memset(t->inverse[p], 0, sizeof t->inverse[p]);
    for (int k = 0; k < t->columns; k++) {
        t->basic[t->rows + k] = t->rows * t->columns + k;
        t->inverse[t->rows + k][t->rows + k] = 1;
    }
    for (int r = 0; r < t->rows; r++) {
        int k = column[start[t->fragment[r]]];
        t->basic[r] = r * t->columns + k;
        t->inverse[r][r] = t->value[r] = 1;
        t->inverse[t->rows + k][r] = -t->a[r][k];
        t->value[t->rows + k] -= t->a[r][k];
    }
    double *z = t->inverse[t->z], highest = -t->value[t->z]; /* solved for z instead of its slack */
    for (int c = 0; c < t->size; c++) z[c] = -z[c];
    t->basic[t->z] = -1;
    for (int p = t->rows; p < t->size; p++) {
        if (p == t->z) continue;
        for (int c = 0; c < t->size; c++) t->inverse[p][c] += z[c];
        t->value[p] += highest;
    }
    t->value[t->z] = highest;
}

/* The score of y_rk: what a unit of it takes from z, less `least`, times its preference. */
static inline double score(double u, double minus_w, double a, double least, double preference)
{
    return (u - least + minus_w * a) * preference;
}

static double best_of_row(const tableau *t, int r, double least)
{
    const double *a = t->a[r], *preference = t->preference[r], *minus_w = t->inverse[t->z] + t->rows;
    double u = t->inverse[t->z][r], best = 0;
    for (int k = 0; k < t->columns; k += BLOCK)
#pragma omp simd reduction(max : best)
        for (int b = k; b < k + BLOCK; b++) {
            double mine = score(u, minus_w[b], a[b], least, preference[b]);
            best = mine > best ? mine : best;
        }
    return best;
}

/* The first variable of a row that has at least this score, and any at all. */
static int with_score(const tableau *t, int r, double least, double wanted)
{
    const double *z = t->inverse[t->z];
    for (int k = 0; k < t->columns; k++) {
        double mine = score(z[r], z[t->rows + k], t->a[r][k], least, t->preference[r][k]);
        if (mine > 0 && mine >= wanted) return r * t->columns + k;
    }
    return -1;
}

/* The variable that enters the basis: the one with the highest score; by Bland's rule the first that has any. -1: z
 * cannot fall any more. */
static int entering(const tableau *t, bool bland)
{
    const double *slack_gain = t->inverse[t->z] + t->rows;
    double best = 0, least = OPTIMAL * t->value[t->z] / t->size;
    int row = -1, slack = -1;
    for (int r = 0; r < t->rows; r++) {
        double mine = best_of_row(t, r, least);
        if (mine <= best) continue;
        best = mine;
        row = r;
        if (bland) return with_score(t, r, least, 0);
    }
    for (int k = 0; k < t->columns; k++) {
        if (slack_gain[k] <= least || slack_gain[k] <= best) continue;
        best = slack_gain[k];
        slack = k;
        if (bland) break;
    }
    if (slack >= 0) return t->rows * t->columns + slack;
    return row < 0 ? -1 : with_score(t, row, least, best);
}

/* What one unit of the entering variable takes from each basic one. What is left of two equal terms counts as zero. */
static void direction(const tableau *t, int variable, double along[WIDE])
{
    int r = variable / t->columns, k = variable % t->columns, c = t->rows + k;
    bool slack = r == t->rows;
    for (int p = 0; p < t->size; p++) {
        double first = slack ? 0 : t->inverse[p][r], second = slack ? t->inverse[p][c] : t->a[r][k] * t->inverse[p][c];
        double sum = first + second;
        along[p] = fabs(sum) > CANCELLED * fabs(first) ? sum : 0;
    }
}

/* The basic variable that reaches zero first; of equals the largest pivot, by Bland's rule the lowest number. */
static int leaving(const tableau *t, const double along[WIDE], bool bland)
{
    double steps[WIDE], nearest = INFINITY;
    int found = -1;
#pragma omp simd
    for (int p = 0; p < t->size; p++) {
        double by = along[p], left = t->value[p];
        left = by > 0 ? left : INFINITY;
        by = by > 0 ? by : 1;
        steps[p] = left / by;
    }
    for (int p = 0; p < t->size; p++) nearest = steps[p] < nearest ? steps[p] : nearest;
    for (int p = 0; p < t->size; p++)
        if (steps[p] == nearest && nearest < INFINITY &&
            (found < 0 || (bland ? t->basic[p] < t->basic[found] : along[p] > along[found])))
            found = p;
    return found;
}

static void pivot(tableau *t, const double along[WIDE], int out, int variable)
{
    double *pivot_row = t->inverse[out], scale_by = 1 / along[out], step = t->value[out] * scale_by;
    for (int c = 0; c < t->wide; c++) pivot_row[c] *= scale_by;
    for (int p = 0; p < t->size; p++) {
        if (p == out) continue;
        double *row = t->inverse[p], by = along[p], left = t->value[p] - by * step;
        for (int c = 0; c < t->wide; c += BLOCK)
#pragma omp simd
            for (int b = c; b < c + BLOCK; b++) row[b] -= by * pivot_row[b];
        t->value[p] = left > 0 ? left : 0;
    }
    t->value[out] = step;
    t->basic[out] = variable;
}

/* A basis is never visited twice: z falls, and where it stands still for long, Bland's rule applies until it falls.
 * Rounding could break that, so the pivots are limited; what is there at the limit is an allocation all the same. */
static int minimise(tableau *t)
{
    double along[WIDE];
    int limit = 64 * t->size, still = 0, pivots = 0;
    for (; pivots < limit; pivots++) {
        bool bland = still > t->size;
        int variable = entering(t, bland);
        if (variable < 0) break;
        direction(t, variable, along);
        int out = leaving(t, along, bland);
        if (out < 0 || out == t->z) break; /* z is zero */
        still = t->value[out] > 0 ? 0 : still + 1;
        pivot(t, along, out, variable);
    }
    return pivots;
}

/* Shares from the basis. Rows sum to their load but for the last digit. */
static void hand_out(const tableau *t, int n, const double *load, double *share)
{
    double sum[MOST] = {0};
    for (int p = 0; p < t->size; p++) {
        int r = t->basic[p] / t->columns;
        if (t->basic[p] >= 0 && r < t->rows) sum[r] += t->value[p];
    }
    for (int p = 0; p < t->size; p++) {
        int r = t->basic[p] / t->columns, k = t->basic[p] % t->columns;
        if (t->basic[p] < 0 || r >= t->rows) continue;
        int i = t->fragment[r];
        share[i * n + t->gpu[k]] = load[i] * (t->value[p] / sum[r]);
    }
}

static double longest_of(int n, const double *cost, const double *share)
{
    double longest = 0;
    for (int j = 0; j < n; j++) {
        double seconds = 0;
        for (int i = 0; i < n; i++)
            if (share[i * n + j] > 0) seconds += cost[i * n + j] * share[i * n + j];
        longest = fmax(longest, seconds);
    }
    return longest;
}

static void prove(const tableau *t, int n, const double *load, const double *cost, td_allocation_proof *proof)
{
    double sum = 0;
    memset(proof->price, 0, sizeof proof->price);
    for (int k = 0; k < t->columns; k++) {
        proof->price[t->gpu[k]] = fmax(0, -t->inverse[t->z][t->rows + k]);
        sum += proof->price[t->gpu[k]];
    }
    for (int j = 0; j < n && sum > 0; j++) proof->price[j] /= sum;
    for (int r = 0; r < t->rows; r++) {
        double least = INFINITY;
        int i = t->fragment[r];
        for (int k = 0; k < t->columns; k++) {
            int j = t->gpu[k];
            if (isfinite(cost[i * n + j])) least = fmin(least, proof->price[j] * cost[i * n + j]);
        }
        proof->bound += load[i] * least;
    }
}

td_status td_allocation_prove(int n, const double *load, const double *cost, double *share, double *longest,
                              td_allocation_proof *proof)
{
    int start[MOST] = {0}, column[MOST] = {0};
    tableau t;
    TD_CHECK(td_allocation_check(n, load, cost));
    memset(share, 0, (size_t)(n * n) * sizeof *share);
    if (proof != NULL) *proof = (td_allocation_proof){.price = {1}};
    t.rows = t.columns = t.z = 0;
    t.first = 0;
    shrink(&t, n, load, cost, start, column);
    if (t.first == 0) { /* nothing to do, or for nothing */
        for (int r = 0; r < t.rows; r++) share[t.fragment[r] * n + start[t.fragment[r]]] = load[t.fragment[r]];
    } else {
        scale(&t, n, load, cost);
        begin(&t, start, column);
        int pivots = minimise(&t);
        hand_out(&t, n, load, share);
        if (proof != NULL) {
            prove(&t, n, load, cost, proof);
            proof->pivots = pivots;
        }
    }
    *longest = longest_of(n, cost, share);
    return TD_OK;
}

td_status td_allocation_solve(int n, const double *load, const double *cost, double *share, double *longest)
{
    return td_allocation_prove(n, load, cost, share, longest, NULL);
}

/* Rounds where one GPU's edges end and the next one's begin. */
void td_allocation_round(int n, const uint64_t *load, const double *share, uint64_t *edges)
{
    for (int i = 0; i < n; i++) {
        const double *row = share + i * n;
        double sum = 0, so_far = 0;
        uint64_t begun = 0;
        int last = i;
        for (int j = 0; j < n; j++) {
            sum += row[j];
            edges[i * n + j] = 0;
            if (row[j] > 0) last = j;
        }
        for (int j = 0; j < last; j++) {
            if (!(row[j] > 0)) continue;
            so_far += row[j];
            double real = floor((double)load[i] * (so_far / sum) + 0.5);
            uint64_t end = real >= (double)load[i] ? load[i] : (uint64_t)real;
            if (end < begun) end = begun;
            edges[i * n + j] = end - begun;
            begun = end;
        }
        edges[i * n + last] = load[i] - begun;
    }
}
