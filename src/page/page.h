/* A page about runs, from their JSON reports: one HTML file with inline SVG that loads nothing.
 *
 *     texts --model.c--> runs (checked) --group.c--> at most some hundred columns per run --charts.c, summary.c,
 *     page.c--> HTML
 *
 * A report may come from anywhere, so that every text is escaped, and a page may run one script alone, whose digest it
 * names. */
#ifndef TD_PAGE_PAGE_H
#define TD_PAGE_PAGE_H

#include "base/status.h"

enum { TD_PAGE_RUNS = 16 };

typedef struct td_page_source {
    const char *name; /* the file, for the heading and for messages */
    const char *text;
    uint64_t bytes;
} td_page_source;

/* *html is of malloc. */
td_status td_page_make(const td_page_source *sources, int count, char **html);

#endif
