#include "run_text.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/size.h"
#include "cpu/cpu.h"
#include "planner/plan.h"
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NAME_COLUMN = 14, KEY_COLUMN = 26 };

static void show_result(const td_run *run, const td_run_summary *summary)
{
    const td_program_info *info = run->program->info;
    char one[TD_NUMBER_BYTES], two[TD_NUMBER_BYTES], three[TD_NUMBER_BYTES];
    td_format_count(one, summary->reached);
    td_format_count(two, run->graph->vertices);
    if (run->edges != NULL)
        td_info("%s: %s edges, total weight %.15g, %s %s%s, the largest of %s vertices", info->name,
                td_format_count(one, run->edge_count), run->total_weight, td_format_count(two, summary->groups),
                info->result, summary->groups == 1 ? "" : "s", td_format_count(three, summary->largest));
    else if (info->vertex_values)
        td_info("%s: %s %s%s, the largest of %s vertices", info->name, td_format_count(one, summary->groups),
                info->result, summary->groups == 1 ? "" : "s", td_format_count(three, summary->largest));
    else if (info->needs_source)
        td_info("%s: %s of %s vertices reached, the farthest at %s %.9g", info->name, one, two, info->result,
                summary->highest);
    else
        td_info("%s: %s %.9g .. %.9g, sum %.9g", info->name, info->result, summary->lowest, summary->highest,
                summary->sum);
}

/* Why the run ended. */
static void show_end(const td_run *run, const td_run_options *options)
{
    bool measured = run->program->cpu[TD_WEIGHT_NONE].measure != TD_MEASURE_NONE;
    const char *plural = run->iterations == 1 ? "" : "s";
    if (run->converged && measured)
        td_info("converged after %" PRIu32 " iteration%s: the last change is %.3g, the tolerance %.3g", run->iterations,
                plural, run->final_change, run->tolerance);
    else if (run->converged)
        td_info("done after %" PRIu32 " iteration%s", run->iterations, plural);
    else if (options->has_iterations && !measured)
        td_info("stopped by --iterations after %" PRIu32 ", before the result was complete", options->iterations);
    else if (options->has_iterations)
        td_info("stopped by --iterations after %" PRIu32 ": the last change is %.3g, the tolerance %.3g%s",
                options->iterations, run->final_change, run->tolerance,
                options->has_tolerance ? "" : " (--tolerance T sets another)");
    else
        td_info("ended after the default of %" PRIu32 " iteration%s; --iterations N sets another", run->iterations,
                plural);
}

void td_show_plan(const td_plan *plan)
{
    char graph[TD_NUMBER_BYTES], program[TD_NUMBER_BYTES], room[TD_NUMBER_BYTES];
    td_info("engine %s (%s): graph %s, program %s, free %s%s", plan->reported->name, plan->why,
            td_format_size(graph, plan->graph_bytes), td_format_size(program, plan->program_bytes),
            td_format_size(room, plan->free_bytes), plan->fits ? "" : ": may not fit");
    if (plan->device_graph_bytes > 0)
        td_info("on the device: graph %s, program %s", td_format_size(graph, plan->device_graph_bytes),
                td_format_size(program, plan->device_program_bytes));
    uint64_t edges = td_plan_counter(plan, "subgraph_edges"), rooms = td_plan_counter(plan, "room_bytes");
    if (edges > 0)
        td_info("the link carries subgraphs of %s edges, the device has slots for %s; resident prefix %s",
                td_format_count(graph, edges), td_format_count(program, td_plan_counter(plan, "subgraph_slots")),
                td_format_size(room, td_plan_counter(plan, "prefix_bytes")));
    if (rooms == 0) return;
    uint64_t most = td_plan_counter(plan, "disk_bytes_per_iteration"), later = td_plan_counter(plan, "disk_bytes_later");
    td_info("edges stay on disk: %s of memory for pages, at most %s read per iteration%s%s",
            td_format_size(room, rooms), td_format_size(graph, most), later < most ? ", after the first about " : "",
            later < most ? td_format_size(program, later) : "");
}

/* For engines that send edges over a link. */
static void show_link(const td_run *run)
{
    char bytes[TD_NUMBER_BYTES];
    uint64_t moved = 0, useful = 0;
    for (uint32_t i = 0; i < run->row_count; i++) {
        const td_row *row = &run->rows[i];
        moved += row->bytes_whole + row->bytes_extracted + row->bytes_direct;
        useful += row->bytes_useful;
    }
    if (moved > 0)
        td_info("over the link: %s of edges, useful bytes / transferred bytes %.2f", td_format_size(bytes, moved),
                (double)useful / (double)moved);
}

/* For engines that divide iterations between GPU and CPU. */
static void show_shares(const td_run *run)
{
    td_row all = {0};
    uint32_t together = 0;
    for (uint32_t i = 0; i < run->row_count; i++) {
        const td_row *row = &run->rows[i];
        together += row->edges_gpu + row->edges_link > 0;
        all.edges_gpu += row->edges_gpu;
        all.edges_link += row->edges_link;
        all.edges_cpu += row->edges_cpu;
        all.edges_on_demand += row->edges_on_demand;
    }
    double sum = (double)(all.edges_gpu + all.edges_link + all.edges_cpu + all.edges_on_demand) / 100;
    if (td_engine_named(run->engine) == &td_coop_engine && sum > 0)
        td_info("edges: GPU %.0f%%, GPU over the link %.0f%%, CPU %.0f%%, CPU on demand %.0f%%; %u "
                "of %u iterations with the GPU",
                (double)all.edges_gpu / sum, (double)all.edges_link / sum, (double)all.edges_cpu / sum,
                (double)all.edges_on_demand / sum, together, run->row_count);
}

/* For engines that ran on another device than the CPU. */
static void show_device(const td_run *run)
{
    char peak[TD_NUMBER_BYTES];
    if (run->device[0] == '\0') return;
    show_link(run);
    show_shares(run);
    td_info("%s: %.6f s device time, %" PRIu64 " launches, peak memory %s", run->device, run->device_seconds,
            run->launches, td_format_size(peak, run->device_peak));
}

/* A row for each of several devices. */
static void show_devices(const td_run *run)
{
    char edges[TD_NUMBER_BYTES], stated[TD_NUMBER_BYTES], peak[TD_NUMBER_BYTES], in[TD_NUMBER_BYTES],
        out[TD_NUMBER_BYTES];
    if (run->devices.count < 2) return;
    td_info("%-10s %12s %12s %12s %12s %12s %12s", "device", "stated", "peak", "edges", "busy s", "bytes in",
            "bytes out");
    for (int i = 0; i < run->devices.count; i++) {
        const td_device_row *row = &run->devices.of[i].row;
        td_info("%-10s %12s %12s %12s %12.6f %12s %12s", run->devices.of[i].name,
                td_format_size(stated, row->graph + row->program), td_format_size(peak, row->peak),
                td_format_count(edges, row->edges), row->busy_seconds, td_format_size(in, row->bytes_in),
                td_format_size(out, row->bytes_out));
    }
}

static void show_disk(const td_run *run)
{
    const td_run_disk *disk = &run->disk;
    char bytes[TD_NUMBER_BYTES], hits[TD_NUMBER_BYTES], misses[TD_NUMBER_BYTES];
    if (!disk->used) return;
    td_info("disk (%s): %s in %" PRIu64 " reads, %.3f s waited for them; pages: %s in memory, %s read, %" PRIu64
            " of them by blocks; k = %.1f",
            disk->method, td_format_size(bytes, disk->bytes), disk->reads, disk->wait_seconds,
            td_format_count(hits, disk->hits), td_format_count(misses, disk->misses), disk->parts, disk->ratio);
}

static void show_checkpoints(const td_run *run)
{
    const td_checkpoint_stats *stats = &run->checkpoint_stats;
    char bytes[TD_NUMBER_BYTES];
    double whole = run->seconds + stats->waited_last;
    if (stats->written == 0) return;
    td_info("checkpoints: %" PRIu32 " of %s, %.3f s each beside the run; copying them and the last one took %.3f s of "
            "its own (%.1f%%)",
            stats->written, td_format_size(bytes, stats->bytes / stats->written), stats->seconds / stats->written,
            stats->waited, whole > 0 ? stats->waited / whole * 100 : 0);
}

void td_show_run(const td_run_report *report)
{
    const td_run *run = report->run;
    char edges[TD_NUMBER_BYTES], peak[TD_NUMBER_BYTES];
    char reordering[64] = "", opening[64] = "";
    double seconds = report->median;
    if (report->reorder.name != NULL)
        snprintf(reordering, sizeof reordering, " (%.3f s of it to reorder)", report->reorder.seconds);
    if (run->open_seconds > 0) snprintf(opening, sizeof opening, ", open GPU %.3f s", run->open_seconds);
    uint64_t most = report->run_peak > report->load_peak ? report->run_peak : report->load_peak;
    show_result(run, report->summary);
    show_end(run, report->options);
    td_info("load %.3f s%s, prepare %.3f s%s, processing %.6f s%s", report->load.seconds, opening,
            report->reorder.seconds + run->prepare_seconds, reordering, seconds,
            report->repeats > 1 ? " (median)" : "");
    td_info("%s edges processed, %.1f million a second; peak memory %s", td_format_count(edges, run->edges_processed),
            seconds > 0 ? (double)run->edges_processed / seconds * 1e-6 : 0, td_format_size(peak, most));
    show_device(run);
    show_devices(run);
    show_disk(run);
    show_checkpoints(run);
}

static void print_top_row(const td_run *run, td_top row, int width)
{
    printf("%-*" PRIu64 " ", width, td_graph_id(run->graph, row.vertex));
    if (run->program->info->vertex_values || run->kind == TD_VALUE_U32) printf("%.0f\n", row.value);
    else printf("%.9g\n", row.value);
}

td_status td_print_top(const td_run *run, td_pool *pool, uint64_t most)
{
    const td_program_info *info = run->program->info;
    bool groups = info->vertex_values;
    td_top *rows = NULL;
    uint64_t count = 0;
    int width = 10;
    TD_CHECK(td_run_top(run, pool, most, &rows, &count));
    for (uint64_t i = 0; i < count; i++) {
        int length = snprintf(NULL, 0, "%" PRIu64, td_graph_id(run->graph, rows[i].vertex));
        width = length > width ? length : width;
    }
    printf("%-*s %s\n", width, groups ? info->result : "vertex", groups ? "vertices" : info->result);
    for (uint64_t i = 0; i < count; i++) print_top_row(run, rows[i], width);
    td_free(rows);
    return TD_OK;
}

/* Help. */

static void print_setting(const char *prefix, const td_setting *entry)
{
    char head[128], text[512], fallback[TD_SETTING_BYTES];
    snprintf(head, sizeof head, "  %s.%s", prefix, entry->name);
    td_setting_print(fallback, entry, entry->fallback, NULL);
    if (entry->kind == TD_SETTING_TEXT) snprintf(text, sizeof text, "%s", entry->help);
    else if (entry->kind == TD_SETTING_CHOICE)
        snprintf(text, sizeof text, "%s; %s (default: %s)", entry->help, entry->choices, fallback);
    else
        snprintf(text, sizeof text, "%s; %s%.15g to %.15g (default: %s)", entry->help,
                 entry->kind == TD_SETTING_WHOLE ? "whole, " : "", entry->lowest, entry->highest, fallback);
    td_print_entry(head, KEY_COLUMN, text);
}

static void print_settings(const char *title, const char *prefix, const td_setting *table)
{
    if (td_settings_length(table) == 0) return;
    printf("\n%s (--set KEY=VALUE)\n", title);
    for (; table->name != NULL; table++) print_setting(prefix, table);
}

static const char *weights_text(const td_program_info *info)
{
    if (info->weights == TD_WEIGHTS_UNUSED) return "not used";
    if (info->positive) return "optional (default: all 1); must be positive";
    if (info->weights == TD_WEIGHTS_NEEDED) return info->non_negative ? "needed, not negative" : "needed";
    return info->non_negative ? "optional (default: all 1); not negative" : "optional (default: all 1)";
}

static void help_limits(const td_program_info *info)
{
    char text[128];
    snprintf(text, sizeof text, "%" PRIu32 " at most (default of --iterations)", info->iterations);
    if (info->iterations > 0) td_print_entry("  iterations", NAME_COLUMN, text);
    snprintf(text, sizeof text, "%g (default of --tolerance; 0 if only --iterations is given)",
             info->tolerance);
    if (info->tolerance > 0) td_print_entry("  tolerance", NAME_COLUMN, text);
}

static void help_program(const td_program_info *info)
{
    printf("tandem run %s: %s\n\n", info->name, info->summary);
    td_print_entry("  result", NAME_COLUMN, info->result);
    td_print_entry("  weights", NAME_COLUMN, weights_text(info));
    td_print_entry("  --source", NAME_COLUMN, info->needs_source   ? "needed"
                                             : info->takes_source ? "optional"
                                                                  : "none: starts from all vertices");
    td_print_entry("  mode", NAME_COLUMN, info->order_free ? "--sync or --async" : "synchronous only");
    if (info->gives_parents) td_print_entry("  --parents", NAME_COLUMN, "supported");
    help_limits(info);
    print_settings("Parameters", info->name, info->parameters);
}

/* The terms used in the descriptions of settings. */
static void print_words(bool gpu)
{
    printf("\nWords\n");
    td_print_entry("  pull", NAME_COLUMN, "every vertex reads its in-neighbours");
    td_print_entry("  push", NAME_COLUMN, "active vertices update their out-neighbours");
    td_print_entry("  frontier", NAME_COLUMN, "the active vertices: those whose change has not been pushed yet");
    if (!gpu) return;
    td_print_entry("  launch", NAME_COLUMN,
                   "one start of a kernel; it costs some microseconds, so that small rounds share one");
    td_print_entry("  block, warp", NAME_COLUMN,
                   "threads of a GPU with common shared memory; 32 of them in lockstep, the lanes");
}

static void help_engine(const td_engine *engine)
{
    bool gpu = engine->uses_devices & TD_USES_GPU;
    printf("tandem run --engine %s\n\n", engine->name);
    td_print_wrapped(engine->summary, 2, TD_TEXT_WIDTH);
    printf("  It runs on the device %s ('tandem help devices').\n", engine->device);
    print_settings("Settings", engine->name, engine->settings);
    print_words(gpu);
    if (engine->example != NULL) printf("\nExample\n  tandem run %s\n", engine->example);
    else
        printf("\nExample\n  tandem run bfs g.tg --source 17 --engine %s%s\n", engine->name,
               gpu ? " --devices cuda:0" : "");
    printf("\ndocs/design/%s.md describes the engine.\n", engine->name);
}

bool td_help_run_topic(const char *word)
{
    const td_program *program = td_program_named(word);
    const td_engine *engine = td_engine_named(word);
    if (program != NULL) help_program(program->info);
    else if (engine != NULL) help_engine(engine);
    return program != NULL || engine != NULL;
}

const char *td_run_topic_name(const void *unused, int index)
{
    (void)unused;
    int programs = 0;
    for (; td_programs[programs] != NULL; programs++)
        if (programs == index) return td_programs[programs]->info->name;
    return td_engines[index - programs] != NULL ? td_engines[index - programs]->name : NULL;
}

void td_help_programs(void)
{
    printf("Programs. 'tandem help PROGRAM' lists a program's parameters.\n\n");
    for (int i = 0; td_programs[i] != NULL; i++) {
        char head[64];
        snprintf(head, sizeof head, "  %s", td_programs[i]->info->name);
        td_print_entry(head, NAME_COLUMN, td_programs[i]->info->summary);
    }
}

void td_help_engines(void)
{
    printf("Engines. 'tandem help ENGINE' lists an engine's settings.\n\n");
    td_print_entry("  auto", NAME_COLUMN, "the planner chooses an engine; --json says why");
    for (int e = 0; td_engines[e] != NULL; e++) {
        char head[64];
        snprintf(head, sizeof head, "  %s", td_engines[e]->name);
        td_print_entry(head, NAME_COLUMN, td_engines[e]->summary);
    }
}
