#include "base/data_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

bool td_data_own(char path[TD_DATA_PATH])
{
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    int length = -1;
    if (data != NULL && data[0] == '/') length = snprintf(path, TD_DATA_PATH, "%s/tandem", data);
    else if (home != NULL && home[0] == '/') length = snprintf(path, TD_DATA_PATH, "%s/.local/share/tandem", home);
    return length > 0 && length < TD_DATA_PATH;
}
