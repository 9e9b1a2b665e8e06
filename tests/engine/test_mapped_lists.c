/* bfs and wcc on the CPU with lists that stay in the mapped file (cpu.lists): the same results, nothing read that is
 * not needed, no number of the file used as an index that is no vertex, whatever happens to the file. */
#include "engine/ways.h"

#include "base/mapping.h"
#include "run/result.h"
#include "store/builder.h"
#include "store/checks.h"
#include "store/gen.h"

#include <fcntl.h>
#include <unistd.h>

static td_pool *pool;

static td_graph *generate(const char *kind, bool directed)
{
    td_graph *graph = NULL;
    bool grid = strcmp(kind, "grid") == 0;
    td_gen_spec spec = {.kind = kind, .scale = grid ? 0 : 9, .degree = grid ? 0 : 8, .width = grid ? 20 : 0, .seed = 3,
                        .rewire = -1};
    td_build_options build = {.symmetrize = !directed, .attach_weights = true, .weight_low = 1, .weight_high = 9};
    CHECK_OK(td_graph_generate(&graph, &spec, &build, NULL));
    return graph;
}

static const char *file_of(const td_graph *graph)
{
    static char path[512];
    snprintf(path, sizeof path, "%s", test_path("lists.tg"));
    CHECK_OK(td_packed_write(graph, path, NULL));
    return path;
}

/* Ways that reach every kernel: pull, push, long lists divided, one worker. */
static const struct {
    const char *program, *settings;
} ways[] = {
    {"bfs", "cpu.serial=0"}, {"bfs", "cpu.serial=0 cpu.direction=pull"}, {"bfs", "cpu.serial=0 cpu.direction=push"},
    {"bfs", "cpu.serial=0 cpu.direction=push cpu.high_degree=24"}, {"wcc", "cpu.serial=0"},
    {"wcc", "cpu.serial=0 cpu.samples=0"}, {"wcc", "cpu.serial=0 cpu.samples=0 cpu.high_degree=24"},
};
enum { WAYS_HERE = sizeof ways / sizeof *ways };

static td_status try_way(td_run **run, const td_graph *graph, int way, const char *lists)
{
    char settings[128];
    td_run_options options = {.engine = "cpu", .pool = pool, .has_source = strcmp(ways[way].program, "bfs") == 0,
                              .source = busiest(graph)};
    snprintf(settings, sizeof settings, "%s cpu.lists=%s", ways[way].settings, lists);
    return try_run(run, ways[way].program, graph, options, settings);
}

static uint64_t digest_of(const td_graph *graph, int way, const char *lists)
{
    td_run *run = NULL;
    td_run_summary summary;
    CHECK_OK(try_way(&run, graph, way, lists));
    CHECK_OK(td_run_summarise(run, pool, &summary));
    td_run_destroy(run);
    return summary.digest;
}

/* Targets that are read in the mapping count as the process's memory, weights that the program ignores do not. */
static void check_stated(const td_graph *mapped, int way)
{
    td_plan *plan = NULL;
    td_settings settings = settings_from("cpu.lists=mapped");
    td_run_options options = {.engine = "cpu", .pool = pool, .has_source = strcmp(ways[way].program, "bfs") == 0,
                              .settings = &settings};
    uint64_t lists = mapped->symmetric ? 1 : 2;
    CHECK_OK(td_plan_make(&plan, "cpu", program_of(ways[way].program), mapped, &options));
    CHECK_EQ(plan->graph_bytes, lists * ((mapped->vertices + UINT64_C(1)) * sizeof(uint64_t) + mapped->edges * sizeof(uint32_t)));
    td_plan_destroy(plan);
    td_settings_clear(&settings);
}

TEST(results_are_those_of_lists_in_memory_and_no_list_is_read_into_it)
{
    static const char *const kinds[] = {"rmat", "rmat", "grid"};
    for (int k = 0; k < 3; k++)
        for (int way = 0; way < WAYS_HERE; way++) {
            td_graph *graph = generate(kinds[k], k == 1), *mapped = NULL;
            const char *path = file_of(graph);
            CHECK_OK(td_packed_map_unchecked(&mapped, path, pool));
            uint64_t opened = td_checks_done(mapped);
            check_stated(mapped, way);
            CHECK_EQ(digest_of(mapped, way, "mapped"), digest_of(graph, way, "copied"));
            CHECK_EQ(td_checks_done(mapped), opened);
            CHECK(td_checks_pending(mapped, mapped->out.targets));
            CHECK_EQ(digest_of(mapped, way, "copied"), digest_of(graph, way, "copied"));
            CHECK(td_checks_done(mapped) > opened && !td_checks_pending(mapped, mapped->out.targets));
            td_graph_destroy(mapped);
            td_graph_destroy(graph);
        }
}

/* Puts a number in place of a target, in the file; with `seals`, the file is written anew, with its checksums. */
static void put_target(const char *path, td_graph *graph, bool in, uint64_t e, uint32_t target, bool seals)
{
    td_packed_info info = td_packed_plan(graph);
    const td_section *section = &info.sections[in ? TD_SECTION_IN_TARGETS : TD_SECTION_OUT_TARGETS];
    uint32_t *place = &(in ? graph->in.targets : graph->out.targets)[e], before = *place;
    int file = open(path, O_WRONLY);
    CHECK(file >= 0 && pwrite(file, &target, sizeof target, (off_t)(section->offset + e * sizeof target)) == 4);
    close(file);
    if (!seals) return;
    *place = target;
    (void)file_of(graph);
    *place = before;
}

/* Targets are replaced by wild numbers in turn, with checksums that are right or not: a run that reads one fails and
 * names it, and a run that does not read it ends as ever. */
TEST(targets_that_are_no_vertices_are_errors_that_name_them)
{
    uint64_t found[WAYS_HERE] = {0}, positions = 0;
    for (int directed = 0; directed < 2; directed++) {
        td_graph *graph = generate("rmat", directed);
        const uint32_t wild[] = {graph->vertices, UINT32_MAX, graph->vertices + 63, UINT32_MAX - 63};
        const char *path = file_of(graph);
        for (uint64_t e = 0; e < graph->edges; e += 41, positions++) {
            bool in = directed && e % 2;
            char number[64];
            td_graph *mapped = NULL;
            td_run *run = NULL;
            put_target(path, graph, in, e, wild[positions % 4], positions % 32 == 0);
            CHECK_OK(td_packed_map_unchecked(&mapped, path, pool));
            snprintf(number, sizeof number, "lists.tg: number %llu of its %s is", (unsigned long long)e,
                     in ? "in targets" : "out targets");
            for (int way = 0; way < WAYS_HERE; way++) {
                td_status status = try_way(&run, mapped, way, "mapped");
                CHECK(status == TD_OK || status == TD_CORRUPT);
                if (status == TD_CORRUPT) CHECK_CONTAINS(td_last_message(), number);
                else td_run_destroy(run);
                found[way] += status == TD_CORRUPT;
            }
            CHECK_STATUS(try_way(&run, mapped, 0, "copied"), TD_CORRUPT); /* reads all */
            td_graph_destroy(mapped);
            put_target(path, graph, in, e, (in ? graph->in.targets : graph->out.targets)[e], positions % 32 == 0);
        }
        td_graph_destroy(graph);
    }
    for (int way = 0; way < WAYS_HERE; way++)
        if (found[way] < positions / 20) TEST_FAIL("%s: %d of %d", ways[way].settings, (int)found[way], (int)positions);
    CHECK(found[5] == positions && found[6] == positions); /* without samples components visit every edge */
}

/* Through the API, with a file that changes after the first iteration. */

typedef struct change {
    const char *path;
    td_packed_info info;
    bool cuts;
    int iterations;
} change;

static bool change_file(void *context, const td_iteration *row)
{
    change *self = context;
    const td_section *section = &self->info.sections[TD_SECTION_OUT_TARGETS];
    (void)row;
    if (self->iterations++ > 0) return true;
    if (self->cuts) {
        CHECK(truncate(self->path, (off_t)section->offset) == 0);
        return true;
    }
    char *wild = malloc(section->bytes);
    int file = open(self->path, O_WRONLY);
    memset(wild, 0xff, section->bytes);
    usleep(20000); /* times of files advance in steps of some milliseconds */
    CHECK_EQ(pwrite(file, wild, section->bytes, (off_t)section->offset), (ssize_t)section->bytes);
    close(file);
    free(wild);
    return true;
}

TEST(a_file_that_is_cut_or_overwritten_while_it_runs_is_an_error)
{
    static const char *const settings[] = {"cpu.lists=mapped", NULL};
    for (int way = 0; way < 6; way++) {
        const char *program = way < 2 ? "bfs" : way < 4 ? "wcc" : "mst"; /* whose edges are read at the end */
        td_graph *graph = generate("grid", false), *opened = NULL;
        change self = {.path = file_of(graph), .info = td_packed_plan(graph), .cuts = way % 2 == 1};
        td_session *session = NULL;
        td_result *result = NULL;
        td_request request = {.size = sizeof request, .engine = "cpu", .has_source = way < 2, .settings = settings,
                              .progress = change_file, .progress_context = &self};
        if (way >= 4) request.engine = "resident", request.devices = narrow_gpu(), request.settings = NULL;
        td_graph_destroy(graph);
        CHECK_OK(td_session_create(2, &session));
        CHECK_OK(td_graph_open_for(session, self.path, NULL, program, &request, &opened));
        CHECK(td_checks_pending(opened, opened->out.targets));
        CHECK_STATUS(td_session_run(session, opened, program, &request, &result), TD_IO);
        CHECK_CONTAINS(td_last_message(), self.cuts ? "lists.tg became shorter" : "lists.tg was written to");
        CHECK(self.iterations > 0 && result == NULL);
        td_graph_destroy(opened);
        td_session_destroy(session);
        td_mapping_forget();
    }
}

/* What the setting, the request and the page cache decide. */

static bool maps(td_session *session, const char *path, td_request request, const char *lists)
{
    char setting[64];
    const char *const settings[] = {setting, NULL};
    td_graph *graph = NULL;
    td_plan *plan = NULL;
    snprintf(setting, sizeof setting, "cpu.lists=%s", lists);
    request.size = sizeof request;
    request.engine = "cpu";
    request.settings = settings;
    request.has_source = true;
    CHECK_OK(td_graph_open_for(session, path, NULL, "bfs", &request, &graph));
    CHECK_OK(td_session_plan(session, graph, "bfs", &request, &plan));
    bool mapped = td_plan_counter(plan, "lists_mapped") == 1;
    td_plan_memory host = {.size = sizeof host};
    CHECK_OK(td_plan_memory_row(plan, 0, &host));
    CHECK_EQ(host.graph < td_graph_bytes(graph), mapped); /* memory that the plan states: without weights */
    CHECK_EQ(graph->mapping != NULL, mapped);
    CHECK_EQ(strstr(td_plan_why(plan), "checksums are not") != NULL, mapped);
    td_plan_destroy(plan);
    td_graph_destroy(graph);
    return mapped;
}

TEST(lists_stay_in_the_file_where_that_costs_less)
{
    td_graph *graph = generate("rmat", false);
    td_session *session = NULL;
    const char *path = file_of(graph);
    CHECK(td_packed_is_cached(path)); /* just written, and asked of the kernel */
    CHECK_OK(td_session_create(2, &session));
    td_request one = {0}, many = {.runs = 1000}, parents = {.parents = true}, async = {.mode = TD_MODE_ASYNC};
    CHECK(maps(session, path, one, "mapped") && !maps(session, path, one, "copied"));
    CHECK(maps(session, path, one, "auto") && !maps(session, path, many, "auto"));
    CHECK(maps(session, path, many, "mapped"));
    CHECK(!maps(session, path, parents, "mapped") && !maps(session, path, async, "mapped"));
    CHECK_OK(td_session_set_budget(session, UINT64_C(1) << 30)); /* mapped pages would count */
    CHECK(!maps(session, path, one, "mapped"));
    CHECK_OK(td_session_set_budget(session, 0));
    td_packed_assume_cached(40); /* of 64 pages: the rest is read in order, into a copy */
    CHECK(!maps(session, path, one, "auto") && maps(session, path, one, "mapped"));
    td_packed_assume_cached(-1);
    td_session_destroy(session);
    td_graph_destroy(graph);
}

TEST(failing_allocations_leave_nothing_behind)
{
    td_graph *graph = generate("rmat", true);
    const char *path = file_of(graph);
    td_graph_destroy(graph);
    for (int way = 0; way < 2; way++) {
        td_status status = TD_NO_MEMORY;
        td_run_options options = {.engine = "cpu", .pool = pool, .has_source = way == 0};
        for (uint64_t nth = 1; nth < 200 && status != TD_OK; nth++) {
            td_graph *mapped = NULL;
            td_run *run = NULL;
            uint64_t before = td_memory().now;
            td_alloc_fail_at(nth);
            status = td_packed_map_unchecked(&mapped, path, pool);
            if (status == TD_OK) status = try_run(&run, way == 0 ? "bfs" : "wcc", mapped, options, "");
            td_alloc_fail_at(0);
            CHECK(mapped == NULL || td_checks_pending(mapped, mapped->out.targets));
            td_run_destroy(run);
            td_graph_destroy(mapped);
            CHECK(status == TD_OK || status == TD_NO_MEMORY);
            CHECK_EQ(td_memory().now, before);
        }
        CHECK_OK(status);
    }
}

int main(int argc, char **argv)
{
    if (td_pool_create(&pool, 3) != TD_OK) return 1;
    int result = test_main(argc, argv);
    td_pool_destroy(pool);
    return result;
}
