#include "store/formats/paths.h"

#include "base/alloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

td_status td_path_print(char **out, const char *format, ...)
{
    char *path = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0) return td_fail(TD_INVALID, "a file name that cannot be written down");
    TD_CHECK(TD_NEW(&path, (uint64_t)length + 1, "file name"));
    va_start(arguments, format);
    vsnprintf(path, (size_t)length + 1, format, arguments);
    va_end(arguments);
    *out = path;
    return TD_OK;
}

bool td_path_exists(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISREG(facts.st_mode);
}

int td_path_stem(const char *path, const char *const *suffixes)
{
    size_t length = strlen(path);
    for (; *suffixes != NULL; suffixes++) {
        size_t suffix = strlen(*suffixes);
        if (length > suffix && strcmp(path + length - suffix, *suffixes) == 0) return (int)(length - suffix);
    }
    return (int)length;
}

int td_path_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? 0 : (int)(slash + 1 - path);
}
