/* `tandem report`: a page about one or several runs, from their JSON reports. */
#include "output.h"
#include "page_file.h"

#include <string.h>

typedef struct report_settings {
    td_common common;
    const char *output;
} report_settings;

#define OPTION(...) TD_OPTION(report_settings, __VA_ARGS__)

static const td_arg_option options[] = {
    OPTION("output", TEXT, output, "FILE", "the page (HTML); -: standard output", .letter = 'o'),
    {0},
};

static td_status check_places(const report_settings *s, const td_args *args)
{
    if (s->output == NULL) return td_fail(TD_USAGE, "-o FILE is missing: where the page goes");
    if (s->common.json != NULL) return td_fail(TD_USAGE, "--json: this command reads reports, and writes a page");
    if (strcmp(s->output, "-") == 0) return TD_OK;
    for (int i = 0; i < args->count; i++) TD_CHECK(td_output_spares(args->words[i], "--output", s->output));
    return td_place_check(s->output);
}

static td_status run_report(const td_args *args, void *settings)
{
    const report_settings *s = settings;
    TD_CHECK(check_places(s, args));
    return td_page_write_files(args->words, args->count, s->output);
}

const td_command td_cmd_report = {
    .name = "report",
    .summary = "make a page (HTML) about runs from their JSON reports",
    .positional = "RUN.json [OTHER.json ...]",
    .least = 1,
    .most = TD_PAGE_FILES,
    .options = options,
    .settings_bytes = sizeof(report_settings),
    .run = run_report,
    .details = "The reports are those of 'tandem run --json FILE'; of several runs, each has a column, on common "
               "scales. The page is one file that loads nothing.",
    .examples = "tandem run bfs g.tg --source 17 --json run.json\n"
                "tandem report run.json -o run.html\n"
                "tandem run bfs g.tg --source 17 --engine hybrid --json other.json\n"
                "tandem report run.json other.json -o both.html",
};
