#include "run_batch.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/size.h"
#include "graph_text.h"
#include "output.h"
#include "run_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

td_status td_batch_check_output(const char *pattern)
{
    if (pattern == NULL) return TD_OK;
    const char *place = strstr(pattern, "%s");
    if (place == NULL)
        return td_fail(TD_USAGE, "--output %s: with --sources every source has a file of its own, whose name has its "
                       "id in the place of %%s: d-%%s.tsv", pattern);
    for (const char *at = strchr(pattern, '%'); at != NULL; at = strchr(at + 1, '%'))
        if (at != place)
            return td_fail(TD_USAGE, "--output %s: one %%s is allowed, and no other %%", pattern);
    return TD_OK;
}

/* The file of a source. A name that would lead elsewhere is refused. */
static td_status output_of(const td_batch_job *job, const char *source, char *path, size_t bytes)
{
    const char *pattern = job->output, *place = strstr(pattern, "%s");
    if (strchr(source, '/') != NULL)
        return td_fail(TD_USAGE, "--output %s: the vertex '%s' has a name that cannot be part of a file's", pattern,
                       source);
    int length = snprintf(path, bytes, "%.*s%s%s", (int)(place - pattern), pattern, source, place + 2);
    if (length < 0 || (size_t)length >= bytes)
        return td_fail(TD_USAGE, "--output %s: the name is too long for the vertex '%s'", pattern, source);
    return TD_OK;
}

/* Refuses names of sources that cannot be part of a file's name, before anything runs. */
static td_status check_outputs(const td_batch_job *job)
{
    char path[4096], source[1100];
    uint32_t vertex;
    for (uint64_t i = 0; job->output != NULL && i < job->count; i++) {
        TD_CHECK(td_graph_find(job->graph, job->rows[i].id, &vertex));
        TD_CHECK(output_of(job, td_vertex_text(source, sizeof source, job->graph, vertex), path, sizeof path));
    }
    return TD_OK;
}

/* Adds what has passed since `began` to a phase that is interrupted by others. */
static void add_phase(td_phase *phase, uint64_t began)
{
    if (!phase->done) phase->start = (double)began * 1e-9;
    phase->seconds += td_seconds_since(began);
    phase->done = true;
}

static td_status write_result(td_batch_job *job, const char *source)
{
    char path[4096];
    uint64_t began = td_clock_ns();
    TD_CHECK(output_of(job, source, path, sizeof path));
    TD_CHECK(td_result_save_as(job->session, job->last, path, &job->saving));
    add_phase(&job->report->output, began);
    return TD_OK;
}

static td_status verify_result(td_batch_job *job, const char *source)
{
    uint64_t began = td_clock_ns();
    td_status status = td_result_claims(job->session, job->last, &job->report->claims);
    add_phase(&job->report->verify, began);
    return status == TD_OK ? TD_OK : td_fail_context(status, "source %s", source);
}

/* The table, a row as soon as there is one. */

enum { SOURCE_COLUMN = 12 };

static void print_row(const td_batch_job *job, uint64_t index, const char *source)
{
    const td_batch_row *row = &job->rows[index];
    if (index == 0)
        printf("%-*s %12s %14s %14s %12s %16s\n", SOURCE_COLUMN, "source", "reached", "farthest", "sum", "seconds",
               "digest");
    printf("%-*s %12" PRIu64 " %14.9g %14.9g %12.6f %016" PRIx64 "\n", SOURCE_COLUMN, source, row->summary.reached,
           row->summary.highest, row->summary.sum, row->seconds, row->summary.digest);
}

static td_status take_result(td_batch_job *job, uint64_t index)
{
    char source[1100];
    td_batch_row *row = &job->rows[index];
    uint32_t vertex;
    TD_CHECK(td_graph_find(job->graph, row->id, &vertex));
    td_vertex_text(source, sizeof source, job->graph, vertex);
    uint64_t began = td_clock_ns();
    row->summary.size = sizeof row->summary;
    row->seconds = td_result_seconds(job->last);
    TD_CHECK(td_result_summarise(job->session, job->last, &row->summary));
    add_phase(&job->report->summarise, began);
    if (job->verify) TD_CHECK(verify_result(job, source));
    if (job->output != NULL) TD_CHECK(write_result(job, source));
    td_top_of of = {source, index == 0};
    if (job->top > 0) TD_CHECK(td_print_top(job->session, job->graph, job->last, job->program, job->top, &of));
    if (job->table) print_row(job, index, source);
    return TD_OK;
}

static void show_totals(const td_batch_job *job)
{
    const td_batch_facts *facts = &job->facts;
    char edges[TD_NUMBER_BYTES], reached[TD_NUMBER_BYTES], sources[TD_NUMBER_BYTES], searches[TD_NUMBER_BYTES];
    uint64_t sum = 0;
    for (uint64_t i = 0; i < facts->done; i++) sum += job->rows[i].summary.reached;
    td_info("%s source%s in %s run%s%s; %s vertices reached in all", td_format_count(sources, facts->done),
            facts->done == 1 ? "" : "s", td_format_count(searches, facts->searches), facts->searches == 1 ? "" : "s",
            facts->at_once > 1 ? ", several at once, a bit each" : "", td_format_count(reached, sum));
    td_info("prepare %.3f s, processing %.6f s, %.6f s a source; %s edges processed", facts->prepare_seconds,
            facts->seconds, facts->seconds / (double)facts->done, td_format_count(edges, facts->edges_processed));
}

td_status td_batch_run(td_batch_job *job)
{
    uint64_t began = td_clock_ns();
    job->facts.size = sizeof job->facts;
    TD_CHECK(check_outputs(job));
    TD_CHECK(td_batch_create(job->session, job->plan, &job->batch));
    for (uint64_t i = 0; i < job->count; i++) { /* the last result stays for the report */
        TD_CHECK(td_batch_next(job->session, job->batch, &job->last));
        TD_CHECK(td_batch_describe(job->batch, &job->facts));
        td_progress_end();
        TD_CHECK(take_result(job, i));
    }
    add_phase(&job->report->run, began);
    job->report->summary = &job->rows[job->facts.done - 1].summary;
    show_totals(job);
    return TD_OK;
}

static void row_json(td_json *json, const td_batch_job *job, const td_batch_row *row)
{
    uint32_t vertex;
    bool found = td_graph_find(job->graph, row->id, &vertex) == TD_OK;
    const char *name = found ? td_graph_vertex_name(job->graph, vertex) : NULL;
    td_json_row(json, NULL);
    td_json_u64(json, "source", row->id);
    if (name != NULL) td_json_string(json, "name", name);
    td_json_u64(json, "reached", row->summary.reached);
    td_json_real(json, "farthest", row->summary.highest);
    td_json_real(json, "sum", row->summary.sum);
    td_json_real(json, "seconds", row->seconds);
    td_json_hex(json, "digest", row->summary.digest);
    td_json_end_object(json);
}

void td_batch_json(td_json *json, const td_batch_job *job)
{
    const td_batch_facts *facts = &job->facts;
    td_json_array(json, "batch");
    for (uint64_t i = 0; i < facts->done; i++) row_json(json, job, &job->rows[i]);
    td_json_end_array(json);
    td_json_object(json, "batch_totals");
    td_json_u64(json, "sources", facts->sources);
    td_json_u64(json, "at_once", facts->at_once);
    td_json_u64(json, "searches", facts->searches);
    td_json_u64(json, "edges_processed", facts->edges_processed);
    td_json_u64(json, "words", facts->words);
    td_json_real(json, "prepare_seconds", facts->prepare_seconds);
    td_json_real(json, "seconds", facts->seconds);
    td_json_real(json, "finish_seconds", facts->finish_seconds);
    td_json_end_object(json);
}

void td_batch_job_close(td_batch_job *job)
{
    td_batch_destroy(job->batch);
    td_free(job->rows);
    job->batch = NULL;
    job->rows = NULL;
    job->last = NULL;
}
