/* The formats Tandem reads and writes, one table (formats.c).
 *
 * A reader converts a file to an edge list; the builder does the rest (ids, sorting,
 * both directions). Formats are recognised by content first, by name second;
 * `--format NAME` overrides.
 */
#ifndef TD_STORE_FORMAT_H
#define TD_STORE_FORMAT_H

#include "store/edges.h"
#include "store/graph.h"

typedef struct td_probe {
    const char *path;      /* as given */
    const char *suffix;    /* the last suffix below any .gz/.zst/.xz, without the dot, lower case: "mtx", or "" */
    const char *head;      /* first bytes of the decompressed content */
    size_t head_bytes;
    uint64_t file_bytes;
    bool compressed;
} td_probe;

typedef struct td_format {
    const char *name;        /* "mtx", as in --format */
    const char *description; /* "Matrix Market coordinate file" */
    const char *suffixes;    /* "mtx" or "txt tsv csv el", for the help */
    int (*recognise)(const td_probe *probe); /* 0 no ... 100 certain */
    td_status (*read)(const char *path, td_edge_list *edges, td_pool *pool);
    bool columns; /* td_edge_list.columns has an effect */
    bool streams; /* chunks are delivered as they are read, so a file may be larger than memory */
    td_status (*write)(const td_graph *graph, const char *path, td_pool *pool);
} td_format;

/* Every format is a constant td_format_NAME in a file of its own; adding one is
 * adding its line here. */
#define TD_FORMAT_LIST(X) \
    X(tg)                 \
    X(edgelist)           \
    X(names)              \
    X(adjlist)            \
    X(matrixmarket)       \
    X(dimacs)             \
    X(metis)              \
    X(webgraph_ascii)     \
    X(ligra)              \
    X(graphalytics)       \
    X(bvgraph)            \
    X(sg)                 \
    X(wsg)                \
    X(galois)             \
    X(galois_real)

#define TD_FORMAT_DECLARE(name) extern const td_format td_format_##name;
TD_FORMAT_LIST(TD_FORMAT_DECLARE)
#undef TD_FORMAT_DECLARE

extern const td_format *const td_formats[]; /* ends with NULL */

const td_format *td_format_named(const char *name); /* NULL if there is none */

/* The format of an existing file; if none fits, TD_FORMAT with the list of formats. */
td_status td_format_detect(const char *path, const td_format **out);

/* Reads a file. If its format was recognised, not named, an error message mentions the format. */
td_status td_format_read(const td_format *format, const char *path, bool recognised, td_edge_list *edges,
                         td_pool *pool);

td_status td_columns_unused(const td_format *format, const char *path); /* TD_USAGE: columns were given for it */

/* Reads any graph file: loads a .tg, whose `read` is NULL (and rebuilds it if an option
 * changes it), reads and builds any other. */
struct td_build_options;
/* Notes how the graph was read, from a file of the format into the list. */
void td_graph_note_reading(td_graph *graph, const td_format *format, const td_edge_list *edges, double read_seconds,
                           double build_seconds);

td_status td_graph_read(td_graph **out, const char *path, const char *format_or_null,
                        const struct td_build_options *build, td_pool *pool);

/* The format to write: the named one, or that of the path's suffix; if there is none,
 * TD_USAGE with the list of formats that can be written. */
td_status td_format_for_output(const char *path, const char *format_or_null, const td_format **out);

/* Writes a graph in that format. */
td_status td_graph_write(const td_graph *graph, const char *path, const char *format_or_null, td_pool *pool);

/* Comments with which Tandem's text files store what their format cannot express: the
 * vertices without edges in an edge list that begins with the mark, and the first
 * vertex's id in a matrix. Other programs ignore them. */
#define TD_EDGE_LIST_MARK "# Tandem edge list"
#define TD_EDGE_LIST_VERTICES "# vertices"
#define TD_EDGE_LIST_NAMES "# names"
#define TD_MATRIX_IDS_FROM "% Tandem: ids from "

/* Writers of text formats (write_text.c); "-" is standard output. */
td_status td_write_edge_list(const td_graph *graph, const char *path, td_pool *pool);
td_status td_write_matrix_market(const td_graph *graph, const char *path, td_pool *pool);

/* For formats that number vertices from `first`: warns if the graph's ids differ. */
void td_warn_of_lost_ids(const td_graph *graph, const char *path, uint64_t first);

#endif
