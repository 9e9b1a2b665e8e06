#include "report.h"

#include "base/isa.h"
#include "base/outfile.h"

#include <errno.h>
#include <limits.h>
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
    td_json_string(&report->json, "isa", td_isa_name(td_isa_level()));
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

static td_status finish(td_report *report, td_status status)
{
    td_json_end_object(&report->json);
    td_status closed = td_json_close(&report->json);
    if (fclose(report->json.file) != 0 && closed == TD_OK) closed = td_fail_errno(TD_NO_MEMORY, errno, "JSON report");
    return status == TD_OK ? closed : status;
}

td_status td_report_take(td_report *report, td_status status, char **text)
{
    if (report->json.file == NULL) return status;
    status = finish(report, status);
    if (status == TD_OK) *text = report->text;
    else free(report->text);
    *report = (td_report){0};
    return status;
}

td_status td_report_end(td_report *report, td_status status)
{
    if (report->json.file == NULL) return status;
    status = finish(report, status);
    if (status == TD_OK) status = write_out(report);
    free(report->text); /* open_memstream's */
    *report = (td_report){0};
    return status;
}

/* Splits a path; "." when it names no folder. */
static const char *base_of(const char *path, char folder[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL) snprintf(folder, PATH_MAX, ".");
    else snprintf(folder, PATH_MAX, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    return slash != NULL ? slash + 1 : path;
}

static bool same_file(const char *a, const char *b)
{
    struct stat of_a, of_b;
    return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

bool td_same_place(const char *a, const char *b)
{
    char folder_a[PATH_MAX], folder_b[PATH_MAX];
    if (same_file(a, b)) return true;
    bool same_base = strcmp(base_of(a, folder_a), base_of(b, folder_b)) == 0;
    return same_base && same_file(folder_a, folder_b);
}

td_status td_report_check_target(const td_common *common, const char *path)
{
    if (td_report_leaves_stdout(common) && common->json != NULL && td_same_place(common->json, path))
        return td_fail(TD_USAGE, "--json '%s' would overwrite '%s'", common->json, path);
    return TD_OK;
}
