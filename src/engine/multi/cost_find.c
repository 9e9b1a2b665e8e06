#include "engine/multi/cost_find.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Letters and digits in lower case, all else as single hyphens. */
static void add_words(char name[TD_COST_NAME], const char *text, size_t length)
{
    size_t used = strlen(name);
    for (size_t i = 0; i < length && used + 2 < TD_COST_NAME; i++) {
        bool plain = isalnum((unsigned char)text[i]) || text[i] == '.';
        if (!plain && (used == 0 || name[used - 1] == '-')) continue;
        name[used++] = (char)(plain ? tolower((unsigned char)text[i]) : '-');
        name[used] = '\0';
    }
    while (used > 0 && name[used - 1] == '-') name[--used] = '\0';
}

/* The topology of "emu:8@dgx1" or "emu:8@folder/dgx1.topology"; without one, "plain". */
static void add_topology(char name[TD_COST_NAME], const char *devices)
{
    const char *at = strchr(devices, '@'), *slash;
    if (at == NULL) {
        add_words(name, "plain", strlen("plain"));
        return;
    }
    at++;
    while ((slash = strpbrk(at, "/")) != NULL && slash < at + strcspn(at, ",")) at = slash + 1;
    add_words(name, at, strcspn(at, ".,"));
}

static void name_device(char name[TD_COST_NAME], const td_gpu_set *gpus, const td_device *device)
{
    const char *slices = strchr(device->name, '/');
    snprintf(name, TD_COST_NAME, "cost-%s-", device->kind == TD_DEVICE_EMULATOR ? "emu" : "cuda");
    if (device->kind == TD_DEVICE_EMULATOR) add_topology(name, gpus->devices);
    else add_words(name, device->properties.model, strlen(device->properties.model));
    if (slices == NULL) return;
    size_t used = strlen(name);
    snprintf(name + used, TD_COST_NAME - used, "-%.*s", (int)strcspn(slices + 1, "#"), slices + 1);
}

td_status td_cost_file_name(char name[TD_COST_NAME], const td_gpu_set *gpus)
{
    char other[TD_COST_NAME];
    name_device(name, gpus, gpus->gpu[0]);
    for (int i = 1; i < gpus->count; i++) {
        name_device(other, gpus, gpus->gpu[i]);
        if (strcmp(name, other) != 0)
            return td_fail(TD_UNSUPPORTED, "{devices} %s: %s and %s are not alike, and a cost model is for devices that "
                           "are; multi.cost=measured needs none", gpus->devices, gpus->gpu[0]->name, gpus->gpu[i]->name);
    }
    size_t used = strlen(name);
    snprintf(name + used, TD_COST_NAME - used, ".model");
    return TD_OK;
}

td_status td_cost_file_find(char path[TD_DATA_PATH], const td_gpu_set *gpus)
{
    char name[TD_COST_NAME], own[TD_DATA_PATH];
    TD_CHECK(td_cost_file_name(name, gpus));
    if (td_data_own(own)) {
        int length = snprintf(path, TD_DATA_PATH, "%s/%s", own, name);
        if (length < TD_DATA_PATH && access(path, R_OK) == 0) return TD_OK;
    } else {
        own[0] = '\0';
    }
    if (td_data_find(path, "models", name)) return TD_OK;
    return td_fail(TD_NOT_FOUND, "multi.cost=model: there is no %s in %s%s%s; 'tandem calibrate --devices %s' makes it, "
                   "multi.model names another file, and multi.cost=measured needs none", name, own,
                   own[0] != '\0' ? ", " : "", td_data_places(path, "models"), gpus->devices);
}

td_status td_cost_file_own(char path[TD_DATA_PATH], const td_gpu_set *gpus)
{
    char name[TD_COST_NAME];
    TD_CHECK(td_cost_file_name(name, gpus));
    if (!td_data_own(path))
        return td_fail(TD_INVALID, "neither XDG_DATA_HOME nor HOME names a folder for the cost model; -o names a file");
    TD_CHECK(td_data_make_folder(path));
    size_t used = strlen(path);
    if (used + strlen(name) + 2 > TD_DATA_PATH) return td_fail(TD_INVALID, "%s: too long a path", path);
    snprintf(path + used, TD_DATA_PATH - used, "/%s", name);
    return TD_OK;
}
