/* The prepared split: which one runs of a program read, how it is made, and how a run reads it instead of ordering and
 * cutting the graph. */
#include "engine/coop/coop.h"

#include "base/log.h"
#include "store/checks.h"

#include <string.h>

td_split_request td_coop_request(const td_coop_job *self)
{
    td_split_request request;
    const td_run *run = self->gpu.run;
    bool fused = self->gpu.traits->fused;
    memset(&request, 0, sizeof request); /* compared by memcmp */
    request.order = self->setup.order;
    request.extract = self->setup.extract;
    request.weighted = run->program->info->weights != TD_WEIGHTS_UNUSED && run->graph->weights != TD_WEIGHT_NONE;
    request.both = self->gpu.both;
    request.pushes = fused;
    request.pulls = !fused || !self->gpu.prioritised; /* delta-stepping only pushes */
    return request;
}

bool td_coop_find_prepared(const td_coop_job *self, char name[TD_SIDECAR_NAME])
{
    td_split_request request = td_coop_request(self);
    td_sidecar *file = NULL;
    td_status status = td_split_open(&file, self->gpu.run->graph, &request);
    if (status == TD_NOT_FOUND || (status != TD_OK && self->gpu.memory.measures)) td_debug("%s", td_last_message());
    else if (status != TD_OK) td_warn("%s; it is not used", td_last_message());
    if (status == TD_OK) memcpy(name, td_sidecar_layout(file), TD_SIDECAR_NAME);
    td_sidecar_close(file);
    return status == TD_OK;
}

/* Reads the split; *done stays false, after a warning, if the file cannot be used. */
static td_status read_split(td_coop_job *self, const td_split_request *request, bool *done)
{
    td_status status = TD_OK;
    td_coop_graph *layout = self->layout;
    const td_graph *graph = layout->gpu.graph;
    td_sidecar *file = NULL;
    TD_TRY(td_split_open(&file, graph, request));
    TD_TRY(td_split_read(&layout->split, file, graph, request, &self->gpu.memory.host, self->gpu.options->pool));
    layout->prepared = *done = true;
done:
    td_sidecar_close(file);
    if (status == TD_OK || status == TD_NO_MEMORY || status == TD_CANCELLED) return status;
    td_warn("%s; the graph is split for this run", td_last_message());
    return TD_OK;
}

td_status td_coop_split(td_coop_job *self, const td_split_request *request)
{
    td_coop_graph *layout = self->layout;
    td_host_memory *host = &self->gpu.memory.host;
    td_pool *pool = self->gpu.options->pool;
    bool done = false;
    if (self->setup.prepared && host->measures)
        return td_split_read(&layout->split, NULL, layout->gpu.graph, request, host, NULL);
    if (self->setup.prepared) TD_CHECK(read_split(self, request, &done));
    if (!host->measures && !done) TD_CHECK(td_checks_lists(layout->gpu.graph, request->weighted, pool));
    return done ? TD_OK : td_split_make(&layout->split, layout->gpu.graph, request, host, pool);
}

/* The engine's side (engine.h). */

static td_status request_of(const td_program *program, const td_graph *graph, const td_run_options *options,
                            td_split_request *out)
{
    td_coop_job self = {0};
    td_run run;
    if (!td_coop_cooperates(program))
        return td_fail(TD_NOT_FOUND, "coop leaves %s to the CPU, so there is nothing to prepare", program->info->name);
    TD_CHECK(td_gpu_job_measure(&self.gpu, &run, program, graph, options));
    TD_CHECK(td_coop_read_settings(&self));
    *out = td_coop_request(&self);
    if (out->order == TD_ORDER_HOT && out->extract == TD_EXTRACT_VERTEXEDGE) return TD_OK;
    return td_fail(TD_NOT_FOUND, "coop keeps the graph's order for %s, so there is nothing to prepare",
                   program->info->name);
}

td_status td_coop_layout(const td_program *program, const td_graph *graph, const td_run_options *options,
                         char name[TD_SIDECAR_NAME])
{
    td_split_request request;
    td_sidecar *file = NULL;
    TD_CHECK(request_of(program, graph, options, &request));
    td_split_layout_name(name, request.both, request.weighted);
    if (td_split_open(&file, graph, &request) == TD_OK) memcpy(name, td_sidecar_layout(file), TD_SIDECAR_NAME);
    td_sidecar_close(file); /* one with weights serves programs without */
    return TD_OK;
}

td_status td_coop_make_layout(const td_program *program, const td_graph *graph, const td_run_options *options,
                              td_prepared_file *out)
{
    td_split_request request;
    td_sidecar *file = NULL;
    double seconds[2] = {0};
    TD_CHECK(request_of(program, graph, options, &request));
    td_split_layout_name(out->layout, request.both, request.weighted);
    if (td_split_open(&file, graph, &request) == TD_OK) {
        memcpy(out->layout, td_sidecar_layout(file), TD_SIDECAR_NAME);
        td_sidecar_close(file);
        return TD_OK;
    }
    TD_CHECK(td_split_save(graph, request.both, request.weighted, out->path, seconds, options->pool));
    out->make_seconds = seconds[0];
    out->write_seconds = seconds[1];
    out->made = true;
    return TD_OK;
}
