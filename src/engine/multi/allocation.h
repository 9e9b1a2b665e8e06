/* Frontier stealing's linear program (GUM, section III): which GPU processes how many of the active edges of each
 * fragment, so that the GPU that takes longest takes as short as possible.
 *
 *     minimise  max over j of sum_i c_ij x_ij      subject to  sum_j x_ij = l_i,  x_ij >= 0
 *
 * l_i are the active edges of fragment i, c_ij the seconds that GPU j needs for one of them, x_ij the edges of fragment
 * i that GPU j processes. Matrices are row by row, fragment i in row i. Nothing is allocated, and equal arguments give
 * equal results.
 *
 * The paper solves an integer program. Edges are counted in millions where stealing pays, so that rounding a real
 * solution (td_allocation_round) loses nothing measurable, and it has at most 2n - 1 shares that are not zero. */
#ifndef TD_MULTI_ALLOCATION_H
#define TD_MULTI_ALLOCATION_H

#include "base/status.h"

enum { TD_MULTI_GPUS = 16 }; /* the most GPUs of a group */

/* A cost of INFINITY says that GPU j may not process fragment i. `share` (n * n) gets x_ij, `longest` the maximum over
 * j, in seconds. Fails with TD_INVALID for another n than 1 to TD_MULTI_GPUS, a load that is negative or not finite, a
 * cost that is negative or not a number, and an active fragment that no GPU may process. */
td_status td_allocation_solve(int n, const double *load, const double *cost, double *share, double *longest);

/* The checks alone. */
td_status td_allocation_check(int n, const double *load, const double *cost);

/* Evidence of the optimum. For any prices w_j >= 0 that sum to 1, sum_i l_i min_j w_j c_ij is a lower bound of the
 * maximum (weak duality); with the prices of the last basis the bound equals it. */
typedef struct td_allocation_proof {
    double price[TD_MULTI_GPUS]; /* w_j */
    double bound;                /* the lower bound, in seconds */
    int pivots;
} td_allocation_proof;

/* td_allocation_solve, with the evidence. */
td_status td_allocation_prove(int n, const double *load, const double *cost, double *share, double *longest,
                              td_allocation_proof *proof);

/* Shares in whole edges: row i sums to load[i], every sum over the first GPUs of a row is within one edge of the real
 * one, and a share of zero stays zero. */
void td_allocation_round(int n, const uint64_t *load, const double *share, uint64_t *edges);

#endif
