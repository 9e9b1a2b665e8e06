/* `tandem run --sources`: a program from many sources, one row or one file for each. */
#ifndef TD_CLI_RUN_BATCH_H
#define TD_CLI_RUN_BATCH_H

#include "base/json.h"
#include "tandem.h"

/* A source and what the run from it found. */
typedef struct td_batch_row {
    uint64_t id;
    td_summary summary;
    double seconds; /* of processing; of a search with other sources, its share */
} td_batch_row;

typedef struct td_batch_job {
    td_session *session;
    const td_graph *graph;
    const td_program_facts *program;
    td_plan *plan;
    const char *output;      /* a pattern with %s, or NULL */
    td_save_options saving;
    uint64_t top;
    bool verify, table;      /* table: standard output is free for it */
    td_report_facts *report; /* its phases are added to */

    td_batch *batch;         /* open until td_batch_job_close: it has the last result */
    td_batch_row *rows;      /* `count`, with their ids */
    uint64_t count;
    td_batch_facts facts;
    td_result *last;
} td_batch_job;

/* Whether the pattern of --output has one %s and nothing else that could mean something; NULL is fine. */
td_status td_batch_check_output(const char *pattern);

/* Runs from all sources and prints, checks and writes every result. */
td_status td_batch_run(td_batch_job *job);

/* The rows as the array "batch", and the sums over them as "batch_totals". */
void td_batch_json(td_json *json, const td_batch_job *job);

void td_batch_job_close(td_batch_job *job);

#endif
