/* Adjacency lists as text: a line has a vertex and its neighbours, "v n1 n2 ...", with blanks, tabs, commas or
 * semicolons between them. A vertex may have several lines, or one without neighbours; one that is only a neighbour
 * needs none. Comments start with # or %. Ids are any numbers. */
#include "store/formats/format.h"
#include "store/formats/text.h"

static bool separates(char c) { return td_is_blank(c) || c == ',' || c == ';' || c == ':'; }

static const char *skip_separators(const char *at, const char *end)
{
    while (at < end && separates(*at)) at++;
    return at;
}

typedef struct reading {
    td_edge_list *edges;
    uint64_t room; /* in edges->listed; guarded by the list's lock */
} reading;

static td_status read_id(const td_piece *piece, const char **at, uint64_t *id)
{
    const char *start = *at;
    td_scan scan = td_scan_u64(at, piece->end, id);
    if (scan != TD_SCAN_OK) return td_fail_scan(piece, start, scan, "vertex id");
    if (!td_line_ends(*at, piece->end) && !separates(**at)) return td_fail_word(piece, start, "vertex id");
    *at = skip_separators(*at, piece->end);
    return TD_OK;
}

/* A vertex without neighbours may have no edge at all. */
static td_status list_vertex(reading *job, uint64_t id)
{
    td_edge_list *edges = job->edges;
    td_status status = TD_OK;
    pthread_mutex_lock(&edges->lock);
    if (edges->listed_count == job->room) {
        uint64_t room = 2 * job->room + 64;
        TD_TRY(TD_RESIZE(&edges->listed, room, "vertices without neighbours"));
        job->room = room;
    }
    edges->listed[edges->listed_count++] = id;
done:
    pthread_mutex_unlock(&edges->lock);
    return status;
}

/* Reads the line whose first id is at *at, up to its end. */
static td_status read_line(reading *job, const td_piece *piece, const char **at, td_edge_chunk *chunk)
{
    uint64_t source, target;
    TD_CHECK(read_id(piece, at, &source));
    if (td_line_ends(*at, piece->end)) return list_vertex(job, source);
    while (!td_line_ends(*at, piece->end)) {
        TD_CHECK(read_id(piece, at, &target));
        TD_CHECK(td_make_room(chunk, 1, false));
        TD_CHECK(td_chunk_put(chunk, source, target));
    }
    return TD_OK;
}

static td_status read_piece(void *context, const td_piece *piece, int worker)
{
    reading *job = context;
    td_edge_chunk *chunk;
    TD_CHECK(td_edges_chunk(job->edges, piece->index, &chunk));
    TD_CHECK(td_chunk_reserve(chunk, td_guess_lines(piece), false));
    for (const char *at = piece->text; at < piece->end;) {
        at = skip_separators(at, piece->end);
        if (at < piece->end && (*at == '#' || *at == '%')) at = td_line_end(at, piece->end);
        else if (!td_line_ends(at, piece->end)) TD_CHECK(read_line(job, piece, &at, chunk));
        if (at < piece->end) at++;
    }
    TD_CHECK(td_trim_room(chunk));
    return td_edges_deliver(job->edges, chunk, worker);
}

static td_status read_adjlist(const char *path, td_edge_list *edges, td_pool *pool)
{
    td_input *input = NULL;
    reading job = {.edges = edges};
    TD_CHECK(td_input_open(&input, path));
    td_status status = td_input_pieces(input, pool, 0, read_piece, &job, NULL);
    if (status == TD_OK && td_edges_count(edges) == 0 && edges->listed_count == 0)
        status = td_fail(TD_FORMAT, "%s: no vertex in it, only comments or blank lines", path);
    td_input_add_decoding(input, &edges->decoding);
    td_input_close(input);
    return status;
}

/* By its name alone: a line of two or three numbers looks like an edge. */
static int recognise(const td_probe *probe) { return strcmp(probe->suffix, "adjlist") == 0 ? 70 : 0; }

/* Vertices without neighbours are known at the end only, so that the list is not read in parts. */
const td_format td_format_adjlist = {
    .name = "adjlist",
    .description = "adjacency lists: a vertex and its neighbours on each line",
    .suffixes = "adjlist",
    .recognise = recognise,
    .read = read_adjlist,
};
