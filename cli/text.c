#include "text.h"

#include "base/status.h"

#include <langinfo.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* The number of characters of `text` that fit a line of `room` columns; a longer word is not broken. */
static int fitting(const char *text, int room)
{
    int length = (int)strlen(text);
    if (length <= room) return length;
    for (length = room; length > 0 && text[length] != ' ';) length--;
    return length > 0 ? length : (int)strcspn(text, " ");
}

static const char *behind(const char *text, int length) { return text + length + strspn(text + length, " "); }

void td_print_wrapped(const char *text, int indent, int width)
{
    while (*text != '\0') {
        int length = fitting(text, width - indent);
        printf("%*s%.*s\n", indent, "", length, text);
        text = behind(text, length);
    }
}

static void next_line(const char **text, char *line, int room)
{
    int length = (int)strcspn(*text, "\n");
    snprintf(line, (size_t)room, "%.*s", length, *text);
    *text += length;
    if (**text == '\n') ++*text;
}

void td_print_paragraphs(const char *text)
{
    char line[1024];
    while (*text != '\0') {
        next_line(&text, line, sizeof line);
        if (line[0] == ' ' || line[0] == '\0') printf("%s\n", line);
        else td_print_wrapped(line, 0, TD_TEXT_WIDTH);
    }
}

void td_print_lines(const char *prefix, const char *text)
{
    char line[1024];
    while (*text != '\0') {
        next_line(&text, line, sizeof line);
        printf("%s%s\n", prefix, line);
    }
}

void td_print_entry(const char *head, int column, const char *text)
{
    if ((int)strlen(head) >= column) {
        printf("%s\n", head);
    } else {
        int length = fitting(text, TD_TEXT_WIDTH - column);
        printf("%-*s%.*s\n", column, head, length, text);
        text = behind(text, length);
    }
    td_print_wrapped(text, column, TD_TEXT_WIDTH);
}

void td_print_path(const char *path)
{
    char text[PATH_MAX];
    snprintf(text, sizeof text, "%s", path);
    fputs(td_mask(text), stdout);
}

bool td_text_is_utf8(void) { return strcmp(nl_langinfo(CODESET), "UTF-8") == 0; }

void td_print_bar(double share, int width, bool pad)
{
    static const char *const eighths[] = {"", "\u258f", "\u258e", "\u258d", "\u258c", "\u258b", "\u258a", "\u2589"};
    bool blocks = td_text_is_utf8();
    int parts = blocks ? 8 : 1, filled = (int)(share * width * parts + 0.5), cells = 0;
    if (filled == 0 && share > 0) filled = 1;
    if (filled > width * parts) filled = width * parts;
    for (; cells < filled / parts; cells++) fputs(blocks ? "\u2588" : "#", stdout);
    if (filled % parts != 0) {
        fputs(eighths[filled % parts], stdout);
        cells++;
    }
    if (pad) printf("%*s", width - cells, "");
}
