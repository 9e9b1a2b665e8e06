#include "report.h"

#include "base/outfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool td_report_leaves_stdout(const td_common *common)
{
    return common->json == NULL || strcmp(common->json, "-") != 0;
}

td_status td_report_begin(td_report *report, const char *target, const char *command, int threads)
{
    *report = (td_report){.target = target};
    FILE *file = open_memstream(&report->text, &report->bytes);
    if (file == NULL) return td_fail_errno(TD_NO_MEMORY, errno, "cannot make the JSON report");
    td_json_open(&report->json, file);
    td_json_object(&report->json, NULL);
    td_json_string(&report->json, "tandem", td_version());
    td_json_string(&report->json, "command", command);
    td_json_i64(&report->json, "threads", threads);
    return TD_OK;
}

static td_status write_out(const td_report *report)
{
    td_status status = TD_OK;
    td_outfile *file = NULL;
    TD_TRY(td_outfile_create(&file, report->target, TD_OUT_TEXT));
    TD_TRY(td_outfile_write(file, report->text, report->bytes));
    TD_TRY(td_outfile_commit(file));
done:
    td_outfile_close(file);
    return status;
}

td_status td_report_end(td_report *report, td_status status)
{
    if (report->json.file == NULL) return status;
    td_json_end_object(&report->json);
    td_status closed = td_json_close(&report->json);
    if (fclose(report->json.file) != 0 && closed == TD_OK) closed = td_fail_errno(TD_NO_MEMORY, errno, "JSON report");
    if (status == TD_OK) status = closed;
    if (status == TD_OK) status = write_out(report);
    free(report->text); /* open_memstream's */
    *report = (td_report){0};
    return status;
}

td_status td_report_check_target(const td_common *common, const char *path)
{
    struct stat a, b;
    if (common->json == NULL || strcmp(common->json, "-") == 0 || path == NULL) return TD_OK;
    bool same = strcmp(common->json, path) == 0;
    if (stat(common->json, &a) == 0 && stat(path, &b) == 0) same = a.st_dev == b.st_dev && a.st_ino == b.st_ino;
    if (same) return td_fail(TD_USAGE, "--json '%s' would overwrite '%s'", common->json, path);
    return TD_OK;
}
