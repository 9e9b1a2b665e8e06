/* Files that ship with Tandem, such as topologies and cost models: they are looked for in the tree that the library was
 * built from, beside the program (an installed tree may have been moved), and where they were installed. */
#ifndef TD_BASE_DATA_FILES_H
#define TD_BASE_DATA_FILES_H

#include "base/status.h"

#include <stddef.h>

enum { TD_DATA_PATH = 4096 };

/* The path of a file that can be read, "topologies", "dgx1.topology"; false if there is none. */
bool td_data_find(char path[TD_DATA_PATH], const char *folder, const char *file);

/* Where was looked, as text for messages. Returns `buffer`. */
char *td_data_places(char buffer[TD_DATA_PATH], const char *folder);

/* The user's own folder: $XDG_DATA_HOME/tandem, or ~/.local/share/tandem; false if neither is known. */
bool td_data_own(char path[TD_DATA_PATH]);

/* The user's folder for files that can be made again: $XDG_CACHE_HOME/tandem, or ~/.cache/tandem. */
bool td_data_cache(char path[TD_DATA_PATH]);

/* Makes a folder and those above it. */
td_status td_data_make_folder(const char *path);

#endif
