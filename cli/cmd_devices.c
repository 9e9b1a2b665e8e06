/* `tandem devices`: the processors and GPUs of this machine, and the measured rates of
 * their memory. */
#include "command.h"

#include "base/alloc.h"
#include "base/isa.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/size.h"
#include "device/cpu/rates.h"
#include "device/kinds.h"
#include "device/links.h"
#include "gpu_text.h"
#include "report.h"

#include <stdio.h>

typedef struct devices_settings {
    td_common common;
    const char *devices;
    uint64_t largest, gpu_memory;
} devices_settings;

typedef struct job {
    const devices_settings *settings;
    td_machine machine;
    td_cpu_rates rates[2]; /* with one thread and with all */
    int rate_count;        /* 0: the cpu was not requested */
    td_gpu_report *gpus;
    int gpu_count;
    td_link_matrix links;
    char no_gpu[TD_MESSAGE_BYTES]; /* why there is none, or why one is not used */
} job;

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

/* Prints one line of figures, in billions, one per measurement. */
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

/* Measures the cpu. */
static td_status inspect_cpu(job *self)
{
    td_machine_describe(&self->machine);
    int threads = self->settings->common.threads > 0 ? (int)self->settings->common.threads : self->machine.usable;
    TD_CHECK(measure(1, self->settings->largest, &self->rates[0]));
    self->rate_count = 1;
    if (threads == 1) return TD_OK;
    TD_CHECK(measure(threads, self->settings->largest, &self->rates[1]));
    self->rate_count = 2;
    return TD_OK;
}

static td_status inspect_device(job *self, td_device *device)
{
    if (device->kind == TD_DEVICE_CPU) return inspect_cpu(self);
    TD_CHECK(TD_RESIZE(&self->gpus, (uint64_t)self->gpu_count + 1, "report on devices"));
    TD_CHECK(td_gpu_describe(&self->gpus[self->gpu_count], device, self->settings->largest));
    self->gpu_count++;
    return TD_OK;
}

static td_status inspect_list(job *self, const char *list)
{
    td_status status = TD_OK;
    td_loop *loop = NULL;
    td_device *devices = NULL;
    TD_CHECK(td_loop_create(&loop));
    TD_TRY(td_devices_open(&devices, list,
                           &(td_device_options){.loop = loop, .gpu_memory = self->settings->gpu_memory}));
    for (td_device *device = devices; device != NULL; device = device->next) TD_TRY(inspect_device(self, device));
    if (self->settings->devices != NULL) {
        td_progress_text("measuring links");
        TD_TRY(td_links_measure(devices, &self->links));
    }
done:
    td_devices_close(devices);
    td_loop_destroy(loop);
    return status;
}

/* Measures all devices. A GPU that cannot be used is reported, but is no failure. */
static td_status inspect_all(job *self)
{
    const char *why;
    TD_CHECK(inspect_cpu(self));
    if (!td_device_kind_present(TD_DEVICE_CUDA, &why)) snprintf(self->no_gpu, sizeof self->no_gpu, "none: %s", why);
    for (int i = 0; i < td_cuda_count(); i++) {
        char name[32];
        snprintf(name, sizeof name, "cuda:%d", i);
        td_status status = inspect_list(self, name);
        if (status == TD_CANCELLED || status == TD_INTERNAL) return status;
        if (status != TD_OK) snprintf(self->no_gpu, sizeof self->no_gpu, "%s", td_last_message());
    }
    return TD_OK;
}

/* Rows are where copies come from. */
static void print_links(const td_link_matrix *links)
{
    char cell[48];
    if (links->count < 2) return;
    printf("\nlinks, timed by copies: GB/s and us of a small one; from the left to above\n%-12s", "");
    for (int to = 0; to < links->count; to++) printf("%18s", links->names[to]);
    printf("\n");
    for (int from = 0; from < links->count; from++) {
        printf("%-12s", links->names[from]);
        for (int to = 0; to < links->count; to++) {
            const td_measured_link *link = td_links_at(links, from, to);
            const char *mark = link->same_memory ? "=" : link->direct ? "*" : " ";
            if (link->rate > 0) snprintf(cell, sizeof cell, "%.2f %.2f%s", link->rate * 1e-9, link->latency * 1e6, mark);
            else snprintf(cell, sizeof cell, "- ");
            printf("%18s", cell);
        }
        printf("\n");
    }
    printf("* kernels may follow the other's pointers, = it is the same memory; between GPUs without either, copies go "
           "through the host\n");
}

static void report_links(td_json *json, const td_link_matrix *links)
{
    td_json_array(json, "links");
    for (int from = 0; from < links->count; from++)
        for (int to = 0; to < links->count; to++) {
            const td_measured_link *link = td_links_at(links, from, to);
            if (link->rate <= 0) continue;
            td_json_row(json, NULL);
            td_json_string(json, "from", links->names[from]);
            td_json_string(json, "to", links->names[to]);
            td_json_real(json, "bytes_per_second", link->rate);
            td_json_real(json, "latency_seconds", link->latency);
            td_json_bool(json, "direct", link->direct);
            td_json_bool(json, "same_memory", link->same_memory);
            td_json_end_object(json);
        }
    td_json_end_array(json);
}

static void print(const job *self)
{
    if (self->rate_count > 0) {
        print_machine(&self->machine);
        if (self->no_gpu[0] != '\0') printf("gpu        %s\n", self->no_gpu);
        print_rates(self->rates, self->rate_count);
    }
    for (int i = 0; i < self->gpu_count; i++) td_gpu_print(&self->gpus[i]);
    print_links(&self->links);
}

static void report(td_json *json, const job *self)
{
    if (self->rate_count > 0) {
        report_machine(json, &self->machine);
        report_rates(json, self->rates, self->rate_count);
    }
    td_json_array(json, "gpus");
    for (int i = 0; i < self->gpu_count; i++) td_gpu_json(json, &self->gpus[i]);
    td_json_end_array(json);
    if (self->links.count > 1) report_links(json, &self->links);
    if (self->no_gpu[0] != '\0') td_json_string(json, "no_gpu", self->no_gpu);
}

static td_status run_devices(const td_args *args, void *settings)
{
    (void)args;
    td_status status = TD_OK;
    job self = {.settings = settings};
    const devices_settings *s = settings;
    td_report out = {0};
    if (s->devices != NULL) TD_TRY(td_devices_check(s->devices));
    TD_TRY(s->devices != NULL ? inspect_list(&self, s->devices) : inspect_all(&self));
    td_progress_end();
    if (td_report_leaves_stdout(&s->common)) print(&self);
    if (s->common.json == NULL) goto done;
    TD_TRY(td_report_begin(&out, s->common.json, "devices",
                           self.rate_count > 0 ? self.rates[self.rate_count - 1].threads : 1));
    report(&out.json, &self);
done:
    td_progress_end();
    td_free(self.gpus);
    td_links_free(&self.links);
    return td_report_end(&out, status);
}

static const devices_settings defaults = {.largest = TD_CPU_MEASURE_LARGEST};

const td_command td_cmd_devices = {
    .name = "devices",
    .summary = "show the processors, GPUs and memory rates of this machine",
    .options = options,
    .settings_bytes = sizeof(devices_settings),
    .defaults = &defaults,
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
