/* The planner: which engine does the work, and why. */
#ifndef TD_PLANNER_PLAN_H
#define TD_PLANNER_PLAN_H

#include "engine/engine.h"
#include "store/builder.h"

/* What was asked for: an engine's name, "auto" or NULL; devices separated by
 * commas, or NULL for all there are. TD_USAGE naming those that exist. */
td_status td_plan_check(const char *engine, const char *devices);

/* Refuses settings that neither the program nor the engine has, whose value they do
 * not take, or that change nothing about the program's runs. */
td_status td_plan_check_settings(const td_engine *engine, const td_program *program, const td_settings *settings);

/* After td_plan_check, once the graph is known. A run that is certain to be refused has no plan, but the refusal.
 */
td_status td_plan_make(td_plan **out, const char *engine, const td_program *program, const td_graph *graph,
                       const td_run_options *options);

/* The engine that runs when this one is asked for. "auto" or NULL is Tandem's choice: the engine whose settings
 * are given, resident where there is a GPU among the devices (all there are, if NULL), otherwise cpu. Once the graph is
 * known td_plan_make may still choose cpu instead, because there is little work or the GPU is too small. */
const td_engine *td_engine_choose(const char *engine, const char *devices, const td_settings *settings);

/* Before a packed file is loaded: what its header says a run is certain to be refused for, whatever memory there is. */
td_status td_plan_check_file(const char *path, const td_program *program, const td_build_options *build);

/* And whether its edges stay on disk. They do where graph and run together do not fit the memory that may be used, and
 * the engine is hybrid or Tandem's choice. */
td_status td_plan_on_disk(const char *path, const char *engine, const td_program *program,
                          const td_run_options *options, bool *on_disk);

/* The same before it is known what will run: beside a program of the usual size. */
td_status td_plan_exceeds_memory(const char *path, bool *exceeds);

/* TD_NO_MEMORY with about the least that is enough for a run from disk. */
td_status td_plan_too_small(const char *path, const td_program *program, const td_run_options *options);

/* The same for one whose edges are loaded. */
td_status td_plan_too_large(const char *path, const char *engine, const td_program *program,
                            const td_run_options *options);

/* How a planned run ended: of one that found too little memory, the message says about how much is enough. */
td_status td_plan_ended(const td_plan *plan, td_status status);

void td_plan_say_disk(td_plan *plan); /* why the edges stay on disk, for td_plan_make (plan_disk.c) */

#endif
