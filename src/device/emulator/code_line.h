/* Which line of source an address of the code came from, for messages of the watch, and which addresses are constants
 * of the program. Lines are looked up for reports only; constants at accesses outside of device memory. */
#ifndef TD_DEVICE_EMULATOR_CODE_LINE_H
#define TD_DEVICE_EMULATOR_CODE_LINE_H

#include "device/emulator/runtime.h"

#include <stdbool.h>

/* `name` keeps the file's name. Without libdw or debugging information: FUNCTION+0xOFFSET and line 0, where the function
 * is the kernel if the symbol table does not tell more. */
td_site td_code_line(const void *code, char *name, size_t room);

/* Whether all these bytes are constants of the program. */
bool td_code_constant(uintptr_t at, uint64_t bytes);

#endif
