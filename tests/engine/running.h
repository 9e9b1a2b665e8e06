/* For tests of runs: graphs from a few lines of text, and programs run on them. */
#ifndef TD_RUNNING_H
#define TD_RUNNING_H

#include "test.h"

#include "engine/engine.h"
#include "store/builder.h"
#include "store/formats/format.h"

/* From the text of an edge list. */
static inline td_graph *graph_built(const char *edges, td_build_options build)
{
    td_graph *graph = NULL;
    const char *path = test_path("graph.txt");
    test_write_file(path, edges, strlen(edges));
    CHECK_OK(td_graph_read(&graph, path, "edgelist", &build, NULL));
    return graph;
}

static inline td_graph *graph_of(const char *edges) { return graph_built(edges, (td_build_options){0}); }

/* The vertex of this id, which must be there. */
static inline uint32_t vertex_of(const td_graph *graph, uint64_t id)
{
    uint32_t vertex = 0;
    CHECK_OK(td_graph_find(graph, id, &vertex));
    return vertex;
}

/* Settings from texts "key=value"; ends with NULL. */
static inline td_settings settings_from(const char *const *texts)
{
    td_settings settings = {0};
    for (; *texts != NULL; texts++) CHECK_OK(td_settings_add(&settings, *texts));
    return settings;
}

#define SET(...) settings_from((const char *const[]){__VA_ARGS__, NULL})

static inline td_run *run_of(const char *program, const td_graph *graph, td_run_options options)
{
    td_run *run = NULL;
    CHECK_OK(td_run_program(&run, td_program_named(program), graph, &options));
    return run;
}

static inline td_run *run_from(const char *program, const td_graph *graph, uint64_t source)
{
    return run_of(program, graph, (td_run_options){.has_source = true, .source = vertex_of(graph, source)});
}

#endif
