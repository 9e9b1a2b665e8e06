/* Programs and results in the API. */
#include "engine/engine.h"

#include "api/session.h"
#include "base/alloc.h"
#include "base/cancel.h"
#include "run/output.h"
#include "run/result.h"
#include "planner/plan.h"
#include "run/verify_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *td_program_name(int index)
{
    for (int i = 0; i <= index; i++)
        if (td_programs[i] == NULL) return NULL;
    return index >= 0 ? td_programs[index]->info->name : NULL;
}

const char *td_program_summary(const char *name)
{
    const td_program *program = name != NULL ? td_program_named(name) : NULL;
    return program != NULL ? program->info->summary : NULL;
}

/* A request as the engines take it. */
typedef struct order {
    td_request request;
    const td_program *program;
    td_settings settings;
    td_run_options options;
    bool huge_pages;
} order;

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

static td_status take_settings(order *self)
{
    double huge_pages;
    const char *const *texts = self->request.settings;
    for (; texts != NULL && *texts != NULL; texts++) TD_CHECK(td_settings_add(&self->settings, *texts));
    TD_CHECK(td_plan_check(self->request.engine, self->request.devices));
    TD_CHECK(td_plan_check_settings(
        td_plan_engine(self->request.engine, self->request.devices, &self->settings), self->program, &self->settings));
    TD_CHECK(td_settings_number(&self->settings, "cpu", td_engine_named("cpu")->settings, "huge_pages", &huge_pages));
    self->huge_pages = huge_pages == 0;
    return TD_OK;
}

static td_status take_order(order *self, const td_session *session, const td_graph *graph, const char *program,
                            const td_request *given)
{
    td_request *request = &self->request;
    *self = (order){0};
    TD_CHECK(find_program(program, &self->program));
    TD_CHECK(td_struct_take(request, sizeof *request, given, "td_request"));
    TD_CHECK(take_settings(self));
    if (!(request->gpu_edges >= 0 && request->gpu_edges <= 0x1p62))
        return td_fail(TD_INVALID, "td_request.gpu_edges is %g, which is no share and no number of bytes",
                       request->gpu_edges);
    if (request->mode < TD_MODE_DEFAULT || request->mode > TD_MODE_ASYNC)
        return td_fail(TD_INVALID, "td_request.mode is %d, which is no mode", (int)request->mode);
    self->options = (td_run_options){
        .pool = session->pool, .mode = request->mode, .has_iterations = request->has_iterations,
        .iterations = request->iterations, .has_tolerance = request->has_tolerance, .tolerance = request->tolerance,
        .has_source = request->has_source, .parents = request->parents, .settings = &self->settings,
        .devices = request->devices, .gpu_memory = request->gpu_memory, .gpu_edges = request->gpu_edges,
        .each = request->progress, .each_context = request->progress_context, .checkpoint = request->checkpoint,
        .every = request->checkpoint_every, .resume = request->resume};
    TD_CHECK(td_run_check_options(self->program, &self->options));
    return request->has_source ? td_graph_find(graph, request->source, &self->options.source) : TD_OK;
}

static td_status plan(const td_session *session, const td_graph *graph, const char *program, const td_request *request,
                      td_plan *out)
{
    td_status status = TD_OK;
    order self;
    TD_TRY(take_order(&self, session, graph, program, request));
    TD_TRY(td_plan_make(out, self.request.engine, self.program, graph, &self.options));
done:
    td_settings_clear(&self.settings);
    return status;
}

td_status td_session_plan(td_session *session, const td_graph *graph, const char *program, const td_request *request,
                          td_plan *out)
{
    td_plan made = {0};
    size_t size;
    TD_CHECK(td_need(graph, "the graph"));
    TD_CHECK(td_need(out, "the place for the plan"));
    TD_CHECK(td_struct_size(out, "td_plan", &size));
    TD_CHECK(td_session_enter(session));
    td_status status = plan(session, graph, program, request, &made);
    td_session_leave(session);
    if (status != TD_OK) return status;
    made.size = size;
    memcpy(out, &made, size < sizeof made ? size : sizeof made);
    return TD_OK;
}

static td_status run(const td_session *session, const td_graph *graph, const char *program, const td_request *request,
                     td_run **out)
{
    td_status status = TD_OK;
    order self;
    bool huge_pages = td_huge_pages_on();
    td_plan chosen;
    TD_TRY(take_order(&self, session, graph, program, request));
    TD_TRY(td_plan_make(&chosen, self.request.engine, self.program, graph, &self.options));
    self.options.engine = chosen.engine;
    TD_TRY(td_cancel_check());
    td_huge_pages(huge_pages && self.huge_pages);
    status = td_plan_ended(&chosen, td_run_program(out, self.program, graph, &self.options));
    td_huge_pages(huge_pages);
done:
    td_settings_clear(&self.settings);
    return status;
}

td_status td_session_run(td_session *session, const td_graph *graph, const char *program, const td_request *request,
                         td_result **out)
{
    TD_CHECK(td_need(graph, "the graph"));
    TD_CHECK(td_need(out, "the place for the result"));
    TD_CHECK(td_session_enter(session));
    td_status status = run(session, graph, program, request, out);
    td_session_leave(session);
    return status;
}

void td_result_destroy(td_result *result) { td_run_destroy(result); }

td_status td_result_verify(td_session *session, const td_result *result)
{
    const char *claims;
    TD_CHECK(td_need(result, "the result"));
    TD_CHECK(td_session_enter(session));
    td_status status = td_run_verify(result, session->pool, &claims);
    td_session_leave(session);
    return status;
}

td_value_kind td_result_kind(const td_result *result) { return result->kind; }

static const void *values_of(const td_result *result, td_value_kind kind)
{
    return result->kind == kind ? result->values : NULL;
}

const uint32_t *td_result_u32(const td_result *result) { return values_of(result, TD_VALUE_U32); }
const float *td_result_f32(const td_result *result) { return values_of(result, TD_VALUE_F32); }
const double *td_result_f64(const td_result *result) { return values_of(result, TD_VALUE_F64); }

bool td_result_value(const td_result *result, uint32_t vertex, double *value)
{
    return vertex < result->graph->vertices && td_run_value(result, vertex, value);
}

const uint32_t *td_result_parents(const td_result *result) { return result->parents; }

const uint64_t *td_result_edges(const td_result *result, uint64_t *count)
{
    *count = result->edge_count;
    return result->edges;
}

td_status td_result_edge(const td_result *result, uint64_t index, td_edge *out)
{
    TD_CHECK(td_need(result, "the result"));
    TD_CHECK(td_need(out, "the place for the edge"));
    if (index >= result->edge_count)
        return td_fail(TD_INVALID, "there is no edge %" PRIu64 " in the result; it has %" PRIu64, index,
                       result->edge_count);
    td_forest_edge edge = td_run_forest_edge(result, index);
    *out = (td_edge){.source = td_edge_source(result->graph, result->edges[index]), .target = edge.target,
                     .weight = edge.weight};
    if (result->graph->weights == TD_WEIGHT_NONE) out->weight = 1;
    return TD_OK;
}

double td_result_total_weight(const td_result *result) { return result->total_weight; }
bool td_result_converged(const td_result *result) { return result->converged; }
uint32_t td_result_iterations(const td_result *result) { return result->iterations; }

const td_iteration *td_result_iteration(const td_result *result, uint32_t number)
{
    uint32_t first = result->row_count > 0 ? result->rows[0].number : 0;
    return number >= first && number - first < result->row_count ? &result->rows[number - first] : NULL;
}

uint32_t td_result_resumed(const td_result *result) { return result->checkpoint_stats.resumed_iteration; }

uint32_t td_result_checkpoints(const td_result *result, uint64_t *bytes)
{
    if (bytes != NULL) *bytes = result->checkpoint_stats.bytes;
    return result->checkpoint_stats.written;
}

uint64_t td_result_edges_processed(const td_result *result) { return result->edges_processed; }
double td_result_seconds(const td_result *result) { return result->seconds; }

td_status td_result_top(td_session *session, const td_result *result, uint64_t most, uint32_t *vertices, double *values,
                        uint64_t *count)
{
    td_top *top = NULL;
    uint64_t found = 0;
    TD_CHECK(td_need(result, "the result"));
    TD_CHECK(td_need(vertices, "the array of vertices"));
    TD_CHECK(td_need(values, "the array of values"));
    TD_CHECK(td_need(count, "the place for the count"));
    TD_CHECK(td_session_enter(session));
    td_status status = td_run_top(result, session->pool, most, &top, &found);
    td_session_leave(session);
    if (status != TD_OK) return status;
    for (uint64_t i = 0; i < found; i++) {
        vertices[i] = top[i].vertex;
        values[i] = top[i].value;
    }
    *count = found;
    td_free(top);
    return TD_OK;
}

td_status td_result_save(td_session *session, const td_result *result, const char *path, const char *format)
{
    const td_output_format *found;
    TD_CHECK(td_need(result, "the result"));
    TD_CHECK(td_need(path, "the path"));
    TD_CHECK(td_output_format_find(format != NULL ? format : td_output_formats[0].name, &found));
    TD_CHECK(td_session_enter(session));
    td_status status = td_run_write(result, path, found, session->pool);
    td_session_leave(session);
    return status;
}
