/* The log of a run's iterations (GUM, section III-B: training samples from running logs). A sample is a fragment whose own
 * GPU processed all of its edges and no others'; its seconds are those between the GPU's counters were cleared and it was
 * through, launches included. */
#include "engine/multi/multi.h"

#include "base/alloc.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MOST_SAMPLES = 1 << 20 }; /* of a run; later ones are left out */

/* One word: the setting, or the graph's file name without folder and suffix. */
static void name_family(const td_multi_job *self, char family[TD_COST_FAMILY])
{
    const char *name = self->graph->name != NULL ? self->graph->name : "graph", *slash = strrchr(name, '/');
    if (slash != NULL) name = slash + 1;
    snprintf(family, TD_COST_FAMILY, "%.*s", (int)strcspn(name, "."), name);
    if (self->set.family != NULL) snprintf(family, TD_COST_FAMILY, "%s", self->set.family);
    for (char *c = family; *c != '\0'; c++)
        if (isspace((unsigned char)*c) || iscntrl((unsigned char)*c) || *c == '#') *c = '_';
    if (family[0] == '\0') snprintf(family, TD_COST_FAMILY, "graph");
}

static td_status add(td_multi_model *model, const td_cost_sample *sample)
{
    if (model->logged == MOST_SAMPLES) return TD_OK;
    if (model->logged == model->log_room) {
        uint64_t room = model->log_room == 0 ? 256 : 2 * model->log_room;
        TD_CHECK(TD_RESIZE(&model->log, room, "the log of iterations"));
        model->log_room = room;
    }
    model->log[model->logged++] = *sample;
    return TD_OK;
}

/* Whether the fragment's own GPU did all of its work and nothing else. */
static bool is_alone(const td_multi_job *self, int k)
{
    const td_multi_balance *balance = &self->balance;
    bool own = false;
    for (int p = 0; p < balance->parts; p++) {
        const td_multi_part *part = &balance->part[p];
        if (part->gpu == k && part->fragment == k) own = part->edges == balance->load[k];
        else if (part->gpu == k || part->fragment == k) return false;
    }
    return own;
}

static void on_started(void *context, td_status status, uint64_t gpu)
{
    td_multi_job *self = context;
    uint64_t virtual_time = td_loop_time(self->loop);
    if (status != TD_OK && self->failed == TD_OK) self->failed = status;
    self->gpu[gpu].started_at = virtual_time > 0 ? virtual_time : td_loop_arrived(self->loop);
    if (--self->waiting == 0) td_loop_stop(self->loop);
}

td_status td_multi_note_started(td_multi_job *self, td_multi_gpu *gpu)
{
    if (!td_multi_logs(self) && !self->set.breakdown) return TD_OK;
    self->waiting++;
    return td_stream_notify(gpu->job.stream, on_started, self, (uint64_t)td_multi_index(self, gpu));
}

td_status td_multi_log(td_multi_job *self)
{
    const td_multi_balance *balance = &self->balance;
    if (!td_multi_logs(self) || !self->model.has_metrics) return TD_OK;
    for (int k = 0; k < self->count; k++) {
        const td_multi_gpu *gpu = &self->gpu[k];
        double seconds = gpu->processed_at > gpu->started_at ? (double)(gpu->processed_at - gpu->started_at) * 1e-9 : 0;
        if (balance->load[k] == 0 || !(seconds > 0) || !is_alone(self, k)) continue;
        td_cost_sample sample = {.work = (td_cost_work)td_multi_cost_work(balance->work),
                                 .metrics = self->model.metrics[k], .edges = (double)balance->load[k],
                                 .seconds = seconds};
        name_family(self, sample.family);
        TD_CHECK(add(&self->model, &sample));
    }
    return TD_OK;
}

td_status td_multi_log_write(td_multi_job *self)
{
    const td_multi_model *model = &self->model;
    if (!td_multi_logs(self) || model->logged == 0) return TD_OK;
    return td_cost_samples_append(model->log, model->logged, self->set.log);
}
