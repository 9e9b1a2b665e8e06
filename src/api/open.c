/* Opening graph files: in memory or with the edges on disk, for any use or for the runs of one request. */
#include "api/open.h"

#include "api/request.h"
#include "base/alloc.h"
#include "base/mapping.h"
#include "planner/plan.h"
#include "store/build_bytes.h"
#include "store/checks.h"
#include "store/formats/table.h"
#include "store/paged.h"

#include <string.h>

td_status td_graph_options_take(const td_graph_options *given, td_graph_options *options, td_build_options *build)
{
    *options = (td_graph_options){0};
    TD_CHECK(td_struct_take(options, sizeof *options, given, "td_graph_options"));
    *build = (td_build_options){.symmetrize = options->symmetrize, .dedup = options->dedup,
                                .drop_loops = options->drop_loops, .drop_weights = options->drop_weights,
                                .out_only = options->out_only, .weight_seed = options->weight_seed,
                                .columns = options->columns};
    if (options->columns != NULL) TD_CHECK(td_table_columns(&(td_table){0}, options->columns));
    if (options->edges < TD_PLACE_DEFAULT || options->edges > TD_PLACE_MAPPED)
        return td_fail(TD_INVALID, "td_graph_options.edges is %d, which is no place", (int)options->edges);
    if (options->weights == NULL) return TD_OK;
    if (options->drop_weights)
        return td_fail(TD_USAGE, "weights are to be attached (%s) and dropped", options->weights);
    return td_parse_weights(options->weights, build);
}

td_status td_graph_options_check(const td_graph_options *given)
{
    td_graph_options options;
    td_build_options build;
    return td_graph_options_take(given, &options, &build);
}

/* A file that is being opened. */
typedef struct opening {
    td_session *session;
    const char *path;
    td_graph_options options;
    td_build_options build;
    const td_format *format;
    td_taken *run; /* the request that the graph is opened for; NULL: any use */
    const td_engine *expected; /* to run it, if there is a request */
    td_graph *graph;
} opening;

static td_status find_format(opening *self)
{
    const char *name = self->options.format;
    self->format = name != NULL ? td_format_named(name) : NULL;
    if (name == NULL) return td_format_detect(self->path, &self->format);
    return self->format != NULL ? TD_OK : td_fail(TD_USAGE, "unknown format '%s'", name);
}

static bool stays_in_file(const opening *self)
{
    return self->options.edges == TD_PLACE_DISK || self->options.edges == TD_PLACE_MAPPED;
}

/* Edges stay on disk only if the caller asks for it or allows it, and only those of a .tg that is not changed. */
static td_status check_place(const opening *self)
{
    if (!stays_in_file(self)) return TD_OK;
    if (self->format != &td_format_tg)
        return td_fail(TD_USAGE,
                       "%s is no .tg, whose edges could stay on disk; 'tandem convert' makes one, in little memory",
                       self->path);
    if (td_build_options_change(&self->build))
        return td_fail(TD_USAGE,
                       "the edges of %s are to stay on disk and to be changed; 'tandem convert' changes them, in "
                       "little memory", self->path);
    return TD_OK;
}

static bool has_choice(const opening *self)
{
    return self->options.edges == TD_PLACE_DEFAULT && self->format == &td_format_tg &&
           !td_build_options_change(&self->build);
}

static td_status read_whole(opening *self)
{
    return td_graph_read(&self->graph, self->path, self->options.format, &self->build, self->session->pool);
}

static td_status open_on_disk(opening *self)
{
    td_memory_apply_limit(true);
    td_status status = td_paged_open(&self->graph, self->path, self->session->pool, NULL);
    if (status != TD_NO_MEMORY || self->run == NULL) return status;
    return td_plan_too_small(self->path, self->run->program, &self->run->options);
}

/* Edges may stay on disk unless the request chooses an engine, by name or by settings, that needs them in memory. */
static bool may_stay_on_disk(const td_taken *run)
{
    const char *name = run->request.engine;
    const td_engine *engine = td_engine_choose(name, "cpu", &run->settings);
    bool automatic = name == NULL || strcmp(name, "auto") == 0;
    return engine->takes_disk || (automatic && engine == &td_cpu_engine);
}

/* Loads a packed graph for a run; edges that do not fit in memory stay on disk if they may. */
static td_status load_for_run(opening *self)
{
    const td_taken *run = self->run;
    td_status status = read_whole(self);
    if (status != TD_NO_MEMORY || !has_choice(self)) return status;
    if (may_stay_on_disk(run)) status = open_on_disk(self);
    if (status != TD_NO_MEMORY) return status;
    td_memory_apply_limit(false);
    return td_plan_too_large(self->path, run->request.engine, run->program, &run->options);
}

/* Stripes need a mapping for every unit, of which a process has not many. */
static bool is_striped(const opening *self)
{
    td_packed *packed = NULL;
    if (td_packed_open(&packed, self->path) != TD_OK) return true; /* loading explains it */
    bool striped = td_packed_describe(packed)->stripes > 0;
    td_packed_close(packed);
    return striped;
}

/* The graph of the file as the request's program sees it: counts, weights and symmetry. False: it cannot be opened, and
 * loading it explains why. */
static bool read_facts(const opening *self, td_graph *out)
{
    td_packed *packed = NULL;
    if (td_packed_open(&packed, self->path) != TD_OK) return false;
    const td_packed_info *info = td_packed_describe(packed);
    bool unweighted = self->run->program->info->weights == TD_WEIGHTS_UNUSED && info->pattern_symmetric;
    *out = (td_graph){.vertices = info->vertices, .edges = info->edges, .symmetric = info->symmetric || unweighted,
                      .weights = unweighted ? TD_WEIGHT_NONE : info->weights, .weight_min = info->weight_min,
                      .weight_max = info->weight_max, .build_id = info->build_id, .name = (char *)(uintptr_t)self->path};
    td_packed_close(packed);
    return true;
}

/* Whether the run reads lists that lie beside the graph instead of its own, or its own in the mapped file. */
static bool leaves_lists(const opening *self, const td_engine *engine)
{
    const td_taken *run = self->run;
    td_graph facts;
    if ((engine->layout == NULL && engine->maps == NULL) || !read_facts(self, &facts)) return false;
    if (td_prepared_has(&facts, engine, run->program, &run->options)) return true;
    if (engine->maps == NULL) return false;
    td_maps maps = engine->maps(run->program, &facts, &run->options);
    return maps == TD_MAPS_ALWAYS || (maps == TD_MAPS_CACHED && td_packed_is_cached(self->path));
}

/* A graph that goes to a GPU whole, which checks what it copies, stays in the file's mapping, unless memory is limited:
 * mapped pages count as the process's. So does one whose lists the run reads beside the graph, or in the file by
 * kernels that check every target (cpu/mapped.c). All others read a copy: a file that is overwritten under them would
 * lead them anywhere. */
static bool maps_for_run(const opening *self)
{
    const td_taken *run = self->run;
    const td_engine *engine = self->expected;
    bool whole = run->request.gpu_memory == 0 && run->request.gpu_edges == 0;
    bool limited = td_account_process()->limit > 0 || self->session->account->budget > 0, exceeds = false;
    if (!has_choice(self) || limited || is_striped(self)) return false;
    if (!(engine->checks_lists && whole) && !leaves_lists(self, engine)) return false;
    return td_plan_exceeds_memory(self->path, &exceeds) == TD_OK && !exceeds; /* loading explains it */
}

static td_status open_packed_for_run(opening *self)
{
    const td_taken *run = self->run;
    bool on_disk = self->options.edges == TD_PLACE_DISK;
    TD_CHECK(td_plan_check_file(self->path, run->program, &self->build));
    if (has_choice(self))
        TD_CHECK(td_plan_on_disk(self->path, run->request.engine, run->program, &run->options, &on_disk));
    if (!on_disk && maps_for_run(self)) {
        td_status status = td_packed_map_unchecked(&self->graph, self->path, self->session->pool);
        if (status != TD_IO && status != TD_NO_MEMORY) return status; /* a file that cannot be mapped is loaded */
    }
    return on_disk ? open_on_disk(self) : load_for_run(self);
}

/* A program that ignores weights gets a text's graph without them. Checkpoints name the whole graph. */
static bool leaves_weights(const opening *self)
{
    const td_taken *run = self->run;
    if (run == NULL || self->build.drop_weights || self->build.attach_weights) return false;
    return run->program->info->weights == TD_WEIGHTS_UNUSED && run->request.checkpoint == NULL &&
           run->request.resume == NULL;
}

static td_status open_text(opening *self)
{
    bool leaves = leaves_weights(self);
    self->build.drop_weights |= leaves;
    td_status status = read_whole(self);
    if (status == TD_OK) self->graph->reading.weights_dropped &= leaves;
    if (status != TD_NO_MEMORY) return status;
    (void)td_inside_too_small(self->path, self->format, &self->build, td_pool_threads(self->session->pool));
    if (self->options.edges == TD_PLACE_MEMORY) return TD_NO_MEMORY;
    return td_fail_add(TD_NO_MEMORY, "; or convert it to .tg ('tandem convert'), whose edges may stay on disk");
}

static td_status open_mapped(opening *self)
{
    if (self->options.check) return td_packed_map(&self->graph, self->path);
    TD_CHECK(td_packed_map_checked(&self->graph, self->path, self->session->pool));
    self->graph->unverified = true;
    return TD_OK;
}

static td_status open_packed(opening *self)
{
    bool on_disk = self->options.edges == TD_PLACE_DISK;
    if (self->options.check) TD_CHECK(td_packed_check(self->path, self->session->pool));
    if (self->options.edges == TD_PLACE_MAPPED) return open_mapped(self);
    if (self->run != NULL) return open_packed_for_run(self);
    if (has_choice(self)) TD_CHECK(td_plan_exceeds_memory(self->path, &on_disk));
    if (on_disk) return open_on_disk(self);
    td_status status = read_whole(self);
    if (status != TD_NO_MEMORY) return status;
    return td_inside_too_small(self->path, self->format, &self->build, td_pool_threads(self->session->pool));
}

static td_status open_file(opening *self)
{
    TD_CHECK(find_format(self));
    TD_CHECK(check_place(self));
    if (self->build.columns != NULL && !self->format->columns) return td_columns_unused(self->format, self->path);
    td_memory_apply_limit(false);
    if (self->format == &td_format_tg) return open_packed(self);
    TD_CHECK(open_text(self));
    return self->options.check ? td_graph_check(self->graph, self->session->pool) : TD_OK;
}

/* Gives the caller the graph, or nothing. */
static td_status finish(opening *self, td_status status, td_graph **out)
{
    td_session_leave(self->session);
    if (status == TD_OK) *out = self->graph;
    else td_graph_destroy(self->graph);
    return status;
}

td_status td_graph_open(td_session *session, const char *path, const td_graph_options *given, td_graph **out)
{
    opening self = {.session = session, .path = path};
    TD_CHECK(td_need(path, "the path"));
    TD_CHECK(td_need(out, "the place for the graph"));
    TD_CHECK(td_session_enter(session));
    td_status status = td_graph_options_take(given, &self.options, &self.build);
    if (status == TD_OK) status = td_mapping_settle(open_file(&self));
    return finish(&self, status, out);
}

/* The GPU that the run will use gets its context while the file is read. */
static void warm_gpu(opening *self)
{
    const td_taken *run = self->run;
    const char *devices = run->request.devices;
    self->expected = td_engine_expected(run->request.engine, run->program, &run->options, self->path);
    if (self->expected->needs_gpu) td_devices_warm(&self->session->warming, devices != NULL ? devices : "cuda:0");
}

static td_status open_for(opening *self, const char *program, const td_request *request)
{
    bool huge_pages = td_huge_pages_on();
    TD_CHECK(TD_NEW_ZEROED(&self->run, 1, "request"));
    TD_CHECK(td_request_take(self->run, self->session, program, request));
    warm_gpu(self);
    td_huge_pages(huge_pages && self->run->huge_pages); /* of the graph's arrays too */
    td_status status = open_file(self);
    td_huge_pages(huge_pages);
    return status;
}

td_status td_graph_open_for(td_session *session, const char *path, const td_graph_options *given, const char *program,
                            const td_request *request, td_graph **out)
{
    opening self = {.session = session, .path = path};
    TD_CHECK(td_need(path, "the path"));
    TD_CHECK(td_need(out, "the place for the graph"));
    TD_CHECK(td_session_enter(session));
    td_status status = td_graph_options_take(given, &self.options, &self.build);
    if (status == TD_OK) status = td_mapping_settle(open_for(&self, program, request));
    if (self.run != NULL) td_taken_free(self.run);
    return finish(&self, status, out);
}
