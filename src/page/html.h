/* Writing HTML: texts escaped, figures with their exact value in data-value. */
#ifndef TD_PAGE_HTML_H
#define TD_PAGE_HTML_H

#include "page/group.h"

#include <stdio.h>

void td_html_text(FILE *out, const char *text);    /* escaped, for elements and for attributes in quotes */
void td_html_number(FILE *out, double number);     /* the fewest digits that read back as the same number */

/* Figures as people read them. Return `text`. */
enum { TD_FIGURE_TEXT = 48 };
typedef char *(*td_figure_fn)(char text[TD_FIGURE_TEXT], double value);
char *td_figure_count(char text[TD_FIGURE_TEXT], double value);   /* 12,345 */
char *td_figure_short(char text[TD_FIGURE_TEXT], double value);   /* 1.23 M */
char *td_figure_rate(char text[TD_FIGURE_TEXT], double value);    /* the nearest count */
char *td_figure_bytes(char text[TD_FIGURE_TEXT], double value);   /* 1.5 GiB */
char *td_figure_seconds(char text[TD_FIGURE_TEXT], double value); /* 12.3 ms */
char *td_figure_real(char text[TD_FIGURE_TEXT], double value);    /* 0.0123 */

/* A cell of a table: its figure, and the exact one in data-value. */
void td_html_cell(FILE *out, const char *key, td_figure_fn figure, double value);

/* Charts of one run, on the scales of the page. */
typedef struct td_page_scales {
    double frontier, edges, moved, seconds;
} td_page_scales;
void td_page_charts(FILE *out, const td_page_run *run, const td_page_groups *groups, const td_page_scales *scales,
                    const td_page_directions *directions);
void td_page_legend(FILE *out, const td_page_directions *directions);

/* What all runs have in common, above the column of each. */
void td_page_summary(FILE *out, const td_page_run *runs, int count);

extern const char td_page_style[], td_page_script[], td_page_script_digest[];

#endif
