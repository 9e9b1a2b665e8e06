/* Source lines of code addresses, for messages of the watch; and whether an address is a constant of the program. Lines
 * are looked up only for reports; constants only for accesses outside device memory. */
#ifndef TD_DEVICE_EMULATOR_CODE_LINE_H
#define TD_DEVICE_EMULATOR_CODE_LINE_H

#include "device/emulator/runtime.h"

#include <stdbool.h>

/* `name` receives the file's name. Without libdw or debugging information: FUNCTION+0xOFFSET and line 0; without a
 * symbol table the function is the kernel. */
td_site td_code_line(const void *code, char *name, size_t room);

/* The same for host code, which has no kernel: MODULE+0xOFFSET without a symbol table. */
td_site td_host_line(const void *code, char *name, size_t room);

/* FILE:LINE, or what stands in for it where there is no line. */
enum { TD_SITE_WORDS = 160 };
const char *td_site_words(td_site site, char words[TD_SITE_WORDS]);

/* Whether all these bytes are constants of the program. */
bool td_code_constant(uintptr_t at, uint64_t bytes);

#endif
