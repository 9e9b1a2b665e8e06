/* Graphs that stay in the mapping of their file: lists are checked when they are first used, by all workers or on their
 * way to the GPU through a ring of pinned memory. */
#include "engine/mapped_scene.h"

#include "base/mapping.h"
#include "device/kinds.h"
#include "device/warm.h"
#include "gpu/ring.h"

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

int main(int argc, char **argv) { return mapped_main(argc, argv); }
