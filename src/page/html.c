#include "page/html.h"

#include "base/json_read.h"
#include "base/size.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *entity_of(unsigned char c)
{
    return c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '"' ? "&quot;" : c == '\'' ? "&#39;" : NULL;
}

/* Characters of a name must not close an element, nor turn the text around it. Bytes that are not UTF-8 (names of files
 * may have any) become U+FFFD. */
void td_html_text(FILE *out, const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0';) {
        const char *entity = entity_of(*p);
        int bytes = td_utf8_bytes(p);
        if (entity != NULL) fputs(entity, out);
        else if (bytes == 0) fputs("\xef\xbf\xbd", out);
        else if (*p < 0x20 || *p == 0x7f) fputc(' ', out);
        else fwrite(p, 1, (size_t)bytes, out);
        p += bytes > 0 ? bytes : 1;
    }
}

void td_html_number(FILE *out, double number)
{
    char text[40];
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, number);
        if (strtod(text, NULL) == number) break;
    }
    char *comma = strchr(text, ','); /* some locales use a decimal comma */
    if (comma != NULL) *comma = '.';
    fputs(text, out);
}

char *td_figure_count(char text[TD_FIGURE_TEXT], double value)
{
    if (value < 0x1p63 && value == floor(value)) return td_format_count(text, (uint64_t)value);
    snprintf(text, TD_FIGURE_TEXT, "%.6g", value);
    return text;
}

char *td_figure_short(char text[TD_FIGURE_TEXT], double value)
{
    static const struct { double unit; const char *name; } units[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (value < units[i].unit) continue;
        snprintf(text, TD_FIGURE_TEXT, "%.4g %s", value / units[i].unit, units[i].name);
        return text;
    }
    return td_figure_rate(text, value);
}

char *td_figure_rate(char text[TD_FIGURE_TEXT], double value) { return td_figure_count(text, floor(value + 0.5)); }

char *td_figure_bytes(char text[TD_FIGURE_TEXT], double value)
{
    if (value < 0x1p63) return td_format_size(text, (uint64_t)value);
    snprintf(text, TD_FIGURE_TEXT, "%.6g B", value);
    return text;
}

char *td_figure_seconds(char text[TD_FIGURE_TEXT], double value)
{
    double scale = value >= 1 || value <= 0 ? 1 : value >= 1e-3 ? 1e3 : 1e6;
    snprintf(text, TD_FIGURE_TEXT, "%.4g %s", value * scale, scale == 1 ? "s" : scale == 1e3 ? "ms" : "µs");
    return text;
}

char *td_figure_real(char text[TD_FIGURE_TEXT], double value)
{
    snprintf(text, TD_FIGURE_TEXT, "%.4g", value);
    return text;
}

void td_html_cell(FILE *out, const char *key, td_figure_fn figure, double value)
{
    char text[TD_FIGURE_TEXT];
    fprintf(out, "<td data-key=\"%s\" data-value=\"", key);
    td_html_number(out, value);
    fprintf(out, "\">%s</td>", figure(text, value));
}
