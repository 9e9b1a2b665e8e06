/* Ligra's adjacency graphs, as text: the word AdjacencyGraph, the numbers n and
 * m, n offsets, m targets; WeightedAdjacencyGraph adds m weights. Words stand on
 * lines of their own, or not.
 *
 * The meaning of a word depends on the number of words before it, so the text is read
 * twice: to count the words of each piece, and to parse them. Targets are written
 * directly to their places in the chunks; sources follow when all offsets are known.
 */
#include "store/formats/format.h"
#include "store/formats/lists.h"
#include "store/formats/piece_counts.h"
#include "store/formats/text.h"

#include <math.h>

enum { HEADER_WORDS = 3 };

static const char plain_word[] = "AdjacencyGraph", weighted_word[] = "WeightedAdjacencyGraph";

typedef struct reading {
    bool weighted;
    uint64_t vertices, edges;
    td_piece_counts words;
    uint64_t total; /* words in the file */
    uint64_t *offsets; /* where each vertex's targets start */
    double *weights;   /* of each edge: exact for every integer that is allowed */
    td_edge_list *list;
} reading;

static inline bool is_space(char c) { return td_is_blank(c) || c == '\n'; }

static const char *skip_spaces(const char *at, const char *end)
{
    while (at < end && is_space(*at)) at++;
    return at;
}

/* True and *at behind it, if `word` is the whole word at *at. */
static bool take_word(const char **at, const char *end, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(end - *at) < length || memcmp(*at, word, length) != 0) return false;
    if (!td_word_ends(*at + length, end)) return false;
    *at += length;
    return true;
}

static td_status read_count(const td_piece *piece, const char **at, const char *what, uint64_t most, uint64_t *count)
{
    const char *start = *at = skip_spaces(*at, piece->end);
    TD_CHECK(td_read_u64(piece, at, what, count));
    if (*count <= most) return TD_OK;
    return td_fail_line(piece, start, "%llu is no possible %s; at most %llu is", (unsigned long long)*count, what,
                        (unsigned long long)most);
}

static td_status read_header(td_input *input, reading *job)
{
    const char *head;
    size_t bytes;
    TD_CHECK(td_input_head(input, &head, &bytes));
    td_piece piece = {.input = input, .line = 1, .text = head, .end = head + bytes};
    const char *at = skip_spaces(head, piece.end);
    job->weighted = take_word(&at, piece.end, weighted_word);
    if (!job->weighted && !take_word(&at, piece.end, plain_word))
        return td_fail_line(&piece, at, "the first word must be %s or %s", plain_word, weighted_word);
    TD_CHECK(read_count(&piece, &at, "number of vertices", TD_MAX_VERTICES, &job->vertices));
    return read_count(&piece, &at, "number of edges", UINT64_C(1) << 60, &job->edges);
}

static td_status count_words(void *context, const td_piece *piece, int worker)
{
    (void)worker;
    reading *job = context;
    uint64_t words = 0;
    bool space = true;
    for (const char *at = piece->text; at < piece->end; at++) {
        bool was = space;
        space = is_space(*at);
        words += was & !space;
    }
    return td_piece_counts_put(&job->words, piece->index, words);
}

static td_status check_words(const td_input *input, reading *job)
{
    job->total = td_piece_counts_sum(&job->words);
    uint64_t follow = job->total - HEADER_WORDS;
    uint64_t promised = job->vertices + job->edges + (job->weighted ? job->edges : 0);
    if (follow == promised) return TD_OK;
    return td_fail(TD_FORMAT, "%s: %llu vertices and %llu edges make %llu numbers%s, but %llu follow the header",
                   td_input_path(input), (unsigned long long)job->vertices, (unsigned long long)job->edges,
                   (unsigned long long)promised, job->weighted ? " with the weights" : "",
                   (unsigned long long)follow);
}

static td_status make_chunks(reading *job)
{
    for (uint64_t first = 0; first < job->edges; first += TD_LIST_CHUNK) {
        uint64_t count = job->edges - first < TD_LIST_CHUNK ? job->edges - first : TD_LIST_CHUNK;
        td_edge_chunk *chunk;
        TD_CHECK(td_edges_chunk(job->list, first / TD_LIST_CHUNK, &chunk));
        TD_CHECK(td_chunk_reserve(chunk, count, job->weighted));
    }
    TD_CHECK(TD_NEW(&job->offsets, job->vertices, "offsets"));
    return job->weighted ? TD_NEW(&job->weights, job->edges, "weights") : TD_OK;
}

static td_status read_offset(reading *job, const td_piece *piece, const char **at, uint64_t vertex)
{
    const char *start = *at;
    uint64_t offset = 0;
    TD_CHECK(td_read_u64(piece, at, "offset", &offset));
    if (offset > job->edges)
        return td_fail_line(piece, start, "the offset of vertex %llu is %llu, but there are %llu edges",
                            (unsigned long long)vertex, (unsigned long long)offset, (unsigned long long)job->edges);
    job->offsets[vertex] = offset;
    return TD_OK;
}

static inline td_status read_target(reading *job, const td_piece *piece, const char **at, uint64_t edge)
{
    const char *start = *at;
    uint64_t target = 0;
    TD_CHECK(td_read_u64(piece, at, "target", &target));
    if (target >= job->vertices)
        return td_fail_line(piece, start, "target %llu, but the last vertex is %llu", (unsigned long long)target,
                            (unsigned long long)job->vertices - 1);
    job->list->chunks[edge / TD_LIST_CHUNK]->ends[2 * (edge % TD_LIST_CHUNK) + 1] = (uint32_t)target;
    return TD_OK;
}

static td_status read_weight(reading *job, const td_piece *piece, const char **at, uint64_t edge)
{
    const char *start = *at;
    td_number weight = {0};
    TD_CHECK(td_read_number(piece, at, "weight", &weight));
    const td_edge_chunk as = {.table = job->list->table};
    bool vanished = weight.value == 0 && weight.magnitude != 0;
    uint64_t most = as.table != NULL ? UINT64_C(1) << 53 : UINT32_MAX;
    bool fits = weight.integer ? weight.magnitude <= most : td_chunk_holds(&as, weight.value) && !vanished;
    if (!fits) return td_fail_weight(piece, start, &as, &weight);
    job->weights[edge] = weight.value;
    return TD_OK;
}

static td_status read_words(void *context, const td_piece *piece, int worker)
{
    (void)worker;
    reading *job = context;
    uint64_t word = piece->index < job->words.room ? job->words.counts[piece->index] : job->total;
    uint64_t targets = HEADER_WORDS + job->vertices;
    const char *end = piece->end;
    for (const char *at = skip_spaces(piece->text, end); at < end; at = skip_spaces(at, end), word++) {
        if (word >= job->total)
            return td_fail_line(piece, at, "more words than a moment ago: the file was changed while it was read");
        if (word >= targets + job->edges)
            TD_CHECK(read_weight(job, piece, &at, word - targets - job->edges));
        else if (word >= targets)
            TD_CHECK(read_target(job, piece, &at, word - targets));
        else if (word >= HEADER_WORDS)
            TD_CHECK(read_offset(job, piece, &at, word - HEADER_WORDS));
        else
            while (at < end && !is_space(*at)) at++;
    }
    return TD_OK;
}

static td_status check_offsets(const td_input *input, const reading *job)
{
    for (uint64_t v = 0, before = 0; v < job->vertices; before = job->offsets[v++]) {
        if (job->offsets[v] >= before && (v > 0 || job->offsets[v] == 0)) continue;
        return td_fail(TD_FORMAT, "%s: the offset of vertex %llu is %llu; %s", td_input_path(input),
                       (unsigned long long)v, (unsigned long long)job->offsets[v],
                       v == 0 ? "the first must be 0" : "offsets must not descend");
    }
    if (job->vertices > 0 || job->edges == 0) return TD_OK;
    return td_fail(TD_FORMAT, "%s promises %llu edges but no vertices", td_input_path(input),
                   (unsigned long long)job->edges);
}

/* The vertex with this edge: the last whose offset is not above it. */
static uint64_t source_of(const reading *job, uint64_t edge)
{
    uint64_t low = 0, high = job->vertices;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (job->offsets[middle] <= edge)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void put_weight(td_edge_chunk *chunk, double weight)
{
    if (weight == trunc(weight) && fabs(weight) <= UINT32_MAX)
        td_chunk_weight_integer(chunk, weight < 0, (uint32_t)fabs(weight));
    else
        td_chunk_weight_double(chunk, weight);
}

/* Gives the targets in a chunk their sources and weights. */
static td_status finish_chunk(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    reading *job = context;
    td_edge_chunk *chunk = job->list->chunks[begin / TD_LIST_CHUNK];
    uint64_t source = source_of(job, begin);
    for (uint64_t edge = begin; edge < end; edge++) {
        while (source + 1 < job->vertices && job->offsets[source + 1] <= edge) source++;
        TD_CHECK(td_chunk_put(chunk, source, chunk->ends[2 * (edge - begin) + 1]));
        if (job->weighted) put_weight(chunk, job->weights[edge]);
    }
    return TD_OK;
}

static td_status read_ligra(const char *path, td_edge_list *edges, td_pool *pool)
{
    td_status status = TD_OK;
    td_input *input = NULL;
    reading job = {.words = TD_PIECE_COUNTS_NONE, .list = edges};
    TD_CHECK(td_input_open(&input, path));
    TD_TRY(read_header(input, &job));
    TD_TRY(td_input_pieces(input, pool, 0, count_words, &job, NULL));
    TD_TRY(check_words(input, &job));
    TD_TRY(make_chunks(&job));
    TD_TRY(td_input_pieces(input, pool, 0, read_words, &job, NULL));
    TD_TRY(check_offsets(input, &job));
    TD_TRY(td_pool_for(pool, job.edges, TD_LIST_CHUNK, finish_chunk, &job));
    edges->declared = true;
    edges->vertices = job.vertices;
    edges->weighted = job.weighted;
done:
    td_free(job.offsets);
    td_free(job.weights);
    td_piece_counts_free(&job.words);
    td_input_add_decoding(input, &edges->decoding);
    td_input_close(input);
    return status;
}

static int recognise(const td_probe *probe)
{
    const char *end = probe->head + probe->head_bytes, *at = skip_spaces(probe->head, end);
    return take_word(&at, end, plain_word) || take_word(&at, end, weighted_word) ? 100 : 0;
}

const td_format td_format_ligra = {
    .name = "ligra",
    .description = "Ligra AdjacencyGraph or WeightedAdjacencyGraph",
    .suffixes = "adj",
    .recognise = recognise,
    .read = read_ligra,
};
