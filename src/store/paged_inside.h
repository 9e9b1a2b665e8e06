/* Internals of a paged graph, shared by paged.c (opening, division into pages) and paged_cache.c (pages in memory). */
#ifndef TD_STORE_PAGED_INSIDE_H
#define TD_STORE_PAGED_INSIDE_H

#include "base/bitmap.h"
#include "store/packed_file.h"
#include "store/paged.h"

enum { TD_PAGED_READS = 256 };  /* limit on reads in flight */
enum { TD_PAGED_SPARES = 512 }; /* limit on spare units */

typedef enum td_page_state { TD_PAGE_ABSENT, TD_PAGE_ASKED, TD_PAGE_KEPT } td_page_state;

/* The edges' part of one section. */
typedef struct td_paged_section {
    td_section_kind kind;
    char *space;
    uint64_t space_bytes;
    uint32_t element;          /* bytes of an edge */
    uint64_t *there, *asked;   /* bitmaps of blocks */
} td_paged_section;

typedef struct td_page_read {
    td_block_read read;
    td_held_page *page;        /* NULL: the page has been dropped */
    td_paged_section *section;
    struct td_page_read *next; /* in the list of free reads */
} td_page_read;

struct td_paged {
    const td_graph *graph;
    td_packed *packed;
    td_loop *loop;
    td_page_reader *reader;
    td_paged_section sections[4]; /* out targets, out weights, in targets, in weights; no space: absent */
    td_page_read reads[TD_PAGED_READS];
    td_page_read *free_reads;
    td_page_set *sets;
    char *spares[TD_PAGED_SPARES]; /* dropped units whose memory the next reads get (paged_spare.c) */
    uint32_t spare_count;
    struct td_account *payer;     /* that pages are charged to: of the run that they were read for */
    uint64_t unit;                /* blocks that memory is handed on by; 0: it cannot be */
    bool moves_failed;
    uint64_t room, held, kept;    /* bytes: the limit, in memory or in flight, of pages kept for their value */
    double least_value;           /* lower bound of the kept pages' values */
    td_page_pass pass;
    uint32_t ahead;               /* place of the order up to which pages are requested */
    td_held_page *waiting;
    td_paged_counts counts;
    struct td_paged_probe *probe; /* paged_measure.c */
    uint64_t probe_bytes, probe_reads;
    double ratio;                 /* sequential over random; 0: not measured */
    td_status status;             /* of a read */
    td_failure failure;
};

/* Blocks first..end - 1 of a section that contain a run of edges. */
typedef struct td_blocks {
    uint64_t first, end;
} td_blocks;

static inline td_blocks td_edge_blocks(const td_paged_section *section, uint64_t first_edge, uint64_t end_edge)
{
    if (first_edge == end_edge) return (td_blocks){0, 0};
    return (td_blocks){first_edge * section->element / TD_PACKED_BLOCK,
                       (end_edge * section->element - 1) / TD_PACKED_BLOCK + 1};
}

static inline uint64_t td_block_bytes_of(const td_paged_section *section, td_blocks blocks)
{
    uint64_t begin = blocks.first * TD_PACKED_BLOCK, whole = (blocks.end - blocks.first) * TD_PACKED_BLOCK;
    return section->space_bytes - begin < whole ? section->space_bytes - begin : whole;
}

static inline const td_adjacency *td_section_list(const td_graph *graph, const td_paged_section *section)
{
    return section->kind <= TD_SECTION_OUT_WEIGHTS ? &graph->out : &graph->in;
}

static inline td_blocks td_page_blocks(const td_graph *graph, const td_paged_section *section, const td_held_page *page)
{
    const uint64_t *offsets = td_section_list(graph, section)->offsets;
    return td_edge_blocks(section, offsets[page->begin], offsets[page->end]);
}

/* Whether pages with these lists need the section. */
static inline bool td_section_needed(const td_paged_section *section, unsigned lists, unsigned needs)
{
    bool out = section->kind <= TD_SECTION_OUT_WEIGHTS;
    bool weights = section->kind == TD_SECTION_OUT_WEIGHTS || section->kind == TD_SECTION_IN_WEIGHTS;
    return section->space != NULL && (lists & (out ? TD_LIST_OUT : TD_LIST_IN)) &&
           (!weights || (needs & TD_WITH_WEIGHTS));
}

/* paged_cache.c: drops the set's pages; drops everything, after the reader was destroyed. */
void td_paged_drop_set(td_paged *paged, td_page_set *set);
void td_paged_drop_all(td_paged *paged);

/* paged_spare.c: frees the memory of dropped blocks, and provides it for blocks to be read (false: over the budget).
 * Whole dropped units are kept as spares until a read reuses them, or until the number of spares is reduced. */
void td_paged_start_spares(td_paged *paged);
void td_paged_free_blocks(td_paged *paged, const td_paged_section *section, td_blocks blocks);
bool td_paged_find_memory(td_paged *paged, const td_paged_section *section, td_blocks blocks);
void td_paged_drop_spares(td_paged *paged, uint64_t left);

/* paged_measure.c */
void td_paged_end_measure(td_paged *paged);

#endif
