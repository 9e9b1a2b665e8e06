#include "plan_text.h"

#include "base/size.h"
#include "text.h"

#include <stdio.h>
#include <string.h>

enum { NAME = 10 };

/* A time in a cell of eight columns, "0.434", "12.3"; nothing for none. */
static void print_time(double seconds)
{
    char text[32] = "";
    if (seconds > 0)
        snprintf(text, sizeof text, seconds < 9.9995 ? "%.3f" : seconds < 99.95 ? "%.1f" : "%.0f", seconds);
    printf("%8s", text);
}

static void print_bytes(uint64_t bytes)
{
    char text[TD_NUMBER_BYTES] = "";
    if (bytes > 0) td_format_size(text, bytes);
    printf(" %10s", text);
}

static void print_row(const td_plan_estimate *row)
{
    char head[32];
    snprintf(head, sizeof head, "%-8s%s", row->engine, row->chosen ? " *" : "");
    if (row->refusal != NULL) {
        td_print_entry(head, NAME + 1, row->refusal);
        return;
    }
    printf("%-*s", NAME, head);
    print_time(row->seconds);
    print_time(row->load);
    print_time(row->open);
    print_time(row->prepare);
    print_time(row->processing);
    print_time(row->start + row->plan + row->finish);
    print_bytes(row->host_graph + row->host_program);
    print_bytes(row->device);
    printf("%s\n", row->measured ? "  as measured before" : "");
}

void td_estimates_print(const td_estimates *estimates)
{
    td_plan_estimate row = {.size = sizeof row};
    const char *advice;
    printf("%-*s%8s%8s%8s%8s%8s%8s %10s %10s\n", NAME, "seconds", "total", "load", "open", "prepare", "process", "rest",
           "memory", "GPU");
    for (int i = 0; td_estimates_row(estimates, i, &row) == TD_OK; i++) print_row(&row);
    printf("\n");
    td_print_wrapped(td_estimates_why(estimates), 0, TD_TEXT_WIDTH);
    for (int i = 0; (advice = td_estimates_advice(estimates, i)) != NULL; i++)
        td_print_wrapped(advice, 0, TD_TEXT_WIDTH);
    td_print_wrapped(td_estimates_basis(estimates), 0, TD_TEXT_WIDTH);
}

static void put_row(td_json *json, const td_plan_estimate *row)
{
    td_json_object(json, NULL);
    td_json_string(json, "engine", row->engine);
    td_json_bool(json, "chosen", row->chosen);
    if (row->refusal != NULL) {
        td_json_string(json, "refusal", row->refusal);
        td_json_end_object(json);
        return;
    }
    td_json_real(json, "seconds", row->seconds);
    td_json_real(json, "start", row->start);
    td_json_real(json, "load", row->load);
    td_json_real(json, "open", row->open);
    td_json_real(json, "plan", row->plan);
    td_json_real(json, "prepare", row->prepare);
    td_json_real(json, "processing", row->processing);
    td_json_real(json, "finish", row->finish);
    td_json_bool(json, "measured", row->measured);
    td_json_u64(json, "host_graph_bytes", row->host_graph);
    td_json_u64(json, "host_program_bytes", row->host_program);
    td_json_u64(json, "device_bytes", row->device);
    td_json_end_object(json);
}

void td_estimates_json(td_json *json, const td_estimates *estimates)
{
    td_plan_estimate row = {.size = sizeof row};
    const char *advice, *chosen = NULL;
    td_json_array(json, "engines");
    for (int i = 0; td_estimates_row(estimates, i, &row) == TD_OK; i++) {
        put_row(json, &row);
        if (row.chosen) chosen = row.engine;
    }
    td_json_end_array(json);
    if (chosen != NULL) td_json_string(json, "engine", chosen);
    else td_json_null(json, "engine");
    td_json_string(json, "why", td_estimates_why(estimates));
    td_json_string(json, "basis", td_estimates_basis(estimates));
    td_json_array(json, "advice");
    for (int i = 0; (advice = td_estimates_advice(estimates, i)) != NULL; i++) td_json_string(json, NULL, advice);
    td_json_end_array(json);
}
