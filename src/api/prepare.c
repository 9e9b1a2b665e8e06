/* Prepared layouts in the API: making, listing and removing them, and what a decomposition into paths is like. */
#include "api/session.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/setting.h"
#include "engine/engine.h"
#include "engine/multi/prepared.h"
#include "layout/paths_settings.h"
#include "planner/layouts.h"
#include "store/packed.h"

#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(((td_prepared *)0)->layout) == TD_SIDECAR_NAME, "a name fits");
_Static_assert(sizeof(((td_prepared *)0)->key) == TD_SIDECAR_KEY, "a key fits");
_Static_assert(sizeof(((td_prepared *)0)->path) == TD_SIDECAR_PATH, "a path fits");

/* Layouts. */

typedef struct layout {
    const char *name, *summary;
    td_status (*prepare)(td_session *session, const td_graph *graph, const td_settings *settings, td_prepared *out);
    const td_engine *engine; /* whose layouts depend on the program; NULL: `prepare` makes the only one */
    bool cuts;               /* its name is followed by a partition: "multi:metis:8" */
} layout;

/* What a name asks for: "stream:sssp", "multi:metis:8:bfs". */
typedef struct request {
    const layout *layout;
    const char *program; /* NULL: all */
    td_partition_kind kind;
    int parts;
} request;

static const td_setting path_settings[] = {TD_PATH_SETTING_ROWS, {0}};

static td_status take_settings(td_settings *out, const char *const *texts)
{
    static const char *const prefixes[] = {"paths", "stream", "coop", "multi", NULL};
    const td_setting *const tables[] = {path_settings, td_stream_engine.settings, td_coop_engine.settings,
                                        td_multi_engine.settings, NULL};
    for (; texts != NULL && *texts != NULL; texts++) TD_CHECK(td_settings_add(out, *texts));
    return td_settings_check(out, prefixes, tables);
}

static td_status path_options(const td_settings *settings, td_path_options *out)
{
    double numbers[TD_PATH_SETTINGS];
    TD_CHECK(td_settings_resolve(settings, "paths", path_settings, numbers, NULL));
    *out = td_path_options_of(numbers);
    return td_path_settings_check(settings, out);
}

static td_status prepare_paths(td_session *session, const td_graph *graph, const td_settings *settings, td_prepared *out)
{
    td_status status = TD_OK;
    td_paths paths = {0};
    td_path_options options;
    TD_CHECK(path_options(settings, &options));
    td_paths_key(out->key, &options);
    uint64_t start = td_clock_ns();
    status = td_paths_load(&paths, graph, &options, session->pool);
    if (status == TD_NO_MEMORY || status == TD_CANCELLED || status == TD_OK) goto done;
    TD_TRY(td_paths_make(&paths, graph, &options, session->pool));
    out->made = true;
    out->make_seconds = td_seconds_since(start);
    start = td_clock_ns();
    TD_TRY(td_paths_save(&paths, graph->name, out->path, session->pool));
    out->write_seconds = td_seconds_since(start);
done:
    td_paths_free(&paths);
    return status;
}

/* Layouts of engines, program by program. */

/* TD_NOT_FOUND with the reason: runs of the program read nothing but the graph. */
static td_status prepare_program(td_session *session, const td_graph *graph, const request *of, const td_program *program,
                                 const td_settings *settings, td_prepared *out)
{
    td_run_options options = {.pool = session->pool, .settings = settings};
    const td_graph *seen = NULL;
    td_prepared_file *file = NULL;
    TD_CHECK(td_graph_for(&seen, program, graph, &options));
    if (seen->build_id == 0)
        return td_fail(TD_NOT_FOUND, "%s runs on another graph that it makes of this one, for which nothing is prepared",
                       program->info->name);
    TD_CHECK(TD_NEW_ZEROED(&file, 1, "layout"));
    td_status status = of->layout->cuts ? td_multi_prepare(program, seen, &options, of->kind, of->parts, file)
                                        : of->layout->engine->make_layout(program, seen, &options, file);
    if (status == TD_OK) {
        snprintf(out->layout, sizeof out->layout, "%s", file->layout);
        snprintf(out->path, sizeof out->path, "%s", file->path);
        out->made = out->made || file->made;
        out->make_seconds += file->make_seconds;
        out->write_seconds += file->write_seconds;
    }
    td_free(file);
    return status;
}

static td_status prepare_programs(td_session *session, const td_graph *graph, const request *of,
                                  const td_settings *settings, td_prepared *out)
{
    const char *only = of->program;
    const td_program *program = only != NULL ? td_program_named(only) : NULL;
    td_status status = TD_NOT_FOUND;
    if (only != NULL && program == NULL) return td_fail(TD_USAGE, "there is no program '%s' to prepare for", only);
    if (only != NULL) return prepare_program(session, graph, of, program, settings, out);
    for (int i = 0; td_programs[i] != NULL; i++) {
        td_status one = prepare_program(session, graph, of, td_programs[i], settings, out);
        if (one == TD_OK) status = TD_OK;
        else if (one != TD_NOT_FOUND) return one;
    }
    return status; /* the message is that of the last program */
}

static const layout layouts[] = {
    {TD_PATHS_LAYOUT, "directed paths, their order and their partitions", prepare_paths, NULL, false},
    {"stream", "lists in the order and form in which they cross the link, by program", NULL, &td_stream_engine, false},
    {"coop", "the graph in the order that is split between GPU and CPU, by program", NULL, &td_coop_engine, false},
    {"multi", "the graph cut into fragments for several GPUs, by partitioner and number", NULL, &td_multi_engine, true},
};

enum { LAYOUTS = sizeof layouts / sizeof *layouts };

const char *td_layout_name(int index) { return index >= 0 && index < LAYOUTS ? layouts[index].name : NULL; }

static const layout *layout_named(const char *name)
{
    for (int i = 0; i < LAYOUTS; i++)
        if (strcmp(layouts[i].name, name) == 0) return &layouts[i];
    return NULL;
}

const char *td_layout_summary(const char *name)
{
    const layout *found = name != NULL ? layout_named(name) : NULL;
    return found != NULL ? found->summary : NULL;
}

/* The partition after "multi", and the program behind it: "metis:8:bfs". */
static td_status find_partition(const char *name, const char *rest, request *out)
{
    char text[TD_SIDECAR_NAME];
    const char *number = rest != NULL ? strchr(rest, ':') : NULL;
    const char *program = number != NULL ? strchr(number + 1, ':') : NULL;
    if (number == NULL)
        return td_fail(TD_USAGE, "'%s' does not say how the graph is cut and for how many GPUs: write multi:metis:8 or "
                       "multi:random:8 for 8", name);
    int length = program != NULL ? (int)(program - rest) : (int)strlen(rest);
    snprintf(text, sizeof text, "%.*s", length, rest);
    out->program = program != NULL ? program + 1 : NULL;
    return td_partition_parse(text, &out->kind, &out->parts);
}

static td_status find_layout(const char *name, request *out)
{
    char first[TD_SIDECAR_NAME];
    const char *colon = strchr(name, ':');
    int length = colon != NULL ? (int)(colon - name) : (int)strlen(name);
    snprintf(first, sizeof first, "%.*s", length, name);
    *out = (request){.layout = length < (int)sizeof first ? layout_named(first) : NULL,
                     .program = colon != NULL ? colon + 1 : NULL};
    if (out->layout == NULL)
        return td_fail(TD_USAGE, "there is no layout '%s' to prepare; there are: paths, stream, coop, multi", name);
    if (colon != NULL && out->layout->engine == NULL)
        return td_fail(TD_USAGE, "'%s': the layout %s is the same for all programs", name, first);
    return out->layout->cuts ? find_partition(name, out->program, out) : TD_OK;
}

/* The layout's name says what this setting does in a run. */
static td_status check_settings(const request *of, const td_settings *settings)
{
    if (!of->layout->cuts || !td_settings_given(settings, "multi.partition")) return TD_OK;
    return td_fail(TD_USAGE, "multi.partition has no effect: the layout 'multi:%s:%d' names the partition; leave the setting "
                   "out, and write multi:metis:%d or multi:random:%d", td_partition_name(of->kind), of->parts, of->parts,
                   of->parts);
}

static void fill(td_prepared *out, const td_sidecar_entry *entry)
{
    snprintf(out->layout, sizeof out->layout, "%s", entry->layout);
    snprintf(out->key, sizeof out->key, "%s", entry->key);
    snprintf(out->path, sizeof out->path, "%s", entry->path);
    out->bytes = entry->bytes;
    out->matches = entry->matches;
}

/* The path and the bytes of the layout that was written, or that was there. */
static td_status complete(td_prepared *out, const td_graph *graph, const char *name)
{
    td_sidecar_entry *entries = NULL;
    int count = 0;
    TD_CHECK(td_sidecar_list(graph->name, graph->build_id, &entries, &count));
    for (int i = count - 1; i >= 0; i--)
        if (strcmp(entries[i].layout, name) == 0 && (out->path[0] == 0 || strcmp(entries[i].path, out->path) == 0))
            fill(out, &entries[i]);
    td_free(entries);
    return TD_OK;
}

static td_status prepare(td_session *session, const td_graph *graph, const char *name, const char *const *settings,
                         td_prepared *out)
{
    td_status status = TD_OK;
    request of;
    td_settings taken = {0};
    TD_TRY(find_layout(name, &of));
    TD_TRY(take_settings(&taken, settings));
    TD_TRY(check_settings(&of, &taken));
    if (graph->build_id == 0 || graph->name == NULL)
        TD_TRY(td_fail(TD_INVALID, "layouts are prepared for .tg files; convert the graph first"));
    if (of.layout->engine != NULL) TD_TRY(prepare_programs(session, graph, &of, &taken, out));
    else TD_TRY(of.layout->prepare(session, graph, &taken, out));
    TD_TRY(complete(out, graph, of.layout->engine != NULL ? out->layout : name));
done:
    td_settings_clear(&taken);
    return status;
}

td_status td_graph_prepare(td_session *session, const td_graph *graph, const char *name, const char *const *settings,
                           td_prepared *out)
{
    td_prepared found = {0};
    TD_CHECK(td_need_graph(graph));
    TD_CHECK(td_need(name, "the layout"));
    TD_CHECK(td_session_enter(session));
    td_status status = prepare(session, graph, name, settings, &found);
    td_session_leave(session);
    if (status != TD_OK || out == NULL) return status;
    return td_struct_give(out, &found, sizeof found, "td_prepared");
}

td_status td_plan_prepare(td_session *session, const td_plan *plan, td_prepared *out)
{
    td_prepared found = {.made = true};
    td_prepared_file *file = NULL;
    TD_CHECK(td_need(plan, "the plan"));
    TD_CHECK(td_session_enter(session));
    bool own = plan->options.cache == &session->cache && plan->options.pool == session->pool;
    td_status status = own ? TD_NEW_ZEROED(&file, 1, "layout") : td_fail(TD_INVALID, "the plan is another session's");
    if (status == TD_OK) status = td_plan_make_layout(plan, file);
    if (status == TD_OK && !file->made) status = td_fail(TD_NOT_FOUND, "%s is there already", file->layout);
    if (status == TD_OK) {
        snprintf(found.path, sizeof found.path, "%s", file->path);
        found.make_seconds = file->make_seconds;
        found.write_seconds = file->write_seconds;
        status = complete(&found, plan->graph, file->layout);
    }
    td_free(file);
    td_session_leave(session);
    if (status != TD_OK || out == NULL) return status;
    return td_struct_give(out, &found, sizeof found, "td_prepared");
}

/* The build id of a packed file. */
static td_status build_of(const char *path, uint64_t *build_id)
{
    td_packed *packed = NULL;
    TD_CHECK(td_packed_open(&packed, path));
    *build_id = td_packed_describe(packed)->build_id;
    td_packed_close(packed);
    return TD_OK;
}

td_status td_prepared_find(const char *path, int index, td_prepared *out)
{
    td_sidecar_entry *entries = NULL;
    td_prepared found = {0};
    uint64_t build_id = 0;
    int count = 0;
    TD_CHECK(td_need(path, "the path"));
    TD_CHECK(td_need(out, "the place for the layout"));
    TD_CHECK(build_of(path, &build_id));
    TD_CHECK(td_sidecar_list(path, build_id, &entries, &count));
    td_status status = index >= 0 && index < count ? TD_OK : td_fail(TD_NOT_FOUND, "%s has %d prepared layouts", path, count);
    if (status == TD_OK) fill(&found, &entries[index]);
    td_free(entries);
    return status == TD_OK ? td_struct_give(out, &found, sizeof found, "td_prepared") : status;
}

/* Removes the layouts of an engine: those whose names begin with its own. */
static td_status remove_all(const char *path, uint64_t build_id, const char *engine, int *removed)
{
    td_status status = TD_OK;
    td_sidecar_entry *entries = NULL;
    size_t length = strlen(engine);
    int count = 0, one;
    TD_CHECK(td_sidecar_list(path, build_id, &entries, &count));
    for (int i = 0; i < count && status == TD_OK; i++) {
        td_sidecar_id id = {path, build_id, entries[i].layout};
        if (strncmp(entries[i].layout, engine, length) != 0 || entries[i].layout[length] != '-') continue;
        status = td_sidecar_remove(&id, &one);
        *removed += one;
    }
    td_free(entries);
    return status;
}

td_status td_prepared_remove(const char *path, const char *name)
{
    int removed = 0;
    td_sidecar_id id = {.graph = path, .layout = name};
    TD_CHECK(td_need(path, "the path"));
    TD_CHECK(td_need(name, "the layout"));
    TD_CHECK(build_of(path, &id.build_id));
    const layout *found = layout_named(name);
    if (found != NULL && found->engine != NULL) TD_CHECK(remove_all(path, id.build_id, name, &removed));
    else TD_CHECK(td_sidecar_remove(&id, &removed));
    return removed > 0 ? TD_OK : td_fail(TD_NOT_FOUND, "%s has no prepared layout '%s'", path, name);
}

/* Paths. */

static void describe(const td_paths *paths, bool prepared, td_paths_info *out)
{
    const td_path_stats *stats = &paths->stats;
    *out = (td_paths_info){
        .paths = stats->paths, .edges = stats->edges, .bound = stats->bound, .bound_one_pass = stats->bound_one_pass,
        .found = stats->found, .longest = stats->longest, .hot_paths = stats->hot_paths, .hot_edges = stats->hot_edges,
        .components = stats->components, .cyclic = stats->cyclic, .giant_paths = stats->giant_paths,
        .giant_vertices = stats->giant_vertices, .layers = stats->layers, .once_vertices = stats->once_vertices,
        .once_paths = stats->once_paths, .groups = paths->groups, .partitions = paths->partitions,
        .lane_balance = stats->lane_balance, .bytes = td_paths_bytes(paths),
        .peak = stats->peak, .paths_seconds = stats->seconds_paths, .sketch_seconds = stats->seconds_sketch,
        .store_seconds = stats->seconds_store, .prepared = prepared,
    };
}

static td_status inspect(td_session *session, const td_graph *graph, const char *const *settings, td_paths_info *out)
{
    td_status status = TD_OK;
    td_settings taken = {0};
    td_path_options options;
    td_paths paths = {0};
    bool prepared = false;
    uint64_t written = 0;
    TD_TRY(take_settings(&taken, settings));
    TD_TRY(path_options(&taken, &options));
    TD_TRY(td_paths_open(&paths, graph, &options, session->pool, &prepared));
    describe(&paths, prepared, out);
    TD_TRY(td_paths_replicas(&paths, session->pool, &out->replicas, &written));
done:
    td_paths_free(&paths);
    td_settings_clear(&taken);
    return status;
}

td_status td_graph_paths_info(td_session *session, const td_graph *graph, const char *const *settings, td_paths_info *out)
{
    td_paths_info found = {0};
    TD_CHECK(td_need_graph(graph));
    TD_CHECK(td_need(out, "the place for the paths' figures"));
    TD_CHECK(td_session_enter(session));
    td_status status = inspect(session, graph, settings, &found);
    td_session_leave(session);
    return status == TD_OK ? td_struct_give(out, &found, sizeof found, "td_paths_info") : status;
}
