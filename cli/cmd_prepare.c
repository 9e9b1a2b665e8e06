/* `tandem prepare`: makes layouts that engines use, beside the graph; lists and removes them. */
#include "command.h"
#include "graph_text.h"
#include "info_paths.h"
#include "layouts.h"
#include "output.h"
#include "report.h"
#include "standard_input.h"

#include "base/alloc.h"
#include "base/log.h"

#include <stdio.h>
#include <string.h>

typedef struct prepare_settings {
    td_common common;
    const char *what, *remove;
    bool list;
    td_arg_pairs set;
} prepare_settings;

#define OPTION(...) TD_OPTION(prepare_settings, __VA_ARGS__)

static const td_arg_option options[] = {
    OPTION("for", TEXT, what, "LAYOUT,...",
           "the layouts to make: paths, stream, coop; stream:sssp,wcc for runs of these programs; multi:metis:8 for 8 "
           "GPUs"),
    OPTION("set", PAIRS, set, "KEY=VALUE", "a setting of the engine for the layout: paths.merge=free; may be repeated"),
    OPTION("remove", TEXT, remove, "LAYOUT,...", "removes layouts; stream, coop, multi: all layouts of the engine", .excludes = "for"),
    OPTION("list", FLAG, list, NULL, "lists the prepared layouts", .excludes = "for"),
    {0},
};

typedef struct preparing {
    const char *path;
    const prepare_settings *settings;
    td_session *session;
    const char **set;
    td_layouts_made made;
} preparing;

/* Removes every layout of a list "a,b,c". */
static td_status remove_layouts(const char *path, const char *list)
{
    for (const char *at = list; at != NULL; at = *at == ',' ? at + 1 : NULL) {
        char name[TD_LAYOUT_WORD];
        size_t length = strcspn(at, ",");
        if (length == 0 || length >= sizeof name) return td_fail(TD_USAGE, "'%s' is no list of layouts", list);
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        TD_CHECK(td_prepared_remove(path, name));
        td_info("%s: layout %s removed", td_shown_path(path), name);
        at += length;
    }
    return TD_OK;
}

static td_status make_layouts(preparing *job, td_report *out)
{
    const prepare_settings *s = job->settings;
    TD_CHECK(td_layouts_check(s->what));
    TD_CHECK(td_common_session(&s->common, &job->session));
    TD_CHECK(td_settings_list(&s->set, &job->set));
    TD_CHECK(td_layouts_make(job->session, job->path, s->what, job->set, &job->made));
    if (s->common.json == NULL) return TD_OK;
    TD_CHECK(td_report_begin(out, s->common.json, "prepare", td_session_threads(job->session)));
    td_json_string(&out->json, "file", td_shown_path(job->path));
    td_layouts_json(&out->json, &job->made);
    td_json_u64(&out->json, "peak_bytes", td_memory_peak());
    return TD_OK;
}

static td_status list_layouts(preparing *job, td_report *out)
{
    td_prepared entry = {.size = sizeof entry};
    td_status status = td_prepared_find(job->path, 0, &entry);
    if (status != TD_OK && status != TD_NOT_FOUND) return status;
    if (td_report_leaves_stdout(&job->settings->common)) td_print_prepared(job->path);
    if (job->settings->common.json == NULL) return TD_OK;
    TD_CHECK(td_report_begin(out, job->settings->common.json, "prepare", 1));
    td_json_string(&out->json, "file", td_shown_path(job->path));
    td_prepared_json(&out->json, job->path);
    return TD_OK;
}

static td_status work(preparing *job, td_report *out)
{
    const prepare_settings *s = job->settings;
    if (s->what != NULL) return make_layouts(job, out);
    if (s->remove != NULL) TD_CHECK(remove_layouts(job->path, s->remove));
    if (s->remove == NULL && !s->list)
        return td_fail(TD_USAGE,
                       "prepare needs --for LAYOUT, --remove LAYOUT or --list; a layout is: paths, stream, coop, "
                       "multi:metis:8");
    return s->list || s->common.json != NULL ? list_layouts(job, out) : TD_OK;
}

static td_status run_prepare(const td_args *args, void *settings)
{
    preparing job = {.path = args->words[0], .settings = settings};
    td_report out = {0};
    TD_CHECK(td_report_check_target(&job.settings->common, job.path));
    td_status status = work(&job, &out);
    td_layouts_free(&job.made);
    td_free(job.set);
    td_session_destroy(job.session);
    return td_report_end(&out, status);
}

const td_command td_cmd_prepare = {
    .name = "prepare",
    .summary = "store what engines make of a graph in files beside it",
    .positional = "FILE.tg",
    .least = 1,
    .most = 1,
    .options = options,
    .settings_bytes = sizeof(prepare_settings),
    .run = run_prepare,
    .details = "Some engines reorder, cut or compress a graph before they process it. This command stores the result, a "
               "layout, in a file beside the graph (g.tg.paths, g.tg.stream-out-light-packed), or in the user's cache "
               "folder if the graph's folder is not writable; runs then read the layout instead. The .tg is not changed. "
               "A layout of another build of the graph is not used; this command makes it anew. "
               "docs/guide/prepared.md lists the layouts.",
    .examples = "tandem prepare web.tg --for paths\n"
                "tandem prepare web.tg --for stream:sssp,pagerank,coop:bfs\n"
                "tandem prepare web.tg --for paths --set paths.merge=free\n"
                "tandem prepare web.tg --for multi:metis:8\n"
                "tandem prepare web.tg --list\n"
                "tandem prepare web.tg --remove paths",
};
