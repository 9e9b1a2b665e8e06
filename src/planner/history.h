/* Measured runs, kept for the planner: a file "runs" in the user's cache folder.
 *
 * A run adds one line, which the system appends whole, so that several processes may add at once. A line has its own
 * checksum: one that was cut off, damaged or made up is skipped. The file is bounded: when it has grown beyond
 * TD_HISTORY_BYTES, its newer half replaces it. Nothing but the choice of an engine depends on it. TANDEM_HISTORY=off
 * neither reads nor writes it; TANDEM_HISTORY=all also keeps runs on small graphs. */
#ifndef TD_PLANNER_HISTORY_H
#define TD_PLANNER_HISTORY_H

#include "base/data_files.h"
#include "base/status.h"

enum { TD_HISTORY_BYTES = 64 << 10, TD_HISTORY_NAME = 32 };

/* A measured run. */
typedef struct td_past {
    uint64_t build_id; /* of the graph's file */
    uint64_t machine;  /* td_rates_machine */
    uint64_t how;      /* limits of memory and settings, as a hash */
    char program[TD_HISTORY_NAME], engine[TD_HISTORY_NAME];
    uint32_t iterations;
    double prepare, processing, finish; /* seconds */
} td_past;

/* Whether runs on a graph of so many edges are kept and looked for. */
bool td_history_wants(uint64_t edges);

/* The runs of a program on a graph and a machine, the newest first, one for each engine and `how`; returns how many. */
int td_history_find(uint64_t build_id, uint64_t machine, const char *program, td_past *out, int most);

/* The runs with the same build, machine, program, engine and `how` that prepared for themselves, not with what another
 * run of their process left; *most: the longest time that one took for it. Returns how many. */
uint64_t td_history_prepares(const td_past *like, double *most);

/* Keeps a run; a folder that cannot be written is no failure. */
void td_history_add(const td_past *past);

#endif
