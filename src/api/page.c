/* A page about runs. */
#include "api/session.h"

#include "base/alloc.h"
#include "page/page.h"

#include <string.h>

static td_status take(td_page_source *source, const td_page_report *given)
{
    td_page_report report = {0};
    TD_CHECK(td_need(given, "the reports"));
    TD_CHECK(td_struct_take(&report, sizeof report, given, "td_page_report"));
    TD_CHECK(td_need(report.json, "td_page_report.json"));
    *source = (td_page_source){.name = report.name != NULL ? report.name : "report", .text = report.json,
                               .bytes = report.bytes > 0 ? report.bytes : strlen(report.json)};
    return TD_OK;
}

td_status td_page_html(const td_page_report *const *reports, int count, char **html)
{
    td_page_source sources[TD_PAGE_RUNS];
    TD_CHECK(td_need(reports, "the reports"));
    TD_CHECK(td_need(html, "the place for the page"));
    for (int i = 0; i < count && i < TD_PAGE_RUNS; i++) TD_CHECK(take(&sources[i], reports[i]));
    return td_page_make(sources, count, html);
}
