#include "gpu/forest.h"
#include "gpu/ring.h"
#include "gpu/transfer.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/sort.h"
#include "run/sweep.h"
#include "programs/gpu.h"

#include <string.h>

enum { MOST_OWNED = 48 };

/* Opening and closing. */

static void fill_job(td_gpu_job *job, td_run *run, const td_run_options *options)
{
    td_weight_kind kind = run->program->info->weights == TD_WEIGHTS_UNUSED ? TD_WEIGHT_NONE : run->graph->weights;
    *job = (td_gpu_job){.run = run, .options = options, .graph = run->graph, .traits = &run->program->cpu[kind],
                        .has_limit = options->has_iterations};
    job->limit = options->has_iterations ? options->iterations
                 : run->program->info->iterations > 0 ? run->program->info->iterations : UINT32_MAX;
    job->both = td_gpu_view_is_both(run, job->traits) && !run->graph->symmetric;
    job->strict = td_run_strict(run->program, options);
}

td_status td_gpu_job_open(td_gpu_job *job, td_run *run, const td_run_options *options)
{
    fill_job(job, run, options);
    return TD_NEW_ZEROED(&job->owned, MOST_OWNED, "list of device arrays");
}

td_status td_gpu_job_measure(td_gpu_job *job, td_run *run, const td_program *program, const td_graph *graph,
                             const td_run_options *options)
{
    static double present; /* stands for inputs; only their number counts */
    const td_program_info *info = program->info;
    uint64_t n = graph->vertices, inputs = n > 0 ? td_run_input_bytes(program, graph, options) / (n * sizeof(double)) : 0;
    *run = (td_run){.program = program, .graph = graph, .async = options->mode == TD_MODE_ASYNC};
    if (program->cpu[TD_WEIGHT_NONE].first_hit && options->resume != NULL)
        run->async = true; /* the checkpoint may be of an asynchronous search */
    TD_CHECK(td_settings_resolve(options->settings, info->name, info->parameters, run->context.parameter, NULL));
    for (uint64_t i = 0; i < inputs; i++) run->inputs[i] = &present;
    fill_job(job, run, options);
    job->memory.measures = job->memory.host.measures = true;
    return TD_OK;
}

td_status td_gpu_job_start(td_gpu_job *job, td_device *device, td_stream *stream)
{
    void *seen;
    job->device = job->memory.device = device;
    job->memory.cache = job->options->cache;
    job->stream = stream;
    device->peak = device->now; /* peak of this run */
    job->kernels = td_gpu_kernels_of(job->run->program, device->kind);
    if (job->kernels == NULL)
        return td_fail(TD_UNSUPPORTED, "there are no kernels of '%s' for %s", job->run->program->info->name,
                       device->name);
    TD_CHECK(TD_NEW_ZEROED(&job->control, 1, "counters"));
    job->pinned = td_device_pin(device, job->control, sizeof *job->control, &seen) == TD_OK;
    job->control_seen = job->pinned && device->properties.reads_host ? seen : NULL;
    return TD_OK;
}

void td_gpu_job_close(td_gpu_job *job)
{
    if (job->stream != NULL) (void)td_stream_synchronize(job->stream);
    td_gpu_ring_close(job);
    for (int i = 0; i < job->owned_count; i++) td_device_free(job->device, job->owned[i]);
    td_free(job->owned);
    if (job->pinned) td_device_unpin(job->device, job->control);
    if (job->pinned_state != NULL) td_device_unpin(job->device, job->pinned_state);
    td_free(job->control);
}

bool td_gpu_view_is_both(const td_run *run, const td_cpu_kernels *traits)
{
    int forward = run->program->info->forward_choice;
    return traits->view == TD_VIEW_BOTH && !traits->once && !(forward > 0 && run->context.parameter[forward - 1] == 1);
}

void td_gpu_swap(void *a, void *b)
{
    void *keep;
    memcpy(&keep, a, sizeof keep);
    memcpy(a, b, sizeof keep);
    memcpy(b, &keep, sizeof keep);
}

void td_gpu_turn_values(td_gpu_job *job)
{
    td_gpu_state *state = &job->state;
    if (state->next_values != state->values) td_gpu_swap(&state->values, &state->next_values);
    if (!job->traits->sends_value) {
        td_gpu_swap(&state->messages, &state->next_messages);
        return;
    }
    if (job->strict) return;
    state->messages = state->values;
    state->next_messages = state->next_values;
}

/* Arrays, launches, counters. */

td_status td_gpu_new_for(td_gpu_job *job, td_gpu_purpose purpose, void *out, uint64_t count, uint64_t bytes,
                         const char *what)
{
    if (job->owned_count == MOST_OWNED) return td_fail(TD_INTERNAL, "too many device arrays in one run");
    TD_CHECK(td_gpu_declare(&job->memory, purpose, out, count, bytes, what));
    if (!job->memory.measures) memcpy(&job->owned[job->owned_count++], out, sizeof(void *));
    return TD_OK;
}

td_status td_gpu_new(td_gpu_job *job, void *out, uint64_t count, uint64_t bytes, const char *what)
{
    return td_gpu_new_for(job, TD_FOR_PROGRAM, out, count, bytes, what);
}

void td_gpu_zero_counters(td_gpu_job *job)
{
    uint64_t head = offsetof(td_gpu_control, rows);
    uint32_t kept = job->control->edge_count, barrier = job->control->barrier;
    uint64_t moved = job->control->tasks_moved;
    memset(job->control, 0, head);
    job->control->tally.lowest = UINT64_MAX;
    job->control->far_lowest = UINT32_MAX;
    job->control->bound = job->bound;
    job->control->edge_count = kept;
    job->control->barrier = barrier;
    job->control->tasks_moved = moved;
}

td_status td_gpu_reset(td_gpu_job *job)
{
    td_gpu_zero_counters(job);
    return td_stream_copy(job->stream, job->state.control, job->control, offsetof(td_gpu_control, rows), TD_TO_DEVICE);
}

td_status td_gpu_queue_read(td_gpu_job *job, uint32_t rows)
{
    uint64_t bytes = offsetof(td_gpu_control, rows) + rows * sizeof(td_gpu_row);
    return td_stream_copy(job->stream, job->control, job->state.control, bytes, TD_TO_HOST);
}

td_status td_gpu_read_begin(td_gpu_job *job, uint32_t rows, td_handler handler, void *context)
{
    TD_CHECK(td_gpu_queue_read(job, rows));
    return td_stream_notify(job->stream, handler, context, rows);
}

td_status td_gpu_read(td_gpu_job *job, uint32_t rows)
{
    TD_CHECK(td_gpu_queue_read(job, rows));
    return td_stream_synchronize(job->stream);
}

td_status td_gpu_end_iteration(td_gpu_job *job, td_row *row, uint64_t began, double seconds)
{
    row->number = job->state.context.iteration++;
    row->start = (double)(began - job->run_began) * 1e-9;
    row->seconds = seconds;
    job->run->iterations = job->state.context.iteration;
    job->run->edges_processed += row->edges;
    job->run->final_change = row->change;
    uint64_t moved = row->bytes_whole + row->bytes_extracted + row->bytes_direct;
    if (moved > 0) row->useful_over_moved = (double)row->bytes_useful / (double)moved;
    TD_CHECK(td_run_add_row(job->run, job->options, row));
    return td_cancel_check();
}

static td_status declare_messages(td_gpu_job *job)
{
    const td_cpu_kernels *k = job->traits;
    uint64_t n = job->graph->vertices;
    td_gpu_state *state = &job->state;
    TD_CHECK(td_gpu_new(job, &state->values, n, k->value_bytes, "vertex values"));
    state->next_values = state->messages = state->next_messages = state->values;
    if (job->run->program->info->kind != TD_KIND_GAS) return TD_OK;
    bool twice = !k->fused && !job->run->async && !job->in_place;
    if (k->sends_value) {
        if (twice) TD_CHECK(td_gpu_new(job, &state->next_values, n, k->value_bytes, "new vertex values"));
        state->next_messages = state->next_values;
        if (!job->strict) return TD_OK;
        TD_CHECK(td_gpu_new(job, &state->messages, n, k->value_bytes, "values before the iteration"));
        state->next_messages = state->messages;
        return TD_OK;
    }
    TD_CHECK(td_gpu_new(job, &state->messages, n, k->message_bytes, "messages"));
    state->next_messages = state->messages;
    if (twice) TD_CHECK(td_gpu_new(job, &state->next_messages, n, k->message_bytes, "new messages"));
    return TD_OK;
}

td_status td_gpu_send(td_stream *stream, void *out, const void *host, uint64_t count, uint64_t bytes, const char *what)
{
    void *to;
    TD_CHECK(td_device_new(stream->device, &to, count, bytes, what));
    memcpy(out, &to, sizeof to);
    return count == 0 ? TD_OK : td_stream_copy(stream, to, host, count * bytes, TD_TO_DEVICE);
}

td_status td_gpu_declare_values(td_gpu_job *job)
{
    TD_CHECK(td_gpu_new(job, &job->state.control, 1, sizeof(td_gpu_control), "counters"));
    TD_CHECK(declare_messages(job));
    for (int i = 0; i < TD_INPUTS; i++)
        if (job->run->inputs[i] != NULL || (i == 0 && job->run->counts_neighbours))
            TD_CHECK(td_gpu_new(job, &job->state.context.input[i], job->graph->vertices, sizeof(double), "inputs"));
    return TD_OK;
}

td_status td_gpu_send_inputs(td_gpu_job *job)
{
    uint64_t bytes = job->graph->vertices * sizeof(double);
    for (int i = 0; i < TD_INPUTS; i++) {
        if (job->run->inputs[i] == NULL) continue;
        void *to = (void *)(uintptr_t)job->state.context.input[i];
        TD_CHECK(td_stream_copy(job->stream, to, job->run->inputs[i], bytes, TD_TO_DEVICE));
    }
    return TD_OK;
}

/* The state of the program: from a checkpoint, to one. */

static td_status restore(td_gpu_job *job, const td_state *from)
{
    td_gpu_state *state = &job->state;
    uint64_t words = td_gpu_words(job) * sizeof(uint32_t);
    state->context.iteration = from->iteration;
    state->context.phase = from->phase;
    TD_CHECK(td_stream_copy(job->stream, state->values, from->values, job->graph->vertices * job->traits->value_bytes,
                            TD_TO_DEVICE));
    if (state->active != NULL && from->has_active)
        TD_CHECK(td_stream_copy(job->stream, state->active, from->active, words, TD_TO_DEVICE));
    else if (state->active != NULL) TD_CHECK(td_stream_fill(job->stream, state->active, 0xff, words));
    if (job->arrays.edges == NULL) return TD_OK;
    job->control->edge_count = (uint32_t)from->edge_count;
    return from->edge_count == 0 ? TD_OK
                                 : td_stream_copy(job->stream, job->arrays.edges, from->edges,
                                                  from->edge_count * sizeof *from->edges, TD_TO_DEVICE);
}

td_status td_gpu_init(td_gpu_job *job)
{
    td_state *from = job->run->resumed;
    if (from != NULL) TD_CHECK(restore(job, from));
    TD_CHECK(td_gpu_reset(job));
    td_init_args args = {.state = job->state, .end_vertex = job->graph->vertices, .resumed = from != NULL};
    TD_CHECK(td_gpu_launch(job, job->stream, &job->kernels->init, job->graph->vertices, &args));
    TD_CHECK(td_gpu_read(job, 0));
    job->state.context.global = from != NULL ? from->global : job->control->tally.share;
    if (from != NULL) td_state_clear(from);
    return td_checkpoints_begin(job->run);
}

/* Adds a device bitmap to the state's. */
static td_status add_map(td_gpu_job *job, td_state *state, const uint32_t *map)
{
    uint32_t *words;
    uint64_t count = td_gpu_words(job);
    TD_CHECK(TD_NEW(&words, count, "active vertices of a checkpoint"));
    td_status status = td_stream_copy(job->stream, words, map, count * sizeof *words, TD_TO_HOST);
    if (status == TD_OK) status = td_stream_synchronize(job->stream);
    for (uint64_t w = 0; w < count; w++) state->active[w / 2] |= (uint64_t)words[w] << (w % 2 * 32);
    td_free(words);
    return status;
}

td_status td_gpu_save(td_gpu_job *job, td_state *state, const uint32_t *const *maps, int count)
{
    uint64_t bytes = job->graph->vertices * job->traits->value_bytes;
    void *seen;
    if (job->pinned_state == NULL && td_device_pin(job->device, state->values, bytes, &seen) == TD_OK)
        job->pinned_state = state->values;
    state->by_levels = job->state.first_hit;
    TD_CHECK(td_stream_copy(job->stream, state->values, job->state.values, bytes, TD_TO_HOST));
    for (int i = 0; i < count; i++) {
        if (maps[i] == NULL) continue;
        state->has_active = true;
        TD_CHECK(add_map(job, state, maps[i]));
    }
    if (job->arrays.edges != NULL) state->edge_count = job->control->edge_count;
    if (state->edge_count > 0)
        TD_CHECK(td_stream_copy(job->stream, state->edges, job->arrays.edges, state->edge_count * sizeof *state->edges,
                                TD_TO_HOST));
    TD_CHECK(td_stream_synchronize(job->stream));
    return td_checkpoint_save(job->run, state);
}

td_status td_gpu_declare_heads(td_gpu_memory *memory, td_gpu_head_arrays *arrays, uint64_t edges, uint64_t vertices)
{
    uint64_t words = edges / 32 + TD_GPU_TILE / 32, pieces = (edges + TD_GPU_TILE - 1) / TD_GPU_TILE;
    TD_CHECK(td_gpu_declare(memory, TD_FOR_LISTS, &arrays->bits, words, sizeof(uint32_t), "list starts"));
    TD_CHECK(td_gpu_declare(memory, TD_FOR_LISTS, &arrays->before, pieces, sizeof(uint32_t), "list starts"));
    return td_gpu_declare(memory, TD_FOR_LISTS, &arrays->lists, vertices, sizeof(uint32_t), "vertices with lists");
}

td_status td_gpu_send_heads(td_stream *stream, const td_gpu_head_arrays *arrays, const td_gpu_heads *found)
{
    const uint64_t word = sizeof(uint32_t);
    TD_CHECK(td_stream_copy(stream, arrays->bits, found->bits, found->words * word, TD_TO_DEVICE));
    TD_CHECK(td_stream_copy(stream, arrays->before, found->before, found->pieces * word, TD_TO_DEVICE));
    TD_CHECK(td_stream_copy(stream, arrays->lists, found->lists, found->count * word, TD_TO_DEVICE));
    return td_stream_synchronize(stream);
}

void td_gpu_free_head_arrays(td_device *device, td_gpu_head_arrays *arrays)
{
    td_device_free(device, arrays->bits);
    td_device_free(device, arrays->lists);
    td_device_free(device, arrays->before);
    *arrays = (td_gpu_head_arrays){0};
}

/* Counting, and the results. */

void td_gpu_start_row(td_gpu_job *job)
{
    job->device_began = td_device_clock(job->device);
    job->counts_before = job->device->counts;
}

void td_gpu_start_counting(td_gpu_job *job)
{
    td_gpu_start_row(job);
    job->run->counter_count = td_device_counters(job->device, job->run->counters);
}

td_device_use *td_gpu_fill_row(td_gpu_job *job)
{
    const td_device_counts *counts = &job->device->counts, *before = &job->counts_before;
    td_device_use *use = td_device_use_of(&job->run->devices, job->device->name);
    use->row.launches = counts->launches - before->launches;
    use->copies = counts->copies - before->copies;
    use->fills = counts->fills - before->fills;
    use->waits = counts->waits - before->waits;
    use->row.peak = job->device->peak - td_gpu_others_bytes(job->options, job->device);
    use->row.busy_seconds = (double)(td_device_clock(job->device) - job->device_began) * 1e-9;
    use->row.bytes_in = counts->bytes_to_device - before->bytes_to_device;
    use->row.bytes_out = counts->bytes_to_host - before->bytes_to_host;
    return use;
}

void td_gpu_stop_counting(td_gpu_job *job)
{
    td_run *run = job->run;
    td_counter after[TD_COUNTERS];
    const td_device_use *use = td_gpu_fill_row(job);
    run->device_seconds = use->row.busy_seconds;
    run->launches = use->row.launches;
    run->bytes_to_device = use->row.bytes_in;
    run->bytes_to_host = use->row.bytes_out;
    run->device_peak = use->row.peak;
    (void)td_device_counters(job->device, after);
    for (int i = 0; i < run->counter_count; i++) run->counters[i].value = after[i].value - run->counters[i].value;
    memcpy(run->device, job->device->name, sizeof run->device);
}

static td_status copy_values(td_gpu_job *job)
{
    const void *values = job->state.values;
    size_t bytes = job->traits->value_bytes;
    if (job->arrays.labels != NULL) {
        td_labels_args args = {.state = job->state, .labels = job->arrays.labels};
        TD_CHECK(td_gpu_launch(job, job->stream, &job->kernels->label_all, job->graph->vertices, &args));
        values = job->arrays.labels;
        bytes = sizeof(uint32_t);
    }
    TD_CHECK(td_new_bytes(&job->run->values, job->graph->vertices, bytes, "vertex values"));
    return td_gpu_download(job, job->run->values, values, job->graph->vertices * bytes);
}

static td_status copy_edges(td_gpu_job *job)
{
    td_run *run = job->run;
    if (job->arrays.edges == NULL) return TD_OK;
    run->edge_count = job->control->edge_count;
    TD_CHECK(TD_NEW(&run->edges, run->edge_count + 1, "edges of the forest"));
    if (td_gpu_lists_forest(job)) return td_gpu_list_forest(job);
    TD_CHECK(td_gpu_download(job, run->edges, job->arrays.edges, run->edge_count * sizeof *run->edges));
    return td_sweep_end_forest(run, job->options->pool);
}

/* A forest takes its edges, with ends and weights where the device lists them, and otherwise memory to sort them. */
static uint64_t forest_bytes(const td_gpu_job *job)
{
    return sizeof(uint64_t) + (td_gpu_lists_forest(job) ? sizeof(td_forest_edge) : 0);
}

static uint64_t sorting_bytes(const td_gpu_job *job)
{
    bool sorts = job->traits->edge != NULL && !td_gpu_lists_forest(job);
    return sorts ? td_sort_bitmap_bytes(job->graph->vertices, job->graph->edges) : 0;
}

uint64_t td_gpu_result_bytes(const td_gpu_job *job)
{
    bool labels = !td_gpu_is_gas(job) && job->traits->value_bytes != sizeof(uint32_t);
    uint64_t vertex = labels ? sizeof(uint32_t) : job->traits->value_bytes;
    if (job->traits->edge != NULL) vertex += forest_bytes(job);
    if (job->options->parents) vertex += sizeof(uint32_t);
    return job->graph->vertices * vertex;
}

void td_gpu_note_results(td_gpu_job *job)
{
    uint64_t bytes = td_gpu_result_bytes(job);
    td_gpu_ring_note(job, bytes);
    td_host_note(&job->memory.host, bytes + sorting_bytes(job));
}

td_status td_gpu_copy_result(td_gpu_job *job)
{
    TD_CHECK(copy_values(job));
    TD_CHECK(copy_edges(job));
    job->run->array_bytes = job->graph->vertices * job->traits->value_bytes; /* host memory: the result */
    return TD_OK;
}
