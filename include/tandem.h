/* Tandem: graph algorithms on all of one machine.
 *
 * The one installed header. Handles are opaque, every call that can fail
 * returns a td_status, and td_last_message() says in words what went wrong in
 * the last failed call of the calling thread. Nothing aborts; on failure
 * nothing is left allocated and output parameters are untouched.
 *
 *     td_session *session; td_graph *graph; td_result *result;
 *     td_session_create(0, &session);
 *     td_graph_open(session, "web.txt.gz", NULL, &graph);
 *     td_session_run(session, graph, "pagerank", NULL, &result);
 *     const float *ranks = td_result_f32(result);
 *
 * examples/shortest.c is a complete program, with errors looked at.
 *
 * Structs that the caller fills begin with their own size: set it, leave at zero
 * what is to be the default, and a program keeps working with later versions:
 *
 *     td_request request = {.size = sizeof request, .has_source = true, .source = 17};
 *
 * A session, and what was made with it, is used by one thread at a time; a call
 * that finds it at work for another thread, or that a callback makes while it is
 * at work, fails with TD_USAGE. Several sessions may work at the same time.
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

/* code, what it means */
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

/* What the last failed call of the calling thread lacked, for a caller that can allow more and try again. */
typedef enum td_resource {
    TD_RESOURCE_NONE,           /* it failed for another reason */
    TD_RESOURCE_SESSION_BUDGET, /* td_session_set_budget */
    TD_RESOURCE_PROCESS_BUDGET, /* td_memory_set_budget */
    TD_RESOURCE_SYSTEM_MEMORY,  /* the machine's memory */
    TD_RESOURCE_DEVICE_MEMORY,  /* a GPU's memory, or the part of it that td_request.gpu_memory allows */
    TD_RESOURCE_DEVICE_EDGES,   /* td_request.gpu_edges */
} td_resource;

typedef struct td_refusal {
    td_resource resource;
    uint64_t needed;    /* bytes that the resource would have to allow, in all; of the machine's memory: asked for */
    uint64_t allowed;   /* bytes that it allows; 0: unknown */
    bool minimum_known; /* `needed` is about enough for the whole call; otherwise for the one request that failed */
    char device[48];    /* the GPU: "cuda:0"; empty: the host */
} td_refusal;

TD_API const td_refusal *td_last_refusal(void); /* never NULL; valid until the thread's next failed call */

/* The process: what all sessions share. */

/* Bytes that Tandem may hold at once, graphs included, in all sessions together; a
 * call that would need more fails with TD_NO_MEMORY. 0: no limit. A session may
 * have a budget of its own besides (td_session_set_budget). */
TD_API void td_memory_set_budget(uint64_t bytes);
TD_API uint64_t td_memory_held(void); /* bytes held now */
TD_API uint64_t td_memory_peak(void); /* most bytes held at once so far */

/* Diagnostics. Without a sink they go to standard error: warnings only, unless the
 * level says otherwise; TD_LOG_INFO also draws a progress line on a terminal. The
 * sink is called by one thread at a time and must not call Tandem. */
typedef enum td_log_level { TD_LOG_QUIET, TD_LOG_WARN, TD_LOG_INFO, TD_LOG_DEBUG } td_log_level;
typedef void (*td_log_sink)(void *context, td_log_level level, const char *line);
TD_API void td_log_set_level(td_log_level level);
TD_API void td_log_set_sink(td_log_sink sink, void *context); /* NULL: standard error again */

/* Asks everything under way to stop: it fails with TD_CANCELLED soon, and so does
 * what is started before the request is cleared. Any thread, any signal handler. */
TD_API void td_cancel_request(void);
TD_API void td_cancel_clear(void);

/* Sessions: the worker threads. */

typedef struct td_session td_session;

TD_API td_status td_session_create(int threads, td_session **out); /* 0: as many as this process may use */
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

/* Where the edges of a .tg are while the graph is open. On disk: vertices are in memory, edges are read page by page as
 * a run needs them, within the memory budget; the file must stay as it is. */
typedef enum td_place {
    TD_PLACE_DEFAULT, /* in memory where graph and a run fit the budget (without one: the machine's memory), otherwise
                       * on disk */
    TD_PLACE_MEMORY,
    TD_PLACE_DISK,
} td_place;

typedef struct td_graph_options {
    size_t size;           /* sizeof(td_graph_options) */
    const char *format;    /* of the file, as 'tandem help formats' lists them; NULL: recognised */
    bool symmetrize;       /* every edge in both directions */
    bool dedup;            /* one edge per pair of vertices, the lightest */
    bool drop_loops;       /* no edges from a vertex to itself */
    bool drop_weights;
    const char *weights;   /* "1:100", "0.5:2.0": random ones instead of what the edges have; NULL: none */
    uint64_t weight_seed;
    td_place edges;        /* on disk: of a .tg that no other option changes */
} td_graph_options;

/* Reads any graph file Tandem knows, .tg among them. `options` may be NULL. */
TD_API td_status td_graph_open(td_session *session, const char *path, const td_graph_options *options, td_graph **out);

typedef struct td_edges {
    size_t size;                   /* sizeof(td_edges) */
    uint64_t count;
    const uint64_t *sources, *targets;
    const uint32_t *whole_weights; /* one kind of weights, or none */
    const float *real_weights;
    uint64_t vertices;             /* 0: the ids that occur, any numbers; else ids are below this, and all exist */
} td_edges;

/* Builds a graph; the arrays stay the caller's and are not needed afterwards. */
TD_API td_status td_graph_from_edges(td_session *session, const td_edges *edges, const td_graph_options *options,
                                     td_graph **out);

/* Writes a graph; the path's suffix names the format where `format` is NULL. One on disk is copied to another .tg. */
TD_API td_status td_graph_save(td_session *session, const td_graph *graph, const char *path, const char *format);
TD_API void td_graph_destroy(td_graph *graph); /* NULL is fine */

TD_API uint32_t td_graph_vertices(const td_graph *graph);
TD_API uint64_t td_graph_edges(const td_graph *graph); /* directed ones: twice the number of undirected ones */
TD_API bool td_graph_symmetric(const td_graph *graph);
TD_API const char *td_graph_weights(const td_graph *graph); /* "none", "u8", "u16", "u32" or "f32" */
TD_API uint64_t td_graph_vertex_id(const td_graph *graph, uint32_t vertex); /* UINT64_MAX if there is no such vertex */
TD_API td_status td_graph_find(const td_graph *graph, uint64_t id, uint32_t *vertex); /* the vertex of an id */

TD_API bool td_graph_on_disk(const td_graph *graph); /* its edges are */

/* The edges that leave a vertex are numbered *first .. *first + *count - 1 (`first`
 * may be NULL); their targets stand in the array returned, in ascending order. Of
 * a graph on disk there is no array: NULL and no edges; td_graph_read_targets reads. */
TD_API const uint32_t *td_graph_targets(const td_graph *graph, uint32_t vertex, uint64_t *count, uint64_t *first);
TD_API uint64_t td_graph_degree(const td_graph *graph, uint32_t vertex); /* out-edges; 0 if there is no such vertex */

/* Copies the targets of a vertex, of any graph, to an array with room for its degree. */
TD_API td_status td_graph_read_targets(const td_graph *graph, uint32_t vertex, uint32_t *targets);

typedef struct td_edge {
    uint32_t source, target;
    double weight; /* 1 in a graph without weights */
} td_edge;

/* Of a graph on disk every call reads a block or two: td_result_edge is for a forest's edges. */
TD_API td_status td_graph_edge(const td_graph *graph, uint64_t number, td_edge *out);

/* Running programs. */

TD_API const char *td_program_name(int index);            /* NULL behind the last one */
TD_API const char *td_program_summary(const char *name);  /* NULL if there is no such program */

typedef enum td_mode {
    TD_MODE_DEFAULT,
    TD_MODE_SYNC,  /* an iteration sees the values of the one before */
    TD_MODE_ASYNC, /* values are seen as soon as they are there */
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

/* Called after every iteration by the thread that runs; false cancels. */
typedef bool (*td_iteration_fn)(void *context, const td_iteration *row);

typedef struct td_request {
    size_t size; /* sizeof(td_request) */
    bool has_source, has_iterations, has_tolerance;
    uint64_t source;     /* a vertex's id */
    uint32_t iterations; /* the most to do; without has_tolerance as many, unless nothing changes any more */
    double tolerance;    /* stop when an iteration changes the values by no more; 0 where only iterations are given */
    td_mode mode;
    bool parents;        /* also from which vertex each one was reached */
    const char *engine;  /* "cpu", or NULL for Tandem's choice */
    const char *const *settings; /* "key=value", as --set takes them; ends with NULL; or NULL */
    td_iteration_fn progress;    /* or NULL */
    void *progress_context;
    const char *devices;  /* what may be used, separated by commas: "cpu", "cuda:0", ...; NULL for Tandem's choice */
    uint64_t gpu_memory;  /* bytes of a GPU's memory that may be used, 0: all of it */
    double gpu_edges;     /* of those for edges: up to 1 a share of the graph's edge bytes, above 1 bytes; 0: no cap */
    /* A run that is killed, or cancelled, can go on: on any engine and device, with the same graph, program and
     * parameters. Iterations and tolerance may differ. docs/guide/checkpoints.md */
    const char *checkpoint;    /* a folder that the run's state is written to while it runs, or NULL */
    uint32_t checkpoint_every; /* iterations between two writes; 0: every ten seconds at most */
    const char *resume;        /* a folder whose last checkpoint the run goes on from, or NULL */
} td_request;

/* What a run would do and need, before it does. A plan runs once or several times; graph and session must stay as long
 * as it does. */
typedef struct td_plan td_plan;

/* What a run takes of one memory: "host", or a device ("cuda:0"). */
typedef struct td_plan_memory {
    size_t size;       /* sizeof(td_plan_memory), set by the caller */
    const char *place;
    uint64_t graph;    /* the graph's arrays; at the host they are there already */
    uint64_t program;  /* what the run takes besides, at its peak; at the host an emulated GPU's memory too */
    uint64_t emulated; /* of `program`: what an emulated GPU takes */
    uint64_t free;     /* what is left of the budget, or of the memory without one; of a device: of its cap */
    bool fits;
} td_plan_memory;

/* `request` may be NULL. Refused as the run would be, where that is certain. */
TD_API td_status td_session_plan(td_session *session, const td_graph *graph, const char *program,
                                 const td_request *request, td_plan **out);
TD_API void td_plan_destroy(td_plan *plan); /* NULL is fine */

TD_API const char *td_plan_engine(const td_plan *plan);
TD_API const char *td_plan_why(const td_plan *plan); /* this engine, in words */
TD_API bool td_plan_fits(const td_plan *plan);
/* Row 0 is the host, the others are devices. TD_NOT_FOUND behind the last one. */
TD_API td_status td_plan_memory_row(const td_plan *plan, int row, td_plan_memory *out);

/* Figures that engines state besides, by name: "subgraph_slots", "disk_bytes_per_iteration", ...
 * (docs/guide/c-api.md). */
TD_API uint64_t td_plan_counter(const td_plan *plan, const char *name); /* 0 if there is none of that name */
TD_API const char *td_plan_counter_name(const td_plan *plan, int index); /* NULL behind the last one */

/* Results: one value per vertex, in the order of vertex numbers. The graph must
 * stay as long as its results do. */

typedef struct td_run td_result;

TD_API td_status td_session_run(td_session *session, const td_graph *graph, const char *program,
                                const td_request *request, td_result **out);
TD_API td_status td_plan_run(td_session *session, td_plan *plan, td_result **out); /* the session that planned it */
TD_API void td_result_destroy(td_result *result); /* NULL is fine */

/* Checks the claims that a right result fulfils; TD_VERIFY naming the one that does not hold. */
TD_API td_status td_result_verify(td_session *session, const td_result *result);

typedef enum td_value_kind { TD_VALUE_U32, TD_VALUE_F32, TD_VALUE_F64 } td_value_kind;
#define TD_UNREACHED UINT32_C(0xffffffff) /* a level or distance that there is not; of real ones it is infinite */

TD_API td_value_kind td_result_kind(const td_result *result);
TD_API const uint32_t *td_result_u32(const td_result *result); /* NULL if the values are of another kind */
TD_API const float *td_result_f32(const td_result *result);
TD_API const double *td_result_f64(const td_result *result);
TD_API bool td_result_value(const td_result *result, uint32_t vertex, double *value); /* false: not reached */

TD_API const uint32_t *td_result_parents(const td_result *result); /* NULL if not asked for; TD_NO_VERTEX: none */
TD_API const uint64_t *td_result_edges(const td_result *result, uint64_t *count); /* mst: numbers for td_graph_edge */
TD_API td_status td_result_edge(const td_result *result, uint64_t index, td_edge *out); /* the one of edges[index] */
TD_API double td_result_total_weight(const td_result *result);                    /* of those edges */

TD_API bool td_result_converged(const td_result *result); /* it ended by itself, not at its limit of iterations */
TD_API uint32_t td_result_iterations(const td_result *result); /* with those before a checkpoint that it went on from */
TD_API const td_iteration *td_result_iteration(const td_result *result, uint32_t number); /* NULL if not kept */
TD_API uint32_t td_result_resumed(const td_result *result); /* iterations done before it went on from a checkpoint */
TD_API uint32_t td_result_checkpoints(const td_result *result, uint64_t *bytes); /* written; `bytes` may be NULL */
TD_API uint64_t td_result_edges_processed(const td_result *result);
TD_API uint32_t td_result_device_opens(const td_result *result); /* by the session, up to this run */
TD_API double td_result_seconds(const td_result *result);

/* The `most` vertices with the largest values, or of programs whose values name
 * vertices (components) the largest groups with their sizes. Fills as many
 * places of the two arrays as *count says. */
TD_API td_status td_result_top(td_session *session, const td_result *result, uint64_t most, uint32_t *vertices,
                               double *values, uint64_t *count);

/* One line per vertex, "id value", or of a forest per edge, "source target weight"; "tsv" where `format` is NULL. */
TD_API td_status td_result_save(td_session *session, const td_result *result, const char *path, const char *format);

#ifdef __cplusplus
}
#endif

#endif
