/* Engines and plans.
 *
 * An engine is a descriptor: what it can run, how it plans a run and how it runs a plan. A plan is what runs: it holds
 * the program, the graph and the options, refers to the GPUs that the session's cache has opened, states the memory
 * that the run will take, and carries what the engine has decided (`shape`), which its run uses and nothing else does.
 * Engines include this header, never each other; one that finds that another serves better hands the plan over. */
#ifndef TD_ENGINE_ENGINE_H
#define TD_ENGINE_ENGINE_H

#include "run/run.h"

/* A column of the report that an engine adds to every iteration. */
typedef enum td_column_kind { TD_COLUMN_U32, TD_COLUMN_U64, TD_COLUMN_REAL } td_column_kind;
typedef struct td_column {
    const char *name;
    td_column_kind kind;
    size_t offset; /* in td_row */
} td_column;

enum { TD_USES_CPU = 1, TD_USES_GPU = 2 }; /* what an engine computes on */

typedef struct td_engine {
    const char *name, *summary;
    const char *device;         /* what it needs, in words: "cuda or emu" */
    unsigned uses_devices;
    bool needs_gpu;
    bool takes_disk;            /* runs graphs whose edges stay on disk */
    const td_setting *settings; /* keys are "<engine>.<name>" */
    bool (*uses)(const td_program *program, const char *setting); /* NULL: every program uses every setting */
    bool (*applies)(const td_settings *settings, const char *setting); /* beside the others; NULL: always */
    td_status (*check)(const td_settings *settings); /* whether they make sense together; NULL: any do */
    const char *example;        /* behind "tandem run"; NULL: a plain one */
    td_status (*plan)(td_plan *plan);
    td_status (*run)(const td_plan *plan, td_run *run);
    /* How a run of the plan ended: a failure's message may say what would do. NULL: as it is. */
    td_status (*explain)(const td_plan *plan, td_status status);
    double (*in_effect)(const td_plan *plan, const td_setting *setting, double number); /* what became of it; or NULL */
    const td_column *columns;   /* ends with a NULL name; NULL: none */
} td_engine;

#define TD_ENGINE(name) extern const td_engine td_##name##_engine;
#include "engine/engines.def"
#undef TD_ENGINE

extern const td_engine *const td_engines[]; /* ends with NULL */
const td_engine *td_engine_named(const char *name); /* NULL if there is none */

enum { TD_PLAN_COUNTERS = 16 };

struct td_plan {
    const td_engine *engine;    /* that runs it */
    const td_engine *reported;  /* that reports name: the one asked for, where it is the same work */
    const td_program *program;
    const td_graph *graph;
    td_run_options options;
    td_cache own_cache;         /* of a plan that no session has a cache for */
    char why[192];              /* this engine, in words */
    uint64_t graph_bytes;       /* the graph's arrays, which are there already */
    uint64_t program_bytes;     /* what the run takes of the host's memory besides, at its peak */
    uint64_t emulated_bytes;    /* of that, what an emulated GPU takes */
    uint64_t process_bytes;     /* besides: code, libraries and stacks, about */
    uint64_t free_bytes;        /* of the budget, or of the machine's memory without one */
    bool fits;
    td_device_uses devices;     /* that compute, each with its memory */
    uint64_t device_graph_bytes, device_program_bytes; /* of all GPUs */
    double opened;              /* seconds that the cache had opened GPUs for before the plan */
    char note[224];             /* a line for when the plan runs, not before: it may be refused; empty: none */
    bool note_warns, note_told;
    td_counter counters[TD_PLAN_COUNTERS]; /* that the engine states, by name */
    int counter_count;
    void *shape;                /* the engine's own */
    void *owner;                /* of the options' texts, where the plan has to keep them; or NULL */
    void (*free_owner)(void *owner);
};

/* A plan by this engine, or by the one that it hands the run over to. Refused with the reason if it cannot run. The
 * options' texts and settings must stay as long as the plan does. */
td_status td_plan_create(td_plan **out, const td_engine *engine, const td_program *program, const td_graph *graph,
                         const td_run_options *options);

/* Plans anew with another engine; what the one before stated is dropped. */
td_status td_plan_with(td_plan *plan, const td_engine *engine);

/* Runs the plan, once or several times. On failure *out is untouched. */
td_status td_plan_execute(const td_plan *plan, td_run **out);

/* For engines. */
td_status td_plan_hand_over(td_plan *plan, const td_engine *engine, const char *why); /* why: NULL, nothing to add */
td_status td_plan_shape(td_plan *plan, void *out, size_t bytes); /* a zeroed shape, the plan's own */
void td_plan_count(td_plan *plan, const char *name, uint64_t value);
void td_plan_add_why(td_plan *plan, const char *text);
/* A line that the plan's first run prints, as a warning or as information. */
void td_plan_say(td_plan *plan, bool warns, const char *text);
/* What the run takes of a GPU, once for each: a row of the plan's devices. An emulated one's memory is added to what the
 * run takes of the host's; an engine that measured the host's peak with it sets program_bytes afterwards. The CPU's row,
 * of engines that use it, is the host's memory. */
void td_plan_on_device(td_plan *plan, td_device *device, uint64_t graph, uint64_t program, bool cooperative);

/* Plans with the engine that the options name and runs, for tests and benchmarks. */
td_status td_run_program(td_run **out, const td_program *program, const td_graph *graph, const td_run_options *options);

#endif
