/* Programs and results in the API. */
#include "api/request.h"
#include "base/mapping.h"
#include "base/alloc.h"
#include "base/cancel.h"
#include "base/size.h"
#include "run/output.h"
#include "run/result.h"
#include "planner/plan.h"
#include "run/verify_run.h"
#include "store/vertex_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static td_status find_source(td_taken *self, const td_graph *graph)
{
    const td_request *request = &self->request;
    if (request->sources != NULL) return td_taken_find_sources(self, graph);
    if (request->source_name == NULL)
        return request->has_source ? td_graph_find(graph, request->source, &self->options.source) : TD_OK;
    td_status status = td_vertex_of_text(graph, request->source_name, &self->options.source);
    return status == TD_INVALID ? td_fail_context(TD_USAGE, "{source}") : status;
}

static td_status plan(td_session *session, const td_graph *graph, const char *program, const td_request *request,
                      td_plan **out)
{
    td_status status = TD_OK;
    td_taken *self = NULL;
    td_plan *made = NULL;
    TD_CHECK(TD_NEW_ZEROED(&self, 1, "request"));
    TD_TRY(td_request_take(self, session, program, request));
    TD_TRY(find_source(self, graph));
    TD_TRY(td_taken_keep_texts(self));
    TD_TRY(td_plan_make(&made, self->request.engine, self->program, graph, &self->options));
    made->owner = self;
    made->free_owner = td_taken_free;
    *out = made;
    self = NULL;
done:
    if (self != NULL) td_taken_free(self);
    return status;
}

td_status td_session_plan(td_session *session, const td_graph *graph, const char *program, const td_request *request,
                          td_plan **out)
{
    TD_CHECK(td_need_run_graph(graph));
    TD_CHECK(td_need(out, "the place for the plan"));
    TD_CHECK(td_session_enter(session));
    td_status status = plan(session, graph, program, request, out);
    td_session_leave(session);
    return status;
}

const char *td_plan_engine(const td_plan *plan) { return plan != NULL ? plan->reported->name : NULL; }
const char *td_plan_why(const td_plan *plan) { return plan != NULL ? plan->why : NULL; }
bool td_plan_fits(const td_plan *plan) { return plan != NULL && plan->fits; }
bool td_plan_uses_gpu(const td_plan *plan) { return plan != NULL && (plan->engine->uses_devices & TD_USES_GPU) != 0; }

const char *td_plan_counter_name(const td_plan *plan, int index)
{
    return plan != NULL && index >= 0 && index < plan->counter_count ? plan->counters[index].name : NULL;
}

td_status td_plan_memory_row(const td_plan *plan, int row, td_plan_memory *out)
{
    TD_CHECK(td_need(plan, "the plan"));
    td_plan_memory found = {.place = "host", .graph = plan->graph_bytes, .program = plan->program_bytes,
                            .emulated = plan->emulated_bytes, .free = plan->free_bytes, .fits = plan->fits};
    const td_device_uses *devices = &plan->devices;
    int first = devices->count > 0 && strcmp(devices->of[0].name, "cpu") == 0; /* the CPU's memory is the host's */
    if (row < 0 || row > devices->count - first) return td_fail(TD_NOT_FOUND, "the plan has no memory row %d", row);
    if (row > 0) {
        const td_device_use *gpu = &devices->of[first + row - 1];
        found = (td_plan_memory){.place = gpu->name, .graph = gpu->row.graph, .program = gpu->row.program,
                                 .free = gpu->row.free, .fits = true};
    }
    return td_struct_give(out, &found, sizeof found, "td_plan_memory");
}

static td_status give_row(const td_device_uses *devices, int row, td_device_row *out)
{
    td_device_row found;
    TD_CHECK(td_device_uses_row(devices, row, &found));
    return td_struct_give(out, &found, sizeof found, "td_device_row");
}

td_status td_plan_device_row(const td_plan *plan, int row, td_device_row *out)
{
    TD_CHECK(td_need(plan, "the plan"));
    return give_row(&plan->devices, row, out);
}

td_status td_result_device_row(const td_result *result, int row, td_device_row *out)
{
    TD_CHECK(td_need(result, "the result"));
    return give_row(&result->devices, row, out);
}

td_status td_plan_run_inside(td_plan *plan, td_group *group, td_run **out)
{
    const td_taken *self = plan->owner;
    bool huge_pages = td_huge_pages_on();
    TD_CHECK(td_cancel_check());
    td_huge_pages(huge_pages && self->huge_pages);
    td_status status = td_plan_ended(plan, group != NULL ? td_plan_execute_group(plan, group, out)
                                                         : td_plan_execute(plan, out));
    td_huge_pages(huge_pages);
    if (status == TD_OK) status = td_mapping_check(plan->graph->mapping, TD_OK);
    else return status;
    if (status == TD_OK) td_plan_remember(plan, *out);
    if (status == TD_OK) return TD_OK;
    if (group != NULL) td_group_free(group);
    td_run_destroy(*out); /* values of a file that has become shorter */
    *out = NULL;
    return status;
}

static td_status run_alone(td_plan *plan, td_run **out)
{
    if (td_options_are_batch(&plan->options))
        return td_fail(TD_USAGE, "the plan has a batch of sources: td_batch_create runs it");
    return td_plan_run_inside(plan, NULL, out);
}

td_status td_plan_run(td_session *session, td_plan *plan, td_result **out)
{
    TD_CHECK(td_need(plan, "the plan"));
    TD_CHECK(td_need(out, "the place for the result"));
    TD_CHECK(td_session_enter(session));
    td_status status = plan->options.cache == &session->cache && plan->options.pool == session->pool
                           ? run_alone(plan, out)
                           : td_fail(TD_INVALID, "the plan is another session's");
    td_session_leave(session);
    return status;
}

td_status td_session_run(td_session *session, const td_graph *graph, const char *program, const td_request *request,
                         td_result **out)
{
    td_plan *made = NULL;
    TD_CHECK(td_need_run_graph(graph));
    TD_CHECK(td_need(out, "the place for the result"));
    TD_CHECK(td_session_enter(session));
    td_status status = plan(session, graph, program, request, &made);
    if (status == TD_OK) status = run_alone(made, out);
    td_plan_destroy(made);
    td_session_leave(session);
    return status;
}

void td_result_destroy(td_result *result)
{
    if (result != NULL && !result->lent) td_run_destroy(result);
}

td_status td_result_claims(td_session *session, const td_result *result, const char **claims)
{
    TD_CHECK(td_need(result, "the result"));
    TD_CHECK(td_need(claims, "the place for the claims"));
    TD_CHECK(td_session_enter(session));
    td_status status = td_mapping_check(result->graph->mapping, td_run_verify(result, session->pool, claims));
    td_session_leave(session);
    return status;
}

td_status td_result_verify(td_session *session, const td_result *result)
{
    const char *claims;
    return td_result_claims(session, result, &claims);
}

td_value_kind td_result_kind(const td_result *result) { return result->kind; }

static const void *values_of(const td_result *result, td_value_kind kind)
{
    return result->kind == kind ? result->values : NULL;
}

const uint32_t *td_result_u32(const td_result *result) { return values_of(result, TD_VALUE_U32); }
const float *td_result_f32(const td_result *result) { return values_of(result, TD_VALUE_F32); }
const double *td_result_f64(const td_result *result) { return values_of(result, TD_VALUE_F64); }
const uint64_t *td_result_u64(const td_result *result) { return values_of(result, TD_VALUE_U64); }

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
    td_forest_edge edge = td_run_forest_edge(result, index, 0);
    *out = (td_edge){.source = edge.source, .target = edge.target, .weight = edge.weight};
    if (result->graph->weights == TD_WEIGHT_NONE) out->weight = 1;
    return TD_OK;
}

double td_result_total_weight(const td_result *result) { return result->total_weight; }
bool td_result_converged(const td_result *result) { return result->converged; }
uint32_t td_result_iterations(const td_result *result) { return result->iterations; }

const td_iteration *td_result_iteration(const td_result *result, uint32_t number)
{
    uint32_t first = result->row_count > 0 ? result->rows[0].number : 0;
    return number >= first && number - first < result->row_count ? &result->full_rows[number - first].common : NULL;
}

/* The columns of all engines, each name once. */
static const td_column *column_at(int index)
{
    for (int e = 0; td_engines[e] != NULL; e++)
        for (const td_column *column = td_engines[e]->columns; column != NULL && column->name != NULL; column++) {
            bool again = false; /* an engine before has it too */
            for (int f = 0; f < e && !again; f++)
                for (const td_column *other = td_engines[f]->columns; other != NULL && other->name != NULL; other++)
                    again = again || other->offset == column->offset;
            if (!again && index-- == 0) return column;
        }
    return NULL;
}

const char *td_iteration_counter_name(int index)
{
    const td_column *column = index >= 0 ? column_at(index) : NULL;
    return column != NULL ? column->name : NULL;
}

static const td_column *column_named(const char *name, size_t length)
{
    const td_column *column;
    for (int i = 0; (column = column_at(i)) != NULL; i++)
        if (strlen(column->name) == length && strncmp(column->name, name, length) == 0) return column;
    return NULL;
}

/* "load_3": number 3 of the list "load". */
static double number_of_list(const td_iteration *row, const char *name)
{
    const char *low_line = strrchr(name, '_');
    uint64_t index;
    if (low_line == NULL || td_parse_u64(low_line + 1, &index) != TD_OK) return 0;
    const td_column *column = column_named(name, (size_t)(low_line - name));
    if (column == NULL || column->kind != TD_COLUMN_LIST) return 0;
    const td_row_list *list = (const td_row_list *)((const char *)row + column->offset);
    return index < list->count ? list->values[index] : 0;
}

double td_iteration_counter(const td_iteration *row, const char *name)
{
    if (row == NULL || name == NULL) return 0;
    const td_column *column = column_named(name, strlen(name));
    if (column == NULL) return number_of_list(row, name);
    const char *at = (const char *)row + column->offset;
    switch (column->kind) {
    case TD_COLUMN_U32: return (double)*(const uint32_t *)at;
    case TD_COLUMN_U64: return (double)*(const uint64_t *)at;
    case TD_COLUMN_REAL: return *(const double *)at;
    case TD_COLUMN_LIST: return ((const td_row_list *)at)->count;
    case TD_COLUMN_TEXT: break;
    }
    return 0;
}

const char *td_iteration_text(const td_iteration *row, const char *name)
{
    const td_column *column = row != NULL && name != NULL ? column_named(name, strlen(name)) : NULL;
    if (column == NULL || column->kind != TD_COLUMN_TEXT) return NULL;
    return *(const char *const *)((const char *)row + column->offset);
}

uint32_t td_result_resumed(const td_result *result) { return result->checkpoint_stats.resumed_iteration; }

uint32_t td_result_checkpoints(const td_result *result, uint64_t *bytes)
{
    if (bytes != NULL) *bytes = result->checkpoint_stats.bytes;
    return result->checkpoint_stats.written;
}

uint64_t td_result_edges_processed(const td_result *result) { return result->edges_processed; }
uint32_t td_result_device_opens(const td_result *result) { return result->device_opens; }
double td_result_seconds(const td_result *result) { return result->seconds; }

td_status td_result_describe(const td_result *result, td_result_facts *out)
{
    TD_CHECK(td_need(result, "the result"));
    const td_run_disk *disk = &result->disk;
    const td_checkpoint_stats *saved = &result->checkpoint_stats;
    td_result_facts facts = {
        .program = result->program->info->name, .engine = result->engine,
        .device = result->device[0] != '\0' ? result->device : NULL, .tolerance = result->tolerance,
        .final_change = result->final_change, .prepare_seconds = result->prepare_seconds,
        .device_seconds = result->device_seconds, .launches = result->launches, .device_peak = result->device_peak,
        .first_row = result->row_count > 0 ? result->rows[0].number : 0, .rows = result->row_count,
        .disk_method = disk->used ? disk->method : NULL, .disk_bytes = disk->bytes, .disk_reads = disk->reads,
        .page_hits = disk->hits, .page_misses = disk->misses, .pages_by_blocks = disk->parts,
        .disk_wait_seconds = disk->wait_seconds, .disk_ratio = disk->ratio, .checkpoint_seconds = saved->seconds,
        .checkpoint_waited = saved->waited, .checkpoint_waited_last = saved->waited_last,
        .open_seconds = result->open_seconds, .finish_seconds = result->finish_seconds};
    return td_struct_give(out, &facts, sizeof facts, "td_result_facts");
}

td_status td_result_summarise(td_session *session, const td_result *result, td_summary *out)
{
    td_run_summary found;
    TD_CHECK(td_need(result, "the result"));
    TD_CHECK(td_session_enter(session));
    td_status status = td_mapping_check(result->graph->mapping, td_run_summarise(result, session->pool, &found));
    td_session_leave(session);
    TD_CHECK(status);
    td_summary summary = {.reached = found.reached, .lowest = found.lowest, .highest = found.highest, .sum = found.sum,
                          .groups = found.groups, .largest = found.largest, .digest = found.digest};
    return td_struct_give(out, &summary, sizeof summary, "td_summary");
}

td_status td_result_format_check(const char *format)
{
    const td_output_format *found;
    return td_output_format_find(format, "", &found);
}

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
    status = td_mapping_check(result->graph->mapping, status);
    td_session_leave(session);
    if (status != TD_OK) {
        td_free(top);
        return status;
    }
    for (uint64_t i = 0; i < found; i++) {
        vertices[i] = top[i].vertex;
        values[i] = top[i].value;
    }
    *count = found;
    td_free(top);
    return TD_OK;
}

td_status td_result_save_as(td_session *session, const td_result *result, const char *path,
                            const td_save_options *given)
{
    const td_output_format *found;
    td_save_options options = {0};
    TD_CHECK(td_need(result, "the result"));
    TD_CHECK(td_need(path, "the path"));
    TD_CHECK(td_struct_take(&options, sizeof options, given, "td_save_options"));
    TD_CHECK(td_output_format_find(options.format, path, &found));
    TD_CHECK(td_session_enter(session));
    td_status status = td_run_write(result, path, found, options.header, session->pool);
    td_session_leave(session);
    return status;
}

td_status td_result_save(td_session *session, const td_result *result, const char *path, const char *format)
{
    return td_result_save_as(session, result, path, &(td_save_options){.size = sizeof(td_save_options), .format = format});
}

bool td_program_verifies(const char *program) { return program != NULL && td_run_verifies(program); }
