/* Graphs that stay in the mapping of their file: lists are checked when they are first used, by all workers or on their
 * way to the GPU through a ring of pinned memory. */
#include "engine/ways.h"

#include "base/mapping.h"
#include "device/kinds.h"
#include "device/warm.h"
#include "gpu/ring.h"
#include "planner/plan.h"
#include "run/result.h"
#include "store/builder.h"
#include "store/checks.h"
#include "store/gen.h"

#include <fcntl.h>
#include <unistd.h>

static td_pool *pool;

/* Writes a graph to a file, and gives the file's name and its sections. */
static const char *write_uniform(bool directed, uint64_t degree, td_packed_info *info)
{
    static char path[512];
    snprintf(path, sizeof path, "%s", test_path("upload.tg"));
    td_gen_spec spec = {.kind = "uniform", .vertices = 4000, .degree = degree, .seed = 3};
    td_build_options build = {.symmetrize = !directed, .attach_weights = true, .weight_low = 1, .weight_high = 200};
    td_graph *graph = NULL;
    CHECK_OK(td_graph_generate(&graph, &spec, &build, NULL));
    CHECK_OK(td_packed_write(graph, path, NULL));
    *info = td_packed_plan(graph);
    td_graph_destroy(graph);
    return path;
}

/* With lists of seven blocks. */
static const char *write_graph(bool directed, td_packed_info *info)
{
    return write_uniform(directed, directed ? 30 : 15, info);
}

static uint64_t padded(const td_packed_info *info, td_section_kind kind)
{
    return info->sections[kind].element != 0 ? (info->sections[kind].bytes + 4095) / 4096 * 4096 : 0;
}

/* Offsets, ids and names, which are checked at the opening. */
static uint64_t vertex_bytes(const td_packed_info *info)
{
    return padded(info, TD_SECTION_OUT_OFFSETS) + padded(info, TD_SECTION_IN_OFFSETS) + padded(info, TD_SECTION_IDS) +
           padded(info, TD_SECTION_NAMES);
}

static td_run_options options_for(const char *engine, const td_graph *graph, const char *program)
{
    return (td_run_options){.engine = engine, .devices = strcmp(engine, "resident") == 0 ? narrow_gpu() : NULL,
                            .pool = pool, .has_source = program_of(program)->info->needs_source,
                            .source = busiest(graph)};
}

/* The CPU's lists are read into memory here; test_mapped_lists has those that stay in the file. */
static const char *copied(const char *engine, const char *program)
{
    bool maps = strcmp(engine, "cpu") == 0 && (strcmp(program, "bfs") == 0 || strcmp(program, "wcc") == 0);
    return maps ? "cpu.lists=copied" : "";
}

static uint64_t digest_of(const char *engine, const char *program, const td_graph *graph)
{
    td_run_summary summary;
    td_run *run = run_of(program, graph, options_for(engine, graph, program), copied(engine, program));
    CHECK_OK(td_run_summarise(run, pool, &summary));
    td_run_destroy(run);
    return summary.digest;
}

/* Every block of the lists that a program uses is checked once, and of the others none; results are those of a graph in
 * memory. The ring's halves are small, so that a list fills each several times. */
TEST(mapped_lists_are_checked_once_and_give_the_same_results)
{
    static const char *const programs[] = {"bfs", "sssp", "mst", "wcc", "kcore"};
    for (int directed = 0; directed < 2; directed++) {
        td_packed_info info;
        const char *path = write_graph(directed, &info);
        td_graph *loaded = NULL;
        CHECK_OK(td_packed_load(&loaded, path, pool));
        for (int e = 0; e < 2; e++)
            for (int p = 0; p < 5; p++) {
                const char *engine = e == 0 ? "resident" : "cpu";
                td_graph *mapped = NULL;
                td_gpu_ring_limits(1, 2 * TD_CHECKS_BLOCK);
                CHECK_OK(td_packed_map_unchecked(&mapped, path, pool));
                CHECK_EQ(td_checks_done(mapped), vertex_bytes(&info));
                CHECK_EQ(digest_of(engine, programs[p], mapped), digest_of("cpu", programs[p], loaded));
                bool weights = p == 1 || p == 2;
                uint64_t out = padded(&info, TD_SECTION_OUT_TARGETS), in = padded(&info, TD_SECTION_IN_TARGETS);
                if (weights) out += padded(&info, TD_SECTION_OUT_WEIGHTS), in += padded(&info, TD_SECTION_IN_WEIGHTS);
                bool skips_in = e == 0 && weights; /* the GPU only pushes along them */
                uint64_t all = vertex_bytes(&info) + out + (skips_in ? 0 : in);
                CHECK_EQ(td_checks_done(mapped), all);
                bool in_file = td_checks_pending(mapped, mapped->out.targets);
                CHECK_EQ(in_file, e == 0 && !(p >= 3 && directed)); /* lists to be joined are read by the host */
                CHECK_OK(td_checks_lists(mapped, true, pool)); /* the rest, once */
                uint64_t done = td_checks_done(mapped);
                CHECK_OK(td_checks_lists(mapped, true, pool));
                CHECK_EQ(td_checks_done(mapped), done);
                CHECK(!td_checks_pending(mapped, mapped->in.weights));
                td_gpu_ring_limits(0, 0);
                td_graph_destroy(mapped);
            }
        td_graph_destroy(loaded);
    }
}

/* Bytes of the mapping that have been read through it: those in the process's page table. */
static uint64_t bytes_touched(const td_graph *graph)
{
    char line[512];
    bool inside = false;
    uint64_t kilobytes = UINT64_MAX;
    FILE *file = fopen("/proc/self/smaps", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        unsigned long begin, end, rss;
        if (sscanf(line, "%lx-%lx ", &begin, &end) == 2) inside = begin == (unsigned long)graph->mapping->base;
        else if (inside && sscanf(line, "Rss: %lu kB", &rss) == 1) kilobytes = rss;
    }
    if (file != NULL) fclose(file);
    return kilobytes * 1024;
}

TEST(the_lists_of_a_gpu_are_read_from_the_file_and_not_in_its_mapping)
{
    for (int way = 0; way < 2; way++) { /* through the ring, from a copy */
        td_packed_info info;
        td_graph *mapped = NULL;
        CHECK_OK(td_packed_map_unchecked(&mapped, write_graph(false, &info), pool));
        td_gpu_ring_limits(way == 0 ? 1 : UINT64_MAX, 2 * TD_CHECKS_BLOCK);
        (void)digest_of("resident", "sssp", mapped);
        td_gpu_ring_limits(0, 0);
        CHECK_EQ(bytes_touched(mapped), 0);
        td_graph_destroy(mapped);
    }
}

/* Lists that are read in the mapping make way again: probes of the planner, the input of kcore, the end of a forest. The file
 * is larger than what is released around a list. */
TEST(pages_of_a_mapping_leave_when_they_have_been_read)
{
    static const char *const programs[] = {NULL, "kcore", "mst"}; /* a plan alone; kcore: up to the first iteration */
    for (int directed = 0; directed < 2; directed++)
        for (int p = 0; p < 3; p++) {
            td_packed_info info;
            td_graph *mapped = NULL;
            td_plan *plan = NULL;
            td_run *run = NULL;
            CHECK_OK(td_packed_map_unchecked(&mapped, write_uniform(directed, p == 1 ? 400 : 30, &info), pool));
            td_run_options options = options_for("resident", mapped, "bfs");
            options.engine = NULL;
            td_gpu_ring_limits(1, 2 * TD_CHECKS_BLOCK);
            if (p == 0) CHECK_OK(td_plan_make(&plan, NULL, program_of("bfs"), mapped, &options));
            if (p == 1) CHECK_OK(td_run_create(&run, program_of("kcore"), mapped, &(td_run_options){.pool = pool}));
            if (p == 2) (void)digest_of("resident", "mst", mapped);
            td_gpu_ring_limits(0, 0);
            if (bytes_touched(mapped) != 0)
                TEST_FAIL("%s, directed %d: %" PRIu64 " bytes", programs[p] != NULL ? programs[p] : "plan", directed, bytes_touched(mapped));
            td_plan_destroy(plan);
            td_run_destroy(run);
            td_graph_destroy(mapped);
        }
}

/* Lists of a mapped graph that will be in memory. */
typedef enum lists_copied { NO_LISTS, ALL_TARGETS, ALL_LISTS } lists_copied;

/* A plan for a mapped graph states of its lists what will be in memory: none of those that go through the ring or that the
 * program ignores, copies of the others. */
static void check_stated(const char *program, const char *path, bool rings, lists_copied copied_lists, bool parents)
{
    td_graph *mapped = NULL;
    td_plan *plan = NULL;
    td_run *run = NULL;
    uint64_t blocks, held = td_memory().now;
    td_gpu_ring_limits(rings ? 1 : UINT64_MAX, 2 * TD_CHECKS_BLOCK);
    CHECK_OK(td_packed_map_unchecked(&mapped, path, pool));
    td_run_options options = options_for("resident", mapped, program);
    if (strcmp(program, "pagerank") == 0) options.has_iterations = true, options.iterations = 2;
    options.parents = parents;
    td_settings settings = settings_from(copied_lists == ALL_TARGETS ? "sssp.precision=single" : "");
    options.settings = &settings;
    CHECK_OK(td_plan_make(&plan, "resident", program_of(program), mapped, &options));
    CHECK_OK(td_devices_host_bytes(options.devices, 0, true, &blocks));
    uint64_t in_memory = (mapped->vertices + UINT64_C(1)) * sizeof(uint64_t) * (mapped->symmetric ? 1 : 2);
    if (copied_lists == ALL_TARGETS) in_memory += td_checks_pending_targets(mapped);
    if (copied_lists != ALL_LISTS) CHECK_EQ(plan->graph_bytes, in_memory);
    else CHECK_EQ(plan->graph_bytes, td_graph_bytes(mapped));
    held += plan->options.cache->set_bytes;
    td_memory_reset_peak();
    CHECK_OK(td_plan_execute(plan, &run));
    double stated = (double)(plan->graph_bytes + plan->program_bytes), taken = (double)(td_memory().peak - held);
    printf("     %s: %.0f of %.0f bytes\n", program, taken, stated);
    if (taken > 1.03 * stated + (96 << 10) || taken < 0.95 * stated - (200 << 10) - (double)blocks)
        TEST_FAIL("%s, %s: %.0f bytes are stated, and %.0f were taken", program, rings ? "ring" : "copies", stated, taken);
    td_gpu_ring_limits(0, 0);
    td_run_destroy(run);
    td_plan_destroy(plan);
    td_settings_clear(&settings);
    td_graph_destroy(mapped);
}

static const char *write_weights(bool directed, double lightest, double heaviest)
{
    static char path[512];
    td_gen_spec spec = {.kind = "uniform", .vertices = 6000, .degree = directed ? 150 : 75, .seed = 3};
    td_build_options build = {.symmetrize = !directed, .attach_weights = true, .weight_low = lightest, .weight_high = heaviest,
                              .weight_real = heaviest > 200};
    td_graph *graph = NULL;
    snprintf(path, sizeof path, "%s", test_path("stated.tg"));
    CHECK_OK(td_graph_generate(&graph, &spec, &build, NULL));
    CHECK_OK(td_packed_write(graph, path, NULL));
    td_graph_destroy(graph);
    return path;
}

static const char *write_stated(bool directed, uint32_t lightest) { return write_weights(directed, lightest, 200); }

TEST(plans_state_of_a_mapped_graph_what_is_in_memory)
{
    static const char *const programs[] = {"bfs", "sssp", "pagerank", "labels", "wcc", "mst", "kcore", "heat"};
    for (int directed = 0; directed < 2; directed++) {
        const char *path = write_stated(directed, 1);
        for (int p = 0; p < 8; p++)
            for (int rings = 0; rings < 2 && !(directed && p == 6); rings++) /* joined lists are made of copies */
                check_stated(programs[p], path, rings, strcmp(programs[p], "heat") == 0 ? ALL_LISTS : NO_LISTS, false);
    }
}

/* Behind edges of length 0 the host searches for parents, in a copy of the lists. */
TEST(plans_state_the_lists_that_parents_are_searched_in)
{
    for (int directed = 0; directed < 2; directed++)
        for (int rings = 0; rings < 2; rings++) {
            check_stated("sssp", write_stated(directed, 0), rings, ALL_LISTS, true);
            check_stated("sssp", write_stated(directed, 1), rings, NO_LISTS, true);
            check_stated("bfs", write_stated(directed, 0), rings, NO_LISTS, true);
        }
}

/* Where distances may become infinite, the host looks for those of neighbours, in a copy of the targets. */
TEST(plans_state_the_targets_that_infinite_distances_are_searched_in)
{
    for (int directed = 0; directed < 2; directed++)
        for (int rings = 0; rings < 2; rings++) check_stated("sssp", write_weights(directed, 1, 1e35), rings, ALL_TARGETS, false);
}

/* A tree of three children each, which needs every edge; leaves lead to the first few vertices. A piece of a prefix of
 * three edges begins within a list. */
static td_graph *tree_with_returns(void)
{
    enum { INNER = 7000, VERTICES = 3 * INNER + 1, BACK = 9, EDGES = (BACK + 1) * VERTICES };
    static uint32_t ends[EDGES][2], weights[EDGES];
    uint64_t count = 0;
    for (uint32_t v = 0; v < VERTICES; v++)
        for (uint32_t k = 0; k < (v < INNER ? 3 : BACK); k++) {
            weights[count] = 1 + (v + k) * 7 % 90;
            ends[count][0] = v, ends[count++][1] = v < INNER ? 3 * v + k + 1 : k;
        }
    return test_graph_of(VERTICES, (const uint32_t(*)[2])ends, weights, count, false);
}

/* The resident prefix of stream and the hot part of coop, in pieces of 64 KiB: as arrays that are made whole, and through
 * the ring, whose parts are two pieces. */
TEST(prefixes_and_hot_parts_are_the_same_through_the_ring)
{
    static const char *const engines[] = {"stream", "coop"}, *const programs[] = {"sssp", "bfs"};
    for (int e = 0; e < 2; e++) {
        td_packed_info info;
        td_graph *graph = NULL;
        if (e == 0) graph = tree_with_returns();
        else CHECK_OK(td_packed_load(&graph, write_graph(true, &info), pool));
        td_run_options options = options_for(engines[e], graph, programs[e]);
        options.source = e == 0 ? 0 : options.source;
        td_run *run = run_of(programs[e], graph, (td_run_options){.pool = pool, .engine = "cpu", .has_source = true,
                                                                  .source = options.source}, "");
        td_run_summary wanted, summary;
        CHECK_OK(td_run_summarise(run, pool, &wanted));
        td_run_destroy(run);
        options.devices = narrow_gpu();
        options.gpu_edges = e == 0 ? 0.9 : 0.45;
        for (int way = 0; way < 2; way++) {
            td_gpu_ring_limits(way == 0 ? 1 : UINT64_MAX, 2 * TD_CHECKS_BLOCK);
            run = run_of(programs[e], graph, options, e == 0 ? "stream.small=0" : ""); /* not along whole lists */
            CHECK_OK(td_run_summarise(run, pool, &summary));
            CHECK_EQ(summary.digest, wanted.digest);
            CHECK_STR(run->engine, engines[e]);
            td_run_destroy(run);
            td_gpu_ring_limits(0, 0);
        }
        td_graph_destroy(graph);
    }
}

/* Changes a byte in the last block of a section. */
static void damage(const char *path, const td_section *section)
{
    char byte;
    int file = open(path, O_RDWR);
    off_t at = (off_t)(section->offset + section->bytes - 5);
    CHECK(file >= 0 && pread(file, &byte, 1, at) == 1);
    byte ^= 1;
    CHECK(pwrite(file, &byte, 1, at) == 1);
    close(file);
}

TEST(damaged_lists_are_refused_by_every_way_of_checking)
{
    for (int way = 0; way < 3; way++) { /* through the ring, directly, on the CPU */
        td_packed_info info;
        td_graph *mapped = NULL;
        td_run *run = NULL;
        const char *path = write_graph(false, &info), *engine = way == 2 ? "cpu" : "resident";
        damage(path, &info.sections[TD_SECTION_OUT_TARGETS]);
        td_gpu_ring_limits(way == 0 ? 1 : UINT64_MAX, 2 * TD_CHECKS_BLOCK);
        CHECK_OK(td_packed_map_unchecked(&mapped, path, pool));
        td_run_options options = options_for(engine, mapped, "bfs");
        CHECK_STATUS(try_run(&run, "bfs", mapped, options, copied(engine, "bfs")), TD_CORRUPT);
        CHECK_CONTAINS(td_last_message(), "of its out targets");
        td_gpu_ring_limits(0, 0);
        td_graph_destroy(mapped);
    }
}

/* A target that is no vertex, in a file that was mapped for another engine's run. */
static const char *write_wild(bool directed)
{
    static char path[512];
    const uint32_t wild = UINT32_MAX - 5;
    td_gen_spec spec = {.kind = "uniform", .vertices = 3000, .degree = 12, .seed = 5};
    td_build_options build = {.symmetrize = !directed, .attach_weights = true, .weight_low = 1, .weight_high = 50};
    td_graph *graph = NULL;
    td_packed *packed = NULL;
    snprintf(path, sizeof path, "%s", test_path("wild.tg"));
    CHECK_OK(td_graph_generate(&graph, &spec, &build, NULL));
    CHECK_OK(td_packed_write(graph, path, NULL));
    td_graph_destroy(graph);
    CHECK_OK(td_packed_open(&packed, path));
    td_packed_info info = *td_packed_describe(packed);
    td_packed_close(packed);
    static const td_section_kind lists[] = {TD_SECTION_OUT_TARGETS, TD_SECTION_IN_TARGETS};
    int file = open(path, O_RDWR);
    for (int l = 0; l < (directed ? 2 : 1); l++)
        CHECK(pwrite(file, &wild, sizeof wild, (off_t)info.sections[lists[l]].offset + 400) == sizeof wild);
    close(file);
    return path;
}

static void plan_wild(const char *path, const td_engine *engine, const char *program)
{
    td_graph *mapped = NULL;
    td_plan *plan = NULL;
    td_run *run = NULL;
    td_cache kept = {0};
    td_settings none = {0};
    CHECK_OK(td_packed_map_unchecked(&mapped, path, pool));
    td_run_options options = options_for(engine->name, mapped, program);
    options.settings = &none;
    options.cache = &kept;
    if (engine->uses_devices & TD_USES_GPU) options.devices = engine->several_gpus ? "emu:2@unchecked" : "emu:1@unchecked";
    td_status status = td_plan_make(&plan, engine->name, program_of(program), mapped, &options);
    if (status == TD_OK) status = td_plan_execute(plan, &run);
    bool skips = strcmp(engine->name, "cpu") == 0; /* and verifies no checksums */
    if ((status == TD_OK && !skips) || (status != TD_OK && td_last_message()[0] == 0))
        TEST_FAIL("%s by %s: %s", program, engine->name, td_status_name(status));
    td_run_destroy(run);
    td_plan_destroy(plan);
    td_cache_release(&kept);
    td_graph_destroy(mapped);
}

/* Every engine may get the mapped graph; none follows such a target, neither for its plan nor in its run. */
TEST(no_engine_follows_a_target_that_is_no_vertex)
{
    static const char *const programs[] = {"bfs", "sssp", "labels", "kcore", "pagerank", "mst"};
    for (int directed = 0; directed < 2; directed++) {
        const char *path = write_wild(directed);
        for (int e = 0; td_engines[e] != NULL; e++)
            for (int p = 0; p < 6; p++) plan_wild(path, td_engines[e], programs[p]);
    }
}

TEST(a_file_that_shrinks_before_its_lists_are_read_is_an_error)
{
    for (int way = 0; way < 2; way++) {
        td_packed_info info;
        td_graph *mapped = NULL;
        td_run *run = NULL;
        const char *path = write_graph(false, &info);
        td_gpu_ring_limits(1, 2 * TD_CHECKS_BLOCK);
        CHECK_OK(td_packed_map_unchecked(&mapped, path, pool));
        CHECK(truncate(path, (off_t)info.sections[TD_SECTION_OUT_TARGETS].offset + 4096) == 0);
        td_run_options options = options_for(way == 0 ? "resident" : "cpu", mapped, "bfs");
        CHECK_STATUS(try_run(&run, "bfs", mapped, options, copied(options.engine, "bfs")), TD_IO);
        CHECK_CONTAINS(td_last_message(), "upload.tg became shorter");
        td_gpu_ring_limits(0, 0);
        td_graph_destroy(mapped);
        td_mapping_forget();
    }
}

/* What a ring's workers see: bytes that follow from their place, and failures of two pieces. */
typedef struct pattern {
    uint64_t fails_at[2]; /* UINT64_MAX: none */
    _Atomic uint64_t seen, wrong;
} pattern;

static char byte_at(uint64_t at) { return (char)(at * 31 + at / 4096); }

static td_status fill_pattern(void *context, uint64_t at, char *part, uint64_t bytes)
{
    pattern *self = context;
    for (uint64_t i = 0; i < bytes; i++) part[i] = byte_at(at + i);
    self->seen += bytes;
    for (int i = 0; i < 2; i++)
        if (at <= self->fails_at[i] && self->fails_at[i] < at + bytes) return td_fail(TD_IO, "byte %d", (int)self->fails_at[i]);
    return TD_OK;
}

static td_status see_pattern(void *context, uint64_t at, char *part, uint64_t bytes)
{
    pattern *self = context;
    for (uint64_t i = 0; i < bytes; i++) self->wrong += part[i] != byte_at(at + i);
    self->seen += bytes;
    return TD_OK;
}

/* There and back in many waves, with and without workers; the last piece is not full. */
TEST(a_ring_copies_every_byte_once_and_reports_the_first_failure)
{
    enum { BYTES = 23 * TD_CHECKS_BLOCK + 100 };
    for (int way = 0; way < 4; way++) {
        td_device *device = NULL;
        td_loop *loop = NULL;
        void *memory = NULL;
        CHECK_OK(td_loop_create(&loop));
        CHECK_OK(td_devices_open(&device, narrow_gpu(), &(td_device_options){.loop = loop}));
        td_run_options options = {.pool = way % 2 == 0 ? pool : NULL};
        td_gpu_job job = {.device = device, .options = &options};
        CHECK_OK(td_stream_open(device, &job.stream));
        CHECK_OK(td_device_new(device, &memory, BYTES, 1, "bytes"));
        td_gpu_ring_limits(1, 4 * TD_CHECKS_BLOCK);
        pattern sent = {{UINT64_MAX, UINT64_MAX}, 0, 0}, back = sent;
        if (way < 2) {
            CHECK_OK(td_gpu_ring_send(&job, memory, BYTES, fill_pattern, &sent));
            CHECK_OK(td_gpu_ring_receive(&job, memory, BYTES, see_pattern, &back));
            CHECK_EQ(sent.seen, BYTES);
            CHECK_EQ(back.seen, BYTES);
            CHECK_EQ(back.wrong, 0);
        } else {
            sent.fails_at[0] = 15 * TD_CHECKS_BLOCK;
            sent.fails_at[1] = 14 * TD_CHECKS_BLOCK;
            CHECK_STATUS(td_gpu_ring_send(&job, memory, BYTES, fill_pattern, &sent), TD_IO);
            CHECK_STR(td_last_message(), "byte 917504");
        }
        td_gpu_ring_close(&job);
        td_gpu_ring_limits(0, 0);
        td_device_free(device, memory);
        td_stream_close(job.stream);
        td_devices_close(device);
        td_loop_destroy(loop);
    }
}

/* Opens the file for bfs on an emulated GPU, which maps it. */
static td_graph *open_mapped(td_session *session, const char *path)
{
    td_graph *graph = NULL;
    td_request request = {.size = sizeof request, .engine = "resident", .devices = narrow_gpu(), .has_source = true};
    CHECK_OK(td_graph_open_for(session, path, NULL, "bfs", &request, &graph));
    CHECK(graph->mapping != NULL);
    return graph;
}

static uint64_t sum_from(td_session *session, const td_graph *graph, const char *engine)
{
    td_request request = {.size = sizeof request, .engine = engine, .has_source = true};
    td_summary summary = {.size = sizeof summary};
    td_result *result = NULL;
    if (strcmp(engine, "resident") == 0) request.devices = narrow_gpu();
    CHECK_OK(td_session_run(session, graph, "bfs", &request, &result));
    CHECK_OK(td_result_summarise(session, result, &summary));
    CHECK_OK(td_result_save(session, result, test_path("levels.tsv"), NULL));
    td_result_destroy(result);
    return summary.digest;
}

/* Overwrites all targets in place. */
static void overwrite(const char *path, const td_packed_info *info)
{
    const td_section *section = &info->sections[TD_SECTION_OUT_TARGETS];
    char *wild = malloc(section->bytes);
    int file = open(path, O_WRONLY);
    memset(wild, 0xff, section->bytes);
    usleep(20000); /* times of files advance in steps of some milliseconds */
    CHECK_EQ(pwrite(file, wild, section->bytes, (off_t)section->offset), (ssize_t)section->bytes);
    close(file);
    free(wild);
}

/* A file that is overwritten in place gives an error, and nothing follows what stands in it now: not before the first
 * upload, not for a second one, not on the CPU; degrees stay those of the file that was opened. */
TEST(a_file_overwritten_in_place_is_an_error_and_leads_nowhere)
{
    for (int way = 0; way < 6; way++) {
        td_packed_info info;
        td_graph *mapped = NULL;
        td_run *run = NULL;
        const char *path = write_graph(false, &info), *engine = way % 3 == 2 ? "cpu" : "resident";
        td_gpu_ring_limits(way % 3 == 0 ? 1 : UINT64_MAX, 2 * TD_CHECKS_BLOCK);
        CHECK_OK(td_packed_map_unchecked(&mapped, path, pool));
        td_run_options options = options_for(engine, mapped, "bfs");
        const char *set = copied(engine, "bfs");
        if (way >= 3) td_run_destroy(run_of("bfs", mapped, options, set));
        bool in_memory = !td_checks_pending(mapped, mapped->out.targets);
        uint64_t degree = td_degree(&mapped->out, 7);
        overwrite(path, &info);
        CHECK_EQ(in_memory, way >= 4);
        td_status status = try_run(&run, "bfs", mapped, options, set);
        CHECK_EQ(status, in_memory ? TD_OK : TD_IO);
        if (status != TD_OK) CHECK_CONTAINS(td_last_message(), "upload.tg was written to while it was read");
        td_run_destroy(run);
        CHECK_STATUS(td_mapping_check(mapped->mapping, TD_OK), TD_IO); /* what the API says of the run's end */
        CHECK_EQ(td_degree(&mapped->out, 7), degree);
        td_gpu_ring_limits(0, 0);
        td_graph_destroy(mapped);
        td_mapping_forget();
    }
}

/* A new file under the old name is another one. */
TEST(a_file_that_is_replaced_by_a_rename_stays_readable)
{
    td_packed_info info;
    td_graph *mapped = NULL;
    const char *path = write_graph(false, &info);
    CHECK_OK(td_packed_map_unchecked(&mapped, path, pool));
    uint64_t digest = digest_of("resident", "bfs", mapped);
    CHECK(write_graph(true, &info) != NULL);
    CHECK_EQ(digest_of("cpu", "bfs", mapped), digest);
    CHECK_OK(td_mapping_check(mapped->mapping, TD_OK));
    td_graph_destroy(mapped);
}

/* Also what reads the result later: nothing is written from a file that changed. */
TEST(results_of_a_file_that_has_changed_are_not_told)
{
    td_packed_info info;
    td_session *session = NULL;
    td_result *result = NULL;
    uint32_t vertices[3];
    double values[3];
    uint64_t count;
    const char *path = write_graph(false, &info);
    td_request request = {.size = sizeof request, .engine = "cpu", .has_source = true};
    td_graph_options options = {.size = sizeof options, .edges = TD_PLACE_MAPPED, .check = true};
    td_summary summary = {.size = sizeof summary};
    td_graph *mapped = NULL;
    CHECK_OK(td_session_create(2, &session));
    CHECK_OK(td_graph_open(session, path, &options, &mapped));
    CHECK_OK(td_session_run(session, mapped, "bfs", &request, &result));
    CHECK_OK(td_result_top(session, result, 3, vertices, values, &count));
    CHECK(truncate(path, (off_t)info.sections[TD_SECTION_OUT_TARGETS].offset) == 0);
    CHECK_STATUS(td_result_top(session, result, 3, vertices, values, &count), TD_IO);
    CHECK_STATUS(td_result_summarise(session, result, &summary), TD_IO);
    CHECK_STATUS(td_result_verify(session, result), TD_IO);
    CHECK_STATUS(td_result_save(session, result, test_path("never.tsv"), NULL), TD_IO);
    CHECK_CONTAINS(td_last_message(), "upload.tg became shorter");
    CHECK(access(test_path("never.tsv"), F_OK) != 0);
    td_result_destroy(result);
    td_graph_destroy(mapped);
    td_session_destroy(session);
    td_mapping_forget();
}

/* Questions about single edges get checked lists, or an error. */
TEST(edges_of_a_mapped_graph_are_told_after_a_check)
{
    for (int damaged = 0; damaged < 2; damaged++) {
        td_packed_info info;
        td_session *session = NULL;
        td_edge edge;
        uint32_t targets[200];
        uint64_t count = 1;
        td_graph_parts parts = {.size = sizeof parts};
        const char *path = write_graph(true, &info);
        td_status wanted = damaged ? TD_CORRUPT : TD_OK;
        if (damaged) damage(path, &info.sections[TD_SECTION_OUT_TARGETS]);
        CHECK_OK(td_session_create(1, &session));
        td_graph *mapped = open_mapped(session, path);
        CHECK(td_degree(&mapped->out, 7) > 0 && td_degree(&mapped->out, 7) <= 200);
        CHECK(td_checks_pending(mapped, mapped->out.targets));
        CHECK_EQ(td_graph_targets(mapped, 7, &count, NULL) == NULL, damaged);
        CHECK_EQ(count, damaged ? 0 : td_degree(&mapped->out, 7));
        CHECK_STATUS(td_graph_read_targets(mapped, 7, targets), wanted);
        CHECK_STATUS(td_graph_edge(mapped, 0, &edge), wanted);
        CHECK_STATUS(td_graph_describe_parts(mapped, &parts), wanted);
        CHECK_EQ(td_checks_pending(mapped, mapped->out.targets), damaged);
        CHECK_EQ(parts.targets != NULL, !damaged);
        td_graph_destroy(mapped);
        td_session_destroy(session);
    }
}

static bool maps(td_session *session, const char *path, const char *engine)
{
    td_graph *graph = NULL;
    td_request request = {.size = sizeof request, .engine = engine, .has_source = true};
    if (strcmp(engine, "cpu") != 0) request.devices = narrow_gpu();
    CHECK_OK(td_graph_open_for(session, path, NULL, "sssp", &request, &graph));
    bool mapped = graph->mapping != NULL;
    td_graph_destroy(graph);
    return mapped;
}

/* The CPU's lists of a program that reads them often are copied, and those of a striped file. */
TEST(only_what_a_gpu_copies_is_mapped)
{
    td_packed_info info;
    td_session *session = NULL;
    td_graph *graph = NULL;
    const char *path = write_graph(false, &info);
    char striped[512];
    snprintf(striped, sizeof striped, "%s", test_path("striped.tg"));
    CHECK_OK(td_session_create(2, &session));
    CHECK_OK(td_graph_open(session, path, NULL, &graph));
    CHECK_OK(td_packed_write_striped(graph, striped, test_folder(), pool));
    td_graph_destroy(graph);
    CHECK(maps(session, path, "resident"));
    CHECK(maps(session, path, "auto")); /* a GPU is among the devices */
    CHECK(!maps(session, path, "cpu"));
    CHECK(maps(session, path, "stream")); /* puts lists in order as it reads them */
    CHECK(!maps(session, striped, "resident"));
    const td_program *wcc = td_program_named("wcc");
    td_run_options plain = {.pool = pool}, named = {.pool = pool, .devices = narrow_gpu()};
    CHECK(td_engine_expected("resident", wcc, &plain, path) == td_engine_named("resident"));
    CHECK(td_engine_expected(NULL, wcc, &plain, path) == td_engine_named("cpu")); /* little work, GPU or not */
    CHECK(td_engine_expected("auto", wcc, &named, path) == td_engine_named("resident"));
    td_session_destroy(session);
}

/* Files of which nothing is known but their length, or not even that. */
TEST(a_text_file_is_expected_by_its_length)
{
    td_run_options plain = {.pool = pool};
    const td_program *wcc = td_program_named("wcc");
    const char *text = test_path("large.txt");
    test_write_file(text, "1 2\n", 4);
    CHECK(td_engine_expected(NULL, wcc, &plain, text) == td_engine_named("cpu"));
    CHECK(td_engine_expected(NULL, wcc, &plain, test_path("absent")) == td_engine_named("cpu"));
}

TEST(a_mapped_graph_can_be_reversed)
{
    td_packed_info info;
    td_session *session = NULL;
    td_graph *loaded = NULL, *turned_loaded = NULL, *turned = NULL;
    const char *path = write_graph(true, &info);
    CHECK_OK(td_session_create(3, &session));
    CHECK_OK(td_graph_open(session, path, NULL, &loaded));
    CHECK_OK(td_graph_reversed(session, loaded, &turned_loaded));
    for (int e = 0; e < 2; e++) {
        td_graph *mapped = open_mapped(session, path);
        CHECK_OK(td_graph_reversed(session, mapped, &turned));
        uint64_t digest = sum_from(session, turned, e == 0 ? "cpu" : "resident");
        CHECK_EQ(digest, sum_from(session, turned_loaded, "cpu"));
        CHECK(digest != sum_from(session, loaded, "cpu"));
        CHECK_OK(td_graph_save(session, turned, test_path("turned.tg"), NULL));
        td_graph_destroy(turned);
        td_graph_destroy(mapped);
    }
    td_graph_destroy(turned_loaded);
    td_graph_destroy(loaded);
    td_session_destroy(session);
}

TEST(failing_allocations_and_devices_leave_nothing_behind)
{
    td_packed_info info;
    const char *path = write_graph(false, &info);
    td_gpu_ring_limits(1, 2 * TD_CHECKS_BLOCK);
    for (uint64_t nth = 1; nth < 400; nth += 7) {
        td_graph *mapped = NULL;
        td_run *run = NULL;
        uint64_t before = td_memory().now;
        CHECK_OK(td_packed_map_unchecked(&mapped, path, pool));
        td_alloc_fail_at(nth);
        td_status status = try_run(&run, "bfs", mapped, options_for("resident", mapped, "bfs"), "");
        td_alloc_fail_at(0);
        td_run_destroy(run);
        td_graph_destroy(mapped);
        CHECK(status == TD_OK || status == TD_NO_MEMORY);
        CHECK_EQ(td_memory().now, before);
        if (status == TD_OK) break;
    }
    td_gpu_ring_limits(0, 0);
}

/* Contexts are made for the GPUs of a list, each once; without CUDA nothing is started. */
TEST(the_gpus_of_a_list_are_warmed)
{
    int gpus[4];
    CHECK_EQ(td_devices_cuda("cpu,cuda:1,cuda:0/8#3,cuda:0/8#4", gpus, 4), 2);
    CHECK_EQ(gpus[0], 1);
    CHECK_EQ(gpus[1], 0);
    CHECK_EQ(td_devices_cuda("cpu,emu:2", gpus, 4), 0);
    CHECK_EQ(td_devices_cuda("cuda:x", gpus, 4), 0);
    td_warming warming = {0};
    td_devices_warm(&warming, "cuda:0");
    CHECK_EQ(warming.running, td_device_kind_present(TD_DEVICE_CUDA, NULL));
    td_devices_warmed(&warming);
    CHECK(!warming.running);
}

int main(int argc, char **argv)
{
    if (td_pool_create(&pool, 3) != TD_OK) return 1;
    int result = test_main(argc, argv);
    td_pool_destroy(pool);
    return result;
}
