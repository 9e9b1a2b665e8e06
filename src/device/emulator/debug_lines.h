/* The line table that compilers leave in a program (DWARF 2 to 5, .debug_line), read
 * from its file: enough to name the line of one address when a rule is broken. Damaged
 * or compressed tables are passed over. */
#ifndef TD_DEVICE_EMULATOR_DEBUG_LINES_H
#define TD_DEVICE_EMULATOR_DEBUG_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The file (its name without folders, cut to `room`) and line of the code at `address`, as the program's
 * file counts addresses. */
bool td_debug_line(const char *path, uint64_t address, char *name, size_t room, int *line);

#endif
