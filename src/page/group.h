/* Iterations in groups: a page draws at most some hundred columns per run, each for as many consecutive iterations.
 * A group keeps sums, and the maximum where a sum would mean nothing; the page says how many iterations a column
 * has. */
#ifndef TD_PAGE_GROUP_H
#define TD_PAGE_GROUP_H

#include "page/model.h"

/* What a device did in a part of the time. */
typedef enum td_page_state {
    TD_STATE_COMPUTE, TD_STATE_BOTH, TD_STATE_COPY, TD_STATE_IDLE, TD_STATE_UNDIVIDED, TD_PAGE_STATES,
} td_page_state;

typedef struct td_page_group {
    uint32_t first, count; /* rows */
    int direction;         /* of most of its edges */
    double frontier, frontier_mean, edges, edges_most, edges_mean, moved, useful, seconds;
    double begin, end;     /* since the run began */
} td_page_group;

typedef struct td_page_groups {
    td_page_group *of;
    uint32_t count;
    uint32_t size; /* iterations of every group but the last */
} td_page_groups;

td_status td_page_groups_make(td_page_groups *groups, const td_page_run *run, uint32_t most);
void td_page_groups_free(td_page_groups *groups);

/* Adds the seconds that a device spent in each state in the group's iterations. They add up to the iterations'. */
void td_page_add_states(const td_page_run *run, int device, const td_page_group *group,
                        double seconds[TD_PAGE_STATES]);

#endif
