/* Adjacency lists in the form in which an engine reads them, in a file beside their graph (store/sidecar.h). The file
 * has edges alone: where a list begins follows from the graph's offsets. */
#ifndef TD_LAYOUT_LISTS_FILE_H
#define TD_LAYOUT_LISTS_FILE_H

#include "layout/lists.h"
#include "store/sidecar.h"

typedef enum td_lists_view { TD_LISTS_OUT, TD_LISTS_IN, TD_LISTS_BOTH } td_lists_view; /* both: td_lists_join */

typedef struct td_lists_form {
    td_lists_view view;   /* of a symmetric graph: TD_LISTS_OUT */
    td_list_order order;
    bool weighted;
    uint32_t weight_bits; /* weight bits at the top of the word of a target; 0: weights are an array of their own */
    bool compressed;      /* targets in compressed groups (compressed.h) */
} td_lists_form;

/* The name of its layout: "stream-out-light-packed". */
char *td_lists_form_name(char name[TD_SIDECAR_NAME], const td_lists_form *form);

/* Whether the graph is one of a .tg file, so that layouts can lie beside it. */
static inline bool td_graph_has_file(const td_graph *graph)
{
    return graph->build_id != 0 && graph->name != NULL && graph->paged == NULL;
}

/* Whether such a layout is there for this build of the graph, made as this Tandem makes it. The header alone is read. */
bool td_lists_prepared(const td_graph *graph, const td_lists_form *form);

/* Edges of the lists. */
static inline uint64_t td_lists_edges(const td_graph *graph, const td_lists_form *form)
{
    return graph->edges * (form->view == TD_LISTS_BOTH ? 2 : 1);
}

/* Writes lists. Compressed ones have `words` instead of targets: the words of every group, and the groups one after the
 * other. */
typedef struct td_lists_content {
    const uint32_t *targets;
    const void *weights;     /* NULL: none, or packed */
    const uint16_t *lengths; /* words of every group */
    const uint32_t *words;
    uint64_t word_count;
} td_lists_content;
td_status td_lists_save(const td_graph *graph, const td_lists_form *form, const td_lists_content *content,
                        char where[TD_SIDECAR_PATH], td_pool *pool);

/* Opens a layout; TD_NOT_FOUND: there is none, or it was made otherwise. *words: of all compressed groups. */
td_status td_lists_open(td_sidecar **out, const td_graph *graph, const td_lists_form *form, uint64_t *words);

/* Reads a piece of the edges (TD_LISTS_PIECE), by the calling thread, and checks that every target is a vertex and every
 * weight in the graph's range. The arrays are those of all edges; weights that are packed are in the targets' words. */
td_status td_lists_read_piece(const td_sidecar *file, const td_graph *graph, const td_lists_form *form, uint64_t piece,
                              uint32_t *targets, void *weights);

/* Reads and checks all weights, of compressed lists. */
td_status td_lists_read_weights(const td_sidecar *file, const td_graph *graph, const td_lists_form *form, void *weights,
                                td_pool *pool);

/* Reads the words of every group, td_lists_groups of them, and checks that they add up; then hands the groups' words on
 * block by block, unchecked (td_sidecar_take). */
static inline uint64_t td_lists_groups(uint64_t edges) { return (edges + 1023) / 1024; }
td_status td_lists_read_lengths(const td_sidecar *file, uint64_t groups, uint64_t words, uint16_t *lengths, td_pool *pool);
td_status td_lists_take_words(const td_sidecar *file, uint64_t words, td_sidecar_check take, const void *context,
                              td_pool *pool);

/* Checks that all of `count` numbers are below `vertices`, and that weights are finite and within the graph's range. */
td_status td_lists_check_targets(const uint32_t *targets, uint64_t count, uint32_t mask, uint32_t vertices);
td_status td_lists_check_weights(const td_graph *graph, const void *weights, uint64_t count);

#endif
