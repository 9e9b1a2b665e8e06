/* What can go wrong in a run of the stream engine, on an emulated GPU: a device lost at any operation, allocations
 * that fail one after another, memory that the system does not let be pinned, caps too low for two subgraphs or for the
 * vertices, a cancel in mid-stream, settings that make no sense. Every one ends in an error with words or in
 * a right answer, nothing is left on host or device, and the next run works. */
#include "engine/engine.h"
#include "engine/stream_ways.h"

#include "base/cancel.h"
#include "base/log.h"
#include "run/result.h"
#include "planner/plan.h"

static const char *const programs[] = {"bfs", "sssp", "wcc", "pagerank", "mst", "kcore"};
static const char *const variants[] = {"full", "lbase", "lvsp"};
enum { PROGRAMS = 6, VARIANTS = 3 };

/* The words of a variant that the program looks at; nothing is small enough to be done in one launch. */
static const char *settings_of(const char *program, const char *variant)
{
    static char used[128];
    char all[128];
    snprintf(all, sizeof all, "stream.variant=%s stream.activity=on stream.subgraph=1K stream.small=0 "
             "stream.low=extract", variant);
    stream_settings_used(used, sizeof used, program_of(program), all);
    return used;
}

static td_run_options options_for(const char *program, const td_graph *graph, const char *settings)
{
    const td_program_info *info = program_of(program)->info;
    bool limited = strcmp(program, "pagerank") == 0;
    td_run_options options = {.engine = "stream", .devices = narrow_gpu(), .gpu_edges = 0.2,
                              .has_source = info->needs_source, .source = busiest(graph),
                              .parents = info->gives_parents, .has_iterations = limited, .iterations = 3};
    stream_raise_cap(program_of(program), graph, &options, settings);
    CHECK(options.gpu_edges < 1);
    return options;
}

/* The smallest graph that is more than two subgraphs of the program's. */
static td_graph *graph_for(const char *program)
{
    return test_graph(test_graph_named(strcmp(program, "pagerank") == 0 ? "rmat 10" : "dag"), TEST_U8, NULL);
}

static void check_right(const char *program, const td_run *run)
{
    const char *claims;
    CHECK_STR(run->engine, "stream");
    if (td_run_verify(run, NULL, &claims) != TD_OK) TEST_FAIL("%s: %s", program, td_last_message());
}

static uint64_t digest_of(const td_run *run)
{
    td_run_summary summary;
    CHECK_OK(td_run_summarise(run, NULL, &summary));
    return summary.digest;
}

/* Devices. */

/* Runs that take many operations are over after a few iterations, where they have done all they do. */
static td_run_options shortened(const char *program, const char *variant, td_run_options options)
{
    bool many = strcmp(program, "mst") == 0 || strcmp(program, "kcore") == 0 || strcmp(variant, "lvsp") == 0;
    if (many) options.has_iterations = true;
    if (many) options.iterations = 2;
    return options;
}

/* Behind a run that failed: what this one finds is what all before it found, and what it leaves the next loss takes
 * down. */
static void check_anew(const char *program, const td_graph *graph, td_run_options options, const char *settings,
                       uint64_t *right)
{
    td_run *run = run_of(program, graph, options, settings);
    check_right(program, run);
    if (*right != 0) CHECK_EQ(digest_of(run), *right);
    *right = digest_of(run);
    td_run_destroy(run);
    if (options.cache == NULL) return;
    CHECK(options.cache->layouts[0].state != NULL);
    run = NULL;
    td_device_fail_at(10);
    td_status status = try_run(&run, program, graph, options, settings);
    td_device_fail_at(0);
    CHECK_STATUS(status, TD_DEVICE);
    CHECK(options.cache->layouts[0].state == NULL);
}

/* All of the first, which prepare, then some of each iteration: every one with TANDEM_TEST_ALL=1. */
static uint64_t step_after(uint64_t nth)
{
    return getenv("TANDEM_TEST_ALL") != NULL || nth < 60 ? 1 : 1 + nth / 12;
}

/* The nth operation of the device is its last, until a run gets through. */
static void check_every_operation(const char *program, const char *variant, bool keeps)
{
    enum { BETWEEN = 40 }; /* operations between those whose loss another run follows */
    const char *settings = settings_of(program, variant);
    td_graph *graph = graph_for(program);
    td_run_options options = options_for(program, graph, settings);
    td_cache kept = {0};
    uint64_t held = td_memory().now, right = 0, nth = 1, tried = 0;
    if (keeps) options.cache = &kept;
    for (;; nth += step_after(nth)) {
        td_run *run = NULL;
        td_device_fail_at(nth);
        td_status status = try_run(&run, program, graph, shortened(program, variant, options), settings);
        td_device_fail_at(0);
        td_run_destroy(run);
        if (status == TD_OK) break;
        if (status != TD_DEVICE)
            TEST_FAIL("%s %s, operation %" PRIu64 ": %s", program, variant, nth, td_last_message());
        CHECK_CONTAINS(td_last_message(), "device lost");
        CHECK(kept.layouts[0].state == NULL);       /* nothing of a lost device is used again */
        CHECK_EQ(td_memory().now, held); /* emulated memory is the host's */
        if (++tried % BETWEEN == 0) check_anew(program, graph, options, settings, &right);
    }
    CHECK(nth > BETWEEN);
    td_cache_release(&kept);
    CHECK_EQ(td_memory().now, held);
    td_graph_destroy(graph);
}

TEST(a_device_lost_at_any_operation_is_an_error_leaves_nothing_and_the_next_run_starts_anew)
{
    for (int p = 0; p < PROGRAMS; p++)
        for (int v = 0; v < VARIANTS; v++) check_every_operation(programs[p], variants[v], (p + v) % 2 == 0);
}

/* Memory of the host. */

static void check_every_allocation(const char *program, const char *variant)
{
    const char *settings = settings_of(program, variant);
    td_graph *graph = graph_for(program);
    td_run_options options = options_for(program, graph, settings);
    options = shortened(program, variant, options);
    td_run *undisturbed = run_of(program, graph, options, settings);
    td_settings set = settings_from(settings);
    options.settings = &set;
    uint64_t held = td_memory().now, right = digest_of(undisturbed), nth = 1;
    for (;; nth += step_after(nth)) {
        td_run *run = NULL;
        uint64_t requests = td_memory().requests;
        td_alloc_fail_at(nth);
        td_status status = td_run_program(&run, program_of(program), graph, &options);
        td_alloc_fail_at(0);
        bool last = status == TD_OK && td_memory().requests - requests < nth;
        if (status == TD_OK) CHECK_EQ(digest_of(run), right); /* what could not be pinned is copied all the same */
        td_run_destroy(run);
        CHECK_EQ(td_memory().now, held);
        if (last) break;
        if (status != TD_OK && status != TD_NO_MEMORY)
            TEST_FAIL("%s %s: allocation %" PRIu64 " fails and gives %s: '%s'", program, variant, nth,
                      td_status_name(status), td_last_message());
    }
    CHECK(nth > 20);
    td_settings_clear(&set);
    td_run_destroy(undisturbed);
    td_graph_destroy(graph);
}

TEST(any_failing_allocation_is_an_error_or_makes_no_difference_and_leaves_nothing_behind)
{
    td_log_set_level(TD_LOG_QUIET);
    for (int p = 0; p < PROGRAMS; p++)
        for (int v = 0; v < VARIANTS; v++) check_every_allocation(programs[p], variants[v]);
    td_log_set_level(TD_LOG_WARN);
}

static void count_warnings(void *context, td_log_level level, const char *line)
{
    if (level != TD_LOG_WARN) return;
    ++*(int *)context;
    CHECK_CONTAINS(line, "not pinned");
}

/* The rate at which an emulated copy from other memory runs is a quarter. */
TEST(memory_that_cannot_be_pinned_is_copied_more_slowly_after_one_warning)
{
    for (int p = 0; p < PROGRAMS; p++)
        for (int v = 0; v < VARIANTS; v++) {
            const char *settings = settings_of(programs[p], variants[v]);
            td_graph *graph = graph_for(programs[p]);
            td_run_options options = options_for(programs[p], graph, settings);
            int warnings = 0;
            td_run *pinned = run_of(programs[p], graph, options, settings);
            td_log_set_sink(count_warnings, &warnings);
            td_device_refuse_pins(true);
            td_run *run = NULL;
            td_status status = try_run(&run, programs[p], graph, options, settings);
            td_device_refuse_pins(false);
            td_log_set_sink(NULL, NULL);
            CHECK_OK(status);
            check_right(programs[p], run);
            if (warnings != 1) TEST_FAIL("%s %s warns %d times", programs[p], variants[v], warnings);
            bool same_bytes = strcmp(programs[p], "pagerank") == 0;
            if (same_bytes) CHECK(run->device_seconds > pinned->device_seconds);
            for (uint32_t i = 0; i < run->row_count; i++) CHECK_EQ(run->full_rows[i].bytes_direct, 0);
            td_run_destroy(run);
            td_run_destroy(pinned);
            td_graph_destroy(graph);
        }
}

/* Memory of the device. */

TEST(a_cap_below_two_subgraphs_names_the_least_that_would_do)
{
    td_graph *graph = test_graph(test_graph_named("rmat 10"), TEST_UNWEIGHTED, NULL);
    td_run *run = NULL;
    td_run_options options = {.engine = "stream", .devices = "emu", .has_source = true, .source = busiest(graph)};
    options.gpu_edges = 2047; /* bytes; a subgraph is 256 edges of 4 bytes, at least */
    CHECK_STATUS(try_run(&run, "bfs", graph, options, "stream.subgraph=1K"), TD_NO_MEMORY);
    CHECK_CONTAINS(td_last_message(), "2 slots of 1.0 KiB");
    CHECK_CONTAINS(td_last_message(), "minimum 2.0 KiB");
    CHECK_CONTAINS(td_last_message(), "gpu_edges");
    CHECK_STATUS(try_run(&run, "bfs", graph, options, "stream.subgraph=1K stream.variant=lvsp"), TD_NO_MEMORY);
    CHECK_CONTAINS(td_last_message(), "two chunks");
    CHECK_CONTAINS(td_last_message(), "minimum 4.0 KiB");
    options.gpu_edges = 16 << 10;
    CHECK_STATUS(try_run(&run, "bfs", graph, options, "stream.subgraph=16K"), TD_NO_MEMORY);
    CHECK_CONTAINS(td_last_message(), "stream.subgraph");
    CHECK(run == NULL);
    options.gpu_edges = 2048;
    run = run_of("bfs", graph, options, "stream.subgraph=1K");
    check_right("bfs", run);
    td_run_destroy(run);
    td_graph_destroy(graph);
}

/* From the least that is not refused on, everything fits its cap. */
TEST(a_cap_below_the_vertices_arrays_is_refused_and_one_above_is_kept_to)
{
    td_graph *graph = test_graph(test_graph_named("rmat 10"), TEST_U8, NULL);
    for (int p = 0; td_programs[p] != NULL; p++) {
        const td_program_info *info = td_programs[p]->info;
        td_streaming_bytes bytes;
        td_streaming_shape shape;
        td_run *run = NULL;
        td_run_options options = {.engine = "stream", .devices = "emu", .has_source = info->needs_source,
                                  .source = busiest(graph), .has_iterations = info->kind == TD_KIND_GAS,
                                  .iterations = 2};
        CHECK_STATUS(td_streaming_plan(td_programs[p], graph, &options, 1024, &bytes, &shape), TD_NO_MEMORY);
        options.gpu_memory = bytes.vertices / 2;
        CHECK_STATUS(try_run(&run, info->name, graph, options, ""), TD_NO_MEMORY);
        CHECK_CONTAINS(td_last_message(), "vertex arrays");
        CHECK_CONTAINS(td_last_message(), "engine cpu");
        CHECK(run == NULL);
        options.gpu_memory = bytes.vertices + bytes.edges / 3;
        run = run_of(info->name, graph, options, "");
        if (run->device_peak > options.gpu_memory)
            TEST_FAIL("%s takes %" PRIu64 " bytes", info->name, run->device_peak);
        td_run_destroy(run);
    }
    td_graph_destroy(graph);
}

TEST(a_graph_that_fits_runs_as_on_the_resident_engine)
{
    td_graph *graph = test_graph(test_graph_named("rmat 10"), TEST_U8, NULL);
    for (int p = 0; p < PROGRAMS; p++) {
        td_run_options options = options_for(programs[p], graph, "");
        options.gpu_edges = 1;
        td_run *stream = run_of(programs[p], graph, options, "");
        options.engine = "resident";
        td_run *resident = run_of(programs[p], graph, options, "");
        check_right(programs[p], stream);
        CHECK_EQ(digest_of(stream), digest_of(resident));
        CHECK(stream->device_seconds == resident->device_seconds);
        CHECK_EQ(stream->launches, resident->launches);
        td_run_destroy(stream);
        td_run_destroy(resident);
    }
    td_graph_destroy(graph);
}

/* Cancelling. */

typedef struct calls {
    uint32_t seen, last;
} calls;

static bool stop_at_last(void *context, const td_iteration *row)
{
    (void)row;
    calls *self = context;
    return ++self->seen < self->last;
}

static bool request_at_last(void *context, const td_iteration *row)
{
    (void)row;
    calls *self = context;
    if (++self->seen == self->last) td_cancel_request();
    return true;
}

static void check_cancel(const char *program, const char *variant, td_iteration_fn each, const char *words)
{
    const char *settings = settings_of(program, variant);
    td_graph *graph = graph_for(program);
    td_run *run = NULL;
    td_cache kept = {0};
    calls count = {0, strcmp(program, "wcc") == 0 ? 1 : 2}; /* one sweep is enough for wcc */
    uint64_t held = td_memory().now;
    td_run_options options = options_for(program, graph, settings);
    options.each = each;
    options.each_context = &count;
    options.cache = &kept;
    td_status status = try_run(&run, program, graph, options, settings);
    td_cancel_clear();
    if (status != TD_CANCELLED) TEST_FAIL("%s %s gives %s", program, variant, td_status_name(status));
    CHECK_CONTAINS(td_last_message(), words);
    CHECK(run == NULL);
    CHECK_EQ(count.seen, count.last);
    CHECK_EQ(td_memory().now, held);
    options.each = NULL;
    run = run_of(program, graph, options, settings);
    check_right(program, run);
    td_run_destroy(run);
    td_cache_release(&kept);
    td_graph_destroy(graph);
}

TEST(a_cancel_in_mid_stream_leaves_nothing)
{
    for (int p = 0; p < PROGRAMS; p++)
        for (int v = 0; v < VARIANTS; v++) {
            check_cancel(programs[p], variants[v], stop_at_last, "cancelled");
            check_cancel(programs[p], variants[v], request_at_last, "interrupted");
        }
}

/* Runs one after another. */

/* Lists are pinned, ordered and cut in other ways from run to run; what the run before left may do or not. */
TEST(programs_and_settings_one_after_another_find_the_same_as_alone)
{
    static const struct { const char *program, *settings; double share; } all[] = {
        {"bfs", "", 0.25}, {"wcc", "", 0.25}, {"bfs", "stream.variant=lbase", 0.25},
        {"sssp", "stream.variant=lvsp stream.subgraph=1K", 0.4}, {"sssp", "", 0.4},
        {"sssp", "stream.prefix=0 stream.rules=paper", 0.4}, {"bfs", "", 1}, {"bfs", "", 0.25}, {"mst", "", 0.3},
        {"pagerank", "", 0.5}, {"adsorption", "", 0.5}, {"labels", "stream.variant=hvsp", 0.25}, {"sssp", "", 1},
        {"sssp", "", 0.4},
    };
    td_graph *graph = test_graph(test_graph_named("rmat 10"), TEST_U8, NULL);
    td_cache kept = {0};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        td_run_options options = options_for(all[i].program, graph, all[i].settings);
        options.gpu_edges = all[i].share;
        td_run *alone = run_of(all[i].program, graph, options, all[i].settings);
        options.cache = &kept;
        td_run *behind = run_of(all[i].program, graph, options, all[i].settings);
        check_right(all[i].program, behind);
        if (digest_of(alone) != digest_of(behind))
            TEST_FAIL("%s '%s' finds something else behind others", all[i].program, all[i].settings);
        td_run_destroy(alone);
        td_run_destroy(behind);
    }
    td_cache_release(&kept);
    td_graph_destroy(graph);
}

TEST(the_same_run_again_sends_no_lists_again)
{
    td_graph *graph = test_graph(test_graph_named("rmat 10"), TEST_U8, NULL);
    for (int p = 0; p < PROGRAMS; p++) {
        td_cache kept = {0};
        td_run_options options = options_for(programs[p], graph, "");
        options.cache = &kept;
        td_run_destroy(run_of(programs[p], graph, options, ""));
        const td_streaming_graph *held = kept.layouts[0].state;
        const uint32_t *lists = held->lists[0].targets;
        uint64_t taken = held->device->now;
        td_run *again = run_of(programs[p], graph, options, "");
        CHECK(kept.layouts[0].state == held);
        CHECK(held->lists[0].targets == lists);
        CHECK_EQ(held->device->now, taken);
        check_right(programs[p], again);
        td_run_destroy(again);
        td_cache_release(&kept);
    }
    td_graph_destroy(graph);
}

/* Requests. */

TEST(settings_that_make_no_sense_are_refused)
{
    refuse_setting("stream", "bfs", "stream.subgraph=127", "stream.subgraph");
    refuse_setting("stream", "bfs", "stream.subgraph=2T", "stream.subgraph");
    refuse_setting("stream", "bfs", "stream.subgraph=-1", "stream.subgraph");
    refuse_setting("stream", "bfs", "stream.variant=graphie", "full|hvsp|lvsp|hbase|lbase|scaph");
    refuse_setting("stream", "bfs", "stream.alpha=1.5", "stream.alpha");
    refuse_setting("stream", "bfs", "stream.low=never", "auto|extract|direct|whole");
    refuse_setting("stream", "bfs", "stream.repeats=0", "stream.repeats");
    refuse_setting("stream", "bfs", "stream.list_order=sorted", "auto|stored|hot|light");
    refuse_setting("stream", "bfs", "stream.prefix=2", "stream.prefix");
    refuse_setting("stream", "bfs", "stream.delta=4", "sssp");
    refuse_setting("stream", "wcc", "stream.direction=pull", "has no effect on wcc");
    refuse_setting("stream", "pagerank", "stream.levels=3", "has no effect on pagerank");
    refuse_setting("stream", "bfs", "resident.balance=warp", "resident.balance");
}

TEST(settings_that_contradict_the_request_are_refused)
{
    td_graph *graph = test_graph(test_graph_named("rmat 10"), TEST_U8, NULL);
    td_run *run = NULL;
    td_run_options options = options_for("sssp", graph, "");
    options.has_iterations = true;
    CHECK_STATUS(try_run(&run, "sssp", graph, options, "stream.delta=5"), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "stream.delta");
    options.devices = "cpu";
    CHECK_STATUS(try_run(&run, "sssp", graph, options, ""), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "devices cpu");
    CHECK(run == NULL);
    td_graph_destroy(graph);
}

TEST_MAIN
