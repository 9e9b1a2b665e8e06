/* The charts of one run. A chart is an SVG of 1000 x 100 units that is stretched to its place; words are outside of it,
 * so that they keep their size on a phone. Columns of one colour are one path. Every column chart is drawn twice, on a
 * linear and on a logarithmic scale; the page shows one of them. */
#include "page/html.h"

#include <inttypes.h>
#include <math.h>

typedef double (*value_fn)(const td_page_group *group);

typedef struct chart {
    const char *name, *title, *unit; /* data-chart; heading; what is counted, for the description */
    value_fn value, mean, inside;    /* mean of a group, or NULL; a part of the value, drawn over it, or NULL */
    td_figure_fn figure;
    double most;                     /* of all runs of the page */
} chart;

static double frontier(const td_page_group *group) { return group->frontier; }
static double frontier_mean(const td_page_group *group) { return group->frontier_mean; }
static double edges_most(const td_page_group *group) { return group->edges_most; }
static double edges_mean(const td_page_group *group) { return group->edges_mean; }
static double moved(const td_page_group *group) { return group->moved; }
static double useful(const td_page_group *group) { return fmin(group->useful, group->moved); }

/* Height above the base line, 0 to 100. */
static double height(double value, double most, bool logarithmic)
{
    if (most <= 0 || value <= 0) return 0;
    double share = logarithmic ? log1p(value) / log1p(most) : value / most;
    return fmin(share, 1) * 100;
}

static void put_column(FILE *out, double left, double right, double top, double bottom)
{
    fprintf(out, "M%.4g %.4gH%.4gV%.4gH%.4gZ", left, bottom, right, top, left);
}

static void put_columns(FILE *out, const td_page_groups *groups, const chart *of, int direction, value_fn value,
                        bool logarithmic)
{
    double width = 1000.0 / groups->count, gap = groups->count > 100 ? 0 : width * 0.12;
    for (uint32_t i = 0; i < groups->count; i++) {
        const td_page_group *group = &groups->of[i];
        double tall = height(value(group), of->most, logarithmic);
        if ((direction >= 0 && group->direction != direction) || tall <= 0) continue;
        put_column(out, i * width + gap / 2, (i + 1) * width - gap / 2, 100 - tall, 100);
    }
}

static void put_mean(FILE *out, const td_page_groups *groups, const chart *of, bool logarithmic)
{
    double width = 1000.0 / groups->count;
    fputs("<path class=\"mean\" d=\"", out);
    for (uint32_t i = 0; i < groups->count; i++)
        fprintf(out, "%c%.4g %.4g", i == 0 ? 'M' : 'L', (i + 0.5) * width,
                100 - height(of->mean(&groups->of[i]), of->most, logarithmic));
    fputs("\"/>", out);
}

static bool occurs(const td_page_groups *groups, int direction)
{
    for (uint32_t i = 0; i < groups->count; i++)
        if (groups->of[i].direction == direction) return true;
    return false;
}

static void put_scale(FILE *out, const td_page_groups *groups, const chart *of, int directions, bool logarithmic)
{
    fprintf(out, "<g class=\"%s\">", logarithmic ? "log" : "lin");
    for (int d = 0; d < directions; d++) {
        if (!occurs(groups, d)) continue;
        fprintf(out, "<path class=\"d%d\" d=\"", d);
        put_columns(out, groups, of, d, of->value, logarithmic);
        fputs("\"/>", out);
    }
    if (of->inside != NULL) {
        fputs("<path class=\"inside\" d=\"", out);
        put_columns(out, groups, of, -1, of->inside, logarithmic);
        fputs("\"/>", out);
    }
    if (of->mean != NULL && groups->size > 1) put_mean(out, groups, of, logarithmic);
    fputs("</g>", out);
}

static double largest(const td_page_groups *groups, value_fn value, uint32_t *at)
{
    double most = 0;
    *at = 0;
    for (uint32_t i = 0; i < groups->count; i++)
        if (value(&groups->of[i]) > most) most = value(&groups->of[i]), *at = i;
    return most;
}

/* The words of a screen reader. */
static void put_description(FILE *out, const td_page_run *run, const td_page_groups *groups, const chart *of)
{
    uint32_t at;
    char text[TD_FIGURE_TEXT];
    double most = largest(groups, of->value, &at);
    fprintf(out, "%s: %" PRIu32 " iterations in %" PRIu32 " columns, at most %s %s", of->title, run->row_count,
            groups->count, of->figure(text, most), of->unit);
    fprintf(out, " at iteration %s; the table below has all columns",
            td_figure_count(text, run->rows[groups->of[at].first].number));
}

static void put_axis(FILE *out, const td_page_run *run)
{
    char text[TD_FIGURE_TEXT];
    fprintf(out, "<div class=\"axis\"><span>iteration %s</span>", td_figure_count(text, run->rows[0].number));
    fprintf(out, "<span>%s</span></div>", td_figure_count(text, run->rows[run->row_count - 1].number));
}

/* `most` is the figure at the top edge, the same for all runs; NULL: none. */
static void begin_figure(FILE *out, const char *name, const char *title, const char *most)
{
    fprintf(out, "<figure data-chart=\"%s\"><figcaption>%s", name, title);
    if (most != NULL) fprintf(out, " <span class=\"most\">top: %s</span>", most);
    fputs("</figcaption><div class=\"plot\">", out);
}

static void put_chart(FILE *out, const td_page_run *run, const td_page_groups *groups, const chart *of, int directions)
{
    char text[TD_FIGURE_TEXT];
    begin_figure(out, of->name, of->title, of->figure(text, of->most));
    fputs("<svg viewBox=\"0 0 1000 100\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"", out);
    put_description(out, run, groups, of);
    fputs("\"><path class=\"grid\" d=\"M0 0H1000M0 50H1000M0 100H1000\"/>", out);
    put_scale(out, groups, of, directions, false);
    put_scale(out, groups, of, directions, true);
    fputs("<path class=\"cursor\" d=\"M-9 0V100\"/></svg>", out);
    fputs("</div>", out);
    put_axis(out, run);
    fputs("</figure>\n", out);
}

/* The timeline: a band per device, divided by what it did. */

static const char *const state_names[TD_PAGE_STATES] = {"computing", "computing and copying", "copying", "idle",
                                                        "not divided"};

enum { BAND = 100 }; /* units of a band's height */

static double place(double seconds, double all) { return all > 0 ? fmin(seconds / all, 1) * 1000 : 0; }

static void put_state(FILE *out, const td_page_run *run, const td_page_groups *groups, int device, int state,
                      double all)
{
    fprintf(out, "<path class=\"s%d\" d=\"", state);
    for (uint32_t i = 0; i < groups->count; i++) {
        const td_page_group *group = &groups->of[i];
        double seconds[TD_PAGE_STATES] = {0}, below = 0, sum = 0;
        td_page_add_states(run, device, group, seconds);
        for (int s = 0; s < TD_PAGE_STATES; s++) sum += seconds[s];
        if (seconds[state] <= 0 || sum <= 0) continue;
        for (int s = 0; s < state; s++) below += seconds[s];
        put_column(out, place(group->begin, all), place(group->end, all), BAND * (1 - (below + seconds[state]) / sum),
                   BAND * (1 - below / sum));
    }
    fputs("\"/>", out);
}

static void sum_states(const td_page_run *run, const td_page_groups *groups, int device,
                       double seconds[TD_PAGE_STATES])
{
    for (uint32_t i = 0; i < groups->count; i++) td_page_add_states(run, device, &groups->of[i], seconds);
}

static void put_band(FILE *out, const td_page_run *run, const td_page_groups *groups, int device, double all)
{
    char text[TD_FIGURE_TEXT];
    double seconds[TD_PAGE_STATES] = {0};
    sum_states(run, groups, device, seconds);
    fputs("<div class=\"band\"><span class=\"device\">", out);
    td_html_text(out, run->devices[device].name);
    fputs("</span><svg viewBox=\"0 0 1000 100\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"", out);
    td_html_text(out, run->devices[device].name);
    for (int s = 0; s < TD_PAGE_STATES; s++)
        if (seconds[s] > 0) fprintf(out, ", %s %s", state_names[s], td_figure_seconds(text, seconds[s]));
    fputs("\">", out);
    for (int s = 0; s < TD_PAGE_STATES; s++)
        if (seconds[s] > 0) put_state(out, run, groups, device, s, all);
    fputs("<path class=\"cursor\" d=\"M-9 0V100\"/></svg></div>", out);
}

/* Of all devices of a run; states that never occur have no column. */
typedef struct states {
    double seconds[TD_PAGE_STATES];
} states;

static states all_states(const td_page_run *run, const td_page_groups *groups)
{
    states all = {{0}};
    for (int d = 0; d < run->device_count; d++) sum_states(run, groups, d, all.seconds);
    return all;
}

static void put_state_row(FILE *out, const td_page_run *run, const td_page_groups *groups, int device,
                          const states *all)
{
    static const char *const keys[TD_PAGE_STATES] = {"compute", "both", "copy", "idle", "undivided"};
    double seconds[TD_PAGE_STATES] = {0};
    sum_states(run, groups, device, seconds);
    fputs("<tr data-device=\"", out);
    td_html_text(out, run->devices[device].name);
    fputs("\"><th scope=\"row\">", out);
    td_html_text(out, run->devices[device].name);
    fputs("</th>", out);
    for (int s = 0; s < TD_PAGE_STATES; s++)
        if (all->seconds[s] > 0) td_html_cell(out, keys[s], td_figure_seconds, seconds[s]);
    fputs("</tr>", out);
}

static void put_state_table(FILE *out, const td_page_run *run, const td_page_groups *groups)
{
    fputs("<div class=\"wide\"><table class=\"states\"><caption>Seconds of the iterations, by device</caption>"
          "<thead><tr><th scope=\"col\">device</th>", out);
    states all = all_states(run, groups);
    for (int s = 0; s < TD_PAGE_STATES; s++)
        if (all.seconds[s] > 0)
            fprintf(out, "<th scope=\"col\"><span class=\"key s%d\"></span>%s</th>", s, state_names[s]);
    fputs("</tr></thead><tbody>", out);
    for (int d = 0; d < run->device_count; d++) put_state_row(out, run, groups, d, &all);
    fputs("</tbody></table></div>", out);
}

static void put_timeline(FILE *out, const td_page_run *run, const td_page_groups *groups, double all)
{
    char text[TD_FIGURE_TEXT];
    begin_figure(out, "timeline", "Where the time went, by device", NULL);
    for (int d = 0; d < run->device_count; d++) put_band(out, run, groups, d, all);
    fprintf(out, "</div><div class=\"axis\"><span>0</span><span>%s</span></div></figure>\n",
            td_figure_seconds(text, all));
    if (run->emulated)
        fputs("<p class=\"note\">A GPU of this run is emulated: lengths are seconds of the emulator, divided in the "
              "proportions of its virtual clock, and idle time is known only where GPUs wait for each other.</p>", out);
    put_state_table(out, run, groups);
}

/* All of them. */

static void note_groups(FILE *out, const td_page_run *run, const td_page_groups *groups)
{
    char all[TD_FIGURE_TEXT], each[TD_FIGURE_TEXT], recorded[TD_FIGURE_TEXT];
    if (run->row_count < run->iterations)
        fprintf(out, "<p class=\"note\">%s of %s iterations were recorded.</p>",
                td_figure_count(recorded, run->row_count), td_figure_count(all, run->iterations));
    if (groups->size == 1) return;
    fprintf(out, "<p class=\"note groups\">%s iterations, a column for every %s: its height is their maximum (of bytes "
            "their sum), the line their mean, the colour the direction of most of their edges. Sums are exact.</p>",
            td_figure_count(recorded, run->row_count), td_figure_count(each, groups->size));
}

void td_page_charts(FILE *out, const td_page_run *run, const td_page_groups *groups, const td_page_scales *scales,
                    const td_page_directions *directions)
{
    const chart charts[] = {
        {"frontier", "Active vertices (the frontier)", "vertices", frontier, frontier_mean, NULL, td_figure_count,
         scales->frontier},
        {"edges", "Edges processed", "edges", edges_most, edges_mean, NULL, td_figure_count, scales->edges},
        {"moved", run->knows_useful ? "Bytes moved, the useful part shaded" : "Bytes moved", "bytes", moved, NULL,
         run->knows_useful ? useful : NULL, td_figure_bytes, scales->moved},
    };
    if (groups->count == 0) {
        fputs("<p class=\"note\">No iteration was recorded.</p>", out);
        return;
    }
    note_groups(out, run, groups);
    fputs("<div class=\"grid\">\n", out);
    for (int i = 0; i < 3; i++)
        if (i < 2 || scales->moved > 0) put_chart(out, run, groups, &charts[i], directions->count);
    fputs("</div>\n", out);
    if (run->device_count > 0) put_timeline(out, run, groups, scales->seconds);
}

void td_page_legend(FILE *out, const td_page_directions *directions)
{
    fputs("<ul class=\"legend\" aria-label=\"colours of directions\">", out);
    for (int i = 0; i < directions->count; i++) {
        fprintf(out, "<li><span class=\"key d%d\"></span>", i);
        td_html_text(out, directions->names[i]);
        if (i == TD_PAGE_DIRECTIONS - 1) fputs(" and others", out);
        fputs("</li>", out);
    }
    fputs("</ul>\n", out);
}
