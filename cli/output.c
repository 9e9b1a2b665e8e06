#include "output.h"

#include "base/outfile.h"
#include "base/size.h"
#include "graph_text.h"
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *format_name(const void *unused, int index)
{
    (void)unused;
    return td_format_name(index);
}

td_status td_format_check(const char *name)
{
    td_format_facts facts = {.size = sizeof facts};
    if (name == NULL || td_format_describe(name, &facts) == TD_OK) return TD_OK;
    return td_fail_unknown("format", name, "formats", format_name, NULL);
}

/* Creates the file and removes it again. */
td_status td_place_check(const char *path)
{
    td_outfile *file = NULL;
    TD_CHECK(td_outfile_create(&file, path, TD_OUT_TEXT));
    td_outfile_close(file);
    return TD_OK;
}

td_status td_output_check(const td_common *common, const char *path, const char *format)
{
    if (path == NULL) return td_fail(TD_USAGE, "option -o FILE is missing: it names the output");
    if (common->json != NULL && strcmp(common->json, path) == 0)
        return td_fail(TD_USAGE, "the graph and --json cannot both go to '%s'", path);
    TD_CHECK(td_report_check_target(common, path));
    const char *chosen;
    TD_CHECK(td_format_check(format));
    TD_CHECK(td_format_of_output(path, format, &chosen));
    return td_place_check(path);
}

/* Checks --temp even if it is not needed: otherwise a wrong name would fail only when memory is short. */
td_status td_output_check_temporary(const char *directory)
{
    struct stat facts;
    if (directory == NULL) return TD_OK;
    if (stat(directory, &facts) != 0) return td_fail_errno(TD_IO, errno, "--temp %s", directory);
    if (!S_ISDIR(facts.st_mode)) return td_fail(TD_IO, "--temp %s is no directory", directory);
    if (access(directory, W_OK | X_OK) != 0) return td_fail_errno(TD_IO, errno, "--temp %s", directory);
    return TD_OK;
}

enum { MOST_STRIPES = 16 }; /* that are compared; the writer refuses more */

/* Refuses a directory that is named twice: two stripes in it would have the same name. */
static td_status check_stripes_differ(const char *directories)
{
    struct stat seen[MOST_STRIPES];
    uint32_t count = 0;
    char name[4096];
    for (const char *at = directories; *at != '\0' && count < MOST_STRIPES; at += *at == ',') {
        size_t length = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        at += length;
        if (stat(name, &seen[count]) != 0) continue; /* the writer reports it */
        for (uint32_t i = 0; i < count; i++)
            if (seen[i].st_dev == seen[count].st_dev && seen[i].st_ino == seen[count].st_ino)
                return td_fail(TD_USAGE, "--stripe %s names the directory %s twice", directories, name);
        count++;
    }
    return TD_OK;
}

td_status td_output_check_stripes(const char *path, const char *format, const char *directories)
{
    const char *chosen;
    td_format_facts facts = {.size = sizeof facts};
    if (directories == NULL) return TD_OK;
    TD_CHECK(td_format_of_output(path, format, &chosen));
    TD_CHECK(td_format_describe(chosen, &facts));
    if (strcmp(chosen, "tg") != 0)
        return td_fail(TD_USAGE, "--stripe is for packed graphs (.tg); %s is %s", path, facts.description);
    return check_stripes_differ(directories);
}

td_status td_output_spares(const char *input, const char *option, const char *output)
{
    struct stat in, out;
    bool known = strcmp(input, "-") == 0 ? fstat(STDIN_FILENO, &in) == 0 : stat(input, &in) == 0;
    if (!known || !S_ISREG(in.st_mode) || stat(output, &out) != 0) return TD_OK;
    if (in.st_dev != out.st_dev || in.st_ino != out.st_ino) return TD_OK;
    return td_fail(TD_USAGE, "%s %s is the input itself: name another file", option, output);
}

char *td_written_text(char text[TD_WRITTEN_TEXT], const char *path)
{
    char size[TD_NUMBER_BYTES], behind[64] = "";
    td_file_facts file = {.size = sizeof file};
    if (strcmp(path, "-") == 0) {
        snprintf(text, TD_WRITTEN_TEXT, "written to standard output");
        return text;
    }
    if (td_file_describe(path, NULL, &file) == TD_OK && file.packed)
        snprintf(behind, sizeof behind, ", checksum %016" PRIx64, file.checksum);
    snprintf(text, TD_WRITTEN_TEXT, "%s: %s%s", path, td_format_size(size, td_graph_file_bytes(path)), behind);
    return text;
}

void td_written_json(td_json *json, const char *path)
{
    td_file_facts file = {.size = sizeof file};
    td_json_string(json, "output", path);
    td_json_u64(json, "output_bytes", td_graph_file_bytes(path));
    if (td_file_describe(path, NULL, &file) == TD_OK && file.packed) td_json_hex(json, "checksum", file.checksum);
}

uint64_t td_graph_file_bytes(const char *path)
{
    struct stat facts;
    td_file_facts file = {.size = sizeof file};
    if (td_file_describe(path, NULL, &file) == TD_OK) return file.bytes;
    return stat(path, &facts) == 0 && facts.st_size > 0 ? (uint64_t)facts.st_size : 0;
}
