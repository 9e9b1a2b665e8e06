/* The report of a run and its timeline, as JSON. */
#include "api/request.h"

#include "base/alloc.h"
#include "base/median.h"
#include "planner/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_REPEATS = 1000 };
typedef void (*put_fn)(td_json *json, const td_run_report *report);

static td_span span_of(const td_phase *phase, const char *name)
{
    if (!phase->done) return (td_span){0};
    return (td_span){.name = name, .began = (uint64_t)(phase->start * 1e9), .seconds = phase->seconds};
}

static td_status take_summary(const td_report_facts *facts, const td_run *run, td_pool *pool, td_run_summary *out)
{
    td_summary given = {0};
    if (facts->summary == NULL) return td_run_summarise(run, pool, out);
    TD_CHECK(td_struct_take(&given, sizeof given, facts->summary, "td_summary"));
    *out = (td_run_summary){.reached = given.reached, .lowest = given.lowest, .highest = given.highest,
                            .sum = given.sum, .groups = given.groups, .largest = given.largest,
                            .digest = given.digest};
    return TD_OK;
}

/* Writes the object's text to memory of the system, which td_text_free frees. */
static td_status write_text(const td_run_report *report, put_fn put, char **out)
{
    td_json json;
    char *text = NULL;
    size_t bytes = 0;
    td_refusal system = {.resource = TD_RESOURCE_SYSTEM_MEMORY};
    FILE *file = open_memstream(&text, &bytes);
    if (file == NULL) return td_refuse(&system, "no memory for the report");
    td_json_open(&json, file);
    td_json_object(&json, NULL);
    put(&json, report);
    td_json_end_object(&json);
    td_status status = td_json_close(&json);
    if (fclose(file) != 0 && status == TD_OK) status = td_refuse(&system, "no memory for the report");
    if (status == TD_OK) *out = text;
    else free(text);
    return status;
}

static td_status describe(td_session *session, const td_plan *plan, const td_result *result,
                          const td_report_facts *given, put_fn put, char **out)
{
    td_report_facts facts = {0};
    td_run_summary summary;
    double sorted[MOST_REPEATS];
    TD_CHECK(td_struct_take(&facts, sizeof facts, given, "td_report_facts"));
    if (facts.repeats > MOST_REPEATS)
        return td_fail(TD_LIMIT, "td_report_facts.repeats is %llu; at most %d are allowed",
                       (unsigned long long)facts.repeats, MOST_REPEATS);
    if (facts.seconds == NULL) facts.repeats = 0;
    TD_CHECK(take_summary(&facts, result, session->pool, &summary));
    td_run_report report = {.run = result, .summary = &summary, .options = &plan->options, .plan = plan,
                            .claims = facts.claims, .each = facts.repeats > 0 ? facts.seconds : &result->seconds,
                            .repeats = facts.repeats > 0 ? facts.repeats : 1, .load = span_of(&facts.load, "load"),
                            .reorder = span_of(&facts.renumber, "reorder"),
                            .run_span = span_of(&facts.run, result->program->info->name),
                            .verify = span_of(&facts.verify, "verify"), .output = span_of(&facts.output, "write"),
                            .start = span_of(&facts.start, "start"), .planning = span_of(&facts.plan, "plan"),
                            .earlier = span_of(&facts.earlier, "earlier runs"),
                            .summarise = span_of(&facts.summarise, "summarise"),
                            .expected = facts.expected != NULL ? facts.expected : &plan->estimates,
                            .load_peak = facts.load_peak, .run_peak = facts.run_peak};
    memcpy(sorted, report.each, report.repeats * sizeof *sorted);
    report.median = td_median(sorted, (int)report.repeats);
    return write_text(&report, put, out);
}

/* Whether the plan's run gave the result. One whose values were too small was repeated with wider ones. */
static bool is_of(const td_plan *plan, const td_result *result)
{
    const td_graph *graph = plan->graph->ranks_of != NULL ? plan->graph->ranks_of : plan->graph;
    bool same = result->program == plan->program || (result->program == plan->program->wide && plan->program->wide != NULL);
    return same && graph == result->graph;
}

static td_status make(td_session *session, const td_plan *plan, const td_result *result, const td_report_facts *facts,
                      put_fn put, char **out)
{
    TD_CHECK(td_need(plan, "the plan"));
    TD_CHECK(td_need(result, "the result"));
    TD_CHECK(td_need(out, "the place for the text"));
    TD_CHECK(td_session_enter(session));
    td_status status = is_of(plan, result) ? describe(session, plan, result, facts, put, out)
                                           : td_fail(TD_INVALID, "the result is of another plan");
    td_session_leave(session);
    return status;
}

td_status td_report_json(td_session *session, const td_plan *plan, const td_result *result,
                         const td_report_facts *facts, char **text)
{
    return make(session, plan, result, facts, td_run_report_json, text);
}

td_status td_trace_json(td_session *session, const td_plan *plan, const td_result *result,
                        const td_report_facts *facts, char **text)
{
    return make(session, plan, result, facts, td_run_trace_json, text);
}

void td_text_free(char *text) { free(text); }
