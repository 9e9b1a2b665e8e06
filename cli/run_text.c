#include "run_text.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/names.h"
#include "base/size.h"
#include "base/status.h"
#include "args.h"
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NAME_COLUMN = 14, KEY_COLUMN = 26 };

static void show_result(const td_run_text *of, const char *name)
{
    const td_program_facts *program = of->program;
    const td_summary *summary = of->summary;
    const char *plural = summary->groups == 1 ? "" : "s";
    char one[TD_NUMBER_BYTES], two[TD_NUMBER_BYTES], three[TD_NUMBER_BYTES];
    uint64_t edge_count;
    const uint64_t *forest = td_result_edges(of->result, &edge_count);
    td_format_count(one, summary->reached);
    td_format_count(two, td_graph_vertices(of->graph));
    if (forest != NULL)
        td_info("%s: %s edges, total weight %.15g, %s %s%s, the largest of %s vertices", name,
                td_format_count(one, edge_count), td_result_total_weight(of->result),
                td_format_count(two, summary->groups), program->result, plural,
                td_format_count(three, summary->largest));
    else if (program->groups)
        td_info("%s: %s %s%s, the largest of %s vertices", name, td_format_count(one, summary->groups),
                program->result, plural, td_format_count(three, summary->largest));
    else if (program->needs_source)
        td_info("%s: %s of %s vertices reached, the farthest at %s %.9g", name, one, two, program->result,
                summary->highest);
    else
        td_info("%s: %s %.9g .. %.9g, sum %.9g", name, program->result, summary->lowest, summary->highest,
                summary->sum);
}

/* Why the run ended. */
static void show_end(const td_run_text *of, const td_result_facts *facts)
{
    bool measured = of->program->measured;
    uint32_t iterations = td_result_iterations(of->result);
    const char *plural = iterations == 1 ? "" : "s";
    if (td_result_converged(of->result) && measured)
        td_info("converged after %" PRIu32 " iteration%s: the last change is %.3g, the tolerance %.3g", iterations,
                plural, facts->final_change, facts->tolerance);
    else if (td_result_converged(of->result))
        td_info("done after %" PRIu32 " iteration%s", iterations, plural);
    else if (of->request->has_iterations && !measured)
        td_info("stopped by --iterations after %" PRIu32 ", before the result was complete", of->request->iterations);
    else if (of->request->has_iterations)
        td_info("stopped by --iterations after %" PRIu32 ": the last change is %.3g, the tolerance %.3g%s",
                of->request->iterations, facts->final_change, facts->tolerance,
                of->request->has_tolerance ? "" : " (--tolerance T sets another)");
    else
        td_info("ended after the default of %" PRIu32 " iteration%s; --iterations N sets another", iterations, plural);
}

/* What a plan states of the GPUs, one line for each. */
static void show_planned_devices(const td_plan *plan)
{
    char graph[TD_NUMBER_BYTES], program[TD_NUMBER_BYTES];
    td_plan_memory gpu = {.size = sizeof gpu};
    bool several = td_plan_memory_row(plan, 2, &gpu) == TD_OK;
    for (int row = 1; td_plan_memory_row(plan, row, &gpu) == TD_OK; row++)
        if (gpu.graph > 0)
            td_info("on %s: graph %s, program %s", several ? gpu.place : "the device", td_format_size(graph, gpu.graph),
                    td_format_size(program, gpu.program));
}

void td_show_plan(const td_plan *plan)
{
    char graph[TD_NUMBER_BYTES], program[TD_NUMBER_BYTES], room[TD_NUMBER_BYTES];
    td_plan_memory host = {.size = sizeof host};
    if (td_plan_memory_row(plan, 0, &host) != TD_OK) return;
    td_info("engine %s (%s): graph %s, program %s, free %s%s", td_plan_engine(plan), td_plan_why(plan),
            td_format_size(graph, host.graph), td_format_size(program, host.program),
            td_format_size(room, host.free), host.fits ? "" : ": may not fit");
    show_planned_devices(plan);
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

/* The sum of a counter over the recorded iterations. */
static double sum_of(const td_result *result, const td_result_facts *facts, const char *counter)
{
    double sum = 0;
    for (uint32_t i = 0; i < facts->rows; i++)
        sum += td_iteration_counter(td_result_iteration(result, facts->first_row + i), counter);
    return sum;
}

/* For engines that send edges over a link. */
static void show_link(const td_result *result, const td_result_facts *facts)
{
    char bytes[TD_NUMBER_BYTES];
    double moved = sum_of(result, facts, "bytes_whole") + sum_of(result, facts, "bytes_extracted") +
                   sum_of(result, facts, "bytes_direct");
    if (moved > 0)
        td_info("over the link: %s of edges, useful bytes / transferred bytes %.2f",
                td_format_size(bytes, (uint64_t)moved), sum_of(result, facts, "bytes_useful") / moved);
}

/* For engines that divide iterations between GPU and CPU. */
static void show_shares(const td_result *result, const td_result_facts *facts)
{
    double gpu = sum_of(result, facts, "edges_gpu"), link = sum_of(result, facts, "edges_link"), sum = 0,
           cpu = sum_of(result, facts, "edges_cpu"), on_demand = sum_of(result, facts, "edges_on_demand");
    uint32_t together = 0;
    if (gpu + link + cpu + on_demand <= 0) return;
    for (uint32_t i = 0; i < facts->rows; i++) {
        const td_iteration *row = td_result_iteration(result, facts->first_row + i);
        together += td_iteration_counter(row, "edges_gpu") + td_iteration_counter(row, "edges_link") > 0;
        sum += (double)row->edges / 100;
    }
    cpu = sum * 100 - gpu - link - on_demand; /* not every engine counts it */
    td_info("edges: GPU %.0f%%, GPU over the link %.0f%%, CPU %.0f%%, CPU on demand %.0f%%; %u of %u iterations with "
            "the GPU", gpu / sum, link / sum, cpu / sum, on_demand / sum, together, facts->rows);
}

/* The GPUs that computed: the rows but that of the CPU. */
static int count_gpus(const td_result *result)
{
    td_device_row row = {.size = sizeof row};
    int count = 0;
    for (int i = 0; td_result_device_row(result, i, &row) == TD_OK; i++) count += strcmp(row.device, "cpu") != 0;
    return count;
}

/* For engines that ran on another device than the CPU. The figures of several are in their rows. */
static void show_device(const td_result *result, const td_result_facts *facts)
{
    char peak[TD_NUMBER_BYTES];
    if (facts->device == NULL) return;
    show_link(result, facts);
    show_shares(result, facts);
    if (count_gpus(result) > 1) return;
    td_info("%s: %.6f s device time, %" PRIu64 " launches, peak memory %s", facts->device, facts->device_seconds,
            facts->launches, td_format_size(peak, facts->device_peak));
}

/* One row per device, for runs on several. */
static void show_devices(const td_result *result)
{
    char edges[TD_NUMBER_BYTES], stated[TD_NUMBER_BYTES], peak[TD_NUMBER_BYTES], in[TD_NUMBER_BYTES],
        out[TD_NUMBER_BYTES];
    td_device_row row = {.size = sizeof row};
    if (td_result_device_row(result, 1, &row) != TD_OK) return;
    td_info("%-10s %12s %12s %12s %12s %9s %12s %12s", "device", "stated", "peak", "edges", "busy s", "launches",
            "bytes in", "bytes out");
    for (int i = 0; td_result_device_row(result, i, &row) == TD_OK; i++)
        td_info("%-10s %12s %12s %12s %12.6f %9" PRIu64 " %12s %12s", row.device,
                td_format_size(stated, row.graph + row.program), td_format_size(peak, row.peak),
                td_format_count(edges, row.edges), row.busy_seconds, row.launches, td_format_size(in, row.bytes_in),
                td_format_size(out, row.bytes_out));
}

static void show_disk(const td_result_facts *facts)
{
    char bytes[TD_NUMBER_BYTES], hits[TD_NUMBER_BYTES], misses[TD_NUMBER_BYTES];
    if (facts->disk_method == NULL) return;
    td_info("disk (%s): %s in %" PRIu64 " reads, %.3f s waited for them; pages: %s in memory, %s read, %" PRIu64
            " of them by blocks; a sequential read is %.1f times as fast as a random one",
            facts->disk_method, td_format_size(bytes, facts->disk_bytes), facts->disk_reads, facts->disk_wait_seconds,
            td_format_count(hits, facts->page_hits), td_format_count(misses, facts->page_misses),
            facts->pages_by_blocks, facts->disk_ratio);
}

static void show_checkpoints(const td_result *result, const td_result_facts *facts)
{
    char size[TD_NUMBER_BYTES];
    uint64_t bytes;
    uint32_t written = td_result_checkpoints(result, &bytes);
    double whole = td_result_seconds(result) + facts->checkpoint_waited_last;
    if (written == 0) return;
    td_info("checkpoints: %" PRIu32 " of %s, %.3f s each beside the run; copying them and the last one took %.3f s of "
            "its own (%.1f%%)",
            written, td_format_size(size, bytes / written), facts->checkpoint_seconds / written,
            facts->checkpoint_waited, whole > 0 ? facts->checkpoint_waited / whole * 100 : 0);
}

void td_show_run(const td_run_text *of)
{
    const td_report_facts *report = of->report;
    td_result_facts facts = {.size = sizeof facts};
    char edges[TD_NUMBER_BYTES], peak[TD_NUMBER_BYTES], reordering[64] = "", opening[64] = "";
    double seconds = of->seconds, renumbering = report->renumber.done ? report->renumber.seconds : 0;
    if (td_result_describe(of->result, &facts) != TD_OK) return;
    if (report->renumber.done)
        snprintf(reordering, sizeof reordering, " (%.3f s of it to reorder)", report->renumber.seconds);
    if (facts.open_seconds > 0) snprintf(opening, sizeof opening, ", open GPU %.3f s", facts.open_seconds);
    uint64_t most = report->run_peak > report->load_peak ? report->run_peak : report->load_peak;
    uint64_t processed = td_result_edges_processed(of->result);
    show_result(of, facts.program);
    show_end(of, &facts);
    td_info("load %.3f s%s, prepare %.3f s%s, processing %.6f s%s", report->load.seconds, opening,
            renumbering + facts.prepare_seconds, reordering, seconds, of->repeats > 1 ? " (median)" : "");
    td_info("%s edges processed, %.1f million a second; peak memory %s", td_format_count(edges, processed),
            seconds > 0 ? (double)processed / seconds * 1e-6 : 0, td_format_size(peak, most));
    show_device(of->result, &facts);
    show_devices(of->result);
    show_disk(&facts);
    show_checkpoints(of->result, &facts);
}

char *td_vertex_text(char *text, size_t bytes, const td_graph *graph, uint32_t vertex)
{
    const char *name = td_graph_vertex_name(graph, vertex);
    if (name != NULL) snprintf(text, bytes, "%s", name);
    else snprintf(text, bytes, "%" PRIu64, td_graph_vertex_id(graph, vertex));
    return td_mask(text);
}

static void print_rows(const td_graph *graph, const uint32_t *vertices, const double *values, uint64_t count,
                       const td_program_facts *program, bool whole, const td_top_of *of)
{
    int width = 10;
    char text[1100];
    for (uint64_t i = 0; i < count; i++) {
        int length = (int)strlen(td_vertex_text(text, sizeof text, graph, vertices[i]));
        width = length > width ? length : width;
    }
    if (of != NULL && of->first) printf("%-10s ", "source");
    if (of == NULL || of->first)
        printf("%-*s %s\n", width, program->groups ? program->result : "vertex",
               program->groups ? "vertices" : program->result);
    for (uint64_t i = 0; i < count; i++) {
        if (of != NULL) printf("%-10s ", of->source);
        printf("%-*s ", width, td_vertex_text(text, sizeof text, graph, vertices[i]));
        printf(whole ? "%.0f\n" : "%.9g\n", values[i]);
    }
}

td_status td_print_top(td_session *session, const td_graph *graph, const td_result *result,
                       const td_program_facts *program, uint64_t most, const td_top_of *of)
{
    td_status status = TD_OK;
    uint32_t *vertices = NULL;
    double *values = NULL;
    uint64_t count = 0, all = td_graph_vertices(graph);
    if (most > all) most = all;
    TD_TRY(TD_NEW(&vertices, most, "top vertices"));
    TD_TRY(TD_NEW(&values, most, "top vertices"));
    TD_TRY(td_result_top(session, result, most, vertices, values, &count));
    td_value_kind kind = td_result_kind(result);
    bool whole = program->groups || kind == TD_VALUE_U32 || kind == TD_VALUE_U64;
    print_rows(graph, vertices, values, count, program, whole, of);
done:
    td_free(vertices);
    td_free(values);
    return status;
}

/* Help. */

static void print_setting(const char *owner, const td_setting_facts *setting)
{
    char head[128], text[640], named[512];
    const char *help = td_names_in(setting->help, named, sizeof named);
    snprintf(head, sizeof head, "  %s.%s", owner, setting->name);
    if (setting->text) snprintf(text, sizeof text, "%s", help);
    else if (setting->choices != NULL)
        snprintf(text, sizeof text, "%s; %s (default: %s)", help, setting->choices, setting->fallback);
    else
        snprintf(text, sizeof text, "%s; %s%.15g to %.15g (default: %s)", help, setting->whole ? "whole, " : "",
                 setting->lowest, setting->highest, setting->fallback);
    td_print_entry(head, KEY_COLUMN, text);
}

static void print_settings(const char *title, const char *owner)
{
    td_setting_facts setting = {.size = sizeof setting};
    for (int i = 0; td_setting_describe(owner, i, &setting) == TD_OK; i++) {
        if (i == 0) printf("\n%s (--set KEY=VALUE)\n", title);
        print_setting(owner, &setting);
    }
}

static const char *weights_text(const td_program_facts *program)
{
    if (!program->uses_weights) return "not used";
    if (program->positive_weights) return "optional (default: all 1); must be positive";
    if (program->needs_weights) return program->non_negative_weights ? "needed, not negative" : "needed";
    return program->non_negative_weights ? "optional (default: all 1); not negative" : "optional (default: all 1)";
}

static void help_limits(const td_program_facts *program)
{
    char text[128];
    snprintf(text, sizeof text, "%" PRIu32 " at most (default of --iterations)", program->iterations);
    if (program->iterations > 0) td_print_entry("  iterations", NAME_COLUMN, text);
    snprintf(text, sizeof text, "%g (default of --tolerance; 0 if only --iterations is given)", program->tolerance);
    if (program->tolerance > 0) td_print_entry("  tolerance", NAME_COLUMN, text);
}

static void help_program(const char *name, const td_program_facts *program)
{
    printf("tandem run %s: %s\n\n", name, td_program_summary(name));
    td_print_entry("  result", NAME_COLUMN, program->result);
    td_print_entry("  weights", NAME_COLUMN, weights_text(program));
    if (program->edges != NULL) td_print_entry("  edges", NAME_COLUMN, program->edges);
    td_print_entry("  --source", NAME_COLUMN, program->needs_source   ? "needed"
                                             : program->takes_source ? "optional"
                                                                     : "none: starts from all vertices");
    td_print_entry("  mode", NAME_COLUMN, program->asynchronous ? "--sync or --async" : "synchronous only");
    if (program->gives_parents) td_print_entry("  --parents", NAME_COLUMN, "supported");
    help_limits(program);
    print_settings("Parameters", name);
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

static void help_engine(const char *name, const td_engine_facts *engine)
{
    bool scarce = engine->limits_edges;
    printf("tandem run --engine %s\n\n", name);
    td_print_wrapped(engine->summary, 2, TD_TEXT_WIDTH);
    printf("  It runs on the device %s ('tandem help devices').\n", engine->device);
    print_settings("Settings", name);
    print_words(engine->uses_gpu);
    printf("\nExample\n  tandem run %s g.tg --source 17 --engine %s%s%s\n", scarce ? "sssp" : "bfs", name,
           engine->several_gpus ? " --devices cuda:0,cuda:1" : engine->uses_gpu ? " --devices cuda:0" : "",
           scarce ? " --gpu-edges 25%" : "");
    printf("\ndocs/design/%s.md describes the engine.\n", name);
}

bool td_help_run_topic(const char *word)
{
    td_program_facts program = {.size = sizeof program};
    td_engine_facts engine = {.size = sizeof engine};
    bool is_program = td_program_describe(word, &program) == TD_OK;
    bool is_engine = !is_program && td_engine_describe(word, &engine) == TD_OK;
    if (is_program) help_program(word, &program);
    else if (is_engine) help_engine(word, &engine);
    return is_program || is_engine;
}

const char *td_run_topic_name(const void *unused, int index)
{
    (void)unused;
    int programs = 0;
    for (; td_program_name(programs) != NULL; programs++)
        if (programs == index) return td_program_name(index);
    return td_engine_name(index - programs);
}

void td_help_programs(void)
{
    const char *name;
    printf("Programs. 'tandem help PROGRAM' lists a program's parameters.\n\n");
    for (int i = 0; (name = td_program_name(i)) != NULL; i++) {
        char head[64];
        snprintf(head, sizeof head, "  %s", name);
        td_print_entry(head, NAME_COLUMN, td_program_summary(name));
    }
}

void td_help_engines(void)
{
    const char *name;
    td_engine_facts engine = {.size = sizeof engine};
    printf("Engines. 'tandem help ENGINE' lists an engine's settings.\n\n");
    td_print_entry("  auto", NAME_COLUMN, "the planner chooses an engine; --json says why");
    for (int i = 0; (name = td_engine_name(i)) != NULL && td_engine_describe(name, &engine) == TD_OK; i++) {
        char head[64];
        snprintf(head, sizeof head, "  %s", name);
        td_print_entry(head, NAME_COLUMN, engine.summary);
    }
}

static const char *program_name(const void *unused, int index)
{
    (void)unused;
    return td_program_name(index);
}

td_status td_unknown_program(const char *word, const char *path)
{
    if (td_program_summary(path) != NULL)
        return td_fail(TD_USAGE, "'%s' is no program; the program comes first: tandem run %s %s", word, path, word);
    if (strcmp(word, "scc") == 0)
        return td_see("programs", td_fail(TD_USAGE, "there is no program for strongly connected components; wcc finds the "
                                          "weakly connected ones"));
    return td_fail_unknown("program", word, "programs", program_name, NULL);
}
