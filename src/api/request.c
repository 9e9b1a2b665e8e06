#include "api/request.h"

#include "base/alloc.h"
#include "planner/plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static td_status find_program(const char *name, const td_program **out)
{
    char names[512] = "";
    TD_CHECK(td_need(name, "the program's name"));
    *out = td_program_named(name);
    if (*out != NULL) return TD_OK;
    for (int i = 0; td_programs[i] != NULL; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", used > 0 ? ", " : "", td_programs[i]->info->name);
    }
    return td_fail(TD_NOT_FOUND, "unknown program '%s'; there are %s", name, names);
}

static td_status take_settings(td_taken *self)
{
    double huge_pages;
    const char *const *texts = self->request.settings;
    for (; texts != NULL && *texts != NULL; texts++) TD_CHECK(td_settings_add(&self->settings, *texts));
    TD_CHECK(td_plan_check(self->request.engine, self->request.devices));
    const td_engine *engine = td_engine_asked(self->request.engine, &self->settings);
    bool matters = self->settings.count > 0 || self->request.gpu_edges != 0; /* otherwise CUDA's driver need not start */
    if (engine == NULL)
        engine = matters ? td_engine_choose(self->request.engine, self->request.devices, &self->settings) : &td_cpu_engine;
    TD_CHECK(td_plan_check_settings(engine, self->program, &self->settings));
    TD_CHECK(td_plan_check_edges(engine, self->request.gpu_edges));
    TD_CHECK(td_settings_number(&self->settings, "cpu", td_cpu_engine.settings, "huge_pages", &huge_pages));
    self->huge_pages = huge_pages == 0;
    return TD_OK;
}

/* A batch is of programs that start from one vertex; what a run leaves behind for others is of single runs. */
static td_status check_batch(const td_taken *self)
{
    const td_request *request = &self->request;
    const td_program_info *info = self->program->info;
    bool set = false;
    for (uint64_t i = 0; i < self->settings.count; i++) {
        const char *dot = strchr(self->settings.keys[i], '.');
        set = set || (dot != NULL && strcmp(dot, ".batch") == 0);
    }
    if (request->sources == NULL && request->source_count > 0)
        return td_fail(TD_INVALID, "td_request.sources is NULL, and source_count is %" PRIu64, request->source_count);
    if (request->sources == NULL)
        return set ? td_fail(TD_USAGE, "the setting 'batch' is for {sources}: there is one run") : TD_OK;
    if (request->source_count == 0) return td_fail(TD_USAGE, "{sources}: there are none");
    if (request->has_source || request->source_name != NULL)
        return td_fail(TD_USAGE, "{source} and {sources}: give one of them");
    if (!info->needs_source)
        return td_fail(TD_USAGE, "{sources} is for programs that start from one vertex, such as bfs and sssp; %s does "
                       "not", info->name);
    if (request->checkpoint != NULL)
        return td_fail(TD_USAGE, "{checkpoint} with {sources}: a checkpoint is the state of one run; run such a source "
                       "alone");
    if (request->resume == NULL) return TD_OK;
    return td_fail(TD_USAGE, "{resume} with {sources}: a checkpoint is the state of one run; resume it with its source "
                   "alone");
}

td_status td_request_take(td_taken *self, td_session *session, const char *program, const td_request *given)
{
    td_request *request = &self->request;
    TD_CHECK(find_program(program, &self->program));
    TD_CHECK(td_struct_take(request, sizeof *request, given, "td_request"));
    TD_CHECK(take_settings(self));
    if (request->has_source && request->source_name != NULL)
        return td_fail(TD_USAGE, "td_request.source and source_name: give one of them");
    TD_CHECK(check_batch(self));
    if (!(request->gpu_edges >= 0 && request->gpu_edges <= 0x1p62))
        return td_fail(TD_INVALID, "td_request.gpu_edges is %g, a share or a number of bytes is allowed",
                       request->gpu_edges);
    if (request->mode < TD_MODE_DEFAULT || request->mode > TD_MODE_ASYNC)
        return td_fail(TD_INVALID, "td_request.mode is %d; allowed are TD_MODE_DEFAULT, TD_MODE_SYNC and TD_MODE_ASYNC", (int)request->mode);
    self->options = (td_run_options){
        .pool = session->pool, .cache = &session->cache, .mode = request->mode, .has_iterations = request->has_iterations,
        .iterations = request->iterations, .has_tolerance = request->has_tolerance, .tolerance = request->tolerance,
        .has_source = request->has_source || request->source_name != NULL || request->sources != NULL,
        .parents = request->parents, .settings = &self->settings,
        .devices = request->devices, .gpu_memory = request->gpu_memory, .gpu_edges = request->gpu_edges,
        .each = request->progress, .each_context = request->progress_context, .checkpoint = request->checkpoint,
        .every = request->checkpoint_every, .resume = request->resume, .traces = request->traces,
        .begins = request->begins, .runs = request->runs};
    return td_run_check_options(self->program, &self->options);
}

void td_taken_free(void *owner)
{
    td_taken *self = owner;
    td_settings_clear(&self->settings);
    td_free(self->sources);
    for (int i = 0; i < TD_TAKEN_TEXTS; i++) td_free(self->texts[i]);
    td_free(self);
}

static td_status keep_text(td_taken *self, int which, const char **text)
{
    if (*text == NULL) return TD_OK;
    uint64_t length = strlen(*text) + 1;
    TD_CHECK(TD_NEW(&self->texts[which], length, "request"));
    memcpy(self->texts[which], *text, length);
    *text = self->texts[which];
    return TD_OK;
}

td_status td_taken_keep_texts(td_taken *self)
{
    TD_CHECK(keep_text(self, 0, &self->options.devices));
    TD_CHECK(keep_text(self, 1, &self->options.checkpoint));
    return keep_text(self, 2, &self->options.resume);
}

td_status td_request_check(td_session *session, const char *program, const td_request *request)
{
    td_taken *taken = NULL;
    TD_CHECK(td_session_enter(session));
    td_status status = TD_NEW_ZEROED(&taken, 1, "request");
    if (status == TD_OK) status = td_request_take(taken, session, program, request);
    if (taken != NULL) td_taken_free(taken);
    td_session_leave(session);
    return status;
}
