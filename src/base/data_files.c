#include "base/data_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The share folder beside the program's own. Empty if that is unknown. */
static void beside_program(char *folder, size_t room)
{
    char path[2048];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    folder[0] = '\0';
    if (length <= 0) return;
    path[length] = '\0';
    char *name = strrchr(path, '/');
    if (name == NULL) return;
    *name = '\0';
    snprintf(folder, room, "%s/../share/tandem", path);
}

bool td_data_find(char path[TD_DATA_PATH], const char *folder, const char *file)
{
    char beside[2200];
    const char *const folders[] = {TANDEM_SOURCE_SHARE, beside, TANDEM_INSTALLED_SHARE};
    beside_program(beside, sizeof beside);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        int length = snprintf(path, TD_DATA_PATH, "%s/%s/%s", folders[i], folder, file);
        if (length < TD_DATA_PATH && access(path, R_OK) == 0) return true;
    }
    return false;
}

char *td_data_places(char buffer[TD_DATA_PATH], const char *folder)
{
    snprintf(buffer, TD_DATA_PATH, "%s/%s or %s/%s", TANDEM_SOURCE_SHARE, folder, TANDEM_INSTALLED_SHARE, folder);
    return buffer;
}

/* The folder that the variable names, or the one below the user's home. */
static bool user_folder(char path[TD_DATA_PATH], const char *variable, const char *below)
{
    const char *named = getenv(variable), *home = getenv("HOME");
    int length = -1;
    if (named != NULL && named[0] == '/') length = snprintf(path, TD_DATA_PATH, "%s/tandem", named);
    else if (home != NULL && home[0] == '/') length = snprintf(path, TD_DATA_PATH, "%s/%s/tandem", home, below);
    return length > 0 && length < TD_DATA_PATH;
}

bool td_data_own(char path[TD_DATA_PATH]) { return user_folder(path, "XDG_DATA_HOME", ".local/share"); }
bool td_data_cache(char path[TD_DATA_PATH]) { return user_folder(path, "XDG_CACHE_HOME", ".cache"); }

td_status td_data_make_folder(const char *path)
{
    char at[TD_DATA_PATH];
    if (snprintf(at, sizeof at, "%s", path) >= (int)sizeof at)
        return td_fail(TD_LIMIT, "the path %s is too long", path);
    for (char *slash = strchr(at + 1, '/');; slash = strchr(slash + 1, '/')) {
        if (slash != NULL) *slash = '\0';
        int failed = mkdir(at, 0777) != 0 && errno != EEXIST ? errno : 0;
        if (failed != 0) return td_fail_errno(TD_IO, failed, "cannot make the folder %s", at);
        if (slash == NULL) return TD_OK;
        *slash = '/';
    }
}
