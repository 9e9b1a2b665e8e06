/* The table of all programs with the CPU kernels of one level of the instruction set, then that of their second
 * instances: included by the one unit that the build makes per level, with LEVEL defined as the suffix of the level's
 * symbols (base/isa.h). */
#include "kernels/program.h"

#define PASTE(prefix, name, level) prefix##name##_##level
#define SYMBOL(prefix, name, level) PASTE(prefix, name, level)

#define TD_PROGRAM(name) extern const td_program SYMBOL(td_program_, name, LEVEL);
#define TD_WIDE(name) extern const td_program SYMBOL(td_program_, name##_wide, LEVEL);
#include "programs/programs.def"

extern const td_program *const SYMBOL(td_, programs, LEVEL)[];
const td_program *const SYMBOL(td_, programs, LEVEL)[] = {
#define TD_PROGRAM(name) &SYMBOL(td_program_, name, LEVEL),
#include "programs/programs.def"
#define TD_WIDE(name) &SYMBOL(td_program_, name##_wide, LEVEL),
#include "programs/programs.def"
};
