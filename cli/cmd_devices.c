/* `tandem devices`: the processors and GPUs of this machine, and the measured rates of
 * their memory. */
#include "command.h"

#include "base/isa.h"
#include "base/machine.h"
#include "base/size.h"
#include "gpu_text.h"
#include "report.h"

#include <stdio.h>
#include <string.h>

typedef struct devices_settings {
    td_common common;
    const char *devices;
    uint64_t largest, gpu_memory;
} devices_settings;

#define OPTION(...) TD_OPTION(devices_settings, __VA_ARGS__)

static const td_arg_option options[] = {
    OPTION("devices", TEXT, devices, "LIST",
           "the devices: cpu, cuda:0, cuda:0/8, emu:8@dgx1 (default: all but emulated ones)"),
    OPTION("gpu-memory", SIZE, gpu_memory, "SIZE", "limit on a GPU's memory: 4G, 512M", .least = 1 << 20,
           .most = 0x1p62),
    OPTION("largest", SIZE, largest, "SIZE", "largest range for random reads (default: 1G)",
           .least = 1 << 20, .most = 0x1p62),
    {0},
};

enum { LABEL = 44, CELL = 14 };

/* Prints the instruction set level in use, and the other levels of this build. */
static void print_isa(void)
{
    printf("\n           kernels for %s", td_isa_name(td_isa_level()));
    for (int i = 0, shown = 0; i < td_isa_count(); i++) {
        if (i == td_isa_level()) continue;
        printf("%s%s%s", shown++ > 0 ? ", " : "; this build also has ", td_isa_name(i),
               td_isa_usable(i) ? "" : " (not this processor)");
    }
}

static void print_machine(const td_machine *machine)
{
    char a[TD_NUMBER_BYTES], b[TD_NUMBER_BYTES];
    printf("cpu        %s\n", machine->processor);
    printf("           ");
    if (machine->cores > 0) printf("%d cores, ", machine->cores);
    printf("%d of %d threads usable, %d NUMA node%s", machine->usable, machine->processors, machine->numa_nodes,
           machine->numa_nodes == 1 ? "" : "s");
    if (machine->cache_bytes > 0) printf(", %s cache", td_format_size(a, machine->cache_bytes));
    print_isa();
    printf("\nmemory     %s, %s free, transparent huge pages: %s\n", td_format_size(a, machine->memory),
           td_format_size(b, machine->memory_free), machine->huge_pages);
}

/* The row of the CPU after `row`, or -1: it has one for one thread and one for all. */
static int next_cpu(const td_survey *survey, int row)
{
    td_surveyed_device device = {.size = sizeof device};
    while (td_survey_device(survey, ++row, &device) == TD_OK)
        if (device.threads > 0) return row;
    return -1;
}

static int threads_of(const td_survey *survey, int row)
{
    td_surveyed_device device = {.size = sizeof device};
    return td_survey_device(survey, row, &device) == TD_OK ? device.threads : 0;
}

static const char *cpu_label(char label[96], const td_rate *rate)
{
    char range[TD_NUMBER_BYTES];
    if (strcmp(rate->name, "copy_bytes_per_second") == 0) return "copy, read and written";
    if (rate->range == 0) return "read";
    snprintf(label, 96, "random 4-byte reads, %s, %s pages", td_format_size(range, rate->range),
             strcmp(rate->name, "small_pages_per_second") == 0 ? "small" : "huge");
    return label;
}

/* Prints a line of figures, in billions, one per row of the CPU. */
static void print_figures(const td_survey *survey, int index, const td_rate *first)
{
    char label[96];
    td_rate rate;
    printf("%-*s", LABEL, cpu_label(label, first));
    for (int row = next_cpu(survey, -1); row >= 0; row = next_cpu(survey, row))
        if (td_survey_rate(survey, row, index, &rate))
            printf("%*.2f %s", CELL - 5, rate.value * 1e-9, rate.range == 0 ? "GB/s" : "G/s ");
    printf("\n");
}

static void print_rates(const td_survey *survey)
{
    td_rate rate;
    int first = next_cpu(survey, -1);
    printf("\n%-*s", LABEL, "measured");
    for (int row = first; row >= 0; row = next_cpu(survey, row))
        printf("%*d thread%s", CELL - 8, threads_of(survey, row), threads_of(survey, row) == 1 ? " " : "s");
    printf("\n");
    for (int i = 0; td_survey_rate(survey, first, i, &rate); i++) print_figures(survey, i, &rate);
}

static void report_machine(td_json *json, const td_machine *machine)
{
    td_json_object(json, "cpu");
    td_json_string(json, "processor", machine->processor);
    if (machine->cores > 0) td_json_i64(json, "cores", machine->cores);
    else td_json_null(json, "cores");
    td_json_i64(json, "processors", machine->processors);
    td_json_i64(json, "usable", machine->usable);
    td_json_i64(json, "numa_nodes", machine->numa_nodes);
    td_json_u64(json, "cache_bytes", machine->cache_bytes);
    td_json_u64(json, "memory", machine->memory);
    td_json_u64(json, "memory_free", machine->memory_free);
    td_json_string(json, "huge_pages", machine->huge_pages);
    td_json_end_object(json);
}

/* A range has two rates, one after the other: with small pages and with huge ones. */
static void report_gathers(td_json *json, const td_survey *survey, int row)
{
    td_rate rate;
    uint64_t range = 0;
    td_json_array(json, "random_reads");
    for (int i = 0; td_survey_rate(survey, row, i, &rate); i++) {
        if (rate.range == 0) continue;
        if (rate.range != range) {
            if (range != 0) td_json_end_object(json);
            td_json_row(json, NULL);
            td_json_u64(json, "range_bytes", range = rate.range);
        }
        td_json_real(json, rate.name, rate.value);
    }
    if (range != 0) td_json_end_object(json);
    td_json_end_array(json);
}

static void report_rates(td_json *json, const td_survey *survey)
{
    td_rate rate;
    td_json_array(json, "rates");
    for (int row = next_cpu(survey, -1); row >= 0; row = next_cpu(survey, row)) {
        td_json_object(json, NULL);
        td_json_i64(json, "threads", threads_of(survey, row));
        for (int i = 0; td_survey_rate(survey, row, i, &rate); i++)
            if (rate.range == 0) td_json_real(json, rate.name, rate.value);
        report_gathers(json, survey, row);
        td_json_end_object(json);
    }
    td_json_end_array(json);
}

static td_link_facts link_of(const td_survey *survey, int from, int to)
{
    td_link_facts link = {.size = sizeof link};
    (void)td_survey_link(survey, from, to, &link);
    return link;
}

static void print_link(const td_link_facts *link)
{
    char cell[48];
    const char *mark = link->same_memory ? "=" : link->direct ? "*" : " ";
    if (link->rate > 0) snprintf(cell, sizeof cell, "%.2f %.2f%s", link->rate * 1e-9, link->latency * 1e6, mark);
    else snprintf(cell, sizeof cell, "- ");
    printf("%18s", cell);
}

/* Rows are where copies come from. */
static void print_links(const td_survey *survey)
{
    int count = td_survey_places(survey);
    if (count < 2) return;
    printf("\nlinks, timed by copies: GB/s and us of a small one; from the left to above\n%-12s", "");
    for (int to = 0; to < count; to++) printf("%18s", td_survey_place(survey, to));
    printf("\n");
    for (int from = 0; from < count; from++) {
        printf("%-12s", td_survey_place(survey, from));
        for (int to = 0; to < count; to++) {
            td_link_facts link = link_of(survey, from, to);
            print_link(&link);
        }
        printf("\n");
    }
    printf("* kernels may follow the other's pointers, = it is the same memory; between GPUs without either, copies go "
           "through the host\n");
}

static void report_link(td_json *json, const td_survey *survey, int from, int to)
{
    td_link_facts link = link_of(survey, from, to);
    if (link.rate <= 0) return;
    td_json_row(json, NULL);
    td_json_string(json, "from", td_survey_place(survey, from));
    td_json_string(json, "to", td_survey_place(survey, to));
    td_json_real(json, "bytes_per_second", link.rate);
    td_json_real(json, "latency_seconds", link.latency);
    td_json_bool(json, "direct", link.direct);
    td_json_bool(json, "same_memory", link.same_memory);
    td_json_end_object(json);
}

static void report_links(td_json *json, const td_survey *survey)
{
    int count = td_survey_places(survey);
    td_json_array(json, "links");
    for (int from = 0; from < count; from++)
        for (int to = 0; to < count; to++) report_link(json, survey, from, to);
    td_json_end_array(json);
}

static void print(const td_survey *survey, const td_machine *machine)
{
    td_surveyed_device device = {.size = sizeof device};
    if (next_cpu(survey, -1) >= 0) {
        print_machine(machine);
        if (td_survey_no_gpu(survey) != NULL) printf("gpu        %s\n", td_survey_no_gpu(survey));
        print_rates(survey);
    }
    for (int i = 0; td_survey_device(survey, i, &device) == TD_OK; i++)
        if (device.threads == 0) td_gpu_print(survey, i, &device);
    print_links(survey);
}

static void report(td_json *json, const td_survey *survey, const td_machine *machine)
{
    td_surveyed_device device = {.size = sizeof device};
    if (next_cpu(survey, -1) >= 0) {
        report_machine(json, machine);
        report_rates(json, survey);
    }
    td_json_array(json, "gpus");
    for (int i = 0; td_survey_device(survey, i, &device) == TD_OK; i++)
        if (device.threads == 0) td_gpu_json(json, survey, i, &device);
    td_json_end_array(json);
    if (td_survey_places(survey) > 1) report_links(json, survey);
    if (td_survey_no_gpu(survey) != NULL) td_json_string(json, "no_gpu", td_survey_no_gpu(survey));
}

/* The number of threads that were measured; 1 if the CPU was not. */
static int most_threads(const td_survey *survey)
{
    int most = 1;
    for (int row = next_cpu(survey, -1); row >= 0; row = next_cpu(survey, row))
        if (threads_of(survey, row) > most) most = threads_of(survey, row);
    return most;
}

static td_status show(const td_survey *survey, const td_common *common, td_report *out)
{
    td_machine machine;
    td_machine_describe(&machine);
    if (td_report_leaves_stdout(common)) print(survey, &machine);
    if (common->json == NULL) return TD_OK;
    TD_CHECK(td_report_begin(out, common->json, "devices", most_threads(survey)));
    report(&out->json, survey, &machine);
    return TD_OK;
}

static td_status run_devices(const td_args *args, void *settings)
{
    (void)args;
    td_status status = TD_OK;
    const devices_settings *s = settings;
    td_session *session = NULL;
    td_survey *survey = NULL;
    td_report out = {0};
    td_survey_options wanted = {.size = sizeof wanted, .devices = s->devices, .gpu_memory = s->gpu_memory,
                                .largest = s->largest, .links = s->devices != NULL};
    TD_TRY(td_common_session(&s->common, &session));
    TD_TRY(td_session_survey(session, &wanted, &survey));
    TD_TRY(show(survey, &s->common, &out));
done:
    td_survey_destroy(survey);
    td_session_destroy(session);
    return td_report_end(&out, status);
}

const td_command td_cmd_devices = {
    .name = "devices",
    .summary = "show the processors, GPUs and memory rates of this machine",
    .options = options,
    .settings_bytes = sizeof(devices_settings),
    .run = run_devices,
    .details =
        "Names of devices, here and for run and bench, separated by commas:\n"
        "cpu: the worker threads (--threads).\n"
        "cuda:N: NVIDIA GPU N; cuda:N/S: all S slices of it; cuda:N/S#I: slice I, counted from 0.\n"
        "emu:COUNT: emulated GPUs, which run the same kernels on the CPU: slow, but on any machine; "
        "emu:COUNT@TOPOLOGY: with the memory, rates and links of a file (pcie3, pcie4, pcie5, dgx1, h200, slices, late, "
        "unchecked, or a path). Their times are modelled.\n"
        "With --devices, the rates and latencies between all of them and the host are measured too.",
    .examples = "tandem devices\n"
                "tandem devices --devices cuda:0/8\n"
                "tandem devices --devices emu:8@dgx1",
};
