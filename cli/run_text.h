/* The text output of `tandem run`: the result in a few lines, the top vertices as a
 * table, and the help pages of programs and engines, made from their tables. */
#ifndef TD_CLI_RUN_TEXT_H
#define TD_CLI_RUN_TEXT_H

#include "tandem.h"

/* On standard error. Before a run: the engine, why it was chosen, and the estimated memory. */
void td_show_plan(const td_plan *plan);

/* And after it. */
typedef struct td_run_text {
    const td_graph *graph;
    const td_result *result; /* the last one, if the run was repeated */
    const td_summary *summary;
    const td_program_facts *program;
    const td_request *request;
    const td_report_facts *report;
    double seconds;          /* of processing: the median of the repetitions */
    uint64_t repeats;
} td_run_text;
void td_show_run(const td_run_text *text);

/* The name of a vertex, or its id, masked. Returns `text`. */
char *td_vertex_text(char *text, size_t bytes, const td_graph *graph, uint32_t vertex);

/* On standard output. Of a batch: the source stands in front of its rows. */
typedef struct td_top_of {
    const char *source;
    bool first; /* the line of column names is still missing */
} td_top_of;
td_status td_print_top(td_session *session, const td_graph *graph, const td_result *result,
                       const td_program_facts *program, uint64_t most, const td_top_of *of); /* NULL: of one run */

/* Prints the page of a program or an engine; false if the word names neither. */
bool td_help_run_topic(const char *word);

/* The names of all programs and engines, as candidates for a mistyped one. */
const char *td_run_topic_name(const void *unused, int index);

void td_help_programs(void);
void td_help_engines(void);

/* TD_USAGE for a word that is no program, in front of a file; the words may have been exchanged. */
td_status td_unknown_program(const char *word, const char *path);

#endif
