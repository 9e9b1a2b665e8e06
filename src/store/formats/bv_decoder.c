/* The body of the decoder is one inlined function over the codes of the five
 * components; it is compiled twice, for WebGraph's default codes, which all
 * published graphs use, as constants, and for any others as variables.
 *
 * No input is trusted: every number is checked against its bounds before it is used, so
 * that a list never exceeds the vertices, the stated number of arcs, or its buffer.
 */
#include "store/formats/bv_decoder.h"

#include "store/formats/lists.h"

#include <string.h>

#define FOLDED static inline __attribute__((always_inline))

typedef struct list {
    uint32_t *targets;
    uint32_t count;
    uint64_t room;
} list;

typedef struct codes {
    td_code outdegrees, blocks, residuals, references, block_counts;
    uint32_t parameter;
} codes;

struct td_bv_decoder {
    td_bv_shape shape;
    codes codes;
    bool usual; /* the default codes */
    const char *path;
    const uint64_t *offsets;
    td_bits bits;
    uint64_t vertex;      /* the vertex of the next list */
    uint64_t arcs_left;   /* stated arcs that this decoder has not decoded yet */
    list *window;         /* vertex v's list is window[v & mask] */
    uint64_t mask;
    list extras, residuals; /* parts of the list being decoded */
    uint64_t *needed;       /* td_bv_decoder_seek: the vertices to decode, descending */
    uint64_t needed_room;
};

static const codes usual_codes = {TD_CODE_GAMMA, TD_CODE_GAMMA, TD_CODE_ZETA, TD_CODE_UNARY, TD_CODE_GAMMA, 3};

static __attribute__((noinline)) td_status refuse(const td_bv_decoder *decoder, const td_bits *bits, uint64_t vertex,
                                                  const char *what, uint64_t seen, uint64_t allowed)
{
    if (td_bits_over(bits))
        return td_fail(TD_CORRUPT, "%s ends inside the list of vertex %llu of %llu", decoder->path,
                       (unsigned long long)vertex, (unsigned long long)decoder->shape.vertices);
    if (seen == TD_BITS_BAD)
        return td_fail(TD_CORRUPT, "%s: bit %llu, in the list of vertex %llu: not the code of a %s", decoder->path,
                       (unsigned long long)bits->at, (unsigned long long)vertex, what);
    return td_fail(TD_CORRUPT, "%s: bit %llu, in the list of vertex %llu: %s %llu, at most %llu is possible",
                   decoder->path, (unsigned long long)bits->at, (unsigned long long)vertex, what,
                   (unsigned long long)seen, (unsigned long long)allowed);
}

static __attribute__((noinline)) td_status refuse_twice(const td_bv_decoder *decoder, const td_bits *bits,
                                                        uint64_t vertex)
{
    return td_fail(TD_CORRUPT, "%s: bit %llu: a successor stands twice in the list of vertex %llu", decoder->path,
                   (unsigned long long)bits->at, (unsigned long long)vertex);
}

static inline td_status make_room(list *l, uint64_t count)
{
    if (__builtin_expect(count <= l->room, 1)) return TD_OK;
    uint64_t room = count + count / 2 + 16;
    td_free(l->targets);
    l->targets = NULL;
    l->room = 0;
    TD_CHECK(TD_NEW(&l->targets, room, "successors"));
    l->room = room;
    return TD_OK;
}

/* Merges two ascending arrays into the first, from the back, so that no element moves
 * twice. False if an element is in both. */
static bool merge(uint32_t *into, uint64_t count, const uint32_t *more, uint64_t more_count)
{
    bool twice = false;
    while (count > 0 && more_count > 0) {
        uint32_t a = into[count - 1], b = more[more_count - 1];
        bool first = a > b;
        twice |= a == b;
        into[count + more_count - 1] = first ? a : b;
        count -= first;
        more_count -= !first;
    }
    if (more_count > 0) memcpy(into, more, more_count * sizeof *into);
    return !twice;
}

static inline void copy_run(uint32_t *to, const uint32_t *from, uint32_t count)
{
    memcpy(to, from, count * sizeof *to);
}

/* Blocks alternate between copying and skipping; the rest of the list after the last block continues the
 * alternation. */
FOLDED td_status copy_blocks(td_bv_decoder *decoder, td_bits *bits, codes c, uint64_t vertex, const list *from,
                             uint64_t degree, list *into)
{
    uint64_t blocks = td_bits_code(bits, c.block_counts, c.parameter), at = 0, copied = 0;
    if (blocks > (uint64_t)from->count + 1)
        return refuse(decoder, bits, vertex, "block count", blocks, (uint64_t)from->count + 1);
    for (uint64_t block = 0; block <= blocks; block++) {
        uint64_t left = from->count - at, length = left;
        if (block < blocks) {
            length = td_bits_code(bits, c.blocks, c.parameter);
            if (length > left || (length += block > 0) > left)
                return refuse(decoder, bits, vertex, "block length", length, left);
        }
        if (block % 2 == 0) {
            if (length > degree - copied)
                return refuse(decoder, bits, vertex, "number of successors copied", copied + length, degree);
            if (length > 0) copy_run(into->targets + copied, from->targets + at, (uint32_t)length);
            copied += length;
        }
        at += length;
    }
    into->count = (uint32_t)copied;
    return TD_OK;
}

/* The successor that lies `code` away from the vertex: even codes above, odd ones below. */
FOLDED bool signed_step(uint64_t vertex, uint64_t code, uint64_t vertices, uint64_t *out)
{
    if (code > 2 * vertices) return false;
    *out = vertex + (code >> 1 ^ -(code & 1));
    return *out < vertices;
}

static uint32_t *put_interval(uint32_t *to, uint64_t first, uint64_t length)
{
    for (uint64_t i = 0; i < length; i++) to[i] = (uint32_t)(first + i);
    return to + length;
}

/* Runs of consecutive successors, `extras` in all at most. */
FOLDED td_status read_intervals(td_bv_decoder *decoder, td_bits *bits, uint64_t vertex, uint64_t extras, list *into)
{
    uint64_t vertices = decoder->shape.vertices, shortest = decoder->shape.min_interval;
    uint64_t count = td_bits_gamma(bits), next = 0; /* the next interval starts there or later */
    uint32_t *to = into->targets;
    if (count > extras / shortest) return refuse(decoder, bits, vertex, "interval count", count, extras / shortest);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t code = td_bits_gamma(bits), start = next + code;
        if (i == 0 ? !signed_step(vertex, code, vertices, &start) : code >= vertices - next)
            return refuse(decoder, bits, vertex, "start of an interval", code, i == 0 ? 2 * vertices : vertices - next);
        uint64_t length = td_bits_gamma(bits), left = vertices - start;
        if (left > extras) left = extras;
        if (length > left || (length += shortest) > left)
            return refuse(decoder, bits, vertex, "length of an interval", length, left);
        to = put_interval(to, start, length);
        extras -= length;
        next = start + length + 1;
        if (next > vertices) next = vertices;
    }
    into->count = (uint32_t)(to - into->targets);
    return TD_OK;
}

FOLDED td_status read_residuals(td_bv_decoder *decoder, td_bits *bits, codes c, uint64_t vertex, uint64_t count,
                                uint32_t *to)
{
    uint64_t vertices = decoder->shape.vertices, last, code = td_bits_code(bits, c.residuals, c.parameter);
    if (!signed_step(vertex, code, vertices, &last))
        return refuse(decoder, bits, vertex, "first residual", code, 2 * vertices);
    to[0] = (uint32_t)last;
    for (uint64_t i = 1; i < count; i++) {
        uint64_t gap = td_bits_code(bits, c.residuals, c.parameter);
        if (__builtin_expect(gap >= vertices - 1 - last, 0))
            return refuse(decoder, bits, vertex, "residual gap", gap, vertices - 1 - last);
        last += gap + 1;
        to[i] = (uint32_t)last;
    }
    return TD_OK;
}

/* All successors that were not copied, ascending. */
FOLDED td_status read_extras(td_bv_decoder *decoder, td_bits *bits, codes c, uint64_t vertex, uint64_t count,
                             list *into)
{
    into->count = 0;
    if (decoder->shape.min_interval > 0) TD_CHECK(read_intervals(decoder, bits, vertex, count, into));
    if (into->count == count) return TD_OK;
    uint64_t residuals = count - into->count;
    if (into->count == 0) {
        into->count = (uint32_t)count;
        return read_residuals(decoder, bits, c, vertex, count, into->targets);
    }
    TD_CHECK(make_room(&decoder->residuals, residuals));
    TD_CHECK(read_residuals(decoder, bits, c, vertex, residuals, decoder->residuals.targets));
    if (!merge(into->targets, into->count, decoder->residuals.targets, residuals))
        return refuse_twice(decoder, bits, vertex);
    into->count = (uint32_t)count;
    return TD_OK;
}

FOLDED td_status read_reference(td_bv_decoder *decoder, td_bits *bits, codes c, uint64_t vertex, uint64_t *reference)
{
    *reference = 0;
    if (decoder->shape.window == 0) return TD_OK;
    uint64_t furthest = vertex < decoder->shape.window ? vertex : decoder->shape.window;
    *reference = td_bits_code(bits, c.references, c.parameter);
    return *reference <= furthest ? TD_OK : refuse(decoder, bits, vertex, "reference", *reference, furthest);
}

FOLDED td_status read_degree(td_bv_decoder *decoder, td_bits *bits, codes c, uint64_t vertex, uint64_t *degree)
{
    uint64_t most = decoder->shape.vertices < decoder->arcs_left ? decoder->shape.vertices : decoder->arcs_left;
    *degree = td_bits_code(bits, c.outdegrees, c.parameter);
    return *degree <= most ? TD_OK : refuse(decoder, bits, vertex, "outdegree", *degree, most);
}

FOLDED td_status read_list(td_bv_decoder *decoder, td_bits *bits, codes c, uint64_t vertex, list *into)
{
    uint64_t degree, reference;
    into->count = 0;
    TD_CHECK(read_degree(decoder, bits, c, vertex, &degree));
    if (degree == 0) return TD_OK;
    TD_CHECK(make_room(into, degree));
    TD_CHECK(read_reference(decoder, bits, c, vertex, &reference));
    if (reference == 0) return read_extras(decoder, bits, c, vertex, degree, into);
    const list *from = &decoder->window[(vertex - reference) & decoder->mask];
    TD_CHECK(copy_blocks(decoder, bits, c, vertex, from, degree, into));
    if (into->count == degree) return TD_OK;
    uint64_t extras = degree - into->count;
    TD_CHECK(make_room(&decoder->extras, extras));
    TD_CHECK(read_extras(decoder, bits, c, vertex, extras, &decoder->extras));
    if (!merge(into->targets, into->count, decoder->extras.targets, extras))
        return refuse_twice(decoder, bits, vertex);
    into->count = (uint32_t)degree;
    return TD_OK;
}

static td_status read_usual_list(td_bv_decoder *decoder, uint64_t vertex, list *into)
{
    td_bits bits = decoder->bits; /* a copy that can live in registers */
    td_status status = read_list(decoder, &bits, usual_codes, vertex, into);
    decoder->bits.at = bits.at;
    return status;
}

static td_status read_any_list(td_bv_decoder *decoder, uint64_t vertex, list *into)
{
    return read_list(decoder, &decoder->bits, decoder->codes, vertex, into);
}

/* Decodes the list that starts at the current bit into the window. */
static inline td_status next_list(td_bv_decoder *decoder, uint64_t vertex)
{
    list *into = &decoder->window[vertex & decoder->mask];
    TD_CHECK(decoder->usual ? read_usual_list(decoder, vertex, into) : read_any_list(decoder, vertex, into));
    return td_bits_over(&decoder->bits) ? refuse(decoder, &decoder->bits, vertex, "list", 0, 0) : TD_OK;
}

static td_status refuse_offset(const td_bv_decoder *decoder, uint64_t vertex)
{
    return td_fail(TD_CORRUPT,
                   "%s: the list of vertex %llu ends at bit %llu, but at bit %llu by the .offsets file beside it; "
                   "without that file the graph is read all the same, by one thread",
                   decoder->path, (unsigned long long)vertex, (unsigned long long)decoder->bits.at,
                   (unsigned long long)decoder->offsets[vertex + 1]);
}

td_status td_bv_decoder_run(td_bv_decoder *decoder, uint64_t count, td_edge_chunk *chunk)
{
    for (uint64_t end = decoder->vertex + count; decoder->vertex < end; decoder->vertex++) {
        const list *successors = &decoder->window[decoder->vertex & decoder->mask];
        TD_CHECK(next_list(decoder, decoder->vertex));
        TD_CHECK(td_chunk_need(chunk, successors->count, false));
        td_chunk_put_list(chunk, (uint32_t)decoder->vertex, successors->targets, successors->count);
        decoder->arcs_left -= successors->count;
        if (decoder->offsets != NULL && decoder->bits.at != decoder->offsets[decoder->vertex + 1])
            return refuse_offset(decoder, decoder->vertex);
    }
    return TD_OK;
}

static td_status push_needed(td_bv_decoder *decoder, uint64_t count, uint64_t vertex)
{
    if (count == decoder->needed_room) {
        uint64_t room = 2 * decoder->needed_room + 64;
        TD_CHECK(TD_RESIZE(&decoder->needed, room, "references"));
        decoder->needed_room = room;
    }
    decoder->needed[count] = vertex;
    return TD_OK;
}

static td_status reference_of(td_bv_decoder *decoder, uint64_t vertex, uint64_t *reference)
{
    uint64_t degree;
    decoder->bits.at = decoder->offsets[vertex];
    *reference = 0;
    TD_CHECK(read_degree(decoder, &decoder->bits, decoder->codes, vertex, &degree));
    return degree == 0 ? TD_OK : read_reference(decoder, &decoder->bits, decoder->codes, vertex, reference);
}

/* Finds the lists that must be decoded before the lists in the window of `vertex`: walks
 * down from it, following references, until none is open. The count of a vertex's slot in
 * the window marks a vertex that is still to be visited. */
static td_status find_needed(td_bv_decoder *decoder, uint64_t vertex, uint64_t *count)
{
    uint64_t open = vertex < decoder->shape.window ? vertex : decoder->shape.window;
    for (uint64_t slot = 0; slot <= decoder->mask; slot++) decoder->window[slot].count = 0;
    for (uint64_t back = 1; back <= open; back++) decoder->window[(vertex - back) & decoder->mask].count = 1;
    *count = 0;
    while (open > 0) {
        list *here = &decoder->window[--vertex & decoder->mask];
        if (here->count == 0) continue;
        uint64_t reference;
        here->count = 0;
        open--;
        TD_CHECK(push_needed(decoder, (*count)++, vertex));
        TD_CHECK(reference_of(decoder, vertex, &reference));
        list *from = &decoder->window[(vertex - reference) & decoder->mask];
        if (reference == 0 || from->count == 1) continue;
        from->count = 1;
        open++;
    }
    return TD_OK;
}

td_status td_bv_decoder_seek(td_bv_decoder *decoder, uint64_t vertex)
{
    uint64_t needed;
    if (vertex == decoder->vertex) return TD_OK;
    if (decoder->offsets == NULL) return td_fail(TD_INTERNAL, "%s: no offsets to seek by", decoder->path);
    decoder->arcs_left = decoder->shape.arcs;
    TD_CHECK(find_needed(decoder, vertex, &needed));
    while (needed > 0) {
        uint64_t one = decoder->needed[--needed];
        decoder->bits.at = decoder->offsets[one];
        TD_CHECK(next_list(decoder, one));
    }
    decoder->bits.at = decoder->offsets[vertex];
    decoder->vertex = vertex;
    return TD_OK;
}

uint64_t td_bv_decoder_bit(const td_bv_decoder *decoder) { return decoder->bits.at; }

td_status td_bv_decoder_create(td_bv_decoder **out, const td_bv_shape *shape, const char *path, const void *data,
                               uint64_t bytes, const uint64_t *offsets)
{
    td_status status = TD_OK;
    td_bv_decoder *decoder = NULL;
    TD_CHECK(TD_NEW_ZEROED(&decoder, 1, "BVGraph decoder"));
    decoder->shape = *shape;
    decoder->codes = (codes){shape->outdegrees, shape->blocks,       shape->residuals,
                             shape->references, shape->block_counts, shape->parameter};
    decoder->usual = memcmp(&decoder->codes, &usual_codes, sizeof usual_codes) == 0;
    decoder->path = path;
    decoder->offsets = offsets;
    decoder->bits = (td_bits){data, bytes, 0};
    decoder->arcs_left = shape->arcs;
    while (decoder->mask < shape->window) decoder->mask = 2 * decoder->mask + 1;
    TD_TRY(TD_NEW_ZEROED(&decoder->window, decoder->mask + 1, "BVGraph window"));
    *out = decoder;
    decoder = NULL;
done:
    td_bv_decoder_destroy(decoder);
    return status;
}

void td_bv_decoder_destroy(td_bv_decoder *decoder)
{
    if (decoder == NULL) return;
    for (uint64_t slot = 0; decoder->window != NULL && slot <= decoder->mask; slot++)
        td_free(decoder->window[slot].targets);
    td_free(decoder->window);
    td_free(decoder->extras.targets);
    td_free(decoder->residuals.targets);
    td_free(decoder->needed);
    td_free(decoder);
}
