#include "ordering.h"

#include "base/clock.h"
#include "base/log.h"

#include <stdio.h>

td_status td_ordering_choose(td_ordering *ordering, const char *name, uint64_t seed)
{
    *ordering = (td_ordering){.order = TD_ORDER_NONE, .seed = seed};
    return name == NULL ? TD_OK : td_order_named(name, &ordering->order);
}

td_status td_ordering_apply(td_ordering *ordering, td_graph **graph, td_pool *pool)
{
    if (ordering->order == TD_ORDER_NONE) return TD_OK;
    td_progress_text("reordering: %s", td_order_name(ordering->order));
    uint64_t start = td_clock_ns();
    td_status status = td_graph_reorder(graph, ordering->order, ordering->seed, pool);
    ordering->seconds = td_seconds_since(start);
    td_progress_end();
    return status;
}

char *td_ordering_text(char text[TD_ORDERING_TEXT], const td_ordering *ordering)
{
    text[0] = '\0';
    if (ordering->order != TD_ORDER_NONE)
        snprintf(text, TD_ORDERING_TEXT, " reorder (%s) %.3f s,", td_order_name(ordering->order), ordering->seconds);
    return text;
}

void td_ordering_json(td_json *json, const td_ordering *ordering)
{
    td_json_string(json, "order", td_order_name(ordering->order));
    td_json_real(json, "reorder_seconds", ordering->seconds);
}
