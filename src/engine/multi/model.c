/* Costs of an iteration's edges by the cost model (GUM, section III-B): the degrees of every fragment's frontier, which
 * its owner has tallied, give the metrics, and the model of this work gives the seconds of an edge. Gather-sums and sweeps
 * process all vertices, whose degrees the host counts once for a graph. */
#include "engine/multi/multi.h"

#include "base/alloc.h"
#include "engine/multi/cost_find.h"

#include <stddef.h>
#include <string.h>

_Static_assert(offsetof(td_gpu_frontier_tally, other_most) + sizeof(uint32_t) - offsetof(td_gpu_frontier_tally, vertices) ==
                   offsetof(td_multi_degrees, other_most) + sizeof(uint32_t),
               "the host copies the end of a tally");
_Static_assert((int)TD_GPU_DEGREES <= (int)TD_DEGREE_CLASSES, "every class of the GPU's has one of the summary's");

int td_multi_cost_work(td_multi_work work)
{
    static const int works[] = {[TD_WORK_PUSH] = TD_COST_PUSH, [TD_WORK_OPEN] = -1, [TD_WORK_GATHER] = TD_COST_GATHER,
                                [TD_WORK_SWEEP] = TD_COST_SWEEP};
    return works[work];
}

/* Whether the run's decisions use costs at all. */
static bool predicts(const td_multi_settings *set) { return set->cost == TD_COST_MODEL && set->steals && !set->copies; }

static td_status read_models(const td_multi_settings *set, const td_gpu_set *gpus, td_cost_models *out)
{
    char path[TD_DATA_PATH];
    if (set->model != NULL) return td_cost_models_read(out, set->model);
    TD_CHECK(td_cost_file_find(path, gpus));
    return td_cost_models_read(out, path);
}

td_status td_multi_model_check(const td_multi_settings *set, td_gpu_set *gpus)
{
    td_cost_models *models = NULL;
    if (!predicts(set)) return TD_OK;
    TD_CHECK(TD_NEW(&models, 1, "cost models"));
    td_status status = read_models(set, gpus, models);
    td_free(models);
    return status;
}

/* Degrees of all vertices. */

typedef struct counting {
    const td_multi_job *self;
    int fragment;
    td_frontier_summary *parts; /* of every worker */
} counting;

static td_status count_degrees(void *context, uint64_t begin, uint64_t end, int worker)
{
    counting *c = context;
    const td_graph *graph = c->self->graph;
    const uint32_t *order = c->self->layout->partition.order;
    uint64_t first = c->self->layout->fragment[c->fragment].first;
    bool has_in = graph->in.offsets != NULL;
    for (uint64_t i = first + begin; i < first + end; i++) {
        uint32_t v = order != NULL ? order[i] : (uint32_t)i;
        uint64_t out = td_degree(&graph->out, v);
        td_frontier_summary_add(&c->parts[worker], has_in ? td_degree(&graph->in, v) : out, out);
    }
    return TD_OK;
}

static td_status count_whole(td_multi_job *self)
{
    td_multi_graph *layout = self->layout;
    td_pool *pool = self->options->pool;
    int workers = td_pool_threads(pool);
    td_status status = TD_OK;
    counting c = {.self = self};
    if (layout->has_whole) return TD_OK;
    TD_CHECK(TD_NEW(&c.parts, (uint64_t)workers, "degrees of the fragments"));
    for (c.fragment = 0; c.fragment < self->count; c.fragment++) {
        const td_multi_fragment *fragment = &layout->fragment[c.fragment];
        for (int w = 0; w < workers; w++) td_frontier_summary_clear(&c.parts[w]);
        TD_TRY(td_pool_for(pool, fragment->end - fragment->first, 1 << 16, count_degrees, &c));
        td_frontier_summary_clear(&layout->whole[c.fragment]);
        for (int w = 0; w < workers; w++) td_frontier_summary_merge(&layout->whole[c.fragment], &c.parts[w]);
    }
    layout->has_whole = true;
done:
    td_free(c.parts);
    return status;
}

/* Degrees of frontiers. */

static void on_degrees(void *context, td_status status, uint64_t unused)
{
    td_multi_job *self = context;
    (void)unused;
    if (status != TD_OK && self->failed == TD_OK) self->failed = status;
    if (--self->waiting == 0) td_loop_stop(self->loop);
}

/* Copies the tallies of all owners' fragments, and waits once. */
static td_status read_degrees(td_multi_job *self)
{
    self->failed = TD_OK;
    TD_EACH_OWNED(self, owner, fragment) {
        int k = (int)(fragment - self->layout->fragment);
        const char *from = (const char *)&owner->tally[k] + offsetof(td_gpu_frontier_tally, vertices);
        if (self->gpu[k].vertices == 0) continue;
        TD_CHECK(td_stream_copy(owner->job.stream, &self->model.degrees[k], from,
                                offsetof(td_multi_degrees, other_most) + sizeof(uint32_t), TD_TO_HOST));
    }
    TD_EACH_MEMBER(self, gpu) {
        self->waiting++;
        TD_CHECK(td_stream_notify(gpu->job.stream, on_degrees, self, 0));
    }
    TD_CHECK(td_loop_run(self->loop));
    return self->failed;
}

/* Where the GPU has no lists against the push, the in-degrees of a symmetric graph are its out-degrees: every sum of both
 * is twice the degree, which is one class further. */
static void summarise(const td_multi_degrees *degrees, uint64_t vertices, bool mirrored, td_frontier_summary *out)
{
    int further = mirrored ? 1 : 0;
    td_frontier_summary_clear(out);
    out->vertices = vertices;
    for (int c = 0; c < TD_GPU_DEGREES; c++) {
        int class = c > 0 ? c + further : 0;
        out->class_vertices[class] += degrees->vertices[c];
        out->class_edges[class] += degrees->edges[c] << further;
        out->out_edges += degrees->edges[c];
    }
    out->out_edges -= degrees->other_edges;
    out->in_edges = mirrored ? out->out_edges : degrees->other_edges;
    out->least_out = ~degrees->not_least;
    out->most_out = degrees->most;
    out->least_in = mirrored ? out->least_out : (uint32_t)~degrees->other_not_least;
    out->most_in = mirrored ? out->most_out : degrees->other_most;
}

/* The first frontier of a level of a peeling comes from a queue: the tallies are those of a frontier before. */
static bool are_of_this_frontier(const td_multi_job *self)
{
    for (int k = 0; k < self->count; k++) {
        uint64_t vertices = 0;
        if (self->gpu[k].vertices == 0) continue;
        for (int c = 0; c < TD_GPU_DEGREES; c++) vertices += self->model.degrees[k].vertices[c];
        if (vertices != self->gpu[k].vertices) return false;
    }
    return true;
}

td_status td_multi_find_metrics(td_multi_job *self, td_multi_work work)
{
    td_multi_model *model = &self->model;
    td_frontier_summary summary;
    bool whole = work == TD_WORK_GATHER || work == TD_WORK_SWEEP;
    model->has_metrics = false;
    if (model->degrees == NULL || !self->balance.is_timed || td_multi_cost_work(work) < 0) return TD_OK;
    TD_CHECK(whole ? count_whole(self) : read_degrees(self));
    if (!whole && !are_of_this_frontier(self)) return TD_OK;
    for (int k = 0; k < self->count; k++) {
        const td_multi_fragment *fragment = &self->layout->fragment[k];
        bool mirrored = self->graph->symmetric && fragment->pull.view.offsets == NULL;
        if (!whole) summarise(&model->degrees[k], self->gpu[k].vertices, mirrored, &summary);
        td_frontier_metrics_of(whole ? &self->layout->whole[k] : &summary, &model->metrics[k]);
        model->metrics[k].value[TD_EDGES] = (double)self->balance.load[k];
    }
    model->has_metrics = true;
    return TD_OK;
}

void td_multi_predict(td_multi_job *self, td_multi_work work)
{
    int which = td_multi_cost_work(work);
    if (self->model.models == NULL || !self->model.has_metrics) return;
    const td_cost_model *model = &self->model.models->of[which];
    if (model->samples == 0) return;
    for (int k = 0; k < self->count; k++)
        if (self->balance.load[k] > 0)
            self->balance.predicted_seconds[k] =
                td_cost_predict(model, &self->model.metrics[k]) * self->balance.learned.model_factor[work][k];
    self->balance.is_predicted = true;
}

td_status td_multi_model_open(td_multi_job *self)
{
    td_multi_model *model = &self->model;
    void *seen;
    bool logs = td_multi_logs(self);
    if (self->count < 2 || (!logs && !predicts(&self->set))) return TD_OK;
    TD_CHECK(TD_NEW_ZEROED(&model->degrees, TD_FRAGMENTS, "degrees of frontiers"));
    uint64_t bytes = TD_FRAGMENTS * sizeof *model->degrees;
    model->is_pinned = td_device_pin(self->gpu[0].job.device, model->degrees, bytes, &seen) == TD_OK;
    if (!predicts(&self->set)) return TD_OK;
    TD_CHECK(TD_NEW(&model->models, 1, "cost models"));
    return read_models(&self->set, self->layout->gpu.set, model->models);
}

void td_multi_model_close(td_multi_job *self)
{
    td_multi_model *model = &self->model;
    if (model->is_pinned) td_device_unpin(self->gpu[0].job.device, model->degrees);
    td_free(model->degrees);
    td_free(model->models);
    td_free(model->log);
    self->model = (td_multi_model){0};
}
