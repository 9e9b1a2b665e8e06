#include "engine/multi/sync.h"

#include <math.h>
#include <stddef.h>

#define KEEP 0.98         /* an iteration weighs so much less than the next: fifty count */
#define DISTINCT 0.05     /* variance of m, over its mean squared, from which p and q can be distinguished */

static void count_in(td_sync_cost *s, double m, double y)
{
    s->count += 1;
    s->m += m;
    s->mm += m * m;
    s->y += y;
    s->my += m * y;
}

void td_sync_cost_begin(td_sync_cost *sync, int m, double guess)
{
    *sync = (td_sync_cost){0};
    if (guess > 0) count_in(sync, m, m * guess);
}

void td_sync_cost_add(td_sync_cost *sync, int m, double seconds, double longest)
{
    double beyond = seconds - longest;
    if (!isfinite(beyond) || beyond < 0) beyond = 0;
    *sync = (td_sync_cost){KEEP * sync->count, KEEP * sync->m, KEEP * sync->mm, KEEP * sync->y, KEEP * sync->my};
    count_in(sync, m, beyond);
}

double td_sync_cost_fit(const td_sync_cost *s, double *q)
{
    double p = s->mm > 0 ? s->my / s->mm : 0, constant = 0;
    double spread = s->count * s->mm - s->m * s->m;
    if (spread > DISTINCT * s->m * s->m) {
        double slope = (s->count * s->my - s->m * s->y) / spread, rest = (s->y - slope * s->m) / s->count;
        if (slope < 0) p = 0, constant = s->y / s->count; /* a constant alone fits best */
        else if (rest >= 0) p = slope, constant = rest;
    }
    if (q != NULL) *q = constant;
    return p;
}
