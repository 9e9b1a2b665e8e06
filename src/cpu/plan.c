/* What a run of the cpu engine will hold, before it holds it. The sizes follow
 * cpu.c, cpu_rounds.c, cpu_bucket.c and cpu_sweep.c; tests/planner compares them
 * with what runs really took. */
#include "kernels/cpu/buckets.h"
#include "cpu/cpu.h"

#include <math.h>
#include <string.h>

enum { FIRST_ROWS = 64 };
enum { ENTRIES_PER_VERTEX = 1 }; /* in all buckets at once: measured 0.3 to 1 on graphs large enough to matter */

typedef struct sizes {
    const td_graph *graph;
    const td_program_info *info;
    const td_cpu_kernels *kernels;
    uint64_t workers, lists;
    td_direction direction;
    double piece, heavy;
    bool async, bucketed, parents;
} sizes;

static td_status read_sizes(sizes *self, const td_program *program, const td_graph *graph,
                            const td_run_options *options)
{
    double direction, stealing, set[TD_PARAMETERS];
    const td_program_info *info = program->info;
    td_weight_kind kind = info->weights == TD_WEIGHTS_UNUSED ? TD_WEIGHT_NONE : graph->weights;
    *self = (sizes){.graph = graph, .info = info, .kernels = &program->cpu[kind], .parents = options->parents,
                    .async = options->mode == TD_MODE_ASYNC, .workers = (uint64_t)td_pool_threads(options->pool)};
    TD_CHECK(td_settings_number(options->settings, "cpu", td_cpu_settings, "direction", &direction));
    TD_CHECK(td_settings_number(options->settings, "cpu", td_cpu_settings, "stealing", &stealing));
    TD_CHECK(td_settings_number(options->settings, "cpu", td_cpu_settings, "piece", &self->piece));
    TD_CHECK(td_settings_number(options->settings, "cpu", td_cpu_settings, "heavy", &self->heavy));
    TD_CHECK(td_settings_resolve(options->settings, info->name, info->parameters, set, NULL));
    if (stealing != TD_STEAL_EDGE) self->heavy = INFINITY;
    self->direction = (td_direction)direction;
    bool forward = info->forward_choice > 0 && set[info->forward_choice - 1] == 1;
    self->lists = self->kernels->view == TD_VIEW_BOTH && !forward && !graph->symmetric ? 2 : 1;
    self->bucketed = self->kernels->schedule == TD_SCHEDULE_PRIORITY && self->direction == TD_DIRECTION_AUTO &&
                     !options->has_iterations;
    return TD_OK;
}

bool td_cpu_uses(const td_program *program, const char *setting)
{
    const td_cpu_kernels *k = program->cpu;
    bool gas = program->info->kind == TD_KIND_GAS;
    if (strcmp(setting, "direction") == 0 || strcmp(setting, "piece") == 0 || strcmp(setting, "sinks") == 0) return gas;
    if (strcmp(setting, "heavy") == 0) return !gas || k->fused;
    if (strcmp(setting, "delta") == 0) return gas && k->schedule == TD_SCHEDULE_PRIORITY;
    return strcmp(setting, "samples") != 0 || k->samples;
}

/* Arrays with an element per vertex. */
static uint64_t bytes_per_vertex(const sizes *self)
{
    const td_cpu_kernels *k = self->kernels;
    uint64_t bytes = k->value_bytes;
    if (self->parents) bytes += 2 * sizeof(uint32_t); /* and the search for those over weightless edges */
    if (k->edge != NULL) bytes += sizeof(uint64_t);
    if (k->label != NULL && k->value_bytes != sizeof(uint32_t)) bytes += sizeof(uint32_t);
    if (self->info->kind != TD_KIND_GAS) return bytes;
    if (!k->sends_value) bytes += k->message_bytes * (self->async ? 1 : 2);
    else if (!k->fused && !self->async) bytes += k->value_bytes;
    if (self->bucketed) return bytes + ENTRIES_PER_VERTEX * sizeof(uint64_t);
    if (k->fused) bytes += 2 * sizeof(uint32_t);                                /* queues */
    if (k->schedule == TD_SCHEDULE_PEEL) bytes += 2 * sizeof(uint32_t);         /* those left */
    return bytes;
}

static uint64_t bitmaps(const sizes *self)
{
    const td_cpu_kernels *k = self->kernels;
    if (self->info->kind != TD_KIND_GAS) return 0;
    if (self->bucketed) return 1;
    return 3 + (k->first_hit && !self->async);
}

static uint64_t piece_bytes(const sizes *self, double edges)
{
    bool pulls = self->info->kind == TD_KIND_GAS && !self->bucketed && self->direction != TD_DIRECTION_PUSH;
    double pieces = (edges + self->graph->vertices) / self->piece + 1;
    return pulls ? (uint64_t)(pieces * (double)(sizeof(td_cut) + 2 * self->kernels->accum_bytes)) : 0;
}

td_status td_cpu_bytes(const td_program *program, const td_graph *graph, const td_run_options *options, uint64_t *bytes)
{
    sizes self;
    TD_CHECK(read_sizes(&self, program, graph, options));
    double edges = (double)graph->edges * (double)self.lists;
    uint64_t per_worker = sizeof(td_cpu_tally) + sizeof(td_run_of_units) + (self.bucketed ? sizeof(td_buckets) : 0);
    *bytes = graph->vertices * bytes_per_vertex(&self) + bitmaps(&self) * td_bitmap_words(graph->vertices) * 8 +
             piece_bytes(&self, edges) + self.workers * per_worker + sizeof(td_run) + FIRST_ROWS * sizeof(td_row);
    if (self.kernels->fused || self.info->kind == TD_KIND_SWEEP)
        *bytes += (uint64_t)(edges / self.heavy * (sizeof(uint32_t) + sizeof(uint64_t)));
    return TD_OK;
}
