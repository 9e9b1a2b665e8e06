/* The planner's estimates in the API. */
#include "api/request.h"

#include "base/alloc.h"
#include "base/mapping.h"
#include "planner/choose.h"
#include "planner/plan.h"

#include <string.h>

const td_estimates *td_plan_estimates(const td_plan *plan) { return plan != NULL ? &plan->estimates : NULL; }

/* The row of the engine that the request names or that its settings are for; otherwise the least one. */
static void choose(const td_taken *run, td_estimates *answer)
{
    const char *name = run->request.engine;
    bool automatic = name == NULL || strcmp(name, "auto") == 0;
    if (!automatic) td_estimates_choose(answer, td_engine_asked(name, &run->settings));
}

/* Whether the request names an engine that uses no GPU. */
static bool names_cores(const td_taken *run)
{
    const char *name = run->request.engine;
    const td_engine *engine = name != NULL && strcmp(name, "auto") != 0 ? td_engine_named(name) : NULL;
    return engine != NULL && !engine->needs_gpu;
}

/* With `advises`: for a user, who wants to know what else there is. Otherwise CUDA is asked for a GPU only if the choice
 * depends on it: that takes a tenth of a second. */
static td_status estimate(td_session *session, const char *path, const char *program, const td_request *request,
                          bool advises, td_estimates **out)
{
    td_status status = TD_OK;
    td_taken *run = NULL;
    td_question question;
    td_estimates *answer = NULL;
    TD_CHECK(TD_NEW_ZEROED(&run, 1, "request"));
    TD_TRY(td_request_take(run, session, program, request));
    TD_TRY(TD_NEW(&answer, 1, "estimates"));
    TD_TRY(td_question_of_file(&question, path, run->program, &run->options));
    if (!advises && names_cores(run)) td_question_leave_gpu(&question);
    td_question_answer(&question, answer);
    if (advises) td_question_advise(&question, answer);
    choose(run, answer);
    *out = answer;
    answer = NULL;
done:
    td_free(answer);
    td_taken_free(run);
    return status;
}

static td_status estimate_file(td_session *session, const char *path, const char *program, const td_request *request,
                               bool advises, td_estimates **out)
{
    TD_CHECK(td_need(path, "the path"));
    TD_CHECK(td_need(out, "the place for the estimates"));
    TD_CHECK(td_session_enter(session));
    td_status status = td_mapping_settle(estimate(session, path, program, request, advises, out));
    td_session_leave(session);
    return status;
}

td_status td_file_estimate(td_session *session, const char *path, const char *program, const td_request *request,
                           td_estimates **out)
{
    return estimate_file(session, path, program, request, true, out);
}

td_status td_file_expect(td_session *session, const char *path, const char *program, const td_request *request,
                         td_estimates **out)
{
    return estimate_file(session, path, program, request, false, out);
}

void td_estimates_destroy(td_estimates *estimates) { td_free(estimates); }

td_status td_estimates_row(const td_estimates *estimates, int row, td_plan_estimate *out)
{
    TD_CHECK(td_need(estimates, "the estimates"));
    if (row < 0 || row >= estimates->count) return td_fail(TD_NOT_FOUND, "there is no estimate %d", row);
    return td_struct_give(out, &estimates->rows[row], sizeof estimates->rows[row], "td_plan_estimate");
}

const char *td_estimates_why(const td_estimates *estimates) { return estimates != NULL ? estimates->why : NULL; }
const char *td_estimates_basis(const td_estimates *estimates) { return estimates != NULL ? estimates->basis : NULL; }

const char *td_estimates_advice(const td_estimates *estimates, int index)
{
    return estimates != NULL && index >= 0 && index < estimates->advice_count ? estimates->advice[index] : NULL;
}
