#include "wall.h"

#include "base/log.h"

#include <stdio.h>
#include <string.h>

enum { PHASES = 12 };

typedef struct named {
    const char *name;
    double seconds;
} named;

static void list(const td_wall *wall, named phases[PHASES])
{
    const td_report_facts *of = wall->phases;
    const td_result_facts *run = wall->run;
    const named all[PHASES] = {
        {"start", of->start.seconds}, {"load", of->load.seconds}, {"open GPU", run->open_seconds},
        {"plan", of->plan.seconds - run->open_seconds}, {"prepare", of->renumber.seconds + run->prepare_seconds},
        {"earlier runs", of->earlier.seconds}, {"processing", wall->processing},
        {"finish", run->finish_seconds + of->summarise.seconds}, {"verify", of->verify.seconds},
        {"write", of->output.seconds}, {"report", wall->report->seconds}, {"close", wall->close->seconds}};
    memcpy(phases, all, sizeof all);
}

static double rest_of(const td_wall *wall)
{
    named phases[PHASES];
    double rest = wall->seconds;
    list(wall, phases);
    for (int i = 0; i < PHASES; i++) rest -= phases[i].seconds;
    return rest;
}

/* The planner's phases of the engine that ran; a batch has none. */
static void show_expected(const td_wall *wall)
{
    td_plan_estimate row = {.size = sizeof row};
    if (wall->engine == NULL) return;
    for (int i = 0; wall->expected != NULL && td_estimates_row(wall->expected, i, &row) == TD_OK; i++) {
        if (row.refusal != NULL || strcmp(row.engine, wall->engine) != 0) continue;
        td_debug("expected %.3f s: start %.3f, load %.3f, open GPU %.3f, prepare %.3f, processing %.3f, finish %.3f; "
                 "measured %.2f times as long", row.seconds, row.start, row.load, row.open, row.prepare, row.processing,
                 row.finish, wall->seconds / row.seconds);
    }
}

/* Phases below half a millisecond are left out of the line. */
void td_wall_show(const td_wall *wall)
{
    char text[512] = "";
    named phases[PHASES];
    list(wall, phases);
    for (int i = 0; i < PHASES; i++) {
        size_t used = strlen(text);
        if (phases[i].seconds < 0.0005) continue;
        snprintf(text + used, sizeof text - used, "%s %.3f, ", phases[i].name, phases[i].seconds);
    }
    td_info("wall clock %.3f s: %srest %.3f", wall->seconds, text, rest_of(wall));
    show_expected(wall);
}

void td_wall_json(td_json *json, const td_wall *wall)
{
    td_json_object(json, "wall");
    td_json_real(json, "seconds", wall->seconds);
    td_json_real(json, "report", wall->report->seconds);
    td_json_real(json, "close", wall->close->seconds);
    td_json_real(json, "rest", rest_of(wall));
    td_json_end_object(json);
}
