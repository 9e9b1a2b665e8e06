/* Text for a terminal of 80 columns: wrapped paragraphs, two-column entries,
 * and bars in Unicode blocks, or in ASCII where the locale is not UTF-8. */
#ifndef TD_CLI_TEXT_H
#define TD_CLI_TEXT_H

#include <stdbool.h>

enum { TD_TEXT_WIDTH = 80 };

/* Prints each line indented, broken at blanks before `width`. */
void td_print_wrapped(const char *text, int indent, int width);

/* Paragraphs are separated by '\n'; those that begin with a blank are kept as they are. */
void td_print_paragraphs(const char *text);

void td_print_lines(const char *prefix, const char *text);

/* `head`, then `text` wrapped from `column` on; a long head has a line of its own. */
void td_print_entry(const char *head, int column, const char *text);

/* A file name, with its control characters masked. */
void td_print_path(const char *path);

bool td_text_is_utf8(void);

/* A bar of share * width cells, at least one for a share above zero. `pad`: adds blanks up to `width`. */
void td_print_bar(double share, int width, bool pad);

#endif
