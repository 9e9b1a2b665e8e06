/* The line of source of one address, from the debugging information of the program's file, read by elfutils'
 * libdw. Without libdw nothing is found, and code_line.c names the function instead. */
#ifndef TD_DEVICE_EMULATOR_DEBUG_LINES_H
#define TD_DEVICE_EMULATOR_DEBUG_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether this build knows libdw and the library is installed. */
bool td_debug_lines_available(void);

/* Names the code at `address` of the module in the file `path`, loaded at `base`: the source file's name without
 * folders and the line, or, where the file has only a symbol table, FUNCTION+0xOFFSET and line 0. `name` is cut to
 * `room`. False: the file has neither. */
bool td_debug_line(const char *path, uintptr_t base, uintptr_t address, char *name, size_t room, int *line);

#endif
