/* What all runs of a page have in common: the figures that a reader asks for first, where the wall clock went beside
 * what the planner expected, and a table with a column per run. */
#include "page/html.h"

#include <math.h>

static void put_text(FILE *out, const char *text) { td_html_text(out, text != NULL ? text : "–"); }

/* The first figures of a single run. */

static void put_tile(FILE *out, const char *label, const char *value)
{
    fprintf(out, "<div><dt>%s</dt><dd>", label);
    td_html_text(out, value);
    fputs("</dd></div>", out);
}

static void put_tiles(FILE *out, const td_page_run *run)
{
    char text[TD_FIGURE_TEXT];
    fputs("<dl class=\"tiles\">", out);
    put_tile(out, "engine", run->engine);
    put_tile(out, "processing", td_figure_seconds(text, run->seconds));
    if (run->wall > 0) put_tile(out, "wall clock", td_figure_seconds(text, run->wall));
    put_tile(out, "iterations", td_figure_count(text, run->iterations));
    if (run->has_graph) put_tile(out, "vertices", td_figure_short(text, run->vertices));
    if (run->has_graph) put_tile(out, "edges", td_figure_short(text, run->edges));
    if (run->edges_per_second > 0) put_tile(out, "edges a second", td_figure_short(text, run->edges_per_second));
    if (run->verified != NULL) put_tile(out, "verified", run->verified);
    fputs("</dl>\n", out);
}

/* Phases of the wall clock, as bands on one scale for all runs. A phase of the planner's estimate has the same colour. */

enum { PHASES = 6 };

typedef struct phases {
    double seconds[PHASES];
} phases;

static const char *const phase_names[PHASES] = {"loading", "opening GPUs", "preparing", "processing", "finishing",
                                                "earlier repetitions"};

static double known(double seconds) { return isnan(seconds) ? 0 : seconds; }

static double all_of(const phases *of)
{
    double all = 0;
    for (int i = 0; i < PHASES; i++) all += of->seconds[i];
    return all;
}

static phases measured_phases(const td_page_run *run)
{
    double finishing = known(run->finish) + known(run->verify) + known(run->write) + known(run->wall_report) +
                       known(run->wall_close);
    return (phases){{known(run->start) + known(run->load), known(run->open), known(run->plan) + known(run->prepare),
                     run->seconds, finishing, known(run->earlier)}};
}

static phases expected_phases(const td_page_run *run)
{
    return (phases){{known(run->expected_start) + known(run->expected_load), known(run->expected_open),
                     known(run->expected_plan) + known(run->expected_prepare), known(run->expected_processing),
                     known(run->expected_finish), 0}};
}

static void describe_phases(FILE *out, const phases *of)
{
    char text[TD_FIGURE_TEXT];
    for (int i = 0; i < PHASES; i++)
        if (of->seconds[i] > 0) fprintf(out, ", %s %s", phase_names[i], td_figure_seconds(text, of->seconds[i]));
}

static void put_phases(FILE *out, const char *name, const char *what, const phases *of, double most)
{
    char text[TD_FIGURE_TEXT];
    double left = 0, scale = most > 0 ? 1000 / most : 0;
    fputs("<div class=\"band phases\"><span class=\"device\"><bdi>", out);
    put_text(out, name);
    fprintf(out, "</bdi>%s %s</span><svg viewBox=\"0 0 1000 100\" preserveAspectRatio=\"none\" role=\"img\" "
            "aria-label=\"", what, td_figure_seconds(text, all_of(of)));
    put_text(out, name);
    fputs(what, out);
    describe_phases(out, of);
    fputs("\">", out);
    for (int i = 0; i < PHASES; i++) {
        double right = left + of->seconds[i] * scale;
        if (of->seconds[i] > 0)
            fprintf(out, "<path class=\"p%d\" d=\"M%.4g 100V0H%.4gV100Z\"/>", i, left, right);
        left = right;
    }
    fputs("</svg></div>\n", out);
}

static bool phase_occurs(const phases measured[], const phases expected[], int count, int phase)
{
    for (int i = 0; i < count; i++)
        if (measured[i].seconds[phase] > 0 || expected[i].seconds[phase] > 0) return true;
    return false;
}

static void put_phase_legend(FILE *out, const phases measured[], const phases expected[], int count)
{
    fputs("<ul class=\"legend\" aria-label=\"colours of phases\">", out);
    for (int i = 0; i < PHASES; i++)
        if (phase_occurs(measured, expected, count, i))
            fprintf(out, "<li><span class=\"key p%d\"></span>%s</li>", i, phase_names[i]);
    fputs("</ul>", out);
}

static void put_wall(FILE *out, const td_page_run *runs, int count)
{
    char text[TD_FIGURE_TEXT];
    phases measured[TD_PAGE_RUNS], expected[TD_PAGE_RUNS];
    double most = 0;
    for (int i = 0; i < count; i++) {
        measured[i] = measured_phases(&runs[i]);
        expected[i] = expected_phases(&runs[i]);
        most = fmax(most, fmax(all_of(&measured[i]), all_of(&expected[i])));
    }
    if (most <= 0) return;
    fputs("<h2>Wall clock</h2>\n", out);
    put_phase_legend(out, measured, expected, count);
    for (int i = 0; i < count; i++) {
        put_phases(out, count > 1 ? runs[i].name : "", count > 1 ? ": took" : "took", &measured[i], most);
        if (all_of(&expected[i]) > 0) put_phases(out, "", "expected by the plan", &expected[i], most);
    }
    fprintf(out, "<div class=\"axis\"><span>0</span><span>%s</span></div>\n", td_figure_seconds(text, most));
}

/* The table. */

typedef struct line {
    const char *key, *label;
    td_figure_fn figure; /* NULL: a text */
    size_t offset;
    bool of_graph;       /* missing where the report does not describe the graph */
} line;

#define TEXT(key, label, field) {key, label, NULL, offsetof(td_page_run, field), false}
#define FIGURE(key, label, kind, field) {key, label, td_figure_##kind, offsetof(td_page_run, field), false}
#define GRAPH(key, label, field) {key, label, td_figure_count, offsetof(td_page_run, field), true}
static const line lines[] = {
    TEXT("program", "program", program), TEXT("engine", "engine", engine), TEXT("mode", "mode", mode),
    TEXT("input", "graph", input), GRAPH("vertices", "vertices", vertices), GRAPH("edges", "edges", edges),
    FIGURE("iterations", "iterations", count, iterations), FIGURE("seconds", "processing", seconds, seconds),
    FIGURE("edges_processed", "edges processed", count, edges_processed),
    FIGURE("edges_per_second", "edges a second", rate, edges_per_second),
    FIGURE("start", "starting", seconds, start), FIGURE("load", "loading", seconds, load),
    FIGURE("open", "opening GPUs", seconds, open), FIGURE("plan", "planning", seconds, plan),
    FIGURE("prepare", "preparing", seconds, prepare), FIGURE("reorder", "of that, renumbering", seconds, reorder),
    FIGURE("earlier", "earlier repetitions", seconds, earlier), FIGURE("finish", "finishing", seconds, finish),
    FIGURE("verify", "verifying", seconds, verify), FIGURE("write", "writing results", seconds, write),
    FIGURE("wall_report", "making the report", seconds, wall_report),
    FIGURE("wall_close", "freeing memory", seconds, wall_close), FIGURE("wall", "wall clock", seconds, wall),
    FIGURE("expected", "expected: wall clock", seconds, expected),
    FIGURE("expected_start", "expected: starting", seconds, expected_start),
    FIGURE("expected_load", "expected: loading", seconds, expected_load),
    FIGURE("expected_open", "expected: opening GPUs", seconds, expected_open),
    FIGURE("expected_prepare", "expected: preparing", seconds, expected_prepare),
    FIGURE("expected_processing", "expected: processing", seconds, expected_processing),
    FIGURE("expected_finish", "expected: finishing", seconds, expected_finish),
    FIGURE("threads", "threads", count, threads),
    TEXT("verified", "verified", verified), TEXT("digest", "digest of the result", digest),
};
enum { LINES = sizeof lines / sizeof *lines };

static const char *text_of(const td_page_run *run, const line *of)
{
    return *(const char *const *)((const char *)run + of->offset);
}

static double figure_of(const td_page_run *run, const line *of)
{
    return *(const double *)((const char *)run + of->offset);
}

/* Whether a line has a figure of any run. */
static bool line_counts(const td_page_run *runs, int count, const line *of)
{
    for (int i = 0; i < count; i++)
        if (of->figure == NULL ? text_of(&runs[i], of) != NULL : figure_of(&runs[i], of) > 0) return true;
    return false;
}

static void put_line(FILE *out, const td_page_run *runs, int count, const line *of)
{
    fprintf(out, "<tr><th scope=\"row\">%s</th>", of->label);
    for (int i = 0; i < count; i++) {
        if (of->figure == NULL) {
            fprintf(out, "<td data-key=\"%s\"><bdi>", of->key);
            put_text(out, text_of(&runs[i], of));
            fputs("</bdi></td>", out);
        } else if ((of->of_graph && !runs[i].has_graph) || isnan(figure_of(&runs[i], of))) fputs("<td>–</td>", out);
        else td_html_cell(out, of->key, of->figure, figure_of(&runs[i], of));
    }
    fputs("</tr>\n", out);
}

static void put_ratios(FILE *out, const td_page_run *runs, int count)
{
    double first = runs[0].seconds;
    if (count == 1 || first <= 0) return;
    fputs("<tr><th scope=\"row\">processing, over the first run's</th>", out);
    for (int i = 0; i < count; i++) td_html_cell(out, "ratio", td_figure_real, runs[i].seconds / first);
    fputs("</tr>\n", out);
}

/* Open where runs are compared; a single run has its tiles. */
static void put_table(FILE *out, const td_page_run *runs, int count)
{
    fprintf(out, "<details class=\"figures\"%s><summary>All figures</summary><div class=\"wide\"><table class=\"summary\">"
            "<caption>%s</caption><thead><tr><th scope=\"col\">report</th>", count > 1 ? " open" : "",
            count > 1 ? "The runs" : "The run");
    for (int i = 0; i < count; i++) {
        fputs("<th scope=\"col\"><bdi>", out);
        put_text(out, runs[i].name);
        fputs("</bdi></th>", out);
    }
    fputs("</tr></thead><tbody>\n", out);
    for (int i = 0; i < LINES; i++)
        if (line_counts(runs, count, &lines[i])) put_line(out, runs, count, &lines[i]);
    put_ratios(out, runs, count);
    fputs("</tbody></table></div></details>", out);
}

void td_page_summary(FILE *out, const td_page_run *runs, int count)
{
    fputs("<section class=\"overview\" aria-label=\"summary\">", out);
    if (count == 1) put_tiles(out, runs);
    put_wall(out, runs, count);
    put_table(out, runs, count);
    fputs("</section>\n", out);
}
