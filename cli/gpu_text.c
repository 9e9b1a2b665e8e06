#include "gpu_text.h"

#include "base/size.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL = 54, CELL = 9 };

static const struct {
    const char *name, *label;
} labels[] = {
    {"read_bytes_per_second", "device memory, read"},
    {"copy_bytes_per_second", "device memory, copied: read and written"},
    {"pinned_to_device_bytes_per_second", "pinned host memory to the device"},
    {"pinned_to_host_bytes_per_second", "pinned host memory from the device"},
    {"pinned_both_ways_bytes_per_second", "pinned host memory, both ways at once"},
    {"pageable_to_device_bytes_per_second", "pageable host memory to the device"},
    {"pageable_to_host_bytes_per_second", "pageable host memory from the device"},
    {"small_to_device_seconds", "4 bytes to the device, synchronized"},
    {"small_to_host_seconds", "4 bytes from the device, synchronized"},
    {"launch_seconds", "launch, back to back"},
    {"launch_finish_seconds", "launch, synchronized"},
    {"grid_barrier_seconds", "grid barrier"},
    {"host_read_bytes_per_second", "kernel reads host memory in order"},
};

static const char *label_of(char text[96], const td_rate *rate)
{
    char range[TD_NUMBER_BYTES];
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
        if (strcmp(labels[i].name, rate->name) == 0) return labels[i].label;
    if (rate->peer != NULL) snprintf(text, 96, "link to %s", rate->peer);
    else if (rate->range > 0)
        snprintf(text, 96, "kernel reads 128-byte lines of %s host memory", td_format_size(range, rate->range));
    else snprintf(text, 96, "%s", rate->name);
    return text;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), of_end = strlen(end);
    return length >= of_end && strcmp(text + length - of_end, end) == 0;
}

static void print_rate(const td_rate *rate)
{
    char text[96];
    bool per_second = ends_with(rate->name, "_per_second");
    printf("%-*s%*.2f %s\n", LABEL, label_of(text, rate), CELL, rate->value * (per_second ? 1e-9 : 1e6),
           per_second ? "GB/s" : "us");
}

void td_gpu_print(const td_survey *survey, int index, const td_surveyed_device *gpu)
{
    char a[TD_NUMBER_BYTES], b[TD_NUMBER_BYTES], c[TD_NUMBER_BYTES];
    td_rate rate;
    printf("\n%-10s %s\n", gpu->name, gpu->model);
    printf("           %d multiprocessors, %s memory, %s free, %s cache\n", gpu->multiprocessors,
           td_format_size(a, gpu->memory), td_format_size(b, gpu->memory_free), td_format_size(c, gpu->cache_bytes));
    if (gpu->memory_limit > 0)
        printf("           %s of its memory may be used\n", td_format_size(a, gpu->memory_limit));
    printf("\n%s\n", gpu->modelled ? "modelled" : "measured");
    for (int i = 0; td_survey_rate(survey, index, i, &rate); i++) print_rate(&rate);
}

static void put_properties(td_json *json, const td_surveyed_device *gpu)
{
    td_json_string(json, "name", gpu->name);
    td_json_string(json, "model", gpu->model);
    td_json_i64(json, "multiprocessors", gpu->multiprocessors);
    td_json_u64(json, "memory", gpu->memory);
    td_json_u64(json, "memory_free", gpu->memory_free);
    td_json_u64(json, "memory_allowed", gpu->memory_limit > 0 ? gpu->memory_limit : gpu->memory_free);
    td_json_u64(json, "cache_bytes", gpu->cache_bytes);
    td_json_u64(json, "shared_bytes", gpu->shared_bytes);
    td_json_bool(json, "together", gpu->cooperative);
    td_json_bool(json, "reads_host", gpu->reads_host);
}

static void put_plain(td_json *json, const td_survey *survey, int index)
{
    td_rate rate;
    for (int i = 0; td_survey_rate(survey, index, i, &rate); i++)
        if (rate.range == 0 && rate.peer == NULL) td_json_real(json, rate.name, rate.value);
}

static void put_ranges(td_json *json, const td_survey *survey, int index)
{
    td_rate rate;
    td_json_array(json, "host_random_reads");
    for (int i = 0; td_survey_rate(survey, index, i, &rate); i++) {
        if (rate.range == 0) continue;
        td_json_row(json, NULL);
        td_json_u64(json, "range_bytes", rate.range);
        td_json_real(json, "bytes_per_second", rate.value);
        td_json_end_object(json);
    }
    td_json_end_array(json);
}

/* Peers are emulated GPUs: "emu:3" is device 3. */
static void put_links(td_json *json, const td_survey *survey, int index)
{
    td_rate rate;
    td_json_array(json, "links");
    for (int i = 0; td_survey_rate(survey, index, i, &rate); i++) {
        if (rate.peer == NULL) continue;
        td_json_row(json, NULL);
        td_json_i64(json, "device", strtol(rate.peer + strcspn(rate.peer, "0123456789"), NULL, 10));
        td_json_real(json, "bytes_per_second", rate.value);
        td_json_end_object(json);
    }
    td_json_end_array(json);
}

void td_gpu_json(td_json *json, const td_survey *survey, int index, const td_surveyed_device *gpu)
{
    td_json_object(json, NULL);
    put_properties(json, gpu);
    td_json_object(json, gpu->modelled ? "modelled" : "measured");
    put_plain(json, survey, index);
    put_ranges(json, survey, index);
    put_links(json, survey, index);
    td_json_end_object(json);
    td_json_end_object(json);
}
