/* Prepared lists: their names, and how they are written, read and checked. What a file has is checked before it is used
 * as an index or a weight, so that a forged file, whose checksums fit, leads nowhere outside. */
#include "layout/lists_file.h"

#include "layout/compressed.h"
#include "store/sidecar_piece.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Raised when the order of the edges in a list, or the meaning of a section, changes. */
#define LISTS_VERSION 1u

typedef struct meta {
    uint32_t version, bytes; /* of this struct */
    uint32_t vertices, weight_kind;
    uint64_t edges, words;
} meta;

static const char *const views[] = {"out", "in", "both"};
static const char *const orders[] = {"", "-hot", "-light"};

char *td_lists_form_name(char name[TD_SIDECAR_NAME], const td_lists_form *form)
{
    const char *weights = !form->weighted ? "" : form->weight_bits > 0 ? "-packed" : "-weights";
    snprintf(name, TD_SIDECAR_NAME, "stream-%s%s%s%s", views[form->view], orders[form->order],
             form->compressed ? "-small" : "", weights);
    return name;
}

/* Hot lists depend on what a degree is, which differs between a symmetric graph and others. */
static void write_key(char key[TD_SIDECAR_KEY], const td_graph *graph, const td_lists_form *form)
{
    snprintf(key, TD_SIDECAR_KEY, "version=%u order=%s weights=%s weight_bits=%u compressed=%s symmetric=%s", LISTS_VERSION,
             form->order == TD_LISTS_STORED ? "stored" : orders[form->order] + 1,
             form->weighted ? td_weight_name(graph->weights) : "none", form->weight_bits, form->compressed ? "yes" : "no",
             graph->symmetric ? "yes" : "no");
}

static td_sidecar_id id_of(const td_graph *graph, const td_lists_form *form, char name[TD_SIDECAR_NAME])
{
    return (td_sidecar_id){graph->name, graph->build_id, td_lists_form_name(name, form)};
}

static uint64_t weight_bytes(const td_graph *graph, const td_lists_form *form)
{
    return form->weighted && form->weight_bits == 0 ? td_weight_bytes(graph->weights) : 0;
}

bool td_lists_prepared(const td_graph *graph, const td_lists_form *form)
{
    td_sidecar *file = NULL;
    td_failure before;
    uint64_t words;
    td_failure_keep(&before);
    td_status status = td_lists_open(&file, graph, form, &words);
    td_sidecar_close(file);
    td_failure_set(&before);
    return status == TD_OK;
}

/* Writing. */

td_status td_lists_save(const td_graph *graph, const td_lists_form *form, const td_lists_content *content,
                        char where[TD_SIDECAR_PATH], td_pool *pool)
{
    char name[TD_SIDECAR_NAME], key[TD_SIDECAR_KEY];
    uint64_t edges = td_lists_edges(graph, form), weight = weight_bytes(graph, form);
    meta counts = {.version = LISTS_VERSION, .bytes = sizeof counts, .vertices = graph->vertices, .edges = edges,
                   .weight_kind = form->weighted ? graph->weights : TD_WEIGHT_NONE, .words = content->word_count};
    td_sidecar_part parts[4] = {{"meta", &counts, sizeof counts}};
    int count = 1;
    if (form->compressed) {
        parts[count++] = (td_sidecar_part){"lengths", content->lengths, td_lists_groups(edges) * sizeof(uint16_t)};
        parts[count++] = (td_sidecar_part){"words", content->words, content->word_count * sizeof(uint32_t)};
    } else {
        parts[count++] = (td_sidecar_part){"targets", content->targets, edges * sizeof(uint32_t)};
    }
    if (weight > 0) parts[count++] = (td_sidecar_part){"weights", content->weights, edges * weight};
    td_sidecar_id id = id_of(graph, form, name);
    write_key(key, graph, form);
    return td_sidecar_write(&id, key, parts, count, where, pool);
}

/* Reading. */

static td_status check_meta(const meta *counts, const td_graph *graph, const td_lists_form *form, const char *file)
{
    if (counts->version != LISTS_VERSION || counts->bytes != sizeof *counts)
        return td_fail(TD_UNSUPPORTED, "%s has version %u of prepared lists; this Tandem has %u. Prepare it again", file,
                       counts->version, LISTS_VERSION);
    uint64_t edges = td_lists_edges(graph, form), most = td_lists_groups(edges) * TD_COMPRESS_MOST;
    uint32_t kind = form->weighted ? (uint32_t)graph->weights : TD_WEIGHT_NONE;
    if (counts->vertices == graph->vertices && counts->edges == edges && counts->weight_kind == kind &&
        counts->words <= (form->compressed ? most : 0))
        return TD_OK;
    return td_fail(TD_CORRUPT, "%s does not have the counts of its graph; prepare it again", file);
}

td_status td_lists_open(td_sidecar **out, const td_graph *graph, const td_lists_form *form, uint64_t *words)
{
    td_status status = TD_OK;
    td_sidecar *file = NULL;
    char name[TD_SIDECAR_NAME], key[TD_SIDECAR_KEY];
    meta counts = {0};
    td_sidecar_id id = id_of(graph, form, name);
    if (!td_graph_has_file(graph))
        return td_fail(TD_NOT_FOUND, "the graph is not one of a .tg file in memory, so nothing is prepared for it");
    TD_TRY(td_sidecar_open(&file, &id));
    write_key(key, graph, form);
    if (strcmp(td_sidecar_key(file), key) != 0)
        TD_TRY(td_fail(TD_NOT_FOUND, "%s was prepared with other settings (%s)", td_sidecar_file(file), td_sidecar_key(file)));
    TD_TRY(td_sidecar_read(file, "meta", &counts, sizeof counts, NULL));
    TD_TRY(check_meta(&counts, graph, form, td_sidecar_file(file)));
    *words = counts.words;
    *out = file;
    file = NULL;
done:
    td_sidecar_close(file);
    return status;
}

/* Checking. */

/* Comparisons are or-ed: that takes fewer instructions than a maximum where the processor has none of unsigned words. */
static uint32_t find_most(const uint32_t *targets, uint64_t count, uint32_t mask)
{
    uint32_t most = 0;
    for (uint64_t i = 0; i < count; i++) most = (targets[i] & mask) > most ? targets[i] & mask : most;
    return most;
}

td_status td_lists_check_targets(const uint32_t *targets, uint64_t count, uint32_t mask, uint32_t vertices)
{
    uint32_t wrong = 0;
    for (uint64_t i = 0; i < count; i++) wrong |= (targets[i] & mask) >= vertices;
    if (wrong == 0) return TD_OK;
    return td_fail(TD_CORRUPT, "a list has vertex %u of %u; prepare it again", find_most(targets, count, mask), vertices);
}

/* Integers are compared as numbers, so that NaN fails like any other real that is not within the range. */
td_status td_lists_check_weights(const td_graph *graph, const void *weights, uint64_t count)
{
    double low = graph->weight_min, high = graph->weight_max;
    bool fine = true;
    if (graph->weights == TD_WEIGHT_F64) {
        for (uint64_t i = 0; i < count; i++) {
            double weight = ((const double *)weights)[i];
            fine &= weight >= low && weight <= high;
        }
    } else if (graph->weights == TD_WEIGHT_F32) {
        for (uint64_t i = 0; i < count; i++) {
            double weight = ((const float *)weights)[i];
            fine &= weight >= low && weight <= high;
        }
    } else {
        uint32_t least = UINT32_MAX, most = 0;
        for (uint64_t i = 0; i < count; i++) {
            uint32_t weight = graph->weights == TD_WEIGHT_U8    ? ((const uint8_t *)weights)[i]
                              : graph->weights == TD_WEIGHT_U16 ? ((const uint16_t *)weights)[i]
                                                                : ((const uint32_t *)weights)[i];
            least = weight < least ? weight : least;
            most = weight > most ? weight : most;
        }
        fine = count == 0 || (least >= low && most <= high);
    }
    if (fine) return TD_OK;
    return td_fail(TD_CORRUPT, "a weight is outside %g to %g, the range of the graph; prepare it again", low, high);
}

typedef struct checking {
    const td_graph *graph;
    const td_lists_form *form;
} checking;

/* A packed word's halves have fewer than 32 bits each, so that signed comparisons do. */
static td_status check_packed(const td_graph *graph, const uint32_t *words, uint64_t count, uint32_t bits)
{
    int32_t least = (int32_t)graph->weight_min, most = (int32_t)graph->weight_max, last = (int32_t)(graph->vertices - 1);
    uint32_t mask = UINT32_MAX >> bits, shift = 32 - bits;
    int32_t wrong = 0;
    for (uint64_t i = 0; i < count; i++) {
        int32_t target = (int32_t)(words[i] & mask), weight = (int32_t)(words[i] >> shift);
        wrong |= (target > last) | (weight < least) | (weight > most);
    }
    if (wrong == 0) return TD_OK;
    TD_CHECK(td_lists_check_targets(words, count, mask, graph->vertices));
    return td_fail(TD_CORRUPT, "a packed weight is outside %g to %g, the range of the graph; prepare it again",
                   graph->weight_min, graph->weight_max);
}

static td_status check_target_block(const void *context, uint64_t at, const void *data, uint64_t bytes)
{
    const checking *self = context;
    (void)at;
    uint32_t bits = self->form->weight_bits;
    if (bits > 0) return check_packed(self->graph, data, bytes / sizeof(uint32_t), bits);
    return td_lists_check_targets(data, bytes / sizeof(uint32_t), UINT32_MAX, self->graph->vertices);
}

static td_status check_weight_block(const void *context, uint64_t at, const void *data, uint64_t bytes)
{
    const checking *self = context;
    (void)at;
    return td_lists_check_weights(self->graph, data, bytes / td_weight_bytes(self->graph->weights));
}

td_status td_lists_read_weights(const td_sidecar *file, const td_graph *graph, const td_lists_form *form, void *weights,
                                td_pool *pool)
{
    checking self = {graph, form};
    return td_sidecar_read_checked(file, "weights", weights, td_lists_edges(graph, form) * weight_bytes(graph, form),
                                   check_weight_block, &self, pool);
}

_Static_assert(TD_LISTS_PIECE % TD_SIDECAR_BLOCK == 0, "a piece is whole blocks of a file");

td_status td_lists_read_piece(const td_sidecar *file, const td_graph *graph, const td_lists_form *form, uint64_t piece,
                              uint32_t *targets, void *weights)
{
    checking self = {graph, form};
    uint64_t all = td_lists_edges(graph, form), begin = piece * TD_LISTS_PIECE, weight = weight_bytes(graph, form);
    uint64_t edges = all - begin < TD_LISTS_PIECE ? all - begin : TD_LISTS_PIECE, word = sizeof(uint32_t);
    TD_CHECK(td_sidecar_read_piece(file, "targets", all * word, begin * word, targets + begin, edges * word,
                                   check_target_block, &self));
    if (weight == 0) return TD_OK;
    return td_sidecar_read_piece(file, "weights", all * weight, begin * weight, (char *)weights + begin * weight,
                                 edges * weight, check_weight_block, &self);
}

td_status td_lists_read_lengths(const td_sidecar *file, uint64_t groups, uint64_t words, uint16_t *lengths, td_pool *pool)
{
    uint64_t sum = 0;
    bool fine = true;
    TD_CHECK(td_sidecar_read(file, "lengths", lengths, groups * sizeof *lengths, pool));
    for (uint64_t i = 0; i < groups; i++) {
        sum += lengths[i];
        fine &= lengths[i] >= TD_COMPRESS_HEAD && lengths[i] <= TD_COMPRESS_MOST;
    }
    if (fine && sum == words) return TD_OK;
    return td_fail(TD_CORRUPT, "%s: the lengths of compressed groups do not fit their words; prepare it again",
                   td_sidecar_file(file));
}

td_status td_lists_take_words(const td_sidecar *file, uint64_t words, td_sidecar_check take, const void *context,
                              td_pool *pool)
{
    return td_sidecar_take(file, "words", words * sizeof(uint32_t), take, context, pool);
}
