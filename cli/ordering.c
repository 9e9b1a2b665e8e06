#include "ordering.h"

#include "base/clock.h"
#include "base/log.h"

#include <stdio.h>
#include <string.h>

td_status td_ordering_choose(td_ordering *ordering, const char *name, uint64_t seed)
{
    *ordering = (td_ordering){.order = name != NULL ? name : "none", .seed = seed};
    ordering->changes = strcmp(ordering->order, "none") != 0;
    return td_order_check(ordering->order);
}

td_status td_ordering_apply(td_ordering *ordering, td_graph **graph, td_session *session)
{
    if (!ordering->changes) return TD_OK;
    td_progress_text("reordering: %s", ordering->order);
    uint64_t start = td_clock_ns();
    td_status status = td_graph_set_order(session, graph, ordering->order, ordering->seed);
    ordering->seconds = td_seconds_since(start);
    td_progress_end();
    return status;
}

char *td_ordering_text(char text[TD_ORDERING_TEXT], const td_ordering *ordering)
{
    text[0] = '\0';
    if (ordering->changes)
        snprintf(text, TD_ORDERING_TEXT, " reorder (%s) %.3f s,", ordering->order, ordering->seconds);
    return text;
}

void td_ordering_json(td_json *json, const td_ordering *ordering)
{
    td_json_string(json, "order", ordering->order);
    td_json_real(json, "reorder_seconds", ordering->seconds);
}
