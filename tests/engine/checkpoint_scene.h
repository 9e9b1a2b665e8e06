/* A graph, a folder for checkpoints, what is said meanwhile, and runs that leave checkpoints there or go on from
 * them. */
#ifndef TD_TEST_CHECKPOINT_SCENE_H
#define TD_TEST_CHECKPOINT_SCENE_H

#include "run/checkpoint_file.h"
#include "engine/ways.h"

#include "base/cancel.h"
#include "base/outfile.h"
#include "store/gen.h"
#include "store/packed.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

__attribute__((constructor)) static void choose_folder(void)
{
    if (getenv("TMPDIR") == NULL && access("/dev/shm", W_OK) == 0) setenv("TMPDIR", "/dev/shm", 1);
}

enum { PATH = 600 };

/* A graph, a folder, and what is said meanwhile. */
typedef struct scene {
    td_pool *pool;
    td_graph *graph;
    char folder[300];
    uint32_t stop_after, rows; /* the watcher ends the run after so many iterations; 0: never */
    bool cancels;              /* by a request, not by its answer */
    void (*at_row)(struct scene *self, uint32_t rows);
    int warnings;
    char warning[1024];
} scene;

static inline void hear(void *context, td_log_level level, const char *line)
{
    scene *self = context;
    if (level != TD_LOG_WARN) return;
    self->warnings++;
    snprintf(self->warning, sizeof self->warning, "%s", line);
}

static inline td_graph *generated(const char *kind, uint64_t size, uint64_t seed, td_pool *pool)
{
    td_graph *graph = NULL;
    td_gen_spec spec = {.kind = kind, .seed = seed, .rewire = -1};
    td_build_options build = {0};
    if (strcmp(kind, "grid") == 0) spec.width = size;
    else spec.scale = size, spec.degree = 8;
    CHECK_OK(td_parse_weights("1:100", &build));
    CHECK_OK(td_graph_generate(&graph, &spec, &build, pool));
    return graph;
}

static inline scene *open_scene(void)
{
    static scene self;
    static int number;
    self = (scene){0};
    CHECK_OK(td_pool_create(&self.pool, 2));
    self.graph = generated("rmat", 10, 3, self.pool);
    snprintf(self.folder, sizeof self.folder, "%s/scene%d", test_folder(), number++);
    CHECK(mkdir(self.folder, 0700) == 0);
    td_log_set_sink(hear, &self);
    return &self;
}

static inline void close_scene(scene *self)
{
    td_log_set_sink(NULL, NULL);
    td_graph_destroy(self->graph);
    td_pool_destroy(self->pool);
}

static inline bool watch(void *context, const td_iteration *row)
{
    scene *self = context;
    (void)row;
    self->rows++;
    if (self->at_row != NULL) self->at_row(self, self->rows);
    bool last = self->stop_after > 0 && self->rows >= self->stop_after;
    if (last && self->cancels) td_cancel_request();
    return !last || self->cancels;
}

static inline td_run_options options_of(scene *self, const char *program)
{
    const td_program_info *info = program_of(program)->info;
    return (td_run_options){.pool = self->pool, .has_source = info->needs_source, .source = 1, .each = watch,
                            .each_context = self};
}

static inline td_status attempt(scene *self, td_run **out, const char *program, td_run_options options,
                                const char *settings)
{
    self->rows = 0;
    return try_run(out, program, self->graph, options, settings);
}

/* Leaves a checkpoint after so many iterations more. */
static inline void leave_one(scene *self, const char *program, uint32_t iterations, bool resumes, const char *settings)
{
    td_run *run = NULL;
    td_run_options options = options_of(self, program);
    options.checkpoint = self->folder;
    options.every = 1000;
    options.resume = resumes ? self->folder : NULL;
    self->stop_after = iterations;
    CHECK_STATUS(attempt(self, &run, program, options, settings), TD_CANCELLED);
    CHECK_CONTAINS(td_last_message(), "go on with resume");
    self->stop_after = 0;
}

static inline td_status resume(scene *self, td_run **out, const char *program, const char *settings)
{
    td_run_options options = options_of(self, program);
    options.resume = self->folder;
    return attempt(self, out, program, options, settings);
}

/* The path of a file there, good until the next call. */
static inline const char *inside(const scene *self, const char *name)
{
    static char path[PATH];
    int length = snprintf(path, sizeof path, "%s/%s", self->folder, name);
    CHECK(length > 0 && length < (int)sizeof path);
    return path;
}

/* The paths of the files there, the oldest first. */
static inline int list_files(const scene *self, char paths[8][PATH])
{
    struct dirent **entries = NULL;
    int count = scandir(self->folder, &entries, NULL, alphasort), found = 0;
    for (int i = 0; i < count; i++) {
        if (entries[i]->d_name[0] != '.' && found < 8)
            snprintf(paths[found++], PATH, "%s", inside(self, entries[i]->d_name));
        free(entries[i]);
    }
    free(entries);
    return found;
}

static inline void check_same(const td_run *one, const td_run *other)
{
    size_t bytes = one->program->cpu[0].value_bytes;
    CHECK_EQ(one->iterations, other->iterations);
    CHECK(memcmp(one->values, other->values, one->graph->vertices * bytes) == 0);
}

static inline void wait_a_little(scene *self, uint32_t rows)
{
    (void)self, (void)rows;
    usleep(3000); /* so that the write of the iteration before has ended */
}

#endif
