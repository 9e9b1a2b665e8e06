/* A request as the engines take it: checked, with its settings parsed. */
#ifndef TD_API_REQUEST_H
#define TD_API_REQUEST_H

#include "api/session.h"
#include "engine/engine.h"

enum { TD_TAKEN_TEXTS = 3 };
typedef struct td_taken {
    char *texts[TD_TAKEN_TEXTS]; /* of the request, copied for a plan */
    td_request request;
    const td_program *program;
    td_settings settings;
    td_run_options options; /* all but the sources, which need the graph */
    uint32_t *sources; /* of a batch: vertices, as td_taken_find_sources finds them */
    bool huge_pages;
} td_taken;

/* Fills a zeroed struct, which is to be freed even after a failure. The texts are the caller's until
 * td_taken_keep_texts has copied them. */
td_status td_request_take(td_taken *self, td_session *session, const char *program, const td_request *given);
td_status td_taken_keep_texts(td_taken *self);
void td_taken_free(void *taken);

/* The vertices of a request's sources (batch.c). */
td_status td_taken_find_sources(td_taken *self, const td_graph *graph);

/* A run of a plan with everything around it (run.c); and of a group of its sources. */
td_status td_plan_run_inside(td_plan *plan, td_group *group, td_run **out);

#endif
