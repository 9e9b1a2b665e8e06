/* What tests of graphs in the mapping of their file share: a graph written to a file, runs on it, a damaged byte, the pool
 * of their workers. */
#ifndef TD_TEST_MAPPED_SCENE_H
#define TD_TEST_MAPPED_SCENE_H

#include "engine/ways.h"

#include "run/result.h"
#include "store/checks.h"
#include "store/gen.h"

#include <fcntl.h>
#include <unistd.h>

static td_pool *pool;

/* Writes a graph to a file, and gives the file's name and its sections. */
static inline const char *write_uniform(bool directed, uint64_t degree, td_packed_info *info)
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
static inline const char *write_graph(bool directed, td_packed_info *info)
{
    return write_uniform(directed, directed ? 30 : 15, info);
}

static inline td_run_options options_for(const char *engine, const td_graph *graph, const char *program)
{
    return (td_run_options){.engine = engine, .devices = strcmp(engine, "resident") == 0 ? narrow_gpu() : NULL,
                            .pool = pool, .has_source = program_of(program)->info->needs_source,
                            .source = busiest(graph)};
}

/* The CPU's lists are read into memory here; test_mapped_lists has those that stay in the file. */
static inline const char *copied(const char *engine, const char *program)
{
    bool maps = strcmp(engine, "cpu") == 0 && (strcmp(program, "bfs") == 0 || strcmp(program, "wcc") == 0);
    return maps ? "cpu.lists=copied" : "";
}

static inline uint64_t digest_of(const char *engine, const char *program, const td_graph *graph)
{
    td_run_summary summary;
    td_run *run = run_of(program, graph, options_for(engine, graph, program), copied(engine, program));
    CHECK_OK(td_run_summarise(run, pool, &summary));
    td_run_destroy(run);
    return summary.digest;
}

/* Changes a byte in the last block of a section. */
static inline void damage(const char *path, const td_section *section)
{
    char byte;
    int file = open(path, O_RDWR);
    off_t at = (off_t)(section->offset + section->bytes - 5);
    CHECK(file >= 0 && pread(file, &byte, 1, at) == 1);
    byte ^= 1;
    CHECK(pwrite(file, &byte, 1, at) == 1);
    close(file);
}

/* Opens the file for bfs on an emulated GPU, which maps it. */
static inline td_graph *open_mapped(td_session *session, const char *path)
{
    td_graph *graph = NULL;
    td_request request = {.size = sizeof request, .engine = "resident", .devices = narrow_gpu(), .has_source = true};
    CHECK_OK(td_graph_open_for(session, path, NULL, "bfs", &request, &graph));
    CHECK(graph->mapping != NULL);
    return graph;
}

/* Runs the tests with a pool of three workers. */
static inline int mapped_main(int argc, char **argv)
{
    if (td_pool_create(&pool, 3) != TD_OK) return 1;
    int result = test_main(argc, argv);
    td_pool_destroy(pool);
    return result;
}

#endif
