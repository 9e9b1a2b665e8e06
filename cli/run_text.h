/* The text output of `tandem run`: the result in a few lines, the top vertices as a
 * table, and the help pages of programs and engines, made from their tables. */
#ifndef TD_CLI_RUN_TEXT_H
#define TD_CLI_RUN_TEXT_H

#include "planner/report.h"

/* On stderr. */
/* Before a run: the engine, why it was chosen, and the estimated memory. */
void td_show_plan(const td_plan *plan);

void td_show_run(const td_run_report *report);

/* On standard output. */
td_status td_print_top(const td_run *run, td_pool *pool, uint64_t most);

/* Prints the page of a program or an engine; false if the word names neither. */
bool td_help_run_topic(const char *word);

/* The names of all programs and engines, as candidates for a mistyped one. */
const char *td_run_topic_name(const void *unused, int index);

void td_help_programs(void);
void td_help_engines(void);

#endif
