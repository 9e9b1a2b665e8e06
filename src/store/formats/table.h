/* Lines of fields, as spreadsheets and databases write them: separated by commas, semicolons, tabs or blanks, in quotes
 * or not ("" inside of quotes is one quote). A separator other than blanks separates exactly two fields, so that a field
 * may be empty. Quotes end on their line. */
#ifndef TD_STORE_TABLE_H
#define TD_STORE_TABLE_H

#include "store/formats/text.h"

enum { TD_TABLE_COLUMNS = 64 };

/* Which columns an edge has its parts in. */
typedef struct td_table {
    char separator;               /* ' ': runs of blanks */
    unsigned columns;             /* of every line */
    unsigned source, target;      /* from 0 */
    unsigned weight;              /* TD_NO_COLUMN: there are none */
} td_table;

#define TD_NO_COLUMN UINT32_C(0xffffffff)

typedef struct td_field {
    const char *begin, *end; /* without quotes */
    bool quoted;             /* quotes inside of it are doubled */
} td_field;

/* Parses "source,target,weight,_"; other words for them are from, to, src and dst. TD_USAGE names what is wrong. */
td_status td_table_columns(td_table *table, const char *text);

/* The separator that a line of fields uses. */
char td_table_separator(const char *line, const char *end);

/* The next field of the line that ends at `end` (its newline); *at is moved, and NULL behind the last field. False if
 * there is none. TD_FORMAT in *status: the field is malformed. */
bool td_next_field(const td_piece *piece, char separator, const char **at, const char *end, td_field *field,
                   td_status *status);

/* The fields of a line in `fields`, at most TD_TABLE_COLUMNS. */
td_status td_table_fields(const td_piece *piece, char separator, const char *line, const char *end,
                          td_field fields[TD_TABLE_COLUMNS], unsigned *count);

/* How many fields a line has, of which `wanted` are expected: one more counts only if it is not empty ("a,b,"). */
unsigned td_table_count(const td_field *fields, unsigned count, unsigned wanted);

/* The text of a field without doubled quotes: at most TD_NAME_BYTES, in `buffer` if it has to be made. */
td_status td_field_text(const td_piece *piece, const td_field *field, char *buffer, const char **text, size_t *length);

/* A field that is a whole number; false: it is something else. */
bool td_field_u64(const td_field *field, uint64_t *value);

/* Whether the fields are the words of a heading: source, target, from, to, weight, ... */
bool td_table_heading(const td_field *fields, unsigned count);

/* Reads a table of edges from byte `skip` on: ids are numbers, or with `named` any words. */
td_status td_read_table(td_input *input, const td_table *table, bool named, uint64_t skip, td_edge_list *edges,
                        const char *isolated, td_pool *pool);

#endif
