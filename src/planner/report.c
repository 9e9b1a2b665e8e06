#include "planner/report.h"

#include "kernels/cpu/job.h"
#include "planner/choose.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Settings and parameters in effect. */

static void put_setting(td_json *json, const char *prefix, const td_setting *entry, double number, const char *text)
{
    char key[128], value[TD_SETTING_BYTES];
    snprintf(key, sizeof key, "%s.%s", prefix, entry->name);
    if (entry->kind == TD_SETTING_NUMBER || entry->kind == TD_SETTING_WHOLE) td_json_real(json, key, number);
    else if (entry->kind == TD_SETTING_CHOICE) td_json_string(json, key, td_setting_print(value, entry, number, NULL));
    else if (text != NULL) td_json_string(json, key, text);
    else td_json_null(json, key);
}

/* The text that the user gave for a setting, or NULL. */
static const char *given(const td_settings *settings, const char *prefix, const char *name)
{
    char key[128];
    const char *value = NULL;
    snprintf(key, sizeof key, "%s.%s", prefix, name);
    for (uint64_t i = 0; settings != NULL && i < settings->count; i++)
        if (strcmp(settings->keys[i], key) == 0) value = settings->values[i];
    return value;
}

/* Whether the setting has an effect: none does if the engine delegated the run. */
static bool changes_anything(const td_run_report *report, const td_setting *entry)
{
    const td_plan *plan = report->plan;
    const td_engine *engine = plan->engine;
    if (plan->engine != plan->reported) return false;
    if (engine->applies != NULL && !engine->applies(report->options->settings, entry->name)) return false;
    return engine->uses == NULL || engine->uses(report->run->program, entry->name);
}

static void put_plan(td_json *json, const td_run_report *report)
{
    const td_plan *plan = report->plan;
    const char *engine = plan->reported->name; /* the engine asked for, which may have delegated the run */
    td_json_object(json, "plan");
    td_json_string(json, "engine", engine);
    td_json_string(json, "why", report->plan->why);
    td_json_u64(json, "graph_bytes", report->plan->graph_bytes);
    td_json_u64(json, "program_bytes", report->plan->program_bytes);
    if (report->plan->emulated_bytes > 0) td_json_u64(json, "emulated_bytes", report->plan->emulated_bytes);
    td_json_u64(json, "process_bytes", report->plan->process_bytes);
    td_json_u64(json, "free_bytes", report->plan->free_bytes);
    td_json_bool(json, "fits", report->plan->fits);
    if (report->plan->device_graph_bytes > 0) {
        td_json_u64(json, "device_graph_bytes", report->plan->device_graph_bytes);
        td_json_u64(json, "device_program_bytes", report->plan->device_program_bytes);
    }
    for (int i = 0; i < plan->counter_count; i++) td_json_u64(json, plan->counters[i].name, plan->counters[i].value);
    td_json_array(json, "prepared");
    for (int i = 0; i < plan->prepared_count; i++) td_json_string(json, NULL, plan->prepared[i]);
    td_json_end_array(json);
    td_json_object(json, "settings");
    for (const td_setting *entry = plan->reported->settings; entry->name != NULL; entry++) {
        double number = entry->fallback;
        if (!changes_anything(report, entry)) continue;
        (void)td_settings_number(report->options->settings, engine, entry, entry->name, &number);
        if (plan->engine->in_effect != NULL) number = plan->engine->in_effect(plan, entry, number);
        put_setting(json, engine, entry, number, given(report->options->settings, engine, entry->name));
    }
    td_json_end_object(json);
    td_json_end_object(json);
}

static void put_source(td_json *json, const td_run_report *report)
{
    const td_graph *graph = report->run->graph;
    uint32_t source = report->options->source;
    const char *name = td_graph_vertex_name(graph, source);
    td_json_u64(json, "source", td_graph_id(graph, source));
    if (name != NULL) td_json_string(json, "source_name", name);
}

static void put_parameters(td_json *json, const td_run_report *report)
{
    const td_run *run = report->run;
    const td_program_info *info = run->program->info;
    td_json_object(json, "parameters");
    if (report->options->has_source) put_source(json, report);
    if (report->options->has_iterations) td_json_u64(json, "iterations", report->options->iterations);
    if (run->program->cpu[TD_WEIGHT_NONE].measure != TD_MEASURE_NONE) td_json_real(json, "tolerance", run->tolerance);
    td_json_bool(json, "parents", report->options->parents);
    const td_setting *table = info->parameters;
    for (uint64_t i = 0; i < td_settings_length(table); i++)
        put_setting(json, info->name, &table[i], run->context.parameter[i],
                    given(report->options->settings, info->name, table[i].name));
    td_json_end_object(json);
}

/* Counters. */

static void put_list(td_json *json, const char *name, const td_row_list *list)
{
    td_json_array(json, name);
    for (uint32_t i = 0; i < list->count; i++) td_json_real(json, NULL, list->values[i]);
    td_json_end_array(json);
}

static void put_text(td_json *json, const char *name, const char *text)
{
    if (text != NULL) td_json_string(json, name, text);
    else td_json_null(json, name);
}

/* Adds the engine's columns of a row. */
static void put_columns(td_json *json, const td_row *row, const td_column *columns)
{
    for (; columns != NULL && columns->name != NULL; columns++) {
        const char *at = (const char *)row + columns->offset;
        if (columns->kind == TD_COLUMN_U32) td_json_u64(json, columns->name, *(const uint32_t *)at);
        else if (columns->kind == TD_COLUMN_U64) td_json_u64(json, columns->name, *(const uint64_t *)at);
        else if (columns->kind == TD_COLUMN_REAL) td_json_real(json, columns->name, *(const double *)at);
        else if (columns->kind == TD_COLUMN_LIST) put_list(json, columns->name, (const td_row_list *)at);
        else put_text(json, columns->name, *(const char *const *)at);
    }
}

static void put_disk(td_json *json, const td_run *run)
{
    const td_run_disk *disk = &run->disk;
    if (!disk->used) return;
    td_json_object(json, "disk");
    td_json_string(json, "method", disk->method);
    td_json_real(json, "k", disk->ratio);
    td_json_u64(json, "pages", disk->pages);
    td_json_u64(json, "page_hits", disk->hits);
    td_json_u64(json, "page_misses", disk->misses);
    td_json_u64(json, "pages_by_blocks", disk->parts);
    td_json_u64(json, "evictions", disk->evictions);
    td_json_u64(json, "reads", disk->reads);
    td_json_u64(json, "bytes", disk->bytes);
    td_json_real(json, "wait_seconds", disk->wait_seconds);
    td_json_u64(json, "reused_bytes", disk->reused_bytes);
    td_json_u64(json, "reader_threads", (uint64_t)disk->reader_threads);
    td_json_real(json, "readers_idle_seconds", disk->reader_seconds[0]);
    td_json_real(json, "readers_asking_seconds", disk->reader_seconds[1]);
    td_json_real(json, "readers_waiting_seconds", disk->reader_seconds[2]);
    td_json_real(json, "readers_checking_seconds", disk->reader_seconds[3]);
    td_json_array(json, "directory_bytes");
    for (int d = 0; d < disk->directories; d++) td_json_u64(json, NULL, disk->directory_bytes[d]);
    td_json_end_array(json);
    td_json_end_object(json);
}

static void put_row(td_json *json, const td_row *row, const td_column *columns)
{
    td_json_row(json, NULL);
    td_json_u64(json, "number", row->number);
    td_json_string(json, "direction", row->direction);
    td_json_u64(json, "active_vertices", row->active_vertices);
    td_json_u64(json, "active_edges", row->active_edges);
    td_json_u64(json, "edges", row->edges);
    td_json_real(json, "change", row->change);
    td_json_real(json, "start", row->start);
    td_json_real(json, "seconds", row->seconds);
    put_columns(json, row, columns);
    td_json_end_object(json);
}

static void put_rows(td_json *json, const td_run *run)
{
    td_json_array(json, "rows");
    for (uint32_t i = 0; i < run->row_count; i++) put_row(json, &run->full_rows[i], td_engine_named(run->engine)->columns);
    td_json_end_array(json);
}

/* Counts the iterations per direction, in the order of first use. */
static void put_directions(td_json *json, const td_run *run)
{
    td_json_object(json, "directions");
    for (uint32_t i = 0; i < run->row_count; i++) {
        const char *direction = run->full_rows[i].direction;
        uint32_t first = 0;
        uint64_t count = 0;
        while (strcmp(run->full_rows[first].direction, direction) != 0) first++;
        if (first < i) continue;
        for (uint32_t j = i; j < run->row_count; j++) count += strcmp(run->full_rows[j].direction, direction) == 0;
        td_json_u64(json, direction, count);
    }
    td_json_end_object(json);
}

static void put_phase(td_json *json, const char *key, const td_span *span)
{
    if (span->name != NULL) td_json_real(json, key, span->seconds);
}

/* Opening GPUs is part of planning for the clock, and stated apart. */
static double plan_seconds(const td_run_report *report)
{
    double seconds = report->planning.seconds - report->run->open_seconds;
    return seconds > 0 ? seconds : 0;
}

static void put_times(td_json *json, const td_run_report *report)
{
    const td_run *run = report->run;
    td_json_object(json, "times");
    put_phase(json, "start", &report->start);
    td_json_real(json, "load", report->load.seconds);
    if (run->device_opens > 0) td_json_real(json, "open", run->open_seconds);
    if (report->planning.name != NULL) td_json_real(json, "plan", plan_seconds(report));
    td_json_real(json, "prepare", report->reorder.seconds + run->prepare_seconds);
    put_phase(json, "reorder", &report->reorder); /* part of it */
    put_phase(json, "earlier", &report->earlier);
    td_json_array(json, "processing");
    for (uint64_t i = 0; i < report->repeats; i++) td_json_real(json, NULL, report->each[i]);
    td_json_end_array(json);
    td_json_real(json, "finish", run->finish_seconds + report->summarise.seconds);
    put_phase(json, "verify", &report->verify);
    put_phase(json, "write", &report->output);
    td_json_end_object(json);
}

/* What the planner expected of the engine that ran, phase by phase as in "times". */
static void put_predicted(td_json *json, const td_run_report *report)
{
    const td_plan_estimate *row = td_estimates_of(report->expected, report->plan->engine);
    if (row == NULL || row->refusal != NULL) return;
    td_json_object(json, "predicted");
    td_json_real(json, "seconds", row->seconds);
    td_json_real(json, "start", row->start);
    td_json_real(json, "load", row->load);
    td_json_real(json, "open", row->open);
    td_json_real(json, "plan", row->plan);
    td_json_real(json, "prepare", row->prepare);
    td_json_real(json, "processing", row->processing);
    td_json_real(json, "finish", row->finish);
    td_json_bool(json, "measured", row->measured);
    td_json_end_object(json);
}

static void put_memory(td_json *json, const td_run_report *report)
{
    const td_run *run = report->run;
    uint64_t graph = td_graph_bytes(run->graph), held = graph + run->array_bytes;
    td_json_object(json, "memory");
    td_json_u64(json, "graph", graph);
    td_json_u64(json, "arrays", run->array_bytes);
    td_json_u64(json, "load_peak", report->load_peak);
    td_json_u64(json, "run_peak", report->run_peak);
    td_json_real(json, "run_peak_over_graph_and_arrays", held > 0 ? (double)report->run_peak / (double)held : 0);
    td_json_end_object(json);
}

static void put_result(td_json *json, const td_run_report *report)
{
    const td_run *run = report->run;
    const td_run_summary *summary = report->summary;
    char digest[32];
    snprintf(digest, sizeof digest, "%016" PRIx64, summary->digest);
    td_json_object(json, "result");
    td_json_string(json, "name", run->program->info->result);
    td_json_u64(json, "reached", summary->reached);
    if (run->program->info->vertex_values) {
        td_json_u64(json, "groups", summary->groups);
        td_json_u64(json, "largest_group", summary->largest);
    } else {
        td_json_real(json, "lowest", summary->lowest);
        td_json_real(json, "highest", summary->highest);
        td_json_real(json, "sum", summary->sum);
    }
    if (run->edges != NULL) {
        td_json_u64(json, "forest_edges", run->edge_count);
        td_json_real(json, "total_weight", run->total_weight);
    }
    td_json_string(json, "digest", digest);
    td_json_string(json, "digest_of",
                   td_value_is_whole(run->kind) ? "ids and results, in any order; equal for equal results"
                                             : "ids and results bit by bit, in any order; real results of several "
                                               "threads or engines may differ in their last bits");
    td_json_end_object(json);
}

/* Counters that the engine states of this run. */
static void put_work(td_json *json, const td_run *run)
{
    if (run->work_count == 0) return;
    td_json_object(json, "work");
    for (int i = 0; i < run->work_count; i++) td_json_u64(json, run->work[i].name, run->work[i].value);
    td_json_end_object(json);
}

static void put_workers(td_json *json, const td_run *run)
{
    if (run->workers == NULL) return;
    td_json_array(json, "workers");
    for (int w = 0; w < run->worker_count; w++) {
        td_json_object(json, NULL);
        td_json_u64(json, "steals", run->workers[w].steals);
        td_json_u64(json, "gifts", run->workers[w].gifts);
        td_json_u64(json, "pieces", run->workers[w].pieces);
        td_json_real(json, "idle_seconds", run->workers[w].idle_seconds);
        td_json_end_object(json);
    }
    td_json_end_array(json);
}

/* Device fields, for runs on a GPU. */
static void put_device(td_json *json, const td_run *run)
{
    if (run->device[0] == '\0') return;
    td_json_object(json, "device");
    td_json_string(json, "name", run->device);
    td_json_u64(json, "launches", run->launches);
    td_json_u64(json, "peak_bytes", run->device_peak);
    td_json_real(json, "seconds", run->device_seconds);
    td_json_u64(json, "bytes_to_device", run->bytes_to_device);
    td_json_u64(json, "bytes_to_host", run->bytes_to_host);
    for (int i = 0; i < run->counter_count; i++) td_json_u64(json, run->counters[i].name, run->counters[i].value);
    td_json_end_object(json);
}

static void put_devices(td_json *json, const td_run *run)
{
    td_json_array(json, "devices");
    for (int i = 0; i < run->devices.count; i++) {
        const td_device_use *use = &run->devices.of[i];
        td_json_object(json, NULL);
        td_json_string(json, "name", use->name);
        td_json_u64(json, "graph_bytes", use->row.graph);
        td_json_u64(json, "program_bytes", use->row.program);
        td_json_u64(json, "free_bytes", use->row.free);
        if (use->host_edge_bytes > 0) td_json_u64(json, "host_edge_bytes", use->host_edge_bytes);
        td_json_u64(json, "peak_bytes", use->row.peak);
        td_json_u64(json, "edges", use->row.edges);
        td_json_real(json, "busy_seconds", use->row.busy_seconds);
        td_json_u64(json, "bytes_in", use->row.bytes_in);
        td_json_u64(json, "bytes_out", use->row.bytes_out);
        td_json_u64(json, "launches", use->row.launches);
        td_json_u64(json, "copies", use->copies);
        td_json_u64(json, "fills", use->fills);
        td_json_u64(json, "waits", use->waits);
        td_json_end_object(json);
    }
    td_json_end_array(json);
}

static void put_checkpoints(td_json *json, const td_run_report *report)
{
    const td_checkpoint_stats *stats = &report->run->checkpoint_stats;
    if (report->options->checkpoint == NULL && report->options->resume == NULL) return;
    td_json_object(json, "checkpoints");
    td_json_u64(json, "written", stats->written);
    td_json_u64(json, "failed", stats->failed);
    td_json_u64(json, "bytes", stats->bytes);
    td_json_real(json, "seconds", stats->seconds);
    td_json_real(json, "processor_seconds", stats->processor);
    td_json_real(json, "waited_seconds", stats->waited);
    td_json_real(json, "waited_last_seconds", stats->waited_last);
    if (stats->resumed_from != NULL) {
        td_json_string(json, "resumed_from", stats->resumed_from);
        td_json_u64(json, "resumed_iterations", stats->resumed_iteration);
    } else {
        td_json_null(json, "resumed_from");
    }
    td_json_end_object(json);
}

static void put_recovery(td_json *json, const td_run *run)
{
    const td_recovery_stats *stats = &run->recovery;
    if (!stats->on) return;
    td_json_object(json, "recovery");
    td_json_u64(json, "copies", stats->copies);
    td_json_u64(json, "bytes", stats->bytes);
    td_json_real(json, "seconds", stats->seconds);
    td_json_u64(json, "gpus_lost", stats->gpus_lost);
    td_json_u64(json, "iterations_repeated", stats->iterations_repeated);
    td_json_end_object(json);
}

void td_run_report_json(td_json *json, const td_run_report *report)
{
    const td_run *run = report->run;
    double seconds = report->median;
    td_json_string(json, "program", run->program->info->name);
    td_json_string(json, "engine", run->engine);
    td_json_string(json, "mode", run->async ? "async" : "sync");
    td_json_bool(json, "converged", run->converged);
    td_json_u64(json, "iterations", run->iterations);
    td_json_real(json, "final_change", run->final_change);
    td_json_u64(json, "edges_processed", run->edges_processed);
    if (run->updates > 0) td_json_u64(json, "updates", run->updates);
    td_json_real(json, "seconds", seconds);
    td_json_real(json, "edges_per_second", seconds > 0 ? (double)run->edges_processed / seconds : 0);
    if (report->claims != NULL) td_json_string(json, "verified", report->claims);
    else td_json_null(json, "verified");
    put_plan(json, report);
    td_json_u64(json, "device_opens", run->device_opens);
    td_json_u64(json, "plans", run->plans);
    put_work(json, run);
    put_workers(json, run);
    put_device(json, run);
    put_devices(json, run);
    put_disk(json, run);
    put_checkpoints(json, report);
    put_recovery(json, run);
    put_parameters(json, report);
    put_result(json, report);
    put_directions(json, run);
    put_times(json, report);
    put_predicted(json, report);
    put_memory(json, report);
    put_rows(json, run);
}

/* The trace. */

/* Tracks: the command's steps and iterations, then an engine's lanes, then one for every device. */
enum { TRACK_STEPS = 1, TRACK_LANES = 2, TRACK_DEVICES = TRACK_LANES + TD_LANES };

static void begin_event(td_json *json, const char *name, const char *phase, uint64_t track)
{
    td_json_row(json, NULL);
    td_json_string(json, "name", name);
    td_json_string(json, "ph", phase);
    td_json_u64(json, "pid", 1);
    td_json_u64(json, "tid", track);
}

/* Slices begin and end at whole nanoseconds: viewers drop a slice that overlaps the one before it, be it by the rounding
 * of its end. */
static void open_event(td_json *json, const char *name, uint64_t track, double start_us, double us)
{
    double begin = round(fmax(start_us, 0) * 1e3), end = floor((start_us + us) * 1e3 + 1e-3);
    begin_event(json, name, "X", track);
    td_json_real(json, "ts", begin / 1000);
    td_json_real(json, "dur", fmax(end - begin, 0) / 1000);
    td_json_object(json, "args");
}

static void close_event(td_json *json)
{
    td_json_end_object(json);
    td_json_end_object(json);
}

static double us_since(uint64_t zero, uint64_t began) { return (double)(int64_t)(began - zero) * 1e-3; }

static void put_span(td_json *json, const td_span *span, uint64_t zero)
{
    if (span->name == NULL) return;
    open_event(json, span->name, TRACK_STEPS, us_since(zero, span->began), span->seconds * 1e6);
    close_event(json);
}

static void put_iteration(td_json *json, const td_row *row, double start_us)
{
    char name[64];
    snprintf(name, sizeof name, "%" PRIu32 " %s", row->number, row->direction);
    open_event(json, name, TRACK_STEPS, start_us + row->start * 1e6, row->seconds * 1e6);
    td_json_u64(json, "active_vertices", row->active_vertices);
    td_json_u64(json, "active_edges", row->active_edges);
    td_json_u64(json, "edges", row->edges);
    td_json_real(json, "change", row->change);
    close_event(json);
}

static void put_name(td_json *json, const char *what, uint64_t track, const char *name)
{
    begin_event(json, what, "M", track);
    td_json_object(json, "args");
    td_json_string(json, "name", name);
    close_event(json);
}

static void put_names(td_json *json, const td_run *run)
{
    static const char *const lanes[TD_LANES] = {"copies", "kernels", "workers"};
    put_name(json, "process_name", TRACK_STEPS, "tandem");
    put_name(json, "thread_name", TRACK_STEPS, "steps and iterations");
    for (uint64_t lane = 0; run->event_count > 0 && lane < TD_LANES; lane++)
        put_name(json, "thread_name", TRACK_LANES + lane, lanes[lane]);
    for (int i = 0; i < run->devices.count; i++)
        put_name(json, "thread_name", TRACK_DEVICES + (uint64_t)i, run->devices.of[i].name);
}

static void put_event(td_json *json, const td_run_event *event, double start_us)
{
    open_event(json, event->name, TRACK_LANES + (uint64_t)event->lane, start_us + event->start * 1e6,
               event->seconds * 1e6);
    if (event->subgraph != UINT32_MAX) td_json_u64(json, "subgraph", event->subgraph);
    td_json_u64(json, "bytes", event->bytes);
    close_event(json);
}

/* Counters: a value from an iteration's start on. */

static void open_counter(td_json *json, const char *name, double us)
{
    begin_event(json, name, "C", TRACK_STEPS);
    td_json_real(json, "ts", us > 0 ? us : 0);
    td_json_object(json, "args");
}

static uint64_t moved_bytes(const td_row *row)
{
    return row->bytes_whole + row->bytes_extracted + row->bytes_direct + row->bytes_synchronised +
           row->bytes_exchanged + row->disk_bytes;
}

static bool moves(const td_run *run)
{
    for (uint32_t i = 0; i < run->row_count; i++)
        if (moved_bytes(&run->full_rows[i]) > 0) return true;
    return false;
}

static void put_counters(td_json *json, const td_row *row, double us, bool bytes)
{
    open_counter(json, "active vertices", us);
    td_json_u64(json, "vertices", row->active_vertices);
    close_event(json);
    open_counter(json, "edges processed", us);
    td_json_u64(json, "edges", row->edges);
    close_event(json);
    if (!bytes) return;
    open_counter(json, "bytes moved", us);
    td_json_u64(json, "moved", moved_bytes(row));
    if (row->bytes_useful > 0) td_json_u64(json, "useful", row->bytes_useful);
    close_event(json);
}

/* The end of the last iteration brings the counters back to zero. */
static void put_all_counters(td_json *json, const td_run *run, double start_us)
{
    bool bytes = moves(run);
    double end = 0;
    for (uint32_t i = 0; i < run->row_count; i++) {
        const td_row *row = &run->full_rows[i];
        put_counters(json, row, start_us + row->start * 1e6, bytes);
        end = row->start + row->seconds;
    }
    if (run->row_count > 0) put_counters(json, &(td_row){0}, start_us + end * 1e6, bytes);
}

/* Tracks of devices: an iteration lasts as long as the device was at work, as far as its engine measures that. */
static double device_seconds(const td_run *run, int device, const td_row *row, bool *measured)
{
    bool cpu = strcmp(run->devices.of[device].name, "cpu") == 0;
    double idle = cpu ? row->cpu_idle_seconds + row->disk_wait_seconds : row->gpu_idle_seconds;
    double busy = row->seconds - idle;
    *measured = idle > 0;
    if (!cpu && row->compute_seconds > 0) busy = row->compute_seconds, *measured = true;
    if (!cpu && (uint32_t)device < row->busy.count) busy = row->busy.values[device], *measured = true;
    return busy < 0 ? 0 : busy < row->seconds ? busy : row->seconds;
}

static void put_work_of(td_json *json, const td_run *run, int device, const td_row *row, double start_us)
{
    char name[64];
    bool measured;
    double seconds = device_seconds(run, device, row, &measured);
    snprintf(name, sizeof name, "%" PRIu32 " %s", row->number, row->direction);
    open_event(json, name, TRACK_DEVICES + (uint64_t)device, start_us + row->start * 1e6, seconds * 1e6);
    td_json_bool(json, "measured", measured);
    close_event(json);
}

/* The last run: preparing, iterations, finishing. */
static void put_run(td_json *json, const td_run_report *report, uint64_t zero)
{
    const td_run *run = report->run;
    double run_us = us_since(zero, report->run_span.began), prepare_us = run->prepare_seconds * 1e6;
    double start_us = run_us + prepare_us;
    put_span(json, &report->run_span, zero);
    open_event(json, "prepare", TRACK_STEPS, run_us, prepare_us);
    td_json_u64(json, "array_bytes", run->array_bytes);
    close_event(json);
    for (uint32_t i = 0; i < run->row_count; i++) put_iteration(json, &run->full_rows[i], start_us);
    for (uint32_t i = 0; i < run->event_count; i++) put_event(json, &run->events[i], start_us);
    for (int d = 0; d < run->devices.count; d++)
        for (uint32_t i = 0; i < run->row_count; i++) put_work_of(json, run, d, &run->full_rows[i], start_us);
    put_all_counters(json, run, start_us);
    td_span finish = {"finish", run->processed_at, run->finish_seconds};
    put_span(json, &finish, zero);
}

void td_run_trace_json(td_json *json, const td_run_report *report)
{
    uint64_t zero = report->start.name != NULL ? report->start.began : report->load.began;
    td_span open = {report->run->open_seconds > 0 ? "open" : NULL, report->planning.began, report->run->open_seconds};
    td_json_string(json, "displayTimeUnit", "ms");
    td_json_array(json, "traceEvents");
    put_names(json, report->run);
    put_span(json, &report->start, zero);
    put_span(json, &report->load, zero);
    put_span(json, &report->reorder, zero);
    put_span(json, &report->planning, zero);
    put_span(json, &open, zero);
    put_span(json, &report->earlier, zero);
    put_run(json, report, zero);
    put_span(json, &report->summarise, zero);
    put_span(json, &report->verify, zero);
    put_span(json, &report->output, zero);
    td_json_end_array(json);
}
