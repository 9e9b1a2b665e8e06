/* The planner: chooses the engine of a run and says why. */
#ifndef TD_PLANNER_PLAN_H
#define TD_PLANNER_PLAN_H

#include "engine/engine.h"
#include "store/builder.h"

/* Checks an engine's name ("auto" or NULL: any) and devices separated by commas (NULL: all). TD_USAGE naming those that
 * exist. */
td_status td_plan_check(const char *engine, const char *devices);

/* Refuses settings that neither the program nor the engine has, values that they do not allow, and settings without
 * effect on the program's runs. */
td_status td_plan_check_settings(const td_engine *engine, const td_program *program, const td_settings *settings);

/* Refuses a limit on the edges on a GPU for an engine that uses GPUs but does not obey it. */
td_status td_plan_check_edges(const td_engine *engine, double gpu_edges);

/* Makes a plan; call after td_plan_check, when the graph is known. If the run is certain to be refused, fails with that
 * refusal. */
td_status td_plan_make(td_plan **out, const char *engine, const td_program *program, const td_graph *graph,
                       const td_run_options *options);

/* The engine for a name. "auto" or NULL: the engine whose settings are given; else resident if the devices (NULL: all)
 * include a GPU; else cpu. It decides whose settings are allowed; when the graph is known, td_plan_make may choose
 * another one. */
const td_engine *td_engine_choose(const char *engine, const char *devices, const td_settings *settings);
/* The engine that is named, or whose settings are given; NULL: neither. Does not start CUDA's driver, as the other may. */
const td_engine *td_engine_asked(const char *engine, const td_settings *settings);

/* The engine that td_plan_make will choose for a file, before it is read: by the estimates of its header
 * (planner/choose.h). */
const td_engine *td_engine_expected(const char *engine, const td_program *program, const td_run_options *options,
                                    const char *path);

/* Checks a packed file's header before it is loaded: refuses a run that no amount of memory would allow. */
td_status td_plan_check_file(const char *path, const td_program *program, const td_build_options *build);

/* Whether the file's edges stay on disk: if graph and run do not fit in the memory allowed, and the engine is hybrid or
 * not named. */
td_status td_plan_on_disk(const char *path, const char *engine, const td_program *program,
                          const td_run_options *options, bool *on_disk);

/* The same before the program is known, for a program of typical size. */
td_status td_plan_exceeds_memory(const char *path, bool *exceeds);

/* TD_NO_MEMORY with the approximate minimum for a run from disk. */
td_status td_plan_too_small(const char *path, const td_program *program, const td_run_options *options);

/* The same for a run with edges in memory. */
td_status td_plan_too_large(const char *path, const char *engine, const td_program *program,
                            const td_run_options *options);

/* Called after a planned run: if memory was too small, the message states the approximate minimum. */
td_status td_plan_ended(const td_plan *plan, td_status status);

/* Keeps the figures of a run for later plans (planner/history.h). */
void td_plan_remember(const td_plan *plan, const td_run *run);

/* Whether a list of devices has a name with this prefix; NULL has none. */
bool td_plan_lists(const char *devices, const char *beginning);

void td_plan_say_disk(td_plan *plan); /* states why the edges stay on disk, for td_plan_make (plan_disk.c) */

#endif
