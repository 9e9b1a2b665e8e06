/* Runs whose device is lost, or whose request for memory fails: the first, the second, ... until a run gets through. */
#ifndef TD_TEST_FAILURES_H
#define TD_TEST_FAILURES_H

#include "engine/ways.h"

/* Which fail: all below `all_below`, then every `step`th. A run has more than `least`. */
typedef struct failures {
    uint64_t all_below, step, least;
} failures;

/* The nth operation of the devices is their last, for every n until a run gets through. Every other run ends in words,
 * and leaves nothing on the host, which has the emulated memory too. */
static inline void check_every_operation(const td_program *program, const td_graph *graph, td_run_options options,
                                         const char *settings_text, failures of)
{
    td_settings settings = settings_from(settings_text);
    options.settings = &settings;
    td_cache *kept = options.cache;
    uint64_t held = td_memory().now;
    for (uint64_t nth = 1;; nth += nth < of.all_below ? 1 : of.step) {
        td_run *run = NULL;
        td_device_fail_at(nth);
        td_status status = td_run_program(&run, program, graph, &options);
        td_device_fail_at(0);
        if (status == TD_OK) {
            td_run_destroy(run);
            CHECK(nth > of.least);
            break;
        }
        if (status != TD_DEVICE) TEST_FAIL("%s, operation %" PRIu64 ": %s", program->info->name, nth, td_last_message());
        CHECK_CONTAINS(td_last_message(), "device lost");
        CHECK(run == NULL);
        CHECK(kept == NULL || kept->layouts[0].state == NULL); /* nothing of a lost device is used again */
        CHECK_EQ(td_memory().now, held);
    }
    if (kept != NULL) td_cache_release(kept);
    CHECK_EQ(td_memory().now, held);
    td_settings_clear(&settings);
}

/* The same with requests for memory. What cannot be pinned is copied all the same, so that a run may get through. */
static inline void check_every_allocation(const td_program *program, const td_graph *graph, td_run_options options,
                                          const char *settings_text, failures of)
{
    td_settings settings = settings_from(settings_text);
    options.settings = &settings;
    uint64_t held = td_memory().now, nth = 1;
    for (;; nth += nth < of.all_below ? 1 : of.step) {
        td_run *run = NULL;
        uint64_t requests = td_memory().requests;
        td_alloc_fail_at(nth);
        td_status status = td_run_program(&run, program, graph, &options);
        td_alloc_fail_at(0);
        td_run_destroy(run);
        if (status == TD_OK && td_memory().requests - requests < nth) break;
        if (status == TD_OK) continue;
        if (status != TD_NO_MEMORY)
            TEST_FAIL("%s: allocation %" PRIu64 " fails and gives %s: '%s'", program->info->name, nth,
                      td_status_name(status), td_last_message());
        CHECK(td_last_message()[0] != '\0');
        CHECK_EQ(td_memory().now, held);
    }
    CHECK(nth > of.least);
    td_settings_clear(&settings);
}

/* A run that fails behind one that worked takes down the layout that the first one left, and the next run loads it
 * again. sssp, with 32-bit distances; `settings` are those of the runs that fail at every `step`th operation. */
static inline void check_runs_after_losses(const td_graph *graph, td_run_options options, const char *settings,
                                           uint64_t step, uint64_t end)
{
    td_cache kept = {0};
    options.cache = &kept;
    td_run *first = run_of("sssp", graph, options, ""), *none = NULL;
    for (uint64_t nth = 1; nth < end; nth += step) {
        td_device_fail_at(nth);
        CHECK_STATUS(try_run(&none, "sssp", graph, options, settings), TD_DEVICE);
        td_device_fail_at(0);
        CHECK(kept.layouts[0].state == NULL);
        td_run *again = run_of("sssp", graph, options, "");
        CHECK_EQ(memcmp(first->values, again->values, graph->vertices * sizeof(uint32_t)), 0);
        td_run_destroy(again);
    }
    td_run_destroy(first);
    td_cache_release(&kept);
}

#endif
