/* The hybrid engine: the next free device processes the next page of a graph; pages are read from disk if memory is too
 * small for all (Garaph, ATC'17).
 *
 * The order of a pass is known beforehand, so that pages are read ahead (store/paged.h). The kernels are the cpu
 * engine's: a page is a run of whole 64-vertex words, and its lists have the addresses that they have in a graph in
 * memory.
 *
 * Files: hybrid.c set-up; pages.c pages of a pass and their order; rounds.c, cores.c and sweep.c schedules; dispatch.c
 * division between CPU and GPU; gpu.c pages on the GPU; plan.c memory and disk reads. */
#ifndef TD_ENGINE_HYBRID_HYBRID_H
#define TD_ENGINE_HYBRID_HYBRID_H

#include "cpu/cpu.h"
#include "engine/engine.h"
#include "store/paged.h"

typedef enum td_hybrid_rule { TD_RULE_MEASURED, TD_RULE_PAPER } td_hybrid_rule;
typedef enum td_hybrid_use { TD_USE_AUTO, TD_USE_CPU, TD_USE_GPU, TD_USE_BOTH } td_hybrid_use;

typedef struct td_hybrid_job {
    td_cpu_job cpu;
    td_paged *paged;       /* NULL: the graph is in memory */
    td_page_set *push, *pull; /* pages of the push lists and of the pull lists; the same set if the lists are the
                               * same */
    unsigned needs;        /* TD_WITH_WEIGHTS if kernels read weights */
    td_hybrid_use use;
    td_hybrid_rule rule;
    double ratio;          /* k: sequential over random read speed; 1 in memory */
    uint32_t most_rounds;  /* maximum rounds on a page within a pass */
    uint64_t *useful;      /* useful edges of every page */
    uint32_t *order, order_count;
    bool backwards;        /* alternate passes run backwards, so that pages read last are used first */
    uint64_t active_ranges[TD_SUMMARY_WORDS]; /* a bit per range of the pages' summaries: an active vertex is in it */
    td_page *directory[2]; /* the file's page directory with summaries, for push and pull lists; or NULL */
    uint64_t directory_count[2];
    bool through;          /* the run has converged or ended without failure */
    struct td_hybrid_gpu *gpu; /* gpu.h; NULL: no GPU takes part */
    bool by_levels;            /* a search in which all active vertices have the same value */
    bool pulled;               /* the last iteration was a pull */
    bool cores;                /* core numbers from disk, by bounds instead of peeling */
    bool pulls_what_it_pushes; /* push and pull lists of a vertex are the same */
    uint32_t *support, *bins;  /* support of every vertex, histogram of every worker (cores.c) */
    double cpu_rate, gpu_rate; /* pulled edges per ns; 0: unknown */
    uint32_t passes;           /* passes with the GPU; duration of the last with and without the CPU; 0: none */
    uint64_t together_ns, alone_ns;
    td_row row;      /* the current iteration */
    td_paged_counts before;/* counters at its begin */
    td_paged_counts at_start; /* counters at the begin of the run; the graph's counters include all its runs */
    td_reader_counts readers_at_start[TD_RUN_DIRECTORIES];
} td_hybrid_job;

extern const td_setting td_hybrid_settings[];
bool td_hybrid_uses(const td_program *program, const char *setting);

td_hybrid_use td_hybrid_use_of(const td_settings *settings); /* TD_USE_AUTO: a GPU that needs too much memory is not
                                                              * used */
uint64_t td_hybrid_page_of(const td_settings *settings);     /* edges per page that the user set; 0: not set */
td_status td_hybrid_direction(const td_settings *settings, td_direction *out);
td_status td_hybrid_gather_of(const td_settings *settings, bool *shards, uint32_t *copies); /* copies 0: customised */

/* Whether pulls track active vertices, so that few can be notified. */
static inline bool td_hybrid_tracks(const td_cpu_kernels *k, td_direction direction)
{
    return direction == TD_DIRECTION_NOTIFY || (direction == TD_DIRECTION_AUTO && k->measure == TD_MEASURE_MAX);
}

/* pages.c */

/* Counts the edges of the map's vertices in the set's lists, per page and in total. */
td_status td_hybrid_count(td_hybrid_job *self, td_page_set *set, const uint64_t *map, uint64_t *vertices,
                          uint64_t *edges);

/* Sets the order of a pass: all pages, or those in which the last count found edges. */
void td_hybrid_order_all(td_hybrid_job *self, const td_page_set *set);
void td_hybrid_order_useful(td_hybrid_job *self, td_page_set *set);

/* Removes pages from the order that have neither an active vertex nor a neighbour of one; `skip` is called for each. */
typedef void (*td_hybrid_skip)(td_hybrid_job *self, uint32_t first, uint32_t end);
void td_hybrid_skip_idle(td_hybrid_job *self, const td_page_set *set, td_hybrid_skip skip);

/* Processes every page of the order once. `next`: bitmap of vertices active after the pass, so far; a released page's
 * value for the cache is its number of such edges; NULL: all pages have the same value. */
typedef td_status (*td_hybrid_work)(td_hybrid_job *self, td_page_set *set, uint32_t page, td_cpu_tally *sum);
typedef struct td_hybrid_pass {
    td_page_set *set;
    unsigned needs;
    const uint64_t *only, *next;
    td_hybrid_work work;
} td_hybrid_pass;
td_status td_hybrid_go(td_hybrid_job *self, const td_hybrid_pass *pass, td_cpu_tally *sum);

/* Runs a kernel over the words of a page's vertices. */
td_status td_hybrid_step(td_hybrid_job *self, td_cpu_kernel kernel, const td_page_set *set, uint32_t page,
                         td_cpu_tally *sum);
void td_hybrid_add(td_cpu_tally *sum, const td_cpu_tally *more, int measure);

/* Whether most of the page's edges stay near it, so that several rounds on it make progress. */
bool td_hybrid_is_local(const td_hybrid_job *self, const td_page_set *set, uint32_t page);

td_status td_hybrid_begin(td_hybrid_job *self);                          /* begins an iteration */
td_status td_hybrid_end(td_hybrid_job *self, const char *direction, const td_cpu_tally *sum, uint64_t began);
/* Writes a checkpoint if one is due; active NULL: all vertices are active. */
td_status td_hybrid_checkpoint(td_hybrid_job *self, const uint64_t *active);
td_status td_hybrid_resume_converged(td_hybrid_job *self); /* takes the values of a checkpoint whose run had
                                                            * converged */

/* dispatch.c: estimates alpha and its times for the row; whether the GPU takes part in a pull; a pass on both devices;
 * updates a rate. */
void td_hybrid_estimate(td_hybrid_job *self);
bool td_hybrid_invokes_gpu(td_hybrid_job *self);
td_status td_hybrid_dispatch(td_hybrid_job *self, const td_hybrid_pass *pass, td_cpu_tally *sum);
void td_hybrid_update_rate(double *rate, uint64_t edges, uint64_t ns);

/* The schedules. */
td_status td_hybrid_push_rounds(td_hybrid_job *self);
td_status td_hybrid_pull_rounds(td_hybrid_job *self);
td_status td_hybrid_peel(td_hybrid_job *self);
td_status td_hybrid_find_cores(td_hybrid_job *self);
td_status td_hybrid_sweep(td_hybrid_job *self);
td_status td_hybrid_parents(td_hybrid_job *self);

/* Swaps two pointers; activates the page's vertices that changed meanwhile (false: none). */
void td_hybrid_swap(void *a, void *b);
bool td_hybrid_take_activated(td_cpu_job *cpu, const td_held_page *page);

/* cores.c: bytes of its arrays; 0: peeling is used. */
uint64_t td_hybrid_cores_bytes(const td_cpu_kernels *k, const td_run_options *options, uint64_t vertices);
td_status td_hybrid_open_cores(td_hybrid_job *self);
void td_hybrid_close_cores(td_hybrid_job *self);

/* sweep.c: declares the edges of a forest: their positions and, for a run from disk, the edges themselves. */
td_status td_hybrid_declare_forest(td_cpu_job *cpu, bool on_disk, td_host_memory *memory);

/* plan.c: memory and disk reads of a run. */
typedef struct td_hybrid_bytes {
    uint64_t vertices; /* offsets, ids and the program's arrays */
    uint64_t arrays;   /* part of `vertices`: the program's arrays, without inputs */
    uint64_t tables;   /* tables of pages, iterations and workers, estimated */
    uint64_t gpu;      /* host memory of a GPU that takes part */
    uint64_t emulated; /* part of `gpu`: an emulated GPU's memory */
    uint64_t device_graph, device_program; /* device memory */
    uint64_t room;     /* memory left for edges */
    uint64_t edges;    /* bytes of the lists of a pass */
    uint64_t cached;   /* maximum bytes of edges in memory */
    uint64_t reads;    /* maximum bytes read per iteration */
    uint64_t later;    /* estimate for later iterations of programs that visit all edges in each; otherwise `reads` */
    uint64_t least;    /* minimum memory, including the process; with a GPU only if the user asked for one */
    uint64_t least_with_gpu;
    uint64_t least_gpu, least_emulated; /* part of `least`: the GPU's, and an emulated GPU's memory */
} td_hybrid_bytes;

/* For a graph in memory or on disk whose offsets are known; file: its packed file, existing or not. */
td_status td_hybrid_count_bytes(const td_program *program, const td_graph *graph, const td_packed_info *file,
                                const td_run_options *options, uint64_t memory, td_hybrid_bytes *out);

/* Fails with TD_NO_MEMORY and the minimum for a run from disk, instead of an allocator's message. */
td_status td_hybrid_too_small(const td_program *program, const td_graph *graph, const td_packed_info *file,
                              const td_run_options *options, bool gpu);

/* Approximate edges of a page, given the bytes left for edges and a GPU. */
uint64_t td_hybrid_page_edges(const td_program *program, const td_graph *graph, const td_run_options *options,
                              bool on_disk, bool gpu, uint64_t room);

/* The most edges of 64 vertices, the minimum of a page; `both`: in both lists together. 0: unknown. */
uint64_t td_hybrid_largest_word(const td_graph *graph, bool both);

/* Whether a GPU can process pages of such a run: it can only pull along one list per vertex. */
bool td_hybrid_suits_gpu(const td_program *program, const td_cpu_kernels *k, int lists, const td_run_options *options);

#endif
