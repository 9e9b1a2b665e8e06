/* `tandem devices`: what this machine has to compute with, and how fast its
 * memory is, measured now. */
#include "command.h"

#include "base/log.h"
#include "base/machine.h"
#include "base/size.h"
#include "device/cpu/rates.h"
#include "report.h"

#include <stdio.h>

typedef struct devices_settings {
    td_common common;
    uint64_t largest;
} devices_settings;

#define OPTION(...) TD_OPTION(devices_settings, __VA_ARGS__)

static const td_arg_option options[] = {
    OPTION("largest", SIZE, largest, "SIZE", "measure random reads over ranges up to that (default: 1G)",
           .least = 1 << 20, .most = 0x1p62),
    {0},
};

enum { LABEL = 44, CELL = 14 };

static void print_machine(const td_machine *machine)
{
    char a[TD_NUMBER_BYTES], b[TD_NUMBER_BYTES];
    printf("cpu        %s\n", machine->processor);
    printf("           %d cores, %d of %d threads usable, %d NUMA node%s", machine->cores, machine->usable,
           machine->processors, machine->numa_nodes, machine->numa_nodes == 1 ? "" : "s");
    if (machine->cache_bytes > 0) printf(", %s cache", td_format_size(a, machine->cache_bytes));
    printf("\nmemory     %s, %s free, transparent huge pages: %s\n", td_format_size(a, machine->memory),
           td_format_size(b, machine->memory_free), machine->huge_pages);
}

/* One line of figures, in billions, one per measurement. */
static void print_row(const char *label, const char *unit, const double *figures, int count)
{
    printf("%-*s", LABEL, label);
    for (int i = 0; i < count; i++) printf("%*.2f %s", CELL - 5, figures[i] * 1e-9, unit);
    printf("\n");
}

static void print_rates(const td_cpu_rates *rates, int count)
{
    const td_cpu_rates *one = &rates[0], *all = &rates[count - 1];
    printf("\n%-*s", LABEL, "measured");
    for (int i = 0; i < count; i++)
        printf("%*d thread%s", CELL - 8, rates[i].threads, rates[i].threads == 1 ? " " : "s");
    printf("\n");
    print_row("copy, read and written", "GB/s", (double[]){one->copy, all->copy}, count);
    print_row("read", "GB/s", (double[]){one->read, all->read}, count);
    for (int i = 0; i < one->gather_count; i++) {
        const td_gather_rate *a = &one->gather[i], *b = &all->gather[i];
        char label[96], range[TD_NUMBER_BYTES];
        td_format_size(range, a->range);
        snprintf(label, sizeof label, "random 4-byte reads, %s, small pages", range);
        print_row(label, "G/s ", (double[]){a->small_pages, b->small_pages}, count);
        snprintf(label, sizeof label, "random 4-byte reads, %s, huge pages", range);
        print_row(label, "G/s ", (double[]){a->huge_pages, b->huge_pages}, count);
    }
}

static void report_machine(td_json *json, const td_machine *machine)
{
    td_json_object(json, "cpu");
    td_json_string(json, "processor", machine->processor);
    td_json_i64(json, "cores", machine->cores);
    td_json_i64(json, "processors", machine->processors);
    td_json_i64(json, "usable", machine->usable);
    td_json_i64(json, "numa_nodes", machine->numa_nodes);
    td_json_u64(json, "cache_bytes", machine->cache_bytes);
    td_json_u64(json, "memory", machine->memory);
    td_json_u64(json, "memory_free", machine->memory_free);
    td_json_string(json, "huge_pages", machine->huge_pages);
    td_json_end_object(json);
}

static void report_rates(td_json *json, const td_cpu_rates *rates, int count)
{
    td_json_array(json, "rates");
    for (int i = 0; i < count; i++) {
        td_json_object(json, NULL);
        td_json_i64(json, "threads", rates[i].threads);
        td_json_real(json, "copy_bytes_per_second", rates[i].copy);
        td_json_real(json, "read_bytes_per_second", rates[i].read);
        td_json_array(json, "random_reads");
        for (int k = 0; k < rates[i].gather_count; k++) {
            td_json_row(json, NULL);
            td_json_u64(json, "range_bytes", rates[i].gather[k].range);
            td_json_real(json, "small_pages_per_second", rates[i].gather[k].small_pages);
            td_json_real(json, "huge_pages_per_second", rates[i].gather[k].huge_pages);
            td_json_end_object(json);
        }
        td_json_end_array(json);
        td_json_end_object(json);
    }
    td_json_end_array(json);
}

static td_status measure(int threads, uint64_t largest, td_cpu_rates *out)
{
    td_pool *pool = NULL;
    TD_CHECK(td_pool_create(&pool, threads));
    td_progress_text("measuring memory with %d threads", td_pool_threads(pool));
    td_status status = td_cpu_measure(pool, largest, out);
    td_pool_destroy(pool);
    return status;
}

static td_status run_devices(const td_args *args, void *settings)
{
    (void)args;
    td_status status = TD_OK;
    const devices_settings *s = settings;
    const td_common *common = &s->common;
    td_report report = {0};
    td_machine machine;
    td_cpu_rates rates[2];
    td_machine_describe(&machine);
    int threads = common->threads > 0 ? (int)common->threads : machine.usable, count = threads > 1 ? 2 : 1;
    TD_TRY(measure(1, s->largest, &rates[0]));
    if (count == 2) TD_TRY(measure(threads, s->largest, &rates[1]));
    td_progress_end();
    if (td_report_leaves_stdout(common)) {
        print_machine(&machine);
        print_rates(rates, count);
    }
    if (common->json == NULL) goto done;
    TD_TRY(td_report_begin(&report, common->json, "devices", threads));
    report_machine(&report.json, &machine);
    report_rates(&report.json, rates, count);
done:
    return td_report_end(&report, status);
}

static const devices_settings defaults = {.largest = TD_CPU_MEASURE_LARGEST};

const td_command td_cmd_devices = {
    .name = "devices",
    .summary = "the processors and memory of this machine, with measured rates",
    .options = options,
    .settings_bytes = sizeof(devices_settings),
    .defaults = &defaults,
    .run = run_devices,
};
