/* Shared libraries loaded on first use. A library that only some reports use then costs other runs neither time nor
 * memory, and the tool also starts where it is not installed. */
#ifndef TD_BASE_LIBRARY_H
#define TD_BASE_LIBRARY_H

#include <stdbool.h>

/* Loads `file`, like "libdw.so.1", for the rest of the process, and finds its functions by `names`, which end with NULL.
 * `functions` is an array of pointers, one per name. False: the library or one of its functions is missing. */
bool td_library_load(const char *file, const char *const *names, void *functions);

#endif
