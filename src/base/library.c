#include "base/library.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

bool td_library_load(const char *file, const char *const *names, void *functions)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return false;
    for (size_t i = 0; names[i] != NULL; i++) {
        void *function = dlsym(library, names[i]);
        if (function == NULL) {
            dlclose(library);
            return false;
        }
        memcpy((char *)functions + i * sizeof function, &function, sizeof function);
    }
    return true;
}
