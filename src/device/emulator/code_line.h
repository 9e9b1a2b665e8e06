/* Which line of source a place in the code came from, for messages of the watch. */
#ifndef TD_DEVICE_EMULATOR_CODE_LINE_H
#define TD_DEVICE_EMULATOR_CODE_LINE_H

#include "device/emulator/runtime.h"

#include <stdbool.h>

/* `name` keeps the file's name. Without debugging information: the function's or the module's name, line 0. */
td_site td_code_line(const void *code, char *name, size_t room);

/* Whether all these bytes are constants of the program. */
bool td_code_constant(uintptr_t at, uint64_t bytes);

#endif
