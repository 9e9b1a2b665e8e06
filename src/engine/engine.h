/* Engines and plans.
 *
 * An engine is a descriptor: what it can run, how it plans a run and how it runs a plan. A plan is what runs: it holds
 * the program, the graph and the options, refers to the GPUs that the session's cache has opened, states the memory
 * that the run will take, and carries what the engine has decided (`shape`), which its run uses and nothing else does.
 * Engines include this header, never each other; an engine that finds another one better delegates the plan to it. */
#ifndef TD_ENGINE_ENGINE_H
#define TD_ENGINE_ENGINE_H

#include "engine/estimate.h"
#include "run/group.h"
#include "run/run.h"
#include "store/sidecar.h"

/* A column that an engine adds to every iteration of the report. */
typedef enum td_column_kind { TD_COLUMN_U32, TD_COLUMN_U64, TD_COLUMN_REAL, TD_COLUMN_TEXT, TD_COLUMN_LIST } td_column_kind;
typedef struct td_column {
    const char *name;
    td_column_kind kind;
    size_t offset; /* in td_row: a number, a const char * or a td_row_list */
} td_column;

/* A setting that has another name now: the old one is refused, and the message says the new one. */
typedef struct td_renamed_setting {
    const char *formerly, *name; /* without the engine's prefix */
} td_renamed_setting;

enum { TD_USES_CPU = 1, TD_USES_GPU = 2 }; /* devices that an engine computes on */

/* A layout beside the graph, for the report of what was made. */
typedef struct td_prepared_file {
    char layout[TD_SIDECAR_NAME], path[TD_SIDECAR_PATH];
    bool made; /* false: it was there */
    double make_seconds, write_seconds;
} td_prepared_file;

/* Whether a run reads the lists of a .tg in the mapped file: never, if the page cache has them, or in any case. */
typedef enum td_maps { TD_MAPS_NEVER, TD_MAPS_CACHED, TD_MAPS_ALWAYS } td_maps;

typedef struct td_engine {
    const char *name, *summary;
    const char *device;         /* the device it needs, as text: "cuda or emu" */
    unsigned uses_devices;
    bool needs_gpu;
    bool several_gpus;          /* is made for more than one */
    bool takes_disk;            /* runs graphs whose edges stay on disk */
    bool limits_edges;          /* obeys a limit on the edges on a GPU ({gpu_edges}) */
    bool checks_lists; /* checks lists of a mapped graph on their way to its devices (store/checks.h) */
    bool strict;                /* can keep the values of an iteration apart from those before it (td_run_strict) */
    const td_setting *settings; /* keys are "<engine>.<name>" */
    const td_renamed_setting *renamed; /* ends with a NULL name; NULL: none */
    bool (*uses)(const td_program *program, const char *setting); /* NULL: every program uses every setting */
    bool (*applies)(const td_settings *settings, const char *setting); /* whether it has an effect beside the others;
                                                                        * NULL: always */
    const char *(*when)(const char *setting); /* with which settings it does, as text; NULL if `applies` is */
    td_status (*check)(const td_settings *settings); /* whether they are consistent; NULL: always */
    /* The time to the answer and the memory of a run; fails with the reason if the engine cannot run it. It opens no
     * device. NULL: the planner does not choose the engine by itself. */
    td_status (*estimate)(const td_case *of, td_plan_estimate *out);
    td_status (*plan)(td_plan *plan);
    td_status (*run)(const td_plan *plan, td_run *run);
    /* Searches from all sources of a group at once, for plans whose `group` is above 1; NULL: plans have none. */
    td_status (*run_group)(const td_plan *plan, td_run *run, td_group *group);
    uint32_t least_width;       /* of the words of a group; 0: any */
    /* Called after a run of the plan; may add to a failure's message. NULL: nothing to add. */
    td_status (*explain)(const td_plan *plan, td_status status);
    /* Names the layout beside the graph that runs of the program read instead of its lists; of the graph, counts, weights
     * and symmetry are read. TD_NOT_FOUND with the reason: none. NULL: the engine has no layouts. */
    td_status (*layout)(const td_program *program, const td_graph *graph, const td_run_options *options,
                        char name[TD_SIDECAR_NAME]);
    /* Makes what later runs like this one read beside the graph, unless it is there: that layout, or another that leaves
     * the lists where they are. NULL: nothing. */
    td_status (*make_layout)(const td_program *program, const td_graph *graph, const td_run_options *options,
                             td_prepared_file *out);
    bool (*counts_neighbours)(const td_plan *plan); /* the run makes kcore's input itself; NULL: it does not */
    bool (*spares_lists)(const td_plan *plan); /* the plan reads none of the graph's lists in memory; NULL: it does */
    /* Of the graph, the counts are read. NULL: never. */
    td_maps (*maps)(const td_program *program, const td_graph *graph, const td_run_options *options);
    double (*in_effect)(const td_plan *plan, const td_setting *setting, double number); /* value in effect, or NULL */
    const td_column *columns;   /* ends with a NULL name; NULL: none */
} td_engine;

#define TD_ENGINE(name) extern const td_engine td_##name##_engine;
#include "engine/engines.def"
#undef TD_ENGINE

extern const td_engine *const td_engines[]; /* ends with NULL */
const td_engine *td_engine_named(const char *name); /* NULL if there is none */

/* The setting `prepared` of engines with layouts: reads one and makes one by cost, does not look for any, reads, reads
 * or makes. */
#define TD_PREPARED_CHOICES "auto|off|read|make"
enum { TD_PREPARED_AUTO, TD_PREPARED_OFF, TD_PREPARED_READ, TD_PREPARED_MAKE };

/* Whether that layout lies beside the graph, for a run with these options and as the program sees the graph. */
bool td_prepared_has(const td_graph *graph, const td_engine *engine, const td_program *program,
                     const td_run_options *options);

enum { TD_PLAN_COUNTERS = 16, TD_PLAN_PREPARED = 2 };

struct td_plan {
    const td_engine *engine;    /* the engine that runs the plan */
    const td_engine *reported;  /* the engine that reports name: the one asked for, if the work is the same */
    const td_program *program;
    const td_graph *graph;
    td_run_options options;
    uint32_t group;             /* of a batch: sources that one run searches from; 1: each has a run of its own */
    td_cache own_cache;         /* cache of a plan without a session */
    char why[192];              /* why this engine, as text */
    uint64_t graph_bytes;       /* the graph's arrays, already allocated */
    uint64_t program_bytes;     /* host memory of the run besides, at its peak */
    uint64_t emulated_bytes;    /* part of it: an emulated GPU's memory */
    uint64_t process_bytes;     /* besides: code, libraries and stacks, estimated */
    uint64_t free_bytes;        /* free bytes of the budget, or of the machine's memory without a budget */
    bool fits;
    td_device_uses devices;     /* devices that compute, each with its memory */
    uint64_t device_graph_bytes, device_program_bytes; /* sums over the GPUs */
    double opened;              /* seconds that the cache had spent opening GPUs before the plan */
    char note[224];             /* a message that the first run prints: a plan may be refused; empty: none */
    bool note_warns, note_printed;
    bool view_printed;          /* what the program makes of a directed graph has been printed */
    td_estimates estimates;     /* of all engines; none if the plan was made with one */
    td_counter counters[TD_PLAN_COUNTERS]; /* counters that the engine states, by name */
    int counter_count;
    char prepared[TD_PLAN_PREPARED][TD_SIDECAR_NAME]; /* layouts beside the graph that the run reads */
    int prepared_count;
    void *shape;                /* the engine's decisions */
    void *owner;                /* owner of the options' texts, if the plan must free them; or NULL */
    void (*free_owner)(void *owner);
};

/* Plans with this engine, or with the one that it delegates to. Fails with the reason if the run is impossible. The
 * options' texts and settings must outlive the plan. */
td_status td_plan_create(td_plan **out, const td_engine *engine, const td_program *program, const td_graph *graph,
                         const td_run_options *options);

/* Plans again with another engine; the previous engine's statements are dropped. */
td_status td_plan_with(td_plan *plan, const td_engine *engine);

/* Runs the plan, once or several times. On failure *out is untouched. */
td_status td_plan_execute(const td_plan *plan, td_run **out);

/* Searches from the sources of a group, whose width and sources are set; td_group_free frees what it finds. */
td_status td_plan_execute_group(const td_plan *plan, td_group *group, td_run **out);

/* Whether runs of the plan's batch can share searches, as far as the request decides: parents, limits and modes are
 * those of single runs. */
bool td_plan_may_group(const td_plan *plan);

/* Whether the request is a batch. */
static inline bool td_options_are_batch(const td_run_options *options) { return options->sources != NULL; }

/* For engines. */
td_status td_plan_delegate(td_plan *plan, const td_engine *engine, const char *why); /* why: text for the report; NULL:
                                                                                      * none */
td_status td_plan_shape(td_plan *plan, void *out, size_t bytes); /* allocates a zeroed shape, owned by the plan */
void td_plan_count(td_plan *plan, const char *name, uint64_t value);
void td_plan_add_why(td_plan *plan, const char *text);
void td_plan_reads(td_plan *plan, const char *layout); /* a layout beside the graph */
/* States that the graph's lists are not in memory, as far as they stay in the file; false: the run copies them, before its
 * engine begins, to find parents, or to look for infinite distances. */
bool td_plan_spares_lists(td_plan *plan);
/* The same of weights that the program ignores. Pages of the mapping that targets are read in count as the process's. */
void td_plan_spares_weights(td_plan *plan);
/* Sets a message that the plan's first run prints, as a warning or as information. */
void td_plan_say(td_plan *plan, bool warns, const char *text);
/* Device memory of the run on one GPU; call it once per GPU. It adds a row to the plan's devices and an emulated GPU's
 * memory to program_bytes; an engine whose measured host peak includes that memory sets program_bytes afterwards. */
void td_plan_on_device(td_plan *plan, td_device *device, uint64_t graph, uint64_t program, bool cooperative);

/* Plans with the engine that the options name and runs, for tests and benchmarks. */
td_status td_run_program(td_run **out, const td_program *program, const td_graph *graph, const td_run_options *options);

#endif
