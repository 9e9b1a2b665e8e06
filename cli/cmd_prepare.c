/* `tandem prepare`: makes layouts that engines use, beside the graph; lists and removes them. */
#include "command.h"
#include "graph_text.h"
#include "info_paths.h"
#include "output.h"
#include "report.h"
#include "standard_input.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/size.h"

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
    OPTION("for", TEXT, what, "LAYOUT,...", "the layouts to make: paths"),
    OPTION("set", PAIRS, set, "KEY=VALUE", "a setting of the layout, as the engine has it: paths.merge=free; may be repeated"),
    OPTION("remove", TEXT, remove, "LAYOUT,...", "removes layouts", .excludes = "for"),
    OPTION("list", FLAG, list, NULL, "lists what is prepared", .excludes = "for"),
    {0},
};

enum { MOST = 8 };

typedef struct preparing {
    const char *path;
    const prepare_settings *settings;
    td_session *session;
    td_graph *graph;
    const char **set;
    td_prepared *made[MOST];
    int count;
} preparing;

/* Calls `each` for every name of a list "a,b,c". */
static td_status each_name(const char *list, td_status (*each)(preparing *job, const char *name), preparing *job)
{
    for (const char *at = list; at != NULL; at = *at == ',' ? at + 1 : NULL) {
        char name[32];
        size_t length = strcspn(at, ",");
        if (length == 0 || length >= sizeof name) return td_fail(TD_USAGE, "'%s' is no list of layouts; there is: paths", list);
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        TD_CHECK(each(job, name));
        at += length;
    }
    return TD_OK;
}

static td_status check_one(preparing *job, const char *name)
{
    (void)job;
    if (td_layout_summary(name) == NULL) return td_fail(TD_USAGE, "there is no layout '%s' to prepare; there is: paths", name);
    return TD_OK;
}

static td_status remove_one(preparing *job, const char *name)
{
    TD_CHECK(td_prepared_remove(job->path, name));
    td_info("%s: layout %s removed", td_shown_path(job->path), name);
    return TD_OK;
}

static td_status make_one(preparing *job, const char *name)
{
    char bytes[TD_NUMBER_BYTES];
    if (job->count == MOST) return td_fail(TD_USAGE, "--for names more than %d layouts", MOST);
    TD_CHECK(TD_NEW_ZEROED(&job->made[job->count], 1, "layout"));
    td_prepared *made = job->made[job->count++];
    made->size = sizeof *made;
    TD_CHECK(td_graph_prepare(job->session, job->graph, name, job->set, made));
    if (made->made)
        td_info("%s: %s, made in %.3f s, written in %.3f s", td_shown_path(made->path), td_format_size(bytes, made->bytes),
                made->make_seconds, made->write_seconds);
    else
        td_info("%s: %s, prepared already", td_shown_path(made->path), td_format_size(bytes, made->bytes));
    return TD_OK;
}

static td_status make_layouts(preparing *job, td_report *out)
{
    const prepare_settings *s = job->settings;
    td_graph_options as_it_is = {.size = sizeof as_it_is, .edges = TD_PLACE_MEMORY};
    TD_CHECK(each_name(s->what, check_one, job));
    TD_CHECK(td_common_session(&s->common, &job->session));
    TD_CHECK(td_settings_list(&s->set, &job->set));
    TD_CHECK(td_graph_open(job->session, job->path, &as_it_is, &job->graph));
    TD_CHECK(each_name(s->what, make_one, job));
    if (s->common.json == NULL) return TD_OK;
    TD_CHECK(td_report_begin(out, s->common.json, "prepare", td_session_threads(job->session)));
    td_json_string(&out->json, "file", td_shown_path(job->path));
    td_json_array(&out->json, "prepared");
    for (int i = 0; i < job->count; i++) {
        td_json_row(&out->json, NULL);
        td_prepared_entry_json(&out->json, job->made[i]);
        td_json_bool(&out->json, "made", job->made[i]->made);
        td_json_real(&out->json, "make_seconds", job->made[i]->make_seconds);
        td_json_real(&out->json, "write_seconds", job->made[i]->write_seconds);
        td_json_end_object(&out->json);
    }
    td_json_end_array(&out->json);
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
    if (s->remove != NULL) TD_CHECK(each_name(s->remove, remove_one, job));
    if (s->remove == NULL && !s->list)
        return td_fail(TD_USAGE, "prepare needs --for LAYOUT, --remove LAYOUT or --list; a layout is: paths");
    return s->list || s->common.json != NULL ? list_layouts(job, out) : TD_OK;
}

static td_status run_prepare(const td_args *args, void *settings)
{
    preparing job = {.path = args->words[0], .settings = settings};
    td_report out = {0};
    TD_CHECK(td_report_check_target(&job.settings->common, job.path));
    td_status status = work(&job, &out);
    for (int i = 0; i < job.count; i++) td_free(job.made[i]);
    td_free(job.set);
    td_graph_destroy(job.graph);
    td_session_destroy(job.session);
    return td_report_end(&out, status);
}

const td_command td_cmd_prepare = {
    .name = "prepare",
    .summary = "make what engines need of a graph once, beside the file",
    .positional = "FILE.tg",
    .least = 1,
    .most = 1,
    .options = options,
    .settings_bytes = sizeof(prepare_settings),
    .run = run_prepare,
    .details = "A layout is what an engine makes of a graph before it runs. Prepared, it lies in a file beside the graph "
               "(g.tg.paths), or in the user's cache folder where that folder cannot be written, and runs read it instead. "
               "The .tg is not changed. A layout of another build of the graph is not used, and made anew by this command.",
    .examples = "tandem prepare web.tg --for paths\n"
                "tandem prepare web.tg --for paths --set paths.merge=free\n"
                "tandem prepare web.tg --list\n"
                "tandem prepare web.tg --remove paths",
};
