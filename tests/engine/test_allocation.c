/* Frontier stealing's linear program. The proof of every solve is checked here, by its definition: the shares are an
 * allocation, the prices give a lower bound, and the two meet. Where GLPK is installed it solves the same problems. */
#include "test.h"

#include "base/random.h"
#include "engine/multi/allocation.h"

#include <math.h>
#ifdef TANDEM_HAVE_GLPK
#include <glpk.h>
#endif

enum { MOST = TD_MULTI_GPUS };

typedef struct problem {
    int n;
    double load[MOST], cost[MOST * MOST];
    uint64_t seed, drawn;
} problem;

static double unit(problem *p) { return td_random_unit(td_random_at(p->seed, p->drawn++)); }
static double between(problem *p, double low, double high) { return low + (high - low) * unit(p); }
static double power(problem *p, double low, double high) { return pow(10, between(p, low, high)); }

static bool is_close(double a, double b, double relative) { return fabs(a - b) <= relative * fmax(fabs(a), fabs(b)); }

static void check_shares(const problem *p, const double *share, double longest)
{
    double highest = 0;
    for (int i = 0; i < p->n; i++) {
        double sum = 0;
        for (int j = 0; j < p->n; j++) {
            double x = share[i * p->n + j];
            CHECK(x >= 0 && isfinite(x));
            CHECK(x == 0 || isfinite(p->cost[i * p->n + j]));
            sum += x;
        }
        CHECK(is_close(sum, p->load[i], 1e-12));
    }
    for (int j = 0; j < p->n; j++) {
        double seconds = 0;
        for (int i = 0; i < p->n; i++)
            if (share[i * p->n + j] > 0) seconds += p->cost[i * p->n + j] * share[i * p->n + j];
        highest = fmax(highest, seconds);
    }
    CHECK(is_close(highest, longest, 1e-12));
}

/* Weak duality: with prices w >= 0 that sum to 1, no allocation has a maximum below sum_i l_i min_j w_j c_ij. */
static double bound_of(const problem *p, const double *price)
{
    double bound = 0, sum = 0;
    for (int j = 0; j < p->n; j++) {
        CHECK(price[j] >= 0);
        sum += price[j];
    }
    CHECK(is_close(sum, 1, 1e-12));
    for (int i = 0; i < p->n; i++) {
        double least = INFINITY;
        for (int j = 0; j < p->n; j++)
            if (isfinite(p->cost[i * p->n + j])) least = fmin(least, price[j] * p->cost[i * p->n + j]);
        if (p->load[i] > 0) bound += p->load[i] * least;
    }
    return bound;
}

static double solve_proved(const problem *p)
{
    double share[MOST * MOST], again[MOST * MOST], longest = -1, longest_again = -2;
    td_allocation_proof proof;
    CHECK_OK(td_allocation_prove(p->n, p->load, p->cost, share, &longest, &proof));
    check_shares(p, share, longest);
    double bound = bound_of(p, proof.price);
    if (!is_close(bound, longest, 1e-9) && fabs(bound - longest) > 1e-300)
        TEST_FAIL("n %d, seed %llu: %.17g seconds, of which the prices prove %.17g (%d pivots)", p->n,
                  (unsigned long long)p->seed, longest, bound, proof.pivots);
    CHECK(is_close(proof.bound, bound, 1e-12));
    CHECK(proof.pivots < 20 * p->n + 20);
    CHECK_OK(td_allocation_solve(p->n, p->load, p->cost, again, &longest_again));
    CHECK(longest == longest_again);
    CHECK(memcmp(share, again, (size_t)(p->n * p->n) * sizeof *share) == 0);
    return longest;
}

#ifdef TANDEM_HAVE_GLPK
/* Columns y_ij (fractions) and z; costs are divided by the largest, so that GLPK's absolute tolerances mean something. */
static double solve_with_glpk(const problem *p)
{
    int n = p->n, used = 0, rows[2 * MOST * MOST + 2 * MOST], columns[2 * MOST * MOST + 2 * MOST];
    double values[2 * MOST * MOST + 2 * MOST], largest = 0, z;
    for (int i = 0; i < n * n; i++)
        if (isfinite(p->cost[i]) && p->load[i / n] > 0) largest = fmax(largest, p->cost[i] * p->load[i / n]);
    glp_prob *lp = glp_create_prob();
    glp_add_rows(lp, 2 * n);
    glp_add_cols(lp, n * n + 1);
    glp_set_obj_dir(lp, GLP_MIN);
    glp_set_obj_coef(lp, n * n + 1, 1);
    glp_set_col_bnds(lp, n * n + 1, GLP_LO, 0, 0);
    for (int i = 0; i < n; i++) {
        bool active = p->load[i] > 0;
        glp_set_row_bnds(lp, i + 1, GLP_FX, active, active);
        glp_set_row_bnds(lp, n + i + 1, GLP_UP, 0, 0);
        for (int j = 0; j < n; j++) {
            bool may = active && isfinite(p->cost[i * n + j]);
            glp_set_col_bnds(lp, i * n + j + 1, may ? GLP_LO : GLP_FX, 0, 0);
            if (!may) continue;
            used++, rows[used] = i + 1, columns[used] = i * n + j + 1, values[used] = 1;
            used++, rows[used] = n + j + 1, columns[used] = i * n + j + 1;
            values[used] = largest > 0 ? p->cost[i * n + j] * p->load[i] / largest : 0;
        }
        used++, rows[used] = n + i + 1, columns[used] = n * n + 1, values[used] = -1;
    }
    glp_load_matrix(lp, used, rows, columns, values);
    glp_smcp how;
    glp_init_smcp(&how);
    how.msg_lev = GLP_MSG_OFF;
    how.tol_bnd = how.tol_dj = 1e-10;
    bool solved = glp_simplex(lp, &how) == 0 && glp_get_status(lp) == GLP_OPT;
    z = glp_get_obj_val(lp) * largest;
    glp_delete_prob(lp);
    CHECK(solved);
    return z;
}
#endif

/* `tame`: costs within a few powers of ten, where GLPK's tolerances reach. */
static void solve(const problem *p, bool tame)
{
    double longest = solve_proved(p);
    (void)longest, (void)tame;
#ifdef TANDEM_HAVE_GLPK
    if (!tame) return;
    double theirs = solve_with_glpk(p);
    if (!is_close(longest, theirs, 1e-7))
        TEST_FAIL("n %d, seed %llu: %.17g seconds, GLPK finds %.17g", p->n, (unsigned long long)p->seed, longest,
                  theirs);
#endif
}

static problem draw(int n, uint64_t seed) { return (problem){.n = n, .seed = seed}; }

TEST(random_costs)
{
    for (uint64_t seed = 0; seed < 1600; seed++) {
        problem p = draw(1 + (int)(seed % MOST), seed);
        for (int i = 0; i < p.n; i++) p.load[i] = between(&p, 0, 1e6);
        for (int i = 0; i < p.n * p.n; i++) p.cost[i] = between(&p, 0.5e-9, 1.5e-9);
        solve(&p, true);
    }
}

TEST(local_edges_are_cheapest_and_links_have_a_few_rates)
{
    for (uint64_t seed = 0; seed < 1600; seed++) {
        problem p = draw(1 + (int)(seed % MOST), seed);
        for (int i = 0; i < p.n; i++) p.load[i] = floor(power(&p, 0, 8));
        for (int i = 0; i < p.n * p.n; i++) p.cost[i] = (i % (p.n + 1) == 0 ? 1 : 2 + floor(between(&p, 0, 3))) * 1e-10;
        solve(&p, true);
    }
}

TEST(equal_costs_spread_the_load_evenly)
{
    for (int n = 1; n <= MOST; n++) {
        problem p = draw(n, 7);
        double sum = 0;
        for (int i = 0; i < n; i++) sum += p.load[i] = i == n / 2 ? 1000 : i % 3;
        for (int i = 0; i < n * n; i++) p.cost[i] = 2;
        solve(&p, true);
        CHECK(is_close(solve_proved(&p), 2 * sum / n, 1e-12));
    }
}

/* Ties everywhere: loads and costs of one to three values, many of the loads zero. Where these are not whole numbers,
 * what should cancel out leaves a last digit. */
TEST(degenerate_problems)
{
    for (uint64_t seed = 0; seed < 4800; seed++) {
        problem p = draw(1 + (int)(seed % MOST), seed);
        double idle = unit(&p), costs[3][3] = {{1, 1, 1}, {1, 2, 2}, {0.1, 0.3, 0.7 * 0.1}};
        int kind = (int)(seed / MOST % 3);
        for (int i = 0; i < p.n; i++) p.load[i] = unit(&p) < idle ? 0 : kind < 2 ? 64 : floor(between(&p, 1, 4)) / 3;
        for (int i = 0; i < p.n * p.n; i++) p.cost[i] = costs[kind][(int)between(&p, 0, 3)];
        solve(&p, true);
    }
}

/* Forbidden pairs and evicted GPUs; whether a fragment's own GPU may process it is drawn too. */
TEST(infinite_costs)
{
    for (uint64_t seed = 0; seed < 3200; seed++) {
        problem p = draw(1 + (int)(seed % MOST), seed);
        double refused = unit(&p), evicted = unit(&p) / 2;
        for (int i = 0; i < p.n; i++) p.load[i] = unit(&p) < 0.2 ? 0 : between(&p, 1, 1e6);
        for (int i = 0; i < p.n * p.n; i++) p.cost[i] = unit(&p) < refused ? INFINITY : between(&p, 1, 20);
        for (int j = 0; j < p.n; j++)
            if (unit(&p) < evicted)
                for (int i = 0; i < p.n; i++) p.cost[i * p.n + j] = INFINITY;
        int open = (int)(seed / MOST) % p.n; /* this GPU may process everything */
        for (int i = 0; i < p.n; i++) p.cost[i * p.n + open] = between(&p, 1, 20);
        solve(&p, true);
    }
}

TEST(wild_scales)
{
    for (uint64_t seed = 0; seed < 3200; seed++) {
        problem p = draw(1 + (int)(seed % MOST), seed);
        for (int i = 0; i < p.n; i++) p.load[i] = unit(&p) < 0.1 ? 0 : power(&p, -12, 6);
        for (int i = 0; i < p.n * p.n; i++) p.cost[i] = unit(&p) < 0.1 ? INFINITY : power(&p, -12, 6);
        for (int i = 0; i < p.n; i++) p.cost[i * p.n + (i + 1) % p.n] = power(&p, -12, 6);
        solve(&p, false);
    }
}

/* Edges in thousands that cost a thousand times as much take the same seconds. */
TEST(units_do_not_matter)
{
    double first = 0;
    for (int scale = -12; scale <= 6; scale += 3) {
        problem p = draw(8, 11);
        for (int i = 0; i < 8; i++) p.load[i] = pow(10, scale) * between(&p, 0, 1e6);
        for (int i = 0; i < 64; i++) p.cost[i] = between(&p, 1, 9) / pow(10, scale);
        double longest = solve_proved(&p);
        if (scale == -12) first = longest;
        CHECK(is_close(longest, first, 1e-12));
    }
}

TEST(costs_of_zero)
{
    for (uint64_t seed = 0; seed < 800; seed++) {
        problem p = draw(1 + (int)(seed % MOST), seed);
        for (int i = 0; i < p.n; i++) p.load[i] = between(&p, 0, 100);
        for (int i = 0; i < p.n * p.n; i++) p.cost[i] = unit(&p) < 0.1 ? 0 : between(&p, 1, 9);
        solve_proved(&p);
    }
    problem free_of_charge = {.n = 2, .load = {5, 6}};
    CHECK(solve_proved(&free_of_charge) == 0);
    problem tiny = {.n = 2, .load = {1, 2}, .cost = {1e-310, 3e-310, 3e-310, 1e-310}};
    solve_proved(&tiny);
}

TEST(small_problems_with_known_answers)
{
    CHECK(is_close(solve_proved(&(problem){.n = 1, .load = {12}, .cost = {0.5}}), 6, 1e-15));
    CHECK(solve_proved(&(problem){.n = 3, .load = {0, 0, 0}, .cost = {1, 1, 1, 1, 1, 1, 1, 1, 1}}) == 0);
    /* Eight edges on one GPU, two on the other; a stolen edge costs twice as much: two are stolen. */
    CHECK(is_close(solve_proved(&(problem){.n = 2, .load = {8, 2}, .cost = {1, 2, 2, 1}}), 6, 1e-12));
    /* An evicted GPU: everything on the other. */
    CHECK(is_close(solve_proved(&(problem){.n = 2, .load = {8, 2}, .cost = {1, INFINITY, 3, INFINITY}}), 14, 1e-12));
    /* Nothing is stolen where stealing costs more than it saves. */
    double share[4], longest;
    CHECK_OK(td_allocation_solve(2, (double[]){5, 5}, (double[]){1, 1.5, 1.5, 1}, share, &longest));
    CHECK(share[0] == 5 && share[1] == 0 && share[2] == 0 && share[3] == 5);
}

/* A basic solution has a share for every row and at most one more for every GPU but one. */
TEST(few_shares_are_not_zero)
{
    for (uint64_t seed = 0; seed < 100; seed++) {
        problem p = draw(MOST, seed);
        double share[MOST * MOST], longest;
        int shares = 0;
        for (int i = 0; i < MOST; i++) p.load[i] = between(&p, 1, 1e6);
        for (int i = 0; i < MOST * MOST; i++) p.cost[i] = between(&p, 1, 2);
        CHECK_OK(td_allocation_solve(MOST, p.load, p.cost, share, &longest));
        for (int i = 0; i < MOST * MOST; i++) shares += share[i] > 0;
        CHECK(shares <= 2 * MOST - 1);
    }
}

TEST(wrong_arguments_are_refused)
{
    double share[4], longest, fine[4] = {1, 1, 1, 1};
    CHECK_STATUS(td_allocation_solve(0, fine, fine, share, &longest), TD_INVALID);
    CHECK_STATUS(td_allocation_solve(17, fine, fine, share, &longest), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "17 GPUs");
    CHECK_STATUS(td_allocation_solve(2, (double[]){1, -1}, fine, share, &longest), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "fragment 1");
    CHECK_STATUS(td_allocation_solve(2, (double[]){NAN, 1}, fine, share, &longest), TD_INVALID);
    CHECK_STATUS(td_allocation_solve(2, (double[]){INFINITY, 1}, fine, share, &longest), TD_INVALID);
    CHECK_STATUS(td_allocation_solve(2, fine, (double[]){1, NAN, 1, 1}, share, &longest), TD_INVALID);
    CHECK_STATUS(td_allocation_solve(2, fine, (double[]){1, 1, -2, 1}, share, &longest), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "fragment 1 costs GPU 0");
    CHECK_STATUS(td_allocation_solve(2, fine, (double[]){1, 1, INFINITY, INFINITY}, share, &longest), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "no GPU may process");
    CHECK_STATUS(td_allocation_solve(1, (double[]){1e200}, (double[]){1e200}, share, &longest), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "GPU 0: more than 1e+250 seconds");
    CHECK_OK(td_allocation_solve(2, (double[]){3, 0}, (double[]){1, 1, INFINITY, INFINITY}, share, &longest));
}

TEST(whole_edges_sum_to_the_load)
{
    for (uint64_t seed = 0; seed < 2000; seed++) {
        problem p = draw(1 + (int)(seed % MOST), seed);
        uint64_t load[MOST], edges[MOST * MOST];
        double share[MOST * MOST], longest;
        for (int i = 0; i < p.n; i++) p.load[i] = (double)(load[i] = (uint64_t)(unit(&p) < 0.2 ? 0 : power(&p, 0, 18)));
        for (int i = 0; i < p.n * p.n; i++) p.cost[i] = unit(&p) < 0.3 ? INFINITY : between(&p, 1, 4);
        for (int i = 0; i < p.n; i++) p.cost[i * p.n + i] = between(&p, 1, 4);
        CHECK_OK(td_allocation_solve(p.n, p.load, p.cost, share, &longest));
        td_allocation_round(p.n, load, share, edges);
        for (int i = 0; i < p.n; i++) {
            uint64_t sum = 0;
            double real = 0;
            for (int j = 0; j < p.n; j++) {
                sum += edges[i * p.n + j];
                real += share[i * p.n + j];
                CHECK(edges[i * p.n + j] == 0 || share[i * p.n + j] > 0);
                CHECK(fabs((double)sum - real) <= 1 + 1e-12 * (double)load[i]);
            }
            CHECK(sum == load[i]);
        }
    }
}

TEST_MAIN
