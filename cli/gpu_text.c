#include "gpu_text.h"

#include "base/log.h"
#include "base/size.h"
#include "device/emulator/emulator.h"

#include <stdio.h>

enum { LABEL = 54, CELL = 9 };

typedef enum unit { RATE, TIME } unit;

typedef struct figure {
    const char *label, *key;
    unit unit;
    size_t at; /* in td_gpu_rates */
} figure;

#define FIGURE(label, key, unit, field) {label, key, unit, offsetof(td_gpu_rates, field)}

static const figure figures[] = {
    FIGURE("device memory, read", "read_bytes_per_second", RATE, read),
    FIGURE("device memory, copied: read and written", "copy_bytes_per_second", RATE, copy),
    FIGURE("pinned host memory to the device", "pinned_to_device_bytes_per_second", RATE, to_device),
    FIGURE("pinned host memory from the device", "pinned_to_host_bytes_per_second", RATE, to_host),
    FIGURE("pinned host memory, both ways at once", "pinned_both_ways_bytes_per_second", RATE, both_ways),
    FIGURE("pageable host memory to the device", "pageable_to_device_bytes_per_second", RATE, pageable_to_device),
    FIGURE("pageable host memory from the device", "pageable_to_host_bytes_per_second", RATE, pageable_to_host),
    FIGURE("4 bytes to the device, synchronized", "small_to_device_seconds", TIME, small_to_device),
    FIGURE("4 bytes from the device, synchronized", "small_to_host_seconds", TIME, small_to_host),
    FIGURE("launch, back to back", "launch_seconds", TIME, launch),
    FIGURE("launch, synchronized", "launch_finish_seconds", TIME, launch_synchronize),
    FIGURE("grid barrier", "grid_barrier_seconds", TIME, grid_barrier),
    FIGURE("kernel reads host memory in order", "host_read_bytes_per_second", RATE, host_read),
};
enum { FIGURES = sizeof figures / sizeof *figures };

static double value_of(const td_gpu_rates *rates, const figure *what)
{
    return *(const double *)(const void *)((const char *)rates + what->at);
}

/* Fills in the rates of an emulated GPU's topology. */
static void take_model(td_gpu_report *out, const td_device *device)
{
    const td_emulator *emulator = device->state;
    const td_topology *topology = &emulator->world->topology;
    const td_gpu_model *gpu = &topology->gpu[emulator->number];
    int link = topology->host_link[emulator->number];
    double to = topology->to_device[link].rate * 1e9, back = topology->to_host[link].rate * 1e9;
    out->modelled = true;
    out->rates = (td_gpu_rates){
        .read = gpu->memory_rate * 1e9, .copy = gpu->memory_rate * 1e9, .to_device = to, .to_host = back,
        .pageable_to_device = to * topology->pageable_share, .pageable_to_host = back * topology->pageable_share,
        .launch = gpu->launch_ns * 1e-9, .launch_synchronize = (gpu->launch_ns + gpu->synchronize_ns) * 1e-9,
        .grid_barrier = gpu->grid_barrier_ns * 1e-9, .host_read = to};
    for (int i = 0; i < emulator->world->open; i++)
        out->peers[i] = i == emulator->number ? 0 : topology->between[emulator->number][i].rate * 1e9;
}

td_status td_gpu_describe(td_gpu_report *out, td_device *device, uint64_t largest)
{
    *out = (td_gpu_report){.properties = device->properties, .budget = device->budget};
    snprintf(out->name, sizeof out->name, "%s", device->name);
    if (device->kind == TD_DEVICE_EMULATOR) {
        take_model(out, device);
        return TD_OK;
    }
    td_progress_text("measuring %s", device->name);
    return td_cuda_measure(device, largest, &out->rates);
}

static void print_figure(const char *label, unit unit, double value)
{
    if (value <= 0) return;
    if (unit == RATE) printf("%-*s%*.2f GB/s\n", LABEL, label, CELL, value * 1e-9);
    else printf("%-*s%*.2f us\n", LABEL, label, CELL, value * 1e6);
}

void td_gpu_print(const td_gpu_report *gpu)
{
    const td_device_properties *p = &gpu->properties;
    char a[TD_NUMBER_BYTES], b[TD_NUMBER_BYTES], c[TD_NUMBER_BYTES], label[96];
    printf("\n%-10s %s\n", gpu->name, p->model);
    printf("           %d multiprocessors, %s memory, %s free, %s cache\n", p->multiprocessors,
           td_format_size(a, p->memory), td_format_size(b, p->memory_free), td_format_size(c, p->cache));
    if (gpu->budget > 0) printf("           %s of its memory may be used\n", td_format_size(a, gpu->budget));
    printf("\n%s\n", gpu->modelled ? "modelled" : "measured");
    for (int i = 0; i < FIGURES; i++)
        print_figure(figures[i].label, figures[i].unit, value_of(&gpu->rates, &figures[i]));
    for (int i = 0; i < gpu->rates.host_random_count; i++) {
        const td_host_reads *reads = &gpu->rates.host_random[i];
        snprintf(label, sizeof label, "kernel reads 128-byte lines of %s host memory", td_format_size(a, reads->range));
        print_figure(label, RATE, reads->rate);
    }
    for (int i = 0; i < TD_EMULATED_DEVICES; i++) {
        snprintf(label, sizeof label, "link to emu:%d", i);
        print_figure(label, RATE, gpu->peers[i]);
    }
}

static void put_properties(td_json *json, const td_gpu_report *gpu)
{
    const td_device_properties *p = &gpu->properties;
    td_json_string(json, "name", gpu->name);
    td_json_string(json, "model", p->model);
    td_json_i64(json, "multiprocessors", p->multiprocessors);
    td_json_u64(json, "memory", p->memory);
    td_json_u64(json, "memory_free", p->memory_free);
    td_json_u64(json, "memory_allowed", gpu->budget > 0 ? gpu->budget : p->memory_free);
    td_json_u64(json, "cache_bytes", p->cache);
    td_json_u64(json, "shared_bytes", p->shared_bytes);
    td_json_bool(json, "together", p->cooperative);
    td_json_bool(json, "reads_host", p->reads_host);
}

void td_gpu_json(td_json *json, const td_gpu_report *gpu)
{
    td_json_object(json, NULL);
    put_properties(json, gpu);
    td_json_object(json, gpu->modelled ? "modelled" : "measured");
    for (int i = 0; i < FIGURES; i++) {
        double value = value_of(&gpu->rates, &figures[i]);
        if (value > 0) td_json_real(json, figures[i].key, value);
    }
    td_json_array(json, "host_random_reads");
    for (int i = 0; i < gpu->rates.host_random_count; i++) {
        td_json_row(json, NULL);
        td_json_u64(json, "range_bytes", gpu->rates.host_random[i].range);
        td_json_real(json, "bytes_per_second", gpu->rates.host_random[i].rate);
        td_json_end_object(json);
    }
    td_json_end_array(json);
    td_json_array(json, "links");
    for (int i = 0; i < TD_EMULATED_DEVICES; i++) {
        if (gpu->peers[i] <= 0) continue;
        td_json_row(json, NULL);
        td_json_i64(json, "device", i);
        td_json_real(json, "bytes_per_second", gpu->peers[i]);
        td_json_end_object(json);
    }
    td_json_end_array(json);
    td_json_end_object(json);
    td_json_end_object(json);
}
