/* Tandem: graph algorithms on all of one machine.
 *
 * The one installed header. Handles are opaque, every call that can fail
 * returns a td_status, and td_last_message() describes the last failed call of
 * the calling thread. No call aborts the process; a failed call leaves nothing
 * allocated and output parameters unchanged.
 *
 *     td_session *session; td_graph *graph; td_result *result;
 *     td_session_create(0, &session);
 *     td_graph_open(session, "web.txt.gz", NULL, &graph);
 *     td_session_run(session, graph, "pagerank", NULL, &result);
 *     const float *ranks = td_result_f32(result);
 *
 * examples/shortest.c is a complete program that checks every error.
 *
 * Structs that the caller fills begin with their own size: set it, and leave every
 * field zero that is to have its default. A program then works with later versions:
 *
 *     td_request request = {.size = sizeof request, .has_source = true, .source = 17};
 *
 * A session and the objects created with it may be used by one thread at a time: a
 * call during another thread's call, or from a callback, fails with TD_USAGE.
 * Several sessions may work at the same time.
 */
#ifndef TANDEM_H
#define TANDEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TD_API __attribute__((visibility("default")))
#else
#define TD_API
#endif

/* code, meaning */
#define TD_STATUS_LIST(X)                                    \
    X(OK, "success")                                         \
    X(NO_MEMORY, "out of memory or over the memory budget")  \
    X(INVALID, "invalid argument")                           \
    X(USAGE, "wrong usage")                                  \
    X(NOT_FOUND, "no such thing")                            \
    X(IO, "input or output failed")                          \
    X(FORMAT, "malformed input")                             \
    X(CORRUPT, "corrupt file")                               \
    X(LIMIT, "beyond a limit of Tandem")                     \
    X(UNSUPPORTED, "not supported")                          \
    X(CANCELLED, "cancelled")                                \
    X(DEVICE, "device error")                                \
    X(VERIFY, "verification failed")                         \
    X(INTERNAL, "internal error")

typedef enum td_status {
#define TD_STATUS_CODE(code, text) TD_##code,
    TD_STATUS_LIST(TD_STATUS_CODE)
#undef TD_STATUS_CODE
} td_status;

TD_API const char *td_version(void);
TD_API const char *td_status_name(td_status status); /* "NO_MEMORY" */
TD_API const char *td_status_text(td_status status); /* "out of memory ..." */
TD_API const char *td_last_message(void);            /* never NULL */

/* Why the last failed call of the calling thread was refused, for a caller that can change something and try again.
 * Programs decide by these fields, never by the words of td_last_message(). */
typedef enum td_resource {
    TD_RESOURCE_NONE,           /* no resource was short */
    TD_RESOURCE_SESSION_BUDGET, /* td_session_set_budget */
    TD_RESOURCE_PROCESS_BUDGET, /* td_memory_set_budget */
    TD_RESOURCE_SYSTEM_MEMORY,  /* the machine's memory */
    TD_RESOURCE_DEVICE_MEMORY,  /* a GPU's memory, or the part of it that td_request.gpu_memory allows */
    TD_RESOURCE_DEVICE_EDGES,   /* td_request.gpu_edges */
    TD_RESOURCE_PINNED_MEMORY,  /* memory that the system lets a process lock for a GPU */
    TD_RESOURCE_THREADS,        /* threads of the process; `needed` counts threads */
    TD_RESOURCE_FILES,          /* open files of the process; `needed` counts files */
    TD_RESOURCE_DISK,           /* bytes of a file system; `needed` is 0 where they are unknown */
} td_resource;

typedef struct td_refusal {
    td_resource resource;
    uint64_t needed;    /* bytes that the resource would have to allow, in all; of the machine's memory: requested */
    uint64_t allowed;   /* bytes that it allows; 0: unknown */
    bool minimum_known; /* `needed` is about enough for the whole call; otherwise for the one request that failed */
    char device[48];    /* the GPU: "cuda:0"; empty: the host */
    char option[24];    /* the option that would change the outcome, by its neutral name: "memory", "gpu_edges", "devices"
                         * (docs/guide/c-api.md lists them); empty: none */
    char topics[64];    /* the programs and engines whose settings were violated, separated by blanks; empty: none */
} td_refusal;

TD_API const td_refusal *td_last_refusal(void); /* never NULL; valid until the thread's next failed call */

/* The process: what all sessions share. */

/* Bytes that Tandem may hold at once, graphs included, in all sessions together; a
 * call that would need more fails with TD_NO_MEMORY. 0: no limit. A session may
 * have a budget of its own besides (td_session_set_budget). */
TD_API void td_memory_set_budget(uint64_t bytes);
/* The same for the whole process: its code, libraries and stacks count too, as they are when a graph is opened. For a
 * process that does little besides; a limit so small that these take most of it is spent on the graph. */
TD_API void td_memory_set_limit(uint64_t bytes);
TD_API uint64_t td_memory_held(void); /* bytes allocated at present */
TD_API uint64_t td_memory_peak(void); /* maximum of bytes allocated so far, */
TD_API void td_memory_restart_peak(void); /* or since here */

/* Diagnostics. Without a sink they go to standard error. The default level is
 * TD_LOG_WARN; TD_LOG_INFO also draws a progress line on a terminal. The sink is
 * called by one thread at a time and must not call Tandem. */
typedef enum td_log_level { TD_LOG_QUIET, TD_LOG_WARN, TD_LOG_INFO, TD_LOG_DEBUG } td_log_level;
typedef void (*td_log_sink)(void *context, td_log_level level, const char *line);
TD_API void td_log_set_level(td_log_level level);
TD_API void td_log_set_sink(td_log_sink sink, void *context); /* NULL: standard error again */

/* Cancels all running calls: they fail with TD_CANCELLED soon, and so do calls that
 * begin before td_cancel_clear. May be called by any thread and any signal handler. */
TD_API void td_cancel_request(void);
TD_API void td_cancel_clear(void);

/* Sessions: the worker threads. */

typedef struct td_session td_session;

TD_API td_status td_session_create(int threads, td_session **out); /* 0: one per available processor */

/* What messages, warnings and reasons call an option. The table ends with a NULL option; an option that it lacks is
 * called by its neutral name. */
typedef struct td_option_name {
    const char *option, *name; /* "memory", "--memory" */
} td_option_name;

typedef struct td_session_options {
    size_t size;                 /* sizeof(td_session_options) */
    int threads;                 /* 0: one per available processor */
    const td_option_name *names; /* must outlive the session; NULL: calls and fields of this header */
} td_session_options;

TD_API td_status td_session_open(const td_session_options *options, td_session **out); /* NULL: defaults */
TD_API void td_session_destroy(td_session *session);               /* NULL is fine */
TD_API int td_session_threads(const td_session *session);

/* Bytes that the session may hold at once: its graphs, plans and results, until they are destroyed, and what it caches
 * between runs, which it releases, oldest first, when the budget needs the room. 0, the default: no limit but the
 * process's. Any thread, also while the session works. */
TD_API td_status td_session_set_budget(td_session *session, uint64_t bytes);
TD_API td_status td_session_memory(const td_session *session, uint64_t *now, uint64_t *peak); /* either may be NULL */

/* Asks what the session does to stop, as td_cancel_request asks everything. Any thread, any signal handler. */
TD_API void td_session_cancel(td_session *session); /* NULL is fine */
TD_API void td_session_cancel_clear(td_session *session);

/* Graphs. Vertices are numbered 0 .. count - 1; the id a vertex had in its file, or
 * in the arrays given, is kept. A graph may outlive its session. */

typedef struct td_graph td_graph;

#define TD_NO_VERTEX UINT32_C(0xffffffff)

/* Where the edges of a .tg file are while the graph is open. On disk: vertices are in memory, and a run reads the edges
 * page by page within the memory budget; the file must not change meanwhile. */
typedef enum td_place {
    TD_PLACE_DEFAULT, /* in memory if the graph and a run fit the budget (without one: the machine's memory), otherwise
                       * on disk */
    TD_PLACE_MEMORY,
    TD_PLACE_DISK,
    TD_PLACE_MAPPED, /* the file is mapped, and only offsets and ids are read and verified: in no time, for a look at
                      * it. Unless `check` verifies the rest, calls that use the edges fail with TD_UNSUPPORTED */
} td_place;

typedef struct td_graph_options {
    size_t size;           /* sizeof(td_graph_options) */
    const char *format;    /* the file's format, see 'tandem help formats'; NULL: recognised by name and contents */
    bool symmetrize;       /* adds the reverse of every edge */
    bool dedup;            /* keeps one edge per pair of vertices, the lightest */
    bool drop_loops;       /* drops edges from a vertex to itself */
    bool drop_weights;
    const char *weights;   /* "f32", "f64": stores them as such; "1:100", "0.5:2.0": random ones; NULL: as they are */
    uint64_t weight_seed;
    td_place edges;        /* TD_PLACE_DISK and TD_PLACE_MAPPED need a .tg and no other option that changes the graph */
    bool out_only;         /* leaves out the in-adjacency: half the size, for files of programs other than Tandem's */
    bool check;            /* verifies every checksum of the file and every property of the graph */
    const char *columns;   /* of an edge list: what its columns are, "source,target,weight,_"; NULL: as they come */
} td_graph_options;

TD_API td_status td_graph_options_check(const td_graph_options *options); /* what needs no file */

/* Reads a graph file of any supported format. `options` may be NULL. */
TD_API td_status td_graph_open(td_session *session, const char *path, const td_graph_options *options, td_graph **out);

/* The format of graph files: its name; NULL after the last one. */
TD_API const char *td_format_name(int index);

typedef struct td_format_facts {
    size_t size;             /* sizeof(td_format_facts), set by the caller */
    const char *description;
    const char *suffixes;    /* "txt tsv csv el" */
    bool reads, writes;
} td_format_facts;

TD_API td_status td_format_describe(const char *name, td_format_facts *out); /* TD_NOT_FOUND if there is none */

/* The name of the format in which a file is written: the given one, or by the suffix of the path if that is NULL.
 * TD_USAGE, or TD_UNSUPPORTED, if it cannot be written. */
TD_API td_status td_format_of_output(const char *path, const char *format, const char **name);

/* What a graph file says of itself, without reading its edges. */
typedef struct td_file_facts {
    size_t size;         /* sizeof(td_file_facts), set by the caller */
    const char *format;
    uint64_t bytes;      /* of all its files */
    bool packed;         /* a .tg; the rest is known of these alone */
    uint64_t plain_bytes; /* of the same graph without stripes */
    uint32_t stripes;
    uint64_t checksum;
} td_file_facts;

TD_API td_status td_file_describe(const char *path, const char *format, td_file_facts *out); /* NULL: recognised */

/* How a graph was read that came from a file other than a .tg. */
typedef struct td_reading {
    size_t size;              /* sizeof(td_reading), set by the caller */
    const char *format;
    const char *compression;  /* "gzip", "zstd", "xz"; NULL: none. The next four are of compressed text alone. */
    const char *decoder;      /* the library: "ISA-L", "zlib", "libzstd", "liblzma" */
    uint64_t content_bytes;   /* of the decompressed text */
    uint64_t members;         /* gzip members or zstd frames; of xz only blocks decoded in parallel */
    uint64_t parallel_members; /* of these, those that threads decoded side by side */
    double read_seconds, build_seconds; /* 0 if the graph was built out of memory */
    bool weights_dropped;     /* td_graph_open_for left out weights that the program ignores */
} td_reading;

TD_API td_status td_graph_reading(const td_graph *graph, td_reading *out); /* TD_NOT_FOUND: it was not read so */

typedef struct td_edges {
    size_t size;                   /* sizeof(td_edges) */
    uint64_t count;
    const uint64_t *sources, *targets;
    const uint32_t *whole_weights; /* integer weights, */
    const float *real_weights;     /* or real ones, or neither */
    uint64_t vertices;             /* 0: vertices are the ids that occur, any numbers; else all ids below this exist */
} td_edges;

/* Builds a graph from a copy of the arrays. */
TD_API td_status td_graph_from_edges(td_session *session, const td_edges *edges, const td_graph_options *options,
                                     td_graph **out);

/* Graphs from the arrays of other programs: NumPy's, SciPy's, Arrow's (docs/guide/c-api.md#arrays). */

typedef enum td_type {
    TD_TYPE_U8, TD_TYPE_U16, TD_TYPE_U32, TD_TYPE_U64,
    TD_TYPE_I8, TD_TYPE_I16, TD_TYPE_I32, TD_TYPE_I64,
    TD_TYPE_F32, TD_TYPE_F64,
} td_type;

typedef struct td_array {
    const void *data; /* NULL: no array */
    td_type type;
} td_array;

/* td_edges with numbers of any type: ids are integers, none negative; weights are any numbers. Reals are stored as 32-bit
 * floats, or with the option weights = "f64" as 64-bit ones; integers go up to 2^32-1 (with negative ones: -2^24..2^24). */
typedef struct td_edge_arrays {
    size_t size;       /* sizeof(td_edge_arrays) */
    uint64_t count;
    td_array sources, targets, weights;
    uint64_t vertices; /* 0: vertices are the ids that occur, any numbers; else all ids below this exist */
} td_edge_arrays;

/* Builds a graph from a copy of the arrays. */
TD_API td_status td_graph_from_arrays(td_session *session, const td_edge_arrays *edges, const td_graph_options *options,
                                      td_graph **out);

/* Compressed sparse rows: the targets of vertex v are at offsets[v] .. offsets[v + 1] - 1. */
typedef struct td_csr {
    size_t size;                     /* sizeof(td_csr) */
    uint64_t vertices, edges;
    td_array offsets;                /* vertices + 1 integers, from 0 to `edges` */
    td_array targets, weights;
    void (*release)(void *context);  /* NULL: every array is copied */
    void *context;
} td_csr;

/* Builds a graph from rows. With `release` it takes arrays without a copy where they are what a graph stores: 64-bit
 * offsets, 32-bit targets in ascending order, 32-bit float weights (in order, too, where edges are parallel). The arrays
 * must then stay unchanged until `release` is called: when the graph is destroyed, or before this call returns if
 * everything had to be copied; never if it fails. Options that change the graph make it a copy. */
TD_API td_status td_graph_from_csr(td_session *session, const td_csr *rows, const td_graph_options *options,
                                   td_graph **out);

/* The same vertices with every edge turned round, without a copy: the graph must outlive it. Of a graph in memory with
 * both adjacencies. */
TD_API td_status td_graph_reversed(td_session *session, const td_graph *graph, td_graph **out);

/* The graph's own arrays, for reading, as long as it lives; NULL: the edges are on disk, or there is no such array. */
typedef struct td_graph_parts {
    size_t size;                 /* sizeof(td_graph_parts), set by the caller */
    const uint64_t *offsets;     /* vertices + 1 */
    const uint32_t *targets;
    td_array weights;
    const uint64_t *in_offsets;  /* of the in-edges; of a symmetric graph the same arrays */
    const uint32_t *in_targets;
    td_array in_weights;
    const uint64_t *ids;         /* of the vertices; NULL: first_id + vertex */
    uint64_t first_id;
    bool borrows_offsets, borrows_targets, borrows_weights; /* the caller's arrays, not copies */
} td_graph_parts;

TD_API td_status td_graph_describe_parts(const td_graph *graph, td_graph_parts *out);

/* Writes a graph. `format` NULL: by the suffix of the path. A graph on disk can only be written as .tg. */
TD_API td_status td_graph_save(td_session *session, const td_graph *graph, const char *path, const char *format);
/* The same as a .tg whose edges are spread over a file in each of the directories "dir1,dir2,...". */
TD_API td_status td_graph_save_striped(td_session *session, const td_graph *graph, const char *path,
                                       const char *directories);
TD_API void td_graph_destroy(td_graph *graph); /* NULL is fine */

/* Making graph files: from another file, or by a generator. A .tg that may not fit the memory budget while it is built
 * is built out of memory, through temporary files. */

typedef struct td_file_options {
    size_t size;            /* sizeof(td_file_options) */
    const char *to;         /* the format; NULL: by the suffix of the path */
    const char *stripes;    /* of a .tg: "dir1,dir2,..." for its edges, or NULL */
    const char *temporary;  /* folder for temporary files; NULL: that of the output */
    const char *order;      /* of the vertices, as td_graph_set_order has it; NULL: as they come */
    uint64_t order_seed;
    bool in_memory;         /* never builds out of memory */
} td_file_options;

/* What was done. */
typedef struct td_made {
    size_t size;              /* sizeof(td_made), set by the caller */
    const char *format;       /* of the input; NULL: generated */
    uint64_t input_bytes, peak; /* of its files; of the process's memory */
    double read_seconds, build_seconds, order_seconds, write_seconds;
    bool copied;              /* a .tg whose graph did not change */
    bool out_of_memory;       /* it was built out of memory: the rest describes that */
    uint64_t memory, edges_read, temporary_bytes;
    double fill_seconds, out_seconds, in_seconds, finish_seconds;
} td_made;

/* Both return the graph of the file for inspection: read-only, and in memory as far as it was built there. `options`,
 * `file` and `made` may be NULL. */
TD_API td_status td_file_convert(td_session *session, const char *input, const char *output,
                                 const td_graph_options *options, const td_file_options *file, td_made *made,
                                 td_graph **graph);

/* A random or regular graph. Fields of parameters that the kind does not have stay 0. */
typedef struct td_generation {
    size_t size;            /* sizeof(td_generation) */
    const char *kind;       /* "rmat", "grid", ..., or a graph with fixed parameters: "k20", "u20", "grid1000" */
    bool has_seed, has_rewire;
    uint64_t seed;          /* default: 1 */
    uint64_t scale, vertices; /* 2^scale vertices, or so many */
    double degree;          /* edges per vertex */
    double a, b, c;         /* rmat: the shares of quadrants */
    uint64_t width, height; /* grid; layered: vertices of a layer */
    uint64_t layers, arity, hosts; /* layered; tree; web */
    double rewire;          /* smallworld: a probability */
    bool shuffle;           /* numbers the vertices at random */
} td_generation;

TD_API const char *td_generator_kind(int index); /* NULL after the last one */

typedef struct td_generator_facts {
    size_t size;              /* sizeof(td_generator_facts), set by the caller */
    const char *description;
    const char *parameters;   /* "scale degree a b c" */
} td_generator_facts;

TD_API td_status td_generator_describe(const char *kind, td_generator_facts *out); /* TD_NOT_FOUND if there is none */
TD_API bool td_generator_fixed(const char *kind); /* whether it names a graph with fixed parameters */
TD_API uint64_t td_generation_seed(const td_generation *generation); /* that it will use */
TD_API td_status td_generation_check(td_session *session, const td_generation *generation);
TD_API td_status td_file_generate(td_session *session, const td_generation *generation, const char *output,
                                  const td_graph_options *options, const td_file_options *file, td_made *made,
                                  td_graph **graph);

TD_API uint32_t td_graph_vertices(const td_graph *graph);
TD_API uint64_t td_graph_edges(const td_graph *graph); /* directed edges: an undirected edge counts twice */
TD_API bool td_graph_symmetric(const td_graph *graph);
TD_API const char *td_graph_weights(const td_graph *graph); /* "none", "u8", "u16", "u32", "f32" or "f64" */
TD_API bool td_graph_weight_range(const td_graph *graph, double *lowest, double *highest); /* false: no weights */
TD_API uint64_t td_graph_vertex_id(const td_graph *graph, uint32_t vertex); /* UINT64_MAX if there is no such vertex */
TD_API td_status td_graph_find(const td_graph *graph, uint64_t id, uint32_t *vertex); /* the vertex of an id */

TD_API bool td_graph_on_disk(const td_graph *graph); /* whether its edges are on disk */

/* Numbers the vertices in another order, which decides what shares cache lines: "hot", "indegree", "random" (from the
 * seed), "rcm", "gorder", "bisect" or "none". The ids stay. Replaces *graph; a failure destroys it and sets it to NULL,
 * except for what is refused before: an unknown order (TD_USAGE), edges on disk or not verified (TD_UNSUPPORTED), lists
 * of a mapped file that are damaged (TD_CORRUPT) or cannot be read (TD_IO, TD_NO_MEMORY); that changes nothing. */
TD_API td_status td_graph_set_order(td_session *session, td_graph **graph, const char *order, uint64_t seed);
TD_API td_status td_order_check(const char *order); /* TD_USAGE with the names of all orders */

/* A number that is equal for equal graphs with their vertices in the same order, however they were made. */
TD_API td_status td_graph_digest_of(td_session *session, const td_graph *graph, uint64_t *digest);

/* The targets of a vertex's out-edges, in ascending order; *count: their number. The
 * edges are numbered *first .. *first + *count - 1 (`first` may be NULL). For a graph on
 * disk returns NULL and no edges: use td_graph_read_targets. The same if the lists of a file that is mapped for a run
 * turn out to be damaged. */
TD_API const uint32_t *td_graph_targets(const td_graph *graph, uint32_t vertex, uint64_t *count, uint64_t *first);
TD_API uint64_t td_graph_degree(const td_graph *graph, uint32_t vertex); /* out-edges; 0 if there is no such vertex */

/* Copies the targets of a vertex to an array of td_graph_degree elements. Works for graphs on disk too. */
TD_API td_status td_graph_read_targets(const td_graph *graph, uint32_t vertex, uint32_t *targets);

typedef struct td_edge {
    uint32_t source, target;
    double weight; /* 1 in a graph without weights */
} td_edge;

/* Every call reads a block or two if the graph is on disk; use td_result_edge for the edges of a forest. */
TD_API td_status td_graph_edge(const td_graph *graph, uint64_t number, td_edge *out);

/* Degrees and counts of a graph. */
enum { TD_DEGREE_BUCKETS = 65 };

typedef struct td_degree_facts {
    uint64_t buckets[TD_DEGREE_BUCKETS]; /* vertices of degree 0; of degree 2^(k-1) .. 2^k - 1 in bucket k */
    int bucket_count;    /* up to the last that is not empty */
    uint64_t max;
    uint32_t max_vertex; /* the first vertex of that degree; TD_NO_VERTEX in an empty graph */
} td_degree_facts;

typedef enum td_ids { TD_IDS_RANGE, TD_IDS_ASCENDING, TD_IDS_UNORDERED } td_ids; /* without gaps; with; in no order */

typedef struct td_graph_counts {
    size_t size;              /* sizeof(td_graph_counts), set by the caller */
    double average_degree;
    uint64_t sinks;           /* vertices without out-edges */
    bool has_in;              /* the next three are known: the graph has an in-adjacency, or is symmetric */
    uint64_t sources, isolated; /* vertices without in-edges; without any edge */
    td_degree_facts in;
    td_degree_facts out;
    td_ids ids;
    uint64_t lowest_id, highest_id;
    bool counted;             /* the rest is known: every edge was read */
    uint64_t loops, parallel; /* edges from a vertex to itself; beyond the first of a pair of vertices */
} td_graph_counts;

/* `every_edge`: counts loops and parallel edges too; TD_UNSUPPORTED for a graph whose edges are on disk. */
TD_API td_status td_graph_count(td_session *session, const td_graph *graph, bool every_edge, td_graph_counts *out);

/* A graph as a .tg: the one that it was opened from, or the one that td_graph_save would write. */
enum { TD_SECTION_MOST = 16 };

typedef struct td_packed_facts {
    size_t size;         /* sizeof(td_packed_facts), set by the caller */
    uint64_t bytes;      /* of the file, without stripes */
    int sections;
    struct {
        const char *name;
        uint64_t bytes;
    } section[TD_SECTION_MOST];
    uint64_t load;       /* memory to hold all of it */
    uint64_t build;      /* memory to build it in */
    uint64_t build_least, temporary; /* to build it out of memory with the session's threads: the minimum of memory, and
                                      * bytes of temporary files */
    uint64_t temporary_ids; /* besides, where the vertices' ids have to be found in the edges */
} td_packed_facts;

TD_API td_status td_graph_packed(td_session *session, const td_graph *graph, td_packed_facts *out);

/* Memory that a program needs on a graph, the graph included, with default parameters. */
typedef struct td_run_needs {
    size_t size;          /* sizeof(td_run_needs), set by the caller */
    uint64_t memory;      /* of the host, with the graph in memory */
    uint64_t gpu;         /* of a GPU, with the graph in it */
    uint64_t disk_least;  /* of the host with the edges on disk: the minimum; 0: they have to be in memory */
    uint64_t disk_memory; /* a quarter of the .tg, and */
    uint64_t disk_bytes;  /* the approximate bytes that an iteration over all edges, after the first, reads with it */
} td_run_needs;

/* TD_UNSUPPORTED if the program cannot run on the graph. */
TD_API td_status td_graph_run_needs(td_session *session, const td_graph *graph, const char *program, td_run_needs *out);

/* Partitions: a graph cut into fragments, one per GPU, each with a range of the vertices and their lists. A partition
 * is written as a partitioner and a number of fragments: "seg:8" (ranges of vertex numbers with equal edges),
 * "random:8" (random vertices, in equal edges) or "metis:8" (few cut edges; needs the library METIS). */

enum { TD_PARTITION_MOST = 16 }; /* fragments */

typedef struct td_fragment_info {
    uint32_t vertices;
    uint64_t edges;   /* entries of its vertices' out- and in-lists; of a symmetric graph, of the one list */
    uint64_t cut;     /* the part of them whose other end is in another fragment */
    uint64_t mirrors; /* distinct vertices of other fragments among those ends */
} td_fragment_info;

typedef struct td_partition_info {
    size_t size;      /* sizeof(td_partition_info), set by the caller */
    int parts;
    uint64_t edges, cut, mirrors; /* sums over the fragments: an edge of a directed graph counts at both of its ends */
    double cut_share; /* of the edges */
    double balance;   /* the most edges of a fragment over their mean; 1 without edges */
    double seconds;   /* to make the partition and to count */
    td_fragment_info fragments[TD_PARTITION_MOST];
} td_partition_info;

/* Whether a partition is written well and its partitioner is at hand; TD_USAGE or TD_UNSUPPORTED otherwise. */
TD_API td_status td_partition_check(const char *partition);

/* Cuts a graph in memory, counts and forgets the cut. `seed` is for random and metis; 1 is the tool's. */
TD_API td_status td_graph_partition_info(td_session *session, const td_graph *graph, const char *partition,
                                         uint64_t seed, td_partition_info *out);

/* The devices of this machine: what they are and how fast, measured; of emulated GPUs as their topology says. */

typedef struct td_survey td_survey;

typedef struct td_survey_options {
    size_t size;         /* sizeof(td_survey_options) */
    const char *devices; /* as in td_request; NULL: the CPU and all GPUs. A GPU among these that cannot be used is no
                          * failure */
    uint64_t gpu_memory; /* bytes of a GPU's memory that may be used, 0: all of it */
    uint64_t largest;    /* bytes of the largest array that is read at random; 0: 1 GiB. Twice that is allocated */
    bool links;          /* measures copies between all of them, too */
} td_survey_options;

TD_API td_status td_session_survey(td_session *session, const td_survey_options *options, td_survey **out);
TD_API void td_survey_destroy(td_survey *survey); /* NULL is fine */
TD_API const char *td_survey_no_gpu(const td_survey *survey); /* why there is none, or why one is not used; or NULL */

typedef struct td_surveyed_device {
    size_t size;              /* sizeof(td_surveyed_device), set by the caller */
    const char *name;         /* "cpu", "cuda:0", "emu:1" */
    int threads;              /* of the CPU, which has a row for one thread and one for all; 0: a GPU, */
    const char *model;        /* of which the rest is known */
    bool modelled;            /* an emulated one: rates are its topology's */
    int multiprocessors;
    uint64_t memory, memory_free;
    uint64_t memory_limit;    /* bytes of it that may be used; 0: all */
    uint64_t cache_bytes, shared_bytes;
    bool cooperative, reads_host; /* takes cooperative launches; its kernels read pinned host memory */
} td_surveyed_device;

TD_API td_status td_survey_device(const td_survey *survey, int device, td_surveyed_device *out); /* TD_NOT_FOUND after
                                                                                                  * the last one */
/* A measured figure: bytes, accesses or seconds, as its name says ("copy_bytes_per_second", "launch_seconds"). */
typedef struct td_rate {
    const char *name;
    double value;
    uint64_t range;   /* bytes of the array that was read, of random reads; otherwise 0 */
    const char *peer; /* the other GPU, of a link in a topology; otherwise NULL */
} td_rate;

TD_API bool td_survey_rate(const td_survey *survey, int device, int index, td_rate *out); /* false after the last one */

/* Place 0 is the host, the others are the GPUs of the list. */
TD_API int td_survey_places(const td_survey *survey); /* 0 if links were not measured */
TD_API const char *td_survey_place(const td_survey *survey, int place);

typedef struct td_link_facts {
    size_t size;      /* sizeof(td_link_facts), set by the caller */
    double rate;      /* bytes per second of a large copy; 0: there is no way */
    double latency;   /* seconds of a small copy, of several one behind the other */
    bool direct;      /* kernels may follow the other's pointers */
    bool same_memory;
} td_link_facts;

TD_API td_status td_survey_link(const td_survey *survey, int from, int to, td_link_facts *out);

/* Paths: a graph as disjoint directed paths, the unit of work of the engine `paths`; what a decomposition is like. */
typedef struct td_paths_info {
    size_t size;             /* sizeof(td_paths_info), set by the caller */
    uint64_t paths, edges;
    uint64_t bound;          /* fewest paths that have every edge once */
    uint64_t bound_one_pass; /* fewest with at most one path through a vertex */
    uint64_t found;          /* paths before they were joined */
    uint64_t longest;        /* edges of a path */
    uint64_t hot_paths, hot_edges;
    uint64_t components, cyclic;         /* of the paths' dependencies; those with a cycle */
    uint64_t giant_paths, giant_vertices; /* of the largest component */
    uint32_t layers;         /* of the components */
    uint64_t once_vertices, once_paths;  /* that one update is enough for */
    uint32_t groups, partitions;         /* paths dispatched together; paths of a warp */
    uint64_t replicas;       /* vertices of all partitions, each counted once in each */
    double lane_balance;     /* edges over those of as many full lanes: 1 is even */
    uint64_t bytes, peak;    /* of the decomposition; while it was made */
    double paths_seconds, sketch_seconds, store_seconds;
    bool prepared;           /* it was read from the file beside the graph; the seconds are those of making that */
} td_paths_info;

/* Decomposes a graph in memory, or reads the prepared decomposition. `settings`: "paths.depth=8", ..., ends with NULL; or
 * NULL. */
TD_API td_status td_graph_paths_info(td_session *session, const td_graph *graph, const char *const *settings,
                                     td_paths_info *out);

/* Prepared layouts: what an engine makes of a graph before it runs, kept in a file beside the .tg (or, where that folder
 * cannot be written, in the user's cache folder), so that it is made once. The .tg stays as it is. */
TD_API const char *td_layout_name(int index);           /* "paths", "stream", "coop", "multi"; NULL after the last one */
TD_API const char *td_layout_summary(const char *name); /* NULL if there is none */

typedef struct td_prepared {
    size_t size;       /* sizeof(td_prepared), set by the caller */
    char layout[32];
    char key[512];     /* the settings it was made with */
    char path[4096];
    uint64_t bytes;
    bool matches;      /* it is of this build of the graph, and whole as far as its header tells */
    bool made;         /* by this call of td_graph_prepare; false: it was there */
    double make_seconds, write_seconds;
} td_prepared;

/* Makes a layout of a graph that was opened from a .tg and is in memory, unless it is there: "paths", or "stream:sssp" and
 * "coop:bfs" for runs of a program on an engine, which share a file where they read the same. "stream": for every
 * program; `out` then describes the last file. "multi:metis:8" (or random): the fragments of 8 equal GPUs, for all programs,
 * "multi:metis:8:bfs": for one; seg has no layout. `settings`: "paths.depth=8", "stream.list_order=hot", ..., ends with NULL;
 * or NULL. TD_NOT_FOUND: such runs read nothing but the graph. `out` may be NULL. */
TD_API td_status td_graph_prepare(td_session *session, const td_graph *graph, const char *layout,
                                  const char *const *settings, td_prepared *out);

/* The layouts of a .tg, in the order of their names; TD_NOT_FOUND after the last one. */
TD_API td_status td_prepared_find(const char *path, int index, td_prepared *out);

/* Removes a layout, whatever build of the graph it is of; "stream", "coop" and "multi": all of theirs. TD_NOT_FOUND: there is
 * none. */
TD_API td_status td_prepared_remove(const char *path, const char *layout);

/* Running programs. */

TD_API const char *td_program_name(int index);            /* NULL after the last one */
TD_API const char *td_program_summary(const char *name);  /* NULL if there is no such program */

typedef struct td_program_facts {
    size_t size;               /* sizeof(td_program_facts), set by the caller */
    const char *result;        /* what a value is: "distance", "component", ... */
    bool groups;               /* values name groups of vertices */
    bool needs_source, takes_source, gives_parents;
    bool asynchronous;         /* TD_MODE_ASYNC is possible */
    bool measured;             /* iterations measure a change, which a tolerance ends */
    bool uses_weights, needs_weights, positive_weights, non_negative_weights; /* the last two: allowed weights */
    uint32_t iterations;       /* the default limit; 0: none */
    double tolerance;          /* the default; 0: none */
    const char *edges;         /* what it makes of direction, loops and parallel edges; NULL: not said */
} td_program_facts;

TD_API td_status td_program_describe(const char *name, td_program_facts *out); /* TD_NOT_FOUND if there is none */

TD_API const char *td_engine_name(int index); /* NULL after the last one */

typedef struct td_engine_facts {
    size_t size;         /* sizeof(td_engine_facts), set by the caller */
    const char *summary;
    const char *device;  /* what it runs on, in words */
    bool uses_gpu, from_disk;
    bool several_gpus;   /* it is made for more than one */
    bool limits_edges;   /* it obeys td_request.gpu_edges: edges may exceed the GPU's memory */
} td_engine_facts;

TD_API td_status td_engine_describe(const char *name, td_engine_facts *out); /* TD_NOT_FOUND if there is none */

/* A setting of an engine or a parameter of a program: "OWNER.NAME=VALUE" in td_request.settings. */
typedef struct td_setting_facts {
    size_t size;             /* sizeof(td_setting_facts), set by the caller */
    const char *name;
    const char *help;        /* refers to options by their neutral names in braces: "{source}" */
    const char *choices;     /* "auto|pull|push"; NULL: a number or a text */
    bool text, whole;        /* a file name or a list; a whole number */
    double lowest, highest;  /* of a number */
    char fallback[64];       /* the default */
} td_setting_facts;

/* TD_NOT_FOUND after the last one, and if `owner` is no program and no engine. */
TD_API td_status td_setting_describe(const char *owner, int index, td_setting_facts *out);

typedef enum td_mode {
    TD_MODE_DEFAULT, /* TD_MODE_SYNC; without a number of iterations sssp and labels may read as TD_MODE_ASYNC does */
    TD_MODE_SYNC,  /* an iteration reads the values of the previous one */
    TD_MODE_ASYNC, /* an iteration also reads values that it has updated itself */
} td_mode;

/* One iteration of a run, as far as all engines' are alike. What an engine counts besides has a name. */
typedef struct td_iteration {
    uint32_t number;
    const char *direction;    /* "pull", "notify", "push", "bucket", "sweep", ... */
    uint64_t active_vertices; /* at its start */
    uint64_t active_edges;    /* their edges in the direction values flow */
    uint64_t edges;           /* processed */
    double change;            /* the measured change, 0 where none is measured */
    double start, seconds;    /* since the run began; how long */
} td_iteration;

/* What engines count in an iteration besides, by name: "bytes_direct", "edges_gpu", "disk_bytes", ... (docs/guide/programs.md
 * lists them). The row is one that Tandem gave: of td_result_iteration, or in a progress callback. */
TD_API double td_iteration_counter(const td_iteration *row, const char *name); /* 0 if there is none of that name */
TD_API const char *td_iteration_counter_name(int index);                       /* NULL behind the last one */
/* A list has its length as its counter, and its numbers by index: "load", "load_0", "load_1", ...; a text, such as
 * "steal", has no counter. NULL if there is no text of that name, or none in this iteration. */
TD_API const char *td_iteration_text(const td_iteration *row, const char *name);

/* Called after every iteration by the thread that runs; false cancels. */
typedef bool (*td_iteration_fn)(void *context, const td_iteration *row);

/* Called when a run begins, after everything that a request can be refused for has been checked. */
typedef void (*td_begin_fn)(void *context);

typedef struct td_request {
    size_t size; /* sizeof(td_request) */
    bool has_source, has_iterations, has_tolerance;
    uint64_t source;     /* the id of a vertex */
    uint32_t iterations; /* upper limit on iterations; fewer only if the run converges */
    double tolerance;    /* the run converges when an iteration changes the values by no more; 0 if only iterations are
                          * given */
    td_mode mode;
    bool parents;        /* also computes the previous vertex on the path to each vertex */
    const char *engine;  /* "cpu", or NULL for Tandem's choice */
    const char *const *settings; /* "key=value", as --set takes them; ends with NULL; or NULL */
    td_iteration_fn progress;    /* or NULL */
    void *progress_context;
    const char *devices;  /* the devices to use, separated by commas: "cpu", "cuda:0", ...; NULL for Tandem's choice */
    uint64_t gpu_memory;  /* bytes of a GPU's memory that may be used, 0: all of it */
    double gpu_edges;     /* limit on edges in it: up to 1 a share of what the engine keeps of edges, above 1 bytes; 0: none */
    /* A run that was killed or cancelled can be resumed on any engine and device, with the same graph, program and
     * parameters. Iterations and tolerance may differ. See docs/guide/checkpoints.md. */
    const char *checkpoint;    /* folder for the checkpoints of this run, or NULL */
    uint32_t checkpoint_every; /* iterations between two checkpoints; 0: at most one every ten seconds */
    const char *resume;        /* folder whose last checkpoint the run starts from, or NULL */
    bool traces;               /* keeps what td_trace_json reports */
    td_begin_fn begins;        /* or NULL; has the context of `progress` */
    const char *source_name;   /* instead of `source`: the name of a vertex, or its id as text; NULL: none */
    /* Instead of `source`: a batch, which td_batch_create runs. The ids of its vertices, which may repeat. */
    const uint64_t *sources;
    uint64_t source_count;
    uint64_t runs;             /* runs of the plan that are expected, which share loading and preparing; 0: one */
} td_request;

/* Checks what can be checked without a graph: a request that fails here would fail in every run. */
TD_API td_status td_request_check(td_session *session, const char *program, const td_request *request);

/* Opens a graph for runs of one request. Whether the edges of a .tg stay on disk depends on the memory that this run
 * needs, a run that is certain to be refused is refused before the file is loaded, and a lack of memory names the
 * minimum for this run. `options` and `request` may be NULL. A graph that is to be renumbered must be opened with
 * TD_PLACE_MEMORY. A text is built without weights if the program ignores them, unless the request has checkpoints,
 * which name the graph. A .tg that goes to a GPU whole stays mapped: do not overwrite it while the graph is open.
 * That gives an error (TD_IO) in what uses it or, of a graph opened with TD_PLACE_MAPPED, at worst a fault. */
TD_API td_status td_graph_open_for(td_session *session, const char *path, const td_graph_options *options,
                                   const char *program, const td_request *request, td_graph **out);

/* A plan: the engine, the decisions and the estimated memory of a run. It can run several times; its graph and its
 * session must outlive it. */
typedef struct td_plan td_plan;

/* The estimated use of one memory: "host", or a device ("cuda:0"). */
typedef struct td_plan_memory {
    size_t size;       /* sizeof(td_plan_memory), set by the caller */
    const char *place;
    uint64_t graph;    /* the graph's arrays; on the host they are allocated already */
    uint64_t program;  /* additional peak memory of the run; on the host includes an emulated GPU's memory */
    uint64_t emulated; /* the part of `program` for an emulated GPU */
    uint64_t free;     /* what is left of the budget (of a device: of its limit), or of the memory if there is none */
    bool fits;
} td_plan_memory;

/* A device's part in a run: "cpu", whose memory is the host's, or a GPU ("cuda:0"). Of a plan the figures behind `free`
 * are 0. */
typedef struct td_device_row {
    size_t size;                  /* sizeof(td_device_row), set by the caller */
    const char *device;
    uint64_t graph, program;      /* bytes of its memory that the plan states, as in td_plan_memory */
    uint64_t free;
    uint64_t peak;                /* bytes of its memory that the run took */
    uint64_t edges;               /* processed there */
    double busy_seconds;          /* by the device's clock */
    uint64_t bytes_in, bytes_out; /* copied to it and back; 0 for the CPU */
    uint64_t launches;            /* of kernels; 0 for the CPU */
} td_device_row;

/* `request` may be NULL. Fails where the run is certain to fail. */
TD_API td_status td_session_plan(td_session *session, const td_graph *graph, const char *program,
                                 const td_request *request, td_plan **out);
TD_API void td_plan_destroy(td_plan *plan); /* NULL is fine */

TD_API const char *td_plan_engine(const td_plan *plan);
TD_API const char *td_plan_why(const td_plan *plan); /* why this engine was chosen, in words */
TD_API bool td_plan_fits(const td_plan *plan);
TD_API bool td_plan_uses_gpu(const td_plan *plan); /* whether the engine that runs can use one */
/* Row 0 is the host, the others are devices. TD_NOT_FOUND after the last one. */
TD_API td_status td_plan_memory_row(const td_plan *plan, int row, td_plan_memory *out);

/* The devices that compute, the CPU first if it does. TD_NOT_FOUND after the last one. */
TD_API td_status td_plan_device_row(const td_plan *plan, int row, td_device_row *out);

/* Further figures of the plan, by name: "subgraph_slots", "disk_bytes_per_iteration", ...
 * (docs/guide/c-api.md). */
TD_API uint64_t td_plan_counter(const td_plan *plan, const char *name); /* 0 if there is no such counter */
TD_API const char *td_plan_counter_name(const td_plan *plan, int index); /* NULL after the last one */

/* What the planner expects of an engine (docs/guide/planning.md): the phases of the time to the answer, and memory. */
typedef struct td_plan_estimate {
    size_t size;         /* sizeof(td_plan_estimate), set by the caller */
    const char *engine;
    bool chosen;
    const char *refusal; /* why it cannot run, or is not considered; NULL: it can */
    double seconds;      /* in all, with the runs that the request expects (td_request.runs) */
    double start, load, open, plan, prepare; /* seconds: of the process, the file, the GPU, planning, preparing */
    double processing;   /* of one run */
    double finish;       /* results, digests, closing */
    uint64_t host_graph, host_program, device; /* bytes */
    bool measured;       /* processing is that of an earlier run */
} td_plan_estimate;

/* The engines that were considered for a run, of which one was chosen. */
typedef struct td_estimates td_estimates;

TD_API const td_estimates *td_plan_estimates(const td_plan *plan); /* of the plan, which owns them */

/* The same for a graph file, which is not loaded. No device is opened. */
TD_API td_status td_file_estimate(td_session *session, const char *path, const char *program,
                                  const td_request *request, td_estimates **out);
/* The same before a run, for its report: without advice, and without asking for a GPU unless the choice depends on it. */
TD_API td_status td_file_expect(td_session *session, const char *path, const char *program, const td_request *request,
                                td_estimates **out);
TD_API void td_estimates_destroy(td_estimates *estimates); /* NULL is fine; of these two functions' alone */

/* The estimate of one engine; TD_NOT_FOUND after the last one. */
TD_API td_status td_estimates_row(const td_estimates *estimates, int row, td_plan_estimate *out);
TD_API const char *td_estimates_why(const td_estimates *estimates);
TD_API const char *td_estimates_basis(const td_estimates *estimates); /* what they are computed from, in words */
/* What would change the choice, in words; NULL after the last one. */
TD_API const char *td_estimates_advice(const td_estimates *estimates, int index);

/* Results: one value per vertex, in the order of vertex numbers. The graph must
 * outlive its results. */

typedef struct td_run td_result;

TD_API td_status td_session_run(td_session *session, const td_graph *graph, const char *program,
                                const td_request *request, td_result **out);
TD_API td_status td_plan_run(td_session *session, td_plan *plan, td_result **out); /* the session that planned it */
TD_API void td_result_destroy(td_result *result); /* NULL is fine */

/* After a run: makes the layout that it would have read, if its engine's setting `prepared` is `make`, or `auto` and
 * earlier runs of other processes say that it pays. TD_NOT_FOUND with the reason: none is made. `out` may be NULL. */
TD_API td_status td_plan_prepare(td_session *session, const td_plan *plan, td_prepared *out);

/* Batches: one plan, runs from many sources (td_request.sources). Searches may share work: bfs on the engines cpu and
 * resident can process up to 64 sources at once, a bit each (cpu.batch, resident.batch). Plan and session must outlive
 * the batch. */
typedef struct td_batch td_batch;

TD_API td_status td_batch_create(td_session *session, td_plan *plan, td_batch **out);
/* The result of the next source, in the order of the request; NULL after the last one. It belongs to the batch and is
 * valid until the next call; td_result_destroy leaves it alone. After a failure the same source can be tried again. */
TD_API td_status td_batch_next(td_session *session, td_batch *batch, td_result **result);
TD_API void td_batch_destroy(td_batch *batch); /* NULL is fine */

typedef struct td_batch_facts {
    size_t size;               /* sizeof(td_batch_facts), set by the caller */
    uint64_t sources, done;    /* in all; with a result so far */
    uint32_t at_once;          /* sources of one search; 1: each has a run of its own */
    uint64_t searches;         /* runs so far */
    uint64_t edges_processed;  /* by them */
    uint64_t words;            /* of the frontiers of searches with several sources */
    double prepare_seconds, seconds, finish_seconds; /* of all runs: before, during and after their iterations */
} td_batch_facts;

TD_API td_status td_batch_describe(const td_batch *batch, td_batch_facts *out);

/* Draws vertices with out-edges, each once: the same ids for the same graph and seed. TD_INVALID if there are fewer. */
TD_API td_status td_graph_draw(td_session *session, const td_graph *graph, uint64_t count, uint64_t seed,
                               uint64_t *ids);

/* Checks the claims that a correct result fulfils; fails with TD_VERIFY and names the claim that does not hold. */
TD_API td_status td_result_verify(td_session *session, const td_result *result);
TD_API td_status td_result_claims(td_session *session, const td_result *result, const char **claims); /* and says which */

typedef enum td_value_kind { TD_VALUE_U32, TD_VALUE_F32, TD_VALUE_F64, TD_VALUE_U64 } td_value_kind;
#define TD_UNREACHED UINT32_C(0xffffffff) /* level or distance of an unreached vertex; infinity for real distances */

TD_API td_value_kind td_result_kind(const td_result *result);
TD_API const uint32_t *td_result_u32(const td_result *result); /* NULL if the values are of another kind */
TD_API const float *td_result_f32(const td_result *result);
TD_API const double *td_result_f64(const td_result *result);

/* Integer distances beyond 32 bits (docs/design/precision.md): sssp takes 64 bits where 32 are too few. */
#define TD_UNREACHED_U64 UINT64_C(0xffffffffffffffff)
TD_API const uint64_t *td_result_u64(const td_result *result); /* NULL if the values are of another kind */

TD_API bool td_result_value(const td_result *result, uint32_t vertex, double *value); /* false: unreached */

TD_API const uint32_t *td_result_parents(const td_result *result); /* NULL if not requested; TD_NO_VERTEX: none */
TD_API const uint64_t *td_result_edges(const td_result *result, uint64_t *count); /* mst: numbers for td_graph_edge */
TD_API td_status td_result_edge(const td_result *result, uint64_t index, td_edge *out); /* edge edges[index] */
TD_API double td_result_total_weight(const td_result *result);                    /* the sum over these edges */

TD_API bool td_result_converged(const td_result *result); /* false: it ended at its limit of iterations */
TD_API uint32_t td_result_iterations(const td_result *result); /* includes those before a resumed checkpoint */
TD_API const td_iteration *td_result_iteration(const td_result *result, uint32_t number); /* NULL if not recorded */
TD_API uint32_t td_result_resumed(const td_result *result); /* iterations before the checkpoint it resumed from */
TD_API uint32_t td_result_checkpoints(const td_result *result, uint64_t *bytes); /* written; `bytes` may be NULL */
TD_API uint64_t td_result_edges_processed(const td_result *result);
TD_API td_status td_result_device_row(const td_result *result, int row, td_device_row *out); /* as td_plan_device_row */
TD_API uint32_t td_result_device_opens(const td_result *result); /* opens by the session up to this run */
TD_API double td_result_seconds(const td_result *result);

/* A run in a few figures. */
typedef struct td_result_facts {
    size_t size;                /* sizeof(td_result_facts), set by the caller */
    const char *program, *engine;
    const char *device;         /* the GPU that it ran on; NULL: the CPU alone */
    double tolerance, final_change; /* of programs that measure a change */
    double prepare_seconds;     /* before the first iteration */
    double device_seconds;      /* by the device's clock */
    uint64_t launches, device_peak; /* of kernels; bytes of device memory */
    uint32_t first_row, rows;   /* the recorded iterations: numbers first_row .. first_row + rows - 1 */
    const char *disk_method;    /* how edges were read from disk; NULL: they were in memory */
    uint64_t disk_bytes, disk_reads, page_hits, page_misses, pages_by_blocks;
    double disk_wait_seconds, disk_ratio; /* nothing else to do; sequential over random read speed */
    double checkpoint_seconds;  /* of writing checkpoints beside the run */
    double checkpoint_waited, checkpoint_waited_last; /* of the run: in all, and for the last one */
    double open_seconds;        /* of opening GPUs for this run; 0 if they were open */
    double finish_seconds;      /* after the last iteration: parents, forests, copies of results, names of groups */
} td_result_facts;

TD_API td_status td_result_describe(const td_result *result, td_result_facts *out);

/* The values in a few figures. */
typedef struct td_summary {
    size_t size;                 /* sizeof(td_summary), set by the caller */
    uint64_t reached;            /* vertices with a value */
    double lowest, highest, sum; /* of the values; 0 if there are none */
    uint64_t groups, largest;    /* of programs whose values name groups: groups; vertices of the largest */
    uint64_t digest;             /* of all ids and values, in any order: equal for equal results */
} td_summary;

TD_API td_status td_result_summarise(td_session *session, const td_result *result, td_summary *out);

/* The report of a run as the text of a JSON object, and its timeline in Chrome's trace format (docs/guide/programs.md
 * lists the keys). The caller measures the phases around the run; all but `plan` and `result` may be missing. */
typedef struct td_phase {
    bool done;
    double start, seconds; /* `start`: of all phases on one clock */
} td_phase;

typedef struct td_report_facts {
    size_t size;                /* sizeof(td_report_facts) */
    const td_summary *summary;  /* NULL: computed */
    const char *claims;         /* of td_result_claims; NULL: not verified */
    const double *seconds;      /* of processing, of every repetition; NULL: this run's */
    uint64_t repeats;
    td_phase load, renumber, run, verify, output;
    uint64_t load_peak, run_peak; /* bytes */
    /* Before loading, planning (with opening GPUs), the runs before the last, and the summary. */
    td_phase start, plan, earlier, summarise;
    const td_estimates *expected; /* of td_file_expect before loading; NULL: the plan's */
} td_report_facts;

TD_API td_status td_report_json(td_session *session, const td_plan *plan, const td_result *result,
                                const td_report_facts *facts, char **text);
TD_API td_status td_trace_json(td_session *session, const td_plan *plan, const td_result *result,
                               const td_report_facts *facts, char **text);
TD_API void td_text_free(char *text); /* NULL is fine */

/* A page about one or several runs, from the texts of their reports: one HTML file that loads nothing
 * (docs/guide/report.md). A text that is no report is refused with TD_FORMAT. */
typedef struct td_page_report {
    size_t size;      /* sizeof(td_page_report) */
    const char *name; /* for headings and messages; NULL: "report" */
    const char *json; /* of td_report_json, or of 'tandem run --json' */
    uint64_t bytes;   /* of it; 0: up to its NUL */
} td_page_report;

TD_API td_status td_page_html(const td_page_report *const *reports, int count, char **html); /* td_text_free frees it */

/* The `most` vertices with the largest values; for programs whose values name a
 * group (components), the `most` largest groups with their sizes. Fills *count
 * elements of the two arrays. */
TD_API td_status td_result_top(td_session *session, const td_result *result, uint64_t most, uint32_t *vertices,
                               double *values, uint64_t *count);

/* Writes one line "id value" per vertex, or for a forest one line "source target weight" per edge; names instead of
 * ids where the graph has them. `format` NULL: by the suffix of the path, "csv" or else "tsv". */
TD_API td_status td_result_save(td_session *session, const td_result *result, const char *path, const char *format);
TD_API td_status td_result_format_check(const char *format); /* TD_USAGE with the names of all formats; NULL is fine */

typedef struct td_save_options {
    size_t size;        /* sizeof(td_save_options) */
    const char *format; /* as td_result_save has it */
    bool header;        /* a first line with the names of the columns */
} td_save_options;

TD_API td_status td_result_save_as(td_session *session, const td_result *result, const char *path,
                                   const td_save_options *options); /* NULL: defaults */

/* Names of vertices. A graph read from a file that names its vertices by words keeps the words, in .tg files too; the
 * id of such a vertex is the position of its name among all names in ascending order of their bytes. */
TD_API bool td_graph_has_names(const td_graph *graph);
TD_API const char *td_graph_vertex_name(const td_graph *graph, uint32_t vertex); /* NULL if it has none */
TD_API td_status td_graph_find_name(const td_graph *graph, const char *name, uint32_t *vertex); /* TD_NOT_FOUND */
TD_API bool td_program_verifies(const char *program); /* whether td_result_verify knows what its results must fulfil */

#ifdef __cplusplus
}
#endif

#endif
