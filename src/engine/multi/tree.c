#include "engine/multi/tree.h"

#include <math.h>

#define EQUAL 0.05 /* measured rates that differ by less than this are equal */

typedef struct network {
    int n;
    const double *bandwidth;
    const bool *lost; /* or NULL */
} network;

static bool is_lost(const network *net, int j) { return net->lost != NULL && net->lost[j]; }

static double both_ways(const network *net, int i, int j)
{
    return net->bandwidth[i * net->n + j] + net->bandwidth[j * net->n + i];
}

static td_status check(const network *net)
{
    int left = 0;
    if (net->n < 1 || net->n > TD_MULTI_GPUS)
        return td_fail(TD_INVALID, "a group of %d GPUs; 1 to %d are allowed", net->n, TD_MULTI_GPUS);
    for (int i = 0; i < net->n * net->n; i++)
        if (!(net->bandwidth[i] >= 0) || isinf(net->bandwidth[i]))
            return td_fail(TD_INVALID, "the bandwidth from GPU %d to GPU %d is %g bytes per second; a finite number "
                           "from 0 on is allowed", i / net->n, i % net->n, net->bandwidth[i]);
    for (int j = 0; j < net->n; j++) left += !is_lost(net, j);
    return left > 0 ? TD_OK : td_fail(TD_INVALID, "all %d GPUs are lost", net->n);
}

/* The bandwidth between GPU j and the others of a group: what the group loses with it. */
static double share_of(const network *net, const bool *stays, int j)
{
    double sum = 0;
    for (int i = 0; i < net->n; i++)
        if (i != j && stays[i]) sum += both_ways(net, i, j);
    return sum;
}

/* The GPU of a group that the others miss least. */
static int least_missed(const network *net, const bool *stays)
{
    double least = INFINITY;
    int found = -1;
    for (int j = 0; j < net->n; j++)
        if (stays[j]) least = fmin(least, share_of(net, stays, j));
    for (int j = 0; j < net->n; j++) {
        if (!stays[j] || share_of(net, stays, j) > least * (1 + EQUAL)) continue;
        double memory = net->bandwidth[j * net->n + j];
        if (found < 0 || memory <= net->bandwidth[found * net->n + found] * (1 + EQUAL)) found = j;
    }
    return found;
}

static int fragments_of(const network *net, const int *owner, int j)
{
    int count = 0;
    for (int i = 0; i < net->n; i++) count += owner[i] == j;
    return count;
}

/* The GPU of the group that takes over fragment i. */
static int heir(const network *net, const bool *stays, const int *owner, int i)
{
    bool home_lost = is_lost(net, i); /* its memory is gone, and with it the link */
    double fastest = 0;
    int found = -1;
    for (int j = 0; j < net->n && !home_lost; j++)
        if (stays[j]) fastest = fmax(fastest, both_ways(net, i, j));
    for (int j = 0; j < net->n; j++) {
        if (!stays[j] || (!home_lost && both_ways(net, i, j) * (1 + EQUAL) < fastest)) continue;
        if (found < 0 || fragments_of(net, owner, j) < fragments_of(net, owner, found)) found = j;
    }
    return found;
}

/* Gives an owner in the group to every fragment whose owner does not belong to it. */
static void settle(const network *net, const bool *stays, int *owner)
{
    for (int i = 0; i < net->n; i++)
        if (owner[i] >= 0 && !stays[owner[i]]) owner[i] = -1;
    for (int i = 0; i < net->n; i++)
        if (owner[i] < 0) owner[i] = heir(net, stays, owner, i);
}

td_status td_reduction_tree_make(int n, const double *bandwidth, const bool *lost, td_reduction_tree *out)
{
    network net = {n, bandwidth, lost};
    TD_CHECK(check(&net));
    *out = (td_reduction_tree){.n = n};
    bool stays[TD_MULTI_GPUS] = {false};
    int owner[TD_MULTI_GPUS];
    for (int j = 0; j < TD_MULTI_GPUS; j++) {
        stays[j] = j < n && !is_lost(&net, j);
        out->most += stays[j];
        owner[j] = j;
    }
    for (int m = out->most, gone = -1; m >= 1; m--) {
        settle(&net, stays, owner);
        out->evicted[m] = gone;
        for (int j = 0; j < n; j++) {
            out->stays[m][j] = stays[j];
            out->owner[m][j] = owner[j];
            if (stays[j]) out->bandwidth[m] += share_of(&net, stays, j) / 2; /* a pair counts at both its ends */
        }
        gone = least_missed(&net, stays);
        stays[gone] = false;
    }
    return TD_OK;
}
