#include "page_file.h"

#include "base/alloc.h"
#include "base/outfile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* A report of a million iterations has some hundred megabytes. */
#define MOST_BYTES (UINT64_C(1) << 31)

static td_status check_file(FILE *file, const char *path, uint64_t *bytes)
{
    struct stat found;
    if (fstat(fileno(file), &found) != 0) return td_fail_errno(TD_IO, errno, "cannot read '%s'", path);
    if (!S_ISREG(found.st_mode)) return td_fail(TD_IO, "'%s' is not a file; a report is what --json FILE wrote", path);
    *bytes = (uint64_t)found.st_size;
    if (*bytes > MOST_BYTES)
        return td_fail(TD_LIMIT, "'%s' has %" PRIu64 " bytes; a report has at most 2 GiB", path, *bytes);
    return TD_OK;
}

static td_status read_file(const char *path, char **text, uint64_t *length)
{
    td_status status = TD_OK;
    uint64_t bytes = 0;
    FILE *file = fopen(path, "rb");
    if (file == NULL) return td_fail_errno(errno == ENOENT ? TD_NOT_FOUND : TD_IO, errno, "cannot read '%s'", path);
    TD_TRY(check_file(file, path, &bytes));
    TD_TRY(TD_NEW(text, bytes + 1, "a report"));
    *length = fread(*text, 1, bytes, file);
    if (ferror(file)) status = td_fail_errno(TD_IO, errno, "cannot read '%s'", path);
    (*text)[*length] = '\0';
done:
    fclose(file);
    return status;
}

static td_status write_page(const td_page_report *const *reports, int count, const char *target)
{
    td_status status = TD_OK;
    td_outfile *file = NULL;
    char *html = NULL;
    TD_TRY(td_page_html(reports, count, &html));
    TD_TRY(td_outfile_create(&file, target, TD_OUT_TEXT));
    TD_TRY(td_outfile_write(file, html, strlen(html)));
    TD_TRY(td_outfile_commit(file));
done:
    td_outfile_close(file);
    td_text_free(html);
    return status;
}

/* The report of an empty file has no bytes, which the API would take for a text that ends with its NUL: it does. */
td_status td_page_write_files(const char *const *paths, int count, const char *target)
{
    td_status status = TD_OK;
    td_page_report reports[TD_PAGE_FILES];
    const td_page_report *list[TD_PAGE_FILES];
    char *texts[TD_PAGE_FILES] = {NULL};
    for (int i = 0; i < count; i++) {
        reports[i] = (td_page_report){.size = sizeof reports[i], .name = paths[i]};
        TD_TRY(read_file(paths[i], &texts[i], &reports[i].bytes));
        reports[i].json = texts[i];
        list[i] = &reports[i];
    }
    TD_TRY(write_page(list, count, target));
done:
    for (int i = 0; i < count; i++) td_free(texts[i]);
    return status;
}

td_status td_page_write_text(const char *name, const char *json, const char *target)
{
    td_page_report report = {.size = sizeof report, .name = name, .json = json};
    const td_page_report *list[] = {&report};
    return write_page(list, 1, target);
}
