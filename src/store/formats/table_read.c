/* Tables of edges. Ids that are numbers go to the list's chunks at once. Names are numbered within each piece of the
 * text first, by a table of the piece's own; then the names of all pieces are put together, sorted, and the pieces'
 * numbers are replaced. So the result depends on the names alone, not on the pieces or threads. */
#include "store/formats/table.h"

#include "base/hash.h"
#include "base/names.h"
#include "store/vertex_names.h"

#include <stdlib.h>

/* A set of names, numbered in the order in which they came. */
typedef struct name_set {
    char *text; /* each with its zero */
    uint64_t bytes, room;
    uint64_t *offsets;
    uint64_t count, count_room;
    uint32_t *slots; /* 1 + number, 0: free; a power of two of them */
    uint64_t slot_count;
} name_set;

static void clear_set(name_set *set)
{
    td_free(set->text);
    td_free(set->offsets);
    td_free(set->slots);
    *set = (name_set){0};
}

static uint64_t slot_of(const name_set *set, const char *name, size_t length)
{
    uint64_t slot = td_hash64(name, length) & (set->slot_count - 1);
    for (; set->slots[slot] != 0; slot = (slot + 1) & (set->slot_count - 1)) {
        const char *there = set->text + set->offsets[set->slots[slot] - 1];
        if (memcmp(there, name, length) == 0 && there[length] == '\0') break;
    }
    return slot;
}

static td_status grow_slots(name_set *set)
{
    uint64_t wanted = set->slot_count == 0 ? 1024 : 2 * set->slot_count;
    td_free(set->slots);
    set->slots = NULL;
    set->slot_count = 0;
    TD_CHECK(TD_NEW_ZEROED(&set->slots, wanted, "set of names"));
    set->slot_count = wanted;
    for (uint64_t i = 0; i < set->count; i++) {
        const char *name = set->text + set->offsets[i];
        set->slots[slot_of(set, name, strlen(name))] = (uint32_t)(i + 1);
    }
    return TD_OK;
}

/* Room for one more name; TD_NAME_BYTES of text behind the end may be compared with. */
static td_status make_room(name_set *set)
{
    if (set->bytes + 2 * TD_NAME_BYTES + 2 > set->room) {
        uint64_t room = set->room + set->room / 2 + 8 * TD_NAME_BYTES;
        TD_CHECK(TD_RESIZE(&set->text, room, "names"));
        memset(set->text + set->room, 0, room - set->room);
        set->room = room;
    }
    if (set->count == set->count_room) {
        uint64_t room = set->count_room + set->count_room / 2 + 256;
        TD_CHECK(TD_RESIZE(&set->offsets, room, "places of names"));
        set->count_room = room;
    }
    return 2 * (set->count + 1) > set->slot_count ? grow_slots(set) : TD_OK;
}

static td_status add_name(name_set *set, const char *name, size_t length, uint64_t *number)
{
    TD_CHECK(make_room(set));
    uint64_t slot = slot_of(set, name, length);
    if (set->slots[slot] != 0) {
        *number = set->slots[slot] - 1;
        return TD_OK;
    }
    if (set->count == TD_MAX_VERTICES) return td_fail(TD_LIMIT, "more than 2^32-2 names of vertices");
    memcpy(set->text + set->bytes, name, length);
    set->text[set->bytes + length] = '\0';
    set->offsets[set->count] = set->bytes;
    set->bytes += length + 1;
    *number = set->count++;
    set->slots[slot] = (uint32_t)set->count;
    return TD_OK;
}

/* The reading of one table. */
typedef struct reading {
    const td_table *table;
    bool named, weighted;
    td_edge_list *edges; /* the caller's; with names, that of the pieces' numbers */
    uint64_t set_count;
    pthread_mutex_t lock; /* guards the sets' array, whose sets do not move while they are filled */
    name_set **by_piece;
} reading;

static td_status set_of_piece(reading *job, uint64_t index, name_set **out)
{
    td_status status = TD_OK;
    pthread_mutex_lock(&job->lock);
    if (index >= job->set_count) {
        uint64_t count = index + 1 + index / 2;
        TD_TRY(TD_RESIZE(&job->by_piece, count, "sets of names"));
        memset(job->by_piece + job->set_count, 0, (count - job->set_count) * sizeof *job->by_piece);
        job->set_count = count;
    }
    if (job->by_piece[index] == NULL) TD_TRY(TD_NEW_ZEROED(&job->by_piece[index], 1, "set of names"));
    *out = job->by_piece[index];
done:
    pthread_mutex_unlock(&job->lock);
    return status;
}

static td_status read_end(const td_piece *piece, const td_field *field, name_set *set, uint64_t *end)
{
    char buffer[TD_NAME_BYTES + 2], word[TD_WORD_BYTES];
    const char *text;
    size_t length;
    if (set == NULL) {
        if (td_field_u64(field, end)) return TD_OK;
        return td_fail_line(piece, field->begin, "the vertex id is '%s', which is no valid number (%s names reads "
                            "names)", td_quote_word(word, field->begin, field->end), td_named("format"));
    }
    TD_CHECK(td_field_text(piece, field, buffer, &text, &length));
    return add_name(set, text, length, end);
}

static td_status read_weight(const td_piece *piece, const td_field *field, td_edge_chunk *chunk)
{
    const char *at = field->begin;
    td_number weight;
    td_scan scan = td_scan_number(&at, field->end, &weight);
    if (scan != TD_SCAN_OK) return td_fail_scan(piece, field->begin, scan, "weight");
    if (at != field->end) return td_fail_word(piece, field->begin, "weight");
    return td_put_weight(piece, field->begin, chunk, &weight);
}

static td_status read_line(const reading *job, const td_piece *piece, const char *line, const char *end,
                           td_edge_chunk *chunk, name_set *set)
{
    td_field fields[TD_TABLE_COLUMNS];
    const td_table *table = job->table;
    unsigned count;
    uint64_t source, target;
    TD_CHECK(td_table_fields(piece, table->separator, line, end, fields, &count));
    count = td_table_count(fields, count, table->columns);
    if (count != table->columns)
        return td_fail_line(piece, line, "%u column%s, but %u are expected", count, count == 1 ? "" : "s",
                            table->columns);
    TD_CHECK(read_end(piece, &fields[table->source], set, &source));
    TD_CHECK(read_end(piece, &fields[table->target], set, &target));
    TD_CHECK(td_make_room(chunk, 1, job->weighted));
    TD_CHECK(td_chunk_put(chunk, source, target));
    return job->weighted ? read_weight(piece, &fields[table->weight], chunk) : TD_OK;
}

static bool is_comment(const char *line, const char *end)
{
    line = td_skip_blanks(line, end);
    return line == end || *line == '#' || *line == '%';
}

static td_status read_piece(void *context, const td_piece *piece, int worker)
{
    reading *job = context;
    td_edge_chunk *chunk;
    name_set *set = NULL;
    TD_CHECK(td_edges_chunk(job->edges, piece->index, &chunk));
    TD_CHECK(td_chunk_reserve(chunk, td_guess_lines(piece), job->weighted));
    if (job->named) TD_CHECK(set_of_piece(job, piece->index, &set));
    for (const char *line = piece->text; line < piece->end;) {
        const char *end = td_line_end(line, piece->end);
        if (!is_comment(line, end)) TD_CHECK(read_line(job, piece, line, end, chunk, set));
        line = end < piece->end ? end + 1 : end;
    }
    TD_CHECK(td_trim_room(chunk));
    return td_edges_deliver(job->edges, chunk, worker);
}

/* Putting the names of all pieces together. */

typedef struct sorted_name {
    const char *text;
    uint64_t number;
} sorted_name;

static int by_bytes(const void *a, const void *b)
{
    return strcmp(((const sorted_name *)a)->text, ((const sorted_name *)b)->text);
}

/* The text of the sorted names, and the place of every name of the set among them. */
static td_status sort_names(name_set *set, char **text, uint32_t **places)
{
    td_status status = TD_OK;
    sorted_name *order = NULL;
    char *made = NULL;
    uint64_t at = 0;
    TD_TRY(TD_NEW(&order, set->count, "order of names"));
    TD_TRY(TD_NEW(places, set->count, "places of names"));
    for (uint64_t i = 0; i < set->count; i++) order[i] = (sorted_name){set->text + set->offsets[i], i};
    if (set->count > 0) qsort(order, set->count, sizeof *order, by_bytes);
    TD_TRY(TD_NEW(&made, set->bytes, "names of vertices"));
    for (uint64_t i = 0; i < set->count; i++) {
        size_t bytes = strlen(order[i].text) + 1;
        memcpy(made + at, order[i].text, bytes);
        (*places)[order[i].number] = (uint32_t)i;
        at += bytes;
    }
    *text = made;
done:
    td_free(order);
    return status;
}

/* Replaces the piece's numbers by those of all names; the offsets of its set are no longer needed and keep them. */
static td_status number_in_all(name_set *all, name_set *mine)
{
    for (uint64_t i = 0; i < mine->count; i++) {
        const char *name = mine->text + mine->offsets[i];
        TD_CHECK(add_name(all, name, strlen(name), &mine->offsets[i]));
    }
    td_free(mine->text);
    td_free(mine->slots);
    mine->text = NULL;
    mine->slots = NULL;
    return TD_OK;
}

static td_status add_isolated(name_set *all, const char *isolated)
{
    uint64_t number;
    for (; isolated != NULL && *isolated != '\0'; isolated += strlen(isolated) + 1)
        TD_CHECK(add_name(all, isolated, strlen(isolated), &number));
    return TD_OK;
}

static td_status hand_over(const reading *job, uint64_t index, const uint32_t *places, td_edge_list *edges)
{
    td_edge_chunk *from = job->edges->chunks[index], *to;
    const name_set *set = job->by_piece[index];
    if (from == NULL || set == NULL) return TD_OK;
    for (uint64_t e = 0; e < 2 * from->count; e++) from->ends[e] = places[set->offsets[from->ends[e]]];
    TD_CHECK(td_edges_chunk(edges, index, &to));
    td_chunk_clear(to);
    *to = *from;
    *from = (td_edge_chunk){0};
    return td_edges_deliver(edges, to, 0);
}

static td_status number_names(const reading *job, td_edge_list *edges, const char *isolated, const char *path)
{
    td_status status = TD_OK;
    name_set all = {0};
    uint32_t *places = NULL;
    char *text = NULL;
    TD_TRY(add_isolated(&all, isolated));
    for (uint64_t i = 0; i < job->set_count; i++)
        if (job->by_piece[i] != NULL) TD_TRY(number_in_all(&all, job->by_piece[i]));
    TD_TRY(sort_names(&all, &text, &places));
    uint64_t count = all.count, bytes = all.bytes;
    clear_set(&all);
    TD_TRY(td_vertex_names_take(&edges->names, text, bytes, count, false, path));
    edges->declared = true;
    edges->vertices = count;
    for (uint64_t i = 0; i < job->edges->chunk_count && i < job->set_count; i++)
        TD_TRY(hand_over(job, i, places, edges));
done:
    clear_set(&all);
    td_free(places);
    return status;
}

static td_status read_named(td_input *input, reading *job, uint64_t skip, td_edge_list *edges, const char *isolated,
                            td_pool *pool)
{
    td_status status = TD_OK;
    pthread_mutex_init(&job->lock, NULL);
    TD_TRY(td_edges_create(&job->edges, td_input_path(input)));
    job->edges->table = edges->table; /* lent: codes are those of the list */
    TD_TRY(td_input_pieces(input, pool, skip, read_piece, job, NULL));
    TD_TRY(number_names(job, edges, isolated, td_input_path(input)));
done:
    for (uint64_t i = 0; i < job->set_count; i++) {
        if (job->by_piece[i] == NULL) continue;
        clear_set(job->by_piece[i]);
        td_free(job->by_piece[i]);
    }
    td_free(job->by_piece);
    if (job->edges != NULL) job->edges->table = NULL;
    td_edges_destroy(job->edges);
    pthread_mutex_destroy(&job->lock);
    return status;
}

td_status td_read_table(td_input *input, const td_table *table, bool named, uint64_t skip, td_edge_list *edges,
                        const char *isolated, td_pool *pool)
{
    reading job = {.table = table, .named = named, .weighted = table->weight != TD_NO_COLUMN, .edges = edges};
    edges->weighted = job.weighted;
    if (!named) return td_input_pieces(input, pool, skip, read_piece, &job, NULL);
    job.edges = NULL;
    return read_named(input, &job, skip, edges, isolated, pool);
}
