/* The hybrid engine's parts: pages of a graph go to whichever device is free, and come from disk where memory is too
 * small for them (Garaph, ATC'17).
 *
 * A pass takes pages in an order that is known beforehand, so that the disk is ahead of the work (store/paged.h).
 * The kernels are the cpu engine's: a page is a run of whole 64-vertex words, and its lists have the addresses they
 * have in a graph that is in memory.
 *
 * hybrid.c sets a run up, hybrid_pages.c says which pages a pass needs and what they are worth, hybrid_rounds.c and
 * hybrid_sweep.c are the schedules, hybrid_plan.c says beforehand what a run takes. */
#ifndef TD_ENGINE_HYBRID_HYBRID_H
#define TD_ENGINE_HYBRID_HYBRID_H

#include "cpu/cpu.h"
#include "engine/engine.h"
#include "store/paged.h"

typedef enum td_hybrid_use { TD_USE_AUTO, TD_USE_CPU, TD_USE_GPU, TD_USE_BOTH } td_hybrid_use;

typedef struct td_hybrid_job {
    td_cpu_job cpu;
    td_paged *paged;       /* NULL: the graph is in memory */
    td_page_set *push, *pull; /* pages of the lists that vertices tell, and gather from; one set if they are the same */
    unsigned needs;        /* TD_WITH_WEIGHTS if kernels look at them */
    td_hybrid_use use;
    double ratio;          /* k: sequential over random read speed; 1 in memory */
    uint32_t most_rounds;  /* on a page in memory, within a pass */
    uint64_t *useful;      /* of every page: edges of the vertices that the pass is about */
    uint32_t *order, order_count;
    bool backwards;        /* every other pass: what was read last is there first */
    uint64_t active_ranges[TD_SUMMARY_WORDS]; /* a bit per range of the pages' summaries: an active vertex is in it */
    td_page *directory[2]; /* the file's pages with their summaries, of the lists pushed and pulled along; or NULL */
    uint64_t directory_count[2];
    bool through;          /* the run has ended well */
    struct td_hybrid_gpu *gpu; /* hybrid_gpu.h; NULL: there is none, or it has nothing to do */
    bool by_levels;            /* a search, all of whose active vertices have the same value */
    bool pulled;               /* in the last iteration */
    bool cores;                /* core numbers from disk: by bounds, not by peeling */
    bool hears_told;           /* the neighbours that a vertex hears are those that it tells */
    uint32_t *support, *bins;  /* for them: of every vertex, of every worker (hybrid_cores.c) */
    double cpu_rate, gpu_rate; /* edges a ns of pages pulled; 0: not known */
    uint32_t passes;           /* with the GPU, and what the last took, with the processor and without; 0: none */
    uint64_t together_ns, alone_ns;
    td_row row;      /* the iteration under way */
    td_paged_counts before;/* what had been counted when it began */
    td_paged_counts at_start; /* and when the run did; the graph's are those of all its runs */
    td_reader_counts readers_at_start[TD_RUN_DIRECTORIES];
} td_hybrid_job;

extern const td_setting td_hybrid_settings[];
bool td_hybrid_uses(const td_program *program, const char *setting);

td_hybrid_use td_hybrid_use_of(const td_settings *settings); /* TD_USE_AUTO: a GPU that is too dear is left out */
uint64_t td_hybrid_page_of(const td_settings *settings);     /* edges asked for; 0: none */
td_status td_hybrid_direction(const td_settings *settings, td_direction *out);

/* Whether pulls keep an eye on who is active, so that few can be told. */
static inline bool td_hybrid_tracks(const td_cpu_kernels *k, td_direction direction)
{
    return direction == TD_DIRECTION_NOTIFY || (direction == TD_DIRECTION_AUTO && k->measure == TD_MEASURE_MAX);
}

/* hybrid_pages.c */

/* Counts, page by page, the edges that vertices of the map have in the set's lists; vertices and edges in all. */
td_status td_hybrid_count(td_hybrid_job *self, td_page_set *set, const uint64_t *map, uint64_t *vertices,
                          uint64_t *edges);

/* The order of a pass: all pages, or those that the last count found something in. */
void td_hybrid_order_all(td_hybrid_job *self, const td_page_set *set);
void td_hybrid_order_useful(td_hybrid_job *self, td_page_set *set);

/* Takes pages out of the order that have neither an active vertex nor a neighbour of one; `skip` is called for each. */
typedef void (*td_hybrid_skip)(td_hybrid_job *self, uint32_t first, uint32_t end);
void td_hybrid_skip_idle(td_hybrid_job *self, const td_page_set *set, td_hybrid_skip skip);

/* A pass over the order: every page once, when it is there. Pages left are worth what `next`, a map of the vertices
 * active afterwards so far, says; NULL: all are worth the same. */
typedef td_status (*td_hybrid_work)(td_hybrid_job *self, td_page_set *set, uint32_t page, td_cpu_tally *sum);
typedef struct td_hybrid_pass {
    td_page_set *set;
    unsigned needs;
    const uint64_t *only, *next;
    td_hybrid_work work;
} td_hybrid_pass;
td_status td_hybrid_go(td_hybrid_job *self, const td_hybrid_pass *pass, td_cpu_tally *sum);

/* A kernel over the words of a page's vertices. */
td_status td_hybrid_step(td_hybrid_job *self, td_cpu_kernel kernel, const td_page_set *set, uint32_t page,
                         td_cpu_tally *sum);
void td_hybrid_add(td_cpu_tally *sum, const td_cpu_tally *more, int measure);

/* Whether the page's edges stay near it: rounds on it alone lead somewhere. */
bool td_hybrid_is_local(const td_hybrid_job *self, const td_page_set *set, uint32_t page);

td_status td_hybrid_begin(td_hybrid_job *self);                          /* an iteration */
td_status td_hybrid_end(td_hybrid_job *self, const char *direction, const td_cpu_tally *sum, uint64_t began);
/* Between two, if one is due; NULL: everyone is active. */
td_status td_hybrid_checkpoint(td_hybrid_job *self, const uint64_t *active);
td_status td_hybrid_take_over(td_hybrid_job *self);                      /* a checkpoint of a run that was through */

/* hybrid_dispatch.c: whether the GPU takes part in a pull, a pass shared by both, and what a page took. */
bool td_hybrid_invites_gpu(const td_hybrid_job *self);
td_status td_hybrid_dispatch(td_hybrid_job *self, const td_hybrid_pass *pass, td_cpu_tally *sum);
void td_hybrid_learn(double *rate, uint64_t edges, uint64_t ns);

/* The schedules. */
td_status td_hybrid_push_rounds(td_hybrid_job *self);
td_status td_hybrid_pull_rounds(td_hybrid_job *self);
td_status td_hybrid_peel(td_hybrid_job *self);
td_status td_hybrid_find_cores(td_hybrid_job *self);
td_status td_hybrid_sweep(td_hybrid_job *self);
td_status td_hybrid_parents(td_hybrid_job *self);

/* Two pointers; and vertices of the page that were activated meanwhile become active now, if there are any. */
void td_hybrid_swap(void *a, void *b);
bool td_hybrid_take_activated(td_cpu_job *cpu, const td_held_page *page);

/* hybrid_cores.c: its arrays for a run from disk, and what they take; 0: it is done otherwise. */
uint64_t td_hybrid_cores_bytes(const td_cpu_kernels *k, const td_run_options *options, uint64_t vertices);
td_status td_hybrid_open_cores(td_hybrid_job *self);
void td_hybrid_close_cores(td_hybrid_job *self);

/* hybrid_sweep.c: the edges of a forest, as positions and, of a run from disk, as they are. */
td_status td_hybrid_declare_forest(td_cpu_job *cpu, bool on_disk, td_host_memory *memory);

/* hybrid_plan.c: memory of a run, and what it will read. */
typedef struct td_hybrid_bytes {
    uint64_t vertices; /* offsets, ids and the program's arrays */
    uint64_t arrays;   /* of those, the program's, inputs not counted */
    uint64_t tables;   /* of pages, iterations and workers, about */
    uint64_t gpu;      /* of the host's memory, where a GPU takes part */
    uint64_t emulated; /* of that, an emulated GPU's own */
    uint64_t device_graph, device_program; /* of the GPU's memory */
    uint64_t room;     /* left for edges */
    uint64_t edges;    /* of the lists that a pass goes over */
    uint64_t cached;   /* edges held at a time, at most */
    uint64_t reads;    /* from disk in an iteration, at most */
    uint64_t later;    /* about, in one after the first, of programs that go over all edges in each; else as reads */
    uint64_t least;    /* memory that is enough, the process itself included; with a GPU only if it was asked for */
    uint64_t least_with_gpu;
    uint64_t least_gpu, least_emulated; /* of that, what the GPU takes, and what is an emulated one's own */
} td_hybrid_bytes;

/* Of a graph in memory or on disk, whose offsets are known, and its file, or what that would be. */
td_status td_hybrid_count_bytes(const td_program *program, const td_graph *graph, const td_packed_info *file,
                                const td_run_options *options, uint64_t memory, td_hybrid_bytes *out);

/* Instead of an allocator's message: TD_NO_MEMORY with the least that is enough for a run from disk. */
td_status td_hybrid_too_small(const td_program *program, const td_graph *graph, const td_packed_info *file,
                              const td_run_options *options, bool gpu);

/* Edges of a page, about, where so many bytes are left for edges and a GPU, if there is one. */
uint64_t td_hybrid_page_edges(const td_program *program, const td_graph *graph, const td_run_options *options,
                              bool on_disk, bool gpu, uint64_t room);

/* Whether a GPU could have pages of such a run: it pulls, along one list of every vertex. */
bool td_hybrid_suits_gpu(const td_program *program, const td_cpu_kernels *k, int lists, const td_run_options *options);
bool td_hybrid_names_gpu(const char *devices);

#endif
