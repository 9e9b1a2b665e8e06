/* A run as the page shows it: the figures of a report (docs/guide/programs.md), checked. */
#ifndef TD_PAGE_MODEL_H
#define TD_PAGE_MODEL_H

#include "base/json_read.h"
#include "page/page.h"

enum { TD_PAGE_DIRECTIONS = 8, TD_PAGE_DEVICES = 64 };

/* Directions by their place in the page's legend; names beyond the room share the last place. */
typedef struct td_page_directions {
    const char *names[TD_PAGE_DIRECTIONS];
    int count;
} td_page_directions;

/* What the rows of a run know of the time inside an iteration. */
typedef enum td_page_measure {
    TD_MEASURE_NONE,
    TD_MEASURE_COPIES, /* seconds with copies and with kernels in flight */
    TD_MEASURE_SHARED, /* waits of the CPU and of the GPU for each other */
    TD_MEASURE_BUSY,   /* busy seconds of every GPU */
    TD_MEASURE_DISK    /* waits for pages */
} td_page_measure;

typedef struct td_page_row {
    double number, active_vertices, active_edges, edges, change, start, seconds;
    double copy, compute, both;           /* TD_MEASURE_COPIES */
    double gpu_idle, cpu_idle, gpu_edges; /* TD_MEASURE_SHARED */
    double disk_wait, gpu_pages;          /* TD_MEASURE_DISK */
    double longest;                       /* TD_MEASURE_BUSY: of the slowest GPU */
    const td_json_value *busy;            /* seconds of every GPU, or NULL */
    double moved, useful;                 /* bytes over links and from disk; bytes of them that a vertex needed */
    int direction;
} td_page_row;

typedef struct td_page_device {
    const char *name;
    double graph, program, free, peak, edges, busy, in, out, launches;
} td_page_device;

typedef struct td_page_run {
    td_json_tree tree;
    const char *name;                     /* of the report's file */
    const char *program, *engine, *mode, *input, *verified, *digest, *why, *planned_engine, *version;
    double threads, vertices, edges, iterations, edges_processed, seconds, edges_per_second, final_change;
    bool has_graph, converged, fits;
    double graph_bytes, program_bytes, process_bytes, free_bytes; /* the plan's, of the host */
    double run_peak, load_peak, disk_bytes;
    double start, load, open, plan, prepare, reorder, earlier, finish, verify, write; /* seconds; NAN: not stated */
    double wall, wall_report, wall_close; /* the same */
    double expected, expected_start, expected_load, expected_open, expected_plan, expected_prepare, expected_processing,
        expected_finish;                  /* by the planner; the same */
    bool emulated;                        /* one of its GPUs is: clocks differ */
    bool knows_useful;
    td_page_measure measure;
    td_page_device devices[TD_PAGE_DEVICES];
    int device_count;
    td_page_row *rows;
    uint32_t row_count;
} td_page_run;

td_status td_page_run_read(td_page_run *run, const td_page_source *source, td_page_directions *directions);
void td_page_run_free(td_page_run *run); /* a zeroed struct is fine */

#endif
