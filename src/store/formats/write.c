/* Writes a graph in the named format, or in that of the file's suffix. */
#include "store/formats/format.h"

#include "base/names.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* True if a list of suffixes, "txt tsv el", has this one. */
static bool lists(const char *suffixes, const char *suffix)
{
    size_t length = strlen(suffix);
    for (const char *at = suffixes; *at != '\0';) {
        size_t word = strcspn(at, " ");
        if (word == length && strncasecmp(at, suffix, length) == 0) return true;
        at += word + strspn(at + word, " ");
    }
    return false;
}

/* Fails with "cannot write PATH: BEFORE'WORD'AFTER" and the list of formats. */
static td_status unwritable(const char *path, const char *before, const char *word, const char *after)
{
    char list[512] = "";
    size_t used = 0;
    for (int i = 0; td_formats[i] != NULL && used < sizeof list; i++)
        if (td_formats[i]->write != NULL)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s (%s)", used == 0 ? "" : ", ",
                                     td_formats[i]->name, td_formats[i]->suffixes);
    return td_fail(TD_USAGE, "cannot write %s: %s'%s'%s; formats that can be written, and their suffixes: %s", path,
                   before, word, after, list);
}

static td_status no_suffix(const char *path, const char *name)
{
    char before[64];
    snprintf(before, sizeof before, "name a format (%s): ", td_named("to"));
    return unwritable(path, before, name, " has no suffix");
}

static td_status by_suffix(const char *path, const td_format **out)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path, *dot = strrchr(name, '.');
    const char *suffix = dot != NULL ? dot + 1 : "";
    if (lists("gz bgz zst xz", suffix))
        return td_fail(TD_UNSUPPORTED, "cannot write %s: output is not compressed; write text to standard output "
                       "('tandem convert IN -o - --to NAME') and pipe it through a compressor", path);
    if (suffix[0] == '\0') return no_suffix(path, name);
    for (int i = 0; td_formats[i] != NULL; i++) {
        if (td_formats[i]->write == NULL || !lists(td_formats[i]->suffixes, suffix)) continue;
        *out = td_formats[i];
        return TD_OK;
    }
    return unwritable(path, "no such format has the suffix ", suffix, "");
}

static td_status by_name(const char *path, const char *name, const td_format **out)
{
    const td_format *format = td_format_named(name);
    if (format == NULL) return unwritable(path, "there is no format ", name, "");
    if (format->write == NULL) return unwritable(path, "the format ", name, " can only be read");
    *out = format;
    return TD_OK;
}

td_status td_format_for_output(const char *path, const char *format_or_null, const td_format **out)
{
    return format_or_null != NULL ? by_name(path, format_or_null, out) : by_suffix(path, out);
}

td_status td_graph_write(const td_graph *graph, const char *path, const char *format_or_null, td_pool *pool)
{
    const td_format *format = NULL;
    TD_CHECK(td_format_for_output(path, format_or_null, &format));
    return format->write(graph, path, pool);
}
