#include "store/formats/table.h"

#include "store/vertex_names.h"

#include <stdio.h>
#include <strings.h>

typedef enum role { SOURCE, TARGET, WEIGHT, SKIPPED, UNKNOWN } role;

static role role_of(const char *word, size_t length)
{
    static const struct {
        const char *word;
        role role;
    } words[] = {{"source", SOURCE}, {"from", SOURCE}, {"src", SOURCE},    {"target", TARGET}, {"to", TARGET},
                 {"dst", TARGET},    {"weight", WEIGHT}, {"_", SKIPPED}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].word) == length && strncasecmp(words[i].word, word, length) == 0) return words[i].role;
    return UNKNOWN;
}

static td_status put_role(td_table *table, role role, const char *text)
{
    unsigned *place = role == SOURCE ? &table->source : role == TARGET ? &table->target : &table->weight;
    if (role != SKIPPED && *place != TD_NO_COLUMN)
        return td_fail(TD_USAGE, "{columns} %s names a column twice", text);
    if (role != SKIPPED) *place = table->columns;
    table->columns++;
    return TD_OK;
}

td_status td_table_columns(td_table *table, const char *text)
{
    *table = (td_table){.source = TD_NO_COLUMN, .target = TD_NO_COLUMN, .weight = TD_NO_COLUMN};
    for (const char *at = text; table->columns < TD_TABLE_COLUMNS; at++) {
        size_t length = strcspn(at, ",");
        role role = role_of(at, length);
        if (role == UNKNOWN)
            return td_fail(TD_USAGE, "{columns} %s: '%.*s' is none of source, target, weight and _ (a column to be "
                           "skipped)", text, (int)length, at);
        TD_CHECK(put_role(table, role, text));
        at += length;
        if (*at == '\0') break;
    }
    if (table->source != TD_NO_COLUMN && table->target != TD_NO_COLUMN) return TD_OK;
    return td_fail(TD_USAGE, "{columns} %s: an edge needs a source and a target among the first %d columns", text,
                   TD_TABLE_COLUMNS);
}

char td_table_separator(const char *line, const char *end)
{
    bool quoted = false, semicolon = false, tab = false;
    for (; line < end; line++) {
        if (*line == '"') quoted = !quoted;
        if (quoted) continue;
        if (*line == ',') return ',';
        semicolon |= *line == ';';
        tab |= *line == '\t';
    }
    return semicolon ? ';' : tab ? '\t' : ' ';
}

static bool separates(char separator, char c) { return separator == ' ' ? td_is_blank(c) : c == separator; }

/* Behind the closing quote; NULL if there is none. */
static const char *quote_end(const char *at, const char *end)
{
    for (; at < end; at++) {
        if (*at != '"') continue;
        if (at + 1 == end || at[1] != '"') return at;
        at++;
    }
    return NULL;
}

static const char *skip_blanks(const char *at, const char *end, char separator)
{
    while (at < end && td_is_blank(*at) && *at != separator) at++;
    return at;
}

static const char *read_quoted(const td_piece *piece, char separator, const char *at, const char *end, td_field *field,
                               td_status *status)
{
    const char *close = quote_end(at + 1, end);
    if (close == NULL) {
        *status = td_fail_line(piece, at, "a quoted field does not end on its line");
        return end;
    }
    *field = (td_field){at + 1, close, true};
    const char *behind = skip_blanks(close + 1, end, separator);
    if (behind < end && behind == close + 1 && !separates(separator, *behind))
        *status = td_fail_line(piece, behind, "text follows the closing quote of a field");
    return behind;
}

static const char *read_bare(char separator, const char *at, const char *end, td_field *field)
{
    const char *stop = at;
    while (stop < end && !separates(separator, *stop)) stop++;
    const char *last = stop;
    while (last > at && td_is_blank(last[-1])) last--;
    *field = (td_field){at, last, false};
    return stop;
}

bool td_next_field(const td_piece *piece, char separator, const char **at, const char *end, td_field *field,
                   td_status *status)
{
    *status = TD_OK;
    if (*at == NULL) return false;
    const char *from = skip_blanks(*at, end, separator == ' ' ? '\0' : separator);
    if (separator == ' ' && from == end) {
        *at = NULL;
        return false;
    }
    const char *behind = from < end && *from == '"' ? read_quoted(piece, separator, from, end, field, status)
                                                    : read_bare(separator, from, end, field);
    if (separator == ' ') *at = behind;
    else *at = behind < end && *behind == separator ? behind + 1 : NULL;
    if (*status == TD_OK && separator != ' ' && *at == NULL && behind < end)
        *status = td_fail_line(piece, behind, "text follows the closing quote of a field");
    return true;
}

td_status td_table_fields(const td_piece *piece, char separator, const char *line, const char *end,
                          td_field fields[TD_TABLE_COLUMNS], unsigned *count)
{
    td_field field;
    td_status status;
    *count = 0;
    for (const char *at = line; td_next_field(piece, separator, &at, end, &field, &status);) {
        TD_CHECK(status);
        if (*count == TD_TABLE_COLUMNS)
            return td_fail_line(piece, line, "more than %d columns", TD_TABLE_COLUMNS);
        fields[(*count)++] = field;
    }
    return TD_OK;
}

unsigned td_table_count(const td_field *fields, unsigned count, unsigned wanted)
{
    const td_field *last = &fields[count - 1];
    return count == wanted + 1 && last->begin == last->end && !last->quoted ? wanted : count;
}

td_status td_field_text(const td_piece *piece, const td_field *field, char *buffer, const char **text, size_t *length)
{
    size_t bytes = (size_t)(field->end - field->begin), made = 0;
    if (bytes == 0) return td_fail_line(piece, field->begin, "the name of a vertex is empty");
    if (memchr(field->begin, '\0', bytes) != NULL)
        return td_fail_line(piece, field->begin, "the name of a vertex has a zero byte");
    *text = field->begin;
    *length = bytes;
    if (field->quoted && memchr(field->begin, '"', bytes) != NULL) {
        for (const char *at = field->begin; at < field->end && made <= TD_NAME_BYTES; at += 1 + (*at == '"'))
            buffer[made++] = *at;
        *text = buffer;
        *length = made;
    }
    if (*length <= TD_NAME_BYTES) return TD_OK;
    return td_fail_line(piece, field->begin, "the name of a vertex has more than %u bytes", TD_NAME_BYTES);
}

bool td_field_u64(const td_field *field, uint64_t *value)
{
    const char *at = field->begin;
    return td_scan_u64(&at, field->end, value) == TD_SCAN_OK && at == field->end;
}

bool td_table_heading(const td_field *fields, unsigned count)
{
    static const char *const words[] = {"id", "u", "v", "node", "vertex", "node1", "node2", "vertex1", "vertex2",
                                        "source_id", "target_id", "from_id", "to_id", "fromnodeid", "tonodeid"};
    unsigned known = 0;
    for (unsigned i = 0; i < count; i++) {
        size_t length = (size_t)(fields[i].end - fields[i].begin);
        bool heading = role_of(fields[i].begin, length) < SKIPPED;
        for (size_t w = 0; w < sizeof words / sizeof *words && !heading; w++)
            heading = strlen(words[w]) == length && strncasecmp(words[w], fields[i].begin, length) == 0;
        known += heading;
    }
    return known >= 2;
}
