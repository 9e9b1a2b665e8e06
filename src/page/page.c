/* The page: a head with everything it needs, a table that compares the runs, and a column per run. */
#include "page/page.h"

#include "base/alloc.h"
#include "page/html.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 400, ALL_COLUMNS = 1600 }; /* of a run, and of a page: which bounds its size */

typedef struct page {
    FILE *out;
    td_page_run run[TD_PAGE_RUNS];
    td_page_groups groups[TD_PAGE_RUNS];
    td_page_directions directions;
    td_page_scales scales;
    int count;
} page;

static void put(const page *self, const char *text) { fputs(text, self->out); }

static void put_text(const page *self, const char *text) { td_html_text(self->out, text != NULL ? text : "–"); }

/* The head. */

static void put_title(const page *self)
{
    const td_page_run *run = self->run;
    put_text(self, run->program);
    if (self->count > 1) fprintf(self->out, " and others: %d runs", self->count);
    else {
        put(self, " on ");
        put_text(self, run->input != NULL ? run->input : run->engine);
    }
}

/* Nothing may be loaded, and no script but the one with this digest may run. */
static void put_head(const page *self)
{
    put(self, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
              "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
              "<meta name=\"color-scheme\" content=\"light dark\">\n"
              "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
              "script-src 'sha256-");
    put(self, td_page_script_digest);
    put(self, "'\">\n<title>Tandem: ");
    put_title(self);
    put(self, "</title>\n<style>");
    put(self, td_page_style);
    put(self, "</style>\n</head>\n<body>\n<header><h1><span>Tandem</span> ");
    put_title(self);
    put(self, "</h1><button id=\"scale\" type=\"button\" aria-pressed=\"false\">Logarithmic scale</button></header>\n"
              "<main>\n");
}

/* A run's plan, memory and devices. */

static void put_plan(const page *self, const td_page_run *run)
{
    put(self, "<section class=\"plan\"><h3>Plan</h3><p>Engine <b>");
    put_text(self, run->planned_engine != NULL ? run->planned_engine : run->engine);
    put(self, "</b>");
    if (run->planned_engine != NULL && strcmp(run->planned_engine, run->engine) != 0) {
        put(self, ", which had <b>");
        put_text(self, run->engine);
        put(self, "</b> run it");
    }
    if (run->why != NULL) {
        put(self, ": <span data-key=\"why\">");
        put_text(self, run->why);
        put(self, "</span>");
    }
    put(self, run->converged ? ". The run ended by itself." : ". The run stopped at its limit of iterations.");
    put(self, run->fits ? "" : " <strong>The plan did not fit the memory.</strong>");
    put(self, "</p></section>\n");
}

static void put_bar(const page *self, double taken, double promised, double most)
{
    double scale = most > 0 ? 100 / most : 0;
    fprintf(self->out, "<td class=\"bars\" aria-hidden=\"true\"><i class=\"promised\" style=\"width:%.4g%%\"></i>"
            "<i class=\"taken\" style=\"width:%.4g%%\"></i></td>", promised * scale, taken * scale);
}

/* A tier: promised by the plan for the graph and for the run, taken at the peak, and what there was. */
static void put_tier(const page *self, const char *name, double graph, double program, double taken, double free_bytes)
{
    double promised = graph + program;
    put(self, "<tr data-tier=\"");
    put_text(self, name);
    put(self, "\"><th scope=\"row\">");
    put_text(self, name);
    put(self, "</th>");
    td_html_cell(self->out, "promised", td_figure_bytes, promised);
    if (taken > 0) td_html_cell(self->out, "taken", td_figure_bytes, taken);
    else put(self, "<td>not measured</td>");
    td_html_cell(self->out, "free", td_figure_bytes, free_bytes);
    put_bar(self, taken, promised, fmax(promised, taken));
    put(self, "</tr>\n");
}

static const td_page_device *host_of(const td_page_run *run)
{
    for (int i = 0; i < run->device_count; i++)
        if (strcmp(run->devices[i].name, "cpu") == 0) return &run->devices[i];
    return NULL;
}

static void put_memory(const page *self, const td_page_run *run)
{
    const td_page_device *host = host_of(run);
    put(self, "<section class=\"memory\"><h3>Memory</h3><div class=\"wide\"><table><caption>"
              "<span class=\"key promised\"></span>promised by the plan and <span class=\"key taken\"></span>taken at "
              "the peak</caption><thead><tr><th scope=\"col\">tier</th><th scope=\"col\">promised</th>"
              "<th scope=\"col\">taken</th><th scope=\"col\">free before</th><th></th></tr></thead><tbody>\n");
    if (host != NULL) put_tier(self, "host", host->graph, host->program, host->peak, host->free);
    else put_tier(self, "host", run->graph_bytes, run->program_bytes, run->run_peak, run->free_bytes);
    for (int i = 0; i < run->device_count; i++) {
        const td_page_device *device = &run->devices[i];
        if (device != host) put_tier(self, device->name, device->graph, device->program, device->peak, device->free);
    }
    if (run->disk_bytes > 0) {
        put(self, "<tr data-tier=\"disk\"><th scope=\"row\">disk</th><td>–</td>");
        td_html_cell(self->out, "read", td_figure_bytes, run->disk_bytes);
        put(self, "<td colspan=\"2\">read, in all</td></tr>\n");
    }
    put(self, "</tbody></table></div></section>\n");
}

/* A run that does not measure how long a device was at work does not state a time of 0. */
static char *busy_figure(char text[TD_FIGURE_TEXT], double seconds)
{
    if (seconds > 0) return td_figure_seconds(text, seconds);
    snprintf(text, TD_FIGURE_TEXT, "not measured");
    return text;
}

static double most_edges(const td_page_run *run)
{
    double most = 0;
    for (int i = 0; i < run->device_count; i++) most = fmax(most, run->devices[i].edges);
    return most;
}

/* How evenly several devices divided the edges. */
static void put_share(const page *self, const td_page_run *run, const td_page_device *device)
{
    double most = most_edges(run);
    if (run->device_count < 2 || most <= 0) return;
    fprintf(self->out, "<td class=\"bars\" aria-hidden=\"true\"><i class=\"promised\" style=\"width:%.4g%%\"></i></td>",
            device->edges / most * 100);
}

static void put_devices(const page *self, const td_page_run *run)
{
    if (run->device_count == 0) return;
    put(self, "<section class=\"devices\"><h3>Devices</h3><div class=\"wide\"><table><caption>What each device did"
              "</caption><thead><tr><th scope=\"col\">device</th><th scope=\"col\">busy</th>"
              "<th scope=\"col\">edges</th><th scope=\"col\">bytes in</th><th scope=\"col\">bytes out</th>"
              "<th scope=\"col\">launches</th>");
    if (run->device_count > 1 && most_edges(run) > 0) put(self, "<th scope=\"col\">share</th>");
    put(self, "</tr></thead><tbody>\n");
    for (int i = 0; i < run->device_count; i++) {
        const td_page_device *device = &run->devices[i];
        put(self, "<tr data-device=\"");
        put_text(self, device->name);
        put(self, "\"><th scope=\"row\">");
        put_text(self, device->name);
        put(self, "</th>");
        td_html_cell(self->out, "busy_seconds", device->edges > 0 ? busy_figure : td_figure_seconds, device->busy);
        td_html_cell(self->out, "edges", td_figure_count, device->edges);
        td_html_cell(self->out, "bytes_in", td_figure_bytes, device->in);
        td_html_cell(self->out, "bytes_out", td_figure_bytes, device->out);
        td_html_cell(self->out, "launches", td_figure_count, device->launches);
        put_share(self, run, device);
        put(self, "</tr>\n");
    }
    put(self, "</tbody></table></div></section>\n");
}

/* The table of columns, and the choice of one. */

static void put_numbers(const page *self, const td_page_run *run, const td_page_group *group)
{
    char text[TD_FIGURE_TEXT];
    double first = run->rows[group->first].number;
    fprintf(self->out, "<th scope=\"row\">%s", td_figure_count(text, first));
    if (group->count > 1)
        fprintf(self->out, "–%s", td_figure_count(text, run->rows[group->first + group->count - 1].number));
    put(self, "</th><td>");
    put_text(self, self->directions.names[group->direction]);
    put(self, "</td>");
}

static void put_group(const page *self, const td_page_run *run, const td_page_group *group)
{
    double all = self->scales.seconds;
    fprintf(self->out, "<tr data-from=\"%.4g\" data-to=\"%.4g\">", all > 0 ? group->begin / all * 1000 : 0,
            all > 0 ? group->end / all * 1000 : 0);
    put_numbers(self, run, group);
    td_html_cell(self->out, "active_vertices", td_figure_count, group->frontier);
    td_html_cell(self->out, "edges", td_figure_count, group->edges);
    td_html_cell(self->out, "seconds", td_figure_seconds, group->seconds);
    if (self->scales.moved > 0) td_html_cell(self->out, "moved", td_figure_bytes, group->moved);
    if (run->knows_useful) td_html_cell(self->out, "useful", td_figure_bytes, group->useful);
    put(self, "</tr>\n");
}

/* The choice of a column, above the charts that it moves through. */
static void put_choice(const page *self, int index)
{
    const td_page_groups *groups = &self->groups[index];
    if (groups->count == 0) return;
    fprintf(self->out, "<p class=\"pick\"><label>%s <input type=\"range\" min=\"0\" max=\"%" PRIu32 "\" "
            "value=\"0\"></label> <output aria-live=\"polite\"></output></p>\n",
            groups->size > 1 ? "Iterations" : "Iteration", groups->count - 1);
}

static void put_columns(const page *self, int index)
{
    const td_page_run *run = &self->run[index];
    const td_page_groups *groups = &self->groups[index];
    if (groups->count == 0) return;
    fprintf(self->out, "<details class=\"columns\"><summary>All %" PRIu32
            " columns as a table</summary><div class=\"wide\"><table class=\"rows\"><caption>Figures of every column"
            "</caption><thead><tr>"
            "<th scope=\"col\">%s</th><th scope=\"col\">direction</th><th scope=\"col\">%s</th>"
            "<th scope=\"col\">edges</th><th scope=\"col\">time</th>", groups->count,
            groups->size > 1 ? "iterations" : "iteration",
            groups->size > 1 ? "most active vertices" : "active vertices");
    if (self->scales.moved > 0) put(self, "<th scope=\"col\">moved</th>");
    if (run->knows_useful) put(self, "<th scope=\"col\">useful</th>");
    put(self, "</tr></thead><tbody>\n");
    for (uint32_t i = 0; i < groups->count; i++) put_group(self, run, &groups->of[i]);
    put(self, "</tbody></table></div></details>\n");
}

static void put_sums(const page *self, const td_page_run *run, const td_page_groups *groups)
{
    double moved = 0, useful = 0;
    char text[TD_FIGURE_TEXT];
    for (uint32_t i = 0; i < groups->count; i++) moved += groups->of[i].moved, useful += groups->of[i].useful;
    if (moved <= 0) return;
    put(self, "<section class=\"sums\"><h3>Bytes</h3><table><caption>Over links and from disk</caption><tbody><tr>"
              "<th scope=\"row\">moved</th>");
    td_html_cell(self->out, "moved_in_all", td_figure_bytes, moved);
    put(self, "</tr>");
    if (run->knows_useful) {
        put(self, "<tr><th scope=\"row\">useful</th>");
        td_html_cell(self->out, "useful_in_all", td_figure_bytes, useful);
        fprintf(self->out, "</tr><tr><th scope=\"row\">useful over moved</th><td>%s</td></tr>",
                td_figure_real(text, useful / moved));
    }
    put(self, "</tbody></table>");
    if (useful > moved) put(self, "<p class=\"note\">Useful bytes are those of edges as stored; packed and compressed edges take fewer on the way.</p>");
    put(self, "</section>\n");
}

static void put_run(const page *self, int index)
{
    const td_page_run *run = &self->run[index];
    put(self, "<article><h2><bdi>");
    put_text(self, run->name);
    put(self, "</bdi></h2>\n");
    put_plan(self, run);
    put(self, "<section class=\"charts\"><h3>Iterations</h3>\n");
    td_page_legend(self->out, &self->directions);
    put_choice(self, index);
    td_page_charts(self->out, run, &self->groups[index], &self->scales, &self->directions);
    put_columns(self, index);
    put(self, "</section>\n");
    put(self, "<div class=\"facts\">\n");
    put_devices(self, run);
    put_memory(self, run);
    put_sums(self, run, &self->groups[index]);
    put(self, "</div>\n</article>\n");
}

static void put_page(const page *self)
{
    put_head(self);
    td_page_summary(self->out, self->run, self->count);
    put(self, "<div class=\"runs\">\n");
    for (int i = 0; i < self->count; i++) put_run(self, i);
    put(self, "</div>\n</main>\n<footer>Written by Tandem ");
    put(self, td_version());
    put(self, ". This file loads nothing.</footer>\n<script>");
    put(self, td_page_script);
    put(self, "</script>\n</body>\n</html>\n");
}

/* Making it. */

static void widen(td_page_scales *scales, const td_page_run *run, const td_page_groups *groups)
{
    scales->seconds = fmax(scales->seconds, run->seconds);
    for (uint32_t i = 0; i < groups->count; i++) {
        const td_page_group *group = &groups->of[i];
        scales->frontier = fmax(scales->frontier, group->frontier);
        scales->edges = fmax(scales->edges, group->edges_most);
        scales->moved = fmax(scales->moved, group->moved);
        scales->seconds = fmax(scales->seconds, group->end);
    }
}

static td_status read_runs(page *self, const td_page_source *sources)
{
    uint32_t most = ALL_COLUMNS / (uint32_t)self->count;
    for (int i = 0; i < self->count; i++) TD_CHECK(td_page_run_read(&self->run[i], &sources[i], &self->directions));
    for (int i = 0; i < self->count; i++) {
        TD_CHECK(td_page_groups_make(&self->groups[i], &self->run[i], most < MOST_COLUMNS ? most : MOST_COLUMNS));
        widen(&self->scales, &self->run[i], &self->groups[i]);
    }
    return TD_OK;
}

/* Numbers are written with a decimal point, whatever the program's locale. */
static td_status write_page(page *self, char **html)
{
    size_t bytes = 0;
    char *text = NULL;
    td_refusal system = {.resource = TD_RESOURCE_SYSTEM_MEMORY};
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    self->out = plain != (locale_t)0 ? open_memstream(&text, &bytes) : NULL;
    bool written = self->out != NULL;
    if (written) {
        locale_t before = uselocale(plain);
        put_page(self);
        written = !ferror(self->out);
        written = fclose(self->out) == 0 && written;
        uselocale(before);
    }
    if (plain != (locale_t)0) freelocale(plain);
    if (!written) free(text);
    if (!written) return td_refuse(&system, "no memory for the page");
    *html = text;
    return TD_OK;
}

td_status td_page_make(const td_page_source *sources, int count, char **html)
{
    td_status status = TD_OK;
    page *self = NULL;
    if (count < 1 || count > TD_PAGE_RUNS)
        return td_fail(TD_LIMIT, "%d reports; a page has 1 to %d", count, TD_PAGE_RUNS);
    TD_CHECK(TD_NEW_ZEROED(&self, 1, "page"));
    self->count = count;
    TD_TRY(read_runs(self, sources));
    TD_TRY(write_page(self, html));
done:
    for (int i = 0; i < count; i++) {
        td_page_groups_free(&self->groups[i]);
        td_page_run_free(&self->run[i]);
    }
    td_free(self);
    return status;
}
